"""Which nodes of a graph of aten operators can be traced, and the graph cut into parts: traced ones, and others in between."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, fx
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from torch.fx.node import map_arg

log = logging.getLogger(__name__)

MOST_NODES = 1024  # of one part that is traced: what longer ones gain is little, and they take long to fuse

# PyTorch's marks of operators whose results have shapes or numbers that depend on values.
_SYMBOLIC = (Tensor, torch.SymInt, torch.SymFloat, torch.SymBool)
_BY_VALUES = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}


def obstacle(node: fx.Node) -> str:
    """Why a node cannot be traced, as far as the graph says; an empty text where nothing speaks against it."""
    if node.op != "call_function":
        return "it is no operator"
    target = node.target
    if isinstance(target, torch._ops.HigherOrderOperator):
        return "it runs graphs of its own"
    if isinstance(target, torch._ops.OpOverload) and not _BY_VALUES.isdisjoint(target.tags) and _is_open(node):
        return "its result depends on values in a way that traced arrays cannot"
    if node.kwargs.get("generator") is not None:
        return "it draws from a generator that is given"
    if is_part_of(node) is not None:
        return ""
    for one in (node, *node.all_input_nodes):
        for value in _tensors(one.meta.get("val")):
            if value.device.type != "vulkan":
                return f"it takes or returns a tensor on the device {value.device}"
    return ""


def _is_open(node: fx.Node) -> bool:
    """Whether a node returns numbers or shapes that PyTorch does not know beforehand."""
    found = node.meta.get("val")
    parts = found if isinstance(found, (list, tuple)) else (found,)
    return any(isinstance(one, _SYMBOLIC) and bool(free_unbacked_symbols(one)) for one in parts)


def _tensors(value: Any) -> Iterable[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _tensors(one)


def is_part_of(node: fx.Node) -> fx.Node | None:
    """The node that a node takes its value out of."""
    takes = node.op == "call_function" and getattr(node.target, "__name__", "") == "getitem"
    return node.args[0] if takes and isinstance(node.args[0], fx.Node) else None


def writes(node: fx.Node) -> bool:
    """Whether a node changes memory, or does more than return a value."""
    schema = getattr(node.target, "_schema", None)
    return node.is_impure() or (schema is not None and schema.is_mutable)


def _draws(node: fx.Node) -> bool:
    return torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())


def levels(graph: fx.Graph, untraced: Iterable[fx.Node]) -> dict[fx.Node, int]:
    """The part that each node belongs to, in their order: even ones are traced, odd ones are not.

    A node comes as early as its arguments allow. What writes to memory stays between the nodes before and after it, and nodes
    that draw random numbers keep their order.
    """
    odd = set(untraced)
    found: dict[fx.Node, int] = {}
    counts: dict[int, int] = {}
    floor = highest = drawn = 0
    for node in graph.nodes:
        if node.op in ("placeholder", "get_attr", "output"):
            continue
        whole = is_part_of(node)
        if whole is not None and whole in found:
            found[node] = found[whole]
            continue
        wrote, draws = writes(node), _draws(node)
        level = max([floor, *(found[one] for one in node.all_input_nodes if one in found)])
        level = max(level, highest if wrote else 0, drawn if draws else 0)
        level += level % 2 != (node in odd)
        while not level % 2 and counts.get(level, 0) >= MOST_NODES:
            level += 2
        found[node] = level
        counts[level] = counts.get(level, 0) + 1
        highest = max(highest, level)
        floor, drawn = level if wrote else floor, level if draws else drawn
    return found


class _Step(NamedTuple):
    """A part of a graph: what runs it, and where its arguments and results are among all values; which it is the last to use."""

    run: Callable[..., Sequence[Any]]
    takes: tuple[int, ...]
    gives: tuple[int, ...]
    drops: tuple[int, ...]


class Parts:
    """The parts of a graph, which run one after the other."""

    def __init__(
        self, module: fx.GraphModule, parts: dict[fx.Node, int], runner: Callable[[fx.GraphModule, int], Callable[..., Any]]
    ) -> None:  # fmt: skip
        """`runner` gives what runs a part: from its graph, and its number."""
        graph = module.graph
        (output,) = (node for node in graph.nodes if node.op == "output")
        places: dict[fx.Node, int] = {}
        self.constants: list[Any] = []
        for node in graph.nodes:
            if node.op == "placeholder":
                places[node] = len(places)
        self.inputs = len(places)
        members: dict[int, list[fx.Node]] = {}
        for node, part in parts.items():
            members.setdefault(part, []).append(node)
        needed = {node: max((parts.get(user, _END) for user in node.users), default=-1) for node in graph.nodes}
        steps: list[tuple[Any, list[fx.Node], list[fx.Node]]] = []
        for part in sorted(members):
            inside = set(members[part])
            takes: dict[fx.Node, None] = {}
            for node in members[part]:
                takes.update(dict.fromkeys(one for one in node.all_input_nodes if one not in inside))
            taken = [one for one in takes if one.op != "get_attr"]
            gives = [node for node in members[part] if needed[node] > part]
            steps.append((runner(_part(module, members[part], list(takes), gives), part), taken, gives))
            for node in gives:
                places[node] = len(places)
        self.size = len(places)
        last: dict[fx.Node, int] = {}
        for number, (_, taken, _gives) in enumerate(steps):
            last.update(dict.fromkeys(taken, number))
        returned = set(output.all_input_nodes)
        self.steps = [
            _Step(
                run, tuple(places[one] for one in taken), tuple(places[one] for one in gives),
                tuple(places[one] for one in taken if last[one] == number and one not in returned),
            )
            for number, (run, taken, gives) in enumerate(steps)
        ]  # fmt: skip
        self.form = map_arg(
            output.args[0], lambda node: _Constant(module, node) if node.op == "get_attr" else _Place(places[node])
        )

    def __call__(self, *args: Any) -> Any:
        """What the graph returns."""
        held = [*args, *[None] * (self.size - self.inputs)]
        for run, takes, gives, drops in self.steps:
            found = run(*[held[place] for place in takes])
            for place, one in zip(gives, found, strict=True):
                held[place] = one
            for place in drops:
                held[place] = None
        return _filled(self.form, held)


_END = 1 << 62


class _Place:
    """Stands for a value in what a graph returns."""

    def __init__(self, number: int) -> None:
        self.number = number


class _Constant:
    """Stands for an attribute of the graph in what it returns."""

    def __init__(self, module: fx.GraphModule, node: fx.Node) -> None:
        found: Any = module
        for name in str(node.target).split("."):
            found = getattr(found, name)
        self.value = found


def _filled(form: Any, held: Sequence[Any]) -> Any:
    if isinstance(form, (list, tuple)):
        return type(form)([_filled(one, held) for one in form])
    if isinstance(form, _Place):
        return held[form.number]
    return form.value if isinstance(form, _Constant) else form


def _part(
    module: fx.GraphModule, nodes: Sequence[fx.Node], takes: Sequence[fx.Node], gives: Sequence[fx.Node]
) -> fx.GraphModule:  # fmt: skip
    graph = fx.Graph()
    copies: dict[fx.Node, fx.Node] = {}
    for one in sorted(takes, key=lambda one: one.op == "get_attr"):  # placeholders come first
        if one.op == "get_attr":
            copies[one] = graph.node_copy(one)
        else:
            copies[one] = graph.placeholder(one.name)
            copies[one].meta = dict(one.meta)
    for node in nodes:
        copies[node] = graph.node_copy(node, lambda one: copies[one])
    graph.output(tuple(copies[one] for one in gives))
    return fx.GraphModule(module, graph)
