"""`Tensor.vulkan()`, `Module.vulkan()`, `Storage.vulkan()` and `is_vulkan`, as other devices have them.

PyTorch's generator of such methods cannot be used: `Tensor.is_vulkan` is there already, for a device of PyTorch's own.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from .. import device
from . import storage

_on = device.of


def _named(named: Any) -> torch.device:
    return torch.device("vulkan", device.index_of(named))


def _tensor(self: Tensor, device: Any = None, non_blocking: bool = False, **kwargs: Any) -> Tensor:
    """The tensor on a Vulkan device, itself where it is there: the current device, or the one named."""
    return self.to(_named(device), non_blocking=non_blocking, **kwargs)


def _packed(self: PackedSequence, device: Any = None, *args: Any, **kwargs: Any) -> PackedSequence:
    """The sequence on a Vulkan device."""
    moved: PackedSequence = self.to(_named(device), *args, **kwargs)
    return moved


def _module(self: nn.Module, device: Any = None) -> nn.Module:
    """Move all parameters and buffers to a Vulkan device, in place: the current device, or the one named."""
    return self._apply(lambda tensor: tensor.to(_named(device)))


def _untyped(self: torch.UntypedStorage, device: Any = None, non_blocking: bool = False) -> torch.UntypedStorage:
    """The storage on a Vulkan device, itself where it is there."""
    where = _named(device)
    if self.device == where:
        return self
    host = self if self.device.type == "cpu" else self.cpu()
    return storage.of_bytes(torch.empty(0, dtype=torch.uint8).set_(host), _on(where))


def _typed(self: torch.TypedStorage, device: Any = None, non_blocking: bool = False) -> torch.TypedStorage:
    """The storage on a Vulkan device."""
    return torch.TypedStorage(
        wrap_storage=_untyped(self._untyped_storage, device), dtype=self.dtype, _internal=True
    )  # fmt: skip


def _is_vulkan(self: Any) -> bool:
    """Whether it is on the device vulkan."""
    return torch.device(self.device).type == "vulkan"


def install() -> None:
    """Give PyTorch's classes these methods."""
    for kind, move in (
        (Tensor, _tensor), (PackedSequence, _packed), (nn.Module, _module), (torch.UntypedStorage, _untyped),
        (torch.TypedStorage, _typed),
    ):  # fmt: skip
        kind.vulkan = move
        if kind not in (nn.Module, PackedSequence):
            kind.is_vulkan = property(_is_vulkan)
    PackedSequence.is_vulkan = property(lambda self: self.data.is_vulkan)
