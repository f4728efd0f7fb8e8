"""Programs of ONNX models whose lengths vary: the same bits as the model at every length, or an error that names the node."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the package onnx is an extra")

from test_onnx import FLOAT, INT64, model, node, perceptron, value

import vkarray as vx
import vkarray.onnx
from vkarray.__main__ import main

NUMBERS = {
    "n0": np.int64(0), "n1": np.int64(1), "n2": np.int64(2), "l0": np.array([0]), "l1": np.array([1]), "l2": np.array([2]),
    "l6": np.array([6]), "rest": np.array([-1]), "heads": np.array([2, 3]),
}  # fmt: skip
SIZES = [node("Shape", "x", "s"), node("Gather", "s n0", "b"), node("Gather", "s n1", "t")]
X, Y = [value("x", FLOAT, ["b", "t", 6])], [value("y", FLOAT, None)]

# What a model computes of x (b, t, 6), where b and t vary.
HELD: dict[str, list[Any]] = {
    "rows": [
        node("Mul", "b t", "bt"), node("Unsqueeze", "bt l0", "rows"), node("Concat", "rows l6", "w", axis=0),
        node("Reshape", "x w", "y"),
    ],
    "heads": [
        node("Slice", "s l0 l2", "bt"), node("Concat", "bt heads", "w", axis=0), node("Reshape", "x w", "h"),
        node("Transpose", "h", "ht", perm=[0, 2, 1, 3]), node("Shape", "ht", "hs"), node("Gather", "hs n0", "hb"),
        node("Unsqueeze", "hb l0", "hb1"), node("Concat", "hb1 rest", "v", axis=0), node("Reshape", "ht v", "y"),
    ],
    "places": [
        node("Range", "n0 t n1", "r"), node("Cast", "r", "f", to=FLOAT), node("Unsqueeze", "f l1", "c"), node("Add", "x c", "y"),
    ],
    "filled": [node("Concat", "b0 t0", "w", axis=0), node("ConstantOfShape", "w", "z"), node("ReduceSum", "x l2", "q", keepdims=0),
               node("Add", "z q", "y")],
    "expanded": [node("Concat", "l1 t0 l6", "w", axis=0), node("Slice", "x l0 l1 l1", "first"), node("Expand", "first w", "y")],
    "half of them": [node("Div", "t n2", "half"), node("Unsqueeze", "half l0", "end"), node("Slice", "x l0 end l1", "y")],
    "all but the last": [node("Slice", "x l0 rest l1", "y")],
    "means": [node("ReduceSum", "x l1", "q", keepdims=0), node("Cast", "t", "f", to=FLOAT), node("Div", "q f", "y")],
    "flattened": [node("Flatten", "x", "y", axis=2)],
    "parts": [node("Sub", "t n1", "most"), node("Unsqueeze", "most l0", "most1"), node("Concat", "l1 most1", "w", axis=0),
              node("Split", "x w", "first y", axis=1)],
    "turned": [node("Concat", "t0 b0", "w", axis=0), node("ReduceMax", "x l2", "q", keepdims=0), node("Reshape", "q w", "y")],
    "count": [node("Size", "x", "all"), node("Cast", "all", "f", to=FLOAT), node("Div", "x f", "y")],
    "softmax of old": [node("Softmax", "x", "y", axis=2)],
    "pooled": [node("MaxPool", "x", "y", kernel_shape=[2], strides=[2])],
    "scattered": [node("Expand", "n1 b0", "ones"), node("Cast", "ones", "f", to=FLOAT), node("Unsqueeze", "f tail", "g"),
                  node("Mul", "x g", "y")],
}  # fmt: skip


def _made(nodes: list[Any], version: int = 18) -> Any:
    sizes = [*SIZES, node("Unsqueeze", "b l0", "b0"), node("Unsqueeze", "t l0", "t0")]
    return model([*sizes, *nodes], X, Y, {**NUMBERS, "tail": np.array([1, 2])}, version=version)


@pytest.mark.parametrize("name", HELD)
def test_lengths_of_shapes_are_in_the_program(name: str, tmp_path: Path) -> None:
    loaded = vkarray.onnx.load(_made(HELD[name]))
    b, t = vx.Dim("b", max=9), vx.Dim("t", min=2, max=40)
    program = loaded.program(np.zeros((1, 4, 6), np.float32), dynamic={"b": b, "t": t})
    assert program.inputs[0].shape == (b, t, 6)
    program.save(tmp_path / "m.vkp", targets=())
    again = vx.load_program(tmp_path / "m.vkp")
    for shape in ((1, 2, 6), (9, 40, 6), (3, 7, 6)):
        x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
        expected = loaded(x)
        for one in (program, again):
            (found,) = one(vx.asarray(x))
            assert found.shape == expected.shape
            assert np.asarray(found).tobytes() == np.asarray(expected).tobytes()


# Where a length is fixed: the node that an error names, and what it says.
FIXED: dict[str, tuple[list[Any], str]] = {
    "a number": ([node("Reshape", "x w", "y")], r"with .*node 'the Reshape' .*do not fill shape \(4, 6\)"),
    "a condition": (
        [node("Greater", "t n8", "long"), node(
            "If", "long", "y",
            then_branch=onnx.helper.make_graph([node("Neg", "x", "o")], "then", [], [value("o", FLOAT, None)]),
            else_branch=onnx.helper.make_graph([node("Exp", "x", "o")], "else", [], [value("o", FLOAT, None)]),
        )], "node 'the Greater'",
    ),
    "a table": ([node("ReduceSum", "x l2", "q", keepdims=0), node("EyeLike", "q", "y")], "node 'the EyeLike'"),
    "steps": (
        [node("Unsqueeze", "t l0", "t1"), node("Cast", "t1", "f", to=FLOAT), node("Sqrt", "f", "r"),
         node("Cast", "r", "k", to=INT64), node("Tile", "one k", "y")], r"node 'the Tile' .*that the device computes of lengths",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FIXED)
def test_lengths_that_are_fixed_are_refused(name: str) -> None:
    nodes, text = FIXED[name]
    constants = {**NUMBERS, "w": np.array([4, 6]), "n8": np.int64(8), "one": np.ones(1, np.float32)}
    loaded = vkarray.onnx.load(model([*SIZES, *nodes], X, Y, constants))
    with pytest.raises(vx.TraceError, match=f"cannot be a program in which these lengths vary: .*{text}"):
        loaded.program(np.zeros((1, 4, 6), np.float32), dynamic={"t": vx.Dim("t", max=40)})


def test_condition_that_bounds_decide_holds() -> None:
    nodes, _ = FIXED["a condition"]
    loaded = vkarray.onnx.load(model([*SIZES, *nodes], X, Y, {**NUMBERS, "n8": np.int64(8)}))
    program = loaded.program(np.zeros((1, 4, 6), np.float32), dynamic={"t": vx.Dim("t", min=9, max=40)})
    for length in (9, 40):
        x = np.full((1, length, 6), 2, np.float32)
        assert (np.asarray(program(vx.asarray(x))[0]) == -2).all()


CACHE = [node("Concat", "past x", "k", axis=1), node("Mul", "k mask", "y")]
CACHED = [
    value("x", FLOAT, ["b", "new", 4]),
    value("past", FLOAT, ["b", "past", 4]),
    value("mask", FLOAT, ["b", "past + new", 1]),
]


@pytest.mark.parametrize("names", [("past",), ("new",), ("past", "new"), ("past", "new", "b"), ("b",)])
def test_lengths_follow_from_others(names: tuple[str, ...]) -> None:
    loaded, sizes = vkarray.onnx.load(model(CACHE, CACHED, Y)), {"b": 2, "past": 5, "new": 3}

    def arrays(b: int, past: int, new: int) -> list[Any]:
        shapes = (b, new, 4), (b, past, 4), (b, past + new, 1)
        return [np.random.default_rng(1).standard_normal(shape).astype(np.float32) for shape in shapes]

    dims = {name: vx.Dim(name, min=0 if name == "past" else 1, max=8) for name in names}
    program = loaded.program(*arrays(**sizes), dynamic=dims)
    assert program.outputs[0].shape[0] == dims.get("b", 2)
    for length in (1, 8, 4):
        given = arrays(**(sizes | dict.fromkeys(names, length)))
        found = program(*map(vx.asarray, given))[0]
        assert np.asarray(found).tobytes() == np.asarray(loaded(*given)).tobytes()
    if names != ("b",):
        with pytest.raises(ValueError, match=r"dimension 1 of mask has length 99; expected .*(past|new).*"):
            program(*map(vx.asarray, [*given[:2], given[2][:, :1].repeat(99, 1)]))


def test_lengths_of_other_names_follow_from_others(tmp_path: Path) -> None:
    own = [*CACHED[:2], value("mask", FLOAT, ["b", "whole", 1])]
    source, path = tmp_path / "m.onnx", tmp_path / "m.vkp"
    onnx.save(model(CACHE, own, Y), source)
    past, new = vx.Dim("past", min=0, max=8), vx.Dim("new")
    loaded = vkarray.onnx.load(source)
    given = [np.ones(shape, np.float32) for shape in ((2, 3, 4), (2, 5, 4), (2, 8, 1))]
    program = loaded.program(*given, dynamic={"past": past, "new": new, "whole": past + new})
    assert program.inputs[2].shape == (2, past + new, 1)
    assert program(vx.ones((2, 1, 4)), vx.ones((2, 0, 4)), vx.ones((2, 1, 1)))[0].shape == (2, 1, 4)
    with pytest.raises(ValueError, match="gives past \\+ new for the length 'whole', and no length is new itself"):
        loaded.program(*given, dynamic={"past": past, "whole": past + new})
    options = ["--size", "b=2", "--dynamic", "past=0:8", "--dynamic", "new"]
    assert main(["compile", str(source), *options, "--dynamic", "whole=past + new"]) == 0
    assert vx.load_program(path).inputs == program.inputs
    assert main(["compile", str(source), *options, "--dynamic", "whole=past + more"]) == 2


def test_wrong_names_are_told() -> None:
    loaded, x = vkarray.onnx.load(perceptron()), np.zeros((2, 4), np.float32)
    with pytest.raises(
        ValueError, match=r"dynamic names the length 'n', which no input has\. Name one of these: batch"
    ):
        loaded.program(x, dynamic={"n": vx.Dim("n")})
    with pytest.raises(TypeError, match=r"Expected a vkarray.Dim"):
        loaded.program(x, dynamic={"batch": 3})
    deciding = model([node("Reshape", "x s", "y")], [value("x", FLOAT, [6]), value("s", INT64, ["rank"])], Y)
    with pytest.raises(vx.TraceError, match="the input 's' decides by its values"):
        vkarray.onnx.load(deciding).program(np.zeros(6, np.float32), np.array([2, 3]), dynamic={"rank": vx.Dim("rank")})


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, path = tmp_path / "m.onnx", tmp_path / "m.vkp"
    onnx.save(perceptron(), source)
    assert main(["compile", str(source), "--dynamic", "batch=1:64"]) == 0
    assert "x: (batch, 4) float32 -> y: (batch, 3) float32" in capsys.readouterr().out
    program = vx.load_program(path)
    assert program.inputs[0].shape == (vx.Dim("batch", min=1, max=64), 4)
    assert program(vx.zeros((64, 4), dtype=vx.float32))[0].shape == (64, 3)
    for text, dim in (("batch", vx.Dim("batch")), ("batch=2:", vx.Dim("batch", min=2))):
        assert main(["compile", str(source), "--dynamic", text]) == 0
        assert vx.load_program(path).inputs[0].shape == (dim, 4)
    assert main(["compile", str(source), "--dynamic", "batch=64"]) == 2
    assert "expected --dynamic NAME=MIN:MAX" in capsys.readouterr().err
    for wrong, told in (
        (["--dynamic", "n=1:2"], "--dynamic n: no input of the model has a length of that name. It has batch."),
        (["--size", "n=1"], "--size n: no input of the model has a length of that name. It has batch."),
        (["--size", "batch=-1"], "expected --size NAME=LENGTH, such as --size batch=1, got 'batch=-1'"),
        (["--size", "batch=1", "--size", "batch=2"], "--size batch is given twice, with 1 and 2. Give it once."),
        (["--size", "batch=1", "--dynamic", "batch"], "--size batch and --dynamic batch: a length is fixed or varies."),
        (["--dynamic", "batch=8:2"], "--dynamic batch=8:2: the least length is more than the greatest."),
        (["--size", "batch=1", "-o", str(tmp_path)], "the file cannot be written: Is a directory."),
        (["--size", "batch=1", "-o", "/nowhere/m.vkp"], "--output /nowhere/m.vkp: the file cannot be written: No such"),
    ):
        assert main(["compile", str(source), *wrong]) == 2
        assert told in capsys.readouterr().err
    assert main(["compile", str(tmp_path / "missing.onnx")]) == 2
    assert "missing.onnx: the model cannot be read: No such file" in capsys.readouterr().err


def test_lengths_vary_in_half_precision() -> None:
    loaded = vkarray.onnx.load(perceptron(), dtype="float16")
    program = loaded.program(np.zeros((2, 4), np.float32), dynamic={"batch": vx.Dim("batch", max=64)})
    x = np.random.default_rng(1).standard_normal((33, 4)).astype(np.float32)
    assert np.asarray(program(vx.asarray(x))[0]).tobytes() == np.asarray(loaded(x)).tobytes()
