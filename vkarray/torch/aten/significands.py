"""Significands and exponents of numbers, from their bits."""

from __future__ import annotations

import torch
from torch import Tensor

from ..dispatch.table import direct, resized

# Type -> integers of the same size, bits of the fraction, and of the exponent.
_FORMATS = {torch.float32: (torch.int32, 23, 8), torch.float64: (torch.int64, 52, 11)}


def _frexp(x: Tensor, *, mantissa: Tensor, exponent: Tensor) -> tuple[Tensor, Tensor]:
    """x = mantissa 2^exponent, the mantissa from 1/2 to 1; zeros, infinities and NaN are their own, with the exponent 0."""
    wide = x if x.dtype in _FORMATS else x.float()
    integer, fraction, width = _FORMATS[wide.dtype]
    mask, half = (1 << width) - 1, (1 << width - 1) - 2  # the biased exponent of 1/2
    small = wide.abs() < torch.finfo(wide.dtype).tiny
    shift = fraction + 1
    bits = torch.where(small, wide * 2.0**shift, wide).contiguous().view(integer)
    power = ((bits >> fraction) & mask) - half - torch.where(small, shift, 0)
    significand = ((bits & ~(mask << fraction)) | (half << fraction)).view(wide.dtype)
    itself = (wide == 0) | ~wide.isfinite()
    resized(mantissa, x.shape).copy_(torch.where(itself, wide, significand))
    resized(exponent, x.shape).copy_(torch.where(itself, 0, power))
    return mantissa, exponent


direct("frexp.Tensor_out", _frexp)
