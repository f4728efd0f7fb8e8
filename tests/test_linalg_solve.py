"""LU, Cholesky and what stands on them: residuals within the bounds of backward stable methods, errors, layouts, stacks.

The bounds are 10 N eps times the norms of the operands (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
chapters 9 and 10, with room for the growth of elements): a method that is not stable misses them by orders of magnitude.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from reference import WIDER, flushes_subnormals, host_dtype, supported

import vkarray as vx
from vkarray.command import catalogue
from vkarray.core import layout
from vkarray.core.array import available
from vkarray.core.dtypes import REAL_OF
from vkarray.kernels import launch
from vkarray.ops.linalg import common, lu

FACTORED = supported(common.FACTORED)
NARROW = supported([vx.float32, vx.complex64])
SIZES = [1, 2, 3, 31, 32, 33, 64, 65, 100, 257]  # around the widths of panels and blocks
STACKS = [(300, 5, 5), (3, 2, 40, 40), (1, 1, 2, 2)]


def values(dtype, shape, seed: int = 0) -> np.ndarray:
    """Normally distributed numbers."""
    generator = np.random.default_rng(seed)
    result = generator.standard_normal(shape)
    if dtype.category == "complex floating":
        result = result + 1j * generator.standard_normal(shape)
    return result.astype(host_dtype(dtype))


def definite(dtype, shape, seed: int = 0) -> np.ndarray:
    """Hermitian positive definite matrices."""
    root = values(dtype, shape, seed)
    return root @ root.conj().swapaxes(-1, -2) + np.eye(shape[-1], dtype=root.dtype)


def orthogonal(dtype, n: int, seed: int = 0) -> np.ndarray:
    """A matrix with orthonormal columns, in NumPy's widest type."""
    wide = np.complex128 if dtype.category == "complex floating" else np.float64
    return np.linalg.qr(values(dtype, (n, n), seed).astype(wide))[0]


def frobenius(x: np.ndarray) -> np.ndarray:
    return np.sqrt(np.sum(np.abs(x) ** 2, axis=(-1, -2)))


def check_solution(a: np.ndarray, x: np.ndarray, b: np.ndarray, dtype) -> None:
    """||a x - b|| <= 10 n eps ||a|| ||x|| for each matrix of a stack."""
    wide = (
        np.float64
        if a.shape[-1] > 300 and dtype.bits == 32 and dtype.category == "real floating"
        else WIDER[dtype.name]
    )
    a, x, b = (array.astype(wide) for array in (a, x, b))
    residual = frobenius(a @ x - b)
    assert np.all(residual <= 10 * a.shape[-1] * vx.finfo(dtype).eps * frobenius(a) * frobenius(x))


def check_factor(a: np.ndarray, factor: np.ndarray, dtype) -> None:
    """||a - l l^H|| <= 10 n eps ||a|| for each matrix of a stack, and l is lower triangular."""
    wide = (
        np.float64
        if a.shape[-1] > 300 and dtype.bits == 32 and dtype.category == "real floating"
        else WIDER[dtype.name]
    )
    assert np.all(np.triu(factor, 1) == 0)
    assert np.all(np.einsum("...ii->...i", factor).imag == 0)
    a, factor = a.astype(wide), factor.astype(wide)
    difference = frobenius(a - factor @ factor.conj().swapaxes(-1, -2))
    assert np.all(difference <= 10 * a.shape[-1] * vx.finfo(dtype).eps * frobenius(a))


def solve(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(vx.linalg.solve(vx.asarray(a), vx.asarray(b)))


# -- solve and inv ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FACTORED, ids=str)
def test_solutions_of_all_sizes(dtype) -> None:
    for n in SIZES:
        a, b = values(dtype, (n, n), n), values(dtype, (n, 3), n + 1)
        x = solve(a, b)
        assert x.dtype == a.dtype
        check_solution(a, x, b, dtype)


def test_a_large_system() -> None:
    a, b = values(vx.float32, (1024, 1024)), values(vx.float32, (1024,), 1)
    check_solution(a, solve(a, b)[:, None], b[:, None], vx.float32)


@pytest.mark.parametrize("dtype", FACTORED, ids=str)
def test_stacks(dtype) -> None:
    for shape in STACKS:
        a, b = values(dtype, shape, 2), values(dtype, (*shape[:-1], 2), 3)
        check_solution(a, solve(a, b), b, dtype)
        identity = np.broadcast_to(np.eye(shape[-1], dtype=a.dtype), shape)
        check_solution(a, np.asarray(vx.linalg.inv(vx.asarray(a))), identity, dtype)


@pytest.mark.parametrize("dtype", FACTORED, ids=str)
def test_hard_matrices(dtype) -> None:
    n = 70
    eps = vx.finfo(dtype).eps
    spectrum = np.logspace(0, math.log10(eps) + 0.5, n)
    ill = (orthogonal(dtype, n, 4) * spectrum) @ orthogonal(dtype, n, 5)
    grades = np.logspace(-12, 12, n)
    rows, columns = grades[:, None] * values(dtype, (n, n), 6), values(dtype, (n, n), 7) * grades
    small, large = values(dtype, (n, n), 8) * 1e-30, values(dtype, (n, n), 9) * 1e30
    needs_exchange = np.eye(n)[::-1] + 0 * values(dtype, (n, n))
    for a in (ill, rows, columns, small, large, needs_exchange):
        a = a.astype(host_dtype(dtype))
        b = (a.astype(WIDER[dtype.name]) @ values(dtype, (n, 2), 10)).astype(a.dtype)
        check_solution(a, solve(a, b), b, dtype)


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_layouts(dtype) -> None:
    a, b = values(dtype, (3, 40, 42), 11), values(dtype, (40, 9), 12)
    views = [
        (lambda x: x[0, :, :40], lambda x: x), (lambda x: x[0, :, 2:].mT, lambda x: x[:, ::-2]),
        (lambda x: x[1, ::-1, 1:41], lambda x: x[::-1]), (lambda x: x[:, ::2, :40:2], lambda x: x[:20]),
        (lambda x: x[::2, :, :40].mT, lambda x: x[:, 3:4]),
    ]  # fmt: skip
    for first, second in views:
        got = np.asarray(vx.linalg.solve(first(vx.asarray(a)), second(vx.asarray(b))))
        host_a, host_b = first(a), second(b)
        check_solution(host_a, got, np.broadcast_to(host_b, (*host_a.shape[:-2], *host_b.shape)), dtype)


def test_right_hand_sides_broadcast_against_matrices() -> None:
    cases = [
        ((4, 4), (4,), (4,)), ((4, 4), (4, 1), (4, 1)), ((3, 4, 4), (4,), (3, 4)), ((4, 4), (5, 4, 2), (5, 4, 2)),
        ((3, 1, 4, 4), (5, 4, 2), (3, 5, 4, 2)), ((2, 3, 4, 4), (3, 4, 4), (2, 3, 4, 4)), ((1, 4, 4), (0, 4, 2), (0, 4, 2)),
        ((1, 3, 1, 4, 4), (2, 1, 5, 4, 2), (2, 3, 5, 4, 2)), ((2, 4, 4), (2, 4, 0), (2, 4, 0)),
        ((0, 0), (0,), (0,)), ((3, 0, 0), (3, 0, 2), (3, 0, 2)), ((0, 4, 4), (4,), (0, 4)), ((3, 3), (3, 3), (3, 3)),
        ((3, 3, 3), (3, 3), (3, 3, 3)),
    ]  # fmt: skip
    for first, second, expected in cases:
        a, b = values(vx.float32, first, 13), values(vx.float32, second, 14)
        x = solve(a, b)
        assert x.shape == expected, (first, second)
        if x.size:
            columns = b[:, None] if b.ndim == 1 else b
            solution = x[..., None] if b.ndim == 1 else x
            stack = (*solution.shape[:-2],)
            check_solution(
                np.broadcast_to(a, (*stack, *a.shape[-2:])), solution,
                np.broadcast_to(columns, (*stack, *columns.shape[-2:])), vx.float32,
            )  # fmt: skip


def test_operands_are_left_as_they_were() -> None:
    a, b = values(vx.float32, (40, 40), 15), values(vx.float32, (40, 40), 16)
    device_a, device_b = vx.asarray(a), vx.asarray(b)
    vx.linalg.solve(device_a, device_b)
    for function in (vx.linalg.inv, vx.linalg.det, vx.linalg.slogdet):
        function(device_a)
    definite_b = vx.asarray(b @ b.T + np.eye(40, dtype=b.dtype))
    before = np.asarray(definite_b)
    vx.linalg.cholesky(definite_b)
    for device_array, host in ((device_a, a), (device_b, b), (definite_b, before)):
        np.testing.assert_array_equal(np.asarray(device_array), host)


@pytest.mark.parametrize("dtype", FACTORED, ids=str)
def test_singular_matrices(dtype) -> None:
    ones = np.ones((3, 3), host_dtype(dtype))
    zero_column = values(dtype, (50, 50), 17)
    zero_column[:, 40] = 0
    for a in (ones, zero_column, np.zeros((1, 1), ones.dtype)):
        with pytest.raises(vx.LinAlgError, match=r"^solve: the matrix is singular"):
            vx.linalg.solve(vx.asarray(a), vx.asarray(a[:, 0]))
        with pytest.raises(vx.LinAlgError, match=r"^inv: the matrix is singular"):
            vx.linalg.inv(vx.asarray(a))
        determinant = np.asarray(vx.linalg.det(vx.asarray(a)))
        assert determinant == 0
        assert not np.signbit(determinant.real)
        sign, logarithm = vx.linalg.slogdet(vx.asarray(a))
        assert np.asarray(sign) == 0
        assert np.asarray(logarithm) == -np.inf
    stack = np.stack([np.eye(3, dtype=ones.dtype)] * 6).reshape(2, 3, 3, 3)
    stack[1, 2] = ones
    with pytest.raises(vx.LinAlgError, match=r"matrix \(1, 2\) of the stack is singular: the pivot of column 2"):
        vx.linalg.inv(vx.asarray(stack))


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_nan_goes_on_into_the_result(dtype) -> None:
    a = values(dtype, (40, 40), 18)
    a[3, 5] = np.nan
    assert np.isnan(solve(a, a[:, 0])).any()
    assert np.isnan(np.asarray(vx.linalg.det(vx.asarray(a))))
    assert np.isnan(np.asarray(vx.linalg.cholesky(vx.asarray(np.full((3, 3), np.nan, a.dtype)))))[np.tri(3) > 0].all()


def test_subnormal_pivots_are_not_zero() -> None:
    if flushes_subnormals(vx.float32):
        return  # there they are zeros
    tiny = np.array([[1e-42, 0], [0, 1]], np.float32)
    np.testing.assert_allclose(solve(tiny, np.array([1e-42, 1], np.float32)), [1, 1], rtol=1e-6)


@pytest.mark.usefixtures("numpy_types")
def test_integers_are_solved_in_float64(device) -> None:
    a, b = np.array([[2, 1], [1, 3]]), np.array([3, 5])
    for dtype in (vx.int32, vx.bool):
        x = vx.linalg.solve(vx.asarray(a, dtype=vx.int32), vx.asarray(b, dtype=dtype))
        assert x.dtype is available(vx.float64, device)
        expected = np.linalg.solve(a, b.astype(bool) if dtype is vx.bool else b)
        tolerance = 4 * vx.finfo(x.dtype).eps
        np.testing.assert_allclose(np.asarray(x), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("second", [vx.complex64, vx.int8], ids=str)
def test_types_are_promoted(second, device) -> None:
    x = vx.linalg.solve(vx.eye(3), vx.ones(3, dtype=second))
    assert x.dtype is (vx.complex64 if second is vx.complex64 else available(vx.float64, device))
    np.testing.assert_array_equal(np.asarray(x), np.ones(3))


def test_errors() -> None:
    square, wide = vx.ones((3, 3)), vx.ones((2, 3))
    for name in ("inv", "det", "slogdet", "cholesky"):
        function = getattr(vx.linalg, name)
        with pytest.raises(ValueError, match=f"^{name}: expected square matrices"):
            function(wide)
        with pytest.raises(ValueError, match=f"^{name}: expected a matrix"):
            function(vx.ones(3))
        with pytest.raises(TypeError, match=f"^{name}: expected"):
            function(np.ones((3, 3)))
        with pytest.raises(TypeError, match=f"^{name}: float16 is too short"):
            function(vx.ones((3, 3), dtype=vx.float16))
    with pytest.raises(ValueError, match=r"^solve: expected square matrices"):
        vx.linalg.solve(wide, wide)
    with pytest.raises(
        ValueError, match=r"^solve: shapes .* do not match: the matrices have 3 rows, the right-hand sides \d+\."
    ):
        vx.linalg.solve(square, vx.ones(4))
    with pytest.raises(ValueError, match=r"^solve: shapes .* could not be broadcast"):
        vx.linalg.solve(vx.ones((2, 3, 3)), vx.ones((3, 3, 1)))
    with pytest.raises(ValueError, match=r"^solve: .*got shape"):
        vx.linalg.solve(square, vx.asarray(1.0))
    with pytest.raises(vx.LinAlgError, match=r"^solve: .*got shape"):
        vx.linalg.solve(square, 2.0)
    with pytest.raises(ValueError, match=r"^solve: shapes .* do not match"):
        vx.linalg.solve(square, [1.0])


# -- determinants -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FACTORED, ids=str)
def test_determinants(dtype) -> None:
    eps = vx.finfo(dtype).eps
    for shape in [(0, 0), (2, 0, 0), (0, 3, 3), *((n, n) for n in (1, 2, 3, 31, 33)), *STACKS]:
        # Well conditioned, or the determinant itself would be: its relative error is at most the condition number times
        # that of the elements, for each of n columns.
        a = values(dtype, shape, 19) / 4 + 2 * np.eye(shape[-1], dtype=host_dtype(dtype)) * max(1, shape[-1] ** 0.5) / 2
        a = a.astype(host_dtype(dtype))
        n = shape[-1]
        condition = np.linalg.cond(a.astype(np.complex128)) if a.size else np.ones(shape[:-2])
        bound = 10 * max(n, 1) ** 1.5 * eps * condition
        wide = np.complex128 if dtype.category == "complex floating" else np.float64
        expected_sign, expected_logarithm = np.linalg.slogdet(a.astype(wide))
        got = np.asarray(vx.linalg.det(vx.asarray(a)))
        sign, logarithm = vx.linalg.slogdet(vx.asarray(a))
        assert (got.shape, sign.shape, logarithm.shape) == (shape[:-2],) * 3
        assert got.dtype == a.dtype == np.asarray(sign).dtype
        assert logarithm.dtype is REAL_OF.get(dtype, dtype)
        assert np.all(np.abs(np.asarray(sign) - expected_sign) <= bound)
        assert np.all(np.abs(np.asarray(logarithm) - expected_logarithm) <= bound + eps * np.abs(expected_logarithm))
        with np.errstate(over="ignore"):
            expected = np.linalg.det(a.astype(wide))
            inside = np.abs(expected) < 1e37
            assert np.all(np.abs(got - expected)[inside] <= (bound * np.abs(expected))[inside])


def test_determinants_do_not_overflow_on_the_way() -> None:
    scales = np.array([1e30, 1e30, 1e30, 1e-30, 1e-30, -1e-30], np.float32)
    expected = np.prod(scales.astype(np.float64))
    for order in (scales, scales[::-1]):
        got = float(vx.linalg.det(vx.asarray(np.diag(order))))
        assert abs(got - expected) <= 6 * vx.finfo(vx.float32).eps
    huge = vx.asarray(np.diag(np.full(100, 1e30, np.float32)))
    assert float(vx.linalg.det(huge)) == np.inf
    assert float(vx.linalg.det(-huge[:99, :99])) == -np.inf
    assert float(vx.linalg.det(1 / huge[:1, :1])) == pytest.approx(1e-30)
    sign, logarithm = vx.linalg.slogdet(-huge[:99, :99])
    assert (float(sign), float(logarithm)) == (-1, pytest.approx(99 * math.log(1e30), rel=1e-6))


def test_permutations_have_exact_determinants() -> None:
    generator = np.random.default_rng(20)
    orders = [generator.permutation(37) for _ in range(8)]
    stack = np.stack([np.eye(37, dtype=np.float32)[order] for order in orders])
    np.testing.assert_array_equal(np.asarray(vx.linalg.det(vx.asarray(stack))), np.round(np.linalg.det(stack)))


def test_slogdet_names_its_results() -> None:
    result = vx.linalg.slogdet(vx.eye(2))
    assert result._fields == ("sign", "logabsdet")
    assert float(result.sign) == 1
    assert float(result.logabsdet) == 0


# -- cholesky ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FACTORED, ids=str)
def test_cholesky_factors_of_all_sizes(dtype) -> None:
    for n in SIZES:
        a = definite(dtype, (n, n), n)
        lower, upper = (np.asarray(vx.linalg.cholesky(vx.asarray(a), upper=upper)) for upper in (False, True))
        assert lower.dtype == a.dtype == upper.dtype
        check_factor(a, lower, dtype)
        check_factor(a, upper.conj().T, dtype)


def test_a_large_cholesky_factor() -> None:
    a = definite(vx.float32, (1024, 1024))
    check_factor(a, np.asarray(vx.linalg.cholesky(vx.asarray(a))), vx.float32)


@pytest.mark.parametrize("dtype", FACTORED, ids=str)
def test_cholesky_of_stacks_and_hard_matrices(dtype) -> None:
    for shape in STACKS:
        a = definite(dtype, shape, 21)
        check_factor(a, np.asarray(vx.linalg.cholesky(vx.asarray(a))), dtype)
    n = 70
    basis = orthogonal(dtype, n, 22)
    # The factorisation runs to its end while the condition number is below about 1 / (n eps).
    ill = (basis * np.logspace(0, math.log10(vx.finfo(dtype).eps * n * 10), n)) @ basis.conj().T
    ill = (ill + ill.conj().T) / 2
    grades = np.logspace(-8, 8, n)
    graded = grades[:, None] * definite(dtype, (n, n), 23) * grades
    for a in (ill, graded, definite(dtype, (n, n), 24) * 1e-30, definite(dtype, (n, n), 25) * 1e30):
        a = a.astype(host_dtype(dtype))
        check_factor(a, np.asarray(vx.linalg.cholesky(vx.asarray(a))), dtype)


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_cholesky_reads_one_triangle_of_any_layout(dtype) -> None:
    a = definite(dtype, (3, 70, 70), 26)
    junk = np.full((70, 70), np.nan, a.dtype)
    for upper in (False, True):
        stored = np.where((np.tri(70) > 0) ^ upper | np.eye(70, dtype=bool), a, junk)
        padded = np.full((3, 72, 75), np.nan, a.dtype)
        padded[:, 1:71, 2:72] = stored
        views = [vx.asarray(padded)[:, 1:71, 2:72], vx.asarray(padded.swapaxes(-1, -2).copy()).mT[::-1, 1:71, 2:72]]
        for view, expected in zip(views, (a, a[::-1]), strict=True):
            factor = np.asarray(vx.linalg.cholesky(view, upper=upper))
            check_factor(expected, factor.conj().swapaxes(-1, -2) if upper else factor, dtype)
    one = vx.broadcast_to(vx.asarray(a[0]), (2, 70, 70))
    check_factor(a[:1], np.asarray(vx.linalg.cholesky(one)), dtype)


@pytest.mark.parametrize("dtype", FACTORED, ids=str)
def test_matrices_that_are_not_positive_definite(dtype) -> None:
    for n, place in ((1, 0), (4, 2), (70, 66)):
        for value in (-1, 0):
            a = np.eye(n, dtype=host_dtype(dtype))
            a[place, place] = value
            with pytest.raises(
                vx.LinAlgError, match=f"^cholesky: the matrix is not positive definite: .* order {place + 1} "
            ):
                vx.linalg.cholesky(vx.asarray(a))
            stack = np.stack([np.eye(n, dtype=a.dtype), a])
            with pytest.raises(vx.LinAlgError, match=r"^cholesky: matrix \(1,\) of the stack is not"):
                vx.linalg.cholesky(vx.asarray(stack))


def test_cholesky_of_nothing() -> None:
    for shape in [(0, 0), (3, 0, 0), (0, 4, 4)]:
        for upper in (False, True):
            assert vx.linalg.cholesky(vx.zeros(shape), upper=upper).shape == shape


# -- dispatches -------------------------------------------------------------------------------------------------------


CALLS = {
    "solve": lambda x: vx.linalg.solve(x, x), "inv": vx.linalg.inv, "det": vx.linalg.det, "slogdet": vx.linalg.slogdet,
    "cholesky": vx.linalg.cholesky,
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_dispatches_do_not_grow_with_the_stack(name, device, monkeypatch) -> None:
    dispatches = []
    original = device.dispatch
    monkeypatch.setattr(device, "dispatch", lambda *arguments: dispatches.append(1) or original(*arguments))
    counts = []
    for batch in (2, 50):
        x = vx.asarray(definite(vx.float32, (batch, 40, 40)))
        dispatches.clear()
        CALLS[name](x)
        counts.append(len(dispatches))
    assert counts[0] == counts[1] > 0


def test_stacks_are_cut_where_32_bit_indices_end(monkeypatch) -> None:
    a = definite(vx.float32, (9, 40, 40), 27)
    device_a = vx.asarray(a)
    monkeypatch.setattr(layout, "INDEX_LIMIT", 1000)  # of 16 bytes
    check_solution(a, np.asarray(vx.linalg.solve(device_a, device_a)), a, vx.float32)
    check_factor(a, np.asarray(vx.linalg.cholesky(device_a)), vx.float32)
    logarithms = np.linalg.slogdet(a.astype(np.float64))[1]
    np.testing.assert_allclose(np.asarray(vx.linalg.slogdet(device_a).logabsdet), logarithms, rtol=1e-4)
    with pytest.raises(ValueError, match=r"^inv: expected matrices of at most 4000 elements"):
        vx.linalg.inv(vx.ones((64, 64)))
    with pytest.raises(ValueError, match=r"^solve: the right-hand sides of one matrix have 3 x 1500 elements"):
        vx.linalg.solve(vx.eye(3), vx.ones((500, 3, 3)))


def test_panels_keep_their_loops_short(device) -> None:
    for n in (1, 40, 1024, 10_000, 46_000):
        width, rows = lu._width(n, device), -(-n // lu._workgroup_size(n, device))
        assert 1 <= width <= lu._PANEL
        assert rows * width * width / 2 < 65_535  # turns, after which llvmpipe leaves a shader's loops


def test_the_archive_has_every_shader_that_is_used(device, monkeypatch) -> None:
    known = {variant for family in catalogue.FAMILIES for variant in family(device)}
    used = set()
    original = launch.kernel

    def recorded(variant, *arguments, **named):
        used.add(variant)
        return original(variant, *arguments, **named)

    monkeypatch.setattr(launch, "kernel", recorded)
    for dtype in FACTORED:
        x = vx.asarray(definite(dtype, (2, 40, 40)))
        for call in CALLS.values():
            call(x)
        vx.linalg.vector_norm(x)
        vx.linalg.matrix_norm(x, ord=1)
    labels = {variant.label for variant in used}
    assert {f"linalg/{name} {dtype}" for name in ("lu_panel", "cholesky", "triangular") for dtype in FACTORED} <= labels
    assert used <= known
