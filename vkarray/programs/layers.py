"""Where the nodes of a graph stand in a picture: in layers from top to bottom, each node below those that it depends on.

The method is that of Sugiyama, Tagawa and Toda, Methods for Visual Understanding of Hierarchical System Structures (1981): edges
over several layers get a place in each of them, neighbours pull the nodes of a layer into an order with few crossings, and then
to their places.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

_SWEEPS = 12  # down and up again
_FIRM = 32.0  # how much more than long edges nodes stay where they are pulled, and pull others


class Layers(NamedTuple):
    """The layer of each node and its middle from left to right, and of each edge its middles in the layers in between."""

    layer: list[int]
    middle: list[float]
    bends: list[list[float]]


def layers(count: int, edges: Sequence[tuple[int, int]], width: float, gap: float) -> Layers:
    """Places for nodes of one width. An edge leads from a node to a later one."""
    layer = _layers(count, edges)
    chains = []
    rows: list[list[int]] = [[] for _ in range(max(layer, default=-1) + 1)]
    for node, own in enumerate(layer):
        rows[own].append(node)
    places = count
    pieces: list[tuple[int, int]] = []  # of edges, from a layer to the next one
    for begin, end in edges:
        chain = [begin]
        for between in range(layer[begin] + 1, layer[end]):
            chain.append(places)
            rows[between].append(places)
            places += 1
        chain.append(end)
        chains.append(chain)
        pieces += itertools.pairwise(chain)
    above: list[list[int]] = [[] for _ in range(places)]
    below: list[list[int]] = [[] for _ in range(places)]
    for begin, end in pieces:
        above[end].append(begin)
        below[begin].append(end)
    rows = _ordered(rows, above, below)
    widths, weights = ([node] * count + [edge] * (places - count) for node, edge in ((width, 0.0), (_FIRM, 1.0)))
    middle = _middles(rows, above, below, widths, weights, gap)
    return Layers(layer, middle[:count], [[middle[one] for one in chain[1:-1]] for chain in chains])


def _layers(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """The length of the longest way to each node; those that depend on none stand right above the first that needs them."""
    layer = [0] * count
    for begin, end in sorted(edges, key=lambda edge: edge[1]):
        layer[end] = max(layer[end], layer[begin] + 1)
    roots = set(range(count)) - {end for _, end in edges}
    nearest: dict[int, int] = {}
    for begin, end in edges:
        if begin in roots:
            nearest[begin] = min(nearest.get(begin, layer[end]), layer[end])
    for root, first in nearest.items():
        layer[root] = first - 1
    return layer


def _ordered(rows: list[list[int]], above: Sequence[list[int]], below: Sequence[list[int]]) -> list[list[int]]:
    """The layers in an order with few crossings."""
    best, fewest = rows, _crossings(rows, below)
    for _ in range(_SWEEPS):
        for neighbours, order in ((above, range(1, len(rows))), (below, range(len(rows) - 2, -1, -1))):
            rows = list(rows)
            for number in order:
                near = {place: at for row in rows[max(number - 1, 0) : number + 2] for at, place in enumerate(row)}
                wanted = {place: _mean([near[one] for one in neighbours[place]], near[place]) for place in rows[number]}
                rows[number] = sorted(rows[number], key=wanted.__getitem__)
        found = _crossings(rows, below)
        if found < fewest:
            best, fewest = rows, found
    return best


def _crossings(rows: Sequence[list[int]], below: Sequence[list[int]]) -> int:
    """How many pairs of edges cross."""
    found = 0
    for row, following in itertools.pairwise(rows):
        at = {place: number for number, place in enumerate(following)}
        ends: list[int] = []
        for place in row:
            own = sorted(at[one] for one in below[place])
            found += sum(end > one for one in own for end in ends)
            ends += own
    return found


def _middles(
    rows: Sequence[list[int]], above: Sequence[list[int]], below: Sequence[list[int]], widths: Sequence[float],
    weights: Sequence[float], gap: float,
) -> list[float]:  # fmt: skip
    """The middle of each place: as near to its neighbours as the others in its layer allow."""
    middle = [0.0] * len(widths)
    for row in rows:
        for place, x in zip(row, _apart(row, widths, [0.0] * len(row), [1.0] * len(row), gap), strict=True):
            middle[place] = x
    for sweep in range(2 * _SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            near = above if sweep % 2 == 0 else below
            wanted = [
                sum(middle[one] * weights[one] for one in near[place]) / sum(weights[one] for one in near[place])
                if near[place] else middle[place]
                for place in row
            ]  # fmt: skip
            for place, x in zip(row, _apart(row, widths, wanted, [weights[one] for one in row], gap), strict=True):
                middle[place] = x
    return middle


def _apart(
    row: Sequence[int], widths: Sequence[float], wanted: Sequence[float], weights: Sequence[float], gap: float
) -> list[float]:
    """The places nearest to those wanted, by least squares, that do not overlap: neighbours that would become one block."""
    blocks: list[tuple[float, float, int]] = []  # where its first place begins, weight, places
    offsets, end = [], 0.0
    for place, x, weight in zip(row, wanted, weights, strict=True):
        offsets.append(end + widths[place] / 2)
        block = (x - offsets[-1], weight, 1)
        end += widths[place] + gap
        while blocks and blocks[-1][0] >= block[0]:
            at, other, size = blocks.pop()
            block = ((at * other + block[0] * block[1]) / (other + block[1]), other + block[1], size + block[2])
        blocks.append(block)
    begins = [at for at, _, size in blocks for _ in range(size)]
    return [begin + offset for begin, offset in zip(begins, offsets, strict=True)]


def _mean(values: Sequence[float], default: float) -> float:
    return sum(values) / len(values) if values else default
