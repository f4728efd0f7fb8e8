"""Elementwise functions, conversions, broadcasting and strided reads: bound by memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .work import Goal, Sizes, Values, Work, ahead_of_vulkan, by_rows, cuda, of_rows

# Name, formula, inputs, the work, the reference, and the bytes that an element of the result stands for.
_FLAT: tuple[tuple[str, str, int, Callable[..., Any], Callable[..., Any], int], ...] = (
    ("copy", "a copy of a", 1, lambda xp, a: xp.copy(a), np.asarray, 8),
    ("add", "a + b", 2, lambda xp, a, b: xp.add(a, b), np.add, 12),
    ("divide", "a / b", 2, lambda xp, a, b: xp.divide(a, b), np.divide, 12),
    ("sqrt", "sqrt(a)", 1, lambda xp, a: xp.sqrt(a), np.sqrt, 8),
    ("exp", "exp(a)", 1, lambda xp, a: xp.exp(a), np.exp, 8),
    ("log", "log(a)", 1, lambda xp, a: xp.log(a), np.log, 8),
    ("sin", "sin(a)", 1, lambda xp, a: xp.sin(a), np.sin, 8),
    ("tanh", "tanh(a)", 1, lambda xp, a: xp.tanh(a), np.tanh, 8),
    ("pow", "a ** b", 2, lambda xp, a, b: xp.pow(a, b), np.power, 12),
)


def _exact(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function in float64, so that the reference's own rounding does not count."""

    def reference(*inputs: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):  # a random number may be 0
            return function(*(x.astype(np.float64) for x in inputs))

    return reference


def works(sizes: Sizes) -> Iterator[Work]:
    """The rows of this chapter."""
    n, side = sizes.elements, sizes.side
    square = (side, side)
    vectors = (Values("uniform", (n,)), Values("uniform", (n,), 1))
    for name, text, count, run, reference, nbytes in _FLAT:
        check = of_rows(_exact(reference), 1e-6, 1e-7 if name == "log" else 0.0)
        goals = cuda(1.0) + (ahead_of_vulkan(1 / 4) if name == "add" else ())
        yield Work(
            name, text, vectors[:count], run, check, goals, nbytes * n, bound="copy", common=name == "add"
        )  # fmt: skip
    yield Work(
        "where", "where(m, a, b)", (Values("mask", (n,), 2, "bool"), *vectors), lambda xp, m, a, b: xp.where(m, a, b),
        of_rows(np.where, 0.0), cuda(1.0), 13 * n, bound="copy",
    )  # fmt: skip
    pairs = (Values("uniform", (n // 2,), 3, "complex64"), Values("uniform", (n // 2,), 4, "complex64"))
    yield Work(
        "complex multiply", "a * b, complex64", pairs, lambda xp, a, b: xp.multiply(a, b),
        of_rows(np.multiply, 1e-6, 1e-6), cuda(1.0), 12 * n, bound="copy",
    )  # fmt: skip
    for target, size in (("float16", 6), ("int64", 12)):
        yield Work(
            f"cast to {target}", f"astype(a, {target})", vectors[:1],
            lambda xp, a, target=target: xp.astype(a, target),
            of_rows(lambda a, target=target: a.astype(target), 0.0), cuda(1.0), float(size * n), bound="copy",
        )  # fmt: skip
    a, b = Values("uniform", square), Values("uniform", square, 1)
    count = side * side
    views: tuple[tuple[str, str, tuple[Values, ...], Callable[..., Any], Callable[..., Any], float, int], ...] = (
        ("add a row", "A + r", (a, Values("uniform", (side,), 5)), lambda xp, a, r: xp.add(a, r),
         lambda rows, a, r: a[rows] + r, 1.0, 8),
        ("add a column", "A + c", (a, Values("uniform", (side, 1), 5)), lambda xp, a, c: xp.add(a, c),
         lambda rows, a, c: a[rows] + c[rows], 1.0, 8),
        ("add the transpose", "A + A.T", (a,), lambda xp, a: xp.add(a, a.T),
         lambda rows, a: a[rows] + a[:, rows].T, 2.0, 12),
        ("transpose", "a copy of A.T", (a,), lambda xp, a: xp.copy(a.T), lambda rows, a: a[:, rows].T, 2.5, 8),
        ("strided", "a copy of A[::2, ::2]", (a,), lambda xp, a: xp.copy(a[::2, ::2]),
         lambda rows, a: a[::2, ::2][rows], 1.0, 3),  # half the lines of memory are read whole
        ("add halves", "A[:, : n / 2] + B[:, n / 2 :]", (a, b),
         lambda xp, a, b: xp.add(a[:, : side // 2], b[:, side // 2 :]),
         lambda rows, a, b: a[rows, : side // 2] + b[rows, side // 2 :], 1.0, 6),
    )  # fmt: skip
    for name, text, inputs, run, reference, goal, nbytes in views:
        goals = (Goal("PyTorch CUDA", goal),)
        yield Work(name, text, inputs, run, by_rows(reference, 0.0), goals, nbytes * count, bound="copy")
