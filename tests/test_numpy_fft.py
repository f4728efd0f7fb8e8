"""The forms that NumPy's transforms take."""

from __future__ import annotations

import numpy as np
import pytest
from against_numpy import stand_in
from compared import check, compare, on_device, values
from reference import supported

import vkarray as vx

TYPES = [str(one) for one in supported([vx.float32, vx.float64, vx.complex64, vx.complex128, vx.int32])]
LINES = ((), (5,), (8, 0), (None, 1, "ortho"), (6, -1, "forward"), (None, 0, None))
PLANES = ((), ((3, 4),), ((3, 4), (0, 1)), (None, (1, 0)), (None, None, "ortho"))
REPEATED = ((None, (0, 0)), (None, (1, 1)), (None, (1, 0, 1)), ((3, 5, 4), (0, 0, 1)), ((5, 8), (-1, 1), "ortho"))


@pytest.mark.parametrize("dtype", TYPES)
def test_transforms(dtype: str) -> None:
    x = values(dtype, (4, 6))
    names = ["fft", "ifft", "irfft", "hfft"] + ([] if dtype.startswith("complex") else ["rfft", "ihfft"])
    for name in names:
        for arguments in LINES:
            check(getattr(vx.fft, name), getattr(np.fft, name), x, *arguments, tolerance=1e-5)
    names = ["fft2", "ifft2", "fftn", "ifftn"] + ([] if dtype.startswith("complex") else ["rfft2", "rfftn"])
    for name in names:
        for arguments in PLANES:
            check(getattr(vx.fft, name), getattr(np.fft, name), x, *arguments, tolerance=1e-5)
    for name in ("irfft2", "irfftn"):
        for arguments in PLANES[:3]:
            check(getattr(vx.fft, name), getattr(np.fft, name), x, *arguments, tolerance=1e-5)
    for name in ("fftshift", "ifftshift"):
        for arguments in ((), (0,), ((0, 1),)):
            check(getattr(vx.fft, name), getattr(np.fft, name), x, *arguments)
    check(vx.fft.fft, np.fft.fft, x, view=lambda x: x.T[::-1], tolerance=1e-5)


@pytest.mark.parametrize("name", [name for name in vx.fft.__all__ if "freq" not in name and "shift" not in name])
def test_results_in_an_array_that_exists(name: str) -> None:
    x = vx.asarray(np.random.default_rng(1).random((4, 6)), dtype="float32")
    function = getattr(vx.fft, name)
    for _ in range(3):
        expected = function(x)
        out = vx.zeros_like(expected)
        assert function(x, out=out) is out
        np.testing.assert_array_equal(np.asarray(out), np.asarray(expected))


@pytest.mark.parametrize("name", ["fft2", "ifft2", "fftn", "ifftn", "rfft2", "rfftn", "irfft2", "irfftn"])
def test_axes_that_are_named_twice(name: str) -> None:
    for dtype in ("float32",) if name.startswith("r") else ("float32", "complex64"):
        for arguments in REPEATED:
            check(getattr(vx.fft, name), getattr(np.fft, name), values(dtype, (4, 6)), *arguments, tolerance=1e-5)


def test_lists_results_and_errors() -> None:
    check(vx.fft.fft, np.fft.fft, [1, 2, 3])
    check(vx.fft.rfft2, np.fft.rfft2, [[1.0, 2], [3, 4]])
    for arguments, options in (((0,), {}), ((), {"norm": "x"}), ((), {"axis": 4}), ((2.5,), {})):
        check(vx.fft.fft, np.fft.fft, values("float64"), *arguments, **options)
    check(vx.fft.fft2, np.fft.fft2, [1.0, 2])
    check(vx.fft.rfft, np.fft.rfft, values("complex128"))
    x, out = values("float64"), vx.zeros((4, 5), dtype=stand_in(np.dtype("complex128")))
    assert vx.fft.fft(on_device(x), out=out) is out
    compare(out, np.fft.fft(x), None, True, "fft")


def test_frequencies() -> None:
    for n in (1, 5, 8):
        for name in ("fftfreq", "rfftfreq"):
            with vx.config(default_float="float64"):
                check(getattr(vx.fft, name), getattr(np.fft, name), n)
                check(getattr(vx.fft, name), getattr(np.fft, name), n, 0.5)
                check(getattr(vx.fft, name), getattr(np.fft, name), n, d=2)
