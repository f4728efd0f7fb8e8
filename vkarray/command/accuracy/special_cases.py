"""Special cases of the complex functions: those of the array API standard 2025.12, which are C99's (Annex G.6)."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

_NUMBERS = (1.0, 0.25, 2.0, 4.0, 5.5)  # cosine and sine take all signs
_VALUES = {
    "0": (0.0,), "-0": (-0.0,), "±0": (0.0, -0.0), "1": (1.0,), "-1": (-1.0,),
    "positive": _NUMBERS, "nonzero": (*_NUMBERS, *(-value for value in _NUMBERS)),
    "finite": (0.0, -0.0, *_NUMBERS, *(-value for value in _NUMBERS)),
    "inf": (math.inf,), "-inf": (-math.inf,), "±inf": (math.inf, -math.inf), "nan": (math.nan,),
}  # fmt: skip
_VALUES["any"] = (*_VALUES["finite"], math.inf, -math.inf, math.nan)

_RESULTS = {
    "nan": math.nan, "inf": math.inf, "pi": math.pi, "pi/2": math.pi / 2, "pi/4": math.pi / 4, "3pi/4": 3 * math.pi / 4,
}  # fmt: skip

# Real and imaginary part of the operand, and of the result; ± in a result means that the sign is not specified. Each case
# holds for the conjugate too, and for the negative operand where the function is odd or even.
_CASES = {
    "acos": """
        ±0 0 : pi/2 -0            ±0 nan : pi/2 nan         finite inf : pi/2 -inf    nonzero nan : nan nan
        -inf positive : pi -inf   inf positive : 0 -inf     -inf inf : 3pi/4 -inf     inf inf : pi/4 -inf
        ±inf nan : nan ±inf       nan finite : nan nan      nan inf : nan -inf        nan nan : nan nan
    """,
    "acosh": """
        ±0 0 : 0 pi/2             finite inf : inf pi/2     nonzero nan : nan nan     0 nan : nan ±pi/2
        -inf positive : inf pi    inf positive : inf 0      -inf inf : inf 3pi/4      inf inf : inf pi/4
        ±inf nan : inf nan        nan finite : nan nan      nan inf : inf nan         nan nan : nan nan
    """,
    "asinh": """
        0 0 : 0 0                 positive inf : inf pi/2   finite nan : nan nan      inf positive : inf 0
        inf inf : inf pi/4        nan 0 : nan 0             nan nonzero : nan nan     nan inf : ±inf nan
        nan nan : nan nan         inf nan : inf nan
    """,
    "atanh": """
        0 0 : 0 0                 0 nan : 0 nan             1 0 : inf 0               positive inf : 0 pi/2
        nonzero nan : nan nan     inf positive : 0 pi/2     inf inf : 0 pi/2          inf nan : 0 nan
        nan finite : nan nan      nan inf : ±0 pi/2         nan nan : nan nan
    """,
    "cosh": """
        0 0 : 1 0                 0 inf : nan ±0            0 nan : nan ±0            nonzero inf : nan nan
        nonzero nan : nan nan     inf 0 : inf 0             inf nonzero : inf*cos inf*sin
        inf inf : ±inf nan        inf nan : inf nan         nan ±0 : nan ±0           nan nonzero : nan nan
        nan nan : nan nan
    """,
    "exp": """
        ±0 0 : 1 0                finite inf : nan nan      finite nan : nan nan      inf 0 : inf 0
        -inf finite : 0*cos 0*sin inf nonzero : inf*cos inf*sin                       -inf inf : ±0 ±0
        inf inf : ±inf nan        -inf nan : ±0 ±0          inf nan : ±inf nan        nan 0 : nan 0
        nan nonzero : nan nan     nan nan : nan nan         nan inf : nan nan
    """,
    "expm1": """
        ±0 0 : ±0 0               finite inf : nan nan      finite nan : nan nan      inf 0 : inf 0
        -inf finite : -1 0*sin    inf nonzero : inf*cos inf*sin                       -inf inf : -1 ±0
        inf inf : ±inf nan        -inf nan : -1 ±0          inf nan : ±inf nan        nan 0 : nan 0
        nan nonzero : nan nan     nan nan : nan nan         nan inf : nan nan
    """,
    "log": """
        -0 0 : -inf pi            0 0 : -inf 0              finite inf : inf pi/2     finite nan : nan nan
        -inf positive : inf pi    inf positive : inf 0      -inf inf : inf 3pi/4      inf inf : inf pi/4
        ±inf nan : inf nan        nan finite : nan nan      nan inf : inf nan         nan nan : nan nan
    """,
    "log1p": """
        -1 0 : -inf 0             finite inf : inf pi/2     finite nan : nan nan      -inf positive : inf pi
        inf positive : inf 0      -inf inf : inf 3pi/4      inf inf : inf pi/4        ±inf nan : inf nan
        nan finite : nan nan      nan inf : inf nan         nan nan : nan nan
    """,
    "sign": """
        ±0 0 : ±0 ±0              nan any : nan nan         any nan : nan nan
    """,
    "sinh": """
        0 0 : 0 0                 0 inf : ±0 nan            0 nan : ±0 nan            positive inf : nan nan
        positive nan : nan nan    inf 0 : inf 0             inf positive : inf*cos inf*sin
        inf inf : ±inf nan        inf nan : ±inf nan        nan 0 : nan 0             nan nonzero : nan nan
        nan nan : nan nan
    """,
    "sqrt": """
        ±0 0 : 0 0                any inf : inf inf         finite nan : nan nan      -inf positive : 0 inf
        inf positive : inf 0      -inf nan : nan ±inf       inf nan : inf nan         nan finite : nan nan
        nan nan : nan nan
    """,
    "tanh": """
        0 0 : 0 0                 nonzero inf : nan nan     0 inf : 0 nan             nonzero nan : nan nan
        0 nan : 0 nan             inf positive : 1 0        inf inf : 1 ±0            inf nan : 1 ±0
        nan 0 : nan 0             nan nonzero : nan nan     nan inf : nan nan         nan nan : nan nan
    """,
}  # fmt: skip
_ODD = {"asinh", "atanh", "sinh", "tanh"}
_EVEN = {"cosh"}
# asin(z) = -i asinh(i z) and so on; cos(z) = cosh(i z).
_TURNED = {"asin": "asinh", "atan": "atanh", "sin": "sinh", "tan": "tanh", "cos": "cosh"}
_SCALED = {"log2": math.log(2), "log10": math.log(10)}
FUNCTIONS = sorted([*_CASES, *_TURNED, *_SCALED])


@dataclass(frozen=True)
class Case:
    """A part whose sign is free is compared by magnitude."""

    operand: complex
    result: complex
    real_sign_free: bool
    imaginary_sign_free: bool

    def changed(self, real: int, imaginary: int, result_real: int, result_imaginary: int) -> Case:
        """The case with parts of operand and result multiplied by signs."""
        return Case(
            complex(self.operand.real * real, self.operand.imag * imaginary),
            complex(self.result.real * result_real, self.result.imag * result_imaginary),
            self.real_sign_free, self.imaginary_sign_free,
        )  # fmt: skip

    def agrees(self, got: complex, tolerance: float) -> bool:
        """Whether `got` is the result, up to the relative `tolerance` where it is a number such as pi / 2."""
        return _agrees(got.real, self.result.real, self.real_sign_free, tolerance) and _agrees(
            got.imag, self.result.imag, self.imaginary_sign_free, tolerance
        )


def _agrees(got: float, meant: float, sign_free: bool, tolerance: float) -> bool:
    if math.isnan(meant) or math.isnan(got):
        return math.isnan(meant) and math.isnan(got)
    if sign_free:
        got, meant = abs(got), abs(meant)
    if math.copysign(1, got) != math.copysign(1, meant):
        return False
    return got == meant or (math.isfinite(meant) and abs(got - meant) <= tolerance * abs(meant))


@functools.cache
def cases(function: str) -> tuple[Case, ...]:
    """All cases of a function, one for each operand."""
    if function in _TURNED:
        return tuple(_turned(case, function == "cos") for case in cases(_TURNED[function]))
    if function in _SCALED:
        by = _SCALED[function]
        return tuple(
            Case(case.operand, complex(case.result.real / by, case.result.imag / by), *_free(case))
            for case in cases("log")
        )
    return tuple(mirrored for case in _written(_CASES[function]) for mirrored in _mirrored(case, function))


def _free(case: Case) -> tuple[bool, bool]:
    return case.real_sign_free, case.imaginary_sign_free


def _turned(case: Case, even: bool) -> Case:
    """f(z) of the hyperbolic function at i w as a case of its circular companion at w."""
    z, result = case.operand, case.result
    operand = complex(z.imag, -z.real)
    if even:
        return Case(operand, result, *_free(case))
    return Case(operand, complex(result.imag, -result.real), case.imaginary_sign_free, case.real_sign_free)


def _written(table: str) -> Iterator[Case]:
    """The cases of a table, without those that follow by symmetry."""
    words = table.split()
    for start in range(0, len(words), 5):
        real, imaginary, _colon, result_real, result_imaginary = words[start : start + 5]
        for x in _VALUES[real]:
            for y in _VALUES[imaginary]:
                parts = [_result(token, y) for token in (result_real, result_imaginary)]
                yield Case(complex(x, y), complex(*parts), "±" in result_real, "±" in result_imaginary)


def _result(token: str, y: float) -> float:
    factor, _, function = token.lstrip("±").partition("*")
    sign = -1.0 if factor.startswith("-") else 1.0
    size = _RESULTS[factor.lstrip("-")] if factor.lstrip("-") in _RESULTS else float(factor.lstrip("-"))
    if function:
        wave = getattr(math, function)(y)
        return math.copysign(size, wave) if wave or not math.isinf(size) else wave
    return sign * size


def _mirrored(case: Case, function: str) -> Iterator[Case]:
    yield case
    yield case.changed(1, -1, 1, -1)
    if function in _ODD:
        yield case.changed(-1, -1, -1, -1)
        yield case.changed(-1, 1, -1, 1)
    elif function in _EVEN:
        yield case.changed(-1, -1, 1, 1)
        yield case.changed(-1, 1, 1, -1)


def operands(function: str, dtype: np.dtype) -> np.ndarray:
    """The operands of all cases."""
    result = np.empty(len(cases(function)), dtype)
    result.real = [case.operand.real for case in cases(function)]
    result.imag = [case.operand.imag for case in cases(function)]
    return result


def disagreements(function: str, got: np.ndarray) -> list[tuple[Case, complex]]:
    """The cases in which the results for `operands` differ from the table."""
    tolerance = 4 * float(np.finfo(got.dtype).eps)
    return [
        (case, value)
        for case, value in zip(cases(function), got.tolist(), strict=True)
        if not case.agrees(value, tolerance)
    ]
