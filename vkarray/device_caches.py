"""Caches of what follows from a device, by what it is asked for. A closed device does not stay in them for good."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeVar

Function = TypeVar("Function", bound=Callable[..., object])

MOST_CLOSED = 32  # devices that were closed since the caches were emptied: each holds some 75 KB
_clear: list[Callable[[], object]] = []
_closed: list[None] = []  # one for each, since threads may close devices at the same moment


def emptied(clear: Callable[[], object]) -> None:
    """Have a function called when the caches are emptied."""
    _clear.append(clear)


def cache(function: Function) -> Function:
    """`functools.cache`, for a function that is asked about devices."""
    return lru_cache(None)(function)


def lru_cache(maxsize: int | None) -> Callable[[Function], Function]:
    """`functools.lru_cache`, for a function that is asked about devices."""

    def decorate(function: Function) -> Function:
        kept = functools.lru_cache(maxsize)(function)
        emptied(kept.cache_clear)
        return kept  # type: ignore[return-value]

    return decorate


def count_closed() -> None:
    """Empty the caches if many devices were closed. What they held of others is found again."""
    _closed.append(None)
    if len(_closed) > MOST_CLOSED:
        _closed.clear()
        for clear in _clear:
            clear()
