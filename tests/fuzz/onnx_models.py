"""Random ONNX models: what `vkarray.onnx.load` makes of one, against ONNX's reference, and compiled, saved and for other lengths.

A model grows node by node. Each is run by the reference at once, so that the values are known: nodes that the reference or ONNX's
checker refuses are left out, as are those whose results are huge or not numbers. Of each value is known how far rounding may
take it; what turns small differences into large ones takes exact values alone.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from choices import Choices, Single
from difference import Difference
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx_nodes import FLOATS, MAKERS, TYPES, Node, Value, broadcasts

import vkarray as vx
import vkarray.onnx

STEPS = 1  # models of a seed
NODES = 12
SIZE = 3000  # elements of a value, at most
LARGEST = 1e4
VERSIONS = (13, 15, 17, 18, 19, 21, 22, 23)


class Random(Choices):
    """A model that grows."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.version = self.choice(VERSIONS)
        self.values: list[Value] = []
        self.nodes: list[Any] = []
        self.read: set[str] = set()
        for _ in range(self.integer(1, 3)):
            self.add(self.numbers(self.choice(TYPES), self.shape()), self.chance(0.2))
        for _ in range(self.integer(3, NODES) * 4):
            if len(self.nodes) < NODES:
                self.grow()

    # -- values ------------------------------------------------------------------------------------------------------

    def shape(self, least: int = 0, most: int = 4) -> tuple[int, ...]:
        """Lengths, some of them alike and some 1."""
        return tuple(self.choice((1, 2, 2, 3, 3, 4, 5, 8)) for _ in range(self.integer(least, most)))

    def numbers(self, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
        """An array without odd values."""
        if dtype == "bool":
            return np.asarray(self.random.integers(0, 2, shape), bool)
        if dtype in FLOATS:
            return np.asarray(self.random.standard_normal(shape) * self.choice((0.5, 1, 3)), dtype)
        return np.asarray(self.random.integers(0 if dtype == "uint8" else -9, 10, shape), dtype)

    def add(self, array: np.ndarray, constant: bool) -> Value:
        """An input or a constant."""
        value = Value(f"{'c' if constant else 'x'}{len(self.values)}", np.asarray(array), 0.0, constant)
        self.values.append(value)
        return value

    def constant(self, array: Any, dtype: str | None = None) -> Value:
        """A constant."""
        return self.add(np.asarray(array, dtype), True)

    def pick(self, fits: Callable[[Value], bool]) -> Value | None:
        """One of the values, rather one of the last."""
        found = [one for one in self.values if fits(one)]
        return self.choice(found[-4:] if self.chance(0.6) else found) if found else None

    def partner(self, x: Value, dtype: str | None = None) -> Value:
        """A value that broadcasts with x: another one, a constant, or a part of its shape."""
        wanted = dtype or x.array.dtype.name
        found = [
            one for one in self.values if one.array.dtype.name == wanted and broadcasts(one.array.shape, x.array.shape)
        ]
        if found and self.chance(0.6):
            return self.choice(found)
        shape = tuple(1 if self.chance(0.3) else length for length in x.array.shape)[self.integer(0, x.array.ndim) :]
        return self.add(self.numbers(wanted, shape), self.chance(0.7))

    # -- nodes -------------------------------------------------------------------------------------------------------

    def grow(self) -> None:
        """Try a node."""
        before = len(self.values)
        node = self.choice(MAKERS)(self)
        results = None if node is None else self.results(node)
        if node is None or results is None:
            del self.values[before:]
            return
        names = [f"v{len(self.values) + number}" for number in range(len(results))]
        self.nodes.append(_proto(node, names))
        self.read.update(one.name for one in node.inputs if one is not None)
        for name, array in zip(names, results, strict=True):
            self.values.append(Value(name, array, _away(node, array)))

    def results(self, node: Node) -> list[np.ndarray] | None:
        """What the reference has for a node; None for one that cannot be."""
        given = {one.name: one for one in node.inputs if one is not None}
        names = [f"r{number}" for number in range(node.outputs)]
        inputs = [_info(one.name, one.array) for one in given.values()]
        outputs = [helper.make_tensor_value_info(name, 0, None) for name in names]
        graph = helper.make_graph([_proto(node, names)], "one", inputs, outputs)
        proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.version)], ir_version=10)
        try:
            inferred = onnx.shape_inference.infer_shapes(proto, check_type=True, strict_mode=True)
            found = ReferenceEvaluator(proto).run(None, {name: one.array for name, one in given.items()})
        except Exception:  # of all kinds
            return None
        for array, info in zip(found, inferred.graph.output, strict=True):
            if not isinstance(array, np.ndarray) or array.size > SIZE or array.dtype.name not in set(TYPES):
                return None
            if helper.np_dtype_to_tensor_dtype(array.dtype) != info.type.tensor_type.elem_type:
                return None  # the reference has another type than ONNX
            if array.dtype.kind == "f" and not (np.abs(array) < LARGEST).all():
                return None
        return found

    def model(self, lengths: bool = False) -> Any:
        """The model. With `lengths` the first dimension of each input has a name."""
        kept = {name for node in self.nodes for name in node.input}
        made = {name for node in self.nodes for name in node.output}
        inputs = [one for one in self.values if one.name in kept - made and not one.constant]
        constants = [
            numpy_helper.from_array(one.array, one.name) for one in self.values if one.constant and one.name in kept
        ]
        graph = helper.make_graph(
            self.nodes, "random", [_info(one.name, one.array, lengths) for one in inputs],
            [_info(one.name, one.array, True) for one in self.outputs()], constants,
        )  # fmt: skip
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.version)], ir_version=10)

    def outputs(self) -> list[Value]:
        """Values that nobody reads, and some others."""
        made = [name for node in self.nodes for name in node.output]
        return [
            one
            for number, one in enumerate(self.values)
            if one.name in made and (one.name not in self.read or number % 5 == 0)
        ]


def _proto(node: Node, outputs: list[str]) -> Any:
    inputs = ["" if one is None else one.name for one in node.inputs]
    return helper.make_node(node.operator, inputs, outputs, **node.attributes)


def _info(name: str, array: np.ndarray, named: bool = False) -> Any:
    shape: list[Any] = list(array.shape)
    if named and shape:
        shape[0] = f"n_{name}"
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), shape)


def _away(node: Node, array: np.ndarray) -> float:
    """How far from a result another computation may be."""
    before = sum(one.away for one in node.inputs if one is not None)
    if array.dtype.kind != "f":
        return 0.0
    if node.exact:
        return before
    sizes = [array, *(one.array for one in node.inputs if one is not None and one.is_float)]
    largest = max((float(np.abs(one).max(initial=0)) for one in sizes), default=0.0)
    unit = max((float(np.finfo(one.dtype).eps) for one in sizes), default=0.0)
    return node.gain * (before + 4 * unit * max(1.0, largest))


# -- comparing -----------------------------------------------------------------------------------------------------------------


class Chain(Single):
    """The model of a seed."""

    def take(self, _: Any) -> None:
        """Compare. Raises Difference."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            made = Random(self.seed)
            if not made.nodes:
                return
            found = differing(made, self)
        if found:
            raise Difference(f"{found}\n{onnx.printer.to_text(made.model())}")


def _run(function: Callable[[], Any]) -> Any:
    """The results as NumPy's arrays, or the error."""
    try:
        found = function()
    except Exception as error:  # of all kinds
        return error
    return [np.asarray(one) for one in (found if isinstance(found, tuple) else (found,))]


def _told(a: Any, b: Any, rounded: bool = False) -> str:
    """How two lists of results differ by bits, or by more than rounding, or nothing."""
    if isinstance(a, Exception) or isinstance(b, Exception):
        return "" if isinstance(a, Exception) and isinstance(b, Exception) else f"{a!r:.600} and {b!r:.600}"
    for number, (one, other) in enumerate(zip(a, b, strict=True)):
        alike = one.shape == other.shape and one.dtype == other.dtype
        if alike and rounded and one.dtype.kind == "f":
            # The host makes numbers of lengths for one, the device for the other.
            size = float(np.abs(one[np.isfinite(one)]).max(initial=1))
            alike = np.allclose(one, other, rtol=0, atol=100 * float(np.finfo(one.dtype).eps) * size, equal_nan=True)
        elif alike:
            alike = one.tobytes() == other.tobytes()
        if not alike:
            return f"result {number}: {one!r:.300} and {other!r:.300}"
    return ""


def differing(made: Random, choices: Choices) -> str:
    """What differs, or nothing."""
    proto = made.model()
    inputs = {one.name: one.array for one in made.values if any(one.name == put.name for put in proto.graph.input)}
    expected = ReferenceEvaluator(proto).run(None, inputs)
    eager = _run(lambda: vkarray.onnx.load(proto, compile=False)(**inputs))
    if isinstance(eager, Exception):
        return f"operation by operation: {eager!r:.600}"
    for one, found, wanted in zip(made.outputs(), eager, expected, strict=True):
        name = "bool" if found.dtype == bool else found.dtype.name
        if found.shape != wanted.shape or name != wanted.dtype.name:
            return f"{one.name}: {found.dtype} {found.shape}, expected {wanted.dtype} {wanted.shape}"
        away = np.abs(found.astype(np.float64) - wanted.astype(np.float64)).max(initial=0)
        if not away <= one.away:
            return f"{one.name}: {found!r:.400}, expected {wanted!r:.400}; away by {away}, allowed {one.away}"
    loaded = vkarray.onnx.load(proto)
    for _ in range(2):
        told = _told(eager, _run(lambda: loaded(**inputs)))
        if told:
            return f"operation by operation and compiled: {told}"
    return _differing_program(loaded, inputs, eager) or _differing_lengths(made, inputs, choices)


def _arrays(loaded: Any, inputs: dict[str, np.ndarray]) -> list[Any]:
    return [vx.asarray(inputs[one.name]) for one in loaded.inputs if one.name not in loaded.explain().values]


def _saved(program: vx.Program) -> vx.Program:
    with tempfile.TemporaryDirectory() as folder:
        program.save(Path(folder) / "m.vkp", targets=())
        return vx.load_program(Path(folder) / "m.vkp")


def _differing_program(loaded: Any, inputs: dict[str, np.ndarray], expected: Any) -> str:
    if loaded.explain().reads or not _arrays(loaded, inputs):
        return ""
    program = loaded.program(**inputs)
    for what, one in (("program", program), ("loaded program", _saved(program))):
        told = _told(expected, _run(lambda one=one: one(*_arrays(loaded, inputs))))
        if told:
            return f"operation by operation and {what}: {told}"
    return ""


def _differing_lengths(made: Random, inputs: dict[str, np.ndarray], choices: Choices) -> str:
    """A program of lengths that vary gives for another one the bits of the model, or none was made."""
    loaded = vkarray.onnx.load(made.model(lengths=True))
    named = [one for one in loaded.inputs if one.shape and one.name not in loaded.explain().values]
    if loaded.explain().reads or not named:
        return ""
    one = choices.choice(named)
    dim = vx.Dim("n", min=choices.integer(1, 2), max=9)
    try:
        program = loaded.program(**inputs, dynamic={f"n_{one.name}": dim})
    except vx.TraceError:
        return ""
    for length in (dim.min, 9, choices.integer(dim.min, 9)):
        other = dict(inputs)
        whole = inputs[one.name]
        other[one.name] = (
            np.resize(whole, (length, *whole.shape[1:]))
            if whole.size
            else np.zeros((length, *whole.shape[1:]), whole.dtype)
        )
        expected, found = (
            _run(lambda other=other: loaded(**other)),
            _run(lambda other=other: program(*_arrays(loaded, other))),
        )
        if isinstance(found, ValueError) and "decides by lengths" in str(found):
            continue  # which says so
        told = _told(expected, found, rounded=True)
        if told:
            return (
                f"with {one.name} of length {length}, the model and its program of lengths from {dim.min} to 9: {told}"
            )
    return ""


def model(chain: Chain) -> Any:
    return chain


OPERATIONS = [(1, model)]
