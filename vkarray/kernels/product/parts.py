"""Products in pieces that fill a device, and long sums in parts, which are added up at the end."""

from __future__ import annotations

from collections.abc import Iterator

from ...core import layout
from ...core.array import VkArray, empty
from ...core.dtypes import DType
from .. import launch
from ..reductions import partial_dtype
from .stacks import Product
from .tiles import Row, count, rows_of_whole_waves

_LEFT_PART = 512  # the shortest part of sums of the tiles that are left when others have kept the device busy
_ALIGNED = 16  # elements
_SHORTEST_REACH = 16  # products that a part always has, whatever it spans
# llvmpipe leaves a loop after 65,535 turns, whatever it still had to do.
_LONGEST_PART = {"gpu": 1 << 30, "cpu": 1 << 15}


def compute_itemsize(dtype: DType) -> int:
    """Bytes of the type computed in (8- and 16-bit types compute in 32 bits)."""
    return max(4, dtype.itemsize)


def _reach(array: VkArray) -> int:
    """How many elements one part may span: half of what indices reach, so that as much is left for rows and columns."""
    return layout.index_limit(compute_itemsize(array._dtype)) // 2


def limit_of_first(product: Product, part: int, a_k: int, b_k: int) -> int:
    """How many elements the first ones of the rows, columns and parts of a dispatch may span."""
    a, b, result, _ = product
    limit = launch.index_limit(result._device, a._dtype, b._dtype, result._dtype)
    return limit - (part - 1) * max(abs(a_k), abs(b_k))


def within_reach(array: VkArray) -> VkArray:
    """The array, copied where it is walked backwards, or its last dimension in steps so large that parts would be short."""
    step = max(1, abs(array._strides[-1]))
    too_far = _reach(array) // step < min(array._shape[-1], _SHORTEST_REACH)
    return launch.copy(array) if too_far else launch.forward(array)


def part_length(
    k: int, parallel: int, busy: int, shortest: int, a: VkArray, b: VkArray, axes: tuple[int, int] = (-1, -1)
) -> int:
    """Products per part of the summed dimension, given how much runs side by side without parts."""
    parts = max(1, min(-(-busy // max(parallel, 1)), k // shortest))
    stride = max(1, abs(a._strides[axes[0]]), abs(b._strides[axes[1]]))
    longest = min(max(1, min(_reach(a), _reach(b)) // stride), _LONGEST_PART[a._device.limits.kind])
    # Parts that begin at multiples of 16 elements keep the alignment of the whole.
    part = min(-(-k // (parts * _ALIGNED)) * _ALIGNED, longest)
    return min(part if part < 2 * _ALIGNED else part - part % _ALIGNED, k)


def partial_array(result: VkArray, parts: int) -> VkArray:
    """An array for the parts of every element of the result, as its first dimension."""
    return empty((parts, *result._shape), partial_dtype(result._dtype), result._device)


def pieces(product: Product, tile: Row, parts: int, divided: bool = True) -> Iterator[tuple[Product, int]]:
    """The product as pieces, each with how many parts its sums are cut into: one piece, whose sums are cut into `parts`, or two.

    There are two where few tiles are left when the device has been full of them: first the rows (of a stack the matrices)
    that fill it, then the others, whose sums are cut into parts so that they fill it as well.
    """
    shape = product.result._shape
    axis, unit = (-2, tile.shape[0]) if len(shape) == 2 else (0, 1)
    length, longest = shape[axis], product.a._shape[-1] // _LEFT_PART
    whole = rows_of_whole_waves(tile, shape, axis, unit) if divided and longest > 1 else length
    for first, last in ((0, whole), (whole, length)):
        if first < last:
            piece = product.piece(axis, first, last)
            left = min(tile.at_once // count(tile.shape, piece.result._shape), longest) if first else parts
            yield piece, max(1, left)
