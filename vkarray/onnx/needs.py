"""Which values of a graph the host needs: shapes, axes, numbers of steps, conditions.

Such a value is computed by the host where it can be: of constants, of shapes, and of inputs whose values then decide how the
model is traced. What is left has to be read from the device, and keeps a model from being compiled.
"""

from __future__ import annotations

from collections.abc import Iterator

from .graph import Graph, Node


class Needs:
    """`inputs`: names of the inputs whose values the host needs; `reads`: why the host reads values, and at which nodes."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.needed: set[str] = set()
        self._links: dict[str, list[str]] = {}  # what follows from a name being needed
        self._makers: dict[str, Node] = {}
        for one in graph.everywhere():
            self._makers.update((name, node) for node in one.nodes for name in node.outputs if name)
            for node in one.nodes:
                self._note(node)
        self._spread()
        self.inputs = sorted({one.name for one in graph.inputs} & self.needed)
        self.known = self._known_names()
        self._note_host_nodes()
        for one in graph.everywhere():
            for node in one.nodes:
                node.on_host = any(name in self.needed for name in node.outputs)
        self.reads = list(self._reads())

    def _note(self, node: Node) -> None:
        for name, others in rules_of(node):
            if name is None:
                self.needed.update(others)
            else:
                self._links.setdefault(name, []).extend(others)
        self.needed.update(node.inputs[place] for place in node.row.host if place < len(node.inputs))
        if node.row.numpy and not node.row.shape_only:
            for name in node.outputs:
                self._links.setdefault(name, []).extend(node.inputs)

    def _spread(self) -> None:
        self.needed.discard("")
        waiting = list(self.needed)
        while waiting:
            for name in self._links.get(waiting.pop(), ()):
                if name and name not in self.needed:
                    self.needed.add(name)
                    waiting.append(name)

    def _known_names(self) -> set[str]:
        """Names whose values the host has without reading them: all but those that something else makes."""
        rules: dict[str, list[str] | None] = {}  # the names that must be known for it; None where that does not help
        rules.update((one.name, None) for one in self.graph.inputs if one.name not in self.needed)
        for one in self.graph.everywhere():
            for node in one.nodes:
                row = node.row
                rules.update(dict.fromkeys(node.outputs, [] if row.shape_only else node.inputs if row.numpy else None))
                for name, others in rules_of(node):
                    if name is not None:
                        rules[name] = others
        known = {*rules, ""}
        for one in self.graph.everywhere():
            known.update(one.constants)
            known.update(description.name for description in one.inputs if description.name not in rules)
        changed = True
        while changed:
            unknown = {
                name
                for name, others in rules.items()
                if name in known and (others is None or not known.issuperset(others))
            }
            known -= unknown
            changed = bool(unknown)
        return known

    def _note_host_nodes(self) -> None:
        """What would read values runs on the host where these are known, and so does what makes them."""
        for one in self.graph.everywhere():
            for node in one.nodes:
                if node.row.reads and node.row.numpy and self.known.issuperset(node.inputs):
                    self.needed.update(node.inputs)
        self._spread()

    def _reads(self) -> Iterator[tuple[Node, str]]:
        for one in self.graph.everywhere():
            for node in one.nodes:
                row = node.row
                if row.reads and not (row.numpy and self.known.issuperset(node.inputs)):
                    yield node, row.reads
                names = _deciding(node)
                for name in names:
                    if name and name not in self.known:
                        maker = self._makers.get(name)
                        made = f"made by {maker}" if maker is not None else "which comes from outside"
                        yield node, f"it needs the value of {name!r}, {made}, which is on the device"


def rules_of(node: Node) -> Iterator[tuple[str | None, list[str]]]:
    """Of a node with graphs: names with those that must be known for them; without a name, those that decide what is run."""
    yield from _NESTED[node.row.name](node) if node.row.name in _NESTED and node.graphs else ()


def _deciding(node: Node) -> list[str]:
    decide = [other for name, others in rules_of(node) if name is None for other in others]
    return decide + [node.inputs[place] for place in sorted(node.row.host) if place < len(node.inputs)]


def _of_if(node: Node) -> Iterator[tuple[str | None, list[str]]]:
    yield None, node.inputs[:1]
    branches = [graph.outputs for graph in node.graphs]
    for place, name in enumerate(node.outputs):
        yield name, [outputs[place].name for outputs in branches if place < len(outputs)]


def _of_loop(node: Node) -> Iterator[tuple[str | None, list[str]]]:
    (body,) = node.graphs
    yield None, [*node.inputs[:2], *(one.name for one in body.outputs[:1])]
    for one in body.inputs[:2]:
        yield one.name, []  # the number of the step and the condition are the host's
    carried = list(zip(node.inputs[2:], body.inputs[2:], body.outputs[1:], strict=False))
    for given, inner, made in carried:
        yield inner.name, [given, made.name]
    for name, made in zip(node.outputs, body.outputs[1:], strict=False):
        yield name, [made.name]


def _of_scan(node: Node) -> Iterator[tuple[str | None, list[str]]]:
    (body,) = node.graphs
    for given, inner in zip(node.inputs[-len(body.inputs) :], body.inputs, strict=False):
        yield inner.name, [given]
    for name, made in zip(node.outputs, body.outputs, strict=False):
        yield name, [made.name]


_NESTED = {"If": _of_if, "Loop": _of_loop, "Scan": _of_scan}
