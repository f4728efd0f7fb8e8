"""Elementwise operators: arithmetic, comparisons, logic, elementary functions."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ...core import dtypes
from ...core.array import VkArray
from ...core.dtypes import CATEGORIES, DType
from ...kernels.launch import Operation
from ...kernels.rows import ROWS as VX
from ...kernels.rows import Row
from ...nn import pointwise as nn
from ...nn import special
from ...ops.searching import where_operation
from ..dispatch import limits
from ..dispatch.fallback import Unsupported
from ..dispatch.pointwise import Bounded, ByInteger, ByType, Divided, Fitting, elementwise
from ..dispatch.table import decomposed, direct, native, with_out
from ..tensors.storage import FROM_TORCH

_SHORT = (torch.float16, torch.bfloat16)

# -- arithmetic -------------------------------------------------------------------------------------------------------

ADD = ByType(VX["add"], bool=VX["logical_or"])
MULTIPLY = ByType(VX["multiply"], bool=VX["logical_and"])
ADD_SCALED = Fitting(ByType(nn.add_scaled, bool=nn.or_both), [2])
_SUBTRACT_SCALED = Fitting(nn.add_scaled, [2])
_POWER = Fitting(VX["pow"], [1])
# Powers of float32 and float64 by the exponent, as on the CPU.
_ROOTS = {0.5: VX["sqrt"], -0.5: nn.rsqrt, -1: VX["reciprocal"]}


def _is_number(a: Any) -> bool:
    """Whether an operand is no array but a number, of Python's or in a tensor of the CPU."""
    return not isinstance(a, Tensor) or (a.is_cpu and not a.ndim)


def _beside_number(a: Any, b: Any) -> bool:
    """Whether `a` is of 16 bits and `b` is a number, which PyTorch does not round to these."""
    if not _is_number(b) or _is_number(a) or a.dtype not in _SHORT:
        return False
    return not (b.is_complex() if isinstance(b, Tensor) else isinstance(b, complex))


def _check_alpha(a: Any, b: Any, alpha: Any) -> None:
    if isinstance(alpha, bool) and not (_is_bool(a) and _is_bool(b)):
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float) and _is_bool(a) and _is_bool(b):  # PyTorch's meta functions look at other integers
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")


def _add(a: Any, b: Any, alpha: Any = 1) -> tuple[Any, ...]:
    _check_alpha(a, b, alpha)
    if not isinstance(alpha, int) or alpha != 1:  # the value of a float, such as a rate that changes, decides nothing
        return ADD_SCALED, a, b, alpha
    if _beside_number(a, b):
        return nn.add_number, a, b
    return (nn.add_number, b, a) if _beside_number(b, a) else (ADD, a, b)


def _is_bool(a: Any) -> bool:
    return a.dtype is torch.bool if isinstance(a, Tensor) else isinstance(a, bool)


def _subtract(a: Any, b: Any, alpha: Any = 1) -> tuple[Any, ...]:
    if _is_bool(a) or _is_bool(b):
        if _is_bool(a) and _is_bool(b):
            which, instead = "two bool tensors", "Use the `^` or `logical_xor()` operator instead."
        else:
            which = "a bool tensor"
            instead = "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
        raise RuntimeError(f"Subtraction, the `-` operator, with {which} is not supported. {instead}")
    _check_alpha(a, b, alpha)
    if alpha == 1 and _beside_number(a, b):
        return nn.subtract_number, a, b
    if alpha == 1 and _beside_number(b, a):
        return nn.subtract_from_number, a, b
    return (VX["subtract"], a, b) if alpha == 1 else (_SUBTRACT_SCALED, a, b, -alpha)


def _multiply(a: Any, b: Any) -> tuple[Any, ...]:
    if _beside_number(a, b):
        return nn.multiply_number, a, b
    return (nn.multiply_number, b, a) if _beside_number(b, a) else (MULTIPLY, a, b)


# How quotients are rounded: the row, and that for a number beside 16 bits.
_ROUNDED = {
    "trunc": (Divided("div", nn.truncated_divide), nn.truncated_divide_number),
    "floor": (Divided("div", nn.floored_divide), nn.floored_divide_number),
}
_FLOOR_DIVIDE = Divided("floor_divide", nn.floored_divide)


def _divide(a: Any, b: Any, rounding_mode: str | None = None) -> tuple[Any, ...]:
    if rounding_mode is not None:
        return _ROUNDED[rounding_mode][_beside_number(a, b)], a, b
    return nn.divide_number if _beside_number(a, b) else VX["divide"], a, b


def _power(a: Any, b: Any) -> tuple[Any, ...]:
    if isinstance(b, int) and b < 0 and isinstance(a, Tensor) and not (a.is_floating_point() or a.is_complex()):
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    if all(one.dtype is torch.bool if isinstance(one, Tensor) else isinstance(one, bool) for one in (a, b)):
        raise NotImplementedError("\"pow\" not implemented for 'Bool'")
    if not isinstance(b, Tensor) and b == 2 and a.dtype is not torch.bool:
        return VX["square"], a
    if not isinstance(b, Tensor) and b == 3 and a.is_floating_point():
        return nn.cube, a
    if not isinstance(b, Tensor) and a.dtype in (torch.float32, torch.float64) and (row := _ROOTS.get(b)) is not None:
        return row, a
    return (VX["pow"] if isinstance(b, Tensor) else _POWER), a, b


elementwise("add", _add)
elementwise("rsub.Tensor", lambda a, b, alpha=1: _subtract(b, a, alpha))
elementwise("sign sgn", ByType(nn.sign, bool=nn.identity))
elementwise("signbit", ByInteger(VX["signbit"], nn.is_negative))
elementwise("gcd", nn.gcd)
elementwise("lcm", nn.lcm)
elementwise("maximum", ByType(VX["maximum"], bool=VX["logical_or"]))
elementwise("minimum", ByType(VX["minimum"], bool=VX["logical_and"]))
elementwise("fmax", ByType(nn.fmax, bool=VX["logical_or"]))
elementwise("fmin", ByType(nn.fmin, bool=VX["logical_and"]))
elementwise("heaviside", ByType(nn.heaviside, bool=VX["logical_or"]))
decomposed("round.decimals")
elementwise("sub", _subtract)
elementwise("mul", _multiply)
elementwise("div", _divide)
elementwise("floor_divide", lambda a, b: (nn.floored_divide_number if _beside_number(a, b) else _FLOOR_DIVIDE, a, b))
elementwise("remainder.Tensor remainder.Scalar_Tensor", Divided("remainder", nn.floored_remainder))
elementwise("fmod.Tensor", Divided("fmod", nn.fmod))
elementwise("pow", _power)
for _name, _row in {
    "neg": "negative", "abs": "abs", "reciprocal": "reciprocal", "copysign.Tensor": "copysign",
    "nextafter": "nextafter", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "round.default": "round",
    "hypot": "hypot", "sqrt": "sqrt", "exp": "exp", "expm1": "expm1", "log": "log", "log1p": "log1p", "log2": "log2",
    "log10": "log10", "logaddexp": "logaddexp", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin",
    "acos": "acos", "atan": "atan", "atan2": "atan2", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
    "asinh": "asinh", "acosh": "acosh", "atanh": "atanh", "_conj_physical": "conj",
    "bitwise_left_shift.Tensor": "bitwise_left_shift", "bitwise_right_shift.Tensor": "bitwise_right_shift",
    "__lshift__": "bitwise_left_shift", "__rshift__": "bitwise_right_shift", "bitwise_and": "bitwise_and",
    "bitwise_or": "bitwise_or", "bitwise_xor": "bitwise_xor", "bitwise_not": "bitwise_invert", "eq": "equal",
    "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
}.items():  # fmt: skip
    elementwise(_name, VX[_row])

# -- truth, choice, limits --------------------------------------------------------------------------------------------


class _Truth:
    """A row of bools, whose operands are true where they are not 0."""

    result = "bool"
    compute = dtypes.bool_

    def __init__(self, row: Row) -> None:
        self.row, self.types = row, (dtypes.bool_,) * row.operands

    def operation(self, compute: DType) -> Operation:
        """The operation on bools."""
        return self.row.operation(dtypes.bool_)


class _Choice:
    """The second operand where the first is true, the third elsewhere; their bits are moved."""

    result = "same"
    types = (dtypes.bool_, None, None)
    moves = True

    def operation(self, compute: DType) -> Operation:
        """The operation for the type that the second and third operand have."""
        return where_operation(compute)


CHOICE = _Choice()
_FILL = Fitting(CHOICE, [1])
_AT_LEAST, _AT_MOST = Bounded(VX["maximum"], "min"), Bounded(VX["minimum"], "max")
_WITHIN = Bounded(VX["clip"], "min", "max")


def _masked_fill(x: Any, mask: Any, value: Any) -> tuple[Any, ...]:
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(
            f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s)."
        )
    return _FILL, mask, value, x


def _clamp(x: Any, min: Any = None, max: Any = None) -> tuple[Any, ...]:
    if min is None:
        return _AT_MOST, x, max
    return (_AT_LEAST, x, min) if max is None else (_WITHIN, x, min, max)


def _clamp_by_tensors(x: Any, min: Any = None, max: Any = None) -> tuple[Any, ...]:
    formula, *operands = _clamp(x, min, max)
    return formula.formula, *operands


for _name in ("and", "or", "xor", "not"):
    elementwise(f"logical_{_name}", _Truth(VX[f"logical_{_name}"]))
elementwise("where.self", CHOICE)
elementwise("masked_fill", _masked_fill)
elementwise("clamp.default", _clamp)
elementwise("clamp.Tensor", _clamp_by_tensors)
for _end, _extreme in {
    "min": ByType(VX["maximum"], bool=VX["logical_or"]), "max": ByType(VX["minimum"], bool=VX["logical_and"]),
}.items():  # fmt: skip
    elementwise(f"clamp_{_end}.default", Bounded(_extreme, _end))
    elementwise(f"clamp_{_end}.Tensor", _extreme)
for _name in ("isnan", "isinf"):
    elementwise(_name, ByInteger(VX[_name], nn.never))


# -- activations and gradients ----------------------------------------------------------------------------------------


def _gelu(x: Any, *, approximate: str = "none") -> tuple[Any, ...]:
    return (nn.gelu_tanh if approximate == "tanh" else nn.gelu), x


def _gelu_backward(grad: Any, x: Any, *, approximate: str = "none") -> tuple[Any, ...]:
    return (nn.gelu_tanh_backward if approximate == "tanh" else nn.gelu_backward), grad, x


def _hardtanh(x: Any, min_val: Any = -1, max_val: Any = 1) -> tuple[Any, ...]:
    if not x.is_floating_point():
        for value in (min_val, max_val):
            limits.check_number(value, dtypes.int64)
    return _WITHIN, x, min_val, max_val


def _elu(x: Any, alpha: Any = 1, scale: Any = 1, input_scale: Any = 1) -> tuple[Any, ...]:
    if scale == 1:
        return nn.elu, x, alpha, input_scale
    if input_scale != 1:
        raise Unsupported("elu with scale and input_scale, neither of them 1")
    return nn.scaled_elu, x, alpha * scale, scale


for _name in (
    "sigmoid", "sigmoid_backward", "tanh_backward", "relu", "threshold_backward", "silu", "silu_backward",
    "hardswish", "hardswish_backward", "hardsigmoid", "hardsigmoid_backward", "mish",
    "rsqrt", "exp2", "frac", "erf", "erfc", "erfinv",
    "logaddexp2", "angle",
):  # fmt: skip
    elementwise(_name, nn.FORMULAS[_name])
elementwise("gelu", _gelu)
elementwise("gelu_backward", _gelu_backward)
elementwise("elu", _elu)
elementwise("softplus", lambda x, beta=1, threshold=20: (nn.softplus, x, beta, threshold))
elementwise("softshrink", lambda x, lambd=0.5: (nn.softshrink, x, lambd))
elementwise("hardshrink", lambda x, lambd=0.5: (nn.hardshrink, x, lambd))
elementwise("softshrink_backward hardshrink_backward", nn.shrink_backward)
elementwise("leaky_relu", lambda x, negative_slope=0.01: (nn.leaky_relu, x, negative_slope))
elementwise("leaky_relu_backward", lambda grad, x, slope, is_result: (nn.leaky_relu_backward, grad, x, slope))
elementwise("log_sigmoid_backward", lambda grad, x, buffer: (nn.log_sigmoid_backward, grad, x))
elementwise("hardtanh", _hardtanh)
elementwise("hardtanh_backward", nn.hardtanh_backward)
elementwise("threshold", Fitting(nn.FORMULAS["threshold"]))
elementwise("_prelu_kernel", nn.leaky_relu)
decomposed("elu_backward softplus_backward glu glu_backward.default")

# -- special functions ------------------------------------------------------------------------------------------------


def scaled(x: Any, factor: Any) -> Any:
    """factor * x for a wide operand: in float32 for types of 16 bits."""
    if factor == 1:
        return x
    return (x.float() if x.dtype in _SHORT else x) * factor


def _add_product(x: Any, first: Any, second: Any, *, value: Any = 1) -> tuple[Any, ...]:
    dtype = FROM_TORCH.get(torch.promote_types(x.dtype, torch.promote_types(first.dtype, second.dtype)))
    if dtype in CATEGORIES["integer"]:
        limits.check_number(value, dtype)
        value = int(value)
    if value == 1:
        return nn.add_product, x, first, second
    return nn.add_wide_product, x, scaled(first, value), second


def _add_quotient(x: Any, first: Any, second: Any, *, value: Any = 1) -> tuple[Any, ...]:
    return nn.add_quotient, x, scaled(first, value), second


def _add_outer_product(x: Any, first: Any, second: Any, *, beta: Any = 1, alpha: Any = 1) -> tuple[Any, ...]:
    if x.dtype is torch.bool:
        return (nn.or_both, x & bool(beta), first.unsqueeze(-1), second & bool(alpha))
    first = scaled(first, alpha).unsqueeze(-1)
    if beta == 0:
        return VX["multiply"], first, second
    return nn.add_wide_product, scaled(x, beta), first, second


elementwise("addr", _add_outer_product)
elementwise("addcmul", _add_product)
elementwise("addcdiv", _add_quotient)
elementwise("lerp", nn.lerp)
elementwise("xlogy", nn.xlogy)
elementwise("special_xlog1py", nn.xlog1py)
for _name, _formula in {
    "lgamma": special.lgamma, "digamma": special.digamma, "polygamma": special.polygamma, "i0": special.i0,
    "special_i0e": special.i0e, "special_i1": special.i1, "special_i1e": special.i1e, "special_zeta": special.zeta,
    "special_erfcx": special.erfcx, "special_log_ndtr": special.log_ndtr, "special_ndtri": special.ndtri,
    "special_entr": special.entr, "special_bessel_j0": special.bessel_j0, "special_bessel_j1": special.bessel_j1,
    "special_bessel_y0": special.bessel_y0, "special_bessel_y1": special.bessel_y1,
    "special_modified_bessel_i0": special.i0, "special_modified_bessel_i1": special.i1,
    "special_modified_bessel_k0": special.k0, "special_modified_bessel_k1": special.k1,
    "special_scaled_modified_bessel_k0": special.k0e, "special_scaled_modified_bessel_k1": special.k1e,
    "special_spherical_bessel_j0": special.spherical_bessel_j0, "special_airy_ai": special.airy_ai,
    "igamma": special.gammainc, "igammac": special.gammaincc,
    **{f"special_{name}": row for name, row in special.POLYNOMIALS.items()},
}.items():  # fmt: skip
    elementwise(_name, _formula)
elementwise("isposinf", nn.is_positive_infinity)
elementwise("isneginf", nn.is_negative_infinity)
decomposed("nan_to_num logit logit_backward sinc isin.Tensor_Tensor isin.Tensor_Scalar isin.Scalar_Tensor")


def _log_sigmoid(x: VkArray) -> tuple[VkArray, VkArray]:
    return nn.log_sigmoid(x), nn.exp_of_magnitude(x)


def _prelu_backward(grad: VkArray, x: VkArray, weight: VkArray) -> tuple[VkArray, VkArray]:
    return nn.leaky_relu_backward(grad, x, weight), nn.prelu_weight_backward(grad, x)


def _add_relu(x: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    return torch.add(x, other, alpha=alpha).relu_()


def _glu_jvp(result: Tensor, x: Tensor, dx: Tensor, dim: int) -> Tensor:
    """The derivative of a sigmoid(b) along dx, for the halves a and b of x."""
    (_, b), (da, db) = x.chunk(2, dim), dx.chunk(2, dim)
    share = b.sigmoid()
    return da * share + result * (1 - share) * db


def _glu_backward_jvp(
    grad_x: Tensor, grad: Tensor, x: Tensor, dgrad: Tensor, dx: Tensor, dim: int
) -> Tensor:  # fmt: skip
    """That of the gradient."""
    (a, b), (da, db) = x.chunk(2, dim), dx.chunk(2, dim)
    share = b.sigmoid()
    slope = share * (1 - share)
    of_b = (dgrad * a + grad * da) * slope + grad * a * slope * (1 - 2 * share) * db
    return torch.cat([dgrad * share + grad * slope * db, of_b], dim)


direct("_add_relu.Tensor _add_relu.Scalar", _add_relu)
direct("mvlgamma.out", with_out(torch.mvlgamma))
direct("glu_jvp", _glu_jvp)
direct("glu_backward_jvp", _glu_backward_jvp)
native("log_sigmoid_forward", _log_sigmoid)
native("_prelu_kernel_backward", _prelu_backward)
