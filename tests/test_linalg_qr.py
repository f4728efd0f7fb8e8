"""qr on every type, shape, layout and magnitude, by its residual and the orthogonality of Q."""

from __future__ import annotations

import math

import numpy as np
import pytest
from reference import WIDER, flushes_subnormals, host_dtype, normal_values, supported

import vkarray as vx
from vkarray.command import catalogue
from vkarray.kernels import launch
from vkarray.ops.linalg.qr import panel_of

DTYPES = supported([vx.float32, vx.float64, vx.complex64, vx.complex128])
REAL = supported([vx.float32, vx.float64])

# Squares round the width of a panel and of two, tall, wide, stacks, and none at all.
SHAPES = [
    (1, 1), (2, 2), (3, 3), (31, 31), (32, 32), (33, 33), (65, 65), (100, 100), (1, 5), (5, 1), (100, 40), (40, 100),
    (257, 70), (70, 257), (200, 6, 6), (3, 2, 40, 33), (2, 33, 40),
]  # fmt: skip
EMPTY = [(0, 0), (0, 3), (3, 0), (0, 4, 4), (2, 0, 3), (2, 3, 0)]


def shapes_of(shape, mode: str) -> tuple[tuple, tuple]:
    *stack, m, n = shape
    columns = min(m, n) if mode == "reduced" else m
    return (*stack, m, columns), (*stack, columns, n)


def norm(a: np.ndarray) -> np.ndarray:
    """The Frobenius norm of every matrix, without overflow."""
    largest = np.max(np.abs(a), axis=(-2, -1), initial=0, keepdims=True)
    scale = np.where(largest > 0, largest, 1)
    return (np.sqrt(np.sum(np.abs(a / scale) ** 2, axis=(-2, -1))) * scale[..., 0, 0]).astype(np.longdouble)


def check(x: vx.VkArray, a: np.ndarray, mode: str = "reduced") -> tuple[np.ndarray, np.ndarray]:
    """Factor x, whose values are those of a: |A - QR| <= 10 n eps |A| for every matrix, |Q^H Q - 1| <= 10 n eps."""
    result = vx.linalg.qr(x, mode=mode)
    q, r = (np.asarray(part) for part in result)
    assert result.Q.dtype is x.dtype
    assert result.R.dtype is x.dtype
    assert (q.shape, r.shape) == shapes_of(a.shape, mode)
    assert np.all(np.tril(r, -1) == 0)
    wide = WIDER[x.dtype.name]
    q_wide, r_wide, a_wide = (part.astype(wide) for part in (q, r, a))
    bound = 10 * max(a.shape[-2:]) * vx.finfo(x.dtype).eps
    assert np.all(norm(q_wide @ r_wide - a_wide) <= bound * norm(a_wide))
    assert np.all(norm(q_wide.conj().swapaxes(-1, -2) @ q_wide - np.eye(q.shape[-1], dtype=wide)) <= bound)
    return q, r


@pytest.mark.parametrize("mode", ["reduced", "complete"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_shapes(dtype, mode) -> None:
    for shape in SHAPES:
        a = normal_values(dtype, shape)
        check(vx.asarray(a), a, mode)


@pytest.mark.parametrize("mode", ["reduced", "complete"])
@pytest.mark.parametrize("shape", EMPTY)
def test_empty(shape, mode) -> None:
    result = vx.linalg.qr(vx.zeros(shape, dtype=vx.float32), mode=mode)
    assert (result.Q.shape, result.R.shape) == shapes_of(shape, mode)
    if mode == "complete" and math.prod(result.Q.shape):
        assert np.array_equal(
            np.asarray(result.Q), np.broadcast_to(np.eye(shape[-2], dtype=np.float32), result.Q.shape)
        )


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_agrees_with_numpy_up_to_phases(dtype) -> None:
    a = normal_values(dtype, (60, 45))
    q, r = check(vx.asarray(a), a)
    expected_q, expected_r = np.linalg.qr(a.astype(np.complex128 if np.iscomplexobj(a) else np.float64))
    phases = np.diagonal(r) / np.diagonal(expected_r)
    # The factors of a matrix of condition number c are determined to about c eps; this one's is below 20.
    bound = 20 * 60 * vx.finfo(dtype).eps
    assert np.max(np.abs(r / phases[:, None] - expected_r)) <= bound * np.linalg.norm(expected_r)
    assert np.max(np.abs(q * phases - expected_q)) <= bound


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_layouts(dtype) -> None:
    a = normal_values(dtype, (5, 40, 52))
    x = vx.asarray(a)
    views = [
        lambda y: y[::2, 1:, ::-1], lambda y: y[1], lambda y: y[:, ::3, 2:40], lambda y: y[3, ::-2, 1::5], lambda y: y[:, :, 7:8],
    ]  # fmt: skip
    for view in views:
        check(view(x), view(a))
    check(vx.permute_dims(x, (2, 1, 0)), a.transpose(2, 1, 0))
    check(x.mT, a.swapaxes(-1, -2), "complete")
    check(vx.broadcast_to(x[:1], (3, 40, 52)), np.broadcast_to(a[:1], (3, 40, 52)))
    assert np.array_equal(np.asarray(x), a)


@pytest.mark.parametrize("mode", ["reduced", "complete"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_deficient_rank(dtype, mode) -> None:
    generator = np.random.default_rng(1)
    low = (normal_values(dtype, (50, 3), 1) @ normal_values(dtype, (3, 45), 2)).astype(host_dtype(dtype))
    repeated = normal_values(dtype, (40, 40))
    repeated[:, 1::2] = repeated[:, ::2]
    sparse = np.where(generator.random((45, 45)) < 0.03, normal_values(dtype, (45, 45)), 0).astype(host_dtype(dtype))
    upper = np.triu(normal_values(dtype, (40, 40)))
    same = [np.zeros_like(low), np.ones_like(low), np.eye(40, dtype=host_dtype(dtype))]
    for a in [low, low.T, repeated, sparse, upper, upper.T, *same]:
        check(vx.asarray(np.ascontiguousarray(a)), a, mode)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_range(dtype) -> None:
    limits = vx.finfo(dtype)
    top, bottom = math.log2(limits.max), math.log2(limits.smallest_normal)
    a = normal_values(dtype, (40, 36))
    host = host_dtype(dtype)
    for exponent in (top - 7, bottom / 2, bottom + 40):
        scaled = (a * np.array(2, a.real.dtype) ** int(exponent)).astype(host)
        check(vx.asarray(scaled), scaled)
    # Columns of all magnitudes: each is as good as if it were alone.
    columns = (a * np.exp2(np.linspace(bottom + 40, top - 8, 36).round()).astype(a.real.dtype)).astype(host)
    q, r = check(vx.asarray(columns), columns)
    error = norm((q.astype(WIDER[dtype.name]) @ r - columns).T[:, :, None])
    assert np.all(error <= 400 * limits.eps * norm(columns.T[:, :, None]))
    # Rows of all magnitudes, and what is left of a column far below what it began with.
    rows = (a * np.exp2(np.linspace(0, bottom / 2, 40).round()).astype(a.real.dtype)[:, None]).astype(host)
    check(vx.asarray(rows), rows)
    tiny = 2.0 ** (bottom * 0.75)
    steep = np.array([[1, 1, 1], [0, tiny, 2 * tiny], [0, tiny, -tiny]], host)
    _, r = check(vx.asarray(steep), steep)
    if not flushes_subnormals(dtype):
        assert abs(r[1, 1]) == pytest.approx(math.sqrt(2) * tiny, rel=4 * limits.eps)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_subnormal_numbers(dtype) -> None:
    if flushes_subnormals(dtype):
        pytest.skip("this driver turns subnormal numbers into zeros (Vulkan leaves that open without DenormPreserve)")
    limits = vx.finfo(dtype)
    a = np.array([[3, -1], [4, 2], [0, 5]], host_dtype(dtype)) * np.array(limits.smallest_normal / 4, host_dtype(dtype))
    q, r = (np.asarray(part) for part in vx.linalg.qr(vx.asarray(a)))
    assert np.max(np.abs(q.T @ q - np.eye(2))) <= 20 * limits.eps
    assert np.allclose(np.abs(r[0, 0]), limits.smallest_normal * 5 / 4, rtol=4 * limits.eps, atol=0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity(bad) -> None:
    a = np.eye(40, dtype=np.float32)[None].repeat(2, 0)
    a[0, 5, 3] = bad
    q, r = vx.linalg.qr(vx.asarray(a))
    assert np.isnan(np.asarray(q)[0]).any()
    assert np.isnan(np.asarray(r)[0]).any()
    assert np.array_equal(np.abs(np.asarray(q)[1]), np.eye(40))


def test_many_rows() -> None:
    a = np.random.default_rng(0).standard_normal((300_001, 3)).astype(np.float32)
    check(vx.asarray(a), a)


@pytest.mark.usefixtures("numpy_types")
def test_integers_take_the_widest_floating_type() -> None:
    for dtype in (vx.bool, vx.int32, vx.uint8):
        x = vx.astype(vx.asarray([[1, 1], [0, 1], [1, 0]], dtype=vx.int32), dtype)
        assert vx.linalg.qr(x).Q.dtype is REAL[-1]


def test_errors() -> None:
    x = vx.ones((3, 3), dtype=vx.float32)
    with pytest.raises(ValueError, match="qr: expected mode 'reduced', 'complete', 'r' or 'raw', got 'full'"):
        vx.linalg.qr(x, mode="full")
    with pytest.raises(ValueError, match="qr: expected a matrix"):
        vx.linalg.qr(x[0])
    with pytest.raises(TypeError, match="qr: float16 is too short"):
        vx.linalg.qr(vx.astype(x, vx.float16))
    with pytest.raises(TypeError, match="qr"):
        vx.linalg.qr("text")


def test_result_is_a_named_tuple() -> None:
    result = vx.linalg.qr(vx.ones((2, 2), dtype=vx.float32))
    assert type(result).__name__ == "QRResult"
    assert result._fields == ("Q", "R")


def test_the_number_of_dispatches_does_not_grow_with_the_batch(device, monkeypatch) -> None:
    counted = []
    dispatch = device.dispatch
    monkeypatch.setattr(device, "dispatch", lambda *given: counted.append(1) or dispatch(*given))
    numbers = []
    for batch in (2, 64):
        x = vx.asarray(normal_values(vx.float32, (batch, 40, 36)))
        counted.clear()
        vx.linalg.qr(x)
        numbers.append(len(counted))
    assert numbers[1] <= numbers[0] + 2 < 30  # a copy may take a second dispatch for what whole workgroups leave


def test_the_archive_has_every_shader_that_is_used(device, monkeypatch) -> None:
    used = set()
    original = launch.kernel
    monkeypatch.setattr(
        launch, "kernel", lambda variant, *given, **named: used.add(variant) or original(variant, *given, **named)
    )
    for dtype in DTYPES:
        vx.linalg.qr(vx.asarray(normal_values(dtype, (40, 40))))
    own = {variant for variant in used if variant.template.startswith("linalg")}
    assert len(own) == 4 * len(DTYPES)
    assert own <= {variant for family in catalogue.FAMILIES for variant in family(device)}


def test_panels_keep_the_loops_of_a_cpu_short(device) -> None:
    for rows in (1, 40, 1000, 100_000, 2_000_000):
        for columns in (1, 3, 8, 9, 1000):
            panel = panel_of(rows, columns, device)
            assert panel.columns * panel.lanes == panel.size
            assert not device.limits.is_cpu or panel.turns(rows) <= 60_000
