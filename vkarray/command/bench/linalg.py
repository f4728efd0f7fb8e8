"""Decompositions and solutions: many kernels each, so the host's clock counts, until the device is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .work import Check, Sizes, Values, Work, cuda


def _near(found: np.ndarray, expected: np.ndarray) -> bool:
    """Within 1e-5 times the rows of the largest element: float32 with a factor for growth that is far from reached."""
    if found.shape != expected.shape or not np.all(np.isfinite(found)):
        return False
    error = np.abs(found.astype(np.float64) - expected).max()
    return bool(error <= 1e-5 * len(expected) * max(1.0, np.abs(expected).max()))


def _rebuilt(product: Callable[..., np.ndarray]) -> Check:
    """Whether the factors multiply to what was factored: `product(*factors, *inputs)` are the two sides."""

    def check(library: Any, result: Any, inputs: tuple[np.ndarray, ...]) -> bool:
        factors = [library.host(factor) for factor in (result if isinstance(result, tuple) else (result,))]
        found, expected = product(*factors, *inputs)
        return _near(found, expected)

    return check


def works(sizes: Sizes) -> Iterator[Work]:
    """The rows of this chapter."""
    for n in (max(2, sizes.matrix // 8), max(4, sizes.matrix // 4)):
        general, right = Values("normal", (n, n), 1), Values("normal", (n, 16), 2)
        definite, symmetric = Values("definite", (n, n), 3), Values("symmetric", (n, n), 4)
        rows: tuple[tuple[str, tuple[Values, ...], Callable[..., Any], Callable[..., Any], float], ...] = (
            ("cholesky", (definite,), lambda xp, a: xp.linalg.cholesky(a), lambda c, a: (c @ c.T, a), 0.5),
            ("solve", (definite, right), lambda xp, a, b: xp.linalg.solve(a, b), lambda x, a, b: (a @ x, b), 0.5),
            ("inv", (definite,), lambda xp, a: xp.linalg.inv(a), lambda x, a: (a @ x, np.eye(len(a))), 0.5),
            ("qr", (general,), lambda xp, a: tuple(xp.linalg.qr(a)), lambda q, r, a: (q @ r, a), 0.7),
            ("eigh", (symmetric,), lambda xp, a: tuple(xp.linalg.eigh(a)), lambda w, v, a: ((v * w) @ v.T, a), 0.5),
            ("svd", (general,), lambda xp, a: tuple(xp.linalg.svd(a)), lambda u, s, v, a: ((u * s) @ v, a), 1.0),
        )  # fmt: skip
        for name, inputs, run, product, goal in rows:
            yield Work(
                f"{name} {n}", f"{name}, {n} x {n} float32", inputs, run, _rebuilt(product), cuda(goal),
                unit="ms", clock="host",
            )  # fmt: skip
