"""The types of results are NumPy's where float64 is the default type, for every type of an argument."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from against_numpy import Raised, outcome, same, stand_in, supported

import vkarray as vx

pytestmark = pytest.mark.usefixtures("numpy_types")

TYPES = ("bool", "int8", "int32", "uint8", "uint64", "float16", "float32", "float64", "complex64")
TEXTS = (
    "poly(a)", "roots(a)", "polyfit(a, a, 1)", "polyval(a, a)", "polyint(a)", "polyder(a)", "polyadd(a, a)", "polymul(a, a)",
    "polydiv(a, a)[0]", "poly1d(a).coeffs", "vander(a)", "trapezoid(a)", "gradient(a)", "interp(a, a, a)", "unwrap(a)", "angle(a)",
    "linspace(a[0], a[1], 3)", "logspace(a[0], a[1], 3)", "geomspace(1 + abs(a[0]), 1 + abs(a[1]), 3)", "cov(a)",
    "corrcoef(a, a)", "median(a)", "nanmedian(a)", "quantile(a, 0.5)", "nanquantile(a, 0.5)", "percentile(a, [1, 2])", "average(a)",
    "average(a, weights=a)", "var(a)", "std(a)", "nanstd(a)", "nanmean(a)", "ptp(a)", "mean(a)", "sum(a)", "prod(a)", "cumprod(a)",
    "nancumsum(a)", "ediff1d(a)", "diff(a)", "linalg.norm(a)", "linalg.norm(a, 1)", "linalg.vector_norm(a)", "kron(a, a)",
    "convolve(a, a)", "outer(a, a)", "cross(a, a)", "tensordot(a, a, 1)", "einsum('i,i->', a, a)", "matmul(a, a)",
    "trace(a[:, None] * a)", "sinc(a)", "i0(a)", "nan_to_num(a)", "real_if_close(a)", "bincount([0, 1, 1], abs(a))",
    "select([a > 0], [a])", "where(a > 0, a, 0)", "where(a > 0, a, 0.0)", "clip(a, 0, 1.0)", "pad(a, 1, mode='mean')",
    "piecewise(a, [a > 0], [1, 2])", "apply_along_axis(n.sum, 0, a)", "emath.sqrt(a)", "emath.log(a)", "emath.power(a, 2)",
    "array([a[0], 1.5])", "array([a[0], 1])", "full_like(a, 1.5)", "conj(a)", "square(a)", "reciprocal(a)", "float_power(a, 2)",
    "divmod(a, a)[0]", "modf(a)[0]", "frexp(a)[0]", "ldexp(a, 2)", "hypot(a, 1)", "floor_divide(a, 2)", "round(a)", "fix(a)",
    "sqrt(a)",
    "fft.fft(a)", "fft.rfft(a)", "fft.ihfft(a)", "fft.ifft2([a])", "polynomial.polynomial.polyval(a, a)",
    "polynomial.chebyshev.chebval(a, a)", "polynomial.polynomial.polyfit(a, a, 1)",
)  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_types_of_results(text: str) -> None:
    def call(n: Any, dtype: str) -> Any:
        a = n.asarray([True, False, True] if dtype == "bool" else [1, 2, 3], dtype=dtype)
        return eval(f"n.{text}", {"n": n, "a": a}).dtype

    for dtype in supported(TYPES):
        expected = outcome(lambda n, dtype=dtype: call(n, dtype), np)
        found = outcome(lambda n, dtype=dtype: call(n, dtype), vx)
        if isinstance(expected, Raised) or isinstance(found, Raised):
            difference = same(expected, found)
            assert not difference, f"of {dtype}: {difference}"
        else:
            assert str(found) == stand_in(expected).name, f"of {dtype}"
