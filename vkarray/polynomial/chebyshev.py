"""Chebyshev series: the functions of their coefficients, which begin with that of degree 0, under NumPy's names."""

from __future__ import annotations

from ..ops.beyond.orthogonal_series import CHEBYSHEV, chebinterpolate, chebpts1, chebpts2
from .families import series_of

_functions = CHEBYSHEV
Chebyshev = series_of("cheb", "Chebyshev", "T", _functions)
globals().update(_functions)

__all__ = ["Chebyshev", "chebinterpolate", "chebpts1", "chebpts2", *_functions]
