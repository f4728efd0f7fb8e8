"""Index arrays, gather and scatter, embeddings, order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from ...core import dtypes
from ...core.array import VkArray
from ...kernels import compact, launch
from ...kernels.conversion import cast
from ...kernels.gather import IndexRule
from ...nn import indexing as nn
from ...ops import creation, indexing, searching, utility
from ...ops import set as set_functions
from ...ops.elementwise import floor_divide, isnan, logical_not, maximum
from ...ops.elementwise import multiply as times
from ...ops.manipulation import broadcast_arrays, expand_dims, flip, reshape, squeeze, stack
from ...ops.searching import count_nonzero
from ...ops.statistical import cumulative_sum
from ..dispatch import limits, results, table
from ..dispatch.fallback import Unsupported
from ..dispatch.plans import planned
from ..dispatch.pointwise import number
from ..dispatch.table import direct, native
from ..tensors.storage import array_of, wrap
from ..tensors.transfer import assign
from .counting import places_in_rows

Indices = Sequence[Tensor | None]

# Where PyTorch counts negative indices from the end, and what it raises for those out of range.
_INDEX, _INDEX_PUT, _INDEX_FILL, _TAKE, _PUT = (
    limits.indices(name, IndexError, wraps=True) for name in ("index", "index_put", "index_fill", "take", "put")
)
_INDEX_SELECT, _INDEX_COPY, _INDEX_REDUCE, _EMBEDDING = (
    limits.indices(name, IndexError) for name in ("index_select", "index_copy", "index_reduce", "embedding")
)
_GATHER, _SCATTER, _SCATTER_ADD, _SCATTER_REDUCE, _INDEX_ADD = (
    limits.indices(name) for name in ("gather", "scatter", "scatter_add", "scatter_reduce", "index_add")
)
_MASKED_SCATTER = IndexRule(
    "masked_scatter", False, RuntimeError,
    "source of size {length} (number of elements of source < number of ones in mask)",
)  # fmt: skip

# -- x[indices] -------------------------------------------------------------------------------------------------------


def _without_masks(x: Tensor, indices: Indices) -> list[Tensor | None]:
    """The indices with the places of true elements for masks, which the host waits for. Raises PyTorch's IndexError."""
    made: list[Tensor | None] = []
    for position, index in enumerate(indices):
        if index is None or index.dtype not in (torch.bool, torch.uint8):
            made.append(index if index is None or not index.is_cpu else index.to(x.device))
            continue
        first = len(made)
        for axis, length in enumerate(index.shape):
            if first + axis >= x.ndim or length != x.shape[first + axis]:
                raise IndexError(
                    f"The shape of the mask {list(index.shape)} at index {axis} does not match the shape of the indexed "
                    f"tensor {list(x.shape)} at index {first + axis}"
                )
        mask = array_of(index.to(x.device))
        if not index.ndim:
            raise Unsupported(f"a mask without dimensions at position {position}")
        made += [wrap(each) for each in compact.coordinates(mask if index.dtype is torch.bool else mask != 0)]
    return made


def _key(indices: Sequence[VkArray | None]) -> tuple[Any, ...]:
    """What vkarray takes between brackets. An index of no dimension stays an array: its value is not read."""
    return tuple(slice(None) if one is None else one if one.ndim else one._view((1,), (1,)) for one in indices)


def _indexed(x: VkArray, indices: Sequence[VkArray | None]) -> VkArray:
    arrays = [one for one in indices if one is not None]
    if not arrays:
        return launch.copy(x)
    lone = all(not one.ndim for one in arrays)
    result = indexing.getitem(x, _key(indices), rule=_INDEX)
    if lone:
        places = [axis for axis, one in enumerate(indices) if one is not None]
        axis = places[0] if places == list(range(places[0], places[-1] + 1)) else 0
        result = reshape(result, (*result._shape[:axis], *result._shape[axis + 1 :]))
    return result


def _arrays(indices: Sequence[VkArray | None]) -> list[VkArray | None]:
    return [one if one is None or one.ndim else one._view((1,), (1,)) for one in indices]


_READ = table.Native(torch.ops.aten.index.Tensor, _indexed)
_read = table.returning_new(_READ)


def _index(x: Tensor, indices: Indices) -> Tensor:
    made: Tensor = _read(x, _without_masks(x, indices))
    return made


def _index_out(x: Tensor, indices: Indices, *, out: Tensor) -> Tensor:
    made = _index(x, indices)
    table.check_target(table.resized(out, made.shape), [x, *indices])
    return out.copy_(made)


def _check_values(target: Tensor, indices: Indices, values: Tensor) -> None:
    """Raise PyTorch's errors for indices that do not fit, and values that do not broadcast to what they select."""
    (selected,) = _READ.results((target, indices), {})
    shape = target.shape if selected is None else selected.shape
    own = values.shape[max(values.ndim - len(shape), 0) :]
    extra = values.shape[: values.ndim - len(own)]
    fits = all(length in (1, wanted) for length, wanted in zip(reversed(own), reversed(shape), strict=False))
    if not fits or any(length != 1 for length in extra):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to indexing result of shape "
            f"{list(shape)}"
        )


def _index_put(
    target: Tensor, indices: Indices, values: Tensor, accumulate: bool = False, unsafe: bool = False
) -> Tensor:
    return _put(_INDEX_PUT, target, indices, values, accumulate)


def _put(rule: IndexRule, target: Tensor, indices: Indices, values: Tensor, accumulate: bool) -> Tensor:
    table.check_target(target)
    if values.dtype is not target.dtype:
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got "
            f"{table.SCALAR_NAMES.get(target.dtype)} for the destination and {table.SCALAR_NAMES.get(values.dtype)} for the "
            f"source."
        )
    lone = [one for one in indices if one is not None]
    if values.numel() == 1 and len(lone) == 1 and lone[0].dtype is torch.bool and lone[0].ndim and not accumulate:
        # One value where a mask is true: nobody waits for the places.
        first = next(place for place, one in enumerate(indices) if one is not None)
        mask = lone[0].to(target.device)
        shape = (*(1,) * first, *mask.shape, *(1,) * (target.ndim - first - mask.ndim))
        if mask.shape == target.shape[first : first + mask.ndim]:
            return target.masked_fill_(mask.reshape(shape), values.reshape(()))
    made = _without_masks(target, indices)
    _check_values(target, made, values)
    array, source = array_of(target), table.argument(values, (target,))
    keys = _arrays([table.argument(one, (target,)) for one in made])
    if accumulate:
        assign(array, nn.index_put(array, keys, source, accumulate=True, rule=rule))
    elif any(one is not None for one in keys):
        indexing.setitem(array, _key(keys), source, rule=rule)
    else:
        assign(array, source)
    return target


direct("index.Tensor", planned(_index))
direct("index.Tensor_out", _index_out)
direct("_index_put_impl_", planned(_index_put))

# -- along a dimension ------------------------------------------------------------------------------------------------


def _as_vector(x: VkArray) -> VkArray:
    return x if x.ndim else x._view((1,), (1,))


def _gather(x: VkArray, dim: int, index: VkArray, *, sparse_grad: bool = False) -> VkArray:
    return nn.gather(x, dim, index, rule=_GATHER)


def _number(value: Any, x: VkArray) -> Any:
    """A number of the host as one of an array's type. Raises RuntimeError where it does not fit."""
    limits.check_number(value, x._dtype)
    return number(value, x._dtype)


def _scatter(x: VkArray, dim: int, index: VkArray, source: Any) -> VkArray:
    return nn.scatter(x, dim, index, source if type(source) is VkArray else _number(source, x), rule=_SCATTER)


_REDUCES = {"add": "sum", "multiply": "prod"}


def _scatter_reduced(x: VkArray, dim: int, index: VkArray, source: Any, *, reduce: str) -> VkArray:
    if type(source) is not VkArray:
        constant = launch.constant(_number(source, x), x._dtype, x._device)
        source = constant._view(index._shape, (0,) * index.ndim)
    return nn.scatter_reduce(x, dim, index, source, _REDUCES.get(reduce, reduce), rule=_SCATTER)


def _scatter_add(x: VkArray, dim: int, index: VkArray, source: VkArray) -> VkArray:
    return nn.scatter_reduce(x, dim, index, source, "sum", rule=_SCATTER_ADD)


def _scatter_reduce(
    x: VkArray, dim: int, index: VkArray, source: VkArray, reduce: str, *, include_self: bool = True
) -> VkArray:
    return nn.scatter_reduce(x, dim, index, source, reduce, include_self=include_self, rule=_SCATTER_REDUCE)


def _select(x: VkArray, dim: int, index: VkArray) -> VkArray:
    if not x.ndim:
        return launch.copy(x)
    return indexing.take_by(_INDEX_SELECT, x, _as_vector(index), dim)


def _sliced(x: VkArray, source: VkArray) -> VkArray:
    """A source without dimensions for an x that has one."""
    return source._view((1,), (1,)) if x.ndim == 1 and not source.ndim else source


def _add_slices(x: VkArray, dim: int, index: VkArray, source: VkArray, *, alpha: Any = 1) -> VkArray:
    source = cast(source, x._dtype)
    if x._dtype is dtypes.bool_:
        source = source if alpha else creation.zeros_like(source)
    elif alpha != 1:
        source = times(source, launch.constant(number(alpha, x._dtype), x._dtype, x._device))
    return nn.index_reduce(x, dim, _as_vector(index), _sliced(x, source), "sum", rule=_INDEX_ADD)


def _reduce_slices(
    x: VkArray, dim: int, index: VkArray, source: VkArray, reduce: str, *, include_self: bool = True
) -> VkArray:
    source = _sliced(x, source)
    return nn.index_reduce(x, dim, _as_vector(index), source, reduce, include_self=include_self, rule=_INDEX_REDUCE)


def _put_slices(rule: IndexRule) -> Callable[..., VkArray]:
    """The function that writes slices, or one number, where indices say."""

    def put(x: VkArray, dim: int, index: VkArray, source: Any) -> VkArray:
        result = launch.copy(x)
        view = _as_vector(result)
        key = (*(slice(None),) * (dim % view.ndim), _as_vector(index))
        if type(source) is not VkArray:
            source = _number(source, x)
        elif source.ndim or x.ndim == 1:
            source = _sliced(view, source)
        source = cast(source, x._dtype) if type(source) is VkArray else source
        indexing.setitem(view, key, source, rule=rule)
        return result

    return put


native("gather", _gather)
native("scatter.src scatter.value", _scatter)
native("scatter.reduce scatter.value_reduce", _scatter_reduced)
native("scatter_add", _scatter_add)
native("scatter_reduce.two", _scatter_reduce)
native("index_select", _select)
native("index_add", _add_slices)
native("index_reduce", _reduce_slices)
native("index_copy", _put_slices(_INDEX_COPY))
native("index_fill.int_Scalar index_fill.int_Tensor", _put_slices(_INDEX_FILL))


def _take(x: VkArray, index: VkArray) -> VkArray:
    return indexing.take_by(_TAKE, reshape(x, (x.size,)), index)


def _put_flat(target: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    if index.numel() != source.numel():
        raise RuntimeError(
            f"put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source.numel()}, index.numel() = {index.numel()}"
        )
    table.check_target(target, [index, source])
    flat = target.reshape(-1)
    _put(_PUT, flat, [index.reshape(-1)], source.reshape(-1), accumulate)
    if not target.is_contiguous():
        target.copy_(flat.reshape(target.shape))
    return target


native("take", _take)
direct("put_", _put_flat)

# -- embeddings -------------------------------------------------------------------------------------------------------


def _embedding(
    weight: VkArray, indices: VkArray, padding: int = -1, by_frequency: bool = False, sparse: bool = False
) -> VkArray:
    return nn.embedding(weight, indices, rule=_EMBEDDING)


def _embedding_backward(
    gradient: VkArray, indices: VkArray, rows: int, padding: int, by_frequency: bool
) -> VkArray:  # fmt: skip
    return nn.embedding_backward(gradient, indices, rows, padding=padding, by_frequency=by_frequency)


native("embedding", _embedding)
native("embedding_dense_backward", _embedding_backward)

# -- masks and places -------------------------------------------------------------------------------------------------


def _masked_scatter(x: VkArray, mask: VkArray, source: VkArray) -> VkArray:
    # Which of the source's elements stands where the mask is true: nobody waits for their number.
    x, mask = broadcast_arrays(x, mask)
    if not x.size:
        return launch.copy(x)
    if mask._dtype is not dtypes.bool_:
        raise Unsupported("a mask of other numbers than bool")
    if not source.size:
        if bool(utility.any(mask)):
            raise RuntimeError("Number of elements of source < number of ones in mask")
        return launch.copy(x)
    spread = reshape(mask, (x.size,))
    places = cumulative_sum(cast(spread, dtypes.int32), dtype=dtypes.int32) - 1
    kept = searching.where(spread, places, 0)
    found = indexing.take_by(_MASKED_SCATTER, reshape(source, (source.size,)), kept)
    return searching.where(mask, reshape(found, x._shape), x)


def _masked_select(x: Tensor, mask: Tensor) -> Tensor:
    if mask.dtype is not torch.bool:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    x, mask = torch.broadcast_tensors(x, mask)
    if not x.ndim:
        x, mask = x.reshape(1), mask.reshape(1)
    return wrap(compact.compress(array_of(x), array_of(mask)))


def _masked_select_out(x: Tensor, mask: Tensor, *, out: Tensor) -> Tensor:
    made = _masked_select(x, mask)
    table.check_castable(made.dtype, out.dtype)
    return table.resized(out, made.shape).copy_(made)


def _nonzero(x: Tensor) -> Tensor:
    array = array_of(x)
    if not x.ndim:
        return torch.empty((int(bool(array)), 0), dtype=torch.int64, device=x.device)
    return wrap(cast(stack(list(compact.nonzero(array)), axis=1), dtypes.int64))


native("masked_scatter", _masked_scatter)
direct("masked_select", _masked_select)
direct("masked_select.out", _masked_select_out)


def _nonzero_of_size(x: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    found = _nonzero(x)[:size]
    missing = found.new_full((size - found.shape[0], found.shape[1]), fill_value)
    return torch.cat([found, missing])


direct("nonzero", _nonzero)
direct("nonzero_static", _nonzero_of_size)
direct("nonzero.out", table.with_out(_nonzero))

# -- order ------------------------------------------------------------------------------------------------------------


def _sort(
    x: VkArray, *, stable: bool | None = None, dim: int = -1, descending: bool = False
) -> tuple[VkArray, VkArray]:  # fmt: skip
    torch._prims_common.canonicalize_dim(x.ndim, dim)  # raises PyTorch's error
    return nn.sort(x, axis=dim, descending=descending)


def _topk(
    x: VkArray, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[VkArray, VkArray]:  # fmt: skip
    return nn.topk(x, k, axis=dim, largest=largest)


def _nth(x: VkArray, k: int, dim: int, keepdim: bool) -> tuple[VkArray, VkArray]:
    """The kth smallest elements along a dimension, from 0, and their places."""
    if not x.ndim:
        return nn.sort(x)
    axis = dim % x.ndim
    key = (*(slice(None),) * axis, slice(k, k + 1) if keepdim else k)
    values, places = (indexing.getitem(one, key) for one in nn.sort(x, axis=axis))
    return launch.copy(values), launch.copy(places)


def _kth(x: VkArray, k: int, dim: int = -1, keepdim: bool = False) -> tuple[VkArray, VkArray]:
    return _nth(x, k - 1, dim, keepdim)


def _median_along(x: VkArray, dim: int, keepdim: bool = False) -> tuple[VkArray, VkArray]:
    """The lower of the two in the middle; the first NaN where there is one."""
    length = x._shape[dim % x.ndim] if x.ndim else 1
    if not length:
        raise Unsupported("no elements to find a median of")
    values, places = _nth(x, (length - 1) // 2, dim, keepdim)
    if x.ndim and x._dtype.category == "real floating":
        unknown = isnan(x)
        axis = dim % x.ndim
        first = cast(searching.argmax(cast(unknown, dtypes.uint8), axis=axis, keepdims=keepdim), places._dtype)
        found = indexing.take_along_axis(x, first if keepdim else expand_dims(first, axis=axis), axis=axis)
        found = found if keepdim else reshape(found, values._shape)
        values, places = searching.where(isnan(found), found, values), searching.where(isnan(found), first, places)
    return values, places


def _median_of_numbers(x: VkArray, dim: int, keepdim: bool = False) -> tuple[VkArray, VkArray]:
    """As `_median_along`, without counting NaN."""
    if x._dtype.category != "real floating" or not x.ndim:
        return _median_along(x, dim, keepdim)
    axis = dim % x.ndim
    counts = count_nonzero(logical_not(isnan(x)), axis=axis, keepdims=True)
    middle = floor_divide(maximum(counts - 1, 0), 2)
    found = [indexing.take_along_axis(one, middle, axis=axis) for one in nn.sort(x, axis=axis)]
    if keepdim:
        return found[0], found[1]
    return squeeze(found[0], axis=axis), squeeze(found[1], axis=axis)


def _median(x: VkArray) -> VkArray:
    flat = reshape(x, (x.size,))
    return _median_along(flat, 0)[0]


native("sort.stable", _sort)
native("topk", _topk)
native("kthvalue", _kth)
native("median.dim", _median_along)
native("median.default", _median)
native("nanmedian.dim", _median_of_numbers)
native("nanmedian.default", lambda x: _median_of_numbers(reshape(x, (x.size,)), 0)[0])


def _unique(
    x: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Tensor, ...]:  # fmt: skip
    made = set_functions.unique_all(array_of(x))
    nothing = torch.empty(0, dtype=torch.int64, device=x.device)
    inverse = wrap(cast(made.inverse_indices, dtypes.int64)) if return_inverse else nothing
    return wrap(made.values), inverse, wrap(cast(made.counts, dtypes.int64)) if return_counts else nothing


direct("_unique2", _unique)
direct("_unique", lambda x, sorted=True, return_inverse=False: _unique(x, sorted, return_inverse)[:2])


def _search(
    edges: Tensor, values: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """PyTorch's checks are those of its meta device; a number may be of another type than the sequence."""
    results.inferred(
        torch.ops.aten.searchsorted.Tensor, (edges, _as_tensor(values, edges)), {"sorter": sorter, "right": right}
    )
    values = _as_tensor(values, edges)
    if side == "left" and right:
        raise RuntimeError(
            "searchsorted: side and right can't be set to opposites, got side of left while right was True"
        )
    right = right if side is None else side == "right"
    if sorter is not None:
        text = "searchsorted: sorter index {value} is out of range for a sequence of {length} elements."
        limits.check_within(text, sorter, 0, edges.shape[-1] - 1, edges.shape[-1])
        edges = edges.gather(-1, sorter)
    if edges.ndim == 1:
        keys, wanted = array_of(edges), _as_vector(array_of(values))
        found = searching.searchsorted(keys, wanted, side="right" if right else "left")
        places = wrap(reshape(found, tuple(values.shape)))
    else:
        places = places_in_rows(edges, values, right)
    return places.to(torch.int32 if out_int32 else torch.int64)


def _as_tensor(values: Any, like: Tensor) -> Tensor:
    return values if isinstance(values, Tensor) else torch.full((), values, device=like.device)


def _bucketize(values: Any, edges: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    if edges.ndim != 1:
        raise RuntimeError(f"bucketize(): boundaries tensor must be 1 dimension, but got dim({edges.ndim})")
    return _search(edges, values, out_int32=out_int32, right=right)


for _kind in ("Tensor", "Scalar"):
    direct(f"searchsorted.{_kind}", _search)
    direct(f"searchsorted.{_kind}_out", table.with_out(_search))
    direct(f"bucketize.{_kind}", _bucketize)
direct("bucketize.Tensor_out", table.with_out(_bucketize))
native("flip", lambda x, dims: flip(x, axis=tuple(dims)) if dims and x.ndim else launch.copy(x))
