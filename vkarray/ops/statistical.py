"""Statistical functions of the standard."""

from __future__ import annotations

from typing import Any

from .. import layout
from ..array import VkArray, check_supported, default_dtype, empty, operations
from ..dtypes import DTYPES, DType, as_dtype
from .rows import cast, check_operands
from .scan import Scan, scan_into

_SUM = Scan("cumulative_sum", {"else": "a + b"}, "0")
_PRODUCT = Scan("cumulative_prod", {"complex floating": "vx_multiply(a, b)", "else": "a * b"}, "1", "arithmetic")


def widened(dtype: DType, x: VkArray) -> DType:
    """The type of a sum or product of `dtype`: integers below the default integer (and bool) become that wide."""
    default = default_dtype("int", x._device)
    if dtype.kind == "bool":
        return default
    if dtype.kind.endswith("integer") and dtype.bits < default.bits:
        return default if dtype.kind == "signed integer" else DTYPES[f"u{default.name}"]
    return dtype


def check_array(name: str, x: Any) -> None:
    """Raise TypeError, naming the function, unless x is an array."""
    if type(x) is not VkArray:
        check_operands(name, (x,))


def _result_dtype(name: str, x: VkArray, dtype: DType | None) -> DType:
    if dtype is None:
        return widened(x._dtype, x)
    wanted = as_dtype(dtype, name)
    if x._dtype.kind == "complex floating" and wanted.kind != "complex floating":
        raise TypeError(f"{name}: {x._dtype} does not convert to {wanted}. Use vkarray.real(x) first.")
    check_supported(wanted, x._device, name)
    return wanted


def _cumulative(scan: Scan, x: VkArray, axis: int | None, dtype: DType | None, include_initial: bool) -> VkArray:
    check_array(scan.name, x)
    if x.ndim == 0:
        raise ValueError(f"{scan.name}: expected an array of at least 1 dimension, got shape (). Use vkarray.reshape(x, (1,)).")
    if axis is None:
        if x.ndim > 1:
            raise ValueError(f"{scan.name}: axis is required for an array of {x.ndim} dimensions (shape {x._shape}).")
        axis = 0
    axis = layout.normalize_axis(axis, x.ndim, scan.name)
    result_dtype = _result_dtype(scan.name, x, dtype)
    if result_dtype.kind == "bool":
        raise TypeError(f"{scan.name}: expected a numeric dtype, got bool.")
    source = cast(x, result_dtype)
    shape = list(x._shape)
    shape[axis] += bool(include_initial)
    result = empty(tuple(shape), result_dtype, x._device)
    scan_into(scan, source, axis, result, bool(include_initial))
    return result


def cumulative_sum(
    x: VkArray, /, *, axis: int | None = None, dtype: DType | None = None, include_initial: bool = False
) -> VkArray:
    """The sums of the elements up to and including each, along an axis.

    Parameters: x (numeric or bool, at least 1 dimension); axis (needed unless x has 1 dimension); dtype (default: that
    of x, integers narrower than the default integer widened to it); include_initial (start with a 0, one element longer).
    Returns an array of the shape of x. float16 and bfloat16 are added in float32; the rounding error of an element grows
    with the logarithm of its place, and the order of additions does not depend on device or layout.
    Raises ValueError for 0 dimensions or a missing axis, IndexError for an axis out of range, TypeError for other types.
    Standard: statistical functions, `cumulative_sum`.
    """
    return _cumulative(_SUM, x, axis, dtype, include_initial)


def cumulative_prod(
    x: VkArray, /, *, axis: int | None = None, dtype: DType | None = None, include_initial: bool = False
) -> VkArray:
    """The products of the elements up to and including each, along an axis.

    Parameters, result, method and errors as `cumulative_sum`; with include_initial the result starts with a 1.
    Standard: statistical functions, `cumulative_prod`.
    """
    return _cumulative(_PRODUCT, x, axis, dtype, include_initial)


operations.update(cumulative_sum=cumulative_sum)
