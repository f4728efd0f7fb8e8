"""From the steps of a batch to a command buffer, as often as it takes.

Steps are kept until the device has done them. So when Ctrl-C strikes while they are recorded, that command buffer is
dropped and the next who comes records them again; and a signal handler that wants a value in the middle records them
into a command buffer of its own.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import DeviceLostError, VulkanError
from . import fields, timing
from .api import NULL, array, ffi, struct, vk
from .arguments import STEP, ArgumentMemory, padded
from .lease import Lease

if TYPE_CHECKING:
    from .barriers import Checker
    from .descriptors import DescriptorSet
    from .device import Device
    from .kernel import Kernel
    from .progress import Progress

_COMPUTE = vk.VK_SHADER_STAGE_COMPUTE_BIT
_BIND_POINT = vk.VK_PIPELINE_BIND_POINT_COMPUTE
_STAGES = vk.VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | vk.VK_PIPELINE_STAGE_TRANSFER_BIT
_WRITES = vk.VK_ACCESS_SHADER_WRITE_BIT | vk.VK_ACCESS_TRANSFER_WRITE_BIT
_READS = vk.VK_ACCESS_SHADER_READ_BIT | vk.VK_ACCESS_TRANSFER_READ_BIT | vk.VK_ACCESS_UNIFORM_READ_BIT
_HOST = vk.VK_ACCESS_HOST_READ_BIT | vk.VK_ACCESS_HOST_WRITE_BIT

# The serial of a command, whether a barrier comes before it, and what it is: a kernel, its block of arguments or its push
# constants, workgroups along x, y and z, and descriptors; or the name of a transfer, the function that records it, and its
# arguments. Last what a checker or a timer wants to know, and the first workgroup where it is a piece of a dispatch.
Step = tuple[
    int,
    bool,
    "Kernel | str",
    Any,
    Any,
    int,
    int,
    "DescriptorSet | None",
    "timing.Note | None",
    tuple[int, int, int] | None,
]


def _dependency(stages: int, accesses: int) -> Any:
    """A barrier of `synchronization2` between all writes of this queue and what comes after them."""
    barrier = struct(
        "VkMemoryBarrier2", srcStageMask=_STAGES, srcAccessMask=_WRITES, dstStageMask=stages, dstAccessMask=accesses
    )
    return struct("VkDependencyInfo", memoryBarrierCount=1, pMemoryBarriers=barrier)


def _first_dependency(stages: int, accesses: int) -> Any:
    """The same for `_first_barrier`."""
    return stages, struct("VkMemoryBarrier", srcAccessMask=_WRITES, dstAccessMask=accesses)


def _first_barrier(functions: Any) -> Callable[[Any, Any], None]:
    """vkCmdPipelineBarrier with the arguments of vkCmdPipelineBarrier2."""

    def barrier(commands: Any, what: Any) -> None:
        stages, memory = what
        functions.vkCmdPipelineBarrier(commands, _STAGES, stages, 0, 1, memory, 0, NULL, 0, NULL)

    return barrier


class CommandBuffer:
    """A command buffer and its submission, if it is a primary one; there for good, and lent to one recording at a time."""

    __slots__ = (
        "arguments", "begun", "cell", "disarmed", "holder", "queries", "signalling", "silent", "timeline", "value",
    )  # fmt: skip

    def __init__(self, device: Device, progress: Progress) -> None:
        self.arguments = ArgumentMemory(device)
        self.holder: weakref.ref[Lease] | None = None
        self.cell = ffi.new("VkCommandBuffer*")  # NULL until it is allocated
        self.queries = ffi.new("VkQueryPool*")  # for timestamps; NULL until somebody asks for them
        self.begun = False  # and perhaps not ended
        self.value = ffi.new("uint64_t*")
        # Its submissions: one that signals, and one that does not.
        self.signalling, self.silent = (
            progress.submit_info(value, commandBufferCount=1, pCommandBuffers=self.cell) for value in (self.value, None)
        )
        self.timeline = self.signalling.pNext
        self.disarmed = False

    def arm(self) -> None:
        """Let the submissions submit the commands again."""
        self.signalling.pNext, self.signalling.signalSemaphoreCount = self.timeline, 1
        self.silent.commandBufferCount = self.signalling.commandBufferCount = 1
        self.disarmed = False

    def disarm(self) -> None:
        """Let the submissions submit nothing, also where the call of one is under way in a frame below."""
        self.disarmed = True
        self.silent.commandBufferCount = self.signalling.commandBufferCount = 0
        self.signalling.pNext, self.signalling.signalSemaphoreCount = NULL, 0


class Recording(Lease):
    """A command buffer in use: being recorded, or in flight. One that is `silent` signals no semaphore."""

    __slots__ = ("begun", "serial", "silent", "submission", "timed")
    submission: Any

    def __init__(self) -> None:
        self.serial, self.silent = 0, False
        self.begun = 0  # by the host's clock, where there are timestamps
        self.timed: list[tuple[int, timing.Note]] = []  # the serials of dispatches between timestamps

    @property
    def handle(self) -> Any:
        """Vulkan's command buffer."""
        return self.thing.cell[0]


class Recorder:
    """The command buffers of a queue. Called behind the device's gate."""

    def __init__(self, device: Device, progress: Progress) -> None:
        self.device, self.functions, self.progress = device, device.functions, progress
        self.buffers: list[CommandBuffer] = []
        self.secondary: list[CommandBuffer] = []  # for replays
        self.next = 0  # where to look first: they get free in the order of their use
        self.checker: Checker | None = None
        self.refused: list[VulkanError] = []  # why kernels have no pipeline; their dispatches are left out
        self.pool = ffi.new("VkCommandPool*")
        functions = self.functions
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
        self._once = struct("VkCommandBufferBeginInfo", flags=vk.VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT)
        # Simultaneous: a batch whose recording was interrupted is recorded again, with the same replays.
        self._often = struct(
            "VkCommandBufferBeginInfo",
            flags=vk.VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
            pInheritanceInfo=struct("VkCommandBufferInheritanceInfo"),
        )
        self.dispatch = functions.vkCmdDispatch
        # What CPU drivers find the arguments of the library's kernels by (`cpu_modules.behind_push_constant`). The limits of the
        # physical device decide, as all kernels of a device have to agree.
        self.block_index = b"\0\0\0\0" if device.physical.limits.is_cpu else b""
        if "synchronization2" in device.features:  # two arguments instead of ten: a third of the time
            self.barrier, make = functions.vkCmdPipelineBarrier2, _dependency
        else:
            self.barrier, make = _first_barrier(functions), _first_dependency
        self._between = make(_STAGES, _WRITES | _READS)
        # Orders later batches, and makes what was written visible to the host.
        self._at_end = make(_STAGES | vk.VK_PIPELINE_STAGE_HOST_BIT, _WRITES | _READS | _HOST)

    def begin(self) -> Recording:
        """A command buffer that takes commands."""
        recording, buffers, start = Recording(), self.buffers, self.next
        for position in range(start, start + len(buffers)):
            if recording.take(buffers[position % len(buffers)]):
                self.next = position + 1
                break
        else:
            made = CommandBuffer(self.device, self.progress)
            recording.take(made)
            buffers.append(made)
        self._begin(recording.thing, vk.VK_COMMAND_BUFFER_LEVEL_PRIMARY, self._once)
        return recording

    def begin_replay(self, lease: Lease) -> None:
        """Lend a command buffer that takes commands, which others execute."""
        if not any(map(lease.take, self.secondary)):
            made = CommandBuffer(self.device, self.progress)
            lease.take(made)
            self.secondary.append(made)
        self._begin(lease.thing, vk.VK_COMMAND_BUFFER_LEVEL_SECONDARY, self._often)

    def _begin(self, commands: CommandBuffer, level: int, info: Any) -> None:
        if commands.cell[0] == NULL:
            self.functions.vkAllocateCommandBuffers(
                self.device.handle,
                struct(
                    "VkCommandBufferAllocateInfo", commandPool=self.pool[0], level=level, commandBufferCount=1
                ),
                commands.cell,
            )  # fmt: skip
        elif commands.begun:  # by one who was interrupted
            self._drop(commands, info)
        commands.begun = True
        self.functions.vkBeginCommandBuffer(commands.cell[0], info)

    def _drop(self, commands: CommandBuffer, info: Any) -> None:
        """Drop commands whose recording was not ended.

        NVIDIA's driver (580.159) keeps the last vkCmdUpdateBuffer until the next command or the end, also through a reset: it
        would write old bytes where other arrays lie by then. The end of an empty recording takes it away.
        """
        handle, functions = commands.cell[0], self.functions
        functions.vkResetCommandBuffer(handle, 0)
        functions.vkBeginCommandBuffer(handle, info)
        functions.vkEndCommandBuffer(handle)

    def record(self, recording: Recording, steps: Sequence[Step], silent: bool) -> None:
        """Record the steps, and order what comes later behind them."""
        thing, functions, checker, bound = recording.thing, self.functions, self.checker, None
        commands, barrier, between, unpushed = thing.cell[0], self.barrier, self._between, self.block_index
        dispatch, push_constants, bind = self.dispatch, functions.vkCmdPushConstants, functions.vkCmdBindPipeline
        bind_sets, dispatch_base = functions.vkCmdBindDescriptorSets, functions.vkCmdDispatchBase
        if checker:
            checker.begin(commands)
        blocks = [step[3] for step in steps if not isinstance(step[2], str) and step[2].has_arguments]
        if blocks:
            memory = thing.arguments
            memory.write(blocks)
            shown, place, number = memory.set, memory.offset, fields.SET
        offset = serial = 0
        for serial, ordered, step, pushed, x, y, z, descriptors, note, first in steps:
            if ordered:
                barrier(commands, between)
            if note and checker:
                checker.command(commands, step if isinstance(step, str) else step.name, note.reads, note.writes)
            if step is not bound:
                if isinstance(step, str):
                    if note and note.timed:
                        self._timed(recording, steps, serial, note, pushed, x)
                    else:
                        pushed(commands, *x)
                    bound, unpushed = None, self.block_index  # a replay leaves nothing bound
                    continue
                try:
                    # No variable holds the cell: an error's frames would keep the pipeline, and so the device.
                    bind(commands, _BIND_POINT, step.pipeline if step.cell is None else step.cell[0])
                except DeviceLostError:
                    raise
                except VulkanError as error:  # the driver does not take the kernel; whoever submits hears of it
                    self.refused.append(error)
                    bound, offset = None, offset + (step.has_arguments and padded(len(pushed)))
                    continue
                bound = step
            if descriptors:
                bind_sets(commands, _BIND_POINT, step.layout, 0, 1, descriptors.cell, 0, NULL)
            if step.has_arguments:
                if unpushed:
                    push_constants(commands, step.layout, _COMPUTE, 0, len(unpushed), unpushed)
                    unpushed = b""
                place[0] = offset
                bind_sets(commands, _BIND_POINT, step.layout, number, 1, shown, 1, place)
                offset += STEP if len(pushed) <= STEP else padded(len(pushed))
            elif pushed:
                push_constants(commands, step.layout, _COMPUTE, 0, len(pushed), pushed)
                unpushed = self.block_index
            if note and note.timed:
                command, given = (dispatch, (x, y, z)) if first is None else (dispatch_base, (*first, x, y, z))
                self._timed(recording, steps, serial, note, command, given)
            elif first is None:
                dispatch(commands, x, y, z)
            else:
                dispatch_base(commands, *first, x, y, z)
        barrier(commands, self._at_end)
        # Who takes timestamps gets them when the driver is done with the batch, not only the device.
        silent = silent and not recording.timed and checker is None
        thing.value[0] = serial
        if silent:
            self.progress.record(commands, thing.value, serial)
            barrier(commands, self._at_end)
        functions.vkEndCommandBuffer(commands)
        thing.begun = False
        recording.serial, recording.silent = serial, silent
        recording.submission = thing.silent if silent else thing.signalling
        if thing.disarmed:
            thing.arm()

    def _timed(
        self, recording: Recording, steps: Sequence[Step], serial: int, note: timing.Note, command: Callable[..., None],
        arguments: tuple[Any, ...],
    ) -> None:  # fmt: skip
        """A command between two timestamps, alone on the device so that its time is its own."""
        if serial != steps[0][0]:
            self.order(recording.handle)
        timing.record(self.device, recording, serial, note, command, arguments)

    def order(self, commands: Any) -> None:
        """Order everything recorded so far before everything that follows."""
        self.barrier(commands, self._between)

    def close(self) -> None:
        """Release all; nothing is in flight any more."""
        handle, functions = self.device.handle, self.functions
        all_buffers, self.buffers, self.secondary = [*self.buffers, *self.secondary], [], []
        for buffer in all_buffers:
            functions.vkDestroyQueryPool(handle, buffer.queries[0], NULL)
            buffer.arguments.close()
        buffers = [buffer.cell[0] for buffer in all_buffers if buffer.cell[0] != NULL]
        if buffers:
            functions.vkFreeCommandBuffers(handle, self.pool[0], len(buffers), array("VkCommandBuffer", buffers))
        functions.vkDestroyCommandPool(handle, self.pool[0], NULL)
