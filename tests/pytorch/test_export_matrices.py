"""Functions of matrices in exported models, which have no row of their own in the core set: what parametrizations are made of."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrizations

import vkarray.torch


class Called(nn.Module):
    def __init__(self, function: object) -> None:
        super().__init__()
        self.function = function

    def forward(self, *given: Tensor) -> Tensor:
        return self.function(*given)


def found(model: nn.Module, *given: Tensor) -> Tensor:
    program = vkarray.torch.export(model.eval(), given)
    return vkarray.torch.to_torch(program(*map(vkarray.torch.to_vulkan, given))).cpu()


@pytest.mark.parametrize("kind", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("size", [7, 12])
def test_orthogonal_weights(kind: str, size: int) -> None:
    torch.manual_seed(0)
    model = parametrizations.orthogonal(nn.Linear(12, size), orthogonal_map=kind)
    x = torch.randn(3, 12)
    torch.testing.assert_close(found(model, x), model(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64])
def test_products_of_reflectors(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    vectors, tau = torch.geqrf(torch.randn(5, 8, 6, dtype=dtype))
    tau[0, 2] = 0  # does nothing
    function = torch.linalg.householder_product
    for some in (6, 4, 0):
        expected = function(vectors, tau[..., :some])
        torch.testing.assert_close(
            found(Called(function), vectors, tau[..., :some].contiguous()), expected, rtol=1e-5, atol=1e-5
        )


def test_exponentials_of_matrices() -> None:
    torch.manual_seed(0)
    turned = torch.randn(9, 9)
    turned = turned - turned.T
    x = torch.stack([turned * size for size in (0, 0.01, 0.3, 1, 5, 40)])  # each has its own number of squarings
    torch.testing.assert_close(
        found(Called(torch.linalg.matrix_exp), x), torch.linalg.matrix_exp(x), rtol=1e-3, atol=1e-4
    )
    assert found(Called(torch.linalg.matrix_exp), turned * 1e5).isnan().all()
    whole = x.to(torch.float16)[1:3]
    expected = torch.linalg.matrix_exp(whole.float())
    torch.testing.assert_close(found(Called(torch.linalg.matrix_exp), whole).float(), expected, rtol=1e-3, atol=1e-3)
