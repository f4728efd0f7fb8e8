"""The errors that vkarray raises besides Python's own ``TypeError``, ``ValueError`` and ``IndexError``.

Every message states the operation, what it got, what it expected, and what to do.
"""

from __future__ import annotations

import functools
import sys

# What to do about something that is not installed, by `sys.platform`; systems without a row are like Linux.
REMEDIES: dict[str, dict[str, str]] = {
    "loader": {
        "linux": "the Vulkan loader (libvulkan.so.1) was not found. On Debian or Ubuntu run `apt install libvulkan1 "
        "mesa-vulkan-drivers`; mesa-vulkan-drivers brings drivers for AMD and Intel GPUs and llvmpipe for machines"
        " without a GPU. NVIDIA's driver package brings its own.",
        "win32": "the Vulkan loader (vulkan-1.dll) was not found. The drivers of AMD, Intel, NVIDIA and Qualcomm bring it: "
        "install the newest from the maker of the graphics card. Mesa for Windows brings llvmpipe for machines "
        "without one.",
        "darwin": "the Vulkan loader (libvulkan.1.dylib) was not found. Run `brew install vulkan-loader molten-vk`, or "
        "install LunarG's Vulkan SDK.",
    },
    "driver": {
        "linux": "On Debian or Ubuntu `apt install mesa-vulkan-drivers` brings drivers for AMD and Intel GPUs and llvmpipe,"
        " which needs no GPU; for NVIDIA install the driver's package (nvidia-driver, with its Vulkan parts). "
        "`vulkaninfo --summary` (package vulkan-tools) shows what the loader finds.",
        "win32": "Install the newest driver from the maker of the graphics card; Mesa for Windows brings llvmpipe, which "
        "needs none. `vulkaninfo --summary`, which drivers install, shows what the loader finds.",
        "darwin": "`brew install molten-vk`, or LunarG's Vulkan SDK, brings a driver for Apple's GPUs; VK_DRIVER_FILES names"
        " the file MoltenVK_icd.json where the loader does not find it. `vulkaninfo --summary` (`brew install "
        "vulkan-tools`) shows what it finds.",
    },
    "device": {
        "linux": "On a machine without a suitable GPU `apt install mesa-vulkan-drivers` brings llvmpipe, which runs on the "
        "CPU.",
        "win32": "On a machine without a suitable GPU Mesa for Windows brings llvmpipe, which runs on the CPU.",
        "darwin": "A newer MoltenVK may offer what is missing: `brew upgrade molten-vk`, or LunarG's newest Vulkan SDK.",
    },
    "layers": {
        "linux": "On Debian or Ubuntu run `apt install vulkan-validationlayers`.",
        "win32": "Install LunarG's Vulkan SDK.",
        "darwin": "Run `brew install vulkan-validationlayers`, or install LunarG's Vulkan SDK.",
    },
    "compiler": {
        "linux": "Install it (Debian and Ubuntu: apt install glslang-tools) and run again.",
        "win32": "Install it (LunarG's Vulkan SDK has it, as glslangValidator.exe in a folder that it adds to PATH) and run"
        " again.",
        "darwin": "Install it (brew install glslang) and run again.",
    },
    "disassembler": {
        "linux": "(Debian and Ubuntu: apt install spirv-tools)",
        "win32": "(LunarG's Vulkan SDK has it)",
        "darwin": "(brew install spirv-tools)",
    },
}


def remedy(missing: str) -> str:
    """What to do about it on this system."""
    texts = REMEDIES[missing]
    return texts.get(sys.platform, texts["linux"])


class VkArrayError(Exception):
    """Base of all errors that belong to vkarray."""


class AxisError(VkArrayError, ValueError, IndexError):
    """An axis is out of range for an array."""


class ConfigurationError(VkArrayError, ValueError):
    """A switch (environment variable or ``vx.config`` argument) has an unknown name or a value out of range."""


class DeviceError(VkArrayError, RuntimeError):
    """There is no Vulkan loader, no driver, no usable device, or no device that matches the one asked for."""


class FeatureError(VkArrayError, RuntimeError):
    """The device lacks a feature, or a limit is too small, for what was asked.

    ``features`` holds the Vulkan names of what is missing.
    """

    def __init__(self, message: str, features: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.features = features


class OutOfMemoryError(VkArrayError, MemoryError):
    """Device memory is exhausted, also after all caches were released; the message gives the figures."""


class VulkanError(VkArrayError, RuntimeError):
    """A Vulkan call failed in a way that has no error class of its own; ``result`` is the name of the VkResult."""

    def __init__(self, message: str, result: str = "") -> None:
        super().__init__(message)
        self.result = result


class DeviceLostError(VulkanError):
    """The driver gave up the device; ``kernels`` names those that were in flight. Open a new device to go on."""

    def __init__(self, message: str, kernels: tuple[str, ...] = ()) -> None:
        super().__init__(message, "VK_ERROR_DEVICE_LOST")
        self.kernels = kernels


class ShaderError(VkArrayError, RuntimeError):
    """A shader does not compile, is not valid SPIR-V, or there is no compiler on this machine."""


class ValidationError(VkArrayError, RuntimeError):
    """The Vulkan validation layers, the barrier checker or the guard bytes found a fault (debugging modes)."""


class ProgramError(VkArrayError, ValueError):
    """A file holds no program that can be used: it is cut off, damaged, something else, too new, or not made as files are made."""


class TraceError(VkArrayError, RuntimeError):
    """A function that is compiled does what no trace of it can repeat, such as deciding by the value of an array."""


class ForkError(VkArrayError, RuntimeError):
    """A process that was forked after Vulkan was in use tried to use it."""


class LinAlgError(VkArrayError, ValueError):
    """A linear algebra function met a matrix it cannot handle, such as a singular one.

    Where NumPy is imported, it is NumPy's error of that name too, so `except numpy.linalg.LinAlgError` catches it.
    """

    def __new__(cls, *args: object) -> LinAlgError:
        numpy = sys.modules.get("numpy.linalg")
        if cls is LinAlgError and numpy is not None:
            cls = _also(numpy.LinAlgError)
        return super().__new__(cls, *args)

    def __reduce__(self) -> tuple:
        return LinAlgError, self.args


@functools.cache
def _also(other: type[Exception]) -> type[LinAlgError]:
    """`LinAlgError` as a class that is another error too."""
    return type("LinAlgError", (LinAlgError, other), {"__module__": __name__, "__doc__": LinAlgError.__doc__})


def counted(count: int, noun: str) -> str:
    """A number of things in a message, such as "1 dispatch" or "2 dispatches"."""
    return f"{count} {noun}{'' if count == 1 else 'es' if noun.endswith('ch') else 's'}"
