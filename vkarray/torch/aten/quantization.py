"""Quantization that is simulated for training, and products with weights of 8 bits."""

from __future__ import annotations

import torch
from torch import Tensor

from ..dispatch.table import direct


def _rounded(x: Tensor, scale: Tensor | float, zero_point: Tensor | int, low: int, high: int) -> tuple[Tensor, Tensor]:
    """(x rounded to a multiple of the scale, within limits; whether it was within them)."""
    wide = x if x.dtype is torch.float64 else x.float()
    inverse = 1.0 / scale if isinstance(scale, Tensor) else 1.0 / float(scale)
    places = (wide * inverse).round() + zero_point
    inside = (places >= low) & (places <= high)
    return ((places.clamp(low, high) - zero_point) * scale).to(x.dtype), inside


def _of_tensor(x: Tensor, scale: float, zero_point: int, quant_min: int, quant_max: int) -> tuple[Tensor, Tensor]:
    return _rounded(x, scale, zero_point, quant_min, quant_max)


def _of_tensor_when_enabled(
    x: Tensor, scale: Tensor, zero_point: Tensor, enabled: Tensor, quant_min: int, quant_max: int
) -> tuple[Tensor, Tensor]:
    made, inside = _rounded(x, scale, zero_point, quant_min, quant_max)
    on = enabled.bool()
    return torch.where(on, made, x), inside | ~on


def _of_channels(
    x: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int, quant_max: int
) -> tuple[Tensor, Tensor]:
    shape = [-1 if place == axis % x.ndim else 1 for place in range(x.ndim)]
    return _rounded(x, scale.reshape(shape), zero_point.reshape(shape), quant_min, quant_max)


def _integer_product(a: Tensor, b: Tensor) -> Tensor:
    """The product of matrices of 8 bits, summed in 32."""
    if a.ndim != 2 or b.ndim != 2 or a.dtype is not torch.int8 or b.dtype is not torch.int8:
        raise RuntimeError(
            f"_int_mm: expected int8 matrices, got {a.dtype} of shape {list(a.shape)} and {b.dtype} of {list(b.shape)}"
        )
    return a.int() @ b.int()


def _weighted_product(x: Tensor, weight: Tensor, scales: Tensor) -> Tensor:
    """x times the transpose of weights of 8 bits, each row of which has a scale."""
    return ((x.float() @ weight.float().mT) * scales.float()).to(x.dtype)


direct("fake_quantize_per_tensor_affine_cachemask", _of_tensor)
direct("_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", _of_tensor_when_enabled)
direct("fake_quantize_per_channel_affine_cachemask", _of_channels)
direct("_int_mm", _integer_product)
direct("_weight_int8pack_mm", _weighted_product)
