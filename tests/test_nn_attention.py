"""Attention without stored scores against float64 formulas, on devices with fragments and on all others.

Mesa 26 gives llvmpipe fragments of 8 x 8 x 8; a tile of the tests' own takes them where the compiler knows cooperative matrices.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
from reference import supported
from test_cooperative import able as able
from test_cooperative import compiler_is_new
from test_matmul import values_of

import vkarray as vx
from vkarray.nn import attention, attention_fragments
from vkarray.nn.attention_fragments import TILES, Tile

HALVES = supported([vx.float16, vx.bfloat16])


@pytest.fixture(params=[(row, reductions) for row in range(len(TILES["gpu"])) for reductions in (False, True)], ids=str)
def tile(request, device, monkeypatch):
    """Makes a row of the table the only one, with and without reductions; on a CPU a tile that compiles soon."""
    number, reductions = request.param
    row = TILES["gpu"][number]
    monkeypatch.setitem(TILES, "gpu", (row,))
    if compiler_is_new():
        monkeypatch.setitem(TILES, "cpu", (Tile(16, 16, 1 + number % 2, 2, 8, 8),))
    if not reductions:
        monkeypatch.setattr(attention_fragments, "has_reductions", lambda device: False)
    return row


def reference(q, k, v, mask):
    """The result in float64, the largest sum of |q k| of a row, and the sum of p |v| that errors go with."""
    q, k, v = (one.astype(np.float64) for one in (q, k, v))
    k, v = (np.repeat(one, q.shape[1] // one.shape[1], 1) for one in (k, v))
    scale = q.shape[-1] ** -0.5
    scores = q @ np.swapaxes(k, -1, -2) * scale + mask
    top = scores.max(-1, keepdims=True)
    p = np.exp(scores - np.where(np.isfinite(top), top, 0))
    total = p.sum(-1, keepdims=True)
    p = np.divide(p, total, out=np.zeros_like(p), where=total != 0)
    largest = (np.abs(q) @ np.swapaxes(np.abs(k), -1, -2)).max(-1, keepdims=True) * scale
    return p @ v, largest, p @ np.abs(v)


def check(got, q, k, v, mask, dtype, stored: bool) -> None:
    """Every product and sum of float32 errs by some units of it; powers are rounded to their type, and so is the result.

    With `stored` scores these are rounded too, and so are sums of powers that they have been divided by.
    """
    expected, largest, size = reference(q, k, v, mask)
    unit, half = 2.0**-24, vx.finfo(dtype).eps / 2
    keys, width = k.shape[2], q.shape[3]
    # exp2 errs by 3 + 2 |x| units (Vulkan, precision of exp2), of x that give more than the smallest number of the type.
    relative = (2 * (width + 6) * (largest + np.abs(np.where(np.isfinite(mask), mask, 0)).max()) + keys + 300) * unit
    relative = relative + half * (2 * largest + 2 if stored else 1)
    smallest = vx.finfo(dtype).smallest_normal * vx.finfo(dtype).eps
    bound = relative * (size + np.abs(expected)) + half * np.abs(expected) + smallest * (1 + keys * np.abs(v).max())
    host = np.asarray(got).astype(np.float64)
    assert host.shape == expected.shape
    np.testing.assert_array_less(np.abs(host - expected), bound + 1e-300)


def operands(dtype, rows, keys, width, heads=(2, 2)):
    shapes = (2, heads[0], rows, width), (2, heads[1], keys, width), (2, heads[1], keys, width)
    return [values_of(dtype, shape, seed) for seed, shape in enumerate(shapes)]


def both(dtype, device, hosts, mask=None, view=lambda x: x, **options):
    """The result on the device, and whether scores are stored on the way."""
    arrays = [view(vx.asarray(one, dtype=dtype)) for one in hosts]
    _, heads, rows, width = hosts[0].shape
    stored = attention_fragments.choose_tile(device, width, dtype, rows, heads) is None or width % 8 != 0
    return attention.attend(*arrays, mask, **options), stored


CASES = [(20, 40, 16), (1, 7, 16), (40, 1, 8), (33, 17, 16), (5, 50, 12)]


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_shapes(dtype, device, tile) -> None:
    widths = {16: min(tile.width, 16 if device.limits.is_cpu else 128), 8: 8, 12: 12}
    for rows, keys, width in [*CASES, *(() if device.limits.is_cpu else ((300, 260, 16), (130, 200, 8)))]:
        hosts = operands(dtype, rows, keys, widths[width])
        got, stored = both(dtype, device, hosts)
        check(got, *hosts, np.zeros((1, 1)), dtype, stored)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_causal_and_grouped(dtype, device, tile) -> None:
    for rows, keys in [(33, 33), (20, 40), (40, 20)]:
        hosts = operands(dtype, rows, keys, 16, (6, 2))
        mask = np.where(np.arange(keys) <= np.arange(rows)[:, None], 0, -np.inf)
        got, stored = both(dtype, device, hosts, causal=True, grouped=True)
        check(got, *hosts, mask, dtype, stored)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_masks(dtype, device, tile) -> None:
    """Of bools and of numbers, of all shapes that broadcast; rows that see nothing are 0."""
    hosts = operands(dtype, 20, 40, 16)
    allowed = np.random.default_rng(3).random((2, 1, 20, 40)) < 0.5
    allowed[0, 0, 3] = False
    got, stored = both(dtype, device, hosts, vx.asarray(allowed))
    check(got, *hosts, np.where(allowed, 0, -np.inf), dtype, stored)
    assert not np.asarray(got)[0, :, 3].any()
    for shape, view in [((20, 40), lambda x: x), ((1, 2, 1, 40), lambda x: x), ((40, 20), lambda x: x.T[::-1])]:
        numbers = values_of(dtype, shape, 4)
        got, stored = both(dtype, device, hosts, view(vx.asarray(numbers, dtype=dtype)))
        check(got, *hosts, view(numbers).astype(np.float64), dtype, stored)
    for low in (-np.inf, float(vx.finfo(dtype).min)):
        numbers = np.where(np.arange(40) < 30, 0, low)
        got, stored = both(dtype, device, hosts, vx.asarray(numbers, dtype=dtype), causal=True)
        mask = np.where(np.arange(40) <= np.arange(20)[:, None], 0, -np.inf)
        check(got, *hosts, mask, dtype, stored)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_layouts(dtype, device, tile) -> None:
    hosts = operands(dtype, 2, 2, 16, (20, 20))
    for view in (
        lambda x: x.swapaxes(1, 2) if isinstance(x, np.ndarray) else vx.permute_dims(x, (0, 2, 1, 3)),
        lambda x: x[:, ::2], lambda x: x[..., ::2], lambda x: x[:, ::-1], lambda x: x[..., ::-1], lambda x: x[:1],
    ):  # fmt: skip
        viewed = [view(one) for one in hosts]
        got, stored = both(dtype, device, hosts, view=view)
        check(got, *viewed, np.zeros((1, 1)), dtype, stored)
    # Two and three dimensions, leading ones that broadcast, and the layout that the next product takes without a copy.
    q, k, v = (vx.asarray(one, dtype=dtype) for one in hosts)
    whole = attention.attend(q, k, v)
    np.testing.assert_array_equal(np.asarray(attention.attend(q[0, 1], k[0, 1], v[0, 1])), np.asarray(whole)[0, 1])
    np.testing.assert_array_equal(np.asarray(attention.attend(q[0], k[0], v[0])), np.asarray(whole)[0])
    spread = attention.attend(q, k[:1], v[:1])
    np.testing.assert_array_equal(np.asarray(spread)[1], np.asarray(attention.attend(q[1], k[0], v[0])))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_not_finite_numbers_stay_in_their_rows(dtype, device, tile) -> None:
    hosts = operands(dtype, 20, 40, 16)
    hosts[0][0, 0, 3, 5], hosts[0][0, 0, 17, 2] = np.nan, np.inf
    found = np.asarray(both(dtype, device, hosts)[0]).astype(np.float64)
    wrong = np.zeros(found.shape, bool)
    wrong[0, 0, 3] = wrong[0, 0, 17] = True
    np.testing.assert_array_equal(np.isnan(found), wrong)
    # A key or value of a group is seen by all of its rows, by those of before it when they are causal, by no others.
    hosts = operands(dtype, 20, 20, 16)
    hosts[2][1, 1, 18, 4] = np.inf
    found = np.asarray(both(dtype, device, hosts, causal=True)[0]).astype(np.float64)
    assert np.isinf(found[1, 1, 18:, 4]).all()
    assert np.isfinite(np.delete(found, 4, 3)).all()
    assert np.isfinite(found[0]).all()


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_large_scores_and_small_ones(dtype, device, tile) -> None:
    """The largest score is subtracted first; blocks with larger ones than all before come last."""
    hosts = operands(dtype, 20, 40, 16)
    for grow in (np.linspace(0, 8, 40), np.linspace(8, 0, 40), np.full(40, 30.0)):
        keys = values_of(vx.float16 if dtype is vx.bfloat16 else dtype, (40, 16), 7).astype(np.float64)
        keys = np.asarray(vx.astype(vx.asarray((keys * grow[:, None]).astype(np.float32)), dtype)).astype(np.float32)
        given = [hosts[0], np.broadcast_to(keys, hosts[1].shape).copy(), hosts[2]]
        got, stored = both(dtype, device, given)
        check(got, *given, np.zeros((1, 1)), dtype, stored)


def test_the_same_bits_every_time(device, tile) -> None:
    hosts = operands(HALVES[0], 40, 40, 16)
    first, second = (np.asarray(both(HALVES[0], device, hosts)[0]) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_devices_without_what_the_kernel_needs_are_left_alone(device) -> None:
    assert attention_fragments.choose_tile(device, 1000, vx.float16, 64, 8) is None
    assert attention_fragments.choose_tile(device, 64, vx.float32, 64, 8) is None


@pytest.mark.parametrize("width", [64, 40])
def test_how_rows_are_shared_out_changes_no_bit(device, monkeypatch, width) -> None:
    """Few rows get smaller workgroups, with blocks of as many keys: a model gives the same alone and in a batch."""
    hosts = operands(HALVES[0], 300, 200, width)
    results = set()
    for row in TILES["gpu"]:
        if row.keys == TILES["gpu"][0].keys:
            with monkeypatch.context() as context:
                context.setitem(TILES, "gpu", (row,))
                results.add(np.asarray(both(HALVES[0], device, hosts)[0]).tobytes())
    assert len(results) == 1


def test_smaller_workgroups_keep_all_processors_busy(able) -> None:
    able = able._replace(features=able.features | attention_fragments._SHUFFLES | attention_fragments._REDUCTIONS)
    chosen = functools.partial(attention_fragments.choose_tile, able, 64, vx.float16)
    large, middle, small = TILES["gpu"][:3]
    assert (large.block, middle.block, small.block) == (256, 128, 64)
    assert chosen(rows=256, heads=12) == chosen(rows=512, heads=16) == small
    assert chosen(rows=1024, heads=16) == chosen(rows=256, heads=48) == middle
    assert chosen(rows=2048, heads=32) == chosen(rows=256, heads=96) == large
    assert attention_fragments.choose_tile(able, 128, vx.float16, 256, 12).width == 128


def test_tiles_fit_what_they_are_for() -> None:
    for row in TILES["gpu"]:
        assert row.keys % row.fragment == row.width % row.fragment == row.subgroup % row.fragment == 0
        assert row.keys // 4 % (row.subgroup // row.fragment) == 0
        assert max(row.shared_bytes(row.width, reductions) for reductions in (False, True)) <= 49152
        assert row.subgroup >= row.fragment * row.fragment // 8
        assert (row.fragment, row.subgroup) == (16, 32)  # which the variants hold


@pytest.mark.parametrize("heads", [6, 2])
@pytest.mark.parametrize("order", [(0, 2, 1, 3), (1, 0, 2, 3), (2, 1, 0, 3), (3, 0, 1, 2)])
def test_results_and_gradients_get_the_strides_that_are_asked_for(order, heads):
    rng = np.random.default_rng(3)
    query = vx.asarray(rng.standard_normal((2, 6, 5, 4), dtype=np.float32))
    key = vx.asarray(rng.standard_normal((2, heads, 7, 4), dtype=np.float32))
    value = vx.asarray(rng.standard_normal((2, heads, 7, 3), dtype=np.float32))

    def strides_of(shape):
        lengths = [shape[axis] for axis in order]
        return tuple(int(np.prod(lengths[order.index(axis) + 1 :])) for axis in range(4))

    strides = strides_of((2, 6, 5, 3))
    plain = attention.attention(query, key, value, grouped=True)
    made = attention.attention(query, key, value, grouped=True, strides=strides)
    assert np.array_equal(np.asarray(made.result), np.asarray(plain.result))
    assert made.result._contiguous or made.result._strides == strides
    assert made.result._contiguous == (order[3] != 3)  # rows of a result are contiguous
    wanted = [strides_of(one.shape) for one in (query, key, value)]
    given = (plain.result, query, key, value, plain.probabilities)
    gradients = attention.attention_backward(*given, grouped=True)
    for one, other in zip(attention.attention_backward(*given, grouped=True, strides=wanted), gradients, strict=True):
        assert one is other is None or np.array_equal(np.asarray(one), np.asarray(other))


@pytest.mark.parametrize("shape", [(2, 3, 5, 8), (3, 5, 8), (5, 8), (2, 1, 3, 5, 8)], ids=str)
def test_the_result_alone_lies_in_the_order_that_comes_after_it(shape) -> None:
    """Rows before heads, so that a copy of all heads of a row side by side is a view."""
    arrays = [vx.asarray(np.random.default_rng(seed).normal(size=shape).astype(np.float32)) for seed in range(3)]
    result = attention.attend(*arrays)
    np.testing.assert_array_equal(np.asarray(result), np.asarray(attention.attention(*arrays)[0]))
    if len(shape) > 2:
        rows = vx.reshape(vx.moveaxis(result, -3, -2), (*shape[:-3], shape[-2], -1), copy=False)
        assert rows.shape == (*shape[:-3], 5, shape[-3] * 8)
