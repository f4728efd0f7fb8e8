"""Fused optimizers and the scale of losses: step by step as on the CPU."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

import vkarray as vx
from vkarray.core.array import is_supported

SHAPES = [(3, 4), (5,), (2, 2, 2), (0,), ()]


def _trained(device: str, options: dict, scale: float | None) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(6)
    parameters = [torch.randn(shape, generator=generator).to(device).requires_grad_() for shape in SHAPES]
    optimizer = torch.optim.Adagrad(parameters, lr=0.1, fused=True, **options)
    for _ in range(3):
        for one in parameters:
            one.grad = torch.randn(one.shape, generator=generator).to(device) * (scale or 1)
        if scale is not None:
            optimizer.grad_scale = torch.tensor(scale, device=device)
            optimizer.found_inf = torch.tensor(0.0, device=device)
        optimizer.step()
    return [one.detach().cpu() for one in parameters]


@pytest.mark.parametrize(
    ("decay", "rate_decay", "maximize"), [*itertools.product((0.0, 0.1), (0.0, 0.5), (False, True))]
)  # fmt: skip
@pytest.mark.parametrize("scale", [None, 8.0])
def test_adagrad_takes_the_steps_of_the_cpu(decay, rate_decay, maximize, scale):
    options = {"weight_decay": decay, "lr_decay": rate_decay, "maximize": maximize}
    expected = _trained("cpu", options, scale)
    for ours, its in zip(_trained("vulkan", options, scale), expected, strict=True):
        torch.testing.assert_close(ours, its, rtol=1e-5, atol=1e-6)


def test_adagrad_skips_the_step_where_gradients_overflowed():
    parameter, total = torch.ones(3, device="vulkan"), torch.zeros(3, device="vulkan")
    one, step = torch.ones((), device="vulkan"), torch.ones((), device="vulkan")
    torch._fused_adagrad_(
        [parameter], [torch.ones(3, device="vulkan")], [total], [step], lr=0.1, lr_decay=0.0, weight_decay=0.0, eps=1e-10,
        maximize=False, found_inf=one,
    )  # fmt: skip
    assert parameter.cpu().tolist() == [1, 1, 1]
    assert total.cpu().tolist() == [0, 0, 0]


@pytest.mark.parametrize("found", [0.0, 1.0])
@pytest.mark.parametrize("tracker", [0, 1, 2])
@pytest.mark.parametrize("scale", [4.0, 3e38], ids=["ordinary scale", "scale that would overflow"])
def test_scale_of_losses_is_updated_as_on_the_cpu(found, tracker, scale):
    made = []
    for device in ("cpu", "vulkan"):
        given = [
            torch.tensor([scale], device=device),
            torch.tensor([tracker], dtype=torch.int32, device=device),
            torch.tensor([found], device=device),
        ]
        result = torch._amp_update_scale_(*given, 2.0, 0.5, 3)
        assert result is given[0]
        made.append([one.cpu().tolist() for one in given])
    assert made[1] == made[0]


@pytest.mark.skipif(
    not is_supported(vx.float64, vx.asarray(0.0).device),
    reason="the device has no shaderFloat64, in which PyTorch's scaler takes the reciprocal of its scale",
)
def test_scaler_skips_a_step_of_infinite_gradients():
    parameter = torch.nn.Parameter(torch.ones(3, device="vulkan"))
    optimizer = torch.optim.SGD([parameter], lr=0.5)
    scaler = torch.amp.GradScaler("vulkan", init_scale=4.0)
    scales = []
    for factor in (1.0, math.inf, 1.0):
        optimizer.zero_grad()
        scaler.scale((parameter * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
    assert scales == [4, 2, 2]
    assert parameter.detach().cpu().tolist() == [0, 0, 0]
