"""Functions of `linalg` that need no factorisation (but for negative powers): products, diagonals, traces, powers."""

from __future__ import annotations

from typing import Any

from ...core import dtypes, layout, promotion
from ...core.array import ArrayLike, VkArray, empty
from ...core.dtypes import DType
from ...errors import LinAlgError
from ...kernels import launch
from ...kernels.planned import planned
from ...kernels.rows import ROWS, check_array
from .. import creation, statistical
from ..linear_algebra import common_operands, matmul
from .lu import inv


def _matrix(name: str, x: Any) -> VkArray:
    """x itself. Raises TypeError unless it is an array, ValueError for fewer than 2 dimensions."""
    if check_array(name, x).ndim < 2:
        raise LinAlgError(f"{name}: expected a matrix or a stack of matrices, shape (..., M, N); got shape {x.shape}.")
    return x


@planned
def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> VkArray:
    """The cross products of vectors of 3 elements.

    Parameters: x1, x2 (numeric), which broadcast but for `axis`, where both have length 3; axis, counted from the end (-1
    is the last dimension), of both arrays; of arrays of as many dimensions also from the beginning.
    Returns an array of the promoted type and the broadcast shape.
    Raises ValueError for other lengths and shapes that do not broadcast, IndexError for an axis outside [-N, -1], N the
    smaller number of dimensions, TypeError for other types. Standard: linear algebra functions, `cross`.
    """
    a, b = common_operands("cross", x1, x2)
    rank = min(a.ndim, b.ndim)
    if rank == 0:
        raise ValueError(f"cross: expected arrays of at least 1 dimension, got shapes {a.shape} and {b.shape}.")
    axis = layout.as_integer(axis, "cross", "axis")
    axis -= rank if 0 <= axis < rank and a.ndim == b.ndim else 0
    if not -rank <= axis <= -1:
        raise IndexError(
            f"cross: axis {axis} is out of range for shapes {a.shape} and {b.shape}; expected -{rank} to -1, counted from "
            f"the last dimension."
        )
    if a._shape[axis] != 3 or b._shape[axis] != 3:
        raise ValueError(f"cross: expected length 3 in dimension {axis}, got shapes {a.shape} and {b.shape}.")
    result = empty(layout.broadcast_shapes([a._shape, b._shape], "cross"), a._dtype, a._device)
    for place in range(3):
        following, last = (place + 1) % 3, (place + 2) % 3
        first = _component(a, axis, following) * _component(b, axis, last)
        second = _component(a, axis, last) * _component(b, axis, following)
        ROWS["subtract"](first, second, out=_component(result, axis, place))
    return result


def _component(x: VkArray, axis: int, place: int) -> VkArray:
    """The view of x at one place of an axis."""
    axis %= x.ndim
    shape, strides = (values[:axis] + values[axis + 1 :] for values in (x._shape, x._strides))
    return x._view(shape, strides, place * x._strides[axis])


@planned
def outer(x1: ArrayLike, x2: ArrayLike, /) -> VkArray:
    """The outer product of two vectors: out[i, j] = x1[i] * x2[j].

    Parameters: x1 (numeric) of shape (N,), x2 (numeric) of shape (M,). Returns an array (N, M) of the promoted type.
    Raises ValueError for other numbers of dimensions, TypeError for other types.
    Standard: linear algebra functions, `outer`.
    """
    a, b = common_operands("outer", x1, x2)
    if a.ndim != 1 or b.ndim != 1:
        raise ValueError(f"outer: expected two vectors, got shapes {a.shape} and {b.shape}. Flatten them with reshape.")
    return a._view((*a._shape, 1), (*a._strides, 0)) * b


@planned
def diagonal(x: ArrayLike, /, *, offset: int = 0) -> VkArray:
    """A diagonal of each matrix, a view.

    Parameters: x (any dtype) of shape (..., M, N); offset (above the main diagonal when positive, below when negative).
    Returns an array of shape (..., K) that shares the memory of x; K is 0 for a diagonal outside the matrix.
    Raises ValueError for fewer than 2 dimensions, TypeError unless offset is an integer.
    Standard: linear algebra functions, `diagonal`.
    """
    x = _matrix("diagonal", x)
    (rows, columns), (row, column) = x._shape[-2:], x._strides[-2:]
    offset = layout.as_integer(offset, "diagonal", "offset")
    down, right = max(-offset, 0), max(offset, 0)
    length = max(min(rows - down, columns - right), 0)
    start = down * row + right * column if length else 0
    return x._view((*x._shape[:-2], length), (*x._strides[:-2], row + column), start)


@planned
def trace(x: ArrayLike, /, *, offset: int = 0, dtype: DType | None = None) -> VkArray:
    """The sum of a diagonal of each matrix.

    Parameters: x of shape (..., M, N); offset (above the main diagonal when positive, below when negative);
    dtype (of the result; x is converted to it first).
    Returns an array of shape (...) and, without dtype, the dtype of x, integers widened to the default integer's width.
    Raises ValueError for fewer than 2 dimensions, TypeError for other types.
    Standard: linear algebra functions, `trace`.
    """
    x = _matrix("trace", x)
    return statistical.sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


@planned
def matrix_power(x: ArrayLike, /, n: int) -> VkArray:
    """Each square matrix to an integer power; for a negative one, its inverse to the power -n.

    Parameters: x (numeric) of shape (..., M, M); n. Returns an array of the shape and type of x; for negative n integers
    become float64.
    Raises ValueError for other shapes, TypeError for other types and unless n is an integer, LinAlgError for a singular
    matrix and negative n. Method: repeated squaring. Standard: linear algebra functions, `matrix_power`.
    """
    x = _matrix("matrix_power", x)
    if x._dtype is not dtypes.bool_:
        promotion.check_category("matrix_power", x._dtype, "numeric")
    if x._shape[-1] != x._shape[-2]:
        raise LinAlgError(f"matrix_power: expected square matrices, shape (..., M, M); got shape {x.shape}.")
    exponent = layout.as_integer(n, "matrix_power", "n")
    if exponent < 0:
        x = inv(x)
    if exponent == 0:
        identity = creation.eye(x._shape[-1], dtype=x._dtype, device=x._device)
        return launch.copy(
            identity._view(x._shape, layout.broadcast_strides(identity._shape, identity._strides, x._shape))
        )
    result, square, left = None, x, abs(exponent)
    while left:
        if left & 1:
            result = square if result is None else matmul(result, square)
        left >>= 1
        if left:
            square = matmul(square, square)
    assert result is not None
    return launch.copy(result) if result is x else result
