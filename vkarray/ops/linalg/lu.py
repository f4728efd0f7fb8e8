"""LU factorisation with partial pivoting, and what follows from it: solve, inv, det, slogdet."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ...core import dtypes, layout, promotion
from ...core.array import ArrayLike, StrongLike, VkArray, empty, is_supported
from ...core.dtypes import DType
from ...kernels import launch
from ...kernels.array_like import takes_lists
from ...kernels.conversion import cast
from ...kernels.dispatch import dispatch
from ...kernels.planned import planned
from ...kernels.product.blocks import subtract_product
from ...kernels.rows import check_operands
from ...shaders.source import Variant
from .. import creation, elementwise
from . import triangular
from .common import FACTORED, block, check_status, matrices, variant, variants_of, within_reach, working_copy

if TYPE_CHECKING:
    from ...kernels.launch import Device

# Columns that one workgroup factors before a matrix product takes them out of the columns that remain.
_PANEL = 32
# Of which the panel takes the first with an invocation for each row: barriers are dear on a CPU.
_SIZES = {"cpu": (8, 64, 128), "gpu": (32, 128, 512, 1024)}
# A GPU keeps matrices of more than 64 rows in registers, by strips: for the registers of an invocation and the bytes of an element
# how many rows an invocation has, and how many columns a strip; the first that reaches all rows is taken.
_STRIPS_FROM = {"gpu": 65, "cpu": 1 << 30}
_STRIPS: dict[str, dict[int, tuple[tuple[int, int], ...]]] = {
    "large": {4: ((4, 16), (8, 8)), 8: ((4, 8), (8, 4)), 16: ((4, 4), (8, 2))},
    "middle": {4: ((4, 16), (8, 8)), 8: ((4, 8), (8, 4)), 16: ((4, 4), (8, 2))},
    "small": {4: ((4, 8), (8, 4)), 8: ((4, 4), (8, 2)), 16: ((4, 2),)},
    "tiny": {4: ((2, 4), (4, 2), (8, 1)), 8: ((2, 2), (4, 1)), 16: ((2, 1),)},
}
_STRIP_FEATURES = {"subgroupArithmetic", "subgroupBallot"}
# Of workgroups: with more invocations there are too few registers.
_STRIP_SIZES = {"large": (64, 256, 512), "middle": (64, 256, 512), "small": (64, 256), "tiny": (64, 256)}
_SINGULAR = (
    "is singular: the pivot of column {} of its LU factorisation, counted from 1, is zero. Check vkarray.linalg.det, or "
    "solve a least-squares problem with vkarray.linalg.pinv"
)
_PIVOTS = Variant("linalg/lu_pivots", (), "linalg/lu_pivots")
_TURNS = 60_000  # llvmpipe leaves a shader's loops after 65,535 turns in all


class Strip(NamedTuple):
    """The rows that an invocation has, and their columns."""

    rows: int
    columns: int


class Factors(NamedTuple):
    """P A = L U of a stack of matrices (batch, N, N).

    lu holds U and, below its diagonal, L without its unit diagonal; rows_of (batch, N) int32 says which row of A each row
    of P A is; status (batch, 2) int32 holds 1 + the first column with a zero pivot, or 0, and the number of exchanges.
    """

    lu: VkArray
    rows_of: VkArray
    status: VkArray


def variants(device: Device) -> Iterator[Variant]:
    """The shaders of all types that the device supports."""
    yield from variants_of("linalg/lu_panel", device)
    yield from variants_of("linalg/lu_determinant", device)
    for dtype in FACTORED:
        if is_supported(dtype, device):
            strips = dict.fromkeys(strip for rows in _STRIPS.values() for strip in rows[dtype.itemsize])
            yield from (_strips_variant(dtype, Strip(*strip), device) for strip in strips)
    for dtype in (dtypes.float32, dtypes.complex64, dtypes.complex128):  # one of each size
        yield _moving_variant("linalg/lu_exchange", dtype)
        yield _moving_variant("linalg/lu_permute", dtype)
        yield _moving_variant("linalg/lu_arrange", dtype)
    yield _PIVOTS


def _moving_variant(template: str, dtype: DType) -> Variant:
    """The variant of a template that moves elements of the size of a type."""
    return Variant(template, (("ELEMENT_BYTES", str(dtype.itemsize)),), f"{template} {dtype.itemsize} bytes")


def _strips_variant(dtype: DType, strip: Strip, device: Device) -> Variant:
    """The variant that factors by strips of this kind."""
    template, defines, label, _ = variant("linalg/lu_strips", dtype, device)
    sizes = (("ROWS", str(strip.rows)), ("COLUMNS", str(strip.columns)))
    return Variant(template, (*defines, *sizes), f"{label}, {strip.rows} rows by {strip.columns}")


def factor(a: VkArray) -> Factors:
    """Factor a stack (batch, N, N), not empty, which is lost; the elements of a column lie side by side.

    Method: blocks of columns from left to right; Golub and Van Loan, Matrix Computations, 4th ed., section 3.4.
    """
    batch, n, _ = a._shape
    device = a._device
    strip = _strip_of(n, a._dtype, device)
    if strip is not None:
        rows = creation.arange(n, dtype=dtypes.int32, device=device)
        rows_of = launch.copy(rows._view((batch, n), (0, 1)))
        status = creation.zeros((batch, 2), dtype=dtypes.int32, device=device)
        return _factor_by_strips(Factors(a, rows_of, status), strip)
    rows_of, pivots = empty((batch, n), dtypes.int32, device), empty((batch, n), dtypes.int32, device)
    status = empty((batch, 2), dtypes.int32, device)
    width = _width(n, device)
    for first in range(0, n, width):
        here, right = slice(first, min(first + width, n)), slice(first + width, n)
        for part in within_reach(a, rows_of, pivots, status):
            _factor_panel(here, *part)
        if right.start < n:
            triangular.solve_block(block(a, here, here), block(a, here, right), unit=True)
            subtract_product(block(a, here, right).mT, block(a, right, here).mT, block(a, right, right).mT)
    return Factors(a, rows_of, status)


def _strip_of(n: int, dtype: DType, device: Device) -> Strip | None:
    """The strips in which a matrix of order n is factored; None where it is not."""
    limits = device.limits
    if n < _STRIPS_FROM[limits.kind] or not device.features >= _STRIP_FEATURES:
        return None
    for strip in (Strip(*own) for own in _STRIPS[limits.registers][dtype.itemsize]):
        sizes = _STRIP_SIZES[limits.registers]
        size = next((size for size in sizes if size * strip.rows >= n), math.inf)
        if size <= limits.max_workgroup_invocations:
            return strip
    return None


def _factor_by_strips(given: Factors, strip: Strip) -> Factors:
    """Factor by strips: `given` has the matrices, the numbers of their rows, and status 0."""
    even, rows_of, status = given
    batch, n, _ = even._shape
    device, dtype = even._device, even._dtype
    odd = empty((batch, n, n), dtype, device)._view(even._shape, even._strides)
    sources = empty((batch, 2, n), dtypes.int32, device)
    chosen = _strips_variant(dtype, strip, device)
    strips = -(-n // strip.columns)
    for number in range(strips):
        rows = n - number * strip.columns
        sizes = _STRIP_SIZES[device.limits.registers]
        size = next(size for size in sizes if size * strip.rows >= rows)
        kernel = launch.kernel(chosen, device, size)
        for parts in within_reach(even, odd, rows_of, sources, status):
            count = parts[0]._shape[0]
            arrays = dict(zip(("even", "odd", "rows_of", "sources", "status"), parts, strict=True))
            groups = launch.groups_for(count * (strips - number if number else 1), device.limits, 1)
            dispatch(kernel, groups, {**arrays, "count": count, "order": n, "number": number}, writes=tuple(arrays))
    for source, target, rows_part in within_reach(even, odd, rows_of):
        fields = {
            "given": source,
            "lu": target,
            "rows_of": rows_part,
            "count": source.size,
            "order": n,
            "width": strip.columns,
        }
        groups = launch.groups_for(source.size, device.limits)
        launch.dispatch(_moving_variant("linalg/lu_arrange", dtype), device, groups, fields, writes=("lu",))
    return Factors(odd, rows_of, status)


def _workgroup_size(rows: int, device: Device) -> int:
    """Invocations that factor a panel of so many rows."""
    limits = device.limits
    sizes = _SIZES[limits.kind]
    return launch.invocations_of_group(limits, next((size for size in sizes if size >= rows), sizes[-1]))


def _width(n: int, device: Device) -> int:
    """Columns of a panel, fewer where its longest loops would have too many turns."""
    width, rows = _PANEL, -(-n // _workgroup_size(n, device))
    while rows * width * (width / 2 + 4) > _TURNS and width > 1:
        width //= 2
    return width


def _factor_panel(columns: slice, a: VkArray, rows_of: VkArray, pivots: VkArray, status: VkArray) -> None:
    """Factor some columns of all rows from their diagonal down, and exchange rows in all columns.

    The first columns begin the order of the rows and the status.
    """
    batch, n, _ = a._shape
    device, first = a._device, columns.start
    width = columns.stop - first
    shared = {
        "pivots": pivots,
        "count": batch,
        "order": n,
        "first": first,
        "columns": width,
        "batch": a._strides[0],
        "row": a._strides[1],
        "column": a._strides[2],
    }
    panel = {"a": block(a, slice(first, n), columns), "rows_of": rows_of, "status": status, "rows": n - first}
    size = _workgroup_size(n - first, device)
    groups = launch.groups_for(batch, device.limits, 1)
    chosen = variant("linalg/lu_panel", a._dtype, device)
    writes = ("a", "rows_of", "pivots", "status")
    launch.dispatch(chosen, device, groups, {**shared, **panel}, writes=writes, workgroup_size=size)
    if width < n:
        chosen = _moving_variant("linalg/lu_exchange", a._dtype)
        size = triangular.WORKGROUP_SIZE
        groups = launch.groups_for(batch * (n - width), device.limits, size)
        launch.dispatch(chosen, device, groups, {**shared, "a": a}, writes=("a",), workgroup_size=size)


def pivots_of(rows_of: VkArray, turns: int) -> VkArray:
    """LAPACK's pivots (batch, turns) int32 of an order of rows (batch, N): the row, from 1, that a row was exchanged with."""
    pivots = empty((rows_of._shape[0], turns), dtypes.int32, rows_of._device)
    _exchange(rows_of, pivots, to_pivots=True)
    return pivots


def rows_of_pivots(pivots: VkArray, n: int) -> VkArray:
    """The order of N rows (batch, N) int32 that contiguous LAPACK's pivots (batch, turns) stand for."""
    rows_of = empty((pivots._shape[0], n), dtypes.int32, pivots._device)
    _exchange(rows_of, pivots, to_pivots=False)
    return rows_of


def _exchange(rows_of: VkArray, pivots: VkArray, to_pivots: bool) -> None:
    """Write one notation of an order of rows from the other."""
    device, (batch, n) = rows_of._device, rows_of._shape
    work = empty((batch, 2 * n), dtypes.int32, device)
    writes = ("pivots" if to_pivots else "rows", "work")
    for parts in within_reach(rows_of, pivots, work):
        count = parts[0]._shape[0]
        arrays = dict(zip(("rows", "pivots", "work"), parts, strict=True))
        fields = {**arrays, "count": count, "order": n, "turns": pivots._shape[1], "to_pivots": to_pivots}
        size = triangular.WORKGROUP_SIZE
        groups = launch.groups_for(count, device.limits, size)
        launch.dispatch(_PIVOTS, device, groups, fields, writes=writes, workgroup_size=size)


# -- solve and inv ----------------------------------------------------------------------------------------------------


@takes_lists
def solve(x1: StrongLike, x2: StrongLike, /) -> VkArray:
    """The solution x of x1 @ x = x2 for each square matrix of x1.

    Parameters: x1 of shape (..., N, N); x2 of shape (N,), one vector, or (..., N, K), columns; the stacks broadcast.
    Returns an array of shape (..., N) or (..., N, K) and the promoted type; float64 where that is an integer type.
    Raises LinAlgError for a singular matrix (a pivot that is exactly zero), ValueError for shapes that do not match,
    TypeError for other types and 16-bit ones.
    Method: LU with partial pivoting and substitution, in blocks (LAPACK's gesv): the residual is a small multiple of
    N eps ||x1|| ||x||.
    Standard: linear algebra functions, `solve`.
    """
    check_operands("solve", (x1, x2))
    vector = type(x2) is VkArray and x2.ndim == 1
    a = matrices("solve", x1, square=True)
    b = matrices("solve", x2._view((*x2._shape, 1), (*x2._strides, 0)) if vector else x2)
    dtype = promotion.promote(a._dtype, b._dtype)  # both are floating-point types by now
    a, b = cast(a, dtype), cast(b, dtype)
    if a._shape[-1] != b._shape[-2]:
        raise ValueError(
            f"solve: shapes {x1.shape} and {x2.shape} do not match: the matrices have {a._shape[-1]} rows, the right-hand "
            f"sides {b._shape[-2]}.{'' if vector else ' A stack of vectors needs a last dimension: x2[..., None].'}"
        )
    stack = layout.broadcast_shapes([a._shape[:-2], b._shape[:-2]], "solve")
    n, columns = b._shape[-2:]
    if math.prod(a._shape) == 0 or math.prod(stack) * columns == 0:
        solution = empty((*stack, n, columns), dtype, a._device)
    else:
        solution, status = _solved(a, b, stack)
        check_status("solve", status, a._shape[:-2], _SINGULAR)
    return solution._view((*stack, n), layout.contiguous_strides((*stack, n))) if vector else solution


@planned
def _solved(a: VkArray, b: VkArray, stack: layout.Shape) -> tuple[VkArray, VkArray]:
    """The solution for matrices and right-hand sides of one type, and the status of the factors."""
    factors = factor(working_copy(a.mT).mT)
    return solution_of(factors, a._shape[:-2], b, stack), factors.status


def solution_of(factors: Factors, own: layout.Shape, b: VkArray, stack: layout.Shape) -> VkArray:
    """The solutions for right-hand sides b (..., N, K); `own` is the shape of the stack of factors, `stack` the result's.

    Where the factors broadcast, the right-hand sides of a matrix are further columns: so each is read once for all.
    """
    n, columns = b._shape[-2:]
    rank = len(stack)
    own = (1,) * (rank - len(own)) + own
    shared = [axis for axis in range(rank) if own[axis] == 1 and stack[axis] > 1]
    kept = [axis for axis in range(rank) if axis not in shared]
    strides = layout.broadcast_strides(b._shape, b._strides, (*stack, n, columns))
    order = (*kept, rank, *shared, rank + 1)
    lengths = (*stack, n, columns)
    shape, steps = (tuple(values[axis] for axis in order) for values in (lengths, strides))
    batch = factors.lu._shape[0]
    width = math.prod(shape) // (batch * n)
    limit = layout.index_limit(b._dtype.itemsize)
    if n * width > limit:
        raise ValueError(
            f"solve: the right-hand sides of one matrix have {n} x {width} elements, expected at most {limit}, "
            f"which 32-bit indices reach. Solve for parts of them."
        )
    working = permuted(launch.contiguous(b._view(shape, steps)), factors.rows_of, (batch, n, width))
    triangular.solve_in_place(factors.lu, working, unit=True)
    triangular.solve_in_place(factors.lu, working, upper=True)
    solved = layout.contiguous_strides(shape)
    inverse = sorted(range(rank + 2), key=order.__getitem__)
    return launch.contiguous(working._view(lengths, tuple(solved[axis] for axis in inverse)))


def permuted(b: VkArray, rows_of: VkArray, shape: tuple[int, int, int]) -> VkArray:
    """A new array of shape (batch, N, K) with the rows of the contiguous b in the order of the factors' rows."""
    x = empty(shape, b._dtype, b._device)
    for source, target, rows in within_reach(b._view(shape, x._strides), x, rows_of):
        fields = {
            "b": source,
            "x": target,
            "rows_of": rows,
            "count": target.size,
            "rows": shape[1],
            "columns": shape[2],
        }
        groups = launch.groups_for(target.size, b._device.limits)
        launch.dispatch(_moving_variant("linalg/lu_permute", b._dtype), b._device, groups, fields, writes=("x",))
    return x


@takes_lists
def inv(x: ArrayLike, /) -> VkArray:
    """The inverse of each square matrix.

    Parameters: x of shape (..., N, N). Returns an array of the shape and type of x; float64 for integers.
    Raises LinAlgError for a singular matrix (a pivot that is exactly zero), ValueError for other shapes, TypeError for
    16-bit types.
    Method: LU with partial pivoting, then x @ inv(x) = I column by column. Standard: linear algebra functions, `inv`.
    """
    a = matrices("inv", x, square=True)
    if math.prod(a._shape) == 0:
        return empty(a._shape, a._dtype, a._device)
    inverse, status = inverted(a)
    check_status("inv", status, a._shape[:-2], _SINGULAR)
    return inverse


@planned
def inverted(a: VkArray) -> tuple[VkArray, VkArray]:
    """The inverses, and the status of the factors."""
    factors = factor(working_copy(a.mT).mT)
    identity = creation.eye(a._shape[-1], dtype=a._dtype, device=a._device)
    return solution_of(factors, a._shape[:-2], identity, a._shape[:-2]), factors.status


# -- determinants -----------------------------------------------------------------------------------------------------


class Slogdet(NamedTuple):
    """The result of slogdet: the determinants are sign * exp(logabsdet)."""

    sign: VkArray
    logabsdet: VkArray


def _determinants(x: VkArray, whole: bool) -> tuple[VkArray, VkArray]:
    """The determinants of a stack as value 2^exponent (int32); with `whole` the values are the determinants themselves."""
    stack, device = x._shape[:-2], x._device
    if math.prod(stack) == 0:
        return empty(stack, x._dtype, device), empty(stack, dtypes.int32, device)
    if x._shape[-1] == 0:  # the product of no factors
        return creation.ones(stack, dtype=x._dtype, device=device), creation.zeros(
            stack, dtype=dtypes.int32, device=device
        )
    return determinants_of(factor(working_copy(x.mT).mT), stack, whole)


def determinants_of(factors: Factors, stack: layout.Shape, whole: bool) -> tuple[VkArray, VkArray]:
    """The determinants of a stack from its factors, as `_determinants`."""
    (lu, _, status), device = factors, factors.lu._device
    values, exponents = empty(stack, lu._dtype, device), empty(stack, dtypes.int32, device)
    flat = [array._view((lu._shape[0],), (1,)) for array in (values, exponents)]
    for a, state, value, exponent in within_reach(lu, status, *flat):
        batch, n, _ = a._shape
        fields = {
            "a": a,
            "status": state,
            "values": value,
            "exponents": exponent,
            "count": batch,
            "order": n,
            "batch": a._strides[0],
            "step": a._strides[1] + a._strides[2],
            "whole": whole,
        }
        size = triangular.WORKGROUP_SIZE
        groups = launch.groups_for(batch, device.limits, size)
        chosen, writes = variant("linalg/lu_determinant", lu._dtype, device), ("values", "exponents")
        launch.dispatch(chosen, device, groups, fields, writes=writes, workgroup_size=size)
    return values, exponents


@planned
def det(x: ArrayLike, /) -> VkArray:
    """The determinant of each square matrix; 0 for a singular one, 1 for one without elements.

    Parameters: x of shape (..., N, N). Returns an array of shape (...) and the type of x; float64 for integers.
    Raises ValueError for other shapes, TypeError for 16-bit types.
    Method: the product of the pivots of an LU factorisation, kept in range by powers of 2; the relative error of the
    product is at most N eps. Standard: linear algebra functions, `det`.
    """
    return _determinants(matrices("det", x, square=True), whole=True)[0]


@planned
def slogdet(x: ArrayLike, /) -> Slogdet:
    """The sign and the logarithm of the absolute value of the determinant of each square matrix.

    Parameters: x of shape (..., N, N). Returns a named tuple of sign (shape (...), the type of x, float64 for integers:
    -1, 0 or 1, for complex x of modulus 1 or 0) and logabsdet (its real type; -infinity for a singular matrix).
    Raises as `det`. Method: as `det`; logabsdet is the logarithm of a number near 1 plus a multiple of log 2.
    Standard: linear algebra functions, `slogdet`.
    """
    return logarithm_of(*_determinants(matrices("slogdet", x, square=True), whole=False))


def logarithm_of(values: VkArray, exponents: VkArray) -> Slogdet:
    """The signs and logarithms of value 2^exponent."""
    logarithms = elementwise.log(elementwise.abs(values))
    return Slogdet(elementwise.sign(values), logarithms + cast(exponents, logarithms._dtype) * math.log(2))
