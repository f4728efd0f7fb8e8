"""Puts normalization of batches, and other scales and shifts of channels, into the weights of the product before them."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx

from ...programs.channels import OPERATORS, Affine, Weights, count, is_close, of_normalization, of_operator
from .folding import Constants

_ATEN = torch.ops.aten
_PRODUCTS = (_ATEN.convolution.default, _ATEN.linear.default)
_OPERATORS = {getattr(_ATEN, name).Tensor: name for name in OPERATORS}


def merge(exported: Any) -> None:
    """Rewrite the graph of a model: constants that are for channels after a product are in its weights."""
    module, graph = exported.graph_module, exported.graph_module.graph
    constants = Constants(exported)
    for node in list(graph.nodes):
        for find in (_normalized, _scaled):
            found = find(node, constants)
            if found is None:
                continue
            product, affine = found
            made = _merged(product, affine, constants)
            if made is None:
                continue
            with graph.inserting_before(product):
                given = [held(module, one, constants) for one in made]
            product.args = (product.args[0], *given, *product.args[3:])
            node.replace_all_uses_with(product)
            _erase(graph, node, product)
            break


def _erase(graph: fx.Graph, node: fx.Node, product: fx.Node) -> None:
    """Take out a node that nothing reads, and those between it and the product."""
    between = node.all_input_nodes
    graph.erase_node(node)
    for one in between:
        if one is not product and one.op == "call_function" and not one.users:
            _erase(graph, one, product)


def held(module: torch.nn.Module, tensor: torch.Tensor, constants: Constants) -> fx.Node:
    """A constant of the graph's own."""
    number = 0
    while hasattr(module, f"_merged_{number}"):
        number += 1
    name = f"_merged_{number}"
    module.register_buffer(name, tensor)
    node: fx.Node = module.graph.get_attr(name)
    node.meta["val"] = tensor
    constants.known[node] = tensor
    return node


# -- products ------------------------------------------------------------------------------------------------------------------


def _product(node: Any, reader: fx.Node) -> fx.Node | None:
    """A node if it is a product that nothing else reads, of a weight that nothing else reads."""
    if not isinstance(node, fx.Node) or node.target not in _PRODUCTS or list(node.users) != [reader] or node.kwargs:
        return None
    weight = node.args[1]
    return node if isinstance(weight, fx.Node) and list(weight.users) == [node] else None


def _merged(product: fx.Node, affine: Affine, constants: Constants) -> tuple[torch.Tensor, torch.Tensor] | None:
    """The weight and the bias that a product needs, where its type holds them as exactly as what they replace."""
    weight, bias = (constants.find(one) for one in (*product.args[1:3], None)[:2])
    if not isinstance(weight, torch.Tensor) or not weight.is_floating_point():
        return None
    shape, axis = tuple(weight.shape), 0
    if product.target is _ATEN.convolution.default and product.args[6]:  # transposed
        groups = int(product.args[8])
        shape, axis = (groups, shape[0] // groups, *shape[1:]), 2
    if len(product.args) > 2 and product.args[2] is not None and not isinstance(bias, torch.Tensor):
        return None
    given = _array(torch.zeros(count(shape, axis)) if bias is None else bias)
    found = Weights(_array(weight), shape, axis, given).merged(affine)
    if found is None:
        return None
    made = [torch.tensor(one, dtype=torch.float64).to(weight.dtype) for one in found]
    roundoff = torch.finfo(weight.dtype).eps / 2
    if not all(is_close(one, _array(other), roundoff) for one, other in zip(found, made, strict=True)):
        return None
    return made[0], made[1]


def _array(tensor: torch.Tensor) -> Any:
    return tensor.detach().cpu().double().numpy()


# -- what follows them ---------------------------------------------------------------------------------------------------------

_Found = tuple[fx.Node, Affine] | None


def _normalized(node: fx.Node, constants: Constants) -> _Found:
    """Normalization by statistics of training: the first result of three, which alone is read."""
    if node.target is not operator.getitem or node.args[1] != 0:
        return None
    norm: Any = node.args[0]
    if norm.target is not _ATEN._native_batch_norm_legit_no_training.default or len(norm.users) != 1:
        return None
    product = _product(norm.args[0], norm)
    if product is None or (product.target is _ATEN.linear.default and product.meta["val"].ndim != 2):
        return None
    scale, shift, mean, variance = (constants.find(one) for one in norm.args[1:5])
    if not isinstance(mean, torch.Tensor) or not isinstance(variance, torch.Tensor):
        return None
    if any(one is None and given is not None for one, given in zip((scale, shift), norm.args[1:3], strict=True)):
        return None
    scale, shift = torch.ones_like(mean) if scale is None else scale, torch.zeros_like(mean) if shift is None else shift
    affine = of_normalization(_array(scale), _array(shift), _array(mean), _array(variance), norm.args[6])
    return product, affine


def _scaled(node: fx.Node, constants: Constants) -> _Found:
    """An operator of a convolution and a constant tensor, such as parts of a normalization that is written out."""
    name = _OPERATORS.get(node.target)
    if name is None or node.kwargs:
        return None
    for place, one in enumerate(node.args):
        product = _product(one, node)
        if product is None or product.target is _ATEN.linear.default:
            continue
        constant, before, after = constants.find(node.args[1 - place]), product.meta["val"], node.meta["val"]
        if not isinstance(constant, torch.Tensor) or constant.is_complex() or before.dtype != after.dtype:
            return None
        if not before.ndim == after.ndim == product.args[1].meta["val"].ndim:
            return None
        affine = of_operator(name, _array(constant), bool(place), before.ndim)
        return None if affine is None else (product, affine)
    return None
