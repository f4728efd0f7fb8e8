"""Half precision where a model says float32: which nodes compute in it, and what stands for float32 meanwhile."""

from __future__ import annotations

from typing import Any

import numpy as np

import vkarray as vx

from ..core.array import VkArray
from ..core.dtypes import DTYPES, DType
from ..core.dtypes import as_dtype as _as_dtype
from . import types
from .graph import Graph, Node
from .table import FLOAT32, HALF, INSIDE, WIDEST


class Known:
    """A value that the host has, and the device as well where `array` is there, or `half` in half precision."""

    __slots__ = ("array", "fits", "half", "host")

    def __init__(self, host: np.ndarray[Any, Any], array: VkArray | None = None, half: VkArray | None = None) -> None:
        self.host, self.array, self.half = host, array, half
        self.fits: bool | None = None  # whether half precision holds it, once that is known


class Half:
    """An array in half precision that stands for one of float32."""

    __slots__ = ("array",)
    dtype = DTYPES["float32"]

    def __init__(self, array: VkArray) -> None:
        self.array = array

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the array."""
        return self.array.shape


def checked(dtype: Any) -> DType | None:
    """The type of half precision that `load` is given. Raises ValueError for others."""
    if dtype is None:
        return None
    found = _as_dtype(dtype, "onnx.load")
    if found.name not in ("float16", "bfloat16"):
        raise ValueError(
            f"onnx.load: dtype is {found.name}; expected float16 or bfloat16, or None for the types that the model has."
        )
    return found


class Precision:
    """How the nodes of a graph compute where float32 becomes a type of half precision."""

    def __init__(self, dtype: DType, graph: Graph) -> None:
        self.dtype = dtype
        self._exact = _exact_nodes(graph)

    def narrows(self, node: Node, inputs: list[Any]) -> bool:
        """Whether a node computes in half precision with these inputs."""
        way = self.way(node)
        if way not in (HALF, WIDEST):
            return False
        given = [one for place, one in enumerate(inputs) if place not in node.row.host and _name(one) in types.FLOATS]
        if not given or any(_name(one) != "float32" for one in given):
            return False
        if not all(self._fits(one) for one in given if type(one) is Known):
            return False
        return way == HALF or all(type(one) in (Half, Known) for one in given)

    def narrowed(self, value: Any, device: Any) -> Any:
        """A value of float32 in half precision; others are None."""
        if type(value) is Half:
            return value.array
        if _name(value) != "float32":
            return None
        if type(value) is Known:
            return self.array_of(value.host, device) if value.half is None else value.half
        return vx.astype(value, self.dtype)

    def results(self, node: Node, inputs: list[Any], narrow: bool, found: list[Any]) -> list[Any]:
        """What a node returned, with what stands for float32."""
        if narrow:
            return [Half(one) if _name(one) == self.dtype.name else one for one in found]
        if self.way(node) == INSIDE and any(type(one) is Half for one in inputs):
            return [Half(vx.astype(one, self.dtype)) if _is_float32(one) else one for one in found]
        return found

    def array_of(self, host: np.ndarray[Any, Any], device: Any) -> VkArray:
        """A constant in half precision on the device."""
        return vx.asarray(self._rounded(host), device=device)

    def holds(self, host: np.ndarray[Any, Any]) -> bool:
        """Whether numbers stay finite, and one that is alone stays normal, such as an epsilon."""
        rounded = self._rounded(host)
        if host.size == 1 and host.any() and np.abs(host) < float(_limits(rounded.dtype).smallest_normal):
            return False
        return bool((np.isfinite(rounded) | ~np.isfinite(host)).all())

    def way(self, node: Node) -> str:
        """What a node computes in."""
        return FLOAT32 if id(node) in self._exact else node.row.half

    def _fits(self, value: Known) -> bool:
        if value.fits is None:
            value.fits = self.holds(value.host)
        return value.fits

    def _rounded(self, host: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        with np.errstate(over="ignore"):
            return host.astype(types.numpy_dtype(self.dtype))


def _limits(dtype: Any) -> Any:
    import ml_dtypes  # which the package onnx brings along

    return ml_dtypes.finfo(dtype)


def _name(value: Any) -> str:
    """The name of the type that a value has in the model; empty for what is no array."""
    dtype = value.host.dtype if type(value) is Known else getattr(value, "dtype", None)
    return "" if dtype is None else str(dtype.name)


def _is_float32(value: Any) -> bool:
    return isinstance(value, VkArray) and value.dtype.name == "float32"


def _exact_nodes(graph: Graph) -> set[int]:
    """Nodes of which others need float32: those that make such inputs, back to the nearest product, by their identity."""
    nodes = [node for one in graph.everywhere() for node in one.nodes]
    makers = {name: node for node in nodes for name in node.outputs if name}
    waiting = [node.inputs[place] for node in nodes for place in node.row.exact if place < len(node.inputs)]
    found: set[int] = set()
    while waiting:
        node = makers.get(waiting.pop())
        if node is not None and id(node) not in found:
            found.add(id(node))
            waiting += node.inputs if node.row.half != HALF else []
    return found
