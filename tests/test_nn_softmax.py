"""Softmax, masked softmax and their gradients against float64: types, layouts, lengths, plans and special values."""

from __future__ import annotations

import numpy as np
import pytest
from reference import host_dtype, normal_values, supported
from test_reductions import layouts

import vkarray as vx
from vkarray.command import catalogue
from vkarray.core.dtypes import CATEGORIES, DType
from vkarray.kernels import row_kernels
from vkarray.nn import softmax

SUPPORTED = supported(CATEGORIES["real floating"])
PLANS = [(256, 1, 16, False, False), (256, 4, 8, True, False), (256, 256, 0, False, False), (256, 64, 0, True, False),
         (256, 4, 8, False, True), (256, 64, 16, False, True), (64, 64, 0, False, True)]  # fmt: skip


@pytest.fixture
def force_plan(monkeypatch):
    """A function that makes rows take a plan, whatever device they are on."""

    def force(*plan):
        row_kernels._parts.cache_clear()
        monkeypatch.setattr(row_kernels, "_plan", lambda *_: row_kernels._Plan(*plan))

    yield force
    row_kernels._parts.cache_clear()


def softmax_of(values: np.ndarray, axis: int = -1) -> np.ndarray:
    exponentials = np.exp(values - values.max(axis, keepdims=True))
    return exponentials / exponentials.sum(axis, keepdims=True)


def rounding(dtype) -> float:
    """Half an ULP of the type computed in, and of the result's."""
    return vx.finfo(vx.float64 if dtype is vx.float64 else vx.float32).eps / 2


def assert_close(got: vx.VkArray, expected: np.ndarray, size: np.ndarray, dtype, terms: float) -> None:
    """Within so many roundings of numbers of a size, and one of the result."""
    errors = np.abs(np.asarray(got).astype(np.float64) - expected)
    smallest = vx.finfo(dtype).smallest_normal
    bound = terms * rounding(dtype) * size + vx.finfo(dtype).eps * np.abs(expected) + smallest
    assert got.dtype is dtype
    assert got.shape == expected.shape
    assert np.all(errors <= bound), f"{np.max(errors / bound)} times the bound"


def rounded(values: np.ndarray, dtype) -> np.ndarray:
    """The values that an array of `dtype` holds, in float64."""
    return np.asarray(vx.asarray(values.astype(host_dtype(dtype)), dtype=dtype)).astype(np.float64)


def check(values: np.ndarray, device: vx.VkArray, axis: int) -> None:
    """All four functions on one layout. Rounding x - max moves the exponential by that many roundings."""
    wide = values.astype(np.float64)
    dtype, length = device.dtype, wide.shape[axis]
    span = wide.max(axis, keepdims=True) - wide
    terms = 6 + np.minimum(length, 40 + length / 16) + span.max()
    expected = softmax_of(wide, axis)
    result = softmax.softmax(device, axis=axis)
    assert_close(result, expected, expected, dtype, terms)
    logarithm = wide - wide.max(axis, keepdims=True)
    logarithm = logarithm - np.log(np.exp(logarithm).sum(axis, keepdims=True))
    log_result = softmax.log_softmax(device, axis=axis)
    assert_close(log_result, logarithm, np.abs(logarithm) + 1, dtype, terms)
    gradient = rounded(np.cos(np.arange(wide.size).reshape(wide.shape)), dtype)
    arrays = vx.asarray(gradient.astype(host_dtype(dtype)), dtype=dtype)
    known, known_log = (np.asarray(one).astype(np.float64) for one in (result, log_result))
    inner = (gradient * known).sum(axis, keepdims=True)
    size = known * (np.abs(gradient) + (np.abs(gradient) * known).sum(axis, keepdims=True))
    assert_close(
        softmax.softmax_backward(arrays, result, axis=axis), known * (gradient - inner), size, dtype, 4 + length
    )
    total = gradient.sum(axis, keepdims=True)
    size = np.abs(gradient) + np.exp(known_log) * np.abs(gradient).sum(axis, keepdims=True)
    got = softmax.log_softmax_backward(arrays, log_result, axis=axis)
    assert_close(got, gradient - np.exp(known_log) * total, size, dtype, 6 + length)


@pytest.mark.parametrize("dtype", SUPPORTED, ids=str)
def test_types(dtype):
    values = rounded(normal_values(dtype, (3, 4, 11)) * 3, dtype).astype(host_dtype(dtype))
    check(values, vx.asarray(values, dtype=dtype), 1)


def test_layouts_and_axes():
    values = normal_values(vx.float32, (3, 4, 11)) * 3
    for host, device in layouts(values, vx.float32):
        for axis in (0, host.ndim - 1):
            check(host, device, axis)


@pytest.mark.parametrize("length", [1, 7, 8, 255, 1000])
def test_lengths(length):
    values = normal_values(vx.float32, (3, length))
    check(values, vx.asarray(values), -1)


def test_rows_longer_than_the_loops_of_a_driver():
    values = normal_values(vx.float32, (1, 250_003))
    expected = softmax_of(values.astype(np.float64))
    assert_close(softmax.softmax(vx.asarray(values)), expected, expected, vx.float32, 40 + 1000 / 16 + 10)


@pytest.mark.parametrize("dtype", [vx.float16, vx.float32], ids=str)
@pytest.mark.parametrize("plan", PLANS)
def test_plans(force_plan, plan, dtype):
    size, members, items, columns, subgroups = plan
    device = vx.asarray(0).device
    if subgroups and not (
        {"subgroupBasic", "subgroupShuffle"} <= set(device.features)
        and device.limits.min_subgroup_size == device.limits.max_subgroup_size
    ):
        pytest.skip("subgroups of this device exchange no values")
    size = min(size, device.limits.max_workgroup_invocations)  # as plans of the device are: phones have 128
    members = min(members, size)
    force_plan(size, members, items, columns, subgroups)
    values = rounded(normal_values(dtype, (5, min(members * (items or 24), 400) - 9)), dtype).astype(host_dtype(dtype))
    moved = vx.asarray(values, dtype=dtype)
    check(values.T if columns else values, moved.T if columns else moved, 0 if columns else 1)


def test_plan_of_a_gpu_covers_every_row(monkeypatch):
    """The kept elements of all members hold the row, and a workgroup whole rows."""
    monkeypatch.setattr(row_kernels, "uses_shared_memory", lambda device: True)
    device = vx.asarray(0).device
    for length in (1, 5, 64, 1000, 4096, 32768, 100_000):
        for columns in (False, True):
            for vector in (2, 4, 8):
                plan = row_kernels._plan(device, length, 100, vector, columns)
                assert plan.size % plan.members == 0
                assert plan.items == 0 or (plan.members * plan.items >= length and plan.items % vector == 0)


def test_special_values():
    nan, inf = np.nan, np.inf
    x = vx.asarray(np.array([[nan, 1, 2], [-inf, -inf, -inf], [inf, 1, 2], [-inf, 0, 0], [3e38, -3e38, 0]], np.float32))
    got = np.asarray(softmax.softmax(x))
    assert np.isnan(got[:3]).all()
    np.testing.assert_array_equal(got[3:], [[0, 0.5, 0.5], [1, 0, 0]])
    logarithm = np.asarray(softmax.log_softmax(x))
    assert np.isnan(logarithm[:3]).all()
    assert logarithm[3, 0] == -inf
    assert logarithm[4, 0] == 0


def test_empty_and_scalar():
    assert softmax.softmax(vx.zeros((0, 3))).shape == (0, 3)
    assert softmax.softmax(vx.zeros((3, 0))).shape == (3, 0)
    assert float(softmax.softmax(vx.asarray(7.0), axis=0)) == 1
    assert float(softmax.log_softmax(vx.asarray(7.0))) == 0


@pytest.mark.parametrize("dtype", SUPPORTED, ids=str)
def test_masks(dtype):
    values = rounded(normal_values(dtype, (2, 3, 5, 7)), dtype).astype(host_dtype(dtype))
    scores = vx.asarray(values, dtype=dtype)
    allowed = np.random.default_rng(1).random((2, 1, 5, 7)) < 0.6
    allowed[1, 0, 2] = False
    added = rounded(normal_values(dtype, (5, 7), 2), dtype)
    places = np.arange(7)[None, :] <= np.arange(5)[:, None] + 2
    masks = {
        "none": (None, np.zeros((5, 7))), "bool": (vx.asarray(allowed), np.where(allowed, 0.0, -np.inf)),
        "added": (vx.asarray(added.astype(host_dtype(dtype)), dtype=dtype), added),
    }  # fmt: skip
    for mask, wide in masks.values():
        for causal in (False, True):
            total = values.astype(np.float64) * 0.25 + wide
            total = np.where(places, total, -np.inf) if causal else total
            seen = np.isfinite(total).any(-1, keepdims=True)
            expected = np.where(seen, softmax_of(np.where(seen, total, 0)), 0)
            got = softmax.masked_softmax(scores, mask, scale=0.25, causal=causal, offset=2)
            assert_close(got, expected, expected, dtype, 30)


def test_errors():
    x = vx.zeros((2, 3))
    with pytest.raises(TypeError, match="softmax"):
        softmax.softmax(vx.zeros((2, 3), dtype=vx.int32))
    with pytest.raises(IndexError, match="axis 2"):
        softmax.log_softmax(x, axis=2)
    with pytest.raises(ValueError, match="one shape"):
        softmax.softmax_backward(x, vx.zeros((3, 2)))
    with pytest.raises(TypeError, match="mask"):
        softmax.masked_softmax(x, vx.zeros((2, 3), dtype=vx.int32))
    with pytest.raises(ValueError, match="broadcast"):
        softmax.masked_softmax(x, vx.zeros((2, 2, 3)))
    with pytest.raises(ValueError, match="2 dimensions"):
        softmax.masked_softmax(vx.zeros(3))


def test_variants_are_in_the_catalogue():
    assert softmax.variants in catalogue.FAMILIES


@pytest.mark.parametrize("dtype", supported((vx.float32, vx.float16)))
def test_rows_of_any_length_begin_sums_with_a_positive_zero(dtype: DType) -> None:
    for length in (1, 2, 5, 16, 17, 40):
        zeros = vx.full((3, length), -0.0, dtype=dtype)
        found = np.asarray(softmax.log_softmax_backward(zeros, zeros, axis=-1)).astype(np.float32)
        assert np.all(found == 0), length
        assert np.signbit(found).all(), length  # -0 - 1 * (0 + -0)
