"""What an array does where the standard leaves it open: what NumPy's does."""

from __future__ import annotations

import contextlib
import itertools
import statistics

import numpy as np
import pytest
from against_numpy import stand_in, supported

import vkarray as vx

pytestmark = [
    pytest.mark.usefixtures("numpy_types"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]  # NumPy's

# Each is run with NumPy and with vkarray; what it returns is compared in value, type and shape.
PROGRAMS = {
    "swap of elements": "a = np.array([1, 2, 3]); a[0], a[1] = a[1], a[0]; result = a",
    "an element is a value": "a = np.array([1.0, 2.0]); b = a[0]; a[0] = 5; result = b",
    "an element of a matrix is a value": "a = np.ones((2, 2)); b = a[1, 1]; a[1, 1] = 5; result = b",
    "ellipsis gives a view": "a = np.array([1.0, 2.0]); b = a[0, ...]; a[0] = 5; result = b",
    "a row is a view": "a = np.ones((2, 2)); b = a[1]; a[1, 1] = 5; result = b",
    "in place on a value": "a = np.array([1, 2]); b = a[0]; c = b; b += 10; result = c",
    "in place on a sum": "s = np.array([1, 2]).sum(); t = s; s += 1; result = t",
    "in place on an array of 0 dimensions": "a = np.zeros(()); b = a; a += 1; result = b",
    "in place on a number as an array": "a = np.array(3); b = a; a += 1; c = np.array(a); c -= 1; result = [a, b, c]",
    "in place on a number in a function": "def count(total, n): total += n\na = np.array(0.5); count(a, 2); result = a",
    "in place on a copy of a sum": "s = np.arange(3).sum(); t = np.array(s); u = t; t *= 2; result = [s, t, u]",
    "in place on a view of 0 dimensions": "a = np.zeros(2); b = a[1, ...]; b += 1; result = a",
    "in place on rows": "a = np.zeros((2, 3))\nfor row in a: row += 1\nresult = a",
    "in place on elements": "a = np.zeros(3)\nfor x in a: x += 1\nresult = a",
    "in place on one element": "a = np.zeros(3); a[1] += 2; result = a",
    "a list as operand": "result = np.array([1, 2]) + [0.5, 1]",
    "a tuple as operand": "result = (1, 2) * np.array([3, 4])",
    "a range": "result = np.array(range(5)) + range(5)",
    "assignment of a list": "a = np.zeros((2, 2)); a[0] = [1, 2]; result = a",
    "assignment truncates": "a = np.array([1, 2]); a[0] = 2.9; a[1:] = np.array([-3.5]); result = a",
    "assignment to bool": "a = np.zeros(3, dtype=bool); a[1] = 5; result = a",
    "same kind in place": "a = np.ones(2, np.float32); a += np.ones(2, np.float64); result = a",
    "same kind of integers in place": "a = np.ones(2, np.int32); a += np.arange(2); result = a",
    "bool and bool": "a = np.array([True, False]); result = [a + a, a * a, a ** a, a // np.array([True, True]), abs(a), a & a]",
    "negative powers of uint64": "a = np.array([2, 4], np.uint64)\n"
    "result = [a ** np.array([-1, 2], np.int8), np.power(a, np.array(-2))]",
    "integers beyond a type": "a = np.array([0, 255], np.uint8); result = [np.less(a, 300), a > -1, 2**70 != a]",
    "a progression that wraps": "result = [np.arange(260, dtype=np.uint8), np.arange(2, -2, -1, dtype=np.uint8)]",
    "unsafe sums of products": "result = np.einsum('ij->i', np.full((2, 3), 2.7), out=np.zeros(2, np.int32), casting='unsafe')",
    "bounds beyond a type": "result = np.clip(np.array([0, 255], np.uint8), -5, 300)",
    "int64 beside uint64": "a = np.array([-1, 0, 2**60], np.int64); b = np.array([2**60 + 1, 0, 2**60], np.uint64)\n"
    "result = [a < b, a <= b, a == b, b > a, b >= a, b != a]",
    "products of bool": "a = np.array([[True, False], [True, True]])\n"
    "result = [a @ a, a.dot(b=a[0]), np.vecdot(a, a), np.tensordot(a, a, (0, 1)), np.linalg.matrix_power(a, 3)]",
    "no integers to count": "result = [np.bincount([]), np.bincount([], minlength=2), np.bincount(np.zeros(0, np.int64))]",
    "parts of nothing": "result = np.add.reduceat(np.arange(4.0), np.zeros(0, np.int64))",
    "text as bytes": "result = np.fromstring(b'1 2 3', sep=' ')",
    "a sequence to a complex number": "result = np.abs(np.geomspace(-1, 1, 3, dtype=np.complex128))",
    "places in two dimensions": "result = np.delete(np.arange(4), [[0, 1], [2, 2]])",
    "what is made by name": "result = np.array(object=[1, 2])",
    "what a type is": "a = np.dtype(np.int32); result = [a.base == a, a.num, a.ndim, a.newbyteorder('=') == a, str(a.descr)]",
    "types of choices": "result = [np.choose([0, 1], one) for one in ([np.float32(1), 2], [np.arange(2, dtype=np.int8), 7.5],\n"
    "    [[1, 2], [3.5, 4]], [np.uint8(3), np.asarray([1, 2], np.int16)], [1, 2j])]",
    "tolerances of each pair": "a = np.array([1, 2, 3, np.inf, np.nan]); b = [1, 2.1, 3.5, np.inf, np.nan]\n"
    "tolerances = (0, [0.0], np.ones((2, 5)), [0, 0, 1, 0, 1])\n"
    "result = [np.isclose(a, b, rtol=[0, 0.1, 0.1, 0, 0], atol=t, equal_nan=e) for t in tolerances for e in (False, True)] + [\n"
    "    np.allclose([1, 2.0], [1, 2.1], atol=[0, 0.2]), np.isclose(np.uint8([1, 2]), np.uint8([2, 4]), atol=[1, 1.5]),\n"
    "    np.isclose([True, False], True, rtol=[0, 1])]",
    "clipped to another type": "a = np.arange(5.0); out = np.zeros(5, int)\n"
    "result = [a.clip(1, 3, out=out, casting='unsafe'), out, a.clip(min=2, max=None), np.clip(a, 1, 3, dtype=np.float32)]",
    "broadcasting what is broadcast": "one = np.broadcast(np.ones((3, 1)), np.ones(4))\n"
    "result = [np.broadcast(one, np.ones((2, 1, 1))).shape, np.broadcast(one, one).numiter,\n"
    "    np.broadcast(np.broadcast(), [1, 2]).shape]",
    "an array asked for": "a = np.arange(6.0).reshape(2, 3)\n"
    "result = [np.add.reduce(a, out=...), np.add.accumulate(a, out=...), np.add.reduceat(a, [0, 1], out=...),\n"
    "    np.negative(a, out=...), np.maximum.reduce(a, axis=1, out=(np.empty(2),))]",
    "the other order of bytes": "data = bytes(range(1, 17))\n"
    "result = [np.frombuffer(data, '>' + t) + np.zeros(1, t) for t in ('i2', 'u4', 'i8', 'f4')] + [\n"
    "    np.frombuffer(data, np.dtype(np.uint32).newbyteorder('>'), count=2) + np.zeros(1, np.uint32),\n"
    "    np.frombuffer(data, np.dtype('>u2'), offset=2)[0] + np.uint16(0)]",
    "bytes swapped": "result = [np.arange(6, dtype=t).reshape(2, 3)[:, ::2].byteswap() for t in ('i2', 'u4', 'i8')] + [\n"
    "    np.array(3, 'u4').byteswap(), np.array([1 + 2j, 3], 'c8').byteswap().view('u4'),\n"
    "    np.array([1, 2], 'i1').byteswap(), np.array([1, 2], 'i2').byteswap(inplace=True)]",
    "limits as text": "result = [repr(np.finfo(np.float32)), repr(np.finfo(np.float64)), repr(np.iinfo(np.uint8))]",
    "maxima of bool": "a = np.array([True, False]); result = [a.max(), a.min(), a.sum(), a.mean(), np.argmax(a), np.diff(a)]",
    "scalars of NumPy in promotion": "result = np.array([250], np.uint8) + host.int64(10)",
    "float64 scalar": "result = np.array([1.5], np.float32) * host.float64(2)",
    "weak numbers": "result = np.array([1.5], np.float32) * 2.0",
    "size 1 is true": "result = bool(np.array([[3]]))",
    "compared with None": "result = np.array([1, 2]) == None",
    "compared with text": "result = np.array([1, 2]) != 'a'",
    "transposes of all ranks": "result = [np.arange(3).T, np.ones((2, 3, 4)).T, np.array(1.0).T]",
    "round": "result = round(np.array([1.256, 2.5])[0], 2)",
    "round without digits": "result = round(np.array([2.5])[0])",
    "strides": "a = np.ones((2, 3), np.int16); result = [a.strides, a.T.strides, a[:, ::2].strides, a.nbytes, a.itemsize]",
    "shape is assigned": "a = np.arange(6); a.shape = 2, 3; result = a",
    "real is assigned": "a = np.zeros(2, complex); a.real = [1, 2]; a.imag[1] = 3; result = a",
    "a dictionary": "counts = {}\nfor v in np.array([3, 1, 3]): counts[int(v)] = counts.get(int(v), 0) + 1\n"
                    "result = sorted(counts.items())",
    "keys are values": "result = sorted(float(v) for v in {*np.array([2.0, 1.0, 2.0])})",
    "formatted": "a = np.array([1.23456]); result = f'{a[0]:.2f} {a.sum():8.3f} {a.mean():e}'",
    "types": "result = [np.float32 == host.float32, np.array([1]).dtype == 'int64', np.zeros(2).dtype == float, "
             "np.ones(2, np.uint8).dtype.kind, np.ones(2, complex).dtype.itemsize]",
    "types of types": "result = [np.issubdtype(np.array([1.0]).dtype, np.floating), np.issubdtype(int, np.integer), "
                      "np.issubdtype(np.uint8, np.signedinteger), isinstance(np.array([1])[0], np.integer)]",
    "scalar types are called": "result = [np.float32(3), np.int64(2.7), np.bool_(0), np.uint8(7) + np.uint8(3)]",
    "functions of numbers": "result = [np.sqrt(2), np.exp(1j), np.maximum(3, 4.5), np.add(1, 2), np.sin([0, 1])]",
    "reductions of lists": "result = [np.sum([1, 2]), np.mean([1, 2]), np.max([[1, 5]], 1), np.any([0, 1]), np.std([1.0, 2.0])]",
    "positions": "a = np.arange(6.0).reshape(2, 3); result = [np.mean(a, 0), np.sum(a, 1), a.max(0), np.cumsum(a, 1), a.argmax(1)]",
    "coordinates in lists": "result = np.histogramdd([[1, 2, 3, 4.0], [2, 1, 1, 4.0]], bins=3)[0]",
    "edges by Stone in a range": "result = np.histogram_bin_edges([0.1, 0.2, 0.7, 0.8, 1.5], 'stone', (0, 1))",
    "median of the middle two": "result = np.nanmedian([[0.3, np.nan, 0.1, 0.7, 1.1], [np.nan, 1, np.nan, 2, 5]], axis=1)",
    "percentiles in a range": "result = np.percentile([1.0, 2.0, 4.0], range(0, 101, 25))",
    "imaginary parts": "result = [np.imag(np.array([1, 2])), np.imag([1.5]), np.imag(2j), np.imag(np.array([True]))]",
    "complex polygons": "result = [np.interp([0, 0.5, 3], [0, 1], [0j, complex(-np.inf, 3)], *ends) for ends in ((), (1j, 2))]",
    "quantiles in a matrix": "result = np.quantile([1.0, 2.0, 4.0], [[0, 0.5], [0.2, 1]])",
    "labels in order": "a = np.arange(6.0).reshape(2, 3); result = np.einsum(a, [30, 2])",
    "out": "a = np.arange(3.0); b = np.empty(3); np.multiply(a, 2, out=b); np.add(b, 1, b); np.cumsum(b, out=b); result = b",
    "where": "a = np.arange(4.0); b = np.zeros(4); np.sqrt(a, out=b, where=a > 1); result = [b, np.sum(a, where=a > 1)]",
    "initial": "result = [np.max([], initial=3), np.sum([1, 2], initial=10), np.prod([2.0], initial=3)]",
    "ddof": "result = [np.var([1.0, 2.0, 4.0], ddof=1), np.std([[1.0, 2.0], [3.0, 7.0]], axis=0, ddof=1, keepdims=True)]",
    "dtype of reductions": "result = [np.sum([1, 2], dtype=float), np.mean(np.ones(2, np.float32), dtype=np.float64)]",
    "ufuncs": "result = [np.add.reduce([1, 2, 3]), np.multiply.accumulate([1, 2, 3]), np.subtract.outer([1, 2], [3, 4]), "
              "np.add.nin, np.add.nout, np.maximum.reduce([[1, 5], [3, 2]], axis=1), np.add.reduceat(np.arange(8), [0, 4, 1, 5])]",
    "at": "a = np.zeros(3); np.add.at(a, [0, 0, 2], [1.0, 2.0, 5.0]); result = a",
    "creation": "result = [np.zeros(3, int), np.ones((2, 2), 'f4'), np.full(2, [1, 2]), np.arange(3, dtype=float), "
                "np.linspace(0, 1, 5), np.linspace(0, 10, 4, dtype=int), np.eye(2, 3, 1), np.arange(1, 2, 0.25)]",
    "arrays of arrays": "a = np.arange(3); result = [np.array([a, a * 2]), np.array([a[0], 1.5]), np.array([[1, 2]], ndmin=3)]",
    "order": "a = np.arange(6).reshape(2, 3); result = [a.ravel('F'), a.reshape((3, 2), order='F'), a.flatten('F')]",
    "joining": "result = [np.concatenate([[1, 2], [3]]), np.stack(([1, 2], [3.5, 4])), np.concatenate(([[1]], [[2]]), 1)]",
    "where of one argument": "result = list(np.where(np.array([0, 3, 0, 5])))",
    "clip": "result = [np.clip([1, 5], 2, 4), np.clip(np.array([1.5]), None, 1), np.array([1, 9]).clip(0.5, 3.5)]",
    "take": "a = np.arange(6).reshape(2, 3); result = [a.take([0, 5]), np.take(a, [1], 1), a.take([7], mode='wrap')]",
    "logic of numbers": "a = np.array([0, 2, 3]); result = [np.logical_and(a, [1, 0, 1]), np.logical_not(a), ~(a > 1)]",
    "bytes": "result = np.arange(3, dtype=np.int16).tobytes()",
    "unpacking": "a, b = np.array([[1, 2], [3, 4]]); x, y = a; result = [a, int(x), y]",
    "in": "result = [2 in np.array([1, 2]), 5 in np.array([[1, 2]])]",
    "integer loops": "a = np.array([3, 4]); result = [list(range(a[0])), [10, 20, 30, 40][a[0]], 'x' * a[1]]",
    "texts into elements": "a = np.zeros((2, 3), int); a[0, 1] = '5'; a[1] = list('123'); a[a == 2] = '7'; result = a",
    "texts and None into floats": "a = np.zeros(4); a[0] = '1.5'; a[1:3] = ['2', 'nan']; a[3] = None; result = a",
    "None among numbers": "result = [np.array([1, None, 3], dtype=float), np.array([None], 'f4')]",
    "divmod": "a = np.array([7, -7]); result = list(divmod(a, 3))",
    "matrix products": "a = np.array([[1, 2], [3, 4]]); result = [a @ [1, 1], a.dot(a), np.dot([1, 2], [3, 4]), np.matmul(a, a)]",
}  # fmt: skip


def run(program: str, np_: object) -> object:
    names = {"np": np_, "host": np}
    exec(program, names)
    return names["result"]


def compared(got: object, expected: object) -> None:
    if isinstance(expected, (list, tuple)):
        assert type(got) is type(expected)
        assert len(got) == len(expected)
        for one, other in zip(got, expected, strict=True):
            compared(one, other)
    elif isinstance(expected, (np.ndarray, np.generic)):
        assert type(got) is vx.VkArray
        assert got.shape == expected.shape
        assert got.dtype == stand_in(expected.dtype)
        np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-6)
    else:
        assert got == expected


@contextlib.contextmanager
def lacking_types_refused():
    """A program may name a type that the device lacks, and is told so then."""
    try:
        yield
    except vx.FeatureError:
        assert len(supported(TYPES)) < len(TYPES)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_numpy_does(name: str) -> None:
    with lacking_types_refused():
        compared(run(PROGRAMS[name], vx), run(PROGRAMS[name], np))


REFUSED = {
    "negative powers of integers": (ValueError, "np.array([2]) ** -1"),
    "negative powers of integers in an array": (ValueError, "float((np.array([2, 3]) ** np.array([1, -1])).sum())"),
    "truth of many": (ValueError, "bool(np.array([1, 2]))"),
    "hash of many": (TypeError, "hash(np.array([1, 2]))"),
    "difference of bools": (TypeError, "np.array([True]) - np.array([True])"),
    "negative of bools": (TypeError, "-np.array([True])"),
    "floats in place": (TypeError, "np.array([1]).__iadd__(np.array([0.5]))"),
    "too large": (OverflowError, "np.array([1], np.uint8).__setitem__(0, 300)"),
    "NaN in integers": (ValueError, "np.array([1]).__setitem__(0, float('nan'))"),
    "elements taken out": (ValueError, "np.array([1, 2]).__delitem__(0)"),
    "a text that is no number": (ValueError, "np.array([1]).__setitem__(0, 'x')"),
    "None in integers": (TypeError, "np.array([1]).__setitem__(0, None)"),
    "ragged": (ValueError, "np.array([[1], [2, 3]])"),
    "an axis out of range": (ValueError, "np.ones(2).sum(axis=1)"),
    "an index of an axis out of range": (IndexError, "np.ones(2).sum(axis=1)"),
    "a progression beyond its type": (OverflowError, "np.arange(300, 302, dtype=np.uint8)"),
    "a list of indices of a number": (ValueError, "np.unravel_index([0], ())"),
    "more elements than numbers": (ValueError, "np.unravel_index(1, (2**32 - 1, 2**31 + 1))"),
    "coordinates of no elements": (
        ValueError,
        "np.ravel_multi_index(np.zeros((3, 1), dtype=int), (2, 1, 0), mode='clip')",
    ),
    "the least of nothing": (ValueError, "np.nanargmin([])"),
    "bools along an axis": (IndexError, "np.take_along_axis(np.array([1, 2]), np.array([True, False]), 0)"),
    "a number as order of bits": (TypeError, "np.packbits([1], bitorder=10)"),
    "complex labels": (TypeError, "np.einsum(np.ones(2), [0j])"),
    "too many dimensions": (ValueError, "np.array([1], ndmax=-1)"),
    "fewer dimensions than the least": (ValueError, "np.array([1], ndmin=3, ndmax=2)"),
    "real parts by force": (TypeError, "np.einsum('i', np.asarray([1j]), out=np.ones(1))"),
    "a larger array for a sum": (ValueError, "np.sum(np.ones((2, 3)), axis=0, out=np.empty((2, 3)))"),
    "an array for places beside their type": (
        TypeError,
        "np.concatenate([np.ones(2)], out=np.ones(2), dtype=np.float64)",
    ),
    "an unknown sort": (ValueError, "np.sort(np.ones(2), kind='x')"),
    "two corrections": (ValueError, "np.std(np.ones(2), ddof=1, correction=1)"),
    "two tolerances": (ValueError, "np.linalg.pinv(np.ones((2, 2)), rcond=1, rtol=1)"),
    "negative weights": (
        ValueError,
        "np.quantile(np.ones(2), 0.5, weights=np.array([1.0, -1]), method='inverted_cdf')",
    ),
    "another order of bytes": (ValueError, "np.dtype(np.int32).newbyteorder('x')"),
    "steps of nothing": (ZeroDivisionError, "np.arange(0, 10, 0)"),
    "another stack beside its type": (TypeError, "np.stack([np.ones(2)], out=np.ones((1, 2)), dtype=np.float64)"),
    "a clip of another kind": (TypeError, "np.arange(5.0).clip(1, 3, out=np.zeros(5, int))"),
    "limits of another kind": (ValueError, "np.finfo(np.int32)"),
    "limits of floats as of integers": (ValueError, "np.iinfo(np.float32)"),
    "an array as index": (TypeError, "range(np.array([1]))"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_numpy_refuses(name: str) -> None:
    error, program = REFUSED[name]
    for np_ in (np, vx):
        with lacking_types_refused(), pytest.raises(error):
            eval(program, {"np": np_})


OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "<", "==", "&", "|", "<<")
TYPES = (
    "bool",
    "int8",
    "uint8",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("first", supported(TYPES))
def test_types_of_operators(first: str, operator: str) -> None:
    """The types of results are NumPy's for arrays, scalars of NumPy's and Python's numbers; so is what is refused."""
    held = supported(TYPES)
    others = [np.ones(2, name) for name in held] + [np.dtype(name).type(1) for name in held] + [True, 1, 1.0, 1j]
    for other, swapped in itertools.product(others, (False, True)):
        outcomes = []
        for np_ in (np, vx):
            own = np_.asarray([1, 2], dtype=first)
            given = np_.asarray(other) if isinstance(other, np.ndarray) else other
            names = {"x": given if swapped else own, "y": own if swapped else given}
            try:
                with np.errstate(all="ignore"):
                    outcomes.append(str(eval(f"x {operator} y", names).dtype))
            except TypeError:
                outcomes.append("refused")
            except vx.FeatureError:
                outcomes.append("a type that the device lacks")
        numpys, ours = outcomes
        if ours == "a type that the device lacks":
            # Two arrays, or NumPy's scalar, of which one type can hold all. Numbers of Python's have the device's default types.
            assert isinstance(other, (np.ndarray, np.generic)), f"{first} {operator} {other!r} refused"
            common = np.result_type(np.dtype(first), other.dtype).name  # also of comparisons
            assert not {numpys, common} <= {*supported((numpys, common))}, f"{first} {operator} {other!r} refused"
        else:
            expected = numpys if numpys == "refused" else str(stand_in(np.dtype(numpys)))
            assert ours == expected, f"{first} {operator} {other!r} (swapped: {swapped})"


def test_numpys_arrays_beside_vkarrays() -> None:
    x, values = vx.asarray([1, 2, 3]), np.array([1, 0, 3])
    for compared in (x == values, values == x, ~(x != values), ~(values != x)):
        assert type(compared) is np.ndarray
        assert compared.tolist() == [True, False, True]
    for call in (lambda: x + values, lambda: values + x, lambda: x < values, lambda: values < x):
        with pytest.raises(TypeError, match="nothing is copied to the device silently"):
            call()


PARTS = (0, 0), (0, 1), (1, 0), (1, 1), (0, np.nan), (1, np.nan), (np.nan, 0), (np.nan, 1), (np.nan, np.nan)
NANS = [complex(*parts) for parts in PARTS]
BESIDE = (
    *(f"n.{name}(n.asarray([250, 3], dtype='u1'), 2)" for name in ("dot", "outer", "inner", "kron", "convolve")),
    "n.dot(2, n.asarray([250, 3], dtype='u1'))", "n.dot(n.asarray([1, 2], dtype='f4'), 2.5)", "n.polyadd([1, 2], 3)",
    "n.polymul([1, 2], 3)", "n.polysub(2, [1, 3])", "n.logical_and(1, 0, dtype=bool)", "n.abs(3 + 4j, dtype=float)",
    "n.linspace(n.asarray(1, dtype='f4'), 2, 3)", "n.linspace(0.5, n.asarray([1, 2]), 3)", "n.signbit(n.sum([], initial=-0.0))",
    "n.clip(3, n.asarray([1, 5]), 4)", "n.clip(2, None, n.asarray([1.5, 9], dtype='f4'))",
    "n.sum(n.asarray([1, 2]), initial=n.float32(2.5))",
    "n.max(n.asarray([1, 2], dtype='u1'), initial=n.int64(5))", "n.prod(n.asarray([1.5], dtype='f2'), initial=n.asarray(2.0))",
    "n.linspace(n.asarray(1, dtype='f4'), n.asarray([3], dtype='u1'), 3)", "n.logspace(0, n.asarray([1, 2], dtype='f4'), 3)",
    "n.linspace(n.asarray([1], dtype='c8'), n.asarray([True]), 2)", "n.geomspace(1, n.asarray([4, 9], dtype='f2'), 3)",
    "n.asarray([1, 0]).choose(n.asarray([1, 2]), n.asarray([3, 4]))", "n.asarray([1, 0]).choose([[1, 2], [3, 4]])",
    "n.asarray(NANS).searchsorted(NANS)", "n.asarray(NANS).searchsorted(n.asarray(NANS), side='right')",
    "n.linspace(n.asarray([1, 2], dtype='f4'), 2j, 3)",
    *(
        f"n.signbit(n.sum(n.asarray({values}, dtype='f4'), initial={initial}, where={where}))"
        for values in ([-0.0], [-0.0, -0.0], [-0.0, 0.0], [1.0, -1.0])
        for initial in ("-0.0", "0.0", "n.float32(-0.0)", "n.asarray(-0.0)")
        for where in (True, False)
    ),
    "n.signbit(n.add.reduce([-0.0], initial=-0.0))",
)  # fmt: skip


@pytest.mark.parametrize("text", BESIDE)
def test_numbers_beside_arrays_in_functions(numpy_types, text: str) -> None:
    """Functions that multiply arrays make arrays of numbers, whose types count; `linspace` takes the type of its arrays."""
    with lacking_types_refused():
        got, expected = (eval(text, {"n": n, "NANS": NANS}) for n in (vx, np))
        dtype = stand_in(expected.dtype)
        assert (got.tolist(), got.dtype, got.shape) == (expected.astype(dtype).tolist(), dtype, expected.shape)


def test_complex_numbers_have_no_real_values() -> None:
    for call in (
        lambda: vx.asarray(vx.asarray([1j]), dtype=float), lambda: vx.full(2, 1j, dtype=float), lambda: vx.mean([1j], dtype=float),
        lambda: vx.ascontiguousarray(vx.asarray([1j]), dtype=int), lambda: vx.nanmean([1j], dtype=int),
    ):  # fmt: skip
        with lacking_types_refused(), pytest.raises(TypeError):
            call()


@pytest.mark.parametrize(
    "name", ["fmean", "geometric_mean", "harmonic_mean", "mean", "median", "mode", "pstdev", "pvariance", "stdev"]
)
@pytest.mark.parametrize("values", [[0.5, 1.25, 2.0, 0.25], [1, 2, 2, 6]])
def test_pythons_statistics_take_arrays(numpy_types, name: str, values: list[float]) -> None:
    function = getattr(statistics, name)
    for given in (vx.asarray(values), list(vx.asarray(values))):
        assert float(function(given)) == pytest.approx(float(function(values)), rel=1e-6)
