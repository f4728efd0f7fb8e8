"""The errors that vkarray raises besides Python's own ``TypeError``, ``ValueError`` and ``IndexError``.

Every message states the operation, what it got, what it expected, and what to do.
"""

from __future__ import annotations

import functools
import sys


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
