"""Arrays that are put together of views of others, as `roll` and `concat` make them: kernels read the pieces where they lie."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..core import layout
from ..core.array import VkArray, array_in
from ..core.layout import Shape, Strides
from ..kernels import expressions
from ..kernels.fused import Index
from ..kernels.scalars import Scalar
from . import views
from .trace import Memory, Node

MOST_PIECES = 8
MOST_PARTS = 12  # dispatches of a kernel that reads pieces


class Piece(NamedTuple):
    """A view that is copied to a part of an array: where that begins and how long it is along each axis."""

    first: tuple[int, ...]
    shape: Shape
    source: VkArray
    strides: Strides  # of the source, along these axes


class Whole(NamedTuple):
    """An array that consists of pieces, each element in one of them."""

    shape: Shape
    pieces: tuple[Piece, ...]


class Mosaic(NamedTuple):
    """An input of a kernel in pieces: which element of the whole its places lead to."""

    pieces: tuple[Piece, ...]
    mapping: views.Mapping

    def part(self, first: Sequence[int], shape: Shape) -> VkArray:
        """The view that a part of the kernel reads, all of it in one piece."""
        places = [
            start + sum(map(int.__mul__, steps, first))
            for start, steps in zip(self.mapping.first, self.mapping.steps, strict=True)
        ]
        piece = next(one for one in self.pieces if _holds(one, places))
        source = piece.source
        strides, offset = self.mapping.of(
            piece.strides, source._offset - sum(map(int.__mul__, piece.first, piece.strides))
        )
        offset += sum(map(int.__mul__, first, strides))
        return array_in(source._buffer, offset, shape, strides, source._dtype, source._device)


def _holds(piece: Piece, places: Sequence[int]) -> bool:
    return all(
        begin <= place < begin + length for begin, length, place in zip(piece.first, piece.shape, places, strict=True)
    )


def whole_of(memory: Memory, writers: Sequence[Node]) -> Whole | None:
    """The pieces that nodes copy to some memory; None where they do anything else, or not to all of it."""
    results = [node.result for node in writers]
    first = results[0]
    if first is None or not 1 < len(writers) <= MOST_PIECES or not all(map(_copies, writers)):
        return None
    strides, dtype = first._strides, first._dtype
    if any(one._strides != strides or one._dtype is not dtype for one in results):  # type: ignore[union-attr]
        return None
    count = memory.nbytes // dtype.itemsize
    lengths = [count, *strides]
    if not strides or strides[-1] != 1 or any(step <= 0 for step in strides):
        return None
    if any(before % step for before, step in itertools.pairwise(lengths)):
        return None
    shape = tuple(before // step for before, step in itertools.pairwise(lengths))
    pieces = []
    for node, result in zip(writers, results, strict=True):
        begin, rest = [], result._offset  # type: ignore[union-attr]
        for step in strides:
            place, rest = divmod(rest, step)
            begin.append(place)
        source, taken = node.inputs[0], result._shape  # type: ignore[union-attr]
        if any(place + length > size for place, length, size in zip(begin, taken, shape, strict=True)):
            return None
        steps = layout.broadcast_strides(source._shape, source._strides, taken)
        pieces.append(Piece(tuple(begin), taken, source, steps))  # type: ignore[arg-type]
    apart = all(_apart(one, other) for one, other in itertools.combinations(pieces, 2))
    if not apart or sum(math.prod(one.shape) for one in pieces) != count:
        return None
    return Whole(shape, tuple(pieces))


def _copies(node: Node) -> bool:
    source, result = node.inputs[0] if node.inputs else None, node.result
    return (
        node.operation is not None and expressions.is_copy(node.operation) and result is not None
        and type(source) is VkArray and source._dtype is result._dtype and source._buffer is not result._buffer
    )  # fmt: skip


def _apart(one: Piece, other: Piece) -> bool:
    return any(
        a + n <= b or b + m <= a for a, n, b, m in zip(one.first, one.shape, other.first, other.shape, strict=True)
    )


def cuts(whole: Whole, mapping: views.Mapping, shape: Shape) -> list[set[int]] | None:
    """Where a kernel over a shape passes from piece to piece, along each axis; None where no cuts part them."""
    found: list[set[int]] = [set() for _ in shape]
    for axis, (begin, steps) in enumerate(zip(mapping.first, mapping.steps, strict=True)):
        edges = {edge for one in whole.pieces for edge in (one.first[axis], one.first[axis] + one.shape[axis])}
        moving = [place for place, step in enumerate(steps) if step and shape[place] > 1]
        if len(edges) == 2 or not moving:
            continue
        if len(moving) > 1:
            return None
        step = steps[moving[0]]
        for edge in edges:
            cut = -((begin - edge) // step) if step > 0 else (begin - edge) // -step + 1
            if 0 < cut < shape[moving[0]]:
                found[moving[0]].add(cut)
    return found


def parts(
    inputs: Sequence[Any], results: Sequence[VkArray], cuts: Sequence[Sequence[int]]
) -> Iterator[tuple[tuple[VkArray | Scalar | Index, ...], tuple[VkArray, ...]]]:
    """The inputs and results of a kernel in parts, of which each reads one piece of each mosaic."""
    shape = results[0]._shape
    edges = [(0, *cut, length) for cut, length in zip(cuts, shape, strict=True)]
    for taken in itertools.product(*(itertools.pairwise(one) for one in edges)):
        first = [begin for begin, _ in taken]
        lengths = tuple(end - begin for begin, end in taken)
        yield tuple(_part(one, first, lengths) for one in inputs), tuple(_view(one, first, lengths) for one in results)


def _part(one: Any, first: Sequence[int], shape: Shape) -> VkArray | Scalar | Index:
    if isinstance(one, Mosaic):
        return one.part(first, shape)
    if isinstance(one, Index):
        return one._replace(origin=one.origin + sum(map(int.__mul__, first, one.strides)))
    return one if isinstance(one, Scalar) or not one._shape else _view(one, first, shape)


def _view(one: VkArray, first: Sequence[int], shape: Shape) -> VkArray:
    offset = one._offset + sum(map(int.__mul__, first, one._strides))
    return array_in(one._buffer, offset, shape, one._strides, one._dtype, one._device)
