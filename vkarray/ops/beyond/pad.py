"""Padding, as `numpy.pad` has it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core import dtypes, promotion
from ...core.array import VkArray, available, empty
from ...core.dtypes import CATEGORIES
from ...kernels import launch
from ...kernels.planned import planned
from ...kernels.rows import cast, check_array
from .. import creation
from ..elementwise import clip, floor, minimum, remainder
from ..indexing import take


def _reflected(place: VkArray, length: int) -> VkArray:
    if length == 1:
        return clip(place, 0, 0)
    inside = remainder(place, 2 * length - 2)
    return minimum(inside, 2 * length - 2 - inside)


def _mirrored(place: VkArray, length: int) -> VkArray:
    inside = remainder(place, 2 * length)
    return minimum(inside, 2 * length - 1 - inside)


# For the modes that repeat elements: the place of the element that stands at a place outside of the array.
_PLACES: dict[str, Callable[[VkArray, int], VkArray]] = {
    "edge": lambda place, length: clip(place, 0, length - 1),
    "reflect": _reflected,
    "symmetric": _mirrored,
    "wrap": lambda place, length: remainder(place, length),
}
_RAMPED_IN_FLOAT32 = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.complex64)
_MODES = ("constant", "empty", "linear_ramp", *_PLACES)


@planned
def pad(
    x: VkArray, /, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0, end_values: Any = 0
) -> VkArray:  # fmt: skip
    """x with elements added before and after it along each dimension.

    Parameters: x (any dtype); pad_width (how many: an integer, a pair (before, after), or a pair for each dimension); mode:
    "constant" (`constant_values`), "edge" (the outermost element), "reflect" (mirrored at the outermost element),
    "symmetric" (mirrored at the edge), "wrap" (continued from the other end), "linear_ramp" (from the outermost element to
    `end_values` in even steps, rounded down to integers), "empty" (undefined). `constant_values` and `end_values` are given
    like pad_width.
    Returns an array of the dtype of x. Dimensions are padded one after the other, so the last one fills the corners.
    Raises ValueError for another mode, for numbers that do not fit the dimensions or are negative, and for repeating
    elements of an empty dimension; TypeError for what is not an array and for values of another kind than the dtype's.
    """
    check_array("pad", x)
    if mode not in _MODES:
        raise ValueError(f"pad: expected mode {', '.join(_MODES)}, got {mode!r}.")
    widths = [creation.as_shape(pair, "pad", "pad_width") for pair in _pairs("pad_width", pad_width, x.ndim)]
    if mode == "linear_ramp":
        promotion.check_category("pad", x._dtype, "numeric")
    if mode in _PLACES:
        return _repeated(x, widths, mode)
    shape = tuple(length + sum(pair) for length, pair in zip(x._shape, widths, strict=True))
    result = empty(shape, x._dtype, x._device)
    inner = [slice(before, before + length) for (before, _), length in zip(widths, x._shape, strict=True)]
    launch.elementwise(launch.copy_operation(x._dtype), (x,), result[tuple(inner)])
    if mode != "empty":
        name, given = ("constant_values", constant_values) if mode == "constant" else ("end_values", end_values)
        values = _pairs(name, given, x.ndim)
        for axis in range(x.ndim):
            # What is padded already, and of the dimensions to come the array itself.
            part = result[(slice(None),) * (axis + 1) + tuple(inner[axis + 1 :])]
            _fill_sides(part, axis, widths[axis], values[axis], mode == "linear_ramp")
    return result


def _pairs(name: str, value: Any, rank: int) -> list[tuple[Any, Any]]:
    """A pair for each dimension from one value, one pair, or a value or a pair for each dimension."""
    rows = value if isinstance(value, (tuple, list)) else (value,)
    if not any(isinstance(row, (tuple, list)) for row in rows):
        rows = (rows,)
    if all(isinstance(row, (tuple, list)) and len(row) in (1, 2) for row in rows) and len(rows) in (1, rank):
        pairs = [(row[0], row[-1]) for row in rows]
        return pairs * rank if len(pairs) == 1 else pairs
    raise ValueError(
        f"pad: expected {name} as one value, a pair, or a pair for each of {rank} dimensions, got {value!r}."
    )


def _repeated(x: VkArray, widths: Sequence[tuple[int, ...]], mode: str) -> VkArray:
    for axis, (before, after) in enumerate(widths):
        length = x._shape[axis]
        if before + after == 0:
            continue
        if length == 0:
            raise ValueError(f"pad: mode {mode!r} repeats elements, but dimension {axis} of shape {x._shape} has none.")
        places = creation.arange(-before, length + after, device=x._device)
        x = take(x, _PLACES[mode](places, length), axis=axis)
    return launch.copy(x) if not any(map(sum, widths)) else x


def _fill_sides(x: VkArray, axis: int, widths: tuple[int, ...], values: tuple[Any, Any], ramp: bool) -> None:
    """Write to the first and last elements along an axis: a value, or a ramp to it from the element next to them."""
    first, last = widths[0], x._shape[axis] - widths[1]
    sides = [(slice(0, first), slice(first, first + 1), False), (slice(last, None), slice(last - 1, last), True)]
    for (side, edge, after), width, value in zip(sides, widths, values, strict=True):
        if width == 0:
            continue
        before = (slice(None),) * axis
        if not ramp or first == last:
            given = type(value) is VkArray
            x[(*before, side)] = value if given else creation.filled("pad", (), value, x._dtype, x._device)
            continue
        # As numpy.linspace from the end value on: steps of the difference.
        wide = dtypes.float32 if x._dtype in _RAMPED_IN_FLOAT32 else available(dtypes.float64, x._device)
        numbers = creation.arange(width, dtype=wide, device=x._device)
        numbers = (numbers[::-1] if after else numbers)[(slice(None),) + (None,) * (x.ndim - axis - 1)]
        edges = cast(x[(*before, edge)], wide if x._dtype in CATEGORIES["integer"] else x._dtype)
        numbers = value + (edges - value) / width * numbers
        x[(*before, side)] = cast(floor(numbers), x._dtype) if x._dtype in CATEGORIES["integer"] else numbers
