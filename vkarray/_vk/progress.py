"""How far the device is: a timeline semaphore counts the serials of what is done, and on a GPU a word of memory does.

A signal of a semaphore interrupts a processor, which on a virtual machine took it 28 µs, twice the time from a submission of
one small kernel until its result was there. So on a GPU small batches are silent: their last command writes their serial into
memory of the host, which looks there. What the driver has done with (command buffers, pipelines) is what a later signal says.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from .api import NULL, ffi, struct, vk
from .block import Block, host_block

if TYPE_CHECKING:
    from .device import Device

SILENT_COMMANDS = 64  # between two signals, at most
SPIN_SECONDS = 5e-5  # so long a thread that waits for a silent batch keeps the interpreter for itself
POLL_SECONDS = 2e-3  # waking from a sleeping wait took 50 to 600 µs on a GPU; after this long it is little
WAIT_NANOSECONDS = 100_000_000  # wake up this often so that Ctrl-C works


class Progress:
    """Which serials the device has done. Written to behind the device's gate, by statements that are one step (`lease.py`)."""

    def __init__(self, device: Device) -> None:
        self.device, self.functions = device, device.functions
        self.completed = 0  # all up to this serial is done
        self.released = 0  # and the driver has done with all that was submitted for it
        self.signalled = 0  # the last serial that a submission signals
        self._counter = ffi.new("uint64_t*")
        self.semaphore = ffi.new("VkSemaphore*")
        timeline = struct("VkSemaphoreTypeCreateInfo", semaphoreType=vk.VK_SEMAPHORE_TYPE_TIMELINE)
        self.functions.vkCreateSemaphore(
            device.handle, struct("VkSemaphoreCreateInfo", pNext=timeline), NULL, self.semaphore
        )
        self.block: Block | None = None  # memory of the host, where the word lies; None where no batch is silent
        self.word = NULL  # the serial of the last silent batch that is done
        try:
            if not device.limits.is_cpu:
                self.block = host_block(device, 8)
                self.word = ffi.cast("volatile uint64_t*", self.block.pointer)
                self.word[0] = 0
        except BaseException:
            self.close()
            raise

    def submit_info(self, value: Any, **fields: Any) -> Any:
        """What a submission is, which signals what the cell `value` holds, or nothing where that is None."""
        if value is not None:
            timeline = struct(
                "VkTimelineSemaphoreSubmitInfo", signalSemaphoreValueCount=1, pSignalSemaphoreValues=value
            )
            fields |= {"pNext": timeline, "signalSemaphoreCount": 1, "pSignalSemaphores": self.semaphore}
        return struct("VkSubmitInfo", **fields)

    def may_be_silent(self, serial: int) -> bool:
        """Whether a batch need not signal."""
        return self.block is not None and serial - self.signalled <= SILENT_COMMANDS

    def record(self, commands: Any, value: Any, serial: int) -> None:
        """The last command of a silent batch; `value` is the cell of its command buffer, which holds the serial."""
        self.functions.vkCmdUpdateBuffer(commands, self.block.buffer, 0, 8, value)  # type: ignore[union-attr]

    def look(self) -> None:
        """See how far the device is. Raises DeviceLostError when it has passed the last serial there is."""
        if self.block is not None:
            seen = self.word[0]
            self.completed = seen if seen > self.completed else self.completed
        if self.signalled > self.released:
            self.functions.vkGetSemaphoreCounterValue(self.device.handle, self.semaphore[0], self._counter)
            seen = self._counter[0]
            if seen > self.device.queue.serial:  # some drivers count to 2^64-1 when the device is lost
                raise self.device._lost("vkGetSemaphoreCounterValue")
            self.completed = seen if seen > self.completed else self.completed
            self.released = seen if seen > self.released else self.released  # last: what is released is completed

    def is_silent(self, serial: int) -> bool:
        """Whether the batch of a serial that was submitted does not signal, and was not done when the host looked last."""
        return self.block is not None and serial > self.signalled and bool(serial > self.word[0])

    def spin(self, serial: int) -> None:
        """Look for a short while whether the device has done a silent batch; no other thread runs meanwhile."""
        word, clock = self.word, time.perf_counter
        end = clock() + SPIN_SECONDS
        while (seen := word[0]) < serial and clock() < end:
            pass
        self.completed = seen if seen > self.completed else self.completed

    def poll(self, serial: int, silent: bool) -> None:
        """Look for a while whether the device has done a batch."""
        counter, ask = ffi.new("uint64_t*"), self.functions.vkGetSemaphoreCounterValue  # other threads poll too
        seen, end = self.word if silent else counter, time.perf_counter() + POLL_SECONDS
        while seen[0] < serial and time.perf_counter() < end:
            ask(self.device.handle, self.semaphore[0], counter)  # a call of Vulkan's lets other threads run

    def sleep(self, signalled: int) -> None:
        """Return when a serial is signalled, or after WAIT_NANOSECONDS."""
        value = ffi.new("uint64_t*", signalled)
        info = struct("VkSemaphoreWaitInfo", semaphoreCount=1, pSemaphores=self.semaphore, pValues=value)
        self.functions.vkWaitSemaphores(self.device.handle, info, WAIT_NANOSECONDS)

    def arrived(self, serial: int, silent: bool) -> bool:
        """Whether the batch of this serial is done, when the queue is idle."""
        if silent:
            return bool(self.word[0] >= serial)
        self.functions.vkGetSemaphoreCounterValue(self.device.handle, self.semaphore[0], self._counter)
        return bool(self._counter[0] >= serial)

    def close(self) -> None:
        self.functions.vkDestroySemaphore(self.device.handle, self.semaphore[0], NULL)
        if self.block is not None:
            self.block.destroy()
