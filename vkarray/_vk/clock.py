"""The host's clock and the device's, side by side: where on `time.perf_counter_ns` a timestamp lies."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from .api import NULL, array, ffi, struct, vk

if TYPE_CHECKING:
    from .device import Device

ESTIMATES = 8  # samples, of which the most certain one counts
_MOST_WAIT = 10**9  # ns
# Python's clock -> Vulkan's name of the same one.
_DOMAINS = {"clock_gettime(CLOCK_MONOTONIC)": 1}
_OF_THE_DEVICE, _INFO = 0, 1000184000  # a VkTimeDomainEXT and a VkStructureType, which bindings lack
CALIBRATED, ESTIMATED = "calibrated timestamps", "a submission between two readings of the host's clock"


class Sample(NamedTuple):
    """A moment on both clocks: ns of the host, ticks of the device, and by how many ns the two may be apart."""

    host: int
    ticks: int
    uncertainty: int


def within(before: int, sample: Sample, after: int) -> Sample:
    """A sample that was taken between two times of the host, with what they say of its uncertainty.

    A thread may have been stopped between the readings of the two clocks, of which the driver's own figure knows nothing.
    """
    return sample._replace(uncertainty=max(sample.uncertainty, sample.host - before, after - sample.host, 1))


class Clock:
    """Takes samples of a device that has timestamps, behind its gate."""

    def __init__(self, device: Device) -> None:
        self.device, self.domain, self.suffix = device, None, ""
        if "calibratedTimestamps" in device.features:
            self.suffix = "KHR" if "VK_KHR_calibrated_timestamps" in device.physical.extensions else "EXT"
            domain = _DOMAINS.get(time.get_clock_info("perf_counter").implementation)
            self.domain = domain if domain in self._domains() else None
        self.way = ESTIMATED if self.domain is None else CALIBRATED

    def _domains(self) -> list[int]:
        physical, count = self.device.physical, ffi.new("uint32_t*")
        ask = getattr(physical.functions, f"vkGetPhysicalDeviceCalibrateableTimeDomains{self.suffix}")
        ask(physical.handle, count, NULL)
        found = ffi.new("VkTimeDomainEXT[]", count[0])
        ask(physical.handle, count, found)
        return [int(one) for one in found]

    def sample(self) -> Sample:
        """Now."""
        return self._estimated() if self.domain is None else self._calibrated()

    def _calibrated(self) -> Sample:
        domains = _OF_THE_DEVICE, self.domain
        clocks = array("VkCalibratedTimestampInfoEXT", [{"sType": _INFO, "timeDomain": domain} for domain in domains])
        stamps, deviation = ffi.new("uint64_t[2]"), ffi.new("uint64_t*")
        ask = getattr(self.device.functions, f"vkGetCalibratedTimestamps{self.suffix}")
        found = []
        for _ in range(ESTIMATES):
            before = time.perf_counter_ns()
            ask(self.device.handle, 2, clocks, stamps, deviation)
            found.append(within(before, Sample(stamps[1], stamps[0], deviation[0]), time.perf_counter_ns()))
        return min(found, key=lambda sample: sample.uncertainty)

    def _estimated(self) -> Sample:
        """A timestamp in a submission of its own, which the device takes between two readings of the host's clock."""
        device, functions = self.device, self.device.functions
        handle, made = device.handle, []

        def make(kind: str, create: Any) -> Any:
            cell = ffi.new(f"{kind}*")
            made.append((getattr(functions, f"vkDestroy{kind[2:]}"), cell))
            getattr(functions, f"vkCreate{kind[2:]}")(handle, create, NULL, cell)
            return cell[0]

        try:
            family = device.physical.queue_family
            pool = make("VkCommandPool", struct("VkCommandPoolCreateInfo", queueFamilyIndex=family))
            timestamps = vk.VK_QUERY_TYPE_TIMESTAMP
            queries = make("VkQueryPool", struct("VkQueryPoolCreateInfo", queryType=timestamps, queryCount=1))
            fence = make("VkFence", struct("VkFenceCreateInfo"))
            cell = ffi.new("VkCommandBuffer*")
            take = struct("VkCommandBufferAllocateInfo", commandPool=pool, commandBufferCount=1)
            functions.vkAllocateCommandBuffers(handle, take, cell)
            made.append((lambda handle, buffer, _: functions.vkFreeCommandBuffers(handle, pool, 1, cell), cell))
            functions.vkBeginCommandBuffer(cell[0], struct("VkCommandBufferBeginInfo"))
            functions.vkCmdResetQueryPool(cell[0], queries, 0, 1)
            functions.vkCmdWriteTimestamp(cell[0], vk.VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries, 0)
            functions.vkEndCommandBuffer(cell[0])
            submission = struct("VkSubmitInfo", commandBufferCount=1, pCommandBuffers=cell)
            fences, stamp = array("VkFence", [fence]), ffi.new("uint64_t*")
            flags, best = vk.VK_QUERY_RESULT_64_BIT | vk.VK_QUERY_RESULT_WAIT_BIT, None
            functions.vkQueueWaitIdle(device.queue.handle)
            for _ in range(ESTIMATES):
                before = time.perf_counter_ns()
                functions.vkQueueSubmit(device.queue.handle, 1, submission, fence)
                functions.vkWaitForFences(handle, 1, fences, 1, _MOST_WAIT)
                after = time.perf_counter_ns()
                functions.vkResetFences(handle, 1, fences)
                functions.vkGetQueryPoolResults(handle, queries, 0, 1, 8, stamp, 8, flags)
                half = (after - before + 1) // 2
                if best is None or half < best.uncertainty:
                    best = Sample(before + half, stamp[0], half)
            assert best is not None, "at least one submission is made"
            return best
        finally:
            for destroy, cell in reversed(made):
                destroy(handle, cell[0], NULL)
