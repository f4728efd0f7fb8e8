"""Distributions of random numbers, permutations and choices.

The seeds are fixed, so no test fails by chance; the bounds are quantiles that a good generator exceeds less than once in a
thousand seeds.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from reference import supported

import vkarray as vx

FLOATING = supported([vx.float32, vx.float64])
STANDARD = ("random", "standard_normal", "standard_exponential")


def chi_square_excess(counts: np.ndarray, expected: np.ndarray | float) -> float:
    """How many standard deviations the chi-square statistic lies above its mean."""
    freedom = counts.size - 1
    return (float(np.sum((counts - expected) ** 2 / expected)) - freedom) / math.sqrt(2 * freedom)


def kolmogorov_smirnov(values: np.ndarray, distribution: np.ndarray) -> float:
    """sqrt(n) times the largest distance of the empirical distribution; above 1.95 once in a thousand seeds."""
    n = values.size
    steps = np.sort(distribution)
    return math.sqrt(n) * max(np.max(np.arange(1, n + 1) / n - steps), np.max(steps - np.arange(n) / n))


CUMULATIVE = {
    "random": lambda x: x,
    "standard_normal": lambda x: 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    "standard_exponential": lambda x: -np.expm1(-x),
}
MOMENTS = {"random": (0.5, 1 / 12, 0.0), "standard_normal": (0, 1, 0.0), "standard_exponential": (1, 1, 2.0)}


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
@pytest.mark.parametrize("name", STANDARD)
def test_distributions(name: str, dtype) -> None:
    values = np.asarray(getattr(vx.random.default_rng(1), name)(1_000_000, dtype=dtype)).astype(np.float64)
    few = values[:100_000]
    assert kolmogorov_smirnov(few, CUMULATIVE[name](few)) < 1.95
    mean, variance, skewness = MOMENTS[name]
    centered = values - mean
    # Means of a million: five standard errors, from the moments of the distributions up to the sixth.
    assert abs(centered.mean()) < 5e-3 * math.sqrt(variance)
    assert abs(np.mean(centered**2) - variance) < 5e-3 * variance * math.sqrt(8)
    assert abs(np.mean(centered**3) / variance**1.5 - skewness) < 5e-3 * math.sqrt(265)
    for lag in (1, 2, 3, 4, 1000):  # neighbours share a block, or the two numbers of Box and Muller
        assert abs(np.mean(centered[:-lag] * centered[lag:])) < 5e-3 * variance
    squares = centered**2 - variance
    assert abs(np.mean(squares[:-1] * squares[1:])) < 5e-3 * np.mean(squares**2)


def test_tails_of_normal_numbers() -> None:
    values = np.abs(np.asarray(vx.random.default_rng(2).standard_normal(1_000_000)))
    for limit in (1, 2, 3, 4):
        expected = 1e6 * math.erfc(limit / math.sqrt(2))
        assert abs(np.sum(values > limit) - expected) < 5 * math.sqrt(expected)


@pytest.mark.parametrize("span", [2, 6, 100, 1000])
def test_integers_are_evenly_distributed(span: int) -> None:
    values = np.asarray(vx.random.default_rng(3).integers(span, size=1_000_000))
    assert chi_square_excess(np.bincount(values, minlength=span), 1e6 / span) < 4
    pairs = values[::2] * span + values[1::2]
    if span < 1000:
        assert chi_square_excess(np.bincount(pairs, minlength=span**2), 5e5 / span**2) < 4


def test_permutation() -> None:
    generator = vx.random.default_rng(4)
    order = np.asarray(generator.permutation(100_000))
    np.testing.assert_array_equal(np.sort(order), np.arange(100_000))
    assert np.sum(order == np.arange(100_000)) < 8  # fixed points are distributed after Poisson, with mean 1
    places = np.arange(100_000) - 49_999.5
    assert abs(np.sum((order - 49_999.5) * places) / np.sum(places**2)) < 5 / math.sqrt(1e5)
    counts = np.zeros(6)
    for _ in range(300):
        first, second, third = generator.permutation(3).tolist()
        counts[2 * first + (second > third)] += 1
    assert chi_square_excess(counts, 50.0) < 4


def test_permutation_and_shuffle_of_arrays() -> None:
    values = np.arange(60).reshape(5, 12).astype(np.int16)
    for axis in (0, 1, -1):
        order = np.asarray(vx.random.default_rng(20).permutation(values.shape[axis]))
        got = vx.random.default_rng(20).permutation(vx.asarray(values), axis)
        np.testing.assert_array_equal(np.asarray(got), np.take(values, order, axis=axis))
        x = vx.asarray(values)
        assert vx.random.default_rng(20).shuffle(x, axis) is None
        np.testing.assert_array_equal(np.asarray(x), np.take(values, order, axis=axis))
        view = vx.asarray(values).T
        vx.random.default_rng(20).shuffle(view, 1 - axis % 2)
        np.testing.assert_array_equal(np.asarray(view.T), np.take(values, order, axis=axis))
    assert vx.random.default_rng(0).permutation(0).shape == (0,)


def test_choice_with_replacement() -> None:
    generator = vx.random.default_rng(21)
    weights = np.array([0.1, 0.0, 0.4, 0.2, 0.3, 0.0])
    drawn = np.asarray(generator.choice(6, 200_000, p=weights.tolist()))
    counts = np.bincount(drawn, minlength=6)
    assert counts[1] == counts[5] == 0
    kept = weights > 0
    assert chi_square_excess(counts[kept], 2e5 * weights[kept]) < 4
    counts = np.bincount(np.asarray(generator.choice(7, 70_000)), minlength=7)
    assert chi_square_excess(counts, 1e4) < 4
    table = vx.asarray(np.arange(12).reshape(3, 4).astype(np.float32))
    assert generator.choice(table, (2, 5)).shape == (2, 5, 4)
    rows = np.asarray(generator.choice(table, (2, 5), axis=1))
    assert rows.shape == (3, 2, 5)
    np.testing.assert_array_equal(rows[1:] - rows[:-1], 4)


def test_choice_without_replacement() -> None:
    generator = vx.random.default_rng(22)
    drawn = np.asarray(generator.choice(1000, 1000, replace=False))
    np.testing.assert_array_equal(np.sort(drawn), np.arange(1000))
    assert len(set(generator.choice(1000, 300, replace=False).tolist())) == 300
    weights = vx.asarray([0.5, 0.0, 0.3, 0.2])
    counts = np.zeros(4)
    for _ in range(400):
        first, second = generator.choice(4, 2, replace=False, p=weights).tolist()
        assert first != second
        assert 1 not in (first, second)
        counts[first] += 1
    assert chi_square_excess(counts[[0, 2, 3]], 400 * np.array([0.5, 0.3, 0.2])) < 4
    assert sorted(generator.choice(4, 3, replace=False, p=weights).tolist()) == [0, 2, 3]
    assert generator.choice(0, 0).shape == (0,)
    assert generator.choice(3, (0, 2), replace=False).shape == (0, 2)
