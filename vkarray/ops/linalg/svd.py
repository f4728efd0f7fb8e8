"""The singular value decomposition by Jacobi rotations, and what follows from it: pinv and matrix_rank."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ...core import dtypes, layout, promotion
from ...core.array import ArrayLike, StrongLike, VkArray, default_dtype, empty, is_supported
from ...core.dtypes import REAL_OF, DType
from ...errors import LinAlgError
from ...kernels import launch
from ...kernels.conversion import cast
from ...kernels.dispatch import dispatch
from ...kernels.launch import Operation, uses_shared_memory
from ...kernels.planned import planned
from ...kernels.rows import ROWS, check_array
from ...shaders.source import Shader, Variant
from .. import creation, searching, sorting, statistical, utility
from ..indexing import take_along_axis
from ..linear_algebra import matmul, vecdot
from ..manipulation import concat
from . import qr
from .common import FACTORED, matrices, variant, working_copy

if TYPE_CHECKING:
    from ...kernels.launch import Device

_SIZES = (32, 16, 8)  # columns that are made orthogonal at a time: two blocks of half as many
# Where invocations meet in shared memory (GPUs), and where they do not:
_LARGEST = {True: 32, False: 16}  # of these sizes: rotations are dear on a CPU, and their number grows with the size
_CHUNK = {True: 128, False: 256}  # elements of a column that are summed up in one go
_WIDTH = {True: 1, False: 4}  # elements of a column that one invocation turns
_WORKGROUP = 64  # but for linalg_svd_rotations, where an invocation has a block of 2 x 2
_TILE = 4  # of linalg_svd_gram
_MOST_SWEEPS = 64
_TOLERANCE = 10.0  # the least cosine, in units of eps, that counts as orthogonal


class SVDResult(NamedTuple):
    """What `svd` returns."""

    U: VkArray
    S: VkArray
    Vh: VkArray


@planned
def svd(
    x: ArrayLike, /, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> SVDResult | VkArray:  # fmt: skip
    """The singular value decomposition x = U @ diag(S) @ Vh of each matrix of a stack.

    Parameters: x (floating-point of 32 or 64 bits, integers as float64) of shape (..., M, N); full_matrices, whether U
    and Vh are square or have only the K = min(M, N) columns and rows that belong to singular values; compute_uv (False:
    return the singular values alone); hermitian (accepted, and changes nothing).
    Returns a named tuple: U of shape (..., M, M) or (..., M, K) with orthonormal columns; S of shape (..., K), real, the
    singular values in descending order; Vh of shape (..., N, N) or (..., K, N) with orthonormal rows. The signs of
    singular vectors, and the vectors of singular values that are equal or zero, are not those of other libraries.
    Raises LinAlgError for matrices with NaN or infinities, ValueError for fewer than 2 dimensions, TypeError for
    what is not an array and 16-bit types.
    Method: a QR decomposition, then one-sided Jacobi rotations (Hestenes 1958) of the columns of R^H (Drmac and Veselic,
    SIAM J. Matrix Anal. Appl. 29, 2008), in blocks; the residual, the orthogonality and the singular values are within
    a small multiple of max(M, N) eps, relative to the largest singular value.
    Standard: linear algebra extension, `svd`.
    """
    return factors("svd", x, full_matrices) if compute_uv else singular_values("svd", x)


def factors(name: str, x: VkArray, full_matrices: bool) -> SVDResult:
    """`svd`, with the name of the function whose errors they are."""
    x = matrices(name, x)
    *stack, m, n = x._shape
    if 0 in x._shape:
        return _empty(x, full_matrices)
    wide = m < n
    values, left, right = _decompose(name, x.mT if wide else x, vectors=True, square=full_matrices)
    right = conjugate(right)
    if wide:
        left, right = right.mT, left.mT
    return SVDResult(*(_stacked(part, stack) for part in (left, values, right)))


@planned
def svdvals(x: ArrayLike, /) -> VkArray:
    """The singular values of each matrix of a stack, in descending order.

    Parameters: x (floating-point of 32 or 64 bits, integers as float64) of shape (..., M, N).
    Returns a real array of shape (..., min(M, N)). Raises what `svd` raises. Method: as `svd`, without the vectors.
    Standard: linear algebra extension, `svdvals`.
    """
    return singular_values("svdvals", x)


def singular_values(name: str, x: VkArray) -> VkArray:
    """`svdvals`, with the name of the function whose errors they are."""
    x = matrices(name, x)
    *stack, m, n = x._shape
    if 0 in x._shape:
        return creation.zeros((*stack, min(m, n)), dtype=REAL_OF.get(x._dtype, x._dtype), device=x._device)
    return _stacked(_decompose(name, x.mT if m < n else x, vectors=False)[0], stack)


@planned
def pinv(
    x: ArrayLike, /, rcond: float | VkArray | None = None, hermitian: bool = False, *, rtol: float | VkArray | None = None
) -> VkArray:  # fmt: skip
    """The Moore-Penrose pseudo-inverse of each matrix of a stack.

    Parameters: x (floating-point of 32 or 64 bits, integers as float64) of shape (..., M, N); rtol, below which part of
    the largest one singular values count as zero: a number, or an array for each matrix of the stack (it broadcasts),
    max(M, N) eps by default; rcond (the same); hermitian (accepted, and changes nothing).
    Returns an array of shape (..., N, M). Raises what `svd` raises. Method: from the singular value decomposition.
    Standard: linear algebra extension, `pinv`.
    """
    if rcond is not None and rtol is not None:
        raise ValueError("pinv: expected rcond or rtol, got both.")
    x = matrices("pinv", x)
    *stack, m, n = x._shape
    if 0 in x._shape:
        return creation.zeros((*stack, n, m), dtype=x._dtype, device=x._device)
    u, s, vh = factors("pinv", x, False)
    large = s > cutoff("pinv", x, s, rcond if rtol is None else rtol)
    inverse = searching.where(large, 1 / searching.where(large, s, 1.0), 0.0)
    scaled = conjugate(vh).mT * cast(inverse, x._dtype)[..., None, :]
    return scaled @ conjugate(u).mT


@planned
def matrix_rank(
    x: StrongLike, /, tol: ArrayLike | None = None, hermitian: bool = False, *, rtol: float | VkArray | None = None
) -> VkArray:  # fmt: skip
    """The rank of each matrix of a stack: how many singular values exceed `rtol` times the largest one.

    Parameters: x (floating-point of 32 or 64 bits, integers as float64) of shape (..., M, N); rtol, a number, or an array
    for each matrix of the stack (it broadcasts), max(M, N) eps by default; tol (what singular values have to exceed, instead);
    hermitian (accepted, and changes nothing). Of fewer than 2 dimensions the rank is 1, or 0 where all elements are.
    Returns an integer array of shape (...). Raises what `svd` raises. Method: from the singular values.
    Standard: linear algebra extension, `matrix_rank`.
    """
    if tol is not None and rtol is not None:
        raise ValueError("matrix_rank: expected tol or rtol, got both.")
    if check_array("matrix_rank", x).ndim < 2:
        return cast(utility.any(x), default_dtype("int", x._device))
    s = singular_values("matrix_rank", x)
    if 0 in s._shape:
        return creation.zeros(s._shape[:-1], dtype=default_dtype("int", x._device), device=x._device)
    if tol is not None:
        return searching.count_nonzero(s > (tol[..., None] if type(tol) is VkArray else tol), axis=-1)
    return searching.count_nonzero(s > cutoff("matrix_rank", x, s, rtol), axis=-1)


def cutoff(function: str, x: VkArray, s: VkArray, rtol: float | VkArray | None) -> VkArray:
    """What singular values have to exceed, of a shape that broadcasts against s."""
    if rtol is None:
        rtol = max(x._shape[-2:]) * _eps(s._dtype)
    elif type(rtol) is VkArray:
        promotion.check_category(function, rtol._dtype, "real numeric")
        rtol = cast(rtol, s._dtype)[..., None]
    else:
        rtol = promotion.as_float(rtol, function, "rtol")
    return s[..., :1] * rtol


def _eps(dtype: DType) -> float:
    return 2.0**-23 if dtype.bits == 32 else 2.0**-52


def _empty(x: VkArray, full_matrices: bool) -> SVDResult:
    """The decomposition of a stack without elements: S is empty, or there is no matrix."""
    *stack, m, n = x._shape
    k = min(m, n)
    real = REAL_OF.get(x._dtype, x._dtype)

    def identity(rows: int, columns: int) -> VkArray:
        one = creation.eye(rows, columns, dtype=x._dtype, device=x._device)
        return launch.copy(one._view((*stack, rows, columns), (*(0 for _ in stack), *one._strides)))

    s = creation.zeros((*stack, k), dtype=real, device=x._device)
    return SVDResult(identity(m, m if full_matrices else k), s, identity(n if full_matrices else k, n))


def _stacked(x: VkArray, stack: list[int]) -> VkArray:
    """x of shape (batch, ...) with the dimensions of the stack in place of the batch."""
    x = launch.contiguous(x)
    shape = (*stack, *x._shape[1:])
    return x._view(shape, layout.contiguous_strides(shape))


# -- the decomposition of tall matrices -------------------------------------------------------------------------------


@functools.cache
def _balance_operation(name: str, dtype: DType) -> Operation:
    """An elementwise operation of glsl/lib/balance.glsl: of an element, and the reach of what it belongs to."""
    real = REAL_OF.get(dtype, dtype)
    if name == "vx_reach":
        return Operation(f"reach {dtype}", "vx_reach(a)", (dtype,), real, dtype, "/balance")
    return Operation(f"{name} {dtype}", f"{name}(a, b)", (dtype, real), dtype, dtype, "/balance")


def _balance(name: str, x: VkArray, *others: VkArray) -> VkArray:
    operation = _balance_operation(name, x._dtype)
    return launch.elementwise(operation, (x, *others), empty(x._shape, operation.result, x._device))


def _decompose(name: str, x: VkArray, *, vectors: bool, square: bool = False) -> tuple[VkArray, VkArray, VkArray]:
    """values (batch, n), left and right: A = left[:, :, :n] @ diag(values) @ conj(right) of a stack (..., m, n), m >= n.

    left has n columns, m with `square`; without `vectors` only the values mean anything.
    Raises LinAlgError for numbers that are not finite.
    """
    a = working_copy(x)
    batch, m, n = a._shape
    reach = statistical.max(_balance("vx_reach", a), axis=(1, 2), keepdims=True)
    # That of a single matrix is read as it is: a first call then waits for two kernels less.
    if not math.isfinite(float(reach if batch == 1 else statistical.max(reach))):
        raise LinAlgError(
            f"{name}: the singular value decomposition does not converge: x holds NaN or infinities. "
            f"Look for them with vkarray.isfinite."
        )
    a = _balance("vx_balanced", a, reach)
    # A P = Q R with columns from long to short: the columns of R^H are nearer to orthogonal than those of A.
    order = sorting.argsort(_norms(a, axis=-2), descending=True)
    q, r = qr.factors(take_along_axis(a, order[:, None, :], axis=2), square and vectors)

    # R^H V = W with orthogonal columns, which lie in rows here, those of V behind them.
    size = _size(n, a._dtype, a._device)
    rows, pitch = -(-n // size) * size, 2 * n if vectors else n
    work = creation.zeros((batch, rows, pitch), dtype=a._dtype, device=a._device)
    w, v = (work._view((batch, n, n), work._strides, offset) for offset in (0, pitch - n))
    move = launch.copy_operation(a._dtype)
    launch.elementwise(move, (conjugate(r[:, :n, :]),), w)
    if vectors:
        diagonal = v._view((batch, n), (rows * pitch, pitch + 1))
        launch.elementwise(move, (launch.scalar(1, a._dtype, a._device),), diagonal)
    _orthogonalize(name, work, n, size)

    longest = statistical.max(_balance("vx_reach", w), axis=2, keepdims=True)
    w = _balance("vx_balanced", w, longest)
    norms = _norms(w, axis=-1)
    values = _balance("vx_unbalanced", norms, longest[:, :, 0])
    values = _balance("vx_unbalanced", values, reach[:, :, 0])
    if not vectors:
        return sorting.sort(values, descending=True), q, r
    # A = Q V S (P U)^H, where the columns of U are those of W with norm 1.
    descending = sorting.argsort(values, descending=True)
    values = take_along_axis(values, descending)
    w = w / cast(searching.where(norms > 0, norms, 1.0), a._dtype)[:, :, None]
    right = take_along_axis(w, descending[:, :, None], axis=1)
    right = take_along_axis(right, sorting.argsort(order)[:, None, :], axis=2)
    left = matmul(q[:, :, :n], take_along_axis(v, descending[:, :, None], axis=1).mT)
    if square and m > n:
        left = concat((left, q[:, :, n:]), axis=2)
    return values, left, _completed(right, values)


def _completed(right: VkArray, values: VkArray) -> VkArray:
    """`right` (batch, n, n) with orthonormal rows also where singular values are negligible.

    The rows that are there are the columns of a QR decomposition's Q, but for signs, and those of Q complete them.
    """
    used = values > 2 * _eps(values._dtype) * values[:, :1]
    # Values descend, so the last one of a single matrix tells of all; for stacks there is a reduction.
    if bool(used[:, -1] if len(used) == 1 else utility.all(used)):
        return right
    used = used[:, :, None]
    q = qr.factors(searching.where(used, right, 0).mT, False).Q
    return searching.where(used, right, q.mT)


def _norms(x: VkArray, axis: int) -> VkArray:
    squares = vecdot(x, x, axis=axis)
    return ROWS["sqrt"](ROWS["real"](squares) if x._dtype.category == "complex floating" else squares)


def conjugate(x: VkArray) -> VkArray:
    return ROWS["conj"](x) if x._dtype.category == "complex floating" else x


# -- one-sided Jacobi ---------------------------------------------------------------------------------------------------


def variants(device: Device) -> Iterator[Shader]:
    """The shaders of all types that the device supports."""
    for dtype in FACTORED:
        if is_supported(dtype, device):
            yield variant("linalg/svd_rotations", dtype, device)
            yield from (_gram_variant(dtype, device, shared) for shared in (False, True))
            yield from (_apply_variant(dtype, device, size, shared) for size in _SIZES for shared in (False, True))
            for name in ("vx_reach", "vx_balanced", "vx_unbalanced"):
                yield from _balance_operation(name, dtype).variants(device)


_SHARED = {True: (("SHARED", "1"),), False: ()}
_SUFFIX = {True: " (shared)", False: ""}


def _gram_variant(dtype: DType, device: Device, shared: bool) -> Variant:
    template, defines, label, _ = variant("linalg/svd_gram", dtype, device)
    return Variant(template, (*defines, *_SHARED[shared]), label + _SUFFIX[shared])


def _apply_variant(dtype: DType, device: Device, size: int, shared: bool) -> Variant:
    template, defines, label, _ = variant("linalg/svd_apply", dtype, device)
    defines = (*defines, ("SIZE", str(size)), ("WIDTH", str(_WIDTH[shared])), *_SHARED[shared])
    return Variant(template, defines, f"{label} {size}{_SUFFIX[shared]}")


def _size(n: int, dtype: DType, device: Device) -> int:
    """How many columns to make orthogonal at a time: as many as fit shared memory, and no more than there are."""
    limit, largest = device.limits.max_shared_memory_size, _LARGEST[uses_shared_memory(device)]
    fitting = [size for size in _SIZES if size <= largest and 2 * (size + 1) * size * dtype.itemsize + 64 <= limit]
    return next((size for size in reversed(fitting) if size >= n), fitting[0])


def _orthogonalize(name: str, work: VkArray, length: int, size: int) -> None:
    """Rotate the rows of work (batch, rows, pitch), in place, until their first `length` elements are orthogonal.

    `size` divides the number of rows.
    """
    device, dtype = work._device, work._dtype
    batch, rows, pitch = work._shape
    pairs = rows // size
    blocks = 2 * pairs
    shared = uses_shared_memory(device)
    chunk, width = _CHUNK[shared], _WIDTH[shared]
    chunks = -(-length // chunk)
    gram = empty((batch * pairs * chunks * size * size,), dtype, device)
    turned = empty((batch * pairs,), dtypes.int32, device)
    exponents = creation.zeros((2, batch), dtype=dtypes.int32, device=device)
    unfinished = creation.zeros((_MOST_SWEEPS,), dtype=dtypes.int32, device=device)

    sized = ((1, size),)
    gram_kernel = launch.kernel(_gram_variant(dtype, device, shared), device, _WORKGROUP, sized)
    rotations = launch.kernel(variant("linalg/svd_rotations", dtype, device), device, size * size // 4, sized)
    apply = launch.kernel(_apply_variant(dtype, device, size, shared), device, _WORKGROUP)
    across = -(-pitch // (apply.local_size[0] * width))
    tiles = size // _TILE * (size // _TILE + 1) // 2
    workgroups = batch * pairs * chunks if shared else -(-batch * pairs * chunks * tiles // gram_kernel.local_size[0])
    gram_groups, rotations_groups, apply_groups = (
        launch.groups_for(count, device.limits, 1) for count in (workgroups, batch * pairs, batch * pairs * across)
    )
    tolerance = max(_TOLERANCE, math.sqrt(length))
    shape = {"batch": batch, "rows": rows, "pitch": pitch, "blocks": blocks, "chunks": chunks}
    gram_fields = {**shape, "x": work, "gram": gram, "height": length, "chunk": chunk}
    rotations_fields = {
        "gram": gram,
        "turned": turned,
        "exponents": exponents,
        "unfinished": unfinished,
        "batch": batch,
        "pairs": pairs,
        "chunks": chunks,
        "tolerance": tolerance,
    }
    apply_fields = {**shape, "x": work, "turns": gram, "turned": turned, "groups": across}
    for sweep in range(_MOST_SWEEPS):
        for turn in range(blocks - 1):
            dispatch(gram_kernel, gram_groups, {**gram_fields, "round": turn}, writes=("gram",))
            dispatch(
                rotations, rotations_groups, {**rotations_fields, "sweep": sweep},
                writes=("gram", "turned", "exponents", "unfinished"),
            )  # fmt: skip
            dispatch(apply, apply_groups, {**apply_fields, "round": turn}, writes=("x",))
        if device.number(unfinished._buffer, 4 * (unfinished._offset + sweep), "int32") == 0:
            return
    raise LinAlgError(
        f"{name}: the singular value decomposition did not converge in {_MOST_SWEEPS} sweeps. Please report the matrix."
    )
