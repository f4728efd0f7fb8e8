"""Moving bytes between host and device: through mapped memory where there is any, else through a staging ring."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .api import ffi, struct, vk
from .memory import Block, Buffer

if TYPE_CHECKING:
    from .device import Device

SEGMENTS, SEGMENT_BYTES = 4, 8 << 20


class Segment:
    """A part of the staging ring and the serial of the last command that uses it."""

    def __init__(self, offset: int) -> None:
        self.offset, self.serial = offset, 0


class Transfer:
    """Uploads, downloads and copies of one device."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.ring: Block | None = None
        self.segments = [Segment(index * SEGMENT_BYTES) for index in range(SEGMENTS)]
        self.next_segment = 0
        self._region = struct("VkBufferCopy")

    def copy(self, source: Buffer, source_offset: int, target: Buffer, target_offset: int, nbytes: int) -> None:
        _check("copy", source, source_offset, nbytes)
        _check("copy", target, target_offset, nbytes)
        if nbytes:
            with self.device.gate:
                self._record(source.piece.block, source.piece.offset + source_offset, target.piece.block,
                             target.piece.offset + target_offset, nbytes, (source,), (target,), "copy")

    def _record(self, source: Block, source_offset: int, target: Block, target_offset: int, nbytes: int,
                reads: tuple[Buffer, ...], writes: tuple[Buffer, ...], name: str) -> None:
        queue = self.device.queue
        commands = queue.begin()
        queue.order(reads, writes)
        region = self._region
        region.srcOffset, region.dstOffset, region.size = source_offset, target_offset, nbytes
        self.device.functions.vkCmdCopyBuffer(commands, source.buffer, target.buffer, 1, region)
        queue.finish_command(name, reads, writes, nbytes >> 12)

    def upload(self, buffer: Buffer, offset: int, data: Any) -> None:
        """Write host bytes; the caller may change them as soon as this returns."""
        source = ffi.from_buffer("char[]", data)
        nbytes = len(source)
        _check("upload", buffer, offset, nbytes)
        block = buffer.piece.block
        if self.device.memory.mapped:
            self.device.queue.wait(max(buffer.written, buffer.read))
            with self.device.gate:
                ffi.memmove(block.pointer + (buffer.piece.offset + offset), source, nbytes)
            return
        for start in range(0, nbytes, SEGMENT_BYTES):
            count = min(SEGMENT_BYTES, nbytes - start)
            with self.device.gate:
                ring, segment = self._segment()
                ffi.memmove(ring.pointer + segment.offset, source + start, count)
                self._record(ring, segment.offset, block, buffer.piece.offset + offset + start, count,
                             (), (buffer,), "upload")
                segment.serial = self.device.queue.serial

    def download(self, buffer: Buffer, offset: int, out: Any) -> None:
        """Wait for what writes the buffer, then copy its bytes into ``out``."""
        target = ffi.from_buffer("char[]", out, require_writable=True)
        nbytes = len(target)
        _check("download", buffer, offset, nbytes)
        block = buffer.piece.block
        if self.device.limits.host_memory == "cached":
            self.device.queue.wait(buffer.written)
            ffi.memmove(target, block.pointer + (buffer.piece.offset + offset), nbytes)
            return
        pending: list[Callable[[], None]] = []
        for start in range(0, nbytes, SEGMENT_BYTES):
            count = min(SEGMENT_BYTES, nbytes - start)
            if len(pending) == SEGMENTS:
                pending.pop(0)()
            with self.device.gate:
                ring, segment = self._segment()
                self._record(block, buffer.piece.offset + offset + start, ring, segment.offset, count,
                             (buffer,), (), "download")
                segment.serial = self.device.queue.serial
                self.device.queue.submit()
            pending.append(self._fetch(ring, segment, target + start, count))
        for fetch in pending:
            fetch()

    def _fetch(self, ring: Block, segment: Segment, target: Any, count: int) -> Callable[[], None]:
        def fetch() -> None:
            self.device.queue.wait(segment.serial)
            ffi.memmove(target, ring.pointer + segment.offset, count)
        return fetch

    def _segment(self) -> tuple[Block, Segment]:
        """The next part of the ring, free for use."""
        if self.ring is None:
            visible = vk.VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | vk.VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
            physical = self.device.physical
            self.ring = Block(
                self.device.functions, self.device.handle, SEGMENTS * SEGMENT_BYTES,
                lambda allowed: physical.memory_type(visible, vk.VK_MEMORY_PROPERTY_HOST_CACHED_BIT, allowed), True)
        segment = self.segments[self.next_segment]
        self.next_segment = (self.next_segment + 1) % SEGMENTS
        self.device.queue.wait(segment.serial)
        return self.ring, segment

    def mapped(self, buffer: Buffer) -> memoryview | None:
        if not self.device.memory.mapped:
            return None
        piece = buffer.piece
        return memoryview(ffi.buffer(piece.block.pointer + piece.offset, buffer.nbytes))

    def close(self) -> None:
        if self.ring is not None:
            self.ring.destroy(self.device.functions, self.device.handle)


def _check(operation: str, buffer: Buffer, offset: int, nbytes: int) -> None:
    if offset < 0 or nbytes < 0 or offset + nbytes > buffer.nbytes:
        raise ValueError(f"{operation}: bytes {offset} to {offset + nbytes} of a buffer of {buffer.nbytes} bytes.")
