"""Random numbers of exported models: others in each call, the same ones from a seed, in files too; training stays refused."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from test_export import BATCH
from torch import Tensor, nn
from torch.nn import functional as F

import vkarray as vx
import vkarray.torch


class Calls(nn.Module):
    def __init__(self, function: Callable[[Tensor], object]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> object:
        return self.function(x)


def program_of(function: Callable[[Tensor], object], x: Tensor, **options: object) -> vx.Program:
    return vkarray.torch.export(Calls(function), (x,), **options)


NORMAL, UNIFORM = (0.0, 1.0), (0.5, math.sqrt(1 / 12))
# What draws so many numbers as x has, their mean, and how far they are from it.
DRAWS: dict[str, tuple[Callable[[Tensor], Tensor], tuple[float, float]]] = {
    "rand": (lambda x: torch.rand(4, 512), UNIFORM), "rand_like": (torch.rand_like, UNIFORM),
    "randn": (lambda x: torch.randn(4, 512), NORMAL), "randn_like": (torch.randn_like, NORMAL),
    "normal": (lambda x: torch.normal(x + 3, 2.0), (3.0, 2.0)),
    "normal_": (lambda x: torch.empty_like(x).normal_(3, 2), (3.0, 2.0)),
    "uniform_": (lambda x: torch.empty_like(x).uniform_(-2, 4), (1.0, 6 * UNIFORM[1])),
    "randint": (lambda x: torch.randint(-2, 7, (4, 512)), (2.0, math.sqrt(80 / 12))),
    "randint_like": (lambda x: torch.randint_like(x, 5), (2.0, math.sqrt(2))),
    "randint_like from": (lambda x: torch.randint_like(x, 2, 5), (3.0, math.sqrt(2 / 3))),
}  # fmt: skip


OF_PARTS = (0.0, math.sqrt(0.5))
# The same of complex numbers, for each part.
COMPLEX: dict[str, tuple[Callable[[Tensor], Tensor], tuple[float, float]]] = {
    "rand": (lambda x: torch.rand(4, 512, dtype=x.dtype), UNIFORM), "rand_like": (torch.rand_like, UNIFORM),
    "randn": (lambda x: torch.randn(4, 512, dtype=x.dtype), OF_PARTS), "randn_like": (torch.randn_like, OF_PARTS),
    "normal_": (lambda x: torch.empty_like(x).normal_(), OF_PARTS),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPLEX)
def test_both_parts_of_complex_numbers_are_drawn(name):
    function, (mean, deviation) = COMPLEX[name]
    x = torch.zeros(4, 512, dtype=torch.complex64)
    program = program_of(function, x)
    program.seed(1)
    found = vkarray.torch.to_torch(program(vkarray.torch.to_vulkan(x)))
    assert found.dtype == torch.complex64
    assert not torch.equal(found.real, found.imag)
    for part in (found.real.double(), found.imag.double()):
        assert abs(float(part.mean()) - mean) < 5 * deviation / math.sqrt(part.numel())
        assert abs(float(part.std()) / deviation - 1) < 0.08


@pytest.mark.parametrize("name", DRAWS)
def test_numbers_are_distributed_as_pytorch_says(name):
    function, (mean, deviation) = DRAWS[name]
    x = torch.zeros(4, 512)
    program = program_of(function, x)
    program.seed(1)
    first, second = (vkarray.torch.to_torch(program(vkarray.torch.to_vulkan(x))) for _ in range(2))
    expected = function(x)
    assert first.dtype == expected.dtype
    assert first.shape == expected.shape
    assert not torch.equal(first, second)
    numbers = torch.cat([first, second]).double()
    assert abs(float(numbers.mean()) - mean) < 5 * deviation / math.sqrt(numbers.numel())
    assert abs(float(numbers.std()) / deviation - 1) < 0.08


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_short_types_round_no_number_up_to_one(dtype):
    program = program_of(torch.rand_like, torch.zeros(100_000, dtype=dtype))
    found = vkarray.torch.to_torch(program(vx.zeros(100_000, dtype=str(dtype).removeprefix("torch."))))
    assert found.dtype == dtype
    assert 0 <= float(found.min()) < 0.05
    assert 0.95 < float(found.max()) < 1


def test_permutations_have_each_number_once():
    program = program_of(lambda x: torch.randperm(257), torch.zeros(1))
    first, second = (vkarray.torch.to_torch(program(vx.zeros(1))) for _ in range(2))
    assert sorted(first.tolist()) == sorted(second.tolist()) == list(range(257))
    assert not torch.equal(first, second)


def test_the_same_numbers_come_from_a_seed_in_a_file_too(tmp_path):
    x = torch.ones(5, 3)
    program = program_of(lambda x: (x + torch.randn_like(x), torch.rand(x.shape[0])), x, dynamic_shapes=({0: BATCH},))
    program.save(tmp_path / "noise.vkp", targets=())
    loaded = vx.load_program(tmp_path / "noise.vkp")
    for count in (5, 3):
        found = []
        for one in (program, loaded):
            one.seed(7)
            found.append([vkarray.torch.to_torch(each) for each in one(vx.ones((count, 3)))])
        assert [one.shape for one in found[0]] == [(count, 3), (count,)]
        assert all(map(torch.equal, *found))


TRAINING = {
    "dropout": lambda x: F.dropout(x, training=True), "dropout2d": lambda x: F.dropout2d(x[None, None], training=True),
    "alpha_dropout": lambda x: F.alpha_dropout(x, training=True), "rrelu": lambda x: F.rrelu(x, training=True),
    "attention": lambda x: F.scaled_dot_product_attention(x, x, x, dropout_p=0.5),
}  # fmt: skip


@pytest.mark.parametrize("name", TRAINING)
def test_what_layers_do_in_training_is_refused(name):
    with pytest.raises(NotImplementedError, match=r"[cC]all model\.eval\(\) before"):
        program_of(TRAINING[name], torch.ones(4, 3))


@pytest.mark.parametrize(("function", "reason"), [
    (lambda x: torch.nonzero(x), "depends on values"), (lambda x: x.sum().item(), "depends on values"),
    (lambda x: torch.multinomial(x, 2), "random numbers that exported programs do not"),
])  # fmt: skip
def test_what_else_is_refused_says_why(function, reason):
    with pytest.raises(NotImplementedError, match=reason):
        program_of(function, torch.ones(4, 3))
