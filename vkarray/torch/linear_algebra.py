"""Factorizations and systems of equations."""

from __future__ import annotations

from .. import dtypes, layout
from ..array import VkArray, empty
from ..errors import LinAlgError
from ..ops import creation
from ..ops.linalg import basic, cholesky, lu, qr, triangular
from ..ops.linalg.common import working_copy
from ..ops.manipulation import broadcast_to
from .fallback import Unsupported
from .table import native


def _qr(x: VkArray, mode: str = "reduced") -> tuple[VkArray, VkArray]:
    if mode == "r":
        return empty((0,), x._dtype, x._device), qr.qr(x).R
    found = qr.qr(x, mode=mode)  # type: ignore[arg-type]
    return found.Q, found.R


def _solve_triangular(
    a: VkArray, b: VkArray, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> VkArray:  # fmt: skip
    """a^-1 b, or b a^-1 for left=False, by substitution."""
    if not left:
        return _solve_triangular(a.mT, b.mT, upper=not upper, unitriangular=unitriangular).mT
    stack = layout.broadcast_shapes([a._shape[:-2], b._shape[:-2]], "solve_triangular")
    n, m = b._shape[-2:]
    if 0 in (*stack, n, m):
        return empty((*stack, n, m), b._dtype, b._device)
    matrices = working_copy(broadcast_to(a, (*stack, n, n)))
    solution = working_copy(broadcast_to(b, (*stack, n, m)))
    triangular.solve_in_place(matrices, solution, upper=upper, unit=unitriangular)
    return solution._view((*stack, n, m), layout.contiguous_strides((*stack, n, m)))


def _no_failures(x: VkArray) -> VkArray:
    """The status of every matrix of a stack: 0."""
    return creation.zeros(x._shape[:-2], dtype=dtypes.int32, device=x._device)


def _cholesky(x: VkArray, *, upper: bool = False, check_errors: bool = False) -> tuple[VkArray, VkArray]:
    """vkarray's error does not say of all matrices whether they failed, so those are left to the CPU."""
    try:
        return cholesky.cholesky(x, upper=upper), _no_failures(x)
    except LinAlgError as error:
        raise Unsupported(str(error)) from None


def _inverse(x: VkArray, *, check_errors: bool = False) -> tuple[VkArray, VkArray]:
    try:
        return lu.inv(x), _no_failures(x)
    except LinAlgError as error:
        raise Unsupported(str(error)) from None


def _cross(a: VkArray, b: VkArray, *, dim: int = -1) -> VkArray:
    return basic.cross(a, b, axis=dim if dim < 0 else dim - a.ndim)


native("linalg_qr", _qr)
native("linalg_solve_triangular", _solve_triangular)
native("linalg_cholesky_ex", _cholesky)
native("linalg_inv_ex", _inverse)
native("linalg_cross", _cross)
