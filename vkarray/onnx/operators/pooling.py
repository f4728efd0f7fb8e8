"""Pooling: the largest, the mean, or a norm of what windows cover."""

from __future__ import annotations

import itertools
import math
from operator import index
from typing import Any

import numpy as np

import vkarray as vx

from ...nn import pooling as nn
from ..interpreter import Call
from ..table import FLOAT32, INSIDE, each_of, operator
from .windows import Pairs, Sliding, padded, pairs_of, sliding, symmetric


def _least(x: Any) -> Any:
    return -vx.inf if vx.isdtype(x.dtype, "real floating") else vx.iinfo(x.dtype).min


def _whole(windows: Sliding) -> Pairs:
    """All that windows reach of what is around x."""
    return [(before, after + more) for (before, after), more in zip(windows.pads, windows.excess, strict=True)]


def _own_padding(pairs: Pairs, kernel: list[int]) -> list[int] | None:
    """The padding on each side, where the library's kernels take it: the same on both, half a window at most."""
    same = symmetric(pairs)
    return same if same is not None and all(2 * pad <= taps for pad, taps in zip(same, kernel, strict=True)) else None


@operator("MaxPool")
def _max_pool(
    call: Call, x: Any, *, auto_pad: str = "NOTSET", ceil_mode: int = 0, dilations: Any = None, kernel_shape: Any,
    pads: Any = None, storage_order: int = 0, strides: Any = None,
) -> Any:  # fmt: skip
    windows = sliding(x.shape[2:], kernel_shape, strides, dilations, pads, auto_pad, ceil_mode)
    around = _whole(windows)
    own = _own_padding(around, windows.kernel)
    pairs = around if own is None else [(0, 0)] * len(around)
    given = padded(call, x, pairs, _least(x))
    found, places = nn.max_pool(
        given, kernel_shape, stride=windows.strides, padding=own or 0, dilation=windows.dilations
    )
    if len(call.wanted) < 2:
        return found
    return found, _flat_places(call, x, places, pairs, given.shape[2:], storage_order)


def _flat_places(call: Call, x: Any, places: Any, pairs: Any, size: Any, storage_order: int) -> Any:
    """Places in padded planes of a size as places in the whole of x."""
    coordinates: list[Any] = []
    for length, (before, _) in list(zip(size, pairs, strict=True))[::-1]:
        coordinates.insert(0, vx.remainder(places, length) - before)
        places = vx.floor_divide(places, length)
    order = range(len(size))[::-1] if storage_order else range(len(size))
    flat: Any = 0
    for axis in order:
        flat = flat * x.shape[2 + axis] + coordinates[axis]
    planes = np.arange(x.shape[0] * x.shape[1]).reshape(x.shape[0], x.shape[1], *(1,) * len(size))
    return vx.astype(flat, call.int64) + call.array(planes * math.prod(x.shape[2:]), "int64")


def _summed(call: Call, x: Any, windows: Sliding) -> Any:
    """The sums of windows, padded by zeros."""
    x = padded(call, x, _whole(windows))
    if set(windows.dilations) == {1}:
        return nn.avg_pool(x, windows.kernel, stride=windows.strides, divisor_override=1)
    found = None
    for tap in itertools.product(*map(range, windows.kernel)):
        steps = zip(tap, windows.dilations, windows.strides, windows.output, strict=True)
        key = (slice(None), slice(None), *(slice(t * d, t * d + s * (n - 1) + 1, s) for t, d, s, n in steps))
        found = x[key] if found is None else found + x[key]
    return found


@operator("AveragePool", half=INSIDE)
def _average_pool(
    call: Call, x: Any, *, auto_pad: str = "NOTSET", ceil_mode: int = 0, count_include_pad: int = 0, dilations: Any = None,
    kernel_shape: Any, pads: Any = None, strides: Any = None,
) -> Any:  # fmt: skip
    windows = sliding(x.shape[2:], kernel_shape, strides, dilations, pads, auto_pad, ceil_mode)
    near, own = set(windows.dilations) == {1}, _own_padding(windows.pads, windows.kernel)
    if near and not ceil_mode:  # no window reaches beyond the padding, whatever the lengths are
        if count_include_pad or not any(map(any, windows.pads)):
            return nn.avg_pool(padded(call, x, windows.pads), windows.kernel, stride=windows.strides)
        if own is not None:
            return nn.avg_pool(x, windows.kernel, stride=windows.strides, padding=own, count_include_pad=False)
    counts = np.ones((), np.float64)
    for length, (before, after), taps, step, gap, count in zip(
        x.shape[2:], windows.pads, windows.kernel, windows.strides, windows.dilations, windows.output, strict=True
    ):
        length = index(length)
        low, high = (-before, length + after) if count_include_pad else (0, length)
        places = np.arange(count)[:, None] * step - before + np.arange(taps) * gap
        counts = counts[..., None] * ((places >= low) & (places < high)).sum(axis=1)
    if (counts == counts.flat[0]).all() and near:
        given = padded(call, x, _whole(windows))
        return nn.avg_pool(given, windows.kernel, stride=windows.strides, divisor_override=int(counts.flat[0]))
    return _summed(call, x, windows) / call.array(counts, x.dtype)


@operator("LpPool", half=FLOAT32)
def _norm_pool(
    call: Call, x: Any, *, auto_pad: str = "NOTSET", ceil_mode: int = 0, dilations: Any = None, kernel_shape: Any, p: int = 2,
    pads: Any = None, strides: Any = None,
) -> Any:  # fmt: skip
    windows = sliding(x.shape[2:], kernel_shape, strides, dilations, pads, auto_pad, ceil_mode)
    return vx.pow(_summed(call, vx.pow(vx.abs(x), p), windows), 1 / p)


@operator("GlobalAveragePool", half=INSIDE)
def _global_average(call: Call, x: Any) -> Any:
    return call.xp.mean(x, axis=tuple(range(2, x.ndim)), keepdims=True)


@operator("GlobalMaxPool")
def _global_max(call: Call, x: Any) -> Any:
    return call.xp.max(x, axis=tuple(range(2, x.ndim)), keepdims=True)


@operator("GlobalLpPool", half=FLOAT32)
def _global_norm(call: Call, x: Any, *, p: int = 2) -> Any:
    return vx.pow(vx.sum(vx.pow(vx.abs(x), p), axis=tuple(range(2, x.ndim)), keepdims=True), 1 / p)


@operator("MaxUnpool", since=9, host=(2,))
def _max_unpool(
    call: Call,
    x: Any,
    places: Any,
    output_shape: Any = None,
    *,
    kernel_shape: Any,
    pads: Any = None,
    strides: Any = None,
) -> Any:
    rank = x.ndim - 2
    pairs, steps = pairs_of(pads, rank), each_of("strides", strides, rank, 1, 1)
    kernel_shape = each_of("kernel_shape", kernel_shape, rank, 1, 1)
    size = [
        (length - 1) * step - before - after + taps
        for length, step, (before, after), taps in zip(x.shape[2:], steps, pairs, kernel_shape, strict=True)
    ]
    shape = (*x.shape[:2], *size)
    flat = vx.zeros(math.prod(shape), dtype=x.dtype, device=x.device)
    flat[vx.reshape(places, (-1,))] = vx.reshape(x, (-1,))
    found = vx.reshape(flat, shape)
    if output_shape is None:
        return found
    wanted = output_shape.tolist()
    return padded(call, found, [(0, want - have) for want, have in zip(wanted, shape, strict=True)])
