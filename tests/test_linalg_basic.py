"""Functions of linalg that need no factorisation: cross, outer, diagonals, traces, powers, norms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from reference import WIDER, flushes_subnormals, host_dtype, supported

import vkarray as vx
from vkarray.core.array import is_supported
from vkarray.core.dtypes import CATEGORIES, REAL_OF

NUMERIC = supported(CATEGORIES["numeric"])
FLOATING = supported([vx.float32, vx.float64, vx.complex64, vx.complex128])
ORDERS = [2, 1, 0, -1, -2, 3, 0.5, -0.5, 2.7, 60, -60, math.inf, -math.inf]


def values(dtype, shape, seed: int = 0) -> np.ndarray:
    """Normally distributed numbers, or small integers."""
    generator = np.random.default_rng(seed)
    if dtype in CATEGORIES["integer"]:
        return generator.integers(0, 9, shape).astype(host_dtype(dtype))
    result = generator.standard_normal(shape)
    if dtype.category == "complex floating":
        result = result + 1j * generator.standard_normal(shape)
    return np.asarray(vx.asarray(result.astype(host_dtype(dtype)), dtype=dtype)).astype(host_dtype(dtype))


def eps_of(dtype) -> float:
    return 0 if dtype in CATEGORIES["integer"] else vx.finfo(dtype).eps


# -- products ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", NUMERIC, ids=str)
def test_cross(dtype) -> None:
    for first, second, axis in [((3,), (3,), -1), ((5, 3), (3,), -1), ((4, 3, 2), (3, 1), -2), ((3, 2, 5), (1, 3, 1, 5), -3),
                                ((0, 3), (3,), -1)]:  # fmt: skip
        a, b = values(dtype, first, 1), values(dtype, second, 2)
        got = vx.linalg.cross(vx.asarray(a, dtype=dtype), vx.asarray(b, dtype=dtype), axis=axis)
        assert got.dtype is dtype
        a, b = np.moveaxis(a, axis, -1), np.moveaxis(b, axis, -1)
        wide = WIDER.get(dtype.name, a.dtype)
        a, b = a.astype(wide), b.astype(wide)
        forward = np.stack([a[..., i - 2] * b[..., i - 1] for i in range(3)], -1)
        backward = np.stack([a[..., i - 1] * b[..., i - 2] for i in range(3)], -1)
        expected, size = forward - backward, np.abs(forward) + np.abs(backward)
        error = np.abs(np.moveaxis(np.asarray(got), axis, -1).astype(expected.dtype) - expected)
        assert got.shape == np.moveaxis(expected, -1, axis).shape
        if dtype in CATEGORIES["integer"]:
            assert not error.any()
        else:
            assert np.all(error <= 3 * eps_of(dtype) * size)


def test_cross_promotes_and_checks() -> None:
    x = vx.ones(3, dtype=vx.int32)
    assert vx.linalg.cross(vx.ones(3), vx.ones(3, dtype=vx.complex64)).dtype is vx.complex64
    with pytest.raises(ValueError, match=r"^cross: expected length 3"):
        vx.linalg.cross(x, vx.ones((3, 1), dtype=vx.int32))
    with pytest.raises(ValueError, match=r"^cross: expected length 3"):
        vx.linalg.cross(vx.ones(2), vx.ones(2))
    with pytest.raises(ValueError, match=r"^cross: shapes .* could not be broadcast"):
        vx.linalg.cross(vx.ones((2, 3)), vx.ones((4, 3)))
    for axis in (0, -2):
        with pytest.raises(IndexError, match=rf"^cross: axis {axis} is out of range"):
            vx.linalg.cross(x, vx.ones((3, 3), dtype=vx.int32), axis=axis)
    x = vx.asarray([[1, 2], [3, 4], [5, 6]])
    assert vx.linalg.cross(x, x[:, ::-1], axis=0).tolist() == vx.linalg.cross(x, x[:, ::-1], axis=-2).tolist()
    with pytest.raises(TypeError, match=r"^cross: expected two arrays"):
        vx.linalg.cross(x, 2)
    with pytest.raises(TypeError, match=r"^cross: "):
        vx.linalg.cross(vx.ones(3, dtype=vx.bool), vx.ones(3, dtype=vx.bool))


@pytest.mark.parametrize("dtype", NUMERIC, ids=str)
def test_outer(dtype) -> None:
    a, b = values(dtype, (7,), 3), values(dtype, (5,), 4)
    got = vx.linalg.outer(vx.asarray(a, dtype=dtype)[::-1], vx.asarray(b, dtype=dtype)[:4])
    assert got.dtype is dtype
    expected = np.outer(a[::-1], b[:4])
    assert np.all(np.abs(np.asarray(got).astype(expected.dtype) - expected) <= 2 * eps_of(dtype) * np.abs(expected))
    assert vx.linalg.outer(vx.zeros(0), vx.ones(3)).shape == (0, 3)
    with pytest.raises(ValueError, match=r"^outer: expected two vectors"):
        vx.linalg.outer(vx.ones((2, 2)), vx.ones(2))


def test_products_are_those_of_the_main_namespace() -> None:
    for name in ("matmul", "matrix_transpose", "tensordot", "vecdot"):
        assert getattr(vx.linalg, name) is getattr(vx, name)
    assert sorted(set(vx.linalg.__all__)) == vx.linalg.__all__


# -- diagonals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (5, 3), (2, 3, 4), (0, 3), (3, 0), (2, 0, 0), (1, 1)])
def test_diagonals_and_traces(shape) -> None:
    host = np.arange(math.prod(shape), dtype=np.int32).reshape(shape)
    for x, y in [
        (vx.asarray(host), host),
        (vx.asarray(host).mT, host.mT),
        (vx.asarray(host)[..., ::-1], host[..., ::-1]),
    ]:
        for offset in range(-6, 7):
            expected = np.diagonal(y, offset, -2, -1) if abs(offset) < 6 else np.zeros((*shape[:-2], 0))
            got = vx.linalg.diagonal(x, offset=offset)
            np.testing.assert_array_equal(np.asarray(got), expected)
            np.testing.assert_array_equal(np.asarray(vx.linalg.trace(x, offset=offset)), expected.sum(-1))


def test_a_diagonal_is_a_view() -> None:
    x = vx.zeros((3, 3))
    vx.linalg.diagonal(x, offset=1)[:] = vx.asarray([1.0, 2.0])
    np.testing.assert_array_equal(np.asarray(x), np.diag([1, 2], 1))


@pytest.mark.parametrize("dtype", NUMERIC, ids=str)
def test_types_of_traces(dtype) -> None:
    x = vx.asarray(values(dtype, (4, 4), 5), dtype=dtype)
    assert vx.linalg.trace(x).dtype is vx.sum(x).dtype
    assert vx.linalg.diagonal(x).dtype is dtype
    if dtype.category != "complex floating":
        small = vx.asarray(np.full((200, 200), 100), dtype=vx.uint8)
        assert int(vx.linalg.trace(small, dtype=vx.int32)) == 20_000
        assert vx.linalg.trace(x, dtype=vx.float32).dtype is vx.float32


def test_errors_of_diagonals() -> None:
    for name in ("diagonal", "trace"):
        function = getattr(vx.linalg, name)
        with pytest.raises(ValueError, match=rf"^{name}: expected a matrix"):
            function(vx.ones(3))
        with pytest.raises(TypeError, match=r"^diagonal: expected an integer as offset"):
            function(vx.ones((3, 3)), offset=1.0)
        with pytest.raises(TypeError, match=rf"^{name}: expected a vkarray array, got"):
            function(np.ones((3, 3)))


def test_the_trace_of_bools_is_a_number_as_numpys() -> None:
    ones = np.ones((3, 3), dtype=bool)
    found, expected = vx.linalg.trace(vx.asarray(ones)), np.linalg.trace(ones)
    assert (int(found), found.dtype) == (expected, vx.asarray(expected).dtype)


# -- powers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_matrix_power(dtype) -> None:
    a = (values(dtype, (2, 6, 6), 6) / 4 + np.eye(6)).astype(host_dtype(dtype))
    condition = np.linalg.cond(a.astype(np.complex128)).max()
    for n in (0, 1, 2, 3, 7, -1, -2, -5):
        got = vx.linalg.matrix_power(vx.asarray(a), n)
        assert got.dtype is dtype
        expected = np.linalg.matrix_power(a.astype(np.complex128), n)
        powered = np.linalg.norm(a.astype(np.complex128) if n >= 0 else np.linalg.inv(a), axis=(-1, -2)).max() ** abs(n)
        # Each product adds 6 eps of the product of the norms; an inverse the condition number times as much.
        bound = 20 * 6 * max(abs(n), 1) * vx.finfo(dtype).eps * powered * (condition if n < 0 else 1)
        assert np.abs(np.asarray(got) - expected).max() <= bound


def test_matrix_powers_of_integers_and_nothing(device) -> None:
    a = np.array([[1, 1], [1, 0]], np.int32)
    got = vx.linalg.matrix_power(vx.asarray(a), 30)
    assert got.dtype is vx.int32
    assert np.asarray(got)[0, 1] == 832_040
    x = vx.asarray(a)
    same = vx.linalg.matrix_power(x, 1)
    same[0, 0] = 5
    assert int(x[0, 0]) == 1
    assert vx.linalg.matrix_power(vx.ones((3, 0, 0)), -2).shape == (3, 0, 0)
    if is_supported(vx.float64, device):
        assert vx.linalg.matrix_power(x, -1).dtype is vx.result_type(vx.int32, 1.0)
    with pytest.raises(vx.LinAlgError, match=r"^inv: the matrix is singular"):
        vx.linalg.matrix_power(vx.zeros((2, 2)), -1)
    with pytest.raises(ValueError, match=r"^matrix_power: expected square matrices"):
        vx.linalg.matrix_power(vx.ones((2, 3)), 2)
    for n in (1.0, "2"):
        with pytest.raises(TypeError, match=r"^matrix_power: expected an integer as n"):
            vx.linalg.matrix_power(vx.ones((2, 2)), n)


# -- norms ------------------------------------------------------------------------------------------------------------


def norm(x: np.ndarray, order: float, axis) -> np.ndarray:
    """The norm in wider arithmetic; a sum that even that cannot hold is not asked for."""
    size = np.abs(x.astype(np.clongdouble))
    if order == 0:
        return np.sum(size != 0, axis=axis).astype(np.longdouble)
    if math.isinf(order):
        return size.max(axis=axis) if order > 0 else size.min(axis=axis)
    return np.sum(size ** np.longdouble(order), axis=axis) ** (1 / np.longdouble(order))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_vector_norms(dtype, order) -> None:
    x = values(dtype, (4, 30, 7), 7)
    for scale in (1, 1e-30, 1e30):
        scaled = (x * scale).astype(x.dtype)
        for axis in (None, 0, -2, (0, 2)):
            got = vx.linalg.vector_norm(vx.asarray(scaled), axis=axis, ord=order)
            expected = norm(scaled, order, axis)
            # A power and a root of it, the order of the sum, and its number of levels in a tree.
            bound = (12 + math.log2(x.size)) * vx.finfo(dtype).eps * max(1, 1 / abs(order or 1)) * expected
            inside = expected < vx.finfo(dtype).max / 2
            assert got.dtype is REAL_OF.get(dtype, dtype)
            assert got.shape == expected.shape
            assert np.all((np.abs(np.asarray(got) - expected) <= bound)[inside])
            kept = vx.linalg.vector_norm(vx.asarray(scaled), axis=axis, ord=order, keepdims=True)
            np.testing.assert_array_equal(np.asarray(kept), np.asarray(got).reshape(kept.shape))
            assert len(kept.shape) == 3


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_lengths_do_not_overflow_or_vanish(dtype) -> None:
    limits = vx.finfo(dtype)
    for size in (limits.max / 8, limits.smallest_normal * 8, 1.0):
        x = vx.asarray(np.array([3, 4], host_dtype(dtype)) * host_dtype(dtype).type(size))
        assert float(vx.linalg.vector_norm(x)) == pytest.approx(5 * size, rel=4 * limits.eps)
        assert float(vx.linalg.vector_norm(x, ord=8)) == pytest.approx(
            (3**8 + 4**8) ** (1 / 8) * size, rel=30 * limits.eps
        )
    if not flushes_subnormals(dtype):
        tiny = limits.smallest_normal * limits.eps
        x = vx.asarray(np.array([3, 4], host_dtype(dtype)) * host_dtype(dtype).type(tiny))
        assert float(vx.linalg.vector_norm(x)) == 5 * tiny
    assert float(vx.linalg.vector_norm(vx.full(4, limits.max, dtype=dtype))) == math.inf


def test_norms_of_special_values() -> None:
    cases = [([0.0, -0.0], 0, 0, 0), ([1.0, math.inf], math.inf, math.inf, 1), ([math.nan, 1.0], math.nan, math.nan, math.nan),
             ([math.inf, math.nan], math.nan, math.nan, math.nan), ([-math.inf, 0.0], math.inf, math.inf, 0)]  # fmt: skip
    for elements, two, largest, smallest in cases:
        x = vx.asarray(elements)
        for order, expected in ((2, two), (1, two), (3, two), (math.inf, largest), (-math.inf, smallest)):
            np.testing.assert_equal(float(vx.linalg.vector_norm(x, ord=order)), float(expected))
    assert float(vx.linalg.vector_norm(vx.asarray([0.0, 2.0]), ord=-1)) == 0
    assert float(vx.linalg.vector_norm(vx.asarray([math.inf, 2.0]), ord=-1)) == 2
    for order in (2, 1, 0, 3, math.inf):
        assert float(vx.linalg.vector_norm(vx.zeros(0), ord=order)) == 0
        assert vx.linalg.vector_norm(vx.zeros((0, 3)), ord=order, axis=1).shape == (0,)
    for order in (-1, -math.inf):
        with pytest.raises(ValueError, match=r"expected at least one element"):
            vx.linalg.vector_norm(vx.zeros(0), ord=order)


@pytest.mark.parametrize("dtype", supported([vx.float16, vx.bfloat16]), ids=str)
def test_norms_of_short_types(dtype) -> None:
    x = vx.asarray(values(dtype, (50,), 8), dtype=dtype)
    for order in (2, 1, 3, math.inf):
        got = vx.linalg.vector_norm(x, ord=order)
        assert got.dtype is dtype
        assert float(got) == pytest.approx(float(norm(np.asarray(x), order, None)), rel=vx.finfo(dtype).eps)


def test_norms_of_views_and_long_vectors() -> None:
    x = values(vx.complex64, (40, 50), 9)
    device_x = vx.asarray(x)
    for got, host in [
        (device_x[::-2, 3:], x[::-2, 3:]),
        (device_x.T[1:], x.T[1:]),
        (vx.broadcast_to(device_x[0], (9, 50)), [x[0]] * 9),
    ]:
        expected = norm(np.asarray(host), 2, None)
        assert float(vx.linalg.vector_norm(got)) == pytest.approx(float(expected), rel=1e-6)
    long = np.full(300_001, 1e-25, np.float32)
    assert float(vx.linalg.vector_norm(vx.asarray(long))) == pytest.approx(1e-25 * 300_001**0.5, rel=1e-6)


@pytest.mark.usefixtures("numpy_types")
def test_norms_of_integers(device) -> None:
    x = vx.asarray([3, -4], dtype=vx.int32)
    assert vx.linalg.vector_norm(x).dtype is (vx.float64 if is_supported(vx.float64, device) else vx.float32)
    assert float(vx.linalg.vector_norm(x)) == 5


def test_errors_of_norms() -> None:
    x = vx.ones((3, 3))
    for order in ("fro", math.nan, True, 1j):
        with pytest.raises(ValueError, match=r"^vector_norm: expected a real number"):
            vx.linalg.vector_norm(x, ord=order)
    with pytest.raises(IndexError, match=r"^vector_norm: axis 2 is out of range"):
        vx.linalg.vector_norm(x, axis=2)
    for function in (vx.linalg.vector_norm, vx.linalg.matrix_norm):
        with pytest.raises(TypeError, match=r"_norm: expected"):
            function(np.ones((3, 3)))
    for order in (3, "f", 1j, []):
        with pytest.raises(ValueError, match=r"^matrix_norm: expected ord of 'fro', 'nuc', 1"):
            vx.linalg.matrix_norm(x, ord=order)
    with pytest.raises(ValueError, match=r"^matrix_norm: expected a matrix"):
        vx.linalg.matrix_norm(vx.ones(3))


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_matrix_norms(dtype) -> None:
    for shape in [(3, 4), (2, 5, 3), (1, 1), (6, 33, 40)]:
        x = values(dtype, shape, 10)
        for order in ("fro", None, 1, -1, math.inf, -math.inf):
            for keepdims in (False, True):
                got = vx.linalg.matrix_norm(vx.asarray(x), ord=order, keepdims=keepdims)
                expected = np.linalg.norm(x.astype(np.complex128), order, axis=(-2, -1), keepdims=keepdims)
                assert got.dtype is REAL_OF.get(dtype, dtype)
                assert got.shape == expected.shape
                assert np.all(np.abs(np.asarray(got) - expected) <= 12 * vx.finfo(dtype).eps * expected)
        largest = np.linalg.norm(x.astype(np.complex128), 2, axis=(-2, -1))
        for order in (2, -2, "nuc"):
            got = np.asarray(vx.linalg.matrix_norm(vx.asarray(x), ord=order))
            expected = np.linalg.norm(x.astype(np.complex128), order, axis=(-2, -1))
            # Singular values are off by a multiple of the largest.
            terms = min(shape[-2:]) if order == "nuc" else 1
            assert np.all(np.abs(got - expected) <= 10 * max(shape[-2:]) * terms * vx.finfo(dtype).eps * largest)
    for shape in ((0, 3), (3, 0), (2, 0, 0)):
        for order in ("fro", 1, math.inf, 2, "nuc"):
            assert not np.asarray(vx.linalg.matrix_norm(vx.zeros(shape, dtype=dtype), ord=order)).any()
