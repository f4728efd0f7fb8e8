"""`--profile` of commands."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

import vkarray as vx
from vkarray.command import profiled
from vkarray.errors import VkArrayError


def test_the_argument_profiles_a_block(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    profiled.add_argument(parser)
    for given in ([], ["--profile", str(tmp_path / "trace.json")]):
        with profiled.profiled(parser.parse_args(given).profile):
            vx.ones(3) + 1
    printed = capsys.readouterr()
    assert not printed.out
    assert printed.err.startswith("operation ")
    assert "add" in printed.err
    assert json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["traceEvents"]


def test_a_path_that_cannot_be_written_is_an_error_of_the_command(tmp_path: Path) -> None:
    with (
        pytest.raises(
            VkArrayError, match=r"--profile=.*trace: the file cannot be written: No such file or directory\."
        ),
        profiled.profiled(tmp_path / "no" / "trace"),
    ):
        pytest.fail("the block ran")
