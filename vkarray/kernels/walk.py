"""How the strided access pattern of `elementwise` walks its operands: integers in, integers out.

A workgroup takes a tile of two axes, x and y. The result is walked along x, its own smallest stride; an input whose
elements are neighbours along y instead is turned: read along y, handed over in shared memory.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from typing import NamedTuple

from ..core import layout
from ..core.layout import Shape, Strides

# The first bits of the fields of the word that the shader calls `plan`.
_WIDTH, _HEIGHT, _BAND, _TURNED, _FOLDED, _BACKWARD = 8, 12, 16, 20, 24, 25
_SQUARE = 5  # the tile of turned operands has rows of 2^5 elements where these fit
_LARGEST_BAND = 5
_WASTE = 4  # elements are numbered where tiles would be this many times as many
TURNABLE = 3  # inputs of a kernel that turns, at most
BESIDE, WIDE, TALL = range(
    3
)  # how the elements of an invocation lie: neighbours, a workgroup apart along x, or along y
_TURNING_STRIDE = 8  # how many times longer the stride along x than along y makes turning worth its while


class Part(NamedTuple):
    """One dispatch of the strided template."""

    mode: tuple[bool, bool]  # specialization constants: NUMBERED, TURNS
    groups: tuple[int, int, int]
    numbers: int  # of elements where these are numbered, else of positions on the axes before y
    plan: int
    values: tuple[int, ...]
    offsets: tuple[int, ...]  # of each operand's lowest element
    apart: int  # BESIDE, WIDE or TALL
    along: tuple[int, ...]  # the stride of each operand from an element of an invocation to the next


class Setting(NamedTuple):
    """What a walk depends on besides the operands."""

    invocations: int  # of a workgroup, a power of two
    elements: int  # of an invocation, a power of two
    groups: tuple[int, int, int]  # the device's limits
    turns: bool  # whether the device gains from turning
    inputs: int  # how many of the operands; the others are results, and the place in C order
    limit: int  # the largest index
    apart: int = WIDE  # how the elements of an invocation lie where they may: rows that are short have them TALL


@functools.lru_cache(maxsize=1024)
def parts(shape: Shape, strides: tuple[Strides, ...], setting: Setting) -> tuple[Part, ...]:
    """The dispatches that walk operands with these strides, the inputs first, over `shape`."""
    shape, _, others = layout.sort_by_stride(shape, strides[setting.inputs], *strides)
    collapsed, rows = layout.collapse(shape, others)
    slices = layout.index_slices(collapsed, rows, setting.limit)
    return tuple(_part(part, taken, offsets, setting) for part, taken, offsets in slices)


def _part(shape: Shape, strides: list[Strides], offsets: list[int], setting: Setting) -> Part:
    if len(shape) == 1:
        shape, strides = (1, *shape), [(0, *steps) for steps in strides]
    order = _order(shape, strides, setting.inputs)
    shape = tuple(shape[axis] for axis in order)
    strides = [tuple(steps[axis] for axis in order) for steps in strides]
    across = [_turns(steps[-1], steps[-2]) for steps in strides[: setting.inputs]]
    turns = setting.turns and setting.inputs <= TURNABLE
    turned = sum(turned << k for k, turned in enumerate(across)) if turns else 0
    tile = (setting.invocations * setting.elements).bit_length() - 1
    lanes = setting.invocations.bit_length() - 1
    width = _width(shape[-1], shape[-2], tile, lanes, any(across), setting.apart)
    apart = setting.apart if setting.apart == BESIDE else WIDE if width > lanes else TALL
    tiles = -(-shape[-1] >> width), -(-shape[-2] >> tile - width)
    count, outer = math.prod(shape), math.prod(shape[:-2])
    numbered = tiles[0] * tiles[1] * outer > _WASTE * -(-count >> tile)
    if numbered:
        plan = len(shape) | tile << _WIDTH | 1 << _FOLDED
        groups = folded(-(-count >> tile), setting.groups)
        turned = 0
    else:
        plan = len(shape) | width << _WIDTH | tile - width << _HEIGHT | turned << _TURNED
        count = outer
        band = min(_LARGEST_BAND, (tiles[1] - 1).bit_length()) if any(across) else 0
        groups = tiles[0] << band, -(-tiles[1] >> band), outer
        if all(map(int.__le__, groups, setting.groups)):
            plan |= band << _BAND
        else:
            plan |= 1 << _FOLDED
            groups = folded(tiles[0] * tiles[1] * outer, setting.groups)
    lows = [layout.offset_range(shape, steps)[0] for steps in strides]
    values = [*shape, *itertools.chain(*strides)]
    if any(lows):
        plan |= 1 << _BACKWARD
        values += [-low for low in lows]
    along = tuple(steps[-2 if apart == TALL else -1] for steps in strides)
    return Part(
        (numbered, turned != 0),
        groups,
        count,
        plan,
        tuple(values),
        tuple(map(int.__add__, offsets, lows)),
        apart,
        along,
    )


def _turns(along_x: int, along_y: int) -> bool:
    """Whether neighbours of an operand lie along y."""
    return along_y != 0 and abs(along_x) >= _TURNING_STRIDE * abs(along_y)


def _order(shape: Shape, strides: list[Strides], inputs: int) -> list[int]:
    """The axes with y and x as the last two: y is where most inputs have their neighbours, else the longest but x."""
    axes = list(range(len(shape)))
    if len(shape) == 2:
        return axes
    x = axes.pop()
    nearest: Counter[int] = Counter()
    for steps in strides[:inputs]:
        y = min(axes, key=lambda axis: (abs(steps[axis]) or math.inf, shape[axis] == 1))
        nearest[y] += _turns(steps[x], steps[y])
    y, votes = nearest.most_common(1)[0] if nearest else (axes[-1], 0)
    if not votes:
        y = max(axes, key=lambda axis: (min(shape[axis], 256), axis))
    axes.remove(y)
    return [*axes, y, x]


def _width(x: int, y: int, tile: int, lanes: int, square: bool, apart: int) -> int:
    """The logarithm of the elements along x of a tile of 2^tile elements: the shape that fits x by y."""
    widths = range(max(2, tile - lanes), (tile if apart == BESIDE else lanes) + 1)
    if square:
        order = sorted(widths, key=lambda width: abs(width - _SQUARE))
    elif apart == TALL:
        order = [*reversed(widths), tile]
    else:
        order = [tile, *reversed(widths)]
    padded = {width: _padded(x, width) * _padded(y, tile - width) for width in order}
    least = min(padded.values())
    return next(width for width in order if 4 * padded[width] <= 5 * least)


def _padded(length: int, bits: int) -> int:
    return -(-length >> bits) << bits


def folded(groups: int, limits: tuple[int, int, int]) -> tuple[int, int, int]:
    """Workgroup counts that reach `groups`; shaders number them as y * NumWorkGroups.x + x."""
    rows = max(1, -(-groups // limits[0]))
    return -(-groups // rows), rows, 1
