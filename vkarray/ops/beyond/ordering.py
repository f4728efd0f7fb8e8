"""Sorting by several keys, partitions and bins, with NumPy's names."""

from __future__ import annotations

from typing import Any

from ...core import dtypes, layout
from ...core.array import ArrayLike, VkArray, available, default_dtype, operations
from ...core.promotion import check_category
from ...kernels.array_like import takes_lists
from ...kernels.conversion import cast
from ...kernels.planned import planned, tracer
from .. import creation
from ..elementwise import subtract
from ..indexing import take_along_axis
from ..manipulation import flip
from ..searching import searchsorted, where
from ..sorting import argsort, sort
from ..utility import refuse_where
from .arguments import arrays_of, flattened, with_dimension

_SHORT = (dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16)  # integers whose complex type is the short one


@planned
def lexsort(keys: Any, axis: int = -1) -> VkArray:
    """The places along an axis of elements sorted by several keys: by the last one, equal ones by the one before, and so on.

    Parameters: keys (a sequence of arrays of one shape, or an array, whose first dimension counts the keys); axis. The
    order of each is that of `sort`; what is equal in all keys keeps its order.
    Returns an array of the default integer type. Raises TypeError for no keys, ValueError for different shapes, IndexError
    for an axis out of range.
    Method: one stable sort for each key.
    """
    if not isinstance(keys, (list, tuple, VkArray)) or len(keys) == 0:
        raise TypeError("lexsort: expected a sequence of at least one key.")
    arrays = arrays_of("lexsort", list(keys))
    first = arrays[0]
    if any(key._shape != first._shape for key in arrays):
        raise ValueError(f"lexsort: expected keys of one shape, got {', '.join(str(key._shape) for key in arrays)}.")
    if first.ndim == 0:
        layout.normalize_axis(axis, 1, "lexsort")
        return creation.zeros((), dtype=default_dtype("int", first._device), device=first._device)
    axis = layout.normalize_axis(axis, first.ndim, "lexsort")
    order = argsort(first, axis=axis)
    for key in arrays[1:]:
        order = take_along_axis(order, argsort(take_along_axis(key, order, axis=axis), axis=axis), axis=axis)
    return order


@planned
def sort_complex(a: ArrayLike) -> VkArray:
    """The elements sorted along the last axis, by real and then by imaginary parts, as complex numbers.

    Returns an array of complex64 for integers of up to 16 bits, otherwise of complex128, or of complex64 where float32 is
    the default floating type and the elements are no float64. Raises IndexError for 0 dimensions.
    """
    values = sort(a, axis=-1)
    if values._dtype.kind == "c":
        return values
    wide = dtypes.complex128 if values._dtype is dtypes.float64 else available(dtypes.complex128, a._device)
    return cast(values, dtypes.complex64 if values._dtype in _SHORT else wide)


def _partitioned(function: str, a: VkArray, kth: Any, axis: int | None) -> tuple[VkArray, int]:
    """The array and the axis to be sorted. Raises TypeError for a kth that is no integer, ValueError for one out of range."""
    x, axis = flattened(a, axis, function)
    length = x._shape[axis]
    for place in layout.as_integers(kth, function, "kth"):
        if x.size and not -length <= place < length:
            raise ValueError(f"{function}: kth of {place} is out of bounds for an axis of length {length}.")
    return x, axis


@planned
def partition(a: ArrayLike, kth: Any, axis: int | None = -1, kind: str = "introselect", order: None = None) -> VkArray:
    """The elements so far sorted along an axis that the kth is where it would be, smaller ones before it and larger ones after.

    Parameters: a; kth (an integer or several); axis (None: of the flattened array); kind and order change nothing. They are
    sorted wholly.
    Raises TypeError for a kth that is no integer, ValueError for one out of range, IndexError for an axis out of range.
    """
    x, axis = _partitioned("partition", a, kth, axis)
    return sort(x, axis=axis)


@planned
def argpartition(
    a: ArrayLike, kth: Any, axis: int | None = -1, kind: str = "introselect", order: None = None
) -> VkArray:
    """The places along an axis of the elements in the order of `partition`, whose parameters and errors it has."""
    x, axis = _partitioned("argpartition", with_dimension(a), kth, axis)
    return argsort(x, axis=axis)


@takes_lists
def digitize(x: ArrayLike, bins: ArrayLike, right: bool = False) -> VkArray:
    """The numbers of the bins that elements belong to: i where bins[i - 1] <= x < bins[i], or bins[i - 1] > x >= bins[i].

    Below the first bin that is 0, beyond the last one the number of bins.

    Parameters: x (real numeric); bins (real numeric, of 1 dimension, all ascending or all descending); right (the right
    edge belongs to a bin in place of the left one). Returns an array of the default integer type and the shape of x. Waits
    for the device, to look at the bins.
    Raises TypeError for complex numbers, ValueError for bins of another rank or that are in no order.
    """
    x, bins = arrays_of("digitize", (x, bins))
    for one in (x, bins):
        check_category("digitize", one._dtype, "real")
    if bins.ndim != 1:
        raise ValueError(f"digitize: expected bins of 1 dimension, got shape {bins._shape}.")
    x, bins = (cast(one, dtypes.int8) if one._dtype is dtypes.bool_ else one for one in (x, bins))
    before, after = bins[:-1], bins[1:]
    side = "left" if right else "right"
    if tracer() is not None:
        up, down = (operations["any"](operations[name](before, after)) for name in ("less", "greater"))
        refuse_where(ValueError, "digitize: expected ascending or descending bins; these are neither.", up & down)
        downwards = subtract(bins.size, searchsorted(flip(bins, axis=0), x, side=side))
        return where(down, downwards, searchsorted(bins, x, side=side))
    if not bool(operations["any"](operations["greater"](before, after))):
        return searchsorted(bins, x, side=side)
    if bool(operations["any"](operations["less"](before, after))):
        raise ValueError("digitize: expected ascending or descending bins; these are neither.")
    return subtract(bins.size, searchsorted(flip(bins, axis=0), x, side=side))


operations.update(argpartition=argpartition, partition=partition)
