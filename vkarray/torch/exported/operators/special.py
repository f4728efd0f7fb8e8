"""Special functions, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import vkarray as vx

from ....nn import special
from ..table import RESULT, row

_SAME = "i0e i1 i1e zeta erfcx log_ndtr ndtri entr bessel_j0 bessel_j1 bessel_y0 bessel_y1 spherical_bessel_j0 airy_ai"
_MODIFIED = {"bessel_i0": "i0", "bessel_i1": "i1", "bessel_k0": "k0", "bessel_k1": "k1"}
_NAMES = {
    "lgamma": "lgamma", "digamma": "digamma", "igamma": "gammainc", "igammac": "gammaincc",
    **{f"special_{name}": name for name in _SAME.split()},
    **{f"special_modified_{name}": own for name, own in _MODIFIED.items()},
    **{f"special_scaled_modified_{name}": f"{own}e" for name, own in _MODIFIED.items() if own.startswith("k")},
    **{f"special_{name}": formula.name for name, formula in special.POLYNOMIALS.items()},
}  # fmt: skip


def _applied(name: str) -> Callable[..., Any]:
    def apply(call: Any, *operands: Any) -> Any:
        arrays = [one if call.is_array(one) else vx.full((), one, dtype=call.dtype) for one in operands]
        return special.apply_special(name, *arrays)

    return apply


for _operator, _name in _NAMES.items():
    # Of two operands PyTorch takes one that is a number as well.
    row(_operator, f"{_operator}.x_scalar", f"{_operator}.n_scalar", promotes=RESULT)(_applied(_name))
    row(f"{_operator}.self_scalar", f"{_operator}.other_scalar", promotes=RESULT)(_applied(_name))


@row("polygamma", promotes=RESULT)
def _polygamma(call: Any, n: int, x: Any) -> Any:
    if n == 0:
        return special.apply_special("digamma", x)
    return special.apply_special("polygamma", vx.full((), n, dtype=call.dtype), x)
