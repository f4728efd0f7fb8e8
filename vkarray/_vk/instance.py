"""The Vulkan instance: one per process, and one more when the validation layers are asked for."""

from __future__ import annotations

import os
import threading
from typing import Any

from .. import configuration
from ..errors import DeviceError, VulkanError
from . import api
from .api import NULL, ffi, struct

VALIDATION_LAYER = "VK_LAYER_KHRONOS_validation"
NO_DRIVER = (
    "vkarray: no Vulkan driver was found. On Debian or Ubuntu `apt install mesa-vulkan-drivers` brings drivers for AMD "
    "and Intel GPUs and llvmpipe, which needs no GPU; for NVIDIA install the driver's package (nvidia-driver, with its "
    "Vulkan parts). `vulkaninfo --summary` (package vulkan-tools) shows what the loader finds."
)


class Instance:
    """A VkInstance with its functions and the handles of its physical devices."""

    def __init__(self, validation: bool) -> None:
        threads = configuration.current().cpu_threads
        if threads is not None:
            os.environ["LP_NUM_THREADS"] = str(threads)
        functions = api.global_functions()
        extensions, flags = [], 0
        offered = _extensions(functions)
        if "VK_KHR_portability_enumeration" in offered:
            extensions.append("VK_KHR_portability_enumeration")
            flags = 1  # VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR
        application = struct("VkApplicationInfo", pApplicationName=ffi.new("char[]", b"vkarray"),
                             apiVersion=api.VERSION_1_3)
        handle = ffi.new("VkInstance*")
        try:
            functions.vkCreateInstance(
                struct("VkInstanceCreateInfo", flags=flags, pApplicationInfo=application,
                       enabledExtensionCount=len(extensions), ppEnabledExtensionNames=api.text_array(extensions)),
                NULL, handle)
        except VulkanError as error:
            raise DeviceError(f"{NO_DRIVER} ({error})") from None
        self.handle = handle[0]
        self.functions = api.instance_functions(self.handle)
        self.validation = validation

    def physical_devices(self) -> list[Any]:
        """Handles, in the loader's order."""
        count = ffi.new("uint32_t*")
        self.functions.vkEnumeratePhysicalDevices(self.handle, count, NULL)
        handles = ffi.new("VkPhysicalDevice[]", count[0])
        self.functions.vkEnumeratePhysicalDevices(self.handle, count, handles)
        return list(handles)[: count[0]]

    def close(self) -> None:
        self.functions.vkDestroyInstance(self.handle, NULL)


def _extensions(functions: api.Functions) -> set[str]:
    count = ffi.new("uint32_t*")
    functions.vkEnumerateInstanceExtensionProperties(NULL, count, NULL)
    found = ffi.new("VkExtensionProperties[]", count[0])
    functions.vkEnumerateInstanceExtensionProperties(NULL, count, found)
    return {api.text(item.extensionName) for item in found}


_lock = threading.RLock()
_instances: dict[bool, Instance] = {}


def get(validation: bool = False) -> Instance:
    """The shared instance."""
    with _lock:
        if validation not in _instances:
            _instances[validation] = Instance(validation)
        return _instances[validation]
