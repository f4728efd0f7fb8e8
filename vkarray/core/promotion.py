"""Which type an operation computes in: the standard's promotion rules, and NumPy's where the standard is silent.

Every type error that a user meets in an operation is raised here; it names the function, what it got and what it accepts.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Iterable
from typing import Any

from . import dtypes
from .dtypes import CATEGORIES, COMPLEX_OF, DType, category_names
from .tokens import within

# The floating type that NumPy computes in for an integer (or bool) of a given width.
_FLOAT_FOR_BITS = {8: dtypes.float16, 16: dtypes.float32, 32: dtypes.float64, 64: dtypes.float64}
_BY_WIDTH = {(dtype.category, dtype.bits): dtype for dtype in dtypes.DTYPES.values() if dtype is not dtypes.bfloat16}


def float_for(dtype: DType) -> DType:
    """The floating type for a function of an integer, as NumPy has it: int8 -> float16, int16 -> float32, else float64."""
    return dtype if dtype in CATEGORIES["floating-point"] else _FLOAT_FOR_BITS[dtype.bits]


def _promote_reals(first: DType, second: DType) -> DType:
    if dtypes.bfloat16 in (first, second):
        other = second if first is dtypes.bfloat16 else first
        if other.category in ("bool",) or (other.category != "real floating" and other.bits == 8):
            return dtypes.bfloat16
        return _promote_reals(dtypes.float32, other)
    first, second = float_for(first), float_for(second)
    return first if first.bits >= second.bits else second


@functools.cache
def promote(first: DType, second: DType) -> DType:
    """The common type of two types (standard, "Type Promotion Rules"; mixed kinds as `numpy.promote_types`)."""
    if first is second or second.category == "bool":
        return first
    if first.category == "bool":
        return second
    integers = CATEGORIES["integer"]
    if first in integers and second in integers:
        if first.category == second.category:
            return first if first.bits >= second.bits else second
        signed, unsigned = (first, second) if first.category == "signed integer" else (second, first)
        if unsigned.bits == 64:
            return dtypes.float64
        return _BY_WIDTH["signed integer", max(signed.bits, 2 * unsigned.bits)]
    if "complex floating" in (first.category, second.category):
        bits = max(
            dtype.bits if dtype in CATEGORIES["floating-point"] else float_for(dtype).bits for dtype in (first, second)
        )
        return dtypes.complex128 if bits == 64 else dtypes.complex64
    return _promote_reals(first, second)


def promote_all(given: Iterable[DType]) -> DType:
    """The common type of several types, whatever their order: floating-point types first, then each of the others, as NumPy."""
    return _promoted(frozenset(given))


@functools.cache
def _promoted(given: frozenset[DType]) -> DType:
    return functools.reduce(promote, sorted(given, key=lambda dtype: dtype not in CATEGORIES["floating-point"]))


def is_double(given: Iterable[DType]) -> bool:
    """Whether a floating-point type of 64 bits is among types, so that no default type takes its place in the result."""
    return any(dtype.bits == 64 and dtype.kind in "fc" for dtype in given)


KIND_NAMES = ("bool", "int", "float", "complex")
_SCALAR_KINDS = {bool: 0, int: 1, float: 2, complex: 3}
_DTYPE_KINDS = {"bool": 0, "signed integer": 1, "unsigned integer": 1, "real floating": 2, "complex floating": 3}
_PYTHON_TYPES = {"b": bool, "i": int, "u": int, "f": float, "c": complex}  # by NumPy's letter of a kind


def as_scalar(value: Any) -> Any:
    """A Python scalar (bool, int, float or complex) or one of NumPy's as a Python scalar; None for anything else."""
    if isinstance(value, (bool, int, float, complex)):
        return value
    numpy = sys.modules.get("numpy")  # who has one of its scalars has imported it
    if numpy is not None and isinstance(value, numpy.generic) and value.dtype.kind in _PYTHON_TYPES:
        return _PYTHON_TYPES[value.dtype.kind](value)
    return None


def is_scalar(value: object) -> bool:
    """Whether `value` is a scalar of Python's or NumPy's."""
    return as_scalar(value) is not None


def is_real_scalar(value: object) -> bool:
    """Whether `value` is a scalar of Python's or NumPy's and not complex."""
    return type(value) is float or isinstance(as_scalar(value), (int, float))


def as_real(value: Any, function: str, name: str) -> Any:
    """The parameter `name` as a Python bool, int or float; of an array of 0 dimensions, its value. Raises TypeError for others."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    if not is_real_scalar(value):
        raise TypeError(f"{function}: expected a real number as {name}, got {value!r:.60}.")
    return as_scalar(value)


def whole(value: float, function: str, dtype: DType) -> int:
    """A float as the integer that NumPy assigns: truncated. Raises ValueError for NaN, OverflowError beyond the type."""
    if math.isnan(value):
        raise ValueError(f"{function}: NaN is no {dtype}. Round or mask the values first.")
    if math.isinf(value):
        raise OverflowError(f"{function}: {value} is no {dtype}.")
    number = int(value)
    check_scalar_range(function, number, dtype)
    return number


def as_float(value: Any, function: str, name: str) -> float:
    """The parameter `name` as a Python float. Raises TypeError for no real number, OverflowError for a huge integer."""
    if type(value) is float:
        return value
    number = as_real(value, function, name)
    check_scalar_range(function, number, dtypes.float64)
    return float(number)


def scalar_kind(value: object) -> int:
    """0, 1, 2, 3 for a bool, int, float, complex of Python's or NumPy's."""
    number = as_scalar(value)
    for kind in (bool, int, float, complex):
        if isinstance(number, kind):
            return _SCALAR_KINDS[kind]
    raise TypeError(value)


@functools.cache
def promote_scalar_kind(dtype: DType, kind: int) -> DType:
    """The type of an operation between an array of `dtype` and a Python scalar (NumPy's weak scalars, NEP 50)."""
    own = _DTYPE_KINDS[dtype.category]
    if kind <= own:
        return dtype
    if kind == 1:
        return dtypes.int64
    if kind == 2:
        return dtypes.float64
    return COMPLEX_OF[dtype] if own == 2 else dtypes.complex128


# What rounds to a float64: float32 and float16 take for an infinity what they do not hold.
_FLOAT_LIMIT = 2**1024 - 2**970 - 1


def check_scalar_range(function: str, value: Any, dtype: DType) -> None:
    """Raise OverflowError when a Python integer does not fit the type it takes on. Other scalars always do."""
    if not isinstance(value, int) and scalar_kind(value) != 1:
        return
    if dtype in CATEGORIES["integer"]:
        low, high = integer_range(dtype)
        if not within(value, low, high):
            raise OverflowError(
                f"{function}: the Python integer {shown(int(value))} is out of bounds for {dtype} ({low} to {high}). "
                f"Use a wider dtype (dtype=..., or astype for an array)."
            )
    elif dtype.category != "bool" and not within(value, -_FLOAT_LIMIT, _FLOAT_LIMIT):
        raise OverflowError(f"{function}: the Python integer {shown(int(value))} is out of bounds for {dtype}.")


def shown(value: int) -> str:
    """An integer for a message: its digits, or how many bits it has (Python refuses to write very long ones)."""
    return str(value) if value.bit_length() <= 128 else f"of {value.bit_length()} bits"


def integer_range(dtype: DType) -> tuple[int, int]:
    """The smallest and largest value of an integer type."""
    if dtype.category == "signed integer":
        return -(1 << (dtype.bits - 1)), (1 << (dtype.bits - 1)) - 1
    return 0, (1 << dtype.bits) - 1


# What is meant by arithmetic that bools do not have.
_OF_BOOLS = {
    "subtract": "Use ^ or vkarray.logical_xor, or convert",
    "negative": "Use ~ or vkarray.logical_not, or convert",
}


def check_category(function: str, dtype: DType, category: str, error: type[Exception] = TypeError) -> None:
    """Raise an error unless `dtype` belongs to `category` of the standard."""
    if dtype not in CATEGORIES[category]:
        remedy = _OF_BOOLS.get(function, "Convert") if dtype is dtypes.bool_ else "Convert"
        raise error(
            f"{function}: expected {category} ({category_names(category)}), got {dtype}. {remedy} it with astype."
        )
