"""eigh and eigvalsh on every type, shape, layout, magnitude and spectrum, by residuals, orthogonality and NumPy's values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from reference import flushes_subnormals, host_dtype, normal_values, supported

import vkarray as vx
from vkarray.command import catalogue
from vkarray.kernels import launch
from vkarray.ops.linalg import tridiagonal as tridiagonal_problem

DTYPES = supported([vx.float32, vx.float64, vx.complex64, vx.complex128])
REAL = supported([vx.float32, vx.float64])

# Sizes round those of a block of reflectors and of the blocks that are joined, stacks, and none at all.
SHAPES = [
    (1, 1), (2, 2), (3, 3), (31, 31), (32, 32), (33, 33), (64, 64), (65, 65), (100, 100), (200, 6, 6), (3, 2, 40, 40),
]  # fmt: skip
EMPTY = [(0, 0), (0, 4, 4), (2, 0, 0)]
HUGE_BYTES = 16 * 2**30


def hermitian(a: np.ndarray) -> np.ndarray:
    """The matrices that the lower triangles stand for, in float64 or complex128."""
    lower = np.tril(a, -1).astype(np.complex128 if np.iscomplexobj(a) else np.float64)
    diagonal = np.einsum("...ii->...i", a).real.astype(np.float64)
    return lower + lower.conj().swapaxes(-1, -2) + diagonal[..., None] * np.eye(a.shape[-1])


def assert_within(errors: np.ndarray, bound, what: str) -> None:
    """Not one matrix of a stack beyond its bound (or NaN)."""
    bad = np.flatnonzero(~(errors <= bound))
    assert not bad.size, f"{what} of the matrices {bad}: {np.ravel(errors)[bad]} with the bound {np.ravel(bound)}"


def check(x: vx.VkArray, a: np.ndarray, eigenvalues_alone: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Decompose x, whose values are those of a, by both functions; all errors are at most 10 n eps |A|."""
    result = vx.linalg.eigh(x)
    values, vectors = (np.asarray(part) for part in result)
    n = a.shape[-1]
    assert result.eigenvectors.dtype is x.dtype
    assert result.eigenvalues.dtype is (vx.float32 if x.dtype.bits == 32 else vx.float64)
    assert vectors.shape == a.shape
    assert values.shape == a.shape[:-1]
    assert np.all(np.diff(values) >= 0)
    # Computed in float64: its own error is no more than a few n eps.
    matrix = hermitian(a)
    largest = np.max(np.abs(matrix), axis=(-2, -1), keepdims=True, initial=0)
    scale = np.where(largest > 0, largest, 1)
    matrix, scaled = matrix / scale, values / scale[..., 0]
    wide = vectors.astype(matrix.dtype)
    adjoint = wide.conj().swapaxes(-1, -2)
    bound = 10 * n * float(vx.finfo(x.dtype).eps)
    size = np.linalg.norm(matrix, 2, axis=(-2, -1))
    expected = np.linalg.eigvalsh(matrix)
    residual = np.linalg.norm(wide * scaled[..., None, :] @ adjoint - matrix, 2, axis=(-2, -1))
    assert_within(residual, bound * size, "residual")
    assert_within(np.linalg.norm(adjoint @ wide - np.eye(n), 2, axis=(-2, -1)), bound, "orthogonality")
    assert_within(np.max(np.abs(scaled - expected), axis=-1), bound * size, "eigenvalues")
    if eigenvalues_alone:
        alone = vx.linalg.eigvalsh(x)
        assert alone.dtype is result.eigenvalues.dtype
        alone_values = np.asarray(alone)
        assert np.all(np.diff(alone_values) >= 0)
        assert_within(np.max(np.abs(alone_values / scale[..., 0] - expected), axis=-1), bound * size, "eigvalsh")
    return values, vectors


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_shapes(dtype) -> None:
    for shape in SHAPES:
        a = normal_values(dtype, shape)
        check(vx.asarray(a), a)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_three_and_four_levels_of_blocks(dtype) -> None:
    n = 257 if dtype in REAL else 129
    a = normal_values(dtype, (n, n))
    check(vx.asarray(a), a)


def test_five_levels_of_blocks() -> None:
    a = normal_values(vx.float32, (520, 520))
    check(vx.asarray(a), a, eigenvalues_alone=False)


def test_six_and_seven_levels_of_blocks(device) -> None:
    if device.description.memory_bytes < HUGE_BYTES or device.limits.is_cpu:
        pytest.skip("takes a minute on a CPU")
    for n in (1024, 2051):
        a = normal_values(vx.float32, (n, n))
        check(vx.asarray(a), a)


@pytest.mark.parametrize("shape", EMPTY)
def test_empty(shape) -> None:
    x = vx.zeros(shape, dtype=vx.complex64)
    values, vectors = vx.linalg.eigh(x)
    assert (values.shape, vectors.shape) == (shape[:-1], shape)
    assert (values.dtype, vectors.dtype) == (vx.float32, vx.complex64)
    alone = vx.linalg.eigvalsh(x)
    assert (alone.shape, alone.dtype) == (shape[:-1], vx.float32)


def tridiagonal(diagonal: np.ndarray, off_diagonal: np.ndarray) -> np.ndarray:
    return np.diag(diagonal) + np.diag(off_diagonal, 1) + np.diag(off_diagonal, -1)


def glued(block: np.ndarray, copies: int, glue: float) -> np.ndarray:
    """Copies of a tridiagonal matrix along the diagonal, joined by tiny elements: clusters of eigenvalues."""
    result = np.kron(np.eye(copies), block)
    border = np.arange(len(block), len(result), len(block))
    result[border, border - 1] = result[border - 1, border] = glue
    return result


def spectra(n: int, dtype) -> dict[str, np.ndarray]:
    """Matrices of well known difficulty, of size n, a multiple of 20."""
    generator = np.random.default_rng(n)
    basis = np.linalg.qr(generator.standard_normal((n, n)))[0]
    wilkinson = tridiagonal(np.abs(np.arange(n) - n // 2), np.ones(n - 1))
    small = tridiagonal(np.abs(np.arange(20) - 10), np.ones(19))
    magnitudes = np.exp2(np.linspace(*(math.log2(vx.finfo(dtype).smallest_normal) / 4 * np.array([1, -1])), n))
    random = generator.standard_normal((n, n))
    ones = np.ones(n - 1)
    return {
        "zero": np.zeros((n, n)),
        "identity": np.eye(n),
        "ones": np.ones((n, n)),
        "diagonal": np.diag(generator.standard_normal(n)),
        "wilkinson": wilkinson,
        "glued": glued(small, n // 20, 1e-5),
        "hardly glued": glued(small, n // 20, 1e-13),
        "laplace": tridiagonal(np.full(n, 2), -ones),
        "negative off-diagonal": tridiagonal(np.arange(n), -0.3 * ones),
        "zero diagonal": tridiagonal(np.zeros(n), ones),
        "repeated": basis * np.repeat([1, 2, 2, 3, -1], n // 5) @ basis.T,
        "rank 3": basis * (np.arange(n) < 3) @ basis.T,
        "one outlier": np.eye(n) + 1e-3 * np.outer(basis[0], basis[0]),
        "clustered": basis * (1 + 1e-6 * generator.standard_normal(n)) @ basis.T,
        "arrow": np.diag(np.arange(n)) + np.outer(np.eye(n)[-1], np.full(n, 0.1)),
        "block diagonal": np.kron(np.eye(n // 20), random[:20, :20]),
        "graded up": random * magnitudes * magnitudes[:, None],
        "graded down": random * magnitudes[::-1] * magnitudes[::-1, None],
        "graded diagonal": np.diag(magnitudes**2),
    }


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("large", [False, True])
def test_spectra(large, dtype) -> None:
    n = (100 if dtype in REAL else 60) if large else 20
    a = np.stack(list(spectra(n, dtype).values())).astype(host_dtype(dtype))
    if dtype.category == "complex floating":
        phases = np.exp(1j * np.arange(n)).astype(a.dtype)
        a = a * phases[:, None] * phases.conj()
    check(vx.asarray(a), a)


def tridiagonals(n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Diagonals and off-diagonals that are hard for divide and conquer: deflation everywhere, almost, or nowhere."""
    generator = np.random.default_rng(n)
    sizes, ones = np.logspace(-20, 0, n), np.ones(n - 1)
    rows = np.arange(n)
    glue = np.where(np.arange(n - 1) % 21 == 20, 1e-8, 1.0)
    return [
        (generator.uniform(-1, 1, n), generator.uniform(-1, 1, n - 1)),
        (generator.standard_normal(n) * sizes, generator.standard_normal(n - 1) * sizes[1:]),
        (generator.standard_normal(n) * sizes[::-1], generator.standard_normal(n - 1) * sizes[:0:-1]),
        (np.abs(rows % 21 - 10.0), glue),
        (np.abs(rows % 21 - 10.0), glue**2),
        (np.zeros(n), np.sqrt(rows[1:] * (n - rows[1:]))),  # Clement
        (np.zeros(n), 1 / np.sqrt(4 - 1 / rows[1:] ** 2.0)),  # Legendre
        (2.0 * rows + 1, 1.0 * rows[1:]),  # Laguerre
        (generator.standard_normal(n), np.where(generator.random(n - 1) < 0.3, generator.standard_normal(n - 1), 0)),
        (np.ones(n), 1e-7 * generator.standard_normal(n - 1)),
        (np.ones(n), 1e-15 * generator.standard_normal(n - 1)),
        (generator.integers(-2, 3, n), generator.integers(-1, 2, n - 1)),
        (generator.choice([0.0, 1.0], n), generator.choice([-1, 1], n - 1) * 10 ** generator.uniform(-20, 0, n - 1)),
        (np.full(n, 0.7), np.full(n - 1, 1e-3)),
        (np.full(n, -2.0), ones),
        (-np.abs(generator.standard_normal(n)), -np.abs(generator.standard_normal(n - 1))),
    ]


@pytest.mark.parametrize("dtype", REAL, ids=str)
@pytest.mark.parametrize("n", [33, 65, 200])
def test_divide_and_conquer(n, dtype) -> None:
    """The tridiagonal problem by itself, in which eigenvalues and eigenvectors are as good as NumPy's."""
    diagonals, off_diagonals = (np.stack(parts) for parts in zip(*tridiagonals(n), strict=True))
    # The reduction leaves elements of moderate size.
    scale = 1 / np.max(np.abs(np.concatenate([diagonals, off_diagonals], 1)), axis=1, keepdims=True)
    diagonals, off_diagonals = ((part * scale).astype(host_dtype(dtype)) for part in (diagonals, off_diagonals))
    d, e = (vx.asarray(part) for part in (diagonals, np.pad(off_diagonals, ((0, 0), (0, 1)))))
    state = vx.zeros((len(diagonals), 2), dtype=vx.int32)
    values, vectors = (np.asarray(part).astype(np.float64) for part in tridiagonal_problem.eigenvectors_of(d, e, state))
    alone = np.asarray(tridiagonal_problem.eigenvalues_of(d, e)).astype(np.float64)
    assert not np.any(np.asarray(state))
    matrix = np.stack(
        [tridiagonal(*parts) for parts in zip(diagonals.astype(float), off_diagonals.astype(float), strict=True)]
    )
    expected = np.linalg.eigvalsh(matrix)
    bound = 2 * n * float(vx.finfo(dtype).eps)
    size = np.max(np.abs(expected), axis=-1)
    assert_within(np.max(np.abs(values - expected), axis=-1), bound * size, "eigenvalues")
    assert_within(np.max(np.abs(alone - expected), axis=-1), bound * size, "bisection")
    residual = np.linalg.norm(matrix @ vectors - vectors * values[:, None], 2, axis=(-2, -1))
    assert_within(residual, bound * size, "residual")
    adjoint = vectors.swapaxes(-1, -2)
    assert_within(np.linalg.norm(adjoint @ vectors - np.eye(n), 2, axis=(-2, -1)), bound, "orthogonality")


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_diagonal_matrices_are_exact(dtype) -> None:
    diagonal = np.random.default_rng(0).integers(-9, 9, 100).astype(host_dtype(dtype))
    values, vectors = vx.linalg.eigh(vx.asarray(np.diag(diagonal)))
    assert np.array_equal(np.asarray(values), np.sort(diagonal))
    assert np.array_equal(np.sort(np.abs(np.asarray(vectors)), axis=0)[-2:], [[0] * 100, [1] * 100])
    assert np.array_equal(np.asarray(vx.linalg.eigvalsh(vx.asarray(np.diag(diagonal)))), np.sort(diagonal))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_only_the_lower_triangle_is_read(dtype) -> None:
    a = normal_values(dtype, (50, 50))
    spoilt = np.where(np.tri(50, dtype=bool), a, np.nan).astype(host_dtype(dtype))
    if dtype.category == "complex floating":
        spoilt[np.diag_indices(50)] = a.real.diagonal() + 5j
    values, vectors = check(vx.asarray(spoilt), np.tril(a))
    same_values, same_vectors = check(vx.asarray(a), a)
    assert np.array_equal(values, same_values)
    assert np.array_equal(vectors, same_vectors)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_layouts(dtype) -> None:
    a = normal_values(dtype, (4, 40, 50))
    x = vx.asarray(a)
    for view in (
        lambda y: y[::2, :, :40],
        lambda y: y[1, ::-1, 5:45],
        lambda y: y[::-1, 3:20, 40:23:-1],
        lambda y: y[:, ::3, 1:28:2],
    ):
        check(view(x), view(a))
    check(x[:, :, :40].mT, a[:, :, :40].swapaxes(-1, -2))
    check(vx.broadcast_to(x[:1, :, :40], (3, 40, 40)), np.broadcast_to(a[:1, :, :40], (3, 40, 40)))
    assert np.array_equal(np.asarray(x), a)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_stacks_of_unlike_matrices(dtype) -> None:
    a = np.stack(
        [
            np.eye(45),
            np.zeros((45, 45)),
            np.ones((45, 45)),
            normal_values(vx.float32, (45, 45)),
            np.diag(np.arange(45.0)),
        ]
    )
    a = a.astype(host_dtype(dtype))
    values, vectors = check(vx.asarray(a), a)
    for one, its_values, its_vectors in zip(a, values, vectors, strict=True):
        alone = vx.linalg.eigh(vx.asarray(one))
        assert np.array_equal(np.asarray(alone.eigenvalues), its_values)
        assert np.array_equal(np.asarray(alone.eigenvectors), its_vectors)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_range(dtype) -> None:
    limits = vx.finfo(dtype)
    a = normal_values(dtype, (40, 40))
    for exponent in (
        math.log2(limits.max) - 8,
        math.log2(limits.smallest_normal) + 10,
        0.5 * math.log2(limits.smallest_normal),
    ):
        scaled = (a * np.array(2, a.real.dtype) ** int(exponent)).astype(host_dtype(dtype))
        check(vx.asarray(scaled), scaled)
    top = np.full((40, 40), limits.max / 64).astype(host_dtype(dtype))
    check(vx.asarray(top), top)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_subnormal_numbers(dtype) -> None:
    if flushes_subnormals(dtype):
        pytest.skip("this driver turns subnormal numbers into zeros (Vulkan leaves that open without DenormPreserve)")
    unit = vx.finfo(dtype).smallest_normal / 16
    a = (np.array([[2, 1], [1, 2]]) * unit).astype(host_dtype(dtype))
    values, vectors = vx.linalg.eigh(vx.asarray(a))
    assert np.array_equal(np.asarray(values) / unit, [1, 3])
    assert np.allclose(np.abs(np.asarray(vectors)), math.sqrt(0.5), rtol=8 * vx.finfo(dtype).eps)


def test_failure_to_converge(monkeypatch) -> None:
    monkeypatch.setattr(tridiagonal_problem, "_STEPS", 1)
    a = np.stack([np.eye(50, dtype=np.float32), normal_values(vx.float32, (50, 50))])
    with pytest.raises(vx.LinAlgError, match="eigh: matrix 1 of 2 of the stack of shape \\(50, 50\\) did not converge"):
        vx.linalg.eigh(vx.asarray(a))


def test_bisection_in_several_dispatches(monkeypatch) -> None:
    a = normal_values(vx.float32, (60, 60))
    at_once = np.asarray(vx.linalg.eigvalsh(vx.asarray(a)))
    monkeypatch.setattr(tridiagonal_problem, "_TURNS", 200)
    assert np.array_equal(np.asarray(vx.linalg.eigvalsh(vx.asarray(a))), at_once)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("function", [vx.linalg.eigh, vx.linalg.eigvalsh], ids=["eigh", "eigvalsh"])
def test_nan_and_infinity(function, bad) -> None:
    for dtype in DTYPES:
        for n in (1, 5, 70):
            a = normal_values(dtype, (n, n))
            a[n - 1, n // 2] = bad
            with pytest.raises(
                vx.LinAlgError, match=f"eig.*: the matrix of shape \\({n}, {n}\\) contains NaN or infinity"
            ):
                function(vx.asarray(a))
    stack = np.zeros((3, 4, 4), np.float32)
    stack[1, 2, 0] = bad
    with pytest.raises(vx.LinAlgError, match="matrix 1 of 3 of the stack"):
        function(vx.asarray(stack))
    assert isinstance(vx.LinAlgError("x"), ValueError)


@pytest.mark.usefixtures("numpy_types")
def test_integers_take_the_widest_floating_type() -> None:
    for dtype in (vx.bool, vx.int32, vx.uint8):
        x = vx.astype(vx.asarray([[1, 0], [1, 1]], dtype=vx.int32), dtype)
        assert vx.linalg.eigvalsh(x).dtype is REAL[-1]
        tolerance = 8 * vx.finfo(REAL[-1]).eps
        assert np.allclose(np.asarray(vx.linalg.eigh(x).eigenvalues), [0, 2], atol=tolerance)


@pytest.mark.parametrize("name", ["eigh", "eigvalsh"])
def test_errors(name) -> None:
    function = getattr(vx.linalg, name)
    x = vx.ones((3, 3), dtype=vx.float32)
    with pytest.raises(ValueError, match=f"{name}: expected square matrices"):
        function(x[:2])
    with pytest.raises(ValueError, match=f"{name}: expected a matrix"):
        function(x[0])
    with pytest.raises(TypeError, match=f"{name}: float16 is too short"):
        function(vx.astype(x, vx.float16))
    with pytest.raises(TypeError, match=name):
        function("text")


def test_result_is_a_named_tuple() -> None:
    result = vx.linalg.eigh(vx.ones((2, 2), dtype=vx.float32))
    assert type(result).__name__ == "EighResult"
    assert result._fields == ("eigenvalues", "eigenvectors")


def test_the_number_of_dispatches_does_not_grow_with_the_batch(device, monkeypatch) -> None:
    counted = []
    dispatch = device.dispatch
    monkeypatch.setattr(
        device, "dispatch", lambda kernel, *given: counted.append(kernel.name) or dispatch(kernel, *given)
    )
    own, all_ = [], []
    for batch in (2, 50, 200):
        x = vx.asarray(normal_values(vx.float32, (batch, 40, 40)))
        counted.clear()
        vx.linalg.eigh(x)
        vx.linalg.eigvalsh(x)
        own.append(sum(name.startswith("linalg") for name in counted))
        all_.append(len(counted))
    # Products of larger stacks may take another kernel, which wants its operands copied first and adds up parts.
    assert own[0] == own[1] == own[2]
    assert all_[2] <= all_[1] < 4 * 40


def test_the_archive_has_every_shader_that_is_used(device, monkeypatch) -> None:
    used = set()
    original = launch.kernel
    monkeypatch.setattr(launch, "kernel", lambda variant, *given: used.add(variant) or original(variant, *given))
    for dtype in DTYPES:
        x = vx.asarray(normal_values(dtype, (40, 40)))
        vx.linalg.eigh(x)
        vx.linalg.eigvalsh(x)
    own = {variant for variant in used if variant.template.startswith("linalg")}
    assert len(own) >= 12
    assert own <= {variant for family in catalogue.FAMILIES for variant in family(device)}
