"""Silent batches: how the host sees what a GPU has done without signals."""

import numpy as np
import pytest
from vulkan_program import Combine, combine_in_threads, device_of_its_own, download, upload, words

from vkarray._vk import api, faults, progress, queue
from vkarray.errors import OutOfMemoryError


@pytest.fixture
def gpu(monkeypatch):
    """A device of its own that is waited for as a GPU, whatever it is, and long enough however busy it is."""
    monkeypatch.setattr(progress, "POLL_SECONDS", 10)
    with device_of_its_own("subgroupQuad,subgroupShuffle", profile=("gpu",)) as opened:
        yield opened


def signals(device, monkeypatch):
    """A list that gets an entry for each submission: whether it signals."""
    seen, submit = [], device.functions.vkQueueSubmit

    def listening(queue, count, info, fence):
        seen.append(info.signalSemaphoreCount > 0)
        return submit(queue, count, info, fence)

    monkeypatch.setattr(device.functions, "vkQueueSubmit", listening)
    return seen


def test_values_read_in_a_row_seldom_signal(gpu, monkeypatch):
    combine, a = Combine(gpu), upload(gpu, np.ones(64, np.uint32))
    gpu.synchronize()
    seen, count, first = signals(gpu, monkeypatch), 4 * progress.SILENT_COMMANDS, gpu.queue.serial
    targets = [gpu.allocate(256) for _ in range(2)]
    for step in range(count):
        combine.run(a, a, targets[step % 2])
        assert (download(gpu, targets[step % 2]) == 4).all()
    # A device whose memory the host reads slowly copies the value first, by a command more.
    commands = gpu.queue.serial - first
    assert 2 <= sum(seen) <= commands // progress.SILENT_COMMANDS <= 8, "how often values signal"
    assert len(gpu.queue.recorder.buffers) <= 2 * progress.SILENT_COMMANDS, "command buffers are not used again"


@pytest.mark.parametrize("commands", [1, 3, queue.FIRST_BATCH + 2])
def test_as_many_commands_as_before_are_submitted_at_once(gpu, commands):
    combine, a, b = Combine(gpu), upload(gpu, words(64)), gpu.allocate(256)
    gpu.synchronize()
    for turn in range(4):
        before = gpu.queue.batches
        for _ in range(commands):
            combine.run(a, a, b)
        if turn > 1:
            assert gpu.queue.batches == before + 1
        if turn > 1 and commands <= queue.FIRST_BATCH:
            assert gpu.queue.submitted == gpu.queue.serial, "the device has no work until the host waits"
        gpu.synchronize()


def test_work_that_nobody_waits_for_signals(gpu, monkeypatch):
    combine, a = Combine(gpu), upload(gpu, words(64))
    seen = signals(gpu, monkeypatch)
    for _ in range(1000):
        combine.run(a, a, gpu.allocate(256))
    gpu.queue.wait_all()
    assert sum(seen) >= 1000 // (progress.SILENT_COMMANDS + queue.LARGEST_BATCH)
    assert gpu.queue.progress.released == gpu.queue.serial
    assert not gpu.queue.in_flight


@pytest.mark.parametrize("poll", [0.0, 2e-3])
def test_a_word_that_is_late_is_no_wrong_value(gpu, monkeypatch, poll):
    """Work that takes long: the host gives up looking and sleeps until a signal."""
    monkeypatch.setattr(progress, "POLL_SECONDS", poll)
    monkeypatch.setattr(gpu.queue.progress, "record", lambda commands, value, serial: None)
    combine, values = Combine(gpu), words(64)
    a, b = upload(gpu, values), gpu.allocate(256)
    for _ in range(3):
        combine.run(a, a, b)
        assert (download(gpu, b) == 4 * values).all()
        assert gpu.queue.completed == gpu.queue.progress.released == gpu.queue.serial


def test_a_signal_that_cannot_be_asked_for_is_asked_for_again(gpu, monkeypatch):
    monkeypatch.setattr(progress, "POLL_SECONDS", 0)
    monkeypatch.setattr(gpu.queue.progress, "record", lambda commands, value, serial: None)
    combine, a = Combine(gpu), upload(gpu, words(64))
    combine.run(a, a, a)
    gpu.queue.submit()
    out_of_memory = api.vk.VK_ERROR_OUT_OF_HOST_MEMORY
    with faults.inject(out_of_memory, "vkQueueSubmit", repeat=True), pytest.raises(OutOfMemoryError):
        download(gpu, a)
    assert (download(gpu, a) == 4 * words(64)).all()


def test_timestamps_of_all_batches_are_there(gpu):
    if "timestamps" not in gpu.features:
        return
    combine, a = Combine(gpu), upload(gpu, words(64))
    with gpu.timestamps() as times:
        for _ in range(3):
            combine.run(a, a, a)
            gpu.queue.submit()
            gpu.upload(a, 0, words(64))
    assert len(times) == 3


def test_what_the_driver_uses_is_kept(gpu):
    combine, a = Combine(gpu), upload(gpu, words(64))
    combine.run(a, a, a)
    del combine
    gpu.synchronize()
    assert len(gpu.kernels) == 1, "a pipeline is destroyed before the driver has done with its commands"
    gpu.queue.wait_all()
    assert not gpu.kernels


def test_threads_wait_for_values(gpu):
    combine_in_threads(gpu, 64, 40, lambda seed, step: step % 4 == seed % 4)
