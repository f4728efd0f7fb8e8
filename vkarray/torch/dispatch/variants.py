"""Overloads that write into an argument, of operators that return new tensors on the device: the result, copied.

Rows bring those that PyTorch's schemas pair with them. Here are the others: where the operator itself is composed of others.
"""

from __future__ import annotations

from typing import Any

import torch

from . import table

_SPARSE = {"sspaddmm.out"}  # the operator itself is composed of this one, and for sparse tensors alone


def _composed(op: Any) -> bool:
    """Whether an operator runs on the device without the overload that writes: by a row of its own, or of others."""
    return table.full_name(op) in table.TABLE or table.has_kernel(op, "CompositeImplicitAutograd")


def _functional(op: Any) -> Any:
    """The overload that returns what another one writes; None where there is none on the device."""
    packet, targets = op._schema.name.removeprefix("aten::"), table.written(op)
    if len(targets) != len(op._schema.returns):
        return None
    in_place = targets == ["self"]
    if in_place:
        packet = packet.replace("__i", "__", 1) if packet.startswith("__i") else packet.removesuffix("_")
    for other in table.overloads(packet):
        same = table._types(other) == table._types(op, [] if in_place else targets)
        if same and not table.written(other) and _composed(other):
            return other
    return None


def _register() -> None:
    for name in torch._C._dispatch_get_all_op_names():
        packet, _, overload = name.removeprefix("aten::").partition(".")
        found = getattr(torch.ops.aten, packet, None) if name.startswith("aten::") else None
        op = getattr(found, overload or "default", None)
        if op is None or not table.written(op) or table.full_name(op) in table.TABLE.keys() | _SPARSE:
            continue
        if not table.has_kernel(op, "CPU") or table.comes_by_itself(op) or table.has_kernel(op, "PrivateUse1"):
            continue
        functional = _functional(op)
        if functional is not None:
            table.register(op, table._from_functional(op, functional), "decomposed", "variants")


_register()
