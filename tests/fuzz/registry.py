"""The table of operations that chains are made of, and what several of them need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from chain import Chain, Entry, Step

import vkarray as vx
from vkarray.core.dtypes import DType

Operation = Callable[[Chain], Step | None]
OPERATIONS: list[tuple[int, Operation]] = []  # how often each is taken, beside the others


def operation(weight: int) -> Callable[[Operation], Operation]:
    """Enter a function, which makes one step from what it finds in a chain, or None where it finds nothing that fits."""

    def enter(function: Operation) -> Operation:
        OPERATIONS.append((weight, function))
        return function

    return enter


def tolerance(dtype: DType, ulps: float, reference: Any) -> Any:
    """So many units in the last place of a result."""
    limits = vx.finfo(dtype)
    return ulps * limits.eps * np.abs(reference) + 4 * limits.smallest_normal * limits.eps


def scalar(chain: Chain, dtype: DType) -> Any:
    """A Python number that keeps the type."""
    if dtype.category == "bool":
        return chain.chance(0.5)
    if "integer" in dtype.category:
        return chain.integer(1, 5)
    if dtype.category == "complex floating" and chain.chance(0.3):
        return complex(chain.integer(-3, 3), chain.integer(1, 3))
    return chain.choice((0.5, 2.0, -1.25, 3, 0.1))


def shown(one: Any) -> str:
    if not isinstance(one, Entry):
        return repr(one)
    return f"{one.array.dtype}{list(one.array.shape)} of strides {one.array.strides} {one.host.tolist()!r:.400}"
