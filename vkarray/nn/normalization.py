"""Normalization of layers, groups and batches, and the way back through it.

Layer and RMS norm look at rows that lie together (`row_kernels`). Batch and group norm reduce to means and variances in one
pass (`vkarray.var`'s method), and apply them as four coefficients for each channel. Means and reciprocal standard deviations
are float32 for 16-bit types.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..core import layout, promotion
from ..core.array import VkArray, empty, is_supported
from ..core.dtypes import DType
from ..kernels import launch
from ..kernels.conversion import cast
from ..kernels.dispatch import pointer
from ..kernels.launch import Operation
from ..kernels.planned import recordable
from ..kernels.reductions import Reduction, partial_dtype
from ..kernels.row_kernels import FLOATING, Option, layout_of, reshaped, row_kernel
from ..kernels.rows import check_array
from ..ops import creation, statistical
from ..ops.beyond.ndarray import imag_view, real_view
from ..shaders.source import Shader, Variant
from .batch_norm import batch_norm_of_running as _of_running

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

# -- coefficients ---------------------------------------------------------------------------------------------------

# Four numbers as one element: of float32 or float64.
_COEFFICIENTS = {
    dtype: DType.make_type(f"coefficients_{dtype}", "real floating", 4 * dtype.bits)
    for dtype in set(map(partial_dtype, FLOATING))
}


@functools.cache
def _operation(name: str, dtype: DType) -> Operation:
    """What batch and group norm do with every element of `dtype`."""
    real = partial_dtype(dtype)
    four, four_of, library = _COEFFICIENTS[real], "dvec4" if real.bits == 64 else "vec4", "/rows"
    made = {
        "apply": ("(a - b.x) * b.y + b.z", (dtype, four), dtype),
        "product": ("a * ((b - c.x) * c.y)", (dtype, dtype, four), real),
        "backward": ("c.z * a + ((b - c.x) * c.y + c.w)", (dtype, dtype, four), dtype),
        "root": ("vx_reciprocal_root(a + b)", (real, real), real),
        "blend": ("(T(1) - c) * a + c * (b * input3)", (real,) * 4, real),
        "four": (f"{four_of}(a, b, c, input3)", (real,) * 4, four),
        "forward": (f"{four_of}(a, b * c, input3, 0)", (real,) * 4, four),
        # Of the mean, 1 / deviation, weight, -1 / count, and the sums of products and of gradients.
        "slopes": (f"{four_of}(a, b * c * input3 * b * input4, b * c, b * c * input3 * input5)", (real,) * 6, four),
    }[name]
    return Operation(f"norm {name} {dtype}", *made, real, library)


_OF_ELEMENTS = ("apply", "product", "backward")
_OF_CHANNELS = ("root", "blend", "four", "forward", "slopes")  # in the type computed in alone


def variants(device: Device) -> Iterator[Shader]:
    """The shaders of all types, for the archive."""
    for kernel in (_LAYER_NORM, _RMS_NORM, _NORM_BACKWARD):
        yield from kernel.variants(device)
    yield from _MOMENTS.variants(device)
    for dtype in FLOATING:
        if is_supported(dtype, device):
            yield _column_variant(dtype, device)
        names = _OF_ELEMENTS + (_OF_CHANNELS if partial_dtype(dtype) is dtype else ())
        for name in names if is_supported(dtype, device) else ():
            yield from _operation(name, dtype).variants(device)


def _coefficients(
    shape: layout.Shape, like: VkArray, *columns: VkArray | float, name: str = "four"
) -> VkArray:  # fmt: skip
    """An array of four numbers as one element, which an operation makes of arrays that broadcast to its shape and of numbers."""
    real, on = partial_dtype(like._dtype), like._device
    values = [
        cast(one, real) if type(one) is VkArray else launch.scalar(one, real, on)
        for one in (*columns, *[0.0] * (4 - len(columns)))
    ]
    return launch.elementwise(_operation(name, real), values, empty(shape, _COEFFICIENTS[real], on))


def _moments(x: VkArray, axes: Sequence[int]) -> tuple[VkArray, VkArray]:
    """The means and variances over axes, in the type computed in."""
    count = math.prod(x._shape[axis] for axis in axes)
    pairs = _MOMENTS.run(x, axes, parameters=(count, count))
    return real_view(pairs), imag_view(pairs)


def reciprocal_deviation(variance: VkArray, epsilon: float) -> VkArray:
    """1 / sqrt(variance + epsilon), float32 for 16-bit types."""
    real = partial_dtype(variance._dtype)
    variance = cast(variance, real)
    added = launch.constant(epsilon, real, variance._device)
    result = empty(variance._shape, real, variance._device)
    return launch.elementwise(_operation("root", real), (variance, added), result)


def _apply(name: str, coefficients: VkArray, *operands: VkArray) -> VkArray:
    """An operation of `_operation` on operands of one shape, as a contiguous array."""
    operation = _operation(name, operands[0]._dtype)
    result = empty(operands[0]._shape, operation.result, operands[0]._device)
    return launch.elementwise(operation, (*operands, coefficients), result)


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


@functools.cache
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


def _channels(function: str, x: VkArray) -> tuple[int, tuple[int, ...], layout.Shape]:
    """The number of channels, the other axes, and the shape in which an array of channels broadcasts to x."""
    if x.ndim < 2:
        raise ValueError(
            f"{function}: expected x of 2 dimensions or more, (batch, channels, ...), got shape {x._shape}."
        )
    count = x._shape[1]
    return count, (0, *range(2, x.ndim)), (count, *(1,) * (x.ndim - 2))


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
    channels, axes, shape = _channels("batch_norm", x)
    _check_channels("batch_norm", x, channels, weight=weight, bias=bias, mean=mean, variance=variance)
    if not training and (mean is None or variance is None):
        raise ValueError(
            "batch_norm: expected mean and variance where it is not training. Give both, or training=True."
        )
    if not training and mean is not None and variance is not None:
        made = _of_running(x, weight, bias, mean, variance, eps)
        return made, cast(mean, real), reciprocal_deviation(cast(variance, real), eps)
    used_mean, used_variance = _moments(x, axes)
    count = x.size // max(channels, 1)
    _blend(mean, used_mean, momentum, 1.0)
    _blend(variance, used_variance, momentum, count / (count - 1) if count > 1 else math.nan)
    used_mean = launch.contiguous(used_mean)
    rstd = reciprocal_deviation(used_variance, eps)
    given = (1.0 if weight is None else weight, 0.0 if bias is None else bias)
    table = _coefficients((channels,), x, used_mean, rstd, *given, name="forward")
    return _apply("apply", reshaped(table, shape), x), used_mean, rstd


@recordable
def batch_norm_of_running(
    x: VkArray, weight: VkArray | None, bias: VkArray | None, mean: VkArray, variance: VkArray, eps: float = 1e-5
) -> VkArray:
    """The first result of `batch_norm` without training, and nothing else."""
    _checked("batch_norm", x, weight, bias, mean, variance)
    channels, _, _ = _channels("batch_norm", x)
    _check_channels("batch_norm", x, channels, weight=weight, bias=bias, mean=mean, variance=variance)
    return _of_running(x, weight, bias, mean, variance, eps)


def _blend(running: VkArray | None, value: VkArray, momentum: float, factor: float) -> None:
    """Move a running statistic towards factor * value, in place."""
    if running is not None:
        wide = cast(running, value._dtype)
        numbers = [launch.scalar(one, wide._dtype, wide._device) for one in (momentum, factor)]
        made = running if wide is running else empty(wide._shape, wide._dtype, wide._device)
        launch.elementwise(_operation("blend", wide._dtype), (wide, value, *numbers), made)
        if made is not running:
            running[...] = cast(made, running._dtype)


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
    channels, axes, shape = _channels(function, x)
    _check_channels(function, x, channels, weight=weight, mean=mean, rstd=rstd)
    gradient, mean, rstd = cast(gradient, x._dtype), cast(mean, real), cast(rstd, real)
    sums = of_weight = rstd
    if wanted[2] or training:
        sums = _sum(gradient, axes)
    if wanted[1] or training:
        table = reshaped(_coefficients((channels,), x, mean, rstd), shape)
        of_weight = _sum(_apply("product", table, gradient, x), axes)
    own = None
    if wanted[0]:
        count = max(x.size // max(channels, 1), 1)
        if training:
            given = (1.0 if weight is None else weight, -1.0 / count, of_weight, sums)
            table = _coefficients((channels,), x, mean, rstd, *given, name="slopes")
        else:
            table = _coefficients((channels,), x, 0.0, 0.0, rstd if weight is None else rstd * cast(weight, real))
        own = _apply("backward", reshaped(table, shape), gradient, x)
    return own, of_weight if wanted[1] else None, sums if wanted[2] else None


# -- group norm -----------------------------------------------------------------------------------------------------


def _grouped(function: str, x: VkArray, groups: int) -> layout.Shape:
    """(batch, groups, channels of a group, elements of a channel)."""
    channels, _, _ = _channels(function, x)
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
    real = _checked("group_norm", x, weight, bias)
    shape = _grouped("group_norm", x, groups)
    _check_channels("group_norm", x, x._shape[1], weight=weight, bias=bias)
    grouped = reshaped(x, shape)
    mean, variance = _moments(grouped, (2, 3))
    rstd = reciprocal_deviation(variance, eps)
    of_groups = [reshaped(launch.contiguous(one), (*shape[:2], 1, 1)) for one in (mean, rstd)]
    by_channel = (1, *shape[1:3], 1)
    scale = of_groups[1] if weight is None else of_groups[1] * reshaped(cast(weight, real), by_channel)
    shift = 0.0 if bias is None else reshaped(cast(bias, real), by_channel)
    table = _coefficients((*shape[:3], 1), x, of_groups[0], scale, shift)
    result = _apply("apply", table, grouped)
    return reshaped(result, x._shape), reshaped(of_groups[0], shape[:2]), reshaped(of_groups[1], shape[:2])


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
    channels = (*shape[:3], 1)
    grouped, gradients = reshaped(x, shape), reshaped(cast(gradient, x._dtype), shape)
    mean, rstd = (reshaped(cast(one, real), (*shape[:2], 1, 1)) for one in (mean, rstd))
    sums = reshaped(_sum(gradients, (3,)), channels)
    table = _coefficients(channels, x, mean, rstd)
    products = reshaped(_sum(_apply("product", table, gradients, grouped), (3,)), channels)
    of_weight, of_bias = (
        cast(reshaped(_sum(one, (0,)), (x._shape[1],)), x._dtype) if want else None
        for one, want in ((products, wanted[1]), (sums, wanted[2]))
    )
    own = None
    if wanted[0]:
        weights = 1.0 if weight is None else reshaped(cast(weight, real), (1, *shape[1:3], 1))
        per_element = rstd * (-1.0 / max(shape[2] * shape[3], 1))
        slope, shift = (
            per_element * reshaped(_sum(weights * one, (2, 3)), (*shape[:2], 1, 1)) for one in (products, sums)
        )
        table = _coefficients(channels, x, mean, slope * rstd, layout_of(rstd * weights, channels), shift)
        own = reshaped(_apply("backward", table, gradients, grouped), x._shape)
    return own, of_weight, of_bias
