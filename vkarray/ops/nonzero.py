"""Compaction: the true elements of a mask, side by side.

The method: 64 elements at a time become 64 bits and a count; a tree of 64 branches turns the counts into prefix sums;
then every true element knows its place. The host waits once, for the number of true elements.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import dtypes, layout
from ..array import VkArray, default_dtype, empty, is_supported, operations, storage_itemsize
from ..shaders import Variant
from . import launch
from .gather import element_sizes
from .rows import cast

if TYPE_CHECKING:
    from .launch import Device

_BRANCHES = 64
_COMMON_RANK = 3  # up to which a pipeline has the rank built in
# Elements of a mask handled with 32-bit places and counts; longer masks come in parts.
PART = layout.INDEX_LIMIT


class _Part(NamedTuple):
    """A part of a mask: its first element and length, the bits, their prefix sums and the number of true elements."""

    first: int
    length: int
    bits: VkArray
    prefix: VkArray
    total: VkArray


def variants(device: Device) -> Iterator[Variant]:
    """All variants that a device can meet."""
    yield _count_variant(storage_itemsize(dtypes.bool_, device) == 4)
    yield from (_SUM, _SCAN)
    for element_bytes in element_sizes(device):
        yield _elements_variant(element_bytes)
    yield _coordinates_variant(is_supported(dtypes.int64, device))


def _count_variant(wide: bool) -> Variant:
    return Variant("compact_count", (("WIDE8", "1"),) if wide else (), "compact count")


def _elements_variant(element_bytes: int) -> Variant:
    return Variant("compact_write", (("ELEMENT_BYTES", str(element_bytes)),), f"compact {element_bytes} bytes")


def _coordinates_variant(wide: bool) -> Variant:
    return Variant("compact_write", (("INDEX64", "1"),) if wide else (), f"nonzero int{64 if wide else 32}")


_SUM = Variant("compact_scan", (("SUM", "1"),), "compact sum")
_SCAN = Variant("compact_scan", (), "compact scan")


def _run(variant: Variant, device: Device, push: bytes, invocations: int, reads: list[VkArray], writes: list[VkArray],
         **options: Any) -> None:  # fmt: skip
    groups = launch.groups_for(invocations, device.limits)
    launch.dispatch(variant, device, push, groups, reads, writes, **options)


def _parts(mask: VkArray, part: int) -> tuple[list[_Part], list[int]]:
    """The parts of a mask and the number of true elements in each; waits for the device."""
    device = mask._device
    mask = launch.contiguous(mask)
    if mask._address % 16:
        mask = launch.copy(mask)
    itemsize = storage_itemsize(dtypes.bool_, device)
    parts = []
    size = mask.size
    for first in range(0, size, part):
        count = min(part, size - first)
        parts.append(_part(mask, first, count, mask._address + first * itemsize))
    totals = []
    for one in parts:
        word = bytearray(4)
        device.download(one.total._buffer, 0, word)
        totals.append(struct.unpack("<I", word)[0])
    return parts, totals


def _part(mask: VkArray, first: int, count: int, address: int) -> _Part:
    device = mask._device
    chunks = -(-count // 64)
    bits = empty((chunks, 2), dtypes.uint32, device)
    counts = empty((chunks,), dtypes.uint32, device)
    push = struct.pack("<3QI", address, bits._address, counts._address, count)
    _run(_count_variant(storage_itemsize(dtypes.bool_, device) == 4), device, push, chunks, [mask], [bits, counts])
    total = running_sums(counts)
    return _Part(first, count, bits, counts, total)


def running_sums(counts: VkArray) -> VkArray:
    """Replace each of the contiguous uint32 counts by the sum of those before it; returns the sum of all."""
    device = counts._device
    levels = [counts]
    while levels[-1].size > 1:
        below = levels[-1]
        above = empty((-(-below.size // _BRANCHES),), dtypes.uint32, device)
        push = struct.pack("<2QI", below._address, above._address, below.size)
        _run(_SUM, device, push, above.size, [below], [above])
        levels.append(above)
    total = launch.copy(levels[-1])
    running: VkArray = launch.constant(0, dtypes.uint32, device)
    for level in reversed(levels):
        push = struct.pack("<2QI", level._address, running._address, level.size)
        _run(_SCAN, device, push, -(-level.size // _BRANCHES), [level, running], [level])
        running = level
    return total


def coordinates(mask: VkArray, part: int = PART) -> tuple[VkArray, ...]:
    """The coordinates of the true elements of a mask in C order, one array for each dimension; waits for the device."""
    device = mask._device
    dtype = default_dtype("int", device)
    shape = mask._shape
    if mask.size == 0:
        return tuple(empty((0,), dtype, device) for _ in shape)
    parts, totals = _parts(mask, part)
    results = [empty((sum(totals),), dtype, device) for _ in shape]
    strides = layout.contiguous_strides(shape)
    done = 0
    for one, total in zip(parts, totals, strict=True):
        if total:
            values: list[int] = []
            for length, stride, result in zip(shape, strides, results, strict=True):
                start = one.first // stride % length
                for value in (length, start, result._address + done * dtype.itemsize):
                    values += struct.unpack("<2i", struct.pack("<Q", value))
            header = struct.pack("<2Q2I", one.bits._address, one.prefix._address, one.length, len(shape))
            push, metadata = launch.with_metadata(device, header, values)
            _run(_coordinates_variant(dtype is dtypes.int64), device, push, one.length, [one.bits, one.prefix], results,
                 buffers=metadata, constants=((1, len(shape) if len(shape) <= _COMMON_RANK else 0),))  # fmt: skip
        done += total
    return tuple(results)


def compress(x: VkArray, mask: VkArray, part: int = PART) -> VkArray:
    """The elements of x where a mask of its shape is true, in C order; waits for the device."""
    device = x._device
    itemsize = storage_itemsize(x._dtype, device)
    if x.size == 0:
        return empty((0,), x._dtype, device)
    x = launch.contiguous(x)
    parts, totals = _parts(mask, part)
    result = empty((sum(totals),), x._dtype, device)
    done = 0
    for one, total in zip(parts, totals, strict=True):
        if total:
            push = struct.pack(
                "<4QI", one.bits._address, one.prefix._address, x._address + one.first * itemsize,
                result._address + done * itemsize, one.length,
            )  # fmt: skip
            _run(_elements_variant(itemsize), device, push, one.length, [one.bits, one.prefix, x], [result])
        done += total
    return result


def nonzero(x: VkArray, /) -> tuple[VkArray, ...]:
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
