"""Keys, grids, diagonals, choosing and putting, bits, and functions applied to parts, compared with NumPy's functions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from against_numpy import DTYPES, compare, inputs, outcome, same, supported

import vkarray as vx
from vkarray.core import dtypes
from vkarray.core.array import storage_itemsize

pytestmark = pytest.mark.usefixtures("numpy_types")

ONE = {
    "diagonals": [lambda n, x: n.diag(x), lambda n, x: n.diag(x, 1), lambda n, x: n.diag(x, -2), lambda n, x: n.diag(x, k=9),
                  lambda n, x: n.diagflat(x, -1), lambda n, x: n.diagonal(x, 1),
                  lambda n, x: n.diagonal(x, axis1=-1, axis2=0),
                  lambda n, x: n.diag_indices_from(x), lambda n, x: n.tril_indices_from(x, 1),
                  lambda n, x: n.triu_indices_from(x, k=-1)],
    "conditions": [lambda n, x: n.argwhere(x), lambda n, x: n.flatnonzero(x), lambda n, x: n.extract(x, x),
                   lambda n, x: n.compress([1, 0, 1], x), lambda n, x: n.compress([True, False], x, axis=-1),
                   lambda n, x: n.compress([0, 0, 0, 0, 0, 0, 0, 0, 1], x, 0), lambda n, x: n.compress([[True]], x),
                   lambda n, x: x.compress([False, True]), lambda n, x: n.compress([], x),
                   lambda n, x: n.compress([True], x, 9)],
    "select": [lambda n, x: n.select([x == 0, x == 1], [x, 2]), lambda n, x: n.select([x == 0], [x], default=x),
               lambda n, x: n.select([x != 0], [1.5], -1), lambda n, x: n.select([x == 0, [True]], [[7], x]),
               lambda n, x: n.select([x], [x]) if x.dtype != "bool" else None, lambda n, x: n.select([x == 0], [x, x]),
               lambda n, x: n.select([], [])],
    "piecewise": [lambda n, x: n.piecewise(x, [x == 0, x == 1], [1, 0]),
                  lambda n, x: n.piecewise(x, [x == 0], [1, lambda v: v]),
                  lambda n, x: n.piecewise(x, x == 0, [lambda v, k: v | k, 1], k=1) if x.dtype == "int8" and x.size else None,
                  lambda n, x: n.piecewise(x, [x == 0], [1, 2, 3])],
    "apply": [lambda n, x: n.apply_along_axis(lambda v: v[::-1], 0, x), lambda n, x: n.apply_along_axis(n.any, -1, x),
              lambda n, x: n.apply_along_axis(lambda v: n.stack([v, v]), 0, x) if x.ndim < 3 else None,
              lambda n, x: n.apply_along_axis(lambda v: v, 7, x),
              lambda n, x: n.apply_over_axes(n.any, x, [0, -1]) if x.ndim else None,
              lambda n, x: n.apply_over_axes(n.any, x, 0) if x.ndim else None],
    "indices": [lambda n, x: n.indices(x.shape), lambda n, x: n.indices(x.shape, dtype="float32"),
                lambda n, x: n.indices(x.shape, sparse=True), lambda n, x: list(n.ndindex(x.shape)),
                lambda n, x: list(n.ndindex(*x.shape)),
                lambda n, x: [index for index, _ in n.ndenumerate(x)]],
    "conversions": [lambda n, x: n.asanyarray(x), lambda n, x: n.ascontiguousarray(x), lambda n, x: n.asfortranarray(x),
                    lambda n, x: n.require(x, None, ["C", "O"]), lambda n, x: n.require(x, "complex128", "F"),
                    lambda n, x: n.require(x, None, "CF"), lambda n, x: n.require(x, None, "?"),
                    lambda n, x: n.asfortranarray(x).flags.f_contiguous,
                    lambda n, x: n.ascontiguousarray(x).flags.c_contiguous],
}  # fmt: skip


@pytest.mark.parametrize("dtype", supported(DTYPES))
@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_array(name, dtype):
    if name == "select" and dtype == "uint64":
        return  # NumPy has no select with Python's numbers beside uint64
    for given in inputs(1, dtype, overlap=name != "piecewise", ugly=name != "apply" or dtype != "complex128"):
        for call in ONE[name]:
            compare(call, given, times=2)


def changed(change):
    """A case that changes a copy of its first input in place and returns that."""

    def call(n, x, *others):
        result = change(n, x, *others)
        return x if result is None else result

    return call


IN_PLACE = {
    "put": [lambda n, x: n.put(x, [0, 2], [1, 0]), lambda n, x: n.put(x, 1, 1), lambda n, x: n.put(x, [-1, 0], 0),
            lambda n, x: n.put(x, [0, 1, 2], [1, 0]), lambda n, x: n.put(x, [7, -9], 1, mode="wrap") if x.size else None,
            lambda n, x: n.put(x, [99, -99], [1, 0], "clip") if x.size else None, lambda n, x: n.put(x, [99], 1),
            lambda n, x: n.put(x, [0], []), lambda n, x: n.put(x, [0], 1, mode="?"), lambda n, x: x.put([1], [1]),
            lambda n, x: n.put(x, [[0, 1]], [[1], [0]])],
    "put_along_axis": [lambda n, x: n.put_along_axis(x, n.zeros((1,) * x.ndim, dtype="int64"), 1, 0),
                       lambda n, x: n.put_along_axis(x, n.asarray([0, 1]), [0, 1], None) if x.flags.c_contiguous else None,
                       lambda n, x: n.put_along_axis(x, n.argsort(x, axis=-1), x, -1) if x.dtype != "complex128" else None,
                       lambda n, x: n.put_along_axis(x, n.asarray([0]), 1, 0),
                       lambda n, x: n.put_along_axis(x, n.asarray([0.0]), 1, 0),
                       lambda n, x: n.put_along_axis(x, n.full((1,) * x.ndim, 9), 1, -1)],
    "place": [lambda n, x: n.place(x, x == 0, [1, 0, 1]), lambda n, x: n.place(x, x != 0, 0),
              lambda n, x: n.place(x, x == 0, []),
              lambda n, x: n.place(x, [True, False], 1), lambda n, x: n.place(x, x == x, n.asarray([1.5], dtype="float64"))],
    "putmask": [lambda n, x: n.putmask(x, x == 0, [1, 0, 1]), lambda n, x: n.putmask(x, x != 0, x),
                lambda n, x: n.putmask(x, x == 0, []),
                lambda n, x: n.putmask(x, [True], 1), lambda n, x: n.putmask(x, x == 0, n.asarray([1.5], dtype="float64"))],
    "copyto": [lambda n, x: n.copyto(x, 1), lambda n, x: n.copyto(x, x[..., ::-1] if x.ndim else x),
               lambda n, x: n.copyto(x, 1.5),
               lambda n, x: n.copyto(x, True, where=x == 0),
               lambda n, x: n.copyto(x, [1, 0, 1, 1], where=[True, False, True, True]),
               lambda n, x: n.copyto(x, n.asarray(1j)), lambda n, x: n.copyto(x, 0, where=False),
               lambda n, x: n.copyto(x, n.asarray([[[[1]]]])), lambda n, x: n.copyto(x, 2j)],
    "fill_diagonal": [lambda n, x: n.fill_diagonal(x, 1), lambda n, x: n.fill_diagonal(x, [1, 0]),
                      lambda n, x: n.fill_diagonal(x, 1, wrap=True), lambda n, x: n.fill_diagonal(x.T, 1, wrap=True)],
    "flat": [lambda n, x: x.flat.__setitem__(0, 1), lambda n, x: x.flat.__setitem__(slice(None), [1, 0]),
             lambda n, x: x.flat.__setitem__(slice(1, 5, 2), 1), lambda n, x: x.flat.__setitem__(..., 0),
             lambda n, x: x.flat.__setitem__([0, 0], 1), lambda n, x: x.flat.__setitem__(99, 1),
             lambda n, x: setattr(x, "flat", 1),
             lambda n, x: x.flat[1:5], lambda n, x: x.flat[0], lambda n, x: x.flat[-1], lambda n, x: x.flat[99],
             lambda n, x: x.flat[...], lambda n, x: x.flat[()], lambda n, x: x.flat[None],
             lambda n, x: x.flat.__setitem__((), 1), lambda n, x: x.flat.__setitem__(None, 1),
             lambda n, x: x.flat[[0, -1]], lambda n, x: x.flat[0, 0], lambda n, x: len(x.flat), lambda n, x: x.flat.copy(),
             lambda n, x: x.flat == x.flat, lambda n, x: x.flat != 0, lambda n, x: [v == v for v in x.flat][:5] and None],
}  # fmt: skip


@pytest.mark.parametrize("dtype", supported(DTYPES))
@pytest.mark.parametrize("name", IN_PLACE)
def test_functions_in_place(name, dtype):
    shapes = ((), (1,), (6,), (0,), (3, 4), (7, 2), (3, 3, 3))
    for given in inputs(1, dtype, shapes[name == "put" :], overlap=False):  # NumPy 2.5 puts less into 0 dimensions
        for call in IN_PLACE[name]:
            compare(changed(call), given, times=2)


def put_outside(x):
    vx.put(x, 1, 5)
    return x


def test_put_into_an_array_of_0_dimensions():
    for place, options, expected in (
        (0, {}, 5),
        (-1, {}, 5),
        ([0, 0], {}, 5),
        (7, {"mode": "wrap"}, 5),
        (9, {"mode": "clip"}, 5),
    ):
        x = vx.asarray(3)
        vx.put(x, place, expected, **options)
        assert x.shape == ()
        assert int(x) == expected
    with pytest.raises(IndexError):  # at the call, or where the host does not see the device's memory at the read
        int(put_outside(vx.asarray(3)))


TRIANGLES = [
    *(lambda n, a=a: n.tri(*a) for a in ((3,), (3, 4), (2, 5, 1), (4, 2, -2), (0,), (-1, 2), (3, 3, 9))),
    lambda n: n.tri(3, dtype=bool), lambda n: n.tri(3, k=-1, dtype="int8"), lambda n: n.tril_indices(3),
    lambda n: n.tril_indices(3, 1, 4),
    lambda n: n.triu_indices(4, -1), lambda n: n.triu_indices(3, m=2), lambda n: n.diag_indices(3),
    lambda n: n.diag_indices(2, 3),
    lambda n: n.mask_indices(3, n.triu), lambda n: n.mask_indices(3, n.tril, -1), lambda n: n.vander([1, 2, 3]),
    lambda n: n.vander([1.5, -2.0], 4), lambda n: n.vander([1, 2], 3, increasing=True), lambda n: n.vander([1, 2], 0),
    lambda n: n.vander(n.asarray([True, False]), 3), lambda n: n.vander(n.asarray([1, 2], dtype="int8"), 9),
    lambda n: n.vander(n.asarray([1.5, 2], dtype="float32"), 3), lambda n: n.vander([[1]]),
    lambda n: n.vander([1j, 2], 3), lambda n: n.vander([]),
]  # fmt: skip
GRIDS = [
    lambda n: n.mgrid[0:3], lambda n: n.mgrid[0:3, 1:5:2], lambda n: n.mgrid[0:1:5j],
    lambda n: n.mgrid[0:1:3j, -1:1:0.5], lambda n: n.mgrid[3:0],
    lambda n: n.mgrid[0:1:1j], lambda n: n.ogrid[0:3], lambda n: n.ogrid[0:3, 0:2, 1:4], lambda n: n.ogrid[0:1:3j, 0:2],
    lambda n: n.mgrid[0 : 1 : n.float32(0.25)], lambda n: n.mgrid[n.float32(0) : 1 : 3j],
    lambda n: n.mgrid[0 : 1 : n.complex64(3j)], lambda n: n.mgrid[0 : 1 : n.complex64(3j), 0:2],
    lambda n: n.mgrid[0 : n.int32(5), 0:2], lambda n: n.mgrid[0 : n.int32(5)], lambda n: n.mgrid[0 : n.int32(5) : 2j],
    lambda n: n.ogrid[0 : n.float32(3), 0:2], lambda n: n.ogrid[0 : n.float16(1) : 3j], lambda n: n.mgrid[n.int8(1) : 5, 0:2],
    lambda n: n.r_[0 : 1 : n.complex64(3j)], lambda n: n.r_[n.float32(0) : 1 : 3j], lambda n: n.r_[0 : n.int8(3)],
    lambda n: n.meshgrid([[1, 2], [3, 4]], 5), lambda n: n.meshgrid(n.arange(3), 0, [1.5, 2]), lambda n: n.meshgrid(2, 3),
    lambda n: n.tril([1, 2, 3]), lambda n: n.triu([1.5, 2], 1),
    lambda n: n.roll([1, 2, 3], (1, 1)), lambda n: n.roll([[1, 2], [3, 4]], [1, 2], axis=-1),
    lambda n: n.roll([[1, 2], [3, 4]], (1, 1), (0, 1)), lambda n: n.roll([[1, 2]], (1, 2, 3), (0, 1)),
    lambda n: n.roll([[1, 2], [3, 4]], (1,), (0, 1)), lambda n: n.nancumsum(3.0, axis=-1), lambda n: n.polymul([], [1, 2]),
    lambda n: n.ravel([[1, 2]], None),
    lambda n: n.r_[1, 2, 3], lambda n: n.r_[1:4, 0, [5, 6]], lambda n: n.r_[0:1:3j, 5], lambda n: n.r_[1, 2.5],
    lambda n: n.r_[True, 2j],
    lambda n: n.r_[n.asarray([1, 2], dtype="int8"), 3], lambda n: n.r_[n.asarray([1.5], dtype="float32"), 2.5, 1:3],
    lambda n: n.r_["-1", [[1], [2]], [[3], [4]]], lambda n: n.r_["0,2", [1, 2], [3, 4]],
    lambda n: n.r_["0,2,0", [1, 2], [3]],
    lambda n: n.r_["1,2,0", [1, 2], 1:3], lambda n: n.r_["0,3,-1", [1, 2], [[3, 4]]], lambda n: n.r_["?", 1],
    lambda n: n.r_[1, "0"],
    lambda n: n.r_[[1, 2], [[3]]], lambda n: n.c_[[1, 2, 3], [4, 5, 6]], lambda n: n.c_[[[1, 2]], [[3, 4]]],
    lambda n: n.c_[1:4, 4:7],
    lambda n: n.c_[[1, 2], 3], lambda n: n.s_[1:2, ..., None], lambda n: n.index_exp[1], lambda n: n.index_exp[1:3, 2],
    lambda n: n.s_[5],
    lambda n: n.ix_([1, 2], [0, 3]), lambda n: n.ix_([True, False, True], [1]), lambda n: n.ix_([], [1]),
    lambda n: n.ix_([[1]]), lambda n: n.ix_(),
    lambda n: n.indices((2, 3)), lambda n: n.indices(()), lambda n: list(n.ndindex()), lambda n: list(n.ndindex(2, 0)),
    lambda n: list(n.ndindex(-1)),
    lambda n: n.unravel_index([5, 0, 11], (3, 4)), lambda n: n.unravel_index(7, (3, 4), "F"),
    lambda n: n.unravel_index(12, (3, 4)),
    lambda n: n.unravel_index(-1, (3, 4)), lambda n: n.unravel_index([1.5], (3, 4)),
    lambda n: n.unravel_index([[1, 2]], (2, 2, 2)),
    lambda n: n.unravel_index(1, (3, 4), order="?"), lambda n: n.unravel_index(3, 7),
    lambda n: n.ravel_multi_index(([1, 2], [0, 3]), (3, 4)),
    lambda n: n.ravel_multi_index((1, [0, 3]), (3, 4), order="F"), lambda n: n.ravel_multi_index((3, 0), (3, 4)),
    lambda n: n.ravel_multi_index((1, -1), (3, 4)), lambda n: n.ravel_multi_index(([-1, 7], [5, -9]), (3, 4), mode="wrap"),
    lambda n: n.ravel_multi_index(([-1, 7], [5, -9]), (3, 4), mode=("clip", "wrap")),
    lambda n: n.ravel_multi_index((1, 2, 3), (3, 4)),
    lambda n: n.ravel_multi_index((1.5, 2), (3, 4)), lambda n: n.ravel_multi_index((1, 2), (3, 4), mode="?"),
    lambda n: n.ravel_multi_index(n.asarray([[1, 2], [3, 0]]), (3, 4)),
]  # fmt: skip
CHOICES = [
    lambda n: n.choose([0, 1, 2], [[1, 2, 3], [4, 5, 6], [7, 8, 9]]), lambda n: n.choose([[0], [1]], [10, [20, 30]]),
    lambda n: n.choose(n.asarray([1, 0], dtype="uint8"), n.asarray([[1.5, 2.5], [3, 4]])),
    lambda n: n.choose([0, 2], [1, 2]),
    lambda n: n.choose([0, -1], [1, 2]), lambda n: n.choose([-1, 5], [1, 2, 3], mode="wrap"),
    lambda n: n.choose([-1, 5], [1, 2, 3], mode="clip"),
    lambda n: n.choose([0], []), lambda n: n.choose([0.5], [1, 2]), lambda n: n.choose([True, False], [1, 2.5]),
    lambda n: n.choose(0, [1, 2]),
    lambda n: n.choose([0], [1, 2], mode="?"), lambda n: n.asarray([1, 0]).choose([[1, 2], [3, 4]]),
    lambda n: n.choose([0, 1], [[1, 2], [1, 2, 3]]),
    lambda n: n.choose([0, 1], [1, 2], n.zeros(2, dtype="float64")), lambda n: n.argwhere(5), lambda n: n.argwhere(0),
    lambda n: n.flatnonzero([[1, 0, 2]]),
    lambda n: n.extract([[1, 0], [0, 1]], [[1, 2], [3, 4]]), lambda n: n.extract([0, 1], 5),
    lambda n: n.compress([1, 0], [[1, 2], [3, 4]], axis=1),
    lambda n: n.select([[True, False], [True, True]], [[1, 2], [3, 4]]), lambda n: n.select([[1]], [1]),
    lambda n: n.piecewise([0.0, 1, 2], [[True, False, False], [False, True, False]], [lambda v: v + 10, -1, 7]),
    lambda n: n.piecewise([1, 2], [True, False], [1.9]), lambda n: n.piecewise(3.0, [False], [1, 2]),
    lambda n: n.piecewise(3.0, True, [lambda v: v * 2]),
    lambda n: n.packbits([1, 0, 1]), lambda n: n.packbits([1.0]), lambda n: n.packbits([1], bitorder="?"),
    lambda n: n.unpackbits([1]),
    lambda n: n.apply_along_axis(n.sum, 0, n.zeros((0, 0))),
    lambda n: n.apply_over_axes(n.sum, n.asarray([[1, 2], [3, 4]]), (0, 1)),
    lambda n: n.copyto([1], 1),
]  # fmt: skip
MADE = [
    lambda n: n.frombuffer(bytes(range(16)), "float32"), lambda n: n.frombuffer(bytes(range(16)), "int16", 3, 2),
    lambda n: n.frombuffer(bytes(range(16)), "complex64"),
    lambda n: n.ndarray((2, 2), np.int16, b"abcdefgh1234", 3),
    lambda n: n.ndarray(shape=(2, 2), dtype="i4", buffer=bytes(range(16)), order="F"),
    lambda n: n.ndarray((2, 2), np.int16, b"abcdefgh1234", strides=(4, 2)), lambda n: n.ndarray((2, 2), np.int16, b"abc"),
    lambda n: n.ndarray((2,), n.int64, n.asarray([1, 2, 3]), 8), lambda n: n.ndarray((9,), n.int64, n.asarray([1, 2, 3])),
    lambda n: n.ndarray((2, 3), bool).shape, lambda n: n.ndarray(3, int).dtype == n.int64, lambda n: n.ndarray((-1,)),
    lambda n: n.ndarray((2, 2), np.int16, b"abcd", strides=(4, 2)),
    lambda n: n.frombuffer(b""), lambda n: n.frombuffer(b"123"), lambda n: n.frombuffer(b"12345678", offset=9),
    lambda n: n.frombuffer(b"12345678", "float32", count=3),
    lambda n: n.frombuffer(bytearray(b"\x00\x01\x01"), bool), lambda n: n.frombuffer(b"12", "float16"),
    lambda n: n.frombuffer(b"1234", "uint8", offset=4),
    lambda n: n.fromstring("1 2  3.5", sep=" "), lambda n: n.fromstring("1,2,", dtype=int, sep=","),
    lambda n: n.fromstring("1, 2", "float32", sep=","),
    lambda n: n.fromstring("1 x", sep=" "), lambda n: n.fromstring("1"), lambda n: n.fromstring("", sep=" "),
    lambda n: n.fromstring("1 2 3", count=2, sep=" "),
    lambda n: n.fromiter(range(4), int), lambda n: n.fromiter((k / 2 for k in range(4)), float, 3),
    lambda n: n.fromiter([1], int, count=2),
    lambda n: n.fromfunction(lambda i, j: i + j, (2, 3)), lambda n: n.fromfunction(lambda i, k: i * k, (3,), dtype=int, k=2),
    lambda n: n.fromfunction(lambda i, j: i == j, (3, 3), dtype=int), lambda n: n.asfortranarray(5),
    lambda n: n.ascontiguousarray(5.5),
    lambda n: n.ascontiguousarray([1, 2], dtype="float32"), lambda n: n.require([1.5], "int32", "F"),
    lambda n: n.asanyarray([1, 2], "int8"),
]  # fmt: skip
VECTORIZED = [
    lambda n: n.vectorize(lambda a, b: a - b if a > b else a + b)([1, 2, 3, 4], 2),
    lambda n: n.vectorize(lambda x: x * 2)([[1, 2], [3, 4]]),
    lambda n: n.vectorize(math.floor)([1.5, -1.5]), lambda n: n.vectorize(lambda x: (x, x / 2))([1.0, 2.0]),
    lambda n: n.vectorize(lambda x: 1)([1, 2]),
    lambda n: n.vectorize(lambda x: x, otypes=[float])([1, 2]),
    lambda n: n.vectorize(lambda x, y=1: x + y)([1, 2], y=[3, 4]),
    lambda n: n.vectorize(lambda p, x: p[x], excluded=[0])([10, 20, 30], [2, 0]),
    lambda n: n.vectorize(lambda x: x if x else 0)([]),
    lambda n: n.vectorize(lambda x: x, otypes="d")([]), lambda n: n.vectorize(lambda x: x + 1)(5),
    lambda n: n.vectorize(lambda a, b: a + b)([1, 2], [1, 2, 3]),
    lambda n: n.vectorize(lambda a, b: (a * b).sum(), signature="(n),(n)->()")([[1, 2], [3, 4]], [1, 10]),
    lambda n: n.vectorize(lambda a: n.stack([a, a]), signature="(n)->(k,n)")([[1, 2], [3, 4]]),
    lambda n: n.vectorize(lambda a: a, signature="(n")([1]),
    lambda n: n.vectorize(lambda a, b: a, signature="(n),(n)->()")([1, 2], [1, 2, 3]),
]  # fmt: skip
TABLES = {"triangles": TRIANGLES, "grids": GRIDS, "choices": CHOICES, "made": MADE, "vectorized": VECTORIZED}


@pytest.mark.parametrize(
    ("table", "place"), [(name, place) for name, rows in TABLES.items() for place in range(len(rows))]
)
def test_lists_and_errors(table, place):
    compare(TABLES[table][place])


@pytest.mark.parametrize("dtype", supported(("bool", "int8", "uint64")))
@pytest.mark.parametrize("bitorder", ["big", "little"])
def test_bits(dtype, bitorder):
    for given in inputs(1, dtype, ((), (1,), (8,), (0,), (17,), (3, 9), (2, 0), (2, 3, 4))):
        for axis in (None, 0, -1):
            compare(lambda n, x, axis=axis: n.packbits(x, axis=axis, bitorder=bitorder), given, times=2)
    for given in inputs(1, "uint8", ((), (1,), (0,), (3, 4), (2, 3, 4))):
        for axis in (None, 0, -1):
            for count in (None, 0, 5, 20, -3, -99):
                if given[0].values.size or not count or count < 0:  # NumPy leaves what it adds to no bits undefined
                    compare(lambda n, x, a=axis, c=count: n.unpackbits(x, a, c, bitorder), given, times=2)


@pytest.mark.usefixtures("told_later")
@pytest.mark.parametrize("dtype", supported(("uint8", "uint32", "uint64")))
def test_unsigned_indices_do_not_wrap(dtype):
    largest = vx.asarray([vx.iinfo(dtype).max], dtype=dtype)
    for transposed in (False, True):
        x = vx.zeros((2, 3), dtype="float32")
        vx.put(x.T if transposed else x, largest, 1)
        with pytest.raises(IndexError):
            x.tolist()
    for call in (lambda: vx.unravel_index(largest, (2, 3)), lambda: vx.choose(largest, [1, 2])):
        with pytest.raises(ValueError, match="bounds"):
            np.asarray(call()[0])
    compare(lambda n: n.unravel_index(n.asarray([1, 5], dtype=dtype), (2, 3)))
    compare(lambda n: n.ravel_multi_index((n.asarray([1, 0], dtype=dtype), [2, 1]), (2, 3)))


def stored_in_full(types):
    """Those of some types that the device stores in as many bits as they have."""
    device = vx.asarray(0).device
    return [
        name for name in supported(types) if storage_itemsize(dtypes.DTYPES[name], device) == np.dtype(name).itemsize
    ]


VIEWS = ["bool", "int8", "uint16", "float16", "int32", "float32", "int64", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("source", stored_in_full(("int8", "float16", "int32", "float64", "complex64")))
def test_view_in_another_type(source):
    for given in inputs(1, source, ((), (1,), (16,), (0,), (3, 4), (3, 0), (2, 1)), overlap=False):
        for wanted in stored_in_full(tuple(VIEWS)):
            if wanted != "bool":  # whose bytes are 0 and 1
                compare(lambda n, x, wanted=wanted: x.view(wanted), given, times=2)


def test_a_view_shares_memory():
    x = vx.asarray([1.0, 2.0], dtype="float32")
    x.view("int32")[0] = 0
    assert x.tolist() == [0.0, 2.0]
    with pytest.raises(ValueError, match="divide"):
        vx.zeros((3, 8), dtype="float32")[:, 1:5].view("complex64")


RESIZED = [(), 3, (2, 2), (3, 4), (0,), (20,), (-1,)]


@pytest.mark.parametrize("shape", RESIZED, ids=str)
def test_resize_in_place(shape):
    def call(n, x):
        x = n.array(x, order="C")
        x.resize(shape, refcheck=False)
        return x

    for given in inputs(1, "int8", ((), (1,), (6,), (0,), (3, 4))):
        compare(call, given)


def test_flags():
    names = ("C_CONTIGUOUS", "F", "FNC", "FORC", "CARRAY", "BEHAVED", "W", "A", "X")
    for given in inputs(1, "float32", overlap=False):
        compare(
            lambda n, x: [bool(x.flags[name]) for name in names] + [x.flags.contiguous, x.flags.fortran], given, times=1
        )
    x = vx.zeros((2, 3), dtype="float32")
    assert x.flags.owndata
    assert not x[1:].flags.owndata
    x.flags.writeable = True
    with pytest.raises(ValueError, match="copy"):
        x.flags.writeable = False
    with pytest.raises(KeyError):
        x.flags["?"]


def test_flat_iterates():
    x = vx.asarray([[1, 2], [3, 4]]).T
    flat = x.flat
    assert next(flat) == 1
    assert flat.index == 1
    assert flat.coords == (0, 1)
    assert list(flat) == [3, 2, 4]
    assert flat.base is x
    assert np.asarray(x.flat).tolist() == [1, 3, 2, 4]
    assert list(vx.ndenumerate(x)) == [((0, 0), 1), ((0, 1), 3), ((1, 0), 2), ((1, 1), 4)]


def test_vectorize_calls_once_with_arrays():
    calls = []
    double = vx.vectorize(lambda x: calls.append(type(x)) or x + x)
    assert double([1, 2, 3]).tolist() == [2, 4, 6]
    assert calls == [vx.VkArray]
    assert (
        same(outcome(lambda n: n.vectorize(abs)([-1, 2]), np), outcome(lambda n: n.vectorize(abs)([-1, 2]), vx)) == ""
    )


def test_vectorize_as_a_decorator():
    @vx.vectorize
    def sign(x):
        """The sign."""
        return 1 if x > 0 else -1

    @vx.vectorize(otypes=["float32"])
    def half(x):
        return x / 2 if x else 0

    assert sign([1, -2]).tolist() == [1, -1]
    assert sign.__doc__ == "The sign."
    assert sign.__name__ == "sign"
    assert half([1, 0]).dtype == "float32"
