"""The default generator of each device: seeds and states, as `torch.manual_seed` and `torch.utils.checkpoint` use them."""

from __future__ import annotations

import secrets
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .. import _vk
from ..ops.beyond.random import Generator
from . import device
from .generator import stream

_STATE = struct.Struct("<QQQ")  # seed, key, position


@dataclass
class _Default:
    """A default generator, which is made at first use: to seed it or ask for its state opens no device."""

    seed: int
    key: int
    position: int = 0
    made: Generator | None = None

    def read(self) -> None:
        """Take over the state of the generator that was made."""
        if self.made is not None:
            state = self.made.state
            self.key, self.position = state["key"], state["position"]

    def numbers(self, index: int) -> Generator:
        """The generator, on the device that is open now."""
        on = device.at(index)
        if self.made is None or self.made.device is not on:
            self.read()
            made = _made.get(index)
            if made is None or made.device is not on:
                made = _made[index] = Generator(0, device=on)
            made.state = {"key": self.key, "position": self.position, "children": 0}
            self.made = made
        return self.made


_defaults: dict[int, _Default] = {}  # by index, of devices that were asked for
_made: dict[int, Generator] = {}  # one for all seeds: programs of compiled models draw from it
_seed_of_all: int | None = None


def _default(index: int) -> _Default:
    found = _defaults.get(index)
    if found is None:
        seed = torch.initial_seed() if _seed_of_all is None else _seed_of_all
        found = _defaults.setdefault(index, _Default(seed, seed))
    return found


def current(on: _vk.Device, given: Any = None) -> Generator:
    """The generator of a device, or the numbers on it of the one that an operator was given."""
    if given is not None:
        return stream(given, on)
    index = device.place(on).number
    return _default(index).numbers(index)


def _as_seed(seed: Any) -> int:
    return int(seed) & (1 << 64) - 1


def manual_seed(seed: int) -> None:
    """Start the current device's random numbers anew from a seed; `torch.manual_seed` does so for all devices."""
    _defaults[device.current_device()] = _Default(_as_seed(seed), _as_seed(seed))


def manual_seed_all(seed: int) -> None:
    """`manual_seed` of all devices, those that are opened later included. Opens none."""
    global _seed_of_all
    _seed_of_all = _as_seed(seed)
    _defaults.clear()


def seed() -> int:
    """Start the current device's random numbers anew from a seed of the system's, which is returned."""
    manual_seed(secrets.randbits(63))
    return initial_seed()


def seed_all() -> int:
    """Start the random numbers of all devices anew from one seed of the system's, which is returned."""
    manual_seed_all(secrets.randbits(63))
    return initial_seed()


def initial_seed() -> int:
    """The seed that the current device's random numbers started from."""
    return _default(device.current_device()).seed


def get_rng_state(device: Any = None) -> Tensor:
    """The state of a device's generator, as bytes on the CPU. Raises ValueError for a device that is not there."""
    mine = _default(_index(device))
    mine.read()
    return torch.frombuffer(bytearray(_STATE.pack(mine.seed, mine.key, mine.position)), dtype=torch.uint8)


def set_rng_state(state: Tensor, device: Any = None) -> None:
    """Go back to a state of a device's generator. Raises ValueError for bytes that are none, and for other devices."""
    data = bytes(state.tolist())
    if len(data) != _STATE.size:
        raise ValueError(f"set_rng_state: expected the {_STATE.size} bytes of get_rng_state, got {len(data)}.")
    _defaults[_index(device)] = _Default(*_STATE.unpack(data))


def get_rng_state_all() -> list[Tensor]:
    """The states of the generators of all devices."""
    return [get_rng_state(index) for index in range(device.device_count())]


def set_rng_state_all(states: Sequence[Tensor]) -> None:
    """Go back to states of all devices. Raises ValueError for bytes that are none."""
    for index, state in enumerate(states):
        set_rng_state(state, index)


# -- in graphs --------------------------------------------------------------------------------------------------------


def _drawn_after_saving(op: Any, *args: Any, **kwargs: Any) -> Any:
    return get_rng_state(), op(*args, **kwargs)


def _drawn_again(state: Tensor, op: Any, *args: Any, **kwargs: Any) -> Any:
    before = get_rng_state()
    set_rng_state(state)
    try:
        return op(*args, **kwargs)
    finally:
        set_rng_state(before)


_NAMING = (Tensor, torch.device, str)


def restore_in_graphs(prims: Any) -> None:
    """Tell PyTorch's operators that draw the same numbers forth and back (`torch.utils.checkpoint` in graphs) of this device."""
    key = torch._C.DispatchKey.BackendSelect

    def told(op: Any, ours: Any, leading: int) -> None:
        original = op.py_kernels[key]

        def kernel(*args: Any, **kwargs: Any) -> Any:
            values = (*args[leading:], kwargs.get("device", "cpu"))
            named = [one.device if isinstance(one, Tensor) else one for one in values if isinstance(one, _NAMING)]
            is_here = any(torch.device(one).type == "vulkan" for one in named)
            return (ours if is_here else original)(*args, **kwargs)

        op.py_kernels[key] = kernel
        op._dispatch_cache.clear()

    told(prims.run_and_save_rng_state, _drawn_after_saving, 1)
    told(prims.run_with_rng_state, _drawn_again, 2)


_index = device.index_of

device.publish(
    manual_seed, manual_seed_all, seed, seed_all, initial_seed, get_rng_state, set_rng_state, get_rng_state_all,
    set_rng_state_all,
)  # fmt: skip
