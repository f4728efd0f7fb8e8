"""Sizes of pieces of memory in steps, and the free pieces by the step that they reach.

A free piece is taken by who removes it from its class, which is one step: whatever interrupts or re-enters the allocator finds
a piece either there or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .memory import Piece, Range

ALIGNMENT = 256
FINE = 4096  # sizes up to here come in steps of the alignment
COARSE_BITS, LARGE_BITS = 3, 5  # over it in 8 steps for each power of two, and large ones in 32
LARGE = 32 << 20


def rounded(nbytes: int) -> int:
    """The size of the piece for a request: steps of 256 bytes, then of 1/8 (over 32 MiB, 1/32) of a power of two."""
    if nbytes <= FINE:
        return max(ALIGNMENT, (nbytes + ALIGNMENT - 1) & -ALIGNMENT)
    bits = COARSE_BITS if nbytes <= LARGE else LARGE_BITS
    step = 1 << ((nbytes - 1).bit_length() - 1 - bits)
    return (nbytes + step - 1) & -step


_FIRST_COARSE = FINE // ALIGNMENT
_FIRST_LARGE = _FIRST_COARSE + (LARGE.bit_length() - FINE.bit_length() << COARSE_BITS)


def size_class(size: int) -> int:
    """The number of the largest size that `rounded` gives and that is not over this one (a multiple of 256)."""
    if size < FINE:
        return size // ALIGNMENT
    first, base, bits = (_FIRST_LARGE, LARGE, LARGE_BITS) if size >= LARGE else (_FIRST_COARSE, FINE, COARSE_BITS)
    power = size.bit_length()
    return first + (power - base.bit_length() << bits) + (size >> (power - 1 - bits)) - (1 << bits)


class FreePieces:
    """Free pieces by class. Any piece of a class holds any request of it, so the smallest that fits is found at once."""

    def __init__(self) -> None:
        self.classes: dict[int, dict[Range, Piece]] = {}
        self.occupied = (
            0  # a bit for each class that may have pieces; what it leaves out is found when there seems to be none
        )
        self.added = 0  # that many times

    def add(self, piece: Piece) -> None:
        number = size_class(piece.size)
        self.classes.setdefault(number, {})[piece.known] = piece
        self.occupied |= 1 << number
        self.added += 1

    def remove(self, known: Range) -> Piece | None:
        """Take the piece of this range; None when it is not free."""
        return self.classes.get(size_class(known.size), {}).pop(known, None)

    def take(self, size: int, most: int | None = None) -> Piece | None:
        """Take a piece of the first class that holds this size, and of at most that of `most`; None when there is none."""
        first, last = size_class(size), None if most is None else size_class(most)
        piece = self._first(first, last)
        if piece is None:
            self.occupied = sum(1 << number for number, pieces in list(self.classes.items()) if pieces)
            piece = self._first(first, last)
        return piece

    def _first(self, first: int, last: int | None) -> Piece | None:
        found = self.occupied >> first << first
        while found:
            number = (found & -found).bit_length() - 1
            if last is not None and number > last:
                break
            try:
                return self.classes[number].popitem()[1]
            except KeyError:
                found &= found - 1
                self.occupied &= ~(1 << number)
        return None

    def pieces(self) -> list[Piece]:
        """All of them, as they are now."""
        return [piece for pieces in list(self.classes.values()) for piece in list(pieces.values())]
