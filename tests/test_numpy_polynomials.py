"""Polynomials: NumPy's older functions and `poly1d`, and power series."""

from __future__ import annotations

import numpy as np
import numpy.polynomial.polynomial as expected_series
import pytest
from against_numpy import stand_in
from compared import check, on_device, values

import vkarray as vx
from vkarray.polynomial import Polynomial
from vkarray.polynomial import polynomial as series

F, G = np.random.default_rng(0).standard_normal(5), np.random.default_rng(1).standard_normal(3)
PAIRS = {
    "long and short": (F, G), "short and long": (G, F), "zeros": (np.array([1.0, 0, 2, 0, 0]), G), "lists": ([1, 2, 3], [4, 5]),
    "integers": (np.array([1, 2, 3]), np.array([2, 1])), "complex": (F + 1j, G),
    "float32": (F.astype("float32"), G.astype("float32")),
}  # fmt: skip


@pytest.mark.parametrize("pair", PAIRS)
def test_functions_of_coefficients(pair: str) -> None:
    # NumPy computes in the types of the device too: how many zeros of a remainder are left depends on rounding.
    a, b = (one.astype(stand_in(one.dtype)) if isinstance(one, np.ndarray) else one for one in PAIRS[pair])
    for name in ("polyadd", "polysub", "polymul", "polydiv"):
        check(getattr(vx, name), getattr(np, name), a, b, tolerance=1e-5)
        check(getattr(series, name), getattr(expected_series, name), a, b, tolerance=1e-5)
    for x in (b, 2.5, 3):
        check(vx.polyval, np.polyval, a, x)
        check(series.polyval, expected_series.polyval, x, a)
    for m in (0, 1, 2, 9, -1):
        check(vx.polyder, np.polyder, a, m)
        check(series.polyder, expected_series.polyder, a, m)
    for m, k in ((0, None), (1, None), (2, 3), (2, [1, 2]), (-1, None), (3, [1, 2])):
        check(vx.polyint, np.polyint, a, m, k)
    for m, k in ((0, []), (1, []), (2, 3), (2, [1, 2]), (1, [1, 2])):
        check(series.polyint, expected_series.polyint, a, m, k)
    check(vx.poly, np.poly, a, tolerance=1e-5)
    for name in ("polyroots", "polycompanion", "polymulx"):
        check(getattr(series, name), getattr(expected_series, name), a, tolerance=1e-4)
    check(
        series.polyfromroots, expected_series.polyfromroots, a, tolerance=1e-5, types=pair != "float32"
    )  # NumPy: float64
    check(series.polypow, expected_series.polypow, a, 3, tolerance=1e-5)
    check(series.polytrim, expected_series.polytrim, a, 0.5)
    check(series.polyvander, expected_series.polyvander, a, 3)
    check(series.polyvalfromroots, expected_series.polyvalfromroots, b, a)
    with vx.config(default_float="float64"):
        found, expected = np.asarray(vx.roots(vx.asarray(on_device(a)))), np.roots(a)
    assert found.dtype == stand_in(expected.dtype)
    np.testing.assert_allclose(np.sort_complex(found), np.sort_complex(expected), atol=1e-4)


def test_special_polynomials() -> None:
    for roots in ([[1, 2], [3, 4.0]], [], [1j, -1j], [[1, 2]]):
        check(vx.poly, np.poly, roots)
    for coefficients in ([0, 0], [1, 0, 0], [3], []):
        check(vx.roots, np.roots, coefficients)
    check(series.polydiv, expected_series.polydiv, F, [0])
    check(series.polyint, expected_series.polyint, F, 1, [], 2.0, 3.0)
    matrix = values("float64", (4, 3))
    check(series.polyder, expected_series.polyder, matrix, 1, 2.0, axis=1)
    check(series.polyint, expected_series.polyint, matrix, 2, [1, 2], 0.5)
    check(series.polyval, expected_series.polyval, F, matrix)
    check(series.polyval, expected_series.polyval, G, matrix, False)
    x, y = [1, 2.0], [3, 4.0]
    check(series.polyval2d, expected_series.polyval2d, x, y, matrix)
    check(series.polygrid2d, expected_series.polygrid2d, x, [3, 4.0, 5], matrix)
    check(series.polyval3d, expected_series.polyval3d, x, y, y, values("float64", (2, 3, 4)))
    check(series.polygrid3d, expected_series.polygrid3d, x, y, y, values("float64", (2, 3, 4)))
    check(series.polyvander2d, expected_series.polyvander2d, x, y, [2, 3])
    check(series.polyvander3d, expected_series.polyvander3d, x, y, y, [1, 2, 1])


@pytest.mark.needs("float64")
def test_fits() -> None:
    x = np.linspace(0, 3, 20)
    y, w = np.sin(x), np.random.default_rng(2).random(20)
    for sides in (y, np.stack([y, y * 2], 1)):
        for options in ({}, {"w": w}, {"cov": True}, {"cov": "unscaled"}):
            check(vx.polyfit, np.polyfit, x, sides, 3, tolerance=1e-7, **options)
        check(vx.polyfit, np.polyfit, x, sides, 3, full=True, tolerance=1e-7, types=False)  # NumPy's rank is of int32
        check(series.polyfit, expected_series.polyfit, x, sides, 3, tolerance=1e-7)
        check(series.polyfit, expected_series.polyfit, x, sides, [1, 3], w=w, tolerance=1e-7)
    for arguments in ((x, y, -1), (x, y[:3], 2), (x.reshape(4, 5), y, 2), ([1, 2, 3], [1, 4, 9], 2), (x[:0], y[:0], 1)):
        check(vx.polyfit, np.polyfit, *arguments, tolerance=1e-7)


OPERATIONS = (
    lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: 2 * a + 1, lambda a, b: a**3, lambda a, b: -a,
    lambda a, b: a.deriv(), lambda a, b: a.integ(2, [1, 2]), lambda a, b: a(b), lambda a, b: 1 - a, lambda a, b: a / 2,
)  # fmt: skip


@pytest.mark.needs("int64", "float64")
def test_poly1d() -> None:
    with vx.config(default_float="float64"):
        p, q, s, t = vx.poly1d([1, 2, 3]), np.poly1d([1, 2, 3]), vx.poly1d([2, 1]), np.poly1d([2, 1])
        both = [*OPERATIONS, lambda a, b: (a / b)[0], lambda a, b: (a / b)[1]]
        for operation in both:
            found, expected = operation(p, s), operation(q, t)
            np.testing.assert_allclose(np.asarray(found.c), expected.c)
            assert np.asarray(found.c).dtype == expected.c.dtype
        for x in (2.5, [1.0, 2]):
            np.testing.assert_allclose(np.asarray(p(x)), q(x))
        np.testing.assert_allclose(np.asarray(p.r), q.r)
        assert (p.order, len(p), int(p[0]), int(p[7]), p == vx.poly1d([0, 1, 2, 3])) == (2, 2, 3, 0, True)
        p[4] = q[4] = 9
        np.testing.assert_allclose(np.asarray(p.c), q.c)
        np.testing.assert_allclose(np.asarray(vx.poly1d([1, 2], True).c), np.poly1d([1, 2], True).c)
        for c in ([1, -2, 0], [0], [3], [1j, 2 + 1j, 3], list(range(1, 30)), [-1, 0, 0, -4]):
            assert (str(vx.poly1d(c)), repr(vx.poly1d(c))) == (str(np.poly1d(c)), repr(np.poly1d(c)))
        p.coeffs += 1
        assert p.c.tolist() == [10, 1, 2, 3, 4]
        with pytest.raises(AttributeError, match=r"^poly1d: "):
            p.coeffs = vx.asarray([1, 2])


def same(found: Polynomial, expected: np.polynomial.Polynomial, tolerance: float = 1e-7) -> None:
    np.testing.assert_allclose(np.asarray(found.coef), expected.coef, atol=tolerance)
    np.testing.assert_allclose(np.asarray(found.domain), expected.domain)
    np.testing.assert_allclose(np.asarray(found.window), expected.window)


def test_series_as_objects() -> None:
    with vx.config(default_float="float64"):
        x = np.linspace(2, 9, 30)
        y = np.cos(x)
        a, b = Polynomial.fit(vx.asarray(x), vx.asarray(y), 5), np.polynomial.Polynomial.fit(x, y, 5)
        for operation in (
            lambda a: a, lambda a: a.convert(), lambda a: a.deriv(), lambda a: a.integ(2, [1, 2], 3.0), lambda a: a * a,
            lambda a: a + 1, lambda a: 1 - a, lambda a: a**2, lambda a: a // a.deriv(), lambda a: a % a.deriv(), lambda a: a / 2,
            lambda a: a.truncate(2), lambda a: a.trim(0.2), lambda a: a.cutdeg(1), lambda a: -a,
            lambda a: type(a)([1, 2, 3])(type(a)([1, 1])), lambda a: type(a).fromroots([1, 2, 3]),
            lambda a: type(a).identity([0, 2]), lambda a: type(a).basis(3),
            lambda a: type(a).fit(x.tolist(), y.tolist(), 3, domain=[]),
        ):  # fmt: skip
            same(operation(a), operation(b), 1e-6)
        np.testing.assert_allclose(np.asarray(a(vx.asarray(x))), b(x))
        for found, expected in zip(a.linspace(7), b.linspace(7), strict=True):
            np.testing.assert_allclose(np.asarray(found), expected)
        np.testing.assert_allclose(np.sort_complex(np.asarray(a.roots())), np.sort_complex(b.roots()), atol=1e-6)
        assert a == a.copy()
        assert a != a + 1
        assert len(a) == 6
        assert a.degree() == 5
        with pytest.raises(TypeError, match="domains or windows differ"):
            a + Polynomial([1, 2])
        with pytest.raises(ValueError, match="symbols"):
            Polynomial([1, 2]) + Polynomial([1, 2], symbol="t")
        assert repr(Polynomial([1, 2])) == "Polynomial([1.0, 2.0], domain=[-1.0, 1.0], window=[-1.0, 1.0], symbol='x')"
