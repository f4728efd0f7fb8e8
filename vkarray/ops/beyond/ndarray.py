"""What NumPy's methods mean where no function of the standard says the same: see `vkarray/methods.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core import dtypes, layout, promotion
from ...core.array import ArrayLike, StrongLike, VkArray, array_in, default_dtype, empty, operations
from ...core.dtypes import CATEGORIES, REAL_OF
from ...core.key import check_index
from ...io import interchange
from ...kernels.planned import planned
from ...kernels.rows import check_array, check_operands
from .. import creation, data_type, elementwise, indexing, linear_algebra, manipulation, statistical
from ..reducing import type_of_out
from .arguments import arrays_of
from .placing import in_mode


@planned
def ravel(x: ArrayLike, /, order: str = "C") -> VkArray:
    """The elements in one dimension: a view where the strides allow it.

    Parameters: x; order ("C": the last index fastest, "F": the first, "A" and "K", which are "C" here, so that an array and what
    is computed of it have elements in one order). Raises ValueError for another order.
    """
    check_array("ravel", x)
    x = x._permuted(range(x.ndim)[::-1]) if layout.as_order("ravel", order) == "F" else x
    return manipulation.reshape(x, (x.size,))


@planned
def swapaxes(x: ArrayLike, /, axis1: int, axis2: int) -> VkArray:
    """A view with two dimensions in each other's place. Raises IndexError for an axis out of range."""
    order = list(range(check_array("swapaxes", x).ndim))
    first, second = (layout.normalize_axis(axis, x.ndim, "swapaxes") for axis in (axis1, axis2))
    order[first], order[second] = order[second], order[first]
    return manipulation.permute_dims(x, tuple(order))


@planned
def diagonal(x: ArrayLike, /, offset: int = 0, axis1: int = 0, axis2: int = 1) -> VkArray:
    """A view of the elements with index(axis2) = index(axis1) + offset; they lie along a new last dimension.

    Parameters: x (at least 2 dimensions); offset (from the main diagonal, to the right); axis1, axis2.
    Raises ValueError for fewer dimensions and for one axis named twice, IndexError for an axis out of range.
    """
    if check_array("diagonal", x).ndim < 2:
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


def _cumulative(function: Any, x: VkArray, axis: int | None, dtype: Any, out: VkArray | None) -> VkArray:
    x = x._view((1,), (0,)) if x.ndim == 0 else x
    dtype = type_of_out(x, out) if dtype is None else dtype
    result: VkArray = function(ravel(x) if axis is None else x, axis=0 if axis is None else axis, dtype=dtype, out=out)
    return result


@planned
def cumsum(x: ArrayLike, /, axis: int | None = None, dtype: Any = None, out: VkArray | None = None) -> VkArray:
    """The sums up to each element along an axis, of the flattened array by default.

    Parameters and errors as for `cumulative_sum`.
    """
    return _cumulative(statistical.cumulative_sum, check_array("cumsum", x), axis, dtype, out)


@planned
def cumprod(x: ArrayLike, /, axis: int | None = None, dtype: Any = None, out: VkArray | None = None) -> VkArray:
    """The products up to each element along an axis, of the flattened array by default; otherwise as `cumsum`.

    Raises IndexError for an axis out of range.
    """
    return _cumulative(statistical.cumulative_prod, check_array("cumprod", x), axis, dtype, out)


def _part(x: VkArray, part: int) -> VkArray:
    """A view of the real (0) or imaginary (1) parts of a complex array: its elements are pairs."""
    strides = tuple(2 * stride for stride in x._strides)
    return array_in(x._buffer, 2 * x._offset + part, x._shape, strides, REAL_OF[x._dtype], x._device)


@planned
def real_view(x: VkArray) -> VkArray:
    """The real parts as a view."""
    return _part(x, 0) if x._dtype in REAL_OF else x


@planned
def imag_view(x: VkArray) -> VkArray:
    """The imaginary parts as a view, zeros where there are none."""
    return _part(x, 1) if x._dtype in REAL_OF else creation.zeros_like(x)


@planned
def around(x: ArrayLike, /, decimals: int = 0, out: VkArray | None = None) -> VkArray:
    """Each element rounded to `decimals` places after the point (before it when negative), halves to even.

    Parameters: x (numeric); decimals; out. As NumPy's: x * 10**decimals rounded, divided by 10**decimals, each step rounded to
    the dtype. Raises TypeError for decimals that are no integer. Standard: elementwise functions, `round`, for 0 decimals.
    """
    result = round_decimals(x, decimals)
    return result if out is None else operations["write"]("round", out, result)


def round_decimals(x: VkArray, decimals: int) -> VkArray:
    """x rounded to a number of decimal places, halves to even."""
    check_array("round", x)
    decimals = layout.as_integer(decimals, "round", "decimals")
    if x._dtype.kind == "b" and decimals == 0:  # as NumPy's rint; there are no tenths of bools
        x = data_type.astype(x, dtypes.float16)
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
    """A list or integer as an array of indices; arrays of bools, which count as 0 and 1, in that type too; others as they are."""
    if type(value) is VkArray:
        return (
            value
            if value.size and value._dtype.kind != "b"
            else data_type.astype(value, default_dtype("int", x._device), copy=False)
        )
    return creation.asarray(value, dtype=default_dtype("int", x._device), device=x._device)


@planned
def take(
    x: StrongLike, /, indices: ArrayLike, axis: int | None = None, out: VkArray | None = None, mode: str = "raise"
) -> VkArray:  # fmt: skip
    """The elements of x at `indices` along an axis, of the flattened array by default.

    Parameters: x (any dtype); indices (integers of any shape, negative ones count from the end); axis; out; mode (for indices out
    of range: "raise", "wrap" or "clip"). Returns an array of shape x.shape[:axis] + indices.shape + x.shape[axis + 1:].
    Raises TypeError for indices that are no integers, IndexError for an axis out of range and, at the latest at the next read of
    a value, for an index out of range. Standard: indexing functions, `take`.
    """
    x = ravel(x) if axis is None else check_array("take", x)
    axis = layout.normalize_axis(0 if axis is None else axis, x.ndim, "take")
    indices = in_mode("take", _index_array("take", indices, x), x._shape[axis], mode)
    result = indexing.take(x, indices, axis=axis)
    return result if out is None else operations["write"]("take", out, result)


@planned
def transpose(x: ArrayLike, /, axes: Sequence[int] | None = None) -> VkArray:
    """A view with the dimensions in the order `axes`, reversed by default. Raises ValueError unless it names each once."""
    return manipulation.permute_dims(x, axes)


def _transposed(x: VkArray, *axes: Any) -> VkArray:
    """The method `transpose`: the order as nothing, None, a tuple, or one integer each."""
    return manipulation.permute_dims(x, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None)


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
def dot(x1: ArrayLike, x2: ArrayLike, /, out: VkArray | None = None) -> VkArray:
    """The dot product as NumPy has it: the sum of products over the last dimension of x1 and the second to last of x2.

    Parameters: x1, x2 (numeric); a Python scalar or an array of 0 dimensions multiplies the other; an x2 of 1 dimension
    is summed over that one. Returns an array of the promoted type and of shape x1.shape[:-1] + x2.shape without the
    dimension summed over. For stacks of matrices see `matmul`, which pairs them instead.
    Raises ValueError for lengths that differ, TypeError for other types.
    """
    if out is not None:
        return operations["write"]("dot", out, dot(x1, x2))
    check_operands("dot", (x1, x2))
    x1, x2 = arrays_of("dot", (x1, x2))
    if x1.ndim == 0 or x2.ndim == 0:
        return elementwise.multiply(x1, x2)
    if x1._shape[-1] != x2._shape[-2 if x2.ndim > 1 else 0]:
        raise ValueError(
            f"dot: shapes {x1._shape} and {x2._shape} do not match: the last dimension of x1 and the "
            f"{'second to last' if x2.ndim > 1 else 'only'} dimension of x2 differ. "
            "Transpose or reshape one of them."
        )
    if x2.ndim <= 2:
        return linear_algebra.matmul(x1, x2)
    return linear_algebra.tensordot(x1, x2, axes=([-1], [-2]))


operations.update(
    cumprod=cumprod, cumsum=cumsum, diagonal=diagonal, dot=dot, imag_view=imag_view, item=item, ravel=ravel,
    real_view=real_view, round_decimals=around, swapaxes=swapaxes, take=take, transpose=_transposed,
)  # fmt: skip
