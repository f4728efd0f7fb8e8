"""The driver's VkPipelineCache, kept on disk between runs, one entry per driver build and device."""

from __future__ import annotations

import contextlib
import struct as byte_layout
from typing import TYPE_CHECKING

from ..cache import DiskCache
from ..errors import VkArrayError
from .api import NULL, ffi, struct, vk

if TYPE_CHECKING:
    from .device import Device

SAVE_EVERY = 32  # new pipelines, so that a crash loses little

_HEADER = byte_layout.Struct("<IIII16s")  # VkPipelineCacheHeaderVersionOne: size, version, vendor, device, UUID


def _has_header(data: bytes) -> bool:
    """Whether the data begins as Vulkan says; all that follows is known to the driver alone."""
    if len(data) < _HEADER.size:
        return False
    size, version, *_ = _HEADER.unpack_from(data)
    return _HEADER.size <= size <= len(data) and version == vk.VK_PIPELINE_CACHE_HEADER_VERSION_ONE


disk = DiskCache("pipelines", _has_header)


class PipelineCache:
    """Loads the stored data when the device opens, saves it when it closes."""

    def __init__(self, device: Device) -> None:
        self.device = device
        physical = device.physical
        driver, this_device = bytes(physical.ids.driverUUID).hex(), bytes(physical.properties.pipelineCacheUUID).hex()
        self.key = f"{driver} {this_device} {physical.properties.driverVersion}"
        self.unsaved = 0
        stored = disk.get(self.key) or b""
        handle = ffi.new("VkPipelineCache*")
        try:
            self._create(stored, handle)
        except VkArrayError:
            if not stored:
                raise
            self._create(b"", handle)  # a driver that rejects the data starts afresh
        self.handle = handle[0]

    def _create(self, stored: bytes, handle: object) -> None:
        data = ffi.from_buffer("char[]", stored) if stored else NULL
        self.device.functions.vkCreatePipelineCache(
            self.device.handle,
            struct("VkPipelineCacheCreateInfo", initialDataSize=len(stored), pInitialData=data),
            NULL,
            handle,
        )

    def added(self) -> None:
        """Count a new pipeline; save from time to time."""
        disk.compiles += 1
        self.unsaved += 1
        if self.unsaved >= SAVE_EVERY and not self.device.making:  # else the data would lack what is being made
            self.save()

    def save(self) -> None:
        """Write the driver's data to disk; a failure costs only time later."""
        if not self.unsaved:
            return
        self.unsaved = 0
        functions, size = self.device.functions, ffi.new("size_t*")
        with contextlib.suppress(VkArrayError):
            functions.vkGetPipelineCacheData(self.device.handle, self.handle, size, NULL)
            data = ffi.new("char[]", size[0])
            # Another thread may have added a pipeline since: then the data is cut off, and the next one saves it all.
            if functions.vkGetPipelineCacheData(self.device.handle, self.handle, size, data) == vk.VK_SUCCESS:
                disk.put(self.key, bytes(ffi.buffer(data, size[0])))

    def close(self) -> None:
        self.device.functions.vkDestroyPipelineCache(self.device.handle, self.handle, NULL)
