"""NumPy's `lib`: `stride_tricks`."""

from __future__ import annotations

from . import stride_tricks as stride_tricks
