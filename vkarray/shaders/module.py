"""The physical layout of a SPIR-V module: a header and instructions, and whether a module is whole.

Numbers are those of the SPIR-V specification 1.6, sections 2.3 and 3.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterator

from ..errors import ShaderError

MAGIC, HEADER_WORDS = 0x07230203, 5
DEBUGGING = frozenset({3, 4, 7, 8, 330})  # opcodes of sources, texts and lines, which no computation needs
_DAMAGED = "the SPIR-V module is cut off or damaged"
_ENTRY_POINT, _FUNCTION, _FUNCTION_END, _FUNCTION_CALL = 15, 54, 56, 57
# Opcodes without a result, and types, whose result comes first. All others have a type and then a result.
_NO_RESULT = frozenset(
    (0, 2, 3, 4, 5, 6, 7, 8, 10, 14, 15, 16, 17, 39, 56, 62, 63, 64, 71, 72, 74, 75, 99, 224, 225, 228, 246, 247, 249, 250, 251,
     252, 253, 254, 255, 256, 257, 317, 330, 331, 332, 4458)
)  # fmt: skip
_RESULT_FIRST = frozenset((1, 7, 11, 73, 248, *range(19, 39), 4456))


def words_of(spirv: bytes, name: str) -> tuple[int, ...]:
    """The words of a whole module; raises ShaderError for other bytes, and for a module that is cut off or damaged."""
    words, fault = _read(spirv)
    if fault:
        raise _error(name, fault)
    return words


def is_whole(spirv: bytes) -> bool:
    """Whether the bytes are a module that reads to its end."""
    return not _read(spirv)[1]


@functools.lru_cache(maxsize=4)  # a module is read where it is found, and again where a kernel is made of it
def _read(spirv: bytes) -> tuple[tuple[int, ...], str]:
    """The words of a module, and what is wrong with it."""
    if len(spirv) < 4 * HEADER_WORDS or len(spirv) % 4 or spirv[:4] != MAGIC.to_bytes(4, "little"):
        about = f"little-endian words that begin with {MAGIC:#x}"
        return (), f"got {len(spirv)} bytes that are not a SPIR-V module ({about})"
    words = struct.unpack(f"<{len(spirv) // 4}I", spirv)
    return words, _fault(words)


def instructions(words: tuple[int, ...], name: str) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Opcode and operands of each instruction."""
    position = HEADER_WORDS
    while position < len(words):
        count, opcode = words[position] >> 16, words[position] & 0xFFFF
        if not count or position + count > len(words):
            raise _error(name, f"{_DAMAGED} at word {position}")
        yield opcode, words[position + 1 : position + count]
        position += count


@functools.cache
def result_place(first: int) -> int:
    """Where the result of an instruction stands that begins with this word, or 0."""
    opcode = first & 0xFFFF
    return 0 if opcode in _NO_RESULT else 1 if opcode in _RESULT_FIRST else 2


def _fault(words: tuple[int, ...]) -> str:
    """Nothing if the instructions end with a function, and all that are entered and called are there."""
    position, end, opcode = HEADER_WORDS, len(words), 0
    needed, defined = set(), set()
    entered = inside = False
    try:
        while position < end:
            word = words[position]
            opcode = word & 0xFFFF
            if opcode == _FUNCTION:
                if inside:
                    return f"{_DAMAGED} at word {position}, where a function begins inside another one"
                inside = True
                defined.add(words[position + 2])
            elif opcode == _FUNCTION_END:
                inside = False
            elif opcode == _FUNCTION_CALL:
                needed.add(words[position + 3])
            elif opcode == _ENTRY_POINT:
                entered = True
                needed.add(words[position + 2])
            if word < 1 << 16:  # its length is 0
                return f"{_DAMAGED} at word {position}"
            position += word >> 16
    except IndexError:
        position = end + 1
    if position != end:
        return f"{_DAMAGED} in its last instruction"
    if not entered:
        return "the SPIR-V module has no entry point"
    if opcode != _FUNCTION_END or needed - defined:
        return f"{_DAMAGED} at its end: functions are missing"
    return ""


def _error(name: str, fault: str) -> ShaderError:
    return ShaderError(f"Kernel {name}: {fault}; compile the source again.")
