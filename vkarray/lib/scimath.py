"""Functions that leave the real numbers where an argument is outside their real domain, as NumPy's `emath`.

Each reads whether there is such an argument. Others are as the functions of their names.
"""

from __future__ import annotations

from ..ops.beyond.scimath import arccos, arcsin, arctanh, log, log2, log10, logn, power, sqrt

__all__ = ["arccos", "arcsin", "arctanh", "log", "log2", "log10", "logn", "power", "sqrt"]
