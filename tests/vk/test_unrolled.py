"""Loops that are written out for drivers which give memory to arrays before they unroll (vkarray/_vk/unrolled.py)."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vkarray as vx
from vkarray import configuration
from vkarray._vk import ready, unrolled
from vkarray.shaders.module import instructions

_LOOP_MERGE = 246
PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "an elementwise operation": lambda x: vx.exp(x) + x,
    "a sum": lambda x: vx.sum(x, axis=1),
    "the place of the largest": lambda x: vx.argmax(x, axis=0),
    "a product": lambda x: x @ x.T,
    "a scan": lambda x: vx.cumulative_sum(x, axis=1),
    "a sort": lambda x: vx.sort(x, axis=1),
    "a transform": lambda x: vx.real(vx.fft.fft(x, axis=1)),
    "a program": vx.compile(lambda x: (x - vx.mean(x, axis=1, keepdims=True)) / vx.std(x, axis=1, keepdims=True)),
}


def loops(words: tuple[int, ...]) -> int:
    """How many loops a module has."""
    return sum(opcode == _LOOP_MERGE for opcode, _ in instructions(words, "a test"))


def complaint(words: tuple[int, ...], folder: Path) -> str:
    """What the validator says of a module; nothing where it is valid, or there is no validator."""
    if not shutil.which("spirv-val"):
        return ""
    path = folder / "kernel.spv"
    path.write_bytes(struct.pack(f"<{len(words)}I", *words))
    command = ["spirv-val", "--scalar-block-layout", "--target-env", "vulkan1.2", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode else ""


@pytest.mark.parametrize("name", PROGRAMS)
def test_written_out_loops_give_the_same_bits(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    x = np.random.default_rng(3).standard_normal((24, 100)).astype(np.float32)
    made: list[tuple[tuple[int, ...], tuple[int, ...]]] = []

    def noted(words: tuple[int, ...], *rest: Any) -> tuple[int, ...]:
        made.append((words, unrolled_module(words, *rest)))
        return made[-1][1]

    unrolled_module = unrolled.unrolled
    results = []
    for written_out in (False, True):
        if not written_out:  # the same kernels as the driver takes them
            monkeypatch.setattr(unrolled, "unrolled", lambda words, *rest: words)
        else:
            monkeypatch.setattr(unrolled, "unrolled", noted)
        monkeypatch.setattr(ready.CACHE, "get", lambda key: None)
        monkeypatch.setattr(ready.CACHE, "put", lambda key, content: None)
        with configuration.config(profile=("v3d",)):
            given = vx.asarray(x)
            results.append(np.asarray(PROGRAMS[name](given)))
            given.device.close()
    assert results[0].tobytes() == results[1].tobytes()
    assert sum(loops(before) for before, _ in made) > sum(loops(after) for _, after in made), "no loop was written out"
    for _, after in made:
        assert not complaint(after, tmp_path)
