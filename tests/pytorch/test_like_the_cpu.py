"""Corners in which PyTorch's CPU differs from what formulas say: NaN, bools, no elements."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from vkarray.torch.tensors import storage

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


OVERLAPPING: dict[str, Callable[[Tensor], Tensor]] = {
    "expanded": lambda x: x[:1].expand(3, 4), "unfolded": lambda x: x.reshape(-1).unfold(0, 4, 1)
}  # fmt: skip
SETTING: dict[str, Callable[[Tensor], Tensor]] = {"fill_": lambda x: x.fill_(2.0), "zero_": Tensor.zero_}


@pytest.mark.parametrize("view", OVERLAPPING)
@pytest.mark.parametrize("name", SETTING)
def test_elements_that_share_memory_are_set_to_one_value(view, name):
    found = []
    for device in ("cpu", "vulkan"):
        x = torch.arange(12.0, device=device).reshape(3, 4)
        found.append((SETTING[name](OVERLAPPING[view](x)).cpu(), x.cpu()))
    torch.testing.assert_close(found[1], found[0], rtol=0, atol=0)
    x = OVERLAPPING[view](torch.ones(3, 4, device="vulkan"))
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        x.add_(1.0)


def test_one_value_is_flipped():
    for axes in ((0,), (-1,), ()):
        assert torch.flip(torch.tensor(2.0, device="vulkan"), axes).item() == 2.0
    with pytest.raises(IndexError, match="Dimension out of range"):
        torch.flip(torch.tensor(2.0, device="vulkan"), (1,))


def test_ctrl_c_keeps_no_memory():
    """What forgets the memory of tensors is not written in Python, where an exception can come before its first line."""
    x = torch.ones(3, device="vulkan")
    for one in (x, x[1:], x.to(torch.float16)):
        _, reference, _ = storage._allocations[one.untyped_storage().data_ptr()]
        assert not isinstance(reference.__callback__, types.FunctionType | types.MethodType)
    address = x.untyped_storage().data_ptr()
    del x, one, reference
    assert address not in storage._allocations
