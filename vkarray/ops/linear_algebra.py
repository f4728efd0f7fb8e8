"""Linear algebra functions of the standard's main namespace."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..core import dtypes, layout, promotion
from ..core.array import ArrayLike, VkArray, check_supported, empty, operations
from ..kernels import launch
from ..kernels.conversion import cast
from ..kernels.planned import planned
from ..kernels.product import strategies, sums
from ..kernels.rows import check_array, check_operands, common_dtype
from .manipulation import reshape

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]


def common_operands(name: str, x1: VkArray, x2: VkArray) -> tuple[VkArray, VkArray]:
    """Two arrays of one device, converted to their promoted type. Raises TypeError, ValueError and FeatureError."""
    check_operands(name, (x1, x2))
    for value in (x1, x2):
        if type(value) is not VkArray:
            raise TypeError(f"{name}: expected two arrays, got the Python scalar {value!r}. Use * to scale an array.")
    dtype = common_dtype(name, (x1, x2))
    promotion.check_category(name, dtype, "numeric")
    check_supported(dtype, x1._device, name, (x1, x2))
    return cast(x1, dtype), cast(x2, dtype)


def _zeros(shape: layout.Shape, like: VkArray) -> VkArray:
    """What a sum of no products is."""
    result = empty(shape, like._dtype, like._device)
    return launch.elementwise(
        launch.copy_operation(like._dtype), (launch.scalar(0, like._dtype, like._device),), result
    )


def _are_bools(x1: ArrayLike, x2: ArrayLike) -> bool:
    return type(x1) is VkArray and type(x2) is VkArray and x1._dtype is x2._dtype is dtypes.bool_


def _of_bools(function: Any, x1: VkArray, x2: VkArray, **options: Any) -> VkArray:
    """A product of bools, joined by "or" of "and": whether there are any that are both true."""
    return cast(function(cast(x1, dtypes.uint32), cast(x2, dtypes.uint32), **options), dtypes.bool_)


@planned
def matmul(x1: ArrayLike, x2: ArrayLike, /, out: VkArray | None = None) -> VkArray:
    """The matrix product of two arrays, or of two stacks of matrices; `x1 @ x2`.

    Parameters: x1 (numeric, or both bool) of shape (..., M, K) or (K,); x2 of shape (..., K, N) or (K,); the leading
    dimensions broadcast. A 1-dimensional x1 counts as one row, a 1-dimensional x2 as one column.
    Returns an array of the promoted type and of shape (..., M, N), without the dimension that was added.
    Raises ValueError for an array of 0 dimensions and for shapes that do not match, TypeError for other types.
    Integers wrap modulo 2^n. float16 and bfloat16 are summed in float32 and rounded once. The order of additions is
    fixed by the shapes and the kind of device, but a driver may fuse a multiplication with the addition after it, so
    the last bits differ between devices. bools are joined by "or" of "and".
    Standard: linear algebra functions, `matmul`.
    """
    if out is not None:
        return operations["write"]("matmul", out, matmul(x1, x2))
    if _are_bools(x1, x2):
        return _of_bools(matmul, x1, x2)
    x1, x2 = common_operands("matmul", x1, x2)
    first, second = x1._shape, x2._shape
    if not first or not second:
        raise ValueError(
            f"matmul: expected arrays of at least 1 dimension, got shapes {first} and {second}. Use * to scale an array."
        )
    a = x1 if len(first) > 1 else x1._view((1, *first), (0, *x1._strides))
    b = x2 if len(second) > 1 else x2._view((*second, 1), (*x2._strides, 0))
    m, k, n = a._shape[-2], a._shape[-1], b._shape[-1]
    if k != b._shape[-2]:
        raise ValueError(
            f"matmul: shapes {first} and {second} do not match: the last dimension of x1 ({k}) and the "
            f"{'only' if len(second) == 1 else 'second to last'} dimension of x2 ({b._shape[-2]}) differ. "
            f"Transpose or reshape one of them."
        )
    try:
        batch = layout.broadcast_shapes([a._shape[:-2], b._shape[:-2]], "matmul")
    except ValueError:
        raise ValueError(
            f"matmul: shapes {first} and {second} do not match: the stacks {first[:-2]} and {second[:-2]} do not "
            f"broadcast. Reshape or slice one of them."
        ) from None
    shape = (*batch, *((m,) if len(first) > 1 else ()), *((n,) if len(second) > 1 else ()))
    if k == 0 or math.prod(shape) == 0:
        return _zeros(shape, x1)
    result = empty((*batch, m, n), x1._dtype, x1._device)
    strategies.multiply(a, b, result)
    return result if len(shape) == len(result._shape) else result._view(shape, layout.contiguous_strides(shape))


@planned
def matrix_transpose(x: ArrayLike, /) -> VkArray:
    """The last two dimensions swapped, a view.

    Parameters: x of shape (..., M, N). Returns an array of shape (..., N, M) that shares the memory of x.
    Raises ValueError for fewer than 2 dimensions. Standard: linear algebra functions, `matrix_transpose`.
    """
    if check_array("matrix_transpose", x).ndim < 2:
        raise ValueError(f"matrix_transpose: expected at least 2 dimensions, got {x.ndim} (shape {x.shape}).")
    return x.mT


@planned
def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> VkArray:
    """The dot products of vectors: the sum of conj(x1) * x2 over `axis`.

    Parameters: x1, x2 (numeric, or both bool), which broadcast but for `axis`, where their lengths are equal; axis, counted from
    the end (-1 is the last dimension), of both arrays.
    Returns an array of the promoted type without that dimension.
    Raises ValueError for lengths that differ, shapes that do not broadcast and arrays of 0 dimensions, IndexError for
    an axis outside [-N, -1], N the smaller number of dimensions, TypeError for other types.
    Standard: linear algebra functions, `vecdot`.
    """
    if _are_bools(x1, x2):
        return _of_bools(vecdot, x1, x2, axis=axis)
    x1, x2 = common_operands("vecdot", x1, x2)
    first, second = x1._shape, x2._shape
    rank = min(len(first), len(second))
    if rank == 0:
        raise ValueError(f"vecdot: expected arrays of at least 1 dimension, got shapes {first} and {second}.")
    axis = layout.as_integer(axis, "vecdot", "axis")
    if not -rank <= axis <= -1:
        raise IndexError(
            f"vecdot: axis {axis} is out of range for shapes {first} and {second}; expected -{rank} to -1, counted "
            f"from the last dimension."
        )
    if first[axis] != second[axis]:
        raise ValueError(
            f"vecdot: shapes {first} and {second} do not match: the lengths {first[axis]} and {second[axis]} in "
            f"dimension {axis} differ."
        )
    a, b = _axis_last(x1, axis), _axis_last(x2, axis)
    shape = layout.broadcast_shapes([a._shape[:-1], b._shape[:-1]], "vecdot")
    if first[axis] == 0 or math.prod(shape) == 0:
        return _zeros(shape, x1)
    rows = (*shape, first[axis])
    a, b = (array._view(rows, layout.broadcast_strides(array._shape, array._strides, rows)) for array in (a, b))
    return sums.dot(a, b, empty(shape, x1._dtype, x1._device), conjugate=True)


def _axis_last(x: VkArray, axis: int) -> VkArray:
    """A view with the dimension moved to the end."""
    axis %= x.ndim
    return x._permuted((*range(axis), *range(axis + 1, x.ndim), axis))


@planned
def tensordot(
    x1: ArrayLike, x2: ArrayLike, /, axes: int | tuple[Sequence[int], Sequence[int]] = 2
) -> VkArray:  # fmt: skip
    """The sum of products of two arrays over several dimensions.

    Parameters: x1, x2 (numeric, or both bool); axes, how many of the last dimensions of x1 and first of x2 are summed over (0 gives
    the outer product), or two sequences: which of x1, and which of x2 in the same order. Their lengths are equal.
    Returns an array of the promoted type with the other dimensions of x1, then those of x2.
    Raises ValueError for lengths that differ and for repeated or unpaired axes, IndexError for an axis out of range,
    TypeError for other types. Standard: linear algebra functions, `tensordot`.
    """
    if _are_bools(x1, x2):
        return _of_bools(tensordot, x1, x2, axes=axes)
    x1, x2 = common_operands("tensordot", x1, x2)
    first, second = _contracted(x1, x2, axes)
    for one, other in zip(first, second, strict=True):
        if x1._shape[one] != x2._shape[other]:
            raise ValueError(
                f"tensordot: shapes {x1._shape} and {x2._shape} do not match: dimension {one} of x1 has length "
                f"{x1._shape[one]}, dimension {other} of x2 has {x2._shape[other]}."
            )
    kept = (
        [axis for axis in range(x1.ndim) if axis not in first],
        [axis for axis in range(x2.ndim) if axis not in second],
    )
    a, b = x1._permuted((*kept[0], *first)), x2._permuted((*second, *kept[1]))
    shape = (*a._shape[: len(kept[0])], *b._shape[len(second) :])
    k = math.prod(x1._shape[axis] for axis in first)
    m, n = math.prod(a._shape[: len(kept[0])]), math.prod(b._shape[len(second) :])
    if k == 0 or m * n == 0:
        return _zeros(shape, x1)
    result = empty((m, n), x1._dtype, x1._device)
    strategies.multiply(reshape(a, (m, k)), reshape(b, (k, n)), result)
    return result._view(shape, layout.contiguous_strides(shape))


def _contracted(
    x1: VkArray, x2: VkArray, axes: int | tuple[Sequence[int], Sequence[int]]
) -> tuple[Sequence[int], Sequence[int]]:
    """The dimensions of both arrays that are summed over, counted from the front."""
    if hasattr(axes, "__index__"):
        count = axes.__index__()  # type: ignore[union-attr]
        if not 0 <= count <= min(x1.ndim, x2.ndim):
            raise ValueError(
                f"tensordot: axes={count} is out of range for shapes {x1._shape} and {x2._shape}; expected 0 to "
                f"{min(x1.ndim, x2.ndim)}, or two sequences of axes."
            )
        return range(x1.ndim - count, x1.ndim), range(count)
    try:
        first, second = (layout.as_integers(one, "tensordot", "axes") for one in axes)
    except (TypeError, ValueError):
        raise TypeError(
            f"tensordot: expected axes as an integer or as two sequences of integers, got {axes!r}."
        ) from None
    if len(first) != len(second):
        raise ValueError(f"tensordot: expected as many axes of x1 as of x2, got {first} and {second}.")
    return layout.normalize_axes(first, x1.ndim, "tensordot"), layout.normalize_axes(second, x2.ndim, "tensordot")
