"""Device memory: a caching sub-allocator over large blocks.

A piece of memory keeps the serials of the last commands that touched it, also while it is free, so a new buffer in the
same place waits for them like for any other hazard. Two levels: pieces of an exact size wait in bins (taking and
returning one needs neither lock nor Vulkan call, also from a destructor); what the bins cannot serve is cut from a
block by best fit, and neighbours merge again when the bins are flushed.
"""

from __future__ import annotations

import gc
from bisect import bisect_left
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import OutOfMemoryError
from . import api
from .api import NULL, ffi, struct, vk

if TYPE_CHECKING:
    from .device import Device

BLOCK_BYTES = 64 << 20
SHARED_BYTES = BLOCK_BYTES // 2  # larger pieces get a block of their own
# Programs repeat themselves: what waits in bins is wanted again, and a new block is better than to cut all anew in every turn.
# So bins are flushed only so many allocations after the last time, unless a large part of the memory is cached.
BETWEEN_FLUSHES, MOST_CACHED = 1024, 1 / 16
ALIGNMENT = 256
USAGE = (
    vk.VK_BUFFER_USAGE_STORAGE_BUFFER_BIT
    | vk.VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT
    | vk.VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT
    | api.BUFFER_USAGE_SHADER_DEVICE_ADDRESS
    | vk.VK_BUFFER_USAGE_TRANSFER_SRC_BIT
    | vk.VK_BUFFER_USAGE_TRANSFER_DST_BIT
)


def rounded(nbytes: int) -> int:
    """The size of the piece for a request: steps of 256 bytes, then of 1/8 (over 32 MiB, 1/32) of a power of two."""
    if nbytes <= 4096:
        return max(ALIGNMENT, (nbytes + ALIGNMENT - 1) & -ALIGNMENT)
    step = 1 << ((nbytes - 1).bit_length() - (4 if nbytes <= SHARED_BYTES else 6))
    return (nbytes + step - 1) & -step


class Block:
    """One VkDeviceMemory with one VkBuffer over all of it, mapped where the host can."""

    __slots__ = ("address", "buffer", "dedicated", "free", "memory", "nbytes", "pointer")

    def __init__(
        self,
        functions: api.Functions,
        device: Any,
        nbytes: int,
        memory_type: Callable[[int], int | None],
        map_it: bool,
        dedicated: bool,
    ) -> None:
        self.nbytes, self.dedicated = nbytes, dedicated
        self.buffer, self.memory, self.pointer, self.address = NULL, NULL, NULL, 0
        self.free: list[Piece] = []
        handle = ffi.new("VkBuffer*")
        functions.vkCreateBuffer(device, struct("VkBufferCreateInfo", size=nbytes, usage=USAGE), NULL, handle)
        self.buffer = handle[0]
        try:
            needs = ffi.new("VkMemoryRequirements*")
            functions.vkGetBufferMemoryRequirements(device, self.buffer, needs)
            index = memory_type(needs.memoryTypeBits)
            if index is None:
                raise OutOfMemoryError("No memory type of the device suits a storage buffer.")
            with_address = struct("VkMemoryAllocateFlagsInfo", flags=api.MEMORY_ALLOCATE_DEVICE_ADDRESS)
            memory = ffi.new("VkDeviceMemory*")
            functions.vkAllocateMemory(
                device,
                struct("VkMemoryAllocateInfo", pNext=with_address, allocationSize=needs.size, memoryTypeIndex=index),
                NULL,
                memory,
            )
            self.memory = memory[0]
            functions.vkBindBufferMemory(device, self.buffer, self.memory, 0)
            self.address = functions.vkGetBufferDeviceAddress(
                device, struct("VkBufferDeviceAddressInfo", buffer=self.buffer)
            )
            if map_it:
                pointer = ffi.new("void**")
                functions.vkMapMemory(device, self.memory, 0, api.WHOLE_SIZE, 0, pointer)
                self.pointer = ffi.cast("char*", pointer[0])
        except BaseException:
            self.destroy(functions, device)
            raise

    def destroy(self, functions: api.Functions, device: Any) -> None:
        if self.buffer != NULL:
            functions.vkDestroyBuffer(device, self.buffer, NULL)
        if self.memory != NULL:
            functions.vkFreeMemory(device, self.memory, NULL)
        self.buffer = self.memory = NULL


def host_block(device: Device, nbytes: int) -> Block:
    """Memory of the host that the device reaches, for what passes between the two."""
    physical, cached = device.physical, vk.VK_MEMORY_PROPERTY_HOST_CACHED_BIT
    visible = vk.VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | vk.VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
    return Block(
        device.functions, device.handle, nbytes,
        lambda allowed: physical.memory_type(visible, cached, allowed, on_host=True), map_it=True, dedicated=True,
    )  # fmt: skip


class Piece:
    """A part of a block. ``written`` and ``read`` are the serials of the last commands that did so."""

    __slots__ = ("address", "allocator", "block", "home", "offset", "read", "size", "written")

    def __init__(self, allocator: Allocator, block: Block, offset: int, size: int, written: int, read: int) -> None:
        self.allocator, self.block, self.offset, self.size = allocator, block, offset, size
        self.address = block.address + offset
        self.written, self.read = written, read
        self.home: list[Piece] = []


class Buffer:
    """Device memory for its holder alone. It goes back to the allocator when the last reference is dropped."""

    __slots__ = ("__weakref__", "address", "block_offset", "device", "nbytes", "piece", "read", "written")

    def __init__(self, device: Device, nbytes: int, piece: Piece) -> None:
        self.device = device
        self.nbytes = nbytes
        self.piece = piece
        self.address = piece.address
        self.block_offset = piece.offset
        self.written = piece.written
        self.read = piece.read

    def __del__(self) -> None:
        # May run in any thread at any time, inside the allocator too: one append, no lock.
        piece = self.piece
        piece.written = self.written
        piece.read = self.read
        piece.allocator.bytes_in_use -= piece.size
        piece.home.append(piece)

    def __repr__(self) -> str:
        return f"<Buffer of {self.nbytes} bytes at {self.address:#x} on {self.device.name}>"


class Allocator:
    """Hands out pieces of the device's memory."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.blocks: list[Block] = []
        self.bins: dict[int, list[Piece]] = {}  # rounded size -> free pieces
        self.bin_of: dict[int, list[Piece]] = {}  # requested size -> the same lists
        self.bytes_in_use = self.bytes_peak = self.block_bytes_peak = 0
        self.block_bytes = self.allocations = self.misses = self.retries = 0
        self.next_flush = 0  # that many allocations from the first on
        physical = device.physical
        self.mapped = physical.limits.host_memory != "none"
        local, visible = vk.VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, vk.VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT
        visible |= vk.VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
        if self.mapped:
            cached = vk.VK_MEMORY_PROPERTY_HOST_CACHED_BIT
            self.memory_type = lambda allowed: (
                physical.memory_type(local | visible, cached, allowed) if physical.mappable_type() is not None else None
            )
        else:
            self.memory_type = lambda allowed: physical.memory_type(local, 0, allowed)

    def allocate(self, nbytes: int) -> Buffer:
        """A buffer of ``nbytes``; raises OutOfMemoryError with the figures when the device has no more."""
        home = self.bin_of.get(nbytes)
        try:
            piece = home.pop()  # type: ignore[union-attr]
        except (AttributeError, IndexError):
            piece = self._miss(nbytes)
        self.allocations += 1
        self.bytes_in_use = in_use = self.bytes_in_use + piece.size
        if in_use > self.bytes_peak:
            self.bytes_peak = in_use
        return Buffer(self.device, nbytes, piece)

    def _miss(self, nbytes: int) -> Piece:
        if nbytes < 0:
            raise ValueError(f"allocate: got {nbytes} bytes, expected 0 or more.")
        with self.device.gate:
            self.device.gate.check()
            self.misses += 1
            size = rounded(nbytes)
            home = self.bins.setdefault(size, [])
            if len(self.bin_of) > 65536:
                self.bin_of.clear()
            self.bin_of[nbytes] = home
            if home:
                return home.pop()
            piece = self._cut(size) or self._new_block(size, nbytes)
            piece.home = home
            return piece

    def _cut(self, size: int) -> Piece | None:
        """Best fit among the free parts of the blocks; a large request gets a block of its own, little larger."""
        dedicated, most = size > SHARED_BYTES, size + size // 4
        best, best_block = None, None
        for block in self.blocks:
            if block.dedicated != dedicated or (dedicated and block.nbytes > most):
                continue
            for piece in block.free:
                if piece.size >= size and (best is None or piece.size < best.size):
                    best, best_block = piece, block
        if best is None or best_block is None:
            return None
        best_block.free.remove(best)
        if best.size > size and not dedicated:
            rest = Piece(self, best_block, best.offset + size, best.size - size, best.written, best.read)
            best.size = size
            self._give(best_block, rest)
        return best

    def _give(self, block: Block, piece: Piece) -> None:
        """Put a piece back into its block's free list, merged with its neighbours."""
        position = bisect_left(block.free, piece.offset, key=lambda other: other.offset)
        block.free.insert(position, piece)
        for left in (position, position - 1):
            if 0 <= left < len(block.free) - 1:
                first, second = block.free[left], block.free[left + 1]
                if first.offset + first.size == second.offset:
                    first.size += second.size
                    first.written = max(first.written, second.written)
                    first.read = max(first.read, second.read)
                    del block.free[left + 1]

    def _new_block(self, size: int, nbytes: int) -> Piece:
        cached = self.block_bytes - self.bytes_in_use
        if self.allocations >= self.next_flush or cached > self.device.physical.heap_bytes * MOST_CACHED:
            self.next_flush = self.allocations + BETWEEN_FLUSHES
            self.flush()
            piece = self._cut(size)
            if piece:
                return piece
        if self.block_bytes - self.bytes_in_use > self.device.physical.heap_bytes // 4:
            self.empty_cache()  # a CPU driver never says that memory is short; the system would end the process
        try:
            self._make_block(size if size > SHARED_BYTES else BLOCK_BYTES, size > SHARED_BYTES)
        except OutOfMemoryError:
            self.retries += 1
            gc.collect()
            self.empty_cache()
            piece = self._cut(size)
            if piece:
                return piece
            try:
                self._make_block(size, size > SHARED_BYTES)
            except OutOfMemoryError as error:
                raise OutOfMemoryError(self._figures(nbytes, error)) from None
        piece = self._cut(size)
        assert piece is not None, "a new block has no room for the piece it was made for"
        return piece

    def _make_block(self, nbytes: int, dedicated: bool) -> None:
        if nbytes >= 1 << 63:
            raise OutOfMemoryError("no memory has that many bytes")
        block = Block(self.device.functions, self.device.handle, nbytes, self.memory_type, self.mapped, dedicated)
        self.blocks.append(block)
        self.block_bytes += nbytes
        self.block_bytes_peak = max(self.block_bytes_peak, self.block_bytes)
        block.free.append(Piece(self, block, 0, nbytes, 0, 0))

    def _figures(self, nbytes: int, error: Exception) -> str:
        return (
            f"{self.device.name}: out of memory: {nbytes:,} bytes were asked for while {self.bytes_in_use:,} are "
            f"in use and {self.block_bytes:,} are taken from the device, which has "
            f"{self.device.physical.heap_bytes:,} (after all caches were released; {str(error).rstrip('.')}). Drop "
            "references to large arrays or work in smaller parts."
        )

    def flush(self) -> None:
        """Return the pieces that wait in bins to their blocks."""
        for home in list(self.bins.values()):
            while home:
                try:
                    piece = home.pop()
                except IndexError:
                    break
                self._give(piece.block, piece)

    def empty_cache(self) -> None:
        """Give blocks without any buffer back to the driver, once the device has done with them."""
        with self.device.gate:
            self.device.gate.check()
            self.flush()
            empty = [block for block in self.blocks if block.free and block.free[0].size == block.nbytes]
            if not empty:
                return
            self.device.queue.wait_all()
            self.device.descriptors.forget(empty)
            for block in empty:
                self.blocks.remove(block)
                self.block_bytes -= block.nbytes
                block.destroy(self.device.functions, self.device.handle)

    def statistics(self) -> dict[str, int]:
        """Bytes: in use, kept for re-use, taken from the device, peak; counts of allocations, misses and blocks."""
        return {
            "bytes_in_use": self.bytes_in_use,
            "bytes_cached": self.block_bytes - self.bytes_in_use,
            "bytes_reserved": self.block_bytes,
            "bytes_peak": self.bytes_peak,
            "bytes_reserved_peak": self.block_bytes_peak,
            "bytes_total": self.device.physical.heap_bytes,
            "allocations": self.allocations,
            "cache_misses": self.misses,
            "blocks": len(self.blocks),
            "out_of_memory_retries": self.retries,
        }

    def reset_peaks(self) -> None:
        """Let both peaks begin anew."""
        self.bytes_peak, self.block_bytes_peak = self.bytes_in_use, self.block_bytes

    def check(self) -> None:
        """Nothing to check here; see guard.py."""

    def close(self) -> None:
        for block in self.blocks:
            block.destroy(self.device.functions, self.device.handle)
        self.blocks.clear()
        self.block_bytes = 0
