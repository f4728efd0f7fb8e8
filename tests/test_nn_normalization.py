"""Layer, RMS, batch and group norm and their gradients against float64 formulas: types, layouts, shapes, large means."""

from __future__ import annotations

import numpy as np
import pytest
from reference import host_dtype, supported
from test_nn_softmax import force_plan, rounded, rounding  # noqa: F401 - a fixture

import vkarray as vx
from vkarray.command import catalogue
from vkarray.core.dtypes import CATEGORIES
from vkarray.kernels import reduction_run
from vkarray.nn import normalization as nn

SUPPORTED = supported(CATEGORIES["real floating"])
EPS = 1e-5


def numbers(shape, dtype, seed: int, center: float = 0.0) -> tuple[np.ndarray, vx.VkArray]:
    """Values in float64 and the array of `dtype` that holds them."""
    values = rounded(np.random.default_rng(seed).standard_normal(shape) + center, dtype)
    return values, vx.asarray(values.astype(host_dtype(dtype)), dtype=dtype)


def assert_close(got: vx.VkArray, expected: np.ndarray, dtype, terms: float, size: float | None = None) -> None:
    """Within so many roundings of numbers of a size (the largest expected one's), and one of the result."""
    wide = np.asarray(got).astype(np.float64)
    size = np.abs(expected).max(initial=0) if size is None else size
    bound = terms * rounding(dtype) * size + vx.finfo(got.dtype).eps * np.abs(expected)
    assert got.shape == expected.shape
    assert np.all(np.abs(wide - expected) <= bound), f"{np.max(np.abs(wide - expected) / bound)} times the bound"


def normalized(x: np.ndarray, axes, centered: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    mean = x.mean(axes, keepdims=True) if centered else np.zeros_like(x.mean(axes, keepdims=True))
    rstd = 1 / np.sqrt(((x - mean) ** 2).mean(axes, keepdims=True) + EPS)
    return (x - mean) * rstd, mean, rstd


def gradient_of(g: np.ndarray, w, x: np.ndarray, axes, centered: bool = True) -> np.ndarray:
    """The gradient of x through the normalization over axes."""
    hat, _, rstd = normalized(x, axes, centered)
    inner = g * w
    drift = inner.mean(axes, keepdims=True) if centered else 0
    return rstd * (inner - drift - hat * (inner * hat).mean(axes, keepdims=True))


@pytest.mark.parametrize("dtype", SUPPORTED, ids=str)
@pytest.mark.parametrize(("shape", "rank"), [((6, 5, 7), 2), ((3, 40), 1), ((2, 3, 1), 1), ((1, 700), 1)])
def test_layer_norm(shape, rank, dtype):
    x, device = numbers(shape, dtype, 0, 3.0)
    own, axes = shape[-rank:], tuple(range(len(shape) - rank, len(shape)))
    (w, weight), (b, bias), (g, gradient) = (numbers(s, dtype, k) for k, s in ((1, own), (2, own), (3, shape)))
    hat, mean, rstd = normalized(x, axes)
    length = int(np.prod(own))
    result, got_mean, got_rstd = nn.layer_norm(device, own, weight, bias, eps=EPS)
    terms = 40 + 4 * np.sqrt(length) + 4 * np.abs(mean * rstd).max()
    assert_close(result, hat * w + b, dtype, terms)
    assert_close(got_mean, mean, dtype, 20, np.abs(x).max())
    assert_close(got_rstd, rstd, dtype, terms)
    made = nn.layer_norm_backward(gradient, device, own, got_mean, got_rstd, weight)
    outer = tuple(range(len(shape) - rank))
    wanted = (gradient_of(g, w, x, axes), (g * hat).sum(outer), g.sum(outer))
    scale = [rstd.max() * np.abs(g * w).max() * (1 + np.abs(hat).max() ** 2), np.abs(g * hat).sum(outer).max(),
             np.abs(g).sum(outer).max()]  # fmt: skip
    for one, expected, size in zip(made, wanted, scale, strict=True):
        assert one.dtype is dtype
        assert_close(one, expected, dtype, terms, size)


@pytest.mark.parametrize("dtype", SUPPORTED, ids=str)
def test_rms_norm(dtype):
    (x, device), (w, weight), (g, gradient) = (
        numbers(s, dtype, k) for k, s in enumerate(((4, 3, 50), (50,), (4, 3, 50)))
    )
    hat, _, rstd = normalized(x, (2,), False)
    result, got = nn.rms_norm(device, (50,), weight, eps=EPS)
    assert_close(result, hat * w, dtype, 60)
    assert_close(got, rstd, dtype, 60)
    made = nn.layer_norm_backward(gradient, device, (50,), None, got, weight, wanted=(True, True, False))
    assert made[2] is None
    assert_close(made[0], gradient_of(g, w, x, (2,), False), dtype, 100, rstd.max() * np.abs(g * w).max() * 10)
    assert_close(made[1], (g * hat).sum((0, 1)), dtype, 100)


@pytest.mark.parametrize("layout", ["sliced", "reversed", "transposed", "expanded"])
def test_layer_norm_does_not_depend_on_layout(layout):
    values = np.random.default_rng(0).standard_normal((8, 6, 10)).astype(np.float32)
    views = {
        "sliced": lambda x: x[::2, 1:, ::3], "reversed": lambda x: x[::-1, :, ::-1],
        "transposed": lambda x: vx.permute_dims(x, (2, 0, 1)) if isinstance(x, vx.VkArray) else x.transpose(2, 0, 1),
        "expanded": lambda x: (vx if isinstance(x, vx.VkArray) else np).broadcast_to(x[:1], (8, 6, 10)),
    }  # fmt: skip
    device, host = views[layout](vx.asarray(values)), views[layout](values)
    expected = nn.layer_norm(vx.asarray(np.ascontiguousarray(host)), host.shape[-1:])[0]
    got = nn.layer_norm(device, host.shape[-1:])[0]
    np.testing.assert_array_equal(np.asarray(got), np.asarray(expected))


def test_layer_norm_on_gpu_plans(force_plan):  # noqa: F811
    """Rows that several invocations share, kept in registers and read anew, give what one invocation gives."""
    values = (np.random.default_rng(0).standard_normal((5, 203)) + 100).astype(np.float32)
    hat, mean, rstd = normalized(values.astype(np.float64), (1,))
    for members, items in ((8, 28), (64, 4), (16, 0)):
        force_plan(256, members, items, False, False)
        result, got, root = nn.layer_norm(vx.asarray(values), (203,), eps=EPS)
        assert_close(result, hat, vx.float32, 40 + 4 * np.abs(mean * rstd).max())
        made = nn.layer_norm_backward(vx.asarray(values), vx.asarray(values), (203,), got, root)[0]
        assert_close(made, gradient_of(values, 1.0, values.astype(np.float64), (1,)), vx.float32, 60, 1e3)


def test_large_means_do_not_cancel():
    values = (1e4 + np.random.default_rng(0).standard_normal((3, 64))).astype(np.float32)
    hat, _, _ = normalized(values.astype(np.float64), (1,))
    # The values themselves are known to half an ULP of 1e4 only; what they are is used exactly.
    assert_close(nn.layer_norm(vx.asarray(values), (64,), eps=EPS)[0], hat, vx.float32, 3e4)
    hat, _, _ = normalized(values.astype(np.float64), (0,))
    assert_close(nn.batch_norm(vx.asarray(values), training=True, eps=EPS)[0], hat, vx.float32, 3e4)


SHAPES = [(8, 6, 5, 7), (9, 6), (4, 1, 33), (2, 4, 3, 2, 5)]


@pytest.mark.parametrize("dtype", SUPPORTED, ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_batch_norm(shape, dtype):
    channels, axes = shape[1], (0, *range(2, len(shape)))
    spread = (channels, *(1,) * (len(shape) - 2))
    x, device = numbers(shape, dtype, 0, 2.0)
    (w, weight), (b, bias) = (numbers((channels,), dtype, k) for k in (1, 2))
    g, gradient = numbers(shape, dtype, 3)
    real = vx.float64 if dtype is vx.float64 else vx.float32
    (m, running), (v, variance) = (numbers((channels,), real, k, 3.0) for k in (4, 5))
    hat, mean, rstd = normalized(x, axes)
    count = x.size // channels
    terms = 100 + 4 * np.abs(mean * rstd).max()
    result, got_mean, got_rstd = nn.batch_norm(
        device, weight, bias, mean=running, variance=variance, training=True, momentum=0.25, eps=EPS
    )  # fmt: skip
    assert_close(result, hat * w.reshape(spread) + b.reshape(spread), dtype, terms)
    assert_close(running, 0.75 * m + 0.25 * mean.reshape(-1), real, 20)
    assert_close(variance, 0.75 * v + 0.25 * x.var(axes) * count / (count - 1), real, 40)
    made = nn.batch_norm_backward(gradient, device, got_mean, got_rstd, weight)
    own = gradient_of(g, w.reshape(spread), x, axes)
    size = rstd.max() * np.abs(g).max() * np.abs(w).max() * 10
    assert_close(made[0], own, dtype, terms, size)
    assert_close(made[1], (g * hat).sum(axes), dtype, terms, np.abs(g * hat).sum(axes).max())
    assert_close(made[2], g.sum(axes), dtype, terms, np.abs(g).sum(axes).max())
    # As learnt: the statistics given are applied.
    root = 1 / np.sqrt(np.asarray(variance).astype(np.float64) + EPS)
    known = (x - np.asarray(running).astype(np.float64).reshape(spread)) * root.reshape(spread)
    result, got_mean, got_rstd = nn.batch_norm(device, weight, bias, mean=running, variance=variance, eps=EPS)
    assert_close(result, known * w.reshape(spread) + b.reshape(spread), dtype, terms)
    made = nn.batch_norm_backward(gradient, device, got_mean, got_rstd, weight, training=False)
    assert_close(made[0], g * (w * root).reshape(spread), dtype, 20)


@pytest.mark.needs(max_workgroup_invocations=256)
@pytest.mark.parametrize("dtype", SUPPORTED, ids=str)
def test_batch_norm_gives_the_same_bits_with_shared_memory(monkeypatch, dtype):
    """Rows of several chunks in packs, and short columns. Kernels with shared memory are never chosen where a workgroup has
    fewer than 256 invocations, since those of a row of several blocks meet in one."""
    found = []
    for shared in (False, True):
        monkeypatch.setattr(reduction_run, "uses_shared_memory", lambda device, shared=shared: shared)
        for shape, last in (((1, 2, 64, 72), False), ((3, 4, 5, 7), True)):
            (_, x), (_, gradient), (_, weight) = (
                numbers(one, dtype, k) for k, one in enumerate((shape, shape, shape[1:2]))
            )
            if last:
                x, gradient = (
                    vx.moveaxis(vx.asarray(vx.moveaxis(one, 1, -1), copy=True), -1, 1) for one in (x, gradient)
                )
            made = nn.batch_norm(x, weight, training=True)
            found += [*made, *nn.batch_norm_backward(gradient, x, *made[1:], weight)]
    half = len(found) // 2
    for one, other in zip(found[:half], found[half:], strict=True):
        assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


@pytest.mark.parametrize("dtype", SUPPORTED, ids=str)
@pytest.mark.parametrize("given", [(True, True), (True, False), (False, True), (False, False)], ids=str)
def test_batch_norm_as_learnt(given, dtype):
    """Packs that lie in one channel, in two and in several; arrays that begin in the middle of one; statistics of another type."""
    real = vx.float64 if dtype is vx.float64 else vx.float32
    for shape, skipped in (((3, 5, 16), 0), ((3, 5, 49), 0), ((7, 3), 0), ((3, 2, 300, 7), 1), ((2, 5, 6), 0)):
        spread = (shape[1], *(1,) * (len(shape) - 2))
        x, device = numbers((shape[0] + skipped, *shape[1:]), dtype, 0, 2.0)
        x, device = x[skipped:], device[skipped:, ...]
        for statistics in {dtype, real}:
            (w, weight), (b, bias), (m, mean) = (numbers(shape[1:2], statistics, k) for k in (1, 2, 3))
            v = rounded(np.random.default_rng(4).uniform(0.5, 2, shape[1:2]), statistics)
            variance = vx.asarray(v.astype(host_dtype(statistics)), dtype=statistics)
            result = nn.batch_norm(
                device, weight if given[0] else None, bias if given[1] else None, mean=mean, variance=variance, eps=EPS
            )[0]
            hat = (x - m.reshape(spread)) / np.sqrt(v + EPS).reshape(spread)
            expected = hat * (w.reshape(spread) if given[0] else 1) + (b.reshape(spread) if given[1] else 0)
            # A sum, a root, a quotient and three products and sums, each rounded once, of numbers as large as the largest.
            size = np.abs(hat).max() * max(1, np.abs(w).max()) + np.abs(b).max()
            assert_close(result, expected, dtype, 8, size)


@pytest.mark.parametrize("dtype", SUPPORTED, ids=str)
@pytest.mark.parametrize("groups", [1, 2, 6])
def test_group_norm(groups, dtype):
    shape = (3, 6, 5, 4)
    x, device = numbers(shape, dtype, 0, 1.0)
    (w, weight), (b, bias) = (numbers((6,), dtype, k) for k in (1, 2))
    g, gradient = numbers(shape, dtype, 3)
    split, spread = (3, groups, 6 // groups, 20), (6, 1, 1)
    hat, mean, rstd = normalized(x.reshape(split), (2, 3))
    result, got_mean, got_rstd = nn.group_norm(device, groups, weight, bias, eps=EPS)
    assert_close(result, hat.reshape(shape) * w.reshape(spread) + b.reshape(spread), dtype, 100)
    assert_close(got_mean, mean.reshape(3, groups), dtype, 30)
    made = nn.group_norm_backward(gradient, device, groups, got_mean, got_rstd, weight)
    inner = (g * w.reshape(spread)).reshape(split)
    size = rstd.max() * np.abs(inner).max() * 10
    assert_close(made[0], gradient_of(inner, 1.0, x.reshape(split), (2, 3)).reshape(shape), dtype, 100, size)
    assert_close(made[1], (g * hat.reshape(shape)).sum((0, 2, 3)), dtype, 100, np.abs(g).sum((0, 2, 3)).max())
    assert_close(made[2], g.sum((0, 2, 3)), dtype, 100, np.abs(g).sum((0, 2, 3)).max())


def test_not_a_number_stays_in_its_row_and_channel():
    x = np.ones((2, 3, 4), np.float32) * np.arange(4, dtype=np.float32)
    x[0, 1, 2] = np.nan
    rows = np.isnan(np.asarray(nn.layer_norm(vx.asarray(x), (4,))[0]))
    assert rows[0, 1].all()
    assert rows.sum() == 4
    channels = np.isnan(np.asarray(nn.batch_norm(vx.asarray(x), training=True)[0]))
    assert channels[:, 1].all()
    assert channels.sum() == 8
    zeros, ones = vx.zeros(3), vx.ones(3)
    learnt = nn.batch_norm(vx.asarray(x), vx.asarray(np.float32([1, np.nan, 1])), mean=zeros, variance=ones)[0]
    assert np.isnan(np.asarray(learnt)).sum(axis=(0, 2)).tolist() == [0, 8, 0]


def test_errors():
    x = vx.zeros((4, 6, 5))
    with pytest.raises(ValueError, match="last dimensions"):
        nn.layer_norm(x, (6,))
    with pytest.raises(ValueError, match="weights of that shape"):
        nn.layer_norm(x, (5,), vx.zeros(6))
    with pytest.raises(TypeError, match="rms_norm"):
        nn.rms_norm(vx.zeros((2, 2), dtype=vx.int32), (2,))
    with pytest.raises(ValueError, match="one number for each channel"):
        nn.batch_norm(x, vx.zeros(5), training=True)
    with pytest.raises(ValueError, match="mean and variance"):
        nn.batch_norm(x)
    with pytest.raises(ValueError, match="2 dimensions"):
        nn.batch_norm(vx.zeros(4), training=True)
    with pytest.raises(ValueError, match="divide"):
        nn.group_norm(x, 4)


def test_variants_are_in_the_catalogue():
    assert nn.variants in catalogue.FAMILIES
