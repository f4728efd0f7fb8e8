"""Manipulation functions against NumPy: strided inputs, views that share memory, large arrays."""

from __future__ import annotations

import numpy as np
import pytest
from reference import host_dtype, supported

import vkarray as vx
from vkarray.core import dtypes

DTYPES = supported(dtypes.DTYPES.values())
VALUES = np.arange(120, dtype=np.int32).reshape(2, 3, 4, 5)
# Ways to look at one array: none of these copies.
VIEWS = {
    "contiguous": lambda x: x,
    "sliced": lambda x: x[:, ::2, 1:, ::-1],
    "reversed": lambda x: x[::-1, ::-1, ::-1, ::-1],
    "offset": lambda x: x[1:, 1:, 1:, 1:],
    "empty": lambda x: x[:, :0],
    "one element": lambda x: x[:1, :1, :1, :1],
}

# Name -> (call of vkarray, call of NumPy).
CALLS = {
    "permute_dims": (lambda x: vx.permute_dims(x, (2, 0, 3, 1)), lambda x: x.transpose(2, 0, 3, 1)),
    "moveaxis": (lambda x: vx.moveaxis(x, (0, -1), (2, 0)), lambda x: np.moveaxis(x, (0, -1), (2, 0))),
    "expand_dims": (lambda x: vx.expand_dims(x, (0, -1, 3)), lambda x: np.expand_dims(x, (0, -1, 3))),
    "squeeze": (
        lambda x: vx.squeeze(vx.expand_dims(x, (1, 4)), (1, 4)), lambda x: x,
    ),
    "flip": (lambda x: vx.flip(x), lambda x: np.flip(x)),
    "flip of two axes": (lambda x: vx.flip(x, axis=(1, -1)), lambda x: np.flip(x, (1, -1))),
    "reshape to one dimension": (lambda x: vx.reshape(x, (-1,)), lambda x: x.reshape(-1)),
    "reshape with copy": (lambda x: vx.reshape(x, x.shape, copy=True), lambda x: x),
    "roll": (lambda x: vx.roll(x, 7), lambda x: np.roll(x, 7)),
    "roll of two axes": (lambda x: vx.roll(x, (1, -2), axis=(0, 3)), lambda x: np.roll(x, (1, -2), (0, 3))),
    "roll of one axis twice": (lambda x: vx.roll(x, (1, 2), axis=(2, 2)), lambda x: np.roll(x, (1, 2), (2, 2))),
    "roll by more than the length": (lambda x: vx.roll(x, -11, axis=1), lambda x: np.roll(x, -11, 1)),
    "tile": (lambda x: vx.tile(x, (2, 1, 3)), lambda x: np.tile(x, (2, 1, 3))),
    "tile to more dimensions": (lambda x: vx.tile(x, (2, 1, 1, 1, 2)), lambda x: np.tile(x, (2, 1, 1, 1, 2))),
    "tile by zero": (lambda x: vx.tile(x, (0,)), lambda x: np.tile(x, (0,))),
    "repeat": (lambda x: vx.repeat(x, 3), lambda x: np.repeat(x, 3)),
    "repeat along an axis": (lambda x: vx.repeat(x, 2, axis=-2), lambda x: np.repeat(x, 2, -2)),
    "repeat each": (
        lambda x: vx.repeat(x, vx.asarray([index % 3 for index in range(x.shape[2])], dtype=vx.int32), axis=2),
        lambda x: np.repeat(x, [index % 3 for index in range(x.shape[2])], 2),
    ),
    "concat": (lambda x: vx.concat([x, x[:, :1], x], axis=1), lambda x: np.concatenate([x, x[:, :1], x], 1)),
    "concat flattened": (lambda x: vx.concat([x, x], axis=None), lambda x: np.concatenate([x, x], None)),
    "stack": (lambda x: vx.stack([x, -x], axis=-1), lambda x: np.stack([x, -x], -1)),
    "stack in the middle": (lambda x: vx.stack([x, x, x], axis=2), lambda x: np.stack([x, x, x], 2)),
    "broadcast_to": (
        lambda x: vx.broadcast_to(x[..., :1], (3, *x.shape)), lambda x: np.broadcast_to(x[..., :1], (3, *x.shape)),
    ),
    "unstack": (lambda x: vx.concat(vx.unstack(x, axis=2), axis=0), lambda x: np.concatenate(list(np.moveaxis(x, 2, 0)))),
    "matrix_transpose": (lambda x: vx.matrix_transpose(x), lambda x: np.matrix_transpose(x)),
}  # fmt: skip


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", CALLS)
def test_values(name, view):
    call, expected_call = CALLS[name]
    x, host = VIEWS[view](vx.asarray(VALUES)), VIEWS[view](VALUES)
    if name == "unstack" and host.shape[2] == 0:
        return
    got, expected = call(x), expected_call(host)
    assert got.shape == expected.shape
    assert got.dtype is vx.int32
    np.testing.assert_array_equal(np.asarray(got), expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(dtype):
    values = (np.arange(24) % 2 if dtype is vx.bool else np.arange(24)).reshape(4, 6).astype(host_dtype(dtype))
    x = vx.asarray(values, dtype=dtype)
    for got, expected in (
        (vx.concat([x.T, x.T]), np.concatenate([values.T, values.T])),
        (vx.roll(x, 3), np.roll(values, 3)),
        (vx.repeat(x, 2, axis=1), np.repeat(values, 2, 1)),
        (vx.tril(x), np.tril(values)),
        (vx.reshape(x.T, (3, 8)), values.T.reshape(3, 8)),
    ):
        assert got.dtype is dtype
        np.testing.assert_array_equal(np.asarray(got), expected)


def test_bits_are_moved_unchanged():
    """NaN payloads, signs of zeros and subnormal numbers survive copies on every driver."""
    generator = np.random.default_rng(0)
    for dtype in supported([vx.float16, vx.float32, vx.float64, vx.complex64]):
        host = host_dtype(dtype)
        bits = generator.integers(0, 256, (30, 20 * host.itemsize), np.uint8)
        values = bits.view(host)
        x = vx.asarray(values)
        for got, expected in (
            (vx.asarray(x.T, copy=True), values.T), (vx.roll(x, 7, axis=1), np.roll(values, 7, 1)),
            (vx.concat([x, x[::-1]]), np.concatenate([values, values[::-1]])),
        ):  # fmt: skip
            np.testing.assert_array_equal(np.asarray(got).view(np.uint8), np.ascontiguousarray(expected).view(np.uint8))


@pytest.mark.parametrize(
    "name", ["permute_dims", "moveaxis", "expand_dims", "squeeze", "flip", "broadcast_to", "matrix_transpose"]
)
def test_views_share_memory(name):
    x = vx.asarray(VALUES)
    view = CALLS[name][0](x)
    assert view._buffer is x._buffer
    x[0, 0, 0, 0] = 1000
    assert 1000 in view


def test_unstack_gives_views():
    x = vx.asarray([[1, 2], [3, 4]])
    first, second = vx.unstack(x, axis=1)
    x[0, 0] = 9
    assert (first.tolist(), second.tolist()) == ([9, 3], [2, 4])


def test_reshape_is_a_view_where_it_can():
    x = vx.asarray(VALUES)
    assert vx.reshape(x, (6, 20))._buffer is x._buffer
    assert vx.reshape(x[:, :, ::2], (6, 2, 5), copy=False)._buffer is x._buffer
    assert vx.reshape(x.mT, (-1,))._buffer is not x._buffer
    assert vx.reshape(x, (6, 20), copy=True)._buffer is not x._buffer
    with pytest.raises(ValueError, match="copy=False"):
        vx.reshape(x.mT, (-1,), copy=False)


def test_promotion_of_joined_arrays():
    joined = vx.concat(
        [vx.asarray([1], dtype=vx.int8), vx.asarray([300], dtype=vx.uint16), vx.asarray([2], dtype=vx.int32)]
    )
    assert joined.dtype is vx.int32
    assert joined.tolist() == [1, 300, 2]
    assert vx.stack([vx.asarray(1.5), vx.asarray(True)]).tolist() == [1.5, 1.0]


def test_broadcast_arrays_and_shapes():
    first, second = vx.broadcast_arrays(vx.asarray([1, 2, 3]), vx.asarray([[10], [20]]))
    assert (first.tolist(), second.tolist()) == ([[1, 2, 3]] * 2, [[10] * 3, [20] * 3])
    assert vx.broadcast_shapes((2, 1), (3,), ()) == (2, 3)
    assert vx.broadcast_shapes() == ()
    assert vx.broadcast_arrays() == ()


@pytest.mark.parametrize("rank", [1, 8, 20, 32])
def test_high_ranks(rank):
    shape = (2,) * min(rank, 12) + (1,) * max(rank - 12, 0)
    values = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    x = vx.asarray(values)
    for got, expected in (
        (vx.permute_dims(x, tuple(range(rank))[::-1]), values.transpose()),
        (vx.flip(x), np.flip(values)),
        (vx.concat([x, x], axis=-1), np.concatenate([values, values], -1)),
        (vx.roll(x, 1, axis=0), np.roll(values, 1, 0)),
    ):
        np.testing.assert_array_equal(np.asarray(got), expected)


# Sizes about the edges of vectors and workgroups, and one that takes more than one row of workgroups of 64.
@pytest.mark.parametrize("size", [1, 15, 16, 17, 255, 256, 257, 4095, 65_537, 5_000_003])
def test_sizes(size):
    values = np.arange(size, dtype=np.int32)
    x = vx.asarray(values)
    np.testing.assert_array_equal(np.asarray(vx.concat([x[1:], x[:1]])), np.roll(values, -1))
    np.testing.assert_array_equal(np.asarray(vx.roll(x[::-1], 5)), np.roll(values[::-1], 5))
    np.testing.assert_array_equal(np.asarray(vx.repeat(x[: size // 2 + 1], 2)), np.repeat(values[: size // 2 + 1], 2))


def test_a_large_transpose():
    values = np.arange(2000 * 1501, dtype=np.int32).reshape(2000, 1501)
    x = vx.asarray(values)
    np.testing.assert_array_equal(np.asarray(vx.asarray(x.T, copy=True)), values.T)
    np.testing.assert_array_equal(np.asarray(vx.reshape(x.T, (-1,))), values.T.reshape(-1))


def test_integers_of_other_types():
    x = vx.asarray(np.arange(6, dtype=np.int32).reshape(2, 3))
    for one in (vx.asarray(1), np.int64(1), np.array(1)):
        assert vx.roll(x, one).tolist() == np.roll(np.asarray(x), 1).tolist()
        assert vx.roll(x, (one, one), axis=(0, 1)).tolist() == np.roll(np.asarray(x), (1, 1), axis=(0, 1)).tolist()
        assert vx.repeat(x, one).shape == (6,)
        assert x.diagonal(one).tolist() == [1, 5]
        assert all(type(length) is int for length in vx.repeat(x, one, axis=0).shape)
    for refused in (1.5, "1", vx.asarray(1.0), np.array([1, 2]), None):
        with pytest.raises(TypeError, match="expected an integer as shift"):
            vx.roll(x, (refused,), axis=(0,))
        with pytest.raises(TypeError, match="expected an integer as offset"):
            x.diagonal(refused)
    assert (x + x).tolist() == (2 * np.asarray(x)).tolist()  # the device has taken no harm
