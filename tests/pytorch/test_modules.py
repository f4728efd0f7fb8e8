"""Modules that move to the device: parameters stay the same objects, tied ones stay tied, optimizers go on with them."""

from __future__ import annotations

import torch
from torch import nn

import vkarray.torch  # noqa: F401 - makes the device


def tied() -> nn.Sequential:
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3), nn.BatchNorm1d(3))
    model[1].weight = model[0].weight
    return model


def test_tied_parameters_stay_tied():
    model = tied()
    weight = model[0].weight
    values = weight.detach().clone()
    for move in (lambda: model.to("vulkan"), lambda: model.half(), lambda: model.float(), lambda: model.cpu()):
        move()
        assert model[0].weight is weight
        assert model[1].weight is weight
    torch.testing.assert_close(weight.detach(), values, rtol=1e-3, atol=1e-3)


def test_gradients_and_buffers_move_too():
    model = tied()
    model(torch.randn(4, 3)).sum().backward()
    model.to("vulkan")
    assert {one.device.type for one in (*model.parameters(), *model.buffers())} == {"vulkan"}
    assert {one.grad.device.type for one in model.parameters()} == {"vulkan"}


def test_an_optimizer_made_before_the_move_steps_the_parameters():
    model = tied()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    model.to("vulkan")
    before = model[0].weight.detach().cpu().clone()
    model(torch.randn(4, 3).to("vulkan")).square().mul(torch.arange(3.0).to("vulkan")).sum().backward()
    optimizer.step()
    assert not torch.equal(model[0].weight.detach().cpu(), before)


def test_modules_of_other_devices_move_as_before():
    model = tied()
    weight = model[0].weight
    model.double()
    assert model[0].weight is weight
    assert not torch.__future__.get_swap_module_params_on_conversion()
