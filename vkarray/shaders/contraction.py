"""Contraction: a product and the sum that it goes into are rounded once, by a fused multiply-add.

Functions of the library forbid drivers to contract, since results are to have the same bits wherever they are computed. Where the
user allows it (the switch `contract`), a product whose only use is a sum becomes one instruction with it, and operations that are
nothing but a product or a sum may be contracted by the driver. Sums and differences alone stay as they are, so errors that are
computed without an error of their own (Dekker's and Knuth's sums) still are: their products are used twice or exact.

Numbers are those of the SPIR-V specification 1.6, section 3, and of the extended instructions for GLSL.
"""

from __future__ import annotations

import collections
import struct
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .link import Linker
    from .parsed import Words

_IMPORT, _EXTENDED, _FLOAT, _CALL = 11, 12, 22, 57
_NEGATE, _ADD, _SUBTRACT, _MULTIPLY = 127, 129, 131, 133
_ARITHMETIC = frozenset((_EXTENDED, _CALL, *range(_NEGATE, 149)))
_NO_CONTRACTION = 42  # the decoration
_FUSED = 50  # GLSL.std.450's fma
_SET = (*struct.unpack("<4I", b"GLSL.std.450\0\0\0\0"),)


def contract(linker: Linker) -> None:
    """Contract the functions that a linker has taken."""
    floats = {words[1] for words in _globals(linker) if words[0] & 0xFFFF == _FLOAT and words[2] in (32, 64)}
    free: set[int] = set()  # results that drivers may contract
    for place, function in enumerate(linker.functions):
        instructions = list(_instructions(function))
        arithmetic = [one for one in instructions if one[0] & 0xFFFF in _ARITHMETIC]
        if len(arithmetic) == 1 and arithmetic[0][0] & 0xFFFF in (_ADD, _SUBTRACT, _MULTIPLY):
            free.add(arithmetic[0][2])
        else:
            linker.functions[place] = _fused(linker, instructions, floats, free)
    linker.decorations = [
        words for words in linker.decorations if words[2] != _NO_CONTRACTION or words[1] not in free
    ]  # fmt: skip


def _fused(linker: Linker, instructions: list[Words], floats: set[int], free: set[int]) -> list[int]:
    """A function whose products are fused with the sums that they go into. What is left without a use, drivers drop."""
    # Numbers count as uses too: that forbids, at worst.
    uses = collections.Counter(word for one in instructions for word in one[1:])
    products = {
        one[2]: one for one in instructions if one[0] & 0xFFFF == _MULTIPLY and one[1] in floats and uses[one[2]] == 2
    }  # fmt: skip
    code: list[int] = []
    for one in instructions:
        opcode = one[0] & 0xFFFF
        place = next((at for at in (3, 4) if one[at] in products), 0) if opcode in (_ADD, _SUBTRACT) else 0
        if not place:
            code += one
            continue
        _, kind, _, left, right = products.pop(one[place])
        other = one[7 - place]
        if opcode == _SUBTRACT:  # product - other, or other - product
            negated = linker.new()
            code += (4 << 16 | _NEGATE, kind, negated, other if place == 3 else left)
            left, other = (left, negated) if place == 3 else (negated, other)
        code += (8 << 16 | _EXTENDED, kind, one[2], _instruction_set(linker), _FUSED, left, right, other)
        free.add(one[2])
    return code


def _instructions(function: Sequence[int]) -> Iterator[Words]:
    place = 0
    while place < len(function):
        after = place + (function[place] >> 16)
        yield tuple(function[place:after])
        place = after


def _globals(linker: Linker) -> Iterator[Words]:
    """The types and imports of the linked module."""
    yield from (one.words for one in linker.shell.globals.values())
    yield from linker.globals


def _instruction_set(linker: Linker) -> int:
    """The identifier of GLSL's extended instructions."""
    for words in _globals(linker):
        if words[0] & 0xFFFF == _IMPORT and words[2:] == _SET:
            return words[1]
    made = linker.new()
    linker.globals.append(((len(_SET) + 2) << 16 | _IMPORT, made, *_SET))
    return made
