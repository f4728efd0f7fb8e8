"""Creation functions of the standard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _vk, dtypes, interchange, promotion
from ..array import VkArray, check_supported, default_dtype, operations
from ..array import empty as _empty
from ..dtypes import CATEGORIES, DType, as_dtype
from . import launch
from .rows import cast

_KIND_NAMES = ("bool", "int", "float", "complex")


def as_device(device: Any) -> _vk.Device:
    """A device from a Device, an index, a name, a UUID, or None for the default. Raises DeviceError."""
    return device if isinstance(device, _vk.Device) else _vk.open_device(device)


def as_shape(shape: int | Sequence[int], function: str) -> tuple[int, ...]:
    """A shape as a tuple of non-negative integers. Raises TypeError or ValueError naming the function."""
    lengths = shape if isinstance(shape, (tuple, list)) else (shape,)
    try:
        result = tuple(length.__index__() for length in lengths)
    except AttributeError:
        raise TypeError(f"{function}: expected a shape of integers, got {shape!r}.") from None
    if any(length < 0 for length in result):
        raise ValueError(f"{function}: expected lengths of 0 or more, got {result}.")
    return result


def to_device(x: VkArray, device: Any, /, *, stream: None = None) -> VkArray:
    """The array on another device, through the host; the array itself when it is there already."""
    if stream is not None:
        raise ValueError(f"to_device: vkarray has no streams; expected stream=None, got {stream!r}.")
    target = as_device(device)
    if target is x._device:
        return x
    return interchange.from_numpy(interchange.to_numpy(x), x._dtype, target, "to_device")


def _leaf(value: Any) -> Any:
    """The first element of nested lists."""
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return value


def _host_values(value: Any) -> Any:
    """Nested lists with any vkarray arrays in them replaced by their values."""
    if isinstance(value, VkArray):
        return interchange.to_numpy(value)
    return [_host_values(one) for one in value] if isinstance(value, (list, tuple)) else value


def asarray(
    obj: Any, /, *, dtype: DType | None = None, device: Any = None, copy: bool | None = None
) -> VkArray:  # fmt: skip
    """An array from a Python scalar, nested lists, a NumPy array, an object with a buffer or DLPack, or an array.

    Parameters: obj; dtype (default: that of obj; int64, float32 and complex64 for Python numbers, int32 where the
    device has no int64); device (default: the default device); copy (True always copies, False never, None if needed).
    Returns an array. Raises ValueError for copy=False where a copy is needed, TypeError for an object or dtype that
    vkarray cannot hold, OverflowError for a Python integer out of range, FeatureError for a dtype the device lacks.
    Standard: creation functions, `asarray`.
    """
    import numpy as np

    wanted = None if dtype is None else as_dtype(dtype, "asarray")
    if isinstance(obj, VkArray):
        target = obj._device if device is None else as_device(device)
        result = to_device(obj, target)
        if wanted is not None and wanted is not result._dtype:
            check_supported(wanted, target, "asarray")
            result = cast(result, wanted)
        if copy is False and result is not obj:
            raise ValueError("asarray: copy=False, but another dtype or device needs a copy.")
        return launch.copy(obj) if copy and result is obj else result
    target = as_device(device)
    if copy is False:
        raise ValueError(
            f"asarray: copy=False, but host memory ({type(obj).__name__}) must be copied to the device. Use copy=None."
        )
    if hasattr(obj, "__dlpack__") and not isinstance(obj, np.ndarray) and not hasattr(obj, "__array__"):
        result = operations["from_dlpack"](obj, device=target, copy=copy)
        return result if wanted is None else cast(result, wanted)
    python_numbers = not hasattr(_leaf(obj), "dtype") and not isinstance(obj, (memoryview, bytearray, bytes)) and (
        isinstance(obj, (list, tuple)) or promotion.is_scalar(obj)
    )  # fmt: skip
    if python_numbers and wanted is not None:
        values = _python_values(_host_values(obj), wanted)
    else:
        values = np.asarray(_host_values(obj))
    if values.dtype == object or values.dtype.kind not in "biufcV":
        if values.dtype == object and all(isinstance(one, int) for one in values.reshape(-1)):
            raise OverflowError(f"asarray: a Python integer in {obj!r:.60} does not fit any integer dtype.")
        raise TypeError(f"asarray: expected numbers, got {type(obj).__name__} ({obj!r:.60}).")
    if wanted is None:
        wanted = interchange.dtype_of_numpy(values, "asarray")
        if python_numbers:
            kind = _KIND_NAMES["biufc".index(values.dtype.kind.replace("u", "i")) - (values.dtype.kind in "fc")]
            wanted = wanted if wanted is dtypes.uint64 else default_dtype(kind, target)
    check_supported(wanted, target, "asarray")
    host = interchange.numpy_dtype(wanted)
    if python_numbers and values.dtype.kind in "iu" and wanted in CATEGORIES["integer"] and values.size:
        for value in (int(values.min()), int(values.max())):
            promotion.check_scalar_range("asarray", value, wanted)
    if values.dtype.name != "bfloat16":
        with np.errstate(all="ignore"):
            values = values.astype(host, copy=False)
    return interchange.from_numpy(values, wanted, target)


def _python_values(obj: Any, wanted: DType) -> Any:
    """Python numbers as a NumPy array from which `wanted` is reached without a detour (uint64 above 2**63 included)."""
    import numpy as np

    values = np.asarray(obj)
    return np.asarray(obj, np.uint64) if wanted is dtypes.uint64 and values.dtype.kind in "f" else values


def empty(shape: int | Sequence[int], *, dtype: DType | None = None, device: Any = None) -> VkArray:
    """An array of `shape` with undefined values (dtype: float32 by default).

    Raises ValueError for a negative length, FeatureError for a dtype that the device lacks, OutOfMemoryError.
    Standard: creation functions, `empty`.
    """
    target = as_device(device)
    wanted = dtypes.float32 if dtype is None else as_dtype(dtype, "empty")
    check_supported(wanted, target, "empty")
    return _empty(as_shape(shape, "empty"), wanted, target)


def full(
    shape: int | Sequence[int], fill_value: bool | int | float | complex, *, dtype: DType | None = None, device: Any = None
) -> VkArray:
    """An array of `shape` filled with one value (dtype: the default one of the value's Python type).

    Raises TypeError for a value of another kind than the dtype's, OverflowError for an integer out of range.
    Standard: creation functions, `full`.
    """
    target = as_device(device)
    if type(fill_value) is VkArray and fill_value.shape == ():
        fill_value = fill_value.item()
    if not promotion.is_scalar(fill_value):
        raise TypeError(f"full: expected a Python scalar as fill_value, got {fill_value!r}.")
    kind = promotion.scalar_kind(fill_value)
    wanted = default_dtype(_KIND_NAMES[kind], target) if dtype is None else as_dtype(dtype, "full")
    check_supported(wanted, target, "full")
    if wanted in CATEGORIES["integer"]:
        if kind > 1:
            raise TypeError(f"full: the {_KIND_NAMES[kind]} {fill_value!r} does not fit {wanted}. Round it first.")
        promotion.check_scalar_range("full", int(fill_value), wanted)
    elif kind == 3 and wanted.kind != "complex floating":
        raise TypeError(f"full: the complex number {fill_value!r} does not fit {wanted}.")
    elif wanted is dtypes.bool_:
        fill_value = bool(fill_value)
    return _filled(as_shape(shape, "full"), fill_value, wanted, target)


def _filled(shape: tuple[int, ...], value: Any, dtype: DType, device: _vk.Device) -> VkArray:
    result = _empty(shape, dtype, device)
    return launch.elementwise(launch.copy_operation(dtype), (launch.constant(value, dtype, device),), result)


def zeros(shape: int | Sequence[int], *, dtype: DType | None = None, device: Any = None) -> VkArray:
    """An array of zeros (dtype: float32 by default). Standard: creation functions, `zeros`."""
    return full(shape, 0, dtype=dtypes.float32 if dtype is None else dtype, device=device)


def ones(shape: int | Sequence[int], *, dtype: DType | None = None, device: Any = None) -> VkArray:
    """An array of ones (dtype: float32 by default). Standard: creation functions, `ones`."""
    return full(shape, 1, dtype=dtypes.float32 if dtype is None else dtype, device=device)


def empty_like(x: VkArray, /, *, dtype: DType | None = None, device: Any = None) -> VkArray:
    """An array with the shape, dtype and device of x and undefined values. Standard: creation functions."""
    return empty(x.shape, dtype=dtype or x.dtype, device=device or x.device)


def full_like(
    x: VkArray, /, fill_value: bool | int | float | complex, *, dtype: DType | None = None, device: Any = None
) -> VkArray:
    """An array with the shape, dtype and device of x filled with one value. Standard: creation functions."""
    return full(x.shape, fill_value, dtype=dtype or x.dtype, device=device or x.device)


def zeros_like(x: VkArray, /, *, dtype: DType | None = None, device: Any = None) -> VkArray:
    """Zeros with the shape, dtype and device of x. Standard: creation functions, `zeros_like`."""
    return full_like(x, 0, dtype=dtype, device=device)


def ones_like(x: VkArray, /, *, dtype: DType | None = None, device: Any = None) -> VkArray:
    """Ones with the shape, dtype and device of x. Standard: creation functions, `ones_like`."""
    return full_like(x, 1, dtype=dtype, device=device)


operations.update(to_device=to_device)
