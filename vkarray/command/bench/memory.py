"""What memory costs: arrays made and freed, one at a time and many that live together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .work import Goal, Sizes, Values, Work, whole

_TURNS = 10_000  # arrays made and freed one at a time, timed as one
_MANY = 1 << 20  # arrays that live together, at most


def _in_turn(xp: Any, x: Any, y: Any) -> Any:
    for _ in range(_TURNS):
        xp.empty_like(x)
    return xp.add(y, y)


def _together(xp: Any, x: Any, y: Any, many: int) -> Any:
    kept = [xp.empty_like(x) for _ in range(many)]
    del kept[::2]  # holes that are too small for what comes now
    kept += [xp.empty_like(y) for _ in range(many // 2)]
    return xp.add(y, y)  # while all of them live


def _twice(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return y + y


def works(sizes: Sizes) -> Iterator[Work]:
    """The rows of this chapter."""
    inputs, many = (Values("uniform", (64,)), Values("uniform", (128,), 1)), max(2, min(_MANY, sizes.elements // 4))
    yield Work(
        "arrays in turn", "an array of 256 bytes, made and freed", inputs, _in_turn, whole(_twice),
        (Goal("CuPy", 1.0),), unit="µs", clock="host", calls=_TURNS,
    )  # fmt: skip
    yield Work(
        "arrays together", f"each of {many:,} arrays of 256 bytes and, when half are freed, half as many of 512 bytes",
        inputs, lambda xp, x, y: _together(xp, x, y, many), whole(_twice), (Goal("CuPy", 1.0),),
        unit="µs", clock="host", calls=many + many // 2,
    )  # fmt: skip
