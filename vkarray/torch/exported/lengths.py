"""Lengths that vary: PyTorch's symbols as dimensions of a program."""

from __future__ import annotations

import functools
import importlib
import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ...graph.dimensions import Dim
from ...graph.lengths import Derived


class Lengths:
    """The dimensions of an exported model: one for each symbol that is the length of an axis of an argument.

    `axes` has for each leaf of the arguments its axes with their dimensions, or with what follows from these. What a program has
    no words for is a dimension of its own, and calls check it.
    """

    def __init__(
        self, fakes: Sequence[Any], names: Sequence[str], given: Sequence[Any], ranges: Mapping[Any, Any]
    ) -> None:
        """`fakes` are what PyTorch says of the leaves, and `given` what `dynamic_shapes` says of them."""
        self.axes: list[dict[int, Dim | Derived] | None] = []
        self._symbols: dict[Any, tuple[int, int]] = {}  # where the length is that a symbol stands for
        self._derived: list[tuple[int, int, Any]] = []
        dims: dict[Any, Dim | Derived] = {}
        varying = [
            (leaf, axis, length.node.expr, _called(said, axis) or f"{name}_{axis}")
            for leaf, (fake, name, said) in enumerate(zip(fakes, names, given, strict=True))
            for axis, length in enumerate(fake.shape if isinstance(fake, torch.Tensor) else ())
            if not isinstance(length, int)
        ]
        for leaf, axis, expression, own in varying:
            if expression.is_Symbol and expression not in dims:
                dims[expression] = _dim(own, ranges, expression)
                self._symbols[expression] = leaf, axis
        self.names = {str(symbol): dim.name for symbol, dim in dims.items() if type(dim) is Dim}
        found: list[dict[int, Dim | Derived]] = [{} for _ in fakes]
        for leaf, axis, expression, own in varying:
            if expression not in dims:
                dims[expression] = derived(expression, dims) or _dim(own, ranges, expression)
            if type(dims[expression]) is Dim and not expression.is_Symbol:
                self._derived.append((leaf, axis, expression))
            found[leaf][axis] = dims[expression]
        self.axes += [one or None for one in found]

    def check(self, leaves: Sequence[Any]) -> None:
        """Compare lengths that follow from others otherwise than a program can say. Raises ValueError."""
        for leaf, axis, expression in self._derived:
            symbols = sorted(expression.free_symbols, key=str)
            if not all(one in self._symbols for one in symbols):
                continue
            lengths = [leaves[place].shape[own] for place, own in map(self._symbols.__getitem__, symbols)]
            if leaves[leaf].shape[axis] != _function(symbols, expression)(*lengths):
                raise ValueError(f"dimension {axis} of argument {leaf} has another length than {expression}")


def derived(expression: Any, dims: Mapping[Any, Dim | Derived]) -> Any:
    """What PyTorch says of a length in terms of dimensions; None where a program has no words for it."""
    if expression.is_Integer:
        return int(expression)
    if expression.is_Symbol:
        return dims.get(expression)
    parts = [derived(one, dims) for one in expression.args]
    operation = _OPERATIONS.get(type(expression).__name__)
    if operation is None or None in parts:
        return None
    try:
        return functools.reduce(
            operation, parts if operation in _ORDERED else sorted(parts, key=lambda part: type(part) is int)
        )
    except ValueError:  # divided by a length, or too long
        return None


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "Add": lambda a, b: a - -b if type(b) is int and b < 0 else a + b,
    "Mul": lambda a, b: b * a if type(b) is int else a * b,
    "FloorDiv": operator.floordiv,
    "PythonMod": operator.mod,
    "Mod": operator.mod,
    "Max": functools.partial(Derived, "max"),
    "Min": functools.partial(Derived, "min"),
}
_ORDERED = (operator.floordiv, operator.mod)


def _function(symbols: Sequence[Any], expression: Any) -> Callable[..., Any]:
    divisions = {"FloorDiv": operator.floordiv, "PythonMod": operator.mod, "Mod": operator.mod}
    made: Callable[..., Any] = importlib.import_module("sympy").lambdify(
        symbols, expression, modules=[divisions, "math"]
    )
    return made


def _dim(name: str, ranges: Mapping[Any, Any], expression: Any) -> Dim:
    found = ranges.get(expression)
    if found is None:
        return Dim(name)
    if not expression.is_Symbol and expression.free_symbols <= ranges.keys():  # those of its symbols may be narrower
        found = found & importlib.import_module("torch.utils._sympy.value_ranges").bound_sympy(expression, dict(ranges))
    most = int(found.upper) if found.upper.is_Integer else None
    return Dim(name, min=max(0, int(found.lower)), max=None if most is not None and most >= (1 << 62) else most)


def _called(said: Any, axis: int) -> str | None:
    """The name that a user gives a dimension."""
    if isinstance(said, Mapping):
        one = said.get(axis)
    elif isinstance(said, (list, tuple)):
        one = said[axis] if axis < len(said) else None
    else:
        return None
    name = one if isinstance(one, str) else getattr(one, "__name__", None)
    return str(name) if name is not None else None


def said_of_leaves(said: Any, model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
    """What `dynamic_shapes` says of each leaf of the arguments, in their order."""
    if hasattr(said, "dynamic_shapes"):  # a ShapesCollection
        said = said.dynamic_shapes(model, args, kwargs)
    signature = inspect.signature(model.forward)
    arguments = signature.bind_partial(*args).arguments
    if isinstance(said, Mapping):
        others = next((one.name for one in signature.parameters.values() if one.kind is one.VAR_KEYWORD), None)
        among = {**(said.get(others) or {}), **said}
        given = [*arguments.items(), *kwargs.items()]
        return [leaf for name, value in given for leaf in _walked(value, among.get(name))]
    values = [*arguments.values(), *kwargs.values()]
    each = list(said) if isinstance(said, (list, tuple)) else [None] * len(values)
    return [leaf for value, one in zip(values, each, strict=False) for leaf in _walked(value, one)]


def _walked(value: Any, said: Any) -> list[Any]:
    """What is said of the leaves of an argument: None of all, or of each of its parts."""
    leaves, spec = pytree.tree_flatten(value)
    if spec.is_leaf():
        return [said]
    if said is None:
        return [None] * len(leaves)
    parts = pytree.SUPPORTED_NODES[spec.type].flatten_fn(value)[0]
    others = [said.get(name) for name in value] if isinstance(value, Mapping) else list(said)
    return [leaf for part, one in zip(parts, others, strict=False) for leaf in _walked(part, one)]
