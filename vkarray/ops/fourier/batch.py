"""The dimensions over which a kernel runs: those of the batch, and those of a transform that are not its elements'."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...core import layout
from ...core.array import VkArray, storage_itemsize

NO_AXIS = 0xFF
# Elements that one dispatch spans: NVIDIA computes offsets in bytes in 32 bits, and elements have up to 16.
REACH = 2**28


class Dimension(NamedTuple):
    """A dimension: its size, its strides in the source and in the result, and whether shaders need the place along it."""

    size: int
    source: int
    result: int
    counted: bool = False


class Batch(NamedTuple):
    """What one dispatch covers: dimensions (those close in the source's memory last) and the addresses of both arrays."""

    dimensions: tuple[Dimension, ...]
    addresses: tuple[int, int]

    @property
    def lines(self) -> int:
        """How many lines there are."""
        return math.prod(dimension.size for dimension in self.dimensions)

    @property
    def counted_axis(self) -> int:
        """The number of the dimension that is counted."""
        return next((k for k, dimension in enumerate(self.dimensions) if dimension.counted), NO_AXIS)

    @property
    def values(self) -> list[int]:
        """What shaders need of the dimensions: sizes, then strides in the source, then strides in the result."""
        return [dimension[field] for field in range(3) for dimension in self.dimensions]


def batches(x: VkArray, result: VkArray, axis: int, inner: Sequence[Dimension], reach: int) -> Iterator[Batch]:
    """All dimensions but `axis`, and `inner`, in parts within REACH; lines themselves span `reach`."""
    arrays = (x, result)
    shape, strides = layout.collapse(
        (*x._shape[:axis], *x._shape[axis + 1 :]),
        [(*array._strides[:axis], *array._strides[axis + 1 :]) for array in arrays],
    )
    for sizes, taken, offsets in layout.index_slices(shape, strides, max(1, REACH - reach)):
        outer = (Dimension(*values) for values in zip(sizes, *taken, strict=True))
        dimensions = sorted((one for one in (*outer, *inner) if one.size > 1), key=lambda one: -abs(one.source))
        first, second = (
            array._address + offset * storage_itemsize(array._dtype, array._device)
            for array, offset in zip(arrays, offsets, strict=True)
        )
        yield Batch(tuple(dimensions), (first, second))
