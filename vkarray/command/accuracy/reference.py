"""What functions should give, in NumPy arithmetic that is wider than the type measured: fast, and mostly right.

float64 for the types of up to 32 bits, long double for those of 64. The largest errors found so are then computed again by
exact.py, so a weakness here costs time and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...core.dtypes import REAL_OF, DType, float16
from ...kernels.rows import Row
from .formats import format_of

HAS_WIDE_LONG_DOUBLE = np.finfo(np.longdouble).nmant > np.finfo(np.float64).nmant + 8


def wide_dtype(dtype: DType) -> np.dtype:
    """The type of the reference."""
    wide: type = np.longdouble if dtype.bits == 64 else np.float64
    return np.result_type(wide, np.complex64) if dtype in REAL_OF else np.dtype(wide)


def is_exact(row: Row) -> bool:
    """Whether results are defined by the operands' own type, so that they are right or wrong: tests and neighbours."""
    return row.result == "bool" or row.name in ("nextafter", "spacing")


def expected(row: Row, dtype: DType, operands: list[np.ndarray]) -> np.ndarray:
    """The reference for host operands, in wider arithmetic unless the row is exact."""
    with np.errstate(all="ignore"):
        if row.name == "nextafter":
            return _next_after(operands[0], operands[1], dtype)
        if row.name == "spacing":
            if dtype is float16:
                return np.spacing(operands[0])
            away = (
                _next_after(operands[0], np.copysign(np.inf, operands[0]).astype(operands[0].dtype), dtype)
                - operands[0]
            )
            return np.where(operands[0] == 0, np.abs(away), away)
        if not is_exact(row):
            operands = [_quiet(values.astype(wide_dtype(dtype))) for values in operands]
        return (_OWN.get(row.name) or getattr(np, row.name))(*operands)


def _quiet(values: np.ndarray) -> np.ndarray:
    """With quiet NaNs alone: C libraries treat signalling ones in their own way, hypot(NaN, inf) for one."""
    if values.dtype.kind == "f":
        return np.where(np.isnan(values), np.copysign(values.dtype.type(np.nan), values), values)
    return values


def _next_after(first: np.ndarray, second: np.ndarray, dtype: DType) -> np.ndarray:
    """By counting bits, for NumPy has no bfloat16."""
    form = format_of(dtype)
    bits = form.to_bits(first).astype(np.int64)
    sign = np.int64(1) << (form.bits - 1) if form.bits < 64 else np.int64(-(2**63))
    away = (second > first) == (first > 0)
    moved = np.where(first == 0, (form.to_bits(second).astype(np.int64) & sign) | 1, np.where(away, bits + 1, bits - 1))
    result = form.from_bits(moved.astype(np.uint64))
    result = np.where(first == second, second, result)
    return np.where(np.isnan(first) | np.isnan(second), np.float32(np.nan), result).astype(form.host)


def _floor_divide(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The standard prefers floor(x1 / x2) where NumPy follows Python: one operand is infinite."""
    one_infinite = np.isinf(first) != np.isinf(second)
    return np.where(one_infinite & ~np.isnan(first + second), np.floor(first / second), np.floor_divide(first, second))


def _maximum(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """+0 is larger than -0; NumPy returns either."""
    zero = np.where(np.signbit(first) & np.signbit(second), -0.0, 0.0)
    return np.where((first == 0) & (second == 0), zero, np.maximum(first, second))


def _minimum(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return -_maximum(-first, -second)


def _fmax(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(first), second, np.where(np.isnan(second), first, _maximum(first, second)))


def _fmin(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return -_fmax(-first, -second)


def _clip(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return _minimum(_maximum(values, low), high)


def _log1p(values: np.ndarray) -> np.ndarray:
    """NumPy's loses everything near 0 when complex."""
    if not np.iscomplexobj(values):
        return np.log1p(values)
    x, y = values.real, values.imag
    result = np.log(values + 1)
    near = 0.5 * np.log1p(x * (2 + x) + y * y)
    result.real = np.where(np.hypot(x, y) < 0.5, near, result.real)
    return result


def _expm1(values: np.ndarray) -> np.ndarray:
    if not np.iscomplexobj(values):
        return np.expm1(values)
    x, y = np.minimum(values.real, 0.9 * np.log(np.finfo(values.dtype).max)), values.imag
    result = np.empty_like(values)
    result.real = np.expm1(x) * np.cos(y) - 2 * np.sin(y / 2) ** 2
    result.imag = np.exp(x) * np.sin(y)
    return result


_OWN: dict[str, Callable[..., np.ndarray]] = {
    "floor_divide": _floor_divide, "maximum": _maximum, "minimum": _minimum, "clip": _clip,
    "log1p": _log1p, "expm1": _expm1, "fmax": _fmax, "fmin": _fmin,
}  # fmt: skip
