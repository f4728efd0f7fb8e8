"""Sums of products on the device: `dot` over stacks of rows, `matmul` over stacks of matrices, of any strides.

Which kernel, tile and split of the summed dimension a product takes follows from its shapes and the kind and limits of
the device alone, by the tables below, and what `vkarray tune` remembered of them (see `tuning`); so the order of
additions, and with it the result, never changes between runs.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...core import dtypes, layout
from ...core.array import VkArray, empty, is_supported
from ...core.dtypes import CATEGORIES, DType
from ...shaders.source import Variant
from .. import launch, tuning
from ..dispatch import dispatch, pointer
from ..reductions import partial_dtype
from ..rows import cast
from . import dot_packs, packs
from .packs import pack_of
from .tiles import CPU_TILES, GPU_TILES, Row, Tile, count, rows_of_whole_waves, time

if TYPE_CHECKING:
    from ..._vk.pointer import Pointer
    from ..launch import Defines, Device
    from ..texels import Binding

# For the kinds of device: invocations with tiles, and with sums of rows, that keep it busy; when there are fewer, the
# summed dimension is cut into parts of at least this many products.
_BUSY_WITH_TILES = {"gpu": 396 * 128, "cpu": 1}
_BUSY_WITH_ROWS = {"gpu": 1 << 18, "cpu": 1 << 10}
_SHORTEST_PART = {"gpu": 256, "cpu": 1024}
_LEFT_PART = 512  # the shortest part of sums of the tiles that are left when others have kept the device busy
_LANES = (256, 32)  # invocations that share a sum on a GPU, where neighbours in memory are neighbours in k
_LONG_ROW = 2048  # from here on a whole workgroup shares a sum
_ALIGNED = 16  # elements
_SHORTEST_REACH = 16  # products that a part always has, whatever it spans
# Rows and columns from which on 16-bit floating-point matrices are converted first: unpacking such an element takes a
# dozen instructions, and it is read once per tile. No larger than half the smallest tile of matmul_tiled.
_CONVERT_FROM = 16
# llvmpipe leaves a loop after 65,535 turns, whatever it still had to do.
_LONGEST_PART = {"gpu": 1 << 30, "cpu": 1 << 15}


def compute_itemsize(dtype: DType) -> int:
    """Bytes of the type computed in (8- and 16-bit types compute in 32 bits)."""
    return max(4, dtype.itemsize)


# -- variants ---------------------------------------------------------------------------------------------------------


@functools.cache
def _defines(source: DType, target: DType, device: Device) -> Defines:
    operands = {"A": source, "B": source, "R": target}
    named = tuple(define for name, dtype in operands.items() for define in launch.operand_defines(name, dtype))
    return named + launch.compute_defines(target) + launch.feature_defines((source, target), device)


@functools.cache
def dot_variant(term: str, source: DType, target: DType, device: Device) -> Variant:
    """Sums of `source` elements, stored as `target`; `term` is one of the GLSL expressions below."""
    return Variant(
        "product/dot", (*_defines(source, target, device), ("NEXT", term)), f"dot {source} to {target}: {term}"
    )


@functools.cache
def matmul_variant(tile: Tile, source: DType, target: DType, device: Device, as_texels: bool = False) -> Variant:
    """Matrix products of `source` elements, read `as_texels` or not, stored as `target`."""
    (rows, columns), (pack, lanes) = tile.block, pack_of(source)
    if tile.template == "product/matmul_tiled":
        own = {"TILE_M": tile.shape[0], "TILE_N": tile.shape[1], "TILE_K": tile.depth, "BLOCK_M": rows,
               "BLOCK_N": columns, "PACK": pack, "LANES": lanes,
               "PAD": max(1, 16 // (lanes * compute_itemsize(source))), "PEELED": int(tile.peeled)}  # fmt: skip
    else:
        own = {"ROWS": rows, "COLUMNS": columns, "DEPTH": tile.depth}
        if as_texels:
            own |= {"DEPTH": 16 // source.itemsize, "TEXELS": 1, "TEXEL": f"TEXEL_{source.name}"}
    defines = (*_defines(source, target, device), *((name, str(value)) for name, value in own.items()))
    label = f"{tile.label}, {source} to {target}{' (texels)' if as_texels else ''}"
    return Variant(tile.template, defines, label)


def variants(device: Device) -> Iterator[Variant]:
    """Every variant that products on a device of this kind and these features use."""
    yield from dot_packs.variants(_defines, (_PRODUCT, _PART), device)
    for dtype in dtypes.DTYPES.values():
        if dtype in CATEGORIES["numeric"] and is_supported(dtype, device):
            partial = partial_dtype(dtype)
            yield dot_variant(_PART, partial, dtype, device)
            for target in {dtype, partial}:
                yield dot_variant(_PRODUCT, dtype, target, device)
                if dtype.category == "complex floating":
                    yield dot_variant(_CONJUGATED, dtype, target, device)
                for source in {dtype, partial} if dtype.category == "real floating" else {dtype}:
                    yield from _matmul_variants(source, target, device)


def _matmul_variants(source: DType, target: DType, device: Device) -> Iterator[Variant]:
    for tile in {*GPU_TILES, *CPU_TILES}:
        converted = source.bits == 16 and source.category == "real floating" and tile.template == "product/matmul_tiled"
        if compute_itemsize(source) <= tile.itemsize and not converted:
            yield matmul_variant(tile, source, target, device)
            if tile.template == "product/matmul_blocked" and source.bits >= 32 and source.itemsize <= 8:
                yield matmul_variant(tile, source, target, device, True)


# What `dot` adds, as GLSL in the sum and in a and b.
_PRODUCT, _CONJUGATED = "vx_multiply_add(a, b, sum)", "vx_multiply_add(vx_conjugated(a), b, sum)"
_PART = "sum + a"


# -- rows -------------------------------------------------------------------------------------------------------------


def dot(a: VkArray, b: VkArray, result: VkArray, conjugate: bool = False) -> VkArray:
    """result[...] = sum over k of a[..., k] * b[..., k], for arrays of one shape and dtype; `conjugate` conjugates a."""
    conjugate = conjugate and a._dtype.category == "complex floating"
    return _sum(_CONJUGATED if conjugate else _PRODUCT, a, b, result)


def _sum(term: str, a: VkArray, b: VkArray, result: VkArray) -> VkArray:
    device, kind = result._device, result._device.limits.kind
    a, b = _within_reach(a), _within_reach(b)
    rows, k = math.prod(result._shape), a._shape[-1]
    if dot_packs.fits(a, b, result):
        shortest = dot_packs.SHORTEST_PART_OF_PARTS if a is b else dot_packs.SHORTEST_PART
        part = part_length(k, rows // dot_packs.LANES, dot_packs.BUSY[kind], shortest, a, b)
        defines = _defines(a._dtype, result._dtype, device)
        run = functools.partial(dot_packs.sum_parts, dot_packs.variant(defines, term, a._dtype, result._dtype), a, b)
    else:
        lanes = _lanes(a, b, device)
        part = part_length(k, rows * lanes, _BUSY_WITH_ROWS[kind], _SHORTEST_PART[kind], a, b)
        run = functools.partial(_sum_parts, term, a, b, lanes)
    if part < k:
        partial = partial_array(result, -(-k // part))
        run(partial, part)
        return sum_partial(partial, result)
    run(result._view((1, *result._shape), (0, *result._strides)), part)
    return result


def _reach(array: VkArray) -> int:
    """How many elements one part may span: half of what indices reach, so that as much is left for rows and columns."""
    return layout.index_limit(compute_itemsize(array._dtype)) // 2


def _limit(a: VkArray, b: VkArray, result: VkArray, part: int, a_k: int, b_k: int) -> int:
    """How many elements the first ones of the rows, columns and parts of a dispatch may span."""
    limit = launch.index_limit(result._device, a._dtype, b._dtype, result._dtype)
    return limit - (part - 1) * max(abs(a_k), abs(b_k))


def _within_reach(array: VkArray) -> VkArray:
    """The array, copied where it is walked backwards, or its last dimension in steps so large that parts would be short."""
    step = max(1, abs(array._strides[-1]))
    too_far = _reach(array) // step < min(array._shape[-1], _SHORTEST_REACH)
    return launch.copy(array) if too_far else launch.forward(array)


def partial_array(result: VkArray, parts: int) -> VkArray:
    """An array for the parts of every element of the result, as its first dimension."""
    return empty((parts, *result._shape), partial_dtype(result._dtype), result._device)


def sum_partial(partial: VkArray, result: VkArray) -> VkArray:
    """result = the sum of the parts."""
    last = partial._view((*partial._shape[1:], partial._shape[0]), (*partial._strides[1:], partial._strides[0]))
    return _sum(_PART, last, last, result)


def _lanes(a: VkArray, b: VkArray, device: Device) -> int:
    """How many invocations share a sum."""
    side_by_side = len(a._shape) > 1 and any(0 < abs(array._strides[-2]) < abs(array._strides[-1]) for array in (a, b))
    return 1 if side_by_side else choose_lanes(device, a._shape[-1])


@tuning.cached
def choose_lanes(device: Device, k: int) -> int:
    """How many invocations share a sum of k products whose factors lie side by side."""
    if k <= _LANES[1]:
        return 1
    preferred = tuning.choice(device, "sum of a row", tuning.length_class(k))
    if preferred in lane_choices(device):
        return int(preferred)
    return 1 if device.limits.is_cpu else min(_LANES[k < _LONG_ROW], launch.invocations_of_group(device.limits))


def lane_choices(device: Device) -> list[str]:
    """The powers of two that a workgroup can be cut into, every second of them."""
    return [str(1 << n) for n in range(0, launch.invocations_of_group(device.limits).bit_length(), 2)]


def part_length(
    k: int, parallel: int, busy: int, shortest: int, a: VkArray, b: VkArray, axes: tuple[int, int] = (-1, -1)
) -> int:
    """Products per part of the summed dimension, given how much runs side by side without parts."""
    parts = max(1, min(-(-busy // max(parallel, 1)), k // shortest))
    stride = max(1, abs(a._strides[axes[0]]), abs(b._strides[axes[1]]))
    longest = min(max(1, min(_reach(a), _reach(b)) // stride), _LONGEST_PART[a._device.limits.kind])
    # Parts that begin at multiples of 16 elements keep the alignment of the whole.
    part = min(-(-k // (parts * _ALIGNED)) * _ALIGNED, longest)
    return min(part if part < 2 * _ALIGNED else part - part % _ALIGNED, k)


def _sum_parts(term: str, a: VkArray, b: VkArray, lanes: int, result: VkArray, part: int) -> None:
    """result[p, ...] = the sum over part p."""
    device, k = result._device, a._shape[-1]
    a_k, b_k = a._strides[-1], b._strides[-1]
    shape, strides = layout.collapse(result._shape[1:], [a._strides[:-1], b._strides[:-1], result._strides[1:]])
    stack = Stack(a, b, result, shape, strides, (part * a_k, part * b_k, result._strides[0]), k, part)
    variant = dot_variant(term, a._dtype, result._dtype, device)
    kernel = launch.kernel(variant, device, launch.WORKGROUP_SIZE, ((1, lanes),))
    steps = taken_steps(part, a_k, b_k)
    for slice_ in stack.slices((), ((), (), ()), _limit(a, b, result, part, a_k, b_k)):
        groups = launch.groups_for(slice_.count * lanes, device.limits, kernel.local_size[0])
        dispatch(kernel, groups, {**slice_.fields, "a_k": steps[0], "b_k": steps[1]}, writes=("r",))


# -- matrices ---------------------------------------------------------------------------------------------------------


def matmul(a: VkArray, b: VkArray, result: VkArray) -> VkArray:
    """result = a @ b for arrays of one dtype and shapes (..., m, k), (..., k, n) and (..., m, n), none of them empty.

    The stacks of a and b broadcast to that of the result, whose rows are contiguous.
    """
    device = result._device
    batch, (m, n), k = result._shape[:-2], result._shape[-2:], a._shape[-1]
    if a._dtype.bits == 16 and a._dtype.category == "real floating" and min(m, n) >= _CONVERT_FROM:
        a, b = cast(a, dtypes.float32), cast(b, dtypes.float32)
    a, b = _within_reach(a), _within_reach(b.mT).mT
    a = a._view((*batch, m, k), layout.broadcast_strides(a._shape, a._strides, (*batch, m, k)))
    b = b._view((*batch, k, n), layout.broadcast_strides(b._shape, b._strides, (*batch, k, n)))
    if n == 1:
        column = b._view((*batch, m, k), (*b._strides[:-2], 0, b._strides[-2]))
        dot(a, column, result._view((*batch, m), result._strides[:-1]))
        return result
    if m == 1:
        row = a._view((*batch, n, k), (*a._strides[:-2], 0, a._strides[-1]))
        dot(b.mT, row, result._view((*batch, n), (*result._strides[:-2], 1)))
        return result
    a, b, folded = fold(a, b, result)
    tile = choose_tile(device, folded._shape, a._dtype)
    moved_in_packs = tile.template == "product/matmul_tiled" or device.limits.kind == "cpu"
    if moved_in_packs and a._dtype.bits >= 32 and len(folded._shape) == 2:
        a, b = packs.in_packs(a, b, packs.lanes_of(tile, a._dtype))
    k, shortest = a._shape[-1], _SHORTEST_PART[device.limits.kind]
    least = _BUSY_WITH_TILES[device.limits.kind]
    for first, second, piece, busy in pieces(a, b, folded, tile, least, tile.template == "product/matmul_tiled"):
        parallel = tile.count(piece._shape) * tile.invocations
        part = part_length(k, parallel, busy, shortest, first, second, (-1, -2))
        if part < k:
            partial = partial_array(piece, -(-k // part))
            _multiply(first, second, partial, tile, part)
            sum_partial(partial, piece)
        else:
            _multiply(first, second, piece._view((1, *piece._shape), (0, *piece._strides)), tile, part)
    return result


def pieces(
    a: VkArray, b: VkArray, result: VkArray, tile: Row, busy: int, divided: bool = True
) -> Iterator[tuple[VkArray, VkArray, VkArray, int]]:
    """The product as pieces, each with the invocations that are to work on its parts.

    There are two where few tiles are left when the device has been full of them: first the rows (of a stack the matrices)
    that fill it, then the others, whose sums are cut into parts so that they fill it as well.
    """
    axis, unit = (-2, tile.shape[0]) if len(result._shape) == 2 else (0, 1)
    length, longest = result._shape[axis], a._shape[-1] // _LEFT_PART
    whole = rows_of_whole_waves(tile, result._shape, axis, unit) if divided and longest > 1 else length
    for first, last in ((0, whole), (whole, length)):
        if first < last:
            piece = _range(result, axis, first, last)
            parallel = count(tile.shape, piece._shape) * tile.invocations
            full = tile.at_once * tile.invocations
            parts = min(full // parallel, longest) if first else min(full, busy) // parallel
            yield _range(a, axis, first, last), b if axis else _range(b, axis, first, last), piece, parts * parallel


def _range(array: VkArray, axis: int, first: int, last: int) -> VkArray:
    """The part of an array from `first` up to `last` along an axis."""
    shape = list(array._shape)
    shape[axis] = last - first
    return array._view(tuple(shape), array._strides, first * array._strides[axis])


# Specialization constants of the products' kernels.
_SUBTRACT: tuple[tuple[int, int], ...] = ((6, 1),)
_SUBTRACT_UPPER = (*_SUBTRACT, (7, 1))


def subtract_product(a: VkArray, b: VkArray, target: VkArray, upper: bool = False) -> None:
    """target -= a @ b for arrays of one dtype and shapes (..., m, k), (..., k, n) and (..., m, n), none of them empty.

    The stacks are equal, the elements of a row of `target` lie side by side, and it shares no element with a and b.
    With `upper`, what lies below the diagonal of `target` is left undefined.
    """
    k = a._shape[-1]
    tile = choose_tile(a._device, target._shape, a._dtype)
    part = part_length(k, 1 << 30, 1, k, a, b, (-1, -2))
    for first in range(0, k, part):
        length = min(part, k - first)
        a_part = a._view((*a._shape[:-1], length), a._strides, first * a._strides[-1])
        b_part = b._view((*b._shape[:-2], length, b._shape[-1]), b._strides, first * b._strides[-2])
        whole = target._view((1, *target._shape), (0, *target._strides))
        _multiply(a_part, b_part, whole, tile, length, _SUBTRACT_UPPER if upper else _SUBTRACT)


def fold(a: VkArray, b: VkArray, result: VkArray) -> tuple[VkArray, VkArray, VkArray]:
    """A stack times one matrix as a single product, where the rows of the stack can be walked as one dimension."""
    if len(result._shape) > 2 and not any(b._strides[:-2]):
        strides = [a._strides[:-1], result._strides[:-1]]
        shape, (a_rows, r_rows) = layout.collapse(result._shape[:-1], strides)
        if len(shape) == 1:
            return (
                a._view((*shape, a._shape[-1]), (*a_rows, a._strides[-1])),
                b._view(b._shape[-2:], b._strides[-2:]),
                result._view((*shape, result._shape[-1]), (*r_rows, 1)),
            )
    return a, b, result


@tuning.cached
def choose_tile(device: Device, shape: tuple[int, ...], dtype: DType) -> Tile:
    """The row for a result of this shape: the one that tuning chose, else the one that should take least time."""
    preferred = tuning.choice(device, "product", tuning.shape_class(dtype.name, shape))
    rows = [tile for tile in candidates() if tile.label == preferred and fits(tile, device, shape, dtype)]
    table = CPU_TILES if device.limits.is_cpu else GPU_TILES
    rows = rows or [tile for tile in table if fits(tile, device, shape, dtype)]
    return min(rows, key=lambda tile: time(tile, shape), default=table[-1])


def candidates() -> tuple[Tile, ...]:
    """The rows of all tables, which tuning chooses from on any kind of device."""
    return (*GPU_TILES, *CPU_TILES)


def fits(tile: Tile, device: Device, shape: Sequence[int], dtype: DType) -> bool:
    """Whether the device can run a row on this type, and the result is not much smaller than its tile."""
    itemsize, limits = compute_itemsize(dtype), device.limits
    return (
        itemsize <= tile.itemsize
        and all(size <= 2 * length for size, length in zip(tile.shape, shape[-2:], strict=True))
        and tile.shared_bytes(itemsize) <= limits.max_shared_memory_size
        and tile.workgroup_size <= limits.max_workgroup_invocations
    )


def _multiply(
    a: VkArray, b: VkArray, result: VkArray, tile: Tile, part: int, update: tuple[tuple[int, int], ...] = ()
) -> None:
    """result[p, ...] = the product over part p of the summed dimension; `update` are constants that make it another."""
    device, k = result._device, a._shape[-1]
    (a_m, a_k), (b_k, b_n) = a._strides[-2:], b._strides[-2:]
    m, n = result._shape[-2:]
    shape, strides = layout.collapse(result._shape[1:-2], [a._strides[:-2], b._strides[:-2], result._strides[1:-2]])
    stack = Stack(a, b, result, shape, strides, (part * a_k, part * b_k, result._strides[0]), k, part)
    inner, tiled = ((a_m, 0), (0, b_n), (result._strides[-2], 1)), tile.template == "product/matmul_tiled"
    for slice_ in stack.slices((m, n), inner, _limit(a, b, result, part, a_k, b_k)):
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
        kernel = launch.kernel(variant, device, tile.workgroup_size, constants)
        steps = (*taken_steps(rows, a_m), *taken_steps(part, a_k, b_k), *taken_steps(columns, b_n), r_m)
        fields = slice_.matrix_fields(rows, columns, *steps)
        tiles = slice_.count * tile.count(slice_.inner)
        groups = launch.groups_for(tiles, device.limits, 1 if tiled else kernel.local_size[0])
        dispatch(kernel, groups, fields, writes=("r",), bindings=bound)


def taken_steps(length: int, *strides: int) -> tuple[int, ...]:
    """The strides along a dimension, zero where it has one element (any stride is allowed there, however large)."""
    return strides if length > 1 else (0,) * len(strides)


# -- stacks -----------------------------------------------------------------------------------------------------------


class Slice(NamedTuple):
    """What one dispatch covers: as much of a stack as 32-bit indices reach; of a, b and the result from `offsets` on, counted
    in elements, which are the `places`."""

    inner: tuple[int, ...]
    sizes: tuple[int, ...]
    strides: list[tuple[int, ...]]
    offsets: list[int]
    places: list[Pointer]
    k: int
    part: int

    @property
    def along_k(self) -> int:
        """A divisor of the lengths of all parts of the summed dimension."""
        return math.gcd(self.k, self.part) if self.part < self.k else self.k

    @property
    def count(self) -> int:  # type: ignore[override]
        return math.prod(self.sizes)

    @property
    def fields(self) -> dict[str, Any]:
        """The arguments that all kernels of stacks have."""
        a, b, result = self.places
        layout_ = [*self.sizes, *(stride for strides in self.strides for stride in strides)]
        return {
            "a": a, "b": b, "r": result, "count": self.count, "k": self.k, "part": self.part,
            "rank": len(self.sizes), "layout_": layout_,
        }  # fmt: skip

    def matrix_fields(self, m: int, n: int, a_m: int, a_k: int, b_k: int, b_n: int, r_m: int) -> dict[str, Any]:
        """The arguments that all kernels of matrix products have: rows, columns, and strides of the operands."""
        return self.fields | {"m": m, "n": n, "a_m": a_m, "a_k": a_k, "b_k": b_k, "b_n": b_n, "r_m": r_m}


class Stack:
    """A stack of products: its dimensions in a, b and the result, and the parts of the summed one as the first of them."""

    def __init__(
        self, a: VkArray, b: VkArray, result: VkArray, shape: layout.Shape, strides: Sequence[layout.Strides],
        part_strides: tuple[int, int, int], k: int, part: int,
    ) -> None:  # fmt: skip
        self.operands, self.k, self.part = (a, b, result), k, part
        self.shape = (-(-k // part), *shape)
        self.strides = [(step, *outer) for outer, step in zip(strides, part_strides, strict=True)]

    def slices(self, inner: tuple[int, ...], inner_strides: Sequence[tuple[int, ...]], limit: int) -> Iterator[Slice]:
        """The slices, with `inner` dimensions (rows and columns of a tile) that are cut as well but not stacked."""
        rank = len(self.shape)
        strides = [(*outer, *own) for outer, own in zip(self.strides, inner_strides, strict=True)]
        which_part = (1, *(0,) * (rank - 1 + len(inner)))
        whole = (*self.shape, *inner)
        for shape, taken, (*offsets, first) in layout.index_slices(whole, [*strides, which_part], limit):
            sizes = shape[:rank]
            own = [outer[:rank] for outer in taken[:-1]]
            places = [pointer(array, offset) for array, offset in zip(self.operands, offsets, strict=True)]
            k = min(self.k - first * self.part, sizes[0] * self.part)
            yield Slice(shape[rank:], sizes, own, offsets, places, k, self.part)
