"""The barrier checker: every conflict between commands must be separated by a barrier.

The validation layers do not see memory used through buffer addresses. With VKARRAY_CHECK_BARRIERS the queue tells
this checker of each command's address ranges, and the checker listens to the barrier functions themselves. It compares
each command with all that no barrier separates from it, in this batch or an earlier one, without any of the queue's
bookkeeping. It also finds addresses in arguments that belong to no declared buffer.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ValidationError

if TYPE_CHECKING:
    from .call import Elements
    from .kernel import Kernel
    from .memory import Allocator, Buffer
    from .queue import Queue

Range = tuple[int, int]

_ADDRESS = struct.Struct("<Q")


class Spread(NamedTuple):
    """A range of which only elements are touched, whose places count from its first byte."""

    begin: int
    end: int
    elements: Elements

    def runs(self) -> list[Range]:
        """The ranges of neighbouring bytes that are touched, in order."""
        first, shape, strides, itemsize = self.elements
        found = [(self.begin + first, self.begin + first + itemsize)]
        for length, step in sorted(zip(shape, strides, strict=True), key=lambda axis: abs(axis[1])):
            if step == found[0][1] - found[0][0] and len(found) == 1:
                found = [(found[0][0], found[0][0] + length * step)]
            else:
                found = [(begin + k * step, end + k * step) for k in range(length) for begin, end in found]
        return sorted(found)


Touched = Range | Spread


class Command:
    """Name and address ranges [begin, end) of one recorded command."""

    def __init__(self, name: str, reads: Sequence[Touched], writes: Sequence[Touched]) -> None:
        self.name, self.reads, self.writes = name, reads, writes


class Checker:
    """Commands since the last barrier, each checked against the others."""

    def __init__(self, allocator: Allocator) -> None:
        self.allocator = allocator
        self.unordered: list[Command] = []  # of what was submitted
        self.recorded: dict[Any, list[Command]] = {}  # the same after each command buffer that is not submitted yet
        self.problems: list[str] = []
        self.commands = self.barriers = 0

    def begin(self, commands: Any) -> None:
        """A command buffer begins."""
        self.recorded[commands] = list(self.unordered)

    def submitted(self, commands: Any) -> None:
        """A command buffer is submitted."""
        self.unordered = self.recorded.pop(commands, self.unordered)

    def barrier(self, commands: Any) -> None:
        """A barrier is recorded."""
        self.barriers += 1
        self.recorded[commands].clear()

    def command(self, commands: Any, name: str, reads: Sequence[Touched], writes: Sequence[Touched]) -> None:
        """Check one command that is recorded; a problem names both commands and the range."""
        new, unordered = Command(name, reads, writes), self.recorded[commands]
        self.commands += 1
        for old in unordered:
            for kind, first, second in (
                ("write after write", old.writes, new.writes),
                ("read after write", old.writes, new.reads),
                ("write after read", old.reads, new.writes),
            ):
                overlap = _overlap(first, second)
                if overlap:
                    self.problems.append(
                        f"Barrier missing between {old.name} and {name}: {kind} of {overlap[0]:#x} to {overlap[1]:#x}."
                    )
        unordered.append(new)

    def raise_problems(self) -> None:
        """Raise ValidationError with the problems found since the last call, if any."""
        problems, self.problems = self.problems, []
        if problems:
            raise ValidationError("\n".join(dict.fromkeys(problems)))

    def check_addresses(self, kernel: Kernel, arguments: bytes, buffers: Sequence[Buffer]) -> None:
        """Every device address among the arguments must lie in a buffer declared as read or written."""
        for place in kernel.addresses:
            if place + _ADDRESS.size > len(arguments):
                break  # the end of the block is not given
            (value,) = _ADDRESS.unpack_from(arguments, place)
            inside = any(block.address <= value < block.address + block.nbytes for block in list(self.allocator.blocks))
            if inside and not any(b.address <= value < b.address + max(b.nbytes, 1) for b in buffers):
                raise ValidationError(
                    f"{kernel.name}: the arguments hold the address {value:#x}, which lies in none of "
                    "the buffers given as read or written."
                )


def _overlap(first: Sequence[Touched], second: Sequence[Touched]) -> Range | None:
    for one in first:
        for other in second:
            (a, b), (c, d) = one[:2], other[:2]
            if a < d and c < b:
                if not (isinstance(one, Spread) and isinstance(other, Spread)):
                    return max(a, c), min(b, d)
                found = _common(one.runs(), other.runs())
                if found:
                    return found
    return None


def _common(first: list[Range], second: list[Range]) -> Range | None:
    """The first bytes that two ranges have in common, each of ranges in order."""
    left = iter(second)
    other = next(left, None)
    for begin, end in first:
        while other is not None and other[1] <= begin:
            other = next(left, None)
        if other is not None and other[0] < end:
            return max(begin, other[0]), min(end, other[1])
    return None


def attach(queue: Queue, allocator: Allocator) -> Checker:
    """Start checking a queue: its barriers report to the checker from now on."""
    recorder, checker = queue.recorder, Checker(allocator)

    def listen(function: Any) -> Any:
        def call(commands: Any, *arguments: Any) -> None:
            checker.barrier(commands)
            function(commands, *arguments)

        return call

    recorder.checker = checker
    recorder.barrier = listen(recorder.barrier)
    return checker
