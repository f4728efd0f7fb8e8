"""Other forms in which libraries run programs: compiled by PyTorch, CuPy, JAX and numexpr, and vkarray without compiling."""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..libraries import Cupy, Functions, Jax, Library, Torch, Vkarray

Program = Callable[..., Any]


class Form(NamedTuple):
    """A form of a library: its name, its version, what makes the program of a function of arrays, other functions for programs."""

    name: str
    version: str
    compiles: Callable[[Program], Program] | None
    functions: Functions | None = None


def forms(libraries: list[Library]) -> list[Library]:
    """The forms of libraries that are there, as libraries which take programs alone."""
    found = []
    for library in libraries:
        make = _FORMS.get(type(library))
        form = None if make is None else make(library)
        if form is not None:
            other = copy.copy(library)
            other.name, other.version, other.compiles, functions = form
            other.functions, other.start = functions or library.functions, None
            found.append(other)
    return found


def _eager(library: Library) -> Form:
    return Form(f"{library.name} eager", library.version, None)


def _torch(library: Library) -> Form:
    torch = library.module

    def compiles(function: Program) -> Program:
        torch.compiler.reset()  # or functions of the same code are limited in number
        return torch.compile(function, dynamic=False)

    return Form(f"torch.compile {library.name.partition(' ')[2]}", library.version, compiles)


def _cupy(library: Library) -> Form:
    return Form("cupy.fuse", library.version, lambda function: library.module.fuse()(function))


def _jax(library: Any) -> Form:
    return Form(f"{library.name} jit", library.version, library.jax.jit)


def _numexpr(library: Library) -> Form | None:
    try:
        numexpr = importlib.import_module("numexpr")
    except ModuleNotFoundError:
        return None
    functions = Functions(_Formulas(numexpr), {"reshape": np.reshape})
    return Form("numexpr", f"numexpr {numexpr.__version__}", partial(_Evaluated, numexpr), functions)


_FORMS: dict[type[Library], Callable[[Library], Form | None]] = {
    Vkarray: _eager,
    Library: _numexpr,
    Torch: _torch,
    Cupy: _cupy,
    Jax: _jax,
}


# -- numexpr ----------------------------------------------------------------------------------------------------------

_BINARY = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "**", "and": "&", "or": "|", "xor": "^",
           "lshift": "<<", "rshift": ">>"}  # fmt: skip
_COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
_FUNCTIONS = {"asin": "arcsin"}  # by other names
_LONGEST = 10_000  # letters of an expression


class _Inputs:
    """What expressions read, by name: parts of arguments, and numbers in the type of the first argument."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        self.parts: dict[tuple[int, Any], str] = {}
        self.numbers: dict[str, Any] = {}

    def part(self, place: int, key: Any = ()) -> str:
        parts = [(part.start, part.stop, part.step) if isinstance(part, slice) else part for part in np.index_exp[key]]
        return self.parts.setdefault((place, tuple(parts)), f"x{len(self.parts)}")

    def number(self, value: Any) -> str:
        name = f"c{len(self.numbers)}"
        self.numbers[name] = self.dtype.type(value)  # a number of Python would make the result float64
        return name


class _Formula:
    """What numexpr is to compute, as a text that a program makes of its arguments."""

    def __init__(self, text: str, inputs: _Inputs, place: int | None = None, shape: tuple[int, ...] = ()) -> None:
        if len(text) > _LONGEST:
            raise NotImplementedError("an expression of numexpr repeats what is used twice, which is too long here")
        self.text, self.inputs, self.place, self.shape = text, inputs, place, shape  # both of an argument alone

    def __getitem__(self, key: Any) -> _Formula:
        if self.place is None:
            raise NotImplementedError("numexpr takes parts of arguments alone")
        return _Formula(self.inputs.part(self.place, key), self.inputs)

    def __neg__(self) -> _Formula:
        return _Formula(f"(-{self.text})", self.inputs)


def _text(value: Any, inputs: _Inputs) -> str:
    return value.text if isinstance(value, _Formula) else inputs.number(value)


def _operator(sign: str, turned: bool) -> Callable[[_Formula, Any], _Formula]:
    def method(self: _Formula, other: Any) -> _Formula:
        left, right = self.text, _text(other, self.inputs)
        return _Formula(f"({right} {sign} {left})" if turned else f"({left} {sign} {right})", self.inputs)

    return method


for _name, _sign in (_BINARY | _COMPARISONS).items():
    setattr(_Formula, f"__{_name}__", _operator(_sign, False))
    if _name in _BINARY:
        setattr(_Formula, f"__r{_name}__", _operator(_sign, True))


class _Formulas:
    """The functions that programs call, for formulas."""

    def __init__(self, numexpr: Any) -> None:
        self._known = numexpr.expressions.functions

    def __getattr__(self, name: str) -> Callable[..., _Formula]:
        known = _FUNCTIONS.get(name, name)
        if known not in self._known:
            raise NotImplementedError(f"numexpr has no function {name}")

        def call(*arguments: Any, **options: Any) -> _Formula:
            if options:
                raise NotImplementedError("numexpr reduces whole expressions alone")
            inputs = next(each.inputs for each in arguments if isinstance(each, _Formula))
            return _Formula(f"{known}({', '.join(_text(each, inputs) for each in arguments)})", inputs)

        return call


class _Evaluated:
    """A program whose results are expressions of numexpr; the first call finds them."""

    def __init__(self, numexpr: Any, function: Program) -> None:
        self.numexpr, self.function = numexpr, function
        self.inputs: _Inputs | None = None
        self.texts: list[str] = []
        self.several = False

    def __call__(self, *arrays: np.ndarray) -> Any:
        if self.inputs is None:
            self.inputs = self._find(arrays)
        given = dict(self.inputs.numbers)
        for (place, key), name in self.inputs.parts.items():
            given[name] = arrays[place][tuple(slice(*part) if type(part) is tuple else part for part in key)]
        found = tuple(self.numexpr.evaluate(text, given, {}) for text in self.texts)
        return found if self.several else found[0]

    def _find(self, arrays: tuple[np.ndarray, ...]) -> _Inputs:
        inputs = _Inputs(arrays[0].dtype)
        given = (_Formula(inputs.part(place), inputs, place, array.shape) for place, array in enumerate(arrays))
        found = self.function(*given)
        self.several = isinstance(found, tuple)
        self.texts = [formula.text for formula in (found if self.several else (found,))]
        return inputs
