"""Functions of the coefficients of power series."""

from __future__ import annotations

from ..ops.beyond.power_series import (
    polyadd,
    polycompanion,
    polyder,
    polydiv,
    polyfit,
    polyfromroots,
    polygrid2d,
    polygrid3d,
    polyint,
    polyline,
    polymul,
    polymulx,
    polypow,
    polyroots,
    polysub,
    polytrim,
    polyval,
    polyval2d,
    polyval3d,
    polyvalfromroots,
    polyvander,
    polyvander2d,
    polyvander3d,
)
from .series import Polynomial

__all__ = [
    "Polynomial", "polyadd", "polycompanion", "polyder", "polydiv", "polyfit", "polyfromroots", "polygrid2d", "polygrid3d",
    "polyint", "polyline", "polymul", "polymulx", "polypow", "polyroots", "polysub", "polytrim", "polyval", "polyval2d",
    "polyval3d", "polyvalfromroots", "polyvander", "polyvander2d", "polyvander3d",
]  # fmt: skip
