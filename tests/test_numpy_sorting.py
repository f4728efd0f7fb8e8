"""Sorting by keys, partitions, bins and sets, compared with NumPy's functions."""

from __future__ import annotations

import numpy as np
import pytest
from against_numpy import DTYPES, LAYOUTS, SHAPES, Given, compare, inputs, supported, values

import vkarray as vx

pytestmark = pytest.mark.usefixtures("numpy_types")

OPTIONS = [
    {}, {"return_index": True}, {"return_inverse": True}, {"return_counts": True}, {"equal_nan": False}, {"sorted": False},
    {"return_index": True, "return_inverse": True, "return_counts": True, "equal_nan": False},
]  # fmt: skip


def _unique(options, axis):
    def call(n, x):
        found = n.unique(x, axis=axis, **options)
        return n.sort(found) if options == {"sorted": False} and axis is None else found  # any order is right

    return call


@pytest.mark.parametrize("dtype", supported((*DTYPES, "float16", "int64")))
def test_unique(dtype):
    for given in inputs(1, dtype, (*SHAPES, (40,), (7, 6))):
        for options in OPTIONS:
            compare(_unique(options, None), given, times=1)


@pytest.mark.parametrize("dtype", supported(DTYPES))
@pytest.mark.parametrize("axis", [0, 1, -1, 5])
def test_unique_slices(dtype, axis):
    whole = {"return_index": True, "return_inverse": True, "return_counts": True}
    for given in inputs(
        1, dtype, ((6,), (0,), (3, 4), (0, 3), (3, 0), (2, 3, 4), (30, 1), (30, 2), (30, 3)), ugly=False
    ):
        for options in ({}, whole):
            compare(_unique(options, axis), given, times=1)


@pytest.mark.parametrize("columns", [1, 2, 5, 8, 11])
def test_unique_rows_in_order(columns):
    generator = np.random.default_rng(columns)
    rows = generator.integers(-1, 2 if columns > 2 else 4, (200, columns), np.int32)
    compare(_unique({"return_index": True, "return_inverse": True, "return_counts": True}, 0),
            [Given(rows, LAYOUTS["contiguous"])], times=1)  # fmt: skip


SETS = {
    "union1d": [lambda n, x, y: n.union1d(x, y), lambda n, x, y: n.union1d(x, [1, 7])],
    "intersect1d": [lambda n, x, y: n.intersect1d(x, y), lambda n, x, y: n.intersect1d(x, y, return_indices=True),
                    lambda n, x, y: n.intersect1d(n.unique(x), n.unique(y), assume_unique=True, return_indices=True),
                    lambda n, x, y: n.intersect1d(x, [1])],
    "setdiff1d": [lambda n, x, y: n.setdiff1d(x, y),
                  lambda n, x, y: n.setdiff1d(n.unique(x), n.unique(y), assume_unique=True),
                  lambda n, x, y: n.setdiff1d(x, [0, 1])],
    "setxor1d": [lambda n, x, y: n.setxor1d(x, y), lambda n, x, y: n.setxor1d(n.unique(x), n.unique(y), True)],
    "isin": [lambda n, x, y: n.isin(x, y), lambda n, x, y: n.isin(x, y, invert=True),
             lambda n, x, y: n.isin(n.unique(x), n.unique(y), True, True),
             lambda n, x, y: n.isin(element=x, test_elements=[0, 1]), lambda n, x, y: n.isin(x, y, kind="sort"),
             lambda n, x, y: n.isin(x, y, kind="?"), lambda n, x, y: n.isin([1, 2], y)],
}  # fmt: skip


@pytest.mark.parametrize("dtype", supported(DTYPES))
@pytest.mark.parametrize("name", SETS)
def test_sets(name, dtype):
    for given in inputs(2, dtype, ((), (1,), (20,), (0,), (3, 4)), ugly=dtype != "complex128"):
        for call in SETS[name]:
            compare(call, given, times=2)


ORDERS = {
    "lexsort": [lambda n, x, y: n.lexsort((x, y)), lambda n, x, y: n.lexsort([y, x], axis=0),
                lambda n, x, y: n.lexsort(x) if x.ndim > 1 else None,
                lambda n, x, y: n.lexsort((x, y), axis=9), lambda n, x, y: n.lexsort((x, [1, 2]))],
    "sort_complex": [lambda n, x, y: n.sort_complex(x)],
    "partition": [lambda n, x, y: n.sort(n.partition(x, 0), axis=-1) if x.ndim else n.partition(x, 0),
                  lambda n, x, y: n.partition(x, 1)[..., 1] if x.shape[-1:] > (1,) else None,
                  lambda n, x, y: n.partition(x, [0, -1], axis=0)[0],
                  lambda n, x, y: n.partition(x, 2, axis=None)[2] if x.size > 2 else None,
                  lambda n, x, y: n.take_along_axis(x, n.argpartition(x, 1), -1)[..., 1] if x.shape[-1:] > (1,) else None,
                  lambda n, x, y: n.partition(x, 99), lambda n, x, y: n.argpartition(x, -99 if x.ndim else 0.5),
                  lambda n, x, y: n.partition(x, 0.0),
                  lambda n, x, y: n.argpartition(x, 0, axis=5),
                  lambda n, x, y: x.argpartition(0, None).shape if x.size else None],
}  # fmt: skip


@pytest.mark.parametrize("dtype", supported((*DTYPES, "float16", "float64", "int16")))
@pytest.mark.parametrize("name", ORDERS)
def test_orders(name, dtype):
    for given in inputs(2, dtype, ugly=dtype != "complex128"):
        for call in ORDERS[name]:
            compare(call, given, times=2)


BINS = [[0, 1, 3], [3, 1, 0], [1], [], [2, 2, 2], [1, 1, 5], [5, 1, 1], [0, 3, 1], [-1.5, 0.5, 2.5], [[1]]]


@pytest.mark.parametrize("dtype", supported(DTYPES))
def test_digitize(dtype):
    for given in inputs(1, dtype, ((), (6,), (0,), (3, 4))):
        for bins in BINS:
            for right in (False, True):
                compare(lambda n, x, bins=bins, right=right: n.digitize(x, bins, right), given, times=2)


LISTS = [
    lambda n: n.unique([3, 1, 3.5, 1]), lambda n: n.unique(5, return_inverse=True),
    lambda n: n.unique([], return_counts=True),
    lambda n: n.unique([[1, 2], [1, 2], [0, 5]], axis=0, return_inverse=True), lambda n: n.unique([True, False, True]),
    lambda n: n.union1d([[1, 2]], [2, 7.5]), lambda n: n.intersect1d([1, 2, 2], [2, 3, 1], return_indices=True),
    lambda n: n.setdiff1d([3, 2, 1, 1], [2], assume_unique=True), lambda n: n.setxor1d([], []),
    lambda n: n.isin([1, 2], [2.0]),
    lambda n: n.isin([1.0], [1], kind="table"), lambda n: n.isin([1], [1, 2], kind="table"), lambda n: n.isin([1, 2], 2),
    lambda n: n.isin(1, [1]),
    lambda n: n.lexsort(([1, 2, 1], [3, 3, 1])), lambda n: n.lexsort([3, 1, 2]), lambda n: n.lexsort([]),
    lambda n: n.lexsort(5),
    lambda n: n.lexsort(n.zeros((2, 0))), lambda n: n.sort_complex([2, 1j]), lambda n: n.sort_complex(5),
    lambda n: n.partition([3, 1, 2], 1)[1],
    lambda n: n.partition(5, 0), lambda n: n.argpartition([2, 1], 0), lambda n: n.digitize(1.5, [1, 2]),
    lambda n: n.digitize([1j], [1]),
    lambda n: n.digitize([0.5, 2], n.asarray([1, 2], dtype="int8")),
]  # fmt: skip


@pytest.mark.parametrize("place", range(len(LISTS)))
def test_lists_and_errors(place):
    compare(LISTS[place])


def test_unique_of_many_takes_the_first():
    x = np.asarray([*values((5000,), "float32", 1), np.nan, -0.0, 0.0], "float32")
    found, first = vx.unique(vx.asarray(x), return_index=True)
    expected, places = np.unique(x, return_index=True)
    assert np.array_equal(np.asarray(found), expected, equal_nan=True)
    assert np.asarray(first).tolist() == places.tolist()
