"""Pipelines that threads make: a driver's compiler can take seconds, and the kernels of a call are compiled side by side.

A kernel is there as soon as its code has been checked. Whoever records its first dispatch waits for the pipeline.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ..errors import VkArrayError


class Making:
    """The making of a pipeline by a thread, which is among `others` until it is over and waits for one of the `places`."""

    def __init__(self, make: Callable[[], Any], others: set[Making], places: threading.Semaphore) -> None:
        self.made: Any = None
        self.over = threading.Event()
        others.add(self)
        try:
            threading.Thread(
                target=self._run, args=(make, others, places), name="vkarray pipeline", daemon=True
            ).start()
        except RuntimeError:  # the interpreter ends, or there are too many threads
            self._finish(others)

    def _run(self, make: Callable[[], Any], others: set[Making], places: threading.Semaphore) -> None:
        try:
            with places, suppress(VkArrayError):  # who needs the pipeline tries again, and gets the error
                self.made = make()
        finally:
            self._finish(others)

    def _finish(self, others: set[Making]) -> None:
        others.discard(self)
        self.over.set()

    def wait(self) -> None:
        """Return when it is over."""
        self.over.wait()

    def result(self) -> Any:
        """The cell of the pipeline, when it is over; None where it could not be made."""
        self.over.wait()
        return self.made
