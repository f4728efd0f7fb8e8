"""Views of results that are never stored: where the elements of a view lie among those of the result, axis by axis."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ..core import layout
from ..core.array import VkArray
from ..core.layout import Shape, Strides


class Mapping(NamedTuple):
    """Where an index of one shape leads in another: `first` of each axis there, and `steps` of it along each axis here."""

    shape: Shape
    first: tuple[int, ...]
    steps: tuple[tuple[int, ...], ...]

    def of(self, strides: Strides, offset: int) -> tuple[Strides, int]:
        """The strides along the axes here, and the offset, of an operand that has `strides` along the axes there."""
        found = tuple(
            sum(steps[axis] * stride for steps, stride in zip(self.steps, strides, strict=True))
            for axis in range(len(self.shape))
        )
        return found, offset + sum(map(int.__mul__, self.first, strides))


def reads_half(one: Any, shape: Shape) -> bool:
    """Whether an input is an array that has at least half as many elements in memory as one of a shape."""
    if not isinstance(one, VkArray):
        return False
    elements = math.prod(size for size, step in zip(one._shape, one._strides, strict=True) if step)
    return 2 * elements >= math.prod(shape)


def identity(shape: Shape) -> Mapping:
    """Each index leads to itself."""
    rank = len(shape)
    return Mapping(shape, (0,) * rank, tuple(tuple(int(axis == own) for axis in range(rank)) for own in range(rank)))


def through(shape: Shape, strides: Strides, offset: int, base: Shape) -> Mapping | None:
    """Where a view, of contiguous memory of another shape, leads in that shape. None where no mapping of axes says so."""
    whole = layout.contiguous_strides(base)
    axes = sorted((axis for axis, length in enumerate(base) if length > 1), key=lambda axis: -whole[axis])
    first, rest = [0] * len(base), offset
    for axis in axes:
        first[axis], rest = divmod(rest, whole[axis])
    if rest or offset < 0:
        return None
    steps = [[0] * len(shape) for _ in base]
    for place, (length, stride) in enumerate(zip(shape, strides, strict=True)):
        if stride == 0 or length == 1:
            continue
        for axis in axes:
            step, over = divmod(stride, whole[axis])
            if not over and abs(step) * (length - 1) < base[axis]:
                steps[axis][place] = step
                break
        else:
            return None
    for axis, length in enumerate(base):
        reach = [step * (size - 1) for step, size in zip(steps[axis], shape, strict=True)]
        low, high = (first[axis] + sum(pick for pick in reach if (pick > 0) == up) for up in (False, True))
        if low < 0 or high >= length:
            return None
    return Mapping(shape, tuple(first), tuple(map(tuple, steps)))
