"""Matrix products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core import dtypes, layout
from ...core.array import VkArray, empty
from ...core.dtypes import DType
from ...kernels import launch
from ...kernels.conversion import cast
from ...kernels.launch import constant
from ...kernels.product import strategies
from ...kernels.product.epilogue import Epilogue
from ...kernels.rows import Row
from ...nn import pointwise as nn
from ...ops.elementwise import add, multiply
from ...ops.linear_algebra import matmul, vecdot
from ...ops.manipulation import permute_dims, reshape
from ..dispatch.fallback import Unsupported
from ..dispatch.pointwise import number
from ..dispatch.table import SCALAR_NAMES, decomposed, native
from ..tensors.storage import TO_TORCH


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
    short = _is_short(a._dtype)
    if beta == 0 or alpha != 1 or (short and beta != 1) or 0 in (*a._shape, *b._shape) or a._dtype is dtypes.bool_:
        return _add_scaled(x, a, b, beta, alpha)
    x = _scaled(cast(x, a._dtype), beta)
    result = empty((*a._shape[:-1], *b._shape[1:][-1:]), a._dtype, a._device)
    if b.ndim > 1:
        return strategies.multiply(a, b, result, Epilogue(bias=x, wide=short))
    a, b = (cast(one, dtypes.float32) if short else one for one in (a, b))
    strategies.multiply(a, _column(b), _column(result), Epilogue(bias=_column(x), wide=short))
    return result


def product_with(
    bias: VkArray | None, a: VkArray, b: VkArray, activation: Row | None, residual: VkArray | None
) -> VkArray:  # fmt: skip
    """activation(bias + a @ b) + residual of matrices, in one kernel: the bits of `addmm` and of kernels for the other steps."""
    result = empty((a._shape[0], b._shape[1]), a._dtype, a._device)
    wide = bias is not None and _is_short(a._dtype)
    return strategies.multiply(a, b, result, Epilogue(bias, activation, residual, wide))


def _is_short(dtype: DType) -> bool:
    return dtype.category == "real floating" and dtype.bits == 16


def _column(x: VkArray) -> VkArray:
    """A vector as a matrix of one column."""
    return x._view((*x._shape, 1), (*x._strides, 0))


def _add_scaled(x: VkArray, a: VkArray, b: VkArray, beta: Any, alpha: Any) -> VkArray:
    short = _is_short(a._dtype) and beta != 0
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
    return strategies.multiply(a, b, result)


def _of_one_type(function: Callable[..., VkArray], text: str) -> Callable[..., VkArray]:
    """A product that raises PyTorch's RuntimeError for operands of two types, which its `meta` device lets pass."""

    def checked(*operands: Any, **named: Any) -> VkArray:
        types = [one._dtype for one in operands if type(one) is VkArray]
        first, last = types[0], types[-1]
        if types.count(first) != len(types):
            last = next(one for one in reversed(types) if one is not first)
            names = [SCALAR_NAMES[TO_TORCH[one]] for one in (first, last)]
            raise RuntimeError(text.format(*names, *map(str.lower, names)))
        return function(*operands, **named)

    checked.__module__ = __name__
    return checked


def _dot(a: VkArray, b: VkArray) -> VkArray:
    return vecdot(a, b) if a._dtype.category != "complex floating" else _product(a, b)


_VECTORS = "dot : expected both vectors to have same dtype, but found {} and {}"
native("mm", _of_one_type(_product, "expected m1 and m2 to have the same dtype, but got: {2} != {3}"))
native("bmm mv", _of_one_type(_product, "expected scalar type {} but found {}"))
native("dot", _of_one_type(_dot, _VECTORS))
native("vdot", _of_one_type(vecdot, _VECTORS))
native("addmm", _of_one_type(_add_product, "self and mat2 must have the same dtype, but got {} and {}"))
native("baddbmm addmv", _of_one_type(_add_product, "expected scalar type {} but found {}"))


def _add_products(x: VkArray, a: VkArray, b: VkArray, *, beta: Any = 1, alpha: Any = 1) -> VkArray:
    """beta * x + alpha * the sum of the products of all matrices of the stacks."""
    (stack, m, k), n = a._shape, b._shape[2]
    a = reshape(permute_dims(a, (1, 0, 2)), (m, stack * k))
    return _add_product(x, a, reshape(b, (stack * k, n)), beta, alpha)


native("addbmm", _add_products)
decomposed("_addmm_activation", "matrix")
