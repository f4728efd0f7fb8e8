"""Averages, ranges and covariances as NumPy has them."""

from __future__ import annotations

import math
from typing import Any

from ...core import dtypes, promotion
from ...core.array import ArrayLike, StrongLike, VkArray, available, floating, operations
from ...core.dtypes import DType, as_dtype
from ...kernels import launch
from ...kernels.conversion import cast
from ...kernels.planned import planned
from ...kernels.reductions import checked
from ...kernels.rows import check_array
from .. import creation, statistical, utility
from ..elementwise import clip, conj, divide, equal, maximum, multiply, sqrt, subtract
from ..linear_algebra import matmul
from ..manipulation import broadcast_to, concat, reshape
from ..reducing import Axis
from .quantile import weights_like


def _promoted(*given: DType, device: Any) -> DType:
    """The floating-point type that types lead to: float64 for integers, or the default type in its place."""
    dtype = promotion.promote_all(given)
    if dtype.kind not in "fc":
        dtype = dtypes.float64
    return dtype if promotion.is_double(given) else available(dtype, device)


@planned
def average(
    a: StrongLike,
    axis: Axis = None,
    weights: ArrayLike | None = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> VkArray | tuple[VkArray, VkArray]:
    """The weighted mean over axes.

    Parameters: a (numeric or bool); axis (None for all, an integer or a tuple); weights (of the shape of a, or of the axis; equal
    ones by default); returned (also return the sums of the weights); keepdims (keep the reduced axes, of length 1).
    Returns an array of a floating-point type, or a pair of them. Waits for the device where there are weights.
    Raises ZeroDivisionError where weights add up to 0, TypeError for weights of another shape without an axis, ValueError for those
    of a wrong shape.
    """
    x = check_array("average", a)
    if weights is None:
        mean = statistical.mean(x, axis, keepdims=keepdims)
        count = math.prod(x._shape[one] for one in checked("average", x, axis))
        total = creation.full((), float(count), dtype=mean._dtype, device=x._device) if returned else mean
    else:
        weights = weights_like("average", x, weights, axis)
        dtype = _promoted(floating(x), weights._dtype, device=x._device)
        weights = cast(weights, dtype)
        total = statistical.sum(weights, axis, keepdims=keepdims)
        if bool(utility.any(equal(total, 0))):
            raise ZeroDivisionError("average: the weights add up to 0. Choose others.")
        mean = divide(statistical.sum(multiply(cast(x, dtype), weights), axis, keepdims=keepdims), total)
    return (mean, launch.copy(broadcast_to(total, mean._shape))) if returned else mean


@planned
def ptp(a: ArrayLike, axis: Axis = None, out: VkArray | None = None, keepdims: bool = False) -> VkArray:
    """The distance from the smallest to the largest element over axes.

    Parameters: a (real numeric); axis (None for all, an integer or a tuple); out; keepdims. Returns an array of the dtype of a.
    Raises TypeError for other types, ValueError for no elements, IndexError for an axis out of range.
    """
    x = check_array("ptp", a)
    promotion.check_category("ptp", x._dtype, "numeric")
    result = subtract(statistical.max(x, axis, keepdims=keepdims), statistical.min(x, axis, keepdims=keepdims))
    return result if out is None else operations["write"]("ptp", out, result)


def _variables(function: str, m: VkArray, rowvar: bool, dtype: DType) -> VkArray:
    """The variables in rows."""
    if m.ndim > 2:
        raise ValueError(f"{function}: expected up to 2 dimensions, got shape {m._shape}.")
    x = cast(m, dtype)
    if x.ndim < 2:
        return reshape(x, (1, x.size))
    return x if rowvar else x.mT


def _frequencies(weights: VkArray, count: int, whole: bool) -> VkArray:
    """Weights of observations, checked."""
    name = "fweights" if whole else "aweights"
    if weights.ndim != 1:
        raise RuntimeError(f"cov: expected {name} of 1 dimension, got shape {weights._shape}.")
    if weights.size != count:
        raise RuntimeError(f"cov: expected as many {name} as observations, {count}, got {weights.size}.")
    if whole and weights._dtype.kind == "f" and bool(utility.any(operations["floor"](weights) != weights)):
        raise TypeError("cov: expected fweights that are integers.")
    if weights._dtype.kind != "b" and bool(utility.any(weights < 0)):
        raise ValueError(f"cov: expected {name} of 0 or more.")
    return weights


@planned
def cov(
    m: StrongLike, y: StrongLike | None = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None,
    fweights: ArrayLike | None = None, aweights: ArrayLike | None = None, *, dtype: DType | None = None,
) -> VkArray:  # fmt: skip
    """The covariances of variables.

    Parameters: m (numeric, up to 2 dimensions: the variables in rows, or with rowvar=False in columns); y (further variables); bias
    (divide by the number of observations N instead of N - 1); ddof (divide by N - ddof); fweights (integers: how often an
    observation counts); aweights (its importance); dtype (of the result: floating-point).
    Returns a matrix, or an array of 0 dimensions for one variable. Reads weights, to check them.
    Raises ValueError for more dimensions, weights that are negative and a ddof that is no integer, RuntimeError for weights of
    another shape, TypeError for fweights that are no integers.
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError(f"cov: expected an integer as ddof, got {ddof!r}.")
    x = check_array("cov", m)
    given = [one._dtype for one in (x, y) if one is not None]
    wanted = as_dtype(dtype, "cov") if dtype is not None else _promoted(*given, device=x._device)
    if dtype is None and not promotion.is_double(given):
        wanted = available(promotion.promote(wanted, dtypes.float64), x._device)
    rows = _variables("cov", x, rowvar, wanted)
    if rows._shape[0] == 0:
        return creation.zeros((0, 0), dtype=wanted, device=x._device)
    if y is not None:
        rows = concat((rows, _variables("cov", y, rowvar, wanted)), axis=0)
    ddof = (0 if bias else 1) if ddof is None else ddof
    count = rows._shape[1]
    real = dtypes.REAL_OF.get(wanted, wanted)
    weights = None
    if fweights is not None:
        weights = cast(_frequencies(fweights, count, True), real)
    if aweights is not None:
        aweights = cast(_frequencies(aweights, count, False), real)
        weights = aweights if weights is None else multiply(weights, aweights)
    if weights is None:
        centered = subtract(rows, statistical.mean(rows, 1, keepdims=True))
        product = matmul(centered, _conjugate(centered).mT)
        return _squeezed(product / (float(max(count - ddof, 0))))
    total = statistical.sum(weights)
    mean = divide(statistical.sum(multiply(rows, weights), 1, keepdims=True), total)
    centered = subtract(rows, mean)
    product = matmul(centered, _conjugate(multiply(centered, weights)).mT)
    if aweights is None:
        divisor = total - float(ddof)
    else:
        divisor = total - divide(statistical.sum(multiply(weights, aweights)), total) * float(ddof)
    return _squeezed(divide(product, maximum(divisor, 0.0)))


def _conjugate(x: VkArray) -> VkArray:
    return conj(x) if x._dtype.kind == "c" else x


def _squeezed(x: VkArray) -> VkArray:
    return reshape(x, tuple(length for length in x._shape if length != 1))


@planned
def corrcoef(
    x: StrongLike, y: StrongLike | None = None, rowvar: bool = True, *, dtype: DType | None = None
) -> VkArray:  # fmt: skip
    """The correlation coefficients of variables: their covariances divided by the products of their standard deviations.

    Parameters, result and errors as `cov`. Each part of a coefficient is limited to [-1, 1].
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return divide(c, c)
    deviations = sqrt(operations["real_view"](operations["diagonal"](c, 0, 0, 1)))
    c = divide(divide(c, deviations[:, None]), deviations[None, :])
    if c._dtype.kind != "c":
        return clip(c, -1.0, 1.0)
    for part in ("real_view", "imag_view"):
        view = operations[part](c)
        operations["setitem"](view, ..., clip(view, -1.0, 1.0))
    return c


def float_type(*arrays: VkArray) -> DType:
    """The type of functions that NumPy computes in float64: that, or the default type unless an array has float64."""
    given = [floating(array) for array in arrays]
    return _promoted(*given, dtypes.float32, device=arrays[0]._device)


operations.update(ptp=ptp)
