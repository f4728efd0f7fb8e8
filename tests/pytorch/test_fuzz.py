"""A while of random chains of operations, compared with the CPU; `python tests/fuzz bridge` goes on for as long as you like."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FUZZ = Path(__file__).parents[1] / "fuzz"


def differences(*arguments: str, kind: str = "bridge") -> str:
    """What a run says, if there are differences."""
    command = [sys.executable, str(FUZZ), kind, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 and " 0 differences" in done.stdout else done.stdout[-6000:] + done.stderr[-2000:]


def test_random_chains_of_operations_agree_with_the_cpu():
    assert not differences("--seconds", "30", "--chains", "30", "--failures", "3")


def test_random_networks_agree_with_the_cpu():
    assert not differences("--seconds", "30", "--chains", "25", "--failures", "3", kind="modules")


def test_gradients_that_the_cpu_rounds_away_are_no_differences():
    """Of rows of two elements, layer_norm's gradients cancel out; on the CPU with bfloat16 little is left of them."""
    assert not differences("--seed", "117", "--chains", "1")
