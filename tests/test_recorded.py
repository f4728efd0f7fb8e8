"""Programs that are recorded once: the bits of the functions, memory within bounds, whatever else uses the device."""

import itertools
import random

import numpy as np
import pytest

import vkarray as vx
from vkarray import configuration
from vkarray._vk.timing import timestamps
from vkarray.graph import executable
from vkarray.graph.arena import Life, arrange, rounded

SIDE = 160  # of matrices: large enough for memory to count in more than steps of 256 bytes


def random_function(generator, count):
    """A function of two matrices and a number, of so many operations; few of them fuse."""
    plan = [(generator.randrange(7), generator.random(), generator.random()) for _ in range(count)]
    outputs = [generator.random() for _ in range(generator.randrange(1, 4))]

    def function(x, y, factor):
        values = [x, y]
        for kind, one, other in plan:
            a, b = values[int(one * one * len(values)) - 1], values[int(other * len(values)) - 1]
            if kind == 0:
                made = vx.cumulative_sum(a, axis=1)
            elif kind == 1:
                made = a @ b
            elif kind == 2:
                made = a + b * factor
            elif kind == 3:
                made = vx.sort(a, axis=0)
            elif kind == 4:
                made = a - vx.mean(b, axis=1, keepdims=True)
            elif kind == 5:
                made = vx.roll(a, 3, axis=0) * 0.5
            else:
                made = vx.matrix_transpose(a) / (1 + vx.max(vx.abs(b)))
            values.append(made / (1 + vx.max(vx.abs(made))))
        return [values[2 + int(place * count)] for place in outputs]

    return function


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed):
    generator = random.Random(seed)
    function = random_function(generator, generator.choice([3, 8, 20]))
    compiled = vx.compile(function)
    numbers = np.random.default_rng(seed)
    for turn in range(4):
        x, y = (vx.asarray(numbers.standard_normal((SIDE, SIDE)).astype(np.float32)) for _ in range(2))
        for found, expected in zip(compiled(x, y, turn + 0.5), function(x, y, turn + 0.5), strict=True):
            assert np.asarray(found).tobytes() == np.asarray(expected).tobytes()
    made = compiled.explain().programs[0][0]
    recorded = made.recorded
    steps = made.plan.steps
    assert (recorded is not None) == (len(steps) >= executable.FEW or executable._side_by_side(steps))
    if recorded is None:
        return
    assert recorded.arena.bound <= recorded.peak_bytes <= 1.1 * recorded.arena.bound
    assert f"{recorded.arena.nbytes} in an arena; {recorded.arena.bound} live at once" in str(compiled.explain())


@pytest.mark.parametrize("seed", range(40))
def test_places_of_values(seed):
    generator = random.Random(seed)
    count = generator.choice([2, 10, 60])

    def life(number, last):
        first = generator.randrange(count)
        nbytes = generator.choice([4, 1000, 1 << 14, 1 << 20, generator.randrange(1, 1 << 22)])
        return Life(number, nbytes, first, last if last else first + generator.randrange(1, 9))

    results = [life(count + place, count + 9) for place in range(generator.randrange(3))]
    values = [life(number, 0) for number in range(count)]
    arena = arrange(values, results)
    assert arena.bound <= arena.nbytes + sum(rounded(one.nbytes) for one in results)
    sizes = {one.number: one.nbytes for one in results} | {None: arena.nbytes}
    for one in values:
        place = arena.places[one.number]
        assert place.offset % 256 == 0
        assert place.offset + one.nbytes <= sizes[place.result]
        assert all(other.number != place.result or one.last < other.first for other in results), (
            "a result is overwritten"
        )
    for one, other in itertools.combinations(values, 2):
        first, second = arena.places[one.number], arena.places[other.number]
        if first.result == second.result and one.first <= other.last and other.first <= one.last:
            apart = first.offset + one.nbytes <= second.offset or second.offset + other.nbytes <= first.offset
            assert apart, "two values lie in one place"


def step(x, w, factor=1.0):
    for _ in range(3):
        x = vx.cumulative_sum(x @ w, axis=1) * factor
    return x


def matrices(*seeds, side=8):
    return [vx.asarray(np.random.default_rng(seed).random((side, side), dtype=np.float32)) for seed in seeds]


def test_a_loop_that_runs_ahead():
    compiled, (x, w) = vx.compile(step), matrices(1, 2)
    w = w / 16
    kept, expected = [], x
    for turn in range(40):
        x = compiled(x, w, 1 + turn / 64)
        kept.append(x)
    for turn, found in enumerate(kept):
        expected = step(expected, w, 1 + turn / 64)
        assert np.asarray(found).tobytes() == np.asarray(expected).tobytes()
    assert len(compiled.explain().programs) == 1


def test_arguments_that_are_written():
    @vx.compile
    def update(x, w):
        y = step(x, w)
        x[1:] = y[:-1]
        return vx.sum(x), x

    (x, w), turns = matrices(3, 4), 5
    expected = vx.asarray(x, copy=True)
    for _ in range(turns):
        total, same = update(x, w / 16)
        assert same is x
        expected[1:] = step(expected, w / 16)[:-1]
    assert np.asarray(x).tobytes() == np.asarray(expected).tobytes()
    assert float(total) == float(vx.sum(expected))


def test_arguments_that_share_memory():
    compiled, (x, w) = vx.compile(lambda x, y, w: (step(x, w), step(y, w))), matrices(5, 6)
    for one, other in ((x, x), (x, w), (x[:], x)):
        for _ in range(3):
            for found, given in zip(compiled(one, other, w), (one, other), strict=True):
                assert np.asarray(found).tobytes() == np.asarray(step(given, w)).tobytes()


def test_large_arrays_that_move():
    """CPU drivers read these through descriptors, which are recorded too."""
    compiled, (x, w) = vx.compile(step), matrices(7, 8, side=160)
    kept = []
    for turn in range(9):
        given = x + turn
        kept.append((given, compiled(given, w / 256)))
        if turn % 3 == 2:
            kept.pop(0)
    for given, found in kept:
        assert np.asarray(found).tobytes() == np.asarray(step(given, w / 256)).tobytes()


def test_memory_comes_back():
    compiled, (x, w) = vx.compile(step), matrices(9, 10, side=160)
    compiled(x, w)
    device = x._device
    device.synchronize()
    before = device.memory_statistics()["bytes_in_use"]
    found = compiled(x, w)
    assert device.memory_statistics()["bytes_in_use"] - before <= 2 * found.nbytes
    del found
    assert device.memory_statistics()["bytes_in_use"] == before
    device.empty_cache()
    assert np.asarray(compiled(x, w)).tobytes() == np.asarray(step(x, w)).tobytes()


def test_random_numbers():
    function = lambda x, w: step(x, w) + vx.random.random((8, 8))  # noqa: E731
    compiled, (x, w) = vx.compile(function), matrices(11, 12)
    found = []
    for run in (function, compiled):
        vx.random.seed(1)
        found.append([np.asarray(run(x, w)).tobytes() for _ in range(5)])
    assert found[0] == found[1]
    vx.random.seed()
    assert len(set(found[0])) == 5


def test_timestamps_are_of_dispatches():
    compiled, (x, w) = vx.compile(step), matrices(13, 14)
    device = x._device
    if "timestamps" not in device.features:
        pytest.skip("the device takes no timestamps")
    compiled(x, w)
    with device.timestamps() as times:
        found = compiled(x, w)
    assert len(times) == compiled.explain().kernels
    assert np.asarray(found).tobytes() == np.asarray(step(x, w)).tobytes()
    with timestamps(device, replays=True) as times:
        found = compiled(x, w)
    assert len(times) == 1
    assert times[0][1] > 0
    assert np.asarray(found).tobytes() == np.asarray(step(x, w)).tobytes()


def rolled(x):
    return vx.roll(x, 1, axis=0) + vx.roll(x, -1, axis=1) * x


def framed(x):
    made = vx.asarray(x, copy=True)
    made[1:-1, 1:-1] = x[1:-1, 1:-1] * 2
    return made


def framed_twice(x):
    return framed(framed(x) + 1)


@pytest.mark.parametrize(("function", "barriers"), [(rolled, 0), (framed, 0), (framed_twice, 2)])
def test_parts_of_an_array_are_written_side_by_side(function, barriers):
    """Dispatches that write other elements of the same memory need no barrier between them."""
    (x,) = matrices(21, side=1024)
    with configuration.config(check_barriers=True):
        compiled = vx.compile(function)
        for _ in range(3):
            found = compiled(x)
        assert np.asarray(found).tobytes() == np.asarray(function(x)).tobytes()
    recorded = compiled.explain().programs[0][0].recorded
    assert len(recorded.replay.calls) > 2
    assert sum(one.ordered for one in recorded.replay.calls) <= barriers


@pytest.mark.parametrize("mode", [{"guard": True}, {"check_barriers": True}, {"debug": 2}], ids=str)
def test_modes(mode, capfd):
    with configuration.config(**mode):
        compiled, (x, w) = vx.compile(step), matrices(15, 16)
        for _ in range(3):
            x, expected = compiled(x, w), step(x, w)
            assert np.asarray(x).tobytes() == np.asarray(expected).tobytes()


def test_programs_of_few_dispatches_are_not_recorded():
    compiled, (x,) = vx.compile(lambda x: x + 1), matrices(17)
    compiled(x)
    assert compiled.explain().programs[0][0].recorded is None
    assert executable.FEW > 1
