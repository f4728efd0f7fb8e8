"""Operators that take indices."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import vkarray as vx

from ....nn import indexing as nn
from ..table import row


def _by_truths(call: Any, x: Any, indices: Sequence[Any], *_: Any, **options: Any) -> str | None:
    import torch

    if any(one is not None and one.dtype in (torch.bool, torch.uint8) for one in indices):
        return "it takes elements where a mask is true, and how many these are depends on values"
    return None


def _key(indices: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(slice(None) if one is None else one for one in indices)


@row("index.Tensor", "_unsafe_index.Tensor", limit=_by_truths)
def _index(call: Any, x: Any, indices: Sequence[Any]) -> Any:
    return x[_key(indices)]


def _assigns_arrays(
    call: Any, x: Any, indices: Sequence[Any], values: Any, accumulate: bool = False, *_: Any
) -> str | None:
    reason = _by_truths(call, x, indices)
    one = all(isinstance(length, int) and length == 1 for length in values.shape)  # others may depend on values
    return reason if reason and (accumulate or not one) else None


@row("index_put", "_unsafe_index_put", limit=_assigns_arrays)
def _assign(call: Any, x: Any, indices: Sequence[Any], values: Any, accumulate: bool = False) -> Any:
    if _by_truths(call, x, call.fakes[1]):
        (mask,) = (one for one in indices if one is not None)
        extra = x.ndim - mask.ndim
        return vx.where(vx.reshape(mask, (*mask.shape, *(1,) * extra)), vx.reshape(values, ()), x)
    found = vx.copy(x)
    if accumulate:
        vx.add.at(found, _key(indices), values)
    else:
        found[_key(indices)] = values
    return found


@row("masked_scatter")
def _fill_in_order(call: Any, x: Any, mask: Any, source: Any) -> Any:
    """The elements of the source, one after the other, where the mask is true."""
    x, mask = vx.broadcast_arrays(x, mask)
    flat = vx.reshape(mask, (-1,))
    places = vx.maximum(vx.cumulative_sum(vx.astype(flat, vx.int64)) - 1, 0)
    taken = vx.take(vx.reshape(source, (-1,)), places)
    return vx.where(mask, vx.reshape(taken, tuple(x.shape)), x)


@row("diagonal_scatter")
def _with_diagonal(call: Any, x: Any, part: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    found = vx.copy(vx.moveaxis(x, (dim1, dim2), (-2, -1)))
    places = vx.arange(part.shape[-1], dtype=vx.int64)
    found[..., places - min(offset, 0), places + max(offset, 0)] = part
    return vx.moveaxis(found, (-2, -1), (dim1, dim2))


@row("gather")
def _gather(call: Any, x: Any, dim: int, index: Any, sparse_grad: bool = False) -> Any:
    if x.ndim == 0:
        return vx.reshape(vx.broadcast_to(x, tuple(index.shape)), tuple(index.shape))
    return nn.gather(x, dim, index)


@row("take_along_dim")
def _take_along(call: Any, x: Any, indices: Any, dim: int | None = None) -> Any:
    if dim is None:
        x, indices, dim = vx.reshape(x, (-1,)), vx.reshape(indices, (-1,)), 0
    return vx.take_along_axis(x, indices, axis=dim)


@row("scatter.src", "scatter.value")
def _scatter(call: Any, x: Any, dim: int, index: Any, source: Any) -> Any:
    return nn.scatter(x, dim, index, source)


_REDUCES = {
    "sum": "sum",
    "prod": "prod",
    "mean": "mean",
    "amax": "amax",
    "amin": "amin",
    "add": "sum",
    "multiply": "prod",
}


@row("scatter_add")
def _scatter_add(call: Any, x: Any, dim: int, index: Any, source: Any) -> Any:
    return nn.scatter_reduce(x, dim, index, source, "sum")


@row("scatter_reduce.two", "scatter.reduce", "scatter.value_reduce")
def _scatter_reduce(
    call: Any, x: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool = True
) -> Any:
    source = source if call.is_array(source) else vx.full(index.shape, source, dtype=call.dtype)
    return nn.scatter_reduce(x, dim, index, source, _REDUCES[reduce], include_self=include_self)


@row("index_select")
def _select(call: Any, x: Any, dim: int, index: Any) -> Any:
    if x.ndim == 0:
        return x
    return vx.take(x, index if index.ndim else vx.reshape(index, (1,)), axis=dim)


@row("take")
def _take(call: Any, x: Any, index: Any) -> Any:
    return vx.take(vx.reshape(x, (-1,)), index)


@row("put")
def _put(call: Any, x: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """With elements of another value, in places counted in C order."""
    flat, places, values = (vx.reshape(one, (-1,)) for one in (vx.copy(x), index, source))
    if accumulate:
        vx.add.at(flat, (places,), values)
    else:
        flat[places] = values
    return vx.reshape(flat, x.shape)


def _also_of_one(function: Callable[..., Any]) -> Callable[..., Any]:
    """A row that takes tensors and indices without dimensions for those of one element, as PyTorch does."""

    @functools.wraps(function)
    def taken(call: Any, x: Any, dim: int, index: Any, source: Any, *rest: Any, **options: Any) -> Any:
        index = index if index.ndim else vx.reshape(index, (1,))
        if x.ndim:
            return function(call, x, dim, index, source, *rest, **options)
        source = vx.reshape(source, (1,)) if call.is_array(source) else source
        return vx.reshape(function(call, vx.reshape(x, (1,)), dim, index, source, *rest, **options), ())

    return taken


@row("index_add")
@_also_of_one
def _index_add(call: Any, x: Any, dim: int, index: Any, source: Any, alpha: Any = 1) -> Any:
    found = vx.copy(x)
    vx.add.at(found, (*(slice(None),) * (dim % x.ndim), index), source if alpha == 1 else source * alpha)
    return found


@row("index_reduce")
def _index_reduce(call: Any, x: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool = True) -> Any:
    return nn.index_reduce(x, dim, index, source, reduce, include_self=include_self)


@row("index_copy", "index_fill.int_Scalar", "index_fill.int_Tensor")
@_also_of_one
def _index_copy(call: Any, x: Any, dim: int, index: Any, source: Any) -> Any:
    found = vx.copy(x)
    found[(*(slice(None),) * (dim % x.ndim), index)] = source
    return found


@row("embedding")
def _embed(call: Any, weight: Any, indices: Any, *_: Any, **options: Any) -> Any:
    return nn.embedding(weight, indices)


@row("bucketize.Tensor", "bucketize.Scalar", "searchsorted.Tensor", "searchsorted.Scalar")
def _search(
    call: Any, a: Any, b: Any, out_int32: bool = False, right: bool = False, side: str | None = None, sorter: Any = None
) -> Any:
    """Where values would stand among edges, of which each row of values may have its own."""
    edges, values = (b, a) if call.name == "bucketize" else (a, b)
    values = values if call.is_array(values) else vx.asarray(values)
    edges = edges if sorter is None else vx.take_along_axis(edges, sorter, axis=-1)
    right = right or side == "right"
    if edges.ndim == 1:
        found = vx.searchsorted(edges, vx.reshape(values, (-1,)), side="right" if right else "left")
        return vx.reshape(found, tuple(values.shape))
    own, wanted = vx.expand_dims(edges, axis=-2), vx.expand_dims(values, axis=-1)
    before = vx.logical_not(own > wanted if right else own >= wanted)
    return vx.sum(vx.astype(before, vx.int64), axis=-1)
