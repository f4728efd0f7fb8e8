"""Pooling over one to three dimensions: averages and largest elements of windows, and their gradients."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .. import device_caches
from ..core import promotion
from ..core.array import VkArray, check_supported, default_dtype, empty, is_supported
from ..core.dtypes import CATEGORIES, DTYPES, DType
from ..core.layout import Shape
from ..errors import FeatureError
from ..kernels import launch
from ..kernels.planned import recordable
from ..kernels.rows import check_array
from ..ops import statistical
from ..shaders.source import Variant
from .windows import Triple, Windows, batches, five, numbers, taken, triple

if TYPE_CHECKING:
    from ..kernels.launch import Device

_LONGEST = 1 << 15  # turns of the loops of an invocation on a CPU driver: llvmpipe ends them after 65,535
_BLOCK = 8  # places that a turn takes


# -- variants ---------------------------------------------------------------------------------------------------------


@device_caches.cache
def _variant(template: str, dtype: DType, maximum: bool, device: Device) -> Variant:
    defines = (*launch.operand_defines("A", dtype), *launch.compute_defines(dtype))
    defines += launch.feature_defines((dtype,), device) + ((("MAXIMUM", "1"),) if maximum else ())
    label = f"{'largest' if maximum else 'average'} of windows{' (gradient)' * template.endswith('backward')} {dtype}"
    return Variant(template, defines, label)


def variants(device: Device) -> Iterator[Variant]:
    """The shaders of all types, for the archive."""
    for dtype, maximum in itertools.product(DTYPES.values(), (False, True)):
        if dtype in CATEGORIES["real numeric"] and is_supported(dtype, device):
            yield _variant("nn/pool", dtype, maximum, device)
            if dtype in CATEGORIES["real floating"]:
                yield _variant("nn/pool_backward", dtype, maximum, device)


# -- kernels ----------------------------------------------------------------------------------------------------------


def _pool(
    function: str, x: VkArray, windows: Windows, indices: VkArray | None, constants: tuple[bool, bool], divisor: int = 0
) -> VkArray:  # fmt: skip
    """The averages of windows or, where there is an array for their places, the largest elements."""
    shape = (*x._shape[:2], *windows.output[5 - x.ndim :])
    result = empty(shape, x._dtype, x._device)
    if result.size:
        variant = _variant("nn/pool", x._dtype, indices is not None, x._device)
        places = result if indices is None else indices
        for one, target, index in batches(function, (launch.forward(five(x)), five(result), five(places))):
            words = (*windows.words, *taken(one))
            _dispatch(variant, one, target, None if indices is None else index, words, divisor, constants)
    return result


def _pool_backward(
    function: str, gradient: VkArray, x: VkArray, windows: Windows, indices: VkArray | None, constants: tuple[bool, bool],
    divisor: int = 0,
) -> VkArray:  # fmt: skip
    expected = (*x._shape[:2], *windows.output[5 - x.ndim :])
    for name, array, dtype in (
        ("a gradient", gradient, x._dtype), ("indices", indices, default_dtype("int", x._device)),
    ):  # fmt: skip
        if array is not None and (check_array(function, array)._shape != expected or array._dtype is not dtype):
            raise ValueError(f"{function}: expected {name} of shape {expected} and dtype {dtype}, got {array!r:.80}.")
    result = empty(x._shape, x._dtype, x._device)
    if result.size:
        variant = _variant("nn/pool_backward", x._dtype, indices is not None, x._device)
        gradient = launch.forward(five(gradient))
        places = gradient if indices is None else launch.forward(five(indices))
        for one, target, index in batches(function, (gradient, five(result), places)):
            words = (*windows.words, *taken(one), *taken(index))
            _dispatch(variant, one, target, None if indices is None else index, words, divisor, constants)
    return result


def _dispatch(
    variant: Variant, source: VkArray, target: VkArray, indices: VkArray | None, words: tuple[int, ...], divisor: int,
    constants: tuple[bool, bool],
) -> None:  # fmt: skip
    device, count = target._device, math.prod(target._shape)
    fields = {
        "a": source,
        "r": target,
        "indices": 0 if indices is None else indices,
        "words": words,
        "count": count,
        "channels": target._shape[1],
        "index_words": 0 if indices is None else indices._dtype.itemsize // 4,
        "divisor": divisor,
    }
    launch.dispatch(
        variant, device, launch.groups_for(count, device.limits), fields,
        writes=("r",) if variant.template == "nn/pool_backward" else ("r", "indices"),
        constants=tuple((number, int(value)) for number, value in enumerate(constants, 1)),
    )  # fmt: skip


# -- windows ----------------------------------------------------------------------------------------------------------


def _checked(function: str, x: Any, category: str) -> int:
    """The number of dimensions that windows slide over."""
    check_array(function, x)
    promotion.check_category(function, x._dtype, category)
    check_supported(x._dtype, x._device, function)
    if x.ndim not in (3, 4, 5):
        raise ValueError(f"{function}: expected x of shape (N, C, L1, ...) with 1 to 3 lengths, got shape {x._shape}.")
    return x.ndim - 2


def pooled_length(length: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> int:
    """How many windows there are along a dimension; with ceil_mode the last may reach beyond the padding, but begins in it."""
    count = (length + 2 * padding - dilation * (kernel - 1) - 1 + (stride - 1) * ceil_mode) // stride + 1
    return count - (ceil_mode and (count - 1) * stride >= length + padding)


def _windows(
    function: str, x: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool, category: str
) -> Windows:
    rank = _checked(function, x, category)
    kernel = numbers(function, "kernel_size", kernel_size, rank, 1)
    steps = kernel if stride is None else numbers(function, "stride", stride, rank, 1)
    pads, apart = numbers(function, "padding", padding, rank, 0), numbers(function, "dilation", dilation, rank, 1)
    return _geometry(function, x._shape[2:], kernel, steps, pads, apart, bool(ceil_mode), x._device)


@device_caches.lru_cache(4096)
def _geometry(
    function: str, size: Shape, kernel: Shape, steps: Shape, pads: Shape, apart: Shape, ceil_mode: bool, device: Device
) -> Windows:  # fmt: skip
    if any(2 * pad > (taps - 1) * gap + 1 for pad, taps, gap in zip(pads, kernel, apart, strict=True)):
        raise ValueError(
            f"{function}: expected padding of at most half of the kernel, got {pads} for {kernel} with dilation {apart}."
        )
    output = tuple(pooled_length(*given, ceil_mode) for given in zip(size, kernel, steps, pads, apart, strict=True))
    if min(output) < 1 or min(size) < 1:
        raise ValueError(f"{function}: windows of {kernel} leave nothing of {size} with padding {pads}.")
    windows = Windows(*map(triple, (size, output, kernel, steps, pads, apart), (1, 1, 1, 1, 0, 1)))
    _check_loops(function, windows.kernel, device)
    return windows


def _adaptive(function: str, x: Any, output_size: Any, category: str) -> Windows:
    rank = _checked(function, x, category)
    size = x._shape[2:]
    if isinstance(output_size, (tuple, list)) and len(output_size) == rank:
        output_size = [own if given is None else given for given, own in zip(output_size, size, strict=True)]
    output = numbers(function, "output_size", output_size, rank, 0)
    if min(size) < 1 or any(a * b >= 1 << 30 for a, b in zip(size, output, strict=True)):
        raise ValueError(f"{function}: expected lengths whose products are in 1 to 2**30 - 1, got {size} to {output}.")
    windows = Windows(triple(size, 1), triple(output, 1), (1, 1, 1))
    _check_loops(function, windows.parts, x._device)
    return windows


def _check_loops(function: str, lengths: Triple, device: Device) -> None:
    depth, height, width = lengths
    if device.limits.is_cpu and depth * (1 + height * (1 + -(-width // _BLOCK))) > _LONGEST:
        raise FeatureError(
            f"{function}: on this device windows of {lengths} places are too large. Choose another device."
        )


# -- functions --------------------------------------------------------------------------------------------------------


@recordable
def max_pool(
    x: VkArray, /, kernel_size: Any, *, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> tuple[VkArray, VkArray]:  # fmt: skip
    """The largest element of every window, and where it is.

    Parameters: x (real numeric) of shape (N, C, L1, ...) with 1 to 3 dimensions that windows slide over; kernel_size, stride
    (default: kernel_size), padding (never the largest; at most half of a window), dilation: an integer or one for each of
    these dimensions; ceil_mode (a last window may reach beyond the padding).
    Returns the elements and their places in the flattened plane of x (in the default integer dtype), both of shape
    (N, C, ...). NaN is larger than all numbers; of equal elements the first counts, of NaN the last.
    Raises TypeError for other types, ValueError for other shapes, too much padding and windows that leave nothing.
    """
    windows = _windows("max_pool", x, kernel_size, stride, padding, dilation, ceil_mode, "real numeric")
    return _largest("max_pool", x, windows, False)


def _largest(function: str, x: VkArray, windows: Windows, adaptive: bool) -> tuple[VkArray, VkArray]:
    shape = (*x._shape[:2], *windows.output[5 - x.ndim :])
    indices = empty(shape, default_dtype("int", x._device), x._device)
    return _pool(function, x, windows, indices, (adaptive, False)), indices


@recordable
def max_pool_backward(
    gradient: VkArray, x: VkArray, indices: VkArray, /, kernel_size: Any, *, stride: Any = None, padding: Any = 0,
    dilation: Any = 1, ceil_mode: bool = False,
) -> VkArray:  # fmt: skip
    """The gradient of `max_pool` with respect to x, given that of its result and the places that it returned.

    Parameters: gradient and indices of the shape of the result; the others as in `max_pool` (of x the shape counts).
    Returns an array of the shape of x. Each element sums its windows in order, in float32 at least.
    Raises as `max_pool`, and ValueError for other shapes.
    """
    function = "max_pool_backward"
    windows = _windows(function, x, kernel_size, stride, padding, dilation, ceil_mode, "real floating")
    return _pool_backward(function, gradient, x, windows, indices, (False, False))


@recordable
def avg_pool(
    x: VkArray, /, kernel_size: Any, *, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> VkArray:  # fmt: skip
    """The average of every window.

    Parameters: x (real numeric; integers are divided towards 0) and the others as in `max_pool`; count_include_pad (zeros of
    the padding count as elements); divisor_override (what all sums are divided by).
    Returns an array of shape (N, C, ...). float16 and bfloat16 are summed in float32.
    Raises as `max_pool`, and ValueError for a divisor of 0.
    """
    windows = _windows("avg_pool", x, kernel_size, stride, padding, 1, ceil_mode, "real numeric")
    divisor = _divisor("avg_pool", divisor_override)
    return _pool("avg_pool", x, windows, None, (False, bool(count_include_pad)), divisor)


def _divisor(function: str, given: int | None) -> int:
    if given == 0:
        raise ValueError(f"{function}: expected another divisor_override than 0.")
    return given or 0


@recordable
def avg_pool_backward(
    gradient: VkArray, x: VkArray, /, kernel_size: Any, *, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> VkArray:  # fmt: skip
    """The gradient of `avg_pool` with respect to x (of which the shape counts), given that of its result.

    Parameters, result and errors as `avg_pool` and `max_pool_backward`.
    """
    function = "avg_pool_backward"
    windows = _windows(function, x, kernel_size, stride, padding, 1, ceil_mode, "real floating")
    divisor = _divisor(function, divisor_override)
    return _pool_backward(function, gradient, x, windows, None, (False, bool(count_include_pad)), divisor)


@recordable
def adaptive_avg_pool(x: VkArray, /, output_size: Any) -> VkArray:
    """The averages of parts of x, as many as asked for: from floor(o L / M) to ceil((o + 1) L / M) for the result's length M.

    Parameters: x (real floating) of shape (N, C, L1, ...); output_size: an integer, or one for each dimension (None: as x).
    Returns an array of shape (N, C, M1, ...). Raises TypeError for other types, ValueError for other shapes.
    """
    windows = _adaptive("adaptive_avg_pool", x, output_size, "real floating")
    if windows.outputs == 1:
        return statistical.mean(x, axis=tuple(range(2, x.ndim)), keepdims=True)
    return _pool("adaptive_avg_pool", x, windows, None, (True, False))


@recordable
def adaptive_avg_pool_backward(gradient: VkArray, x: VkArray, /) -> VkArray:
    """The gradient of `adaptive_avg_pool` with respect to x (of which the shape counts), given that of its result.

    Parameters, result and errors as `max_pool_backward`.
    """
    function = "adaptive_avg_pool_backward"
    windows = _adaptive(function, x, _lengths(function, gradient, x), "real floating")
    return _pool_backward(function, gradient, x, windows, None, (True, False))


@recordable
def adaptive_max_pool(x: VkArray, /, output_size: Any) -> tuple[VkArray, VkArray]:
    """The largest elements of parts of x and their places, as `max_pool` has them; the parts as `adaptive_avg_pool`.

    Parameters: x (real numeric) of shape (N, C, L1, ...); output_size: an integer, or one for each dimension (None: as x).
    Returns two arrays of shape (N, C, M1, ...). Raises TypeError for other types, ValueError for other shapes.
    """
    return _largest("adaptive_max_pool", x, _adaptive("adaptive_max_pool", x, output_size, "real numeric"), True)


def adaptive_max_pool_backward(gradient: VkArray, x: VkArray, indices: VkArray, /) -> VkArray:
    """The gradient of `adaptive_max_pool` with respect to x (of which the shape counts).

    Parameters, result and errors as `max_pool_backward`.
    """
    function = "adaptive_max_pool_backward"
    windows = _adaptive(function, x, _lengths(function, gradient, x), "real floating")
    return _pool_backward(function, gradient, x, windows, indices, (True, False))


def _lengths(function: str, gradient: VkArray, x: VkArray) -> Sequence[int]:
    if check_array(function, gradient).ndim != check_array(function, x).ndim:
        raise ValueError(f"{function}: expected a gradient of {x.ndim} dimensions as x, got shape {gradient._shape}.")
    return gradient._shape[2:]
