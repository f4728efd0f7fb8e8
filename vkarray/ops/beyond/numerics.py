"""Interpolation, derivatives and integrals of sampled functions, and logarithmic sequences."""

from __future__ import annotations

from typing import Any

from ...core import dtypes, layout, promotion
from ...core.array import ArrayLike, VkArray, available, default_dtype, empty, floating, is_supported, operations
from ...core.dtypes import DType, as_dtype
from ...kernels.conversion import cast
from ...kernels.planned import planned, recordable
from ...kernels.rows import as_array, check_array
from .. import creation, searching, statistical, utility
from ..creation.ranges import type_of_bounds
from ..elementwise import add, divide, imag, isnan, multiply, pow, real, remainder, subtract
from ..elementwise import log10 as common_logarithm
from ..elementwise import sign as sign_of
from ..indexing import take
from ..manipulation import concat, expand_dims, moveaxis, reshape
from .ndarray import imag_view, real_view


def _float64(*arrays: VkArray) -> DType:
    """float64, or its stand-in among types that do not have 64 bits."""
    if promotion.is_double(array._dtype for array in arrays):
        return dtypes.float64
    return available(dtypes.float64, arrays[0]._device)


@planned
def interp(
    x: ArrayLike, xp: ArrayLike, fp: ArrayLike, left: Any = None, right: Any = None, period: float | None = None
) -> VkArray:  # fmt: skip
    """The values at x of the polygon through the points (xp, fp).

    Parameters: x (real); xp (real, 1 dimension, ascending, unless there is a period); fp (real or complex, of the length of xp);
    left, right (the values below and above xp; default: the first and the last of fp); period (of the function of x).
    Returns an array of the shape of x, of float64 or complex128 where that is the default type or an operand's.
    Raises ValueError for no points, other lengths and a period of 0. Method: binary search.
    """
    x, xp, fp = (
        creation.asarray(one) if promotion.is_scalar(one) else check_array("interp", one) for one in (x, xp, fp)
    )
    if xp.ndim != 1 or fp._shape != xp._shape:
        raise ValueError(
            f"interp: expected points of 1 dimension and one length, got shapes {xp._shape} and {fp._shape}."
        )
    if xp.size == 0:
        raise ValueError("interp: expected at least one point, got none.")
    wide = _float64(x, xp, fp)
    if fp._dtype.kind == "c":
        found = empty(x._shape, dtypes.COMPLEX_OF[wide], x._device)
        ends = [None if one is None else as_array("interp", one, found._dtype, x) for one in (left, right)]
        for part, view in ((real, real_view), (imag, imag_view)):
            below, above = (None if one is None else part(one) for one in ends)
            view(found)[...] = interp(x, xp, part(fp), below, above, period)
        if xp.size > 1:
            imag_view(found)[...] = searching.where(isnan(cast(x, wide)), 0.0, imag_view(found))
        return found
    x, xp, fp = cast(x, wide), cast(xp, wide), cast(fp, wide)
    if period is not None:
        if period == 0:
            raise ValueError("interp: expected a period that is not 0.")
        period, left, right = abs(period), None, None
        x, xp = remainder(x, period), remainder(xp, period)
        order = operations["argsort"](xp)
        xp, fp = take(xp, order), take(fp, order)
        xp = concat((xp[-1:] - period, xp, xp[:1] + period))
        fp = concat((fp[-1:], fp, fp[:1]))
    count = xp.size
    left, right = fp[0] if left is None else left, fp[count - 1] if right is None else right
    if count > 1:
        place = searching.searchsorted(xp, x, side="right") - 1
        place = operations["clip"](place, 0, count - 2)
        slopes = divide(fp[1:] - fp[:-1], cast(xp[1:] - xp[:-1], fp._dtype))
        flat = reshape(place, (-1,)) if place.size else reshape(place, (0,))
        slope, x0, x1, f0, f1 = (
            reshape(take(one, flat), x._shape) for one in (slopes, xp[:-1], xp[1:], fp[:-1], fp[1:])
        )
        found = add(multiply(slope, subtract(x, x0)), f0)
        again = add(multiply(slope, subtract(x, x1)), f1)  # where the first is NaN, as inf * 0
        found = searching.where(
            isnan(found), searching.where(isnan(again), searching.where(f0 == f1, f0, again), again), found
        )
        found = searching.where(x == x0, f0, found)
    else:
        found = operations["broadcast_to"](fp[0], x._shape)
    found = searching.where(x >= xp[count - 1], searching.where(x > xp[count - 1], right, fp[count - 1]), found)
    found = searching.where(x < xp[0], left, found)
    return cast(searching.where(isnan(x), x, found) if count > 1 else found, fp._dtype)


@planned
def trapezoid(y: ArrayLike, x: ArrayLike | None = None, dx: ArrayLike = 1.0, axis: int = -1) -> VkArray:
    """The integral of a sampled function by the trapezoidal rule along an axis.

    Parameters: y (numeric); x (where the samples are: of 1 dimension, or more, which broadcast against y); dx (their distance
    without x); axis (of y and of such x).
    Returns an array of a floating-point type without the axis. Raises IndexError for an axis out of range.
    """
    y = check_array("trapezoid", y)
    layout.normalize_axis(axis, y.ndim, "trapezoid")
    y = y if y._dtype.kind in "bfc" else cast(y, floating(y))
    y = moveaxis(y, axis, -1)
    if x is None:
        steps: Any = dx
    else:
        x = check_array("trapezoid", x)
        steps = utility.diff(x) if x.ndim == 1 else moveaxis(utility.diff(x, axis=axis), axis, -1)
    pairs = add(y[..., 1:], y[..., :-1])  # of bools: whether either holds
    pairs = pairs if pairs._dtype.kind in "fc" else cast(pairs, floating(pairs))
    return statistical.sum(divide(multiply(steps, pairs), 2.0), axis=-1)


# -- gradient -----------------------------------------------------------------------------------------------------------


@planned
def gradient(
    f: ArrayLike, *varargs: ArrayLike, axis: Any = None, edge_order: int = 1
) -> VkArray | tuple[VkArray, ...]:  # fmt: skip
    """The derivatives of a sampled function, by central differences inside and one-sided ones at the ends.

    Parameters: f (numeric); varargs (the distance of samples: one for all axes, or for each axis a number or the places of the
    samples, of 1 dimension); axis (None for all, an integer or a tuple); edge_order (1 or 2: of the differences at the ends).
    Returns an array of a floating-point type and the shape of f, or a tuple of one for each axis.
    Raises TypeError for bools and for another number of distances, ValueError for places that do not fit, too few samples and
    another edge_order.
    """
    f = check_array("gradient", f)
    axes = layout.normalize_axes(axis, f.ndim, "gradient")
    count = len(axes)
    steps: list[Any] = list(varargs)
    if not steps:
        steps = [1.0] * count
    elif len(steps) == 1 and (type(steps[0]) is not VkArray or steps[0].ndim == 0):
        steps *= count
    if len(steps) != count:
        raise TypeError(f"gradient: expected a distance for each of {count} axes, got {len(steps)}.")
    if edge_order not in (1, 2):
        raise ValueError(f"gradient: expected edge_order 1 or 2, got {edge_order}.")
    promotion.check_category("gradient", f._dtype, "numeric")
    f = f if f._dtype.kind in "fc" else cast(f, floating(f))
    found = []
    for one, step in zip(axes, steps, strict=True):
        if f._shape[one] < edge_order + 1:
            raise ValueError(
                f"gradient: expected at least {edge_order + 1} samples along axis {one}, got shape {f._shape}."
            )
        if type(step) is VkArray and step.ndim:
            if step._shape != (f._shape[one],):
                raise ValueError(
                    f"gradient: distances must be scalars or 1d, {f._shape[one]} of them for axis {one}; got shape {step._shape}."
                )
            if step._dtype.kind in "iu":  # differences of bools tell whether they differ
                step = cast(step, floating(step))
            step = utility.diff(step)
            step = step if step._dtype.kind in "fc" else cast(step, floating(step))
        found.append(cast(moveaxis(_slopes(moveaxis(f, one, -1), step, edge_order), -1, one), f._dtype))
    return found[0] if count == 1 else tuple(found)


def _slopes(f: VkArray, step: Any, edge_order: int) -> VkArray:
    """The derivatives along the last axis; `step` is a number or the distances of neighbours."""
    even = type(step) is not VkArray or step.ndim == 0
    first, last = (step, step) if even else (step[0], step[-1])
    if even:
        middle = divide(f[..., 2:] - f[..., :-2], step * 2.0)
    else:
        before, after = step[:-1], step[1:]
        a = divide(-after, before * (before + after))
        b = divide(after - before, before * after)
        c = divide(before, after * (before + after))
        middle = a * f[..., :-2] + b * f[..., 1:-1] + c * f[..., 2:]
    if edge_order == 1:
        ends = [divide(f[..., 1:2] - f[..., :1], first), divide(f[..., -1:] - f[..., -2:-1], last)]
    else:
        second, third = (step, step) if even else (step[1], step[-2])
        ends = [_edge(f[..., 0:3], first, second), -_edge(_flipped(f[..., -3:]), last, third)]
    return concat((ends[0], middle, ends[1]), axis=-1)


def _flipped(f: VkArray) -> VkArray:
    return f[..., ::-1]


def _edge(f: VkArray, first: Any, second: Any) -> VkArray:
    """The derivative at the first of three samples, of second order."""
    a = -(first * 2.0 + second) / (first * (first + second))
    b = (first + second) / (first * second)
    c = -first / (second * (first + second))
    return f[..., 0:1] * a + f[..., 1:2] * b + f[..., 2:3] * c


# -- sequences ------------------------------------------------------------------------------------------------------------


def _bounds(function: str, start: Any, stop: Any, dtype: Any) -> tuple[VkArray, VkArray, DType]:
    """The ends of a sequence in the widest type that the device has, and the type of the result."""
    plain = promotion.is_scalar(start) and promotion.is_scalar(stop)
    first, last = (creation.asarray(one) for one in (start, stop))
    if plain:
        complexes = "c" in (first._dtype.kind, last._dtype.kind)
        own = default_dtype("complex" if complexes else "float", first._device)
    else:
        own = type_of_bounds(start, stop, first._device)
        if function == "geomspace":  # NumPy's is of the default type at least
            own = promotion.promote(own, default_dtype("float", first._device))
    if dtype is not None and as_dtype(dtype, function).kind == "c":
        own = promotion.promote(own, as_dtype(dtype, function))
    wide = promotion.promote(own, dtypes.float64) if is_supported(dtypes.float64, first._device) else own
    return cast(first, wide), cast(last, wide), own if dtype is None else as_dtype(dtype, function)


@recordable
def logspace(
    start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, base: ArrayLike = 10.0, dtype: Any = None,
    axis: int = 0,
) -> VkArray:  # fmt: skip
    """`num` numbers from base**start to base**stop, with even steps of the logarithm.

    Parameters: start, stop (numbers, or arrays, for sequences along a new axis); num (0 or more); endpoint (whether the last one is
    base**stop); base; dtype (the default floating type by default); axis (the place of the new axis, for arrays).
    Raises ValueError for a negative num. Method: in float64 where the device has it.
    """
    first, last, wanted = _bounds("logspace", start, stop, dtype)
    base = creation.asarray(base) if isinstance(base, (list, tuple)) else base
    if type(base) is VkArray and base.ndim:
        rank = max(first.ndim, last.ndim, base.ndim)
        first, last, base = (reshape(one, (1,) * (rank - one.ndim) + one._shape) for one in (first, last, base))
        base = expand_dims(base, axis)
    exponents = creation.linspace(first, last, num, endpoint, axis=axis)
    found = pow(cast(base, exponents._dtype) if type(base) is VkArray else base, exponents)
    return operations["astype"](found, wanted, copy=False)


@recordable
def geomspace(
    start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> VkArray:  # fmt: skip
    """`num` numbers from start to stop, each the same multiple of the one before.

    Parameters: start, stop (not 0; numbers, or arrays, for sequences along a new axis); num (0 or more); endpoint (whether the last
    one is stop); dtype (the default floating type by default); axis (the place of the new axis, for arrays).
    Raises ValueError for a start or stop of 0 and a negative num. Method: in float64 where the device has it.
    """
    first, last, wanted = _bounds("geomspace", start, stop, dtype)
    for one in (first, last):
        utility.refuse_where(ValueError, "geomspace: expected a start and a stop that are not 0.", one == 0)
    sign = sign_of(first)
    low, high = (common_logarithm(divide(one, sign)) for one in (first, last))
    exponents = creation.linspace(low, high, num, endpoint)
    found = multiply(pow(10.0, exponents), sign)
    if num > 0:
        found[0, ...] = first
    if num > 1 and endpoint:
        found[num - 1, ...] = last
    return operations["astype"](moveaxis(found, 0, axis), wanted, copy=False)
