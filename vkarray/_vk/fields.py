"""The block of arguments of a kernel: which fields it has, and how their values become bytes.

A kernel of the library declares it as `layout(set = 1, binding = 0, scalar) uniform Arguments { ... } arguments;`.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

SET, BINDING = 1, 0
RANGE = 1 << 14  # bytes that a dispatch sees: what Vulkan promises


class Field(NamedTuple):
    """A member of the block: its name, where it begins in bytes, and how `struct` packs each of its `length` numbers."""

    name: str
    offset: int
    form: str
    length: int = 1

    @property
    def nbytes(self) -> int:
        """Bytes of all its numbers."""
        return self.length * struct.calcsize(f"<{self.form}")


class Arguments:
    """The fields of a block in their order. The last one may be an array of which only the first numbers are given."""

    __slots__ = ("fields", "head", "names", "nbytes", "pack", "tail")

    def __init__(self, fields: tuple[Field, ...]) -> None:
        self.fields = tuple(sorted(fields, key=lambda field: field.offset))
        self.names = frozenset(field.name for field in fields)
        last = self.fields[-1] if self.fields else None
        self.nbytes = 0 if last is None else last.offset + last.nbytes
        self.tail = last if last is not None and last.length > 1 and last.form != "Q" else None
        self.head = self.fields[:-1] if self.tail else self.fields
        self.pack = struct.Struct(form_of(self.head, self.tail.offset if self.tail else None)).pack

    def packed(self, values: list[Any], tail: tuple[int, ...] = ()) -> bytes:
        """The bytes of the block: `values` are the numbers of all fields but the tail, in order."""
        if not tail:
            return self.pack(*values)
        return self.pack(*values) + struct.pack(f"<{len(tail)}{self.tail.form}", *tail)  # type: ignore[union-attr]


def form_of(fields: tuple[Field, ...], nbytes: int | None = None) -> str:
    """The format, for `struct`, of fields at their places, up to so many bytes."""
    form, end = "<", 0
    for field in fields:
        form += f"{field.offset - end}x{field.length}{field.form}"
        end = field.offset + field.nbytes
    return form if nbytes is None else f"{form}{nbytes - end}x"
