"""Several threads that work on arrays at once."""

from __future__ import annotations

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

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


def test_an_index_error_reaches_a_reader():
    """Deferred errors belong to the process: a read of any thread raises them, and later ones work again."""
    x = vx.arange(5)
    for _ in range(20):

        def work(number):
            try:
                vx.take(x, vx.asarray([number])).tolist()
            except IndexError as error:
                return str(error)
            return ""

        results = together(work)
        with contextlib.suppress(IndexError):
            x.tolist()  # what no thread has met yet
        assert any(f"take: index {number} is out of bounds" in text for text in results for number in (5, 6, 7))
        assert x.tolist() == [0, 1, 2, 3, 4]
