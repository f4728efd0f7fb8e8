"""Elements by their places: gathered, scattered, sorted, selected."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import vkarray as vx

from ...nn import indexing as nn
from ..interpreter import Call
from ..table import axis_of, operator

_COUNT = "how many results there are depends on the values"
_REDUCES = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}


def _from_start(call: Call, indices: Any, length: int) -> Any:
    """Indices with those from the end counted from the start."""
    return call.xp.where(indices < 0, indices + length, indices)


@operator("Gather", numpy=True)
def _gather(call: Call, x: Any, indices: Any, *, axis: int = 0) -> Any:
    return call.xp.take(x, indices, axis=axis)


@operator("GatherElements", since=11, numpy=True)
def _gather_elements(call: Call, x: Any, indices: Any, *, axis: int = 0) -> Any:
    axis = axis_of(axis, x.ndim)
    if call.xp is np:
        grid = list(np.indices(indices.shape))
        grid[axis] = indices
        return x[tuple(grid)]
    return nn.gather(x, axis, _from_start(call, indices, x.shape[axis]))


@operator("GatherND", since=11, numpy=True)
def _gather_nd(call: Call, x: Any, indices: Any, *, batch_dims: int = 0) -> Any:
    depth = indices.shape[-1] if indices.ndim else 0
    if not (0 <= batch_dims < min(x.ndim, indices.ndim) and 1 <= depth <= x.ndim - batch_dims):
        raise ValueError(
            f"its indices of shape {tuple(indices.shape)}, after {batch_dims} dimensions of batches, do not fit {x.ndim} dimensions"
        )
    if indices.ndim == 1:  # a number of each dimension would be read from the device
        return _gather_nd(call, x, indices[None])[0]
    key = [indices[..., place] for place in range(depth)]
    if batch_dims:
        shape = indices.shape[:-1]
        for axis in range(batch_dims)[::-1]:
            own = [1] * len(shape)
            own[axis] = shape[axis]
            key.insert(0, call.array(np.arange(shape[axis]).reshape(own), "int64"))
        key = [call.xp.broadcast_to(one, shape) for one in key]
    return x[tuple(key)]


@operator("Scatter", "ScatterElements", numpy=True)
def _scatter_elements(call: Call, x: Any, indices: Any, updates: Any, *, axis: int = 0, reduction: str = "none") -> Any:
    axis = axis_of(axis, x.ndim)
    if indices.shape != updates.shape or indices.ndim != x.ndim:
        raise ValueError(
            f"it has indices of shape {tuple(indices.shape)} and updates of shape {tuple(updates.shape)}, expected the same, of "
            f"{x.ndim} dimensions"
        )
    if call.xp is np:
        grid = list(np.indices(indices.shape))
        grid[axis] = _from_start(call, indices, x.shape[axis])
        return _written_by_host(x, tuple(grid), updates, reduction)
    indices = _from_start(call, indices, x.shape[axis])
    if reduction == "none":
        return nn.scatter(x, axis, indices, updates)
    return nn.scatter_reduce(x, axis, indices, updates, _REDUCES[reduction])


def _written_by_host(x: Any, key: Any, updates: Any, reduction: str) -> Any:
    found = x.copy()
    if reduction == "none":
        found[key] = updates
    else:
        names = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
        names[reduction].at(found, key, updates)
    return found


@operator("ScatterND", since=11, numpy=True)
def _scatter_nd(call: Call, x: Any, indices: Any, updates: Any, *, reduction: str = "none") -> Any:
    depth = indices.shape[-1] if indices.ndim else 0
    wanted = (*indices.shape[:-1], *x.shape[depth:])
    if not 1 <= depth <= x.ndim or tuple(updates.shape) != wanted:
        raise ValueError(
            f"it has indices of shape {tuple(indices.shape)} and updates of shape {tuple(updates.shape)}, expected updates of "
            f"shape {wanted} for x of shape {tuple(x.shape)}"
        )
    if indices.ndim == 1:  # a number of each dimension would be read from the device
        return _scatter_nd(call, x, indices[None], updates[None], reduction=reduction)
    if call.xp is np:
        return _written_by_host(x, tuple(np.moveaxis(indices, -1, 0)), updates, reduction)
    if reduction == "none":
        found = vx.copy(x)
        found[tuple(indices[..., place] for place in range(depth))] = updates
        return found
    flat: Any = 0
    for place, length in enumerate(x.shape[:depth]):
        flat = flat * length + _from_start(call, indices[..., place], length)
    columns = math.prod(x.shape[depth:])
    rows = vx.reshape(x, (-1, columns))
    given = vx.reshape(updates, (-1, columns))
    return vx.reshape(nn.index_reduce(rows, 0, vx.reshape(flat, (-1,)), given, _REDUCES[reduction]), x.shape)


@operator("TensorScatter", since=24)
def _write_into_cache(
    call: Call, cache: Any, update: Any, starts: Any = None, *, axis: int = -2, mode: str = "linear"
) -> Any:
    """`update` in place of so many elements along an axis, for each element of the batch from its own place on."""
    axis = axis_of(axis, cache.ndim)
    length, count = cache.shape[axis], update.shape[axis]
    first = call.array(np.zeros(cache.shape[0]), "int64") if starts is None else starts
    places = vx.reshape(first, (-1, 1)) + call.array(range(count), first.dtype)
    places = vx.remainder(places, length) if mode == "circular" else places
    shape = [1] * cache.ndim
    shape[0], shape[axis] = cache.shape[0], count
    return nn.scatter(cache, axis, vx.broadcast_to(vx.reshape(places, tuple(shape)), update.shape), update)


@operator("OneHot", since=9, host=(1,))
def _one_hot(call: Call, indices: Any, depth: Any, values: Any, *, axis: int = -1) -> Any:
    count = int(depth.reshape(-1)[0])
    indices = vx.astype(indices, call.int64)
    axis = axis_of(axis, indices.ndim + 1)
    shape = [1] * (indices.ndim + 1)
    shape[axis] = count
    places = vx.reshape(call.array(range(count), "int64"), tuple(shape))
    chosen = vx.expand_dims(_from_start(call, indices, count), axis=axis) == places
    return vx.where(chosen, values[1], values[0])


@operator("TopK")
def _top_by_attribute(call: Call, x: Any, *, k: int, axis: int = -1, largest: int = 1, sorted: int = 1) -> Any:
    values, places = nn.topk(x, k, axis=axis, largest=bool(largest))
    return values, vx.astype(places, call.int64)


@operator("TopK", since=10, host=(1,))
def _top(call: Call, x: Any, k: Any, *, axis: int = -1, largest: int = 1, sorted: int = 1) -> Any:
    return _top_by_attribute(call, x, k=int(k.reshape(())), axis=axis, largest=largest)


@operator("NonZero", numpy=True, reads=_COUNT)
def _nonzero(call: Call, x: Any) -> Any:
    places = call.xp.stack(call.xp.nonzero(x if x.ndim else x[None]))
    return call.cast(places[: x.ndim], call.int64)


@operator("Compress", since=9, numpy=True, reads=_COUNT)
def _compress(call: Call, x: Any, condition: Any, *, axis: int | None = None) -> Any:
    if axis is None:
        x, axis = call.xp.reshape(x, (-1,)), 0
    places = call.xp.nonzero(condition)[0]
    return call.xp.take(x, places, axis=axis)


@operator("Unique", since=11, numpy=True, reads=_COUNT)
def _unique(call: Call, x: Any, *, axis: int | None = None, sorted: int = 1) -> Any:
    values, first, inverse, counts = call.xp.unique(
        x, return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    if not sorted:
        order = call.xp.argsort(first)
        rank = call.xp.argsort(order)
        values = call.xp.take(values, order, axis=axis or 0)
        first, counts, inverse = first[order], counts[order], rank[inverse]
    wide = call.int64
    return values, *(call.cast(call.xp.reshape(one, (-1,)), wide) for one in (first, inverse, counts))


@operator("ReverseSequence", since=10)
def _reverse(call: Call, x: Any, lengths: Any, *, batch_axis: int = 1, time_axis: int = 0) -> Any:
    if sorted((batch_axis, time_axis)) != [0, 1]:
        raise ValueError(
            f"its axes of batches and of time are {batch_axis} and {time_axis}, expected 0 and 1, or 1 and 0"
        )
    if lengths.shape != (x.shape[batch_axis],):
        raise ValueError(f"it has lengths of shape {tuple(lengths.shape)}, expected {(x.shape[batch_axis],)}")
    steps = x.shape[time_axis]
    places = call.array(range(steps), "int64")
    lengths = vx.reshape(vx.astype(lengths, call.int64), (-1, 1))
    taken = vx.where(places < lengths, lengths - 1 - places, places)
    shape = [1] * x.ndim
    shape[batch_axis], shape[time_axis] = x.shape[batch_axis], steps
    taken = taken if batch_axis < time_axis else vx.permute_dims(taken, (1, 0))
    return nn.gather(x, time_axis, vx.broadcast_to(vx.reshape(taken, tuple(shape)), x.shape))
