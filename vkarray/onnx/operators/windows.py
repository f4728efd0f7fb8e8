"""Windows that slide: padding as ONNX says it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..table import each_of

Pairs = list[tuple[int, int]]


class Sliding(NamedTuple):
    """Windows along each of the last dimensions: their number, and what of padding they reach, `excess` of it beyond `pads`."""

    kernel: list[int]
    strides: list[int]
    dilations: list[int]
    pads: Pairs
    excess: list[int]
    output: list[int]


def sliding(
    size: Sequence[int], kernel: Sequence[int], strides: Sequence[int] | None, dilations: Sequence[int] | None,
    pads: Sequence[int] | None, auto_pad: str, ceil_mode: int = 0,
) -> Sliding:  # fmt: skip
    """The windows over `size` for the attributes of a convolution or pooling."""
    rank = len(size)
    kernel = each_of("kernel_shape", kernel, rank, 1, 1)
    steps = each_of("strides", strides, rank, 1, 1)
    apart = each_of("dilations", dilations, rank, 1, 1)
    extents = [gap * (taps - 1) + 1 for taps, gap in zip(kernel, apart, strict=True)]
    if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        output = [-(-length // step) for length, step in zip(size, steps, strict=True)]
        pairs = []
        for length, step, extent, count in zip(size, steps, extents, output, strict=True):
            total = max(0, (count - 1) * step + extent - length)
            few, many = total // 2, total - total // 2
            pairs.append((few, many) if auto_pad == "SAME_UPPER" else (many, few))
        return Sliding(list(kernel), steps, apart, pairs, [0] * rank, output)
    pairs = pairs_of(pads, rank) if auto_pad == "NOTSET" else [(0, 0)] * rank
    output, excess = [], []
    for length, step, extent, (before, after) in zip(size, steps, extents, pairs, strict=True):
        room = length + before + after - extent
        count = (-(-room // step) if ceil_mode else room // step) + 1
        count -= ceil_mode and (count - 1) * step >= length + before  # a window begins before the padding after
        output.append(count)
        excess.append(max(0, (count - 1) * step - room) if ceil_mode else 0)
    return Sliding(list(kernel), steps, apart, pairs, excess, output)


def pairs_of(pads: Sequence[int] | None, rank: int) -> Pairs:
    """Padding before and after each dimension, of ONNX's list of all before, then all after."""
    listed = list(pads or [0] * 2 * rank)
    if len(listed) != 2 * rank:
        raise ValueError(
            f"its attribute 'pads' is {listed}, expected {2 * rank} numbers: before, then after each dimension"
        )
    return list(zip(listed[:rank], listed[rank:], strict=True))


def padded(call: Any, x: Any, pairs: Pairs, value: Any = 0) -> Any:
    """x with padding around its last dimensions."""
    if not any(map(any, pairs)):
        return x
    width = [(0, 0)] * (x.ndim - len(pairs)) + list(pairs)
    return call.xp.pad(x, width, constant_values=value)


def symmetric(pairs: Pairs) -> list[int] | None:
    """The padding on each side, where it is the same on both."""
    return [before for before, _ in pairs] if all(before == after for before, after in pairs) else None


def taps(sizes: Sequence[int]) -> int:
    """Places of a window."""
    return math.prod(sizes)
