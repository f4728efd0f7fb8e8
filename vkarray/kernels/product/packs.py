"""Matrices in packs of 16 bytes: how products read them, as texels on CPU drivers, and copies of those that do not lie so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...core import layout
from ...core.array import VkArray, empty
from ...core.dtypes import DType
from .. import launch, texels
from ..dispatch import pointer

if TYPE_CHECKING:
    from ..._vk.pointer import Pointer
    from ..texels import Binding
    from .stacks import Slice
    from .tiles import Tile

# Packs of 16 bytes of the types computed in. 8-byte types move one by one: as dvec2 they took 30 times as long on NVIDIA,
# and as uvec4 they are no faster.
_PACKS = {"float": ("vec4", 4), "int": ("ivec4", 4), "uint": ("uvec4", 4)}
_COMPUTE_TYPES = {
    "signed integer": ("int", "int64_t"), "unsigned integer": ("uint", "uint64_t"),
    "real floating": ("float", "double"), "complex floating": ("vec2", "dvec2"),
}  # fmt: skip

# Rows and columns of the result, and products of a sum, from which on copies cost less than moving elements one by one. On a CPU
# driver products of texels take a fifth of the time or less.
_LEAST = {"gpu": (1024, 1024, 512), "cpu": (16, 16, 16)}
# Rows of the result from which on a copy costs less than reading b along k, in pieces of lines of the cache.
_TURN_FROM = 4096
_FEW_PRODUCTS = 1 << 18  # products, below which it does not pay to read texels, which takes a descriptor set


def pack_of(dtype: DType) -> tuple[str, int]:
    """The GLSL type of what tiles are moved in, and how many elements it has."""
    compute = _COMPUTE_TYPES[dtype.category][dtype.bits == 64]
    return _PACKS.get(compute, (compute, 1))


def lanes_of(tile: Tile, dtype: DType) -> int:
    """Elements of the packs in which a row of the tables moves elements: matmul_blocked does so in texels."""
    return pack_of(dtype)[1] if tile.template == "product/matmul_tiled" else 16 // dtype.itemsize


def access_constants(
    slice_: Slice, a: VkArray, b: VkArray, result: VkArray, r_m: int, lanes: int
) -> tuple[tuple[int, int], ...]:  # fmt: skip
    """The specialization constants of matmul_tiled for these layouts, and of matmul_blocked for texels."""
    (a_m, a_k), (b_k, b_n) = a._strides[-2:], b._strides[-2:]
    a_along_k, b_along_k = abs(a_k) <= abs(a_m), abs(b_k) < abs(b_n)
    columns = slice_.inner[1]
    # The stride along which elements are moved, the one across, and the length that is to be of whole packs: what is
    # read past the last row or column is not stored, and lies in the same 16 bytes.
    along = [
        (a_k, a_m, slice_.along_k) if a_along_k else (a_m, a_k, 0),
        (b_k, b_n, slice_.along_k) if b_along_k else (b_n, b_k, 0),
        (1, r_m, columns),
    ]
    packed = [
        _packable(array, place, length, step, (other, *strides), lanes)
        for array, place, (step, other, length), strides in zip(
            (a, b, result), slice_.places[:3], along, slice_.strides[:3], strict=True
        )
    ]
    values = (a_along_k, packed[0], b_along_k, packed[1], packed[2])
    return tuple((number, int(value)) for number, value in enumerate(values, 1))


def texel_bindings(
    slice_: Slice, a: VkArray, b: VkArray, access: tuple[tuple[int, int], ...], lanes: int
) -> list[Binding]:  # fmt: skip
    """The bindings by which matmul_blocked reads a and b as texels; none where they do not lie so."""
    few = slice_.count * math.prod(slice_.inner) * slice_.k < _FEW_PRODUCTS
    if few or not (access[1][1] and access[3][1]) or slice_.along_k % lanes:
        return []
    made = []
    operands = (0, a, slice_.inner[0], a._strides[-2:]), (1, b, slice_.inner[1], b._strides[:-3:-1])
    for number, array, length, steps in operands:
        shape = (*slice_.sizes[1:], length, slice_.k)
        span = layout.offset_range(shape, (*slice_.strides[number][1:], *steps))[1] + 1
        bound = texels.binding(array, number, slice_.offsets[number], span, 0)
        if bound is None:
            return []
        made.append(bound)
    return made


def _packable(array: VkArray, place: Pointer, length: int, step: int, others: Sequence[int], lanes: int) -> bool:
    """Whether packs can be moved whole: side by side, aligned, and stored in the compute type."""
    return (
        lanes > 1 and array._dtype.bits >= 32 and step == 1 and place.is_aligned(16) and length % lanes == 0
        and all(stride >= 0 and stride % lanes == 0 for stride in others)
    )  # fmt: skip


def in_packs(a: VkArray, b: VkArray, lanes: int) -> tuple[VkArray, VkArray]:
    """Matrices a (..., m, k) and b (..., k, n) with the same product, in packs of `lanes` elements where that pays.

    Where k is no multiple of `lanes`, both are longer by zeros along it. Copies lie row by row of k, which is read fastest.
    """
    (*stack, m, k), n = a._shape, b._shape[-1]
    least = _LEAST[a._device.limits.kind]
    few = math.prod(stack) * m * n * k < _FEW_PRODUCTS
    if few or lanes == 1 or any(length < limit for length, limit in zip((m, n, k), least, strict=True)):
        return a, b
    whole = -(-k // lanes) * lanes
    along_k = whole == k and _lies_in_packs(a, lanes), whole == k and _lies_in_packs(b.mT, lanes) and m < _TURN_FROM
    return a if along_k[0] else _packed(a.mT, whole, lanes).mT, b if along_k[1] else _packed(b, whole, lanes)


def _lies_in_packs(x: VkArray, lanes: int) -> bool:
    *across, along = x._strides
    return along == 1 and all(stride >= 0 and stride % lanes == 0 for stride in across) and pointer(x).is_aligned(16)


def _packed(x: VkArray, whole: int, lanes: int) -> VkArray:
    """The matrices with `whole` rows, those that they have not zero; copied unless they lie in packs as they are."""
    *stack, rows, columns = x._shape
    if rows == whole and _lies_in_packs(x, lanes):
        return x
    row = -(-columns // lanes) * lanes
    once = [size if stride else 1 for size, stride in zip(stack, x._strides, strict=False)]  # what a stack repeats
    made = empty((*once, whole, row), x._dtype, x._device)
    strides = made._strides
    operation = launch.copy_operation(x._dtype)
    copied = (*once, rows, columns)
    launch.elementwise(operation, (x._view(copied, x._strides),), made._view(copied, strides))
    if rows < whole:
        zeros = made._view((*once, whole - rows, row), strides, rows * row)
        launch.elementwise(operation, (launch.scalar(0, x._dtype, x._device),), zeros)
    repeated = [stride if size > 1 else 0 for size, stride in zip(once, strides, strict=False)]
    return made._view((*stack, whole, columns), (*repeated, *strides[-2:]))
