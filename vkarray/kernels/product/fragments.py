"""Large products of 16-bit matrices of which one or both operands are copied into the order of fragments first.

The copy costs a pass over an operand; after it, subgroups load its fragments from memory, without shared memory.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...core import layout
from ...core.array import VkArray, empty
from ...core.dtypes import DType
from ...shaders.source import Variant
from .. import launch
from ..dispatch import dispatch, pointer
from . import tiles
from .parts import pieces
from .stacks import Product, Stack, taken_steps
from .sums import in_parts

if TYPE_CHECKING:
    from ..launch import Kernel
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


def multiply(product: Product, tile: Tile, kernel_of: Callable[..., Kernel]) -> None:
    """A product of operands that broadcast to a stack, none of whose strides is negative; `kernel_of` is that of `cooperative`."""
    folded = product.fold()
    reach = launch.index_limit(product.result._device, product.a._dtype) // 2
    if all(layout.offset_range(x._shape[-2:], x._strides[-2:])[1] < reach for x in (folded.a, folded.result)):
        product = folded
    a, b, result, epilogue = product
    for index in itertools.product(*(range(size) for size in result._shape[:-2])):
        matrix = functools.partial(_matrix, index)
        _multiply(Product(matrix(a), matrix(b), matrix(result), epilogue.seen(matrix)), tile, kernel_of)


def _matrix(index: tuple[int, ...], array: VkArray) -> VkArray:
    outer = array._strides[:-2]
    offset = sum(i * step for i, step in zip(index[len(index) - len(outer) :], outer, strict=True))
    return array._view(array._shape[-2:], array._strides[-2:], offset)


def _multiply(product: Product, tile: Tile, kernel_of: Callable[..., Kernel]) -> None:
    k = product.a._shape[-1]
    steps = -(-k // tile.depth) * tile.depth // tile.fragment[2]
    whole = steps * tile.fragment[2]
    b_strips = _strips(product.b.mT, tile, steps, False)
    for piece, parts in pieces(product, tile, tile.at_once // tiles.count(tile.shape, product.result._shape)):
        parts = max(1, min(parts, k // _SHORTEST_PART))
        part = -(-whole // (parts * tile.depth)) * tile.depth
        a = _strips(piece.a, tile, steps, True) if "a" in tile.strips else piece.a
        run = functools.partial(_multiply_rows, tile, kernel_of, steps, part, k)
        in_parts(piece._replace(a=a, b=b_strips), -(-whole // part), run)


def _multiply_rows(
    tile: Tile, kernel_of: Callable[..., Kernel], steps: int, part: int, k: int, product: Product
) -> None:  # fmt: skip
    """result[p, ...] = the product over part p of the summed dimension, of some rows of a and strips of b."""
    a, _, result, _ = product
    device, (m, n) = result._device, result._shape[-2:]
    if "a" in tile.strips:
        a_m, a_k, along_k, k = steps, tile.part[0], True, steps * tile.fragment[2]
    else:
        along_k = a._strides[0] % LANES == 0 and (a._strides[1] == 1 or k == 1)  # else along m
        a_m, (a_k,) = a._strides[0], taken_steps(k, a._strides[1])
    part_strides = part * a_k, part * tile.part[1], result._strides[0]
    outer = [()] * (3 + len(product.epilogue.addends))
    for slice_ in Stack(product, (), outer, part_strides, k, part).slices(
        (), ((), (), ()), launch.index_limit(device, a._dtype) // 2
    ):
        kernel = kernel_of(product, tile, (along_k, True), slice_)
        groups = launch.groups_for(slice_.count * tiles.count(tile.shape, (m, n)), device.limits, 1)
        dispatch(kernel, groups, slice_.matrix_fields(m, n, a_m, a_k, steps, 0, result._strides[-2]), writes=("r",))


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
        pack_variant(tile, x._dtype, of_a), device, _SUBGROUPS * tile.subgroup, ((1, int(along_k)), (2, int(whole))),
        tile.subgroup,
    )  # fmt: skip
    fields = {
        "from": x, "to": pointer(packed, _BEFORE * strip), "extent": extent, "k": k, "steps": steps,
        "stride": stride, "stride_k": stride_k,
    }  # fmt: skip
    groups = launch.groups_for(-(-extent // part) * -(-steps // _SUBGROUPS), device.limits, 1)
    dispatch(kernel, groups, fields, writes=("to",))
    return packed
