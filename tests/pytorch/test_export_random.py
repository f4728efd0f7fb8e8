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
    "generator": (lambda x: torch.randn((4, 512), generator=None), NORMAL),
    "generator of integers": (lambda x: torch.randint(-2, 7, (4, 512), generator=None), (2.0, math.sqrt(80 / 12))),
    "random_": (lambda x: torch.empty_like(x).random_() / 2**24, UNIFORM),
    "random_ to": (lambda x: torch.empty_like(x).random_(5), (2.0, math.sqrt(2))),
    "exponential_": (lambda x: torch.empty_like(x).exponential_(2.0), (0.5, 0.5)),
    "geometric_": (lambda x: torch.empty_like(x).geometric_(0.5), (2.0, math.sqrt(2))),
    "poisson": (lambda x: torch.poisson(torch.full_like(x, 4.0)), (4.0, 2.0)),
    "binomial": (lambda x: torch.binomial(torch.full_like(x, 9.0), torch.full_like(x, 0.5)), (4.5, 1.5)),
    "gamma": (lambda x: torch._standard_gamma(torch.full_like(x, 4.0)), (4.0, 2.0)),
    "dirichlet": (lambda x: torch._sample_dirichlet(torch.ones_like(x).reshape(1024, 2)), UNIFORM),
    "bernoulli": (lambda x: torch.bernoulli(torch.full_like(x, 0.2)), (0.2, 0.4)),
    "bernoulli_": (lambda x: torch.empty_like(x).bernoulli_(torch.full_like(x, 0.2)), (0.2, 0.4)),
    "multinomial": (lambda x: torch.multinomial(torch.ones(4, 5), 512, replacement=True), (2.0, math.sqrt(2))),
    "multinomial of some": (lambda x: torch.multinomial(torch.tensor([0.0, 1, 0, 1]).repeat(2048, 1), 1), (2.0, 1.0)),
    "half": (lambda x: torch.poisson(torch.full_like(x, 4.0, dtype=torch.float16)), (4.0, 2.0)),
    "Normal": (lambda x: torch.distributions.Normal(x + 3, 2.0).sample(), (3.0, 2.0)),
    "Categorical": (lambda x: torch.distributions.Categorical(logits=torch.zeros(4, 5)).sample((512,)), (2.0, math.sqrt(2))),
    "Laplace": (lambda x: torch.distributions.Laplace(x, 1.0).sample(), (0.0, math.sqrt(2))),
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
    (lambda x: torch.empty_like(x).bernoulli_(0.5), "as layers do in training"),
    (lambda x: x.masked_select(x > 0).exp() + x[x > 0], "depends on values"),
])  # fmt: skip
def test_what_else_is_refused_says_why(function, reason):
    with pytest.raises(NotImplementedError, match=reason):
        program_of(function, torch.ones(4, 3))


def test_places_are_drawn_by_their_weights():
    weights = torch.tensor([[1.0, 0, 3, 6], [0, 0, 0, 2]])
    program = program_of(lambda x: (torch.multinomial(x, 4000, replacement=True), torch.multinomial(x[:1], 3)), weights)
    program.seed(3)
    many, some = (vkarray.torch.to_torch(one) for one in program(vkarray.torch.to_vulkan(weights)))
    shares = torch.stack([(many == place).double().mean(-1) for place in range(4)], -1)
    assert torch.allclose(shares[0], weights[0].double() / 10, atol=0.03)
    assert shares[1].tolist() == [0, 0, 0, 1]
    assert sorted(some[0].tolist()) == [0, 2, 3]
