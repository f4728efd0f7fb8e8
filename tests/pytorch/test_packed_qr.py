"""LAPACK's packed factors of QR, from which `ormqr` and `householder_product` go on."""

from __future__ import annotations

import pytest
import torch

SHAPES = [(4, 4), (6, 3), (3, 6), (2, 5, 4), (70, 40), (0, 3), (3, 0), (0, 4, 3), (1, 1)]


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [(one, dtype) for one in SHAPES for dtype in (torch.float32, torch.complex64)
     if dtype is torch.float32 or one[-2] > one[-1] or 0 in one],
    ids=str,
)  # fmt: skip
def test_packed_factors_are_those_of_the_cpu(shape, dtype):
    x = torch.randn(shape, dtype=dtype, generator=torch.Generator().manual_seed(len(shape)))
    expected, actual = torch.geqrf(x), torch.geqrf(x.to("vulkan"))
    for ours, its in zip(actual, expected, strict=True):
        torch.testing.assert_close(ours.cpu(), its, rtol=1e-4, atol=1e-5 * max(shape))


@pytest.mark.parametrize("shape", [(4, 4), (3, 6), (1, 1), (2, 3, 5)], ids=str)
def test_complex_factors_of_no_more_rows_than_columns_multiply_to_the_matrix(shape):
    """LAPACK makes the last element of the diagonal real, which another phase of the last row does as well."""
    x = torch.randn(shape, dtype=torch.complex64, generator=torch.Generator().manual_seed(3)).to("vulkan")
    factors, tau = torch.geqrf(x)
    rows = shape[-2]
    q = torch.linalg.householder_product(factors[..., :rows].contiguous(), tau)
    torch.testing.assert_close(q @ factors.triu(), x, rtol=1e-4, atol=1e-5)


def test_factors_multiply_to_the_matrix():
    x = torch.randn(5, 3, generator=torch.Generator().manual_seed(7)).to("vulkan")
    factors, tau = torch.geqrf(x)
    torch.testing.assert_close(torch.ormqr(factors, tau, torch.nn.functional.pad(factors[:3].triu(), (0, 0, 0, 2))), x)
    torch.testing.assert_close(torch.linalg.householder_product(factors, tau) @ factors[:3].triu(), x)
    into = torch.empty(0, device="vulkan"), torch.empty(0, device="vulkan")
    torch.geqrf(x, out=into)
    assert torch.equal(into[0], factors)
    assert torch.equal(into[1], tau)


def test_numbers_without_factors():
    nothing = torch.geqrf(torch.tensor([[1.0, float("nan")], [2.0, 1.0]], device="vulkan"))
    assert nothing[0][:, 1].isnan().all()
    with pytest.raises(NotImplementedError, match="geqrf"):
        torch.geqrf(torch.ones(2, 2, dtype=torch.int32, device="vulkan"))
