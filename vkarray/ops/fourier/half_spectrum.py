"""The spectrum of real points from the transform of pairs of them."""

from __future__ import annotations

import functools

from ...core.array import VkArray
from ...core.dtypes import DType
from ...kernels import launch
from ...shaders.source import Variant
from . import tables
from .batch import Dimension, batches


@functools.cache
def variant(dtype: DType) -> Variant:
    """The shader for a complex type."""
    return Variant("fft/half", tables.element_defines(dtype), f"rfft {dtype}")


def unfold(pairs: VkArray, result: VkArray, axis: int, conjugate: bool) -> None:
    """The first n + 1 results of a transform of 2 n real points (`result`) from that of n pairs of them, or their conjugates."""
    device, points = result._device, pairs._shape[axis]
    steps = pairs._strides[axis], result._strides[axis]
    roots = tables.roots(2 * points, points // 2 + 1, result._dtype, device)
    inner = [Dimension(points // 2 + 1, *steps, counted=True)]
    for batch in batches(pairs, result, axis, inner, max(steps) * (points + 1)):
        fields = {
            **batch.fields,
            "roots": roots,
            "count": batch.lines,
            "points": points,
            "a_step": steps[0],
            "r_step": steps[1],
            "conjugate": conjugate,
        }
        groups = launch.groups_for(batch.lines, device.limits)
        launch.dispatch(variant(result._dtype), device, groups, fields, writes=("r",))
