"""Operators of ONNX Runtime's domain, which its optimizer and exporters put in place of several of ONNX's.

Source: ONNX Runtime, docs/ContribOperators.md.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import vkarray as vx

from ...nn import attention as nn
from ...nn import pointwise
from ..interpreter import Call
from ..table import FLOAT32, HALF, INSIDE, operator
from . import attention, convolution, normalization, products, quantization

DOMAIN = "com.microsoft"


# -- activations ------------------------------------------------------------------------------------------------------


@operator("Gelu", "BiasGelu", domain=DOMAIN)
def _gelu(call: Call, x: Any, bias: Any = None) -> Any:
    return pointwise.apply("gelu", x if bias is None else x + bias)


@operator("FastGelu", domain=DOMAIN)
def _fast_gelu(call: Call, x: Any, bias: Any = None) -> Any:
    return pointwise.apply("gelu_tanh", x if bias is None else x + bias)


@operator("QuickGelu", domain=DOMAIN)
def _quick_gelu(call: Call, x: Any, *, alpha: float = 1.702) -> Any:
    return x * pointwise.apply("sigmoid", x * alpha)


_ACTIVATIONS = {"Relu": "relu", "Sigmoid": "sigmoid", "HardSigmoid": "", "LeakyRelu": "", "Clip": "", "Tanh": ""}


def _activated(x: Any, name: str, numbers: Any) -> Any:
    """What an activation that is fused into another operator makes of its result."""
    if not name:
        return x
    if name not in _ACTIVATIONS:
        raise ValueError(f"expected the activation as one of {', '.join(_ACTIVATIONS)}, got {name!r:.40}")
    if _ACTIVATIONS[name]:
        return pointwise.apply(_ACTIVATIONS[name], x)
    if name == "Tanh":
        return vx.tanh(x)
    if name == "Clip":
        return vx.clip(x, *numbers)
    if name == "LeakyRelu":
        return pointwise.apply("leaky_relu", x, *(numbers or (0.01,)))
    slope, offset = numbers or (0.2, 0.5)
    return vx.clip(x * slope + offset, 0.0, 1.0)


# -- products and convolutions ----------------------------------------------------------------------------------------


def _turned(x: Any, rows: int, batch: int) -> Any:
    """A stack of matrices whose last two dimensions, or the first with the rows, change places."""
    if batch:
        x = vx.moveaxis(x, 0, -2)
    return vx.swapaxes(x, -1, -2) if rows and x.ndim > 1 else x


@operator("FusedMatMul", "TransposeMatMul", domain=DOMAIN, half=HALF)
def _matmul(
    call: Call, a: Any, b: Any, *, alpha: float = 1.0, transA: int = 0, transB: int = 0, transBatchA: int = 0,
    transBatchB: int = 0,
) -> Any:  # fmt: skip
    found = vx.matmul(_turned(a, transA, transBatchA), _turned(b, transB, transBatchB))
    return found if alpha == 1 else found * alpha


@operator("FusedGemm", domain=DOMAIN, half=HALF)
def _gemm(
    call: Call, *inputs: Any, activation: str = "", activation_alpha: float = 0.0, activation_beta: float = 0.0,
    activation_gamma: float = 0.0, **attributes: Any,
) -> Any:  # fmt: skip
    numbers = {"LeakyRelu": (activation_alpha,), "HardSigmoid": (activation_alpha, activation_beta)}
    return _activated(products._gemm(call, *inputs, **attributes), activation, numbers.get(activation, ()))


@operator("FusedConv", domain=DOMAIN, half=HALF)
def _convolve(
    call: Call, x: Any, weight: Any, bias: Any = None, added: Any = None, *, activation: str = "", activation_params: Any = (),
    **attributes: Any,
) -> Any:  # fmt: skip
    found = convolution.convolve(call, x, weight, bias, **attributes)
    return _activated(found if added is None else found + added, activation, activation_params)


# -- normalization ----------------------------------------------------------------------------------------------------


def _moments(x: Any, epsilon: float, centred: bool) -> tuple[Any, Any]:
    mean = vx.mean(x, axis=-1, keepdims=True) if centred else None
    away = x if mean is None else x - mean
    return mean, 1 / vx.sqrt(vx.mean(away * away, axis=-1, keepdims=True) + epsilon)


@operator("SkipLayerNormalization", domain=DOMAIN, half=INSIDE)
def _skip_layer_norm(
    call: Call, x: Any, skip: Any, scale: Any, bias: Any = None, added: Any = None, *, epsilon: float = 1e-12
) -> Any:
    total = x + skip if added is None else x + skip + added
    found = normalization._layer_norm(call, total, scale, bias, epsilon=epsilon)[0]
    asked = any(call.wanted[1:3])
    return (found, *(_moments(total, epsilon, True) if asked else (None, None)), total)


@operator("SkipSimplifiedLayerNormalization", domain=DOMAIN, half=INSIDE)
def _skip_rms_norm(call: Call, x: Any, skip: Any, scale: Any, added: Any = None, *, epsilon: float = 1e-12) -> Any:
    total = x + skip if added is None else x + skip + added
    found = normalization._rms_norm(call, total, scale, epsilon=epsilon)
    return found, None, (_moments(total, epsilon, False)[1] if any(call.wanted[2:3]) else None), total


@operator("SimplifiedLayerNormalization", half=INSIDE)
@operator("SimplifiedLayerNormalization", domain=DOMAIN, half=INSIDE)
def _simplified_layer_norm(call: Call, x: Any, scale: Any, **attributes: Any) -> Any:
    found = normalization._rms_norm(call, x, scale, **attributes)
    asked = any(call.wanted[1:])
    return found, (_moments(x, attributes.get("epsilon", 1e-5), False)[1] if asked else None)


# The optimizer puts it in models before version 17 of ONNX's operators, which brought it.
operator("LayerNormalization", half=INSIDE)(normalization._layer_norm)
operator("LayerNormalization", domain=DOMAIN, half=INSIDE)(normalization._layer_norm)


@operator("EmbedLayerNormalization", domain=DOMAIN, half=INSIDE)
def _embed(
    call: Call, words: Any, segments: Any, of_words: Any, of_places: Any, of_segments: Any, scale: Any, bias: Any,
    mask: Any = None, places: Any = None, *, epsilon: float = 1e-12, mask_index_type: int = 0,
) -> Any:  # fmt: skip
    total = vx.take(of_words, words, axis=0)
    total = total + (of_places[: words.shape[1]] if places is None else vx.take(of_places, places, axis=0))
    if segments is not None:
        total = total + vx.take(of_segments, segments, axis=0)
    count = vx.zeros((words.shape[0],), dtype=vx.int32) if mask is None else vx.sum(mask, axis=1, dtype=vx.int32)
    return normalization._layer_norm(call, total, scale, bias, epsilon=epsilon)[0], count, total


# -- attention --------------------------------------------------------------------------------------------------------


def _masked(call: Call, mask: Any, batch: int, rows: int, columns: int, value: float, dtype: Any) -> Any:
    """Numbers to add to scores: 0 where a mask is 1. It is of keys, of queries and keys, or has how many keys there are.

    One of 4 dimensions may be of longer sequences, of which queries and keys are the first: the queries are those after the past.
    """
    if mask is None:
        return None
    if mask.ndim == 1:
        mask = vx.broadcast_to(mask, (batch,))  # and no mask of begins and ends, which is longer
        mask = call.array(np.arange(columns), "int32") < vx.expand_dims(vx.astype(mask, vx.int32), axis=-1)
    mask = vx.astype(mask, vx.bool)
    mask = {2: lambda: mask[:, None, None, :], 3: lambda: mask[:, None, :, :]}.get(mask.ndim, lambda: mask)()
    mask = mask[..., columns - rows : columns, :columns] if mask.shape[-2] > rows else mask
    return vx.where(mask, vx.zeros((), dtype=dtype), vx.full((), value, dtype=dtype))


def _attended(
    call: Call, q: Any, k: Any, v: Any, mask: Any, added: Any, causal: int, scale: float | None, value: float
) -> Any:
    """The result of attention of heads, (batch, length, heads * width)."""
    rows, columns = q.shape[2], k.shape[2]
    bias = _masked(call, mask, q.shape[0], rows, columns, value, q.dtype)
    if added is not None:
        bias = added if bias is None else bias + added
    if causal:
        allowed = attention._allowed(call, rows, columns, columns - rows, -1, 0)
        nothing = vx.full((), -math.inf, dtype=q.dtype)
        bias = vx.where(allowed, vx.zeros((), dtype=q.dtype) if bias is None else bias, nothing)
    found = nn.attend(q, k, v, bias, scale=scale or None)
    return vx.reshape(vx.permute_dims(found, (0, 2, 1, 3)), (found.shape[0], rows, -1))


@operator("Attention", domain=DOMAIN, half=HALF)
def _attention(
    call: Call, x: Any, weight: Any, bias: Any = None, mask: Any = None, past: Any = None, added: Any = None,
    past_length: Any = None, *, num_heads: int, unidirectional: int = 0, qkv_hidden_sizes: Any = None,
    scale: float | None = None, mask_filter_value: float = -10000.0, do_rotary: int = 0, past_present_share_buffer: int = 0,
    rotary_embedding_dim: int = 0,
) -> Any:  # fmt: skip
    if do_rotary or past_length is not None or (mask is not None and mask.ndim == 1 and mask.shape[0] != x.shape[0]):
        raise ValueError("expected neither do_rotary, nor past_sequence_length, nor a mask of begins and ends")
    found = vx.matmul(x, weight)
    found = found if bias is None else found + bias
    width = found.shape[-1] // 3
    one, two = (width, 2 * width) if qkv_hidden_sizes is None else np.cumsum(qkv_hidden_sizes)[:2].tolist()
    parts = found[..., :one], found[..., one:two], found[..., two:]
    q, k, v = (attention._in_heads(part, num_heads) for part in parts)
    if past is not None:
        k, v = vx.concat([past[0], k], axis=2), vx.concat([past[1], v], axis=2)
    found = _attended(call, q, k, v, mask, added, unidirectional, scale, mask_filter_value)
    return found, (vx.stack([k, v]) if any(call.wanted[1:]) else None)


@operator("MultiHeadAttention", domain=DOMAIN, half=HALF)
def _attention_of_parts(
    call: Call, q: Any, k: Any = None, v: Any = None, bias: Any = None, mask: Any = None, added: Any = None, past_key: Any = None,
    past_value: Any = None, *, num_heads: int, scale: float | None = None, mask_filter_value: float = -10000.0,
    unidirectional: int = 0,
) -> Any:  # fmt: skip
    if q.ndim == 5:  # (batch, length, heads, 3, width)
        q, k, v = (vx.reshape(q[:, :, :, place], (*q.shape[:2], -1)) for place in range(3))
    elif k is not None and k.ndim == 5:
        k, v = (vx.reshape(k[:, :, :, place], (*k.shape[:2], -1)) for place in range(2))
    if bias is not None:
        one, two = q.shape[-1], 2 * q.shape[-1]
        q = q + bias[:one]
        if k.ndim == 3:
            k, v = k + bias[one:two], v + bias[two:]
    q, k, v = (attention._in_heads(part, num_heads) for part in (q, k, v))
    if past_key is not None:
        k, v = vx.concat([past_key, k], axis=2), vx.concat([past_value, v], axis=2)
    return _attended(call, q, k, v, mask, added, unidirectional, scale, mask_filter_value), k, v


@operator("RotaryEmbedding", domain=DOMAIN)
def _rotate(
    call: Call, x: Any, places: Any, cosines: Any, sines: Any, *, num_heads: int = 0, rotary_embedding_dim: int = 0,
    interleaved: int = 0, scale: float = 1.0, is_packed_batching: int = 0,
) -> Any:  # fmt: skip
    length = x.shape[2] if x.ndim == 4 else x.shape[1]
    if places.size == 1 and x.shape[0] * length != 1:  # where the first one is
        places = vx.reshape(places, ()) + vx.arange(length, dtype=places.dtype)
    places = vx.broadcast_to(places, (x.shape[0], length))
    heads = num_heads or (0 if x.ndim == 4 else x.shape[2] // (2 * cosines.shape[-1]))
    return attention._rotate(
        call, x, cosines, sines, places, interleaved=interleaved, num_heads=heads, rotary_embedding_dim=rotary_embedding_dim
    )  # fmt: skip


# -- quantized numbers ------------------------------------------------------------------------------------------------

for _name, _function in (("QuantizeLinear", quantization._quantize), ("DequantizeLinear", quantization._dequantize)):
    operator(_name, domain=DOMAIN, numpy=True, half=FLOAT32)(_function)


def _of_two(call: Call, compute: Any, a: Any, b: Any, to: Any) -> Any:
    return quantization._quantize(call, compute(*(quantization._dequantize(call, *one) for one in (a, b))), *to)


@operator("QLinearAdd", domain=DOMAIN, half=FLOAT32)
def _add_quantized(call: Call, *inputs: Any) -> Any:
    return _of_two(call, vx.add, inputs[:3], inputs[3:6], inputs[6:])


@operator("QLinearMul", domain=DOMAIN, half=FLOAT32)
def _multiply_quantized(call: Call, *inputs: Any) -> Any:
    return _of_two(call, vx.multiply, inputs[:3], inputs[3:6], inputs[6:])


@operator("QLinearSigmoid", domain=DOMAIN, half=FLOAT32)
def _sigmoid_quantized(call: Call, *inputs: Any) -> Any:
    found = pointwise.apply("sigmoid", quantization._dequantize(call, *inputs[:3]))
    return quantization._quantize(call, found, *inputs[3:])


@operator("QLinearLeakyRelu", domain=DOMAIN, half=FLOAT32)
def _leaky_relu_quantized(call: Call, *inputs: Any, alpha: float = 0.01) -> Any:
    found = pointwise.apply("leaky_relu", quantization._dequantize(call, *inputs[:3]), alpha)
    return quantization._quantize(call, found, *inputs[3:])


@operator("MatMulIntegerToFloat", domain=DOMAIN, half=FLOAT32)
def _multiply_to_float(
    call: Call, a: Any, b: Any, a_scale: Any, b_scale: Any, a_zero: Any = None, b_zero: Any = None, bias: Any = None
) -> Any:
    found = quantization._multiply_integers(call, a, b, a_zero, b_zero)
    found = call.cast(found, a_scale.dtype) * (a_scale * b_scale)
    return found if bias is None else found + bias


@operator("DynamicQuantizeMatMul", domain=DOMAIN, half=FLOAT32)
def _multiply_by_range(call: Call, a: Any, b: Any, b_scale: Any, b_zero: Any = None, bias: Any = None) -> Any:
    quantized, scale, zero = quantization._quantize_by_range(call, a)
    return _multiply_to_float(call, quantized, b, scale, b_scale, zero, b_zero, bias)
