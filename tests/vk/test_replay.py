"""Replays: results, barriers, copies, memory that moves, Ctrl-C and code that uses the device at every place."""

import contextlib
import gc
import random
import struct
import threading

import numpy as np
import pytest
from strikes import FILES, Strike
from vulkan_program import HEAD, compile_glsl, device_of_its_own, download, upload

from vkarray._vk import api, faults, progress
from vkarray._vk import replay as replay_module
from vkarray._vk.call import Call, Elements
from vkarray.errors import DeviceError, DeviceLostError, FeatureError, ValidationError

# target[i] = factor * a[i] + b[i] on 64 words
SOURCE = (
    HEAD
    + """
layout(local_size_x = 64) in;
layout(buffer_reference, std430) buffer Words { uint data[]; };
layout(set = 1, binding = 0, scalar) uniform Arguments { uint factor; uint unused; Words a; Words b; Words target; } arguments;
void main() {
    uint i = gl_GlobalInvocationID.x;
    arguments.target.data[i] = arguments.factor * arguments.a.data[i] + arguments.b.data[i];
}
"""
)
NBYTES = 256
WORDS = np.arange(64, dtype=np.uint32)
A, B, TARGET, ARENA = range(4)  # memory; there are two values in the arena
FIRST, SECOND = (ARENA, 0), (ARENA, NBYTES)
SWEPT = FILES | {replay_module.__file__}


def call(kernel, a, b, target, ordered):
    """A dispatch on places: memory, and how many bytes further on."""
    parts = [(memory, offset, offset + NBYTES) for memory, offset in (a, b, target)]
    addresses = tuple((8 + 8 * place, *where) for place, where in enumerate((a, b, target)))
    return Call(kernel, bytes(32), (1, 1, 1), ordered, tuple(parts[:2]), tuple(parts[2:]), addresses, ((0, 0),), ())


class Program:
    """Four dispatches with a factor f: of a and b they make (f³ + f² + f)a + (f² + 2f + 1)b."""

    def __init__(self, device, ordered=(False, True, True, True)):
        self.device = device
        self.kernel = device.kernel(compile_glsl(SOURCE), "arguments")
        places = [
            ((A, 0), (B, 0), FIRST),  # fa + b
            (FIRST, (A, 0), SECOND),  # (f² + 1)a + fb
            (SECOND, FIRST, FIRST),  # (f³ + 2f)a + (f² + 1)b
            (FIRST, (B, 0), (TARGET, 0)),
        ]
        calls = [call(self.kernel, *place, one) for place, one in zip(places, ordered, strict=True)]
        self.replay = device.replay(calls, 4)

    def run(self, a, b, factor, target=None):
        target = target or self.device.allocate(NBYTES)
        memory = [a, b, target, self.device.allocate(2 * NBYTES)]
        self.replay.run(memory, [one.address for one in memory], [struct.pack("<I", factor)])
        return target

    @staticmethod
    def expected(a, b, factor):
        f = np.uint32(factor)
        first = f * a + b
        return f * (f * (f * first + a) + first) + b


@pytest.fixture
def program(own_device):
    return Program(own_device)


def test_runs_with_other_memory_and_numbers(program):
    device = program.device
    kept = []
    for turn in range(20):
        values = (turn + 1) * WORDS, WORDS + turn
        a, b = (upload(device, one) for one in values)
        kept.append((program.run(a, b, turn), Program.expected(*values, turn)))
    for target, expected in kept:
        assert (download(device, target) == expected).all()
    assert len(program.replay.copies) <= replay_module.COPIES


def test_a_loop_writes_nothing_new(program, monkeypatch):
    """Its memory takes turns, so the addresses are all there."""
    device, written = program.device, []
    b = upload(device, WORDS)
    a, expected = upload(device, WORDS), WORDS
    original = replay_module.Replay._write

    def write(self, copy, addresses, numbers):
        written.append(copy.known != addresses)
        original(self, copy, addresses, numbers)

    monkeypatch.setattr(replay_module.Replay, "_write", write)
    for _ in range(30):
        a, expected = program.run(a, b, 3), Program.expected(expected, WORDS, 3)
        device.synchronize()
    assert (download(device, a) == expected).all()
    assert not any(written[10:])


def test_order_with_other_commands(program):
    device, values = program.device, [WORDS, WORDS]
    buffers = [upload(device, WORDS) for _ in values]
    for turn in range(50):
        which = turn % 3 // 2
        program.run(*buffers, turn, buffers[which])
        values[which] = Program.expected(*values, turn)
        if turn % 7 == 0:
            device.copy(buffers[0], 0, buffers[1], 0, NBYTES)
            values[1] = values[0]
        if turn % 11 == 0:
            values[0] = WORDS + np.uint32(turn)
            device.upload(buffers[0], 0, values[0])
    for buffer, expected in zip(buffers, values, strict=True):
        assert (download(device, buffer) == expected).all()


@pytest.mark.parametrize("missing", [None, 1, 2, 3])
def test_the_checker_sees_the_barriers_inside(missing):
    with device_of_its_own("subgroupQuad,subgroupClustered", check_barriers=True) as device:
        program = Program(device, tuple(place > 0 and place != missing for place in range(4)))
        a, b = upload(device, WORDS), upload(device, WORDS)
        target = program.run(a, b, 5)
        if missing is None:
            target = program.run(target, b, 5, target)
            assert (download(device, target) == Program.expected(Program.expected(WORDS, WORDS, 5), WORDS, 5)).all()
            return
        with pytest.raises(ValidationError, match="Barrier missing between arguments and arguments"):
            device.queue.submit()
        device.queue.recorder.checker.unordered.clear()


def halves(kernel, first, second):
    """Two dispatches to memory of which each writes some elements, without a barrier between them."""
    calls = [call(kernel, (A, 0), (B, 0), (TARGET, 0), False) for _ in range(2)]
    return [one._replace(elements=(Elements(*where),)) for one, where in zip(calls, (first, second), strict=True)]


@pytest.mark.parametrize(
    ("second", "fits"),
    [((8, (4, 2), (32, 4), 4), True), ((24, (4,), (32,), 4), True), ((4, (4, 2), (32, 4), 4), False), ((96, (8,), (4,), 4), False)],
)  # fmt: skip
def test_the_checker_knows_elements(second, fits):
    """Two columns of four rows of eight words, and others; what the shader does is not looked at."""
    with device_of_its_own("subgroupQuad,subgroupClustered", check_barriers=True) as device:
        kernel = device.kernel(compile_glsl(SOURCE), "arguments")
        replay = device.replay(halves(kernel, (0, (4, 2), (32, 4), 4), second), 3)
        memory = [upload(device, WORDS), upload(device, WORDS), device.allocate(NBYTES)]
        replay.run(memory, [one.address for one in memory], [bytes(4)])
        with contextlib.nullcontext() if fits else pytest.raises(ValidationError, match="write after write"):
            device.queue.submit()
        device.queue.recorder.checker.unordered.clear()


def test_undeclared_memory_is_found():
    with device_of_its_own("subgroupQuad,subgroupClustered", check_barriers=True) as device:
        program = Program(device)
        a, b, other = (upload(device, WORDS) for _ in range(3))
        memory = [a, b, device.allocate(NBYTES), device.allocate(2 * NBYTES)]
        with pytest.raises(ValidationError, match="lies in none of the buffers"):
            program.replay.run(memory, [other.address, *[one.address for one in memory[1:]]], [bytes(4)])


def test_too_many_workgroups(program):
    one = call(program.kernel, (A, 0), (B, 0), (TARGET, 0), False)
    with pytest.raises(FeatureError, match="at most"):
        program.device.replay([one._replace(groups=(1 << 40, 1, 1))], 4)


def test_command_buffers_are_used_again(own_device):
    a, b = upload(own_device, WORDS), upload(own_device, WORDS)
    for turn in range(60):
        program = Program(own_device)
        for _ in range(3):
            target = program.run(a, b, turn)
        assert (download(own_device, target) == Program.expected(WORDS, WORDS, turn)).all()
        del program
        own_device.synchronize()
    gc.collect()
    # A GPU that is not waited for by the driver tells only now and then that a batch's commands may be used again.
    assert len(own_device.queue.recorder.secondary) <= 2 * replay_module.COPIES + progress.SILENT_COMMANDS


def test_a_program_that_is_dropped_while_it_runs(own_device):
    a, b = upload(own_device, WORDS), upload(own_device, WORDS)
    targets = [Program(own_device).run(a, b, turn) for turn in range(40)]
    for turn, target in enumerate(targets):
        assert (download(own_device, target) == Program.expected(WORDS, WORDS, turn)).all()


def test_threads(own_device):
    program, failures = Program(own_device), []

    def work(seed):
        try:
            b = upload(own_device, WORDS + seed)
            a, expected = upload(own_device, WORDS), WORDS
            for turn in range(60):
                a, expected = program.run(a, b, turn), Program.expected(expected, WORDS + np.uint32(seed), turn)
                if (turn + seed) % 9 == 0:
                    assert (download(own_device, a) == expected).all()
            assert (download(own_device, a) == expected).all()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


def test_a_device_that_is_lost_or_closed(own_device):
    program = Program(own_device)
    a, b = upload(own_device, WORDS), upload(own_device, WORDS)
    program.run(a, b, 1)
    with faults.inject(-4, "vkQueueSubmit"), pytest.raises(DeviceLostError, match="arguments"):
        own_device.synchronize()
    with pytest.raises(DeviceLostError):
        program.run(a, b, 1)


def test_a_device_that_is_closed(own_device):
    program = Program(own_device)
    a, b = upload(own_device, WORDS), upload(own_device, WORDS)
    program.run(a, b, 1)
    own_device.close()
    with pytest.raises(DeviceError, match="was closed"):
        program.replay.run([a, b, a, b], [1, 2, 3, 4], [bytes(4)])


@pytest.mark.parametrize("function", ["vkAllocateCommandBuffers", "vkAllocateDescriptorSets", "vkAllocateMemory"])
def test_errors_of_the_driver(own_device, function):
    program = Program(own_device)
    a, b = upload(own_device, WORDS), upload(own_device, WORDS)
    with faults.inject(-2, function), contextlib.suppress(api.OutOfMemoryError):
        program.run(a, b, 2)
    assert (download(own_device, program.run(a, b, 2)) == Program.expected(WORDS, WORDS, 2)).all()


class Other:
    """What a signal handler may do: run the same replay with other memory."""

    def __init__(self, program):
        self.program, self.failures, self.calls = program, [], 0
        self.memory = upload(program.device, 7 * WORDS), upload(program.device, 9 * WORDS)

    def run(self):
        self.calls += 1
        try:
            target = self.program.run(*self.memory, self.calls)
            if self.calls % 2:
                found = download(self.program.device, target)
                assert (found == Program.expected(7 * WORDS, 9 * WORDS, self.calls)).all()
        except BaseException as error:
            self.failures.append(error)


@pytest.mark.parametrize(
    ("computes", "interrupts"),
    [(False, True), (True, False), (True, True)],
    ids=["interrupt", "other code", "other code, then an interrupt"],
)
@pytest.mark.parametrize("mode", ["CPU", "GPU", "checked"])
def test_strike_at_every_place(computes, interrupts, mode, monkeypatch):
    checks = mode == "checked"
    if mode == "GPU":
        monkeypatch.setattr(progress, "POLL_SECONDS", 1e-4)
    profile = ("gpu",) if mode == "GPU" else ()
    with device_of_its_own("subgroupQuad,subgroupVote", checks, ("DescriptorSet",), profile) as device:
        assert mode != "GPU" or not device.limits.is_cpu
        program = Program(device)
        other, generator = Other(program), random.Random(3)
        a, b = upload(device, WORDS), upload(device, 2 * WORDS)
        finished, place = False, generator.randrange(3)

        def strike():
            if computes:
                other.run()
            if interrupts:
                raise KeyboardInterrupt

        def runs(first):
            kept = []
            for turn in range(3):
                kept.append((program.run(a, b, first + turn), first + turn))
                device.queue.submit()
            kept.append((program.run(kept[0][0], b, 3), None))
            return kept

        while not finished:
            place += 3
            if place % 7 == 0:
                program.replay.copies.clear()  # so that it is recorded again
            try:
                with Strike(place, strike, SWEPT) as struck:
                    kept = runs(place)
                finished = struck.where is None
            except KeyboardInterrupt:
                kept = []
            try:
                assert not other.failures, other.failures
                for target, factor in [*kept, *runs(place + 1)]:
                    if factor is not None:
                        assert (download(device, target) == Program.expected(WORDS, 2 * WORDS, factor)).all()
            except BaseException as error:
                raise AssertionError(f"after a strike at {struck.where}") from error
        assert place > 100, "the sweep is over before it has begun"
        assert len(program.replay.copies) <= replay_module.COPIES
        device.synchronize()
        gc.collect()
        assert len(device.queue.recorder.secondary) <= 4 * replay_module.COPIES
