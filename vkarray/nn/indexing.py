"""Reading and writing through index arrays as neural networks do: embeddings, gather and scatter, sums by place, largest elements.

What several elements write to one place is joined in a fixed order (`index/segments.comp`): the places are sorted, and the elements
of each joined in a tree. So results are the same in every run. Indices out of range raise IndexError when the host next reads
a value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core import dtypes, layout, promotion
from ..core.array import VkArray, default_dtype, empty
from ..core.dtypes import CATEGORIES
from ..kernels import gather as moving
from ..kernels import launch
from ..kernels.compact import coordinates
from ..kernels.conversion import cast
from ..kernels.gather import IndexArray, IndexRule
from ..kernels.planned import recordable
from ..kernels.reductions import partial_dtype
from ..kernels.rows import check_array, check_operands
from ..kernels.scatter import scatter as scatter_into
from ..ops import creation
from ..ops.elementwise import divide, equal, floor_divide, maximum
from ..ops.indexing import getitem, setitem, take_along_axis_by, take_by
from ..ops.manipulation import broadcast_to, reshape
from ..ops.searching import where
from ..ops.segments import REDUCES, join_by_place
from ..ops.sorting import sorted_rows

if TYPE_CHECKING:
    from ..kernels.launch import Device

# Functions named as PyTorch names them take negative indices from the end by default, as the standard's do.
_EMBEDDING, _EMBEDDING_BACKWARD = IndexRule("embedding"), IndexRule("embedding_backward")
_GATHER, _SCATTER = IndexRule("gather"), IndexRule("scatter")
_SCATTER_REDUCE, _INDEX_REDUCE, _INDEX_PUT = map(IndexRule, ("scatter_reduce", "index_reduce", "index_put"))


def _numbers(count: int, device: Device) -> VkArray:
    """The places 0 to count - 1, from which index arrays pick: that checks their ranges."""
    return creation.arange(count, dtype=dtypes.int32, device=device)


def _flat(x: VkArray) -> VkArray:
    return launch.contiguous(reshape(x, (x.size,)))


# -- embedding ------------------------------------------------------------------------------------------------------


@recordable
def embedding(weight: VkArray, indices: VkArray, /, *, rule: IndexRule = _EMBEDDING) -> VkArray:
    """The rows of a table at indices.

    Parameters: weight (of shape (rows, columns)); indices (integers of any shape); rule (which indices it takes).
    Returns an array of shape indices.shape + (columns,). Raises TypeError for indices that are no integers, ValueError for a
    table of another rank and, at the next read of a value, the rule's error (IndexError) for an index out of range.
    """
    _check_rank("embedding", weight, 2, "weight")
    return take_by(rule, weight, indices, 0)


def embedding_backward(
    gradient: VkArray, indices: VkArray, rows: int, /, *, padding: int = -1, by_frequency: bool = False
) -> VkArray:
    """The gradient of the table of `embedding`: the sums of the gradients of each row.

    Parameters: gradient (of shape indices.shape + (columns,)); indices; rows (of the table); padding (a row that gets none);
    by_frequency (divide by how often each row was read). Returns an array of shape (rows, columns).
    Raises ValueError for a gradient of another shape, IndexError, at the next read of a value, for an index out of range.
    """
    check_array("embedding_backward", gradient)
    if gradient._shape[:-1] != check_array("embedding_backward", indices)._shape:
        raise ValueError(
            f"embedding_backward: expected a gradient of shape {(*indices._shape, 'columns')}, got {gradient._shape}."
        )
    columns = gradient._shape[-1]
    device, dtype = gradient._device, gradient._dtype
    result = creation.zeros((rows, columns), dtype=dtype, device=device)
    places = _flat(take_by(_EMBEDDING_BACKWARD, _numbers(rows, device), indices))
    join_by_place("embedding_backward", result, places, reshape(gradient, (places.size, columns)))
    if by_frequency and places.size:
        counts = creation.zeros((rows, 1), dtype=dtypes.int32, device=device)
        join_by_place(
            "embedding_backward",
            counts,
            places,
            broadcast_to(launch.constant(1, dtypes.int32, device), (places.size, 1)),
        )
        result = divide(result, cast(maximum(counts, 1), dtype))
    if 0 <= padding < rows:
        setitem(result, padding, 0.0)
    return result


# -- along an axis --------------------------------------------------------------------------------------------------


def _check_rank(function: str, x: VkArray, rank: int, name: str) -> None:
    if check_array(function, x).ndim != rank:
        raise ValueError(f"{function}: expected {name} of {rank} dimensions, got shape {x._shape}.")


def _aligned(
    function: str, x: VkArray, axis: int, indices: VkArray, source: VkArray | None
) -> tuple[VkArray, VkArray, VkArray | None, int]:
    """x and the indices, at least of rank 1, the source cut to the indices' shape, and the axis from the front.

    Raises TypeError and ValueError for what does not fit.
    """
    check_operands(function, (x, indices) if source is None else (x, indices, source))
    promotion.check_category(function, indices._dtype, "integer")
    x, indices = (one if one.ndim else one._view((1,), (1,)) for one in (x, indices))
    axis = layout.normalize_axis(axis, x.ndim, function)
    if source is not None and not source.ndim:
        source = source._view((1,), (1,))
    fits = indices.ndim == x.ndim and all(
        own <= size for place, (own, size) in enumerate(zip(indices._shape, x._shape, strict=True)) if place != axis
    )
    if indices.size and not (fits and (source is None or _holds(source, indices._shape))):
        raise ValueError(
            f"{function}: expected indices no larger than x of shape {x._shape} but along axis {axis}"
            f"{'' if source is None else f', and than the source of shape {source._shape}'}, got shape {indices._shape}."
        )
    if source is not None:
        source = source._view(indices._shape, source._strides)
    return x, indices, source, axis


def _holds(source: VkArray, shape: layout.Shape) -> bool:
    return source.ndim == len(shape) and all(own <= size for own, size in zip(shape, source._shape, strict=True))


def _cut(x: VkArray, axis: int, shape: layout.Shape) -> VkArray:
    """The part of x that indices of a shape select from along an axis: a view."""
    return x._view((*shape[:axis], x._shape[axis], *shape[axis + 1 :]), x._strides)


@recordable
def gather(x: VkArray, axis: int, indices: VkArray, /, *, rule: IndexRule = _GATHER) -> VkArray:
    """The elements of x at the places of `indices`, but for the index along the axis, which they give.

    Parameters: x; axis; indices (integers of the rank of x, no larger than x but along the axis); rule (which indices it
    takes). Returns an array of the shape of the indices.
    Raises TypeError for indices that are no integers, ValueError for shapes that do not fit and, at the next read of a value,
    the rule's error (IndexError) for an index out of range.
    """
    shape = check_array("gather", indices)._shape
    x, indices, _, axis = _aligned("gather", x, axis, indices, None)
    if not indices.size:
        return empty(shape, x._dtype, x._device)
    return reshape(take_along_axis_by(rule, _cut(x, axis, indices._shape), indices, axis), shape)


@recordable
def scatter(x: VkArray, axis: int, indices: VkArray, source: Any, /, *, rule: IndexRule = _SCATTER) -> VkArray:
    """A copy of x in which the elements of `source` stand where `gather` would read; of several at one place, one of them.

    Parameters: x; axis; indices, rule as `gather`; source (of the dtype of x and no smaller than the indices, or a number).
    Errors as `gather`.
    """
    result = launch.copy(check_array("scatter", x))
    view, indices, own, axis = _aligned("scatter", result, axis, indices, source if type(source) is VkArray else None)
    if indices.size:
        if own is None:
            own = launch.constant(source, x._dtype, x._device)
        part = _cut(view, axis, indices._shape)
        strides = (*part._strides[:axis], 0, *part._strides[axis + 1 :])
        index = IndexArray(indices, axis, part._shape[axis], part._strides[axis])
        scatter_into(rule, part, indices._shape, strides, [index], cast(own, x._dtype))
    return result


@recordable
def scatter_reduce(
    x: VkArray, axis: int, indices: VkArray, source: VkArray, /, reduce: str = "sum", *, include_self: bool = True,
    rule: IndexRule = _SCATTER_REDUCE,
) -> VkArray:  # fmt: skip
    """A copy of x in which the elements of `source` are joined where `gather` would read.

    Parameters: x; axis; indices, rule as `gather`; source (of the dtype of x, no smaller than the indices); reduce ("sum", "prod",
    "mean", "amax" or "amin"); include_self (the element of x is joined too). Errors as `gather`, ValueError for another reduce.
    """
    result = launch.copy(check_array("scatter_reduce", x))
    view, indices, own, axis = _aligned("scatter_reduce", result, axis, indices, source)
    if indices.size:
        assert own is not None
        numbers = reshape(_numbers(view.size, view._device), view._shape)
        places = _flat(take_along_axis_by(rule, _cut(numbers, axis, indices._shape), indices, axis))
        target, values = reshape(view, (view.size, 1)), reshape(cast(own, x._dtype), (own.size, 1))
        _reduce_into("scatter_reduce", target, places, values, reduce, include_self)
    return result


def _reduce_into(
    function: str, target: VkArray, places: VkArray, values: VkArray, reduce: str, include_self: bool
) -> None:  # fmt: skip
    """`join_by_place`, and means, which are divided by how many elements were joined."""
    if reduce not in (*REDUCES, "mean"):
        raise ValueError(f"{function}: expected reduce as one of {(*REDUCES, 'mean')}, got {reduce!r}.")
    if reduce != "mean":
        join_by_place(function, target, places, values, reduce, include_self)
        return
    device, dtype = target._device, target._dtype
    wide = launch.copy(cast(target, partial_dtype(dtype)))
    join_by_place(function, wide, places, cast(values, wide._dtype), "sum", include_self)
    counts = creation.zeros((target._shape[0], 1), dtype=dtypes.int32, device=device)
    join_by_place(function, counts, places, broadcast_to(launch.constant(1, dtypes.int32, device), (places.size, 1)))
    joined = maximum(counts + 1 if include_self else counts, 1)
    quotient = floor_divide if dtype in CATEGORIES["integer"] else divide
    mean = quotient(wide, cast(joined, wide._dtype))
    setitem(target, ..., cast(where(equal(counts, 0), cast(target, wide._dtype), mean), dtype))


@recordable
def index_reduce(
    x: VkArray, axis: int, indices: VkArray, source: VkArray, /, reduce: str = "sum", *, include_self: bool = True,
    rule: IndexRule = _INDEX_REDUCE,
) -> VkArray:  # fmt: skip
    """A copy of x in which slices of `source` are joined into those along the axis that the indices name.

    Parameters: x; axis; indices (integers, 1 dimension); source (of the dtype of x; as many slices as indices, else of the
    shape of x); reduce, include_self and rule as `scatter_reduce`. Errors as there.
    """
    function = "index_reduce"
    shape = check_array(function, x)._shape
    check_operands(function, (x, indices, source))
    x, indices, source = (one if one.ndim else one._view((1,), (1,)) for one in (x, indices, source))
    axis = layout.normalize_axis(axis, x.ndim, function)
    wanted = (*x._shape[:axis], indices.size, *x._shape[axis + 1 :])
    if indices.ndim != 1 or source._shape != wanted:
        raise ValueError(
            f"{function}: expected indices of 1 dimension and a source of shape {wanted}, got shapes {indices._shape} and "
            f"{source._shape} for x of shape {x._shape} and axis {axis}."
        )
    order = (axis, *range(axis), *range(axis + 1, x.ndim))
    moved = launch.copy(x._permuted(order))
    columns = math.prod(moved._shape[1:])
    length = x._shape[axis]
    numbers = _numbers(length, x._device)
    places = _flat(moving.gather(rule, numbers, indices._shape, (0,), [IndexArray(indices, axis, length, 1)]))
    target = moved._view((moved._shape[0], columns), (columns, 1))
    values = reshape(cast(source, x._dtype)._permuted(order), (indices.size, columns))
    _reduce_into(function, target, places, values, reduce, include_self)
    back = (*range(1, axis + 1), 0, *range(axis + 1, x.ndim))
    return reshape(launch.contiguous(moved._permuted(back)), shape)


def index_put(
    x: VkArray, indices: Sequence[VkArray | None], values: VkArray, /, *, accumulate: bool = False,
    rule: IndexRule = _INDEX_PUT,
) -> VkArray:  # fmt: skip
    """A copy of x with x[indices] = values, or with the values added where they go.

    Parameters: x; indices (integer arrays or masks, None for a whole dimension, as a key of `x[...]`); values (that broadcast to
    the selection); accumulate; rule (which indices it takes). Errors as `x[key] = values`.
    """
    result = launch.copy(check_array("index_put", x))
    key = tuple(slice(None) if one is None else one for one in indices)
    if not accumulate:
        setitem(result, key, cast(values, x._dtype), rule=rule)
        return result
    arrays: list[VkArray | None] = []
    for one in indices:
        arrays += coordinates(one) if one is not None and one._dtype is dtypes.bool_ else [one]
    own = [axis for axis, one in enumerate(arrays) if one is not None]
    others = [axis for axis in range(x.ndim) if axis not in own]
    moved = launch.copy(x._permuted((*own, *others)))
    sizes = moved._shape[: len(own)]
    numbers = reshape(_numbers(math.prod(sizes), x._device), sizes)
    places = getitem(numbers, tuple(one for one in arrays if one is not None), rule=rule)
    adjacent = own == list(range(own[0], own[-1] + 1))
    before = own[0] if adjacent else 0
    kept = [x._shape[axis] for axis in others]
    shape = (*kept[:before], *places._shape, *kept[before:])
    spread = broadcast_to(cast(values, x._dtype), shape)
    middle = range(before, before + places.ndim)
    spread = spread._permuted((*middle, *range(before), *range(before + places.ndim, len(shape))))
    columns = math.prod(kept)
    target = moved._view((math.prod(sizes), columns), (columns, 1))
    join_by_place("index_put", target, _flat(places), reshape(spread, (places.size, columns)))
    order = (*own, *others)
    return launch.contiguous(moved._permuted(tuple(order.index(axis) for axis in range(x.ndim))))


# -- order ----------------------------------------------------------------------------------------------------------


@recordable
def sort(x: VkArray, /, *, axis: int = -1, descending: bool = False) -> tuple[VkArray, VkArray]:
    """The elements sorted along an axis and their places; NaN counts as the largest number, so it comes first when descending.

    Parameters: x (bool, integers or real floating-point); axis; descending. Returns (values, places in the default integer type);
    equal elements keep their order. Raises TypeError for other types, IndexError for an axis out of range.
    """
    promotion.check_category("sort", check_array("sort", x)._dtype, "real")
    if not x.ndim:
        return launch.copy(x), creation.zeros((), dtype=default_dtype("int", x._device), device=x._device)
    axis = layout.normalize_axis(axis, x.ndim, "sort")
    order = list(range(x.ndim))
    order[axis], order[-1] = order[-1], order[axis]
    values, places = sorted_rows("sort", x._permuted(order), descending, True, descending)
    assert places is not None
    indices = cast(places._permuted(order), default_dtype("int", x._device))
    return launch.contiguous(values._permuted(order)), launch.contiguous(indices)


@recordable
def topk(x: VkArray, k: int, /, *, axis: int = -1, largest: bool = True) -> tuple[VkArray, VkArray]:
    """The k largest (or smallest) elements along an axis in order, and their places, as `sort` gives them.

    Parameters: x (bool, integers or real floating-point); k (at most the length of the axis); axis; largest.
    Raises ValueError for another k, and as `sort`.
    """
    axis = layout.normalize_axis(axis, max(check_array("topk", x).ndim, 1), "topk")
    k = layout.as_integer(k, "topk", "k")
    length = x._shape[axis] if x.ndim else 1
    if not 0 <= k <= length:
        raise ValueError(f"topk: expected k from 0 to {length}, the length of axis {axis}, got {k}.")
    values, places = sort(x, axis=axis, descending=largest)
    if not x.ndim:
        return (values, places) if k else (values._view((0,), (1,)), places._view((0,), (1,)))
    key = (*(slice(None),) * axis, slice(0, k))
    return launch.contiguous(getitem(values, key)), launch.contiguous(getitem(places, key))


# -- masks ----------------------------------------------------------------------------------------------------------


@recordable
def masked_fill(x: VkArray, mask: VkArray, value: Any, /) -> VkArray:
    """`value` where the mask is true, else x. The mask (bool) broadcasts with x; value is a number or an array of 0 dimensions."""
    return cast(where(mask, value, x), x._dtype)


def masked_scatter(x: VkArray, mask: VkArray, source: VkArray, /) -> VkArray:
    """A copy of x in which the first elements of `source`, in C order, stand where the mask is true, as it broadcasts to x.

    Raises ValueError for a source with fewer elements than the mask has true ones. Waits for the device.
    """
    result = launch.copy(check_array("masked_scatter", x))
    places = coordinates(broadcast_to(mask, x._shape)) if x.ndim else coordinates(reshape(mask, (1,)))
    count = places[0].size
    if source.size < count:
        raise ValueError(f"masked_scatter: expected a source of {count} elements or more, got {source.size}.")
    target = result if x.ndim else result._view((1,), (1,))
    setitem(target, tuple(places), cast(reshape(source, (source.size,))[:count], x._dtype), distinct=True)
    return result
