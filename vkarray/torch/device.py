"""The device `vulkan` of PyTorch: its name, the module `torch.vulkan`, and what the dispatcher asks about devices."""

from __future__ import annotations

import functools
import sys
import threading
import types
from typing import Any

import torch

from .. import _vk
from . import versions  # noqa: F401 - the first thing that may fail

# By the name that it has now: it is the same device once `registration` has named it vulkan.
DEVICE = torch.device(torch._C._get_privateuse1_backend_name(), 0)
CPU_KERNELS = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)


# -- devices by index -------------------------------------------------------------------------------------------------


class _Current(threading.local):
    index = 0  # of a thread that has set none


_current = _Current()
_devices: list[_vk.Device | None] = []  # by index, those that were opened


@functools.cache
def _physical() -> tuple[int, ...]:
    """Where vkarray lists the devices, by the index that PyTorch names them by: the first is the one of VKARRAY_DEVICE."""
    default = [one.index for one in _vk.enumerate_devices() if one.is_default]
    first = default[0] if default else _vk.open_device().index  # which says why there is none
    return (first,)


def at(index: int) -> _vk.Device:
    """The Vulkan device with an index of PyTorch's, opened at first use. Raises ValueError where there is none of it."""
    try:
        found = _devices[index]
    except IndexError:
        found = None
    if found is None or not found.open or found.lost is not None:
        physical = _physical()
        if not 0 <= index < len(physical):
            raise ValueError(f"torch.vulkan: expected {_expected()}, got the index {index}.")
        _devices.extend([None] * (len(physical) - len(_devices)))
        found = _devices[index] = _vk.open_device(physical[index])
    return found


def opened(index: int) -> _vk.Device | None:
    """The Vulkan device with an index of PyTorch's, if it was opened."""
    found = _devices[index] if index < len(_devices) else None
    return found if found is not None and found.open else None


def _expected() -> str:
    count = device_count()
    return "device 0, for there is one device" if count == 1 else f"a device from 0 to {count - 1}"


def index_of(device: Any = None) -> int:
    """The index that anything names: None for the current device, a number, "vulkan:1", a torch.device.

    Raises ValueError for a device that is not there, and for one of another kind.
    """
    if device is None:
        return _current.index
    if isinstance(device, int):
        index = device
    else:
        named = torch.device(device)
        if named.type != "vulkan":
            raise ValueError(f"torch.vulkan: expected a device of the type vulkan, got {device!r}.")
        index = _current.index if named.index is None else named.index
    if not 0 <= index < device_count():
        raise ValueError(f"torch.vulkan: expected {_expected()}, got {device!r}.")
    return index


def of(device: Any = None) -> _vk.Device:
    """The Vulkan device that anything names, as in `index_of`."""
    return at(index_of(device))


def current() -> _vk.Device:
    """The current Vulkan device of this thread."""
    return at(_current.index)


class Hook(torch._C._acc.PrivateUse1Hooks):
    def is_available(self) -> bool:
        return is_available()

    def is_built(self) -> bool:
        return True

    def has_primary_context(self, index: int) -> bool:
        return 0 <= index < len(_devices) and _devices[index] is not None


class Guard(torch._C._acc.DeviceGuard):
    def type_(self) -> Any:
        return torch._C._autograd.DeviceType.PrivateUse1


def is_available() -> bool:
    """Whether there is a Vulkan device that can be used. Opens none."""
    return device_count() > 0


def is_initialized() -> bool:
    """Whether a device was opened."""
    return any(one is not None for one in _devices)


def device_count() -> int:
    """How many devices PyTorch can name; 0 where there is none."""
    try:
        return len(_physical())
    except Exception:
        return 0


def current_device() -> int:
    """The index of the current device of this thread."""
    return _current.index


def set_device(device: Any) -> None:
    """Make a device the current one of this thread: an index, "vulkan:1" or a torch.device. Negative indices change nothing.

    Raises ValueError for one that is not there.
    """
    if not (isinstance(device, int) and device < 0):
        _current.index = index_of(device)


class device:
    """Make a device the current one within a `with` block. None and negative indices change nothing."""

    def __init__(self, device: Any) -> None:
        self.idx = -1 if device is None or (isinstance(device, int) and device < 0) else index_of(device)
        self.prev_idx = -1

    def __enter__(self) -> None:
        self.prev_idx = current_device()
        set_device(self.idx)

    def __exit__(self, *error: object) -> None:
        _current.index = self.prev_idx


def device_name(device: Any = None) -> str:
    """The name that the driver gives a device."""
    return of(device).name


def synchronize(device: Any = None) -> None:
    """Return when a device has done all its work."""
    of(device).synchronize()


def get_amp_supported_dtype() -> list[torch.dtype]:
    """The types that `torch.autocast("vulkan")` can compute in."""
    return [torch.float16, torch.bfloat16]


def _is_in_bad_fork() -> bool:
    """Whether this process was forked from one that used Vulkan, so that it cannot."""
    instance = sys.modules.get("vkarray._vk.instance")  # not there before Vulkan's first use
    return instance is not None and instance.forked()


def _lazy_init() -> None:
    """Nothing is left to do. PyTorch asks for it until it is there, in every call that names the device."""


def init() -> None:
    """Open the current device, which else happens at first use. Raises DeviceError where there is none."""
    current()


MODULE = types.ModuleType("torch.vulkan", "The Vulkan device of PyTorch, made by vkarray.torch.")
_FUNCTIONS = (
    is_available, is_initialized, device_count, current_device, set_device, device, device_name, synchronize,
    get_amp_supported_dtype, _is_in_bad_fork, _lazy_init, init,
)  # fmt: skip


def publish(*functions: Any) -> None:
    """Enter functions in the module `torch.vulkan`."""
    for function in functions:
        setattr(MODULE, function.__name__, function)


def _attribute(name: str) -> Any:
    """What changes, and is read as an attribute. `torch.utils.checkpoint` keeps random states where `_initialized` is true."""
    if name == "_initialized":
        return is_initialized()
    raise AttributeError(f"module 'torch.vulkan' has no attribute {name!r}")


MODULE.__dict__["__getattr__"] = _attribute
publish(*_FUNCTIONS)
