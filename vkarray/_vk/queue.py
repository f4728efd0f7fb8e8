"""The queue: commands are noted in batches, ordered by barriers only where a hazard needs one, and handed to the device.

Every command gets a serial, more than the last. Each buffer carries the serials of its last write and last read;
a barrier orders everything noted so far before everything after it, so a command needs one exactly when it touches
a buffer whose conflicting serial is newer than the last barrier. The device counts the serials that it has done, see `progress.py`.

Ctrl-C may strike anywhere, and a signal handler, a finalizer or the garbage collector may use this queue in the middle of a
call. So a command is there when it stands in the steps of a batch, which is one step of Python (`lease.py` says what is).
Serials are on its buffers before; one that no command got only makes others wait. All else is made from the steps, again
where that was interrupted: whoever comes next finishes what was begun.
"""

from __future__ import annotations

import math
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from .. import configuration
from ..errors import OutOfMemoryError
from . import pace, timing
from .api import NULL, ffi
from .pace import BOUND, LARGEST_WORKGROUPS, WORKGROUPS_A_SECOND, Groups, check_groups
from .progress import Progress
from .recorder import Recorder, Recording, Step
from .timing import Measurement, Note, Sink

if TYPE_CHECKING:
    from .descriptors import DescriptorSet
    from .device import Device
    from .kernel import Kernel
    from .memory import Buffer
    from .prepared import Prepared

FIRST_BATCH, LARGEST_BATCH = 8, 256  # commands per batch: few after a wait, then doubling
# Workgroups that are enough work to submit at once, and while the device has work, when it is the host's time that counts.
BATCH_WORKGROUPS = 1 << 14
# Where the device has done all before the next batch comes, it waits for the host, whom each batch costs time; but fewer commands
# than otherwise, as it does the last batch alone.
IDLE_BATCH, IDLE_WORKGROUPS = 64, 1 << 18
# Batches that the device has not done, at most: with more, the host would be ahead by a time that nobody waits after Ctrl-C. While
# one of them is waited for, the device still has the others.
MOST_AHEAD = {"gpu": 8, "cpu": 2}
CLOSING_SECONDS = 10.0  # at most, until threads that wait notice, which may run late where many others do
PROBE_SECONDS = 1.0  # after so long a wait, and then this often, ask whether the device is lost


Piece = tuple[Groups, Groups, Note]  # of a dispatch: its first workgroup, and how many it has


class Batch:
    """Commands that are submitted together: their steps, the last serial, and the recording that the driver was given."""

    __slots__ = ("recording", "serial", "signals", "steps")

    def __init__(self, step: Step | None = None) -> None:
        self.steps = [] if step is None else [step]  # they keep alive what the commands use
        self.serial = 0
        self.signals = False  # must signal the semaphore
        self.recording: Recording | None = None


class Waiting:
    """A wait for the device that is under way: one that somebody holds."""

    __slots__ = ("__weakref__", "thread")

    def __init__(self) -> None:
        self.thread = threading.get_ident()


class Queue:
    """Takes commands, submits them and waits. Commands are taken behind the device's gate."""

    def __init__(self, device: Device, stack: ExitStack) -> None:
        self.device, self.functions, self.gate = device, device.functions, device.gate
        self.waiting: set[weakref.ref[Waiting]] = set()
        self.serial = self.barrier = self.submitted = self.waited = 0
        self.todo = [Batch()]  # the last takes commands, those before it are to be submitted
        self.in_flight: list[Batch] = []
        self.begun: Recording | None = None  # begun ahead of need
        self.workgroups = 0
        self.batch_limit, self.workgroup_limit = FIRST_BATCH, BATCH_WORKGROUPS
        self.idle = True  # the device had done all when somebody looked last
        self.most_ahead = MOST_AHEAD[device.limits.kind]
        self.ahead = False  # perhaps by more batches
        self.batches = self.barriers = 0
        self.timing_sinks: list[Sink] = list(timing.everywhere)
        queue = ffi.new("VkQueue*")
        self.functions.vkGetDeviceQueue(device.handle, device.physical.queue_family, 0, queue)
        self.handle = queue[0]
        self.progress = Progress(device)
        stack.callback(self.progress.close)
        self.recorder = Recorder(device, self.progress)
        stack.callback(self.close)
        self._empty = self.progress.submit_info(None)
        self._max_groups = device.limits.max_workgroup_count

    # --- taking commands -------------------------------------------------------------------------------------------

    def dispatch(
        self,
        kernel: Kernel,
        arguments: bytes,
        groups: Groups,
        reads: Sequence[Buffer],
        writes: Sequence[Buffer],
        bindings: Sequence[tuple[int, Buffer, int, int]] | None = None,
    ) -> None:
        """Take one dispatch of ``kernel`` and return; the work runs later, in order wherever buffers are shared.

        ``arguments`` are the block of arguments of a kernel of the library, the push constants of another.
        ``reads`` and ``writes`` are all the buffers that the kernel reads and writes. ``bindings`` are (binding,
        buffer, offset, bytes) for kernels that declare descriptors. Raises FeatureError when ``groups`` is too large,
        TypeError and ValueError for what is no dispatch.
        """
        with self.gate:
            if self.gate.reason is not None:
                self.gate.check()
            x, y, z = groups
            if not 0 <= x | y | z <= 65535:
                check_groups(kernel.name, groups, self._max_groups)
            if kernel.device is not self.device:
                raise ValueError(f"{kernel!r} belongs to another device than {self.device!r}.")
            if type(arguments) is not bytes:
                raise TypeError(f"{kernel.name}: expected arguments of type bytes, got {arguments!r}.")
            descriptors = self.device.descriptors.bound(kernel, bindings or ()) if kernel.bindings else None
            note = None
            if self.timing_sinks or self.recorder.checker or configuration.shows_dispatches:
                if self.recorder.checker:
                    self.recorder.checker.check_addresses(kernel, arguments, (*reads, *writes))
                note = Note(self, kernel.name, groups, reads, writes, (kernel, arguments))
            workgroups, known = x * y * z, kernel.pace
            pieces: Sequence[Piece] = ()
            if known is not None:
                seconds = known.seconds(arguments, workgroups) if known.offsets else known.group * workgroups
                if seconds > BOUND:
                    pieces = self._pieces(kernel, arguments, groups, reads, writes, seconds)
                workgroups = max(workgroups, int(seconds * WORKGROUPS_A_SECOND))
            self._take(kernel, reads, writes, arguments, x, y, z, descriptors, note, workgroups, pieces)
        if self.ahead:
            self._fall_back()

    def repeat(self, what: Prepared, arguments: bytes, reads: Sequence[Buffer], writes: Sequence[Buffer]) -> None:
        """Take a dispatch that was prepared, with a block of arguments as packed by its plan."""
        with self.gate:
            if self.gate.reason is not None:
                self.gate.check()
            pace = what.pace
            if pace is not None and pace.factor != what.factor:
                what.estimate(arguments)
            if what.is_long or self.timing_sinks or self.recorder.checker or configuration.shows_dispatches:
                self.dispatch(what.kernel, arguments, what.groups, reads, writes)
            else:
                self._take(what.kernel, reads, writes, arguments, what.x, what.y, what.z, None, None, what.workgroups)
        if self.ahead:
            self._fall_back()

    def _pieces(
        self, kernel: Kernel, arguments: bytes, groups: Groups, reads: Sequence[Buffer], writes: Sequence[Buffer],
        seconds: float,
    ) -> list[Piece]:  # fmt: skip
        """Of a dispatch that should take so long; none where its grid cannot be cut."""
        if kernel.pieces == "none" or kernel.pace is None:
            return []
        cut = pace.pieces(groups, math.ceil(seconds / BOUND), kernel.pieces == "rows")
        if len(cut) < 2:
            return []
        x, y, z = groups
        whole, found = x * y * z, []
        for first, size in cut:
            of_piece = Note(self, kernel.name, size, reads, writes, (kernel, arguments))
            if "timestamps" in self.device.features:
                of_piece.sinks.append((Measurement(kernel.pace, seconds * math.prod(size) / whole), None))
                of_piece.timed = True
            found.append((first, size, of_piece))
        return found

    def transfer(
        self,
        name: str,
        reads: Sequence[Any],
        writes: Sequence[Any],
        record: Callable[..., None],
        arguments: tuple[Any, ...],
        nbytes: int,
    ) -> None:
        """Take a command that moves so many bytes, which ``record(command buffer, *arguments)`` records."""
        with self.gate:
            if self.gate.reason is not None:
                self.gate.check()
            asked = self.recorder.checker or self.timing_sinks
            note = Note(self, name, None, reads, writes, nbytes) if asked else None
            self._take(name, reads, writes, record, arguments, 0, 0, None, note, nbytes >> 12)

    def replay(
        self, name: str, reads: Sequence[Any], writes: Sequence[Any], execute: Callable[[Any], None], dispatches: int,
        workgroups: int,
    ) -> None:  # fmt: skip
        """Take dispatches that ``execute(command buffer)`` adds at once; the caller is behind the gate and has checked it."""
        work = workgroups + dispatches * (LARGEST_WORKGROUPS // LARGEST_BATCH)  # many of them are a batch
        note = Note(self, name, None, (), (), None) if self.timing_sinks else None
        self._take(name, reads, writes, execute, (), 0, 0, None, note, work)

    def _take(
        self,
        step: Kernel | str,
        reads: Sequence[Any],
        writes: Sequence[Any],
        pushed: Any,
        x: Any,
        y: int,
        z: int,
        descriptors: DescriptorSet | None,
        note: Note | None,
        workgroups: int,
        pieces: Sequence[Piece] = (),
    ) -> None:
        """Number a command and put it into the batch; see `Step`. Each of its `pieces` gets a number and a batch of its own."""
        count = len(pieces) or 1
        while True:
            serial = self.serial = self.serial + count  # one step
            barrier, ordered = self.barrier, False
            for buffer in reads:
                if buffer.written > barrier:
                    ordered = True
                    break
            else:
                for buffer in writes:
                    if buffer.written > barrier or buffer.read > barrier:
                        ordered = True
                        break
            for buffer in reads:
                buffer.read = serial
            for buffer in writes:
                buffer.written = serial
            # One step each: when other commands of this thread have come in between, what was found out is no longer true.
            if pieces:
                batches = [
                    Batch((serial - count + n, ordered and n == 1, step, pushed, *size, descriptors, of_piece, first))
                    for n, (first, size, of_piece) in enumerate(pieces, 1)
                ]
                batches.append(Batch())
                if self.serial == serial and self.todo.extend(batches) is None:  # type: ignore[func-returns-value]
                    break
                continue
            made = (serial, ordered, step, pushed, x, y, z, descriptors, note, None)
            if self.serial == serial and self.todo[-1].steps.append(made) is None:  # type: ignore[func-returns-value]
                break
        if ordered:
            self.barriers += 1
            self.barrier = serial - count
        self.workgroups += workgroups
        if (commands := len(self.todo[-1].steps)) >= self.batch_limit or self.workgroups >= self.workgroup_limit:
            if self.device.making and commands < LARGEST_BATCH:  # to submit would wait; others can be made meanwhile
                return
            try:
                self.submit()
            except OutOfMemoryError:  # whoever waits meets it again; this command is taken all the same
                pass

    # --- submitting ------------------------------------------------------------------------------------------------

    def submit(self) -> None:
        """Hand what was taken to the device. What fails, or is interrupted, stays to be submitted again."""
        todo = self.todo
        if todo[-1].steps:
            todo.append(Batch())  # from here on commands go into this one
            self.workgroups = 0
        while (batch := todo[0]) is not todo[-1]:
            if batch.steps and batch.steps[-1][0] > self.submitted:
                self._submit(batch)
            else:
                _ = todo.pop(0) if todo[0] is batch else None  # one step
        if self.recorder.checker:
            self.recorder.checker.raise_problems()
        if self.recorder.refused:
            error, self.recorder.refused = self.recorder.refused[0], []
            raise error

    def _submit(self, batch: Batch) -> None:
        """Hand a batch to the driver, unless it has it."""
        batch.serial = serial = batch.steps[-1][0]
        self.barrier = serial if serial > self.barrier else self.barrier  # one step, like the others below
        given = batch.recording
        if given is not None:  # by a frame that was interrupted, or that goes on when the caller returns
            if self._arrived(given):
                self._submitted(batch, given)
                return
            given.thing.disarm()
            batch.recording = None if batch.recording is given else batch.recording
        if self.begun is None:  # else who began it has looked
            self.retire()
        begin = time.perf_counter_ns() if self.timing_sinks else 0
        recording, self.begun = self.begun, None
        recording = recording or self.recorder.begin()
        self.recorder.record(recording, batch.steps, not batch.signals and self.progress.may_be_silent(serial))
        batch.recording = batch.recording or recording
        if begin:
            timing.host(self, "record", begin, submission=serial, commands=len(batch.steps))
            begin = time.perf_counter_ns()
        if batch.recording is recording:
            try:
                self.functions.vkQueueSubmit(self.handle, 1, recording.submission, NULL)
            except OutOfMemoryError:
                self.functions.vkQueueWaitIdle(self.handle)  # what is in flight holds memory; once more when it is done
                self.functions.vkQueueSubmit(self.handle, 1, recording.submission, NULL)
            self._submitted(batch, recording)
        if begin:
            timing.host(self, "submit", begin, submission=serial)

    def _arrived(self, recording: Recording) -> bool:
        """Whether the driver has got a recording; to find out, it has to finish all that it has."""
        self.functions.vkQueueWaitIdle(self.handle)
        return self.progress.arrived(recording.serial, recording.silent)

    def _submitted(self, batch: Batch, recording: Recording) -> None:
        """Note that the driver has a batch; once more does no harm."""
        serial, progress = batch.serial, self.progress
        if serial <= self.submitted:
            return
        if not recording.silent:  # first: who finds the batch in flight may wait for its signal
            progress.signalled = serial if serial > progress.signalled else progress.signalled
        if not (self.in_flight and self.in_flight[-1] is batch):
            self.in_flight.append(batch)
        if self.recorder.checker:
            self.recorder.checker.submitted(recording.handle)
        self.submitted = serial if serial > self.submitted else self.submitted
        self.batches += 1
        self.ahead = len(self.in_flight) > self.most_ahead
        if batch.signals:  # it is no work
            return
        most, most_workgroups = (IDLE_BATCH, IDLE_WORKGROUPS) if self.idle else (LARGEST_BATCH, LARGEST_WORKGROUPS)
        limit, workgroups = self.batch_limit * 2, self.workgroup_limit * 2
        self.batch_limit = FIRST_BATCH if limit < FIRST_BATCH else limit if limit < most else most
        self.workgroup_limit = workgroups if workgroups < most_workgroups else most_workgroups

    def retire(self) -> None:
        """Note which batches are done, deliver timestamps, and drop what only they used."""
        progress = self.progress
        self.idle = progress.completed >= self.submitted
        if self.idle and progress.released >= progress.signalled:
            return
        progress.look()
        released = progress.released
        while self.in_flight and (batch := self.in_flight[0]).serial <= released:
            if batch.recording is not None and batch.recording.timed:
                timing.deliver(self.device, batch.recording)
            _ = self.in_flight.pop(0) if self.in_flight and self.in_flight[0] is batch else None  # one step
        self.idle = progress.completed >= self.submitted

    # --- waiting ---------------------------------------------------------------------------------------------------

    @property
    def completed(self) -> int:
        """The serial up to which the device is known to have done all commands."""
        return self.progress.completed

    @property
    def done(self) -> int:
        """The serial up to which nothing is left to do. Behind the gate: Ctrl-C leaves serials that no command has."""
        last = next((batch.steps[-1][0] for batch in reversed(self.todo) if batch.steps), self.submitted)
        return self.serial if max(last, self.submitted) <= self.progress.completed else self.progress.completed

    def _fall_back(self) -> None:
        """Wait until the device has not more batches to do than the host may be ahead by."""
        with self.gate:
            self.ahead = False
            self.retire()
            left = [batch.serial for batch in self.in_flight if batch.serial > self.progress.completed]
        if len(left) > self.most_ahead:
            self._await(left[-self.most_ahead - 1])

    def wait(self, serial: int) -> None:
        """Return when the device has done all commands up to ``serial``. Other threads may use the queue meanwhile."""
        progress = self.progress
        if serial <= progress.completed:
            return
        self._await(serial)
        # Who waits for so many commands often waits for as many again: a GPU begins the last one at once.
        count, self.waited = self.serial - self.waited, self.serial
        self.batch_limit = FIRST_BATCH if count > FIRST_BATCH or self.device.limits.is_cpu else count or 1
        if progress.completed >= self.submitted:
            self.workgroup_limit = BATCH_WORKGROUPS

    def _await(self, serial: int) -> None:
        """The waiting itself, from which nothing is learnt about what comes next."""
        progress, waiting = self.progress, None
        begin = time.perf_counter_ns() if self.timing_sinks else 0
        try:
            while serial > progress.completed:
                with self.gate:
                    if self.gate.reason is not None:
                        self.gate.check()
                    if serial > self.submitted:
                        self.submit()
                        # What has a greater serial was never taken, or is about to be, below a signal handler.
                        serial = self.submitted if serial > self.submitted else serial
                    silent = progress.is_silent(serial)
                    if silent:  # the device is at it: what is to be done is done before the host looks
                        self._begin_ahead()
                    if not silent or progress.released < progress.signalled:
                        self.retire()
                    if silent:
                        progress.spin(serial)
                    if serial <= progress.completed:
                        break
                    batch = None
                    for earlier in reversed(self.in_flight):  # most waits are for one of the last
                        if earlier.serial < serial:
                            break
                        batch = earlier
                    if batch is None:  # a signal handler has waited meanwhile
                        continue
                    self._begin_ahead()
                    waiting = waiting or Waiting()
                    self._note(waiting)
                self._wait_outside(batch)
        finally:
            waiting = None  # an error keeps the frames through which it came
            if begin:
                timing.host(self, "wait", begin, until=serial)

    def _note(self, waiting: Waiting) -> None:
        """Count a wait as long as somebody holds it, without a destructor, in which Ctrl-C would strike."""
        self.waiting.add(weakref.ref(waiting, self.waiting.discard))

    def _begin_ahead(self) -> None:
        """Begin the next command buffer while the host has to wait anyway."""
        if self.begun is None:
            try:
                self.begun = self.recorder.begin()
            except OutOfMemoryError:  # `submit` meets it again
                pass

    def _wait_outside(self, batch: Batch) -> None:
        """The part of `wait` that is not behind the gate."""
        progress, serial, recording = self.progress, batch.serial, batch.recording
        if not self.device.limits.is_cpu:
            progress.poll(serial, recording is not None and recording.silent)
            with self.gate:
                self.gate.check()
                self.retire()
        if progress.completed < serial:
            self._sleep(serial)

    def _sleep(self, serial: int) -> None:
        """Return when the driver has done with all up to a serial."""
        with self.gate:
            self.gate.check()
            signalled = self._signalled(serial)
        progress, probe = self.progress, time.perf_counter() + PROBE_SECONDS
        while progress.released < signalled:
            progress.sleep(signalled)
            with self.gate:
                self.gate.check()
                self.retire()
                if progress.released < signalled and time.perf_counter() > probe:
                    # NVIDIA's driver tells of a lost device only when something is submitted: its semaphores just stay.
                    self.functions.vkQueueSubmit(self.handle, 1, self._empty, NULL)
                    probe = time.perf_counter() + PROBE_SECONDS

    def _signalled(self, serial: int) -> int:
        """A serial not before this one that is signalled: some validation layers wait in vain for any other."""
        while serial > self.progress.released:
            for batch in self.in_flight:
                if batch.serial >= serial and batch.recording is not None and not batch.recording.silent:
                    return batch.serial
            self._take("signal", (), (), lambda commands: None, (), 0, 0, None, None, 0)
            self.todo[-1].signals = True
            self.submit()
        return serial

    def wait_all(self) -> None:
        """Return when the driver too has done with all that was given to it."""
        waiting = Waiting()
        try:
            self.wait(self.serial)
            self._note(waiting)
            self._sleep(self.submitted)
        finally:
            del waiting

    def abandon(self) -> None:
        """Drop what is not submitted: the device takes no more work."""
        self.todo = [Batch()]
        self.begun = None

    def await_waiting(self) -> None:
        """Return when no other thread waits any more. Call it when the gate is shut: each looks there every 0.1 s."""
        end, own = time.perf_counter() + CLOSING_SECONDS, threading.get_ident()
        while time.perf_counter() < end:
            if all(waiting is None or waiting.thread == own for waiting in [one() for one in list(self.waiting)]):
                break
            time.sleep(1e-3)

    def names_in_flight(self) -> tuple[str, ...]:
        """What was taken and is not known to be done, each name once."""
        batches = [batch for batch in self.in_flight if batch.serial > self.completed] + self.todo
        steps = [step for batch in batches for _, _, step, *_ in batch.steps]
        return tuple(dict.fromkeys(step if isinstance(step, str) else step.name for step in steps))

    def close(self) -> None:
        """Release all; the device has done with it."""
        self.recorder.close()
        self.abandon()
        self.in_flight.clear()
