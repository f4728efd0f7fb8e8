"""Values that the host gives, such as lists of indices: no call waits for them, and wrong ones are told at the call."""

import functools

import numpy as np
import pytest

import vkarray as vx
from vkarray import configuration
from vkarray._vk.queue import Queue

SHAPE = (3, 4)


def written(change):
    """A call that changes the array, which it returns."""

    @functools.wraps(change)
    def call(n, x, i):
        change(n, x, i)
        return x

    return call


def assign(n, x, i):
    x[i] = 5


def rows(n, i):
    """A row of indices, which NumPy takes no list for."""
    found = [[*i, 0, 1]]
    return found if n is vx else np.array(found)


# Name: the call on NumPy's arrays and ours with two integers, the range that they may be in, and the error beyond.
CASES = {
    "key": (lambda n, x, i: x[i], (-3, 3), IndexError),
    "key of two": (lambda n, x, i: x[i, [0, 1]], (-3, 3), IndexError),
    "assignment": (written(assign), (-3, 3), IndexError),
    "take": (lambda n, x, i: n.take(x, i, axis=0), (-3, 3), IndexError),
    "take of a list of lists": (lambda n, x, i: n.take(x, [i, [0, 1]], axis=1), (-4, 4), IndexError),
    "take of a tuple": (lambda n, x, i: n.take(x, tuple(i), axis=1), (-4, 4), IndexError),
    "take of numbers of NumPy's": (lambda n, x, i: n.take(x, list(np.array(i)), axis=1), (-4, 4), IndexError),
    "take of one number": (lambda n, x, i: n.take(x, np.int64(i[0]), axis=1), (-4, 4), IndexError),
    "take, a method": (lambda n, x, i: x.take(i), (-12, 12), IndexError),
    "take of a list": (lambda n, x, i: n.take([1, 2, 3], i) + x[0, 0], (-3, 3), IndexError),
    "take, wrapping": (lambda n, x, i: x.take(i, mode="wrap"), None, None),
    "take, clipping": (lambda n, x, i: x.take(i, mode="clip"), None, None),
    "take_along_axis": (lambda n, x, i: n.take_along_axis(x, rows(n, i), axis=0), (-3, 3), IndexError),
    "put": (written(lambda n, x, i: n.put(x, i, [5, 6])), (-12, 12), IndexError),
    "put, clipping": (written(lambda n, x, i: n.put(x, i, 5, mode="clip")), None, None),
    "put into a view": (written(lambda n, x, i: n.put(x.T[1:, :2], i, 5)), (-6, 6), IndexError),
    "put_along_axis": (written(lambda n, x, i: n.put_along_axis(x, rows(n, i), 5, 0)), (-3, 3), IndexError),
    "add.at": (written(lambda n, x, i: n.add.at(x, i, 1)), (-3, 3), IndexError),
    "choose": (lambda n, x, i: n.choose([i[0], 0, i[1], 1], [x[0], x[1], x[2]]), (0, 3), ValueError),
    "choose, wrapping": (lambda n, x, i: n.choose([i[0], 0, i[1], 1], [x[0], x[1]], mode="wrap"), None, None),
    "compress": (lambda n, x, i: n.compress([one > 5 for one in (*i, 9, 1)], x, axis=1), None, None),
    "extract": (lambda n, x, i: n.extract([one > 5 for one in (*i, 9, 1)], x[0]), None, None),
    "searchsorted": (  # NumPy takes no negative ones
        lambda n, x, i: n.searchsorted(x[0, :2], 1.0, sorter=i if n is vx else np.mod(i, 2)),
        (-2, 2),
        IndexError,
    ),
    "unravel_index": (lambda n, x, i: n.stack(n.unravel_index(i, SHAPE)) + x[0, 0], (0, 12), ValueError),
    "unravel_index of one": (lambda n, x, i: n.stack(n.unravel_index(i[0], SHAPE)) + x[0, 0], (0, 12), ValueError),
    "ravel_multi_index": (lambda n, x, i: n.ravel_multi_index((i, [0, 1]), (3, 4)) + x[0, 0], (0, 3), ValueError),
    "repeat": (lambda n, x, i: n.repeat(x[:2], i, axis=0), (0, 4), ValueError),
    "pow": (lambda n, x, i: n.pow([2, 3], i) + x[0, 0], (0, 4), ValueError),
    "insert": (lambda n, x, i: n.insert(x[0], i, [1, 2]), (-4, 5), IndexError),
    "insert of one": (lambda n, x, i: n.insert(x[0], i[:1], 5), (-4, 5), IndexError),
    "delete": (lambda n, x, i: n.delete(x[0], i), (-4, 4), IndexError),
}
NO_LIMIT_ABOVE = {"repeat", "pow"}


@pytest.fixture(scope="module", autouse=True)
def memory_apart():
    """The device with memory that the host does not see, on which `tells_at_once` is False."""
    with vx.config(profile=(*configuration.current().profile, "memory-apart"), check_barriers=False):
        assert vx.asarray(0).device.limits.host_memory == "none"
        yield


@pytest.fixture
def waits(monkeypatch):
    found, wait = [], Queue.wait

    def noted(queue, serial):
        found.append(serial)
        wait(queue, serial)

    monkeypatch.setattr(Queue, "wait", noted)
    return found


def start():
    return np.arange(12, dtype=np.float32).reshape(SHAPE)


@pytest.mark.parametrize("name", CASES)
def test_no_call_waits(name, waits):
    call, limits, _ = CASES[name]
    choose = np.random.default_rng(7)
    for _ in range(6):  # as it is, watched and by a plan
        indices = choose.integers(*(limits or (-40, 40)), 2).tolist()
        x, expected = vx.asarray(start()), call(np, start(), indices)
        vx.asarray(0).device.synchronize()
        waits.clear()
        found = call(vx, x, indices)
        assert not waits
        np.testing.assert_array_equal(np.asarray(found), expected)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[1] is not None])
def test_wrong_values_are_told_at_the_call(name):
    call, (low, high), error = CASES[name]
    for place in range(6):
        wrong = [low - 1, low - 99, high, high + 99][place % (2 if name in NO_LIMIT_ABOVE else 4)]
        x = vx.asarray(start())
        call(vx, x, [max(low, 0), max(low, 0)])
        with pytest.raises(error) as told:
            call(vx, x, [wrong, max(low, 0)])
        assert str(wrong) in str(told.value) or name == "repeat"
        np.asarray(x)  # nothing is left to tell


@pytest.mark.parametrize(
    ("call", "wrong"),
    [
        (lambda x, i: vx.take(x, i, axis=0), [0, 3]),
        (lambda x, i: x.take(i), [0, -13]),
        (lambda x, i: vx.take_along_axis(x, i, 0), [[0, 3, 0, 1]]),
        (lambda x, i: vx.put(x, i, 5), [0, 12]),
        (lambda x, i: vx.put_along_axis(x, i, 5, 0), [[0, 3, 0, 1]]),
        (lambda x, i: vx.choose(i, [x[0], x[1]]), [0, 0, 2, 0]),
        (lambda x, i: vx.searchsorted(x[0], 1.0, sorter=i), [0, 1, 2, 4]),
        (lambda x, i: vx.unravel_index(i, SHAPE), [0, 12]),
        (lambda x, i: vx.ravel_multi_index((i, [0, 1]), SHAPE), [-1, 0]),
        (lambda x, i: vx.pow(vx.asarray([2, 3]), i), [1, -1]),
    ],
)
def test_the_words_are_those_of_kernels(call, wrong):
    x = vx.asarray(start())
    for _ in range(3):
        with pytest.raises((IndexError, ValueError)) as told:
            call(x, wrong)
        call(x, vx.asarray(wrong))
        with pytest.raises(told.type) as later:
            np.asarray(x)
        assert str(later.value).startswith(str(told.value))


def test_values_of_the_device_beside_a_list_are_told_later(waits):
    x, wrong = vx.asarray(start()), vx.asarray([9])
    for _ in range(4):
        vx.asarray(0).device.synchronize()
        waits.clear()
        vx.ravel_multi_index(([1], wrong), SHAPE)
        assert not waits
        with pytest.raises(ValueError, match="coordinate 9 is out of bounds"):
            np.asarray(x)


def test_values_computed_of_a_list_are_told_at_the_call():
    x = vx.asarray(start())
    for _ in range(4):
        with pytest.raises(ValueError, match="choices"):
            vx.choose([True, False, True, True], [x[0]])  # as integers, which the device makes of them


def test_lists_go_to_the_device_of_any_array():
    """Also where the function takes the array by a parameter that takes no lists."""
    with vx.config(profile=(*configuration.current().profile[:-1], "uncached-memory"), check_barriers=False):
        x = vx.asarray(start())
    assert x.device is not vx.asarray(0).device
    vx.put(x.T, [0, 4], [7, 8])
    expected = start()
    np.put(expected.T, [0, 4], [7, 8])
    np.testing.assert_array_equal(np.asarray(x), expected)
    assert vx.choose([1, 0, 1, 0], [x[0], x[1]]).device is x.device
