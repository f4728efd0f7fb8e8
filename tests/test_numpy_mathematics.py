"""NumPy's elementwise functions beyond the standard's (those with rows: tests/test_elementwise.py)."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from compared import COMPLEX, FLOATS, INTEGERS, LAYOUTS, check, values
from reference import supported

import vkarray as vx

REAL = [*FLOATS, *INTEGERS]
ONE = ["rint", "fabs", "cbrt", "exp2", "deg2rad", "radians", "rad2deg", "degrees", "modf", "frexp", "fix", "angle", "nan_to_num",
       "isposinf", "isneginf", "iscomplex", "isreal", "real_if_close"]  # fmt: skip
TWO = ["fmod", "fmax", "fmin", "logaddexp2", "heaviside", "divmod", "float_power", "gcd", "lcm"]
OF_INTEGERS = {"gcd", "lcm"}


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_operand(name: str, dtype: str) -> None:
    x = values(dtype, special=True)
    for view in LAYOUTS.values():
        check(getattr(vx, name), getattr(np, name), x, view=view)
    check(getattr(vx, name), getattr(np, name), x[:0])
    check(getattr(vx, name), getattr(np, name), x[0, 1])


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_operands(name: str, dtype: str) -> None:
    if name in OF_INTEGERS and dtype in FLOATS:
        pytest.skip("numpy has no such function of floating-point numbers")
    if name in OF_INTEGERS and dtype == "bool":
        pytest.skip("numpy takes bools for int8 numbers: gcd(True, True) is 1 of int8")
    x, y = values(dtype, special=True), values(dtype, seed=1)
    if name == "divmod":
        x = np.nan_to_num(x, posinf=1, neginf=1)  # of infinities the standard prefers the floor of the quotient
    if name == "float_power":
        x = np.abs(x) if x.dtype.kind == "i" else x
    for view in LAYOUTS.values():
        check(
            getattr(vx, name),
            getattr(np, name),
            x,
            y[: view(x).shape[0], :1].copy() if view(x).ndim == 2 else y[0],
            view=view,
        )
    if dtype != "bool":
        check(getattr(vx, name), getattr(np, name), x, 3)
        check(getattr(vx, name), getattr(np, name), 3, x)


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize(
    "name", ["rint", "exp2", "angle", "nan_to_num", "iscomplex", "isreal", "real_if_close", "sinc"]
)
def test_functions_of_complex_numbers(name: str, dtype: str) -> None:
    x = values(dtype, special=name in ("nan_to_num", "iscomplex", "isreal"))
    for view in LAYOUTS.values():
        check(getattr(vx, name), getattr(np, name), x, view=view)


@pytest.mark.parametrize("dtype", REAL)
def test_scaling_by_powers_of_two(dtype: str) -> None:
    x = values(dtype, special=True)
    for exponents in (np.arange(5) - 2, np.arange(5, dtype="int8"), 3, -2000, 5000):
        check(vx.ldexp, np.ldexp, x, exponents)
    check(vx.ldexp, np.ldexp, x, 0.5)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_bits_are_counted(dtype: str) -> None:
    check(vx.bitwise_count, np.bitwise_count, values(dtype))
    limits = [0, 1] if dtype == "bool" else [np.iinfo(dtype).min, np.iinfo(dtype).max, 0, 1]
    check(vx.bitwise_count, np.bitwise_count, np.array(limits, dtype))


@pytest.mark.parametrize("dtype", FLOATS)
def test_spacing(dtype: str) -> None:
    limits = np.finfo(dtype)
    x = np.array(
        [0, 1, limits.max, limits.tiny, limits.tiny / 2, limits.smallest_subnormal, np.inf, np.nan, 3e4], dtype
    )
    x = np.concatenate([x, -x, values(dtype).ravel()])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(np.asarray(vx.spacing(vx.asarray(x))), np.spacing(x))


# The exact values, for errors in units of the last place. Where logaddexp2 cancels its error is that of its operands.
EXACT = {
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "exp2": lambda x: mpmath.power(2, x),
    "sinc": lambda x: mpmath.sinpi(x) / (mpmath.pi * x) if x else mpmath.mpf(1),
    "i0": lambda x: mpmath.besseli(0, x),
}


@pytest.mark.parametrize("dtype", [name for name in ("float32", "float64") if name in FLOATS])
@pytest.mark.parametrize("name", EXACT)
def test_functions_are_within_a_unit(name: str, dtype: str) -> None:
    generator = np.random.default_rng(3)
    x = np.concatenate([generator.standard_normal(60) * scale for scale in (1e-3, 1, 5, 30)] + [np.arange(0, 60, 0.37)])
    x = x.astype(dtype)
    found = np.asarray(getattr(vx, name)(vx.asarray(x)))
    digits = np.finfo(dtype).nmant + 1
    with mpmath.workprec(120):
        for value, got in zip(x.tolist(), found.tolist(), strict=True):
            exact = EXACT[name](mpmath.mpf(value))
            if exact == 0:
                assert got == 0
                continue
            unit = mpmath.ldexp(1, int(mpmath.frexp(abs(exact))[1]) - digits)
            assert abs(mpmath.mpf(got) - exact) <= unit, f"{name}({value!r}) is {got!r}"


@pytest.mark.parametrize("dtype", supported([vx.float32, vx.float64]), ids=str)
def test_special_numbers_of_functions_without_rows(dtype) -> None:
    x = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1, -2, 1e-9, 1e9], dtype.name)
    found = np.asarray(vx.sinc(vx.asarray(x)))
    np.testing.assert_array_equal(found[[0, 1, 5, 6, 7]], [1, 1, 0, 0, 1])
    assert np.isnan(found[[2, 3, 4]]).all()
    np.testing.assert_array_equal(np.asarray(vx.i0(vx.asarray(x)))[:4], [1, 1, np.inf, np.inf])
    with pytest.raises(TypeError):
        vx.i0(vx.asarray([1j]))


@pytest.mark.parametrize("dtype", FLOATS)
def test_numbers_in_place_of_nan(dtype: str) -> None:
    x = values(dtype, special=True)
    check(vx.nan_to_num, np.nan_to_num, x, True, 1.5, 2.5, -3.5)
    check(vx.nan_to_num, np.nan_to_num, x, nan=7.0)
    same = vx.asarray(x)
    assert vx.nan_to_num(same, copy=False) is same
    np.testing.assert_array_equal(np.asarray(same), np.nan_to_num(x))


@pytest.mark.parametrize("dtype", [name for name in [*FLOATS, *INTEGERS] if name != "bool" and "uint" not in name])
def test_differences_of_neighbours(dtype: str) -> None:
    x = values(dtype)
    check(vx.ediff1d, np.ediff1d, x)
    check(vx.ediff1d, np.ediff1d, x, 2, 3)
    check(vx.ediff1d, np.ediff1d, x, to_begin=np.array([1, 2], dtype))
    check(vx.unwrap, np.unwrap, x, tolerance=1e-2 if dtype == "float16" else None)
    check(vx.unwrap, np.unwrap, x, axis=0, discont=4.0, tolerance=1e-2 if dtype == "float16" else None)


def test_phases_of_integers() -> None:
    x = np.array([0, 1, 2, -1, 0, 5, 4, 4, -7])
    for period in (4, 5, 6.5):
        check(vx.unwrap, np.unwrap, x, period=period)
    check(vx.unwrap, np.unwrap, np.array([True, False, True]))


def test_kinds_of_objects() -> None:
    for value in (1, 1.5, 1j, [1, 2], [1j], np.float32(3), "text", True):
        for name in ("iscomplexobj", "isrealobj", "isscalar"):
            if isinstance(value, str) and name != "isscalar":
                continue
            assert getattr(vx, name)(value) == getattr(np, name)(value), (name, value)
    assert vx.isscalar(vx.asarray([1.0])[0])
    assert not vx.isscalar(vx.asarray([1.0])[..., 0])
    assert vx.iscomplexobj(vx.asarray([1j]))
    assert not vx.iscomplexobj(vx.asarray([1.0]))


def test_options_of_elementwise_functions() -> None:
    x = vx.asarray([1.5, -2.25])
    whole, part = vx.zeros((2,)), vx.zeros((2,))
    assert vx.modf(x, out=(part, whole))[1] is whole
    np.testing.assert_array_equal(np.asarray(whole), [1, -2])
    assert vx.gcd.reduce([12, 18, 30]).item() == 6
    assert vx.fmax.reduce(vx.asarray([1.0, np.nan, 3.0])).item() == 3
    for wrong in (
        lambda: vx.gcd(vx.asarray([1.5]), 2),
        lambda: vx.fmod(vx.asarray([1j]), 2),
        lambda: vx.cbrt(vx.asarray([1j])),
    ):
        with pytest.raises(TypeError):
            wrong()
