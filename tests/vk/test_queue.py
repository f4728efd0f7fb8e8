"""Recording, barriers, batches, waiting, threads."""

import dataclasses
import random

import pytest
from vulkan_program import Combine, combine_in_threads, download, upload, words

from vkarray import _vk, configuration
from vkarray._vk import queue as queue_module
from vkarray._vk.api import vk
from vkarray.errors import FeatureError


@pytest.fixture(scope="module")
def checked_device():
    """A device whose every barrier is verified by the brute-force checker."""
    with configuration.config(check_barriers=True, guard=False):
        return _vk.open_device()


def settled(device) -> int:
    """How many batches there are when uploads are done: these are commands where the host does not write the device's memory."""
    device.queue.wait_all()
    device.queue.batch_limit = queue_module.FIRST_BATCH
    return device.queue.batches


def test_dispatch_computes(device):
    a, b = words(1000, 1), words(1000, 2)
    x, y, target = upload(device, a), upload(device, b), device.allocate(4000)
    Combine(device).run(x, y, target)
    assert (download(device, target) == 3 * a + b).all()


def test_barrier_only_where_a_hazard_needs_one(own_device):
    combine, queue = Combine(own_device), own_device.queue
    a, b = upload(own_device, words(64)), upload(own_device, words(64))
    targets = [own_device.allocate(256) for _ in range(5)]
    settled(own_device)
    queue.batch_limit = 100  # the end of a batch is a barrier too
    first = queue.barriers

    def barriers(*arguments):
        before = queue.barriers
        combine.run(*arguments)
        return queue.barriers - before

    assert [barriers(a, b, target) for target in targets] == [0] * 5, "independent work is separated by barriers"
    assert barriers(targets[0], b, targets[4]) == 1, "read after write has no barrier"
    assert barriers(targets[1], targets[2], a) == 0, "one barrier orders everything before it"
    assert barriers(a, targets[3], b) == 1, "read after write has no barrier"
    assert barriers(targets[0], targets[1], targets[3]) == 1, "write after read has no barrier"
    assert barriers(targets[0], targets[1], targets[3]) == 1, "write after write has no barrier"
    assert barriers(targets[0], targets[1], targets[2]) == 0
    assert queue.barriers - first == 4


def test_random_programs_match_a_model_and_need_no_further_barrier(checked_device):
    generator, combine = random.Random(2), Combine(checked_device)
    model = [words(300, seed) for seed in range(6)]
    buffers = [upload(checked_device, values) for values in model]
    for _ in range(600):
        i, j, k = (generator.randrange(6) for _ in range(3))
        action = generator.random()
        if action < 0.80:
            combine.run(buffers[i], buffers[j], buffers[k])
            model[k] = 3 * model[i] + model[j]
        elif action < 0.85:
            checked_device.copy(buffers[i], 400, buffers[k], 0, 400)
            model[k] = model[k].copy()
            model[k][:100] = model[i][100:200]
        elif action < 0.90:
            model[k] = words(300, generator.randrange(1000))
            checked_device.upload(buffers[k], 0, model[k])
        elif action < 0.95:
            buffers[k] = upload(checked_device, model[k])  # the old memory is used again soon
        else:
            assert (download(checked_device, buffers[k]) == model[k]).all()
    for buffer, values in zip(buffers, model, strict=True):
        assert (download(checked_device, buffer) == values).all(), (
            "a random program computes something else than its model"
        )
    checker = checked_device.queue.recorder.checker
    assert checker.commands > 400, "the checker saw nothing"
    assert 0 < checker.barriers < checker.commands


def test_each_batch_ends_with_a_barrier_for_the_host_and_for_what_follows(own_device, monkeypatch):
    queue, seen = own_device.queue, []
    combine, a = Combine(own_device), upload(own_device, words(64))
    own_device.synchronize()
    submit = queue.functions.vkQueueSubmit
    if "synchronization2" in own_device.features:
        record_2 = queue.recorder.barrier

        def listening_2(commands, dependency):
            barrier = dependency.pMemoryBarriers
            seen.append((barrier.srcStageMask, barrier.dstStageMask, barrier.srcAccessMask, barrier.dstAccessMask))
            record_2(commands, dependency)

        monkeypatch.setattr(queue.recorder, "barrier", listening_2)
    else:
        record = queue.functions.vkCmdPipelineBarrier

        def listening(commands, before, after, flags, count, barrier, *rest):
            seen.append((before, after, barrier.srcAccessMask, barrier.dstAccessMask))
            record(commands, before, after, flags, count, barrier, *rest)

        monkeypatch.setattr(queue.functions, "vkCmdPipelineBarrier", listening)
    monkeypatch.setattr(queue.functions, "vkQueueSubmit", lambda *rest: (seen.append("submit"), submit(*rest)))
    combine.run(a, a, a)
    own_device.synchronize()
    before, after, written, visible = seen[seen.index("submit") - 1]
    host = vk.VK_ACCESS_HOST_READ_BIT | vk.VK_ACCESS_HOST_WRITE_BIT
    work = vk.VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | vk.VK_PIPELINE_STAGE_TRANSFER_BIT
    assert work & ~before == 0
    assert (work | vk.VK_PIPELINE_STAGE_HOST_BIT) & ~after == 0, "the host may read before the device has written"
    writes = vk.VK_ACCESS_SHADER_WRITE_BIT | vk.VK_ACCESS_TRANSFER_WRITE_BIT
    assert writes & ~written == 0
    reads = vk.VK_ACCESS_SHADER_READ_BIT | vk.VK_ACCESS_TRANSFER_READ_BIT
    assert (reads | writes | host) & ~visible == 0, "what a batch wrote is not visible to the host and to later batches"


def test_batches_grow_and_are_submitted_without_waiting(own_device):
    combine, queue = Combine(own_device), own_device.queue
    a, b = upload(own_device, words(64)), upload(own_device, words(64))
    first = settled(own_device)
    for _ in range(queue_module.FIRST_BATCH - 1):
        combine.run(a, b, own_device.allocate(256))
    own_device.await_pipelines()
    assert queue.batches - first == 0, "a batch is submitted before it is full"
    combine.run(a, b, own_device.allocate(256))
    assert queue.batches - first == 1, "a full batch is not submitted"
    for _ in range(1000):
        combine.run(a, b, own_device.allocate(256))
    assert queue.batches - first < 130
    queue.wait_all()
    assert queue.batch_limit <= queue_module.FIRST_BATCH, "after an idle device the first batch is large"
    assert not queue.in_flight
    assert len(queue.recorder.buffers) <= 130
    assert queue.completed == queue.serial


def test_the_host_is_ahead_by_some_batches_at_most(own_device):
    combine, queue = Combine(own_device), own_device.queue
    a, b = upload(own_device, words(1 << 16)), upload(own_device, words(1 << 16))
    own_device.await_pipelines()
    target, most = own_device.allocate(4 << 16), 0
    for _ in range(2000):
        combine.run(a, b, target)
        queue.progress.look()
        most = max(most, sum(batch.serial > queue.completed for batch in queue.in_flight))
    assert 0 < most <= queue.most_ahead
    queue.wait_all()


def test_batches_grow_though_the_device_is_idle_but_not_to_the_largest(own_device):
    combine, queue = Combine(own_device), own_device.queue
    a, b = upload(own_device, words(64)), upload(own_device, words(64))
    own_device.await_pipelines()
    for _ in range(8 * queue_module.IDLE_BATCH):
        before = queue.submitted
        combine.run(a, b, own_device.allocate(256))
        while queue.submitted > before and queue.completed < queue.submitted:  # nobody waits, but the device is done
            queue.progress.look()
    assert queue.idle
    assert queue.batch_limit == queue_module.IDLE_BATCH
    queue.wait_all()
    assert queue.batch_limit <= queue_module.FIRST_BATCH, "after a wait the first batch is large"


def test_large_work_is_submitted_at_once(own_device):
    combine = Combine(own_device)
    combine.kernel.pace = None  # on slow devices the dispatch would be cut
    own_device.await_pipelines()
    n = queue_module.BATCH_WORKGROUPS * 64
    a = own_device.allocate(4 * n)
    combine.run(a, a, a, n)
    assert own_device.queue.batches == 1, "the device stays idle although there is a lot to do"


def test_command_buffers_are_used_again(own_device):
    combine = Combine(own_device)
    a = own_device.allocate(256)
    for _ in range(50):
        combine.run(a, a, a)
        own_device.queue.wait_all()
    # One runs while the next is begun. On a GPU a third one signals: `wait_all` asks for that after silent batches.
    most = 2 if own_device.limits.is_cpu else 3
    assert len(own_device.queue.recorder.buffers) <= most, "each batch makes a command buffer of its own"


def test_after_a_wait_the_device_begins_at_once(own_device):
    own_device.limits = dataclasses.replace(own_device.limits, is_cpu=False)
    queue, combine, a = own_device.queue, Combine(own_device), own_device.allocate(256)
    combine.run(a, a, a)
    own_device.synchronize()
    combine.run(a, a, a)
    assert queue.submitted == queue.serial, "the first command after a wait waits for others"
    combine.run(a, a, a)
    combine.run(a, a, a)
    assert queue.submitted == queue.serial - 2, "the commands that follow are no batch"


def test_too_many_workgroups_is_an_error_not_a_lost_device(device):
    kernel, limits = Combine(device).kernel, device.limits.max_workgroup_count
    with pytest.raises(FeatureError, match=r"combine: dispatch of .* workgroups, but the device takes at most"):
        device.dispatch(kernel, bytes(28), (1, limits[1] + 1, 1), (), ())
    device.synchronize()


def test_kernel_of_another_device_is_refused(device, staging_device):
    kernel = Combine(staging_device).kernel
    with pytest.raises(ValueError, match="belongs to another device"):
        device.dispatch(kernel, bytes(28), (1, 1, 1), (), ())


def test_kernel_dropped_in_flight_lives_until_the_work_is_done(own_device):
    a, b, target = upload(own_device, words(64, 1)), upload(own_device, words(64, 2)), own_device.allocate(256)
    combine = Combine(own_device)
    combine.run(a, b, target)
    del combine
    assert len(own_device.kernels) == 1, "a pipeline is destroyed while a command buffer uses it"
    assert (download(own_device, target) == 3 * words(64, 1) + words(64, 2)).all()
    own_device.queue.wait_all()
    assert not own_device.kernels, "a dropped pipeline is never destroyed"


def test_failed_dispatch_leaves_nothing_behind(own_device):
    combine, a, queue = Combine(own_device), upload(own_device, words(64)), own_device.queue
    first = settled(own_device)
    for arguments in (["no bytes"], None, bytearray(28)):
        with pytest.raises(TypeError, match="combine: expected arguments of type bytes, got"):
            own_device.dispatch(combine.kernel, arguments, (1, 1, 1), (a,), (a,))
    for groups in ((1.5, 1, 1), (1, "1", 1), (1, 1), (1, -1, 1), (1, 1, -(2**40))):
        with pytest.raises((TypeError, ValueError)):
            own_device.dispatch(combine.kernel, bytes(28), groups, (a,), (a,))
    queue.submit()
    assert queue.batches == first
    combine.run(a, a, a)
    assert (download(own_device, a) == 4 * words(64)).all()


def test_threads_work_on_one_device(own_device):
    combine_in_threads(own_device, 256, 60, lambda seed, step: step % 20 == 7)
