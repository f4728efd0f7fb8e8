"""The standard, one file per chapter. Importing this package fills the array's table of operations."""

from __future__ import annotations

from ..array import operations
from . import creation, elementwise, indexing, launch, linear_algebra, ndarray  # noqa: F401 - some fill the table themselves
from .rows import ROWS

operations.update({name: getattr(elementwise, name) for name in ROWS if hasattr(elementwise, name)})
operations.update(contiguous=launch.contiguous, copy=launch.copy, in_place=elementwise.in_place)
operations.update({name: getattr(linear_algebra, name) for name in linear_algebra.__all__})

__all__ = ["ROWS", "creation", "elementwise"]
