"""Factorisation of symmetric and Hermitian matrices that need not be definite, and the systems that follow from it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ...core import dtypes, layout
from ...core.array import VkArray, empty
from ...kernels import launch
from ...kernels.dispatch import pointer
from ...shaders.source import Variant
from .. import creation
from ..manipulation import broadcast_to
from .common import matrices, variant, variants_of, working_copy

if TYPE_CHECKING:
    from ...kernels.launch import Device

_LANES = 128
_TURNS = 1 << 15  # of the loops of an invocation on a CPU driver: llvmpipe ends them after 65,535
_LARGEST = 8192  # rows: one step of the factorisation takes as many turns


class Factors(NamedTuple):
    """What `factor` returns."""

    factors: VkArray
    pivots: VkArray
    status: VkArray


def variants(device: Device) -> Iterator[Variant]:
    """The shaders of all types that the device supports."""
    yield from variants_of("linalg/ldl_factor", device)
    yield from variants_of("linalg/ldl_solve", device)


def _check(function: str, n: int) -> None:
    if n > _LARGEST:
        raise ValueError(f"{function}: expected matrices of at most {_LARGEST} rows, got {n}.")


def factor(x: VkArray, *, hermitian: bool = False) -> Factors:
    """x = P L D L^T P^T, or with `hermitian` P L D L^H P^T, as LAPACK's sytrf and hetrf give it.

    Parameters: x (floating-point of 32 bits or more) of shape (..., N, N), of which the lower triangle is read; hermitian.
    Returns a named tuple: factors (..., N, N), D in blocks of one or two rows on the diagonal and L below; pivots (..., N) int32,
    from 1 on, negative for blocks of two; status (...) int32, 1 + the first pivot that is 0, or 0.
    Raises ValueError for other shapes and more than 8192 rows, TypeError for other types.
    Method: J. R. Bunch, L. Kaufman, Mathematics of Computation 31, 1977.
    """
    a = matrices("factor", x, square=True)
    *stack, n, _ = a._shape
    _check("factor", n)
    device, batch = a._device, math.prod(stack)
    pivots = creation.zeros((batch, n), dtype=dtypes.int32, device=device)
    status = creation.zeros((batch,), dtype=dtypes.int32, device=device)
    lower = working_copy(creation.tril(a)) if a.size else empty((batch, n, n), a._dtype, device)
    steps = max(1, _TURNS // (n * (n // 4 + 8) // _LANES + 3 * _LANES))
    following = creation.zeros((batch,), dtype=dtypes.int32, device=device)
    chosen = variant("linalg/ldl_factor", a._dtype, device)
    arrays = {"a": lower, "pivots": pivots, "status": status, "next": following}
    numbers = {"order": n, "steps": steps, "hermitian": hermitian}
    for first, groups in _parts(batch, device) if n else ():
        fields = {name: pointer(one, first * one._strides[0]) for name, one in arrays.items()} | numbers
        for _ in range(0, n, steps):
            launch.dispatch(chosen, device, groups, fields, writes=tuple(arrays), workgroup_size=_LANES)
    return Factors(_stacked(lower, (*stack, n, n)), _stacked(pivots, (*stack, n)), _stacked(status, tuple(stack)))


def _parts(batch: int, device: Device) -> Iterator[tuple[int, tuple[int, int, int]]]:
    """The first matrix and the workgroups, one for a matrix, of each dispatch."""
    most = device.limits.max_workgroup_count[0]
    for first in range(0, batch, most):
        yield first, (min(most, batch - first), 1, 1)


def _stacked(x: VkArray, shape: tuple[int, ...]) -> VkArray:
    return x._view(shape, layout.contiguous_strides(shape))


def solve(factors: VkArray, pivots: VkArray, b: VkArray, *, hermitian: bool = False) -> VkArray:
    """X with A X = B from what `factor` made of A.

    Parameters: factors (..., N, N); pivots (..., N) int32; b (..., N, K) of the dtype of the factors; their stacks broadcast.
    Returns an array of the shape of b, broadcast. Raises ValueError for shapes that do not fit.
    """
    n, columns = b._shape[-2:]
    if factors._shape[-2:] != (n, n) or pivots._shape[-1] != n or factors._dtype is not b._dtype:
        raise ValueError(
            f"solve: expected factors (..., {n}, {n}) and pivots (..., {n}) of the dtype of b, {b._dtype}, got "
            f"{factors._dtype} {factors._shape} and {pivots._shape}."
        )
    _check("solve", n)
    stack = layout.broadcast_shapes([factors._shape[:-2], pivots._shape[:-1], b._shape[:-2]], "solve")
    device, batch = b._device, math.prod(stack)
    if 0 in (*stack, n, columns):
        return empty((*stack, n, columns), b._dtype, device)
    a = working_copy(broadcast_to(factors, (*stack, n, n)))
    solution = working_copy(broadcast_to(b, (*stack, n, columns)))
    exchanged = _stacked(launch.contiguous(broadcast_to(pivots, (*stack, n))), (batch, n))
    steps = max(1, _TURNS // (n * (columns // _LANES + 1) + 64))
    chosen = variant("linalg/ldl_solve", b._dtype, device)
    for backward in (False, True):
        following = creation.full((batch,), n - 1 if backward else 0, dtype=dtypes.int32, device=device)
        arrays = {"a": a, "b": solution, "pivots": exchanged, "next": following}
        numbers = {"order": n, "columns": columns, "steps": steps, "hermitian": hermitian, "backward": backward}
        for first, groups in _parts(batch, device):
            fields = {name: pointer(one, first * one._strides[0]) for name, one in arrays.items()} | numbers
            for _ in range(0, n, steps):
                launch.dispatch(chosen, device, groups, fields, writes=("b", "next"), workgroup_size=_LANES)
    return _stacked(solution, (*stack, n, columns))
