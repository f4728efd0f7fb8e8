"""Windows that slide over the last one to three dimensions of an array: their geometry, and how kernels get it.

Kernels see 5 dimensions, (batch, channels, depth, height, width); those that an array lacks have length 1. The words that say so
are the last of their arguments (`glsl/lib/window.glsl` reads them).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..core import layout
from ..core.array import VkArray
from ..kernels import launch

Triple = tuple[int, int, int]
_BATCH_LIMIT = 1 << 15
_SMALL = 1 << 28  # indices reach all elements, and all bytes, of what is smaller


class Windows(NamedTuple):
    """Window o covers the places o * stride - padding + tap * dilation of each dimension, for 0 <= tap < kernel."""

    input: Triple
    output: Triple
    kernel: Triple
    stride: Triple = (1, 1, 1)
    padding: Triple = (0, 0, 0)
    dilation: Triple = (1, 1, 1)

    @property
    def taps(self) -> int:
        """Places of a window."""
        return math.prod(self.kernel)

    @property
    def inputs(self) -> int:
        """Places of the input."""
        return math.prod(self.input)

    @property
    def outputs(self) -> int:
        """Windows."""
        return math.prod(self.output)

    @property
    def words(self) -> list[int]:
        """What the words that a kernel gets begin with."""
        return [value for triple in self for value in triple]

    @property
    def parts(self) -> Triple:
        """The most places that a part of the input has, when there is one for each place of the output."""
        pairs = zip(self.input, (max(m, 1) for m in self.output), strict=True)
        depth, height, width = (n // m if n % m == 0 else -(-n // m) + 1 for n, m in pairs)
        return depth, height, width

    @property
    def overlapping(self) -> bool:
        """Whether windows may share places."""
        apart = zip(self.kernel, self.dilation, self.stride, strict=True)
        return any((taps - 1) * gap >= step for taps, gap, step in apart)

    @property
    def trivial(self) -> bool:
        """Whether window o is place o and no other."""
        return self.taps == 1 and set(self.stride) == {1} and not any(self.padding) and self.input == self.output


def triple(values: Sequence[int], missing: int) -> Triple:
    """One to three numbers as those of depth, height and width."""
    first, second, third = (*(missing,) * (3 - len(values)), *values)
    return first, second, third


def numbers(function: str, name: str, value: Any, rank: int, least: int) -> tuple[int, ...]:
    """A parameter with one number for all dimensions or one for each, as numbers for each.

    Raises TypeError for what are no integers, ValueError for another number of them and for one below `least`.
    """
    listed = layout.as_integers(value, function, name)
    if len(listed) == 1:
        listed *= rank
    if len(listed) != rank or min(listed) < least:
        raise ValueError(
            f"{function}: expected {name} as an integer of at least {least} or {rank} of them, got {value!r:.60}."
        )
    return listed


Pairs = tuple[tuple[int, int], ...]


def paddings(function: str, value: Any, rank: int) -> Pairs:
    """How many zeros come before and after, for each dimension: of one number, one for each, or a pair for each.

    Raises TypeError for what are no integers, ValueError for another number of them and for negative ones.
    """
    if not isinstance(value, (list, tuple)) or not any(isinstance(one, (list, tuple)) for one in value):
        return tuple((both, both) for both in numbers(function, "padding", value, rank, 0))
    found = tuple(layout.as_integers(one, function, "padding") for one in value)
    if len(found) != rank or any(len(pair) != 2 or min(pair) < 0 for pair in found):
        raise ValueError(
            f"{function}: expected padding as an integer of at least 0, {rank} of them or {rank} pairs (before, after), got "
            f"{value!r:.60}."
        )
    return tuple((before, after) for before, after in found)


def five(array: VkArray) -> VkArray:
    """A view with the dimensions (batch, channels, depth, height, width) of (batch, channels, 1 to 3 others)."""
    added = (1,) * (5 - array.ndim)
    return array._view(
        (*array._shape[:2], *added, *array._shape[2:]), (*array._strides[:2], *(0 for _ in added), *array._strides[2:])
    )


def taken(array: VkArray) -> tuple[int, ...]:
    """The strides of an array, 0 along dimensions of length 1."""
    return layout.taken_strides(array._shape, [array._strides])[0]


def side_by_side(array: VkArray, windows: Windows) -> VkArray:
    """The array, copied where it is walked backwards, and where several windows read elements whose neighbours along the last
    dimension lie apart, as with channels last."""
    apart = windows.taps > 1 and array._strides[-1] != 1 and array._shape[-1] > 1
    return launch.copy(array) if apart else launch.forward(array)


def batches(function: str, arrays: Sequence[VkArray], most: int = _BATCH_LIMIT) -> Iterator[list[VkArray]]:
    """The arrays, cut along their first dimension until 32-bit indices reach all elements of a part.

    Raises ValueError where one element of the batch is too large for that.
    """
    count = arrays[0]._shape[0]
    if count <= most and all(max(array._buffer.nbytes, math.prod(array._shape)) < _SMALL for array in arrays):
        yield list(arrays)
        return
    for array in arrays:
        limit = launch.index_limit(array._device, array._dtype)
        low, high = layout.offset_range(array._shape[1:], array._strides[1:])
        if high - low >= limit or math.prod(array._shape[1:]) >= limit:
            raise ValueError(
                f"{function}: one element of a batch spans {high - low + 1} places, and kernels reach {limit}. Cut the array."
            )
        step = max(abs(array._strides[0]), math.prod(array._shape[1:]), 1)
        most = max(1, min(most, (limit - (high - low)) // step))
    for first in range(0, count, most):
        yield [part(array, first, min(most, count - first)) for array in arrays]


def part(array: VkArray, first: int, count: int) -> VkArray:
    """Some elements of the first dimension, as a view."""
    return array._view((count, *array._shape[1:]), array._strides, first * array._strides[0])
