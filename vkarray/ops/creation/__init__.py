"""Creation functions of the standard."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.array import operations
from ...core.dtypes import CATEGORIES, DType
from ...kernels.launch import Operation, as_device
from .from_shape import as_shape, empty, empty_like, eye, filled, full, full_like, ones, ones_like, zeros, zeros_like
from .from_values import array, asarray, copied, first_leaf, to_device
from .ranges import arange, arithmetic_progression, linspace, meshgrid, progression
from .triangles import triangle, tril, triu

__all__ = [
    "arange",
    "arithmetic_progression",
    "array",
    "as_shape",
    "asarray",
    "copied",
    "empty",
    "empty_like",
    "eye",
    "filled",
    "first_leaf",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "to_device",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]


def operations_of(dtype: DType) -> Iterator[Operation]:
    """The operations of this chapter on a type, for the catalogue of shaders."""
    if dtype in CATEGORIES["numeric"]:
        yield progression(dtype)
    yield from (triangle(dtype, upper) for upper in (False, True))


DType.make = staticmethod(asarray)
operations.update(as_device=as_device, asarray=asarray, full=full, to_device=to_device, zeros=zeros)
