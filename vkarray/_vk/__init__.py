"""Vulkan and nothing else: devices, memory, the queue, kernels. Importing this package does not load Vulkan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy

if TYPE_CHECKING:
    from .between import copy_between
    from .device import Device, open_device, preferring, under_profiles
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
    "preferring": "device",
    "under_profiles": "device",
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
    "preferring",
    "under_profiles",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__, _HOME)
