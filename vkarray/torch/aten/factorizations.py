"""LU factorisations, and the systems, inverses and determinants that follow from them, with PyTorch's pivots and statuses."""

from __future__ import annotations

import math

from ...core import dtypes, layout
from ...core.array import VkArray, empty
from ...kernels import launch
from ...kernels.conversion import cast
from ...ops import creation
from ...ops.beyond.pad import pad
from ...ops.elementwise import equal, less_equal
from ...ops.linalg import ldl, lu, triangular
from ...ops.linalg.common import working_copy
from ...ops.linalg.reflectors import conjugate
from ...ops.manipulation import broadcast_to
from ...ops.searching import where
from ...ops.sorting import argsort
from ..dispatch.fallback import Unsupported
from ..dispatch.table import native


def _of_stack(x: VkArray, shape: layout.Shape) -> VkArray:
    """An array (batch, ...) of contiguous elements with the dimensions of a stack in place of the batch."""
    return x._view(shape, layout.contiguous_strides(shape))


def _factored(x: VkArray) -> lu.Factors:
    """The factors of a stack of square matrices that is not empty."""
    return lu.factor(working_copy(x.mT).mT)


def _in_stack(factors: lu.Factors, x: VkArray) -> tuple[VkArray, VkArray, VkArray]:
    """(LU, pivots, statuses) of the shapes that belong to x (..., M, N), which the factors are of, or of what pads it."""
    *stack, m, n = x._shape
    turns = min(m, n)
    own = launch.copy(factors.lu[:, :m, :n])
    pivots = lu.pivots_of(factors.rows_of, turns)
    statuses = factors.status[:, 0]
    statuses = where(less_equal(statuses, turns), statuses, 0)
    return _of_stack(own, x._shape), _of_stack(pivots, (*stack, turns)), _of_stack(statuses, tuple(stack))


def _nothing(x: VkArray) -> tuple[VkArray, VkArray, VkArray]:
    """The factors of a stack without elements."""
    *stack, m, n = x._shape
    pivots, statuses = (
        creation.zeros(shape, dtype=dtypes.int32, device=x._device) for shape in ((*stack, min(m, n)), tuple(stack))
    )
    return launch.copy(x), pivots, statuses


def _lu(x: VkArray, *, pivot: bool = True, check_errors: bool = False) -> tuple[VkArray, VkArray, VkArray]:
    """Rows or columns of zeros make any matrix a square one; they change nothing of the others."""
    if not pivot:
        raise Unsupported("factors without exchanges of rows")
    if 0 in x._shape:
        return _nothing(x)
    m, n = x._shape[-2:]
    missing = ((0, max(n - m, 0)), (0, max(m - n, 0)))
    square = x if m == n else pad(x, ((0, 0),) * (x.ndim - 2) + missing)
    return _in_stack(_factored(square), x)


def _rows_of(pivots: VkArray, n: int) -> VkArray:
    """The order of N rows (..., N) for pivots (..., K)."""
    shape = (*pivots._shape[:-1], n)
    if not pivots.size:
        rows = creation.arange(n, dtype=dtypes.int32, device=pivots._device)
        return launch.copy(broadcast_to(rows, shape))
    flat = _of_stack(launch.contiguous(pivots), (math.prod(shape[:-1]), pivots._shape[-1]))
    return _of_stack(lu.rows_of_pivots(flat, n), shape)


def _permutation(rows_of: VkArray, like: VkArray) -> VkArray:
    """The matrices P with A = P L U."""
    n = rows_of._shape[-1]
    rows = creation.arange(n, dtype=dtypes.int32, device=rows_of._device)
    return cast(equal(rows[:, None], rows_of[..., None, :]), like._dtype)


def _unpacked(
    factors: VkArray, pivots: VkArray, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[VkArray, VkArray, VkArray]:
    """P, L and U; those not wanted are empty."""
    m, n = factors._shape[-2:]
    nothing = empty((0,), factors._dtype, factors._device)
    lower = upper = permutation = nothing
    if unpack_data:
        turns = min(m, n)
        identity = creation.eye(m, turns, dtype=factors._dtype, device=factors._device)
        lower = creation.tril(factors[..., :turns], k=-1) + identity
        upper = creation.triu(factors[..., :turns, :])
    if unpack_pivots:
        permutation = _permutation(_rows_of(pivots, m), factors)
    return permutation, lower, upper


def _plu(x: VkArray, *, pivot: bool = True) -> tuple[VkArray, VkArray, VkArray]:
    factors, pivots, _ = _lu(x, pivot=pivot)
    return _unpacked(factors, pivots)


def _substituted(t: VkArray, b: VkArray, *, upper: bool, unit: bool = False) -> VkArray:
    """The solution x of t x = b for stacks of the same shape (..., N, N) and (..., N, K)."""
    if 0 in b._shape:
        return launch.copy(b)
    solution = working_copy(b)
    triangular.solve_in_place(working_copy(t), solution, upper=upper, unit=unit)
    return _of_stack(solution, b._shape)


def _ordered(b: VkArray, rows_of: VkArray) -> VkArray:
    """The rows of b (..., N, K) in an order (..., N) of their numbers."""
    if 0 in b._shape:
        return b
    *stack, n, columns = b._shape
    batch = math.prod(stack)
    flat = _of_stack(launch.contiguous(rows_of), (batch, n))
    return _of_stack(lu.permuted(launch.contiguous(b), flat, (batch, n, columns)), b._shape)


def _lu_solved(
    factors: VkArray, pivots: VkArray, b: VkArray, *, left: bool = True, adjoint: bool = False
) -> VkArray:  # fmt: skip
    """The solution x of A x = b, A^H x = b, x A = b or x A^H = b for A = P L U."""
    if not left:
        return conjugate(_lu_solved(factors, pivots, conjugate(b).mT, adjoint=not adjoint)).mT
    n, columns = b._shape[-2:]
    stack = layout.broadcast_shapes([factors._shape[:-2], b._shape[:-2]], "lu_solve")
    factors, b = broadcast_to(factors, (*stack, n, n)), broadcast_to(b, (*stack, n, columns))
    rows_of = broadcast_to(_rows_of(pivots, n), (*stack, n))
    if adjoint:
        transposed = conjugate(factors).mT
        x = _substituted(transposed, _substituted(transposed, b, upper=False), upper=True, unit=True)
        return _ordered(x, cast(argsort(rows_of, axis=-1), dtypes.int32))
    x = _substituted(factors, _ordered(b, rows_of), upper=False, unit=True)
    return _substituted(factors, x, upper=True)


def _solved(
    a: VkArray, b: VkArray, *, left: bool = True, check_errors: bool = False
) -> tuple[VkArray, VkArray, VkArray, VkArray]:
    """(x, LU, pivots, statuses) for a x = b, or x a = b."""
    vector = b.ndim == 1 or b._shape == a._shape[:-1]
    columns = b[..., None] if vector else b
    factors, pivots, statuses = _lu(a)
    x = _lu_solved(factors, pivots, columns, left=left)
    return (x[..., 0] if vector else x), factors, pivots, statuses


def _inverse(x: VkArray, *, check_errors: bool = False) -> tuple[VkArray, VkArray]:
    if 0 in x._shape:
        return launch.copy(x), creation.zeros(x._shape[:-2], dtype=dtypes.int32, device=x._device)
    factors = _factored(x)
    identity = creation.eye(x._shape[-1], dtype=x._dtype, device=x._device)
    found = lu.solution_of(factors, x._shape[:-2], identity, x._shape[:-2])
    return found, launch.copy(_of_statuses(factors, x._shape[:-2]))


def _of_statuses(factors: lu.Factors, stack: layout.Shape) -> VkArray:
    return _of_stack(launch.copy(factors.status[:, 0]), stack)


def _of_transpose(x: VkArray) -> bool:
    """Whether PyTorch factors the transpose, which the gradients of determinants expect."""
    return x._contiguous and x._dtype.category != "complex floating"


def _determinant(x: VkArray) -> tuple[VkArray, VkArray, VkArray]:
    if 0 in x._shape:
        found, _ = lu._determinants(x, True)
        return found, *_nothing(x)[:2]
    factors = _factored(x.mT if _of_transpose(x) else x)
    found, _ = lu.determinants_of(factors, x._shape[:-2], True)
    return found, *_in_stack(factors, x)[:2]


def _log_determinant(x: VkArray) -> tuple[VkArray, VkArray, VkArray, VkArray]:
    if 0 in x._shape:
        return *lu.logarithm_of(*lu._determinants(x, False)), *_nothing(x)[:2]
    factors = _factored(x.mT if _of_transpose(x) else x)
    found = lu.logarithm_of(*lu.determinants_of(factors, x._shape[:-2], False))
    return *found, *_in_stack(factors, x)[:2]


native("linalg_lu_factor_ex", _lu)
native("linalg_lu", _plu)
native("lu_unpack", _unpacked)
native("linalg_lu_solve", _lu_solved)
native("_linalg_solve_ex", _solved)
native("linalg_inv_ex", _inverse)
native("_linalg_det", _determinant)
native("_linalg_slogdet", _log_determinant)


# -- symmetric matrices -----------------------------------------------------------------------------------------------


def _ldl(x: VkArray, *, hermitian: bool = False, check_errors: bool = False) -> tuple[VkArray, VkArray, VkArray]:
    return ldl.factor(x, hermitian=hermitian)


def _ldl_solved(factors: VkArray, pivots: VkArray, b: VkArray, *, hermitian: bool = False) -> VkArray:
    return ldl.solve(factors, pivots, b, hermitian=hermitian)


native("linalg_ldl_factor_ex", _ldl)
native("linalg_ldl_solve", _ldl_solved)
