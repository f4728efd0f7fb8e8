"""NumPy's `lib`: `mixins`, `scimath` and `stride_tricks`."""

from __future__ import annotations

from ..lazy import lazy
from . import scimath as scimath
from . import stride_tricks as stride_tricks

__getattr__ = lazy(__name__, {"mixins": "mixins"})
