"""Numbers that a model reads from its own constants: known when it is exported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import fx

_READS = torch.ops.aten._local_scalar_dense.default


class _Varies(Exception):
    """A value depends on arguments, or is drawn at random."""


def fold_numbers(exported: Any) -> None:
    """Put numbers in place of nodes that read them from parameters, buffers and what is computed of these alone."""
    graph = exported.graph_module.graph
    reading = [node for node in graph.nodes if node.target is _READS]
    if not reading:
        return
    constants = _constants(exported, graph)
    known: dict[fx.Node, Any] = {}
    for node in reading:
        try:
            number = _value(node, constants, known)
        except _Varies:
            continue
        node.replace_all_uses_with(number)
        graph.erase_node(node)


def _constants(exported: Any, graph: fx.Graph) -> dict[fx.Node, Any]:
    """What the inputs of a graph are that are no arguments."""
    held: Mapping[str, Any] = {**exported.state_dict, **exported.constants}
    specs: Sequence[Any] = exported.graph_signature.input_specs
    inputs = [node for node in graph.nodes if node.op == "placeholder"]
    return {
        node: held[spec.target]
        for spec, node in zip(specs, inputs, strict=True)
        if spec.kind.name != "USER_INPUT" and spec.target in held
    }


def _value(node: fx.Node, constants: Mapping[fx.Node, Any], known: dict[fx.Node, Any]) -> Any:
    """What a node computes of constants. Raises _Varies."""
    if node in constants:
        return constants[node]
    if node not in known:
        random = torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())
        if node.op != "call_function" or not callable(node.target) or random:
            raise _Varies
        args, kwargs = fx.map_arg((node.args, node.kwargs), lambda one: _value(one, constants, known))
        known[node] = node.target(*args, **kwargs)
    return known[node]
