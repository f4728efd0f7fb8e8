"""Lengths that one invocation must not walk alone: llvmpipe leaves a shader's loop after 65,535 turns without a word."""

from __future__ import annotations

import numpy as np
import pytest

import vkarray as vx

LENGTHS = [65_535, 65_537, 300_001]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 3), (4, 16), (17, 5)])
def test_matrix_product(length: int, rows: int, columns: int) -> None:
    a = np.resize(np.arange(7, dtype=np.int32), (rows, length))
    b = np.resize(np.arange(5, dtype=np.int32), (length, columns))
    expected = a.astype(np.int64) @ b
    assert np.array_equal(np.asarray(vx.asarray(a) @ vx.asarray(b)), expected)
    assert np.array_equal(np.asarray(vx.asarray(a.T.copy()).T @ vx.asarray(b.T.copy()).T), expected)
    product = np.asarray(vx.asarray(a, dtype=vx.float32) @ vx.asarray(b, dtype=vx.float32))
    assert np.allclose(product, expected, rtol=1e-5, atol=0)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("width", [1, 3, 40])
def test_reductions_and_scans_in_both_directions(length: int, width: int) -> None:
    values = np.resize(np.arange(11, dtype=np.int32), (length, width))
    values[-1] = 99
    for x, axis in ((values, 0), (values.T.copy(), 1)):
        device_x = vx.asarray(x)
        for name in ("sum", "max", "argmax", "count_nonzero", "cumulative_sum"):
            result = np.asarray(getattr(vx, name)(device_x, axis=axis))
            assert np.array_equal(result, getattr(np, name)(x, axis=axis)), name
        assert np.allclose(
            np.asarray(vx.mean(vx.astype(device_x, vx.float32), axis=axis)), x.mean(axis=axis), rtol=1e-6
        )


@pytest.mark.parametrize("length", LENGTHS)
def test_selection_and_search(length: int) -> None:
    values = np.resize(np.arange(3, dtype=np.int32), length)
    x = vx.asarray(values)
    assert np.array_equal(np.asarray(vx.nonzero(x)[0]), np.nonzero(values)[0])
    assert np.array_equal(np.asarray(x[x == 1]), values[values == 1])
    assert int(vx.vecdot(x, x)) == int(values @ values)
    assert bool(vx.all(x >= 0))
    assert not bool(vx.any(x > 2))
    ordered = vx.arange(length, dtype=vx.int32)
    assert int(vx.searchsorted(ordered, vx.asarray([length - 1], dtype=vx.int32))[0]) == length - 1
