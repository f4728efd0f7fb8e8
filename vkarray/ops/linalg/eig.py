"""Eigenvalues and eigenvectors of general square matrices: Hessenberg form, then the QR algorithm, all on the device."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...core import dtypes, layout
from ...core.array import ArrayLike, VkArray, empty, is_supported, operations
from ...core.dtypes import CATEGORIES, COMPLEX_OF, REAL_OF
from ...errors import LinAlgError
from ...kernels import launch
from ...kernels.array_like import takes_lists
from ...kernels.dispatch import Fields
from ...kernels.product import strategies
from ...shaders.source import Variant
from .. import creation
from .common import FACTORED, matrices, variant, variants_of, within_reach

if TYPE_CHECKING:
    from ...kernels.launch import Device

_TEMPLATES = (
    "linalg/eig_measure", "linalg/eig_arrange", "linalg/eig_begin",
    "linalg/hessenberg_reflector", "linalg/hessenberg_columns", "linalg/hessenberg_rows",
    "linalg/eig_chase", "linalg/eig_apply", "linalg/eig_split", "linalg/eig_triangular",
)  # fmt: skip
_COMPLEX_TEMPLATES = ("linalg/eig_vectors", "linalg/eig_normalize")  # for the complex types alone

# Words of a matrix's state and the values of the first of them, as in glsl/lib/eig.glsl.
_STATE_WORDS = 11
_STUCK, _NOT_FINITE, _STATUSES = 2, 3, 4
# Rows of the diagonal window that a workgroup keeps in shared memory: the last for matrices that it holds, else the first that
# fits. Then the rows or columns of the rest of the matrix that a workgroup multiplies with the window's transformation.
_WINDOWS = (48, 40, 32, 24, 16)
_LINES = 32
# For the kinds of device, invocations of a workgroup (a power of two) and those that share a row or column.
_WORKGROUP = {"gpu": 128, "cpu": 16}
_LANES = {"gpu": 16, "cpu": 1}
_PATIENCE = 30  # sweeps for each row, on average, before a matrix counts as stuck (LAPACK's number)
_STEPS = 16  # of the QR algorithm, between two looks whether all matrices are done
_PRODUCTS = 1 << 16  # that an invocation adds up in one dispatch of the back substitution, at most
_LOOP_TURNS = 1 << 14  # of loops over the rows in one dispatch; llvmpipe leaves a shader's loops after 65,535


class EigResult(NamedTuple):
    """What `eig` returns."""

    eigenvalues: VkArray
    eigenvectors: VkArray


def variants(device: Device) -> Iterator[Variant]:
    """Every variant that `eig` and `eigvals` use, for the archive."""
    for template in _TEMPLATES:
        yield from variants_of(template, device)
    for dtype in filter(CATEGORIES["complex floating"].__contains__, FACTORED):
        if is_supported(dtype, device):
            yield from (variant(template, dtype, device) for template in _COMPLEX_TEMPLATES)


@takes_lists
def eig(x: ArrayLike, /) -> EigResult:
    """The eigenvalues and right eigenvectors of each matrix: x v = w v.

    Parameters: x (floating-point of 32 bits or more; integers and bool are converted to float64) of shape (..., M, M).
    Returns a named tuple: the eigenvalues, shape (..., M), and the eigenvectors of norm 1 in the columns of an array of
    shape (..., M, M), both complex with the precision of x (as the standard says: NumPy's are real where they can be). The
    order is unspecified; of a real matrix, an eigenvalue stands beside its conjugate, and real eigenvalues have real
    eigenvectors; those of a Hermitian matrix are orthonormal. A defective matrix has fewer independent eigenvectors than columns.
    Raises LinAlgError for infinities and NaN, and where the iteration does not converge, ValueError for matrices that
    are not square, TypeError for other types. Waits for the device.
    Method: Householder reduction to Hessenberg form; Francis's double-shift QR algorithm in windows (Braman, Byers and
    Mathias, SIAM J. Matrix Anal. Appl. 23, 2002) to Schur form; back substitution. It is backward stable: with
    |v| = 1, |x v - w v| is a small multiple of M eps |x|.
    Standard: linear algebra extension, `eig`.
    """
    x = matrices("eig", x, square=True)
    values, vectors = solved("eig", x, vectors=True)
    return EigResult(values, vectors)


@takes_lists
def eigvals(x: ArrayLike, /) -> VkArray:
    """The eigenvalues of each matrix.

    Parameters: x (floating-point of 32 bits or more; integers and bool are converted to float64) of shape (..., M, M).
    Returns a complex array of shape (..., M) with the precision of x. The order is unspecified; of
    a real matrix, an eigenvalue stands beside its conjugate.
    Raises LinAlgError for infinities and NaN, and where the iteration does not converge, ValueError for matrices that
    are not square, TypeError for other types. Waits for the device.
    Method: as `eig`, without eigenvectors. Standard: linear algebra extension, `eigvals`.
    """
    x = matrices("eigvals", x, square=True)
    return solved("eigvals", x, vectors=False)[0]


def real_eigenvalues(x: VkArray) -> VkArray:
    """`eigvals`, as real numbers where none of a real matrix has an imaginary part: what NumPy's function gives."""
    values = eigvals(x)
    if x._dtype.kind != "c" and not bool(operations["any"](operations["imag_view"](values))):
        return operations["real_view"](values)
    return values


class _Work(NamedTuple):
    """Matrices on their way, as the kernels of glsl/lib/eig.glsl see them.

    `h` of shape (batch, rows, n) becomes their Hessenberg and then their Schur form; where eigenvectors are wanted,
    another n rows below it gather the unitary transformation.
    """

    h: VkArray
    states: VkArray
    counts: VkArray  # how many matrices have come to each status

    def run(
        self, template: str, fields: Fields, writes: Sequence[str], invocations: int, size: int,
        constants: tuple[tuple[int, int], ...] = (),
    ) -> None:  # fmt: skip
        """Dispatch a kernel that also takes h and its shape."""
        batch, rows, n = self.h._shape
        own = {"h": self.h, "batch": batch, "n": n, "rows": rows, **fields}
        _run(template, self.h, own, writes, invocations, size, constants)


def _run(
    template: str, like: VkArray, fields: Fields, writes: Sequence[str], invocations: int, size: int,
    constants: tuple[tuple[int, int], ...] = (),
) -> None:  # fmt: skip
    """Dispatch a kernel that computes in the type of `like`."""
    device = like._device
    groups = launch.groups_for(invocations, device.limits, size)
    chosen = variant(template, like._dtype, device)
    launch.dispatch(chosen, device, groups, fields, writes=writes, workgroup_size=size, constants=constants)


def solved(name: str, x: VkArray, vectors: bool) -> tuple[VkArray, VkArray]:
    """The eigenvalues and, with `vectors`, the eigenvectors (else an array without a meaning), complex ones."""
    x = matrices(name, x, square=True)
    device, n = x._device, x._shape[-1]
    dtype = COMPLEX_OF.get(x._dtype, x._dtype)
    values = empty(x._shape[:-1], dtype, device)
    result = empty(x._shape if vectors else (0,), dtype, device)
    batch = math.prod(x._shape[:-2])
    if batch == 0 or n == 0:
        return values, result
    square = (batch, n, n)
    states = creation.zeros((batch, _STATE_WORDS), dtype=dtypes.int32, device=device)
    blocks = empty((batch, n, 3), dtype, device)
    x = launch.contiguous(x)._view(square, layout.contiguous_strides(square))
    own_values = values._view((batch, n), (n, 1))
    own_vectors = result._view(square, layout.contiguous_strides(square)) if vectors else x
    for part in within_reach(x, states, blocks, own_values, own_vectors):
        _solve_part(name, *part, vectors=vectors)
    return values, result


def _solve_part(
    name: str, x: VkArray, states: VkArray, blocks: VkArray, values: VkArray, result: VkArray, *, vectors: bool
) -> None:
    batch, n, _ = x._shape
    device = x._device
    kind = device.limits.kind
    h = empty((batch, 2 * n if vectors else n, n), x._dtype, device)
    work = _Work(h, states, creation.zeros((_STATUSES,), dtype=dtypes.int32, device=device))
    size = _WORKGROUP[kind]
    _begin(work, x, size)
    _reduce(work, size, _LANES[kind])
    _iterate(name, work, size)
    fields = {"states": states, "eigenvalues": values, "blocks": blocks}
    work.run("linalg/eig_split", fields, ("eigenvalues", "blocks"), batch * n, launch.WORKGROUP_SIZE)
    if vectors:
        _vectors(work, blocks, result)


def _begin(work: _Work, x: VkArray, size: int) -> None:
    """Copy the matrices, scaled, their rows and columns in an order that leaves least to do."""
    h, states, counts = work
    batch, rows, n = h._shape
    filled, order = (empty((batch, length, n), dtypes.int32, h._device) for length in (2, 1))
    fields: dict[str, Any] = {"a": x, "states": states, "filled": filled, "batch": batch, "n": n}
    _run("linalg/eig_measure", h, fields, ("states", "filled"), batch * n, launch.WORKGROUP_SIZE)
    turns = max(1, _LOOP_TURNS // (n // size + 4))
    fields |= {"order": order, "turns": turns}
    for _ in range(0, n + 1, turns):
        _run("linalg/eig_arrange", h, fields, ("states", "filled", "order"), batch * size, size)
    each = launch.invocations_of_group(h._device.limits)
    fields = {"a": x, "states": states, "order": order, "counts": counts}
    work.run("linalg/eig_begin", fields, ("h", "states", "counts"), batch * -(-rows * n // each) * each, each)


def _reduce(work: _Work, size: int, lanes: int) -> None:
    """To Hessenberg form, by a Householder reflector for each column."""
    h = work.h
    batch, rows, n = h._shape
    v, z = (empty((batch, n), h._dtype, h._device) for _ in range(2))
    taus = empty((batch,), REAL_OF.get(h._dtype, h._dtype), h._device)
    each = size // lanes  # rows or columns of a workgroup
    constants = ((1, lanes),)
    for column in range(n - 2):
        fields = {"v": v, "taus": taus, "column": column}
        work.run("linalg/hessenberg_reflector", fields, ("h", "v", "taus"), batch * size, size)
        fields["z"] = z
        columns = -(-(n - column - 1) // each)
        work.run("linalg/hessenberg_columns", fields, ("z",), batch * columns * size, size, constants)
        work.run("linalg/hessenberg_rows", fields, ("h",), batch * -(-rows // each) * size, size, constants)


def _window(h: VkArray) -> int:
    """The rows of a window; with its transformation and what else a workgroup keeps it fits the shared memory."""
    itemsize, available = h._dtype.itemsize, h._device.limits.max_shared_memory_size
    if h._shape[-1] <= _WINDOWS[-1]:
        return _WINDOWS[-1]
    return next(rows for rows in _WINDOWS if (2 * rows + 3) * rows * itemsize <= available)


def _iterate(name: str, work: _Work, size: int) -> None:
    """The QR algorithm, down to diagonal blocks of 1 and 2 rows."""
    h, states, counts = work
    batch, rows, n = h._shape
    window = _window(h)
    q = empty((batch, window, window), h._dtype, h._device)
    tiles = -(-rows // _LINES)
    chased = {"q": q, "states": states, "counts": counts, "limit": _PATIENCE * max(10, n)}
    applied = {"q": q, "states": states, "tiles": tiles}
    constants = ((1, window), (2, _LINES))
    while True:
        for _ in range(_STEPS if n > window else 1):
            work.run("linalg/eig_chase", chased, ("h", "q", "states", "counts"), batch * size, size, constants[:1])
            work.run("linalg/eig_apply", applied, ("h",), batch * tiles * size, size, constants)
        word = bytearray(4 * _STATUSES)
        h._device.download(counts._buffer, 0, word)
        numbers = memoryview(word).cast("i")
        if numbers[_NOT_FINITE]:
            raise LinAlgError(f"{name}: Array must not contain infs or NaNs.")
        if numbers[_STUCK]:
            raise LinAlgError(f"{name}: Eigenvalues did not converge for {numbers[_STUCK]} of {batch} matrices.")
        if sum(numbers) == batch:
            return


def _vectors(work: _Work, blocks: VkArray, result: VkArray) -> None:
    """The eigenvectors, from the Schur form."""
    batch, rows, n = work.h._shape
    dtype, device, size = result._dtype, result._device, launch.WORKGROUP_SIZE
    schur = empty((batch, rows, n), dtype, device)
    tiles = -(-rows * n // launch.invocations_of_group(device.limits))
    fields: dict[str, Any] = {"blocks": blocks, "states": work.states, "r": schur}
    work.run("linalg/eig_triangular", fields, ("r",), batch * tiles * size, size)
    x = empty((batch, n, n), dtype, device)
    step = max(1, _PRODUCTS // n)
    fields = {"t": schur, "batch": batch, "n": n}
    for last in range(n, 0, -step):
        first = max(0, last - step)
        _run("linalg/eig_vectors", x, {**fields, "x": x, "first": first, "last": last}, ("x",), batch * n, size)
    transformation = schur._view((batch, n, n), schur._strides, n * n)
    strategies.multiply(transformation, x, result)
    real = work.h._dtype.category == "real floating"
    _run("linalg/eig_normalize", result, {**fields, "v": result, "real_input": real}, ("v",), batch * n, size)
