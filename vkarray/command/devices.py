"""List the Vulkan devices of this machine. The one marked with * is the default; VKARRAY_DEVICE chooses another."""

from __future__ import annotations

import argparse

from .. import _vk

# What decides the dtypes a device has and the kernels it can run fast; `vkarray info` lists every feature.
FEATURES_THAT_MATTER = (
    "shaderFloat64",
    "shaderInt64",
    "storageBuffer8BitAccess",
    "storageBuffer16BitAccess",
    "subgroupArithmetic",
    "cooperativeMatrix",
    "hostVisibleDeviceMemory",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """There are no options."""


def run(_arguments: argparse.Namespace) -> int:
    """Print the list. Returns 1 when no device can be used."""
    devices = _vk.enumerate_devices()
    print("\n\n".join(describe(device) for device in devices))
    return 0 if any(device.usable for device in devices) else 1


def describe(device: _vk.DeviceDescription) -> str:
    """A device in a few lines."""
    present = [name for name in FEATURES_THAT_MATTER if name in device.features]
    absent = [name for name in FEATURES_THAT_MATTER if name not in device.features]
    lines = [
        f"{'*' if device.is_default else ' '} {device.index}  {device.name}",
        f"{device.type}, Vulkan {device.api_version}, {device.memory_bytes / 2**30:.1f} GiB of memory",
        f"driver   {device.driver}",
        f"UUID     {device.uuid}",
        f"has      {', '.join(present) or 'none of the features that matter'}",
        f"lacks    {', '.join(absent) or 'none of the features that matter'}",
    ]
    if device.refusal is not None:
        lines.append(f"REFUSED  {device.refusal}")
    return "\n     ".join(lines)
