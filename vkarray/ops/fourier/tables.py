"""Tables of roots of unity, computed on the device and kept: the roots between passes, and Bluestein's chirp."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...core.array import VkArray, empty
from ...core.dtypes import DType
from ...kernels import launch
from ...kernels.planned import kept
from ...shaders.source import Variant

if TYPE_CHECKING:
    from ...kernels.launch import Defines, Device

_PRODUCTS, _SQUARES = 0, 1
_KEPT = 64  # tables of each kind


def element_defines(dtype: DType) -> Defines:
    """The macros that the shaders of this folder expect for a complex type."""
    defines = (("REAL", "double"), ("COMPLEX", "dvec2"), ("DOUBLE", "1"))
    return defines if dtype.bits == 64 else (("REAL", "float"), ("COMPLEX", "vec2"))


@functools.cache
def variant(dtype: DType) -> Variant:
    """The shader that fills tables."""
    return Variant("fft/table", element_defines(dtype), f"fft table {dtype}")


_FINE = 4096  # as in glsl/lib/fft_pass.glsl


def _fill(
    table: VkArray, kind: int, first_row: int, columns: int, order: int, ahead: int = 0, numbers: int = 0
) -> None:
    device, count = table._device, table.size
    fields = {
        "table": table,
        "count": count,
        "kind": kind,
        "first_row": first_row,
        "columns": columns,
        "order": order,
        "ahead": ahead,
        "numbers": numbers,
    }
    groups = launch.groups_for(count, device.limits)
    launch.dispatch(variant(table._dtype), device, groups, fields, writes=("table",))


@kept(_KEPT)
def between_passes(before: int, length: int, dtype: DType, device: Device) -> VkArray:
    """exp(-2 pi i j q / (before length)) at j before + q, for j < length and q < before."""
    table = empty((length * before,), dtype, device)
    _fill(table, _PRODUCTS, 0, before, length * before)
    return table


@kept(_KEPT)
def between_radices(radices: Sequence[int], dtype: DType, device: Device) -> VkArray:
    """The tables `between_passes` of all radices but the first, one after the other."""
    befores = [math.prod(radices[:place]) for place in range(1, len(radices))]
    sizes = [before * radix for before, radix in zip(befores, radices[1:], strict=True)]
    table = empty((max(1, sum(sizes)),), dtype, device)
    for place, (before, size) in enumerate(zip(befores, sizes, strict=True)):
        _fill(table._view((size,), (1,), sum(sizes[:place])), _PRODUCTS, 0, before, size)
    return table


@kept(_KEPT)
def roots(order: int, count: int, dtype: DType, device: Device) -> VkArray:
    """exp(-2 pi i k / order) for k < count."""
    table = empty((count,), dtype, device)
    _fill(table, _PRODUCTS, 1, count, order)
    return table


@kept(_KEPT)
def of_products(order: int, dtype: DType, device: Device) -> VkArray:
    """exp(-2 pi i k / order) for k < _FINE, and then for each multiple of _FINE below the order: all others are products."""
    coarse = -(-order // _FINE)
    table = empty((_FINE + coarse,), dtype, device)
    _fill(table._view((_FINE,), (1,)), _PRODUCTS, 1, _FINE, order)
    _fill(table._view((coarse,), (1,), _FINE), _PRODUCTS, _FINE, coarse, order)
    return table


@kept(_KEPT)
def chirp(points: int, dtype: DType, device: Device) -> VkArray:
    """exp(-pi i j^2 / points) at j, for j < points."""
    return cyclic_chirp(points, points, points, dtype, device)


def cyclic_chirp(points: int, ahead: int, length: int, dtype: DType, device: Device) -> VkArray:
    """exp(-pi i j^2 / points) at j < ahead and at length - j, for j < points; zeros between."""
    table = empty((length,), dtype, device)
    _fill(table, _SQUARES, 0, 1, 2 * points, ahead, points)
    return table
