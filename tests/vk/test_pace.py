"""Long dispatches: what they should take, the pieces that they are cut into, and the results, which are the same bits."""

import itertools
import math
import re
import struct
from types import SimpleNamespace

import numpy as np
import pytest

import vkarray as vx
from vkarray._vk import pace
from vkarray._vk.fields import Arguments, Field
from vkarray._vk.pace import BOUND, MOST_PIECES, Pace
from vkarray.nn import normalization, softmax
from vkarray.shaders import files

GRIDS = [(1, 1, 1), (7, 1, 1), (65535, 1, 1), (9, 5, 1), (4, 3, 6), (1, 40, 1), (2, 1, 3), (65535, 3, 1)]


@pytest.mark.parametrize("whole_rows", [False, True])
@pytest.mark.parametrize("count", [1, 2, 5, 64, 100_000])
@pytest.mark.parametrize("groups", GRIDS, ids=str)
def test_pieces_cover_a_grid_once(groups, count, whole_rows):
    found = pace.pieces(groups, count, whole_rows)
    assert sum(math.prod(size) for _, size in found) == math.prod(groups)
    cells = set()
    for first, size in found:
        assert all(begin >= 0 and length > 0 for begin, length in zip(first, size, strict=True))
        assert all(begin + length <= end for begin, length, end in zip(first, size, groups, strict=True))
        if whole_rows and groups[1] * groups[2] > 1:
            assert (first[0], size[0]) == (0, groups[0]), "workgroups are numbered by the length of a row"
        if math.prod(groups) < 1000:
            ranges = (range(begin, begin + length) for begin, length in zip(first, size, strict=True))
            cells |= set(itertools.product(*ranges))
    assert len(cells) == (math.prod(groups) if math.prod(groups) < 1000 else 0)
    assert len(found) <= 4 * MOST_PIECES
    if not whole_rows:
        assert len(found) >= min(count, math.prod(groups), MOST_PIECES) / 2


def block_of(**values):
    """Arguments with fields of these names, and their bytes."""
    fields = tuple(Field(name, 4 * place, "I") for place, name in enumerate(values))
    return Arguments(fields), struct.pack(f"<{len(values)}I", *values.values())


def test_estimates_follow_the_lengths_of_loops():
    plain, block = block_of(count=5)
    known = Pace(plain, 256, 4e9)
    assert known.seconds(block, 100) == pytest.approx(100 * 256 * 2000 / 4e9)
    product, block = block_of(m=4096, n=4096, k=4096, part=4096, count=1)
    assert Pace(product, 256, 4e9).seconds(block, 1024) == pytest.approx(2 * 4096**3 / 4e9)
    rows, block = block_of(rows=10, count=1000, first_row=0, matrix=0, steps=0)
    assert Pace(rows, 256, 4e9).seconds(block, 10) == pytest.approx(50 * 10_000 / 4e9)
    attention, block = block_of(keys=100, width=64, heads=2)
    assert Pace(attention, 128, 1e12).seconds(block, 7) == pytest.approx(7 * 128 * 2 * 6400 / 1e12)


def test_measurements_correct_estimates_within_limits():
    arguments, block = block_of(count=5)
    known = Pace(arguments, 256, 4e9)
    before = known.seconds(block, 100)
    known.correct(1.0, 1.0, 0.5)
    known.correct(1.0, 1.0, 0.5)  # it may be told twice
    assert known.seconds(block, 100) == pytest.approx(before / 2)
    known.correct(known.factor, 1.0, 1e-9)
    assert known.seconds(block, 100) == pytest.approx(before / 64)
    known.correct(known.factor, 1.0, 1e6)
    assert known.seconds(block, 100) == pytest.approx(before * 64)


def test_nobody_watches_a_processor(device):
    if (
        device.limits.is_cpu and not device.description.profiles
    ):  # a profile says how fast the device is that it stands for
        assert device.limits.rate == math.inf


def test_library_numbers_workgroups_by_rows_alone():
    """A piece of a dispatch sees its own number of workgroups: kernels may ask for the length of a row, and that is kept."""
    number = re.compile(r"gl_WorkGroupID\.y \* gl_NumWorkGroups\.x \+ gl_WorkGroupID\.x")
    for path in files.source_folder().rglob("*"):
        if path.suffix not in (".comp", ".glsl"):
            continue
        others = [line for line in number.sub("", path.read_text()).splitlines() if "gl_NumWorkGroups" in line]
        kept = {"reduce.comp": 1, "access.comp": 1}.get(path.name, 0)  # which keep functions that nothing else calls
        assert len(others) == kept, f"{path.name}: {others}"


@pytest.fixture
def slow(monkeypatch):
    """A device that is taken for so slow that nearly every dispatch is cut, whatever measurements say."""
    monkeypatch.setattr(pace, "_MOST_CORRECTION", 1.0)
    return slow_device()


def slow_device():
    with vx.config(profile="slow"):
        opened = vx.asarray(0).device
    opened.synchronize()
    return opened


def batches(device, function):
    """What a function returns, and how many submissions it took."""
    device.synchronize()
    before = device.queue.batches
    found = np.asarray(function())
    return found, device.queue.batches - before


OPERATIONS = {
    "elementwise": lambda x: vx.exp(x) + x,
    "strided": lambda x: vx.concat([x] * 8).mT + 1,
    "sum": lambda x: vx.sum(x, axis=1),
    "scan": lambda x: vx.cumulative_sum(x, axis=1),
    "sort": lambda x: vx.sort(x, axis=1),
    "product": lambda x: x @ x.mT,
    "rows": softmax.softmax,
    "fft": lambda x: vx.fft.fft(vx.astype(x, vx.complex64)),
    "solve": lambda x: vx.linalg.solve(x[:130, :130], x[:130, :3]),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_pieces_compute_the_same_bits(device, slow, name):
    values = np.random.default_rng(4).standard_normal((300, 500)).astype(np.float32)
    whole, few = batches(device, lambda: OPERATIONS[name](vx.asarray(values, device=device)))
    pieces, count = batches(slow, lambda: OPERATIONS[name](vx.asarray(values, device=slow)))
    np.testing.assert_array_equal(whole, pieces)
    assert count > few, "no dispatch was cut"


@pytest.mark.parametrize("batch", [2, 40])
def test_running_statistics_of_many_channels_move_once(device, slow, batch):
    """Whatever piece of the dispatch has the channel's number, and also where it has fewer invocations than there are channels."""
    values = np.random.default_rng(6).standard_normal((batch, 20_000)).astype(np.float32)

    def moved(on):
        x, mean, variance = vx.asarray(values, device=on), vx.zeros(20_000, device=on), vx.ones(20_000, device=on)
        made = normalization.batch_norm(x, mean=mean, variance=variance, training=True, momentum=0.25)
        return vx.concat([mean, variance, *map(vx.ravel, made)])

    whole, few = batches(device, lambda: moved(device))
    pieces, count = batches(slow, lambda: moved(slow))
    np.testing.assert_array_equal(whole, pieces)
    assert count > few + 3, "no dispatch was cut"


def test_plans_are_cut_as_the_calls_that_they_repeat(slow):
    x = vx.asarray(np.ones(100_000, np.float32), device=slow)
    counts = []
    for _ in range(5):
        before = slow.queue.serial  # which counts pieces
        vx.tanh(x)
        counts.append(slow.queue.serial - before)
    assert counts == [counts[0]] * 5
    assert counts[0] > 2


def test_pieces_of_a_dispatch_are_ordered_as_it_is():
    """Behind what it reads, before what reads it: the checker sees each piece."""
    with vx.config(profile="slow", check_barriers=True):
        x = vx.asarray(np.arange(200_000, dtype=np.float32))
        for _ in range(3):
            x += 1
            y = x * 2
        assert float(vx.sum(y)) == pytest.approx(float(np.sum((np.arange(200_000.0) + 3) * 2)), rel=1e-6)


def test_a_compiled_function_that_takes_long_is_submitted_in_pieces(device, slow):
    def work(x):
        return vx.sum(vx.sort(vx.cumulative_sum(x, axis=1), axis=1) @ x.mT, axis=0)

    values = np.random.default_rng(5).standard_normal((64, 300)).astype(np.float32)
    expected = np.asarray(vx.compile(work)(vx.asarray(values, device=device)))
    compiled, x = vx.compile(work), vx.asarray(values, device=slow)
    compiled(x)
    found, count = batches(slow, lambda: compiled(x))
    np.testing.assert_array_equal(found, expected)
    assert count > 3


def test_timestamps_find_what_a_kernel_takes():
    """The pieces of the first dispatches are timed; the last ones are few, since they turn out to be short."""
    slow = slow_device()
    if "timestamps" not in slow.features:
        pytest.skip("a device without timestamps keeps to the estimates")
    x = vx.asarray(np.ones(100_000, np.float32), device=slow)
    counts = [batches(slow, lambda: vx.tanh(x))[1] for _ in range(4)]
    assert counts[-1] < counts[0]


@pytest.mark.parametrize("reads", [False, True], ids=["its place", "the number of workgroups"])
def test_kernels_of_users_see_the_whole_grid(slow, reads):
    index = "gl_NumWorkGroups.x" if reads else "gl_WorkGroupID.x"
    kernel = vx.kernel(
        "layout(local_size_x = 64) in;\nlayout(binding = 0) writeonly buffer R { uint r[]; };\n"
        f"void main() {{ r[gl_GlobalInvocationID.x] = {index}; }}",
        name="place",
    )
    result = vx.zeros((64 * 5000,), dtype=vx.uint32, device=slow)
    _, count = batches(slow, lambda: kernel(result, groups=(5000, 1, 1)) or result[:64])
    expected = np.full(64 * 5000, 5000) if reads else np.repeat(np.arange(5000), 64)
    np.testing.assert_array_equal(np.asarray(result), expected)
    assert (count > 5) == (not reads)


def test_a_dispatch_within_the_bound_stays_whole(slow):
    kernel = SimpleNamespace(pieces="any", pace=Pace(block_of(count=1)[0], 64, 1e6), name="kernel")
    assert slow.queue._pieces(kernel, b"", (1, 1, 1), (), (), 10 * BOUND) == []
    assert len(slow.queue._pieces(kernel, b"", (8, 1, 1), (), (), 2 * BOUND)) == 2
    kernel.pieces = "none"
    assert slow.queue._pieces(kernel, b"", (8, 1, 1), (), (), 2 * BOUND) == []
