"""Creation functions against NumPy, on every type."""

from __future__ import annotations

import array as python_array
import fractions
import functools
import itertools
import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from reference import flushes_subnormals, host_dtype, supported

import vkarray as vx
from vkarray.core import dtypes
from vkarray.core.dtypes import CATEGORIES
from vkarray.ops.creation import from_shape

DTYPES = supported(dtypes.DTYPES.values())
INTEGERS = [dtype for dtype in DTYPES if dtype in CATEGORIES["integer"]]
FLOATS = [dtype for dtype in DTYPES if dtype in CATEGORIES["floating-point"]]
INTEGER = vx.asarray(0).dtype
SHAPES = [(), (1,), (3,), (0,), (2, 3), (2, 0, 3), (1000, 77)]
run = settings(max_examples=60, deadline=None)


def same(got: vx.VkArray, expected: np.ndarray, dtype) -> None:
    assert got.dtype is dtype
    assert got.shape == expected.shape
    np.testing.assert_array_equal(np.asarray(got), expected.astype(host_dtype(dtype)))


# -- asarray ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (True, vx.bool), (3, INTEGER), (3.5, vx.float32), (1j, vx.complex64), ([1, 2], INTEGER), ([1, 2.5], vx.float32),
        ([True, 2], INTEGER), ([[1j], [2]], vx.complex64), ([], vx.float32), ([[], []], vx.float32), ((), vx.float32),
        (((1, 2), [3, 4]), INTEGER),
    ],
    ids=str,
)  # fmt: skip
def test_default_dtypes(value, dtype):
    same(vx.asarray(value), np.asarray(value), dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dtypes_asked_for(dtype):
    for value in (1, True, [0, 1], [[True], [False]]):
        same(vx.asarray(value, dtype=dtype), np.asarray(value), dtype)
    same(vx.asarray(np.array([0, 1], np.uint8), dtype=dtype), np.array([0, 1]), dtype)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integer_limits(dtype):
    info = np.iinfo(dtype.name)
    same(vx.asarray([info.min, info.max], dtype=dtype), np.array([info.min, info.max], dtype.name), dtype)
    for value in (info.min - 1, info.max + 1):
        for make in (
            lambda value: vx.asarray(value, dtype=dtype), lambda value: vx.asarray([0, value], dtype=dtype),
            lambda value: vx.full((2,), value, dtype=dtype), lambda value: vx.arange(value, value + 1, dtype=dtype),
        ):  # fmt: skip
            with pytest.raises(OverflowError):
                make(value)


@pytest.mark.parametrize("values", [[2**63, -1], [-(2**63) - 1], [2**64], [[1], [2**64]], [2**63, -(2**63)]])
def test_whole_numbers_that_no_type_holds_are_not_rounded(values):
    with pytest.raises(OverflowError, match=r"^asarray: the Python integer -?\d+ does not fit any integer dtype"):
        vx.asarray(values)
    assert vx.asarray([2.0**64, -1]).tolist() == [2.0**64, -1]


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_floating_point_values_of_integer_arrays(dtype):
    """The rule of astype: truncated, limited to the range, NaN as 0."""
    info = np.iinfo(dtype.name)
    values = [1.9, -1.9, 1e30, -1e30, float("inf"), float("-inf"), float("nan"), float(info.max), float(info.min)]
    expected = [1, max(-1, info.min), info.max, info.min, info.max, info.min, 0, info.max, info.min]
    assert vx.asarray(values, dtype=dtype).tolist() == expected
    assert vx.asarray(np.array(values), dtype=dtype).tolist() == expected
    assert vx.asarray(5.5, dtype=dtype).tolist() == 5


def test_complex_values_of_real_arrays():
    for value in (1j, [1j, 2], np.array([1j])):
        with pytest.raises(TypeError, match="asarray: complex128 has no float32 value"):
            vx.asarray(value, dtype=vx.float32)
    assert vx.asarray([0j, 1j], dtype=vx.bool).tolist() == [False, True]


def test_lists_of_arrays_and_scalars():
    x = vx.asarray([1, 2], dtype=vx.int16)
    assert vx.asarray([x, x + 1]).tolist() == [[1, 2], [2, 3]]
    assert vx.asarray([x, x]).dtype is vx.int16
    assert vx.asarray([x[0], 5], dtype=vx.int32).tolist() == [1, 5]
    assert vx.asarray([np.float32(1.5), np.float32(2)]).tolist() == [1.5, 2.0]


def test_buffers():
    assert vx.asarray(python_array.array("f", [1.5, 2.5])).tolist() == [1.5, 2.5]
    assert vx.asarray(memoryview(b"\1\2")).tolist() == [1, 2]
    assert vx.asarray(memoryview(b"\1\2")).dtype is vx.uint8
    assert vx.asarray(np.float32(2.5)).tolist() == 2.5


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("key", [np.s_[:], np.s_[::-1, ::2], np.s_[1], np.s_[:0], np.s_[None, ..., 1]], ids=str)
def test_numpy_arrays_of_any_layout(order, key):
    values = np.asarray(np.arange(24, dtype=np.int16).reshape(4, 6), order=order)[key]
    same(vx.asarray(values), values, vx.int16)


def test_big_endian_numpy_arrays():
    same(vx.asarray(np.array([1, 2, 300], ">i2")), np.array([1, 2, 300], np.int16), vx.int16)


def test_rounding_of_python_numbers_to_small_types():
    for value in (0.1, 65504.0, 65519.0, 65520.0, 1e30, 1e-8, -0.0, float("nan"), float("-inf")):
        with np.errstate(over="ignore"):
            expected = np.float16(value)
        for got in (vx.asarray(value, dtype=vx.float16), vx.full((), value, dtype=vx.float16)):
            np.testing.assert_array_equal(np.asarray(got).view(np.uint16), expected.view(np.uint16))
    assert vx.asarray(1.00390625, dtype=vx.bfloat16).tolist() == 1.0  # halfway, to even
    assert vx.asarray(1.01171875, dtype=vx.bfloat16).tolist() == 1.015625
    assert vx.full((), 3.4e38, dtype=vx.bfloat16).tolist() == float("inf")


# -- constant arrays -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_constant_arrays(dtype, shape):
    same(vx.zeros(shape, dtype=dtype), np.zeros(shape), dtype)
    same(vx.ones(shape, dtype=dtype), np.ones(shape), dtype)
    value = True if dtype is vx.bool else 7
    same(vx.full(shape, value, dtype=dtype), np.full(shape, value), dtype)
    assert vx.empty(shape, dtype=dtype).shape == shape
    like = vx.zeros(shape, dtype=dtype)
    for function, expected in ((vx.zeros_like, 0), (vx.ones_like, 1)):
        same(function(like), np.full(shape, expected), dtype)
        same(function(like, dtype=vx.int32), np.full(shape, expected), vx.int32)
    same(vx.full_like(like, value), np.full(shape, value), dtype)
    assert vx.empty_like(like).dtype is dtype


def test_shapes_and_defaults():
    assert vx.zeros(3).shape == (3,)
    assert vx.zeros(np.int64(3)).shape == (3,)
    assert vx.zeros([2, 3]).shape == (2, 3)
    assert [vx.zeros(1).dtype, vx.ones(1).dtype, vx.empty(1).dtype, vx.eye(1).dtype] == [vx.float32] * 4
    assert [vx.full(1, value).dtype for value in (True, 1, 1.0, 1j)] == [vx.bool, INTEGER, vx.float32, vx.complex64]
    assert vx.full((2,), vx.asarray(4)).tolist() == [4, 4]


def test_constants_are_not_shared():
    first, second = vx.zeros((2,)), vx.zeros((2,))
    first += 1
    assert second.tolist() == [0, 0]
    assert (first - 1).tolist() == [0, 0]


# -- ranges ---------------------------------------------------------------------------------------------------------------


@run
@given(st.integers(-100, 100), st.integers(-100, 100), st.integers(-20, 20).filter(bool))
def test_arange_of_integers(start, stop, step):
    for dtype in INTEGERS:
        if dtype.category == "signed integer":
            same(vx.arange(start, stop, step, dtype=dtype), np.arange(start, stop, step), dtype)
    same(vx.arange(start, stop, step), np.arange(start, stop, step), INTEGER)


@run
@given(st.integers(-50, 50), st.integers(-50, 50), st.sampled_from([0.25, 0.5, -0.5, 1.5, -3.0]))
def test_arange_of_floats(start, stop, step):
    # These steps are exact, so NumPy's start + i * step agrees in every bit.
    same(vx.arange(start, stop, step), np.arange(start, stop, step), vx.float32)


def test_arange_defaults_and_edges():
    assert vx.arange(3).tolist() == [0, 1, 2]
    assert vx.arange(3.0).dtype is vx.float32
    assert vx.arange(5, 5).shape == (0,)
    assert vx.arange(255, -1, -1, dtype=vx.uint8)[-1] == 0
    assert vx.arange(2**31 - 3, 2**31 - 1, dtype=vx.int32).tolist() == [2**31 - 3, 2**31 - 2]
    for dtype in supported([vx.uint64]):
        assert vx.arange(2**64 - 2, 2**64, dtype=dtype).tolist() == [2**64 - 2, 2**64 - 1]
    np.testing.assert_array_equal(np.asarray(vx.arange(3_000_001, dtype=vx.int32)), np.arange(3_000_001))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("endpoint", [True, False])
def test_linspace(dtype, endpoint):
    eps = vx.finfo(dtype).eps
    for start, stop, num in ((0, 1, 11), (-3, 5, 1), (2, 2, 4), (1, -1, 1000), (5, 6, 0), (0, 1, 2)):
        got = vx.linspace(start, stop, num, dtype=dtype, endpoint=endpoint)
        expected = np.linspace(start, stop, num, endpoint=endpoint)
        assert got.dtype is dtype
        np.testing.assert_allclose(np.asarray(got), expected, rtol=2 * eps, atol=2 * eps * max(abs(start), abs(stop)))
        if endpoint and num > 1:
            assert got[-1] == stop


@pytest.mark.parametrize("dtype", [dtype for dtype in FLOATS if dtype in CATEGORIES["real floating"]], ids=str)
def test_linspace_whose_bounds_are_far_apart(dtype):
    largest = vx.finfo(dtype).max
    values = np.asarray(vx.linspace(-largest, largest, 5, dtype=dtype)).astype(np.float64)
    expected = np.array([-1, -0.5, 0, 0.5, 1]) * largest
    np.testing.assert_allclose(values, expected, rtol=2 * vx.finfo(dtype).eps, atol=0)
    assert values[2] == 0
    np.testing.assert_array_equal(np.asarray(vx.linspace(1, math.inf, 3, dtype=dtype))[1:], [np.inf, np.inf])


@pytest.mark.parametrize("dtype", [dtype for dtype in FLOATS if dtype in CATEGORIES["real floating"]], ids=str)
def test_linspace_between_arrays_whose_distance_has_no_such_part(dtype):
    tiny = vx.finfo(dtype).smallest_normal * vx.finfo(dtype).eps
    if flushes_subnormals(dtype) and dtype is not vx.float16:
        pytest.skip("the driver turns subnormal numbers into zero")
    for first, last, num in ((0, 5, 11), (-6, 3, 20), (7, 7, 3)):
        bounds = (vx.asarray(np.array([one * tiny]).astype(host_dtype(dtype)), dtype=dtype) for one in (first, last))
        got = np.asarray(vx.linspace(*bounds, num))[:, 0].astype(np.float64) / tiny
        assert np.abs(got - np.linspace(first, last, num)).max() <= 1
        assert (got[0], got[-1]) == (first, last)


@pytest.mark.parametrize("name", ["linspace", "logspace", "geomspace"])
@pytest.mark.parametrize("bounds", [([0, 1], [2, 3]), ([0, 1], 5), (2, [3, 4]), ([1, 2], 2.5)], ids=str)
def test_integer_bounds_lead_to_the_default_floating_type(name, bounds):
    for default in supported((vx.float32, vx.float64)):
        with vx.config(default_float=default.name):
            start, stop = (vx.asarray(one) + 1 if type(one) is list else one for one in bounds)
            assert getattr(vx, name)(start, stop, 3).dtype is default


def test_linspace_of_complex_numbers():
    got = vx.linspace(1j, 2 - 1j, 5)
    assert got.dtype is vx.complex64
    np.testing.assert_allclose(np.asarray(got), np.linspace(1j, 2 - 1j, 5), rtol=1e-6)
    far = np.asarray(vx.linspace(-3e38 + 1j, 3e38, 5))
    np.testing.assert_allclose(far, np.linspace(-3e38 + 1j, 3e38, 5), rtol=1e-6)


# -- matrices and grids ----------------------------------------------------------------------------------------------------


@run
@given(st.integers(0, 6), st.integers(0, 6), st.integers(-8, 8), st.sampled_from(DTYPES))
def test_eye(rows, columns, k, dtype):
    same(vx.eye(rows, columns, k=k, dtype=dtype), np.eye(rows, columns, k), dtype)


@run
@given(st.data())
def test_triangles(data):
    dtype = data.draw(st.sampled_from(DTYPES))
    shape = (
        *data.draw(st.lists(st.integers(0, 3), max_size=2)),
        data.draw(st.integers(0, 5)),
        data.draw(st.integers(0, 5)),
    )
    k = data.draw(st.integers(-7, 7))
    values = np.arange(1, np.prod(shape) + 1).reshape(shape).astype(host_dtype(dtype))
    x = vx.asarray(values, dtype=dtype)
    for function, expected in ((vx.tril, np.tril), (vx.triu, np.triu)):
        same(function(x, k=k), expected(values, k), dtype)
        same(function(x.mT, k=k), expected(values.swapaxes(-1, -2), k), dtype)


def test_triangles_clear_infinities():
    x = vx.full((3, 3), float("inf"))
    assert vx.tril(x)[0].tolist() == [float("inf"), 0, 0]
    assert vx.triu(vx.full((2, 2), float("nan")), k=1)[:, 0].tolist() == [0, 0]


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("lengths", [(3,), (3, 4), (2, 3, 4), (3, 0), (1, 1)], ids=str)
def test_meshgrid(indexing, lengths):
    values = [np.arange(length, dtype=np.int32) + 10 * place for place, length in enumerate(lengths)]
    got = vx.meshgrid(*[vx.asarray(one) for one in values], indexing=indexing)
    expected = np.meshgrid(*values, indexing=indexing)
    assert len(got) == len(expected)
    for one, other in zip(got, expected, strict=True):
        same(one, other, vx.int32)


def test_subnormal_constants_survive():
    for dtype in supported([vx.float16, vx.bfloat16, vx.float32, vx.float64]):
        tiny = vx.finfo(dtype).smallest_normal / 2
        assert vx.full((2,), tiny, dtype=dtype).tolist() == [tiny, tiny]
        assert vx.asarray([tiny], dtype=dtype).tolist() == [tiny]


def test_integers_of_other_types():
    ones = vx.ones((3, 3))
    for one in (vx.asarray(1), np.int64(1), np.array(1)):
        assert vx.eye(3, k=one).tolist() == np.eye(3, k=1).tolist()
        assert vx.tril(ones, k=one).tolist() == np.tril(np.ones((3, 3)), 1).tolist()
        assert vx.triu(ones, k=one).tolist() == np.triu(np.ones((3, 3)), 1).tolist()
        assert vx.linspace(2, 3, one).tolist() == [2]
        assert type(vx.linspace(0, 1, one).shape[0]) is int
    # A count that is more than one workgroup holds.
    assert vx.linspace(0, 1, np.int64(70_000)).shape == (70_000,)
    for refused in (1.5, "1", vx.asarray(1.0), np.array([1, 2])):
        for call in (lambda k: vx.eye(3, k=k), lambda k: vx.tril(ones, k=k), lambda k: vx.triu(ones, k=k)):
            with pytest.raises(TypeError, match="expected an integer as k"):
                call(refused)
        with pytest.raises(TypeError, match="expected an integer as num"):
            vx.linspace(0, 1, refused)


@pytest.mark.parametrize("name", ["empty_like", "zeros_like", "ones_like", "full_like"])
def test_the_device_of_arrays_like_another(name, monkeypatch):
    function = functools.partial(vx.full_like, fill_value=1) if name == "full_like" else getattr(vx, name)
    x = vx.ones((2,))
    asked = []
    monkeypatch.setattr(from_shape, "as_device", lambda device: asked.append(device) or x.device)
    assert function(x, device=0).device is x.device  # index 0 is a device like any other
    assert function(x).device is x.device
    assert asked == [0, x.device]
    for wrong in (np.ones(2), None, "x"):
        with pytest.raises(TypeError, match=f"^{name}: expected a vkarray array, got"):
            function(wrong)


@pytest.mark.parametrize("dtype", supported([vx.float32, vx.float64]))
@pytest.mark.parametrize("endpoint", [True, False])
def test_linspace_between_subnormal_numbers(dtype, endpoint: bool) -> None:
    smallest = float(np.finfo(host_dtype(dtype)).smallest_subnormal)
    for start, stop, num in itertools.product((0, -3, 7), (5, 100, 2**20), (2, 10, 33)):
        x = vx.linspace(start * smallest, stop * smallest, num, endpoint=endpoint, dtype=dtype)
        steps = num - 1 if endpoint else num
        exact = [round(fractions.Fraction(stop - start, steps) * place + start) for place in range(num)]
        got = np.asarray(x).astype(np.float64) / smallest
        assert np.abs(got - exact).max() <= 1
        assert (got == exact).mean() > 0.9


OBJECTS = [[1, 2], [[1, -2], [3, 4]], 5, [True, 2], [1.5, 2], [2**70, 1], [1j, 2], [np.int8(3), 2.5]]


@pytest.mark.parametrize("dtype", [None, "int32", "float32", "bool", "complex64"])
@pytest.mark.parametrize("numbers", OBJECTS, ids=str)
def test_numpy_arrays_of_objects_that_are_numbers(numbers, dtype):
    """They are what lists of the same numbers are."""

    def outcome(value):
        try:
            made = vx.asarray(value, dtype=dtype)
        except (TypeError, OverflowError) as error:
            return type(error), str(error)
        return made.dtype, np.asarray(made).tolist()

    assert outcome(np.array(numbers, dtype=object)) == outcome(numbers)


def test_bytes():
    x = vx.asarray([[1, 2], [3, 258]], dtype="int32")
    assert bytes(x) == bytes(np.asarray(x)) == x.tobytes()
    assert bytes(x.T) == bytes(np.asarray(x).T)
