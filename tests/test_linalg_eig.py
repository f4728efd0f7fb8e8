"""eig and eigvals on every type and kind of matrix, by their residuals and against NumPy's eigenvalues."""

from __future__ import annotations

import numpy as np
import pytest
from reference import flushes_subnormals, host_dtype, normal_values, supported

import vkarray as vx
from vkarray.core.dtypes import COMPLEX_OF
from vkarray.ops.linalg import eig as module

DTYPES = supported([vx.float32, vx.float64, vx.complex64, vx.complex128])
REAL = supported([vx.float32, vx.float64])
COMPLEX = supported([vx.complex64, vx.complex128])

# One block of the QR algorithm and less, the widths of its windows, several windows.
SIZES = (1, 2, 3, 4, 5, 7, 15, 16, 17, 24, 25, 32, 33, 50, 100)


def distance(first: np.ndarray, second: np.ndarray) -> float:
    """How far apart two sets of eigenvalues are, paired greedily by nearness."""
    rest, largest = list(second), 0.0
    for value in first:
        nearest = min(range(len(rest)), key=lambda k: abs(rest[k] - value))
        largest = max(largest, abs(rest.pop(nearest) - value))
    return largest


def scaled(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The matrices in wider arithmetic over powers of two that bring their largest elements near 1, and these powers."""
    wide = a.astype(np.complex128)
    largest = np.max(np.abs(wide), axis=(-2, -1), keepdims=True, initial=0)
    powers = np.ldexp(1.0, np.frexp(np.where(largest > 0, largest, 1))[1])
    return wide / powers, powers


def check(x: vx.VkArray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The eigenvalues and eigenvectors of x, whose values are those of a: |A v - w v| <= 10 n eps |A| for every |v| = 1."""
    result = vx.linalg.eig(x)
    dtype = COMPLEX_OF.get(x.dtype, x.dtype)
    assert isinstance(result, tuple)
    assert result._fields == ("eigenvalues", "eigenvectors")
    assert result.eigenvalues.dtype is result.eigenvectors.dtype is dtype
    assert result.eigenvalues.shape == a.shape[:-1]
    assert result.eigenvectors.shape == a.shape
    values, vectors = (np.asarray(part) for part in result)
    n, eps = a.shape[-1], vx.finfo(dtype).eps
    wide, powers = scaled(a)
    w, v = values.astype(np.complex128) / powers[..., 0], vectors.astype(np.complex128)
    norms = np.linalg.norm(wide, 2, axis=(-2, -1))
    residuals = np.linalg.norm(wide @ v - v * w[..., None, :], axis=-2)
    assert np.all(residuals <= 10 * n * eps * norms[..., None])
    # A norm is a sum of n squares, rounded once each, and a root and a quotient.
    assert np.all(np.abs(np.linalg.norm(v, axis=-2) - 1) <= (n + 4) * eps)
    # The sum of the eigenvalues is the trace.
    traces = np.trace(wide, axis1=-2, axis2=-1)
    assert np.all(np.abs(np.sum(w, -1) - traces) <= 10 * n * n * eps * norms)
    if x.dtype in REAL:
        # Conjugates stand side by side, the one above the real axis first.
        above, below = values.imag[..., :-1] > 0, values.imag[..., 1:] < 0
        assert np.array_equal(above, below)
        assert np.array_equal(values[..., :-1][above], values[..., 1:][below].conj())
        assert not np.any(values.imag[..., 0] < 0)
        assert not np.any(values.imag[..., -1] > 0)
        assert np.all(vectors.imag[np.broadcast_to(values.imag[..., None, :] == 0, vectors.shape)] == 0)
    return values, vectors


def check_eigenvalues(a: np.ndarray, bound: float, dtype) -> None:
    """Eigenvalues of eig, of eigvals and of NumPy are equal within bound * n eps |A|."""
    x = vx.asarray(a)
    n = a.shape[-1]
    wide, powers = scaled(a)
    expected = np.linalg.eigvals(wide)
    for values in (vx.linalg.eigvals(x), vx.linalg.eig(x).eigenvalues):
        got = np.asarray(values).astype(np.complex128) / powers[0, 0]
        assert distance(got, expected) <= bound * n * vx.finfo(dtype).eps * np.linalg.norm(wide, 2)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_sizes(dtype) -> None:
    for n in SIZES:
        a = normal_values(dtype, (n, n), n)
        check(vx.asarray(a), a)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_stacks(dtype) -> None:
    for shape in [(100, 5, 5), (2, 3, 20, 20), (1000, 2, 2), (3, 40, 40), (1, 1, 1, 3, 3)]:
        a = normal_values(dtype, shape)
        values, _ = check(vx.asarray(a), a)
        alone = np.asarray(vx.linalg.eigvals(vx.asarray(a[-1])))
        norms = np.linalg.norm(a, axis=(-2, -1))
        assert np.all(np.abs(np.sum(alone, -1) - np.sum(values[-1], -1)) <= 100 * vx.finfo(dtype).eps * norms[-1])


@pytest.mark.parametrize(("kind", "window", "dtype"), [("gpu", 16, DTYPES[0]), ("cpu", 24, DTYPES[-1])], ids=str)
def test_every_division_of_work(kind, window, dtype, monkeypatch) -> None:
    """Workgroups as on a GPU and as on a CPU, and the windows of devices with little shared memory."""
    for table in (module._WORKGROUP, module._LANES):
        for other in ("gpu", "cpu"):
            monkeypatch.setitem(table, other, table[kind])
    monkeypatch.setattr(module, "_WINDOWS", (window,))
    monkeypatch.setattr(module, "_LOOP_TURNS", 100)
    monkeypatch.setattr(module, "_PRODUCTS", 100)
    for shape in [(3, 3), (16, 16), (3, 17, 17), (45, 45), (2, 70, 70)]:
        a = normal_values(dtype, shape)
        check(vx.asarray(a), a)
        check(vx.asarray(np.tril(a)), np.tril(a))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_stacks_of_unlike_matrices(dtype) -> None:
    """Matrices of a stack converge at different times."""
    n = 40
    a = normal_values(dtype, (4, n, n))
    a[0] = np.eye(n)
    a[1] = 0
    a[3] = np.triu(a[3])
    check(vx.asarray(a), a)


@pytest.mark.parametrize("function", [vx.linalg.eig, vx.linalg.eigvals])
def test_the_number_of_dispatches_does_not_grow_with_the_stack(function, monkeypatch) -> None:
    dispatched = []
    run = module._run
    monkeypatch.setattr(module, "_run", lambda *arguments, **options: dispatched.append(run(*arguments, **options)))
    a = normal_values(vx.float32, (5, 5))
    counts = []
    for batch in (1, 300):
        dispatched.clear()
        function(vx.asarray(np.broadcast_to(a, (batch, 5, 5))))
        counts.append(len(dispatched))
    assert counts[0] == counts[1] < 20


@pytest.mark.parametrize("shape", [(0, 0), (3, 0, 0), (0, 4, 4), (2, 0, 3, 3)])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_empty(dtype, shape) -> None:
    x = vx.zeros(shape, dtype=dtype)
    result = vx.linalg.eig(x)
    assert (result.eigenvalues.shape, result.eigenvectors.shape) == (shape[:-1], shape)
    values = vx.linalg.eigvals(x)
    assert values.shape == shape[:-1]
    assert values.dtype is result.eigenvalues.dtype is result.eigenvectors.dtype is COMPLEX_OF.get(dtype, dtype)


# -- kinds of matrices ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_normal_matrices(dtype) -> None:
    """The eigenvalues of normal matrices are determined to about eps |A| (Bauer and Fike)."""
    n = 40
    a = normal_values(dtype, (n, n))
    hermitian = a + a.conj().T
    orthogonal = np.linalg.qr(a.astype(np.complex128 if dtype in COMPLEX else np.float64))[0].astype(a.dtype)
    shift = np.roll(np.eye(n, dtype=a.dtype), 1, 0)
    shuffle = np.eye(n, dtype=a.dtype)[np.random.default_rng(1).permutation(n)]
    circulant = sum(np.roll(np.eye(n), k, 0) * value for k, value in enumerate(normal_values(dtype, 4))).astype(a.dtype)
    for matrix in (hermitian, a - a.conj().T, orthogonal, shift, shuffle, circulant, np.roll(np.eye(3), 1, 0)):
        matrix = matrix.astype(a.dtype)
        check(vx.asarray(matrix), matrix)
        check_eigenvalues(matrix, 10, dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n", [2, 5, 31, 60])
def test_hermitian_matrices(dtype, n) -> None:
    """Real eigenvalues, orthonormal eigenvectors: also where eigenvalues repeat."""
    a = normal_values(dtype, (n, n))
    basis = np.linalg.qr(a.astype(np.complex128))[0] if dtype in COMPLEX else np.linalg.qr(a.astype(np.float64))[0]
    repeated = basis @ np.diag(np.arange(n) // 2 - 1.0) @ basis.conj().T
    for matrix in (a + a.conj().T, repeated + repeated.conj().T, np.ones((n, n))):
        matrix = matrix.astype(a.dtype)
        assert np.array_equal(matrix, matrix.conj().T)
        values, vectors = check(vx.asarray(matrix), matrix)
        assert np.all(values.imag == 0)
        assert np.all(np.asarray(vx.linalg.eigvals(vx.asarray(matrix))).imag == 0)
        gram = vectors.conj().T.astype(np.complex128) @ vectors
        assert np.linalg.norm(gram - np.eye(n), 2) <= 10 * n * vx.finfo(dtype).eps
        if dtype in REAL:
            assert np.all(vectors.imag == 0)
        check_eigenvalues(matrix, 10, dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_exact_results(dtype) -> None:
    """Triangular matrices, their rows and columns in any order, have their diagonal; the identity has unit vectors."""
    n = 40
    upper = np.triu(normal_values(dtype, (n, n)))
    places = np.random.default_rng(2).permutation(n)
    shuffled = upper[places][:, places]
    diagonal = np.diag(np.diag(upper))
    for matrix in (upper, upper.T, shuffled, shuffled.T, diagonal, np.eye(n) * 3, np.zeros((n, n))):
        matrix = matrix.astype(upper.dtype)
        values, _ = check(vx.asarray(matrix), matrix)
        assert np.array_equal(np.sort_complex(values), np.sort_complex(np.diag(matrix).astype(values.dtype)))
        if matrix is upper:
            assert np.array_equal(values, np.diag(matrix))
    _, vectors = check(vx.asarray(np.eye(n, dtype=upper.dtype)), np.eye(n))
    assert np.array_equal(vectors, np.eye(n))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_reducible_matrices(dtype) -> None:
    """Eigenvalues that stand alone are exact: of rows and columns that a permutation makes triangular, above and below."""
    n = 30
    a = normal_values(dtype, (n, n))
    a[10:, :10] = 0
    a[:10, :10] = np.triu(a[:10, :10])
    a[20:, :20] = 0
    a[20:, 20:] = np.triu(a[20:, 20:])
    alone = np.concatenate([np.diag(a)[:10], np.diag(a)[20:]])
    places = np.random.default_rng(3).permutation(n)
    for matrix in (a, a.T, a[places][:, places]):
        values, _ = check(vx.asarray(matrix), matrix)
        assert np.all(np.isin(alone.astype(values.dtype), values))
        check_eigenvalues(a[10:20, 10:20], 100, dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_defective_and_repeated(dtype) -> None:
    n = 36
    host = host_dtype(dtype)
    jordan = np.eye(n) * 2 + np.eye(n, k=1)
    a = normal_values(dtype, (n, n))
    inverse = np.linalg.inv(a.astype(np.complex128))
    hidden = a @ np.kron(np.eye(n // 3), np.array([[1, 1, 0], [0, 1, 1], [0, 0, 1]])) @ inverse
    cases = [
        jordan, jordan.T, np.eye(n, k=1), np.eye(n, k=-1), np.outer(a[0], a[1]), np.ones((n, n)),
        np.kron(np.eye(n // 2), [[0, 1], [-1, 0]]), np.kron(np.eye(n // 4), normal_values(dtype, (4, 4))),
        hidden if dtype in COMPLEX else hidden.real, [[0, 1], [0, 0]], [[0, 0], [1, 0]], [[2, 0], [1, 2]],
    ]  # fmt: skip
    for case in cases:
        matrix = np.asarray(case).astype(host)
        check(vx.asarray(matrix), matrix)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n", [3, 60])
def test_matrices_that_resist_shifts(dtype, n) -> None:
    """Permutations and what is near them, Grcar's and Frank's matrices, binary and integer ones."""
    generator = np.random.default_rng(n)
    a = normal_values(dtype, (n, n))
    cycle = np.roll(np.eye(n), 1, 0)
    rows = np.arange(n)
    frank = np.triu(n - np.maximum.outer(rows, rows), -1)
    cases = [
        cycle, cycle + 1e-7 * a, np.fliplr(np.eye(n)), np.fliplr(np.diag(a[0])), np.eye(n, k=1) + 1e-6 * np.eye(n, k=1 - n),
        np.triu(np.tril(np.ones((n, n)), 3)) - np.eye(n, k=-1), frank, generator.random((n, n)) < 2 / n, np.round(2 * a),
        np.triu(np.ones((n, n)), -1),
    ]  # fmt: skip
    for case in cases:
        matrix = case.astype(host_dtype(dtype))
        check(vx.asarray(matrix), matrix)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_companion_matrices(dtype) -> None:
    """The roots of polynomials."""
    for n in (2, 3, 10, 35):
        companion = np.eye(n, k=-1).astype(host_dtype(dtype))
        companion[0] = normal_values(dtype, n)
        check(vx.asarray(companion), companion)
    roots = np.array([1, 2, 3, -1, 1j, -1j] if dtype in REAL else [1, 2j, 3, -1, 1j, -2])
    companion = np.eye(6, k=-1).astype(host_dtype(dtype))
    companion[0] = -(np.poly(roots).real if dtype in REAL else np.poly(roots))[1:]
    values = np.asarray(vx.linalg.eigvals(vx.asarray(companion)))
    # Their condition numbers are below 300.
    assert distance(values, roots) <= 300 * 10 * 6 * vx.finfo(dtype).eps


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_graded_matrices(dtype) -> None:
    n = 34
    a = normal_values(dtype, (n, n)).astype(np.complex128)
    decades = 10.0 ** np.linspace(0, -30, n)
    for matrix in (
        decades[:, None] * a,
        a * decades,
        decades[:, None] * a * decades,
        decades[:, None] * a / decades * 1e-20,
    ):
        matrix = matrix.astype(host_dtype(dtype)) if dtype in COMPLEX else matrix.real.astype(host_dtype(dtype))
        check(vx.asarray(matrix), matrix)
        check(vx.asarray(matrix[::-1, ::-1]), matrix[::-1, ::-1])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_magnitudes(dtype) -> None:
    limits = vx.finfo(dtype)
    a = normal_values(dtype, (12, 12))
    for scale in (limits.max / 64, limits.smallest_normal * 2**30, 1e10, 1e-10):
        matrix = a * a.real.dtype.type(scale)
        check(vx.asarray(matrix), matrix)
    if not flushes_subnormals(dtype):
        matrix = np.diag(np.full(3, limits.smallest_normal / 4)).astype(a.dtype)
        assert np.array_equal(np.asarray(vx.linalg.eigvals(vx.asarray(matrix))), np.diag(matrix))


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_eigenvalues_of_two_rows(dtype) -> None:
    """Rotations, reflections, shears and equal eigenvalues, without noise in parts that are zero."""
    exact = {
        ((0, 1), (-1, 0)): (1j, -1j), ((0, 1), (1, 0)): (1, -1), ((3, 4), (-4, 3)): (3 + 4j, 3 - 4j),
        ((1, 1), (0, 1)): (1, 1), ((2, 0), (0, 5)): (2, 5), ((1, 2), (2, 1)): (3, -1), ((0, 4), (1, 0)): (2, -2),
        ((1, 0), (1, 1)): (1, 1), ((0, 0), (1, 0)): (0, 0),
    }  # fmt: skip
    for rows, expected in exact.items():
        matrix = np.array(rows, host_dtype(dtype))
        values, _ = check(vx.asarray(matrix), matrix)
        assert distance(values, np.array(expected)) <= 4 * vx.finfo(dtype).eps * 5
        assert np.all(values[np.abs(np.imag(expected)) == 0].imag == 0)


# -- operands -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_layouts(dtype) -> None:
    a = normal_values(dtype, (6, 9, 9))
    x = vx.asarray(a)
    for view in (
        lambda y: y[::2],
        lambda y: y[:, ::-1, ::-2][:, :5],
        lambda y: y[1, 2:6, 5:1:-1],
        lambda y: y[:, 3:7, 1:5],
    ):
        check(view(x), view(a))
    check(x.mT, a.swapaxes(-1, -2))
    check(vx.broadcast_to(x[:1], (4, 9, 9)), np.broadcast_to(a[:1], (4, 9, 9)))
    assert np.array_equal(np.asarray(x), a)


@pytest.mark.usefixtures("numpy_types")
@pytest.mark.parametrize("dtype", supported([vx.int8, vx.int32, vx.uint8, vx.int64, vx.bool]), ids=str)
def test_integers_become_float64(dtype) -> None:
    a = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1]]).astype(host_dtype(dtype))
    x = vx.asarray(a)
    values = vx.linalg.eigvals(x)
    assert values.dtype is (vx.complex128 if supported([vx.float64]) else vx.complex64)
    assert distance(np.asarray(values), np.linalg.eigvals(a.astype(np.float64))) <= 30 * vx.finfo(values.dtype).eps


@pytest.mark.parametrize("function", [vx.linalg.eig, vx.linalg.eigvals])
def test_errors(function) -> None:
    name = function.__name__
    with pytest.raises(ValueError, match=rf"{name}: expected square matrices.*\(2, 3\)"):
        function(vx.zeros((2, 3)))
    with pytest.raises(ValueError, match=rf"{name}: expected a matrix.*\(4,\)"):
        function(vx.zeros((4,)))
    with pytest.raises(TypeError, match=name):
        function(np.eye(2))
    with pytest.raises(np.linalg.LinAlgError, match=name):
        function(1.0)
    with pytest.raises(TypeError, match=rf"{name}: float16.*astype"):
        function(vx.zeros((2, 2), dtype=vx.float16))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_infinities_and_nan_are_errors(dtype) -> None:
    bad = [np.nan, np.inf, -np.inf]
    if dtype in COMPLEX:
        bad += [complex(0, np.nan), complex(1, -np.inf)]
    for value in bad:
        for place in ((0, 0), (4, 1), (2, 3)):
            a = normal_values(dtype, (2, 5, 5))
            a[1][place] = value
            for function in (vx.linalg.eig, vx.linalg.eigvals):
                with pytest.raises(vx.LinAlgError, match=f"{function.__name__}: .*infs or NaNs"):
                    function(vx.asarray(a))


def test_matrices_that_do_not_converge_are_errors(monkeypatch) -> None:
    """Out of 0 sweeps none is enough."""
    monkeypatch.setattr(module, "_PATIENCE", 0)
    a = normal_values(vx.float32, (3, 6, 6))
    a[1] = np.eye(6)
    x = vx.asarray(a)
    with pytest.raises(vx.LinAlgError, match=r"eig: .*did not converge.* 2 of 3"):
        vx.linalg.eig(x)


# -- large matrices -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n", [200, 1024])
def test_large_matrices(dtype, n, device) -> None:
    if device.limits.is_cpu and (n > 200 or dtype is not DTYPES[-1]):
        pytest.skip(f"minutes of work for {device.name}, a CPU")
    a = normal_values(dtype, (n, n))
    check(vx.asarray(a), a)
