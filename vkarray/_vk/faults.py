"""Fault injection: make a chosen Vulkan call return a chosen VkResult without being made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Fault:
    """Fires on call number ``nth`` (from 1) of ``function``, or of any function when it is None.

    ``repeat`` makes every later matching call fail too. ``calls`` counts matches, ``fired`` the injected results.
    """

    def __init__(self, result: int, function: str | None, nth: int, repeat: bool) -> None:
        self.result, self.function, self.nth, self.repeat = result, function, nth, repeat
        self.calls = 0
        self.fired: list[str] = []

    def check(self, name: str) -> int | None:
        if self.function is not None and name != self.function:
            return None
        self.calls += 1
        if self.calls == self.nth or (self.repeat and self.calls > self.nth):
            self.fired.append(name)
            return self.result
        return None


_faults: list[Fault] = []


@contextmanager
def inject(result: int, function: str | None = None, nth: int = 1, repeat: bool = False) -> Iterator[Fault]:
    """Within the block, the ``nth`` call (of ``function``) that returns a VkResult returns ``result`` instead."""
    fault = Fault(result, function, nth, repeat)
    _faults.append(fault)
    try:
        yield fault
    finally:
        _faults.remove(fault)


def injected(name: str) -> int | None:
    """The result to pretend for this call, or None to make it."""
    for fault in _faults:
        result = fault.check(name)
        if result is not None:
            return result
    return None
