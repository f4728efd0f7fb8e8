"""Dimensions whose length may vary from call to call of a compiled function: of which arguments, and within which bounds."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..core.array import VkArray
from . import lengths, nest
from .lengths import Derived, Symbolic


class Dim(Symbolic):
    """A length that may be another one in each call of a compiled function.

    Parameters: name; min and max (the least and the greatest length; None: without a bound). The same dimension on several axes
    means that their lengths agree. Lengths that follow from others are written as arithmetic: `past + new`, `2 * n`, `n // 2 + 1`.
    Raises ValueError for bounds that hold no length.
    """

    __slots__ = ("max", "min", "name")

    def __init__(self, name: str, *, min: int = 1, max: int | None = None) -> None:
        if not isinstance(name, str):
            raise TypeError(f"Dim: expected a name, got {name!r:.40}.")
        try:
            least = operator.index(min)
            most = None if max is None else operator.index(max)
        except TypeError:
            raise TypeError(f"Dim: {name!r} has min={min!r:.40} and max={max!r:.40}. Give whole numbers.") from None
        if least < 0 or (most is not None and most < least):
            raise ValueError(f"Dim: {name!r} has no length between min={min} and max={max}. Give 0 <= min <= max.")
        self.name, self.min, self.max = name, least, most

    def __repr__(self) -> str:
        return f"Dim({self.name!r}, min={self.min}, max={self.max})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dim) and (self.name, self.min, self.max) == (other.name, other.min, other.max)

    def __hash__(self) -> int:
        return hash((self.name, self.min, self.max))


class Named(NamedTuple):
    """An axis of an argument whose length is a dimension, and how errors call the argument."""

    dim: Dim | Derived
    argument: str


Axes = dict[int, Named]  # the dynamic axes of an array


class Dynamic:
    """Which axes of the arguments of a function are dynamic."""

    def __init__(self, function: Callable[..., Any], given: Mapping[str, Any]) -> None:
        """Raises TypeError and ValueError for what does not fit the function's parameters, as far as these say."""
        name = getattr(function, "__qualname__", type(function).__name__)
        if not isinstance(given, Mapping):
            raise TypeError(
                f"compile: dynamic is {given!r:.60}. Give a dictionary by the names of {name}'s parameters, such as "
                '{"x": {0: vkarray.Dim("batch", max=64)}}.'
            )
        try:
            self.signature = inspect.signature(function)
        except (TypeError, ValueError):
            raise TypeError(f"compile: {name} does not tell its parameters, which dynamic names.") from None
        for parameter in given:
            if parameter not in self.signature.parameters:
                raise ValueError(
                    f"compile: dynamic names {parameter!r}, which is no parameter of {name}. Name one of these: "
                    f"{', '.join(self.signature.parameters)}."
                )
        dims: dict[str, Dim] = {}
        for dim in _dims_in(given):
            before = dims.setdefault(dim.name, dim)
            if before != dim:
                raise ValueError(
                    f"compile: {before} and {dim} have one name. Use one Dim for lengths that agree, and two names for others."
                )
        self.given, self.name = given, name

    def axes(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[int, Axes]:
        """The dynamic axes of the arrays among the arguments of a call, by the identity of these."""
        found: dict[int, Axes] = {}
        try:
            arguments = self.signature.bind(*args, **kwargs).arguments
        except TypeError:  # the function says it in its own words
            return found
        for name, what in self.given.items():
            if what is not None and name in arguments:
                self._walk(arguments[name], what, name, found)
        return found

    def _walk(self, value: Any, what: Any, path: str, found: dict[int, Axes]) -> None:
        if type(value) is VkArray:
            self._axes(value, what, path, found.setdefault(id(value), {}))
            return
        if value is None:  # an argument that may be left out
            return
        parts = nest.parts_of(value)
        if parts is None:
            raise ValueError(
                f"{self.name}: dynamic names {path}, which is {value!r:.40}. Name arguments that are arrays."
            )
        for name, one in _by_name(what, len(parts), path, self.name):
            chosen = [part for own, part in parts if own == name]
            if not chosen:
                raise ValueError(
                    f"{self.name}: dynamic names {path}[{name!r}]; {path} has {', '.join(repr(own) for own, _ in parts)}. Name one "
                    "of these."
                )
            if one is not None:
                self._walk(chosen[0], one, f"{path}[{name!r}]", found)

    def _axes(self, array: VkArray, what: Any, path: str, axes: Axes) -> None:
        rank = len(array._shape)
        for axis, dim in _by_name(what, rank, path, self.name):
            if dim is None:
                continue
            if not isinstance(dim, (Dim, Derived)) or not isinstance(axis, int):
                raise TypeError(
                    f"{self.name}: dynamic gives {axis!r}: {dim!r:.60} for the array {path}. Expected axes with a Dim each."
                )
            if not -rank <= axis < rank:
                raise ValueError(
                    f"{self.name}: dynamic names dimension {axis} of {path}, whose shape is {array._shape}. Name one that it has."
                )
            axes[axis % rank] = Named(dim, path)


def _by_name(what: Any, count: int, path: str, function: str) -> list[tuple[Any, Any]]:
    if isinstance(what, Mapping):
        return list(what.items())
    if isinstance(what, Sequence) and not isinstance(what, str):
        if len(what) != count:
            raise ValueError(
                f"{function}: dynamic gives {len(what)} entries for {path}, which has {count}. Give one for each, or None."
            )
        return list(enumerate(what))
    raise TypeError(f"{function}: dynamic gives {what!r:.60} for {path}. Expected a dictionary or a sequence.")


def _dims_in(what: Any) -> list[Dim]:
    if isinstance(what, Dim):
        return [what]
    if isinstance(what, Derived):
        return list(what.dims)
    if isinstance(what, Mapping):
        return [dim for one in what.values() for dim in _dims_in(one)]
    return [dim for one in what for dim in _dims_in(one)] if isinstance(what, (list, tuple)) else []


def check(name: str, arrays: Sequence[VkArray], axes: Mapping[int, Axes]) -> dict[Dim, int]:
    """The lengths of all dimensions. Raises ValueError for one out of bounds, and for lengths of one dimension that differ."""
    met: dict[Dim, tuple[int, str]] = {}
    derived: list[tuple[int, Derived, str]] = []
    for array in arrays:
        for axis, (dim, argument) in sorted(axes.get(id(array), {}).items()):
            length, place = array._shape[axis], f"dimension {axis} of {argument}"
            if isinstance(dim, Derived):
                derived.append((length, dim, place))
                continue
            if length < dim.min or (dim.max is not None and length > dim.max):
                bound = f"min={dim.min}" if length < dim.min else f"max={dim.max}"
                raise ValueError(
                    f"{name}: {place} has length {length}, and the dimension {dim.name!r} is compiled for {bound}. Give an array "
                    f"within the bounds, or compile with another {bound.partition('=')[0]} of the Dim."
                )
            other, where = met.setdefault(dim, (length, place))
            if other != length:
                raise ValueError(
                    f"{name}: {where} has length {other} and {place} has length {length}, and both are the dimension "
                    f"{dim.name!r}. Give arrays of one length, or name the dimensions differently."
                )
    sizes = {dim: length for dim, (length, _) in met.items()}
    lengths.check(derived, name, sizes)
    return sizes


def form_of(array: VkArray, dynamic: Mapping[int, Axes]) -> tuple[Any, ...]:
    """What a tape may depend on of an array: its type, and its shape but for dynamic axes."""
    axes = dynamic.get(id(array), {})
    shape = tuple(axes[axis].dim if axis in axes else length for axis, length in enumerate(array._shape))
    return array._dtype, array._device, shape
