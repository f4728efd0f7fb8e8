"""A model of which some operators run on the CPU, by PyTorch, between compiled parts."""

from __future__ import annotations

import collections
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import torch
from torch import fx
from torch.fx.node import map_aggregate, map_arg

from ... import _vk
from ...core.array import VkArray
from ...errors import counted
from ...graph.compile import Compiled
from ...programs.program import Program
from ...programs.signature import Input, Output, checked
from ..tensors.transfer import to_torch, to_vulkan
from . import nests
from .interpreter import Interpreter, attribute
from .refusals import ExportError, Refusal


class Part:
    """Nodes of a graph that run one after the other in one place: on the device, compiled, or on the CPU."""

    def __init__(self, name: str, module: Any, nodes: list[fx.Node], on_cpu: bool) -> None:
        self.name, self.module, self.nodes, self.on_cpu = name, module, nodes, on_cpu
        inside = set(nodes)
        taken = dict.fromkeys(one for node in nodes for one in node.all_input_nodes)
        self.takes = [one for one in taken if one not in inside and one.op != "get_attr"]
        self.gives = [one for one in nodes if any(user not in inside for user in one.users)]
        self.refusals: dict[fx.Node, Refusal] = {}
        self.calls = 0
        self.compiled: Compiled | None = None

    def run(self, values: dict[fx.Node, Any], device: Any, constant: Callable[[torch.Tensor], VkArray]) -> None:
        """Compute what the part gives, of what it takes."""
        self.calls += 1
        if self.on_cpu:
            self._run_on_cpu(values)
        else:
            self._run_compiled(values, device, constant)

    def _run_on_cpu(self, values: dict[fx.Node, Any]) -> None:
        found = {one: map_aggregate(values[one], _on_cpu) for one in self.takes}
        for node in self.nodes:
            for one in node.all_input_nodes:
                if one.op == "get_attr" and one not in found:
                    found[one] = attribute(self.module, str(one.target))
            found[node] = node.target(*map_arg(node.args, found.__getitem__), **_placed(node, found))
        values.update((node, found[node]) for node in self.gives)

    def _run_compiled(
        self, values: dict[fx.Node, Any], device: Any, constant: Callable[[torch.Tensor], VkArray]
    ) -> None:
        if self.compiled is None:

            def part(*given: Any) -> list[Any]:
                interpreter = Interpreter(device, constant, lengths_vary=True)
                found = dict(zip(self.takes, given, strict=True))
                interpreter.run_nodes(self.module, self.nodes, found)
                if interpreter.refusals:
                    raise ExportError(self.name, interpreter.refusals)
                return [found[one] for one in self.gives]

            part.__qualname__ = self.name
            self.compiled = Compiled(part)
        given = [_nested(values[one]) for one in self.takes]
        values.update(zip(self.gives, self.compiled(*given), strict=True))


class ProgramInParts:
    """A model as compiled parts, with operators between them that PyTorch computes on the CPU.

    It is called as a `vkarray.Program` is, and cannot be saved. `refusals` has what runs on the CPU, with the reasons.
    """

    def __init__(self, shell: Program, export: Any, refused: Mapping[fx.Node, Refusal]) -> None:
        """`shell` is a program that takes the same and computes zeros for what is refused."""
        self._shell, self._export = shell, export
        self.name, self.device = shell.name, shell.device
        self.inputs: tuple[Input, ...] = shell.inputs
        self.outputs: tuple[Output, ...] = shell.outputs
        self.refusals = tuple(refused.values())
        module = export.exported.graph_module
        self.parts = _parts(self.name, module, refused)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the model returns for these arguments, in the same nest, as arrays.

        Raises TypeError and ValueError for arguments of other types, shapes and lengths than the inputs have.
        """
        given = self._shell.binding.nest(args, kwargs)
        inputs = self._shell.binding.inputs_in(given)
        checked(self.name, self.inputs, inputs, self.device)
        leaves = nests.unpacked(self._export.spec, given)  # with what is no input: texts, truth values, None
        self._export.lengths.check(leaves)
        own, held = iter(leaves), self._export.held
        values: dict[fx.Node, Any] = {}
        for spec, node in self._export.inputs:
            values[node] = next(own) if spec.kind.name == "USER_INPUT" else held(spec, node)
        module = self._export.exported.graph_module
        with torch.no_grad(), _vk.preferring(self.device):
            for part in self.parts:
                part.run(values, self.device, self._export.constant)
            returned = next(node for node in module.graph.nodes if node.op == "output")
            for one in returned.all_input_nodes:
                if one.op == "get_attr":
                    values[one] = self._export.constant(attribute(module, str(one.target)))
            found = map_aggregate(map_arg(returned.args[0], values.__getitem__), _on_device)
        return self._export.packed(found)

    def __repr__(self) -> str:
        count = sum(len(one.refusals) for one in self.parts)
        return (
            f"<ProgramInParts {self.name}: {counted(len(self.parts), 'part')}, {counted(count, 'operator')} on the CPU>"
        )

    def explain(self) -> str:
        """The parts: what runs on the CPU with the reasons and how often it was called, and what is compiled."""
        lines = [repr(self)[1:-1]]
        for number, part in enumerate(self.parts, 1):
            called = counted(part.calls, "call")
            if not part.on_cpu:
                made = part.compiled.explain() if part.compiled is not None else None
                told = f"part {number}, compiled, {called}: {counted(len(part.nodes), 'operator')}"
                if made is not None:
                    told += f", {counted(made.kernels, 'kernel')} for {counted(len(made.programs), 'signature')} so far"
                lines.append(told)
                continue
            times = collections.Counter(one.operator for one in part.refusals.values())
            named = ", ".join(f"{name} {count} times" if count > 1 else name for name, count in times.items())
            lines.append(f"part {number}, on the CPU, {called}: {named}")
            lines += [f"   {one}" for one in part.refusals.values()]
        return "\n".join(lines)

    def save(self, path: Any, *, targets: Sequence[str] = ("any",)) -> NoReturn:
        """Raises ExportError, which names what runs on the CPU: a file holds no part of PyTorch's."""
        raise ExportError(self.name, self.refusals, "cannot be saved")


def _parts(name: str, module: Any, refused: Mapping[fx.Node, Refusal]) -> list[Part]:
    """As few parts as may be: each node comes as early as what it takes allows."""
    stages: dict[fx.Node, int] = {}
    by_stage: dict[int, list[fx.Node]] = collections.defaultdict(list)
    for node in module.graph.nodes:
        if node.op != "call_function":
            continue
        first = max((stages[one] for one in node.all_input_nodes if one in stages), default=0)
        moves = node in refused or _is_of_tensors(node)  # numbers are computed where what they come of is
        stages[node] = first + (first + (node in refused)) % 2 * moves  # those on the device have even numbers
        by_stage[stages[node]].append(node)
    parts: list[Part] = []
    for stage, nodes in sorted(by_stage.items()):
        part = Part(f"{name}, part {len(parts) + 1}", module, nodes, bool(stage % 2))
        part.refusals = {node: refused[node] for node in nodes if node in refused}
        parts.append(part)
    return parts


def _is_of_tensors(node: fx.Node) -> bool:
    """Whether a node computes tensors."""
    found = node.meta.get("val")
    return any(isinstance(one, torch.Tensor) for one in (found if isinstance(found, (list, tuple)) else [found]))


def _on_cpu(value: Any) -> Any:
    return to_torch(value) if isinstance(value, VkArray) else value


def _on_device(value: Any) -> Any:
    return to_vulkan(value.detach()) if isinstance(value, torch.Tensor) else value


def _nested(value: Any) -> Any:
    """A value of a graph as compiled functions take it."""
    if isinstance(value, (list, tuple)):
        return tuple(map(_nested, value))
    return _on_device(value)


def _placed(node: fx.Node, found: Mapping[fx.Node, Any]) -> dict[str, Any]:
    """The options of a call, on the CPU wherever the model was."""
    options = map_arg(node.kwargs, found.__getitem__)
    return {name: torch.device("cpu") if isinstance(one, torch.device) else one for name, one in options.items()}
