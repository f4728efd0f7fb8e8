"""Arrays of numbers that are known: constants, ranges, identities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import vkarray as vx

from ..table import row

Sizes = Sequence[Any]


@row("full", "new_full")
def _full(call: Any, *given: Any, **options: Any) -> Any:
    *_, size, value = given
    return vx.full(tuple(size), value, dtype=call.dtype)


@row("zeros", "empty.memory_format", "new_zeros", "new_empty", "empty_strided", "new_empty_strided", "empty_permuted")
def _zeros(call: Any, *given: Any, **options: Any) -> Any:
    """What PyTorch leaves as it was in memory is 0."""
    size = given[1] if call.name.startswith("new_") else given[0]
    return vx.zeros(tuple(size), dtype=call.dtype)


@row("ones", "new_ones")
def _ones(call: Any, *given: Any, **options: Any) -> Any:
    return vx.ones(tuple(given[-1]), dtype=call.dtype)


@row("zeros_like", "empty_like", "zero")
def _zeros_like(call: Any, x: Any, **options: Any) -> Any:
    return vx.zeros_like(x, dtype=call.dtype)


@row("ones_like")
def _ones_like(call: Any, x: Any, **options: Any) -> Any:
    return vx.ones_like(x, dtype=call.dtype)


@row("full_like", "fill.Scalar")
def _full_like(call: Any, x: Any, value: Any, **options: Any) -> Any:
    return vx.full_like(x, value, dtype=call.dtype)


@row("fill.Tensor", "copy")
def _filled(call: Any, x: Any, value: Any, *_: Any) -> Any:
    return vx.broadcast_to(call.cast(value), tuple(x.shape))


@row("scalar_tensor")
def _number(call: Any, value: Any, **options: Any) -> Any:
    return vx.full((), value, dtype=call.dtype)


@row("arange.start_step", "arange.start", "arange")
def _range(call: Any, *given: Any, **options: Any) -> Any:
    start, end, step = (0, given[0], 1) if len(given) == 1 else (*given, 1)[:3]
    return vx.arange(start, end, step, dtype=call.dtype)


@row("eye", "eye.m")
def _identity(call: Any, n: Any, m: Any = None, **options: Any) -> Any:
    return vx.eye(n, m, dtype=call.dtype)


@row("linspace")
def _spaced(call: Any, start: Any, end: Any, steps: Any, **options: Any) -> Any:
    return vx.linspace(start, end, steps, dtype=call.dtype)
