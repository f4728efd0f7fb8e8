"""Windows taken apart into columns and added up again: what turns a convolution into a product of matrices."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .. import device_caches
from ..core import layout, promotion
from ..core.array import VkArray, check_supported, empty, is_supported, storage_itemsize
from ..core.dtypes import CATEGORIES, DTYPES, DType
from ..kernels import launch
from ..kernels.dispatch import pointer
from ..kernels.planned import recordable
from ..kernels.reductions import partial_dtype
from ..kernels.rows import check_array
from ..shaders.source import Variant
from .windows import Windows, batches, five, numbers, side_by_side, taken, triple

if TYPE_CHECKING:
    from ..kernels.launch import Device

_CHANNELS = 8  # that an invocation of unfold moves
_PACK_BYTES = 16
_FEWEST = 32  # invocations of its workgroups, where there are few windows


# -- variants ---------------------------------------------------------------------------------------------------------


@functools.cache
def _unfold_variant(element_bytes: int) -> Variant:
    return Variant("nn/unfold", (("ELEMENT_BYTES", str(element_bytes)),), f"unfold {element_bytes} bytes")


@device_caches.cache
def _fold_variant(source: DType, target: DType, device: Device) -> Variant:
    defines = (*launch.operand_defines("A", source), *launch.operand_defines("R", target))
    defines += launch.compute_defines(target) + launch.feature_defines((source, target), device)
    return Variant("nn/fold", defines, f"fold {source} to {target}")


def variants(device: Device) -> Iterator[Variant]:
    """The shaders of all types, for the archive."""
    for dtype in DTYPES.values():
        yield _unfold_variant(storage_itemsize(dtype, device))
        if dtype in CATEGORIES["real numeric"] and is_supported(dtype, device):
            yield _fold_variant(dtype, dtype, device)
            yield _fold_variant(partial_dtype(dtype), dtype, device)


# -- kernels ----------------------------------------------------------------------------------------------------------


def unfold_into(x: VkArray, windows: Windows, columns: VkArray) -> None:
    """columns[n, c, tap, o] = the element of x (5 dimensions) under a tap of window o; the caller cuts the batch."""
    device = x._device
    source = side_by_side(x, windows)
    packed = _in_packs(columns)
    turns = -(-windows.outputs // (_PACK_BYTES // storage_itemsize(x._dtype, device))) if packed else windows.outputs
    size = max(_FEWEST, min(launch.WORKGROUP_SIZE, 1 << (turns - 1).bit_length()))
    groups = -(-turns // launch.invocations_of_group(device.limits, size))
    n, channels = x._shape[:2]
    count = n * -(-channels // _CHANNELS) * windows.taps * groups
    words = (*windows.words, *taken(source))
    fields = {
        "source": source,
        "columns": columns,
        "words": words,
        "count": count,
        "channels": channels,
        "windows": windows.outputs,
        "groups": groups,
        "steps": taken(columns),
    }
    launch.dispatch(
        _unfold_variant(storage_itemsize(x._dtype, device)), device, launch.groups_for(count, device.limits, 1), fields,
        writes=("columns",), workgroup_size=size, constants=((1, _CHANNELS), (2, int(packed))),
    )  # fmt: skip


def _in_packs(columns: VkArray) -> bool:
    """Whether the columns of neighbouring windows may be stored 16 bytes at a time, up to the end of a pack."""
    per_pack = _PACK_BYTES // storage_itemsize(columns._dtype, columns._device)
    *outer, step = taken(columns)
    whole = any(outer) or columns._shape[-1] % per_pack == 0
    aligned = pointer(columns).is_aligned(_PACK_BYTES) and not any(stride % per_pack for stride in outer)
    return whole and step == 1 and aligned


def fold_into(columns: VkArray, windows: Windows, bias: VkArray | None, result: VkArray) -> None:
    """result[n, c, i] (5 dimensions) = bias[c] + the sum of columns[n, c, tap, o] where that is place i."""
    device = result._device
    words = (*windows.words, *taken(result))
    count = math.prod(result._shape)
    fields = {
        "columns": columns,
        "bias": 0 if bias is None else bias,
        "r": result,
        "words": words,
        "count": count,
        "channels": result._shape[1],
        "bias_step": 0 if bias is None else taken(bias)[0],
        "steps": taken(columns),
    }
    launch.dispatch(
        _fold_variant(columns._dtype, result._dtype, device), device, launch.groups_for(count, device.limits), fields,
        writes=("r",), constants=((1, int(bias is not None)),),
    )  # fmt: skip


# -- functions --------------------------------------------------------------------------------------------------------


def _windows(function: str, size: Sequence[int], kernel_size: Any, stride: Any, padding: Any, dilation: Any) -> Windows:
    rank = len(size)
    kernel = numbers(function, "kernel_size", kernel_size, rank, 1)
    steps = numbers(function, "stride", stride, rank, 1)
    pads = numbers(function, "padding", padding, rank, 0)
    apart = numbers(function, "dilation", dilation, rank, 1)
    output = tuple(
        (length + 2 * pad - gap * (taps - 1) - 1) // step + 1
        for length, taps, step, pad, gap in zip(size, kernel, steps, pads, apart, strict=True)
    )
    if min(output) < 1:
        raise ValueError(
            f"{function}: windows of {kernel} with dilation {apart} do not fit into {tuple(size)} with padding {pads}."
        )
    return Windows(*map(triple, (size, output, kernel, steps, pads, apart), (1, 1, 1, 1, 0, 1)))


@recordable
def unfold(x: VkArray, /, kernel_size: Any, *, stride: Any = 1, padding: Any = 0, dilation: Any = 1) -> VkArray:
    """The elements under every window, as columns.

    Parameters: x (any dtype) of shape (N, C, L1, ...) with 1 to 3 dimensions that windows slide over; kernel_size, stride,
    padding (zeros on both sides), dilation (integers, or one for each of these dimensions).
    Returns an array of shape (N, C * taps, windows): taps of a window and windows in C order, as `torch.nn.Unfold`.
    Raises TypeError for other types, ValueError for other shapes and for windows that do not fit.
    """
    _check("unfold", x, (3, 4, 5), "all")
    windows = _windows("unfold", x._shape[2:], kernel_size, stride, padding, dilation)
    n, channels = x._shape[:2]
    result = empty((n, channels, windows.taps, windows.outputs), x._dtype, x._device)
    if result.size:
        for source, columns in batches("unfold", (five(x), result)):
            unfold_into(source, windows, columns)
    return result._view((n, channels * windows.taps, windows.outputs), (result._strides[0], windows.outputs, 1))


@recordable
def fold(
    x: VkArray, /, output_size: Any, kernel_size: Any, *, stride: Any = 1, padding: Any = 0, dilation: Any = 1
) -> VkArray:
    """The sums of what `unfold` put into columns, at the places that it came from; the gradient of `unfold`.

    Parameters: x (real floating) of shape (N, C * taps, windows); output_size (of the dimensions that windows slide over, 1 to
    3 integers); kernel_size, stride, padding, dilation as in `unfold`.
    Returns an array of shape (N, C, *output_size). Each element is summed in float32 at least, in the order of the taps.
    Raises TypeError for other types, ValueError for other shapes and for windows that do not fit.
    """
    _check("fold", x, (3,), "real floating")
    size = output_size if isinstance(output_size, (tuple, list)) else (output_size,)
    size = numbers("fold", "output_size", size, len(size), 1)
    windows = _windows("fold", size, kernel_size, stride, padding, dilation)
    n, rows, outputs = x._shape
    if rows % windows.taps or outputs != windows.outputs:
        raise ValueError(
            f"fold: expected x of shape (N, C * {windows.taps}, {windows.outputs}) for these windows, got {x._shape}."
        )
    channels = rows // windows.taps
    result = empty((n, channels, *size), x._dtype, x._device)
    if result.size:
        x = launch.forward(x)
        steps = (x._strides[0], windows.taps * x._strides[1], *x._strides[1:])
        columns = x._view((n, channels, windows.taps, outputs), steps)
        for source, target in batches("fold", (columns, five(result))):
            fold_into(source, windows, None, target)
    return result


@recordable
def pad_with_zeros(x: VkArray, pads: Sequence[tuple[int, int]], /) -> VkArray:
    """The array with so many zeros before and after the elements along its last dimensions; below 0, so many less.

    Parameters: x (any dtype) of shape (N, C, L1, ...); pads, a pair for each of its 1 to 3 last dimensions.
    Returns a new array. Raises TypeError for other types, ValueError for other shapes and a result without elements.
    """
    _check("pad_with_zeros", x, (3, 4, 5), "all")
    size = tuple(length + sum(pair) for length, pair in zip(x._shape[2:], pads, strict=True))
    result = empty((*x._shape[:2], *size), x._dtype, x._device)
    if min(x._shape) < 1 or min(size) < 1:
        raise ValueError(f"pad_with_zeros: nothing of an array of shape {x._shape} is left with {list(pads)}.")
    first = triple([pair[0] for pair in pads], 0)
    windows = Windows(triple(x._shape[2:], 1), triple(size, 1), (1, 1, 1), padding=first)
    for source, target in batches("pad_with_zeros", (five(x), result)):
        shape = (*target._shape[:2], 1, windows.outputs)
        unfold_into(source, windows, target._view(shape, layout.contiguous_strides(shape)))
    return result


def _check(function: str, x: Any, ranks: tuple[int, ...], category: str) -> None:
    check_array(function, x)
    promotion.check_category(function, x._dtype, category)
    check_supported(x._dtype, x._device, function)
    if x.ndim not in ranks:
        expected = " or ".join(map(str, ranks))
        raise ValueError(f"{function}: expected x of {expected} dimensions, got shape {x._shape}.")
