"""The types that reductions and scans keep their states in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core import dtypes
from ..core.array import available, default_dtype
from ..core.dtypes import CATEGORIES, COMPLEX_OF, DTYPES, DType

if TYPE_CHECKING:
    from .launch import Device

# What partial results of a narrow type are kept in: the type that it computes in.
_WIDE = {
    dtypes.int8: dtypes.int32, dtypes.int16: dtypes.int32, dtypes.uint8: dtypes.uint32, dtypes.uint16: dtypes.uint32,
    dtypes.float16: dtypes.float32, dtypes.bfloat16: dtypes.float32,
}  # fmt: skip

# Searches take floating-point numbers of up to 32 bits as integers in the same order (`glsl/lib/order.glsl`): the integers
# of their size, the bits that a word has below them, and infinity as such a word.
KEYS = {
    dtypes.float16: (dtypes.uint16, 16, 0x7C000000),
    dtypes.bfloat16: (dtypes.uint16, 16, 0x7F800000),
    dtypes.float32: (dtypes.uint32, 0, 0x7F800000),
}


def partial_dtype(dtype: DType) -> DType:
    """The type that holds a value of `dtype` between two kernels without rounding."""
    return _WIDE.get(dtype, dtype)


def widened(dtype: DType, device: Device) -> DType:
    """The type of a sum or product: integers narrower than the default integer, and bool, become that wide."""
    default = default_dtype("int", device)
    if dtype.category == "bool":
        return default
    if dtype in CATEGORIES["integer"] and dtype.bits < default.bits:
        return default if dtype.category == "signed integer" else DTYPES[f"u{default.name}"]
    return dtype


def _same(dtype: DType, device: Device) -> tuple[DType, DType]:
    return partial_dtype(dtype), dtype


def _sum(dtype: DType, device: Device) -> tuple[DType, DType]:
    return _same(widened(dtype, device), device)


def _floating(dtype: DType, device: Device) -> tuple[DType, DType]:
    return _same(dtype if dtype in CATEGORIES["floating-point"] else available(dtypes.float64, device), device)


def _pair(dtype: DType, device: Device) -> tuple[DType, DType]:
    result = _floating(dtype, device)[1]
    return COMPLEX_OF[result], result


def _key(dtype: DType) -> DType:
    return dtypes.uint32 if dtype in KEYS else partial_dtype(dtype)


# The types of the state and of the result of a reduction, for the type of its input.
TYPES = {
    "same": _same,
    "sum": _sum,
    "floating": _floating,
    "pair": _pair,
    "moments": lambda dtype, device: (_pair(dtype, device)[0],) * 2,
    "bool": lambda dtype, device: (dtypes.bool_, dtypes.bool_),
    "count": lambda dtype, device: (default_dtype("int", device),) * 2,
    "key": lambda dtype, device: (_key(dtype), dtype),
    "index": lambda dtype, device: (_key(dtype), default_dtype("int", device)),
}
