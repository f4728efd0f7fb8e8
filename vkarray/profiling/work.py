"""How much work a dispatch is: bytes that it reads and writes, and operations on floating-point numbers where these are known."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..core.array import VkArray, storage_itemsize

if TYPE_CHECKING:
    from .._vk import Kernel

Numbers = Callable[[str], int]


def bytes_of(buffers: Sequence[Any], known: Mapping[int, int]) -> int:
    """The bytes of some memory, each piece once: of arrays of the call those of their elements, of all else the whole."""
    return sum({id(one): known.get(id(one), one.nbytes) for one in buffers}.values())


def sizes(values: Sequence[Any]) -> dict[int, int]:
    """By the identity of its memory, the bytes of the elements of each array, without repeated ones."""
    found: dict[int, int] = {}
    for value in values:
        if type(value) is VkArray:
            elements = 1
            for size, stride in zip(value._shape, value._strides, strict=True):
                elements *= size if stride else min(size, 1)
            memory = value._buffer
            nbytes = found.get(id(memory), 0) + elements * storage_itemsize(value._dtype, value._device)
            found[id(memory)] = min(nbytes, memory.nbytes)
    return found


# The fields of the block of arguments by which kernels are known, what is not among them, and the operations of a dispatch.
_PRODUCTS: tuple[tuple[frozenset[str], Callable[[Numbers], int]], ...] = (
    (frozenset(("m", "n", "k", "count")), lambda number: 2 * number("m") * number("n") * number("k") * number("count")),
    (frozenset(("a", "b", "r", "a_k", "b_k", "k", "count")), lambda number: 2 * number("k") * number("count")),
)
_ELEMENTWISE = frozenset(("a", "r", "first", "count"))


def operations_of(kernel: Kernel, block: bytes) -> int | None:
    """The operations of a dispatch with these arguments: of products, and one for each element of elementwise kernels."""
    fields = {field.name: field for field in kernel.arguments.fields}

    def number(name: str) -> int:
        found: int = struct.unpack_from(f"<{fields[name].form}", block, fields[name].offset)[0]
        return found

    names = frozenset(fields)
    for needed, count in _PRODUCTS:
        if needed <= names and "packs" not in names:
            return count(number) * (4 if "complex" in kernel.name else 1)
    if names >= _ELEMENTWISE and not kernel.name.startswith("copy"):
        return number("count") - number("first")
    return None
