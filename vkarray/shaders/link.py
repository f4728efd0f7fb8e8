"""Linking SPIR-V without a compiler: functions of compiled modules, brought into another one.

A module that is compiled ahead calls functions whose bodies are empty. `Linker` gives them bodies, which call functions that it
takes from other modules with all that these need. What is the same in both, such as a type, is there once. Decorations come
along, among them those that keep a driver from contracting operations, so functions compute the same bits wherever they are.

Numbers are those of the SPIR-V specification 1.6, section 3.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..errors import ShaderError
from . import contraction
from .parsed import Instruction, Source, Words, source_of

_IMPORT, _ENTRY_POINT, _CAPABILITY, _UNSIGNED, _POINTER, _FORWARD_POINTER, _CONSTANT = 11, 15, 17, 21, 32, 39, 43
_PARAMETER, _END, _CALL, _VARIABLE, _LOAD, _STORE, _ACCESS = 55, 56, 57, 59, 61, 62, 65
_EXTRACT, _LABEL, _RETURN = 81, 248, 253
# The storage classes of a function's variables, of those of an invocation and of a workgroup, and of what addresses point to.
_ARRAY = 28
_IN_FUNCTION, _OF_INVOCATION, _OF_WORKGROUP, _IN_MEMORY = 7, 6, 4, 5349
_SPECIALIZED = (48, 49, 50)  # true, false and numbers, until they are specialized
_SPECIALIZATION = 1  # the decoration that numbers such a constant


class Called(NamedTuple):
    """A function of the linked module: its identifier, the type that it returns, and those of its parameters, all pointers."""

    identifier: int
    type: int
    parameters: Words


class Part:
    """Functions of another module, which a linked module takes once for this part: with bodies and constants of its own."""

    def __init__(self, linker: Linker, source: Source, constants: Mapping[int, int]) -> None:
        """`constants` are the values of specialization constants by their number."""
        self.linker, self.source, self.constants = linker, source, constants
        self.moved: dict[int, int] = {}  # what identifiers of the module are in the linked one

    def function(self, called: str) -> Called:
        """A function that is called so there. Raises ShaderError where there is none of that name."""
        number = self._number(called)
        for one in self.source.head:
            if one.opcode == _CAPABILITY and one.words[1] not in self.linker.capabilities:
                self.linker.capabilities.add(one.words[1])
                self.linker.added_capabilities.append(one.words[1])
        self._take(number)
        return self.linker._signature(self.source, number, self.moved)

    def body(self, called: str) -> Body:
        """The body of an empty function, to be written before a function that calls it is taken."""
        head = self.source.function(self._number(called)).head
        own = {one.words[2] for one in head}
        for one in head:
            for place in one.identifiers:
                if one.words[place] not in own:
                    self._take(one.words[place])
            self.moved[one.words[2]] = self.linker.new()
        return Body(self.linker, called, [self.linker._mapped(one, self.moved) for one in head])

    def _number(self, called: str) -> int:
        if called not in self.source.called:
            raise ShaderError(
                f"{self.linker.name}: the shader {self.source.name} has no function {called}; reinstall vkarray."
            )
        return self.source.called[called]

    def _take(self, number: int) -> int:
        """What an identifier of the module is here: with all that it needs, it is brought where it is not there yet."""
        moved, linker = self.moved, self.linker
        if number in moved:
            return moved[number]
        if number not in self.source.bodies:
            return self._take_global(number)
        function = self.source.function(number)
        for needed in function.needs:
            if needed not in moved:
                self._take(needed)
        for one in function.own:
            moved[one] = linker.new()
            if one in self.source.decorations:
                self._decorate(one)
        words = list(function.words)
        for place in function.places:
            words[place] = moved[words[place]]
        linker.functions.append(words)
        return moved[number]

    def _take_global(self, number: int) -> int:
        one, linker, moved = self.source.globals[number], self.linker, self.moved
        specialized = self._specialized(number) if one.opcode in _SPECIALIZED else None
        for place in one.identifiers:
            if place != one.result:
                self._take(one.words[place])
        if specialized is not None:
            moved[number] = linker.constant(moved[one.words[1]], one.opcode, self.constants[specialized])
            return moved[number]
        moved[number] = 0
        words = linker._mapped(one, moved)
        key = self.source.key(one, words)
        if one.opcode == _VARIABLE and one.words[3] in (_OF_INVOCATION, _OF_WORKGROUP):
            key = self.source, number
        found = linker.known.get(key)
        if found is None:
            found = linker.known[key] = moved[number] = linker.new()
            linker.globals.append((*words[: one.result], found, *words[one.result + 1 :]))
            self._decorate(number)
            if one.opcode == _VARIABLE:
                linker.interface.append(found)
            if number in self.source.forward:
                linker.forward.append(found)
        moved[number] = found
        return found

    def _specialized(self, number: int) -> int | None:
        """The number of a specialization constant that has a value here."""
        for told in self.source.decorations.get(number, ()):
            if told[2] == _SPECIALIZATION and told[3] in self.constants:
                return told[3]
        return None

    def _decorate(self, number: int) -> None:
        for told in self.source.decorations.get(number, ()):
            self.linker.decorations.append((told[0], self.moved[number], *told[2:]))


class Linker:
    """A module whose empty functions get bodies."""

    def __init__(self, spirv: bytes, name: str) -> None:
        """`spirv` is the module with the empty functions; `name` is for messages."""
        self.shell = shell = source_of(spirv, name)
        self.name, self.bound = name, shell.bound
        self.capabilities = {one.words[1] for one in shell.head if one.opcode == _CAPABILITY}
        self.added_capabilities: list[int] = []
        self.globals: list[Words] = []
        self.decorations: list[Words] = []
        self.functions: list[Sequence[int]] = []  # of other modules, and bodies
        self.bodies: dict[int, Words] = {}
        self.known = dict(shell.known)
        self.parts: dict[Source, Part] = {}  # of modules whose functions are taken as they are
        self.interface: list[int] = []  # variables that have come
        self.forward = sorted(shell.forward)
        self.contracts = False  # whether products and sums of functions that come may be rounded once

    def new(self) -> int:
        """An identifier that is used nowhere."""
        self.bound += 1
        return self.bound - 1

    def _mapped(self, one: Instruction, moved: dict[int, int]) -> Words:
        words = list(one.words)
        for place in one.identifiers:
            words[place] = moved[words[place]]
        return tuple(words)

    def part(self, spirv: bytes, name: str, constants: Mapping[int, int]) -> Part:
        """Functions of another module with specialization constants of these values, and bodies of their own."""
        return Part(self, source_of(spirv, name), constants)

    def function(self, spirv: bytes, name: str, called: str) -> Called:
        """A function of another module, called so there. Raises ShaderError where it has none of that name."""
        source = source_of(spirv, name)
        if source not in self.parts:
            self.parts[source] = Part(self, source, {})
        return self.parts[source].function(called)

    def has(self, called: str) -> bool:
        """Whether this module has a function of that name."""
        return called in self.shell.called

    def own(self, called: str) -> Called:
        """A function of this module."""
        number = self.shell.called[called]
        return self._signature(self.shell, number, range(self.shell.bound))

    def _signature(self, source: Source, number: int, moved: Mapping[int, int] | Sequence[int]) -> Called:
        begin, *parameters = source.function(number).head
        return Called(moved[number], moved[begin.words[1]], tuple(moved[one.words[1]] for one in parameters))

    # -- what bodies are made of

    def _known(self, opcode: int, *operands: int, typed: bool = False) -> int:
        """A type, or a constant of a type, that may be there already."""
        words = ((len(operands) + 2) << 16 | opcode, *operands)
        place = 2 if typed else 1
        key = (*words[:place], 0, *words[place:]), ()
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = self.new()
            self.globals.append((*words[:place], found, *words[place:]))
        return found

    def pointer(self, pointed: int, storage: int = _IN_FUNCTION) -> int:
        """The type of a pointer to a variable of a function, or elsewhere."""
        return self._known(_POINTER, storage, pointed)

    def array(self, element: int, length: int) -> int:
        """The type of an array."""
        return self._known(_ARRAY, element, self.unsigned(length))

    def pointed(self, pointer: int) -> int:
        """The type that a pointer points to."""
        return self._operands(pointer)[1]

    def element(self, array: int) -> int:
        """The type of the elements of an array."""
        return self._operands(array)[0]

    def _operands(self, number: int) -> Words:
        one = self.shell.globals.get(number)
        words = one.words if one else next(words for words in self.globals if words[1] == number)
        return words[2:]

    @property
    def unsigned_type(self) -> int:
        """The type of unsigned integers of 32 bits."""
        return self._known(_UNSIGNED, 32, 0)

    def unsigned(self, value: int) -> int:
        """A constant of 32 bits."""
        return self._known(_CONSTANT, self.unsigned_type, value, typed=True)

    def constant(self, kind: int, specialized: int, value: int) -> int:
        """A constant of a type in place of one that could be specialized, by its opcode."""
        if specialized == _SPECIALIZED[2]:
            return self._known(_CONSTANT, kind, value, typed=True)
        return self._known(41 if value else 42, kind, typed=True)

    def variable(self, pointed: int) -> int:
        """A variable of an invocation, which all functions share."""
        made, pointer = self.new(), self.pointer(pointed, _OF_INVOCATION)
        self.globals.append((4 << 16 | _VARIABLE, pointer, made, _OF_INVOCATION))
        self.interface.append(made)
        return made

    def body(self, called: str) -> Body:
        """The body of an empty function of this module, to be written."""
        return Body(self, called, [one.words for one in self.shell.function(self.shell.called[called]).head])

    # -- the whole

    def module(self) -> bytes:
        """The linked module."""
        if self.contracts:
            contraction.contract(self)
        shell, out = self.shell, [0x07230203, self.shell.version, 0, self.bound, 0]
        placed = False
        for one in shell.head:
            if one.opcode != _CAPABILITY and not placed:
                placed = True
                for capability in self.added_capabilities:
                    out += (2 << 16 | _CAPABILITY, capability)
                for imported in (one for one in shell.globals.values() if one.opcode == _IMPORT):
                    out += imported.words
                for words in self.globals:
                    if words[0] & 0xFFFF == _IMPORT:
                        out += words
            words = one.words
            if one.opcode == _ENTRY_POINT and self.interface:
                words = ((len(words) + len(self.interface)) << 16 | _ENTRY_POINT, *words[1:], *self.interface)
            out += words
        gone = {one for number in self.bodies for one in shell.function(number).own[len(shell.function(number).head) :]}
        for words in (*shell.names, *(one for decorated in shell.decorations.values() for one in decorated)):
            if words[1] not in gone:
                out += words
        for words in self.decorations:
            out += words
        for pointer in self.forward:  # validators look at no pointer of these for types that only memory may have
            out += (3 << 16 | _FORWARD_POINTER, pointer, _IN_MEMORY)
        for one in shell.globals.values():
            if one.opcode != _IMPORT:
                out += one.words
        for words in self.globals:
            if words[0] & 0xFFFF != _IMPORT:
                out += words
        for number, body in shell.bodies.items():
            out += self.bodies.get(number, body)
        for function in self.functions:
            out += function
        out[3] = self.bound
        return struct.pack(f"<{len(out)}I", *out)


class Body:
    """The body of a function: variables first, then instructions. Functions take pointers to variables, as GLSL's do."""

    def __init__(self, linker: Linker, name: str, head: Sequence[Words]) -> None:
        self.linker, self.name, self.head = linker, name, head
        self.variables: list[int] = []
        self.types: dict[int, int] = {}  # of variables and members: pointers
        self.code: list[int] = []
        self.parameters = tuple(words[2] for words in head if words[0] & 0xFFFF == _PARAMETER)
        self.kinds = tuple(words[1] for words in head if words[0] & 0xFFFF == _PARAMETER)  # their types: pointers

    def variable(self, pointer: int) -> int:
        """A variable of a type of pointers."""
        made = self.linker.new()
        self.variables += (4 << 16 | _VARIABLE, pointer, made, _IN_FUNCTION)
        self.types[made] = pointer
        return made

    def load(self, pointed: int, variable: int) -> int:
        """The value of a variable. Raises ShaderError for one of another type: drivers do not."""
        if variable in self.types and self.linker.pointed(self.types[variable]) != pointed:
            raise ShaderError(
                f"{self.linker.name}: a function takes a value of another type than it gets; report this."
            )
        made = self.linker.new()
        self.code += (4 << 16 | _LOAD, pointed, made, variable)
        return made

    def store(self, variable: int, value: int) -> None:
        """Give a variable a value."""
        self.code += (3 << 16 | _STORE, variable, value)

    def add(self, kind: int, one: int, other: int) -> int:
        """The sum of two integers."""
        return self._of_two(128, kind, one, other)

    def either(self, kind: int, one: int, other: int) -> int:
        """Whether one of two truths holds."""
        return self._of_two(166, kind, one, other)

    def differ(self, kind: int, one: int, other: int) -> int:
        """Whether two integers differ."""
        return self._of_two(171, kind, one, other)

    def widened(self, kind: int, value: int) -> int:
        """An integer as one of another type."""
        made = self.linker.new()
        self.code += (4 << 16 | 114, kind, made, value)
        return made

    def _of_two(self, opcode: int, kind: int, one: int, other: int) -> int:
        made = self.linker.new()
        self.code += (5 << 16 | opcode, kind, made, one, other)
        return made

    def times(self, kind: int, one: int, other: int) -> int:
        """The product of two integers."""
        return self._of_two(132, kind, one, other)

    def shifted(self, kind: int, value: int, bits: int) -> int:
        """An unsigned integer without its lowest bits."""
        return self._of_two(194, kind, value, bits)

    def kept(self, kind: int, array: int, place: int) -> int:
        """A pointer to an element of a type in an array that all functions share."""
        return self.member(self.linker.pointer(kind, _OF_INVOCATION), array, place)

    def member(self, pointer: int, array: int, place: int) -> int:
        """A pointer to an element of an array that is a variable."""
        made = self.linker.new()
        self.code += (5 << 16 | _ACCESS, pointer, made, array, place)
        self.types[made] = pointer
        return made

    def component(self, kind: int, value: int, place: int) -> int:
        """A component of a vector."""
        made = self.linker.new()
        self.code += (5 << 16 | _EXTRACT, kind, made, value, place)
        return made

    def call(self, function: Called, values: Sequence[int] = (), results: Sequence[int] = ()) -> int:
        """Call a function with values, then with variables that it writes. Returns what it returns."""
        arguments = []
        for pointer, value in zip(function.parameters, values, strict=False):
            variable = self.variable(pointer)
            self.store(variable, value)
            arguments.append(variable)
        arguments += results
        made = self.linker.new()
        self.code += ((len(arguments) + 4) << 16 | _CALL, function.type, made, function.identifier, *arguments)
        return made

    def end(self) -> None:
        """Put the body in its place."""
        head = [word for words in self.head for word in words]
        label = (2 << 16 | _LABEL, self.linker.new())
        code = (*head, *label, *self.variables, *self.code, 1 << 16 | _RETURN, 1 << 16 | _END)
        identifier = self.head[0][2]
        if identifier in self.linker.shell.bodies:
            self.linker.bodies[identifier] = code
        else:
            self.linker.functions.append(code)
