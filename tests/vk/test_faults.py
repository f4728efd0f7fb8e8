"""Every Vulkan call may fail: the error is one of ours, nothing leaks, and work can go on afterwards."""

import contextlib
import gc

import numpy as np
import pytest
from vulkan_program import COMBINE, Combine, compile_glsl, download, upload

from vkarray import _vk, configuration
from vkarray._vk import api, faults, instance, queue
from vkarray.errors import DeviceError, DeviceLostError, OutOfMemoryError, VkArrayError, VulkanError

OUT_OF_HOST_MEMORY, OUT_OF_DEVICE_MEMORY, INITIALIZATION_FAILED, DEVICE_LOST = -1, -2, -3, -4


def scenario():
    """Open a device of its own, use everything once, close it. The device is returned however far it came."""
    opened = None
    with configuration.config(disable="hostVisibleDeviceMemory,subgroupVote", guard=False, check_barriers=False):
        try:
            opened = _vk.open_device()
            combine = Combine(opened)
            a, target = upload(opened, np.arange(64, dtype=np.uint32)), opened.allocate(256)
            big = upload(opened, np.zeros(100_000, np.uint32))
            timed = "timestamps" in opened.features
            with opened.timestamps() if timed else contextlib.nullcontext() as times:
                combine.run(a, a, target)
            assert (download(opened, target) == 4 * np.arange(64)).all()
            opened.copy(big, 0, target, 0, 256)
            opened.synchronize()
            del big
            opened.empty_cache()
            assert times or not timed
        finally:
            if opened is not None:
                opened.close()


def count_calls():
    with faults.inject(0, nth=10**9) as counter:
        scenario()
    return counter.calls


@pytest.fixture(scope="module")
def calls():
    _vk.open_device()  # the instance is made once and stays
    scenario()
    gc.collect()
    return count_calls()


@pytest.mark.parametrize("result", [OUT_OF_HOST_MEMORY, OUT_OF_DEVICE_MEMORY, INITIALIZATION_FAILED, DEVICE_LOST])
def test_any_call_may_fail(calls, result):
    timed = "timestamps" in _vk.open_device().features
    assert calls >= (30 if timed else 24), "the scenario makes fewer calls than it should"  # timestamps take 6
    before = api.live_objects()
    for nth in range(1, calls + 1):
        with faults.inject(result, nth=nth) as fault:
            try:
                scenario()
                raised = None  # the layer had a way round the failure, and the scenario checked the results
            except VkArrayError as error:
                raised = error
        if result == DEVICE_LOST and raised is not None:
            assert isinstance(raised, DeviceLostError), f"{fault.fired} lost the device and raised {raised!r}"
        left = {kind: count for kind, count in api.live_objects().items() if count > before.get(kind, 0)}
        assert not left, f"after call {nth}, {fault.fired}, failed with {result}: {left} are left"
    scenario()


@pytest.mark.parametrize(
    ("function", "result", "error"),
    [
        ("vkCreateInstance", -9, DeviceError),
        ("vkEnumeratePhysicalDevices", -3, VulkanError),
        ("vkEnumerateInstanceExtensionProperties", -1, OutOfMemoryError),
    ],
)
def test_instance_that_cannot_be_made(monkeypatch, function, result, error):
    monkeypatch.setattr(instance, "_instances", {})
    before = api.live_objects()
    with faults.inject(result, function), pytest.raises(error):
        _vk.enumerate_devices()
    assert api.live_objects() == before, "an instance that failed half-way is left"


@pytest.mark.parametrize("function", ["vkQueueSubmit", "vkWaitSemaphores", "vkGetSemaphoreCounterValue"])
def test_lost_device_names_kernels_in_flight_and_opens_again(own_device, function, monkeypatch):
    combine = Combine(own_device)
    a = upload(own_device, np.arange(64, dtype=np.uint32))
    own_device.synchronize()  # an upload is a command where the host does not write the device's memory
    combine.run(a, a, a)
    monkeypatch.setattr(own_device.queue.progress, "may_be_silent", lambda serial: False)
    if function == "vkWaitSemaphores":  # so that the work cannot be done before anybody waits
        monkeypatch.setattr(own_device.queue, "retire", lambda: None)
    message = f"{function}: {own_device.name} was lost; kernels in flight: combine. Its arrays are gone."
    with faults.inject(DEVICE_LOST, function, repeat=True), pytest.raises(DeviceLostError) as caught:
        own_device.synchronize()
    assert str(caught.value).startswith(message)
    assert caught.value.kernels == ("combine",)
    for use in (
        own_device.synchronize,
        lambda: own_device.allocate(64),
        lambda: combine.run(a, a, a),
        lambda: own_device.upload(a, 0, b"x"),
        lambda: download(own_device, a),
        lambda: own_device.kernel(compile_glsl(COMBINE), "again"),
    ):
        with pytest.raises(DeviceLostError, match="combine"):
            use()
    again = _vk.open_device()
    assert again is not own_device, "open_device returns the lost device"
    assert not own_device.open, "the lost device is not released when the next one opens"
    a = upload(again, np.arange(64, dtype=np.uint32))
    Combine(again).run(a, a, a)
    assert (download(again, a) == 4 * np.arange(64)).all()
    again.close()


def test_wait_finds_out_that_the_device_is_lost(own_device, monkeypatch):
    """NVIDIA's driver lets semaphores of a lost device wait for ever, and says so at a submit alone."""
    combine, progress = Combine(own_device), own_device.queue.progress
    a = upload(own_device, np.arange(64, dtype=np.uint32))
    own_device.synchronize()
    look, looks = progress.look, []

    def see_nothing_done():
        looks.append(progress.completed)
        if len(looks) > 10:  # so that a wait which never asks comes to its end
            look()

    monkeypatch.setattr(progress, "look", see_nothing_done)
    monkeypatch.setattr(progress, "may_be_silent", lambda serial: False)  # else the wait may see a word in memory
    monkeypatch.setattr(queue, "PROBE_SECONDS", 0.0)
    combine.run(a, a, a)
    own_device.queue.submit()
    assert own_device.queue.submitted == own_device.queue.serial, "something is left that a wait would submit"
    with faults.inject(DEVICE_LOST, "vkQueueSubmit"), pytest.raises(DeviceLostError, match="in flight: combine"):
        own_device.synchronize()


def test_submit_without_memory_waits_and_tries_again(own_device):
    combine = Combine(own_device)
    a = upload(own_device, np.arange(64, dtype=np.uint32))
    combine.run(a, a, a)
    with faults.inject(OUT_OF_DEVICE_MEMORY, "vkQueueSubmit") as fault:
        own_device.synchronize()
    assert fault.fired
    assert (download(own_device, a) == 4 * np.arange(64)).all()


@pytest.mark.parametrize("function", ["vkQueueSubmit", "vkBeginCommandBuffer", "vkEndCommandBuffer"])
def test_batch_that_cannot_be_submitted_stays_until_it_can(own_device, function):
    combine = Combine(own_device)
    a = upload(own_device, np.arange(64, dtype=np.uint32))
    combine.run(a, a, a)
    with faults.inject(OUT_OF_DEVICE_MEMORY, function, repeat=True):
        for read in (own_device.synchronize, lambda: download(own_device, a)):
            with pytest.raises(OutOfMemoryError, match=function):
                read()
        for _ in range(queue.FIRST_BATCH):  # a full batch is no reason to say that a command was not taken
            combine.run(a, a, a)
    assert (download(own_device, a) == 4 ** (1 + queue.FIRST_BATCH) * np.arange(64)).all()


def test_kernel_that_the_driver_refuses(own_device):
    with (
        faults.inject(INITIALIZATION_FAILED, "vkCreateComputePipelines", repeat=True),
        pytest.raises(VulkanError, match="vkCreateComputePipelines failed with VK_ERROR_INITIALIZATION_FAILED"),
    ):
        Combine(own_device)
    Combine(own_device)


def test_rejected_pipeline_cache_is_made_anew(tmp_path):
    with configuration.config(cache=tmp_path):
        scenario()
        with faults.inject(INITIALIZATION_FAILED, "vkCreatePipelineCache") as fault:
            scenario()
        assert fault.fired
