"""Moving bytes between host and device: through mapped memory where there is any, else through a staging ring."""

from __future__ import annotations

import math
import time
import weakref
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import host_copy, timing
from .api import ffi, vk
from .block import Block, staging_block
from .lease import Lease
from .memory import Buffer
from .watch import refuse, tracer, watches

if TYPE_CHECKING:
    from .device import Device

SEGMENTS, SEGMENT_BYTES = 4, 8 << 20
DIRECT_BYTES = 64  # the host reads so little itself also where memory is uncached: about 1 µs, and a copy costs 20
_BYTES = ffi.typeof("char[]")
_REGION = ffi.typeof("VkBufferCopy*")
# Numbers as C has them, and their bytes. memmove reads a word twice, and each time takes 1 µs of uncached memory.
_NUMBERS = {
    name: (ffi.typeof(f"{kind}*"), ffi.sizeof(kind))
    for name, kind in {
        "int8": "int8_t", "int16": "int16_t", "int32": "int32_t", "int64": "int64_t", "uint8": "uint8_t", "uint16": "uint16_t",
        "uint32": "uint32_t", "uint64": "uint64_t", "float32": "float", "float64": "double",
    }.items()
}  # fmt: skip
INLINE_BYTES = 1 << 16  # the most that vkCmdUpdateBuffer takes


class Segment:
    """A part of the staging ring, lent to one transfer at a time, with the serials of the last commands that used it."""

    def __init__(self, block: Block, offset: int) -> None:
        self.block, self.offset = block, offset
        self.address, self.nbytes, self.pointer = block.address + offset, SEGMENT_BYTES, block.pointer + offset
        self.written = self.read = 0
        self.region = ffi.new(_REGION, (0, offset, 0))  # of the copy into it
        self.holder: weakref.ref[Lease] | None = None

    def flush(self, nbytes: int) -> None:
        """Let the device see what the host has written into the first bytes."""
        if self.block.incoherent is not None:
            self.block.incoherent.flush(self.offset, nbytes)

    def invalidate(self, nbytes: int) -> None:
        """Let the host see what the device has written into the first bytes."""
        if self.block.incoherent is not None:
            self.block.incoherent.invalidate(self.offset, nbytes)


class Transfer:
    """Uploads, downloads and copies of one device. Offsets and lengths are in bytes."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.mappable = device.limits.host_memory != "none"
        self.most_read_directly = self._most_read_directly()
        self.imported: Block | None = None  # memory of the host that is shared with other devices, see between.py
        self.refuses_import = False
        self.rings: list[Block] = []  # a second one is for signal handlers that transfer in the middle of transfers
        self.segments: list[Segment] = []
        self.next_segment = 0

    def _most_read_directly(self) -> float:
        """The most bytes that the host reads from the device's memory itself, where it sees that.

        Reading much uncached memory is slow: the device copies into memory that the host caches, where there is any.
        """
        physical, cached = self.device.physical, vk.VK_MEMORY_PROPERTY_HOST_CACHED_BIT
        staging = physical.staging_type()
        staging_is_cached = staging is not None and physical.memory_types[staging][0] & cached
        direct = {"cached": math.inf, "uncached": DIRECT_BYTES if staging_is_cached else math.inf, "none": -1}
        return direct[self.device.limits.host_memory]

    def copy(self, source: Buffer, source_offset: int, target: Buffer, target_offset: int, nbytes: int) -> None:
        """Record a copy on the device. Ranges of the same buffer must not overlap."""
        if watches:
            refuse("it copies memory")
        check_range("copy", source, source_offset, nbytes)
        check_range("copy", target, target_offset, nbytes)
        if source is target and abs(source_offset - target_offset) < nbytes:
            raise ValueError(f"copy: the ranges at {source_offset} and {target_offset} of {nbytes} bytes overlap.")
        if nbytes:
            with self.device.gate:
                self.record(
                    "copy",
                    source.piece.block,
                    source.block_offset + source_offset,
                    target.piece.block,
                    target.block_offset + target_offset,
                    nbytes,
                    (source,),
                    (target,),
                )

    def upload(self, buffer: Buffer, offset: int, data: Any) -> None:
        """Write host bytes; the caller may change them as soon as this returns. Ordered like a dispatch."""
        if watches:
            if (trace := tracer()) is not None:
                trace.upload(buffer, offset, data)
                return
            refuse("it writes from the host")
        source = ffi.from_buffer(_BYTES, data)
        nbytes = len(source)
        check_range("upload", buffer, offset, nbytes)
        if not nbytes:
            return
        queue, position = self.device.queue, buffer.block_offset + offset
        begin = time.perf_counter_ns() if queue.timing_sinks else 0
        with self.device.gate:
            self.device.gate.check()
            if self.mappable and self._idle(buffer):
                ffi.memmove(buffer.piece.block.pointer + position, source, nbytes)
            elif nbytes <= INLINE_BYTES and not (position | nbytes) & 3:
                update, kept = self.device.functions.vkCmdUpdateBuffer, bytes(ffi.buffer(source, nbytes))
                arguments = (buffer.piece.block.buffer, position, nbytes, ffi.from_buffer(kept))
                queue.transfer("upload", (), (buffer,), update, arguments, nbytes)
            else:
                self._upload_staged(buffer, position, source, nbytes)
        if begin:
            timing.host(queue, "upload", begin, bytes=nbytes)

    def _idle(self, buffer: Buffer) -> bool:
        """Whether the host may write: at once, or after a wait where waiting is cheaper than staging."""
        queue, serial = self.device.queue, max(buffer.written, buffer.read)
        if serial > queue.completed:
            queue.retire()
        if serial > queue.completed and self.device.limits.is_cpu:
            queue.wait(serial)
        return serial <= queue.completed

    def _upload_staged(self, buffer: Buffer, position: int, source: Any, nbytes: int) -> None:
        for start in range(0, nbytes, SEGMENT_BYTES):
            count = min(SEGMENT_BYTES, nbytes - start)
            lease = self._segment()
            segment = lease.thing
            ffi.memmove(segment.pointer, source + start, count)
            segment.flush(count)
            self.record(
                "upload", segment.block, segment.offset, buffer.piece.block, position + start, count,
                (segment,), (buffer,),
            )  # fmt: skip
            if nbytes > SEGMENT_BYTES:
                self.device.queue.submit()  # copies while the host fills the next segment

    def fetch(self, buffer: Buffer, offset: int, nbytes: int) -> Lease | None:
        """Have bytes copied to where the host reads them fast, at once; `take_out` waits for them.

        None where they are not copied, or not in one go: `download` reads those.
        """
        queue = self.device.queue
        if not self.most_read_directly < nbytes <= SEGMENT_BYTES or queue.timing_sinks:
            return None
        if watches:
            refuse("it reads values on the host")
        if not 0 <= offset <= buffer.nbytes - nbytes:
            check_range("download", buffer, offset, nbytes)
        with (gate := self.device.gate):
            if gate.reason is not None:
                gate.check()
            return self._fetch(buffer, buffer.block_offset + offset, nbytes)

    def take_out(self, lease: Lease, out: Any) -> None:
        """Wait for bytes that were fetched, then copy them into `out`, a writable buffer for all of them."""
        target = ffi.from_buffer(_BYTES, out, True)
        self._take_out(target, lease, 0, len(target))

    def number(self, buffer: Buffer, offset: int, kind: str) -> Any:
        """Wait for what writes the buffer, then read one number of a type, given by its name. None where C has no such type."""
        if (found := _NUMBERS.get(kind)) is None:
            return None
        (form, nbytes), device = found, self.device
        queue, lease, segment = device.queue, None, None
        if queue.timing_sinks:
            cell = ffi.new(form)
            self.download(buffer, offset, ffi.buffer(cell))
            return cell[0]
        if watches:
            refuse("it reads values on the host")
        if not 0 <= offset <= buffer.nbytes - nbytes:
            check_range("download", buffer, offset, nbytes)
        if self.most_read_directly < 8:
            lease = self.fetch(buffer, offset, nbytes)
            segment = lease.thing  # type: ignore[union-attr]
        queue.wait(buffer.written if segment is None else segment.written)
        with (gate := device.gate):  # so that no other thread closes the device meanwhile
            if gate.reason is not None:
                gate.check()
            if segment is None:
                return ffi.cast(form, buffer.piece.block.pointer + buffer.block_offset + offset)[0]
            if segment.block.incoherent is not None:
                segment.invalidate(nbytes)
            return ffi.cast(form, segment.pointer)[0]

    def download(self, buffer: Buffer, offset: int, out: Any) -> None:
        """Wait for what writes the buffer, then copy its bytes into ``out``, a writable buffer."""
        if watches:
            refuse("it reads values on the host")
        begin = time.perf_counter_ns() if self.device.queue.timing_sinks else 0
        target = ffi.from_buffer(_BYTES, out, True)
        nbytes = len(target)
        if not 0 <= offset <= buffer.nbytes - nbytes:
            check_range("download", buffer, offset, nbytes)
        position = buffer.block_offset + offset
        if nbytes <= self.most_read_directly:
            self.device.queue.wait(buffer.written)
            with (gate := self.device.gate):  # so that no other thread closes the device meanwhile
                if gate.reason is not None:
                    gate.check()
                ffi.memmove(target, buffer.piece.block.pointer + position, nbytes)
            if begin:
                timing.host(self.device.queue, "download", begin, bytes=nbytes)
            return
        pending: deque[tuple[Lease, int, int]] = deque()
        for start in range(0, nbytes, SEGMENT_BYTES):
            if len(pending) == SEGMENTS:
                self._take_out(target, *pending.popleft())
            count = min(SEGMENT_BYTES, nbytes - start)
            with self.device.gate:
                self.device.gate.check()
                pending.append((self._fetch(buffer, position + start, count), start, count))
        while pending:
            self._take_out(target, *pending.popleft())
        if begin:
            timing.host(self.device.queue, "download", begin, bytes=nbytes)

    def _take_out(self, target: Any, lease: Lease, start: int, count: int) -> None:
        """Copy a part that was fetched to its place."""
        segment, gate = lease.thing, self.device.gate
        self.device.queue.wait(segment.written)
        with gate:
            if gate.reason is not None:
                gate.check()
            if segment.block.incoherent is not None:
                segment.invalidate(count)
            if count <= INLINE_BYTES:
                ffi.memmove(target + start, segment.pointer, count)
                return
            pointer, kept = segment.pointer, (lease, segment.block.cells, target)  # also when the device is closed
        if count < 2 * host_copy.LEAST_BYTES or gate._is_owned():
            ffi.memmove(target + start, pointer, count)
        else:
            host_copy.copy(target + start, pointer, count, kept)

    def staged(self, buffer: Buffer, position: int, nbytes: int) -> Iterator[tuple[Any, int, int]]:
        """Bytes of a buffer's block part by part: (where the host reads them, the first one, how many).

        A part stays until the next is asked for. The caller holds the gate.
        """
        self.device.gate.check()
        pending: deque[tuple[Lease, int, int]] = deque()
        for start in range(0, nbytes, SEGMENT_BYTES):
            if len(pending) == SEGMENTS:
                yield from self._fetched(*pending.popleft())
            count = min(SEGMENT_BYTES, nbytes - start)
            pending.append((self._fetch(buffer, position + start, count), start, count))
        while pending:
            yield from self._fetched(*pending.popleft())

    def _fetch(self, buffer: Buffer, position: int, nbytes: int) -> Lease:
        """Have bytes of a buffer's block copied into a part of the ring, at once."""
        lease, device = self._segment(), self.device
        segment, queue = lease.thing, device.queue
        region = segment.region  # the last copy by it is done
        region.srcOffset, region.size = position, nbytes
        arguments = (buffer.piece.block.buffer, segment.block.buffer, 1, region)
        queue.transfer("download", (buffer,), (segment,), device.functions.vkCmdCopyBuffer, arguments, nbytes)
        if queue.submitted < segment.written:
            queue.submit()
        return lease

    def _fetched(self, lease: Lease, start: int, count: int) -> Iterator[tuple[Any, int, int]]:
        self.device.queue.wait(lease.thing.written)
        lease.thing.invalidate(count)
        yield lease.thing.pointer, start, count

    def record(
        self,
        name: str,
        source: Block,
        source_offset: int,
        target: Block,
        target_offset: int,
        nbytes: int,
        reads: tuple[Any, ...],
        writes: tuple[Any, ...],
    ) -> None:
        region = ffi.new(_REGION, (source_offset, target_offset, nbytes))
        arguments = (source.buffer, target.buffer, 1, region)
        record = self.device.functions.vkCmdCopyBuffer
        self.device.queue.transfer(name, reads, writes, record, arguments, nbytes)

    def _segment(self) -> Lease:
        """The next part of the ring that nobody uses, when the device has done with it."""
        lease, start = Lease(), self.next_segment
        for position in range(start, start + len(self.segments)):
            if lease.take(self.segments[position % len(self.segments)]):
                self.next_segment = position + 1
                segment, queue = lease.thing, self.device.queue
                last = segment.written if segment.written > segment.read else segment.read
                if last > queue.progress.completed:
                    queue.wait(last)
                return lease
        ring = staging_block(self.device, SEGMENTS * SEGMENT_BYTES)
        self.rings.append(ring)
        self.segments += [Segment(ring, index * SEGMENT_BYTES) for index in range(SEGMENTS)]
        return self._segment()

    def mapped(self, buffer: Buffer) -> memoryview | None:
        """The buffer's memory as the host sees it, or None; the caller must synchronize. It keeps the buffer alive.

        It also keeps the memory mapped when the device closes or is lost.
        """
        if watches:
            refuse("it shows memory to the host")
        with self.device.gate:
            self.device.gate.check()
            if not self.mappable:
                return None
            return buffer.piece.block.view(buffer.block_offset, buffer.nbytes, buffer)

    def close(self) -> None:
        self.segments = []
        while self.rings:
            self.rings.pop().destroy()
        if self.imported is not None:
            self.imported.destroy()
        self.imported = None


def check_range(operation: str, buffer: Buffer, offset: int, nbytes: int) -> None:
    if offset < 0 or nbytes < 0 or offset + nbytes > buffer.nbytes:
        raise ValueError(f"{operation}: bytes {offset} to {offset + nbytes} of a buffer of {buffer.nbytes} bytes.")
