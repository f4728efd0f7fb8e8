"""Products of many Householder reflectors, applied in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...core.array import VkArray, empty
from ...kernels import launch
from ...kernels.product import strategies
from ...kernels.product.blocks import subtract_product
from ...shaders.source import Variant
from .. import elementwise
from .common import block, variant, variants_of

if TYPE_CHECKING:
    from ...kernels.launch import Device

# How many reflectors make a block: the wider, the fewer and the larger are the products of matrices.
_WIDTHS = ((8, 8), (128, 32))
_WIDEST = 128


def variants(device: Device) -> Iterator[Variant]:
    """Every variant of this file, for the archive."""
    yield from variants_of("linalg/reflector_blocks", device)


def width_of(count: int) -> int:
    """The width of the blocks in which so many reflectors are applied; the same for `padded(count)`."""
    return next((width for limit, width in _WIDTHS if count <= limit), _WIDEST)


def padded(count: int) -> int:
    """The number of reflectors with those that are added, with tau = 0, to make the last block a whole one."""
    width = width_of(count)
    return -(-count // width) * width


def conjugate(a: VkArray) -> VkArray:
    """The conjugate: the array itself when it is real."""
    return elementwise.conj(a) if a._dtype.category == "complex floating" else a


def reflect(v: VkArray, t: VkArray, c: VkArray) -> None:
    """c -= V T^H V^H c, in place: the adjoint of a block of reflectors, all of shape (batch, ., .)."""
    inner = _product(conjugate(v).mT, c)
    inner = _product(conjugate(t).mT, inner)
    subtract_product(v, inner, c)


def apply(v: VkArray, tau: VkArray, c: VkArray, first_row: int, *, identity: bool) -> None:
    """c = H_1 H_2 ... c in place.

    v (batch, rows, count) has the vectors as columns, tau is (batch, count), and `count` comes from `padded`. Vector i is zero
    above row i + first_row. With `identity`, c is the identity at first, and the products keep clear of its zeros.
    Method: H_i H_i+1 ... = 1 - V T V^H (Schreiber and Van Loan, SIAM J. Sci. Stat. Comput. 10, 1989).
    """
    batch, rows, count = v._shape
    width = width_of(count)
    blocks = count // width
    if not blocks or not batch or not c._shape[2]:
        return
    conjugated = conjugate(v.mT)
    t = _factors(v, conjugated, tau, width)
    step, row, column = v._strides
    # Blocks as a dimension of the stack: all are multiplied by their T at once.
    grouped = v._view((batch, blocks, rows, width), (step, width * column, row, column))
    scaled = _product(grouped, t)
    for number in reversed(range(blocks)):
        first = number * width
        top = first + first_row
        if top >= rows:
            continue
        target = block(c, slice(top, rows), slice(first if identity else 0, None))
        if not target._shape[2]:
            continue
        inner = _product(block(conjugated, slice(first, first + width), slice(top, rows)), target)
        own = scaled._view(
            (batch, rows, width), (scaled._strides[0], *scaled._strides[2:]), number * scaled._strides[1]
        )
        subtract_product(block(own, slice(top, rows)), inner, target)


def _product(a: VkArray, b: VkArray) -> VkArray:
    return strategies.multiply(a, b, empty((*a._shape[:-1], b._shape[-1]), a._dtype, a._device))


def _factors(v: VkArray, conjugated: VkArray, tau: VkArray, width: int) -> VkArray:
    """T of every block, (batch, blocks, width, width)."""
    batch, rows, count = v._shape
    blocks = count // width
    device = v._device
    (step, row, column), (c_step, c_column, c_row) = v._strides, conjugated._strides
    products = _product(
        conjugated._view((batch, blocks, width, rows), (c_step, width * c_column, c_column, c_row)),
        v._view((batch, blocks, rows, width), (step, width * column, row, column)),
    )
    t = empty(products._shape, v._dtype, device)
    fields = {"products": products, "tau": tau, "t": t, "rows": batch * count}
    groups = launch.groups_for(batch * count, device.limits)
    kernel = variant("linalg/reflector_blocks", v._dtype, device)
    launch.dispatch(kernel, device, groups, fields, writes=("t",), constants=((1, width),))
    return t
