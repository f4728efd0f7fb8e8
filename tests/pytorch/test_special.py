"""Special functions: near PyTorch's in float64, at ordinary and at extreme numbers."""

from __future__ import annotations

import math

import mpmath  # comes with PyTorch, which needs SymPy
import pytest
import torch
from checks import needs_int64

import vkarray as vx
from vkarray.core.array import is_supported

DEVICE = "vulkan"
# (PyTorch's own polygamma of 1 has errors of 3e-10.)
# Function -> the numbers it is compared at, and the error in units of the last place of 1 + |expected|.
WIDE = torch.cat(
    [torch.logspace(-6, 1.5, 200, dtype=torch.float64), torch.linspace(0.02, 30, 401, dtype=torch.float64)]
)
BOTH = torch.cat([-WIDE, WIDE])
SHARES = torch.cat(
    [torch.logspace(-12, -0.31, 200, dtype=torch.float64), 1 - torch.logspace(-6, -0.31, 50, dtype=torch.float64)]
)
FUNCTIONS = {
    "lgamma": (torch.lgamma, BOTH, 8),
    "digamma": (torch.digamma, WIDE, 8),
    "trigamma": (lambda x: torch.polygamma(1, x) if x.device.type == DEVICE else torch.special.zeta(2.0, x), WIDE, 16),
    "polygamma of 3": (lambda x: torch.polygamma(3, x), WIDE, 40),
    "zeta": (lambda x: torch.special.zeta(x + 1.5, torch.full_like(x, 2.5)), WIDE, 32),
    "i0": (torch.i0, BOTH, 40),
    "i0e": (torch.special.i0e, BOTH, 8),
    "i1": (torch.special.i1, BOTH, 40),
    "i1e": (torch.special.i1e, BOTH, 8),
    "erfcx": (torch.special.erfcx, torch.cat([WIDE, -WIDE[WIDE < 4]]), 40),
    "log_ndtr": (torch.special.log_ndtr, BOTH, 8),
    "ndtri": (torch.special.ndtri, SHARES, 8),
    "entr": (torch.special.entr, WIDE, 4),
    "bessel_j0": (torch.special.bessel_j0, BOTH, 4),
    "bessel_j1": (torch.special.bessel_j1, BOTH, 4),
    "bessel_y0": (torch.special.bessel_y0, WIDE, 8),
    "bessel_y1": (torch.special.bessel_y1, WIDE, 8),
    "modified_bessel_i0": (torch.special.modified_bessel_i0, BOTH, 40),
    "modified_bessel_i1": (torch.special.modified_bessel_i1, BOTH, 40),
    "modified_bessel_k0": (torch.special.modified_bessel_k0, WIDE, 8),
    "modified_bessel_k1": (torch.special.modified_bessel_k1, WIDE, 8),
    "scaled_modified_bessel_k0": (torch.special.scaled_modified_bessel_k0, WIDE, 8),
    "scaled_modified_bessel_k1": (torch.special.scaled_modified_bessel_k1, WIDE, 8),
    "spherical_bessel_j0": (torch.special.spherical_bessel_j0, BOTH, 2),
    "airy_ai": (torch.special.airy_ai, torch.cat([WIDE, -WIDE[WIDE < 10]]), 8),
    "xlog1py": (lambda x: torch.special.xlog1py(x, x), WIDE, 8),
    "multigammaln": (lambda x: torch.special.multigammaln(x + 2, 3), WIDE, 16),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_are_small(name, dtype):
    if not is_supported(getattr(vx, str(dtype).removeprefix("torch.")), vx.asarray(0.0).device):
        pytest.skip("the device has no float64")
    function, numbers, units = FUNCTIONS[name]
    x = numbers.to(dtype)
    expected = function(x.double())
    actual = function(x.to(DEVICE)).cpu().double()
    error = torch.where(actual == expected, 0, (actual - expected).abs() / (1 + expected.abs()))
    assert float(error.max()) < units * torch.finfo(dtype).eps, x[error.argmax()]


INFINITE, NOTHING = math.inf, math.nan
LIMITS = {
    "lgamma": ([0.0, -3.0, 1.0, 2.0, INFINITE, -INFINITE, NOTHING], [INFINITE, INFINITE, 0, 0, INFINITE, INFINITE, NOTHING]),
    "digamma": ([0.0, -0.0, -2.0, INFINITE, NOTHING], [-INFINITE, INFINITE, NOTHING, INFINITE, NOTHING]),
    "i0": ([0.0, INFINITE, -INFINITE, NOTHING], [1, INFINITE, INFINITE, NOTHING]),
    "special_i1": ([0.0, INFINITE, -INFINITE, NOTHING], [0, INFINITE, -INFINITE, NOTHING]),
    "special_erfcx": ([0.0, INFINITE, -INFINITE, NOTHING], [1, 0, INFINITE, NOTHING]),
    "special_ndtri": ([0.0, 0.5, 1.0, 2.0, NOTHING], [-INFINITE, 0, INFINITE, NOTHING, NOTHING]),
    "special_bessel_j0": ([0.0, INFINITE, -INFINITE, NOTHING], [1, 0, 0, NOTHING]),
    "special_bessel_j1": ([0.0, INFINITE, -INFINITE, NOTHING], [0, 0, 0, NOTHING]),
    "special_bessel_y0": ([0.0, -1.0, INFINITE, NOTHING], [-INFINITE, NOTHING, 0, NOTHING]),
    "special_bessel_y1": ([0.0, -1.0, INFINITE, NOTHING], [-INFINITE, NOTHING, 0, NOTHING]),
    "special_modified_bessel_k0": ([0.0, -1.0, INFINITE, NOTHING], [INFINITE, NOTHING, 0, NOTHING]),
    "special_modified_bessel_k1": ([0.0, -1.0, INFINITE, NOTHING], [INFINITE, NOTHING, 0, NOTHING]),
    "special_scaled_modified_bessel_k0": ([0.0, -1.0, INFINITE, NOTHING], [INFINITE, NOTHING, 0, NOTHING]),
    "special_spherical_bessel_j0": ([0.0, INFINITE, -INFINITE, NOTHING], [1, 0, 0, NOTHING]),
    "special_airy_ai": ([200.0, INFINITE, -INFINITE, NOTHING], [0, NOTHING, NOTHING, NOTHING]),
    "special_entr": ([0.0, 1.0, -1.0, INFINITE, NOTHING], [0, 0, -INFINITE, -INFINITE, NOTHING]),
}  # fmt: skip


@pytest.mark.parametrize("name", LIMITS)
def test_limits(name):
    given, expected = LIMITS[name]
    actual = getattr(torch.ops.aten, name)(torch.tensor(given, device=DEVICE)).cpu()
    torch.testing.assert_close(actual, torch.tensor(expected, dtype=torch.float32), rtol=0, atol=0, equal_nan=True)


# Orders, and the numbers that polynomials of these are compared at: high orders grow beyond all types.
ORDERS = {
    "few": ([-2, 0, 1, 2, 3, 5, 8], torch.linspace(-3, 3, 61, dtype=torch.float64)),
    "some": ([9, 12, 30], torch.linspace(-1.5, 1.5, 61, dtype=torch.float64)),
    "many": ([64, 65, 100], torch.linspace(-1, 1, 40, dtype=torch.float64) * 1.04),
}  # fmt: skip
POLYNOMIALS = [name for name in torch.special.__all__ if "polynomial" in name]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("orders", ORDERS)
@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_are_those_of_the_cpu(name, orders, dtype):
    if not is_supported(getattr(vx, str(dtype).removeprefix("torch.")), vx.asarray(0.0).device):
        pytest.skip("the device has no float64")
    function, (given, numbers) = getattr(torch.special, name), ORDERS[orders]
    x = numbers.to(dtype).repeat(len(given))
    n = torch.tensor(given, dtype=dtype).repeat_interleave(len(numbers))
    expected = function(x.double(), n.double())
    fits = expected.abs() < torch.finfo(dtype).max / 16  # above, intermediate results overflow
    actual = function(x.to(DEVICE), n.to(DEVICE)).cpu().double()
    error = torch.where(fits, (actual - expected).abs() / (1 + expected.abs()), 0)
    # Rounded once, 2 x - 1 moves by half a unit, which counts n^2 times at the ends of the interval.
    assert float(error.max()) < (2000 if orders == "many" else 400) * torch.finfo(dtype).eps


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_orders_that_are_none_give_0_as_on_the_cpu(name):
    n = torch.tensor([-1.0, INFINITE, -INFINITE, NOTHING], device=DEVICE)
    assert not getattr(torch.special, name)(torch.full_like(n, 0.3), n).cpu().any()


@pytest.mark.parametrize("name", ["legendre_polynomial_p", "laguerre_polynomial_l"])
def test_orders_too_high_for_recurrences_give_no_number(name):
    made = getattr(torch.special, name)(
        torch.tensor([0.3, 0.3], device=DEVICE), torch.tensor([4e4, 1e30], device=DEVICE)
    )
    assert made.isnan().all()


RATIOS = torch.tensor([1e-3, 0.3, 0.69, 0.71, 0.9, 0.99, 1, 1.01, 1.1, 1.29, 1.31, 2, 8], dtype=torch.float64)


def _shapes_and_limits(largest: float, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    shapes = torch.logspace(-2, math.log10(largest), count, dtype=torch.float64)
    return shapes.repeat_interleave(len(RATIOS)), (shapes.reshape(-1, 1) * RATIOS).flatten()


@pytest.mark.parametrize("name", ["gammainc", "gammaincc"])
def test_incomplete_gamma_functions(name):
    """In float32 against the CPU's in float64."""
    a, x = (one.float() for one in _shapes_and_limits(1e6, 30))
    function = getattr(torch.special, name)
    error = (function(a.to(DEVICE), x.to(DEVICE)).cpu().double() - function(a.double(), x.double())).abs()
    assert float(error.max()) < 8 * torch.finfo(torch.float32).eps


@pytest.mark.skipif(not is_supported(vx.float64, vx.asarray(0.0).device), reason="the device has no float64")
def test_incomplete_gamma_functions_in_double():
    """Against mpmath: the CPU's own errors reach 1e-8."""
    a, x = _shapes_and_limits(500, 8)
    expected = [float(mpmath.gammainc(p, 0, q, regularized=True)) for p, q in zip(a.tolist(), x.tolist(), strict=True)]
    lower = torch.tensor(expected, dtype=torch.float64)
    for name, one in (("gammainc", lower), ("gammaincc", 1 - lower)):
        error = (getattr(torch.special, name)(a.to(DEVICE), x.to(DEVICE)).cpu() - one).abs()
        assert float(error.max()) < 64 * torch.finfo(torch.float64).eps


def test_limits_of_incomplete_gamma_functions():
    a = torch.tensor([0.0, 0.0, 1.0, 1.0, INFINITE, INFINITE, -1.0, 1.0, NOTHING, 2.0])
    x = torch.tensor([0.0, 2.0, 0.0, INFINITE, 1.0, INFINITE, 1.0, -1.0, 1.0, NOTHING])
    for function in (torch.special.gammainc, torch.special.gammaincc):
        made = function(a.to(DEVICE), x.to(DEVICE)).cpu()
        torch.testing.assert_close(made, function(a, x), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("name", ["gammainc", "gammaincc"])
def test_gradients_of_incomplete_gamma_functions(name):
    gradients = []
    for device in ("cpu", DEVICE):
        x = torch.linspace(0.1, 6, 30).to(device).requires_grad_()
        getattr(torch.special, name)(torch.full_like(x, 2.5).detach(), x).sum().backward()
        gradients.append(x.grad.cpu())
    torch.testing.assert_close(gradients[1], gradients[0], rtol=1e-5, atol=1e-6)


@needs_int64
def test_integers_are_converted():
    x = torch.arange(1, 6, device=DEVICE)
    torch.testing.assert_close(torch.lgamma(x).cpu(), torch.lgamma(x.cpu()), rtol=1e-6, atol=1e-6)
