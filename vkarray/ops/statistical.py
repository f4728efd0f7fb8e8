"""Statistical functions of the standard."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..core import dtypes, layout, promotion
from ..core.array import ArrayLike, VkArray, empty, floating, operations
from ..core.dtypes import DType, as_dtype
from ..kernels import reductions
from ..kernels.conversion import cast
from ..kernels.planned import planned
from ..kernels.reductions import Reduction, checked, with_kept_axes
from ..kernels.scan import SUM, Scan, scan_into
from .reducing import Axis, Join, Mask, accumulation, accumulator, apply, document, given, reduction, type_of_out

_CHAPTER = {"chapter": "statistical"}
_PRODUCT = {"complex floating": "vx_multiply(a, b)", "else": "a * b"}

# Sums begin with 0, as NumPy's do: those of -0.0 alone are 0.0.
_FROM_ZERO = {"integer": "a", "else": "vx_from_zero(a)"}

sum = accumulation("sum", "a + b", "The sum of the elements over axes; 0 for no elements.", Join("add", 0), "any", empty=0,
                   finish=_FROM_ZERO, library="/statistics")  # fmt: skip
prod = accumulation("prod", _PRODUCT, "The product of the elements over axes; 1 for no elements.", Join("multiply", 1), "all",
                    empty=1, library="arithmetic")  # fmt: skip
max = reduction("max", "real numeric", {"integer": "max(a, b)", "else": "vx_maximum(a, b)"},
                "The largest element over axes; NaN if there is one.", types="key", order="vx_max", library="arithmetic",
                join=Join("maximum", None), booleans="any", complexes="complex.max", **_CHAPTER)  # fmt: skip
min = reduction("min", "real numeric", {"integer": "min(a, b)", "else": "vx_minimum(a, b)"},
                "The smallest element over axes; NaN if there is one.", types="key", order="vx_min", library="arithmetic",
                join=Join("minimum", None), booleans="all", complexes="complex.min", **_CHAPTER)  # fmt: skip
_MEAN = reductions.row("mean", "numeric", "a + b", types="floating", empty=math.nan,
                       finish="vx_mean(vx_from_zero(a), PARAMETER(0))", library="/statistics")  # fmt: skip

_SPREAD = {"types": "pair", "map": "vx_deviation(vx_to_{real}(a), center)", "shift": "vx_to_{real}(a)",
           "join": "vx_join(a, b)", "empty": math.nan, "library": "/statistics"}  # fmt: skip
_VARIANCE = "vx_variance(a, PARAMETER(0), PARAMETER(1))"
_VAR = reductions.row("var", "real numeric", "a + b", finish=_VARIANCE, **_SPREAD)
_STD = reductions.row("std", "real numeric", "a + b", finish=f"vx_sqrt({_VARIANCE})", **_SPREAD)


def _spread(
    made: Reduction, x: VkArray, axis: int | Sequence[int] | None, correction: float, keepdims: bool
) -> VkArray:  # fmt: skip
    """A measure of the deviations from the mean, in one reduction."""
    axes = checked(made.name, x, axis)
    promotion.check_category(made.name, x._dtype, made.category)
    correction = promotion.as_float(correction, made.name, "correction")
    count = math.prod(x._shape[axis] for axis in axes)
    divisor = count - correction if count > correction else math.nan
    return with_kept_axes(made.run(x, axes, parameters=(count, divisor)), x, axes, keepdims)


def _in_type(x: VkArray, dtype: DType | None, name: str) -> VkArray:
    """x in the type that a mean is asked for in; bools as integers, as they count."""
    x = given(name, x)
    if dtype is not None and as_dtype(dtype, name).kind in "fc":
        return cast(x, as_dtype(dtype, name))
    return cast(x, dtypes.uint8) if x._dtype is dtypes.bool_ else x


def _finished(name: str, result: VkArray, dtype: DType | None, out: VkArray | None) -> VkArray:
    result = result if dtype is None else cast(result, as_dtype(dtype, name))
    return result if out is None else operations["write"](name, out, result)


def _mean_where(name: str, x: VkArray, axis: Axis, where: Mask, keepdims: bool) -> tuple[VkArray, VkArray]:
    """The mean of the elements that count, and how many these are."""
    chosen = operations["mask"](name, where, x)
    count = operations["count_nonzero"](chosen, axis=axis, keepdims=keepdims)
    total = sum(cast(x, floating(x)), axis=axis, keepdims=keepdims, where=chosen)
    return operations["divide"](total, cast(count, total._dtype)), count


@planned
def mean(
    x: ArrayLike, /, axis: Axis = None, dtype: DType | None = None, out: VkArray | None = None, keepdims: bool = False, *,
    where: Mask = True,
) -> VkArray:  # fmt: skip
    x = given("mean", x)
    x = _in_type(x, type_of_out(x, out) if dtype is None and x._dtype.kind in "fc" else dtype, "mean")
    if where is not True:
        return _finished("mean", _mean_where("mean", x, axis, where, keepdims)[0], dtype, out)
    result = apply(_MEAN, x, axis, keepdims)
    return result if dtype is None and out is None else _finished("mean", result, dtype, out)


def _varied(
    made: Reduction, x: VkArray, axis: Axis, dtype: DType | None, out: VkArray | None, ddof: float, keepdims: bool,
    where: Mask, mean: ArrayLike, correction: float | None,
) -> VkArray:  # fmt: skip
    """`var` or `std` with NumPy's options."""
    x = _in_type(x, dtype, made.name)
    if correction is not None and ddof != 0:
        raise ValueError(f"{made.name}: expected ddof or correction, got both.")
    correction = ddof if correction is None else correction
    if where is True and mean is None and x._dtype.kind != "c":
        result = _spread(made, x, axis, correction, keepdims)
        return result if dtype is None and out is None else _finished(made.name, result, dtype, out)
    x = cast(x, floating(x))
    if where is True:
        where = operations["full"]((), True, device=x._device)
    center, _ = (
        _mean_where(made.name, x, axis, where, True)
        if mean is None
        else (operations["asarray"](mean, device=x._device), None)
    )
    distance = operations["subtract"](x, center)
    squares = operations["square"](operations["abs"](distance) if x._dtype.kind == "c" else distance)
    _, count = _mean_where(made.name, squares, axis, where, keepdims)
    chosen = operations["mask"](made.name, where, x)
    total = sum(squares, axis=axis, keepdims=keepdims, where=chosen)
    result = operations["divide"](total, operations["maximum"](cast(count, total._dtype) - correction, 0.0))
    result = operations["sqrt"](result) if made is _STD else result
    return _finished(made.name, result, dtype, out)


@planned
def var(
    x: ArrayLike, /, axis: Axis = None, dtype: DType | None = None, out: VkArray | None = None, ddof: float = 0.0,
    keepdims: bool = False, *, where: Mask = True, mean: ArrayLike | None = None, correction: float | None = None,
) -> VkArray:  # fmt: skip
    return _varied(_VAR, x, axis, dtype, out, ddof, keepdims, where, mean, correction)


@planned
def std(
    x: ArrayLike, /, axis: Axis = None, dtype: DType | None = None, out: VkArray | None = None, ddof: float = 0.0,
    keepdims: bool = False, *, where: Mask = True, mean: ArrayLike | None = None, correction: float | None = None,
) -> VkArray:  # fmt: skip
    return _varied(_STD, x, axis, dtype, out, ddof, keepdims, where, mean, correction)


document(mean, _MEAN, "The arithmetic mean over axes; NaN for no elements.", "statistical")
_DIVISOR = "the sum of squares is divided by the number of elements less `correction` or `ddof` (NaN where that is not\npositive)"
document(var, _VAR, f"The variance over axes: {_DIVISOR}.", "statistical")
document(std, _STD, f"The standard deviation over axes: {_DIVISOR}, and its root taken.", "statistical")

# -- cumulative -------------------------------------------------------------------------------------------------

SCANS = (
    SUM,
    Scan("cumulative_prod", _PRODUCT, "1", "arithmetic"),
)


def _cumulative(
    scan: Scan, x: VkArray, axis: int | None, dtype: DType | None, out: VkArray | None, include_initial: bool
) -> VkArray:
    checked(scan.name, x, None)
    if x.ndim == 0:
        x = x._view((1,), (0,))
    if axis is None and x.ndim > 1:
        raise ValueError(f"{scan.name}: axis is required for an array of {x.ndim} dimensions (shape {x._shape}).")
    axis = layout.normalize_axis(0 if axis is None else axis, x.ndim, scan.name)
    result_dtype = accumulator(scan.name, x, dtype)
    source = cast(x, result_dtype)
    shape = list(x._shape)
    shape[axis] += bool(include_initial)
    result = empty(tuple(shape), result_dtype, x._device)
    scan_into(scan, source, axis, result, bool(include_initial))
    return result if out is None else operations["write"](scan.name, out, result, casting="unsafe")


@planned
def cumulative_sum(
    x: ArrayLike, /, *, axis: int | None = None, dtype: DType | None = None, out: VkArray | None = None,
    include_initial: bool = False,
) -> VkArray:  # fmt: skip
    """The sums of the elements up to and including each, along an axis.

    Parameters: x; axis (needed for 2 dimensions or more); dtype (default: that of x,
    integers narrower than the default integer and bool widened to it); out (an array that takes the result); include_initial
    (start with a 0: one longer).
    Returns an array of the shape of x, (1,) for 0 dimensions.
    Method: blocks of 16, of 16 such blocks and so on, in an order that does not depend on device or layout, so the rounding
    error of an element grows with the logarithm of its place; float16 and bfloat16 are added in float32.
    Raises ValueError for a missing axis, IndexError for an axis out of range, TypeError for other types.
    Standard: statistical functions, `cumulative_sum`.
    """
    return _cumulative(SCANS[0], x, axis, dtype, out, include_initial)


@planned
def cumulative_prod(
    x: ArrayLike, /, *, axis: int | None = None, dtype: DType | None = None, out: VkArray | None = None,
    include_initial: bool = False,
) -> VkArray:  # fmt: skip
    """The products of the elements up to and including each, along an axis.

    Parameters, result, method and errors as `cumulative_sum`; with include_initial the result starts with a 1.
    Standard: statistical functions, `cumulative_prod`.
    """
    return _cumulative(SCANS[1], x, axis, dtype, out, include_initial)


operations.update(
    cumulative_prod=cumulative_prod, cumulative_sum=cumulative_sum, max=max, mean=mean, min=min, prod=prod, std=std,
    sum=sum, var=var,
)  # fmt: skip
