"""QR decomposition by blocked Householder reflections."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

from ... import dtypes, layout
from ...array import VkArray, empty
from ...shaders import Variant
from .. import creation, elementwise, launch, product
from .common import block, matrices, variant, variants_of, working_copy

if TYPE_CHECKING:
    from ..launch import Device

# Columns of a panel, and invocations of a workgroup, which share its rows.
_WIDEST = 32
_PANELS = {
    "gpu": ((8, 512), (32, 512), (8, 128), (32, 128)),
    "cpu": ((8, 64), (32, 64), (8, 256), (32, 256), (1, 256), (1, 64)),
}
_TURNS = 60_000  # llvmpipe leaves a shader's loops after 65,535 turns in all
_UNROLL = 4  # rows that an invocation takes in a turn


class Panel(NamedTuple):
    """How wide panels are, and how many invocations work on one."""

    columns: int
    size: int

    @property
    def constants(self) -> tuple[tuple[int, int], ...]:
        """The specialization constants of the shaders that work on panels."""
        return ((1, self.columns),)

    def turns(self, rows: int) -> int:
        """Turns of all loops of an invocation, at most."""
        lanes = self.size // self.columns
        return self.columns * (4 * -(-rows // (lanes * _UNROLL)) + 2 * lanes + self.size + self.columns)


class QRResult(NamedTuple):
    """What `qr` returns."""

    Q: VkArray
    R: VkArray


def variants(device: Device) -> Iterator[Variant]:
    """Every variant that `qr` uses, for the archive."""
    for template in ("linalg_qr_prepare", "linalg_qr_panel", "linalg_qr_finish"):
        yield from variants_of(template, device)


def panel_of(rows: int, columns: int, device: Device) -> Panel:
    """The panels in which matrices of this shape are factored: the first that fit.

    An element of each invocation meets in shared memory. Narrow panels have more invocations in each column, and
    suffice where there are few columns, or so many rows that a CPU's loops would be too long.
    """
    limits = device.limits
    table = [Panel(*sizes) for sizes in _PANELS["cpu" if limits.is_cpu else "gpu"]]
    for least in (min(columns, _WIDEST), 1):
        for panel in table:
            if (
                panel.columns >= least
                and panel.size <= limits.max_workgroup_invocations
                and (panel.size + 4 * panel.columns) * 16 <= limits.max_shared_memory_size
                and (panel.turns(rows) <= _TURNS or not limits.is_cpu)
            ):
                return panel
    return table[-1]


def qr(x: VkArray, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """The QR decomposition x = Q R of each matrix, Q with orthonormal columns and R upper triangular.

    Parameters: x (floating-point of 32 bits or more; integers and bool are converted to float64) of shape (..., M, N);
    mode, "reduced" or "complete".
    Returns a named tuple: Q of shape (..., M, K) and R of shape (..., K, N), with K = min(M, N) for "reduced" and K = M
    for "complete". The diagonal of R has any sign (of complex matrices: any phase where a column is 0 below it).
    Raises ValueError for fewer than 2 dimensions and other modes, TypeError for other types, FeatureError where the
    device lacks the type. NaN and infinities give NaN in Q and R.
    Method: Householder reflections in blocks (Schreiber and Van Loan, SIAM J. Sci. Stat. Comput. 10,
    1989), columns scaled by powers of two; |x - Q R| and |Q^H Q - I| are small multiples of max(M, N) eps.
    Standard: linear algebra extension, `qr`.
    """
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr: expected mode 'reduced' or 'complete', got {mode!r}.")
    x = matrices("qr", x)
    m, n = x._shape[-2:]
    stack = x._shape[:-2]
    k = min(m, n)
    columns = k if mode == "reduced" else m
    a = working_copy(x)
    panel = panel_of(m, k, a._device)
    exponents = _prepare(a, panel)
    v, t = _factor(a, panel)
    r = _upper_triangle(a, exponents, columns)
    q = identity(a._shape[0], m, columns, a)
    apply_reflectors(v, t, q)
    return QRResult(_stacked(q, stack), _stacked(r, stack))


def _stacked(matrix: VkArray, stack: tuple[int, ...]) -> VkArray:
    """The contiguous array (batch, M, N) with the dimensions of the stack it was made from."""
    shape = (*stack, *matrix._shape[1:])
    return matrix._view(shape, layout.contiguous_strides(shape))


def identity(batch: int, rows: int, columns: int, like: VkArray) -> VkArray:
    """A stack of matrices with ones on the diagonal."""
    eye = creation.eye(rows, columns, dtype=like._dtype, device=like._device)
    return launch.elementwise(
        launch.copy_operation(like._dtype), (eye,), empty((batch, rows, columns), like._dtype, like._device)
    )


def _prepare(a: VkArray, panel: Panel) -> VkArray:
    """Scale every column to moderate size by a power of two; the exponents."""
    batch, m, n = a._shape
    device = a._device
    exponents = empty((batch, n), dtypes.int32, device)
    if batch * m * n:
        push = struct.pack("<2Q3I", a._address, exponents._address, batch, m, n)
        groups = launch.groups_for(batch * -(-n // panel.columns) * panel.size, device.limits, panel.size)
        kernel = variant("linalg_qr_prepare", a._dtype, device)
        launch.dispatch(kernel, device, push, groups, [a], [a, exponents], panel.size, constants=panel.constants)
    return exponents


def _factor(a: VkArray, panel: Panel) -> tuple[VkArray, VkArray]:
    """V and T of all panels: Q = (I - V_1 T_1 V_1^H) (I - V_2 T_2 V_2^H) ...; R is left in the triangle of a."""
    batch, m, n = a._shape
    k = min(m, n)
    device, columns = a._device, panel.columns
    v = empty((batch, m, k), a._dtype, device)
    t = empty((-(-k // columns), batch, columns, columns), a._dtype, device)
    kernel = variant("linalg_qr_panel", a._dtype, device)
    groups = launch.groups_for(batch * panel.size, device.limits, panel.size)
    for number, first in enumerate(range(0, k if batch else 0, columns)):
        last = min(first + columns, k)
        own = t._view(t._shape[1:], t._strides[1:], number * t._strides[0])
        push = struct.pack("<3Q6I", a._address, v._address, own._address, batch, m, n, k, first, last - first)
        launch.dispatch(kernel, device, push, groups, [a], [a, v, t], panel.size, constants=panel.constants)
        if last < n:
            rest = block(a, slice(first, m), slice(last, n))
            reflect(block(v, slice(first, m), slice(first, last)), own, rest, adjoint=True)
    return v, t


def _upper_triangle(a: VkArray, exponents: VkArray, rows: int) -> VkArray:
    """The first rows of the upper triangle, scaled back."""
    batch, m, n = a._shape
    device = a._device
    r = empty((batch, rows, n), a._dtype, device)
    if batch * rows * n:
        size = launch.invocations_of_group(device.limits)
        push = struct.pack("<3Q4I", a._address, exponents._address, r._address, batch, m, n, rows)
        groups = launch.groups_for(batch * rows * -(-n // size) * size, device.limits, size)
        kernel = variant("linalg_qr_finish", a._dtype, device)
        launch.dispatch(kernel, device, push, groups, [a, exponents], [r], size)
    return r


def apply_reflectors(v: VkArray, t: VkArray, c: VkArray) -> None:
    """c = H_1 H_2 ... c for the identity c of shape (batch, M, K), K >= min(M, N): each block starts at its diagonal."""
    k, columns = v._shape[2], t._shape[-1]
    for number in reversed(range(t._shape[0] if c._shape[0] else 0)):
        first = number * columns
        last = min(first + columns, k)
        own = t._view(t._shape[1:], t._strides[1:], number * t._strides[0])
        rows = slice(first, None)
        reflect(block(v, rows, slice(first, last)), own, block(c, rows, rows), adjoint=False)


def reflect(v: VkArray, t: VkArray, c: VkArray, *, adjoint: bool) -> None:
    """c -= V T V^H c, or with `adjoint` c -= V T^H V^H c, in place; T has at least as many rows as V has columns."""
    batch, _, width = v._shape
    columns = c._shape[2]
    t = t._view((batch, width, width), t._strides)
    conjugated = elementwise.conj(v).mT if v._dtype.kind == "complex floating" else v.mT
    if adjoint:
        t = elementwise.conj(t).mT if t._dtype.kind == "complex floating" else t.mT
    inner = product.matmul(conjugated, c, empty((batch, width, columns), c._dtype, c._device))
    inner = product.matmul(t, inner, empty(inner._shape, c._dtype, c._device))
    product.subtract_product(v, inner, c)
