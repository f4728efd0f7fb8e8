"""Factors of symmetric and Hermitian matrices that are not definite, as LAPACK gives them, and systems solved by them."""

from __future__ import annotations

import pytest
import torch

import vkarray as vx
from vkarray.core.array import is_supported

DOUBLE = is_supported(vx.float64, vx.asarray(0.0).device)
TYPES = [torch.float32, torch.complex64, *([torch.float64, torch.complex128] if DOUBLE else [])]
SHAPES = [(2, 2), (5, 5), (3, 4, 4), (0, 3, 3), (40, 40), (150, 150)]


def _symmetric(shape: tuple[int, ...], dtype, hermitian: bool, small_diagonal: bool) -> torch.Tensor:
    x = torch.randn(shape, dtype=torch.complex128, generator=torch.Generator().manual_seed(sum(shape)))
    x = x + (x.mH if hermitian else x.mT)
    if small_diagonal:  # pivots of two rows
        x = x - torch.diag_embed(x.diagonal(dim1=-2, dim2=-1) * 0.999)
    return (x if dtype.is_complex else x.real).to(dtype).contiguous()


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("hermitian", [False, True])
@pytest.mark.parametrize("small_diagonal", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_factors_and_solutions_are_those_of_the_cpu(shape, dtype, hermitian, small_diagonal):
    x = _symmetric(shape, dtype, hermitian, small_diagonal)
    expected = torch.linalg.ldl_factor_ex(x, hermitian=hermitian)
    actual = torch.linalg.ldl_factor_ex(x.to("vulkan"), hermitian=hermitian)
    eps = torch.finfo(dtype).eps
    if shape[-1] <= 40:  # more pivots may be chosen otherwise by rounding
        assert torch.equal(actual.pivots.cpu(), expected.pivots)
        torch.testing.assert_close(actual.LD.cpu(), expected.LD, rtol=1e4 * eps, atol=1e4 * eps)
    assert torch.equal(actual.info.cpu(), expected.info)
    b = torch.randn((*shape[:-1], 3), dtype=dtype, generator=torch.Generator().manual_seed(1))
    solved = torch.linalg.ldl_solve(actual.LD, actual.pivots, b.to("vulkan"), hermitian=hermitian).cpu()
    wide = torch.complex128 if dtype.is_complex else torch.float64
    residual = (x.to(wide) @ solved.to(wide) - b).abs()
    scale = x.abs().sum(-1, keepdim=True).to(torch.float64) * solved.abs().amax(-2, keepdim=True) + 1
    assert bool((residual <= 20 * max(shape[-1], 1) * eps * scale).all())


def test_stacks_broadcast():
    x = _symmetric((3, 4, 4), torch.float32, False, True)
    factors = torch.linalg.ldl_factor(x.to("vulkan"))
    b = torch.randn(4, 2, generator=torch.Generator().manual_seed(2))
    solved = torch.linalg.ldl_solve(*factors, b.to("vulkan").expand(3, 4, 2)).cpu()
    torch.testing.assert_close(x @ solved, b.expand(3, 4, 2), rtol=1e-3, atol=1e-3)


def test_nothing_has_factors_and_solutions():
    nothing = torch.zeros(0, 0, device="vulkan")
    factors = torch.linalg.ldl_factor(nothing)
    assert factors.LD.shape == (0, 0)
    assert torch.linalg.ldl_solve(*factors, torch.zeros(0, 2, device="vulkan")).shape == (0, 2)


def test_pivots_of_zero_and_nan_are_told():
    zero = torch.linalg.ldl_factor_ex(torch.zeros(2, 3, 3, device="vulkan"))
    assert zero.info.tolist() == [1, 1]
    assert zero.pivots.tolist() == [[1, 2, 3]] * 2
    with pytest.raises(RuntimeError, match="ldl_factor"):
        torch.linalg.ldl_factor(torch.zeros(3, 3, device="vulkan"))
    nothing = torch.linalg.ldl_factor_ex(torch.full((3, 3), float("nan"), device="vulkan"))
    assert nothing.info.item() > 0  # which pivot is told to be none differs among LAPACKs
    assert nothing.LD.tril().isnan().any()
