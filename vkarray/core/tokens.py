"""Scalars of a call that is watched: they note when code decides by their value, which a plan for other values cannot know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_TELLING = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__str__", "__repr__", "__format__"}
_QUIET = {*dir(object), "__getnewargs__"} - _TELLING  # methods that every class has, none of which tells a value


class Token:
    """A scalar argument of a watched call: a number that knows its place among the scalars of the call."""

    place: int
    plain: complex  # the number itself; to take it decides nothing
    noticed: set[int]  # the places of those whose values decide


def _noticing(base: type, name: str) -> Callable[..., Any]:
    original = getattr(base, name)

    def method(self: Any, *arguments: Any) -> Any:
        self.noticed.add(self.place)
        return original(self, *arguments)

    return method


def _token_type(base: type) -> type:
    names = [name for name in dir(base) if callable(getattr(base, name)) and name not in _QUIET]
    return type(f"{base.__name__.capitalize()}Token", (Token, base), {name: _noticing(base, name) for name in names})


_TYPES = {base: _token_type(base) for base in (int, float, complex)}


def token(value: complex, place: int, noticed: set[int]) -> Any:
    """A scalar argument as a token. Every use by code in Python is noticed; what C does with it, such as packing, is not."""
    made = _TYPES[type(value)](value)
    made.place, made.plain, made.noticed = place, value, noticed
    return made


def plain(value: Any) -> Any:
    """The number itself, where it is one of a watched call: for code whose result does not depend on it, and for checks that are
    made again for each value."""
    return value.plain if isinstance(value, Token) else value
