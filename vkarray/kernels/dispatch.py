"""A dispatch as data, and the one way that dispatches take to a device.

A kernel names its arguments: the fields of the block that its SPIR-V declares. A field is a number, or an array (a buffer and
an offset); bytes exist only when a dispatch is handed to the queue. What a kernel reads and writes follows from the arrays among
its fields.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .._vk.fields import Field
from .._vk.pointer import Pointer
from .._vk.watch import current, watches
from ..core.array import VkArray, storage_itemsize
from ..core.dtypes import DType
from ..core.layout import Box
from ..core.tokens import plain
from .scalars import Scalar
from .texels import Binding

if TYPE_CHECKING:
    from .._vk import Buffer, Kernel


_PLACES = (VkArray, Pointer)


class Number(NamedTuple):
    """A number of another type than its field, which holds 64 bits: `form` is how `struct` packs it."""

    value: complex
    form: str

    @property
    def bits(self) -> int:
        """The number as bits."""
        return int.from_bytes(struct.pack(f"<{self.form}", plain(self.value)), "little")


# By name: a number, numbers for an array of them, or a place in device memory, where an array stands for its first element.
Fields = Mapping[str, Any]


class Dispatch(NamedTuple):
    """What a kernel is to do: with which arguments, in how many workgroups, and which memory it reads and writes.

    `boxes` are, by the identity of memory that it writes, which elements it writes there at most, where that is known.
    """

    kernel: Kernel
    fields: Fields
    groups: tuple[int, int, int]
    reads: Sequence[Buffer]
    writes: Sequence[Buffer]
    bindings: Sequence[Binding] | None = None
    boxes: Mapping[int, Box] | None = None


def number(value: float, dtype: DType) -> Number:
    """A number for a field of 64 bits, of the type in which kernels compute with a real one: float32 for float16 and bfloat16."""
    if dtype.category == "real floating":
        return Number(value, "d" if dtype.bits == 64 else "f")
    form = "q" if dtype.bits == 64 else "i"
    return Number(value, form if dtype.category == "signed integer" else form.upper())


def pointer(array: VkArray, elements: int = 0) -> Pointer:
    """The place of an element of an array, counted in memory from its first one."""
    return Pointer(array._buffer, (array._offset + elements) * storage_itemsize(array._dtype, array._device))


def dispatch(
    kernel: Kernel, groups: tuple[int, int, int], fields: Fields, *, writes: Sequence[str],
    bindings: Sequence[Binding] | None = None, also_reads: Sequence[VkArray] = (), also_writes: Sequence[VkArray] = (),
) -> None:  # fmt: skip
    """Hand a dispatch to the device and return: the work is done later, in order wherever memory is shared.

    `fields` are all arguments of the kernel by name; `writes` names the arrays among them that it writes, and it reads the
    others, and what is bound. `also_reads` and `also_writes` is memory that it reaches through addresses in memory. Raises
    TypeError for a field that is missing, unknown, or of another type than the kernel declares.
    """
    reads, written = [one._buffer for one in also_reads], [one._buffer for one in also_writes]
    for name, value in fields.items():
        kind = type(value)
        if kind is VkArray:
            (written if name in writes else reads).append(value._buffer)
        elif kind is Pointer:
            (written if name in writes else reads).append(value.buffer)
        elif kind is tuple or kind is list:
            found = [pointer(one) if type(one) is VkArray else one for one in value if type(one) in _PLACES]
            (written if name in writes else reads).extend([one.buffer for one in found])
    reads += [one.buffer for one in bindings or () if one.buffer not in reads]
    send(Dispatch(kernel, fields, groups, reads, written, bindings))


def send(what: Dispatch) -> None:
    """Hand a dispatch to the device, and show it to who watches this thread."""
    if watches and (watch := current()) is not None:
        watch.add(what)
        if watch.traces:
            return
    kernel = what.kernel
    kernel.device.dispatch(kernel, packed(what), what.groups, what.reads, what.writes, what.bindings)


def packed(what: Dispatch) -> bytes:
    """The block of arguments of a dispatch. Raises TypeError where fields and values do not fit together."""
    arguments, fields = what.kernel.arguments, what.fields
    values: list[Any] = []
    try:
        if len(fields) != len(arguments.fields):
            raise KeyError
        for field in arguments.head:
            value = fields[field.name]
            if type(value) is int:  # as most are
                values.append(value)
            else:
                _numbers(value, field, values)
        if arguments.tail is None:
            return arguments.pack(*values)
        tail: list[Any] = []
        _numbers(fields[arguments.tail.name], arguments.tail._replace(length=0), tail)
        if len(tail) > arguments.tail.length:
            raise ValueError
        return arguments.packed(values, tuple(tail))
    except (KeyError, TypeError, ValueError, struct.error) as error:
        raise TypeError(_fault(what, error)) from None


def _numbers(value: Any, field: Field, values: list[Any]) -> None:
    """Add what `struct` takes for a field to the values."""
    kind = type(value)
    if kind is VkArray or kind is Pointer:
        address = value._address if kind is VkArray else value.address
        values += (address,) if field.form == "Q" else _words(address)
    elif kind is int or kind is float:
        values.append(value)
    elif kind is Number or kind is Scalar:
        values.append(value.bits)
    elif isinstance(value, (int, float)):
        values.append(plain(value))
    else:
        before = len(values)
        for one in value:
            _numbers(one, field, values)
        if field.length and len(values) - before != field.length:
            raise ValueError(f"{field.name} has {field.length} numbers, got {len(values) - before}")


def _words(address: int) -> tuple[int, int]:
    """An address among the words of an array."""
    return struct.unpack("<2i", struct.pack("<Q", address))


def _fault(what: Dispatch, error: Exception) -> str:
    """What is wrong with the fields of a dispatch."""
    arguments, given = what.kernel.arguments, set(what.fields)
    missing, unknown = sorted(arguments.names - given), sorted(given - arguments.names)
    told = [f"no {', '.join(missing)}"] * bool(missing) + [f"unknown {', '.join(unknown)}"] * bool(unknown)
    for field in arguments.fields if not told else ():
        values: list[Any] = []
        try:
            _numbers(what.fields[field.name], field._replace(length=0), values)
            struct.pack(f"<{len(values)}{field.form}", *values)
            if len(values) > field.length or (len(values) < field.length and field != arguments.tail):
                raise ValueError(f"{len(values)} numbers")
        except (TypeError, ValueError, struct.error) as reason:
            told.append(
                f"{field.name}={what.fields[field.name]!r:.80} ({reason}; the shader has {field.length} of {field.form!r})"
            )
    return (
        f"{what.kernel.name}: the arguments do not fit the block that its shader declares: {'; '.join(told) or error}."
    )
