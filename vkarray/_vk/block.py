"""Blocks of memory: what the driver gives, before it is cut into pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import OutOfMemoryError
from . import api
from .api import NULL, ffi, struct, vk
from .memory_kinds import Incoherent, Shadow

if TYPE_CHECKING:
    from .device import Device
    from .memory import Range

USAGE = (
    vk.VK_BUFFER_USAGE_STORAGE_BUFFER_BIT
    | vk.VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT
    | vk.VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT
    | api.BUFFER_USAGE_SHADER_DEVICE_ADDRESS
    | vk.VK_BUFFER_USAGE_TRANSFER_SRC_BIT
    | vk.VK_BUFFER_USAGE_TRANSFER_DST_BIT
)


class Block:
    """One VkDeviceMemory with one VkBuffer over all of it, mapped where the host can."""

    __slots__ = ("address", "buffer", "cells", "dedicated", "incoherent", "nbytes", "pointer", "ranges")
    address: int
    cells: tuple[Any, ...]
    incoherent: Incoherent | None  # of memory that is flushed and invalidated

    def __init__(
        self, device: Device, nbytes: int, memory_type: Callable[[int], int | None], map_it: bool, dedicated: bool
    ) -> None:
        functions, handle, physical = device.functions, device.handle, device.physical
        self.nbytes, self.dedicated = nbytes, dedicated
        self.pointer, self.incoherent = NULL, None
        # The ranges of its pieces, by offset and by ~end. None stands where no piece begins or ends any more.
        self.ranges: dict[int, Range | None] = {}

        def wanted(needs: Any) -> Any:
            index = memory_type(needs.memoryTypeBits)
            if index is None:
                raise OutOfMemoryError("No memory type of the device suits a storage buffer.")
            if physical.largest_allocation is not None and needs.size > physical.largest_allocation:
                raise OutOfMemoryError(f"VKARRAY_PROFILE allows {physical.largest_allocation:,} bytes at a time.")
            coherent.append(physical.memory_types[index][0] & vk.VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)
            flags = struct("VkMemoryAllocateFlagsInfo", flags=api.MEMORY_ALLOCATE_DEVICE_ADDRESS)
            return struct(
                "VkMemoryAllocateInfo",
                pNext=flags,
                allocationSize=needs.size,
                memoryTypeIndex=physical.backing[index],
            )

        def prepare(buffer: Any, memory: Any) -> None:
            info = struct("VkBufferDeviceAddressInfo", buffer=buffer)
            self.address = functions.vkGetBufferDeviceAddress(handle, info)
            if map_it:
                pointer = ffi.new("void**")
                functions.vkMapMemory(handle, memory, 0, api.WHOLE_SIZE, 0, pointer)
                self.pointer = ffi.cast("char*", pointer[0])
            if map_it and not coherent[-1]:
                kind = Shadow if physical.simulates_memory else Incoherent
                self.incoherent = kind(device, memory, self.pointer, nbytes)
                self.pointer = self.incoherent.pointer

        coherent: list[int] = []  # of the type that is taken
        self._take(device, struct("VkBufferCreateInfo", size=nbytes, usage=USAGE), wanted, prepare)
        self.cells = (self.incoherent, *self.cells)  # a copy of its memory stays as long as a view does

    def _take(
        self, device: Device, create: Any, wanted: Callable[[Any], Any], prepare: Callable[[Any, Any], None]
    ) -> None:
        """Make the buffer, take the memory that is `wanted` for its needs, bind the two, and `prepare` what else is to be done."""
        functions, handle, needs = device.functions, device.handle, ffi.new("VkMemoryRequirements*")
        cells = [
            api.owned(
                "VkBuffer", lambda cell: functions.vkCreateBuffer(handle, create, NULL, cell),
                functions.vkDestroyBuffer, device.cell,
            )
        ]  # fmt: skip
        try:
            self.buffer = buffer = cells[0][0]
            functions.vkGetBufferMemoryRequirements(handle, buffer, needs)
            info = wanted(needs)
            cells.append(
                api.owned(
                    "VkDeviceMemory", lambda cell: functions.vkAllocateMemory(handle, info, NULL, cell),
                    functions.vkFreeMemory, device.cell,
                )
            )  # fmt: skip
            functions.vkBindBufferMemory(handle, buffer, cells[1][0], 0)
            prepare(buffer, cells[1][0])
        except BaseException:  # else they would stay as long as the error and its traceback
            for cell in cells:
                ffi.release(cell)
            raise
        self.cells = tuple(reversed(cells))  # a tuple lets go of its last element first

    def view(self, offset: int, nbytes: int, *kept: Any) -> memoryview:
        """The mapped memory, which stays until nobody has the view any more: also when the device has closed."""
        pointer = ffi.gc(self.pointer + offset, lambda _, kept=(*kept, *self.cells): None)
        return memoryview(ffi.buffer(pointer, nbytes))

    def destroy(self) -> None:
        """Give the memory back, when the device has done with it; what the host has views of stays until those are gone."""
        self.buffer = self.pointer = NULL
        self.ranges = {}
        self.cells = ()


def host_block(device: Device, nbytes: int) -> Block:
    """Memory of the host that the device reaches, for what passes between the two."""
    physical, cached = device.physical, vk.VK_MEMORY_PROPERTY_HOST_CACHED_BIT
    visible = vk.VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | vk.VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
    return Block(
        device, nbytes, lambda allowed: physical.memory_type(visible, cached, allowed, on_host=True), map_it=True,
        dedicated=True,
    )  # fmt: skip


def staging_block(device: Device, nbytes: int) -> Block:
    """Memory of the host that it reads fast, and flushes and invalidates where `incoherent` says."""
    staging = device.physical.staging_type
    return Block(device, nbytes, staging, map_it=True, dedicated=True)
