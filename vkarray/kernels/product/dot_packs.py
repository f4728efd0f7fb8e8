"""Sums of rows that lie side by side, several rows to an invocation: vector-matrix products, and parts of sums.

`product` asks `fits` whether operands lie so, and then runs `sum_parts` in place of its own kernel.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...core import dtypes, layout
from ...core.array import VkArray
from ...core.dtypes import DType
from ...shaders.source import Variant
from .. import launch
from ..dispatch import dispatch, pointer
from . import linked
from .stacks import Product, operand_defines

if TYPE_CHECKING:
    from ..launch import Device

LANES = 4  # rows of an invocation
# Invocations that keep a device of each kind busy, none where the kernel does not pay, and the products of a part at least:
# more where none are multiplied, as parts of sums are few and should not be cut into parts again.
BUSY = {"gpu": 1 << 17, "cpu": 0}
SHORTEST_PART = 32
SHORTEST_PART_OF_PARTS = 512
_FEW = 1 << 14  # packs below which invocations share a sum, and how many of them do
_SHARED_BY = 8
_TYPES = {dtypes.float32: "vec4", dtypes.int32: "ivec4", dtypes.uint32: "uvec4"}
_AT_ONCE = (2, 16)  # loads of an invocation: the fewest and the most
_HAS_B, _GROUPS, _LOADS = 1, 2, 3  # the specialization constants


def targets(source: DType) -> tuple[DType, ...]:
    """The types that sums of `source` are stored as, where rows of it can be added in packs."""
    return (
        (source, dtypes.float16, dtypes.bfloat16) if source is dtypes.float32 else (source,) if source in _TYPES else ()
    )


def variant(term: str, source: DType, target: DType, device: Device) -> Variant:
    """Sums of `source` elements, stored as `target`; `term` is as in `sums`."""
    defines = operand_defines(source, target, device)
    own = (("PACK", _TYPES[source]), ("LANES", str(LANES)), ("NEXT", term))
    packed = (("R_PACKED", "1"),) if target is source else (("R_BITS", f"BITS_{target.name}"),)
    return Variant("product/dot_packs", (*defines, *own, *packed), f"dot in packs {source} to {target}: {term}")


def fits(a: VkArray, b: VkArray, result: VkArray) -> bool:
    """Whether the rows of a lie side by side in packs, in the order of the result, and b is one row for all or is a."""
    if not BUSY[a._device.limits.kind] or result._dtype not in targets(a._dtype) or not result._shape:
        return False
    shape, (rows, of_b, of_r) = layout.collapse(result._shape, [a._strides[:-1], b._strides[:-1], result._strides])
    step = a._strides[-1]
    return (
        len(shape) == 1 and shape[0] % LANES == 0 and rows[0] == of_r[0] == 1 and (of_b[0] == 0 or a is b)
        and step >= 0 and step % LANES == 0 and pointer(a).is_aligned(16) and pointer(result).is_aligned(16)
        and (a._shape[-1] - 1) * step + shape[0] <= launch.index_limit(a._device, a._dtype)
        and (b._shape[-1] - 1) * abs(b._strides[-1]) <= launch.index_limit(a._device, a._dtype)
    )  # fmt: skip


def sum_parts(term: str, part: int, product: Product) -> None:
    """result[p, ...] = the sum over part p, for operands that fit and a contiguous result."""
    a, b, result, epilogue = product
    device, addends = result._device, epilogue.addends
    count, packs = math.prod(result._shape) // LANES, math.prod(result._shape[1:]) // LANES
    shared_by = _SHARED_BY if count < _FEW and part >= 2 * _SHARED_BY else 1
    loads = min(max(1 << (part - 1).bit_length(), _AT_ONCE[0]), _AT_ONCE[1])
    constants = (_HAS_B, int(a is not b)), (_GROUPS, shared_by), (_LOADS, loads)
    kind = variant(term, a._dtype, result._dtype, device)
    kernel = linked.kernel(epilogue, kind, result._dtype, device, launch.WORKGROUP_SIZE, constants)
    sizes, strides = layout.collapse(result._shape[1:], [x._strides for x in addends]) if addends else ((), [])
    of_operands = (0,) * 3 * len(sizes)
    fields = {
        "a": a, "b": b, "r": result, **epilogue.fields(), "count": count, "packs": packs, "k": a._shape[-1], "part": part,
        "a_k": a._strides[-1] // LANES, "b_k": b._strides[-1], "rank": len(sizes),
        "layout_": [*sizes, *of_operands, *(step for steps in strides for step in steps)],
    }  # fmt: skip
    groups = launch.groups_for(count * shared_by, device.limits, kernel.local_size[0])
    dispatch(kernel, groups, fields, writes=("r",))


def variants(terms: tuple[str, str], device: Device) -> Iterator[Variant]:
    """Every variant that sums on a device use: products keep their type, parts of sums may be stored as another."""
    product, part = terms
    for source in _TYPES:
        yield variant(product, source, source, device)
        for target in targets(source):
            yield variant(part, source, target, device)
