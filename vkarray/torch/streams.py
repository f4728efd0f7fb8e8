"""`torch.vulkan.Stream` and `Event`: a device has one queue, which does everything in the order of its calls.

So streams are names for that queue: what one waits for has been given to the device before. Events are places in it.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import torch

from . import device
from .dispatch.table import direct

_KIND = torch._C._autograd.DeviceType.PrivateUse1.value


class Stream(torch.Stream):
    """A stream of a device. `priority` is accepted and has no effect, for there is one queue."""

    def __new__(cls, device: Any = None, priority: int = 0, *, stream_id: int = 0) -> Stream:
        """A stream of the current device, or of the one that `device` names."""
        made: Stream = super().__new__(cls, stream_id=stream_id, device_index=_index(device), device_type=_KIND)
        return made

    def synchronize(self) -> None:
        """Return when the device has done all its work."""
        device.synchronize(self.device_index)

    def query(self) -> bool:
        """Whether the device has done all its work."""
        return self.record_event().query()

    def record_event(self, event: Any = None) -> Any:
        """An event at what was given to the device so far: the given one, or a new one."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Any) -> None:
        """Nothing to do on the event's own device, whose queue keeps the order; waits for another's."""
        if isinstance(event, Event) and event.device_index not in (None, self.device_index):
            event.synchronize()

    def wait_stream(self, stream: Any) -> None:
        """Nothing to do on the same device, whose queue keeps the order; waits for another's."""
        if stream.device_index != self.device_index:
            stream.synchronize()

    def __enter__(self) -> Stream:
        _streams.before.append((device.current_device(), _streams.current.get(self.device_index)))
        set_stream(self)
        return self

    def __exit__(self, *error: object) -> None:
        index, before = _streams.before.pop()
        _streams.current[self.device_index] = before
        device.set_device(index)


class _Streams(threading.local):
    def __init__(self) -> None:
        self.current: dict[int, Any] = {}  # by index of the device
        self.before: list[tuple[int, Any]] = []


_streams = _Streams()


class Event:
    """A place in the queue of a device. With `enable_timing`, `record` waits for the device, to know when it came there."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        if interprocess:
            raise ValueError("torch.vulkan.Event: got interprocess=True, but events are of one process. Leave it out.")
        self.enable_timing = enable_timing
        self.device_index: int | None = None
        self._on: Any = None
        self._serial, self._time = 0, 0.0

    @property
    def device(self) -> torch.device | None:
        """The device that it was recorded on; None before."""
        return None if self.device_index is None else torch.device("vulkan", self.device_index)

    def record(self, stream: Any = None) -> None:
        """Mark what was given so far to the stream's device, or to the current one."""
        self.device_index = device.current_device() if stream is None else stream.device_index
        self._on = device.at(self.device_index)
        with self._on.gate:
            self._serial = self._on.queue.serial
        if self.enable_timing:
            self._on.synchronize()
            self._time = time.perf_counter()

    def wait(self, stream: Any = None) -> None:
        """Let a stream, or the current one, wait for this place."""
        (current_stream() if stream is None else stream).wait_event(self)

    def synchronize(self) -> None:
        """Return when the device has come to this place."""
        if self._on is not None:
            self._on.queue.wait(self._serial)

    def query(self) -> bool:
        """Whether the device has come to this place. What is still held back is given to it."""
        if self._on is None:
            return True
        with self._on.gate:
            queue = self._on.queue
            if self._serial > queue.submitted:
                queue.submit()
            queue.retire()
            done: bool = queue.completed >= self._serial
        return done

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this place to a later event's. Raises ValueError for events that do not tell their time."""
        for one in (self, end_event):
            if not one.enable_timing or one.device_index is None:
                raise ValueError(
                    "torch.vulkan.Event.elapsed_time: expected two events that were made with enable_timing=True and recorded."
                )
        return (end_event._time - self._time) * 1e3

    def __repr__(self) -> str:
        return f"<torch.vulkan.Event device={self.device} serial={self._serial}>"


class StreamContext:
    """Make a stream, and its device, the current one within a `with` block. None changes nothing."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is not None:
            self.stream.__enter__()

    def __exit__(self, *error: object) -> None:
        if self.stream is not None:
            self.stream.__exit__(*error)


def stream(stream: Any) -> StreamContext:
    """A context in which a stream, and its device, is the current one; None changes nothing."""
    return StreamContext(stream)


def current_stream(device: Any = None) -> Any:
    """The current stream of a device, in this thread."""
    index = _index(device)
    found = _streams.current.get(index)
    return Stream(index) if found is None else found


def default_stream(device: Any = None) -> Stream:
    """The stream of a device that is current when none was chosen."""
    return Stream(device)


def set_stream(stream: Any) -> None:
    """Make a stream, and its device, the current one of this thread; None changes nothing.

    Raises ValueError for a stream of another kind of device.
    """
    if stream is None:
        return
    if stream.device_type != _KIND:
        raise ValueError(
            f"torch.vulkan.set_stream: expected a stream of the device vulkan, got one of {stream.device}."
        )
    device.set_device(stream.device_index)
    _streams.current[stream.device_index] = stream


_index = device.index_of


def _record_stream(tensor: torch.Tensor, stream: Any) -> None:
    """Memory is used again in the order of the queue, which all streams share."""


direct("record_stream", _record_stream)
device.publish(Stream, Event, StreamContext, stream, current_stream, default_stream, set_stream)
