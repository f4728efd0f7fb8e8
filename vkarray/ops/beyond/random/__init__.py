"""Random numbers: `Generator`, a counter-based generator whose numbers are the same bits on every device."""

from __future__ import annotations

from .generator import Generator, variants

__all__ = ["Generator", "variants"]
