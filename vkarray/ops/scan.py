"""Scans: cumulative operations along one axis. The order in which elements are joined is set out in `glsl/scan.comp`."""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import layout
from ..array import VkArray, empty, is_supported, storage_itemsize
from ..dtypes import CATEGORIES, DTYPES, DType
from ..shaders import Variant
from . import launch
from .reductions import partial_dtype, uses_shared_memory

if TYPE_CHECKING:
    from .launch import Device

_BLOCK = 16
_CHUNK_BLOCKS = 256
_CHUNK = _BLOCK * _CHUNK_BLOCKS
_TOTALS, _BASE, _INITIAL, _COLUMNS = 1, 2, 4, 8
# From so many invocations on, one for each chunk keeps a GPU busy, and neighbours read neighbouring columns.
_ENOUGH_INVOCATIONS = 1 << 13
# The workgroup where there are fewer: small, so that all threads of a CPU driver get some.
_FEW_INVOCATIONS = 16


@dataclass(frozen=True, eq=False)
class Scan:
    """One scan: GLSL to combine a and b (`a` comes first), its initial value, and the library file that it calls."""

    name: str
    combine: dict[str, str]
    initial: str
    library: str | None = None

    def variant(self, device: Device, source: DType, result: DType, shared: bool) -> Variant:
        """The shader for inputs and results of these types (both compute in the same GLSL type)."""
        combine = self.combine.get(result.kind) or self.combine["else"]
        initial = self.initial if result.kind != "complex floating" else f"{self.initial}, 0"
        defines: list[tuple[str, str]] = [("COMBINE", combine), ("INITIAL_VALUE", initial)]
        if shared:
            defines.append(("SHARED", "1"))
        partial = partial_dtype(result)
        for name, dtype in (("A", source), ("P", partial), ("R", result)):
            defines += launch.operand_defines(name, dtype)
        defines += launch.compute_defines(result)
        defines += launch.feature_defines((source, partial, result), device)
        library = self.library if "vx_" in combine else None
        defines.append(("LIBRARY", launch.library_path(library, result)))
        return Variant("scan", tuple(defines), f"{self.name} {source} ({'shared' if shared else 'serial'})")

    def variants(self, device: Device) -> Iterator[Variant]:
        """The shaders of all types, for the archive."""
        for dtype in filter(CATEGORIES["numeric"].__contains__, DTYPES.values()):
            if not is_supported(dtype, device):
                continue
            partial = partial_dtype(dtype)
            for source, result in dict.fromkeys(((dtype, dtype), (partial, partial))):
                for shared in (False, True):
                    yield self.variant(device, source, result, shared)


@functools.cache
def _variant(scan: Scan, device: Device, source: DType, result: DType, shared: bool) -> Variant:
    return scan.variant(device, source, result, shared)


def scan_into(scan: Scan, x: VkArray, axis: int, result: VkArray, initial: bool = False) -> None:
    """Scan x along an axis into `result`, an array of any layout: of the shape of x, or with `initial` one longer.

    The types compute in the same GLSL type. `result` shares no memory with x.
    """
    x, length = launch.forward(x), x._shape[axis]
    kept = x._shape[:axis] + x._shape[axis + 1 :]
    if math.prod(kept) == 0 or (length == 0 and not initial):
        return
    steps = (x._strides[axis], result._strides[axis])
    if max(map(abs, steps)) * min(length, _CHUNK) > launch.index_limit(x._device, x._dtype, result._dtype):
        _scan_moved(scan, x, axis, result, initial)
        return
    strides = [array._strides[:axis] + array._strides[axis + 1 :] for array in (x, result)]
    kept, first, others = layout.sort_by_stride(kept, *strides)
    kept, strides = layout.collapse(kept, [first, *others])
    run = functools.partial(_dispatch, scan, x, result, kept, strides, length, steps)
    chunks = -(-length // _CHUNK)
    scanned = None
    if chunks > 1:
        partial = partial_dtype(result._dtype)
        totals = empty((math.prod(kept), chunks), partial, x._device)
        scanned = empty(totals._shape, partial, x._device)
        run(totals, _TOTALS)
        scan_into(scan, totals, 1, scanned)
    run(scanned, (_BASE if chunks > 1 else 0) | (_INITIAL if initial else 0))


def _scan_moved(scan: Scan, x: VkArray, axis: int, result: VkArray, initial: bool) -> None:
    """As `scan_into`, through contiguous copies, for strides along the axis that 32-bit indices do not reach with."""
    order = (*range(axis), *range(axis + 1, x.ndim), axis)
    source, target = x._permuted(order), result._permuted(order)
    moved = empty(target._shape, result._dtype, x._device)
    scan_into(scan, launch.copy(source), x.ndim - 1, moved, initial)
    launch.elementwise(launch.copy_operation(result._dtype), (moved,), target)


def _dispatch(
    scan: Scan, x: VkArray, result: VkArray, kept: layout.Shape, strides: list[layout.Strides], length: int,
    steps: tuple[int, int], totals: VkArray | None, mode: int,
) -> None:  # fmt: skip
    """One of the passes over all elements: `totals` is written with _TOTALS, read with _BASE, else not used."""
    device = x._device
    all_chunks = max(1, -(-length // _CHUNK))
    rows = math.prod(kept)
    columns = strides[0][-1] != 0 and abs(strides[0][-1]) < abs(steps[0])
    shared = uses_shared_memory(device) and not (columns and rows * all_chunks >= _ENOUGH_INVOCATIONS)
    blocks = max(1, -(-min(length, _CHUNK) // _BLOCK))
    members = 1 << (blocks - 1).bit_length() if shared else 1
    if columns:
        mode |= _COLUMNS
    variant = _variant(scan, device, x._dtype, result._dtype, shared)
    x_itemsize, result_itemsize = storage_itemsize(x._dtype, device), storage_itemsize(result._dtype, device)
    total_itemsize = storage_itemsize(partial_dtype(result._dtype), device)
    reads = [x] if mode & _TOTALS or totals is None else [x, totals]
    writes = [totals] if mode & _TOTALS and totals is not None else [result]
    size = launch.WORKGROUP_SIZE if shared or rows * all_chunks >= _ENOUGH_INVOCATIONS else _FEW_INVOCATIONS
    limit = launch.index_limit(device, x._dtype, result._dtype)
    for row, part, taken, offsets, first, chunks in layout.row_slices(kept, strides, length, steps, _CHUNK, limit):
        x_offset, offset = (offset + first * _CHUNK * step for offset, step in zip(offsets, steps, strict=True))
        part_rows = math.prod(part)
        header = struct.pack(
            "<3Q8I", x._address + x_offset * x_itemsize,
            0 if mode & _TOTALS else result._address + offset * result_itemsize,
            0 if totals is None else totals._address + row * all_chunks * total_itemsize,
            min(length - first * _CHUNK, chunks * _CHUNK), part_rows, chunks, first, all_chunks, members, mode, len(part),
        )  # fmt: skip
        push, metadata = launch.with_metadata(device, header, [*steps, *part, *taken[0], *taken[1]])
        groups = launch.groups_for(part_rows * chunks * members, device.limits, size)
        launch.dispatch(variant, device, push, groups, reads, writes, size, metadata)
