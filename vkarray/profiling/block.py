"""The profile: it hears of calls, commands and times, and makes a trace and a table of them."""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .._vk.device import ask_for_times, ask_no_more
from .._vk.timing import Sink, Times, await_times
from ..errors import VkArrayError
from . import table, work
from .calls import CALLS, PACKAGE, Call
from .table import Row, Sums
from .trace_file import HOST, TraceFile
from .track import Command, Done, Track

if TYPE_CHECKING:
    from .._vk import Device
    from .._vk.timing import Note

_running: weakref.WeakSet[Profile] = weakref.WeakSet()


class Profile(Sink):
    """What a block of code made the host and the devices do. Made by `vkarray.profile`; printed, it is a table."""

    transfers = True

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = path
        self._file: TraceFile | None = None
        self._sums: dict[str, Sums] = {}
        self._kernels: dict[str, Sums] = {}  # and transfers
        self._tracks: dict[Device, Track] = {}
        self._calls: dict[int, tuple[Call, int]] = {}  # by thread; the place of each among those of its operation
        self._threads: dict[int, str] = {}
        self._lock = (
            threading.RLock()
        )  # taken behind gates of devices, and no gate is taken behind it but that of a new track
        self._state = "new"

    # -- the block ----------------------------------------------------------------------------------------------

    def __enter__(self) -> Profile:
        """Begin. Raises OSError where the trace cannot be written, RuntimeError for a profile that has begun before."""
        if self._state != "new":
            raise RuntimeError("profile: this one has begun before. Make another one for each block.")
        try:
            self._state = "running"
            self._file = None if self.path is None else TraceFile(self.path)
            if self._file is not None:
                self._file.open()
            self._begin = time.perf_counter_ns()
            _running.add(self)
            ask_for_times(self)
            CALLS.listen(self)
            return self
        except BaseException:
            self._end_surely()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End: wait for the devices, and write the trace. Raises what the wait raises, unless the block has raised."""
        try:
            tracks = list(self._tracks.values()) if self._state == "running" else []  # else the block is a parent's
            problems = [problem for track in tracks if (problem := _awaited(track)) is not None]
            self._leave()
            for track in tracks:
                self._take_part(track)
            if self._file is not None:
                self._file.close(self._metadata([*problems, *([] if error is None else [error])]))
        finally:
            self._end_surely()
        if problems and error is None:
            raise problems[0]

    def _leave(self) -> None:
        """Hear of nothing more."""
        CALLS.leave(self)
        ask_no_more(self)

    def _end(self) -> None:
        """Leave nothing behind but a file that is whole."""
        self._leave()
        if self._file is not None:
            self._file.drop()
        _running.discard(self)
        self._state = "over"

    def _end_surely(self) -> None:
        """The same, also where Ctrl-C strikes in it."""
        try:
            self._end()
        finally:
            self._end()

    # -- what it hears ------------------------------------------------------------------------------------------

    def begun(self, call: Call) -> None:
        """A call begins in this thread."""
        with self._lock:
            sums = self._of(call.operation)
            self._calls[threading.get_ident()] = call, len(sums.seconds)
            sums.seconds.append(0.0)

    def ended(self, call: Call) -> None:
        """It is over."""
        self._calls.pop(threading.get_ident(), None)
        end = time.perf_counter_ns()
        with self._lock:
            sums = self._of(call.operation)
            sums.host += end - call.begin
            sums.operations += call.operations
        arguments = {"call": call.number, "arguments": call.arguments}
        self._add_host(call.operation, "call", call.begin, end, arguments)
        for track in list(self._tracks.values()):
            if track.has_times and track.is_due:
                self._take_part(track)

    def noted(self, note: Note, reads: Sequence[Any], writes: Sequence[Any]) -> Command:
        """A command is given to a device in this thread."""
        track = self._tracks.get(note.device)
        if track is None:
            with self._lock:
                track = self._tracks[note.device] = Track(note.device, HOST + 1 + len(self._tracks))
        call, place = self._calls.get(threading.get_ident(), (None, None))
        operation = (CALLS.calling() or note.name) if call is None else call.operation
        operations: int | None = 0
        numbers: dict[str, int] = {}
        if not isinstance(note.what, tuple):
            read = written = note.what or 0
        else:
            known = {} if call is None else call.sizes
            read, written = work.bytes_of(reads, known), work.bytes_of(writes, known)
            numbers = work.numbers_of(*note.what)
            operations = 0 if operation in work.OF_CALLS else work.operations_of(note.what[0], numbers)
        command = Command(operation, call, place, note.name, note.groups, read, written, operations, work.told(numbers))
        if not track.has_times:
            with self._lock:
                self._count(command, 0.0)
        return command

    def took(self, device: Device, times: Times) -> None:
        """A command is done."""
        track = self._tracks.get(device)
        if track is not None:
            track.raw[times.serial] = (times.noted, times.recorded, times.begin, times.end)

    def host(self, device: Device, name: str, begin: int, arguments: dict[str, Any]) -> None:
        """This thread has done something for a device."""
        self._add_host(name, "device", begin, time.perf_counter_ns(), arguments)

    # -- what it makes of it ------------------------------------------------------------------------------------

    def _of(self, operation: str) -> Sums:
        found = self._sums.get(operation)
        if found is None:
            found = self._sums[operation] = Sums()
        return found

    def _count(self, command: Command, seconds: float) -> None:
        sums, kernel = self._of(command.operation), self._kernels.setdefault(command.kernel, Sums())
        kernel.seconds.append(seconds)
        for one in (sums, kernel):
            one.dispatches += command.groups is not None
            one.bytes += command.read + command.written
            one.operations += command.operations or 0
            one.unknown += command.operations is None
        if command.place is None:
            sums.seconds.append(seconds)
        else:
            sums.seconds[command.place] += seconds

    def _take_part(self, track: Track) -> None:
        part = track.part()
        with self._lock:
            for done in part:
                self._count(done.command, done.duration * 1e-9)
                self._add_command(track, done)

    def _add_command(self, track: Track, done: Done) -> None:
        if self._file is None:
            return
        command, call, seconds = done.command, done.command.call, done.duration * 1e-9
        arguments: dict[str, Any] = {"serial": done.serial, "kernel": command.kernel}
        if call is not None:
            arguments |= {"call": call.number, "arguments": call.arguments}
        if command.groups is not None:
            arguments |= {"workgroups": command.groups, "sizes": command.sizes}
        arguments |= {"bytes read": command.read, "bytes written": command.written}
        arguments["GB/s"] = round((command.read + command.written) / seconds * 1e-9, 3)
        if command.operations:
            arguments["GFLOP/s"] = round(command.operations / seconds * 1e-9, 3)
        self._add(
            command.operation,
            "kernel" if command.groups else "transfer",
            track.number,
            1,
            done.begin,
            done.duration,
            arguments,
        )

    def _add_host(self, name: str, category: str, begin: float, end: float, arguments: dict[str, Any]) -> None:
        if self._file is None:
            return
        thread = threading.get_native_id()
        if thread not in self._threads:
            self._threads[thread] = threading.current_thread().name
        self._add(name, category, HOST, thread, begin, end - begin, arguments)

    def _add(
        self, name: str, category: str, process: int, thread: int, begin: float, duration: float, arguments: dict[str, Any]
    ) -> None:  # fmt: skip
        event = {
            "name": name, "cat": category, "ph": "X", "pid": process, "tid": thread,
            "ts": round((begin - self._begin) * 1e-3, 3), "dur": round(duration * 1e-3, 3), "args": arguments,
        }  # fmt: skip
        with self._lock:
            if self._file is not None and self._file.handle >= 0:
                self._file.add(event)

    def _metadata(self, errors: Sequence[BaseException]) -> dict[str, Any]:
        """Name the tracks, and tell how their clock was found."""
        assert self._file is not None
        names = [(HOST, native, "thread_name", name) for native, name in self._threads.items()]
        devices = []
        for track in self._tracks.values():
            device = track.device
            names += [
                (track.number, 0, "process_name", f"device {device.index}: {device.name}"),
                (track.number, 1, "thread_name", "compute queue"),
            ]
            told: dict[str, Any] = {"name": device.name, "driver": device.description.driver, "process": track.number}
            if track.has_times:
                told |= {"clock": track.clock.way, "uncertainty in ns": track.uncertainty}
                told["before it was recorded in ns"] = round(track.early)
                told["ns of a tick"] = device.limits.timestamp_period
            else:
                told["clock"] = "none: the device takes no timestamps on its queue, so its track is empty"
            devices.append(told)
        for process, thread, kind, name in names:
            self._file.add({"name": kind, "ph": "M", "pid": process, "tid": thread, "args": {"name": name}})
        version = sys.modules[PACKAGE].__version__
        told = {"vkarray": version, "clock": "the host's, in µs since the block began", "devices": devices}
        return told | {"errors": [f"{type(error).__name__}: {error}" for error in errors]}

    # -- what it tells ------------------------------------------------------------------------------------------

    def table(self, by: str = "operation") -> list[Row]:
        """A row for each operation, or by "kernel" for each kernel, those first that took most time of the devices.

        Those of a block that goes on have what is known to be done. Raises ValueError for another `by`.
        """
        kinds = {"operation": self._sums, "kernel": self._kernels}
        if by not in kinds:
            raise ValueError(f"profile: table by {by!r:.40}; expected one of {', '.join(map(repr, kinds))}.")
        with self._lock:
            whole = sum(sum(sums.seconds) for sums in kinds[by].values())
            rows = [sums.row(name, whole) for name, sums in kinds[by].items()]
        return sorted(rows, key=lambda row: (-row.total, -row.host, row.operation))

    def __str__(self) -> str:
        """The table as a text."""
        return self._text("operation")

    def kernels(self) -> str:
        """The table of kernels as a text."""
        return self._text("kernel")

    def _text(self, by: str) -> str:
        """The table as a text, and which devices say nothing of times."""
        without = [track.device.name for track in self._tracks.values() if not track.has_times]
        lines = [f"{name} takes no timestamps: its times are not known." for name in without]
        return "\n".join([table.text(self.table(by), by), *lines])

    def __repr__(self) -> str:
        return f"<vkarray profile, {self._state}, {len(self._sums)} operations>"


def profile(path: str | os.PathLike[str] | None = None) -> Profile:
    """See what a block of code makes the host and the devices do: `with vkarray.profile("trace.json") as p:`.

    Parameters: path (of the trace, a file in the Trace Event Format, which https://ui.perfetto.dev and chrome://tracing open; None
    for no file).
    Returns an object whose block is profiled. `print(p)` prints a table of operations, `p.table()` returns its rows.
    Raises OSError at the beginning of the block where the file cannot be written.
    The trace has a track for each thread (calls of functions, and in them recording, submission, waits and transfers) and one for
    each device (each kernel and each transfer with the function that it is for, the shapes and types of its arguments, bytes, GB/s
    and GFLOP/s where the number of operations is known), on one clock. All threads and all devices are seen; blocks may nest.
    In the block each kernel runs alone, so that its time is its own; results are the same bits.
    """
    return Profile(path)


def _awaited(track: Track) -> VkArrayError | None:
    """What is wrong with a device, once it has done all."""
    try:
        await_times(track.device)
    except VkArrayError as problem:
        return problem
    return None


def _after_fork() -> None:
    """The block is the parent's."""
    CALLS.lock = threading.RLock()  # a thread of the parent may have held the old one
    CALLS.inside.clear()
    for one in list(_running):
        one._lock = threading.RLock()
        one._end()
        one._file = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
