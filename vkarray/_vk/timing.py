"""GPU time per dispatch, from timestamp queries."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .. import configuration
from ..errors import FeatureError
from .api import NULL, ffi, struct, vk

if TYPE_CHECKING:
    from .device import Device
    from .memory import Buffer
    from .queue import Queue

_AT_END = vk.VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT


class Timer:
    """The timestamps of one batch: two per dispatch, in a query pool of its own."""

    def __init__(self, queue: Queue, capacity: int) -> None:
        self.queue, self.device = queue, queue.device
        self.capacity = capacity
        self.entries: list[tuple[str, tuple[int, int, int], int, bool, list[list[tuple[str, float]]]]] = []
        pool = ffi.new("VkQueryPool*")
        self.device.functions.vkCreateQueryPool(
            self.device.handle,
            struct("VkQueryPoolCreateInfo", queryType=vk.VK_QUERY_TYPE_TIMESTAMP, queryCount=2 * capacity),
            NULL,
            pool,
        )
        self.pool = pool[0]
        self.device.functions.vkCmdResetQueryPool(queue.commands, self.pool, 0, 2 * capacity)

    def deliver(self) -> None:
        """Read the timestamps of the finished batch, hand them to whoever asked, and release the pool."""
        count = 2 * len(self.entries)
        stamps = ffi.new("uint64_t[]", count)
        device = self.device
        try:
            device.functions.vkGetQueryPoolResults(
                device.handle,
                self.pool,
                0,
                count,
                8 * count,
                stamps,
                8,
                vk.VK_QUERY_RESULT_64_BIT | vk.VK_QUERY_RESULT_WAIT_BIT,
            )
        finally:
            self.release()
        mask = (1 << device.limits.timestamp_valid_bits) - 1
        for position, (name, groups, nbytes, show, sinks) in enumerate(self.entries):
            ticks = (stamps[2 * position + 1] - stamps[2 * position]) & mask
            seconds = ticks * device.limits.timestamp_period * 1e-9
            for sink in sinks:
                sink.append((name, seconds))
            if show:
                rate = f"{nbytes / seconds * 1e-9:8.1f} GB/s" if seconds else ""
                print(f"vkarray: {name} {groups} {seconds * 1e6:.1f} µs {rate}", file=sys.stderr)

    def release(self) -> None:
        self.device.functions.vkDestroyQueryPool(self.device.handle, self.pool, NULL)


def record_timed(
    queue: Queue, name: str, groups: tuple[int, int, int], reads: Sequence[Buffer], writes: Sequence[Buffer]
) -> None:
    """Record a dispatch between two timestamps, alone on the device so that its time is its own."""
    show = configuration.current().debug > 1
    if "timestamps" not in queue.device.features:
        queue._dispatch(queue.commands, *groups)
        if show:
            print(f"vkarray: {name} {groups} (the device has no timestamps)", file=sys.stderr)
        return
    if queue.timer is None:
        queue.timer = Timer(queue, 256)
    timer, stamp = queue.timer, queue.functions.vkCmdWriteTimestamp
    if queue.recorded:
        queue.record_barrier()
        queue.barrier -= 1  # the dispatch has its number already, and comes after the barrier
    query = 2 * len(timer.entries)
    stamp(queue.commands, _AT_END, timer.pool, query)
    queue._dispatch(queue.commands, *groups)
    stamp(queue.commands, _AT_END, timer.pool, query + 1)
    nbytes = sum(buffer.nbytes for buffer in (*reads, *writes))
    timer.entries.append((name, groups, nbytes, show, list(queue.timing_sinks)))


@contextmanager
def timestamps(device: Device) -> Iterator[list[tuple[str, float]]]:
    """``with timestamps(device) as times:`` fills ``times`` with (kernel name, seconds), complete at the end.

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
    queue: Any = device.queue
    with device.gate:
        queue.timing_sinks.append(times)
        queue.traced = True
    try:
        yield times
        device.synchronize()
    finally:
        with device.gate:
            queue.timing_sinks[:] = [sink for sink in queue.timing_sinks if sink is not times]
            queue.traced = bool(queue.timing_sinks or queue.checker)
