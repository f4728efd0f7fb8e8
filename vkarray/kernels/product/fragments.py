"""Large products of 16-bit matrices of which one or both operands are copied into the order of fragments first.

The copy costs a pass over an operand; after it, subgroups load its fragments from memory, without shared memory.
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING

from ...core import layout
from ...core.array import VkArray, empty
from ...core.dtypes import DType
from ...shaders.source import Variant
from .. import launch
from ..dispatch import dispatch, pointer
from . import stacks, tiles

if TYPE_CHECKING:
    from .cooperative import Tile

LANES = 8  # elements of the packs that operands move in
_BEFORE, _BEYOND = 8, 16  # steps before the first and past the last one that are loaded, though nobody needs them
_SHORTEST_PART = 512
_SUBGROUPS = 4  # that copy strips together, and steps that they copy


@functools.cache
def pack_variant(tile: Tile, dtype: DType, of_a: bool) -> Variant:
    """Copies of an operand into the order of the fragments of a row of the table."""
    part, fragment = (side[0 if of_a else 1] for side in (tile.part, tile.fragment))
    sizes = {"PART": part, "FRAGMENT": fragment, "FRAGMENT_K": tile.fragment[2], "SUBGROUP": tile.subgroup}
    flags = (("BFLOAT16", "1"),) * (dtype.name == "bfloat16") + (("OF_A", "1"),) * of_a
    label = f"matmul {dtype} (strips of {part} {'rows of a' if of_a else 'columns of b'})"
    return Variant(
        "product/matmul_cooperative_pack", (*flags, *((name, str(size)) for name, size in sizes.items())), label
    )


def multiply(a: VkArray, b: VkArray, result: VkArray, tile: Tile, variant: Variant, bias: VkArray | None) -> None:
    """result = a @ b + bias for arrays that broadcast to a stack, none of them empty and no stride negative."""
    first, second, folded = stacks.fold(a, b, result)
    reach = launch.index_limit(result._device, a._dtype) // 2
    if all(layout.offset_range(x._shape[-2:], x._strides[-2:])[1] < reach for x in (first, folded)):
        a, b, result = first, second, folded
    for index in itertools.product(*(range(size) for size in result._shape[:-2])):
        first, second, target = (_matrix(x, index) for x in (a, b, result))
        _multiply(first, second, target, tile, variant, bias)


def _matrix(array: VkArray, index: tuple[int, ...]) -> VkArray:
    outer = array._strides[:-2]
    offset = sum(i * step for i, step in zip(index[len(index) - len(outer) :], outer, strict=True))
    return array._view(array._shape[-2:], array._strides[-2:], offset)


def _multiply(a: VkArray, b: VkArray, result: VkArray, tile: Tile, variant: Variant, bias: VkArray | None) -> None:
    steps = -(-a._shape[-1] // tile.depth) * tile.depth // tile.fragment[2]
    b_strips = _strips(b.mT, tile, steps, False)
    for rows, _, piece, busy in stacks.pieces(a, b, result, tile, tile.at_once * tile.invocations):
        parts = busy // (tiles.count(tile.shape, piece._shape) * tile.invocations)
        _multiply_rows(rows, b_strips, steps, piece, parts, tile, variant, bias)


def _multiply_rows(
    a: VkArray, b_strips: VkArray, steps: int, result: VkArray, parts: int, tile: Tile, variant: Variant,
    bias: VkArray | None,
) -> None:  # fmt: skip
    """result = a @ b + bias for some rows of a, with sums cut into so many parts at most."""
    device, (m, k), n = result._device, a._shape, result._shape[-1]
    whole = steps * tile.fragment[2]
    parts = max(1, min(parts, k // _SHORTEST_PART))
    part = -(-whole // (parts * tile.depth)) * tile.depth
    parts = -(-whole // part)
    partial = stacks.partial_array(result, parts) if parts > 1 else result._view((1, m, n), (0, *result._strides))
    if "a" in tile.strips:
        a, a_m, a_k, along_k, k = _strips(a, tile, steps, True), steps, tile.part[0], True, whole
    else:
        along_k = a._strides[0] % LANES == 0 and (a._strides[1] == 1 or k == 1)  # else along m
        a_m, (a_k,) = a._strides[0], stacks.taken_steps(k, a._strides[1])
    part_strides = part * a_k, part * tile.part[1], partial._strides[0]
    stack = stacks.Stack(a, b_strips, partial, (), ((), (), ()), part_strides, k, part)
    r_m = partial._strides[-2]
    for slice_ in stack.slices((), ((), (), ()), launch.index_limit(device, a._dtype) // 2):
        packed = slice_.places[2].is_aligned(16) and not any(stride % LANES for stride in (r_m, *slice_.strides[2]))
        own = bias if slice_.offsets[2] == 0 else None
        flags = (along_k, True, packed, partial._dtype.bits == 32, own is not None)
        kernel = launch.kernel(variant, device, tile.invocations, tuple((i, int(x)) for i, x in enumerate(flags, 1)))
        fields = slice_.matrix_fields(m, n, a_m, a_k, steps, 0, r_m) | {"bias": 0 if own is None else own}
        groups = launch.groups_for(slice_.count * tiles.count(tile.shape, (m, n)), device.limits, 1)
        dispatch(kernel, groups, fields, writes=("r",))
    if parts > 1:
        stacks.sum_partial(partial, result)


def _strips(x: VkArray, tile: Tile, steps: int, of_a: bool) -> VkArray:
    """The rows of a, or columns of b, of a matrix (..., k) in strips of fragments."""
    device, (extent, k), (stride, stride_k) = x._device, x._shape, x._strides
    length, part = (sizes[0 if of_a else 1] for sizes in (tile.shape, tile.part))
    strips = -(-extent // length) * length // part
    strip = part * tile.fragment[2]  # elements of a step
    packed = empty(((_BEFORE + strips * steps + _BEYOND) * strip,), x._dtype, device)
    along_k = stride_k <= stride
    along, across = (stride_k, stride) if along_k else (stride, stride_k)
    whole = along == 1 and across % LANES == 0 and pointer(x).is_aligned(2 * LANES)
    kernel = launch.kernel(
        pack_variant(tile, x._dtype, of_a), device, _SUBGROUPS * tile.subgroup, ((1, int(along_k)), (2, int(whole)))
    )
    fields = {
        "from": x, "to": pointer(packed, _BEFORE * strip), "extent": extent, "k": k, "steps": steps,
        "stride": stride, "stride_k": stride_k,
    }  # fmt: skip
    groups = launch.groups_for(-(-extent // part) * -(-steps // _SUBGROUPS), device.limits, 1)
    dispatch(kernel, groups, fields, writes=("to",))
    return packed
