"""Arrays as text and in files, and questions about arrays, compared with NumPy's."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from reference import supported

import vkarray as vx

pytestmark = [
    pytest.mark.usefixtures("numpy_types"),
    pytest.mark.skipif(
        not supported([vx.float64]), reason="the device has no shaderFloat64, so printed types are not NumPy's"
    ),
]

TEXTS = {
    "repr": lambda n, x: n.array_repr(x),
    "repr with options": lambda n, x: n.array_repr(x, max_line_width=20, precision=2, suppress_small=True),
    "str": lambda n, x: n.array_str(x, precision=3),
    "array2string": lambda n, x: n.array2string(x, separator=", ", prefix=">", threshold=5),
    "repr with formatter": lambda n, x: formatted(n, x),
    "printoptions": lambda n, x: options_of(n, x),
}


def options_of(n: Any, x: Any) -> str:
    before = n.get_printoptions()
    n.set_printoptions(precision=1)
    text = str(x)
    n.set_printoptions(**before)
    with n.printoptions(precision=2, sign="+"):
        return text + repr(x) + str(n.get_printoptions()["precision"])


def formatted(n: Any, x: Any) -> str:
    with n.printoptions(formatter={"all": lambda one: f"<{one}>"}):
        return repr(x) + n.array_repr(x) + n.array_repr(x, precision=3) + (n.array_str(x) if x.ndim else "")


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(
    "values", [[], [1.5, -2.25, 1e-9], [[1, 2], [3, 4]], [True, False], 1 / 3, [1j, 2.5 - 3j]], ids=str
)
def test_text_of_arrays(text: str, values: Any) -> None:
    assert TEXTS[text](vx, vx.asarray(values)) == TEXTS[text](np, np.asarray(values))


@pytest.mark.filterwarnings("ignore:numpy.typename is deprecated:DeprecationWarning")
@pytest.mark.parametrize(
    "call",
    [
        lambda n: n.binary_repr(12), lambda n: n.binary_repr(-3, width=5), lambda n: n.binary_repr(n.asarray([7])[0], 8),
        lambda n: n.base_repr(255, 16), lambda n: n.base_repr(n.asarray(6), 7, 3),
        lambda n: n.format_float_positional(n.asarray([0.1])[0], precision=3, unique=False),
        lambda n: n.format_float_positional(1e-3), lambda n: n.format_float_scientific(n.asarray(1234.5), exp_digits=4),
        lambda n: n.typename("d"), lambda n: n.mintypecode(["d", "f", "S"]), lambda n: n.mintypecode("fF"),
        lambda n: n.mintypecode("df", "iF", "F"), lambda n: n.mintypecode("dF"), lambda n: n.mintypecode([n.asarray(1.0)]),
        lambda n: n.iterable([1]), lambda n: n.iterable(n.zeros(2)), lambda n: n.iterable(3),
        lambda n: n.isfortran(n.ones((2, 3)).T), lambda n: n.isfortran(n.ones((2, 3))), lambda n: n.isfortran(n.ones(3)),
        lambda n: n.size(n.ones((2, 3, 4)), (0, 2)), lambda n: n.size(n.ones((2, 3)), 1), lambda n: n.size([1, 2]),
        lambda n: n.ones((4, 5))[range(1, 3)].shape, lambda n: n.ones((4, 5))[:, range(3)].shape,
    ],
)  # fmt: skip
def test_answers(call: Any) -> None:
    assert call(vx) == call(np)


@pytest.mark.parametrize("parts", [
    (np.s_[:, ::2], np.s_[:, 1::2]), (np.s_[:], np.s_[1]), (np.s_[0], np.s_[1]), (np.s_[:2], np.s_[1:]), (np.s_[:0], np.s_[:]),
    (np.s_[::-1], np.s_[2:]), (np.s_[:, :2], np.s_[:, 2:]),
])  # fmt: skip
def test_shared_memory(parts: Any) -> None:
    for name in ("shares_memory", "may_share_memory"):
        theirs, ours = (n.arange(12).reshape((3, 4)) for n in (np, vx))
        expected = getattr(np, name)(theirs[parts[0]], theirs[parts[1]])
        for n in (vx, np):  # NumPy's function asks vkarray's
            assert getattr(n, name)(ours[parts[0]], ours[parts[1]]) == expected
        assert not getattr(vx, name)(ours, vx.arange(12))
        assert not getattr(vx, name)(ours, np.arange(12))


def test_tables_of_text(tmp_path) -> None:
    values = np.arange(6.0).reshape(2, 3) / 4
    vx.savetxt(tmp_path / "x.txt", vx.asarray(values), fmt="%.3f", delimiter=",", header="a,b,c")
    np.savetxt(tmp_path / "y.txt", values, fmt="%.3f", delimiter=",", header="a,b,c")
    assert (tmp_path / "x.txt").read_bytes() == (tmp_path / "y.txt").read_bytes()
    for call in (
        lambda n: n.loadtxt(tmp_path / "x.txt", delimiter=","),
        lambda n: n.loadtxt(tmp_path / "x.txt", dtype=n.float32, delimiter=",", usecols=(0, 2)),
        lambda n: n.loadtxt(tmp_path / "x.txt", delimiter=",", unpack=True),
        lambda n: n.genfromtxt(io.StringIO("1,,3\n4,5,6"), delimiter=","),
        lambda n: n.genfromtxt(io.StringIO("1 2\n4 5"), dtype=int),
    ):
        same(call(vx), call(np))
    with pytest.raises(ValueError, match="could not convert"):
        vx.loadtxt(io.StringIO("one two"))


def test_files_of_bytes(tmp_path) -> None:
    np.arange(5.0).tofile(tmp_path / "x.bin")
    for call in (
        lambda n: n.fromfile(tmp_path / "x.bin"), lambda n: n.fromfile(tmp_path / "x.bin", n.uint8, 9, offset=3),
        lambda n: n.fromfile(tmp_path / "x.bin", dtype="float32"),
    ):  # fmt: skip
        same(call(vx), call(np))
    vx.savez_compressed(tmp_path / "x.npz", vx.arange(3), b=[1.5])
    for n in (vx, np):
        with n.load(tmp_path / "x.npz") as found:
            assert (found.files, found["arr_0"].tolist(), found["b"].tolist()) == (["arr_0", "b"], [0, 1, 2], [1.5])
    vx.save(tmp_path / "x.npy", [[1, 2]])
    same(vx.load(tmp_path / "x.npy", allow_pickle=True), np.array([[1, 2]]))


def test_copies() -> None:
    same(vx.copy([1, 2.5]), np.copy([1, 2.5]))
    x = vx.arange(3)
    y = vx.copy(x)
    y[0] = 9
    assert x.tolist() == [0, 1, 2]
    same(vx.identity(3), np.identity(3))
    same(vx.identity(2, dtype=int), np.identity(2, dtype=int))
    same(vx.asarray_chkfinite([1, 2], dtype=float), np.asarray_chkfinite([1, 2], dtype=float))
    with pytest.raises(ValueError, match="must not contain infs or NaNs"):
        vx.asarray_chkfinite([1.0, vx.nan])


def test_broadcast() -> None:
    theirs, ours = (n.broadcast(n.asarray([1, 2, 3]), n.asarray([[4], [5]])) for n in (np, vx))
    for name in ("shape", "nd", "ndim", "size", "numiter", "index"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert [tuple(map(int, pair)) for pair in ours] == [tuple(map(int, pair)) for pair in theirs]
    assert ours.index == theirs.index
    ours.reset()
    assert ours.index == 0
    assert [int(value) for value in ours.iters[1]] == [4, 4, 4, 5, 5, 5]
    with pytest.raises(ValueError, match="broadcast"):
        vx.broadcast([1, 2], [1, 2, 3])


def same(got: Any, expected: np.ndarray) -> None:
    assert got.dtype.name == expected.dtype.name
    np.testing.assert_array_equal(np.asarray(got), expected, strict=True)


def test_common_type() -> None:
    for types in (["int32"], ["float32", "float16"], ["float32", "int8"], ["complex64", "float64"], ["float16"], []):
        expected = np.dtype(np.common_type(*(np.ones(2, one) for one in types)))
        assert vx.common_type(*(vx.ones(2, dtype=one) for one in types)) == expected.name
    with pytest.raises(TypeError, match=r"^common_type: expected arrays of numbers, got one of bool\.$"):
        vx.common_type(vx.asarray([True]))


def test_classes_of_the_namespace() -> None:
    assert isinstance(vx.add, vx.ufunc)
    assert isinstance(vx.ones(2).flat, vx.flatiter)


def test_checks_of_results() -> None:
    x = vx.asarray([1.0, 2.0])
    vx.testing.assert_allclose(x, [1, 2 + 1e-9])
    vx.testing.assert_equal({"a": [x, 1]}, {"a": [np.array([1.0, 2.0]), 1]})
    vx.testing.assert_array_less(x, x + 1)
    with pytest.raises(AssertionError, match="Mismatched elements"):
        vx.testing.assert_array_equal(x, x + 1)
    with vx.testing.assert_raises(ValueError):
        x.reshape(3)
    vx.testing.assert_raises(TypeError, vx.add, x)
    vx.testing.assert_raises(ValueError, vx.reshape, x, (7, 11))
    assert type(vx.testing.assert_no_warnings(vx.add, x, 1)) is vx.ndarray


@pytest.mark.parametrize("call", [
    lambda n, p: n.polyadd(p, [1, 2]), lambda n, p: n.polysub([1, 2], p), lambda n, p: n.polymul(p, p),
    lambda n, p: n.polyder(p, 2), lambda n, p: n.polyint(p, k=3), lambda n, p: n.polydiv(p, [1, 1])[1],
    lambda n, p: n.polyval([3, 0, 1], p),
])  # fmt: skip
def test_functions_of_poly1d(call: Any) -> None:
    got, expected = (call(n, n.poly1d([1, 2, 3])) for n in (vx, np))
    assert isinstance(got, vx.poly1d)
    np.testing.assert_allclose(np.asarray(got.coeffs), expected.coeffs)


def test_value_of_a_poly1d() -> None:
    assert int(vx.polyval(vx.poly1d([3, 0, 1]), 5)) == 76


LIMITS = [
    "bits", "eps", "epsneg", "max", "min", "tiny", "smallest_normal", "smallest_subnormal", "precision", "nmant", "nexp", "iexp",
    "minexp", "maxexp", "machep", "negep",
]  # fmt: skip


def test_limits_of_types() -> None:
    for name in ("float16", "float32", "float64", "complex64"):
        got, expected = vx.finfo(name), np.finfo(name)
        for limit in LIMITS:
            assert getattr(got, limit) == getattr(expected, limit), (name, limit)
        assert got.resolution == pytest.approx(float(expected.resolution), rel=1e-2)


def test_what_stands_for_types() -> None:
    assert vx.dtype("n") == vx.int64
    assert vx.dtype("f4", metadata={"unit": "m"}) == vx.float32
    assert vx.dtype("D").alignment == np.dtype("D").alignment
    for letter in "".join(vx.typecodes.values()):
        if letter != "c":  # of strings of one letter
            assert vx.dtype(letter).char == letter
    same(vx.arange(3, dtype=complex), np.arange(3, dtype=complex))


def test_arguments_by_name() -> None:
    x = vx.asarray([1.0, 2.0, 4.0])
    assert float(vx.quantile(x, q=0.5)) == float(vx.percentile(x, q=50)) == 2
    assert vx.tile(x, reps=2).shape == (6,)
    assert vx.ravel(vx.ones((2, 3)).T, order="f").shape == (6,)
    assert vx.einsum(vx.ones((2, 3)), range(2), vx.ones(3), np.array([1])).tolist() == [3, 3]
    same(vx.concatenate([x], out=vx.zeros(3, dtype=int), casting="unsafe"), np.array([1, 2, 4]))
    with pytest.raises(TypeError, match="casting='no'"):
        vx.concatenate([x], out=vx.zeros(3, dtype=complex), casting="no")
    with pytest.raises(ValueError, match=r"^partition: kth of 7 is out of bounds"):
        x.partition(7)
    with pytest.raises(TypeError, match=r"^stack: expected a vkarray array, got numpy\.ndarray"):
        vx.stack([np.ones(2)])
