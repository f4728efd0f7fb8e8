"""Arrangements of memory that other devices have, on the one that runs: what is read is what was written in each of them."""

import contextlib

import pytest
from vulkan_program import download, upload, words

from vkarray import _vk, configuration
from vkarray._vk.memory_kinds import Incoherent, Shadow
from vkarray._vk.profiles import PROFILES
from vkarray._vk.transfer import DIRECT_BYTES, SEGMENT_BYTES
from vkarray.errors import OutOfMemoryError

KINDS = [name for name, profile in PROFILES.items() if profile.memory and not profile.absent]
# What the host sees of the device's memory, and whether staging rings are flushed and invalidated.
EXPECTED = {
    "unified-memory": ("cached", False),
    "uncached-memory": ("uncached", False),
    "incoherent-memory": ("uncached", True),
    "memory-apart": ("none", False),
    "small-window": ("none", False),
    "whole-window": ("uncached", False),
}


@contextlib.contextmanager
def arrangement(profile, **options):
    """A device of a profile. It is closed but where the suite runs under that profile itself: then others have it too."""
    shared = _vk.open_device()
    with configuration.config(profile=profile, guard=False, check_barriers=False, **options):
        device = _vk.open_device()
    yield device
    if device is not shared:
        device.close()


@pytest.fixture(params=KINDS)
def arranged(request):
    with arrangement(request.param) as device:
        yield device


def test_every_arrangement_is_expected():
    assert set(KINDS) == set(EXPECTED)


@pytest.mark.parametrize("count", [1, DIRECT_BYTES // 4, DIRECT_BYTES // 4 + 1, 100_000, SEGMENT_BYTES // 4 * 5 + 3])
def test_what_was_written_is_read(arranged, count):
    """Twice each: the second time in parts of rings that other values lie in."""
    for seed in (1, 2):
        values = words(count, seed)
        buffer, copied = upload(arranged, values), arranged.allocate(4 * count)
        arranged.copy(buffer, 0, copied, 0, 4 * count)
        assert (download(arranged, copied) == values).all()


def test_how_the_host_reaches_memory(arranged):
    [name] = arranged.description.profiles
    host_memory, incoherent = EXPECTED[name]
    assert arranged.limits.host_memory == host_memory
    assert (arranged.transfer.mapped(arranged.allocate(64)) is None) == (host_memory == "none")
    lease = arranged.transfer._segment()
    assert (lease.thing.block.incoherent is not None) == incoherent


def test_memory_that_nobody_caches_is_read_without_a_copy():
    with arrangement("uncached-memory") as device:
        values = words(1_000_000)
        assert (download(device, upload(device, values)) == values).all()
        assert not device.transfer.rings, "a copy was made into memory that is as slow to read"


@pytest.mark.parametrize("forgotten", ["flush", "invalidate"])
def test_what_is_not_flushed_or_invalidated_is_not_seen(monkeypatch, forgotten):
    """The simulation shows a forgotten one: values that were never written."""
    monkeypatch.setattr(Shadow, forgotten, getattr(Incoherent, forgotten))
    with arrangement("incoherent-memory", disable="hostVisibleDeviceMemory") as device:
        values = words(1_000_000)
        buffer = upload(device, values)
        assert not (download(device, buffer) == values).all()


def test_an_allocation_larger_than_the_device_allows_is_refused():
    told = r"VKARRAY_PROFILE allows 1,073,741,824 bytes at a time"
    with arrangement("v3d") as device, pytest.raises(OutOfMemoryError, match=told):
        device.allocate((1 << 30) + 4)


def test_a_range_is_whole_atoms(monkeypatch):
    """What Vulkan asks for: both ends at multiples of the atom, or the end of the memory."""
    with arrangement("incoherent-memory") as device:
        lease = device.transfer._segment()
        incoherent = lease.thing.block.incoherent
        monkeypatch.setattr(incoherent, "atom", 256)
        found = incoherent._range(300, 10)
        assert (found.offset, found.size) == (256, 256)
        assert incoherent._range(incoherent.nbytes - 4, 4).size == (1 << 64) - 1, "VK_WHOLE_SIZE"
