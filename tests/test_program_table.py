"""Functions of arrays as programs: what is saved and loaded again gives the bits of the function, for every length in bounds."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_dynamic import FUNCTIONS, matrix
from test_program import loaded, same, values

import vkarray as vx
import vkarray.ops
from vkarray.command.bench.programs import PROGRAMS
from vkarray.nn import convolution, normalization, pooling, softmax
from vkarray.nn.attention import attention
from vkarray.nn.resample import interpolate
from vkarray.programs import names

BOUND = 64
# Programs of the benchmark that assign by a way of their own to functions of other libraries.
LEFT_OUT = ("heat",)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_loaded_program_has_the_bits_of_its_function(name: str, tmp_path: Path) -> None:
    function = FUNCTIONS[name]
    rows = vx.Dim("rows", min=1, max=BOUND)
    program = vx.Program(lambda x: function(x), (matrix(7),), dynamic={"x": {0: rows}})
    again = loaded(program, tmp_path, targets=())
    for length in (7, 1, BOUND - 1, BOUND):
        expected = function(matrix(length))
        for one in (program, again, again):
            same(one(matrix(length)), expected)
    for length in (0, BOUND + 1):
        with pytest.raises(
            ValueError, match=rf"dimension 0 of x has length {length}; expected rows from 1 to {BOUND}\."
        ):
            again(matrix(length))


@pytest.mark.parametrize("row", [one for one in PROGRAMS if one.name not in LEFT_OUT], ids=lambda one: one.name)
def test_programs_of_the_benchmark(row: Any, tmp_path: Path) -> None:
    given = tuple(vx.asarray(one.make()) for one in row.inputs(4096))
    program = vx.Program(lambda *arrays: row.function(vx, *arrays), given)
    same(loaded(program, tmp_path, targets=())(*given), row.function(vx, *given))


def network(x, weight, bias):
    y = convolution.convolution(x, weight, bias, padding=1)
    y = normalization.batch_norm(y, mean=bias, variance=bias * bias + 1)[0]
    y, _ = pooling.max_pool(vx.maximum(y, 0), 2)
    y = interpolate(y, 5, "linear") + normalization.group_norm(interpolate(y, 5), 2)[0]
    y = normalization.layer_norm(vx.reshape(y, (y.shape[0], 4, 25)), (25,))[0]
    return softmax.softmax(attention(y, y, y)[0], axis=-1), pooling.adaptive_avg_pool(x, 2)


def test_kernels_of_networks(tmp_path: Path) -> None:
    weight, bias = values((4, 3, 3, 3), 1), values(4, 2)
    batch = vx.Dim("batch", max=4)
    program = vx.Program(network, (values((2, 3, 8, 8)), weight, bias), dynamic={"x": {0: batch}})
    again = loaded(program, tmp_path, targets=())
    for length in (1, 2, 4):
        x = values((length, 3, 8, 8), length)
        same(again(x, weight, bias), network(x, weight, bias))


LARGEST = vx.iinfo(vx.asarray(0).dtype).max
ARGUMENTS = {
    "nan": lambda x: vx.where(x > 0, x, float("nan")),
    "infinities": lambda x: vx.clip(x, float("-inf"), float("inf")),
    "negative zero": lambda x: x * -0.0,
    "complex": lambda x: x * (1.5 - 2j),
    "complex infinity": lambda x: x + complex(float("inf"), -0.0),
    "large integer": lambda x: vx.asarray([LARGEST, -LARGEST - 1]),
    "key": lambda x: x[..., None, ::-2, :][:, 0],
    "tuple of axes": lambda x: vx.sum(x, axis=(0, 1), keepdims=True),
    "types": lambda x: (x.astype(vx.float16), x.astype(float), x.astype(np.int32), x.astype(np.dtype("uint8"))),
    "NumPy's scalar": lambda x: x * np.float32(1.1) + np.int64(2),
    "NumPy's array": lambda x: vx.asarray(np.arange(24, dtype=np.float32).reshape(4, 6)) + x[:1],
    "options": lambda x: vx.add(x, 1, out=vx.zeros_like(x), where=x > 0),
    "reduce": lambda x: vx.multiply.reduce(x, axis=0, initial=2.0),
    "text": lambda x: vx.einsum("ij,kj->ik", x, x),
    "bit": lambda x: (x > 0) | (x < -1),
    "namespace": lambda x: x.__array_namespace__().exp(x),
    "attributes": lambda x: (x.T, x.mT, vx.full((2,), x.ndim), x.size, x.nbytes, x.real),
    "constant of bfloat16": lambda x: x + vx.asarray([1.5], dtype="bfloat16").astype("float32"),
    "no dimensions": lambda x: x * vx.asarray(2.0),
}  # fmt: skip


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_of_calls(name: str, tmp_path: Path) -> None:
    function = ARGUMENTS[name]
    program = vx.Program(function, (values((4, 6)),))
    same(loaded(program, tmp_path, targets=())(values((4, 6), 3)), function(values((4, 6), 3)))


CONSTANTS = {dtype: lambda x, dtype=dtype: (x * 3 + 1).astype(dtype) for dtype in (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64",
    "complex64", "complex128",
)}  # fmt: skip


@pytest.mark.parametrize("dtype", CONSTANTS)
def test_constants_of_every_type(dtype: str, tmp_path: Path) -> None:
    constants = [values((3, 4)).astype(dtype), values((3, 4)).astype(dtype).T[::-1], values(()).astype(dtype)]
    program = vx.Program(lambda: [vx.concat([one, one]) if one.ndim else one for one in constants])
    again = loaded(program, tmp_path, targets=())
    for found, expected in zip(again(), program(), strict=True):
        shown = "float32" if dtype == "bfloat16" else dtype  # NumPy has no bfloat16
        same(found.astype(shown), expected.astype(shown))
        assert found.dtype is expected.dtype


def test_every_name_is_of_one_function() -> None:
    table = names.functions()
    assert len(table) > 450
    assert all(name.isprintable() and len(name) < 60 for name in table)
    assert not [name for name in table if "tofile" in name or "save" in name or "load" in name or "dump" in name]
    assert not [
        name for name in table if name.split(".")[-1] in ("item", "tolist", "__array__", "__dlpack__", "__reduce__")
    ]


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda x: vx.ElementwiseKernel("T a", "T b", "b = a * 2", "twice")(x), "twice|_call"),
    ],
)
def test_what_no_file_holds_is_told(function: Any, told: str, tmp_path: Path) -> None:
    with pytest.raises((TypeError, vx.TraceError), match=told):
        vx.Program(function, (values(4),)).save(tmp_path / "model.vkp", targets=())


def test_what_tapes_note_has_a_name() -> None:
    """All functions that are marked, but those that draw random numbers, and parts of functions that are taken whole."""
    for module in pkgutil.walk_packages(vkarray.ops.__path__, "vkarray.ops."):
        importlib.import_module(module.name)
    without = {
        "numbers",
        "fill",
        "fill_drawn",
        "fill_shares",
        "fill_between",
        "_value",
        "_selected",
        "_assign",
        "_assign_at",
    }
    missing = [
        f"{name}.{function.__qualname__}"
        for name, module in list(sys.modules.items()) if name.startswith("vkarray.ops.")
        for function in vars(module).values()
        if getattr(function, "is_recorded", False) and id(function) not in names.names()
        and function.__module__.startswith("vkarray.ops") and function.__qualname__ not in without
    ]  # fmt: skip
    assert not missing


@pytest.mark.parametrize("space", ["", "linalg.", "fft.", "lib.stride_tricks.", "polynomial."])
def test_functions_are_found_before_anything_else_is_imported(space: str) -> None:
    program = (
        f"from vkarray.programs import names; assert len(names._group({space[:-1]!r})) > 1; "
        f"assert names.find({space + 'none'!r}) is None"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
