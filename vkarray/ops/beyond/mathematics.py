"""Elementwise functions that NumPy has beyond the standard's, one row each, or a few lines in terms of others."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from ...core import dtypes, layout
from ...core.array import ArrayLike, VkArray, available, default_dtype, empty, is_supported
from ...core.dtypes import CATEGORIES, DType
from ...core.promotion import check_category, float_for
from ...kernels import launch
from ...kernels.conversion import cast
from ...kernels.rows import Row, as_array, check_operands
from ...shaders.source import Shader
from ..elementwise import clip, floor_divide, pow, remainder, trunc
from ..ufunc import binary, composed, unary

_SOURCE = {"source": "As NumPy's function of the same name."}
_MATHEMATICS: dict[str, Any] = {"library": "mathematics", **_SOURCE}
_REAL: dict[str, Any] = {"category": "real floating", "integers": "by width", **_MATHEMATICS}

rint = unary("rint", "floating-point", "vx_round(a)", "The nearest integer, halves to the even one.", library="rounding",
             integers="by width", **_SOURCE)  # fmt: skip
fabs = unary("fabs", "real floating", "vx_absolute(a)", "The absolute value of each real element.", library="arithmetic",
             integers="by width", **_SOURCE)  # fmt: skip
fmod = binary("fmod", "real numeric", "vx_fmod(a, b)",
              "The remainder of truncated division, with the sign of the dividend (integer x % 0 is 0, as in NumPy).",
              booleans=dtypes.int8, **_MATHEMATICS)  # fmt: skip
fmax = binary("fmax", "real numeric", {"bool": "a || b", "else": "vx_fmax(a, b)"},
              "The larger of each pair; the other where one is NaN.", booleans=dtypes.bool_, complexes="complex.fmax",
              **_MATHEMATICS)  # fmt: skip
fmin = binary("fmin", "real numeric", {"bool": "a && b", "else": "vx_fmin(a, b)"},
              "The smaller of each pair; the other where one is NaN.", booleans=dtypes.bool_, complexes="complex.fmin",
              **_MATHEMATICS)  # fmt: skip
gcd = binary("gcd", "integer", "vx_gcd(a, b)", "The greatest common divisor of each pair.", **_MATHEMATICS)
lcm = binary("lcm", "integer", "vx_lcm(a, b)", "The least common multiple of each pair.", **_MATHEMATICS)
bitwise_count = unary("bitwise_count", "integer or boolean", {"bool": "uint(a)", "else": "vx_bit_count(a)"},
                      "The number of bits set in the magnitude of each element.", result="uint8", **_MATHEMATICS)  # fmt: skip
cbrt = unary("cbrt", expression="vx_cbrt(a)", summary="The cube root.", **_REAL)
exp2 = unary("exp2", "floating-point", {"complex floating": "vx_pow(T(2, 0), a)", "else": "vx_exp2(a)"}, "2 to the power of x.",
             library="power", integers="by width", **_SOURCE)  # fmt: skip
heaviside = binary("heaviside", expression="vx_heaviside(a, b)",
                   summary="0 where x1 is negative, x2 where it is 0, and 1 where it is positive.", **_REAL)  # fmt: skip
_ANGLE: dict[str, Any] = {**_REAL, "library": None}
deg2rad = unary("deg2rad", expression="a * T(0.017453292519943295769lf)", summary="Degrees in radians.", **_ANGLE)
rad2deg = unary("rad2deg", expression="a * T(57.295779513082320877lf)", summary="Radians in degrees.", **_ANGLE)
radians, degrees = deg2rad, rad2deg
spacing = unary("spacing", expression={
    "float16": "vx_spacing16(a)", "bfloat16": "vx_spacing(a, 7, -126, uintBitsToFloat(0x7F7F0000u))",
    "float32": "vx_spacing(a, 23, -126, uintBitsToFloat(0x7F7FFFFFu))", "else": "vx_spacing(a)",
}, summary="The distance from each element to the next one away from 0, with the sign of the element; in float16 that to the next "
"larger one, as in NumPy.", **_REAL)  # fmt: skip

# -- rows that functions of more or fewer results, or of another kind, are made of ----------------------------------------


def _row(name: str, operands: int, expression: str, library: str = "mathematics", **options: Any) -> Row:
    return Row(name, operands, "real floating", expression, "", library, **{"integers": "by width", **options})


_LOGADDEXP2 = _row("logaddexp2", 2, "vx_logaddexp2(a, b)")
_FRACTION = _row("fraction", 1, "vx_fraction(a)")
_SIGNIFICAND = _row("significand", 1, "vx_significand(a)")
_EXPONENT = _row("exponent", 1, "vx_exponent_of(a)", result="int32")
SINC = _row("sinc", 1, "vx_sinc(a)", integers="float64")
I0 = _row("i0", 1, "vx_i0(a)", "bessel", integers="float64")
WITHOUT_INFINITIES = _row("without infinities", 3, "vx_is_infinite(a) ? (vx_signbit(a) ? c : b) : a", "arithmetic")
_ROWS = (_LOGADDEXP2, _FRACTION, _SIGNIFICAND, _EXPONENT, SINC, I0, WITHOUT_INFINITIES)


@functools.cache
def _scaling(dtype: DType) -> launch.Operation:
    """A number times 2 to the power of an integer."""
    return launch.Operation(f"ldexp {dtype}", "vx_ldexp(a, b)", (dtype, dtypes.int32), dtype, dtype, "mathematics")


def variants(device: Any) -> Iterator[Shader]:
    """The shaders of rows without a public function, for the archive."""
    for row in _ROWS:
        for operation in (row.operation(dtype) for dtype in row.accepted() if is_supported(dtype, device)):
            yield from operation.variants(device)
    for dtype in filter(CATEGORIES["real floating"].__contains__, dtypes.DTYPES.values()):
        if is_supported(dtype, device):
            yield from _scaling(dtype).variants(device)


# -- functions in terms of others ---------------------------------------------------------------------------------------


@composed
def divmod(x1: ArrayLike, x2: ArrayLike) -> tuple[VkArray, VkArray]:
    """The quotient of each pair rounded downwards and the remainder: (x1 // x2, x1 % x2).

    Parameters: x1, x2 (real numeric); arrays on one device, numbers or lists, broadcast against each other; out, where, dtype.
    Returns two arrays of the promoted type. Raises TypeError for other types, ValueError for shapes that do not broadcast.
    """
    return floor_divide(x1, x2), remainder(x1, x2)


@composed
def logaddexp2(x1: ArrayLike, x2: ArrayLike) -> VkArray:
    """log2(2**x1 + 2**x2) without overflow.

    Parameters: x1, x2 (real floating, integers as NumPy converts them); arrays on one device, numbers or lists, broadcast against
    each other; out, where, dtype. Returns an array of the promoted type. Raises TypeError for other types, ValueError for shapes
    that do not broadcast.
    Method: max(x1, x2) + log2(1 + 2**-abs(x1 - x2)) in pairs; within an ULP, but where the two terms cancel: there the error is
    2**-28 of the larger operand, 2**-65 in float64.
    """
    return _LOGADDEXP2(x1, x2)


@composed
def modf(x: ArrayLike) -> tuple[VkArray, VkArray]:
    """The fractional and the integral part of each element, both with its sign.

    Parameters: x (real floating, integers as NumPy converts them); out, where, dtype. Returns two arrays of the dtype of x.
    Raises TypeError for other types.
    """
    fraction = _FRACTION(x)
    return fraction, trunc(cast(x, fraction._dtype))


@composed
def frexp(x: ArrayLike) -> tuple[VkArray, VkArray]:
    """x = significand * 2**exponent, the significand from 1/2 to 1; zeros, infinities and NaN are their own, with the exponent 0.

    Parameters: x (real floating, integers as NumPy converts them); out, where, dtype. Returns an array of the dtype of x and one of
    int32. Raises TypeError for other types. Method: by bits.
    """
    return _SIGNIFICAND(x), _EXPONENT(x)


@composed
def ldexp(x1: ArrayLike, x2: ArrayLike) -> VkArray:
    """x1 * 2**x2, rounded once.

    Parameters: x1 (real floating, integers as NumPy converts them); x2 (integer); arrays on one device, numbers or lists, broadcast
    against each other; out, where, dtype. Returns an array of the dtype of x1. Raises TypeError for other types, ValueError for
    shapes that do not broadcast. Method: by bits.
    """
    like = check_operands("ldexp", (x1, x2))
    dtype = (
        available(float_for(x1._dtype), like._device) if type(x1) is VkArray else default_dtype("float", like._device)
    )
    check_category("ldexp", dtype, "real floating")
    if type(x2) is not VkArray and not isinstance(x2, int):
        raise TypeError(f"ldexp: expected an integer as x2, got {x2!r}.")
    exponents = as_array("ldexp", x2, x2._dtype if type(x2) is VkArray else dtypes.int32, like)
    check_category("ldexp", exponents._dtype, "integer or boolean")
    if exponents._dtype.itemsize >= 4:  # beyond, every result is 0 or infinite
        exponents = clip(exponents, 0 if exponents._dtype.kind == "u" else -9999, 9999)
    operands = [as_array("ldexp", x1, dtype, like), cast(exponents, dtypes.int32)]
    shape = layout.broadcast_shapes([operand._shape for operand in operands], "ldexp")
    return launch.elementwise(_scaling(dtype), operands, empty(shape, dtype, like._device))


@composed
def float_power(x1: ArrayLike, x2: ArrayLike) -> VkArray:
    """The first element raised to the power of the second, in floating point: in the widest type, but the default one at most.

    Parameters: x1, x2 (numeric); arrays on one device, numbers or lists, broadcast against each other; out, where, dtype.
    Returns an array of the default floating type or its complex type, of float64 or complex128 where an operand has that.
    Raises TypeError for other types, ValueError for shapes that do not broadcast.
    """
    return pow(_widest(x1), _widest(x2))


def _widest(x: Any) -> Any:
    if type(x) is not VkArray:
        return x if isinstance(x, complex) else float(x)
    if x._dtype in (dtypes.float64, dtypes.complex128):
        return x
    return cast(x, available(dtypes.complex128 if x._dtype.kind == "c" else dtypes.float64, x._device))


@composed
def fix(x: ArrayLike) -> VkArray:
    """The integer part of each real element, as `trunc`.

    Parameters: x (real numeric or bool); out, where, dtype. Returns an array of the dtype of x. Raises TypeError for other types.
    """
    return trunc(x)
