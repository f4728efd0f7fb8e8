"""List the Vulkan devices of this machine. The one marked with * is the default; VKARRAY_DEVICE chooses another."""

from __future__ import annotations

import argparse
import sys

from .. import _vk, configuration

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
    """Print the list. Returns 1 when there is no default device: none can be used, or VKARRAY_DEVICE names none."""
    devices = _vk.enumerate_devices()
    print("\n\n".join(describe(device) for device in devices))
    if any(device.usable for device in devices) and not any(device.is_default for device in devices):
        print(
            f"\nVKARRAY_DEVICE={configuration.current().device!r} names none that can be used. Set it to an index, a part of a "
            "name or a UUID of this list, or unset it.",
            file=sys.stderr,
        )
    return 0 if any(device.is_default for device in devices) else 1


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
    if device.profiles:
        lines.append(f"PROFILE  {', '.join(device.profiles)}, imposed by VKARRAY_PROFILE")
    if device.refusal is not None:
        lines.append(f"REFUSED  {device.refusal}")
    return "\n     ".join(lines)
