"""Dropout by the counter-based generator: a mask is the same for a seed on every device."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .. import device_caches
from ..core import dtypes, promotion
from ..core.array import VkArray, empty, is_supported
from ..core.dtypes import DType
from ..kernels import launch
from ..kernels.dispatch import number, pointer
from ..kernels.launch import Operation
from ..kernels.reductions import partial_dtype
from ..kernels.row_kernels import FLOATING
from ..kernels.rows import check_array
from ..ops.beyond.random import Generator
from ..shaders.source import Shader, Variant

if TYPE_CHECKING:
    from ..kernels.launch import Device


@device_caches.cache
def _variant(dtype: DType, device: Device) -> Variant:
    defines = launch.operand_defines("A", dtype) + launch.compute_defines(dtype)
    return Variant("nn/dropout", defines + launch.feature_defines((dtype, dtypes.bool_), device), f"dropout {dtype}")


@functools.cache
def _masked(dtype: DType) -> Operation:
    real = partial_dtype(dtype)
    return Operation(f"dropout backward {dtype}", "b ? a * c : T(0)", (dtype, dtypes.bool_, real), dtype, real)


def variants(device: Device) -> Iterator[Shader]:
    """The shaders of all types, for the archive."""
    for dtype in FLOATING:
        if is_supported(dtype, device):
            yield _variant(dtype, device)
            yield from _masked(dtype).variants(device)


def _scale(function: str, probability: float) -> float:
    probability = promotion.as_float(probability, function, "probability")
    if not 0 <= probability <= 1:
        raise ValueError(f"{function}: expected a probability from 0 to 1, got {probability}.")
    return 1 / (1 - probability) if probability < 1 else 0.0


def dropout(x: VkArray, probability: float, generator: Generator, /) -> tuple[VkArray, VkArray]:
    """Elements of x divided by 1 - probability, or 0 with that probability each, and a mask of those kept.

    Parameters: x (real floating-point); probability; generator (of the device of x), which gives a number for each element.
    Returns (array of the shape and dtype of x, bool array of that shape).
    Raises TypeError for other types, ValueError for a probability out of range or a generator of another device.
    Method: Philox4x32-10, a word for each element.
    """
    promotion.check_category("dropout", check_array("dropout", x)._dtype, "real floating")
    scale = _scale("dropout", probability)
    device = x._device
    if generator.device is not device:
        raise ValueError(f"dropout: the generator is on the device {generator.device}, x on {device}. Make one there.")
    x = launch.contiguous(x)
    result, mask = empty(x._shape, x._dtype, device), empty(x._shape, dtypes.bool_, device)
    keep = round((1 - probability) * 2**32)
    key, block, skip = generator.bit_generator.place(x.size, 1)
    limit = launch.index_limit(device, x._dtype)
    for first in range(0, x.size, limit):
        count = min(x.size - first, limit)
        further, begin = divmod(skip + first, 4)
        fields = {
            "a": pointer(x, first),
            "results": pointer(result, first),
            "masks": pointer(mask, first),
            "key": key,
            "block": (block + further) & (1 << 64) - 1 if further else block,
            "scale": number(scale, x._dtype),
            "skip": begin,
            "count": count,
            "keep": min(keep, (1 << 32) - 1),
            "all": int(keep >= 1 << 32),
        }
        groups = launch.groups_for(-(-(begin + count) // 4), device.limits)
        launch.dispatch(_variant(x._dtype, device), device, groups, fields, writes=("results", "masks"))
    return result, mask


def dropout_backward(gradient: VkArray, mask: VkArray, scale: float, /) -> VkArray:
    """The gradient times `scale` where the mask is true, else 0: for `dropout`, 1 / (1 - probability).

    Parameters: gradient (real floating-point); mask (bool, of its shape). Raises ValueError for shapes that differ.
    """
    promotion.check_category("dropout_backward", check_array("dropout_backward", gradient)._dtype, "real floating")
    if check_array("dropout_backward", mask)._shape != gradient._shape or mask._dtype is not dtypes.bool_:
        raise ValueError(
            f"dropout_backward: expected a mask of bool and shape {gradient._shape}, got {mask._dtype} {mask._shape}."
        )
    factor = launch.scalar(scale, partial_dtype(gradient._dtype), gradient._device)
    result = empty(gradient._shape, gradient._dtype, gradient._device)
    return launch.elementwise(_masked(gradient._dtype), (gradient, mask, factor), result)
