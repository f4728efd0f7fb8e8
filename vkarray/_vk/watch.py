"""Watching what a thread asks of devices, so that it can be asked again: plans are made of what was seen."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .memory import Buffer


class Watch:
    """What one thread has asked for: dispatches, memory, and why that cannot be asked again for other arguments, if so."""

    __slots__ = ("allocated", "dispatches", "reason")

    def __init__(self) -> None:
        self.dispatches: list[Any] = []
        self.allocated: list[Buffer] = []
        self.reason: str | None = None

    def refuse(self, reason: str) -> None:
        """Note why what was asked for depends on more than a plan knows. The first reason stays."""
        self.reason = self.reason or reason


watches: dict[int, Watch] = {}  # by thread; nearly always empty, which is cheap to ask


def current() -> Watch | None:
    """The watch over this thread."""
    return watches.get(threading.get_ident())


def refuse(reason: str) -> None:
    """Tell the watch over this thread, if there is one, why no plan can repeat what comes now."""
    watch = current()
    if watch is not None:
        watch.refuse(reason)


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    """Watch this thread. Nothing else may watch it."""
    thread = threading.get_ident()
    watches[thread] = watch
    try:
        yield
    finally:
        watches.pop(thread, None)


@contextmanager
def unwatched() -> Iterator[None]:
    """A part of a call that belongs to no plan."""
    thread = threading.get_ident()
    watch = watches.pop(thread, None)
    try:
        yield
    finally:
        if watch is not None:
            watches[thread] = watch
