"""What NumPy's methods mean where no function of the standard says the same: see `vkarray/methods.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core import layout, promotion
from ...core.array import VkArray, empty, operations
from ...core.dtypes import CATEGORIES, REAL_OF, DType
from ...core.key import check_index
from ...io import interchange
from ...kernels.planned import planned
from ...kernels.rows import check_operands
from .. import creation, data_type, elementwise, indexing, linear_algebra, manipulation, statistical


@planned
def ravel(x: VkArray) -> VkArray:
    """The elements in C order, in one dimension."""
    return manipulation.reshape(x, (x.size,))


@planned
def flatten(x: VkArray) -> VkArray:
    """A copy of the elements in C order, in one dimension."""
    return manipulation.reshape(x, (x.size,), copy=True)


@planned
def squeeze(x: VkArray, axis: int | Sequence[int] | None) -> VkArray:
    """`squeeze` of the standard, of all dimensions of length 1 for None."""
    ones = tuple(one for one, length in enumerate(x._shape) if length == 1)
    return manipulation.squeeze(x, ones if axis is None else axis)


@planned
def transpose(x: VkArray, *axes: Any) -> VkArray:
    """The dimensions in the order of `axes`: none or None, a tuple, or one integer each."""
    order = axes[0] if len(axes) == 1 else axes or None
    return manipulation.permute_dims(x, tuple(reversed(range(x.ndim))) if order is None else order)


@planned
def swapaxes(x: VkArray, axis1: int, axis2: int) -> VkArray:
    """The dimensions with two of them in each other's place."""
    order = list(range(x.ndim))
    first, second = (layout.normalize_axis(axis, x.ndim, "swapaxes") for axis in (axis1, axis2))
    order[first], order[second] = order[second], order[first]
    return manipulation.permute_dims(x, tuple(order))


@planned
def diagonal(x: VkArray, offset: int, axis1: int, axis2: int) -> VkArray:
    """A view of the elements with index(axis2) = index(axis1) + offset; they lie along a new last dimension."""
    if x.ndim < 2:
        raise ValueError(f"diagonal: expected at least 2 dimensions, got {x.ndim} (shape {x._shape}).")
    row, column = layout.normalize_axes((axis1, axis2), x.ndim, "diagonal")
    offset = layout.as_integer(offset, "diagonal", "offset")
    length = max(0, min(x._shape[row] + min(offset, 0), x._shape[column] - max(offset, 0)))
    start = max(-offset, 0) * x._strides[row] + max(offset, 0) * x._strides[column] if length else 0
    kept = [axis for axis in range(x.ndim) if axis not in (row, column)]
    return x._view(
        (*(x._shape[axis] for axis in kept), length),
        (*(x._strides[axis] for axis in kept), x._strides[row] + x._strides[column]), start,
    )  # fmt: skip


def _cumulative(function: Any, x: VkArray, axis: int | None, dtype: DType | None) -> VkArray:
    return function(ravel(x) if axis is None else x, axis=0 if axis is None else axis, dtype=dtype)


@planned
def cumsum(x: VkArray, axis: int | None, dtype: DType | None) -> VkArray:
    """`cumulative_sum`, of the flattened array for axis None."""
    return _cumulative(statistical.cumulative_sum, x, axis, dtype)


@planned
def cumprod(x: VkArray, axis: int | None, dtype: DType | None) -> VkArray:
    """`cumulative_prod`, of the flattened array for axis None."""
    return _cumulative(statistical.cumulative_prod, x, axis, dtype)


def _part(x: VkArray, part: int) -> VkArray:
    """A view of the real (0) or imaginary (1) parts of a complex array: its elements are pairs."""
    strides = tuple(2 * stride for stride in x._strides)
    return VkArray(x._buffer, 2 * x._offset + part, x._shape, strides, REAL_OF[x._dtype], x._device)


@planned
def real_view(x: VkArray) -> VkArray:
    """The real parts as a view."""
    return _part(x, 0) if x._dtype in REAL_OF else x


@planned
def imag_view(x: VkArray) -> VkArray:
    """The imaginary parts as a view, zeros where there are none."""
    return _part(x, 1) if x._dtype in REAL_OF else creation.zeros_like(x)


@planned
def round_decimals(x: VkArray, decimals: int) -> VkArray:
    """x rounded to a number of decimal places, halves to even."""
    decimals = layout.as_integer(decimals, "round", "decimals")
    promotion.check_category("round", x._dtype, "numeric")
    if decimals == 0 or (x._dtype in CATEGORIES["integer"] and decimals > 0):
        return elementwise.round(x)
    if x._dtype in CATEGORIES["integer"]:
        return _round_integers(x, 10**-decimals)
    if x._dtype in REAL_OF:
        result = empty(x._shape, x._dtype, x._device)
        for part in (0, 1):
            _part(result, part)[...] = round_decimals(_part(x, part), decimals)
        return result
    factor = float(f"1e{abs(decimals)}")  # infinite beyond the type, as NumPy's
    first, last = (elementwise.multiply, elementwise.divide)[:: 1 if decimals > 0 else -1]
    return last(elementwise.round(first(x, factor)), factor)


def _round_integers(x: VkArray, unit: int) -> VkArray:
    """Integers rounded to multiples of `unit`, a power of ten: halves to the even multiple."""
    if unit > promotion.integer_range(x._dtype)[1]:
        return creation.zeros_like(x)
    quotient = x // unit
    rest, half = x - quotient * unit, unit // 2
    odd = elementwise.bitwise_and(quotient, 1)
    up = elementwise.logical_or(rest > half, elementwise.logical_and(rest == half, odd == 1))
    return (quotient + data_type.astype(up, x._dtype)) * unit


def _index_array(function: str, value: Any, x: VkArray) -> Any:
    """A list or integer as an array of indices; arrays as they are."""
    if type(value) is VkArray:
        return value
    return creation.asarray(value, dtype=creation.default_dtype("int", x._device), device=x._device)


@planned
def take(x: VkArray, indices: Any, axis: int | None) -> VkArray:
    """`take` of the standard, of the flattened array for axis None; indices may be a list or an integer."""
    indices = _index_array("take", indices, x)
    return indexing.take(ravel(x) if axis is None else x, indices, axis=0 if axis is None else axis)


@planned
def repeat(x: VkArray, repeats: Any, axis: int | None) -> VkArray:
    """`repeat` of the standard; the counts may be a list."""
    counts = _index_array("repeat", repeats, x) if isinstance(repeats, (list, tuple)) else repeats
    return manipulation.repeat(x, counts, axis=axis)


def item(x: VkArray, *indices: Any) -> Any:
    """One element as a Python scalar."""
    if not indices:
        if x.size != 1:
            raise ValueError(f"item: expected an array of one element, got shape {x._shape}.")
        return interchange.item(x)
    place = indices[0] if len(indices) == 1 and isinstance(indices[0], tuple) else indices
    if len(place) == 1 and x.ndim != 1:
        number = check_index(layout.as_integer(place[0], "item", "an index"), 0, x.size, "item")
        steps = layout.contiguous_strides(x._shape)
        place = tuple(number // step % length for length, step in zip(x._shape, steps, strict=True))
    element = x[place]
    if element._shape != ():
        raise ValueError(f"item: expected 1 or {x.ndim} indices for shape {x._shape}, got {place}.")
    return interchange.item(element)


@planned
def dot(x1: Any, x2: Any, /) -> VkArray:
    """The dot product as NumPy has it: the sum of products over the last dimension of x1 and the second to last of x2.

    Parameters: x1, x2 (numeric); a Python scalar or an array of 0 dimensions multiplies the other; an x2 of 1 dimension
    is summed over that one. Returns an array of the promoted type and of shape x1.shape[:-1] + x2.shape without the
    dimension summed over. For stacks of matrices see `matmul`, which pairs them instead.
    Raises ValueError for lengths that differ, TypeError for other types.
    """
    check_operands("dot", (x1, x2))
    if type(x1) is not VkArray or type(x2) is not VkArray or x1.ndim == 0 or x2.ndim == 0:
        return elementwise.multiply(x1, x2)
    if x1._shape[-1] != x2._shape[-2 if x2.ndim > 1 else 0]:
        raise ValueError(
            f"dot: shapes {x1._shape} and {x2._shape} do not match: the last dimension of x1 and the "
            f"{'second to last' if x2.ndim > 1 else 'only'} dimension of x2 differ."
        )
    if x2.ndim <= 2:
        return linear_algebra.matmul(x1, x2)
    return linear_algebra.tensordot(x1, x2, axes=([-1], [-2]))


operations.update(
    astype=data_type.astype, cumprod=cumprod, cumsum=cumsum, diagonal=diagonal, dot=dot,
    flatten=flatten, imag_view=imag_view, item=item, ravel=ravel, real_view=real_view, repeat=repeat,
    reshape=manipulation.reshape, round_decimals=round_decimals, squeeze=squeeze, swapaxes=swapaxes, take=take,
    transpose=transpose,
)  # fmt: skip
