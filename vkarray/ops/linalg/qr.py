"""QR decomposition by blocked Householder reflections."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

from ...core import dtypes, layout
from ...core.array import ArrayLike, VkArray, empty, is_supported
from ...core.dtypes import DType
from ...kernels import launch
from ...kernels.dispatch import dispatch
from ...kernels.planned import planned
from ...kernels.product import packs
from ...shaders.source import Variant
from .. import creation
from . import reflectors
from .common import FACTORED, block, matrices, variant, variants_of, working_copy

if TYPE_CHECKING:
    from ...kernels.launch import Device

_WIDTHS = (32, 8, 1)  # of a panel, in columns
# Of a workgroup, whose invocations share the rows: with more of them there are too few registers.
_SIZES = {
    "large": (64, 128, 256, 512, 1024),
    "middle": (64, 128, 256, 512, 1024),
    "small": (64, 128, 256),
    "tiny": (64, 128, 256),
    "cpu": (64, 256),
}
_ROWS = 16  # that an invocation has to itself before a GPU is given a larger workgroup
_TURNS = 60_000  # llvmpipe leaves a shader's loops after 65,535 turns in all
_UNROLL = 4  # rows that an invocation takes in a turn


# A GPU keeps matrices of more than 64 rows and columns in registers, by strips: for the registers of an invocation and the bytes of
# an element how many rows of a column it has, and how many columns a strip; the first that reaches all rows is taken.
# Some drivers keep the reflectors of all rows and columns between their two uses.
_STRIPS_FROM = {"gpu": 65, "cpu": 1 << 30}
_STRIPS: dict[str, dict[int, tuple[tuple[int, int], ...]]] = {
    "large": {4: ((32, 8), (64, 8)), 8: ((16, 4),), 16: ((16, 4),)},
    "middle": {4: ((32, 4),), 8: ((16, 4),), 16: ((8, 2),)},
    "small": {4: ((16, 4),), 8: ((8, 2),), 16: ((4, 1),)},
    "tiny": {4: ((8, 4),), 8: ((4, 2),), 16: ((4, 1),)},
}
# Of workgroups: with more invocations there are too few registers.
_STRIP_SIZES = {"large": (128, 256, 512), "middle": (128, 256), "small": (128, 256), "tiny": (128, 256)}


class Strip(NamedTuple):
    """The rows of a column that an invocation has, and the columns of a strip."""

    rows: int
    columns: int


class Panel(NamedTuple):
    """How wide panels are, and how many invocations work on one."""

    columns: int
    size: int

    @property
    def lanes(self) -> int:
        """Invocations that share a column."""
        return self.size // self.columns

    @property
    def constants(self) -> tuple[tuple[int, int], ...]:
        """The specialization constants of the shaders that work on panels."""
        return ((1, self.columns),)

    def turns(self, rows: int) -> int:
        """Turns of all loops of an invocation, at most."""
        return self.columns * (4 * -(-rows // (self.lanes * _UNROLL)) + 2 * self.lanes + self.size + self.columns)


class QRResult(NamedTuple):
    """What `qr` returns."""

    Q: VkArray
    R: VkArray


def variants(device: Device) -> Iterator[Variant]:
    """Every variant that `qr` uses, for the archive."""
    for template in ("linalg/qr_prepare", "linalg/qr_panel", "linalg/qr_finish"):
        yield from variants_of(template, device)
    for dtype in FACTORED:
        if is_supported(dtype, device):
            strips = dict.fromkeys(strip for rows in _STRIPS.values() for strip in rows[dtype.itemsize])
            yield from (_strips_variant(dtype, Strip(*strip), device) for strip in strips)
    yield from reflectors.variants(device)


def _strips_variant(dtype: DType, strip: Strip, device: Device) -> Variant:
    """The variant that factors by strips of this kind."""
    template, defines, label, _ = variant("linalg/qr_strips", dtype, device)
    pack, elements = packs.pack_of(dtype)
    sizes = (("ROWS", str(strip.rows)), ("COLUMNS", str(strip.columns)), ("PACK", pack), ("PACK_ROWS", str(elements)))
    return Variant(template, (*defines, *sizes), f"{label}, {strip.rows} rows by {strip.columns}")


def strip_of(rows: int, columns: int, dtype: DType, device: Device) -> Strip | None:
    """The strips in which matrices of this shape are factored; None where they are not."""
    limits = device.limits
    if min(rows, columns) < _STRIPS_FROM[limits.kind]:
        return None
    for strip in (Strip(*own) for own in _STRIPS[limits.registers][dtype.itemsize]):
        sizes = _STRIP_SIZES[limits.registers]
        size = next((size for size in sizes if size * strip.rows // strip.columns >= rows), math.inf)
        longer = max(strip.columns, 2 * strip.rows // strip.columns)
        shared = dtype.itemsize * (size * (longer + 1) + 2 * strip.columns * (strip.columns + 2))
        if size <= limits.max_workgroup_invocations and shared <= limits.max_shared_memory_size:
            return strip
    return None


def panel_of(rows: int, columns: int, device: Device) -> Panel:
    """The panels in which matrices of this shape are factored.

    A GPU takes the smallest workgroup that leaves its invocations few rows. A CPU, whose invocations run one after another,
    takes the widest panel with which its loops do not become too long.
    """
    limits = device.limits
    width = 8 if columns <= 8 else _WIDTHS[0]
    widths = [narrower for narrower in _WIDTHS if narrower <= width] if limits.is_cpu else [width]
    fitting = [
        Panel(width, size)
        for width in widths
        for size in _SIZES[limits.tier]
        if size <= limits.max_workgroup_invocations and (size + 4 * width) * 16 <= limits.max_shared_memory_size
    ]
    for panel in fitting:
        if panel.turns(rows) <= _TURNS if limits.is_cpu else rows <= _ROWS * panel.lanes:
            return panel
    return fitting[-1]


@planned
def qr(
    x: ArrayLike, /, mode: Literal["reduced", "complete", "r", "raw"] = "reduced"
) -> QRResult | VkArray | tuple[VkArray, VkArray]:  # fmt: skip
    """The QR decomposition x = Q R of each matrix, Q with orthonormal columns and R upper triangular.

    Parameters: x (floating-point of 32 bits or more; integers and bool are converted to float64) of shape (..., M, N);
    mode, "reduced", "complete", "r" (R of "reduced" alone) or "raw" (LAPACK's form: the transpose of `packed`, and tau).
    Returns a named tuple: Q of shape (..., M, K) and R of shape (..., K, N), with K = min(M, N) for "reduced" and K = M
    for "complete". The diagonal of R has any sign (of complex matrices: any phase where a column is 0 below it).
    Raises ValueError for fewer than 2 dimensions and other modes, TypeError for other types.
    NaN and infinities give NaN in Q and R.
    Method: Householder reflections in blocks (Schreiber and Van Loan, SIAM J. Sci. Stat. Comput. 10,
    1989), columns scaled by powers of two; |x - Q R| and |Q^H Q - I| are small multiples of max(M, N) eps.
    Standard: linear algebra extension, `qr`.
    """
    if mode not in ("reduced", "complete", "r", "raw"):
        raise ValueError(f"qr: expected mode 'reduced', 'complete', 'r' or 'raw', got {mode!r}.")
    if mode == "raw":
        reflected, scales = packed(x)
        return reflected.mT, scales
    if mode == "r":
        x = matrices("qr", x)
        a, exponents, *_ = _reflections(x)
        return _stacked(_upper_triangle(a, exponents, min(x._shape[-2:])), x._shape[:-2])
    return factors(x, mode == "complete")


def factors(x: VkArray, complete: bool) -> QRResult:
    """Q and R with as many columns and rows as they need, or complete."""
    x = matrices("qr", x)
    m, n = x._shape[-2:]
    columns = m if complete else min(m, n)
    a, exponents, v, tau = _reflections(x)
    r = _upper_triangle(a, exponents, columns)
    q = identity(a._shape[0], m, columns, a)
    reflectors.apply(v, tau, q, 0, identity=True)
    return QRResult(_stacked(q, x._shape[:-2]), _stacked(r, x._shape[:-2]))


def _reflections(x: VkArray) -> tuple[VkArray, VkArray, VkArray, VkArray]:
    """(matrices whose triangle is R, the exponents they are scaled by, reflectors, tau), all of them (batch, ...)."""
    m, n = x._shape[-2:]
    a = working_copy(x)
    panel = panel_of(m, min(m, n), a._device)
    exponents = _prepare(a, panel)
    strip = strip_of(m, n, a._dtype, a._device)
    v, tau = _factor(a, panel) if strip is None else _factor_by_strips(a, strip)
    return a, exponents, v, tau


def packed(x: VkArray) -> tuple[VkArray, VkArray]:
    """The factors of `qr` in one matrix, as LAPACK's geqrf gives them.

    Parameters: x (floating-point of 32 bits or more) of shape (..., M, N).
    Returns (array (..., M, N): R, and below the diagonal the reflectors, whose first element, 1, is left out; tau
    (..., min(M, N))). Raises ValueError for fewer than 2 dimensions, TypeError for other types.
    """
    x = matrices("packed", x)
    *stack, m, n = x._shape
    k = min(m, n)
    if 0 in x._shape:
        return launch.copy(x), creation.zeros((*stack, k), dtype=x._dtype, device=x._device)
    a, exponents, v, tau = _reflections(x)
    result = creation.zeros(a._shape, dtype=x._dtype, device=x._device)
    result[:, :k, :] = _upper_triangle(a, exponents, k)
    result[:, :, :k] += creation.tril(v[:, :, :k], k=-1)
    own = launch.copy(tau[:, :k])
    return _stacked(result, tuple(stack)), own._view((*stack, k), layout.contiguous_strides((*stack, k)))


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
        groups = launch.groups_for(batch * -(-n // panel.columns) * panel.size, device.limits, panel.size)
        launch.dispatch(
            variant("linalg/qr_prepare", a._dtype, device),
            device,
            groups,
            {"a": a, "exponents": exponents, "batch": batch, "m": m, "n": n},
            writes=("a", "exponents"),
            workgroup_size=panel.size,
            constants=panel.constants,
        )
    return exponents


def _factor(a: VkArray, panel: Panel) -> tuple[VkArray, VkArray]:
    """The reflectors (batch, m, count) of which Q is the product, as columns, and their tau (batch, count).

    They are padded with zeros to whole blocks. R is left in the triangle of a.
    """
    batch, m, n = a._shape
    k = min(m, n)
    device, columns = a._device, panel.columns
    count = reflectors.padded(k)
    v = creation.zeros((batch, m, count), dtype=a._dtype, device=device)
    tau = creation.zeros((batch, count), dtype=a._dtype, device=device)
    t = empty((batch, columns, columns), a._dtype, device)
    kernel = launch.kernel(variant("linalg/qr_panel", a._dtype, device), device, panel.size, panel.constants)
    groups = launch.groups_for(batch * panel.size, device.limits, panel.size)
    fields = {"a": a, "v": v, "tau": tau, "t": t, "batch": batch, "m": m, "n": n, "count": count}
    for first in range(0, k if batch else 0, columns):
        last = min(first + columns, k)
        width = last - first
        dispatch(kernel, groups, {**fields, "first": first, "width": width}, writes=("a", "v", "tau", "t"))
        if last < n:
            own = block(t, slice(0, width), slice(0, width))
            reflectors.reflect(
                block(v, slice(first, m), slice(first, last)), own, block(a, slice(first, m), slice(last, n))
            )
    return v, tau


def _factor_by_strips(a: VkArray, strip: Strip) -> tuple[VkArray, VkArray]:
    """As `_factor`, in strips."""
    batch, m, n = a._shape
    device, dtype = a._device, a._dtype
    count = reflectors.padded(min(m, n))
    v = creation.zeros((batch, m, count), dtype=dtype, device=device)
    tau = creation.zeros((batch, count), dtype=dtype, device=device)
    inner = empty((batch, 2, strip.columns, strip.columns), dtype, device)
    chosen = _strips_variant(dtype, strip, device)
    strips, panels = -(-n // strip.columns), -(-min(m, n) // strip.columns)
    fields = {"a": a, "v": v, "tau": tau, "inner": inner, "batch": batch, "m": m, "n": n, "count": count}
    for number in range(panels + (strips > panels) if batch else 0):
        rows = m - max(number - 1, 0) * strip.columns
        sizes = _STRIP_SIZES[device.limits.registers]
        size = next(size for size in sizes if size * strip.rows // strip.columns >= rows)
        groups = launch.groups_for(batch * (strips - number if number else 1), device.limits, 1)
        kernel = launch.kernel(chosen, device, size)
        dispatch(kernel, groups, {**fields, "number": number}, writes=("a", "v", "tau", "inner"))
    return v, tau


def _upper_triangle(a: VkArray, exponents: VkArray, rows: int) -> VkArray:
    """The first rows of the upper triangle, scaled back."""
    batch, m, n = a._shape
    device = a._device
    r = empty((batch, rows, n), a._dtype, device)
    if batch * rows * n:
        size = launch.invocations_of_group(device.limits)
        groups = launch.groups_for(batch * rows * -(-n // size) * size, device.limits, size)
        fields = {"a": a, "exponents": exponents, "r": r, "batch": batch, "m": m, "n": n, "rows": rows}
        kernel = variant("linalg/qr_finish", a._dtype, device)
        launch.dispatch(kernel, device, groups, fields, writes=("r",), workgroup_size=size)
    return r
