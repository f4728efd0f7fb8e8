"""Formulas of networks that 16-bit types have of their own, on all of their numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from reference import flushes_subnormals, supported

import vkarray as vx
from vkarray.nn import pointwise

EVERY = np.arange(1 << 16, dtype=np.uint32)


@pytest.mark.parametrize("dtype", supported([vx.float16, vx.bfloat16]), ids=str)
def test_gelu_of_every_number_of_16_bits(dtype) -> None:
    """Within 0.6 units in the last place: the formula errs by 3.6e-5 at most, 0.07 units of float16, before it is rounded."""
    values = EVERY.astype(np.uint16).view(np.float16) if dtype is vx.float16 else (EVERY << 16).view(np.float32)
    with np.errstate(invalid="ignore"):  # NaN that signal
        x = values.astype(np.float32)
        got = np.asarray(pointwise.gelu(vx.asarray(values if dtype is vx.float16 else x, dtype=dtype))).astype(
            np.float64
        )
        wide = x.astype(np.float64)
        expected = wide * np.array([0.5 * math.erfc(-one * 0.5**0.5) for one in wide.tolist()])
    np.testing.assert_array_equal(np.isnan(got), np.isnan(expected))
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(got[~finite], expected[~finite])
    info = vx.finfo(dtype)
    if flushes_subnormals(dtype):  # of float32, in which both types compute
        finite &= (np.abs(expected) >= 2 * vx.finfo(vx.float32).smallest_normal) | (wide == 0)
    unit = 2.0 ** np.floor(np.log2(np.maximum(np.abs(expected[finite]), info.smallest_normal))) * info.eps
    assert np.max(np.abs(got[finite] - expected[finite]) / unit) < 0.6
    np.testing.assert_array_equal(np.signbit(got[wide == 0]), [False, True])
