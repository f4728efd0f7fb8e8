"""Reductions: a row binds a name to GLSL expressions; `Reduction.run` reduces any set of axes of an array of any layout.

The order in which elements are combined is set out in `glsl/reduce.comp`. It depends on the shape, the type and the order
of the reduced axes in memory, never on the device.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from .._vk.watch import tracer
from ..core import dtypes, layout
from ..core.array import (
    VkArray,
    array_in,
    check_supported,
    default_dtype,
    empty,
    is_supported,
    storage_itemsize,
)
from ..core.dtypes import CATEGORIES, DTYPES, REAL_OF, DType
from ..shaders.source import Variant
from . import launch, texels
from .dispatch import Number, pointer
from .prologue import Prologue
from .reduction_types import TYPES, key_of, partial_dtype
from .rows import check_array

if TYPE_CHECKING:
    from .launch import Device

REDUCTIONS: dict[str, Reduction] = {}

# Lanes that a chunk has in all its blocks, and those of a block.
_CHUNK_LANES, _LANES = 256, 8
# The most elements that a leaf joins one after the other; where their center comes from the first of them, it must be near
# to the others.
_STEPS, _SHIFTED_STEPS, _BATCH = 64, 16, 4
_COLUMNS, _LAST = 1, 2
# With so many chunks, a workgroup for columns has so many invocations and neighbours, by the kind of its states.
_MANY_CHUNKS = 1 << 12
_COLUMNS_GROUPS = {"place": (512, 32), "moments": (256, 32), "value": (512, 64)}
# Levels of the tree of an invocation's lanes that kernels are made for.
_LEVELS = (1, 4, 6, 9)
# By the registers of an invocation: with so many elements of a pack it takes its lanes one by one.
_LEAN_FROM = {"large": 16, "middle": 8, "small": 8}
# The workgroup where there are fewer: small, so that all threads of a CPU driver get some.
_FEW_INVOCATIONS = 16


def uses_shared_memory(device: Device) -> bool:
    """Whether invocations should meet in shared memory: barriers are dear on a CPU, and a workgroup must be that large."""
    return not device.limits.is_cpu and device.limits.max_workgroup_invocations >= launch.WORKGROUP_SIZE


def _by_kind(expression: str | dict[str, str], dtype: DType) -> str:
    if isinstance(expression, str):
        return expression
    return expression.get("integer" if dtype in CATEGORIES["integer"] else dtype.category) or expression["else"]


@dataclass(frozen=True, eq=False)
class Reduction:
    """One reduction.

    `combine` is GLSL that joins the states a and b (one string, or one per kind of state); `map` makes a state of the
    element a ({state} stands for the name of its type; default: conversion), `finish` a result of the state a. `types`
    is a key of TYPES. `empty` is the result for no elements, None to raise ValueError. `indexed`: the state also holds
    the place of an element, and `combine` says whether a comes before b. `centered`: `map` also takes `center`, the
    element of another array for this row. `shift` (a number made of the element a) instead lets `map` take as `center` a
    number near those of neighbouring elements; their states, `join`ed, are what `finish` gets. `order` names the functions
    of `glsl/lib/order.glsl` that make keys of the types in KEYS. `library` is the file of `glsl/lib` that the expressions
    call.
    """

    name: str
    category: str
    combine: str | dict[str, str]
    types: str = "same"
    map: str | dict[str, str] | None = None
    finish: str = "a"
    empty: bool | float | None = None
    indexed: bool = False
    centered: bool = False
    shift: str | None = None
    join: str = ""
    order: str | None = None
    library: str | None = None

    def variant(
        self, device: Device, types: tuple[DType, DType, DType], states: bool, shared: bool, texels: bool,
        linked: str = "",
    ) -> Variant:  # fmt: skip
        """The shader for (input, state, result) types.

        `states`: the input is what an earlier dispatch wrote; `shared`: invocations meet in shared memory; `texels`: the
        input, which is bound, is read so; `linked`: its "elements" are computed by what is linked, or it is a function for a "row",
        or for one whose members meet in "subgroups".
        """
        source, state, result = types
        if states:
            source = state  # whatever the first input was, this shader is the same
        real = REAL_OF.get(state, state)
        expressions = {"MAP": "a", "COMBINE": _by_kind(self.combine, state), "FINISH": self.finish}
        if self.shift is not None:
            expressions |= {"SHIFT": self.shift.format(real=real.name), "JOIN_STATES": self.join}
        if self.map is not None and not states:
            expressions["MAP"] = _by_kind(self.map, source).format(state=state.name, real=real.name)
        elif partial_dtype(source) is not state:
            expressions["MAP"] = f"vx_to_{state.name}(a)"
        library = self.library if any("vx_" in expressions[name] for name in ("COMBINE", "FINISH")) else None
        read, written = self.read_as(source, state), result
        if self.order is not None and state.category == "unsigned integer":
            library = "/order"
            if key := key_of(source, state):
                expressions["MAP"] = f"{self.order}_key(a << {key.below}, {key.infinity})"
            if key := key_of(result, state):
                written = key.read
                expressions["FINISH"] = f"{self.order}_value(a, {key.infinity}) >> {key.below}"
        itemsize, vector = self._input(device, source, state, states)
        defines: list[tuple[str, str]] = [
            *expressions.items(),
            ("VECTOR", str(vector)),
            ("ALIGN", str(vector * itemsize)),
        ]
        flags = {
            "STATES": states, "SHARED": shared, "TEXELS": texels, "INDEXED": self.indexed,
            "CENTERED": self.centered and not states, "LINKED": bool(linked),
            "ROW": linked in ("row", "subgroups"),
            "SUBGROUPS": linked == "subgroups",
        }  # fmt: skip
        defines += [(name, "1") for name, wanted in flags.items() if wanted]
        if self.indexed:
            defines.append(("R_BITS", str(result.bits)))
        if texels or (
            self.has_words(device, source) and not states and not shared and "shaderInt64" in device.features
        ):
            defines += [("PER_WORD", str(4 // read.itemsize)), ("A_UNPACK", f"UNPACK_{read.name}")]
        for name, dtype in (("A", read), ("P", state), ("R", written), ("C", real)):
            defines += launch.operand_defines(name, dtype)
        if flags["ROW"] and written.bits < 32:
            defines.append(("R_NARROW", f"NARROW_{written.name}"))
        defines += self.macros(state)
        defines += launch.feature_defines((read, state, written), device)
        defines.append(("LIBRARY", launch.library_path(library, state)))
        what = "states of " if states else ""
        way = "shared" if shared else "texels" if texels else "serial"
        way += f", linked {linked}" * bool(linked)
        return Variant("reduce", tuple(defines), f"{self.name} {what}{source} ({way})")

    def read_as(self, source: DType, state: DType) -> DType:
        """The type that kernels read the input as."""
        key = key_of(source, state) if self.order is not None else None
        return source if key is None else key.read

    def macros(self, state: DType) -> launch.Defines:
        """The macros that the functions of the library expect."""
        return launch.compute_defines(state)

    def types_for(self, dtype: DType, device: Device) -> tuple[DType, DType]:
        """The types of the state and of the result for an input of `dtype`."""
        return TYPES[self.types](dtype, device)

    @staticmethod
    def has_words(device: Device, source: DType) -> bool:
        """Whether 32 bits of memory hold whole elements of this type."""
        return source.itemsize <= 4 and storage_itemsize(source, device) == source.itemsize

    def _input(self, device: Device, source: DType, state: DType, states: bool) -> tuple[int, int]:
        """(bytes of a stored input element, elements of a lane side by side: 16 bytes, at most 8 elements).

        The second does not depend on the device, as it decides the order of combination.
        """
        if not states:
            return storage_itemsize(source, device), _vector(source)
        vector = 16 // state.itemsize if self.shift is None else 8 // state.itemsize
        return self.state_itemsize(device, state), 1 if self.indexed else max(1, min(8, vector))

    @property
    def state_kind(self) -> str:
        """What a state is: a value, one and its place, or moments."""
        return "place" if self.indexed else "value" if self.shift is None else "moments"

    def state_itemsize(self, device: Device, state: DType) -> int:
        """Bytes of a stored state. A place and a value are as long as the longer of them twice."""
        if self.indexed:
            return 2 * max(state.itemsize, default_dtype("int", device).itemsize)
        return storage_itemsize(state, device) * (1 if self.shift is None else 2)

    def variants_of(self, device: Device, types: tuple[DType, DType, DType]) -> Iterator[Variant]:
        """The shaders for (input, state, result) types."""
        for states, shared in itertools.product((False, True), repeat=2):
            yield self.variant(device, types, states, shared, False)
        if self.has_words(device, types[0]):
            yield self.variant(device, types, False, False, True)
        if not self.centered:
            for shared, linked in itertools.product((False, True), ("elements", "row")):
                yield self.variant(device, types, False, shared, False, linked)
            if self.can_meet_in_subgroups(types[1]):
                yield self.variant(device, types, False, True, False, "subgroups")

    @staticmethod
    def can_meet_in_subgroups(state: DType) -> bool:
        """Whether subgroups exchange states of a type, without an extension for integers of 64 bits."""
        return state.bits <= 32 or state.category.endswith("floating")

    def adds(self, types: tuple[DType, DType, DType]) -> bool:
        """Whether states of chunks are sums of the elements, which a kernel adds up together with others."""
        source, state, _ = types
        plain = self.map is None and self.shift is None and not self.indexed and not self.centered
        return plain and self.combine == "a + b" and source is state and source in _VECTORS

    def accepts(self, dtype: DType) -> bool:
        """Whether the row takes arrays of `dtype`."""
        return dtype in CATEGORIES[self.category]

    def variants(self, device: Device) -> Iterator[Variant]:
        """The shaders of all types, for the archive."""
        for source in DTYPES.values():
            if self.accepts(source):
                resolved = [self.types_for(source, device)]
                if (
                    self.types == "sum" and source.category != "bool"
                ):  # a dtype asked for: the input is converted to it first
                    resolved.append(TYPES["same"](source, device))
                for types in resolved:
                    if all(is_supported(dtype, device) for dtype in (source, *types)):
                        yield from self.variants_of(device, (source, *types))

    def run(
        self, x: VkArray, axes: Sequence[int], *, result_dtype: DType | None = None,
        parameters: tuple[float, float] = (0.0, 0.0), center: VkArray | None = None, out: VkArray | None = None,
    ) -> VkArray:  # fmt: skip
        """Reduce `axes` of x; the result has the other axes. It is contiguous and new, or `out` where that takes it as it is.

        `result_dtype` differs from that of TYPES only where both compute in the same GLSL type. `center` is contiguous
        and has the shape of the result.
        """
        state, standard = self.types_for(x._dtype, x._device)
        if result_dtype is not None and self.types == "sum":
            state = partial_dtype(result_dtype)
        types = (x._dtype, state, result_dtype or standard)
        for dtype in types:
            check_supported(dtype, x._device, self.name)
        shape = tuple(size for axis, size in enumerate(x._shape) if axis not in axes)
        takes = out is not None and out._shape == shape and out._dtype is types[2] and _may_be_written(out, x)
        result = out if takes and out is not None else empty(shape, types[2], x._device)
        if math.prod(shape) == 0:
            return result
        if 0 in x._shape:
            if self.empty is None:
                raise ValueError(
                    f"{self.name}: expected at least one element along the reduced axes, got shape {x._shape}. "
                    f"Check the shape first."
                )
            value = launch.scalar(self.empty, types[2], x._device)
            return launch.elementwise(launch.copy_operation(types[2]), (value,), result)
        Run(self, x, axes, result, types, parameters, center)()
        return result


# The types that kernels add up several sums of, and the vectors that hold an element of each.
_VECTORS = {dtypes.float32: "vec", dtypes.float64: "dvec"}
SUMS = (2, 3, 4)  # that one kernel adds up


@functools.cache
def sums_variant(device: Device, dtype: DType, count: int, shared: bool) -> Variant:
    """The shader that adds up so many sums of a type at once, of elements that are computed by what is linked; with `shared`
    invocations meet in shared memory."""
    defines = dict(REDUCTIONS["sum"].variant(device, (dtype, dtype, dtype), False, shared, False, "elements").defines)
    vector = f"{_VECTORS[dtype]}{count}"
    defines |= {"SEVERAL": str(count), "A_COMPUTE": vector, "P_COMPUTE": vector}
    way = "shared" if shared else "serial"
    return Variant("reduce", tuple(defines.items()), f"{count} sums of {dtype} ({way})")


class Reduce(NamedTuple):
    """A reduction of a row of one chunk, as a step of a row program: what is read as one type becomes another one."""

    row: Reduction
    types: tuple[DType, DType, DType]
    number: int  # among the reductions of the program

    @property
    def label(self) -> str:
        """What it does, for people."""
        return self.row.name

    @property
    def source(self) -> DType:
        """The type that it reads."""
        return self.row.read_as(self.types[0], self.types[1])

    @property
    def result(self) -> DType:
        """The type that it makes."""
        _, state, result = self.types
        return self.row.read_as(result, state)

    @property
    def vector(self) -> int:
        """Elements of a lane side by side."""
        return _vector(self.types[0])

    @property
    def can_meet_in_subgroups(self) -> bool:
        """Whether members of a row may exchange states within subgroups."""
        return self.row.can_meet_in_subgroups(self.types[1])

    def variant(self, device: Device, shared: bool, subgroups: bool) -> Variant:
        """The shader that has it as a function."""
        return _variant(self.row, device, self.types, False, shared, False, "subgroups" if subgroups else "row")

    def _block(self, length: int) -> int:
        most = _SHIFTED_STEPS if self.row.shift is not None else _STEPS
        return _LANES * self.vector * _steps(length, self.vector, most)

    def lanes(self, length: int) -> int:
        """Lanes that a row has: the leaves of its tree, in packs. Those of a row of few elements come first."""
        blocks = -(-length // self._block(length))
        few = 1 << (-(-length // self.vector) - 1).bit_length()
        return min(few, _LANES << (blocks - 1).bit_length())

    def packs(self, length: int, members: int) -> int:
        """The packs of an invocation where each member has one lane, whole; else 0."""
        block = self._block(length)
        return block // (_LANES * self.vector) if members == self.lanes(length) and not length % block else 0

    def constants(
        self, length: int, members: int, workgroup: int, columns: bool, shared: bool, varies: bool, subgroup: int
    ) -> dict[int, int]:
        """The constants of the shader for rows of a length, or of one that varies, and so many invocations of a row."""
        block = self._block(length)
        share = max(1, self.lanes(length) // members) if shared else _CHUNK_LANES
        turns = 0 if varies or length % block else block // (_LANES * self.vector) // _BATCH
        spacing = workgroup // members if columns else 1
        full = not varies and share * members * block == length * _LANES
        constants = (1, 0, turns, _levels(share), block, members, share, spacing, subgroup, int(full))
        return dict(enumerate(constants, 1))


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
        return _LANES * _vector(self.types[0])


def _vector(source: DType) -> int:
    """Elements of a lane side by side."""
    return min(8, 16 // source.itemsize)


def _levels(share: int) -> int:
    return next(levels for levels in _LEVELS if share < 1 << levels)


@functools.cache
def _variant(
    row: Reduction, device: Device, types: tuple[DType, DType, DType], states: bool, shared: bool, texels: bool,
    linked: str = "",
) -> Variant:  # fmt: skip
    return row.variant(device, types, states, shared, texels, linked)


def _steps(length: int, vector: int, most: int) -> int:
    """Elements that a leaf joins one after the other: few for more parallel work, many, `most` at most, where that saves a
    dispatch, or work in the next one."""
    chunk = _CHUNK_LANES * vector
    if length >= chunk << 16:
        return most
    return 4 if length <= 4 * chunk or 16 * chunk < length < 4096 * chunk else 16


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
        return self.row._input(self.device, self.types[0], self.types[1], states)

    def cut(self, vector: int) -> tuple[int, int]:
        """Elements that a leaf joins, and chunks of a row."""
        steps = _steps(self.length, vector, _SHIFTED_STEPS if self.row.shift is not None else _STEPS)
        return steps, -(-self.length // (_CHUNK_LANES * vector * steps))

    def is_aligned(self, nbytes: int) -> bool:
        """Whether what it reads begins at a multiple of so many bytes."""
        return self.place.is_aligned(nbytes)

    def fields(self, target: VkArray, written: int, read: int, first_row: int) -> dict[str, Any]:
        """What kernels take besides: where a dispatch writes that begins with a row, so many bytes on."""
        return {"result": pointer(target).after(written)}

    def variant(self, states: bool, shared: bool, texels: bool) -> Variant:
        """The kernel."""
        return _variant(self.row, self.device, self.types, states, shared, texels)

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
        block, blocks_of_chunk = _LANES * vector * steps, _CHUNK_LANES // _LANES
        chunk = block * blocks_of_chunk
        rows = math.prod(self.shape)
        step = self.steps[0] if len(self.steps) == 1 else 0
        packed = step == 1 and self.is_aligned(vector * itemsize) and not any(s % vector for s in self.strides)
        row_layout = (self.sizes[1], *self.steps) if len(self.sizes) == 2 else (0, self.steps[0], 0)
        columns = self.length <= _LANES * vector or 0 < abs(self.strides[-1]) < abs(self.steps[-1])
        shared = uses_shared_memory(device)
        many = rows * chunks >= _MANY_CHUNKS
        size = launch.WORKGROUP_SIZE if shared or many else _FEW_INVOCATIONS
        members, share = 1, _CHUNK_LANES
        if shared:
            blocks = 1 << (min(-(-self.length // block), blocks_of_chunk) - 1).bit_length()
            members = blocks * _LANES
            if columns and many and blocks > 1:
                wanted, neighbours = _COLUMNS_GROUPS[row.state_kind]
                size = launch.invocations_of_group(device.limits, wanted)
                members = min(members, size // neighbours)
            elif columns:
                members = blocks
            share = blocks * _LANES // members
        last = target is self.result
        mode = columns * _COLUMNS | last * _LAST
        turns = 0 if shared or not packed or self.length % block else steps // _BATCH
        constants: tuple[tuple[int, int], ...] = (
            (1, int(packed)), (2, int(len(self.sizes) == 2)), (3, turns), (4, _levels(share)),
        )  # fmt: skip
        if shared and vector >= _LEAN_FROM[device.limits.registers]:
            constants += ((11, 1),)
        if self.length <= _LANES * vector and tracer() is None:  # programs have one kernel for all lengths
            constants += ((12, -(-self.length // vector)), (13, int(not self.length % vector)))
        target_itemsize = storage_itemsize(self.types[2], device) if last else row.state_itemsize(device, self.types[1])
        words = packed and not shared and not states and self.plain and row.has_words(device, self.types[0])
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
            groups = launch.groups_for(part_rows * count * members, device.limits, size)
            # A packed row has no gaps, so what it spans is its length.
            span = layout.offset_range(part, taken[0])[1] + min(self.length - element, count * chunk)
            bound = texels.binding(self.x, 0, offset + element, span) if words else None
            variant = self.variant(states, shared, bound is not None)
            bindings = None if bound is None else [bound]
            launch.dispatch(
                variant, device, groups, fields, writes=self.writes, workgroup_size=size, constants=constants,
                bindings=bindings,
            )  # fmt: skip
            trace = tracer() if self.plain and not row.centered else None
            if trace is not None and not states and count == chunks and part_rows == rows:
                linked = _variant(row, device, self.types, False, shared, False, "elements")
                read_as = row.read_as(self.types[0], self.types[1])
                every = ((0, launch.invocations_of_group(device.limits, size)), *constants)
                reduced = None
                if last and list(self.axes) == sorted(self.axes):
                    parameters: Any = fields["parameters"]
                    reduced = RowReduction(row, self.types, self.x, self.axes, self.result, parameters)
                trace.may_compute(
                    Prologue(self.x, read_as, linked, vector, every, adds=not last and row.adds(self.types)),
                    reduced,
                    True,
                )


def _may_be_written(out: VkArray, x: VkArray) -> bool:
    """Whether a reduction of x may write its result there at once: forwards. Programs have memory of their own for it."""
    if out._device is not x._device or tracer() is not None or min(out._strides, default=0) < 0:
        return False
    return not launch.overlap(out, x) and not layout.has_internal_overlap(out._shape, out._strides)


def checked(name: str, x: Any, axis: int | Sequence[int] | None) -> tuple[int, ...]:
    """The axes to reduce, from the front; none of an array of 0 dimensions, whose axis may be 0 or -1, as NumPy's.

    Raises TypeError unless x is an array.
    """
    if not check_array(name, x)._shape and axis in (0, -1):
        return ()
    return layout.normalize_axes(axis, x.ndim, name)


def with_kept_axes(result: VkArray, x: VkArray, axes: Sequence[int], keepdims: bool) -> VkArray:
    """The result of a reduction, with the reduced axes of x as dimensions of length 1 when `keepdims`."""
    if not keepdims:
        return result
    shape = tuple(1 if axis in axes else size for axis, size in enumerate(x._shape))
    return array_in(
        result._buffer, result._offset, shape, layout.contiguous_strides(shape), result._dtype, result._device, True
    )


def row(name: str, category: str, combine: str | dict[str, str], **options: Any) -> Reduction:
    """A row of the registry without a public function of its own."""
    made = REDUCTIONS[name] = Reduction(name, category, combine, **options)
    return made


def variants(device: Device) -> Iterator[Variant]:
    """The shaders of all rows and types that the device supports, for the archive."""
    for made in REDUCTIONS.values():
        yield from made.variants(device)
    for dtype, count, shared in itertools.product(_VECTORS, SUMS, (False, True)):
        if is_supported(dtype, device):
            yield sums_variant(device, dtype, count, shared)
