"""Complex functions: the standard's tables of special cases, symmetries, signs of zeros."""

from __future__ import annotations

import cmath
import itertools

import numpy as np
import pytest
from reference import host_dtype, random_values, supported

import vkarray as vx
from vkarray.command.accuracy import special_cases

TYPES = supported([vx.complex64, vx.complex128])
# Functions for which cmath, which follows C99, can tell the signs of zeros.
IN_CMATH = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cos",
    "cosh",
    "exp",
    "log",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]
ODD = ["asin", "asinh", "atan", "atanh", "sin", "sinh", "tan", "tanh"]


def complex_array(parts, dtype) -> np.ndarray:
    """An array of pairs of parts, so that infinities and signs of zeros stay as they are."""
    result = np.empty(len(parts), host_dtype(dtype))
    result.real, result.imag = zip(*parts, strict=True)
    return result


def bits(values: np.ndarray) -> np.ndarray:
    """Bits of the parts; all NaN alike."""
    parts = np.stack([values.real, values.imag], -1)
    parts[np.isnan(parts)] = np.nan
    return parts.view(f"u{parts.itemsize}")


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("name", special_cases.FUNCTIONS)
def test_special_cases(name, dtype):
    operands = special_cases.operands(name, host_dtype(dtype))
    wrong = special_cases.disagreements(name, np.asarray(getattr(vx, name)(vx.asarray(operands))))
    lines = [f"{name}({case.operand}) is {got}, the standard says {case.result}" for case, got in wrong]
    assert not lines, "\n".join(lines)


def test_table_of_special_cases_is_that_of_the_standard():
    """Samples of it, written out, so that a slip in the notation shows."""
    found = {(name, str(case.operand)): case for name in special_cases.FUNCTIONS for case in special_cases.cases(name)}
    assert str(found["acos", "(-inf+infj)"].result) == str(complex(3 * np.pi / 4, -np.inf))
    assert str(found["acos", "(-inf-infj)"].result) == str(complex(3 * np.pi / 4, np.inf))
    assert str(found["exp", "(-inf+4j)"].result) == "(-0-0j)"
    assert str(found["exp", "(inf+2j)"].result) == "(-inf+infj)"
    assert str(found["tan", "(1+infj)"].result) == "1j"
    assert str(found["cos", "(nan+infj)"].result) == "(inf+nanj)"
    assert str(found["log", "(-0+0j)"].result) == str(complex(-np.inf, np.pi))
    assert str(found["atanh", "(-1+0j)"].result) == "(-inf+0j)"
    assert found["sqrt", "(-inf+nanj)"].imaginary_sign_free
    assert not found["sqrt", "(-inf+nanj)"].real_sign_free
    assert len(found) > 800


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("name", special_cases.FUNCTIONS)
def test_symmetries(name, dtype):
    """f(conj z) = conj f(z), and f(-z) = -f(z) for the odd functions, to the last bit."""
    values = random_values(dtype, 2000)
    values = values[np.isfinite(values) & (values != 0)]
    function = getattr(vx, name)
    result = np.asarray(function(vx.asarray(values)))
    mirrored = np.asarray(function(vx.asarray(np.conj(values))))
    np.testing.assert_array_equal(bits(mirrored), bits(np.conj(result)))
    if name in ODD:
        np.testing.assert_array_equal(bits(np.asarray(function(vx.asarray(-values)))), bits(-result))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("name", IN_CMATH)
def test_values_on_the_axes(name, dtype):
    """Branch cuts and the signs of zeros."""
    numbers = (0.25, -0.25, 2.0, -2.0)
    places = [*itertools.product((0.0, -0.0), numbers), *itertools.product(numbers, (0.0, -0.0))]
    operands = complex_array(places, dtype)
    got = np.asarray(getattr(vx, name)(vx.asarray(operands)))
    expected = complex_array(
        [(z.real, z.imag) for z in (getattr(cmath, name)(complex(*place)) for place in places)], dtype
    )
    np.testing.assert_allclose(got, expected, rtol=4 * vx.finfo(dtype).eps)
    for part in ("real", "imag"):
        mine, other = getattr(got, part), getattr(expected, part)
        wrong = np.signbit(mine) != np.signbit(other)
        assert not wrong.any(), f"{name}: the {part} part of {got[wrong]} has the wrong sign at {operands[wrong]}"


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_powers(dtype):
    bases = complex_array([(2.0, 3.0), (0.0, 0.0), (-1.5, 0.0), (np.inf, 1.0), (np.nan, 0.0)], dtype)
    ones = vx.pow(vx.asarray(bases), vx.zeros(5, dtype=dtype))
    np.testing.assert_array_equal(np.asarray(ones), np.ones(5))
    zeros = vx.pow(vx.zeros(3, dtype=dtype), vx.asarray(complex_array([(1, 0), (2, 0), (0.5, 0)], dtype)))
    np.testing.assert_array_equal(np.asarray(zeros), np.zeros(3))
    assert complex(vx.pow(vx.asarray([1j], dtype=dtype), vx.asarray([2.0], dtype=dtype))[0]) == -1
    assert complex(vx.pow(vx.asarray([3 - 4j], dtype=dtype), vx.asarray([3.0], dtype=dtype))[0]) == -117 - 44j


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_powers_that_vanish(dtype):
    """The logarithm overflows on the way."""
    base, exponent = 2e19 + 1e-18j, -float(vx.finfo(dtype).max) / 3 + 0.5j
    assert complex(vx.pow(vx.asarray([base], dtype=dtype), vx.asarray([exponent], dtype=dtype))[0]) == 0


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("name", ["multiply", "divide"])
def test_all_parts_nan(name, dtype):
    nan = vx.asarray(complex_array([(np.nan, np.nan)], dtype))
    got = np.asarray(getattr(vx, name)(nan, nan))
    assert np.isnan(got.real).all()
    assert np.isnan(got.imag).all()


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_modulus_and_sign(dtype):
    largest = float(vx.finfo(dtype).max)
    values = complex_array(
        [(3, 4), (largest / 2, largest / 2), (np.inf, np.nan), (np.nan, -np.inf), (np.nan, 1), (-0.0, 0.0)], dtype
    )
    expected = np.array([5, largest / 2 * np.sqrt(2), np.inf, np.inf, np.nan, 0])
    np.testing.assert_allclose(np.asarray(vx.abs(vx.asarray(values))), expected, rtol=vx.finfo(dtype).eps)
    np.testing.assert_allclose(np.asarray(vx.sign(vx.asarray(values[:2]))), [0.6 + 0.8j, np.sqrt(0.5) * (1 + 1j)],
                               rtol=2 * vx.finfo(dtype).eps)  # fmt: skip
