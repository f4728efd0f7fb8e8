"""The device `vulkan` of PyTorch: tensors in vkarray's memory, operators as vkarray's shaders.

>>> import torch, vkarray.torch
>>> torch.ones(3, device="vulkan") + 1
tensor([2., 2., 2.], device='vulkan:0')

What has no shader yet runs on the CPU and is counted: `fallbacks`, `reset_fallbacks`, `strict`.
"""

from __future__ import annotations

from ..extras import needs

needs("vkarray.torch", "torch")

from . import device
from .dispatch import fallback

from .tensors import storage, transfer  # isort: skip - what all chapters stand on
from . import autocast, modules, streams
from .aten import (
    alignment,
    attention,
    bags,
    composites,
    convolution,
    copies,
    counting,
    creation,
    distances,
    distributions,
    elementwise,
    factorizations,
    fourier,
    fractional,
    grid,
    histograms,
    indexing,
    layouts,
    least_squares,
    linear,
    linear_algebra,
    losses,
    matrix,
    normalization,
    optimizers,
    pooling,
    quantization,
    random,
    recurrent,
    reductions,
    running,
    segments,
    significands,
    transformer,
    vision,
    weight_norm,
)
from .tensors import printing, serialization

from .dispatch import variants  # isort: skip - it looks for what the others left out

from . import registration  # isort: skip - the device gets its name last
from .dispatch.fallback import Fallback, FallbackError, FallbackWarning, fallbacks, reset_fallbacks, strict
from .exported import export
from .exported.refusals import ExportError, Refusal
from .registration import register_device
from .tensors.storage import as_array
from .tensors.transfer import to_torch, to_vulkan

__all__ = [
    "ExportError", "Fallback", "FallbackError", "FallbackWarning", "Refusal", "as_array", "export", "fallbacks",
    "register_device", "reset_fallbacks", "strict", "to_torch", "to_vulkan",
]  # fmt: skip
