"""Kinds of memory that devices offer, to be imposed by a profile on one that offers others.

Vulkan's bits: 1 the device's own (DEVICE_LOCAL), 2 the host sees it (HOST_VISIBLE), 4 without being told (HOST_COHERENT), 8 through
its caches (HOST_CACHED).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .api import WHOLE_SIZE, ffi, struct, vk

if TYPE_CHECKING:
    from .device import Device

_NEVER_WRITTEN = b"\xa5"


@dataclass(frozen=True)
class MemoryKinds:
    """Heaps, as (bytes, or None for what the device has; flags), and types, as (bits; number of the heap)."""

    heaps: tuple[tuple[int | None, int], ...]
    types: tuple[tuple[int, int], ...]

    def imposed(
        self, heaps: list[tuple[int, int]], types: list[tuple[int, int]]
    ) -> tuple[list[tuple[int, int]], list[int]]:
        """The heaps, and for each type the number of the device's own whose memory it is.

        The host's caches are the one thing that a type may have and the memory under it lack.
        """
        most = max(size for size, _ in heaps)
        needed = vk.VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | vk.VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
        visible = next(index for index, (flags, _) in enumerate(types) if flags & needed == needed)
        return [(size or most, flags) for size, flags in self.heaps], [visible] * len(self.types)


_LOCAL = vk.VK_MEMORY_HEAP_DEVICE_LOCAL_BIT
_ONE_HEAP = ((None, _LOCAL),)

UNIFIED = MemoryKinds(_ONE_HEAP, ((1 | 2 | 4 | 8, 0),))
UNCACHED = MemoryKinds(_ONE_HEAP, ((1 | 2 | 4, 0),))
INCOHERENT = MemoryKinds(_ONE_HEAP, ((1 | 2 | 4, 0), (1 | 2 | 8, 0)))
APART = MemoryKinds(((None, _LOCAL), (None, 0)), ((1, 0), (2 | 4, 1), (2 | 4 | 8, 1)))
SMALL_WINDOW = MemoryKinds((*APART.heaps, (256 << 20, _LOCAL)), (*APART.types, (1 | 2 | 4, 2)))
WHOLE_WINDOW = MemoryKinds(APART.heaps, (*APART.types, (1 | 2 | 4, 0)))


class Incoherent:
    """Mapped memory of which host and device see each other's writes only when told."""

    def __init__(self, device: Device, memory: Any, pointer: Any, nbytes: int) -> None:
        self.device, self.memory, self.nbytes = device, memory, nbytes
        self.pointer = pointer
        self.atom = device.physical.properties.limits.nonCoherentAtomSize

    def _range(self, first: int, nbytes: int) -> Any:
        """Whole atoms around some bytes."""
        begin, end = first // self.atom * self.atom, -(-(first + nbytes) // self.atom) * self.atom
        size = end - begin if end < self.nbytes else WHOLE_SIZE
        return struct("VkMappedMemoryRange", memory=self.memory, offset=begin, size=size)

    def flush(self, first: int, nbytes: int) -> None:
        """Let the device see what the host has written."""
        self.device.functions.vkFlushMappedMemoryRanges(self.device.handle, 1, self._range(first, nbytes))

    def invalidate(self, first: int, nbytes: int) -> None:
        """Let the host see what the device has written."""
        self.device.functions.vkInvalidateMappedMemoryRanges(self.device.handle, 1, self._range(first, nbytes))


class Shadow(Incoherent):
    """The same on coherent memory: the host has a copy, which only flushing and invalidating keep like the device's."""

    def __init__(self, device: Device, memory: Any, pointer: Any, nbytes: int) -> None:
        super().__init__(device, memory, pointer, nbytes)
        self.mapped, self.own = pointer, ffi.new("char[]", _NEVER_WRITTEN * nbytes)
        self.pointer = ffi.cast("char*", self.own)

    def flush(self, first: int, nbytes: int) -> None:
        ffi.memmove(self.mapped + first, self.pointer + first, nbytes)
        super().flush(first, nbytes)

    def invalidate(self, first: int, nbytes: int) -> None:
        super().invalidate(first, nbytes)
        ffi.memmove(self.pointer + first, self.mapped + first, nbytes)
