"""The types that reductions and scans keep their states in."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

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


class Key(NamedTuple):
    """How a floating-point type is searched: as integers in the same order (`glsl/lib/order.glsl`)."""

    read: DType  # the integers of its size
    state: DType  # what they are compared as
    below: int  # the bits that these have below them
    infinity: str  # infinity as such an integer


KEYS = {
    dtypes.float16: Key(dtypes.uint16, dtypes.uint32, 16, "0x7C000000u"),
    dtypes.bfloat16: Key(dtypes.uint16, dtypes.uint32, 16, "0x7F800000u"),
    dtypes.float32: Key(dtypes.uint32, dtypes.uint32, 0, "0x7F800000u"),
    dtypes.float64: Key(dtypes.uint64, dtypes.uint64, 0, "packUint2x32(uvec2(0u, 0x7FF00000u))"),
}


def key_of(dtype: DType, state: DType) -> Key | None:
    """How `dtype` is searched where states are of this type, if by keys."""
    key = KEYS.get(dtype)
    return key if key is not None and key.state is state else None


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


def _key(dtype: DType, device: Device) -> DType:
    """Devices without 64-bit integers compare float64 itself."""
    key = KEYS.get(dtype)
    has = key is not None and (key.state.bits == 32 or "shaderInt64" in device.features)
    return key.state if key is not None and has else partial_dtype(dtype)


# The types of the state and of the result of a reduction, for the type of its input.
TYPES = {
    "same": _same,
    "sum": _sum,
    "floating": _floating,
    "pair": _pair,
    "moments": lambda dtype, device: (_pair(dtype, device)[0],) * 2,
    "bool": lambda dtype, device: (dtypes.bool_, dtypes.bool_),
    "count": lambda dtype, device: (default_dtype("int", device),) * 2,
    "key": lambda dtype, device: (_key(dtype, device), dtype),
    "index": lambda dtype, device: (_key(dtype, device), default_dtype("int", device)),
}
