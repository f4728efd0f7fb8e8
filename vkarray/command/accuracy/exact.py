"""True values in mpmath's arbitrary precision, one by one: what every figure of the report rests on."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from types import ModuleType
from typing import Any

from ...errors import VkArrayError
from .formats import MATTERS, Format

# Bits beyond those that the exponents of the operands may need for sums with 1 and squares: results that cancel to a few
# hundred bits still have enough right ones.
_GUARD_BITS = 320


@functools.cache
def mpmath() -> ModuleType:
    """The module. Raises VkArrayError when it is not installed."""
    try:
        import mpmath as module
    except ImportError:
        raise VkArrayError(
            "the true values are computed with mpmath, which is not installed. Run: pip install mpmath"
        ) from None
    return module


def _log_add_exp(mp: Any, a: Any, b: Any) -> Any:
    return max(a, b) + mp.log1p(mp.exp(min(a, b) - max(a, b)))


def _floor_quotient(a: Any, b: Any) -> int:
    return math.floor(Fraction(*_ratio(a)) / Fraction(*_ratio(b)))


def _ratio(value: Any) -> tuple[int, int]:
    return float(value).as_integer_ratio()


def _remainder(mp: Any, a: Any, b: Any) -> Any:
    rest = Fraction(*_ratio(a)) - _floor_quotient(a, b) * Fraction(*_ratio(b))
    return mp.mpf(rest.numerator) / rest.denominator


# The functions whose name in mpmath is another, or that it does not have.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": lambda mp, a, b: a + b,
    "subtract": lambda mp, a, b: a - b,
    "multiply": lambda mp, a, b: a * b,
    "divide": lambda mp, a, b: a / b,
    "reciprocal": lambda mp, a: 1 / a,
    "square": lambda mp, a: a * a,
    "abs": lambda mp, a: abs(a),
    "sign": lambda mp, a: a / abs(a) if a else a,
    "floor_divide": lambda mp, a, b: mp.mpf(_floor_quotient(a, b)),
    "remainder": _remainder,
    "pow": lambda mp, a, b: mp.power(a, b),
    "log2": lambda mp, a: mp.log(a) / mp.log(2),
    "log10": lambda mp, a: mp.log(a) / mp.log(10),
    "logaddexp": _log_add_exp,
    "hypot": lambda mp, a, b: mp.sqrt(a * a + b * b),
    "cbrt": lambda mp, a: mp.sign(a) * mp.cbrt(abs(a)),
    "exp2": lambda mp, a: mp.power(2, a),
    "deg2rad": lambda mp, a: a * mp.pi / 180,
    "rad2deg": lambda mp, a: a * 180 / mp.pi,
}
_SAME_NAME = {
    "sqrt", "exp", "expm1", "log", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh",
    "asinh", "acosh", "atanh",
}  # fmt: skip

# Signs of the parts where 0 <= real, imag (odd functions) or 0 <= imag (the others). mpmath knows no signed zeros, so on
# a branch cut it may return the value of the other side.
_ODD = {"asin": (1, 1), "atan": (1, 1), "asinh": (1, 1), "atanh": (1, 1)}
_SIGNS = {**_ODD, "acos": (1, -1), "acosh": (1, 1), "sqrt": (1, 1)}


def has(name: str) -> bool:
    """Whether a function is here; the others give exact results, which need no arbitrary precision."""
    return name in _FUNCTIONS or name in _SAME_NAME


def true_value(name: str, operands: Sequence[complex]) -> Any:
    """The value at finite operands (float or complex), as an mpf or mpc of far more digits than any result."""
    mp = mpmath().mp
    function = functools.partial(_FUNCTIONS[name], mp) if name in _FUNCTIONS else getattr(mp, name)
    parts = [part for value in operands for part in (value.real, value.imag)]
    with mp.workprec(_GUARD_BITS + 2 * max(abs(math.frexp(part)[1]) for part in parts)):
        if isinstance(operands[0], complex):
            return _complex_value(mp, name, function, operands)
        return function(*[mp.mpf(value) for value in operands])


def _complex_value(mp: Any, name: str, function: Callable[..., Any], operands: Sequence[complex]) -> Any:
    """By f(conj z) = conj f(z) from the upper half-plane, where the signs of parts are known."""
    first = operands[0]
    below = math.copysign(1, first.imag) < 0
    mirrored = name in _ODD and math.copysign(1, first.real) < 0
    values = [mp.mpc(value.real, -value.imag if below else value.imag) for value in operands]
    if mirrored:
        values[0] = mp.mpc(-values[0].real, values[0].imag)
    result = mp.mpc(function(*values))
    if name in _SIGNS:
        real, imaginary = _SIGNS[name]
        result = mp.mpc(real * abs(result.real), imaginary * abs(result.imag))
    return mp.mpc(-result.real if mirrored else result.real, -result.imag if below else result.imag)


def error(got: complex, true: Any, form: Format, least_unit: float) -> float:
    """The error of a finite or infinite result as formats.real_errors and complex_errors define it."""
    mp = mpmath().mp
    beyond = mp.ldexp(1, form.highest_exponent + 1)
    with mp.workprec(_GUARD_BITS):
        if isinstance(true, mp.mpf):
            if abs(true) >= beyond:
                return 0.0 if got == math.copysign(math.inf, true) else math.inf
            if true == 0:
                return 0.0 if got == 0 else math.inf
            if got == 0 and math.copysign(1, got.real) != mp.sign(true):
                return math.inf
            exponent = max(mp.frexp(abs(true))[1] - 1, form.lowest_exponent)
            number = mp.mpf(got) if math.isfinite(got.real) else math.copysign(1, got.real) * beyond
            unit = max(mp.ldexp(1, exponent - form.precision + 1), least_unit)
            return float(abs(number - true) / unit)
        if abs(true) >= 2 * beyond:
            right = not (math.isnan(got.real) or math.isnan(got.imag))
            for mine, part in ((got.real, true.real), (got.imag, true.imag)):
                if abs(part) >= beyond and abs(part) * MATTERS >= abs(true):
                    right &= mine == math.copysign(math.inf, part)
            return 0.0 if right else math.inf
        numbers = [max(-beyond, min(beyond, mp.mpf(part))) for part in (got.real, got.imag)]
        parts = [max(-beyond, min(beyond, part)) for part in (true.real, true.imag)]
        modulus = max(mp.hypot(*parts), mp.ldexp(1, form.lowest_exponent))
        return float(mp.hypot(numbers[0] - parts[0], numbers[1] - parts[1]) / modulus / form.epsilon)
