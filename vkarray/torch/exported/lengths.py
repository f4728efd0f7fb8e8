"""Lengths that vary: PyTorch's symbols as dimensions of a program."""

from __future__ import annotations

import importlib
import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ...graph.dimensions import Dim


class Lengths:
    """The dimensions of an exported model: one for each symbol that is the length of an axis of an argument.

    `axes` has for each leaf of the arguments its axes with their dimensions. Lengths that follow from others are dimensions of
    their own, and calls check them.
    """

    def __init__(
        self, fakes: Sequence[Any], names: Sequence[str], given: Sequence[Any], ranges: Mapping[Any, Any]
    ) -> None:
        """`fakes` are what PyTorch says of the leaves, and `given` what `dynamic_shapes` says of them."""
        self.axes: list[dict[int, Dim] | None] = []
        self._symbols: dict[Any, tuple[int, int]] = {}  # where the length is that a symbol stands for
        self._derived: list[tuple[int, int, Any]] = []
        dims: dict[Any, Dim] = {}
        for leaf, (fake, name, said) in enumerate(zip(fakes, names, given, strict=True)):
            shape = fake.shape if isinstance(fake, torch.Tensor) else ()
            found: dict[int, Dim] = {}
            for axis, length in enumerate(shape):
                if isinstance(length, int):
                    continue
                expression = length.node.expr
                if expression not in dims:
                    own = _called(said, axis) or f"{name}_{axis}"
                    dims[expression] = _dim(own, ranges, expression)
                if expression.is_Symbol:
                    self._symbols.setdefault(expression, (leaf, axis))
                else:
                    self._derived.append((leaf, axis, expression))
                found[axis] = dims[expression]
            self.axes.append(found or None)

    def check(self, leaves: Sequence[Any]) -> None:
        """Compare lengths that follow from others. Raises ValueError."""
        for leaf, axis, expression in self._derived:
            symbols = sorted(expression.free_symbols, key=str)
            if not all(one in self._symbols for one in symbols):
                continue
            lengths = [leaves[place].shape[own] for place, own in map(self._symbols.__getitem__, symbols)]
            if leaves[leaf].shape[axis] != _function(symbols, expression)(*lengths):
                raise ValueError(f"dimension {axis} of argument {leaf} has another length than {expression}")


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
    if isinstance(said, Mapping):
        signature = inspect.signature(model.forward)
        others = next((one.name for one in signature.parameters.values() if one.kind is one.VAR_KEYWORD), None)
        among = {**(said.get(others) or {}), **said}
        given = [*signature.bind_partial(*args).arguments.items(), *kwargs.items()]
        return [leaf for name, value in given for leaf in _walked(value, among.get(name))]
    values = [*args, *kwargs.values()]
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
