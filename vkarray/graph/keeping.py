"""What code keeps outside of its results while it is traced: in arguments, objects, variables and defaults."""

from __future__ import annotations

import copy
import functools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any, NamedTuple

from .nest import attributes_of, holds, is_object, kind_of, parts_of, with_attributes

_FILLED = (list, dict, set, deque)  # what code can fill


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
        if not is_object(nest):
            continue
        for name, value in attributes_of(nest).items():
            if name not in before and not (_is_kept(nest, name) and _is_free_of(value, traced)):
                object.__delattr__(nest, name)
        with_attributes(nest, before, list(before.values()))


def objects_of(function: Any) -> list[tuple[Any, dict[str, Any]]]:
    """The objects of a method, or of an object that is called, each with its attributes."""
    found: dict[int, tuple[Any, dict[str, Any]]] = {}
    waiting = [function.__self__ if isinstance(function, MethodType) else function]
    while waiting:
        value = waiting.pop()
        kind = kind_of(type(value))
        if kind is None or id(value) in found:
            continue
        found[id(value)] = value, attributes_of(value) if is_object(value) else {}
        waiting += [part for _, part in kind.parts(value) or ()]
    return [one for one in found.values() if one[1]]


def take_back(objects: Sequence[tuple[Any, dict[str, Any]]], traced: Callable[[Any], bool]) -> list[str]:
    """Give objects back the attributes in which code has kept what is traced. Returns the names of those that were set."""
    names = []
    for nest, before in objects:
        for name, value in attributes_of(nest).items():
            if value is before.get(name, before) or _is_free_of(value, traced):
                continue
            if name in before:
                with_attributes(nest, [name], [before[name]])
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
