"""Polynomials as NumPy's `numpy.polynomial` has them: series whose coefficient of the lowest degree comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy
from . import polynomial
from .series import Polynomial

if TYPE_CHECKING:
    from . import (
        chebyshev as chebyshev,
    )
    from . import (
        hermite as hermite,
    )
    from . import (
        hermite_e as hermite_e,
    )
    from . import (
        laguerre as laguerre,
    )
    from . import (
        legendre as legendre,
    )
    from .chebyshev import Chebyshev as Chebyshev
    from .hermite import Hermite as Hermite
    from .hermite_e import HermiteE as HermiteE
    from .laguerre import Laguerre as Laguerre
    from .legendre import Legendre as Legendre

__all__ = ["Polynomial", "polynomial"]

# Families of orthogonal polynomials.
_HOME = {
    "Chebyshev": "chebyshev", "Hermite": "hermite", "HermiteE": "hermite_e", "Laguerre": "laguerre", "Legendre": "legendre",
    "chebyshev": "chebyshev", "hermite": "hermite", "hermite_e": "hermite_e", "laguerre": "laguerre", "legendre": "legendre",
}  # fmt: skip

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__, _HOME)
