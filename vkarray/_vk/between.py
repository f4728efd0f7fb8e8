"""Copies between two devices: both read and write memory of the host, each by itself, in turns.

A ring of host memory is imported in both devices (VK_EXT_external_memory_host): while one device reads a part of it, the other
fills the next, and the host's processor moves no byte. Where a device cannot import, each has its staging ring, and the
processor moves parts from one to the other. Where the memory of one device is the host's own, one copy does.
"""

from __future__ import annotations

import mmap
import threading
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

from ..errors import OutOfMemoryError, VulkanError
from .api import ffi, struct, vk
from .block import Block
from .lease import Lease
from .memory import Buffer
from .transfer import check_range

if TYPE_CHECKING:
    from .device import Device

SEGMENTS, SEGMENT_BYTES = 4, 16 << 20
AHEAD = 2  # segments that are filled before the first is read
_HANDLE = vk.VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT
_FEATURE = "externalMemoryHost"

_lock = threading.RLock()  # the ring is for one copy at a time; taken before the gate of any device


class ImportedBlock(Block):
    """Memory of the host in a buffer of a device, which copies from and to it."""

    __slots__ = ()

    def __init__(self, device: Device, pointer: Any, nbytes: int) -> None:
        functions, handle = device.functions, device.handle
        self.nbytes, self.dedicated, self.ranges = nbytes, True, {}
        self.pointer, self.address, self.incoherent = pointer, 0, None

        def wanted(needs: Any) -> Any:
            offered = struct("VkMemoryHostPointerPropertiesEXT")
            functions.vkGetMemoryHostPointerPropertiesEXT(handle, _HANDLE, pointer, offered)
            visible = vk.VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | vk.VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
            kind = device.physical.memory_type(visible, 0, needs.memoryTypeBits & offered.memoryTypeBits)
            if kind is None or needs.size > nbytes:
                raise OutOfMemoryError("No memory type of the device suits memory of the host.")
            given = struct("VkImportMemoryHostPointerInfoEXT", handleType=_HANDLE, pHostPointer=pointer)
            return struct(
                "VkMemoryAllocateInfo",
                pNext=given,
                allocationSize=nbytes,
                memoryTypeIndex=device.physical.backing[kind],
            )

        usage = vk.VK_BUFFER_USAGE_TRANSFER_SRC_BIT | vk.VK_BUFFER_USAGE_TRANSFER_DST_BIT
        external = struct("VkExternalMemoryBufferCreateInfo", handleTypes=_HANDLE)
        create = struct("VkBufferCreateInfo", pNext=external, size=nbytes, usage=usage)
        self._take(device, create, wanted, lambda buffer, memory: None)


class _Use:
    """A command that uses a segment: the device, and its serial as of a buffer that it reads or writes."""

    address = nbytes = 0  # each device knows its own of the segment's

    def __init__(self, device: Device) -> None:
        self.device = device
        self.written = self.read = 0

    def wait(self) -> None:
        """Return when it is done."""
        self.device.queue.wait(max(self.written, self.read))


class _Segment:
    """A part of the ring, and the commands that use it on either device."""

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.uses: list[_Use] = []

    def used_on(self, device: Device) -> _Use:
        """Note a use before it begins: Ctrl-C may strike when the command is taken."""
        self.uses.append(_Use(device))
        return self.uses[-1]

    def wait(self) -> None:
        """Return when no device uses it. A device that is closed or lost does not."""
        while self.uses:
            use = self.uses[-1]
            if use.device.open and use.device.lost is None:
                use.wait()
            self.uses.pop()


class _Ring:
    """Memory of the host for all devices, and for the rest of the process."""

    def __init__(self, alignment: int) -> None:
        self.alignment, nbytes = alignment, SEGMENTS * SEGMENT_BYTES
        self._memory = mmap.mmap(-1, nbytes + alignment)
        start = int(ffi.cast("uintptr_t", ffi.from_buffer(self._memory)))
        self.pointer, self.nbytes = ffi.cast("char*", (start + alignment - 1) & -alignment), nbytes
        self.segments = deque(_Segment(index * SEGMENT_BYTES) for index in range(SEGMENTS))
        self.holder: weakref.ref[Lease] | None = None  # of the copy that uses it

    def next(self) -> _Segment:
        """The segment that was used longest ago, when nothing uses it any more."""
        self.segments.rotate(-1)
        segment = self.segments[-1]
        segment.wait()
        return segment


_ring: _Ring | None = None


def _imported(device: Device) -> Block | None:
    """The ring as the device sees it, or None where the device cannot import memory of the host."""
    global _ring
    if _FEATURE not in device.features:
        return None
    transfer = device.transfer
    if transfer.imported is None and not transfer.refuses_import:
        limits = struct("VkPhysicalDeviceExternalMemoryHostPropertiesEXT")
        top = struct("VkPhysicalDeviceProperties2", pNext=limits)
        device.physical.functions.vkGetPhysicalDeviceProperties2(device.physical.handle, top)
        _ring = _ring or _Ring(max(1 << 16, limits.minImportedHostPointerAlignment))
        try:
            if _ring.alignment % limits.minImportedHostPointerAlignment:
                raise OutOfMemoryError("The ring is not aligned as the device needs it.")
            with device.gate:
                device.gate.check()
                transfer.imported = ImportedBlock(device, _ring.pointer, _ring.nbytes)
        except (VulkanError, OutOfMemoryError):
            transfer.refuses_import = True
    return transfer.imported


def copy_between(source: Buffer, source_offset: int, target: Buffer, target_offset: int, nbytes: int) -> None:
    """Copy bytes from a buffer to one of another device, ordered on both devices like a dispatch.

    Returns when the source has been read. Offsets and lengths are in bytes; raises ValueError where they leave a buffer.
    """
    check_range("copy_between", source, source_offset, nbytes)
    check_range("copy_between", target, target_offset, nbytes)
    if not nbytes:
        return
    for device in (source.device, target.device):
        device.gate.check()
    with _lock:
        way = _way(source.device, target.device)
        way(source, source_offset, target, target_offset, nbytes)


def _way(sender: Device, receiver: Device) -> Any:
    if receiver.limits.host_memory == "cached":
        return into_host_memory
    if sender.limits.host_memory == "cached":
        return from_host_memory
    if _imported(sender) and _imported(receiver):
        return through_imported_memory
    return through_staging_rings


def into_host_memory(source: Buffer, source_offset: int, target: Buffer, target_offset: int, nbytes: int) -> None:
    """`copy_between` to a device whose memory is the host's."""
    receiver = target.device
    receiver.queue.wait(max(target.written, target.read))
    memory = receiver.mapped(target)
    assert memory is not None
    source.device.download(source, source_offset, memory[target_offset : target_offset + nbytes])


def from_host_memory(source: Buffer, source_offset: int, target: Buffer, target_offset: int, nbytes: int) -> None:
    """`copy_between` from a device whose memory is the host's."""
    sender = source.device
    sender.queue.wait(source.written)
    memory = sender.mapped(source)
    assert memory is not None
    target.device.upload(target, target_offset, memory[source_offset : source_offset + nbytes])


def through_imported_memory(
    source: Buffer, source_offset: int, target: Buffer, target_offset: int, nbytes: int
) -> None:
    """`copy_between` through the ring that both devices have imported."""
    sent, received, ring = _imported(source.device), _imported(target.device), _ring
    assert ring is not None
    assert sent is not None
    assert received is not None
    lease = Lease()
    if not lease.take(ring):  # in the middle of a copy, by a signal handler
        through_staging_rings(source, source_offset, target, target_offset, nbytes)
        return
    filled: deque[tuple[_Segment, int, int]] = deque()

    def read_first() -> None:
        segment, start, count = filled.popleft()
        segment.uses[0].wait()
        with target.device.gate:
            use = segment.used_on(target.device)
            target.device.transfer.record(
                "receive", received, segment.offset,
                target.piece.block, target.block_offset + target_offset + start, count, (use,), (target,),
            )  # fmt: skip
            target.device.queue.submit()

    for start in range(0, nbytes, SEGMENT_BYTES):
        count = min(SEGMENT_BYTES, nbytes - start)
        segment = ring.next()
        with source.device.gate:
            use = segment.used_on(source.device)
            source.device.transfer.record(
                "send", source.piece.block, source.block_offset + source_offset + start,
                sent, segment.offset, count, (source,), (use,),
            )  # fmt: skip
            source.device.queue.submit()
        filled.append((segment, start, count))
        if len(filled) > AHEAD:
            read_first()
    while filled:
        read_first()


def through_staging_rings(source: Buffer, source_offset: int, target: Buffer, target_offset: int, nbytes: int) -> None:
    """`copy_between` through the rings of both devices, from one to the other by the host."""
    with source.device.gate:
        parts = source.device.transfer.staged(source, source.block_offset + source_offset, nbytes)
        for pointer, start, count in parts:
            target.device.upload(target, target_offset + start, ffi.buffer(pointer, count))
