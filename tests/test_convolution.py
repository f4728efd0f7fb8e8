"""Convolutions and their gradients against sums over taps in float64, within bounds of eps times the number of terms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from reference import host_dtype, supported

import vkarray as vx
from vkarray.command import catalogue
from vkarray.kernels import launch, texels
from vkarray.nn import columns, convolution_direct, convolution_products
from vkarray.nn.convolution import convolution as convolve
from vkarray.nn.convolution import convolution_backward
from vkarray.shaders import source as shaders

DTYPES = supported([vx.float16, vx.bfloat16, vx.float32, vx.float64])

# Channels of x, channels of the result, lengths, kernel, and the other parameters.
CASES = {
    "products": (16, 16, (9, 8), (3, 3), {"padding": 1}),
    "products, stride and dilation": (
        16,
        24,
        (14, 15),
        (3, 2),
        {"stride": (2, 1), "padding": (1, 2), "dilation": (2, 3)},
    ),
    "products, stride": (16, 16, (9, 10), (3, 4), {"stride": 2, "padding": (1, 2)}),
    "products, groups": (16, 32, (9, 10), (3, 3), {"padding": 1, "groups": 2}),
    "products, many windows": (12, 16, (17, 16), (3, 3), {"padding": 1}),
    "one tap": (16, 12, (12, 12), (1, 1), {}),
    "one tap, few windows": (16, 12, (3, 5), (1, 1), {}),
    "one tap, stride": (16, 12, (9, 10), (1, 1), {"stride": 2}),
    "few channels": (3, 4, (7, 9), (3, 2), {"stride": 2, "padding": 1}),
    "depthwise": (8, 8, (9, 8), (3, 3), {"stride": 2, "padding": 1, "groups": 8}),
    "depthwise, wide": (6, 6, (11, 13), (5, 7), {"padding": (2, 3), "groups": 6}),
    "depthwise, square": (4, 8, (19, 10), (5, 5), {"padding": 2, "groups": 4}),
    "depthwise, cubes": (3, 3, (4, 11, 6), (2, 3, 3), {"padding": 1, "stride": (2, 1, 1), "groups": 3}),
    "depthwise, dilated": (4, 4, (11, 13), (3, 4), {"padding": 2, "stride": 3, "dilation": (1, 2), "groups": 4}),
    "depthwise, several of each": (4, 12, (9, 8), (3, 3), {"padding": 2, "dilation": 2, "groups": 4}),
    "products, uneven padding": (16, 16, (9, 8), (3, 3), {"padding": ((0, 1), (2, 0)), "stride": 2}),
    "one tap, uneven padding": (16, 12, (7, 8), (1, 1), {"padding": ((0, 1), (2, 1))}),
    "few channels, uneven padding": (3, 4, (7, 9), (3, 2), {"padding": ((2, 0), (0, 3)), "dilation": 2}),
    "depthwise, uneven padding": (8, 8, (9, 8), (3, 3), {"stride": 2, "padding": ((0, 1), (0, 1)), "groups": 8}),
    "depthwise, uneven, cubes": (3, 3, (4, 11, 6), (2, 3, 3), {"padding": ((0, 1), (2, 0), (0, 2)), "groups": 3}),
    "1 dimension": (16, 32, (40,), (5,), {"stride": 3, "padding": 2}),
    "3 dimensions": (12, 24, (5, 6, 7), (3, 2, 3), {"stride": 2, "padding": 1, "groups": 3}),
}


def _taps(kernel):
    return itertools.product(*map(range, kernel))


def _parameters(rank, stride=1, padding=0, dilation=1, groups=1):
    """The stride, the padding (pairs) and the dilation of each dimension, and the groups."""
    stride, dilation = (np.broadcast_to(value, rank).tolist() for value in (stride, dilation))
    if np.ndim(padding) < 2:
        padding = np.stack([np.broadcast_to(padding, rank)] * 2, axis=1).tolist()
    return stride, padding, dilation, groups


def _places(tap, output, stride, dilation):
    """The elements of a padded array under a tap of all windows."""
    return tuple(
        slice(t * d, t * d + (o - 1) * s + 1, s) for t, o, s, d in zip(tap, output, stride, dilation, strict=True)
    )


def _padded(array, padding):
    return np.pad(array, [(0, 0), (0, 0), *padding])


def _made(x, w, **parameters):
    stride, padding, dilation, groups = _parameters(x.ndim - 2, **parameters)
    kernel = w.shape[2:]
    x = _padded(x, padding)
    output = [(n - d * (k - 1) - 1) // s + 1 for n, s, d, k in zip(x.shape[2:], stride, dilation, kernel, strict=True)]
    m, c = w.shape[0] // groups, w.shape[1]
    result = np.zeros((x.shape[0], w.shape[0], *output))
    for tap in _taps(kernel):
        under = x[(slice(None), slice(None), *_places(tap, output, stride, dilation))]
        for g in range(groups):
            weights = w[(slice(g * m, g * m + m), slice(None), *tap)]
            result[:, g * m : g * m + m] += np.einsum("mc,nc...->nm...", weights, under[:, g * c : g * c + c])
    return result


def _slid(made, w, size, **parameters):
    stride, padding, dilation, groups = _parameters(made.ndim - 2, **parameters)
    m, c = w.shape[0] // groups, w.shape[1]
    whole = [n + sum(p) for n, p in zip(size, padding, strict=True)]
    result = np.zeros((made.shape[0], c * groups, *whole))
    for tap in _taps(w.shape[2:]):
        places = (slice(None), slice(None), *_places(tap, made.shape[2:], stride, dilation))
        for g in range(groups):
            weights = w[(slice(g * m, g * m + m), slice(None), *tap)]
            part = np.einsum("mc,nm...->nc...", weights, made[:, g * m : g * m + m])
            result[:, g * c : g * c + c][places] += part
    return result[(slice(None), slice(None), *(slice(p, p + n) for (p, _), n in zip(padding, size, strict=True)))]


def _weight(x, made, shape, **parameters):
    stride, padding, dilation, groups = _parameters(x.ndim - 2, **parameters)
    x = _padded(x, padding)
    m, c = shape[0] // groups, shape[1]
    result = np.zeros(shape)
    for tap in _taps(shape[2:]):
        under = x[(slice(None), slice(None), *_places(tap, made.shape[2:], stride, dilation))]
        for g in range(groups):
            pair = (made[:, g * m : g * m + m], under[:, g * c : g * c + c])
            part = np.einsum("nmo,nco->mc", *(array.reshape(*array.shape[:2], -1) for array in pair))
            result[(slice(g * m, g * m + m), slice(None), *tap)] = part
    return result


def _values(generator, shape, dtype):
    values = generator.standard_normal(shape).astype(host_dtype(dtype))
    return np.asarray(vx.astype(vx.asarray(values), dtype)).astype(np.float64), vx.astype(vx.asarray(values), dtype)


def _check(got, expected, magnitude, terms, dtype, added=0.0):
    """|error| <= eps of the sums' type times terms times the sum of magnitudes, and the rounding of the result and what it
    is added to."""
    eps = vx.finfo(dtype).eps
    wide = vx.finfo(vx.float32).eps if dtype.bits <= 32 else eps
    got = np.asarray(got).astype(np.float64)
    assert got.shape == expected.shape
    bound = wide * (terms + 2) * magnitude + eps * (np.abs(expected) + added)
    assert np.all(np.abs(got - expected) <= bound), float(np.max(np.abs(got - expected) / bound))


def _operands(case, dtype, transposed=False, batch=2):
    channels, made, size, kernel, parameters = CASES[case]
    generator = np.random.default_rng(1)
    groups = parameters.get("groups", 1)
    shape = (channels, made // groups, *kernel) if transposed else (made, channels // groups, *kernel)
    x, vx_x = _values(generator, (batch, channels, *size), dtype)
    w, vx_w = _values(generator, shape, dtype)
    b, vx_b = _values(generator, (made,), dtype)
    return (x, w, b), (vx_x, vx_w, vx_b), parameters, generator


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_convolution(case, dtype):
    (x, w, b), arrays, parameters, generator = _operands(case, dtype)
    got = convolve(*arrays, **parameters)
    assert got.dtype is dtype
    terms = w[0].size
    bias = b.reshape(-1, *(1,) * (x.ndim - 2))
    magnitude = _made(np.abs(x), np.abs(w), **parameters) + np.abs(bias)
    plain = _made(x, w, **parameters)
    _check(got, plain + bias, magnitude, terms, dtype, np.abs(plain))

    gradient, vx_gradient = _values(generator, got.shape, dtype)
    gradients = convolution_backward(vx_gradient, *arrays[:2], **parameters)
    absolute, size, shape = np.abs(gradient), x.shape[2:], w.shape
    magnitude = _slid(absolute, np.abs(w), size, **parameters)
    _check(gradients[0], _slid(gradient, w, size, **parameters), magnitude, w[:, 0].size, dtype)
    terms = gradient[:, 0].size
    magnitude = _weight(np.abs(x), absolute, shape, **parameters)
    _check(gradients[1], _weight(x, gradient, shape, **parameters), magnitude, terms, dtype)
    axes = (0, *range(2, x.ndim))
    _check(gradients[2], gradient.sum(axes), absolute.sum(axes), terms, dtype)


@pytest.mark.parametrize("dtype", supported([vx.int8, vx.uint16, vx.int32, vx.int64]), ids=str)
@pytest.mark.parametrize("case", ["products", "one tap", "few channels"])
@pytest.mark.parametrize("transposed", [False, True])
def test_integers(transposed, case, dtype):
    """They wrap."""
    channels, made, size, kernel, parameters = CASES[case]
    generator = np.random.default_rng(2)
    shapes = (2, channels, *size), (*((channels, made) if transposed else (made, channels)), *kernel), (made,)
    x, w, b = (generator.integers(-99, 99, shape).astype(host_dtype(dtype)) for shape in shapes)
    got = convolve(*map(vx.asarray, (x, w, b)), transposed=transposed, **parameters)
    wide = [array.astype(np.float64) for array in (x, w)]
    sums = _slid(*wide, got.shape[2:], **parameters) if transposed else _made(*wide, **parameters)
    expected = (sums + b.astype(np.float64)[:, None, None]).astype(np.int64).astype(host_dtype(dtype))
    assert got.dtype is dtype
    np.testing.assert_array_equal(np.asarray(got), expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_transposed(case, dtype):
    (x, w, b), arrays, parameters, generator = _operands(case, dtype, True)
    rank = x.ndim - 2
    stride, padding, dilation, _ = _parameters(rank, **parameters)
    more = [min(1, max(s, d) - 1) for s, d in zip(stride, dilation, strict=True)]
    size = [
        (n - 1) * s - sum(p) + d * (k - 1) + o + 1
        for n, s, p, d, k, o in zip(x.shape[2:], stride, padding, dilation, w.shape[2:], more, strict=True)
    ]
    got = convolve(*arrays, transposed=True, output_padding=tuple(more), **parameters)
    bias = b.reshape(-1, *(1,) * rank)
    magnitude = _slid(np.abs(x), np.abs(w), size, **parameters) + np.abs(bias)
    plain = _slid(x, w, size, **parameters)
    _check(got, plain + bias, magnitude, w[:, 0].size, dtype, np.abs(plain))

    gradient, vx_gradient = _values(generator, got.shape, dtype)
    first, second, third = convolution_backward(
        vx_gradient, *arrays[:2], transposed=True, output_padding=tuple(more), wanted=(True, True, False), **parameters
    )
    assert third is None
    absolute = np.abs(gradient)
    # With much output padding one more window would fit.
    windows = tuple(slice(n) for n in x.shape)
    magnitude = _made(absolute, np.abs(w), **parameters)[windows]
    _check(first, _made(gradient, w, **parameters)[windows], magnitude, w[0].size, dtype)
    magnitude = _weight(absolute, np.abs(x), w.shape, **parameters)
    _check(second, _weight(gradient, x, w.shape, **parameters), magnitude, x[:, 0].size, dtype)


def _layouts(array):
    """The same values in other layouts: channels last, a slice of a larger array, steps backwards."""
    order = (0, *range(2, array.ndim), 1)
    last = vx.permute_dims(
        vx.asarray(vx.permute_dims(array, order), copy=True), (0, array.ndim - 1, *range(1, array.ndim - 1))
    )
    wide = vx.zeros(tuple(2 * n + 1 for n in array.shape), dtype=array.dtype)
    inner = tuple(slice(1, 2 * n + 1, 2) for n in array.shape)
    wide[inner] = array
    turned = vx.asarray(array[..., ::-1, :] if array.ndim > 3 else array[:, ::-1], copy=True)
    return {
        "channels last": last,
        "slice": wide[inner],
        "backwards": turned[..., ::-1, :] if array.ndim > 3 else turned[:, ::-1],
    }


@pytest.mark.parametrize("case", ["products", "one tap", "one tap, few windows", "depthwise", "1 dimension"])
def test_layouts(case):
    _, (x, w, b), parameters, generator = _operands(case, vx.float32)
    expected = convolve(x, w, b, **parameters)
    gradient = vx.asarray(generator.standard_normal(expected.shape).astype(np.float32))
    gradients = convolution_backward(gradient, x, w, **parameters)
    others = {name: [_layouts(array)[name] for array in (x, w, gradient)] for name in _layouts(x)}
    for name, (x_too, w_too, gradient_too) in others.items():
        got = convolve(x_too, w_too, b, **parameters)
        np.testing.assert_allclose(np.asarray(got), np.asarray(expected), rtol=1e-5, atol=1e-5, err_msg=name)
        for one, other in zip(convolution_backward(gradient_too, x_too, w_too, **parameters), gradients, strict=True):
            np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-5, atol=1e-4, err_msg=name)


def test_expanded():
    _, arrays, parameters, _ = _operands("products", vx.float32)
    one = arrays[0][:1, :1]
    wide = vx.broadcast_to(one, arrays[0].shape)
    got = convolve(wide, *arrays[1:], **parameters)
    expected = convolve(vx.asarray(wide, copy=True), *arrays[1:], **parameters)
    assert np.array_equal(np.asarray(got), np.asarray(expected))


@pytest.mark.parametrize("case", ["products", "products, many windows", "one tap", "one tap, few windows", "depthwise"])
@pytest.mark.parametrize("transposed", [False, True])
def test_parts_of_the_batch(case, transposed, monkeypatch):
    """Little scratch memory cuts the batch, less the windows; none leaves the sums to the direct kernels."""
    _, (x, w, b), parameters, generator = _operands(case, vx.float32, transposed, batch=5)
    expected = convolve(x, w, b, transposed=transposed, **parameters)
    gradient = vx.asarray(generator.standard_normal(expected.shape).astype(np.float32))
    gradients = convolution_backward(gradient, x, w, transposed=transposed, **parameters)
    image = 16 * 9 * 17 * 16 * 4
    for scratch in (2 * image, image // 4, 1):
        monkeypatch.setattr(convolution_products, "_SCRATCH", {"cpu": scratch, "gpu": scratch})
        got = convolve(x, w, b, transposed=transposed, **parameters)
        np.testing.assert_allclose(np.asarray(got), np.asarray(expected), rtol=1e-5, atol=1e-4)
        others = convolution_backward(gradient, x, w, transposed=transposed, **parameters)
        for one, other in zip(others, gradients, strict=True):
            np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("busy", [1, 1 << 20])
def test_shared_sums_of_weights(busy, monkeypatch):
    """The gradient of a weight where invocations share sums, and where the batch is cut into parts."""
    monkeypatch.setattr(convolution_direct, "uses_shared_memory", lambda device: True)
    monkeypatch.setattr(convolution_direct, "_BUSY", {"cpu": busy, "gpu": busy})
    (x, w, _), arrays, parameters, generator = _operands("depthwise", vx.float32, batch=3)
    gradient, vx_gradient = _values(generator, convolve(*arrays, **parameters).shape, vx.float32)
    got = convolution_backward(vx_gradient, *arrays[:2], wanted=(False, True, False), **parameters)[1]
    magnitude = _weight(np.abs(x), np.abs(gradient), w.shape, **parameters)
    _check(got, _weight(x, gradient, w.shape, **parameters), magnitude, gradient[:, 0].size, vx.float32)


@pytest.mark.parametrize("tiles", [2, 6, 1000])
@pytest.mark.parametrize("shortest", [8, 256])
@pytest.mark.parametrize("case", ["products", "products, many windows", "products, groups", "one tap", "1 dimension"])
def test_products_in_parts(case, shortest, tiles, monkeypatch):
    """The gradient of a weight as several products: of parts of the batch, of each of its elements, of some windows."""
    monkeypatch.setattr(convolution_products, "_SHORTEST_PART", shortest)
    monkeypatch.setattr(convolution_products, "_TILES", {"cpu": tiles, "gpu": tiles})
    (x, w, _), arrays, parameters, generator = _operands(case, vx.float32, batch=6)
    gradient, vx_gradient = _values(generator, convolve(*arrays, **parameters).shape, vx.float32)
    got = convolution_backward(vx_gradient, *arrays[:2], wanted=(False, True, False), **parameters)[1]
    magnitude = _weight(np.abs(x), np.abs(gradient), w.shape, **parameters)
    _check(got, _weight(x, gradient, w.shape, **parameters), magnitude, gradient[:, 0].size, vx.float32)


@pytest.mark.parametrize("dilation", [1, 2])
def test_long_sums(dilation):
    """More products in the sum of a weight than a loop on a CPU driver has turns."""
    generator = np.random.default_rng(4)
    x, vx_x = _values(generator, (2, 1, 150_001), vx.float32)
    w, vx_w = _values(generator, (2, 1, 3), vx.float32)
    gradient, vx_gradient = _values(generator, (2, 2, 150_001 - 2 * dilation), vx.float32)
    got = convolution_backward(vx_gradient, vx_x, vx_w, dilation=dilation, wanted=(False, True, False))[1]
    magnitude = _weight(np.abs(x), np.abs(gradient), w.shape, dilation=dilation)
    expected = _weight(x, gradient, w.shape, dilation=dilation)
    _check(got, expected, magnitude, 2**12, vx.float32)  # in parts: far fewer roundings than products


def test_out():
    _, (x, w, b), parameters, _ = _operands("products", vx.float32)
    expected = convolve(x, w, b, **parameters)
    for out in (vx.empty(expected.shape), vx.empty((*expected.shape, 2))[..., 0]):
        assert convolve(x, w, b, out=out, **parameters) is out
        assert np.array_equal(np.asarray(out), np.asarray(expected))
    with pytest.raises(ValueError, match=r"convolution: expected out as an array of shape"):
        convolve(x, w, b, out=vx.empty((2, 16, 9, 9)), **parameters)


def test_empty():
    x, w, b = vx.zeros((0, 3, 8, 8)), vx.ones((4, 3, 3, 3)), vx.ones((4,))
    assert convolve(x, w, b).shape == (0, 4, 6, 6)
    gradients = convolution_backward(vx.zeros((0, 4, 6, 6)), x, w)
    assert gradients[0].shape == x.shape
    assert not np.asarray(gradients[1]).any()
    assert not np.asarray(gradients[2]).any()
    none = convolve(vx.zeros((2, 0, 8, 8)), vx.zeros((4, 0, 3, 3)), b)
    assert np.array_equal(np.asarray(none), np.ones((2, 4, 6, 6)))


def test_errors():
    x, w = vx.zeros((2, 4, 8, 8)), vx.zeros((6, 4, 3, 3))
    for arguments, options, message in [
        ((x, vx.zeros((6, 3, 3, 3))), {}, "do not match for 1 groups"),
        ((x, w), {"groups": 3}, "do not match for 3 groups"),
        ((x, vx.zeros((6, 4, 3))), {}, "3, 4 or 5 dimensions both"),
        ((x, w, vx.zeros((4,))), {}, r"expected a bias of shape \(6,\)"),
        ((x, w), {"stride": 0}, "expected stride as an integer of at least 1"),
        ((x, w), {"padding": (1, 2, 3)}, "expected padding as an integer of at least 0 or 2 of them"),
        ((x, w), {"padding": ((1, 2), 3)}, "padding"),
        ((x, w), {"padding": ((1, 2), (0, -1))}, r"2 of them or 2 pairs \(before, after\)"),
        ((x, w), {"padding": ((1, 2),)}, r"2 pairs \(before, after\)"),
        ((x, w), {"dilation": 4}, "leaves nothing"),
        ((x, w), {"output_padding": 1}, "output_padding is for transposed"),
        (
            (x, vx.zeros((4, 6, 3, 3))),
            {"transposed": True, "output_padding": 1},
            "output_padding below stride or dilation",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            convolve(*arguments, **options)
    with pytest.raises(TypeError, match="expected weight of the dtype and device of x"):
        convolve(x, vx.astype(w, vx.float16))
    with pytest.raises(TypeError, match="int32"):
        convolution_backward(*[vx.astype(array, vx.int32) for array in (vx.zeros((2, 6, 6, 6)), x, w)])
    with pytest.raises(ValueError, match=r"expected a gradient of shape \(2, 6, 6, 6\)"):
        convolution_backward(x, x, w)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_unfold_and_fold(dtype):
    generator = np.random.default_rng(3)
    x, vx_x = _values(generator, (2, 11, 7, 6), dtype)
    parameters = {"stride": (2, 1), "padding": (1, 2), "dilation": (1, 2)}
    got = columns.unfold(vx_x, (3, 2), **parameters)
    stride, padding, dilation, _ = _parameters(2, **parameters)
    whole = _padded(x, padding)
    output = (4, 8)
    expected = np.stack(
        [whole[(slice(None), slice(None), *_places(tap, output, stride, dilation))] for tap in _taps((3, 2))], 2
    ).reshape(2, 66, 32)
    assert np.array_equal(np.asarray(got).astype(np.float64), expected)
    folded = columns.fold(got, (7, 6), (3, 2), **parameters)
    ones = np.zeros_like(whole)
    for number, tap in enumerate(_taps((3, 2))):
        places = (slice(None), slice(None), *_places(tap, output, stride, dilation))
        ones[places] += expected.reshape(2, 11, 6, *output)[:, :, number]
    sums = ones[:, :, 1:-1, 2:-2]
    _check(folded, sums, np.abs(sums), 6, dtype)
    with pytest.raises(ValueError, match=r"expected x of shape"):
        columns.fold(got, (9, 9), (3, 2), **parameters)
    with pytest.raises(ValueError, match=r"do not fit"):
        columns.unfold(vx_x, 9)


def test_variants_are_in_the_catalogue():
    """The families are listed, and what these tests have compiled so far is among them."""
    device, listed = vx.asarray(0).device, set()
    for module in (columns, convolution_direct):
        assert module.variants in catalogue.FAMILIES
        listed |= set(module.variants(device))
    assert {
        variant
        for variant in shaders._compiled
        if variant.template.startswith(("nn_convolution", "nn/fold", "nn/unfold"))
    } <= listed


# Windows, of which CPU drivers read what they slide over in texels: channels and groups, lengths, width, and other parameters.
IN_TEXELS = {
    "3 wide": (4, 4, (9, 17), 3, {"padding": 1}),
    "3 wide, by 2": (4, 4, (12, 11), 3, {"padding": 1, "stride": 2}),
    "5 wide": (3, 3, (8, 13), 5, {"padding": 2}),
    "5 wide, by 2": (3, 3, (11, 14), 5, {"padding": 3, "stride": 2}),
    "7 wide": (2, 2, (9, 10), 7, {"padding": 3}),
    "7 wide, by 2": (2, 2, (15, 9), 7, {"stride": 2}),
    "without padding": (4, 4, (7, 22), 3, {}),
    "several channels": (6, 3, (6, 9), 3, {"padding": 2}),
    "one row": (4, 4, (1, 30), 3, {"padding": 1}),
    "one column": (4, 4, (30, 1), 3, {"padding": 1}),
    "cubes": (2, 2, (4, 6, 9), 3, {"padding": 1, "stride": (2, 1, 1)}),
}


@pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])
@pytest.mark.parametrize("case", IN_TEXELS)
def test_windows_over_texels_have_the_same_bits(case, bias, device, monkeypatch):
    """As through addresses: wherever rows begin, and with infinities, NaN and zeros of either sign."""
    channels, groups, size, width, parameters = IN_TEXELS[case]
    generator, names = np.random.default_rng(5), []
    shape = (2 * groups, channels // groups, *((2,) * (len(size) - 2)), width, width)
    values = generator.standard_normal((2, channels, *size[:-1], size[-1] + 5)).astype(np.float32)
    weights = generator.standard_normal((*shape[:-1], width)).astype(np.float32)
    for array in (values, weights):
        array.flat[generator.integers(0, array.size, 4)] = [np.inf, -0.0, 0.0, np.nan]
    dispatch = device.dispatch
    monkeypatch.setattr(device, "dispatch", lambda kernel, *rest: (names.append(kernel.name), dispatch(kernel, *rest)))
    for first in range(4):
        x, w = vx.asarray(values)[..., first : first + size[-1]], vx.asarray(np.append(weights, np.float32(0)))[:-1]
        added = vx.asarray(generator.standard_normal(shape[0]).astype(np.float32)) if bias else None
        results = []
        for few in (1 << 60, 0):
            monkeypatch.setattr(texels, "_FEW_BYTES", few)
            names.clear()
            made = convolve(x, vx.reshape(w, shape), added, groups=groups, **parameters)
            made = np.asarray(vx.where(vx.isnan(made), vx.nan, made))  # a NaN has either sign
            results.append((made.tobytes(), any("convolution_texels" in name for name in names)))
        (plain, read_plainly), (bits, read_in_texels) = results
        assert bits == plain
        assert not read_plainly
        assert read_in_texels == (device.limits.is_cpu and launch.has_texels(device))
