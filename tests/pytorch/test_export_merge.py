"""Normalization of batches in the weights of exported models: what is merged, what is not, and with which numbers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from test_export import BATCH, arrays, assert_agrees
from torch import Tensor, nn

import vkarray.torch


def prepared(model: nn.Module, dtype: torch.dtype = torch.float32) -> nn.Module:
    """A model of weights and statistics that differ from channel to channel."""
    torch.manual_seed(0)
    with torch.no_grad():
        for name, one in (*model.named_parameters(), *model.named_buffers()):
            if one.is_floating_point():
                one.copy_(torch.rand(one.shape) + 0.2 if name.endswith("var") else torch.randn(one.shape))
    return model.eval().to(dtype)


def calls(model: nn.Module, *shape: int, dtype: torch.dtype = torch.float32, **options: object) -> list[str]:
    """The functions that the program of a model calls."""
    program = vkarray.torch.export(model, (torch.randn(shape, dtype=dtype),), **options)
    return [call.function.__name__ for call in program.calls]


class Frozen(nn.Module):
    """Normalization that is written out, as models for detection have it."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(3, channels, 3, bias=False)
        for name in ("weight", "bias", "mean", "var"):
            self.register_buffer(name, torch.zeros(channels))

    def forward(self, x: Tensor) -> Tensor:
        scale = self.weight.reshape(1, -1, 1, 1) * (self.var.reshape(1, -1, 1, 1) + 1e-5).rsqrt()
        return self.convolution(x) * scale + (self.bias.reshape(1, -1, 1, 1) - self.mean.reshape(1, -1, 1, 1) * scale)


MERGED: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "convolution": (lambda: nn.Sequential(nn.Conv2d(3, 6, 3, bias=False), nn.BatchNorm2d(6), nn.ReLU()), (2, 3, 6, 7)),
    "with a bias": (lambda: nn.Sequential(nn.Conv1d(3, 6, 2), nn.BatchNorm1d(6, affine=False)), (2, 3, 7)),
    "of groups": (lambda: nn.Sequential(nn.Conv3d(4, 6, 2, groups=2), nn.BatchNorm3d(6, eps=0.1)), (2, 4, 3, 4, 3)),
    "transposed": (lambda: nn.Sequential(nn.ConvTranspose2d(3, 6, 2, 2), nn.BatchNorm2d(6)), (2, 3, 3, 4)),
    "transposed of groups": (lambda: nn.Sequential(nn.ConvTranspose1d(4, 6, 3, groups=2), nn.BatchNorm1d(6)), (2, 4, 5)),
    "linear": (lambda: nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6)), (3, 4)),
    "linear without a bias": (lambda: nn.Sequential(nn.Linear(4, 6, bias=False), nn.BatchNorm1d(6)), (3, 4)),
    "two": (lambda: nn.Sequential(nn.Conv2d(3, 6, 1), nn.BatchNorm2d(6), nn.BatchNorm2d(6)), (2, 3, 4, 4)),
    "frozen": (lambda: Frozen(6), (2, 3, 5, 5)),
    "a weight that is computed": (
        lambda: nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Conv2d(3, 6, 1)), nn.BatchNorm2d(6)), (2, 3, 4, 4),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MERGED)
def test_normalization_is_in_the_weights_before_it(name, tmp_path):
    model, shape = MERGED[name][0](), MERGED[name][1]
    model, x = prepared(model), torch.randn(shape)
    found = calls(model, *shape)
    assert not {"batch_norm_of_running", "add", "multiply", "subtract", "rsqrt"} & set(found), found
    program = vkarray.torch.export(model, (x,), dynamic_shapes=({0: BATCH},))
    assert_agrees(program, model, (x,), {}, tmp_path / "model.vkp", roundings=32)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_types_are_rounded_once(dtype):
    model = prepared(MERGED["convolution"][0](), dtype)
    x = torch.randn(2, 3, 6, 7, dtype=dtype)
    program = vkarray.torch.export(model, (x,))
    found = vkarray.torch.to_torch(program(*arrays((x,)))).double()
    expected = prepared(MERGED["convolution"][0](), dtype).double()(x.double()).detach()
    assert float((found - expected).abs().max()) < 16 * torch.finfo(dtype).eps * float(expected.abs().max())


class Read(nn.Module):
    """A convolution whose result is read twice."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution, self.norm = nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3)

    def forward(self, x: Tensor) -> Tensor:
        y = self.convolution(x)
        return self.norm(y) + y


class Shared(Read):
    """A convolution that is called twice: its weight is there once."""

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.convolution(self.convolution(x)))


class Along(Read):
    """Numbers along another axis than that of channels."""

    def forward(self, x: Tensor) -> Tensor:
        return self.convolution(x) * self.norm.running_mean


LEFT: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "read twice": (Read, (2, 3, 3, 3)), "called twice": (Shared, (2, 3, 3, 3)), "along another axis": (Along, (2, 3, 3, 3)),
    "before the convolution": (lambda: nn.Sequential(nn.BatchNorm2d(3), nn.Conv2d(3, 3, 1)), (2, 3, 3, 3)),
    "of sequences": (lambda: nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(5)), (2, 5, 4)),
    "without a batch": (lambda: nn.Sequential(nn.Conv2d(3, 3, 1), Times()), (3, 3, 3)),
}  # fmt: skip


class Times(nn.Module):
    """A product with numbers of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.zeros(3, 1))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left_alone(name, tmp_path):
    model, x = prepared(LEFT[name][0]()), torch.randn(LEFT[name][1])
    assert {"batch_norm_of_running", "multiply"} & set(calls(model, *LEFT[name][1]))
    assert_agrees(vkarray.torch.export(model, (x,)), model, (x,), {}, tmp_path / "model.vkp")


def test_a_scale_that_the_type_has_no_room_for_is_left_alone():
    model = prepared(MERGED["convolution"][0](), torch.float16)
    model[1].running_var.fill_(1e-7)
    model[1].eps = 1e-12
    model[1].weight.data.fill_(60000)
    assert "batch_norm_of_running" in calls(model, 2, 3, 6, 7, dtype=torch.float16)
