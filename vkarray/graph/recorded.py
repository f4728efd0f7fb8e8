"""The dispatches of a program as one replay: intermediate values in an arena, and barriers where they are needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .._vk.call import Call, Elements, Part
from ..core import layout
from ..kernels.plan import Plan, Step
from .arena import Life, arrange, rounded

if TYPE_CHECKING:
    from .._vk import Buffer

ALL = 1 << 62  # bytes of arguments: more than there are


class _Touched(NamedTuple):
    """What a dispatch reads or writes: a part of memory, or of it but a box of the plan's buffer with a number."""

    part: Part
    buffer: int = -1
    box: layout.Box | None = None

    @property
    def elements(self) -> Elements | None:
        """The box in bytes."""
        if self.box is None:
            return None
        offset, shape, strides, itemsize = self.box
        return Elements(offset * itemsize, shape, tuple(step * itemsize for step in strides), itemsize)


class Recorded:
    """A plan that is recorded once. Memory is numbered anew: arguments, results, the arena, the check of values, constants."""

    def __init__(
        self, plan: Plan, results: Sequence[tuple[int, int]], limits: Mapping[int, tuple[int, int]], status: Buffer | None
    ) -> None:  # fmt: skip
        """Of each result the number of its buffer and a distance are given, of numbers the least and the greatest value.

        `status` is memory of a check of values.
        """
        self.device, self.limits, self.results = plan.device, limits, results
        self.converters, self.constants, self.checked = plan.scalars, plan.constants, plan.checked
        self.arguments = plan.first_new
        values, kept = _lives(plan)
        self.arena = arrange(values, kept)
        self.kept = {life.number: place for place, life in enumerate(kept, self.arguments)}
        self.sizes = [life.nbytes for life in kept]
        self.peak_bytes = sum(map(rounded, self.sizes)) + self.arena.nbytes
        arena = self.arguments + len(kept)
        check = arena + bool(self.arena.nbytes)
        self.moving = check + self.checked
        # By the plan's numbers of buffers, where each is: in which memory, its first byte and its end there.
        parts: dict[int, Part] = {number: (number, 0, ALL) for number in range(self.arguments)}
        parts |= {life.number: (self.kept[life.number], 0, life.nbytes) for life in kept}
        for life in values:
            result, offset = self.arena.places[life.number]
            parts[life.number] = (arena if result is None else self.kept[result], offset, offset + life.nbytes)
        if status is not None:
            parts[plan.last] = (check, 0, status.nbytes)
        first = plan.last + self.checked
        parts |= {first + place: (self.moving + place, 0, one.nbytes) for place, one in enumerate(self.constants)}
        self.replay = plan.device.replay(self._calls(plan.steps, parts), self.moving)

    def _calls(self, steps: Sequence[Step], parts: Mapping[int, Part]) -> list[Call]:
        calls = []
        written: list[_Touched] = []  # since the last barrier
        read: list[_Touched] = []
        for step in steps:
            reads = [_Touched(parts[number]) for number in step.reads]
            writes = [_Touched(parts[number], number, box) for number, box in zip(step.writes, step.boxes, strict=True)]
            ordered = _meet(written, [*reads, *writes]) or _meet(read, writes)
            if ordered:
                written, read = [], []
            written += writes
            read += reads
            calls.append(self._call(step, ordered, reads, writes, parts))
        return calls

    def _call(
        self, step: Step, ordered: bool, reads: Sequence[_Touched], writes: Sequence[_Touched], parts: Mapping[int, Part]
    ) -> Call:  # fmt: skip
        values, addresses = list(step.values), []
        for at, number, distance in step.addresses:
            memory, offset, _ = parts[number]
            if memory < self.moving:
                addresses.append((step.offsets[at], memory, offset + distance))
            else:
                values[at] = self.constants[memory - self.moving].address + distance
        for at, _ in step.scalars:
            values[at] = b""
        bindings = []
        for place, number, distance, nbytes in step.bindings:
            memory, offset, _ = parts[number]
            bindings.append((place, memory, offset + distance, nbytes))
        numbers = tuple((step.offsets[at], which) for at, which in step.scalars)
        return Call(
            step.kernel, step.pack(*values), step.groups, ordered, tuple(one.part for one in reads),
            tuple(one.part for one in writes), tuple(addresses), numbers, tuple(bindings), tuple(one.elements for one in writes),
        )  # fmt: skip

    def __call__(
        self, buffers: Sequence[Any], addresses: Sequence[int], scalars: Sequence[Any], status: Buffer | None
    ) -> list[tuple[Any, int]]:
        """Do all for other arguments. Returns buffer and first byte in it of each result.

        What converting a scalar raises comes first, as does OverflowError for an integer beyond its limits.
        """
        for argument, (low, high) in self.limits.items():
            if not low <= scalars[argument] <= high:
                raise OverflowError
        numbers = [convert(scalars[argument]) for argument, convert in self.converters]
        allocate = self.device.allocate
        # The arena comes last: then it mostly lies where the last call had it, and its addresses are there already.
        new = [allocate(nbytes) for nbytes in self.sizes]
        if self.arena.nbytes:
            new.append(allocate(self.arena.nbytes))
        if status is not None:
            new.append(status)
        self.replay.run([*buffers, *new, *self.constants], [*addresses, *[one.address for one in new]], numbers)
        found = []
        for number, distance in self.results:
            if number < self.arguments:
                found.append((buffers[number], addresses[number] - buffers[number].address + distance))
            else:
                found.append((new[self.kept[number] - self.arguments], distance))
        return found


def _lives(plan: Plan) -> tuple[list[Life], list[Life]]:
    """The plan's new buffers that end with it, and those that results keep: when each is used."""
    last = {number: place for place, step in enumerate(plan.steps) for number in step.drops}
    values: list[Life] = []
    kept = [Life(number, nbytes, len(plan.steps), len(plan.steps)) for number, nbytes in plan.unwritten]
    for place, step in enumerate(plan.steps):
        for number, nbytes in step.takes:
            life = Life(number, nbytes, place, last.get(number, len(plan.steps)))
            (values if number in last else kept).append(life)
    return values, kept


def _meet(some: Sequence[_Touched], others: Sequence[_Touched]) -> bool:
    """Whether some of what is touched is touched by others, too."""
    return any(_overlap(one, other) for one in some for other in others)


def _overlap(one: _Touched, other: _Touched) -> bool:
    (memory, begin, end), (same, first, after) = one.part, other.part
    if memory != same or begin >= after or first >= end:
        return False
    known = one.box is not None and other.box is not None and one.buffer == other.buffer
    return not (known and layout.apart(one.box, other.box))  # type: ignore[arg-type]
