"""Makes one product of the linear layers of one input, such as queries, keys and values, whose few rows do not fill a device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import fx

from .folding import Constants
from .merge import held

_ATEN = torch.ops.aten
_MOST_ROWS = 1024  # products of more fill devices, and what reads parts of their rows is slower


def join_siblings(exported: Any) -> None:
    """Rewrite the graph of a model: linear layers of one input are one layer, of whose result each is a part."""
    module, graph = exported.graph_module, exported.graph_module.graph
    constants = Constants(exported)
    found: dict[fx.Node, list[fx.Node]] = {}
    for node in graph.nodes:
        if _is_small(node) and _is_known(node, constants):
            found.setdefault(node.args[0], []).append(node)
    for source, siblings in found.items():
        if len(siblings) > 1:  # of one type, which is that of their input
            _join(module, source, siblings, constants)


def _is_small(node: fx.Node) -> bool:
    """Whether a node is a layer whose input has so few rows, and this number is known."""
    if node.target is not _ATEN.linear.default or node.kwargs:
        return False
    sizes = node.meta["val"].shape
    return all(type(size) is int for size in sizes) and 0 < sizes.numel() <= _MOST_ROWS * sizes[-1]


def _is_known(node: fx.Node, constants: Constants) -> bool:
    """Whether a layer has constants that no other node reads."""
    given: Any = [one for one in node.args[1:] if one is not None]
    return all(isinstance(constants.find(one), torch.Tensor) and list(one.users) == [node] for one in given)


def _join(module: Any, source: fx.Node, siblings: Sequence[fx.Node], constants: Constants) -> None:
    """One layer in place of several, which then are parts of its result."""
    graph, first = module.graph, siblings[0]
    weights = [constants.find(one.args[1]) for one in siblings]
    biases = [constants.find(one.args[2]) if len(one.args) > 2 else None for one in siblings]
    rows = [int(one.shape[0]) for one in weights]
    with graph.inserting_before(first):
        given = [held(module, torch.cat([one.detach() for one in weights]), constants)]
        if any(one is not None for one in biases):
            filled = [
                weight.new_zeros(size) if one is None else one.detach()
                for one, weight, size in zip(biases, weights, rows, strict=True)
            ]
            given.append(held(module, torch.cat(filled), constants))
        joined = graph.call_function(_ATEN.linear.default, (source, *given))
        like = first.meta["val"]
        joined.meta = {**first.meta, "val": like.new_empty((*like.shape[:-1], sum(rows)))}
        begin = 0
        for one, size in zip(siblings, rows, strict=True):
            part = graph.call_function(_ATEN.slice.Tensor, (joined, like.ndim - 1, begin, begin + size))
            part.meta = dict(one.meta)
            one.replace_all_uses_with(part)
            begin += size
    for one in siblings:
        graph.erase_node(one)
