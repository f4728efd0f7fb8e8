"""Puts zeros around the input of a convolution into that convolution, which reads them without a padded copy in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from .graph import Graph, Node, note_last_uses


def fold_pads(graph: Graph) -> None:
    """Padding by zeros that convolutions alone read becomes theirs."""
    kept = []
    for node in graph.nodes:
        is_pad = (node.row.domain, node.row.name) == ("", "Pad") and all(
            one.name != node.outputs[0] for one in graph.outputs
        )
        readers = [one for one in graph.nodes if is_pad and node.outputs[0] in (*one.inputs, *one.captured)]
        found = _sums(node, readers, graph)
        for reader, pads in zip(readers, found, strict=False):
            reader.inputs[0], reader.attributes["pads"] = node.inputs[0], pads
        if not found:
            kept.append(node)
    if len(kept) < len(graph.nodes):
        graph.nodes = kept
        note_last_uses(graph)


def _sums(node: Node, readers: list[Node], graph: Graph) -> list[list[int]]:
    """What each reader of a node that pads does instead; empty where one of them cannot, or where it pads by no zeros."""
    given: list[Any] = [graph.constants.get(name) for name in node.inputs[1:]]
    known = all(one is not None or not name for one, name in zip(given, node.inputs[1:], strict=True))
    if not readers or not known or node.attributes.get("mode", "constant") != "constant":
        return []
    pads, value, axes = (*given, None, None, None)[:3]
    if node.version < 11:
        pads, value = (node.attributes.get(name) for name in ("pads", "value"))
    if pads is None or (value is not None and np.any(value)):
        return []
    found = [_sum(reader, node, [int(one) for one in pads], axes, graph) for reader in readers]
    return [one for one in found if one is not None] if None not in found else []


def _sum(reader: Node, node: Node, pads: list[int], axes: Any, graph: Graph) -> list[int] | None:
    """The padding of a convolution that takes over that of its input; None where the reader is another, or cannot."""
    weight = graph.constants.get(reader.inputs[1]) if len(reader.inputs) > 1 else None
    if (reader.row.domain, reader.row.name) != ("", "Conv") or weight is None or weight.ndim < 3:
        return None
    if (
        node.outputs[0] in (*reader.inputs[1:], *reader.captured)
        or reader.attributes.get("auto_pad", "NOTSET") != "NOTSET"
    ):
        return None
    rank = weight.ndim
    chosen = list(range(rank)) if axes is None else [int(axis) % rank for axis in axes.tolist()]
    own = list(reader.attributes.get("pads") or [0] * 2 * (rank - 2))
    if len(pads) != 2 * len(chosen) or len(own) != 2 * (rank - 2) or min(pads) < 0:
        return None
    for place, more in enumerate(pads):
        axis = chosen[place % len(chosen)] - 2
        if axis >= 0:
            own[axis + (rank - 2) * (place >= len(chosen))] += more
        elif more:
            return None
    return own
