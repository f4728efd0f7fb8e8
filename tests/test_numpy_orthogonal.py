"""Series of orthogonal polynomials, compared with those of `numpy.polynomial`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from against_numpy import supported

import vkarray as vx

FAMILIES = {
    "chebyshev": ("cheb", "Chebyshev"), "legendre": ("leg", "Legendre"), "hermite": ("herm", "Hermite"),
    "hermite_e": ("herme", "HermiteE"), "laguerre": ("lag", "Laguerre"),
}  # fmt: skip
FUNCTIONS = {
    "val": [lambda f, n: f(0.5, [1, 2, 3]), lambda f, n: f([0.5, 0.1], [[1, 2], [3, 4]]), lambda f, n: f([1, 2], 3),
            lambda f, n: f([0.5, 0.1], [[1, 2], [3, 4]], tensor=False), lambda f, n: f([[0.5, 0.1], [2, 3]], [1, 2j, 3, 4])],
    "val2d": [lambda f, n: f([1, 2], [3, 4], [[1, 2], [3, 4]])],
    "val3d": [lambda f, n: f([1, 2], [3, 4], [0, 1], n.reshape(n.arange(8), (2, 2, 2)))],
    "grid2d": [lambda f, n: f([1, 2, 3], [3, 4], [[1, 2], [3, 4]])],
    "add": [lambda f, n: f([1, 2], [3]), lambda f, n: f([1, 2], [3, -2])], "sub": [lambda f, n: f([1, 2], [3])],
    "mulx": [lambda f, n: f([1, 2, 3]), lambda f, n: f([0]), lambda f, n: f([2])],
    "mul": [lambda f, n: f([1, 2, 3], [3, 2, 1]), lambda f, n: f([1, 2, 3], [3]), lambda f, n: f([1, 2j], [3, 2])],
    "div": [lambda f, n: f([1, 2, 3, 4], [3, 2, 1]), lambda f, n: f([1, 2], [3, 2, 1]), lambda f, n: f([4, 2], [2])],
    "pow": [lambda f, n: f([1, 2, 3], 3), lambda f, n: f([1, 2, 3], 0)],
    "vander": [lambda f, n: f([1, 2, 3], 3), lambda f, n: f([[0.5, 1]], 0)],
    "vander2d": [lambda f, n: f([1, 2], [3, 4], [1, 2])],
    "fit": [lambda f, n: f([0, 1, 2, 3], [1, 3, 7, 2], 2), lambda f, n: f([0, 1, 2, 3], [1, 3, 7, 2], [0, 2]),
            lambda f, n: f([0, 1, 2, 3], n.reshape(n.arange(8.0), (4, 2)) ** 2, 2, w=[1, 2, 1, 1])],
    "der": [lambda f, n: f([1, 2, 3, 4]), lambda f, n: f([[1, 2], [3, 4], [5, 6]], 2, axis=0), lambda f, n: f([1, 2], 3),
            lambda f, n: f([[1, 2, 3], [3, 4, 5]], axis=1, scl=2), lambda f, n: f([1, 2], 0)],
    "int": [lambda f, n: f([1, 2, 3]), lambda f, n: f([1, 2, 3], m=2, k=[1, 2], lbnd=-1, scl=2),
            lambda f, n: f([[1, 2, 3], [3, 4, 5]], axis=1)],
    "line": [lambda f, n: f(1.0, 2.0), lambda f, n: f(1.0, 0)],
    "fromroots": [lambda f, n: f([-1, 0, 1]), lambda f, n: f([]), lambda f, n: f([2])],
    "companion": [lambda f, n: f([1, 2, 3, 4]), lambda f, n: f([1, 2])],
    "roots": [lambda f, n: f([1, 2, 3, 4]), lambda f, n: f([1, 2]), lambda f, n: f([1, 0, 0.1]), lambda f, n: f([1])],
    "gauss": [lambda f, n: f(1), lambda f, n: f(5), lambda f, n: f(20)],
    "weight": [lambda f, n: f(n.asarray([0.1, 0.5]))],
    "trim": [lambda f, n: f([1, 0, 0]), lambda f, n: f([1, 2, 0.1], 0.5)],
}  # fmt: skip
CLASSES = {
    "value": lambda s, p, n: s([1, 2, 3])(0.5), "values": lambda s, p, n: s([1, 2, 3], [0, 2])(n.asarray([0.5, 1])),
    "sum": lambda s, p, n: (s([1, 2, 3]) + s([1, 2]) - 1).coef, "product": lambda s, p, n: (2 * s([1, 2]) * s([1, 2, 3])).coef,
    "quotient": lambda s, p, n: [one.coef for one in divmod(s([1, 2, 3]), s([1, 2]))],
    "power": lambda s, p, n: (s([1, 2]) ** 3).coef, "derivative": lambda s, p, n: s([1, 2, 3], [0, 3]).deriv().coef,
    "integral": lambda s, p, n: s([1, 2, 3]).integ(2, k=[1, 2]).coef, "roots": lambda s, p, n: s([1, 2, 3]).roots(),
    "to powers": lambda s, p, n: s([1, 2, 3]).convert(kind=p).coef,
    "from powers": lambda s, p, n: p([1, 2, 3]).convert(kind=s).coef,
    "fit": lambda s, p, n: s.fit([0, 1, 2, 3], [1, 3, 7, 2], 2)(1.5), "basis": lambda s, p, n: s.basis(3).coef,
    "from roots": lambda s, p, n: s.fromroots([1, 2]).coef, "identity": lambda s, p, n: s.identity([0, 3]).coef,
    "domain": lambda s, p, n: s([1]).domain, "points": lambda s, p, n: s([1, 2, 3]).linspace(3),
    "composition": lambda s, p, n: s([1, 2, 3])(s([1, 2])).coef, "text": lambda s, p, n: str(s([1, -2, 1e-7, 1e9])),
    "text of a domain": lambda s, p, n: str(s([1, 2], domain=[0, 4])), "equal": lambda s, p, n: s([1, 2]) == s([1, 2]),
    "other kind": lambda s, p, n: s([1, 2]) == p([1, 2]),
}  # fmt: skip


def check(found: Any, expected: Any) -> None:
    if isinstance(expected, (str, bool)):
        assert found == expected
    elif isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            check(one, other)
    else:
        assert found.shape == np.shape(expected)
        if expected.dtype.kind == "c" and not expected.imag.any():
            expected = expected.real  # some series of NumPy 2.5 have complex roots without imaginary parts
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-9, atol=1e-12)


@pytest.fixture(autouse=True)
def float64() -> Any:
    if not supported(("float64",)):
        pytest.skip("the device has no shaderFloat64, and NumPy's series are of float64")
    with vx.config(default_float="float64"):
        yield


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("module", FAMILIES)
def test_functions(module: str, name: str) -> None:
    ours, theirs = (getattr(getattr(n.polynomial, module), FAMILIES[module][0] + name) for n in (vx, np))
    for call in FUNCTIONS[name]:
        check(call(ours, vx), call(theirs, np))


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("module", FAMILIES)
def test_classes(module: str, name: str) -> None:
    found, expected = (
        CLASSES[name](getattr(n.polynomial, FAMILIES[module][1]), n.polynomial.Polynomial, n) for n in (vx, np)
    )
    check(found, expected)


@pytest.mark.parametrize("module", FAMILIES)
def test_powers(module: str) -> None:
    prefix = FAMILIES[module][0]
    for name in (f"poly2{prefix}", f"{prefix}2poly"):
        for c in ([1, 2, 3, 4], [2], [1, 0, 0, 0, 5]):
            check(*(getattr(getattr(n.polynomial, module), name)(c) for n in (vx, np)))


def test_points_of_chebyshev() -> None:
    for call in (
        lambda c: c.chebpts1(4),
        lambda c: c.chebpts2(5),
        lambda c: c.chebinterpolate(lambda x, a: a * x**3, 4, (2,)),
    ):
        check(call(vx.polynomial.chebyshev), call(np.polynomial.chebyshev))


def test_errors() -> None:
    legendre = vx.polynomial.legendre
    with pytest.raises(ZeroDivisionError, match=r"^legdiv: the divisor is 0"):
        legendre.legdiv([1, 2], [0])
    with pytest.raises(ValueError, match=r"^leggauss: expected deg of 1 or more, got 0"):
        legendre.leggauss(0)
    with pytest.raises(ValueError, match=r"^legpow: expected a power from 0 to 16, got 17"):
        legendre.legpow([1, 2], 17)
    with pytest.raises(ValueError, match=r"^legcompanion: expected a series of degree 1 or more"):
        legendre.legcompanion([1])
    with pytest.raises(TypeError, match=r"^Legendre: the other operand is a Polynomial"):
        vx.polynomial.Legendre([1]) + vx.polynomial.Polynomial([1])
    with pytest.raises(AttributeError, match="has no attribute 'bessel'"):
        vx.polynomial.bessel  # noqa: B018
