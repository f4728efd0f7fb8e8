"""Default generators: states are kept and restored wherever PyTorch does so, and seeding opens no device."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

import vkarray.torch  # noqa: F401 - makes the device

RANDOM = {
    "dropout": lambda x: functional.dropout(x, 0.5),
    "dropout of channels": lambda x: functional.dropout2d(x.view(2, 4, 4, 2), 0.5),
    "alpha dropout": lambda x: functional.alpha_dropout(x, 0.5, training=True),
    "leaky slopes": lambda x: functional.rrelu(-x.abs(), training=True),
    "Gumbel softmax": lambda x: functional.gumbel_softmax(x, hard=True),
    "attention": lambda x: functional.scaled_dot_product_attention(x, x, x, dropout_p=0.5),
    "noise": lambda x: x * torch.rand_like(x) + torch.randn(8, device="vulkan"),
    "a choice": lambda x: x * torch.bernoulli(torch.full_like(x, 0.5)),
    "integers": lambda x: x * torch.randint(5, (8,), device="vulkan"),
    "order": lambda x: x * torch.randperm(8, device="vulkan"),
}


def gradient(function):
    torch.manual_seed(7)
    x = torch.linspace(-1, 1, 64).view(1, 8, 8).to("vulkan").requires_grad_()
    function(x).square().sum().backward()
    return x.grad.cpu()


@pytest.mark.parametrize("reentrant", [True, False], ids=["reentrant", "not reentrant"])
@pytest.mark.parametrize("name", RANDOM)
def test_checkpoints_recompute_the_same_numbers(name, reentrant):
    function = RANDOM[name]
    found = gradient(lambda x: checkpoint(lambda x: function(x) * x.view(-1)[0], x, use_reentrant=reentrant))
    expected = gradient(lambda x: function(x) * x.view(-1)[0])
    assert expected.any()
    assert torch.equal(found, expected)


def test_checkpoints_in_a_row_and_inside_each_other():
    layers = nn.Sequential(*[nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Tanh()) for _ in range(4)]).to("vulkan")
    expected = gradient(layers)
    assert torch.equal(gradient(lambda x: checkpoint_sequential(layers, 2, x, use_reentrant=False)), expected)

    def inside(x):
        x = checkpoint(layers[0], x, use_reentrant=False)
        return checkpoint(lambda x: checkpoint(layers[2], layers[1](x), use_reentrant=False), x, use_reentrant=False)

    assert torch.equal(gradient(lambda x: layers[3](inside(x))), expected)


def test_a_checkpoint_leaves_the_state_where_the_forward_pass_did():
    def numbers(run):
        torch.manual_seed(1)
        x = torch.ones(8, device="vulkan", requires_grad=True)
        run(lambda x: functional.dropout(x, 0.5).square(), x).sum().backward()
        return torch.rand(4, device="vulkan").cpu()

    assert torch.equal(
        numbers(lambda function, x: checkpoint(function, x, use_reentrant=False)),
        numbers(lambda function, x: function(x)),
    )


def test_states_of_all_devices():
    torch.vulkan.manual_seed_all(5)
    kept, one = torch.vulkan.get_rng_state_all(), torch.vulkan.get_rng_state("vulkan:0")
    assert len(kept) == torch.vulkan.device_count()
    first = torch.rand(5, device="vulkan").cpu()
    torch.vulkan.set_rng_state_all(kept)
    assert torch.equal(torch.rand(5, device="vulkan").cpu(), first)
    torch.vulkan.set_rng_state(one, "vulkan")
    assert torch.equal(torch.rand(5, device="vulkan").cpu(), first)
    torch.vulkan.manual_seed(5)
    assert torch.equal(torch.rand(5, device="vulkan").cpu(), first)
    assert torch.vulkan.initial_seed() == 5
    assert torch.vulkan.seed_all() == torch.vulkan.initial_seed()


def test_forked_numbers_leave_no_trace():
    for arguments in ({}, {"devices": [0]}, {"devices": ["vulkan:0"]}):
        torch.manual_seed(3)
        expected = torch.rand(4, device="vulkan").cpu()
        torch.manual_seed(3)
        with warnings.catch_warnings():
            # Where there are several devices.
            warnings.filterwarnings("ignore", ".*available devices, and you have used fork_rng")
            with torch.random.fork_rng(device_type="vulkan", **arguments):
                torch.manual_seed(9)
                torch.rand(4, device="vulkan")
        assert torch.equal(torch.rand(4, device="vulkan").cpu(), expected)


def test_states_that_are_none_are_refused():
    with pytest.raises(ValueError, match="24 bytes"):
        torch.vulkan.set_rng_state(torch.zeros(3, dtype=torch.uint8))
    with pytest.raises(ValueError, match="99"):
        torch.vulkan.get_rng_state(99)


def test_the_module_of_the_device_is_found():
    for named in ("vulkan", torch.device("vulkan"), torch.device("vulkan", 0), None):
        assert torch.get_device_module(named) is torch.vulkan


def test_seeding_opens_no_device_and_holds_for_devices_opened_later():
    program = """
import torch, vkarray.torch
from vkarray import _vk
opened, open_device = [], _vk.open_device
_vk.open_device = lambda *selector: opened.append(selector) or open_device(*selector)
torch.manual_seed(4)
assert torch.vulkan.is_available() and torch.vulkan.device_count() == torch.accelerator.device_count() > 0
state = torch.vulkan.get_rng_state_all()
assert not opened and not torch.vulkan.is_initialized() and not torch.vulkan._initialized
first = torch.rand(3, device="vulkan")
assert torch.vulkan._initialized
torch.vulkan.set_rng_state_all(state)
assert torch.equal(torch.rand(3, device="vulkan"), first)
torch.manual_seed(4)
assert torch.equal(torch.rand(3, device="vulkan"), first)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_knows_that_it_cannot_use_the_device():
    program = """
import os, torch, vkarray.torch
assert not torch.vulkan._is_in_bad_fork()
if os.fork() == 0:
    os._exit(torch.vulkan._is_in_bad_fork())
assert os.wait()[1] == 0, "forked before the first use"
torch.ones(2, device="vulkan")
if os.fork() == 0:
    torch.manual_seed(3)
    try:
        torch.ones(2, device="vulkan")
    except RuntimeError as error:
        os._exit(not (torch.vulkan._is_in_bad_fork() and "spawn" in str(error)))
    os._exit(2)
assert os.wait()[1] == 0, "forked afterwards"
"""
    subprocess.run([sys.executable, "-c", program], check=True)
