"""Losses."""

from __future__ import annotations

from .. import dtypes
from ..array import VkArray, is_supported
from ..ops.nn import losses as nn
from .storage import TO_TORCH
from .table import SCALAR_NAMES, decomposed, native


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


native("nll_loss_forward nll_loss2d_forward", _nll_loss)
native("nll_loss_backward nll_loss2d_backward", _nll_loss_backward)
for _name in ("mse_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "soft_margin_loss"):
    decomposed(f"{_name} {_name}_backward", "losses")
decomposed("multi_margin_loss multilabel_margin_loss_forward", "losses")
