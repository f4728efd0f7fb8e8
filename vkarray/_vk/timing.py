"""When the device did what: timestamps before and after each dispatch, for whoever asks for them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import configuration
from ..errors import FeatureError
from .api import NULL, ffi, struct, vk

if TYPE_CHECKING:
    from .device import Device
    from .kernel import Kernel
    from .pace import Pace
    from .queue import Queue
    from .recorder import Recording

MOST_TIMED = 512  # dispatches of a recording; batches are half as long
_AT_END = vk.VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT
_RESULTS = vk.VK_QUERY_RESULT_64_BIT | vk.VK_QUERY_RESULT_WAIT_BIT


class Times(NamedTuple):
    """When the device did a command, in its ticks.

    `noted` is what the sink has said of it, `recorded` a time of the host before.
    """

    serial: int
    note: Note
    noted: Any
    recorded: int
    begin: int
    end: int


class Sink:
    """Who asks for times. Nothing here may raise: it is called in the middle of the queue."""

    transfers = False  # whether it wants those of transfers, too
    replays = False  # whether it wants those of whole programs, whose dispatches may then overlap, in place of each dispatch's

    def noted(self, note: Note, reads: Sequence[Any], writes: Sequence[Any]) -> Any:
        """What to remember of a command, in the thread that gives it."""
        return None

    def took(self, device: Device, times: Times) -> None:
        """A command is done. That may be told twice."""

    def host(self, device: Device, name: str, begin: int, arguments: dict[str, Any]) -> None:
        """This thread has done something for the device since a time of `time.perf_counter_ns`."""


class Measurement(Sink):
    """The time of a piece of a dispatch corrects the estimates of its kernel."""

    def __init__(self, pace: Pace, estimated: float) -> None:
        self.pace, self.before, self.estimated = pace, pace.factor, estimated

    def took(self, device: Device, times: Times) -> None:
        self.pace.correct(self.before, self.estimated, seconds(device, times.begin, times.end))


everywhere: list[Sink] = []  # those for devices that are opened later


class Note:
    """What the checker and timers want to know of a command: address ranges [begin, end) and who asks for its time.

    `what` are the kernel and its block of arguments, the bytes that a transfer moves, or None for a recorded program.
    """

    def __init__(
        self, queue: Queue, name: str, groups: tuple[int, int, int] | None, reads: Sequence[Any], writes: Sequence[Any],
        what: tuple[Kernel, bytes] | int | None,
    ) -> None:  # fmt: skip
        self.name, self.groups, self.what, self.device = name, groups, what, queue.device
        self.reads, self.writes = (
            [(buffer.address, buffer.address + buffer.nbytes) for buffer in buffers] for buffers in (reads, writes)
        )
        asking = queue.timing_sinks
        if groups is None:
            asking = [sink for sink in asking if (sink.replays if what is None else sink.transfers)]
        self.sinks = [(sink, sink.noted(self, reads, writes)) for sink in asking]
        self.show = groups is not None and configuration.current().debug > 1
        self.timed = bool(self.sinks or self.show)
        if self.timed and "timestamps" not in queue.device.features:
            self.timed = False
            if self.show:
                print(f"vkarray: {name} {groups} (the device has no timestamps)", file=sys.stderr)


def record(
    device: Device, recording: Recording, serial: int, note: Note, command: Callable[..., None], arguments: tuple[Any, ...]
) -> None:  # fmt: skip
    """Record a command with a timestamp before and one after it."""
    commands, pool, functions = recording.handle, recording.thing.queries, device.functions
    if not recording.timed:
        if pool[0] == NULL:
            create = struct("VkQueryPoolCreateInfo", queryType=vk.VK_QUERY_TYPE_TIMESTAMP, queryCount=2 * MOST_TIMED)
            functions.vkCreateQueryPool(device.handle, create, NULL, pool)
        functions.vkCmdResetQueryPool(commands, pool[0], 0, 2 * MOST_TIMED)
        recording.begun = time.perf_counter_ns()
    query = 2 * len(recording.timed)
    functions.vkCmdWriteTimestamp(commands, _AT_END, pool[0], query)
    command(commands, *arguments)
    functions.vkCmdWriteTimestamp(commands, _AT_END, pool[0], query + 1)
    recording.timed.append((serial, note))


def deliver(device: Device, recording: Recording) -> None:
    """Hand the timestamps of a recording that is done to whoever asked; once more does no harm."""
    count = 2 * len(recording.timed)
    stamps = ffi.new("uint64_t[]", count)
    device.functions.vkGetQueryPoolResults(
        device.handle, recording.thing.queries[0], 0, count, 8 * count, stamps, 8, _RESULTS
    )
    for position, (serial, note) in enumerate(recording.timed):
        begin, end = stamps[2 * position], stamps[2 * position + 1]
        for sink, noted in note.sinks:
            sink.took(device, Times(serial, note, noted, recording.begun, begin, end))
        if note.show:
            took = seconds(device, begin, end)
            nbytes = sum(end - begin for begin, end in (*note.reads, *note.writes))
            rate = f"{nbytes / took * 1e-9:8.1f} GB/s" if took else ""
            print(f"vkarray: {note.name} {note.groups} {took * 1e6:.1f} µs {rate}", file=sys.stderr)


def seconds(device: Device, begin: int, end: int) -> float:
    """The time between two timestamps, of which the device counts so many bits."""
    mask = (1 << device.limits.timestamp_valid_bits) - 1
    return ((end - begin) & mask) * device.limits.timestamp_period * 1e-9


def host(queue: Queue, name: str, begin: int, **arguments: Any) -> None:
    """Tell whoever asks for times what this thread has done for the device since `begin`."""
    for sink in queue.timing_sinks:
        sink.host(queue.device, name, begin, arguments)


class _Seconds(Sink):
    """The names and the seconds of dispatches, by serial."""

    def __init__(self, replays: bool) -> None:
        self.found: dict[int, tuple[str, float]] = {}
        self.replays = replays

    def took(self, device: Device, times: Times) -> None:
        self.found[times.serial] = times.note.name, seconds(device, times.begin, times.end)


@contextmanager
def timestamps(device: Device, replays: bool = False) -> Iterator[list[tuple[str, float]]]:
    """``with timestamps(device) as times:`` fills ``times`` with (kernel name, seconds) at the end of the block.

    Each dispatch inside the block runs alone, so that its time is its own; with `replays` each recorded program does.
    Raises FeatureError when the device cannot take timestamps.
    """
    if "timestamps" not in device.features:
        raise FeatureError(
            f"{device.name} takes no timestamps on its compute queue; measure on the host, with "
            "synchronize() before and after.",
            ("timestamps",),
        )
    times: list[tuple[str, float]] = []
    sink = _Seconds(replays)
    device.gate.check()
    try:
        device.queue.timing_sinks.append(sink)
        yield times
        await_times(device)
        times += [sink.found[serial] for serial in sorted(sink.found)]
    finally:
        remove(device.queue, sink)


def await_times(device: Device) -> None:
    """Return when the times of all work given to the device so far are told, and raise what is wrong with it."""
    device.await_work()
    device.queue.wait_all()  # what the driver has not done with is not told yet


def remove(queue: Queue, sink: Sink) -> None:
    """Ask for no more times."""
    queue.timing_sinks[:] = [other for other in queue.timing_sinks if other is not sink]
