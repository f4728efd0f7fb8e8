"""`vkarray models`: rows of packages that are installed, what it says of failures, and its page."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import torch
from checks import needs_int64

from vkarray.__main__ import main
from vkarray.command.models import checks, report, rows


def _record(part="outputs", status="pass", fallbacks=()):
    return {
        "part": part,
        "status": status,
        "message": "why",
        "error": 3e-6,
        "fallbacks": dict(fallbacks),
        "seconds": 1.0,
    }


def _entry(name, *records, **more):
    return {"package": "timm", "name": name, "kind": f"timm.{name}", "inputs": "x float32 2", "unstable": "", "draws": False,
            "records": list(records), **more}  # fmt: skip


RUN = report.Run(
    {"versions": {"timm": "1.0"}, "left out": ["peft"], "PyTorch": "2.13.0", "vkarray": "1.0", "commit": "abc",
     "device": "llvmpipe", "date": "2026-01-01"},
    [
        _entry("good", _record(), _record("training"), _record("generate: beam"), draws=True),
        _entry("copied", _record(fallbacks={"sort.stable": 2, "mm.default": 1}), unstable="a reason"),
        _entry("bad", _record(status="crash"), _record("generate: beam", "fail")),
    ],
)  # fmt: skip


def test_summary_counts_models():
    assert report.summary(RUN) == "3 models checked, 2 pass (66.7 %), 1 crash, 1 pass without the CPU"


def test_page_has_a_row_for_each_model():
    page = report.markdown(RUN)
    assert "| good (draws) | `timm.good` | x float32 2 | 3e-06 | 3e-06 | beam |  |" in page
    assert "| copied | `timm.copied` | x float32 2 | 3e-06 | - |  | `mm` 1, `sort.stable` 2 |" in page
    assert "| bad | `timm.bad` | x float32 2 | **crash** | - | beam **fail** |  |" in page
    assert "not installed: peft" in page
    assert "- copied: a reason" in page
    assert "- bad, outputs: crash, `why`" in page


def test_files_of_records_make_one_page(tmp_path):
    """The newest records of each model that there still is, with the commits of all."""
    ours = [row.name for row in rows.of("timm")[:2]]
    runs = [
        report.Run(
            RUN.about, [_entry(ours[1], _record()), _entry(ours[0], _record(status="fail")), _entry("gone", _record())]
        ),
        report.Run(RUN.about | {"commit": "def"}, [_entry(ours[0], _record())]),
    ]
    files = [tmp_path / "first.json", tmp_path / "last.json"]
    for file, run in zip(files, runs, strict=True):
        file.write_text(json.dumps(run._asdict()))
    page = tmp_path / "page.md"
    assert main(["models", "--read", *map(str, files), "--write", str(page)]) == 0
    text = page.read_text()
    assert "2 models checked, 2 pass" in text
    assert "vkarray 1.0 (abc, def)" in text
    assert text.index(ours[0]) < text.index(ours[1])
    assert "gone" not in text


def test_rows_have_names_of_their_own():
    for package in rows.PACKAGES:
        names = [row.name for row in rows.of(package)]
        assert names
        assert len(set(names)) == len(names), package


def _wrong(change):
    """A row whose model computes something else on the device."""

    def run(linear, x):
        return change(linear(x)) if x.device.type == "vulkan" else linear(x)

    return rows.Row("wrong", "Linear", lambda: rows.Call(run, torch.nn.Linear(3, 2)), lambda: {"x": rows.numbers(4, 3)})


@pytest.mark.parametrize("part", ["outputs", "training"])
@pytest.mark.parametrize(
    "change",
    [
        lambda y: y * 1.01,
        lambda y: y + 0.01,
        lambda y: y[:1],
        lambda y: (y, y),
        lambda y: y * float("nan"),
        lambda y: 1 / 0,
    ],
)
def test_differences_are_found(part, change):
    assert checks.check(_wrong(lambda y: y), part)["status"] == "pass"
    assert checks.check(_wrong(change), part)["status"] == "fail"
    unstable = _wrong(change)._replace(unstable="to see whether the other comparison finds it too")
    assert checks.check(unstable, part)["status"] == "fail"


def test_nothing_to_compare_is_a_failure():
    assert "nothing to compare" in checks.check(_wrong(lambda y: y)._replace(
        make=lambda: rows.Call(lambda x: x * 0)), "outputs")["message"]  # fmt: skip


def test_random_numbers_are_the_same_on_both():
    def run(linear, x):
        return linear(x) + torch.rand(4, 2, device=x.device) + torch.randn_like(x)[:, :2] + x.new_empty(4, 2).uniform_()

    row = _wrong(None)._replace(make=lambda: rows.Call(run, torch.nn.Linear(3, 2)))
    assert checks.check(row, "training")["status"] == "fail"
    assert checks.check(row._replace(draws=True), "training")["status"] == "pass"


@needs_int64
def test_command_checks_models_in_another_process(tmp_path):
    pytest.importorskip("transformers")
    records, page = tmp_path / "records.json", tmp_path / "page.md"
    command = [
        sys.executable,
        "-m",
        "vkarray",
        "models",
        "--only",
        "qwen3",
        "--json",
        str(records),
        "--write",
        str(page),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 models checked, 1 pass (100.0 %), 0 crash, 1 pass without the CPU" in done.stdout
    assert "| Qwen3 | `transformers.Qwen3ForCausalLM` |" in page.read_text()
    found = json.loads(records.read_text())["entries"]
    assert [each["part"] for each in found[0]["records"]][:2] == ["outputs", "training"]
