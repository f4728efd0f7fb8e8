"""Fourier transforms: one pass over memory at best."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from .work import Sizes, Values, Work, by_rows, cuda, of_rows, whole

# A float32 transform is good to a few units of 2^-24 times log2(n), of the usual magnitude of its elements. Those of
# the inputs have a mean square of 1/6, or half as much where they are real.
_RELATIVE = 1e-5


def _two_dimensional(rows: slice, a: np.ndarray) -> np.ndarray:
    """Rows of the transform over both axes: those of a product with the Fourier matrix, each then transformed.

    In complex64, for speed: sums of so many are good to ten times _RELATIVE.
    """
    height = a.shape[0]
    turns = np.outer(np.arange(height)[rows], np.arange(height)) % height / height
    return np.fft.fft(np.exp(-2j * np.pi * turns).astype(np.complex64) @ a, axis=1)


def _close(size: int, relative: float = _RELATIVE) -> tuple[float, float]:
    """The relative and absolute tolerance for transforms of so many elements."""
    return relative, relative * math.sqrt(size / 6) + 1e-6


def works(sizes: Sizes) -> Iterator[Work]:
    """The rows of this chapter."""
    n = max(1 << 12, sizes.elements // 4)
    length = min(4096, n // 16)
    side = 1 << (n.bit_length() - 1) // 2
    prime = 65537 if n >= 1 << 24 else 257
    rows = (
        ("fft rows", f"fft, rows of {length}", n, length),
        ("fft one", "fft of one row", n // 4, n // 4),
        ("fft rows 1000", "fft, rows of 1000", n // 1024 * 1000, 1000),
        ("fft prime", f"fft, rows of {prime}, a prime", n // (4 * prime) * prime, prime),
    )
    for name, text, count, size in rows:
        one = count == size
        values = Values("centred", (count,) if one else (count // size, size), 3, "complex64")
        check = whole(np.fft.fft, *_close(size)) if one else of_rows(np.fft.fft, *_close(size))
        yield Work(name, text, (values,), lambda xp, a: xp.fft.fft(a), check, cuda(0.8), 16 * count, bound="copy")
    real = Values("centred", (n // length, length), 3)
    yield Work(
        "rfft rows", f"rfft, rows of {length}", (real,), lambda xp, a: xp.fft.rfft(a),
        of_rows(np.fft.rfft, *_close(length)), cuda(0.8), 8 * n, bound="copy",
    )  # fmt: skip
    plane = Values("centred", (side, side), 3, "complex64")
    yield Work(
        "fft2", "fftn over both axes", (plane,), lambda xp, a: xp.fft.fftn(a),
        by_rows(_two_dimensional, *_close(side * side, 10 * _RELATIVE)), cuda(0.8), 32 * side * side, bound="copy",
    )  # fmt: skip
