"""Weight normalization: forth and back as on the CPU, as a parametrization and in its older form, and moved to the device."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch import nn


@pytest.mark.parametrize("shape", [(4, 3), (4, 3, 5), (1, 1)], ids=str)
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_operator_and_its_gradients(shape, last, dtype):
    dim = len(shape) - 1 if last else 0
    generator = torch.Generator().manual_seed(len(shape))
    length = [size if place == dim else 1 for place, size in enumerate(shape)]
    given = [torch.randn(one, generator=generator, dtype=torch.float64).to(dtype) for one in (shape, length, shape)]
    made = []
    for device in ("cpu", "vulkan"):
        v, g = (one.detach().to(device).requires_grad_() for one in given[:2])
        w, norms = torch._weight_norm_interface(v, g, dim)
        w.backward(given[2].to(device))
        made.append([w.detach().cpu(), norms.detach().cpu().to(dtype), v.grad.cpu(), g.grad.cpu()])
    for its, ours in zip(*made, strict=True):
        torch.testing.assert_close(ours, its, **({} if dtype is torch.float32 else {"rtol": 5e-3, "atol": 5e-3}))


def _older(module: nn.Module) -> nn.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return nn.utils.weight_norm(module)


@pytest.mark.parametrize("form", [nn.utils.parametrizations.weight_norm, _older], ids=["parametrization", "older form"])
def test_modules_move_and_train(form):
    torch.manual_seed(5)
    model = nn.Sequential(form(nn.Conv1d(3, 4, 3)), form(nn.Linear(6, 2)))
    x = torch.randn(2, 3, 8)
    outputs = []
    for device in ("cpu", "vulkan"):
        parameters = list(model.parameters())
        model.to(device).zero_grad()
        assert all(one is other for one, other in zip(model.parameters(), parameters, strict=True))
        result = model(x.to(device))
        result.square().sum().backward()
        outputs.append([result.detach().cpu(), *[one.grad.cpu().clone() for one in parameters]])
    for its, ours in zip(*outputs, strict=True):
        torch.testing.assert_close(ours, its, rtol=1e-4, atol=1e-5)
