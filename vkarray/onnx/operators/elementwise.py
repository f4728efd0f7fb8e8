"""Elementwise operators: arithmetic, comparisons, logic, elementary functions, activations, casts."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.array import check_supported
from ...nn import pointwise
from .. import lengths, types
from ..interpreter import Call
from ..table import FLOAT32, INSIDE, WIDEST, axis_of, operator

# The operators that are a function of one, two or several arrays of NumPy's name.
_NAMES = {
    "Abs": "abs", "Acos": "acos", "Acosh": "acosh", "Add": "add", "And": "logical_and", "Asin": "asin", "Asinh": "asinh",
    "Atan": "atan", "Atanh": "atanh", "BitwiseAnd": "bitwise_and", "BitwiseNot": "bitwise_invert", "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor", "Ceil": "ceil", "Cos": "cos", "Cosh": "cosh", "Equal": "equal", "Exp": "exp",
    "Floor": "floor", "Greater": "greater", "GreaterOrEqual": "greater_equal", "IsNaN": "isnan", "Less": "less",
    "LessOrEqual": "less_equal", "Log": "log", "Mul": "multiply", "Neg": "negative", "Not": "logical_not",
    "Or": "logical_or", "Reciprocal": "reciprocal", "Round": "rint", "Sign": "sign", "Sin": "sin", "Sinh": "sinh",
    "Sqrt": "sqrt", "Sub": "subtract", "Tan": "tan", "Tanh": "tanh", "Where": "where", "Xor": "logical_xor",
}  # fmt: skip
_ALONG = ("Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor")
_VARIADIC = {"Max": "maximum", "Min": "minimum", "Sum": "add"}
_HALF = {
    "Cos": INSIDE, "Cosh": FLOAT32, "Exp": FLOAT32, "Log": FLOAT32, "Reciprocal": FLOAT32, "Sin": INSIDE, "Sinh": FLOAT32,
    "Tan": FLOAT32,
}  # fmt: skip
_OF_ANGLES = ("Cos", "Sin", "Tan")
_FORMULAS = {"Erf": "erf", "HardSwish": "hardswish", "Mish": "mish", "Relu": "relu", "Sigmoid": "sigmoid"}


def _named(name: str) -> Callable[..., Any]:
    return lambda call, *inputs: getattr(call.xp, name)(*inputs)


def _broadcast_along(name: str) -> Callable[..., Any]:
    """As before version 7: the second operand has the dimensions of the first from an axis on, or the last ones."""

    def function(call: Call, a: Any, b: Any, *, broadcast: int = 0, axis: int | None = None) -> Any:
        if broadcast and axis is not None:
            b = call.xp.reshape(b, (*b.shape, *(1,) * (a.ndim - axis_of(axis, a.ndim) - b.ndim)))
        return _divide(call, a, b) if name == "Div" else getattr(call.xp, _NAMES.get(name, "pow"))(a, b)

    return function


def _folded(name: str) -> Callable[..., Any]:
    return lambda call, *inputs: functools.reduce(getattr(call.xp, name), inputs)


def _of_formula(name: str) -> Callable[..., Any]:
    return lambda call, x: pointwise.apply(name, x)


for _operator, _name in _NAMES.items():
    operator(
        _operator, since=7 if _operator in _ALONG else 1, numpy=True, half=_HALF.get(_operator, WIDEST),
        exact=(0,) if _operator in _OF_ANGLES else (),
    )(_named(_name))  # fmt: skip
for _operator in _ALONG:
    operator(_operator, numpy=True, half=FLOAT32 if _operator == "Pow" else WIDEST)(_broadcast_along(_operator))
for _operator, _name in _VARIADIC.items():
    operator(_operator, numpy=True)(_folded(_name))
for _operator, _formula in _FORMULAS.items():
    operator(_operator)(_of_formula(_formula))


@operator("Identity", numpy=True)
def _identity(call: Call, x: Any) -> Any:
    return x


@operator("Mean", numpy=True)
def _mean(call: Call, *inputs: Any) -> Any:
    return functools.reduce(call.xp.add, inputs) / len(inputs)


@operator("Div", since=7, numpy=True)
def _divide(call: Call, a: Any, b: Any) -> Any:
    if call.xp is np and (lengths.vary(a) or lengths.vary(b)):
        return np.frompyfunc(lengths.quotient, 2, 1)(a, b)
    if a.dtype.name.startswith(("int", "uint")):
        if call.xp is not np:
            return pointwise.apply("truncated_divide", a, b)
        quotient = np.floor_divide(a, np.where(b == 0, 1, b))
        return (quotient + ((quotient < 0) & (quotient * b != a))).astype(a.dtype)
    return call.xp.divide(a, b)


@operator("Mod", numpy=True, half=FLOAT32)
def _remainder(call: Call, a: Any, b: Any, *, fmod: int = 0) -> Any:
    return (call.xp.fmod if fmod else call.xp.remainder)(a, b)


@operator("Pow", since=7, numpy=True, half=FLOAT32)
def _power(call: Call, x: Any, y: Any) -> Any:
    if x.dtype == y.dtype:
        return call.xp.pow(x, y)
    if x.dtype.name.startswith(("int", "uint")) and y.dtype.name.startswith(("int", "uint")):
        return call.xp.pow(x, call.cast(y, x.dtype))
    return call.cast(call.xp.pow(x, y), x.dtype)


@operator("BitShift", numpy=True)
def _shift(call: Call, x: Any, y: Any, *, direction: str) -> Any:
    most = x.dtype.itemsize * 8 - 1
    moved = (call.xp.bitwise_left_shift if direction == "LEFT" else call.xp.bitwise_right_shift)(
        x, call.xp.minimum(y, most)
    )
    signs = direction != "LEFT" and x.dtype.name.startswith("int")
    return moved if signs else call.xp.where(y <= most, moved, call.xp.zeros_like(x))


@operator("IsInf", numpy=True)
def _is_infinite(call: Call, x: Any, *, detect_negative: int = 1, detect_positive: int = 1) -> Any:
    found = call.xp.isinf(x)
    if not detect_negative:
        found = found & (x > 0)
    return found if detect_positive else found & (x < 0)


# -- activations ------------------------------------------------------------------------------------------------------


def _in_float32(call: Call, formula: str, x: Any, *numbers: float) -> Any:
    """A formula whose numbers are not rounded to the 16 bits of x."""
    short = x.dtype.itemsize == 2
    return call.cast(pointwise.apply(formula, call.cast(x, call.dtype(1)) if short else x, *numbers), x.dtype)


@operator("Elu")
def _elu(call: Call, x: Any, *, alpha: float = 1.0) -> Any:
    return _in_float32(call, "elu", x, alpha, 1.0)


@operator("Celu")
def _celu(call: Call, x: Any, *, alpha: float = 1.0) -> Any:
    return _in_float32(call, "elu", x, alpha, 1 / alpha)


@operator("Softplus", half=FLOAT32)
def _softplus(call: Call, x: Any) -> Any:
    return _in_float32(call, "softplus", x, 1.0, math.inf)


@operator("Selu")
def _selu(
    call: Call, x: Any, *, alpha: float = 1.67326319217681884765625, gamma: float = 1.05070102214813232421875
) -> Any:
    return _in_float32(call, "scaled_elu", x, alpha * gamma, gamma)


@operator("LeakyRelu")
def _leaky_relu(call: Call, x: Any, *, alpha: float = 0.01) -> Any:
    return pointwise.apply("leaky_relu", x, alpha)


@operator("ThresholdedRelu")
def _thresholded_relu(call: Call, x: Any, *, alpha: float = 1.0) -> Any:
    return call.xp.where(x > alpha, x, 0)  # 0 of NaN


@operator("PRelu")
def _prelu_of_channels(call: Call, x: Any, slope: Any) -> Any:
    """As before version 7: one slope, or one for each channel."""
    return _prelu(call, x, call.xp.reshape(slope, (-1, *(1,) * (x.ndim - 2))))


@operator("PRelu", since=7)
def _prelu(call: Call, x: Any, slope: Any) -> Any:
    return call.xp.where(x < 0, x * slope, x)


@operator("HardSigmoid")
def _hard_sigmoid(call: Call, x: Any, *, alpha: float = 0.2, beta: float = 0.5) -> Any:
    return call.xp.clip(x * alpha + beta, 0, 1)


@operator("Softsign")
def _softsign(call: Call, x: Any) -> Any:
    return x / (1 + call.xp.abs(x))


@operator("Shrink")
def _shrink(call: Call, x: Any, *, bias: float = 0.0, lambd: float = 0.5) -> Any:
    zero = call.xp.zeros_like(x)
    return call.xp.where(
        x < -lambd, call.cast(x + bias, x.dtype), call.xp.where(x > lambd, call.cast(x - bias, x.dtype), zero)
    )


@operator("Gelu", since=20)
def _gelu(call: Call, x: Any, *, approximate: str = "none") -> Any:
    return pointwise.apply("gelu_tanh", x) if approximate == "tanh" else pointwise.apply("gelu", x)


@operator("Swish", since=24)
def _swish(call: Call, x: Any, *, alpha: float = 1.0) -> Any:
    return pointwise.apply("silu", x) if alpha == 1 else x * pointwise.apply("sigmoid", x * alpha)


@operator("Clip")
def _clip_by_attributes(
    call: Call, x: Any, *, min: float = -3.4028234663852886e38, max: float = 3.4028234663852886e38
) -> Any:
    return call.xp.clip(x, min, max)


@operator("Clip", since=11, numpy=True)
def _clip(call: Call, x: Any, low: Any = None, high: Any = None) -> Any:
    x = x if low is None else call.xp.maximum(x, low)
    return x if high is None else call.xp.minimum(x, high)


# -- other types ------------------------------------------------------------------------------------------------------


@operator("Cast", numpy=True, half=INSIDE)
def _cast(call: Call, x: Any, *, to: int, saturate: int = 1, round_mode: str = "up") -> Any:
    return call.cast(x, call.dtype(to))


@operator("CastLike", since=15, numpy=True, half=INSIDE)
def _cast_like(call: Call, x: Any, like: Any, *, saturate: int = 1, round_mode: str = "up") -> Any:
    return call.cast(x, like.dtype)


@operator("BitCast", since=26, half=FLOAT32)
def _bit_cast(call: Call, x: Any, *, to: int) -> Any:
    dtype = types.dtype_of(to, f"{call.node}: the attribute 'to'")
    check_supported(dtype, call.runner.device, "bit_cast")  # 32 bits that hold an integer of 64 are not its bits
    if dtype.itemsize != x.dtype.itemsize:
        raise ValueError(f"it makes {dtype} of {x.dtype}, which has another number of bits")
    return call.xp.ascontiguousarray(x).view(dtype) if x.ndim else x[None].view(dtype)[0]
