"""Nests of arguments and results: tuples, lists, dictionaries, dataclasses and objects, with arrays and numbers in them."""

from __future__ import annotations

import copy
import dataclasses
import enum
import functools
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from io import IOBase
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    FunctionType,
    MappingProxyType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    SimpleNamespace,
    WrapperDescriptorType,
)
from typing import Any, NamedTuple, TypeVar

from ..core.array import VkArray
from ..core.tokens import Token
from ..kernels.signature import look_of

Result = TypeVar("Result")
NUMBERS = (int, float, complex)
ARRAYS: set[type] = {VkArray}  # and what stands for arrays
LEAVES: set[type] = {VkArray, *NUMBERS}  # and what stands for these
_PASSING = (Iterator, Coroutine, AsyncIterator)  # what gives something else each time
_PLAIN = (int, float, complex, str, bytes)  # whose subclasses may have attributes besides
_TOLD_BY_TEXTS = (float, complex, range)
# Objects whose attributes do not count, and modules all of whose classes are of such.
_SERVICES = ("logging", "threading", "queue")
_WHOLE = (type, ModuleType, FunctionType, BuiltinFunctionType, enum.Enum)


class Place(int):
    """Which of the results of a program stands here in a nest."""


class Passed(int):
    """Which of the numbers among the arguments stands here in what a program returns."""


ARRAYS.add(Place)


def note(value: Any, key: list[Any], arrays: list[VkArray], scalars: list[Any]) -> None:
    """Add to the key what a trace may depend on, and to the lists the arrays and numbers in a value.

    Raises TypeError for a value that cannot be compared with those of other calls.
    """
    kind = type(value)
    if kind is VkArray:
        key.append(value._look or look_of(value))
        if not value._shape:
            key.append(hasattr(value, "_is_place"))
        arrays.append(value)
    elif kind in NUMBERS:
        key.append(kind)
        scalars.append(value)
    elif (parts := parts_of(value)) is not None:
        key += (kind, len(parts))
        for name, part in parts:
            key.append(exact(name))
            note(part, key, arrays, scalars)
    elif isinstance(value, _numpys_scalar()):
        key += (kind, value.tobytes())  # -0.0 is not 0.0
    elif _is_hashable(value):
        key += (kind, exact(value))
        if isinstance(value, _PLAIN) and not isinstance(value, enum.Enum) and (besides := attributes_of(value)):
            _note_besides(kind, besides, key)
    else:
        remedy = (
            "Convert it with vkarray.asarray" if hasattr(value, "__array__") else "Give it as a tuple, or as an array"
        )
        raise TypeError(
            f"got an argument of type {kind.__name__}, which holds no arrays and cannot be compared with that of another call. "
            f"{remedy}."
        )


def _note_besides(kind: type, attributes: Mapping[str, Any], key: list[Any]) -> None:
    """Add to the key the attributes of a number or a text, which is passed on as it is, and so may have no arrays in them."""
    for name, one in attributes.items():
        if not _is_hashable(one) or holds(one, _is_array):
            raise TypeError(
                f"got an argument of type {kind.__name__}, whose attribute {name} cannot be compared with that of another call. "
                f"Give what it holds as an argument of its own."
            )
        key += (name, type(one), exact(one))


def endless(name: str, what: str) -> TypeError:
    """The error for a nest that goes on for longer than Python follows."""
    return TypeError(
        f"{name}: {what} holds itself, or is a nest too deep to follow. Give and return nests without cycles."
    )


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except (TypeError, ValueError):  # ValueError: memory that can be written
        return False
    return True


def exact(value: Any) -> Any:
    """What is equal for equal values alone that code cannot tell apart: 1, 1.0 and True are equal, and so are 0.0 and -0.0."""
    kind = type(value)
    if kind is str or kind is int:
        return value
    if kind is tuple or kind is frozenset:
        return kind, kind(map(exact, value))
    return kind, repr(value) if kind in _TOLD_BY_TEXTS else value


def _numpys_scalar() -> Any:
    numpy = sys.modules.get("numpy")  # who has one of its scalars has imported it
    return () if numpy is None else numpy.generic


def _by_type(function: Callable[[Any], Result]) -> Callable[[Any], Result]:
    """Remember what a function tells of types."""
    return functools.lru_cache(1024)(function)


# -- the parts of values ------------------------------------------------------------------------------------------------------


class Kind(NamedTuple):
    """How values of a type are taken apart, and made again of other parts in the same order."""

    parts: Callable[[Any], list[tuple[Any, Any]] | None]
    made: Callable[[Any, list[Any]], Any]


def _enumerated(value: Any) -> list[tuple[Any, Any]]:
    return list(enumerate(value))


def named(*names: str) -> Callable[[Any], list[tuple[Any, Any]]]:
    """How to take a value apart that has these attributes."""
    return lambda value: [(name, getattr(value, name)) for name in names]


def _with_items(value: Any, parts: list[Any]) -> Any:
    """A copy of a list or a dictionary with other items."""
    again = copy.copy(value)
    for name, part in zip(list(value) if isinstance(value, dict) else range(len(value)), parts, strict=True):
        again[name] = part
    return again


# Types whose state is no attributes.
KINDS: dict[type, Kind] = {
    tuple: Kind(_enumerated, lambda value, parts: tuple(parts)),
    list: Kind(_enumerated, lambda value, parts: parts),
    dict: Kind(lambda value: list(value.items()), _with_items),
    deque: Kind(
        lambda value: [*enumerate(value), (("maxlen", value.maxlen), None)],
        lambda value, parts: deque(parts[:-1], value.maxlen),
    ),
    set: Kind(lambda value: [(exact(frozenset(value)), None)], lambda value, parts: set(value)),
    slice: Kind(named("start", "stop", "step"), lambda value, parts: slice(*parts)),
    functools.partial: Kind(
        named("func", "args", "keywords"), lambda value, parts: functools.partial(parts[0], *parts[1], **parts[2])
    ),
    MethodType: Kind(named("__func__", "__self__"), lambda value, parts: MethodType(*parts)),
    MappingProxyType: Kind(
        lambda value: list(value.items()), lambda value, parts: MappingProxyType(dict(zip(value, parts, strict=True)))
    ),
    SimpleNamespace: Kind(
        lambda value: list(vars(value).items()),
        lambda value, parts: SimpleNamespace(**dict(zip(vars(value), parts, strict=True))),
    ),
    type({}.values()): Kind(_enumerated, lambda value, parts: dict(enumerate(parts)).values()),
    type({}.items()): Kind(
        lambda value: [((number, side), part) for number, pair in enumerate(value) for side, part in enumerate(pair)],
        lambda value, parts: dict(zip(parts[::2], parts[1::2], strict=True)).items(),
    ),
}


def _subclass(base: type, made: Callable[[Any, list[Any]], Any]) -> Kind:
    """Of a subclass of a container: its items, and after these the attributes that it has besides."""
    items: Any = KINDS[base].parts

    def besides(value: Any) -> dict[str, Any]:
        return {} if _is_its_own(value) else attributes_of(value)

    def again(value: Any, parts: list[Any]) -> Any:
        count = len(items(value))
        found = made(value, parts[:count])
        if _is_its_own(value):
            found.__dict__ = found
        return with_attributes(found, besides(value), parts[count:])

    return Kind(lambda value: [*items(value), *((f".{name}", part) for name, part in besides(value).items())], again)


def _is_its_own(value: Any) -> bool:
    """Whether the items of a dictionary are its attributes."""
    return getattr(value, "__dict__", None) is value


@_by_type
def _slots(kind: Any) -> tuple[str, ...]:
    """The attributes of its objects that are no part of their `__dict__`."""
    return tuple(
        name for owner in kind.__mro__ for name, one in vars(owner).items() if type(one) is MemberDescriptorType
    )


def attributes_of(value: Any) -> dict[str, Any]:
    found = dict(getattr(value, "__dict__", ()))
    for name in _slots(type(value)):
        if hasattr(value, name):
            found[name] = getattr(value, name)
    return found


def with_attributes(again: Any, names: Iterable[str], parts: Sequence[Any]) -> Any:
    """An object with these attributes, whatever its class does when one is set."""
    slots = _slots(type(again))
    for name, part in zip(names, parts, strict=True):
        if name in slots:
            object.__setattr__(again, name, part)
        else:
            again.__dict__[name] = part
    return again


def _of_object(value: Any) -> list[tuple[Any, Any]] | None:
    """The attributes of an object; None where it is compared as a whole."""
    kind, attributes = type(value), attributes_of(value)
    if not dataclasses.is_dataclass(kind):
        package = kind.__module__.partition(".")[0]
        own = package == "vkarray"
        # Python's own, such as paths and fractions, never change and keep what they have worked out; a user's may.
        if own or (package in sys.stdlib_module_names and _is_compared(kind)):
            holds = _is_array if own else _holds_arrays
            if not any(map(holds, attributes.values())):
                return None
    return list(attributes.items())


def _is_compared(kind: type) -> bool:
    """Whether a type says by itself which of its values are equal."""
    return kind.__eq__ is not object.__eq__ and kind.__hash__ is not None


def _object(value: Any, parts: list[Any]) -> Any:
    """An object with other attributes; itself, where they are no others."""
    attributes = attributes_of(value)
    alike = all(one is part for one, part in zip(attributes.values(), parts, strict=True))
    if alike and not dataclasses.is_dataclass(value):
        return value
    return with_attributes(object.__new__(type(value)), attributes, parts)


def is_object(value: Any) -> bool:
    """Whether a value is taken apart by its attributes alone."""
    kind = kind_of(type(value))
    return kind is not None and kind.made is _object


def _is_array(value: Any) -> bool:
    return type(value) in ARRAYS


def holds(value: Any, is_one: Callable[[Any], bool]) -> bool:
    """Whether a value is one of a kind, or a nest of such."""
    waiting, met = [value], {}  # what was met is kept, so that no other object gets its id
    while waiting:
        part = waiting.pop()
        if is_one(part):
            return True
        if id(part) not in met:
            met[id(part)] = part
            waiting += [one for _, one in parts_of(part) or ()]
    return False


def _holds_arrays(value: Any) -> bool:
    return holds(value, _is_array)


def has_passing(value: Any) -> bool:
    """Whether a value is an iterator, or a nest of tuples, lists and dictionaries with one. What objects have may never be read."""
    if isinstance(value, (tuple, list, dict)):
        return any(has_passing(part) for _, part in parts_of(value) or ())
    return isinstance(value, _PASSING) and not isinstance(value, IOBase) and parts_of(value) is None


_MADE: dict[type, Callable[[Any, list[Any]], Any]] = {
    tuple: lambda value, parts: tuple.__new__(type(value), parts),
    list: _with_items,
    dict: _with_items,
    deque: lambda value, parts: _with_items(value, parts[:-1]),
}
_HEAP_TYPE = 1 << 9  # a flag of types that are made while Python runs
# What the methods are of types that are written in C.
_OF_C = (WrapperDescriptorType, MethodDescriptorType, ClassMethodDescriptorType)


@_by_type
def kind_of(kind: Any) -> Kind | None:
    """How values of a type are taken apart; None for types whose values are compared as a whole."""
    if kind in KINDS:
        return KINDS[kind]
    if issubclass(kind, _WHOLE) or kind.__module__ in _SERVICES:
        return None
    for base, made in _MADE.items():
        if issubclass(kind, base):
            return _subclass(base, made)
    # Types that are written in C may keep what no attribute tells, and attributes that cannot be set.
    return None if any(map(_is_written_in_c, kind.__mro__[:-1])) else Kind(_of_object, _object)


def _is_written_in_c(kind: type) -> bool:
    """Whether no statement of Python has made a type: some of C's are made while Python runs too, more in each version of it."""
    members = vars(kind)
    if not kind.__flags__ & _HEAP_TYPE or type(members.get("__new__")) is BuiltinFunctionType:
        return True
    own = [type(one) for one in members.values() if getattr(one, "__objclass__", None) is kind]
    return any(one in _OF_C for one in own) or (MemberDescriptorType in own and "__slots__" not in members)


def parts_of(value: Any) -> list[tuple[Any, Any]] | None:
    """The parts of a nest by name or place; None for what is none."""
    kind = kind_of(type(value))
    return None if kind is None else kind.parts(value)


def mapped(value: Any, other: Callable[[Any], Any]) -> Any:
    """The same nest with other parts; what is none is returned as it is."""
    kind = kind_of(type(value))
    parts = None if kind is None else kind.parts(value)
    if kind is None or parts is None:
        return value
    return kind.made(value, [other(part) for _, part in parts])


def rebuilt(value: Any, leaf: Callable[[Any], Any], copies: list[tuple[Any, dict[Any, Any]]] | None = None) -> Any:
    """The same nest with other arrays and numbers: `leaf` gives that for each.

    `copies` gets what code can change, each with its parts.
    """
    if type(value) in LEAVES or isinstance(value, Token):
        return leaf(value)
    again = _with_keys(mapped(value, lambda part: rebuilt(part, leaf, copies)))
    if copies is not None and not isinstance(again, tuple) and (parts := parts_of(again)) is not None:
        copies.append((again, dict(parts)))
    return again


def _with_keys(value: Any) -> Any:
    """A nest in whose keys and sets are numbers, where tokens stand for these. Their values decide."""

    def other(key: Any) -> Any:
        if isinstance(key, Token):
            return key.decided()
        if type(key) not in (tuple, frozenset):
            return key
        parts = [*map(other, key)]
        return key if all(one is part for one, part in zip(key, parts, strict=True)) else type(key)(parts)

    if type(value) in (set, frozenset):
        return type(value)(map(other, value))
    if isinstance(value, dict) and any(other(key) is not key for key in value):
        items = [(other(key), one) for key, one in value.items()]
        for key in [*value]:
            del value[key]
        for key, one in items:
            value[key] = one
    return value


def filled(form: Any, results: Sequence[VkArray], scalars: Sequence[Any]) -> Any:
    """The nest with its arrays, and with numbers that were given. What else can be changed, such as an array of NumPy's, each call
    has a copy of."""
    if type(form) is Place:
        return results[form]
    if type(form) is Passed:
        return scalars[form]
    again = mapped(form, lambda part: filled(part, results, scalars))
    return copy.copy(form) if again is form and type(form).__hash__ is None else again
