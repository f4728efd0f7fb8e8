"""Joining, splitting, insertion, deletion and turning of arrays, compared with NumPy's functions."""

from __future__ import annotations

import numpy as np
import pytest
from against_numpy import DTYPES, LAYOUTS, SHAPES, Given, compare, inputs, outcome, same, supported, values

import vkarray as vx

pytestmark = pytest.mark.usefixtures("numpy_types")

ONE = {
    "atleast": [lambda n, x: n.atleast_1d(x), lambda n, x: n.atleast_2d(x), lambda n, x: n.atleast_3d(x)],
    "stacks of rows": [lambda n, x: n.hstack(x), lambda n, x: n.vstack(x), lambda n, x: n.dstack(x),
                       lambda n, x: n.column_stack(x)],
    "split": [lambda n, x: n.array_split(x, 3), lambda n, x: n.array_split(x, [1, 2], -1), lambda n, x: n.split(x, 2),
              lambda n, x: n.split(x, [-1, 9], axis=0), lambda n, x: n.hsplit(x, 2), lambda n, x: n.vsplit(x, 3),
              lambda n, x: n.dsplit(x, [1]), lambda n, x: n.array_split(x, 0), lambda n, x: n.array_split(x, 2, axis=5),
              lambda n, x: n.array_split(x, np.array([2]))],
    "insert": [lambda n, x: n.insert(x, 0, 1), lambda n, x: n.insert(x, -1, 1, axis=0),
               lambda n, x: n.insert(x, [0, 1, 1], 1),
               lambda n, x: n.insert(x, [0, -1], 0, axis=-1) if x.size else None,
               lambda n, x: n.insert(x, slice(None, None, 2), 1),
               lambda n, x: n.insert(x, [0], 1, axis=0), lambda n, x: n.insert(x, [], 1), lambda n, x: n.insert(x, 99, 1),
               lambda n, x: n.insert(x, [0, 99], 1), lambda n, x: n.insert(x, 0, 1, axis=7),
               lambda n, x: n.insert(x, 0, n.asarray([1, 0, 1, 1])[: x.shape[-1]] if x.ndim else 1, axis=0),
               lambda n, x: n.insert(x, [[0]], 1)],
    "delete": [lambda n, x: n.delete(x, 0), lambda n, x: n.delete(x, -1, axis=0), lambda n, x: n.delete(x, [0, 1, 0]),
               lambda n, x: n.delete(x, slice(None, None, 2), axis=-1), lambda n, x: n.delete(x, slice(1, 2), axis=0),
               lambda n, x: n.delete(x, slice(None, None, -1)), lambda n, x: n.delete(x, []), lambda n, x: n.delete(x, 99),
               lambda n, x: n.delete(x, [0, 99]), lambda n, x: n.delete(x, [True, False, True], axis=-1),
               lambda n, x: n.delete(x, slice(2, 0)), lambda n, x: n.delete(x, 0, 9)],
    "resize": [lambda n, x: n.resize(x, 5), lambda n, x: n.resize(x, (2, 3)), lambda n, x: n.resize(x, ()),
               lambda n, x: n.resize(x, (0, 2)), lambda n, x: n.resize(x, (31,)), lambda n, x: n.resize(x, -1)],
    "trim_zeros": [lambda n, x: n.trim_zeros(x) if x.ndim else None, lambda n, x: n.trim_zeros(x, "f"),
                   lambda n, x: n.trim_zeros(x, trim="b", axis=-1) if x.ndim else None, lambda n, x: n.trim_zeros(x, "x"),
                   lambda n, x: n.trim_zeros(x, axis=5)],
    "turning": [*(lambda n, x, k=k: n.rot90(x, k) for k in range(-1, 4)), lambda n, x: n.rot90(x, axes=(1, 0)),
                lambda n, x: n.rot90(x, axes=(0, 0)), lambda n, x: n.rot90(x, axes=(0, 5)), lambda n, x: n.fliplr(x),
                lambda n, x: n.flipud(x)],
    "rollaxis": [lambda n, x: n.rollaxis(x, -1), lambda n, x: n.rollaxis(x, 0, x.ndim), lambda n, x: n.rollaxis(x, 1, -1),
                 lambda n, x: n.rollaxis(x, 0, 9), lambda n, x: n.rollaxis(x, 9)],
}  # fmt: skip
TWO = {
    "stacks": [lambda n, x, y: n.hstack([x, y]), lambda n, x, y: n.vstack((x, y)), lambda n, x, y: n.dstack([x, y, x]),
               lambda n, x, y: n.column_stack([x, y]), lambda n, x, y: n.vstack([x, y], dtype="complex128"),
               lambda n, x, y: n.hstack([x, y], dtype="int8", casting="unsafe") if x.dtype.kind in "biu" else None,
               lambda n, x, y: n.hstack([x, y], dtype="float64")],
    "append": [lambda n, x, y: n.append(x, y), lambda n, x, y: n.append(x, y, axis=0),
               lambda n, x, y: n.append(x, y, axis=-1),
               lambda n, x, y: n.append(x, 1.5), lambda n, x, y: n.append(x, [True]), lambda n, x, y: n.append([2], x),
               lambda n, x, y: n.append(x, y, axis=4)],
    "atleast": [lambda n, x, y: n.atleast_1d(x, 5), lambda n, x, y: n.atleast_3d(x, y, [1, 2])],
    "block": [lambda n, x, y: n.block([x, y]), lambda n, x, y: n.block([[x, y], [y, x]]),
              lambda n, x, y: n.block([[x], [y]]),
              lambda n, x, y: n.block(x), lambda n, x, y: n.block([x, [y]]), lambda n, x, y: n.block([]),
              lambda n, x, y: n.block([x, (y, y)]), lambda n, x, y: n.block([[[x]], [[y]]])],
}  # fmt: skip


@pytest.mark.parametrize("dtype", supported(DTYPES))
@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_array(name, dtype):
    for given in inputs(1, dtype):
        for call in ONE[name]:
            compare(call, given)


@pytest.mark.parametrize("dtype", supported(DTYPES))
@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_arrays(name, dtype):
    for given in inputs(2, dtype):
        for call in TWO[name]:
            compare(call, given)


@pytest.mark.parametrize(
    "dtypes", [("int8", "uint8"), ("int64", "float32"), ("bool", "complex64"), ("float16", "int16")]
)
def test_types_are_promoted(dtypes):
    for shape in SHAPES:
        given = [Given(values(shape, dtype, seed, False), LAYOUTS["contiguous"]) for seed, dtype in enumerate(dtypes)]
        for call in (*TWO["stacks"][:4], *TWO["append"], *TWO["block"]):
            compare(call, given)


LISTS = [
    lambda n: n.hstack([[1, 2], [3.5]]), lambda n: n.hstack([1, 2]), lambda n: n.vstack([[1, 2], [3, 4]]),
    lambda n: n.dstack(([1, 2], [3, 4])), lambda n: n.column_stack([[1, 2], [3, 4], [[5, 6], [7, 8]]]),
    lambda n: n.hstack([]),
    lambda n: n.hstack(5), lambda n: n.vstack([[1, 2], [3]]), lambda n: n.dstack([[[1]], [[1, 2]]]),
    lambda n: n.column_stack([]),
    lambda n: n.hstack([[1.5]], dtype="int32"), lambda n: n.hstack([[1.5]], dtype="int32", casting="unsafe"),
    lambda n: n.append([1, 2], [[3], [4]]), lambda n: n.append([[1, 2]], [3, 4], axis=0), lambda n: n.append(1, 2),
    lambda n: n.block([[1, 2], [3, 4]]), lambda n: n.block([[1, [2]], [3, 4]]), lambda n: n.block(5),
    lambda n: n.block([1.5, True]),
    lambda n: n.block((1, 2)), lambda n: n.atleast_1d(), lambda n: n.atleast_2d(3), lambda n: n.atleast_3d([1, 2], 3.5),
    lambda n: n.array_split([1, 2, 3, 4, 5], 3), lambda n: n.hsplit(n.asarray([[1, 2], [3, 4]]), [1]),
    lambda n: n.vsplit(n.asarray([[1, 2]]), 2),
    lambda n: n.insert([1, 2, 3], 1, [7, 8]), lambda n: n.insert([[1, 2], [3, 4]], 1, [7, 8], axis=1),
    lambda n: n.insert([[1, 2], [3, 4]], [1], [[7], [8]], axis=1), lambda n: n.insert([1, 2], [0, 2], [1.9, 2.9]),
    lambda n: n.insert([1, 2, 3], [2, 0], [8, 9]), lambda n: n.insert([1, 2], 0.5, 1),
    lambda n: n.insert([1, 2], 0, [1, 2, 3]),
    lambda n: n.insert([1, 2], [0, 1], [1, 2, 3]), lambda n: n.insert([1, 2, 3], n.asarray([True, False, True]), 9),
    lambda n: n.insert(5, 0, 1), lambda n: n.delete(5, 0), lambda n: n.delete([1, 2, 3], n.asarray([2, 0])),
    lambda n: n.delete([1, 2], [True]), lambda n: n.delete([1, 2, 3], 1), lambda n: n.resize([1, 2], (3, 3)),
    lambda n: n.resize([], 3), lambda n: n.rot90([[1, 2], [3, 4]]), lambda n: n.rot90([1, 2]), lambda n: n.fliplr([1, 2]),
    lambda n: n.flipud([1, 2]), lambda n: n.rollaxis(n.asarray([[1, 2]]), 1),
    lambda n: n.trim_zeros(n.asarray([0, 1, 0, 2, 0, 0])),
    lambda n: n.trim_zeros(n.asarray([[0, 0, 0], [0, 1, 2]])), lambda n: n.trim_zeros(n.asarray([0.0, -0.0])),
    lambda n: n.split(n.asarray([1, 2, 3]), 2), lambda n: n.lib.stride_tricks.sliding_window_view([1, 2, 3], 2),
]  # fmt: skip


@pytest.mark.parametrize("place", range(len(LISTS)))
def test_lists_and_errors(place):
    compare(LISTS[place])


WINDOWS = [
    lambda n, x: n.lib.stride_tricks.sliding_window_view(x, (2,) * x.ndim),
    lambda n, x: n.lib.stride_tricks.sliding_window_view(x, 2, axis=-1),
    lambda n, x: n.lib.stride_tricks.sliding_window_view(x, (2, 2), axis=(0, 0)),
    lambda n, x: n.lib.stride_tricks.sliding_window_view(x, 0, axis=0),
    lambda n, x: n.lib.stride_tricks.sliding_window_view(x, 99),
    lambda n, x: n.lib.stride_tricks.sliding_window_view(x, -1, axis=0),
    lambda n, x: n.lib.stride_tricks.as_strided(x),
    lambda n, x: n.lib.stride_tricks.as_strided(x, x.shape[::-1], x.strides[::-1]),
    lambda n, x: n.lib.stride_tricks.as_strided(x, (5, *x.shape), (0, *x.strides)),
]


@pytest.mark.parametrize("dtype", supported(("int8", "float32", "complex128")))
def test_strided_views(dtype):
    for given in inputs(1, dtype):
        for call in WINDOWS:
            compare(call, given)


@pytest.mark.parametrize(
    ("shape", "strides"), [((5,), (4,)), ((2,), (16,)), ((2,), (-4,)), ((2,), (2,)), ((2, 2), (4,)), ((-1,), (4,))]
)
def test_as_strided_keeps_within_memory(shape, strides):
    with pytest.raises(ValueError, match="as_strided"):
        vx.lib.stride_tricks.as_strided(vx.asarray([1, 2, 3, 4], dtype="int32"), shape, strides)


def test_as_strided_looks_at_the_memory_of_each_array():
    for _ in range(4):
        whole = vx.zeros((8,), dtype="int32")
        assert vx.lib.stride_tricks.as_strided(whole[:4], (8,), (4,)).shape == (8,)
    with pytest.raises(ValueError, match="as_strided"):
        vx.lib.stride_tricks.as_strided(vx.zeros((4,), dtype="int32"), (8,), (4,))


def test_parts_and_turned_arrays_are_views():
    x = vx.zeros((4, 4), dtype="int32")
    vx.split(x, 2)[1][...] = 1
    vx.rot90(x)[0, 0] = 2
    vx.fliplr(x)[0, 1] = 3
    expected = np.zeros((4, 4), "int32")
    np.split(expected, 2)[1][...] = 1
    np.rot90(expected)[0, 0] = 2
    np.fliplr(expected)[0, 1] = 3
    assert np.asarray(x).tolist() == expected.tolist()


def test_numpy_arrays_are_refused():
    for call in (vx.hstack, vx.vstack, vx.dstack, vx.column_stack):
        with pytest.raises(TypeError, match="asarray"):
            call([np.zeros(3), vx.zeros(3, dtype="float32")])
    assert same(outcome(lambda n: n.append([1], [2]), np), outcome(lambda n: n.append([1], [2]), vx)) == ""
