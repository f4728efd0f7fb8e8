"""`pad`, `isclose`, `allclose` and `array_equal` against NumPy's."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from reference import host_dtype, random_values, special_values, supported

import vkarray as vx
from vkarray.core.dtypes import CATEGORIES, DTYPES
from vkarray.kernels import launch
from vkarray.ops.beyond import closeness

SUPPORTED = supported(DTYPES.values())
FLOATING = supported(CATEGORIES["floating-point"])

# -- pad --------------------------------------------------------------------------------------------------------

WIDTHS = [0, 2, (3,), (1, 2), ((2, 1),), ((1, 2), (0, 3)), ((0, 0), (7, 11)), [[9, 0], [0, 8]], ((1,), (2,))]
REPEATING = ["edge", "reflect", "symmetric", "wrap"]


@pytest.mark.parametrize("mode", ["constant", *REPEATING])
def test_pad(mode: str) -> None:
    for shape, widths in itertools.product([(2, 3), (1, 4), (3, 1)], WIDTHS):
        values = np.arange(1, 1 + shape[0] * shape[1], dtype=np.int32).reshape(shape)
        expected = np.pad(values, widths, mode)
        for x in (vx.asarray(values), vx.asarray(values.T.copy()).T, vx.asarray(values[:, ::-1].copy())[:, ::-1]):
            got = vx.pad(x, widths, mode)
            assert got.shape == expected.shape
            np.testing.assert_array_equal(np.asarray(got), expected)
        got[...] = 0
        assert x[0, 0] == 1  # a copy, also where nothing is added


@pytest.mark.parametrize("dtype", SUPPORTED, ids=str)
def test_pad_moves_bits(dtype) -> None:
    values = random_values(dtype, 60).reshape(3, 4, 5)
    for mode in REPEATING:
        got = vx.pad(vx.asarray(values, dtype=dtype), ((1, 2), (3, 0), (4, 9)), mode)
        assert got.dtype is dtype
        expected = np.pad(values, ((1, 2), (3, 0), (4, 9)), mode)
        np.testing.assert_array_equal(np.asarray(got).astype(expected.dtype), expected)
    for constant in (0, 1, True):
        got = vx.pad(vx.asarray(values, dtype=dtype), 2, constant_values=constant)
        np.testing.assert_array_equal(np.asarray(got), np.pad(values, 2, constant_values=constant))


@pytest.mark.parametrize("constants", [5, (1, 2), ((1, 2),), ((1, 2), (3, 4)), [[7], [8]]])
def test_constants_fill_corners_in_order(constants) -> None:
    values = np.arange(6, dtype=np.int16).reshape(2, 3)
    got = vx.pad(vx.asarray(values), ((2, 1), (1, 3)), constant_values=constants)
    np.testing.assert_array_equal(np.asarray(got), np.pad(values, ((2, 1), (1, 3)), constant_values=constants))


@pytest.mark.parametrize("dtype", [dtype for dtype in SUPPORTED if dtype in CATEGORIES["real numeric"]], ids=str)
@pytest.mark.parametrize("end_values", [0, (9, 4), ((1, 7), (30, 2))])
def test_linear_ramp(dtype, end_values) -> None:
    values = (np.arange(12).reshape(3, 4) % 7 * 3).astype(host_dtype(dtype))
    got = np.asarray(vx.pad(vx.asarray(values, dtype=dtype), ((4, 2), (1, 5)), "linear_ramp", end_values=end_values))
    expected = np.pad(values, ((4, 2), (1, 5)), "linear_ramp", end_values=end_values)
    if dtype in CATEGORIES["integer"]:
        np.testing.assert_array_equal(got, expected)
    else:
        # Division, product and sum round once each, as in NumPy, whose steps are float64; then the dtype; twice for corners.
        bound = 8 * vx.finfo(dtype).eps * 30
        assert np.max(np.abs(got.astype(np.float64) - expected)) <= bound


def test_pad_with_values_that_do_not_fit() -> None:
    assert vx.pad(vx.ones(2, dtype=vx.int32), 1, constant_values=1.5).tolist() == [1, 1, 1, 1]
    with pytest.raises(OverflowError, match=r"^pad: the Python integer 300 is out of bounds for uint8"):
        vx.pad(vx.ones(2, dtype=vx.uint8), 1, constant_values=300)
    with pytest.raises(TypeError, match=r"^pad: expected numeric .*, got bool"):
        vx.pad(vx.asarray([True]), 1, "linear_ramp")
    assert vx.pad(vx.asarray([True]), 1, constant_values=vx.asarray(True)).tolist() == [True] * 3


def test_pad_of_empty_and_large_arrays() -> None:
    assert (
        vx.pad(vx.zeros((0, 2)), 1, constant_values=3).tolist()
        == np.pad(np.zeros((0, 2)), 1, constant_values=3).tolist()
    )
    assert vx.pad(vx.zeros((0, 2)), ((0, 0), (1, 1)), "edge").shape == (0, 4)
    assert vx.pad(vx.zeros((2, 2)), ((1, 1), (0, 2)), "empty").shape == (4, 4)
    values = random_values(vx.float32, 1_000_000).reshape(1000, 1000)
    for mode in ("constant", "reflect"):
        expected = np.pad(values, ((30, 0), (7, 400)), mode)
        np.testing.assert_array_equal(np.asarray(vx.pad(vx.asarray(values), ((30, 0), (7, 400)), mode)), expected)


# -- closeness --------------------------------------------------------------------------------------------------


def pairs(dtype) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of special values, and numbers with others near them."""
    special = special_values(dtype)[:: 1 if dtype.category == "real floating" else 7]
    first, second = (part.reshape(-1) for part in np.meshgrid(special, special))
    values = random_values(dtype, 3000)
    with np.errstate(all="ignore"):
        near = (values * (1 + np.linspace(-3e-5, 3e-5, values.size))).astype(values.dtype)
    seconds = vx.asarray(np.concatenate([second, near]), dtype=dtype)  # bfloat16 has fewer bits than its host type
    return np.concatenate([first, values]), np.asarray(seconds)


@pytest.mark.parametrize("equal_nan", [False, True])
@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_isclose(dtype, equal_nan: bool) -> None:
    first, second = pairs(dtype)
    for rtol, atol in ((1e-5, 1e-8), (0.0, 0.0), (0.25, 0.0), (0.0, 2.0)):
        got = np.asarray(vx.isclose(vx.asarray(first, dtype=dtype), vx.asarray(second, dtype=dtype),
                                    rtol=rtol, atol=atol, equal_nan=equal_nan))  # fmt: skip
        wide = np.clongdouble if dtype.category == "complex floating" else np.longdouble
        with np.errstate(all="ignore"):
            x, y = first.astype(wide), second.astype(wide)
            difference, limit = abs(x - y), atol + rtol * abs(y)
            expected = (x == y) | (np.isfinite(y) & np.isfinite(x) & (difference <= limit))
            expected |= equal_nan & np.isnan(x) & np.isnan(y)
            # At the limit itself the roundings decide: a few units of it and of the difference.
            unit = 8 * vx.finfo(vx.float32 if dtype.bits == 16 else dtype).eps
            unclear = np.abs(difference - limit) <= unit * (limit + difference)
            # Differences and limits that overflow or are subnormal are the driver's.
            limits = vx.finfo(vx.float32 if dtype.bits == 16 else dtype)
            unclear |= (difference != 0) & (
                (limit < 4 * limits.smallest_normal) | (difference < 4 * limits.smallest_normal)
            )
            unclear |= (difference > limits.max / 2) | (limit > limits.max / 2)
        unclear &= (x != y) & np.isfinite(x) & np.isfinite(y)
        np.testing.assert_array_equal(got[~unclear], expected[~unclear])


def test_isclose_of_subnormal_numbers() -> None:
    tiny = vx.asarray(np.array([1, 2, 0], np.uint32).view(np.float32))
    assert vx.isclose(tiny, tiny[::-1], rtol=0, atol=1e-30).tolist() == [True, True, True]
    assert vx.isclose(tiny, tiny).tolist() == [True, True, True]


def test_isclose_broadcasts_and_takes_scalars() -> None:
    x = vx.asarray([[1.0, 2.0], [3.0, float("nan")]])
    assert vx.isclose(x, 1.000001).tolist() == [[True, False], [False, False]]
    assert vx.isclose(2.0, x[0]).tolist() == [False, True]
    assert vx.isclose(x, x[0]).tolist() == [[True, True], [False, False]]
    assert vx.isclose(x, x.T, equal_nan=True).tolist() == [[True, False], [False, True]]
    # The limit is that of the second operand.
    assert vx.isclose(vx.asarray([10.0, 9.0]), vx.asarray([9.0, 10.0]), rtol=0.105, atol=0).tolist() == [False, True]


@pytest.mark.parametrize("dtype", [vx.int8, vx.uint32, vx.bool], ids=str)
def test_isclose_of_integers(dtype) -> None:
    x = vx.asarray([0, 1, 1], dtype=dtype)
    assert vx.isclose(x, vx.asarray([0, 0, 1], dtype=dtype)).tolist() == [True, False, True]
    assert vx.allclose(x, x)


def test_allclose_and_array_equal_give_python_bools() -> None:
    values = random_values(vx.float32, 1_000_000)
    values[~np.isfinite(values)] = 0
    x, changed = vx.asarray(values), vx.asarray(values)
    assert vx.allclose(x, x) is True
    assert vx.array_equal(x, x) is True
    changed[987_654] = 3e38
    assert vx.allclose(x, changed) is False
    assert vx.array_equal(x, changed) is False
    nan = vx.asarray([1.0, float("nan")])
    assert [vx.allclose(nan, nan), vx.allclose(nan, nan, equal_nan=True)] == [False, True]
    assert [vx.array_equal(nan, nan), vx.array_equal(nan, nan, equal_nan=True)] == [False, True]
    assert vx.allclose(vx.zeros((0, 3)), vx.zeros((0, 3)))
    assert vx.array_equal(vx.zeros((0, 3)), vx.zeros((0, 3)))
    assert not vx.array_equal(vx.zeros((0, 3)), vx.zeros((3, 0)))
    assert not vx.array_equal(vx.zeros(3), vx.zeros((1, 3)))
    assert vx.array_equal(vx.asarray([True]), vx.asarray([True]), equal_nan=True)
    assert vx.array_equal(vx.asarray([1], dtype=vx.int8), vx.asarray([1.0]))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: vx.pad(x, 1, "middle"), ValueError,
         "pad: mode 'middle' is not supported; expected constant, empty, linear_ramp, edge, reflect, symmetric, wrap, "
         "maximum, minimum, mean, median."),
        (lambda x: vx.pad(x, (1, 2, 3)), ValueError,
         "pad: operands could not be broadcast together: expected pad_width as one value, a pair, or a pair for each of 2 "
         "dimensions, got (1, 2, 3)."),
        (lambda x: vx.pad(x, ((1, 2), (1, 2), (1, 2))), ValueError, None),
        (lambda x: vx.pad(x, -1), ValueError,
         "pad: index can't contain negative values; expected pad_width of 0 or more, got (-1, -1)."),
        (lambda x: vx.pad(x, 1.5), TypeError,
         "pad: `pad_width` must be of integral type, got (1.5, 1.5)."),
        (lambda x: vx.pad(x[:0], 1, "edge"), ValueError,
         "pad: can't extend empty axis 0 using modes other than 'constant' or 'empty', got 'edge' for shape (0, 3)."),
        (lambda x: vx.isclose(x, x, rtol=-1), ValueError, "isclose: expected a number of 0 or more as rtol, got -1."),
        (lambda x: vx.allclose(x, x, atol=float("nan")), ValueError,
         "allclose: expected a number of 0 or more as atol, got nan."),
        (lambda x: vx.isclose(x, x.T), ValueError, None),
        (lambda x: vx.array_equal(x, np.zeros((2, 3))), TypeError, None),
    ],
)  # fmt: skip
def test_errors(call, error, message: str | None) -> None:
    with pytest.raises(error) as found:
        call(vx.zeros((2, 3)))
    if message is not None:
        assert str(found.value) == message


def test_variants_hold_what_a_run_asks_for(device, monkeypatch: pytest.MonkeyPatch) -> None:
    known = set(closeness.variants(device))
    used = []
    kernel = launch.kernel
    monkeypatch.setattr(launch, "kernel", lambda variant, *rest: used.append(variant) or kernel(variant, *rest))
    closeness._operation.cache_clear()
    for dtype, equal_nan in itertools.product(FLOATING, (False, True)):
        vx.isclose(vx.zeros(3, dtype=dtype), vx.zeros((3, 1), dtype=dtype), equal_nan=equal_nan)
        vx.isclose(vx.zeros(3, dtype=dtype), vx.zeros(3, dtype=dtype), equal_nan=equal_nan)
    own = [variant for variant in used if variant.label.startswith("isclose")]
    assert own
    assert set(own) <= known
