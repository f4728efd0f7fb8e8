"""Layers that look at whole rows, as rows of a table: the host side of `nn/rows.comp`.

A row of the table says in GLSL what an element adds to up to two states of its row and what becomes of it. All arithmetic is in
float32, or float64 for arrays of that type.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from .. import device_caches
from ..core import dtypes, layout
from ..core.array import VkArray, array_in, check_supported, empty, is_supported, storage_itemsize
from ..core.dtypes import CATEGORIES, DType
from ..shaders.source import Variant
from . import launch
from .dispatch import Fields, dispatch, number, pointer
from .launch import uses_shared_memory
from .reductions import partial_dtype

if TYPE_CHECKING:
    from .launch import Device, Kernel

KERNELS: dict[str, RowKernel] = {}
FLOATING = tuple(dtype for dtype in dtypes.DTYPES.values() if dtype in CATEGORIES["real floating"])

_VECTOR_BYTES = 16
_INVOCATIONS = 256
_MOST_INVOCATIONS = 512
# By its registers, the elements that an invocation keeps in them at most, and the packs of a row that it takes at most.
_KEPT = {"large": (32, 4), "middle": (32, 4), "small": (32, 4), "tiny": (8, 1)}
_BUSY = 1 << 17  # the invocations of all rows from which on that many packs of an invocation are enough
# Rows of so many elements at most, which CPU drivers get a kernel of their own for: it has no loops and asks for no ends.
_SHORT = 16
# llvmpipe leaves a shader's loops after 65,535 turns in all, and each pack is met in three of them.
_LONGEST_TURNS = 20_000
HALF_FEATURES = frozenset({"shaderFloat16", "storageBuffer16BitAccess"})  # of a device that converts float16 itself
_SUBGROUP_FEATURES = frozenset({"subgroupBasic", "subgroupShuffle"})


class Option(NamedTuple):
    """What a call adds to the expressions: two parameters, the rows of a matrix and how many elements more than its place a
    row of it may see, and the switch `OPTION`."""

    parameters: tuple[float, float] = (0.0, 0.0)
    matrix: tuple[int, int] = (1, 0)
    switch: bool = False


_NO_OPTION = Option()


@dataclass(frozen=True, eq=False)
class RowKernel:
    """One layer: the names of `nn/rows.comp` and their GLSL expressions. `second` says what the second operand is: of the type
    of the first ("same") or a mask ("bool"); `pairs`, which states are pairs of numbers."""

    name: str
    phase_1: str
    map: str
    combine_1: str = "x + y"
    identity_1: str = "STATE_1(0)"
    finish_1: str = "s"
    phase_2: str | None = None
    finish_2: str = "t"
    pairs: tuple[int, ...] = ()
    row_inputs: bool = False
    outputs: tuple[str, str] | None = None
    second: tuple[str, ...] = ("same",)

    def variant(self, device: Device, dtype: DType, mask: bool, subgroups: bool, half: bool = False) -> Variant:
        """The shader for arrays of `dtype`, with a mask of bools as the second operand or another array of that type.

        `half`: the device converts float16 itself.
        """
        itemsize = storage_itemsize(dtype, device)
        defines: list[tuple[str, str]] = [
            *((f"STATE_{phase}", "VX_PAIR" if phase in self.pairs else "T") for phase in (1, 2)),
            ("PHASE_1", self.phase_1), ("COMBINE_1", self.combine_1),
            ("IDENTITY_1", self.identity_1), ("FINISH_1", self.finish_1), ("MAP", self.map),
            ("VECTOR", str(_VECTOR_BYTES // itemsize)), ("ALIGN", str(_VECTOR_BYTES)),
        ]  # fmt: skip
        if self.phase_2 is not None:
            defines += [("PHASE_2", self.phase_2), ("FINISH_2", self.finish_2)]
        if self.outputs is not None:
            defines += [("ROW_OUTPUTS", "1"), ("FIRST_OUTPUT", self.outputs[0]), ("SECOND_OUTPUT", self.outputs[1])]
        if itemsize == 2:
            macros = ("VX_UNPACK_HALF", "VX_HALF_BITS") if half else (f"UNPACK_{dtype.name}", f"BITS_{dtype.name}")
            defines += [("PER_WORD", "2"), ("A_UNPACK", macros[0]), ("R_BITS", macros[1])]
        flags = {"ROW_INPUTS": self.row_inputs, "SUBGROUPS": subgroups, "B_PACKS": not mask, "HARDWARE_HALF": half}
        defines += [(name, "1") for name, wanted in flags.items() if wanted]
        defines.append(
            (
                "SHARED_STATES",
                "gl_WorkGroupSize.x / SUBGROUP" if subgroups else "MEMBERS > 1u ? gl_WorkGroupSize.x : 1u",
            )
        )
        other = dtypes.bool_ if mask else dtype
        for name, operand in (("A", dtype), ("B", other), ("R", dtype)):
            defines += launch.operand_defines(name, operand)
        defines += launch.compute_defines(dtype)
        defines += launch.feature_defines((dtype, other), device)
        label = (
            f"{self.name} {dtype}{' with a mask' if mask else ''} ({'subgroups' if subgroups else 'alone or shared'})"
        )
        return Variant("nn/rows", tuple(defines), label)

    def variants(self, device: Device) -> Iterator[Variant]:
        """The shaders of all types, for the archive."""
        for dtype in FLOATING:
            if is_supported(dtype, device):
                for second in self.second:
                    mask = second == "bool"
                    yield self.variant(device, dtype, mask, False)
                    yield self.variant(device, dtype, mask, True)
                    if dtype is dtypes.float16 and storage_itemsize(dtype, device) == 2:
                        yield self.variant(device, dtype, mask, True, True)

    def __call__(
        self, a: VkArray, axis: int, *, b: VkArray | None = None, w: VkArray | None = None, v: VkArray | None = None,
        rows: Sequence[VkArray | None] = (None, None), option: Option = _NO_OPTION,
    ) -> VkArray:  # fmt: skip
        """The layer over the rows of `a` along an axis, as a contiguous array of its shape.

        `b` broadcasts to that shape; `w` and `v` are contiguous and as long as the axis; `rows` are contiguous arrays of one
        number for each row, in the order of the other axes, read or written. These are of the type computed in, `w` and `v`
        both of that or both of the type of `a`.
        """
        check_supported(a._dtype, a._device, self.name)
        axis %= a.ndim
        reach = max(abs(layout_of(one, a._shape)._strides[axis]) for one in (a, b) if one is not None)
        reach = a._shape[axis] * max(reach, math.prod(a._shape[axis + 1 :]))
        if reach > launch.index_limit(a._device, a._dtype) and axis != a.ndim - 1:
            return self._moved(a, axis, b, w, v, rows, option)
        result = empty(a._shape, a._dtype, a._device)
        if result.size:
            _run(self, a, axis, result, b, w, v, rows, option)
        return result

    def _moved(
        self, a: VkArray, axis: int, b: VkArray | None, w: VkArray | None, v: VkArray | None,
        rows: Sequence[VkArray | None], option: Option,
    ) -> VkArray:  # fmt: skip
        """The layer through copies whose rows are without gaps, where indices do not reach along them."""
        last = a.ndim - 1
        order = (*range(axis), *range(axis + 1, a.ndim), axis)
        other = None if b is None else launch.copy(layout_of(b, a._shape)._permuted(order))
        result = self(launch.copy(a._permuted(order)), last, b=other, w=w, v=v, rows=rows, option=option)
        return launch.copy(result._permuted((*range(axis), last, *range(axis, last))))


def layout_of(x: VkArray, shape: layout.Shape) -> VkArray:
    """The array broadcast to a shape, a view."""
    return x._view(shape, layout.broadcast_strides(x._shape, x._strides, shape))


def row_kernel(name: str, phase_1: str, map: str, **options: object) -> RowKernel:
    """Make a layer and enter it in the table."""
    made = KERNELS[name] = RowKernel(name, phase_1, map, **options)  # type: ignore[arg-type]
    return made


@device_caches.cache
def _variant(kernel: RowKernel, device: Device, dtype: DType, mask: bool, subgroups: bool) -> Variant:
    half = subgroups and dtype is dtypes.float16 and device.features >= HALF_FEATURES
    return kernel.variant(device, dtype, mask, subgroups, half)


def has_subgroups(device: Device) -> bool:
    """Whether the subgroups of a GPU are all of one size and exchange values."""
    limits = device.limits
    same = limits.min_subgroup_size == limits.max_subgroup_size
    return uses_shared_memory(device) and same and frozenset(device.features) >= _SUBGROUP_FEATURES


def _power_of_two(count: int) -> int:
    return 1 << (count - 1).bit_length()


class _Plan(NamedTuple):
    """Invocations of a workgroup and of a row, the elements that each of these keeps, whether neighbours take neighbouring
    rows, and whether subgroups meet."""

    size: int
    members: int
    items: int
    columns: bool
    subgroups: bool


def _plan(device: Device, length: int, rows: int, vector: int, columns: bool) -> _Plan:
    packs = -(-length // vector)
    if not uses_shared_memory(device):
        few = rows < 1 << 13
        size = 16 if few else launch.WORKGROUP_SIZE
        members = min(_power_of_two(-(-packs // _LONGEST_TURNS)), launch.invocations_of_group(device.limits))
        return _Plan(max(size, members), members, packs * vector if length <= _SHORT else 0, columns, False)
    size = _INVOCATIONS
    most, keeps = _KEPT[device.limits.registers]
    # Few invocations for a row have less to exchange, many are busier where there are few rows.
    while keeps > 1 and rows * -(-packs // keeps) < _BUSY:
        keeps //= 2
    members = _power_of_two(-(-packs // keeps))
    if members > size and packs > size * (most // vector):
        size = launch.invocations_of_group(device.limits, _MOST_INVOCATIONS)
        if has_subgroups(device):
            size = device.limits.subgroups.largest_workgroup(device.limits.subgroup_size, size)
    members = min(members, size)
    if columns:
        members = min(members, 16)
    items = -(-packs // members) * vector
    return _Plan(size, members, items if items <= most else 0, columns, has_subgroups(device) and not columns)


class _Part(NamedTuple):
    """One dispatch: the kernel, its workgroups, where its rows begin in the arrays of `_ARRAYS` (bytes), and what
    else follows from their layouts."""

    kernel: Kernel
    groups: tuple[int, int, int]
    offsets: tuple[int, ...]
    fields: Fields


# The fields that are arrays: those with a stride along a row, those of its elements, those of the rows.
_ARRAYS = ("a", "b", "result", "w", "v", "first", "second")


def _run(
    kernel: RowKernel, a: VkArray, axis: int, result: VkArray, b: VkArray | None, w: VkArray | None, v: VkArray | None,
    row_arrays: Sequence[VkArray | None], option: Option,
) -> None:  # fmt: skip
    a = launch.forward(a)
    other = a if b is None else launch.forward(b)
    places = [None if one is None else pointer(one) for one in (a, other, result, w, v, *row_arrays)]
    own = any(one is not None and one._dtype is a._dtype for one in (w, v))
    present = (b is not None, w is not None, v is not None, own)
    aligned = tuple(place is None or place.is_aligned(_VECTOR_BYTES) for place in places[:5])
    parts = _parts(
        kernel, a._device, a._dtype, other._dtype, a._shape, a._strides, other._shape, other._strides, axis, present,
        aligned, option.switch,
    )  # fmt: skip
    real = partial_dtype(a._dtype)
    # Not in `_parts`: numbers of a call that is watched are its own.
    numbers = {"parameters": tuple(number(value, real) for value in option.parameters), "matrix": option.matrix}
    writes = ("result",) if kernel.row_inputs else ("result", "first", "second")
    for part in parts:
        fields = {**part.fields, **numbers}
        for name, place, offset in zip(_ARRAYS, places, part.offsets, strict=True):
            fields[name] = 0 if place is None else place.after(offset)
        dispatch(part.kernel, part.groups, fields, writes=writes)


@device_caches.lru_cache(4096)
def _parts(
    kernel: RowKernel, device: Device, dtype: DType, other: DType, shape: layout.Shape, a: layout.Strides,
    b_shape: layout.Shape, b: layout.Strides, axis: int, present: tuple[bool, bool, bool, bool], aligned: tuple[bool, ...],
    switch: bool,
) -> list[_Part]:  # fmt: skip
    """The dispatches for operands of these layouts; `aligned` says whether a, b, result, w and v begin at multiples of a pack."""
    strides = [a, layout.broadcast_strides(b_shape, b, shape), layout.contiguous_strides(shape)]
    length, steps = shape[axis], [row[axis] for row in strides]
    limit = launch.index_limit(device, dtype)
    kept, outer = layout.collapse(
        shape[:axis] + shape[axis + 1 :], [row[:axis] + row[axis + 1 :] for row in strides]
    )  # fmt: skip
    itemsizes = [storage_itemsize(one, device) for one in (dtype, other, dtype)]
    vector, real = _VECTOR_BYTES // itemsizes[0], partial_dtype(dtype)
    columns = steps[0] != 1 and bool(outer[0]) and 0 < outer[0][-1] < steps[0]
    mask = other is not dtype
    shifted = _begins_anywhere(
        outer[:1] + outer[2:] if mask else outer, steps[:1] + steps[2:] if mask else steps, vector
    )
    short = length <= _SHORT and not uses_shared_memory(device)
    shifted = shifted and not short
    plan = _plan(device, length + (vector - 1 if shifted else 0), math.prod(kept), vector, columns)
    chosen = _variant(kernel, device, dtype, mask, plan.subgroups)
    given = sum(1 << bit for bit, one in enumerate(present) if one)
    whole = not length % vector and not shifted
    parts = []
    for first, part, taken, offsets, _, _ in layout.row_slices(kept, outer, length, steps, length, limit):
        begin = [offset * size for offset, size in zip(offsets, itemsizes, strict=True)]
        packed = sum(
            1 << bit
            for bit, (step, row) in enumerate(zip(steps, taken, strict=True))
            if step == 1
            and aligned[bit]
            and not begin[bit] % _VECTOR_BYTES
            and (shifted or not any(stride % vector for stride in row))
        )
        packed |= 8 * (whole and vector >= 4 and all(aligned[3:5]))
        count = math.prod(part)
        fields = {
            "count": length,
            "rows": count,
            "first_row": first,
            "steps": steps,
            "rank": len(part),
            "layout_": (*part, *taken[0], *taken[1], *taken[2]),
        }
        constants = (
            (1, plan.members), (2, plan.items), (3, int(plan.columns)), (4, packed), (5, given),
            (6, device.limits.subgroup_size if plan.subgroups else 1), (7, int(switch)), (8, int(whole)),
            (9, int(shifted)), (10, length if short else 0),
        )  # fmt: skip
        groups = launch.groups_for(count * plan.members, device.limits, plan.size)
        made = launch.kernel(chosen, device, plan.size, constants)
        of_rows = first * real.itemsize
        parts.append(_Part(made, groups, (*begin, 0, 0, of_rows, of_rows), fields))
    return parts


def _begins_anywhere(outer: Sequence[layout.Strides], steps: Sequence[int], vector: int) -> bool:
    """Whether rows without gaps begin anywhere in a pack, but in the same place of one for all operands."""
    places = {tuple(stride % vector for stride in row) for row in outer}
    return set(steps) == {1} and len(places) == 1 and any(places.pop())


def reshaped(x: VkArray, shape: layout.Shape) -> VkArray:
    """`reshape` to a shape of as many elements, which costs little for contiguous arrays."""
    if x._contiguous:
        return array_in(x._buffer, x._offset, shape, layout.contiguous_strides(shape), x._dtype, x._device, True)
    strides = layout.reshaped_strides(x._shape, x._strides, shape)
    return launch.copy(x)._view(shape, layout.contiguous_strides(shape)) if strides is None else x._view(shape, strides)
