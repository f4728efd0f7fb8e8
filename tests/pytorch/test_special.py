"""Special functions: near PyTorch's in float64, at ordinary and at extreme numbers."""

from __future__ import annotations

import math

import pytest
import torch
from checks import needs_int64

import vkarray as vx
from vkarray.array import is_supported

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
    "special_entr": ([0.0, 1.0, -1.0, INFINITE, NOTHING], [0, 0, -INFINITE, -INFINITE, NOTHING]),
}  # fmt: skip


@pytest.mark.parametrize("name", LIMITS)
def test_limits(name):
    given, expected = LIMITS[name]
    actual = getattr(torch.ops.aten, name)(torch.tensor(given, device=DEVICE)).cpu()
    torch.testing.assert_close(actual, torch.tensor(expected, dtype=torch.float32), rtol=0, atol=0, equal_nan=True)


@needs_int64
def test_integers_are_converted():
    x = torch.arange(1, 6, device=DEVICE)
    torch.testing.assert_close(torch.lgamma(x).cpu(), torch.lgamma(x.cpu()), rtol=1e-6, atol=1e-6)
