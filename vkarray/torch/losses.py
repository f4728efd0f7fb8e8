"""Losses."""

from __future__ import annotations

from ..array import VkArray
from ..ops.nn import losses as nn
from .table import decomposed, native


def _nll_loss(
    x: VkArray, target: VkArray, weight: VkArray | None, reduction: int, ignore: int
) -> tuple[VkArray, VkArray]:
    return nn.nll_loss(x, target, weight, reduction=nn.REDUCTIONS[reduction], ignore=ignore)


def _nll_loss_backward(
    gradient: VkArray, x: VkArray, target: VkArray, weight: VkArray | None, reduction: int, ignore: int, total: VkArray
) -> VkArray:  # fmt: skip
    return nn.nll_loss_backward(
        gradient, x, target, weight, reduction=nn.REDUCTIONS[reduction], ignore=ignore, total=total
    )  # fmt: skip


native("nll_loss_forward nll_loss2d_forward", _nll_loss)
native("nll_loss_backward nll_loss2d_backward", _nll_loss_backward)
for _name in ("mse_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "soft_margin_loss"):
    decomposed(f"{_name} {_name}_backward", "losses")
decomposed("multi_margin_loss multilabel_margin_loss_forward", "losses")
