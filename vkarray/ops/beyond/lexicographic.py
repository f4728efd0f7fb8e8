"""Extremes of complex numbers in NumPy's order: by the real part, then by the imaginary one; NaN in either part is NaN.

The standard leaves them open. They are written in terms of the rows and reductions of real numbers.
"""

from __future__ import annotations

import math
from typing import Any

from ...core.array import VkArray, operations
from ...kernels.reductions import checked, with_kept_axes
from ...kernels.rows import as_array, check_operands, common_dtype
from .. import searching, sorting, statistical, utility
from ..elementwise import equal, greater_equal, imag, isnan, less_equal, logical_and, logical_not, logical_or, real
from ..indexing import take_along_axis
from ..manipulation import concat, permute_dims, reshape
from ..reducing import Axis
from ..searching import where


def _arrays(name: str, x1: Any, x2: Any) -> tuple[VkArray, VkArray]:
    like = check_operands(name, (x1, x2))
    dtype = common_dtype(name, (x1, x2))
    return as_array(name, x1, dtype, like), as_array(name, x2, dtype, like)


def _of_two(name: str, comes_first: Any, skips_nan: bool) -> Any:
    """The extreme of each pair; the first one, where it is NaN, unless NaN are left out."""

    def function(x1: Any, x2: Any) -> VkArray:
        x1, x2 = _arrays(name, x1, x2)
        return where(logical_or(comes_first(x1, x2), isnan(x2 if skips_nan else x1)), x1, x2)

    return function


def _place(x: VkArray, axis: int, sign: int) -> VkArray:
    """The place of the first extreme element along an axis, or of the first NaN; the axis is kept."""
    extreme = statistical.max if sign > 0 else statistical.min
    unknown = isnan(x)
    first, second = (where(unknown, -sign * math.inf, part(x)) for part in (real, imag))
    among = logical_and(equal(first, extreme(first, axis, keepdims=True)), logical_not(unknown))
    second = where(among, second, -sign * math.inf)
    among = logical_and(equal(second, extreme(second, axis, keepdims=True)), among)
    among = where(utility.any(unknown, axis=axis, keepdims=True), unknown, among)
    return searching.argmax(among, axis, keepdims=True)


def _reduced(name: str, sign: int) -> Any:
    """The extreme element over axes."""

    def function(x: VkArray, axis: Axis, keepdims: bool) -> VkArray:
        axes = checked(name, x, axis)
        kept = [one for one in range(x.ndim) if one not in axes]
        lengths = tuple(x._shape[one] for one in kept)
        count = math.prod(x._shape[one] for one in axes)
        if count == 0:
            if math.prod(lengths) == 0:
                return with_kept_axes(operations["zeros"](lengths, dtype=x._dtype, device=x._device), x, axes, keepdims)
            raise ValueError(f"{name}: expected at least one element along the reduced axes, got shape {x._shape}.")
        rows = reshape(permute_dims(x, (*kept, *axes)), (*lengths, count))
        result = reshape(take_along_axis(rows, _place(rows, -1, sign), axis=-1), lengths)
        return with_kept_axes(result, x, axes, keepdims)

    return function


def _searched(name: str, sign: int) -> Any:
    """The place of the first extreme element along an axis, or in the flattened array."""

    def function(x: VkArray, axis: int | None, keepdims: bool) -> VkArray:
        axes = checked(name, x, axis)
        rows = x if axis is not None else reshape(x, (-1,) if x.size else (0,))
        if 0 in x._shape and (axis is None or x._shape[axes[0]] == 0):
            raise ValueError(f"{name}: expected at least one element along the axis, got shape {x._shape}.")
        place = _place(rows, 0 if axis is None else axis, sign)
        shape = tuple(length for one, length in enumerate(x._shape) if one not in axes)
        return with_kept_axes(reshape(place, shape), x, axes, keepdims)

    return function


def clip(x: VkArray, low: Any, high: Any) -> VkArray:
    """Each element limited to [low, high], of which one may be None."""
    x = x if low is None else operations["maximum"](x, low)
    return x if high is None else operations["minimum"](x, high)


def searchsorted(keys: VkArray, values: Any, side: str) -> VkArray:
    """The places of values among ascending keys: what is searched are the places of both among all that differ.

    NaN in the imaginary part comes after other numbers, NaN in the real one after that, as `sort` has them.
    """
    keys, values = _arrays("searchsorted", keys, values)
    count = keys.size
    every = concat((keys, reshape(values, (values.size,))))
    if not every.size:
        return searching.searchsorted(real(keys), real(values), side=side)
    order = sorting.argsort(every, stable=True)
    ordered = every[order]
    differs = logical_not(logical_and(_same_part(real, ordered), _same_part(imag, ordered)))
    ranks = concat(
        (operations["zeros"]((1,), dtype=order._dtype, device=every._device), statistical.cumulative_sum(differs))
    )
    numbers = ranks[sorting.argsort(order)]
    places = searching.searchsorted(numbers[:count], numbers[count:], side=side)
    return reshape(places, values._shape)


def _same_part(part: Any, x: VkArray) -> VkArray:
    """Whether a part of each number but the first is that of the one before, or both are NaN."""
    own, before = part(x[1:]), part(x[:-1])
    return logical_or(equal(own, before), logical_and(isnan(own), isnan(before)))


operations.update({
    "complex.maximum": _of_two("maximum", greater_equal, False), "complex.minimum": _of_two("minimum", less_equal, False),
    "complex.fmax": _of_two("fmax", greater_equal, True), "complex.fmin": _of_two("fmin", less_equal, True),
    "complex.max": _reduced("max", 1), "complex.min": _reduced("min", -1), "complex.argmax": _searched("argmax", 1),
    "complex.argmin": _searched("argmin", -1), "complex.clip": clip, "complex.searchsorted": searchsorted,
})  # fmt: skip
