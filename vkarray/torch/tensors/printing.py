"""`repr` of tensors on the device: without float64 where it has none, and without a trace where it ends with an error."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch._tensor_str import _str as _str_of_any_device
from torch._tensor_str import tensor_totype as _of_any_device


def _measured(tensor: Tensor) -> Tensor:
    """The few elements that are printed, in float64 on the CPU, whatever the device has: PyTorch measures them so."""
    return _of_any_device(tensor.cpu() if tensor.device.type == "vulkan" else tensor)


def _str(self: Tensor, *, tensor_contents: Any = None) -> str:
    """As PyTorch's, which switches transforms of functions off while it reads values.

    PyTorch switches them on again when its frame is dropped. An error keeps its frames, and reading values of the device tells
    errors: transforms would stay off while somebody holds the error, and their results would be wrong.
    """
    if self.device.type != "vulkan":
        return _str_of_any_device(self, tensor_contents=tensor_contents)
    with torch.no_grad(), torch.utils._python_dispatch._disable_current_modes():
        guard = torch._C._DisableFuncTorch()
        try:
            return torch._tensor_str._str_intern(self, tensor_contents=tensor_contents)
        finally:
            del guard


torch._tensor_str.tensor_totype = _measured
torch._tensor_str._str = _str
