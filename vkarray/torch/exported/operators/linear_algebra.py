"""Factorizations, solutions of systems, Fourier transforms, distances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import vkarray as vx

from ..table import row


@row("linalg_inv_ex", "linalg_inv", "inverse")
def _invert(call: Any, x: Any, check_errors: bool = False) -> Any:
    found = vx.linalg.inv(x)
    return (found, None) if call.name == "linalg_inv_ex" else found


@row("linalg_solve")
def _solution(call: Any, a: Any, b: Any, left: bool = True) -> Any:
    return _solve(call, a, b, left)[0]


@row("_linalg_solve_ex", "linalg_solve_ex")
def _solve(call: Any, a: Any, b: Any, left: bool = True, check_errors: bool = False) -> Any:
    a_fake, b_fake = call.fakes[:2]
    is_vector = b_fake.ndim == 1 or (b_fake.ndim == a_fake.ndim - 1 and b_fake.shape == a_fake.shape[:-1])
    if not left:
        return vx.swapaxes(vx.linalg.solve(vx.swapaxes(a, -1, -2), vx.swapaxes(b, -1, -2)), -1, -2), None, None, None
    if not is_vector:
        return vx.linalg.solve(a, b), None, None, None
    return vx.squeeze(vx.linalg.solve(a, vx.expand_dims(b, axis=-1)), axis=-1), None, None, None


@row("linalg_cholesky_ex", "linalg_cholesky", "cholesky")
def _cholesky(call: Any, x: Any, upper: bool = False, check_errors: bool = False) -> Any:
    found = vx.linalg.cholesky(x, upper=upper)
    return (found, None) if call.name == "linalg_cholesky_ex" else found


@row("linalg_solve_triangular")
def _solve_triangle(
    call: Any, a: Any, b: Any, upper: bool = False, left: bool = True, unitriangular: bool = False
) -> Any:
    a = (vx.triu if upper else vx.tril)(a, k=int(unitriangular) * (1 if upper else -1))
    if unitriangular:
        a = a + vx.eye(a.shape[-1], dtype=call.dtype)
    return _solve(call, a, b, left)[0]


@row("triangular_solve")
def _solve_triangle_with(
    call: Any, b: Any, a: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    given = a
    if transpose:
        a, upper = vx.conj(vx.swapaxes(a, -1, -2)), not upper
    return _solve_triangle(call, a, b, upper, unitriangular=unitriangular), vx.copy(given)


@row("cholesky_solve")
def _solve_by_factor(call: Any, b: Any, factor: Any, upper: bool = False) -> Any:
    lower = vx.conj(vx.swapaxes(vx.triu(factor), -1, -2)) if upper else vx.tril(factor)
    return vx.linalg.solve(vx.conj(vx.swapaxes(lower, -1, -2)), vx.linalg.solve(lower, b))


@row("cholesky_inverse")
def _invert_by_factor(call: Any, factor: Any, upper: bool = False) -> Any:
    return _solve_by_factor(call, vx.eye(factor.shape[-1], dtype=call.dtype), factor, upper)


@row("linalg_householder_product")
def _reflected(call: Any, v: Any, tau: Any) -> Any:
    """The first columns of the product of reflections I - tau v v^H. It is I - V T V^H where the inverse of T has 1 / tau on its
    diagonal and V^H V above it (Joffrain et al., ACM Trans. Math. Softw. 32, 2006). A reflection of tau 0 does nothing."""
    *_, rows, columns = v.shape
    count = tau.shape[-1]
    is_used = tau != 0
    identity = vx.eye(rows, columns, dtype=call.dtype)
    v = vx.tril(v[..., :count], k=-1) + identity[:, :count]
    v = vx.where(vx.expand_dims(is_used, axis=-2), v, vx.zeros_like(v))
    adjoint = vx.conj(vx.swapaxes(v, -1, -2))
    scales = vx.expand_dims(1 / vx.where(is_used, tau, vx.ones_like(tau)), axis=-1)
    inverse = vx.triu(adjoint @ v, k=1) + scales * vx.eye(count, dtype=call.dtype)
    return identity - v @ vx.linalg.solve(inverse, adjoint[..., :columns])


@row("ormqr")
def _times_reflected(call: Any, v: Any, tau: Any, other: Any, left: bool = True, transpose: bool = False) -> Any:
    """The whole product of reflections, or its adjoint, times a matrix, from the left or the right."""
    rows, columns = v.shape[-2:]
    more = vx.zeros((*v.shape[:-1], max(rows - columns, 0)), dtype=v.dtype)
    product = _reflected(call, vx.concat((v, more), axis=-1)[..., :rows], tau)
    product = vx.conj(vx.swapaxes(product, -1, -2)) if transpose else product
    return product @ other if left else other @ product


# Terms of the exponential's series, the norms of matrices of which they leave out less than a rounding error, and how often it is
# squared at most: the exponentials of matrices of larger norms are NaN.
_TERMS, _LARGEST_NORM, _SQUARINGS = 18, {32: 3.0, 64: 1.09}, 12


@row("linalg_matrix_exp")
def _exponential(call: Any, x: Any) -> Any:
    """The series for x 2^-k of a small norm, squared k times, with a k for each (Bader, Blanes and Casas, Mathematics 7, 2019)."""
    wide = vx.astype(x, vx.float32) if call.dtype in (vx.float16, vx.bfloat16) else x
    bits = vx.finfo(wide.dtype).bits
    norms = vx.max(vx.sum(vx.abs(wide), axis=-2), axis=-1)[..., None, None] / _LARGEST_NORM[bits]
    times = vx.ceil(vx.log2(vx.maximum(norms, vx.ones_like(norms))))
    scaled = wide * vx.exp2(-times)
    identity = vx.eye(x.shape[-1], dtype=wide.dtype)
    result = identity + scaled * (1 / _TERMS)
    for term in reversed(range(1, _TERMS)):
        result = identity + (scaled @ result) * (1 / term)
    for place in range(_SQUARINGS):
        result = vx.where(times > place, result @ result, result)
    return vx.where(times > _SQUARINGS, vx.nan, result)


@row("_linalg_det")
def _determinant(call: Any, x: Any) -> Any:
    return vx.linalg.det(x), None, None


@row("_linalg_slogdet")
def _log_of_determinant(call: Any, x: Any) -> Any:
    sign, size = vx.linalg.slogdet(x)
    return sign, size, None, None


@row("_linalg_svd")
def _singular_values(
    call: Any, x: Any, full_matrices: bool = False, compute_uv: bool = True, driver: str | None = None
) -> Any:
    if not compute_uv:
        return None, vx.linalg.svdvals(x), None
    return tuple(vx.linalg.svd(x, full_matrices=full_matrices))


@row("_linalg_eigh")
def _symmetric_eigenvalues(call: Any, x: Any, uplo: str = "L", compute_v: bool = True) -> Any:
    x = x if uplo == "L" else vx.swapaxes(x, -1, -2)
    return tuple(vx.linalg.eigh(x)) if compute_v else (vx.linalg.eigvalsh(x), None)


@row("linalg_qr")
def _orthogonal(call: Any, x: Any, mode: Any = "reduced") -> Any:
    return tuple(vx.linalg.qr(x, mode=mode))


@row("linalg_cross")
def _cross(call: Any, a: Any, b: Any, dim: int = -1) -> Any:
    a, b = vx.broadcast_arrays(a, b)
    return vx.linalg.cross(a, b, axis=dim)


# -- Fourier transforms: PyTorch divides by nothing, by the root of the count, or by the count ------------------------

_FORTH: tuple[Any, ...]
_BACK: tuple[Any, ...]
_FORTH, _BACK = ("backward", "ortho", "forward"), ("forward", "ortho", "backward")


@row("_fft_r2c")
def _transform_real(call: Any, x: Any, dim: Sequence[int], normalization: int, onesided: bool) -> Any:
    return (vx.fft.rfftn if onesided else vx.fft.fftn)(x, axes=tuple(dim), norm=_FORTH[normalization])


@row("_fft_c2c")
def _transform(call: Any, x: Any, dim: Sequence[int], normalization: int, forward: bool) -> Any:
    norm = (_FORTH if forward else _BACK)[normalization]
    return (vx.fft.fftn if forward else vx.fft.ifftn)(x, axes=tuple(dim), norm=norm)


@row("_fft_c2r")
def _transform_to_real(call: Any, x: Any, dim: Sequence[int], normalization: int, last_dim_size: Any) -> Any:
    sizes = (*(x.shape[axis] for axis in dim[:-1]), last_dim_size)
    return vx.fft.irfftn(x, s=sizes, axes=tuple(dim), norm=_BACK[normalization])


# -- distances --------------------------------------------------------------------------------------------------------


def _size(call: Any, apart: Any, p: float) -> Any:
    """The norm of what lies along the last axis, of numbers that are not negative."""
    if p == 2:
        return vx.sqrt(vx.sum(apart * apart, axis=-1))
    if p == float("inf"):
        return vx.max(apart, axis=-1)
    if p == 0:
        return vx.sum(call.cast(apart != 0), axis=-1)
    return vx.sum(apart, axis=-1) if p == 1 else vx.pow(vx.sum(vx.pow(apart, p), axis=-1), 1 / p)


@row("_cdist_forward", "_euclidean_dist")
def _distances(call: Any, a: Any, b: Any, p: float = 2.0, *_: Any) -> Any:
    """Of each row of a from each row of b."""
    return _size(call, vx.abs(vx.expand_dims(a, axis=-2) - vx.expand_dims(b, axis=-3)), p)


@row("_pdist_forward")
def _distances_of_pairs(call: Any, x: Any, p: float = 2.0) -> Any:
    """Of each row from those after it."""
    first, second = vx.triu_indices(x.shape[0], 1)
    return _size(call, vx.abs(vx.take(x, first, axis=0) - vx.take(x, second, axis=0)), p)
