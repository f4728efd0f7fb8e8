"""Conversion between all pairs of types, and the limits and predicates of types."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest
from reference import flushed, flushes_subnormals, host_dtype, random_values, special_values, supported

import vkarray as vx
from vkarray.core import dtypes
from vkarray.core.dtypes import CATEGORIES

pytestmark = pytest.mark.usefixtures("numpy_types")

DTYPES = supported(dtypes.DTYPES.values())
STANDARD = [dtype for dtype in DTYPES if dtype not in (vx.float16, vx.bfloat16)]
PAIRS = [
    (source, target)
    for source, target in itertools.product(DTYPES, DTYPES)
    if source.category != "complex floating" or target.category in ("complex floating", "bool")
]


def rounding_cases(target) -> np.ndarray:
    """Numbers next to the middle between two neighbours of a floating type, which rounding twice gets wrong."""
    limits = vx.finfo(target)
    steps = np.array([0.0, 2.0**-45, -(2.0**-45), 2.0**-30, -(2.0**-30), 2.0**-20, -(2.0**-20), 0.25, -0.25])
    halves = np.array([0.5, 1.5, 2.5, 3.5])[:, None] + steps
    scales = np.array([1.0, limits.smallest_normal, limits.smallest_normal / 2, 1 / limits.eps])[:, None, None]
    near = (1 + halves * limits.eps) * scales
    subnormal = halves * limits.smallest_normal * limits.eps
    top = limits.max + halves * limits.max * limits.eps / 2
    values = np.concatenate([part.reshape(-1) for part in (near, subnormal, top)])
    return np.concatenate([values, -values])


def source_values(source, target) -> np.ndarray:
    host = host_dtype(source)
    parts = [special_values(source), random_values(source, 2000)]
    if source.category == "real floating":
        with np.errstate(over="ignore"):
            if target.category == "real floating":
                parts.append(rounding_cases(target).astype(host))
            if "integer" in target.category:
                info = np.iinfo(target.name)
                edges = np.array([info.min, info.max, float(info.max) + 1], np.float64)
                near = (edges[:, None] + [-1.5, -1, -0.5, 0, 0.5, 0.999, 1, 1.5]).reshape(-1).astype(host)
                parts += [near, np.nextafter(near, host.type(np.inf)), np.nextafter(near, host.type(-np.inf))]
    elif "integer" in source.category and target.category == "real floating":
        # Whole numbers next to the middle between two neighbours.
        info = np.iinfo(host)
        fraction = int(-np.log2(vx.finfo(target).eps))
        bits = range(fraction + 2, info.bits - (info.min < 0))
        parts += [
            np.array([2**power + step * 2 ** (power - fraction - 1) + change], host)
            for power in bits for step in (1, 3, 5) for change in (-1, 0, 1)
        ]  # fmt: skip
    values = np.concatenate(parts)
    if source is vx.bfloat16:  # the host holds more bits than the type
        values = values.astype(ml_dtypes.bfloat16).astype(np.float32)
    return values


def saturated(values: np.ndarray, target) -> np.ndarray:
    """Truncated towards zero, values out of range as the nearest limit, NaN as 0."""
    info = np.iinfo(target.name)
    numbers = [0 if np.isnan(value) else value for value in values.astype(np.float64)]
    limited = [info.max if value >= info.max else info.min if value <= info.min else int(value) for value in numbers]
    return np.array(limited, target.name)


def expected_values(values: np.ndarray, source, target) -> np.ndarray:
    """What NumPy gives where C defines it; the saturating rule for floating-point numbers as integers."""
    with np.errstate(all="ignore"):
        if "integer" in target.category and source.category == "real floating":
            return saturated(values, target)
        if target is vx.bfloat16:
            return to_bfloat16(values)
        return values.astype(host_dtype(target))


def to_bfloat16(values: np.ndarray) -> np.ndarray:
    """Rounded once: to odd with float32's precision first, whose 16 bits more make the second rounding exact."""
    if values.dtype.kind != "f":
        wide = np.array([round_to_odd(int(value)) for value in values], np.float64)
    else:
        wide = values.astype(np.float64)
    narrow = wide.astype(np.float32)
    inexact = np.isfinite(narrow) & np.isfinite(wide) & (narrow.astype(np.float64) != wide)
    towards = np.where(np.abs(narrow.astype(np.float64)) > np.abs(wide), np.nextafter(narrow, np.float32(0)), narrow)
    odd = (towards.view(np.uint32) | np.uint32(1)).view(np.float32)
    overflow = np.isinf(narrow) & np.isfinite(wide)
    narrow = np.where(inexact, odd, np.where(overflow, np.copysign(np.finfo(np.float32).max, wide), narrow))
    return narrow.astype(np.float32).astype(ml_dtypes.bfloat16).astype(np.float32)


def round_to_odd(value: int) -> int:
    """A whole number with at most 50 significant bits, the last of which is set where bits were lost."""
    drop = max(abs(value).bit_length() - 50, 0)
    kept = abs(value) >> drop
    kept |= kept << drop != abs(value)
    return (kept << drop) * (-1 if value < 0 else 1)


@pytest.mark.parametrize(("source", "target"), PAIRS, ids=str)
def test_astype(source, target):
    values = source_values(source, target)
    got = np.asarray(vx.astype(vx.asarray(values, dtype=source), target))
    expected = expected_values(values, source, target)
    assert got.dtype == expected.dtype
    same = equal(got, expected)
    if target in CATEGORIES["floating-point"] and flushes_subnormals(target):
        # Such a driver may give zeros for subnormal numbers.
        same |= equal(got, flushed(expected, target))
    wrong = np.flatnonzero(~same)
    assert not wrong.size, (
        f"{source} to {target}: {wrong.size} of {values.size} are wrong, such as {values[wrong[:5]]!r}: "
        f"got {got[wrong[:5]]!r}, expected {expected[wrong[:5]]!r}"
    )


def equal(got: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Equal in value and in the sign of zeros, or both NaN, in each part of complex numbers."""
    if got.dtype.kind == "c":
        return equal(got.real, expected.real) & equal(got.imag, expected.imag)
    if got.dtype.kind != "f":
        return got == expected
    return ((got == expected) & (np.signbit(got) == np.signbit(expected))) | (np.isnan(got) & np.isnan(expected))


@pytest.mark.parametrize("target", supported([vx.float32, vx.int8, vx.bool]), ids=str)
def test_astype_of_views(target):
    values = np.arange(24, dtype=np.int32).reshape(4, 6) - 12
    x = vx.asarray(values)
    for view, host in (
        (x.T, values.T),
        (x[::-1, ::2], values[::-1, ::2]),
        (x[:0], values[:0]),
        (x[1, 2], values[1, 2]),
    ):
        got = vx.astype(view, target)
        assert got.shape == host.shape
        np.testing.assert_array_equal(np.asarray(got), host.astype(target.name))


def test_astype_copies():
    x = vx.ones((2,), dtype=vx.float32)
    assert vx.astype(x, vx.float32, copy=False) is x
    y = vx.astype(x, vx.float32)
    y[0] = 5
    assert x.tolist() == [1, 1]
    assert vx.astype(x, vx.int32, device=x.device).device is x.device


@pytest.mark.parametrize("dtype", supported(CATEGORIES["floating-point"]), ids=str)
def test_finfo(dtype):
    got = vx.finfo(dtype)
    expected = ml_dtypes.finfo(ml_dtypes.bfloat16) if dtype is vx.bfloat16 else np.finfo(dtype.name)
    assert got.bits == expected.bits
    for name in ("eps", "max", "min", "smallest_normal"):
        assert getattr(got, name) == float(getattr(expected, name))
        assert type(getattr(got, name)) is float
    assert got.dtype is {vx.complex64: vx.float32, vx.complex128: vx.float64}.get(dtype, dtype)
    assert vx.finfo(vx.ones((1,), dtype=dtype)) == got


@pytest.mark.parametrize("dtype", supported(CATEGORIES["integer"]), ids=str)
def test_iinfo(dtype):
    got, expected = vx.iinfo(dtype), np.iinfo(dtype.name)
    assert (got.bits, got.min, got.max, got.dtype) == (expected.bits, expected.min, expected.max, dtype)
    assert vx.iinfo(vx.ones((1,), dtype=dtype)) == got


@pytest.mark.parametrize("first", STANDARD, ids=str)
def test_result_type_is_that_of_numpy(first):
    for second in STANDARD:
        expected = np.result_type(first.name, second.name).name
        assert vx.result_type(first, second).name == expected
        assert vx.can_cast(first, second) == (expected == second.name)


@pytest.mark.parametrize("first", [dtype for dtype in DTYPES if dtype is not vx.bfloat16], ids=str)
def test_result_type_of_three_is_that_of_numpy_in_any_order(first):
    for others in itertools.combinations_with_replacement([dtype for dtype in DTYPES if dtype is not vx.bfloat16], 2):
        given = (first, *others)
        assert vx.result_type(*given).name == np.result_type(*(dtype.name for dtype in given)).name, given


def test_result_type_does_not_depend_on_the_order():
    for given in itertools.combinations_with_replacement(DTYPES, 3):
        found = {vx.result_type(*order) for order in itertools.permutations(given)}
        assert len(found) == 1, f"{given} give {found} in different orders"


def test_result_type_with_scalars():
    assert vx.result_type(vx.float32, 1) is vx.float32
    assert vx.result_type(vx.asarray([1], dtype=vx.int8), 1000) is vx.int8
    assert vx.result_type(vx.int8, 1.5) is vx.float64
    assert vx.result_type(vx.float16, 1j) is vx.complex64
    assert vx.result_type(vx.float32, vx.asarray(True), 2) is vx.float32


@pytest.mark.parametrize("first", DTYPES, ids=str)
def test_integers_lead_to_the_default_floating_type(first):
    with vx.config(default_float="float32"):
        for second in DTYPES:
            found = vx.result_type(first, second)
            longest = any(dtype.kind in "fc" and dtype.bits == 64 for dtype in (first, second))
            assert longest or found not in (vx.float64, vx.complex128), (first, second, found)


def test_every_form_of_a_type():
    forms = {
        vx.float32: ["float32", "f4", "<f4", "f", np.float32, np.dtype("f4"), vx.float32, "single"],
        vx.float64: [float, "float", "f8", "d", np.float64, np.dtype(float), "double"], vx.int64: [int, "int", "i8", np.int64],
        vx.bool: [bool, "bool", "?", np.bool_], vx.complex128: [complex, "complex", "c16", np.dtype(complex)],
        vx.uint8: ["u1", "B", np.uint8],
    }  # fmt: skip
    for dtype, given in forms.items():
        for form in given:
            assert vx.dtype(form) is dtype
            assert dtype == form
            if supported([dtype]):
                assert vx.zeros(2, form).dtype is dtype
                assert vx.asarray([1, 0], form).dtype is dtype
                assert vx.ones(2).astype(form).dtype is dtype
    for wrong in ("float33", "x", 3, object, np.dtype("M8[s]"), str):
        with pytest.raises(TypeError, match="expected a data type"):
            vx.dtype(wrong)
        assert vx.float32 != wrong


def test_isdtype():
    assert vx.isdtype(vx.int8, "signed integer")
    assert vx.isdtype(vx.int8, ("bool", "integral"))
    assert vx.isdtype(vx.bfloat16, "real floating")
    assert not vx.isdtype(vx.complex64, "real floating")
    assert vx.isdtype(vx.complex64, vx.complex64)
    assert not vx.isdtype(vx.bool, "numeric")


def test_namespace_info(device):
    info = vx.__array_namespace_info__()
    listed = info.dtypes()
    assert listed == {dtype.name: dtype for dtype in STANDARD}
    assert set(info.dtypes(kind="real floating")) == {d.name for d in STANDARD if d.category == "real floating"}
    assert info.default_device() is device
    assert device in info.devices()
    default = vx.asarray(0).dtype
    assert info.default_dtypes()["integral"] is default is (vx.int64 if vx.int64 in DTYPES else vx.int32)
    assert info.default_dtypes()["real floating"] is (vx.float64 if vx.float64 in DTYPES else vx.float32)
