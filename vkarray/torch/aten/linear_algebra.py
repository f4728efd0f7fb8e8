"""Factorizations and systems of equations."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ...core import dtypes, layout
from ...core.array import VkArray, empty
from ...errors import LinAlgError
from ...kernels import launch
from ...kernels.conversion import cast
from ...ops import creation, elementwise, statistical
from ...ops.beyond.pad import pad
from ...ops.linalg import basic, cholesky, eig, eigh, qr, reflectors, svd, triangular
from ...ops.linalg.common import working_copy
from ...ops.linalg.reflectors import conjugate
from ...ops.manipulation import broadcast_to
from ..dispatch import table
from ..dispatch.fallback import Unsupported
from ..dispatch.table import direct, native
from ..tensors.storage import array_of, wrap


def _qr(x: VkArray, mode: str = "reduced") -> tuple[VkArray, VkArray]:
    if mode == "r":
        return empty((0,), x._dtype, x._device), qr.factors(x, False).R
    found = qr.factors(x, mode == "complete")
    return found.Q, found.R


def _packed_qr(x: Tensor) -> tuple[Tensor, Tensor]:
    """R and the reflectors in one matrix, and the factors of these: PyTorch's `meta` device does not know them."""
    if x.dtype not in (torch.float32, torch.float64, torch.complex64, torch.complex128):
        raise NotImplementedError(f"\"geqrf_cpu\" not implemented for '{table.SCALAR_NAMES[x.dtype]}'")
    if x.ndim < 2:
        raise RuntimeError(f"torch.geqrf: input must have at least 2 dimensions, got {x.ndim}.")
    factors, tau = qr.packed(array_of(x))
    return wrap(factors), wrap(tau)


def _packed_qr_into(x: Tensor, *, a: Tensor, tau: Tensor) -> tuple[Tensor, Tensor]:
    made = _packed_qr(x)
    return table.resized(a, made[0].shape).copy_(made[0]), table.resized(tau, made[1].shape).copy_(made[1])


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


def _cholesky(x: VkArray, *, upper: bool = False, check_errors: bool = False) -> tuple[VkArray, VkArray]:
    if 0 in x._shape:
        return launch.copy(x), creation.zeros(x._shape[:-2], dtype=dtypes.int32, device=x._device)
    triangles, status = cholesky.triangles_of(x, upper)
    return triangles, status._view(x._shape[:-2], layout.contiguous_strides(x._shape[:-2]))


def _checked_cholesky(x: Tensor, upper: bool = False) -> Tensor:
    """PyTorch's older function, which waits for the device to raise its errors."""
    factors, info = torch.linalg.cholesky_ex(x, upper=upper)
    torch.ops.aten._linalg_check_errors(info, "cholesky", is_matrix=x.ndim == 2)
    return factors


def _cholesky_solved(b: VkArray, triangle: VkArray, upper: bool) -> VkArray:
    """The solution x of a x = b for a = L L^H = U^H U."""
    lower = conjugate(triangle).mT if upper else triangle
    y = _solve_triangular(lower, b, upper=False)
    return _solve_triangular(conjugate(lower).mT, y, upper=True)


def _cholesky_inverse(triangle: VkArray, upper: bool = False) -> VkArray:
    identity = creation.eye(triangle._shape[-1], dtype=triangle._dtype, device=triangle._device)
    return _cholesky_solved(broadcast_to(identity, triangle._shape), triangle, upper)


def _triangular_solved(
    b: VkArray, a: VkArray, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[VkArray, VkArray]:
    t = a.mT if transpose else a
    solution = _solve_triangular(t, b, upper=upper != transpose, unitriangular=unitriangular)
    return solution, launch.copy(broadcast_to(a, (*solution._shape[:-2], *a._shape[-2:])))


def _svd(
    x: VkArray, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None
) -> tuple[VkArray, VkArray, VkArray]:
    if driver is not None:
        raise Unsupported("drivers of the decomposition")
    try:
        if compute_uv:
            return svd.factors("svd", x, full_matrices)
        nothing = empty((0,), x._dtype, x._device)
        return nothing, svd.svdvals(x), nothing
    except LinAlgError as error:  # PyTorch's own is the CPU's
        raise Unsupported(str(error)) from None


def _eigh(x: VkArray, triangle: str = "L", compute_v: bool = True) -> tuple[VkArray, VkArray]:
    lower = x if triangle.upper() == "L" else conjugate(x).mT
    try:
        if compute_v:
            return eigh.eigh(lower)
        return eigh.eigvalsh(lower), empty((0,), x._dtype, x._device)
    except LinAlgError as error:
        raise Unsupported(str(error)) from None


def _eigenvalues(x: VkArray) -> VkArray:
    try:
        return eig.solved("eigvals", x, vectors=False)[0]
    except LinAlgError as error:
        raise Unsupported(str(error)) from None


def _eig(x: VkArray) -> tuple[VkArray, VkArray]:
    try:
        return eig.solved("eig", x, vectors=True)
    except LinAlgError as error:
        raise Unsupported(str(error)) from None


def _reflected(vectors: VkArray, tau: VkArray, columns: int) -> VkArray:
    """The first columns of the product of reflectors, whose vectors are below the diagonal of `vectors` (..., M, K)."""
    *stack, m, _ = vectors._shape
    shape = (*stack, m, columns)
    if 0 in shape:
        return empty(shape, vectors._dtype, vectors._device)
    count = reflectors.padded(tau._shape[-1])
    identity = creation.eye(m, columns, dtype=vectors._dtype, device=vectors._device)
    result = working_copy(broadcast_to(identity, shape))
    if count:
        below = creation.tril(vectors[..., : tau._shape[-1]], k=-1)
        unit = below + creation.eye(m, tau._shape[-1], dtype=vectors._dtype, device=vectors._device)
        missing = ((0, 0),) * len(stack) + ((0, count - tau._shape[-1]),)
        v = working_copy(pad(unit, (*missing[:-1], (0, 0), missing[-1])))
        t = launch.contiguous(pad(tau, missing))
        reflectors.apply(v, t._view((v._shape[0], count), (count, 1)), result, 0, identity=True)
    return result._view(shape, layout.contiguous_strides(shape))


def _multiplied(vectors: VkArray, tau: VkArray, other: VkArray, left: bool = True, transpose: bool = False) -> VkArray:
    """The product of reflectors, or its adjoint, times a matrix, from the left or the right."""
    own = _reflected(vectors, tau, vectors._shape[-2])
    own = conjugate(own).mT if transpose else own
    return own @ other if left else other @ own


# Terms of the exponential's series, and the norms of matrices of which they leave out less than a rounding error.
_TERMS = 18
_LARGEST_NORM = {32: 3.0, 64: 1.09}


def _exponential(x: VkArray) -> VkArray:
    """exp(x) of square matrices: the series for x 2^-k of a small norm, squared k times. Waits for the device.

    Method: Bader, Blanes and Casas, Mathematics 7, 2019, for its bounds of norms; Horner's scheme for the sums.
    """
    if not x.size:
        return launch.copy(x)
    wide = cast(x, dtypes.float32) if x._dtype.bits == 16 else x
    norms = statistical.max(statistical.sum(elementwise.abs(wide), axis=-2), axis=-1)
    largest = float(statistical.max(norms))
    if not math.isfinite(largest):
        raise Unsupported("matrices that are not finite")
    limit = _LARGEST_NORM[wide._dtype.bits]
    squarings = math.ceil(math.log2(largest / limit)) if largest > limit else 0
    identity = creation.eye(x._shape[-1], dtype=wide._dtype, device=x._device)
    scaled = wide * 0.5**squarings
    result = identity + scaled * (1 / _TERMS)
    for term in reversed(range(1, _TERMS)):
        result = identity + (scaled @ result) * (1 / term)
    for _ in range(squarings):
        result = result @ result
    return result


def _cross(a: VkArray, b: VkArray, *, dim: int = -1) -> VkArray:
    return basic.cross(a, b, axis=dim if dim < 0 else dim - a.ndim)


native("linalg_qr", _qr)
direct("geqrf", _packed_qr)
direct("geqrf.a", _packed_qr_into)
native("linalg_solve_triangular", _solve_triangular)
native("linalg_cholesky_ex", _cholesky)
if hasattr(torch.ops.aten, "cholesky"):  # PyTorch 2.15 has `torch.linalg.cholesky` alone
    direct("cholesky", _checked_cholesky)
    direct("cholesky.out", table.with_out(_checked_cholesky))
native("_cholesky_solve_helper", _cholesky_solved)
native("cholesky_inverse", _cholesky_inverse)
native("triangular_solve", _triangular_solved)
native("_linalg_svd", _svd)
native("_linalg_eigh", _eigh)
native("_linalg_eigvals", _eigenvalues)
native("linalg_eig", _eig)
native("linalg_householder_product", lambda v, tau: _reflected(v, tau, v._shape[-1]))
native("ormqr", _multiplied)
native("linalg_matrix_exp", _exponential, state=True)
native("linalg_cross", _cross)
