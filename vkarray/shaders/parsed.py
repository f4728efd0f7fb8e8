"""SPIR-V modules in their parts: instructions, functions with what they need, types and constants by what tells them from others.

Numbers are those of the SPIR-V specification 1.6, section 3.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterable
from typing import NamedTuple

from .module import DEBUGGING, HEADER_WORDS, result_place, words_of

Words = tuple[int, ...]

_NAME, _MEMBER_NAME, _IMPORT, _UNSIGNED, _POINTER, _FORWARD_POINTER = 5, 6, 11, 21, 32, 39
_CONSTANT, _SPECIAL, _FUNCTION, _PARAMETER, _END, _CALL, _VARIABLE = 43, 52, 54, 55, 56, 57, 59
_LOAD, _STORE, _DECORATE, _MEMBER_DECORATE, _EXTRACT, _LOOP, _LABEL, _SWITCH = 61, 62, 71, 72, 81, 246, 248, 251

# Which operands are identifiers: how many from the front, before numbers follow. All are where nothing is said.
_IDENTIFIERS = {
    _IMPORT: 1, _UNSIGNED: 1, 22: 1, 23: 2, 24: 2, 25: 2, _CONSTANT: 2, 50: 2, _EXTRACT: 3, 82: 4, 79: 4, _LOAD: 3, _STORE: 2,
    63: 2, 68: 3, 95: 4,
    247: 1, _LOOP: 2, 250: 3, 17: 0, 19: 1, 20: 1, 26: 1,
}  # fmt: skip
# Operands that are numbers in the midst of identifiers: opcode -> their places.
_NUMBERS = {
    _POINTER: (1,), _FUNCTION: (2,), _VARIABLE: (2,), 12: (3,), _SPECIAL: (2,), **dict.fromkeys(range(349, 365), (3,)),
}  # fmt: skip


class Instruction(NamedTuple):
    """An instruction: its words, where identifiers are among them, and where its result is, or 0."""

    words: Words
    identifiers: tuple[int, ...]
    result: int

    @property
    def opcode(self) -> int:
        return self.words[0] & 0xFFFF


@functools.cache
def _places(first: int) -> tuple[tuple[int, ...], int]:
    """Where identifiers stand in an instruction that begins with this word, and where its result does, or 0."""
    opcode, count = first & 0xFFFF, (first >> 16) - 1
    numbers = {place + 1 for place in _NUMBERS.get(opcode, ())}
    places: Iterable[int] = range(1, min(count, _IDENTIFIERS.get(opcode, count)) + 1)
    if opcode == _SWITCH:  # a selector of 32 bits, a label, then a number and a label each
        places = (1, *range(2, count + 1, 2))
    return tuple(place for place in places if place not in numbers), result_place(first)


def instruction(words: Words) -> Instruction:
    """The instruction of these words."""
    places, result = _places(words[0])
    if words[0] & 0xFFFF == _SPECIAL and words[3] == _EXTRACT:
        places = (1, 2, 4)
    return Instruction(words, places, result)


class Function:
    """A function: its words, where among them identifiers stand, its own ones, and those that it takes from outside."""

    def __init__(self, words: Words) -> None:
        self.words, self.identifier = words, words[2]
        self.places: list[int] = []
        self.own: list[int] = []
        self.instructions, self.loops, self.calls = 0, 0, []
        place = 0
        while place < len(words):
            places, result = _places(words[place])
            self.instructions += 1
            self.loops += words[place] & 0xFFFF == _LOOP
            if words[place] & 0xFFFF == _CALL:
                self.calls.append(words[place + 3])
            self.places += [place + one for one in places]
            if result:
                self.own.append(words[place + result])
            place += words[place] >> 16
        own = set(self.own)
        self.needs = [one for one in dict.fromkeys([words[place] for place in self.places]) if one not in own]

    @functools.cached_property
    def head(self) -> list[Instruction]:
        """Where it begins: what it returns, and its parameters."""
        place, found = 0, []
        while self.words[place] & 0xFFFF in (_FUNCTION, _PARAMETER):
            found.append(instruction(self.words[place : place + (self.words[place] >> 16)]))
            place += self.words[place] >> 16
        return found


class Source:
    """A module that functions are taken from or linked into, in its parts."""

    def __init__(self, spirv: bytes, name: str) -> None:
        words = words_of(spirv, name)
        self.name, self.version, self.bound = name, words[1], words[3]
        self.head: list[Instruction] = []  # capabilities to execution modes
        self.names: list[Words] = []
        self.decorations: dict[int, list[Words]] = {}
        self.globals: dict[int, Instruction] = {}  # types, constants and variables by their identifier, in order
        self.bodies: dict[int, Words] = {}  # functions by their identifier
        self.forward: set[int] = set()  # types of pointers that are told before what they point to
        self._functions: dict[int, Function] = {}
        texts: dict[int, str] = {}
        place, end, begin = HEADER_WORDS, len(words), 0
        while place < end:
            first = words[place]
            opcode, after = first & 0xFFFF, place + (first >> 16)
            if begin or opcode == _FUNCTION:
                begin = begin or place
                if opcode == _END:
                    self.bodies[words[begin + 2]] = words[begin:after]
                    begin = 0
            elif opcode in (_NAME, _MEMBER_NAME):
                self.names.append(words[place:after])
                if opcode == _NAME:
                    texts[words[place + 1]] = _text(words[place + 2 : after])
            elif opcode in (_DECORATE, _MEMBER_DECORATE):
                self.decorations.setdefault(words[place + 1], []).append(words[place:after])
            elif opcode == _FORWARD_POINTER:
                self.forward.add(words[place + 1])
            elif opcode not in DEBUGGING:
                one = instruction(words[place:after])
                if one.result:
                    self.globals[one.words[one.result]] = one
                else:
                    self.head.append(one)
            place = after
        self.called = {texts.get(number, "").partition("(")[0]: number for number in self.bodies}  # functions by name

    def function(self, number: int) -> Function:
        """The function of an identifier."""
        if number not in self._functions:
            self._functions[number] = Function(self.bodies[number])
        return self._functions[number]

    @functools.cached_property
    def known(self) -> dict[tuple[object, ...], int]:
        """The identifiers of types, constants and variables by what tells them from others."""
        return {self.key(one, one.words): number for number, one in self.globals.items()}

    def key(self, one: Instruction, words: Words) -> tuple[object, ...]:
        """What tells a type, a constant or a variable, of such words in the linked module, from others."""
        number, place = one.words[one.result], one.result
        told = self.decorations.get(number, ())
        return (*words[:place], 0, *words[place + 1 :]), tuple(sorted([words[2:] for words in told]))


def inlined(spirv: bytes, name: str, called: str, of_loop: int = 0) -> int:
    """How many instructions a function of a module has with those of all functions that it calls, as drivers compile it.

    A loop counts as `of_loop` more.
    """
    source = source_of(spirv, name)

    @functools.cache
    def of(number: int) -> int:
        function = source.function(number)
        return function.instructions + of_loop * function.loops + sum(map(of, function.calls))

    return of(source.called[called])


def _text(words: Words) -> str:
    return struct.pack(f"<{len(words)}I", *words).split(b"\0", 1)[0].decode()


@functools.lru_cache(maxsize=512)
def source_of(spirv: bytes, name: str) -> Source:
    return Source(spirv, name)
