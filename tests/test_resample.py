"""Interpolation and padding as a matrix for each dimension, and their gradients as its transpose."""

from __future__ import annotations

import numpy as np
import pytest
from reference import host_dtype, supported

import vkarray as vx
from vkarray.command import catalogue
from vkarray.nn import resample
from vkarray.shaders import source as shaders

DTYPES = supported([vx.float16, vx.bfloat16, vx.float32, vx.float64])
SIZES = [((8, 6), (16, 12)), ((8, 6), (5, 13)), ((9,), (4,)), ((5,), (32,)), ((3, 4, 5), (6, 3, 7)), ((1, 7), (4, 1))]
METHODS = [
    ("nearest", False),
    ("nearest-exact", False),
    ("linear", False),
    ("linear", True),
    ("cubic", False),
    ("cubic", True),
]


def _cubic(distance, a=-0.75):
    x = abs(distance)
    return (a + 2) * x**3 - (a + 3) * x**2 + 1 if x <= 1 else a * (x**3 - 5 * x**2 + 8 * x - 4)


def _matrix(length, result, method, aligned, scale=None):
    """What the elements of a dimension give to each place of the result."""
    matrix = np.zeros((result, length))
    scale = length / result if scale is None else 1 / scale
    for place in range(result):
        if aligned:
            at = place * ((length - 1) / (result - 1) if result > 1 else 0)
        else:
            at = place * scale if method == "nearest" else (place + 0.5) * scale - 0.5 * (method != "nearest-exact")
        at = max(at, 0) if method == "linear" else at
        below = int(np.floor(at))
        taps = {"linear": (0, 1), "cubic": (-1, 0, 1, 2)}.get(method, (0,))
        for tap in taps:
            weight = (
                1 if len(taps) == 1 else 1 - abs(at - below - tap) if method == "linear" else _cubic(at - below - tap)
            )
            matrix[place, min(max(below + tap, 0), length - 1)] += weight
    return matrix


def _applied(x, matrices):
    for axis, matrix in enumerate(matrices, 2):
        x = np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis)
    return x


def _values(shape, dtype, seed=0):
    array = vx.astype(vx.asarray(np.random.default_rng(seed).standard_normal(shape).astype(host_dtype(dtype))), dtype)
    return np.asarray(array).astype(np.float64), array


def _check(got, x, matrices, dtype, places):
    """|error| <= eps of the computation times the terms, with weights that are off by eps times the largest place."""
    eps = vx.finfo(dtype).eps
    wide = vx.finfo(vx.float32).eps if dtype.bits <= 32 else eps
    expected = _applied(x, matrices)
    magnitude = _applied(np.abs(x), [np.abs(matrix) for matrix in matrices])
    terms = sum(matrix.shape[1] for matrix in matrices)
    # A weight that should be 0 may be a little more: then the elements beside it count.
    near = wide * 8 * places * np.abs(x).max() * len(matrices)
    assert got.dtype is dtype
    assert got.shape == expected.shape
    error = np.abs(np.asarray(got).astype(np.float64) - expected)
    assert np.all(error <= wide * (terms + 2) * magnitude + eps * np.abs(expected) + near)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("method", "aligned"), METHODS)
@pytest.mark.parametrize(("size", "output"), SIZES)
def test_interpolate(size, output, method, aligned, dtype):
    x, array = _values((2, 3, *size), dtype)
    matrices = [_matrix(n, m, method, aligned) for n, m in zip(size, output, strict=True)]
    got = resample.interpolate(array, output, method, align_corners=aligned)
    _check(got, x, matrices, dtype, max(size))
    gradient, array = _values((2, 3, *output), dtype, 1)
    got = resample.interpolate_backward(array, size, method, align_corners=aligned)
    _check(got, gradient, [matrix.T for matrix in matrices], dtype, max(output))


def test_scales():
    x, array = _values((1, 2, 7, 5), vx.float32)
    output, scales = (10, 12), (1.5, 2.5)
    for method in ("nearest", "linear"):
        matrices = [_matrix(n, m, method, False, s) for n, m, s in zip((7, 5), output, scales, strict=True)]
        _check(resample.interpolate(array, output, method, scales=scales), x, matrices, vx.float32, 7)
        gradient, other = _values((1, 2, *output), vx.float32, 1)
        got = resample.interpolate_backward(other, (7, 5), method, scales=scales)
        _check(got, gradient, [matrix.T for matrix in matrices], vx.float32, 12)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("method", ["linear", "cubic"])
def test_filtered(method, dtype):
    """A filter that is as wide as the elements of the result are apart keeps constants, and has a transpose."""
    size, output = (9, 8), (4, 11)
    x, array = _values((2, 3, *size), dtype)
    matrices = []
    for n, m in zip(size, output, strict=True):
        wide, centers = max(n / m, 1), (np.arange(m)[:, None] + 0.5) * n / m
        distance = np.abs(np.arange(n) + 0.5 - centers) / wide
        shape = np.maximum(1 - distance, 0)
        if method == "cubic":
            shape = np.vectorize(lambda d: _cubic(d, -0.5) if d < 2 else 0.0)(distance)
        matrices.append(shape / shape.sum(1, keepdims=True))
    _check(resample.filtered(array, size, output, method), x, matrices, dtype, 1)
    gradient, array = _values((2, 3, *output), dtype, 1)
    got = resample.filtered(array, size, output, method, transposed=True)
    _check(got, gradient, [matrix.T for matrix in matrices], dtype, 1)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("mode", ["reflect", "replicate"])
@pytest.mark.parametrize(
    "padding", [((1, 2), (3, 0)), ((5, 5),), ((0, 1), (2, 2), (1, 0)), ((-1, 2), (3, -2))], ids=str
)
def test_padding(padding, mode, dtype):
    size = (6, 5, 4)[: len(padding)]
    _, array = _values((2, 3, *size), dtype)
    places = [
        np.pad(np.arange(n), (max(a, 0), max(b, 0)), {"reflect": "reflect", "replicate": "edge"}[mode])[max(-a, 0) :][
            : n + a + b
        ]
        for n, (a, b) in zip(size, padding, strict=True)
    ]
    got = resample.pad_repeated(array, padding, mode)
    np.testing.assert_array_equal(np.asarray(got), np.asarray(array)[(..., *np.ix_(*places))])
    gradient, array = _values(got.shape, dtype, 1)
    matrices = [np.eye(n)[at].T for n, at in zip(size, places, strict=True)]
    _check(resample.pad_repeated_backward(array, size, padding, mode), gradient, matrices, dtype, 0)


def test_padding_of_integers():
    x = np.arange(12, dtype=np.int32).reshape(1, 1, 3, 4)
    for mode, other in (("reflect", "reflect"), ("replicate", "edge")):
        got = resample.pad_repeated(vx.asarray(x), ((-1, 1), (2, 0)), mode)
        expected = np.pad(x, ((0, 0), (0, 0), (0, 1), (2, 0)), other)[:, :, 1:]
        np.testing.assert_array_equal(np.asarray(got), expected)


def test_many_places_of_one_element():
    """More places than a loop on a CPU driver has turns: the sum, or an error that says so."""
    gradient = vx.ones((1, 1, 200, 200))
    assert float(resample.interpolate_backward(gradient, (1, 1))[0, 0, 0, 0]) == 200 * 200
    gradient = vx.ones((1, 1, 400, 400))
    if gradient.device.limits.is_cpu:
        with pytest.raises(vx.FeatureError, match="too many"):
            resample.interpolate_backward(gradient, (1, 1))
    else:
        assert float(resample.interpolate_backward(gradient, (1, 1))[0, 0, 0, 0]) == 400 * 400


def test_layouts():
    _, x = _values((2, 3, 6, 5), vx.float32)
    last = vx.permute_dims(vx.asarray(vx.permute_dims(x, (0, 2, 3, 1)), copy=True), (0, 3, 1, 2))
    turned = vx.asarray(x[:, ::-1, ::-1], copy=True)[:, ::-1, ::-1]
    for other in (last, turned):
        for function, arguments in (
            (resample.interpolate, ((9, 11), "linear")),
            (resample.pad_repeated, (((1, 2), (2, 1)),)),
        ):
            np.testing.assert_array_equal(np.asarray(function(other, *arguments)), np.asarray(function(x, *arguments)))
    assert resample.interpolate(vx.zeros((0, 3, 4)), 8).shape == (0, 3, 8)


def test_errors():
    x = vx.zeros((1, 2, 4, 4))
    for function, arguments, message in [
        (resample.interpolate, (x, 8, "quadratic"), "expected method nearest, nearest-exact, linear, cubic"),
        (resample.interpolate, (x, 0), "expected output_size as an integer of at least 1"),
        (resample.interpolate, (vx.zeros((1, 2, 0)), 4), "1 to 3 lengths from 1 on"),
        (resample.pad_repeated, (x, ((4, 0), (0, 0))), "below the lengths to reflect"),
        (resample.pad_repeated, (x, ((1, 1),)), "2 pairs"),
        (resample.pad_repeated, (x, ((0, 0), (-4, 0)), "replicate"), "leaves nothing"),
        (resample.pad_repeated_backward, (x, (4, 4), ((1, 1), (1, 1))), "expected a gradient of lengths"),
    ]:
        with pytest.raises(ValueError, match=message):
            function(*arguments)
    with pytest.raises(ValueError, match="align_corners is for"):
        resample.interpolate(x, 8, align_corners=True)
    with pytest.raises(TypeError, match="int32"):
        resample.interpolate(vx.astype(x, vx.int32), 8)


def test_variants_are_in_the_catalogue():
    """The families are listed, and what these tests have compiled so far is among them."""
    device, listed = vx.asarray(0).device, set()
    for module in (resample,):
        assert module.variants in catalogue.FAMILIES
        listed |= set(module.variants(device))
    assert {variant for variant in shaders._compiled if variant.template.startswith("nn/resample")} <= listed
