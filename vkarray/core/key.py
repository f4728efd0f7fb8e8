"""Index keys: from what a user writes between the brackets to a view and the axes that arrays index.

Integers in, integers out: an index array is known here by the number of dimensions that it consumes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .layout import Shape, Strides

_ALL = slice(None)


class Advanced(NamedTuple):
    """An array in a key. It consumes 1 dimension (integers), its own rank (a mask) or none (a single bool).

    `limits` are the smallest and the largest of indices that the host knows. `distinct`: it knows that no two name one element.
    """

    array: Any
    consumes: int
    limits: tuple[int, int] | None = None
    distinct: bool = False


class IndexedAxis(NamedTuple):
    """An axis of the array that an index array selects from."""

    array: Any
    axis: int
    length: int
    stride: int


class Selection(NamedTuple):
    """What a key selects: a view of the dimensions that no array indexes, and the axes that arrays index.

    The dimensions of the broadcast index arrays go before dimension `place` of the view.
    """

    shape: Shape
    strides: Strides
    offset: int
    indexed: tuple[IndexedAxis, ...]
    place: int


def expand(entries: Sequence[Any], rank: int, function: str) -> list[Any]:
    """The entries of a key with `...`, and what is missing at the end, written out as slices.

    Raises IndexError for more than one `...` and for more indices than dimensions.
    """
    consumed = 0
    ellipsis = None
    for position, entry in enumerate(entries):
        if entry is Ellipsis:
            if ellipsis is not None:
                raise IndexError(f"{function}: a key may contain only one ellipsis (`...`), this one has more.")
            ellipsis = position
        elif entry is not None:
            consumed += entry.consumes if type(entry) is Advanced else 1
    if consumed > rank:
        raise IndexError(
            f"{function}: too many indices: the key indexes {consumed} dimension{'s' * (consumed != 1)}, "
            f"the array has {rank}."
        )
    missing: list[Any] = [_ALL] * (rank - consumed)
    if ellipsis is None:
        return [*entries, *missing]
    # An ellipsis that stands for nothing stays, because it separates arrays all the same (see `select`).
    missing = missing or [Ellipsis]
    return [*entries[:ellipsis], *missing, *entries[ellipsis + 1 :]]


def select(entries: Sequence[Any], shape: Shape, strides: Strides, function: str) -> Selection:
    """What expanded entries (integers, slices, None, `Advanced`) select from an array.

    Raises IndexError for an integer outside of its axis.
    """
    lengths: list[int] = []
    steps: list[int] = []
    indexed: list[IndexedAxis] = []
    scalars: list[tuple[int, int]] = []  # positions of integers, which count as arrays beside an array
    positions: list[tuple[int, int]] = []  # (position in the key, dimension of the view) of the arrays
    offset = axis = 0
    for position, entry in enumerate(entries):
        if entry is None:
            lengths.append(1)
            steps.append(0)
            continue
        if entry is Ellipsis:
            continue
        if type(entry) is Advanced:
            positions.append((position, len(lengths)))
            indexed.append(
                IndexedAxis(entry.array, axis, shape[axis], strides[axis])
                if entry.consumes else IndexedAxis(entry.array, axis, 1, 0)
            )  # fmt: skip
            axis += entry.consumes
            continue
        length, stride = shape[axis], strides[axis]
        if type(entry) is slice:
            start, stop, step = _bounds(entry, length, function)
            count = len(range(start, stop, step))
            lengths.append(count)
            steps.append(stride * step)
            offset += start * stride if count else 0
        else:
            scalars.append((position, len(lengths)))
            offset += check_index(entry, axis, length, function) * stride
        axis += 1
    place = 0
    if indexed:
        positions = sorted([*positions, *scalars])
        first, last = positions[0], positions[-1]
        # NumPy's rule: arrays side by side put their dimensions where they stand, separated ones in front.
        place = first[1] if last[0] - first[0] == len(positions) - 1 else 0
    return Selection(tuple(lengths), tuple(steps), offset, tuple(indexed), place)


def _bounds(entry: slice, length: int, function: str) -> tuple[int, int, int]:
    """The first index, the end and the step of a slice. Raises TypeError for what is no integer, ValueError for step 0."""
    try:
        return entry.indices(length)
    except TypeError:
        raise TypeError(f"{function}: expected integers or None in a slice, got {entry!r:.60}.") from None
    except ValueError:
        raise ValueError(f"{function}: expected a step other than 0, got {entry!r:.60}.") from None


def check_index(index: int, axis: int, length: int, function: str) -> int:
    """`index` counted from the front. Raises IndexError when it is outside [-length, length)."""
    if not -length <= index < length:
        raise IndexError(out_of_bounds(function, index, axis, length))
    return index + length if index < 0 else index


def out_of_bounds(
    function: str,
    index: int,
    axis: int,
    length: int,
    *,
    wraps: bool = True,
    place: str = "axis {axis} of length {length}",
) -> str:
    """The text of the error for an index outside of its axis; `wraps`: negative ones count from the end."""
    expected = f"expected {-length if wraps else 0} to {length - 1}" if length else f"the {place.split()[0]} is empty"
    return f"{function}: index {index} is out of bounds for {place.format(axis=axis, length=length)}; {expected}."
