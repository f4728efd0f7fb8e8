"""Suppression of boxes that overlap better ones."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..core import dtypes
from ..core.array import VkArray, empty, is_supported
from ..core.dtypes import DType
from ..kernels import launch
from ..kernels.dispatch import number
from ..ops import creation
from ..shaders.source import Variant

if TYPE_CHECKING:
    from ..kernels.launch import Device

_TYPES = (dtypes.float32, dtypes.float64)
_SWEEP = Variant("nn/suppress_sweep", (), "boxes that are kept")
_LANES = 64  # at least 32: a lane notes each box of a block
_TURNS = 1 << 15  # of the loops of an invocation on a CPU driver: llvmpipe ends them after 65,535


@functools.cache
def _variant(dtype: DType) -> Variant:
    defines = (*launch.operand_defines("A", dtype), *launch.compute_defines(dtype))
    defines += (("HAS_FLOAT64", "1"),) if dtype is dtypes.float64 else ()
    return Variant("nn/suppress_pairs", defines, f"boxes that overlap {dtype}")


def variants(device: Device) -> Iterator[Variant]:
    """The shaders of all types, for the archive."""
    yield _SWEEP
    for dtype in _TYPES:
        if is_supported(dtype, device):
            yield _variant(dtype)


def _rounded_down(threshold: float, dtype: DType) -> float:
    """The largest number of the type that is not above the threshold: no quotient of that type lies between."""
    if dtype is dtypes.float64:
        return threshold
    if not abs(threshold) < 3.4e38:
        return math.copysign(math.inf, threshold) if threshold == threshold else math.nan
    step = 2.0 ** max(math.frexp(threshold)[1] - 24, -149)  # to the next number of float32
    return math.floor(threshold / step) * step


def kept(boxes: VkArray, threshold: float) -> VkArray:
    """Which boxes remain when each suppresses those after it with which it shares too much, unless it is suppressed itself.

    Parameters: boxes ((N, 4), float32 or float64, the best first: x and y of a corner, and of the opposite one); threshold (the
    share of the joint area that two boxes may have in common).
    Returns an int32 array of N elements, 1 or 0. Takes N**2 / 8 bytes besides. Raises ValueError for other shapes and types.
    Method: a matrix of bits for all pairs, then one sweep, as torchvision does on GPUs.
    """
    if boxes.ndim != 2 or boxes._shape[1] != 4 or boxes._dtype not in _TYPES:
        raise ValueError(
            f"kept: expected float32 or float64 boxes of shape (N, 4), got {boxes._dtype} of shape {boxes._shape}."
        )
    count, device = boxes._shape[0], boxes._device
    result = empty((count,), dtypes.int32, device)
    if not count:
        return result
    width = -(-count // 32)
    if count * width >= 1 << 32:
        raise ValueError(f"kept: {count} boxes have too many pairs. Suppress them in parts.")
    boxes = launch.contiguous(boxes)
    words = empty((count * width,), dtypes.uint32, device)
    fields = {
        "boxes": boxes,
        "words": words,
        "threshold": number(_rounded_down(threshold, boxes._dtype), boxes._dtype),
        "count": count,
        "width": width,
    }
    groups = launch.groups_for(count * width, device.limits)
    launch.dispatch(_variant(boxes._dtype), device, groups, fields, writes=("words",))
    suppressed = creation.zeros((width,), dtype=dtypes.uint32, device=device)
    part = max(1, _TURNS // (2 + width // _LANES))
    for first in range(0, width, part):
        fields = {
            "words": words,
            "suppressed": suppressed,
            "kept": result,
            "count": count,
            "width": width,
            "begin": first,
            "end": min(first + part, width),
        }
        launch.dispatch(_SWEEP, device, (1, 1, 1), fields, writes=("suppressed", "kept"), workgroup_size=_LANES)
    return result
