"""Solutions of triangular systems, in place, for stacks of matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...core.array import VkArray, is_supported
from ...core.dtypes import DType
from ...kernels import launch
from ...kernels.dispatch import dispatch
from ...kernels.product.blocks import subtract_product
from ...shaders.source import Variant
from .common import FACTORED, block, flipped, lowest, variant, variants_of, within_reach

if TYPE_CHECKING:
    from ...kernels.launch import Device

# Rows that one invocation solves, one after the other, before a matrix product takes them out of the rows that remain.
BLOCK = 64
_TEMPLATE = "linalg/triangular"
WORKGROUP_SIZE = 64
# A GPU takes matrices of more rows than this in tiles, a dispatch for each block of rows; by the registers of an invocation and
# the bytes of an element the side of a tile and the columns that are in shared memory at once.
TILES_FROM = {"gpu": 65, "cpu": 1 << 30}
TILES = {
    "large": {4: (64, 16), 8: (32, 8), 16: (32, 4)},
    "middle": {4: (64, 16), 8: (32, 8), 16: (32, 4)},
    "small": {4: (32, 8), 8: (32, 8), 16: (32, 4)},
    "tiny": {4: (32, 8), 8: (32, 8), 16: (32, 4)},
}
TILE_INVOCATIONS = 256
_TILE_BYTES = 20 << 10  # of shared memory, at most


def variants(device: Device) -> Iterator[Variant]:
    """The shaders of all types that the device supports."""
    yield from variants_of(_TEMPLATE, device)
    yield from tiles_variants("linalg/triangular_tiles", device)


def tiles_variant(template: str, dtype: DType, device: Device, tile: tuple[int, int]) -> Variant:
    """The variant of a template that works in tiles: their sides, and the columns in shared memory."""
    side, depth = tile
    template, defines, label, _ = variant(template, dtype, device)
    return Variant(template, (*defines, ("BLOCK", str(side)), ("DEPTH", str(depth))), f"{label}, {side} by {depth}")


def tiles_variants(template: str, device: Device) -> Iterator[Variant]:
    """The variants of a template that works in tiles, for all types that the device supports."""
    for dtype in FACTORED:
        if is_supported(dtype, device):
            for tile in dict.fromkeys(row[dtype.itemsize] for row in TILES.values()):
                yield tiles_variant(template, dtype, device, tile)


def tile_of(dtype: DType, device: Device) -> tuple[int, int]:
    """The tiles of a type: their sides, and the columns in shared memory."""
    return TILES[device.limits.registers][dtype.itemsize]


def takes_tiles(n: int, device: Device) -> bool:
    """Whether matrices of order n are worked on in tiles."""
    limits = device.limits
    return (
        n >= TILES_FROM[limits.kind]
        and limits.max_workgroup_invocations >= TILE_INVOCATIONS
        and limits.max_shared_memory_size >= _TILE_BYTES
    )


def solve_in_place(t: VkArray, b: VkArray, *, upper: bool = False, unit: bool = False) -> None:
    """b becomes the solution x of t x = b, by substitution in blocks.

    t of shape (batch, N, N), of which one triangle is read, and without the diagonal when `unit`; b of shape
    (batch, N, K), the elements of a row side by side. Both have the same dtype, are not empty, and share no element.
    """
    n = t._shape[-1]
    if takes_tiles(n, t._device):
        _solve_by_tiles(t, b, upper, unit)
        return
    starts = range(0, n, BLOCK)
    for start in reversed(starts) if upper else starts:
        here = slice(start, min(start + BLOCK, n))
        rest = slice(0, start) if upper else slice(here.stop, n)
        triangle, rows = block(t, here, here), block(b, here)
        if upper:
            solve_block(flipped(triangle), flipped(rows), unit=unit)
        else:
            solve_block(triangle, rows, unit=unit)
        if rest.start < rest.stop:
            subtract_product(block(t, rest, here), rows, block(b, rest))


def _solve_by_tiles(t: VkArray, b: VkArray, upper: bool, unit: bool) -> None:
    device, (_, n, columns) = t._device, b._shape
    side, _ = tile = tile_of(t._dtype, device)
    kernel = launch.kernel(tiles_variant("linalg/triangular_tiles", t._dtype, device, tile), device, TILE_INVOCATIONS)
    blocks, across = -(-n // side), -(-columns // side)
    for number in range(blocks):
        groups = across * (-(-(blocks - number) // 2) if number else 1)
        for t_part, b_part in within_reach(t, b):
            count = b_part._shape[0]
            (t_step, *t_strides), (b_step, b_row, _) = t_part._strides, b_part._strides
            t_first = b_first = 0
            if upper:
                t_first, b_first = (n - 1) * sum(t_strides), (n - 1) * b_row
                t_strides, b_row = [-stride for stride in t_strides], -b_row
            fields = {
                "t": t_part,
                "b": b_part,
                "count": count,
                "rows": n,
                "columns": columns,
                "t_first": t_first,
                "t_batch": t_step,
                "t_row": t_strides[0],
                "t_column": t_strides[1],
                "b_first": b_first,
                "b_batch": b_step,
                "b_row": b_row,
                "unit": unit,
                "block": number,
            }
            dispatch(kernel, launch.groups_for(count * groups, device.limits, 1), fields, writes=("b",))


def solve_block(t: VkArray, b: VkArray, *, unit: bool = False, conjugate: bool = False) -> None:
    """b becomes the solution x of t x = b for lower triangular t of a few rows, in one dispatch.

    t of shape (batch, N, N), with `unit` taken to have ones on the diagonal, with `conjugate` taken as its conjugate;
    b of shape (batch, N, K); any strides.
    """
    device = t._device
    for t_part, b_part in within_reach(t, b):
        batch, rows, columns = b_part._shape
        (t_lowest, t_first), (b_lowest, b_first) = lowest(t_part), lowest(b_part)
        (t_batch, t_row, t_column), (b_batch, b_row, b_column) = t_part._strides, b_part._strides
        fields = {
            "t": t_lowest,
            "b": b_lowest,
            "count": batch,
            "rows": rows,
            "columns": columns,
            "t_first": t_first,
            "t_batch": t_batch,
            "t_row": t_row,
            "t_column": t_column,
            "b_first": b_first,
            "b_batch": b_batch,
            "b_row": b_row,
            "b_column": b_column,
            "unit": unit,
            "conjugate": conjugate,
        }
        groups = launch.groups_for(batch * columns, device.limits, WORKGROUP_SIZE)
        chosen = variant(_TEMPLATE, t._dtype, device)
        launch.dispatch(chosen, device, groups, fields, writes=("b",), workgroup_size=WORKGROUP_SIZE)
