"""Ctrl-C, and code that uses the device, at every place of the queue: nothing is lost, wrong, used twice or locked."""

import contextlib
import dataclasses
import gc
import struct
import threading

import numpy as np
import pytest
from strikes import Strike
from vulkan_program import Combine, compile_glsl, device_of_its_own, download, upload

from vkarray._vk import progress
from vkarray._vk.physical_device import PhysicalDevice

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

    def __init__(self, device, timed):
        self.device, self.combine, self.timed = device, Combine(device), timed
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


MODES = {
    "CPU": {},
    "GPU": {"is_cpu": False},
    "staging": {"disable": "hostVisibleDeviceMemory,"},
    "timestamps": {"timed": True},
    "barrier checker": {"check_barriers": True},
}


@pytest.fixture(params=MODES)
def program(request, monkeypatch):
    mode = MODES[request.param]
    if "is_cpu" in mode:
        monkeypatch.setattr(progress, "POLL_SECONDS", 1e-4)
        limits = PhysicalDevice._limits
        monkeypatch.setattr(PhysicalDevice, "_limits", lambda self: dataclasses.replace(limits(self), is_cpu=False))
    with (
        device_of_its_own(f"{mode.get('disable', '')}subgroupQuad,subgroupVote", **{
            name: value for name, value in mode.items() if name == "check_barriers"
        }) as device
    ):  # fmt: skip
        if mode.get("timed") and "timestamps" not in device.features:
            pytest.skip("the device takes no timestamps")
        opened = Program(device, mode.get("timed", False))
        opened.run({}, 7)
        opened.check({})
        yield opened


def test_interrupt_at_every_place(program):
    place, finished = 0, False
    while not finished:
        place += 1
        made = {}

        def interrupt():
            raise KeyboardInterrupt

        try:
            with Strike(place, interrupt) as strike:
                program.run(made, place)
            finished = strike.where is None
        except KeyboardInterrupt:
            pass
        try:
            program.check_state()
            program.check(made)
            program.run({}, place + 1)
        except BaseException as error:
            raise AssertionError(f"after an interrupt at {strike.where}") from error
    assert place > 300, "the sweep is over before it has begun"
    assert len(program.device.queue.recorder.buffers) <= 16, "command buffers are not used again"


def test_other_code_at_every_place(program):
    device, place, finished, failures = program.device, 0, False, []
    others = [(upload(device, factor * WORDS), factor) for factor in (11, 13)]

    def other():
        try:
            (a, one), (b, two) = others
            c, d = device.allocate(256), device.allocate(256)
            program.combine.run(b, a, c)
            program.scaled(c, d, 17)
            if place % 2:
                assert (download(device, d) == 17 * (3 * two + one) * WORDS).all()
            del c
            e = upload(device, place * WORDS)
            program.combine.run(e, d, d)
            if place % 3:
                assert (download(device, d) == (3 * place + 17 * (3 * two + one)) * WORDS).all()
            if place % 50 == 0:
                gc.collect()
        except BaseException as error:
            failures.append(error)

    while not finished:
        place += 1
        made = {}
        try:
            with Strike(place, other) as strike:
                program.run(made, place)
            finished = strike.where is None
            assert not failures, failures
            program.check_state()
            program.check(made)
        except BaseException as error:
            raise AssertionError(f"with other code at {strike.where}, {failures}") from error
    assert place > 300, "the sweep is over before it has begun"
    assert len(device.queue.recorder.buffers) <= 16, "command buffers are not used again"
