"""Linear layers of one input in exported models: which become one product, and which stay."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from test_export import BATCH, assert_agrees
from test_export_merge import prepared
from torch import Tensor, nn

import vkarray as vx
import vkarray.torch


def names(program: vx.Program) -> list[str]:
    """The functions that a program calls."""
    return [call.function.__name__ for call in program.calls]


class Siblings(nn.Module):
    """Layers of one input, each with a result of its own."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x: Tensor) -> list[Tensor]:
        return [layer(x) for layer in self.layers]


class Heads(nn.Module):
    """Attention, whose queries, keys and values are of one input."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.last = (nn.Linear(24, 24) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        parts = [layer(x).unflatten(-1, (4, 6)).transpose(1, 2) for layer in (self.query, self.key, self.value)]
        found = nn.functional.scaled_dot_product_attention(*parts)
        return self.last(found.transpose(1, 2).flatten(2)) + x


class Gate(nn.Module):
    """A product of two layers, as in Llama."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.up = (nn.Linear(8, 20, bias=False) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.silu(self.gate(x)) * self.up(x)


def _tied() -> nn.Module:
    module = Siblings(nn.Linear(8, 6), nn.Linear(8, 6))
    module.layers[1].weight = module.layers[0].weight
    return module


class Computed(nn.Module):
    """A layer whose weight is made of the input."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.layer(x), nn.functional.linear(x, x @ x.mT)


JOINED = {
    "with biases": (lambda: Siblings(nn.Linear(8, 6), nn.Linear(8, 5), nn.Linear(8, 1)), (3, 8), 1),
    "without": (lambda: Siblings(nn.Linear(8, 6, bias=False), nn.Linear(8, 5, bias=False)), (2, 3, 8), 1),
    "one without": (lambda: Siblings(nn.Linear(8, 6, bias=False), nn.Linear(8, 5)), (2, 3, 8), 1),
    "no rows of a batch": (lambda: Siblings(nn.Linear(8, 6), nn.Linear(8, 5)), (8,), 1),
    "attention": (Heads, (2, 5, 24), 2),
    "a gate": (Gate, (4, 8), 1),
}  # fmt: skip
LEFT = {
    "many rows": (lambda: Siblings(nn.Linear(8, 6), nn.Linear(8, 5)), (2, 1000, 8), 2),
    "one weight for two": (_tied, (3, 8), 2),
    "a weight that is computed": (Computed, (8, 8), 3),
    "one layer": (lambda: Siblings(nn.Linear(8, 6), nn.Identity()), (3, 8), 1),
}


@pytest.mark.parametrize("name", [*JOINED, *LEFT])
def test_layers_of_one_input(name: str, tmp_path: Path) -> None:
    make, shape, layers = {**JOINED, **LEFT}[name]
    model, x = prepared(make()), torch.randn(shape)
    program = vkarray.torch.export(model, (x,))
    assert names(program).count("matmul") == layers
    assert_agrees(program, model, (x,), {}, tmp_path / "model.vkp")


def test_batches_of_any_length_stay_as_they_are(tmp_path: Path) -> None:
    model, x = prepared(Siblings(nn.Linear(8, 6), nn.Linear(8, 5))), torch.randn(3, 8)
    program = vkarray.torch.export(model, (x,), dynamic_shapes={"x": {0: BATCH}})
    assert names(program).count("matmul") == 2
    for rows in (2, 7):
        assert_agrees(program, model, (torch.randn(rows, 8),), {}, tmp_path / "model.vkp")


class Mixed(nn.Module):
    """Layers of two types, each of which takes the input as its own."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(8, size) for size in (6, 5))
        self.other = nn.Linear(8, 4).half()

    def forward(self, x: Tensor) -> Sequence[Tensor]:
        return *(layer(x) for layer in self.layers), self.other(x.half())


def test_layers_of_two_types_are_two_products() -> None:
    program = vkarray.torch.export(Mixed().eval(), (torch.randn(3, 8),))
    assert names(program).count("matmul") == 2
