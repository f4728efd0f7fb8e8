"""The Vulkan instance: one per process, and one more when the validation layers are asked for."""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from .. import configuration
from ..errors import DeviceError, ForkError, VulkanError, remedy
from . import api
from .api import NULL, ffi, struct, vk

VALIDATION_LAYER = "VK_LAYER_KHRONOS_validation"
NO_DRIVER = f"vkarray: no Vulkan driver was found. {remedy('driver')}"
NO_LAYERS = f"VKARRAY_VALIDATION: the layer {VALIDATION_LAYER} is not installed. {remedy('layers')}"
FORKED = (
    "vkarray: this process was forked after Vulkan was in use, and drivers do not survive a fork. Use the start method "
    "'spawn' (multiprocessing.set_start_method('spawn')), or fork before the first use of a device."
)

# Of timeline semaphores, on a busy machine: "This is most likely a validation bug" (layer 1.3.239, Debian 12).
_FAULTS_OF_THE_LAYER = ("UNASSIGNED-VkSemaphore-state-timeout",)


class Instance:
    """A VkInstance with its functions; ``messages`` collects what the validation layers say."""

    def __init__(self, validation: bool) -> None:
        threads = configuration.current().cpu_threads
        if threads is not None:
            os.environ["LP_NUM_THREADS"] = str(threads)
        self.messages: list[str] = []
        functions, libraries = api.global_functions(), _libraries()
        extensions, layers, flags, chain, listener = [], [], 0, NULL, NULL
        if "VK_KHR_portability_enumeration" in _names(functions.vkEnumerateInstanceExtensionProperties, NULL):
            extensions.append("VK_KHR_portability_enumeration")
            flags = 1  # VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR
        if validation:
            if VALIDATION_LAYER not in _names(functions.vkEnumerateInstanceLayerProperties):
                raise DeviceError(NO_LAYERS)
            layers.append(VALIDATION_LAYER)
            extensions += ["VK_EXT_debug_utils", "VK_EXT_validation_features"]
            enabled = api.array(
                "VkValidationFeatureEnableEXT", [vk.VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT]
            )
            listener = _listener(self.messages)
            chain = struct(
                "VkValidationFeaturesEXT",
                pNext=listener,
                enabledValidationFeatureCount=1,
                pEnabledValidationFeatures=enabled,
            )
        application = struct(
            "VkApplicationInfo", pApplicationName=ffi.new("char[]", b"vkarray"), apiVersion=api.VERSION_1_3
        )
        create = struct(
            "VkInstanceCreateInfo",
            pNext=chain,
            flags=flags,
            pApplicationInfo=application,
            enabledLayerCount=len(layers),
            ppEnabledLayerNames=api.text_array(layers),
            enabledExtensionCount=len(extensions),
            ppEnabledExtensionNames=api.text_array(extensions),
        )

        def destroy(handle: Any, allocator: Any, kept: Any = chain) -> None:  # of which the listener hears too
            # A view of a closed device's memory may be the last to go, while another thread makes an instance.
            with _lock:
                api.instance_functions(handle, []).vkDestroyInstance(handle, allocator)

        try:
            self.cell = api.owned("VkInstance", lambda cell: functions.vkCreateInstance(create, NULL, cell), destroy)
        except VulkanError as error:
            raise DeviceError(f"{NO_DRIVER} ({error})") from None
        self.handle = self.cell[0]
        self.functions = api.instance_functions(self.handle, self.messages)
        self.messenger = None
        if validation:
            self.messenger = api.owned(
                "VkDebugUtilsMessengerEXT",
                lambda cell: self.functions.vkCreateDebugUtilsMessengerEXT(self.handle, listener, NULL, cell),
                self.functions.vkDestroyDebugUtilsMessengerEXT,
                self.cell,
            )
        try:
            self.physical_devices = self._physical_devices()
        except BaseException:
            self.close()
            raise
        _keep(_libraries() - libraries)

    def _physical_devices(self) -> list[Any]:
        """Handles, in the loader's order."""
        count = ffi.new("uint32_t*")
        self.functions.vkEnumeratePhysicalDevices(self.handle, count, NULL)
        handles = ffi.new("VkPhysicalDevice[]", count[0])
        self.functions.vkEnumeratePhysicalDevices(self.handle, count, handles)
        return list(handles)[: count[0]]

    def close(self) -> None:
        """Let go of it. It stays while a device of it does."""
        self.messenger = self.cell = None


def _listener(messages: list[str]) -> Any:
    """What makes the validation layers append to `messages`."""

    def collect(severity: int, kinds: int, data: Any, user_data: Any) -> int:
        message = api.text(data.pMessage)
        if not any(name in message for name in _FAULTS_OF_THE_LAYER):
            messages.append(message)  # an exception must not pass through the driver
        return 0

    return struct(
        "VkDebugUtilsMessengerCreateInfoEXT",
        messageSeverity=(
            vk.VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | vk.VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT
        ),
        messageType=(
            vk.VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | vk.VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT
        ),
        pfnUserCallback=ffi.callback("PFN_vkDebugUtilsMessengerCallbackEXT", collect),
    )


def _libraries() -> set[str]:
    """Paths of the shared libraries in this process, where the system names them (Linux)."""
    try:
        maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return set()
    mapped = (line.split(maxsplit=5) for line in maps.splitlines())
    return {fields[5] for fields in mapped if len(fields) == 6 and "x" in fields[1] and fields[5][0] == "/"}


def _keep(libraries: set[str]) -> None:
    """Keep drivers in this process to its end, although the loader lets go of them with the last instance.

    NVIDIA's leaves code of its own to be run at the end of each thread that has used it, and that may come later.
    """
    for path in libraries:
        with suppress(OSError):  # its file is gone
            ctypes.CDLL(path)  # opened once more, and never closed


def _names(enumerate_properties: Any, *arguments: Any) -> set[str]:
    """Names of extensions or layers."""
    count = ffi.new("uint32_t*")
    enumerate_properties(*arguments, count, NULL)
    layers = not arguments
    found = ffi.new("VkLayerProperties[]" if layers else "VkExtensionProperties[]", count[0])
    enumerate_properties(*arguments, count, found)
    return {api.text(item.layerName if layers else item.extensionName) for item in found}


_lock = threading.RLock()
_instances: dict[bool, Instance] = {}
_forked = False


@contextmanager
def held(validation: bool) -> Iterator[Instance]:
    """The shared instance, which no other thread closes meanwhile. Raises ForkError in a child of a process that had one."""
    if _forked:
        raise ForkError(FORKED)
    with _lock:
        shared = _instances.get(validation)
        if shared is None:
            shared = _instances[validation] = Instance(validation)
        cell = shared.cell
        yield shared
        del cell  # its handles were good until here, whatever a destructor has closed


def forked() -> bool:
    """Whether this process was forked from one that had an instance, so that it can have none."""
    return _forked


def close_all() -> None:
    """Let go of the instances; devices must be closed before."""
    with _lock:
        while _instances:
            _instances.popitem()[1].close()


def _after_fork() -> None:
    global _forked, _lock
    _lock = threading.RLock()  # its holder may be a thread that the child does not have
    _forked = bool(_instances)


atexit.register(close_all)  # after the devices, or where only descriptions of devices were asked for
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
