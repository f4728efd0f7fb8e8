"""Segments of a dimension reduced, and their gradients, as on the CPU."""

from __future__ import annotations

import math

import pytest
import torch
from checks import needs_int64

pytestmark = needs_int64
REDUCTIONS = ["sum", "mean", "max", "min", "prod"]
NAN = math.nan
VALUES = {
    "ordinary": [1.5, -2.0, 3.0, 3.0, 0.5, -1.0, 4.0, 4.0],
    "with zeros": [0.0, 2.0, 0.0, 0.0, 5.0, 1.0, 3.0, 0.0],
    "with NaN": [1.0, NAN, 2.0, 3.0, NAN, NAN, 0.0, 1.0],
}


def _both(data: torch.Tensor, reduce: str, given: dict) -> list[list[torch.Tensor]]:
    made = []
    for device in ("cpu", "vulkan"):
        x = data.detach().to(device).requires_grad_()
        options = {name: one.to(device) if isinstance(one, torch.Tensor) else one for name, one in given.items()}
        result = torch.segment_reduce(x, reduce, **options)
        weights = torch.arange(1.0, result.numel() + 1).reshape(result.shape).to(device, result.dtype)
        (result * weights).sum().backward()
        made.append([result.detach().cpu(), x.grad.cpu()])
    return made


@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("initial", [None, 2.0])
@pytest.mark.parametrize("by", ["lengths", "offsets"])
def test_segments_are_reduced(reduce, values, initial, by):
    lengths = torch.tensor([2, 0, 3, 1, 2])
    given = lengths if by == "lengths" else torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)])
    data = torch.tensor(VALUES[values])
    for its, ours in zip(*_both(data, reduce, {by: given, "initial": initial, "unsafe": by == "offsets"}), strict=True):
        torch.testing.assert_close(ours, its, equal_nan=True)


@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("kind", [torch.int32, torch.int64])
def test_segments_of_any_dimension(reduce, axis, kind):
    generator = torch.Generator().manual_seed(axis)
    data = torch.randn(4, 4, 4, generator=generator)
    rows = torch.tensor([[1, 3, 0], [0, 2, 2], [4, 0, 0], [1, 1, 2]], dtype=kind)
    lengths = {0: rows[0], 1: rows, 2: rows.expand(4, 4, 3).contiguous()}[axis]
    for its, ours in zip(*_both(data, reduce, {"lengths": lengths, "axis": axis}), strict=True):
        torch.testing.assert_close(ours, its, equal_nan=True)


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_types_of_16_bits_and_nothing_at_all(reduce):
    data = torch.tensor([1.5, -2.0, 3.0], dtype=torch.float16, device="vulkan")
    made = torch.segment_reduce(data, reduce, lengths=torch.tensor([1, 2], device="vulkan"))
    assert made.dtype is torch.float16
    nothing = torch.segment_reduce(data[:0], reduce, lengths=torch.zeros(0, dtype=torch.int64, device="vulkan"))
    assert nothing.shape == (0,)


@pytest.mark.parametrize(
    ("given", "words"),
    [({}, "must be defined"), ({"lengths": [1, 1]}, "sum to data.size"), ({"lengths": [4, -1]}, "negative"),
     ({"lengths": [[3]]}, "shape")],
)  # fmt: skip
def test_wrong_segments_are_refused(given, words):
    options = {name: torch.tensor(one, device="vulkan") for name, one in given.items()}
    with pytest.raises(RuntimeError, match=words):
        torch.segment_reduce(torch.ones(3, device="vulkan"), "sum", **options)
