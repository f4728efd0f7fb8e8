"""Random vectors, integers between arrays, orders and choices of lists, after NumPy's functions.

The seeds are fixed, so no test fails by chance.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from reference import supported
from scipy import stats
from test_random_distributions import chi_square_excess, kolmogorov_smirnov
from test_random_numpy import COUNT, DOUBLE, FLOATING, check_moments

import vkarray as vx

# -- vectors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_dirichlet(dtype) -> None:
    alpha = [0.05, 1.0, 4.5]
    shares = np.asarray(vx.random.default_rng(41).dirichlet(alpha, COUNT, dtype=dtype)).astype(np.float64)
    assert shares.shape == (COUNT, 3)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=4 * vx.finfo(dtype).eps)
    for place, one in enumerate(alpha):
        values = shares[:, place]
        if one > 0.1:  # the least of the others are below the smallest number
            assert kolmogorov_smirnov(values, stats.beta(one, sum(alpha) - one).cdf(values)) < 1.95
        check_moments(values, stats.beta(one, sum(alpha) - one))
    tiny = np.asarray(vx.random.default_rng(42).dirichlet([1e-3, 1e-3], 500))
    np.testing.assert_allclose(tiny.sum(axis=1), 1, rtol=1e-6)
    assert vx.random.dirichlet((1, 2), (2, 0)).shape == (2, 0, 2)
    with pytest.raises(ValueError, match="one dimension"):
        vx.random.dirichlet([[1, 2]])


def test_multinomial() -> None:
    chances = [0.5, 0.0, 0.2, 0.3]
    drawn = np.asarray(vx.random.default_rng(43).multinomial(50, chances, COUNT))
    assert np.all(drawn.sum(axis=1) == 50)
    assert not drawn[:, 1].any()
    for place in (0, 2, 3):
        check_moments(drawn[:, place].astype(np.float64), stats.binom(50, chances[place]))
    covariance = np.cov(drawn[:, 0], drawn[:, 3])[0, 1]
    assert abs(covariance + 50 * 0.5 * 0.3) < 5 * 50 * 0.5 / math.sqrt(COUNT)
    generator = vx.random.default_rng(44)
    assert generator.multinomial([5, 9], [[0.5, 0.5], [0.1, 0.9]]).sum(axis=1).tolist() == [5, 9]
    assert generator.multinomial(vx.asarray([[5], [9]]), vx.asarray([0.5, 0.2, 0.3]), (2, 4)).sum(axis=2).tolist() == [
        [5] * 4, [9] * 4
    ]  # fmt: skip
    assert generator.multinomial(5, [0.2, 0.2, 0.2]).sum().tolist() == 5  # the last takes what is left
    assert generator.multinomial(3, [1.0]).tolist() == [3]
    assert generator.multinomial(3, [0.5, 0.5], (0, 2)).shape == (0, 2, 2)
    for wrong in ((-1, [1.0]), (3, [0.7, 0.7, 0.1]), (3, [-0.1, 1.1]), (3, [])):
        with pytest.raises(ValueError, match=r"^multinomial: expected"):
            generator.multinomial(*wrong)
    with pytest.raises(ValueError, match="at most 1"):
        np.asarray(generator.multinomial(3, vx.asarray([0.7, 0.7, 0.1])))


def test_multivariate_hypergeometric() -> None:
    colors = [20, 0, 300, 45]
    for sample in (8, 120, 300):
        drawn = np.asarray(vx.random.default_rng(45).multivariate_hypergeometric(colors, sample, COUNT))
        assert np.all(drawn.sum(axis=1) == sample)
        assert np.all(drawn <= colors)
        for place in (0, 2, 3):
            check_moments(drawn[:, place].astype(np.float64), stats.hypergeom(sum(colors), colors[place], sample))
    generator = vx.random.default_rng(46)
    assert generator.multivariate_hypergeometric([3, 4], 7, method="count").tolist() == [3, 4]
    assert generator.multivariate_hypergeometric(vx.asarray([3, 4]), 2, (2, 3)).sum(axis=2).tolist() == [[2] * 3] * 2
    for wrong in (([3, 4], 8), ([3, -4], 1), ([3, 4], -1), ([[3, 4]], 1)):
        with pytest.raises(ValueError, match=r"^multivariate_hypergeometric: expected"):
            generator.multivariate_hypergeometric(*wrong)
    with pytest.raises(ValueError, match="method"):
        generator.multivariate_hypergeometric([3], 1, method="urn")


@pytest.mark.parametrize("method", ["svd", "eigh", "cholesky"])
@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_multivariate_normal(dtype, method: str) -> None:
    mean, cov = [1, -2, 0.5], [[2.0, 0.6, 0.0], [0.6, 1.0, -0.3], [0.0, -0.3, 0.5]]
    drawn = vx.random.default_rng(47).multivariate_normal(mean, cov, (COUNT // 2, 2), method=method, dtype=dtype)
    assert drawn.dtype is dtype
    values = np.asarray(drawn).astype(np.float64).reshape(-1, 3)
    root = np.linalg.cholesky(np.array(cov))
    standard = np.linalg.solve(root, (values - mean).T)
    for row in (*standard, standard.sum(axis=0) / math.sqrt(3)):
        assert kolmogorov_smirnov(row, stats.norm.cdf(row)) < 1.95


def test_covariances_are_checked() -> None:
    generator = vx.random.default_rng(48)
    wrong = [[1.0, 2.0], [2.0, 1.0]]
    with pytest.warns(RuntimeWarning, match="positive-semidefinite"):
        assert generator.multivariate_normal([0, 0], wrong).shape == (2,)
    with pytest.raises(ValueError, match="positive-semidefinite"):
        generator.multivariate_normal([0, 0], wrong, check_valid="raise")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        generator.multivariate_normal([0, 0], wrong, check_valid="ignore")
        for method in ("svd", "eigh"):  # semidefinite is enough
            values = np.asarray(generator.multivariate_normal([0, 0], [[1, 1], [1, 1]], 50, method=method))
            np.testing.assert_allclose(values[:, 0], values[:, 1], atol=1e-6 if DOUBLE else 2e-3)  # the root of an eps
    for wrong_call in (([0, 0], [[1.0]]), ([[0.0]], [[1.0]])):
        with pytest.raises(ValueError, match="of shape"):
            generator.multivariate_normal(*wrong_call)
    with pytest.raises(ValueError, match="method"):
        generator.multivariate_normal([0], [[1.0]], method="qr")
    with pytest.raises(ValueError, match="check_valid"):
        generator.multivariate_normal([0], [[1.0]], check_valid="perhaps")


# -- integers, order and choice -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype", supported([vx.int8, vx.uint8, vx.int16, vx.int32, vx.uint32, vx.int64, vx.uint64]), ids=str
)
def test_integers_between_arrays(dtype) -> None:
    least, most = vx.iinfo(dtype).min, vx.iinfo(dtype).max
    low, high = [least, 0, 5, most - 1, 10], [most, 2, 5, most, 109]
    drawn = np.asarray(vx.random.default_rng(51).integers(low, high, (3000, 5), dtype, endpoint=True)).astype(object)
    for place, (first, last) in enumerate(zip(low, high, strict=True)):
        column = drawn[:, place]
        assert column.min() >= first
        assert column.max() <= last
        size = last - first + 1
        classes = np.bincount(((column - first) * min(size, 4) // size).astype(int), minlength=min(size, 4))
        if size > 1:
            assert chi_square_excess(classes, 3000 / classes.size) < 4
    of_arrays = vx.random.default_rng(52).integers(
        vx.zeros((4,), dtype=dtype), vx.full((4,), 7, dtype=dtype), dtype=dtype
    )
    assert of_arrays.dtype is dtype
    assert np.all(np.asarray(of_arrays) < 7)
    if dtype.bits <= 32:  # the words are those of one range
        expected = vx.random.default_rng(53).integers(2, 90, 50, dtype)
        assert vx.random.default_rng(53).integers([2] * 50, 90, dtype=dtype).tolist() == expected.tolist()
    assert set(vx.random.default_rng(54).integers([0, 1], [2, 2], (50, 2), vx.bool)[:, 1].tolist()) == {True}


def test_wrong_bounds_of_integers() -> None:
    generator = vx.random.default_rng(0)
    with pytest.raises(ValueError, match="expected low below high"):
        generator.integers([0, 5], [3, 5])
    with pytest.raises(OverflowError):
        generator.integers([0, 1], 300, dtype=vx.int8)
    with pytest.raises(TypeError, match="integer"):
        generator.integers([1j, 1], 3)
    with pytest.raises(ValueError, match="expected low below high"):
        np.asarray(generator.integers(vx.asarray([4, 2]), 3))
    assert generator.integers([], 3).shape == (0,)


def test_permuted() -> None:
    values = np.arange(600, dtype=np.int32).reshape(30, 20)
    for axis in (0, 1, -1):
        got = np.asarray(vx.random.default_rng(55).permuted(vx.asarray(values), axis=axis))
        np.testing.assert_array_equal(np.sort(got, axis=axis), values)
        rows = np.moveaxis(got - (values[:1] if axis == 0 else values[:, :1]), axis, -1)
        assert len({tuple(row) for row in rows.tolist()}) == rows.shape[0]  # each row has an order of its own
    whole = np.asarray(vx.random.default_rng(55).permuted(values))
    np.testing.assert_array_equal(np.sort(whole.reshape(-1)), np.arange(600))
    x = vx.asarray(values)
    assert vx.random.default_rng(55).permuted(x, axis=1, out=x) is x
    assert not np.array_equal(np.asarray(x), values)
    counts = np.zeros(6)
    for row in vx.random.default_rng(56).permuted(np.tile(np.array([0, 1, 2], np.int32), (6000, 1)), axis=1).tolist():
        counts[2 * row[0] + (row[1] > row[2])] += 1
    assert chi_square_excess(counts, 1000.0) < 4
    with pytest.raises(ValueError, match="out of shape"):
        vx.random.default_rng(0).permuted(x, out=vx.zeros((3,), dtype=x.dtype))
    with pytest.raises(TypeError, match="as out"):
        vx.random.default_rng(0).permuted(x, out=values)


def test_order_and_choice_of_lists() -> None:
    generator, same = vx.random.default_rng(57), vx.random.default_rng(57)
    assert generator.permutation([5, 6, 7]).tolist() == same.permutation(vx.asarray([5, 6, 7])).tolist()
    names = ["a", "b", "c", "d"]
    assert generator.shuffle(names) is None
    assert sorted(names) == ["a", "b", "c", "d"]
    assert set(generator.choice([10, 20, 30], 50).tolist()) == {10, 20, 30}
    assert sorted(generator.choice(np.array([10, 20, 30], np.int32), 3, False).tolist()) == [10, 20, 30]
    assert set(generator.choice([10, 20, 30], 50, p=[0.5, 0, 0.5]).tolist()) == {10, 30}
    assert generator.choice([[1, 2], [3, 4]], 4, axis=1, shuffle=False).shape == (2, 4)
    x = vx.asarray([[1, 2, 3], [4, 5, 6]])
    generator.shuffle(x, axis=1)
    assert np.all(np.diff(np.asarray(x), axis=0) == 3)


def test_out() -> None:
    for name, arguments in (
        ("random", ()),
        ("standard_normal", ()),
        ("standard_exponential", ()),
        ("standard_gamma", (2.0,)),
    ):
        expected = getattr(vx.random.default_rng(58), name)(*arguments, 6).tolist()
        out = vx.zeros((6,))
        assert getattr(vx.random.default_rng(58), name)(*arguments, out=out) is out
        assert out.tolist() == expected
        strided = vx.zeros((12,))[::2]
        assert getattr(vx.random.default_rng(58), name)(*arguments, size=6, out=strided) is strided
        assert strided.tolist() == expected
        with pytest.raises(ValueError, match="expected out of shape"):
            getattr(vx.random, name)(*arguments, size=5, out=out)
        with pytest.raises(TypeError, match="expected out of float32"):
            getattr(vx.random, name)(*arguments, dtype=vx.float32, out=vx.zeros((6,), dtype=vx.int32))
        with pytest.raises(TypeError, match="vkarray array as out"):
            getattr(vx.random, name)(*arguments, out=np.zeros(6))
