"""Embeddings, gather, scatter, sums by place and order against plain loops in NumPy: types, layouts, lengths, ties, NaN, errors."""

from __future__ import annotations

import numpy as np
import pytest
from reference import host_dtype, supported
from test_nn_softmax import rounded, rounding

import vkarray as vx
from vkarray.core.dtypes import CATEGORIES
from vkarray.nn import indexing as nn

FLOATING = supported(CATEGORIES["real floating"])
INDEX = vx.asarray(0).dtype
REDUCES = {"sum": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


def values_of(shape, dtype, seed: int = 0) -> tuple[np.ndarray, vx.VkArray]:
    """Values in float64 (integers as they are) and the array that holds them."""
    generator = np.random.default_rng(seed)
    if dtype in CATEGORIES["integer or boolean"]:
        values = generator.integers(0, 5, shape).astype(dtype.name)
        return values, vx.asarray(values)
    values = rounded(generator.standard_normal(shape), dtype)
    return values, vx.asarray(values.astype(host_dtype(dtype)), dtype=dtype)


def indices_of(high: int, shape, seed: int = 1) -> tuple[np.ndarray, vx.VkArray]:
    values = np.random.default_rng(seed).integers(0, high, shape)
    return values, vx.asarray(values.astype(np.int32))


def assert_close(got: vx.VkArray, expected: np.ndarray, terms: np.ndarray | float) -> None:
    """Equal for integers, else within the roundings of so large terms, and one of the result."""
    wide = np.asarray(got)
    assert got.shape == expected.shape
    if got.dtype in CATEGORIES["integer or boolean"]:
        np.testing.assert_array_equal(wide, expected)
        return
    bound = rounding(got.dtype) * terms + vx.finfo(got.dtype).eps * np.abs(expected)
    assert np.all(np.abs(wide.astype(np.float64) - expected) <= bound)


# Segments of one, of a piece, of several pieces and of all levels.
@pytest.mark.parametrize("count", [0, 1, 31, 32, 33, 1025, 40_000])
@pytest.mark.parametrize("rows", [1, 7, 5000])
def test_embedding_backward(count, rows):
    indices, places = indices_of(rows, (count,))
    g, gradient = values_of((count, 3), vx.float32)
    expected, size = np.zeros((rows, 3)), np.zeros((rows, 3))
    np.add.at(expected, indices, g)
    np.add.at(size, indices, np.abs(g))
    # In trees of 32: as many roundings as members in each level.
    assert_close(nn.embedding_backward(gradient, places, rows), expected, size * 32 * 4)


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_embedding(dtype):
    w, weight = values_of((7, 5), dtype)
    indices, places = indices_of(7, (4, 6))
    np.testing.assert_array_equal(np.asarray(nn.embedding(weight, places)), w[indices])
    g, gradient = values_of((4, 6, 5), dtype)
    expected = np.zeros((7, 5))
    np.add.at(expected, indices, g)
    expected[2] = 0
    assert_close(nn.embedding_backward(gradient, places, 7, padding=2), expected, 32 * 24)
    counts = np.maximum(np.bincount(indices.reshape(-1), minlength=7), 1)[:, None]
    got = nn.embedding_backward(gradient, places, 7, padding=2, by_frequency=True)
    assert_close(got, expected / counts, 32 * 24 + 4 * np.abs(expected) * (vx.finfo(dtype).eps / rounding(dtype)))


def test_sums_by_place_are_the_same_in_every_run_and_for_every_order_of_equal_places():
    _, places = indices_of(3, (9000,))
    _, gradient = values_of((9000, 2), vx.float32)
    first = np.asarray(nn.embedding_backward(gradient, places, 3))
    for _ in range(3):
        np.testing.assert_array_equal(np.asarray(nn.embedding_backward(gradient, places, 3)), first)


def test_gather():
    x, device = values_of((5, 6, 7), vx.float32)
    indices, places = indices_of(6, (4, 9, 5))
    np.testing.assert_array_equal(
        np.asarray(nn.gather(device, 1, places)), np.take_along_axis(x[:4, :, :5], indices, 1)
    )
    np.testing.assert_array_equal(
        np.asarray(nn.gather(vx.permute_dims(device, (2, 1, 0)), -2, vx.permute_dims(places, (2, 1, 0)))),
        np.take_along_axis(x[:4, :, :5], indices, 1).transpose(2, 1, 0),
    )
    assert nn.gather(device, 0, vx.zeros((0, 2, 2), dtype=vx.int32)).shape == (0, 2, 2)
    assert float(nn.gather(vx.asarray(3.0), 0, vx.asarray(0))) == 3


def test_scatter():
    x, device = values_of((5, 6, 7), vx.float32)
    order = np.argsort(np.random.default_rng(2).random((5, 6, 7)), 1)[:, :4]
    source, values = values_of((5, 6, 8), vx.float32, 3)
    for given, own in ((values, source[:, :4, :7]), (2.5, 2.5)):
        expected = x.copy()
        np.put_along_axis(expected, order, own, 1)
        got = nn.scatter(device, 1, vx.asarray(order.astype(np.int32)), given)
        np.testing.assert_array_equal(np.asarray(got), expected)
    np.testing.assert_array_equal(np.asarray(device), x)


@pytest.mark.parametrize("dtype", supported([vx.int8, vx.int32, vx.int64, *CATEGORIES["real floating"]]), ids=str)
@pytest.mark.parametrize("include", [True, False])
@pytest.mark.parametrize("reduce", [*REDUCES, "mean"])
def test_scatter_reduce(reduce, include, dtype):
    x, device = values_of((5, 6, 4), dtype)
    indices, places = indices_of(6, (4, 9, 3))
    source, values = values_of((5, 9, 6), dtype, 3)
    expected, counts = x.copy(), np.zeros(x.shape, int)
    function = REDUCES.get(reduce, np.add)
    for i, j, k in np.ndindex(indices.shape):
        target = i, indices[i, j, k], k
        first = not counts[target] and not include
        expected[target] = source[i, j, k] if first else function(expected[target], source[i, j, k])
        counts[target] += 1
    if reduce == "mean":
        total = np.maximum(counts + include, 1)
        expected = np.where(counts > 0, expected // total if dtype in CATEGORIES["integer"] else expected / total, x)
    got = nn.scatter_reduce(device, 1, places, values, reduce, include_self=include)
    assert_close(got, expected, 10 * (np.abs(expected) + 10))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_index_reduce(axis):
    x, device = values_of((5, 6, 7), vx.float32)
    shape = [5, 6, 7]
    shape[axis] = 11
    indices, places = indices_of(x.shape[axis], (11,))
    source, values = values_of(tuple(shape), vx.float32, 3)
    expected = x.copy()
    np.add.at(np.moveaxis(expected, axis, 0), indices, np.moveaxis(source, axis, 0))
    assert_close(nn.index_reduce(device, axis, places, values), expected, 11 * 4)


def test_index_put():
    x, device = values_of((5, 6, 7), vx.float32)
    (i, first), (j, second) = indices_of(5, (8, 1)), indices_of(7, (3,), 2)
    source, values = values_of((8, 3, 6), vx.float32, 3)
    expected = x.copy()
    np.add.at(expected, (i, slice(None), j), source)
    assert_close(nn.index_put(device, (first, None, second), values, accumulate=True), expected, 100)
    mask = np.random.default_rng(3).random((5, 6)) < 0.5
    expected = x.copy()
    expected[mask] = 1.5
    got = nn.index_put(device, (vx.asarray(mask),), vx.full((1,), 1.5))
    np.testing.assert_array_equal(np.asarray(got), expected)
    expected = x.copy()
    expected[:, [1, 1, 2], [3, 3, 0]] += np.float32(0)
    np.add.at(expected, (slice(None), [1, 1, 2], [3, 3, 0]), 1.0)
    pair = [vx.asarray(np.array(one, np.int32)) for one in ([1, 1, 2], [3, 3, 0])]
    assert_close(nn.index_put(device, (None, *pair), vx.ones((1,)), accumulate=True), expected, 10)


@pytest.mark.parametrize("dtype", supported([vx.bool, vx.int8, vx.int32, *CATEGORIES["real floating"]]), ids=str)
@pytest.mark.parametrize("descending", [False, True])
def test_sort_puts_nan_after_infinity(descending, dtype):
    x, _ = values_of((4, 60), dtype)
    if dtype in CATEGORIES["real floating"]:
        x[0, 3], x[1, 5], x[1, 6], x[2] = np.nan, -np.nan, np.inf, np.round(x[2])
    device = vx.asarray(x.astype(host_dtype(dtype)), dtype=dtype)
    # A stable order with NaN as the largest number.
    largest = np.isnan(x.astype(np.float64))
    keys = np.where(largest, 0, x.astype(np.float64))
    sign = -1 if descending else 1
    order = np.stack([np.lexsort((sign * key, sign * nan.astype(int))) for key, nan in zip(keys, largest, strict=True)])
    got, places = nn.sort(device, descending=descending)
    np.testing.assert_array_equal(np.asarray(places), order)
    np.testing.assert_array_equal(
        np.asarray(got).astype(np.float64), np.take_along_axis(x, order, 1).astype(np.float64)
    )
    values, places = nn.topk(vx.permute_dims(device, (1, 0)), 5, axis=0, largest=descending)
    np.testing.assert_array_equal(np.asarray(places), order[:, :5].T)
    assert values.shape == (5, 4)


def test_masks():
    x, device = values_of((4, 50), vx.float32)
    mask = np.random.default_rng(4).random((4, 50)) < 0.5
    np.testing.assert_array_equal(
        np.asarray(nn.masked_fill(device, vx.asarray(mask[:1]), -1.5)), np.where(mask[:1], np.float32(-1.5), x)
    )
    source, values = values_of((300,), vx.float32, 5)
    expected = x.copy()
    expected[mask] = source[: mask.sum()]
    np.testing.assert_array_equal(np.asarray(nn.masked_scatter(device, vx.asarray(mask), values)), expected)
    with pytest.raises(ValueError, match="elements or more"):
        nn.masked_scatter(device, vx.asarray(mask), values[:3])


@pytest.mark.usefixtures("told_later")
def test_an_index_out_of_range_raises_and_touches_nothing_else():
    x = vx.zeros((4, 3))
    bad = vx.asarray(np.array([0, 4], np.int32))
    for call in (
        lambda: nn.embedding(x, bad), lambda: nn.embedding_backward(vx.ones((2, 3)), bad, 4),
        lambda: nn.index_reduce(x, 0, bad, vx.ones((2, 3))),
        lambda: nn.scatter_reduce(x, 0, vx.asarray(np.full((1, 3), 9, np.int32)), vx.ones((1, 3))),
    ):  # fmt: skip
        result = call()
        with pytest.raises(IndexError, match="out of bounds"):
            np.asarray(result)
    np.testing.assert_array_equal(np.asarray(x), np.zeros((4, 3)))


def test_errors():
    x, index = vx.zeros((4, 3)), vx.zeros((2, 2), dtype=vx.int32)
    with pytest.raises(ValueError, match="no larger than x"):
        nn.gather(x, 0, vx.zeros((2, 4), dtype=vx.int32))
    with pytest.raises(TypeError, match="gather"):
        nn.gather(x, 0, vx.zeros((2, 2)))
    with pytest.raises(ValueError, match="source"):
        nn.scatter(x, 0, index, vx.zeros((1, 2)))
    with pytest.raises(ValueError, match="reduce"):
        nn.scatter_reduce(x, 0, index, vx.zeros((2, 2)), "median")
    with pytest.raises(ValueError, match="1 dimension"):
        nn.index_reduce(x, 0, index, vx.zeros((2, 3)))
    with pytest.raises(ValueError, match="k from 0 to 3"):
        nn.topk(x, 4)
    with pytest.raises(ValueError, match="weight of 2"):
        nn.embedding(vx.zeros(3), index)
    with pytest.raises(ValueError, match="gradient of shape"):
        nn.embedding_backward(x, index, 3)
