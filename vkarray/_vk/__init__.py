"""Vulkan and nothing else: devices, memory, the queue, kernels. Importing this package does not load Vulkan."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .between import copy_between
    from .device import Device, open_device
    from .kernel import Kernel
    from .memory import Buffer
    from .physical_device import DeviceDescription, Limits, enumerate_devices

TEXEL_BYTES = 16  # of texel buffers: four words, which every device can fetch

_HOME = {
    "Buffer": "memory",
    "Device": "device",
    "DeviceDescription": "physical_device",
    "Kernel": "kernel",
    "Limits": "physical_device",
    "copy_between": "between",
    "enumerate_devices": "physical_device",
    "open_device": "device",
}

__all__ = [
    "TEXEL_BYTES",
    "Buffer",
    "Device",
    "DeviceDescription",
    "Kernel",
    "Limits",
    "copy_between",
    "enumerate_devices",
    "open_device",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_HOME[name]}", __name__), name)
    return value
