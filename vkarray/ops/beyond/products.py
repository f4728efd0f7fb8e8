"""Products of arrays that NumPy has besides the standard's."""

from __future__ import annotations

import itertools
from typing import Any

from ...core import dtypes, layout
from ...core.array import ArrayLike, VkArray, operations
from ...core.dtypes import DType
from ...kernels import launch
from ...kernels.conversion import cast
from ...kernels.planned import planned
from ...kernels.rows import check_operands, common_dtype
from .. import creation, statistical
from ..elementwise import conj, multiply, subtract
from ..linalg import basic
from ..linear_algebra import matmul, tensordot
from ..manipulation import concat, flip, moveaxis, reshape
from .arguments import arrays_of


def common(function: str, *operands: Any) -> tuple[list[VkArray], bool]:
    """Arrays of the promoted type, bools as integers, and whether they were bools. Numbers become arrays of their default type."""
    check_operands(function, operands)
    arrays = arrays_of(function, operands)
    dtype = common_dtype(function, arrays)
    logical = dtype is dtypes.bool_
    return [cast(one, dtypes.int32 if logical else dtype) for one in arrays], logical


def _finished(function: str, result: VkArray, logical: bool, out: VkArray | None = None) -> VkArray:
    """The result of a sum of products, of bools as one, in `out` where given."""
    result = cast(result, dtypes.bool_) if logical else result
    return result if out is None else operations["write"](function, out, result)


@planned
def inner(a: ArrayLike, b: ArrayLike, /) -> VkArray:
    """The sums of products over the last dimensions of two arrays; the product where one has 0 dimensions.

    Parameters: a, b (numeric or bool), with last dimensions of one length. Returns an array of the promoted type and of shape
    a.shape[:-1] + b.shape[:-1]. Raises ValueError for lengths that differ, TypeError for other types.
    """
    (x, y), logical = common("inner", a, b)
    product = multiply(x, y) if x.ndim == 0 or y.ndim == 0 else tensordot(x, y, axes=((-1,), (-1,)))
    return _finished("inner", product, logical)


@planned
def outer(a: ArrayLike, b: ArrayLike, out: VkArray | None = None) -> VkArray:
    """The products of each element of a with each of b: result[i, j] = a[i] * b[j], of the flattened arrays.

    Parameters: a, b (numeric or bool); out (an array that takes the result). Returns an array of the promoted type and of shape
    (a.size, b.size). Raises TypeError for other types.
    """
    check_operands("outer", (a, b))
    (x, y), logical = common("outer", a, b)
    product = multiply(reshape(x, (x.size, 1)), reshape(y, (1, y.size)))
    return _finished("outer", product, logical, out)


@planned
def vdot(a: ArrayLike, b: ArrayLike, /) -> VkArray:
    """The sum of conj(a) * b over all elements of two arrays of one size.

    Parameters: a, b (numeric or bool). Returns an array of 0 dimensions of the promoted type. Raises ValueError for sizes that
    differ, TypeError for other types.
    """
    (x, y), logical = common("vdot", a, b)
    if x.size != y.size:
        raise ValueError(f"vdot: expected arrays of one size, got shapes {x._shape} and {y._shape}.")
    x, y = reshape(x, (x.size,)), reshape(y, (y.size,))
    return _finished("vdot", matmul(_conjugate(x), y), logical)


def _conjugate(x: VkArray) -> VkArray:
    return conj(x) if x._dtype.kind == "c" else x


@planned
def matvec(x1: ArrayLike, x2: ArrayLike, /, out: VkArray | None = None) -> VkArray:
    """The products of matrices and vectors: the sum over j of x1[..., i, j] * x2[..., j].

    Parameters: x1 (numeric or bool) of shape (..., M, N); x2 of shape (..., N); the stacks broadcast; out. Returns an array of
    shape (..., M). Raises ValueError for shapes that do not match, TypeError for other types.
    """
    (x, y), logical = common("matvec", x1, x2)
    if x.ndim < 2 or y.ndim < 1:
        raise ValueError(f"matvec: expected matrices and vectors, got shapes {x._shape} and {y._shape}.")
    return _finished("matvec", matmul(x, y[..., None])[..., 0], logical, out)


@planned
def vecmat(x1: ArrayLike, x2: ArrayLike, /, out: VkArray | None = None) -> VkArray:
    """The products of vectors and matrices: the sum over i of conj(x1[..., i]) * x2[..., i, j].

    Parameters: x1 (numeric or bool) of shape (..., N); x2 of shape (..., N, M); the stacks broadcast; out. Returns an array of
    shape (..., M). Raises ValueError for shapes that do not match, TypeError for other types.
    """
    (x, y), logical = common("vecmat", x1, x2)
    if x.ndim < 1 or y.ndim < 2:
        raise ValueError(f"vecmat: expected vectors and matrices, got shapes {x._shape} and {y._shape}.")
    return _finished("vecmat", matmul(_conjugate(x)[..., None, :], y)[..., 0, :], logical, out)


@planned
def kron(a: ArrayLike, b: ArrayLike) -> VkArray:
    """The Kronecker product: b times each element of a, in blocks.

    Parameters: a, b (numeric or bool), the shape of the one with fewer dimensions filled up with ones in front. Returns an array of
    the promoted type, whose lengths are the products of both. Raises TypeError for other types.
    """
    (x, y), logical = common("kron", a, b)
    rank = max(x.ndim, y.ndim)
    first, second = ((1,) * (rank - one.ndim) + one._shape for one in (x, y))
    x = reshape(x, tuple(itertools.chain.from_iterable((length, 1) for length in first)))
    y = reshape(y, tuple(itertools.chain.from_iterable((1, length) for length in second)))
    product = reshape(multiply(x, y), tuple(one * other for one, other in zip(first, second, strict=True)))
    return _finished("kron", product, logical)


@planned
def cross(
    a: ArrayLike, b: ArrayLike, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> VkArray:  # fmt: skip
    """The cross products of vectors of 3 elements, or of 2, whose third is 0.

    Parameters: a, b (numeric); axisa, axisb (that of the vectors in a and in b); axisc (that of the vectors in the result); axis
    (all three). The other dimensions broadcast. Returns an array of the promoted type; for two vectors of 2 elements their third
    component alone. Raises ValueError for other lengths and shapes that do not broadcast, IndexError for an axis out of range,
    TypeError for other types.
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    (x, y), logical = common("cross", a, b)
    if logical:
        raise TypeError("cross: expected numbers, got bool. Convert them with astype.")
    x, y = (moveaxis(one, layout.normalize_axis(own, one.ndim, "cross"), -1) for one, own in ((x, axisa), (y, axisb)))
    if x._shape[-1] not in (2, 3) or y._shape[-1] not in (2, 3):
        raise ValueError(f"cross: expected vectors of 2 or 3 elements, got shapes {x._shape} and {y._shape}.")
    if x._shape[-1] == y._shape[-1] == 2:
        return subtract(multiply(x[..., 0], y[..., 1]), multiply(x[..., 1], y[..., 0]))
    product = basic.cross(_of_three(x), _of_three(y), axis=-1)
    return moveaxis(product, -1, layout.normalize_axis(axisc, product.ndim, "cross"))


def _of_three(x: VkArray) -> VkArray:
    if x._shape[-1] == 3:
        return x
    return concat((x, creation.zeros((*x._shape[:-1], 1), dtype=x._dtype, device=x._device)), axis=-1)


@planned
def trace(
    x: ArrayLike, /, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DType | None = None, out: VkArray | None = None
) -> VkArray:  # fmt: skip
    """The sum along the diagonals of the matrices that two dimensions make.

    Parameters: x (numeric or bool); offset (above the main diagonal when positive); axis1, axis2; dtype (of the sum); out.
    Returns an array without the two dimensions. Raises ValueError for fewer than 2 dimensions, IndexError for an axis out of range.
    """
    return statistical.sum(operations["diagonal"](x, offset, axis1, axis2), axis=-1, dtype=dtype, out=out)


# -- sliding sums of products -----------------------------------------------------------------------------------------


_MODES = {0: "valid", 1: "same", 2: "full"}


def _windows(x: VkArray, width: int) -> VkArray:
    """A view of all stretches of so many neighbours."""
    (step,) = x._strides
    return x._view((x._shape[0] - width + 1, width), (step, step))


def _sliding(function: str, long: VkArray, short: VkArray, mode: Any) -> VkArray:
    """The sums of long[i + k] * short[k] over k, for the i that the mode wants."""
    width = short.size
    before = {"full": width - 1, "same": width // 2, "valid": 0}[_MODES.get(mode, mode)]
    after = before if _MODES.get(mode, mode) != "same" else width - before - 1
    zeros = [creation.zeros((count,), dtype=long._dtype, device=long._device) for count in (before, after)]
    padded = concat((zeros[0], long, zeros[1])) if before + after else launch.contiguous(long)
    return matmul(_windows(padded, width), short)


def _two_sequences(function: str, a: Any, v: Any, mode: Any) -> tuple[VkArray, VkArray, bool]:
    (x, y), logical = common(function, a, v)
    if _MODES.get(mode, mode) not in _MODES.values():
        raise ValueError(f"{function}: expected mode 'full', 'same' or 'valid', got {mode!r}.")
    x, y = (reshape(one, (1,)) if one.ndim == 0 else one for one in (x, y))
    if x.ndim != 1 or y.ndim != 1 or not x.size or not y.size:
        raise ValueError(f"{function}: expected two sequences of at least one element, got {x._shape} and {y._shape}.")
    return x, y, logical


@planned
def convolve(a: ArrayLike, v: ArrayLike, mode: str = "full") -> VkArray:
    """The convolution of two sequences: result[n] is the sum of a[m] * v[n - m].

    Parameters: a, v (numeric or bool, of 1 dimension); mode: "full" (all sums, N + M - 1), "same" (the max(N, M) in the middle) or
    "valid" (those where the sequences overlap wholly).
    Returns an array of the promoted type. Raises ValueError for no elements, other dimensions and other modes.
    Method: the sums themselves, as products of matrices.
    """
    x, y, logical = _two_sequences("convolve", a, v, mode)
    if y.size > x.size:
        x, y = y, x
    return _finished("convolve", _sliding("convolve", x, flip(y), mode), logical)


@planned
def correlate(a: ArrayLike, v: ArrayLike, mode: str = "valid") -> VkArray:
    """The correlation of two sequences: result[k] is the sum of a[n + k] * conj(v[n]).

    Parameters, modes and errors as `convolve`. Returns an array of the promoted type.
    """
    x, y, logical = _two_sequences("correlate", a, v, mode)
    if y.size > x.size:
        found = flip(_conjugate(_sliding("correlate", y, _conjugate(x), mode)))
    else:
        found = _sliding("correlate", x, _conjugate(y), mode)
    return _finished("correlate", found, logical)


operations.update(trace=trace)
