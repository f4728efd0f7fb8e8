"""What of a model cannot be exported, and where that stands in the model's source."""

from __future__ import annotations

import re
from collections.abc import Sequence
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


def _module(node: fx.Node) -> str:
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    if not stack:
        return ""
    path, kind = stack[-1]
    name = kind if isinstance(kind, str) else kind.__qualname__
    return f"{path or 'the model'} ({name.rpartition('.')[2]})"


def _source(node: fx.Node) -> str:
    """The innermost line that is not PyTorch's own, else the innermost."""
    trace = node.meta.get("stack_trace") or ""
    lines = re.findall(r'File "([^"]*)", line (\d+), in (\S+)\n\s*(.*)', trace)
    written = [one for one in lines if not one[0].startswith("<")]
    own = [one for one in written if "/torch/nn/" not in one[0].replace("\\", "/")] or written
    if not own:
        return ""
    file, number, function, text = own[-1]
    return f"{file}:{number} in {function}: {text.strip()}"
