"""What a program takes and returns: names, types, shapes and bounds."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..core.array import VkArray
from ..core.dtypes import DType
from ..graph import lengths, nest
from ..graph.dimensions import Axes, Dim
from ..graph.lengths import Derived, Symbolic, length_at

Length = int | Dim | Derived | None  # of an axis: None where it varies otherwise than these say


class Place(NamedTuple):
    """Stands in the nest of a program's arguments for an input: which one."""

    number: int


class Input(NamedTuple):
    """An argument of a program: an array, or a number of Python's.

    `dtype` is int, float or complex for a number, whose shape is None. `value` is the number itself where the program holds for
    that one alone.
    """

    name: str
    dtype: Any
    shape: tuple[int | Dim | Derived, ...] | None
    value: complex | None = None

    def __str__(self) -> str:
        if self.shape is None:
            return f"{self.name}: {self.dtype.__name__}" + (f" = {self.value}" if self.value is not None else "")
        return f"{self.name}: {told(self.shape)} {self.dtype.name}"


class Output(NamedTuple):
    """A result of a program. A length of None is another one for other arguments."""

    name: str
    dtype: DType
    shape: tuple[Length, ...]

    def __str__(self) -> str:
        return f"{self.name}: {told(self.shape)} {self.dtype.name}"


def told(shape: Sequence[Length]) -> str:
    """A shape in a text."""
    texts = ["?" if one is None else lengths.told(one) for one in shape]
    return f"({', '.join(texts)}{',' * (len(texts) == 1)})"


def leaves_of(value: Any, path: str = "") -> list[tuple[str, Any]]:
    """The arrays and numbers in a nest, each with where it stands."""
    if type(value) in nest.LEAVES:
        return [(path, value)]
    found = []
    for name, part in nest.parts_of(value) or ():
        found += leaves_of(part, f"{path}[{name!r}]" if path else str(name))
    return found


def argument_names(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    """What the arrays and numbers among the arguments of a call are called: by parameters, and by their places in nests."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    positional = [one.name for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    several = next((one.name for one in parameters if one.kind is one.VAR_POSITIONAL), "input")
    called = []
    for number, value in enumerate(args):
        name = positional[number] if number < len(positional) else f"{several}{number - len(positional)}"
        called += [path for path, _ in leaves_of({name: value})]
    return called + [path for path, _ in leaves_of(kwargs)]


def inputs_of(leaves: Sequence[Any], names: Sequence[str], axes: Mapping[int, Axes]) -> list[Input]:
    """The inputs of a program that is made with these arrays and numbers."""
    found = []
    for name, value in zip(names, leaves, strict=True):
        if type(value) is VkArray:
            dims = axes.get(id(value), {})
            shape = tuple(dims[axis].dim if axis in dims else length for axis, length in enumerate(value.shape))
            found.append(Input(name, value.dtype, shape))
        else:
            found.append(Input(name, type(value), None))
    return found


def given(one: Input, sizes: Mapping[Dim, int]) -> Any:
    """What stands for an input: a number, or a shape and a type. Raises ValueError for dimensions that leave a length below 0."""
    if one.shape is None:
        return one.dtype(1) if one.value is None else one.value
    shape = tuple(length_at(length, sizes) for length in one.shape)
    if any(length < 0 for length in shape):
        raise ValueError(f"{one.name} would have the shape {shape}, of {told(one.shape)}. Choose other lengths.")
    return shape, one.dtype


def checked(program: str, inputs: Sequence[Input], leaves: Sequence[Any], device: Any) -> dict[Dim, int]:
    """The lengths of the dimensions. Raises TypeError and ValueError for arguments that do not fit."""
    met: dict[Dim, tuple[int, str]] = {}
    derived: list[tuple[int, Derived, str]] = []
    for one, value in zip(inputs, leaves, strict=True):
        if one.shape is None:
            if value.__class__ is not one.dtype:  # which what stands for a number has as well
                raise TypeError(
                    f"{program}: {one.name} is {value!r:.40}; expected a number of type {one.dtype.__name__}."
                )
            if one.value is not None and repr(value) != repr(one.value):  # NaN is NaN, and -0.0 is not 0.0
                raise ValueError(
                    f"{program}: {one.name} is {value!r:.40}, and the program was made for {one.value!r}, by which its function "
                    "decides. Make another program for another value."
                )
            continue
        if not isinstance(value, VkArray):  # as what stands for one is
            raise TypeError(
                f"{program}: {one.name} is of type {type(value).__name__}; expected an array, {told(one.shape)} {one.dtype.name}. "
                "Make one of it with vkarray.asarray."
            )
        if value.dtype is not one.dtype:
            raise TypeError(
                f"{program}: {one.name} has the type {value.dtype.name}; expected {one.dtype.name}. Convert it with "
                "vkarray.astype."
            )
        if value.device is not device:
            raise ValueError(
                f"{program}: {one.name} is on {value.device!r}, and the program runs on {device!r}. Move it with to_device, or "
                "load the program for the other device."
            )
        derived += _check_shape(program, one, value.shape, met)
    sizes = {dim: length for dim, (length, _) in met.items()}
    lengths.check(derived, program, sizes)
    return sizes


def dims_of(inputs: Sequence[Input]) -> list[Dim]:
    """The dimensions of inputs, in order."""
    return list(dict.fromkeys(one for put in inputs for one in put.shape or () if isinstance(one, Dim)))


def _check_shape(
    program: str, one: Input, shape: tuple[int, ...], met: dict[Dim, tuple[int, str]]
) -> list[tuple[int, Derived, str]]:  # fmt: skip
    """Compare a shape with an input's, and note the lengths of dimensions. Returns the lengths that follow from these."""
    derived: list[tuple[int, Derived, str]] = []
    assert one.shape is not None
    fits = len(shape) == len(one.shape)
    if not fits or any(
        length != own for length, own in zip(shape, one.shape, strict=True) if not isinstance(own, Symbolic)
    ):
        raise ValueError(f"{program}: {one.name} has the shape {shape}; expected {told(one.shape)}.")
    for axis, (length, dim) in enumerate(zip(shape, one.shape, strict=True)):
        place = f"dimension {axis} of {one.name}"
        if isinstance(dim, Derived):
            derived.append((length, dim, place))
        if not isinstance(dim, Dim):
            continue
        if length < dim.min or (dim.max is not None and length > dim.max):
            raise ValueError(f"{program}: {place} has length {length}; expected {bounds(dim)}.")
        other, where = met.setdefault(dim, (length, place))
        if other != length:
            raise ValueError(
                f"{program}: {where} has length {other} and {place} has length {length}, and both are the dimension "
                f"{dim.name!r}. Give arrays of one length."
            )
    return derived


def bounds(dim: Dim) -> str:
    """The lengths of a dimension in a text."""
    return f"{dim.name} from {dim.min} on" if dim.max is None else f"{dim.name} from {dim.min} to {dim.max}"
