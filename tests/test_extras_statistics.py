"""`median`, `quantile`, `percentile`, `histogram` and `bincount` against NumPy's."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from reference import flushes_subnormals, host_dtype, random_values, supported

import vkarray as vx
from vkarray.core.dtypes import CATEGORIES, DTYPES
from vkarray.kernels import launch
from vkarray.ops.beyond import histogram as counting
from vkarray.ops.beyond import quantile as quantiles

SUPPORTED = supported(DTYPES.values())
REAL = [dtype for dtype in SUPPORTED if dtype in CATEGORIES["real floating"]]
INTEGERS = [dtype for dtype in SUPPORTED if dtype in CATEGORIES["integer"]]
HAS_FLOAT64 = vx.float64 in SUPPORTED
DEFAULT_INTEGER = vx.asarray(0).dtype
FRACTIONS = [0.0, 0.1, 0.25, 0.3, 0.5, 2 / 3, 0.9, 0.999, 1.0]
DISCRETE = ["inverted_cdf", "closest_observation", "lower", "higher", "nearest"]
METHODS = [*DISCRETE, "linear", "averaged_inverted_cdf", "interpolated_inverted_cdf", "hazen", "weibull",
           "median_unbiased", "normal_unbiased", "midpoint"]  # fmt: skip


def ordinary(dtype, count: int, seed: int = 0) -> np.ndarray:
    """Numbers with both signs and repetitions, none of them infinite or NaN."""
    values = np.random.default_rng(seed).standard_normal(count) * 30
    if dtype in CATEGORIES["unsigned integer"]:
        values = abs(values)
    return np.asarray(vx.asarray(values.astype(np.float32)).astype(dtype))


def wide(values: np.ndarray) -> np.ndarray:
    return values.astype(np.float64)


# -- quantiles --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", REAL, ids=str)
@pytest.mark.parametrize("method", METHODS)
def test_methods(method: str, dtype) -> None:
    for count in (1, 2, 3, 4, 5, 10, 11, 12, 100):
        values = ordinary(dtype, count, count)
        got = vx.quantile(vx.asarray(values, dtype=dtype), FRACTIONS, method=method)
        assert got.dtype is dtype
        expected = np.quantile(wide(values), FRACTIONS, method=method)
        if method in DISCRETE:
            np.testing.assert_array_equal(wide(np.asarray(got)), expected)
        else:
            # Difference, fraction, product and sum round once each.
            assert np.all(np.abs(wide(np.asarray(got)) - expected) <= 3 * vx.finfo(dtype).eps * np.abs(values).max())


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integers(dtype) -> None:
    values = ordinary(dtype, 101)
    x = vx.asarray(values)
    for method in DISCRETE:
        got = vx.quantile(x, FRACTIONS, method=method)
        assert got.dtype is dtype
        np.testing.assert_array_equal(np.asarray(got), np.quantile(values, FRACTIONS, method=method))
    floating = vx.float32
    assert vx.median(x).dtype is vx.quantile(x, 0.3).dtype is floating
    tolerance = 50 * vx.finfo(floating).eps
    assert float(vx.median(x[:-1])) == pytest.approx(np.median(values[:-1]), rel=tolerance if not HAS_FLOAT64 else 0)
    expected = np.quantile(values, FRACTIONS)
    np.testing.assert_allclose(np.asarray(vx.quantile(x, FRACTIONS)), expected, rtol=tolerance)


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_median(dtype) -> None:
    for count in (1, 2, 3, 10, 1001):
        values = ordinary(dtype, count, count)
        expected = np.median(wide(values))
        got = vx.median(vx.asarray(values, dtype=dtype))
        assert got.dtype is dtype
        assert got.shape == ()
        assert abs(float(got) - expected) <= vx.finfo(dtype).eps * abs(expected)
    # The mean of the middle two does not overflow, and infinities stay.
    largest = vx.finfo(dtype).max
    assert float(vx.median(vx.asarray([largest, largest / 2], dtype=dtype))) == pytest.approx(
        largest * 0.75, rel=vx.finfo(dtype).eps
    )
    infinite = [math.inf, math.inf, 1.0]
    assert float(vx.median(vx.asarray(infinite, dtype=dtype))) == math.inf
    assert float(vx.median(vx.asarray(infinite[:2], dtype=dtype))) == math.inf
    assert float(vx.median(vx.asarray(infinite[1:], dtype=dtype))) == math.inf
    assert math.isnan(float(vx.median(vx.asarray([-math.inf, math.inf], dtype=dtype))))


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (2, 0), (0, 1, 2), ()])
@pytest.mark.parametrize("keepdims", [False, True])
def test_axes(axis, keepdims: bool) -> None:
    values = ordinary(vx.float32, 3 * 4 * 5).reshape(3, 4, 5)
    x = vx.asarray(values)
    broadcast = vx.broadcast_to(x[:, :1], values.shape), np.broadcast_to(values[:, :1], values.shape)
    sliced = x[::-1, 1:, ::2], values[::-1, 1:, ::2]
    for array, host in ((x, values), sliced, (x.transpose(), values.T), broadcast):
        got, expected = vx.median(array, axis=axis, keepdims=keepdims), np.median(host, axis=axis, keepdims=keepdims)
        assert got.shape == expected.shape
        np.testing.assert_allclose(np.asarray(got), expected, rtol=2**-22)
        for q in (0.25, [0.25, 0.5, 0.8], [0.5], np.array([[0.1, 0.9], [0.5, 0.0]])):
            got = vx.quantile(array, q, axis=axis, keepdims=keepdims, method="higher")
            expected = np.quantile(host, np.asarray(q), axis=axis, keepdims=keepdims, method="higher")
            assert got.shape == expected.shape
            np.testing.assert_array_equal(np.asarray(got), expected)


def test_nan_and_infinities() -> None:
    values = ordinary(vx.float32, 60).reshape(6, 10)
    values[2, 3] = values[4] = np.nan
    values[1, :6] = np.inf
    values[5, ::2] = -np.inf
    x = vx.asarray(values)
    for method in ("linear", "lower", "nearest"):
        got = np.asarray(vx.quantile(x, [0.0, 0.5, 1.0], axis=1, method=method))
        assert np.isnan(got[:, [2, 4]]).all()
        assert not np.isnan(got[:, [0, 1, 3]]).any()
    assert np.asarray(vx.median(x, axis=1))[[1, 2]].tolist() == pytest.approx([math.inf, math.nan], nan_ok=True)
    # Where NumPy computes inf - inf or 0 * inf, the element itself.
    assert vx.quantile(vx.asarray([1.0, math.inf]), [0.0, 0.5, 1.0]).tolist() == [1.0, math.inf, math.inf]
    assert math.isnan(float(vx.median(x)))


def test_q_in_all_its_forms() -> None:
    x = vx.asarray(ordinary(vx.float32, 50))
    assert vx.quantile(x, 0.5).shape == vx.quantile(x, 1).shape == ()
    assert vx.quantile(x, vx.asarray([[0.25, 0.5]])).shape == (1, 2)
    assert vx.quantile(x, []).shape == (0,)
    assert vx.quantile(x, [0.25, 0.5]).tolist() == vx.percentile(x, [25, 50]).tolist()
    assert float(vx.percentile(x, 100)) == float(vx.max(x))
    assert vx.quantile(vx.asarray([[1.0, 2.0]]), (0.5,), axis=0).tolist() == [[1.0, 2.0]]


def test_quantiles_of_a_million() -> None:
    values = random_values(vx.float32, 1_000_000)
    values[np.isnan(values)] = 0
    got = vx.quantile(vx.asarray(values), FRACTIONS, method="lower")
    np.testing.assert_array_equal(np.asarray(got), np.quantile(values, FRACTIONS, method="lower"))
    rows = values.reshape(1000, 1000)[:, ::3]
    got = vx.median(vx.asarray(values).reshape(1000, 1000)[:, ::3], axis=0)
    limits = vx.finfo(vx.float32)
    smallest = limits.smallest_normal * (2 if flushes_subnormals(vx.float32) else limits.eps)
    np.testing.assert_allclose(np.asarray(got), np.median(wide(rows), axis=0), rtol=limits.eps, atol=smallest)


# -- histograms -------------------------------------------------------------------------------------------------


@pytest.fixture(params=[False, True], ids=["device", "shared memory"])
def shared(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, device) -> None:
    """Once as the device has it, once with counts in shared memory."""
    if request.param:
        monkeypatch.setattr(counting, "uses_shared_memory", lambda device: True)


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_bincount(dtype) -> None:
    values = np.random.default_rng(0).integers(0, 100, 20_000).astype(host_dtype(dtype))
    for x, host in (
        (vx.asarray(values), values),
        (vx.asarray(values)[::-3], values[::-3]),
        (vx.asarray(values[:1]), values[:1]),
    ):
        got = vx.bincount(x)
        assert got.dtype is DEFAULT_INTEGER
        np.testing.assert_array_equal(np.asarray(got), np.bincount(host))
        np.testing.assert_array_equal(np.asarray(vx.bincount(x, minlength=123)), np.bincount(host, minlength=123))


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("bins", [1, 3, 2048, 2049, 100_000])
def test_bincount_of_many(bins: int, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(1).integers(0, bins, 1_000_000).astype(np.int32)
    np.testing.assert_array_equal(np.asarray(vx.bincount(vx.asarray(values))), np.bincount(values))
    monkeypatch.setattr(counting.layout, "INDEX_LIMIT", 300_000)  # what more than 2**31 elements need
    np.testing.assert_array_equal(np.asarray(vx.bincount(vx.asarray(values))), np.bincount(values))


def test_bincount_of_nothing() -> None:
    empty = vx.zeros(0, dtype=vx.int32)
    assert vx.bincount(empty).tolist() == []
    assert vx.bincount(empty, minlength=3).tolist() == [0, 0, 0]
    assert vx.bincount(empty, vx.zeros(0), minlength=2).tolist() == [0.0, 0.0]
    assert vx.bincount(empty, vx.zeros(0)).shape == (0,)


def sums_with_bounds(places: np.ndarray, weights: np.ndarray, bins: int, unit: float) -> tuple[np.ndarray, np.ndarray]:
    """Exact sums, and bounds for sums in blocks of 16 and a tree of their totals (Higham, section 3.1)."""
    exact = np.array([math.fsum(weights[places == k]) for k in range(bins)])
    size = np.array([math.fsum(np.abs(weights[places == k])) for k in range(bins)])
    return exact, (16 + math.log2(len(places) + 1) + 2) * unit * size


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_weights(dtype) -> None:
    generator = np.random.default_rng(2)
    places = generator.integers(0, 40, 20_000)
    places[places == 7] = 8
    places[:9000] = 11  # a bin that is longer than a chunk of the scan
    weights = ordinary(dtype, 20_000)
    exact, bound = sums_with_bounds(
        places, wide(weights), 50, max(vx.finfo(dtype).eps, 2**-52) / 2 if dtype.bits > 16 else 2**-24
    )
    x, w = vx.asarray(places.astype(np.int32)), vx.asarray(weights, dtype=dtype)
    got = vx.bincount(x, w, minlength=50)
    assert got.dtype is dtype
    bound += vx.finfo(dtype).eps / 2 * np.abs(exact)
    finite = np.abs(exact) < vx.finfo(dtype).max
    assert np.all(np.abs(wide(np.asarray(got)) - exact)[finite] <= bound[finite])
    assert np.asarray(got)[[7, 45]].tolist() == [0, 0]
    again = vx.bincount(x, w, minlength=50)
    np.testing.assert_array_equal(np.asarray(got).view(np.uint8), np.asarray(again).view(np.uint8))


def test_weights_do_not_leak_into_other_bins() -> None:
    places = vx.asarray([3, 0, 1, 1, 3, 5], dtype=vx.uint8)
    weights = vx.asarray([1.0, math.inf, 1e38, math.nan, 2.0, -0.5])
    got = vx.bincount(places, weights).tolist()
    assert got[0] == math.inf
    assert math.isnan(got[1])
    assert got[2:] == [0, 3, 0, -0.5]


def test_integer_weights_are_summed_in_float64() -> None:
    places, weights = np.random.default_rng(3).integers(0, 9, (2, 1000), dtype=np.int32)
    got = vx.bincount(vx.asarray(places), vx.asarray(weights - 4))
    assert got.dtype is vx.float32
    np.testing.assert_array_equal(np.asarray(got), np.bincount(places, weights - 4))


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("dtype", [dtype for dtype in SUPPORTED if dtype in CATEGORIES["real"]], ids=str)
def test_histogram(dtype) -> None:
    values = ordinary(dtype, 10_000) if dtype is not vx.bool else np.random.default_rng(4).random(10_000) < 0.3
    x = vx.asarray(values, dtype=dtype)
    for bins, interval in ((10, None), (7, (-20, 31)), (1, (0, 1)), (3000, None)):
        counts, edges = vx.histogram(x.reshape(100, 100).T, bins, interval)
        assert counts.dtype is DEFAULT_INTEGER
        assert edges.dtype is (vx.float64 if dtype is vx.float64 else vx.float32)
        host_edges = np.asarray(edges)
        low, high = interval or (float(values.min()), float(values.max()))
        assert np.all(
            np.abs(host_edges - np.linspace(low, high, bins + 1)) <= 4 * vx.finfo(edges).eps * max(abs(low), abs(high))
        )
        expected = np.histogram(values.astype(host_edges.dtype) if values.dtype == bool else values, host_edges)[0]
        np.testing.assert_array_equal(np.asarray(counts), expected)


def test_edges_belong_to_the_interval_above_but_the_last() -> None:
    edges = [0.0, 1.0, 1.0, 2.5, 4.0]
    values = np.array([-1, 0, 0.5, 1, 1, 2.5, 4, 4, 4.5, np.nan, np.inf, -np.inf], np.float32)
    counts, given = vx.histogram(vx.asarray(values), edges)
    np.testing.assert_array_equal(np.asarray(counts), np.histogram(values, edges)[0])
    assert given.tolist() == edges
    counts, given = vx.histogram(vx.asarray(values), vx.asarray([0, 2, 2], dtype=vx.int16))
    np.testing.assert_array_equal(np.asarray(counts), np.histogram(values, [0, 2, 2])[0])
    counts, given = vx.histogram(vx.asarray([3.0, 3.0]), 4)
    assert counts.tolist() == np.histogram([3.0, 3.0], 4)[0].tolist()
    assert given.tolist() == [2.5, 2.75, 3.0, 3.25, 3.5]
    counts, given = vx.histogram(vx.zeros(0), 2)
    assert (counts.tolist(), given.tolist()) == ([0, 0], [0, 0.5, 1])


def test_histogram_with_weights_and_density() -> None:
    values, weights = ordinary(vx.float32, 5000), np.random.default_rng(5).integers(0, 9, 5000).astype(np.int32)
    x = vx.asarray(values)
    counts, edges = vx.histogram(x, 12, weights=vx.asarray(weights))
    expected = np.histogram(values, np.asarray(edges), weights=weights)[0]
    np.testing.assert_array_equal(np.asarray(counts), expected)
    assert counts.dtype is vx.sum(vx.asarray(weights)).dtype
    counts, _ = vx.histogram(x, edges, weights=vx.asarray(weights.astype(np.float32) / 8))
    np.testing.assert_array_equal(np.asarray(counts), expected / 8)  # sums of few bits are exact
    counts, _ = vx.histogram(x, edges, weights=vx.asarray((weights * (1 - 2j)).astype(np.complex64)))
    np.testing.assert_array_equal(np.asarray(counts), expected * (1 - 2j))
    for given in (None, weights):
        density, edges = vx.histogram(
            x, [-50, -1, 0.5, 100], weights=None if given is None else vx.asarray(given), density=True
        )
        expected = np.histogram(values, [-50, -1, 0.5, 100], weights=given, density=True)[0]
        np.testing.assert_allclose(np.asarray(density), expected, rtol=4 * 2**-23)
        assert density.dtype is edges.dtype is vx.float32


def test_medians_of_nothing_are_nan() -> None:
    nothing = vx.zeros((0, 2))
    assert vx.all(vx.isnan(vx.median(nothing, axis=0)))
    assert vx.nanmedian(nothing, axis=0).shape == (2,)
    assert vx.median(nothing, axis=1).shape == (0,)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: vx.quantile(x[:0], 0.5), ValueError,
         "quantile: expected at least one element along the reduced axes, got shape (0,)."),
        (lambda x: vx.quantile(x, 0.5, weights=0 * x, method="inverted_cdf"), ValueError,
         "quantile: Weights must be non-negative; expected finite ones that are not all 0."),
        (lambda x: vx.percentile(vx.asarray([1j]), 50), TypeError, None),
        (lambda x: vx.median("text"), TypeError, None),
        (lambda x: vx.median(x, axis=1), IndexError, None),
        (lambda x: vx.quantile(x, 1.5), ValueError, "quantile: Quantiles must be in the range [0, 1], got 1.5."),
        (lambda x: vx.quantile(x, [0.5, math.nan]), ValueError, "quantile: Quantiles must be in the range [0, 1], got nan."),
        (lambda x: vx.percentile(x, -1), ValueError, "percentile: Percentiles must be in the range [0, 100], got -1."),
        (lambda x: vx.quantile(x, "a"), ValueError, "quantile: Quantiles must be in the range [0, 1], got 'a'."),
        (lambda x: vx.quantile(x, 0.5, method="best"), ValueError, None),
        (lambda x: vx.bincount(x), TypeError, None),
        (lambda x: vx.bincount(vx.asarray([[1]])), ValueError,
         "bincount: expected an array of 1 dimension, got shape (1, 1). Use x.ravel()."),
        (lambda x: vx.bincount(vx.asarray([3, -1])), ValueError,
         f"bincount: expected integers from 0 to {2**30 - 2}, got -1."),
        (lambda x: vx.bincount(vx.asarray([2**31 - 1])), ValueError, None),
        (lambda x: vx.bincount(vx.asarray([1]), minlength=-1), ValueError,
         "bincount: expected minlength of 0 or more, got -1."),
        (lambda x: vx.bincount(vx.asarray([1]), x), ValueError,
         "bincount: weights should have the same shape as x, (1,), got (3,)."),
        (lambda x: vx.histogram(x, 0), ValueError, "histogram: expected 1 interval or more, got bins=0."),
        (lambda x: vx.histogram(x, 2.5), TypeError,
         "histogram: expected bins as an integer, a rule, a list or an array of edges, got 2.5."),
        (lambda x: vx.histogram(x, [2.0, 1.0]), ValueError, "histogram: expected edges in ascending order."),
        (lambda x: vx.histogram(x, [[2.0]]), ValueError, "histogram: edges must be 1d, of 1 dimension, got shape (1, 1)."),
        (lambda x: vx.histogram(x, range=(3, 1)), ValueError,
         "histogram: max must be larger than min in a range, and both finite, got (3.0, 1.0). Give range=(a, b)."),
        (lambda x: vx.histogram(vx.asarray([1.0, math.nan])), ValueError, None),
        (lambda x: vx.histogram(x, weights=x[1:]), ValueError,
         "histogram: weights should have the same shape as x, (3,), got (2,)."),
        (lambda x: vx.histogram(vx.asarray([1j])), TypeError, None),
    ],
)  # fmt: skip
def test_errors(call, error, message: str | None) -> None:
    with pytest.raises(error) as found:
        call(vx.asarray([1.0, 2.0, 4.0]))
    if message is not None:
        assert str(found.value) == message


def test_variants_hold_what_a_run_asks_for(device, monkeypatch: pytest.MonkeyPatch) -> None:
    known = {*quantiles.variants(device), *counting.variants(device)}
    used = []
    kernel = launch.kernel
    monkeypatch.setattr(launch, "kernel", lambda variant, *rest: used.append(variant) or kernel(variant, *rest))
    quantiles._interpolation.cache_clear()
    quantiles._middle.cache_clear()
    for dtype, shape in itertools.product(REAL, [(4,), (4, 6)]):
        vx.median(vx.ones(shape, dtype=dtype), axis=0)
        vx.quantile(vx.ones(shape, dtype=dtype), 0.4, axis=0)
        vx.bincount(vx.asarray([1, 2]), vx.ones(2, dtype=dtype))
    for is_shared in (False, True):
        monkeypatch.setattr(counting, "uses_shared_memory", lambda device, is_shared=is_shared: is_shared)
        vx.bincount(vx.asarray([1, 2]))
    own = [
        variant
        for variant in used
        if variant.label.startswith(("median", "middle", "interpolate", "bincount", "sums of"))
    ]
    assert len({variant.template for variant in own}) == 3
    assert set(own) <= known
