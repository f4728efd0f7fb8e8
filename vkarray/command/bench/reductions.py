"""Reductions and cumulative sums over everything, rows, columns and a middle axis: bound by memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .work import Check, Sizes, Values, Work, ahead_of_vulkan, by_rows, cuda, whole


def _wide(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, axis=None: function(a, axis=axis, dtype=np.float64)


# Name, reference, and the relative error that passes: some peers add one after the other, which is far from exact.
_REDUCTIONS: tuple[tuple[str, Callable[..., Any], float], ...] = (
    ("sum", _wide(np.sum), 1e-4),
    ("max", np.max, 0.0),
    ("mean", _wide(np.mean), 1e-4),
    ("var", _wide(np.var), 1e-4),
    ("argmax", np.argmax, 0.0),
)
_RUNNING = 1e-3


def _needed(rows: slice, a: np.ndarray, axis: int) -> np.ndarray:
    """What rows of the result of a reduction depend on."""
    return a[:, rows] if axis == 0 else a[rows]


def _along(function: Callable[..., Any], relative: float, axis: int) -> Check:
    return by_rows(lambda rows, a: function(_needed(rows, a, axis), axis=axis), relative)


def _largest(library: Any, result: Any, inputs: tuple[np.ndarray, ...]) -> bool:
    """Whether the index is that of a largest element, of which there may be several."""
    (a,) = inputs
    return bool(a[int(library.host(result))] == a.max())


def _largest_along(axis: int) -> Check:
    def check(library: Any, result: Any, inputs: tuple[np.ndarray, ...]) -> bool:
        def reference(rows: slice, a: np.ndarray) -> np.ndarray:
            part, found = _needed(rows, a, axis), library.part(result, rows).astype(np.int64)
            there = np.take_along_axis(part, np.expand_dims(found, axis), axis).squeeze(axis)
            return np.where(there == part.max(axis), found, -1)

        return by_rows(reference, 0.0)(library, result, inputs)

    return check


def _running(rows: slice, a: np.ndarray) -> np.ndarray:
    return a[: rows.start].sum(axis=0, dtype=np.float64) + np.cumsum(a[rows], axis=0, dtype=np.float64)


def works(sizes: Sizes) -> Iterator[Work]:
    """The rows of this chapter."""
    side = sizes.side
    n = side * side
    yield from of_vector(n)
    square = Values("uniform", (side, side))
    outer = 1 << (n.bit_length() - 1) // 3
    block = Values("uniform", (outer, n // outer // outer, outer))
    for name, function, relative in _REDUCTIONS:
        for where, axis, values in (("rows", 1, square), ("columns", 0, square), ("middle", 1, block)):
            yield Work(
                f"{name} {where}", f"{name}(A, axis={axis})", (values,),
                lambda xp, a, name=name, axis=axis: getattr(xp, name)(a, axis=axis),
                _largest_along(axis) if name == "argmax" else _along(function, relative, axis),
                cuda(1.0), 4 * n, bound="copy",
            )  # fmt: skip
    yield Work(
        "cumulative_sum rows", "cumulative_sum(A, axis=1)", (square,), lambda xp, a: xp.cumulative_sum(a, axis=1),
        by_rows(lambda rows, a: np.cumsum(a[rows], axis=1, dtype=np.float64), _RUNNING), cuda(1.0), 8 * n, bound="copy",
    )  # fmt: skip
    yield Work(
        "cumulative_sum columns", "cumulative_sum(A, axis=0)", (square,), lambda xp, a: xp.cumulative_sum(a, axis=0),
        by_rows(_running, _RUNNING), cuda(1.0), 8 * n, bound="copy",
    )  # fmt: skip


def of_vector(n: int) -> Iterator[Work]:
    """The rows whose input is one vector."""
    vector = (Values("uniform", (n,)),)
    for name, function, relative in _REDUCTIONS:
        yield Work(
            f"{name} all", f"{name}(a)", vector, lambda xp, a, name=name: getattr(xp, name)(a),
            _largest if name == "argmax" else whole(function, relative),
            cuda(1.0) + (ahead_of_vulkan(1 / 2) if name == "sum" else ()), 4 * n, bound="copy", common=name == "sum",
        )  # fmt: skip
    yield Work(
        "cumulative_sum", "cumulative_sum(a)", vector, lambda xp, a: xp.cumulative_sum(a, axis=0),
        by_rows(_running, _RUNNING), cuda(1.0), 8 * n, bound="copy",
    )  # fmt: skip
