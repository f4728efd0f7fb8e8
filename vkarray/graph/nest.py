"""Nests of arguments and results: tuples, lists, dictionaries, dataclasses and objects, with arrays and numbers in them."""

from __future__ import annotations

import copy
import dataclasses
import enum
import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from ..core.array import VkArray
from ..core.tokens import Token
from ..kernels.signature import look_of

NUMBERS = (int, float, complex)
ARRAYS: set[type] = {VkArray}  # and what stands for arrays
LEAVES: set[type] = {VkArray, *NUMBERS}  # and what stands for these
# Objects whose attributes do not count.
_WHOLE = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType, enum.Enum)


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
            key.append(name)
            note(part, key, arrays, scalars)
    elif isinstance(value, _numpys_scalar()):
        key += (kind, value.tobytes())  # -0.0 is not 0.0
    elif kind is set:
        key += (kind, frozenset(value))
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
    if type(attributes) is not dict:
        return None
    compared = (
        kind.__eq__ is not object.__eq__ or kind.__module__.partition(".")[0] == "vkarray"
    )  # by value, or as they are
    return None if compared and not any(map(_is_array, attributes.values())) else list(attributes.items())


def _is_array(value: Any) -> bool:
    return type(value) in ARRAYS


def _numpys_scalar() -> Any:
    numpy = sys.modules.get("numpy")  # who has one of its scalars has imported it
    return () if numpy is None else numpy.generic


def rebuilt(value: Any, leaf: Callable[[Any], Any], copies: list[tuple[Any, list[Any]]] | None = None) -> Any:
    """The same nest with other arrays and numbers: `leaf` gives that for each.

    `copies` gets what code can change, each with its parts.
    """
    if type(value) in LEAVES or isinstance(value, Token):
        return leaf(value)
    again = mapped(value, lambda part: rebuilt(part, leaf, copies))
    if copies is not None and not isinstance(again, tuple) and (parts := parts_of(again)) is not None:
        copies.append((again, [part for _, part in parts]))
    return again


def mapped(value: Any, other: Callable[[Any], Any]) -> Any:
    """The same nest with other parts; what is none is returned as it is."""
    kind, parts = type(value), parts_of(value)
    if parts is None:
        return value
    made = [(name, other(part)) for name, part in parts]
    if isinstance(value, tuple):
        return tuple.__new__(kind, [part for _, part in made])
    if kind is list:
        return [part for _, part in made]
    if isinstance(value, dict):
        again: Any = copy.copy(value)
        again.clear()
        again.update(made)
        return again
    if all(part is before for (_, part), (_, before) in zip(made, parts, strict=True)) and not dataclasses.is_dataclass(
        value
    ):
        return value
    again = copy.copy(value)
    for name, part in made:
        object.__setattr__(again, name, part)
    return again


def changed(copies: Sequence[tuple[Any, list[Any]]]) -> Iterator[Any]:
    """The nests whose parts are others than they were."""
    for nest, before in copies:
        now = [part for _, part in parts_of(nest) or ()]
        if len(now) != len(before) or any(one is not other for one, other in zip(now, before, strict=True)):
            yield nest
