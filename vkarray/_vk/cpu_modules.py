"""What drivers of CPUs get of a SPIR-V module: arguments at a place that they do not know.

Numbers are those of the SPIR-V specification 1.6, section 3.
"""

from __future__ import annotations

import itertools

from ..shaders.module import HEADER_WORDS, instructions
from .fields import RANGE

Words = tuple[int, ...]

_UNIFORM, _PUSH_CONSTANT = 2, 9
_BLOCK, _ARRAY_STRIDE, _OFFSET = 2, 6, 35
_LISTS_VARIABLES = 0x10400  # the version from which an entry point names all that it uses
_INTEGER, _ARRAY, _STRUCTURE, _POINTER, _CONSTANT = 21, 28, 30, 32, 43
_ENTRY_POINT, _FUNCTION = 15, 54
_VARIABLE, _LOAD, _ACCESS_CHAIN, _DECORATE, _MEMBER_DECORATE = 59, 61, 65, 71, 72
_ACCESS_CHAINS = frozenset((_ACCESS_CHAIN, 66))


def behind_push_constant(words: Words, name: str) -> Words:
    """The module with its block of arguments as the one element of an array, at an index that is a push constant: always 0.

    Mesa reads a uniform buffer once for all invocations where the place is the same for all, in branches too and after some
    have left. But what it reads at a constant place and branches on, it takes for a constant: it would compile the kernel anew
    for each value. A place that a push constant decides is the same for all, and the compiler does not know it.
    """
    pointers: dict[int, int] = {}  # to what
    for opcode, operands in instructions(words, name):
        if opcode == _FUNCTION:  # declarations are over
            break
        if opcode == _POINTER:
            pointers[operands[0]] = operands[2]
        elif opcode == _VARIABLE and operands[2] == _UNIFORM:
            structure, variable = pointers[operands[0]], operands[1]
        elif opcode == _INTEGER and operands[1:] == (32, 0):
            word = operands[0]
    ids = itertools.count(words[3])
    zero, one, array, block, pointer, index_block, index_pointer, index, member = itertools.islice(ids, 9)
    decorations = (
        (_DECORATE, array, _ARRAY_STRIDE, RANGE),
        *((_DECORATE, made, _BLOCK) for made in (block, index_block)),
        *((_MEMBER_DECORATE, made, 0, _OFFSET, 0) for made in (block, index_block)),
    )
    declarations = (
        *((_CONSTANT, word, made, number) for made, number in ((zero, 0), (one, 1))),
        (_ARRAY, array, structure, one),
        (_STRUCTURE, block, array),
        (_POINTER, pointer, _UNIFORM, block),
        (_VARIABLE, pointer, variable, _UNIFORM),
        (_STRUCTURE, index_block, word),
        (_POINTER, index_pointer, _PUSH_CONSTANT, index_block),
        (_POINTER, member, _PUSH_CONSTANT, word),
        (_VARIABLE, index_pointer, index, _PUSH_CONSTANT),
    )
    place = taken = HEADER_WORDS  # words from `taken` on are not in the body yet
    body: list[int] = []
    is_declared = False
    while place < len(words):
        first = words[place]
        opcode, after = first & 0xFFFF, place + (first >> 16)
        new: tuple[Words, ...] | None = None  # what comes in place of this instruction
        if opcode == _ENTRY_POINT and words[1] >= _LISTS_VARIABLES:
            new = ((opcode, *words[place + 1 : after], index),)
        elif opcode == _DECORATE and words[place + 1 : after] == (structure, _BLOCK):
            new = decorations
        elif opcode == _VARIABLE and words[place + 2] == variable:
            new = ()
        elif opcode == _FUNCTION and not is_declared:
            new, is_declared = (*declarations, (opcode, *words[place + 1 : after])), True
        elif opcode in _ACCESS_CHAINS and words[place + 3] == variable:
            found, value = next(ids), next(ids)
            chain = (opcode, *words[place + 1 : place + 4], zero, value, *words[place + 4 : after])
            new = (_ACCESS_CHAIN, member, found, index, zero), (_LOAD, word, value, found), chain
        if new is not None:
            body += words[taken:place]
            for operation, *after_it in new:
                body += (len(after_it) + 1 << 16 | operation, *after_it)
            taken = after
        place = after
    return (*words[:3], next(ids), words[4], *body, *words[taken:])
