"""Scalars of a call that is watched: they note when code decides by their value, which a plan for other values cannot know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_TELLING = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__str__", "__repr__", "__format__"}
_QUIET = {*dir(object), "__getnewargs__"} - _TELLING  # methods that every class has, none of which tells a value


class Noticed:
    """What the scalars of a watched call have noticed, by their places among them."""

    def __init__(self) -> None:
        self.decide: set[int] = set()  # those whose values decide
        self.limits: dict[int, tuple[int, int]] = {}  # the least and the largest integer that is taken


class Token:
    """A scalar argument of a watched call: a number that knows its place among the scalars of the call."""

    place: int
    plain: complex  # the number itself; to take it decides nothing
    noticed: Noticed


def _noticing(base: type, name: str) -> Callable[..., Any]:
    original = getattr(base, name)

    def method(self: Any, *arguments: Any) -> Any:
        self.noticed.decide.add(self.place)
        for one in arguments:
            if isinstance(one, Token):
                one.noticed.decide.add(one.place)
        return original(self, *arguments)

    return method


def _token_type(base: type) -> type:
    names = [name for name in dir(base) if callable(getattr(base, name)) and name not in _QUIET]
    noticing = {name: _noticing(base, name) for name in names}
    return type(base.__name__, (Token, base), {**noticing, "__module__": base.__module__})  # errors name the type


_TYPES = {base: _token_type(base) for base in (int, float, complex)}


def token(value: complex, place: int, noticed: Noticed) -> Any:
    """A scalar argument as a token. Every use by code in Python is noticed; what C does with it, such as packing, is not.

    C also computes with a float or a complex number on the left and a token of another type: that takes `float(token)`.
    """
    made = _TYPES[type(value)](value)
    made.place, made.plain, made.noticed = place, value, noticed
    return made


def plain(value: Any) -> Any:
    """The number itself, where it is one of a watched call: for code whose result does not depend on it."""
    return value.plain if isinstance(value, Token) else value


def within(value: Any, low: int, high: int) -> bool:
    """Whether an integer is in a range, limits included. A plan asks again for each value."""
    if isinstance(value, Token):
        limits = value.noticed.limits
        least, largest = limits.get(value.place, (low, high))
        limits[value.place] = max(low, least), min(high, largest)
    return low <= plain(value) <= high
