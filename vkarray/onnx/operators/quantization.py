"""Quantized numbers: to and from integers, and products and convolutions of them."""

from __future__ import annotations

from typing import Any

import numpy as np

import vkarray as vx

from ..interpreter import Call
from ..table import FLOAT32, axis_of, operator
from ..types import dtype_of
from .convolution import convolve


def _beside(call: Call, x: Any, factors: Any, axis: int, block_size: int) -> Any:
    """Factors of a whole array, of each slice along an axis, or of blocks there, beside x. Raises ValueError for others."""
    if block_size < 0:
        raise ValueError(f"its attribute 'block_size' is {block_size}, expected 0 or more")
    if factors.ndim == 0 or (factors.ndim == 1 and factors.shape[0] == 1 and not block_size):
        return call.xp.reshape(factors, ())
    axis = axis_of(axis, x.ndim)
    shape = list(x.shape) if block_size else [1] * x.ndim
    shape[axis] = -(-x.shape[axis] // block_size) if block_size else x.shape[axis]
    wanted = tuple(shape) if block_size else (x.shape[axis],)
    if tuple(factors.shape) != wanted:
        raise ValueError(f"it has scales or zero points of shape {tuple(factors.shape)}, expected {wanted}")
    if block_size:
        spread = call.xp.repeat(factors, block_size, axis=axis)
        return spread[(*(slice(None),) * axis, slice(0, x.shape[axis]))]
    return call.xp.reshape(factors, tuple(shape))


def _quantized(call: Call, x: Any, scale: Any, zero: Any, dtype: Any) -> Any:
    """x / scale + zero, rounded to even and held within the integer type."""
    found = call.xp.rint(x / scale)
    if zero is not None:
        found = found + call.cast(zero, found.dtype)
    info = np.iinfo(np.dtype(dtype.name))
    return call.cast(call.xp.clip(found, float(info.min), float(info.max)), dtype)


@operator("QuantizeLinear", since=10, numpy=True, half=FLOAT32)
def _quantize(
    call: Call, x: Any, scale: Any, zero: Any = None, *, axis: int = 1, block_size: int = 0, output_dtype: int = 0,
    precision: int = 0, saturate: int = 1,
) -> Any:  # fmt: skip
    dtype = zero.dtype if zero is not None else call.dtype(output_dtype or 2)
    wide = call.dtype(precision or 1)
    given = call.cast(x, wide)
    scale = call.cast(_beside(call, x, scale, axis, block_size), wide)
    return _quantized(call, given, scale, None if zero is None else _beside(call, x, zero, axis, block_size), dtype)


@operator("DequantizeLinear", since=10, numpy=True, half=FLOAT32)
def _dequantize(
    call: Call, x: Any, scale: Any, zero: Any = None, *, axis: int = 1, block_size: int = 0, output_dtype: int = 0
) -> Any:
    dtype = call.dtype(output_dtype) if output_dtype else scale.dtype
    wide = call.dtype(1)
    found = call.cast(x, wide)
    if zero is not None:
        found = found - call.cast(_beside(call, x, zero, axis, block_size), wide)
    return call.cast(found * call.cast(_beside(call, x, scale, axis, block_size), wide), dtype)


@operator("DynamicQuantizeLinear", since=11, half=FLOAT32)
def _quantize_by_range(call: Call, x: Any) -> Any:
    high, low = vx.maximum(vx.max(x), 0.0), vx.minimum(vx.min(x), 0.0)
    scale = (high - low) / 255
    scale = vx.where(scale == 0, vx.ones_like(scale), scale)
    zero = vx.astype(vx.clip(vx.rint(-low / scale), 0.0, 255.0), vx.uint8)
    return _quantized(call, x, scale, zero, vx.uint8), scale, zero


def _away(call: Call, x: Any, zero: Any, axis: int) -> Any:
    """x less its zero point, of the whole or of each row or column, as int32."""
    x = call.cast(x, vx.int32)
    if zero is None:
        return x
    zero = call.cast(zero, vx.int32)
    if zero.size == 1:
        return x - vx.reshape(zero, ())
    return x - (vx.expand_dims(zero, axis=axis) if zero.ndim in (1, x.ndim - 1) and zero.ndim != x.ndim else zero)


@operator("MatMulInteger", since=10)
def _multiply_integers(call: Call, a: Any, b: Any, a_zero: Any = None, b_zero: Any = None) -> Any:
    return vx.matmul(_away(call, a, a_zero, -1), _away(call, b, b_zero, -2))


@operator("QLinearMatMul", since=10, half=FLOAT32)
def _multiply_quantized(
    call: Call, a: Any, a_scale: Any, a_zero: Any, b: Any, b_scale: Any, b_zero: Any, y_scale: Any, y_zero: Any
) -> Any:
    found = _multiply_integers(call, a, b, a_zero, b_zero)
    wide = dtype_of(1, "")
    rows, columns = (
        vx.expand_dims(one, axis=axis)
        if one.ndim and one.size > 1 and one.ndim < found.ndim
        else vx.reshape(one, () if one.size == 1 else one.shape)
        for one, axis in ((call.cast(a_scale, wide), -1), (call.cast(b_scale, wide), -2))
    )
    scale = vx.reshape(call.cast(y_scale, wide), ())
    return _quantized(
        call, call.cast(found, wide) * (rows * columns / scale), call.array(1.0, wide), y_zero, y_zero.dtype
    )


@operator("ConvInteger", since=10)
def _convolve_integers(
    call: Call, x: Any, weight: Any, x_zero: Any = None, w_zero: Any = None, **attributes: Any
) -> Any:
    return convolve(call, _away(call, x, x_zero, 1), _away_of_channels(call, weight, w_zero), **attributes)


def _away_of_channels(call: Call, weight: Any, zero: Any) -> Any:
    if zero is None or zero.size == 1:
        return _away(call, weight, zero, 0)
    shape = (-1, *(1,) * (weight.ndim - 1))
    return call.cast(weight, vx.int32) - vx.reshape(call.cast(zero, vx.int32), shape)


@operator("QLinearConv", since=10, half=FLOAT32)
def _convolve_quantized(
    call: Call, x: Any, x_scale: Any, x_zero: Any, w: Any, w_scale: Any, w_zero: Any, y_scale: Any, y_zero: Any, bias: Any = None,
    **attributes: Any,
) -> Any:  # fmt: skip
    found = convolve(call, _away(call, x, x_zero, 1), _away_of_channels(call, w, w_zero), bias, **attributes)
    factors = vx.reshape(w_scale, (-1, *(1,) * (x.ndim - 2)))
    scale = vx.reshape(x_scale, ()) * factors / vx.reshape(y_scale, ())
    return _quantized(call, call.cast(found, scale.dtype) * scale, call.array(1.0, scale.dtype), y_zero, y_zero.dtype)
