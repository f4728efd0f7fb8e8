"""The demo: it succeeds, leaves a picture that shows what it should, and notices wrong results."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits

import vkarray as vx
from demo import __main__ as demo
from demo.report import largest_difference

QUICK = ["--colours", "4", "--steps", "3", "--passes", "8"]


def library_like_numpy(**replaced: object) -> ModuleType:
    module = ModuleType("replaced")
    module.__dict__.update(vars(np) | replaced)
    return module


def run(library: str, output: Path, *arguments: str) -> int:
    return demo.main(["--library", library, "--output", str(output), *QUICK, *arguments])


def test_demo_succeeds_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "folder" / "picture.png"
    assert run("vkarray", output) == 0
    text = capsys.readouterr().out
    assert text.count("  ok\n") == 5
    assert "WRONG" not in text
    assert "k-means, step 3 of 3" in text
    reader = vx.load_program(output.parent / "digits.vkp")
    images, labels = load_digits(return_X_y=True)
    assert np.mean(np.asarray(reader(vx.asarray(images, dtype=vx.float32))) == labels) > 0.95
    picture = np.asarray(Image.open(output))
    photograph, painted = picture[16:443, 16:656], picture[16:443, 672:1312]
    assert len(np.unique(photograph.reshape(-1, 3), axis=0)) > 10_000
    assert len(np.unique(painted.reshape(-1, 3), axis=0)) == 4
    assert np.mean(np.abs(photograph.astype(int) - painted)) < 30


@pytest.mark.parametrize(
    ("replaced", "stage"),
    [
        ({"tanh": lambda x: np.tanh(x) * np.float32(0.99)}, "training"),
        ({"argmin": lambda x, axis: np.argmin(x[::-1], axis=axis)}, "painting"),
        ({"where": lambda _condition, _moved, stays: stays}, "clustering"),
    ],
)
def test_demo_fails_on_wrong_results(
    replaced: dict[str, object],
    stage: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "replaced", library_like_numpy(**replaced))
    assert run("replaced", tmp_path / "picture.png") == 1
    wrong = [line for line in capsys.readouterr().out.splitlines() if line.endswith("WRONG")]
    assert any(line.startswith(stage) for line in wrong)


def test_demo_fails_when_too_few_digits_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("numpy", tmp_path / "picture.png", "--passes", "0") == 1
    assert "WRONG" not in capsys.readouterr().out


def test_difference_is_infinite_for_other_shapes_and_types() -> None:
    ones = np.ones(3, dtype=np.float32)
    assert largest_difference(ones, ones * 3) == 2
    assert largest_difference(ones, np.ones(4, dtype=np.float32)) == np.inf
    assert largest_difference(ones, np.ones(3)) == np.inf
    assert not largest_difference(ones * np.nan, ones) <= 1
