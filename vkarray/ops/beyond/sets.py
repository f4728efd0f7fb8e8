"""Sets, with NumPy's names and options: `unique`, `union1d`, `intersect1d` and others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...core import dtypes, layout
from ...core.array import ArrayLike, VkArray, default_dtype
from ...kernels.array_like import takes_lists
from ...kernels.compact import compress, coordinates
from ...kernels.conversion import cast
from ...kernels.rows import check_array
from .. import creation
from .. import set as standard
from ..elementwise import equal, isnan, logical_and, logical_not, logical_or, not_equal
from ..indexing import take, take_along_axis
from ..manipulation import concat, moveaxis, reshape
from ..sorting import argsort, sort
from ..statistical import cumulative_sum
from .arguments import arrays_of
from .ordering import lexsort
from .placing import put_along_axis


class Groups(NamedTuple):
    """Equal elements that stand side by side once sorted: the places they come from, and where a new value begins."""

    order: VkArray
    is_first: VkArray

    def numbers(self) -> VkArray:
        """For each element in its own place, the number of its group; of rows, along the last axis."""
        numbers = cumulative_sum(cast(self.is_first, self.order._dtype), axis=-1) - 1
        result = creation.empty_like(numbers)
        put_along_axis(result, self.order, numbers, -1)
        return result


def _begins(values: VkArray) -> VkArray:
    """Whether each of the sorted elements along the last axis begins a group; every NaN does."""
    is_first = creation.full(values._shape, True, dtype=dtypes.bool_, device=values._device)
    if values._shape[-1] > 1:
        is_first[..., 1:] = not_equal(values[..., 1:], values[..., :-1])
    return is_first


def _begins_with_equal_nans(values: VkArray) -> VkArray:
    """`_begins`, where all NaN are one group."""
    is_first = _begins(values)
    if values._dtype.kind in "fc" and values.size > 1:
        is_nan = isnan(values)
        is_first[..., 1:] = logical_and(is_first[..., 1:], logical_not(logical_and(is_nan[..., 1:], is_nan[..., :-1])))
    return is_first


def _grouped_rows(rows: VkArray) -> Groups:
    """The rows of a matrix in groups of equal ones, sorted by their first elements, then by the second, and so on.

    The method: each column is sorted, and its elements become the numbers of their groups. Then two columns after the other
    become one in the same way, of pairs of numbers, until a single column is left.
    """
    count, length = rows._shape
    if length == 0:
        index = default_dtype("int", rows._device)
        first = equal(creation.arange(count, dtype=index, device=rows._device), 0)
        return Groups(creation.arange(count, dtype=index, device=rows._device), first)
    columns = moveaxis(rows, 0, 1)
    order = argsort(columns, axis=-1)
    groups = Groups(order, _begins(take_along_axis(columns, order, axis=-1)))
    while groups.order._shape[0] > 1:
        numbers = groups.numbers()
        single, pairs = numbers[: length % 2], numbers[length % 2 :]
        # Of an odd number of columns the first one, which counts most, becomes a pair with itself.
        first, second = (concat([single, pairs[k::2]], axis=0) for k in (0, 1))
        order = lexsort((second, first), axis=-1)
        sorted_pairs = [take_along_axis(one, order, axis=-1) for one in (first, second)]
        groups = Groups(order, logical_or(*map(_begins, sorted_pairs)))
        length = order._shape[0]
    return Groups(groups.order[0], groups.is_first[0])


def _unique(
    values: VkArray, groups: Groups, inverse_shape: tuple[int, ...], index: bool, inverse: bool, counts: bool
) -> Any:
    """The results of `unique`, out of the elements (or rows) in sorted order and their groups."""
    starts = coordinates(groups.is_first)[0]
    results = [take(values, starts, axis=0)]
    if index:
        results.append(take(groups.order, starts, axis=0))
    if inverse:
        results.append(reshape(groups.numbers(), inverse_shape))
    if counts:
        end = creation.full((1,), groups.order.size, dtype=starts._dtype, device=starts._device)
        results.append(concat([starts[1:], end], axis=0) - starts if starts.size else starts)
    return tuple(results) if len(results) > 1 else results[0]


def _distinct(flat: VkArray, begins: Callable[[VkArray], VkArray] = _begins_with_equal_nans) -> VkArray:
    """The distinct elements of an array of 1 dimension in ascending order."""
    values = sort(flat, axis=-1)
    return compress(values, begins(values))


@takes_lists
def unique(
    ar: ArrayLike, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
    axis: int | None = None, *, equal_nan: bool = True, sorted: bool = True,
) -> VkArray | tuple[VkArray, ...]:  # fmt: skip
    """The distinct elements of an array in ascending order; or its distinct slices along an axis.

    Parameters: ar; return_index (where each occurs first), return_inverse (which of them makes up each element),
    return_counts (how often each occurs): further results; axis (None: of the flattened array); equal_nan (all NaN are one
    element, of the flattened array); sorted (they are, whatever it says).
    Returns an array, or a tuple of arrays, all but the first of the default integer type; the inverse has the shape of ar,
    or with an axis 1 dimension. Waits for the device, for their number. Raises IndexError for an axis out of range.
    Method: radix sort. Slices are sorted column by column, and two columns at a time become one.
    """
    check_array("unique", ar)
    options = (return_index, return_inverse, return_counts)
    if axis is None or ar.ndim == 1:
        layout.normalize_axes(axis, ar.ndim, "unique")
        flat = reshape(ar, (-1,))
        begins = _begins_with_equal_nans if equal_nan else _begins
        if not any(options):
            return _distinct(flat, begins)
        order = argsort(flat, axis=-1)
        values = take(flat, order, axis=0)
        return _unique(values, Groups(order, begins(values)), ar._shape, *options)
    axis = layout.normalize_axis(axis, ar.ndim, "unique")
    moved = moveaxis(ar, axis, 0)
    slices = moved._shape[1:]
    rows = reshape(moved, (moved._shape[0], -1 if moved.size else int(0 not in slices)))
    groups = _grouped_rows(rows)
    found = _unique(take(rows, groups.order, axis=0), groups, (moved._shape[0],), *options)
    values, *others = found if isinstance(found, tuple) else (found,)
    values = moveaxis(reshape(values, (values._shape[0], *slices)), 0, axis)
    return (values, *others) if others else values


# -- sets of elements -------------------------------------------------------------------------------------------


def _flat(function: str, *arrays: Any) -> list[VkArray]:
    return [reshape(x, (-1,)) for x in arrays_of(function, arrays)]


@takes_lists
def union1d(ar1: ArrayLike, ar2: ArrayLike) -> VkArray:
    """The distinct elements of both arrays in ascending order, as `unique` has them.

    Waits for the device, for their number. Raises ValueError for arrays of different devices.
    """
    return _distinct(concat(_flat("union1d", ar1, ar2), axis=0))


@takes_lists
def intersect1d(
    ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, return_indices: bool = False
) -> VkArray | tuple[VkArray, VkArray, VkArray]:
    """The elements that occur in both arrays, in ascending order.

    Parameters: ar1, ar2; assume_unique (no element occurs twice in one of them); return_indices (where each occurs first in
    ar1 and in ar2: two more results). Waits for the device, for their number. Raises ValueError for arrays of different
    devices.
    """
    first, second = _flat("intersect1d", ar1, ar2)
    places: list[VkArray] = []
    if not assume_unique:
        found: list[Any] = [unique(x, return_index=True) for x in (first, second)]
        (first, *_), (second, *_) = found
        places = [own for _, own in found]
    both = concat([first, second], axis=0)
    order = argsort(both, axis=-1)
    values = take(both, order, axis=0)
    (starts,) = coordinates(equal(values[:-1], values[1:])) if values.size else (order,)
    result = take(values, starts, axis=0)
    if not return_indices:
        return result
    indices = [take(order, starts, axis=0), take(order, starts + 1, axis=0) - first.size]
    if places:
        indices = [take(own, one, axis=0) for own, one in zip(places, indices, strict=True)]
    return result, indices[0], indices[1]


@takes_lists
def setdiff1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> VkArray:
    """The elements of the first array that do not occur in the second: distinct ones in ascending order, unless `assume_unique`.

    Waits for the device, for their number. Raises ValueError for arrays of different devices.
    """
    first, second = _flat("setdiff1d", ar1, ar2)
    if not assume_unique:
        first, second = _distinct(first), _distinct(second)
    return compress(first, standard.isin(first, second, invert=True))


@takes_lists
def setxor1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> VkArray:
    """The elements that occur in one of both arrays alone, in ascending order.

    Parameters: ar1, ar2; assume_unique (no element occurs twice in one of them). Waits for the device, for their number.
    Raises ValueError for arrays of different devices.
    """
    arrays = _flat("setxor1d", ar1, ar2)
    values = sort(concat(arrays if assume_unique else [_distinct(x) for x in arrays], axis=0), axis=-1)
    if values.size == 0:
        return values
    begins = _begins(values)
    return compress(values, logical_and(begins, concat([begins[1:], begins[:1]], axis=0)))
