"""A loaded model: a callable that computes as a compiled function, or operation by operation where values decide."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

import vkarray as vx

from ..core.array import VkArray
from ..core.dtypes import DTYPES, DType
from ..errors import TraceError, counted
from ..graph.dimensions import Dim
from ..graph.lengths import Derived, length_at
from ..graph.stand_ins import ArrayOnTape
from ..programs.program import Program
from ..programs.signature import leaves_of
from . import lengths, types
from .graph import Graph, Node
from .interpreter import Half, Known, Runner
from .merge import merge
from .needs import Needs
from .pads import fold_pads
from .precision import Precision
from .table import FLOAT32, HALF, WIDEST
from .types import Description

_FEW = 1 << 16


class Explanation:
    """How a model is computed. Printed, it is a text. `reads`: pairs of a node and why it needs values; `values`: inputs whose
    values decide shapes or steps; `dtype`: what float32 became; `merged`: how many nodes are in the weights of others; `program`:
    what the compiled function does."""

    def __init__(
        self, name: str, reads: list[tuple[str, str]], values: list[str], dtype: DType | None, merged: int, program: Any
    ) -> None:
        self.name, self.reads, self.values, self.dtype = name, reads, values, dtype
        self.merged, self.program = merged, program

    def __str__(self) -> str:
        lines = [f"{self.name}: " + ("computed operation by operation" if self.reads else "compiled")]
        lines += [f"   {node}: {why}" for node, why in self.reads]
        if self.dtype is not None:
            lines.append(f"   float32 is {self.dtype} where the operators allow it")
        if self.merged:
            lines.append(
                f"   {self.merged} nodes that scale or shift channels are in the weights of products before them"
            )
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

    def __init__(self, graph: Graph, device: Any, compile: bool, half: DType | None = None) -> None:
        self.name = graph.name or "model"
        self.inputs: list[Description] = graph.inputs
        self.outputs: list[Description] = graph.outputs
        self.device = vx.asarray(0, device=device).device
        self._graph, self._held = graph, frozenset(graph.constants)  # those that the file has
        _fold(graph, {})
        for one in graph.everywhere():
            fold_pads(one)
        self._merged = sum(merge(one) for one in graph.everywhere())
        self._needs = Needs(graph)
        self._precision = None if half is None else Precision(half, graph)
        constants = {id(one): self._constants(one) for one in graph.everywhere()}
        self._runner = Runner(self.device, constants, self._precision)
        self._compiled: Any = vx.compile(self._run) if compile and not self._needs.reads else None

    def __call__(self, /, *arrays: Any, **named: Any) -> Any:
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

    def program(self, /, *arrays: Any, dynamic: Mapping[str, Dim | Derived] | None = None, **named: Any) -> Program:
        """The model for arrays of these types and shapes, as a program that can be saved.

        Parameters: the inputs as of a call; dynamic (by the names that the model has for lengths a `vkarray.Dim`, or arithmetic
        with such, for each that varies; what is named by these, such as "past + new", follows, others stay those of the arrays).
        Inputs whose values decide shapes or steps keep the values given here, and are none of the program's.
        Raises TraceError for a model that reads values from the device, or in which a length cannot vary: it names the node.
        Raises ValueError for a length that no input has, and as a call does.
        """
        for node, why in self._needs.reads:
            raise TraceError(
                f"{self.name} cannot be a program: {node}: {why}. Cut the model before this node with "
                "onnx.utils.extract_model: the part before can be a program. Or call the model, which runs operation by operation."
            )
        given = self._bound(arrays, named)
        values = _Values({name: np.asarray(given[name]) for name in self._needs.inputs})
        names = [one.name for one in self.inputs if one.name not in self._needs.inputs]

        if dynamic:
            return self._of_lengths(given, values, names, lengths.named(self.name, self.inputs, dynamic))
        args = [self._tensor(given[name]) for name in names]
        return self._taped(args, values, names)

    def _taped(
        self, args: list[Any], values: _Values, names: list[str], asked: Any = None, dynamic: Any = None
    ) -> Program:
        """A program; `asked` makes what tells lengths that vary from others."""

        def run(*tensors: Any) -> tuple[Any, ...]:
            runner = Runner(self.device, self._runner.constants, self._precision)
            runner.asked = None if asked is None else asked()
            return self._run(dict(zip(names, tensors, strict=True)), values, runner)

        inputs = [path for name, value in zip(names, args, strict=True) for path, _ in leaves_of({name: value})]
        # How many arrays a sequence has shows when the program is made.
        outputs = [one.name for one in self.outputs] if all(one.kind == "tensor" for one in self.outputs) else None
        return Program(run, args, inputs=inputs, outputs=outputs, name=self.name, dynamic=dynamic)

    def _of_lengths(self, given: dict[str, Any], values: _Values, names: list[str], dynamic: dict[str, Any]) -> Program:
        """A program for all lengths of dimensions: made for one of each, tried with another, the least and the greatest."""
        shapes = {one.name: one.shape or () for one in self.inputs}
        dims = {name: one for name, one in dynamic.items() if isinstance(one, Dim)}
        for name in self._needs.inputs:
            if set(dynamic).intersection(shapes[name]):
                raise TraceError(f"{self.name}: the input {name!r} decides by its values, so its lengths cannot vary.")
        sizes = {
            dim: length
            for name in names
            for dim, length in zip(shapes[name], given[name].shape, strict=False)
            if isinstance(dim, str)
        }
        following = dynamic | lengths.following(self.inputs, sizes, dynamic)
        first, second = (
            {
                name: length_at(one, {dims[own]: length for own, length in chosen.items()})
                for name, one in following.items()
            }
            for chosen in lengths.examples(dims, sizes)
        )

        def args(chosen: dict[str, int]) -> list[Any]:
            return [self._of_size(given[name], shapes[name], chosen) for name in names]

        noted = [lengths.Asked(), lengths.Asked()]
        for one, chosen in zip(noted, (first, second), strict=True):
            self._try(chosen, functools.partial(self._taped, args(chosen), values, names, one.anew))
        axes = [
            {axis: following[one] for axis, one in enumerate(shapes[name]) if one in following} or None
            for name in names
        ]
        varying = functools.partial(lengths.Asked, *noted)
        found = self._try(first, functools.partial(self._taped, args(first), values, names, varying, {"tensors": axes}))
        fewest = {name: first[name] for name in dims}
        bounds = [{**fewest, name: one} for name, dim in dims.items() for one in (dim.min, dim.max) if one is not None]
        for chosen in ({name: second[name] for name in dims}, *bounds):
            by_dim = {dim.name: chosen[name] for name, dim in dims.items()}
            self._try(chosen, functools.partial(found.try_lengths, **by_dim))
        return found

    def _try(self, sizes: dict[str, int], function: Callable[[], Any]) -> Any:
        """What a function returns for some lengths. Raises TraceError where it fails."""
        try:
            return function()
        except (ArithmeticError, IndexError, NotImplementedError, TypeError, ValueError, TraceError) as error:
            told = ", ".join(f"{name} = {length}" for name, length in sizes.items())
            raise TraceError(
                f"{self.name} cannot be a program in which these lengths vary: with {told}: {error} Give a Dim of other bounds, or "
                f"fix the length."
            ) from error

    def _of_size(self, value: Any, shape: tuple[int | str | None, ...], sizes: dict[str, int]) -> Any:
        """What stands for an input, with other lengths."""
        if not set(sizes).intersection(shape):
            return self._tensor(value)
        chosen = tuple(
            sizes.get(one, length) if isinstance(one, str) else length
            for one, length in zip(shape, value.shape, strict=True)
        )
        return vx.zeros(chosen, dtype=types.held(DTYPES[value.dtype.name], self.device), device=self.device)

    def explain(self) -> Explanation:
        """Whether the model is compiled, which of its nodes need values and why, and what its programs do."""
        reads = [(str(node), why) for node, why in self._needs.reads]
        program = None if self._compiled is None else self._compiled.explain()
        dtype = None if self._precision is None else self._precision.dtype
        return Explanation(self.name, reads, self._needs.inputs, dtype, self._merged, program)

    def _run(self, tensors: dict[str, Any], values: _Values, own: Runner | None = None) -> tuple[Any, ...]:
        runner = own or Runner(self.device, self._runner.constants, self._precision)  # threads have tapes of their own
        tape = runner.tape = next((one.tape for one in tensors.values() if type(one) is ArrayOnTape), None)
        given: dict[str, Any] = dict(tensors)
        given.update((name, Known(one, tensors.get(name))) for name, one in values.arrays.items())
        try:
            return tuple(runner.on_device(one) for one in runner.run(self._graph, given))
        finally:
            if tape is not None:
                tape.place = None  # what a function does after the model is at lines of its own

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
                counted(len(arrays), "array")
                if len(arrays) > len(names)
                else f"{wrong[0]!r}"
                if wrong
                else f"nothing for {lacking[0]!r}"
            )
            held = wrong and wrong[0] in self._held
            advice = (
                f" {wrong[0]!r} has a value in the model: take that out of its initializers to give one."
                if held
                else ""
            )
            raise TypeError(f"{self.name}: expected the inputs {', '.join(map(repr, names))}, got {problem}.{advice}")
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
        if dtype is not None and got not in (dtype.name, types.held(dtype, self.device).name):
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
        return value if value is None or isinstance(value, VkArray) else types.array_on(value, self.device)

    def _constants(self, graph: Graph) -> dict[str, Any]:
        """The constants of a graph: on the device where it takes them, on the host where that needs them or they are few."""
        taken = self._taken()
        found: dict[str, Any] = {}
        for name, host in graph.constants.items():
            wanted = taken.get(name, set())
            small = host.size <= _FEW or name in self._needs.needed
            precision = self._precision if wanted & {HALF, WIDEST} and host.dtype == np.float32 else None
            half = precision.array_of(host, self.device) if precision is not None and precision.holds(host) else None
            if half is not None and not small and FLOAT32 not in wanted:
                found[name] = Half(half)
                continue
            array = types.array_on(host, self.device) if wanted and (half is None or wanted != {HALF}) else None
            found[name] = array if array is not None and precision is None and not small else Known(host, array, half)
        graph.constants = {}
        return found

    def _taken(self) -> dict[str, set[str]]:
        """Names of the values that nodes take on the device, and in which precision: HALF, FLOAT32, or WIDEST for either."""
        found: dict[str, set[str]] = {}
        for graph in self._graph.everywhere():
            for one in graph.outputs:
                found.setdefault(one.name, set()).add(FLOAT32)
            for node in graph.nodes:
                way = FLOAT32 if self._precision is None else self._precision.way(node)
                for name in _taken_by(node, self._needs.known):
                    found.setdefault(name, set()).add(way)
        return found


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
