"""Scalars of a call that is watched: they note when code decides by their value, which a plan for other values cannot know."""

from __future__ import annotations

import operator
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

    def decided(self) -> Any:
        """The number itself, whose value decides from now on."""
        self.noticed.decide.add(self.place)
        return self.plain


def _noticing(base: type, name: str) -> Callable[..., Any]:
    original, operation = getattr(base, name), _OPERATIONS.get(name)

    def method(self: Any, *arguments: Any, **options: Any) -> Any:
        values = [plain(one) for one in arguments]
        if operation is not None and len(values) == 1 and isinstance(values[0], (int, float, complex)):
            # As Python does, which asks types that derive from the other one first.
            found = operation(self.plain, values[0])
        else:
            found = original(self.plain, *values, **options)
        if found is not NotImplemented:  # else the other operand, such as an array, says what happens
            for one in (self, *arguments):
                if isinstance(one, Token):
                    one.decided()
        return found

    return method


def _reflected(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, b: function(b, a)


# What Python's operators do with two numbers, by the names of methods.
_OPERATIONS: dict[str, Callable[..., Any]] = {
    f"__{name}__": getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")
}
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow"):
    _function = divmod if _name == "divmod" else getattr(operator, _name)
    _OPERATIONS |= {f"__{_name}__": _function, f"__r{_name}__": _reflected(_function)}


def _methods(base: type) -> dict[str, Any]:
    names = [name for name in dir(base) if callable(getattr(base, name)) and name not in _QUIET]
    return {**{name: _noticing(base, name) for name in names}, "__module__": base.__module__}


class _StandIn(Token):
    """A token that is no number to code in C either, which then asks for the value by a method."""

    def __array_ufunc__(self, function: Any, method: str, *arguments: Any, **options: Any) -> Any:
        values = [one.decided() if isinstance(one, _StandIn) else one for one in arguments]
        return getattr(function, method)(*values, **options)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self.plain), (self.decided(),)


_TYPES = {
    base: type(base.__name__, (Token, base), _methods(base)) for base in (int, float, complex)  # errors name the type
}  # fmt: skip


def _part(name: str) -> property:
    return property(lambda self: getattr(self.decided(), name))


_PARTS = {name: _part(name) for name in ("real", "imag")}
_PARTS["__class__"] = property(lambda self: type(self.plain))
_STAND_INS = {base: type(base.__name__, (_StandIn,), {**_methods(base), **_PARTS}) for base in (int, float, complex)}

TOKENS = frozenset((*_TYPES.values(), *_STAND_INS.values()))


def token(value: complex, place: int, noticed: Noticed) -> Any:
    """A scalar argument as a token. Every use by code in Python is noticed; what C does with it, such as packing, is not.

    C also computes with a float or a complex number on the left and a token of another type: that takes `float(token)`.
    """
    return _placed(_TYPES[type(value)](value), value, place, noticed)


def stand_in(value: complex, place: int, noticed: Noticed) -> Any:
    """A scalar argument as a token for code that may do anything with it: every use is noticed."""
    return _placed(_STAND_INS[type(value)](), value, place, noticed)


def _placed(made: Any, value: complex, place: int, noticed: Noticed) -> Any:
    made.place, made.plain, made.noticed = place, value, noticed
    return made


def decided(value: Any) -> Any:
    """The number itself, where it is one of a watched call: its value decides."""
    return value.decided() if isinstance(value, Token) else value


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
