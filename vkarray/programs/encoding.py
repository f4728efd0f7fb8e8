"""Arguments and results of calls as JSON, and back.

None, bool, numbers, texts and lists stand for themselves. All else is an object with one entry, whose name says what it is; the
tables below have them. Numbers that JSON has no form for are texts.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import _vk, errors
from ..core import dtypes
from ..core.array import VkArray
from ..core.dtypes import DType
from ..graph.nest import Place, parts_of
from ..graph.stand_ins import Slot
from ..graph.tape import Raised, Scalar
from ..ops.beyond.random import Draws
from ..ops.ufunc import ABSENT, ufunc
from .names import LARGEST, find, names

DEPTH = 24  # of nests at most
GENERATORS = 1024  # of random numbers at most
TEXT = 4096  # characters of a text at most
_SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_CLASSES: dict[str, type] = {one.__name__: one for one in (bool, int, float, complex)}
_ERRORS = {
    name: one for space in (builtins, errors) for name, one in vars(space).items()
    if isinstance(one, type) and issubclass(one, Exception)
}  # fmt: skip


class Constant:
    """Stands for an array that is a constant of a program: which one, and whether it is one of NumPy's."""

    __slots__ = ("kind", "place")

    def __init__(self, kind: str, place: int) -> None:
        self.kind, self.place = kind, place


class OwnDevice:
    """Stands for the device of a program."""

    __slots__ = ()


class OwnGenerator:
    """Stands for one of the generators of random numbers that a program has: which one."""

    __slots__ = ("place",)

    def __init__(self, place: int) -> None:
        self.place = place


class Encoder:
    """Writes values as JSON, and keeps the arrays and the streams of random numbers among them."""

    def __init__(self) -> None:
        self.constants: list[Any] = []
        self._places: dict[int, int] = {}
        self._streams: list[Any] = []

    def generator(self, generator: Draws) -> int:
        """The place of a generator among those of other streams."""
        stream = generator.bit_generator
        if stream not in self._streams:
            self._streams.append(stream)
        return self._streams.index(stream)

    def constant(self, array: Any) -> int:
        """The place of an array among the constants."""
        if id(array) not in self._places:
            self._places[id(array)] = len(self.constants)
            self.constants.append(array)
        return self._places[id(array)]

    def __call__(self, value: Any) -> Any:
        """A value as JSON. Raises TypeError for what files cannot hold."""
        kind = type(value)
        if kind in (bool, type(None)):
            return value
        if kind is str and len(value) <= TEXT:
            return value
        if kind is int and abs(value) < LARGEST:
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if kind is list:
            return [self(one) for one in value]
        for tag, (is_one, encode) in _ENCODED.items():
            if is_one(value):
                return {tag: encode(self, value)}
        if isinstance(value, dict) and parts_of(value) is not None:
            raise TypeError(f"a dictionary of type {kind.__name__} with the keys {list(value)!r:.60}")
        raise TypeError(
            f"{value!r:.60}, of type {kind.__name__}" if parts_of(value) is None else f"a nest of type {kind.__name__}"
        )


def is_numpys_type(value: Any) -> bool:
    """Whether a value is a type of elements as NumPy has it. A file has the library's own in its place."""
    return isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic))


def _list(encoder: Encoder, values: Any) -> list[Any]:
    return [encoder(one) for one in values]


# What is written as an object: the name of its entry, whether a value is such, and the entry's value.
_ENCODED: dict[str, tuple[Callable[[Any], bool], Callable[[Encoder, Any], Any]]] = {
    "value": (lambda one: type(one) is Slot, lambda encoder, one: one.place),
    "number": (lambda one: type(one) is Scalar, lambda encoder, one: one.place),
    "result": (lambda one: type(one) is Place, lambda encoder, one: int(one)),
    "raises": (lambda one: type(one) is Raised and one.kind.__name__ in _ERRORS, lambda encoder, one: one.kind.__name__),
    "constant": (lambda one: type(one) is VkArray, Encoder.constant),
    "numpy": (lambda one: type(one) is np.ndarray, Encoder.constant),
    "numpy_scalar": (lambda one: isinstance(one, np.generic), Encoder.constant),
    "complex": (lambda one: type(one) is complex, lambda encoder, one: [encoder(one.real), encoder(one.imag)]),
    "dtype": (lambda one: isinstance(one, DType), lambda encoder, one: one.name),
    "numpy_dtype": (is_numpys_type, lambda encoder, one: dtypes.as_dtype(one, "save").name),
    "class": (lambda one: isinstance(one, type) and one in _CLASSES.values(), lambda encoder, one: one.__name__),
    "slice": (lambda one: type(one) is slice, lambda encoder, one: _list(encoder, (one.start, one.stop, one.step))),
    "ellipsis": (lambda one: one is Ellipsis, lambda encoder, one: None),
    "absent": (lambda one: one is ABSENT, lambda encoder, one: None),
    "not_implemented": (lambda one: one is NotImplemented, lambda encoder, one: None),
    "device": (lambda one: isinstance(one, (_vk.Device, OwnDevice)), lambda encoder, one: None),
    "generator": (lambda one: isinstance(one, Draws), Encoder.generator),
    "function": (lambda one: isinstance(one, ufunc), lambda encoder, one: one.__name__),
    "tuple": (lambda one: isinstance(one, tuple), _list),
    "dictionary": (
        lambda one: type(one) is dict and all(type(name) is str for name in one),
        lambda encoder, one: [[name, encoder(part)] for name, part in one.items()],
    ),
}  # fmt: skip


class Wrong(ValueError):
    """What is read is not as files have it; the text says where."""


class Decoder:
    """Reads values from JSON. Raises Wrong for all that `Encoder` does not write."""

    def __init__(self, values: int, numbers: int, constants: Sequence[str]) -> None:
        """So many values and numbers there are, and constants of these kinds."""
        self.values, self.numbers, self.constants = values, numbers, constants
        self.results = 0

    def __call__(self, value: Any, depth: int = DEPTH) -> Any:
        """The value that JSON stands for."""
        if depth <= 0:
            raise Wrong(f"a nest is deeper than {DEPTH}")
        if value is None or type(value) is bool or (type(value) is str and len(value) <= TEXT):
            return value
        if type(value) is int and abs(value) < LARGEST:
            return value
        if type(value) is float and math.isfinite(value):
            return value
        if type(value) is list:
            return [self(one, depth - 1) for one in value]
        if type(value) is dict and len(value) == 1:
            ((tag, held),) = value.items()
            if tag in _DECODED:
                return _DECODED[tag](self, held, depth - 1)
        raise Wrong(f"{value!r:.60} is no value of a program")

    def place(self, value: Any, count: int, what: str) -> int:
        """A number of one of so many things."""
        if type(value) is not int or not 0 <= value < count:
            raise Wrong(f"there is no {what} {value!r:.40}")
        return value

    def constant(self, kind: str, value: Any) -> Constant:
        """One of the constants, of that kind."""
        place = self.place(value, len(self.constants), "constant")
        if self.constants[place] != kind:
            raise Wrong(f"the constant {place} is of another kind than {kind}")
        return Constant(kind, place)

    def several(self, value: Any, depth: int, count: int | None = None) -> list[Any]:
        """A list of values, of so many where that is known."""
        if type(value) is not list or (count is not None and len(value) != count):
            raise Wrong(f"{value!r:.60} is no list of values")
        return [self(one, depth) for one in value]

    def slot(self, value: Any) -> Slot:
        """A value of a call before."""
        return Slot(self.place(value, self.values, "value"))


class FormDecoder(Decoder):
    """Reads what a call returns: its slots are new values, one after the other."""

    def slot(self, value: Any) -> Slot:
        """The next value."""
        if value != self.values or type(value) is not int:
            raise Wrong(f"the value {self.values} is called {value!r:.40}")
        self.values += 1
        return Slot(self.values - 1)


def _named(table: Any, value: Any, what: str) -> Any:
    if type(value) is not str or value not in table:
        raise Wrong(f"there is no {what} {value!r:.40}")
    return table[value]


def _none(held: Any, value: Any) -> Any:
    if held is not None:
        raise Wrong(f"{held!r:.40} stands where nothing is to stand")
    return value


def _complex(decoder: Decoder, held: Any, depth: int) -> complex:
    parts = decoder.several(held, depth, 2)
    if any(type(one) is not float for one in parts):
        raise Wrong("the parts of a complex number are others than two floats")
    return complex(*parts)


def _dictionary(decoder: Decoder, held: Any, depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if type(held) is not list:
        raise Wrong("a dictionary is no list of pairs")
    for pair in held:
        if type(pair) is not list or len(pair) != 2 or type(pair[0]) is not str or pair[0] in found:
            raise Wrong("a dictionary is no list of pairs of a name and a value")
        found[pair[0]] = decoder(pair[1], depth)
    return found


def _slice(decoder: Decoder, held: Any, depth: int) -> slice:
    return slice(*decoder.several(held, depth, 3))


def _ufunc(decoder: Decoder, held: Any, depth: int) -> Any:
    found = find(held) if type(held) is str else None
    if not isinstance(found, ufunc):
        raise Wrong(f"{held!r:.40} is no elementwise function")
    return found


_DECODED: dict[str, Callable[[Decoder, Any, int], Any]] = {
    "float": lambda decoder, held, depth: _named(_SPECIAL, held, "number"),
    "value": lambda decoder, held, depth: decoder.slot(held),
    "number": lambda decoder, held, depth: Scalar(decoder.place(held, decoder.numbers, "number")),
    "result": lambda decoder, held, depth: Place(decoder.place(held, decoder.results, "result")),
    "raises": lambda decoder, held, depth: Raised(_named(_ERRORS, held, "error")),
    "constant": lambda decoder, held, depth: decoder.constant("constant", held),
    "numpy": lambda decoder, held, depth: decoder.constant("numpy", held),
    "numpy_scalar": lambda decoder, held, depth: decoder.constant("numpy_scalar", held),
    "complex": _complex,
    "dtype": lambda decoder, held, depth: _named(dtypes.DTYPES, held, "type"),
    "numpy_dtype": lambda decoder, held, depth: _named(dtypes.DTYPES, held, "type"),
    "class": lambda decoder, held, depth: _named(_CLASSES, held, "class"),
    "slice": _slice,
    "ellipsis": lambda decoder, held, depth: _none(held, Ellipsis),
    "absent": lambda decoder, held, depth: _none(held, ABSENT),
    "not_implemented": lambda decoder, held, depth: _none(held, NotImplemented),
    "device": lambda decoder, held, depth: _none(held, OwnDevice()),
    "generator": lambda decoder, held, depth: OwnGenerator(decoder.place(held, GENERATORS, "generator")),
    "function": _ufunc,
    "tuple": lambda decoder, held, depth: tuple(decoder.several(held, depth)),
    "dictionary": _dictionary,
}


def noted(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, Any, Any] | None:
    """The name of a call on a tape, its arguments and its options; None for a function that no file can name."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, ufunc):  # a call with options
        name = names().get(id(owner.call))
        return None if name is None else (name, args[0], {key: one for key, one in kwargs.items() if one is not None})
    name = names().get(id(function))
    if name is None:
        return None
    if name in ("part.getitem", "part.setitem"):
        rules = {"part.getitem": "getitem", "part.setitem": "setitem"}
        if kwargs.get("rule") is None or kwargs["rule"].function == rules[name]:
            return name, args, {}
    return name, args, kwargs
