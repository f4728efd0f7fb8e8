"""`torch.Generator(device="vulkan")`: a stream of random numbers of one's own.

PyTorch makes generators of a device like this in C++ alone. So this one is a generator of the host, which PyTorch seeds, saves
and restores; each operator that is given it draws 64 bits, the key of its own numbers on the device.
"""

from __future__ import annotations

import weakref
from typing import Any

import torch

from .. import _vk
from .._vk.watch import refuse
from ..ops.beyond import random
from . import device as devices

_OfHost: Any = torch._C.Generator
_Class: Any = type(_OfHost)  # a metaclass of its own in PyTorch 2.11
_ours: dict[
    int, torch.device
] = {}  # by address: what an operator is given shows the same generator, but is another object


class Generator(_OfHost):
    """A generator of random numbers for a device: the same seed gives the same bits on every Vulkan device."""

    def __init__(self, device: Any = "vulkan") -> None:
        _ours[self._cdata] = devices.PLACES[devices.index_of(device)].name
        weakref.finalize(self, _ours.pop, self._cdata, None).atexit = False

    def __new__(cls, device: Any = "vulkan") -> Generator:
        """A generator with PyTorch's first seed. Raises ValueError for a device that is not there."""
        made: Generator = super().__new__(cls)
        return made

    @property
    def device(self) -> torch.device:
        """The device of the numbers."""
        return _ours[self._cdata]

    def clone_state(self) -> Generator:
        """Another generator in the same state."""
        made = Generator(self.device)
        made.set_state(self.get_state())
        return made

    def __reduce__(self) -> Any:
        return _restored, (self.device, self.initial_seed(), self.get_state())


def _restored(device: torch.device, seed: int, state: torch.Tensor) -> Generator:
    made = Generator(device)
    made.manual_seed(seed)
    made.set_state(state)
    return made


class _OfAnyDevice(_Class):
    """The class `torch.Generator`: makes generators of this device too, and knows all of them as its own."""

    def __call__(cls, device: Any = "cpu") -> Any:
        if cls is torch.Generator:
            return Generator(device) if torch.device(device).type == "vulkan" else _OfHost(device)
        return super().__call__(device)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _OfHost) if cls is torch.Generator else super().__instancecheck__(value)


torch.Generator = _OfAnyDevice("Generator", (_OfHost,), {"__module__": "torch", "__doc__": _OfHost.__doc__})


def stream(given: Any, on: _vk.Device) -> random.Generator:
    """The numbers on a device of one operator that was given a generator. Raises RuntimeError for one of another device."""
    name = devices.place(on).name
    if _ours.get(given._cdata) != name:
        kind = "a 'vulkan' device type" if given._cdata not in _ours else f"a '{name}' device"
        found = _ours.get(given._cdata, given.device)
        raise RuntimeError(
            f"Expected {kind} for generator but found '{found}'. Make it with torch.Generator(device=\"{name}\")."
        )
    refuse("it draws from a generator that is given")
    key = torch.empty((), dtype=torch.int64).random_(generator=given)
    return random.Generator(int(key), device=on)
