"""Arrays of a shape: empty, or filled with a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core import dtypes, layout, promotion
from ...core.array import ArrayLike, VkArray, check_supported, default_dtype
from ...core.array import empty as _empty
from ...core.dtypes import CATEGORIES, DType, as_dtype
from ...core.operators import is_sequence
from ...kernels import launch
from ...kernels.launch import as_device
from ...kernels.overriding import or_own_array
from ...kernels.planned import planned
from ...kernels.rows import check_array
from .from_values import asarray


def as_shape(shape: int | Sequence[int], function: str, name: str = "shape") -> tuple[int, ...]:
    """A shape (the parameter `name`) as a tuple of non-negative integers. Raises TypeError or ValueError."""
    result = layout.as_lengths(shape, function, name)
    if result and min(result) < 0:
        raise ValueError(f"{function}: expected integers of 0 or more as {name}, got {shape!r}.")
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
    value = or_own_array(value)
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
