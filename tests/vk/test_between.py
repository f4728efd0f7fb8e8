"""Copies between two devices, on each of the ways that bytes may take."""

import contextlib
import threading

import numpy as np
import pytest
from vulkan_program import Combine, download, upload, words

from vkarray import _vk, configuration
from vkarray._vk import api, between, faults
from vkarray._vk.api import vk
from vkarray.errors import DeviceError

STAGED = "hostVisibleDeviceMemory,"
# What the two devices do without, and the way that bytes take then where the memory of the driver can be mapped.
WAYS = {
    "to mapped": (STAGED, "", between.into_host_memory),
    "from mapped": ("", STAGED, between.from_host_memory),
    "imported": (STAGED, STAGED, between.through_imported_memory),
    "staged": (STAGED + "externalMemoryHost,", STAGED, between.through_staging_rings),
}
LENGTHS = (1, 3, 4, 65540, between.SEGMENT_BYTES + 1, between.SEGMENTS * between.SEGMENT_BYTES + 7)


@contextlib.contextmanager
def devices(*disabled):
    """Devices of one card, by what each does without; what they made must be released when they close."""
    _vk.enumerate_devices()  # the instance is made once and stays
    before, opened = api.live_objects(), []
    for disable in disabled:
        with configuration.config(disable=disable, guard=False, check_barriers=False):
            opened.append(_vk.open_device())
    yield opened
    for device in opened:
        device.close()
    left = {kind: count for kind, count in api.live_objects().items() if count > before.get(kind, 0)}
    assert not left, f"Vulkan objects were not released when the devices closed: {left}"


@pytest.fixture(params=WAYS)
def pair(request):
    """Two devices of one card, between which bytes take that way."""
    *without, way = WAYS[request.param]
    with devices(without[0] + "subgroupQuad", without[1] + "subgroupVote") as (sender, receiver):
        if between._way(sender, receiver) is not way:
            pytest.skip(f"{sender.name}: memory is {sender.limits.host_memory}, or cannot be imported")
        yield sender, receiver


def data(nbytes, seed=0):
    return np.random.default_rng(seed).integers(0, 256, nbytes, dtype=np.uint8)


def test_bytes_arrive_and_others_stay(pair):
    sender, receiver = pair
    for nbytes in LENGTHS:
        values, before = data(nbytes + 5), data(nbytes + 9, 1)
        source, target = upload(sender, values), upload(receiver, before)
        between.copy_between(source, 5, target, 3, nbytes)
        before[3 : 3 + nbytes] = values[5:]
        assert (download(receiver, target, np.uint8) == before).all(), f"{nbytes} bytes arrived wrong"
        assert (download(sender, source, np.uint8) == values).all(), f"{nbytes} bytes changed where they came from"


def test_copies_are_ordered_with_dispatches(pair):
    sender, receiver = pair
    count = 64 * 65535 - 3
    here, there = Combine(sender), Combine(receiver)
    values = words(count)
    source, target = upload(sender, values), upload(receiver, words(count, 1))
    for _ in range(3):
        here.run(source, source, source)  # 4 x: must be done before it is sent
        there.run(target, target, target)  # must be done before it is overwritten
        between.copy_between(source, 0, target, 0, 4 * count)
        here.run(source, source, source)  # must not be sent
        there.run(target, target, target)
        values = 16 * values
    assert (download(sender, source) == values).all()
    assert (download(receiver, target) == values).all()


def test_both_directions_at_once(pair):
    failures = []

    def send(sender, receiver, seed):
        try:
            for turn in range(3):
                values = data(3 * between.SEGMENT_BYTES + seed, 10 * seed + turn)
                target = receiver.allocate(values.nbytes)
                between.copy_between(upload(sender, values), 0, target, 0, values.nbytes)
                if not (download(receiver, target, np.uint8) == values).all():
                    failures.append(f"copy {turn} from {sender} arrived wrong")
        except Exception as error:
            failures.append(repr(error))

    threads = [threading.Thread(target=send, args=(*pair[:: 1 - 2 * seed], seed)) for seed in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads), "the threads wait for each other"
    assert not failures, failures


def test_ranges_outside_a_buffer_are_refused(pair):
    source, target = (device.allocate(16) for device in pair)
    for ranges in ((8, 0, 9), (0, 8, 9), (-1, 0, 2), (0, -1, 2)):
        with pytest.raises(ValueError, match=r"copy_between: bytes -?\d+ to \d+ of a buffer of 16 bytes"):
            between.copy_between(source, ranges[0], target, *ranges[1:])


def test_a_driver_that_refuses_memory_of_the_host_gets_it_staged():
    with devices(STAGED + "subgroupQuad", STAGED + "subgroupVote") as (sender, receiver):
        if "externalMemoryHost" not in sender.features:
            pytest.skip(f"{sender.name} has no VK_EXT_external_memory_host")
        with faults.inject(vk.VK_ERROR_INVALID_EXTERNAL_HANDLE, "vkGetMemoryHostPointerPropertiesEXT"):
            assert between._way(sender, receiver) is between.through_staging_rings
        values = data(1000)
        target = receiver.allocate(1000)
        between.copy_between(upload(sender, values), 0, target, 0, 1000)
        assert (download(receiver, target, np.uint8) == values).all()


def test_a_copy_to_a_device_that_was_closed_says_so():
    with devices(STAGED + "subgroupQuad", STAGED + "subgroupVote") as (sender, receiver):
        source, target = upload(sender, data(64)), receiver.allocate(64)
        receiver.close()
        with pytest.raises(DeviceError, match="was closed"):
            between.copy_between(source, 0, target, 0, 64)
