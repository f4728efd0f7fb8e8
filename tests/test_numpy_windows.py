"""Windows of signals, and choices about floating-point errors, compared with NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from reference import supported

import vkarray as vx


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning", "kaiser"])
@pytest.mark.parametrize("count", [-1, 0, 1, 2, 5, 12, 2.5, 300])
@pytest.mark.parametrize("default", ["float32", "float64"])
def test_window(name: str, count: int, default: str) -> None:
    if not supported([vx.dtype(default)]):
        pytest.skip("the device has no shaderFloat64")
    if name == "kaiser" and count == 2.5:
        pytest.skip("NumPy takes the root of a negative number")
    args = (count, 8.6) if name == "kaiser" else (count,)
    with vx.config(default_float=default):
        got = getattr(vx, name)(*args)
    expected = getattr(np, name)(*args)
    assert got.dtype == default
    assert got.shape == expected.shape
    relative, absolute = (1e-12, 1e-15) if default == "float64" else (2e-6, 2e-7)
    np.testing.assert_allclose(np.asarray(got), expected, rtol=relative, atol=absolute)


def test_a_window_of_what_is_no_number() -> None:
    with pytest.raises(TypeError, match=r"^hamming: expected a real number as M"):
        vx.hamming("5")


def test_floating_point_errors() -> None:
    before = vx.seterr(all="ignore")
    assert before == np.geterr()
    with vx.errstate(divide="warn", invalid="ignore"):
        assert vx.geterr()["divide"] == "warn"
        assert vx.isinf(vx.asarray([1.0]) / 0).all()
    assert vx.geterr()["divide"] == "ignore"

    @vx.errstate(over="warn")
    def inside() -> str:
        return vx.geterr()["over"]

    assert inside() == "warn"
    vx.seterr(**before)
    with pytest.raises(ValueError, match=r'^seterr: .*expected "ignore" or "warn" as invalid, got \'raise\''):
        vx.seterr(all="ignore", invalid="raise")
    assert vx.geterr() == before, "a call that raises chooses nothing"


def test_arrays_of_one_value_are_numbers() -> None:
    half = vx.asarray([0.5])[0]
    assert vx.arange(half, 2, half).tolist() == [0.5, 1.0, 1.5]
    assert vx.linspace(half, 1, 2).tolist() == [0.5, 1.0]
    assert vx.quantile(vx.asarray([1.0, 3.0]), [half]).tolist() == [2.0]
    assert [0] * vx.asarray([2])[0] == [0, 0]
