"""Programs of several kinds of models, run where neither a framework nor a compiler is: the same bits as where they were made."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vkarray as vx
from vkarray import configuration

# Loads each program of a folder and runs it on what a file beside it holds.
ALONE = """
import sys
for name in ("torch", "onnx", "onnxruntime", "ml_dtypes", "safetensors", "google.protobuf"):
    sys.modules[name] = None  # importing it raises ImportError
from pathlib import Path
import numpy as np
import vkarray as vx
from vkarray.shaders import compiler
assert compiler.executable() is None
paths = sorted(Path(sys.argv[1]).glob("*.vkp"))
for path in paths:
    given = np.load(path.with_suffix(".npz"))
    count = sum(name.startswith("in") for name in given)
    results = vx.load_program(path)(*(vx.asarray(given[f"in{place}"]) for place in range(count)))
    results = results if isinstance(results, (tuple, list)) else (results,)
    for place, one in enumerate(results):
        assert np.asarray(one).tobytes() == given[f"out{place}"].tobytes(), (path.name, place)
print(len(paths), vx.cache_stats()["spirv"]["compiles"])
"""


def numbers(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape, np.float32)


def of_functions() -> Iterator[tuple[str, Any, list[Any]]]:
    """Compiled functions."""
    functions: dict[str, tuple[Callable[..., Any], list[Any]]] = {
        "sorted": (lambda x: (vx.sort(x, axis=0), vx.argmax(x, axis=1)), [numbers(6, 5)]),
        "solved": (lambda a, b: vx.linalg.solve(a @ a.T + vx.eye(4), b), [numbers(4, 4), numbers(4, 2)]),
        "transformed": (lambda x: vx.abs(vx.fft.rfft(x, axis=-1)), [numbers(3, 16)]),
        "chosen": (lambda x, i: vx.take(x, i, axis=0) * 2, [numbers(6, 5), np.asarray([4, 0, 2])]),
    }
    for name, (function, given) in functions.items():
        yield name, vx.Program(function, tuple(map(vx.asarray, given))), given


def of_onnx() -> Iterator[tuple[str, Any, list[Any]]]:
    """Models of ONNX."""
    onnx = pytest.importorskip("onnx", reason="the package onnx is an extra")
    from test_onnx import FLOAT, INT64, model, node, value

    import vkarray.onnx

    rows: dict[str, tuple[list[Any], dict[str, Any], dict[str, Any]]] = {
        "convolved": (
            [
                node("Conv", "x w", "c", pads=[1] * 4), node("Relu", "c", "r"), node("MaxPool", "r", "p", kernel_shape=[2, 2]),
                node("GlobalAveragePool", "p", "g"), node("Flatten", "g", "f"), node("Softmax", "f", "y"),
            ],
            {"x": numbers(1, 3, 8, 8)}, {"w": numbers(4, 3, 3, 3)},
        ),
        "attended": (
            [node("LayerNormalization", "x s b", "n", axis=-1), node("Attention", "n n n", "y", q_num_heads=2, kv_num_heads=2)],
            {"x": numbers(2, 5, 8)}, {"s": numbers(8), "b": numbers(8)},
        ),
        "recurrent": (
            [node("LSTM", "x w r", "a y", hidden_size=4)], {"x": numbers(3, 2, 5)}, {"w": numbers(1, 16, 5), "r": numbers(1, 16, 4)}
        ),
        "quantized": (
            [node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z", "d"), node("Gemm", "d w", "y")],
            {"x": numbers(3, 4)}, {"s": np.float32(0.02), "z": np.uint8(128), "w": numbers(4, 2)},
        ),
        "gathered": (
            [node("Gather", "w i", "g"), node("TopK", "g k", "y p", axis=-1)],
            {"i": np.asarray([3, 0, 3])}, {"w": numbers(5, 6), "k": np.asarray([2])},
        ),
    }  # fmt: skip
    for name, (nodes, inputs, constants) in rows.items():
        described = [
            value(one, INT64 if given.dtype == np.int64 else FLOAT, given.shape) for one, given in inputs.items()
        ]
        made = model(nodes, described, [value("y", onnx.TensorProto.FLOAT, None)], constants, 23)
        yield name, vkarray.onnx.load(made).program(**inputs), list(inputs.values())


@pytest.mark.parametrize("kind", [of_functions, of_onnx])
def test_programs_run_alone(kind: Callable[[], Iterator[tuple[str, Any, list[Any]]]], tmp_path: Path) -> None:
    if configuration.current().profile:
        pytest.skip("the process has a profile already, of which the file's shaders may not be")
    count = check_alone(kind(), tmp_path)
    assert count >= 4


def check_alone(made: Iterator[tuple[str, Any, list[Any]]], folder: Path) -> int:
    """Save programs and run them in a process that has neither a framework nor a compiler. How many there are."""
    count = 0
    for name, program, given in made:
        program.save(folder / f"{name}.vkp", targets=("any",))
        found = program(*map(vx.asarray, given))
        results = found if isinstance(found, (tuple, list)) else (found,)
        arrays = {f"in{place}": one for place, one in enumerate(given)}
        np.savez(
            folder / f"{name}.npz", **arrays, **{f"out{place}": np.asarray(one) for place, one in enumerate(results)}
        )
        count += 1
    environment = {**os.environ, "PATH": str(folder), "VKARRAY_CACHE": str(folder / "cache")}
    command = [sys.executable, "-c", ALONE, str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{count} 0\n"
    return count
