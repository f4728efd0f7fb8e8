"""Scales and shifts of channels in the weights of products: what is merged, what is not, and with which numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the package onnx is an extra")

from test_onnx import FLOAT, INT64, model, node, value

import vkarray.onnx


def _random(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def _statistics(channels: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        name: _random(channels, seed=seed) for seed, name in enumerate(("scale", "shift", "mean"), 1)
    }
    return found | {"variance": _random(channels, seed=4) ** 2 + np.float32(0.1)}


NORM = "scale shift mean variance"
# The operator, the shapes of its weight and bias, its attributes, and the shape of x.
PRODUCTS: dict[str, tuple[str, tuple[int, ...], tuple[int, ...] | None, dict[str, Any], tuple[int, ...]]] = {
    "convolution": ("Conv", (6, 3, 3, 3), None, {"pads": [1, 1, 1, 1]}, (2, 3, 5, 6)),
    "convolution with a bias": ("Conv", (6, 3, 2), (6,), {}, (2, 3, 5)),
    "convolution of groups": ("Conv", (6, 1, 3, 3), (6,), {"group": 3, "strides": [2, 2]}, (2, 3, 7, 7)),
    "transposed": ("ConvTranspose", (3, 6, 2, 2), (6,), {"strides": [2, 2]}, (2, 3, 3, 3)),
    "transposed of groups": ("ConvTranspose", (4, 3, 2), None, {"group": 2}, (2, 4, 5)),
    "gemm": ("Gemm", (3, 6), (6,), {"alpha": 0.5, "beta": 2.0}, (4, 3)),
    "gemm of rows": ("Gemm", (6, 3), None, {"transB": 1}, (4, 3)),
    "gemm with one number": ("Gemm", (3, 6), (), {}, (4, 3)),
}  # fmt: skip


def _product(name: str, after: Sequence[Any], constants: dict[str, Any], outputs: str = "y", **more: Any) -> Any:
    operator, weight, bias, attributes, shape = PRODUCTS[name]
    given = {"w": _random(*weight), **({} if bias is None else {"b": _random(*bias, seed=9)}), **constants}
    first = node(operator, "x w" + " b" * (bias is not None), "p", **attributes)
    return model(
        [first, *after], [value("x", FLOAT, shape)], [value(one, FLOAT, None) for one in outputs.split()], given, **more
    )


def _check(made: Any, merged: int) -> None:
    """So many nodes are merged, and the numbers are those of the model without it."""
    x = _random(*(one.dim_value for one in made.graph.input[0].type.tensor_type.shape.dim), seed=7)
    loaded = vkarray.onnx.load(made, compile=False)
    assert loaded.explain().merged == merged
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("vkarray.onnx.model.merge", lambda graph: 0)
        plain = vkarray.onnx.load(made, compile=False)
    found, expected = (np.asarray(one(x)) for one in (loaded, plain))
    assert found.shape == expected.shape
    size = max(1.0, float(np.abs(expected).max(initial=0)))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * size)


@pytest.mark.parametrize("name", PRODUCTS)
def test_normalization_of_batches(name: str) -> None:
    after = [node("BatchNormalization", f"p {NORM}", "n", epsilon=1e-3), node("Relu", "n", "y")]
    made = _product(name, after, _statistics(6))
    _check(made, 1)
    assert "1 nodes that scale or shift" in str(vkarray.onnx.load(made).explain())


@pytest.mark.parametrize("shape", [(6, 1, 1), (1, 6, 1, 1), (1,), ()])
def test_numbers_of_channels_after_a_convolution(shape: tuple[int, ...]) -> None:
    constants = {name: _random(*shape, seed=seed) + np.float32(3) for seed, name in enumerate("abcd", 1)}
    after = [node("Mul", "p a", "q"), node("Add", "b q", "r"), node("Sub", "r c", "s"), node("Div", "s d", "y")]
    _check(_product("convolution", after, constants), 4)


def test_products_of_matrices_take_scales_and_a_bias() -> None:
    constants = {"w": _random(3, 6), "a": _random(6, seed=1), "b": _random(6, seed=2), "c": _random(6, seed=3)}
    nodes = [node("MatMul", "x w", "p"), node("Mul", "p a", "q"), node("Add", "q b", "r"), node("Mul", "c r", "s")]
    for shape in ((4, 3), (2, 4, 3), (3,)):
        made = model(
            [*nodes, node("Add", "s b", "y")], [value("x", FLOAT, shape)], [value("y", FLOAT, None)], constants
        )
        _check(made, 3)


# What follows a convolution, with constants, outputs and other weights: none of it is merged.
LEFT: dict[str, tuple[list[Any], dict[str, Any], str]] = {
    "another reader": ([node("BatchNormalization", f"p {NORM}", "n"), node("Add", "n p", "y")], _statistics(6), "y"),
    "an output": ([node("BatchNormalization", f"p {NORM}", "y")], _statistics(6), "y p"),
    "training": (
        [onnx.helper.make_node(
            "BatchNormalization", ["p", *NORM.split()], ["y", "m", "v"], training_mode=1, momentum=0.5
        )], _statistics(6), "y",
    ),
    "places": ([node("Mul", "p a", "y")], {"a": _random(5, 6, seed=1)}, "y"),
    "more dimensions": ([node("Mul", "p a", "y")], {"a": _random(1, 1, 6, 1, 1, seed=1)}, "y"),
    "the last dimension": ([node("Add", "p a", "y")], {"a": _random(6, seed=1)}, "y"),
    "by the product": ([node("Div", "a p", "y")], {"a": _random(6, 1, 1, seed=1)}, "y"),
    "a variance of nothing": (
        [node("BatchNormalization", f"p {NORM}", "n", epsilon=0.0), node("Mul", "n none", "y")],
        {**_statistics(6), "variance": np.zeros(6, np.float32), "none": np.zeros((1, 1, 1, 1, 1), np.float32)}, "y",
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("why", LEFT)
def test_what_is_left_alone(why: str) -> None:
    after, constants, outputs = LEFT[why]
    made = _product("convolution", after, constants, outputs)
    assert vkarray.onnx.load(made, compile=False).explain().merged == 0
    if outputs == "y" and why not in ("training", "a variance of nothing"):
        _check(made, 0)


def test_statistics_that_are_inputs_are_left_alone() -> None:
    made = _product("convolution", [node("BatchNormalization", f"p {NORM}", "y")], _statistics(6))
    made.graph.input.append(value("mean", FLOAT, [6]))
    kept = [one for one in made.graph.initializer if one.name != "mean"]
    del made.graph.initializer[:]
    made.graph.initializer.extend(kept)
    assert vkarray.onnx.load(made).explain().merged == 0


def test_weights_that_several_take_are_scaled_for_one() -> None:
    nodes = [
        node("Conv", "x w", "p"), node("BatchNormalization", f"p {NORM}", "n"), node("Conv", "x w", "q"), node("Add", "n q", "y")
    ]  # fmt: skip
    made = model(
        nodes, [value("x", FLOAT, [1, 3, 4, 4])], [value("y", FLOAT, None)],
        {"w": _random(6, 3, 3, 3), **_statistics(6)},
    )  # fmt: skip
    _check(made, 1)


def test_integers_and_other_channels_are_left_alone() -> None:
    ints = model(
        [node("MatMul", "x w", "p"), node("Mul", "p a", "y")], [value("x", INT64, [2, 3])], [value("y", INT64, None)],
        {"w": np.ones((3, 2), np.int64), "a": np.array([2, 3])},
    )  # fmt: skip
    assert vkarray.onnx.load(ints).explain().merged == 0
    wider = model(
        [node("MatMul", "x w", "p"), node("Add", "p a", "q"), node("Mul", "q b", "y")], [value("x", FLOAT, [2, 3])],
        [value("y", FLOAT, None)], {"w": _random(3, 1), "a": _random(5, seed=1), "b": _random(5, seed=2)},
    )  # fmt: skip
    _check(wider, 0)


def test_scales_that_half_precision_does_not_hold_are_left_alone() -> None:
    made = _product("convolution", [node("Mul", "p a", "y")], {"a": np.full((6, 1, 1), 1e-7, np.float16)})
    for one in made.graph.initializer:
        one.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(one).astype(np.float16), one.name))
    made.graph.input[0].type.tensor_type.elem_type = made.graph.output[0].type.tensor_type.elem_type = 10
    assert vkarray.onnx.load(made, compile=False).explain().merged == 0


def test_branches_merge_their_own() -> None:
    inner = onnx.helper.make_graph(
        [node("Conv", "x v", "p"), node("Mul", "p a", "m")], "inner", [], [value("m", FLOAT, None)],
        [onnx.numpy_helper.from_array(_random(6, 3, 1, 1), "v"), onnx.numpy_helper.from_array(_random(6, 1, 1), "a")],
    )  # fmt: skip
    other = onnx.helper.make_graph([node("Conv", "x w", "o")], "other", [], [value("o", FLOAT, None)])
    made = model(
        [node("If", "yes", "y", then_branch=inner, else_branch=other)],
        [value("x", FLOAT, [1, 3, 2, 2])], [value("y", FLOAT, None)], {"yes": np.array(True), "w": _random(6, 3, 1, 1)},
    )  # fmt: skip
    _check(made, 1)
