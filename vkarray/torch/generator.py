"""`torch.Generator(device="vulkan")`: a stream of random numbers of one's own.

PyTorch makes generators of a device like this in C++ alone. So this one is a generator of the host, which PyTorch seeds, saves
and restores; each operator that is given it draws 64 bits, the key of its own numbers on the device.
"""

from __future__ import annotations

import weakref
from typing import Any

import torch

from ..ops import random
from . import device

_OfHost: Any = torch._C.Generator
_Class: Any = type(_OfHost)  # a metaclass of its own in PyTorch 2.11
_ours: set[int] = set()  # addresses: what an operator is given shows the same generator, but is another object


class Generator(_OfHost):
    """A generator of random numbers for the device: the same seed gives the same bits on every Vulkan device."""

    def __init__(self, device: Any = device.DEVICE) -> None:
        _ours.add(self._cdata)
        weakref.finalize(self, _ours.discard, self._cdata).atexit = False

    def __new__(cls, device: Any = device.DEVICE) -> Generator:
        """A generator with PyTorch's first seed."""
        made: Generator = super().__new__(cls)
        return made

    @property
    def device(self) -> torch.device:
        """The device of the numbers."""
        return device.DEVICE

    def clone_state(self) -> Generator:
        """Another generator in the same state."""
        made = Generator()
        made.set_state(self.get_state())
        return made

    def __reduce__(self) -> Any:
        return _restored, (self.initial_seed(), self.get_state())


def _restored(seed: int, state: torch.Tensor) -> Generator:
    made = Generator()
    made.manual_seed(seed)
    made.set_state(state)
    return made


class _OfAnyDevice(_Class):
    """The class `torch.Generator`: makes generators of this device too, and knows all of them as its own."""

    def __call__(cls, device: Any = "cpu") -> Any:
        if cls is torch.Generator:
            return Generator() if torch.device(device).type == "vulkan" else _OfHost(device)
        return super().__call__(device)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _OfHost) if cls is torch.Generator else super().__instancecheck__(value)


torch.Generator = _OfAnyDevice("Generator", (_OfHost,), {"__module__": "torch", "__doc__": _OfHost.__doc__})


def stream(given: Any) -> random.Generator:
    """The numbers of one operator that was given a generator. Raises RuntimeError for one of another device."""
    if given._cdata not in _ours:
        raise RuntimeError(
            f"Expected a 'vulkan' device type for generator but found '{given.device}'. "
            f'Make it with torch.Generator(device="vulkan").'
        )
    key = torch.empty((), dtype=torch.int64).random_(generator=given)
    return random.Generator(int(key), device=device.current())
