"""How the lengths of results follow from dimensions: found by what they are for some lengths, and compared with others.

A length is a whole number of each dimension and a constant, perhaps divided: `past + new`, `2*n`, `(n - 3) // 2 + 1`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ..graph.dimensions import Dim
from .signature import Length

Sizes = Mapping[Dim, int]
Shapes = Sequence[tuple[int, ...]]
_FAR = (480, 96, 48, 24, 16, 8, 4, 2)  # so much longer a dimension is tried
_MOST = 8  # divisor, for so many lengths one after the other tell the constant


class _Tried:
    """The shapes for some lengths of the dimensions, each found once."""

    def __init__(self, sizes: Sizes, shapes: Shapes, again: Callable[[Sizes], Shapes]) -> None:
        self.sizes, self.again = dict(sizes), again
        self.known: dict[tuple[int, ...], Shapes | None] = {tuple(sizes.values()): shapes}

    def moved(self, dim: Dim, distance: int) -> int:
        """So much more, or less where the bound is nearer; 0 where neither may be."""
        length = self.sizes[dim]
        if dim.max is None or length + distance <= dim.max:
            return distance
        return -distance if length - distance >= dim.min else 0

    def at(self, moved: Mapping[Dim, int]) -> Shapes | None:
        """The shapes where dimensions are so much longer; None where it is not for such lengths."""
        chosen = {dim: length + moved.get(dim, 0) for dim, length in self.sizes.items()}
        key = tuple(chosen.values())
        if key not in self.known:
            try:
                self.known[key] = self.again(chosen)
            except Exception:  # it is not for these
                self.known[key] = None
        return self.known[key]

    def all_at(self, place: int, axis: int) -> list[tuple[Sizes, int]]:
        """What the length of an axis was found to be, for which lengths."""
        return [
            (dict(zip(self.sizes, key, strict=True)), shapes[place][axis])
            for key, shapes in self.known.items() if shapes is not None
        ]  # fmt: skip


def varying(sizes: Sizes, shapes: Shapes, again: Callable[[Sizes], Shapes]) -> list[tuple[Length, ...]]:
    """Shapes in terms of dimensions, where they vary: `again` says what they are for other lengths. None where nothing fits."""
    tried = _Tried(sizes, shapes, again)
    dims = [dim for dim in sizes if tried.moved(dim, 1)]
    for dim in dims:
        tried.at({dim: tried.moved(dim, 1)})
    if not dims:
        return list(map(tuple, shapes))
    for distances in ((3, 5, 2), (11, 4, 9)):  # all together, by different numbers
        tried.at({dim: tried.moved(dim, distances[number % 3]) for number, dim in enumerate(dims)})
    tried.at({dim: dim.min - tried.sizes[dim] for dim in dims})
    tried.at({dim: dim.max - tried.sizes[dim] for dim in dims if dim.max is not None})
    places = [
        (place, axis) for place, shape in enumerate(shapes) for axis, length in enumerate(shape)
        if any(other != length for _, other in tried.all_at(place, axis))
    ]  # fmt: skip
    found: list[list[Length]] = [list(shape) for shape in shapes]
    for place, axis in places:
        found[place][axis] = _fitting(tried, dims, place, axis)
    return list(map(tuple, found))


def _fitting(tried: _Tried, dims: Sequence[Dim], place: int, axis: int) -> Length:
    near = {dim: _step(tried, dim, 1, place, axis) for dim in dims}
    found = _with(tried, near, 1, place, axis)
    far: dict[Dim, Fraction] = {}
    for dim in dims if found is None else ():
        distance = next((one for one in _FAR if tried.moved(dim, one) and tried.at({dim: tried.moved(dim, one)})), 1)
        far[dim] = Fraction(_step(tried, dim, distance, place, axis), distance)
    for divisor in range(2, _MOST + 1) if found is None else ():
        for dim, distance in itertools.product(dims, range(2, divisor + 1)):
            tried.at({dim: tried.moved(dim, distance)})
        # What is rounded may be one more or less of the slope over a distance.
        counts = [(one, one - 1, one + 1) for one in (round(slope * divisor) for slope in far.values())]
        each = (
            _with(tried, dict(zip(far, one, strict=True)), divisor, place, axis) for one in itertools.product(*counts)
        )
        found = next((one for one in each if one is not None), None)
        if found is not None:
            break
    return found


def _step(tried: _Tried, dim: Dim, distance: int, place: int, axis: int) -> int:
    """How much longer an axis is where a dimension is so much longer."""
    moved = tried.moved(dim, distance)
    before, after = tried.at({}), tried.at({dim: moved})
    if before is None or after is None or not moved:
        return 0
    difference = after[place][axis] - before[place][axis]
    return difference if moved > 0 else -difference


def _with(tried: _Tried, counts: Mapping[Dim, int], divisor: int, place: int, axis: int) -> Length:
    """The length of so many of each dimension, divided, whose constant fits all that is known; None where not just one does."""
    parts = {dim: count for dim, count in counts.items() if count}
    low, high = -(1 << 62), 1 << 62
    for sizes, length in tried.all_at(place, axis):
        least = divisor * length - sum(count * sizes[dim] for dim, count in parts.items())
        low, high = max(low, least), min(high, least + divisor - 1)
    if not parts or low != high:
        return None
    if divisor == 1:
        return _sum(parts.items(), low)
    found: Length = _plus(_sum(parts.items(), low % divisor) // divisor, low // divisor)
    return found


def _sum(parts: Iterable[tuple[Dim, int]], constant: int) -> Any:
    total: Any = None
    for dim, count in sorted(parts, key=lambda part: part[1] < 0):
        one = dim if abs(count) == 1 else abs(count) * dim
        total = (one if count > 0 else -1 * one) if total is None else total + one if count > 0 else total - one
    return _plus(total, constant)


def _plus(length: Any, constant: int) -> Any:
    return length + constant if constant > 0 else length - -constant if constant < 0 else length
