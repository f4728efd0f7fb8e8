"""Reading and amending SPIR-V: the capabilities a module declares."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from ..errors import ShaderError

MAGIC = 0x07230203
HEADER_WORDS = 5
OP_CAPABILITY = 17


def words_of(spirv: bytes, name: str) -> tuple[int, ...]:
    """The words of a module; raises ShaderError when the bytes are not SPIR-V of this machine's byte order."""
    if len(spirv) < 4 * HEADER_WORDS or len(spirv) % 4 or spirv[:4] != MAGIC.to_bytes(4, "little"):
        raise ShaderError(f"kernel {name}: {len(spirv)} bytes that are not a SPIR-V module (little-endian, magic "
                          f"{MAGIC:#x}); compile the source again.")
    return struct.unpack(f"<{len(spirv) // 4}I", spirv)


def instructions(words: tuple[int, ...], name: str) -> Iterator[tuple[int, int, int]]:
    """(opcode, position, word count) of each instruction."""
    position = HEADER_WORDS
    while position < len(words):
        count, opcode = words[position] >> 16, words[position] & 0xFFFF
        if not count or position + count > len(words):
            raise ShaderError(f"kernel {name}: the SPIR-V module is cut off or damaged at word {position}.")
        yield opcode, position, count
        position += count
