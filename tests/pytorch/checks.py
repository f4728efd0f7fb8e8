"""Checks that several files of the bridge's tests make."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import torch

import vkarray as vx
import vkarray.torch
from vkarray.core.array import is_supported
from vkarray.torch.tensors import storage

needs_int64 = pytest.mark.skipif(
    not is_supported(vx.int64, vx.asarray(0).device),
    reason="the device has no shaderInt64, and PyTorch's integers are int64",
)


@contextmanager
def no_memory_held(constants: int) -> Iterator[None]:
    """The block leaves no storage and no memory behind, but shared constants of some more scalars: 256 bytes each."""
    gc.collect()
    torch.vulkan.synchronize()
    held, allocated = storage.live(), torch.vulkan.memory_allocated()
    yield
    gc.collect()
    assert storage.live() == held
    assert torch.vulkan.memory_allocated() <= allocated + constants * 256


def settle(model: torch.nn.Module, given: dict[str, torch.Tensor]) -> None:
    """Give batch normalization the statistics of `given`: those of new layers let everything vanish."""
    for layer in model.modules():
        if isinstance(layer, torch.nn.BatchNorm2d):
            layer.momentum = None
    with torch.no_grad():
        model.train()(**given)
    model.eval()


def assert_passes_as_on_the_cpu(model: torch.nn.Module, passes: Callable[[str], torch.Tensor]) -> None:
    """Outputs and gradients of `passes`, which runs the model forth and back on a device, are those of the CPU."""
    expected = passes("cpu")
    # Outputs of random weights can be tiny in all: MobileNetV2's are below 1e-24.
    size = min(1.0, float(expected.detach().abs().max()))
    gradients = {name: one.grad.clone() for name, one in model.named_parameters() if one.grad is not None}
    model.zero_grad()
    model.to("vulkan")
    torch.testing.assert_close(passes("vulkan").cpu(), expected, rtol=1e-4, atol=1e-5 * size)
    largest = max(float(one.abs().max()) for one in gradients.values())
    for name, one in model.named_parameters():
        if one.grad is not None:
            torch.testing.assert_close(one.grad.cpu(), gradients[name], rtol=1e-3, atol=1e-5 * largest)
