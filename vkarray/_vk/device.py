"""The device: one object that hands out memory and kernels and takes work."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from .. import configuration, device_caches
from ..errors import DeviceError, DeviceLostError, ForkError, VkArrayError
from . import api, barriers, faults, instance, timing
from .api import NULL, array, struct
from .descriptors import Descriptors
from .guard import GuardedAllocator
from .kernel import Kernel
from .making import Making
from .memory import Allocator
from .physical_device import PhysicalDevice, choose, physical_devices
from .pipeline_cache import PipelineCache
from .queue import Queue
from .replay import Replay
from .transfer import Transfer
from .watch import after_waits

if TYPE_CHECKING:
    from .call import Call


class Gate(type(threading.RLock())):  # type: ignore[misc]
    """Lets one thread at a time use a device, until it is shut: whoever enters has to check, and then gets the reason.

    It enters and leaves as the lock that it is, in C: Ctrl-C would strike inside methods of Python, with the lock held.
    """

    reason: Callable[[], VkArrayError] | None = None

    def check(self) -> None:
        """Raise the reason when the gate is shut."""
        if self.reason is not None:
            raise self.reason()


class Device:
    """A logical device with one compute queue. Use ``open_device``; safe from several threads."""

    def __init__(self, physical: PhysicalDevice) -> None:
        settings = configuration.current()
        self.physical, self.description = physical, physical.description
        self.name, self.index, self.uuid = self.description.name, self.description.index, self.description.uuid
        self.features, self.limits = physical.features, physical.limits
        self.gate = Gate()
        self.open = False
        self.lost: DeviceLostError | None = None
        self.kernels: weakref.WeakSet[Kernel] = weakref.WeakSet()
        with ExitStack() as stack:  # what is made before a failure is released again
            self._create()
            stack.callback(self._let_go)
            self.memory = GuardedAllocator(self) if settings.guard else Allocator(self)
            stack.callback(self.memory.close)
            self.pipeline_cache = PipelineCache(self)
            stack.callback(self.pipeline_cache.close)
            self.making: set[Making] = set()
            self.places = threading.BoundedSemaphore(max(os.cpu_count() or 1, 2))
            stack.callback(self.await_pipelines)
            self.descriptors = Descriptors(self)
            stack.callback(self.descriptors.close)
            self.queue = Queue(self, stack)  # closes first: its batches keep descriptors
            self.transfer = Transfer(self)
            stack.callback(self.transfer.close)
            if settings.check_barriers:
                barriers.attach(self.queue, self.memory)
            self._release = stack.pop_all().close
        self.open = True
        # The hot calls, without a frame in between.
        self.allocate = self.memory.allocate
        self.dispatch = self.queue.dispatch
        self.upload, self.download = self.transfer.upload, self.transfer.download
        self.fetch, self.take_out, self.number = self.transfer.fetch, self.transfer.take_out, self.transfer.number
        self.copy, self.mapped = self.transfer.copy, self.transfer.mapped
        _opened.add(self)
        if settings.debug:
            print(
                f"vkarray: {self!r}, {self.description.driver}, Vulkan {self.description.api_version}", file=sys.stderr
            )

    def _create(self) -> None:
        physical = self.physical
        queues = struct(
            "VkDeviceQueueCreateInfo",
            queueFamilyIndex=physical.queue_family,
            queueCount=1,
            pQueuePriorities=array("float", [1.0]),
        )
        extensions = physical.extensions_to_enable()
        owner = physical.instance.cell
        if owner is None:
            raise DeviceError(f"{self.name} could not be opened: Vulkan was closed meanwhile. Open it again.")
        create = struct(
            "VkDeviceCreateInfo",
            pNext=physical.feature_chain(self.features),
            queueCreateInfoCount=1,
            pQueueCreateInfos=queues,
            enabledExtensionCount=len(extensions),
            ppEnabledExtensionNames=api.text_array(extensions),
        )
        self.cell = api.owned(
            "VkDevice",
            lambda cell: physical.functions.vkCreateDevice(physical.handle, create, NULL, cell),
            physical.functions.vkDestroyDevice,
            owner,
            takes_owner=False,
        )
        self.handle = self.cell[0]
        self.functions = api.device_functions(physical.functions, self.handle, self._lost)
        self.functions_aside = api.device_functions(physical.functions, self.handle, None)  # for threads behind no gate

    def _let_go(self) -> None:
        """Release the handle, unless the host has views of memory: then with the last of them."""
        self.cell = None

    def kernel(
        self, spirv: bytes, name: str, specialization: tuple[tuple[int, int], ...] = (), subgroup: int = 0
    ) -> Kernel:
        """A compute pipeline; ``specialization`` are (constant_id, 32-bit value). The caller caches it.

        ``subgroup``: how many invocations its subgroups shall have; 0: as many as those of other kernels with subgroups.
        Raises ShaderError for damaged SPIR-V and FeatureError when the device lacks what the kernel needs.
        """
        with self.gate:
            self.gate.check()
            begin = time.perf_counter_ns()
            kernel = Kernel(self, spirv, name, specialization, subgroup)
            self.kernels.add(kernel)
            self.pipeline_cache.added()
            if self.queue.timing_sinks:
                timing.host(self.queue, "make kernel", begin, kernel=name)
            if configuration.current().debug:
                print(
                    f"vkarray: pipeline {name} {specialization} made in {(time.perf_counter_ns() - begin) * 1e-6:.1f} ms",
                    file=sys.stderr,
                )
            return kernel

    def makes_aside(self) -> bool:
        """Whether threads make pipelines: not where somebody wants to know which call it is that takes so long, or fails."""
        settings = configuration.current()
        return not (settings.debug or settings.validation or faults._faults)

    def await_pipelines(self) -> None:
        """Return when no thread makes a pipeline."""
        for making in list(self.making):
            making.over.wait()

    def replay(self, calls: Sequence[Call], moving: int) -> Replay:
        """Dispatches that are recorded once; of the memory that they use the first `moving` pieces move from run to run."""
        return Replay(self, calls, moving)

    def synchronize(self) -> None:
        """Return when the device has done all work given to it so far. Raises the error of a value that its kernels found wrong."""
        self.await_work()
        for look in after_waits:
            look(self)

    def await_work(self) -> None:
        """Return when the device has done all work given to it so far, whatever its kernels found wrong with values."""
        with self.gate:
            self.gate.check()
            serial = self.queue.serial
        self.queue.wait(serial)
        self.memory.check()
        api.raise_messages(self.physical.instance.messages)

    def timestamps(self) -> AbstractContextManager[list[tuple[str, float]]]:
        """``with device.timestamps() as times:`` fills ``times`` with (kernel name, seconds on the device)."""
        return timing.timestamps(self)

    def memory_statistics(self) -> dict[str, int]:
        """Bytes in use, cached, reserved, peak and total; counts of allocations, cache misses and blocks."""
        return self.memory.statistics()

    def empty_cache(self) -> None:
        """Give unused memory back to the driver."""
        self.memory.empty_cache()

    def _lost(self, function: str) -> DeviceLostError:
        """The device is lost: no more work from now on. Returns the error for the call that noticed."""
        kernels = self.queue.names_in_flight() if hasattr(self, "queue") else ()
        running = f"kernels in flight: {', '.join(kernels)}" if kernels else "no kernel was in flight"
        error = DeviceLostError(
            f"{function}: {self.name} was lost; {running}. Its arrays are gone. A kernel that runs for seconds, reads "
            "out of bounds or meets a driver fault can do this. Make new arrays to go on; that opens the device again.",
            kernels,
        )
        self.give_up(error)
        return error

    def give_up(self, error: DeviceLostError) -> None:
        """Refuse all further work; the next ``open_device`` makes a new device."""
        self.lost = error
        self._refuse(lambda: DeviceLostError(str(error), error.kernels))

    def _refuse(self, reason: Callable[[], VkArrayError]) -> None:
        """Shut the gate when no thread is behind it. The first reason stays."""
        with self.gate:
            self.gate.reason = self.gate.reason or reason
            self.memory.bin_of.clear()  # the way to memory that does not pass the gate
            if hasattr(self, "queue"):
                self.queue.abandon()

    def close(self) -> None:
        """Wait for the work, then release everything that belongs to the device. Its buffers become invalid."""
        with _lock:
            if not self.open:
                return
            try:
                if self.lost is None:
                    self.await_work()
                    self.await_pipelines()
                    self.pipeline_cache.save()
            finally:
                remedy = "The process ends" if _ending else "Make new ones; that opens the device again"
                self._refuse(lambda: DeviceError(f"{self.name} was closed, and its arrays are gone. {remedy}."))
                self.queue.await_waiting()
                with suppress(VkArrayError):  # also after an error, nothing may be in use any more
                    self.functions.vkDeviceWaitIdle(self.handle)
                self.await_pipelines()
                self.open = False
                _opened.discard(self)
                for kernel in list(self.kernels):
                    kernel.destroy()
                self._release()
                device_caches.count_closed()
        api.raise_messages(self.physical.instance.messages)

    def __copy__(self) -> Device:
        """The device itself: there is no second one to be had."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Device:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled, a device is its UUID; unpickling opens the device of that UUID, under the switches in force."""
        return open_device, (self.uuid,)

    def __repr__(self) -> str:
        state = " (lost)" if self.lost else "" if self.open else " (closed)"
        imposed = f" as {', '.join(self.description.profiles)}" if self.description.profiles else ""
        return f"<Device {self.index}: {self.name}{imposed}{state}>"


_lock = threading.RLock()
_devices: dict[tuple[Any, ...], Device] = {}  # by physical device and the switches it was opened under
_selected: dict[tuple[Any, ...], Device] = {}  # by what was asked for, so that asking again is cheap
_last: tuple[configuration.Configuration, Device] | None = None  # the default device under a configuration
_opened: weakref.WeakSet[Device] = weakref.WeakSet()


_preferred: dict[int, Device] = {}  # by thread; nearly always empty


@contextmanager
def preferring(device: Device) -> Iterator[None]:
    """Let a device be the default one of this thread for a block of code."""
    thread = threading.get_ident()
    before = _preferred.get(thread)
    try:
        _preferred[thread] = device
        yield
    finally:
        if before is None:
            _preferred.pop(thread, None)
        else:
            _preferred[thread] = before


def under_profiles(selector: int | str | None, names: tuple[str, ...]) -> Device:
    """A device under profiles (see `profiles.py`), opened for the caller alone, who closes it."""
    with configuration.config(profile=names):
        settings = configuration.current()
        return Device(choose(physical_devices(settings), settings.device if selector is None else selector))


def open_device(selector: int | str | None = None) -> Device:
    """The device that ``selector`` names: index, UUID or part of the name; None for VKARRAY_DEVICE or the best one.

    Opening the same device again gives the same object. Raises DeviceError when there is none or nothing matches.
    """
    global _last
    if selector is None and _preferred and (device := _preferred.get(threading.get_ident())) is not None:
        return device
    settings = configuration.active or configuration.current()
    last = _last  # read once: another thread may close all devices meanwhile
    if selector is None and last is not None and last[0] is settings:
        device = last[1]
        if device.open and device.lost is None:
            return device
    asked = settings.device if selector is None else selector
    switches = (settings.validation, settings.disable, settings.profile, settings.guard, settings.check_barriers)
    named = None if asked is None else str(asked)  # as it is compared; whatever it is has a hash
    device = _selected.get((named, switches))
    if device is not None and device.open and device.lost is None:
        _last = (settings, device) if selector is None else _last
        return device
    with _lock:
        physical = choose(physical_devices(settings), asked)
        key = (physical.description.index, physical.description.uuid, switches)
        device = _devices.get(key)
        if device is not None and device.lost is not None:
            device.close()
        if device is None or not device.open:
            device = _devices[key] = Device(physical)
        _selected[named, switches] = device
        return device


def ask_for_times(sink: timing.Sink) -> None:
    """Give a sink the times of all devices, also of those that are opened later."""
    timing.everywhere.append(sink)
    for device in list(_opened):
        if sink not in device.queue.timing_sinks:
            device.queue.timing_sinks.append(sink)


def ask_no_more(sink: timing.Sink) -> None:
    """End `ask_for_times`."""
    timing.everywhere[:] = [other for other in timing.everywhere if other is not sink]
    for device in list(_opened):
        timing.remove(device.queue, sink)


def close_all() -> None:
    """Close every device and release Vulkan; using a device again starts afresh."""
    global _last
    _last = None
    with _lock, ExitStack() as stack:  # each step, also when one before raises
        stack.callback(instance.close_all)
        stack.callback(_selected.clear)
        stack.callback(_devices.clear)
        for device in list(_opened):
            stack.callback(device.close)


def _after_fork() -> None:
    global _lock
    timing.everywhere.clear()
    _lock = threading.RLock()
    for device in list(_opened):
        device.open = False
        device.gate = device.queue.gate = Gate()  # a thread of the parent may have held the old one
        device._refuse(lambda: ForkError(instance.FORKED))
    _opened.clear()
    _devices.clear()
    _selected.clear()


def _end() -> None:
    global _ending
    _ending = True  # for threads that go on meanwhile
    close_all()


_ending = False
atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
