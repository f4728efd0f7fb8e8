"""Shaders of several parts: a shell whose empty function gets a body, which calls the functions of compiled modules."""

from __future__ import annotations

import functools
import hashlib
import sys
from pathlib import Path
from typing import NamedTuple

from .. import configuration
from . import link, parsed
from .compiler import disassembly
from .link import Body, Linker
from .source import CACHE, Variant, identity, spirv


class Assembly(NamedTuple):
    """A shell, whose `evaluate` is empty, and the function of that name that it is to call.

    `conversions` are the modules whose `value_of` and `bits_of` turn an operand of the shell into one of the function and back, or
    None where they are alike; so many `inputs` come first.
    """

    shell: Variant
    function: Variant
    conversions: tuple[Variant | None, ...]
    inputs: int
    label: str

    @property
    def template(self) -> str:
        """The template of the shell."""
        return self.shell.template

    @property
    def defines(self) -> tuple[tuple[str, str], ...]:
        """The defines of the shell and of the function."""
        return (*self.shell.defines, *self.function.defines)

    @property
    def parts(self) -> tuple[Variant, ...]:
        """The shaders that are compiled."""
        return self.shell, self.function, *(one for one in self.conversions if one is not None)

    def code(self) -> bytes:
        """The linked SPIR-V, from the disk cache or made of the parts."""
        parts = (self.shell, self.function, *self.conversions)
        key = " ".join([_linker(), *("" if part is None else identity(part) for part in parts)])
        found = CACHE.get(key)
        if found is None:
            found = self._linked()
            CACHE.put(key, found)
        if configuration.current().debug >= 5:
            print(disassembly(found, self.label), file=sys.stderr)
        return found

    def _linked(self) -> bytes:
        linker = Linker(spirv(self.shell), self.label)
        body = linker.body("evaluate")
        index, *operands = body.parameters
        inputs = list(zip(operands, self.conversions, strict=True))
        results, inputs = inputs[self.inputs :], inputs[: self.inputs]
        given = [_converted(body, conversion, operand) for operand, conversion in inputs]
        made = []
        for operand, conversion in results:
            made.append(operand)
            if conversion is not None:
                back = linker.function(spirv(conversion), conversion.label, "bits_of")
                made[-1] = body.variable(back.parameters[0])
        function = linker.function(spirv(self.function), self.function.label, "evaluate")
        body.call(function, (), (index, *given, *made))
        for (operand, conversion), value in zip(results, made, strict=True):
            if conversion is not None:
                back = linker.function(spirv(conversion), conversion.label, "bits_of")
                body.call(back, (), (value, operand))
        body.end()
        return linker.module()


def _converted(body: Body, conversion: Variant | None, operand: int) -> int:
    """A variable with the value of an operand."""
    if conversion is None:
        return operand
    function = body.linker.function(spirv(conversion), conversion.label, "value_of")
    made = body.variable(function.parameters[1])
    body.call(function, (), (operand, made))
    return made


@functools.cache
def _linker() -> str:
    """What tells this linker from others."""
    files = (link.__file__, parsed.__file__, __file__)
    return hashlib.sha256(b"".join(Path(one).read_bytes() for one in files)).hexdigest()
