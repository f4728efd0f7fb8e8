"""Padding, as `numpy.pad` has it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from ...core import dtypes, layout, promotion
from ...core.array import ArrayLike, VkArray, available, empty
from ...core.dtypes import CATEGORIES
from ...kernels import launch
from ...kernels.conversion import cast
from ...kernels.planned import planned, refuse
from ...kernels.rows import check_array
from .. import creation
from ..elementwise import clip, floor, minimum, remainder
from ..indexing import take
from ..manipulation import concat, flip, moveaxis
from ..searching import where
from ..statistical import max as largest
from ..statistical import mean
from ..statistical import min as smallest
from .ndarray import around
from .quantile import median


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
_STATISTICS: dict[str, Callable[..., VkArray]] = {
    "maximum": largest,
    "minimum": smallest,
    "mean": mean,
    "median": median,
}
# What each mode may be given besides.
_OPTIONS = {
    "constant": "constant_values", "empty": None, "linear_ramp": "end_values", "edge": None, "reflect": "reflect_type",
    "symmetric": "reflect_type", "wrap": None, **dict.fromkeys(_STATISTICS, "stat_length"),
}  # fmt: skip


@planned
def pad(array: ArrayLike, pad_width: Any, mode: Any = "constant", **options: Any) -> VkArray:
    """An array with elements added before and after it along each dimension.

    Parameters: array (any dtype); pad_width (how many: an integer, a pair (before, after), a pair for each dimension, or a
    dictionary of these by dimension); mode: "constant" (`constant_values`, 0 by default), "edge" (the outermost element),
    "reflect" (mirrored at the outermost element), "symmetric" (mirrored at the edge), both with their differences from the
    outermost element turned round for reflect_type="odd", "wrap" (continued from the other end), "linear_ramp" (from the
    outermost element to `end_values`, 0 by default, in even steps, rounded down to integers), "maximum", "mean", "median" and
    "minimum" (of the outermost `stat_length` elements, of all by default), "empty" (undefined), or a function that is called
    with each row, its pair of pad_width, the dimension and the other options, and writes to the row. `constant_values`,
    `end_values` and `stat_length` are given like pad_width.
    Returns an array of the same dtype. Dimensions are padded one after the other, so the last one fills the corners.
    Raises ValueError for another mode, for options that a mode does not have, for numbers that do not fit the dimensions or are
    negative, and for repeating elements of an empty dimension; TypeError for what is not an array and for values of another kind
    than the dtype's.
    """
    x = array
    check_array("pad", x)
    widths = [_counts("pad_width", pair) for pair in _width_pairs(pad_width, x.ndim)]
    if callable(mode):
        return _by_function(x, widths, mode, options)
    if mode not in _OPTIONS:
        raise ValueError(f"pad: mode {mode!r} is not supported; expected {', '.join(_OPTIONS)}.")
    if options.keys() - {_OPTIONS[mode]}:
        raise ValueError(
            f"pad: unsupported keyword arguments for mode {mode!r}: expected {_OPTIONS[mode] or 'none'}, got "
            f"{', '.join(sorted(options))}."
        )
    if mode == "linear_ramp":
        promotion.check_category("pad", x._dtype, "numeric")
    empty_axes = [axis for axis, pair in enumerate(widths) if sum(pair) and not x._shape[axis]]
    if empty_axes and mode not in ("constant", "empty"):
        raise ValueError(
            f"pad: can't extend empty axis {empty_axes[0]} using modes other than 'constant' or 'empty', got {mode!r} for "
            f"shape {x._shape}."
        )
    if mode in _PLACES:
        return _repeated(x, widths, mode, options.get("reflect_type", "even"))
    result, inner = _surrounded(x, widths)
    given = _pairs(str(_OPTIONS[mode]), options.get(str(_OPTIONS[mode]), None if mode in _STATISTICS else 0), x.ndim)
    for axis in range(x.ndim if mode != "empty" else 0):
        # What is padded already, and of the dimensions to come the array itself.
        part = result[(slice(None),) * (axis + 1) + tuple(inner[axis + 1 :])]
        if mode in _STATISTICS:
            _fill_with_statistics(part, axis, widths[axis], given[axis], mode)
        else:
            _fill_sides(part, axis, widths[axis], given[axis], mode == "linear_ramp")
    return result


def _surrounded(x: VkArray, widths: Sequence[tuple[int, ...]]) -> tuple[VkArray, list[slice]]:
    """An array with x in it and room around it, and where x is."""
    shape = tuple(length + sum(pair) for length, pair in zip(x._shape, widths, strict=True))
    result = empty(shape, x._dtype, x._device)
    inner = [slice(before, before + length) for (before, _), length in zip(widths, x._shape, strict=True)]
    launch.elementwise(launch.copy_operation(x._dtype), (x,), result[(..., *inner)])
    return result, inner


def _by_function(
    x: VkArray, widths: Sequence[tuple[int, ...]], function: Callable[..., None], options: dict[str, Any]
) -> VkArray:
    """As NumPy does it: room of zeros, and a call for each row of each dimension."""
    refuse("pad with a function")
    result = creation.zeros([length + sum(pair) for length, pair in zip(x._shape, widths, strict=True)], dtype=x._dtype,
                            device=x._device)  # fmt: skip
    result[tuple(slice(before, before + length) for (before, _), length in zip(widths, x._shape, strict=True))] = x
    for axis, pair in enumerate(widths):
        rows = moveaxis(result, axis, -1)
        for place in itertools.product(*map(range, rows._shape[:-1])):
            function(rows[place], pair, axis, options)
    return result


def _width_pairs(pad_width: Any, rank: int) -> list[tuple[Any, Any]]:
    if type(pad_width) is VkArray:
        pad_width = pad_width.tolist()
    if not isinstance(pad_width, dict):
        return _pairs("pad_width", pad_width, rank)
    chosen = {layout.normalize_axis(axis, rank, "pad"): pair for axis, pair in pad_width.items()}
    return [_pairs("pad_width", chosen.get(axis, 0), 1)[0] for axis in range(rank)]


def _pairs(name: str, value: Any, rank: int) -> list[tuple[Any, Any]]:
    """A pair for each dimension from one value, one pair, or a value or a pair for each dimension."""
    rows = value if isinstance(value, (tuple, list)) else (value,)
    if not any(isinstance(row, (tuple, list)) for row in rows):
        rows = (rows,)
    if all(isinstance(row, (tuple, list)) and len(row) in (1, 2) for row in rows) and len(rows) in (1, rank):
        pairs = [(row[0], row[-1]) for row in rows]
        return pairs * rank if len(pairs) == 1 else pairs
    deep = any(isinstance(one, (tuple, list)) for row in rows if isinstance(row, (tuple, list)) for one in row)
    trouble = "input operand has more dimensions than allowed by the axis remapping" if deep else _TOGETHER
    raise ValueError(
        f"pad: {trouble}: expected {name} as one value, a pair, or a pair for each of {rank} dimensions, got {value!r}."
    )


_TOGETHER = "operands could not be broadcast together"


def _counts(name: str, pair: tuple[Any, Any]) -> tuple[int, int]:
    """How many elements are meant on both sides of a dimension. Raises TypeError for what is no integer, ValueError below 0."""
    before, after = pair
    if not all(hasattr(one, "__index__") and not isinstance(one, bool) for one in pair):
        raise TypeError(f"pad: `{name}` must be of integral type, got {pair!r}.")
    if min(pair) < 0:
        raise ValueError(f"pad: index can't contain negative values; expected {name} of 0 or more, got {pair!r}.")
    return before.__index__(), after.__index__()


def _repeated(x: VkArray, widths: Sequence[tuple[int, ...]], mode: str, reflect_type: str) -> VkArray:
    if reflect_type not in ("even", "odd"):
        raise ValueError(f"pad: expected reflect_type 'even' or 'odd', got {reflect_type!r}.")
    for axis, (before, after) in enumerate(widths):
        length = x._shape[axis]
        if before + after == 0:
            continue
        if reflect_type == "odd" and length > 1:
            sides = [_turned(x, axis, before, mode), x, flip(_turned(flip(x, axis=axis), axis, after, mode), axis=axis)]
            x = concat(sides, axis=axis)
        else:
            places = creation.arange(-before, length + after, device=x._device)
            x = take(x, _PLACES[mode](places, length), axis=axis)
    return launch.copy(x) if not any(map(sum, widths)) else x


def _turned(x: VkArray, axis: int, count: int, mode: str) -> VkArray:
    """The elements before an array that is mirrored in the point of its first element, and so on in that of its last."""
    if x._dtype is dtypes.bool_:
        return cast(_turned(cast(x, dtypes.int8), axis, count, mode), dtypes.bool_)
    length = x._shape[axis]
    reach = length - (mode == "reflect")  # how far the first mirror image goes
    at = (slice(None),) * axis
    first, last = x[(*at, slice(0, 1))], x[(*at, slice(-1, None))]
    places = creation.arange(-count, 0, device=x._device)
    rounds = (places + reach) // (2 * reach)
    values = take(x, _PLACES[mode](places, length), axis=axis)
    column = (slice(None),) + (None,) * (x.ndim - axis - 1)
    values = where((places - rounds * (2 * reach) < 0)[column], 2 * first - values, values)
    return values + cast(2 * rounds, x._dtype)[column] * (last - first) if count > reach else values


def _fill_with_statistics(x: VkArray, axis: int, widths: tuple[int, ...], counts: tuple[Any, Any], mode: str) -> None:
    """Write to the first and last elements along an axis what a function makes of those between, or of the nearest of them."""
    length = x._shape[axis] - sum(widths)
    at, end = (slice(None),) * axis, widths[0] + length
    asked = [length if count is None else round(count) for count in counts]
    first, last = _counts("stat_length", (asked[0], asked[1]))
    before, after = min(first, length), min(last, length)
    if length and min(before, after) == 0 and mode in ("maximum", "minimum"):
        raise ValueError(f"pad: stat_length of 0 yields no value for padding in the mode {mode!r}, got {counts!r}.")
    if not sum(widths):
        return
    sides = [
        (slice(0, widths[0]), slice(widths[0], widths[0] + before)),
        (slice(end, None), slice(end - after, end)),
    ]
    found = [_STATISTICS[mode](x[(*at, near)], axis=axis, keepdims=True) for _, near in sides]
    for (side, _), value in zip(sides, found, strict=True):
        x[(*at, side)] = cast(around(value) if x._dtype in CATEGORIES["integer"] else value, x._dtype)


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
