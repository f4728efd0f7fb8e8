"""Losses, attention, dropout and optimizers against float64 formulas written out here."""

from __future__ import annotations

import numpy as np
import pytest
from reference import host_dtype, supported
from test_nn_normalization import assert_close
from test_nn_softmax import rounded, softmax_of

import vkarray as vx
from vkarray.command import catalogue
from vkarray.core.dtypes import CATEGORIES
from vkarray.nn import attention, dropout, losses, optimizers

FLOATING = supported(CATEGORIES["real floating"])


def numbers(shape, dtype, seed: int) -> tuple[np.ndarray, vx.VkArray]:
    values = rounded(np.random.default_rng(seed).standard_normal(shape), dtype)
    return values, vx.asarray(values.astype(host_dtype(dtype)), dtype=dtype)


# -- losses -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
@pytest.mark.parametrize("reduction", losses.REDUCTIONS)
@pytest.mark.parametrize("shape", [(6, 5), (3, 5, 4, 2), (5,)])
def test_nll_loss(shape, reduction, dtype):
    x, device = numbers(shape, dtype, 0)
    batch = shape if len(shape) > 1 else (1, *shape)
    target = np.random.default_rng(1).integers(0, 5, (batch[0], *batch[2:]))
    w, weight = numbers((5,), dtype, 2)
    for ignore in (-100, 2):
        for weights, given in ((w, weight), (np.ones(5), None)):
            own = np.where(target == ignore, 0, weights[target])
            picked = -np.take_along_axis(x.reshape(batch), target[:, None], 1)[:, 0] * own
            total = own.sum()
            expected = {"none": picked, "sum": picked.sum(), "mean": picked.sum() / total if total else np.nan}[
                reduction
            ]
            places = vx.asarray((target if len(shape) > 1 else target[0]).astype(np.int32))
            got, sum_of_weights = losses.nll_loss(device, places, given, reduction=reduction, ignore=ignore)
            expected = expected if len(shape) > 1 or reduction != "none" else expected[0]
            if np.isnan(expected).any():
                assert np.isnan(float(got))
                continue
            size = np.abs(picked).sum() * (1 / abs(total) if reduction == "mean" else 1)
            assert_close(got, np.asarray(expected), dtype, 40, size + 1e-3)
            g, gradient = numbers(np.shape(expected), dtype, 3)
            per_target = -own * (g / total if reduction == "mean" else g)
            spread = np.zeros(batch)
            np.put_along_axis(spread, target[:, None], np.reshape(per_target, target.shape)[:, None], 1)
            made = losses.nll_loss_backward(
                gradient, device, places, given, reduction=reduction, ignore=ignore, total=sum_of_weights
            )
            rough = vx.finfo(dtype).eps / vx.finfo(vx.float64 if dtype is vx.float64 else vx.float32).eps
            assert_close(made, spread.reshape(shape), dtype, 40 * (1 + rough))


def test_nll_loss_checks_its_arguments():
    x, target = vx.zeros((4, 3)), vx.asarray(np.array([0, 1, 2, 3], np.int32))
    with pytest.raises(IndexError, match="out of bounds"):
        float(losses.nll_loss(x, target)[0])
    with pytest.raises(ValueError, match="batch, classes"):
        losses.nll_loss(x, target[:2])
    with pytest.raises(ValueError, match="each of 3 classes"):
        losses.nll_loss(x, target, vx.ones(4))
    with pytest.raises(ValueError, match="reduction"):
        losses.nll_loss(x, target, reduction="max")


# -- attention --------------------------------------------------------------------------------------------------------


def reference(q, k, v, mask, scale) -> tuple[np.ndarray, np.ndarray]:
    """The result and the probabilities; `mask` is added to the scores."""
    scores = q @ np.swapaxes(k, -1, -2) * scale + mask
    seen = np.isfinite(scores).any(-1, keepdims=True)
    p = np.where(seen, softmax_of(np.where(seen, scores, 0)), 0)
    return p @ v, p


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
@pytest.mark.parametrize("case", ["plain", "bool", "added", "grouped", "causal", "scale"])
def test_attention(case, dtype):
    heads = 2 if case == "grouped" else 6
    (q, query), (k, key), (v, value) = (
        numbers(shape, dtype, seed) for seed, shape in enumerate(((2, 6, 5, 8), (2, heads, 7, 8), (2, heads, 7, 3)))
    )
    wide = [np.repeat(one, 6 // heads, 1) for one in (k, v)]
    scale = 0.3 if case == "scale" else 8**-0.5
    allowed = np.random.default_rng(7).random((2, 6 if case == "grouped" else 1, 5, 7)) < 0.6
    allowed[0, 0, 1] = False
    added, addend = numbers((5, 7), dtype, 8)
    places = np.arange(7) <= np.arange(5)[:, None]
    mask, given = {
        "bool": (np.where(allowed, 0, -np.inf), vx.asarray(allowed)),
        "grouped": (np.where(allowed, 0, -np.inf), vx.asarray(allowed)),
        "added": (added, addend), "causal": (np.where(places, 0, -np.inf), None),
    }.get(case, (np.zeros((5, 7)), None))  # fmt: skip
    expected, p = reference(q, *wide, mask, scale)
    options = {"scale": 0.3} if case == "scale" else {}
    found = attention.attention(query, key, value, given, causal=case == "causal", grouped=case == "grouped", **options)
    # Scores and probabilities of 16-bit types are rounded to their type in between.
    rough = vx.finfo(dtype).eps / vx.finfo(vx.float64 if dtype is vx.float64 else vx.float32).eps
    assert_close(found.result, expected, dtype, 60 + 30 * rough, np.abs(v).max())
    g, gradient = numbers(expected.shape, dtype, 9)
    made = attention.attention_backward(
        gradient, query, key, value, found.probabilities, grouped=case == "grouped", of_mask=case == "added", **options
    )
    of_p = g @ np.swapaxes(wide[1], -1, -2)
    of_scores = p * (of_p - (of_p * p).sum(-1, keepdims=True))
    of_key, of_value = np.swapaxes(of_scores, -1, -2) @ q * scale, np.swapaxes(p, -1, -2) @ g
    if case == "grouped":
        of_key, of_value = (one.reshape(2, 2, 3, *one.shape[2:]).sum(2) for one in (of_key, of_value))
    for one, wanted in zip(made[:3], (of_scores @ wide[0] * scale, of_key, of_value), strict=True):
        assert_close(one, wanted, dtype, 200 + 100 * rough, np.abs(g).max() * 10)
    if case == "added":
        assert_close(made[3], of_scores, dtype, 200 + 100 * rough, np.abs(of_p).max())


def test_attention_with_dropout():
    (_, query), (_, key), (v, value) = (numbers((1, 2, 4, 8), vx.float32, seed) for seed in range(3))
    generator = vx.random.default_rng(5)
    found = attention.attention(query, key, value, probability=0.5, generator=generator)
    kept, p = np.asarray(found.kept), np.asarray(found.probabilities).astype(np.float64)
    used = np.where(kept, 2 * p, 0)
    assert_close(found.result, used @ v, vx.float32, 60, 10)
    g, gradient = numbers((1, 2, 4, 8), vx.float32, 3)
    made = attention.attention_backward(gradient, query, key, value, found.probabilities, found.kept, probability=0.5)
    assert_close(made[2], np.swapaxes(used, -1, -2) @ g, vx.float32, 60, 10)
    with pytest.raises(ValueError, match="generator"):
        attention.attention(query, key, value, probability=0.5)


def test_attention_checks_its_arguments():
    q = vx.zeros((2, 4, 5, 8))
    with pytest.raises(ValueError, match=r"\(\.\.\., S, E\)"):
        attention.attention(q, vx.zeros((2, 4, 5, 7)), q)
    with pytest.raises(ValueError, match="multiple"):
        attention.attention(q, vx.zeros((2, 3, 5, 8)), vx.zeros((2, 3, 5, 8)), grouped=True)
    with pytest.raises(TypeError, match="attention"):
        attention.attention(*[vx.zeros((2, 2), dtype=vx.int32)] * 3)


# -- dropout ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_dropout(dtype):
    x, device = numbers((37, 101), dtype, 0)
    result, mask = dropout.dropout(device, 0.25, vx.random.default_rng(3))
    kept = np.asarray(mask)
    # Four standard deviations of a count.
    assert abs(kept.mean() - 0.75) < 4 * np.sqrt(0.75 * 0.25 / kept.size)
    assert_close(result, np.where(kept, x / 0.75, 0), dtype, 2)
    again, same = dropout.dropout(device, 0.25, vx.random.default_rng(3))
    np.testing.assert_array_equal(np.asarray(same), kept)
    np.testing.assert_array_equal(np.asarray(again), np.asarray(result))
    assert_close(dropout.dropout_backward(device, mask, 2.0), np.where(kept, 2 * x, 0), dtype, 2)


def test_dropout_of_nothing_and_of_everything():
    generator = vx.random.default_rng(3)
    result, mask = dropout.dropout(vx.ones(5), 0.0, generator)
    assert np.asarray(mask).all()
    np.testing.assert_array_equal(np.asarray(result), 1)
    result, mask = dropout.dropout(vx.ones(5), 1.0, generator)
    assert not np.asarray(mask).any()
    np.testing.assert_array_equal(np.asarray(result), 0)
    with pytest.raises(ValueError, match="from 0 to 1"):
        dropout.dropout(vx.ones(5), 1.5, generator)


def test_draws_go_on_where_the_last_one_ended():
    whole = np.asarray(dropout.dropout(vx.ones(11), 0.5, vx.random.default_rng(1))[1])
    generator = vx.random.default_rng(1)
    parts = [np.asarray(dropout.dropout(vx.ones(count), 0.5, generator)[1]) for count in (3, 8)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


# -- optimizers -------------------------------------------------------------------------------------------------------

SHAPES = ((3,), (300, 7), (1,), (0,), (5000,))


def lists(dtype, seed: int) -> tuple[list[np.ndarray], list[vx.VkArray]]:
    pairs = [numbers(shape, dtype, seed + place) for place, shape in enumerate(SHAPES)]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


@pytest.mark.parametrize("dtype", supported([vx.float32, vx.float64]), ids=str)
@pytest.mark.parametrize("kind", ["adam", "adamw", "amsgrad", "maximize"])
def test_adam(kind, dtype):
    p, parameters = lists(dtype, 0)
    m, v, largest = ([np.zeros(shape) for shape in SHAPES] for _ in range(3))
    means, squares, most = ([vx.zeros(shape, dtype=dtype) for shape in SHAPES] for _ in range(3))
    for step in range(1, 4):
        g, gradients = lists(dtype, 100 * step)
        optimizers.adam(
            parameters, gradients, means, squares, [vx.asarray(np.float32(step)) for _ in SHAPES], rate=0.1, eps=1e-8,
            decay=0.01, decoupled=kind == "adamw", largest=most if kind == "amsgrad" else None,
            maximize=kind == "maximize",
        )  # fmt: skip
        for place in range(len(SHAPES)):
            own = -g[place] if kind == "maximize" else g[place]
            if kind == "adamw":
                p[place] *= 1 - 0.1 * 0.01
            else:
                own = own + 0.01 * p[place]
            m[place] = 0.9 * m[place] + 0.1 * own
            v[place] = 0.999 * v[place] + 0.001 * own**2
            largest[place] = np.maximum(largest[place], v[place])
            second = largest[place] if kind == "amsgrad" else v[place]
            root = np.sqrt(second / (1 - 0.999**step)) + 1e-8
            p[place] -= 0.1 / (1 - 0.9**step) * m[place] / root
    for got, expected in zip(parameters, p, strict=True):
        # A near-zero gradient has a quotient of two small numbers with their relative errors.
        assert_close(got, expected, dtype, 200, 1.0)
    for got, expected in zip(squares, v, strict=True):
        assert_close(got, expected, dtype, 20)


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_sgd(momentum, dtype):
    p, parameters = lists(dtype, 0)
    buffers = [vx.zeros(shape, dtype=dtype) for shape in SHAPES]
    kept = [np.zeros(shape) for shape in SHAPES]
    for step in range(3):
        g, gradients = lists(dtype, 100 * step)
        optimizers.sgd(
            parameters, gradients, buffers, rate=0.1, decay=0.01, momentum=momentum, nesterov=bool(momentum),
            first_step=step == 0,
        )  # fmt: skip
        for place in range(len(SHAPES)):
            own = g[place] + 0.01 * p[place]
            if momentum:
                kept[place] = own if step == 0 else momentum * kept[place] + own
                own = own + momentum * kept[place]
            p[place] = p[place] - 0.1 * own
    rough = vx.finfo(dtype).eps / vx.finfo(vx.float64 if dtype is vx.float64 else vx.float32).eps
    for got, expected in zip(parameters, p, strict=True):
        assert_close(got, expected, dtype, 20 + 8 * rough, 4.0)


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_adagrad(dtype):
    p, parameters = lists(dtype, 0)
    sums, total = [vx.zeros(shape, dtype=dtype) for shape in SHAPES], [np.zeros(shape) for shape in SHAPES]
    for step in range(1, 4):
        g, gradients = lists(dtype, 100 * step)
        steps = [vx.asarray(np.float32(step)) for _ in SHAPES]
        optimizers.adagrad(parameters, gradients, sums, steps, rate=0.1, rate_decay=0.5, decay=0.01, eps=1e-3)
        for place in range(len(SHAPES)):
            own = g[place] + 0.01 * p[place]
            total[place] = total[place] + own**2
            p[place] = p[place] - 0.1 / (1 + 0.5 * (step - 1)) * own / (np.sqrt(total[place]) + 1e-3)
    rough = vx.finfo(dtype).eps / vx.finfo(vx.float64 if dtype is vx.float64 else vx.float32).eps
    for got, expected in zip(parameters, p, strict=True):
        assert_close(got, expected, dtype, 200 + 8 * rough, 4.0)


def test_a_scale_divides_gradients_and_a_flag_skips_the_step():
    parameters, gradients = [vx.ones(3)], [vx.full((3,), 4.0)]
    flag = vx.asarray(np.float32(1))
    optimizers.sgd(parameters, gradients, rate=1.0, skip=flag)
    np.testing.assert_array_equal(np.asarray(parameters[0]), 1)
    optimizers.sgd(parameters, gradients, rate=1.0, skip=flag - 1, scale=vx.asarray(np.float32(8)))
    np.testing.assert_array_equal(np.asarray(parameters[0]), 0.5)


ON_LISTS = {
    "add": lambda a, b, c, p: a + p * b, "add number": lambda a, b, c, p: a + p, "multiply": lambda a, b, c, p: a * b,
    "multiply number": lambda a, b, c, p: a * p, "divide": lambda a, b, c, p: a / b,
    "divide number": lambda a, b, c, p: a / p, "negative": lambda a, b, c, p: -a,
    "sqrt": lambda a, b, c, p: np.sqrt(np.abs(a)), "maximum": lambda a, b, c, p: np.maximum(a, b),
    "lerp": lambda a, b, c, p: a + p * (b - a), "addcmul": lambda a, b, c, p: a + p * b * c,
    "addcdiv": lambda a, b, c, p: a + p * b / c, "copy": lambda a, b, c, p: a,
    "fill": lambda a, b, c, p: np.full_like(a, p),
}  # fmt: skip


@pytest.mark.parametrize("name", ON_LISTS)
def test_lists(name):
    dtype = vx.float32
    operands = [lists(dtype, seed) for seed in (0, 50, 90)]
    count = optimizers.OF_LISTS[name].slots - 1
    factors = [0.5, 2.0, -1.5, 3.0, 0.25]
    if name == "sqrt":
        operands[0] = [np.abs(one) for one in operands[0][0]], [vx.abs(one) for one in operands[0][1]]
    if name == "fill":
        made = operands[0][1]
        optimizers.run(name, optimizers.OF_LISTS[name], [made], numbers=factors)
    else:
        made = optimizers.of_lists(name, [arrays for _, arrays in operands[:count]], factors)
    for place, got in enumerate(made):
        a, b, c = (values[place] for values, _ in operands)
        expected = ON_LISTS[name](a, b, c, factors[place])
        size = np.abs(a) + np.abs(factors[place]) * (np.abs(b) + np.abs(b * c) + np.abs(b / c))
        assert_close(got, expected, dtype, 6, np.max(size, initial=1))


def test_lists_that_do_not_fit():
    with pytest.raises(ValueError, match="one length"):
        optimizers.sgd([vx.ones(3)], [], rate=0.1)
    with pytest.raises(ValueError, match="one shape"):
        optimizers.sgd([vx.ones(3)], [vx.ones(4)], rate=0.1)
    with pytest.raises(TypeError, match="floating"):
        optimizers.sgd([vx.ones(3, dtype=vx.int32)], [vx.ones(3, dtype=vx.int32)], rate=0.1)


def test_variants_are_in_the_catalogue():
    assert {losses.variants, dropout.variants, optimizers.variants} <= set(catalogue.FAMILIES)
