"""Losses."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from .. import dtypes
from ..array import VkArray, is_supported
from ..ops.nn import losses as nn
from .storage import TO_TORCH
from .table import SCALAR_NAMES, decomposed, direct, native, with_out

_MEAN = 1  # PyTorch's number of this reduction


def _nll_loss(
    x: VkArray, target: VkArray, weight: VkArray | None, reduction: int, ignore: int
) -> tuple[VkArray, VkArray]:
    if target._dtype not in (dtypes.int64, dtypes.uint8) and is_supported(dtypes.int64, x._device):
        name = SCALAR_NAMES.get(TO_TORCH[target._dtype], str(target._dtype))
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {name}")
    return nn.nll_loss(x, target, weight, reduction=nn.REDUCTIONS[reduction], ignore=ignore)


def _nll_loss_backward(
    gradient: VkArray, x: VkArray, target: VkArray, weight: VkArray | None, reduction: int, ignore: int, total: VkArray
) -> VkArray:  # fmt: skip
    return nn.nll_loss_backward(
        gradient, x, target, weight, reduction=nn.REDUCTIONS[reduction], ignore=ignore, total=total
    )  # fmt: skip


def _share(gradient: Tensor, rows: int, reduction: int) -> Tensor:
    """The gradient of each row's loss, as a column."""
    scale = 1 / rows if reduction == _MEAN and rows else 1
    return (gradient.reshape(-1, 1) * scale).expand(rows, 1)


def _multi_margin_backward(
    gradient: Tensor, x: Tensor, target: Tensor, p: Any, margin: Any, weight: Tensor | None = None, reduction: int = 1
) -> Tensor:
    rows = x if x.ndim == 2 else x.reshape(1, -1)
    place = target.reshape(-1, 1)
    distance = margin - rows.gather(1, place) + rows
    slope = (distance > 0).to(x.dtype) if p == 1 else 2 * distance.clamp_min(0)
    slope = slope * (1 if weight is None else weight[place])
    slope = slope.scatter(1, place, 0)
    slope = slope.scatter(1, place, -slope.sum(1, keepdim=True)) / rows.shape[1]
    return (slope * _share(gradient, rows.shape[0], reduction)).reshape(x.shape)


def _multilabel_margin_backward(
    gradient: Tensor, x: Tensor, target: Tensor, reduction: int, is_target: Tensor
) -> Tensor:
    rows, labels = (one if one.ndim == 2 else one.reshape(1, -1) for one in (x, target))
    wanted = (labels >= 0).long().cumprod(1).bool()  # a negative label ends the list
    place = labels.clamp_min(0)
    distance = 1 - rows.gather(1, place).unsqueeze(2) + rows.unsqueeze(1)
    others = (is_target.reshape(rows.shape) == 0).unsqueeze(1)
    within = ((distance > 0) & wanted.unsqueeze(2) & others).to(x.dtype)
    slope = within.sum(1).scatter_add(1, place, -within.sum(2)) / rows.shape[1]
    return (slope * _share(gradient, rows.shape[0], reduction)).reshape(x.shape)


for _loss, _function in (("multi", _multi_margin_backward), ("multilabel", _multilabel_margin_backward)):
    direct(f"{_loss}_margin_loss_backward", _function)
    direct(f"{_loss}_margin_loss_backward.grad_input", with_out(_function, "grad_input"))
native("nll_loss_forward nll_loss2d_forward", _nll_loss)
native("nll_loss_backward nll_loss2d_backward", _nll_loss_backward)
for _name in ("mse_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "soft_margin_loss"):
    decomposed(f"{_name} {_name}_backward", "losses")
decomposed("multi_margin_loss multilabel_margin_loss_forward", "losses")
