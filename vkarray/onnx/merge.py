"""Puts scales and shifts of channels into the weights of the product before them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..programs.channels import OPERATORS, Affine, Weights, count, is_close, of_normalization, of_operator
from . import types
from .graph import Graph, Node, note_last_uses

_Array = np.ndarray[Any, Any]


@dataclass
class Product:
    """A product with constant weights. `end` makes its result: the node itself, or the sum with a bias after it."""

    node: Node
    end: Node
    rank: int | None  # of the result; None where it is not known
    shape: tuple[int, ...]  # of the weight, in which the channels of the result are a dimension of its own
    axis: int  # this dimension
    bias: tuple[Node, int] | None  # where its bias is an input, or may be one


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
    scale, shift, mean, variance = given
    return of_normalization(scale, shift, mean, variance, node.attributes.get("epsilon", 1e-5))


def _of_channels(operator: str) -> Callable[[Node, int, list[_Array], Product], Affine | None]:
    def affine(node: Node, place: int, given: list[_Array], product: Product) -> Affine | None:
        return of_operator(operator, given[0], bool(place), product.rank)

    return affine


_FOLLOWING = {
    "BatchNormalization": _normalization, **{name.capitalize(): _of_channels(name) for name in OPERATORS}
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
    weight, bias = graph.constants[product.node.inputs[1]], None
    if product.bias is not None and (bias := _bias_of(product, graph)) is None:
        return False
    found = Weights(weight, product.shape, product.axis, bias).merged(affine)
    if found is None:
        return False
    with np.errstate(all="ignore"):  # what overflows is not finite, and refused
        rounded = [one.astype(weight.dtype) for one in found]
    if not all(is_close(one, other, types.roundoff(weight.dtype)) for one, other in zip(found, rounded, strict=True)):
        return False
    product.node.inputs[1] = _added(graph, f"{product.end.outputs[0]} weight", rounded[0])
    if product.bias is not None:
        node, place = product.bias
        node.inputs += [""] * (place + 1 - len(node.inputs))
        node.inputs[place] = _added(graph, f"{product.end.outputs[0]} bias", rounded[1])
        if node.row.name == "Gemm":
            node.attributes["beta"] = 1.0
    return True


def _bias_of(product: Product, graph: Graph) -> _Array | None:
    """One number for each channel; None for a bias that is something else."""
    assert product.bias is not None
    node, place = product.bias
    channels = count(product.shape, product.axis)
    name = node.inputs[place] if place < len(node.inputs) else ""
    if not name:
        return np.zeros(channels)
    found = graph.constants.get(name)
    if found is None or found.size not in (1, channels) or found.shape[-1:] != (found.size,) * bool(found.ndim):
        return None
    beta = node.attributes.get("beta", 1.0) if node.row.name == "Gemm" else 1.0
    return np.broadcast_to(found.astype(np.float64).reshape(-1) * beta, channels)


def _added(graph: Graph, name: str, constant: _Array) -> str:
    """Enter a constant by a name of its own."""
    taken = {*graph.constants, *(one for node in graph.nodes for one in node.outputs)}
    while name in taken:
        name += "'"
    graph.constants[name] = constant
    return name
