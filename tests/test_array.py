"""The array object: text, conversion to Python and NumPy, copies, pickling, and operators."""

from __future__ import annotations

import copy
import operator
import pickle

import numpy as np
import pytest
from reference import host_dtype, supported

import vkarray as vx
from vkarray.core import dtypes
from vkarray.core.dtypes import CATEGORIES

DTYPES = supported(dtypes.DTYPES.values())
INTEGER = vx.asarray(0).dtype  # int64, int32 where the device has no int64


def example(dtype, shape=(2, 3)) -> np.ndarray:
    """0, 1, 2, ... up to 99 and again, as host values (every second one True for bool)."""
    values = np.arange(np.prod(shape)).reshape(shape) % 100
    return (values % 2 if dtype is vx.bool else values).astype(host_dtype(dtype))


# -- text -------------------------------------------------------------------------------------------------------------

REPRESENTATIONS = [
    (lambda: vx.asarray([1.0, 2.5, -3.0]), "array([ 1. ,  2.5, -3. ])"),
    (lambda: vx.asarray([[1, 2], [3, 4]]), "array([[1, 2],\n       [3, 4]])"),
    (lambda: vx.asarray([True, False]), "array([ True, False])"),
    (lambda: vx.asarray([1 + 2j, 0.5j]), "array([1.+2.j , 0.+0.5j])"),
    (lambda: vx.asarray([1, 200], dtype=vx.uint8), "array([  1, 200], dtype=uint8)"),
    (lambda: vx.asarray([0.1], dtype=vx.float16), "array([0.1], dtype=float16)"),
    (lambda: vx.asarray([1.5], dtype=vx.bfloat16), "array([1.5], dtype=bfloat16)"),
    (lambda: vx.asarray([float("nan"), float("inf"), 1e-30]), "array([   nan,    inf, 1.e-30])"),
    (lambda: vx.asarray(1.0), "array(1.)"),
    (lambda: vx.asarray(7), "array(7)"),
    (lambda: vx.asarray(7, dtype=vx.int16), "array(7, dtype=int16)"),
    (lambda: vx.zeros((0,)), "array([], dtype=float32)"),
    (lambda: vx.zeros((2, 0, 3), dtype=vx.int8), "array([], shape=(2, 0, 3), dtype=int8)"),
    (lambda: vx.arange(1000.0)[::-1][:3], "array([999., 998., 997.])"),
    (lambda: vx.arange(1001), "array([   0,    1,    2, ...,  998,  999, 1000], shape=(1001,))"),
    (
        lambda: vx.reshape(vx.arange(3000.0), (30, 100)),
        "array([[0.000e+00, 1.000e+00, 2.000e+00, ..., 9.700e+01, 9.800e+01,\n"
        "        9.900e+01],\n"
        "       [1.000e+02, 1.010e+02, 1.020e+02, ..., 1.970e+02, 1.980e+02,\n"
        "        1.990e+02],\n"
        "       [2.000e+02, 2.010e+02, 2.020e+02, ..., 2.970e+02, 2.980e+02,\n"
        "        2.990e+02],\n"
        "       ...,\n"
        "       [2.700e+03, 2.701e+03, 2.702e+03, ..., 2.797e+03, 2.798e+03,\n"
        "        2.799e+03],\n"
        "       [2.800e+03, 2.801e+03, 2.802e+03, ..., 2.897e+03, 2.898e+03,\n"
        "        2.899e+03],\n"
        "       [2.900e+03, 2.901e+03, 2.902e+03, ..., 2.997e+03, 2.998e+03,\n"
        "        2.999e+03]], shape=(30, 100))",
    ),
    (
        lambda: vx.astype(vx.arange(1200), vx.float16),
        "array([0.000e+00, 1.000e+00, 2.000e+00, ..., 1.197e+03, 1.198e+03,\n"
        "       1.199e+03], shape=(1200,), dtype=float16)",
    ),
    (
        lambda: vx.full((1001,), 123456, dtype=vx.uint32),
        "array([123456, 123456, 123456, ..., 123456, 123456, 123456],\n      shape=(1001,), dtype=uint32)",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("make", "text"), REPRESENTATIONS, ids=range(len(REPRESENTATIONS)))
def test_repr(make, text):
    assert repr(make()) == text


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_repr_names_every_dtype_but_the_defaults(dtype):
    text = repr(vx.ones((2,), dtype=dtype))
    unnamed = dtype in (vx.bool, INTEGER, vx.float32, vx.complex64)
    assert text.endswith("])" if unnamed else f"], dtype={dtype.name})")
    assert repr(vx.ones((0,), dtype=dtype)) == f"array([], dtype={dtype.name})"


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    "shape", [(), (3,), (0, 2), (2, 3), (2, 3, 4), (1, 1500), (40, 50), (7, 7, 7, 7), (12, 12, 12)]
)
def test_str_is_that_of_numpy(dtype, shape):
    values = example(dtype, shape)
    assert str(vx.asarray(values, dtype=dtype)) == str(values)


def test_a_summary_of_a_view():
    values = np.arange(60_000).reshape(200, 300).astype(np.int32)
    x = vx.asarray(values)
    assert str(x.T[::-2, 5:]) == str(values.T[::-2, 5:])


def test_print_options_apply():
    with np.printoptions(precision=2, threshold=4, edgeitems=1):
        assert repr(vx.asarray([1.2345, 2.0, 3.0, 4.0, 5.0])) == "array([1.23, ..., 5.  ], shape=(5,))"


def test_format():
    assert f"{vx.asarray(2.0):.3f} {vx.asarray([1, 2])}" == "2.000 [1 2]"


# -- sequence protocol, conversion to Python ----------------------------------------------------------------------------


def test_len_and_iteration():
    x = vx.reshape(vx.arange(6), (3, 2))
    assert len(x) == 3
    assert [row.tolist() for row in x] == [[0, 1], [2, 3], [4, 5]]
    assert list(vx.zeros((0, 2))) == []


def test_contains():
    x = vx.asarray([[1, 2], [3, 4]])
    assert 3 in x
    assert 5 not in x
    assert vx.asarray(2) in x
    assert 1 not in vx.zeros((0,))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_scalars_of_every_dtype(dtype):
    for value in (0, 1):
        x = vx.asarray(value, dtype=dtype)
        assert bool(x) is bool(value)
        assert complex(x) == complex(value)
        assert x.item() == value
        assert type(x.item()) is type(np.zeros((), host_dtype(dtype)).item())
        if dtype.category != "complex floating":
            assert int(x) == value
            assert float(x) == float(value)
        if dtype in CATEGORIES["integer"]:
            assert operator.index(x) == value
            assert [10, 20][x] == (10, 20)[value]


def test_tolist():
    assert vx.asarray([[1, 2], [3, 4]]).T.tolist() == [[1, 3], [2, 4]]
    assert vx.asarray(5).tolist() == 5
    assert vx.zeros((2, 0)).tolist() == [[], []]


def test_hash():
    with pytest.raises(TypeError, match="has no hash"):
        hash(vx.asarray([1]))
    assert {vx.asarray(3): "three"}[3] == "three"
    assert len({*vx.asarray([1, 2, 2, 1])}) == 2


def test_attributes():
    x = vx.zeros((2, 3, 4), dtype=vx.int16)
    assert (x.ndim, x.size, x.itemsize, x.nbytes, x.strides) == (3, 24, 2, 48, (24, 8, 2))
    assert x.element_strides == (12, 4, 1)
    assert x.mT.shape == (2, 4, 3)
    assert x[0].T.shape == (4, 3)


# -- NumPy --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_numpy_both_ways(dtype):
    values = example(dtype)
    x = vx.asarray(values, dtype=dtype)
    for view, expected in ((x, values), (x.T, values.T), (x[::-1, ::2], values[::-1, ::2]), (x[1, 2], values[1, 2])):
        got = np.asarray(view)
        assert got.dtype == values.dtype
        np.testing.assert_array_equal(got, expected)


def test_array_protocol():
    x = vx.asarray([1.0, 2.0])
    assert np.asarray(x, dtype=np.float64).dtype == np.float64
    assert np.array(x, copy=True).tolist() == [1.0, 2.0]
    assert np.array(x).flags.writeable
    with pytest.raises(ValueError, match="copy=False is not possible"):
        x.__array__(copy=False)
    values = np.asarray(x, copy=False)  # by way of __array_interface__: an array of its own, too
    values[0] = 5
    assert x.tolist() == [1.0, 2.0]


def test_a_numpy_array_is_copied():
    values = np.arange(4, dtype=np.float32)
    x = vx.asarray(values)
    values[:] = 9
    assert x.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("function", [operator.add, operator.mul, operator.lt, operator.matmul, operator.pow])
@pytest.mark.parametrize("swapped", [False, True])
def test_operators_refuse_numpy_arrays(function, swapped):
    pair = (vx.ones((2,)), np.ones(2, np.float32))
    with pytest.raises(TypeError, match=r"vkarray\.asarray"):
        function(*(pair[::-1] if swapped else pair))


def test_in_place_operators_refuse_numpy_arrays():
    x, values = vx.ones((2,)), np.ones(2, np.float32)
    with pytest.raises(TypeError, match=r"vkarray\.asarray"):
        x += values
    with pytest.raises(TypeError, match=r"vkarray\.asarray"):
        values += x


@pytest.mark.parametrize("scalar", [np.float64(2), np.float32(2), np.int8(2), np.bool_(True)], ids=repr)
def test_numpy_scalars_have_their_types(scalar):
    x = vx.asarray([1.0, 4.0])
    promoted = (np.ones(2, np.float32) + scalar).dtype
    expected = promoted if supported([getattr(vx, promoted.name)]) else np.dtype(np.float32)
    for result in (x + scalar, scalar + x):
        assert result.dtype == expected
        assert result.tolist() == [1 + float(scalar), 4 + float(scalar)]


@pytest.mark.parametrize(
    "scalar",
    [host_dtype(dtype).type(2) for dtype in supported([vx.float64, vx.float16, vx.int64, vx.uint8])], ids=repr,
)  # fmt: skip
def test_functions_take_numpys_scalars(scalar):
    x, number = vx.asarray([1.0, 4.0]), scalar.item()
    for call in (
        lambda s: vx.maximum(x, s), lambda s: vx.pow(s, x), lambda s: vx.clip(x, s), lambda s: vx.where(x > s, s, x),
        lambda s: vx.full(3, s, dtype=vx.float32), lambda s: vx.full(3, s), lambda s: vx.full_like(x, s),
        lambda s: vx.arange(s, s * 5, s), lambda s: vx.linspace(s, 9, 3), lambda s: vx.isclose(x, s, rtol=s),
        lambda s: vx.searchsorted(x, s), lambda s: vx.isin(x, s), lambda s: vx.dot(x, s), lambda s: vx.std(x, correction=s / 4),
        lambda s: vx.pad(x, 1, constant_values=s),
    ):  # fmt: skip
        assert call(scalar).tolist() == call(number).tolist()
    if isinstance(number, int):
        assert vx.repeat(x, scalar).tolist() == vx.repeat(x, number).tolist()
        assert vx.diff(x, n=scalar).tolist() == []
        assert vx.bincount(vx.asarray([1]), minlength=scalar).tolist() == [0, 1]
    # Small types do not wrap around on the way.
    assert vx.arange(np.uint8(250), np.uint8(3), np.int8(-120)).tolist() == [250, 130, 10]
    assert vx.linspace(np.uint8(250), np.uint8(3), 2).tolist() == [250, 3]


def test_operators_leave_unknown_types_to_the_other_side():
    class Other:
        def __radd__(self, array):
            return "the other's"

        def __eq__(self, array):
            return "equal"

        __hash__ = None

    assert vx.ones((2,)) + Other() == "the other's"
    assert (vx.ones((2,)) == Other()) == "equal"
    with pytest.raises(TypeError, match="unsupported operand"):
        vx.ones((2,)) + "text"
    assert (vx.ones((2,)) == "text").tolist() == [False, False]
    assert (vx.ones((2,)) != None).tolist() == [True, True]  # noqa: E711 - as NumPy's


# -- copies, pickling, namespace -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_pickling(dtype):
    x = vx.asarray(example(dtype), dtype=dtype)
    for original in (x, x.T[::-1], x[1], x[0, 0], x[:0]):
        restored = pickle.loads(pickle.dumps(original))
        assert restored.dtype is dtype
        assert restored.shape == original.shape
        np.testing.assert_array_equal(np.asarray(restored), np.asarray(original))


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda x: vx.asarray(x, copy=True)])
def test_copies_share_nothing(duplicate):
    x = vx.arange(6)
    y = duplicate(x[::2])
    y[0] = 9
    assert x.tolist() == [0, 1, 2, 3, 4, 5]
    assert y.tolist() == [9, 2, 4]


def test_asarray_of_an_array():
    x = vx.ones((2, 3))
    assert vx.asarray(x) is x
    assert vx.asarray(x, copy=False) is x
    assert vx.asarray(x, dtype=vx.int32).dtype is vx.int32
    with pytest.raises(ValueError, match="copy=False"):
        vx.asarray(x, dtype=vx.int32, copy=False)


def test_dtypes_survive_pickling():
    for dtype in dtypes.DTYPES.values():
        assert pickle.loads(pickle.dumps(dtype)) is dtype
        assert copy.deepcopy(dtype) is dtype


def test_devices_survive_copying_and_pickling():
    device = vx.zeros(1).device
    assert copy.copy(device) is device
    assert copy.deepcopy({"device": device})["device"] is device
    assert pickle.loads(pickle.dumps(device)) is device


def test_array_namespace():
    x = vx.asarray(0)
    assert x.__array_namespace__() is vx
    assert x.__array_namespace__(api_version="2025.12") is vx
    with pytest.raises(ValueError, match=r"got '2019\.01'"):
        x.__array_namespace__(api_version="2019.01")


def test_to_device(device):
    x = vx.asarray(1)
    assert x.to_device(device) is x
    assert x.to_device(device.index) is x
    with pytest.raises(ValueError, match="no streams"):
        x.to_device(device, stream=1)
    with pytest.raises(vx.DeviceError):
        x.to_device("no device of that name")


@pytest.mark.parametrize("narrow", [True, False], ids=["same storage", "8 and 16 bits in 32"])
def test_to_another_device(device, narrow):
    without = "subgroupQuad" if narrow else "storageBuffer8BitAccess,storageBuffer16BitAccess"
    with vx.config(disable=without):
        other = vx.zeros(0, device=device.index).device
    assert other is not device
    for dtype in DTYPES:
        values = example(dtype, (6, 5))
        x = vx.asarray(values, dtype=dtype, device=device)
        for view, expected in (
            (x, values),
            (x.T, values.T),
            (x[1:, ::2], values[1:, ::2]),
            (x[::-1], values[::-1]),
            (x[:0], values[:0]),
        ):
            there = view.to_device(other)
            assert there.device is other
            assert np.array_equal(np.asarray(there), expected), f"{dtype} arrived wrong"
            assert np.array_equal(np.asarray(there.to_device(device)), expected), f"{dtype} came back wrong"


@pytest.mark.usefixtures("told_later")
def test_to_another_device_raises_what_a_deferred_check_finds(device):
    with vx.config(disable="subgroupQuad"):
        other = vx.zeros(0, device=device.index).device
    taken = vx.take(vx.zeros(4), vx.asarray([9]))
    with pytest.raises(IndexError):
        taken.to_device(other)


# -- operators -----------------------------------------------------------------------------------------------------------

INT, REAL, BOOL = [5, -3, 7], [5.5, -3.0, 0.5], [True, False, True]
OPERATORS = {
    operator.add: INT, operator.sub: REAL, operator.mul: INT, operator.truediv: REAL, operator.floordiv: INT,
    operator.mod: INT, operator.pow: REAL, operator.and_: INT, operator.or_: INT, operator.xor: BOOL,
    operator.lshift: INT, operator.rshift: INT, operator.lt: REAL, operator.le: REAL, operator.gt: INT, operator.ge: INT,
    operator.eq: REAL, operator.ne: BOOL,
}  # fmt: skip


@pytest.mark.parametrize("function", OPERATORS, ids=lambda function: function.__name__)
def test_operators(function):
    values = OPERATORS[function]
    x, host = vx.asarray(values), np.asarray(values)
    scalar = True if values is BOOL else 2
    np.testing.assert_allclose(np.asarray(function(x, scalar)), function(host, scalar), rtol=1e-6)
    if function is not operator.pow:
        y, positive = (x, host) if values is BOOL else (abs(x), abs(host))
        np.testing.assert_allclose(np.asarray(function(scalar, y)), function(scalar, positive), rtol=1e-6)
    in_place = getattr(operator, "i" + function.__name__.strip("_"), None)
    if in_place:
        target = vx.asarray(values)
        assert in_place(target, scalar) is target
        np.testing.assert_allclose(np.asarray(target), function(host, scalar), rtol=1e-6)


def test_unary_operators_and_divmod():
    x = vx.asarray([5, -3])
    assert (-x).tolist() == [-5, 3]
    assert (+x).tolist() == [5, -3]
    assert abs(x).tolist() == [5, 3]
    assert (~x).tolist() == [-6, 2]
    assert [part.tolist() for part in divmod(x, 2)] == [[2, -2], [1, 1]]
    assert [part.tolist() for part in divmod(7, abs(x))] == [[1, 2], [2, 1]]


def test_matmul_operators():
    values = np.arange(4.0, dtype=np.float32).reshape(2, 2)
    x = vx.asarray(values)
    np.testing.assert_array_equal(np.asarray(x @ x.T), values @ values.T)
    y = vx.asarray(values)
    y @= x
    np.testing.assert_array_equal(np.asarray(y), values @ values)


# Views of one array, as the target and the operand of an in-place operator: all of them overlap.
OVERLAPS = {
    "shifted": (np.s_[1:], np.s_[:-1]),
    "shifted back": (np.s_[:-1], np.s_[1:]),
    "reversed": (np.s_[:], np.s_[::-1]),
    "strided": (np.s_[:500_000], np.s_[::2]),
    "interleaved": (np.s_[::2], np.s_[1::2]),
    "the same": (np.s_[5:], np.s_[5:]),
    "an element": (np.s_[:], np.s_[3]),
    # One element is in both; what comes first writes it, what comes last reads it.
    "touching from below": (np.s_[500_000:], np.s_[1:500_001]),
    "touching from above": (np.s_[499_999::-1], np.s_[999_998:499_998:-1]),
}


@pytest.mark.parametrize("name", OVERLAPS)
def test_in_place_operators_of_overlapping_views(name):
    target, operand = OVERLAPS[name]
    values = np.arange(1_000_000, dtype=np.int32)
    x = vx.asarray(values)
    view = x[target]
    view += x[operand]
    values[target] += values[operand].copy()
    np.testing.assert_array_equal(np.asarray(x), values)


def test_in_place_operators_of_transposed_views():
    values = np.arange(9, dtype=np.int32).reshape(3, 3)
    x = vx.asarray(values)
    x += x.T
    np.testing.assert_array_equal(np.asarray(x), values + values.T)


@pytest.mark.parametrize("part", ["real", "imag"])
def test_parts_of_complex_numbers_overlap_them(part):
    # Offsets and strides of the parts count real numbers, those of the whole complex ones.
    count = 1 << 16
    half = count // 2
    values = (np.arange(count) + 1j * np.arange(count, 2 * count)).astype(np.complex64)
    x = vx.asarray(values)
    x[half:] = getattr(x, part)[half:][::-1]
    values[half:] = getattr(values, part)[half:][::-1].copy()
    np.testing.assert_array_equal(np.asarray(x), values)
    x[:half] = getattr(x, part)[:half]
    values[:half] = getattr(values, part)[:half].copy()
    np.testing.assert_array_equal(np.asarray(x), values)


def test_in_place_operators_broadcast_the_operand():
    x = vx.zeros((2, 3))
    x += vx.asarray([1.0, 2.0, 3.0])
    x[:, 1:] *= 10
    assert x.tolist() == [[1, 20, 30], [1, 20, 30]]


def test_in_place_operators_keep_dtype_and_shape():
    x = vx.ones((3,), dtype=vx.int32)
    with pytest.raises(TypeError, match="does not fit into int32"):
        x += vx.ones((3,))
    with pytest.raises(TypeError, match="does not fit into int32"):
        x /= 2
    with pytest.raises(ValueError, match="does not broadcast into"):
        x += vx.ones((2, 3), dtype=vx.int32)
    target = vx.broadcast_to(vx.ones((1,)), (3,))
    with pytest.raises(ValueError, match="share memory"):
        target += 1
