"""Scales and shifts of channels by constants, such as normalization of batches, put into the weights of the product before them.

Source: B. Jacob et al., "Quantization and training of neural networks" (2018), section 3.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from . import types
from .graph import Graph, Node, note_last_uses

_Array = np.ndarray[Any, Any]


class Affine(NamedTuple):
    """What is done to each channel: x * scale + shift, of one number or one for each channel."""

    scale: _Array
    shift: _Array


@dataclass
class Product:
    """A product with constant weights. `end` makes its result: the node itself, or the sum with a bias after it."""

    node: Node
    end: Node
    rank: int | None  # of the result; None where it is not known
    shape: tuple[int, ...]  # of the weight, in which the channels of the result are a dimension of its own
    axis: int  # this dimension
    bias: tuple[Node, int] | None  # where its bias is an input, or may be one

    @property
    def channels(self) -> int:
        """How many channels the result has."""
        return self.shape[self.axis] * (self.shape[0] if self.axis == 2 else 1)


def merge(graph: Graph) -> int:
    """Put what follows products into their weights. Returns how many nodes it takes away."""
    readers = _readers(graph)
    products: dict[str, Product] = {}
    kept = []
    for node in graph.nodes:
        if not _merged(node, graph, products, readers):
            kept.append(node)
            product = _product(node, graph, products, readers)
            if product is not None:
                products[node.outputs[0]] = product
    count = len(graph.nodes) - len(kept)
    graph.nodes = kept
    readers = _readers(graph)
    graph.constants = {name: one for name, one in graph.constants.items() if readers[name]}
    note_last_uses(graph)
    return count


def _readers(graph: Graph) -> Counter[str]:
    return Counter(
        [name for node in graph.nodes for name in (*node.inputs, *node.captured)] + [one.name for one in graph.outputs]
    )


# -- products ------------------------------------------------------------------------------------------------------------------


def _product(node: Node, graph: Graph, products: dict[str, Product], readers: Counter[str]) -> Product | None:
    """The product that a node is, or ends by the sum with a bias."""
    if node.row.domain or len(node.outputs) != 1:
        return None
    if node.row.name == "Add":
        for place, name in enumerate(node.inputs):
            before, other = products.get(name), graph.constants.get(node.inputs[1 - place])
            if (
                before is not None
                and before.bias is None
                and readers[name] == 1
                and other is not None
                and other.ndim < 2
            ):
                return Product(before.node, node, before.rank, before.shape, before.axis, (node, 1 - place))
        return None
    weight = graph.constants.get(node.inputs[1]) if len(node.inputs) > 1 else None
    if weight is None or node.row.name not in _PRODUCTS or not types.is_floating(weight.dtype):
        return None
    return _PRODUCTS[node.row.name](node, weight)


def _convolution(node: Node, weight: _Array) -> Product:
    return Product(node, node, weight.ndim, weight.shape, 0, (node, 2))


def _transposed(node: Node, weight: _Array) -> Product:
    groups = node.attributes.get("group", 1)
    shape = (groups, weight.shape[0] // groups, *weight.shape[1:])
    return Product(node, node, weight.ndim, shape, 2, (node, 2))


def _gemm(node: Node, weight: _Array) -> Product:
    return Product(node, node, 2, weight.shape, 0 if node.attributes.get("transB", 0) else 1, (node, 2))


def _matmul(node: Node, weight: _Array) -> Product | None:
    return Product(node, node, None, weight.shape, 1, None) if weight.ndim == 2 else None


_PRODUCTS: dict[str, Callable[[Node, _Array], Product | None]] = {
    "Conv": _convolution, "ConvTranspose": _transposed, "Gemm": _gemm, "MatMul": _matmul,
}  # fmt: skip


# -- what follows them ---------------------------------------------------------------------------------------------------------


def _normalization(node: Node, place: int, given: list[_Array], product: Product) -> Affine | None:
    training = node.attributes.get("training_mode", 0) if node.version >= 7 else not node.attributes.get("is_test", 0)
    if training or place or product.rank is None or not node.attributes.get("spatial", 1):
        return None
    scale, bias, mean, variance = (one.astype(np.float64) for one in given)
    scale = scale / np.sqrt(variance + node.attributes.get("epsilon", 1e-5))
    return Affine(scale, bias - mean * scale)


def _of_channels(operator: str) -> Callable[[Node, int, list[_Array], Product], Affine | None]:
    def affine(node: Node, place: int, given: list[_Array], product: Product) -> Affine | None:
        (constant,) = given
        one, zero = np.ones(1), np.zeros(1)
        rank = 1 if product.rank is None else product.rank
        axis = 0 if product.rank is None else 1
        shape = (1,) * (rank - constant.ndim) + constant.shape
        if len(shape) != rank or any(length != 1 for other, length in enumerate(shape) if other != axis):
            return None
        number = constant.astype(np.float64).reshape(-1)
        if place and operator in ("Sub", "Div"):  # of the constant by the product
            return None
        if operator in ("Mul", "Div"):
            return Affine(number if operator == "Mul" else 1 / number, zero)
        return Affine(one, number if operator == "Add" else -number)

    return affine


_FOLLOWING = {
    "BatchNormalization": _normalization, **{name: _of_channels(name) for name in ("Add", "Div", "Mul", "Sub")}
}  # fmt: skip
_BY_AXIS = 7  # the version from which on operators of two arrays broadcast from the last dimension


def _merged(node: Node, graph: Graph, products: dict[str, Product], readers: Counter[str]) -> bool:
    """Put a node into the product before it, if that can be."""
    if node.row.domain or node.row.name not in _FOLLOWING or [bool(name) for name in node.outputs] != [True]:
        return False
    if node.row.name != "BatchNormalization" and node.version < _BY_AXIS:
        return False
    for place, name in enumerate(node.inputs):
        product = products.get(name)
        given = [graph.constants.get(one) for other, one in enumerate(node.inputs) if other != place]
        if product is None or readers[name] != 1 or any(one is None for one in given):
            continue
        with np.errstate(all="ignore"):
            affine = _FOLLOWING[node.row.name](node, place, given, product)  # type: ignore[arg-type]
            if affine is None or not _rewritten(product, affine, graph):
                continue
        del products[name]
        product.end.outputs[0] = node.outputs[0]
        products[node.outputs[0]] = product
        return True
    return False


def _rewritten(product: Product, affine: Affine, graph: Graph) -> bool:
    """Give a product other constants, where they hold it as exactly as before."""
    if any(one.size not in (1, product.channels) for one in affine):
        return False
    scale, shift = (np.broadcast_to(one, product.channels) for one in affine)
    weight = graph.constants[product.node.inputs[1]]
    along = [1] * len(product.shape)
    along[product.axis] = product.shape[product.axis]
    if product.axis == 2:
        along[0] = product.shape[0]
    exact = (weight.astype(np.float64).reshape(product.shape) * scale.reshape(along)).reshape(weight.shape)
    bias = np.zeros(product.channels)
    if product.bias is None:
        if shift.any():
            return False
    else:
        found = _bias_of(product, graph)
        if found is None:
            return False
        bias = found * scale + shift
    made = {"weight": exact, "bias": bias}
    rounded = {what: one.astype(weight.dtype) for what, one in made.items()}
    if not all(_is_close(made[what], rounded[what]) for what in made):
        return False
    product.node.inputs[1] = _added(graph, f"{product.end.outputs[0]} weight", rounded["weight"])
    if product.bias is not None:
        node, place = product.bias
        node.inputs += [""] * (place + 1 - len(node.inputs))
        node.inputs[place] = _added(graph, f"{product.end.outputs[0]} bias", rounded["bias"])
        if node.row.name == "Gemm":
            node.attributes["beta"] = 1.0
    return True


def _bias_of(product: Product, graph: Graph) -> _Array | None:
    """One number for each channel; None for a bias that is something else."""
    assert product.bias is not None
    node, place = product.bias
    name = node.inputs[place] if place < len(node.inputs) else ""
    if not name:
        return np.zeros(product.channels)
    found = graph.constants.get(name)
    if found is None or found.size not in (1, product.channels) or found.shape[-1:] != (found.size,) * bool(found.ndim):
        return None
    beta = node.attributes.get("beta", 1.0) if node.row.name == "Gemm" else 1.0
    return np.broadcast_to(found.astype(np.float64).reshape(-1) * beta, product.channels)


def _is_close(exact: _Array, rounded: _Array) -> bool:
    """Whether numbers are rounded and no more: finite, and not too small for their type."""
    largest = np.abs(exact).max(initial=0)
    away = np.abs(exact - rounded.astype(np.float64)).max(initial=0)
    return bool(np.isfinite(rounded.astype(np.float64)).all() and away <= largest * types.roundoff(rounded.dtype))


def _added(graph: Graph, name: str, constant: _Array) -> str:
    """Enter a constant by a name of its own."""
    taken = {*graph.constants, *(one for node in graph.nodes for one in node.outputs)}
    while name in taken:
        name += "'"
    graph.constants[name] = constant
    return name
