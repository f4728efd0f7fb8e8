"""The set functions against NumPy's: every type, special values, shapes and sizes over many workgroups."""

from __future__ import annotations

import numpy as np
import pytest
from reference import random_values, special_values, supported

import vkarray as vx
from vkarray.core.dtypes import DTYPES
from vkarray.ops.set import UniqueAll, UniqueCounts, UniqueInverse

SUPPORTED = supported(DTYPES.values())
INDEX = np.dtype(vx.asarray(0).dtype.name)
SHAPES = [(), (0,), (3, 0), (1,), (2,), (300,), (7, 5, 30), (5000,)]


def values_of(dtype, shape, seed: int = 0) -> np.ndarray:
    """Values of all magnitudes, half of them special ones, so that most occur more than once."""
    count = int(np.prod(shape))
    generator = np.random.default_rng(seed)
    special = special_values(dtype)
    picked = special[generator.integers(0, len(special), count)]
    return np.where(generator.random(count) < 0.5, picked, random_values(dtype, count, seed)).reshape(shape)


def same(got: np.ndarray, expected: np.ndarray) -> bool:
    """Equal in shape, type and value, a NaN to any other NaN in the same part."""
    return got.shape == expected.shape and got.dtype == expected.dtype and np.array_equal(got, expected, equal_nan=True)


def check(x: vx.VkArray, values: np.ndarray) -> None:
    """Compare the four functions with numpy.unique, which sorts as they do."""
    expected, indices, _, counts = np.unique(values, True, True, True, equal_nan=False)
    result = vx.unique_all(x)
    assert isinstance(result, UniqueAll)
    assert result._fields == ("values", "indices", "inverse_indices", "counts")
    assert result.values.dtype == x.dtype
    got, got_indices, inverse, got_counts = map(np.asarray, result)
    is_number = ~np.isnan(expected)
    # NumPy's sort has no order for complex NaN of one kind, nor which of them comes first.
    assert got.shape == expected.shape
    assert same(got[is_number], expected[is_number])
    assert np.all(np.isnan(got[~is_number]))
    assert np.array_equal(got_indices[is_number], indices[is_number])
    assert same(np.sort(got_indices), np.sort(indices).astype(INDEX))
    assert same(got_counts, counts.astype(INDEX))
    assert inverse.shape == values.shape
    assert inverse.dtype == INDEX
    flat = values.reshape(-1)
    # Each element's group is the one of its first occurrence, and that is the value to the bit.
    assert same(got, flat[got_indices])
    if values.dtype.kind == "f":
        assert np.array_equal(np.signbit(got), np.signbit(flat[got_indices]))
    assert same(got[inverse], values)
    assert np.array_equal(np.bincount(inverse.reshape(-1), minlength=len(counts)), got_counts)

    assert isinstance(vx.unique_counts(x), UniqueCounts)
    assert isinstance(vx.unique_inverse(x), UniqueInverse)
    assert vx.unique_counts(x)._fields == ("values", "counts")
    assert vx.unique_inverse(x)._fields == ("values", "inverse_indices")
    for function, parts in (
        (vx.unique_counts, (got, got_counts)), (vx.unique_inverse, (got, inverse)), (lambda x: (vx.unique_values(x),), (got,)),
    ):  # fmt: skip
        for one, part in zip(function(x), parts, strict=True):
            assert same(np.asarray(one), part)


@pytest.mark.parametrize("dtype", SUPPORTED, ids=str)
def test_unique(dtype) -> None:
    for shape in SHAPES:
        values = values_of(dtype, shape, len(shape))
        check(vx.asarray(values, dtype=dtype), values)


def test_unique_of_views() -> None:
    values = values_of(vx.float32, (40, 50))
    x = vx.asarray(values)
    check(x.T, values.T)
    check(x[::-2, 3:], values[::-2, 3:])
    check(vx.broadcast_to(x[:, :1], (40, 9)), np.broadcast_to(values[:, :1], (40, 9)))


@pytest.mark.parametrize(("high", "count"), [(3, 300_007), (1000, 300_007), (2**31 - 1, 1_200_007)])
def test_unique_of_many(high: int, count: int) -> None:
    values = np.random.default_rng(high).integers(0, high, count, np.int32)
    check(vx.asarray(values), values)


@pytest.mark.parametrize("dtype", SUPPORTED, ids=str)
@pytest.mark.parametrize("invert", [False, True])
def test_isin(dtype, invert: bool) -> None:
    for first in SHAPES:
        for second in ((), (0,), (1,), (4, 10), (700,)):
            a, b = values_of(dtype, first, 1), values_of(dtype, second, 2)
            result = vx.isin(vx.asarray(a, dtype=dtype), vx.asarray(b, dtype=dtype), invert=invert)
            assert result.dtype is vx.bool
            # numpy.isin may take one complex NaN for another.
            with np.errstate(invalid="ignore"):  # signalling NaN
                expected = np.isin(a, b[~np.isnan(b)]) & ~np.isnan(a)
            assert same(np.asarray(result), np.asarray(expected ^ invert))


def test_isin_of_many() -> None:
    generator = np.random.default_rng(0)
    a = generator.integers(0, 10**6, (1100, 1000), np.int32)
    b = generator.integers(0, 10**6, 300_000, np.int32)
    assert np.array_equal(np.asarray(vx.isin(vx.asarray(a), vx.asarray(b))), np.isin(a, b))
    assert np.array_equal(np.asarray(vx.isin(vx.asarray(b), vx.asarray(a), invert=True)), ~np.isin(b, a))


def test_isin_of_scalars_and_mixed_types() -> None:
    x = vx.asarray(np.array([[1, -1], [3, 0]], np.int16))
    assert vx.isin(x, 3).tolist() == [[False, False], [True, False]]
    assert vx.isin(x, -1, invert=True).tolist() == [[True, False], [True, True]]
    inside = vx.isin(3, x)
    assert (inside.shape, inside.dtype, inside.tolist()) == ((), vx.bool, True)
    assert vx.isin(2, x).tolist() is False
    assert vx.isin(x, vx.asarray(np.array([3, 255], np.uint8))).tolist() == [[False, False], [True, False]]
    assert vx.isin(x, vx.asarray(np.array([0.5, 3, 1], np.float32))).tolist() == [[True, False], [True, False]]
    assert vx.isin(
        vx.asarray(np.array([-0.0, np.nan], np.float32)), vx.asarray(np.array([np.nan, 0], np.float32))
    ).tolist() == [True, False]


def test_errors() -> None:
    x = vx.asarray([2.0, 1.0])
    for function in (vx.unique_all, vx.unique_counts, vx.unique_inverse, vx.unique_values):
        with pytest.raises(TypeError, match=f"^{function.__name__}: .*ndarray"):
            function(np.ones(2))
    with pytest.raises(TypeError, match=r"^isin: .*numpy\.ndarray"):
        vx.isin(x, np.zeros(3))
    with pytest.raises(ValueError, match=r"^isin: .*kind"):
        vx.isin(x, 2, kind="table")
    with pytest.raises(OverflowError, match=r"^isin: .*300"):
        vx.isin(vx.asarray([1], dtype=vx.int8), 300)
