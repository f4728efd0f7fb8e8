"""Softmax and normalization."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from ...core import dtypes
from ...core.array import VkArray, empty
from ...core.dtypes import DType
from ...kernels.conversion import cast
from ...nn import normalization as nn
from ...nn import softmax as soft
from ..dispatch import table
from ..dispatch.plans import planned
from ..dispatch.table import native
from .composites import composed, without_gradients

# -- softmax ----------------------------------------------------------------------------------------------------------


def _forward(function: Callable[..., VkArray]) -> Callable[..., VkArray]:
    def computed(x: VkArray, dim: int, half_to_float: bool) -> VkArray:
        torch._prims_common.canonicalize_dim(x.ndim, dim)  # raises PyTorch's error
        return function(cast(x, dtypes.float32) if half_to_float else x, axis=dim)

    computed.__module__ = __name__
    return computed


def _backward(function: Callable[..., VkArray]) -> Callable[..., VkArray]:
    def computed(gradient: VkArray, result: VkArray, dim: int, dtype: DType) -> VkArray:
        return function(gradient, cast(result, gradient._dtype), axis=dim)

    computed.__module__ = __name__
    return computed


native("_softmax", _forward(soft.softmax))
native("_log_softmax", _forward(soft.log_softmax))
native("_softmax_backward_data", _backward(soft.softmax_backward))
native("_log_softmax_backward_data", _backward(soft.log_softmax_backward))

# -- layer norm -------------------------------------------------------------------------------------------------------

Three = tuple[VkArray | None, VkArray | None, VkArray | None]


def _layer_norm(
    x: VkArray, shape: Sequence[int], weight: VkArray | None, bias: VkArray | None, eps: float
) -> tuple[VkArray, VkArray, VkArray]:
    return nn.layer_norm(x, shape, weight, bias, eps=eps)


def _layer_norm_backward(
    gradient: VkArray, x: VkArray, shape: Sequence[int], mean: VkArray, rstd: VkArray, weight: VkArray | None,
    bias: VkArray | None, wanted: Sequence[bool],
) -> Three:  # fmt: skip
    return nn.layer_norm_backward(gradient, x, shape, mean, rstd, weight, wanted=wanted)


native("native_layer_norm", _layer_norm)
native("native_layer_norm_backward", _layer_norm_backward)

# -- batch norm -------------------------------------------------------------------------------------------------------


def _batch_norm(
    x: VkArray, weight: VkArray | None, bias: VkArray | None, mean: VkArray | None, variance: VkArray | None,
    training: bool, momentum: float, eps: float, *, with_statistics: bool = True,
) -> Three:  # fmt: skip
    if not training and mean is not None and variance is not None:
        result = nn.batch_norm_of_running(x, weight, bias, mean, variance, eps)
        return result, *((mean, nn.reciprocal_deviation(variance, eps)) if with_statistics else (None, None))
    return nn.batch_norm(x, weight, bias, mean=mean, variance=variance, training=training, momentum=momentum, eps=eps)


def _batch_norm_without_statistics(
    x: VkArray, weight: VkArray | None, bias: VkArray | None, training: bool, momentum: float, eps: float
) -> Three:
    return _batch_norm(x, weight, bias, None, None, training, momentum, eps)


def _batch_norm_with_update(
    x: VkArray, weight: VkArray | None, bias: VkArray | None, mean: VkArray, variance: VkArray, momentum: float, eps: float
) -> tuple[VkArray | None, ...]:  # fmt: skip
    return *_batch_norm(x, weight, bias, mean, variance, True, momentum, eps), empty((0,), dtypes.uint8, x._device)


def _batch_norm_backward(
    gradient: VkArray, x: VkArray, weight: VkArray | None, running_mean: VkArray | None,
    running_variance: VkArray | None, mean: VkArray | None, rstd: VkArray | None, training: bool, eps: float,
    wanted: Sequence[bool], reserve: VkArray | None = None,
) -> Three:  # fmt: skip
    if not training:
        assert running_mean is not None and running_variance is not None  # noqa: PT018 - PyTorch has checked
        mean, rstd = running_mean, nn.reciprocal_deviation(running_variance, eps)
    assert mean is not None and rstd is not None  # noqa: PT018
    return nn.batch_norm_backward(gradient, x, mean, rstd, weight, training=training, wanted=wanted)


native("_batch_norm_with_update.default", _batch_norm_with_update)
native("native_batch_norm_backward batch_norm_backward", _batch_norm_backward)


def _batch_norm_alone(
    x: VkArray, weight: VkArray | None, bias: VkArray | None, mean: VkArray | None, variance: VkArray | None,
    training: bool, momentum: float, eps: float, cudnn: bool,
) -> VkArray | None:  # fmt: skip
    """The result without statistics."""
    return _batch_norm(x, weight, bias, mean, variance, training, momentum, eps, with_statistics=False)[0]


native("native_batch_norm _native_batch_norm_legit.default", _batch_norm)
native("_native_batch_norm_legit.no_stats", _batch_norm_without_statistics)
# Where no gradients are recorded nobody asks for the statistics.
_alone = table.returning_new(table.Native(torch.ops.aten.batch_norm.default, _batch_norm_alone))
_composed_batch_norm = composed(torch.ops.aten.batch_norm.default)


def _recorded_batch_norm(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor | None, variance: Tensor | None, training: bool,
    *others: Any,
) -> Any:  # fmt: skip
    """What PyTorch composes, without the tensor that it makes for cuDNN; where it refuses arguments, it says so itself."""
    of_channels = [one.shape for one in (weight, bias, mean, variance) if one is not None]
    if (
        type(x) is Tensor
        and training
        and x.ndim > 1
        and x.numel()
        and of_channels.count(x.shape[1:2]) == len(of_channels)
    ):
        return torch.native_batch_norm(x, weight, bias, mean, variance, training, *others[:2])[0]
    return _composed_batch_norm(x, weight, bias, mean, variance, training, *others)


without_gradients("batch_norm", planned(_alone), _recorded_batch_norm)

# -- group norm -------------------------------------------------------------------------------------------------------


def _group_norm(
    x: VkArray, weight: VkArray | None, bias: VkArray | None, batch: int, channels: int, elements: int, groups: int,
    eps: float,
) -> tuple[VkArray, VkArray, VkArray]:  # fmt: skip
    return nn.group_norm(x, groups, weight, bias, eps=eps)


def _group_norm_backward(
    gradient: VkArray, x: VkArray, mean: VkArray, rstd: VkArray, weight: VkArray | None, batch: int, channels: int,
    elements: int, groups: int, wanted: Sequence[bool],
) -> Three:  # fmt: skip
    return nn.group_norm_backward(gradient, x, groups, mean, rstd, weight, wanted=wanted)


native("native_group_norm", _group_norm)
native("native_group_norm_backward", _group_norm_backward)
