"""Arrays made of what is there: copies, checked ones, and the identity."""

from __future__ import annotations

from typing import Any

from ...core.array import ArrayLike, VkArray
from ...core.dtypes import CATEGORIES
from .. import creation
from ..elementwise import isfinite, logical_not
from ..utility import refuse_where


def copy(a: ArrayLike, order: str = "K", subok: bool = False) -> VkArray:
    """A copy of an array, in new memory. Parameters: a; order and subok change nothing. Raises as `asarray` does."""
    return creation.asarray(a, order=order, copy=True)


def asarray_chkfinite(a: Any, dtype: Any = None, order: str | None = None) -> VkArray:
    """An array as `asarray` makes it. Raises ValueError where an element is an infinity or NaN."""
    x = creation.asarray(a, dtype, order)
    if x.dtype in CATEGORIES["floating-point"]:
        refuse_where(ValueError, "asarray_chkfinite: array must not contain infs or NaNs.", logical_not(isfinite(x)))
    return x


def identity(n: int, dtype: Any = None, *, like: Any = None) -> VkArray:
    """The square matrix of n rows with ones on the diagonal and zeros elsewhere. Raises as `eye` does."""
    return creation.eye(n, dtype=dtype)
