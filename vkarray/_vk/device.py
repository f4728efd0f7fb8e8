"""The device: one object that hands out memory and kernels and takes work."""

from __future__ import annotations

import threading
from typing import Any

from .. import configuration
from . import api
from .api import NULL, array, ffi, struct, vk
from .kernel import Kernel
from .memory import Allocator
from .physical_device import PhysicalDevice, choose, physical_devices
from .queue import Queue
from .transfer import Transfer


class Device:
    """A logical device with one compute queue. Use ``open_device``; safe from several threads."""

    def __init__(self, physical: PhysicalDevice) -> None:
        self.physical = physical
        self.description = physical.description
        self.name, self.index, self.uuid = physical.description.name, physical.description.index, physical.description.uuid
        self.features, self.limits = physical.features, physical.limits
        self.gate: Any = threading.RLock()
        self.closed = False
        self._create()
        self.memory = Allocator(self)
        self.queue = Queue(self)
        self.transfer = Transfer(self)
        # The hot calls, without a frame in between.
        self.allocate = self.memory.allocate
        self.dispatch = self.queue.dispatch
        self.upload, self.download = self.transfer.upload, self.transfer.download
        self.copy, self.mapped = self.transfer.copy, self.transfer.mapped

    def _create(self) -> None:
        physical = self.physical
        priority = array("float", [1.0])
        queues = struct("VkDeviceQueueCreateInfo", queueFamilyIndex=physical.queue_family, queueCount=1,
                        pQueuePriorities=priority)
        extensions = physical.extensions_to_enable()
        handle = ffi.new("VkDevice*")
        physical.functions.vkCreateDevice(physical.handle, struct(
            "VkDeviceCreateInfo", pNext=physical.feature_chain(self.features), queueCreateInfoCount=1,
            pQueueCreateInfos=queues, enabledExtensionCount=len(extensions),
            ppEnabledExtensionNames=api.text_array(extensions)), NULL, handle)
        self.handle = handle[0]
        self.functions = api.device_functions(physical.functions, self.handle, lambda: self.queue.names_in_flight())
        push = struct("VkPushConstantRange", stageFlags=vk.VK_SHADER_STAGE_COMPUTE_BIT,
                      size=self.limits.max_push_constants_size)
        layout = ffi.new("VkPipelineLayout*")
        self.functions.vkCreatePipelineLayout(self.handle, struct(
            "VkPipelineLayoutCreateInfo", pushConstantRangeCount=1, pPushConstantRanges=push), NULL, layout)
        self.pipeline_layout = layout[0]
        self.kernels: list[Kernel] = []

    def kernel(self, spirv: bytes, name: str, specialization: tuple[tuple[int, int], ...] = ()) -> Kernel:
        with self.gate:
            kernel = Kernel(self, spirv, name, specialization)
            self.kernels.append(kernel)
            return kernel

    def synchronize(self) -> None:
        self.queue.wait_all()

    def memory_statistics(self) -> dict[str, int]:
        return self.memory.statistics()

    def empty_cache(self) -> None:
        self.memory.empty_cache()

    def close(self) -> None:
        if self.closed:
            return
        self.closed = True
        self.queue.wait_all()
        for kernel in self.kernels:
            self.functions.vkDestroyPipeline(self.handle, kernel.pipeline, NULL)
        self.queue.close()
        self.transfer.close()
        self.memory.close()
        self.functions.vkDestroyPipelineLayout(self.handle, self.pipeline_layout, NULL)
        self.functions.vkDestroyDevice(self.handle, NULL)
        _devices.pop(self.key, None)

    key: tuple[Any, ...]

    def __repr__(self) -> str:
        return f"<Device {self.index}: {self.name}>"


_lock = threading.RLock()
_devices: dict[tuple[Any, ...], Device] = {}


def open_device(selector: int | str | None = None) -> Device:
    """The device that ``selector`` names: index, UUID or part of the name; None for VKARRAY_DEVICE or the best one."""
    settings = configuration.current()
    with _lock:
        devices = physical_devices(settings.validation, settings.disable)
        physical = choose(devices, settings.device if selector is None else selector)
        key = (physical.description.uuid, physical.description.index, settings.validation, settings.disable)
        if key not in _devices:
            device = Device(physical)
            device.key = key
            _devices[key] = device
        return _devices[key]


