"""Eigenvalues and eigenvectors of Hermitian matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ...core import dtypes, layout
from ...core.array import ArrayLike, VkArray, empty
from ...core.dtypes import REAL_OF
from ...errors import LinAlgError
from ...io import interchange
from ...kernels import faults, launch
from ...kernels.array_like import takes_lists
from ...kernels.conversion import cast
from ...kernels.dispatch import dispatch
from ...kernels.planned import planned, tracer
from ...shaders.source import Variant
from .. import creation, elementwise
from . import reflectors, tridiagonal
from .common import matrices, variant, variants_of, working_copy

if TYPE_CHECKING:
    from ...kernels.launch import Device

# Of a workgroup that reduces columns of a matrix: how many columns side by side, how many of those to an invocation (the fewer,
# the more workgroups; a CPU saves loads), and the size, of which the first that fits is taken.
_COLUMNS = {"gpu": 16, "cpu": 16}
_WIDE = {"gpu": 1, "cpu": 4}
_SIZES = {"gpu": (512, 256, 128, 64), "cpu": (32,)}
_MAXIMUM_EXPONENT = {32: 128, 64: 1024}  # what the shader finds for infinity and NaN


class EighResult(NamedTuple):
    """What `eigh` returns."""

    eigenvalues: VkArray
    eigenvectors: VkArray


def variants(device: Device) -> Iterator[Variant]:
    """Every variant that `eigh` and `eigvalsh` use, for the archive."""
    for template in (
        "linalg/eigh_largest", "linalg/eigh_prepare", "linalg/eigh_finish", "linalg/tridiagonal",
    ):  # fmt: skip
        yield from variants_of(template, device)
    yield from reflectors.variants(device)
    yield from tridiagonal.variants(device)


@takes_lists
def eigh(x: ArrayLike, /, UPLO: str = "L") -> EighResult:
    """The eigenvalues and eigenvectors of Hermitian (real: symmetric) matrices: x = V diag(w) V^H.

    Parameters: x (floating-point of 32 bits or more; integers and bool are converted to float64) of shape (..., M, M), of
    which one triangle alone is read, and the real parts of the diagonal; UPLO ("L": the lower one, "U": the upper one).
    Returns a named tuple: eigenvalues of shape (..., M), real and ascending, and eigenvectors of shape (..., M, M), whose
    columns are orthonormal.
    Raises LinAlgError for NaN and infinities and where the method does not converge, and for matrices that are not
    square, TypeError for other types.
    Method: Householder reduction to tridiagonal form, divide and conquer (Cuppen 1981, Gu and Eisenstat 1995), blocked
    back transformation; |x - V diag(w) V^H| and |V^H V - I| are small multiples of M eps.
    Standard: linear algebra extension, `eigh`.
    """
    x = _with_lower(matrices("eigh", x, square=True), UPLO)
    real = REAL_OF.get(x._dtype, x._dtype)
    if not x.size:
        return EighResult(empty(x._shape[:-1], real, x._device), empty(x._shape, x._dtype, x._device))
    values, vectors, state = _decomposed(x)
    _check("eigh", x, state)
    return EighResult(values, vectors)


def _with_lower(x: VkArray, triangle: str) -> VkArray:
    """Matrices with the lower triangle that belongs to the one that is to be read."""
    if triangle not in ("L", "U", "l", "u"):
        raise ValueError(f"eigh: expected UPLO 'L' or 'U', got {triangle!r}.")
    return x if triangle in "Ll" else elementwise.conj(x.mT)


@planned
def _decomposed(x: VkArray) -> tuple[VkArray, VkArray, VkArray]:
    """The eigenvalues, the eigenvectors, and the state that tells what went wrong."""
    a, state = _prepare(x)
    real = REAL_OF.get(x._dtype, x._dtype)
    reduced = _reduce(a, real)
    values, rotated = tridiagonal.eigenvectors_of(reduced.diagonal, reduced.off_diagonal, state)
    vectors = launch.copy(rotated) if x._dtype is real else cast(rotated, x._dtype)
    batch, _, n = reduced.reflectors._shape
    columns = vectors._view((batch, n, n), (n * n, n, 1))
    reflectors.apply(reduced.reflectors.mT, reduced.tau, columns, 1, identity=False)
    whole = vectors._view(x._shape, layout.contiguous_strides(x._shape))
    return _finish(values, state, x._shape[:-1]), whole, state


@takes_lists
def eigvalsh(x: ArrayLike, /, UPLO: str = "L") -> VkArray:
    """The eigenvalues of Hermitian (real: symmetric) matrices.

    Parameters: x (floating-point of 32 bits or more; integers and bool are converted to float64) of shape (..., M, M), of
    which one triangle alone is read, and the real parts of the diagonal; UPLO ("L": the lower one, "U": the upper one).
    Returns a real array of shape (..., M), ascending.
    Raises LinAlgError for NaN and infinities, and for matrices that are not square, TypeError for other types.
    Method: Householder reduction to tridiagonal form, bisection with Sturm sequences; errors are small multiples of
    M eps of the largest eigenvalue.
    Standard: linear algebra extension, `eigvalsh`.
    """
    x = _with_lower(matrices("eigvalsh", x, square=True), UPLO)
    real = REAL_OF.get(x._dtype, x._dtype)
    if not x.size:
        return empty(x._shape[:-1], real, x._device)
    values, state = _values_of(x)
    _check("eigvalsh", x, state)
    return values


@planned
def _values_of(x: VkArray) -> tuple[VkArray, VkArray]:
    """The eigenvalues, and the state that tells what went wrong."""
    a, state = _prepare(x)
    reduced = _reduce(a, REAL_OF.get(x._dtype, x._dtype))
    values = tridiagonal.eigenvalues_of(reduced.diagonal, reduced.off_diagonal)
    return _finish(values, state, x._shape[:-1]), state


def _check(name: str, x: VkArray, state: VkArray) -> None:
    """Read back what happened to each matrix. Raises LinAlgError for the first bad one; where that is compiled, when the host next
    reads a value."""
    traced = tracer() is not None
    exponents, failures = (state[:, 0], state[:, 1]) if traced else interchange.to_numpy(state).T
    maximum = _MAXIMUM_EXPONENT[REAL_OF.get(x._dtype, x._dtype).bits]
    for found, wrong, what in (
        (exponents, maximum, "contains NaN or infinity. Find it with vkarray.isfinite."),
        (failures, 1, "did not converge. Please report it, with the matrix."),
    ):
        if traced:
            which = "the matrix" if x.ndim == 2 else "a matrix of the stack"
            fault = faults.WrongValue(LinAlgError, f"{name}: {which} of shape {x._shape[-2:]} {what}")
            faults.check_values(fault, found, wrong, wrong, within=True)
            continue
        bad = found == wrong
        if bad.any():
            which = "the matrix" if len(bad) == 1 else f"matrix {int(bad.argmax())} of {len(bad)} of the stack"
            raise LinAlgError(f"{name}: {which} of shape {x._shape[-2:]} {what}")


def _prepare(x: VkArray) -> tuple[VkArray, VkArray]:
    """A Hermitian working copy (batch, n, n), scaled to moderate size, and the state (batch, 2): exponents, failures."""
    a = working_copy(x)
    batch, n, _ = a._shape
    device = a._device
    state = creation.full((batch, 2), -(2**15), dtype=dtypes.int32, device=device)
    fields = {"a": a, "state": state, "batch": batch, "n": n}
    size = launch.invocations_of_group(device.limits, 64)
    kernel = variant("linalg/eigh_largest", a._dtype, device)
    groups = launch.groups_for(batch * n * size, device.limits, size)
    launch.dispatch(kernel, device, groups, fields, writes=("state",), workgroup_size=size)
    size = launch.invocations_of_group(device.limits)
    kernel = variant("linalg/eigh_prepare", a._dtype, device)
    groups = launch.groups_for(batch * n * -(-n // size) * size, device.limits, size)
    launch.dispatch(kernel, device, groups, fields, writes=("a",), workgroup_size=size)
    return a, state


class _Reduced(NamedTuple):
    """A = Q T Q^H: T by its diagonals (batch, n), Q by its reflectors (batch, count, n), rows, and their tau (batch, count)."""

    diagonal: VkArray
    off_diagonal: VkArray
    reflectors: VkArray
    tau: VkArray


def _reduce(a: VkArray, real: dtypes.DType) -> _Reduced:
    """Reduce Hermitian matrices, which are overwritten, to real tridiagonal ones."""
    batch, n, _ = a._shape
    device, limits = a._device, a._device.limits
    count = reflectors.padded(n - 1)
    v = creation.zeros((batch, count, n), dtype=a._dtype, device=device)
    tau = creation.zeros((batch, count), dtype=a._dtype, device=device)
    p = empty((2, batch, n), a._dtype, device)
    diagonal, off_diagonal = (empty((batch, n), real, device) for _ in range(2))
    kind = limits.kind
    sizes, columns, wide = _SIZES[kind], _COLUMNS[kind], _WIDE[kind]
    # Four elements of each invocation meet in shared memory. Small matrices do not need many invocations.
    fits = min(limits.max_shared_memory_size // (4 * a._dtype.itemsize), limits.max_workgroup_invocations, 8 * n)
    size = next((size for size in sizes if size <= fits), sizes[-1])
    kernel = launch.kernel(variant("linalg/tridiagonal", a._dtype, device), device, size, ((1, columns), (2, wide)))
    arrays = {"a": a, "v": v, "p": p, "tau": tau, "diagonal": diagonal, "off_diagonal": off_diagonal}
    writes = tuple(arrays)
    fields = {**arrays, "batch": batch, "n": n, "reflectors": count}
    for j in range(n):
        tiles = max(-(-(n - 1 - j) // (columns * wide)), 1)
        groups = launch.groups_for(batch * tiles * size, limits, size)
        dispatch(kernel, groups, {**fields, "j": j}, writes=writes)
    return _Reduced(diagonal, off_diagonal, v, tau)


def _finish(values: VkArray, state: VkArray, shape: tuple[int, ...]) -> VkArray:
    """The eigenvalues, scaled back, as a new array of this shape."""
    batch, n = values._shape
    result = empty(shape, values._dtype, values._device)
    fields = {
        "values": values,
        "state": state,
        "result": result,
        "count": batch * n,
        "n": n,
        "pitch": values._strides[0],
        "step_": values._strides[1],
    }
    kernel = variant("linalg/eigh_finish", values._dtype, values._device)
    groups = launch.groups_for(batch * n, values._device.limits)
    launch.dispatch(kernel, values._device, groups, fields, writes=("result",))
    return result
