"""Padding by zeros in the convolutions of ONNX models: what goes into them, and what is left as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the package onnx is an extra")

from test_onnx import FLOAT, model, node, value

import vkarray.onnx


def _random(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


# What the padding takes besides x, the attributes of the convolution, the shape of its weight, and that of x.
PADS = {"pads": np.array([0, 0, 0, 1, 0, 0, 2, 0])}
IMAGE = (2, 3, 6, 7)
FOLDED: dict[str, tuple[dict[str, Any], dict[str, Any], tuple[int, ...], tuple[int, ...]]] = {
    "one side": (PADS, {"strides": [2, 2]}, (4, 3, 3, 3), IMAGE),
    "beside its own": (PADS, {"pads": [1, 0, 2, 1]}, (4, 3, 3, 3), IMAGE),
    "a value of zero": ({**PADS, "filler": np.float32(0)}, {}, (4, 3, 3, 2), IMAGE),
    "chosen dimensions": ({"pads": np.array([1, 2]), "": None, "axes": np.array([-1])}, {}, (4, 3, 3, 3), IMAGE),
    "groups": (PADS, {"group": 3, "dilations": [2, 1]}, (6, 1, 2, 3), IMAGE),
    "one dimension": ({"pads": np.array([0, 0, 2, 0, 0, 1])}, {}, (4, 3, 3), (2, 3, 8)),
}
LEFT = {
    "another value": ({**PADS, "filler": np.float32(1)}, {}, (4, 3, 3, 3), IMAGE),
    "channels": ({"pads": np.array([0, 1, 0, 1, 0, 0, 2, 0])}, {}, (4, 4, 3, 3), IMAGE),
    "cuts": ({"pads": np.array([0, 0, -1, 1, 0, 0, 2, 0])}, {}, (4, 3, 3, 3), IMAGE),
    "a convolution that pads by itself": (PADS, {"auto_pad": "SAME_UPPER"}, (4, 3, 3, 3), IMAGE),
}


def _model(case: Any, outputs: str = "y", *more: Any, **options: Any) -> Any:
    given, attributes, weight, shape = case
    constants = {name: one for name, one in given.items() if name} | {"w": _random(*weight)}
    first = onnx.helper.make_node("Pad", ["x", *given], ["p"], name="the Pad", **options)
    nodes = [first, node("Conv", "p w", "y", **attributes), *more]
    return model(nodes, [value("x", FLOAT, shape)], [value(one, FLOAT, None) for one in outputs.split()], constants)


def _check(made: Any, pads: int) -> None:
    """So many nodes pad after all, and the bits are those of the model as it is."""
    x = _random(*(one.dim_value for one in made.graph.input[0].type.tensor_type.shape.dim), seed=7)
    loaded = vkarray.onnx.load(made, compile=False)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("vkarray.onnx.model.fold_pads", lambda graph: None)
        plain = vkarray.onnx.load(made, compile=False)
    assert [one.row.name for one in loaded._graph.nodes].count("Pad") == pads
    found, expected = ([np.asarray(y) for y in (got if isinstance(got, tuple) else (got,))]
                       for got in (loaded(x), plain(x)))  # fmt: skip
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", FOLDED)
def test_zeros_are_read_by_the_convolution(name: str) -> None:
    _check(_model(FOLDED[name]), 0)


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left_alone(name: str) -> None:
    _check(_model(LEFT[name]), 1)


@pytest.mark.parametrize("axes", [[4], [-5], [3, -1]])
def test_wrong_axes_are_told_when_the_model_runs(axes: list[int]) -> None:
    given = {"pads": np.array([1] * 2 * len(axes)), "": None, "axes": np.array(axes)}
    loaded = vkarray.onnx.load(_model((given, {}, (4, 3, 3, 3), IMAGE)), compile=False)
    with pytest.raises(ValueError, match="the Pad"):
        loaded(_random(*IMAGE))


def test_another_mode_is_left_alone() -> None:
    _check(_model(FOLDED["one side"], mode="reflect"), 1)


def test_readers_beside_the_convolution() -> None:
    case = FOLDED["one side"]
    _check(_model(case, "y z", node("Relu", "p", "z")), 1)
    _check(_model(case, "y p"), 1)
    _check(_model(case, "y z", node("Conv", "p w", "z", pads=[1, 1, 1, 1])), 0)


def test_attributes_of_early_versions() -> None:
    pads = [0, 0, 1, 0, 0, 0, 0, 2]
    for filler, kept in ((0.0, 0), (2.0, 1)):
        nodes = [node("Pad", "x", "p", pads=pads, value=filler), node("Conv", "p w", "y")]
        inputs, outputs = [value("x", FLOAT, IMAGE)], [value("y", FLOAT, None)]
        _check(model(nodes, inputs, outputs, {"w": _random(4, 3, 3, 3)}, version=9, ir_version=8), kept)
