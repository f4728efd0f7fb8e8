"""The device `vulkan` of PyTorch: its name, the module `torch.vulkan`, and what the dispatcher asks about devices."""

from __future__ import annotations

import contextlib
import sys
import types
from typing import Any

import torch

from .. import _vk
from . import versions  # noqa: F401 - the first thing that may fail

torch.utils.rename_privateuse1_backend("vulkan")

DEVICE = torch.device("vulkan", 0)
CPU_KERNELS = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)

_device: _vk.Device | None = None


def current() -> _vk.Device:
    """The Vulkan device behind "vulkan": VKARRAY_DEVICE or the best one, opened at first use."""
    global _device
    if _device is None or not _device.open or _device.lost is not None:
        _device = _vk.open_device()
    return _device


class _Hook(torch._C._acc.PrivateUse1Hooks):
    def is_available(self) -> bool:
        return is_available()

    def is_built(self) -> bool:
        return True

    def has_primary_context(self, index: int) -> bool:
        return _device is not None


class _Guard(torch._C._acc.DeviceGuard):
    def type_(self) -> Any:
        return torch._C._autograd.DeviceType.PrivateUse1


def is_available() -> bool:
    """Whether there is a Vulkan device."""
    try:
        current()
    except Exception:
        return False
    return True


def is_initialized() -> bool:
    """Whether the device was opened."""
    return _device is not None


def device_count() -> int:
    """How many devices PyTorch can name: one, the device that VKARRAY_DEVICE selects."""
    return int(is_available())


def current_device() -> int:
    """The index of the device: 0."""
    return 0


def set_device(device: Any) -> None:
    """Accept the only device there is. Raises ValueError for another index."""
    index = device if isinstance(device, int) else torch.device(device).index
    if index not in (None, 0):
        raise ValueError(f"torch.vulkan.set_device: expected device 0, got {device!r}: there is one device.")


class device(contextlib.nullcontext):
    """Make a device the current one: with one device, a context that checks its index."""

    def __init__(self, device: Any) -> None:
        set_device(0 if device is None else device)
        super().__init__()


def device_name(device: Any = None) -> str:
    """The name that the driver gives the device."""
    set_device(0 if device is None else device)
    return current().name


def synchronize(device: Any = None) -> None:
    """Return when the device has done all its work."""
    set_device(0 if device is None else device)
    current().synchronize()


def memory_allocated(device: Any = None) -> int:
    """The bytes of device memory that tensors and arrays hold."""
    return current().memory.statistics()["bytes_in_use"]


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes of device memory that tensors and arrays have held."""
    return current().memory.statistics()["bytes_peak"]


def memory_reserved(device: Any = None) -> int:
    """The bytes taken from the driver, those kept for re-use included."""
    return current().memory.statistics()["bytes_reserved"]


def empty_cache() -> None:
    """Give unused memory back to the driver."""
    current().empty_cache()


def get_amp_supported_dtype() -> list[torch.dtype]:
    """The types that `torch.autocast("vulkan")` can compute in."""
    return [torch.float16, torch.bfloat16]


def _is_in_bad_fork() -> bool:
    return False


def _lazy_init() -> None:
    """Nothing is left to do. PyTorch asks for it until it is there, in every call that names the device."""


_MODULE = types.ModuleType("torch.vulkan", "The Vulkan device of PyTorch, made by vkarray.torch.")
_FUNCTIONS = (
    is_available, is_initialized, device_count, current_device, set_device, device, device_name, synchronize, memory_allocated,
    max_memory_allocated, memory_reserved, empty_cache, get_amp_supported_dtype, _is_in_bad_fork,
    _lazy_init,
)  # fmt: skip


def publish(*functions: Any) -> None:
    """Enter functions in the module `torch.vulkan`."""
    for function in functions:
        setattr(_MODULE, function.__name__, function)


# The functions of `torch.accelerator` for this device that PyTorch leaves to C++.
_synchronize_others = torch.accelerator.synchronize


def _synchronize_accelerator(device: Any = None, /) -> None:
    """Return when the accelerator has done all its work."""
    accelerator = torch.accelerator.current_accelerator()
    if accelerator is not None and accelerator.type == "vulkan":
        synchronize(device)
    else:
        _synchronize_others(device)


publish(*_FUNCTIONS)
torch.accelerator.synchronize = _synchronize_accelerator
torch._register_device_module("vulkan", _MODULE)
sys.modules["torch.vulkan"] = _MODULE
# PyTorch keeps plain pointers to both.
_HOOK, _GUARD = _Hook(), _Guard()
torch._C._acc.register_python_privateuseone_hook(_HOOK)
torch._C._acc.register_python_privateuseone_device_guard(_GUARD)
