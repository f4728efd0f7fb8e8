"""Arrays between their elements: sampling at the places of a grid."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import vkarray as vx

from ...nn import indexing as nn
from ..interpreter import Call
from ..table import INSIDE, operator
from ..types import held


def _source(place: Any, size: int, padding: str, align_corners: int) -> Any:
    """Where a place from -1 to 1 lies between the elements of a dimension."""
    place = (place + 1) / 2 * (size - 1) if align_corners else ((place + 1) * size - 1) / 2
    return place if padding == "zeros" else _returned(place, size, padding, align_corners)


def _returned(place: Any, size: int, padding: str, align_corners: int) -> Any:
    """Places outside, on the border or reflected there."""
    if padding == "reflection":
        low, span = (0.0, size - 1.0) if align_corners else (-0.5, float(size))
        if span == 0:
            return vx.zeros_like(place)
        away = vx.where(place < low, low - place, place - low)
        inside = vx.remainder(away, span)
        turns = vx.floor(away / span)
        place = vx.where(vx.remainder(turns, 2.0) == 0, inside, span - inside) + low
    return vx.clip(place, 0, size - 1)


def taken(x: Any, indices: Sequence[Any]) -> Any:
    """Elements of x (N, C, ...) at whole places (N, ...) along each dimension; 0 outside."""
    flat: Any = 0
    inside: Any = True
    for index, size in zip(indices, x.shape[2:], strict=True):
        within = (index >= 0) & (index < size)
        inside = within if inside is True else inside & within
        flat = flat * size + vx.where(within, index, vx.zeros_like(index))
    shape = (x.shape[0], x.shape[1], *flat.shape[1:])
    rows = vx.reshape(x, (x.shape[0], x.shape[1], -1))
    flat = vx.reshape(vx.astype(flat, held(vx.int64, x.device)), (x.shape[0], 1, -1))
    found = nn.gather(rows, 2, vx.broadcast_to(flat, (x.shape[0], x.shape[1], flat.shape[2])))
    found = vx.reshape(found, shape)
    return vx.where(vx.expand_dims(inside, axis=1), found, vx.zeros_like(found))


def between(call: Call, x: Any, places: Sequence[Any]) -> Any:
    """x (N, C, ...) at places (N, ...) in units of elements, by linear interpolation; 0 outside."""
    result = None
    for corner in itertools.product((0, 1), repeat=len(places)):
        indices, weight = [], None
        for place, step in zip(places, corner, strict=True):
            first = vx.floor(place)
            near = place - first if step else 1 - (place - first)
            indices.append(first + step)
            weight = near if weight is None else weight * near
        part = taken(x, indices) * vx.expand_dims(weight, axis=1)
        result = part if result is None else result + part
    return result


def _cubic(call: Call, x: Any, places: Sequence[Any], padding: str, align_corners: int, a: float = -0.75) -> Any:
    """By R. Keys' cubic convolution (1981)."""
    result = None
    for corner in itertools.product((-1, 0, 1, 2), repeat=len(places)):
        indices, weight = [], None
        for place, size, step in zip(places, x.shape[2:], corner, strict=True):
            first = vx.floor(place)
            away = vx.abs(place - first - step)
            if step in (0, 1):
                near = ((a + 2) * away - (a + 3)) * away * away + 1
            else:
                near = ((a * away - 5 * a) * away + 8 * a) * away - 4 * a
            index = first + step
            indices.append(index if padding == "zeros" else vx.rint(_returned(index, size, padding, align_corners)))
            weight = near if weight is None else weight * near
        part = taken(x, indices) * vx.expand_dims(weight, axis=1)
        result = part if result is None else result + part
    return result


@operator("GridSample", since=16, half=INSIDE, exact=(1,))
def _grid_sample(
    call: Call, x: Any, grid: Any, *, align_corners: int = 0, mode: str = "linear", padding_mode: str = "zeros"
) -> Any:
    # A place of the grid is (width, height, depth): the last dimension comes first.
    sizes = x.shape[2:]
    if grid.ndim != x.ndim or grid.shape[-1] != len(sizes):
        raise ValueError(
            f"its grid has the shape {tuple(grid.shape)}, expected {x.ndim} dimensions, of which the last one has {len(sizes)} "
            f"elements"
        )
    cubic = mode in ("bicubic", "cubic")
    whole = vx.isdtype(x.dtype, "integral")
    given = call.cast(x, vx.float32) if whole else x
    grid = call.cast(grid, given.dtype)
    padding = "zeros" if cubic else padding_mode
    places = [
        _source(grid[..., len(sizes) - 1 - axis], size, padding, align_corners) for axis, size in enumerate(sizes)
    ]
    if mode == "nearest":
        return taken(x, [vx.rint(one) for one in places])
    found = _cubic(call, given, places, padding_mode, align_corners) if cubic else between(call, given, places)
    if not whole:
        return found
    info = vx.iinfo(x.dtype)
    return call.cast(vx.clip(vx.trunc(found), float(info.min), float(info.max)), x.dtype)


@operator("AffineGrid", since=20, host=(1,))
def _affine_grid(call: Call, theta: Any, size: Any, *, align_corners: int = 0) -> Any:
    """The places (N, ..., rank) to which matrices (N, rank, rank + 1) take those of an image, x before y before z."""
    lengths = tuple(map(int, size[2:]))
    along = []
    for axis, length in enumerate(lengths):
        steps = vx.arange(length, dtype=theta.dtype, device=theta.device)
        places = steps * (2 / max(length - 1, 1)) - 1 if align_corners else (2 * steps + 1) / length - 1
        shape = (1,) * axis + (length,) + (1,) * (len(lengths) - axis - 1)
        along.append(vx.broadcast_to(vx.reshape(places, shape), lengths))
    places = vx.stack([*along[::-1], vx.ones(lengths, dtype=theta.dtype, device=theta.device)], axis=-1)
    found = vx.reshape(places, (1, -1, len(lengths) + 1)) @ theta.mT
    return vx.reshape(found, (theta.shape[0], *lengths, len(lengths)))
