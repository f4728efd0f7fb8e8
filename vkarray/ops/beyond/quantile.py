"""Medians and quantiles, by sorting."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...core import dtypes, layout, promotion
from ...core.array import (
    ArrayLike,
    VkArray,
    available,
    default_dtype,
    empty,
    floating,
    is_supported,
    operations,
)
from ...core.dtypes import CATEGORIES, DType, as_dtype
from ...core.operators import is_sequence
from ...kernels import launch
from ...kernels.conversion import cast
from ...kernels.overriding import or_own_array
from ...kernels.planned import planned
from ...kernels.reductions import checked
from ...kernels.rows import check_array, check_operands
from ...shaders.source import Shader
from .. import creation, statistical
from ..elementwise import ceil, floor, isnan, logical_not, logical_or, maximum, minimum
from ..elementwise import round as rounded
from ..indexing import take, take_along_axis
from ..manipulation import broadcast_to, moveaxis, permute_dims, reshape, stack
from ..reducing import Axis
from ..searching import count_nonzero, where
from ..sorting import argsort, sorted_rows
from ..statistical import cumulative_sum
from .arguments import array_of

if TYPE_CHECKING:
    from ...kernels.launch import Device


class _Host:
    """What the table of places calls, for numbers on the host."""

    floor, ceil, round = staticmethod(math.floor), staticmethod(math.ceil), staticmethod(round)

    @staticmethod
    def where(condition: bool, chosen: float, otherwise: float) -> float:
        return chosen if condition else otherwise


class _Device:
    """The same for arrays."""

    floor, ceil, round = staticmethod(floor), staticmethod(ceil), staticmethod(rounded)
    where = staticmethod(where)


_Place = Callable[[Any, float, Any], Any]


def _virtual(alpha: float, beta: float) -> _Place:
    return lambda n, q, m: n * q + (alpha + q * (1 - alpha - beta)) - 1


def _averaged(n: Any, q: float, m: Any) -> Any:
    place = n * q - 1
    return m.where(place == m.floor(place), place + 0.5, m.ceil(place))


def _closest(n: Any, q: float, m: Any) -> Any:
    place = n * q - 1.5
    return m.where(place % 2 == 1, place, m.floor(place) + 1)


# Where the quantile lies among n sorted elements; a fraction stands between two of them (Hyndman and Fan, "Sample quantiles
# in statistical packages", The American Statistician 50, 1996; the names are NumPy's).
_DISCRETE: dict[str, _Place] = {
    "inverted_cdf": lambda n, q, m: m.ceil(n * q - 1),
    "closest_observation": _closest,
    "lower": lambda n, q, m: m.floor((n - 1) * q),
    "higher": lambda n, q, m: m.ceil((n - 1) * q),
    "nearest": lambda n, q, m: m.round((n - 1) * q),
}
_PLACES: dict[str, _Place] = {
    "linear": lambda n, q, m: (n - 1) * q,
    "averaged_inverted_cdf": _averaged,
    "interpolated_inverted_cdf": _virtual(0, 1),
    "hazen": _virtual(0.5, 0.5),
    "weibull": _virtual(0, 0),
    "median_unbiased": _virtual(1 / 3, 1 / 3),
    "normal_unbiased": _virtual(3 / 8, 3 / 8),
    "midpoint": lambda n, q, m: (m.floor((n - 1) * q) + m.ceil((n - 1) * q)) / 2,
    **_DISCRETE,
}


@functools.cache
def _interpolation(dtype: DType) -> launch.Operation:
    wide = dtypes.float32 if dtype.bits == 16 else dtype
    return launch.Operation(
        f"interpolate {dtype}", "vx_interpolate(a, b, c)", (dtype, dtype, wide), dtype, dtype, "/interpolation"
    )


@functools.cache
def _middle(dtype: DType) -> launch.Operation:
    return launch.Operation(f"middle {dtype}", "vx_middle(a, b)", (dtype, dtype), dtype, dtype, "/interpolation")


def variants(device: Device) -> Iterator[Shader]:
    """The shaders of all types, for the archive."""
    for dtype in filter(CATEGORIES["real floating"].__contains__, dtypes.DTYPES.values()):
        if is_supported(dtype, device):
            for operation in (_interpolation(dtype), _middle(dtype)):
                yield from operation.variants(device)


class _Rows(NamedTuple):
    """The elements of x over some axes along a new last dimension, sorted; and what of x the result needs."""

    ordered: VkArray
    shape: layout.Shape  # of the result, with the reduced axes where they are kept
    weights: VkArray | None = None  # in the order of the elements


def _sorted(
    function: str, x: VkArray, axis: Axis, keepdims: bool, convert: bool, weights: VkArray | None = None
) -> _Rows:  # fmt: skip
    """The sorted rows; integers converted to float64 with `convert`."""
    axes = checked(function, x, axis)
    promotion.check_category(function, x._dtype, "numeric" if "median" in function else "real numeric")
    if convert:
        x = cast(x, floating(x))
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    count = math.prod(x._shape[axis] for axis in axes)
    if count == 0:
        raise ValueError(f"{function}: expected at least one element along the reduced axes, got shape {x._shape}.")
    shape = tuple(1 if k in axes else size for k, size in enumerate(x._shape) if keepdims or k not in axes)

    def rows(array: VkArray) -> VkArray:
        moved = permute_dims(array, (*kept, *axes))
        return reshape(moved, (*moved._shape[: len(kept)], count))

    if weights is None:
        return _Rows(sorted_rows(function, rows(x), False, False)[0], shape)
    order = argsort(rows(x), axis=-1)
    return _Rows(take_along_axis(rows(x), order, axis=-1), shape, take_along_axis(rows(weights), order, axis=-1))


def _nan_where_one_is(result: VkArray, ordered: VkArray) -> VkArray:
    """The result, NaN in the rows whose last element is."""
    if ordered._dtype.kind not in "fc":
        return result
    return where(isnan(ordered[..., -1]), math.nan, result)


def _written(function: str, result: VkArray, out: VkArray | None, broadcasts: bool = False) -> VkArray:
    return result if out is None else operations["write"](function, out, result, broadcasts=broadcasts)


def _is_of_nothing(function: str, x: VkArray, axis: Axis) -> bool:
    """Whether no elements are reduced."""
    return not all(x._shape[axis] for axis in checked(function, x, axis))


def _integers(x: VkArray) -> VkArray:
    """Bools as integers."""
    return cast(x, dtypes.uint8) if type(x) is VkArray and x._dtype is dtypes.bool_ else x


@planned
def median(
    x: ArrayLike, /, axis: Axis = None, out: VkArray | None = None, overwrite_input: bool = False, keepdims: bool = False
) -> VkArray:  # fmt: skip
    """The median over axes: the middle element in sorted order, the mean of the middle two for an even number.

    Parameters: x (numeric or bool; complex numbers are in the order of `sort`); axis (None for all, an integer or a tuple); out;
    overwrite_input (accepted, and changes nothing); keepdims (keep the reduced axes, of length 1).
    Returns an array of the dtype of x, float64 for integers; NaN where there is a NaN.
    NaN also of no elements. Raises TypeError for other types, IndexError for an axis out of range. Method: radix sort.
    """
    x = _integers(x)
    if _is_of_nothing("median", x, axis):
        return _written("median", statistical.mean(x, axis=axis, keepdims=keepdims), out)
    rows = _sorted("median", x, axis, keepdims, True)
    ordered = rows.ordered
    count = ordered._shape[-1]
    low, high = ordered[..., (count - 1) // 2], ordered[..., count // 2]
    if count % 2 == 0 and low._dtype.kind == "c":
        low = (low + high) / 2
    elif count % 2 == 0:
        low = launch.elementwise(_middle(low._dtype), (low, high), empty(low._shape, low._dtype, low._device))
    result = reshape(launch.contiguous(_nan_where_one_is(low, ordered)), rows.shape)
    return _written("median", result, out)


@planned
def quantile(
    x: ArrayLike, /, q: Any, axis: Axis = None, out: VkArray | None = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: ArrayLike | None = None, interpolation: str | None = None,
) -> VkArray:  # fmt: skip
    """The q-quantiles over axes: the elements that a fraction q of the sorted elements lies below.

    Parameters: x (real numeric); q (a number from 0 to 1, or a list or array of them, which the host reads); axis (None for
    all, an integer or a tuple); out; overwrite_input (accepted, and changes nothing); method or interpolation (how to choose
    between two elements, one of NumPy's: "linear", "midpoint", "lower", "higher", "nearest", "inverted_cdf",
    "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased",
    "normal_unbiased"); keepdims (keep the reduced axes, of length 1); weights (how often an element counts, with "inverted_cdf":
    of the shape of x, or of the axis).
    Returns an array of shape q.shape + the other axes and the dtype of x; of float64 for integers, unless the method takes
    elements as they are. NaN where there is a NaN.
    Raises TypeError for other types, ValueError for no elements, another method and a q outside of [0, 1], IndexError for an
    axis out of range. Method: radix sort.
    """
    return _quantile("quantile", x, q, 1.0, axis, out, interpolation or method, keepdims, weights, False)


@planned
def percentile(
    x: ArrayLike, /, q: Any, axis: Axis = None, out: VkArray | None = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: ArrayLike | None = None, interpolation: str | None = None,
) -> VkArray:  # fmt: skip
    """The q-th percentiles over axes: `quantile` of q / 100, with q from 0 to 100. Parameters and errors as there."""
    return _quantile("percentile", x, q, 100.0, axis, out, interpolation or method, keepdims, weights, False)


@planned
def nanmedian(
    x: ArrayLike, /, axis: Axis = None, out: VkArray | None = None, overwrite_input: bool = False, keepdims: bool = False
) -> VkArray:  # fmt: skip
    """`median` of the elements that are not NaN; NaN where none is. Parameters and errors as there."""
    x = _integers(x)
    if _is_of_nothing("nanmedian", x, axis):
        return _written("nanmedian", statistical.mean(x, axis=axis, keepdims=keepdims), out)
    rows = _sorted("nanmedian", x, axis, keepdims, True)
    ordered = rows.ordered
    counts = count_nonzero(logical_not(isnan(ordered)), axis=-1)
    low, high = (
        take_along_axis(ordered, maximum(place, 0)[..., None], axis=-1)[..., 0]
        for place in ((counts - 1) // 2, counts // 2)
    )
    if low._dtype.kind == "c":
        middle = where(counts % 2 == 0, (low + high) / 2, low)
    else:
        middle = launch.elementwise(_middle(low._dtype), (low, high), empty(low._shape, low._dtype, low._device))
    return _written("nanmedian", reshape(launch.contiguous(middle), rows.shape), out)


@planned
def nanquantile(
    x: ArrayLike, /, q: Any, axis: Axis = None, out: VkArray | None = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: ArrayLike | None = None, interpolation: str | None = None,
) -> VkArray:  # fmt: skip
    """`quantile` of the elements that are not NaN; NaN where none is. Parameters and errors as there."""
    return _quantile("nanquantile", x, q, 1.0, axis, out, interpolation or method, keepdims, weights, True)


@planned
def nanpercentile(
    x: ArrayLike, /, q: Any, axis: Axis = None, out: VkArray | None = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: ArrayLike | None = None, interpolation: str | None = None,
) -> VkArray:  # fmt: skip
    """`percentile` of the elements that are not NaN; NaN where none is. Parameters and errors as there."""
    return _quantile("nanpercentile", x, q, 100.0, axis, out, interpolation or method, keepdims, weights, True)


def _quantile(
    function: str, x: VkArray, q: Any, whole: float, axis: Axis, out: VkArray | None, method: str, keepdims: bool, weights: Any,
    skip: bool,
) -> VkArray:  # fmt: skip
    """The quantiles of all elements, or with `skip` of those that are not NaN."""
    if method not in tuple(_PLACES):
        raise ValueError(f"{function}: expected method {', '.join(_PLACES)}, got {method!r}.")
    shape, fractions = _fractions(function, q, whole)
    if skip and not check_array(function, x).size:
        return _written(function, statistical.mean(x, axis=axis, keepdims=keepdims), out, broadcasts=True)
    if check_array(function, x)._dtype is dtypes.bool_ and method in _DISCRETE:
        chosen = _quantile(function, _integers(x), q, whole, axis, None, method, keepdims, weights, skip)
        return _written(function, cast(chosen, dtypes.bool_), out, broadcasts=True)
    wide = _wide(x, q) if method not in _DISCRETE else x._dtype
    if weights is not None:
        if method != "inverted_cdf":
            raise ValueError(f"{function}: Only method 'inverted_cdf' supports weights, got {method!r}.")
        weights = weights_like(function, x, weights, axis)
    rows = _sorted(function, x, axis, keepdims, method not in _DISCRETE, weights)
    ordered = cast(rows.ordered, wide)
    if not fractions:
        found = ordered[None, ..., 0][:0]
    elif rows.weights is not None:
        found = _weighted(ordered, rows.weights, fractions, skip)
    elif skip and ordered._dtype.kind == "f":
        found = _of_counts(ordered, fractions, method)
    else:
        found = _of_all(ordered, fractions, method)
    if not skip:
        found = _nan_where_one_is(found, ordered)
    result = reshape(launch.contiguous(found), (*shape, *rows.shape))
    return _written(function, result, out, broadcasts=True)


def _wide(x: VkArray, q: Any) -> DType:
    """The type of quantiles between elements: quantiles in lists and arrays are float64 where that is the default type."""
    dtype = floating(x)
    plain = isinstance(q, (int, float)) and not hasattr(q, "dtype")
    if plain or dtypes.default_floating() is not dtypes.float64:
        return dtype
    return available(promotion.promote(dtype, as_dtype(q.dtype) if hasattr(q, "dtype") else dtypes.float64), x._device)


def _of_all(ordered: VkArray, fractions: Sequence[float], method: str) -> VkArray:
    """The quantiles of whole rows, along a new first dimension."""
    count = ordered._shape[-1]
    places = [min(max(_PLACES[method](count, fraction, _Host), 0), count - 1) for fraction in fractions]
    lower = _at(ordered, [math.floor(place) for place in places])
    if any(place % 1 for place in places):
        upper = _at(ordered, [math.ceil(place) for place in places])
        weights = creation.asarray(
            [place % 1 for place in places], dtype=_interpolation(lower._dtype).inputs[2], device=lower._device
        )
        weights = weights._view((len(places),) + (1,) * (lower.ndim - 1), (1,) + (0,) * (lower.ndim - 1))
        lower = _between(lower, upper, weights)
    return lower


def _between(lower: VkArray, upper: VkArray, weights: VkArray) -> VkArray:
    result = empty(lower._shape, lower._dtype, lower._device)
    return launch.elementwise(_interpolation(lower._dtype), (lower, upper, weights), result)


def _of_counts(ordered: VkArray, fractions: Sequence[float], method: str) -> VkArray:
    """The quantiles of the elements of each row that are not NaN, which come first."""
    device = ordered._device
    wide = dtypes.float64 if is_supported(dtypes.float64, device) else dtypes.float32
    counts = cast(count_nonzero(logical_not(isnan(ordered)), axis=-1), wide)
    last = maximum(counts - 1.0, 0.0)
    index = default_dtype("int", device)
    found = []
    for fraction in fractions:
        place = minimum(maximum(_PLACES[method](counts, fraction, _Device), 0.0), last)
        below = floor(place)
        lower, upper = (
            take_along_axis(ordered, cast(one, index)[..., None], axis=-1)[..., 0] for one in (below, ceil(place))
        )
        share = cast(place - below, _interpolation(ordered._dtype).inputs[2])
        found.append(_between(lower, upper, share) if method not in _DISCRETE else lower)
    return stack(found)


def weights_like(function: str, x: VkArray, weights: VkArray, axis: Axis) -> VkArray:
    """Weights of the shape of x, or of its axis, broadcast against x. Raises ValueError for others."""
    weights = check_operands(function, (array_of(function, weights, x), x))
    if weights._shape == x._shape:
        return weights
    axes = checked(function, x, axis)
    if axis is None:
        raise TypeError(
            f"{function}: Axis must be specified when shapes of a and weights differ, got {x._shape} and {weights._shape}."
        )
    if weights._shape != tuple(x._shape[one] for one in axes):
        raise ValueError(
            f"{function}: Shape of weights must be consistent with shape of a along specified axis: expected {x._shape} or that of "
            f"the axis, got {weights._shape}."
        )
    order = sorted(range(len(axes)), key=lambda k: axes[k])
    shape = tuple(length if one in axes else 1 for one, length in enumerate(x._shape))
    return broadcast_to(reshape(permute_dims(weights, order), shape), x._shape)


def _weighted(ordered: VkArray, weights: VkArray, fractions: Sequence[float], skip: bool) -> VkArray:
    """The first elements at which the sum of the weights reaches the fraction of all."""
    weights = cast(weights, floating(weights))
    sums = statistical.sum(weights, axis=None if skip else -1)  # of a row that is left out all weights are 0
    low, high = float(statistical.min(sums)), float(statistical.max(sums))
    if not (bool(statistical.min(weights) >= 0) and low > 0 and high < math.inf):
        raise ValueError("quantile: Weights must be non-negative; expected finite ones that are not all 0.")
    if skip and ordered._dtype.kind == "f":
        weights = where(isnan(ordered), 0.0, weights)
    sums = cumulative_sum(weights, axis=-1)
    shares = sums / sums[..., -1:]
    found = []
    for fraction in fractions:
        before = logical_or(shares < fraction, shares == 0) if fraction == 0 else shares < fraction
        place = minimum(count_nonzero(before, axis=-1), ordered._shape[-1] - 1)
        found.append(take_along_axis(ordered, place[..., None], axis=-1)[..., 0])
    return stack(found)


_NAMES = {1.0: "Quantiles", 100.0: "Percentiles"}


def _fractions(function: str, q: Any, whole: float) -> tuple[tuple[int, ...], list[float]]:
    """The shape of q and its values, divided by `whole`."""
    shape: tuple[int, ...] = ()
    q = or_own_array(q)
    if is_sequence(q) and not isinstance(q, (list, tuple, range)):
        q = creation.asarray(q)
    values: list[Any] = [q]
    if hasattr(q, "shape"):
        shape, values = tuple(q.shape), q.reshape(-1).tolist()
    elif isinstance(q, (list, tuple, range)):
        values = list(q)
        shape, values = (len(values),), [one.item() if getattr(one, "shape", None) == () else one for one in values]
        if values and all(isinstance(one, (list, tuple)) for one in values):
            parts = [_fractions(function, one, whole) for one in values]
            if len({own for own, _ in parts}) == 1:
                return (*shape, *parts[0][0]), [value for _, own in parts for value in own]
    for value in values:
        if not promotion.is_real_scalar(value) or not 0 <= value <= whole:
            raise ValueError(f"{function}: {_NAMES[whole]} must be in the range [0, {whole:g}], got {value!r}.")
    return shape, [promotion.as_scalar(value) / whole for value in values]


def _at(ordered: VkArray, places: Sequence[int]) -> VkArray:
    """The elements at places along the last dimension, which becomes the first."""
    if len(places) == 1:
        return ordered[..., places[0]][None]
    index = creation.asarray(list(places), dtype=default_dtype("int", ordered._device), device=ordered._device)
    return moveaxis(take(ordered, index, axis=-1), -1, 0)
