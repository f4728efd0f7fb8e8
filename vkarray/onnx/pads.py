"""Puts zeros around the input of a convolution into that convolution, which reads them without a padded copy in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from .graph import Graph, Node, note_last_uses


def fold_pads(graph: Graph) -> None:
    """Padding by zeros that convolutions alone read becomes theirs."""
    kept = [node for node in graph.nodes if (node.row.domain, node.row.name) != ("", "Pad") or not _folded(node, graph)]
    if len(kept) < len(graph.nodes):
        graph.nodes = kept
        note_last_uses(graph)


def _folded(node: Node, graph: Graph) -> bool:
    """Whether all that read a node that pads do so instead: then they take what it pads."""
    padded = node.outputs[0]
    zeros = _zeros(node, graph)
    if zeros is None or any(one.name == padded for one in graph.outputs):
        return False
    readers = [one for one in graph.nodes if padded in (*one.inputs, *one.captured)]
    found = [_sum(reader, padded, *zeros, graph) for reader in readers]
    if not readers or None in found:
        return False
    for reader, pads in zip(readers, found, strict=True):
        reader.inputs[0], reader.attributes["pads"] = node.inputs[0], pads
    return True


def _zeros(node: Node, graph: Graph) -> tuple[list[int], list[int] | None] | None:
    """How many zeros a node adds, before and then after each axis, and along which, None for all; None for other padding."""
    given: list[Any] = [graph.constants.get(name) for name in node.inputs[1:]]
    known = all(one is not None or not name for one, name in zip(given, node.inputs[1:], strict=True))
    pads, value, axes = (*given, None, None, None)[:3]
    if node.version < 11:
        pads, value = (node.attributes.get(name) for name in ("pads", "value"))
    constant = node.attributes.get("mode", "constant") == "constant" and (value is None or not np.any(value))
    if not known or not constant or pads is None or min(pads, default=0) < 0:
        return None
    return [int(one) for one in pads], None if axes is None else axes.tolist()


def _sum(reader: Node, padded: str, pads: list[int], axes: list[int] | None, graph: Graph) -> list[int] | None:
    """The padding of a convolution that takes over that of its input; None where the reader is another, or cannot."""
    weight = graph.constants.get(reader.inputs[1]) if len(reader.inputs) > 1 else None
    own_way = reader.attributes.get("auto_pad", "NOTSET") != "NOTSET"
    if (reader.row.domain, reader.row.name) != ("", "Conv") or weight is None or weight.ndim < 3 or own_way:
        return None
    rank = weight.ndim
    chosen = list(range(rank)) if axes is None else [axis + rank * (axis < 0) for axis in axes]
    own = reader.attributes.get("pads") or [0] * 2 * (rank - 2)
    wrong = len(pads) != 2 * len(chosen) or len(own) != 2 * (rank - 2) or len(set(chosen)) < len(chosen)
    if wrong or padded in reader.inputs[1:] or not set(chosen) <= set(range(rank)):
        return None  # what is wrong is told when the model runs
    count = len(chosen)
    before, after = (dict(zip(chosen, part, strict=True)) for part in (pads[:count], pads[count:]))
    if any(sides.get(axis, 0) for sides in (before, after) for axis in (0, 1)):
        return None
    more = [sides.get(axis, 0) for sides in (before, after) for axis in range(2, rank)]
    return [one + other for one, other in zip(own, more, strict=True)]
