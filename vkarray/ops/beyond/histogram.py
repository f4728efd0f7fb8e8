"""Counting: histograms and occurrences of integers.

Counts are sums of integers, in any order the same. Weights are sorted by bin and summed bin by bin in a fixed order: a scan of
pairs (sum, whether a bin begins here), so that the result is the same in every run and on every device.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...core import dtypes, layout, promotion
from ...core.array import ArrayLike, StrongLike, VkArray, available, default_dtype, empty, floating, is_supported
from ...core.dtypes import CATEGORIES, COMPLEX_OF, REAL_OF
from ...core.operators import is_sequence
from ...kernels import launch
from ...kernels.array_like import takes_lists
from ...kernels.conversion import cast
from ...kernels.dispatch import pointer
from ...kernels.launch import uses_shared_memory
from ...kernels.overriding import or_own_array
from ...kernels.reductions import checked, partial_dtype
from ...kernels.rows import check_array, check_operands, common_dtype
from ...kernels.scan import Scan, scan_into
from ...shaders.source import Variant
from .. import creation, data_type, statistical
from ..elementwise import add, divide, equal, maximum, multiply, not_equal, subtract
from ..indexing import take
from ..manipulation import reshape, stack
from ..searching import searchsorted, where
from ..sorting import argsort
from ..utility import all as all_true
from . import bin_rules
from .ndarray import imag_view, real_view

if TYPE_CHECKING:
    from ...kernels.launch import Device

_SHARED_BINS = 2048  # 8 KiB
_PER_INVOCATION = 32
_LARGEST = 2**30 - 2  # counts of 32 bits in 4 GiB, as far as an index reaches

# (sum since the bin began, whether one begins in the elements joined) as a complex number.
_SUMS_OF_BINS = Scan("sums of bins", {"else": "b.y != REAL(0) ? b : T(a.x + b.x, a.y)"}, "0")


@functools.cache
def _variant(shared: bool) -> Variant:
    defines = (("SHARED", "1"), ("SHARED_BINS", str(_SHARED_BINS))) if shared else ()
    return Variant("index/bincount", defines, f"bincount{' shared' if shared else ''}")


def variants(device: Device) -> Iterator[Variant]:
    """The shaders of all types, for the archive."""
    for shared in (False, True):
        yield _variant(shared)
        for dtype in (dtypes.complex64, dtypes.complex128):
            if is_supported(dtype, device):
                yield _SUMS_OF_BINS.variant(device, dtype, dtype, shared)


# -- counts and sums ------------------------------------------------------------------------------------------------


def _counts(places: VkArray, bins: int) -> VkArray:
    """How often each place below `bins` occurs, in the default integer type; `places` is contiguous int32, all in range."""
    device = places._device
    shared = bins <= _SHARED_BINS and uses_shared_memory(device)
    total = None
    for first in range(0, max(places.size, 1), layout.INDEX_LIMIT):
        count = min(places.size - first, layout.INDEX_LIMIT)
        counts = creation.zeros((bins,), dtype=dtypes.uint32, device=device)
        if count and bins:
            fields = {"places": pointer(places, first), "counts": counts, "count": count, "bins": bins}
            groups = launch.groups_for(-(-count // _PER_INVOCATION), device.limits)
            launch.dispatch(_variant(shared), device, groups, fields, writes=("counts",))
        part = cast(counts, default_dtype("int", device))
        total = part if total is None else total + part
    assert total is not None
    return total


def _sums(places: VkArray, bins: int, weights: VkArray) -> VkArray:
    """The sum of the weights at each place below `bins`, in their dtype (integers in that of `vkarray.sum`)."""
    device, dtype = places._device, weights._dtype
    if dtype in REAL_OF:
        result = empty((bins,), dtype, device)
        for part in (real_view, imag_view):
            part(result)[...] = _sums(places, bins, part(weights))
        return result
    order = argsort(places)
    places, weights = take(places, order), take(weights, order)
    numbers = creation.arange(bins + 1, dtype=dtypes.int32, device=device)
    bounds = searchsorted(places, numbers)
    starts, ends = bounds[:-1], bounds[1:]
    if dtype not in CATEGORIES["real floating"]:  # differences of running sums are exact, modulo 2**bits
        running = statistical.cumulative_sum(weights, include_initial=True)
        return subtract(take(running, ends), take(running, starts))
    wide = partial_dtype(dtype)
    pairs = creation.zeros(weights._shape, dtype=COMPLEX_OF[wide], device=device)
    real_view(pairs)[...] = weights
    if weights.size:
        imag_view(pairs)[0] = 1
        imag_view(pairs)[1:] = cast(not_equal(places[1:], places[:-1]), wide)
    scanned = empty(pairs._shape, pairs._dtype, device)
    scan_into(_SUMS_OF_BINS, pairs, 0, scanned)
    if not weights.size:
        return creation.zeros((bins,), dtype=dtype, device=device)
    sums = take(launch.contiguous(real_view(scanned)), maximum(ends - 1, 0))
    return cast(where(starts < ends, sums, 0.0), dtype)


def _checked_weights(function: str, x: VkArray, weights: Any) -> VkArray:
    check_operands(function, (x, weights))
    if type(weights) is not VkArray or weights._shape != x._shape:
        got = weights._shape if type(weights) is VkArray else f"the scalar {weights!r}"
        raise ValueError(f"{function}: weights should have the same shape as x, {x._shape}, got {got}.")
    return weights


# -- functions ------------------------------------------------------------------------------------------------------


@takes_lists
def bincount(x: ArrayLike, /, weights: ArrayLike | None = None, minlength: int = 0) -> VkArray:
    """How often each integer from 0 to the largest occurs, or the sum of the weights of its occurrences.

    Parameters: x (integers of 0 or more, 1 dimension); weights (numeric, of the shape of x); minlength (of the result).
    Returns an array of max(largest + 1, minlength) elements of the default integer type; with weights of their floating-point
    type, float64 for integers and where that is the default type.
    Waits for the device, because the length depends on the values.
    Raises ValueError for negative integers, another rank, a negative minlength or weights of another shape, TypeError for
    other types.
    Method: atomic additions of integers; weights are sorted by integer and summed in a fixed order.
    """
    checked("bincount", x, None)
    if x.ndim != 1:
        raise ValueError(f"bincount: expected an array of 1 dimension, got shape {x._shape}. Use x.ravel().")
    x = cast(x, dtypes.uint8) if x._dtype is dtypes.bool_ or not x.size else x
    promotion.check_category("bincount", x._dtype, "integer")
    bins = minlength = layout.as_integer(minlength, "bincount", "minlength")
    if minlength < 0:
        raise ValueError(f"bincount: expected minlength of 0 or more, got {minlength}.")
    if x.size:
        low, high = int(statistical.min(x)), int(statistical.max(x))
        if low < 0 or high > _LARGEST:
            raise ValueError(f"bincount: expected integers from 0 to {_LARGEST}, got {low if low < 0 else high}.")
        bins = max(high + 1, minlength)
    places = launch.contiguous(cast(x, dtypes.int32))
    if weights is None:
        return _counts(places, bins)
    weights = _checked_weights("bincount", x, weights)
    dtype = floating(weights)
    if dtypes.default_floating() is dtypes.float64:
        dtype = available(promotion.promote(dtype, dtypes.float64), x._device)
    return _sums(places, bins, cast(weights, dtype))


@takes_lists
def histogram(
    x: StrongLike, /, bins: Any = 10, range: Sequence[float] | None = None, density: bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[VkArray, VkArray]:  # fmt: skip
    """How many elements of x lie in each of several intervals.

    Parameters: x (real, of any shape); bins (a number of intervals of one width, an array or list of their edges in ascending
    order,
    or the name of a rule, see `histogram_bin_edges`); range (of a number of intervals: (lowest, highest), default those of x);
    density (divide by the sum and by the widths, so that the integral is 1); weights (of the shape of x: the sum of the weights
    instead of the number).
    Returns (counts, edges): counts of the default integer type, or the type of the weights, or with density of a floating-point
    type; edges one longer, of the dtype of x and of arrays in range, for integers float64, for types of 16 bits, in which edges
    would meet, float32.
    The intervals contain their lower edges, the last one both; elements outside and NaN count nowhere. Waits for the device.
    Raises ValueError for edges that do not ascend, a range that is not finite, or weights of another shape, TypeError for
    other types.
    Method: binary search in the edges, then as `bincount`.
    """
    edges = histogram_bin_edges(x, bins, range, weights)
    count = edges.size - 1
    found = _places_among(x, edges)
    if weights is None:
        counts = _counts(found, count + 2)[1:-1]
    else:
        counts = _sums(found, count + 2, reshape(weights, found._shape))[1:-1]
    counts = launch.copy(counts)
    if density:
        wide = available(promotion.promote(counts._dtype, dtypes.float64), x._device)
        counts = counts if wide.bits < 64 else cast(counts, wide)
        counts = divide(divide(counts, subtract(edges[1:], edges[:-1])), statistical.sum(counts))
    return counts, edges


def _places_among(x: VkArray, edges: VkArray) -> VkArray:
    """The number of the interval of each element of the flattened x: int32, 0 below all of them, one more than there are above."""
    dtype = common_dtype("histogram", (x, edges))
    dtype = dtypes.uint8 if dtype is dtypes.bool_ else dtype
    values, limits = cast(reshape(x, (x.size,)), dtype), cast(edges, dtype)
    # The last edge belongs to the interval before.
    found = searchsorted(limits, values, side="right")
    return cast(where(equal(values, limits[-1]), edges.size - 1, found), dtypes.int32)


@takes_lists
def histogram_bin_edges(
    x: StrongLike, /, bins: Any = 10, range: Sequence[float] | None = None, weights: ArrayLike | None = None
) -> VkArray:  # fmt: skip
    """The edges of the intervals that `histogram` takes.

    Parameters: x (real); bins (as in `histogram`, or a rule that finds their number: "auto", "fd", "doane", "scott", "stone",
    "rice", "sturges" or "sqrt"); range (of the intervals); weights (rules take none).
    Returns an array of the dtype of x, for integers float64. Waits for the device. Raises as `histogram`.
    """
    checked("histogram", x, None)
    promotion.check_category("histogram", x._dtype, "real")
    if weights is not None:
        _checked_weights("histogram", x, weights)
    if isinstance(bins, str):
        if weights is not None:
            raise TypeError(f"histogram: the rule {bins!r} takes no weights. Give a number of bins.")
        bins = bin_rules.number_of_bins(x, bins, _bounds(x, range), range is not None)
    if _is_number(bins):
        number = bins.__index__()
        if number < 1:
            raise ValueError(f"histogram: expected 1 interval or more, got bins={bins}.")
        low, high = _bounds(x, range)
        given: tuple[Any, ...] = (range,) if type(range) is VkArray else tuple(range or ())
        bounds = [floating(one) for one in given if type(one) is VkArray]  # whose types count
        dtype = promotion.promote_all([partial_dtype(floating(x)), *bounds])
        edges = creation.linspace(low, high, number + 1, dtype=dtype, device=x._device)
        near = (high - low) / number < 4 * data_type.finfo(edges._dtype).eps * max(abs(low), abs(high))
        if near and not all_true(edges[:-1] < edges[1:]):
            raise ValueError(
                f"histogram: Too many bins for data range: {edges._dtype} has no {number} intervals of a width from {low!r} to "
                f"{high!r}. Take fewer bins, or a wider range."
            )
        return edges
    bins = or_own_array(bins)
    if type(bins) is not VkArray and not is_sequence(bins):
        raise TypeError(f"histogram: expected bins as an integer, a rule, a list or an array of edges, got {bins!r}.")
    edges = bins if isinstance(bins, VkArray) else creation.asarray(bins, device=x._device)
    promotion.check_category("histogram", edges._dtype, "real numeric")
    if edges.ndim != 1:
        raise ValueError(f"histogram: edges must be 1d, of 1 dimension, got shape {edges._shape}.")
    if not all_true(edges[1:] >= edges[:-1]):
        raise ValueError("histogram: expected edges in ascending order.")
    return edges


def _is_number(bins: Any) -> bool:
    """Whether bins are given by their number."""
    return hasattr(bins, "__index__") and not isinstance(bins, bool) and getattr(bins, "ndim", 0) == 0


def _bounds(x: VkArray, range: Sequence[float] | None) -> tuple[float, float]:
    """The lowest and the highest edge."""
    if range is not None:
        if not isinstance(range, (tuple, list, VkArray)):
            raise TypeError(f"histogram: expected range as a pair of numbers, got {range!r:.60}.")
        bounds = tuple(range.tolist() if isinstance(range, VkArray) else range)
        if len(bounds) != 2:
            raise ValueError(f"histogram: expected range as a pair of numbers, got {range!r:.60}.")
        low, high = (promotion.as_float(bound, "histogram", "a bound of range") for bound in bounds)
    elif x.size == 0:
        low, high = 0.0, 1.0
    else:
        numbers = cast(x, dtypes.uint8) if x._dtype is dtypes.bool_ else x
        low, high = float(statistical.min(numbers)), float(statistical.max(numbers))
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise ValueError(
            f"histogram: max must be larger than min in a range, and both finite, got ({low}, {high}). Give range=(a, b)."
        )
    return (low, high) if low < high else (low - 0.5, high + 0.5)


# -- several dimensions ---------------------------------------------------------------------------------------------


@takes_lists
def histogramdd(
    sample: Any, bins: Any = 10, range: Sequence[Any] | None = None, density: bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[VkArray, list[VkArray]]:  # fmt: skip
    """How many points lie in each cell of a grid.

    Parameters: sample (real, of shape (N, D), or a list of D rows of coordinates); bins (a number, or for each
    dimension a number or edges); range (for each dimension (lowest, highest), or None); density (divide by the sum and by the
    volumes of the cells); weights (of the N points).
    Returns (an array of D dimensions of a floating-point type, a list of their edges). Waits for the device.
    Raises ValueError for other numbers of bins or ranges, and as `histogram`. Method: as `histogram`, by the number of the cell.
    """
    rows = isinstance(sample, (list, tuple))
    points = check_array("histogramdd", creation.asarray(sample) if rows else sample)
    points = points.T if rows and points.ndim == 2 else points
    points = points if points.ndim == 2 else reshape(points, (points.size, 1))
    dimensions = points._shape[1]
    each = [bins] * dimensions if _is_number(bins) else list(bins)
    ranges = [None] * dimensions if range is None else list(range)
    if len(each) != dimensions or len(ranges) != dimensions:
        raise ValueError(
            f"histogramdd: expected bins and ranges for {dimensions} dimensions, got {len(each)} and {len(ranges)}."
        )
    columns = [points[..., place] for place, _ in enumerate(each)]
    edges = [histogram_bin_edges(*own) for own in zip(columns, each, ranges, strict=True)]
    shape = tuple(one.size + 1 for one in edges)
    if math.prod(shape) > _LARGEST:
        raise ValueError(f"histogramdd: expected up to {_LARGEST} cells, got {math.prod(shape)}.")
    cells = creation.zeros((points._shape[0],), dtype=dtypes.int32, device=points._device)
    for column, own, step in zip(columns, edges, layout.contiguous_strides(shape), strict=True):
        cells = add(cells, multiply(_places_among(column, own), step))
    cells = launch.contiguous(cells)
    real = available(dtypes.float64, points._device)
    real = dtypes.float64 if promotion.is_double([points._dtype]) else real
    if weights is None:
        counts = cast(_counts(cells, math.prod(shape)), real)
    else:
        weights = _checked_weights("histogramdd", cells, weights)
        counts = _sums(cells, math.prod(shape), weights if weights._dtype.kind == "c" else cast(weights, real))
    counts = launch.copy(reshape(counts, shape)[(slice(1, -1),) * dimensions])
    if density:
        total = statistical.sum(counts)
        for place, own in enumerate(edges):
            widths = [1] * dimensions
            widths[place] = own.size - 1
            counts = divide(counts, reshape(subtract(own[1:], own[:-1]), tuple(widths)))
        counts = divide(counts, total)
    return counts, edges


@takes_lists
def histogram2d(
    x: ArrayLike, y: ArrayLike, bins: Any = 10, range: Sequence[Any] | None = None, density: bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[VkArray, VkArray, VkArray]:  # fmt: skip
    """How many points (x, y) lie in each rectangle of a grid.

    Parameters: x, y (real, 1 dimension, of one length); bins (a number, edges for both, or a pair of these); range, density and
    weights as in `histogramdd`. Returns (an array of shape (bins of x, bins of y), edges of x, edges of y). Errors as there.
    """
    if check_array("histogram2d", x)._shape != check_array("histogram2d", y)._shape:
        raise ValueError(f"histogram2d: x and y must have the same length. Their shapes are {x._shape} and {y._shape}.")
    pair = bins if _is_number(bins) or len(bins) == 2 else [bins, bins]
    counts, (first, second) = histogramdd(stack((x, y), axis=1), pair, range, density, weights)
    return counts, first, second
