"""What a device did, on the host's clock."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .._vk.clock import Clock, Sample

if TYPE_CHECKING:
    from .._vk import Device

EVENTS, SECONDS = 1 << 12, 1  # a part of the timeline: at least so many commands, and so long
_CERTAIN = 1000  # a part is that much longer than what its ends are uncertain by, or the device's nominal rate counts


class Command(NamedTuple):
    """A command of a device: its operation and the call, if any, the kernel or transfer, and its work."""

    operation: str
    call: Any
    place: int | None  # of the call among those of its operation
    kernel: str
    groups: tuple[int, int, int] | None
    read: int
    written: int
    operations: int | None
    sizes: dict[str, int]  # of the kernel's arguments


class Done(NamedTuple):
    """When it was done: by the host's clock, in ns."""

    serial: int
    command: Command
    begin: float
    duration: float


class Track:
    """The commands of one device, of which the last part is in its ticks."""

    def __init__(self, device: Device, number: int) -> None:
        self.device, self.number = device, number
        self.has_times = "timestamps" in device.features
        self.raw: dict[
            int, tuple[Command, int, int, int]
        ] = {}  # by serial: the host's time before, begin and end in ticks
        self.uncertainty, self.end = 0, 0.0
        self.early = 0.0  # by how many ns a command seems to begin before it was recorded, at most
        if self.has_times:
            bits = device.limits.timestamp_valid_bits
            self.mask, self.half = (1 << bits) - 1, 1 << bits - 1
            self.clock = Clock(device)
            with device.gate:
                self.first = self.clock.sample()

    @property
    def is_due(self) -> bool:
        """Whether a part of the timeline is full."""
        return len(self.raw) >= EVENTS and time.perf_counter_ns() - self.first.host > SECONDS * 10**9

    def part(self) -> list[Done]:
        """What is known to be done and was not told yet. Only here the device's gate is taken: who holds it may tell a profile."""
        found: list[Done] = []
        if not self.has_times:
            return found
        device = self.device
        with device.gate:
            first = last = self.first
            if device.open and device.lost is None:
                device.queue.retire()
                last = self.clock.sample()
            raw, self.raw, self.first = self.raw, {}, last
            self.uncertainty = max(self.uncertainty, first.uncertainty, last.uncertainty)
            found += self._placed(raw, first, last)
        return found

    def _placed(self, raw: Mapping[int, tuple[Command, int, int, int]], first: Sample, last: Sample) -> list[Done]:
        """On the host's clock, what was done between two samples."""
        rate, elapsed = self.device.limits.timestamp_period, last.host - first.host
        if elapsed > _CERTAIN * (first.uncertainty + last.uncertainty):
            rate = elapsed / self._ticks(first, rate, last.ticks, last.host)
        elif last.uncertainty < first.uncertainty:
            first = last
        found = []
        for serial, (command, host, begin, end) in sorted(raw.items()):
            self.early = max(self.early, host - first.host - rate * self._ticks(first, rate, begin, host))
            start = max(first.host + rate * self._ticks(first, rate, begin, host), self.end)
            duration = rate * max((end - begin) & self.mask, 1)  # shorter than a tick is a tick at most
            self.end = start + duration
            found.append(Done(serial, command, start, duration))
        return found

    def _ticks(self, first: Sample, rate: float, ticks: int, host: int) -> int:
        """Ticks since a sample until a timestamp, which was taken about when the host's clock said `host`: counters wrap."""
        expected = round((host - first.host) / rate)
        return expected + ((ticks - first.ticks - expected + self.half) & self.mask) - self.half
