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
        begins = threading.Lock()  # by whoever gets it the making ends: by the thread, or here where that has not begun
        run = threading.Thread(
            target=self._run, args=(begins, make, others, places), name="vkarray pipeline", daemon=True
        )
        try:
            others.add(self)
            run.start()
        except BaseException as error:
            if begins.acquire(blocking=False):
                self._finish(others)
            if not isinstance(error, RuntimeError):  # the interpreter ends, or there are too many threads
                raise

    def _run(
        self, begins: threading.Lock, make: Callable[[], Any], others: set[Making], places: threading.Semaphore
    ) -> None:
        if not begins.acquire(blocking=False):
            return
        try:
            with places, suppress(VkArrayError):  # who needs the pipeline tries again, and gets the error
                self.made = make()
        finally:
            self._finish(others)

    def _finish(self, others: set[Making]) -> None:
        self.over.set()
        others.discard(self)

    def result(self) -> Any:
        """The cell of the pipeline, when it is over; None where it could not be made."""
        self.over.wait()
        return self.made
