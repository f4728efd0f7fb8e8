"""The methods of arrays against those of NumPy's arrays."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from reference import host_dtype, random_values, special_values, supported

import vkarray as vx
from vkarray.core.dtypes import CATEGORIES, DTYPES
from vkarray.core.methods import Methods

SUPPORTED = supported(DTYPES.values())
FLOATING = supported([vx.float16, vx.float32, vx.float64])
INTEGERS = supported(CATEGORIES["integer"])

# Method -> arguments for an array of shape (3, 4, 5); the results are exact, so they equal NumPy's.
CALLS = {
    "reshape": [((5, 12),), (5, -1), (-1,), ((60,),)],
    "flatten": [()],
    "ravel": [()],
    "transpose": [(), (None,), ((2, 0, 1),), (1, 0, 2), (-1, 0, 1)],
    "swapaxes": [(0, 2), (-1, -2), (1, 1)],
    "diagonal": [(), (1,), (-2,), (0, 1, 2), (3, -1, 0), (9,), (-9,)],
    "sum": [(), (0,), ((0, 2),), (-1,)],
    "prod": [(2,)],
    "min": [(), (1,), ((1, 2),)],
    "max": [(), (0,)],
    "argmin": [(), (1,)],
    "argmax": [(), (-1,)],
    "any": [(), (0,), ((0, 1),)],
    "all": [(), (2,)],
    "cumsum": [(), (0,), (-1,)],
    "cumprod": [(2,)],
    "conj": [()],
    "conjugate": [()],
    "round": [(), (0,), (-1,)],
    "clip": [(-1, 2), (0,), (None, 1)],
    "copy": [()],
    "repeat": [(2,), (2, 1), ([0, 1, 3], 0)],
    "nonzero": [()],
    "argsort": [(0,)],
    "take": [([0, 7, -1],), ([[2, 0], [1, 1]], 0), (3,), (1, 2)],
    "tolist": [()],
    "item": [(0,), (-1,), (2, 3, 4), ((0, -1, 1),)],
}


def layouts(values: np.ndarray) -> list[tuple[vx.VkArray, np.ndarray]]:
    """A contiguous array, a transposed one, one of every second element backwards, and a broadcast one."""
    x = vx.asarray(values)
    return [
        (x, values),
        (vx.asarray(np.ascontiguousarray(values.T)).transpose(), values),
        (vx.asarray(np.repeat(values, 2, axis=2)[..., ::-1])[..., ::-2], values),
        (vx.broadcast_to(x[:, :1], values.shape), np.broadcast_to(values[:, :1], values.shape)),
    ]


def same(got: object, expected: object) -> None:
    if isinstance(expected, tuple):
        assert isinstance(got, tuple)
        assert len(got) == len(expected)
        for one, other in zip(got, expected, strict=True):
            same(one, other)
    elif isinstance(got, vx.VkArray):
        np.testing.assert_array_equal(np.asarray(got), expected, strict=False)
        assert got.shape == np.shape(expected)
    else:
        assert got == expected


@pytest.mark.parametrize("name", CALLS)
def test_small_integers(name: str) -> None:
    values = np.random.default_rng(3).integers(-3, 4, (3, 4, 5)).astype(np.int32)
    for x, host in layouts(values):
        for arguments in CALLS[name]:
            # NumPy's argsort is not stable unless asked.
            options = {"kind": "stable"} if name == "argsort" else {}
            same(getattr(x, name)(*arguments), getattr(host, name)(*arguments, **options))


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "std", "var", "min", "max", "argmin", "argmax", "any", "all"])
def test_keepdims_and_positions(name: str) -> None:
    values = np.random.default_rng(4).integers(1, 5, (3, 4, 5)).astype(np.float32)
    for axis in (None, 1, -1):
        for keepdims in (False, True):
            got = getattr(vx.asarray(values), name)(axis, keepdims=keepdims)
            expected = getattr(values.astype(np.float64), name)(axis, keepdims=keepdims)
            assert got.shape == expected.shape
            np.testing.assert_allclose(np.asarray(got), expected, rtol=8 * np.finfo(np.float32).eps)


def test_spread_takes_ddof() -> None:
    values = np.arange(10, dtype=np.float32)
    for name in ("std", "var"):
        got = float(getattr(vx.asarray(values), name)(ddof=1))
        assert got == pytest.approx(float(getattr(values.astype(np.float64), name)(ddof=1)), rel=2**-22)


@pytest.mark.parametrize("dtype", SUPPORTED, ids=str)
def test_dtypes_follow_numpy(dtype) -> None:
    values = np.ones((2, 3), host_dtype(dtype))
    x = vx.asarray(values, dtype=dtype)
    for name in ("flatten", "ravel", "squeeze", "transpose", "copy"):
        assert getattr(x, name)().dtype is dtype
    assert x.T.ravel().tolist() == values.T.ravel().tolist()
    assert x.sum().dtype is vx.sum(x).dtype
    assert x.cumsum().dtype is vx.cumulative_sum(vx.reshape(x, (-1,))).dtype
    assert x.sum(dtype=vx.complex64).dtype is vx.complex64
    assert x.astype(vx.complex64).dtype is vx.complex64
    assert x.astype(dtype, copy=False) is x
    assert x.astype(dtype) is not x


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
@pytest.mark.parametrize("decimals", [-2, -1, 0, 1, 3])
def test_round_of_floating_point_numbers(dtype, decimals: int) -> None:
    host = host_dtype(dtype)
    values = np.concatenate(
        [special_values(dtype), random_values(dtype, 2000), np.array([0.5, 1.5, 2.5, -25, 35], host)]
    )
    with np.errstate(all="ignore"):
        # Multiplication and division in steps of the dtype, as the documentation says (NumPy's float16 does the same).
        factor = np.asarray(10.0 ** abs(decimals), host)
        first, last = (np.multiply, np.divide)[:: 1 if decimals >= 0 else -1]
        expected = last(np.rint(first(values, factor)), factor)
        normal = np.abs(values) >= np.finfo(host).smallest_normal  # a driver may flush the product of a subnormal
    got = np.asarray(vx.asarray(values).round(decimals))
    np.testing.assert_array_equal(got[normal], expected[normal])
    assert np.all(got[~normal & ~np.isnan(values)] == 0)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("decimals", [-4, -1, 0, 2])
def test_round_of_integers(dtype, decimals: int) -> None:
    low, high = max(-30000, vx.iinfo(dtype).min), min(30000, vx.iinfo(dtype).max)
    values = np.arange(low + 30 * (low < 0), high - 30, max(1, (high - low) // 4001)).astype(host_dtype(dtype))
    unit = 10 ** max(0, -decimals)
    with np.errstate(over="ignore"):
        expected = (np.rint(values.astype(np.float64) / unit) * unit).astype(np.int64)
    if unit > vx.iinfo(dtype).max:
        expected = np.zeros_like(expected)
    elif dtype.bits == 8:  # multiples of ten beyond the type
        expected = expected.astype(values.dtype)
    np.testing.assert_array_equal(np.asarray(vx.asarray(values).round(decimals)), expected)


def test_round_of_complex_numbers() -> None:
    values = np.array([1.25 + 2.35j, -0.15 + np.inf * 1j, complex(np.nan, 0.55)], np.complex64)
    got = np.asarray(vx.asarray(values)[::-1].round(1))
    expected = np.empty(3, np.complex64)
    expected.real, expected.imag = (np.asarray(vx.asarray(p.copy()).round(1)) for p in (values.real, values.imag))
    np.testing.assert_array_equal(got, expected[::-1])


@pytest.mark.parametrize("dtype", supported([vx.complex64, vx.complex128]), ids=str)
def test_parts_are_views(dtype) -> None:
    values = random_values(dtype, 60).reshape(3, 4, 5)
    x = vx.asarray(values)
    for view, host in ((x, values), (x[::2, ::-1, 1:], values[::2, ::-1, 1:]), (x.transpose(), values.T)):
        np.testing.assert_array_equal(np.asarray(view.real), host.real)
        np.testing.assert_array_equal(np.asarray(view.imag), host.imag)
    x.imag[:, 1] = 7
    x.real[0] = -x.real[0]
    values.imag[:, 1] = 7
    values.real[0] = -values.real[0]
    np.testing.assert_array_equal(np.asarray(x), values)


def test_parts_of_real_arrays() -> None:
    x = vx.asarray([1, 2], dtype=vx.int16)
    assert x.real is x
    assert x.imag.tolist() == [0, 0]
    assert x.imag.dtype is vx.int16


def test_views_share_memory_and_copies_do_not() -> None:
    x = vx.zeros((2, 3))
    x.reshape(3, 2)[0, 0] = 1
    x.ravel()[1] = 2
    x.transpose()[2, 0] = 3
    x.diagonal()[1] = 4
    x.squeeze()[1, 2] = 5
    for made in (x.flatten(), x.copy(), x.reshape(6, copy=True), copy.copy(x), copy.deepcopy(x)):
        made[...] = 9
    assert x.tolist() == [[1, 2, 3], [0, 4, 5]]
    assert x.reshape((1, 6)).squeeze().shape == (6,)
    assert vx.zeros((1, 2, 1)).squeeze().shape == (2,)
    assert vx.zeros((1, 2, 1)).squeeze(0).shape == (2, 1)
    with pytest.raises(ValueError, match="squeeze: dimension 1 has length 2"):
        vx.zeros((1, 2, 1)).squeeze(1)


def test_empty_and_scalar_arrays() -> None:
    empty, single = vx.zeros((0, 3)), vx.asarray(5.0)
    assert empty.flatten().shape == empty.ravel().shape == (0,)
    assert empty.diagonal().shape == empty.diagonal(2).shape == (0,)
    assert empty.T.shape == empty.transpose().shape == (3, 0)
    assert float(empty.sum()) == 0
    assert empty.round(2).shape == empty.real.shape == (0, 3)
    empty.fill(1)
    empty.sort()
    assert single.flatten().tolist() == [5.0]
    assert single.transpose().tolist() == single.squeeze().tolist() == 5.0
    assert single.cumsum().tolist() == [5.0]
    assert single.item() == single.item(0) == 5.0
    assert single.take([0, 0]).tolist() == [5.0, 5.0]
    single.fill(2)
    assert single.item() == 2


def test_in_place() -> None:
    values = random_values(vx.float32, 3000).reshape(50, 60)
    for axis in (0, 1, -1):
        x = vx.asarray(np.repeat(values, 2, axis=0))
        assert x[::2].sort(axis) is None
        expected = np.repeat(values, 2, axis=0)
        expected[::2].sort(axis)
        np.testing.assert_array_equal(np.asarray(x), expected)
        assert x[1::2].fill(-1) is None
        expected[1::2] = -1
        np.testing.assert_array_equal(np.asarray(x), expected)


def test_large_arrays() -> None:
    values = np.random.default_rng(5).integers(-100, 100, (1000, 1000)).astype(np.int32)
    x = vx.asarray(values)
    np.testing.assert_array_equal(np.asarray(x.T.cumsum(0, dtype=vx.int32)), values.T.cumsum(0, dtype=np.int32))
    assert int(x.argmax()) == values.argmax()
    assert int(x.sum()) == values.sum()
    np.testing.assert_array_equal(np.asarray(x.diagonal(-3)), values.diagonal(-3))


@pytest.mark.parametrize(
    ("first", "second"),
    [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3,)), ((5, 2, 3), (3, 4)),
     ((3,), (6, 3, 4)), ((5, 2, 3), (6, 3, 4)), ((), (3, 2)), ((2,), ()), ((2, 0), (0, 3))],
)  # fmt: skip
def test_dot(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    generator = np.random.default_rng(6)
    a, b = (generator.integers(-9, 9, shape).astype(np.int32) for shape in (first, second))
    for got in (vx.dot(vx.asarray(a), vx.asarray(b)), vx.asarray(a).dot(vx.asarray(b))):
        np.testing.assert_array_equal(np.asarray(got), np.dot(a, b))
        assert got.shape == np.dot(a, b).shape
    assert vx.dot(vx.asarray(a), 2).tolist() == (a * 2).tolist()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: x.item(), ValueError, "item: expected an array of one element, got shape (2, 3)."),
        (lambda x: x.item(6), IndexError, "item: index 6 is out of bounds for axis 0 of length 6; expected -6 to 5."),
        (lambda x: x.T[0].item(0, 0), IndexError,
         "getitem: too many indices: the key indexes 2 dimensions, the array has 1."),
        (lambda x: vx.zeros((2, 2, 3)).item(1, 1), ValueError,
         "item: expected 1 or 3 indices for shape (2, 2, 3), got (1, 1)."),
        (lambda x: x.round(1.5), TypeError,
         "round: expected an integer as decimals, got 1.5. Divide with //, or convert it with int."),
        (lambda x: x[0].diagonal(), ValueError, "diagonal: expected at least 2 dimensions, got 1 (shape (3,))."),
        (lambda x: x.diagonal(0, 1, -1), ValueError, "diagonal: axis (1, -1) names a dimension twice."),
        (lambda x: x.dot(x), ValueError,
         "dot: shapes (2, 3) and (2, 3) do not match: the last dimension of x1 and the second to last dimension of x2 "
         "differ. Transpose or reshape one of them."),
    ],
)  # fmt: skip
def test_errors(call, error, message: str) -> None:
    with pytest.raises(error) as found:
        call(vx.zeros((2, 3)))
    assert str(found.value) == message


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "std", "var", "min", "max", "argmin", "argmax", "any", "all",
                                  "cumsum", "cumprod", "round"])  # fmt: skip
def test_functions_of_numpys_call_methods(name: str) -> None:
    values = np.asarray([[1.0, 3.0], [5.0, 7.0]], np.float32)
    got = getattr(np, name)(vx.asarray(values))
    assert type(got) is vx.VkArray
    np.testing.assert_allclose(np.asarray(got), getattr(np, name)(values), rtol=2**-22)
    if name != "round":
        got = getattr(np, name)(vx.asarray(values), axis=0)
        np.testing.assert_allclose(np.asarray(got), getattr(np, name)(values, axis=0), rtol=2**-22)


def test_round_to_places_beyond_the_type() -> None:
    for decimals in (400, -400):
        assert np.isnan(np.asarray(vx.asarray([1.5, 0.0]).round(decimals))).all()  # as NumPy's: x * inf / inf


def test_clip_of_numpys() -> None:
    assert np.clip(vx.asarray([1.0, 5.0]), 2, 3).tolist() == [2, 3]


def test_shapes_and_axes_as_arrays() -> None:
    values = np.arange(6, dtype=np.int32).reshape(2, 3)
    x = vx.asarray(values)
    for make in (np.asarray, vx.asarray, list, tuple):
        assert x.reshape(make([3, 2])).tolist() == values.reshape(3, 2).tolist()
        assert vx.permute_dims(x, make([1, 0])).tolist() == values.T.tolist()
        assert x.transpose(make([1, 0])).tolist() == values.T.tolist()
        assert int(vx.sum(x, axis=make([0, 1]))) == 15
        assert vx.expand_dims(x, make([0, -1])).shape == (1, 2, 3, 1)
        assert vx.zeros(make([2, 3])).shape == (2, 3)
        assert vx.tile(x, make([2, 1])).tolist() == np.tile(values, (2, 1)).tolist()
    assert x.transpose(np.int64(1), 0).shape == (3, 2)


def test_every_method_is_numpys_and_documented() -> None:
    names = [name for name in vars(Methods) if not name.startswith("_")]
    theirs = (np.ndarray, np.float64, np.int64)  # a single element is a number there
    assert not [name for name in names if not any(hasattr(one, name) for one in theirs)]
    assert not [name for name in names if not (getattr(Methods, name).__doc__ or "").strip()]
    assert not [name for name in names if name in vars(vx.VkArray)]
