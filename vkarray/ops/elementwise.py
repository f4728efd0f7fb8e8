"""Elementwise functions of the standard, one row each. The functions prefixed `vx_` live in `glsl/lib`."""

from __future__ import annotations

import math
from typing import Any

from ..core import dtypes, layout, promotion
from ..core.array import ArrayLike, VkArray, check_supported, operations
from ..core.dtypes import CATEGORIES, as_dtype
from ..core.tokens import Token, within
from ..kernels import faults, launch
from ..kernels.conversion import cast
from ..kernels.planned import planned, refuse
from ..kernels.rows import ROWS, check_operands, common_dtype
from .ufunc import binary, ternary, ufunc, unary

_FLOAT = {"category": "floating-point", "integers": "by width"}
_REAL_FLOAT = {"category": "real floating", "integers": "by width"}


def _function(name: str, summary: str, library: str, **options: Any) -> ufunc:
    """A row that calls the library function of its own name."""
    return unary(name, expression=f"vx_{name}(a)", library=library, summary=summary, **{**_FLOAT, **options})


def _function_of_two(name: str, summary: str, library: str) -> ufunc:
    return binary(name, expression=f"vx_{name}(a, b)", library=library, summary=summary, **_REAL_FLOAT)


# -- arithmetic -------------------------------------------------------------------------------------------------

add = binary("add", "numeric", {"bool": "a || b", "else": "a + b"}, "The sum of each pair of elements (of bools: either).",
             booleans=dtypes.bool_)  # fmt: skip
subtract = binary("subtract", "numeric", "a - b", "The difference of each pair of elements.")
multiply = binary("multiply", "numeric", {"complex floating": "vx_multiply(a, b)", "bool": "a && b", "else": "a * b"},
                  "The product of each pair of elements (of bools: both).", library="arithmetic",
                  booleans=dtypes.bool_)  # fmt: skip
divide = binary("divide", "floating-point", {"float16": "vx_divide_float16(a, b)", "else": "vx_divide(a, b)"},
                "The quotient of each pair of elements, correctly rounded.", library="arithmetic",
                integers="float64")  # fmt: skip
floor_divide = binary("floor_divide", "real numeric", "vx_floor_divide(a, b)",
                      "The quotient of each pair rounded to the next lower integer (integer x // 0 is 0, as in NumPy).",
                      library="arithmetic", booleans=dtypes.int8)  # fmt: skip
remainder = binary("remainder", "real numeric", "vx_remainder(a, b)",
                   "The remainder of floor division, with the sign of the divisor (integer x % 0 is 0, as in NumPy).",
                   library="arithmetic", booleans=dtypes.int8)  # fmt: skip


def _check_exponents(base: Any, exponent: Any) -> tuple[Any, Any]:
    """Raise ValueError for a negative power of integers: at once for a number, at the next read for an array."""
    if not all(one._dtype.kind in "iub" if type(one) is VkArray else isinstance(one, int) for one in (base, exponent)):
        return base, exponent
    if type(exponent) is VkArray:
        if type(base) is VkArray and base._dtype is dtypes.uint64 and exponent._dtype.kind == "i":
            return base, exponent  # of which the common type is a floating one
        lowest, largest = promotion.integer_range(exponent._dtype) if exponent._dtype.kind == "i" else (0, 0)
        if lowest and (type(base) is VkArray or within(base, lowest, largest)):  # other numbers are refused
            if type(base) is VkArray:  # before the device looks: a call that fails leaves no check
                layout.broadcast_shapes([base._shape, exponent._shape], "pow")
            faults.check_values(_NEGATIVE_POWER, exponent, 0, largest)
    elif not within(exponent, 0, promotion.integer_range(dtypes.uint64)[1]) and exponent < 0:
        raise ValueError("pow: integers to negative integer powers are not allowed. Convert them to a floating type.")
    return base, exponent


_NEGATIVE_POWER = faults.WrongValue(
    ValueError, "pow: integers to the negative integer power {value} are not allowed. Convert them to a floating type."
)
pow = binary("pow", "numeric", "vx_pow(a, b)", "The first element raised to the power of the second (integers wrap around).",
             library="power", booleans=dtypes.int8, prepare=_check_exponents)  # fmt: skip
negative = unary("negative", "numeric", {"integer": "-a", "else": "vx_negative(a)"}, "The negative of each element.",
                 library="arithmetic")  # fmt: skip
positive = unary("positive", "numeric", "a", "A copy of each element.")
abs = unary("abs", "numeric", {"unsigned integer": "a", "bool": "a", "else": "vx_absolute(a)"},
            "The absolute value of each element.", library="arithmetic", result="real", booleans=dtypes.bool_)  # fmt: skip
sign = unary("sign", "numeric", "vx_sign(a)", "-1, 0 or 1 by the sign of each element; z / |z| for complex ones.",
             library="arithmetic")  # fmt: skip
square = unary("square", "numeric", {"complex floating": "vx_square(a)", "else": "a * a"}, "The square of each element.",
               library="arithmetic", booleans=dtypes.int8)  # fmt: skip
_UNIT = "a == T(1) || a == T(-1) ? a : "
reciprocal = unary("reciprocal", "numeric", {
    # NumPy's integers: those of 1 / 0, which it leaves to the processor, are x86's.
    "int32": f"{_UNIT}a == T(0) ? T(1) << 31 : T(0)", "int64": f"{_UNIT}a == T(0) ? T(1) << 63 : T(0)",
    "signed integer": f"{_UNIT}T(0)", "unsigned integer": "a == T(1) ? a : T(0)",
    "float16": "vx_divide_float16(1.0, a)", "else": "vx_reciprocal(a)",
}, "1 / x of each element; its integer part for integers.", library="arithmetic", booleans=dtypes.int8)  # fmt: skip
maximum = binary("maximum", "real numeric", {"bool": "a || b", "else": "vx_maximum(a, b)"},
                 "The larger of each pair; NaN if either is. Complex numbers are ordered as by `less`.",
                 library="arithmetic", booleans=dtypes.bool_, complexes="complex.maximum")  # fmt: skip
minimum = binary("minimum", "real numeric", {"bool": "a && b", "else": "vx_minimum(a, b)"},
                 "The smaller of each pair; NaN if either is. Complex numbers are ordered as by `less`.",
                 library="arithmetic", booleans=dtypes.bool_, complexes="complex.minimum")  # fmt: skip
copysign = _function_of_two("copysign", "The magnitude of the first with the sign of the second.", "arithmetic")
nextafter = binary("nextafter", "real floating", {
    "float16": "vx_float16_from_bits(vx_nextafter16(vx_float16_to_bits(a), vx_float16_to_bits(b), 0x7C00u))",
    "bfloat16": "vx_bfloat16_from_bits(vx_nextafter16(vx_bfloat16_to_bits(a), vx_bfloat16_to_bits(b), 0x7F80u))",
    "else": "vx_nextafter(a, b)",
}, "The next value of the type after the first towards the second.", library="arithmetic", integers="by width")  # fmt: skip
signbit = _function("signbit", "Whether the sign bit is set, for -0 and NaN too.", "arithmetic", result="bool",
                    **_REAL_FLOAT)  # fmt: skip

# -- rounding ---------------------------------------------------------------------------------------------------

_ROUNDING: dict[str, Any] = {"category": "real numeric", "library": "rounding", "booleans": dtypes.bool_}
floor = unary(
    "floor",
    expression={"integer": "a", "bool": "a", "else": "vx_floor(a)"},
    summary="The next lower integer.",
    **_ROUNDING,
)
ceil = unary(
    "ceil",
    expression={"integer": "a", "bool": "a", "else": "vx_ceil(a)"},
    summary="The next higher integer.",
    **_ROUNDING,
)
trunc = unary(
    "trunc", expression={"integer": "a", "bool": "a", "else": "vx_trunc(a)"}, summary="The integer part.", **_ROUNDING
)
round = unary("round", "numeric", {"integer": "a", "else": "vx_round(a)"},
              "The nearest integer, halves to the even one (each part of a complex number).", library="rounding")  # fmt: skip

# -- classification and comparison ------------------------------------------------------------------------------

_TEST: dict[str, Any] = {"category": "numeric", "library": "classification", "result": "bool", "booleans": dtypes.bool_}
isfinite = unary("isfinite", expression={"integer": "true", "bool": "true", "else": "vx_isfinite(a)"},
                 summary="Whether each element is neither infinite nor NaN.", **_TEST)  # fmt: skip
isinf = unary("isinf", expression={"integer": "false", "bool": "false", "else": "vx_isinf(a)"},
              summary="Whether each element is infinite.", **_TEST)  # fmt: skip
isnan = unary("isnan", expression={"integer": "false", "bool": "false", "else": "vx_isnan(a)"},
              summary="Whether each element is NaN.", **_TEST)  # fmt: skip

# Wider types, and float16, which is computed in float32, have no subnormal numbers that a device would take for zero.
_BY_BITS = ("float32", "bfloat16", "complex64")


def _comparable(x1: Any, x2: Any) -> tuple[Any, Any]:
    """Operands that compare as integers of which no type holds both: numbers beyond a type, and int64 beside uint64."""
    if type(x1) is VkArray and type(x2) is VkArray:
        kinds = x1._dtype.kind + x2._dtype.kind
        return _signs(x1, x2) if kinds in ("iu", "ui") and dtypes.uint64 in (x1._dtype, x2._dtype) else (x1, x2)
    array, number = (x1, x2) if type(x1) is VkArray else (x2, x1)
    value = promotion.as_scalar(number)
    if type(array) is not VkArray or array._dtype not in CATEGORIES["integer"] or not isinstance(value, int):
        return x1, x2
    if within(value, *promotion.integer_range(array._dtype)):
        return x1, x2
    if isinstance(value, Token):
        refuse("compare with an integer that the type does not hold")
    beyond = math.copysign(math.inf, value)
    return (array, beyond) if array is x1 else (beyond, array)


def _signs(x1: VkArray, x2: VkArray) -> tuple[VkArray, int]:
    """-1, 0 or 1, which compares with 0 as integers of x1 do with those of x2; one is signed, the other is not."""
    first, second = (cast(x, dtypes.uint64) for x in (x1, x2))
    sign = cast(greater(first, second), dtypes.int8) - cast(less(first, second), dtypes.int8)
    negative, of_negative = (less(x1, 0), -1) if x1._dtype.kind == "i" else (less(x2, 0), 1)
    return operations["where"](negative, of_negative, sign), 0


def _comparison(
    name: str, category: str, by_bits: str, native: str, summary: str, boolean: str | None = None, wide: str | None = None
) -> Any:  # fmt: skip
    """A row of a comparison: of types by their bits, of bools, of complex128, and of others."""
    expressions = {
        **dict.fromkeys(_BY_BITS, by_bits),
        "bool": boolean or native,
        "complex128": wide or native,
        "else": native,
    }
    return binary(
        name, category, expressions, summary, library="/float32/comparison", result="bool", prepare=_comparable
    )


equal = _comparison("equal", "all", "vx_equal(a, b)", "a == b", "Whether the elements of each pair are equal.")
not_equal = _comparison("not_equal", "all", "!vx_equal(a, b)", "a != b", "Whether the elements of each pair differ.")


def _order(name: str, by_bits: str, sign: str, summary: str, boolean: str) -> Any:
    """An order of numbers; complex ones are compared as NumPy does, by the real part, then by the imaginary one."""
    strict = sign[0]
    wide = f"(a.x {strict} b.x && a.y == a.y && b.y == b.y) || (a.x == b.x && a.y {sign} b.y)"
    return _comparison(name, "all", by_bits, f"a {sign} b", summary, boolean, wide)


less = _order("less", "vx_less(a, b)", "<", "Whether x1 < x2.", "!a && b")
less_equal = _order("less_equal", "vx_less_equal(a, b)", "<=", "Whether x1 <= x2.", "!a || b")
greater = _order("greater", "vx_less(b, a)", ">", "Whether x1 > x2.", "a && !b")
greater_equal = _order("greater_equal", "vx_less_equal(b, a)", ">=", "Whether x1 >= x2.", "a || !b")

# -- logic and bits ---------------------------------------------------------------------------------------------

logical_and = binary("logical_and", "all", "a && b", "Whether both are true (not 0).", booleans="truth")
logical_or = binary("logical_or", "all", "a || b", "Whether either is true (not 0).", booleans="truth")
logical_xor = binary("logical_xor", "all", "a != b", "Whether exactly one is true (not 0).", booleans="truth")
logical_not = unary("logical_not", "all", "!a", "Whether the element is false (0).", booleans="truth")

bitwise_and = binary("bitwise_and", "integer or boolean", {"bool": "a && b", "else": "a & b"}, "The bits set in both.")
bitwise_or = binary("bitwise_or", "integer or boolean", {"bool": "a || b", "else": "a | b"}, "The bits set in either.")
bitwise_xor = binary(
    "bitwise_xor", "integer or boolean", {"bool": "a != b", "else": "a ^ b"}, "The bits set in one of both."
)
bitwise_invert = unary("bitwise_invert", "integer or boolean", {"bool": "!a", "else": "~a"}, "All bits flipped.")
bitwise_left_shift = binary("bitwise_left_shift", "integer", "vx_left_shift(a, b)",
                            "Bits moved left; 0 for a shift by the width or more.", library="arithmetic",
                            booleans=dtypes.int8)  # fmt: skip
bitwise_right_shift = binary("bitwise_right_shift", "integer", "vx_right_shift(a, b)",
                             "Bits moved right, with the sign; 0 or -1 for a shift by the width or more.",
                             library="arithmetic", booleans=dtypes.int8)  # fmt: skip

# -- complex numbers --------------------------------------------------------------------------------------------

conj = unary("conj", "numeric", {"complex floating": "vx_conj(a)", "else": "a"}, "The complex conjugate.",
             library="arithmetic", booleans=dtypes.int8)  # fmt: skip
real = unary("real", "numeric", {"complex floating": "a.x", "else": "a"}, "The real part.", result="real",
             booleans=dtypes.bool_)  # fmt: skip
imag = unary("imag", "numeric", {"complex floating": "a.y", "else": "T(0)"}, "The imaginary part; 0 of real numbers.",
             result="real", booleans=dtypes.bool_)  # fmt: skip

# -- elementary functions ---------------------------------------------------------------------------------------

sqrt = _function("sqrt", "The square root, correctly rounded.", "power")
hypot = _function_of_two("hypot", "sqrt(x1**2 + x2**2) without overflow.", "power")
exp = _function("exp", "e to the power of x.", "exponential")
expm1 = _function("expm1", "exp(x) - 1, accurate near 0.", "exponential")
log = _function("log", "The natural logarithm.", "logarithmic")
log1p = _function("log1p", "log(1 + x), accurate near 0.", "logarithmic")
log2 = _function("log2", "The logarithm to base 2.", "logarithmic")
log10 = _function("log10", "The logarithm to base 10.", "logarithmic")
logaddexp = _function_of_two("logaddexp", "log(exp(x1) + exp(x2)) without overflow.", "logarithmic")
sin = _function("sin", "The sine of an angle in radians.", "trigonometric")
cos = _function("cos", "The cosine of an angle in radians.", "trigonometric")
tan = _function("tan", "The tangent of an angle in radians.", "trigonometric")
asin = _function("asin", "The inverse sine in radians.", "inverse_trigonometric")
acos = _function("acos", "The inverse cosine in radians.", "inverse_trigonometric")
atan = _function("atan", "The inverse tangent in radians.", "inverse_trigonometric")
atan2 = _function_of_two("atan2", "The angle in radians of the point (x2, x1).", "inverse_trigonometric")
sinh = _function("sinh", "The hyperbolic sine.", "hyperbolic")
cosh = _function("cosh", "The hyperbolic cosine.", "hyperbolic")
tanh = _function("tanh", "The hyperbolic tangent.", "hyperbolic")
asinh = _function("asinh", "The inverse hyperbolic sine.", "inverse_hyperbolic")
acosh = _function("acosh", "The inverse hyperbolic cosine.", "inverse_hyperbolic")
atanh = _function("atanh", "The inverse hyperbolic tangent.", "inverse_hyperbolic")

# -- clip -------------------------------------------------------------------------------------------------------

_clip = ternary("clip", "real numeric", "vx_clip(a, b, c)", "Each element limited to [min, max].", library="arithmetic")


def _bound(bound: Any, limit: int, lowest: int, highest: int) -> Any:
    """A bound of integers; the limit of the type for a number beyond that limit, which bounds nothing."""
    if (
        type(bound) is VkArray
        or bound is None
        or within(bound, lowest, highest)
        or (bound < limit) is not (limit == lowest)
    ):
        return bound
    if isinstance(bound, Token):
        refuse("clip at an integer that the type does not hold")
    return limit


@planned(integers=True)
def clip(
    x: ArrayLike, /, min: ArrayLike | None = None, max: ArrayLike | None = None, out: VkArray | None = None, *,
    a_min: ArrayLike | None = None, a_max: ArrayLike | None = None, dtype: Any = None, casting: str = "same_kind",
) -> VkArray:  # fmt: skip
    """Each element limited to [min, max]; NaN where the element or a bound is NaN.

    Parameters: x (numeric or bool); min, max (None for no bound, numbers, or arrays that broadcast; NumPy's names a_min and a_max
    mean the same); out (an array that takes the result); dtype (that of the result); casting (what may be converted to the type
    of `out`).
    Returns an array of the promoted dtype of x and the bounds, broadcast against them.
    Complex numbers are ordered as by `less`. Raises ValueError for shapes that do not broadcast and for a bound given twice.
    Standard: elementwise functions, `clip`.
    """
    if a_min is not None or a_max is not None:
        if min is not None or max is not None:
            raise ValueError("clip: expected each bound once, got min or max beside a_min or a_max.")
        min, max = a_min, a_max
    present = [x, *(bound for bound in (min, max) if bound is not None)]
    check_operands("clip", present)
    if type(x) is not VkArray:  # whose type counts, as NumPy makes an array of it
        device = next(bound for bound in present if type(bound) is VkArray)._device
        x = present[0] = operations["asarray"](x, device=device)
    compute = common_dtype("clip", present)
    check_supported(compute, x._device, "clip", present)
    if compute in CATEGORIES["integer"]:
        lowest, highest = promotion.integer_range(compute)
        min, max = _bound(min, lowest, lowest, highest), _bound(max, highest, lowest, highest)
        present[1:] = [bound for bound in (min, max) if bound is not None]
    for bound in present[1:]:
        if type(bound) is not VkArray:
            promotion.check_scalar_range("clip", bound, compute)
    if len(present) == 1:
        result = launch.copy(x)
    elif compute.kind == "c":
        result = operations["complex.clip"](x, min, max)
    else:
        function = minimum if min is None else maximum if max is None else _clip
        whole = compute is dtypes.bool_ and function is _clip  # of which there is no kernel
        if whole:
            present = [cast(data, dtypes.uint8) if type(data) is VkArray else int(data) for data in present]
        result = function.call(*present)
        result = cast(result, compute)
    if dtype is not None:
        result = cast(result, as_dtype(dtype, "clip"))
    return result if out is None else operations["write"]("clip", out, result, casting=casting)


@planned(integers=True)
def in_place(name: str, target: VkArray, other: ArrayLike) -> VkArray:
    """`target op= other`: the result keeps the dtype and shape of `target`, and its memory.

    Raises TypeError when the promoted dtype is of a higher kind, ValueError when the shape would change or when elements of
    `target` share memory (a broadcast view).
    """
    row = ROWS.get(name)
    check_operands(f"in-place {name}", [target, other])
    if layout.has_internal_overlap(target._shape, target._strides):
        raise ValueError(f"in-place {name}: elements of the target share memory (a broadcast view). Copy it first.")
    if row is not None:
        shape = other._shape if type(other) is VkArray else ()
        if layout.broadcast_shapes([target._shape, shape], f"in-place {name}") != target._shape:
            raise ValueError(f"in-place {name}: an array of shape {shape} does not broadcast into {target._shape}.")
        compute = row.compute_dtype(common_dtype(name, [target, other]), [target, other])
        result = row.result_dtype(compute)
        if "buifc".index(result.kind) > "buifc".index(target._dtype.kind):
            raise TypeError(
                f"in-place {name}: the result would be {result}, which does not fit into "
                f"{target._dtype}. Write x = x op y, or convert the operand with astype."
            )
        if row.prepare is not None:
            row.prepare(target, other)
        return row(target, other, out=target)
    result = operations[name](target, other)
    if result._shape != target._shape or result._dtype is not target._dtype:
        raise ValueError(
            f"in-place {name}: the result has shape {result._shape} and dtype {result._dtype}, the target "
            f"{target._shape} and {target._dtype}. Write x = x op y."
        )
    return launch.elementwise(launch.copy_operation(target._dtype), (result,), target)
