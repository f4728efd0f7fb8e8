"""Arrays beyond one row of workgroups (65,535 of them) and 128 MiB; on large devices also beyond 2^31 elements and
2^32 bytes.
"""

from __future__ import annotations

import gc

import numpy as np
import pytest

import vkarray as vx
from vkarray import configuration

ROW = 65_535 * 256  # elements that one row of workgroups reaches, one per invocation
FLAT = 65_535 * 256 * 16  # bytes that it reaches where an invocation handles 16 of them
HUGE_BYTES = 16 * 2**30


@pytest.fixture(autouse=True)
def _released_memory(device):
    """Large arrays of one test must not crowd the next."""
    yield
    gc.collect()
    device.empty_cache()


def assert_same(got: vx.VkArray, expected: np.ndarray) -> None:
    # array_equal makes no third large array, as the functions of numpy.testing do.
    assert got.shape == expected.shape
    assert np.array_equal(np.asarray(got), expected)


def test_elementwise():
    count = FLAT // 4 + 1001
    x = vx.arange(count, dtype=vx.int32)
    assert x.nbytes > FLAT > 2**27
    assert_same(x + 7, np.arange(7, count + 7, dtype=np.int32))


def test_elementwise_of_views():
    count = ROW + 1001
    x = vx.arange(2 * count, dtype=vx.int32)
    assert x.nbytes > 2**27
    values = np.arange(2 * count, dtype=np.int32)
    assert_same(x[::-2] - x[::2], values[::-2] - values[::2])


def test_reduction():
    count = FLAT // 4 + 1001
    x = vx.arange(count, dtype=vx.int32)
    values = np.arange(count, dtype=np.int32)
    assert int(vx.sum(x, dtype=vx.int32)) == int(np.sum(values, dtype=np.int32))
    assert int(vx.max(x)) == count - 1
    assert int(vx.min(x[::-1])) == 0


@pytest.mark.parametrize("axis", [0, 1])
def test_reduction_to_many_elements(axis):
    shape = (3, ROW + 1001) if axis == 0 else (ROW + 1001, 3)
    values = np.arange(3 * (ROW + 1001), dtype=np.int32).reshape(shape)
    assert_same(vx.sum(vx.asarray(values), axis=axis, dtype=vx.int32), values.sum(axis, dtype=np.int32))


def test_transpose():
    values = np.arange(4099 * 4201, dtype=np.int32).reshape(4099, 4201)
    assert values.size > ROW
    assert_same(vx.asarray(vx.asarray(values).T, copy=True), values.T)


def test_take():
    count = ROW + 1001
    generator = np.random.default_rng(0)
    indices = generator.integers(-1000, 1000, count, np.int32)
    values = generator.integers(0, 100, 1000, np.int32)
    assert_same(vx.take(vx.asarray(values), vx.asarray(indices)), values[indices])


def test_take_from_a_large_array():
    count = 2**27 // 4 + 1001
    indices = np.array([0, 1, count // 2, count - 1, -1, -count], np.int32)
    assert_same(
        vx.take(vx.arange(count, dtype=vx.int32), vx.asarray(indices)), np.arange(count, dtype=np.int32)[indices]
    )


def test_cumulative_sum():
    count = 2**27 // 4 + 1001
    values = np.arange(count, dtype=np.int32) % 7
    assert_same(vx.cumulative_sum(vx.asarray(values), dtype=vx.int32), np.cumsum(values, dtype=np.int32))


def test_cumulative_sum_of_many_rows():
    values = np.arange(2 * (65_535 * 4 + 3), dtype=np.int32).reshape(-1, 2)
    assert_same(vx.cumulative_sum(vx.asarray(values), axis=1, dtype=vx.int32), np.cumsum(values, 1, dtype=np.int32))


def test_matmul_of_many_matrices():
    generator = np.random.default_rng(0)
    first = generator.integers(-9, 9, (70_001, 3, 2), np.int32)
    second = generator.integers(-9, 9, (70_001, 2, 4), np.int32)
    assert_same(vx.matmul(vx.asarray(first), vx.asarray(second)), first @ second)


def test_matmul_of_a_large_matrix():
    rows = 2**27 // 32 + 1001
    values = np.arange(rows * 8, dtype=np.int32).reshape(rows, 8)
    matrix = np.arange(16, dtype=np.int32).reshape(8, 2)
    assert_same(vx.matmul(vx.asarray(values), vx.asarray(matrix)), values @ matrix)


def test_steps_beyond_31_bits(device):
    step = 2**31
    if configuration.current().validation and device.memory_statistics()["bytes_total"] <= step:
        pytest.skip(
            f"the validation layers refuse arrays as large as the memory that {device.name} names, and it takes them"
        )
    try:
        memory = vx.empty((step + 64,), dtype=vx.uint8)
    except vx.OutOfMemoryError:
        pytest.skip(f"{device.name} does not hold {step:,} elements of {vx.uint8}")
    x = memory[::step]  # two elements; memory in between is not touched
    x[0] = 3
    x[1] = 200
    assert np.asarray(x).tolist() == [3, 200]
    assert np.asarray(x[::-1]).tolist() == [200, 3]
    assert (x + 1).tolist() == [4, 201]
    assert (x[:, None] + x[::-1]).tolist() == [[203, 6], [400 % 256, 203]]
    assert int(vx.sum(x)) == 203
    assert vx.max(x, axis=0).tolist() == 200
    assert int(vx.argmax(x)) == 1
    assert vx.cumulative_sum(x).tolist() == [3, 203]
    assert vx.sort(x, descending=True).tolist() == [200, 3]
    assert int(vx.vecdot(x, x)) == (9 + 40000) % 256
    assert vx.matmul(x[:, None], x[None, :]).tolist() == [[9, 600 % 256], [600 % 256, 40000 % 256]]
    columns = vx.broadcast_to(x[:, None], (2, 3))
    assert vx.sum(columns, axis=1).tolist() == [9, 600]
    assert vx.sum(columns, axis=0).tolist() == [203] * 3
    assert vx.cumulative_sum(columns, axis=1).tolist() == [[3, 6, 9], [200, 400, 600]]
    assert vx.matmul(columns, vx.ones((3, 2), dtype=vx.uint8)).tolist() == [[9, 9], [88, 88]]
    if vx.arange(1).dtype is vx.int64:
        assert vx.take(x, vx.asarray([1, 0, 1])).tolist() == [200, 3, 200]
        x[vx.asarray([1])] = 7
        assert x.tolist() == [3, 7]
    x[:] = vx.asarray([5, 6], dtype=vx.uint8)
    assert x.tolist() == [5, 6]


# -- beyond 32 bits -------------------------------------------------------------------------------------------------------

BEYOND = 2**31  # elements; of two bytes each, they also lie beyond 2^32 bytes
PLACES = (0, 1, BEYOND // 2 + 3, BEYOND - 1, BEYOND, BEYOND + 1, BEYOND + 6)


@pytest.fixture
def large_device(device):
    memory = device.description.memory_bytes
    if memory < HUGE_BYTES:
        pytest.skip(f"{device.name} has {memory:,} bytes of memory; arrays beyond 2^31 elements need {HUGE_BYTES:,}")
    return device


def marked(dtype, length: int = BEYOND + 7) -> vx.VkArray:
    """Zeros, but for 1, 2, 3, ... at PLACES."""
    x = vx.zeros((length,), dtype=dtype)
    for value, place in enumerate(PLACES, 1):
        x[place] = value
    return x


def assert_marked(x: vx.VkArray, zero: int = 0) -> None:
    """`zero` everywhere but at PLACES, where it is added to 1, 2, 3, ...: read there and next to them, counted elsewhere."""
    for value, place in enumerate(PLACES, 1):
        assert int(x[place]) == zero + value
    assert int(x[2]) == int(x[BEYOND + 2]) == int(x[BEYOND - 2]) == zero
    assert int(vx.count_nonzero(x != zero)) == len(PLACES)


@pytest.mark.usefixtures("large_device")
@pytest.mark.parametrize("dtype", [vx.uint8, vx.float16], ids=str)
def test_elementwise_beyond_31_bits(dtype):
    x = marked(dtype)
    assert_marked(x + 2, 2)
    assert_marked(x[::-1][::-1] * 1)
    x[::2] += 3
    x[1::2] += 3
    assert_marked(x, 3)


@pytest.mark.usefixtures("large_device")
def test_reductions_beyond_31_bits():
    x = marked(vx.uint16)
    total = sum(range(1, len(PLACES) + 1))
    assert int(vx.sum(x, dtype=vx.int32)) == total
    assert int(vx.sum(x[::-1], dtype=vx.int32)) == total
    assert int(vx.max(x)) == len(PLACES)
    assert int(vx.argmax(x)) == PLACES[-1]
    assert [int(place) for place in vx.nonzero(x)[0]] == list(PLACES)


@pytest.mark.usefixtures("large_device")
def test_transpose_beyond_31_bits():
    x = vx.reshape(marked(vx.uint16, 7 * (BEYOND // 7 + 2)), (7, -1))
    flat = vx.reshape(x.T, (-1,))
    for value, place in enumerate(PLACES, 1):
        row, column = divmod(place, x.shape[1])
        assert int(flat[7 * column + row]) == value
    assert int(vx.count_nonzero(flat)) == len(PLACES)


@pytest.mark.usefixtures("large_device")
def test_take_and_indexing_beyond_31_bits():
    x = marked(vx.uint16)
    index = vx.asarray(PLACES, dtype=vx.int64)
    assert vx.take(x, index).tolist() == list(range(1, len(PLACES) + 1))
    x[index] = vx.asarray(0, dtype=vx.uint16)
    assert int(vx.count_nonzero(x)) == 0


@pytest.mark.usefixtures("large_device")
def test_cumulative_sum_beyond_31_bits():
    running = vx.cumulative_sum(marked(vx.uint16), dtype=vx.uint16)
    total = 0
    for value, place in enumerate(PLACES, 1):
        total += value
        assert int(running[place]) == total
    assert int(running[BEYOND - 2]) == 1 + 2 + 3


@pytest.mark.usefixtures("large_device")
def test_matmul_beyond_31_bits():
    columns = 2**15 + 1
    rows = BEYOND // columns + 2
    x = vx.reshape(marked(vx.uint16, rows * columns), (rows, columns))
    expected = np.zeros(rows, np.uint16)
    for value, place in enumerate(PLACES, 1):
        expected[place // columns] += value
    assert_same(vx.matmul(x, vx.ones((columns,), dtype=vx.uint16)), expected)
    assert_same(vx.matmul(x, vx.ones((columns, 40), dtype=vx.uint16)), np.repeat(expected[:, None], 40, axis=1))


@pytest.mark.usefixtures("large_device")
def test_bytes_beyond_32_bits():
    count = BEYOND // 2 + 1001
    x = vx.arange(count, dtype=vx.int32)
    assert x.nbytes > 2 * BEYOND
    for start in (0, BEYOND // 4, count - 1001):
        assert_same(x[start : start + 1001], np.arange(start, start + 1001, dtype=np.int32))
    assert_same((x - 5)[-3:], np.arange(count - 8, count - 5, dtype=np.int32))
    assert int(vx.max(x)) == count - 1
