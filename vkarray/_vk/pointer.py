"""A place in device memory, as kernels get it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .memory import Buffer


class Pointer(NamedTuple):
    """A buffer, and how many bytes after its start."""

    buffer: Buffer
    offset: int

    @property
    def address(self) -> int:
        """The device address."""
        return self.buffer.address + self.offset

    def is_aligned(self, alignment: int) -> bool:
        """Whether the address is a multiple of `alignment` bytes."""
        return not self.address % alignment

    def after(self, nbytes: int) -> Pointer:
        """The place so many bytes further on."""
        return Pointer(self.buffer, self.offset + nbytes)
