"""Convolutions, and the columns of `unfold` and `fold`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from ...core.array import VkArray
from ...nn.columns import fold, unfold
from ...nn.convolution import convolution, convolution_backward
from ...ops import creation
from ...ops.manipulation import broadcast_to, permute_dims, reshape
from ..dispatch import fallback
from ..dispatch.plans import planned
from ..dispatch.table import REFUSALS, direct, native, reason
from ..tensors.storage import array_of, wrap

_aten = torch.ops.aten


def _parameters(
    stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int], transposed: bool, output_padding: Sequence[int],
    groups: int,
) -> dict[str, Any]:  # fmt: skip
    return {
        "stride": stride, "padding": padding, "dilation": dilation, "transposed": transposed,
        "output_padding": output_padding if transposed else 0, "groups": groups,
    }  # fmt: skip


def _convolution(x: Tensor, weight: Tensor, bias: Tensor | None, *parameters: Any) -> Tensor:
    try:
        added = None if bias is None else array_of(bias)
        return wrap(convolution(array_of(x), array_of(weight), added, **_parameters(*parameters)))
    except REFUSALS as error:
        result: Tensor = fallback.run(_aten.convolution.default, (x, weight, bias, *parameters), {}, reason(error))
        return result


def _convolution_backward(gradient: Tensor, x: Tensor, weight: Tensor, *parameters: Any) -> Any:
    *given, wanted = parameters
    try:
        arrays = [array_of(each) for each in (gradient, x, weight)]
        results = convolution_backward(*arrays, **_parameters(*given), wanted=wanted)
        return tuple(None if each is None else wrap(each) for each in results)
    except REFUSALS as error:
        channels = [gradient.shape[1]]
        arguments = (gradient, x, weight, channels, *given, wanted)
        return fallback.run(_aten.convolution_backward.default, arguments, {}, reason(error))


# PyTorch's own convolution checks shapes and types, and calls these for devices that it does not know.
direct("convolution_overrideable", planned(_convolution))
direct("convolution_backward_overrideable", planned(_convolution_backward))


# -- columns ----------------------------------------------------------------------------------------------------------


def batched(rank: int, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of an array (N, C, and `rank` lengths) that takes one without N as well: then the results have none."""

    def called(x: VkArray, *arguments: Any, **named: Any) -> Any:
        if x.ndim != rank + 1:
            return function(x, *arguments, **named)
        result = function(with_batch(x), *arguments, **named)
        return tuple(map(_without_batch, result)) if isinstance(result, tuple) else _without_batch(result)

    called.__module__ = function.__module__
    return called


def with_batch(x: VkArray) -> VkArray:
    """The array as the only element of a batch."""
    return x._view((1, *x._shape), (0, *x._strides))


def _without_batch(x: VkArray) -> VkArray:
    return x._view(x._shape[1:], x._strides[1:])


def _unfold(
    x: VkArray, kernel: Sequence[int], dilation: Sequence[int], padding: Sequence[int], stride: Sequence[int]
) -> VkArray:
    return unfold(x, kernel, dilation=dilation, padding=padding, stride=stride)


def _fold(
    x: VkArray, size: Sequence[int], kernel: Sequence[int], dilation: Sequence[int], padding: Sequence[int],
    stride: Sequence[int],
) -> VkArray:  # fmt: skip
    return fold(x, size, kernel, dilation=dilation, padding=padding, stride=stride)


native("im2col", batched(2, _unfold))
native("col2im", batched(1, _fold))


def _unfold_backward(gradient: VkArray, size: Sequence[int], dim: int, length: int, step: int) -> VkArray:
    """The gradient of the view `Tensor.unfold`, whose windows along one dimension are those of `fold`."""
    if not size:
        return reshape(gradient, (), copy=True)
    dim %= len(size)
    rest = [axis for axis in range(len(size)) if axis != dim]
    # PyTorch broadcasts it: `istft` gives one window for all signals.
    gradient = broadcast_to(gradient, (*size[:dim], gradient._shape[dim], *size[dim + 1 :], length))
    columns = permute_dims(gradient, (*rest, len(size), dim))
    windows = columns._shape[-1]
    covered = (windows - 1) * step + length
    folded = fold(reshape(columns, (-1, length, windows)), (covered,), length, stride=step)
    result = creation.zeros((*(size[axis] for axis in rest), size[dim]), dtype=gradient._dtype, device=gradient._device)
    result[..., :covered] = reshape(folded, (*result._shape[:-1], covered))
    return permute_dims(result, [*range(dim), len(size) - 1, *range(dim, len(size) - 1)])


native("unfold_backward", _unfold_backward)
