"""Guard bytes round every allocation, to find kernels that write outside their buffers (VKARRAY_GUARD)."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from ..errors import ValidationError
from .memory import Allocator, Buffer, Piece

if TYPE_CHECKING:
    from .device import Device

GUARD_BYTES = 256
PATTERN = bytes((index * 37 + 0xA5) & 0xFF for index in range(GUARD_BYTES))
CHECK_AFTER = 256  # released buffers


class Window:
    """A part of a piece as the transfers want it; unlike a Buffer it owns nothing."""

    def __init__(self, device: Device, piece: Piece, offset: int, nbytes: int) -> None:
        self.device, self.piece, self.nbytes = device, piece, nbytes
        self.address = piece.address + offset
        self.block_offset = piece.offset + offset
        self.written, self.read = piece.written, piece.read


class GuardedAllocator(Allocator):
    """An allocator that surrounds each buffer with a pattern and looks whether it is still there."""

    def __init__(self, device: Device) -> None:
        super().__init__(device)
        self.live: weakref.WeakSet[Buffer] = weakref.WeakSet()
        self.released: list[Piece] = []  # where destructors put pieces in this mode
        self.sizes: dict[Piece, int] = {}  # bytes between the guards

    def allocate(self, nbytes: int) -> Buffer:
        if len(self.released) > CHECK_AFTER:
            self.check()
        buffer = super().allocate(nbytes + 2 * GUARD_BYTES if nbytes >= 0 else nbytes)
        with self.device.gate:
            self.device.gate.check()
            piece = buffer.piece
            piece.home = self.released
            self.sizes[piece] = nbytes
            for window in self._guards(piece):
                window.written, window.read = max(window.written, piece.written), piece.read
                self.device.transfer.upload(window, 0, PATTERN)  # type: ignore[arg-type]
                piece.written = max(piece.written, window.written)
            buffer.address, buffer.nbytes = piece.address + GUARD_BYTES, nbytes
            buffer.block_offset = piece.offset + GUARD_BYTES
            buffer.written = piece.written
            self.live.add(buffer)
        return buffer

    def _guards(self, piece: Piece) -> tuple[Window, Window]:
        return (
            Window(self.device, piece, 0, GUARD_BYTES),
            Window(self.device, piece, GUARD_BYTES + self.sizes[piece], GUARD_BYTES),
        )

    def check(self) -> None:
        """Look at the guards of all live and all released buffers; raises ValidationError when one was written."""
        with self.device.gate:
            self.device.gate.check()
            self.device.queue.wait_all()
            damage = [self._damage(buffer.piece, "live") for buffer in list(self.live)]
            while self.released:
                piece = self.released.pop()
                damage.append(self._damage(piece, "released"))
                del self.sizes[piece]
                piece.home = self.bins.setdefault(piece.size, [])
                piece.home.append(piece)
            found = [text for text in damage if text]
        if found:
            raise ValidationError(
                "; ".join(found) + ". A kernel since the last check wrote outside its buffer; "
                "VKARRAY_DEBUG=2 shows which kernels ran."
            )

    def _damage(self, piece: Piece, state: str) -> str | None:
        content = bytearray(GUARD_BYTES)
        for side, window in zip(("before", "after"), self._guards(piece), strict=True):
            self.device.transfer.download(window, 0, content)  # type: ignore[arg-type]
            if content != PATTERN:
                first = next(index for index in range(GUARD_BYTES) if content[index] != PATTERN[index])
                offset = first - GUARD_BYTES if side == "before" else self.sizes[piece] + first
                self.device.transfer.upload(window, 0, PATTERN)  # type: ignore[arg-type]
                return (
                    f"Guard bytes {side} a {state} buffer of {self.sizes[piece]} bytes at "
                    f"{piece.address + GUARD_BYTES:#x} were overwritten, first at byte {offset}"
                )
        return None
