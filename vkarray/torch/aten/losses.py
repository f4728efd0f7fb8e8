"""Losses."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ...core import dtypes
from ...core.array import VkArray, is_supported
from ...nn import losses as nn
from ..dispatch import limits
from ..dispatch.table import SCALAR_NAMES, decomposed, direct, inferred, native, resized, with_out
from ..tensors.storage import TO_TORCH

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


def _classes(x: Tensor) -> int:
    return x.shape[-1] if x.ndim else 1


def _check_classes(x: Tensor, target: Tensor, *rest: Any, **named: Any) -> None:
    count = _classes(x)
    text = "multi_margin_loss: target {value} is out of range for {length} classes; expected 0 or more, and fewer."
    limits.check_within(text, target, 0, count - 1, count)


def _labels(x: Tensor, target: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Rows of x, the classes that rows of the target name, and which of these count: a negative label ends the list."""
    rows, labels = (one if one.ndim == 2 else one.reshape(1, -1) for one in (x, target))
    return rows, labels.clamp_min(0), (labels >= 0).long().cumprod(1).bool()


def _multilabel_margin(x: Tensor, target: Tensor, reduction: int) -> tuple[Tensor, Tensor]:
    """The loss, and which classes are targets, of the type and shape of x."""
    inferred(
        torch.ops.aten.multilabel_margin_loss_forward.default, (x, target, reduction), {}
    )  # raises for other shapes
    count = _classes(x)
    text = (
        "multilabel_margin_loss: target {value} is out of range for {length} classes; expected -1 or more, and fewer."
    )
    limits.check_within(text, target, -1, count - 1, count)
    rows, place, wanted = _labels(x, target)
    classes = torch.arange(rows.shape[1], device=x.device)
    is_target = ((place.unsqueeze(2) == classes) & wanted.unsqueeze(2)).any(1)
    distance = 1 - rows.gather(1, place).unsqueeze(2) + rows.unsqueeze(1)
    counts = wanted.unsqueeze(2) & ~is_target.unsqueeze(1)
    loss = distance.clamp_min(0).masked_fill(~counts, 0).sum((1, 2)) / rows.shape[1]
    loss = loss if reduction == 0 else loss.mean() if reduction == _MEAN else loss.sum()
    loss = loss.reshape(()) if x.ndim < 2 else loss
    return loss, is_target.to(x.dtype).reshape(target.shape)


def _multilabel_margin_out(
    x: Tensor, target: Tensor, reduction: int, *, output: Tensor, is_target: Tensor
) -> tuple[Tensor, Tensor]:
    made = _multilabel_margin(x, target, reduction)
    return resized(output, made[0].shape).copy_(made[0]), resized(is_target, made[1].shape).copy_(made[1])


def _multilabel_margin_backward(
    gradient: Tensor, x: Tensor, target: Tensor, reduction: int, is_target: Tensor
) -> Tensor:
    rows, place, wanted = _labels(x, target)
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
decomposed("mse_loss huber_loss soft_margin_loss", "losses")


def _slope_of_nothing(gradient: Tensor, x: Tensor, *rest: Any, **named: Any) -> Tensor | None:
    """The gradient of no elements, by whose number PyTorch's formulas divide; None for others."""
    return None if x.numel() else x.clone()


decomposed("mse_loss_backward huber_loss_backward soft_margin_loss_backward", "losses", _slope_of_nothing)


def _check_probabilities(x: Tensor, target: Tensor, *rest: Any, **named: Any) -> None:
    for name, one in (("input", x), ("target", target)):
        limits.check_within(
            f"binary_cross_entropy: all elements of {name} should be between 0 and 1, got {{value}}.", one, 0, 1
        )


def _check_beta(x: Tensor, target: Tensor, reduction: int = _MEAN, beta: float = 1.0) -> None:
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")


decomposed("binary_cross_entropy", "losses", _check_probabilities)
decomposed("smooth_l1_loss", "losses", _check_beta)
decomposed("multi_margin_loss", "losses", _check_classes)
decomposed("binary_cross_entropy_backward smooth_l1_loss_backward", "losses", _slope_of_nothing)
direct("multilabel_margin_loss_forward", _multilabel_margin)
direct("multilabel_margin_loss_forward.output", _multilabel_margin_out)
