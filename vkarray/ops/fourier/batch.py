"""The dimensions over which a kernel runs: those of the batch, and those of a transform that are not its elements'."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ...core import layout
from ...core.array import VkArray
from ...kernels.dispatch import Pointer, pointer

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
    """What one dispatch covers: dimensions (those close in the source's memory last), and where it begins in both arrays."""

    dimensions: tuple[Dimension, ...]
    source: Pointer
    result: Pointer

    @property
    def lines(self) -> int:
        """How many lines there are."""
        return math.prod(dimension.size for dimension in self.dimensions)

    @property
    def fields(self) -> dict[str, Any]:
        """What shaders need of it: both arrays, the dimension that is counted, sizes, strides in the source and the result."""
        return {
            "a": self.source,
            "r": self.result,
            "place_axis": next((k for k, dimension in enumerate(self.dimensions) if dimension.counted), NO_AXIS),
            "rank": len(self.dimensions),
            "layout_": [dimension[row] for row in range(3) for dimension in self.dimensions],
        }


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
        yield Batch(tuple(dimensions), pointer(x, offsets[0]), pointer(result, offsets[1]))
