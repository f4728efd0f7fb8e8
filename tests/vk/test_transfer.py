"""Uploads, downloads and copies, through mapped memory and through the staging ring."""

import threading

import numpy as np
import pytest
from vulkan_program import Combine, download, upload

from vkarray._vk import api, host_copy, transfer


@pytest.fixture(params=["device", "staging_device"])
def any_device(request):
    return request.getfixturevalue(request.param)


def data(nbytes, seed=0):
    return np.random.default_rng(seed).integers(0, 256, nbytes, dtype=np.uint8)


@pytest.mark.parametrize("nbytes", [1, 3, 4, 65536, 65540, transfer.SEGMENT_BYTES + 1, 5 * transfer.SEGMENT_BYTES + 7])
def test_bytes_come_back(any_device, nbytes):
    values = data(nbytes)
    assert (download(any_device, upload(any_device, values), np.uint8) == values).all()


@pytest.mark.parametrize("nbytes", [1, 4095, 4097, 3 * 4096, 100_001])
@pytest.mark.parametrize("ends", [False, True])
def test_several_threads_copy(nbytes, ends, monkeypatch):
    monkeypatch.setattr(host_copy, "LEAST_BYTES", 2048)
    monkeypatch.setattr(host_copy.os, "cpu_count", lambda: 4)
    seen, part = set(), host_copy._copy_part

    def noting(*arguments):
        seen.add(threading.get_ident())
        part(*arguments)

    def refusing():
        raise RuntimeError("cannot schedule new futures after interpreter shutdown")

    monkeypatch.setattr(host_copy, "_copy_part", noting)
    if ends:
        monkeypatch.setattr(host_copy, "_pool", refusing)
    values, out = data(nbytes), np.zeros(nbytes + 2, np.uint8)
    host_copy.copy(api.ffi.from_buffer(out) + 1, api.ffi.from_buffer(values), nbytes, ())
    assert (out[1:-1] == values).all()
    assert out[0] == out[-1] == 0, "bytes beside were written"
    assert (len(seen) > 1) == (nbytes > 4096 and not ends)


def test_who_holds_the_gate_copies_alone(staging_device, monkeypatch):
    """A finalizer in another thread may want the gate."""
    values = data(transfer.SEGMENT_BYTES + 5)
    buffer = upload(staging_device, values)
    monkeypatch.setattr(host_copy, "copy", None)
    with staging_device.gate:
        assert (download(staging_device, buffer, np.uint8) == values).all()


def test_parts_at_odd_offsets(any_device):
    buffer, model = upload(any_device, data(1000)), data(1000)
    for offset, count in ((0, 1), (1, 2), (997, 3), (13, 501), (1000, 0)):
        model[offset : offset + count] = data(count, offset)
        any_device.upload(buffer, offset, model[offset : offset + count].copy())
        out = np.empty(count, np.uint8)
        any_device.download(buffer, offset, out)
        assert (out == model[offset : offset + count]).all()
    assert (download(any_device, buffer, np.uint8) == model).all(), "an upload wrote outside its range"


@pytest.mark.parametrize("nbytes", [256, 1 << 20])
def test_transfers_are_ordered_with_dispatches(any_device, nbytes):
    combine, count = Combine(any_device), nbytes // 4
    a, b = upload(any_device, np.full(count, 1, np.uint32)), upload(any_device, np.full(count, 2, np.uint32))
    first, second = any_device.allocate(nbytes), any_device.allocate(nbytes)
    combine.run(a, b, first)  # 5
    any_device.upload(a, 0, np.full(count, 10, np.uint32))  # must wait for the read above
    combine.run(a, b, second)  # 32
    any_device.copy(first, 0, b, 0, nbytes)  # must wait for both
    combine.run(a, b, a)  # 35
    assert [set(download(any_device, buffer)) for buffer in (first, second, a, b)] == [{5}, {32}, {35}, {5}]


def test_host_data_may_change_right_after_upload(any_device):
    values = np.arange(1 << 20, dtype=np.uint32)
    buffer = upload(any_device, values)
    any_device.upload(buffer, 0, values)
    values[:] = 0
    assert (download(any_device, buffer) == np.arange(1 << 20)).all(), (
        "upload looks at the host's data after it returned"
    )


def test_staging_memory_is_not_used_again_before_it_was_copied(own_device, monkeypatch):
    device = own_device
    monkeypatch.setattr(device.transfer, "mappable", False)
    nbytes = transfer.INLINE_BYTES + 4  # too many for the command buffer itself
    buffers = [device.allocate(nbytes) for _ in range(2 * transfer.SEGMENTS)]
    device.queue.batch_limit = 100  # so that no copy is under way when its segment's turn comes again
    for seed, buffer in enumerate(buffers):
        device.upload(buffer, 0, data(nbytes, seed))
    for seed, buffer in enumerate(buffers):
        assert (download(device, buffer, np.uint8) == data(nbytes, seed)).all(), f"upload {seed} was overwritten"


def test_ranges_outside_a_buffer_are_refused(any_device):
    buffer, other = any_device.allocate(16), any_device.allocate(16)
    for use in (
        lambda: any_device.upload(buffer, 10, bytes(7)),
        lambda: any_device.download(buffer, -1, bytearray(2)),
        lambda: any_device.copy(buffer, 0, other, 8, 9),
        lambda: any_device.copy(buffer, 8, other, 0, 9),
    ):
        with pytest.raises(ValueError, match=r"(upload|download|copy): bytes -?\d+ to \d+ of a buffer of 16 bytes"):
            use()
    with pytest.raises(ValueError, match="overlap"):
        any_device.copy(buffer, 0, buffer, 4, 8)


def test_mapped_view_shows_the_memory_and_keeps_it_alive(device, staging_device):
    if device.limits.host_memory == "none":
        pytest.skip("this device's memory cannot be mapped")
    buffer = upload(device, np.arange(64, dtype=np.uint32))
    view, address = device.mapped(buffer), buffer.address
    device.synchronize()  # memory that was used before is written by the device, in its order
    assert np.frombuffer(view, np.uint32)[5] == 5
    del buffer
    assert device.allocate(256).address != address, "memory with a live view was handed out again"
    del view
    assert staging_device.mapped(staging_device.allocate(4)) is None
