"""The physical layout of a SPIR-V module: a header and instructions, and whether a module is whole.

Numbers are those of the SPIR-V specification 1.6, sections 2.3 and 3.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from .errors import ShaderError

MAGIC, HEADER_WORDS = 0x07230203, 5
_ENTRY_POINT, _FUNCTION, _FUNCTION_END, _FUNCTION_CALL = 15, 54, 56, 57


def words_of(spirv: bytes, name: str) -> tuple[int, ...]:
    """The words of a whole module; raises ShaderError for other bytes, and for a module that is cut off or damaged."""
    if len(spirv) < 4 * HEADER_WORDS or len(spirv) % 4 or spirv[:4] != MAGIC.to_bytes(4, "little"):
        raise ShaderError(
            f"Kernel {name}: got {len(spirv)} bytes that are not a SPIR-V module (little-endian words "
            f"that begin with {MAGIC:#x}); compile the source again."
        )
    words = struct.unpack(f"<{len(spirv) // 4}I", spirv)
    _check(words, name)
    return words


def is_whole(spirv: bytes) -> bool:
    """Whether the bytes are a module that reads to its end."""
    try:
        words_of(spirv, "")
    except ShaderError:
        return False
    return True


def instructions(words: tuple[int, ...], name: str) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Opcode and operands of each instruction."""
    position = HEADER_WORDS
    while position < len(words):
        count, opcode = words[position] >> 16, words[position] & 0xFFFF
        if not count or position + count > len(words):
            raise _cut_off(name, f"at word {position}")
        yield opcode, words[position + 1 : position + count]
        position += count


def _check(words: tuple[int, ...], name: str) -> None:
    """Raise ShaderError unless the instructions end with a function, and all that are entered and called are there."""
    position, end, opcode = HEADER_WORDS, len(words), 0
    needed, defined = set(), set()
    entered = inside = False
    try:
        while position < end:
            opcode = words[position] & 0xFFFF
            if opcode == _FUNCTION:
                if inside:
                    raise _cut_off(name, f"at word {position}, where a function begins inside another one")
                inside = True
                defined.add(words[position + 2])
            elif opcode == _FUNCTION_END:
                inside = False
            elif opcode == _FUNCTION_CALL:
                needed.add(words[position + 3])
            elif opcode == _ENTRY_POINT:
                entered = True
                needed.add(words[position + 2])
            count = words[position] >> 16
            if not count:
                raise _cut_off(name, f"at word {position}")
            position += count
    except IndexError:
        position = end + 1
    if position != end:
        raise _cut_off(name, "in its last instruction")
    if not entered:
        raise ShaderError(f"Kernel {name}: the SPIR-V module has no entry point.")
    if opcode != _FUNCTION_END or needed - defined:
        raise _cut_off(name, "at its end: functions are missing")


def _cut_off(name: str, where: str) -> ShaderError:
    return ShaderError(f"Kernel {name}: the SPIR-V module is cut off or damaged {where}; compile the source again.")
