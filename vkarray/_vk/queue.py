"""The queue: commands are recorded into batches, ordered by barriers only where a hazard needs one.

Every command gets a serial, one more than the last. Each buffer carries the serials of its last write and last read;
a barrier orders everything recorded so far before everything after it, so a command needs one exactly when it touches
a buffer whose conflicting serial is newer than the last barrier. The timeline semaphore counts serials too.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import FeatureError
from .api import NULL, array, ffi, struct, vk
from .kernel import Kernel
from .memory import Buffer

if TYPE_CHECKING:
    from .device import Device

FIRST_BATCH, LARGEST_BATCH = 8, 256   # commands per batch: small while the device may be idle, then doubling
BATCH_WORKGROUPS = 1 << 14            # enough work to submit at once
POLL_SECONDS = 50e-6                  # submit and wait takes about 35 µs on a GPU; a sleeping wait adds as much
WAIT_NANOSECONDS = 100_000_000        # wake up this often so that Ctrl-C works

_COMPUTE_AND_TRANSFER = vk.VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | vk.VK_PIPELINE_STAGE_TRANSFER_BIT
_WRITES = vk.VK_ACCESS_SHADER_WRITE_BIT | vk.VK_ACCESS_TRANSFER_WRITE_BIT
_READS = vk.VK_ACCESS_SHADER_READ_BIT | vk.VK_ACCESS_TRANSFER_READ_BIT


class Queue:
    """Records, submits and waits. Methods are called under the device's gate, except the waits."""

    def __init__(self, device: Device) -> None:
        self.device, self.functions = device, device.functions
        self.serial = self.barrier = self.submitted = self.completed = 0
        self.commands: Any = None
        self.bound: Kernel | None = None
        self.kernels: list[str] = []
        self.recorded = self.workgroups = 0
        self.batch_limit = FIRST_BATCH
        self.free: list[Any] = []
        self.in_flight: deque[tuple[int, Any, list[str]]] = deque()
        functions = self.functions
        queue = ffi.new("VkQueue*")
        functions.vkGetDeviceQueue(device.handle, device.physical.queue_family, 0, queue)
        self.handle = queue[0]
        pool = ffi.new("VkCommandPool*")
        functions.vkCreateCommandPool(device.handle, struct(
            "VkCommandPoolCreateInfo", flags=vk.VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
            queueFamilyIndex=device.physical.queue_family), NULL, pool)
        self.pool = pool[0]
        timeline = struct("VkSemaphoreTypeCreateInfo", semaphoreType=vk.VK_SEMAPHORE_TYPE_TIMELINE)
        semaphore = ffi.new("VkSemaphore*")
        functions.vkCreateSemaphore(device.handle, struct("VkSemaphoreCreateInfo", pNext=timeline), NULL, semaphore)
        self.semaphore = semaphore
        self._prepare()

    def _prepare(self) -> None:
        """Structures that are re-used by every call."""
        self._begin_info = struct("VkCommandBufferBeginInfo", flags=vk.VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT)
        self._between = struct("VkMemoryBarrier", srcAccessMask=_WRITES, dstAccessMask=_WRITES | _READS)
        self._at_end = struct("VkMemoryBarrier", srcAccessMask=_WRITES,
                              dstAccessMask=_WRITES | _READS | vk.VK_ACCESS_HOST_READ_BIT | vk.VK_ACCESS_HOST_WRITE_BIT)
        self._value = ffi.new("uint64_t*")
        self._command_cell = ffi.new("VkCommandBuffer*")
        self._timeline_info = struct("VkTimelineSemaphoreSubmitInfo", signalSemaphoreValueCount=1,
                                     pSignalSemaphoreValues=self._value)
        self._submit_info = struct("VkSubmitInfo", pNext=self._timeline_info, commandBufferCount=1,
                                   pCommandBuffers=self._command_cell, signalSemaphoreCount=1,
                                   pSignalSemaphores=self.semaphore)
        self._counter = ffi.new("uint64_t*")
        self._push_constants = self.functions.vkCmdPushConstants
        self._dispatch = self.functions.vkCmdDispatch
        self._bind_pipeline = self.functions.vkCmdBindPipeline
        self._pipeline_barrier = self.functions.vkCmdPipelineBarrier

    # --- recording -------------------------------------------------------------------------------------------------

    def begin(self) -> Any:
        """The command buffer being recorded, begun now if there is none."""
        if self.commands is None:
            self.retire()
            if self.free:
                commands = self.free.pop()
            else:
                cell = ffi.new("VkCommandBuffer[]", 1)
                self.functions.vkAllocateCommandBuffers(self.device.handle, struct(
                    "VkCommandBufferAllocateInfo", commandPool=self.pool,
                    level=vk.VK_COMMAND_BUFFER_LEVEL_PRIMARY, commandBufferCount=1), cell)
                commands = cell[0]
            self.functions.vkBeginCommandBuffer(commands, self._begin_info)
            self.commands = commands
            self.bound = None
        return self.commands

    def order(self, reads: Sequence[Buffer], writes: Sequence[Buffer]) -> None:
        """Record a barrier if a command with these uses needs one."""
        barrier = self.barrier
        for buffer in reads:
            if buffer.written > barrier:
                self.record_barrier()
                return
        for buffer in writes:
            if buffer.written > barrier or buffer.read > barrier:
                self.record_barrier()
                return

    def record_barrier(self) -> None:
        self._pipeline_barrier(self.commands, _COMPUTE_AND_TRANSFER, _COMPUTE_AND_TRANSFER, 0, 1, self._between,
                               0, NULL, 0, NULL)
        self.barrier = self.serial

    def dispatch(self, kernel: Kernel, push_constants: bytes, groups: tuple[int, int, int],
                 reads: Sequence[Buffer], writes: Sequence[Buffer], bindings: Any = None) -> None:
        """Record one dispatch; see Device.dispatch."""
        with self.device.gate:
            commands = self.commands or self.begin()
            x, y, z = groups
            self.order(reads, writes)
            if kernel is not self.bound:
                self._bind_pipeline(commands, vk.VK_PIPELINE_BIND_POINT_COMPUTE, kernel.pipeline)
                self.bound = kernel
            if push_constants:
                self._push_constants(commands, kernel.layout, vk.VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                     len(push_constants), push_constants)
            self._dispatch(commands, x, y, z)
            self.finish_command(kernel.name, reads, writes, x * y * z)

    def finish_command(self, name: str, reads: Sequence[Buffer], writes: Sequence[Buffer], workgroups: int) -> None:
        """Number the command just recorded, mark its buffers, submit when the batch is full."""
        self.serial = serial = self.serial + 1
        for buffer in reads:
            buffer.read = serial
        for buffer in writes:
            buffer.written = serial
        self.kernels.append(name)
        self.workgroups += workgroups
        if len(self.kernels) >= self.batch_limit or self.workgroups >= BATCH_WORKGROUPS:
            self.submit()

    def submit(self) -> None:
        """Hand what is recorded to the device."""
        if self.commands is None:
            return
        commands = self.commands
        # Orders later batches, and makes results visible to the host.
        self._pipeline_barrier(commands, _COMPUTE_AND_TRANSFER, _COMPUTE_AND_TRANSFER | vk.VK_PIPELINE_STAGE_HOST_BIT,
                               0, 1, self._at_end, 0, NULL, 0, NULL)
        self.functions.vkEndCommandBuffer(commands)
        self._value[0] = self.serial
        self._command_cell[0] = commands
        self.in_flight.append((self.serial, commands, self.kernels))
        self.commands, self.kernels, self.workgroups = None, [], 0
        self.functions.vkQueueSubmit(self.handle, 1, self._submit_info, NULL)
        self.barrier = self.submitted = self.serial
        self.batch_limit = min(self.batch_limit * 2, LARGEST_BATCH)

    # --- waiting ---------------------------------------------------------------------------------------------------

    def retire(self) -> None:
        """Note which batches are done and take back their command buffers."""
        if not self.in_flight:
            return
        self.functions.vkGetSemaphoreCounterValue(self.device.handle, self.semaphore[0], self._counter)
        self.completed = max(self.completed, self._counter[0])
        while self.in_flight and self.in_flight[0][0] <= self.completed:
            self.free.append(self.in_flight.popleft()[1])
        if not self.in_flight:
            self.batch_limit = FIRST_BATCH

    def wait(self, serial: int) -> None:
        """Return when the device has done all commands up to ``serial``."""
        if serial <= self.completed:
            return
        with self.device.gate:
            if serial > self.submitted:
                self.submit()
            self.retire()
        value = ffi.new("uint64_t*", serial)
        info = struct("VkSemaphoreWaitInfo", semaphoreCount=1, pSemaphores=self.semaphore, pValues=value)
        functions, handle = self.functions, self.device.handle
        if not self.device.limits.is_cpu:
            end = time.perf_counter() + POLL_SECONDS
            while self.completed < serial and time.perf_counter() < end:
                with self.device.gate:
                    self.retire()
        while self.completed < serial:
            functions.vkWaitSemaphores(handle, info, WAIT_NANOSECONDS)
            with self.device.gate:
                self.retire()

    def wait_all(self) -> None:
        self.wait(self.serial)

    def names_in_flight(self) -> tuple[str, ...]:
        """Names of the kernels submitted and not known to be done, each once."""
        names = [name for _, _, batch in self.in_flight for name in batch] + self.kernels
        return tuple(dict.fromkeys(names))

    def close(self) -> None:
        buffers = self.free + [commands for _, commands, _ in self.in_flight]
        if self.commands is not None:
            buffers.append(self.commands)
        if buffers:
            self.functions.vkFreeCommandBuffers(self.device.handle, self.pool, len(buffers),
                                                array("VkCommandBuffer", buffers))
        self.functions.vkDestroyCommandPool(self.device.handle, self.pool, NULL)
        self.functions.vkDestroySemaphore(self.device.handle, self.semaphore[0], NULL)


def check_groups(kernel: str, groups: tuple[int, int, int], limits: tuple[int, int, int]) -> None:
    if any(count > limit for count, limit in zip(groups, limits, strict=True)):
        raise FeatureError(f"{kernel}: dispatch of {groups} workgroups, the device takes at most {limits}; "
                           "split the work into several dispatches.", ("maxComputeWorkGroupCount",))
