"""The strided access pattern: the plans of `walk` by themselves, then every kind of them on the device against NumPy."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from reference import host_dtype, supported
from test_shared_memory import events, races

import vkarray as vx
from vkarray.core import layout
from vkarray.kernels import launch, operation, walk
from vkarray.kernels.launch import Operation
from vkarray.shaders import source as shaders

SETTING = walk.Setting(256, 4, (65535, 65535, 65535), turns=True, inputs=1, limit=2**30 - 1)
LENGTHS = (1, 2, 3, 5, 8, 31, 32, 33, 64, 100, 257)


def places(part: walk.Part, setting: walk.Setting, operands: int) -> np.ndarray:
    """The offsets of each operand, a column each, that the shader meets when it follows a plan."""
    rank, width, height = part.plan & 255, part.plan >> 8 & 15, part.plan >> 12 & 15
    shape, rows = part.values[:rank], np.reshape(part.values[rank : rank * (operands + 1)], (operands, rank))
    biases = part.values[rank * (operands + 1) :] or (0,) * operands
    assert bool(part.plan >> 25 & 1) == (len(biases) > 0 and any(biases))
    numbered, _ = part.mode
    tile = setting.invocations * setting.elements
    groups = np.stack([axis.ravel() for axis in np.meshgrid(*map(np.arange, part.groups), indexing="ij")], axis=1)
    if numbered:
        numbers = (groups[:, 1] * part.groups[0] + groups[:, 0])[:, None] * tile + np.arange(tile)
        numbers = numbers[numbers < part.numbers]
        assert part.numbers == math.prod(shape)
        positions = np.stack(np.unravel_index(numbers, shape), axis=1)
    else:
        assert width + height == tile.bit_length() - 1
        assert 1 << height <= setting.invocations
        assert 1 << width <= setting.invocations or height == 0
        x_tiles, y_tiles = -(-shape[-1] >> width), -(-shape[-2] >> height)
        if part.plan >> 24 & 1:
            number = groups[:, 1] * part.groups[0] + groups[:, 0]
            outer, y, x = number // (x_tiles * y_tiles), number // x_tiles % y_tiles, number % x_tiles
        else:
            band = part.plan >> 16 & 15
            x, y, outer = groups[:, 0] >> band, (groups[:, 1] << band) + groups[:, 0] % (1 << band), groups[:, 2]
        y, x = (
            (y[:, None] << height) + (np.arange(tile) >> width),
            (x[:, None] << width) + np.arange(tile) % (1 << width),
        )
        inside = (x < shape[-1]) & (y < shape[-2]) & (outer < part.numbers)[:, None]
        outer = np.broadcast_to(outer[:, None], x.shape)[inside]
        assert part.numbers == math.prod(shape[:-2])
        before = np.unravel_index(outer, shape[:-2]) if rank > 2 else ()
        positions = np.stack([*before, y[inside], x[inside]], axis=1)
    offsets = positions @ rows.T + np.array(biases)
    assert offsets.min() >= 0
    return offsets + np.array(part.offsets)


def wanted(shape: layout.Shape, strides: tuple[layout.Strides, ...]) -> np.ndarray:
    positions = np.indices(shape).reshape(len(shape), -1).T
    return positions @ np.array(strides).T


@pytest.mark.parametrize("limits", [(65535, 65535, 65535), (5, 65535, 3)], ids=str)
@pytest.mark.parametrize("setting", [SETTING, SETTING._replace(elements=1, turns=False)], ids=["gpu", "cpu"])
@pytest.mark.parametrize("seed", range(12))
def test_every_element_once(seed, setting, limits):
    """Random layouts of ranks 1 to 7: each position of the shape is met once, with the right offsets."""
    rng = np.random.default_rng(seed)
    setting = setting._replace(groups=limits, limit=int(rng.choice([setting.limit, 5000])))
    shape = tuple(int(length) for length in rng.choice(LENGTHS, rng.integers(1, 8)))
    while math.prod(shape) > 40_000:
        shape = tuple(max(1, length // 3) for length in shape)
    rows = []
    for _ in range(int(rng.integers(1, 5))):
        order = rng.permutation(len(shape))
        steps = np.array(layout.contiguous_strides(tuple(shape[axis] + int(rng.integers(3)) for axis in order)))
        own = np.empty(len(shape), int)
        own[order] = steps * rng.choice([1, 1, -1], len(shape)) * rng.choice([1, 1, 2])
        rows.append(own)
    for row in rows[:-1]:
        row[rng.random(len(shape)) < 0.2] = 0  # broadcast
    strides = tuple(tuple(map(int, row)) for row in rows)
    setting = setting._replace(inputs=len(rows) - 1)
    parts = walk.parts(shape, strides, setting)
    met = np.concatenate([places(part, setting, len(rows)) for part in parts])
    expected = wanted(shape, strides)
    np.testing.assert_array_equal(met[np.lexsort(met.T)], expected[np.lexsort(expected.T)])
    for part in parts:
        assert all(one <= most for one, most in zip(part.groups, limits, strict=True))
        assert setting.turns or not part.mode[1]


def test_choices():
    """What a plan takes: tiles across for transposed inputs, in bands; numbers for short axes; x by the result's strides."""
    n = 4096
    turned = walk.parts((n, n), ((1, n), (n, 1)), SETTING)[0]
    assert turned.mode == (False, True)
    assert turned.plan >> 8 & 15 == turned.plan >> 12 & 15 == 5
    row = walk.parts((n, n), ((n, 1), (0, 1), (n, 1)), SETTING._replace(inputs=2))[0]
    assert row.mode == (False, False)
    assert walk.parts((3, 2) * 6, ((0, 1) * 6, layout.contiguous_strides((3, 2) * 6)), SETTING)[0].mode[0]
    same = walk.parts((n, n), ((1, n), (1, n)), SETTING)[0]
    assert same.values[:2] == (1, n * n)  # transposed operands and result: as one axis
    placed = walk.parts((n, n), ((1, n), (1, n), (n, 1)), SETTING)[0]  # the last one is the place in C order
    assert placed.values[:2] == (n, n)
    # y is where the input has its neighbours, wherever that axis stands.
    moved = walk.parts((64, 100, 64), ((1, 6400, 64), (6400, 64, 1)), SETTING)[0]
    assert moved.values[:3] == (100, 64, 64)
    assert moved.mode[1]


@pytest.fixture(params=[None, (3, 65535, 2)], ids=["direct", "folded"])
def as_on_a_gpu(request, monkeypatch):
    """Turning and several elements to an invocation, also where this device gains nothing from them."""
    plain = Operation.walk_setting
    for name in ("_ELEMENTS", "INVOCATIONS"):
        table = getattr(operation, name)
        monkeypatch.setattr(operation, name, dict.fromkeys(table, table["gpu"]))

    def setting(self, device):
        made = plain(self, device)._replace(turns=True)
        return made if request.param is None else made._replace(groups=request.param)

    monkeypatch.setattr(Operation, "walk_setting", setting)


def view(values: np.ndarray, order: tuple[int, ...], steps: tuple[int, ...]) -> tuple[np.ndarray, vx.VkArray]:
    """Values as they are and as a view on the device whose axes lie in memory in another order, with steps between."""
    moved = np.transpose(values, order)
    base = np.zeros([length * abs(step) for length, step in zip(moved.shape, steps, strict=True)], values.dtype)
    keys = tuple(slice(None, None, step) for step in steps)
    base[keys] = moved
    array = vx.permute_dims(vx.asarray(base)[keys], tuple(int(axis) for axis in np.argsort(order)))
    return values, array


def numbers(shape: tuple[int, ...], dtype) -> np.ndarray:
    return np.random.default_rng(math.prod(shape)).integers(0, 100, shape).astype(host_dtype(dtype))


SHAPES = [(70, 100), (33, 257), (3, 500), (500, 3), (5, 40, 33), (40, 3, 50), (2, 3, 4, 5, 6), (3, 2, 3, 2, 3, 2, 20)]
BY_SIZE = supported([vx.uint8, vx.int16, vx.float32, vx.complex64, vx.complex128])


@pytest.mark.parametrize("dtype", BY_SIZE, ids=str)
def test_copies(as_on_a_gpu, dtype):
    """Every item size: transposed, reversed and strided views of ranks 2 to 7, sizes that are no multiples of a tile."""
    operation = Operation(f"copy {dtype}", "a", (dtype,), dtype, dtype)
    for shape in SHAPES:
        values = numbers(shape, dtype)
        rank = len(shape)
        for order, step in itertools.product((tuple(range(rank))[::-1], (*range(1, rank), 0)), (1, -1, 2)):
            host, array = view(values, order, (step,) * rank)
            got = launch.elementwise(operation, (array,), vx.empty(shape, dtype=dtype))
            np.testing.assert_array_equal(np.asarray(got), host, f"{shape} in order {order}, step {step}")


@pytest.mark.parametrize("turned", range(8))
def test_three_inputs(as_on_a_gpu, turned):
    """Any of three inputs turned, the others as they are, broadcast or reversed; bool among them."""
    inputs = (vx.bool, vx.int32, vx.int32)
    operation = Operation("choose int32", "a ? b : c", inputs, vx.int32, vx.int32)
    for shape in SHAPES:
        rank = len(shape)
        orders = [tuple(range(rank))[::-1] if turned >> k & 1 else tuple(range(rank)) for k in range(3)]
        mask, x, y = (
            view(numbers(shape, dtype) % (2 + k), order, (step,) * rank)
            for k, (dtype, order, step) in enumerate(zip((vx.int32,) * 3, orders, (1, -1, 1), strict=True))
        )
        mask = (mask[0].astype(bool), view(mask[0].astype(bool), orders[0], (1,) * rank)[1])
        got = launch.elementwise(operation, (mask[1], x[1], y[1]), vx.empty(shape, dtype=vx.int32))
        np.testing.assert_array_equal(np.asarray(got), np.where(mask[0], x[0], y[0]), f"{shape}")
        last = y[1][..., :1]
        got = launch.elementwise(operation, (mask[1], x[1], last), vx.empty(shape, dtype=vx.int32))
        np.testing.assert_array_equal(np.asarray(got), np.where(mask[0], x[0], y[0][..., :1]), f"{shape}, broadcast")


def test_into_views(as_on_a_gpu):
    """A result with strides of its own: untouched in between, and each element once when the result is an input too."""
    operation = Operation("add int32", "a + b", (vx.int32, vx.int32), vx.int32, vx.int32)
    for shape in SHAPES:
        rank = len(shape)
        for order, step in itertools.product((tuple(range(rank))[::-1], tuple(range(rank))), (2, -2)):
            base = numbers([2 * shape[axis] for axis in order], vx.int32)
            array = vx.asarray(base)
            keys, back = (slice(None, None, step),) * rank, tuple(int(axis) for axis in np.argsort(order))
            host, target = base[keys].transpose(back), vx.permute_dims(array[keys], back)
            other, device_other = view(numbers(shape, vx.int32), tuple(range(rank))[::-1], (1,) * rank)
            host += other
            launch.elementwise(operation, (target, device_other), target)
            np.testing.assert_array_equal(np.asarray(array), base, f"{shape} in order {order}, step {step}")


def test_order_of_positions(as_on_a_gpu):
    """Where an expression knows its position, that is the one in C order, whatever the layouts."""
    operation = Operation("position", "int(index) - a", (vx.int32,), vx.int32, vx.int32)
    for shape in SHAPES:
        values = np.arange(math.prod(shape), dtype=np.int32).reshape(shape)
        host, array = view(values, tuple(range(len(shape)))[::-1], (1,) * len(shape))
        target = vx.permute_dims(vx.empty(shape[::-1], dtype=vx.int32), tuple(range(len(shape)))[::-1])
        got = np.asarray(launch.elementwise(operation, (array,), target))
        np.testing.assert_array_equal(got, np.zeros_like(host), f"{shape}")


def test_nothing_races():
    """A barrier between what goes to shared memory and what comes from there."""
    operation = Operation("choose int32", "a ? b : c", (vx.bool, vx.int32, vx.int32), vx.int32, vx.int32)
    found = events(shaders.spirv(operation.variant(vx.asarray(0).device, flat=False)))
    assert {event.split()[0] for event in found} >= {"load", "store", "barrier"}
    assert not races(found)
