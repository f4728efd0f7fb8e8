"""The Cholesky factorisation of stacks of Hermitian positive definite matrices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...core import dtypes, layout
from ...core.array import ArrayLike, VkArray, empty
from ...kernels import launch
from ...kernels.array_like import takes_lists
from ...kernels.dispatch import dispatch
from ...kernels.planned import planned
from ...kernels.product.blocks import subtract_product
from ...shaders.source import Variant
from .. import creation, elementwise
from . import triangular
from .common import as_stack, block, check_status, lowest, matrices, variant, variants_of, within_reach, working_copy

if TYPE_CHECKING:
    from ...kernels.launch import Device

# Rows that one workgroup factors before a matrix product takes them out of the rows that remain.
_BLOCK = 64
_IN_PLACE, _UPPER, _LOWER = range(3)  # forms of the factor, see the template
_TEMPLATE = "linalg/cholesky"
_TILES_TEMPLATE = "linalg/cholesky_tiles"


def variants(device: Device) -> Iterator[Variant]:
    """The shaders of all types that the device supports."""
    yield from variants_of(_TEMPLATE, device)
    yield from triangular.tiles_variants(_TILES_TEMPLATE, device)


@takes_lists
def cholesky(x: ArrayLike, /, *, upper: bool = False) -> VkArray:
    """The Cholesky factor of each Hermitian (real: symmetric) positive definite matrix: x = L @ conj(L).mT.

    Parameters: x of shape (..., N, N), of which the lower triangle is read; upper (return U with x = conj(U).mT @ U,
    and read the upper triangle instead).
    Returns an array of the shape and type of x, float64 for integers, zero in the other triangle.
    Raises LinAlgError for a matrix that is not positive definite (one with NaN gives NaN), ValueError for other shapes,
    TypeError for 16-bit types.
    Method: blocks of rows from the top (LAPACK's potrf): ||x - L conj(L)^T|| is a small multiple of N eps ||x||.
    Standard: linear algebra functions, `cholesky`.
    """
    a = matrices("cholesky", x, square=True)
    if math.prod(a._shape) == 0:
        return empty(a._shape, a._dtype, a._device)
    triangle, status = triangles_of(a, upper)
    check_status("cholesky", status, a._shape[:-2], "is not positive definite: its leading minor of order {} is not")
    return triangle


@planned
def triangles_of(a: VkArray, upper: bool) -> tuple[VkArray, VkArray]:
    """The factors of a stack (..., N, N), not empty, and (batch,) int32: the order of the first bad leading minor, or 0."""
    # The transpose of a Hermitian matrix is its conjugate, whose factor U is the transpose of L.
    if triangular.takes_tiles(a._shape[-1], a._device):
        found, status = _factor_by_tiles(working_copy(a.mT if upper else a))
        factors = found._view(a._shape, layout.contiguous_strides(a._shape))
        triangle = launch.contiguous(factors.mT) if upper else factors
    elif a._shape[-1] <= _BLOCK:
        triangle = empty(a._shape, a._dtype, a._device)
        source = as_stack(a if upper else a.mT)
        status = _factor_small(source, triangle._view(source._shape, layout.contiguous_strides(source._shape)), upper)
    else:
        working = working_copy(a if upper else a.mT)
        status = factor(working)
        factors = working._view(a._shape, layout.contiguous_strides(a._shape))
        triangle = creation.triu(factors) if upper else creation.tril(factors.mT)
    return triangle, status


def _factor_by_tiles(a: VkArray) -> tuple[VkArray, VkArray]:
    """L of a contiguous stack (batch, N, N), not empty, of which the lower triangle is read and overwritten; the status."""
    batch, n, _ = a._shape
    device = a._device
    factors = creation.zeros(a._shape, dtype=a._dtype, device=device)
    status = creation.zeros((batch,), dtype=dtypes.int32, device=device)
    side, _ = tile = triangular.tile_of(a._dtype, device)
    chosen = triangular.tiles_variant(_TILES_TEMPLATE, a._dtype, device, tile)
    kernel = launch.kernel(chosen, device, triangular.TILE_INVOCATIONS)
    for number in range(-(-n // side)):
        left = -(-n // side) - number
        groups = max(left - 1, 1) + (left - 1) * (left // 2 if number else 0)
        for a_part, l_part, status_part in within_reach(a, factors, status):
            count = a_part._shape[0]
            fields = {"a": a_part, "l": l_part, "status": status_part, "count": count, "order": n, "block": number}
            counts = launch.groups_for(count * groups, device.limits, 1)
            dispatch(kernel, counts, fields, writes=("a", "l", "status"))
    return factors, status


def factor(a: VkArray) -> VkArray:
    """The upper triangle of a contiguous stack (batch, N, N), not empty, becomes U with a = conj(U)^T U.

    What is below the diagonal is left undefined. Returns (batch,) int32: 1 + the first row whose pivot is not positive, or 0.
    """
    batch, n, _ = a._shape
    status = creation.zeros((batch,), dtype=dtypes.int32, device=a._device)
    for first in range(0, n, _BLOCK):
        here, rest = slice(first, min(first + _BLOCK, n)), slice(first + _BLOCK, n)
        diagonal, right = block(a, here, here), block(a, here, rest)
        _factor_block(diagonal, diagonal, status, first=first)
        if rest.start < n:
            triangular.solve_block(diagonal.mT, right, conjugate=True)
            conjugate = elementwise.conj(right) if a._dtype.category == "complex floating" else right
            subtract_product(conjugate.mT, right, block(a, rest, rest), upper=True)
    return status


def _factor_small(source: VkArray, triangle: VkArray, upper: bool) -> VkArray:
    """The factors of a stack (batch, N, N) of one block go to `triangle`: U, or U^T unless `upper`. Returns the status."""
    status = empty((source._shape[0],), dtypes.int32, source._device)
    _factor_block(source, triangle, status, form=_UPPER if upper else _LOWER)
    return status


def _factor_block(source: VkArray, a: VkArray, status: VkArray, first: int = 0, form: int = _IN_PLACE) -> None:
    """Factor matrices of one block; their first row counts as `first` in the status. In place, the source is `a` too."""
    device = a._device
    for source_part, a_part, status_part in within_reach(source, a, status):
        batch, n, _ = a_part._shape
        source_lowest, source_first = lowest(source_part)
        fields = {
            "a": a_part,
            "status": status_part,
            "count": batch,
            "order": n,
            "first": first,
            "batch": a_part._strides[0],
            "row": a_part._strides[1],
            "form": form,
            "source": source_lowest,
            "source_first": source_first,
            "source_batch": source_part._strides[0],
            "source_row": source_part._strides[1],
            "source_column": source_part._strides[2],
        }
        groups = launch.groups_for(batch, device.limits, 1)
        chosen, size = variant(_TEMPLATE, a._dtype, device), 32 if n <= 32 else 64
        launch.dispatch(chosen, device, groups, fields, writes=("a", "status"), workgroup_size=size)
