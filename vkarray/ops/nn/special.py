"""Special functions, element by element: rows without a public function, as those of `pointwise`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...shaders import Variant
from .pointwise import Formula, operations_of, variants_of

_FORMULAS: list[Formula] = []


def _row(operands: int, name: str, expression: str, **options: Any) -> Formula:
    row = Formula(name, operands, "real floating", expression, "", "/special", **options)
    _FORMULAS.append(row)
    return row


def _unary(name: str, expression: str = "") -> Formula:
    return _row(1, name, expression or f"vx_{name}(a)")


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


def variants(device: Any) -> Iterator[Variant]:
    """The shaders of all functions on their types, for the archive."""
    yield from variants_of(operations_of(_FORMULAS), device)
