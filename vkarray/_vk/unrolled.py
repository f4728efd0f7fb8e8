"""Loops of a SPIR-V module written out, where their source asks for it and the number of rounds is known.

V3DV of Mesa 25.0 unrolls loops only after it has given memory to arrays whose elements are numbered by them, so elements that
invocations compute side by side would go through memory, not registers. Drivers that unroll loops in time get modules as they are.

Numbers are those of the SPIR-V specification 1.6, section 3.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from ..shaders.module import HEADER_WORDS, instructions
from ..shaders.parsed import Instruction, instruction
from . import spirv

Words = tuple[int, ...]

_NAMES = frozenset((5, 6))  # of identifiers and of members
_FUNCTION, _LOAD, _STORE, _DECORATE, _PHI = 54, 61, 62, 71, 245
_LOOP_MERGE, _LABEL, _BRANCH, _CONDITIONAL = 246, 248, 249, 250
_ADD, _SUBTRACT = 128, 130
_UNROLL = 1  # among the controls of a loop
# How a counter is compared: opcode -> of unsigned numbers, of signed ones.
_COMPARISONS: dict[int, Callable[[int, int], bool]] = {
    171: operator.ne, 172: operator.gt, 174: operator.ge, 176: operator.lt, 178: operator.le,
    173: operator.gt, 175: operator.ge, 177: operator.lt, 179: operator.le,
}  # fmt: skip
_SIGNED = frozenset((173, 175, 177, 179))
# What has more rounds or words when written out stays a loop, and a module of more words stays as it is: compiling takes long.
ROUNDS, LONGEST, LARGEST = 64, 1 << 11, 1 << 15


class _Loop(NamedTuple):
    """A loop that can be written out: what its round consists of, and how often it runs."""

    round: list[Instruction]  # from the first block after the test to the branch back
    rounds: int
    end: int  # where the block after the loop begins


def unrolled(words: Words, name: str, specialization: Mapping[int, int]) -> Words:
    """The module with such loops written out, inner ones first. Names are left out."""
    if len(words) > LARGEST:
        return words
    known = spirv.constants(words, name, specialization)
    ids = itertools.count(words[3])
    origins: dict[int, int] = {}  # of identifiers that are new
    head: list[Words] = []
    bodies: list[list[Instruction]] = []
    for opcode, operands in instructions(words, name):
        one = (len(operands) + 1 << 16 | opcode, *operands)
        if opcode == _FUNCTION:
            bodies.append([])
        if bodies:
            bodies[-1].append(instruction(one))
        elif opcode not in _NAMES:
            head.append(one)
    bodies = [_written_out(body, known, ids, origins) for body in bodies]
    copies: dict[int, list[int]] = {}
    inside = {one.words[one.result] for body in bodies for one in body if one.result}
    for made, origin in origins.items():
        if made in inside:
            copies.setdefault(origin, []).append(made)
    defined = inside | {operand for one in head for operand in one[1:] if one[0] & 0xFFFF != _DECORATE}
    result = list(words[:HEADER_WORDS])
    for one in head:
        if one[0] & 0xFFFF != _DECORATE:
            result += one
        else:
            for target in (one[1], *copies.get(one[1], ())):
                if target in defined:
                    result += (one[0], target, *one[2:])
    for body in bodies:
        for made_one in body:
            result += made_one.words
    result[3] = next(ids)
    return tuple(result)


def _written_out(
    body: list[Instruction], known: Mapping[int, int], ids: Iterator[int], origins: dict[int, int]
) -> list[Instruction]:  # fmt: skip
    """A function whose loops are written out, where they can be."""
    place = len(body)
    while place:  # from the end, so that inner loops come first
        place -= 1
        if body[place].opcode != _LOOP_MERGE or not body[place].words[3] & _UNROLL:
            continue
        found = _loop(body, place, known)
        if found is None:
            continue
        results = [one.words[one.result] for one in found.round if one.result]
        rounds = [found.round]
        for _ in range(1, found.rounds):
            renamed = {one: next(ids) for one in results}
            origins.update((new, origins.get(old, old)) for old, new in renamed.items())
            rounds.append([_renamed(one, renamed) for one in found.round])
        rounds = rounds[: found.rounds]
        entries = [*(one[0].words[1] for one in rounds), body[found.end].words[1]]
        made = [instruction((2 << 16 | _BRANCH, entries[0]))]
        for one, after in zip(rounds, entries[1:], strict=True):
            made += one[:-1]
            made.append(instruction((2 << 16 | _BRANCH, after)))
        body = [*body[:place], *made, *body[found.end :]]
    return body


def _renamed(one: Instruction, renamed: Mapping[int, int]) -> Instruction:
    words = list(one.words)
    for place in one.identifiers:
        words[place] = renamed.get(words[place], words[place])
    return Instruction(tuple(words), one.identifiers, one.result)


def _loop(body: list[Instruction], place: int, known: Mapping[int, int]) -> _Loop | None:
    """The loop whose merge instruction stands at a place, as the compiler of GLSL writes those of `for`; None for another one."""
    _, merge, continued, _ = body[place].words[:4]
    header = body[place - 1].words
    # header: merge and branch. test: load, compare, branch.
    begins = [one.opcode for one in body[place - 1 : place + 4]]
    if begins != [_LABEL, _LOOP_MERGE, _BRANCH, _LABEL, _LOAD]:
        return None
    load, compare, test = body[place + 3 : place + 6]
    if compare.opcode not in _COMPARISONS or test.opcode != _CONDITIONAL or test.words[1] != compare.words[2]:
        return None
    counter, limit = load.words[3], known.get(compare.words[4])
    if compare.words[3] != load.words[2] or limit is None or test.words[3] != merge:
        return None
    first = place + 6
    end = next(
        (at for at in range(first, len(body)) if body[at].opcode == _LABEL and body[at].words[1] == merge), first
    )
    inside = body[first:end]
    if not inside or inside[0].words[:2] != (2 << 16 | _LABEL, test.words[2]):
        return None
    step = _step(inside[-5:], continued, counter, header[1], known)
    start = _start(body[: place - 1], counter, known)
    if step is None or start is None or not _is_closed(body, place, end, counter, continued):
        return None
    rounds = _rounds(start, step, compare.opcode, limit)
    if rounds is None or rounds * sum(len(one.words) for one in inside) > LONGEST:
        return None
    return _Loop(inside, rounds, end)


def _step(last: list[Instruction], continued: int, counter: int, header: int, known: Mapping[int, int]) -> int | None:
    """What the block that goes on adds to the counter, which is all that it does."""
    if [one.opcode for one in last] not in ([_LABEL, _LOAD, made, _STORE, _BRANCH] for made in (_ADD, _SUBTRACT)):
        return None
    label, load, made, store, branch = (one.words for one in last)
    if (label[1], load[3], store[1:3], branch[1]) != (continued, counter, (counter, made[2]), header):
        return None
    step = known.get(made[4])
    if made[3] != load[2] or step is None:
        return None
    return -step if last[2].opcode == _SUBTRACT else step


def _start(before: list[Instruction], counter: int, known: Mapping[int, int]) -> int | None:
    """What the counter is when the loop begins: it is stored in the block before it."""
    for one in reversed(before):
        if one.opcode == _LABEL:
            return None
        if one.opcode == _STORE and one.words[1] == counter:
            return known.get(one.words[2])
    return None


def _is_closed(body: list[Instruction], place: int, end: int, counter: int, continued: int) -> bool:
    """Whether the loop is left by its test alone, nothing else changes its counter, and nothing of it is used outside."""
    merge, header = body[place].words[1], body[place - 1].words[1]
    region = body[place + 2 : end]
    own = {one.words[one.result] for one in region if one.result}
    goes_on = 0
    for at, one in enumerate(body):
        used = [one.words[k] for k in one.identifiers if k != one.result]
        if not place - 1 <= at < end:
            if any(operand in own for operand in used):
                return False
        elif at > place + 5:
            if merge in used:
                return False
            if counter in used and one.opcode != _LOAD and at != end - 2:
                return False
            goes_on += continued in used
            if continued in used and one.opcode != _BRANCH:
                return False
    return goes_on == 1 and not any(
        one.opcode == _PHI and (header in one.words[3:] or body[place + 2].words[1] in one.words[3:]) for one in body
    )


def _rounds(start: int, step: int, comparison: int, limit: int) -> int | None:
    """How often a loop runs; None for too often."""

    def number(value: int) -> int:
        value &= 0xFFFFFFFF
        return value - (1 << 32) if comparison in _SIGNED and value >> 31 else value

    compare, rounds, limit = _COMPARISONS[comparison], 0, number(limit)
    while compare(number(start), limit):
        start, rounds = start + step, rounds + 1
        if rounds > ROUNDS:
            return None
    return rounds
