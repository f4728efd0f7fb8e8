"""The forms that NumPy's functions of linear algebra take, and those that the standard lacks."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from compared import check, compare, on_device, values
from reference import supported

import vkarray as vx

TYPES = [str(one) for one in supported([vx.float32, vx.float64, vx.complex64, vx.complex128, vx.int32])]
ORDERS = (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf, 0, 3, "other")


@pytest.mark.parametrize("dtype", TYPES)
def test_norms(dtype: str) -> None:
    x = values(dtype, (4, 3))
    for order in ORDERS:
        check(vx.linalg.norm, np.linalg.norm, x, order, tolerance=1e-5)
        check(vx.linalg.norm, np.linalg.norm, x[0], order, tolerance=1e-5)
        check(vx.linalg.norm, np.linalg.norm, x, order, 1, True, tolerance=1e-5)
    stack = values(dtype, (2, 3, 4))
    check(vx.linalg.norm, np.linalg.norm, stack)
    check(vx.linalg.norm, np.linalg.norm, stack, "fro", (2, 0), keepdims=True)
    check(vx.linalg.norm, np.linalg.norm, stack, 2)
    check(vx.linalg.norm, np.linalg.norm, x.tolist())


@pytest.mark.parametrize("dtype", TYPES)
def test_least_squares(dtype: str) -> None:
    tall, wide, sides = values(dtype, (6, 3)), values(dtype, (3, 6), seed=1), values(dtype, (6, 2), seed=2)
    deficient = tall.copy()
    deficient[:, 2] = deficient[:, 0]
    for a, b in (
        (tall, sides),
        (tall, sides[:, 0]),
        (wide, sides[:3]),
        (deficient, sides),
        (tall, sides[:4]),
        (tall[0], sides),
    ):
        for rcond in (None, -1, 0.3):
            if a is deficient and rcond == -1:
                continue  # singular values that are rounding errors count
            check(vx.linalg.lstsq, np.linalg.lstsq, a, b, rcond, tolerance=2e-4)
    check(vx.linalg.lstsq, np.linalg.lstsq, [[1, 2], [3, 4], [5, 6.0]], [1, 2, 4.0], tolerance=2e-4)


@pytest.mark.parametrize("dtype", TYPES)
def test_condition_numbers_and_tensors(dtype: str) -> None:
    x = values(dtype, (2, 3, 3))
    for order in (None, 1, -1, 2, -2, np.inf, -np.inf, "fro"):
        check(vx.linalg.cond, np.linalg.cond, x, order, tolerance=1e-3)
    check(vx.linalg.cond, np.linalg.cond, np.ones((2, 2), dtype), 1)
    check(vx.linalg.cond, np.linalg.cond, np.ones((0, 2), dtype))
    a = values(dtype, (2, 3, 6), seed=3)
    check(vx.linalg.tensorsolve, np.linalg.tensorsolve, a, values(dtype, (2, 3)), tolerance=1e-2)
    check(
        vx.linalg.tensorsolve, np.linalg.tensorsolve, a.transpose(2, 0, 1), values(dtype, (2, 3)), (0,), tolerance=1e-2
    )
    check(vx.linalg.tensorsolve, np.linalg.tensorsolve, a, values(dtype, (2, 2)))
    check(vx.linalg.tensorinv, np.linalg.tensorinv, a, tolerance=1e-2)
    check(vx.linalg.tensorinv, np.linalg.tensorinv, a, 0)
    chain = [values(dtype, shape, seed=k) for k, shape in enumerate(((7,), (7, 2), (2, 9), (9, 3), (3,)))]
    for parts in (chain, chain[1:4], chain[:2], chain[:1], [chain[1], chain[0]]):
        check(vx.linalg.multi_dot, np.linalg.multi_dot, parts, tolerance=1e-4)


def signs_removed(parts):
    """Factors without the signs of vectors, which are free."""
    return [np.abs(np.asarray(part)) for part in parts]


def test_options_of_decompositions() -> None:
    with vx.config(default_float="float64"):
        a = values("float64", (4, 3))
        compare(vx.linalg.svd(on_device(a), compute_uv=False), np.linalg.svd(a, compute_uv=False), None, True, "svd")
        compare(
            signs_removed(vx.linalg.svd(a.tolist(), False)), signs_removed(np.linalg.svd(a, False)), None, True, "svd"
        )
        for mode in ("reduced", "complete", "r"):
            expected, found = np.linalg.qr(a, mode), vx.linalg.qr(on_device(a), mode)
            pairs = ((found,), (expected,)) if mode == "r" else (found[1:], expected[1:])
            compare(*map(signs_removed, pairs), None, True, mode)
        compare(vx.linalg.qr(on_device(a), "raw"), np.linalg.qr(a, "raw"), None, True, "raw")
        square = values("complex128", (3, 3))
        for triangle in "LUlu":
            compare(
                vx.linalg.eigvalsh(on_device(square), triangle),
                np.linalg.eigvalsh(square, triangle),
                None,
                True,
                triangle,
            )
            found = vx.linalg.eigh(on_device(square), UPLO=triangle)
            compare(found[0], np.linalg.eigh(square, triangle)[0], None, True, triangle)
        check(vx.linalg.eigvalsh, np.linalg.eigvalsh, square, "x")
        for options in ({}, {"tol": 3.0}, {"rtol": 0.5}, {"hermitian": True}, {"tol": 1.0, "rtol": 1.0}):
            check(vx.linalg.matrix_rank, np.linalg.matrix_rank, square @ square.conj().T, **options)
        for vector in (a[0], a[0] * 0, a[0, 0]):
            check(vx.linalg.matrix_rank, np.linalg.matrix_rank, vector)
        for options in ({}, {"rcond": 0.5}, {"rtol": 0.5}):
            check(vx.linalg.pinv, np.linalg.pinv, a, **options)


def test_eigenvalues_are_complex_in_both_default_types() -> None:
    for name in ("float32", "float64"):
        with vx.config(default_float=name):
            assert vx.linalg.eigvals([[2.0, 0], [0, 3]]).dtype.kind == "c", "the standard's results are complex"
            assert vx.linalg.eig([[2.0, 0], [0, 3]])[1].dtype.kind == "c"


def test_lists_and_shapes() -> None:
    a = [[2.0, 1], [1, 3]]
    for name in (
        "inv",
        "det",
        "slogdet",
        "cholesky",
        "pinv",
        "matrix_rank",
        "eigvalsh",
        "svdvals",
        "matrix_transpose",
        "trace",
    ):
        check(getattr(vx.linalg, name), getattr(np.linalg, name), a, tolerance=1e-5)
    check(vx.linalg.solve, np.linalg.solve, a, [1, 2])
    check(vx.linalg.matrix_power, np.linalg.matrix_power, a, 3)
    for name in ("inv", "det", "cholesky", "eigvals", "eigvalsh"):
        check(getattr(vx.linalg, name), getattr(np.linalg, name), [[1.0, 2, 3], [4, 5, 6]])
        check(getattr(vx.linalg, name), getattr(np.linalg, name), [1.0, 2])


def test_the_error_is_numpys_too() -> None:
    for name in (vx.linalg.LinAlgError, np.linalg.LinAlgError, ValueError, vx.errors.VkArrayError):
        with pytest.raises(name, match=r"^inv: the matrix is singular"):
            vx.linalg.inv([[1.0, 2], [2, 4]])
    error = pickle.loads(pickle.dumps(vx.linalg.LinAlgError("text")))
    assert isinstance(error, np.linalg.LinAlgError)
    assert error.args == ("text",)
    code = "import vkarray, sys; vkarray.linalg.LinAlgError('a'); assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
