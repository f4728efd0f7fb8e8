"""A loaded model: a callable that computes as a compiled function, or operation by operation where values decide."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import vkarray as vx

from ..core.array import VkArray
from ..errors import TraceError
from ..programs.program import Program
from . import types
from .graph import Graph, Node
from .interpreter import Known, Runner
from .needs import Needs
from .types import Description

_FEW = 1 << 16


class Explanation:
    """How a model is computed. Printed, it is a text. `reads`: pairs of a node and why it needs values; `values`: inputs whose
    values decide shapes or steps; `program`: what the compiled function does."""

    def __init__(self, name: str, reads: list[tuple[str, str]], values: list[str], program: Any) -> None:
        self.name, self.reads, self.values, self.program = name, reads, values, program

    def __str__(self) -> str:
        lines = [f"{self.name}: " + ("computed operation by operation" if self.reads else "compiled")]
        lines += [f"   {node}: {why}" for node, why in self.reads]
        if self.values:
            lines.append(f"   traced anew for other values of {', '.join(map(repr, self.values))}")
        return "\n".join([*lines, *([str(self.program)] if self.program is not None else [])])

    __repr__ = __str__


class _Values:
    """Values on the host, which a compiled function compares."""

    __slots__ = ("arrays", "key")

    def __init__(self, arrays: dict[str, np.ndarray[Any, Any]]) -> None:
        self.arrays = arrays
        self.key = tuple((name, one.dtype.str, one.shape, one.tobytes()) for name, one in arrays.items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Values) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


class Model:
    """An ONNX model that computes with vkarray. Made by `vkarray.onnx.load`.

    `inputs`, `outputs`: their names, types and shapes. A call takes arrays in the order of `inputs` or by name, and returns an
    array, or a tuple for several outputs.
    """

    def __init__(self, graph: Graph, device: Any, compile: bool) -> None:
        self.name = graph.name or "model"
        self.inputs: list[Description] = graph.inputs
        self.outputs: list[Description] = graph.outputs
        self.device = vx.asarray(0, device=device).device
        self._graph = graph
        _fold(graph, {})
        self._needs = Needs(graph)
        self._runner = Runner(self.device, {id(one): self._constants(one) for one in graph.everywhere()})
        self._compiled: Any = vx.compile(self._run) if compile and not self._needs.reads else None

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        """The outputs for arrays, in order or by the names of inputs.

        Raises TypeError for inputs that lack or are too many, ValueError for types and shapes that the model does not take.
        """
        given = self._bound(arrays, named)
        values = _Values({name: np.asarray(given[name]) for name in self._needs.inputs})
        tensors = {
            one.name: self._tensor(given[one.name]) for one in self.inputs if not self._skips(one.name, given[one.name])
        }
        found = (self._run if self._compiled is None else self._compiled)(tensors, values)
        return found[0] if len(found) == 1 else found

    def program(self, *arrays: Any, **named: Any) -> Program:
        """The model for arrays of these types and shapes, as a program that can be saved.

        Inputs whose values decide shapes or steps keep the values given here, and are none of the program's. Raises TraceError
        for a model that reads values from the device, and as a call does.
        """
        for node, why in self._needs.reads:
            raise TraceError(f"{self.name} cannot be a program: {node}: {why}.")
        given = self._bound(arrays, named)
        values = _Values({name: np.asarray(given[name]) for name in self._needs.inputs})
        names = [one.name for one in self.inputs if one.name not in self._needs.inputs]

        def run(*tensors: Any) -> tuple[Any, ...]:
            return self._run(dict(zip(names, tensors, strict=True)), values)

        args = [self._tensor(given[name]) for name in names]
        return Program(run, args, inputs=names, outputs=[one.name for one in self.outputs], name=self.name)

    def explain(self) -> Explanation:
        """Whether the model is compiled, which of its nodes need values and why, and what its programs do."""
        reads = [(str(node), why) for node, why in self._needs.reads]
        program = None if self._compiled is None else self._compiled.explain()
        return Explanation(self.name, reads, self._needs.inputs, program)

    def _run(self, tensors: dict[str, Any], values: _Values) -> tuple[Any, ...]:
        given: dict[str, Any] = dict(tensors)
        given.update((name, Known(one, tensors.get(name))) for name, one in values.arrays.items())
        return tuple(self._runner.on_device(one) for one in self._runner.run(self._graph, given))

    def _skips(self, name: str, value: Any) -> bool:
        """Whether an input stays on the host."""
        return name in self._needs.inputs and not isinstance(value, VkArray)

    def _bound(self, arrays: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        names = [one.name for one in self.inputs]
        given = dict(zip(names, arrays, strict=False))
        wrong = [name for name in named if name not in names or name in given]
        lacking = [name for name in names if name not in given and name not in named]
        if len(arrays) > len(names) or wrong or lacking:
            problem = (
                f"{len(arrays)} arrays"
                if len(arrays) > len(names)
                else f"{wrong[0]!r}"
                if wrong
                else f"nothing for {lacking[0]!r}"
            )
            raise TypeError(f"{self.name}: expected the inputs {', '.join(map(repr, names))}, got {problem}.")
        given.update(named)
        lengths: dict[str, int] = {}
        return {one.name: self._checked(one, given[one.name], lengths) for one in self.inputs}

    def _checked(self, expected: Description, value: Any, lengths: dict[str, int]) -> Any:
        if expected.kind != "tensor":
            return value
        dtype = expected.dtype
        if not isinstance(value, (VkArray, np.ndarray)):
            value = np.asarray(value, None if dtype is None else types.numpy_dtype(dtype))
        got = value.dtype.name
        if dtype is not None and got != dtype.name:
            raise ValueError(
                f"{self.name}: expected the input {expected.name!r} as {dtype}, got {got}. Convert it by astype."
            )
        shape = expected.shape
        fits = shape is None or len(shape) == value.ndim
        for wanted, length in zip(shape or (), value.shape, strict=False):
            known = (
                lengths.setdefault(wanted, length) if isinstance(wanted, str) else length if wanted is None else wanted
            )
            fits = fits and known == length
        if not fits:
            raise ValueError(
                f"{self.name}: expected the input {expected.name!r} of shape {_shape_text(shape, lengths)}, "
                f"got {tuple(value.shape)}."
            )
        return value

    def _tensor(self, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [self._tensor(one) for one in value]
        return value if value is None or isinstance(value, VkArray) else vx.asarray(value, device=self.device)

    def _constants(self, graph: Graph) -> dict[str, Any]:
        """The constants of a graph: on the device where it takes them, on the host where that needs them or they are few."""
        taken = set(self._taken())
        found: dict[str, Any] = {}
        for name, host in graph.constants.items():
            array = vx.asarray(host, device=self.device) if name in taken else None
            small = host.size <= _FEW or name in self._needs.needed or array is None
            found[name] = Known(host, array) if small else array
        graph.constants = {}
        return found

    def _taken(self) -> Iterator[str]:
        """Names of the values that nodes take on the device."""
        for graph in self._graph.everywhere():
            yield from (one.name for one in graph.outputs)
            for node in graph.nodes:
                yield from _taken_by(node, self._needs.known)


def _taken_by(node: Node, known: set[str]) -> Iterator[str]:
    row = node.row
    if not row.shape_only and not (row.numpy and known.issuperset(node.inputs)):
        yield from (name for place, name in enumerate(node.inputs) if place not in row.host)


def _shape_text(shape: tuple[int | str | None, ...] | None, lengths: dict[str, int]) -> str:
    names = [
        f"{one} = {lengths[one]}" if isinstance(one, str) and one in lengths else "any" if one is None else str(one)
        for one in shape or ()
    ]
    return f"({', '.join(names)})"


def _fold(graph: Graph, outer: dict[str, Any]) -> None:
    """Replace nodes whose inputs are constants by their results, which the host computes."""
    runner = Runner(None, {})
    known = {**outer, **{name: Known(one) for name, one in graph.constants.items()}}
    left = []
    for node in graph.nodes:
        row = node.row
        if (row.numpy or row.shape_only) and all(not name or name in known for name in node.inputs):
            node.on_host = True
            for name, value in zip(node.outputs, runner.results(node, known), strict=False):
                if name and value is not None:
                    known[name] = value
                    graph.constants[name] = value.host
            continue
        for inner in node.graphs:
            _fold(inner, known)
        left.append(node)
    graph.nodes = left
