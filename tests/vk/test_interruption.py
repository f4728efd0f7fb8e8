"""What strikes in the middle: Ctrl-C, a full memory, another thread that closes the device, a counter that lies."""

import threading
import time

import numpy as np
import pytest
from vulkan_program import COMBINE, Combine, compile_glsl, download, upload

from vkarray._vk import faults
from vkarray.errors import DeviceError, DeviceLostError

OUT_OF_DEVICE_MEMORY, TIMEOUT = -2, 2
WORDS = np.arange(64, dtype=np.uint32)


@pytest.fixture
def two_batches(own_device, monkeypatch):
    """A batch that is done although nobody has noticed, and one recorded after it: (device, two buffers)."""
    combine, queue = Combine(own_device), own_device.queue
    a, b = upload(own_device, WORDS), upload(own_device, WORDS)
    own_device.synchronize()
    with monkeypatch.context() as patch:
        patch.setattr(queue, "retire", lambda: None)
        combine.run(a, a, a)
        queue.submit()
        combine.run(b, b, b)
        own_device.functions.vkQueueWaitIdle(queue.handle)
    return own_device, a, b


def refuse_to_wait(monkeypatch, device):
    def wait(*_):
        pytest.fail("waits for a batch that nobody will finish")

    monkeypatch.setattr(device.functions, "vkWaitSemaphores", wait)


def test_submit_without_memory_does_not_wait_for_itself(two_batches, monkeypatch):
    device, a, b = two_batches
    with monkeypatch.context() as patch, faults.inject(OUT_OF_DEVICE_MEMORY, "vkQueueSubmit") as fault:
        refuse_to_wait(patch, device)
        device.queue.submit()
    assert fault.fired
    for buffer in (a, b):
        assert (download(device, buffer) == 4 * WORDS).all()


def test_result_that_is_there_is_read_without_waiting_for_later_work(two_batches, monkeypatch):
    device, a, _ = two_batches
    count = device.functions.vkGetSemaphoreCounterValue

    def first_batch_only(handle, semaphore, counter):
        counter[0] = a.written
        return 0

    device.queue.submit()
    with monkeypatch.context() as patch:
        patch.setattr(device.functions, "vkGetSemaphoreCounterValue", first_batch_only)
        refuse_to_wait(patch, device)
        device.queue.wait(a.written)
    assert device.functions.vkGetSemaphoreCounterValue is count
    assert (download(device, a) == 4 * WORDS).all()


def interrupt(monkeypatch, device, name, when):
    """Ctrl-C before or after a call of a Vulkan function, once."""
    function = getattr(device.functions, name)

    def interrupted(*arguments):
        monkeypatch.setattr(device.functions, name, function)
        if when == "after":
            function(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(device.functions, name, interrupted)


def test_submit_interrupted_when_the_driver_has_the_batch_loses_nothing(own_device, monkeypatch):
    combine, queue = Combine(own_device), own_device.queue
    a = upload(own_device, WORDS)
    for factor in (4, 16, 64):
        queue.batch_limit = 2  # a GPU submits the first command after a wait at once
        combine.run(a, a, a)
        interrupt(monkeypatch, own_device, "vkQueueSubmit", "after")
        with pytest.raises(KeyboardInterrupt):
            own_device.synchronize()
        assert (download(own_device, a) == factor * WORDS).all()
    assert queue.submitted == queue.completed == queue.serial


@pytest.mark.parametrize(
    ("function", "when"),
    [("vkEndCommandBuffer", "before"), ("vkEndCommandBuffer", "after"), ("vkQueueSubmit", "before")],
)
@pytest.mark.parametrize("again", [False, True])
def test_interrupted_submit_is_made_up_for(own_device, monkeypatch, function, when, again):
    combine = Combine(own_device)
    a = upload(own_device, WORDS)
    combine.run(a, a, a)
    interrupt(monkeypatch, own_device, function, when)
    with pytest.raises(KeyboardInterrupt):
        own_device.synchronize()
    if again and function == "vkQueueSubmit":  # while it finds out whether the driver has the batch
        interrupt(monkeypatch, own_device, "vkQueueWaitIdle", "before")
        with pytest.raises(KeyboardInterrupt):
            own_device.synchronize()
    assert (download(own_device, a) == 4 * WORDS).all()


@pytest.mark.parametrize("command", ["dispatch", "vkCmdCopyBuffer", "vkCmdUpdateBuffer"])
def test_command_whose_recording_is_interrupted_is_recorded_again(own_device, monkeypatch, command):
    combine, queue = Combine(own_device), own_device.queue
    a, b = upload(own_device, WORDS), upload(own_device, 5 * WORDS)
    own_device.synchronize()
    monkeypatch.setattr(own_device.transfer, "_idle", lambda buffer: False)  # so that uploads are commands
    owner = queue.recorder if command == "dispatch" else own_device.functions
    record = getattr(owner, command)

    def interrupted(*arguments):
        record(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(owner, command, interrupted)
    {
        "dispatch": lambda: combine.run(a, a, b),
        "vkCmdCopyBuffer": lambda: own_device.copy(a, 0, b, 0, 256),
        "vkCmdUpdateBuffer": lambda: own_device.upload(b, 0, WORDS),
    }[command]()
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            queue.submit()
    monkeypatch.setattr(owner, command, record)
    if command != "dispatch":  # the function to call stands in the step
        with pytest.raises(KeyboardInterrupt):
            queue.submit()
        queue.todo[0].steps[0] = (*queue.todo[0].steps[0][:3], record, *queue.todo[0].steps[0][4:])
    combine.run(b, b, a)
    expected = 4 * WORDS if command == "dispatch" else WORDS
    assert (download(own_device, b) == expected).all()
    assert (download(own_device, a) == 4 * expected).all()


def test_waiting_for_a_command_that_was_never_recorded_ends(own_device):
    combine, a = Combine(own_device), upload(own_device, WORDS)
    combine.run(a, a, a)
    own_device.queue.wait(own_device.queue.serial + 1)
    assert own_device.queue.completed == own_device.queue.serial


def test_counter_beyond_what_was_submitted_is_a_lost_device(own_device, monkeypatch):
    combine = Combine(own_device)
    a = upload(own_device, WORDS)
    own_device.synchronize()  # an upload is a command where the host does not write the device's memory
    combine.run(a, a, a)

    def full(handle, semaphore, counter):
        counter[0] = 2**64 - 1
        return 0

    monkeypatch.setattr(own_device.functions, "vkGetSemaphoreCounterValue", full)
    monkeypatch.setattr(own_device.queue.progress, "may_be_silent", lambda serial: False)
    with pytest.raises(DeviceLostError, match=r"vkGetSemaphoreCounterValue: .* was lost; kernels in flight: combine"):
        own_device.synchronize()


def in_thread(work):
    """Run it in a thread; returns the thread and the list that gets its error."""
    errors = []

    def run():
        try:
            work()
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, errors


@pytest.mark.parametrize("use", ["dispatch", "allocate", "upload", "download", "kernel", "synchronize"])
def test_thread_that_stands_before_the_gate_finds_it_shut(own_device, use):
    combine, a = Combine(own_device), upload(own_device, WORDS)
    uses = {
        "dispatch": lambda: combine.run(a, a, a),
        "allocate": lambda: own_device.allocate(12345),
        "upload": lambda: own_device.upload(a, 0, WORDS),
        "download": lambda: download(own_device, a),
        "kernel": lambda: own_device.kernel(compile_glsl(COMBINE), "combine"),
        "synchronize": own_device.synchronize,
    }
    with own_device.gate:
        thread, errors = in_thread(uses[use])
        time.sleep(0.1)
        own_device.close()
    thread.join(10)
    assert not thread.is_alive()
    assert [type(error) for error in errors] == [DeviceError], f"{use} goes on with a closed device: {errors}"
    assert "was closed" in str(errors[0])


@pytest.mark.parametrize("seconds", [0.2, 1.5], ids=["soon", "late"])  # as on a system with much else to do
def test_nothing_is_destroyed_under_a_thread_that_waits(own_device, monkeypatch, seconds):
    combine, a = Combine(own_device), upload(own_device, WORDS)
    combine.run(a, a, a)
    waiting, destroyed_under = [], []
    destroy = own_device.functions.vkDestroySemaphore

    def slow(*_):
        waiting.append(True)
        time.sleep(seconds)
        waiting.clear()
        return TIMEOUT

    monkeypatch.setattr(own_device.queue, "retire", lambda: None)
    monkeypatch.setattr(own_device.functions, "vkWaitSemaphores", slow)
    monkeypatch.setattr(own_device, "await_work", lambda: None)
    monkeypatch.setattr(
        own_device.functions, "vkDestroySemaphore", lambda *rest: (destroyed_under.extend(waiting), destroy(*rest))
    )
    thread, errors = in_thread(own_device.queue.wait_all)
    while not waiting and thread.is_alive():
        time.sleep(0.001)
    own_device.close()
    thread.join(10)
    assert not destroyed_under, "the semaphore is destroyed while a thread waits for it"
    assert [type(error) for error in errors] == [DeviceError]


@pytest.mark.parametrize(
    ("wait", "fails"),
    [(lambda queue: queue.wait(queue.serial), "_wait_outside"), (lambda queue: queue.wait_all(), "_sleep")],
    ids=["wait", "wait_all"],
)
def test_wait_that_failed_is_over_while_somebody_holds_its_error(own_device, monkeypatch, wait, fails):
    """Closing the device waits for those who wait."""
    combine, queue, counted = Combine(own_device), own_device.queue, []
    a = upload(own_device, WORDS)
    combine.run(a, a, a)

    def fail(_):
        counted.append(len(queue.waiting))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(queue.progress, "look", lambda: None)  # so that the work is not done before anybody waits
        patch.setattr(queue.progress, "spin", lambda serial: None)
        patch.setattr(queue, fails, fail)
        with pytest.raises(KeyboardInterrupt) as held:
            wait(queue)
    assert held.value.__traceback__ is not None
    assert counted == [1]
    assert not queue.waiting


def test_closing_under_threads_at_work(own_device):
    combine = Combine(own_device)

    def work():
        a = upload(own_device, WORDS)
        while True:
            combine.run(a, a, own_device.allocate(256))
            download(own_device, a)

    threads = [in_thread(work) for _ in range(3)]
    time.sleep(0.2)
    own_device.close()
    for thread, errors in threads:
        thread.join(10)
        assert not thread.is_alive()
        assert [type(error) for error in errors] == [DeviceError], errors


def test_first_reason_stays(own_device):
    """A lost device that is closed, as happens when it is opened again, still says that it was lost."""
    combine, a = Combine(own_device), upload(own_device, WORDS)
    own_device.synchronize()  # an upload is a command where the host does not write the device's memory
    combine.run(a, a, a)
    opened = repr(own_device)
    assert opened.startswith(f"<Device {own_device.index}: {own_device.name}")
    with faults.inject(-4, "vkQueueSubmit", repeat=True), pytest.raises(DeviceLostError):
        own_device.synchronize()
    own_device.close()
    with pytest.raises(DeviceLostError, match="in flight: combine"):
        combine.run(a, a, a)
    assert repr(own_device) == opened.replace(">", " (lost)>")


def test_closed_device_says_so(own_device):
    opened = repr(own_device)
    own_device.close()
    assert repr(own_device) == opened.replace(">", " (closed)>")
    with pytest.raises(DeviceError, match=r"was closed, and its arrays are gone\. Make new ones; that opens"):
        own_device.allocate(64)
