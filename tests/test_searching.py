"""`where` and `searchsorted` against NumPy (argmax and its like are tested with the reductions)."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from reference import host_dtype, random_values, special_values, supported

import vkarray as vx
from vkarray.core.dtypes import CATEGORIES, DTYPES
from vkarray.kernels import launch
from vkarray.ops import searching

SUPPORTED = supported(DTYPES.values())
REAL = [dtype for dtype in SUPPORTED if dtype in CATEGORIES["real numeric"]]


@pytest.mark.parametrize("dtype", SUPPORTED, ids=str)
def test_where_moves_bits(dtype):
    first = np.concatenate([special_values(dtype), random_values(dtype, 1000)])
    second = np.roll(first, 7)
    condition = np.arange(first.size) % 3 == 0
    for view in (slice(None), slice(None, None, -2), slice(1, None)):
        arrays = [vx.asarray(values, dtype=kind)[view] for values, kind in
                  ((condition, vx.bool), (first, dtype), (second, dtype))]  # fmt: skip
        result = vx.where(*arrays)
        assert result.dtype is dtype
        expected = np.where(condition[view], first[view], second[view]).astype(host_dtype(dtype))
        np.testing.assert_array_equal(np.asarray(result).astype(expected.dtype), expected)


def test_where_broadcasts_and_promotes():
    condition = vx.asarray([[True], [False]])
    result = vx.where(condition, vx.asarray([1, 2, 3], dtype=vx.int8), vx.asarray(0.5, dtype=vx.float32))
    assert result.dtype is vx.float32
    assert np.asarray(result).tolist() == [[1, 2, 3], [0.5, 0.5, 0.5]]
    assert vx.where(condition, vx.asarray([1], dtype=vx.int8), 2).dtype is vx.int8
    assert vx.where(condition, 1.5, vx.asarray([1], dtype=vx.float16)).dtype is vx.float16
    assert vx.where(condition, 1, 2.5).dtype is vx.float32


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_searchsorted(dtype, side):
    keys = random_values(dtype, 1001)
    keys.sort()  # NaN last, as searchsorted expects it
    values = np.concatenate([special_values(dtype), random_values(dtype, 500, 3), keys[::7]])[:500].reshape(20, 25)
    result = vx.searchsorted(vx.asarray(keys, dtype=dtype), vx.asarray(values, dtype=dtype).T, side=side)
    assert result.dtype is vx.asarray(0).dtype
    np.testing.assert_array_equal(np.asarray(result), np.searchsorted(keys, values.T, side=side))


def test_searchsorted_with_a_sorter_strides_and_scalars():
    keys = np.random.default_rng(0).permutation(500).astype(np.int32)
    order = np.argsort(keys).astype(np.int32)
    values = np.array([-1, 0, 250, 499, 500], np.int32)
    result = vx.searchsorted(vx.asarray(keys), vx.asarray(values), sorter=vx.asarray(order))
    assert np.asarray(result).tolist() == [0, 0, 250, 499, 500]
    ascending = vx.asarray(np.arange(20, dtype=np.int32))
    assert int(vx.searchsorted(ascending[::4], 9)) == 3
    assert int(vx.searchsorted(ascending[:0], 9)) == 0
    assert vx.searchsorted(ascending, vx.zeros((0, 2), dtype=vx.int32)).shape == (0, 2)


def test_searchsorted_in_parts(device, monkeypatch):
    """What more than 2**31 values need, with a small limit in its place."""
    values = np.random.default_rng(1).integers(0, 100, 5000).astype(np.int32)
    keys = np.arange(0, 100, 3, dtype=np.int32)
    monkeypatch.setattr(searching.layout, "INDEX_LIMIT", 700)
    result = vx.searchsorted(vx.asarray(keys), vx.asarray(values))
    np.testing.assert_array_equal(np.asarray(result), np.searchsorted(keys, values))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: vx.where(vx.asarray([1]), 1), ValueError, "where: expected both x1 and x2, or neither of them."),
        (lambda: vx.searchsorted(vx.zeros((2, 2)), 1.0), ValueError,
         "searchsorted: expected x1 of 1 dimension, got shape (2, 2)."),
        (lambda: vx.searchsorted(vx.zeros(2), 1.0, side="middle"), ValueError,
         "searchsorted: expected side 'left' or 'right', got 'middle'."),
        (lambda: vx.searchsorted(vx.zeros(2), 1.0, sorter=vx.asarray([0])), ValueError,
         "searchsorted: expected a sorter of the shape of x1, (2,), got (1,)."),
    ],
)  # fmt: skip
def test_errors(call, error, message):
    with pytest.raises(error) as found:
        call()
    assert str(found.value) == message


def test_variants_hold_what_a_run_asks_for(device, monkeypatch):
    known = set(searching.variants(device))
    used = []
    kernel = launch.kernel
    monkeypatch.setattr(launch, "kernel", lambda variant, *rest: used.append(variant) or kernel(variant, *rest))
    for dtype, other in itertools.pairwise(REAL):
        vx.searchsorted(vx.zeros(3, dtype=dtype), vx.zeros(3, dtype=dtype))
        searching.where_operation(other).kernels.clear()
        vx.where(vx.asarray([True, False]), vx.zeros(2, dtype=other), vx.ones(2, dtype=other))
    searched = [
        variant for variant in used if variant.template == "index/search_sorted" or variant.label.startswith("where")
    ]
    assert searched
    assert set(searched) <= known
