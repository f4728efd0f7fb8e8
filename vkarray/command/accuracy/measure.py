"""The largest error of one row on one type, sampled, and what all measurements share; exhaustive.py takes all inputs."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ... import asarray, finfo
from ...core.dtypes import REAL_OF, DType
from ...kernels.rows import Row
from . import exact, reference, samples, special_cases
from .formats import complex_errors, format_of, real_errors

# Of the candidates for the largest error, at most this many, or one in 100, are computed in arbitrary precision.
_MOST_VERIFIED = 3000

# Limits of the library, stated in docs/accuracy.md. The |x2 log x1| up to which complex pow is measured, but for results that
# are clearly 0; the part of the greater operand that counts as a unit of logaddexp at least.
_LARGEST_LOGARITHM = {"complex64": 2.0**19, "complex128": 2.0**45}
_LEAST_UNIT = {("logaddexp", "float64"): 2.0**-97}

# The formulas that the standard prescribes overflow on the way to a result beyond the largest number.
_OVERFLOWS_ON_THE_WAY = {"multiply", "square"}
_MOVED = {"positive", "negative", "conj", "real", "imag"}  # bits, without arithmetic
_CORRECTLY_ROUNDED = {
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "square", "reciprocal", "sqrt", "negative",
    "positive", "abs", "sign", "maximum", "minimum", "clip", "copysign", "floor", "ceil", "trunc", "round", "conj", "real",
    "imag",
}  # fmt: skip

Function = Callable[..., object]


@dataclass(frozen=True)
class Measurement:
    """The largest error found, in `unit`, the bound it has to keep, and where it occurred.

    `wrong` counts results that are infinitely wrong (a NaN, infinity, zero or sign of zero against a true value that is
    another, or the reverse). For vkarray the error is infinite then; for other libraries, which have no bound to keep,
    it is the largest of the other errors.
    """

    function: str
    dtype: str
    unit: str
    error: float
    bound: float
    operands: tuple[str, ...]
    result: str
    true: str
    samples: int
    verified: bool  # in arbitrary precision, unless results are exact
    library: str = "vkarray"
    wrong: int = 0

    @property
    def within(self) -> bool:
        return self.error <= self.bound


def bound(row: Row, dtype: DType) -> float:
    """The error allowed: 4 eps of the modulus for complex operands, 1/2 or 1 ULP for real ones."""
    if reference.is_exact(row):
        return 0.0
    if dtype in REAL_OF:
        return 4.0
    if row.name in _CORRECTLY_ROUNDED:
        return 0.5
    # 16-bit types: an error of 1 ULP in float32, then the rounding.
    return 0.5 + 2.0 ** (format_of(dtype).precision - 24) if dtype.bits == 16 else 1.0


def unit(row: Row, dtype: DType) -> str:
    return "exact" if reference.is_exact(row) else "eps" if dtype in REAL_OF else "ULP"


def sampled(row: Row, dtype: DType, count: int, verified: int, function: Function | None = None) -> Measurement:
    """Measure `row` (or another function in its place) on about `count` operands, `verified` of them exactly at least."""
    wide = dtype.bits < 64 or reference.HAS_WIDE_LONG_DOUBLE
    operands = samples.operands(row.name, row.operands, dtype, count if wide else min(count, 2000))
    got = np.asarray((function or row)(*[asarray(values, dtype=dtype) for values in operands]))
    expected = reference.expected(row, dtype, operands)
    counted = decided(row, dtype, operands, expected)
    if dtype in REAL_OF:
        if row.name in special_cases.FUNCTIONS:
            wrong = _special(row, dtype, function or row)
            if wrong is not None:
                return wrong
        counted &= _counted(row, dtype, operands, expected)
    operands, got, expected = [values[counted] for values in operands], got[counted], expected[counted]
    return settled(row, dtype, operands, got, expected, verified if wide else got.size)


def sampled_peer(name: str, function: Function, row: Row, dtype: DType, count: int, verified: int) -> Measurement:
    """Measure another library's function on the operands that `sampled` takes; it takes and gives host arrays."""
    operands = samples.operands(row.name, row.operands, dtype, count)
    got = np.asarray(function(*operands))
    return settled_peer(name, row, dtype, operands, got, reference.expected(row, dtype, operands), verified)


def _special(row: Row, dtype: DType, function: Function) -> Measurement | None:
    """An infinite error when a special case is not what the standard says."""
    operands = special_cases.operands(row.name, np.dtype(dtype.name))
    wrong = special_cases.disagreements(row.name, np.asarray(function(asarray(operands, dtype=dtype))))
    if not wrong:
        return None
    case, got = wrong[0]
    return Measurement(
        row.name, dtype.name, unit(row, dtype), np.inf, bound(row, dtype), (repr(case.operand),), repr(got),
        repr(case.result), operands.size, True,
    )  # fmt: skip


def _counted(row: Row, dtype: DType, operands: list[np.ndarray], expected: np.ndarray) -> np.ndarray:
    """Where the error of a complex result says something: operands and result are numbers."""
    counted = np.logical_and.reduce([np.isfinite(values) for values in (*operands, expected)])
    with np.errstate(all="ignore"):
        if row.name in _OVERFLOWS_ON_THE_WAY:
            counted &= np.abs(expected) < np.ldexp(expected.real.dtype.type(1), format_of(dtype).highest_exponent)
        if row.name in ("pow", "exp2"):
            powers = operands if row.name == "pow" else [np.full_like(operands[0], 2), operands[0]]
            base, exponent = (values.astype(expected.dtype) for values in powers)
            product, size = exponent * np.log(base), np.abs(exponent) * np.abs(np.log(base))
            vanishes = (expected == 0) & (np.abs(product.real) > 1e-3 * size)
            counted &= (size < _LARGEST_LOGARITHM[dtype.name]) | vanishes
    return counted


@functools.cache
def keeps_subnormals(dtype: DType) -> bool:
    """Whether the device's own arithmetic does; Vulkan leaves that open where there is no DenormPreserve."""
    real = REAL_OF.get(dtype, dtype)
    return float(asarray(finfo(real).smallest_normal / 2, dtype=real) + asarray(0.0, dtype=real)) != 0


def is_device_arithmetic(row: Row, dtype: DType) -> bool:
    """Whether results hang on the device's own arithmetic; the real functions of the library work on bits."""
    by_bits = row.name in _MOVED or reference.is_exact(row)
    return not by_bits and (dtype in REAL_OF or "vx_" not in row.expression_for(dtype))


def hangs_on_subnormals(row: Row, dtype: DType) -> bool:
    """Whether results of subnormal numbers are left to the device, which loses them."""
    return is_device_arithmetic(row, dtype) and not keeps_subnormals(dtype)


def decided(row: Row, dtype: DType, operands: list[np.ndarray], expected: np.ndarray) -> np.ndarray:
    """Where results do not hang on what the device makes of subnormal numbers: everywhere if it keeps them.

    If not, the rows that are its own arithmetic are measured without them, and complex functions also without results
    so small that a product lost on the way counts.
    """
    if not hangs_on_subnormals(row, dtype):
        return np.ones(expected.shape, bool)
    least = np.ldexp(1.0, format_of(dtype).lowest_exponent)
    smallest_result = least / format_of(dtype).epsilon * 16 if dtype in REAL_OF else least
    parts = [part for values in operands for part in (values.real, values.imag)]
    with np.errstate(invalid="ignore"):
        subnormal = [(part != 0) & (np.abs(part) < least) for part in parts]
        return ~functools.reduce(operator.or_, subnormal, (expected != 0) & (np.abs(expected) < smallest_result))


def errors_of(row: Row, dtype: DType, operands: list[np.ndarray], got: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Errors against the fast reference."""
    if reference.is_exact(row):
        same = (got == expected) | ((got != got) & (expected != expected))
        if got.dtype.kind == "f":
            same &= (expected != 0) | (np.signbit(got) == np.signbit(expected))
        return np.where(same, 0.0, np.float64(np.inf))
    if dtype not in REAL_OF:
        least = _least_unit(row, dtype, operands) if (row.name, dtype.name) in _LEAST_UNIT else 0.0
        return real_errors(got, expected, format_of(dtype), least)
    return complex_errors(got, expected, format_of(dtype))


def _least_unit(row: Row, dtype: DType, operands: list[np.ndarray]) -> np.ndarray:
    """What a unit in the last place is taken for at least, for each set of operands."""
    part = _LEAST_UNIT.get((row.name, dtype.name), 0.0)
    if not part:
        return np.zeros(operands[0].shape)
    greater = np.abs(np.maximum.reduce(operands))
    return np.where(np.isfinite(greater), greater, 0) * part


def settled(row: Row, dtype: DType, operands: list[np.ndarray], got: np.ndarray, expected: np.ndarray,
            verified: int) -> Measurement:  # fmt: skip
    """The largest error, after computing again exactly a random part and then the largest ones, until none is left that
    could be larger."""
    form = format_of(dtype)
    errors = errors_of(row, dtype, operands, got, expected)
    least = _least_unit(row, dtype, operands)
    verifiable = np.logical_and.reduce([np.isfinite(values) for values in (*operands, expected)])
    verifiable &= (got == got) & (exact.has(row.name) and not reference.is_exact(row))
    done = ~verifiable
    worst, largest = 0, -1.0
    true: object = None

    def visit(place: int) -> None:
        nonlocal worst, largest, true
        error, value = errors[place], expected[place]
        if not done[place]:
            value = exact.true_value(row.name, [values[place].item() for values in operands])
            if value:  # the fast reference knows the sign of a true zero
                error = exact.error(got[place].item(), value, form, least[place].item())
        if error > largest:
            worst, largest, true = int(place), error, value

    chosen = np.random.default_rng(1).permutation(np.nonzero(verifiable)[0])[:verified]
    for place in chosen:
        visit(place)
        done[place] = True
        errors[place] = min(errors[place], largest)
    budget = max(_MOST_VERIFIED, verified, errors.size // 100)
    all_settled = True
    for place in np.argsort(-errors, kind="stable"):
        if errors[place] <= largest:
            break
        if not budget and not done[place]:
            all_settled, worst, largest, true = False, int(place), float(errors[place]), expected[place]
            break
        budget -= not done[place]
        visit(place)
    return Measurement(
        row.name, dtype.name, unit(row, dtype), float(largest), bound(row, dtype),
        tuple(repr(values[worst].item()) for values in operands), repr(got[worst].item()), _short(true), errors.size, all_settled,
        wrong=int(np.isinf(errors).sum()) if np.isinf(largest) else 0,
    )  # fmt: skip


def settled_peer(name: str, row: Row, dtype: DType, operands: list[np.ndarray], got: np.ndarray, expected: np.ndarray,
                 verified: int) -> Measurement:  # fmt: skip
    """The largest error of another library's results that is not infinite, and the number of those that are."""
    finite = np.isfinite(errors_of(row, dtype, operands, got, expected))
    if not finite.any():
        return replace(settled(row, dtype, operands, got, expected, verified), library=name, bound=np.inf)
    measured = settled(row, dtype, [values[finite] for values in operands], got[finite], expected[finite], verified)
    return replace(measured, library=name, bound=np.inf, samples=got.size, wrong=int((~finite).sum()))


def _short(value: object) -> str:
    """About 25 digits of a true value."""
    if isinstance(value, (np.generic, np.ndarray)):
        return str(value)
    return exact.mpmath().nstr(value, 25)
