"""What `torch.vulkan` tells of devices: names, properties, types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from .. import _vk
from ..core.array import is_supported
from . import device
from .tensors.storage import FROM_TORCH


@dataclass(frozen=True)
class DeviceProperties:
    """What is known of a device: names of Vulkan's features, and its limits. Sizes are in bytes."""

    name: str
    type: str
    vendor: str
    uuid: str
    driver: str
    api_version: str
    total_memory: int
    features: frozenset[str]
    limits: _vk.Limits


# The Khronos registry and the PCI-SIG number vendors.
_VENDORS = {
    0x1002: "AMD", 0x1010: "Imagination", 0x106B: "Apple", 0x10DE: "NVIDIA", 0x13B5: "Arm", 0x14E4: "Broadcom", 0x5143: "Qualcomm",
    0x8086: "Intel", 0x10005: "Mesa",
}  # fmt: skip


def get_device_properties(device: Any = None) -> DeviceProperties:
    """The properties of a device. Raises ValueError for one that is not there."""
    on = _of(device)
    description, vendor = on.physical.description, on.physical.properties.vendorID
    return DeviceProperties(
        description.name, description.type, _VENDORS.get(vendor, f"{vendor:#x}"), description.uuid, description.driver,
        description.api_version, on.memory.statistics()["bytes_total"], description.features, on.limits,
    )  # fmt: skip


def get_device_name(device: Any = None) -> str:
    """The name that the driver gives a device."""
    return _of(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """The version of Vulkan that a device has: major, minor."""
    major, minor, *_ = _of(device).physical.description.api_version.split(".")
    return int(major), int(minor)


def supported_dtypes(device: Any = None) -> set[torch.dtype]:
    """The types that tensors on a device can have."""
    on = _of(device)
    return {theirs for theirs, ours in FROM_TORCH.items() if is_supported(ours, on)}


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether tensors can be bfloat16. It is stored in 16 bits and computed in 32: native on no device."""
    return including_emulation and torch.bfloat16 in supported_dtypes()


_of = device.of

device.publish(get_device_properties, get_device_name, get_device_capability, is_bf16_supported)
