"""Products with what follows them: an activation and a sum become parts of the kernel that stores the product.

The bits are those of a kernel for each step (`kernels/product/epilogue.py`). The graph must hold nothing else that reads the steps.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, fx

from ...core import layout
from ...kernels.rows import ROWS
from ...nn import pointwise
from ..aten import matrix
from ..tensors.storage import array_of, wrap
from .split import writes

_aten = torch.ops.aten
_BIASED = {_aten.addmm.default}
_PRODUCTS = {*_BIASED, _aten.mm.default}
_VIEWS = {_aten.view.default, _aten._unsafe_view.default}
_ACTIVATIONS = {
    "relu": pointwise.relu, "silu": pointwise.silu, "sigmoid": pointwise.sigmoid, "tanh": ROWS["tanh"],
    "gelu": pointwise.gelu, "gelu by tanh": pointwise.gelu_tanh,
}  # fmt: skip
_NAMES = {getattr(_aten, name).default: name for name in ("relu", "silu", "sigmoid", "tanh")}


def product(bias: Tensor | None, a: Tensor, b: Tensor, activation: str | None, residual: Tensor | None) -> Tensor:
    """activation(bias + a @ b) + residual, of which the last may have another shape of as many elements in C order."""
    left, right = array_of(a), array_of(b)
    shape = (left._shape[0], right._shape[1])
    added = None
    if residual is not None:
        added = array_of(residual)._view(shape, layout.contiguous_strides(shape))
    given = None if bias is None else array_of(bias)
    row = None if activation is None else _ACTIVATIONS[activation]
    return wrap(matrix.product_with(given, left, right, row, added))


class _Chain(NamedTuple):
    """A product and what follows it: views and steps, each the only one that reads the one before."""

    nodes: list[fx.Node]
    shape: Any  # what the last view makes of the product; None without one
    activation: str | None
    residual: fx.Node | None


def with_steps(module: fx.GraphModule) -> None:
    """Let the products of a graph take the steps that follow them."""
    graph = module.graph
    order = {node: number for number, node in enumerate(graph.nodes)}
    writers = [number for node, number in order.items() if writes(node)]
    for node in order:
        chain = _chain(node) if node.target in _PRODUCTS else None
        if chain is None or any(order[node] < one < order[chain.nodes[-1]] for one in writers):
            continue
        last = chain.nodes[-1]
        operands = node.args if node.target is _aten.addmm.default else (None, *node.args)
        with graph.inserting_before(last):
            made = graph.call_function(product, (*operands, chain.activation, chain.residual))
            made.meta = dict(node.meta)
            if chain.shape is not None:
                made = graph.call_function(_aten.view.default, (made, chain.shape))
                made.meta = dict(last.meta)
        last.replace_all_uses_with(made)
        for one in reversed(chain.nodes):
            graph.erase_node(one)
    module.recompile()


def _chain(node: fx.Node) -> _Chain | None:
    """The steps that the kernel of a product can take; None where there are none."""
    own = node.meta.get("val")
    if not isinstance(own, Tensor) or not own.is_floating_point() or len(node.args) != 2 + (node.target in _BIASED):
        return None
    if node.kwargs or own.device.type != "vulkan" or any(not _is_like(one, own) for one in node.all_input_nodes):
        return None
    nodes, found, shape, kept = [node], 1, None, None
    activation: str | None = None
    residual: fx.Node | None = None
    while residual is None and len(nodes[-1].users) == 1:
        (user,) = nodes[-1].users
        value = user.meta.get("val")
        if not isinstance(value, Tensor) or value.dtype is not own.dtype or not value.is_contiguous():
            break
        if user.target in _VIEWS:
            kept = user.args[1]
        elif activation is None and (name := _activation(user)) is not None:
            activation = name
        elif (other := _addend(user, nodes[-1])) is not None:
            residual = other
        else:
            break
        nodes.append(user)
        if user.target not in _VIEWS:
            found, shape = len(nodes), kept
    return _Chain(nodes[:found], shape, activation, residual) if found > 1 else None


def _is_like(node: fx.Node, own: Tensor) -> bool:
    """Whether a node is a tensor with elements, of one type with another one."""
    value = node.meta.get("val")
    return isinstance(value, Tensor) and value.dtype is own.dtype and 0 not in value.shape


def _activation(node: fx.Node) -> str | None:
    """The name of the activation that a node is."""
    if node.target is _aten.gelu.default:
        return "gelu by tanh" if node.kwargs.get("approximate") == "tanh" else "gelu"
    return _NAMES.get(node.target)


def _addend(node: fx.Node, known: fx.Node) -> fx.Node | None:
    """What a node adds to another one, of the same shape and type."""
    if node.target is not _aten.add.Tensor or node.kwargs or known not in node.args:
        return None
    (other,) = (one for one in node.args if one is not known) if node.args.count(known) == 1 else (None,)
    if not isinstance(other, fx.Node):
        return None
    value, own = other.meta.get("val"), known.meta["val"]
    alike = isinstance(value, Tensor) and value.dtype is own.dtype and value.shape == own.shape
    return other if alike and value.is_contiguous() and value.device == own.device else None
