"""A dispatch that is recorded once and done again with other memory and numbers: see `replay.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .kernel import Kernel

Part = tuple[
    int, int, int
]  # a piece of memory by its number, and bytes of it: the first, and the end, which may lie beyond it


class Elements(NamedTuple):
    """Some of the bytes of a part: elements, of which the first is so many bytes after its start, and strides in bytes."""

    first: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int


class Call(NamedTuple):
    """One dispatch. Memory and the numbers of a run have numbers; `block` has zeros in place of what a run writes."""

    kernel: Kernel
    block: bytes
    groups: tuple[int, int, int]
    ordered: bool  # needs a barrier before it
    reads: tuple[Part, ...]
    writes: tuple[Part, ...]
    addresses: tuple[tuple[int, int, int], ...]  # where in the block, of which memory, and how many bytes further on
    numbers: tuple[tuple[int, int], ...]  # where in the block, and which one
    bindings: tuple[tuple[int, int, int, int], ...]  # the number of the binding, which memory, offset and bytes
    # For a checker: those of each part that it writes, where it writes no others.
    elements: tuple[Elements | None, ...] = ()
