"""Decompositions and solutions: many kernels each, so the host's clock counts, until the device is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .work import Sizes, Values, Work, cuda, factors


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
                f"{name} {n}", f"{name}, {n} x {n} float32", inputs, run, factors(product), cuda(goal),
                unit="ms", clock="host",
            )  # fmt: skip
