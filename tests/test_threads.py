"""Several threads that work on arrays at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import vkarray as vx

THREADS = 8


def together(work) -> list:
    """The results of work(0), work(1), ... from threads that start at the same moment."""
    barrier = threading.Barrier(THREADS)

    def start(number):
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(start, range(THREADS)))


def test_independent_work():
    def work(number):
        generator = np.random.default_rng(number)
        for round_ in range(15):
            host = generator.integers(-50, 50, (13, 17 + round_), np.int32)
            x = vx.asarray(host)
            y = (x * 3 - x.T.T)[::-1] + number
            np.testing.assert_array_equal(np.asarray(y), (host * 3 - host)[::-1] + number)
            assert int(vx.sum(x, dtype=vx.int32)) == host.sum()
            np.testing.assert_array_equal(np.asarray(x[x > 0]), host[host > 0])
        return number

    assert together(work) == list(range(THREADS))


def test_chains_of_one_shared_input():
    """Every thread reads the same array while its own results are made and dropped."""
    shared = vx.arange(10_000, dtype=vx.int32)

    def work(number):
        x = shared
        for _ in range(60):
            x = x + number
        return np.asarray(x)

    for number, values in enumerate(together(work)):
        np.testing.assert_array_equal(values, np.arange(10_000) + 60 * number)


def test_parts_of_one_array():
    """Threads write to views that do not overlap."""
    x = vx.zeros((THREADS, 1000), dtype=vx.int32)

    def work(number):
        part = x[number]
        for step in range(50):
            part += step

    together(work)
    np.testing.assert_array_equal(np.asarray(x), np.full((THREADS, 1000), sum(range(50))))


def test_the_first_use_of_an_operation():
    """Threads that need the same new shader at once make it once, and all get it."""
    expression = vx.kernel(
        f"layout(binding = 0) buffer X {{ int x[]; }}; void main() {{ x[gl_GlobalInvocationID.x] += {THREADS * 123}; }}"
    )

    def work(number):
        x = vx.full((256,), number, dtype=vx.int32)
        expression(x, invocations=256)
        y = vx.astype(vx.bitwise_xor(vx.asarray([number], dtype=vx.uint16), 3), vx.int16)
        return np.asarray(x), y.tolist()

    for number, (values, small) in enumerate(together(work)):
        np.testing.assert_array_equal(values, number + THREADS * 123)
        assert small == [number ^ 3]


def index_error_of(read) -> str:
    """The text of the IndexError that reading raises, empty when it raises none."""
    try:
        read()
    except IndexError as error:
        return str(error)
    return ""


@pytest.mark.usefixtures("told_later")
def test_an_index_error_reaches_the_thread_that_indexed():
    x = vx.arange(5)
    for _ in range(20):
        texts = together(lambda number: index_error_of(vx.take(x, vx.asarray([number + 5])).tolist))
        assert all(f"take: index {number} is" in text for number, text in enumerate(texts, 5))
        while index_error_of(x.tolist):  # those of threads whose work another thread's read came upon
            pass
        assert x.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.usefixtures("told_later")
def test_an_index_error_reaches_whoever_reads_first_and_the_thread_that_indexed():
    x = vx.arange(5)
    results = []
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: results.append(vx.take(x, vx.asarray([7])))).result()
        assert "take: index 7" in index_error_of(results[0].tolist)
        assert results[0].tolist() == [0]  # once in a thread
        assert "take: index 7" in pool.submit(index_error_of, x.tolist).result()
        assert pool.submit(index_error_of, x.tolist).result() == ""
        pool.submit(lambda: results.append(vx.take(x, vx.asarray([8])))).result()
        assert "take: index 8" in pool.submit(index_error_of, x.tolist).result()
        assert index_error_of(x.tolist) == ""  # the thread has met its own error
        pool.submit(lambda: results.append(vx.take(x, vx.asarray([9])))).result()
    assert "take: index 9" in index_error_of(x.tolist)  # the thread has ended before it read


@pytest.mark.usefixtures("told_later")
def test_checks_wait_for_their_turn():
    """Bad indices of two threads raise one after the other."""
    x = vx.arange(5)
    for index in (7, 8):
        thread = threading.Thread(target=vx.take, args=(x, vx.asarray([index])))
        thread.start()
        thread.join()
    assert sorted(index_error_of(x.tolist)[:14] for _ in range(3)) == ["", "take: index 7 ", "take: index 8 "]


@pytest.mark.usefixtures("told_later")
@pytest.mark.parametrize("lost", [False, True])
def test_checks_end_with_their_device(device, lost):
    other = type(device)(device.physical)
    try:
        x = vx.asarray([1, 2, 3], device=other)
        bad = vx.take(x, vx.asarray([9], device=other))
        assert vx.asarray([1, 2]).tolist() == [1, 2]  # reads of one device do not check another
        if lost:
            other.give_up(vx.DeviceLostError("lost for a test", ()))
            with pytest.raises(vx.DeviceLostError):
                bad.tolist()
    finally:
        other.close()
    y = vx.arange(3)
    assert y.tolist() == [0, 1, 2]
    with pytest.raises(IndexError, match="take: index 5"):
        vx.take(y, vx.asarray([5])).tolist()
