"""Functions of a SPIR-V module made anew for calls that give them constants, so that loops over these can be written out.

The compiler of GLSL hands arguments on in variables: a constant is stored in one just before the call, and the function loads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..shaders.parsed import Instruction, instruction

Body = list[Instruction]

_PARAMETER, _CALL, _LOAD, _STORE, _LABEL = 55, 57, 61, 62, 248


def specialized(
    bodies: list[Body], entries: list[int], known: Mapping[int, int], ids: Iterator[int], origins: dict[int, int]
) -> list[Body]:
    """The functions that are reached from entry points, each for the constants that it is called with.

    `known` has the values of constants, `ids` are new identifiers, and `origins` is told of what they were made.
    """
    table = {body[0].words[2]: body for body in bodies}
    constant_parameters = {function: _only_loaded(body) for function, body in table.items()}
    made: dict[tuple[int, tuple[tuple[int, int], ...]], int] = {}
    result, left, seen = [], list(dict.fromkeys(entries)), set(entries)
    while left:
        body = list(table[left.pop()])
        for place, one in enumerate(body):
            if one.opcode != _CALL:
                continue
            callee, given = one.words[3], one.words[4:]
            bound: list[tuple[int, int]] = []
            for number in constant_parameters[callee]:
                constant = _stored(body, place, given[number])
                if constant is not None and constant in known:
                    bound.append((number, constant))
            if bound:
                key = callee, tuple(bound)
                if key not in made:
                    clone = _for_arguments(table[callee], dict(bound), ids, origins)
                    made[key] = clone[0].words[2]
                    table[made[key]] = clone
                    constant_parameters[made[key]] = constant_parameters[callee]
                callee = made[key]
                body[place] = instruction((*one.words[:3], callee, *given))
            if callee not in seen:
                seen.add(callee)
                left.append(callee)
        result.append(body)
    return result


def renamed(body: Body, names: Mapping[int, int], ids: Iterator[int], origins: dict[int, int]) -> Body:
    """The instructions with new identifiers for their results, and the given ones for others."""
    own = {one.words[one.result]: next(ids) for one in body if one.result}
    origins.update((new, origins.get(old, old)) for old, new in own.items())
    own.update(names)
    made = []
    for one in body:
        words = list(one.words)
        for place in one.identifiers:
            words[place] = own.get(words[place], words[place])
        made.append(Instruction(tuple(words), one.identifiers, one.result))
    return made


def _only_loaded(body: Body) -> list[int]:
    """The numbers of parameters that the function does nothing with but load what they point to."""
    parameters = {one.words[2]: number for number, one in enumerate(_parameters(body))}
    otherwise = {
        one.words[place]
        for one in body
        for place in one.identifiers
        if place != one.result and not (one.opcode == _LOAD and place == 3)
    }
    return [number for parameter, number in parameters.items() if parameter not in otherwise]


def _parameters(body: Body) -> Body:
    return [one for one in body if one.opcode == _PARAMETER]


def _stored(body: Body, call: int, variable: int) -> int | None:
    """What was stored in a variable in the block of a call, if nothing else was done with it until then."""
    for one in reversed(body[:call]):
        if one.opcode == _LABEL:
            return None
        if variable in one.words[1:]:
            return one.words[2] if one.opcode == _STORE and one.words[1] == variable else None
    return None


def _for_arguments(body: Body, bound: Mapping[int, int], ids: Iterator[int], origins: dict[int, int]) -> Body:
    """A function with constants in place of what it loads from parameters of these numbers."""
    constants = {one.words[2]: bound[number] for number, one in enumerate(_parameters(body)) if number in bound}
    loaded = {
        one.words[2]: constants[one.words[3]] for one in body if one.opcode == _LOAD and one.words[3] in constants
    }
    return renamed([one for one in body if not one.result or one.words[one.result] not in loaded], loaded, ids, origins)
