"""Corners in which PyTorch's CPU differs from what formulas say: NaN, bools, no elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import vkarray.torch  # noqa: F401 - makes the device

SUBTRACTIONS: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "x - mask": lambda x, mask: x - mask,
    "mask - x": lambda x, mask: mask - x,
    "mask - mask": lambda x, mask: mask - mask,
    "in place": lambda x, mask: x.sub_(mask),
    "scaled": lambda x, mask: torch.sub(x, mask, alpha=2),
    "rsub": lambda x, mask: torch.rsub(x, mask),
    "x - True": lambda x, mask: x - True,
    "mask - 1": lambda x, mask: mask - 1,
}
LOSSES = ("mse_loss", "smooth_l1_loss", "l1_loss", "huber_loss", "soft_margin_loss", "binary_cross_entropy")


@pytest.mark.parametrize("name", SUBTRACTIONS)
def test_masks_are_not_subtracted(name):
    said = []
    for device in ("cpu", "vulkan"):
        with pytest.raises(RuntimeError, match=r"Subtraction, the `-` operator, with .* bool tensor") as caught:
            SUBTRACTIONS[name](torch.ones(3, device=device), torch.ones(3, dtype=torch.bool, device=device))
        said.append(str(caught.value))
    assert said[0] == said[1]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_nan_has_no_sign(dtype):
    x = torch.tensor([float("nan"), -0.0, 0.0, 2.0, -3.0, float("inf")], dtype=dtype)
    for function in (torch.sign, torch.sgn, lambda one: torch.heaviside(one, one * 0 + 0.5)):
        assert torch.equal(function(x.to("vulkan")).cpu(), function(x))
    slopes = []
    for device in ("cpu", "vulkan"):
        leaf = x.clone().to(device).requires_grad_()
        leaf.abs().sum().backward()
        slopes.append(leaf.grad.cpu())
    assert torch.equal(*slopes)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", LOSSES)
def test_losses_of_no_elements_have_gradients(name, reduction):
    for device in ("cpu", "vulkan"):
        x = torch.empty((0, 3), device=device, requires_grad=True)
        loss = getattr(F, name)(x, torch.empty((0, 3), device=device), reduction=reduction)
        loss.sum().backward()
        assert x.grad is not None
        assert x.grad.shape == x.shape
        assert reduction != "mean" or loss.isnan()
