"""Regions of pictures, cut into bins: the mean of points in each, the largest pixel or the mean of pixels, and their gradients.

Sources: S. Ren, K. He, R. Girshick, J. Sun, "Faster R-CNN" (2015), pooling; K. He, G. Gkioxari, P. Dollár, R. Girshick,
"Mask R-CNN" (2017), points between pixels; J. Dai, Y. Li, K. He, J. Sun, "R-FCN" (2016), channels of each bin's own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from .. import device_caches
from ..core import dtypes
from ..core.array import VkArray, empty, is_supported
from ..core.dtypes import DType
from ..kernels import launch
from ..kernels.dispatch import number
from ..kernels.planned import recordable
from ..shaders.source import Variant

if TYPE_CHECKING:
    from ..kernels.launch import Device

_TYPES = (dtypes.float32, dtypes.float64)
_LARGEST = (1 << 32) - 1
_TURNS = 1 << 15  # of the loops of an invocation on a CPU driver: llvmpipe ends them after 65,535


class Bins(NamedTuple):
    """How regions are cut.

    `samples`: each bin is the mean of `sampling` x `sampling` points (0: as many as pixels), else of pixels; `of_channels`: each
    bin has channels of its own; `half_pixel`: corners lie half a pixel further; `scale`: pixels in a unit of the corners.
    """

    rows: int
    columns: int
    scale: float
    samples: bool
    of_channels: bool = False
    half_pixel: bool = False
    sampling: int = 0


@device_caches.cache
def _variant(template: str, dtype: DType, samples: bool, device: Device) -> Variant:
    defines = (*launch.operand_defines("A", dtype), *launch.compute_defines(dtype))
    defines += launch.feature_defines((dtype,), device) + ((("SAMPLES", "1"),) if samples else ())
    label = f"{'points' if samples else 'pixels'} of regions{' (gradient)' * template.endswith('backward')} {dtype}"
    return Variant(template, defines, label)


def variants(device: Device) -> Iterator[Variant]:
    """The shaders of all types, for the archive."""
    for template, dtype, samples in itertools.product(("nn/regions", "nn/regions_backward"), _TYPES, (True, False)):
        if is_supported(dtype, device):
            yield _variant(template, dtype, samples, device)


def _check(function: str, regions: VkArray, *arrays: VkArray) -> None:
    """Raise ValueError for arrays that are too large, for another shape of regions, and for other types."""
    if regions.ndim != 2 or regions._shape[1] != 5:
        raise ValueError(f"{function}: expected regions of shape (K, 5), got {regions._shape}.")
    for array in (regions, *arrays):
        if array._dtype is not regions._dtype or array._dtype not in _TYPES:
            raise ValueError(
                f"{function}: expected arrays of float32 or of float64, got {array._dtype} and {regions._dtype}."
            )
        if array.size > _LARGEST:
            raise ValueError(f"{function}: expected at most {_LARGEST} elements, got shape {array._shape}.")


def _dispatch(
    variant: Variant, source: VkArray, regions: VkArray, result: VkArray, places: VkArray | None, size: tuple[int, ...],
    bins: Bins, part: tuple[int, int],
) -> None:  # fmt: skip
    device = result._device
    fields = {
        "a": source,
        "regions": regions,
        "r": result,
        "places": 0 if places is None else places,
        "scale": number(bins.scale, result._dtype),
        "count": result.size,
        "size": size,
        "bins": (bins.rows, bins.columns),
        "sampling": max(bins.sampling, 0),
        "begin": part[0],
        "end": part[1],
    }
    groups = launch.groups_for(result.size, device.limits)
    constants = ((1, int(bins.of_channels)), (2, int(bins.half_pixel)))
    launch.dispatch(variant, device, groups, fields, writes=("r", "places"), constants=constants)


@recordable
def pool(x: VkArray, regions: VkArray, bins: Bins) -> tuple[VkArray, VkArray]:
    """The numbers of all bins of all regions.

    Parameters: x (pictures (N, C, H, W), float32 or float64); regions ((K, 5), of the same type: the number of the picture, x
    and y of a corner, and of the opposite one); bins (with channels of their own: C is a multiple of their number).
    Returns (array (K, C, rows, columns), or with channels of their own (K, C / (rows columns), rows, columns); int32 array of
    that shape: the place of the largest pixel in its picture, or -1, or the channel that was taken; not filled for points
    without channels of their own). A region of a picture that there is not gives NaN.
    Raises ValueError for other shapes and types.
    """
    bins = Bins(*bins)  # a program has no named tuples
    _check("pool", regions, x)
    if min(bins.rows, bins.columns) < 1:
        raise ValueError(f"pool: expected bins in at least one row and column, got {bins.rows} x {bins.columns}.")
    if x.ndim != 4 or (bins.of_channels and x._shape[1] % (bins.rows * bins.columns)):
        raise ValueError(f"pool: expected pictures (N, C, H, W) that have all channels of the bins, got {x._shape}.")
    channels = x._shape[1] // (bins.rows * bins.columns if bins.of_channels else 1)
    shape = (regions._shape[0], channels, bins.rows, bins.columns)
    result, places = empty(shape, x._dtype, x._device), empty(shape, dtypes.int32, x._device)
    if result.size and x.size:
        variant = _variant("nn/regions", x._dtype, bins.samples, x._device)
        x, regions = launch.contiguous(x), launch.contiguous(regions)
        _dispatch(variant, x, regions, result, places, x._shape, bins, (0, shape[0]))
    return result, places


def pool_backward(gradient: VkArray, regions: VkArray, size: tuple[int, ...], bins: Bins) -> VkArray:
    """The gradient of the pictures, of the shape `size`, for that of `pool` with means of points, or of pixels of channels.

    Every pixel adds up what regions give it in their order, so that the result is the same in every run.
    Raises ValueError for other shapes and types.
    """
    _check("pool_backward", regions, gradient)
    count = regions._shape[0]
    result = empty(size, gradient._dtype, gradient._device)
    if not count or not gradient.size:
        from ..ops import creation

        return creation.zeros(size, dtype=gradient._dtype, device=gradient._device)
    points = bins.sampling if bins.sampling > 0 else 9
    turns = bins.rows * points + bins.rows * bins.columns * (points + 1) if bins.samples else 1
    part = max(1, _TURNS // (turns + 1))
    variant = _variant("nn/regions_backward", gradient._dtype, bins.samples, gradient._device)
    gradient, regions = launch.contiguous(gradient), launch.contiguous(regions)
    for first in range(0, count if result.size else 0, part):
        _dispatch(variant, gradient, regions, result, None, size, bins, (first, min(first + part, count)))
    return result
