"""Models that quantize round their convolutions and products (QuantizeLinear, DequantizeLinear), beside ONNX's reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the package onnx is an extra")

from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from test_onnx import FLOAT, model, node, value

import vkarray as vx
import vkarray.onnx

ACTIVATIONS = ("uint8", "int8", "uint16", "int16")
# Of weights the least and the greatest number, and the zero point.
WEIGHTS = {"int8": (-127, 127, 0), "uint8": (0, 255, 128), "int4": (-8, 7, 0), "uint4": (0, 15, 8)}
CHAINS = ("Conv", "Conv of groups", "MatMul", "Gemm")


class Quantized:
    """A model in the making, whose numbers are drawn."""

    def __init__(self, seed: int, activations: str, weights: str, per_channel: bool) -> None:
        self.random = np.random.default_rng(seed)
        self.activations, self.weights, self.per_channel = np.dtype(activations), weights, per_channel
        self.limits = np.iinfo(activations)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.step = 0.0  # of the last numbers that are quantized

    def constant(self, name: str, kind: int, values: Any) -> str:
        values = np.asarray(values)
        self.constants.append(helper.make_tensor(name, kind, values.shape, values.reshape(-1).tolist()))
        return name

    def put(self, kind: str, inputs: str, name: str, **attributes: Any) -> str:
        self.nodes.append(node(kind, inputs, name, **attributes))
        return name

    def rounded(self, x: str, span: float) -> str:
        """What is quantized to a range, and numbers again."""
        kind = helper.np_dtype_to_tensor_dtype(self.activations)
        self.step = span / (int(self.limits.max) - int(self.limits.min))
        scale = self.constant(f"{x}_scale", FLOAT, np.float32(self.step))
        middle = (int(self.limits.max) + int(self.limits.min)) // 2
        zero = self.constant(f"{x}_zero", kind, middle + int(self.random.integers(-20, 20)))
        self.put("QuantizeLinear", f"{x} {scale} {zero}", f"{x}_q")
        return self.put("DequantizeLinear", f"{x}_q {scale} {zero}", f"{x}_r")

    def weight(self, shape: tuple[int, ...], axis: int) -> tuple[str, Any]:
        low, high, middle = WEIGHTS[self.weights]
        kind, count = getattr(TensorProto, self.weights.upper()), (shape[axis],) if self.per_channel else ()
        scales = (self.random.random(count) * 0.02 + 0.005).astype(np.float32)
        names = [
            self.constant("w_q", kind, self.random.integers(low, high + 1, shape)),
            self.constant("w_scale", FLOAT, scales),
            self.constant("w_zero", kind, np.full(count, middle)),
        ]
        attributes = {"axis": axis} if self.per_channel else {}
        return self.put("DequantizeLinear", " ".join(names), "w", **attributes), scales

    def bias(self, scales: Any, count: int) -> str:
        scales = np.broadcast_to(np.asarray(scales * np.float32(self.step)), (count,))
        values = self.constant("b_q", TensorProto.INT32, self.random.integers(-300, 300, count))
        return self.put("DequantizeLinear", f"{values} {self.constant('b_scale', FLOAT, scales)}", "b", axis=0)

    def chain(self, kind: str) -> tuple[Any, tuple[int, ...]]:
        """The model, and the shape of what it takes."""
        shape = {"MatMul": (2, 5, 12), "Gemm": (3, 12)}.get(kind, (2, 4, 9, 8))
        x = self.rounded("x", 8.0)
        if kind == "MatMul":
            weight, _ = self.weight((12, 7), 1)
            self.put("MatMul", f"{x} {weight}", "p")
        elif kind == "Gemm":
            weight, scales = self.weight((7, 12), 0)
            self.put("Gemm", f"{x} {weight} {self.bias(scales, 7)}", "p", transB=1)
        else:
            groups = 2 if kind == "Conv of groups" else 1
            weight, scales = self.weight((6, 4 // groups, 3, 3), 0)
            inputs = f"{x} {weight} {self.bias(scales, 6)}"
            self.put("Conv", inputs, "p", group=groups, pads=[1, 1, 1, 1], strides=[2, 1])
        found = self.rounded(self.put("Relu", self.rounded("p", 16.0), "u"), 16.0)
        self.put("Identity", found, "y")
        made = model(self.nodes, [value("x", FLOAT, list(shape))], [value("y", FLOAT, None)], version=21)
        made.graph.initializer.extend(self.constants)
        return made, shape


CASES = [
    (chain, ACTIVATIONS[(number + other) % 4], weights, bool((number + other) % 3))
    for number, chain in enumerate(CHAINS) for other, weights in enumerate(WEIGHTS)
]  # fmt: skip


@pytest.mark.parametrize(("chain", "activations", "weights", "per_channel"), CASES)
def test_rounded_numbers_are_the_same(
    chain: str, activations: str, weights: str, per_channel: bool, tmp_path: Path
) -> None:
    made = Quantized(len(chain), activations, weights, per_channel)
    proto, shape = made.chain(chain)
    x = made.random.standard_normal(shape).astype(np.float32) * 2
    (expected,) = ReferenceEvaluator(proto).run(None, {"x": x})
    loaded = vkarray.onnx.load(proto)
    found = np.asarray(loaded(x))
    # Sums in another order may round to the next number, where one lies half way between two.
    steps = np.abs(found - expected) / made.step
    assert steps.max() < 1.01
    assert (steps > 0.01).mean() < 0.02
    loaded.program(x).save(tmp_path / "model.vkp", targets=())
    (again,) = vx.load_program(tmp_path / "model.vkp")(vx.asarray(x))
    assert np.asarray(again).tobytes() == found.tobytes()


def test_blocks_of_4_bits_are_scaled() -> None:
    values = np.random.default_rng(0).integers(-8, 8, (6, 8))
    scales = np.random.default_rng(1).random((6, 2)).astype(np.float32)
    proto = model(
        [node("DequantizeLinear", "w scale", "d", axis=1, block_size=4), node("MatMul", "x d", "y")],
        [value("x", FLOAT, [3, 6])], [value("y", FLOAT, None)], {"scale": scales}, version=21,
    )  # fmt: skip
    proto.graph.initializer.append(helper.make_tensor("w", TensorProto.INT4, values.shape, values.reshape(-1).tolist()))
    x = np.random.default_rng(2).standard_normal((3, 6)).astype(np.float32)
    expected = x @ (values * np.repeat(scales, 4, axis=1)).astype(np.float32)
    np.testing.assert_allclose(np.asarray(vkarray.onnx.load(proto)(x)), expected, rtol=1e-5, atol=1e-5)


def test_other_uses_of_4_bits_are_refused() -> None:
    proto = model([node("Cast", "w", "y", to=FLOAT)], [], [value("y", FLOAT, None)], version=21)
    proto.graph.initializer.append(helper.make_tensor("w", TensorProto.INT4, (2,), [1, 2]))
    with pytest.raises(NotImplementedError, match="the initializer 'w' has elements of the type INT4"):
        vkarray.onnx.load(proto)
