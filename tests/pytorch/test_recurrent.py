"""LSTM, GRU and plain recurrent networks on the device, beside the CPU."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import vkarray as vx
import vkarray.torch
from vkarray.core.array import is_supported

DEVICE = "vulkan"
NETWORKS = {
    "LSTM": lambda: nn.LSTM(5, 4, num_layers=2), "LSTM both ways": lambda: nn.LSTM(5, 4, bidirectional=True),
    "LSTM without biases": lambda: nn.LSTM(5, 4, bias=False), "LSTM projected": lambda: nn.LSTM(5, 4, proj_size=3),
    "GRU": lambda: nn.GRU(5, 4, num_layers=2), "GRU without biases": lambda: nn.GRU(5, 4, bias=False),
    "RNN": lambda: nn.RNN(5, 4), "batch first": lambda: nn.LSTM(5, 4, batch_first=True),
}  # fmt: skip


def passed(network, x):
    """The result and the gradients of the input and of all parameters."""
    x = x.requires_grad_()
    result, last = network(x)
    states = last if isinstance(last, tuple) else (last,)
    weights = [torch.linspace(-1, 1, one.numel()).reshape(one.shape).to(one.device) for one in (result, *states)]
    sum((one * weight).sum() for one, weight in zip((result, *states), weights, strict=True)).backward()
    return [result.detach(), x.grad, *[one.grad for one in network.parameters()]]


@pytest.mark.filterwarnings("ignore:LSTM with projections")  # of the CPU's
@pytest.mark.parametrize("name", NETWORKS)
def test_networks_follow_the_cpu(name):
    torch.manual_seed(0)
    network, x = NETWORKS[name](), torch.randn(6, 3, 5)
    expected = passed(network, x.clone())
    network.zero_grad()
    got = passed(network.to(DEVICE), x.to(DEVICE))
    for actual, wanted in zip(got, expected, strict=True):
        # Some dozens of roundings of sums up to 10.
        torch.testing.assert_close(actual.cpu(), wanted, rtol=2e-5, atol=1e-5)


def test_packed_sequences():
    torch.manual_seed(0)
    network, x = nn.LSTM(5, 4), torch.randn(6, 3, 5)
    lengths = torch.tensor([6, 4, 1])

    def last(where):
        packed = nn.utils.rnn.pack_padded_sequence(x.to(where), lengths)
        return network.to(where)(packed)[1][0].detach().cpu()

    expected = last("cpu")
    with vkarray.torch.strict(False):
        torch.testing.assert_close(last(DEVICE), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.skipif(not is_supported(vx.float64, vx.asarray(0.0).device), reason="finite differences need float64")
@pytest.mark.parametrize("cell", [nn.LSTMCell, nn.GRUCell, nn.RNNCell])
@pytest.mark.parametrize("bias", [True, False])
def test_gradients_of_cells(cell, bias):
    torch.manual_seed(0)
    made = cell(3, 2, bias=bias).double().to(DEVICE)
    states = 2 if cell is nn.LSTMCell else 1
    given = [torch.randn(2, size, dtype=torch.float64).to(DEVICE).requires_grad_() for size in (3, *[2] * states)]

    def step(x, *state):
        return made(x, state if states == 2 else state[0])

    assert torch.autograd.gradcheck(step, given, nondet_tol=0)
