"""`torch.compile(..., backend="vulkan", dynamic=True)`: one graph for many lengths, with the results of the device."""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable, Iterator

import pytest
import torch
import torch._dynamo
from torch import Tensor, nn

from vkarray.torch import dynamo, strict

# PyTorch's own, of modules that its compilers import.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script_method:DeprecationWarning")
LENGTHS = (5, 8, 3, 64, 33, 5)
SHORT = (1, 0, 2)  # PyTorch makes graphs of their own where a length is 0 or 1


_BEFORE: set[int] = set()  # graphs of earlier tests that still live


def graphs() -> int:
    """How many graphs this test has made."""
    return len(set(dynamo._graphs) - _BEFORE)


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    """No test sees the programs of another one."""
    torch.compiler.reset()
    gc.collect()
    torch.manual_seed(0)
    _BEFORE.clear()
    _BEFORE.update(dynamo._graphs)
    with strict():
        yield


def in_place(x: Tensor) -> Tensor:
    x[1:] += 1
    return x.mul_(2)


FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "length as a number": lambda x: x * x.shape[0] + x.sum(0) / x.shape[0],
    "broadcast": lambda x: x[:, None] - x[None],
    "softmax": lambda x: torch.softmax(x, 0) + torch.softmax(x, 1),
    "mean and variance": lambda x: (x - x.mean(0)) / (x.var(0, correction=0) + 1).sqrt(),
    "slices": lambda x: x[1:] - x[:-1],
    "concatenation": lambda x: torch.cat([x, x[:1], x.flip(0)]) * 2,
    "views": lambda x: x.view(-1)[::2] + x.reshape(x.shape[0] * 3, 2).T.reshape(-1)[::2],
    "product": lambda x: torch.tanh(x @ x.T) @ x,
    "cumulative sum": lambda x: x.cumsum(0),
    "arange": lambda x: x + torch.arange(x.shape[0], device=x.device)[:, None],
    "filled": lambda x: torch.nn.functional.pad(x, (0, 0, 1, 2)),
    "in place": in_place,
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    compiled = torch.compile(FUNCTIONS[name], backend="vulkan", dynamic=True)
    for lengths in (LENGTHS, SHORT):
        for length in lengths:
            x = torch.randn(length, 6, device="vulkan")
            assert torch.equal(compiled(x.clone()).cpu(), FUNCTIONS[name](x.clone()).cpu()), length
        assert lengths is SHORT or graphs() == 1, dynamo.explain()


def test_training() -> None:
    model = nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4)).to("vulkan")
    again = copy.deepcopy(model)
    compiled = torch.compile(again, backend="vulkan", dynamic=True)
    for length in LENGTHS:
        x = torch.randn(length, 6, device="vulkan")
        losses = [one(x).square().mean() for one in (model, compiled)]
        for loss in losses:
            loss.backward()
        torch.testing.assert_close(losses[1], losses[0])
        for mine, other in zip(again.parameters(), model.parameters(), strict=True):
            torch.testing.assert_close(mine.grad, other.grad)
    assert graphs() == 2


def test_marked_dimensions() -> None:
    compiled = torch.compile(FUNCTIONS["softmax"], backend="vulkan")
    for length in LENGTHS:
        x = torch.randn(length, 6, device="vulkan")
        torch._dynamo.mark_dynamic(x, 0)
        assert torch.equal(compiled(x).cpu(), FUNCTIONS["softmax"](x).cpu())
    assert graphs() == 1
    assert ": 5 programs" in dynamo.explain()  # one for each length
