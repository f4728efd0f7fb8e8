"""Windows of signals: bartlett, blackman, hamming, hanning and kaiser."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...core import promotion
from ...core.array import VkArray, default_dtype
from ...kernels.launch import as_device
from .. import creation
from ..elementwise import cos, sqrt
from ..searching import where
from .numbers import i0


def _window(name: str, M: Any, values: Callable[[VkArray, float], VkArray]) -> VkArray:
    """The values at places 1 - M, 3 - M, ..., M - 1, which are given with M - 1; none for M < 1, and 1 for M = 1."""
    count = promotion.as_real(M, name, "M")
    dtype = default_dtype("float", as_device(None))
    if count <= 1:
        return creation.ones((max(math.ceil(count), 0),), dtype=dtype)
    return values(creation.arange(1 - count, count, 2, dtype=dtype), count - 1)


def bartlett(M: int) -> VkArray:
    """The triangular window of M points, with zeros at its ends. Raises TypeError where M is no number."""
    return _window("bartlett", M, lambda n, last: where(n <= 0, 1 + n / last, 1 - n / last))


def blackman(M: int) -> VkArray:
    """Blackman's window of M points, a sum of three cosines. Raises TypeError where M is no number."""
    return _window(
        "blackman", M,
        lambda n, last: 0.42 + 0.5 * cos(n * (math.pi / last)) + 0.08 * cos(n * (2 * math.pi / last)),
    )  # fmt: skip


def hamming(M: int) -> VkArray:
    """Hamming's window of M points, a raised cosine with 0.08 at its ends. Raises TypeError where M is no number."""
    return _window("hamming", M, lambda n, last: 0.54 + 0.46 * cos(n * (math.pi / last)))


def hanning(M: int) -> VkArray:
    """Von Hann's window of M points, a raised cosine with zeros at its ends. Raises TypeError where M is no number."""
    return _window("hanning", M, lambda n, last: 0.5 + 0.5 * cos(n * (math.pi / last)))


def kaiser(M: int, beta: float) -> VkArray:
    """Kaiser's window of M points, made of Bessel's function `i0`.

    Parameters: M; beta (how narrow it is: 0 gives ones, 5 is like `hamming`, 6 like `hanning`, 8.6 like `blackman`).
    Raises TypeError for what is no number.
    """
    shape = promotion.as_float(beta, "kaiser", "beta")

    def values(n: VkArray, last: float) -> VkArray:
        return i0(shape * sqrt(1 - (n / last) ** 2)) / i0(creation.asarray(shape, dtype=n.dtype))

    return _window("kaiser", M, values)
