"""Random numbers that are drawn until they fit: their distribution functions, limits, and gradients through samples."""

from __future__ import annotations

import math

import pytest
import torch
from checks import needs_int64
from torch import distributions

import vkarray as vx
from vkarray.core.array import is_supported

DOUBLE = is_supported(vx.float64, vx.asarray(0.0).device)
TYPES = [torch.float32, *([torch.float64] if DOUBLE else [])]
COUNT = 20000


def _full(value: float, dtype=torch.float32) -> torch.Tensor:
    return torch.full((COUNT,), value, dtype=dtype, device="vulkan")


def _furthest(sample: torch.Tensor, cumulative) -> float:
    """The largest distance between the sample's distribution function and the exact one, at the samples, times sqrt(n)."""
    values, counts = sample.cpu().double().unique(return_counts=True)
    empirical = counts.cumsum(0) / sample.numel()
    return float((empirical - cumulative(values)).abs().max()) * math.sqrt(sample.numel())


def _of_gamma(shape: float):
    return lambda x: torch.special.gammainc(torch.full_like(x, shape), x)


def _of_poisson(mean: float):
    return lambda k: torch.special.gammaincc(k + 1, torch.full_like(k, mean))


def _of_binomial(count: float, p: float):
    k = torch.arange(int(count) + 1, dtype=torch.float64)
    logarithm = math.lgamma(count + 1) - torch.lgamma(k + 1) - torch.lgamma(count - k + 1)
    mass = (logarithm + k * math.log(p) + (count - k) * math.log1p(-p)).exp().cumsum(0)
    return lambda x: mass[x.long()]


DRAWN = {
    **{f"gamma {a}": (lambda dtype, a=a: torch._standard_gamma(_full(a, dtype)), _of_gamma(a)) for a in (0.3, 1.0, 2.5, 300.0)},
    **{f"poisson {m}": (lambda dtype, m=m: torch.poisson(_full(m, dtype)), _of_poisson(m))
       for m in (0.2, 4.0, 9.99, 10.0, 77.0, 1e4)},
    **{f"binomial {n} {p}": (lambda dtype, n=n, p=p: torch.binomial(_full(n, dtype), _full(p, dtype)), _of_binomial(n, p))
       for n, p in ((1, 0.3), (20, 0.5), (100, 0.04), (100, 0.6), (5000, 0.25), (5000, 0.99))},
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_samples_have_their_distribution(name, dtype):
    torch.manual_seed(11)
    draw, cumulative = DRAWN[name]
    sample = draw(dtype)
    assert sample.dtype is dtype
    assert _furthest(sample, cumulative) < 1.95  # of 1000 samples one is further away, by Kolmogorov's distribution


DRAWS = {
    "gamma": lambda g: torch._standard_gamma(_full(0.7), generator=g),
    "poisson": lambda g: torch.poisson(_full(20.0), generator=g),
    "binomial": lambda g: torch.binomial(_full(50.0), _full(0.4), generator=g),
    "dirichlet": lambda g: torch._sample_dirichlet(_full(0.7).reshape(-1, 2), generator=g),
}


@pytest.mark.parametrize("name", DRAWS)
def test_a_seed_gives_the_same_numbers_again(name):
    first, again, other = (torch.Generator("vulkan").manual_seed(seed) for seed in (5, 5, 6))
    expected = DRAWS[name](first).cpu()
    assert torch.equal(DRAWS[name](again).cpu(), expected)
    assert not torch.equal(DRAWS[name](other).cpu(), expected)
    assert not torch.equal(DRAWS[name](first).cpu(), expected)


NAN, INF = math.nan, math.inf
LIMITS = {
    "gamma": (lambda x: torch._standard_gamma(x), [-1.0, NAN], [NAN, NAN]),
    "poisson": (torch.poisson, [0.0], [0]),
    "binomial of few": (lambda n: torch.binomial(n, torch.full_like(n, 0.5)), [0.0, -3.0, NAN], [0, 0, NAN]),
    "binomial of chances": (
        lambda p: torch.binomial(torch.full_like(p, 30.0), p), [0.0, 1.0, -0.5, 1.5, NAN], [0, 30, 0, 30, NAN]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LIMITS)
def test_limits(name):
    function, given, expected = LIMITS[name]
    made = function(torch.tensor(given, device="vulkan")).cpu()
    torch.testing.assert_close(made, torch.tensor(expected, dtype=torch.float32), equal_nan=True)
    assert function(torch.zeros(0, 3, device="vulkan")).shape == (0, 3)


def test_wrong_parameters_are_refused():
    with pytest.raises(RuntimeError, match="non-negative"):
        torch.poisson(torch.tensor([1.0, -1.0], device="vulkan"))
    with pytest.raises(NotImplementedError, match="poisson"):
        torch.poisson(torch.ones(2, dtype=torch.int32, device="vulkan"))
    with pytest.raises(RuntimeError, match="one floating-point type"):
        torch.binomial(torch.ones(2, device="vulkan"), torch.ones(2, dtype=torch.float16, device="vulkan"))


SHAPES = torch.logspace(-2, 3, 40, dtype=torch.float64)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_gradients_through_gamma_samples_are_those_of_the_cpu(dtype):
    shape = SHAPES.to(dtype).repeat_interleave(8)
    sample = torch._standard_gamma(shape.double(), generator=torch.Generator().manual_seed(1)).to(dtype)
    expected = torch._standard_gamma_grad(shape, sample)
    actual = torch._standard_gamma_grad(shape.to("vulkan"), sample.to("vulkan")).cpu()
    rtol = 1e-4 if dtype is torch.float32 or not DOUBLE else 1e-9
    torch.testing.assert_close(actual, expected, rtol=rtol, atol=rtol * 1e-3, equal_nan=True)


@pytest.mark.skipif(
    not DOUBLE, reason="the device has no float64, in which the expansions for large parameters are computed"
)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_gradients_through_dirichlet_samples_are_those_of_the_cpu(dtype):
    generator = torch.Generator().manual_seed(2)
    alpha = torch.exp(torch.rand(300, 3, dtype=torch.float64, generator=generator) * 9 - 3)
    x = torch._sample_dirichlet(alpha, generator=generator).clamp(1e-5, 1 - 1e-5)
    given = [one.to(dtype) for one in (x, alpha, alpha.sum(-1, keepdim=True).expand_as(alpha))]
    expected = torch._dirichlet_grad(*given)
    actual = torch._dirichlet_grad(*(one.to("vulkan") for one in given)).cpu()
    # The CPU computes the series for small x in the type itself.
    rtol = 1e-2 if dtype is torch.float32 else 1e-7
    torch.testing.assert_close(actual, expected, rtol=rtol, atol=rtol * 1e-2, equal_nan=True)


FAMILIES = {
    "Gamma": (distributions.Gamma, (2.0, 3.0)), "Beta": (distributions.Beta, (2.0, 3.0)),
    "Dirichlet": (distributions.Dirichlet, ([1.0, 2.0, 3.0],)), "StudentT": (distributions.StudentT, (5.0,)),
    "Chi2": (distributions.Chi2, (4.0,)),
}  # fmt: skip


@needs_int64
@pytest.mark.parametrize("name", FAMILIES)
def test_families_draw_samples_with_gradients(name):
    family, values = FAMILIES[name]
    parameters = [torch.tensor(value, device="vulkan", requires_grad=True) for value in values]
    made = family(*parameters)
    sample = made.rsample((4000,))
    assert sample.device.type == "vulkan"
    sample.square().mean().backward()
    assert all(one.grad is not None and one.grad.isfinite().all() for one in parameters)
    spread = (made.variance / 4000).sqrt()
    assert ((sample.mean(0) - made.mean).abs() < 5 * spread).all()


@pytest.mark.parametrize("name", ["Poisson", "Binomial", "NegativeBinomial"])
def test_families_of_counts_draw_samples(name):
    made = {
        "Poisson": lambda: distributions.Poisson(torch.tensor([3.0, 30.0], device="vulkan")),
        "Binomial": lambda: distributions.Binomial(10, torch.tensor([0.2, 0.7], device="vulkan")),
        "NegativeBinomial": lambda: distributions.NegativeBinomial(5, torch.tensor([0.2, 0.7], device="vulkan")),
    }[name]()
    sample = made.sample((4000,))
    assert ((sample.mean(0) - made.mean).abs() < 5 * (made.variance / 4000).sqrt()).all()
