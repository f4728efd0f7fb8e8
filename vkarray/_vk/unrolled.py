"""Loops of a SPIR-V module written out, where their source asks for it and the number of rounds is known.

V3DV of Mesa 25.0 unrolls loops only after it has given memory to arrays whose elements are numbered by them, so elements that
invocations compute side by side would go through memory, not registers. Drivers that unroll loops in time get modules as they are.

Numbers are those of the SPIR-V specification 1.6, section 3.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..shaders.module import HEADER_WORDS, instructions
from ..shaders.parsed import Instruction, instruction
from . import known_arguments, spirv

Words = tuple[int, ...]

_NAMES = frozenset((5, 6))  # of identifiers and of members
_ENTRY_POINT, _INTEGER, _FUNCTION = 15, 21, 54
_LOAD, _STORE, _DECORATE, _PHI = 61, 62, 71, 245
_LOOP_MERGE, _LABEL, _BRANCH, _CONDITIONAL = 246, 248, 249, 250
_ADD, _SUBTRACT = 128, 130
_UNROLL = 1  # among the controls of a loop
_COMPARISONS = range(171, 180)  # how a counter is compared, of unsigned and of signed numbers
# Operations on integers of 32 bits of which results are known where both operands are.
_DIVISIONS = frozenset((134, 137))
_KNOWN = frozenset((_ADD, _SUBTRACT, 132)) | _DIVISIONS
# What has more rounds or words when written out stays a loop, and a module that would have more words stays as it is: compiling
# takes long.
ROUNDS, LONGEST, LARGEST = 64, 30_000, 1 << 16
# What the names of kernels have in them with which V3DV of Mesa 25.0 never ends when their loops are written out.
ENDLESS = ("(mixed radices)",)


class _Loop(NamedTuple):
    """A loop that can be written out: what its round consists of, and how often it runs."""

    round: list[Instruction]  # from the first block after the test to the branch back
    counter: int
    values: list[int]  # of the counter, in each round
    end: int  # where the block after the loop begins


def unrolled(words: Words, name: str, specialization: Mapping[int, int]) -> Words:
    """The module with such loops written out, inner ones first. Names are left out, and functions that nothing calls."""
    if any(one in name for one in ENDLESS):
        return words
    known = spirv.constants(words, name, specialization)
    ids = itertools.count(words[3])
    origins: dict[int, int] = {}  # of identifiers that are new
    head: list[Words] = []
    bodies: list[list[Instruction]] = []
    entries: list[int] = []
    integers: set[int] = set()
    for opcode, operands in instructions(words, name):
        one = (len(operands) + 1 << 16 | opcode, *operands)
        if opcode == _FUNCTION:
            bodies.append([])
        if bodies:
            bodies[-1].append(instruction(one))
        elif opcode not in _NAMES:
            head.append(one)
            if opcode == _ENTRY_POINT:
                entries.append(operands[1])
            elif opcode == _INTEGER and operands[1] == 32:
                integers.add(operands[0])
    bodies = known_arguments.specialized(bodies, entries, known, ids, origins)
    bodies = [_function_written_out(body, known, integers, ids, origins) for body in bodies]
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
    return tuple(result) if len(result) <= LARGEST else words


def _results(body: list[Instruction], known: Mapping[int, int], integers: set[int]) -> dict[int, int]:
    """The results of a function's operations on integers that are known."""
    found: dict[int, int] = {}
    for one in body:
        if one.opcode not in _KNOWN or one.words[1] not in integers:
            continue
        first, second = (found.get(operand, known.get(operand)) for operand in one.words[3:5])
        if first is not None and second is not None and (second or one.opcode not in _DIVISIONS):
            found[one.words[2]] = spirv.OPERATIONS[one.opcode](first & 0xFFFFFFFF, second & 0xFFFFFFFF) & 0xFFFFFFFF
    return found


def _function_written_out(
    body: list[Instruction], known: Mapping[int, int], integers: set[int], ids: Iterator[int], origins: dict[int, int]
) -> list[Instruction]:
    """A function whose loops are written out, where they can be: again where loops begin or end at counters of others."""
    known = dict(known)
    before: list[Instruction] = []
    while len(before) != len(body):
        before = body
        known |= _results(body, known, integers)
        body = _written_out(body, known, ids, origins)
    return body


def _written_out(
    body: list[Instruction], known: dict[int, int], ids: Iterator[int], origins: dict[int, int]
) -> list[Instruction]:  # fmt: skip
    """The function with loops written out of which all is known now. What their counters are is known then."""
    place = len(body)
    while place:  # from the end, so that inner loops come first
        place -= 1
        if body[place].opcode != _LOOP_MERGE or not body[place].words[3] & _UNROLL:
            continue
        found = _loop(body, place, known)
        if found is None:
            continue
        rounds = [
            known_arguments.renamed(found.round, {}, ids, origins) if number else found.round
            for number in range(len(found.values))
        ]
        for one, value in zip(rounds, found.values, strict=True):
            known.update(dict.fromkeys(_loaded(one, found.counter), value))
        entries = [*(one[0].words[1] for one in rounds), body[found.end].words[1]]
        made = [instruction((2 << 16 | _BRANCH, entries[0]))]
        for one, after in zip(rounds, entries[1:], strict=True):
            made += one[:-1]
            made.append(instruction((2 << 16 | _BRANCH, after)))
        body = [*body[:place], *made, *body[found.end :]]
    return body


def _loop(body: list[Instruction], place: int, known: Mapping[int, int]) -> _Loop | None:
    """The loop whose merge instruction stands at a place, as the compiler of GLSL writes those of `for`; None for another one."""
    _, merge, continued, _ = body[place].words[:4]
    header = body[place - 1].words
    # header: merge and branch. test: load, perhaps what the limit is made of, compare, branch.
    begins = [one.opcode for one in body[place - 1 : place + 4]]
    if begins != [_LABEL, _LOOP_MERGE, _BRANCH, _LABEL, _LOAD]:
        return None
    load, first = body[place + 3], place + 4
    while body[first].result and body[first].words[body[first].result] in known:
        first += 1
    compare, test = body[first : first + 2]
    if compare.opcode not in _COMPARISONS or test.opcode != _CONDITIONAL or test.words[1] != compare.words[2]:
        return None
    counter, limit = load.words[3], known.get(compare.words[4])
    if compare.words[3] != load.words[2] or limit is None or test.words[3] != merge:
        return None
    first += 2
    end = next(
        (at for at in range(first, len(body)) if body[at].opcode == _LABEL and body[at].words[1] == merge), first
    )
    inside = body[first:end]
    if not inside or inside[0].words[:2] != (2 << 16 | _LABEL, test.words[2]):
        return None
    stored, step = _step(inside, continued, counter, header[1], known)
    start = _start(body[: place - 1], counter, known)
    if step is None or start is None or not _is_closed(body, (place, first, end), counter, continued, first + stored):
        return None
    values = _values(start, step, compare.opcode, limit)
    if values is None or len(values) * sum(len(one.words) for one in inside) > LONGEST:
        return None
    return _Loop(inside, counter, values, end)


def _loaded(body: list[Instruction], variable: int) -> list[int]:
    """What is loaded from a variable until it changes."""
    until = itertools.takewhile(lambda one: not _stores(one, variable), body)
    return [one.words[2] for one in until if one.opcode == _LOAD and one.words[3] == variable]


def _stores(one: Instruction, variable: int) -> bool:
    return one.opcode == _STORE and one.words[1] == variable


def _step(
    inside: list[Instruction], continued: int, counter: int, header: int, known: Mapping[int, int]
) -> tuple[int, int | None]:
    """Where the block that goes on stores the counter, and what it adds to it; None where it does otherwise."""
    begin = max(at for at, one in enumerate(inside) if one.opcode == _LABEL)
    if inside[begin].words[1] != continued or inside[-1].words != (2 << 16 | _BRANCH, header):
        return 0, None
    stores = [at for at in range(begin, len(inside)) if _stores(inside[at], counter)]
    if len(stores) != 1 or stores[0] - begin < 3:
        return 0, None
    load, made = (inside[at].words for at in range(stores[0] - 2, stores[0]))
    step = known.get(made[-1])
    expected = load[0] & 0xFFFF, load[-1], made[-2], inside[stores[0]].words[2]
    if step is None or expected != (_LOAD, counter, load[2], made[2]) or made[0] & 0xFFFF not in (_ADD, _SUBTRACT):
        return 0, None
    return stores[0], -step if made[0] & 0xFFFF == _SUBTRACT else step


def _start(before: list[Instruction], counter: int, known: Mapping[int, int]) -> int | None:
    """What the counter is when the loop begins: it is stored in the block before it."""
    for one in reversed(before):
        if one.opcode == _LABEL:
            return None
        if _stores(one, counter):
            return known.get(one.words[2])
    return None


def _is_closed(
    body: list[Instruction], places: tuple[int, int, int], counter: int, continued: int, stored: int
) -> bool:
    """Whether the loop is left by its test alone, nothing else changes its counter, and nothing of it is used outside."""
    place, first, end = places
    merge, header = body[place].words[1], body[place - 1].words[1]
    own = {one.words[one.result] for one in body[place + 2 : end] if one.result}
    tested = {one.words[one.result] for one in body[place + 2 : first] if one.result}
    goes_on = 0
    for at, one in enumerate(body):
        used = [one.words[k] for k in one.identifiers if k != one.result]
        if not place - 1 <= at < end:
            if any(operand in own for operand in used):
                return False
        elif at >= first:
            if merge in used or any(operand in tested for operand in used):
                return False
            if counter in used and one.opcode != _LOAD and at != stored:
                return False
            goes_on += continued in used
            if continued in used and one.opcode != _BRANCH:
                return False
    return goes_on == 1 and not any(
        one.opcode == _PHI and (header in one.words[3:] or body[place + 2].words[1] in one.words[3:]) for one in body
    )


def _values(start: int, step: int, comparison: int, limit: int) -> list[int] | None:
    """What the counter of a loop is in each round; None for too many."""
    goes_on, values = spirv.OPERATIONS[comparison], []
    while goes_on(value := start & 0xFFFFFFFF, limit & 0xFFFFFFFF):
        values.append(value)
        start += step
        if len(values) > ROUNDS:
            return None
    return values
