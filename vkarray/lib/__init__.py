"""NumPy's `lib`: `scimath` and `stride_tricks`."""

from __future__ import annotations

from . import scimath as scimath
from . import stride_tricks as stride_tricks
