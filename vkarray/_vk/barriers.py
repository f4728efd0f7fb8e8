"""The barrier checker: every conflict between commands must be separated by a barrier.

The validation layers do not see memory used through buffer addresses. With VKARRAY_CHECK_BARRIERS the queue tells
this checker of each command's address ranges, and the checker listens to the barrier functions themselves. It compares
each command with all that no barrier separates from it, in this batch or an earlier one, without any of the queue's
bookkeeping. It also finds addresses in push constants that belong to no declared buffer.
"""

from __future__ import annotations

import struct as bytes_struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ValidationError

if TYPE_CHECKING:
    from .memory import Allocator, Buffer
    from .queue import Queue

Range = tuple[int, int]


class Command:
    """Name and address ranges [begin, end) of one recorded command."""

    def __init__(self, name: str, reads: list[Range], writes: list[Range]) -> None:
        self.name, self.reads, self.writes = name, reads, writes


class Checker:
    """Commands since the last barrier, each checked against the others."""

    def __init__(self, allocator: Allocator) -> None:
        self.allocator = allocator
        self.unordered: list[Command] = []
        self.commands = self.barriers = 0

    def barrier(self) -> None:
        self.barriers += 1
        self.unordered.clear()

    def command(self, name: str, reads: Sequence[Buffer], writes: Sequence[Buffer]) -> None:
        """Check one command; raises ValidationError naming both commands and the range."""
        new = Command(name, _ranges(reads), _ranges(writes))
        self.commands += 1
        for old in self.unordered:
            for kind, first, second in (
                ("write after write", old.writes, new.writes),
                ("read after write", old.writes, new.reads),
                ("write after read", old.reads, new.writes),
            ):
                overlap = _overlap(first, second)
                if overlap:
                    raise ValidationError(
                        f"Barrier missing between {old.name} and {name}: {kind} of {overlap[0]:#x} to {overlap[1]:#x}."
                    )
        self.unordered.append(new)

    def check_addresses(self, name: str, push_constants: bytes, buffers: Sequence[Buffer]) -> None:
        """Every device address among the push constants must lie in a buffer declared as read or written."""
        count = len(push_constants) // 8
        for value in bytes_struct.unpack_from(f"<{count}Q", push_constants):
            inside = any(block.address <= value < block.address + block.nbytes for block in self.allocator.blocks)
            if inside and not any(b.address <= value < b.address + max(b.nbytes, 1) for b in buffers):
                raise ValidationError(
                    f"{name}: the push constants hold the address {value:#x}, which lies in none of "
                    "the buffers given as read or written."
                )


def _ranges(buffers: Sequence[Buffer]) -> list[Range]:
    return [(buffer.address, buffer.address + buffer.nbytes) for buffer in buffers]


def _overlap(first: list[Range], second: list[Range]) -> Range | None:
    for a, b in first:
        for c, d in second:
            if a < d and c < b:
                return max(a, c), min(b, d)
    return None


def attach(queue: Queue, allocator: Allocator) -> Checker:
    """Start checking a queue: its barrier functions report to the checker from now on."""
    checker = queue.checker = Checker(allocator)
    queue.traced = True

    def listen(function: Any) -> Any:
        def call(*arguments: Any) -> None:
            checker.barrier()
            function(*arguments)

        return call

    queue._pipeline_barrier = listen(queue._pipeline_barrier)
    if queue._between_2 is not None:
        queue._pipeline_barrier_2 = listen(queue._pipeline_barrier_2)
    return checker
