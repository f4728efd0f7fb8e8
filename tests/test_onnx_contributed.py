"""Operators of ONNX Runtime's domain, against what its documentation says of them, in NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the package onnx is an extra")

from onnx import TensorProto, helper

import vkarray.onnx

DOMAIN = "com.microsoft"
rng = np.random.default_rng(0)


def numbers(*shape: int) -> Any:
    return rng.standard_normal(shape).astype(np.float32)


def bytes_of(*shape: int) -> Any:
    return rng.integers(0, 256, shape).astype(np.uint8)


class Case(NamedTuple):
    operator: str
    inputs: list[Any]  # None where the node names none
    expected: Callable[..., Any]  # of those that are there; one array for each output
    attributes: Mapping[str, Any] = MappingProxyType({})
    domain: str = DOMAIN
    outputs: str = "y"


erf = np.vectorize(math.erf, otypes=[np.float32])


def gelu(x: Any) -> Any:
    return x * (1 + erf(x / math.sqrt(2))) / 2


def gelu_of_tanh(x: Any) -> Any:
    return x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def layer_norm(x: Any, scale: Any, bias: Any, epsilon: float = 1e-5) -> Any:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon) * scale + bias


def rms_norm(x: Any, scale: Any, epsilon: float = 1e-5) -> Any:
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * scale


def heads(x: Any) -> Any:
    return x.reshape(*x.shape[:2], 2, -1).transpose(0, 2, 1, 3)


def attended(q: Any, k: Any, v: Any, bias: Any = 0.0) -> Any:
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]) + bias
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    return ((shares / shares.sum(-1, keepdims=True)) @ v).transpose(0, 2, 1, 3).reshape(q.shape[0], q.shape[2], -1)


def attention(x: Any, w: Any, b: Any, mask: Any = None, causal: bool = False, past: Any = None) -> Any:
    q, k, v = (heads(one) for one in np.split(x @ w + b, 3, axis=-1))
    if past is not None:
        k, v = np.concatenate([past[0], k], axis=2), np.concatenate([past[1], v], axis=2)
    rows, columns = q.shape[2], k.shape[2]
    bias = 0.0
    if mask is not None:
        mask = np.arange(columns) < mask[:, None] if mask.ndim == 1 else mask != 0
        of_queries = mask[:, :, columns - rows : columns, :columns] if mask.ndim == 4 else mask[:, None]
        bias = np.where(mask[:, None, None] if mask.ndim == 2 else of_queries, 0.0, -10000.0)
    if causal:
        bias = bias + np.triu(np.full((rows, columns), -np.inf), columns - rows + 1)
    found = attended(q, k, v, bias).astype(np.float32)
    return (found, np.stack([k, v])) if past is not None else found


def of_three(q: Any, k: Any, v: Any, bias: Any, added: Any) -> Any:
    parts = (one + part for one, part in zip((q, k, v), np.split(bias, 3), strict=True))
    return attended(*map(heads, parts), added)


def rotated(x: Any, places: Any, cosines: Any, sines: Any) -> Any:
    given = x.reshape(2, 3, 2, 4)
    places = np.arange(3) + places if places.size == 1 else places
    cosine, sine = (np.broadcast_to(one[places], (2, 3, 2))[:, :, None] for one in (cosines, sines))
    first, second = given[..., :2], given[..., 2:]
    return np.concatenate([first * cosine - second * sine, second * cosine + first * sine], axis=-1).reshape(x.shape)


def quantized(x: Any, scale: Any, zero: Any) -> Any:
    return np.clip(np.rint(x / scale) + zero, 0, 255).astype(np.uint8)


def plain(x: Any, scale: Any, zero: Any) -> Any:
    return (x.astype(np.float32) - zero) * scale


def by_range(a: Any, b: Any, scale: Any, zero: Any) -> Any:
    own = np.float32((max(a.max(), 0) - min(a.min(), 0)) / 255)
    own_zero = np.rint(-min(a.min(), 0) / own)
    return plain(quantized(a, own, own_zero), own, own_zero) @ plain(b, scale, zero)


x, wide, scale, bias = numbers(2, 3, 8), numbers(8, 24) / 3, numbers(8), numbers(8)
SCALES = [np.float32(0.02), np.uint8(120), np.float32(0.05), np.uint8(7), np.float32(0.07), np.uint8(100)]
a, b = bytes_of(3, 4), bytes_of(3, 4)
TABLES = [numbers(10, 2), numbers(10, 2)]

CASES = {
    "Gelu": Case("Gelu", [x], gelu),
    "BiasGelu": Case("BiasGelu", [x, bias], lambda x, b: gelu(x + b)),
    "FastGelu": Case("FastGelu", [x], gelu_of_tanh),
    "FastGelu with a bias": Case("FastGelu", [x, bias], lambda x, b: gelu_of_tanh(x + b)),
    "QuickGelu": Case("QuickGelu", [x], lambda x: x * sigmoid(1.5 * x), {"alpha": 1.5}),
    "FusedMatMul": Case(
        "FusedMatMul", [x, numbers(2, 3, 5)], lambda a, b: 0.5 * a.swapaxes(-1, -2) @ b, {"alpha": 0.5, "transA": 1}
    ),
    "FusedMatMul of stacks": Case(
        "FusedMatMul", [numbers(3, 2, 8), numbers(2, 8, 5)], lambda a, b: a.swapaxes(0, 1) @ b, {"transBatchA": 1}
    ),
    "FusedGemm": Case(
        "FusedGemm", [numbers(3, 4), numbers(5, 4), numbers(5)], lambda a, b, c: np.maximum(a @ b.T + c, 0.1 * (a @ b.T + c)),
        {"transB": 1, "activation": "LeakyRelu", "activation_alpha": 0.1},
    ),
    "FusedConv": Case(
        "FusedConv", [numbers(1, 3, 4, 4), numbers(5, 3, 1, 1), numbers(5)],
        lambda x, w, b: np.clip(np.einsum("bihw,oi->bohw", x, w[..., 0, 0]) + b[:, None, None], 0, 1.5),
        {"kernel_shape": [1, 1], "activation": "Clip", "activation_params": [0.0, 1.5]},
    ),
    "LayerNormalization before version 17": Case("LayerNormalization", [x, scale, bias], layer_norm, {}, ""),
    "SimplifiedLayerNormalization": Case("SimplifiedLayerNormalization", [x, scale], rms_norm, {}, ""),
    "SkipLayerNormalization": Case(
        "SkipLayerNormalization", [x, numbers(2, 3, 8), scale, bias, numbers(8)],
        lambda x, s, g, b, c: (layer_norm(x + s + c, g, b), x + s + c), {"epsilon": 1e-5}, outputs="y   total",
    ),
    "SkipSimplifiedLayerNormalization": Case(
        "SkipSimplifiedLayerNormalization", [x, numbers(2, 3, 8), scale], lambda x, s, g: (rms_norm(x + s, g), x + s),
        {"epsilon": 1e-5}, outputs="y   total",
    ),
    "EmbedLayerNormalization": Case(
        "EmbedLayerNormalization",
        [
            np.int32([[1, 2, 0], [3, 3, 1]]), np.int32([[0, 0, 1], [1, 1, 1]]), numbers(4, 8), numbers(5, 8), numbers(2, 8),
            scale, bias, np.int32([[1, 1, 0], [1, 1, 1]]),
        ],
        lambda i, s, w, p, t, g, b, m: (layer_norm(w[i] + p[:3] + t[s], g, b), m.sum(1).astype(np.int32)),
        {"epsilon": 1e-5}, outputs="y count",
    ),
    "Attention": Case("Attention", [x, wide, numbers(24)], attention, {"num_heads": 2}),
    "Attention, a mask of keys": Case(
        "Attention", [x, wide, numbers(24), np.int32([[1, 1, 0], [1, 1, 1]])], attention, {"num_heads": 2}
    ),
    "Attention, lengths": Case("Attention", [x, wide, numbers(24), np.int32([2, 3])], attention, {"num_heads": 2}),
    "Attention, causal with a past": Case(
        "Attention", [x, wide, numbers(24), None, numbers(2, 2, 2, 5, 4)],
        lambda x, w, b, p: attention(x, w, b, None, True, p), {"num_heads": 2, "unidirectional": 1}, outputs="y present",
    ),
    "Attention, a mask of longer sequences": Case(
        "Attention", [x, wide, numbers(24), np.int32(np.tri(11, 11, -1)[::-1].reshape(1, 1, 11, 11)), numbers(2, 2, 2, 5, 4)],
        lambda x, w, b, m, p: attention(x, w, b, m, False, p), {"num_heads": 2}, outputs="y present",
    ),
    "MultiHeadAttention": Case(
        "MultiHeadAttention", [x, numbers(2, 5, 8), numbers(2, 5, 8), numbers(24), None, numbers(2, 2, 3, 5)], of_three,
        {"num_heads": 2},
    ),
    "RotaryEmbedding": Case("RotaryEmbedding", [x, np.int64([2]), *TABLES], rotated, {"num_heads": 2}),
    "RotaryEmbedding at places": Case(
        "RotaryEmbedding", [x, np.int64([[2, 0, 5], [1, 2, 3]]), *TABLES], rotated, {"num_heads": 2}
    ),
    "QLinearAdd": Case(
        "QLinearAdd", [a, *SCALES[:2], b, *SCALES[2:]],
        lambda a, s, z, b, t, w, u, v: quantized(plain(a, s, z) + plain(b, t, w), u, v),
    ),
    "QLinearMul": Case(
        "QLinearMul", [a, *SCALES[:2], b, *SCALES[2:]],
        lambda a, s, z, b, t, w, u, v: quantized(plain(a, s, z) * plain(b, t, w), u, v),
    ),
    "QLinearSigmoid": Case(
        "QLinearSigmoid", [a, *SCALES[:2], np.float32(1 / 256), np.uint8(0)],
        lambda a, s, z, t, w: quantized(sigmoid(plain(a, s, z)), t, w),
    ),
    "QLinearLeakyRelu": Case(
        "QLinearLeakyRelu", [a, *SCALES[:4]],
        lambda a, s, z, t, w: quantized(np.where(plain(a, s, z) < 0, 0.1, 1) * plain(a, s, z), t, w), {"alpha": 0.1},
    ),
    "MatMulIntegerToFloat": Case(
        "MatMulIntegerToFloat", [a, bytes_of(4, 5), SCALES[0], SCALES[2], SCALES[1], SCALES[3]],
        lambda a, b, s, t, z, w: plain(a, s, z) @ plain(b, t, w),
    ),
    "DynamicQuantizeMatMul": Case(
        "DynamicQuantizeMatMul", [numbers(3, 4), bytes_of(4, 5), SCALES[2], SCALES[1]], by_range
    ),
}  # fmt: skip


def model_of(case: Case) -> tuple[Any, dict[str, Any]]:
    """A model of one node, and what it is given."""
    given = {f"x{place}": one for place, one in enumerate(case.inputs) if one is not None}
    names = [f"x{place}" if one is not None else "" for place, one in enumerate(case.inputs)]
    outputs = case.outputs.split(" ")
    made = helper.make_node(case.operator, names, outputs, name="it", domain=case.domain, **case.attributes)
    found = case.expected(*given.values())
    expected = dict(zip(filter(None, outputs), found if isinstance(found, tuple) else (found,), strict=True))
    infos = [
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(one.dtype), one.shape)
            for name, one in each
        ]
        for each in (given.items(), ((name, np.asarray(one)) for name, one in expected.items()))
    ]
    graph = helper.make_graph([made], "test", *infos)
    opsets = [helper.make_opsetid("", 16), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8), {"given": given, "expected": expected}


@pytest.mark.parametrize("name", CASES)
def test_operators(name: str) -> None:
    model, values = model_of(CASES[name])
    found = vkarray.onnx.load(model)(**values["given"])
    for one, expected in zip(found if isinstance(found, tuple) else (found,), values["expected"].values(), strict=True):
        one = np.asarray(one)
        assert one.dtype == expected.dtype or one.dtype == np.float32
        if expected.dtype == np.uint8:
            np.testing.assert_array_equal(one, expected)
        else:
            np.testing.assert_allclose(one, expected, rtol=1e-4, atol=1e-5)


def test_masks_of_begins_and_ends_are_refused() -> None:
    q = numbers(1, 3, 8)
    case = Case("MultiHeadAttention", [q, q, q, None, np.int32([3, 0, 3, 0, 3])], lambda *_: q, {"num_heads": 2})
    model, values = model_of(case)
    with pytest.raises(ValueError, match=r"'it'.*\(5,\)"):
        vkarray.onnx.load(model)(**values["given"])


def test_an_unknown_operator_is_named_with_its_domain() -> None:
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    node = helper.make_node("NhwcMaxPool", ["x"], ["y"], name="pool", domain=DOMAIN)
    graph = helper.make_graph([node], "test", [info], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(DOMAIN, 1)])
    with pytest.raises(
        NotImplementedError, match=r"'pool'.*NhwcMaxPool, domain 'com\.microsoft', version 1.*as it was before"
    ):
        vkarray.onnx.load(model)
