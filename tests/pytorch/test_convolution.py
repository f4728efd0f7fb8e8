"""Convolution, pooling, interpolation and padding on the device `vulkan`, beside the CPU: values, gradients, layouts, errors."""

from __future__ import annotations

import importlib.util

import pytest
import torch
from checks import assert_passes_as_on_the_cpu
from torch.nn import functional as F

import vkarray as vx
import vkarray.torch
from vkarray.core.array import is_supported

DEVICE = "vulkan"
HAS_FLOAT64 = is_supported(vx.float64, vx.asarray(0).device)
WIDE = torch.float64 if HAS_FLOAT64 else torch.float32


def _normal(*shape, seed=0, dtype=WIDE):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


# A call of tensors, and the shapes of these.
CALLS = {
    "conv1d": (lambda x, w, b: F.conv1d(x, w, b, stride=2, padding=1, dilation=2), (2, 4, 15), (6, 4, 3), (6,)),
    "conv2d": (lambda x, w, b: F.conv2d(x, w, b, padding=1), (2, 12, 6, 5), (9, 12, 3, 3), (9,)),
    "conv2d, stride": (lambda x, w, b: F.conv2d(x, w, b, stride=2, padding=1), (2, 12, 7, 6), (9, 12, 3, 3), (9,)),
    "conv2d, depthwise": (lambda x, w: F.conv2d(x, w, padding=1, groups=4), (1, 4, 6, 7), (8, 1, 3, 3)),
    "conv2d, same": (lambda x, w: F.conv2d(x, w, padding="same"), (1, 3, 6, 5), (4, 3, 3, 5)),
    "conv3d": (lambda x, w, b: F.conv3d(x, w, b, stride=(1, 2, 1)), (1, 2, 4, 5, 4), (3, 2, 2, 2, 3), (3,)),
    "conv_transpose1d": (lambda x, w: F.conv_transpose1d(x, w, padding=1, groups=2), (2, 4, 7), (4, 2, 3)),
    "conv_transpose2d": (
        lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2, padding=1, output_padding=1), (1, 9, 4, 3), (9, 8, 3, 3), (8,),
    ),
    "max_pool1d": (lambda x: F.max_pool1d(x, 3, 2, 1), (2, 3, 11)),
    "max_pool2d": (lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True), (2, 3, 8, 7)),
    "max_pool3d": (lambda x: F.max_pool3d(x, 2, dilation=(1, 2, 1)), (1, 2, 5, 6, 4)),
    "avg_pool1d": (lambda x: F.avg_pool1d(x, 3, 2, 1), (2, 3, 11)),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), (2, 3, 8, 7)),
    "avg_pool3d": (lambda x: F.avg_pool3d(x, 2, divisor_override=3), (1, 2, 4, 6, 4)),
    "adaptive_avg_pool2d": (lambda x: F.adaptive_avg_pool2d(x, (3, 4)), (2, 3, 8, 7)),
    "adaptive_avg_pool2d, one": (lambda x: F.adaptive_avg_pool2d(x, 1), (2, 3, 8, 7)),
    "adaptive_max_pool2d": (lambda x: F.adaptive_max_pool2d(x, (3, 4)), (2, 3, 8, 7)),
    "fractional_max_pool2d": (
        lambda x: F.fractional_max_pool2d(x, 3, output_size=(3, 4), _random_samples=x.new_full((2, 3, 2), 0.3)), (2, 3, 8, 9),
    ),
    "fractional_max_pool3d": (
        lambda x: F.fractional_max_pool3d(x, 2, output_size=(1, 2, 3), _random_samples=x.new_full((1, 2, 3), 0.7)), (1, 2, 3, 4, 6),
    ),
    "nearest": (lambda x: F.interpolate(x, scale_factor=1.7, mode="nearest"), (1, 2, 5, 6)),
    "nearest-exact": (lambda x: F.interpolate(x, size=(4, 9), mode="nearest-exact"), (1, 2, 5, 6)),
    "nearest, a length stays": (lambda x: F.interpolate(x, scale_factor=(1.2, 0.5), mode="nearest"), (1, 2, 4, 6)),
    "bilinear, a length stays": (lambda x: F.interpolate(x, scale_factor=(1.2, 0.5), mode="bilinear"), (1, 2, 4, 6)),
    "bilinear, smaller, a length stays": (
        lambda x: F.interpolate(x, scale_factor=(1.2, 0.5), mode="bilinear", antialias=True), (1, 2, 4, 6),
    ),
    "linear": (lambda x: F.interpolate(x, size=9, mode="linear"), (1, 2, 5)),
    "bilinear": (lambda x: F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True), (1, 2, 5, 6)),
    "bilinear, scales": (
        lambda x: F.interpolate(x, scale_factor=(1.5, 0.7), mode="bilinear", recompute_scale_factor=False), (1, 2, 5, 6),
    ),
    "bicubic": (lambda x: F.interpolate(x, size=(7, 4), mode="bicubic"), (1, 2, 5, 6)),
    "bilinear, smaller": (lambda x: F.interpolate(x, size=(3, 4), mode="bilinear", antialias=True), (1, 2, 9, 6)),
    "bicubic, smaller": (lambda x: F.interpolate(x, size=(3, 8), mode="bicubic", antialias=True), (1, 2, 9, 6)),
    "windows": (lambda x: x.unfold(1, 3, 2), (2, 8, 3)),
    "grid": (lambda x, g: F.grid_sample(x, g, align_corners=False), (2, 3, 5, 6), (2, 3, 4, 2)),
    "grid, nearest": (
        lambda x, g: F.grid_sample(x, g, mode="nearest", padding_mode="border", align_corners=True), (2, 3, 5, 6), (2, 3, 4, 2),
    ),
    "grid, bicubic": (lambda x, g: F.grid_sample(x, g, mode="bicubic", align_corners=True), (2, 3, 5, 6), (2, 3, 4, 2)),
    "grid, 3 dimensions": (
        lambda x, g: F.grid_sample(x, g, padding_mode="reflection", align_corners=False), (1, 2, 3, 5, 6), (1, 2, 3, 4, 3),
    ),
    "reflect": (lambda x: F.pad(x, (1, 2, 3, 0), mode="reflect"), (1, 2, 5, 6)),
    "replicate": (lambda x: F.pad(x, (1, 2), mode="replicate"), (2, 2, 5)),
    "constant": (lambda x: F.pad(x, (1, -2, 3, 0), value=2.5), (2, 2, 5, 6)),
    "zeros": (lambda x: F.pad(x, (1, 2, 3, 0)), (2, 9, 5, 6)),
    "zeros, cut": (lambda x: F.pad(x, (-1, 2, 0, -2)), (2, 2, 5, 6)),
    "zeros, one dimension": (lambda x: F.pad(x, (3, 1)), (2, 3, 7)),
    "zeros, channels": (lambda x: F.pad(x, (0, 1, 1, 1, 2, 0)), (2, 3, 4, 5)),
    "unfold": (lambda x: F.unfold(x, (3, 2), dilation=(1, 2), padding=1, stride=2), (2, 3, 6, 7)),
    "fold": (lambda x: F.fold(x, (6, 7), (3, 2), dilation=(1, 2), padding=1, stride=2), (2, 18, 12)),
    "channel_shuffle": (lambda x: F.channel_shuffle(x, 3), (2, 6, 3, 2)),
    "pixel_shuffle": (lambda x: F.pixel_shuffle(x, 2), (2, 8, 3, 2)),
}  # fmt: skip


def _inputs(shapes):
    return [_normal(*shape, seed=seed).requires_grad_() for seed, shape in enumerate(shapes)]


def _close(got, expected):
    assert got.device.type == DEVICE
    torch.testing.assert_close(
        got.cpu(), expected, rtol=1e-12 if HAS_FLOAT64 else 1e-4, atol=1e-12 if HAS_FLOAT64 else 1e-4
    )


@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients(name):
    function, *shapes = CALLS[name]
    inputs = _inputs(shapes)
    moved = [x.detach().to(DEVICE).requires_grad_() for x in inputs]
    expected, got = function(*inputs), function(*moved)
    _close(got, expected)
    gradient = _normal(*expected.shape, seed=9)
    wanted = torch.autograd.grad(expected, inputs, gradient)
    for one, other in zip(torch.autograd.grad(got, moved, gradient.to(DEVICE)), wanted, strict=True):
        _close(one, other)


@pytest.mark.skipif(not HAS_FLOAT64, reason="differences of float32 say little")
@pytest.mark.parametrize(
    "name", ["conv2d, stride", "conv2d, depthwise", "conv_transpose2d", "avg_pool2d", "bilinear", "reflect"]
)
def test_gradcheck(name):
    function, *shapes = CALLS[name]
    inputs = [
        x.detach()[..., :4].to(DEVICE).requires_grad_() if x.ndim > 3 else x.detach().to(DEVICE).requires_grad_()
        for x in _inputs(shapes)
    ]
    assert torch.autograd.gradcheck(function, inputs, fast_mode=True)


def _layouts(x):
    """The same values in other layouts: channels last, a slice, the elements of a batch one and the same."""
    wide = torch.zeros([2 * n for n in x.shape], dtype=x.dtype, device=x.device)
    inner = wide[tuple(slice(1, None, 2) for _ in x.shape)]
    inner.copy_(x)
    yield inner
    if x.ndim == 4:
        yield x.to(memory_format=torch.channels_last)
    yield x.transpose(-1, -2).contiguous().transpose(-1, -2)


@pytest.mark.parametrize("name", CALLS)
def test_layouts(name):
    function, *shapes = CALLS[name]
    inputs = [x.detach() for x in _inputs(shapes)]
    expected = function(*inputs)
    moved = [x.to(DEVICE) for x in inputs]
    for place, x in enumerate(moved):
        for other in _layouts(x) if x.ndim > 1 else ():
            _close(function(*moved[:place], other, *moved[place + 1 :]), expected)
    expanded = inputs[0][:1].expand(inputs[0].shape)
    _close(function(moved[0][:1].expand(moved[0].shape), *moved[1:]), function(expanded, *inputs[1:]))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize(
    "name", ["conv2d", "conv2d, depthwise", "conv_transpose2d", "max_pool2d", "avg_pool2d", "bilinear"]
)
def test_half(name, dtype):
    """Within the rounding of the result (and once more of a bias) of the sum in float64."""
    function, *shapes = CALLS[name]
    inputs = [_normal(*shape, seed=seed, dtype=dtype) for seed, shape in enumerate(shapes)]
    expected = function(*[x.to(torch.float64) for x in inputs])
    got = function(*[x.to(DEVICE) for x in inputs])
    assert got.dtype is dtype
    eps = torch.finfo(dtype).eps
    torch.testing.assert_close(got.cpu().to(torch.float64), expected, rtol=eps, atol=2 * eps)


def test_indices():
    x = _normal(2, 3, 8, 7, dtype=torch.float32)
    x[0, 0, :3] = float("nan")
    x[1, 1] = 1.0
    for function in (
        lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True),
        lambda x: F.adaptive_max_pool2d(x, 3, return_indices=True),
    ):
        for got, expected in zip(function(x.to(DEVICE)), function(x), strict=True):
            assert got.dtype is expected.dtype
            torch.testing.assert_close(got.cpu(), expected, rtol=0, atol=0, equal_nan=True)


ERRORS = {
    "channels": (lambda x: F.conv2d(x, x.new_zeros(4, 5, 3, 3)), (1, 3, 6, 6)),
    "kernel": (lambda x: F.conv2d(x, x.new_zeros(4, 3, 7, 7)), (1, 3, 6, 6)),
    "groups": (lambda x: F.conv2d(x, x.new_zeros(4, 1, 3, 3), groups=3), (1, 3, 6, 6)),
    "bias": (lambda x: F.conv2d(x, x.new_zeros(4, 3, 3, 3), x.new_zeros(3)), (1, 3, 6, 6)),
    "stride": (lambda x: F.conv2d(x, x.new_zeros(4, 3, 3, 3), stride=0), (1, 3, 6, 6)),
    "type": (lambda x: F.conv2d(x, x.new_zeros(4, 3, 3, 3).half()), (1, 3, 6, 6)),
    "dimensions": (lambda x: F.conv2d(x, x.new_zeros(4, 3, 3, 3)), (3, 6)),
    "pool padding": (lambda x: F.max_pool2d(x, 2, padding=2), (1, 3, 6, 6)),
    "pool size": (lambda x: F.avg_pool2d(x, 7), (1, 3, 6, 6)),
    "pool dimensions": (lambda x: F.max_pool2d(x, 2), (6, 6)),
    "reflection": (lambda x: F.pad(x, (6, 0, 0, 0), mode="reflect"), (1, 3, 6, 6)),
    "size": (lambda x: F.interpolate(x, size=(0, 3)), (1, 3, 6, 6)),
    "columns": (lambda x: F.fold(x, (6, 6), 3), (1, 9, 5)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_the_cpu(name):
    function, shape = ERRORS[name]
    with pytest.raises((RuntimeError, ValueError)) as expected:
        function(torch.zeros(shape))
    with pytest.raises(expected.type) as got:
        function(torch.zeros(shape, device=DEVICE))
    if name != "type":  # it names the device
        assert str(got.value).split("\n")[0] == str(expected.value).split("\n")[0]


def test_out_and_empty_batch():
    x = _normal(2, 3, 8, 8, dtype=torch.float32)
    out = torch.empty(0, device=DEVICE)
    torch.ops.aten.avg_pool2d.out(x.to(DEVICE), [2, 2], out=out)
    torch.testing.assert_close(out.cpu(), F.avg_pool2d(x, 2))
    none = torch.zeros(0, 3, 8, 8, device=DEVICE, requires_grad=True)
    layer = torch.nn.Conv2d(3, 4, 3).to(DEVICE)
    layer(none).sum().backward()
    assert none.grad.shape == none.shape
    assert not layer.weight.grad.cpu().any()


MODELS = {
    "MobileNetV2": ("MobileNetV2Model", "MobileNetV2Config", {"depth_multiplier": 0.35, "image_size": 32}, (2, 3, 32, 32)),
    "ViT": (
        "ViTModel", "ViTConfig",
        {
            "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "image_size": 32,
            "patch_size": 8,
        },
        (2, 3, 32, 32),
    ),
}  # fmt: skip


@pytest.mark.skipif(importlib.util.find_spec("transformers") is None, reason="needs transformers")
@pytest.mark.parametrize("name", MODELS)
def test_models_of_transformers(name):
    """Forward and backward without the CPU (the tests run in strict mode), random weights."""
    import transformers

    model_name, configuration, sizes, shape = MODELS[name]
    torch.manual_seed(0)
    model = getattr(transformers, model_name)(getattr(transformers, configuration)(**sizes)).eval()
    images = torch.randn(shape)
    gradient = torch.randn_like(model(pixel_values=images).last_hidden_state)

    def passes(where):
        result = model(pixel_values=images.to(where)).last_hidden_state
        result.backward(gradient.to(where))
        return result

    assert_passes_as_on_the_cpu(model, passes)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bool, torch.uint8, torch.int32], ids=str)
@pytest.mark.parametrize("value", [0, -0.0, 1])
def test_padding_keeps_bits(dtype, value):
    x = (torch.arange(2 * 9 * 5 * 3) % 5 - 2).reshape(2, 9, 5, 3).to(dtype)
    got, expected = F.pad(x.to(DEVICE), (2, 1, -1, 1), value=value).cpu(), F.pad(x, (2, 1, -1, 1), value=value)
    assert torch.equal(got, expected)
    assert torch.equal(torch.signbit(got), torch.signbit(expected))


@pytest.mark.parametrize("padding", [(1, 2, 3), (-9, -9), (1,) * 10], ids=str)
def test_padding_that_does_not_fit(padding):
    with pytest.raises(RuntimeError) as expected:
        F.pad(torch.zeros(2, 3, 5, 6), padding)
    with pytest.raises(RuntimeError) as got:
        F.pad(torch.zeros(2, 3, 5, 6, device=DEVICE), padding)
    assert str(got.value) == str(expected.value)


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("size", [(1, 2, 4, 5), (1, 2, 3, 4, 5)])
def test_gradients_where_a_grid_meets_the_elements(size, padding):
    rank = len(size) - 2
    x = torch.randn(size, generator=torch.Generator().manual_seed(0))
    grid = F.affine_grid(torch.eye(rank, rank + 1)[None], size, align_corners=True)

    def gradients(where):
        inputs = [one.detach().to(where).requires_grad_() for one in (x, grid)]
        result = F.grid_sample(*inputs, padding_mode=padding, align_corners=True)
        return torch.autograd.grad(result.square().sum(), inputs)

    for actual, expected in zip(gradients("vulkan"), gradients("cpu"), strict=True):
        torch.testing.assert_close(actual.cpu(), expected, rtol=1e-5, atol=1e-5)


def test_windows_of_one_gradient_for_all():
    """As `torch.istft` has them, whose windows are those of all signals."""
    gradient = torch.randn(1, 7, 8)
    for size, dim in (((2, 26), 1), ((26,), 0), ((3, 26), -1)):
        given = gradient[0] if len(size) == 1 else gradient
        found, expected = (
            torch.ops.aten.unfold_backward(given.to(device), size, dim, 8, 3).cpu() for device in ("vulkan", "cpu")
        )
        torch.testing.assert_close(found, expected)
