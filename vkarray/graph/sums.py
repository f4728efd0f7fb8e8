"""Which sums one kernel adds up: those of as many elements that read the same arrays, which are then read once."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from ..core import layout
from ..core.array import VkArray
from ..kernels.reductions import SUMS
from .regions import Region, merge

if TYPE_CHECKING:
    from .regions import Dependencies
    from .trace import Node


def join(of: list[Region], known: Dependencies) -> None:
    """Make one region of the sums that one kernel may add up. `of` has the region of each node."""
    numbers = [number for number, node in enumerate(known.nodes) if _adds(node)]
    read = {number: _read(number, known) for number in numbers}
    for one, other in itertools.combinations(numbers, 2):
        if of[one] is not of[other] and read[one] & read[other]:
            _join(of[one], of[other], of, known)


def _adds(node: Node) -> bool:
    prologue = node.prologue
    if prologue is None or not prologue.adds:
        return False
    array = prologue.array
    return array._strides == layout.contiguous_strides(array._shape)


def _read(number: int, known: Dependencies) -> set[int]:
    """The memory that a sum reads, or that elements are computed of which it reads: what is as long, by its identity."""
    prologue = known.nodes[number].prologue
    assert prologue is not None
    long = prologue.array.size // 2
    found: set[int] = set()
    left = [(number, prologue.array)]
    while left:
        reader, array = left.pop()
        key = id(array._buffer)
        if key in found or array.size < long:
            continue
        found.add(key)
        writer = known.last_writer[reader].get(key)
        if writer is not None and known.nodes[writer].result is not None:
            left += [(writer, one) for one in known.nodes[writer].inputs if isinstance(one, VkArray)]
    return found


def _join(one: Region, other: Region, of: list[Region], known: Dependencies) -> None:
    members = one.members | other.members
    if one.window != other.window or len(one.nodes) + len(other.nodes) > SUMS[-1]:
        return
    if (one.after & other.before | other.after & one.before) & ~members:
        return
    nodes = [known.nodes[number] for number in (*one.nodes, *other.nodes)]
    first = nodes[0]
    if any(known.direct[number] & members for number in (*one.nodes, *other.nodes)):
        return
    if all(_are_like(first, node) for node in nodes[1:]):
        merge(one, other, of)


def _are_like(one: Node, other: Node) -> bool:
    assert one.prologue is not None
    assert other.prologue is not None
    assert one.dispatch is not None
    assert other.dispatch is not None
    same = one.prologue.array._shape == other.prologue.array._shape
    return same and one.prologue.is_like(one.dispatch, other.prologue, other.dispatch)
