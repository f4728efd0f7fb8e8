"""The allocator: sizes, re-use, hazards of re-used memory, statistics, running out."""

import random
from itertools import pairwise

import pytest
from vulkan_program import upload

from vkarray import _vk, configuration
from vkarray._vk import api, faults, memory
from vkarray.errors import OutOfMemoryError

OUT_OF_DEVICE_MEMORY = -2


@pytest.mark.parametrize("nbytes", [0, 1, 255, 256, 257, 4096, 4097, 1 << 20, (1 << 25) + 1])
def test_rounded_size_holds_the_request_with_little_waste(nbytes):
    size = memory.rounded(nbytes)
    assert size >= nbytes
    assert size % 256 == 0
    assert size <= max(256, nbytes + 255, nbytes * 1.126)


def test_buffers_never_overlap_and_are_aligned(own_device):
    generator, live = random.Random(1), []
    for _ in range(2000):
        if live and generator.random() < 0.45:
            live.pop(generator.randrange(len(live)))
        else:
            live.append(own_device.allocate(int(2 ** generator.uniform(0, 20))))
    spans = sorted((buffer.address, buffer.address + buffer.nbytes) for buffer in live)
    assert all(first[1] <= second[0] for first, second in pairwise(spans)), "two live buffers share memory"
    assert all(buffer.address % 256 == 0 for buffer in live)
    in_use = sum(buffer.piece.size for buffer in live)
    assert own_device.memory_statistics()["bytes_in_use"] == in_use
    live.clear()
    own_device.memory.flush()
    free = [(piece.block, piece.size) for piece in own_device.memory.shared.pieces()]
    assert free == [(block, block.nbytes) for block in own_device.memory.blocks], "free neighbours did not merge"


def test_statistics_and_empty_cache(own_device):
    before = own_device.memory_statistics()
    assert (before["bytes_in_use"], before["bytes_reserved"]) == (0, 0), "a new device holds memory"
    small, large = own_device.allocate(1000), own_device.allocate(100 << 20)
    during = own_device.memory_statistics()
    assert during["bytes_in_use"] == 1024 + (100 << 20)
    assert during["bytes_reserved"] == during["bytes_in_use"] + during["bytes_cached"]
    assert (during["blocks"], during["allocations"], during["cache_misses"]) == (2, 2, 2)
    del large
    own_device.empty_cache()
    after = own_device.memory_statistics()
    assert after["blocks"] == 1, "empty_cache keeps a block without buffers, or drops one that has some"
    assert after["bytes_peak"] == during["bytes_in_use"]
    del small
    own_device.empty_cache()
    assert own_device.memory_statistics()["bytes_reserved"] == 0


def test_freed_memory_is_used_again_without_a_vulkan_call(own_device):
    address = own_device.allocate(5000).address
    with faults.inject(OUT_OF_DEVICE_MEMORY, repeat=True) as fault:
        assert own_device.allocate(4999).address == address
    assert not fault.calls, "taking cached memory calls Vulkan"


def test_a_program_that_repeats_itself_finds_its_memory_in_the_bins(own_device, monkeypatch):
    """Whose sizes, one after the other, do not fit into one block: that is not cut anew in every turn."""
    monkeypatch.setattr(memory, "MOST_CACHED", 1)
    misses = []
    for _ in range(4):
        for size in (20, 24, 28, 30):
            own_device.allocate(size << 20)
        misses.append(own_device.memory_statistics()["cache_misses"])
    assert misses == [4] * 4
    assert own_device.memory_statistics()["blocks"] == 2


def test_little_memory_is_cut_anew(own_device, monkeypatch):
    monkeypatch.setattr(memory, "MOST_CACHED", 0)
    for size in (20, 24, 28, 30):
        own_device.allocate(size << 20)
    assert own_device.memory_statistics()["blocks"] == 1


def test_new_buffer_in_used_memory_keeps_the_old_hazards(own_device):
    from vulkan_program import Combine

    combine = Combine(own_device)
    a, b = upload(own_device, [1] * 64), upload(own_device, [2] * 64)
    target = own_device.allocate(256)
    combine.run(a, b, target)
    address, written, read = target.address, target.written, a.read
    del target
    again = own_device.allocate(256)
    assert (again.address, again.written) == (address, written), "the write pending on re-used memory is forgotten"
    del a
    again = own_device.allocate(256)
    assert again.read >= read or again.address != address


@pytest.mark.parametrize(("first_serials", "second_serials"), [((7, 0), (0, 9)), ((0, 9), (7, 0))])
def test_split_and_merged_memory_keeps_the_newest_hazards(own_device, first_serials, second_serials):
    first, second = own_device.allocate(256), own_device.allocate(256)
    first.written, first.read = first_serials
    second.written, second.read = second_serials
    del first, second
    own_device.memory.flush()
    whole = own_device.allocate(512)
    assert (whole.written, whole.read) == (7, 9), "a hazard of one part is forgotten when two merge"
    address = whole.address
    del whole
    own_device.memory.flush()
    parts = [own_device.allocate(256), own_device.allocate(256)]
    assert [part.address for part in parts] == [address, address + 256]
    assert [(part.written, part.read) for part in parts] == [(7, 9)] * 2, "a part that is cut off forgets the hazards"


def test_empty_and_negative_sizes(device):
    empty = device.allocate(0)
    device.upload(empty, 0, b"")
    device.download(empty, 0, bytearray())
    assert empty.address
    assert empty.nbytes == 0
    with pytest.raises(ValueError, match="allocate: got -1 bytes, expected 0 or more"):
        device.allocate(-1)


@pytest.mark.parametrize("function", ["vkAllocateMemory", "vkCreateBuffer", "vkBindBufferMemory"])
def test_out_of_memory_frees_caches_and_tries_again(own_device, function):
    own_device.allocate(100 << 20)  # released at once: a cached block
    with faults.inject(OUT_OF_DEVICE_MEMORY, function) as fault:
        buffer = own_device.allocate(200 << 20)
    assert fault.fired == [function]
    statistics = own_device.memory_statistics()
    assert (buffer.nbytes, statistics["out_of_memory_retries"]) == (200 << 20, 1)
    assert statistics["bytes_reserved"] == 200 << 20, "the cached block was not released before trying again"


@pytest.mark.parametrize("function", ["vkAllocateMemory", "vkCreateBuffer", "vkBindBufferMemory", "vkMapMemory"])
def test_out_of_memory_for_good_raises_with_the_figures(own_device, function):
    if function == "vkMapMemory" and not own_device.memory.mapped:
        pytest.skip("this device's memory cannot be mapped")
    kept = own_device.allocate(1 << 20)
    before = api.live_objects()
    with faults.inject(OUT_OF_DEVICE_MEMORY, function, repeat=True), pytest.raises(OutOfMemoryError) as caught:
        own_device.allocate(100 << 20)
    assert isinstance(caught.value, MemoryError)
    for figure in ("104,857,600 bytes were asked for", "1,048,576 are in use", "67,108,864 are taken", own_device.name):
        assert figure in str(caught.value), f"the error does not state: {figure}"
    assert api.live_objects() == before, "a failed allocation leaves Vulkan objects behind"
    assert own_device.allocate(100 << 20).nbytes == 100 << 20, "the allocator does not recover"
    del kept


def test_large_cached_blocks_do_not_pile_up(own_device):
    quarter = own_device.physical.heap_bytes // 4
    if quarter > 1 << 30:
        pytest.skip("a quarter of this device's memory is more than a test should use")
    for megabytes in range(100, 400, 60):
        own_device.allocate(megabytes << 20)  # released at once, and too different in size to be used again
    assert own_device.memory_statistics()["bytes_reserved"] <= quarter + (400 << 20)


def test_absurd_size_raises(own_device):
    with pytest.raises(OutOfMemoryError, match="bytes were asked for"):
        own_device.allocate(1 << 60)


def test_over_the_advisory_limit_is_tried():
    # llvmpipe states 2 GiB for heap and allocation alike, and takes more; the validation layers forbid what it can do.
    with configuration.config(validation=False, guard=False, disable="subgroupQuad,subgroupClustered"):
        opened = _vk.open_device()
    nbytes = opened.limits.max_memory_allocation_size + 4096
    if nbytes > 3 << 30:
        pytest.skip("the limit of this device is more than a test should use")
    try:
        buffer = opened.allocate(nbytes)
    except OutOfMemoryError:
        pytest.skip(f"{opened.name} holds to its limit of {nbytes - 4096:,} bytes an allocation")
    opened.upload(buffer, nbytes - 4, b"last")
    out = bytearray(4)
    opened.download(buffer, nbytes - 4, out)
    assert out == b"last"
    opened.close()
