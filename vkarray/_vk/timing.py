"""GPU time per dispatch, from timestamp queries."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .. import configuration
from ..errors import FeatureError
from .api import NULL, ffi, struct, vk

if TYPE_CHECKING:
    from .device import Device
    from .memory import Buffer
    from .queue import Queue
    from .recorder import Recording

MOST_TIMED = 512  # dispatches of a recording; batches are half as long
_AT_END = vk.VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT
_RESULTS = vk.VK_QUERY_RESULT_64_BIT | vk.VK_QUERY_RESULT_WAIT_BIT

Sink = dict[int, tuple[str, float]]  # kernel names and seconds by the serials of the dispatches


class Note:
    """What the checker and timers want to know of a command: address ranges [begin, end) and who asks for its time."""

    def __init__(
        self, queue: Queue, name: str, groups: tuple[int, int, int] | None, reads: Sequence[Buffer], writes: Sequence[Buffer]
    ) -> None:  # fmt: skip
        self.name, self.groups = name, groups
        self.reads, self.writes = (
            [(buffer.address, buffer.address + buffer.nbytes) for buffer in buffers] for buffers in (reads, writes)
        )
        self.sinks: list[Sink] = [] if groups is None else list(queue.timing_sinks)
        self.show = groups is not None and configuration.current().debug > 1
        self.timed = bool(self.sinks or self.show)
        if self.timed and "timestamps" not in queue.device.features:
            self.timed = False
            print(f"vkarray: {name} {groups} (the device has no timestamps)", file=sys.stderr)


def record(device: Device, recording: Recording, serial: int, note: Note, dispatch: Callable[..., None]) -> None:
    """Record a dispatch with a timestamp before and one after it."""
    commands, pool, functions = recording.handle, recording.thing.queries, device.functions
    if not recording.timed:
        if pool[0] == NULL:
            create = struct("VkQueryPoolCreateInfo", queryType=vk.VK_QUERY_TYPE_TIMESTAMP, queryCount=2 * MOST_TIMED)
            functions.vkCreateQueryPool(device.handle, create, NULL, pool)
        functions.vkCmdResetQueryPool(commands, pool[0], 0, 2 * MOST_TIMED)
    query = 2 * len(recording.timed)
    functions.vkCmdWriteTimestamp(commands, _AT_END, pool[0], query)
    dispatch(commands, *(note.groups or ()))
    functions.vkCmdWriteTimestamp(commands, _AT_END, pool[0], query + 1)
    recording.timed.append((serial, note))


def deliver(device: Device, recording: Recording) -> None:
    """Hand the timestamps of a recording that is done to whoever asked; once more does no harm."""
    count = 2 * len(recording.timed)
    stamps = ffi.new("uint64_t[]", count)
    device.functions.vkGetQueryPoolResults(
        device.handle, recording.thing.queries[0], 0, count, 8 * count, stamps, 8, _RESULTS
    )
    mask = (1 << device.limits.timestamp_valid_bits) - 1
    for position, (serial, note) in enumerate(recording.timed):
        ticks = (stamps[2 * position + 1] - stamps[2 * position]) & mask
        seconds = ticks * device.limits.timestamp_period * 1e-9
        for sink in note.sinks:
            sink[serial] = (note.name, seconds)
        if note.show:
            nbytes = sum(end - begin for begin, end in (*note.reads, *note.writes))
            rate = f"{nbytes / seconds * 1e-9:8.1f} GB/s" if seconds else ""
            print(f"vkarray: {note.name} {note.groups} {seconds * 1e6:.1f} µs {rate}", file=sys.stderr)


@contextmanager
def timestamps(device: Device) -> Iterator[list[tuple[str, float]]]:
    """``with timestamps(device) as times:`` fills ``times`` with (kernel name, seconds) at the end of the block.

    Each dispatch inside the block runs alone, so that its time is its own. Raises FeatureError when the device cannot
    take timestamps.
    """
    if "timestamps" not in device.features:
        raise FeatureError(
            f"{device.name} takes no timestamps on its compute queue; measure on the host, with "
            "synchronize() before and after.",
            ("timestamps",),
        )
    times: list[tuple[str, float]] = []
    sink: Sink = {}
    queue: Queue = device.queue
    device.gate.check()
    try:
        queue.timing_sinks.append(sink)
        yield times
        device.synchronize()
        times += [sink[serial] for serial in sorted(sink)]
    finally:
        queue.timing_sinks[:] = [other for other in queue.timing_sinks if other is not sink]
