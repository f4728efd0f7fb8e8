"""ONNX models in half precision: how far from float32, what stays in float32, and what half precision does not hold."""

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
from vkarray.onnx import table

UNIT = {"float16": 2.0**-11, "bfloat16": 2.0**-8}  # the roundoff of a number to the nearest


def _random(*shape: int, seed: int = 0, scale: float = 1.0) -> np.ndarray[Any, Any]:
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def _network() -> Any:
    """A convolution with normalization, pooling, and a product whose exponentials are normalized."""
    constants = {
        "w": _random(6, 3, 3, 3, scale=27**-0.5), "scale": _random(6, seed=1), "shift": _random(6, seed=2),
        "mean": _random(6, seed=3), "variance": _random(6, seed=4) ** 2 + 0.5, "v": _random(6, 4, seed=5),
    }  # fmt: skip
    nodes = [
        node("Conv", "x w", "c", pads=[1, 1, 1, 1]), node("BatchNormalization", "c scale shift mean variance", "n"),
        node("Relu", "n", "r"), node("GlobalAveragePool", "r", "g"), node("Flatten", "g", "f"), node("MatMul", "f v", "s"),
        node("Softmax", "s", "y"),
    ]  # fmt: skip
    return model(nodes, [value("x", FLOAT, ["n", 3, 8, 8])], [value("y", FLOAT, ["n", 4])], constants)


def _block() -> Any:
    """Attention of one head, and the sum with what it takes, normalized."""
    constants = {name: _random(8, 8, seed=seed, scale=8**-0.5) for seed, name in enumerate("abcd")}
    constants |= {"root": np.float32(8**0.5), "scale": _random(8, seed=5), "shift": _random(8, seed=6)}
    nodes = [
        node("LayerNormalization", "x scale shift", "n"), node("MatMul", "n a", "q"), node("MatMul", "n b", "k"),
        node("MatMul", "n c", "v"), node("Transpose", "k", "t", perm=[0, 2, 1]), node("MatMul", "q t", "products"),
        node("Div", "products root", "scores"), node("Softmax", "scores", "p", axis=-1), node("MatMul", "p v", "o"),
        node("MatMul", "o d", "m"), node("Add", "x m", "y"),
    ]  # fmt: skip
    return model(nodes, [value("x", FLOAT, ["n", 5, 8])], [value("y", FLOAT, ["n", 5, 8])], constants)


# Of each the shape of its input and how many roundings follow each other: of what a node takes, of its weights, of its result.
MODELS = {
    "perceptron": (perceptron, (5, 4), 5), "network": (_network, (2, 3, 8, 8), 12), "block": (_block, (2, 5, 8), 16),
}  # fmt: skip


@pytest.mark.parametrize("dtype", UNIT)
@pytest.mark.parametrize("name", MODELS)
def test_models_differ_by_roundings(name: str, dtype: str) -> None:
    make, shape, roundings = MODELS[name]
    x = _random(*shape, seed=9)
    exact = np.asarray(vkarray.onnx.load(make())(x))
    loaded = vkarray.onnx.load(make(), dtype=dtype)
    found = loaded(x)
    assert found.dtype == vx.float32
    away = np.abs(np.asarray(found) - exact).max()
    assert 0 < away <= roundings * UNIT[dtype] * max(1, np.abs(exact).max())
    assert dtype in str(loaded.explain())
    one_by_one = vkarray.onnx.load(make(), dtype=dtype, compile=False)(x)
    assert np.asarray(one_by_one).tobytes() == np.asarray(found).tobytes()


def test_program_has_weights_in_half_precision(tmp_path: Path) -> None:
    made = model(
        [node("MatMul", "x w", "y")], [value("x", FLOAT, [2, 512])], [value("y", FLOAT, [2, 256])],
        {"w": _random(512, 256)},
    )  # fmt: skip
    x = _random(2, 512, seed=1)
    source, sizes = tmp_path / "m.onnx", {}
    onnx.save(made, source)
    for dtype in (None, *UNIT):
        path = tmp_path / f"{dtype}.vkp"
        program = vkarray.onnx.load(made, dtype=dtype).program(x)
        program.save(path, targets=())
        assert program.inputs[0].dtype == program.outputs[0].dtype == vx.float32
        (found,) = vx.load_program(path)(vx.asarray(x))
        assert np.asarray(found).tobytes() == np.asarray(vkarray.onnx.load(made, dtype=dtype)(x)).tobytes()
        sizes[dtype] = path.stat().st_size
    assert sizes["float16"] < 0.6 * sizes[None]
    assert main(["compile", str(source), "-o", str(tmp_path / "c.vkp"), "--dtype", "float16"]) == 0
    (found,) = vx.load_program(tmp_path / "c.vkp")(vx.asarray(x))
    assert np.asarray(found).tobytes() == np.asarray(vkarray.onnx.load(made, dtype="float16")(x)).tobytes()


@pytest.mark.parametrize("wrong", ["float32", "int8"])
def test_other_types_are_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match=rf"onnx.load: dtype is {wrong}; expected float16 or bfloat16"):
        vkarray.onnx.load(perceptron(), dtype=wrong)


def test_constants_that_overflow_stay_float32() -> None:
    nodes = [node("MatMul", "x w", "s"), node("Add", "s masked", "m"), node("Softmax", "m", "y")]
    masked = np.array([[0, -1e9, 0, -3.4e38]], np.float32)
    made = model(
        nodes, [value("x", FLOAT, [3, 4])], [value("y", FLOAT, [3, 4])], {"w": _random(4, 4), "masked": masked}
    )
    found = np.asarray(vkarray.onnx.load(made, dtype="float16")(_random(3, 4, seed=1)))
    assert np.isfinite(found).all()
    assert (found[:, [1, 3]] == 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-6)


def test_weights_that_overflow_stay_float32() -> None:
    made = model(
        [node("MatMul", "x w", "y")], [value("x", FLOAT, [1, 2])], [value("y", FLOAT, [1, 1])],
        {"w": np.array([[70000], [1]], np.float32)},
    )  # fmt: skip
    assert np.asarray(vkarray.onnx.load(made, dtype="float16")(np.ones((1, 2), np.float32))).tolist() == [[70001]]
    rounded = np.asarray(vkarray.onnx.load(made, dtype="bfloat16")(np.ones((1, 2), np.float32)))
    assert np.isfinite(rounded).all()
    assert abs(rounded - 70001) <= 2 * UNIT["bfloat16"] * 70001


def test_numbers_too_small_for_half_precision_stay_float32() -> None:
    nodes = [node("MatMul", "x w", "p"), node("Add", "p tiny", "a"), node("Div", "w a", "y")]
    made = model(
        nodes, [value("x", FLOAT, [2, 2])], [value("y", FLOAT, [2, 2])],
        {"w": np.eye(2, dtype=np.float32), "tiny": np.float32(1e-12)},
    )  # fmt: skip
    assert np.isfinite(np.asarray(vkarray.onnx.load(made, dtype="float16")(np.zeros((2, 2), np.float32)))).all()


def test_normalization_in_steps_stays_float32() -> None:
    """Squares of 300 are more than half precision holds."""
    nodes = [
        node("MatMul", "x w", "h"), node("ReduceMean", "h", "mean", axes=[-1]), node("Sub", "h mean", "away"),
        node("Pow", "away two", "squares"), node("ReduceMean", "squares", "variance", axes=[-1]),
        node("Add", "variance tiny", "kept"), node("Sqrt", "kept", "deviation"), node("Div", "away deviation", "y"),
    ]  # fmt: skip
    constants = {"w": np.eye(16, dtype=np.float32), "two": np.float32(2), "tiny": np.float32(1e-5)}
    made = model(nodes, [value("x", FLOAT, [2, 16])], [value("y", FLOAT, [2, 16])], constants, version=13)
    x = _random(2, 16, scale=1000)
    exact = np.asarray(vkarray.onnx.load(made)(x))
    found = np.asarray(vkarray.onnx.load(made, dtype="float16")(x))
    assert np.abs(found - exact).max() <= 4 * UNIT["float16"] * np.abs(exact).max()


def test_angles_are_made_in_float32() -> None:
    """As rotary embeddings make them: a product of places and of frequencies."""
    nodes = [
        node("Cast", "places", "p", to=FLOAT), node("MatMul", "p frequencies", "angles"), node("Cos", "angles", "c"),
        node("MatMul", "c w", "y"),
    ]  # fmt: skip
    frequencies = (10000.0 ** -np.linspace(0, 1, 8)).astype(np.float32).reshape(1, 8)
    made = model(
        nodes, [value("places", INT64, [4, 1])], [value("y", FLOAT, [4, 8])],
        {"frequencies": frequencies, "w": np.eye(8, dtype=np.float32)},
    )  # fmt: skip
    places = np.array([[1], [777], [4095], [30001]])
    found = np.asarray(vkarray.onnx.load(made, dtype="float16")(places))
    np.testing.assert_allclose(found, np.cos(places * frequencies.astype(np.float64)), rtol=0, atol=0.005)


def test_half_precision_that_the_model_has_keeps_its_meaning() -> None:
    nodes = [
        node("Cast", "x", "h", to=onnx.TensorProto.FLOAT16),
        node("MatMul", "x x", "p"),
        node("Cast", "p", "y", to=10),
    ]
    made = model(nodes, [value("x", FLOAT, [2, 2])], [value("h", 10, [2, 2]), value("y", 10, [2, 2])])
    x = _random(2, 2)
    for found, plain in zip(vkarray.onnx.load(made, dtype="bfloat16")(x), vkarray.onnx.load(made)(x), strict=True):
        assert found.dtype == plain.dtype == vx.float16
    assert np.asarray(vkarray.onnx.load(made, dtype="bfloat16")(x)[0]).tobytes() == x.astype(np.float16).tobytes()


def test_table_says_what_stays_float32() -> None:
    ways = {name: rows[-1].half for (domain, name), rows in table.ROWS.items() if not domain}
    assert {ways[name] for name in ("MatMul", "Gemm", "Conv", "ConvTranspose", "Einsum", "Attention")} == {table.HALF}
    assert {ways[name] for name in ("Exp", "Pow", "Log", "ReduceSum", "ReduceMean", "CumSum")} == {table.FLOAT32}
    assert {ways[name] for name in ("Softmax", "LayerNormalization", "Resize", "AveragePool")} == {table.INSIDE}
