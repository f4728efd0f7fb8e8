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
    CellType,
    ClassMethodDescriptorType,
    CodeType,
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
        if isinstance(value, _PLAIN) and not isinstance(value, enum.Enum) and (besides := _attributes(value)):
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
        return {} if _is_its_own(value) else _attributes(value)

    def again(value: Any, parts: list[Any]) -> Any:
        count = len(items(value))
        found = made(value, parts[:count])
        if _is_its_own(value):
            found.__dict__ = found
        return _with_attributes(found, besides(value), parts[count:])

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


def _attributes(value: Any) -> dict[str, Any]:
    found = dict(getattr(value, "__dict__", ()))
    for name in _slots(type(value)):
        if hasattr(value, name):
            found[name] = getattr(value, name)
    return found


def _with_attributes(again: Any, names: Iterable[str], parts: Sequence[Any]) -> Any:
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
    kind, attributes = type(value), _attributes(value)
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
    attributes = _attributes(value)
    alike = all(one is part for one, part in zip(attributes.values(), parts, strict=True))
    if alike and not dataclasses.is_dataclass(value):
        return value
    return _with_attributes(object.__new__(type(value)), attributes, parts)


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
def _kind_of(kind: Any) -> Kind | None:
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
    kind = _kind_of(type(value))
    return None if kind is None else kind.parts(value)


def mapped(value: Any, other: Callable[[Any], Any]) -> Any:
    """The same nest with other parts; what is none is returned as it is."""
    kind = _kind_of(type(value))
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
    again = _with_keys(mapped(value, lambda part: rebuilt(part, leaf, copies)), leaf)
    if copies is not None and not isinstance(again, tuple) and (parts := parts_of(again)) is not None:
        copies.append((again, dict(parts)))
    return again


def _with_keys(value: Any, leaf: Callable[[Any], Any]) -> Any:
    """A nest in whose keys and sets are other numbers, where tokens stand for these."""

    def other(key: Any) -> Any:
        if isinstance(key, Token):
            return leaf(key)
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


def changed(copies: Sequence[tuple[Any, dict[Any, Any]]]) -> Iterator[Any]:
    """The nests whose parts are others than they were, but for what properties keep that are computed once."""
    for nest, before in copies:
        now = dict(parts_of(nest) or ())
        kept = {name for name in now if name not in before and _is_kept(nest, name)}
        if [*before] != [name for name in now if name not in kept] or any(
            now[name] is not before[name] for name in before
        ):
            yield nest


def put_back(copies: Sequence[tuple[Any, dict[Any, Any]]], traced: Callable[[Any], bool]) -> None:
    """Give objects the attributes that they had before code ran for which arrays and numbers stand in.

    What properties keep stays, but for what is `traced`.
    """
    for nest, before in copies:
        kind = _kind_of(type(nest))
        if kind is None or kind.made is not _object:
            continue
        for name, value in _attributes(nest).items():
            if name not in before and not (_is_kept(nest, name) and _is_free_of(value, traced)):
                object.__delattr__(nest, name)
        _with_attributes(nest, before, list(before.values()))


def objects_of(function: Any) -> list[tuple[Any, dict[str, Any]]]:
    """The objects of a method, or of an object that is called, each with its attributes."""
    found: dict[int, tuple[Any, dict[str, Any]]] = {}
    waiting = [function.__self__ if isinstance(function, MethodType) else function]
    while waiting:
        value = waiting.pop()
        kind = _kind_of(type(value))
        if kind is None or id(value) in found:
            continue
        found[id(value)] = value, _attributes(value) if kind.made is _object else {}
        waiting += [part for _, part in kind.parts(value) or ()]
    return [one for one in found.values() if one[1]]


def take_back(objects: Sequence[tuple[Any, dict[str, Any]]], traced: Callable[[Any], bool]) -> list[str]:
    """Give objects back the attributes in which code has kept what is traced. Returns the names of those that were set."""
    names = []
    for nest, before in objects:
        for name, value in _attributes(nest).items():
            if value is before.get(name, before) or _is_free_of(value, traced):
                continue
            if name in before:
                _with_attributes(nest, [name], [before[name]])
            else:
                object.__delattr__(nest, name)
            if not _is_kept(nest, name):
                names.append(f"{type(nest).__name__}.{name}")
    return names


class Variable(NamedTuple):
    """A variable of a function's that lies outside of it: a global one, one of a function around it, or a default."""

    name: str
    before: Any
    now: Callable[[], Any]
    put: Callable[[Any], None]
    items: Any = None  # of a list, a dictionary, a set or a queue


def variables_of(function: Any) -> list[Variable]:
    """The variables outside of a function that it and the functions in it may set, with their values."""
    if not isinstance(function, FunctionType):
        return []
    space = function.__globals__
    found = [
        Variable(name, space[name], functools.partial(space.get, name), functools.partial(space.__setitem__, name))
        for name in _names_in(function.__code__) & space.keys()
    ]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        now = functools.partial(_content, cell)
        found.append(Variable(name, now(), now, functools.partial(setattr, cell, "cell_contents")))
    places = function.__code__.co_varnames[: function.__code__.co_argcount]
    defaults = {
        **dict(zip(places[::-1], (function.__defaults__ or ())[::-1], strict=False)),
        **(function.__kwdefaults__ or {}),
    }
    found += [Variable(name, one, functools.partial(_itself, one), _itself) for name, one in defaults.items()]
    return [one._replace(items=copy.copy(one.before)) if type(one.before) in _FILLED else one for one in found]


_FILLED = (list, dict, set, deque)  # what code can fill


def _itself(value: Any) -> Any:
    """What a default is: it stays."""
    return value


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it has none yet
        return None


def _names_in(code: CodeType) -> set[str]:
    return set(code.co_names).union(*(_names_in(one) for one in code.co_consts if isinstance(one, CodeType)))


def set_back(variables: Sequence[Variable], traced: Callable[[Any], bool]) -> list[str]:
    """Give variables in which code has kept what is traced the values that they had. Returns the names of those."""
    names = []
    for one in variables:
        value = one.now()
        if value is not one.before and not _is_free_of(value, traced):
            one.put(one.before)
            names.append(one.name)
        elif value is one.before and one.items is not None and any(map(traced, _added(value, one.items))):
            value.clear()
            _ = value.extend(one.items) if hasattr(value, "extend") else value.update(one.items)
            names.append(one.name)
    return names


def _added(value: Any, before: Any) -> Iterator[Any]:
    """What a list, a dictionary, a set or a queue holds that it did not hold before."""
    now, then = ((one.values() if isinstance(one, dict) else one) for one in (value, before))
    known = set(map(id, then))
    return (one for one in now if id(one) not in known)


def _is_free_of(value: Any, traced: Callable[[Any], bool]) -> bool:
    try:
        return not holds(value, traced)
    except RecursionError:  # of objects that refer to each other
        return False


def _is_kept(value: Any, name: Any) -> bool:
    return isinstance(name, str) and isinstance(getattr(type(value), name, None), functools.cached_property)
