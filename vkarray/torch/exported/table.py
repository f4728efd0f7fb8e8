"""The table of what an exported model may compute: a row for each operator of PyTorch's.

A row is a function `f(call, *arguments, **options)` that calls vkarray's public functions on arrays. It takes what PyTorch's
operator takes: arrays for tensors, vkarray's types for PyTorch's, and no options that say where and how a tensor lies in memory.
What it returns is converted to the type that PyTorch says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

RESULT, OPERANDS = "result", "operands"


class Row(NamedTuple):
    """How an operator is computed."""

    function: Callable[..., Any]
    promotes: str  # which type tensors are converted to before: that of the result, or the one that the operands have in common
    limit: Callable[..., str | None] | None  # says of PyTorch's arguments why they are refused, if so


ROWS: dict[Any, Row] = {}  # by operators, and by functions of numbers


FOREIGN: dict[str, Row] = {}  # of other packages, which may be imported later, by namespaces and names


def find(target: Any) -> Row | None:
    """The row of what a node calls, or None."""
    found = ROWS.get(target)
    if found is None and isinstance(target, torch._ops.OpOverload):
        found = FOREIGN.get(target._schema.name)
    return found


def foreign_row(name: str) -> Callable[..., Any]:
    """Enter a function as the row of an operator of another package, such as `torchvision::nms`."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        FOREIGN[name] = Row(function, "", None)
        return function

    return enter


def row(*names: str, promotes: str = "", limit: Callable[..., str | None] | None = None) -> Callable[..., Any]:
    """Enter a function as the row of ATen's operators. A name without an overload is the one called `default`."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            found = operator(name)
            if found is not None:  # another version of PyTorch has others
                ROWS[found] = Row(function, promotes, limit)
        return function

    return enter


def operator(name: str) -> Any:
    """The operator of a name, such as `add.Tensor`; None where this version of PyTorch has none."""
    packet, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, packet, None), overload or "default", None)
