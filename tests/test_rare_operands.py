"""Flat kernels of GPUs: operands that take another way than most among others, and packs of short expressions."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import vkarray as vx
from vkarray.kernels import fused, launch
from vkarray.kernels.rows import ROWS

FUNCTIONS = ["cos", "divide", "exp", "log", "log10", "log2", "pow", "reciprocal", "sin", "sqrt"]
RARE = np.array(
    [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-45, 3e38, -3e38, 1e-38, 88.8, -103.5, 1e9, -7.0, 1.0], np.float32
)


@pytest.fixture(autouse=True)
def kernels_of_a_gpu(monkeypatch, device):
    """Flat kernels as a GPU has them, whatever the device under test is."""
    monkeypatch.setattr(type(device.limits), "kind", "gpu")
    operations = [ROWS[name].operation(vx.float32) for name in (*FUNCTIONS, "add", "less")]
    for operation in (*operations, launch.copy_operation(vx.float32)):
        monkeypatch.setattr(operation, "kernels", {})


def operands(count: int, rare: int, number: int) -> list[np.ndarray]:
    """Ordinary numbers, with `rare` others in between."""
    generator = np.random.default_rng(count + rare)
    found = []
    for _ in range(number):
        values = generator.uniform(0.5, 4.0, count).astype(np.float32)
        values[generator.integers(0, count, rare)] = generator.choice(RARE, rare)
        found.append(values)
    return found


def assert_same_bits(found: np.ndarray, expected: np.ndarray) -> None:
    assert np.array_equal(np.isnan(found), np.isnan(expected))
    numbers = ~np.isnan(expected)
    assert np.array_equal(found[numbers].view(np.uint32), expected[numbers].view(np.uint32))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(("count", "rare"), [(1, 1), (7, 2), (1023, 0), (1024, 5), (5001, 700)])
def test_rare_operands_among_others(name, count, rare):
    function = getattr(vx, name)
    values = operands(count, rare, ROWS[name].operands)
    apart = [vx.asarray(np.stack([x, x], axis=1))[:, 0] for x in values]  # the kernel of strided operands
    assert_same_bits(np.asarray(function(*map(vx.asarray, values))), np.asarray(function(*apart)))


@pytest.mark.parametrize("name", ["asin", "cos", "exp", "log", "log10", "log1p", "log2", "sin", "sqrt"])
@pytest.mark.parametrize("rare", [0, 5, 700])
@pytest.mark.parametrize("columns", [1, 2])
def test_rare_operands_of_functions_that_take_packs(name, rare, columns):
    function = getattr(vx, name)
    (values,) = operands(5002, rare, 1)
    values[1::4] = values[1::4] / 8
    values[::4] = -values[::4]
    x = vx.asarray(values.reshape(-1, columns))[:, 0]
    expected = np.asarray(vx.negative(function(vx.negative(x))))
    compiled = vx.compile(lambda x: vx.negative(function(vx.negative(x))))
    assert_same_bits(np.asarray(compiled(x)), expected)


@pytest.mark.parametrize("count", [fused.HELD - 2, fused.HELD + 8])
def test_expressions_that_hold_many_values(count):
    def function(x):
        powers = [vx.exp(x * (0.1 * number)) for number in range(count)]
        return functools.reduce(lambda total, one: total * 0.5 + one, [*reversed(powers), *powers])

    (values,) = operands(3001, 100, 1)
    x = vx.asarray(values)
    assert_same_bits(np.asarray(vx.compile(function)(x)), np.asarray(function(x)))


def test_rare_operands_of_an_operation_in_place():
    base, power = operands(3000, 200, 2)
    expected = np.asarray(vx.pow(vx.asarray(base), vx.asarray(power)))
    x = vx.asarray(base)
    x **= vx.asarray(power)
    assert_same_bits(np.asarray(x), expected)


def test_a_rare_operand_that_is_one_for_all():
    (values,) = operands(2000, 0, 1)
    for power in (np.inf, -3.0, 0.0, 300.0):
        apart = vx.asarray(np.stack([values, values], axis=1))[:, 0]
        assert_same_bits(np.asarray(vx.asarray(values) ** power), np.asarray(apart**power))


@pytest.mark.parametrize("count", [1, 511, 512, 1025, 5003])
def test_one_pack_for_short_expressions(count):
    x, y = operands(count, 0, 2)
    a, b = vx.asarray(x), vx.asarray(y)
    assert_same_bits(np.asarray(a + b), x + y)
    assert np.array_equal(np.asarray(a < b), x < y)
    assert_same_bits(np.asarray(vx.asarray(a, copy=True)), x)
