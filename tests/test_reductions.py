"""Every reduction of the registry on every type and layout against wider arithmetic, with the bounds of its method."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from reference import WIDER, host_dtype, random_values, supported

import vkarray as vx
from vkarray.core import layout
from vkarray.core.array import array_in
from vkarray.core.dtypes import CATEGORIES, DTYPES
from vkarray.kernels import kernel_caches, planned, reduction_run, reductions
from vkarray.kernels.reductions import REDUCTIONS

SUPPORTED = supported(DTYPES.values())
CASES = [
    (name, dtype)
    for name, row in REDUCTIONS.items()
    for dtype in SUPPORTED
    if row.accepts(dtype)
    # The mean of integers is a float64.
    and (dtype in CATEGORIES["floating-point"] or row.types not in ("floating", "pair") or vx.float64 in SUPPORTED)
]  # fmt: skip
SUMS = ("sum", "prod", "mean", "var", "std")
PLACES = ("argmax", "argmin")


def unit_roundoff(dtype) -> float:
    return vx.finfo(dtype).eps / 2


def depth(count: int) -> float:
    """Additions that an element goes through at most: 16 one after the other and a binary tree, at each of two levels."""
    return 32 + np.log2(count + 1)


def values_of(dtype, shape, seed: int = 0) -> np.ndarray:
    """Ordinary numbers; integers from the whole range; a tenth of them zero."""
    generator = np.random.default_rng(seed)
    count = int(np.prod(shape))
    if dtype in CATEGORIES["integer"] or dtype is vx.bool:
        values = random_values(dtype, count, seed)
    else:
        values = generator.standard_normal(count) * 3 + 1
        if dtype.category == "complex floating":
            values = values + 1j * generator.standard_normal(count)
    values = np.where(generator.random(count) < 0.1, 0, values).astype(host_dtype(dtype)).reshape(shape)
    return rounded_to(values, dtype)


def rounded_to(values: np.ndarray, dtype) -> np.ndarray:
    if dtype is not vx.bfloat16:
        return values
    return (np.asarray(values, np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


def layouts(values: np.ndarray, dtype):
    """(host view, device view) pairs of the same elements."""
    device = vx.asarray(values, dtype=dtype)
    yield values, device
    yield values.transpose(), vx.permute_dims(device, tuple(range(values.ndim))[::-1])
    yield values[::-1, :, ::-2], device[::-1, :, ::-2]
    yield values[..., 1:], device[..., 1:]
    yield np.broadcast_to(values[:, :1], (3, *values.shape)), vx.broadcast_to(device[:, :1], (3, *values.shape))


def integer_width(dtype) -> np.dtype:
    """NumPy's type of a sum: the default integer of the device for narrower ones."""
    default = vx.asarray(0).dtype
    if dtype is vx.bool or (dtype.category == "signed integer" and dtype.bits < default.bits):
        return np.dtype(default.name)
    return np.dtype(f"u{default.name}" if dtype.bits < default.bits else dtype.name)


def check(name: str, dtype, values: np.ndarray, result: vx.VkArray, **options) -> None:
    """Compare with NumPy: exactly for integers, booleans and choices, within the bound of the method for sums."""
    reference = getattr(np, name)
    got = np.asarray(result)
    integers = dtype in CATEGORIES["integer"] or dtype is vx.bool
    if name in ("sum", "prod") and integers:
        expected = reference(values, dtype=integer_width(dtype), **options)
        assert result.dtype.name == expected.dtype.name
        np.testing.assert_array_equal(got, expected)
        return
    if name not in SUMS:
        expected = reference(values, **options)
        np.testing.assert_array_equal(got, expected)
        wanted = (
            vx.asarray(0).dtype if name in (*PLACES, "count_nonzero") else vx.bool if name in ("all", "any") else dtype
        )
        assert result.dtype is wanted
        assert got.shape == np.shape(expected)
        return
    floating = vx.float64 if integers else dtype
    assert result.dtype is floating
    wide = values.astype(np.float64 if integers else values.dtype).astype(WIDER[floating.name])
    with np.errstate(all="ignore"):
        expected = reference(wide, **options)
        axis = options.get("axis")
        count = wide.size // max(expected.size, 1) if axis != () else 1
        accumulated = {"float16": vx.float32, "bfloat16": vx.float32}.get(floating.name, floating)
        unit = unit_roundoff(accumulated)
        size = {
            "sum": lambda: np.sum(np.abs(wide), **options),
            "mean": lambda: np.mean(np.abs(wide), **options) * 2,
            "prod": lambda: np.abs(expected) * count * 4,
        }.get(name, lambda: np.abs(expected) * 4)()
        # A value that rounds to zero or below the normal numbers has the error of those.
        bound = (
            depth(count) * unit * size
            + unit_roundoff(floating) * np.abs(expected)
            + vx.finfo(accumulated).smallest_normal
        )
        if accumulated is not floating:
            bound = bound + vx.finfo(floating).smallest_normal * unit_roundoff(floating) * 2
        errors = np.abs(got.astype(wide.dtype) - expected)
        overflowed = np.abs(expected) > vx.finfo(floating).max
    assert got.shape == np.shape(expected)
    assert np.all((errors <= bound) | overflowed), f"{np.max(errors / bound)} times the bound"


@pytest.mark.usefixtures("numpy_types")
@pytest.mark.parametrize(("name", "dtype"), CASES, ids=lambda value: str(value))
def test_layouts_and_axes(name, dtype):
    function = getattr(vx, name)
    values = values_of(dtype, (4, 5, 70))
    for host, array in layouts(values, dtype):
        axes = [None, 0, -1, 1] if name in PLACES else [None, 0, -1, (0, 2), ()]
        for axis in axes if host.flags.c_contiguous else axes[1:3]:
            check(name, dtype, host, function(array, axis=axis), axis=axis)
    check(name, dtype, values, function(vx.asarray(values, dtype=dtype), axis=1, keepdims=True), axis=1, keepdims=True)
    zero_dimensional = values[0, 0, 0]
    check(name, dtype, zero_dimensional, function(vx.asarray(values, dtype=dtype)[0, 0, 0]))


# The lengths straddle blocks, chunks of both sizes and the need for a second and a third dispatch.
@pytest.mark.parametrize("length", [1, 7, 31, 33, 128, 1000, 4095, 4097, 16385, 40001, 10**6 + 3])
@pytest.mark.parametrize("name", ["sum", "mean", "var", "max", "argmin", "any"])
def test_lengths(name, length):
    values = values_of(vx.float32, (length,), length)
    check(name, vx.float32, values, getattr(vx, name)(vx.asarray(values)))


@pytest.mark.parametrize("shape", [(70001, 3), (3, 70001), (5, 9000, 7), (2, 3, 4, 5, 2, 3), (40, 1, 33)])
def test_rows_columns_and_the_middle(shape):
    values = values_of(vx.int16, shape)
    array = vx.asarray(values)
    for count in range(1, len(shape) + 1):
        for axes in itertools.combinations(range(len(shape)), count):
            check("sum", vx.int16, values, vx.sum(array, axis=axes), axis=axes)
            check("max", vx.int16, values, vx.max(array, axis=axes), axis=axes)
    for axis in range(len(shape)):
        check("argmax", vx.int16, values, vx.argmax(array, axis=axis), axis=axis)


def bits(array: vx.VkArray) -> bytes:
    return np.asarray(array).tobytes()


def evaluate(dtype) -> list[bytes]:
    """Results that depend on the order of combination, in all access patterns."""
    found = []
    shapes = [((3,), 0), ((300,), 0), ((50003,), None), ((17, 1100), 1), ((1100, 17), 0), ((6000, 300), 0)]
    # Whole blocks, which CPU drivers walk without asking for the end.
    shapes += [((1 << 16,), 0), ((3, 1 << 14), 1), ((5, 128), 1)]
    for shape, axis in shapes:
        array = vx.asarray(values_of(dtype, shape, 5), dtype=dtype)
        found += [bits(vx.sum(array, axis=axis)), bits(vx.mean(array, axis=axis))]
        if dtype is not vx.complex64:
            found += [bits(vx.var(array, axis=axis)), bits(vx.argmax(array, axis=axis)), bits(vx.max(array, axis=axis))]
    return found


@pytest.mark.parametrize("dtype", [vx.float32, vx.float16, vx.complex64], ids=str)
def test_shared_memory_does_not_change_a_bit(dtype, device, monkeypatch):
    """The kernels for GPUs and those for CPU drivers combine in the same order, whatever lanes and packs an invocation takes."""
    if device.limits.max_workgroup_invocations < 256:
        pytest.skip(f"{device.name}: maxComputeWorkGroupInvocations is below the 256 of the kernels with shared memory")
    results = []
    usual = reduction_run._MANY_CHUNKS, reduction_run._COLUMNS_GROUPS
    cases = [(False, usual), (True, usual), (True, (1, usual[1]))]
    if dtype is vx.float32:
        cases.append((True, (1, dict.fromkeys(usual[1], (256, 256)))))
    registers = {device.limits.registers}
    cases = [(*case, 16, set()) for case in cases] + [(True, usual, 1, set()), (True, usual, 1, registers)]
    for shared, (many, groups), lean_from, single in cases:
        monkeypatch.setattr(reduction_run, "TAKES_SINGLE_PACKS", single)
        monkeypatch.setitem(reduction_run._LEAN_FROM, device.limits.registers, lean_from)
        monkeypatch.setattr(reduction_run, "uses_shared_memory", lambda device, shared=shared: shared)
        monkeypatch.setattr(reduction_run, "_MANY_CHUNKS", many)
        monkeypatch.setattr(reduction_run, "_COLUMNS_GROUPS", groups)
        results.append(evaluate(dtype))
    assert results[1:] == results[:1] * (len(cases) - 1)


@pytest.mark.parametrize("name", ["mean", "var", "std"])
@pytest.mark.parametrize("dtype", supported([vx.int8, vx.int16, vx.int32, vx.uint8, vx.uint16]), ids=str)
def test_least_and_greatest_integers(dtype, name):
    """Compilers may negate in 8 bits, where -128 stays what it is."""
    info = np.iinfo(dtype.name)
    values = np.random.default_rng(3).choice(np.array([info.min, info.min, info.max, 0, 1], dtype.name), (9, 27, 98))
    array = vx.asarray(values)
    for cut in (slice(None), slice(49), slice(None, None, 2), slice(None, None, -1)):
        for axes in ((1, 2), 1, 0, 2):
            got = np.asarray(getattr(vx, name)(array[:, :, cut], axis=axes), np.float64)
            expected = getattr(np, name)(values[:, :, cut].astype(np.float64), axis=axes)
            assert np.allclose(got, expected, rtol=1e-5, atol=abs(info.min) * 1e-5), (cut, axes)


@pytest.mark.parametrize("dtype", supported([vx.float32, vx.bfloat16, vx.int8, vx.float64]), ids=str)
def test_the_layout_does_not_change_a_bit(dtype):
    """Rows that are packed, lie across, begin at an odd address, have gaps, and lie in two dimensions."""
    values = values_of(dtype, (9, 1323), 7)
    packed = vx.asarray(values, dtype=dtype)
    across = vx.asarray(np.ascontiguousarray(values.T), dtype=dtype).T
    shifted = vx.concat([packed[:, :1], packed], axis=1)[:, 1:]
    gaps = vx.reshape(vx.stack([packed, packed], axis=2), (9, 2646))[:, ::2]
    folded = vx.concat([vx.reshape(packed, (9, 27, 49))] * 2, axis=2)[:, :, :49]
    for name in ("sum", "max", "argmin", "var"):
        if name == "var" and dtype in CATEGORIES["integer"] and vx.float64 not in SUPPORTED:
            continue
        function = getattr(vx, name)
        wanted = bits(function(packed, axis=1))
        for other in (across, shifted, gaps):
            assert bits(function(other, axis=1)) == wanted, name
        if name != "argmin":
            assert bits(function(folded, axis=(1, 2))) == wanted, name


def limit_indices(monkeypatch, limit: int) -> None:
    """Let shaders index no farther than `limit`: arrays beyond it are sliced, or copied where strides reach too far."""
    monkeypatch.setattr(layout, "index_limit", lambda itemsize: limit)


@pytest.mark.parametrize("shared", [False, True])
def test_slices_and_workgroup_limits(shared, device, monkeypatch):
    """What arrays beyond 2**31 elements and 65,535 workgroups need, with small limits in their place."""
    if shared and device.limits.max_workgroup_invocations < 256:
        pytest.skip(f"{device.name}: maxComputeWorkGroupInvocations is below the 256 of the kernels with shared memory")
    monkeypatch.setattr(reduction_run, "uses_shared_memory", lambda device: shared)
    cases = [((300_001,), 0), ((700, 900), 0), ((700, 900), 1), ((90, 50, 60), 1), ((3, 100_000), 1), ((100_000, 3), 0),
             ((90, 50, 60), (0, 2)), ((90, 50, 60), None)]  # fmt: skip
    arrays = [vx.asarray(values_of(vx.float32, shape)) for shape, _ in cases]

    def results():
        sums = [bits(vx.sum(array, axis=axis)) for array, (_, axis) in zip(arrays, cases, strict=True)]
        return sums, [bits(vx.argmax(array, axis=axis)) for array, (_, axis) in zip(arrays[:6], cases, strict=False)]

    whole = results()
    limit_indices(monkeypatch, 200_000)
    monkeypatch.setattr(device, "limits", dataclasses.replace(device.limits, max_workgroup_count=(3, 65535, 65535)))
    planned.forget()  # and kernels: what they know of the limits is that of before
    kernel_caches.forget()
    assert results() == whole
    kernel_caches.forget()


def test_more_workgroups_than_one_dimension_holds(few_workgroups):
    rows = 64 * 256 + 3
    found = vx.any(vx.broadcast_to(vx.asarray([False, True], device=few_workgroups), (rows, 2)), axis=1)
    assert found.shape == (rows,)
    assert int(vx.count_nonzero(found)) == rows


def test_row_slices_cover_every_element_once():
    shape, strides, length, chunk = (5, 3), (1000, 300), 250, 16
    seen = np.zeros((5, 3, length), int)
    parts = list(layout.row_slices(shape, [strides], length, (1,), chunk, limit=100))
    for row, part, (taken,), (offset,), first, chunks in parts:
        assert int(np.prod(part)) * min(length, chunks * chunk) <= 100
        for index in np.ndindex(part):
            start = offset + np.dot(index, taken)
            place = np.unravel_index(row, shape)[0] + index[0], start % 1000 // 300
            seen[place][first * chunk : min(length, (first + chunks) * chunk)] += 1
    assert np.all(seen == 1)


# -- values -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [d for d in supported(DTYPES.values()) if d in CATEGORIES["real floating"]], ids=str)
def test_special_values(dtype):
    nan, inf = float("nan"), float("inf")
    array = vx.asarray([1.0, nan, -inf, nan, inf], dtype=dtype)
    for name in ("max", "min", "sum", "prod", "mean", "var", "std"):
        assert np.isnan(float(getattr(vx, name)(array))), name
    assert int(vx.argmax(array)) == int(vx.argmin(array)) == 1
    assert bool(vx.all(array))
    assert bool(vx.any(array[1:2]))
    assert int(vx.count_nonzero(array)) == 5
    assert float(vx.max(array[2:3])) == float(vx.min(array[2:5:2])) == -inf
    assert float(vx.sum(array[4:])) == inf
    zeros = vx.asarray([-0.0, 0.0, -0.0], dtype=dtype)
    assert int(vx.argmax(zeros)) == int(vx.argmin(zeros)) == 0
    assert not bool(vx.any(zeros))
    assert not np.signbit(float(vx.sum(zeros)))


@pytest.mark.parametrize("name", ["sum", "mean"])
@pytest.mark.parametrize("dtype", [d for d in SUPPORTED if d in CATEGORIES["floating-point"]], ids=str)
def test_sums_begin_with_zero(dtype, name):
    function = getattr(vx, name)
    for length in (1, 2, 9, 300, 9000):
        zeros = -vx.zeros((3, length), dtype=dtype)
        assert np.signbit(np.asarray(vx.real(zeros) if dtype.kind == "c" else zeros)).all()
        for array, axis in itertools.product((zeros, zeros.T), (None, 0, 1)):
            compiled = vx.compile(lambda array, axis=axis: function(vx.negative(vx.negative(array)), axis=axis))
            for called in ("at once", "compiled"):
                total = function(array, axis=axis) if called == "at once" else compiled(array)
                for part in (vx.real(total), vx.imag(total)) if dtype.kind == "c" else (total,):
                    values = np.asarray(part, np.float32)
                    right = (values == 0) & ~np.signbit(values)
                    assert right.all(), f"{called}: {array.shape}, axis={axis}"


# The bits of numbers in ascending order; NaN of both signs and several payloads.
SMALL = {
    vx.float16: ([0xFC00, 0xFBFF, 0xBC00, 0x8400, 0x83FF, 0x8001, 0x8000, 0x0000, 0x0001, 0x03FF, 0x0400, 0x3C00, 0x7BFF, 0x7C00],
                 [0x7C01, 0x7E00, 0x7FFF, 0xFC01, 0xFE00, 0xFFFF]),
    vx.bfloat16: ([0xFF80, 0xFF7F, 0xBF80, 0x8080, 0x807F, 0x8001, 0x8000, 0x0000, 0x0001, 0x007F, 0x0080, 0x3F80, 0x7F7F, 0x7F80],
                  [0x7F81, 0x7FC0, 0x7FFF, 0xFF81, 0xFFC0, 0xFFFF]),
    vx.float32: ([0xFF800000, 0xFF7FFFFF, 0xBF800000, 0x80800000, 0x807FFFFF, 0x80000001, 0x80000000, 0x00000000, 0x00000001,
                  0x007FFFFF, 0x00800000, 0x3F800000, 0x7F7FFFFF, 0x7F800000],
                 [0x7F800001, 0x7FC00000, 0x7FFFFFFF, 0xFF800001, 0xFFC00000, 0xFFFFFFFF]),
}  # fmt: skip


def taken_as(dtype, array: vx.VkArray) -> vx.VkArray:
    """The stored elements of a contiguous array as those of another type of their size."""
    return array_in(array._buffer, array._offset, array._shape, array._strides, dtype, array._device)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("dtype", SMALL, ids=str)
def test_extremes_by_their_bits(dtype, shared, device, monkeypatch):
    """Neighbours in the order of numbers, subnormals and zeros among them, and NaN, in every pair and beyond a chunk."""
    if shared and device.limits.max_workgroup_invocations < 256:
        pytest.skip(f"{device.name}: maxComputeWorkGroupInvocations is below the 256 of the kernels with shared memory")
    monkeypatch.setattr(reduction_run, "uses_shared_memory", lambda device: shared)
    word = {2: vx.uint16, 4: vx.uint32}[dtype.itemsize]
    ascending, nans = (np.array(words, word.name) for words in SMALL[dtype])
    count, zero = len(ascending), 6

    def stored(words: np.ndarray) -> vx.VkArray:
        return taken_as(dtype, vx.asarray(np.ascontiguousarray(words)))

    def words_of(array: vx.VkArray) -> list[int]:
        return np.asarray(taken_as(word, array)).tolist()

    first, second = (part.ravel() for part in np.meshgrid(np.arange(count), np.arange(count), indexing="ij"))
    pairs = np.stack([first, second], axis=1)
    rank = np.where(np.isin(pairs, (zero, zero + 1)), zero, pairs)
    for axis, array in ((1, stored(ascending[pairs])), (0, stored(ascending[pairs.T]))):
        assert words_of(vx.max(array, axis=axis)) == ascending[np.maximum(first, second)].tolist()
        assert words_of(vx.min(array, axis=axis)) == ascending[np.minimum(first, second)].tolist()
        np.testing.assert_array_equal(np.asarray(vx.argmax(array, axis=axis)), np.argmax(rank, axis=1))
        np.testing.assert_array_equal(np.asarray(vx.argmin(array, axis=axis)), np.argmin(rank, axis=1))
    numbers = np.resize(ascending, (3, 20_011))
    for place, nan in enumerate(nans):
        words = numbers.copy()
        words[1, 17_000 + place] = nan
        words[1, 17_500:17_520] = nans[place - 1]
        array = stored(words)
        for name in ("max", "min"):
            found = getattr(vx, name)(array, axis=1)
            assert np.isnan(np.asarray(vx.astype(found, vx.float32))).tolist() == [False, True, False]
            assert words_of(found)[1] == nans[1]
        for name, place_of_number in (("argmax", count - 1), ("argmin", 0)):
            assert np.asarray(getattr(vx, name)(array, axis=1))[1] == 17_000 + place
            assert np.asarray(getattr(vx, name)(array, axis=1))[0] == place_of_number


def test_a_complex_product_keeps_infinities():
    values = np.array([complex(np.inf, 1), 2], np.complex64)
    with np.errstate(invalid="ignore"):
        expected = np.prod(values)
    np.testing.assert_array_equal(np.asarray(vx.prod(vx.asarray(values))), expected)


def test_empty():
    empty = vx.zeros((0, 3))
    assert float(vx.sum(empty)) == 0
    assert float(vx.prod(empty)) == 1
    assert bool(vx.all(empty))
    assert not bool(vx.any(empty))
    assert int(vx.count_nonzero(empty)) == 0
    for name in ("mean", "var", "std"):
        assert np.isnan(np.asarray(getattr(vx, name)(empty, axis=0))).tolist() == [True] * 3
    for name in ("max", "min", "argmax", "argmin"):
        with pytest.raises(
            ValueError, match=f"^{name}: expected at least one element along the reduced axes, got shape"
        ):
            getattr(vx, name)(empty, axis=0)
        with pytest.raises(ValueError, match="at least one element"):  # as NumPy, though there are no results either
            getattr(vx, name)(vx.zeros((0, 0)), axis=0)
        assert getattr(vx, name)(empty, axis=1).shape == (0,)


def test_variance_of_a_small_spread_round_a_large_mean():
    """No cancellation: the rounding of the mean alone is larger than the spread here."""
    generator = np.random.default_rng(3)
    values = (generator.standard_normal(100_003) + 1e6).astype(np.float32)
    expected = np.var(values.astype(np.float64), ddof=1)
    assert abs(float(vx.var(vx.asarray(values), correction=1)) - expected) <= 1e-5 * expected


def spread_cases():
    generator = np.random.default_rng(11)
    for count in (2, 3, 5, 17, 63, 64, 65, 127, 1000, 1024, 4097, 20_011):
        values = generator.standard_normal(count).astype(np.float32)
        yield values
        for place in (0, count // 2, count - 1):  # the center of some lane comes from a number far from all others
            outlier = values.copy()
            outlier[place] = 1e6
            yield outlier
        yield (values * 1e-3 + 1e3).astype(np.float32)
        yield np.where(np.arange(count) < count // 3, 1e4 + values, values).astype(np.float32)
        yield np.sort(values) * np.float32(1e15)


def test_variance_within_its_bound():
    for values in spread_cases():
        check("var", vx.float32, values, vx.var(vx.asarray(values)))
        columns = np.stack([values, values[::-1], np.roll(values, 3)], axis=1)
        check("var", vx.float32, columns, vx.var(vx.asarray(columns), axis=0), axis=0)


def test_variance_of_what_is_not_finite_and_of_equal_numbers():
    for count in (1, 5, 16, 17, 64, 1000, 5000):
        for value in (0.0, 0.1, -3e38, 1e-45, 123456.7):
            assert float(vx.var(vx.full((count,), value, dtype=vx.float32))) == 0
        for special in (np.nan, np.inf, -np.inf):
            for place in {0, count // 2, count - 1}:
                values = np.ones(count, np.float32)
                values[place] = special
                assert np.isnan(float(vx.var(vx.asarray(values))))
    assert float(vx.var(vx.asarray([3e38, -3e38], dtype=vx.float32))) == np.inf
    assert float(vx.var(vx.asarray([1e30, -1e30] * 300, dtype=vx.float32))) == np.inf
    for length in (2, 16, 128, 512, 3000):  # deviations, and sums of them, overflow with either sign
        values = [3e38] * length + [-3e38] * 3 * length
        assert float(vx.var(vx.asarray(values, dtype=vx.float32))) == np.inf
        assert np.isnan(float(vx.var(vx.asarray([*values, np.inf], dtype=vx.float32))))


def test_correction():
    values = np.array([1.0, 2.0, 4.0], np.float32)
    array = vx.asarray(values)
    for correction in (0, 1, 0.5):
        expected = np.sum((values - values.mean(dtype=np.float64)) ** 2) / (3 - correction)
        np.testing.assert_allclose(float(vx.var(array, correction=correction)), expected, rtol=1e-6)
    for correction in (3, 4):
        assert np.isnan(float(vx.var(array, correction=correction)))
        assert np.isnan(float(vx.std(array, correction=correction)))


def test_dtype_of_sum_and_prod():
    values = np.array([100, 100, 100], np.int8)
    array = vx.asarray(values)
    for name, dtype in itertools.product(
        ("sum", "prod"), supported([vx.int8, vx.uint16, vx.float16, vx.float32, vx.complex64])
    ):
        result = getattr(vx, name)(array, dtype=dtype)
        assert result.dtype is dtype
        with np.errstate(over="ignore"):
            np.testing.assert_allclose(np.asarray(result), getattr(np, name)(values, dtype=dtype.name), rtol=1e-3)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: vx.sum(x, axis=2), IndexError, "sum: axis 2 is out of range for an array of 2 dimensions; expected -2 to 1."),
        (lambda x: vx.mean(x, axis=(0, 0)), ValueError, "mean: axis (0, 0) names a dimension twice."),
        (lambda x: vx.argmax(x, axis=(0, 1)), TypeError,
         "argmax: expected one axis or None, got (0, 1). Reshape x to search several axes at once."),
        (lambda x: vx.cumulative_sum(x, axis=0, dtype=vx.bool), TypeError,
         "cumulative_sum: float32 elements have no cumulative_sum of dtype bool. Ask for a type that holds them."),
        (lambda x: vx.var(x, correction="1"), TypeError, "var: expected a real number as correction, got '1'."),
    ],
)  # fmt: skip
def test_errors(call, error, message):
    with pytest.raises(error) as found:
        call(vx.zeros((2, 3)))
    assert str(found.value) == message


def test_other_types_are_refused():
    with pytest.raises(TypeError, match=r"^sum: expected a vkarray array, got numpy\.ndarray\. Convert it"):
        vx.sum(np.zeros(2))


# -- diff -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("n", [0, 1, 2, 6])
def test_diff(axis, n):
    values = values_of(vx.int16, (5, 7))
    result = vx.diff(vx.asarray(values), axis=axis, n=n)
    np.testing.assert_array_equal(np.asarray(result), np.diff(values, axis=axis, n=n))
    around = {"prepend": values[::-1], "append": values}
    result = vx.diff(vx.asarray(values), axis=axis, n=n, **{key: vx.asarray(value) for key, value in around.items()})
    np.testing.assert_array_equal(np.asarray(result), np.diff(values, axis=axis, n=n, **around))


def test_diff_refuses_a_negative_n():
    with pytest.raises(ValueError, match=r"^diff: expected n of 0 or more, got -1\."):
        vx.diff(vx.zeros(3), n=-1)


# -- the archive ------------------------------------------------------------------------------------------------


def test_variants_hold_what_a_run_asks_for(device, monkeypatch):
    """Every shader that reductions use is among those that go into the archive."""
    known = set(reductions.variants(device))
    used = []
    monkeypatch.setattr(reduction_run, "variant_of", lambda row, *types: used.append(row.variant(*types)) or used[-1])
    for name, dtype in CASES:
        getattr(vx, name)(vx.zeros((70_001,), dtype=dtype))
    assert used
    assert set(used) <= known
