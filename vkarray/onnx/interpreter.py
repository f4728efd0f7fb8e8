"""Running graphs: each node by its row, on the device or, where the host knows all that it takes, with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto

import vkarray as vx

from ..core.array import VkArray
from ..core.dtypes import DTYPES, DType, as_dtype
from ..errors import FeatureError
from ..graph.tape import Tape
from . import lengths, types
from .graph import Graph, Node
from .precision import Half as Half
from .precision import Known as Known
from .precision import Precision

# What rows raise for inputs and attributes that the operator does not take.
_ERRORS = (
    ArithmeticError, AttributeError, IndexError, KeyError, MemoryError, NotImplementedError, StopIteration, TypeError,
    UnicodeError, ValueError,
)  # fmt: skip
_FEW = 1 << 16  # elements of what the host computes besides what it must


class Call:
    """What a row knows of the call besides its inputs and attributes."""

    __slots__ = ("node", "runner", "values", "xp")

    def __init__(self, xp: Any, node: Node, runner: Runner, values: dict[str, Any]) -> None:
        self.xp, self.node, self.runner, self.values = xp, node, runner, values

    @property
    def version(self) -> int:
        """Of the operators of the node's domain."""
        return self.node.version

    @property
    def wanted(self) -> list[bool]:
        """Which outputs the model names."""
        return [bool(name) for name in self.node.outputs]

    def dtype(self, number: int) -> Any:
        """A type of `xp` for ONNX's number of it."""
        found = types.dtype_of(number, f"{self.node}: an attribute")
        return types.numpy_dtype(found) if self.xp is np else types.held(found, self.runner.device)

    @property
    def int64(self) -> Any:
        """The type of `xp` for ONNX's int64, of which its indices are."""
        return self.dtype(TensorProto.INT64)

    def cast(self, x: Any, dtype: Any) -> Any:
        """x in another type of `xp`."""
        if self.xp is np and lengths.vary(x):
            wide = vx.isdtype(DTYPES[np.dtype(dtype).name], "integral")
            return (
                x
                if wide
                else vx.astype(
                    self.runner.on_device(Known(x)), types.held(DTYPES[np.dtype(dtype).name], self.runner.device)
                )
            )
        return x if x.dtype == dtype else self.xp.astype(x, dtype)

    def lengths(self, value: Any) -> tuple[Any, ...]:
        """The shape of a value: what varies in a program is a number of its tape's."""
        shape = shape_of(value)
        return shape if self.runner.asked is None else self.runner.asked(shape)

    def array(self, values: Any, dtype: Any = None) -> Any:
        """NumPy's array, or numbers, as an array of `xp`."""
        if self.xp is np:
            return np.asarray(values, dtype=dtype)
        held = list(values) if isinstance(values, range) else values  # which files of programs cannot hold
        if dtype is None and isinstance(held, np.ndarray):
            return types.array_on(held, self.runner.device)
        wanted = None if dtype is None else types.held(as_dtype(dtype), self.runner.device)
        return vx.asarray(held, dtype=wanted, device=self.runner.device)

    def run(self, graph: Graph, inputs: list[Any]) -> list[Any]:
        """The outputs of a graph among the attributes."""
        values = {name: self.values[name] for name in graph.captured}
        values.update(zip((one.name for one in graph.inputs), inputs, strict=True))
        return self.runner.run(graph, values)

    def on_host(self, value: Any) -> np.ndarray[Any, Any]:
        """The values of what `run` takes and returns. Raises NotImplementedError where a program whose lengths vary has none."""
        if self.runner.asked is not None and type(value) is not Known:
            raise NotImplementedError("it needs values on the host that the device computes of lengths which vary.")
        return value.host if type(value) is Known else np.asarray(value)

    def on_device(self, value: Any) -> VkArray:
        """What `run` takes and returns as an array of the device."""
        return self.runner.on_device(value)


class Runner:
    """Runs the graphs of one model on a device."""

    def __init__(self, device: Any, constants: dict[int, dict[str, Any]], precision: Precision | None = None) -> None:
        self.device, self.constants, self.precision = device, constants, precision
        self.asked: lengths.Asked | None = None  # of a program whose lengths vary
        self.tape: Tape | None = None

    def on_device(self, value: Any) -> Any:
        """A value as an array of the device."""
        if type(value) is Known:
            if lengths.vary(value.host):
                return lengths.array_of(value.host, self.device)
            return types.array_on(value.host, self.device) if value.array is None else value.array
        if type(value) is Half:
            return vx.astype(value.array, value.dtype)
        return [self.on_device(one) for one in value] if isinstance(value, list) else value

    def run(self, graph: Graph, values: dict[str, Any]) -> list[Any]:
        """The outputs of a graph. `values` are its inputs and what it takes from outside; it changes."""
        values.update(self.constants[id(graph)])
        for node in graph.nodes:
            found = self.results(node, values)
            for name, value in zip(node.outputs, found, strict=False):
                if name:
                    values[name] = value
            for name in node.finished:
                values.pop(name, None)
        return [values[one.name] for one in graph.outputs]

    def results(self, node: Node, values: dict[str, Any]) -> list[Any]:
        """The results of a node. Raises what its row raises, with the node before it."""
        row = node.row
        if self.tape is not None:
            self.tape.place = str(node)
        inputs = [values[name] if name else None for name in node.inputs]
        xp: Any = np if row.numpy and _is_for_host(node, inputs) else vx
        call = Call(xp, node, self, values)
        precision = None if xp is np or row.nested or row.shape_only else self.precision
        narrow = precision is not None and precision.narrows(node, inputs)
        try:
            if row.nested or row.shape_only:
                arguments = [self.on_device(one) if type(one) is Half and row.nested else one for one in inputs]
            elif xp is np:
                arguments = [None if one is None else one.host for one in inputs]
            else:
                arguments = [
                    None if one is None else call.on_host(one) if place in row.host else self._given(one, narrow)
                    for place, one in enumerate(inputs)
                ]
            with np.errstate(all="ignore"):
                found = row.function(call, *arguments, **node.attributes)
        except FeatureError as error:
            if str(error).startswith("node "):  # of a graph inside
                raise
            raise FeatureError(f"{node}: {error}", error.features) from error
        except _ERRORS as error:
            if str(error).startswith("node "):  # of a graph inside
                raise
            kind = NotImplementedError if isinstance(error, NotImplementedError) else ValueError
            raise kind(f"{node}: {error}") from error
        listed = found if isinstance(found, tuple) else (found,)
        missing = [name for name in node.outputs[len(listed) :] if name]
        if missing:
            raise NotImplementedError(f"{node}: vkarray does not compute its output {missing[0]!r}.")
        held = [_held(one) for one in listed]
        return held if precision is None else precision.results(node, inputs, narrow, held)

    def _given(self, value: Any, narrow: bool) -> Any:
        """A value as a node on the device takes it."""
        half = self.precision.narrowed(value, self.device) if narrow and self.precision is not None else None
        return self.on_device(value) if half is None else half


def _held(value: Any) -> Any:
    if isinstance(value, int):  # of an array of lengths
        return Known(lengths.numbers(value))
    return Known(np.asarray(value)) if isinstance(value, (np.ndarray, np.generic)) else value


def _is_for_host(node: Node, inputs: list[Any]) -> bool:
    if not all(one is None or type(one) is Known for one in inputs):
        return False
    if any(one is not None and lengths.vary(one.host) for one in inputs):
        fixed = all(
            place not in node.row.host or one is None or not lengths.vary(one.host) for place, one in enumerate(inputs)
        )
        return fixed and node.row.name in lengths.ARITHMETIC
    return node.on_host or bool(node.row.reads) or all(one is None or one.host.size <= _FEW for one in inputs)


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of a value as a row for shapes gets it."""
    return value.host.shape if type(value) is Known else value.shape


def described_dtype(value: Any) -> DType:
    """The type of the elements of a value."""
    return lengths.dtype_of(value.host) if type(value) is Known else value.dtype
