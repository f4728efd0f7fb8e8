"""Guard bytes round every allocation, to find kernels that write outside their buffers (VKARRAY_GUARD)."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from ..errors import ValidationError
from .memory import Allocator, Buffer, Piece
from .watch import tracer, unwatched

if TYPE_CHECKING:
    from .device import Device

GUARD_BYTES = 256
PATTERN = bytes((index * 37 + 0xA5) & 0xFF for index in range(GUARD_BYTES))
CHECK_AFTER = 256  # released buffers


class Window:
    """A part of a piece as the transfers want it; unlike a Buffer it owns nothing. Its serials are those of its owner."""

    def __init__(self, device: Device, piece: Piece, owner: Buffer | Piece, offset: int, nbytes: int) -> None:
        self.device, self.piece, self.owner, self.nbytes = device, piece, owner, nbytes
        self.address = piece.address + offset
        self.block_offset = piece.offset + offset

    @property
    def written(self) -> int:
        return self.owner.written

    @written.setter
    def written(self, serial: int) -> None:
        self.owner.written = serial

    @property
    def read(self) -> int:
        return self.owner.read

    @read.setter
    def read(self, serial: int) -> None:
        self.owner.read = serial


class GuardedAllocator(Allocator):
    """An allocator that surrounds each buffer with a pattern and looks whether it is still there."""

    guards = True

    def __init__(self, device: Device) -> None:
        super().__init__(device)
        self.live: weakref.WeakSet[Buffer] = weakref.WeakSet()
        self.released: list[Piece] = []  # where destructors put pieces in this mode
        self.damage: list[str] = []  # not yet raised

    def allocate(self, nbytes: int) -> Buffer:
        if (trace := tracer()) is not None:
            return trace.allocate(self.device, nbytes)
        if len(self.released) > CHECK_AFTER:
            self.check()
        buffer = super().allocate(nbytes + 2 * GUARD_BYTES if nbytes >= 0 else nbytes)
        with self.device.gate:
            self.device.gate.check()
            piece = buffer.piece
            piece.guarded = nbytes
            with unwatched():
                for window in self._guards(piece, buffer):
                    self.device.transfer.upload(window, 0, PATTERN)  # type: ignore[arg-type]
            buffer.address, buffer.nbytes = piece.address + GUARD_BYTES, nbytes
            buffer.block_offset = piece.offset + GUARD_BYTES
            self.live.add(buffer)
            piece.home = self.released  # last: from now on its guards are looked at
        return buffer

    def _guards(self, piece: Piece, owner: Buffer | Piece) -> tuple[Window, Window]:
        return (
            Window(self.device, piece, owner, 0, GUARD_BYTES),
            Window(self.device, piece, owner, GUARD_BYTES + piece.guarded, GUARD_BYTES),
        )

    def check(self) -> None:
        """Look at the guards of all live and all released buffers; raises ValidationError when one was written."""
        with self.device.gate:
            self.device.gate.check()
            self.device.queue.wait_all()
            for buffer in list(self.live):
                self._look(buffer.piece, buffer, "live")
            while self.released:
                try:
                    piece = self.released.pop()
                except IndexError:  # what the garbage collector ran in between has looked at it
                    break
                self._look(piece, piece, "released")
                piece.home = self.bins.setdefault(piece.size, [])
                piece.home.append(piece)
        if self.damage:
            found = "; ".join(self.damage)
            self.damage.clear()
            raise ValidationError(
                f"{found}. A kernel since the last check wrote outside its buffer; "
                "VKARRAY_DEBUG=2 shows which kernels ran."
            )

    def _look(self, piece: Piece, owner: Buffer | Piece, state: str) -> None:
        content = bytearray(GUARD_BYTES)
        for side, window in zip(("before", "after"), self._guards(piece, owner), strict=True):
            self.device.transfer.download(window, 0, content)  # type: ignore[arg-type]
            if content != PATTERN:
                first = next(index for index in range(GUARD_BYTES) if content[index] != PATTERN[index])
                offset = first - GUARD_BYTES if side == "before" else piece.guarded + first
                self.damage.append(
                    f"Guard bytes {side} a {state} buffer of {piece.guarded} bytes at "
                    f"{piece.address + GUARD_BYTES:#x} were overwritten, first at byte {offset}"
                )
                self.device.transfer.upload(window, 0, PATTERN)  # type: ignore[arg-type]

    def _idle(self) -> int:
        return super()._idle() + sum(piece.size for piece in list(self.released))
