"""Pooling, interpolation and padding with an array's own elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from ...core.array import VkArray
from ...nn import pooling
from ...nn.columns import pad_with_zeros
from ...nn.resample import filtered, interpolate, interpolate_backward, pad_repeated, pad_repeated_backward
from ...ops.manipulation import permute_dims, reshape
from ..dispatch.limits import check_within
from ..dispatch.plans import planned
from ..dispatch.table import decomposed, direct, native
from ..tensors.storage import array_of, wrap
from .convolution import batched, with_batch

Sizes = Sequence[int]


def _windows(kernel: Sizes, stride: Sizes, padding: Sizes, ceil_mode: bool) -> dict[str, Any]:
    """What PyTorch says of windows, as vkarray takes it."""
    return {"kernel_size": kernel, "stride": stride or None, "padding": padding, "ceil_mode": ceil_mode}


# -- pooling ----------------------------------------------------------------------------------------------------------


def _max_pool(
    x: VkArray, kernel: Sizes, stride: Sizes = (), padding: Sizes = (0,), dilation: Sizes = (1,), ceil_mode: bool = False
) -> tuple[VkArray, VkArray]:  # fmt: skip
    return pooling.max_pool(x, **_windows(kernel, stride, padding, ceil_mode), dilation=dilation)


def _max_pool_backward(
    gradient: VkArray, x: VkArray, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil_mode: bool,
    indices: VkArray,
) -> VkArray:  # fmt: skip
    given = _windows(kernel, stride, padding, ceil_mode)
    return pooling.max_pool_backward(gradient, x, indices, **given, dilation=dilation)


def _avg_pool(
    x: VkArray, kernel: Sizes, stride: Sizes = (), padding: Sizes = (0,), ceil_mode: bool = False,
    count_include_pad: bool = True, divisor: int | None = None,
) -> VkArray:  # fmt: skip
    given = _windows(kernel, stride, padding, ceil_mode)
    return pooling.avg_pool(x, **given, count_include_pad=count_include_pad, divisor_override=divisor)


def _avg_pool_backward(
    gradient: VkArray, x: VkArray, kernel: Sizes, stride: Sizes, padding: Sizes, ceil_mode: bool, count_include_pad: bool,
    divisor: int | None,
) -> VkArray:  # fmt: skip
    given = _windows(kernel, stride, padding, ceil_mode)
    return pooling.avg_pool_backward(
        gradient, x, **given, count_include_pad=count_include_pad, divisor_override=divisor
    )


def _backward(rank: int, function: Callable[..., VkArray]) -> Callable[..., VkArray]:
    """A gradient of arrays (N, C, and `rank` lengths) that takes those without N as well."""

    def called(gradient: VkArray, x: VkArray, *arguments: Any) -> VkArray:
        if x.ndim != rank + 1:
            return function(gradient, x, *arguments)
        given = [with_batch(each) if isinstance(each, VkArray) else each for each in (gradient, x, *arguments)]
        result = function(*given)
        return result._view(result._shape[1:], result._strides[1:])

    called.__module__ = __name__
    return called


for _rank in (2, 3):
    native(f"max_pool{_rank}d_with_indices", batched(_rank, _max_pool))
    native(f"max_pool{_rank}d_with_indices_backward", _backward(_rank, _max_pool_backward))
    native(f"avg_pool{_rank}d", batched(_rank, _avg_pool))
    native(f"avg_pool{_rank}d_backward", _backward(_rank, _avg_pool_backward))
    native(f"_adaptive_avg_pool{_rank}d", batched(_rank, pooling.adaptive_avg_pool))
    native(f"_adaptive_avg_pool{_rank}d_backward", _backward(_rank, pooling.adaptive_avg_pool_backward))
    native(f"adaptive_max_pool{_rank}d", batched(_rank, pooling.adaptive_max_pool))
    native(f"adaptive_max_pool{_rank}d_backward", _backward(_rank, pooling.adaptive_max_pool_backward))


def _check_places(x: Tensor, places: Tensor, size: Sizes, *rest: Any) -> None:
    """Refuse places outside of the result of `max_unpool`."""
    text = "max_unpool: found an invalid max index {value} for an output of {length} elements."
    check_within(text, places, 0, math.prod(size) - 1, math.prod(size))


decomposed("max_unpool2d max_unpool3d", "pooling", _check_places)


# -- interpolation ----------------------------------------------------------------------------------------------------


def _interpolation(method: str) -> tuple[Callable[..., VkArray], Callable[..., VkArray]]:
    """The functions that interpolate by a method and take the gradient, with the arguments that PyTorch gives."""
    corners, still = method in ("linear", "cubic"), method in ("nearest", "linear")

    def forward(x: VkArray, size: Sizes, *rest: Any) -> VkArray:
        scales = _scales(size, rest[corners:])
        return interpolate(x, size, method, align_corners=corners and rest[0], scales=scales, still=still)

    def backward(gradient: VkArray, size: Sizes, input_size: Sizes, *rest: Any) -> VkArray:
        scales = _scales(size, rest[corners:])
        aligned = corners and rest[0]
        return interpolate_backward(gradient, input_size[2:], method, align_corners=aligned, scales=scales, still=still)

    return forward, backward


def _scales(size: Sizes, given: Sequence[float | None]) -> Sequence[float | None]:
    return given if len(given) == len(size) else (*given, *(None,) * (len(size) - len(given)))


for _names, _method in {
    "upsample_nearest1d upsample_nearest2d upsample_nearest3d": "nearest",
    "_upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d": "nearest-exact",
    "upsample_linear1d upsample_bilinear2d upsample_trilinear3d": "linear",
    "upsample_bicubic2d": "cubic",
}.items():
    _forward, _gradient = _interpolation(_method)
    for _name in _names.split():
        native(_name, _forward)
        native(f"{_name}_backward", _gradient)


def _filtered(method: str) -> tuple[Callable[..., VkArray], Callable[..., VkArray]]:
    def forward(x: VkArray, size: Sizes, align_corners: bool, *scales: float | None) -> VkArray:
        given = _scales(size, scales)
        return filtered(x, x._shape[2:], size, method, align_corners=align_corners, scales=given, still=True)

    def backward(
        gradient: VkArray, size: Sizes, input_size: Sizes, align_corners: bool, *scales: float | None
    ) -> VkArray:
        return filtered(
            gradient,
            input_size[2:],
            size,
            method,
            align_corners=align_corners,
            scales=_scales(size, scales),
            transposed=True,
        )

    return forward, backward


for _name, _method in {"_upsample_bilinear2d_aa": "linear", "_upsample_bicubic2d_aa": "cubic"}.items():
    _forward, _gradient = _filtered(_method)
    native(_name, _forward)
    native(f"{_name}_backward", _gradient)


# -- padding ----------------------------------------------------------------------------------------------------------


def _padding(mode: str) -> tuple[Callable[..., VkArray], Callable[..., VkArray]]:
    def pairs(padding: Sizes) -> list[Sizes]:
        return [padding[first : first + 2] for first in range(len(padding) - 2, -1, -2)]

    def forward(x: VkArray, padding: Sizes) -> VkArray:
        return pad_repeated(x, pairs(padding), mode)

    def backward(gradient: VkArray, x: VkArray, padding: Sizes) -> VkArray:
        return pad_repeated_backward(gradient, x._shape[2:], pairs(padding), mode)

    return forward, backward


for _name, _mode in {"reflection": "reflect", "replication": "replicate"}.items():
    _forward, _gradient = _padding(_mode)
    for _rank in (1, 2, 3):
        native(f"{_name}_pad{_rank}d", batched(_rank, _forward))
        native(f"{_name}_pad{_rank}d_backward", _backward(_rank, _gradient))


_by_parts = torch.ops.aten.constant_pad_nd.default


def _constant_pad(x: Tensor, padding: Sizes, value: float = 0) -> Tensor:
    """Zeros round the planes of channels in one pass; all else as PyTorch composes it, of a constant and a copy."""
    pairs = [(before, after) for before, after in zip(padding[-2::-2], padding[::-2], strict=False)]
    planes = 0 < len(pairs) <= x.ndim - 2 <= 3 and len(padding) % 2 == 0
    if planes and any(padding) and not value and math.copysign(1, value) > 0 and x.is_contiguous():
        pairs = [*[(0, 0)] * (x.ndim - 2 - len(pairs)), *pairs]
        sizes = [length + before + after for length, (before, after) in zip(x.shape[2:], pairs, strict=True)]
        if min(*x.shape, *sizes) > 0:
            return wrap(pad_with_zeros(array_of(x), pairs))
    composed: Tensor = _by_parts._op_dk(torch._C.DispatchKey.CompositeExplicitAutograd, x, padding, value)
    return composed


direct("constant_pad_nd", planned(_constant_pad))


def _channel_shuffle(x: VkArray, groups: int) -> VkArray:
    n, channels, *plane = x._shape
    parts = reshape(x, (n, groups, channels // groups, *plane))
    order = (0, 2, 1, *range(3, parts.ndim))
    return reshape(permute_dims(parts, order), x._shape, copy=True)


native("channel_shuffle", _channel_shuffle)
