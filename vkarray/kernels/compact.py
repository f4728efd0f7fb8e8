"""Compaction: the true elements of a mask, side by side.

The method: 64 elements at a time become 64 bits and a count; a scan turns the counts into prefix sums, for small masks in the
same dispatch; then every true element knows its place. The host waits once, for the number of true elements. Before that it takes
memory for the results of small masks, as if all elements were true, and has them written: so one batch does all.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core import checks, dtypes, layout
from ..core.array import ArrayLike, VkArray, default_dtype, empty, is_supported, operations, storage_itemsize
from ..shaders.source import Variant
from . import launch
from .array_like import takes_lists
from .conversion import cast
from .dispatch import Fields, pointer
from .gather import element_sizes, words
from .launch import Defines, uses_shared_memory
from .planned import planned
from .scan import running_sums

if TYPE_CHECKING:
    from .launch import Device

_COMMON_RANK = 3  # up to which a pipeline has the rank built in
_PER_INVOCATION = 8  # elements, where invocations meet in shared memory
# Elements of a mask handled with 32-bit places and counts; longer masks come in parts.
PART = layout.INDEX_LIMIT
# Elements of a mask at most whose results get memory before the host knows how many are true, and how many times as much as
# they need they may keep.
AT_ONCE, _MOST_UNUSED = 1 << 16, 4


class _Part(NamedTuple):
    """A part of a mask: its first element and length, the bits and their prefix sums, of which the last is the total."""

    first: int
    length: int
    bits: VkArray
    prefix: VkArray


def variants(device: Device) -> Iterator[Variant]:
    """All variants that a device can meet."""
    for shared in (False, True):
        yield _count_variant(storage_itemsize(dtypes.bool_, device) == 4, shared)
        for element_bytes in element_sizes(device):
            yield _elements_variant(element_bytes, shared)
        yield _coordinates_variant(is_supported(dtypes.int64, device), shared)


def _count_variant(wide: bool, scanned: bool) -> Variant:
    defines = (*((("WIDE8", "1"),) if wide else ()), *((("SCANNED", "1"),) if scanned else ()))
    return Variant("index/compact_count", defines, "compact count and scan" if scanned else "compact count")


def _write_variant(what: Defines, label: str, shared: bool) -> Variant:
    defines = (*what, ("SHARED", "1")) if shared else what
    return Variant("index/compact_write", defines, f"{label} ({'shared' if shared else 'serial'})")


def _elements_variant(element_bytes: int, shared: bool) -> Variant:
    return _write_variant((("ELEMENT_BYTES", str(element_bytes)),), f"compact {element_bytes} bytes", shared)


def _coordinates_variant(wide: bool, shared: bool) -> Variant:
    return _write_variant((("INDEX64", "1"),) if wide else (), f"nonzero int{64 if wide else 32}", shared)


def _write(variant: Callable[[bool], Variant], one: _Part, fields: Fields, **options: Any) -> None:
    """Write what the true elements of a part become, with the variant for shared memory where that pays."""
    device = one.bits._device
    shared = uses_shared_memory(device)
    groups = launch.groups_for(-(-one.length // _PER_INVOCATION) if shared else one.length, device.limits)
    own = {"bits": one.bits, "prefix": one.prefix, "count": one.length}
    launch.dispatch(variant(shared), device, groups, {**own, **fields}, writes=("result", "table"), **options)


def _parts(mask: VkArray, part: int) -> list[_Part]:
    """The parts of a mask that is not empty."""
    mask = launch.contiguous(mask)
    if not pointer(mask).is_aligned(16):
        mask = launch.copy(mask)
    parts = []
    size = mask.size
    for first in range(0, size, part):
        count = min(part, size - first)
        parts.append(_Part(first, count, *_counted(mask, first, count)))
    return parts


def _totals(*prefixes: VkArray) -> list[int]:
    """The last of each of some prefix sums; waits for the device."""
    totals = []
    for prefix in prefixes:
        totals.append(prefix._device.number(prefix._buffer, 4 * (prefix.size - 1), "uint32"))
    checks.run(prefixes[0]._device)  # lengths that the host learns are values too
    return totals


def _cut(results: Sequence[VkArray], prefix: VkArray) -> tuple[VkArray, ...]:
    """As much of each result as was written; waits for the device."""
    (total,) = _totals(prefix)
    for one in results:
        one._buffer.shorten(total * storage_itemsize(one._dtype, one._device))
    written = tuple(one._view((total,), (1,)) for one in results)
    return written if _MOST_UNUSED * total >= results[0].size else tuple(launch.copy(one) for one in written)


@planned
def _counted(mask: VkArray, first: int, count: int) -> tuple[VkArray, VkArray]:
    """The bits of a part of a mask, and their prefix sums."""
    device = mask._device
    chunks = -(-count // 64)
    bits = empty((chunks, 2), dtypes.uint32, device)
    counts = empty((chunks + 1,), dtypes.uint32, device)
    fields = {"mask": pointer(mask, first), "bits": bits, "counts": counts, "count": count}
    scanned = chunks < launch.WORKGROUP_SIZE and uses_shared_memory(device)
    variant = _count_variant(storage_itemsize(dtypes.bool_, device) == 4, scanned)
    groups = (1, 1, 1) if scanned else launch.groups_for(chunks + 1, device.limits)
    launch.dispatch(variant, device, groups, fields, writes=("bits", "counts"))
    if not scanned:
        running_sums(counts)
    return bits, counts


def coordinates(mask: VkArray, part: int = PART) -> tuple[VkArray, ...]:
    """The coordinates of the true elements of a mask in C order, one array for each dimension; waits for the device."""
    device = mask._device
    dtype = default_dtype("int", device)
    if mask.size == 0:
        return tuple(empty((0,), dtype, device) for _ in mask._shape)
    if mask.size <= min(AT_ONCE, part):
        *results, prefix = _all_coordinates(mask)
        return _cut(results, prefix)
    parts = _parts(mask, part)
    totals = _totals(*(one.prefix for one in parts))
    made = tuple(empty((sum(totals),), dtype, device) for _ in mask._shape)
    done = 0
    for one, total in zip(parts, totals, strict=True):
        if total:
            _write_coordinates(mask._shape, one, made, done)
        done += total
    return made


@planned
def _all_coordinates(mask: VkArray) -> tuple[VkArray, ...]:
    """The coordinates as far as they are written, and the prefix sums that say how far that is."""
    device = mask._device
    results = tuple(empty((mask.size,), default_dtype("int", device), device) for _ in mask._shape)
    (one,) = _parts(mask, mask.size)
    _write_coordinates(mask._shape, one, results, 0)
    return (*results, one.prefix)


def _write_coordinates(shape: layout.Shape, one: _Part, results: Sequence[VkArray], done: int) -> None:
    """Write the coordinates in a part of a mask of that shape, the first of them at place `done`."""
    table: list[Any] = []
    for length, stride, result in zip(shape, layout.contiguous_strides(shape), results, strict=True):
        start = one.first // stride % length
        table += [*words(length), *words(start), pointer(result, done)]
    rank = len(shape) if len(shape) <= _COMMON_RANK else 0
    variant = functools.partial(_coordinates_variant, results[0]._dtype is dtypes.int64)
    _write(variant, one, {"rank": len(shape), "table": table}, constants=((1, rank),))


def compress(x: VkArray, mask: VkArray, part: int = PART) -> VkArray:
    """The elements of x where a mask of its shape is true, in C order; waits for the device."""
    if x.size == 0:
        return empty((0,), x._dtype, x._device)
    if x.size <= min(AT_ONCE, part):
        result, prefix = _all_elements(x, mask)
        return _cut((result,), prefix)[0]
    x = launch.contiguous(x)
    parts = _parts(mask, part)
    totals = _totals(*(one.prefix for one in parts))
    result = empty((sum(totals),), x._dtype, x._device)
    done = 0
    for one, total in zip(parts, totals, strict=True):
        if total:
            _write_elements(x, one, result, done)
        done += total
    return result


@planned
def _all_elements(x: VkArray, mask: VkArray) -> tuple[VkArray, VkArray]:
    """The elements as far as they are written, and the prefix sums that say how far that is."""
    result = empty((x.size,), x._dtype, x._device)
    (one,) = _parts(mask, x.size)
    _write_elements(launch.contiguous(x), one, result, 0)
    return result, one.prefix


def _write_elements(x: VkArray, one: _Part, result: VkArray, done: int) -> None:
    """Write the elements of x in a part of its mask, the first of them at place `done`."""
    fields = {"source": pointer(x, one.first), "result": pointer(result, done)}
    _write(functools.partial(_elements_variant, storage_itemsize(x._dtype, x._device)), one, fields)


@takes_lists
def nonzero(x: ArrayLike, /) -> tuple[VkArray, ...]:
    """The indices of the elements that are not zero, one array for each dimension, in C order (NaN is not zero).

    Parameters: x (any dtype, at least 1 dimension). Returns a tuple of x.ndim 1-dimensional arrays of the default
    integer dtype; waits for the device, because their length depends on the values.
    Raises ValueError for an array of 0 dimensions. Standard: searching functions, `nonzero`.
    """
    if type(x) is not VkArray:
        raise TypeError(f"nonzero: expected a vkarray array, got {type(x).__name__}. Use vkarray.asarray.")
    if x.ndim == 0:
        raise ValueError("nonzero: expected at least 1 dimension, got an array of 0. Use vkarray.reshape(x, (1,)).")
    return coordinates(cast(x, dtypes.bool_))


operations.update(nonzero=nonzero)
