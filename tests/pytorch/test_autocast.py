"""The casts of parameters that autocast keeps while its outermost context is open, beside PyTorch's CPU."""

from __future__ import annotations

import gc
import weakref

import pytest
import torch

from vkarray.torch import autocast

DEVICE = "vulkan"


@pytest.fixture
def layer():
    torch.manual_seed(1)
    return torch.nn.Linear(8, 8).to(DEVICE)


def test_a_parameter_is_cast_once_in_a_context(layer):
    x = torch.rand(3, 8, device=DEVICE)
    with torch.autocast(DEVICE, torch.bfloat16):
        layer(x)
        kept = [id(cast) for *_, cast in autocast._casts.values()]
        layer(layer(x).float())
        assert [id(cast) for *_, cast in autocast._casts.values()] == kept, "a parameter is cast anew"
        assert len(kept) == 2, "the weight and the bias are cast once each"
    assert not autocast._casts, "casts stay when the context is closed"


def test_gradients_are_those_without_a_cache(layer):
    x = torch.rand(3, 8, device=DEVICE)
    found = []
    for enabled in (True, False):
        layer.zero_grad()
        with torch.autocast(DEVICE, torch.bfloat16, cache_enabled=enabled):
            loss = (layer(x) + layer(2 * x)).sum()
        loss.backward()
        found.append([parameter.grad.cpu() for parameter in layer.parameters()])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-2, atol=1e-2)


def test_gradients_are_recorded_after_a_part_without(layer):
    x = torch.rand(3, 8, device=DEVICE)
    with torch.autocast(DEVICE, torch.bfloat16):
        with torch.no_grad():
            layer(x)
        assert layer(x).requires_grad
        layer(x).sum().backward()
    assert layer.weight.grad is not None


def test_a_parameter_that_changes_is_cast_again(layer):
    x = torch.rand(3, 8, device=DEVICE)
    with torch.autocast(DEVICE, torch.bfloat16), torch.no_grad():
        before = layer(x).cpu()
        layer.weight.mul_(2)
        layer.bias.mul_(2)
        torch.testing.assert_close(layer(x).cpu(), 2 * before, rtol=2e-2, atol=2e-2)


def test_nothing_is_kept_alive():
    layer = torch.nn.Linear(8, 8).to(DEVICE)
    watched = weakref.ref(layer.weight)
    with torch.autocast(DEVICE, torch.float16):
        layer(torch.rand(3, 8, device=DEVICE))
        assert autocast._casts
    assert not autocast._casts
    del layer
    gc.collect()
    assert watched() is None
