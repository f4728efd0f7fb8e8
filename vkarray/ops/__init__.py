"""The standard, one file per chapter. Importing this package fills the array's table of operations."""

from __future__ import annotations

from ..core.array import operations
from ..kernels import launch
from ..kernels.rows import ROWS
from . import creation, elementwise, indexing, linear_algebra, ufunc_methods  # noqa: F401 - some fill the table themselves
from .beyond import lexicographic, ndarray, protocols  # noqa: F401 - some fill the table themselves

operations.update(
    {name: getattr(elementwise, name).call for name in ROWS if hasattr(elementwise, name) and name != "clip"}
)
operations.update(clip=elementwise.clip)
operations.update(contiguous=launch.contiguous, copy=creation.copied, in_place=elementwise.in_place)
operations.update({name: getattr(linear_algebra, name) for name in linear_algebra.__all__})

__all__ = ["ROWS", "creation", "elementwise"]
