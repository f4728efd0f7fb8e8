"""Layers of networks: convolutions, pooling, normalization, attention, pictures of another size."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import vkarray as vx

from ....nn import attention as attentions
from ....nn import convolution as convolutions
from ....nn import normalization, pooling, resample
from ..table import row

Sizes = Sequence[Any]


def _batched(rank: int, function: Callable[[Any], Any], x: Any) -> Any:
    """A function of (N, C, and `rank` lengths) of an array that may lack N."""
    if x.ndim != rank + 1:
        return function(x)
    found = function(x[None])
    return tuple(one[0] for one in found) if isinstance(found, tuple) else found[0]


@row("convolution", "_convolution")
def _convolve(
    call: Any, x: Any, weight: Any, bias: Any, stride: Sizes, padding: Sizes, dilation: Sizes, transposed: bool,
    output_padding: Sizes, groups: int, *_: Any,
) -> Any:  # fmt: skip
    def function(x: Any) -> Any:
        return convolutions.convolution(
            x, weight, bias, stride=list(stride), padding=list(padding), dilation=list(dilation), groups=groups,
            transposed=transposed, output_padding=list(output_padding) if transposed else 0,
        )  # fmt: skip

    return _batched(weight.ndim - 2, function, x)


@row("convolution_backward")
def _convolve_back(
    call: Any, gradient: Any, x: Any, weight: Any, bias_sizes: Any, stride: Sizes, padding: Sizes, dilation: Sizes,
    transposed: bool, output_padding: Sizes, groups: int, wanted: Sequence[bool],
) -> Any:  # fmt: skip
    return convolutions.convolution_backward(
        gradient, x, weight, stride=list(stride), padding=list(padding), dilation=list(dilation), groups=groups,
        transposed=transposed, output_padding=list(output_padding) if transposed else 0, wanted=list(wanted),
    )  # fmt: skip


@row("native_layer_norm", "layer_norm")
def _layer_norm(
    call: Any, x: Any, shape: Sizes, weight: Any = None, bias: Any = None, eps: float = 1e-5, *_: Any
) -> Any:
    found = normalization.layer_norm(x, tuple(shape), weight, bias, eps=eps)
    return found if call.name == "native_layer_norm" else found[0]


@row("_fused_rms_norm", "rms_norm")
def _rms_norm(call: Any, x: Any, shape: Sizes, weight: Any = None, eps: float | None = None) -> Any:
    smallest = float(vx.finfo(call.dtype).eps) if eps is None else eps
    found = normalization.rms_norm(x, tuple(shape), weight, eps=smallest)
    return found if call.name == "_fused_rms_norm" else found[0]


@row("native_group_norm", "group_norm")
def _group_norm(call: Any, x: Any, *given: Any, eps: float = 1e-5, **options: Any) -> Any:
    if call.name == "group_norm":
        groups, weight, bias, eps = (*given, *(None, None, eps)[len(given) - 1 :])[:4]
        return normalization.group_norm(x, groups, weight, bias, eps=eps)[0]
    weight, bias, _, _, _, groups, eps = given
    return normalization.group_norm(x, groups, weight, bias, eps=eps)


@row("_native_batch_norm_legit_no_training")
def _batch_norm(
    call: Any, x: Any, weight: Any, bias: Any, mean: Any, variance: Any, momentum: float, eps: float
) -> Any:  # fmt: skip
    return normalization.batch_norm_of_running(x, weight, bias, mean, variance, eps), None, None


def _takes_statistics(call: Any, *given: Any, **options: Any) -> str | None:
    return "it normalizes by the batch, and writes statistics; call model.eval() before"


@row("_native_batch_norm_legit", "_native_batch_norm_legit_functional", "_batch_norm_with_update_functional",
     "native_batch_norm", limit=_takes_statistics)  # fmt: skip
def _batch_norm_in_training(call: Any, *given: Any, **options: Any) -> Any:
    raise NotImplementedError(_takes_statistics(call))


@row("_native_batch_norm_legit.no_stats")
def _instance_norm(call: Any, x: Any, weight: Any, bias: Any, training: bool, momentum: float, eps: float) -> Any:
    """Of all but the channels, whose numbers are not kept: what instance normalization is made of."""
    return normalization.batch_norm(x, weight, bias, training=True, eps=eps)


# -- pooling ----------------------------------------------------------------------------------------------------------


def _max_pool(
    call: Any, x: Any, kernel: Sizes, stride: Sizes = (), padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> Any:
    rank = int(call.name[len("max_pool")])

    def function(x: Any) -> Any:
        return pooling.max_pool(
            x,
            list(kernel),
            stride=list(stride) or None,
            padding=_each(padding),
            dilation=_each(dilation),
            ceil_mode=ceil_mode,
        )

    values, places = _batched(rank, function, x)
    return (values, places) if call.name.endswith("indices") else values


def _each(value: Any) -> Any:
    return value if isinstance(value, int) else list(value)


row(*(f"max_pool{rank}d{end}" for rank in (1, 2, 3) for end in ("", "_with_indices")))(_max_pool)


def _avg_pool(
    call: Any, x: Any, kernel: Sizes, stride: Sizes = (), padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Any:  # fmt: skip
    def function(x: Any) -> Any:
        return pooling.avg_pool(
            x, list(kernel), stride=list(stride) or None, padding=_each(padding), ceil_mode=ceil_mode,
            count_include_pad=count_include_pad, divisor_override=divisor_override,
        )  # fmt: skip

    return _batched(int(call.name[len("avg_pool")]), function, x)


row(*(f"avg_pool{rank}d" for rank in (1, 2, 3)))(_avg_pool)


@row("avg_pool2d_backward", "avg_pool3d_backward")
def _avg_pool_back(
    call: Any, gradient: Any, x: Any, kernel: Sizes, stride: Sizes, padding: Any, ceil_mode: bool, count_include_pad: bool,
    divisor_override: int | None,
) -> Any:  # fmt: skip
    def function(gradient: Any, x: Any) -> Any:
        return pooling.avg_pool_backward(
            gradient, x, list(kernel), stride=list(stride) or None, padding=_each(padding), ceil_mode=ceil_mode,
            count_include_pad=count_include_pad, divisor_override=divisor_override,
        )  # fmt: skip

    return _of_gradient(int(call.name[len("avg_pool")]), function, gradient, x)


@row("max_pool2d_with_indices_backward", "max_pool3d_with_indices_backward")
def _max_pool_back(
    call: Any, gradient: Any, x: Any, kernel: Sizes, stride: Sizes, padding: Any, dilation: Any, ceil_mode: bool,
    indices: Any,
) -> Any:  # fmt: skip
    def function(gradient: Any, x: Any, indices: Any) -> Any:
        return pooling.max_pool_backward(
            gradient, x, indices, list(kernel), stride=list(stride) or None, padding=_each(padding),
            dilation=_each(dilation), ceil_mode=ceil_mode,
        )  # fmt: skip

    return _of_gradient(int(call.name[len("max_pool")]), function, gradient, x, indices)


@row("_adaptive_avg_pool2d_backward", "_adaptive_avg_pool3d_backward")
def _adaptive_avg_pool_back(call: Any, gradient: Any, x: Any) -> Any:
    rank = int(call.name[len("_adaptive_avg_pool")])
    return _of_gradient(rank, pooling.adaptive_avg_pool_backward, gradient, x)


def _of_gradient(rank: int, function: Callable[..., Any], *arrays: Any) -> Any:
    """A function of a gradient, of x and of what else has their axes, which may lack N."""
    return function(*arrays) if arrays[0].ndim != rank + 1 else function(*(one[None] for one in arrays))[0]


def _adaptive_pool(call: Any, x: Any, size: Any) -> Any:
    mean = "avg" in call.name
    wanted = size if isinstance(size, int) else list(size)
    function = pooling.adaptive_avg_pool if mean else pooling.adaptive_max_pool
    return _batched(int(call.name[-2]), lambda x: function(x, wanted), x)


row(*(f"{start}adaptive_avg_pool{rank}d" for rank in (1, 2, 3) for start in ("", "_")))(_adaptive_pool)
row(*(f"adaptive_max_pool{rank}d" for rank in (1, 2, 3)))(_adaptive_pool)


# -- attention --------------------------------------------------------------------------------------------------------


@row("scaled_dot_product_attention", "_scaled_dot_product_attention_math")
def _attend(
    call: Any, query: Any, key: Any, value: Any, mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False, *,
    scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    if dropout_p:
        raise NotImplementedError("it drops elements at random, as layers do in training; call model.eval() before")
    return attentions.attend(query, key, value, mask, causal=is_causal, scale=scale, grouped=enable_gqa)


# -- pictures of another size -----------------------------------------------------------------------------------------

_METHODS = {
    "upsample_nearest1d upsample_nearest2d upsample_nearest3d": "nearest",
    "_upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d": "nearest-exact",
    "upsample_linear1d upsample_bilinear2d upsample_trilinear3d": "linear",
    "upsample_bicubic2d": "cubic",
}


def _resizing(method: str) -> Callable[..., Any]:
    corners = method in ("linear", "cubic")

    def by_size(call: Any, x: Any, size: Sizes, *rest: Any, **named: Any) -> Any:
        aligned = bool(corners and (rest[0] if rest else named.get("align_corners", False)))
        scales = [*rest[corners:], *(value for name, value in named.items() if name.startswith("scales"))]
        return _resized(x, list(size), method, aligned, scales)

    return by_size


def _resized(x: Any, size: list[Any], method: str, aligned: bool, scales: Sequence[float | None]) -> Any:
    given = [*scales, *[None] * (len(size) - len(scales))]
    still = method in ("nearest", "linear")
    return resample.interpolate(x, size, method, align_corners=aligned, scales=given, still=still)


def _resizing_by_factors(method: str) -> Callable[..., Any]:
    """What `interpolate` calls, with lengths or with factors for these."""

    def by_factors(call: Any, x: Any, size: Sizes | None, *rest: Any) -> Any:
        *aligned, factors = rest
        size = _multiplied(x, factors) if size is None else list(size)
        return _resized(x, size, method, bool(aligned and aligned[0]), factors or ())

    return by_factors


def _multiplied(x: Any, factors: Sequence[float]) -> list[Any]:
    return [math.floor(length * factor) for length, factor in zip(x.shape[2:], factors, strict=True)]


for _names, _method in _METHODS.items():
    row(*_names.split())(_resizing(_method))
    row(*(f"{_name}.vec" for _name in _names.split()))(_resizing_by_factors(_method))


@row("_upsample_bilinear2d_aa.vec", "_upsample_bicubic2d_aa.vec")
def _filtered_by_factors(call: Any, x: Any, size: Sizes | None, align_corners: bool, factors: Any) -> Any:
    size = _multiplied(x, factors) if size is None else size
    return _filtered(call, x, size, align_corners, *(factors or ()))


@row("_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa")
def _filtered(call: Any, x: Any, size: Sizes, align_corners: bool, *scales: float | None, **named: Any) -> Any:
    method = "linear" if "bilinear" in call.name else "cubic"
    given = [*scales, *named.values(), None, None][:2]
    lengths = list(x.shape[2:])
    return resample.filtered(x, lengths, list(size), method, align_corners=align_corners, scales=given, still=True)
