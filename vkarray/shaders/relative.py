"""SPIR-V in a form that compresses three times as well: without names for debugging, and with identifiers as distances.

Modules of one template differ in little but the numbers of their identifiers. Told by how far they lie behind the result that
was made last, as in SMOL-V (Aras Pranckevičius, 2016), these are mostly the same small numbers in all of them.
Opcodes are those of the SPIR-V specification 1.6, section 3.
"""

from __future__ import annotations

import struct

from .module import DEBUGGING, HEADER_WORDS, instructions, words_of

_NAME, _STRUCTURE, _FUNCTION, _LABEL = 5, 30, 54, 248
# Instructions that make a result: all that follows it is told as distances. What is no identifier there, such as the members
# that OpCompositeExtract takes, comes back as it was as well.
_CALCULATIONS = (*range(109, 118), 124, *range(126, 143), 148, *range(154, 192), *range(194, 206))
_MAKING = frozenset({12, _FUNCTION, 55, 57, 59, 61, 65, 79, 80, 81, 245, *_CALCULATIONS})
_USING = frozenset({62, 249, 250, 254})  # stores, branches and returned values
_MASK = 0xFFFFFFFF


def without_names(code: bytes) -> bytes:
    """A module without what is there for debugging alone. Names of functions, structures and members tell what to link and fill.

    Raises ShaderError for what is no module.
    """
    words = words_of(code, "without names")
    every = list(instructions(words, "without names"))
    place = {_FUNCTION: 1, _STRUCTURE: 0}
    named = {operands[place[opcode]] for opcode, operands in every if opcode in place}
    kept = list(words[:HEADER_WORDS])
    for opcode, operands in every:
        if opcode not in DEBUGGING and not (opcode == _NAME and operands[0] not in named):
            kept += (len(operands) + 1 << 16 | opcode, *operands)
    return struct.pack(f"<{len(kept)}I", *kept)


def to_relative(code: bytes) -> bytes:
    """A module with distances. Raises ShaderError for what is no module."""
    return _changed(words_of(code, "with distances"), 1)


def from_relative(code: bytes) -> bytes:
    """The module that `to_relative` was given."""
    return _changed(struct.unpack(f"<{len(code) // 4}I", code), -1)


def _changed(given: tuple[int, ...], direction: int) -> bytes:
    """Identifiers to distances, or back with a direction of -1; `last` is an identifier either way."""
    words, position, end, last = list(given), HEADER_WORDS, len(given), 0
    while position < end:
        opcode, next_position = words[position] & 0xFFFF, position + (words[position] >> 16)
        if opcode in _MAKING or opcode == _LABEL:
            place = position + (1 if opcode == _LABEL else 2)
            result = words[place]
            words[place] = (result - direction * last) & _MASK
            last = result if direction == 1 else words[place]
            first = place + 1
        else:
            first = position + 1 if opcode in _USING else next_position
        for place in range(first, next_position):
            words[place] = (last - words[place]) & _MASK
        position = next_position
    return struct.pack(f"<{end}I", *words)
