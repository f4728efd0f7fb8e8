"""`vkarray run`, `show` and `benchmark`: programs from files, with inputs in the notation of IREE."""

from __future__ import annotations

import importlib.util
import io
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import vkarray as vx
from vkarray.__main__ import main
from vkarray.command import peer
from vkarray.programs import notation

X = [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    w = vx.asarray(np.arange(12, dtype=np.float32).reshape(4, 3))

    def classify(x, factor):
        return {"scores": vx.maximum(x @ w * factor, 0), "best": vx.argmax(x @ w, axis=1) + 1}

    found = tmp_path_factory.mktemp("command") / "model.vkp"
    program = vx.Program(classify, (vx.ones((2, 4)), 0.5), dynamic={"x": {0: vx.Dim("batch", max=8)}}, name="classify")
    program.save(found, targets=("any",))
    return str(found)


def test_results_are_printed(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", path, "--input=2x4xf32=1 2 3 4 5 6 7 8", "--input=0.5"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "scores: 2x3xf32=[30.0 35.0 40.0][66.0 79.0 92.0]"
    assert printed[1].startswith("best: 2xi")
    assert printed[1].endswith("=3 3")


@pytest.mark.parametrize("device", ["0", "vulkan://0", "uuid", "vulkan://uuid", "name", "vulkan://name"])
def test_devices_are_named(path: str, device: str, capsys: pytest.CaptureFixture[str]) -> None:
    own = vx.ones(1).device
    device = device.replace("0", str(own.index)).replace("uuid", own.uuid).replace("name", own.name[:5])
    assert main(["run", path, f"--device={device}", "--input=1x4xf32=0", "--input=1"]) == 0
    assert capsys.readouterr().out.startswith("scores: 1x3xf32=[0.0 0.0 0.0]\n")
    assert main(["show", path, f"--device={device}"]) == 0
    assert f"on {own.name}, for batch of 1:" in capsys.readouterr().out


def test_files_are_read_written_and_appended_to(path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "x.npy", np.asarray(X, np.float32))
    (tmp_path / "x.bin").write_bytes(np.asarray(X, np.float32).tobytes())
    for given in (f"@{tmp_path}/x.npy", f"2x4xf32=@{tmp_path}/x.bin"):
        assert main(["run", path, f"--input={given}", "--input=0.5", f"--output=+{tmp_path}/scores.npy"]) == 0
    assert capsys.readouterr().out.count("best: ") == 2
    with open(tmp_path / "scores.npy", "rb") as file:
        for _ in range(2):
            assert np.load(file).tolist() == [[30, 35, 40], [66, 79, 92]]
    assert main(["run", path, f"--input=@{tmp_path}/x.npy", "--input=0", f"--output=@{tmp_path}/scores.npy"]) == 0
    assert np.load(tmp_path / "scores.npy").tolist() == [[0, 0, 0], [0, 0, 0]]


WRONG = {
    "count": (["--input=2x4xf32=0"], "1 times --input; expected 2, in this order: --input=batchx4xf32=..., or @file.npy"),
    "shape": (
        ["--input=2x5xf32=0", "--input=1"], "--input=2x5xf32=0: got (2, 5) float32. x takes batchx4xf32=..., or @file.npy",
    ),
    "bound": (["--input=9x4xf32=0", "--input=1"], "dimension 0 of x has length 9; expected batch from 1 to 8."),
    "type": (["--input=2x4xf16=0", "--input=1"], "--input=2x4xf16=0: got (2, 4) float16. x takes"),
    "unknown type": (["--input=2x4xf33=0", "--input=1"], "--input=2x4xf33=0: 'f33' is no type of elements; these are i1, i8"),
    "values": (["--input=2x4xf32=1 2 3", "--input=1"], "3 values for 8 elements"),
    "no number": (["--input=2x4xf32=a", "--input=1"], "could not convert string to float: 'a'"),
    "number": (["--input=2x4xf32=0", "--input=a"], "factor takes a number of type float."),
    "no file": (["--input=@/nowhere.npy", "--input=1"], "--input=@/nowhere.npy: /nowhere.npy cannot be read: No such file"),
    "an empty file": (["--input=@EMPTY", "--input=1"], "it is no .npy file. x takes"),
    "another file": (["--input=@PROGRAM", "--input=1"], "it is no .npy file. x takes"),
    "a folder": (["--input=@FOLDER", "--input=1"], "cannot be read: Is a directory. x takes"),
    "elements of no file": (["--input=2x4xf32=@/nowhere.bin", "--input=1"], "/nowhere.bin cannot be read: No such file"),
    "elements of a short file": (["--input=2x4xf32=@EMPTY", "--input=1"], "has 0 bytes, which are not 8 of float32. x takes"),
    "no values": (["--input=2x4xf32=", "--input=1"], "--input=2x4xf32=: 0 values for 8 elements. x takes"),
    "huge": (["--input=99999999999999x4xf32=0 0", "--input=1"], "2 values for 399999999999996 elements. x takes"),
    "array for a number": (["--input=2x4xf32=0", "--input=2xf32=1"], "--input=2xf32=1: got (2,) float32. factor takes"),
    "truth": (["--input=2x4xf32=0", "--input=i1=2"], "--input=i1=2: '2' is no truth: give 1, 0, true or false. factor takes"),
    "no notation": (["--input=4 by 2", "--input=1"], "--input=4 by 2: it is no array in this notation. x takes"),
    "no folder for the output": (
        ["--input=2x4xf32=0", "--input=1", "--output=@/nowhere/y.npy"], "--output=@/nowhere/y.npy: the file cannot be written: No",
    ),
    "outputs": (
        ["--input=2x4xf32=0", "--input=1", *["--output=@EMPTY"] * 4], "4 times --output; expected at most ",
    ),
    "output": (["--input=2x4xf32=0", "--input=1", "--output=scores.npy"], "expected @file.npy, +file.npy to append"),
    "device": (["--device=vulkan://77"], "--device=vulkan://77: no Vulkan device matches 'vulkan://77'. The devices are 0: "),
    "empty device": (["--device="], "Name one by index, part of its name, UUID, or one of these as vulkan://0"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_errors_name_the_argument(name: str, path: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, told = WRONG[name]
    (Path(path).parent / "empty").touch()
    places = {"EMPTY": Path(path).parent / "empty", "PROGRAM": path, "FOLDER": Path(path).parent}
    for word, place in places.items():
        arguments = [one.replace(word, str(place)) for one in arguments]
    assert main(["run", path, *arguments]) in (1, 2)
    assert told in capsys.readouterr().err


def test_other_files_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other").write_bytes(b"PK\x03\x04 something else")
    for command in ("run", "show", "benchmark"):
        assert main([command, str(tmp_path / "other")]) in (1, 2)
        assert "this is no file of a program" in capsys.readouterr().err
        assert main([command, str(tmp_path / "missing")]) == 2
        assert "missing: the file cannot be read: No such file" in capsys.readouterr().err
        assert main([command, str(tmp_path / "model.onnx")]) == 2
        assert "this is an ONNX model. Make a program of it: vkarray compile" in capsys.readouterr().err


def test_what_is_read_is_not_written_to(path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = Path(path).read_bytes()
    (tmp_path / "link.vkp").symlink_to(path)
    (tmp_path / "model.onnx").write_bytes(b"a model")
    inputs = ["--input=1x4xf32=0", "--input=1"]
    for command in (
        ["show", path, f"--svg={path}"], ["show", path, f"--svg={tmp_path}/link.vkp"],
        ["run", path, *inputs, f"--output=@{path}"], ["run", path, *inputs, f"--output=+{path}"],
    ):  # fmt: skip
        assert main(command) == 2
        assert "this is the file that is read, which would be lost. Give another name" in capsys.readouterr().err
        assert Path(path).read_bytes() == before


def test_traces_and_results_are_written_to_several_files(
    path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = Path(path).read_bytes()
    np.save(tmp_path / "x.npy", np.zeros((1, 4), np.float32))
    inputs = [f"--input=@{tmp_path}/x.npy", "--input=1"]
    for trace in (path, tmp_path / "x.npy"):
        kept = Path(trace).read_bytes()
        assert main(["run", path, *inputs, f"--profile={trace}"]) == 2
        assert f"--profile={trace}: this is the file that is read" in capsys.readouterr().err
        assert Path(trace).read_bytes() == kept
    result = tmp_path / "y.npy"
    two = tmp_path / "two.vkp"
    vx.Program(lambda x: (x + 1, x * 2), (vx.ones((1, 4)),)).save(two)
    for program, given, options in (
        (path, inputs, [f"--output=@{result}", f"--profile={result}"]), (two, inputs[:1], [f"--output=@{result}"] * 2),
    ):  # fmt: skip
        assert main(["run", str(program), *given, *options]) == 2
        assert "this file is written already" in capsys.readouterr().err
        assert not result.exists()
    assert Path(path).read_bytes() == before
    assert main(["compile", path]) == 2
    assert "this is a program already, which `vkarray run` runs" in capsys.readouterr().err


BAD_OPTIONS = {
    "bench --only elementwise --output FOLDER/none/x.json": "there is no folder",
    "bench --output FOLDER": "it is a folder",
    "accuracy exp --json FOLDER/none/x.json": "there is no folder", "accuracy exp --samples -3": "is no count",
    "accuracy exp --samples 0": "is no count", "bench --size 0": "is no count", "benchmark p.vkp --calls x": "is no count",
}  # fmt: skip


@pytest.mark.parametrize("line", BAD_OPTIONS)
def test_options_are_checked_before_any_work(line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(line.replace("FOLDER", str(tmp_path)).split())
    assert BAD_OPTIONS[line] in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux alone has a file that is always full")
@pytest.mark.parametrize("command", ["show", "run"])
def test_a_full_disk_is_told(command: str, path: str) -> None:
    inputs = ["--input=1x4xf32=0", "--input=1"] if command == "run" else []
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "vkarray", command, path, *inputs], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 1
    assert done.stderr == f"vkarray {command}: No space left on device.\n"


@pytest.mark.skipif(os.name != "posix", reason="a pipe has a path on POSIX systems alone")
def test_an_array_comes_through_a_pipe(path: str) -> None:
    held = io.BytesIO()
    np.save(held, np.asarray(X, np.float32))
    done = subprocess.run(
        [sys.executable, "-m", "vkarray", "run", path, "--input=@/dev/stdin", "--input=0.5"],
        input=held.getvalue(), capture_output=True,
    )  # fmt: skip
    assert done.stdout.startswith(b"scores: 2x3xf32=[30.0 35.0 40.0]"), done.stderr


def test_show_tells_what_is_in_a_file(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", path]) == 0
    printed = capsys.readouterr().out
    for told in ("classify, by vkarray", "x: (batch, 4) float32", "batch from 1 to 8", "weights: 1 array, ", "array.__matmul__",
                 "any: ", "dispatches;"):  # fmt: skip
        assert told in printed
    assert main(["show", path, "--calls"]) == 0
    assert "test_program_command.py:" in capsys.readouterr().out


def test_benchmark_measures(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["benchmark", path, "--input=2x4xf32=0", "--input=1", "--calls=3"]) == 0
    printed = capsys.readouterr().out
    rows = ("first call", "processor", "median", "p99", "throughput", "weights", "memory", "kernel ")
    assert all(any(line.startswith(row) for line in printed.splitlines()) for row in rows)
    assert "weights    48 bytes" in printed
    kernels = printed.split("each kernel alone:\n")[1].splitlines()[1:]
    if "timestamps" not in vx.asarray(0).device.features:
        assert "%" not in printed
        assert kernels[-1].endswith("takes no timestamps: its times are not known.")
        return
    assert sum(float(line.split("%")[0].rsplit(maxsplit=1)[1]) for line in kernels) == pytest.approx(
        100, abs=0.1 * len(kernels)
    )


class Session:
    """Stands for a session of ONNX Runtime on the model above, whose results are a little off, in another order."""

    def __init__(self, path: str, providers: list[str]) -> None:
        assert Path(path).read_bytes() == b"a model"
        assert providers == ["CPUExecutionProvider"]

    def get_providers(self) -> list[str]:
        return ["CPUExecutionProvider"]

    def get_inputs(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(name="input.1"), SimpleNamespace(name="input.2")]

    def get_outputs(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(name="best"), SimpleNamespace(name="scores")]

    def run(self, names: list[str], feed: dict[str, np.ndarray]) -> list[np.ndarray]:
        x, factor = feed["input.1"], feed["input.2"]
        scores = x @ np.arange(12, dtype=np.float32).reshape(4, 3)
        found = {"best": np.argmax(scores, axis=1), "scores": np.maximum(scores * factor, 0).astype(np.float32) + 0.5}
        return [found[name] for name in names]


def test_benchmark_compares_with_a_peer(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other.onnx").write_bytes(b"a model")
    given = ["benchmark", path, "--input=2x4xf32=1", "--input=1", "--calls=2"]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert main([*given, f"--peer={tmp_path}/other.onnx"]) == 1
    assert "--peer: ONNX Runtime is not installed. Install it: pip install onnxruntime" in capsys.readouterr().err
    assert main([*given, "--peer"]) == 1
    assert f"--peer: there is no file {path[:-4]}.onnx." in capsys.readouterr().err
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    runtime = SimpleNamespace(
        get_available_providers=lambda: ["AzureExecutionProvider", "CPUExecutionProvider"],
        __version__="1.0", InferenceSession=Session,
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "onnxruntime", runtime)
    assert main([*given, f"--peer={tmp_path}/other.onnx"]) == 0
    printed = capsys.readouterr().out.split("ONNX Runtime 1.0 (CPUExecutionProvider), on ")[1]
    assert "times the median of vkarray" in printed
    assert "scores     at most 0.5 apart, of values up to 26\n" in printed
    assert "best       2 of 2 elements differ\n" in printed


@pytest.mark.parametrize(
    ("ours", "theirs", "told"),
    [
        ([1.0, np.nan, np.inf], [1.0, np.nan, np.inf], "0 of 3 elements differ"),
        ([1.0, np.nan], [1.5, np.nan], "at most 0.5 apart, of values up to 1.5"),
        ([1.0, np.inf], [1.0, 2.0], "at most inf apart, of values up to 2"),
        ([1, 2], [1, 3], "1 of 2 elements differ"),
        ([1.0], [[1.0]], "has the shape (1,), and that of the peer (1, 1)"),
        ([], [], "0 of 0 elements differ"),
    ],
)  # fmt: skip
def test_results_are_compared(ours: list[float], theirs: list[float], told: str) -> None:
    assert peer.difference(np.asarray(ours), np.asarray(theirs)) == told


def test_run_writes_a_trace(path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", path, "--input=2x4xf32=0", "--input=1", f"--profile={tmp_path}/trace.json"]) == 0
    assert (tmp_path / "trace.json").stat().st_size
    operations, kernels = capsys.readouterr().err.split("\n\n")
    assert operations.splitlines()[1].startswith("Program(classify)")
    assert kernels.startswith("kernel ")
    assert "argmax" in kernels


@pytest.mark.parametrize("values", [1, [1], [[1, 0], [1, 1]]])
@pytest.mark.parametrize("dtype", notation.TYPES.values())
def test_every_type_has_a_text(dtype: str, values: Any) -> None:
    device = vx.ones(1).device
    try:
        x = vx.asarray(values).astype(dtype)
    except vx.FeatureError as error:
        pytest.skip(f"the device lacks the type: {error}")
    program = vx.Program(lambda x: x, (x,))
    again = notation.read(notation.told_values(x), program.inputs[0], device)
    assert again.dtype is x.dtype
    assert again.shape == x.shape
    assert vx.all(again == x)
    head = notation.told_values(x).partition("=")[0]
    assert vx.all(notation.read(f"{head}=1", program.inputs[0], device) == vx.ones_like(x))
