"""Sorting on a GPU: a stable radix sort from the least significant digit, by tiles that a workgroup sorts in shared memory.

A pass counts the digits of each tile, sums the counts up, and then sorts each tile by the digit, so that elements of one
digit are written side by side. Rows that fit into a tile make all their passes there, several short ones together.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from .. import device_caches
from ..core import dtypes
from ..core.array import VkArray, empty, storage_itemsize
from ..shaders.source import Variant
from . import launch
from .dispatch import Fields
from .gather import element_sizes

if TYPE_CHECKING:
    from .launch import Device

Columns = tuple[VkArray, VkArray | None]
Constants = tuple[tuple[int, int], ...]

_FEATURES = frozenset({"subgroupBasic", "subgroupBallot", "subgroupArithmetic"})
_DIGIT_BITS = (8, 4)  # no digit may lie in two words of a key
# Tiles by the words of an element: invocations and elements of each. The first that fits into shared memory is taken.
_TILES = {1: ((256, 12), (128, 12)), 2: ((256, 8), (128, 8)), 4: ((256, 8), (128, 8), (128, 4))}
# Rows up to this length are sorted in the smallest tile that holds one, of so many invocations at least.
_ITEMS_OF_ROW, _FEWEST = 8, 64
_SUM_INVOCATIONS, _SUMMED_ALONE = 256, 32  # of a workgroup that sums up; counts that an invocation sums up by itself


class Tile(NamedTuple):
    """How a workgroup sorts: invocations, elements of each, bits of a digit and, at most, its subgroups."""

    invocations: int
    items: int
    bits: int
    subgroups: int

    @property
    def elements(self) -> int:
        """How many elements there are."""
        return self.invocations * self.items

    def fits(self, words: int, device: Device) -> bool:
        """Whether shared memory holds the counters or the elements, and what all digits and subgroups have besides."""
        limits, counters = device.limits, self.subgroups << self.bits
        shared = max(counters, self.elements * words) + (2 << self.bits) + 2 * self.subgroups
        held = launch.invocations_of_group(limits, self.invocations) == self.invocations
        return held and 4 * shared <= limits.max_shared_memory_size


def sorts_tiles(device: Device) -> bool:
    """Whether a device sorts by tiles: on a CPU driver, barriers cost more than they bring."""
    return not device.limits.is_cpu and _tile(device, 4) is not None


@device_caches.cache
def _tile(device: Device, words: int) -> Tile | None:
    """The largest tile of elements of so many words; None where subgroups lack an operation or shared memory is small."""
    if not device.features >= _FEATURES:
        return None
    for bits in _DIGIT_BITS:
        for invocations, items in _TILES[words]:
            tile = Tile(invocations, items, bits, -(-invocations // device.limits.min_subgroup_size))
            if tile.fits(words, device):
                return tile
    return None


def variants(device: Device) -> Iterator[Variant]:
    """All variants that a device can meet."""
    for element_bytes in element_sizes(device):
        for step in ("count", "scatter", "rows"):
            yield _variant(step, element_bytes)
    yield _SUMS


@functools.cache
def _variant(step: str, element_bytes: int) -> Variant:
    return Variant(f"sort/tile_{step}", (("ELEMENT_BYTES", str(element_bytes)),), f"sort {step} {element_bytes} bytes")


_SUMS = Variant("sort/tile_sums", (), "sort sums")


def tile_of(x: VkArray) -> Tile:
    """The largest tile for the elements of x, on a device of which `sorts_tiles` is true."""
    tile = _tile(x._device, max(1, storage_itemsize(x._dtype, x._device) // 4))
    assert tile is not None
    return tile


def _run(step: str, x: VkArray, tile: Tile, constants: Constants, groups: int, fields: Fields,
         writes: tuple[str, ...]) -> None:  # fmt: skip
    device = x._device
    launch.dispatch(
        _variant(step, storage_itemsize(x._dtype, device)), device, launch.groups_for(groups, device.limits, 1), fields,
        writes=writes, workgroup_size=tile.invocations, constants=constants,
    )  # fmt: skip


def _constants(tile: Tile, device: Device, *more: int) -> Constants:
    """The specialization constants of `sort_tile.glsl` but those of the key, and then those of a template."""
    return ((11, device.limits.max_subgroup_size), *enumerate((tile.subgroups, tile.items, *more), 7))


def sort_rows(x: VkArray, key_bits: int, key: Constants, largest: Tile, values: VkArray, places: VkArray | None
              ) -> None:  # fmt: skip
    """Sort rows that fit into a tile into `values`, and their places before into `places`, in one dispatch."""
    rows, length = x._shape
    invocations, items = largest.invocations, min(_ITEMS_OF_ROW, largest.items)
    while invocations > _FEWEST and invocations // 2 * items >= length:
        invocations //= 2
    if invocations * items < length:
        items = largest.items
    subgroups = -(-invocations // x._device.limits.min_subgroup_size)
    tile = largest._replace(invocations=invocations, items=items, subgroups=subgroups)
    together = min(rows, tile.elements // length, 1 << tile.bits)
    fields = {
        "elements": x,
        "target": values,
        "target_indices": 0 if places is None else places,
        "rows": rows,
        "row_length": length,
        "key_bits": key_bits,
    }
    constants = key + _constants(tile, x._device, places is not None, together)
    _run("rows", x, tile, constants, -(-rows // together), fields, ("target", "target_indices"))


def sort_tiles(x: VkArray, key_bits: int, key: Constants, tile: Tile, values: VkArray, places: VkArray | None,
               others: Columns) -> None:  # fmt: skip
    """Sort rows of any length into `values` and `places`; `others` are arrays like them that hold every second pass."""
    device = x._device
    rows, length = x._shape
    tiles = -(-length // tile.elements)
    pitch = -(-tiles // 4) * 4
    digits = rows << tile.bits
    counts, sums = (empty((digits, size), dtypes.uint32, device) for size in (pitch, 1))
    alone = tiles <= _SUMMED_ALONE
    sum_groups = launch.groups_for(digits, device.limits, _SUM_INVOCATIONS if alone else 1)
    sum_constants = ((7, -(-_SUM_INVOCATIONS // device.limits.min_subgroup_size)), (8, int(alone)))
    source: Columns = (x, None)
    target: Columns = (values, places)
    passes = range(0, key_bits, tile.bits)
    if len(passes) % 2 == 0:
        target, others = others, target
    summed = {"counts": counts, "sums": sums, "digits": digits, "fours": pitch // 4}
    counted = {"counts": counts, "rows": rows, "row_length": length, "tiles": tiles, "pitch": pitch}
    for shift in passes:
        fields: Fields = {**counted, "elements": source[0], "shift": shift}
        _run("count", x, tile, (*key, (8, tile.items)), rows * tiles, fields, ("counts",))
        launch.dispatch(
            _SUMS, device, sum_groups, summed, writes=("counts", "sums"), workgroup_size=_SUM_INVOCATIONS,
            constants=sum_constants,
        )  # fmt: skip
        fields = {
            **fields,
            "sums": sums,
            "target": target[0],
            "indices": 0 if source[1] is None else source[1],
            "target_indices": 0 if target[1] is None else target[1],
        }
        constants = key + _constants(tile, x._device, places is not None)
        _run("scatter", x, tile, constants, rows * tiles, fields, ("target", "target_indices"))
        source, target, others = target, others, target
