"""`repr` of tensors on devices without float64: PyTorch measures the numbers that it prints in float64."""

from __future__ import annotations

import torch
from torch import Tensor
from torch._tensor_str import tensor_totype as _of_any_device


def _measured(tensor: Tensor) -> Tensor:
    """The few elements that are printed, in float64 on the CPU, whatever the device has."""
    return _of_any_device(tensor.cpu() if tensor.device.type == "vulkan" else tensor)


torch._tensor_str.tensor_totype = _measured
