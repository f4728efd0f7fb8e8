"""`vkarray.profile` sees the operators of PyTorch on the device by their names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

import vkarray as vx
from vkarray import _vk


def model() -> torch.nn.Module:
    torch.manual_seed(1)
    layers = (torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(4 * 36, 5))
    return torch.nn.Sequential(*layers).to("vulkan")


@pytest.fixture(autouse=True)
def timestamps() -> None:
    if "timestamps" not in _vk.open_device().features:
        pytest.skip("the device takes no timestamps (timestampValidBits is 0)")


@pytest.mark.parametrize("turns", [1, 4])
def test_operators_have_their_names(turns: int, tmp_path: Path) -> None:
    network, x = model(), torch.ones(2, 3, 8, 8, device="vulkan")
    with torch.no_grad():
        for _ in range(turns - 1):
            expected = network(x)
        with vx.profile(tmp_path / "trace.json") as seen:
            result = network(x)
        assert turns == 1 or torch.equal(result.cpu(), expected.cpu())
    rows = {row.operation: row for row in seen.table() if row.dispatches}
    assert set(rows) == {"aten.convolution", "aten.relu", "aten.linear"}
    assert all(row.calls == 1 and row.total > 0 and row.bytes > 0 for row in rows.values())
    assert rows["aten.convolution"].operations == 2 * 2 * 4 * 36 * 27
    assert rows["aten.linear"].operations >= 2 * 2 * 5 * 4 * 36
    trace = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))
    (linear,) = [one for one in trace["traceEvents"] if one["name"] == "aten.linear" and one["cat"] == "kernel"]
    assert linear["args"]["arguments"] == ["float32[2, 144]", "float32[5, 144]", "float32[5]"]


def test_a_backward_pass_is_seen() -> None:
    network, x = model(), torch.ones(2, 3, 8, 8, device="vulkan")
    with vx.profile() as seen:
        network(x).sum().backward()
    names = {row.operation for row in seen.table() if row.dispatches}
    assert {"aten.convolution_backward", "aten.threshold_backward", "aten.linear_backward"} <= names
    assert all(name.startswith("aten.") for name in names), names


def test_a_compiled_graph_is_seen() -> None:
    compiled = torch.compile(lambda x, y: torch.softmax(x @ y + 1, -1) * x, backend="vulkan")
    x = torch.ones(8, 8, device="vulkan")
    expected = compiled(x, x)
    with vx.profile() as seen:
        result = compiled(x, x)
    assert torch.equal(result.cpu(), expected.cpu())
    (row,) = [row for row in seen.table() if row.dispatches]
    assert row.operation.startswith("torch.compile(")
    assert row.calls == 1
