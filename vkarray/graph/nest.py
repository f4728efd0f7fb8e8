"""Nests of arguments and results: tuples, lists, dictionaries, dataclasses and objects, with arrays and numbers in them."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Hashable, Iterator, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from ..core.array import VkArray
from ..core.tokens import Token
from ..kernels.signature import look_of

NUMBERS = (int, float, complex)
_WHOLE = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)  # objects whose attributes do not count


def note(value: Any, key: list[Any], arrays: list[VkArray], scalars: list[Any]) -> None:
    """Add to the key what a trace may depend on, and to the lists the arrays and numbers in a value.

    Raises TypeError for a value that cannot be compared with those of other calls.
    """
    kind = type(value)
    if kind is VkArray:
        key.append(value._look or look_of(value))
        arrays.append(value)
    elif kind in NUMBERS:
        key.append(kind)
        scalars.append(value)
    elif (parts := parts_of(value)) is not None:
        key += (kind, len(parts))
        for name, part in parts:
            key.append(name)
            note(part, key, arrays, scalars)
    elif isinstance(value, Hashable):
        key += (kind, value)
    else:
        raise TypeError(
            f"got an argument of type {kind.__name__}, which holds no arrays and cannot be compared with that of another call. "
            "Give it as a tuple, or as an array."
        )


def parts_of(value: Any) -> list[tuple[Any, Any]] | None:
    """The parts of a nest by name or place; None for what is none."""
    kind = type(value)
    if kind is tuple or kind is list:
        return list(enumerate(value))
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, tuple):
        return list(enumerate(value))
    if isinstance(value, _WHOLE):
        return None
    if dataclasses.is_dataclass(value):
        return [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
    attributes = getattr(value, "__dict__", None)
    if type(attributes) is dict and any(map(_holds_arrays, attributes.values())):
        return list(attributes.items())
    return None


def _holds_arrays(value: Any, depth: int = 0) -> bool:
    if type(value) is VkArray:
        return True
    parts = parts_of(value) if depth < 8 and not isinstance(value, (str, bytes)) else None
    return parts is not None and any(_holds_arrays(part, depth + 1) for _, part in parts)


def rebuilt(value: Any, leaf: Callable[[Any], Any], copies: list[tuple[Any, list[Any]]] | None = None) -> Any:
    """The same nest with other arrays and numbers: `leaf` gives that for each.

    `copies` gets what code can change, each with its parts.
    """
    if type(value) is VkArray or type(value) in NUMBERS or isinstance(value, Token):
        return leaf(value)
    again = mapped(value, lambda part: rebuilt(part, leaf, copies))
    if copies is not None and again is not value and not isinstance(again, tuple):
        copies.append((again, [part for _, part in parts_of(again) or ()]))
    return again


def mapped(value: Any, other: Callable[[Any], Any]) -> Any:
    """The same nest with other parts; what is none is returned as it is."""
    kind, parts = type(value), parts_of(value)
    if parts is None:
        return value
    made = [(name, other(part)) for name, part in parts]
    if kind is tuple or kind is list:
        return kind(part for _, part in made)
    if isinstance(value, tuple):
        return kind(*(part for _, part in made))
    again: Any = copy.copy(value)
    if isinstance(value, dict):
        again.clear()
        again.update(made)
    else:
        for name, part in made:
            object.__setattr__(again, name, part)
    return again


def changed(copies: Sequence[tuple[Any, list[Any]]]) -> Iterator[Any]:
    """The nests whose parts are others than they were."""
    for nest, before in copies:
        now = [part for _, part in parts_of(nest) or ()]
        if len(now) != len(before) or any(one is not other for one, other in zip(now, before, strict=True)):
            yield nest
