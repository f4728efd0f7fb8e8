"""`linear` as one operator, forth and back: PyTorch knows its gradient as the operator `linear_backward`, of some devices.

Its own composition takes some five views and ten operators instead. The products and sums are the same here.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import torch
from torch import Tensor

from ..dispatch.plans import planned
from ..dispatch.table import direct, library
from .composites import composed, is_transformed, without_gradients

_aten = torch.ops.aten
_composed = composed(_aten.linear.default)
# PyTorch's function that makes a node of the graph of gradients, which asks for `linear_backward`.
_with_node = functools.partial(_aten.linear.default._op_dk, torch._C.DispatchKey.Autograd)
_len_torch_dispatch_stack = torch._C._len_torch_dispatch_stack


def _recorded(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """The call where gradients are recorded: in parts for who takes gradients in another way, or looks at each operator."""
    usual = weight.ndim == 2 and (bias is None or bias.shape == weight.shape[:1])
    whole = usual and not _len_torch_dispatch_stack() and not is_transformed()
    made: Tensor = (_with_node if whole else _composed)(x, weight, bias)
    return made


def _product_with_transposed(gradient: Tensor, other: Tensor, like: Tensor) -> Tensor:
    """gradient @ other.T as the gradient of a matrix, in columns where that one lies so (as PyTorch's `mm_mat1_grad`)."""
    if like.stride(0) == 1 and like.stride(1) == like.size(0):
        return _aten.mm(other.conj(), gradient.t()).t()
    return _aten.mm(gradient, other.t().conj())


def _transposed_product(one: Tensor, gradient: Tensor, like: Tensor) -> Tensor:
    """one.T @ gradient as the gradient of a matrix, in columns where that one lies so (as PyTorch's `mm_mat2_grad`)."""
    if like.stride(0) == 1 and like.stride(1) == like.size(0):
        return _aten.mm(gradient.t(), one.conj()).t()
    return _aten.mm(one.t().conj(), gradient)


def _backward(
    x: Tensor, gradient: Tensor, weight: Tensor, wanted: Sequence[bool]
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:  # fmt: skip
    """The gradients of `linear`: of x, of the weight and of the bias."""
    count = math.prod(x.shape[:-1])
    rows, of_rows = x.reshape(count, x.shape[-1]), gradient.reshape(count, gradient.shape[-1])
    transposed = weight.t()
    of_x = of_weight = of_bias = None
    if wanted[0]:
        of_x = _product_with_transposed(of_rows, transposed, rows).reshape(x.shape)
    if wanted[1]:
        of_weight = _transposed_product(rows, of_rows, transposed).t()
    if wanted[2]:
        of_bias = of_rows.sum(0)
    return of_x, of_weight, of_bias


without_gradients("linear", planned(_composed), _recorded)
direct("linear_backward", planned(_backward))
# Gradients of many results at once.
library.impl("linear_backward", _backward, "FuncTorchBatchedDecomposition")
