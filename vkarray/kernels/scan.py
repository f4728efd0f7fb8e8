"""Scans: cumulative operations along one axis. The order in which elements are joined is set out in `glsl/scan.comp`."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from .. import device_caches
from .._vk.watch import tracer
from ..core import layout
from ..core.array import VkArray, empty, is_supported
from ..core.dtypes import CATEGORIES, DTYPES, DType
from ..shaders.source import Variant
from . import launch
from .dispatch import pointer
from .launch import uses_shared_memory
from .prologue import Prologue
from .reductions import partial_dtype

if TYPE_CHECKING:
    from .launch import Device

_BLOCK = 16
_TILE = _BLOCK**3
_TOTALS, _BASE, _INITIAL, _EXCLUSIVE = 1, 2, 4, 8
# Invocations of a workgroup that meet in shared memory, and the shared memory that leaves room for other workgroups.
_INVOCATIONS = 256
_SHARED_BYTES = 40 << 10
_UNIT_BYTES = 20
# By the registers of an invocation: whether a step is loaded only when the one before is done.
_LEAN = {"large": False, "middle": False, "small": True, "tiny": True}
# The most bytes of an element of which blocks are kept in registers there.
_KEPT_BYTES = {"small": 4, "tiny": 0}
# How many elements are loaded before one of them is stored there.
_AT_ONCE = {"small": 8, "tiny": 2}
# And the most bytes of a value that subgroups exchange among themselves: larger ones lie evenly among all of a workgroup where
# steps are loaded late, and spill nothing then.
_TEAM_BYTES = {"large": 16, "middle": 16, "small": 4, "tiny": 4}
# Chunks of 16 tiles from so many on, which keep a GPU busy.
_ENOUGH_CHUNKS = 1 << 10
# Neighbouring rows that a workgroup reads together along columns, at most.
_NEIGHBOURS = 16
# From so many invocations on, one for each tile keeps a GPU busy, and neighbours read neighbouring columns.
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

    def variant(self, device: Device, source: DType, result: DType, shared: bool, linked: bool = False) -> Variant:
        """The shader for inputs and results of these types (both compute in the same GLSL type); `linked`: what computes the
        elements of the input is to be linked."""
        combine = self.combine.get(result.category) or self.combine["else"]
        initial = self.initial if result.category != "complex floating" else f"{self.initial}, 0"
        defines: list[tuple[str, str]] = [("COMBINE", combine), ("INITIAL_VALUE", initial)]
        if shared:  # see there about SPACING: memory has 32 banks of 4 bytes
            defines += [("SHARED", "1"), ("SPACING", "32" if _state_bytes(result) == 4 else "16")]
        if linked:
            defines.append(("LINKED", "1"))
        partial = partial_dtype(result)
        for name, dtype in (("A", source), ("P", partial), ("R", result)):
            defines += launch.operand_defines(name, dtype)
        defines += launch.compute_defines(result)
        defines += launch.feature_defines((source, partial, result), device)
        library = self.library if "vx_" in combine else None
        way = f"{'shared' if shared else 'serial'}{', linked' * linked}"
        defines.append(("LIBRARY", launch.library_path(library, result)))
        return Variant("scan", tuple(defines), f"{self.name} {source} ({way})")

    def variants(self, device: Device) -> Iterator[Variant]:
        """The shaders of all types, for the archive."""
        for dtype in filter(CATEGORIES["numeric"].__contains__, DTYPES.values()):
            if not is_supported(dtype, device):
                continue
            partial = partial_dtype(dtype)
            for source, result in dict.fromkeys(((dtype, dtype), (partial, partial))):
                for shared, linked in itertools.product((False, True), repeat=2):
                    yield self.variant(device, source, result, shared, linked)


def _state_bytes(dtype: DType) -> int:
    """The bytes of a value in the type that `dtype` computes in."""
    return partial_dtype(dtype).itemsize


SUM = Scan("cumulative_sum", {"else": "a + b"}, "0")


def running_sums(counts: VkArray) -> None:
    """Replace each of the contiguous uint32 counts by the sum of those before it."""
    flat = counts._view((counts.size,), (1,))
    scan_into(SUM, flat, 0, flat, exclusive=True)


@device_caches.cache
def _variant(scan: Scan, device: Device, source: DType, result: DType, shared: bool, linked: bool = False) -> Variant:
    return scan.variant(device, source, result, shared, linked)


class _Plan(NamedTuple):
    """How a scan is cut: elements of a chunk, invocations that share one, whether neighbours of these take neighbouring
    rows, and whether they meet in shared memory."""

    chunk: int
    members: int
    columns: bool
    shared: bool


def _power_of_two(count: int) -> int:
    """The smallest that is not below a count."""
    return 1 << (count - 1).bit_length()


def _plan(device: Device, dtype: DType, rows: int, length: int, columns: bool, limit: int) -> _Plan:
    """The plan for rows of `length` elements, with `limit` the length of a chunk that indices reach."""
    many = columns and rows * -(-length // _TILE) >= _ENOUGH_INVOCATIONS
    shared = uses_shared_memory(device) and "subgroupBasic" in device.features
    if many or not shared or _pieces(device, dtype) > _BLOCK:
        return _Plan(_TILE, 1, columns, False)
    members = min(_INVOCATIONS, _power_of_two(-(-length // _BLOCK)))
    if columns:
        members = min(members, _INVOCATIONS // min(_NEIGHBOURS, _power_of_two(rows)))
    wide = _BLOCK * _TILE
    if members == _INVOCATIONS and length > _TILE and rows * -(-length // wide) >= _ENOUGH_CHUNKS and wide <= limit:
        return _Plan(wide, members, columns, True)
    return _Plan(_TILE, members, columns, True)


def _pieces(device: Device, dtype: DType, members: int = 1) -> int:
    """In how many pieces, that share the memory, a workgroup exchanges its elements; more than _BLOCK: it lacks memory."""
    itemsize, slots = _state_bytes(dtype), _INVOCATIONS * (_BLOCK + 1)
    others = 2 * itemsize * (slots // _BLOCK + _BLOCK) + _UNIT_BYTES * _INVOCATIONS // members
    limit = min(_SHARED_BYTES, device.limits.max_shared_memory_size) - others
    return _power_of_two(-(-slots * itemsize // limit)) if limit > 0 else 2 * _BLOCK


def _team(device: Device, dtype: DType) -> int:
    """Invocations that exchange elements among themselves: those of a subgroup where all subgroups are of one size."""
    limits = device.limits
    alone = (
        limits.min_subgroup_size == limits.max_subgroup_size and _state_bytes(dtype) <= _TEAM_BYTES[limits.registers]
    )
    return limits.subgroup_size if alone else _INVOCATIONS


def scan_into(
    scan: Scan, x: VkArray, axis: int, result: VkArray, initial: bool = False, exclusive: bool = False
) -> None:
    """Scan x along an axis into `result`, an array of any layout: of the shape of x, or with `initial` one longer.

    The types compute in the same GLSL type. `exclusive`: an element becomes what lies before it. `result` shares no memory
    with x, or is x.
    """
    x, length = launch.forward(x), x._shape[axis]
    kept = x._shape[:axis] + x._shape[axis + 1 :]
    if math.prod(kept) == 0:
        return
    if length == 0:
        launch.elementwise(
            launch.copy_operation(result._dtype),
            (launch.scalar(int(scan.initial), result._dtype, x._device),), result,
        )  # fmt: skip
        return
    steps = (x._strides[axis], result._strides[axis])
    # The initial value is one element more.
    limit = (launch.index_limit(x._device, x._dtype, result._dtype) - initial) // max(1, *map(abs, steps))
    if min(length, _TILE) > limit:
        _scan_moved(scan, x, axis, result, initial, exclusive)
        return
    strides = [array._strides[:axis] + array._strides[axis + 1 :] for array in (x, result)]
    kept, first, others = layout.sort_by_stride(kept, *strides)
    kept, strides = layout.collapse(kept, [first, *others])
    columns = strides[0][-1] != 0 and abs(strides[0][-1]) < abs(steps[0])
    plan = _plan(x._device, result._dtype, math.prod(kept), length, columns, limit)
    run = functools.partial(_dispatch, scan, x, result, kept, strides, length, steps, plan)
    chunks = -(-length // plan.chunk)
    mode = (_INITIAL if initial else 0) | (_EXCLUSIVE if exclusive else 0)
    states = None
    if chunks > 1:
        states = empty((math.prod(kept), chunks), partial_dtype(result._dtype), x._device)
        run(states, _TOTALS)
        scan_into(scan, states, 1, states, exclusive=True)
        mode |= _BASE
    run(states, mode)


def _scan_moved(scan: Scan, x: VkArray, axis: int, result: VkArray, initial: bool, exclusive: bool) -> None:
    """As `scan_into`, through contiguous copies, for strides along the axis that 32-bit indices do not reach with."""
    order = (*range(axis), *range(axis + 1, x.ndim), axis)
    source, target = x._permuted(order), result._permuted(order)
    moved = empty(target._shape, result._dtype, x._device)
    scan_into(scan, launch.copy(source), x.ndim - 1, moved, initial, exclusive)
    launch.elementwise(launch.copy_operation(result._dtype), (moved,), target)


def _dispatch(
    scan: Scan, x: VkArray, result: VkArray, kept: layout.Shape, strides: list[layout.Strides], length: int,
    steps: tuple[int, int], plan: _Plan, states: VkArray | None, mode: int,
) -> None:  # fmt: skip
    """One of the passes over all elements: `states` is written with _TOTALS, read with _BASE, else not used."""
    device, chunk = x._device, plan.chunk
    all_chunks = -(-length // chunk)
    variant = _variant(scan, device, x._dtype, result._dtype, plan.shared)
    few = not plan.shared and math.prod(kept) * all_chunks < _ENOUGH_INVOCATIONS
    size = _FEW_INVOCATIONS if few else _INVOCATIONS
    constants: tuple[tuple[int, int], ...] = ((1, min(length, _BLOCK)),)
    if plan.shared:
        pieces = _pieces(device, result._dtype, plan.members)
        team = _INVOCATIONS if plan.columns or pieces > 1 else _team(device, result._dtype)
        constants = ((1, plan.members), (2, int(plan.columns)), (3, int(steps == (1, 1))), (4, pieces), (5, team))
        if _LEAN[device.limits.registers]:
            constants += ((6, 1), (8, _AT_ONCE[device.limits.registers]))
            if pieces <= plan.members and _state_bytes(result._dtype) > _KEPT_BYTES[device.limits.registers]:
                constants += ((7, 1),)
    limit = launch.index_limit(device, x._dtype, result._dtype) - (abs(steps[1]) if mode & _INITIAL else 0)
    for row, part, taken, offsets, first, chunks in layout.row_slices(kept, strides, length, steps, chunk, limit):
        x_offset, offset = (offset + first * chunk * step for offset, step in zip(offsets, steps, strict=True))
        rows = math.prod(part)
        fields = {
            "a": pointer(x, x_offset),
            "r": 0 if mode & _TOTALS else pointer(result, offset),
            "states": 0 if states is None else pointer(states, row * all_chunks),
            "count": min(length - first * chunk, chunks * chunk),
            "rows": rows,
            "chunks": chunks,
            "first_chunk": first,
            "pitch": all_chunks,
            "chunk": chunk,
            "mode": mode,
            "rank": len(part),
            "layout_": (*steps, *part, *taken[0], *taken[1]),
        }
        groups = launch.groups_for(rows * chunks * plan.members, device.limits, size)
        writes = ("states",) if mode & _TOTALS else ("r",)
        launch.dispatch(variant, device, groups, fields, writes=writes, workgroup_size=size, constants=constants)
        trace = tracer()
        if trace is not None and rows * chunks == math.prod(kept) * all_chunks:
            linked = _variant(scan, device, x._dtype, result._dtype, plan.shared, True)
            every = ((0, launch.invocations_of_group(device.limits, size)), *constants)
            trace.may_compute(Prologue(x, x._dtype, linked, 1, every, writes=writes[0]))
