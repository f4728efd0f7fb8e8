"""Data type functions of the standard."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

from ..core import dtypes, promotion
from ..core.array import ArrayLike, VkArray, available, beside_scalar, check_supported, operations
from ..core.dtypes import CATEGORIES, REAL_OF, DType, as_dtype
from ..kernels import launch
from ..kernels.conversion import cast
from ..kernels.launch import as_device
from ..kernels.planned import planned
from ..kernels.rows import check_operands
from . import creation


@planned
def astype(x: ArrayLike, dtype: Any, /, *, copy: bool = True, device: Any = None) -> VkArray:
    """x converted to `dtype`: rounded to nearest even; to integers truncated, out of range saturated, NaN to 0.

    Parameters: x; dtype; copy (False returns x itself when nothing changes); device (default: that of x).
    Raises TypeError for complex to real (take `real` or `abs`), FeatureError for a dtype that the device lacks.
    Standard: data type functions, `astype`.
    """
    check_operands("astype", [x])
    target = as_dtype(dtype, "astype")
    place = x.device if device is None else as_device(device)
    check_supported(target, place, "astype")
    moved = creation.to_device(cast(x, target), place)
    return launch.copy(x) if copy and moved is x else moved


def _dtype_of(value: Any, function: str) -> DType:
    if type(value) is VkArray:
        return value._dtype
    if isinstance(value, DType):
        return value
    return as_dtype(value.dtype if hasattr(value, "dtype") and not isinstance(value, type) else value, function)


def can_cast(from_: DType | VkArray, to: DType, casting: str = "safe") -> bool:
    """Whether one type may be converted to another.

    Parameters: from_ (an array or a dtype); to; casting ("no" and "equiv": the same type, "safe": promotion leads there,
    "same_kind": to the same kind or a higher one, "unsafe": always).
    Raises TypeError for what has no dtype, ValueError for another casting. Standard: data type functions, `can_cast`.
    """
    source, target = _dtype_of(from_, "can_cast"), as_dtype(to, "can_cast")
    if as_casting("can_cast", casting) in ("no", "equiv"):
        return source is target
    if casting == "unsafe" or promotion.promote(source, target) is target:
        return True
    return casting == "same_kind" and "buifc".index(source.kind) <= "buifc".index(target.kind)


_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")


def as_casting(function: str, casting: str) -> str:
    """One of NumPy's words of what may be converted. Raises ValueError for another."""
    if casting not in _CASTINGS:
        raise ValueError(f"{function}: expected a casting of {', '.join(_CASTINGS)}, got {casting!r:.60}.")
    return casting


def check_casting(x: VkArray, dtype: Any, casting: str, function: str = "astype") -> None:
    """Raise TypeError unless `casting` allows to convert an array to a type; complex numbers have no real values."""
    target = as_dtype(dtype, function)
    if not can_cast(x._dtype, target, casting) or (x._dtype.kind == "c" and target.kind not in "cb"):
        raise TypeError(f"{function}: {x._dtype} cannot be converted to {target} with casting={casting!r}.")


@dataclass(frozen=True)
class finfo_object:
    """Machine limits of a floating-point type (of the components of a complex one)."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType
    smallest_subnormal: float
    epsneg: float
    precision: int  # decimal digits that are kept
    resolution: float
    nmant: int  # bits of the fraction
    nexp: int  # and of the exponent
    minexp: int
    maxexp: int
    machep: int  # the exponents of eps and epsneg
    negep: int

    @property
    def tiny(self) -> float:
        """Another name of smallest_normal."""
        return self.smallest_normal

    iexp = property(lambda self: self.nexp)

    def __repr__(self) -> str:
        low, high = (f"{limit:.{self.precision + 2}g}" for limit in (self.min, self.max))
        return f"finfo(resolution={self.resolution}, min={low}, max={high}, dtype={self.dtype})"


@dataclass(frozen=True)
class iinfo_object:
    """Machine limits of an integer type."""

    bits: int
    max: int
    min: int
    dtype: DType

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"

    def __str__(self) -> str:
        line = "-" * 63
        return f"Machine parameters for {self.dtype}\n{line}\nmin = {self.min}\nmax = {self.max}\n{line}\n"


# Fraction bits and the largest exponent: every limit follows (IEEE 754-2019, section 3.4).
_FORMATS = {dtypes.float16: (10, 15), dtypes.bfloat16: (7, 127), dtypes.float32: (23, 127), dtypes.float64: (52, 1023)}


@functools.cache
def _float_limits(dtype: DType) -> finfo_object:
    real = REAL_OF.get(dtype, dtype)
    fraction, exponent = _FORMATS[real]
    largest = (2.0 - 2.0**-fraction) * 2.0**exponent
    digits = int(fraction * math.log10(2))
    return finfo_object(
        dtype.bits, 2.0**-fraction, largest, -largest, 2.0 ** (1 - exponent), real,
        smallest_subnormal=2.0 ** (1 - exponent - fraction), epsneg=2.0 ** (-fraction - 1), precision=digits,
        resolution=float(f"1e-{digits}"), nmant=fraction, nexp=(exponent + 1).bit_length(), minexp=1 - exponent,
        maxexp=exponent + 1, machep=-fraction, negep=-fraction - 1,
    )  # fmt: skip


def finfo(type: DType | VkArray, /) -> finfo_object:
    """bits, eps, max, min, smallest_normal and dtype of a floating type. Raises ValueError for others. Standard."""
    dtype = _dtype_of(type, "finfo")
    promotion.check_category("finfo", dtype, "floating-point", ValueError)
    return _float_limits(dtype)


def iinfo(type: DType | VkArray, /) -> iinfo_object:
    """bits, max, min and dtype of an integer type. Raises ValueError for others. Standard: `iinfo`."""
    dtype = _dtype_of(type, "iinfo")
    promotion.check_category("iinfo", dtype, "integer", ValueError)
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

    What integers lead to is the default floating type. Raises TypeError for something else, and without arguments.
    Standard: `result_type`.
    """
    if not arrays_and_dtypes:
        raise TypeError("result_type: expected at least one array or dtype.")
    scalars: list[Any] = []
    strong: list[DType] = []
    for value in arrays_and_dtypes:
        weak = promotion.is_scalar(value) and not hasattr(value, "dtype")
        if weak:
            scalars.append(value)
        else:
            strong.append(_dtype_of(value, "result_type"))
    devices = [value._device for value in arrays_and_dtypes if type(value) is VkArray]
    if not strong:
        kind = max(map(promotion.scalar_kind, scalars))
        return {0: dtypes.bool_, 1: dtypes.int64}.get(kind) or as_dtype(float if kind == 2 else complex)
    dtype = promotion.promote_all(strong)
    device = devices[0] if devices else None
    for scalar in scalars:
        dtype = beside_scalar(dtype, promotion.scalar_kind(scalar), device)
    return dtype if promotion.is_double(strong) else available(dtype, device)


def promote_types(type1: Any, type2: Any) -> DType:
    """The type that two types are promoted to, as NumPy has it but for the default floating type (see `result_type`).

    Raises TypeError for what is no type.
    """
    return result_type(as_dtype(type1, "promote_types"), as_dtype(type2, "promote_types"))


def min_scalar_type(value: Any) -> DType:
    """The smallest type that holds a number; that of an array. Raises TypeError for what is neither."""
    if type(value) is VkArray and value.ndim:
        return value._dtype
    number = value.item() if type(value) is VkArray else promotion.as_scalar(value)
    if number is None:
        raise TypeError(f"min_scalar_type: expected a number or an array, got {value!r:.60}.")
    if isinstance(number, bool):
        return dtypes.bool_
    if isinstance(number, int):
        order = ("int8", "int16", "int32", "int64") if number < 0 else ("uint8", "uint16", "uint32", "uint64")
        for name in order:
            low, high = promotion.integer_range(dtypes.DTYPES[name])
            if low <= number <= high:
                return dtypes.DTYPES[name]
        raise OverflowError(f"min_scalar_type: no integer type holds {promotion.shown(number)}.")
    largest = max(abs(number.real), abs(number.imag))
    real = isinstance(number, float)
    if not largest < math.inf or largest < 65504 or math.isnan(largest):
        return dtypes.float16 if real else dtypes.complex64
    narrow = largest < 3.4028234663852886e38
    return (dtypes.float32 if real else dtypes.complex64) if narrow else (dtypes.float64 if real else dtypes.complex128)


operations.update(astype=astype, check_casting=check_casting)
