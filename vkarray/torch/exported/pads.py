"""Puts zeros around the input of a convolution into that convolution, which reads them without a padded copy in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import fx

_ATEN = torch.ops.aten
_PARAMETERS = {_ATEN.constant_pad_nd.default: ("value",), _ATEN.pad.default: ("mode", "value")}  # after x and how many


def fold_pads(exported: Any) -> None:
    """Rewrite the graph of a model: padding by zeros that convolutions alone read is theirs, and none is left out."""
    graph = exported.graph_module.graph
    for node in list(graph.nodes):
        if node.target not in _PARAMETERS or not (sizes := _zeros(node)):
            continue
        if not any(sizes):
            if all(reader.op != "output" for reader in node.users):
                node.replace_all_uses_with(node.args[0])
        elif all(_takes(reader, node, sizes) for reader in node.users):
            for reader in list(node.users):
                reader.args = (node.args[0], *reader.args[1:4], _added(reader.args[4], sizes), *reader.args[5:])
        if not node.users:
            graph.erase_node(node)


def _zeros(node: fx.Node) -> Sequence[int]:
    """How many zeros an operator adds, as PyTorch lists them; empty for any other padding."""
    sizes: Any = node.args[1]
    given = {**dict(zip(_PARAMETERS[node.target], node.args[2:], strict=False)), **node.kwargs}
    if given.get("mode", "constant") != "constant" or given.get("value") not in (None, 0):
        return ()
    return sizes if all(type(size) is int and size >= 0 for size in sizes) else ()


def _takes(reader: fx.Node, padded: fx.Node, sizes: Sequence[int]) -> bool:
    """Whether a reader is a convolution of what is padded, over the dimensions that are."""
    if reader.target is not _ATEN.convolution.default or reader.kwargs or padded in reader.args[1:]:
        return False
    weight: Any = reader.args[1]
    spatial = 2 * (weight.meta["val"].ndim - 2)
    return not reader.args[6] and not any(sizes[spatial:])


def _added(padding: Any, sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs for each dimension: a convolution's own padding, and what PyTorch lists from the last dimension on."""
    rank = len(padding)
    more = [*sizes, *(0,) * (2 * rank - len(sizes))]
    return [
        (own + more[place], own + more[place + 1])
        for own, place in zip(padding, range(2 * rank - 2, -1, -2), strict=True)
    ]
