"""Where a shader variant meets the Vulkan layer: the one module that knows both.

It knows access patterns, not operations: `Operation` says which expression a kernel evaluates on which types,
`elementwise` runs it over arrays of any layout, and `dispatch` is for the families that have a template of their own.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _vk, configuration
from .._vk.watch import tracer, watches
from ..core import dtypes, layout
from ..core.array import VkArray, empty, storage_itemsize
from ..core.dtypes import DType
from ..shaders.source import Shader, spirv
from . import kernel_caches, texels, walk
from .defines import (  # noqa: F401 - other modules know them as this one's
    Defines,
    compute_defines,
    feature_defines,
    has_texels,
    library_folder,
    library_path,
    operand_defines,
    pack_defines,
    vector_of,
)
from .dispatch import Fields, pointer
from .dispatch import dispatch as dispatch_kernel
from .operation import (  # noqa: F401 - other modules know them as this one's
    INPUT_FIELDS,
    INVOCATIONS,
    RESULT_FIELDS,
    WORKGROUP_SIZE,
    Operation,
    fields_of_results,
    invocations_of_group,
)
from .scalars import Scalar, constant, scalar, scalar_bytes  # noqa: F401 - other modules know them as this one's

if TYPE_CHECKING:
    from .._vk import Device, Kernel  # noqa: F401 - for the annotations of modules that do not know _vk


class FlatSizes(NamedTuple):
    """How much work the kernels of the flat template take at once."""

    invocations: int  # of a workgroup
    packs: int  # of an invocation
    packs_of_short: int  # where the expression is short: it calls no library
    packs_of_words: int  # where besides all elements have one size, of a word at least


# CPU drivers run both sides of every branch, so there one dispatch handles what fills whole workgroups, and another the rest, all
# of it below _FEW elements.
FLAT = {
    "large": FlatSizes(128, 2, 2, 1),
    "middle": FlatSizes(128, 2, 2, 1),
    "small": FlatSizes(128, 1, 2, 1),
    "tiny": FlatSizes(128, 1, 1, 1),
    "cpu": FlatSizes(512, 2, 4, 4),
}
_AS_SHORT = {"gpu": {("vx_exp(a)", dtypes.float32)}, "cpu": set()}  # calls that are, and their types
_FEW = 1 << 14
_MANY = 1 << 12  # elements for which CPU drivers gain from kernels that handle several by an invocation, if not flat


def uses_shared_memory(device: Device) -> bool:
    """Whether invocations should meet in shared memory: barriers are dear on a CPU, and a workgroup must be that large."""
    return not device.limits.is_cpu and device.limits.max_workgroup_invocations >= WORKGROUP_SIZE


def as_device(device: Any) -> _vk.Device:
    """A device from a Device, an index, a name, a UUID, or None for the default. Raises DeviceError."""
    return device if isinstance(device, _vk.Device) else _vk.open_device(device)


def _prepared(operation: Operation, device: _vk.Device, flat: bool) -> tuple:
    """The kernels, bytes per element of each operand, and elements of a pack or the setting of walks."""
    itemsizes = tuple(storage_itemsize(dtype, device) for dtype in (*operation.inputs, *operation.results))
    if flat:
        entry: tuple = (_Flat(operation, device), itemsizes, vector_of(itemsizes))
    else:
        setting = operation.walk_setting(device)
        entry = (_Modes(operation.variant(device, flat), device, setting), itemsizes, setting)
    kernel_caches.keep(operation, (device, flat), entry)
    return entry


class _Flat(dict[tuple[str, int, int], "_vk.Kernel"]):
    """The flat kernels of an operation by the part of an array ("texels": whole and bound), the inputs of one element, and which
    of these are immediate."""

    def __init__(self, operation: Operation, device: _vk.Device) -> None:
        super().__init__()
        self.operation, self.device, self.kind = operation, device, device.limits.kind
        taken = FLAT[device.limits.tier]
        self.invocations = invocations_of_group(device.limits, taken.invocations)
        short = operation.library is None or (operation.expression, operation.compute) in _AS_SHORT[self.kind]
        sizes = {storage_itemsize(dtype, device) for dtype in (*operation.inputs, *operation.results)}
        words = len(sizes) <= 1 and min(sizes, default=4) >= 4
        self.is_long = operation.is_costly and not short
        self.packs = taken.packs if not short else taken.packs_of_words if words else taken.packs_of_short
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
        return flat_parts(self.device.limits, self.invocations, self.packs, count, vector, self.is_long)

    def one_by_one(self, count: int) -> tuple[FlatPart]:
        """The dispatch for `count` elements without packs, which alone have to be aligned."""
        return (_one_by_one(self.device.limits, self.invocations, count),)


class FlatPart(NamedTuple):
    """A dispatch of a flat kernel: which part of the array, in how many workgroups, from the first element to before the last."""

    part: str
    groups: tuple[int, int, int]
    first: int
    end: int


def _one_by_one(limits: _vk.Limits, group: int, count: int) -> FlatPart:
    return FlatPart("single", groups_for(count, limits, group), 0, count)


def flat_parts(
    limits: _vk.Limits, group: int, packs: int, count: int, vector: int, is_long: bool
) -> Iterator[FlatPart]:  # fmt: skip
    """The dispatches of a flat kernel of `group` invocations, of `packs` packs of `vector` elements each, for `count` elements.

    Where registers are few, what is long is not computed for the elements of a pack side by side.
    """
    if is_long and limits.tier == "tiny":
        yield _one_by_one(limits, group, count)
        return
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

    def __init__(self, variant: Shader, device: _vk.Device, setting: walk.Setting) -> None:
        super().__init__()
        self.variant, self.device, self.setting = variant, device, setting

    def __missing__(self, key: tuple[bool, bool, int]) -> _vk.Kernel:
        numbered, turns, immediate = key
        constants = ((1, self.setting.elements), (2, int(numbered)), (3, int(turns)), (6, immediate))
        made = self[key] = kernel(self.variant, self.device, self.setting.invocations, constants)
        return made


@kernel_caches.cached
def kernel(
    variant: Shader, device: _vk.Device, workgroup_size: int = WORKGROUP_SIZE,
    constants: tuple[tuple[int, int], ...] = (), subgroup: int = 0,
) -> _vk.Kernel:  # fmt: skip
    """The kernel of a variant on a device; specialization constant 0 is the workgroup size, `constants` are others.

    `subgroup`: how many invocations a subgroup has, where that is not for the device to say.
    """
    size = invocations_of_group(device.limits, workgroup_size)
    if configuration.current().debug >= 3:
        print(f"vkarray: variant {variant.label}: {dict(variant.defines)} {dict(constants)}", file=sys.stderr)
    return kernel_caches.make(device, spirv(variant), variant.label, ((0, size), *constants), subgroup)


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
        inputs = without_overlap(inputs, result)
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


def without_overlap(inputs: Sequence[VkArray | Scalar], result: VkArray) -> Sequence[VkArray | Scalar]:
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
    """Dispatch the flat kernel; False when an operand is not aligned for it.

    CPU drivers handle the elements of such operands one by one where they are few, faster than by their strides.
    """
    kernels, itemsizes, vector = operation.kernels.get((device, True)) or _prepared(operation, device, True)
    fields = dict(fields)
    immediate, aligned = 0, True
    for position, operand in enumerate(inputs):
        if isinstance(operand, Scalar):
            immediate |= 1 << position
            fields[INPUT_FIELDS[position]] = operand
            continue
        place = fields[INPUT_FIELDS[position]] = pointer(operand)
        aligned = aligned and (bool(broadcast >> position & 1) or place.is_aligned(vector * itemsizes[position]))
    for position, result in enumerate(results):
        place = fields[RESULT_FIELDS[position]] = pointer(result)
        aligned = aligned and place.is_aligned(vector * itemsizes[len(inputs) + position])
    if not aligned and (kernels.kind == "gpu" or count >= _MANY):
        return False
    bound = texels.bindings(inputs, kernels.as_texels, broadcast, count) if aligned and kernels.as_texels else None
    for part, groups, first, end in kernels.parts(count, vector) if aligned else kernels.one_by_one(count):
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
    if device.limits.kind == "cpu" and math.prod(shape) >= _MANY and own.keys() <= {"origin"}:
        from .evaluation import along_strides  # which builds on this module

        if along_strides(operation, inputs, results, device, own.get("origin", 0)):
            return
    modes, _, setting = operation.kernels.get((device, False)) or _prepared(operation, device, False)
    immediate = sum(1 << position for position, operand in enumerate(inputs) if isinstance(operand, Scalar))
    if operation.indexed:
        strides = [*strides, layout.contiguous_strides(shape)]
    for part in walk.parts(shape, tuple(strides), setting):
        fields: dict[str, Any] = {
            **own,
            **{
                name: operand if isinstance(operand, Scalar) else pointer(operand, offset)
                for name, operand, offset in zip(INPUT_FIELDS, inputs, part.offsets, strict=False)
            },
            **{
                name: pointer(result, offset)
                for name, result, offset in zip(RESULT_FIELDS, results, part.offsets[len(inputs) :], strict=False)
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
    variant: Shader, device: _vk.Device, groups: tuple[int, int, int], fields: Fields, *,
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
