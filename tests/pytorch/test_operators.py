"""`vkarray operators`: what it runs, and what it says of failures."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import torch
from checks import needs_int64

from vkarray.command.operators import layers, report, torch_checks
from vkarray.torch.dispatch.table import TABLE


def record(status="pass", direction="forward", dtype="float32", fallbacks=()):
    return {"dtype": dtype, "direction": direction, "samples": 1, "status": status, "message": "why",
            "fallbacks": list(fallbacks)}  # fmt: skip


RECORDS = {
    "add": [record(), record(direction="backward")],
    "elu": [record() | {"decomposed": True}],
    "svd": [record(fallbacks=["_linalg_svd.U", "mm.default"])],
    "bad": [record("fail"), record("crash", dtype="bool")],
    "none": [record("skip") | {"samples": 0}],
}
ABOUT = {
    "PyTorch": "2.13.0",
    "vkarray": "1.0",
    "commit": "abc",
    "device": "llvmpipe",
    "date": "2026-01-01",
    "samples": "4",
}


def test_summary_counts_entries():
    assert report.summary(RECORDS) == "4 entries checked, 3 pass (75.0 %), 1 crash, 2 pass without the CPU"
    assert report.counted(RECORDS) == (4, 3, 1, 1, 1, 1)


def test_page_has_a_row_for_each_entry():
    runs = [report.Run(ABOUT, RECORDS), report.Run(ABOUT | {"PyTorch": "2.11.0", "samples": "1000"}, RECORDS)]
    page = report.markdown(runs, TABLE)
    assert "with the first 4 samples of each" in page
    assert "with all samples of each" in report.markdown(runs[1:], TABLE)
    for version, samples in (("2.13.0", "the first 4 samples"), ("2.11.0", "all samples")):
        assert f"| {version} | 4 | 3 | 1 | 1 | 1 | 1 | 2026-01-01, {samples}, vkarray 1.0 (abc), llvmpipe |" in page
    assert "| Elementwise | `add` | 1 of 1 |" in page
    assert "| `add` | native | float32 | float32 |  |" in page
    assert "| `elu` | decomposed | float32 | - |  |" in page
    assert "| `svd` | CPU: `_linalg_svd.U`, `mm` | float32 | - |  |" in page
    assert "| `bad` | CPU" not in page
    assert "| `bad` | native | - | - | float32 forward, bool forward |" in page
    assert "`none`" not in page
    assert "`addmm`" in page


def test_entries_know_whether_they_are_decomposed():
    pytest.importorskip("expecttest", reason="PyTorch's database of operators imports expecttest")
    known = {torch_checks.title(entry): entry for entry in torch_checks.entries()}
    for name, decomposed in (("nn.functional.glu", True), ("exp", False), ("nn.functional.linear", False)):
        assert torch_checks.check(known[name], "float32", "forward", 1)["decomposed"] == decomposed


FURTHER = {
    "Linear algebra": (
        "linalg.lu linalg.lu_factor linalg.lu_solve lu_unpack linalg.solve linalg.inv linalg.det linalg.slogdet linalg.qr cholesky "
        "linalg.cholesky cholesky_solve cholesky_inverse linalg.solve_triangular triangular_solve linalg.svd linalg.svdvals "
        "linalg.eigh linalg.eig linalg.eigvals linalg.pinv linalg.matrix_rank linalg.householder_product ormqr matrix_exp "
        "linalg.lstsq"
    ),
    "Special functions": "lgamma digamma polygamma.polygamma_n_1 i0 special.i1e special.erfcx special.ndtri special.zeta",
    "Counting": "bincount histc histogram unique unique_consecutive mode searchsorted bucketize isin",
    "Distances": "cdist nn.functional.pdist renorm",
    "Bags": "nn.functional.embedding_bag",
    "Further losses": "nn.functional.multi_margin_loss nn.functional.multilabel_margin_loss nn.functional.ctc_loss",
    "Running": "cummax cummin logcumsumexp",
}


@needs_int64
@pytest.mark.parametrize("chapter", [*layers.LAYERS, *FURTHER])
def test_operators_do_without_the_cpu(chapter):
    """The first sample of each entry in strict mode; docs/torch-ops.md records all samples."""
    pytest.importorskip("expecttest", reason="PyTorch's database of operators imports expecttest")
    known = {torch_checks.title(entry): entry for entry in torch_checks.entries()}
    checked = 0
    for entry in (known[name] for name in {**layers.LAYERS, **FURTHER}[chapter].split() if name in known):
        *_, (dtype, direction) = torch_checks.cases(entry, ["float32", "int64"])  # backward, where there is one
        made = torch_checks.check(entry, dtype, direction, samples=1, strict=True)
        assert made["status"] in ("pass", "skip"), (entry.name, made)
        checked += made["samples"]
    assert checked


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
    assert {one["dtype"] for one in json.loads(file.read_text())["entries"]["neg"]} == {
        "float32",
        "float16",
        "int64",
        "complex64",
    }
