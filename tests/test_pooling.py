"""Pooling and its gradients against windows taken one by one with NumPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from reference import host_dtype, supported

import vkarray as vx
from vkarray.command import catalogue
from vkarray.nn import pooling
from vkarray.shaders import source as shaders

FLOATS = supported([vx.float16, vx.bfloat16, vx.float32, vx.float64])
INTEGERS = supported([vx.int8, vx.uint8, vx.int16, vx.int32, vx.int64])

# Lengths, kernel, and the other parameters.
CASES = {
    "plain": ((8, 6), (2, 2), {}),
    "overlapping": ((9, 8), (3, 3), {"stride": 2, "padding": 1}),
    "ceil": ((10, 9), (3, 2), {"stride": (2, 3), "padding": (1, 0), "ceil_mode": True}),
    "1 dimension": ((20,), (5,), {"stride": 2, "padding": 2, "ceil_mode": True}),
    "3 dimensions": ((5, 6, 7), (2, 3, 2), {"stride": 2, "padding": 1}),
}
DILATED = {
    "dilated": ((9, 11), (3, 2), {"stride": 2, "padding": 1, "dilation": (2, 3)}),
    "dilated, 1 dimension": ((17,), (3,), {"stride": 2, "padding": 1, "dilation": 4, "ceil_mode": True}),
}
ADAPTIVE = {
    "one": ((7, 5), (1, 1)), "fewer": ((7, 8), (3, 5)), "more": ((4, 3), (6, 3)), "1 dimension": ((10,), (4,)),
    "3 dimensions": ((5, 4, 6), (2, 4, 5)),
}  # fmt: skip


def _length(n, k, s, p, d, ceil):
    count = int(np.ceil((n + 2 * p - d * (k - 1) - 1) / s) if ceil else (n + 2 * p - d * (k - 1) - 1) // s) + 1
    return count - 1 if ceil and (count - 1) * s >= n + p else count


def _windows(size, kernel, stride=None, padding=0, dilation=1, ceil_mode=False):
    """For each dimension and window: the places in the array, and how many places it has within the padding."""
    rank = len(size)
    stride = np.broadcast_to(kernel if stride is None else stride, rank)
    padding, dilation = np.broadcast_to(padding, rank), np.broadcast_to(dilation, rank)
    result = []
    for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True):
        places = [np.arange(k) * d + o * s - p for o in range(_length(n, k, s, p, d, ceil_mode))]
        result.append([(at[(at >= 0) & (at < n)], int(np.sum(at < n + p))) for at in places])
    return result


def _parts(size, output):
    pairs = [[(o * n // m, -(-(o + 1) * n // m)) for o in range(m)] for n, m in zip(size, output, strict=True)]
    return [[(np.arange(first, end), end - first) for first, end in row] for row in pairs]


def _each(windows):
    """(place in the result, places in the array as an open mesh, places within the padding)"""
    for numbers in itertools.product(*(range(len(row)) for row in windows)):
        chosen = [row[number] for row, number in zip(windows, numbers, strict=True)]
        mesh = np.ix_(*(places for places, _ in chosen))
        yield (Ellipsis, *numbers), (Ellipsis, *mesh), int(np.prod([length for _, length in chosen]))


def _largest(x, windows):
    rank = len(windows)
    planes = np.arange(np.prod(x.shape[-rank:])).reshape(x.shape[-rank:])
    shape = (*x.shape[:2], *map(len, windows))
    values, indices = np.empty(shape, x.dtype), np.empty(shape, np.int64)
    for place, mesh, _ in _each(windows):
        under = x[mesh].reshape(*x.shape[:2], -1)
        if x.dtype.kind == "f":
            last = under.shape[-1] - 1 - np.argmax(np.isnan(under)[..., ::-1], -1)
            chosen = np.where(np.isnan(under).any(-1), last, np.argmax(np.where(np.isnan(under), -np.inf, under), -1))
        else:
            chosen = np.argmax(under, -1)
        values[place] = np.take_along_axis(under, chosen[..., None], -1)[..., 0]
        indices[place] = planes[mesh].reshape(-1)[chosen]
    return values, indices


def _values(shape, dtype, seed=0):
    generator = np.random.default_rng(seed)
    if dtype in INTEGERS:
        return generator.integers(0, 100, shape).astype(host_dtype(dtype))
    values = generator.standard_normal(shape).astype(host_dtype(dtype))
    return np.asarray(vx.astype(vx.asarray(values), dtype))


def _array(values, dtype):
    return vx.astype(vx.asarray(values.astype(host_dtype(dtype))), dtype)


def _close(got, expected, magnitude, terms, dtype):
    """|error| <= eps of the sums' type times terms times the sum of magnitudes, and the rounding of the result."""
    eps = vx.finfo(dtype).eps
    wide = vx.finfo(vx.float32).eps if dtype.bits <= 32 else eps
    assert got.dtype is dtype
    assert got.shape == expected.shape
    error = np.abs(np.asarray(got).astype(np.float64) - expected)
    assert np.all(error <= wide * (terms + 2) * magnitude + eps * np.abs(expected))


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS, ids=str)
@pytest.mark.parametrize("case", [*CASES, *DILATED])
def test_max_pool(case, dtype):
    size, kernel, parameters = (CASES | DILATED)[case]
    x = _values((2, 3, *size), dtype)
    plane = x.reshape(2, 3, -1)
    plane[0, 0, 5:9] = plane[0, 0].max()  # equal elements
    if dtype in FLOATS:
        plane[1, 1, 3:6:2], plane[1, 2] = np.nan, -np.inf
    values, indices = _largest(x, _windows(size, kernel, **parameters))
    got = pooling.max_pool(_array(x, dtype), kernel, **parameters)
    assert got[0].dtype is dtype
    np.testing.assert_array_equal(np.asarray(got[0]), values)
    np.testing.assert_array_equal(np.asarray(got[1]), indices)
    if dtype in FLOATS:
        gradient = _values(values.shape, dtype, 1)
        result = pooling.max_pool_backward(_array(gradient, dtype), _array(x, dtype), got[1], kernel, **parameters)
        _check_scattered(result, gradient, indices, x.shape, dtype)


def _check_scattered(got, gradient, indices, shape, dtype):
    sums, magnitudes = np.zeros((2, np.prod(shape[:2]), np.prod(shape[2:])))
    rows = np.arange(len(sums))[:, None]
    flat, wide = indices.reshape(len(sums), -1), gradient.astype(np.float64).reshape(len(sums), -1)
    np.add.at(sums, (rows, flat), wide)
    np.add.at(magnitudes, (rows, flat), np.abs(wide))
    _close(got, sums.reshape(shape), magnitudes.reshape(shape), 9, dtype)


@pytest.mark.parametrize("counted", [None, 7, True, False], ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_avg_pool(case, dtype, counted):
    size, kernel, parameters = CASES[case]
    options = (
        {"divisor_override": counted} if counted == 7 else {} if counted is None else {"count_include_pad": counted}
    )
    x = _values((2, 3, *size), dtype).astype(np.float64)
    windows = _windows(size, kernel, **parameters)
    shape = (2, 3, *map(len, windows))
    gradient = _values(shape, dtype, 1).astype(np.float64)
    expected, magnitude, back, back_magnitude = np.zeros(shape), np.zeros(shape), np.zeros_like(x), np.zeros_like(x)
    for place, mesh, within in _each(windows):
        axes = tuple(range(2, x.ndim))
        divisor = 7 if counted == 7 else x[mesh][0, 0].size if counted is False else within
        expected[place], magnitude[place] = x[mesh].sum(axes) / divisor, np.abs(x[mesh]).sum(axes) / divisor
        share = (gradient[place] / divisor)[(..., *(None,) * len(size))]
        back[mesh] += share
        back_magnitude[mesh] += np.abs(share)
    terms = int(np.prod(kernel)) + 2
    _close(pooling.avg_pool(_array(x, dtype), kernel, **parameters, **options), expected, magnitude, terms, dtype)
    got = pooling.avg_pool_backward(_array(gradient, dtype), _array(x, dtype), kernel, **parameters, **options)
    _close(got, back, back_magnitude, terms, dtype)


def test_avg_pool_of_integers():
    for dtype in INTEGERS:
        x = _values((1, 2, 6, 6), dtype)
        expected = x.reshape(1, 2, 3, 2, 3, 2).astype(np.int64).sum((3, 5)) // 4
        np.testing.assert_array_equal(np.asarray(pooling.avg_pool(_array(x, dtype), 2)), expected.astype(x.dtype))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("case", ADAPTIVE)
def test_adaptive(case, dtype):
    size, output = ADAPTIVE[case]
    x = _values((2, 3, *size), dtype)
    windows = _parts(size, output)
    values, indices = _largest(x, windows)
    got = pooling.adaptive_max_pool(_array(x, dtype), output)
    np.testing.assert_array_equal(np.asarray(got[0]), values)
    np.testing.assert_array_equal(np.asarray(got[1]), indices)
    gradient = _values(values.shape, dtype, 1)
    result = pooling.adaptive_max_pool_backward(_array(gradient, dtype), _array(x, dtype), got[1])
    _check_scattered(result, gradient, indices, x.shape, dtype)

    x, gradient = x.astype(np.float64), gradient.astype(np.float64)
    expected, magnitude, back, back_magnitude = (
        np.zeros(values.shape),
        np.zeros(values.shape),
        np.zeros_like(x),
        np.zeros_like(x),
    )
    for place, mesh, count in _each(windows):
        axes = tuple(range(2, x.ndim))
        expected[place], magnitude[place] = x[mesh].mean(axes), np.abs(x[mesh]).mean(axes)
        share = (gradient[place] / count)[(..., *(None,) * len(size))]
        back[mesh] += share
        back_magnitude[mesh] += np.abs(share)
    terms = x[0, 0].size
    _close(pooling.adaptive_avg_pool(_array(x, dtype), output), expected, magnitude, terms, dtype)
    got = pooling.adaptive_avg_pool_backward(_array(gradient, dtype), _array(x, dtype))
    _close(got, back, back_magnitude, terms, dtype)


def test_long_windows():
    """More places in a window than a loop on a CPU driver has turns."""
    x = _values((1, 2, 150_001), vx.float32)
    values, indices = pooling.adaptive_max_pool(vx.asarray(x), 2)
    half = x.shape[-1] // 2 + 1
    expected = np.stack([x[..., :half].argmax(-1), x[..., half - 1 :].argmax(-1) + half - 1], -1)
    np.testing.assert_array_equal(np.asarray(indices), expected)
    np.testing.assert_array_equal(np.asarray(values), np.take_along_axis(x, expected, -1))
    plane = _values((1, 1, 300, 300), vx.float32)
    got = pooling.avg_pool(vx.asarray(plane), 290, stride=10)
    wide = plane.astype(np.float64)[0, 0]
    for row, column in itertools.product(range(2), repeat=2):
        part = wide[10 * row : 10 * row + 290, 10 * column : 10 * column + 290]
        bound = vx.finfo(vx.float32).eps * part.size * np.abs(part).mean()
        assert abs(float(got[0, 0, row, column]) - part.mean()) <= bound
    if vx.asarray(0).device.limits.is_cpu:
        with pytest.raises(vx.FeatureError, match="too large"):
            pooling.avg_pool(vx.zeros((1, 1, 600_000)), 500_000)


def test_layouts():
    x = vx.asarray(_values((2, 3, 9, 8), vx.float32))
    values, indices = pooling.max_pool(x, 3, stride=2, padding=1)
    mean = pooling.avg_pool(x, 3, stride=2, padding=1)
    gradient = vx.asarray(_values(values.shape, vx.float32, 1))
    back = pooling.max_pool_backward(gradient, x, indices, 3, stride=2, padding=1)
    last = vx.permute_dims(vx.asarray(vx.permute_dims(x, (0, 2, 3, 1)), copy=True), (0, 3, 1, 2))
    turned = vx.asarray(x[:, :, ::-1, ::-1], copy=True)[:, :, ::-1, ::-1]
    wide = vx.zeros((4, 6, 18, 16))
    wide[::2, ::2, ::2, ::2] = x
    for other in (last, turned, wide[::2, ::2, ::2, ::2]):
        for got, expected in zip(pooling.max_pool(other, 3, stride=2, padding=1), (values, indices), strict=True):
            np.testing.assert_array_equal(np.asarray(got), np.asarray(expected))
        np.testing.assert_array_equal(np.asarray(pooling.avg_pool(other, 3, stride=2, padding=1)), np.asarray(mean))
    flipped = vx.asarray(gradient[:, :, ::-1], copy=True)[:, :, ::-1]
    permuted = vx.permute_dims(vx.asarray(vx.permute_dims(indices, (0, 2, 3, 1)), copy=True), (0, 3, 1, 2))
    got = pooling.max_pool_backward(flipped, x, permuted, 3, stride=2, padding=1)
    np.testing.assert_array_equal(np.asarray(got), np.asarray(back))
    same = pooling.avg_pool(vx.broadcast_to(x[:1], x.shape), 2)
    np.testing.assert_array_equal(np.asarray(same)[1], np.asarray(same)[0])


def test_empty_batch():
    x = vx.zeros((0, 3, 8, 8))
    values, indices = pooling.max_pool(x, 2)
    assert values.shape == indices.shape == (0, 3, 4, 4)
    assert pooling.max_pool_backward(values, x, indices, 2).shape == x.shape
    assert pooling.adaptive_avg_pool(vx.zeros((2, 3, 8, 8)), (0, 2)).shape == (2, 3, 0, 2)


def test_errors():
    x = vx.zeros((2, 4, 8, 8))
    for function, arguments, options, message in [
        (pooling.max_pool, (x, 2), {"padding": 2}, "padding of at most half of the kernel"),
        (pooling.max_pool, (x, 9), {}, "leave nothing"),
        (pooling.max_pool, (x, (2, 2, 2)), {}, "expected kernel_size as an integer of at least 1 or 2 of them"),
        (pooling.avg_pool, (x, 2), {"stride": 0}, "expected stride as an integer of at least 1"),
        (pooling.avg_pool, (x, 2), {"divisor_override": 0}, "another divisor_override than 0"),
        (pooling.avg_pool, (vx.zeros((2, 4)), 2), {}, "1 to 3 lengths"),
        (pooling.adaptive_avg_pool, (x, (1, 2, 3)), {}, "expected output_size"),
        (pooling.avg_pool_backward, (x, x, 2), {}, r"expected a gradient of shape \(2, 4, 4, 4\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            function(*arguments, **options)
    with pytest.raises(TypeError, match="bool"):
        pooling.max_pool(vx.zeros((1, 1, 4, 4), dtype=vx.bool), 2)
    values, indices = pooling.max_pool(x, 2)
    with pytest.raises(ValueError, match=r"expected indices of shape"):
        pooling.max_pool_backward(values, x, indices[:1], 2)


def test_variants_are_in_the_catalogue():
    """The families are listed, and what these tests have compiled so far is among them."""
    device, listed = vx.asarray(0).device, set()
    for module in (pooling,):
        assert module.variants in catalogue.FAMILIES
        listed |= set(module.variants(device))
    assert {variant for variant in shaders._compiled if variant.template.startswith("nn/pool")} <= listed
