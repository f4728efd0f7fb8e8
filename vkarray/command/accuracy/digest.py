"""A digest of the results for many inputs: equal for equal bits, however the inputs are cut into blocks.

Each input (its 32 bits) and its result (its bits; every NaN counts as the same one, for NaN payloads are free; false and
true are 0 and 1) make a number of 64 bits, the input above the result. These numbers are mixed by the finalizer of
SplitMix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, 2014) and added modulo 2^64. The
arrays may be of any library with NumPy's functions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

_NAN, _INFINITY, _MAGNITUDE = np.uint32(0x7FC00000), np.uint32(0x7F800000), np.uint32(0x7FFFFFFF)
_MULTIPLIERS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def of(inputs: Any, results: Any) -> Any:
    """The digest of float32 or bool results for inputs given by their bits (uint32), as a scalar of their library."""
    mixed = inputs.astype(np.uint64)
    mixed <<= np.uint64(32)
    mixed |= _canonical(results)
    mixed ^= mixed >> np.uint64(30)
    mixed *= _MULTIPLIERS[0]
    mixed ^= mixed >> np.uint64(27)
    mixed *= _MULTIPLIERS[1]
    mixed ^= mixed >> np.uint64(31)
    return mixed.sum(dtype=np.uint64)


def total(digests: Iterable[Any]) -> int:
    """The digest of all inputs from those of disjoint parts."""
    return sum(int(one) for one in digests) % 2**64


def _canonical(results: Any) -> Any:
    """The bits of results, as uint32."""
    if results.dtype == np.bool_:
        return results.astype(np.uint32)
    bits = results.view(np.uint32)
    return np.where((bits & _MAGNITUDE) > _INFINITY, _NAN, bits)


def text(digest: int) -> str:
    """As it is written in reports."""
    return f"{digest:016x}"
