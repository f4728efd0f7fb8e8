"""Sums, products and the like of segments of a dimension, and their gradients."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from ..dispatch.table import direct

_SCATTERED = {"sum": "sum", "mean": "sum", "max": "amax", "min": "amin", "prod": "prod"}
_INITIAL = {"sum": 0.0, "mean": 0.0, "max": -math.inf, "min": math.inf, "prod": 1.0}


def _bounds(data: Tensor, lengths: Tensor | None, offsets: Tensor | None, axis: int, unsafe: bool) -> Tensor:
    """Where segments begin, and the last one ends. Raises PyTorch's RuntimeErrors; waits for the device unless `unsafe`."""
    if lengths is None and offsets is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    given = lengths if offsets is None else offsets
    assert given is not None
    if given.shape[:-1] != data.shape[:axis] or given.ndim != axis + 1:
        raise RuntimeError(
            f"segment_reduce(): Expected lengths or offsets of shape {list(data.shape[:axis])} and one dimension more, got "
            f"{list(given.shape)}."
        )
    if offsets is not None:
        return offsets.long()
    assert lengths is not None
    ends = lengths.long().cumsum(-1)
    if not unsafe:
        if lengths.numel() and bool((lengths < 0).any()):
            raise RuntimeError("lengths contains negative value!")
        if bool((lengths.sum(-1) != data.shape[axis]).any()):
            raise RuntimeError(
                "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe."
            )
    return torch.cat(
        [torch.zeros_like(ends[..., :1]) if ends.shape[-1] else ends.new_zeros((*ends.shape[:-1], 1)), ends], -1
    )


def _numbers(data: Tensor, bounds: Tensor, axis: int) -> Tensor:
    """The segment that each place of the axis is in, or their number for places in none, in the shape of the data."""
    segments = bounds.shape[-1] - 1
    places = torch.arange(data.shape[axis], device=data.device).expand(*data.shape[:axis], -1).contiguous()
    found = torch.searchsorted(bounds[..., 1:].contiguous(), places, right=True)
    found = torch.where(places >= bounds[..., :1], found, segments)
    return found.reshape(*found.shape, *[1] * (data.ndim - axis - 1)).expand(data.shape)


def _of_axis(values: Tensor, data: Tensor, axis: int) -> Tensor:
    """Numbers of segments (..., S) with a dimension of 1 for each of the data behind the axis."""
    return values.reshape(*values.shape, *[1] * (data.ndim - axis - 1))


def _wide(x: Tensor) -> Tensor:
    return x.float() if x.itemsize < 4 else x


def _gathered(x: Tensor, numbers: Tensor, axis: int) -> Tensor:
    """The number of the segment for each place, 0 for places in none."""
    zero = (
        torch.zeros_like(x.narrow(axis, 0, 1))
        if x.shape[axis]
        else x.new_zeros((*x.shape[:axis], 1, *x.shape[axis + 1 :]))
    )
    return torch.cat([x, zero], axis).gather(axis, numbers)


def _reduced(data: Tensor, numbers: Tensor, segments: int, axis: int, reduce: str, initial: float) -> Tensor:
    shape = (*data.shape[:axis], segments + 1, *data.shape[axis + 1 :])
    made = torch.full(shape, initial, dtype=data.dtype, device=data.device)
    return made.scatter_reduce_(axis, numbers, data, reduce).narrow(axis, 0, segments)


def _segment_reduce(
    data: Tensor, reduce: str, *, lengths: Tensor | None = None, indices: Tensor | None = None, offsets: Tensor | None = None,
    axis: int = 0, unsafe: bool = False, initial: Any = None,
) -> Tensor:  # fmt: skip
    if reduce not in _SCATTERED:
        raise RuntimeError(f"segment_reduce(): expected one of {', '.join(_SCATTERED)}, got {reduce!r}.")
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    if not data.numel() and data.ndim == 0:
        raise RuntimeError("segment_reduce(): expected data of one dimension or more.")
    axis %= data.ndim
    bounds = _bounds(data, lengths, offsets, axis, unsafe)
    start = _INITIAL[reduce] if initial is None else float(initial)
    made = _reduced(_wide(data), _numbers(data, bounds, axis), bounds.shape[-1] - 1, axis, _SCATTERED[reduce], start)
    if reduce == "mean":
        sizes = _of_axis(bounds.diff(dim=-1), data, axis)
        empty = math.nan if initial is None else start
        made = torch.where(sizes > 0, made / sizes, empty)
    return made.to(data.dtype)


def _of_product(grad: Tensor, output: Tensor, x: Tensor, numbers: Tensor, axis: int, initial: float) -> Tensor:
    """Products of all others: by division, and in segments with zeros or NaN from those that are neither."""
    segments = grad.shape[axis]
    odd = (x == 0) | x.isnan()
    rest = _reduced(torch.where(odd, 1, x), numbers, segments, axis, "prod", initial)
    counts = [_reduced(one.to(x.dtype), numbers, segments, axis, "sum", 0.0) for one in (x == 0, x.isnan())]
    zeros, nothings = (_gathered(one, numbers, axis) for one in counts)
    others_zero, others_nothing = zeros - (x == 0).to(x.dtype), nothings - x.isnan().to(x.dtype)
    product = _gathered(rest, numbers, axis)
    product = torch.where(others_zero > 0, 0, product)
    product = torch.where(others_nothing > 0, math.nan, product)
    return torch.where(odd, _gathered(grad, numbers, axis) * product, _gathered(grad * output, numbers, axis) / x)


def _segment_reduce_backward(
    grad: Tensor, output: Tensor, data: Tensor, reduce: str, *, lengths: Tensor | None = None, offsets: Tensor | None = None,
    axis: int = 0, initial: Any = None,
) -> Tensor:  # fmt: skip
    axis %= data.ndim
    bounds = _bounds(data, lengths, offsets, axis, True)
    numbers = _numbers(data, bounds, axis)
    grad, output, x = _wide(grad), _wide(output), _wide(data)
    if reduce in ("max", "min"):  # shared by those that are as large
        largest = _gathered(output, numbers, axis)
        chosen = ((x == largest) | (x.isnan() & largest.isnan())) & (numbers < bounds.shape[-1] - 1)
        counts = _reduced(chosen.to(x.dtype), numbers, grad.shape[axis], axis, "sum", 0.0)
        made = torch.where(chosen, _gathered(grad / counts, numbers, axis), 0)
    elif reduce == "prod":
        made = _of_product(grad, output, x, numbers, axis, 1.0 if initial is None else float(initial))
    else:
        scaled = grad / _of_axis(bounds.diff(dim=-1), data, axis) if reduce == "mean" else grad
        made = _gathered(scaled, numbers, axis)
    return made.to(data.dtype)


direct("segment_reduce", _segment_reduce)
direct("_segment_reduce_backward", _segment_reduce_backward)
