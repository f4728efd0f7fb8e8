"""Counts: histograms of integers, which PyTorch has on CUDA alone, against the definition, and of rows."""

from __future__ import annotations

import math

import pytest
import torch
from checks import needs_int64

import vkarray as vx
from vkarray.core.array import is_supported

pytestmark = needs_int64
TYPES = [torch.float32, *([torch.float64] if is_supported(vx.float64, vx.asarray(0.0).device) else [])]
INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]


def _counted(values: list[int], bins: int, low: int, high: int) -> list[int]:
    """What CUDA counts: the place of a value is rounded down, the last bin has its upper edge."""
    if low == high and values:
        low, high = min(values), max(values)
    if low == high:
        low, high = low - 1, high + 1
    counts = [0] * bins
    for one in values:
        if low <= one <= high:
            counts[min((one - low) * bins // (high - low), bins - 1)] += 1
    return counts


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize(
    ("values", "bins", "low", "high"),
    [
        ([1, 3, 3, 0, 7, 2], 8, 0, 7), ([1, 3, 3, 0, 7, 2], 3, 1, 5), ([5, 5, 5], 4, 0, 0), ([], 4, 0, 0), ([], 3, 0, 2),
        ([9, 1, 100], 10, 0, 0), (list(range(100)), 7, 3, 90),
    ],
    ids=["one bin for each expert", "some outside", "all the same", "empty", "empty in a range", "range of the values",
         "uneven bins"],
)  # fmt: skip
def test_integers_are_counted(dtype, values, bins, low, high):
    counts = torch.histc(torch.tensor(values, dtype=dtype, device="vulkan"), bins=bins, min=low, max=high)
    assert counts.dtype is dtype
    assert counts.cpu().tolist() == _counted(values, bins, low, high)


@pytest.mark.parametrize("arguments", [(0, 0, 1), (4, 2, 1)], ids=["no bins", "bounds the wrong way"])
def test_wrong_bins_are_refused(arguments):
    with pytest.raises(RuntimeError, match="histc"):
        torch.histc(torch.arange(3, device="vulkan"), *arguments)


# -- histograms of several columns ------------------------------------------------------------------------------------

NAN = math.nan
ROWS = {
    "ordinary": torch.tensor([[0.1, 2.0], [0.5, -1.0], [0.9, 0.0], [0.3, 1.5], [0.1, 2.0], [0.45, 0.2]]),
    "on edges": torch.tensor([[0.0, 0.0], [1.0, 1.0], [0.5, 0.5], [0.25, 1.0], [1.0, 0.0]]),
    "all the same": torch.ones(4, 2), "empty": torch.zeros(0, 2), "of three dimensions": torch.arange(24.0).reshape(3, 4, 2) % 7,
}  # fmt: skip
OPTIONS = {
    "plain": {}, "density": {"density": True}, "range": {"range": [0.0, 1.0, -0.5, 1.5]}, "weight": {"weight": True},
    "weight and density": {"weight": True, "density": True},
}  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_rows_are_counted_as_on_the_cpu(rows, options, dtype):
    x, given = ROWS[rows].to(dtype), dict(OPTIONS[options])
    weight = (
        torch.linspace(0.5, 2, x[..., 0].numel(), dtype=dtype).reshape(x.shape[:-1]) if given.pop("weight", 0) else None
    )
    expected = torch.histogramdd(x, [3, 4], weight=weight, **given)
    moved = None if weight is None else weight.to("vulkan")
    actual = torch.histogramdd(x.to("vulkan"), [3, 4], weight=moved, **given)
    torch.testing.assert_close(actual.hist.cpu(), expected.hist, equal_nan=True)
    for ours, its in zip(actual.bin_edges, expected.bin_edges, strict=True):
        torch.testing.assert_close(ours.cpu(), its)


def test_rows_with_nan_or_outside_of_given_edges_count_nowhere():
    x = torch.tensor([[0.5, NAN], [0.5, 0.5], [2.0, 0.5], [NAN, NAN], [0.5, 1.0], [-0.1, 0.2]])
    edges = [torch.tensor([0.0, 0.4, 1.0]), torch.tensor([0.0, 0.5, 0.7, 1.0])]
    expected = torch.histogramdd(x, edges)
    actual = torch.histogramdd(x.to("vulkan"), [one.to("vulkan") for one in edges])
    torch.testing.assert_close(actual.hist.cpu(), expected.hist)


@pytest.mark.parametrize(
    ("x", "bins", "words"),
    [
        (torch.zeros(3), [2], "at least 2"),
        (torch.zeros(3, 2), [2], "expected 2 sequences"),
        (torch.zeros(3, 1), [0], "> 0"),
    ],
)
def test_wrong_rows_are_refused(x, bins, words):
    with pytest.raises(RuntimeError, match=words):
        torch.histogramdd(x.to("vulkan"), bins)
