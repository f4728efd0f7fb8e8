"""The triangles of matrices."""

from __future__ import annotations

import functools
from typing import Any

from ...core import dtypes, layout
from ...core.array import ArrayLike, VkArray
from ...core.array import empty as _empty
from ...core.dtypes import DType
from ...kernels import launch
from ...kernels.planned import kept, planned
from ...kernels.rows import check_array
from .ranges import arithmetic_progression


# Bits are kept or cleared, never computed with: 0 * inf is NaN.
@functools.cache
def triangle(dtype: DType, upper: bool) -> launch.Operation:
    """The element a where column c - row b is on the right side, else zero."""
    zero = f"{'T(0)' if dtype is not dtypes.bool_ else 'false'}"
    order = ">=" if upper else "<="
    name = "triu" if upper else "tril"
    return launch.Operation(
        f"{name} {dtype}", f"c {order} b ? a : {zero}", (dtype, dtypes.int32, dtypes.int32), dtype, dtype
    )


_KEPT_INTEGERS = 1 << 14  # how many at most: the indices of rows and columns of most matrices


def _integers(first: int, count: int, device: Any) -> VkArray:
    return arithmetic_progression(first, 1, count, dtypes.int32, device)


_kept_integers = kept(64)(_integers)


def _triangular(x: VkArray, k: int, upper: bool) -> VkArray:
    name = "triu" if upper else "tril"
    check_array(name, x)
    if x.ndim == 0:
        raise ValueError(f"{name}: expected at least 1 dimension, got shape ().")
    if x.ndim == 1:
        x = x._view((x.size, x.size), (0, x._strides[0]))
    rows, columns = x.shape[-2:]
    # The threshold of a row is row + k, kept within what 32 bits hold.
    bound = max(min(layout.as_integer(k, name, "k"), columns), -rows)
    first, last = min(bound, 0), max(bound + rows, columns)
    make = _kept_integers if last - first <= _KEPT_INTEGERS else _integers
    integers = make(first, last - first, x._device)
    starts = integers._view((rows, 1), (1, 0), bound - first)
    numbers = integers._view((columns,), (1,), -first)
    return launch.elementwise(triangle(x._dtype, upper), (x, starts, numbers), _empty(x.shape, x._dtype, x._device))


@planned
def tril(x: ArrayLike, /, k: int = 0) -> VkArray:
    """The elements on and below diagonal k of each matrix, zeros above; a vector is each row of one.

    Raises ValueError for no dimensions, TypeError for a k that is no integer.

    Standard: creation functions, `tril`.
    """
    return _triangular(x, k, upper=False)


@planned
def triu(x: ArrayLike, /, k: int = 0) -> VkArray:
    """The elements on and above diagonal k of each matrix, zeros below; a vector is each row of one.

    Raises ValueError for no dimensions, TypeError for a k that is no integer.

    Standard: creation functions, `triu`.
    """
    return _triangular(x, k, upper=True)
