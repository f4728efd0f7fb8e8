"""Device memory: a caching sub-allocator over large blocks.

A piece of memory keeps the serials of the last commands that touched it, also while it is free, so a new buffer in the
same place waits for them like for any other hazard. Two levels: pieces of an exact size wait in bins (taking and
returning one needs neither lock nor Vulkan call, also from a destructor); what the bins cannot serve is cut from the free
pieces of the blocks, and neighbours merge again when the bins are flushed.

Ctrl-C, a destructor and a signal handler may strike between any two lines, and the last two may allocate in their turn. So
there is no state in between: whoever works with a piece has taken it, in one step, from where it was, and pieces are never
changed but replaced by others, in one step too, in the ranges of their block. A piece that is dropped half way is noticed
through a weak reference, and comes back when the next one is cut.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from weakref import ref

from ..errors import OutOfMemoryError
from .api import ffi, vk
from .block import Block
from .size_classes import LARGE, FreePieces, rounded
from .watch import current, tracer, watches

if TYPE_CHECKING:
    from .device import Device

SHARED_BYTES = LARGE  # larger pieces get a block of their own
BLOCK_BYTES = 2 * SHARED_BYTES
# Programs repeat themselves: what waits in bins is wanted again, and a new block is better than to cut all anew in every turn.
# So bins are flushed only so many allocations after the last time, unless a large part of the memory is cached.
BETWEEN_FLUSHES, MOST_CACHED = 1024, 1 / 16
RUN_BYTES = 1 << 15  # the most that is cut into pieces of one size at a time
_TOKEN = ffi.typeof("char*")
COUNTS = 4  # that often at most, until two agree


class Piece:
    """A part of a block, from its birth to its death. ``written`` and ``read`` are the serials of the last commands that did so."""

    __slots__ = (
        "address",
        "allocator",
        "block",
        "guarded",
        "home",
        "known",
        "offset",
        "read",
        "size",
        "token",
        "written",
    )
    home: list[Piece]  # the bin to which its buffer returns it
    known: Range
    token: Any  # lives as long as this; what the garbage collector does not know it does not give up for dead too early
    guarded: int  # bytes between guards, see guard.py

    def __init__(self, allocator: Allocator, block: Block, offset: int, size: int, written: int, read: int) -> None:
        self.allocator, self.block, self.offset, self.size = allocator, block, offset, size
        self.address = block.address + offset
        self.written, self.read = written, read


class Range(ref[Any]):
    """What a block knows of a piece: where it lies, and, by a weak reference to its token, whether it is still alive."""

    __slots__ = ("block", "offset", "size")
    __hash__, __eq__ = object.__hash__, object.__eq__  # each is one of its own
    block: Block
    offset: int
    size: int


class Buffer:
    """Device memory for its holder alone. It goes back to the allocator when the last reference is dropped."""

    __slots__ = ("__weakref__", "address", "block_offset", "device", "nbytes", "piece", "read", "written")

    def __init__(self, device: Device, nbytes: int, piece: Piece) -> None:
        self.device = device
        self.nbytes = nbytes
        self.address = piece.address
        self.block_offset = piece.offset
        self.written = piece.written
        self.read = piece.read
        self.piece = piece  # last: a buffer that has it can return it

    def shorten(self, nbytes: int) -> None:
        """Have fewer bytes from now on; the others stay with it, unused."""
        self.nbytes = min(nbytes, self.nbytes)

    def __del__(self) -> None:
        # May run in any thread at any time, inside the allocator too: one append, no lock.
        try:
            piece = self.piece
        except AttributeError:  # Ctrl-C struck when it was made
            return
        piece.written = self.written
        piece.read = self.read
        piece.allocator.bytes_in_use -= piece.size
        piece.home.append(piece)

    def __repr__(self) -> str:
        return f"<Buffer of {self.nbytes} bytes at {self.address:#x} on {self.device.name}>"


class Allocator:
    """Hands out pieces of the device's memory."""

    guards = False  # whether it surrounds each buffer with a pattern

    def __init__(self, device: Device) -> None:
        self.device = device
        self.blocks: dict[Block, None] = {}
        self.shared, self.dedicated = FreePieces(), FreePieces()
        self.bins: dict[int, list[Piece]] = {}  # rounded size -> free pieces
        self.bin_of: dict[int, list[Piece]] = {}  # requested size -> the same lists
        self.runs: dict[int, int] = {}  # rounded size -> how many pieces to cut next
        self.dropped: deque[Range] = deque()  # of pieces that died while somebody had taken them
        self._drop = self.dropped.append
        self._recovering: Callable[[], object] = lambda: None
        self._miscounted = False
        self.bytes_in_use = self.bytes_peak = self.reserved_peak = 0
        self.allocations = self.misses = self.retries = 0
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
        if watches and (trace := tracer()) is not None:
            return trace.allocate(self.device, nbytes)
        home = self.bin_of.get(nbytes)
        try:
            piece = home.pop()  # type: ignore[union-attr]
        except (AttributeError, IndexError):
            piece = self._miss(nbytes)
        self.allocations += 1
        self.bytes_in_use = in_use = self.bytes_in_use + piece.size
        if in_use > self.bytes_peak:
            self.bytes_peak = in_use
        made = Buffer(self.device, nbytes, piece)
        if watches and (watch := current()) is not None:
            watch.allocated.append(made)
        return made

    def _miss(self, nbytes: int) -> Piece:
        if nbytes < 0:
            raise ValueError(f"allocate: got {nbytes} bytes, expected 0 or more.")
        with self.device.gate:
            self.device.gate.check()
            self.misses += 1
            if self.dropped:
                self._recover()
            size = rounded(nbytes)
            home = self.bins.setdefault(size, [])
            if len(self.bin_of) > 65536:
                self.bin_of.clear()
            self.bin_of[nbytes] = home
            try:
                return home.pop()
            except IndexError:
                piece = self._cut(size) or self._new_block(size, nbytes)
            piece.home = home
            return piece

    # --- pieces of blocks ------------------------------------------------------------------------------------------

    def _free(self, block: Block) -> FreePieces:
        return self.dedicated if block.dedicated else self.shared

    def _cut(self, size: int) -> Piece | None:
        """A piece of this size from the smallest free ones that hold it; a large one is a whole block, little larger."""
        if size > SHARED_BYTES:
            return self.dedicated.take(size, size + size // 4)
        piece = self.shared.take(size)
        return piece and self._split(piece, size)

    def _split(self, piece: Piece, size: int) -> Piece:
        """The first part of a piece that the caller has taken. Of sizes asked for often more parts go into the bin."""
        if piece.size == size or piece.block.dedicated:
            return piece
        count = min(self.runs.get(size, 1), piece.size // size)
        self.runs[size] = min(2 * count, RUN_BYTES // size or 1)
        sizes = [size] * count
        if piece.size > size * count:
            sizes.append(piece.size - size * count)
        block, offset, parts = piece.block, piece.offset, []
        ranges: dict[int, Range | None] = {}
        for length in sizes:
            part = Piece(self, block, offset, length, piece.written, piece.read)
            parts.append(part)
            ranges[offset] = ranges[~(offset + length)] = self._range(part)
            offset += length
        block.ranges.update(ranges)
        if len(parts) > count:
            self.shared.add(parts.pop())
        if count > 1:
            home = self.bins[size]
            for part in parts:
                part.home = home
            home.extend(parts[:0:-1])
        return parts[0]

    def _range(self, piece: Piece) -> Range:
        """What to note of a piece in its block, from when on its death is noticed."""
        piece.token = ffi.new(_TOKEN)
        piece.known = known = Range(piece.token, self._drop)
        known.block, known.offset, known.size = piece.block, piece.offset, piece.size
        return known

    def _note(self, piece: Piece) -> None:
        """Let a piece take the place of all or nothing that was just there."""
        known = self._range(piece)
        piece.block.ranges.update({piece.offset: known, ~(piece.offset + piece.size): known})

    def _give(self, piece: Piece) -> None:
        """Make a piece that the caller has taken free, merged with its neighbours."""
        free = self._free(piece.block)
        while True:
            added = free.added
            left = self._free_neighbour(free, piece, ~piece.offset)
            right = self._free_neighbour(free, piece, piece.offset + piece.size)
            if left is not None:
                piece = self._merged(left, piece)
            if right is not None:
                piece = self._merged(piece, right)
            free.add(piece)
            # A neighbour that became free in between has not found this piece.
            if free.added == added + 1 or free.remove(piece.known) is None:
                return

    def _free_neighbour(self, free: FreePieces, piece: Piece, boundary: int) -> Piece | None:
        """The piece on the other side of a boundary, taken, if it was free."""
        known = piece.block.ranges.get(boundary)
        return None if known is None else free.remove(known)

    def _merged(self, first: Piece, second: Piece) -> Piece:
        """One piece in the place of two that lie side by side, both taken by the caller."""
        block, start, middle = first.block, first.offset, second.offset
        end = middle + second.size
        written, read = max(first.written, second.written), max(first.read, second.read)
        whole = Piece(self, block, start, end - start, written, read)
        known = self._range(whole)
        block.ranges.update({start: known, ~end: known, middle: None, ~middle: None})
        del block.ranges[middle], block.ranges[~middle]  # inside what the caller alone has
        return whole

    def _recover(self) -> None:
        """Take back the pieces that were dropped where Ctrl-C struck, and count what is in use anew."""
        if not self.dropped or self._recovering() is not None:  # this thread is at it, further up
            return
        turn: set[None] = set()  # dies with this call, however that ends
        self._recovering = ref(turn)
        found = tuple(self.dropped)
        for known in found:
            if known.block in self.blocks and known.block.ranges.get(known.offset) is known:
                self._miscounted = True
                serial = self.device.queue.serial  # for all that is known the last command has used it
                piece = Piece(self, known.block, known.offset, known.size, serial, serial)
                self._note(piece)
                self._give(piece)
        for _ in range(COUNTS if self._miscounted else 0):
            in_use = self._reserved() - self._idle()
            if in_use == self.bytes_in_use:
                break
            self.bytes_in_use = in_use  # right, if nothing came in between
        self._miscounted = False
        for _ in found:
            self.dropped.popleft()

    # --- blocks ----------------------------------------------------------------------------------------------------

    def _new_block(self, size: int, nbytes: int) -> Piece:
        cached = self._reserved() - self.bytes_in_use
        if self.allocations >= self.next_flush or cached > self.device.physical.heap_bytes * MOST_CACHED:
            self.next_flush = self.allocations + BETWEEN_FLUSHES
            self.flush()
            piece = self._cut(size)
            if piece:
                return piece
        if self._reserved() - self.bytes_in_use > self.device.physical.heap_bytes // 4:
            self.empty_cache()  # a CPU driver never says that memory is short; the system would end the process
        try:
            return self._split(self._make_block(size if size > SHARED_BYTES else BLOCK_BYTES, size), size)
        except OutOfMemoryError:
            self.retries += 1
            gc.collect()
            self.empty_cache()
            piece = self._cut(size)
            if piece:
                return piece
            try:
                return self._make_block(size, size)
            except OutOfMemoryError as error:
                raise OutOfMemoryError(self._figures(nbytes, error)) from None

    def _make_block(self, nbytes: int, size: int) -> Piece:
        """All of a new block, for a piece of that size."""
        if nbytes >= 1 << 63:
            raise OutOfMemoryError("no memory has that many bytes")
        block = Block(self.device, nbytes, self.memory_type, self.mapped, size > SHARED_BYTES)
        whole = Piece(self, block, 0, nbytes, 0, 0)
        self._note(whole)
        self.blocks[block] = None
        self.reserved_peak = max(self.reserved_peak, self._reserved())
        return whole

    def _figures(self, nbytes: int, error: Exception) -> str:
        return (
            f"{self.device.name}: out of memory: {nbytes:,} bytes were asked for while {self.bytes_in_use:,} are "
            f"in use and {self._reserved():,} are taken from the device, which has "
            f"{self.device.physical.heap_bytes:,} (after all caches were released; {str(error).rstrip('.')}). Drop "
            "references to large arrays or work in smaller parts."
        )

    def flush(self) -> None:
        """Return the pieces that wait in bins to their blocks."""
        self.runs.clear()
        for home in list(self.bins.values()):
            while home:
                try:
                    piece = home.pop()
                except IndexError:
                    break
                self._give(piece)

    def empty_cache(self) -> None:
        """Give blocks without any buffer back to the driver, once the device has done with them."""
        with self.device.gate:
            self.device.gate.check()
            self._recover()
            self.flush()
            whole = [block.ranges.get(0) for block in list(self.blocks)]
            taken = [
                self._free(known.block).remove(known) for known in whole if known and known.size == known.block.nbytes
            ]
            empty = [piece for piece in taken if piece is not None]
            if not empty:
                return
            self.device.queue.wait_all()
            self.device.descriptors.forget([piece.block for piece in empty])
            for piece in empty:
                del self.blocks[piece.block]
                piece.block.destroy()

    # --- figures ---------------------------------------------------------------------------------------------------

    def _reserved(self) -> int:
        """Bytes taken from the device."""
        return sum(block.nbytes for block in list(self.blocks))

    def _idle(self) -> int:
        """Bytes of all pieces that wait to be used."""
        free = sum(piece.size for free in (self.shared, self.dedicated) for piece in free.pieces())
        return free + sum(size * len(home) for size, home in list(self.bins.items()))

    def statistics(self) -> dict[str, int]:
        """Bytes: in use, kept for re-use, taken from the device, peak; counts of allocations, misses and blocks."""
        if self.dropped:
            with self.device.gate:
                self._recover()
        reserved, in_use = self._reserved(), self.bytes_in_use if self.blocks else 0
        return {
            "bytes_in_use": in_use,
            "bytes_cached": reserved - in_use,
            "bytes_reserved": reserved,
            "bytes_peak": self.bytes_peak,
            "bytes_reserved_peak": self.reserved_peak,
            "bytes_total": self.device.physical.heap_bytes,
            "allocations": self.allocations,
            "cache_misses": self.misses,
            "blocks": len(self.blocks),
            "out_of_memory_retries": self.retries,
        }

    def reset_peaks(self) -> None:
        """Let both peaks begin anew."""
        self.bytes_peak, self.reserved_peak = self.bytes_in_use, self._reserved()

    def check(self) -> None:
        """Nothing to check here; see guard.py."""

    def close(self) -> None:
        while self.blocks:
            self.blocks.popitem()[0].destroy()
