"""What of a model cannot be exported, and where that stands in the model's source."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import fx


class Refusal(NamedTuple):
    """An operator that a program cannot compute.

    `operator` is PyTorch's name of it, `types` tells of what it takes and returns, `module` names the part of the model, `source`
    the line that calls it, as far as PyTorch noted them.
    """

    operator: str
    reason: str
    types: str
    module: str
    source: str

    def __str__(self) -> str:
        places = [f"in {self.module}" if self.module else "", f"at {self.source}" if self.source else ""]
        return f"{self.operator}{self.types}: {self.reason}" + "".join(f"\n      {one}" for one in places if one)


class ExportError(NotImplementedError):
    """A model that cannot be a program. `refusals` has all that stands against it."""

    def __init__(self, name: str, refusals: Sequence[Refusal], cannot: str = "cannot be a program") -> None:
        self.refusals = tuple(refusals)
        listed = "".join(f"\n   {number}. {one}" for number, one in enumerate(refusals, 1))
        count = f"{len(refusals)} of its operators" if len(refusals) > 1 else "one of its operators"
        super().__init__(f"vkarray.torch.export: {name} {cannot}, for {count} cannot be part of a program:{listed}")


def refused(node: fx.Node, reason: str) -> Refusal:
    """What is said of a node that is refused."""
    taken = [_told(one.meta.get("val")) for one in node.all_input_nodes]
    types = f"({', '.join(taken)}) -> {_told(node.meta.get('val'))}" if taken or "val" in node.meta else ""
    return Refusal(_named(node.target), reason, types, _module(node), _source(node))


def of_text(what: str, reason: str) -> Refusal:
    """What is said of something that is no node."""
    return Refusal(what, reason, "", "", "")


def _named(target: Any) -> str:
    if isinstance(target, torch._ops.OpOverload):
        return str(target)
    return getattr(target, "__name__", str(target))


def _told(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    if isinstance(value, (list, tuple)):
        return f"({', '.join(map(_told, value))})"
    return str(value)


def place(node: fx.Node, names: Mapping[str, str]) -> str:
    """Where a node stands in the model, in short: the line of the source, and the module.

    Of what PyTorch itself asserts of lengths there is no line: then it is what the node says of them, by the `names` of symbols.
    """
    line, value = _line(node), node.meta.get("val")
    if line is not None:
        at = f"{line[0]}:{line[1]}"
    elif isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        at = re.sub(r"\b[su]\d+\b", lambda found: names.get(found[0], found[0]), str(value.node.expr))
    else:
        at = f"%{node.name}"
    path, _ = _innermost(node)
    return f"{at} in {path}" if path else at


def _module(node: fx.Node) -> str:
    path, kind = _innermost(node)
    if kind is None:
        return ""
    name = kind if isinstance(kind, str) else kind.__qualname__
    return f"{path or 'the model'} ({name.rpartition('.')[2]})"


def _innermost(node: fx.Node) -> tuple[str, Any]:
    """The innermost module that a node is of: its path, and its class; None where PyTorch has not noted it."""
    stack: list[tuple[str, Any]] = list((node.meta.get("nn_module_stack") or {}).values())
    known = [one for one in stack if not one[0].startswith("_empty_nn_module_stack")]  # PyTorch's word for none
    return known[-1] if known else ("", None)


def _source(node: fx.Node) -> str:
    line = _line(node)
    if line is None:
        return ""
    file, number, function, text = line
    return f"{file}:{number} in {function}: {text.strip()}"


def _line(node: fx.Node) -> tuple[str, ...] | None:
    """The innermost line that is not PyTorch's own, else the innermost: its file, number, function and text."""
    trace = node.meta.get("stack_trace") or ""
    lines = re.findall(r'File "([^"]*)", line (\d+), in (\S+)\n\s*(.*)', trace)
    written = [one for one in lines if not one[0].startswith("<")]
    own = [one for one in written if "/torch/nn/" not in one[0].replace("\\", "/")] or written
    return own[-1] if own else None
