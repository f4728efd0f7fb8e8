"""Copies of matrices in packs of 16 bytes, for large products of matrices that do not lie so: of odd lengths, or sliced."""

from __future__ import annotations

from ..array import VkArray, empty
from . import launch

# Rows and columns of the result, and products of a sum, from which on copies cost less than moving elements one by one.
_LEAST = (1024, 1024, 512)
# Rows of the result from which on a copy costs less than reading b along k, in pieces of lines of the cache.
_TURN_FROM = 4096


def in_packs(a: VkArray, b: VkArray, lanes: int) -> tuple[VkArray, VkArray]:
    """Matrices a (m x k) and b (k x n) with the same product, in packs of `lanes` elements if it is large.

    Where k is no multiple of `lanes`, both are longer by zeros along it. Copies lie row by row of k, which is read fastest.
    """
    (m, k), n = a._shape, b._shape[1]
    if lanes == 1 or any(length < least for length, least in zip((m, n, k), _LEAST, strict=True)):
        return a, b
    whole = -(-k // lanes) * lanes
    along_k = whole == k and _lies_in_packs(a, lanes), whole == k and _lies_in_packs(b.mT, lanes) and m < _TURN_FROM
    return a if along_k[0] else _packed(a.mT, whole, lanes).mT, b if along_k[1] else _packed(b, whole, lanes)


def _lies_in_packs(x: VkArray, lanes: int) -> bool:
    across, along = x._strides
    return along == 1 and across >= 0 and across % lanes == 0 and x._address % 16 == 0


def _packed(x: VkArray, whole: int, lanes: int) -> VkArray:
    """The matrix with `whole` rows, those that it has not zero; copied unless it lies in packs as it is."""
    rows, columns = x._shape
    if rows == whole and _lies_in_packs(x, lanes):
        return x
    row = -(-columns // lanes) * lanes
    result = empty((whole, row), x._dtype, x._device)._view((whole, columns), (row, 1))
    operation = launch.copy_operation(x._dtype)
    launch.elementwise(operation, (x,), result._view(x._shape, (row, 1)))
    if rows < whole:
        zeros = result._view(((whole - rows) * row,), (1,), rows * row)
        launch.elementwise(operation, (launch.constant(0, x._dtype, x._device),), zeros)
    return result
