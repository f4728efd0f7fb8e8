"""Set functions of the standard. Equal elements are neighbours once sorted, and the first of each group stands for it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ..core import dtypes
from ..core.array import ArrayLike, VkArray, check_supported, default_dtype, empty
from ..core.dtypes import CATEGORIES, DType
from ..kernels.array_like import takes_lists
from ..kernels.compact import compress, nonzero
from ..kernels.conversion import cast
from ..kernels.planned import planned
from ..kernels.rows import ROWS, as_array, check_array, check_operands, common_dtype
from .creation import full
from .elementwise import minimum
from .indexing import setitem, take
from .manipulation import concat, reshape
from .searching import searchsorted
from .sorting import sorted_rows
from .statistical import cumulative_sum


class UniqueAll(NamedTuple):
    """The result of `unique_all`."""

    values: VkArray
    indices: VkArray
    inverse_indices: VkArray
    counts: VkArray


class UniqueCounts(NamedTuple):
    """The result of `unique_counts`."""

    values: VkArray
    counts: VkArray


class UniqueInverse(NamedTuple):
    """The result of `unique_inverse`."""

    values: VkArray
    inverse_indices: VkArray


class _Groups(NamedTuple):
    """The elements of an array sorted, the places in C order that they come from, and where a new value begins."""

    values: VkArray
    order: VkArray
    is_first: VkArray

    def numbers(self) -> VkArray:
        """For each element in C order, the number of its group."""
        numbers = cumulative_sum(cast(self.is_first, self.order._dtype)) - 1
        result = empty(numbers._shape, numbers._dtype, numbers._device)
        setitem(result, self.order, numbers, distinct=True)
        return result

    def starts(self) -> VkArray:
        """The place in sorted order of the first element of each group; waits for the device."""
        return nonzero(self.is_first)[0]

    def counts(self, starts: VkArray) -> VkArray:
        """The number of elements in each group."""
        size = full((1,), self.values.size, dtype=starts._dtype, device=starts._device)
        ends = concat([starts[1:], size]) if starts.size else starts
        return ends - starts


def _is_first(values: VkArray) -> VkArray:
    """Whether each of the sorted elements begins a group: NaN has a group of its own, -0 and +0 share one."""
    is_first = full(values._shape, True, dtype=dtypes.bool_, device=values._device)
    ROWS["not_equal"](values[1:], values[:-1], out=is_first[1:])
    return is_first


def _groups(function: str, x: VkArray) -> _Groups:
    values, places = sorted_rows(function, reshape(x, (-1,)), descending=False, indices=True)
    assert places is not None
    return _Groups(values, cast(places, default_dtype("int", x._device)), _is_first(values))


def _checked_groups(function: str, x: Any) -> _Groups:
    return _groups(function, check_array(function, x))


@takes_lists
def unique_all(x: ArrayLike, /) -> UniqueAll:
    """The distinct elements of x in ascending order, where each occurs first, which of them makes up x, and how often.

    Parameters: x (any dtype and shape; indices count its elements in C order).
    Returns a named tuple of arrays: values (1-dimensional, the dtype of x), indices (of first occurrences) and counts of
    the same length, and inverse_indices of the shape of x, so that take(values, inverse_indices) equals x; all but the
    values have the default integer dtype. Every NaN is distinct and has a count of 1; -0 equals +0, and the first of
    them in x is the value. Waits for the device, because the length depends on the values.
    Raises TypeError for what is not an array.
    Method: radix sort. Standard: set functions, `unique_all`.
    """
    groups = _checked_groups("unique_all", x)
    starts = groups.starts()
    return UniqueAll(
        take(groups.values, starts),
        take(groups.order, starts),
        reshape(groups.numbers(), x._shape),
        groups.counts(starts),
    )


@takes_lists
def unique_counts(x: ArrayLike, /) -> UniqueCounts:
    """The distinct elements of x in ascending order and how often each occurs.

    As `unique_all`, errors too, with the named tuple (values, counts). Standard: set functions, `unique_counts`.
    """
    groups = _checked_groups("unique_counts", x)
    starts = groups.starts()
    return UniqueCounts(take(groups.values, starts), groups.counts(starts))


@takes_lists
def unique_inverse(x: ArrayLike, /) -> UniqueInverse:
    """The distinct elements of x in ascending order and, in the shape of x, the place among them of each element.

    As `unique_all`, errors too, with the named tuple (values, inverse_indices). Standard: set functions, `unique_inverse`.
    """
    groups = _checked_groups("unique_inverse", x)
    return UniqueInverse(take(groups.values, groups.starts()), reshape(groups.numbers(), x._shape))


@takes_lists
def unique_values(x: ArrayLike, /) -> VkArray:
    """The distinct elements of x in ascending order, in one dimension.

    As `unique_all`, errors too, with the values alone. Standard: set functions, `unique_values`.
    """
    values, _ = sorted_rows("unique_values", reshape(check_array("unique_values", x), (-1,)), False, False)
    return compress(values, _is_first(values))


def _check_kind(kind: str | None, dtype: DType, operands: tuple[Any, Any]) -> None:
    """Raise ValueError for a method of `isin` that NumPy does not have, for the types or at all."""
    if kind not in (None, "sort", "table"):
        raise ValueError(f"isin: expected kind None, 'sort' or 'table', got {kind!r}.")
    whole = dtype.kind in "biu" or all(type(one) is VkArray and one._dtype.kind in "biu" for one in operands)
    if kind == "table" and not whole:
        raise ValueError(f"isin: kind='table' is for integers and bool, got {dtype}. Use None or 'sort'.")


@planned
def isin(
    element: ArrayLike, test_elements: ArrayLike, assume_unique: bool = False, invert: bool = False, *, kind: str | None = None
) -> VkArray:  # fmt: skip
    """Whether each element equals one of the test elements; whether it equals none of them with `invert`.

    Parameters: element, test_elements (arrays of any dtype and shape on one device, numbers or lists); invert; assume_unique and
    kind (None, "sort" or "table", which is for integers and bool) change nothing.
    Returns an array of bool of the shape of the first. NaN equals nothing, -0 equals +0, in the promoted dtype of both.
    Raises TypeError for other types, ValueError for different devices and another kind, OverflowError for a number outside the
    dtype.
    Method: binary search in the sorted test elements; for bool and complex numbers, groups of equal elements of both.
    Standard: set functions, `isin`.
    """
    like = check_operands("isin", (element, test_elements))
    dtype = common_dtype("isin", (element, test_elements))
    _check_kind(kind, dtype, (element, test_elements))
    check_supported(dtype, like._device, "isin", (element, test_elements))
    elements, wanted = (as_array("isin", operand, dtype, like) for operand in (element, test_elements))
    compare = ROWS["not_equal" if invert else "equal"]
    if wanted.size == 1:
        return compare(elements, reshape(wanted, ()))
    if dtype in CATEGORIES["real numeric"] and wanted.size:
        candidates, _ = sorted_rows("isin", reshape(wanted, (-1,)), descending=False, indices=False)
        places = minimum(searchsorted(candidates, elements), wanted.size - 1)
        return compare(take(candidates, places), elements)
    numbers = _groups("isin", concat([elements, wanted], axis=None)).numbers()
    count = math.prod(elements._shape)
    answers = full(numbers._shape, bool(invert), dtype=dtypes.bool_, device=like._device)
    answers[numbers[count:]] = not invert
    return reshape(take(answers, numbers[:count]), elements._shape)
