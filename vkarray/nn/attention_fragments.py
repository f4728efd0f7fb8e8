"""Attention of float16 and bfloat16 by cooperative matrices, in one kernel that never stores the scores.

Which tile a call takes follows from its shapes and the limits of the device alone. Calls on devices without such fragments,
and those whose operands do not lie in packs of 8 elements or are out of the reach of indices, are left to `attention`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core import dtypes, layout
from ..core.array import VkArray, empty
from ..core.dtypes import DTYPES, DType
from ..kernels import launch
from ..kernels.conversion import cast
from ..kernels.dispatch import dispatch, pointer
from ..kernels.product import cooperative
from ..kernels.product.fragments import LANES
from ..kernels.product.tiles import PROCESSORS
from ..kernels.row_kernels import layout_of
from ..ops.searching import where
from ..shaders.source import Variant

if TYPE_CHECKING:
    from ..kernels.launch import Device

# What the kernel needs beside fragments, and what it needs to keep scores in fragments all the way.
_SHUFFLES = frozenset({"subgroupBasic", "subgroupShuffle", "subgroupVote"})
_REDUCTIONS = frozenset(
    {"cooperativeMatrixReductions", "cooperativeMatrixConversions", "cooperativeMatrixPerElementOperations"}
)
# The operands among the arguments of the kernel, and the strides of each.
_OPERANDS = {
    "q": ("q_batch", "q_head", "q_row"), "k": ("k_batch", "k_head", "k_row"), "v": ("v_batch", "v_head", "v_row"),
    "mask": ("mask_batch", "mask_head", "mask_row", "mask_key"),
}  # fmt: skip


class Tile(NamedTuple):
    """A row of the table: the longest rows of operands that it is for, the keys of a block, the fragments of rows of a
    subgroup, and the subgroups of a workgroup."""

    width: int
    keys: int
    rows: int
    subgroups: int
    fragment: int = 16  # rows, columns and depth
    subgroup: int = 32  # invocations

    @property
    def block(self) -> int:
        """Rows of the query that a workgroup works on."""
        return self.subgroups * self.rows * self.fragment

    def shared_bytes(self, width: int, reductions: bool) -> int:
        """Shared memory of a workgroup."""
        row, fragment = width // LANES + 1, self.fragment
        own = fragment * max((fragment if reductions else self.keys + 4) // 4 + 1, row)
        return 16 * (2 * self.keys * row + self.subgroups * own) + (0 if reductions else 4 * self.subgroups * fragment)


# In each table the first row that fits is taken, unless a smaller one with the same keys, which gives the same bits, is enough to
# keep every processor busy. Figures of an NVIDIA H200.
TILES: dict[str, tuple[Tile, ...]] = {
    "gpu": (Tile(64, 32, 2, 8), Tile(64, 32, 1, 8), Tile(64, 32, 1, 4), Tile(128, 48, 1, 4), Tile(128, 16, 1, 4)), "cpu": (),
}  # fmt: skip


@functools.cache
def variant(tile: Tile, dtype: DType, reductions: bool) -> Variant:
    """Attention of `dtype` by fragments."""
    sizes = {"FRAGMENT": tile.fragment, "SUBGROUP": tile.subgroup}
    defines = [(name, str(size)) for name, size in sizes.items()]
    flags = {"BFLOAT16": dtype is dtypes.bfloat16, "REDUCTIONS": reductions}
    defines += [(name, "1") for name, wanted in flags.items() if wanted]
    how = "with reductions" if reductions else "without reductions"
    return Variant("nn/attention", tuple(defines), f"attention {dtype} (cooperative, {how})")


def variants(device: Any = None) -> Iterator[Variant]:
    """Every variant that some device may use; which ones it does is for its limits to say, not for its features."""
    for name in cooperative.FEATURES:
        for reductions in (False, True):
            yield variant(TILES["gpu"][0], DTYPES[name], reductions)


def has_reductions(device: Device) -> bool:
    """Whether scores stay in fragments."""
    return device.features.issuperset(_REDUCTIONS)


def choose_tile(device: Device, width: int, dtype: DType, rows: int, heads: int) -> Tile | None:
    """The row of the device's table for rows of this many elements, so many for each of some heads; None where there is none."""
    features, limits = cooperative.FEATURES.get(dtype.name), device.limits
    if features is None or not device.features.issuperset({*features, *_SHUFFLES}):
        return None
    fitting = [
        tile
        for tile in TILES[limits.kind]
        if width <= tile.width
        and (dtype.name, *(tile.fragment,) * 3) in limits.cooperative_matrices
        and limits.has_subgroups_of(tile.subgroup)
        and tile.shared_bytes(_whole(width, tile), has_reductions(device)) <= limits.max_shared_memory_size
        and tile.subgroups * tile.subgroup <= limits.max_workgroup_invocations
    ]
    alike = [tile for tile in fitting if tile.keys == fitting[0].keys and tile.width == fitting[0].width]
    few = [tile for tile in alike if heads * -(-rows // tile.block) <= PROCESSORS]
    return min(few, key=lambda tile: tile.block) if few else next(iter(fitting), None)


def _whole(width: int, tile: Tile) -> int:
    """The width in whole fragments."""
    return -(-width // tile.fragment) * tile.fragment


def attend(
    query: VkArray, key: VkArray, value: VkArray, mask: VkArray | None, *, causal: bool, factor: float, group: int
) -> VkArray | None:
    """softmax(factor * query @ key.T, where the mask allows) @ value, or None for what is not for this kernel.

    Parameters: query (..., H, L, E), key (..., H / group, S, E) and value (..., H / group, S, F) of one dtype, whose leading
    dimensions broadcast; mask: as `attention` takes it; group: how many heads of the query share one of key and value.
    Returns the result of shape (..., H, L, F), which lies in memory as (..., L, H, F), the order that comes after it in models.
    """
    rows, width, keys, dtype, device = *query._shape[-2:], key._shape[-2], query._dtype, query._device
    tile = choose_tile(device, width, dtype, rows, math.prod(query._shape[:-2]))
    rank = max(query.ndim, key.ndim, value.ndim)
    if tile is None or width % LANES or value._shape[-1] != width or rank > 4 or 0 in (*query._shape, *key._shape):
        return None
    stacks = [(1, 1, *one._shape[:-2])[-2:] for one in (query, key, value)]
    (own, heads), *others = stacks
    batch, heads = layout.broadcast_shapes(
        [(own, heads), *((one, count * group) for one, count in others)], "attention"
    )
    operands = [
        _in_packs(layout_of(one, (batch, count, *one._shape[-2:])))
        for one, count in zip((query, key, value), (heads, heads // group, heads // group), strict=True)
    ]
    if mask is not None:
        low, seen = (launch.constant(number, dtype, device) for number in (-math.inf, 0.0))
        added = where(mask, seen, low) if mask._dtype is dtypes.bool_ else cast(mask, dtype)
        operands.append(layout_of(launch.forward(added), (batch, heads, rows, keys)))
    result = empty((batch, rows, heads, width), dtype, device)
    count = batch * heads * -(-rows // tile.block)
    if count >= 1 << 31 or not all(_in_reach(one) for one in (*operands, result)):
        return None
    constants = (int(mask is not None), int(causal), _whole(width, tile), tile.keys, tile.rows)
    kernel = launch.kernel(
        variant(tile, dtype, has_reductions(device)), device, tile.subgroups * tile.subgroup,
        tuple(enumerate(constants, 1)), tile.subgroup,
    )  # fmt: skip
    fields = {
        "r": result, "rows": rows, "keys": keys, "width": width, "heads": heads, "group": group,
        "scale": factor * math.log2(math.e), "count": count, "mask": 0, **dict.fromkeys(_OPERANDS["mask"], 0),
    }  # fmt: skip
    for (name, steps), one in zip(_OPERANDS.items(), operands, strict=False):
        fields |= {name: one, **dict(zip(steps, _steps(one), strict=False))}
    dispatch(kernel, launch.groups_for(count, device.limits, 1), fields, writes=("r",))
    made = result._permuted((0, 2, 1, 3))
    return made._view(made._shape[4 - rank :], made._strides[4 - rank :])


def _steps(array: VkArray) -> tuple[int, ...]:
    """The strides, zero along dimensions of one element (any stride is allowed there, however large)."""
    return tuple(step if size > 1 else 0 for size, step in zip(array._shape, array._strides, strict=True))


def _in_packs(array: VkArray) -> VkArray:
    """The array, copied where its rows do not lie in packs."""
    *others, step = _steps(array)
    lies = step == 1 and pointer(array).is_aligned(2 * LANES)
    return array if lies and all(one >= 0 and one % LANES == 0 for one in others) else launch.copy(array)


def _in_reach(array: VkArray) -> bool:
    low, high = layout.offset_range(array._shape, _steps(array))
    return max(-low, high) < launch.index_limit(array._device, array._dtype)
