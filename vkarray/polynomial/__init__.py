"""Polynomials as NumPy's `numpy.polynomial` has them: series whose coefficient of the lowest degree comes first."""

from __future__ import annotations

import importlib
from typing import Any

from . import polynomial
from .series import Polynomial

__all__ = ["Polynomial", "polynomial"]

# Families of orthogonal polynomials, whose modules are imported when they are asked for.
_FAMILIES = {
    "Chebyshev": "chebyshev",
    "Legendre": "legendre",
    "Hermite": "hermite",
    "HermiteE": "hermite_e",
    "Laguerre": "laguerre",
}


def __getattr__(name: str) -> Any:
    module = _FAMILIES.get(name, name)
    if module not in _FAMILIES.values():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = importlib.import_module(f".{module}", __name__)
    return found if module == name else getattr(found, name)
