"""Pooling of windows that begin at random places (`torch.nn.FractionalMaxPool2d`), in terms of other operators."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ..dispatch.table import direct


def _starts(sample: Tensor, size: int, count: int, length: int) -> Tensor:
    """Where the windows along a dimension begin: in steps of nearly (size - length) / (count - 1), the last at the end."""
    last = torch.full((*sample.shape, 1), size - length, device=sample.device)
    if count == 1:
        return last
    step = (size - length) / (count - 1)
    numbers = torch.arange(count - 1, device=sample.device, dtype=sample.dtype)
    first = (sample * step).long()
    return torch.cat([((numbers + sample[..., None]) * step).long() - first[..., None], last], -1)


def _pool(x: Tensor, kernel: Sequence[int], output: Sequence[int], samples: Tensor) -> tuple[Tensor, Tensor]:
    """The largest element of each window and its place in the plane; `samples` holds a number for each plane and dimension."""
    rank = len(kernel)
    if x.dim() == rank + 1:
        values, indices = _pool(x[None], kernel, output, samples)
        return values[0], indices[0]
    size = x.shape[2:]
    samples = samples.flip(-1) if rank == 2 else samples  # of two dimensions PyTorch takes the width's first
    index = torch.zeros(x.shape[:2] + (1,) * (2 * rank), dtype=torch.long, device=x.device)
    for axis, (n, count, length) in enumerate(zip(size, output, kernel, strict=True)):
        starts = _starts(samples[..., axis], n, count, length)
        shape = [1] * (2 * rank)
        shape[axis], shape[rank + axis] = count, length
        places = starts[..., None] + torch.arange(length, device=x.device)
        index = index * n + places.view(*x.shape[:2], *shape)
    index = index.flatten(2 + rank)
    values, which = torch.gather(x.flatten(2), 2, index.flatten(2)).view(index.shape).max(-1)
    return values, torch.gather(index, -1, which[..., None])[..., 0]


def _pool_backward(
    gradient: Tensor, x: Tensor, kernel: Sequence[int], output: Sequence[int], indices: Tensor
) -> Tensor:
    start = x.dim() - len(kernel)
    planes = torch.zeros_like(x).flatten(start)
    return planes.scatter_add(start, indices.flatten(start), gradient.flatten(start)).view(x.shape)


for _rank in (2, 3):
    direct(f"fractional_max_pool{_rank}d", _pool, "decomposed")
    direct(f"fractional_max_pool{_rank}d_backward", _pool_backward, "decomposed")
