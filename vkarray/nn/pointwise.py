"""Elementwise formulas beyond the standard's: what networks and their gradients need. Rows without a public function."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ..core.array import VkArray, is_supported
from ..core.dtypes import CATEGORIES, DType, bfloat16, bool_, float16, float32
from ..kernels.launch import Operation
from ..kernels.planned import recordable
from ..kernels.rows import Row
from ..shaders.source import Shader

FORMULAS: dict[str, Formula] = {}


@dataclass(frozen=True, eq=False)
class Formula(Row):
    """A row whose operands at the places `wide` are float32 where the others are floating-point numbers of 16 bits: what
    is no element of an array of theirs, such as a parameter, is not rounded."""

    wide: tuple[int, ...] = ()

    def operation(self, compute: DType) -> Operation:
        """The operation for a compute type."""
        found = super().operation(compute)
        if self.wide and compute in (float16, bfloat16) and found.inputs == (compute,) * self.operands:
            inputs = tuple(float32 if place in self.wide else compute for place in range(self.operands))
            found = Operation(found.label, found.expression, inputs, found.result, compute, found.library)
            self.operations[compute] = found
        return found


def _formula(
    operands: int, name: str, category: str, expression: str | dict[str, str], **options: Any
) -> Formula:  # fmt: skip
    row = FORMULAS[name] = Formula(name, operands, category, expression, "", **options)
    return row


add_scaled = _formula(3, "add_scaled", "numeric", {"complex floating": "a + vx_multiply(c, b)", "else": "a + c * b"},
                      library="arithmetic", wide=(2,))  # fmt: skip
or_both = _formula(3, "or_both", "bool", "a || (b && c)")
truncated_divide = _formula(2, "truncated_divide", "real numeric", "vx_truncated_divide(a, b)", library="/pointwise")
# What C's remainder makes of it, beside the standard's: an infinite dividend gives NaN, an infinite divisor of another sign -1,
# and a remainder of 0 has the dividend's sign.
_FLOORED = (
    "vx_is_infinite(a) && b != T(0) ? vx_remainder(a, b) : "
    "vx_is_infinite(b) && a * b < T(0) ? T(-1) : vx_floor_divide(a, b)"
)
floored_divide = _formula(2, "floored_divide", "real numeric", {"integer": "vx_floor_divide(a, b)", "else": _FLOORED},
                          library="arithmetic")  # fmt: skip
floored_remainder = _formula(2, "floored_remainder", "real numeric", {
    "integer": "vx_remainder(a, b)",
    "else": "vx_remainder(a, b) == T(0) ? vx_copysign(T(0), a) : vx_remainder(a, b)",
}, library="arithmetic")  # fmt: skip
fmod = _formula(2, "fmod", "real numeric", "vx_fmod(a, b)", library="/pointwise")

_NN = {"category": "real floating", "library": "/pointwise"}


def _unary(name: str, expression: str | dict[str, str] = "", **options: Any) -> Formula:
    return _formula(1, name, expression=expression or f"vx_{name}(a)", **{**_NN, **options})


def _binary(name: str, expression: str | dict[str, str] = "", **options: Any) -> Formula:
    return _formula(2, name, expression=expression or f"vx_{name}(a, b)", **{**_NN, **options})


def _ternary(name: str, expression: str | dict[str, str], **options: Any) -> Formula:
    return _formula(3, name, expression=expression, **{**_NN, **options})


# -- activations and their gradients: the gradient of the result comes first --------------------------------------------

cube = _unary("cube", "a * a * a")
sigmoid = _unary("sigmoid")
sigmoid_backward = _binary("sigmoid_backward", "a * (T(1) - b) * b")
tanh_backward = _binary("tanh_backward", "a * (T(1) - b * b)")
relu = _formula(1, "relu", "real numeric", {"integer": "max(a, T(0))", "else": "vx_relu(a)"}, library="/pointwise")
threshold = _ternary("threshold", "a <= b ? c : a", category="real numeric")
threshold_backward = _ternary("threshold_backward", "b <= c ? T(0) : a", category="real numeric")
gelu = _unary("gelu", {"float16": "vx_gelu_short(a)", "bfloat16": "vx_gelu_short(a)", "else": "vx_gelu(a)"})
gelu_tanh = _unary("gelu_tanh")
gelu_backward = _binary("gelu_backward")
gelu_tanh_backward = _binary("gelu_tanh_backward")
silu = _unary("silu")
silu_backward = _binary("silu_backward")
elu = _ternary("elu", "a > T(0) ? a : b * vx_expm1(c * a)", wide=(1, 2))
scaled_elu = _ternary("scaled_elu", "a > T(0) ? c * a : b * vx_expm1(a)", wide=(1, 2))
leaky_relu = _binary("leaky_relu", "a > T(0) ? a : a * b")
leaky_relu_backward = _ternary("leaky_relu_backward", "b > T(0) ? a : a * c", wide=(2,))
hardtanh_backward = _formula(
    4, "hardtanh_backward", expression="b <= c || b >= input3 ? T(0) : a", wide=(2, 3), **_NN
)  # fmt: skip
hardswish = _unary("hardswish", "a * vx_clip(a + T(3), T(0), T(6)) / T(6)")
hardswish_backward = _binary("hardswish_backward", "b <= T(-3) ? T(0) : b < T(3) ? a * (b / T(3) + T(0.5)) : a")
hardsigmoid = _unary("hardsigmoid", "vx_clip(a + T(3), T(0), T(6)) / T(6)")
hardsigmoid_backward = _binary("hardsigmoid_backward", "b > T(-3) && b < T(3) ? a / T(6) : T(0)")
softplus = _ternary("softplus", "a * b > c ? a : vx_softplus(a * b) / b", wide=(1, 2))
mish = _unary("mish", "a * vx_tanh(vx_softplus(a))")
softshrink = _binary("softshrink", "a > b ? a - b : a < -b ? a + b : a == a ? T(0) : a")
hardshrink = _binary("hardshrink", "a >= -b && a <= b ? T(0) : a")
shrink_backward = _ternary("shrink_backward", "b >= -c && b <= c ? T(0) : a")
log_sigmoid = _unary("log_sigmoid", "-vx_softplus(-a)")
log_sigmoid_backward = _binary("log_sigmoid_backward", "a * vx_sigmoid(-b)")
exp_of_magnitude = _unary("exp_of_magnitude", "vx_exp(-vx_absolute(a))")
prelu_weight_backward = _binary("prelu_weight_backward", "b > T(0) ? T(0) : a * b")

# -- arithmetic and special functions ----------------------------------------------------------------------------------

_ALL_NUMBERS = {"category": "numeric", "library": "arithmetic"}
add_wide = _binary("add_wide", "a + b", wide=(0,), library=None)
# A number beside an array of 16 bits is not rounded to these.
add_number = _binary("add_number", "a + b", wide=(1,), library=None)
subtract_number = _binary("subtract_number", "a - b", wide=(1,), library=None)
subtract_from_number = _binary("subtract_from_number", "a - b", wide=(0,), library=None)
multiply_number = _binary("multiply_number", "a * b", wide=(1,), library=None)
divide_number = _binary("divide_number", "vx_divide(a, b)", wide=(1,), library="arithmetic")
floored_divide_number = _binary("floored_divide_number", _FLOORED, wide=(1,), library="arithmetic")
truncated_divide_number = _binary("truncated_divide_number", "vx_truncated_divide(a, b)", wide=(1,))
add_product = _ternary("add_product", {"complex floating": "a + vx_multiply(b, c)", "else": "a + b * c"},
                       **_ALL_NUMBERS)  # fmt: skip
add_wide_product = _ternary("add_wide_product", add_product.expression, wide=(0, 1), **_ALL_NUMBERS)
add_quotient = _ternary(
    "add_quotient", "a + vx_divide(b, c)", category="floating-point", library="arithmetic", wide=(1,)
)
lerp = _ternary("lerp", "vx_absolute(c) < T(0.5) ? a + c * (b - a) : b - (b - a) * (T(1) - c)", wide=(2,))
rsqrt = _unary("rsqrt", "vx_divide(T(1), vx_sqrt(a))")
exp2 = _unary("exp2")
frac = _unary("frac", "a - vx_trunc(a)")
erf = _unary("erf")
erfc = _unary("erfc")
erfinv = _unary("erfinv")
xlogy = _binary("xlogy", "vx_xlogy(a, b, vx_log(b))")
xlog1py = _binary("xlog1py", "vx_xlogy(a, b, vx_log1p(b))")
logaddexp2 = _binary("logaddexp2")
fmax = _binary("fmax", {"integer": "max(a, b)", "else": "a != a ? b : b != b ? a : vx_maximum(a, b)"},
               category="real numeric")  # fmt: skip
fmin = _binary("fmin", {"integer": "min(a, b)", "else": "a != a ? b : b != b ? a : vx_minimum(a, b)"},
               category="real numeric")  # fmt: skip
heaviside = _binary("heaviside", "a == T(0) ? b : a > T(0) ? T(1) : T(0)", category="real numeric", library=None)
sign = _unary(
    "sign",
    {"real floating": "a != a ? T(0) : vx_sign(a)", "else": "vx_sign(a)"},
    category="numeric",
    library="arithmetic",
)
_INFINITY = {"category": "real", "result": "bool"}
is_positive_infinity = _unary(
    "is_positive_infinity", {"real floating": "vx_is_infinity(a, false)", "else": "false"}, **_INFINITY
)
is_negative_infinity = _unary(
    "is_negative_infinity", {"real floating": "vx_is_infinity(a, true)", "else": "false"}, **_INFINITY
)
identity = _formula(1, "identity", "all", "a")
is_negative = _formula(1, "is_negative", "integer or boolean", {"signed integer": "a < T(0)", "else": "false"},
                       result="bool")  # fmt: skip
never = _formula(1, "never", "integer or boolean", "false", result="bool")
gcd = _formula(2, "gcd", "integer", "vx_gcd(a, b)", library="/pointwise")
lcm = _formula(2, "lcm", "integer", "vx_lcm(a, b)", library="/pointwise")
angle = _formula(1, "angle", "floating-point", {
    "complex floating": "vx_atan2(a.y, a.x)", "else": "a < T(0) ? T(3.14159265358979323846) : a == a ? T(0) : a",
}, library="inverse_trigonometric", result="real")  # fmt: skip


@recordable
def apply(name: str, *operands: Any) -> VkArray:
    """The formula of a name of arrays and Python's numbers. Raises ValueError for another name, and TypeError as rows do."""
    if name not in FORMULAS:
        raise ValueError(f"apply: expected the name of a formula, got {name!r:.40}.")
    return FORMULAS[name](*operands)


@functools.cache
def masked_scale_operation(dtype: DType) -> Operation:
    """a * c where b is true, 0 elsewhere (dropout and its gradient)."""
    return Operation(f"masked scale {dtype}", "b ? a * c : T(0)", (dtype, bool_, dtype), dtype, dtype)


def _operations() -> Iterator[Operation]:
    yield from operations_of(FORMULAS.values())
    yield from (masked_scale_operation(dtype) for dtype in CATEGORIES["real floating"])


def operations_of(rows: Iterable[Row]) -> Iterator[Operation]:
    """The operations of rows for all types."""
    for row in rows:
        yield from (row.operation(dtype) for dtype in row.accepted())


def variants(device: Any) -> Iterator[Shader]:
    """The shaders of all formulas on their types, for the archive."""
    yield from variants_of(_operations(), device)


def variants_of(operations: Iterable[Operation], device: Any) -> Iterator[Shader]:
    """The shaders of those operations whose types a device supports."""
    for operation in operations:
        if all(is_supported(one, device) for one in (*operation.inputs, operation.result)):
            yield from operation.variants(device)
