"""A while of random chains of operations, compared with NumPy, and of random programs, compared with what is compiled of them.

`python tests/fuzz library` goes on for as long as you like.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).parent / "fuzz"


KINDS = [("library", "60"), ("programs", "40"), ("files", "8"), ("onnx", "12"), ("onnx-cases", "60")]


@pytest.mark.parametrize(("kind", "chains"), KINDS)
def test_random_chains(kind, chains):
    """Operations agree with NumPy, programs with what is compiled, models with ONNX's reference; damage is refused."""
    if kind.startswith("onnx"):
        pytest.importorskip("onnx", reason="the package onnx is an extra")
    command = [sys.executable, str(FUZZ), kind, "--seconds", "30", "--chains", chains, "--failures", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "0 differences" in done.stdout
