"""Numbers of each channel applied in one pass: batch norm with statistics that are known, as models have it after training, and
the bias of a convolution."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..core import dtypes
from ..core.array import VkArray, empty, is_supported, storage_itemsize
from ..core.dtypes import DType
from ..kernels import launch
from ..kernels.conversion import cast
from ..kernels.dispatch import number, pointer
from ..kernels.reductions import partial_dtype
from ..kernels.row_kernels import FLOATING, HALF_FEATURES
from ..shaders.source import Variant
from .windows import batches

if TYPE_CHECKING:
    from ..kernels.launch import Device

_PACK_BYTES = 16
_PACKS = 2  # of an invocation


@functools.cache
def _variant(dtype: DType, numbers: DType, device: Device, half: bool = False) -> Variant:
    """The shader for an array of `dtype`. `half`: the device converts float16 itself."""
    itemsize = storage_itemsize(dtype, device)
    defines = launch.operand_defines("A", dtype) + launch.operand_defines("B", numbers) + launch.compute_defines(dtype)
    defines += launch.feature_defines((dtype, numbers), device)
    defines += (("VECTOR", str(_PACK_BYTES // itemsize)), ("PACKS", str(_PACKS)))
    if itemsize == 2:
        macros = ("VX_UNPACK_HALF", "VX_HALF_BITS") if half else (f"UNPACK_{dtype.name}", f"BITS_{dtype.name}")
        defines += (("PER_WORD", "2"), ("A_UNPACK", macros[0]), ("A_BITS", macros[1]))
    if half:
        defines += (("HARDWARE_HALF", "1"),)
    return Variant("nn/batch_norm", defines, f"batch norm or bias {dtype}, numbers of {numbers}")


def variants(device: Device) -> Iterator[Variant]:
    """The shaders of all types, for the archive."""
    for dtype in FLOATING:
        for numbers in {dtype, partial_dtype(dtype)} if is_supported(dtype, device) else ():
            yield _variant(dtype, numbers, device)
            if dtype is dtypes.float16 and storage_itemsize(dtype, device) == 2:
                yield _variant(dtype, numbers, device, True)


def batch_norm_of_running(
    x: VkArray, weight: VkArray | None, bias: VkArray | None, mean: VkArray, variance: VkArray, eps: float
) -> VkArray:
    """(x - mean) / sqrt(variance + eps) * weight + bias, for arrays of x's channels whose types and shapes are checked."""
    given = [mean, variance, *(one for one in (weight, bias) if one is not None)]
    real = partial_dtype(x._dtype)
    alike = {one._dtype for one in given}
    numbers = mean._dtype if len(alike) == 1 and alike <= {x._dtype, real} else real
    columns = [None if one is None else launch.contiguous(cast(one, numbers)) for one in (mean, variance, weight, bias)]
    x = launch.contiguous(x)
    result = empty(x._shape, x._dtype, x._device)
    _run(x, result, columns, numbers, eps)
    return result


def _run(x: VkArray, result: VkArray, columns: Sequence[VkArray | None], numbers: DType, eps: float) -> None:
    """The kernel for means and variances (or neither), weights and biases of a type, where they are given."""
    if not result.size:
        return
    device, channels, plane = x._device, x._shape[1], math.prod(x._shape[2:])
    vector = _PACK_BYTES // storage_itemsize(x._dtype, device)
    half = x._dtype is dtypes.float16 and device.features >= HALF_FEATURES
    mean, variance, weight, bias = (0 if one is None else one for one in columns)
    given = [int(one is not None) for one in columns[1:]]
    for source, target in batches("batch_norm", (x, result)):
        count = math.prod(source._shape)
        fields = {
            "x": source,
            "r": target,
            "mean": mean,
            "variance": variance,
            "weight": weight,
            "bias": bias,
            "epsilon": number(eps, x._dtype),
            "count": count,
            "channels": channels,
            "plane": plane,
        }
        packed = all(pointer(one).is_aligned(_PACK_BYTES) for one in (source, target))
        constants = tuple(enumerate((*given, int(packed), int(plane % vector == 0)), 1))
        groups = launch.groups_for(-(-count // (_PACKS * vector)), device.limits)
        variant = _variant(x._dtype, numbers, device, half)
        launch.dispatch(variant, device, groups, fields, writes=("r",), constants=constants)
