"""Arrays at other places: interpolation to another size, padding by reflection and replication, and their gradients."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .. import device_caches
from ..core import layout, promotion
from ..core.array import VkArray, check_supported, empty, is_supported
from ..core.dtypes import CATEGORIES, DTYPES, DType
from ..errors import FeatureError
from ..kernels import launch
from ..kernels.conversion import cast
from ..kernels.dispatch import number
from ..kernels.planned import kept, recordable
from ..kernels.reductions import partial_dtype
from ..kernels.rows import check_array
from ..ops import creation
from ..ops.elementwise import abs as absolute
from ..ops.elementwise import clip, minimum
from ..ops.indexing import take
from ..ops.linear_algebra import matmul
from ..shaders.source import Variant
from .windows import Windows, batches, five, numbers, taken, triple

if TYPE_CHECKING:
    from ..kernels.launch import Device

# Turns of the loops of an invocation on a CPU driver: llvmpipe ends them after 65,535.
_LONGEST = 60_000
# The numbers of `glsl/lib/resample.glsl`.
METHODS = {"nearest": 0, "nearest-exact": 1, "linear": 2, "cubic": 3}
PADDINGS = {"reflect": 4, "replicate": 5}


# -- variants ---------------------------------------------------------------------------------------------------------


@device_caches.cache
def _variant(template: str, method: str, dtype: DType, device: Device) -> Variant:
    defines = (*launch.operand_defines("A", dtype), *launch.compute_defines(dtype))
    defines += (*launch.feature_defines((dtype,), device), ("METHOD", str((METHODS | PADDINGS)[method])))
    return Variant(template, defines, f"{template.removeprefix('nn/')} {method} {dtype}")


def variants(device: Device) -> Iterator[Variant]:
    """The shaders of all types and methods, for the archive."""
    for dtype, method in itertools.product(DTYPES.values(), (*METHODS, *PADDINGS)):
        if dtype in CATEGORIES["real floating"] and is_supported(dtype, device):
            yield _variant("nn/resample", method, dtype, device)
            yield _variant("nn/resample_backward", method, dtype, device)


# -- kernels ----------------------------------------------------------------------------------------------------------


def _run(
    function: str, template: str, method: str, source: VkArray, shape: tuple[int, ...], windows: Windows,
    scales: Sequence[float], aligned: bool,
) -> VkArray:  # fmt: skip
    result = empty(shape, source._dtype, source._device)
    if result.size:
        device = source._device
        if device.limits.is_cpu and template.endswith("backward") and _turns(windows) > _LONGEST:
            raise FeatureError(
                f"{function}: on this device {windows.output} places are too many for {windows.input}. Choose another device."
            )
        variant = _variant(template, method, source._dtype, device)
        steps = tuple(number(scale, source._dtype) for scale in triple_of(scales, 1.0))
        for one, target in batches(function, (launch.forward(five(source)), five(result))):
            fields = {
                "a": one,
                "r": target,
                "words": (*windows.words, *taken(one)),
                "scales": steps,
                "count": target.size,
                "channels": target._shape[1],
            }
            groups = launch.groups_for(target.size, device.limits)
            launch.dispatch(variant, device, groups, fields, writes=("r",), constants=((1, int(aligned)),))
    return result


def _turns(windows: Windows) -> int:
    """About how many places may have taken from one element, at the edges."""
    ratios = zip(windows.input, windows.output, windows.padding, strict=True)
    depth, height, width = (min(m, max(6 * -(-m // n), abs(pad), abs(m - n - pad)) + 4) for n, m, pad in ratios)
    return depth * (1 + height * (1 + width))


def triple_of(scales: Sequence[float], missing: float) -> tuple[float, ...]:
    """One to three scales as those of depth, height and width."""
    return (*(missing,) * (3 - len(scales)), *scales)


def _checked(function: str, x: Any, category: str = "real floating") -> int:
    check_array(function, x)
    promotion.check_category(function, x._dtype, category)
    check_supported(x._dtype, x._device, function)
    if x.ndim not in (3, 4, 5) or 0 in x._shape[2:]:
        raise ValueError(
            f"{function}: expected x of shape (N, C, L1, ...) with 1 to 3 lengths from 1 on, got {x._shape}."
        )
    return x.ndim - 2


# -- interpolation ----------------------------------------------------------------------------------------------------


def _interpolation(
    function: str, size: tuple[int, ...], output_size: Any, method: str, align_corners: bool, scales: Any, still: bool
) -> tuple[Windows, list[float], bool]:
    if method not in METHODS:
        raise ValueError(f"{function}: expected method {', '.join(METHODS)}, got {method!r}.")
    rank = len(size)
    output = numbers(function, "output_size", output_size, rank, 1)
    if align_corners and METHODS[method] < METHODS["linear"]:
        raise ValueError(f"{function}: align_corners is for linear and cubic interpolation, got it with {method!r}.")
    given = (None,) * rank if scales is None else tuple(scales)
    if len(given) != rank:
        raise ValueError(f"{function}: expected {rank} scales, got {scales!r:.60}.")
    steps = []
    for n, m, scale in zip(size, output, given, strict=True):
        if align_corners:
            steps.append((n - 1) / (m - 1) if m > 1 else 0.0)
        else:
            known = _known(n, m, scale, still)
            steps.append(n / m if known is None else 1 / known)
    return Windows(triple(size, 1), triple(output, 1), (1, 1, 1)), steps, bool(align_corners)


def _known(n: int, m: int, scale: float | None, still: bool) -> float | None:
    """The scale, where it is not the lengths that say how far apart elements are."""
    return None if scale is None or scale <= 0 or (still and n == m) else scale


@recordable
def interpolate(
    x: VkArray, /, output_size: Any, method: str = "nearest", *, align_corners: bool = False,
    scales: Sequence[float | None] | None = None, still: bool = False,
) -> VkArray:  # fmt: skip
    """x at as many places as asked for.

    Parameters: x (real floating) of shape (N, C, L1, ...) with 1 to 3 lengths; output_size: an integer, or one for each length;
    method: "nearest" (the element below o * L / M, M the new length), "nearest-exact" (below (o + 0.5) L / M), "linear",
    "cubic" (Keys 1981, a = -0.75); align_corners (the outermost elements keep their places; else the edges do); scales (M / L
    for each length, where they are not exactly that; None: as the lengths say); still (a length that stays has no scale).
    Returns an array of shape (N, C, M1, ...). Computes in float32 at least.
    Raises TypeError for other types, ValueError for other shapes and methods.
    """
    function = "interpolate"
    _checked(function, x)
    windows, steps, aligned = _interpolation(function, x._shape[2:], output_size, method, align_corners, scales, still)
    shape = (*x._shape[:2], *windows.output[5 - x.ndim :])
    return _run(function, "nn/resample", method, x, shape, windows, steps, aligned)


def interpolate_backward(
    gradient: VkArray, size: Any, method: str = "nearest", *, align_corners: bool = False,
    scales: Sequence[float | None] | None = None, still: bool = False,
) -> VkArray:  # fmt: skip
    """The gradient of `interpolate` with respect to x, given that of its result.

    Parameters: gradient of shape (N, C, M1, ...); size (the lengths L1, ... of x); the others as in `interpolate`.
    Returns an array of shape (N, C, L1, ...). Raises as `interpolate`.
    """
    function = "interpolate_backward"
    rank = _checked(function, gradient)
    lengths = numbers(function, "size", size, rank, 1)
    windows, steps, aligned = _interpolation(
        function, lengths, gradient._shape[2:], method, align_corners, scales, still
    )
    shape = (*gradient._shape[:2], *lengths)
    return _run(function, "nn/resample_backward", method, gradient, shape, windows, steps, aligned)


# -- interpolation of what is made smaller ----------------------------------------------------------------------------


@kept(256)
def _filter(
    length: int, result: int, method: str, align_corners: bool, scale: float | None, dtype: DType, device: Device
) -> VkArray:  # fmt: skip
    """The matrix (result, length) of a filter as wide as the elements of the result are apart; shared between calls.

    Method: that of the library Pillow, a triangle or Keys' cubic with a = -0.5, its weights scaled to the sum 1.
    """
    if align_corners:
        step = (length - 1) / (result - 1) if result > 1 else 0.0
    else:
        step = 1 / scale if scale is not None and scale > 0 else length / result
    wide = max(step, 1.0)
    reach, shape = _FILTERS[method]
    values = []
    for place in range(result):
        center = step * (place + 0.5)
        first = max(int(center - reach * wide + 0.5), 0)
        end = min(int(center + reach * wide + 0.5), length)
        row = [shape(abs((k - center + 0.5) / wide)) if first <= k < end else 0.0 for k in range(length)]
        values.append([weight / (math.fsum(row) or 1.0) for weight in row])
    return creation.asarray(values, dtype=dtype, device=device)


def _cubic(x: float, a: float = -0.5) -> float:
    return ((a + 2) * x - (a + 3)) * x * x + 1 if x < 1 else (((x - 5) * x + 8) * x - 4) * a if x < 2 else 0.0


_FILTERS: dict[str, tuple[int, Callable[[float], float]]] = {
    "linear": (1, lambda x: max(1 - x, 0.0)), "cubic": (2, _cubic),
}  # fmt: skip


@recordable
def filtered(
    x: VkArray, size: Sequence[int], output_size: Sequence[int], method: str, *, align_corners: bool = False,
    scales: Sequence[float | None] = (None, None), transposed: bool = False, still: bool = False,
) -> VkArray:  # fmt: skip
    """x of shape (N, C, H, W) interpolated by a filter as wide as the elements of the result are apart, so that what is made
    smaller does not alias; `transposed`: the gradient, from `output_size` back to `size`.

    Parameters: size, output_size (heights and widths); method: "linear" or "cubic"; align_corners, scales, still as in
    `interpolate`. float16 and bfloat16 are computed in float32. Raises TypeError for other types, ValueError for other shapes.
    """
    function = "filtered"
    _checked(function, x)
    wide = partial_dtype(x._dtype)
    rows, columns = (
        _filter(n, m, method, align_corners, _known(n, m, scale, still), wide, x._device)
        for n, m, scale in zip(size, output_size, scales, strict=True)
    )
    if transposed:
        rows, columns = rows.mT, columns.mT
    if x._shape[2:] != (rows._shape[1], columns._shape[1]):
        raise ValueError(f"{function}: expected lengths {(rows._shape[1], columns._shape[1])}, got shape {x._shape}.")
    return cast(matmul(rows, matmul(cast(x, wide), columns.mT)), x._dtype)


# -- padding ----------------------------------------------------------------------------------------------------------


def _padding(function: str, size: tuple[int, ...], padding: Any, mode: str) -> Windows:
    if mode not in PADDINGS:
        raise ValueError(f"{function}: expected mode {', '.join(PADDINGS)}, got {mode!r}.")
    rank = len(size)
    pairs = [layout.as_integers(pair, function, "padding") for pair in padding]
    if len(pairs) != rank or any(len(pair) != 2 for pair in pairs):
        raise ValueError(f"{function}: expected padding as {rank} pairs (before, after), got {padding!r:.60}.")
    if mode == "reflect" and any(max(pair) >= n for pair, n in zip(pairs, size, strict=True)):
        raise ValueError(f"{function}: expected padding below the lengths to reflect, got {pairs} for {size}.")
    output = tuple(n + sum(pair) for n, pair in zip(size, pairs, strict=True))
    if min(output) < 1:
        raise ValueError(f"{function}: padding of {pairs} leaves nothing of {size}.")
    before = triple([pair[0] for pair in pairs], 0)
    return Windows(triple(size, 1), triple(output, 1), (1, 1, 1), padding=before)


@recordable
def pad_repeated(x: VkArray, /, padding: Sequence[Sequence[int]], mode: str = "reflect") -> VkArray:
    """x with its own elements around it.

    Parameters: x (any dtype) of shape (N, C, L1, ...) with 1 to 3 lengths; padding: a pair (before, after) for each length,
    negative to cut; mode: "reflect" (mirrored at the outermost element, by less than the length) or "replicate" (the
    outermost element).
    Returns an array of shape (N, C, before + L1 + after, ...).
    Raises TypeError for other types, ValueError for other shapes and modes.
    """
    function = "pad_repeated"
    _checked(function, x, "all")
    windows = _padding(function, x._shape[2:], padding, mode)
    if x._dtype not in CATEGORIES["real floating"]:
        for axis, (before, after) in enumerate(padding, 2):
            x = take(x, _places(before, after, x._shape[axis], mode, x._device), axis=axis)
        return x
    shape = (*x._shape[:2], *windows.output[5 - x.ndim :])
    return _run(function, "nn/resample", mode, x, shape, windows, (), False)


def _places(before: int, after: int, length: int, mode: str, device: Device) -> VkArray:
    """The places of the elements that padding repeats."""
    places = creation.arange(-before, length + after, device=device)
    if mode == "reflect":
        places = absolute(places)
        return minimum(places, 2 * length - 2 - places)
    return clip(places, 0, length - 1)


def pad_repeated_backward(
    gradient: VkArray, size: Any, padding: Sequence[Sequence[int]], mode: str = "reflect"
) -> VkArray:
    """The gradient of `pad_repeated` with respect to x, of lengths `size`, given that of its result.

    Raises as `pad_repeated`, and ValueError for a gradient of another shape.
    """
    function = "pad_repeated_backward"
    rank = _checked(function, gradient)
    lengths = numbers(function, "size", size, rank, 1)
    windows = _padding(function, lengths, padding, mode)
    if gradient._shape[2:] != windows.output[5 - gradient.ndim :]:
        raise ValueError(
            f"{function}: expected a gradient of lengths {windows.output[3 - rank :]}, got {gradient._shape}."
        )
    shape = (*gradient._shape[:2], *lengths)
    return _run(function, "nn/resample_backward", mode, gradient, shape, windows, (), False)
