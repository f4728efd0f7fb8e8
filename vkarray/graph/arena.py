"""Where the intermediate values of a program lie: each has a place in one piece of memory for as long as it lives.

Before a result is first written its memory holds intermediate values too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

ALIGNMENT = 256  # of values, as of buffers
TRIES, MANY = 30, 512  # to find a lower arena, for so many values at most


class Life(NamedTuple):
    """A value, by its number: its bytes, and the first and the last step that use it."""

    number: int
    nbytes: int
    first: int
    last: int


class Place(NamedTuple):
    """Where a value lies: the number of the result whose memory holds it, None for the arena, and an offset in bytes."""

    result: int | None
    offset: int


class Arena(NamedTuple):
    """Places of values, the bytes of the arena, and how many bytes live at once: results and values."""

    places: dict[int, Place]
    nbytes: int
    bound: int


def rounded(nbytes: int) -> int:
    """The bytes that a value takes."""
    return max(ALIGNMENT, -(-nbytes // ALIGNMENT) * ALIGNMENT)


_ORDERS: tuple[Callable[[Life], tuple[int, ...]], ...] = (
    lambda life: (-life.nbytes, life.first),
    lambda life: (life.first, -life.nbytes),
    lambda life: (life.first - life.last, -life.nbytes),
    lambda life: (-life.nbytes * (life.last - life.first + 1), life.first),
    lambda life: (-life.last, -life.nbytes),
)


def arrange(values: Sequence[Life], results: Sequence[Life]) -> Arena:
    """Places for values among results, which live on after their last step: the lowest arena of some orders of choice."""
    neighbours, bound = _neighbours(values), _most_at_once(values, results)
    least = bound - sum(rounded(one.nbytes) for one in results)
    orders = [sorted(values, key=order) for order in _ORDERS]
    made = [(_placed(order, results, neighbours), order) for order in orders]
    arena, order = min(made, key=lambda one: one[0].nbytes)
    last, tried = arena, {tuple(order)}
    for _ in range(TRIES if len(values) <= MANY else 0):
        if arena.nbytes <= least:
            break
        # What lies highest chooses first the next time.
        highest = {life.number for life in values if _is_highest(life, last)}
        order = sorted(order, key=lambda life: life.number not in highest)
        if tuple(order) in tried:  # from here on orders come again
            break
        tried.add(tuple(order))
        last = _placed(order, results, neighbours)
        arena = min(arena, last, key=lambda one: one.nbytes)
    return arena._replace(bound=bound)


def _is_highest(life: Life, arena: Arena) -> bool:
    place = arena.places[life.number]
    return place.result is None and place.offset + rounded(life.nbytes) == arena.nbytes


def _neighbours(values: Sequence[Life]) -> dict[int, list[Life]]:
    """By value, those that live at the same time."""
    found: dict[int, list[Life]] = {life.number: [] for life in values}
    alive: list[Life] = []
    for life in sorted(values, key=lambda life: life.first):
        alive = [other for other in alive if other.last >= life.first]
        for other in alive:
            found[other.number].append(life)
            found[life.number].append(other)
        alive.append(life)
    return found


def _most_at_once(values: Iterable[Life], results: Iterable[Life]) -> int:
    changes: dict[int, int] = {}
    for life in values:
        changes[life.last + 1] = changes.get(life.last + 1, 0) - rounded(life.nbytes)
    for life in (*values, *results):
        changes[life.first] = changes.get(life.first, 0) + rounded(life.nbytes)
    held = most = 0
    for step in sorted(changes):
        held += changes[step]
        most = max(most, held)
    return most


def _placed(order: Sequence[Life], results: Sequence[Life], neighbours: dict[int, list[Life]]) -> Arena:
    """Places that values choose in this order, each the best that is left to it."""
    places: dict[int, Place] = {}
    ranges: dict[int, tuple[int, int]] = {}  # where values begin and end, each in its memory
    top = 0
    for number, nbytes, _, end in order:
        taken: dict[int | None, list[tuple[int, int]]] = {}
        for other in neighbours[number]:
            place = places.get(other.number)
            if place is not None:
                taken.setdefault(place.result, []).append(ranges[other.number])
        for result in results:
            if end < result.first:
                offset = _gap(taken.get(result.number, ()), nbytes, result.nbytes)
                if offset is not None:
                    places[number] = Place(result.number, offset)
                    break
        else:
            offset = _gap(taken.get(None, ()), nbytes, None) or 0
            places[number] = Place(None, offset)
            top = max(top, offset + rounded(nbytes))
        begin = places[number].offset
        ranges[number] = begin, begin + rounded(nbytes)
    return Arena(places, top, 0)


def _gap(taken: Iterable[tuple[int, int]], nbytes: int, end: int | None) -> int | None:
    """Where so many bytes fit best between those that are taken; None where they do not fit below the end."""
    found, least, last = None, 0, 0
    for begin, after in sorted(taken):
        room = begin - last
        if room >= nbytes and (found is None or room < least):
            found, least = last, room
        if after > last:
            last = after
    if found is None and (end is None or end - last >= nbytes):
        found = last
    return found
