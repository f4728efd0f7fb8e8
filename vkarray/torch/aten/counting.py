"""Occurrences: counts of integers, runs, unique rows, the most frequent elements, places in sorted sequences."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ...core import dtypes
from ...kernels.conversion import cast
from ...ops.beyond import histogram
from ..dispatch import limits, table
from ..dispatch.fallback import Unsupported
from ..dispatch.table import direct
from ..tensors.storage import array_of, wrap
from .running import places_along, running_largest

# -- counts -----------------------------------------------------------------------------------------------------------


def bincount(x: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each integer occurs, or the sum of its weights. Raises PyTorch's RuntimeErrors; waits for the device."""
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if x.is_floating_point():
        raise NotImplementedError(f"\"bincount\" not implemented for '{table.SCALAR_NAMES[x.dtype]}'")
    if x.ndim != 1 or (x.numel() and bool(x.min() < 0)):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is not None and (weights.ndim != 1 or weights.shape != x.shape):
        raise RuntimeError("weights should be 1-d and have the same length as input")
    if weights is None:
        return wrap(cast(histogram.bincount(array_of(x), minlength=minlength), dtypes.int64))
    wide = weights if weights.dtype in (torch.float32, torch.float64) else weights.double()
    return wrap(histogram.bincount(array_of(x), array_of(wide), minlength=minlength))


direct("bincount", bincount)


def _repeats(repeats: Tensor, *, output_size: int | None = None) -> Tensor:
    """Each place as often as an integer says. Waits for the device where the sum is not given."""
    if repeats.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    text = "repeat_interleave: repeats can not be negative, got {value}."
    limits.check_within(text, repeats, 0, torch.iinfo(repeats.dtype).max)
    ends = repeats.cumsum(0)
    total = output_size if output_size is not None else int(ends[-1]) if ends.numel() else 0
    if output_size is not None and ends.numel():
        text = "repeat_interleave: the sum of repeats, {value}, does not match the output_size {length}."
        limits.check_within(text, ends[-1:], total, total, total)
    places = torch.arange(total, dtype=ends.dtype, device=ends.device)
    return torch.searchsorted(ends, places, right=True).to(repeats.dtype)


direct("repeat_interleave.Tensor", _repeats)

# -- runs and unique rows ---------------------------------------------------------------------------------------------


def _runs(begins: Tensor) -> tuple[Tensor, Tensor]:
    """(the number of the run that each place is in, how long the runs are) for whether one begins there."""
    numbers = begins.long().cumsum(0) - 1
    starts = begins.nonzero()[:, 0]
    ends = torch.cat([starts[1:], starts.new_full((min(1, starts.numel()),), begins.numel())])
    return numbers, ends - starts


def _as_matrix(rows: Tensor) -> Tensor:
    return rows.reshape(rows.shape[0], math.prod(rows.shape[1:]))


def _begins(rows: Tensor) -> Tensor:
    """Whether a row differs from the one before it."""
    if not rows.shape[0]:
        return rows.new_empty(0, dtype=torch.bool)
    changed = _as_matrix(rows[1:] != rows[:-1]).any(1)
    return torch.cat([changed.new_ones(1), changed])


def _consecutive(
    x: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    rows = x.reshape(-1) if dim is None else x.movedim(dim, 0)
    begins = _begins(rows)
    numbers, counts = _runs(begins)
    nothing = numbers[:0]
    found = rows[begins]
    return (
        found if dim is None else found.movedim(0, dim).contiguous(),
        (numbers if dim is not None else numbers.reshape(x.shape)) if return_inverse else nothing,
        counts if return_counts else nothing,
    )


def _consecutive_along(
    x: Tensor, dim: int, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    return _consecutive(x, return_inverse, return_counts, dim)


# Columns that rows are sorted by, one after the other.
_MOST_COLUMNS = 64


def _unique_along(
    x: Tensor, dim: int, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    rows = x.movedim(dim, 0)
    columns = _as_matrix(rows)
    if columns.shape[1] > _MOST_COLUMNS:
        raise Unsupported(f"unique rows of more than {_MOST_COLUMNS} elements")
    order = torch.arange(rows.shape[0], device=rows.device)
    for column in reversed(columns.unbind(1)):
        order = order[column[order].argsort(stable=True)]
    found, numbers, counts = _consecutive_along(rows[order], 0, True, return_counts)
    inverse = torch.empty_like(numbers).scatter_(0, order, numbers) if return_inverse else numbers[:0]
    return found.movedim(0, dim).contiguous(), inverse, counts


def _mode(x: Tensor, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The smallest of the most frequent elements along a dimension, and its last place in their order."""
    if not x.ndim:
        return x.clone(), x.new_zeros((), dtype=torch.int64)
    dim %= x.ndim
    values, places = x.sort(dim=dim, stable=True)
    length = x.shape[dim]
    numbers = places_along(x, dim, torch.int32)
    differs = values.narrow(dim, 1, length - 1) != values.narrow(dim, 0, length - 1)
    first = torch.ones_like(values.narrow(dim, 0, 1), dtype=torch.bool)
    starts = running_largest(torch.where(torch.cat([first, differs], dim), numbers, 0), dim)
    last = (numbers - starts).argmax(dim, keepdim=True)
    found = values.gather(dim, last), places.gather(dim, last)
    return found if keepdim else (found[0].squeeze(dim), found[1].squeeze(dim))


direct("unique_consecutive", _consecutive)
direct("unique_dim_consecutive", _consecutive_along)
direct("unique_dim", _unique_along, refuses=True)
direct("mode", _mode)

# -- places in sorted sequences ---------------------------------------------------------------------------------------


def places_in_rows(edges: Tensor, values: Tensor, right: bool) -> Tensor:
    """The places of values (..., N) in ascending sequences (..., M): both are sorted together, equal ones in order."""
    count = values.shape[-1]
    joined = torch.cat([edges, values] if right else [values, edges], -1)
    order = joined.argsort(dim=-1, stable=True)
    is_edge = (order < edges.shape[-1]) if right else (order >= count)
    before = is_edge.long().cumsum(-1)
    spread = torch.empty_like(before).scatter_(-1, order, before)
    return spread[..., -count:] if right else spread[..., :count]
