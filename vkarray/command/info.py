"""Print what a bug report should contain: versions, compiler, caches, switches and devices."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
from collections.abc import Iterator

from .. import __version__, _vk, configuration
from ..errors import DeviceError, ShaderError
from ..shaders import compiler, shipped
from . import devices

PACKAGES = ("numpy", "vulkan", "cffi", "torch")
VARIABLES = (
    "VK_DRIVER_FILES",
    "VK_ICD_FILENAMES",
    "VK_LAYER_PATH",
    "VK_INSTANCE_LAYERS",
    "LP_NUM_THREADS",
    "MESA_SHADER_CACHE_DIR",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """There are no options."""


def run(_arguments: argparse.Namespace) -> int:
    """Print the report; it is complete also on a machine without Vulkan, where the status is 1."""
    for name, value in facts():
        print(f"{name:<24}{value}")
    try:
        found = _vk.enumerate_devices()
    except DeviceError as error:
        print(f"{'devices':<24}none: {error}")
        return 1
    for device in found:
        print(f"\n{devices.describe(device)}\n     all      {', '.join(sorted(device.features)) or 'none'}")
    return 0


def show_config(mode: str = "stdout") -> dict[str, str] | None:
    """Print what computes: versions, caches, switches and devices, as `vkarray info` does.

    Parameters: mode ("stdout" prints; "dicts" returns what needs no device). Raises ValueError for another mode.
    """
    if mode not in ("stdout", "dicts"):
        raise ValueError(f"show_config: expected mode 'stdout' or 'dicts', got {mode!r}.")
    if mode == "dicts":
        return dict(facts())
    run(argparse.Namespace())
    return None


def facts() -> Iterator[tuple[str, str]]:
    """The lines that need no device."""
    yield "vkarray", __version__
    yield "Python", f"{platform.python_version()} ({platform.python_implementation()})"
    yield "system", f"{platform.platform()}, {os.cpu_count()} processors"
    for package in PACKAGES:
        yield package, version_of(package)
    yield "shader compiler", compiler_version()
    yield "compiled shaders", packaged_archive()
    settings = configuration.current()
    yield "cache", str(settings.cache or "none, as there is no home directory")
    for switch in configuration.SWITCHES:
        if switch.variable in os.environ:
            yield switch.variable, os.environ[switch.variable]
    for variable in VARIABLES:
        if variable in os.environ:
            yield variable, os.environ[variable]


def version_of(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def compiler_version() -> str:
    try:
        return compiler.version()
    except ShaderError as error:
        return str(error)


def packaged_archive() -> str:
    path = shipped.archive_path()
    if damage := shipped.damage():
        return f"{damage} Reinstall vkarray."
    return f"packaged, {path.stat().st_size / 2**20:.1f} MiB" if path.is_file() else "none packaged: compiled on demand"
