"""Solutions of triangular systems, in place, for stacks of matrices."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ... import layout
from ...array import VkArray
from ...shaders import Variant
from .. import launch, product
from .common import block, flipped, variant, variants_of, within_reach

if TYPE_CHECKING:
    from ..launch import Device

# Rows that one invocation solves, one after the other, before a matrix product takes them out of the rows that remain.
BLOCK = 64
_TEMPLATE = "linalg_triangular"
WORKGROUP_SIZE = 64


def variants(device: Device) -> Iterator[Variant]:
    """The shaders of all types that the device supports."""
    return variants_of(_TEMPLATE, device)


def solve_in_place(t: VkArray, b: VkArray, *, upper: bool = False, unit: bool = False) -> None:
    """b becomes the solution x of t x = b, by substitution in blocks.

    t of shape (batch, N, N), of which one triangle is read, and without the diagonal when `unit`; b of shape
    (batch, N, K), the elements of a row side by side. Both have the same dtype, are not empty, and share no element.
    """
    n = t._shape[-1]
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
            product.subtract_product(block(t, rest, here), rows, block(b, rest))


def solve_block(t: VkArray, b: VkArray, *, unit: bool = False, conjugate: bool = False) -> None:
    """b becomes the solution x of t x = b for lower triangular t of a few rows, in one dispatch.

    t of shape (batch, N, N), with `unit` taken to have ones on the diagonal, with `conjugate` taken as its conjugate;
    b of shape (batch, N, K); any strides.
    """
    device = t._device
    for t_part, b_part in within_reach(t, b):
        batch, rows, columns = b_part._shape
        (t_address, t_first), (b_address, b_first) = _lowest(t_part), _lowest(b_part)
        push = struct.pack(
            "<2QI10i2I", t_address, b_address, batch, rows, columns, t_first, *t_part._strides, b_first, *b_part._strides,
            unit, conjugate,
        )  # fmt: skip
        groups = launch.groups_for(batch * columns, device.limits, WORKGROUP_SIZE)
        launch.dispatch(variant(_TEMPLATE, t._dtype, device), device, push, groups, [t], [b], WORKGROUP_SIZE)


def _lowest(x: VkArray) -> tuple[int, int]:
    """The address of the element that lies lowest in memory, and how many elements from there the first one is."""
    low, _ = layout.offset_range(x._shape, x._strides)
    return x._view(x._shape, x._strides, low)._address, -low
