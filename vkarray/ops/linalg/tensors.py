"""Equations of tensors, and products of several matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...core import layout
from ...core.array import ArrayLike, StrongLike, VkArray, operations
from ...errors import LinAlgError
from ...kernels.array_like import takes_lists
from ...kernels.planned import planned
from ...kernels.rows import check_array
from ..linear_algebra import matmul
from ..manipulation import moveaxis, reshape
from .lu import inv, solve


@takes_lists
def tensorsolve(a: StrongLike, b: StrongLike, axes: Sequence[int] | None = None) -> VkArray:
    """The tensor x with tensordot(a, x, x.ndim) = b.

    Parameters: a (numeric) of shape b.shape + Q with as many elements in Q as in b; b; axes (of a, which are moved to the end
    first). Returns an array of shape Q. Raises LinAlgError for other shapes and a singular a. Method: as `solve`.
    """
    check_array("tensorsolve", a), check_array("tensorsolve", b)
    if axes is not None:
        named = layout.normalize_axes(tuple(axes), a.ndim, "tensorsolve")
        a = moveaxis(a, named, tuple(range(a.ndim - len(named), a.ndim)))
    unknown = a._shape[b.ndim :]
    if math.prod(a._shape[: b.ndim]) != b.size or math.prod(unknown) != b.size:
        raise LinAlgError(f"tensorsolve: expected a of shape b.shape + Q with {b.size} elements in Q, got {a._shape}.")
    return reshape(solve(reshape(a, (b.size, b.size)), reshape(b, (b.size,))), unknown)


@takes_lists
def tensorinv(a: ArrayLike, ind: int = 2) -> VkArray:
    """The tensor whose `tensordot` with a over `ind` dimensions is the identity.

    Parameters: a (numeric), whose first `ind` dimensions have as many elements as the others; ind (1 or more).
    Returns an array of shape a.shape[ind:] + a.shape[:ind]. Raises ValueError for other ind, LinAlgError for other shapes and a
    singular a. Method: as `inv`.
    """
    ind = layout.as_integer(ind, "tensorinv", "ind")
    if ind <= 0:
        raise ValueError(f"tensorinv: expected ind of 1 or more, got {ind}.")
    first, last = check_array("tensorinv", a)._shape[:ind], a._shape[ind:]
    return reshape(inv(reshape(a, (math.prod(first), math.prod(last)))), (*last, *first))


@planned
def multi_dot(arrays: Sequence[ArrayLike], *, out: VkArray | None = None) -> VkArray:
    """The product of two matrices or more, in the order that takes the fewest multiplications.

    Parameters: arrays (numeric, of 2 dimensions; the first may be a row and the last a column of 1); out (an array that takes
    the result). Returns an array of the promoted type. Raises ValueError for fewer than two and for shapes that do not match,
    LinAlgError for other numbers of dimensions. Method: dynamic programming (Cormen et al., Introduction to Algorithms, 15.2).
    """
    parts = [check_array("multi_dot", array) for array in arrays]
    if len(parts) < 2:
        raise ValueError(f"multi_dot: expected at least two arrays, got {len(parts)}.")
    row, column = parts[0].ndim == 1, parts[-1].ndim == 1
    parts[0] = parts[0][None, :] if row else parts[0]
    parts[-1] = parts[-1][:, None] if column else parts[-1]
    if any(part.ndim != 2 for part in parts):
        raise LinAlgError(f"multi_dot: expected matrices, got shapes {[part.shape for part in parts]}.")
    lengths = [part._shape[0] for part in parts] + [parts[-1]._shape[1]]
    result = _product(parts, _splits(lengths), 0, len(parts) - 1)
    kept = tuple(length for length, gone in zip(result._shape, (row, column), strict=True) if not gone)
    result = reshape(result, kept)
    return result if out is None else operations["write"]("multi_dot", out, result)


def _splits(lengths: Sequence[int]) -> dict[tuple[int, int], int]:
    """Behind which matrix to cut the product of those from i to j; matrix i has lengths[i] rows and lengths[i + 1] columns."""
    count = len(lengths) - 1
    cost = {(i, i): 0 for i in range(count)}
    split = {}
    for width in range(1, count):
        for i in range(count - width):
            j = i + width
            cost[i, j], split[i, j] = min(
                (cost[i, k] + cost[k + 1, j] + lengths[i] * lengths[k + 1] * lengths[j + 1], k) for k in range(i, j)
            )
    return split


def _product(parts: Sequence[VkArray], split: dict[tuple[int, int], int], i: int, j: int) -> VkArray:
    if i == j:
        return parts[i]
    k = split[i, j]
    return matmul(_product(parts, split, i, k), _product(parts, split, k + 1, j))
