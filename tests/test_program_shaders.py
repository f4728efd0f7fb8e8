"""The shaders of programs: saved for targets, they run in processes without a compiler, and give the same bits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from test_program import values

import vkarray as vx
from vkarray import configuration

# Loads a program and runs it on what a file holds, for three lengths.
RUN = """
import sys
import numpy as np
import vkarray as vx
from vkarray.shaders import compiler
assert compiler.executable() is None
given = np.load(sys.argv[2])
program = vx.load_program(sys.argv[1])
for length in (1, 5, 64):
    results = program(vx.asarray(given["x"][:length]), vx.asarray(given["w"]))
    for place, one in enumerate(results):
        assert np.asarray(one).tobytes() == given[f"{length} {place}"].tobytes(), (length, place)
print(vx.cache_stats()["spirv"]["compiles"])
"""
# The profiles of a process, and the target whose shaders are enough there.
RUNS = (
    ("", "any"),
    ("gpu", "any"),
    ("phone", "any"),
    ("phone", "phone"),
    ("v3d", "any"),
    ("v3d,gpu", "any"),
    ("no-float64,gpu", "float16"),
)


def several(x, w):
    return vx.maximum(x @ w + 1, 0), vx.sum(vx.exp(x), axis=1), vx.sort(x, axis=0), x[:, ::-1] * 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    x, w = values((64, 4)), values((4, 3), 1)
    program = vx.Program(several, (x[:5], w), dynamic={"x": {0: vx.Dim("batch", max=64)}})
    for target in ("any", "phone", "float16"):
        program.save(folder / f"{target}.vkp", targets=(target,))
    results = {f"{n} {place}": np.asarray(one) for n in (1, 5, 64) for place, one in enumerate(several(x[:n], w))}
    np.savez(folder / "given.npz", x=np.asarray(x), w=np.asarray(w), **results)
    return folder


@pytest.mark.parametrize(("profiles", "target"), RUNS)
def test_program_runs_without_a_compiler(folder: Path, tmp_path: Path, profiles: str, target: str) -> None:
    if configuration.current().profile:
        pytest.skip("the process has a profile already, and this sets others")
    environment = {
        **os.environ, "PATH": str(tmp_path), "VKARRAY_CACHE": str(tmp_path / "cache"), "VKARRAY_PROFILE": profiles
    }  # fmt: skip
    command = [sys.executable, "-c", RUN, str(folder / f"{target}.vkp"), str(folder / "given.npz")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "0\n"


def test_unknown_target_is_refused(tmp_path: Path) -> None:
    program = vx.Program(lambda x: x + 1, (values(3),))
    with pytest.raises(ValueError, match=r"unknown target 'watch'. Targets are any, float16, phone\."):
        program.save(tmp_path / "model.vkp", targets=("watch",))


def test_target_without_a_type_is_refused(tmp_path: Path) -> None:
    x = vx.ones(3, dtype="int64")
    program = vx.Program(lambda x: x + 1, (x,))
    with pytest.raises(vx.FeatureError, match="devices of the target 'phone' cannot run it"):
        program.save(tmp_path / "model.vkp", targets=("phone",))
    program.save(tmp_path / "model.vkp", targets=("any",))
