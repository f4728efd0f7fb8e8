"""The real formats: widths, exponents, bits, and how far a result is from the true value in their units."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from ...core.dtypes import REAL_OF, DType

# A part of a complex number that overflows is one that matters when the modulus is at most this many times as large.
MATTERS = 1000


@dataclass(frozen=True)
class Format:
    """A binary floating-point format; `precision` counts the hidden bit. Host values are float32 for bfloat16."""

    name: str
    bits: int
    precision: int
    lowest_exponent: int  # of normal numbers

    @property
    def highest_exponent(self) -> int:
        return 1 - self.lowest_exponent

    @property
    def epsilon(self) -> float:
        return math.ldexp(1, 1 - self.precision)

    @property
    def host(self) -> np.dtype:
        return np.dtype("float32" if self.name == "bfloat16" else self.name)

    def from_bits(self, bits: np.ndarray) -> np.ndarray:
        """The values with these bits (an array of unsigned integers)."""
        if self.name == "bfloat16":
            return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
        return bits.astype(f"u{self.bits // 8}").view(self.host)

    def to_bits(self, values: np.ndarray) -> np.ndarray:
        """The bits of host values."""
        bits = values.astype(self.host).view(f"u{self.host.itemsize}")
        return bits >> np.uint32(16) if self.name == "bfloat16" else bits

    def rounded(self, values: np.ndarray) -> np.ndarray:
        """Values as the format can hold them (bfloat16: rounded towards zero)."""
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return self.from_bits(self.to_bits(np.asarray(values)))


_FORMATS = {
    form.name: form
    for form in (
        Format("float16", 16, 11, -14),
        Format("bfloat16", 16, 8, -126),
        Format("float32", 32, 24, -126),
        Format("float64", 64, 53, -1022),
    )
}


@functools.cache
def format_of(dtype: DType) -> Format:
    """The format of a real type, or of the parts of a complex one."""
    return _FORMATS[REAL_OF.get(dtype, dtype).name]


def real_errors(got: np.ndarray, expected: np.ndarray, form: Format, least_unit: np.ndarray | float) -> np.ndarray:
    """|got - expected| in units in the last place of `expected`, which is in wider arithmetic, or in `least_unit`, if larger.

    Infinity counts as the number after the largest one. The error is infinite where NaN, an infinity that is meant, a zero
    that is meant, or the sign of a zero disagree.
    """
    with np.errstate(all="ignore"):
        exponent = np.frexp(np.abs(expected))[1] - 1
        one = expected.dtype.type(1)
        unit = np.ldexp(one, np.maximum(exponent, form.lowest_exponent) - form.precision + 1)
        unit = np.fmax(unit, least_unit)
        beyond = np.ldexp(one, form.highest_exponent + 1)
        got = got.astype(expected.dtype)
        errors = np.abs(np.where(np.isinf(got), np.copysign(beyond, got), got) - expected) / unit
        meant = (np.abs(expected) >= beyond) | (expected == 0)
        same = got == np.where(expected == 0, expected, np.copysign(np.inf, expected))
        errors = np.where(meant & same, 0, errors)
        errors = np.where(meant & ~same, np.inf, errors)
        errors = np.where((got == 0) & (np.signbit(got) != np.signbit(expected)), np.inf, errors)
        either, both = np.isnan(got) | np.isnan(expected), np.isnan(got) & np.isnan(expected)
        return np.where(both, 0, np.where(either, np.inf, errors)).astype(np.float64)


def complex_errors(got: np.ndarray, expected: np.ndarray, form: Format) -> np.ndarray:
    """|got - expected| in eps of |expected|, at least the smallest normal number; NaN is an infinite error.

    Parts that overflow count as the number after the largest one. Where the modulus overflows by far, the error is 0
    or infinite: the parts that matter have to be infinities of the right signs.
    """
    with np.errstate(all="ignore"):
        one = np.ones((), expected.real.dtype)
        beyond = np.ldexp(one, form.highest_exponent + 1)
        got_parts = [part.astype(one.dtype) for part in (got.real, got.imag)]
        parts = [np.clip(part, -beyond, beyond) for part in (expected.real, expected.imag)]
        distance = np.hypot(
            *(np.clip(mine, -beyond, beyond) - part for mine, part in zip(got_parts, parts, strict=True))
        )
        modulus = np.maximum(np.hypot(*parts), np.ldexp(one, form.lowest_exponent))
        errors = distance / modulus / form.epsilon
        modulus = np.abs(expected)
        right = ~np.isnan(got_parts[0]) & ~np.isnan(got_parts[1])
        for mine, part in zip(got_parts, (expected.real, expected.imag), strict=True):
            matters = (np.abs(part) >= beyond) & (np.abs(part) * MATTERS >= modulus)
            right &= ~matters | (mine == np.copysign(np.inf, part))
        errors = np.where(modulus >= 2 * beyond, np.where(right, 0, np.inf), errors)
        return np.where(np.isnan(errors), np.inf, errors).astype(np.float64)
