"""Deferred checks: errors that show only when the device has computed, such as an index out of range.

Work that may meet one leaves a check with its device, one for each thread. The next read of a value from that device, or
wait for it, by any thread, runs the checks, and what it finds in another thread's work is raised there as well: neither
goes on with values that it has no reason to doubt.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .._vk import Device


class Checks:
    """The deferred checks of one device."""

    def __init__(self) -> None:
        self.waiting: dict[threading.Thread, Any] = {}  # callables that return the error that they find, or None
        self.missed: dict[threading.Thread, Exception] = {}  # found by a read of another thread
        self.lock = threading.RLock()  # a thread's read waits until another one that runs its check is through

    def run(self) -> None:
        """Run and forget the checks. Raises the first error that one of them finds, and leaves the others waiting.

        Called with the lock.
        """
        reader = threading.current_thread()
        missed = self.missed.pop(reader, None)
        if missed is not None:
            raise missed
        for thread in sorted(self.waiting, key=lambda thread: thread is not reader):  # its own first
            check = self.waiting.pop(thread, None)
            try:
                # None: a signal handler or a finalizer has read meanwhile
                found = None if check is None else check()
            except BaseException:  # an interrupt, or a device that is lost: it has found out nothing
                self.waiting.setdefault(thread, check)
                raise
            if found is not None:
                if thread is not reader and thread.is_alive():
                    self.missed[thread] = type(found)(*found.args)
                raise found


_checks: dict[Device, Checks] = {}


def of(device: Device) -> Checks:
    """The checks of a device. Those of closed and lost devices are forgotten: nobody can read their values."""
    found = _checks.get(device)
    if found is None:
        for other in list(_checks):
            if not other.open or other.lost is not None:
                _checks.pop(other, None)
        found = _checks.setdefault(device, Checks())
    return found


def are_waiting(device: Device) -> bool:
    """Whether work has left a check with the device."""
    found = _checks.get(device)
    return found is not None and bool(found.waiting)


def run(device: Device) -> None:
    """What a read of a value from the device, and a wait for it, does afterwards. Raises the error of a deferred check."""
    found = _checks.get(device)
    if found is None:
        return
    if not device.gate._is_owned():
        with found.lock:
            if found.waiting or found.missed:
                found.run()
    # A finalizer or a signal handler may read inside a call that holds the gate, which the thread that runs checks needs.
    # Where that is another thread, it tells what it finds.
    elif found.lock.acquire(blocking=False):
        try:
            if found.waiting or found.missed:
                found.run()
        finally:
            found.lock.release()
