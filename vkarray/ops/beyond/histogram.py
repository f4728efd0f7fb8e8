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
from ...core.array import VkArray, default_dtype, empty, floating, is_supported
from ...core.dtypes import CATEGORIES, COMPLEX_OF, REAL_OF
from ...kernels import launch
from ...kernels.dispatch import pointer
from ...kernels.reductions import checked, partial_dtype, uses_shared_memory
from ...kernels.rows import cast, check_operands, common_dtype
from ...kernels.scan import Scan, scan_into
from ...shaders.source import Variant
from .. import creation, statistical
from ..elementwise import divide, equal, maximum, not_equal, subtract
from ..indexing import take
from ..manipulation import reshape
from ..searching import searchsorted, where
from ..sorting import argsort
from ..utility import all as all_true
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
        raise ValueError(f"{function}: expected weights of the shape of x, {x._shape}, got {got}.")
    return weights


# -- functions ------------------------------------------------------------------------------------------------------


def bincount(x: VkArray, /, weights: VkArray | None = None, *, minlength: int = 0) -> VkArray:
    """How often each integer from 0 to the largest occurs, or the sum of the weights of its occurrences.

    Parameters: x (integers of 0 or more, 1 dimension); weights (numeric, of the shape of x); minlength (of the result).
    Returns an array of max(largest + 1, minlength) elements of the default integer type; with weights of their floating-point
    type, float64 for integers. Waits for the device, because the length depends on the values.
    Raises ValueError for negative integers, another rank, a negative minlength or weights of another shape, TypeError for
    other types.
    Method: atomic additions of integers; weights are sorted by integer and summed in a fixed order.
    """
    checked("bincount", x, None)
    promotion.check_category("bincount", x._dtype, "integer")
    if x.ndim != 1:
        raise ValueError(f"bincount: expected an array of 1 dimension, got shape {x._shape}. Use x.ravel().")
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
    return _sums(places, bins, cast(weights, floating(weights)))


def histogram(
    x: VkArray, /, bins: Any = 10, range: Sequence[float] | None = None, weights: VkArray | None = None,
    density: bool = False,
) -> tuple[VkArray, VkArray]:  # fmt: skip
    """How many elements of x lie in each of several intervals.

    Parameters: x (real, of any shape); bins (a number of intervals of one width, or an array or list of their edges in
    ascending order); range (of a number of intervals: (lowest, highest), default those of x); weights (of the shape of x: the
    sum of the weights instead of the number); density (divide by the sum and by the widths, so that the integral is 1).
    Returns (counts, edges): counts of the default integer type, or the type of the weights, or with density that of the
    edges; edges one longer, of the dtype of x, for integers float64.
    The intervals contain their lower edges, the last one both; elements outside and NaN count nowhere. Waits for the device.
    Raises ValueError for edges that do not ascend, a range that is not finite, or weights of another shape, TypeError for
    other types.
    Method: binary search in the edges, then as `bincount`.
    """
    checked("histogram", x, None)
    promotion.check_category("histogram", x._dtype, "real")
    edges = _edges(x, bins, range)
    dtype = common_dtype("histogram", (x, edges))
    values, limits = cast(reshape(x, (-1,) if x.size else (0,)), dtype), cast(edges, dtype)
    count = edges.size - 1
    # Interval 0 is what lies below, and interval count + 1 what lies above; the last edge belongs to the interval before.
    found = searchsorted(limits, values, side="right")
    found = cast(where(equal(values, limits[-1]), count, found), dtypes.int32)
    if weights is None:
        counts = _counts(found, count + 2)[1:-1]
    else:
        weights = _checked_weights("histogram", x, weights)
        counts = _sums(found, count + 2, reshape(weights, values._shape))[1:-1]
    counts = launch.copy(counts)
    if density:
        wide = counts if counts._dtype in CATEGORIES["complex floating"] else cast(counts, edges._dtype)
        counts = divide(divide(wide, subtract(edges[1:], edges[:-1])), statistical.sum(wide))
    return counts, edges


def _edges(x: VkArray, bins: Any, range: Sequence[float] | None) -> VkArray:
    """The edges of the intervals."""
    dtype = partial_dtype(floating(x))
    if hasattr(bins, "__index__") and not isinstance(bins, (bool, VkArray)):
        number = bins.__index__()
        if number < 1:
            raise ValueError(f"histogram: expected 1 interval or more, got bins={bins}.")
        return creation.linspace(*_bounds(x, range), number + 1, dtype=dtype, device=x._device)
    if not isinstance(bins, (list, tuple, VkArray)):
        raise TypeError(f"histogram: expected bins as an integer, a list or an array of edges, got {bins!r}.")
    edges = bins if isinstance(bins, VkArray) else creation.asarray(bins, dtype=dtype, device=x._device)
    promotion.check_category("histogram", edges._dtype, "real numeric")
    if edges.ndim != 1 or edges.size < 2:
        raise ValueError(f"histogram: expected 2 edges or more in 1 dimension, got shape {edges._shape}.")
    if not all_true(edges[1:] >= edges[:-1]):
        raise ValueError("histogram: expected edges in ascending order.")
    return edges


def _bounds(x: VkArray, range: Sequence[float] | None) -> tuple[float, float]:
    """The lowest and the highest edge."""
    if range is not None:
        if not isinstance(range, (tuple, list)) or len(range) != 2:
            raise TypeError(f"histogram: expected range as a pair of numbers, got {range!r:.60}.")
        low, high = (promotion.as_float(bound, "histogram", "a bound of range") for bound in range)
    elif x.size == 0:
        low, high = 0.0, 1.0
    else:
        numbers = cast(x, dtypes.uint8) if x._dtype is dtypes.bool_ else x
        low, high = float(statistical.min(numbers)), float(statistical.max(numbers))
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise ValueError(
            f"histogram: expected a finite range in ascending order, got ({low}, {high}). Give range=(a, b)."
        )
    return (low, high) if low < high else (low - 0.5, high + 0.5)
