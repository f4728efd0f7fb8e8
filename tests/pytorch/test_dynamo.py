"""`torch.compile(..., backend="vulkan")`: compiled models beside the same models without, forth, back and in training."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor, nn

from vkarray.torch import dynamo, strict


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    """No test sees the programs of another one."""
    torch.compiler.reset()
    torch.manual_seed(0)
    with strict(), torch._dynamo.config.patch(allow_rnn=True):
        yield


class Convolutional(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm, self.second = nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Conv2d(4, 4, 3, groups=2)
        self.out = nn.Linear(16, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.norm(self.first(x)))
        x = torch.max_pool2d(torch.nn.functional.silu(self.second(x)), 2)
        found: Tensor = self.out(x.flatten(1))
        return found


class Recurrent(nn.Module):
    def __init__(self, kind: Callable[..., nn.Module]) -> None:
        super().__init__()
        self.cell = kind(5, 6, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.cell(x)[0]
        return found


class Words(nn.Module):
    """Shares its parameters between both ends."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.norm, self.head = nn.Embedding(11, 8), nn.LayerNorm(8), nn.Linear(8, 11, bias=False)
        self.head.weight = self.words.weight

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.head(self.norm(self.words(x)))
        return found


def _block(dropout: float = 0.0) -> nn.Module:
    return nn.TransformerEncoderLayer(8, 2, 16, dropout, "gelu", batch_first=True, norm_first=True)


# How to make a model, and its argument.
MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[], Tensor]]] = {
    "perceptron": (
        lambda: nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4)),
        lambda: torch.randn(3, 8),
    ),
    "convolutional": (Convolutional, lambda: torch.randn(2, 1, 8, 8)),
    "transformer": (_block, lambda: torch.randn(2, 5, 8)),
    "dropout": (lambda: _block(0.3), lambda: torch.randn(2, 5, 8)),
    "GRU": (lambda: Recurrent(nn.GRU), lambda: torch.randn(2, 3, 5)),
    "LSTM": (lambda: Recurrent(nn.LSTM), lambda: torch.randn(2, 3, 5)),
    "tied words": (Words, lambda: torch.randint(11, (2, 4))),
}  # fmt: skip


def _pair(name: str) -> tuple[nn.Module, nn.Module, Tensor]:
    """A model, a copy that is compiled, and an argument."""
    make, argument = MODELS[name]
    model = make().to("vulkan")
    again = copy.deepcopy(model)
    return model, torch.compile(again, backend="vulkan"), argument().to("vulkan")


@pytest.mark.parametrize("name", MODELS)
def test_inference(name: str) -> None:
    model, compiled, x = _pair(name)
    with torch.no_grad():
        model.eval()
        compiled.eval()
        for _ in range(3):
            found, expected = compiled(x), model(x)
            assert found.stride() == expected.stride()
            torch.testing.assert_close(found, expected)
    assert dynamo.explain().startswith("inference")


@pytest.mark.parametrize("name", MODELS)
def test_training(name: str) -> None:
    """Losses, gradients, parameters and running statistics of a few steps, with the same random numbers."""
    model, compiled, x = _pair(name)
    steps = []
    for one in (model, compiled):
        torch.manual_seed(7)
        optimizer = torch.optim.SGD(one.parameters(), lr=0.1, momentum=0.9)
        for _ in range(3):
            loss = one(x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps.append((loss, [each.grad for each in one.parameters()]))
    for found, expected in zip(steps[3:], steps[:3], strict=True):
        torch.testing.assert_close(found, expected)
    state = compiled._orig_mod.state_dict()  # type: ignore[union-attr, operator]
    for key, value in model.state_dict().items():
        torch.testing.assert_close(state[key], value)
