"""Numbers of each channel applied in one pass, and the way back: batch norm with statistics that are known, as models have it
after training, or those of the batch itself; group norm, whose statistics are those of neighbouring channels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import device_caches
from ..core import dtypes, layout
from ..core.array import VkArray, empty, is_supported, storage_itemsize
from ..core.dtypes import DType
from ..kernels import gradient_sums, launch
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
# The ways of the kernel: a define, and the fields that it writes.
_WRITES = {
    "": ("r",),
    "OF_BATCH": ("r", "used_mean", "used_rstd", "running_mean", "running_variance"),
    "BACKWARD": ("r", "of_weight", "of_bias"),
}
_NAMES = {"": "norm of running statistics", "OF_BATCH": "norm of a batch", "BACKWARD": "norm backward"}
_OF_GROUPS = frozenset(("mean", "variance", "gradients", "products"))  # fields with a number for each group


# -- the kernel -------------------------------------------------------------------------------------------------------


@device_caches.cache
def _variant(dtype: DType, numbers: DType, device: Device, way: str, half: bool = False) -> Variant:
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
    if way:
        defines += ((way, "1"),)
    return Variant("nn/batch_norm", defines, f"{_NAMES[way]} {dtype}, numbers of {numbers}")


def variants(device: Device) -> Iterator[Variant]:
    """The shaders of all types, for the archive."""
    yield from gradient_sums.variants(device)
    for dtype in FLOATING:
        for numbers in {dtype, partial_dtype(dtype)} if is_supported(dtype, device) else ():
            for way in _WRITES:
                yield _variant(dtype, numbers, device, way)
                if dtype is dtypes.float16 and storage_itemsize(dtype, device) == 2:
                    yield _variant(dtype, numbers, device, way, True)


def _run(
    way: str, planes: Planes, fields: Mapping[str, Any], numbers: DType, *given: bool, alike: int = 0,
    learnt: bool = False,
) -> VkArray:  # fmt: skip
    """The result of the kernel for what is in planes, and its own fields. `given` are the constants from WEIGHT on; groups have
    `alike` planes each."""
    x, *others = planes.arrays
    device, (_, channels, plane) = x._device, x._shape
    result = empty(x._shape, x._dtype, device)
    vector = _PACK_BYTES // storage_itemsize(x._dtype, device)
    half = x._dtype is dtypes.float16 and device.features >= HALF_FEATURES
    first = 0
    for parts in batches("batch_norm", (x, result, *others)):
        own = dict(fields)
        if first and way:  # the first part has stored the statistics; those of groups go on
            own["statistics"] = 0
            if alike:
                own |= {name: pointer(own[name], first * channels // alike) for name in _OF_GROUPS & own.keys()}
        own |= zip(("x", "r", "g"), parts, strict=False)  # g on the way back alone
        count = math.prod(parts[0]._shape)
        packed = all(pointer(one).is_aligned(_PACK_BYTES) for one in parts)
        constants = (packed, plane % vector == 0, *given, *[False] * (4 - len(given)), alike > 0, learnt)
        invocations = max(1, -(-count // (_PACKS * vector)), own.get("statistics", 0))
        groups = launch.groups_for(invocations, device.limits)
        own |= {"count": count, "channels": channels, "plane": plane}
        variant = _variant(x._dtype, numbers, device, way, half)
        launch.dispatch(
            variant, device, groups, own, writes=_WRITES[way], constants=tuple(enumerate(map(int, constants), 1))
        )  # fmt: skip
        first += parts[0]._shape[0]
    return planes.restored(result)


# -- arrays -----------------------------------------------------------------------------------------------------------


class Planes(NamedTuple):
    """Arrays of one shape as (batch, channels, plane) in C order; where channels come last in memory, planes have one element."""

    arrays: list[VkArray]
    order: tuple[int, ...]  # of the dimensions in memory
    shape: layout.Shape  # in that order

    def restored(self, made: VkArray) -> VkArray:
        """A result as the arrays were."""
        whole = made._view(self.shape, layout.contiguous_strides(self.shape))
        return whole._permuted([self.order.index(axis) for axis in range(len(self.order))])


def in_planes(*arrays: VkArray, channels_last: bool = True) -> Planes:
    """Arrays in planes, copied where they lie otherwise than the first one."""
    x, rank = arrays[0], arrays[0].ndim
    order = tuple(range(rank))
    shape: layout.Shape = (*x._shape[:2], math.prod(x._shape[2:]))
    if channels_last and not x._contiguous and x._permuted((0, *order[2:], 1))._contiguous:
        order = (0, *order[2:], 1)
        shape = (x._shape[0] * shape[2], shape[1], 1)
    made = [launch.contiguous(one._permuted(order)) for one in arrays]
    strides = layout.contiguous_strides(shape)
    return Planes([one._view(shape, strides) for one in made], order, made[0]._shape)


def _type_of_numbers(dtype: DType, given: Sequence[VkArray | None]) -> DType:
    """The type that arrays of channels are given as: their own, where it is one that kernels for x of `dtype` take."""
    alike = {one._dtype for one in given if one is not None}
    real = partial_dtype(dtype)
    return alike.pop() if len(alike) == 1 and alike <= {dtype, real} else real


def _columns(numbers: DType, *arrays: VkArray | None) -> list[Any]:
    return [0 if one is None else launch.contiguous(cast(one, numbers)) for one in arrays]


# -- the three ways ---------------------------------------------------------------------------------------------------


def batch_norm_of_running(
    x: VkArray, weight: VkArray | None, bias: VkArray | None, mean: VkArray, variance: VkArray, eps: float
) -> VkArray:
    """(x - mean) / sqrt(variance + eps) * weight + bias, for arrays of x's channels whose types and shapes are checked."""
    if not x.size:
        return empty(x._shape, x._dtype, x._device)
    numbers = _type_of_numbers(x._dtype, (mean, variance, weight, bias))
    names = ("mean", "variance", "weight", "bias")
    fields = dict(zip(names, _columns(numbers, mean, variance, weight, bias), strict=True))
    fields["epsilon"] = number(eps, x._dtype)
    return _run("", in_planes(x), fields, numbers, weight is not None, bias is not None)


def norm_of_batch(
    planes: Planes, moments: VkArray, weight: VkArray | None, bias: VkArray | None, eps: float, *, alike: int = 0,
    running: Sequence[VkArray | None] = (None, None), momentum: float = 0.0, factor: float = 1.0,
) -> tuple[VkArray, VkArray, VkArray]:  # fmt: skip
    """(x - mean) / sqrt(variance + eps) * weight + bias, the means, and 1 / sqrt(variance + eps).

    `moments` are means and variances in pairs, of channels or of `alike` neighbouring planes each. The two `running` arrays of
    channels move towards the means and towards `factor` times the variances, with `momentum`.
    """
    (x,) = planes.arrays
    numbers, real = _type_of_numbers(x._dtype, (weight, bias, *running)), partial_dtype(x._dtype)
    moved = _columns(numbers, *running)
    scale, shift = _columns(numbers, weight, bias)
    mean, rstd = (empty(moments._shape, real, x._device) for _ in range(2))
    fields = {
        "mean": moments, "variance": 0, "weight": scale, "bias": shift, "epsilon": number(eps, x._dtype),
        "statistics": moments.size, "alike": alike, "factor": number(factor, x._dtype),
        "momentum": number(momentum, x._dtype), "running_mean": moved[0], "running_variance": moved[1],
        "used_mean": mean, "used_rstd": rstd,
    }  # fmt: skip
    given = [one is not None for one in (weight, bias, *running)]
    made = _run("OF_BATCH", planes, fields, numbers, *given, alike=alike)
    for own, wide in zip(running, moved, strict=True):
        if own is not None and wide is not own:
            own[...] = cast(wide, own._dtype)
    return made, mean, rstd


def sums_of_gradients(planes: Planes, mean: VkArray, rstd: VkArray, axes: tuple[int, ...], alike: int) -> VkArray:
    """The sums over axes of gradients, and of these times (x - mean) * rstd, for x and gradients in planes; `alike` rows have one
    mean."""
    x, gradient = planes.arrays
    return gradient_sums.sums(gradient, x, launch.contiguous(mean), launch.contiguous(rstd), axes, alike)


def norm_backward(
    planes: Planes, mean: VkArray, rstd: VkArray, weight: VkArray | None, sums: VkArray | None, count: int, *,
    alike: int = 0,
) -> tuple[VkArray, VkArray, VkArray]:  # fmt: skip
    """The gradient of x, for x and gradients in planes, and the sums of products and of gradients as arrays of their own.

    `sums` has those of gradients, then those of products, over the `count` elements that have one mean. None: means and deviations
    do not depend on x.
    """
    x = planes.arrays[0]
    real, numbers = partial_dtype(x._dtype), _type_of_numbers(x._dtype, (weight,))
    copied = 0 if sums is None or alike else sums.size // 2
    of_weight, of_bias = (empty((copied,), real, x._device) for _ in range(2))
    (scale,) = _columns(numbers, weight)
    fields = {
        "mean": launch.contiguous(mean), "variance": launch.contiguous(rstd), "weight": scale, "bias": 0, "epsilon": 0,
        "statistics": copied, "alike": alike, "factor": number(-1.0 / max(count, 1), x._dtype),
        "gradients": 0 if sums is None else sums, "products": 0 if sums is None else pointer(sums, sums.size // 2),
        "of_weight": of_weight, "of_bias": of_bias,
    }  # fmt: skip
    constants = (weight is not None, False, False, False)
    made = _run("BACKWARD", planes, fields, numbers, *constants, alike=alike, learnt=sums is None)
    return made, of_weight, of_bias
