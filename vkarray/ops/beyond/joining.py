"""Joining: NumPy's stacks, blocks, `append`, and the views that give arrays the dimensions to be joined along."""

from __future__ import annotations

from typing import Any

from ...core.array import ArrayLike, VkArray
from ...core.dtypes import DType
from ...kernels import launch
from ...kernels.conversion import cast
from ...kernels.planned import planned, recordable
from ...kernels.rows import common_dtype
from ..manipulation import concat, reshape
from .arguments import arrays_of, cast_for, sequence


def _with_rank(x: VkArray, rank: int) -> VkArray:
    """A view with dimensions of length 1 in front, up to a rank."""
    missing = max(rank - x.ndim, 0)
    return x._view((1,) * missing + x._shape, (0,) * missing + x._strides)


def _with_three(x: VkArray) -> VkArray:
    """A view of 3 dimensions at least: a row stands in the middle, a matrix is followed by a dimension of length 1."""
    if x.ndim >= 3:
        return x
    x = _with_rank(x, 2)
    return x._view((*x._shape, 1), (*x._strides, 0))


def _column(x: VkArray) -> VkArray:
    """A view of the elements of a number or row as a column."""
    x = _with_rank(x, 1)
    return x._view((*x._shape, 1), (*x._strides, 0))


def _each(function: str, arrays: tuple[Any, ...], view: Any) -> Any:
    made = tuple(view(x) for x in arrays_of(function, arrays))
    return made[0] if len(made) == 1 else made


@planned
def atleast_1d(*arys: ArrayLike) -> VkArray | tuple[VkArray, ...]:
    """Views of the arrays with 1 dimension at least.

    Parameters: arys (arrays, numbers or lists). Returns an array, or a tuple of them for several; an array that has the
    dimensions is returned as it is. Raises TypeError for what is no array, number or list.
    """
    return _each("atleast_1d", arys, lambda x: x if x.ndim else _with_rank(x, 1))


@planned
def atleast_2d(*arys: ArrayLike) -> VkArray | tuple[VkArray, ...]:
    """Views of the arrays with 2 dimensions at least: an array of 1 dimension becomes a row.

    Parameters and results as for `atleast_1d`. Raises TypeError for what is no array, number or list.
    """
    return _each("atleast_2d", arys, lambda x: x if x.ndim >= 2 else _with_rank(x, 2))


@planned
def atleast_3d(*arys: ArrayLike) -> VkArray | tuple[VkArray, ...]:
    """Views of the arrays with 3 dimensions at least: (n,) becomes (1, n, 1), (m, n) becomes (m, n, 1).

    Parameters and results as for `atleast_1d`. Raises TypeError for what is no array, number or list.
    """
    return _each("atleast_3d", arys, _with_three)


def _joined(function: str, arrays: list[VkArray], axis: int, dtype: DType | None, casting: str) -> VkArray:
    if not arrays:
        raise ValueError(f"{function}: expected at least one array, got none.")
    if dtype is not None:
        arrays = [cast_for(function, x, dtype, casting) for x in arrays]
    return concat(arrays, axis=axis)


@planned
def hstack(tup: Any, *, dtype: DType | None = None, casting: str = "same_kind") -> VkArray:
    """The arrays side by side: joined along the second dimension, those of 1 dimension along the only one.

    Parameters: tup (a sequence of arrays, numbers or lists); dtype (that of the result, the promoted one by default);
    casting (what dtype may do). Returns an array. Raises ValueError for none and for shapes that differ elsewhere,
    TypeError for no sequence.
    """
    arrays = [_with_rank(x, 1) for x in arrays_of("hstack", sequence("hstack", tup))]
    return _joined("hstack", arrays, 0 if arrays and arrays[0].ndim == 1 else 1, dtype, casting)


@planned
def vstack(tup: Any, *, dtype: DType | None = None, casting: str = "same_kind") -> VkArray:
    """The arrays one below the other: joined along the first dimension, those of 1 dimension as rows.

    Parameters and errors as for `hstack`.
    """
    arrays = [_with_rank(x, 2) for x in arrays_of("vstack", sequence("vstack", tup))]
    return _joined("vstack", arrays, 0, dtype, casting)


row_stack = vstack


@planned
def dstack(tup: Any) -> VkArray:
    """The arrays one behind the other: joined along the third dimension (see `atleast_3d`).

    Parameters: tup (a sequence of arrays, numbers or lists). Errors as for `hstack`.
    """
    arrays = [_with_three(x) for x in arrays_of("dstack", sequence("dstack", tup))]
    return _joined("dstack", arrays, 2, None, "same_kind")


@planned
def column_stack(tup: Any) -> VkArray:
    """The arrays as columns of a matrix; matrices stay what they are.

    Parameters: tup (a sequence of arrays, numbers or lists). Errors as for `hstack`.
    """
    arrays = arrays_of("column_stack", sequence("column_stack", tup))
    return _joined("column_stack", [x if x.ndim >= 2 else _column(x) for x in arrays], 1, None, "same_kind")


@planned
def append(arr: ArrayLike, values: ArrayLike, axis: int | None = None) -> VkArray:
    """The array with values after it: both flattened for axis None, else joined along the axis.

    Parameters: arr, values (arrays, numbers or lists); axis. Returns a new array of the promoted type.
    Raises ValueError for shapes that do not fit, IndexError for an axis out of range.
    """
    arrays = arrays_of("append", (arr, values))
    if axis is None:
        return concat([reshape(x, (-1,)) for x in arrays], axis=0)
    if any(x.ndim == 0 for x in arrays):
        raise ValueError("append: expected at least 1 dimension where there is an axis, got an array of 0.")
    return concat(arrays, axis=axis)


# -- blocks -----------------------------------------------------------------------------------------------------


def _leaves(value: Any, depth: int) -> list[tuple[Any, int]]:
    """The arrays in nested lists, with their depths. Raises TypeError for a tuple, ValueError for an empty list."""
    if isinstance(value, tuple):
        raise TypeError("block: expected nested lists, got a tuple. Make a list of it.")
    if not isinstance(value, list):
        return [(value, depth)]
    if not value:
        raise ValueError("block: expected no empty lists.")
    return [leaf for one in value for leaf in _leaves(one, depth + 1)]


@recordable
def block(arrays: Any) -> VkArray:
    """A matrix, or an array of more dimensions, put together from blocks in nested lists.

    The innermost lists are joined along the last dimension, those around them along the one before, and so on.

    Parameters: arrays (nested lists of arrays and numbers, all equally deep). Returns an array of the promoted type; a new
    one always.
    Raises ValueError for lists of different depths, empty lists and shapes that do not fit, TypeError for tuples.
    """
    leaves = _leaves(arrays, 0)
    depth = leaves[0][1]
    if any(own != depth for _, own in leaves):
        raise ValueError(f"block: the lists have different depths, {sorted({own for _, own in leaves})}.")
    members = arrays_of("block", [value for value, _ in leaves])
    dtype = common_dtype("block", members)
    rank = max(depth, *(x.ndim for x in members))
    blocks = iter([_with_rank(cast(x, dtype), rank) for x in members])
    if depth == 0:
        return launch.copy(next(blocks))

    def joined(value: Any, level: int) -> VkArray:
        if level == depth:
            return next(blocks)
        return concat([joined(one, level + 1) for one in value], axis=rank - depth + level)

    return joined(arrays, 0)
