"""Products of float16 and bfloat16 matrices by cooperative matrices: fragments that a subgroup multiplies as one.

The products of elements are exact and their sums are float32; each result is rounded once. Which tile a product takes,
and into how many parts its sums are cut, follows from its shapes and the limits of the device alone. Products that are
too small, and those on devices without such fragments, are left to other strategies.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ...core import layout
from ...core.array import VkArray, empty
from ...core.dtypes import DTYPES, DType
from ...shaders.source import Variant
from .. import launch, tuning
from ..dispatch import dispatch, pointer
from . import fragments, linked, tiles
from .epilogue import NOTHING, Epilogue
from .fragments import LANES
from .parts import part_length, pieces
from .stacks import Product, Slice, Stack, taken_steps
from .sums import in_parts

if TYPE_CHECKING:
    from ..launch import Device, Kernel

FAMILY = "product of 16-bit numbers"  # for tuning


class Tile(NamedTuple):
    """A row of the table: the tile of the result that a workgroup makes, the part of it that a subgroup keeps, and when
    that pays: from `least` tiles on, and where the result has at least half the rows and columns of a tile. `at_once`,
    `cost`, `step` and `latency` are as in `tiles`. The forms, which are templates of their own:

    - plain: tiles of both operands in shared memory, as deep as the row says.
    - ahead: fragments are loaded while others are multiplied, from two tiles of each operand in shared memory, which are as
      deep as two fragments and one.
    - packed: both operands are copied first, as `fragments` says, and fragments come from memory. Parts of sums are
      multiples of the depth.
    - mixed: so it is with b; fragments of a come from two tiles in shared memory, each half as deep as the row says.
    """

    shape: tuple[int, int]
    depth: int
    part: tuple[int, int]
    fragment: tuple[int, int, int]  # rows and columns of the result, and products per sum
    subgroup: int  # invocations
    least: int
    at_once: int
    cost: float
    step: float = 0.0
    latency: float = 0.0
    form: str = "plain"

    @property
    def label(self) -> str:
        """The row's name, by which a choice is remembered."""
        form = self.form if self.strips else f"depth {self.depth}"
        return f"cooperative {self.shape[0]}x{self.shape[1]} by {self.part[0]}x{self.part[1]}, {form}"

    @property
    def strips(self) -> str:
        """The operands that are copied into the order of fragments first."""
        return {"packed": "ab", "mixed": "b"}.get(self.form, "")

    @property
    def invocations(self) -> int:
        """Invocations that work on a tile."""
        return self.shape[0] // self.part[0] * (self.shape[1] // self.part[1]) * self.subgroup

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a workgroup: the tiles of a and b, with a pack more in every row."""
        (m, n), step = self.shape, self.fragment[2]
        shared = {
            "plain": ((m, self.depth), (n, self.depth)), "ahead": 2 * ((m, 2 * step), (n, step)),
            "packed": ((max(self.part), max(self.part)),), "mixed": 2 * ((m, self.depth // 2),),
        }  # fmt: skip
        packs = sum(
            max(length * (depth // LANES + 1), depth * (length // LANES + 1)) for length, depth in shared[self.form]
        )
        return packs * 16


# In each table the row that fits and should take least time is taken. Figures of an NVIDIA H200. On RDNA3 the form "ahead" spills
# 205 registers; Intel's GPUs from Lunar Lake on have fragments of 8 x 16, and subgroups of 16. Those of 8 x 8 that Intel's older
# GPUs list too are not used: most of them compute such products without any unit for them.
TILES = {
    "large": (
        _MIXED := Tile((64, 256), 128, (64, 64), (16, 16, 16), 32, 64, 264, 0.82, form="mixed"),
        _PACKED := Tile((128, 128), 32, (64, 64), (16, 16, 16), 32, 1024, 264, 0.84, form="packed"),
        Tile((128, 256), 32, (64, 64), (16, 16, 16), 32, 32, 132, 1.0, 0.068, 58.7, "ahead"),
        _PLAIN := Tile((128, 128), 32, (64, 64), (16, 16, 16), 32, 32, 264, 1.1, 0.147, 40.3),
        _SMALL := Tile((64, 64), 64, (32, 32), (16, 16, 16), 32, 0, 264, 1.8, 0.066, 9.8),
        _LEAST := Tile((32, 32), 64, (16, 16), (16, 16, 16), 32, 0, 264, 2.9, 0.033, 2.8),
    ),
    "middle": (_MIXED, _PACKED, _PLAIN, _SMALL, _LEAST),
    "small": (Tile((32, 32), 16, (16, 16), (8, 16, 16), 16, 0, 264, 1.8, 0.009, 2.8),),
    "tiny": (),
    "cpu": (),
}
# Rows of the result from which on a copy of b costs less than reading it along k, where tiles are one fragment deep.
_TURN_FROM = 1024
_SHORTEST_PART = 64  # products of a part of a sum
_PACKING = 180.0  # the time of copying a row or column into the order of fragments, in units of a product
_BIAS_PACKED, _RESIDUAL_PACKED = 11, 12  # specialization constants
_DISPATCH = 220_000.0  # the time of a dispatch alone, in the same units
# What a device needs for fragments of a type.
FEATURES = {
    "float16": ("cooperativeMatrix", "vulkanMemoryModel", "storageBuffer16BitAccess", "shaderFloat16"),
    "bfloat16": (
        "cooperativeMatrix", "vulkanMemoryModel", "storageBuffer16BitAccess", "shaderBFloat16Type",
        "shaderBFloat16CooperativeMatrix",
    ),
}  # fmt: skip


# -- variants ---------------------------------------------------------------------------------------------------------


@functools.cache
def variant(tile: Tile, dtype: DType) -> Variant:
    """Matrix products of `dtype` by fragments."""
    sizes = {
        "TILE_M": tile.shape[0], "TILE_N": tile.shape[1], "PART_M": tile.part[0],
        "PART_N": tile.part[1], "FRAGMENT_M": tile.fragment[0], "FRAGMENT_N": tile.fragment[1],
        "FRAGMENT_K": tile.fragment[2], "SUBGROUP": tile.subgroup,
    }  # fmt: skip
    form = "" if tile.form == "plain" else f"_{tile.form}"
    if tile.form == "plain":
        sizes["TILE_K"] = tile.depth
    own = tuple((name, str(size)) for name, size in sizes.items())
    brain = (("BFLOAT16", "1"),) if dtype.name == "bfloat16" else ()
    fragments_of = "" if tile.fragment == _LEAST.fragment else f", fragments of {tile.fragment[0]} x {tile.fragment[1]}"
    what = f"{f'{tile.form} ' if tile.strips else ''}tiles of {tile.shape[0]} x {tile.shape[1]}{fragments_of}"
    label = f"matmul {dtype} (cooperative, {what})"
    return Variant(f"product/matmul_cooperative{form}", (*brain, *own), label)


def variants(device: Any = None) -> Iterator[Variant]:
    """Every variant that some device may use; which ones it does is for its limits to say, not for its features."""
    for tile in dict.fromkeys(tile for rows in TILES.values() for tile in rows):
        for name in FEATURES:
            yield variant(tile, DTYPES[name])
            for operand in tile.strips:
                yield fragments.pack_variant(tile, DTYPES[name], operand == "a")


# -- which products ---------------------------------------------------------------------------------------------------


@tuning.cached
def choose_tile(device: Device, shape: tuple[int, ...], k: int, dtype: DType) -> tuple[Tile, int] | None:
    """The row of the device's table for a result of this shape whose sums have k products, and how many parts these are cut into.

    The row is the one that tuning chose, else the one that should take least time; None where there is none.
    """
    if dtype.name not in FEATURES or not device.features.issuperset(FEATURES[dtype.name]):
        return None
    preferred = tuning.choice(device, FAMILY, shape_class(shape))
    fitting = [tile for tile in TILES[device.limits.tier] if fits(tile, device, shape, dtype)]
    chosen = [tile for tile in fitting if tile.label == preferred]
    rows = chosen or [tile for tile in fitting if tiles.count(tile.shape, _at_once(tile, shape)) >= tile.least]
    tile = min(rows, key=lambda tile: _time(tile, shape), default=None)
    if tile is None or tile.strips or tiles.count(tile.shape, shape) >= tile.at_once:
        return tile and (tile, 1)
    return tiles.way_of_least_time(chosen or [one for one in fitting if not one.strips], shape, k, _SHORTEST_PART)


def _at_once(tile: Tile, shape: tuple[int, ...]) -> tuple[int, ...]:
    """What is multiplied in one dispatch: the matrices of a stack one by one where operands are copied first."""
    return shape[-2:] if tile.strips else shape


def _time(tile: Tile, shape: tuple[int, ...]) -> float:
    """How long a product should take, with the copies of its operands."""
    whole = _at_once(tile, shape)
    copied = sum(length for operand, length in zip("ab", shape[-2:], strict=True) if operand in tile.strips)
    dispatches = _DISPATCH * (1 + len(tile.strips))
    return math.prod(shape[: len(shape) - len(whole)]) * (tiles.time(tile, whole) + _PACKING * copied + dispatches)


def shape_class(shape: tuple[int, ...]) -> str:
    """The key of a choice: both types take the same kernels."""
    return tuning.shape_class("16-bit", shape)


def fits(tile: Tile, device: Device, shape: tuple[int, ...], dtype: DType) -> bool:
    """Whether the device can run a row on this type, and the result is not much smaller than its tile."""
    limits = device.limits
    return (
        (dtype.name, *tile.fragment) in limits.cooperative_matrices
        and (not tile.strips or dtype.name != "bfloat16" or "shaderInt16" in device.features)
        and limits.has_subgroups_of(tile.subgroup)
        and tile.shared_bytes <= limits.max_shared_memory_size
        and tile.invocations <= limits.max_workgroup_invocations
        and all(size <= 2 * length for size, length in zip(tile.shape, shape[-2:], strict=True))
    )


# -- the strategy -----------------------------------------------------------------------------------------------------


def choose(product: Product) -> tuple[Tile, int] | None:
    """The row for a product that indices reach, and how many parts its sums are cut into; None where there is none."""
    a, _, result, _ = product
    alone = product._replace(epilogue=NOTHING)
    as_one = alone.fold().result if a._shape[:-1] == result._shape[:-1] else result
    k, (m, n) = a._shape[-1], result._shape[-2:]
    found = choose_tile(result._device, as_one._shape, k, a._dtype)
    # What one product spans is at most half of what indices reach; the rest is for the stack.
    spans = max(m, n) * (k + LANES), k * (n + LANES), m * max(n, abs(result._strides[-2]))
    return None if max(spans) > _reach(a) else found


def cuts(product: Product, how: tuple[Tile, int]) -> bool:
    """Whether the sums are cut into parts, which a kernel of its own adds up."""
    return how[1] > 1


def run(product: Product, how: tuple[Tile, int]) -> None:
    """The product of 16-bit matrices by fragments, whose sums are rounded once."""
    tile, parts = how
    a, b = (
        _in_reach(x) if operand in tile.strips else _in_packs(x) for operand, x in (("a", product.a), ("b", product.b))
    )
    if tile.form == "ahead" and product.result._shape[-2] >= _TURN_FROM and _side_by_side(b) == -2:
        b = _in_rows(b)
    product = product._replace(a=a, b=b).broadcast()
    if tile.strips:
        fragments.multiply(product, tile, kernel_of)
        return
    for piece, count in pieces(_fold(product), tile, parts):
        k = piece.a._shape[-1]
        part = part_length(k, 1, count, _SHORTEST_PART, piece.a, piece.b, (-1, -2))
        in_parts(piece, -(-k // part), functools.partial(_multiply, tile, part))


def _fold(product: Product) -> Product:
    """`Product.fold` where 32-bit indices reach what comes of it."""
    folded, reach = product.fold(), _reach(product.a)
    reached = all(math.prod(x._shape[-2:]) <= reach and _side_by_side(x) is not None for x in (folded.a, folded.b))
    return folded if reached and math.prod(folded.result._shape[-2:]) <= reach else product


def _reach(array: VkArray) -> int:
    return launch.index_limit(array._device, array._dtype) // 2


def _in_reach(array: VkArray) -> VkArray:
    """The array, copied where it is walked backwards or a matrix of it spans more than indices reach."""
    array = launch.forward(array)
    high = layout.offset_range(array._shape[-2:], array._strides[-2:])[1]
    return array if high < _reach(array) else _in_rows(array)


def _in_packs(array: VkArray) -> VkArray:
    """The array, copied where its matrices do not lie in packs."""
    if _side_by_side(array) is not None:
        return array
    strides = array._strides
    return _in_rows(array.mT).mT if abs(strides[-2]) < abs(strides[-1]) else _in_rows(array)


def _in_rows(array: VkArray) -> VkArray:
    """A copy of the array whose matrices lie in packs row by row."""
    (*stack, rows, columns) = array._shape
    row = -(-columns // LANES) * LANES
    whole = (*stack, rows, row)
    copied = empty(whole, array._dtype, array._device)._view(array._shape, layout.contiguous_strides(whole))
    return launch.elementwise(launch.copy_operation(array._dtype), (array,), copied)


def _side_by_side(array: VkArray) -> int | None:
    """The axis, -1 or -2, along which the elements of a matrix lie in packs; None where they do not."""
    (strides,) = layout.taken_strides(array._shape, [array._strides])
    low, high = layout.offset_range(array._shape[-2:], strides[-2:])
    if pointer(array).is_aligned(2 * LANES) and low == 0 and high < _reach(array):
        for axis in (-1, -2):
            others = (*strides[:-2], strides[-3 - axis])
            if (strides[axis] == 1 or array._shape[axis] == 1) and all(
                stride >= 0 and stride % LANES == 0 for stride in others
            ):
                return axis
    return None


def _packed_addends(epilogue: Epilogue) -> tuple[tuple[int, int], ...]:
    """The specialization constants of addends that lie in packs beside those of the result."""
    given = {_BIAS_PACKED: epilogue.bias, _RESIDUAL_PACKED: epilogue.residual}
    return tuple((number, 1) for number, x in given.items() if x is not None and _side_by_side(x) == -1)


def _multiply(tile: Tile, part: int, product: Product) -> None:
    """result[p, ...] = the product over part p of the summed dimension."""
    a, b, result, epilogue = product
    device, k = result._device, a._shape[-1]
    (m, n), r_m = result._shape[-2:], result._strides[-2]
    outer = a._strides[:-2], b._strides[:-2], result._strides[1:-2], *(x._strides[:-2] for x in epilogue.addends)
    shape, strides = layout.collapse(result._shape[1:-2], outer)
    (a_m, a_k), (b_k, b_n) = a._strides[-2:], b._strides[-2:]
    stack = Stack(product, shape, strides, (part * a_k, part * b_k, result._strides[0]), k, part)
    steps = a_m, *taken_steps(k, a_k, b_k), b_n, r_m
    along_k = _side_by_side(a) == -1, _side_by_side(b) == -2
    for slice_ in stack.slices((), ((), (), ()), _reach(a)):
        kernel = kernel_of(product, tile, along_k, slice_)
        groups = launch.groups_for(slice_.count * tiles.count(tile.shape, (m, n)), device.limits, 1)
        dispatch(kernel, groups, slice_.matrix_fields(m, n, *steps), writes=("r",))


def kernel_of(product: Product, tile: Tile, along_k: tuple[bool, bool], slice_: Slice) -> Kernel:
    """The kernel of a tile for a slice of a product, of whose operands elements lie side by side along k or not."""
    a, _, result, epilogue = product
    packed = slice_.places[2].is_aligned(16) and not any(
        stride % LANES for stride in (result._strides[-2], *slice_.strides[2])
    )
    flags = (*along_k, packed, result._dtype.bits == 32)
    constants = tuple((number, int(flag)) for number, flag in enumerate(flags, 1))
    constants = (*constants, *_packed_addends(epilogue))
    chosen, device = variant(tile, a._dtype), result._device
    return linked.kernel(epilogue, chosen, a._dtype, device, tile.invocations, constants, tile.subgroup)
