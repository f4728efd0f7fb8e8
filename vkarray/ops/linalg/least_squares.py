"""Least squares and condition numbers."""

from __future__ import annotations

from typing import Any

from ...core import dtypes, promotion
from ...core.array import ArrayLike, StrongLike, VkArray, default_dtype
from ...errors import LinAlgError
from ...kernels.array_like import takes_lists
from ...kernels.conversion import cast
from ...kernels.rows import check_array
from .. import creation, elementwise, searching, statistical, utility
from ..linear_algebra import matmul
from ..manipulation import reshape
from . import lu, svd
from .common import matrices
from .norm import norm


@takes_lists
def lstsq(a: StrongLike, b: StrongLike, rcond: float | None = None) -> tuple[VkArray, VkArray, VkArray, VkArray]:
    """The solution x of a @ x = b that makes the sum of the squares of the residuals least, of least norm where there are several.

    Parameters: a (floating-point of 32 or 64 bits, integers as float64) of shape (M, N); b of shape (M,), or (M, K) for
    several right-hand sides; rcond, below which part of the largest one singular values count as zero (default: max(M, N) eps).
    Returns (x of shape (N,) or (N, K); the sums of the squares of the residuals, of shape (K,) or (1,), empty where a has not
    rank N or M <= N; the rank of a; its singular values). Waits for the device, because shapes depend on the rank.
    Raises LinAlgError for other numbers of dimensions or rows that differ, and for what is not finite, TypeError for other types.
    Method: from the singular value decomposition.
    """
    vector = check_array("lstsq", b).ndim == 1
    if check_array("lstsq", a).ndim != 2 or b.ndim not in (1, 2):
        raise LinAlgError(f"lstsq: expected a of 2 dimensions and b of 1 or 2, got shapes {a.shape} and {b.shape}.")
    x, y = matrices("lstsq", a), matrices("lstsq", b[:, None] if vector else b)
    m, n = x._shape
    if y._shape[0] != m:
        raise LinAlgError(f"lstsq: expected as many rows in b as in a, got shapes {a.shape} and {b.shape}.")
    dtype = promotion.promote(x._dtype, y._dtype)
    x, y = cast(x, dtype), cast(y, dtype)
    solution, residuals, count, values = _solved(x, y, -1.0 if rcond is None else float(rcond), rcond is None)
    residuals = residuals if int(count) == n and m > n else residuals[:0]
    return (solution[:, 0] if vector else solution), residuals, cast(count, dtypes.int32), values


def _solved(x: VkArray, y: VkArray, rcond: float, default: bool) -> tuple[VkArray, VkArray, VkArray, VkArray]:
    """The solution, the residuals, the rank and the singular values."""
    if 0 in x._shape:
        values = svd.singular_values("lstsq", x)
        solution = creation.zeros((x._shape[1], y._shape[1]), dtype=x._dtype, device=x._device)
        count = creation.zeros((), dtype=default_dtype("int", x._device), device=x._device)
    else:
        u, values, vh = svd.factors("lstsq", x, False)
        cutoff = svd.cutoff("lstsq", x, values, None if default or rcond < 0 else rcond)
        large = values > cutoff
        inverse = searching.where(large, 1 / searching.where(large, values, 1.0), 0.0)
        coordinates = matmul(svd.conjugate(u).mT, y) * cast(inverse, x._dtype)[:, None]
        solution = matmul(svd.conjugate(vh).mT, coordinates)
        count = searching.count_nonzero(large)
    rest = elementwise.abs(y - matmul(x, solution))
    return solution, statistical.sum(rest * rest, axis=0), count, values


@takes_lists
def cond(x: ArrayLike, p: Any = None) -> VkArray:
    """The condition number of each matrix: the norm of the matrix times that of its inverse.

    Parameters: x (floating-point of 32 or 64 bits, integers as float64) of shape (..., M, N), square but for p = None, 2 and -2;
    p, an order of `norm` (default 2: the largest singular value divided by the smallest; -2 the other way round).
    Returns a real array of shape (...); infinity for a singular matrix.
    Raises LinAlgError for matrices without elements and for shapes that do not fit, ValueError for other orders.
    """
    a = matrices("cond", x, square=p not in (None, 2, -2))
    if 0 in a._shape:
        raise LinAlgError(f"cond: expected matrices with elements, got shape {a._shape}.")
    if p in (None, 2, -2):
        values = svd.singular_values("cond", a)
        largest, smallest = values[..., 0], values[..., -1]
        result = elementwise.divide(smallest, largest) if p == -2 else elementwise.divide(largest, smallest)
        return searching.where(elementwise.isnan(result), float("inf"), result)
    inverse, status = lu.inverted(a)
    result = norm(a, p, axis=(-2, -1)) * norm(inverse, p, axis=(-2, -1))
    singular = reshape(status[:, 0], a._shape[:-2]) != 0
    unknown = utility.any(elementwise.isnan(a), axis=(-2, -1))
    return searching.where(unknown, float("nan"), searching.where(singular, float("inf"), result))
