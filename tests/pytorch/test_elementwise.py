"""Elementwise operators: values, gradients, promotion."""

from __future__ import annotations

import itertools
import math
import operator

import pytest
import torch
import torch.nn.functional as F

import vkarray as vx
import vkarray.torch
from vkarray.core.array import is_supported
from vkarray.torch.tensors.storage import FROM_TORCH

DEVICE = "vulkan"
FLOAT64 = is_supported(vx.float64, vx.asarray(0).device)
SPECIAL = [0.0, -0.0, float("inf"), -float("inf"), float("nan"), 1.0, -1.0, 0.5, -0.5, 3.0, -3.0, 20.5]

# Errors in ULP of the result allowed against the CPU's float64, by what a function adds to those of the functions it is made
# of (0.5 to 1 each), and the absolute part that cancellation leaves, in units of epsilon.
ACTIVATIONS = {
    "sigmoid": (torch.sigmoid, 3, 0), "silu": (F.silu, 4, 0), "gelu": (F.gelu, 8, 1), "mish": (F.mish, 4, 0),
    "gelu_tanh": (lambda x: F.gelu(x, approximate="tanh"), 8, 1), "softplus": (F.softplus, 3, 0),
    "logsigmoid": (F.logsigmoid, 3, 0), "elu": (F.elu, 2, 0), "selu": (F.selu, 3, 0), "celu": (lambda x: F.celu(x, 2), 3, 0),
    "relu": (F.relu, 0, 0), "relu6": (F.relu6, 0, 0), "leaky_relu": (lambda x: F.leaky_relu(x, 0.25), 1, 0),
    "hardtanh": (F.hardtanh, 0, 0), "hardswish": (F.hardswish, 3, 0), "hardsigmoid": (F.hardsigmoid, 2, 1),
    "softshrink": (F.softshrink, 1, 0), "hardshrink": (F.hardshrink, 0, 0), "tanhshrink": (F.tanhshrink, 2, 1),
    "threshold": (lambda x: F.threshold(x, 0.25, 2.0), 0, 0), "softsign": (F.softsign, 3, 0),
    "erf": (torch.erf, 4, 0), "erfc": (torch.erfc, 6, 1), "rsqrt": (torch.rsqrt, 2, 0), "exp2": (torch.exp2, 1, 0),
    "frac": (torch.frac, 1, 0), "sinc": (torch.sinc, 3, 4), "logit": (lambda x: torch.logit(x, 0.25), 4, 4),
}  # fmt: skip


def points(dtype):
    return torch.cat([torch.linspace(-9, 9, 301), torch.tensor(SPECIAL)]).to(dtype)


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_values(name, dtype):
    function, ulps, cancelled = ACTIVATIONS[name]
    x = points(dtype)
    expected = function(x.double())
    actual = function(x.to(DEVICE)).cpu()
    assert actual.dtype is dtype
    eps = torch.finfo(dtype).eps
    # Results of 16 bits are those of float32, rounded once: half a unit and a little.
    bound = eps * (expected.abs() * (ulps if dtype is torch.float32 else 1) + cancelled)
    bound += torch.finfo(dtype).smallest_normal * eps
    same = (actual == expected.to(dtype)) | (actual.isnan() & expected.isnan())
    wrong = ~same & ~((actual.double() - expected).abs() <= bound)
    assert not wrong.any(), (x[wrong], actual[wrong], expected[wrong])


@pytest.mark.skipif(not FLOAT64, reason="the device has no float64")
@pytest.mark.parametrize("name", [name for name in ACTIVATIONS if name != "frac"])
def test_gradients(name):
    function = ACTIVATIONS[name][0]
    low = 0.1 if name in ("rsqrt", "logit") else -2.3
    x = torch.linspace(low, 0.93, 7, dtype=torch.float64).to(DEVICE).requires_grad_()
    assert torch.autograd.gradcheck(function, (x,), fast_mode=True)


@pytest.mark.parametrize(
    "function", [F.relu, F.relu6, F.hardtanh, F.hardswish, F.hardsigmoid], ids=lambda one: one.__name__
)
def test_gradients_at_kinks_and_beyond(function):
    """They are what PyTorch says, on either side and at the kinks themselves."""
    values = [-7.0, -3.0, -1.0, -0.0, 0.0, 0.5, 1.0, 3.0, 6.0, 6.5]
    there, here = (torch.tensor(values, device=each, requires_grad=True) for each in (DEVICE, "cpu"))
    for one in (there, here):
        function(one).sum().backward()
    torch.testing.assert_close(there.grad.cpu(), here.grad, rtol=2 * torch.finfo(torch.float32).eps, atol=0)


@pytest.mark.skipif(not FLOAT64, reason="the device has no float64")
@pytest.mark.parametrize(
    "function",
    [torch.mul, torch.div, torch.pow, torch.atan2, torch.hypot, torch.maximum, torch.logaddexp, torch.xlogy,
     lambda a, b: torch.lerp(a, b, 0.3), lambda a, b: torch.addcmul(a, a, b, value=0.7), lambda a, b: F.prelu(a, b[:1]),
     lambda a, b: torch.addcdiv(a, a, b, value=0.7), lambda a, b: torch.where(a > b, a * b, b)],
    ids=lambda function: getattr(function, "__name__", ""),
)  # fmt: skip
def test_gradients_of_two(function):
    a, b = (torch.rand(5, dtype=torch.float64).add(0.2).to(DEVICE).requires_grad_() for _ in range(2))
    assert torch.autograd.gradcheck(function, (a, b), fast_mode=True)


TYPES = [
    dtype for dtype in (torch.bool, torch.uint8, torch.int16, torch.int64, torch.float16, torch.bfloat16, torch.float32,
                        torch.float64, torch.complex64)
    if is_supported(FROM_TORCH[dtype], vx.asarray(0).device)
]  # fmt: skip


@pytest.mark.parametrize("pair", list(itertools.product(TYPES, repeat=2)), ids=str)
def test_promotion(pair):
    a, b = (torch.tensor([[1, 2, 3]]).to(dtype) for dtype in pair)
    for first, second in ((a, b), (a, b[0, 0]), (a[0, 0], b), (a, 2), (a, 1.5), (True, b)):
        host = [first, second]
        device = [one.to(DEVICE) if isinstance(one, torch.Tensor) else one for one in host]
        for function in (operator.add, operator.mul, operator.eq, operator.truediv):
            if "complex32" in str(torch.result_type(*host)):
                continue  # a type that vkarray does not have
            expected, actual = function(*host), function(*device)
            assert actual.dtype is expected.dtype
            torch.testing.assert_close(actual.cpu(), expected)


def test_in_place_and_out():
    x = torch.arange(6, dtype=torch.float32, device=DEVICE).view(2, 3)
    x[:, 1:].mul_(x[:1, 1:].clone())
    assert x.tolist() == [[0, 1, 4], [3, 4, 10]]
    out = torch.empty(3, 2, device=DEVICE, dtype=torch.float64 if FLOAT64 else torch.float32).t()
    assert torch.add(x, 1, alpha=2, out=out) is out
    assert out.tolist() == [[2, 3, 6], [5, 6, 12]]
    mask = torch.zeros(2, 3, dtype=torch.bool, device=DEVICE)
    assert torch.gt(x, 3, out=mask).tolist() == [[False, False, True], [False, True, True]]
    x.masked_fill_(mask, -1).clamp_(min=0).copy_(x.t().contiguous().t())
    assert x.tolist() == [[0, 1, 0], [3, 0, 0]]
    x.t().addcmul_(x.t(), x.t(), value=2)
    assert x.tolist() == [[0, 3, 0], [21, 0, 0]]


def test_integer_division():
    a = torch.tensor([7, -7, 7, -7, 5], device=DEVICE)
    b = torch.tensor([2, 2, -2, -2, 5], device=DEVICE)
    for function in (torch.remainder, torch.fmod, torch.floor_divide):
        assert function(a, b).tolist() == function(a.cpu(), b.cpu()).tolist()
    for mode in ("floor", "trunc", None):
        assert torch.equal(torch.div(a, b, rounding_mode=mode).cpu(), torch.div(a.cpu(), b.cpu(), rounding_mode=mode))
    with pytest.raises(RuntimeError, match="negative integer powers"):
        a**-1


@pytest.mark.parametrize("exponent", [2, 3, 0.5, -0.5, -1, -1.0, 2.0, 3.0, 4, 1.5, -2, 0])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64, torch.int32], ids=str)
def test_powers_by_exponents(dtype, exponent):
    """Some are computed by other functions, which say something else of -0.0 and of negative infinity."""
    whole = not dtype.is_floating_point
    if (dtype is torch.float64 and not FLOAT64) or (whole and exponent < 0):
        pytest.skip("no such numbers on the device" if not whole else "PyTorch refuses integers to negative powers")
    values = [0, -2, 3, 1] if whole else [0.0, -0.0, 2.5, -2.5, math.inf, -math.inf, math.nan, 1e-4, 200.0]
    x = torch.tensor(values, dtype=dtype)
    assert_powers(x.to(DEVICE) ** exponent, x**exponent)
    program = vkarray.torch.export(Power(exponent), (x,))
    assert_powers(vkarray.torch.to_torch(program(vkarray.torch.to_vulkan(x))), x**exponent)


def test_powers_by_equal_exponents_of_two_types():
    """One after the other, so that what is known of the first is of no other type."""
    x = torch.tensor([0, -2, 3], dtype=torch.int32)
    for exponent in (2, 2.0, 2, True, 1, 1.0):
        assert_powers(x.to(DEVICE) ** exponent, x**exponent)


class Power(torch.nn.Module):
    """A power of its input."""

    def __init__(self, exponent):
        super().__init__()
        self.exponent = exponent

    def forward(self, x):
        return x**self.exponent


def assert_powers(found, expected):
    """The same to a rounding, with the same signs of zeros."""
    found = found.cpu()
    rounding = torch.finfo(expected.dtype).eps if expected.dtype.is_floating_point else 0
    torch.testing.assert_close(found, expected, rtol=2 * rounding, atol=0, equal_nan=True)
    zeros = expected == 0
    assert torch.equal(torch.signbit(found[zeros]), torch.signbit(expected[zeros]))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_numbers_are_not_rounded_to_16_bits(dtype):
    x, y = (torch.linspace(first, 5, 500).to(dtype) for first in (-3.0, 0.7))
    for function in (
        lambda a, b: a * 0.1, lambda a, b: 0.1 * a, lambda a, b: a + 0.1, lambda a, b: a - 0.1, lambda a, b: 0.1 - a,
        lambda a, b: a / 0.3, lambda a, b: torch.add(a, b, alpha=0.1), lambda a, b: a.clone().mul_(0.1),
        lambda a, b: a * torch.tensor(0.1), lambda a, b: a * 100_000,
    ):  # fmt: skip
        expected = function(x.float(), y.float()).to(dtype)  # as CUDA's; PyTorch's CPU rounds what is added
        assert torch.equal(function(x.to(DEVICE), y.to(DEVICE)).cpu(), expected)


# What is written and what is read share memory: without an element in common, with some, and with all.
SHARING = {
    "columns in turn": lambda x: x[:, ::2].add_(x[:, 1::2]),
    "halves of rows": lambda x: x[:, :2].mul_(x[:, 2:]),
    "halves of columns": lambda x: x[:2].sub_(x[2:]),
    "out in turn": lambda x: torch.add(x[:, ::2], 1, out=x[:, 1::2]),
    "copied in turn": lambda x: x[:, ::2].copy_(x[:, 1::2]),
    "copied halves": lambda x: x[:, :2].copy_(x[:, 2:]),
    "itself": lambda x: x.copy_(x).add_(x),
    "moved blocks": lambda x: x[:2, :2].add_(x[1:3, 1:3]),
    "moved rows": lambda x: x[:3].add_(x[1:]),
    "copied rows": lambda x: x[1:].copy_(x[:-1]),
    "assigned rows": lambda x: x.__setitem__(slice(1, None), x[:-1]),
    "a row for all": lambda x: x.copy_(x[0]),
    "transposed": lambda x: x.copy_(x.t()),
    "added transposed": lambda x: x.add_(x.t()),
    "expanded": lambda x: x[:1].expand(4, 4).copy_(torch.ones_like(x)),
    "added expanded": lambda x: x[:1].expand(4, 4).add_(1),
}


@pytest.mark.parametrize("name", SHARING)
def test_shared_memory_is_refused_where_pytorch_refuses_it(name):
    found = []
    for where in ("cpu", DEVICE):
        for _ in range(4):  # from the third on a plan
            x = torch.arange(16.0, device=where).reshape(4, 4)
            try:
                SHARING[name](x)
            except RuntimeError as error:
                found.append(str(error))
            else:
                found.append(x.cpu().tolist())
    assert all(each == found[0] for each in found)


QUOTIENTS = {
    "floor_divide": lambda x, y: x // y,
    "floor": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "trunc, in place": lambda x, y: x.clone().div_(y, rounding_mode="trunc"),
    "remainder": lambda x, y: x % y,
    "fmod": torch.fmod,
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", QUOTIENTS)
def test_quotients_of_all_signs_and_by_numbers(name, dtype):
    """Infinite divisors, zeros and their signs, and numbers that are no values of the type, as the CPU takes them."""
    x = torch.tensor([*SPECIAL, 4.875, -1.3, 0.7]).to(dtype)
    numbers = [3, -3, 0.25, 0.7, -0.7, 0.1, 1 / 3, float("inf"), -float("inf"), float("nan")]
    for y in [*numbers, x[:, None]]:
        if isinstance(y, torch.Tensor) and "in place" in name:
            continue
        expected = QUOTIENTS[name](x.clone(), y)
        found = QUOTIENTS[name](x.to(DEVICE), y.to(DEVICE) if isinstance(y, torch.Tensor) else y).cpu()
        assert torch.equal(expected.nan_to_num(7), found.nan_to_num(7)), y
        zeros = expected == 0
        assert torch.equal(expected[zeros].signbit(), found[zeros].signbit()), f"the sign of 0 with {y}"
