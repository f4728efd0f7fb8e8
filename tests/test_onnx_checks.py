"""Nodes of ONNX models that their operators do not allow are refused by name; axes mean what ONNX says, and no others are there."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the package onnx is an extra")

from onnx import defs
from test_onnx import BOOL, FLOAT, INT64, model, node, value

import vkarray.onnx
from vkarray.onnx import checks

X = np.linspace(-2, 3, 24, dtype=np.float32).reshape(2, 3, 4)


def loaded(nodes: Any, constants: Any = None, version: int = 18, x: Any = X, outputs: str = "y") -> Any:
    """What a model of nodes gives for x, operation by operation."""
    described = [value("x", FLOAT, x.shape)]
    made = model(nodes, described, [value(name, FLOAT, None) for name in outputs.split()], constants, version)
    return vkarray.onnx.load(made, compile=False)(x)


def softmax(x: Any, axis: int, version: int) -> Any:
    """By ONNX's text: before version 13 of all that follows the axis at once."""
    shape = x.shape if version >= 13 else (math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))
    along = axis if version >= 13 else -1
    powers = np.exp(x.reshape(shape).astype(np.float64))
    return (powers / powers.sum(axis=along, keepdims=True)).reshape(x.shape)


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 3, 4)])
@pytest.mark.parametrize("version", [7, 11, 12, 13, 24])
def test_axes_of_softmax(version: int, shape: tuple[int, ...]) -> None:
    rank = len(shape)
    x = X.reshape(-1)[: math.prod(shape)].reshape(shape)
    for axis in range(-rank - 1, rank + 1):
        given = {operator: [node(operator, "x", "y", axis=axis)] for operator in ("Softmax", "LogSoftmax", "Hardmax")}
        if not -rank <= axis < rank:
            for nodes in given.values():
                with pytest.raises(
                    ValueError, match=f"node 'the .*its axis is {axis}, and there are {rank} dimensions"
                ):
                    loaded(nodes, version=version, x=x)
            continue
        expected = softmax(x, axis % rank, version)
        found = {operator: np.asarray(loaded(nodes, version=version, x=x)) for operator, nodes in given.items()}
        np.testing.assert_allclose(found["Softmax"], expected, rtol=1e-5)
        np.testing.assert_allclose(found["LogSoftmax"], np.log(expected), rtol=1e-4, atol=1e-6)
        assert found["Hardmax"].sum() == math.prod(shape) // (shape[axis] if version >= 13 else math.prod(shape[axis:]))


def quantized(operator: str, scale: Any, axis: int, **attributes: Any) -> Any:
    given = np.asarray(scale, np.float32)
    constants = {"s": given, "z": np.zeros(given.shape, np.int8)}
    nodes = [node("QuantizeLinear", "x s z", "q", axis=axis, **attributes)]
    if operator == "QuantizeLinear":
        nodes.append(node("Cast", "q", "y", to=FLOAT))
    else:
        nodes = [node("Cast", "x", "q", to=onnx.TensorProto.INT8)]
        nodes.append(node("DequantizeLinear", "q s z", "y", axis=axis, **attributes))
    return loaded(nodes, constants, 21)


@pytest.mark.parametrize("operator", ["QuantizeLinear", "DequantizeLinear"])
@pytest.mark.parametrize("axis", range(-4, 4))
def test_axes_of_quantization(operator: str, axis: int) -> None:
    if not -3 <= axis < 3:
        with pytest.raises(ValueError, match=f"Linear'.*its axis is {axis}, and there are 3 dimensions"):
            quantized(operator, [1.0, 2.0], axis)
        quantized(operator, 1.0, axis)  # of the whole: no axis is needed
        return
    shape = [1, 1, 1]
    shape[axis] = X.shape[axis]
    scale = np.arange(1, X.shape[axis] + 1, dtype=np.float32)
    factors = scale.reshape(shape)
    expected = np.rint(X / factors) if operator == "QuantizeLinear" else np.trunc(X) * factors
    np.testing.assert_array_equal(np.asarray(quantized(operator, scale, axis)), expected)
    with pytest.raises(ValueError, match=r"scales or zero points of shape \(5,\), expected"):
        quantized(operator, np.ones(5), axis)


def test_blocks_of_quantization() -> None:
    with pytest.raises(ValueError, match=r"of shape \(2, 3, 3\), expected \(2, 3, 2\)"):
        quantized("DequantizeLinear", np.ones((2, 3, 3)), 2, block_size=2)
    with pytest.raises(ValueError, match="its attribute 'block_size' is -1"):
        quantized("QuantizeLinear", np.ones((2, 3, 2)), 2, block_size=-1)


SCANNED = [value("part", FLOAT, [3, 4])]
BODY = onnx.helper.make_graph(
    [onnx.helper.make_node("Relu", ["part"], ["r"])], "body", SCANNED, [value("r", FLOAT, None)]
)
# The node, its constants, the version, and what is said of it.
WRONG: dict[str, tuple[Any, dict[str, Any], int, str]] = {
    "later operator": (node("Mish", "x", "y"), {}, 17, r"there is from version 18 on"),
    "former operator": (node("Upsample", "x s", "y"), {"s": [1.0, 1, 2]}, 13, r"that version 10 took away"),
    "attribute": (node("Relu", "x", "y", order=1), {}, 18, r"has the attribute 'order', .* it has none"),
    "later attribute": (node("Reshape", "x s", "y", allowzero=1), {"s": [24]}, 13, "has the attribute 'allowzero'"),
    "kind": (node("Softmax", "x", "y", axis=1.0), {}, 18, "'axis' is of the kind FLOAT, expected INT"),
    "word": (node("Pad", "x p", "y", mode="mirror"), {"p": [1] * 6}, 18, "'mode' is 'mirror', expected one of 'constant'"),
    "word of some": (node("ScatterND", "x i u", "y", reduction="mean"), {"i": [[0]], "u": X[:1]}, 18, "'reduction' is 'mean'"),
    "input that lacks": (onnx.helper.make_node("Add", ["x", ""], ["y"], "the Add"), {}, 18, "lacks its input 'B'"),
    "one of many that lacks": (onnx.helper.make_node("Max", [""], ["y"], "the Max"), {}, 18, "lacks its input 'data_0'"),
    "axis of Concat": (node("Concat", "x x", "y", axis=3), {}, 18, "its axis is 3, and there are 3 dimensions"),
    "axes of Reduce": (node("ReduceSum", "x a", "y"), {"a": [0, -3]}, 18, r"its axes \[0, -3\] name one of them twice"),
    "axes of Squeeze": (node("Squeeze", "x a", "y"), {"a": [4]}, 18, "its axis is 4, and there are 3 dimensions"),
    "axes of Slice": (node("Slice", "x a a a", "y"), {"a": [1, 1]}, 18, r"its axes \[1, 1\] name one of them twice"),
    "numbers of Slice": (node("Slice", "x a b", "y"), {"a": [0, 0], "b": [1]}, 18, "its starts, ends, axes and steps"),
    "numbers of Pad": (node("Pad", "x p", "y"), {"p": [1] * 7}, 18, "expected 6 numbers of padding"),
    "axis from the end": (node("Flatten", "x", "y", axis=-1), {}, 9, "its axis is -1, which counts from the end from version 11"),
    "outputs of Split": (node("Split", "x", "y z", num_outputs=1 << 40), {}, 18, "'num_outputs' is 1099511627776, and it has 2"),
    "parts of Split": (node("Split", "x s", "y z"), {"s": [1, 1, 0]}, 18, r"the lengths of 2 parts, .* got \[1, 1, 0\]"),
    "below 0": (node("Split", "x s", "y z"), {"s": [3, -1]}, 18, r"the lengths of 2 parts, .* got \[3, -1\]"),
    "fractions as axes": (node("Unsqueeze", "x a", "y"), {"a": np.float32([0.5])}, 18, "its axis is 0.5, expected"),
    "kernel": (node("Conv", "x w", "y", kernel_shape=[5]), {"w": np.ones((1, 3, 2), np.float32)}, 18, "'kernel_shape' is"),
    "strides": (node("Conv", "x w", "y", strides=[0]), {"w": np.ones((1, 3, 2), np.float32)}, 18, "strides is"),
    "pads": (node("MaxPool", "x", "y", kernel_shape=[2], pads=[1]), {}, 18, "'pads' is .* expected 2 numbers"),
    "kernel of pooling": (node("MaxPool", "x", "y", kernel_shape=[2, 2]), {}, 18, "kernel_shape is .* expected 1 numbers"),
    "scanned": (node("Scan", "x", "y", body=BODY, num_scan_inputs=2), {}, 18, "'num_scan_inputs' is 2, and it has 1 inputs"),
    "directions": (
        node("Scan", "x", "y", body=BODY, num_scan_inputs=1, scan_input_directions=[2]), {}, 18, "its directions are"
    ),
    "scanned axis": (
        node("Scan", "x", "y", body=BODY, num_scan_inputs=1, scan_output_axes=[3]), {}, 18, "its axis is 3, and there are 3"
    ),
    "axes of sequences": (
        node("ReverseSequence", "x n", "y", time_axis=2), {"n": [1] * 3}, 18, "its axes of batches and of time are 1 and 2"
    ),
    "word of a function": (
        node("SoftmaxCrossEntropyLoss", "x t", "y", reduction="floor"), {"t": np.zeros((2, 4), np.int64)}, 18,
        "'reduction' is 'floor'",
    ),
    "body of Loop": (
        onnx.helper.make_node("Loop", ["n", "", "x"], ["y"], "the Loop", body=BODY), {"n": np.int64(0)}, 18,
        "its body has 1 inputs and 1 outputs, expected 3 and 2",
    ),
    "grid": (node("GridSample", "x g", "y"), {"g": np.zeros((2, 3, 2), np.float32)}, 18, "its grid has the shape"),
    "side of DFT": (node("DFT", "x", "y", inverse=1, onesided=1), {}, 22, "it transforms axis"),
    "one side of complex numbers": (node("DFT", "x", "y", axis=0, onesided=1), {}, 18, "it transforms axis 0"),
    "norm": (node("LpNormalization", "x", "y", p=3), {}, 18, "its attribute 'p' is 3, expected 1 or 2"),
    "unequal parts": (node("Split", "x", "y z", axis=1), {}, 13, "its axis of length 3 does not split into 2 equal parts"),
    "last axis of DFT": (node("DFT", "x", "y", axis=2), {}, 18, "it transforms axis 2"),
    "matrices of Gemm": (node("Gemm", "x x", "y"), {}, 18, "expected two matrices"),
    "indices of GatherND": (node("GatherND", "x i", "y"), {"i": [[0, 0, 0, 0]]}, 18, "its indices of shape"),
    "updates of ScatterND": (node("ScatterND", "x i u", "y"), {"i": [[0]], "u": X[0]}, 18, "expected updates of shape"),
    "updates of ScatterElements": (
        node("ScatterElements", "x i u", "y"), {"i": [[[0]]], "u": X}, 18, "it has indices of shape .* expected the same"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_nodes_that_are_wrong_are_refused(name: str) -> None:
    wrong, constants, version, text = WRONG[name]
    with pytest.raises(ValueError, match=rf"node 'the {wrong.op_type}' .*{text}"):
        loaded([wrong], constants, version, outputs=" ".join(wrong.output))


@pytest.mark.parametrize("compiled", [False, True])
def test_one_index_is_not_read_from_the_device(compiled: bool) -> None:
    """Indices of one element, which are inputs: a compiled model knows no values of them."""
    described = [value("x", FLOAT, [2, 3, 4]), value("i", INT64, [3]), value("u", FLOAT, [])]
    nodes = [node("GatherND", "x i", "y"), node("ScatterND", "x i u", "z")]
    made = vkarray.onnx.load(
        model(nodes, described, [value("y", FLOAT, None), value("z", FLOAT, None)]), compile=compiled
    )
    taken, written = made(X, np.asarray([1, -2, 3]), np.float32(7))
    expected = X.copy()
    expected[1, -2, 3] = 7
    assert np.asarray(taken) == X[1, -2, 3]
    assert taken.shape == ()
    np.testing.assert_array_equal(np.asarray(written), expected)


def test_samples_of_integers_are_integers() -> None:
    """They are computed in fractions, and cut off, as Resize does."""
    picture = np.asarray([[[[0, 4], [8, 101]]]], np.int8)
    grid = np.asarray([[[[-1, -1], [0, -1], [0, 0], [1, 1]]]], np.float32)
    made = model(
        [node("GridSample", "p g", "y", align_corners=1)],
        [value("p", onnx.TensorProto.INT8, picture.shape), value("g", FLOAT, grid.shape)],
        [value("y", onnx.TensorProto.INT8, None)], version=20,
    )  # fmt: skip
    found = np.asarray(vkarray.onnx.load(made, compile=False)(picture, grid))
    assert found.dtype == np.int8
    assert found.ravel().tolist() == [0, 2, 28, 101]


def test_functions_that_cannot_be_put_in_place_are_refused() -> None:
    """ONNX's own errors are of many kinds."""
    body = [onnx.helper.make_node("Transpose", ["x"], ["y"], perm=[7])]
    called = onnx.helper.make_function("own", "Turn", ["x"], ["y"], body, [onnx.helper.make_opsetid("", 18)])
    made = model(
        [onnx.helper.make_node("Turn", ["x"], ["y"], domain="own")], [value("x", FLOAT, [2])], [value("y", FLOAT, None)]
    )
    made.functions.append(called)
    made.opset_import.append(onnx.helper.make_opsetid("own", 1))
    with pytest.raises(ValueError, match=r"^(onnx\.load|node)"):
        vkarray.onnx.load(made)(np.zeros(2, np.float32))


def test_words_are_those_of_operators_with_such_attributes() -> None:
    """Each row names operators that have the attribute, and words that ONNX's text of it has."""
    history = defs.get_all_schemas_with_history()
    for attribute, of_operators in checks._WORDS.items():
        for operator, words in of_operators.items():
            own = [one for one in history if attribute in one.attributes and operator in (one.name, "")]
            assert own, f"{operator} has no attribute {attribute}"
            described = [(one.doc, one.attributes[attribute]) for one in own]
            prose = " ".join(f"{doc} {one.description} {one.default_value}" for doc, one in described)
            lacking = [word for word in words if word not in prose]
            assert not lacking, f"{attribute} of {operator}: {lacking}"


def test_loops_without_a_step() -> None:
    """What no step made is as the body describes it, also where the number of steps is below 0."""
    inside = [onnx.helper.make_node("Identity", ["on"], ["still"]), onnx.helper.make_node("Identity", ["x"], ["r"])]
    body = onnx.helper.make_graph(
        inside, "body", [value("step", INT64, []), value("on", BOOL, [])],
        [value("still", BOOL, []), value("r", FLOAT, [2, 3, 4])],
    )  # fmt: skip
    for trips, shape in ((0, (0, 2, 3, 4)), (2, (2, 2, 3, 4)), (-1, (0, 2, 3, 4))):
        found = loaded([onnx.helper.make_node("Loop", ["n", ""], ["y"], body=body)], {"n": np.int64(trips)})
        assert tuple(found.shape) == shape
