"""Numbers that a model reads from its own constants: known when it is exported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import fx

_READS = torch.ops.aten._local_scalar_dense.default


class _Varies(Exception):
    """A value depends on arguments, or is drawn at random."""


class Constants:
    """What nodes of a graph compute of the model's own tensors alone."""

    def __init__(self, exported: Any) -> None:
        held: Mapping[str, Any] = {**exported.state_dict, **exported.constants}
        specs: Sequence[Any] = exported.graph_signature.input_specs
        inputs = [node for node in exported.graph_module.graph.nodes if node.op == "placeholder"]
        self.known: dict[fx.Node, Any] = {
            node: held[spec.target]
            for spec, node in zip(specs, inputs, strict=True)
            if spec.kind.name != "USER_INPUT" and spec.target in held
        }

    def find(self, node: Any) -> Any:
        """The value of a node; None where that depends on arguments, or for no node."""
        try:
            return self.value(node) if isinstance(node, fx.Node) else None
        except _Varies:
            return None

    def value(self, node: fx.Node) -> Any:
        """The value of a node. Raises _Varies."""
        if node not in self.known:
            random = torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())
            if node.op != "call_function" or not callable(node.target) or random:
                raise _Varies
            args, kwargs = fx.map_arg((node.args, node.kwargs), self.value)
            self.known[node] = node.target(*args, **kwargs)
        return self.known[node]


def fold_numbers(exported: Any) -> None:
    """Put numbers in place of nodes that read them from parameters, buffers and what is computed of these alone."""
    graph, constants = exported.graph_module.graph, Constants(exported)
    for node in list(graph.nodes):
        if node.target is _READS and (number := constants.find(node)) is not None:
            node.replace_all_uses_with(number)
            graph.erase_node(node)
