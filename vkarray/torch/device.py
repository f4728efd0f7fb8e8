"""The device `vulkan` of PyTorch: its name, the module `torch.vulkan`, and what the dispatcher asks about devices."""

from __future__ import annotations

import sys
import threading
import types
import warnings
from typing import Any, NamedTuple

import torch

from .. import _vk
from ..errors import DeviceError
from . import versions  # noqa: F401 - the first thing that may fail

from . import guard  # isort: skip

CPU_KERNELS = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)


# -- devices by index -------------------------------------------------------------------------------------------------


_MOST = 64  # what `Place.tag` has room for
_TAG_BIT = 57  # device addresses have fewer bits, or all of those above are copies of the highest


class Place(NamedTuple):
    """Where PyTorch finds a Vulkan device."""

    number: int
    name: torch.device
    tag: int  # xor a device address: what is unique among all devices


# By the name that the devices have now: they are the same once `registration` has named them vulkan.
_NAME = torch._C._get_privateuse1_backend_name()
PLACES = [Place(index, torch.device(_NAME, index), index << _TAG_BIT) for index in range(_MOST)]


class _Current(threading.local):
    index = 0  # of a thread that has set none


_current = _Current()
_devices: list[_vk.Device | None] = []  # by index, those that were opened
_refusal: str | None = None  # why PyTorch can have one device alone


def count_in_cpp() -> None:
    """Let PyTorch's C++ count the devices, and know the current one of each thread. To be called when it has the guard."""
    global _refusal
    _refusal = guard.install(device_count, _current)
    _listed.clear()


_listed: list[int] = []


def _physical() -> list[int]:
    """Where vkarray lists the devices, by the index that PyTorch names them by: the first is the one of VKARRAY_DEVICE."""
    if not _listed:  # not by functools.cache, which torch.compile warns of
        _listed[:] = _found()
        guard.note_count(len(_listed))
    return _listed


def _found() -> list[int]:
    devices = _vk.enumerate_devices()
    default = [one.index for one in devices if one.is_default]
    first = default[0] if default else _vk.open_device().index  # which says why there is none
    others = [one.index for one in devices if one.usable and one.index != first]
    if others and _refusal is not None:
        warnings.warn(f"{_refusal} torch.vulkan has one of {1 + len(others)} devices.", RuntimeWarning, stacklevel=2)
        return [first]
    return [first, *others[: _MOST - 1]]


_place_of: dict[int, Place] = {}  # by where vkarray lists a device


def place(on: _vk.Device) -> Place:
    """Where PyTorch finds a Vulkan device. Raises ValueError for one that it does not know."""
    found = _place_of.get(on.index)
    if found is None:
        _place_of.update(zip(_physical(), PLACES, strict=False))
        found = _place_of.get(on.index)
    if found is None:
        raise ValueError(f"torch.vulkan: PyTorch has no index for {on}, only for {at(0)}. {_refusal or ''}".rstrip())
    return found


def at(index: int) -> _vk.Device:
    """The Vulkan device with an index of PyTorch's, opened at first use. Raises DeviceError where there is none of it."""
    try:
        found = _devices[index]
    except IndexError:
        found = None
    if found is None or not found.open or found.lost is not None:
        physical = _physical()
        if not 0 <= index < len(physical):
            raise DeviceError(f"torch.vulkan: expected {_expected()}, got vulkan:{index}.")
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


def chosen(named: torch.device | None) -> _vk.Device:
    """The Vulkan device of an operator's argument `device`: the current one where that has no index."""
    return at(_current.index if named is None or named.index is None else named.index)


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
    """Return when a device has done all its work. Raises the error of a value that its kernels found wrong."""
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
