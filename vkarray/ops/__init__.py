"""The standard, one file per chapter. Importing this package fills the array's table of operations."""

from __future__ import annotations

from ..array import operations
from . import creation, elementwise, indexing, launch
from .rows import ROWS

operations.update({name: getattr(elementwise, name) for name in ROWS if hasattr(elementwise, name)})
operations.update(contiguous=launch.contiguous, copy=launch.copy, in_place=elementwise.in_place)

__all__ = ["ROWS", "creation", "elementwise"]
