"""Reductions that leave out NaN (`nanmedian` and the quantiles are in `quantile.py`)."""

from __future__ import annotations

import math
from typing import Any

from ...core import layout
from ...core.array import ArrayLike, VkArray, operations
from ...core.dtypes import DType
from ...kernels.conversion import cast
from ...kernels.planned import planned
from ...kernels.reductions import checked
from ...kernels.rows import check_array
from .. import searching, statistical, utility
from ..elementwise import isnan, logical_and, logical_not, maximum, minimum
from ..manipulation import broadcast_to, reshape
from ..reducing import Axis, Mask, type_of_out


def _is_number(function: str, x: VkArray, where: Any = True) -> Any:
    """Which elements count: those that `where` chooses and that are not NaN; True for all."""
    if check_array(function, x)._dtype.kind not in "fc":
        return where
    numbers = logical_not(isnan(x))
    return numbers if where is True else logical_and(numbers, operations["mask"](function, where, x))


@planned
def nansum(
    x: ArrayLike, /, axis: Axis = None, dtype: DType | None = None, out: VkArray | None = None, keepdims: bool = False,
    initial: ArrayLike | None = None, where: Mask = True,
) -> VkArray:  # fmt: skip
    """The sum of the elements that are not NaN; 0 for none. Parameters, result and errors as `sum`."""
    return statistical.sum(x, axis, dtype, out, keepdims, initial=initial, where=_is_number("nansum", x, where))


@planned
def nanprod(
    x: ArrayLike, /, axis: Axis = None, dtype: DType | None = None, out: VkArray | None = None, keepdims: bool = False,
    initial: ArrayLike | None = None, where: Mask = True,
) -> VkArray:  # fmt: skip
    """The product of the elements that are not NaN; 1 for none. Parameters, result and errors as `prod`."""
    return statistical.prod(x, axis, dtype, out, keepdims, initial=initial, where=_is_number("nanprod", x, where))


@planned
def nanmean(
    x: ArrayLike, /, axis: Axis = None, dtype: DType | None = None, out: VkArray | None = None, keepdims: bool = False, *,
    where: Mask = True,
) -> VkArray:  # fmt: skip
    """The mean of the elements that are not NaN; NaN for none. Parameters, result and errors as `mean`."""
    return statistical.mean(x, axis, dtype, out, keepdims, where=_is_number("nanmean", x, where))


def _spread(
    function: str, measure: Any, x: VkArray, axis: Axis, out: Any, ddof: float, keepdims: bool, where: Any, **options: Any
) -> VkArray:  # fmt: skip
    counting = _is_number(function, x, where)
    if counting is True:
        return measure(
            x, axis, options["dtype"], out, ddof, keepdims, mean=options["mean"], correction=options["correction"]
        )
    result = measure(x, axis, ddof=ddof, keepdims=keepdims, where=counting, **options)
    count = searching.count_nonzero(broadcast_to(counting, x._shape), axis=axis, keepdims=keepdims)
    few = count <= (ddof if options["correction"] is None else options["correction"])
    result = searching.where(few, math.nan, result)
    return result if out is None else operations["write"](function, out, result)


@planned
def nanvar(
    x: ArrayLike, /, axis: Axis = None, dtype: DType | None = None, out: VkArray | None = None, ddof: float = 0.0,
    keepdims: bool = False, *, where: Mask = True, mean: ArrayLike | None = None, correction: float | None = None,
) -> VkArray:  # fmt: skip
    """The variance of the elements that are not NaN; NaN for `ddof` or fewer. Parameters, result and errors as `var`."""
    options = {"dtype": dtype, "mean": mean, "correction": correction}
    return _spread("nanvar", statistical.var, x, axis, out, ddof, keepdims, where, **options)


@planned
def nanstd(
    x: ArrayLike, /, axis: Axis = None, dtype: DType | None = None, out: VkArray | None = None, ddof: float = 0.0,
    keepdims: bool = False, *, where: Mask = True, mean: ArrayLike | None = None, correction: float | None = None,
) -> VkArray:  # fmt: skip
    """The standard deviation of the elements that are not NaN; NaN for `ddof` or fewer. Parameters and errors as `std`."""
    options = {"dtype": dtype, "mean": mean, "correction": correction}
    return _spread("nanstd", statistical.std, x, axis, out, ddof, keepdims, where, **options)


def _extreme(
    function: str, x: VkArray, sign: int, axis: Axis, out: VkArray | None, keepdims: bool, initial: Any, where: Any
) -> VkArray:  # fmt: skip
    """The largest (sign 1) or smallest (-1) element that is not NaN."""
    reduce, join = ((statistical.min, minimum), None, (statistical.max, maximum))[sign + 1]  # type: ignore[misc]
    axes = checked(function, x, axis)
    if initial is None and 0 in (x._shape[one] for one in axes):
        raise ValueError(f"{function}: expected elements along the reduced axes, or initial; got shape {x._shape}.")
    if x._dtype.kind not in "fc":
        return reduce(x, axis, out, keepdims, initial=initial, where=where)
    empty = -sign * math.inf if x._dtype.kind == "f" else complex(-sign * math.inf, -sign * math.inf)
    if where is not True and initial is None:
        raise ValueError(f"{function}: where= leaves out elements, and a {function} of none needs initial=.")
    counting = _is_number(function, x, where)
    result = reduce(searching.where(counting, x, empty), axis, keepdims=keepdims, initial=empty)
    if initial is not None:
        result = join(result, initial)
    else:
        result = searching.where(utility.any(counting, axis=axis, keepdims=keepdims), result, math.nan)
    return result if out is None else operations["write"](function, out, result)


@planned
def nanmax(
    x: ArrayLike, /, axis: Axis = None, out: VkArray | None = None, keepdims: bool = False,
    initial: ArrayLike | None = None, where: Mask = True,
) -> VkArray:  # fmt: skip
    """The largest element that is not NaN; NaN where all are. Parameters, result and errors as `max`."""
    return _extreme("nanmax", x, 1, axis, out, keepdims, initial, where)


@planned
def nanmin(
    x: ArrayLike, /, axis: Axis = None, out: VkArray | None = None, keepdims: bool = False,
    initial: ArrayLike | None = None, where: Mask = True,
) -> VkArray:  # fmt: skip
    """The smallest element that is not NaN; NaN where all are. Parameters, result and errors as `min`."""
    return _extreme("nanmin", x, -1, axis, out, keepdims, initial, where)


def _place(function: str, x: VkArray, sign: int, axis: int | None, out: VkArray | None, keepdims: bool) -> VkArray:
    place = (searching.argmin, None, searching.argmax)[sign + 1]
    if not x.size and (axis is None or not x._shape[layout.normalize_axis(axis, x.ndim, function)]):
        raise ValueError(f"{function}: attempt to get {function[3:]} of an empty sequence, got shape {x._shape}.")
    if check_array(function, x)._dtype.kind in "fc":
        unknown = isnan(x)
        wrong = utility.all(unknown, axis=axis)
        utility.refuse_where(ValueError, f"{function}: all elements along the axis are NaN.", wrong)
        x = searching.where(unknown, -sign * math.inf, x)
    return place(x, axis, out, keepdims=keepdims)  # type: ignore[misc]


@planned
def nanargmax(
    x: ArrayLike, /, axis: int | None = None, out: VkArray | None = None, *, keepdims: bool = False
) -> VkArray:
    """The place of the first largest element, NaN left out. Parameters as `argmax`. Waits for the device.

    Raises ValueError where all elements along the axis are NaN; other errors as `argmax`.
    """
    return _place("nanargmax", x, 1, axis, out, keepdims)


@planned
def nanargmin(
    x: ArrayLike, /, axis: int | None = None, out: VkArray | None = None, *, keepdims: bool = False
) -> VkArray:
    """The place of the first smallest element, NaN left out. Parameters as `argmin`. Waits for the device.

    Raises ValueError where all elements along the axis are NaN; other errors as `argmin`.
    """
    return _place("nanargmin", x, -1, axis, out, keepdims)


def _running(function: str, scan: Any, x: VkArray, neutral: int, axis: int | None, dtype: Any, out: Any) -> VkArray:
    counting = _is_number(function, x)
    if counting is not True:
        x = cast(searching.where(counting, x, neutral), x._dtype)
    x = reshape(x, (x.size,)) if axis is None or x.ndim == 0 else x
    dtype = type_of_out(x, out) if dtype is None else dtype
    result = scan(x, axis=layout.normalize_axis(0 if axis is None else axis, x.ndim, function), dtype=dtype)
    return result if out is None else operations["write"](function, out, result, casting="unsafe")


@planned
def nancumsum(
    x: ArrayLike, /, axis: int | None = None, dtype: DType | None = None, out: VkArray | None = None
) -> VkArray:
    """The sums up to each element, NaN as 0; of the flattened array for axis None. Parameters and errors as `cumsum`."""
    return _running("nancumsum", statistical.cumulative_sum, x, 0, axis, dtype, out)


@planned
def nancumprod(
    x: ArrayLike, /, axis: int | None = None, dtype: DType | None = None, out: VkArray | None = None
) -> VkArray:
    """The products up to each element, NaN as 1; of the flattened array for axis None. Parameters and errors as `cumprod`."""
    return _running("nancumprod", statistical.cumulative_prod, x, 1, axis, dtype, out)
