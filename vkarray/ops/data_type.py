"""Data type functions of the standard."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from ..core import dtypes, promotion
from ..core.array import VkArray, available, check_supported
from ..core.dtypes import CATEGORIES, REAL_OF, DType, as_dtype
from ..kernels import launch
from ..kernels.planned import planned
from ..kernels.rows import cast, check_operands
from . import creation


@planned
def astype(x: VkArray, dtype: DType, /, *, copy: bool = True, device: Any = None) -> VkArray:
    """x converted to `dtype`: rounded to nearest even; to integers truncated, out of range saturated, NaN to 0.

    Parameters: x; dtype; copy (False returns x itself when nothing changes); device (default: that of x).
    Raises TypeError for complex to real (take `real` or `abs`), FeatureError for a dtype that the device lacks.
    Standard: data type functions, `astype`.
    """
    check_operands("astype", [x])
    target = as_dtype(dtype, "astype")
    place = x.device if device is None else creation.as_device(device)
    check_supported(target, place, "astype")
    if x.dtype.category == "complex floating" and target.category not in ("complex floating", "bool"):
        raise TypeError(f"astype: {x.dtype} has no {target} value. Take vkarray.real(x), vkarray.imag(x) or abs(x).")
    moved = creation.to_device(cast(x, target), place)
    return launch.copy(x) if copy and moved is x else moved


def _dtype_of(value: Any, function: str) -> DType:
    return value._dtype if type(value) is VkArray else as_dtype(value, function)


def can_cast(from_: DType | VkArray, to: DType, /) -> bool:
    """Whether promotion leads from one type to the other: promote(from_, to) is to.

    Raises TypeError for what has no dtype. Standard: data type functions, `can_cast`.
    """
    source, target = _dtype_of(from_, "can_cast"), as_dtype(to, "can_cast")
    return promotion.promote(source, target) is target


@dataclass(frozen=True)
class finfo_object:
    """Machine limits of a floating-point type (of the components of a complex one)."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


@dataclass(frozen=True)
class iinfo_object:
    """Machine limits of an integer type."""

    bits: int
    max: int
    min: int
    dtype: DType


# Fraction bits and the largest exponent: every limit follows (IEEE 754-2019, section 3.4).
_FORMATS = {dtypes.float16: (10, 15), dtypes.bfloat16: (7, 127), dtypes.float32: (23, 127), dtypes.float64: (52, 1023)}


@functools.cache
def _float_limits(dtype: DType) -> finfo_object:
    real = REAL_OF.get(dtype, dtype)
    fraction, exponent = _FORMATS[real]
    largest = (2.0 - 2.0**-fraction) * 2.0**exponent
    return finfo_object(dtype.bits, 2.0**-fraction, largest, -largest, 2.0 ** (1 - exponent), real)


def finfo(type: DType | VkArray, /) -> finfo_object:
    """bits, eps, max, min, smallest_normal and dtype of a floating type. Raises TypeError for others. Standard."""
    dtype = _dtype_of(type, "finfo")
    promotion.check_category("finfo", dtype, "floating-point")
    return _float_limits(dtype)


def iinfo(type: DType | VkArray, /) -> iinfo_object:
    """bits, max, min and dtype of an integer type. Raises TypeError for others. Standard: `iinfo`."""
    dtype = _dtype_of(type, "iinfo")
    promotion.check_category("iinfo", dtype, "integer")
    low, high = promotion.integer_range(dtype)
    return iinfo_object(dtype.bits, high, low, dtype)


_KINDS = {"integral": "integer"}
_KIND_WORDS = (
    "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric",
)  # fmt: skip


def isdtype(dtype: DType, kind: DType | str | tuple[DType | str, ...]) -> bool:
    """Whether `dtype` is `kind`: a type, "bool", "signed integer", "unsigned integer", "integral", "real floating",
    "complex floating", "numeric", or a tuple of these. Raises ValueError for another word. Standard: `isdtype`.
    """
    own = as_dtype(dtype, "isdtype")
    if isinstance(kind, tuple):
        return any(isdtype(own, one) for one in kind)
    if isinstance(kind, DType):
        return own is kind
    if kind not in _KIND_WORDS:
        raise ValueError(f"isdtype: unknown kind {kind!r}; expected a dtype or one of {', '.join(_KIND_WORDS)}.")
    return own in CATEGORIES[_KINDS.get(kind, kind)]


def result_type(*arrays_and_dtypes: VkArray | DType | bool | int | float | complex) -> DType:
    """The promoted type of arrays, dtypes and Python scalars (which are weak, as in operators).

    Raises TypeError for something else, and when there are only Python scalars. Standard: `result_type`.
    """
    scalars = [value for value in arrays_and_dtypes if promotion.is_scalar(value)]
    strong = [_dtype_of(value, "result_type") for value in arrays_and_dtypes if not promotion.is_scalar(value)]
    if not strong:
        raise TypeError("result_type: expected at least one array or dtype.")
    dtype = promotion.promote_all(strong)
    dtype = functools.reduce(promotion.promote_scalar_kind, map(promotion.scalar_kind, scalars), dtype)
    devices = [value._device for value in arrays_and_dtypes if type(value) is VkArray]
    return dtype if promotion.is_double(strong) else available(dtype, devices[0] if devices else None)
