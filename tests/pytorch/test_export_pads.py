"""Padding by zeros in the convolutions of exported models: what goes into them, and what is left as it is."""

from __future__ import annotations

import pytest
import torch
from test_export import BATCH, assert_agrees
from test_export_merge import calls, prepared
from torch import Tensor, nn
from torch.nn import functional

import vkarray as vx
import vkarray.torch


class Padded(nn.Module):
    """A layer over what is padded."""

    def __init__(self, layer: nn.Module, sizes: tuple[int, ...], **options: object) -> None:
        super().__init__()
        self.layer, self.sizes, self.options = layer, sizes, options

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(functional.pad(x, self.sizes, **self.options))


class Twice(nn.Module):
    """Two readers of what is padded."""

    def __init__(self, other: nn.Module) -> None:
        super().__init__()
        self.layer, self.other = nn.Conv2d(3, 4, 3), other

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        padded = functional.pad(x, (1, 0, 0, 2))
        return self.layer(padded), self.other(padded)


FOLDED = {
    "one side": (lambda: Padded(nn.Conv2d(3, 6, 3, stride=2), (0, 1, 0, 1)), (2, 3, 8, 9)),
    "beside its own": (lambda: Padded(nn.Conv2d(3, 6, 3, padding=(1, 2)), (2, 0, 0, 1)), (2, 3, 6, 7)),
    "no zeros": (lambda: Padded(nn.Conv2d(3, 6, 1), (0, 0, 0, 0)), (2, 3, 4, 5)),
    "one dimension of two": (lambda: Padded(nn.Conv2d(4, 4, 3, groups=4, dilation=2), (3, 1)), (2, 4, 6, 7)),
    "one dimension": (lambda: Padded(nn.Conv1d(4, 6, 3, groups=2), (2, 0)), (2, 4, 7)),
    "three dimensions": (lambda: Padded(nn.Conv3d(2, 3, 2), (0, 1, 1, 0, 2, 0)), (2, 2, 3, 4, 5)),
    "a module": (lambda: nn.Sequential(nn.ZeroPad2d((0, 1, 2, 0)), nn.Conv2d(3, 4, 3)), (2, 3, 5, 6)),
    "a value of zero": (lambda: Padded(nn.Conv2d(3, 4, 3), (1, 1, 1, 1), value=0.0), (2, 3, 5, 6)),
    "normalized": (lambda: nn.Sequential(Padded(nn.Conv2d(3, 4, 3), (0, 1)), nn.BatchNorm2d(4)), (2, 3, 5, 6)),
    "two convolutions": (lambda: Twice(nn.Conv2d(3, 5, 2, stride=2)), (2, 3, 5, 6)),
}
LEFT = {
    "another value": (lambda: Padded(nn.Conv2d(3, 4, 3), (1, 1, 1, 1), value=1.0), (2, 3, 5, 6)),
    "another mode": (lambda: Padded(nn.Conv2d(3, 4, 3), (1, 1, 1, 1), mode="reflect"), (2, 3, 5, 6)),
    "channels": (lambda: Padded(nn.Conv2d(4, 4, 3), (0, 1, 0, 0, 1, 0)), (2, 3, 5, 6)),
    "cuts": (lambda: Padded(nn.Conv2d(3, 4, 3), (-1, 1)), (2, 3, 5, 6)),
    "transposed": (lambda: Padded(nn.ConvTranspose2d(3, 4, 3), (0, 1)), (2, 3, 5, 6)),
    "another reader": (lambda: Twice(nn.AvgPool2d(2)), (2, 3, 5, 6)),
}  # fmt: skip


@pytest.mark.parametrize("name", FOLDED)
def test_zeros_are_read_by_the_convolution(name, tmp_path):
    model, shape = prepared(FOLDED[name][0]()), FOLDED[name][1]
    assert "pad" not in calls(model, *shape)
    x = torch.randn(shape)
    program = vkarray.torch.export(model, (x,), dynamic_shapes=({0: BATCH},))
    assert_agrees(program, model, (x,), {}, tmp_path / "model.vkp")


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left_alone(name, tmp_path):
    model, x = prepared(LEFT[name][0]()), torch.randn(LEFT[name][1])
    found = calls(model, *LEFT[name][1])
    assert {"pad", "pad_repeated"} & set(found), found
    assert_agrees(vkarray.torch.export(model, (x,)), model, (x,), {}, tmp_path / "model.vkp")


def test_a_copy_that_is_returned_stays_one():
    class Copies(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return functional.pad(x, (0, 0))

    program = vkarray.torch.export(Copies(), (torch.randn(3, 4),))
    given = vx.ones((3, 4), dtype=vx.float32)
    result = program(given)
    given[...] = 0
    assert bool(vx.all(result == 1))
