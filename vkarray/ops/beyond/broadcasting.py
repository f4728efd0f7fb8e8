"""The object that says what broadcasting some arrays gives."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from ...core.array import VkArray
from .. import creation
from ..manipulation import broadcast_arrays


class broadcast:
    """Arrays broadcast against each other: their shape, and an iterator over the tuples of their elements.

    Parameters: arrays, or lists and numbers, and other objects of this class, whose arrays count. Raises ValueError for shapes
    that do not broadcast.
    """

    def __init__(self, *arrays: Any) -> None:
        every = [one for given in arrays for one in (given._arrays if isinstance(given, broadcast) else (given,))]
        self._arrays: Sequence[VkArray] = broadcast_arrays(*map(creation.asarray, every)) if every else []
        self.shape: tuple[int, ...] = tuple(self._arrays[0].shape) if every else ()
        self.reset()

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    nd = ndim

    @property
    def size(self) -> int:
        """The number of elements of each array."""
        return math.prod(self.shape)

    @property
    def numiter(self) -> int:
        """The number of arrays."""
        return len(self._arrays)

    @property
    def iters(self) -> tuple[Iterator[VkArray], ...]:
        """An iterator over the elements of each array."""
        return tuple(iter(x.ravel()) for x in self._arrays)

    def reset(self) -> None:
        """Begin anew."""
        self.index = 0
        self._left = zip(*self.iters, strict=True)

    def __iter__(self) -> broadcast:
        return self

    def __next__(self) -> tuple[VkArray, ...]:
        found = next(self._left)
        self.index += 1
        return found
