"""Sampling at the places of a grid (`torch.nn.functional.grid_sample`), in terms of other operators, gradients as well."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch import Tensor

from ..dispatch.table import direct

_LINEAR, _NEAREST, _CUBIC = range(3)
_ZEROS, _BORDER, _REFLECTION = range(3)
_library = torch.library.Library("aten", "IMPL")


def _source(place: Tensor, size: int, padding: int, align_corners: bool) -> Tensor:
    """Where a place from -1 to 1 lies between the elements of a dimension."""
    place = ((place + 1) * size - 1) / 2 if not align_corners else (place + 1) / 2 * (size - 1)
    if padding == _REFLECTION:
        low, span = (0.0, size - 1.0) if align_corners else (-0.5, float(size))
        if span == 0:
            return torch.zeros_like(place)
        away = torch.where(place < low, low - place, place - low)
        inside = away % span
        turns = torch.div(away, span, rounding_mode="floor")
        place = torch.where(turns % 2 == 0, inside, span - inside) + low
    if padding == _ZEROS:
        return place
    within = (place > 0) & (place < size - 1)  # on the border there is no gradient
    at_border = place.detach().clamp(0, size - 1)
    return torch.where(within, place, torch.where(at_border.isnan(), 0, at_border))


def _sample(x: Tensor, grid: Tensor, interpolation: int, padding: int, align_corners: bool) -> Tensor:
    """The sum over the elements round each place of the grid, weighted by how near they are; none outside of x."""
    size = x.shape[2:]
    wide = torch.float32 if x.dtype in (torch.float16, torch.bfloat16) else x.dtype
    # A place of the grid is (width, height, depth): the last dimension comes first.
    places = [
        _source(each, n, padding, align_corners) for each, n in zip(grid.to(wide).unbind(-1)[::-1], size, strict=True)
    ]
    flat = x.to(wide).flatten(2)
    shape = (x.shape[0], x.shape[1], *grid.shape[1:-1])
    result = None
    nearest = interpolation == _NEAREST
    for corner in itertools.product((0,) if nearest else (0, 1), repeat=len(size)):
        index: Any = 0
        weight: Any = 1
        for place, n, step in zip(places, size, corner, strict=True):
            first = place.round() if nearest else place.floor()
            taken = first + step
            inside = (taken >= 0) & (taken < n)
            index = index * n + torch.where(inside, taken, 0).long()
            # The nearest element has the gradient 0, not none; a place on an element has that of the way to the next one.
            near = place * 0 + 1 if nearest else place - first if step else 1 - (place - first)
            # A place that is no finite number is outside as well, and its weight is no number.
            away = torch.zeros_like(place) if nearest else place.detach() * 0
            weight = weight * torch.where(inside, near, away)
        index = index.flatten(1)[:, None].expand(-1, x.shape[1], -1)
        part = torch.gather(flat, 2, index) * weight.flatten(1)[:, None]
        result = part if result is None else result + part
    assert result is not None
    return result.view(shape).to(x.dtype)


def _grid_sampler_2d(x: Tensor, grid: Tensor, interpolation: int, padding: int, align_corners: bool) -> Tensor:
    if interpolation == _CUBIC:
        from torch._decomp.decompositions import grid_sampler_2d

        result: Tensor = grid_sampler_2d(x, grid, interpolation, padding, align_corners)
        return result
    return _sample(x, grid, interpolation, padding, align_corners)


# Before PyTorch's own gradient, which calls an operator for it: that of this formula is made of others.
for _name, _formula in {"grid_sampler_2d": _grid_sampler_2d, "grid_sampler_3d": _sample}.items():
    direct(_name, _formula, "decomposed")
    _library.impl(_name, _formula, "AutogradPrivateUse1")
