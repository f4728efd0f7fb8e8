"""Convolutions, transposed and deformable ones, and the sums of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import vkarray as vx

from ...nn import columns
from ...nn import convolution as nn
from ..interpreter import Call
from ..table import HALF, INSIDE, each_of, operator
from .sampling import between
from .windows import padded, pairs_of, sliding


@operator("Conv", half=HALF)
def convolve(
    call: Call, x: Any, weight: Any, bias: Any = None, *, auto_pad: str = "NOTSET", dilations: Any = None, group: int = 1,
    kernel_shape: Any = None, pads: Any = None, strides: Any = None,
) -> Any:  # fmt: skip
    """A convolution; bias is one number for each channel."""
    _check_kernel(weight, kernel_shape)
    windows = sliding(x.shape[2:], weight.shape[2:], strides, dilations, pads, auto_pad)
    return nn.convolution(
        x, weight, bias, stride=windows.strides, padding=windows.pads, dilation=windows.dilations, groups=group
    )


def _check_kernel(weight: Any, kernel_shape: Any) -> None:
    if kernel_shape is not None and list(kernel_shape) != list(weight.shape[2:]):
        raise ValueError(
            f"its attribute 'kernel_shape' is {kernel_shape}, and its weights have {list(weight.shape[2:])}"
        )


@operator("ConvTranspose", half=HALF)
def _convolve_transposed(
    call: Call, x: Any, weight: Any, bias: Any = None, *, auto_pad: str = "NOTSET", dilations: Any = None, group: int = 1,
    kernel_shape: Any = None, output_padding: Any = None, output_shape: Any = None, pads: Any = None, strides: Any = None,
) -> Any:  # fmt: skip
    _check_kernel(weight, kernel_shape)
    rank = x.ndim - 2
    steps, apart = each_of("strides", strides, rank, 1, 1), each_of("dilations", dilations, rank, 1, 1)
    more = each_of("output_padding", output_padding, rank, 0, 0)
    whole = [
        (length - 1) * step + gap * (taps - 1) + 1
        for length, step, gap, taps in zip(x.shape[2:], steps, apart, weight.shape[2:], strict=True)
    ]
    if output_shape or auto_pad.startswith("SAME"):
        wanted = list(output_shape or [length * step for length, step in zip(x.shape[2:], steps, strict=True)])[-rank:]
        total = [have + extra - want for have, extra, want in zip(whole, more, wanted, strict=True)]
        few = [max(0, one) // 2 for one in total]
        upper = auto_pad == "SAME_UPPER"  # what is odd is cut at the end; what is too few is added there
        pairs = [(one, of - one) if upper or of < 0 else (of - one, one) for one, of in zip(few, total, strict=True)]
    else:
        pairs = pairs_of(pads, rank) if auto_pad == "NOTSET" else [(0, 0)] * rank
    if min(map(min, pairs)) >= 0 and all(e < max(s, d) for e, s, d in zip(more, steps, apart, strict=True)):
        return nn.convolution(
            x, weight, bias, stride=steps, padding=pairs, dilation=apart, groups=group, transposed=True, output_padding=more,
        )  # fmt: skip
    found = nn.convolution(x, weight, stride=steps, dilation=apart, groups=group, transposed=True)
    cut = [(-before, extra - after) for (before, after), extra in zip(pairs, more, strict=True)]
    found = padded(call, found, [(max(0, a), max(0, b)) for a, b in cut])
    key = tuple(slice(max(0, -a), length - max(0, -b)) for (a, b), length in zip(cut, found.shape[2:], strict=True))
    found = found[(slice(None), slice(None), *key)]
    return found if bias is None else found + vx.reshape(bias, (-1, *(1,) * rank))


@operator("Col2Im", since=18, host=(1, 2), half=INSIDE)
def _sum_columns(
    call: Call,
    x: Any,
    image_shape: Any,
    block_shape: Any,
    *,
    dilations: Any = None,
    pads: Any = None,
    strides: Any = None,
) -> Any:
    size, kernel = image_shape.tolist(), block_shape.tolist()
    rank = len(size)
    kernel = each_of("block_shape", kernel, rank, 1, 1)
    steps, apart = each_of("strides", strides, rank, 1, 1), each_of("dilations", dilations, rank, 1, 1)
    pairs = pairs_of(pads, rank)
    whole = [length + before + after for length, (before, after) in zip(size, pairs, strict=True)]
    found = columns.fold(x, whole, kernel, stride=steps, dilation=apart)
    return found[(slice(None), slice(None), *(slice(a, a + n) for n, (a, _) in zip(size, pairs, strict=True)))]


@operator("DeformConv", since=19, half=INSIDE)
def _deformable(
    call: Call, x: Any, weight: Any, offset: Any, bias: Any = None, mask: Any = None, *, dilations: Any = None, group: int = 1,
    kernel_shape: Sequence[int] | None = None, offset_group: int = 1, pads: Any = None, strides: Any = None,
) -> Any:  # fmt: skip
    """Source: J. Dai et al., "Deformable convolutional networks" (2017); X. Zhu et al., version 2 (2019)."""
    _check_kernel(weight, kernel_shape)
    batch, channels = x.shape[:2]
    features, kernel = weight.shape[0], weight.shape[2:]
    windows = sliding(x.shape[2:], kernel, strides, dilations, pads, "NOTSET")
    rank, output = len(kernel), windows.output
    taps = weight.size // (weight.shape[0] * weight.shape[1])
    moved = vx.reshape(offset, (batch, offset_group, taps, rank, *output))
    places = []
    for axis in range(rank):
        starts = call.array(range(output[axis]), x.dtype) * windows.strides[axis] - windows.pads[axis][0]
        tap = call.array(range(kernel[axis]), x.dtype) * windows.dilations[axis]
        own = [1] * (2 * rank)
        own[axis], own[rank + axis] = kernel[axis], output[axis]
        grid = vx.broadcast_to(vx.reshape(tap[:, None] + starts, own), (*kernel, *output))
        places.append(moved[:, :, :, axis] + vx.reshape(grid, (taps, *output)))
    grouped = vx.reshape(x, (batch * offset_group, channels // offset_group, *x.shape[2:]))
    found = between(call, grouped, [vx.reshape(one, (batch * offset_group, taps, *output)) for one in places])
    found = vx.reshape(found, (batch, offset_group, channels // offset_group, taps, *output))
    if mask is not None:
        found = found * vx.reshape(mask, (batch, offset_group, 1, taps, *output))
    found = vx.reshape(found, (batch, group, channels // group * taps, -1))
    kernels = vx.reshape(weight, (1, group, features // group, channels // group * taps))
    found = vx.reshape(vx.matmul(kernels, found), (batch, features, *output))
    return found if bias is None else found + vx.reshape(bias, (-1, *(1,) * rank))
