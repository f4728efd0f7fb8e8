"""Models as programs: `vkarray.torch.export`, saved, loaded and compared with the CPU."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from checks import needs_int64
from torch import nn
from torch.utils import _pytree as pytree

import vkarray as vx
import vkarray.torch

EPS = torch.finfo(torch.float32).eps
BATCH = torch.export.Dim("batch", min=2, max=9)


def arrays(nest: Any) -> Any:
    return pytree.tree_map(lambda one: vkarray.torch.to_vulkan(one) if isinstance(one, torch.Tensor) else one, nest)


def assert_agrees(
    program: vx.Program, model: nn.Module, args: Any, kwargs: Any, path: Any, roundings: int = 64
) -> None:
    """A program returns what the model does on the CPU; saved and loaded, the same bits."""
    program.save(path, targets=())
    loaded = vx.load_program(path)
    with torch.inference_mode():
        expected = [one for one in pytree.tree_leaves(model(*args, **kwargs)) if isinstance(one, torch.Tensor)]
    given = arrays((tuple(args), dict(kwargs)))
    got, again = (
        [vkarray.torch.to_torch(one) for one in pytree.tree_leaves(made(*given[0], **given[1])) if one is not None]
        for made in (program, loaded)
    )
    assert len(got) == len(expected)
    for one, other, wanted in zip(got, again, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0, equal_nan=True)
        inexact = wanted.is_floating_point() or wanted.is_complex()
        largest = float(wanted.abs().nan_to_num().max()) if inexact else 0.0
        torch.testing.assert_close(one, wanted, rtol=0, atol=roundings * EPS * largest, equal_nan=True)


class Layers(nn.Module):
    """Linear layers with all that often stands between them."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm, self.second = nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 8)
        self.dropout = nn.Dropout()

    def forward(self, x: torch.Tensor, *, scale: float = 2.0) -> dict[str, torch.Tensor]:
        y = self.dropout(nn.functional.gelu(self.norm(self.first(x)))).relu_()
        with torch.no_grad():
            y = y * scale
        return {"wide": self.second(y), "sum": x.sum(-1)}


class Block(nn.Module):
    """A block of a residual network."""

    def __init__(self, inside: int, outside: int, stride: int) -> None:
        super().__init__()
        self.way = nn.Sequential(
            nn.Conv2d(inside, outside, 3, stride, 1, bias=False), nn.BatchNorm2d(outside), nn.ReLU(inplace=True),
            nn.Conv2d(outside, outside, 3, 1, 1, bias=False), nn.BatchNorm2d(outside),
        )  # fmt: skip
        self.short = nn.Sequential(nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.way(x) + self.short(x))


def residual() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 7, 2, 3),
        nn.MaxPool2d(3, 2, 1),
        Block(8, 16, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(16, 4),
    )


MODELS = {
    "layers": (Layers, (3, 4), {"scale": 3.0}),
    "residual network": (residual, (2, 3, 32, 32), {}),
    "convolutions of all kinds": (
        lambda: nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.SiLU(), nn.Conv2d(8, 8, 3, 2, 1, groups=4),
            nn.Upsample(scale_factor=2), nn.ConvTranspose2d(8, 3, 4, 2, 1), nn.AvgPool2d(2), nn.PixelShuffle(1),
        ),
        (2, 3, 16, 16), {},
    ),
}  # fmt: skip


def made(name: str) -> tuple[nn.Module, tuple[torch.Tensor, ...], dict[str, Any]]:
    torch.manual_seed(0)
    model, shape, kwargs = MODELS[name]
    return model().eval(), (torch.randn(shape),), kwargs


@pytest.mark.parametrize("name", MODELS)
def test_models(name, tmp_path):
    model, args, kwargs = made(name)
    program = vkarray.torch.export(model, args, kwargs)
    assert_agrees(program, model, args, kwargs, tmp_path / "model.vkp")


def test_names_come_from_the_model():
    model, args, kwargs = made("layers")
    program = vkarray.torch.export(model, args, kwargs)
    assert [one.name for one in program.inputs] == ["x", "scale"]
    assert [one.name for one in program.outputs] == ["wide", "sum"]
    with pytest.raises(ValueError, match=r"scale is 2\.0, and the program was made for 3\.0"):
        program(*arrays(args), scale=2.0)


def test_lengths_may_vary(tmp_path):
    model, args, kwargs = made("layers")
    program = vkarray.torch.export(model, args, kwargs, dynamic_shapes={"x": {0: BATCH}, "scale": None})
    assert program.inputs[0].shape == (vx.Dim("batch", min=2, max=9), 4)
    for batch in (2, 9):
        assert_agrees(program, model, (torch.randn(batch, 4),), kwargs, tmp_path / "model.vkp")
    with pytest.raises(ValueError, match="batch from 2 to 9"):
        program(vx.ones((10, 4)), **kwargs)


class Places(nn.Module):
    """Multiplies by numbers that it reads from a buffer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("places", torch.tensor([0, 2, 1]))

    def forward(self, x):
        return x * (torch.max(self.places) + 1).item(), x * torch.sum(self.places).item()


class OfArgument(nn.Module):
    def forward(self, x):
        return x * torch.sum(x).item()


def test_numbers_of_constants_are_known(tmp_path):
    given = (torch.randn(3, 4),)
    assert_agrees(vkarray.torch.export(Places().eval(), given), Places().eval(), given, {}, tmp_path / "model.vkp")
    with pytest.raises(NotImplementedError, match="is a number, that depends on values"):
        vkarray.torch.export(OfArgument().eval(), given)


class Halves(nn.Module):
    def forward(self, x, y):
        longer = torch.sym_max(x.shape[1] * 0.75, y.shape[1])
        return {"pairs": x[:, ::2][:, : y.shape[1]] + y, "cat": torch.cat([x, y], 1), "longer": y * longer}


@pytest.mark.parametrize("more", [0, 1])
def test_lengths_follow_from_others(more, tmp_path):
    half = torch.export.Dim("half", min=2, max=9)
    shapes = {"x": {1: 2 * half + more if more else 2 * half}, "y": {1: half}}

    def args(length):
        return torch.randn(3, 2 * length + more), torch.randn(3, length)

    program = vkarray.torch.export(Halves(), args(4), dynamic_shapes=shapes)
    assert str(program.inputs[0]) == f"x: (3, 2*half{' + 1' if more else ''}) float32"
    assert "cat: (3, 3*half" in repr(program)
    for length in (2, 9, 5):
        assert_agrees(program, Halves(), args(length), {}, tmp_path / "model.vkp")
    x, y = arrays(args(5))
    with pytest.raises(ValueError, match=r"dimension 1 of x has length .*; expected 2\*half"):
        program(x, y[:, 1:])
    with pytest.raises(ValueError, match="half from 2 to 9"):
        program(*arrays(args(10)))


def test_refusals_name_each_operator_and_its_line():
    model = made("layers")[0].train()
    with pytest.raises(NotImplementedError, match=r"call model\.eval\(\) before") as caught:
        vkarray.torch.export(model, (torch.randn(3, 4),))
    refusals = caught.value.refusals
    assert any("norm.running_mean" in one.operator for one in refusals)
    (dropout,) = (one for one in refusals if "dropout" in one.operator)
    assert "float32[3, 8]" in dropout.types
    assert dropout.module == "dropout (Dropout)"
    assert "test_export.py" in dropout.source
    assert "self.dropout" in dropout.source


@needs_int64
def test_integers_keep_their_types(tmp_path):
    class Counts(nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return x.sum(), x // 2, x / 2, x > 1.5, torch.arange(3) + x

    args = (torch.tensor([1, -2, 3]),)
    program = vkarray.torch.export(Counts().eval(), args)
    assert [one.dtype for one in program.outputs] == [vx.int64, vx.int64, vx.float32, vx.bool, vx.int64]
    assert_agrees(program, Counts(), args, {}, tmp_path / "model.vkp")


def test_arrays_choose_between_graphs(tmp_path):
    class Chooses(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            chosen: torch.Tensor = torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x * 2, (x,))
            return chosen

    program = vkarray.torch.export(Chooses().eval(), (torch.ones(3),))
    for x in (torch.ones(3), -torch.ones(3)):
        assert_agrees(program, Chooses(), (x,), {}, tmp_path / "model.vkp")


def test_assertions_of_values_are_left_out(tmp_path):
    class Asserts(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            torch._check((x > 0).all().item())
            return x + 1

    program = vkarray.torch.export(Asserts().eval(), (torch.ones(3),))
    assert_agrees(program, Asserts(), (torch.ones(3),), {}, tmp_path / "model.vkp")


class Windows(nn.Module):
    """Takes pictures apart, which PyTorch traces for more than one window across and down, and gives them to a layer."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, *pictures: torch.Tensor) -> torch.Tensor:
        (x,) = pictures
        parts = x.view(x.shape[0], x.shape[1] // 2, 2, x.shape[2] // 2, 2, 4)
        return self.layer(parts.transpose(2, 3).reshape(-1, 4, 4))


@needs_int64
def test_lengths_have_the_bounds_of_what_they_are_made_of():
    rows, columns = (torch.export.Dim(name, min=1, max=8) for name in ("rows", "columns"))
    shapes = {"pictures": ({0: BATCH, 1: 2 * rows, 2: 2 * columns},)}
    program = vkarray.torch.export(Windows().eval(), (torch.ones(2, 4, 6, 4),), dynamic_shapes=shapes)
    assert [(one.min, one.max) for one in program.inputs[0].shape[:3]] == [(2, 9), (4, 16), (4, 16)]
    with pytest.raises(ValueError, match=r"dimension 2 of .* has length 2; expected 2\*columns from 4 to 16"):
        program(vx.ones((2, 4, 2, 4)))
    listed = vkarray.torch.export(Windows().eval(), (torch.ones(2, 4, 6, 4),), dynamic_shapes=(({0: BATCH},),))
    assert listed.inputs[0].shape[0] == vx.Dim("batch", min=2, max=9)


def test_kernels_and_errors_name_lines_of_the_model(tmp_path):
    class Pairs(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.unfold(1, 2, 2) * 2  # for which PyTorch says that the length is even

    length = torch.export.Dim("length", min=4, max=64)
    pairs = vkarray.torch.export(Pairs(), (torch.ones(3, 6),), dynamic_shapes={"x": {1: length}})
    layers = vkarray.torch.export(nn.Sequential(Pairs(), nn.Linear(2, 2)), (torch.ones(3, 6),))
    for name in ("made", "loaded"):
        told = [line.split()[-3:] for line in str(layers.explain()).splitlines() if ":" in line and " in " in line]
        assert {(file.rpartition("/")[2].partition(":")[0], module) for file, _, module in told} == {
            ("test_export.py", "0"),
            ("linear.py", "1"),
        }
        with pytest.raises(ValueError, match=r"Eq\(length, 2\*\(\(length//2\)\)\) gives True, and here False"):
            pairs(vx.ones((3, 7)))
        if name == "made":
            layers.save(tmp_path / "layers.vkp", targets=())
            pairs.save(tmp_path / "pairs.vkp", targets=())
            layers, pairs = (vx.load_program(tmp_path / f"{one}.vkp") for one in ("layers", "pairs"))
