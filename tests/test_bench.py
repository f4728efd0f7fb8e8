"""`vkarray bench` on small sizes: it checks, measures and reports. How fast anything is, is no matter of a test."""

from __future__ import annotations

import json

import numpy as np
import pytest

from vkarray.__main__ import main
from vkarray.command import bench, libraries

SMALL = ["--size", "4096", "--matrix", "64", "--rounds", "2"]


def test_report(tmp_path, capsys) -> None:
    output = tmp_path / "report.json"
    assert main(["bench", *SMALL, "--output", str(output)]) == 0
    report = json.loads(output.read_text(encoding="utf-8"))
    for work in bench.WORKS:
        mine = [
            result for result in report["results"] if result["work"] == work.name and result["library"] == "vkarray"
        ]
        assert len(mine) == 1
        assert mine[0]["host"] > 0
        assert mine[0]["host_seconds"] > 0
    assert {"vkarray", "NumPy"} <= {result["library"] for result in report["results"]}
    printed = capsys.readouterr().out
    assert all(f"\n{work.name}: " in printed for work in bench.WORKS)


def test_only(tmp_path, capsys) -> None:
    output = tmp_path / "report.json"
    assert main(["bench", *SMALL, "--only", "sum,add", "--output", str(output)]) == 0
    report = json.loads(output.read_text(encoding="utf-8"))
    assert [result["work"] for result in report["results"] if result["library"] == "vkarray"] == ["add", "sum"]
    assert main(["bench", "--only", "sum,product", "--output", str(output)]) == 2
    assert "unknown work product; there are add, exp, sum" in capsys.readouterr().out


def test_a_wrong_result_is_not_timed(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(libraries.Vkarray, "host", lambda self, x: np.asarray(x) * 1.01)
    output = tmp_path / "report.json"
    assert main(["bench", *SMALL, "--only", "matmul,exp", "--output", str(output)]) == 1
    assert "exp: the result of vkarray is wrong; not timed" in capsys.readouterr().out
    timed = {result["library"] for result in json.loads(output.read_text(encoding="utf-8"))["results"]}
    assert "NumPy" in timed
    assert "vkarray" not in timed


@pytest.mark.parametrize("count", ["0", "-3"])
def test_sizes_are_positive(count, capsys) -> None:
    with pytest.raises(SystemExit):
        main(["bench", "--size", count])
    assert f"expected a whole number above 0, got {count}" in capsys.readouterr().err
