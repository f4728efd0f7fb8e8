"""A while of random chains of operations, compared with NumPy, and of random programs, compared with what is compiled of them.

`python tests/fuzz library` goes on for as long as you like.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).parent / "fuzz"


_OF_WIDE_TYPES = pytest.mark.needs("int64", "float64")  # which the models have
KINDS = [
    ("library", "60"), ("programs", "40"), ("files", "8"),
    pytest.param("onnx", "12", marks=_OF_WIDE_TYPES), pytest.param("onnx-cases", "60", marks=_OF_WIDE_TYPES),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "chains"), KINDS)
def test_random_chains(kind, chains):
    """Operations agree with NumPy, programs with what is compiled, models with ONNX's reference; damage is refused."""
    if kind.startswith("onnx"):
        pytest.importorskip("onnx", reason="the package onnx is an extra")
    run(kind, "--seconds", "30", "--chains", chains)


def run(*arguments):
    """Chains without a difference."""
    command = [sys.executable, str(FUZZ), *arguments, "--failures", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "0 differences" in done.stdout


@pytest.mark.parametrize(("kind", "chains"), [("library", "20"), ("programs", "10")])
def test_random_chains_of_texels(kind, chains):
    """As with arrays that are large enough to be read as texels on CPU drivers, and matrices to be copied into packs."""
    run(kind, "--small-as-large", "--seed", "500", "--seconds", "20", "--chains", chains)


def test_siblings_of_programs_differ_and_run():
    """The programs of a seed are compared with each other's kernels there, but are not the same program again."""
    command = [sys.executable, "-c", _SIBLINGS]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=FUZZ)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


_SIBLINGS = """
import os
os.environ["VKARRAY_DEFAULT_FLOAT"] = "float64"
import programs
first = programs.Program(832003)
others = [first.sibling(seed) for seed in range(8)]
assert all(one.instructions is first.instructions for one in others)
assert len({tuple(one.shape for one in other.arguments) for other in others}) > 1
assert [one.dtype for one in others[0].arguments] == [one.dtype for one in first.arguments]
assert first.runs() and any(one.runs() for one in others)
again = first.returning_others(programs.Choices(1))
assert again.wanted != first.wanted and programs.differing(again, again) == ""
assert programs.differing(again, first).startswith("call 0"), "a difference is not found"
"""
