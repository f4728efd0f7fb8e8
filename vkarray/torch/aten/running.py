"""Running maxima and minima with their places, and running logarithms of sums: by doubling the distance that elements have seen."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from ..dispatch import table
from ..dispatch.fallback import Unsupported
from ..dispatch.table import direct

Join = Callable[..., tuple[Tensor, ...]]


def scanned(join: Join, parts: tuple[Tensor, ...], dim: int) -> tuple[Tensor, ...]:
    """The inclusive scan of several tensors of one shape; `join` takes what comes first, then what comes after.

    Method: Hillis and Steele, Communications of the ACM 29, 1986: log2(n) rounds over all elements.
    """
    length = parts[0].shape[dim]
    step = 1
    while step < length:
        earlier = [part.narrow(dim, 0, length - step) for part in parts]
        later = [part.narrow(dim, step, length - step) for part in parts]
        heads = [part.narrow(dim, 0, step) for part in parts]
        parts = tuple(torch.cat(pair, dim) for pair in zip(heads, join(*earlier, *later), strict=True))
        step *= 2
    return parts


def places_along(x: Tensor, dim: int, dtype: torch.dtype = torch.int64) -> Tensor:
    """The places along a dimension, with one element in each of the others."""
    shape = [1] * x.ndim
    shape[dim] = -1
    return torch.arange(x.shape[dim], dtype=dtype, device=x.device).view(shape)


def _extreme(wins: Callable[[Tensor, Tensor], Tensor]) -> Join:
    def join(first: Tensor, place: Tensor, second: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
        taken = wins(second, first)
        if first.is_floating_point():
            taken = (taken | second.isnan()) & ~(first.isnan() & ~second.isnan())
        return torch.where(taken, second, first), torch.where(taken, other, place)

    return join


def _running(join: Join) -> Callable[..., None]:
    def kernel(x: Tensor, values: Tensor, indices: Tensor, dim: int) -> None:
        if not x.ndim:
            values.copy_(x)
            indices.zero_()
            return
        largest, where = scanned(join, (x, places_along(x, dim).expand(x.shape)), dim)
        values.copy_(largest)
        indices.copy_(where)

    kernel.__module__ = __name__
    return kernel


direct("_cummax_helper", _running(_extreme(torch.ge)))
direct("_cummin_helper", _running(_extreme(torch.le)))


def running_largest(x: Tensor, dim: int) -> Tensor:
    """The largest integer so far."""
    return scanned(lambda first, second: (torch.maximum(first, second),), (x,), dim)[0]


def _log_cumulative(x: Tensor, dim: int) -> Tensor:
    if x.is_complex():
        raise Unsupported("complex numbers")
    if not x.ndim:
        return x.clone()
    wide = x if x.dtype in (torch.float32, torch.float64) else x.float()
    return scanned(lambda first, second: (torch.logaddexp(first, second),), (wide.clone(),), dim)[0].to(x.dtype)


direct("_logcumsumexp", _log_cumulative, refuses=True)
direct("_logcumsumexp.out", table.with_out(_log_cumulative), refuses=True)
