"""Moving elements through index arrays: the host side of `index/gather.comp`, and of the dispatches of `index/scatter.comp`.

The values of an index array are known to the device alone. A kernel skips one that is out of range and notes it; a
deferred check raises the error when the host next reads a value (`faults`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import device_caches
from .._vk.watch import tracer
from ..core import dtypes, layout
from ..core.array import VkArray, empty, is_supported, storage_itemsize
from ..core.dtypes import DType
from ..core.key import out_of_bounds
from ..core.layout import Shape, Strides
from ..errors import FeatureError
from ..shaders.source import Shader, Variant
from . import faults, launch
from .conversion import cast
from .dispatch import dispatch, pointer
from .host_values import Limit, are_checked, unread_status
from .launch import Operation
from .product import linked
from .product.epilogue import NOTHING, Epilogue
from .signature import VALUES

if TYPE_CHECKING:
    from .._vk.pointer import Pointer
    from .launch import Device

# One index array over up to so many dimensions (after collapse) has a pipeline with the rank built in.
_COMMON_RANK = 3

# What moves elements, and its shader. "latest" keeps for each element of int32 the largest number of an index that names it.
TEMPLATES = {"gather": "gather", "scatter": "scatter", "latest": "scatter"}


class IndexRule(NamedTuple):
    """Which indices a function takes, and the error for one out of range: a `faults.Fault`."""

    function: str
    wraps: bool = True  # negative ones count from the end
    error: type[Exception] = IndexError
    place: str = "axis {axis} of length {length}"

    def describe(self, value: int, axis: int, length: int) -> str:
        """The text of the error, from what the kernel noted."""
        return out_of_bounds(self.function, value, axis, length, wraps=self.wraps, place=self.place)

    def limit(self, index: IndexArray) -> Limit:
        """What the values of an index array have to be."""
        return Limit(self, -index.length if self.wraps else 0, index.length - 1, axis=index.axis, length=index.length)


VALUES.add(IndexRule)


class IndexArray(NamedTuple):
    """An integer array, of a shape that broadcasts to the selection's, of indices into an axis of a length and stride."""

    array: VkArray
    axis: int
    length: int
    step: int


def variant(template: str, element_bytes: int, wide: bool) -> Variant:
    """The variant of "gather", "scatter" or "latest" for elements of a size and 32- or 64-bit indices."""
    defines = [("ELEMENT_BYTES", str(element_bytes))]
    if template == "latest":
        defines.append(("LATEST", "1"))
    if wide:
        defines.append(("INDEX64", "1"))
    return Variant(
        f"index/{TEMPLATES[template]}",
        tuple(defines),
        f"{template} {element_bytes} bytes, {64 if wide else 32}-bit indices",
    )


@device_caches.cache
def element_sizes(device: Device) -> tuple[int, ...]:
    """The bytes that elements have on a device: each size has one kernel, whatever the dtypes."""
    return tuple(sorted({storage_itemsize(dtype, device) for dtype in dtypes.DTYPES.values()}))


def variants(device: Device) -> Iterator[Shader]:
    """All variants that a device can meet."""
    for element_bytes in element_sizes(device):
        for wide in (False, True) if is_supported(dtypes.int64, device) else (False,):
            yield variant("gather", element_bytes, wide)
            yield variant("scatter", element_bytes, wide)
    for wide in (False, True) if is_supported(dtypes.int64, device) else (False,):
        yield variant("latest", 4, wide)
    for dtype in filter(functools.partial(is_supported, device=device), dtypes.DTYPES.values()):
        for wide in (False, True) if is_supported(dtypes.int64, device) else (False,):
            yield linked_variant(dtype, wide, device)
    for dtype in (dtypes.uint32, dtypes.uint64):
        target = dtypes.int64 if is_supported(dtypes.int64, device) else dtypes.int32
        if is_supported(dtype, device) and dtype.bits >= target.bits:
            yield from _saturating_cast(dtype, target).variants(device)


@device_caches.cache
def linked_variant(dtype: DType, wide: bool, device: Device) -> Variant:
    """The variant of "gather" for elements of a type, of which it stores an expression that is to be linked."""
    itemsize = storage_itemsize(dtype, device)
    defines = [("LINKED", "1"), *variant("gather", itemsize, wide).defines, *launch.operand_defines("R", dtype)]
    defines += [*launch.compute_defines(dtype), *launch.feature_defines((dtype,), device)]
    return Variant("index/gather", tuple(defines), f"gather {dtype}, {64 if wide else 32}-bit indices")


class Gather(NamedTuple):
    """result = elements of `source`, walked by `strides` from its first, plus the steps of `indices`; then come the steps of an
    epilogue."""

    rule: IndexRule
    source: VkArray
    strides: Strides
    indices: tuple[IndexArray, ...]
    result: VkArray
    status: VkArray | None = None  # where indices out of range are noted
    epilogue: Epilogue = NOTHING

    @property
    def operands(self) -> tuple[VkArray, ...]:
        """The arrays that are read besides those of the epilogue."""
        return (self.source, *(one.array for one in self.indices))

    @property
    def also_writes(self) -> tuple[VkArray, ...]:
        """The arrays that are written besides the result."""
        return () if self.status is None else (self.status,)

    def takes(self, addend: VkArray) -> bool:
        """Whether kernels can read an array beside the elements: one that lies as the result does, or as its last axes do."""
        shape = self.result._shape
        strides = layout.broadcast_strides(addend._shape, addend._strides, shape)
        whole = layout.contiguous_strides(shape)
        return addend._contiguous and all(
            length == 1 or step == own or (not step and not any(strides[:axis]))
            for axis, (length, step, own) in enumerate(zip(shape, strides, whole, strict=True))
        )

    def seen(self, view: Callable[[VkArray], VkArray]) -> Gather:
        """The same of views of all arrays."""
        indices = tuple(one._replace(array=view(one.array)) for one in self.indices)
        status = None if self.status is None else view(self.status)
        return self._replace(
            source=view(self.source),
            indices=indices,
            result=view(self.result),
            status=status,
            epilogue=self.epilogue.seen(view),
        )

    def send(self) -> None:
        """Make the dispatches."""
        move("gather", self.rule, self.source, self.result._shape, self.strides, self.result, self.indices, self)


def gather(rule: IndexRule, source: VkArray, shape: Shape, strides: Strides, indices: Sequence[IndexArray]) -> VkArray:
    """A new array of `shape`: elements of `source`, walked by `strides` from its first, plus the steps of `indices`."""
    result = empty(shape, source._dtype, source._device)
    trace = tracer()
    first = 0 if trace is None else trace.position
    move("gather", rule, source, shape, strides, result, indices)
    if trace is not None and result.size <= layout.OFFSET_LIMIT:
        status = faults.pending_check(source._device).array
        trace.may_store(first, Gather(rule, source, strides, tuple(indices), result, status))
    return result


def move(
    template: str, rule: IndexRule, indexed: VkArray, shape: Shape, strides: Strides, dense: VkArray,
    indices: Sequence[IndexArray], made: Gather | None = None, last: bool = False,
) -> None:  # fmt: skip
    """Dispatch a template of `TEMPLATES`. `last`: indices that differ in axes without a stride alone may name one element again."""
    if math.prod(shape) == 0:
        return
    device = indexed._device
    itemsize = storage_itemsize(indexed._dtype, device)
    low, high = layout.offset_range(shape, strides)
    reach = high - low + sum(abs(index.step) * max(index.length - 1, 0) for index in indices)
    wide = _needs_64_bits([index.array._dtype for index in indices], reach, device)
    arrays = [_as_index(index.array, dtypes.int64 if wide else dtypes.int32) for index in indices]
    known = [are_checked(one.array, rule.limit(one)) for one in indices] if made is None else []
    check = None
    if made is not None:
        status: Any = made.status
    elif all(known):
        status = unread_status(device)
    else:
        check = faults.pending_check(device)
        status = check.array
    operands = [strides, *(layout.broadcast_strides(one._shape, one._strides, shape) for one in (dense, *arrays))]
    shape, rows = layout.collapse(shape, operands)
    steps = [index.step for index in indices]
    places = (pointer(indexed), pointer(dense))
    factor = 1 if made is not None else _widening(shape, rows, steps, itemsize, places, element_sizes(device))
    if factor > 1:
        itemsize *= factor
        shape = (*shape[:-1], shape[-1] // factor)
        rows[:2] = [(*(stride // factor for stride in row[:-1]), 1) for row in rows[:2]]
        steps = [step // factor for step in steps]
    chosen = variant(template, itemsize, wide)
    code = faults.code_of(rule)
    for part, taken, offsets in layout.index_slices(shape, rows, layout.OFFSET_LIMIT):
        count = math.prod(part)
        table: list[Any] = [*part, *taken[0], *taken[1]]
        for index, array, row, step, offset in zip(indices, arrays, taken[2:], steps, offsets[2:], strict=True):
            table += [pointer(array, offset), *words(index.length), *words(step), index.axis, *row]
        fields = {
            "indexed": places[0].after(offsets[0] * itemsize),
            "dense": places[1].after(offsets[1] * itemsize),
            "status": status,
            "count": count,
            "rank": len(part),
            "arrays": len(indices),
            "code": code,
            "wraps": int(rule.wraps),
            "table": table,
        }
        if template != "gather":
            apart = math.prod(length for length, stride in zip(part, taken[0], strict=True) if stride)
            fields["later"] = apart if last else 0
        writes = ("dense" if template == "gather" else "indexed", "status")
        groups = launch.groups_for(count, device.limits)
        common = len(part) | len(indices) << 8 if len(part) <= _COMMON_RANK and len(indices) == 1 else 0
        if made is not None:
            _send_linked(made, wide, groups, fields, common)
            continue
        launch.dispatch(chosen, device, groups, fields, writes=writes, constants=((1, common),))
    if check is not None:  # also where another thread's read has checked the words before they were written
        faults.keep_check(device, check)


def _send_linked(made: Gather, wide: bool, groups: Any, fields: dict[str, Any], common: int) -> None:
    """The dispatch of elements of which an expression is stored."""
    epilogue, device, dtype = made.epilogue, made.source._device, made.result._dtype
    kernel = linked.kernel(
        epilogue, linked_variant(dtype, wide, device), dtype, device, launch.WORKGROUP_SIZE, ((1, common),)
    )  # fmt: skip
    counts = {
        f"{name}_count": 1 if one is None else one.size
        for name, one in (("bias", epilogue.bias), ("residual", epilogue.residual))
    }
    dispatch(kernel, groups, {**fields, **epilogue.fields(), **counts}, writes=("dense", "status"))


def words(value: int) -> tuple[int, int]:
    """A signed 64-bit value as two signed 32-bit words, low first."""
    low = value & 0xFFFFFFFF
    return low - ((low & 1 << 31) << 1), value >> 32


def _needs_64_bits(index_dtypes: Sequence[DType], reach: int, device: Device) -> bool:
    """Whether indices or offsets need int64. Raises FeatureError where they do and the device has none."""
    far = reach > layout.OFFSET_LIMIT
    if is_supported(dtypes.int64, device):
        return far or any(dtype.bits == 64 or dtype is dtypes.uint32 for dtype in index_dtypes)
    if far:
        raise FeatureError(
            f"indexing: an index array reaches over {reach} elements, more than 32-bit offsets do, and the device "
            f"{device.name!r} has no shaderInt64. Index a slice of the array instead.",
            ("shaderInt64",),
        )
    return False


def _as_index(array: VkArray, dtype: DType) -> VkArray:
    """An integer array as int32 or int64; what is too large for that stays out of range of any axis."""
    if array._dtype.category == "unsigned integer" and array._dtype.bits >= dtype.bits:
        return launch.elementwise(
            _saturating_cast(array._dtype, dtype), (array,), empty(array._shape, dtype, array._device)
        )
    return cast(array, dtype)


@functools.cache
def _saturating_cast(source: DType, target: DType) -> Operation:
    # The largest signed value is written without a literal: a 64-bit one in a define comes before the extension it needs.
    expression = f"COMPUTE_{target.name}(min(a, ~T(0) >> 1))"
    return Operation(f"index {source} to {target}", expression, (source,), target, source)


def _widening(
    shape: Shape,
    rows: Sequence[Strides],
    steps: Sequence[int],
    itemsize: int,
    places: Sequence[Pointer],
    sizes: Sequence[int],
) -> int:
    """How many neighbours move as one element of a larger size: rows of a table are copied 16 bytes at a time."""
    if any(row[-1] != 1 for row in rows[:2]) or any(row[-1] for row in rows[2:]):
        return 1
    factor = sizes[-1] // itemsize
    together = math.gcd(factor, shape[-1], *steps, *(stride for row in rows[:2] for stride in row[:-1]))
    while itemsize * together not in sizes or not all(place.is_aligned(itemsize * together) for place in places):
        together //= 2
    return together
