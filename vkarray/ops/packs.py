"""Copies of matrices in packs of 16 bytes, for large products of matrices that do not lie so: of odd lengths, or sliced."""

from __future__ import annotations

from ..array import VkArray, empty
from . import launch

# Rows and columns of the result, and products of a sum, from which on copies cost less than moving elements one by one.
_LEAST = (1024, 1024, 512)


def in_packs(a: VkArray, b: VkArray, lanes: int) -> tuple[VkArray, VkArray]:
    """Matrices a (m x k) and b (k x n) with the same product, in packs of `lanes` elements if it is large.

    Where k is no multiple of `lanes`, both are longer by zeros along it.
    """
    (m, k), n = a._shape, b._shape[1]
    if lanes == 1 or any(length < least for length, least in zip((m, n, k), _LEAST, strict=True)):
        return a, b
    whole = -(-k // lanes) * lanes
    return _packed(a, 1, whole, lanes), _packed(b, 0, whole, lanes)


def _packed(x: VkArray, axis: int, whole: int, lanes: int) -> VkArray:
    """The matrix with the length `whole` along an axis, copied unless it lies in packs as it is."""
    along, across = x._strides[1], x._strides[0]
    if abs(across) < abs(along):
        return _packed(x.mT, 1 - axis, whole, lanes).mT
    length = x._shape[axis]
    if length == whole and along == 1 and across >= 0 and across % lanes == 0 and x._address % 16 == 0:
        return x
    rows, columns = (whole if other == axis else size for other, size in enumerate(x._shape))
    row = -(-columns // lanes) * lanes
    result = empty((rows, row), x._dtype, x._device)._view((rows, columns), (row, 1))
    operation = launch.copy_operation(x._dtype)
    launch.elementwise(operation, (x,), result._view(x._shape, (row, 1)))
    if length < whole:
        strip = (rows, whole - length) if axis else (whole - length, columns)
        zero = launch.constant(0, x._dtype, x._device)
        launch.elementwise(operation, (zero,), result._view(strip, (row, 1), length if axis else length * row))
    return result
