"""`vkarray operators`: what it runs, and what it says of failures."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import torch

from vkarray.command.operators import report, torch_checks
from vkarray.torch.table import TABLE


def record(status="pass", direction="forward", dtype="float32", fallbacks=()):
    return {"dtype": dtype, "direction": direction, "samples": 1, "status": status, "message": "why",
            "fallbacks": list(fallbacks)}  # fmt: skip


RECORDS = {
    "add": [record(), record(direction="backward")],
    "svd": [record(fallbacks=["_linalg_svd.U", "mm.default"])],
    "bad": [record("fail"), record("crash", dtype="bool")],
}


def test_summary_counts_entries():
    assert report.summary(RECORDS) == "3 entries checked, 2 pass (66.7 %), 1 crash, 1 pass without the CPU"


def test_page_has_a_row_for_each_entry():
    page = report.markdown(RECORDS, TABLE)
    assert "| `add` | device | float32 | float32 |  |" in page
    assert "| `svd` | CPU: `_linalg_svd.U`, `mm` | float32 | - |  |" in page
    assert "| `bad` | device | - | - | float32 forward, bool forward |" in page
    assert "`addmm`" in page


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (torch.ones(2), torch.tensor([1.0, 1.001])),
        (torch.ones(2), torch.ones(3)),
        (torch.ones(2), torch.ones(2, dtype=torch.float16)),
        (torch.tensor([float("nan")]), torch.ones(1)),
    ],
)
def test_differences_are_found(actual, expected):
    with pytest.raises(torch_checks.Mismatch):
        torch_checks.compare(actual.to("vulkan"), expected)
    with pytest.raises(torch_checks.Mismatch, match="is on cpu"):
        torch_checks.compare(expected, expected)


def test_command_runs_entries_in_another_process(tmp_path):
    pytest.importorskip("expecttest", reason="PyTorch's database of operators imports expecttest")
    file = tmp_path / "records.json"
    command = [sys.executable, "-m", "vkarray", "operators", "--exact", "-k", "positive neg", "--samples", "1"]
    done = subprocess.run([*command, "--json", str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 entries checked, 2 pass (100.0 %), 0 crash" in done.stdout
    assert {one["dtype"] for one in json.loads(file.read_text())["neg"]} == {"float32", "float16", "int64"}
