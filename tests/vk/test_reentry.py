"""The allocator under Ctrl-C at each of its lines and calls, and under callbacks that use it from there.

Destructors, the garbage collector and signal handlers run in the thread that works, between any two of its calls, which is
why the lock of the device does not keep them out.
"""

import collections
import contextlib
import dis
import functools
import gc
import itertools
import sys
from collections import Counter
from itertools import pairwise

import pytest
from vulkan_program import Combine, upload, words

from vkarray._vk import api, faults, guard, memory, size_classes
from vkarray.errors import OutOfMemoryError

OUT_OF_DEVICE_MEMORY = -2
SWEPT = {module.__file__ for module in (memory, size_classes, guard)}


@functools.cache
def signals_are_seen(code):
    """The instructions before which the interpreter looks for signals: after calls, and where functions and loops begin."""
    looks = ("CALL", "RESUME", "JUMP_BACKWARD")
    return {after.offset for one, after in pairwise(dis.get_instructions(code)) if one.opname.startswith(looks)}


class Strike:
    """Does something at the n-th event inside the allocator, once: where a line begins, or where signals are seen."""

    def __init__(self, nth, action, lines):
        self.nth, self.action, self.lines = nth, action, lines
        self.count, self.place = 0, None

    def __enter__(self):
        self.before = sys.gettrace()
        sys._getframe().f_trace_opcodes = True  # else Python 3.12 reports none until the next settrace
        sys.settrace(self.enter)

    def __exit__(self, *_):
        sys.settrace(self.before)

    def enter(self, frame, event, argument):
        if frame.f_code.co_filename not in SWEPT:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = not self.lines, self.lines
        return self.look

    def look(self, frame, event, argument):
        if event == "line" or (event == "opcode" and frame.f_lasti in signals_are_seen(frame.f_code)):
            self.count += 1
            if self.count == self.nth:
                self.place = f"{frame.f_code.co_name}, line {frame.f_lineno}"
                sys.settrace(None)
                self.action()
        return self.look


def fragments(device):
    """Live buffers with holes between, and pieces in bins: what a new size is cut from."""
    kept = [device.allocate(512) for _ in range(6)]
    del kept[1::3]
    device.memory.flush()
    del kept[1]
    return kept


def full(device):
    """A block of which nothing is left."""
    return [device.allocate(memory.SHARED_BYTES - 2 * guard.GUARD_BYTES) for _ in range(2)]


def cached(device):
    """A block that waits unused, and one that does not."""
    device.allocate(100 << 20)
    return [device.allocate(4096)]


def dropped(device):
    """Pieces that were lost on the way between a bin, a block and a buffer."""
    kept = fragments(device)
    for waiting in device.memory.bins.values():
        waiting.clear()
    while device.memory.shared.take(256):
        pass
    return kept


def run_out(device, kept):
    with faults.inject(OUT_OF_DEVICE_MEMORY, "vkAllocateMemory"), contextlib.suppress(OutOfMemoryError):
        return device.allocate(200 << 20)


# name: (what is there before, what strikes)
OPERATIONS = {
    "take a piece from a bin": (fragments, lambda device, kept: device.allocate(512)),
    "cut a piece": (fragments, lambda device, kept: device.allocate(256)),
    "make a block": (full, lambda device, kept: device.allocate(1000)),
    "make a block for one buffer": (fragments, lambda device, kept: device.allocate(40 << 20)),
    "take a whole block": (cached, lambda device, kept: device.allocate(100 << 20)),
    "run out of memory": (cached, run_out),
    "release": (fragments, lambda device, kept: kept.clear()),
    "merge": (fragments, lambda device, kept: device.memory.flush()),
    "empty the cache": (cached, lambda device, kept: device.empty_cache()),
    "look at the guards": (fragments, lambda device, kept: device.memory.check()),
    "count": (dropped, lambda device, kept: device.memory_statistics()),
    "recover": (dropped, lambda device, kept: device.allocate(256)),
}


@pytest.fixture
def swept(guarded, own_device, monkeypatch):
    monkeypatch.setattr(memory, "MOST_CACHED", 0)  # merge as often as possible
    if guarded:
        allocator = guard.GuardedAllocator(own_device)
        monkeypatch.setattr(own_device, "memory", allocator)
        monkeypatch.setattr(own_device, "allocate", allocator.allocate)
    gc.collect()
    gc.freeze()  # so that looking for buffers is fast
    yield own_device
    gc.unfreeze()
    if guarded:
        own_device.memory.close()


def verify(device, where):
    """What has to be true at any time."""
    gc.collect()
    allocator, statistics = device.memory, device.memory_statistics()
    live = [each for each in gc.get_objects() if type(each) is memory.Buffer and hasattr(each, "piece")]
    spans = sorted((buffer.piece.address, buffer.piece.address + buffer.piece.size) for buffer in live)
    assert all(first[1] <= second[0] for first, second in pairwise(spans)), f"{where}: two live buffers share memory"
    in_use = sum(buffer.piece.size for buffer in live)
    assert statistics["bytes_peak"] >= in_use, f"{where}: the peak is below what lives"
    waiting = sum(piece.size for piece in getattr(allocator, "released", ()))
    assert statistics["bytes_in_use"] == in_use, f"{where}: the statistics count other memory than lives"
    assert in_use + allocator._idle() == statistics["bytes_reserved"], f"{where}: memory leaks"
    assert waiting <= allocator._idle()


def struck(device, name, nth, action, lines, others):
    """Do an operation in which something strikes, and verify all that follows. Returns the place, or None.

    `others` is what the strike keeps.
    """
    before, operation = OPERATIONS[name]
    kept, made = before(device), None
    strike = Strike(nth, action, lines)
    with contextlib.suppress(KeyboardInterrupt), strike:
        made = operation(device, kept)
    verify(device, strike.place)
    again = [device.allocate(size) for size in (512, 256, 1000, 40 << 20)]
    verify(device, strike.place)
    del kept, made, again
    others.clear()
    device.memory.check()
    device.empty_cache()
    verify(device, strike.place)
    assert not device.memory_statistics()["bytes_reserved"], f"{strike.place}: a block never becomes free again"
    return strike.place


def objects_of_memory(device):
    """How many Vulkan objects there are, without those that the queue and the transfers keep for the next time."""
    counts, rings = Counter(api.live_objects()), len(device.transfer.rings)
    del counts["CommandBuffer"]
    counts.subtract(Buffer=rings, DeviceMemory=rings)
    return counts


def sweep(device, name, action, lines, others=None):
    objects, nth = objects_of_memory(device), 1
    while place := struck(device, name, nth, action, lines, [] if others is None else others):
        assert objects_of_memory(device) == objects, f"{place}: Vulkan objects are left"
        nth += 1
    assert nth > 1, f"to {name} does not pass through the allocator"


SWEEPS = pytest.mark.parametrize(
    ("guarded", "lines"), [(False, True), (False, False), (True, False)], ids=["lines", "calls", "guarded"]
)


def interrupt():
    raise KeyboardInterrupt


@SWEEPS
@pytest.mark.parametrize("name", OPERATIONS)
def test_ctrl_c_anywhere(swept, monkeypatch, name, lines):
    monkeypatch.setattr(sys, "unraisablehook", lambda error: None)  # Ctrl-C in a destructor ends there
    sweep(swept, name, interrupt, lines)


def use_again(device, kept):
    """What a destructor or a signal handler may do with the device."""
    kept += [device.allocate(size) for size in (256, 512, 512, 1000)]
    for size in (256, 1000, 40 << 20):
        device.allocate(size)
    del kept[-3:-1]
    gc.collect()
    device.empty_cache()
    kept.append(device.allocate(768))


@SWEEPS
@pytest.mark.parametrize("name", OPERATIONS)
def test_reentry_anywhere(swept, name, lines):
    kept = []
    sweep(swept, name, lambda: use_again(swept, kept), lines, kept)


@pytest.mark.parametrize("guarded", [False, True])
def test_buffers_in_cycles_return_once(swept):
    """The collector clears weak references to what it has found before destructors run, which may bring it back."""

    class Holder:
        def __init__(self, buffer):
            self.buffer, self.me = buffer, self

    kept = fragments(swept)
    for size in (256, 512, 1000) * 4:
        Holder(swept.allocate(size))
    gc.collect()
    assert not swept.memory.dropped, "what the collector found passes for dropped"
    kept += [swept.allocate(size) for size in (256, 512, 1000) * 8]
    verify(swept, "collection")
    kept.clear()


def test_memory_that_ctrl_c_dropped_keeps_its_hazards(own_device, monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", lambda error: None)
    combine = Combine(own_device)
    a, target = upload(own_device, words(64)), own_device.allocate(256)
    combine.run(a, a, target)
    address, written = target.address, target.written
    strike = Strike(1, interrupt, lines=True)
    with strike:
        del target
    assert strike.place.startswith("__del__")
    own_device.memory.flush()
    again = [own_device.allocate(256) for _ in range(8)]
    assert [buffer.written for buffer in again if buffer.address == address] == [written]


def test_objects_that_are_made_in_between_are_counted(monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "SWEPT", {api.__file__, collections.__file__})
    monkeypatch.setattr(api, "created", collections.Counter(Thing=1))
    make = api._checked("vkCreateThing", lambda: 0, None, [])
    for nth in itertools.count(1):
        before, strike = api.created["Thing"], Strike(nth, make, lines=False)
        with strike:
            make()
        if strike.place is None:
            break
        assert api.created["Thing"] == before + 2, strike.place
    assert nth > 3, "nothing comes in between"
