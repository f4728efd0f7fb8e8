"""Storages of the device that PyTorch makes by itself: `torch.save`, `torch.load`, `copy.deepcopy`, `torch.UntypedStorage`."""

from __future__ import annotations

from typing import Any

import torch

from .. import device as devices
from . import storage

_PRIORITY = 9  # before PyTorch's own way for devices like this one, which makes storages of no kernel here


def _tag(held: Any) -> str | None:
    return f"vulkan:{held.get_device()}" if held.device.type == "vulkan" else None


def _restore(held: Any, location: str) -> Any:
    """The storage that `torch.load` has read, on the device when it was saved there. None for other devices."""
    if not location.startswith("vulkan"):
        return None
    named = torch.device(location).index
    index = devices.current_device() if named is None else named
    if not devices.is_available():
        raise RuntimeError(
            f"torch.load: the tensors were saved on {location}, and there is no Vulkan device here. "
            f'Load them elsewhere: torch.load(file, map_location="cpu").'
        )
    if index >= devices.device_count():
        raise RuntimeError(
            f"torch.load: the tensors were saved on vulkan:{index}, and there are {devices.device_count()} devices here. Load "
            f'them elsewhere: torch.load(file, map_location="vulkan:0").'
        )
    read = held if isinstance(held, torch.UntypedStorage) else held._untyped_storage
    flat = torch.empty(0, dtype=torch.uint8).set_(read)
    return storage.of_bytes(flat, devices.at(index))


torch.serialization.register_package(_PRIORITY, _tag, _restore)


# PyTorch copies a storage into one from the device's allocator, which only C++ can register; without one the process ends.
_clone_of_others = torch.UntypedStorage.clone


def _clone(self: torch.UntypedStorage) -> torch.UntypedStorage:
    """A copy of this storage."""
    return storage.copy_of(self) if self.device.type == "vulkan" else _clone_of_others(self)


torch.UntypedStorage.clone = _clone


_resize_others = torch.UntypedStorage.resize_


def _resize(self: torch.UntypedStorage, size: int) -> torch.UntypedStorage:
    """Keep the storage as it is where it has room for `size` bytes: PyTorch asks C++ alone for others.

    Those who give memory back by it and take it again (`fully_shard` does) find it as it was, or give back nothing.
    Raises NotImplementedError for a storage that would grow.
    """
    if self.device.type != "vulkan":
        return _resize_others(self, size)
    if size > self.nbytes():
        raise NotImplementedError(
            f"UntypedStorage.resize_: got {size:,} bytes for a storage of {self.nbytes():,} on vulkan, which cannot grow. "
            f"Resize the tensor (tensor.resize_), which gets a new storage."
        )
    return self


torch.UntypedStorage.resize_ = _resize


_make_others = torch.UntypedStorage.__new__


def _new(cls: Any, *args: Any, device: Any = None, **kwargs: Any) -> torch.UntypedStorage:
    """A storage of so many bytes, whose values are undefined, or of a sequence of them."""
    if device is None or torch.device(device).type != "vulkan":
        made: torch.UntypedStorage = _make_others(
            cls, *args, **kwargs, **({} if device is None else {"device": device})
        )
        return made
    if kwargs or len(args) > 1:
        raise TypeError(
            f"torch.UntypedStorage: expected a number of bytes or a sequence of them for the device vulkan, got {args} and "
            f"{sorted(kwargs)}."
        )
    given = args[0] if args else 0
    if isinstance(given, int):
        return storage.of_size(given, devices.of(device))
    return storage.of_bytes(torch.tensor(list(given), dtype=torch.uint8), devices.of(device))


torch.UntypedStorage.__new__ = _new
