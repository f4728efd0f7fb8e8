"""sort and argsort against NumPy's stable sort: every type, layout, size and special value."""

from __future__ import annotations

import dataclasses
import itertools
from typing import NamedTuple

import numpy as np
import pytest
from reference import random_values, special_values, supported

import vkarray as vx
from vkarray.command import catalogue
from vkarray.core import layout
from vkarray.core.array import storage_itemsize
from vkarray.core.dtypes import DTYPES
from vkarray.kernels import launch, sort_tiles
from vkarray.ops import sorting

SUPPORTED = supported(DTYPES.values())
# One element, one chunk with short and long digits, one row of several chunks, and the lengths next to them.
LENGTHS = [0, 1, 2, 3, 128, 129, 255, 257, 1000, 4095, 4097, 20_011]

LARGE = ("uint8", "float16", "float32", "int32", "int64", "complex64")


def values_of(dtype, shape, seed: int = 0) -> np.ndarray:
    """Random values of all magnitudes and NaN, with every special value among them, and many that are equal."""
    count = int(np.prod(shape))
    generator = np.random.default_rng(seed)
    special = special_values(dtype)
    picked = special[generator.integers(0, len(special), count)]
    return np.where(generator.random(count) < 0.3, picked, random_values(dtype, count, seed)).reshape(shape)


def order_of(values: np.ndarray, descending: bool) -> np.ndarray:
    """The stable order along the last axis: by the kind of NaN (none, imaginary, real, both), then by the parts."""
    kind = np.zeros(values.shape, np.int64)
    keys = []
    for weight, part in enumerate([values.imag, values.real] if np.iscomplexobj(values) else [values], 1):
        nan = np.isnan(part)
        kind += weight * nan
        ranks = np.unique(np.where(nan, 0, part), return_inverse=True)[1].reshape(part.shape)
        keys.append(np.where(nan, 0, -ranks if descending else ranks))
    return np.lexsort((*keys, kind), axis=-1)


def check(x: vx.VkArray, values: np.ndarray, axis: int = -1) -> None:
    """Sort the device array x of the host values both ways, and compare to the bit (so also the signs of zeros)."""
    for descending in (False, True):
        order = np.moveaxis(order_of(np.moveaxis(values, axis, -1), descending), -1, axis)
        result = vx.argsort(x, axis=axis, descending=descending)
        assert result.dtype == vx.asarray(0).dtype
        assert np.array_equal(np.asarray(result), order)
        result = vx.sort(x, axis=axis, descending=descending)
        expected = np.take_along_axis(values, order, axis)
        assert result.dtype == x.dtype
        got = np.asarray(result)
        assert got.shape == expected.shape
        with np.errstate(invalid="ignore"):  # NumPy 2.5 warns of complex NaN
            assert np.array_equal(got, expected, equal_nan=values.dtype.kind in "fc")
        if values.dtype.kind == "f":
            assert np.array_equal(np.signbit(got), np.signbit(expected))


@pytest.mark.parametrize("dtype", SUPPORTED, ids=str)
def test_lengths(dtype) -> None:
    for length in LENGTHS:
        values = values_of(dtype, (length,), length)
        check(vx.asarray(values, dtype=dtype), values)


@pytest.mark.parametrize("dtype", SUPPORTED, ids=str)
def test_axes_and_layouts(dtype) -> None:
    values = values_of(dtype, (5, 7, 140))
    x = vx.asarray(values, dtype=dtype)
    for axis in (-3, 1, 2):
        check(x, values, axis)
    check(x[::-1, 1:, ::-3], values[::-1, 1:, ::-3], 1)
    check(vx.permute_dims(x, (2, 0, 1)), values.transpose(2, 0, 1), 0)
    check(vx.broadcast_to(x[:, :1], (5, 4, 140)), np.broadcast_to(values[:, :1], (5, 4, 140)), 1)
    check(x[2, 3, 5:], values[2, 3, 5:])


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3), (2, 0, 4), (4, 1), (1, 1, 1)])
def test_empty_and_single(shape) -> None:
    values = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    for axis in range(len(shape)):
        check(vx.asarray(values), values, axis)


@pytest.mark.parametrize("dtype", [dtype for dtype in SUPPORTED if dtype.name in LARGE], ids=str)
def test_large(dtype) -> None:
    # How many chunks there are matters to no type: the most are those of one.
    values = values_of(dtype, (1_300_003 if dtype is vx.float32 else 300_003,))
    check(vx.asarray(values, dtype=dtype), values)


@pytest.mark.parametrize(("rows", "length"), [(40_000, 9), (400, 3000), (3, 300_000)])
def test_batches(rows: int, length: int) -> None:
    values = values_of(vx.float32, (rows, length))
    check(vx.asarray(values), values)


def test_more_workgroups_than_one_dimension_holds(few_workgroups) -> None:
    values = np.random.default_rng(0).integers(0, 9, (70 * 256, 1), np.uint8)
    values = np.concatenate([values, values[::-1]], axis=1)
    x = vx.asarray(values, device=few_workgroups)
    assert np.array_equal(np.asarray(vx.sort(x)), np.sort(values))
    assert np.array_equal(
        np.asarray(vx.argsort(x, descending=True)), np.where(values[:, :1] >= values[:, 1:], [[0, 1]], [[1, 0]])
    )


def test_ordered_inputs() -> None:
    """One digit in all elements of a chunk, and orders that other methods find hard."""
    count = 100_000
    for values in (
        np.zeros(count),
        np.arange(count),
        np.arange(count)[::-1],
        np.arange(count) // 7 % 3,
        np.full(count, np.nan),
    ):
        values = np.ascontiguousarray(values, np.float32)
        check(vx.asarray(values), values)


@pytest.mark.parametrize("plan", [sorting.Plan(4, 256), sorting.Plan(8, 1000), sorting.Plan(8, 60_000)])
def test_plans_of_other_devices(plan, monkeypatch) -> None:
    monkeypatch.setattr(sort_tiles, "sorts_tiles", lambda device: False)
    monkeypatch.setattr(sorting, "_CPU_PLAN", plan)
    monkeypatch.setattr(sorting, "_GPU_PLAN", plan)
    for dtype in (vx.float32, vx.int16, vx.complex64):
        values = values_of(dtype, (4, 50_021))
        check(vx.asarray(values, dtype=dtype), values)


def word_of(dtype) -> vx.DType:
    """The integer as whose bits those of a floating-point type can be seen where the device stores small types in 32 bits, too."""
    return vx.uint16 if dtype.itemsize == 2 else vx.uint32


def bits(x: vx.VkArray) -> np.ndarray:
    """The bits of floating-point numbers, those of NaN too, and the values of others."""
    return np.asarray(x.view(word_of(x.dtype)) if x.dtype.kind in "fc" else x)


@pytest.mark.parametrize("dtype", SUPPORTED, ids=str)
def test_short_rows_by_ranks_and_by_digits(dtype, device, monkeypatch) -> None:
    """Rows of a kernel for their length, of one block and of several: the same bits as by radix, of any NaN, too."""
    monkeypatch.setattr(sort_tiles, "sorts_tiles", lambda device: False)
    lengths = {most: (1, 5, most - 1, most, most + 1, 2 * most - 1, 3 * most) for most in set(sorting._HELD.values())}
    lengths = lengths[sorting._HELD[storage_itemsize(dtype, device)]]
    for rows, length in [(sorting._MANY_ROWS + 3, 3), *((11, length) for length in lengths)]:
        values = values_of(dtype, (rows, length), rows + length)
        x = vx.asarray(values, dtype=dtype)
        if dtype.kind in "fc":  # any bits
            word = word_of(dtype)
            generator = np.random.default_rng(length)
            noise = generator.integers(0, 1 << word.bits, (rows, length, dtype.itemsize // word.itemsize), word.name)
            x = vx.where(vx.asarray(generator.random((rows, length)) < 0.5), x, vx.asarray(noise).view(dtype)[..., 0])
        for descending in (False, True):
            found = []
            for ranked in (True, False):
                monkeypatch.setattr(sorting, "_is_ranked", lambda x, ranked=ranked: ranked)
                columns = sorting.sorted_rows("sort", x, descending, True)
                found.append([bits(one) for one in columns])
                alone = sorting.sorted_rows("sort", x, descending, False)[0]
                assert np.array_equal(found[-1][0], bits(alone))
            assert np.array_equal(found[0][0], found[1][0])
            assert np.array_equal(found[0][1], found[1][1])


@pytest.fixture
def as_on_a_gpu(device, monkeypatch):
    """The method of GPUs."""
    if not device.features >= sort_tiles._FEATURES:
        pytest.skip("the device's subgroups lack operations that tiles need")
    monkeypatch.setattr(sort_tiles, "sorts_tiles", lambda device: True)


@pytest.fixture
def by_tiles(as_on_a_gpu, monkeypatch):
    """The method of GPUs, with the smallest of tiles: a new kernel with much to unroll takes CPU drivers long."""
    monkeypatch.setattr(sort_tiles, "_TILES", dict.fromkeys((1, 2, 4), ((64, 2),)))
    monkeypatch.setattr(sort_tiles, "_DIGIT_BITS", (4,))
    sort_tiles._tile.cache_clear()
    yield
    sort_tiles._tile.cache_clear()


def check_few(values: np.ndarray, dtype) -> None:
    """Half of `check`: each kernel takes long to prepare."""
    x = vx.asarray(values, dtype=dtype)
    assert np.array_equal(np.asarray(vx.argsort(x, descending=True)), order_of(values, True))
    expected = np.take_along_axis(values, order_of(values, False), -1)
    with np.errstate(invalid="ignore"):  # some builds of NumPy warn of NaNs in complex comparisons
        assert np.array_equal(np.asarray(vx.sort(x)), expected, equal_nan=values.dtype.kind in "fc")


TILED = supported([vx.uint8, vx.float16, vx.float32, vx.int64, vx.complex64, vx.complex128])


@pytest.mark.parametrize("dtype", TILED, ids=str)
def test_tiles(dtype, by_tiles) -> None:
    """Rows that share a tile, the last of them alone, and rows of several tiles."""
    for shape in ((305, 7), (3, 2011)):
        check_few(values_of(dtype, shape), dtype)


def test_rows_and_tiles_of_all_sizes(by_tiles) -> None:
    for shape in ((1,), (130, 1), (3, 64), (2, 65), (3, 128), (2, 129), (1, 500)):
        check_few(values_of(vx.float32, shape), vx.float32)


@pytest.mark.parametrize("tiles", [33, 5000])
def test_many_tiles(tiles, by_tiles) -> None:
    """A workgroup sums up, once and more than once around."""
    values = np.random.default_rng(0).integers(0, 99, tiles * 128 - 5, np.uint8)
    assert np.array_equal(np.asarray(vx.sort(vx.asarray(values))), np.sort(values))


def test_tiles_of_ordered_inputs(by_tiles) -> None:
    for values in (np.zeros(5000), np.arange(5000), np.arange(5000)[::-1], np.full(5000, np.nan)):
        check_few(np.ascontiguousarray(values, np.float32), vx.float32)


def test_tiles_over_the_limit_of_a_dispatch(by_tiles, monkeypatch) -> None:
    monkeypatch.setattr(layout, "INDEX_LIMIT", 1000)
    for shape in ((70, 40), (7, 900)):
        check_few(values_of(vx.float32, shape), vx.float32)


def test_tiles_of_the_usual_size(as_on_a_gpu) -> None:
    for shape in ((70_000,), (30, 1000)):
        values = np.random.default_rng(0).standard_normal(shape, np.float32)
        assert np.array_equal(np.asarray(vx.sort(vx.asarray(values))), np.sort(values))


class Described(NamedTuple):
    """As much of a device as the choice of a tile asks for."""

    limits: object
    features: frozenset[str]


def test_tiles_fit(device) -> None:
    """Whatever a device has: a tile that it can hold, or none, and for all sizes of elements alike."""
    for kibibytes, invocations, lanes in itertools.product((16, 32, 48), (128, 256, 1024), (4, 8, 32, 64)):
        limits = dataclasses.replace(
            device.limits, max_shared_memory_size=kibibytes * 1024, max_workgroup_invocations=invocations,
            max_workgroup_size=(invocations,) * 3, min_subgroup_size=lanes,
        )  # fmt: skip
        gpu = Described(limits, device.features | sort_tiles._FEATURES)
        tiles = {words: sort_tiles._tile(gpu, words) for words in (1, 2, 4)}
        assert all(tile is None or tile.invocations <= invocations for tile in tiles.values())
        if lanes >= 32 and kibibytes == 48:
            assert tiles[1].bits == 8
        for words, tile in tiles.items():
            assert tile is not None
            assert 4 * tile.elements * words < kibibytes * 1024
    assert sort_tiles._tile(Described(device.limits, device.features - {"subgroupBallot"}), 1) is None


def test_variants_hold_what_a_run_asks_for(device, by_tiles, monkeypatch) -> None:
    known = set(sorting.variants(device))
    assert known <= set(catalogue.standard_variants())
    asked = set()
    kernel = launch.kernel
    monkeypatch.setattr(launch, "kernel", lambda variant, *given: asked.add(variant) or kernel(variant, *given))
    for shape in ((3, 4), (1000,)):
        vx.argsort(vx.ones(shape, dtype=vx.float32))
    ours = {variant for variant in asked if variant.template.startswith("sort")}
    assert {v.template for v in ours} == {f"sort/tile_{step}" for step in ("rows", "count", "sums", "scatter")}
    assert ours <= known


def test_batches_over_the_limit_of_a_dispatch(monkeypatch) -> None:
    monkeypatch.setattr(layout, "INDEX_LIMIT", 10_000)
    for shape in ((7, 4000), (3, 25_001)):
        values = values_of(vx.float32, shape)
        check(vx.asarray(values), values)


def test_the_number_of_dispatches_does_not_grow_with_the_batch(monkeypatch) -> None:
    counted = []
    dispatch = launch.dispatch
    monkeypatch.setattr(launch, "dispatch", lambda *given, **options: counted.append(1) or dispatch(*given, **options))
    numbers = []
    for rows in (2, 200):
        x = vx.zeros((rows, 5000))
        counted.clear()
        vx.argsort(x)
        numbers.append(len(counted))
    # The sums of the counts may take another level or two of their tree, up and down, for each of up to eight digits.
    assert 0 < numbers[0] <= numbers[1] <= numbers[0] + 2 * 2 * 8


def test_errors() -> None:
    x = vx.asarray([2.0, 1.0])
    for function in (vx.sort, vx.argsort):
        name = function.__name__
        with pytest.raises(TypeError, match=f"^{name}: .*numpy.ndarray"):
            function(np.zeros(3))
        with pytest.raises(IndexError, match=f"^{name}: axis 1 "):
            function(x, axis=1)
        with pytest.raises(ValueError, match=f"^{name}: .*4294967296"):
            function(vx.broadcast_to(x[:1], (2**32,)))
    for number in (3, vx.asarray(1.0)):
        with pytest.raises(IndexError, match=r"^sort: axis -1 .*0 dimensions"):
            vx.sort(number)
        assert vx.argsort(number).tolist() == [0]  # as NumPy's
