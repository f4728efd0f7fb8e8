"""Resize, windows and other operators where exporters and runtimes round: what PyTorch and ONNX Runtime compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vkarray as vx

onnx = pytest.importorskip("onnx", reason="the package onnx is an extra")

import vkarray.onnx

HEAD = '<ir_version: 9, opset_import: ["" : 18]> g '


def computed(body: str, *inputs: Any, head: str = HEAD) -> Any:
    return np.asarray(vkarray.onnx.load(onnx.parser.parse_model(head + body))(*inputs))


# Of 10 numbers 0 to 9: the attributes, the factor, and the result.
RESIZED: dict[str, tuple[str, float, list[float]]] = {
    "7 of 10": ('mode="nearest"', 0.7, [0, 2, 3, 4, 6, 7, 9]),
    "6 of 10, from the first on": (
        'mode="nearest",coordinate_transformation_mode="asymmetric",nearest_mode="floor"', 0.6, [0, 1, 3, 5, 6, 8],
    ),
    "corners": ('mode="linear",coordinate_transformation_mode="align_corners"', 0.45, [0, 3, 6, 9]),
    "one": ('mode="linear",coordinate_transformation_mode="align_corners"', 0.1, [0]),
    "one of PyTorch's": ('mode="cubic",coordinate_transformation_mode="pytorch_half_pixel"', 0.1, [0]),
}  # fmt: skip


@pytest.mark.parametrize("name", RESIZED)
@pytest.mark.parametrize("dtype", ["float", "int32"])
def test_lengths_and_places_are_rounded_as_elsewhere(name: str, dtype: str) -> None:
    attributes, factor, expected = RESIZED[name]
    x = np.arange(10).astype({"float": np.float32}.get(dtype, dtype))[None, None]
    body = f"({dtype}[1,1,10] x) => ({dtype}[a,b,c] y) <float[3] s = {{1,1,{factor}}}> {{ y = Resize<{attributes}>(x, , s) }}"
    found = computed(body, x)
    np.testing.assert_allclose(found, np.array([[expected]], x.dtype), rtol=1e-6, strict=True)


@pytest.mark.parametrize("factors", ["2,3", "0.5,0.25", "1.5,2"])
@pytest.mark.parametrize(
    "operator",
    [
        'Resize<mode="nearest",coordinate_transformation_mode="asymmetric",nearest_mode="floor">(x, , s)',
        'Resize<mode="linear",coordinate_transformation_mode="half_pixel">(x, , s)',
        "AveragePool<kernel_shape=[2,2],strides=[2,2]>(x)",
        "AveragePool<kernel_shape=[3,3],strides=[2,2],pads=[1,1,1,1]>(x)",
        "AveragePool<kernel_shape=[3,2],pads=[0,1,1,1],count_include_pad=1>(x)",
        "MaxPool<kernel_shape=[3,3],strides=[2,2],pads=[1,1,1,1]>(x)",
    ],
)
def test_height_and_width_vary(operator: str, factors: str) -> None:
    body = f"(float[1,2,h,w] x) => (float[a,b,c,d] y) <float[4] s = {{1,1,{factors}}}> {{ y = {operator} }}"
    model = vkarray.onnx.load(onnx.parser.parse_model(HEAD + body))
    lengths = {name: vx.Dim(name, min=8, max=64) for name in "hw"}
    program = model.program(np.zeros((1, 2, 16, 16), np.float32), dynamic=lengths)
    rng = np.random.default_rng(0)
    for size in ((8, 8), (9, 30), (64, 17)):
        x = vx.asarray(rng.standard_normal((1, 2, *size), np.float32))
        assert np.asarray(program(x)).tobytes() == np.asarray(model(x)).tobytes()


TRANSPOSED = {
    (4, "NOTSET"): [5, 2, 5, 2], (4, "SAME_LOWER"): [5, 2, 5, 2], (4, "SAME_UPPER"): [2, 5, 2, 5],
    (6, "NOTSET"): [2, 5, 2, 5, 2, 4], (6, "SAME_UPPER"): [1, 2, 5, 2, 5, 2], (7, "NOTSET"): [1, 2, 5, 2, 5, 2, 4],
    (8, "NOTSET"): [1, 2, 5, 2, 5, 2, 4, 0], (8, "SAME_LOWER"): [1, 2, 5, 2, 5, 2, 4, 0],
}  # fmt: skip


@pytest.mark.parametrize(("length", "pad"), TRANSPOSED)
def test_transposed_convolutions_of_a_length(length: int, pad: str) -> None:
    operator = f'ConvTranspose<strides=[2],output_shape=[{length}],auto_pad="{pad}">(x, w)'
    body = f"(float[1,1,3] x) => (float[a,b,c] y) <float[1,1,3] w = {{1,2,4}}> {{ y = {operator} }}"
    assert computed(body, np.ones((1, 1, 3), np.float32)).ravel().tolist() == TRANSPOSED[length, pad]


# -- functions, types and inputs --------------------------------------------------------------------------------------


def test_attributes_of_functions_have_defaults() -> None:
    head = '<ir_version: 9, opset_import: ["" : 18, "my" : 1]> '
    functions = """
    <domain: "my", opset_import: ["" : 18]> LR <alpha: float = 0.25> (a) => (b) { b = LeakyRelu<alpha: float = @alpha>(a) }
    <domain: "my", opset_import: ["" : 18, "my": 1]> Twice (a) => (c) { b = my.LR(a) c = my.LR <alpha = 0.5> (b) }"""
    x = np.array([-8, 1], np.float32)
    for call, expected in (("my.LR(x)", -2.0), ("my.LR<alpha = 0.5>(x)", -4.0), ("my.Twice(x)", -1.0)):
        body = f"g (float[2] x) => (float[2] y) {{ y = {call} }}{functions}"
        assert computed(body, x, head=head).tolist() == [expected, 1.0]


@pytest.mark.parametrize("version", [13, 17, 20])
def test_functions_of_other_versions_are_converted(version: int) -> None:
    head = '<ir_version: 9, opset_import: ["" : 18, "my" : 1]> '
    body = (
        f'g (float[2] x) => (float[2] y) {{ y = my.F(x) }} <domain: "my", opset_import: ["" : {version}]> F (a) => (b) '
        "{ c = Neg(a) b = Relu(c) }"
    )
    assert computed(body, np.array([-1, 1], np.float32), head=head).tolist() == [1, 0]


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_logarithms_of_sums_keep_integers(dtype: str) -> None:
    x = np.array([[1, 2], [30, 60]], dtype)
    for operator, expected in (("ReduceLogSum", [1, 4]), ("ReduceLogSumExp", [2, 60])):
        body = f"({dtype}[2,2] x) => ({dtype}[a] y) <int64[1] ax = {{1}}> {{ y = {operator}<keepdims=0>(x, ax) }}"
        found = computed(body, x)
        assert (found.dtype.name, found.tolist()) == (dtype, expected)


def test_normalization_of_one_channel() -> None:
    weights = "float[1] s={2}, float[1] b={1}, float[1] m={0.5}, float[1] v={4}"
    body = f"(float[4] x) => (float[a] y) <{weights}> {{ y = BatchNormalization<epsilon=0.0>(x,s,b,m,v) }}"
    assert computed(body, np.arange(4, dtype=np.float32)).tolist() == [0.5, 1.5, 2.5, 3.5]


def test_lengths_below_zero_are_unknown() -> None:
    model = onnx.parser.parse_model(HEAD + "(float[3] x) => (float[3] y) { y = Neg(x) }")
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = -1
    loaded = vkarray.onnx.load(model)
    assert loaded.inputs[0].shape == (None,)
    assert np.asarray(loaded(np.ones(5, np.float32))).tolist() == [-1.0] * 5


def test_inputs_with_values_say_where_these_are() -> None:
    model = onnx.parser.parse_model(HEAD + "(float[2] x, float[2] w) => (float[2] y) { y = Add(x, w) }")
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.ones(2, np.float32), "w"))
    x = np.ones(2, np.float32)
    with pytest.raises(TypeError, match="'w' has a value in the model: take that out of its initializers to give one"):
        vkarray.onnx.load(model)(x=x, w=x)


def test_an_input_may_be_called_self() -> None:
    model = vkarray.onnx.load(onnx.parser.parse_model(HEAD + "(float[2] self) => (float[2] y) { y = Neg(self) }"))
    x = np.ones(2, np.float32)
    assert np.asarray(model(self=x)).tolist() == [-1.0, -1.0]
    assert model.program(self=x).inputs[0].name == "self"
    with pytest.raises(TypeError, match="dynamic is of type list; expected a dictionary"):
        model.program(x, dynamic=["n"])
