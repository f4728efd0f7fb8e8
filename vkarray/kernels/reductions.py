"""Reductions: a row binds a name to GLSL expressions; `Reduction.run` reduces any set of axes of an array of any layout.

The order in which elements are combined is set out in `glsl/reduce.comp`. It depends on the shape, the type and the order
of the reduced axes in memory, never on the device.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import device_caches
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
from . import launch
from .reduction_order import vector_of
from .reduction_run import Run
from .reduction_types import TYPES, key_of, partial_dtype
from .rows import check_array

if TYPE_CHECKING:
    from .launch import Device

REDUCTIONS: dict[str, Reduction] = {}


def _by_kind(expression: str | dict[str, str], dtype: DType) -> str:
    if isinstance(expression, str):
        return expression
    return expression.get("integer" if dtype in CATEGORIES["integer"] else dtype.category) or expression["else"]


@dataclass(frozen=True, eq=False)
class Reduction:
    """One reduction.

    `combine` is GLSL that joins the states a and b (one string, or one per kind of state); `map` makes a state of the
    element a ({state} stands for the name of its type; default: conversion), `finish` a result of the state a (also one string,
    or one per kind). `types` is a key of TYPES. `empty` is the result for no elements, None to raise ValueError. `indexed`: the
    state also holds the place of an element, and `combine` says whether a comes before b. `centered`: `map` also takes `center`,
    the element of another array for this row. `shift` (a number made of the element a) instead lets `map` take as `center` a
    number near those of neighbouring elements; their states, `join`ed, are what `finish` gets. `order` names the functions of
    `glsl/lib/order.glsl` that make keys of the types in KEYS. `library` is the file of `glsl/lib` that the expressions call.
    """

    name: str
    category: str
    combine: str | dict[str, str]
    types: str = "same"
    map: str | dict[str, str] | None = None
    finish: str | dict[str, str] = "a"
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
        expressions = {"MAP": "a", "COMBINE": _by_kind(self.combine, state), "FINISH": _by_kind(self.finish, state)}
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
        itemsize, vector = self.input_of(device, source, state, states)
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
        if self.has_words(device, source) and (
            texels or (not states and not shared and "shaderInt64" in device.features)
        ):
            defines += [("PER_WORD", str(4 // read.itemsize)), ("A_UNPACK", f"UNPACK_{read.name}")]
        elif texels:
            defines += [("A_TEXEL", f"TEXEL_{read.name}")]
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

    def across_variant(self, device: Device, types: tuple[DType, DType, DType]) -> Variant:
        """The shader for rows that lie side by side in texels, if it `adds` their elements: an invocation adds up as many rows as
        a texel has elements."""
        element = types[0]
        vector = f"{_VECTORS[element]}{16 // element.itemsize}"
        defines = dict(self.variant(device, types, False, False, True).defines)
        defines |= {"ACROSS": str(16 // element.itemsize), "A_COMPUTE": vector, "P_COMPUTE": vector}
        defines["ELEMENT"] = "float" if element is dtypes.float32 else "double"
        return Variant("reduce", tuple(defines.items()), f"{self.name} {element} (texels across rows)")

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

    @classmethod
    def has_texels(cls, device: Device, source: DType) -> bool:
        """Whether texels hold whole elements of this type."""
        return cls.has_words(device, source) or source.itemsize == 8

    def input_of(self, device: Device, source: DType, state: DType, states: bool) -> tuple[int, int]:
        """(bytes of a stored input element, elements of a lane side by side: 16 bytes, at most 8 elements).

        The second does not depend on the device, as it decides the order of combination.
        """
        if not states:
            return storage_itemsize(source, device), vector_of(source)
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
        if self.has_texels(device, types[0]):
            yield self.variant(device, types, False, False, True)
            if self.adds(types):
                yield self.across_variant(device, types)
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
        if self.empty is None and any(x._shape[axis] == 0 for axis in axes):
            raise ValueError(
                f"{self.name}: expected at least one element along the reduced axes, got shape {x._shape}. Check the shape first."
            )
        shape = tuple(size for axis, size in enumerate(x._shape) if axis not in axes)
        takes = out is not None and out._shape == shape and out._dtype is types[2] and _may_be_written(out, x)
        result = out if takes and out is not None else empty(shape, types[2], x._device)
        if math.prod(shape) == 0:
            return result
        if 0 in x._shape:
            value = launch.scalar(self.empty, types[2], x._device)
            return launch.elementwise(launch.copy_operation(types[2]), (value,), result)
        Run(self, x, axes, result, types, parameters, center)()
        return result


# The types that kernels add up several sums of, and the vectors that hold an element of each.
_VECTORS = {dtypes.float32: "vec", dtypes.float64: "dvec"}
SUMS = (2, 3, 4)  # that one kernel adds up


@device_caches.cache
def sums_variant(device: Device, dtype: DType, count: int, shared: bool) -> Variant:
    """The shader that adds up so many sums of a type at once, of elements that are computed by what is linked; with `shared`
    invocations meet in shared memory."""
    defines = dict(REDUCTIONS["sum"].variant(device, (dtype, dtype, dtype), False, shared, False, "elements").defines)
    vector = f"{_VECTORS[dtype]}{count}"
    defines |= {"SEVERAL": str(count), "A_COMPUTE": vector, "P_COMPUTE": vector}
    way = "shared" if shared else "serial"
    return Variant("reduce", tuple(defines.items()), f"{count} sums of {dtype} ({way})")


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
