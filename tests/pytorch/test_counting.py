"""Counts: histograms of integers, which PyTorch has on CUDA alone, against NumPy and the definition."""

from __future__ import annotations

import pytest
import torch

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
