"""Weights as a length times a direction: `weight_norm`, forth and back, and modules that use it moved between devices."""

from __future__ import annotations

from torch import Tensor

from ..dispatch.table import decomposed, direct

decomposed("_weight_norm_interface", "weight_norm")


def _backward(gradient: Tensor, direction: Tensor, length: Tensor, norms: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """The gradients of the direction and of the length, whose product over the direction's norm is the weight.

    Source: T. Salimans, D. P. Kingma, "Weight normalization", NeurIPS 2016, equation 3.
    """
    others = [one for one in range(direction.ndim) if one != dim % direction.ndim]
    norms = norms.to(direction.dtype)
    along = (gradient * direction).sum(others, keepdim=True)
    of_length = along / norms
    of_direction = (length / norms) * (gradient - direction * (along / (norms * norms)))
    return of_direction, of_length.reshape(length.shape)


direct("_weight_norm_interface_backward", _backward)
