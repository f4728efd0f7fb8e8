"""A while of random chains of operations, compared with NumPy; `python tests/fuzz library` goes on for as long as you like."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FUZZ = Path(__file__).parent / "fuzz"


def test_random_chains_of_operations_agree_with_numpy():
    command = [sys.executable, str(FUZZ), "library", "--seconds", "30", "--chains", "60", "--failures", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "0 differences" in done.stdout
