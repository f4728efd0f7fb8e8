"""Lengths that vary in a program: what the host computes with them, and whether a program holds for all of them."""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import vkarray as vx

from ..core.array import VkArray
from ..core.dtypes import DTYPES, DType
from ..graph.dimensions import Dim
from ..graph.lengths import Derived
from ..graph.stand_ins import NumberOnTape
from .types import Description, held

# A length that varies is a number of a tape's. NumPy's arrays of objects hold such numbers, and these stand for int64.
# What NumPy computes of them by Python's operators; the rest is done by the device.
ARITHMETIC = frozenset(
    (
        "Add", "Cast", "Concat", "Div", "Equal", "Flatten", "Gather", "Greater", "GreaterOrEqual", "Identity", "Less",
        "LessOrEqual", "Max", "Min", "Mod", "Mul", "Neg", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum", "Reshape",
        "Slice", "Split", "Squeeze", "Sub", "Sum", "Transpose", "Unsqueeze", "Where",
    )
)  # fmt: skip


def vary(host: np.ndarray[Any, Any]) -> bool:
    """Whether an array of the host has numbers of a tape's."""
    return host.dtype == object


def dtype_of(host: np.ndarray[Any, Any]) -> DType:
    """The type of the elements of an array of the host."""
    return DTYPES["int64" if vary(host) else host.dtype.name]


def numbers(lengths: Any) -> np.ndarray[Any, Any]:
    """Lengths, or one, as an array of the host."""
    listed = lengths if isinstance(lengths, tuple) else (lengths,)
    found = np.empty(len(listed), np.int64 if all(type(one) is int for one in listed) else object)
    found[:] = listed
    return found if isinstance(lengths, tuple) else found.reshape(())


def array_of(host: np.ndarray[Any, Any], device: Any) -> VkArray:
    """Lengths that vary as an array of the device."""
    dtype = held(vx.int64, device)
    each = [vx.full((), one, dtype=dtype, device=device) for one in host.reshape(-1).tolist()]
    return vx.reshape(vx.stack(each), host.shape) if each else vx.zeros(host.shape, dtype=dtype, device=device)


def quotient(a: Any, b: Any) -> Any:
    """Of integers, rounded towards 0."""
    return a // b if (a < 0) == (b < 0) else -(-a // b)


def broadcast(x: VkArray, shape: Sequence[Any]) -> VkArray:
    """x and a shape broadcast together, which decides nothing by lengths."""
    return vx.broadcast_arrays(x, vx.broadcast_to(vx.zeros((), dtype=x.dtype, device=x.device), tuple(shape)))[0]


def on_tape(*shapes: Sequence[Any]) -> bool:
    """Whether a length is a number of a tape's."""
    return any(type(one) is NumberOnTape for shape in shapes for one in shape)


class Asked:
    """The shapes that nodes ask for, in their order: noted, or, given those that were noted for other lengths, told apart."""

    def __init__(self, first: Asked | None = None, second: Asked | None = None) -> None:
        self.noted: list[tuple[int, ...]] = []
        self.vary: list[tuple[bool, ...]] = []
        if first is not None and second is not None:
            self.vary = [tuple(map(operator.ne, *both)) for both in zip(first.noted, second.noted, strict=False)]

    def anew(self) -> Asked:
        """The same, for another run."""
        self.noted.clear()
        return self

    def __call__(self, shape: tuple[Any, ...]) -> tuple[Any, ...]:
        """Of a shape the numbers of Python's, but for lengths that vary."""
        known = self.vary[len(self.noted)] if len(self.noted) < len(self.vary) else ()
        known = known if len(known) == len(shape) else (False,) * len(shape)
        found = tuple(one if varies else operator.index(one) for one, varies in zip(shape, known, strict=True))
        self.noted.append(tuple(0 if varies else one for one, varies in zip(found, known, strict=True)))
        return found


def named(model: str, inputs: Sequence[Description], dynamic: Mapping[str, Any]) -> dict[str, Dim | Derived]:
    """What is given by the names that a model has for lengths. Raises TypeError and ValueError for others."""
    names = list(dict.fromkeys(one for put in inputs for one in put.shape or () if isinstance(one, str)))
    if not isinstance(dynamic, Mapping):
        raise TypeError(
            f"{model}: dynamic is of type {type(dynamic).__name__}; expected a dictionary, such as "
            f'{{"{names[0] if names else "batch"}": vkarray.Dim("batch", max=64)}}.'
        )
    for name, dim in dynamic.items():
        if name not in names:
            raise ValueError(
                f"{model}: dynamic names the length {name!r}, which no input has. Name one of these: {', '.join(names) or 'none'}."
            )
        if not isinstance(dim, (Dim, Derived)):
            raise TypeError(
                f"{model}: dynamic gives {dim!r:.60} for the length {name!r}. Expected a vkarray.Dim, or arithmetic with such."
            )
        for one in dim.dims if isinstance(dim, Derived) else ():
            if one not in dynamic.values():
                raise ValueError(
                    f"{model}: dynamic gives {dim} for the length {name!r}, and no length is {one.name} itself. Give "
                    f"{one!r} for one."
                )
    return dict(dynamic)


_OPERATORS: dict[type, Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip


def derived(inputs: Sequence[Description], known: Mapping[str, Any]) -> dict[str, Any]:
    """The lengths of inputs that are called by what they follow from, such as `past + new`, where all of that is known.

    `known` are dimensions or numbers by their names. What it names is not derived.
    """
    found = {}
    for name in dict.fromkeys(one for put in inputs for one in put.shape or () if isinstance(one, str)):
        if name not in known:
            try:
                found[name] = computed(name, known)
            except ValueError:  # it is just a name, or not known
                continue
    return found


def computed(text: str, known: Mapping[str, Any]) -> Any:
    """What a text such as `past + new` stands for. Raises ValueError for one that is no arithmetic with what is known."""
    try:
        return _computed(ast.parse(text.strip(), mode="eval").body, known)
    except (ArithmeticError, KeyError, SyntaxError, TypeError) as error:
        raise ValueError(f"{text!r:.60} is no arithmetic with {', '.join(known) or 'any length'}") from error


def _computed(text: ast.expr, known: Mapping[str, Any]) -> Any:
    if isinstance(text, ast.BinOp):
        return _OPERATORS[type(text.op)](_computed(text.left, known), _computed(text.right, known))
    if isinstance(text, ast.Constant) and type(text.value) is int:
        return text.value
    return known[text.id if isinstance(text, ast.Name) else ""]


def following(inputs: Sequence[Description], sizes: Mapping[str, int], dims: Mapping[str, Any]) -> dict[str, Any]:
    """The lengths that follow from dimensions, where the others stay what they are."""
    known = {name: length for name, length in sizes.items() if name.isidentifier()}
    return {name: one for name, one in derived(inputs, known | dict(dims)).items() if type(one) is not int}


def examples(dims: Mapping[str, Dim], given: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """Two lengths of each dimension: the given one, unless it is 0 or 1, which many operations broadcast, and another."""
    first: dict[str, int] = {}
    second: dict[str, int] = {}
    for name, dim in dims.items():
        most = dim.max if dim.max is not None else max(given[name], dim.min, 2) * 2
        one = given[name] if dim.min <= given[name] <= most else dim.min
        one = min(max(one, 2), most)
        others = [length for length in (2 * one, one + 1, one // 2, one - 1) if dim.min <= length <= most]
        first[name], second[name] = one, (others or [one])[0]
    return first, second
