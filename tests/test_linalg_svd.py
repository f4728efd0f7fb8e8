"""svd, svdvals, pinv and matrix_rank on every type, shape, layout, magnitude and rank.

The bounds are those of the methods' analysis with room for constants: the residual and the singular values within
10 n eps of the largest singular value, singular vectors within 10 n eps of orthonormal, n = max(M, N).
"""

from __future__ import annotations

import numpy as np
import pytest
from reference import WIDER, host_dtype, normal_values, supported

import vkarray as vx
from vkarray.errors import LinAlgError
from vkarray.ops.linalg import svd

DTYPES = supported([vx.float32, vx.float64, vx.complex64, vx.complex128])
REAL = supported([vx.float32, vx.float64])

# Around the numbers of columns that are made orthogonal at a time (8, 16, 32), tall, wide, and stacks.
SHAPES = [
    (1, 1), (2, 2), (7, 7), (8, 8), (9, 9), (16, 16), (17, 17), (32, 33), (65, 64), (1, 5), (5, 1), (200, 3), (3, 200),
    (200, 6, 4), (3, 2, 20, 30),
]  # fmt: skip
EMPTY = [(0, 0), (0, 3), (3, 0), (0, 4, 4), (2, 0, 3), (2, 3, 0)]


def unitary(dtype, n: int, seed: int = 0) -> np.ndarray:
    wide = np.complex128 if dtype.category == "complex floating" else np.float64
    return np.linalg.qr(normal_values(dtype, (n, n), seed).astype(wide))[0]


def adjoint(a: np.ndarray) -> np.ndarray:
    return a.conj().swapaxes(-1, -2)


def distance(a: np.ndarray) -> float:
    """The largest Frobenius norm of a stack of matrices."""
    return float(np.max(np.sqrt(np.sum(np.abs(a) ** 2, axis=(-2, -1))), initial=0))


def check(x: vx.VkArray, a: np.ndarray, full: bool = True) -> np.ndarray:
    """Decompose x, whose values are those of a; returns the singular values."""
    result = vx.linalg.svd(x, full_matrices=full)
    assert type(result)._fields == ("U", "S", "Vh")
    u, s, vh = (np.asarray(part) for part in result)
    *stack, m, n = a.shape
    k = min(m, n)
    assert u.shape == (*stack, m, m if full else k)
    assert s.shape == (*stack, k)
    assert vh.shape == (*stack, n if full else k, n)
    assert result.U.dtype is result.Vh.dtype is x.dtype
    assert result.S.dtype is {"complex64": vx.float32, "complex128": vx.float64}.get(x.dtype.name, x.dtype)

    bound = 10 * max(m, n) * vx.finfo(x.dtype).eps
    wide = WIDER[x.dtype.name]
    u, vh, a = u.astype(wide), vh.astype(wide), a.astype(wide)
    assert distance(adjoint(u) @ u - np.eye(u.shape[-1])) <= bound
    assert distance(vh @ adjoint(vh) - np.eye(vh.shape[-2])) <= bound

    largest = np.max(np.abs(a), axis=(-2, -1), keepdims=True)
    a = a / np.where(largest > 0, largest, 1)
    values = s.astype(wide) / np.where(largest > 0, largest, 1)[..., 0]
    expected = np.linalg.svd(a.astype(np.complex128), compute_uv=False)
    scale = np.where(largest > 0, expected[..., :1, None], 1)
    assert distance(((u[..., :k] * values[..., None, :]) @ vh[..., :k, :] - a) / scale) <= bound
    assert np.all(np.abs(values - expected) <= bound * scale[..., 0])
    assert np.all(s >= 0)
    assert np.all(np.diff(s, axis=-1) <= 0)
    return s


@pytest.mark.parametrize("full", [True, False], ids=["full", "reduced"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_shapes(dtype, full):
    for shape in SHAPES:
        a = normal_values(dtype, shape)
        check(vx.asarray(a), a, full)


@pytest.mark.parametrize(("dtype", "n"), [(vx.float32, 130), (vx.float32, 256), (vx.complex64, 100)])
def test_larger(dtype, n):
    a = normal_values(dtype, (n, n))
    s = check(vx.asarray(a), a)
    assert np.array_equal(np.asarray(vx.linalg.svdvals(vx.asarray(a))), s)


@pytest.mark.parametrize("shared", [False, True], ids=["separate", "shared"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_both_kinds_of_kernels(dtype, shared, monkeypatch):
    """The kernels for CPU drivers and those whose invocations meet in shared memory, each on this device."""
    monkeypatch.setattr(svd, "uses_shared_memory", lambda device: shared)
    for shape in [(70, 70), (2, 20, 40), (300, 9)]:
        a = normal_values(dtype, shape)
        check(vx.asarray(a), a)


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_large_on_a_gpu(dtype, device):
    if device.limits.is_cpu:
        pytest.skip(f"{device.name} computes on the CPU, where a matrix of 1,024 columns takes minutes")
    for shape in [(1024, 1024), (3000, 700)]:
        a = normal_values(dtype, shape)
        check(vx.asarray(a), a, full=False)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_layouts(dtype):
    a = normal_values(dtype, (4, 14, 18))
    x = vx.asarray(a)
    for view, values in [
        (x[:, ::-1, ::2], a[:, ::-1, ::2]),
        (x.mT, a.swapaxes(-1, -2)),
        (x[::-2, 3:, :-2], a[::-2, 3:, :-2]),
        (vx.broadcast_to(x[1], (2, 14, 18)), np.broadcast_to(a[1], (2, 14, 18))),
        (vx.permute_dims(x, (1, 2, 0)), a.transpose(1, 2, 0)),
        (vx.broadcast_to(x[0, 0, :1], (6, 5)), np.broadcast_to(a[0, 0, :1], (6, 5))),
    ]:
        check(view, values)


@pytest.mark.parametrize("shape", EMPTY)
@pytest.mark.parametrize("full", [True, False])
def test_empty(shape, full):
    *stack, m, n = shape
    k = min(m, n)
    result = vx.linalg.svd(vx.zeros(shape, dtype=vx.complex64), full_matrices=full)
    assert [part.shape for part in result] == [
        (*stack, m, m if full else k), (*stack, k), (*stack, n if full else k, n)
    ]  # fmt: skip
    assert result.S.dtype is vx.float32
    for part in (result.U, result.Vh):
        assert np.array_equal(np.asarray(part), np.broadcast_to(np.eye(*part.shape[-2:]), part.shape))
    assert vx.linalg.svdvals(vx.zeros(shape)).shape == (*stack, k)
    assert vx.linalg.pinv(vx.zeros(shape)).shape == (*stack, n, m)
    rank = vx.linalg.matrix_rank(vx.zeros(shape))
    assert rank.shape == tuple(stack)
    assert not np.any(np.asarray(rank))


def hilbert(n: int) -> np.ndarray:
    return 1 / (np.arange(n)[:, None] + np.arange(n) + 1)


def kahan(n: int) -> np.ndarray:
    return np.sin(1.2) ** np.arange(n)[:, None] * (np.eye(n) - np.cos(1.2) * np.triu(np.ones((n, n)), 1))


def with_block(n: int, block: np.ndarray) -> np.ndarray:
    a = np.zeros((n, n), block.dtype)
    a[: block.shape[0], : block.shape[1]] = block
    return a


def hard_matrices(dtype) -> dict[str, np.ndarray]:
    """Matrices with singular values that are zero, equal, close or of very different size."""
    n = 40
    random = normal_values(dtype, (n, n)).astype(np.complex128 if dtype.category == "complex floating" else np.float64)
    grades = np.logspace(0, -30, n)
    left, right = unitary(dtype, n, 1), unitary(dtype, n, 2)
    return {
        "zero": np.zeros((n, n)),
        "wide zero": np.zeros((3, 20)),
        "ones": np.ones((n, n)),
        "rank 5": random[:, :5] @ random[:5],
        "rank 35": random[:, :35] @ random[:35],
        "wide of rank 3": random[:7, :3] @ random[:3],
        "equal columns": np.repeat(random[:, :1], 7, axis=1),
        "one element": with_block(n, random[:1, :1]),
        "one row": with_block(n, random[:1]),
        "one column": with_block(n, random[:, :1]),
        "one block": with_block(n, random[:20, :20]),
        "unitary": left,
        "permutation": np.eye(n)[np.random.default_rng(0).permutation(n)],
        "two clusters": (left * np.where(np.arange(n) < 20, 1, 1e-3)) @ right,
        "nearly equal": (left * (1 + np.arange(n) * 3e-8)) @ right,
        "graded columns": random * grades,
        "graded rows": random * grades[:, None],
        "graded upwards": random * grades[::-1] * grades[::-1, None],
        "exponential": (left * grades) @ right,
        "hilbert": hilbert(n),
        "kahan": kahan(n),
        "triangle": np.triu(np.ones((n, n))),
        "jordan": np.eye(n) + 1e3 * np.eye(n, k=1),
    }


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_hard_matrices(dtype):
    for name, a in hard_matrices(dtype).items():
        a = a.astype(host_dtype(dtype))
        try:
            check(vx.asarray(a), a)
        except AssertionError as error:
            raise AssertionError(name) from error


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_hard_matrices_of_a_stack(dtype):
    """Matrices that take different numbers of sweeps and have different ranks, side by side."""
    hard = [a for a in hard_matrices(dtype).values() if a.shape == (40, 40)]
    a = np.stack(hard).astype(host_dtype(dtype))
    check(vx.asarray(a), a)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_magnitudes(dtype):
    limits = vx.finfo(dtype)
    generator = np.random.default_rng(0)
    parts = generator.choice([-1, 1], (2, 12, 12)) * generator.uniform(1, 2, (2, 12, 12))
    a = parts[0] + 1j * parts[1] if dtype.category == "complex floating" else parts[0]
    for scale in (limits.max / 64, limits.smallest_normal * 128):
        scaled = (a * scale).astype(host_dtype(dtype))
        check(vx.asarray(scaled), scaled)
    both = np.diag(np.array([limits.max / 4, limits.smallest_normal * 2, 1.0])).astype(host_dtype(dtype))
    check(vx.asarray(both), both)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_diagonal_matrices(dtype):
    """Small values are as accurate as large ones."""
    diagonal = np.array([3.0, 1e-25, -7.0, 0.0, 0.125, 1e10, 2.0, -2.0], host_dtype(dtype))
    result = vx.linalg.svd(vx.asarray(np.diag(diagonal)))
    eps = vx.finfo(dtype).eps
    assert np.allclose(np.asarray(result.S), np.sort(np.abs(diagonal))[::-1], rtol=4 * eps, atol=0)
    for vectors in (result.U, result.Vh):
        magnitudes = np.abs(np.asarray(vectors))
        assert np.allclose(magnitudes, np.round(magnitudes), rtol=0, atol=4 * eps)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_not_finite(dtype, bad):
    a = normal_values(dtype, (3, 6, 4))
    a[1, 2, 3] = bad
    x = vx.asarray(a)
    for name in ("svd", "svdvals", "pinv", "matrix_rank"):
        with pytest.raises(LinAlgError, match=f"(?s){name}.*NaN or infinities.*isfinite"):
            getattr(vx.linalg, name)(x)


def test_operands():
    for name in ("svd", "svdvals", "pinv", "matrix_rank"):
        function = getattr(vx.linalg, name)
        if name != "matrix_rank":  # of a vector it is 0 or 1, as in NumPy
            with pytest.raises(ValueError, match=f"{name}.*matrix"):
                function(vx.ones((3,)))
        with pytest.raises(TypeError, match=f"{name}.*too short"):
            function(vx.ones((3, 3), dtype=vx.float16))
        with pytest.raises(TypeError, match=name):
            function(np.ones((3, 3)))
        if name != "matrix_rank":  # of a number it is 0 or 1, as in NumPy
            with pytest.raises(ValueError, match=name):
                function(1.0)


@pytest.mark.parametrize("name", ["pinv", "matrix_rank"])
def test_tolerances(name):
    function = getattr(vx.linalg, name)
    with pytest.raises(TypeError, match=rf"^{name}: expected a real number as rtol, got 'small'"):
        function(vx.eye(3), rtol="small")
    with pytest.raises(TypeError, match=rf"^{name}: expected real numeric .*, got complex64"):
        function(vx.eye(3), rtol=vx.asarray(1j))


@pytest.mark.usefixtures("numpy_types")
def test_integers_take_the_widest_floating_type():
    a = np.arange(12).reshape(3, 4)
    x = vx.asarray(a.astype(np.int32))
    result = vx.linalg.svd(x)
    assert {part.dtype for part in result} == {REAL[-1]}
    tolerance = 500 * vx.finfo(REAL[-1]).eps
    assert np.allclose(np.asarray(result.S), np.linalg.svd(a, compute_uv=False), rtol=0, atol=tolerance)
    assert int(vx.linalg.matrix_rank(x > 5)) == np.linalg.matrix_rank(a > 5)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_values_are_those_of_svd(dtype):
    for shape in [(20, 20), (4, 30, 17), (9, 50)]:
        x = vx.asarray(normal_values(dtype, shape))
        assert np.array_equal(np.asarray(vx.linalg.svdvals(x)), np.asarray(vx.linalg.svd(x).S))


def test_dispatches_do_not_grow_with_the_stack(device, monkeypatch):
    a, ran, dispatch = normal_values(vx.float32, (20, 12)), [], device.dispatch
    monkeypatch.setattr(device, "dispatch", lambda kernel, *given: ran.append(kernel.name) or dispatch(kernel, *given))

    def dispatches(count: int) -> list[str]:
        x = vx.asarray(np.broadcast_to(a, (count, *a.shape)))
        ran.clear()
        vx.linalg.svd(x)
        return ran.copy()

    few, more, many = (dispatches(count) for count in (2, 100, 400))
    # Products of larger stacks may take another kernel, which wants its operands copied first and adds up parts.
    own = [[label for label in labels if label.startswith("linalg")] for labels in (few, more, many)]
    assert own[0] == own[1] == own[2]
    assert len(many) <= len(more)


# -- pinv -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(1, 1), (9, 9), (30, 12), (12, 30), (3, 2, 6, 4)])
def test_pinv(dtype, shape):
    """The four conditions of Penrose, relative to the norms and the condition of the matrices."""
    a = normal_values(dtype, shape)
    p = np.asarray(vx.linalg.pinv(vx.asarray(a)))
    wide = np.complex128
    a, p = a.astype(wide), p.astype(wide)
    assert p.shape == (*shape[:-2], shape[-1], shape[-2])
    bound = 20 * max(shape[-2:]) * vx.finfo(dtype).eps * np.max(np.linalg.cond(a))
    assert distance(a @ p @ a - a) <= bound * distance(a)
    assert distance(p @ a @ p - p) <= bound * distance(p)
    assert distance(adjoint(a @ p) - a @ p) <= bound
    assert distance(adjoint(p @ a) - p @ a) <= bound


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_pinv_of_lower_rank(dtype):
    n = 20
    left, right = unitary(dtype, n, 1)[:, :7], unitary(dtype, n, 2)[:7]
    a = (left @ right).astype(host_dtype(dtype))
    expected = adjoint(right) @ adjoint(left)
    bound = 20 * n * vx.finfo(dtype).eps
    assert distance(np.asarray(vx.linalg.pinv(vx.asarray(a))) - expected) <= bound
    assert not np.any(np.asarray(vx.linalg.pinv(vx.zeros((3, 5), dtype=dtype))))


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_pinv_cutoff(dtype):
    a = np.broadcast_to(np.diag([4.0, 2.0, 1.0]), (2, 3, 3)).astype(host_dtype(dtype))
    x = vx.asarray(a)
    inverse = np.diag([0.25, 0.5, 1.0])
    assert np.array_equal(np.asarray(vx.linalg.pinv(x, rtol=0.2))[0], inverse)
    assert np.array_equal(np.asarray(vx.linalg.pinv(x, rtol=0.25))[0], np.diag([0.25, 0.5, 0.0]))
    result = np.asarray(vx.linalg.pinv(x, rtol=vx.asarray([0.0, 0.6], dtype=dtype)))
    assert np.array_equal(result, [inverse, np.diag([0.25, 0.0, 0.0])])
    assert np.asarray(vx.linalg.pinv(x, rtol=vx.asarray(0.6, dtype=dtype)))[1, 1, 1] == 0


# -- matrix_rank ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_matrix_rank(dtype):
    for m, n, rank in [(1, 1, 0), (1, 1, 1), (12, 12, 12), (12, 12, 11), (30, 10, 4), (10, 30, 4), (9, 9, 0)]:
        a = normal_values(dtype, (m, rank)) @ normal_values(dtype, (rank, n), 1)
        result = vx.linalg.matrix_rank(vx.asarray(a))
        assert result.shape == ()
        assert result.dtype is vx.asarray(1).dtype
        assert int(result) == rank
    stack = np.stack([np.diag(np.arange(k, k + 5) > 4) for k in range(6)]).reshape(2, 3, 5, 5)
    got = vx.linalg.matrix_rank(vx.asarray(stack.astype(host_dtype(dtype))))
    assert np.array_equal(np.asarray(got), [[0, 1, 2], [3, 4, 5]])


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_matrix_rank_cutoff(dtype):
    x = vx.asarray(np.broadcast_to(np.diag([4.0, 2.0, 1.0]), (2, 3, 3)).astype(host_dtype(dtype)))
    assert vx.linalg.matrix_rank(x, rtol=0.2).tolist() == [3, 3]
    assert vx.linalg.matrix_rank(x, rtol=0.25).tolist() == [2, 2]
    assert vx.linalg.matrix_rank(x, rtol=vx.asarray([0.6, 1.0], dtype=dtype)).tolist() == [1, 0]


@pytest.mark.parametrize(("order", "expected"), [(2, 5.0), (-2, 1.0), ("nuc", 9.0)])
def test_matrix_norms(order, expected):
    x = vx.asarray(np.broadcast_to(np.diag([-5.0, 1.0, 3.0])[:, ::-1], (2, 3, 3)).astype(np.float32))
    assert np.allclose(np.asarray(vx.linalg.matrix_norm(x, ord=order)), expected, rtol=1e-6, atol=0)
