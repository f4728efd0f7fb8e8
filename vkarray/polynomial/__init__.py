"""Polynomials as NumPy's `numpy.polynomial` has them: power series, the coefficient of the lowest power first."""

from __future__ import annotations

from . import polynomial
from .series import Polynomial

__all__ = ["Polynomial", "polynomial"]
