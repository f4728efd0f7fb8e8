"""Plans: the dispatches of a call, repeated for other arguments of the same signature without the code that decided on them.

One call is watched. Since a dispatch names its arguments, the plan knows which fields are memory of the call's arguments, memory
that the call took, or scalars that the caller gave; all other fields are constant. A scalar is given to the watched call as a
`Token`, which notes when code decides by its value: then the value is part of the signature.

What a plan cannot repeat (values read by the host, copies, memory that calls share being written) leaves a call without one.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .._vk.fields import Field
from .._vk.pointer import Pointer
from .._vk.prepared import Prepared
from .._vk.watch import Watch
from ..core import dtypes
from ..core.array import VkArray
from ..core.layout import Box
from ..core.tokens import Token
from .dispatch import Dispatch, Number, packed, pointer
from .scalars import Scalar, scalar_bytes

if TYPE_CHECKING:
    from .._vk import Buffer, Device, Kernel

STEPS = 4096  # longer sequences are worth their Python code


class Refused(Exception):
    """A plan cannot repeat a call; the text says why."""


class WritesShared(Refused):
    """The same, since it writes to memory that calls share."""


# -- making a plan --------------------------------------------------------------------------------------------------------------


class Step(NamedTuple):
    """One dispatch. Its arguments are packed from `values`, which begin at `offsets`; of these some are addresses (place, buffer,
    distance) and some are scalars (place, which of the plan's). Buffers have numbers."""

    kernel: Kernel
    pack: Callable[..., bytes]
    values: list[Any]
    offsets: tuple[int, ...]
    addresses: tuple[tuple[int, int, int], ...]
    scalars: tuple[tuple[int, int], ...]
    groups: tuple[int, int, int]
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    boxes: tuple[Box | None, ...]  # which elements it writes of each at most, where that is known
    bindings: tuple[tuple[int, int, int, int], ...]
    takes: tuple[tuple[int, int], ...]  # new buffers that it is the first to use, and their bytes
    drops: tuple[int, ...]  # new buffers that it is the last to use
    block: bytes  # its arguments when it was watched


class _Slot(NamedTuple):
    """A number among the arguments of a dispatch that is another one in another call: where its bytes are."""

    offset: int
    form: str
    value: Any


def _slots(what: Dispatch) -> Iterator[_Slot]:
    """The addresses and the scalars of the caller among the arguments of a dispatch, in order."""
    for field in what.kernel.arguments.fields:
        yield from _slots_of(what.fields[field.name], field, field.offset)


def _slots_of(value: Any, field: Field, offset: int) -> Iterator[_Slot]:
    if isinstance(value, (VkArray, Pointer)):
        yield _Slot(offset, "Q", pointer(value) if isinstance(value, VkArray) else value)
    elif isinstance(value, Token):
        yield _Slot(offset, field.form, value)
    elif isinstance(value, (Scalar, Number)):
        if isinstance(value.value, Token):
            form = "8s" if isinstance(value, Scalar) else f"{value.form}{8 - struct.calcsize(f'<{value.form}')}x"
            yield _Slot(offset, form, value)
    elif isinstance(value, (tuple, list)):
        size = struct.calcsize(f"<{field.form}")
        for one in value:
            yield from _slots_of(one, field, offset)
            offset += 8 if size == 4 and isinstance(one, (VkArray, Pointer)) else size


def _converter(slot: _Slot) -> Callable[[Any], bytes]:
    """How a scalar becomes the bytes of a slot."""
    if not isinstance(slot.value, Scalar):
        return struct.Struct(f"<{slot.form}").pack
    dtype, device = slot.value._dtype, slot.value._device

    def convert(value: Any) -> bytes:
        return scalar_bytes(value, dtype, device).ljust(8, b"\0")

    form = {dtypes.float32: "<f4x", dtypes.float64: "<d", dtypes.int32: "<i4x", dtypes.int64: "<q"}.get(dtype)
    if form is None:
        return convert
    pack = struct.Struct(form).pack

    def packed(value: Any) -> bytes:
        try:
            return pack(value)
        except (OverflowError, struct.error):  # an infinity, or an error in other words
            return convert(value)

    return packed


class Plan:
    """The dispatches of a signature. Buffers have numbers: those of arguments, new ones, the check of values, constant ones."""

    __slots__ = (
        "checked",
        "constants",
        "device",
        "first_new",
        "given",
        "last",
        "numbers",
        "scalars",
        "sizes",
        "steps",
        "unwritten",
    )

    def __init__(self, watch: Watch, device: Device, given: Sequence[Pointer], status: Buffer | None) -> None:
        """A plan of what was seen. `given` are the places of the call's arrays, `status` is the memory of a check of values.

        Raises Refused where the plan would not do what the call does.
        """
        if watch.reason is not None:
            raise Refused(watch.reason)
        if len(watch.dispatches) > STEPS:
            raise Refused(f"it makes more than {STEPS} dispatches")
        devices = {what.kernel.device for what in watch.dispatches}
        devices |= {buffer.device for buffer in [*(one.buffer for one in given), *watch.allocated]}
        if devices - {device}:
            raise Refused("it has arrays of several devices")
        self.device, self.given = device, given
        self.numbers: dict[int, int] = {}
        for number, buffer in enumerate([*(one.buffer for one in given), *watch.allocated]):
            self.numbers.setdefault(id(buffer), number)
        self.first_new = len(given)
        self.sizes = [buffer.nbytes for buffer in watch.allocated]
        self.last = self.first_new + len(self.sizes)
        self.checked = status is not None and any(status in what.writes for what in watch.dispatches)
        if self.checked:
            self.numbers[id(status)] = self.last
        self.constants: list[Buffer] = []
        self.scalars: list[tuple[int, Callable[[Any], bytes]]] = []  # which argument, and how it is converted
        self.unwritten: list[tuple[int, int]] = []  # new buffers that no step uses, and their bytes
        steps = [self._step(what) for what in watch.dispatches]
        self.steps = self._with_lives(steps)

    def number(self, buffer: Buffer, *, written: bool = False) -> int:
        """The number of a buffer."""
        first_constant = self.last + self.checked
        number = self.numbers.get(id(buffer), first_constant + len(self.constants))
        if number >= first_constant:
            if written:
                raise WritesShared("it writes to memory that calls share")
            if number == first_constant + len(self.constants):
                self.numbers[id(buffer)] = number
                self.constants.append(buffer)
        return number

    def place(self, where: Pointer) -> tuple[int, int]:
        """The number of a buffer, and how many bytes after its start, or after that of the argument in it, a place is."""
        number = self.number(where.buffer)
        return number, where.offset - (self.given[number].offset if number < self.first_new else 0)

    def _step(self, what: Dispatch) -> Step:
        reads = tuple(self.number(buffer) for buffer in what.reads)
        writes = tuple(self.number(buffer, written=True) for buffer in what.writes)
        block, form, end = packed(what), "<", 0
        values: list[Any] = []
        offsets: list[int] = []
        addresses, scalars = [], []
        for slot in _slots(what):
            offset, slot_form, value = slot
            if offset > end:
                form += f"{offset - end}s"
                values.append(block[end:offset])
                offsets.append(end)
            size = struct.calcsize(f"<{slot_form}")
            end = offset + size
            if isinstance(value, Pointer):
                addresses.append((len(values), *self.place(value)))
                form += "Q"
            else:
                scalars.append((len(values), len(self.scalars)))
                place = (value if isinstance(value, Token) else value.value).place
                self.scalars.append((place, _converter(slot)))
                form += f"{size}s"
            values.append(0)
            offsets.append(offset)
        if end < len(block):
            form += f"{len(block) - end}s"
            values.append(block[end:])
            offsets.append(end)
        bindings = tuple(
            (place, *self.place(Pointer(buffer, offset)), nbytes)
            for place, buffer, offset, nbytes in what.bindings or ()
        )
        known = what.boxes or {}
        boxes = tuple(
            known.get(id(buffer)) if self.first_new <= number < self.last else None
            for buffer, number in zip(what.writes, writes, strict=True)
        )
        return Step(
            what.kernel, struct.Struct(form).pack, values, tuple(offsets), tuple(addresses), tuple(scalars), what.groups,
            reads, writes, boxes, bindings, (), (), block,
        )  # fmt: skip

    def _with_lives(self, steps: list[Step]) -> tuple[Step, ...]:
        """The steps, each with the new buffers that it is the first or the last to use."""
        first: dict[int, int] = {}
        last: dict[int, int] = {}
        for place, step in enumerate(steps):
            for number in (*step.reads, *step.writes):
                if self.first_new <= number < self.last:
                    first.setdefault(number, place)
                    last[number] = place
        return tuple(
            step._replace(
                takes=tuple(
                    (number, self.sizes[number - self.first_new]) for number, at in first.items() if at == place
                ),
                drops=tuple(number for number, at in last.items() if at == place),
            )
            for place, step in enumerate(steps)
        )

    def keep(self, numbers: Sequence[int]) -> None:
        """Let these buffers, which are results, live on. Raises Refused for memory that calls share."""
        if any(number >= self.last for number in numbers):
            raise Refused("a result lies in memory that calls share")
        kept = set(numbers)
        self.steps = tuple(
            step._replace(drops=tuple(number for number in step.drops if number not in kept)) for step in self.steps
        )
        taken = {number for step in self.steps for number, _ in step.takes}
        self.unwritten = [
            (number, self.sizes[number - self.first_new]) for number in kept - taken if number >= self.first_new
        ]

    def memory_of(self, results: Sequence[tuple[int, int]]) -> str:
        """Code of a list of where results lie, for `source`: the buffer of each, and its first byte there.

        Of each result the buffer's number and a distance are given.
        """
        returned = []
        for number, distance in results:
            first = f"p{number} - b{number}.address + {distance}" if number < self.first_new else str(distance)
            returned.append(f"(b{number}, {first})")
        return f"[{', '.join(returned)}]"

    def source(self, returned: str, limits: Mapping[int, tuple[int, int]]) -> tuple[str, dict[str, Any]]:
        """Python code for `run(b, p, s, status, a)`, and the names that it uses.

        It makes the dispatches for other arguments: b are the buffers of the arrays, p the addresses of the arrays, s the scalars,
        a all arguments. It returns what the code `returned` says, where buffers have the names b0, b1 and so on. What
        converting a scalar raises comes before the first dispatch, as does OverflowError for an integer beyond its limits.
        """
        lines = []
        if given := range(self.first_new):
            lines.append(f"{', '.join(f'b{number}' for number in given)}, = b")
            lines.append(f"{', '.join(f'p{number}' for number in given)}, = p")
        if self.checked:
            lines.append(f"b{self.last}, p{self.last} = status, status.address")
        names = self._dispatches(lines, limits)
        lines.append(f"return {returned}")
        return "def run(b, p, s, status=None, a=()):\n    " + "\n    ".join(lines), names

    def source_of_arrays(
        self, looks: Sequence[Any], results: Sequence[int | tuple[int, int, Any] | None],
        form: type,
        limits: Mapping[int, tuple[int, int]],
    ) -> tuple[str, dict[str, Any]]:  # fmt: skip
        """Python code for `run(a, s, status)`, which makes the dispatches for other arrays a, and the names that it uses.

        `looks` are those of the arrays. It returns the results themselves, `in_form`:
        each is an argument by its number, None, or a new array, of which the buffer's number, a distance and the look are given.
        """
        lines = []
        if given := range(self.first_new):
            lines.append(f"{', '.join(f'a{number}' for number in given)}, = a")
        if self.checked:
            lines.append(f"b{self.last}, p{self.last} = status, status.address")
        read = {number for step in self.steps for number in (*step.reads, *step.writes)}
        for number, look in enumerate(looks):
            if number in read:
                lines.append(f"b{number} = a{number}._buffer")
                lines.append(f"p{number} = b{number}.address + a{number}._offset * {look.itemsize}")
        names = self._dispatches(lines, limits)
        names |= {"new": object.__new__, "VkArray": VkArray, "form": form}
        returned = []
        for place, result in enumerate(results):
            if type(result) is not tuple:
                returned.append("None" if result is None else f"a{result}")
                continue
            number, distance, look = result
            buffer, offset = f"b{number}", str(distance // look.itemsize)
            if number < self.first_new:
                own, buffer = looks[number].itemsize, f"a{number}._buffer"
                offset = f"a{number}._offset + {offset}"
                if own != look.itemsize:
                    offset = f"(a{number}._offset * {own} + {distance}) // {look.itemsize}"
            lines.append(f"x{place} = new(VkArray)")
            lines += [f"x{place}._buffer = {buffer}", f"x{place}._offset = {offset}"]
            names[f"_look{place}"] = look
            for name in ("shape", "strides", "dtype", "device", "contiguous"):
                names[f"_{name}{place}"] = getattr(look, name)
            lines += [f"x{place}.{name} = {name}{place}" for name in _FACTS]
            returned.append(f"x{place}")
        lines.append(f"return {in_form(form, returned)}")
        return "def run(a, s, status=None):\n    " + "\n    ".join(lines), names

    def _dispatches(self, lines: list[str], limits: Mapping[int, tuple[int, int]]) -> dict[str, Any]:
        """Add the code that checks and converts scalars, and then makes the dispatches. Returns the names that it uses."""
        queue = self.device.queue
        names: dict[str, Any] = {
            "dispatch": self.device.dispatch,
            "repeat": queue.repeat,
            "allocate": self.device.allocate,
        }
        for argument, (low, high) in limits.items():
            names |= {f"low{argument}": low, f"high{argument}": high}
            lines.append(f"if not low{argument} <= s[{argument}] <= high{argument}: raise OverflowError")
        for place, (argument, convert) in enumerate(self.scalars):
            names[f"convert{place}"] = convert
            lines.append(f"s{place} = convert{place}(s[{argument}])")
        for number, constant in enumerate(self.constants, self.last + self.checked):
            names |= {f"b{number}": constant, f"p{number}": constant.address}

        def take(number: int, nbytes: int) -> None:
            lines.append(f"b{number} = allocate({nbytes}); p{number} = b{number}.address")

        for number, nbytes in self.unwritten:
            take(number, nbytes)
        for place, step in enumerate(self.steps):
            for number, nbytes in step.takes:
                take(number, nbytes)
            names[f"pack{place}"] = step.pack
            values = []
            filled = {
                at: f"p{number} + {distance}" if distance else f"p{number}" for at, number, distance in step.addresses
            }
            filled |= {at: f"s{number}" for at, number in step.scalars}
            for at, value in enumerate(step.values):
                if at not in filled:
                    names[f"c{place}_{at}"] = value
                values.append(filled.get(at, f"c{place}_{at}"))
            block = f"pack{place}({', '.join(values)})"
            memory = f"{_tuple(step.reads)}, {_tuple(step.writes)}"
            bound = "".join(
                f"({at}, b{number}, p{number} - b{number}.address + {distance}, {nbytes}), "
                for at, number, distance, nbytes in step.bindings
            )
            if (prepared := _prepared(step)) is not None:
                names[f"what{place}"] = prepared
                lines.append(f"repeat(what{place}, {block}, {memory})")
            else:
                names[f"kernel{place}"] = step.kernel
                lines.append(f"dispatch(kernel{place}, {block}, {step.groups}, {memory}, ({bound}))")
            if step.drops:
                lines.append(" = ".join(f"b{number}" for number in step.drops) + " = None")
        return names


def in_form(form: type, parts: Sequence[str]) -> str:
    """Code of what a function returns: a tuple or a list of the parts, of a type that is named `form`, or the only one."""
    if not issubclass(form, (tuple, list)):
        return parts[0]
    text = "".join(f"{one}, " for one in parts)
    return f"({text})" if form is tuple else f"[{text}]" if form is list else f"form({text})"


_FACTS = ("_shape", "_strides", "_dtype", "_device", "_look", "_contiguous")  # that all arrays of a look share


def _prepared(step: Step) -> Prepared | None:
    """A step as a dispatch that is prepared; None where memory is bound, or a scalar may say how long it takes."""
    lengths = step.kernel.pace.offsets if step.kernel.pace is not None else ()
    varying = {step.offsets[at] + byte for at, _ in step.scalars for byte in range(8)}
    if step.kernel.bindings or not varying.isdisjoint(lengths):
        return None
    return Prepared(step.kernel, step.groups, step.block)


def _tuple(numbers: Sequence[int]) -> str:
    """Buffers of these numbers as code of a tuple."""
    return f"({''.join(f'b{number}, ' for number in numbers)})"
