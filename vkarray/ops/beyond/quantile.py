"""Medians and quantiles, by sorting."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...core import dtypes, promotion
from ...core.array import VkArray, default_dtype, empty, floating, is_supported
from ...core.dtypes import CATEGORIES, DType
from ...kernels import launch
from ...kernels.planned import planned
from ...kernels.reductions import checked, with_kept_axes
from ...kernels.rows import cast
from ...shaders.source import Variant
from .. import creation
from ..elementwise import isnan
from ..indexing import take
from ..manipulation import moveaxis, permute_dims, reshape
from ..searching import where
from ..sorting import sorted_rows

if TYPE_CHECKING:
    from ...kernels.launch import Device


def _virtual(alpha: float, beta: float) -> Callable[[int, float], float]:
    return lambda n, q: n * q + (alpha + q * (1 - alpha - beta)) - 1


def _averaged(n: int, q: float) -> float:
    place = n * q - 1
    return place + 0.5 if place == math.floor(place) else math.ceil(place)


def _closest(n: int, q: float) -> float:
    place = n * q - 1.5
    return place if place % 2 == 1 else math.floor(place) + 1


# Where the quantile lies among n sorted elements; a fraction stands between two of them (Hyndman and Fan, "Sample quantiles
# in statistical packages", The American Statistician 50, 1996; the names are NumPy's).
_DISCRETE: dict[str, Callable[[int, float], float]] = {
    "inverted_cdf": lambda n, q: math.ceil(n * q - 1),
    "closest_observation": _closest,
    "lower": lambda n, q: math.floor((n - 1) * q),
    "higher": lambda n, q: math.ceil((n - 1) * q),
    "nearest": lambda n, q: round((n - 1) * q),
}
_PLACES: dict[str, Callable[[int, float], float]] = {
    "linear": lambda n, q: (n - 1) * q,
    "averaged_inverted_cdf": _averaged,
    "interpolated_inverted_cdf": _virtual(0, 1),
    "hazen": _virtual(0.5, 0.5),
    "weibull": _virtual(0, 0),
    "median_unbiased": _virtual(1 / 3, 1 / 3),
    "normal_unbiased": _virtual(3 / 8, 3 / 8),
    "midpoint": lambda n, q: (math.floor((n - 1) * q) + math.ceil((n - 1) * q)) / 2,
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


def variants(device: Device) -> Iterator[Variant]:
    """The shaders of all types, for the archive."""
    for dtype in filter(CATEGORIES["real floating"].__contains__, dtypes.DTYPES.values()):
        if is_supported(dtype, device):
            for operation in (_interpolation(dtype), _middle(dtype)):
                yield from operation.variants(device)


def _sorted(function: str, x: VkArray, axes: Sequence[int], convert: bool) -> VkArray:
    """The elements over `axes` sorted along a new last dimension; integers converted to float64 with `convert`."""
    promotion.check_category(function, x._dtype, "real numeric")
    if convert:
        x = cast(x, floating(x))
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    count = math.prod(x._shape[axis] for axis in axes)
    if count == 0:
        raise ValueError(f"{function}: expected at least one element along the reduced axes, got shape {x._shape}.")
    moved = permute_dims(x, (*kept, *axes))
    return sorted_rows(function, reshape(moved, (*moved._shape[: len(kept)], count)), False, False)[0]


def _nan_where_one_is(result: VkArray, ordered: VkArray) -> VkArray:
    """The result, NaN in the rows whose last element is."""
    if ordered._dtype not in CATEGORIES["real floating"]:
        return result
    return where(isnan(ordered[..., -1]), math.nan, result)


@planned
def median(x: VkArray, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> VkArray:
    """The median over axes: the middle element in sorted order, the mean of the middle two for an even number.

    Parameters: x (real numeric); axis (None for all, an integer or a tuple); keepdims (keep the reduced axes, of length 1).
    Returns an array of the dtype of x, float64 for integers; NaN where there is a NaN.
    Raises TypeError for other types, ValueError for no elements, IndexError for an axis out of range.
    Method: radix sort.
    """
    axes = checked("median", x, axis)
    ordered = _sorted("median", x, axes, True)
    count = ordered._shape[-1]
    low, high = ordered[..., (count - 1) // 2], ordered[..., count // 2]
    if count % 2 == 0:
        low = launch.elementwise(_middle(low._dtype), (low, high), empty(low._shape, low._dtype, x._device))
    return with_kept_axes(launch.contiguous(_nan_where_one_is(low, ordered)), x, axes, keepdims)


@planned
def quantile(
    x: VkArray, q: Any, /, *, axis: int | tuple[int, ...] | None = None, method: str = "linear", keepdims: bool = False
) -> VkArray:
    """The q-quantiles over axes: the elements that a fraction q of the sorted elements lies below.

    Parameters: x (real numeric); q (a number from 0 to 1, or a list or array of them, which the host reads); axis (None for
    all, an integer or a tuple); method (how to choose between two elements, one of NumPy's: "linear", "midpoint", "lower",
    "higher", "nearest", "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen",
    "weibull", "median_unbiased", "normal_unbiased"); keepdims (keep the reduced axes, of length 1).
    Returns an array of shape q.shape + the other axes and the dtype of x; of float64 for integers, unless the method takes
    elements as they are. NaN where there is a NaN.
    Raises TypeError for other types, ValueError for no elements, another method and a q outside of [0, 1], IndexError for an
    axis out of range. Method: radix sort.
    """
    return _quantile("quantile", x, q, 1.0, axis, method, keepdims)


@planned
def percentile(
    x: VkArray, q: Any, /, *, axis: int | tuple[int, ...] | None = None, method: str = "linear", keepdims: bool = False
) -> VkArray:
    """The q-th percentiles over axes: `quantile` of q / 100, with q from 0 to 100. Errors as there."""
    return _quantile("percentile", x, q, 100.0, axis, method, keepdims)


def _quantile(
    function: str, x: VkArray, q: Any, whole: float, axis: int | tuple[int, ...] | None, method: str, keepdims: bool
) -> VkArray:
    axes = checked(function, x, axis)
    if method not in tuple(_PLACES):
        raise ValueError(f"{function}: expected method {', '.join(_PLACES)}, got {method!r}.")
    shape, fractions = _fractions(function, q, whole)
    ordered = _sorted(function, x, axes, method not in _DISCRETE)
    count = ordered._shape[-1]
    places = [min(max(_PLACES[method](count, fraction), 0), count - 1) for fraction in fractions]
    lower = _at(ordered, [math.floor(place) for place in places])
    if any(place % 1 for place in places):
        upper = _at(ordered, [math.ceil(place) for place in places])
        operation = _interpolation(lower._dtype)
        weights = creation.asarray([place % 1 for place in places], dtype=operation.inputs[2], device=x._device)
        weights = weights._view((len(places),) + (1,) * (lower.ndim - 1), (1,) + (0,) * (lower.ndim - 1))
        lower = launch.elementwise(operation, (lower, upper, weights), empty(lower._shape, lower._dtype, x._device))
    found = launch.contiguous(_nan_where_one_is(lower, ordered))
    kept = tuple(1 if k in axes else size for k, size in enumerate(x._shape)) if keepdims else found._shape[1:]
    return reshape(found, (*shape, *kept))


def _fractions(function: str, q: Any, whole: float) -> tuple[tuple[int, ...], list[float]]:
    """The shape of q and its values, divided by `whole`."""
    shape: tuple[int, ...] = ()
    values = [q]
    if hasattr(q, "shape"):
        shape, values = tuple(q.shape), q.reshape(-1).tolist()
    elif isinstance(q, (list, tuple)):
        shape, values = (len(q),), list(q)
    for value in values:
        if not promotion.is_real_scalar(value) or not 0 <= value <= whole:
            raise ValueError(f"{function}: expected q from 0 to {whole:g}, got {value!r}.")
    return shape, [value / whole for value in values]


def _at(ordered: VkArray, places: Sequence[int]) -> VkArray:
    """The elements at places along the last dimension, which becomes the first."""
    if len(places) == 1:
        return ordered[..., places[0]][None]
    index = creation.asarray(list(places), dtype=default_dtype("int", ordered._device), device=ordered._device)
    return moveaxis(take(ordered, index, axis=-1), -1, 0)
