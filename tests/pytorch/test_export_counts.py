"""Counts in exported models, whose number the model asserts; and sizes that depend on values, which are told."""

from __future__ import annotations

import pytest
import torch
from checks import needs_int64
from torch import Tensor, nn

import vkarray.torch

pytestmark = needs_int64


class Confusion(nn.Module):
    """How often each class was taken for each other."""

    def forward(self, found: Tensor, wanted: Tensor) -> Tensor:
        counts = torch.bincount(wanted * 4 + found, minlength=16)
        torch._check(counts.shape[0] == 16)
        return counts.reshape(4, 4)


class Weighted(nn.Module):
    def forward(self, places: Tensor, weights: Tensor) -> Tensor:
        counts = torch.bincount(places, weights, 5)
        torch._check(counts.shape[0] == 5)
        return counts


class Any(nn.Module):
    def forward(self, places: Tensor) -> Tensor:
        return torch.bincount(places) * 2


def test_counts_of_a_known_number() -> None:
    found, wanted = torch.randint(0, 4, (2, 90), generator=torch.Generator().manual_seed(1))
    weights = torch.linspace(0, 1, 90)
    for model, given in ((Confusion(), (found, wanted)), (Weighted(), (found, weights))):
        program = vkarray.torch.export(model, given)
        expected = model(*given)
        result = vkarray.torch.to_torch(program(*map(vkarray.torch.to_vulkan, given))).cpu()
        assert result.dtype == expected.dtype
        assert torch.allclose(result, expected)


def test_counts_of_any_number_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="how many counts there are depends on values"):
        vkarray.torch.export(Any(), (torch.tensor([1, 2, 2]),))


def test_elements_by_a_mask_are_refused_with_the_reason() -> None:
    class Spread(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            found = torch.zeros_like(x)
            found[x > 0] = x[x > 0] * 2
            return found

    with pytest.raises(NotImplementedError, match="takes elements where a mask is true"):
        vkarray.torch.export(Spread(), (torch.randn(5),))
