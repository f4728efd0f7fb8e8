"""Arithmetic of lengths, and what PyTorch asserts of them."""

from __future__ import annotations

import builtins
import functools
import math
import operator
from typing import Any

import torch

from ....graph.stand_ins import extreme
from ..table import ROWS, Row, row

_SYMBOLIC: dict[str, Any] = {
    "sym_not": operator.not_, "sym_int": int, "_sym_sqrt": lambda n: n**0.5, "sym_float": lambda n: n * 1.0,
    "sym_max": functools.partial(extreme, max), "sym_min": functools.partial(extreme, min),
    "sym_ite": lambda condition, a, b: a if condition else b,
}  # fmt: skip


def _enter(function: Any, computed: Any) -> None:
    ROWS[function] = Row(lambda call, *numbers: computed(*numbers), "", None)


for _name in (
    "add",
    "sub",
    "mul",
    "floordiv",
    "truediv",
    "mod",
    "pow",
    "neg",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "and_",
    "or_",
):
    _enter(getattr(operator, _name), getattr(operator, _name))
for _function in (math.ceil, math.floor, math.trunc, builtins.round, builtins.abs):
    _enter(_function, _function)


def _part(whole: Any, place: Any) -> Any:
    if whole[place] is None:
        raise NotImplementedError(f"vkarray does not compute the result {place} of this operator")
    return whole[place]


_enter(operator.getitem, _part)
for _name, _computed in _SYMBOLIC.items():
    if hasattr(torch, _name):
        _enter(getattr(torch, _name), _computed)


@row("sym_size.int", "size.int")
def _length(call: Any, x: Any, dim: int) -> Any:
    return x.shape[dim]


@row("sym_numel", "numel")
def _count(call: Any, x: Any) -> Any:
    return math.prod(x.shape)


@row("_assert_scalar")
def _assert(call: Any, condition: Any, message: str) -> None:
    if not condition:
        raise ValueError(message)


@row(
    "_assert_async.msg",
    "_assert_async",
    "_assert_tensor_metadata",
    "sym_constrain_range_for_size",
    "sym_constrain_range",
)
def _nothing(call: Any, *given: Any, **options: Any) -> None:
    """What PyTorch asserts of types, and of values that no program reads."""
