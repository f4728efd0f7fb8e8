"""Normalization of layers, groups and batches, and the way back through it.

Layer and RMS norm look at rows that lie together (`row_kernels`). Batch and group norm reduce to means and variances in one
pass (`vkarray.var`'s method), and apply them in another (`batch_norm`). Means and reciprocal standard deviations are float32 for
16-bit types.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .. import device_caches
from ..core import layout, promotion
from ..core.array import VkArray, empty, is_supported
from ..core.dtypes import DType
from ..kernels import launch
from ..kernels.conversion import cast
from ..kernels.dispatch import pointer
from ..kernels.launch import Operation
from ..kernels.planned import recordable
from ..kernels.reductions import Reduction, partial_dtype
from ..kernels.row_kernels import FLOATING, Option, reshaped, row_kernel
from ..kernels.rows import check_array
from ..ops import creation, statistical
from ..shaders.source import Shader, Variant
from .batch_norm import batch_norm_of_running as _of_running
from .batch_norm import in_planes, norm_backward, norm_of_batch, sums_of_gradients

if TYPE_CHECKING:
    from ..kernels.launch import Device

_LAYER_NORM = row_kernel(
    "layer_norm", "a", "(a - t.x) * t.y * w + v", finish_1="s * inverse_N",
    phase_2="VX_PAIR(a - s, (a - s) * (a - s))", finish_2="vx_normalizer(s, t, inverse_N, PARAMETER(0))", pairs=(2,),
    outputs=("t.x", "t.y"),
)  # fmt: skip
_RMS_NORM = row_kernel(
    "rms_norm", "a * a", "a * s * w", finish_1="vx_fast_reciprocal_root(s * inverse_N + PARAMETER(0))",
    outputs=("s", "s"),
)  # fmt: skip
_NORMALIZED = "((a - mean) * rstd)"
_NORM_BACKWARD = row_kernel(
    "norm_backward", "VX_PAIR(b * w, b * w * " + _NORMALIZED + ")",
    "rstd * (b * w - (OPTION ? T(0) : s.x) - " + _NORMALIZED + " * s.y)", finish_1="s * inverse_N", pairs=(1, 2),
    row_inputs=True,
)  # fmt: skip

_MOMENTS = Reduction(
    "moments", "real floating", "a + b", types="moments", map="vx_deviation(vx_to_{real}(a), center)",
    shift="vx_to_{real}(a)", join="vx_join(a, b)", empty=math.nan, library="/statistics",
    finish="vx_mean_and_variance(a, PARAMETER(0), PARAMETER(1))",
)  # fmt: skip


# Rows that an invocation sums up, and the size of a matrix from which on there are enough for more.
_CHUNK, _SMALL_CHUNK, _LARGE = 64, 16, 1 << 22


@functools.cache
def _root(real: DType) -> Operation:
    """1 / sqrt(a + b) in a type."""
    return Operation(f"norm root {real}", "vx_reciprocal_root(a + b)", (real, real), real, real, "/rows")


def variants(device: Device) -> Iterator[Shader]:
    """The shaders of all types, for the archive."""
    for kernel in (_LAYER_NORM, _RMS_NORM, _NORM_BACKWARD):
        yield from kernel.variants(device)
    yield from _MOMENTS.variants(device)
    for dtype in FLOATING:
        if is_supported(dtype, device):
            yield _column_variant(dtype, device)
            if partial_dtype(dtype) is dtype:
                yield from _root(dtype).variants(device)


def _moments(x: VkArray, axes: Sequence[int]) -> VkArray:
    """The means and variances over axes, as the real and imaginary parts of numbers of the type computed in."""
    count = math.prod(x._shape[axis] for axis in axes)
    return _MOMENTS.run(x, axes, parameters=(count, count))


def reciprocal_deviation(variance: VkArray, epsilon: float) -> VkArray:
    """1 / sqrt(variance + epsilon), float32 for 16-bit types."""
    real = partial_dtype(variance._dtype)
    variance = cast(variance, real)
    added = launch.constant(epsilon, real, variance._device)
    result = empty(variance._shape, real, variance._device)
    return launch.elementwise(_root(real), (variance, added), result)


def _sum(x: VkArray, axes: Sequence[int]) -> VkArray:
    """Sums in the type computed in."""
    return statistical.sum(cast(x, partial_dtype(x._dtype)), axis=tuple(axes))


def _checked(function: str, x: VkArray, *others: VkArray | None) -> DType:
    """The type that x is computed in. Raises TypeError for other types than floating-point ones."""
    promotion.check_category(function, check_array(function, x)._dtype, "real floating")
    for other in others:
        if other is not None:
            promotion.check_category(function, check_array(function, other)._dtype, "real floating")
    return partial_dtype(x._dtype)


def _check_channels(function: str, x: VkArray, channels: int, **arrays: VkArray | None) -> None:
    for name, array in arrays.items():
        if array is not None and array._shape != (channels,):
            raise ValueError(
                f"{function}: expected {name} of shape ({channels},), one number for each channel of x of shape "
                f"{x._shape}, got shape {array._shape}."
            )


def _as_vectors(x: VkArray, real: DType, *weights: VkArray | None) -> list[VkArray | None]:
    """Weights as contiguous vectors, all of the type of x as they are, or all in the type computed in."""
    own = all(one is None or one._dtype is x._dtype for one in weights)
    return [
        None if one is None else launch.contiguous(reshaped(one if own else cast(one, real), (one.size,)))
        for one in weights
    ]


# -- layer and RMS norm ---------------------------------------------------------------------------------------------


def _as_rows(function: str, x: VkArray, shape: Sequence[int], *weights: VkArray | None) -> tuple[VkArray, layout.Shape]:
    """x as a matrix of rows to normalize, and the other dimensions. Raises ValueError for a shape that x does not end in."""
    shape = tuple(shape)
    rank = len(shape)
    if not rank or x._shape[-rank:] != shape or any(one is not None and one._shape != shape for one in weights):
        shapes = [one._shape for one in weights if one is not None]
        raise ValueError(
            f"{function}: expected x whose last dimensions are those normalized, {shape}, and weights of that shape, got x "
            f"of shape {x._shape}{f' and weights of {shapes}' if shapes else ''}."
        )
    outer = x._shape[:-rank]
    return reshaped(x, (math.prod(outer), math.prod(shape))), outer


def _statistics(outer: layout.Shape, rank: int, array: VkArray) -> VkArray:
    shape = (*outer, *(1,) * rank)
    return array._view(shape, layout.contiguous_strides(shape))


@recordable
def layer_norm(
    x: VkArray, shape: Sequence[int], /, weight: VkArray | None = None, bias: VkArray | None = None, *, eps: float = 1e-5
) -> tuple[VkArray, VkArray, VkArray]:  # fmt: skip
    """(x - mean) / sqrt(variance + eps) * weight + bias over the last dimensions.

    Parameters: x (real floating-point); shape (of the dimensions normalized, the last ones of x); weight, bias (of that
    shape); eps. Returns (result of the shape and dtype of x, mean, reciprocal of the root), the last two with 1 in place of the
    dimensions normalized, float32 for 16-bit types.
    Raises TypeError for other types, ValueError for shapes that do not match.
    Method: the mean, then the deviations and their squares, corrected for the rounding of the mean.
    """
    real = _checked("layer_norm", x, weight, bias)
    rows, outer = _as_rows("layer_norm", x, shape, weight, bias)
    mean, rstd = (empty((rows._shape[0],), real, x._device) for _ in range(2))
    w, v = _as_vectors(x, real, weight, bias)
    made = _LAYER_NORM(rows, 1, w=w, v=v, rows=(mean, rstd), option=Option((eps, 0.0)))
    rank = len(tuple(shape))
    return reshaped(made, x._shape), _statistics(outer, rank, mean), _statistics(outer, rank, rstd)


@recordable
def rms_norm(
    x: VkArray, shape: Sequence[int], /, weight: VkArray | None = None, *, eps: float = 1e-5
) -> tuple[VkArray, VkArray]:  # fmt: skip
    """x / sqrt(mean of squares + eps) * weight over the last dimensions.

    Parameters and errors as `layer_norm`. Returns (result, reciprocal of the root).
    """
    real = _checked("rms_norm", x, weight)
    rows, outer = _as_rows("rms_norm", x, shape, weight)
    rstd = empty((rows._shape[0],), real, x._device)
    (w,) = _as_vectors(x, real, weight)
    made = _RMS_NORM(rows, 1, w=w, rows=(None, rstd), option=Option((eps, 0.0), switch=True))
    return reshaped(made, x._shape), _statistics(outer, len(tuple(shape)), rstd)


def layer_norm_backward(
    gradient: VkArray, x: VkArray, shape: Sequence[int], mean: VkArray | None, rstd: VkArray, /,
    weight: VkArray | None = None, *, wanted: Sequence[bool] = (True, True, True),
) -> tuple[VkArray | None, VkArray | None, VkArray | None]:  # fmt: skip
    """The gradients of x, weight and bias from that of `layer_norm`, or of `rms_norm` where mean is None.

    Parameters: gradient (of the shape and dtype of x); x, shape and weight as given; mean, rstd as returned; wanted (which
    gradients). Returns those gradients, None for others, of the dtype of x.
    Raises TypeError for other types, ValueError for shapes that do not match.
    """
    function = "layer_norm_backward"
    real = _checked(function, x, weight, gradient)
    rows, _ = _as_rows(function, x, shape, weight)
    gradients, _ = _as_rows(function, cast(gradient, x._dtype), shape)
    statistics = [
        None if one is None else launch.contiguous(reshaped(cast(one, real), (one.size,))) for one in (mean, rstd)
    ]
    own = None
    if wanted[0]:
        option = Option(switch=mean is None)
        (w,) = _as_vectors(x, real, weight)
        own = _NORM_BACKWARD(rows, 1, b=gradients, w=w, rows=statistics, option=option)
        own = reshaped(own, x._shape)
    sums = _column_sums(gradients, rows, statistics) if wanted[1] or wanted[2] else None
    of_weight, of_bias = (
        None if sums is None or not want else cast(reshaped(sums[place], tuple(shape)), x._dtype)
        for place, want in enumerate(wanted[1:])
    )
    return own, of_weight, of_bias


@device_caches.cache
def _column_variant(dtype: DType, device: Device) -> Variant:
    defines = launch.operand_defines("A", dtype) + launch.compute_defines(dtype)
    return Variant("nn/column_sums", defines + launch.feature_defines((dtype,), device), f"column sums {dtype}")


def _column_sums(gradients: VkArray, x: VkArray, statistics: Sequence[VkArray | None]) -> VkArray:
    """The sums over rows of gradients times normalized elements, and of gradients: an array of two rows."""
    device, (rows, columns) = x._device, x._shape
    gradients, x = launch.contiguous(gradients), launch.contiguous(x)
    chunk = _CHUNK if x.size >= _LARGE else _SMALL_CHUNK
    chunks = max(1, -(-rows // chunk))
    sums = empty((chunks, 2, columns), partial_dtype(x._dtype), device)
    if not x.size:
        return statistical.sum(creation.zeros(sums._shape, dtype=sums._dtype, device=device), axis=0)
    part = max(1, launch.index_limit(device, sums._dtype) // (chunk * columns))  # chunks of a dispatch
    for first in range(0, chunks, part):
        row = first * chunk
        mean, rstd = (0 if one is None else pointer(one, row) for one in statistics)
        count = min(part * chunk, rows - row)
        fields = {
            "gradients": pointer(gradients, row * columns),
            "elements": pointer(x, row * columns),
            "mean": mean,
            "rstd": rstd,
            "sums": pointer(sums, first * 2 * columns),
            "rows": count,
            "columns": columns,
            "chunk": chunk,
        }
        groups = launch.groups_for(-(-count // chunk) * columns, device.limits)
        constants = ((1, int(statistics[0] is not None)),)
        variant = _column_variant(x._dtype, device)
        launch.dispatch(variant, device, groups, fields, writes=("sums",), constants=constants)
    return reshaped(sums, (2, columns)) if chunks == 1 else statistical.sum(sums, axis=0)


# -- batch norm -----------------------------------------------------------------------------------------------------


def _channels(function: str, x: VkArray) -> int:
    """The number of channels."""
    if x.ndim < 2:
        raise ValueError(
            f"{function}: expected x of 2 dimensions or more, (batch, channels, ...), got shape {x._shape}."
        )
    return x._shape[1]


@recordable
def batch_norm(
    x: VkArray, /, weight: VkArray | None = None, bias: VkArray | None = None, *, mean: VkArray | None = None,
    variance: VkArray | None = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> tuple[VkArray, VkArray, VkArray]:  # fmt: skip
    """(x - mean) / sqrt(variance + eps) * weight + bias for each channel, the second dimension.

    Parameters: x (real floating-point, (batch, channels, ...)); weight, bias, mean, variance (one number for each channel);
    training (take mean and variance of x itself, and blend them into `mean` and `variance`, in place, with `momentum`; the
    variance without its bias); eps. Without training mean and variance are needed.
    Returns (result, mean, reciprocal of the root): as applied, float32 for 16-bit types.
    Raises TypeError for other types, ValueError for shapes that do not match and missing statistics.
    """
    real = _checked("batch_norm", x, weight, bias, mean, variance)
    channels = _channels("batch_norm", x)
    _check_channels("batch_norm", x, channels, weight=weight, bias=bias, mean=mean, variance=variance)
    if not training and (mean is None or variance is None):
        raise ValueError(
            "batch_norm: expected mean and variance where it is not training. Give both, or training=True."
        )
    if not training and mean is not None and variance is not None:
        made = _of_running(x, weight, bias, mean, variance, eps)
        return made, cast(mean, real), reciprocal_deviation(cast(variance, real), eps)
    planes, count = in_planes(x), x.size // max(channels, 1)
    moments = _moments(planes.arrays[0], (0, 2))
    factor = count / (count - 1) if count > 1 else math.nan
    return norm_of_batch(
        planes, moments, weight, bias, eps, running=(mean, variance), momentum=momentum, factor=factor
    )  # fmt: skip


@recordable
def batch_norm_of_running(
    x: VkArray, weight: VkArray | None, bias: VkArray | None, mean: VkArray, variance: VkArray, eps: float = 1e-5
) -> VkArray:
    """The first result of `batch_norm` without training, and nothing else."""
    _checked("batch_norm", x, weight, bias, mean, variance)
    channels = _channels("batch_norm", x)
    _check_channels("batch_norm", x, channels, weight=weight, bias=bias, mean=mean, variance=variance)
    return _of_running(x, weight, bias, mean, variance, eps)


def batch_norm_backward(
    gradient: VkArray, x: VkArray, mean: VkArray, rstd: VkArray, /, weight: VkArray | None = None, *,
    training: bool = True, wanted: Sequence[bool] = (True, True, True),
) -> tuple[VkArray | None, VkArray | None, VkArray | None]:  # fmt: skip
    """The gradients of x, weight and bias from that of `batch_norm`.

    Parameters: gradient (of the shape and dtype of x); x, weight as given; mean, rstd as returned; training (they were those
    of x); wanted (which gradients). Returns those gradients, None for others, of the dtype of x and of float32 for 16-bit types.
    Raises TypeError for other types, ValueError for shapes that do not match.
    """
    function = "batch_norm_backward"
    real = _checked(function, x, weight, gradient, mean, rstd)
    channels = _channels(function, x)
    _check_channels(function, x, channels, weight=weight, mean=mean, rstd=rstd)
    planes, mean, rstd = in_planes(x, cast(gradient, x._dtype)), cast(mean, real), cast(rstd, real)
    sums = sums_of_gradients(planes, mean, rstd, (0, 2), 1) if training or wanted[1] or wanted[2] else None
    own = of_weight = of_bias = None
    if wanted[0]:
        count = x.size // max(channels, 1)
        own, of_weight, of_bias = norm_backward(planes, mean, rstd, weight, sums if training else None, count)
    if sums is not None and not (training and wanted[0]):
        of_bias, of_weight = (sums._view((channels,), (1,), place * channels) for place in range(2))
    return own, of_weight if wanted[1] else None, of_bias if wanted[2] else None


# -- group norm -----------------------------------------------------------------------------------------------------


def _grouped(function: str, x: VkArray, groups: int) -> layout.Shape:
    """(batch, groups, channels of a group, elements of a channel)."""
    channels = _channels(function, x)
    groups = layout.as_integer(groups, function, "groups")
    if groups < 1 or channels % groups:
        raise ValueError(f"{function}: expected groups that divide the {channels} channels of x, got {groups}.")
    return x._shape[0], groups, channels // groups, math.prod(x._shape[2:])


@recordable
def group_norm(
    x: VkArray, groups: int, /, weight: VkArray | None = None, bias: VkArray | None = None, *, eps: float = 1e-5
) -> tuple[VkArray, VkArray, VkArray]:
    """(x - mean) / sqrt(variance + eps) * weight + bias for each element of the batch and group of channels.

    Parameters: x (real floating-point, (batch, channels, ...)); groups (that divide the channels); weight, bias (one number for
    each channel); eps. Returns (result of the shape and dtype of x, mean, reciprocal of the root), the last two of shape
    (batch, groups), float32 for 16-bit types.
    Raises TypeError for other types, ValueError for shapes that do not match.
    """
    _checked("group_norm", x, weight, bias)
    shape = _grouped("group_norm", x, groups)
    _check_channels("group_norm", x, x._shape[1], weight=weight, bias=bias)
    moments = _moments(reshaped(x, shape), (2, 3))
    return norm_of_batch(in_planes(x, channels_last=False), moments, weight, bias, eps, alike=shape[2])


def group_norm_backward(
    gradient: VkArray, x: VkArray, groups: int, mean: VkArray, rstd: VkArray, /, weight: VkArray | None = None, *,
    wanted: Sequence[bool] = (True, True, True),
) -> tuple[VkArray | None, VkArray | None, VkArray | None]:  # fmt: skip
    """The gradients of x, weight and bias from that of `group_norm`.

    Parameters: gradient (of the shape and dtype of x); x, groups and weight as given; mean, rstd as returned; wanted (which
    gradients). Returns those gradients, None for others, of the dtype of x.
    Raises TypeError for other types, ValueError for shapes that do not match.
    """
    function = "group_norm_backward"
    real = _checked(function, x, weight, gradient, mean, rstd)
    shape = _grouped(function, x, groups)
    _check_channels(function, x, x._shape[1], weight=weight)
    mean, rstd = cast(mean, real), cast(rstd, real)
    planes = in_planes(x, cast(gradient, x._dtype), channels_last=False)
    sums = sums_of_gradients(planes, mean, rstd, (2,), shape[2])
    of_bias, of_weight = (
        cast(_sum(sums._view(x._shape[:2], sums._strides[1:], place * sums._strides[0]), (0,)), x._dtype)
        if want
        else None
        for place, want in ((0, wanted[2]), (1, wanted[1]))
    )
    own = None
    if wanted[0]:
        weighted = sums if weight is None else sums * cast(weight, real)
        of_groups = _sum(reshaped(weighted, (2, *shape[:3])), (3,))
        own = norm_backward(planes, mean, rstd, weight, of_groups, shape[2] * shape[3], alike=shape[2])[0]
    return own, of_weight, of_bias
