"""Where a shader variant meets the Vulkan layer: the one module that knows both.

It knows access patterns, not operations: `Operation` says which expression a kernel evaluates on which types,
`elementwise` runs it over arrays of any layout, and `dispatch` is for the families that have a template of their own.
"""

from __future__ import annotations

import functools
import math
import re
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _vk, configuration
from .._vk.watch import tracer, watches
from ..core import dtypes, layout
from ..core.array import VkArray, empty, storage_itemsize
from ..core.dtypes import CATEGORIES, DType
from ..shaders.source import Variant, spirv
from . import texels, walk
from .dispatch import Fields, pointer
from .dispatch import dispatch as dispatch_kernel
from .scalars import Scalar, constant, scalar, scalar_bytes  # noqa: F401 - other modules know them as this one's

if TYPE_CHECKING:
    from .._vk import Device, Kernel  # noqa: F401 - for the annotations of modules that do not know _vk

WORKGROUP_SIZE = 256
_VECTOR_BYTES = 16
# The flat template: invocations of a workgroup, packs of an invocation, packs where the expression is short, calling no library,
# and where besides all elements have one size, of a word at least. CPU drivers run both sides of every branch, so there one
# dispatch handles what fills whole workgroups, and another the rest, all of it below _FEW elements.
FLAT = {"gpu": (128, 2, 2, 1), "cpu": (512, 2, 4, 4)}
_AS_SHORT = {"gpu": {("vx_exp(a)", dtypes.float32)}, "cpu": set()}  # calls that are, and their types
_FEW = 1 << 14
# The strided template: invocations of a workgroup, elements of an invocation, as many of these as fit into shared memory, of
# which each device has 16 KiB at least and a tile takes 5 / 4 elements for one.
INVOCATIONS = {"gpu": 128, "cpu": WORKGROUP_SIZE}
_ELEMENTS = {"gpu": (4, 2, 1), "cpu": (1,)}
_TILE_BYTES = 16384 * 4 // 5
# What devices have whose flat kernels read texels. Without pairs of words stores take so long that reads count for little.
_TEXEL_FEATURES = ("shaderInt64", "storageBuffer8BitAccess", "storageBuffer16BitAccess")
# Operands in templates: the variable of each, which is also the field of its place; macros have it in capitals.
_INPUTS, _RESULTS = ("a", "b", "c", *(f"input{k}" for k in range(3, 32))), ("r", *(f"result{k}" for k in range(1, 32)))

Defines = tuple[tuple[str, str], ...]

# The folder below glsl/lib that holds the library functions of a type, and the macros that those files expect.
_KIND_FOLDER = {
    "bool": "bool", "signed integer": "integer", "unsigned integer": "integer", "complex floating": "complex",
}  # fmt: skip


def as_device(device: Any) -> _vk.Device:
    """A device from a Device, an index, a name, a UUID, or None for the default. Raises DeviceError."""
    return device if isinstance(device, _vk.Device) else _vk.open_device(device)


def library_folder(dtype: DType) -> str:
    """The folder of glsl/lib with the functions for a compute type (float16 and bfloat16 compute in float32)."""
    if dtype.category == "real floating":
        return "float64" if dtype.bits == 64 else "float32"
    return _KIND_FOLDER[dtype.category]


def library_path(library: str | None, dtype: DType) -> str:
    """The value of the define LIBRARY: a quoted path below glsl/, empty quotes for none."""
    if library is None:
        return '""'
    return f'"lib{library}.glsl"' if library.startswith("/") else f'"lib/{library_folder(dtype)}/{library}.glsl"'


@functools.cache
def compute_defines(dtype: DType) -> Defines:
    """The macros that library files and templates expect for the type computed in."""
    wide = dtype.bits == 64
    defines = [("T", f"COMPUTE_{dtype.name}")]
    if dtype in CATEGORIES["integer"]:
        defines += [("BITS", str(dtype.bits)), ("SIGNED", str(int(dtype.category == "signed integer")))]
    if dtype.category == "complex floating":
        defines += [("REAL", "double" if wide else "float"), ("COMPLEX", "dvec2" if wide else "vec2")]
    if wide and dtype.category.endswith("floating"):
        defines.append(("DOUBLE", "1"))
    return tuple(defines)


@functools.cache
def operand_defines(name: str, dtype: DType) -> Defines:
    """How a template loads and stores an operand called `name`."""
    macros = ("STORAGE", "COMPUTE", "LOAD", "STORE", "IMMEDIATE")
    return tuple((f"{name}_{macro}", f"{macro}_{dtype.name}") for macro in macros)


def feature_defines(operands: Sequence[DType], device: _vk.Device) -> Defines:
    """WIDE8 and WIDE16 where the device lacks such storage, HAS_INT64 and HAS_FLOAT64 where the kernel uses them."""
    bits = {dtype.bits for dtype in operands}
    features = device.features
    kinds = {(dtype.category.endswith("floating"), dtype.bits) for dtype in operands}
    defines = []
    if 8 in bits and "storageBuffer8BitAccess" not in features:
        defines.append(("WIDE8", "1"))
    if 16 in bits and "storageBuffer16BitAccess" not in features:
        defines.append(("WIDE16", "1"))
    if (False, 64) in kinds:
        defines.append(("HAS_INT64", "1"))
    if (True, 64) in kinds:
        defines.append(("HAS_FLOAT64", "1"))
    return tuple(defines)


def pack_defines(
    name: str, dtype: DType, vector: int, itemsize: int, device: _vk.Device, as_texels: bool
) -> Defines:  # fmt: skip
    """How the flat template moves `vector` elements at once: as pairs of words, or words, that hold several elements."""
    nbytes = vector * itemsize
    align = (f"{name}_ALIGN", str(nbytes))
    pairs = itemsize == dtype.itemsize <= 4 and nbytes % 8 == 0 and "shaderInt64" in device.features
    if not pairs and (itemsize >= 4 or nbytes % 4):
        return align, (f"{name}_AS", "ELEMENTS")
    macros = {
        "AS": "TEXELS" if as_texels else "PAIRS" if pairs else "WORDS",
        "PER_WORD": str(4 // itemsize),
        "UNPACK": f"UNPACK_{dtype.name}",
        "BITS": f"BITS_{dtype.name}",
    }
    return align, *((f"{name}_{macro}", value) for macro, value in macros.items())


def fields_of_results(count: int) -> tuple[str, ...]:
    """The names of the fields of so many results."""
    return _RESULTS[:count]


class Operation:
    """One expression on fixed types; its kernels, per device and access pattern, are made at first use.

    `results` has the types of all results: a kernel of the library has one.
    """

    __slots__ = (
        "compute",
        "expression",
        "indexed",
        "inputs",
        "kernels",
        "label",
        "library",
        "result",
        "results",
        "written",
    )

    def __init__(
        self, label: str, expression: str, inputs: tuple[DType, ...], result: DType, compute: DType,
        library: str | None = None,
    ) -> None:  # fmt: skip
        self.label = label
        self.expression = expression
        self.inputs = inputs
        self.result = result
        self.results: tuple[DType, ...] = (result,)
        self.written: tuple[str, ...] = fields_of_results(1)  # names of fields
        self.compute = compute
        self.library = library
        self.indexed = re.search(r"\bindex\b", expression) is not None  # whether the place in C order counts
        self.kernels: dict[tuple[_vk.Device, bool], tuple] = {}

    def variant(self, device: _vk.Device, flat: bool, as_texels: Sequence[int] = ()) -> Variant:
        """The shader variant of this operation for a device and access pattern; inputs `as_texels` are read so."""
        operands = (*self.inputs, *self.results)
        fields = (*_INPUTS[: len(self.inputs)], *_RESULTS[: len(self.results)])
        numbered = [f"DO({field.upper()}, {field}, {number})" for number, field in enumerate(fields)]
        defines: list[tuple[str, str]] = [
            ("INPUTS", str(len(self.inputs))),
            ("RESULTS", str(len(self.results))),
            ("EACH_INPUT(DO)", " ".join(numbered[: len(self.inputs)])),
            ("EACH_RESULT(DO)", " ".join(numbered[len(self.inputs) :])),
            *self.meaning(),
        ]
        if self.indexed:
            defines.append(("INDEXED", "1"))
        if flat:
            vector = vector_of([storage_itemsize(dtype, device) for dtype in operands])
            defines += [("FLAT", "1"), ("VECTOR", str(vector))]
        elif 0 < len(self.inputs) <= walk.TURNABLE:
            defines.append(("TURNABLE", "1"))
        for number, (field, dtype) in enumerate(zip(fields, operands, strict=True)):
            name = field.upper()
            defines += operand_defines(name, dtype)
            if flat:
                itemsize = storage_itemsize(dtype, device)
                defines += pack_defines(name, dtype, vector, itemsize, device, number in as_texels)
            elif number < len(self.inputs):
                # Drivers disagree about bool in shared memory.
                defines.append((f"{name}_TILE", "uint" if dtype is dtypes.bool_ else f"COMPUTE_{dtype.name}"))
        defines += feature_defines((*operands, self.compute), device)
        defines.append(("LIBRARY", library_path(self.library, self.compute)))
        access = "texels" if as_texels else "flat" if flat else "strided"
        return Variant("elementwise", tuple(defines), f"{self.label} ({access})")

    def meaning(self) -> Defines:
        """The defines that say what is computed."""
        return ("EXPRESSION", self.expression), *compute_defines(self.compute)

    def variants(self, device: _vk.Device) -> Iterator[Variant]:
        """All variants that a device with these features may ask for."""
        yield from (self.variant(device, flat) for flat in (True, False))
        if as_texels := self.as_texels(device):
            yield self.variant(device, True, as_texels)

    def as_texels(self, device: _vk.Device) -> tuple[int, ...]:
        """The inputs that CPU drivers read as texels: those of words, where no other is longer than these or packed in them."""
        longest = max((dtype.itemsize for dtype in self.results), default=0)
        if not has_texels(device) or longest > 4:
            return ()
        words = tuple(number for number, dtype in enumerate(self.inputs) if dtype.itemsize == 4)
        return words if len(words) == sum(dtype is not dtypes.bool_ for dtype in self.inputs) else ()

    def prepare(self, device: _vk.Device, flat: bool) -> tuple:
        """The kernels, bytes per element of each operand, and elements of a pack or the setting of walks."""
        itemsizes = tuple(storage_itemsize(dtype, device) for dtype in (*self.inputs, *self.results))
        if flat:
            entry: tuple = (_Flat(self, device), itemsizes, vector_of(itemsizes))
        else:
            setting = self.walk_setting(device)
            entry = (_Modes(self.variant(device, flat), device, setting), itemsizes, setting)
        self.kernels[device, flat] = entry
        return entry

    def walk_setting(self, device: _vk.Device) -> walk.Setting:
        """How the strided template walks operands of these types."""
        computed = sum(max(dtype.itemsize, 4) for dtype in self.inputs) if len(self.inputs) <= walk.TURNABLE else 0
        operands = (*self.inputs, *self.results)
        kind = device.limits.kind
        invocations = invocations_of_group(device.limits, INVOCATIONS[kind])
        room = _TILE_BYTES // invocations
        return walk.Setting(
            invocations=invocations,
            elements=next(count for count in _ELEMENTS[kind] if count * computed <= room),
            groups=device.limits.max_workgroup_count,
            turns=kind == "gpu",
            inputs=len(self.inputs),
            limit=layout.index_limit(max((storage_itemsize(dtype, device) for dtype in operands), default=1)) - 1,
        )


def has_texels(device: _vk.Device) -> bool:
    """Whether kernels of CPU drivers read packs as texels."""
    return all(feature in device.features for feature in _TEXEL_FEATURES)


def vector_of(itemsizes: Sequence[int]) -> int:
    """The elements of a pack of operands of these sizes."""
    return max(1, _VECTOR_BYTES // max(itemsizes, default=_VECTOR_BYTES))


class _Flat(dict[tuple[str, int, int], "_vk.Kernel"]):
    """The flat kernels of an operation by the part of an array ("texels": whole and bound), the inputs of one element, and which
    of these are immediate."""

    def __init__(self, operation: Operation, device: _vk.Device) -> None:
        super().__init__()
        self.operation, self.device, self.kind = operation, device, device.limits.kind
        invocations, *packs = FLAT[self.kind]
        self.invocations = invocations_of_group(device.limits, invocations)
        short = operation.library is None or (operation.expression, operation.compute) in _AS_SHORT[self.kind]
        sizes = {storage_itemsize(dtype, device) for dtype in (*operation.inputs, *operation.results)}
        self.packs = packs[short + (short and len(sizes) <= 1 and min(sizes, default=4) >= 4)]
        self.as_texels = operation.as_texels(device) if self.kind == "cpu" else ()

    def __missing__(self, key: tuple[str, int, int]) -> _vk.Kernel:
        part, broadcast, immediate = key
        whole = part in ("whole", "texels")
        values = (self.packs, whole, part == "single", broadcast, self.kind == "gpu", immediate)
        variant = self.operation.variant(self.device, True, self.as_texels if part == "texels" else ())
        made = self[key] = kernel(variant, self.device, self.invocations, tuple(enumerate(map(int, values), 1)))
        return made

    def parts(self, count: int, vector: int) -> Iterator[FlatPart]:
        """The dispatches for `count` elements."""
        return flat_parts(self.device.limits, self.invocations, self.packs, count, vector)


class FlatPart(NamedTuple):
    """A dispatch of a flat kernel: which part of the array, in how many workgroups, from the first element to before the last."""

    part: str
    groups: tuple[int, int, int]
    first: int
    end: int


def flat_parts(limits: _vk.Limits, group: int, packs: int, count: int, vector: int) -> Iterator[FlatPart]:
    """The dispatches of a flat kernel of `group` invocations, of `packs` packs of `vector` elements each, for `count` elements."""
    block = group * packs * vector
    if limits.kind == "gpu":
        yield FlatPart("any", groups_for(-(-count // (packs * vector)), limits, group), 0, count)
        return
    whole = count - count % block if count >= _FEW else 0
    row = limits.max_workgroup_count[0]
    rows, last = divmod(whole // block, row)
    if rows:
        yield FlatPart("whole", (row, rows, 1), 0, whole)
    if last:
        yield FlatPart("whole", (last, 1, 1), rows * row * block, whole)
    if whole < count:
        yield FlatPart("single", groups_for(count - whole, limits, group), whole, count)


class _Modes(dict[tuple[bool, bool, int], "_vk.Kernel"]):
    """The kernels of a strided variant by the mode of a walk and the inputs that are immediate, made at first use."""

    def __init__(self, variant: Variant, device: _vk.Device, setting: walk.Setting) -> None:
        super().__init__()
        self.variant, self.device, self.setting = variant, device, setting

    def __missing__(self, key: tuple[bool, bool, int]) -> _vk.Kernel:
        numbered, turns, immediate = key
        constants = ((1, self.setting.elements), (2, int(numbered)), (3, int(turns)), (6, immediate))
        made = self[key] = kernel(self.variant, self.device, self.setting.invocations, constants)
        return made


@functools.cache
def kernel(
    variant: Variant, device: _vk.Device, workgroup_size: int = WORKGROUP_SIZE,
    constants: tuple[tuple[int, int], ...] = (),
) -> _vk.Kernel:  # fmt: skip
    """The kernel of a variant on a device; specialization constant 0 is the workgroup size, `constants` are others."""
    size = invocations_of_group(device.limits, workgroup_size)
    if configuration.current().debug >= 3:
        print(f"vkarray: variant {variant.label}: {dict(variant.defines)} {dict(constants)}", file=sys.stderr)
    return device.kernel(spirv(variant), variant.label, ((0, size), *constants))


def invocations_of_group(limits: _vk.Limits, wanted: int = WORKGROUP_SIZE) -> int:
    """The workgroup size that a device gives a kernel that wants `wanted` invocations: Vulkan promises only 128."""
    largest = min(limits.max_workgroup_invocations, limits.max_workgroup_size[0])
    return wanted if wanted <= largest else 1 << largest.bit_length() - 1  # kernels halve it again and again


def groups_for(invocations: int, limits: _vk.Limits, workgroup_size: int = WORKGROUP_SIZE) -> tuple[int, int, int]:
    """Workgroup counts that cover `invocations`; shaders number them as y * NumWorkGroups.x + x."""
    groups = -(-invocations // invocations_of_group(limits, workgroup_size))
    return walk.folded(groups, limits.max_workgroup_count)


def elementwise(operation: Operation, inputs: Sequence[VkArray | Scalar], result: VkArray) -> VkArray:
    """Evaluate `operation` on `inputs`, broadcast to the shape of `result`, into `result` (any layouts).

    The caller has checked types, devices and that the shapes broadcast.
    """
    evaluate(operation, inputs, (result,), result._shape, result._device)
    return result


def evaluate(
    operation: Operation, inputs: Sequence[VkArray | Scalar], results: Sequence[VkArray], shape: layout.Shape,
    device: _vk.Device, own: Fields | None = None, origin: int = 0,
) -> None:  # fmt: skip
    """`elementwise` into any number of results of one shape, which share no memory.

    `own` are further fields, which the operation asks for; `origin` is the place in C order of the first element.
    """
    count = math.prod(shape)
    if count == 0:
        return
    for result in results:
        inputs = _without_overlap(inputs, result)
    trace = tracer() if watches and own is None else None
    if trace is not None and trace.evaluate(operation, inputs, results, shape, origin):
        return
    fields = {} if own is None else dict(own)
    broadcast = 0
    flat = all(result._contiguous for result in results)
    if flat:
        for position, operand in enumerate(inputs):
            if isinstance(operand, Scalar) or not (operand._contiguous and operand._shape == shape):
                if math.prod(operand._shape) != 1:
                    flat = False
                    break
                broadcast |= 1 << position
    if flat and count > layout.INDEX_LIMIT:
        _in_parts(operation, inputs, results, broadcast, count, device, own, origin)
        return
    if operation.indexed:
        fields["origin"] = origin
    if flat and _flat(operation, inputs, results, broadcast, count, device, fields):
        return
    strides = [layout.broadcast_strides(operand._shape, operand._strides, shape) for operand in inputs]
    strides += [result._strides for result in results]
    _strided(operation, inputs, results, shape, strides, device, fields)


def _in_parts(
    operation: Operation, inputs: Sequence[VkArray | Scalar], results: Sequence[VkArray], broadcast: int, count: int,
    device: _vk.Device, own: Fields | None, origin: int,
) -> None:  # fmt: skip
    """`evaluate` of contiguous arrays, in dispatches that indices reach."""
    for first in range(0, count, layout.INDEX_LIMIT):
        part = (min(count - first, layout.INDEX_LIMIT),)
        cut = [
            x if isinstance(x, Scalar) or broadcast >> k & 1 else x._view(part, (1,), first)
            for k, x in enumerate(inputs)
        ]
        into = [result._view(part, (1,), first) for result in results]
        evaluate(operation, cut, into, part, device, own, origin + first)


def _without_overlap(inputs: Sequence[VkArray | Scalar], result: VkArray) -> Sequence[VkArray | Scalar]:
    """Inputs, where one that shares memory with the result in another layout is replaced by a copy."""
    buffer = result._buffer
    for operand in inputs:
        if operand._buffer is buffer:
            break
    else:
        return inputs
    safe = []
    for operand in inputs:
        if type(operand) is VkArray and operand._buffer is buffer:
            same = (
                operand._offset == result._offset and operand._dtype is result._dtype
                and operand._shape == result._shape and operand._strides == result._strides
            )  # fmt: skip
            if not same and overlap(operand, result):
                operand = copy(operand)
        safe.append(operand)
    return safe


def overlap(one: VkArray, other: VkArray) -> bool:
    """Whether the bytes from the first to the last that two arrays touch overlap."""
    if one._buffer is not other._buffer:
        return False
    (first, last), (low, high) = _byte_range(one), _byte_range(other)
    return first < high and low < last


def _byte_range(array: VkArray) -> tuple[int, int]:
    """The first byte of the buffer that a view touches, and the one after the last: views may differ in their types."""
    first, last = layout.offset_range(array._shape, array._strides)
    itemsize = storage_itemsize(array._dtype, array._device)
    return (array._offset + first) * itemsize, (array._offset + last + 1) * itemsize


def _flat(
    operation: Operation, inputs: Sequence[VkArray | Scalar], results: Sequence[VkArray], broadcast: int, count: int,
    device: _vk.Device, fields: dict[str, Any],
) -> bool:  # fmt: skip
    """Dispatch the flat kernel; False when an operand is not aligned for it."""
    kernels, itemsizes, vector = operation.kernels.get((device, True)) or operation.prepare(device, True)
    fields = dict(fields)
    immediate = 0
    for position, operand in enumerate(inputs):
        if isinstance(operand, Scalar):
            immediate |= 1 << position
            fields[_INPUTS[position]] = operand
            continue
        place = fields[_INPUTS[position]] = pointer(operand)
        if not broadcast >> position & 1 and not place.is_aligned(vector * itemsizes[position]):
            return False
    for position, result in enumerate(results):
        place = fields[_RESULTS[position]] = pointer(result)
        if not place.is_aligned(vector * itemsizes[len(inputs) + position]):
            return False
    bound = texels.bindings(inputs, kernels.as_texels, broadcast, count) if kernels.as_texels else None
    for part, groups, first, end in kernels.parts(count, vector):
        chosen = kernels["texels" if bound and part == "whole" else part, broadcast, immediate]
        own = {**fields, "count": end, "first": first}
        bindings = bound if chosen.bindings else None
        dispatch_kernel(chosen, groups, own, writes=operation.written, bindings=bindings)
    return True


def _strided(
    operation: Operation, inputs: Sequence[VkArray | Scalar], results: Sequence[VkArray], shape: layout.Shape,
    strides: list[layout.Strides], device: _vk.Device, own: Fields,
) -> None:  # fmt: skip
    """Dispatch the strided kernel, in parts that 32-bit indices reach."""
    modes, _, setting = operation.kernels.get((device, False)) or operation.prepare(device, False)
    immediate = sum(1 << position for position, operand in enumerate(inputs) if isinstance(operand, Scalar))
    if operation.indexed:
        strides = [*strides, layout.contiguous_strides(shape)]
    for part in walk.parts(shape, tuple(strides), setting):
        fields: dict[str, Any] = {
            **own,
            **{
                name: operand if isinstance(operand, Scalar) else pointer(operand, offset)
                for name, operand, offset in zip(_INPUTS, inputs, part.offsets, strict=False)
            },
            **{
                name: pointer(result, offset)
                for name, result, offset in zip(_RESULTS, results, part.offsets[len(inputs) :], strict=False)
            },
            "count": part.numbers,
            "plan": part.plan,
            "layout_": part.values,
        }
        if operation.indexed:
            fields["origin"] += part.offsets[-1]
        dispatch_kernel(modes[*part.mode, immediate], part.groups, fields, writes=operation.written)


def index_limit(device: _vk.Device, *dtypes: DType) -> int:
    """How many elements of these types, of the widest of them, one dispatch may span."""
    return layout.index_limit(max(storage_itemsize(dtype, device) for dtype in dtypes))


def dispatch(
    variant: Variant, device: _vk.Device, groups: tuple[int, int, int], fields: Fields, *,
    writes: Sequence[str], workgroup_size: int = WORKGROUP_SIZE, constants: tuple[tuple[int, int], ...] = (),
    bindings: Sequence[texels.Binding] | None = None, also_reads: Sequence[VkArray] = (),
    also_writes: Sequence[VkArray] = (),
) -> None:  # fmt: skip
    """Run a template of its own: see `dispatch.dispatch`, to which the rest is given."""
    chosen = kernel(variant, device, workgroup_size, constants)
    dispatch_kernel(
        chosen, groups, fields, writes=writes, bindings=bindings, also_reads=also_reads, also_writes=also_writes
    )


@functools.cache
def copy_operation(dtype: DType) -> Operation:
    """The operation that copies elements of one type: bits are moved, never interpreted as numbers."""
    moved = _MOVED_AS.get(dtype.name, dtype)
    return Operation(f"copy {dtype}", "a", (moved,), moved, moved)


# Types that a copy moves as integers of the same storage, so that no conversion can touch their bits.
_MOVED_AS = {
    "float16": dtypes.uint16, "bfloat16": dtypes.uint16, "float32": dtypes.uint32, "bool": dtypes.uint8,
}  # fmt: skip


def copy(array: VkArray) -> VkArray:
    """A contiguous copy."""
    return elementwise(copy_operation(array._dtype), (array,), empty(array._shape, array._dtype, array._device))


def forward(array: VkArray) -> VkArray:
    """The array, copied where a stride is negative: for kernels that index from its first element."""
    backward = any(stride < 0 and size > 1 for size, stride in zip(array._shape, array._strides, strict=True))
    return copy(array) if backward else array


def contiguous(array: VkArray) -> VkArray:
    """The array itself when it is contiguous, else a copy that is."""
    return array if array._contiguous else copy(array)
