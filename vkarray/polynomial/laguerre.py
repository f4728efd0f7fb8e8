"""Laguerre series: the functions of their coefficients, which begin with that of degree 0, under NumPy's names."""

from __future__ import annotations

from ..ops.beyond.orthogonal_series import functions
from .families import series_of

_functions = functions("lag")
Laguerre = series_of("lag", "Laguerre", "L", _functions)
globals().update(_functions)

__all__ = ["Laguerre", *_functions]
