"""Creation functions of the standard."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence, Set, ValuesView
from typing import Any, Literal

from ..core import dtypes, layout, promotion
from ..core.array import ArrayLike, Elements, VkArray, check_supported, default_dtype, is_sequence, operations
from ..core.array import empty as _empty
from ..core.dtypes import CATEGORIES, DType, as_dtype
from ..core.tokens import decided
from ..io import interchange
from ..kernels import launch
from ..kernels.conversion import cast
from ..kernels.launch import as_device
from ..kernels.planned import kept, planned, recordable, recorded, recorder, watches
from ..kernels.rows import check_array, check_operands


def as_shape(shape: int | Sequence[int], function: str, name: str = "shape") -> tuple[int, ...]:
    """A shape (the parameter `name`) as a tuple of non-negative integers. Raises TypeError or ValueError."""
    result = layout.as_lengths(shape, function, name)
    if result and min(result) < 0:
        raise ValueError(f"{function}: expected integers of 0 or more as {name}, got {shape!r}.")
    return result


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
def _copied(x: VkArray) -> VkArray:
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
        return _copied(obj) if copy and result is obj else result

    import numpy as np

    if is_sequence(obj) and not isinstance(obj, (list, tuple)):
        try:
            obj = memoryview(obj)  # of a type of its own, as that of an `array.array`
        except TypeError:
            obj = list(obj)
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
        if values.dtype == object and values.size and all(isinstance(one, int) for one in values.reshape(-1)):
            largest = promotion.shown(max(values.reshape(-1), key=abs))
            raise OverflowError(f"asarray: the Python integer {largest} does not fit any integer dtype.")
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
    made = asarray(object, dtype, device=device, copy=copy if type(object) is VkArray or copy is False else None)
    if 0 < most < made.ndim:
        raise ValueError(
            f"array: expected at most {most} dimensions (ndmax), got {made.ndim}. Reshape it, or raise ndmax."
        )
    missing = least - made.ndim
    return made._view((1,) * missing + made._shape, (0,) * missing + made._strides) if missing > 0 else made


_PLAIN = (bool, int, float, complex)


def _of_scalar(value: complex, device: launch.Device) -> VkArray:
    """A Python scalar as an array of its default dtype: without NumPy, which a fresh process would import for it alone."""
    wanted = default_dtype(promotion.KIND_NAMES[promotion.scalar_kind(value)], device)
    check_supported(wanted, device, "asarray")
    result = _empty((), wanted, device)
    device.upload(result._buffer, 0, launch.scalar_bytes(value, wanted, device))
    return result


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


@planned(creates=True)
def empty(
    shape: int | Sequence[int], dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None
) -> VkArray:  # fmt: skip
    """An array of `shape` with undefined values (dtype: the default floating type by default).

    Raises ValueError for a negative length, FeatureError for a dtype that the device lacks, OutOfMemoryError.
    Standard: creation functions, `empty`.
    """
    layout.as_order("empty", order, "CF")
    target = as_device(device)
    wanted = default_dtype("float", target) if dtype is None else as_dtype(dtype, "empty")
    check_supported(wanted, target, "empty")
    return _empty(as_shape(shape, "empty"), wanted, target)


@planned(integers=True, creates=True)
def full(
    shape: int | Sequence[int], fill_value: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None
) -> VkArray:  # fmt: skip
    """An array of `shape` filled with one value (dtype: the default one of the value's Python type).

    Raises TypeError for a value of another kind than the dtype's, OverflowError for an integer out of range.
    Standard: creation functions, `full`.
    """
    layout.as_order("full", order, "CF")
    return filled("full", shape, fill_value, dtype, device)


def filled(function: str, shape: int | Sequence[int], value: Any, dtype: DType | None, device: Any) -> VkArray:
    """What `full` returns; errors name `function`."""
    if type(value) is VkArray or is_sequence(value):
        return _filled_with_array(function, shape, value, dtype, device)
    target = as_device(device)
    if not promotion.is_scalar(value):
        raise TypeError(f"{function}: expected a number, an array or a list as fill_value, got {value!r:.60}.")
    dtype = value.dtype if dtype is None and hasattr(value, "dtype") else dtype
    kind = promotion.scalar_kind(value)
    wanted = default_dtype(promotion.KIND_NAMES[kind], target) if dtype is None else as_dtype(dtype, function)
    check_supported(wanted, target, function)
    if wanted in CATEGORIES["integer"] and kind == 2:
        value = promotion.whole(value, function, wanted)
    elif kind == 3 and wanted.category != "complex floating":
        raise TypeError(f"{function}: the complex number {value!r} does not fit {wanted}.")
    elif wanted is dtypes.bool_:
        value = bool(value)
    promotion.check_scalar_range(function, value, wanted)
    result = _empty(as_shape(shape, function), wanted, target)
    return launch.elementwise(launch.copy_operation(wanted), (launch.scalar(value, wanted, target),), result)


def _filled_with_array(function: str, shape: Any, value: Any, dtype: Any, device: Any) -> VkArray:
    """An array in which the elements of another are repeated."""
    source = asarray(value, dtype=dtype, device=device)
    target = as_shape(shape, function)
    if len(target) < source.ndim or layout.broadcast_shapes([source._shape, target], function) != target:
        raise ValueError(f"{function}: a fill_value of shape {source._shape} does not broadcast to {target}.")
    return launch.copy(source._view(target, layout.broadcast_strides(source._shape, source._strides, target)))


@planned(creates=True)
def zeros(
    shape: int | Sequence[int], dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None
) -> VkArray:  # fmt: skip
    """An array of zeros (dtype: the default floating type by default).

    Errors as for `empty`. Standard: creation functions, `zeros`.
    """
    layout.as_order("zeros", order, "CF")
    return filled("zeros", shape, 0, default_dtype("float", as_device(device)) if dtype is None else dtype, device)


@planned(creates=True)
def ones(
    shape: int | Sequence[int], dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None
) -> VkArray:  # fmt: skip
    """An array of ones (dtype: the default floating type by default).

    Errors as for `empty`. Standard: creation functions, `ones`.
    """
    layout.as_order("ones", order, "CF")
    return filled("ones", shape, 1, default_dtype("float", as_device(device)) if dtype is None else dtype, device)


@planned
def empty_like(
    x: ArrayLike, /, dtype: Any = None, order: str = "K", subok: bool = True, shape: int | Sequence[int] | None = None, *,
    device: Any = None,
) -> VkArray:  # fmt: skip
    """An array with the shape, dtype and device of x, where these are not given, and undefined values.

    Raises TypeError for what is not an array; other errors as for `empty`. Standard: creation functions, `empty_like`.
    """
    layout.as_order("empty_like", order)
    check_array("empty_like", x)
    shape = x._shape if shape is None else shape
    return empty(shape, x._dtype if dtype is None else dtype, device=x._device if device is None else device)


@planned(integers=True)
def full_like(
    x: ArrayLike, /, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True,
    shape: int | Sequence[int] | None = None, *, device: Any = None,
) -> VkArray:  # fmt: skip
    """An array with the shape, dtype and device of x, where these are not given, filled with one value.

    Raises TypeError for what is not an array; other errors as for `full`. Standard: creation functions, `full_like`.
    """
    layout.as_order("full_like", order)
    return _filled_like("full_like", x, fill_value, dtype, device, shape)


def _filled_like(function: str, x: VkArray, value: Any, dtype: Any, device: Any, shape: Any) -> VkArray:
    """What `full_like` returns; errors name `function`."""
    check_array(function, x)
    shape, dtype = x._shape if shape is None else shape, x._dtype if dtype is None else dtype
    return filled(function, shape, value, dtype, x._device if device is None else device)


@planned
def zeros_like(
    x: ArrayLike, /, dtype: Any = None, order: str = "K", subok: bool = True, shape: int | Sequence[int] | None = None, *,
    device: Any = None,
) -> VkArray:  # fmt: skip
    """Zeros with the shape, dtype and device of x. Errors as for `empty_like`. Standard: `zeros_like`."""
    layout.as_order("zeros_like", order)
    return _filled_like("zeros_like", x, 0, dtype, device, shape)


@planned
def ones_like(
    x: ArrayLike, /, dtype: Any = None, order: str = "K", subok: bool = True, shape: int | Sequence[int] | None = None, *,
    device: Any = None,
) -> VkArray:  # fmt: skip
    """Ones with the shape, dtype and device of x. Errors as for `empty_like`. Standard: `ones_like`."""
    layout.as_order("ones_like", order)
    return _filled_like("ones_like", x, 1, dtype, device, shape)


@functools.cache
def _progression(dtype: DType) -> launch.Operation:
    """start + index * step (the inputs a and b): the expression of `arange` and `linspace`."""
    factor = "REAL(index)" if dtype.category == "complex floating" else "T(index)"
    return launch.Operation(f"arange {dtype}", f"a + {factor} * b", (dtype, dtype), dtype, dtype)


def operations_of(dtype: DType) -> Iterator[launch.Operation]:
    """The operations of this chapter on a type, for the catalogue of shaders."""
    if dtype in CATEGORIES["numeric"]:
        yield _progression(dtype)
    yield from (_triangle(dtype, upper) for upper in (False, True))


def arithmetic_progression(start: Any, step: Any, count: int, dtype: DType, device: Any) -> VkArray:
    """start + i * step for the first `count` values of i, of a numeric dtype that the device has."""
    result = _empty((count,), dtype, device)
    # The kernel counts from 0; what takes several dispatches is several progressions.
    for first in range(0, count, layout.INDEX_LIMIT):
        part = result._view((min(count - first, layout.INDEX_LIMIT),), (1,), first)
        begin = start + first * step if first else start  # 0 * inf is NaN
        if dtype in CATEGORIES["integer"]:
            begin, step = (_wrapped(value, dtype) for value in (begin, step))
        operands = (launch.scalar(begin, dtype, device), launch.constant(step, dtype, device))
        launch.elementwise(_progression(dtype), operands, part)
    return result


def _wrapped(value: int, dtype: DType) -> int:
    """An integer modulo 2**bits, in the range of the type: a step may be negative where the type has no sign."""
    low, high = promotion.integer_range(dtype)
    return (int(value) - low) % (high - low + 1) + low


@planned(integers=True, creates=True)
def arange(
    start: int | float | None = None, stop: int | float | None = None, step: int | float = 1, dtype: Any = None, *,
    device: Any = None, like: Any = None,
) -> VkArray:  # fmt: skip
    """Evenly spaced values: start + i * step for ceil((stop - start) / step) values of i; 0 to start without stop.

    Parameters: start, stop, step (numbers); dtype (default: int64 for integers, int32 where the device has no int64,
    else float32). Returns a one-dimensional array; integers beyond dtype wrap.
    Raises ValueError for step 0, OverflowError where one of the first two integers is beyond dtype.
    Standard: creation functions, `arange`.
    """
    if start is None and stop is None:
        raise TypeError("arange: expected at least a stop, got no bounds.")
    given = {"start": 0, "stop": start} if stop is None else {"start": 0 if start is None else start, "stop": stop}
    step = 1 if step is None else step
    first, last = (promotion.as_real(value, "arange", name) for name, value in given.items())
    step = promotion.as_real(step, "arange", "step")
    if step == 0:
        raise ValueError("arange: step is 0; expected a positive or negative number.")
    target = as_device(device)
    integral = all(isinstance(value, int) for value in (first, last, step))
    wanted = default_dtype("int" if integral else "float", target) if dtype is None else as_dtype(dtype, "arange")
    check_supported(wanted, target, "arange")
    if wanted in dtypes.REAL_OF:
        return cast(arange(first, last, step, dtypes.REAL_OF[wanted], device=target), wanted)
    if wanted not in CATEGORIES["real numeric"]:
        raise TypeError(f"arange: expected a numeric dtype, got {wanted}.")
    if integral:
        count = max(int(-((first - last) // step)), 0)
        for value in (first, first + step)[:count]:  # later ones wrap, as in NumPy
            promotion.check_scalar_range("arange", int(value), wanted)
    else:
        count = _count_of_steps(first, last, step)
        if wanted in CATEGORIES["integer"]:  # as NumPy: from the first two values, truncated
            first, second = (promotion.whole(value, "arange", wanted) for value in (first, first + step))
            step = second - first
    return arithmetic_progression(first, step, count, wanted, target)


def _count_of_steps(first: float, last: float, step: float) -> int:
    """How many floating-point numbers `arange` makes. Raises ValueError for infinitely many, and for NaN."""
    for value in (first, last, step):
        promotion.check_scalar_range("arange", value, dtypes.float64)
    steps = (last - first) / step
    if not math.isfinite(steps):
        raise ValueError(f"arange: from {first} to {last} in steps of {step} is no finite number of values.")
    return max(math.ceil(steps), 0)


_DOUBLE = (dtypes.float64, dtypes.complex128)


@recordable
def linspace(
    start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None,
    axis: int = 0, *, device: Any = None,
) -> VkArray:  # fmt: skip
    """`num` evenly spaced values from start to stop, which is the last one unless endpoint is False.

    Parameters: start, stop (numbers, or arrays, for values along a new axis); num (0 or more); endpoint; retstep (also return the
    step); dtype (the default floating type by default, or its complex type for complex bounds; values for an integer type are
    rounded down); axis (the place of the new axis, for arrays).
    Raises ValueError for a negative num, TypeError for a num that is no integer.
    Standard: creation functions, `linspace`.
    """
    plain = promotion.is_scalar(start) and promotion.is_scalar(stop)
    wanted = None if dtype is None else as_dtype(dtype, "linspace")
    whole = wanted is not None and wanted.kind not in "fc"
    if plain:
        result = _spaced(
            promotion.as_scalar(start), promotion.as_scalar(stop), num, None if whole else wanted, device, endpoint
        )
    else:
        first, last = (_bound(one, other, device) * 1.0 for one, other in ((start, stop), (stop, start)))
        start, stop = first, last
        result = _spaced_arrays(first, last, num, endpoint, axis)
    if whole:
        assert wanted is not None
        result = operations["floor"](result)
    if wanted is not None and wanted is not result._dtype:
        result = cast(result, wanted)
    if not retstep:
        return result
    count = num - 1 if endpoint else num
    step = (stop - start) / count if count > 0 else math.nan
    return result, step if type(step) is VkArray else asarray(step, dtype=result._dtype, device=result._device)  # type: ignore


def _bound(value: Any, other: Any, device: Any) -> VkArray:
    """A bound as an array; Python's number in the type that it has beside an array of floating-point numbers."""
    weak = (
        type(other) is VkArray
        and other._dtype.kind in "fc"
        and promotion.is_scalar(value)
        and not hasattr(value, "dtype")
    )
    dtype = promotion.promote_scalar_kind(other._dtype, promotion.scalar_kind(value)) if weak else None
    return asarray(value, dtype=dtype, device=device)


def _spaced_arrays(start: VkArray, stop: VkArray, num: int, endpoint: bool, axis: int) -> VkArray:
    """Values between the elements of two arrays, along a new axis."""
    num = layout.as_integer(num, "linspace", "num")
    if num < 0:
        raise ValueError(f"linspace: expected num of 0 or more, got {num}.")
    intervals = num - 1 if endpoint else num
    distance = stop - start
    rank = distance.ndim
    places = arithmetic_progression(0, 1, num, distance._dtype, distance._device)._view(
        (num, *(1,) * rank), (1, *(0,) * rank)
    )
    result = places * (distance / max(intervals, 1)) + start
    if endpoint and num > 1:
        result[-1, ...] = stop
    order = list(range(1, rank + 1))
    order.insert(layout.normalize_axis(axis, rank + 1, "linspace"), 0)
    return launch.contiguous(result._permuted(order))


@planned(integers=True, creates=True)
def _spaced(
    start: complex, stop: complex, num: int, dtype: DType | None, device: Any, endpoint: bool
) -> VkArray:  # fmt: skip
    """`linspace` between numbers."""
    num = layout.as_integer(num, "linspace", "num")
    if num < 0:
        raise ValueError(f"linspace: expected num of 0 or more, got {num}.")
    target = as_device(device)
    start, stop = (_number("linspace", name, value) for name, value in (("start", start), ("stop", stop)))
    complex_bounds = isinstance(start, complex) or isinstance(stop, complex)
    if dtype is None:
        wanted = default_dtype("complex" if complex_bounds else "float", target)
    else:
        wanted = as_dtype(dtype, "linspace")
    check_supported(wanted, target, "linspace")
    promotion.check_category("linspace", wanted, "complex floating" if complex_bounds else "floating-point")
    for value in (start, stop):
        promotion.check_scalar_range("linspace", value, wanted)
    intervals = num - 1 if endpoint else num
    half = stop / 2 - start / 2
    if intervals > 0 and max(abs(half.real), abs(half.imag)) >= (2.0**1022 if wanted in _DOUBLE else 2.0**126):
        # The distance of the bounds overflows, though every value between them is finite.
        result = arithmetic_progression(start / 2, half / intervals, num, wanted, target) * 2
    else:
        step = (stop - start) / intervals if intervals > 0 else 0.0
        result = arithmetic_progression(start, step, num, wanted, target)
    if endpoint and num > 1:
        last = result._view((1,), (1,), num - 1)
        launch.elementwise(launch.copy_operation(wanted), (launch.scalar(stop, wanted, target),), last)
    return result


def _number(function: str, name: str, value: Any) -> Any:
    """The parameter `name` as a Python scalar. Raises TypeError for what is no number."""
    number = promotion.as_scalar(value)
    if number is None:
        raise TypeError(f"{function}: expected a number as {name}, got {value!r:.60}.")
    return number


@planned(creates=True)
def eye(
    N: int, M: int | None = None, k: int = 0, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None
) -> VkArray:  # fmt: skip
    """A matrix with ones on diagonal k (above the main one when positive) and zeros elsewhere.

    Parameters: N, M (the numbers of rows and of columns, N by default); k; dtype (the default floating type by default).
    Raises TypeError for what is no integer; other errors as for `empty`. Standard: creation functions, `eye`.
    """
    layout.as_order("eye", order, "CF")
    rows, columns = as_shape((N, N if M is None else M), "eye")
    k = layout.as_integer(k, "eye", "k")
    result = zeros((rows, columns), dtype=dtype, device=device)
    length = min(rows + min(k, 0), columns - max(k, 0))
    if length > 0:
        diagonal = result._view((length,), (columns + 1,), max(k, 0) - min(k, 0) * columns)
        value = launch.scalar(1, result._dtype, result._device)
        launch.elementwise(launch.copy_operation(result._dtype), (value,), diagonal)
    return result


# Bits are kept or cleared, never computed with: 0 * inf is NaN.
@functools.cache
def _triangle(dtype: DType, upper: bool) -> launch.Operation:
    """The element a where column c - row b is on the right side, else zero."""
    zero = f"{'T(0)' if dtype is not dtypes.bool_ else 'false'}"
    order = ">=" if upper else "<="
    name = "triu" if upper else "tril"
    return launch.Operation(
        f"{name} {dtype}", f"c {order} b ? a : {zero}", (dtype, dtypes.int32, dtypes.int32), dtype, dtype
    )


_KEPT_INTEGERS = 1 << 14  # how many at most: the indices of rows and columns of most matrices


def _integers(first: int, count: int, device: Any) -> VkArray:
    return arithmetic_progression(first, 1, count, dtypes.int32, device)


_kept_integers = kept(64)(_integers)


def _triangular(x: VkArray, k: int, upper: bool) -> VkArray:
    name = "triu" if upper else "tril"
    check_array(name, x)
    if x.ndim == 0:
        raise ValueError(f"{name}: expected at least 1 dimension, got shape ().")
    if x.ndim == 1:
        x = x._view((x.size, x.size), (0, x._strides[0]))
    rows, columns = x.shape[-2:]
    # The threshold of a row is row + k, kept within what 32 bits hold.
    bound = max(min(layout.as_integer(k, name, "k"), columns), -rows)
    first, last = min(bound, 0), max(bound + rows, columns)
    make = _kept_integers if last - first <= _KEPT_INTEGERS else _integers
    integers = make(first, last - first, x._device)
    starts = integers._view((rows, 1), (1, 0), bound - first)
    numbers = integers._view((columns,), (1,), -first)
    return launch.elementwise(_triangle(x._dtype, upper), (x, starts, numbers), _empty(x.shape, x._dtype, x._device))


@planned
def tril(x: ArrayLike, /, k: int = 0) -> VkArray:
    """The elements on and below diagonal k of each matrix, zeros above; a vector is each row of one.

    Raises ValueError for no dimensions, TypeError for a k that is no integer.

    Standard: creation functions, `tril`.
    """
    return _triangular(x, k, upper=False)


@planned
def triu(x: ArrayLike, /, k: int = 0) -> VkArray:
    """The elements on and above diagonal k of each matrix, zeros below; a vector is each row of one.

    Raises ValueError for no dimensions, TypeError for a k that is no integer.

    Standard: creation functions, `triu`.
    """
    return _triangular(x, k, upper=True)


@planned
def meshgrid(
    *arrays: ArrayLike, indexing: Literal["xy", "ij"] = "xy", sparse: bool = False, copy: bool = True
) -> tuple[VkArray, ...]:  # fmt: skip
    """Coordinate arrays of the grid that one-dimensional arrays span.

    Parameters: arrays (those of other ranks count as one row); indexing ("xy": the first two dimensions swapped, or "ij"); sparse
    (views in which the other dimensions have length 1); copy (False for views of the arrays, whose elements share memory).
    Returns a tuple of arrays, one for each input. Raises ValueError for another indexing.
    Standard: creation functions, `meshgrid`.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: expected indexing 'xy' or 'ij', got {indexing!r}.")
    if not arrays:
        return ()
    like = next((array._device for array in arrays if type(array) is VkArray), None)
    arrays = tuple(asarray(array, device=like) if promotion.is_scalar(array) else array for array in arrays)
    check_operands("meshgrid", [check_array("meshgrid", array) for array in arrays])
    arrays = tuple(array if array.ndim == 1 else operations["reshape"](array, (-1,)) for array in arrays)
    axes = list(range(len(arrays)))
    if indexing == "xy" and len(arrays) > 1:
        axes[:2] = 1, 0
    shape = tuple(arrays[axis].shape[0] for axis in axes)
    strides = [tuple(array._strides[0] if axis == own else 0 for axis in axes) for own, array in enumerate(arrays)]
    shapes = [
        tuple(n if axis == own or not sparse else 1 for axis, n in zip(axes, shape, strict=True))
        for own in range(len(arrays))
    ]
    views = [array._view(own, steps) for array, own, steps in zip(arrays, shapes, strides, strict=True)]
    return tuple(launch.copy(view) if copy else view for view in views)


DType.make = staticmethod(asarray)
operations.update(as_device=as_device, asarray=asarray, full=full, to_device=to_device, zeros=zeros)
