"""x ** 2 is a square: the same bits as `pow` of arrays, in every type and for special numbers."""

import numpy as np
import pytest
from reference import host_dtype, supported

import vkarray as vx
from vkarray.core.dtypes import CATEGORIES

REAL = supported(CATEGORIES["real numeric"])


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_an_exponent_of_two_gives_the_square(dtype):
    rng = np.random.default_rng(1)
    if dtype.kind == "f":
        host = np.concatenate(
            [rng.normal(size=500) * 10.0 ** rng.integers(-4, 4, 500), [0.0, -0.0, np.inf, -np.inf, np.nan]]
        )
        x = vx.asarray(host, dtype=dtype)
    else:
        x = vx.asarray(rng.integers(0, 100, 505).astype(host_dtype(dtype)))
    by_array = vx.pow(x, vx.full(x.shape, 2, dtype=dtype))
    for found in (x**2, vx.pow(x, 2), vx.compile(lambda x, p: x**p)(x, 2), vx.square(x)):
        assert found.dtype is by_array.dtype
        np.testing.assert_array_equal(np.asarray(found), np.asarray(by_array))
    if dtype.kind == "f":
        assert (x**2.0).dtype is dtype
        np.testing.assert_array_equal(np.asarray(x**2.0), np.asarray(by_array))
    else:
        assert (x**2.0).dtype.kind == "f"
