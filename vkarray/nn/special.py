"""Special functions, element by element: rows without a public function, as those of `pointwise`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..core.array import VkArray
from ..kernels.planned import recordable
from ..shaders.source import Shader
from .pointwise import Formula, operations_of, variants_of

_FORMULAS: list[Formula] = []


def _row(operands: int, name: str, expression: str, **options: Any) -> Formula:
    row = Formula(name, operands, "real floating", expression, "", **{"library": "/special", **options})
    _FORMULAS.append(row)
    return row


def _unary(name: str, expression: str = "", **options: Any) -> Formula:
    return _row(1, name, expression or f"vx_{name}(a)", **options)


def _binary(name: str, **options: Any) -> Formula:
    return _row(2, name, f"vx_{name}(a, b)", **options)


lgamma = _unary("lgamma")
digamma = _unary("digamma")
polygamma = _binary("polygamma", wide=(0,))
zeta = _binary("zeta")
i0 = _unary("i0", "vx_bessel_i(a, 0)")
i1 = _unary("i1", "vx_bessel_i(a, 1)")
i0e = _unary("i0e", "vx_bessel_ie(a, 0)")
i1e = _unary("i1e", "vx_bessel_ie(a, 1)")
erfcx = _unary("erfcx")
log_ndtr = _unary("log_ndtr")
ndtri = _unary("ndtri")
entr = _unary("entr")

_BESSEL = {"library": "/bessel"}
bessel_j0 = _unary("bessel_j0", **_BESSEL)
bessel_j1 = _unary("bessel_j1", **_BESSEL)
bessel_y0 = _unary("bessel_y0", **_BESSEL)
bessel_y1 = _unary("bessel_y1", **_BESSEL)
k0 = _unary("k0", "vx_bessel_k(a, 0, false)", **_BESSEL)
k1 = _unary("k1", "vx_bessel_k(a, 1, false)", **_BESSEL)
k0e = _unary("k0e", "vx_bessel_k(a, 0, true)", **_BESSEL)
k1e = _unary("k1e", "vx_bessel_k(a, 1, true)", **_BESSEL)
spherical_bessel_j0 = _unary("spherical_bessel_j0", **_BESSEL)
airy_ai = _unary("airy_ai", **_BESSEL)

_INCOMPLETE = {"library": "/incomplete_gamma"}
gammainc = _row(2, "gammainc", "vx_incomplete_gamma(a, b, false)", **_INCOMPLETE)
gammaincc = _row(2, "gammaincc", "vx_incomplete_gamma(a, b, true)", **_INCOMPLETE)


def _polynomials(name: str, expression: str) -> Formula:
    return _row(2, name, expression, library="/polynomials")


# Of x and the order.
POLYNOMIALS = {
    **{
        f"chebyshev_polynomial_{name}": _polynomials(f"chebyshev {name}", f"vx_chebyshev(a, b, {kind})")
        for kind, name in enumerate("tuvw")
    },
    **{
        f"shifted_chebyshev_polynomial_{name}": _polynomials(
            f"shifted chebyshev {name}", f"vx_shifted_chebyshev(a, b, {kind})"
        )
        for kind, name in enumerate("tuvw")
    },
    "hermite_polynomial_h": _polynomials("hermite h", "vx_hermite(a, b, T(2))"),
    "hermite_polynomial_he": _polynomials("hermite he", "vx_hermite(a, b, T(1))"),
    "laguerre_polynomial_l": _polynomials("laguerre l", "vx_laguerre(a, b)"),
    "legendre_polynomial_p": _polynomials("legendre p", "vx_legendre(a, b)"),
}


_NAMED = {one.name: one for one in _FORMULAS}


@recordable
def apply_special(name: str, *operands: Any) -> VkArray:
    """The function of a name of arrays and numbers. Raises ValueError for another name, and TypeError as rows do."""
    if name not in _NAMED:
        raise ValueError(f"apply_special: expected the name of a special function, got {name!r:.40}.")
    found: VkArray = _NAMED[name](*operands)
    return found


def variants(device: Any) -> Iterator[Shader]:
    """The shaders of all functions on their types, for the archive."""
    yield from variants_of(operations_of(_FORMULAS), device)
