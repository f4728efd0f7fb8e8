"""Normalization by means and deviations, of channels, groups, rows and neighbours."""

from __future__ import annotations

from typing import Any

import vkarray as vx

from ...nn import normalization as nn
from ..interpreter import Call
from ..table import INSIDE, axis_of, operator
from ..types import dtype_of


def _columns(x: Any, *given: Any) -> list[Any]:
    """Numbers of each channel, beside x."""
    return [vx.reshape(one, (-1, *(1,) * (x.ndim - 2))) for one in given]


@operator("BatchNormalization", half=INSIDE)
def _batch_norm_of_test(call: Call, *inputs: Any, is_test: int = 0, **attributes: Any) -> Any:
    """As before version 7."""
    return _batch_norm(call, *inputs, training_mode=1 - is_test, **attributes)


@operator("BatchNormalization", since=7, half=INSIDE)
def _batch_norm(
    call: Call, x: Any, scale: Any, bias: Any, mean: Any, variance: Any, *, epsilon: float = 1e-5, momentum: float = 0.9,
    spatial: int = 1, training_mode: int = 0,
) -> Any:  # fmt: skip
    is_flat = x.ndim == 1  # of one channel
    x = x[:, None] if is_flat else x
    axes = (0, *range(2, x.ndim))
    own_mean, own_variance = (vx.mean(x, axis=axes), vx.var(x, axis=axes)) if training_mode else (mean, variance)
    found = nn.batch_norm_of_running(x, scale, bias, own_mean, own_variance, epsilon)
    found = found[:, 0] if is_flat else found
    if not training_mode:
        return found
    blended = [
        call.cast(running * momentum + call.cast(own, running.dtype) * (1 - momentum), running.dtype)
        for running, own in ((mean, own_mean), (variance, own_variance))
    ]
    return found, *blended


@operator("InstanceNormalization", half=INSIDE)
def _instance_norm(call: Call, x: Any, scale: Any, bias: Any, *, epsilon: float = 1e-5) -> Any:
    return nn.group_norm(x, x.shape[1], scale, bias, eps=epsilon)[0]


@operator("GroupNormalization", since=18, half=INSIDE)
def _group_norm_of_groups(
    call: Call, x: Any, scale: Any, bias: Any, *, epsilon: float = 1e-5, num_groups: int, stash_type: int = 1
) -> Any:
    """As in version 18: scale and bias are numbers of each group."""
    each = x.shape[1] // num_groups
    return _group_norm(
        call,
        x,
        vx.repeat(scale, each),
        vx.repeat(bias, each),
        epsilon=epsilon,
        num_groups=num_groups,
        stash_type=stash_type,
    )


@operator("GroupNormalization", since=21, half=INSIDE)
def _group_norm(
    call: Call, x: Any, scale: Any, bias: Any, *, epsilon: float = 1e-5, num_groups: int, stash_type: int = 1
) -> Any:
    return nn.group_norm(x, num_groups, scale, bias, eps=epsilon)[0]


def _affine(x: Any, scale: Any, bias: Any = None) -> Any:
    found = x * scale
    return found if bias is None else found + bias


@operator("LayerNormalization", since=17, half=INSIDE)
def _layer_norm(
    call: Call, x: Any, scale: Any, bias: Any = None, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1
) -> Any:
    shape = x.shape[axis_of(axis, x.ndim) :]
    fits = scale.shape == shape and (bias is None or bias.shape == shape)
    given = (scale, bias) if fits else (None, None)
    found, mean, deviation = nn.layer_norm(x, shape, *given, eps=epsilon)
    wide = dtype_of(stash_type, "the attribute 'stash_type'")
    return found if fits else _affine(found, scale, bias), call.cast(mean, wide), call.cast(deviation, wide)


@operator("RMSNormalization", since=23, half=INSIDE)
def _rms_norm(call: Call, x: Any, scale: Any, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1) -> Any:
    shape = x.shape[axis_of(axis, x.ndim) :]
    if scale.shape == shape:
        return nn.rms_norm(x, shape, scale, eps=epsilon)[0]
    return _affine(nn.rms_norm(x, shape, eps=epsilon)[0], scale)


@operator("LRN", half=INSIDE)
def _local_norm(call: Call, x: Any, *, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0, size: int) -> Any:
    """Over neighbouring channels. Source: A. Krizhevsky et al., "ImageNet classification" (2012)."""
    before = (size - 1) // 2
    width = [(0, 0)] * x.ndim
    width[1] = (before, size - 1 - before)
    squares = vx.pad(x * x, width)
    total = squares[:, : x.shape[1]]
    for place in range(1, size):
        total = total + squares[:, place : place + x.shape[1]]
    return x / vx.pow(total * (alpha / size) + bias, beta)


@operator("LpNormalization", half=INSIDE)
def _norm(call: Call, x: Any, *, axis: int = -1, p: int = 2) -> Any:
    if p not in (1, 2):
        raise ValueError(f"its attribute 'p' is {p}, expected 1 or 2")
    length = vx.sum(vx.abs(x), axis=axis, keepdims=True) if p == 1 else vx.sqrt(vx.sum(x * x, axis=axis, keepdims=True))
    return vx.where(length == 0, vx.zeros_like(x), x / length)


@operator("MeanVarianceNormalization", since=9, half=INSIDE)
def _mean_variance(call: Call, x: Any, *, axes: Any = (0, 2, 3)) -> Any:
    axes = tuple(axes)
    away = x - vx.mean(x, axis=axes, keepdims=True)
    return away / (vx.sqrt(vx.mean(away * away, axis=axes, keepdims=True)) + 1e-9)
