"""Models of which some operators run on the CPU, between compiled parts."""

from __future__ import annotations

import pytest
import torch
from checks import needs_int64
from test_export import arrays
from torch import nn
from torch.utils import _pytree as pytree

import vkarray as vx
import vkarray.torch

pytestmark = needs_int64


class Chooses(nn.Module):
    """What depends on values stands between layers: shapes, numbers, and what chooses between graphs."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, *, scale: float = 2.0) -> dict[str, torch.Tensor]:
        y = self.layer(x) * scale
        count = (y > 0).sum().item()
        return {"y": y.relu(), "places": y.nonzero() * 2, "positive": y[y > 0].exp(), "number": y * count}


class Twice(nn.Module):
    """Two operators on the CPU, the second of what comes of the first, on both sides of compiled ones."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kept", torch.tensor([1.0, 3.0, 2.0, 1.0]))

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        first = torch.unique(torch.cat([x.flatten().round(), self.kept]))
        return [torch.unique((first * 2).floor()) + 1, self.kept.unique(), self.kept]


class Aside(nn.Module):
    """The one on the CPU hinders nobody: what stands before and after it in the source runs at once."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = x * 2
        places = y.nonzero()
        return y.sin().sum(-1), places


MODELS = {"chooses": (Chooses, {"scale": 3.0}, 3), "twice": (Twice, {}, 5), "aside": (Aside, {}, 2)}


def made(name: str) -> tuple[nn.Module, dict[str, float], int]:
    torch.manual_seed(0)
    model, kwargs, parts = MODELS[name]
    return model().eval(), kwargs, parts


@pytest.mark.parametrize("name", MODELS)
def test_parts_agree_with_the_cpu(name):
    model, kwargs, parts = made(name)
    program = vkarray.torch.export(model, (torch.randn(3, 4),), kwargs, fallback="cpu")
    assert isinstance(program, vkarray.torch.exported.ProgramInParts)
    assert len(program.parts) == parts
    for seed in (1, 2):
        x = torch.randn(3, 4, generator=torch.Generator().manual_seed(seed))
        with torch.no_grad():
            expected = pytree.tree_leaves(model(x, **kwargs))
        found = pytree.tree_leaves(program(arrays(x), **kwargs))
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(vkarray.torch.to_torch(one), other)


def test_lengths_may_vary():
    model, kwargs, _ = made("chooses")
    batch = torch.export.Dim("batch", min=2, max=9)
    shapes = {"x": {0: batch}, "scale": None}
    program = vkarray.torch.export(model, (torch.randn(3, 4),), kwargs, dynamic_shapes=shapes, fallback="cpu")
    x = torch.randn(7, 4)
    found = program(arrays(x), **kwargs)
    with torch.no_grad():
        for name, expected in model(x, **kwargs).items():
            torch.testing.assert_close(vkarray.torch.to_torch(found[name]), expected)
    with pytest.raises(ValueError, match="batch from 2 to 9"):
        program(vx.ones((10, 4)), **kwargs)


def test_what_runs_on_the_cpu_is_named_and_counted(tmp_path):
    model, kwargs, _ = made("chooses")
    program = vkarray.torch.export(model, (torch.randn(3, 4),), kwargs, fallback="cpu")
    assert [one.operator.split(".")[1] for one in program.refusals] == ["_local_scalar_dense", "nonzero", "index"]
    for _ in range(2):
        program(vx.ones((3, 4)), **kwargs)
    told = program.explain()
    assert "part 2, on the CPU, 2 calls: aten._local_scalar_dense.default, aten.nonzero.default" in told
    assert "test_export_fallback.py" in told
    with pytest.raises(
        NotImplementedError, match=r"Chooses cannot be saved, for 3 of its operators(.|\n)*y\.nonzero\(\)"
    ):
        program.save(tmp_path / "model.vkp")
    with pytest.raises(TypeError, match="x is of type Tensor; expected an array"):
        program(torch.ones(3, 4), **kwargs)


def test_nothing_on_the_cpu_is_a_program():
    program = vkarray.torch.export(nn.Linear(4, 2), (torch.randn(3, 4),), fallback="cpu")
    assert type(program) is vx.Program
    with pytest.raises(ValueError, match="fallback is 'cuda'; expected \"cpu\" or None"):
        vkarray.torch.export(nn.Linear(4, 2), (torch.randn(3, 4),), fallback="cuda")


def test_writes_to_buffers_are_refused():
    with pytest.raises(NotImplementedError, match=r"call model\.eval\(\) before"):
        vkarray.torch.export(nn.BatchNorm1d(4).train(), (torch.randn(3, 4),), fallback="cpu")


class Told(nn.Module):
    """Takes truth values, texts, numbers and nothing between its tensors."""

    def forward(self, x, which=False, what="", factor=1, y=None):
        found = x * factor if y is None else x + y
        return found[found > 0] if which else found.nonzero() if what == "places" else found


@pytest.mark.parametrize(
    "given",
    [{"which": True}, {"what": "places", "factor": 2}, {"which": True, "y": torch.ones(3)}, {"which": True, "y": None}],
    ids=str,
)
def test_arguments_may_be_no_arrays(given):
    x = torch.tensor([1.0, -2.0, 3.0])
    program = vkarray.torch.export(Told(), (x,), given, fallback="cpu")
    assert isinstance(program, vkarray.torch.exported.ProgramInParts)
    named = {name: arrays(one) if isinstance(one, torch.Tensor) else one for name, one in given.items()}
    for found in (program(arrays(x), **named), program(x=arrays(x), **named)):
        torch.testing.assert_close(vkarray.torch.to_torch(found), Told()(x, **given))
