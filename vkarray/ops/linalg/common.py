"""What every factorisation does with its operands: checks, conversion, and the working copy of a stack of matrices."""

from __future__ import annotations

import math
from typing import Any

from ... import dtypes
from ...array import VkArray, check_supported
from ...dtypes import CATEGORIES
from .. import launch
from ..rows import cast, check_operands


def matrices(name: str, x: Any, *, square: bool = False) -> VkArray:
    """x in the type to compute in: its own, or float64 for integers and bool, as in NumPy.

    Raises TypeError unless x is an array, and for the 16-bit floating-point types, ValueError for fewer than 2 dimensions
    and, with `square`, for other matrices, FeatureError where the device lacks the type.
    """
    check_operands(name, (x,))
    if type(x) is not VkArray:
        raise TypeError(f"{name}: expected a vkarray array, got the scalar {x!r}. Convert it with vkarray.asarray.")
    if x.ndim < 2:
        raise ValueError(f"{name}: expected a matrix or a stack of matrices, shape (..., M, N); got shape {x._shape}.")
    if square and x._shape[-1] != x._shape[-2]:
        raise ValueError(f"{name}: expected square matrices, shape (..., N, N); got shape {x._shape}.")
    dtype = dtypes.float64 if x._dtype in CATEGORIES["integer or boolean"] else x._dtype
    if dtype.bits == 16:
        raise TypeError(
            f"{name}: {dtype} is too short for factorisations. Convert it: vkarray.astype(x, vkarray.float32)."
        )
    check_supported(dtype, x._device, name)
    return cast(x, dtype)


def working_copy(x: VkArray) -> VkArray:
    """A contiguous copy of x of shape (batch, M, N), to be overwritten."""
    copied = launch.copy(x)
    shape = (math.prod(x._shape[:-2]), *x._shape[-2:])
    return copied._view(shape, (shape[1] * shape[2], shape[2], 1))
