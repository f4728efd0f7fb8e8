"""Products of matrices in tiles: through shared memory, or in the registers of an invocation, of any types and strides.

Which tile a product takes, and into how many parts its sums are cut, follows from its shapes and the kind and limits of the device
alone, by the tables of `tiles`, and what `vkarray tune` remembered of them (see `tuning`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ... import device_caches
from ...core import dtypes, layout
from ...core.array import VkArray, is_supported
from ...core.dtypes import CATEGORIES, DType
from ...shaders.source import Variant
from .. import launch, tuning
from ..conversion import cast
from ..dispatch import dispatch
from ..reductions import partial_dtype
from . import linked, packs
from .packs import pack_of
from .parts import compute_itemsize, limit_of_first, part_length, pieces, within_reach
from .stacks import Product, Stack, operand_defines, taken_steps
from .sums import in_parts
from .tiles import CPU_TILES, GPU_TILES, STEP_BYTES, Tile, time, way_of_least_time

if TYPE_CHECKING:
    from ..launch import Device
    from ..texels import Binding

_SHORTEST_PART = 64  # products of a part of a sum
_FULL = 0.9  # of the tiles that run side by side: so many fill a device
# Rows and columns from which on 16-bit floating-point matrices are converted first: unpacking such an element takes a
# dozen instructions, and it is read once per tile. No larger than half the smallest tile of matmul_tiled.
_CONVERT_FROM = 16


# -- variants ---------------------------------------------------------------------------------------------------------


@device_caches.cache
def matmul_variant(tile: Tile, source: DType, target: DType, device: Device, as_texels: bool = False) -> Variant:
    """Matrix products of `source` elements, read `as_texels` or not, stored as `target`."""
    (rows, columns), (pack, lanes) = tile.block, pack_of(source)
    if tile.template == "product/matmul_tiled":
        own = {"TILE_M": tile.shape[0], "TILE_N": tile.shape[1], "TILE_K": tile.depth, "BLOCK_M": rows,
               "BLOCK_N": columns, "PACK": pack, "LANES": lanes,
               "PAD": max(1, 16 // (lanes * compute_itemsize(source))), "PEELED": int(tile.peeled)}  # fmt: skip
    else:
        own = {"ROWS": rows, "COLUMNS": columns, "DEPTH": tile.depth}
        if tile in CPU_TILES:
            own["ROLLED"] = 1
        if as_texels:
            own |= {"DEPTH": 16 // source.itemsize, "TEXELS": 1, "TEXEL": f"TEXEL_{source.name}"}
    defines = (*operand_defines(source, target, device), *((name, str(value)) for name, value in own.items()))
    label = f"{tile.label}, {source} to {target}{' (texels)' if as_texels else ''}"
    return Variant(tile.template, defines, label)


def variants(device: Device) -> Iterator[Variant]:
    """Every variant that products of matrices on a device of these features use."""
    for dtype in dtypes.DTYPES.values():
        if dtype in CATEGORIES["numeric"] and is_supported(dtype, device):
            partial = partial_dtype(dtype)
            for target in {dtype, partial}:
                for source in {dtype, partial} if dtype.category == "real floating" else {dtype}:
                    yield from _variants_of(source, target, device)


def _variants_of(source: DType, target: DType, device: Device) -> Iterator[Variant]:
    for tile in {*GPU_TILES, *CPU_TILES}:
        converted = source.bits == 16 and source.category == "real floating" and tile.template == "product/matmul_tiled"
        if tile.takes(compute_itemsize(source)) and not converted:
            yield matmul_variant(tile, source, target, device)
            if tile.template == "product/matmul_blocked" and source.bits >= 32 and source.itemsize <= 8:
                yield matmul_variant(tile, source, target, device, True)


# -- which tile -------------------------------------------------------------------------------------------------------


@tuning.cached
def choose_tile(
    device: Device, shape: tuple[int, ...], k: int, dtype: DType, in_parts: bool = True
) -> tuple[Tile, int]:
    """The row for a result of this shape whose sums have k products, and how many parts these are cut into.

    The row is the one that tuning chose, else the one that should take least time.
    """
    preferred = tuning.choice(device, "product", tuning.shape_class(dtype.name, shape))
    rows = [tile for tile in candidates() if tile.label == preferred and fits(tile, device, shape, dtype)]
    table = CPU_TILES if device.limits.is_cpu else GPU_TILES
    rows = rows or [tile for tile in table if fits(tile, device, shape, dtype)] or [table[-1]]
    tile = min(rows, key=lambda tile: time(tile, shape))
    if device.limits.is_cpu or not in_parts or tile.count(shape) >= _FULL * tile.at_once:
        return tile, 1
    return way_of_least_time(rows, shape, k, _SHORTEST_PART, compute_itemsize(dtype))


def candidates() -> tuple[Tile, ...]:
    """The rows of all tables, which tuning chooses from on any kind of device."""
    return (*GPU_TILES, *CPU_TILES)


def fits(tile: Tile, device: Device, shape: Sequence[int], dtype: DType) -> bool:
    """Whether the device can run a row on this type, and the result is not much smaller than its tile."""
    small = any(size > 2 * length for size, length in zip(tile.shape, shape[-2:], strict=True))
    return not small and runs(tile, device, dtype)


def runs(tile: Tile, device: Device, dtype: DType) -> bool:
    """Whether the device can run a row on this type."""
    itemsize, limits = compute_itemsize(dtype), device.limits
    plain = dtype.category == "real floating" and itemsize == 4
    return (
        tile.takes(itemsize)
        and tile.shared_bytes(itemsize) <= limits.max_shared_memory_size
        # Invocations that share nothing run in workgroups of any size.
        and (tile.template != "product/matmul_tiled" or tile.workgroup_size <= limits.max_workgroup_invocations)
        and tile.step_bytes(itemsize) <= STEP_BYTES[limits.registers][not plain]
    )


# -- the strategy -----------------------------------------------------------------------------------------------------


def choose(product: Product) -> DType:
    """The type that operands of any product are read as: 16-bit ones are converted where they are read often."""
    dtype, shape = product.a._dtype, product.result._shape
    short = dtype.bits == 16 and dtype.category == "real floating" and min(shape[-2:]) >= _CONVERT_FROM
    return dtypes.float32 if short else dtype


def cuts(product: Product, dtype: DType) -> bool:
    """Whether the sums are cut into parts, which a kernel of its own adds up."""
    result = product.broadcast().fold().result
    return choose_tile(result._device, result._shape, product.a._shape[-1], dtype)[1] > 1


def run(product: Product, dtype: DType) -> None:
    """The product of matrices in tiles."""
    a, b = cast(product.a, dtype), cast(product.b, dtype)
    product = product._replace(a=within_reach(a), b=within_reach(b.mT).mT).broadcast().fold()
    a, b, result, _ = product
    device, kind = result._device, result._device.limits.kind
    tile, parts = choose_tile(device, result._shape, a._shape[-1], dtype)
    tiled = tile.template == "product/matmul_tiled"
    if dtype.bits >= 32 and (kind == "cpu" or (tiled and len(result._shape) == 2)):
        a, b = packs.in_packs(a, b, packs.lanes_of(tile, dtype))
    product = product._replace(a=a, b=b)
    for piece, count in pieces(product, tile, parts, tiled):
        k = piece.a._shape[-1]
        part = part_length(k, 1, count, _SHORTEST_PART, piece.a, piece.b, (-1, -2))
        in_parts(piece, -(-k // part), functools.partial(_multiply, tile, part))


def _multiply(tile: Tile, part: int, product: Product, update: tuple[tuple[int, int], ...] = ()) -> None:
    """result[p, ...] = the product over part p of the summed dimension; `update` are constants that make it another."""
    a, b, result, epilogue = product
    device, k = result._device, a._shape[-1]
    (a_m, a_k), (b_k, b_n) = a._strides[-2:], b._strides[-2:]
    m, n = result._shape[-2:]
    outer = a._strides[:-2], b._strides[:-2], result._strides[1:-2], *(x._strides[:-2] for x in epilogue.addends)
    shape, strides = layout.collapse(result._shape[1:-2], outer)
    stack = Stack(product, shape, strides, (part * a_k, part * b_k, result._strides[0]), k, part)
    inner, tiled = ((a_m, 0), (0, b_n), (result._strides[-2], 1)), tile.template == "product/matmul_tiled"
    for slice_ in stack.slices((m, n), inner, limit_of_first(product, part, a_k, b_k)):
        rows, columns = slice_.inner
        r_m = result._strides[-2] if rows > 1 else 0
        constants = update if slice_.inner == (m, n) else update[:1]  # a part has no diagonal of its own
        bound: list[Binding] = []
        if tiled or device.limits.kind == "cpu":
            lanes = packs.lanes_of(tile, a._dtype)
            access = packs.access_constants(slice_, a, b, result, r_m, lanes)
            bound = [] if tiled else packs.texel_bindings(slice_, a, b, access, lanes)
            constants = (*access, *constants) if tiled or bound else constants
        variant = matmul_variant(tile, a._dtype, result._dtype, device, bool(bound))
        kernel = linked.kernel(epilogue, variant, result._dtype, device, tile.workgroup_size, constants)
        steps = (*taken_steps(rows, a_m), *taken_steps(part, a_k, b_k), *taken_steps(columns, b_n), r_m)
        fields = slice_.matrix_fields(rows, columns, *steps)
        tiles = slice_.count * tile.count(slice_.inner)
        groups = launch.groups_for(tiles, device.limits, 1 if tiled else kernel.local_size[0])
        dispatch(kernel, groups, fields, writes=("r",), bindings=bound)


# -- updates of a matrix ----------------------------------------------------------------------------------------------

# Specialization constants of the products' kernels.
_SUBTRACT: tuple[tuple[int, int], ...] = ((6, 1),)
_SUBTRACT_UPPER = (*_SUBTRACT, (7, 1))


def subtract_product(a: VkArray, b: VkArray, target: VkArray, upper: bool = False) -> None:
    """target -= a @ b for arrays of one dtype and shapes (..., m, k), (..., k, n) and (..., m, n), none of them empty.

    The stacks are equal, the elements of a row of `target` lie side by side, and it shares no element with a and b.
    With `upper`, what lies below the diagonal of `target` is left undefined.
    """
    k = a._shape[-1]
    tile, _ = choose_tile(a._device, target._shape, k, a._dtype, in_parts=False)
    part = part_length(k, 1 << 30, 1, k, a, b, (-1, -2))
    whole = target._view((1, *target._shape), (0, *target._strides))
    for first in range(0, k, part):
        length = min(part, k - first)
        a_part = a._view((*a._shape[:-1], length), a._strides, first * a._strides[-1])
        b_part = b._view((*b._shape[:-2], length, b._shape[-1]), b._strides, first * b._strides[-2])
        _multiply(tile, length, Product(a_part, b_part, whole), _SUBTRACT_UPPER if upper else _SUBTRACT)
