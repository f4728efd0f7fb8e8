"""Elementwise operators: arithmetic, comparisons, logic, elementary functions, activations, conversions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import vkarray as vx

from ....nn import indexing, pointwise
from ..table import OPERANDS, RESULT, ROWS, Row, row

# Functions of one, two or three arrays, by the names that vkarray has for them.
_NAMES = {
    "abs": "abs", "acos": "acos", "acosh": "acosh", "asin": "asin", "asinh": "asinh", "atan": "atan", "atan2": "atan2",
    "atanh": "atanh", "bitwise_not": "bitwise_invert", "ceil": "ceil", "copysign.Tensor": "copysign", "cos": "cos", "cosh": "cosh",
    "div.Tensor": "divide", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "floor": "floor", "hypot": "hypot",
    "log": "log", "log10": "log10", "log1p": "log1p", "log2": "log2", "logaddexp": "logaddexp", "logaddexp2": "logaddexp2",
    "maximum": "maximum", "minimum": "minimum", "mul.Scalar": "multiply", "mul.Tensor": "multiply", "neg": "negative",
    "nextafter": "nextafter", "pow.Scalar": "pow", "pow.Tensor_Tensor": "pow", "sin": "sin",
    "div.Scalar": "divide", "sinc": "sinc", "reciprocal": "reciprocal", "round": "rint", "sinh": "sinh", "sqrt": "sqrt",
    "square": "square", "tan": "tan", "tanh": "tanh", "trunc": "trunc", "conj_physical": "conj", "_conj": "conj",
    "_conj_physical": "conj",
    "rad2deg": "rad2deg", "deg2rad": "deg2rad", "i0": "i0", "special_i0": "i0",
    **{f"bitwise_{name}.{kind}": f"bitwise_{name}" for name in ("and", "or", "xor") for kind in ("Tensor", "Scalar")},
    **{
        f"bitwise_{side}_shift.{kind}": f"bitwise_{side}_shift"
        for side in ("left", "right") for kind in ("Tensor", "Tensor_Scalar", "Scalar_Tensor")
    },
    **{f"__{side[0]}shift__.{kind}": f"bitwise_{side}_shift" for side in ("left", "right") for kind in ("Tensor", "Scalar")},
    **{f"__{name}__.{kind}": f"bitwise_{name}" for name in ("and", "or", "xor") for kind in ("Tensor", "Scalar")},
}  # fmt: skip
_COMPARISONS = {
    "eq": "equal",
    "ge": "greater_equal",
    "gt": "greater",
    "le": "less_equal",
    "lt": "less",
    "ne": "not_equal",
}
_OF_TRUTHS = {
    "logical_and": "logical_and",
    "logical_not": "logical_not",
    "logical_or": "logical_or",
    "logical_xor": "logical_xor",
}
_ASKING = {"isnan": "isnan", "isinf": "isinf", "isfinite": "isfinite", "signbit": "signbit"}
# Functions of networks, and others whose results are PyTorch's at the ends of their ranges.
_FORMULAS = {
    "sigmoid": "sigmoid", "relu": "relu", "silu": "silu", "hardswish": "hardswish", "hardsigmoid": "hardsigmoid",
    "mish": "mish", "log_sigmoid": "log_sigmoid", "rsqrt": "rsqrt", "frac": "frac", "erf": "erf", "erfc": "erfc",
    "erfinv": "erfinv", "fmax": "fmax", "fmin": "fmin", "fmod.Tensor": "fmod", "fmod.Scalar": "fmod",
    "remainder.Tensor": "floored_remainder", "remainder.Scalar": "floored_remainder", "floor_divide": "floored_divide",
    "remainder.Scalar_Tensor": "floored_remainder",
    "floor_divide.Scalar": "floored_divide", "heaviside": "heaviside", "sign": "sign", "sgn": "sign", "angle": "angle",
    "gcd": "gcd", "lcm": "lcm", "xlogy.Tensor": "xlogy", "xlogy.Scalar_Other": "xlogy", "xlogy.Scalar_Self": "xlogy",
    "isposinf": "is_positive_infinity", "isneginf": "is_negative_infinity",
    "special_erf": "erf", "special_erfc": "erfc", "special_expit": "sigmoid",
}  # fmt: skip


def _of_library(name: str) -> Callable[..., Any]:
    return lambda call, *operands: getattr(vx, name)(*operands)


def _of_formula(name: str) -> Callable[..., Any]:
    return lambda call, *operands: pointwise.apply(name, *_arrays(operands))


def _arrays(operands: tuple[Any, ...]) -> list[Any]:
    """Operands of which the first is an array, of the type of the others where it is a number."""
    first, *others = operands
    if isinstance(first, (int, float, complex)) and others:
        return [vx.full_like(others[0], first), *others]
    return list(operands)


for _operator, _name in _NAMES.items():
    row(_operator, promotes=RESULT)(_of_library(_name))
for _operator, _name in _COMPARISONS.items():
    row(f"{_operator}.Tensor", f"{_operator}.Scalar", promotes=OPERANDS)(_of_library(_name))
for _operator, _name in _OF_TRUTHS.items():
    row(_operator, promotes=RESULT)(_of_library(_name))
for _operator, _name in _ASKING.items():
    row(_operator)(_of_library(_name))
for _operator, _name in _FORMULAS.items():
    row(_operator, promotes=OPERANDS if _name.startswith("is_") else RESULT)(_of_formula(_name))


@row("add.Tensor", "add.Scalar", promotes=RESULT)
def _add(call: Any, a: Any, b: Any, alpha: Any = 1) -> Any:
    return vx.add(a, b if _is_one(alpha) else b * alpha)


@row("sub.Tensor", "sub.Scalar", promotes=RESULT)
def _subtract(call: Any, a: Any, b: Any, alpha: Any = 1) -> Any:
    return vx.subtract(a, b if _is_one(alpha) else b * alpha)


@row("rsub.Tensor", "rsub.Scalar", promotes=RESULT)
def _subtract_from(call: Any, a: Any, b: Any, alpha: Any = 1) -> Any:
    return vx.subtract(b, a if _is_one(alpha) else a * alpha)


def _is_one(alpha: Any) -> bool:
    return type(alpha) in (int, float) and alpha == 1


# Powers of float32 and float64 by the exponent, as PyTorch computes them on the CPU.
_ROOTS: dict[float, Callable[[Any], Any]] = {
    0.5: vx.sqrt, -0.5: lambda x: pointwise.apply("rsqrt", x), -1: vx.reciprocal,
}  # fmt: skip


@row("pow.Tensor_Scalar", promotes=RESULT)
def _power(call: Any, a: Any, b: Any) -> Any:
    if type(b) in (int, float):
        if b == 2:
            return vx.square(a)
        if b == 3 and vx.isdtype(a.dtype, "real floating"):
            return pointwise.apply("cube", a)
        if b in _ROOTS and a.dtype in (vx.float32, vx.float64):
            return _ROOTS[b](a)
    return vx.pow(a, b)


@row("div.Tensor_mode", "div.Scalar_mode", promotes=RESULT)
def _divide(call: Any, a: Any, b: Any, rounding_mode: str | None = None) -> Any:
    if rounding_mode is None:
        return vx.divide(a, b)
    return pointwise.apply({"floor": "floored_divide", "trunc": "truncated_divide"}[rounding_mode], *_arrays((a, b)))


@row("addcmul", promotes=RESULT)
def _add_product(call: Any, x: Any, a: Any, b: Any, value: Any = 1) -> Any:
    return x + (a * b if _is_one(value) else a * b * value)


@row("addcdiv", promotes=RESULT)
def _add_quotient(call: Any, x: Any, a: Any, b: Any, value: Any = 1) -> Any:
    return x + (a / b if _is_one(value) else a / b * value)


@row("lerp.Scalar", "lerp.Tensor", promotes=RESULT)
def _between(call: Any, a: Any, b: Any, weight: Any) -> Any:
    return pointwise.apply("lerp", a, b, weight)


@row("round.decimals", promotes=RESULT)
def _round(call: Any, x: Any, decimals: int = 0) -> Any:
    return vx.round(x, decimals)


@row("clamp", "clamp.Tensor", "clamp_min", "clamp_min.Tensor", promotes=RESULT)
def _clip(call: Any, x: Any, min: Any = None, max: Any = None) -> Any:
    x = x if min is None else vx.maximum(x, min)
    return x if max is None else vx.minimum(x, max)


@row("clamp_max", "clamp_max.Tensor", promotes=RESULT)
def _clip_above(call: Any, x: Any, max: Any) -> Any:
    return vx.minimum(x, max)


@row("where.self", "where.ScalarSelf", "where.ScalarOther", "where.Scalar")
def _where(call: Any, condition: Any, a: Any, b: Any) -> Any:
    a, b = (call.cast(one) if call.is_array(one) else one for one in (a, b))
    if not call.is_array(a) and not call.is_array(b):
        a = vx.full((), a, dtype=call.dtype)
    return vx.where(call.cast(condition, vx.bool), a, b)


@row("masked_fill.Scalar", "masked_fill.Tensor")
def _fill_where(call: Any, x: Any, mask: Any, value: Any) -> Any:
    return indexing.masked_fill(x, mask, call.cast(value) if call.is_array(value) else value)


@row("nan_to_num")
def _without_nan(
    call: Any, x: Any, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Any:
    return vx.nan_to_num(x, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)


# -- activations ------------------------------------------------------------------------------------------------------


@row("gelu")
def _gelu(call: Any, x: Any, approximate: str = "none") -> Any:
    return pointwise.apply("gelu_tanh" if approximate == "tanh" else "gelu", x)


@row("elu")
def _elu(call: Any, x: Any, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Any:
    if scale != 1:
        return pointwise.apply("scaled_elu", x, alpha * scale, scale)
    return pointwise.apply("elu", x, alpha, input_scale)


@row("celu")
def _celu(call: Any, x: Any, alpha: float = 1.0) -> Any:
    return pointwise.apply("elu", x, alpha, 1 / alpha)


@row("leaky_relu")
def _leaky_relu(call: Any, x: Any, negative_slope: float = 0.01) -> Any:
    return pointwise.apply("leaky_relu", x, negative_slope)


@row("softplus")
def _softplus(call: Any, x: Any, beta: float = 1, threshold: float = 20) -> Any:
    return pointwise.apply("softplus", x, beta, threshold)


@row("log_sigmoid_forward")
def _log_sigmoid(call: Any, x: Any) -> Any:
    return pointwise.apply("log_sigmoid", x), None


@row("threshold")
def _threshold(call: Any, x: Any, threshold: float, value: float) -> Any:
    return pointwise.apply("threshold", x, threshold, value)


@row("softshrink")
def _soft_shrink(call: Any, x: Any, lambd: float = 0.5) -> Any:
    return pointwise.apply("softshrink", x, lambd)


@row("hardshrink")
def _hard_shrink(call: Any, x: Any, lambd: float = 0.5) -> Any:
    return pointwise.apply("hardshrink", x, lambd)


@row("hardtanh")
def _hard_tanh(call: Any, x: Any, min_val: float = -1, max_val: float = 1) -> Any:
    return vx.minimum(vx.maximum(x, min_val), max_val)


@row("relu6")
def _relu6(call: Any, x: Any) -> Any:
    return _hard_tanh(call, x, 0, 6)


@row("prelu", "_prelu_kernel")
def _prelu(call: Any, x: Any, weight: Any) -> Any:
    if weight.ndim == 1 and x.ndim > 1:
        weight = vx.reshape(weight, (-1, *(1,) * (x.ndim - 2)))
    return vx.where(x > 0, x, x * weight)


@row("glu")
def _gated(call: Any, x: Any, dim: int = -1) -> Any:
    a, b = vx.split(x, 2, axis=dim)
    return a * pointwise.apply("sigmoid", b)


@row("logit", promotes=RESULT)
def _logit(call: Any, x: Any, eps: float | None = None) -> Any:
    x = x if eps is None else vx.minimum(vx.maximum(x, eps), 1 - eps)
    return vx.log(x / (1 - x))


# -- other types ------------------------------------------------------------------------------------------------------


_SAME = (
    "_to_copy to.dtype to.device to.dtype_layout to.other type_as clone alias alias_copy detach detach_ lift lift_fresh "
    "lift_fresh_copy contiguous resolve_conj resolve_neg positive"
)


@row(*_SAME.split())
def _as_it_is(call: Any, x: Any, *_: Any, **options: Any) -> Any:
    """The same values; the type is converted to that of every result."""
    return x


def _drops(call: Any, x: Any, p: float, train: bool | None = None) -> str | None:
    return (
        "it drops elements at random, and a program draws no random numbers; call model.eval() before"
        if train
        else None
    )


@row("dropout", "feature_dropout", "alpha_dropout", limit=_drops)
def _drop_nothing(call: Any, x: Any, p: float, train: bool) -> Any:
    return x


@row("native_dropout", limit=_drops)
def _drop_nothing_and_tell(call: Any, x: Any, p: float, train: bool | None = None) -> Any:
    return x, vx.ones_like(x, dtype=vx.bool)


@row("view.dtype")
def _seen_as(call: Any, x: Any, dtype: Any) -> Any:
    return vx.ascontiguousarray(x).view(dtype)


@row("real")
def _real(call: Any, x: Any) -> Any:
    return vx.real(x)


@row("imag")
def _imaginary(call: Any, x: Any) -> Any:
    return vx.imag(x)


@row("view_as_real")
def _in_pairs(call: Any, x: Any) -> Any:
    return vx.stack([vx.real(x), vx.imag(x)], axis=-1)


@row("complex", "view_as_complex", "polar")
def _of_parts(call: Any, a: Any, b: Any = None) -> Any:
    if call.name == "polar":
        a, b = a * vx.cos(b), a * vx.sin(b)
    elif b is None:
        a, b = a[..., 0], a[..., 1]
    return call.cast(a) + call.cast(b) * 1j


def _significands(call: Any, x: Any) -> Any:
    return tuple(vx.frexp(x))


if hasattr(torch.ops.prims, "frexp"):  # what `aten.frexp` is decomposed to
    ROWS[torch.ops.prims.frexp.default] = Row(_significands, "", None)
