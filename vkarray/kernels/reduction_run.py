"""The dispatches of a reduction."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import device_caches
from .._vk.watch import tracer
from ..core import dtypes, layout
from ..core.array import VkArray, empty, storage_itemsize
from ..core.dtypes import DType
from ..shaders.source import Variant
from . import launch, texels
from .dispatch import Number, pointer
from .launch import uses_shared_memory
from .prologue import Prologue
from .reduction_order import (
    CHUNK_LANES,
    LANES,
    LONG_COLUMNS,
    ONE_BY_ONE,
    SHIFTED_STEPS,
    SINGLE,
    STEPS,
    levels_of,
    serial_constants,
    short_constants,
    steps_of,
    vector_of,
)

if TYPE_CHECKING:
    from .launch import Device
    from .reductions import Reduction

_COLUMNS, _LAST = 1, 2
# With so many chunks, a workgroup for columns has so many invocations and neighbours, by the kind of its states.
_MANY_CHUNKS = 1 << 12
_COLUMNS_GROUPS = {"place": (512, 32), "moments": (256, 32), "value": (512, 64)}
# By the registers of an invocation: with so many elements of a pack it takes its lanes one by one.
_LEAN_FROM = {"large": 16, "middle": 8, "small": 8, "tiny": 1}
TAKES_SINGLE_PACKS = frozenset(("tiny",))  # registers with which packs of a lane are taken one by one
# The workgroup where there are fewer: small, so that all threads of a CPU driver get some.
_FEW_INVOCATIONS = 16


@device_caches.cache
def variant_of(
    row: Reduction, device: Device, types: tuple[DType, DType, DType], states: bool, shared: bool, texels: bool,
    linked: str = "",
) -> Variant:  # fmt: skip
    """`Reduction.variant`, made once."""
    return row.variant(device, types, states, shared, texels, linked)


@device_caches.cache
def across_variant_of(row: Reduction, device: Device, types: tuple[DType, DType, DType]) -> Variant:
    """`Reduction.across_variant`, made once."""
    return row.across_variant(device, types)


class RowReduction(NamedTuple):
    """A dispatch that reduces rows of one chunk: along which axes of which array, and into which one."""

    row: Reduction
    types: tuple[DType, DType, DType]
    x: VkArray
    axes: tuple[int, ...]  # in their order
    result: VkArray
    parameters: tuple[Any, Any]

    @property
    def source(self) -> DType:
        """The type that it reads."""
        return self.row.read_as(self.types[0], self.types[1])

    @property
    def leaves(self) -> int:
        """The most elements of a row of which each is a leaf of its own."""
        return LANES * vector_of(self.types[0])


class Run:
    """The dispatches of one reduction."""

    plain = True  # it reads one array, which a program may compute and CPU drivers read as texels
    writes: tuple[str, ...] = ("result",)

    def __init__(
        self, row: Reduction, x: VkArray, axes: Sequence[int], result: VkArray, types: tuple[DType, DType, DType],
        parameters: tuple[float, float], center: VkArray | None,
    ) -> None:  # fmt: skip
        self.row, self.result, self.types, self.center = row, result, types, center
        self.device = x._device
        double = types[1].bits == 64 and types[1].category.endswith("floating")
        self.parameters = tuple(Number(value, "d" if double else "f") for value in parameters)
        kept = [axis for axis in range(x.ndim) if axis not in axes]
        shape, strides, others = layout.sort_by_stride(
            result._shape, tuple(x._strides[axis] for axis in kept), result._strides
        )
        self.shape, (self.strides, self.result_strides) = layout.collapse(shape, [strides, *others])
        sizes, steps = tuple(x._shape[axis] for axis in axes), tuple(x._strides[axis] for axis in axes)
        if not row.indexed:
            sizes, steps, _ = layout.sort_by_stride(sizes, steps)
        self.sizes, (self.steps,) = layout.collapse(sizes, [steps])
        self.x, self.place = x, pointer(x)
        self.length = math.prod(self.sizes)
        order = axes if row.indexed else sorted(axes, key=lambda axis: -abs(x._strides[axis]))
        self.axes = tuple(axis for axis in order if x._shape[axis] > 1)  # as elements of a row follow one another
        if not self._within_reach():
            self.make_contiguous(kept, axes)

    def _within_reach(self) -> bool:
        """Whether the shader can walk x: forwards, rows of two dimensions at most, 32-bit offsets inside a chunk of one
        dimension, and in all of x where rows have two."""
        if len(self.sizes) > 2 or min((0, *self.strides, *self.steps)) < 0:
            return False
        limit = launch.index_limit(self.device, *self.types)
        if len(self.sizes) == 1:
            return min(self.length, 1 << 16) * abs(self.steps[0]) <= limit
        low, high = layout.offset_range(self.shape + self.sizes, self.strides + self.steps)
        return high - low < limit and math.prod(self.shape) * self.length <= limit

    def make_contiguous(self, kept: Sequence[int], axes: Sequence[int]) -> None:
        """Copy what it reads, so that rows and their elements follow one another."""
        self.x = launch.copy(self.x._permuted((*kept, *axes)))
        self.axes = tuple(range(len(kept), self.x.ndim))
        self.place = pointer(self.x)
        self.sizes, self.steps = (self.length,), (1,)
        self.shape, (self.strides, self.result_strides) = layout.collapse(
            self.result._shape, [self.x._strides[: len(kept)], self.result._strides]
        )

    def __call__(self) -> None:
        """Reduce x to states of chunks, those again, until there is one chunk to a row."""
        states = False
        while True:
            itemsize, vector = self.input(states)
            steps, chunks = self.cut(vector)
            target = self.result if chunks == 1 else self._chunk_states(chunks)
            self.dispatch(target, states, itemsize, vector, steps, chunks)
            if chunks == 1:
                return
            states, self.x, self.place = True, target, pointer(target)
            self.length, self.sizes, self.steps = chunks, (chunks,), (1,)
            # The chunks' states lie in the order of the rows.
            self.strides = tuple(stride * chunks for stride in layout.contiguous_strides(self.shape))

    def input(self, states: bool) -> tuple[int, int]:
        """Bytes of a stored element, and elements of a lane side by side."""
        return self.row.input_of(self.device, self.types[0], self.types[1], states)

    def cut(self, vector: int) -> tuple[int, int]:
        """Elements that a leaf joins, and chunks of a row."""
        steps = steps_of(self.length, vector, SHIFTED_STEPS if self.row.shift is not None else STEPS)
        return steps, -(-self.length // (CHUNK_LANES * vector * steps))

    def is_aligned(self, nbytes: int) -> bool:
        """Whether what it reads begins at a multiple of so many bytes."""
        return self.place.is_aligned(nbytes)

    def fields(self, target: VkArray, written: int, read: int, first_row: int) -> dict[str, Any]:
        """What kernels take besides: where a dispatch writes that begins with a row, so many bytes on."""
        return {"result": pointer(target).after(written)}

    def _lies_across(self, rows: layout.Shape, strides: layout.Strides, read: int) -> bool:
        """Whether rows of a shape lie side by side in texels, and as many as a texel has elements can be added up at once."""
        if not (self.row.adds(self.types) and rows and strides[-1] == 1 and self.place.after(read).is_aligned(16)):
            return False
        divisible = (rows[-1], *strides[:-1], *self.steps)
        return self.length >= LONG_COLUMNS and not any(number % (16 // self.types[0].itemsize) for number in divisible)

    def variant(self, states: bool, shared: bool, texels: bool) -> Variant:
        """The kernel."""
        return variant_of(self.row, self.device, self.types, states, shared, texels)

    def _chunk_states(self, chunks: int) -> VkArray:
        """Memory for the states of all chunks, as words."""
        nbytes = math.prod(self.shape) * chunks * self.row.state_itemsize(self.device, self.types[1])
        return empty((-(-nbytes // 4),), dtypes.uint32, self.device)

    def _slices(self, chunk: int) -> Iterator[tuple[int, layout.Shape, list[layout.Strides], list[int], int, int]]:
        strides = [self.strides, self.result_strides]
        if len(self.sizes) == 1:
            limit = launch.index_limit(self.device, *self.types)
            return layout.row_slices(self.shape, strides, self.length, (self.steps[0], 0), chunk, limit)
        return iter([(0, self.shape, strides, [0, 0], 0, -(-self.length // chunk))])

    def dispatch(
        self, target: VkArray, states: bool, itemsize: int, vector: int, steps: int, chunks: int
    ) -> None:  # fmt: skip
        """Reduce x to the target: results, or states of so many chunks."""
        device, row = self.device, self.row
        block, blocks_of_chunk = LANES * vector * steps, CHUNK_LANES // LANES
        chunk = block * blocks_of_chunk
        rows = math.prod(self.shape)
        step = self.steps[0] if len(self.steps) == 1 else 0
        packed = step == 1 and self.is_aligned(vector * itemsize) and not any(s % vector for s in self.strides)
        row_layout = (self.sizes[1], *self.steps) if len(self.sizes) == 2 else (0, self.steps[0], 0)
        columns = self.length <= LANES * vector or 0 < abs(self.strides[-1]) < abs(self.steps[-1])
        shared = uses_shared_memory(device)
        many = rows * chunks >= _MANY_CHUNKS
        size = launch.WORKGROUP_SIZE if shared or many else _FEW_INVOCATIONS
        members, share = 1, CHUNK_LANES
        if shared:
            blocks = 1 << (min(-(-self.length // block), blocks_of_chunk) - 1).bit_length()
            members = blocks * LANES
            if columns and many and blocks > 1:
                wanted, neighbours = _COLUMNS_GROUPS[row.state_kind]
                size = launch.invocations_of_group(device.limits, wanted)
                members = min(members, size // neighbours)
            elif columns:
                members = blocks
            share = blocks * LANES // members
        last = target is self.result
        mode = columns * _COLUMNS | last * _LAST
        trace = tracer()
        varies = trace is not None and trace.varies  # then one kernel is for all lengths
        numbers = {1: int(packed), 2: int(len(self.sizes) == 2)}
        if shared:
            numbers |= {3: 0, 4: levels_of(share)}
            if vector >= _LEAN_FROM[device.limits.registers]:
                numbers[11] = 1
            if device.limits.registers in TAKES_SINGLE_PACKS:
                numbers[SINGLE] = 1
            if not varies:
                numbers |= short_constants(self.length, vector)
        else:
            numbers |= serial_constants(self.length, vector, block, packed, varies)
        target_itemsize = storage_itemsize(self.types[2], device) if last else row.state_itemsize(device, self.types[1])
        as_texels = not shared and not states and self.plain and row.has_texels(device, self.types[0])
        for first_row, part, taken, (offset, place), first, count in self._slices(chunk):
            element = first * chunk
            part_rows = math.prod(part)
            written = (place if last else first_row * chunks + first) * target_itemsize
            read = (offset + element * step) * itemsize
            fields = {
                "a": self.place.after(read), **self.fields(target, written, read, first_row),
                "center": 0 if self.center is None else pointer(self.center, place),
                "parameters": (element, 0) if row.indexed else self.parameters,
                "count": min(self.length - element, count * chunk), "rows": part_rows, "chunks": count, "pitch": chunks,
                "block": block, "members": members, "share": share, "mode": mode, "rank": len(part),
                "inner_size": row_layout[0], "stride": row_layout[1], "inner_stride": row_layout[2],
                "layout_": (*part, *taken[0], *taken[1]),
            }  # fmt: skip
            if not shared:
                numbers |= {15: int(count == 1), 16: len(part)}
            constants = tuple(numbers.items())
            groups = launch.groups_for(part_rows * count * members, device.limits, size)
            bound = None
            if as_texels:
                reach = self.sizes if len(self.sizes) == 2 else (fields["count"],)
                span = layout.offset_range((*part, *reach), (*taken[0], *self.steps))[1] + 1
                bound = texels.binding(self.x, 0, offset + element * step, span, before=True)
            variant, ungrouped = self.variant(states, shared, bound is not None), None
            if bound is not None and self._lies_across(part, taken[0], read):
                ungrouped = groups, part_rows
                neighbours = 16 // itemsize
                variant = across_variant_of(row, device, self.types)
                fields["rows"] = part_rows // neighbours
                groups = launch.groups_for(part_rows // neighbours * count * members, device.limits, size)
            bindings = None if bound is None else [bound]
            launch.dispatch(
                variant, device, groups, fields, writes=self.writes, workgroup_size=size, constants=constants,
                bindings=bindings,
            )  # fmt: skip
            if (
                trace is not None
                and self.plain
                and not row.centered
                and not states
                and count == chunks
                and part_rows == rows
            ):
                linked = variant_of(row, device, self.types, False, shared, False, "elements")
                read_as = row.read_as(self.types[0], self.types[1])
                every = ((0, launch.invocations_of_group(device.limits, size)), *constants)
                reduced = None
                if last and list(self.axes) == sorted(self.axes):
                    parameters: Any = fields["parameters"]
                    reduced = RowReduction(row, self.types, self.x, self.axes, self.result, parameters)
                trace.may_compute(
                    Prologue(
                        self.x,
                        read_as,
                        linked,
                        vector,
                        every,
                        of_long=((ONE_BY_ONE, 1),) if SINGLE in numbers else (),
                        adds=not last and row.adds(self.types),
                        ungrouped=ungrouped,
                    ),
                    reduced,
                    True,
                )
