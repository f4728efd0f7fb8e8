"""Matrix products."""

from __future__ import annotations

from typing import Any

from .. import dtypes, layout
from ..array import VkArray, empty
from ..ops import cooperative, launch
from ..ops.elementwise import add, multiply
from ..ops.launch import constant
from ..ops.linear_algebra import matmul, vecdot
from ..ops.manipulation import permute_dims, reshape
from ..ops.nn import pointwise as nn
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
    """beta * x + alpha * (a @ b); x is not read for beta = 0. Sums of 16 bits are rounded once."""
    short = a._dtype.kind == "real floating" and a._dtype.bits == 16 and beta != 0
    product = _scaled(_wide_product(a, b) if short else _product(a, b), alpha)
    if beta == 0:
        return product
    if beta != 1:
        x = _scaled(cast(x, product._dtype), beta)
    if not short or beta != 1:
        return add(product, x if x._dtype is product._dtype else cast(x, product._dtype))
    result = empty(layout.broadcast_shapes([x._shape, product._shape], "addmm"), a._dtype, a._device)
    return launch.elementwise(nn.add_wide.operation(a._dtype), (product, cast(x, a._dtype)), result)


def _wide_product(a: VkArray, b: VkArray) -> VkArray:
    """a @ b of types of 16 bits, in float32, in which it is summed."""
    if a.ndim != b.ndim or 0 in (*a._shape, *b._shape):
        return _product(cast(a, dtypes.float32), cast(b, dtypes.float32))
    result = empty((*a._shape[:-1], b._shape[-1]), dtypes.float32, a._device)
    cooperative.matmul(a, b, result)
    return result


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
