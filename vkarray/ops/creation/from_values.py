"""Arrays from numbers, nested lists, and what other libraries hold."""

from __future__ import annotations

from collections.abc import Set, ValuesView
from typing import Any

from ...core import dtypes, layout, promotion
from ...core.array import VkArray, check_supported, default_dtype, operations
from ...core.array import empty as _empty
from ...core.dtypes import CATEGORIES, DType, as_dtype
from ...core.operators import Elements, is_sequence
from ...core.tokens import decided
from ...io import interchange
from ...kernels import launch
from ...kernels.conversion import cast
from ...kernels.launch import as_device
from ...kernels.overriding import own_array, stands_for
from ...kernels.planned import planned, recordable, recorded, recorder, watches


def to_device(x: VkArray, device: Any, /, *, stream: None = None) -> VkArray:
    """The array on another device, contiguous, through memory of the host; the array itself when it is there already."""
    if stream is not None:
        raise ValueError(f"to_device: vkarray has no streams; expected stream=None, got {stream!r}.")
    target = as_device(device)
    if target is x._device:
        return x
    check_supported(x._dtype, target, "to_device")
    return interchange.moved(x if x._contiguous else launch.copy(x), target)


def first_leaf(value: Any) -> Any:
    """The first element of nested lists."""
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return value


def _holds_arrays(values: Any) -> bool:
    """Whether arrays of vkarray's are among the elements of nested lists."""
    return any(type(one) is VkArray or (isinstance(one, (list, tuple)) and _holds_arrays(one)) for one in values)


def _with_own_arrays(values: Any) -> Any:
    """Nested lists with arrays in place of the objects that stand for them."""
    if isinstance(values, (list, tuple)):
        return [_with_own_arrays(one) for one in values]
    own = own_array(values)
    return values if own is None else own


def _stacked(values: Any, dtype: DType | None, device: Any) -> VkArray:
    """Nested lists with arrays in them as one array, put together on the device."""
    if device is None:
        leaf = values
        while type(leaf) is not VkArray:
            leaf = next(
                one for one in leaf if type(one) is VkArray or (isinstance(one, (list, tuple)) and _holds_arrays(one))
            )
        device = leaf._device
    parts = [asarray(one, dtype=dtype, device=device) for one in values]
    if any(part._shape != parts[0]._shape for part in parts):
        raise ValueError(
            f"asarray: the nested lists have unequal shapes, {', '.join(str(part._shape) for part in parts)}."
        )
    return operations["stack"](parts)


@planned
def copied(x: VkArray) -> VkArray:
    return launch.copy(x)


@recorded
def asarray(
    a: Any, dtype: Any = None, order: str | None = None, *, device: Any = None, copy: bool | None = None, like: Any = None
) -> VkArray:  # fmt: skip
    """An array from a Python scalar, nested lists, a NumPy array, an object with a buffer or DLPack, or an array.

    Parameters: a (any of these); dtype (default: that of a; int64, float32 and complex64 for Python numbers, int32 where the
    device has no int64; the floating types follow `set_default_dtype`); order (memory is always in C order); device
    (default: the default device); copy (True always copies, False never, None if needed).
    Returns an array. Raises ValueError for copy=False where a copy is needed, TypeError for an object or dtype that
    vkarray cannot hold, OverflowError for a Python integer out of range, FeatureError for a dtype the device lacks.
    Standard: creation functions, `asarray`.
    """
    if watches and (recording := recorder()) is not None:
        return recording.call(asarray, (a, dtype, order), {"device": device, "copy": copy, "like": like})
    if order is not None:
        layout.as_order("asarray", order)
    wanted, obj = None if dtype is None else as_dtype(dtype, "asarray"), decided(a)
    if wanted is None and copy is not False and type(obj) in _PLAIN and (type(obj) is not int or abs(obj) < 1 << 31):
        return _of_scalar(obj, as_device(device))
    if isinstance(obj, Elements):
        obj = obj.copy()
    if isinstance(obj, VkArray):
        target = obj._device if device is None else as_device(device)
        result = to_device(obj, target)
        if wanted is not None and wanted is not result._dtype:
            check_supported(wanted, target, "asarray")
            result = cast(result, wanted)
        if copy is False and result is not obj:
            raise ValueError("asarray: copy=False, but another dtype or device needs a copy.")
        return copied(obj) if copy and result is obj else result

    import numpy as np

    if (given := stands_for(obj)) is not None:
        if type(given) is VkArray:
            return asarray(given, wanted, device=device, copy=copy)
        obj = given
    if is_sequence(obj) and not isinstance(obj, (list, tuple)):
        try:
            obj = memoryview(obj)  # of a type of its own, as that of an `array.array`
        except TypeError:
            obj = list(obj)
    if isinstance(obj, (list, tuple)) and own_array(first_leaf(obj)) is not None:
        obj = _with_own_arrays(obj)
    if isinstance(obj, (list, tuple)) and _holds_arrays(obj):
        return _stacked(obj, wanted, device)
    target = as_device(device)
    if copy is False:
        raise ValueError(
            f"asarray: copy=False, but host memory ({type(obj).__name__}) must be copied to the device. Use copy=None."
        )
    if hasattr(obj, "__dlpack__") and not isinstance(obj, np.ndarray) and not hasattr(obj, "__array__"):
        result = operations["from_dlpack"](obj, device=target, copy=copy)
        return result if wanted is None else cast(result, wanted)
    if isinstance(obj, np.ndarray) and obj.dtype == object and obj.size and all(map(_is_number, obj.flat)):
        obj = obj.tolist()
    python_numbers = not hasattr(first_leaf(obj), "dtype") and not isinstance(obj, (memoryview, bytearray, bytes)) and (
        isinstance(obj, (list, tuple)) or promotion.is_scalar(obj)
    )  # fmt: skip
    if python_numbers and wanted is not None:
        values = _python_values(obj, wanted)
    else:
        values = _as_numpy(obj)
    if wanted is not None and values.dtype.kind in ("USO" if wanted.kind in "fc" else "US"):
        values = _read(values, wanted)
    if python_numbers and wanted is None and values.dtype.kind == "f" and (np.abs(values) >= 2.0**63).any():
        exact = np.asarray(obj, object)  # NumPy takes whole numbers beyond int64 for floating-point numbers or objects
        values = exact if all(isinstance(one, int) for one in exact.reshape(-1)) else values
    if values.dtype.kind not in "biufc" and values.dtype.name != "bfloat16":
        whole = values.reshape(-1).tolist() if values.dtype == object else []
        if whole and all(isinstance(one, int) for one in whole):
            largest, reason = promotion.shown(max(whole, key=abs)), "does not fit any integer dtype"
            if min(whole) >= 0 and max(whole) < 1 << 64:
                reason = "is of uint64, others are of int64. Give dtype=vkarray.uint64"
            raise OverflowError(f"asarray: the Python integer {largest} {reason}.")
        remedy = " Give a dtype to read numbers out of text." if values.dtype.kind in "US" else ""
        if hasattr(obj, "__next__"):
            remedy = " Make a list of what an iterator gives, or use vkarray.fromiter."
        elif isinstance(obj, Set | ValuesView):
            remedy = " Make a list of it."
        raise TypeError(f"asarray: expected numbers, got {type(obj).__name__} ({obj!r:.60}).{remedy}")
    if wanted is None:
        wanted = interchange.dtype_of_numpy(values, "asarray")
        if python_numbers:
            kind = promotion.KIND_NAMES[
                "biufc".index(values.dtype.kind.replace("u", "i")) - (values.dtype.kind in "fc")
            ]
            wanted = wanted if wanted is dtypes.uint64 else default_dtype(kind, target)
    check_supported(wanted, target, "asarray")
    if python_numbers and values.dtype.kind in "iu" and wanted in CATEGORIES["integer"] and values.size:
        for value in (int(values.min()), int(values.max())):
            promotion.check_scalar_range("asarray", value, wanted)
    if values.dtype.name != "bfloat16":
        values = _converted(values, wanted)
    return interchange.from_numpy(values, wanted, target)


@recordable
def array(
    object: Any, dtype: Any = None, *, copy: bool | None = True, order: str | None = "K", subok: bool = False, ndmin: int = 0,
    ndmax: int = 0, like: Any = None, device: Any = None,
) -> VkArray:  # fmt: skip
    """A new array from whatever `asarray` takes.

    Parameters: object; dtype; copy (True always copies, None if needed, False never); ndmin (the least number of dimensions: ones
    are put before the others); ndmax (the most that it may have, up to 64; 0 for any number); device; order, subok and like
    change nothing.
    Raises as `asarray` does, and ValueError for more dimensions.
    """
    layout.as_order("array", order)
    least, most = layout.as_integer(ndmin, "array", "ndmin"), layout.as_integer(ndmax, "array", "ndmax")
    if not 0 <= most <= 64 or 0 < most < least:
        raise ValueError(
            f"array: ndmax must be in the range from 0 to 64, and ndmin must be <= ndmax; got {most} and {least}."
        )
    own = own_array(object)
    object = object if own is None else own
    made = asarray(object, dtype, device=device, copy=copy if type(object) is VkArray or copy is False else None)
    if 0 < most < made.ndim:
        raise ValueError(
            f"array: expected at most {most} dimensions (ndmax), got {made.ndim}. Reshape it, or raise ndmax."
        )
    missing = least - made.ndim
    if missing > 0:
        return made._view((1,) * missing + made._shape, (0,) * missing + made._strides)
    if not made._shape and made is not object:
        made._is_place = True  # as NumPy's, which in-place operators change
    return made


_PLAIN = (bool, int, float, complex)


def _of_scalar(value: complex, device: launch.Device) -> VkArray:
    """A Python scalar as an array of its default dtype: without NumPy, which a fresh process would import for it alone."""
    wanted = default_dtype(promotion.KIND_NAMES[promotion.scalar_kind(value)], device)
    check_supported(wanted, device, "asarray")
    result = _empty((), wanted, device)
    device.upload(result._buffer, 0, launch.scalar_bytes(value, wanted, device))
    return result


def _is_number(value: Any) -> bool:
    """Whether a value is a number of Python's or NumPy's."""
    import numpy as np

    return isinstance(value, (bool, int, float, complex, np.number, np.bool))


def _as_numpy(obj: Any) -> Any:
    """`numpy.asarray` with the error of nested lists of unequal lengths in this library's words."""
    import numpy as np

    try:
        return np.asarray(obj)
    except ValueError as error:
        raise ValueError(f"asarray: the nested lists have unequal lengths or depths ({error}).") from None


def _read(values: Any, wanted: DType) -> Any:
    """Texts of a NumPy array as the numbers that they show, and None as NaN. Raises for other ones the errors that NumPy raises."""
    try:
        return values.astype(interchange.numpy_dtype(wanted))
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)(f"asarray: expected numbers, or texts that show such of {wanted}: {error}.") from None


def _python_values(obj: Any, wanted: DType) -> Any:
    """Python numbers as a NumPy array from which `wanted` is reached without a detour."""
    import numpy as np

    values = _as_numpy(obj)
    if values.dtype.kind in ("fO" if wanted in CATEGORIES["integer"] else "O") and values.size:
        # NumPy takes whole numbers beyond int64 for floating-point numbers or objects.
        exact = np.asarray(obj, object)
        if all(isinstance(one, int) for one in exact.reshape(-1)):
            for value in (exact.min(), exact.max()):
                promotion.check_scalar_range("asarray", value, wanted)
            return exact.astype(interchange.numpy_dtype(wanted))
    return values


def _converted(values: Any, wanted: DType) -> Any:
    """Host values in the host's format of `wanted`, by the rules of `astype`."""
    import numpy as np

    if values.dtype.kind == "c" and wanted.category not in ("complex floating", "bool"):
        raise TypeError(f"asarray: {values.dtype} has no {wanted} value. Take the real part first.")
    stored = interchange.numpy_dtype(wanted)
    # Where NumPy has nothing to warn of, its errstate is left alone: before Python 3.12 a finalizer that enters one at the same
    # moment crashes the process.
    if values.dtype == stored or (values.dtype.kind in "biu" and wanted in CATEGORIES["integer"]):
        return values.astype(stored, copy=False)
    with np.errstate(all="ignore"):
        result = values.astype(stored, copy=False)
        if values.dtype.kind == "f" and wanted in CATEGORIES["integer"]:
            low, high = promotion.integer_range(wanted)
            result = np.where(np.isnan(values), 0, np.where(values <= low, low, np.where(values >= high, high, result)))
            result = result.astype(wanted.name)
    return result
