"""Elementwise operators: arithmetic, comparisons, logic, elementary functions."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import dtypes
from ..dtypes import DType
from ..ops.launch import Operation
from ..ops.nn import pointwise as nn
from ..ops.rows import ROWS as VX
from ..ops.rows import Row
from ..ops.searching import where_operation
from .pointwise import ByType, elementwise

# -- arithmetic -------------------------------------------------------------------------------------------------------

ADD = ByType(VX["add"], bool=VX["logical_or"])
MULTIPLY = ByType(VX["multiply"], bool=VX["logical_and"])


def _add(a: Any, b: Any, alpha: Any = 1) -> tuple[Any, ...]:
    return (ADD, a, b) if alpha == 1 else (nn.add_scaled, a, b, alpha)


def _subtract(a: Any, b: Any, alpha: Any = 1) -> tuple[Any, ...]:
    return (VX["subtract"], a, b) if alpha == 1 else (nn.add_scaled, a, b, -alpha)


def _divide(a: Any, b: Any, rounding_mode: str | None = None) -> tuple[Any, ...]:
    return {None: VX["divide"], "trunc": nn.truncated_divide, "floor": VX["floor_divide"]}[rounding_mode], a, b


def _power(a: Any, b: Any) -> tuple[Any, ...]:
    if isinstance(b, int) and b < 0 and isinstance(a, Tensor) and not (a.is_floating_point() or a.is_complex()):
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    if b == 2 and not isinstance(b, Tensor) and a.dtype is not torch.bool:
        return VX["square"], a
    return VX["pow"], a, b


elementwise("add", _add)
elementwise("sub", _subtract)
elementwise("mul", MULTIPLY)
elementwise("div", _divide)
elementwise("floor_divide", VX["floor_divide"])
elementwise("remainder.Tensor remainder.Scalar_Tensor", VX["remainder"])
elementwise("fmod.Tensor", nn.fmod)
elementwise("pow", _power)
for _name, _row in {
    "neg": "negative", "abs": "abs", "sign": "sign", "sgn": "sign", "reciprocal": "reciprocal", "maximum": "maximum",
    "minimum": "minimum", "copysign.Tensor": "copysign", "nextafter": "nextafter", "signbit": "signbit",
    "floor": "floor", "ceil": "ceil", "trunc": "trunc", "round": "round", "hypot": "hypot",
    "sqrt": "sqrt", "exp": "exp", "expm1": "expm1", "log": "log", "log1p": "log1p", "log2": "log2", "log10": "log10",
    "logaddexp": "logaddexp", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos",
    "atan": "atan", "atan2": "atan2", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "asinh",
    "acosh": "acosh", "atanh": "atanh", "conj_physical": "conj", "_conj_physical": "conj",
    "bitwise_left_shift.Tensor": "bitwise_left_shift", "bitwise_right_shift.Tensor": "bitwise_right_shift",
    "__lshift__": "bitwise_left_shift", "__rshift__": "bitwise_right_shift",
    "bitwise_and": "bitwise_and", "bitwise_or": "bitwise_or", "bitwise_xor": "bitwise_xor",
    "bitwise_not": "bitwise_invert",
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
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


def _masked_fill(x: Any, mask: Any, value: Any) -> tuple[Any, ...]:
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(
            f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s)."
        )
    return CHOICE, mask, value, x


def _clamp(x: Any, min: Any = None, max: Any = None) -> tuple[Any, ...]:
    if min is None:
        return VX["minimum"], x, max
    return (VX["maximum"], x, min) if max is None else (VX["clip"], x, min, max)


for _name in ("and", "or", "xor", "not"):
    elementwise(f"logical_{_name}", _Truth(VX[f"logical_{_name}"]))
elementwise("where.self", CHOICE)
elementwise("masked_fill", _masked_fill)
elementwise("clamp", _clamp)
elementwise("clamp_min", VX["maximum"])
elementwise("clamp_max", VX["minimum"])
for _name in ("isnan", "isinf"):
    elementwise(_name, VX[_name])

# -- activations and gradients ----------------------------------------------------------------------------------------

elementwise("sigmoid", nn.sigmoid)
elementwise("sigmoid_backward", nn.sigmoid_backward)
elementwise("tanh_backward", nn.tanh_backward)
elementwise("relu", nn.relu)
elementwise("threshold_backward", nn.threshold_backward)
