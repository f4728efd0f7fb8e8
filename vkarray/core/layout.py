"""Shapes and strides: integers in, integers out. Strides and offsets count elements, never bytes."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..errors import AxisError, counted

Shape = tuple[int, ...]
Strides = tuple[int, ...]

# Shaders index with signed 32-bit integers: offsets from an address stay below the first limit, and `data[index]` below
# the second, 4 GiB of 16-byte elements, for NVIDIA computes an index's offset in bytes in 32 bits.
OFFSET_LIMIT = 2**31 - 2**12
INDEX_LIMIT = 2**28


def index_limit(itemsize: int) -> int:
    """INDEX_LIMIT for elements of `itemsize` bytes: how many of them one dispatch may span."""
    return min(INDEX_LIMIT * 16 // itemsize, OFFSET_LIMIT)


def contiguous_strides(shape: Shape) -> Strides:
    """The strides of a C-contiguous array of `shape`."""
    strides = []
    step = 1
    for length in reversed(shape):
        strides.append(step)
        step *= max(length, 1)
    return tuple(reversed(strides))


def is_contiguous(shape: Shape, strides: Strides) -> bool:
    """Whether the elements lie in C order without gaps (dimensions of length 1 may have any stride)."""
    if 0 in shape:
        return True
    step = 1
    for length, stride in zip(reversed(shape), reversed(strides), strict=True):
        if length != 1:
            if stride != step:
                return False
            step *= length
    return True


def broadcast_shapes(shapes: Sequence[Shape], function: str) -> Shape:
    """The shape that all `shapes` broadcast to (standard, "Broadcasting"). Raises ValueError naming `function`."""
    rank = max(map(len, shapes))
    result = [1] * rank
    for shape in shapes:
        for axis, length in enumerate(shape, rank - len(shape)):
            if length != 1:
                if result[axis] not in (1, length):
                    listed = " and ".join(map(str, shapes))
                    raise ValueError(
                        f"{function}: shapes {listed} could not be broadcast together: the lengths {result[axis]} and "
                        f"{length} differ in dimension {axis - rank} and neither is 1. Reshape or slice one of the operands."
                    )
                result[axis] = length
    return tuple(result)


def broadcast_strides(shape: Shape, strides: Strides, target: Shape) -> Strides:
    """Strides that read an array of `shape` as one of shape `target` (0 along broadcast dimensions)."""
    extra = len(target) - len(shape)
    own = (
        0 if length == 1 and wanted != 1 else stride
        for length, stride, wanted in zip(shape, strides, target[extra:], strict=True)
    )
    return (0,) * extra + tuple(own)


def collapse(shape: Shape, operands: Sequence[Strides]) -> tuple[Shape, list[Strides]]:
    """Merge adjacent dimensions that every operand walks as one, and drop those of length 1.

    The method is MLX's `collapse_contiguous_dims`: dimension d joins d + 1 when, for each operand,
    stride[d] == stride[d + 1] * shape[d + 1].
    """
    lengths: list[int] = []
    columns: list[list[int]] = []
    for axis, length in enumerate(shape):
        if length == 1:
            continue
        column = [strides[axis] for strides in operands]
        if lengths and all(before == after * length for before, after in zip(columns[-1], column, strict=True)):
            lengths[-1] *= length
            columns[-1] = column
        else:
            lengths.append(length)
            columns.append(column)
    if not lengths:
        return (1,), [(0,)] * len(operands)
    return tuple(lengths), [tuple(column[k] for column in columns) for k in range(len(operands))]


def reshaped_strides(shape: Shape, strides: Strides, target: Shape) -> Strides | None:
    """The strides that view the elements in C order with shape `target`, or None when only a copy has it.

    Runs of old and new dimensions with equal products are matched from the front; within a run the old dimensions
    must be walkable as one.
    """
    if math.prod(shape) == 0:
        return contiguous_strides(target)
    kept = [(length, stride) for length, stride in zip(shape, strides, strict=True) if length != 1]
    result: list[int] = []
    old = new = 0
    while new < len(target):
        # Gather the shortest runs of old and new dimensions with the same number of elements.
        old_count = new_count = 1
        start, first = old, new
        while new < len(target) and (new == first or new_count != old_count):
            if new_count <= old_count:
                new_count *= target[new]
                new += 1
            else:
                old_count *= kept[old][0]
                old += 1
            while old < len(kept) and old_count < new_count:
                old_count *= kept[old][0]
                old += 1
        for (_, before), (length, after) in itertools.pairwise(kept[start:old]):
            if before != after * length:
                return None
        step = kept[old - 1][1] if old > start else 1
        run = []
        for length in reversed(target[first:new]):
            run.append(step)
            step *= length
        result += reversed(run)
    return tuple(result)


def offset_range(shape: Shape, strides: Strides) -> tuple[int, int]:
    """The smallest and the largest offset (relative to the first element) that a view touches; (0, -1) when empty."""
    low = high = 0
    for length, stride in zip(shape, strides, strict=True):
        if length == 0:
            return 0, -1
        if stride < 0:
            low += stride * (length - 1)
        else:
            high += stride * (length - 1)
    return low, high


class Box(NamedTuple):
    """Which elements an array has of its memory."""

    offset: int
    shape: Shape
    strides: Strides
    itemsize: int


def apart(one: Box, other: Box) -> bool:
    """Whether two parts of an array are known to have no element in common.

    Places are written as digits of the strides of both, from the largest one on. Where nothing that follows makes up for another
    digit, equal places have equal ones: the parts are apart if none of their digits are equal.
    """
    boxes = (one, other)
    lengths = [{step: n for step, n in zip(box.strides, box.shape, strict=True) if n > 1} for box in boxes]
    axes = sum(n > 1 for n in (*one.shape, *other.shape))
    steps = sorted({1, *lengths[0], *lengths[1]}, reverse=True)
    if one.itemsize != other.itemsize or steps[-1] <= 0 or axes != sum(map(len, lengths)):
        return False
    rests = [box.offset for box in boxes]  # what follows: from so much on,
    spans = [sum(step * (n - 1) for step, n in own.items()) for own in lengths]  # so much further
    for step in steps:
        digits = []
        for k, own in enumerate(lengths):
            first, rests[k] = divmod(rests[k], step)
            last = first + own.get(step, 1) - 1
            spans[k] -= step * (last - first)
            digits.append((first, last))
        (first, last), (other_first, other_last) = digits
        if max(rests[0] + spans[0] - rests[1], rests[1] + spans[1] - rests[0]) >= step:
            return False
        if last < other_first or other_last < first:
            return True
    return False


def has_internal_overlap(shape: Shape, strides: Strides) -> bool:
    """Whether two indices may share an element (sufficient test: sorted strides must each exceed the extent below)."""
    if 0 in shape:
        return False
    extent = 0
    for stride, length in sorted((abs(stride), length) for stride, length in zip(strides, shape, strict=True)):
        if length > 1:
            if stride <= extent:
                return True
            extent += stride * (length - 1)
    return False


def taken_strides(shape: Shape, operands: Sequence[Strides]) -> list[Strides]:
    """The strides with 0 where the length is 1: no step is taken there, and it may be longer than 32 bits hold."""
    if 1 not in shape:
        return list(operands)
    return [
        tuple(0 if length == 1 else stride for length, stride in zip(shape, strides, strict=True))
        for strides in operands
    ]


def index_slices(
    shape: Shape, operands: Sequence[Strides], limit: int = INDEX_LIMIT
) -> Iterator[tuple[Shape, list[Strides], list[int]]]:
    """Split an iteration space until 32-bit indices reach every element of every operand.

    Yields (shape of the part, strides and offset of its first element in each operand). Most calls yield the whole space.
    """
    count = math.prod(shape)
    reach = max((high - low for low, high in (offset_range(shape, strides) for strides in operands)), default=0)
    if count <= limit and reach < limit:
        yield shape, taken_strides(shape, operands), [0] * len(operands)
        return
    # Halve the dimension whose stride reaches farthest: that shrinks both the count and the reach.
    axis = max(
        (axis for axis, length in enumerate(shape) if length > 1),
        key=lambda axis: (shape[axis] - 1) * max(1, *(abs(strides[axis]) for strides in operands)),
    )
    half = shape[axis] // 2
    for start, length in ((0, half), (half, shape[axis] - half)):
        part = (*shape[:axis], length, *shape[axis + 1 :])
        for inner, taken, offsets in index_slices(part, operands, limit):
            moved = [offset + start * strides[axis] for offset, strides in zip(offsets, operands, strict=True)]
            yield inner, taken, moved


def as_integer(value: Any, function: str, name: str) -> int:
    """The parameter `name` as a Python integer. Raises TypeError for what is none, such as 1.0."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"{function}: expected an integer as {name}, got {value!r:.60}.{integer_remedy(value)}"
        ) from None


def integer_remedy(value: Any) -> str:
    """What to write in place of numbers with a point, such as n / 2."""
    fractional = isinstance(value, float) or getattr(getattr(value, "dtype", None), "kind", "") == "f"
    return " Divide with //, or convert it with int." if fractional else ""


def as_order(function: str, order: str | None, words: str = "CFAK") -> str:
    """ "C" or "F" for NumPy's words of an order of elements, of which None is one. Raises TypeError and ValueError for others."""
    if order is not None and not isinstance(order, str):
        raise TypeError(f"{function}: expected a text as order, got {order!r:.60}.")
    if order is not None and (len(order) != 1 or order.upper() not in words):
        raise ValueError(f"{function}: expected order {', '.join(map(repr, words))}, got {order!r:.60}.")
    return "F" if order in ("F", "f") else "C"


def as_lengths(values: Any, function: str, name: str = "shape") -> tuple[int, ...]:
    """`as_integers` of lengths, of which bools are none, as in NumPy."""
    if type(values) is bool or (isinstance(values, (tuple, list)) and bool in map(type, values)):
        raise TypeError(f"{function}: expected an integer or a sequence of integers as {name}, got {values!r:.60}.")
    return as_integers(values, function, name)


def as_integers(values: Any, function: str, name: str) -> tuple[int, ...]:
    """The parameter `name`, an integer or a sequence or an array of them, as Python integers. Raises TypeError."""
    listed = values.tolist() if hasattr(values, "tolist") else values
    try:
        return tuple(map(operator.index, listed if isinstance(listed, (tuple, list, range)) else (listed,)))
    except TypeError:
        raise TypeError(
            f"{function}: expected an integer or a sequence of integers as {name}, got {values!r:.60}."
            f"{integer_remedy(values)}"
        ) from None


def normalize_axis(axis: int, rank: int, function: str) -> int:
    """`axis` counted from the front. Raises AxisError when it is outside [-rank, rank), TypeError when no integer."""
    index = as_integer(axis, function, "axis")
    if not -rank <= index < rank:
        raise AxisError(
            f"{function}: axis {index} is out of range for an array of {counted(rank, 'dimension')}; "
            f"expected {f'-{rank} to {rank - 1}' if rank else 'no axis'}."
        )
    return index % rank


def normalize_axes(axes: int | Sequence[int] | None, rank: int, function: str, name: str = "axis") -> tuple[int, ...]:
    """Axes counted from the front, in the order given; all of them for None. Raises ValueError for a repeated axis."""
    if axes is None:
        return tuple(range(rank))
    listed = as_integers(axes, function, name)
    result = tuple(normalize_axis(axis, rank, function) for axis in listed)
    if len(set(result)) != len(result):
        raise ValueError(f"{function}: axis {listed} names a dimension twice.")
    return result


def sort_by_stride(shape: Shape, strides: Strides, *others: Strides) -> tuple[Shape, Strides, list[Strides]]:
    """The dimensions in the order of their strides, largest first (equal ones keep their order); `others` follow."""
    order = sorted(range(len(shape)), key=lambda axis: -abs(strides[axis]))
    picked = [tuple(values[axis] for axis in order) for values in (shape, strides, *others)]
    return picked[0], picked[1], picked[2:]


def row_slices(
    shape: Shape, operands: Sequence[Strides], length: int, steps: Sequence[int], chunk: int, limit: int
) -> Iterator[tuple[int, Shape, list[Strides], list[int], int, int]]:
    """Split rows of `length` elements, one for each element of `shape`, until 32-bit indices reach every element.

    `operands` holds each operand's strides over `shape`, `steps` its stride along a row. Rows are numbered in C order
    and cut at multiples of `chunk`. Yields (number of the first row, shape of the part, strides and offset of its first
    row in each operand, first chunk, chunks). The caller has checked that one chunk of one row is within reach.
    """
    chunks = max(1, -(-length // chunk))

    def fits(part: Shape, chunks: int) -> bool:
        elements = min(length, chunks * chunk)
        ranges = [offset_range(part, strides) for strides in operands]
        reach = max(high - low + (elements - 1) * abs(step) for (low, high), step in zip(ranges, steps, strict=True))
        return reach < limit and math.prod(part) * elements <= limit

    if fits(shape, chunks):
        yield 0, shape, taken_strides(shape, operands), [0] * len(operands), 0, chunks
    elif fits(shape, 1):
        few = 1
        while fits(shape, 2 * few):
            few *= 2
        for first in range(0, chunks, few):
            yield 0, shape, taken_strides(shape, operands), [0] * len(operands), first, min(few, chunks - first)
    else:
        axis = next(axis for axis, size in enumerate(shape) if size > 1)
        half = shape[axis] // 2
        rows = math.prod(shape[axis + 1 :])
        for start, size in ((0, half), (half, shape[axis] - half)):
            part = (*shape[:axis], size, *shape[axis + 1 :])
            for row, inner, taken, offsets, first, few in row_slices(part, operands, length, steps, chunk, limit):
                moved = [offset + start * strides[axis] for offset, strides in zip(offsets, operands, strict=True)]
                yield start * rows + row, inner, taken, moved, first, few
