"""Cumulative sums and products against wider arithmetic: types, layouts, lengths, order and errors."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from reference import WIDER, supported
from test_reductions import integer_width, layouts, limit_indices, unit_roundoff, values_of

import vkarray as vx
from vkarray.core import layout
from vkarray.core.dtypes import CATEGORIES, DTYPES
from vkarray.kernels import kernel_caches, planned, scan
from vkarray.ops import statistical

SUPPORTED = supported(DTYPES.values())
FUNCTIONS = {
    "cumulative_sum": (vx.cumulative_sum, np.cumsum, 0),
    "cumulative_prod": (vx.cumulative_prod, np.cumprod, 1),
}


def depth(count: int) -> int:
    """Additions that an element goes through at most: 15 in each size of 16 of the smaller, and one from size to size."""
    return 16 * len(f"{count:x}")


def check(name: str, dtype, values: np.ndarray, result: vx.VkArray, axis: int, initial: bool = False) -> None:
    """Compare with NumPy: exactly for integers, within the bound of the method for floating-point types."""
    reference, first = FUNCTIONS[name][1:]
    integers = dtype in CATEGORIES["integer"] or dtype is vx.bool
    wide = values.astype(integer_width(dtype) if integers else WIDER[dtype.name])
    if initial:
        wide = np.concatenate([np.full_like(np.take(wide, [0], axis), first), wide], axis)
    with np.errstate(all="ignore"):
        expected = reference(wide, axis=axis, dtype=wide.dtype)
        got = np.asarray(result)
        assert got.shape == expected.shape
        if integers:
            assert result.dtype.name == expected.dtype.name
            np.testing.assert_array_equal(got, expected)
            return
        assert result.dtype is dtype
        accumulated = vx.float32 if dtype in (vx.float16, vx.bfloat16) else dtype
        length = values.shape[axis]
        size = np.cumsum(np.abs(wide), axis=axis) if name == "cumulative_sum" else np.abs(expected) * length * 4
        bound = depth(length) * unit_roundoff(accumulated) * size + unit_roundoff(dtype) * np.abs(expected)
        bound = bound + vx.finfo(accumulated).smallest_normal + vx.finfo(dtype).smallest_normal * vx.finfo(dtype).eps
        overflowed = np.abs(expected) > vx.finfo(dtype).max
        errors = np.abs(got.astype(wide.dtype) - expected)
    assert np.all((errors <= bound) | overflowed), f"{np.max(errors / bound)} times the bound"


def share_memory(device, monkeypatch):
    """Run the kernels for GPUs."""
    if device.limits.max_workgroup_invocations < 256:
        pytest.skip(f"{device.name}: maxComputeWorkGroupInvocations is below the 256 of the kernels with shared memory")
    monkeypatch.setattr(scan, "uses_shared_memory", lambda device: True)


def check_layouts_and_axes(name, dtype):
    values = values_of(dtype, (4, 5, 40))
    if name == "cumulative_prod" and "integer" not in dtype.category:
        values = np.where(values == 0, 1, values / 3).astype(values.dtype)
        values = np.asarray(vx.asarray(values, dtype=dtype)).astype(values.dtype)  # what bfloat16 can hold
    for host, array in layouts(values, dtype):
        for axis in range(-1, host.ndim - 1):
            check(name, dtype, host, FUNCTIONS[name][0](array, axis=axis), axis)
    result = FUNCTIONS[name][0](vx.asarray(values, dtype=dtype), axis=1, include_initial=True)
    check(name, dtype, values, result, 1, initial=True)


@pytest.mark.parametrize("dtype", SUPPORTED, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_layouts_and_axes(name, dtype):
    check_layouts_and_axes(name, dtype)


def test_layouts_and_axes_in_shared_memory(device, monkeypatch):
    """Where invocations meet in shared memory, some of a subgroup have no row, and large elements come in pieces."""
    share_memory(device, monkeypatch)
    check_layouts_and_axes("cumulative_sum", supported([vx.complex64, vx.complex128])[-1])


@pytest.mark.parametrize("basic", [False, True])
def test_invocations_meet_where_subgroups_do(basic, device, monkeypatch):
    share_memory(device, monkeypatch)
    with_or_without = SimpleNamespace(features={"subgroupBasic"} if basic else set(), limits=device.limits)
    assert scan._plan(with_or_without, vx.float32, 1, 1 << 20, False, 1 << 31).shared == basic


@pytest.mark.parametrize("length", [0, 1, 7, 15, 16, 17, 1000, 4096, 4097, 10**6 + 3])
@pytest.mark.parametrize("dtype", [vx.float32, vx.int32], ids=str)
def test_lengths(dtype, length):
    values = values_of(dtype, (length,), length)
    check("cumulative_sum", dtype, values, vx.cumulative_sum(vx.asarray(values)), 0)


@pytest.mark.parametrize(
    ("shape", "axis"), [((70001, 3), 0), ((3, 70001), 1), ((5, 9000, 7), 1), ((2, 3, 2, 300, 2, 3), 3)]
)
def test_rows_columns_and_the_middle(shape, axis):
    values = values_of(vx.int16, shape)
    check("cumulative_sum", vx.int16, values, vx.cumulative_sum(vx.asarray(values), axis=axis), axis)
    result = vx.cumulative_sum(vx.asarray(values), axis=axis, include_initial=True)
    check("cumulative_sum", vx.int16, values, result, axis, initial=True)


SHAPES = (
    ((3,), 0), ((50_003,), 0), ((66_000,), 0), ((17, 1100), 1), ((1100, 17), 0), ((33, 40), 0), ((70_000, 3), 0),
    ((30, 9000), 0),
)  # fmt: skip


def evaluate(dtype) -> list[bytes]:
    found = []
    for shape, axis in SHAPES:
        array = vx.asarray(values_of(dtype, shape, 5), dtype=dtype)
        found.append(np.asarray(vx.cumulative_sum(array, axis=axis, dtype=dtype, include_initial=True)).tobytes())
    return found


@pytest.mark.parametrize(
    ("dtype", "enough", "neighbours", "kibibytes", "subgroups"),
    [(vx.float32, 1, 16, 40, True), (vx.float32, 1 << 10, 16, 40, False), (vx.int8, 1 << 10, 4, 40, True),
     (vx.complex64, 1, 16, 20, True)], ids=str,
)  # fmt: skip
def test_shared_memory_does_not_change_a_bit(dtype, enough, neighbours, kibibytes, subgroups, device, monkeypatch):
    """The kernels for GPUs and those for CPU drivers combine in the same order, however the work is cut: chunks of 16 tiles
    or of one, more or fewer rows read together along columns, much or little shared memory, exchanges in a subgroup or not."""
    monkeypatch.setattr(scan, "uses_shared_memory", lambda device: False)
    serial = evaluate(dtype)
    share_memory(device, monkeypatch)
    limits = device.limits
    monkeypatch.setattr(
        device, "limits", dataclasses.replace(limits, min_subgroup_size=limits.subgroup_size >> (not subgroups))
    )
    monkeypatch.setattr(scan, "_ENOUGH_CHUNKS", enough)
    monkeypatch.setattr(scan, "_NEIGHBOURS", neighbours)
    monkeypatch.setattr(scan, "_SHARED_BYTES", kibibytes << 10)
    assert evaluate(dtype) == serial


@pytest.mark.parametrize(("even", "kept"), [(False, 4), (True, 4), (True, 0)])
@pytest.mark.parametrize("dtype", supported([vx.float32, vx.int8, vx.float64]), ids=str)
@pytest.mark.parametrize("registers", ["small", "tiny"])
def test_few_registers_do_not_change_a_bit(registers, dtype, even, kept, device, monkeypatch):
    """Steps that are not loaded ahead of time; where all of a workgroup exchange elements at once, these lie evenly; elements
    of more than `kept` bytes stay in shared memory."""
    monkeypatch.setattr(scan, "uses_shared_memory", lambda device: False)
    serial = evaluate(dtype)
    share_memory(device, monkeypatch)
    limits = device.limits
    few = dataclasses.replace(limits, registers=registers, min_subgroup_size=limits.subgroup_size >> even)
    monkeypatch.setattr(device, "limits", few)
    monkeypatch.setattr(scan, "_ENOUGH_CHUNKS", 1)
    monkeypatch.setitem(scan._KEPT_BYTES, registers, kept)
    assert evaluate(dtype) == serial


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("count", [1, 4097, 70_001])
def test_running_sums(count, shared, device, monkeypatch):
    """Counts become the sums of those before them, where they lie."""
    if shared:
        share_memory(device, monkeypatch)
    counts = np.random.default_rng(count).integers(0, 1 << 20, count).astype(np.uint32)
    array = vx.asarray(counts)
    scan.running_sums(array)
    np.testing.assert_array_equal(np.asarray(array), np.cumsum(counts, dtype=np.uint32) - counts)


@pytest.mark.parametrize("shape", [(0,), (3, 0)], ids=str)
@pytest.mark.parametrize("dtype", SUPPORTED, ids=str)
def test_no_elements_but_the_initial_one(dtype, shape):
    for function, first in ((vx.cumulative_sum, 0), (vx.cumulative_prod, 1)):
        result = function(vx.zeros(shape, dtype=dtype), axis=-1, include_initial=True)
        np.testing.assert_array_equal(np.asarray(result), np.full((*shape[:-1], 1), first))


def test_the_initial_value_is_within_reach(monkeypatch):
    """A dispatch writes no farther than indices reach, and the results of a slice begin one element later."""
    limit, slices, counts = 2 * 4096, layout.row_slices, []

    def recorded(*arguments):
        for one in slices(*arguments):
            counts.append(one[-1])
            yield one

    limit_indices(monkeypatch, limit)
    monkeypatch.setattr(layout, "row_slices", recorded)
    for initial, expected in ((False, [2]), (True, [1, 1])):
        counts.clear()
        result = vx.cumulative_sum(vx.ones((limit,), dtype=vx.int32), include_initial=initial)
        np.testing.assert_array_equal(np.asarray(result), np.arange(limit + initial) + (not initial))
        assert counts[-len(expected) :] == expected


def test_slices_and_workgroup_limits(device, monkeypatch):
    """What arrays beyond 2**31 elements and 65,535 workgroups need, with small limits in their place."""
    cases = [((300_001,), 0), ((700, 900), 0), ((700, 900), 1), ((90, 50, 60), 1), ((3, 100_000), 1), ((100_000, 3), 0)]
    arrays = [vx.asarray(values_of(vx.float32, shape)) for shape, _ in cases]

    def results():
        return [
            np.asarray(vx.cumulative_sum(x, axis=axis, include_initial=True)).tobytes()
            for x, (_, axis) in zip(arrays, cases, strict=True)
        ]

    whole = results()
    limit_indices(monkeypatch, 200_000)
    monkeypatch.setattr(device, "limits", dataclasses.replace(device.limits, max_workgroup_count=(3, 65535, 65535)))
    planned.forget()  # and kernels: what they know of the limits is that of before
    kernel_caches.forget()
    assert results() == whole
    kernel_caches.forget()


def test_more_workgroups_than_one_dimension_holds(few_workgroups):
    rows = 64 * 256 + 3
    numbers = vx.broadcast_to(vx.asarray([1, 2], dtype=vx.int8, device=few_workgroups), (rows, 2))
    assert np.all(np.asarray(vx.cumulative_sum(numbers, axis=1, dtype=vx.int8)) == [1, 3])


def test_infinities_and_nan_start_where_they_stand():
    inf, nan = np.inf, np.nan
    values = np.ones(5000, np.float32)
    values[[2000, 4500]] = inf, nan
    result = np.asarray(vx.cumulative_sum(vx.asarray(values)))
    assert np.all(result[:2000] == np.arange(1, 2001))
    assert np.all(result[2000:4500] == inf)
    assert np.all(np.isnan(result[4500:]))


def test_dtype():
    array = vx.asarray([100, 100, 100], dtype=vx.int8)
    assert np.asarray(vx.cumulative_sum(array, dtype=vx.int8)).tolist() == [100, -56, 44]
    assert vx.cumulative_sum(array, dtype=vx.float32).dtype is vx.float32


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: vx.cumulative_prod(vx.zeros((2, 3))), ValueError,
         "cumulative_prod: axis is required for an array of 2 dimensions (shape (2, 3))."),
        (lambda: vx.cumulative_sum(vx.zeros(2), axis=1), IndexError,
         "cumulative_sum: axis 1 is out of range for an array of 1 dimension; expected -1 to 0."),
        (lambda: vx.cumulative_sum(vx.zeros(2), dtype=vx.bool), TypeError,
         "cumulative_sum: float32 elements have no cumulative_sum of dtype bool. Ask for a type that holds them."),
    ],
)  # fmt: skip
def test_errors(call, error, message):
    with pytest.raises(error) as found:
        call()
    assert str(found.value) == message


def test_variants_hold_what_a_run_asks_for(device, monkeypatch):
    """Every shader that scans use is among those that go into the archive."""
    known = {variant for row in statistical.SCANS for variant in row.variants(device)}
    used = []
    monkeypatch.setattr(scan, "_variant", lambda row, *types: used.append(row.variant(*types)) or used[-1])
    for dtype in SUPPORTED:
        vx.cumulative_sum(vx.zeros((5000,), dtype=dtype))
        if dtype is not vx.bool:
            vx.cumulative_prod(vx.zeros((5000,), dtype=dtype), dtype=dtype)
    assert used
    assert set(used) <= known


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_out(name):
    values = np.arange(1, 7, dtype=np.int32).reshape(2, 3)
    out = vx.zeros((2, 3), dtype=vx.float32)
    result = getattr(vx, name)(vx.asarray(values), axis=1, out=out)
    assert result is out
    assert np.array_equal(np.asarray(out), getattr(np, name)(values, axis=1))
    longer = vx.zeros((2, 4), dtype=supported([vx.float32, vx.float64])[-1])[:, ::-1]
    getattr(vx, name)(vx.asarray(values), axis=1, include_initial=True, out=longer)
    assert np.array_equal(np.asarray(longer), getattr(np, name)(values, axis=1, include_initial=True))
    with pytest.raises(ValueError, match=name):
        getattr(vx, name)(vx.asarray(values), axis=1, out=vx.zeros((3, 2)))
