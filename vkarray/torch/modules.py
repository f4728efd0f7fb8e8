"""Modules that move to the device or from it keep their parameters: the same objects, shared where they were shared.

PyTorch changes the data of a parameter in place where both devices are its own, and makes new parameters for other devices:
tied weights would come apart, and an optimizer would go on with the old ones. It can exchange the contents of two tensors
instead, which is what happens here, for such moves alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

_apply = nn.Module._apply


def _moves(module: nn.Module, function: Callable[[Tensor], Tensor]) -> bool:
    """Whether the function takes the module's parameters to the device, or from it to another."""
    first = next(module.parameters(), None)
    if first is None:
        return False
    kinds = {one.device.type for one in (first, function(first.detach().new_empty(0)))}
    return len(kinds) > 1 and "vulkan" in kinds


def _release(module: nn.Module, function: Callable[[Tensor], Tensor]) -> None:
    """Move attributes that were computed from parameters, as `weight_norm` keeps them, without their history.

    It would hold the parameters, whose contents are then not exchanged. Hooks compute such attributes anew before each use.
    """
    for one in module.modules():
        for name, value in one.__dict__.items():
            if isinstance(value, Tensor) and value.grad_fn is not None:
                one.__dict__[name] = function(value.detach())


def _applied(self: nn.Module, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
    swaps = torch.__future__.get_swap_module_params_on_conversion()
    if swaps or not _moves(self, fn):
        return _apply(self, fn, recurse)
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        _release(self, fn)
        return _apply(self, fn, recurse)
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)


nn.Module._apply = _applied
