"""Histograms: of one column of numbers, and of several."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ..dispatch import table
from ..dispatch.table import direct
from .counting import bincount


def _bins(x: Tensor, low: float, high: float, bins: int) -> Tensor:
    """The number of the bin of each element, `bins` for those outside; the last one takes its upper edge."""
    places = ((x - low) * (bins / (high - low))).floor().clamp(0, bins - 1)
    return torch.where((x >= low) & (x <= high), places, bins).long()


def _bounds(x: Tensor, low: float, high: float, margin: float) -> tuple[float, float]:
    """The lowest and the highest edge: those of the elements where both are the same. Waits for the device."""
    if low == high and x.numel():
        low, high = float(x.min()), float(x.max())
    if low == high:
        low, high = low - margin, high + margin
    if not abs(low) + abs(high) < float("inf"):
        raise RuntimeError(f"histc: range of [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError("histc: max must be larger than min")
    return low, high


def _histc(x: Tensor, bins: int = 100, min: Any = 0, max: Any = 0) -> Tensor:
    if bins <= 0:
        raise RuntimeError("histc: bins must be > 0")
    if x.is_complex() or x.dtype is torch.bool:
        raise NotImplementedError(f"\"histogram_cpu\" not implemented for '{table.SCALAR_NAMES[x.dtype]}'")
    if not x.is_floating_point():
        return _histc_of_integers(x, bins, int(min), int(max))
    low, high = _bounds(x, float(min), float(max), 1)
    wide = x.float() if x.itemsize < 4 else x
    return bincount(_bins(wide, low, high, bins).flatten(), minlength=bins + 1)[:bins].to(x.dtype)


def _histc_of_integers(x: Tensor, bins: int, low: int, high: int) -> Tensor:
    """As PyTorch counts integers on CUDA, which the CPU refuses: bounds and places are integers, rounded down."""
    if low == high and x.numel():
        low, high = int(x.min()), int(x.max())
    if low == high:
        low, high = low - 1, high + 1
    if low > high:
        raise RuntimeError("histc: max must be larger than min")
    wide = x.long()
    places = ((wide - low) * bins).div(high - low, rounding_mode="floor").clamp(0, bins - 1)
    places = torch.where((wide >= low) & (wide <= high), places, bins)
    return bincount(places.flatten(), minlength=bins + 1)[:bins].to(x.dtype)


direct("histc", _histc)
direct("histc.out", table.with_out(_histc))


def _bin_of(values: Tensor, edges: Tensor) -> Tensor:
    """The number of the bin between edges that each value is in, that of all bins for values outside and NaN."""
    bins = edges.numel() - 1
    places = torch.searchsorted(edges, values, right=True) - 1
    places = torch.where(values == edges[-1], bins - 1, places)
    return torch.where((places < 0) | (places >= bins) | values.isnan(), bins, places)


def _within(x: Tensor, edges: Sequence[Tensor], weight: Tensor | None, density: bool) -> Tensor:
    """The sums of weights of rows of x between the edges of each column, as densities where these are wanted."""
    shape = [one.numel() - 1 for one in edges]
    total, number, outside = math.prod(shape), None, None
    for column, one, count in zip(x.unbind(-1), edges, shape, strict=True):
        place = _bin_of(column.contiguous(), one)
        beyond = place == count
        number = place if number is None else number * count + place
        outside = beyond if outside is None else outside | beyond
    assert number is not None and outside is not None  # noqa: PT018 - there is a column
    weights = None if weight is None else weight.reshape(-1)
    sums = bincount(torch.where(outside, total, number), weights, minlength=total + 1)[:total].to(x.dtype)
    result = sums.reshape(shape)
    if density:
        result = result / result.sum()
        for axis, one in enumerate(edges):
            result = result / one.diff().reshape([-1 if place == axis else 1 for place in range(len(shape))])
    return result


def _histogram_of_edges(
    x: Tensor, bins: Tensor, *, weight: Tensor | None = None, density: bool = False
) -> tuple[Tensor, Tensor]:  # fmt: skip
    return _within(x.reshape(-1, 1), [bins], weight, density), bins.clone()


def _histogram(
    x: Tensor, bins: int = 100, *, range: Any = None, weight: Tensor | None = None, density: bool = False
) -> tuple[Tensor, Tensor]:  # fmt: skip
    low, high = range or (0, 0)
    low, high = _bounds(x, low, high, 0.5) if x.numel() else (low, high if range else low + 1)
    edges = torch.linspace(low, high, bins + 1, dtype=x.dtype, device=x.device)
    return _within(x.reshape(-1, 1), [edges], weight, density), edges


direct("histogram.bins_tensor", _histogram_of_edges)
direct("histogram.bin_ct", _histogram)


# -- of several columns -----------------------------------------------------------------------------------------------


def _check_rows(x: Tensor, bins: Sequence[Any], weight: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """The rows of x as a matrix, and their weights. Raises PyTorch's RuntimeErrors."""
    if x.ndim < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    if len(bins) != x.shape[-1]:
        raise RuntimeError(
            f"torch.histogramdd: expected {x.shape[-1]} sequences of bin edges for a {x.shape[-1]}-dimensional histogram but "
            f"got {len(bins)}"
        )
    if not x.is_floating_point():
        raise NotImplementedError(f"\"histogram_cpu\" not implemented for '{table.SCALAR_NAMES[x.dtype]}'")
    if weight is not None and (weight.dtype is not x.dtype or weight.shape != x.shape[:-1]):
        raise RuntimeError(
            f"torch.histogramdd: if weight tensor is provided it should have the type of input and the shape "
            f"{list(x.shape[:-1])}, got {weight.dtype} and {list(weight.shape)}"
        )
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1]), weight


def _edges_of_columns(
    x: Tensor, bins: Sequence[int], *, range: Sequence[float] | None = None, weight: Tensor | None = None,
    density: bool = False,
) -> list[Tensor]:  # fmt: skip
    rows, _ = _check_rows(x, bins, weight)
    if range is not None and len(range) != 2 * len(bins):
        raise RuntimeError(f"torch.histogramdd: range should have {2 * len(bins)} elements, but got {len(range)}")
    made = []
    for axis, (column, count) in enumerate(zip(rows.unbind(-1), bins, strict=True)):
        if count <= 0:
            raise RuntimeError(f"torch.histogramdd: bins must be > 0, but got {count} for dimension {axis}")
        low, high = (0.0, 0.0) if range is None else range[2 * axis : 2 * axis + 2]
        if range is None and column.numel():
            low, high = float(column.min()), float(column.max())
        elif range is None:
            high = 1.0
        low, high = _bounds(column[:0], low, high, 0.5)
        made.append(torch.linspace(low, high, count + 1, dtype=x.dtype, device=x.device))
    return made


def _of_columns(
    x: Tensor, bins: Sequence[Tensor], *, weight: Tensor | None = None, density: bool = False
) -> Tensor:  # fmt: skip
    rows, weights = _check_rows(x, bins, weight)
    return _within(rows, [one.contiguous() for one in bins], weights, density)


def _of_columns_and_counts(
    x: Tensor, bins: Sequence[int], *, range: Sequence[float] | None = None, weight: Tensor | None = None,
    density: bool = False,
) -> Tensor:  # fmt: skip
    edges = _edges_of_columns(x, bins, range=range, weight=weight)
    return _of_columns(x, edges, weight=weight, density=density)


direct("_histogramdd_bin_edges", _edges_of_columns)
direct("_histogramdd_from_bin_tensors", _of_columns)
direct("_histogramdd_from_bin_cts", _of_columns_and_counts)
