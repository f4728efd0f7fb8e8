"""Hermite series: the functions of their coefficients, which begin with that of degree 0, under NumPy's names."""

from __future__ import annotations

from ..ops.beyond.orthogonal_series import functions
from .families import series_of

_functions = functions("herm")
Hermite = series_of("herm", "Hermite", "H", _functions)
globals().update(_functions)

__all__ = ["Hermite", *_functions]
