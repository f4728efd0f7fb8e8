"""Which type an operation computes in: the standard's promotion rules, and NumPy's where the standard is silent.

Every type error that a user meets in an operation is raised here; it names the function, what it got and what it accepts.
"""

from __future__ import annotations

import functools

from . import dtypes
from .dtypes import CATEGORIES, COMPLEX_OF, DType, category_names

# The floating type that NumPy computes in for an integer (or bool) of a given width.
_FLOAT_FOR_BITS = {8: dtypes.float16, 16: dtypes.float32, 32: dtypes.float64, 64: dtypes.float64}
_BY_WIDTH = {(dtype.kind, dtype.bits): dtype for dtype in dtypes.DTYPES.values() if dtype is not dtypes.bfloat16}


def float_for(dtype: DType) -> DType:
    """The floating type for a function of an integer, as NumPy has it: int8 -> float16, int16 -> float32, else float64."""
    return dtype if dtype in CATEGORIES["floating-point"] else _FLOAT_FOR_BITS[dtype.bits]


def _promote_reals(first: DType, second: DType) -> DType:
    if dtypes.bfloat16 in (first, second):
        other = second if first is dtypes.bfloat16 else first
        if other.kind in ("bool",) or (other.kind != "real floating" and other.bits == 8):
            return dtypes.bfloat16
        return _promote_reals(dtypes.float32, other)
    first, second = float_for(first), float_for(second)
    return first if first.bits >= second.bits else second


@functools.cache
def promote(first: DType, second: DType) -> DType:
    """The common type of two types (standard, "Type Promotion Rules"; mixed kinds as `numpy.promote_types`)."""
    if first is second or second.kind == "bool":
        return first
    if first.kind == "bool":
        return second
    integers = CATEGORIES["integer"]
    if first in integers and second in integers:
        if first.kind == second.kind:
            return first if first.bits >= second.bits else second
        signed, unsigned = (first, second) if first.kind == "signed integer" else (second, first)
        if unsigned.bits == 64:
            return dtypes.float64
        return _BY_WIDTH["signed integer", max(signed.bits, 2 * unsigned.bits)]
    if "complex floating" in (first.kind, second.kind):
        bits = max(
            dtype.bits if dtype in CATEGORIES["floating-point"] else float_for(dtype).bits for dtype in (first, second)
        )
        return dtypes.complex128 if bits == 64 else dtypes.complex64
    return _promote_reals(first, second)


_SCALAR_KINDS = {bool: 0, int: 1, float: 2, complex: 3}
_DTYPE_KINDS = {"bool": 0, "signed integer": 1, "unsigned integer": 1, "real floating": 2, "complex floating": 3}


def is_scalar(value: object) -> bool:
    """Whether `value` is a Python scalar (bool, int, float or complex, or a subclass such as numpy.float64)."""
    return isinstance(value, (bool, int, float, complex))


def scalar_kind(value: object) -> int:
    """0, 1, 2, 3 for bool, int, float, complex."""
    for kind in (bool, int, float, complex):
        if isinstance(value, kind):
            return _SCALAR_KINDS[kind]
    raise TypeError(value)


@functools.cache
def promote_scalar_kind(dtype: DType, kind: int) -> DType:
    """The type of an operation between an array of `dtype` and a Python scalar (NumPy's weak scalars, NEP 50)."""
    own = _DTYPE_KINDS[dtype.kind]
    if kind <= own:
        return dtype
    if kind == 1:
        return dtypes.int64
    if kind == 2:
        return dtypes.float64
    return COMPLEX_OF[dtype] if own == 2 else dtypes.complex128


def check_scalar_range(function: str, value: int, dtype: DType) -> None:
    """Raise OverflowError when a Python integer does not fit the integer type it takes on."""
    low, high = integer_range(dtype)
    if not low <= value <= high:
        raise OverflowError(
            f"{function}: the Python integer {value} is out of bounds for {dtype} ({low} to {high}). "
            f"Use a wider dtype (dtype=..., or astype for an array)."
        )


def integer_range(dtype: DType) -> tuple[int, int]:
    """The smallest and largest value of an integer type."""
    if dtype.kind == "signed integer":
        return -(1 << (dtype.bits - 1)), (1 << (dtype.bits - 1)) - 1
    return 0, (1 << dtype.bits) - 1


def check_category(function: str, dtype: DType, category: str) -> None:
    """Raise TypeError unless `dtype` belongs to `category` of the standard."""
    if dtype not in CATEGORIES[category]:
        raise TypeError(
            f"{function}: expected {category} ({category_names(category)}), got {dtype}. Convert it with astype."
        )
