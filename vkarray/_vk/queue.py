"""The queue: commands are recorded into batches, ordered by barriers only where a hazard needs one.

Every command gets a serial, one more than the last. Each buffer carries the serials of its last write and last read;
a barrier orders everything recorded so far before everything after it, so a command needs one exactly when it touches
a buffer whose conflicting serial is newer than the last barrier. The device counts the serials that it has done, see `progress.py`.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from .. import configuration
from ..errors import DeviceLostError, FeatureError, OutOfMemoryError, VkArrayError
from . import timing
from .api import NULL, array, ffi, struct, vk
from .progress import Progress

if TYPE_CHECKING:
    from .barriers import Checker
    from .device import Device
    from .kernel import Kernel
    from .memory import Buffer

FIRST_BATCH, LARGEST_BATCH = 8, 256  # commands per batch: small while the device may be idle, then doubling
# Workgroups that are enough work to submit at once, and while the device has work, when it is the host's time that counts.
BATCH_WORKGROUPS, LARGEST_WORKGROUPS = 1 << 14, 1 << 16
PROBE_SECONDS = 1.0  # after so long a wait, and then this often, ask whether the device is lost

_COMPUTE = vk.VK_SHADER_STAGE_COMPUTE_BIT
_BIND_POINT = vk.VK_PIPELINE_BIND_POINT_COMPUTE
_STAGES = vk.VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | vk.VK_PIPELINE_STAGE_TRANSFER_BIT
_WRITES = vk.VK_ACCESS_SHADER_WRITE_BIT | vk.VK_ACCESS_TRANSFER_WRITE_BIT
_READS = vk.VK_ACCESS_SHADER_READ_BIT | vk.VK_ACCESS_TRANSFER_READ_BIT | vk.VK_ACCESS_UNIFORM_READ_BIT
_HOST = vk.VK_ACCESS_HOST_READ_BIT | vk.VK_ACCESS_HOST_WRITE_BIT


def _dependency(stages: int, accesses: int) -> Any:
    """A barrier of `synchronization2` between all writes of this queue and what comes after them."""
    barrier = struct(
        "VkMemoryBarrier2", srcStageMask=_STAGES, srcAccessMask=_WRITES, dstStageMask=stages, dstAccessMask=accesses
    )
    return struct("VkDependencyInfo", memoryBarrierCount=1, pMemoryBarriers=barrier)


class Batch:
    """A submitted command buffer: its last serial, what it runs (kept alive until it is done), its timestamps.

    One that is `silent` signals no semaphore.
    """

    __slots__ = ("commands", "serial", "silent", "steps", "timer")

    def __init__(
        self, commands: Any, serial: int, steps: list[Kernel | str], timer: timing.Timer | None, silent: bool
    ) -> None:
        self.commands, self.serial, self.steps, self.timer, self.silent = commands, serial, steps, timer, silent


class Queue:
    """Records, submits and waits. Recording happens under the device's gate."""

    def __init__(self, device: Device, stack: ExitStack) -> None:
        self.device, self.functions = device, device.functions
        self.lock = device.gate.lock
        self.waiting = 0  # threads that wait for the device outside the gate
        self.serial = self.barrier = self.submitted = 0
        self.commands: Any = None  # the command buffer being recorded
        self.begun: Any = None  # the next one, begun ahead of need
        self.bound: Kernel | None = None
        self.steps: list[Kernel | str] = []  # kernels bound and transfers recorded in it
        self.recorded = self.workgroups = 0
        self.batch_limit, self.workgroup_limit = FIRST_BATCH, BATCH_WORKGROUPS
        self.free: list[Any] = []
        self.in_flight: deque[Batch] = deque()
        self.batches = self.barriers = 0
        self.checker: Checker | None = None
        self.timer: timing.Timer | None = None  # timestamps of the batch being recorded
        self.timing_sinks: list[Any] = []
        self.traced = False  # a checker or a sink wants to hear of each command
        self.progress = Progress(device)
        self.pool = ffi.new("VkCommandPool*")
        stack.callback(self.close)
        self._create()
        self._prepare()

    def _create(self) -> None:
        device, functions = self.device, self.functions
        queue = ffi.new("VkQueue*")
        functions.vkGetDeviceQueue(device.handle, device.physical.queue_family, 0, queue)
        self.handle = queue[0]
        functions.vkCreateCommandPool(
            device.handle,
            struct(
                "VkCommandPoolCreateInfo",
                flags=vk.VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                queueFamilyIndex=device.physical.queue_family,
            ),
            NULL,
            self.pool,
        )

    def _prepare(self) -> None:
        """Structures and functions that every call uses again."""
        self._begin_info = struct("VkCommandBufferBeginInfo", flags=vk.VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT)
        self._between = struct("VkMemoryBarrier", srcAccessMask=_WRITES, dstAccessMask=_WRITES | _READS)
        self._at_end = struct("VkMemoryBarrier", srcAccessMask=_WRITES, dstAccessMask=_WRITES | _READS | _HOST)
        self._command_cell = ffi.new("VkCommandBuffer*")
        commands = {"commandBufferCount": 1, "pCommandBuffers": self._command_cell}
        self._submit_info = self.progress.submit_info(signals=True, **commands)
        self._silent_submit_info = self.progress.submit_info(signals=False, **commands)
        self._signal_submit_info = self.progress.submit_info(signals=True)
        self._empty_submit_info = self.progress.submit_info(signals=False)
        functions = self.functions
        self._push_constants, self._dispatch = functions.vkCmdPushConstants, functions.vkCmdDispatch
        self._bind_pipeline = functions.vkCmdBindPipeline
        self._pipeline_barrier = functions.vkCmdPipelineBarrier
        self._max_groups = self.device.limits.max_workgroup_count
        self._between_2: Any = None
        self._at_end_2: Any = None
        if "synchronization2" in self.device.features:  # two arguments instead of ten: a third of the time
            self._between_2 = _dependency(_STAGES, _WRITES | _READS)
            self._at_end_2 = _dependency(_STAGES | vk.VK_PIPELINE_STAGE_HOST_BIT, _WRITES | _READS | _HOST)
            self._pipeline_barrier_2 = functions.vkCmdPipelineBarrier2

    # --- recording -------------------------------------------------------------------------------------------------

    def begin(self) -> Any:
        """The command buffer being recorded, begun now if there is none. Raises when the device is lost or closed."""
        if self.commands is None:
            self.device.gate.check()
            self.retire()
            self.commands, self.begun, self.bound = self.begun or self._begun(), None, None
        return self.commands

    def _begun(self) -> Any:
        """A command buffer that takes commands."""
        if not self.free:
            cell = ffi.new("VkCommandBuffer[]", 1)
            self.functions.vkAllocateCommandBuffers(
                self.device.handle,
                struct(
                    "VkCommandBufferAllocateInfo",
                    commandPool=self.pool[0],
                    level=vk.VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                    commandBufferCount=1,
                ),
                cell,
            )
            self.free.append(cell[0])
        self.functions.vkBeginCommandBuffer(self.free[-1], self._begin_info)
        return self.free.pop()

    def _begin_ahead(self) -> None:
        """Begin the next command buffer while the host has to wait anyway."""
        if self.begun is None and self.commands is None:
            with suppress(VkArrayError):  # then `begin` meets it again, where somebody wants to record
                self.begun = self._begun()

    def record_barrier(self) -> None:
        """Order everything recorded so far before everything that follows."""
        if self._between_2 is not None:
            self._pipeline_barrier_2(self.commands, self._between_2)
        else:
            self._pipeline_barrier(self.commands, _STAGES, _STAGES, 0, 1, self._between, 0, NULL, 0, NULL)
        self.barriers += 1
        self.barrier = self.serial

    def begin_command(self, name: str, reads: Sequence[Buffer], writes: Sequence[Buffer]) -> Any:
        """All that comes before a transfer, its barrier and its number too. Returns the command buffer."""
        commands, barrier = self.begin(), self.barrier
        if any(b.written > barrier for b in (*reads, *writes)) or any(b.read > barrier for b in writes):
            self.record_barrier()
        if self.checker:
            self.checker.command(name, reads, writes)
        self.steps.append(name)
        self.serial = serial = self.serial + 1  # before the command is recorded: Ctrl-C may strike in between
        for buffer in reads:
            buffer.read = serial
        for buffer in writes:
            buffer.written = serial
        return commands

    def dispatch(
        self,
        kernel: Kernel,
        push_constants: bytes,
        groups: tuple[int, int, int],
        reads: Sequence[Buffer],
        writes: Sequence[Buffer],
        bindings: Sequence[tuple[int, Buffer, int, int]] | None = None,
    ) -> None:
        """Record one dispatch of ``kernel`` and return; the work runs later, in order wherever buffers are shared.

        ``reads`` and ``writes`` are all the buffers that the kernel reads and writes. ``bindings`` are (binding,
        buffer, offset, bytes) for kernels that declare descriptors. Raises FeatureError when ``groups`` is too large.
        """
        with self.lock:  # cheaper than the gate, and where that is shut there are no commands
            commands = self.commands or self.begin()
            x, y, z = groups
            if x > 65535 or y > 65535 or z > 65535:
                check_groups(kernel.name, groups, self._max_groups)
            barrier = self.barrier
            for buffer in reads:
                if buffer.written > barrier:
                    self.record_barrier()
                    break
            else:
                for buffer in writes:
                    if buffer.written > barrier or buffer.read > barrier:
                        self.record_barrier()
                        break
            if kernel is not self.bound:
                if kernel.device is not self.device:
                    raise ValueError(f"{kernel!r} belongs to another device than {self.device!r}.")
                self.steps.append(kernel)  # first: what a command buffer refers to has to live, whatever fails below
                self._bind_pipeline(commands, _BIND_POINT, kernel.pipeline)
                self.bound = kernel
            if push_constants:
                self._push_constants(commands, kernel.layout, _COMPUTE, 0, len(push_constants), push_constants)
            if kernel.bindings:
                self.device.descriptors.bind(commands, kernel, bindings or ())
            self.serial = serial = self.serial + 1  # before the command is recorded: Ctrl-C may strike in between
            for buffer in reads:
                buffer.read = serial
            for buffer in writes:
                buffer.written = serial
            if self.traced or configuration.current().debug > 1:
                self._traced_dispatch(kernel, push_constants, groups, reads, writes)
            else:
                self._dispatch(commands, x, y, z)
            self.recorded = recorded = self.recorded + 1
            self.workgroups += x * y * z
            if recorded >= self.batch_limit or self.workgroups >= self.workgroup_limit:
                self.submit()

    def _traced_dispatch(
        self,
        kernel: Kernel,
        push_constants: bytes,
        groups: tuple[int, int, int],
        reads: Sequence[Buffer],
        writes: Sequence[Buffer],
    ) -> None:
        if self.checker:
            self.checker.check_addresses(kernel.name, push_constants, (*reads, *writes))
            self.checker.command(kernel.name, reads, writes)
        if self.timing_sinks or configuration.current().debug > 1:
            timing.record_timed(self, kernel.name, groups, reads, writes)
        else:
            self._dispatch(self.commands, *groups)

    def finish_command(self, workgroups: int) -> None:
        """Count the transfer just recorded, submit when the batch is full."""
        self.recorded += 1
        self.workgroups += workgroups
        if self.recorded >= self.batch_limit or self.workgroups >= self.workgroup_limit:
            self.submit()

    # --- submitting ------------------------------------------------------------------------------------------------

    def submit(self) -> None:
        """Hand what is recorded to the device. When that fails the device is given up: results would be missing."""
        if self.commands is None:
            return
        commands, functions = self.commands, self.functions
        if (
            self.serial == self.submitted
        ):  # begun, but its only command failed: the timeline has to advance all the same
            self.serial += 1
        # Who takes timestamps gets them when the driver is done with the batch, not only the device.
        silent = self.timer is None and not self.traced and self.progress.may_be_silent(self.serial)
        batch = Batch(commands, self.serial, self.steps, self.timer, silent)
        self._record_end(commands)
        if silent:
            self.progress.record(commands, batch.serial)
            self._record_end(commands)
        count = self.recorded
        self.in_flight.append(batch)
        self.commands, self.bound, self.steps, self.timer = None, None, [], None
        self.recorded = self.workgroups = 0
        try:
            functions.vkEndCommandBuffer(commands)
            self._submit(batch)
            self._submitted(batch)
        except DeviceLostError:
            raise
        except VkArrayError as error:
            raise self._give_up(str(error), count) from error
        except BaseException as error:  # Ctrl-C, and the driver may have the batch or not
            arrived = False
            try:
                arrived = self._arrived(batch)
            finally:
                if not arrived:
                    self._give_up(f"{type(error).__name__}.", count)
            self._submitted(batch)
            raise

    def _record_end(self, commands: Any) -> None:
        """Order later batches, and make what was written visible to the host."""
        if self._at_end_2 is not None:
            self._pipeline_barrier_2(commands, self._at_end_2)
        else:
            stages = _STAGES | vk.VK_PIPELINE_STAGE_HOST_BIT
            self._pipeline_barrier(commands, _STAGES, stages, 0, 1, self._at_end, 0, NULL, 0, NULL)

    def _submitted(self, batch: Batch) -> None:
        self.barrier = self.submitted = batch.serial
        if not batch.silent:
            self.progress.signalled = batch.serial
        self.batches += 1
        self.batch_limit = min(max(self.batch_limit * 2, FIRST_BATCH), LARGEST_BATCH)
        self.workgroup_limit = min(self.workgroup_limit * 2, LARGEST_WORKGROUPS)

    def _arrived(self, batch: Batch) -> bool:
        """Whether the driver has the batch; to find out, it has to finish all that it has."""
        with suppress(VkArrayError):
            self.functions.vkQueueWaitIdle(self.handle)
            return self.progress.arrived(batch.serial, batch.silent)
        return False

    def _give_up(self, reason: str, count: int) -> DeviceLostError:
        kernels = self.names_in_flight()
        lost = DeviceLostError(
            f"{reason} A batch of {count} commands could not be submitted, so their "
            f"results are missing: {', '.join(kernels)}. Make new arrays to go on; that opens the device again.",
            kernels,
        )
        self.device.give_up(lost)
        return lost

    def _submit(self, batch: Batch) -> None:
        info = self._silent_submit_info if batch.silent else self._submit_info
        self.progress.value[0], self._command_cell[0] = batch.serial, batch.commands
        try:
            self.functions.vkQueueSubmit(self.handle, 1, info, NULL)
        except OutOfMemoryError:
            self.functions.vkQueueWaitIdle(self.handle)  # what is in flight holds memory; once more when it is done
            self.functions.vkQueueSubmit(self.handle, 1, info, NULL)

    def retire(self) -> None:
        """Note which batches are done, take back command buffers, deliver timestamps."""
        progress = self.progress
        busy = progress.completed < self.submitted
        if not busy and progress.released >= progress.signalled:
            return
        progress.look(self.submitted)
        timers = []
        while self.in_flight and self.in_flight[0].serial <= progress.released:
            batch = self.in_flight.popleft()
            self.free.append(batch.commands)
            if batch.timer:
                timers.append(batch.timer)
        if busy and progress.completed >= self.submitted:
            self.batch_limit, self.workgroup_limit = FIRST_BATCH, BATCH_WORKGROUPS
        for timer in timers:
            timer.deliver()

    # --- waiting ---------------------------------------------------------------------------------------------------

    @property
    def completed(self) -> int:
        """The serial up to which the device is known to have done all commands."""
        return self.progress.completed

    def wait(self, serial: int) -> None:
        """Return when the device has done all commands up to ``serial``. Other threads may record meanwhile."""
        progress = self.progress
        if serial <= progress.completed:
            return
        with self.device.gate:
            if serial > self.submitted:
                self.submit()
                serial = min(
                    serial, self.submitted
                )  # the command of that number may have failed before it was recorded
            self.retire()
            if serial <= progress.completed:
                self._waited()
                return
            batch = self.in_flight[-1]
            for earlier in reversed(self.in_flight):  # most waits are for one of the last
                if earlier.serial < serial:
                    break
                batch = earlier
            self._begin_ahead()
            self.waiting += 1
        try:
            self._wait_outside(batch)
        finally:
            with self.lock:
                self.waiting -= 1
                self._waited()

    def _waited(self) -> None:
        """Who waited for a value often waits for that of the next command too: a GPU begins that one at once."""
        if not self.device.limits.is_cpu:
            self.batch_limit = 1

    def _wait_outside(self, batch: Batch) -> None:
        """The part of `wait` that is not behind the gate."""
        progress, serial = self.progress, batch.serial
        if not self.device.limits.is_cpu:
            progress.poll(serial, batch.silent)
            with self.device.gate:
                self.retire()
        if progress.completed >= serial:
            return
        with self.device.gate:
            signalled = self._signalled(serial)
        self._sleep(signalled)

    def _sleep(self, signalled: int) -> None:
        """Return when a serial has been signalled."""
        progress, probe = self.progress, time.perf_counter() + PROBE_SECONDS
        while progress.released < signalled:
            progress.sleep(signalled)
            with self.device.gate:
                self.retire()
                if progress.released < signalled and time.perf_counter() > probe:
                    # NVIDIA's driver tells of a lost device only when something is submitted: its semaphores just stay.
                    self.functions.vkQueueSubmit(self.handle, 1, self._empty_submit_info, NULL)
                    probe = time.perf_counter() + PROBE_SECONDS

    def _signalled(self, serial: int) -> int:
        """A serial not before this one that is signalled: some validation layers wait in vain for any other."""
        for batch in self.in_flight:
            if batch.serial >= serial and not batch.silent:
                return batch.serial
        progress, before = self.progress, self.progress.signalled
        if before < self.submitted:  # else a thread has asked for it already
            progress.signalled = progress.value[0] = self.submitted  # first: Ctrl-C may strike when it is submitted
            try:
                self.functions.vkQueueSubmit(self.handle, 1, self._signal_submit_info, NULL)
            except VkArrayError:
                progress.signalled = before
                raise
        return self.submitted

    def wait_all(self) -> None:
        """Return when the driver too has done with all that was given to it."""
        self.wait(self.serial)
        with self.device.gate:
            signalled = self._signalled(self.submitted)
            self.waiting += 1
        try:
            self._sleep(signalled)
        finally:
            with self.lock:
                self.waiting -= 1

    def abandon(self) -> None:
        """Drop what is being recorded: the device takes no more work."""
        if self.commands is not None:
            self.free.append(self.commands)
            self.commands = None

    def await_waiting(self) -> None:
        """Return when no thread waits any more. Call it when the gate is shut: each looks there every 0.1 s."""
        end = time.perf_counter() + PROBE_SECONDS
        while self.waiting and time.perf_counter() < end:
            time.sleep(1e-3)

    def names_in_flight(self) -> tuple[str, ...]:
        """What was recorded or submitted and is not known to be done, each name once."""
        steps = [step for batch in self.in_flight if batch.serial > self.completed for step in batch.steps] + self.steps
        return tuple(dict.fromkeys(step if isinstance(step, str) else step.name for step in steps))

    def close(self) -> None:
        buffers = self.free + [batch.commands for batch in self.in_flight]
        for timer in (self.timer, *(batch.timer for batch in self.in_flight)):
            if timer is not None:
                timer.release()
        buffers += [commands for commands in (self.commands, self.begun) if commands is not None]
        self.free, self.commands, self.begun, self.steps = [], None, None, []
        self.in_flight.clear()
        handle, functions = self.device.handle, self.functions
        if buffers:
            functions.vkFreeCommandBuffers(handle, self.pool[0], len(buffers), array("VkCommandBuffer", buffers))
        functions.vkDestroyCommandPool(handle, self.pool[0], NULL)
        self.progress.close()


def check_groups(kernel: str, groups: tuple[int, int, int], limits: tuple[int, int, int]) -> None:
    if any(count > limit for count, limit in zip(groups, limits, strict=True)):
        raise FeatureError(
            f"{kernel}: dispatch of {groups} workgroups, but the device takes at most {limits}; "
            "split the work into several dispatches.",
            ("maxComputeWorkGroupCount",),
        )
