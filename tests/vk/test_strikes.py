"""Ctrl-C, and code that uses the device, at every place of the queue: nothing is lost, wrong, used twice or locked."""

import collections
import contextlib
import gc
import random
import struct
import threading

import numpy as np
import pytest
from strikes import Strike
from vulkan_program import Combine, compile_glsl, device_of_its_own, download, upload

from vkarray._vk import progress, transfer
from vkarray._vk.api import ffi

WORDS = np.arange(64, dtype=np.uint32)
SCALE = """#version 460
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Source { uint source[]; };
layout(binding = 1) writeonly buffer Target { uint target[]; };
layout(push_constant) uniform Push { uint factor; };
void main() { uint i = gl_GlobalInvocationID.x; target[i] = factor * source[i]; }
"""


class Program:
    """Two kernels, one of them with descriptors, and transfers, on one device; each result is noted with what it should be."""

    def __init__(self, device, timed, every):
        self.device, self.combine, self.timed, self.every = device, Combine(device), timed, every
        self.scale = device.kernel(compile_glsl(SCALE), "scale")
        self.kept = [(upload(device, factor * WORDS), factor * WORDS) for factor in (1, 2, 3)]

    def scaled(self, source, target, factor):
        self.device.dispatch(
            self.scale, struct.pack("<I", factor), (1, 1, 1), (source,), (target,),
            [(0, source, 0, 256), (1, target, 0, 256)],
        )  # fmt: skip

    def run(self, made, factor):
        """Use everything once; `made` holds the buffers and expected values that are there for certain."""
        device, (a, _), (b, _) = self.device, *self.kept[:2]
        c, d, e = (device.allocate(256) for _ in range(3))
        with device.timestamps() if self.timed else contextlib.nullcontext():
            self.combine.run(a, b, c)
            made[c] = 5 * WORDS
            self.scaled(c, d, factor)
            made[d] = 5 * factor * WORDS
            device.queue.submit()
            device.copy(d, 0, e, 0, 256)
            made[e] = 5 * factor * WORDS
            del made[c]
            device.upload(c, 0, factor * WORDS)
            made[c] = factor * WORDS
            del made[d]
            self.combine.run(c, a, d)
            made[d] = (3 * factor + 1) * WORDS
            assert (download(device, d) == made[d]).all()
            device.queue.wait_all()

    def check(self, made):
        """What is noted must be in the buffers."""
        for buffer, expected in (*made.items(), *self.kept):
            assert (download(self.device, buffer) == expected).all()

    def check_state(self):
        """The device works, nobody holds its lock, and each command buffer is in one place."""
        device, queue = self.device, self.device.queue
        assert device.lost is None
        lock = device.gate
        free = []
        thread = threading.Thread(target=lambda: free.append(lock.acquire(timeout=10) and lock.release() is None))
        thread.start()
        thread.join()
        assert free == [True], "the lock is still held"
        recordings = {queue.begun, *(batch.recording for batch in (*queue.in_flight, *queue.todo))} - {None}
        handles = [recording.handle for recording in recordings]
        assert len(set(handles)) == len(handles), "a command buffer is in two places"


# How the device is opened, and `every`: how many places on the next one is that is tried.
MODES = {
    "CPU": {"every": 1},
    "GPU": {"every": 2, "profile": ("gpu",)},
    "GPU that is seen late": {"every": 2, "profile": ("gpu",)},
    "uploads in commands": {"disable": "hostVisibleDeviceMemory,"},
    "staged uploads": {"disable": "hostVisibleDeviceMemory,", "inline": 0, "profile": ("incoherent-memory",)},
    "timestamps": {"timed": True},
    "barrier checker": {"check_barriers": True},
}


@pytest.fixture(params=MODES)
def program(request, monkeypatch):
    mode = MODES[request.param]
    monkeypatch.setattr(transfer, "INLINE_BYTES", mode.get("inline", transfer.INLINE_BYTES))
    if "gpu" in mode.get("profile", ()):
        monkeypatch.setattr(progress, "POLL_SECONDS", 1e-4)
    disable, check = mode.get("disable", "") + "subgroupQuad,subgroupVote", mode.get("check_barriers", False)
    # Descriptor sets whose freeing was interrupted go with their pool.
    profile = mode.get("profile", ())
    with device_of_its_own(disable, check, ("DescriptorSet",), profile) as device:
        if mode.get("timed") and "timestamps" not in device.features:
            pytest.skip("the device takes no timestamps")
        if "late" in request.param:
            see_late(device.queue.progress, monkeypatch)
        opened = Program(device, mode.get("timed", False), mode.get("every", 5))
        opened.run({}, 7)
        opened.check({})
        yield opened


def see_late(seen, monkeypatch):
    """The host sees what silent batches write only when the queue is idle: it always has to wait for a signal."""
    word, arrived, waits = seen.word, seen.arrived, collections.Counter()

    def sleep(signalled):
        waits[signalled] += 1
        assert waits[signalled] < 1000, f"waits in vain for the signal of {signalled}"
        progress.Progress.sleep(seen, signalled)

    monkeypatch.setattr(progress, "POLL_SECONDS", 0)
    monkeypatch.setattr(seen, "word", ffi.new("uint64_t*"))
    monkeypatch.setattr(
        seen, "arrived", lambda serial, silent: word[0] >= serial if silent else arrived(serial, silent)
    )
    monkeypatch.setattr(seen, "sleep", sleep)


class Other:
    """What a signal handler or a finalizer may do: use the same kernels on the same device, with other values."""

    def __init__(self, program):
        self.program, self.calls, self.failures = program, 0, []
        self.others = [(upload(program.device, factor * WORDS), factor) for factor in (11, 13)]

    def run(self):
        self.calls += 1
        try:
            self._compute()
        except BaseException as error:
            self.failures.append(error)

    def _compute(self):
        program, device, calls = self.program, self.program.device, self.calls
        (a, one), (b, two) = self.others
        c, d = device.allocate(256), device.allocate(256)
        program.combine.run(b, a, c)
        program.scaled(c, d, 17)
        if calls % 2:
            assert (download(device, d) == 17 * (3 * two + one) * WORDS).all()
        del c
        e = upload(device, calls * WORDS)
        program.combine.run(e, d, d)
        if calls % 3:
            assert (download(device, d) == (3 * calls + 17 * (3 * two + one)) * WORDS).all()
        if calls % 50 == 0:
            gc.collect()


@pytest.mark.parametrize(
    ("computes", "interrupts"),
    [(False, True), (True, False), (True, True)],
    ids=["interrupt", "other code", "other code, then an interrupt"],
)
def test_strike_at_every_place(program, computes, interrupts):
    other, generator = Other(program), random.Random(1)
    place, finished = generator.randrange(program.every), False

    def strike():
        if computes:
            other.run()
        if interrupts:
            raise KeyboardInterrupt

    while not finished:
        place += program.every
        made = {}
        try:
            with Strike(place, strike) as first:
                program.run(made, place)
            finished = first.where is None
        except KeyboardInterrupt:
            pass
        second = Strike(generator.randrange(1, 300), strike)
        if interrupts:  # what makes up for it is interrupted too
            with contextlib.suppress(KeyboardInterrupt), second:
                program.run(made, place)
        try:
            assert not other.failures, other.failures
            program.check_state()
            program.check(made)
            program.run({}, place + 1)
        except BaseException as error:
            raise AssertionError(f"after strikes at {first.where} and {second.where}") from error
    assert place > 300, "the sweep is over before it has begun"
    queue = program.device.queue
    silent = 0 if program.device.limits.is_cpu else progress.SILENT_COMMANDS  # in flight until one of them signals
    assert len(queue.recorder.buffers) <= 16 + silent, "command buffers are not used again"
    assert len(program.device.transfer.rings) <= 2, "staging memory is not used again"
    assert len(queue.todo) == 1
    assert not queue.todo[0].steps
    assert not queue.waiting
    assert not queue.in_flight
    descriptors = program.device.descriptors
    assert len(descriptors.owned) <= len(descriptors.sets) + 10, "descriptors are not freed"
