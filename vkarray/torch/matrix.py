"""Matrix products."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..array import VkArray
from ..ops.elementwise import add, multiply
from ..ops.launch import constant
from ..ops.linear_algebra import matmul, vecdot
from ..ops.manipulation import permute_dims, reshape
from ..ops.rows import cast
from .fallback import Unsupported
from .pointwise import number
from .table import native


def _scaled(x: VkArray, factor: Any) -> VkArray:
    """factor * x, x itself for a factor of 1."""
    if factor == 1:
        return x
    return multiply(x, constant(number(factor, x._dtype), x._dtype, x._device))


def _product(a: VkArray, b: VkArray) -> VkArray:
    if a._dtype is dtypes.bool_:
        raise Unsupported("bool matrices have no product")
    return matmul(a, b)


def _add_product(x: VkArray, a: VkArray, b: VkArray, beta: Any = 1, alpha: Any = 1) -> VkArray:
    """beta * x + alpha * (a @ b); x is not read for beta = 0."""
    product = _scaled(_product(a, b), alpha)
    if beta == 0:
        return product
    return add(product, _scaled(x if x._dtype is product._dtype else cast(x, product._dtype), beta))


native("mm bmm mv", _product)
native("dot", lambda a, b: vecdot(a, b) if a._dtype.kind != "complex floating" else _product(a, b))
native("vdot", vecdot)
native("addmm baddbmm addmv", _add_product)


def _add_products(x: VkArray, a: VkArray, b: VkArray, *, beta: Any = 1, alpha: Any = 1) -> VkArray:
    """beta * x + alpha * the sum of the products of all matrices of the stacks."""
    (stack, m, k), n = a._shape, b._shape[2]
    a = reshape(permute_dims(a, (1, 0, 2)), (m, stack * k))
    return _add_product(x, a, reshape(b, (stack * k, n)), beta, alpha)


native("addbmm", _add_products)
