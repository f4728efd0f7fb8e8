"""What a call costs: small works, values on the host, and transfers of ordinary NumPy memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .work import CUDA, Goal, Sizes, Values, Work, ahead_of_vulkan, host_result, of_rows, whole

_CHAIN = 1000  # dependent calls that are timed as one
_READS = 100  # calls whose value is read, timed as one


def _chain(xp: Any, x: Any, y: Any) -> Any:
    for _ in range(_CHAIN):
        x = xp.add(x, y)
    return x


def _chained(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    for _ in range(_CHAIN):
        x = x + y
    return x


def _values(xp: Any, x: Any, y: Any) -> Any:
    for _ in range(_READS):
        value = float(x + y)
    return np.asarray(value)


def works(sizes: Sizes) -> Iterator[Work]:
    """The rows of this chapter."""
    x, y = Values("uniform", (64,)), Values("uniform", (64,), 1)
    yield Work(
        "eager", "x + y of 64 elements, each call needing the last", (x, y), _chain, whole(_chained, 1e-5),
        (Goal("CuPy", 1.0), *ahead_of_vulkan()), unit="µs", clock="host", calls=_CHAIN, common=True,
    )  # fmt: skip
    scalars = (Values("uniform", ()), Values("uniform", (), 1))
    yield Work(
        "value", "float(x + y) of 0 dimensions", scalars, _values,
        host_result(lambda found, x, y: np.allclose(found, x + y, rtol=1e-6)), (Goal(CUDA, 0.5),),
        unit="µs", clock="host", calls=_READS,
    )  # fmt: skip
    n = max(1, sizes.elements // 4)
    array = (Values("uniform", (n,)),)
    yield Work(
        "upload", "ordinary host memory to the device", array, lambda xp, a: xp.upload(a), of_rows(np.asarray, 0.0),
        (Goal(CUDA, 1.0),), 4 * n, clock="host", on_host=True,
    )  # fmt: skip
    yield Work(
        "download", "the device to ordinary host memory", array, lambda xp, a: xp.download(a),
        of_rows(np.asarray, 0.0), (Goal(CUDA, 1.0),), 4 * n, clock="host",
    )  # fmt: skip
