"""Functions outside the registries of rows and reductions on a million elements, and 4,000 matrices: on many workgroups.

A line of the tables calls vkarray and NumPy alike. What moves or counts elements is compared exactly, sums of products
with float64 results within the bound of their method, and matrices by backward errors in units of n eps.
"""

from __future__ import annotations

import functools
import inspect
import types

import numpy as np
import pytest

import vkarray as vx
from vkarray.kernels.reductions import REDUCTIONS
from vkarray.kernels.rows import ROWS

ROWS_COUNT, COLUMNS_COUNT = 1013, 991  # of the matrices: no multiple of a workgroup or a tile
COUNT = ROWS_COUNT * COLUMNS_COUNT
EPS = 2.0**-23


@functools.cache
def host() -> types.SimpleNamespace:
    """The inputs; no number has more than 32 bits, so that every device takes them."""
    generator = np.random.default_rng(0)
    x = generator.standard_normal(COUNT).astype(np.float32)
    y = generator.standard_normal(COUNT).astype(np.float32)
    square = generator.standard_normal((4000, 8, 8)).astype(np.float32)
    return types.SimpleNamespace(
        x=x, y=y, factors=(1 + x * np.float32(0.01)).reshape(ROWS_COUNT, COLUMNS_COUNT),
        a=x.reshape(ROWS_COUNT, COLUMNS_COUNT), b=y.reshape(ROWS_COUNT, COLUMNS_COUNT),
        cube=x[: 100 * 100 * 100].reshape(100, 100, 100), mask=generator.random(COUNT) < 0.3,
        numbers=generator.integers(-(2**31), 2**31, COUNT, dtype=np.int32),
        few=generator.integers(0, 1000, COUNT, dtype=np.int32),
        places=generator.integers(-COUNT, COUNT, COUNT, dtype=np.int32),
        rows=generator.integers(0, ROWS_COUNT, (ROWS_COUNT, COLUMNS_COUNT), dtype=np.int32),
        sorted=np.sort(x), threes=x[: COUNT // 3 * 3].reshape(-1, 3), others=y[: COUNT // 3 * 3].reshape(-1, 3),
        square=square, definite=square @ square.mT + 8 * np.eye(8, dtype=np.float32), right=square[:, :, ::-1].copy(),
        symmetric=square + square.mT,
        z=(x + 1j * y).astype(np.complex64)[: 250 * 4000].reshape(250, 4000), real=x[: 250 * 4000].reshape(250, 4000),
        line=(x + 1j * y).astype(np.complex64)[: 1000 * 1000],
        half=(x + 1j * y).astype(np.complex64)[: 500 * 2001].reshape(500, 2001),
    )  # fmt: skip


@functools.cache
def device() -> types.SimpleNamespace:
    return types.SimpleNamespace(**{name: vx.asarray(value) for name, value in vars(host()).items()})


@functools.cache
def wide() -> types.SimpleNamespace:
    """The inputs in float64 and complex128."""
    wider = {np.dtype(np.float32): np.float64, np.dtype(np.complex64): np.complex128}
    return types.SimpleNamespace(
        **{name: value.astype(wider.get(value.dtype, value.dtype)) for name, value in vars(host()).items()}
    )


def parts(result) -> list[np.ndarray]:
    """One array, or the arrays of a tuple."""
    results = result if isinstance(result, (tuple, list)) else (result,)
    return [np.asarray(part) for part in results]


# The same bits as NumPy's. Each takes the library and the inputs.
EXACT = {
    "allclose": lambda xp, d: xp.asarray(xp.allclose(d.x, d.x + 1e-7)),
    "arange": lambda xp, d: xp.arange(-5, 3 * COUNT, 3, dtype=xp.int32),
    "argsort": lambda xp, d: xp.argsort(d.few, stable=True),
    "array_equal": lambda xp, d: xp.asarray([xp.array_equal(d.x, d.x), xp.array_equal(d.x, d.y)]),
    "asarray": lambda xp, d: xp.asarray(d.a.T, copy=True),
    "astype": lambda xp, d: xp.astype(d.numbers, xp.float32),
    "bincount": lambda xp, d: xp.bincount(d.few),
    "broadcast_arrays": lambda xp, d: xp.broadcast_arrays(d.a[:, :1], d.a[:1]),
    "broadcast_to": lambda xp, d: xp.broadcast_to(d.x[:COLUMNS_COUNT], (ROWS_COUNT, COLUMNS_COUNT)),
    "concat": lambda xp, d: xp.concat([d.a, d.b[:, ::-1], d.a[:, :7]], axis=1),
    "diff": lambda xp, d: xp.diff(d.numbers, n=2),
    "expand_dims": lambda xp, d: xp.expand_dims(d.a, axis=1),
    "eye": lambda xp, d: xp.eye(ROWS_COUNT, COLUMNS_COUNT, k=-3, dtype=xp.float32),
    "flip": lambda xp, d: xp.flip(d.cube, axis=(0, 2)),
    "from_dlpack": lambda xp, d: xp.from_dlpack(d.numbers),
    "full": lambda xp, d: xp.full((ROWS_COUNT, COLUMNS_COUNT), 7, dtype=xp.int32),
    "full_like": lambda xp, d: xp.full_like(d.a, -0.5),
    "histogram": lambda xp, d: xp.histogram(xp.astype(d.few, xp.float32), bins=64, range=(0, 1024))[0],
    "isclose": lambda xp, d: xp.isclose(d.x, d.y, rtol=0.25),
    "isin": lambda xp, d: xp.isin(d.few, d.few[:300]),
    "linspace": lambda xp, d: xp.linspace(0, COUNT - 1, COUNT, dtype=xp.float32),
    "matrix_transpose": lambda xp, d: xp.matrix_transpose(d.cube),
    "median": lambda xp, d: xp.median(d.a[:, :990], axis=0),  # of 1013 numbers: the middle one
    "meshgrid": lambda xp, d: xp.meshgrid(d.x[:COLUMNS_COUNT], d.y[:ROWS_COUNT]),
    "moveaxis": lambda xp, d: xp.moveaxis(d.cube, 0, 2),
    "nonzero": lambda xp, d: xp.nonzero(d.mask),
    "ones": lambda xp, d: xp.ones(COUNT, dtype=xp.float32),
    "ones_like": lambda xp, d: xp.ones_like(d.a),
    "pad": lambda xp, d: xp.pad(d.a, ((3, 5), (70, 2)), mode="reflect"),
    "permute_dims": lambda xp, d: xp.permute_dims(d.cube, (2, 0, 1)),
    "repeat": lambda xp, d: xp.repeat(d.few, 3),
    "reshape": lambda xp, d: xp.reshape(d.a.T, (COUNT,)),
    "roll": lambda xp, d: xp.roll(d.a, (5, -300), axis=(0, 1)),
    "searchsorted": lambda xp, d: xp.searchsorted(d.sorted, d.y, side="right"),
    "sort": lambda xp, d: xp.sort(d.x),
    "squeeze": lambda xp, d: xp.squeeze(xp.expand_dims(d.a, axis=0), axis=0),
    "stack": lambda xp, d: xp.stack([d.a, d.b, d.a], axis=1),
    "take": lambda xp, d: xp.take(d.x, d.places),
    "take_along_axis": lambda xp, d: xp.take_along_axis(d.a, d.rows, axis=0),
    "tile": lambda xp, d: xp.tile(d.a, (2, 3)),
    "tril": lambda xp, d: xp.tril(d.a, k=4),
    "triu": lambda xp, d: xp.triu(d.a, k=-4),
    "unique_all": lambda xp, d: xp.unique_all(d.few),
    "unique_counts": lambda xp, d: xp.unique_counts(d.few),
    "unique_inverse": lambda xp, d: xp.unique_inverse(d.few),
    "unique_values": lambda xp, d: xp.sort(xp.unique_values(d.numbers)),  # NumPy's come in no order
    "unstack": lambda xp, d: xp.unstack(d.a[:20], axis=0),
    "where": lambda xp, d: xp.where(d.mask, d.x, d.y),
    "zeros": lambda xp, d: xp.zeros((ROWS_COUNT, COLUMNS_COUNT), dtype=xp.float32),
    "zeros_like": lambda xp, d: xp.zeros_like(d.a),
    "linalg.diagonal": lambda xp, d: xp.linalg.diagonal(d.square, offset=1),
    "linalg.matrix_transpose": lambda xp, d: xp.linalg.matrix_transpose(d.cube),
    "fft.fftshift": lambda xp, d: xp.fft.fftshift(d.a),
    "fft.ifftshift": lambda xp, d: xp.fft.ifftshift(d.a),
}  # fmt: skip

# Sums of products or of rounded terms: as float64 has them, within `units` of eps times the sum of the magnitudes.
SUMS = {
    "cumulative_prod": (COLUMNS_COUNT, lambda xp, d: xp.cumulative_prod(d.factors, axis=1)),
    "cumulative_sum": (60, lambda xp, d: xp.cumulative_sum(abs(d.x))),
    "dot": (COLUMNS_COUNT, lambda xp, d: xp.dot(abs(d.a), abs(d.b.T[:, :50]))),
    "einsum": (COLUMNS_COUNT, lambda xp, d: xp.einsum("ij,kj->ik", abs(d.a), abs(d.b[:50]))),
    "matmul": (COLUMNS_COUNT, lambda xp, d: abs(d.a) @ abs(d.b[:50].T)),
    "tensordot": (COLUMNS_COUNT, lambda xp, d: xp.tensordot(abs(d.a), abs(d.b[:50]), axes=((1,), (1,)))),
    "vecdot": (COLUMNS_COUNT, lambda xp, d: xp.vecdot(abs(d.a), abs(d.b))),
    "quantile": (2, lambda xp, d: xp.quantile(abs(d.a), 0.3, axis=1)),
    "percentile": (2, lambda xp, d: xp.percentile(abs(d.a), 80.0, axis=0)),
    "linalg.cross": (4, lambda xp, d: 50 + xp.linalg.cross(d.threes, d.others)),
    "linalg.matmul": (COLUMNS_COUNT, lambda xp, d: xp.linalg.matmul(abs(d.a), abs(d.b[:50].T))),
    "linalg.matrix_norm": (10, lambda xp, d: xp.linalg.matrix_norm(d.cube)),
    "linalg.matrix_power": (16, lambda xp, d: xp.linalg.matrix_power(abs(d.square), 2)),
    "linalg.outer": (1, lambda xp, d: xp.linalg.outer(d.x[:1009], d.y[:1013])),
    "linalg.tensordot": (COLUMNS_COUNT, lambda xp, d: xp.linalg.tensordot(abs(d.a), abs(d.b[:50]).T, axes=1)),
    "linalg.trace": (8, lambda xp, d: xp.linalg.trace(abs(d.square))),
    "linalg.vecdot": (COLUMNS_COUNT, lambda xp, d: xp.linalg.vecdot(abs(d.a), abs(d.b), axis=-2)),
    "linalg.vector_norm": (32, lambda xp, d: xp.linalg.vector_norm(d.x)),
    "fft.fftfreq": (2, lambda xp, d: xp.fft.fftfreq(COUNT, d=0.25)),
    "fft.rfftfreq": (2, lambda xp, d: xp.fft.rfftfreq(2 * COUNT, d=0.25)),
}  # fmt: skip

# Transforms: the error beside the greatest modulus, in eps log2(n).
TRANSFORMS = {
    "fft.fft": lambda xp, d: xp.fft.fft(d.line),
    "fft.ifft": lambda xp, d: xp.fft.ifft(d.z),
    "fft.fftn": lambda xp, d: xp.fft.fftn(d.z),
    "fft.ifftn": lambda xp, d: xp.fft.ifftn(d.z),
    "fft.rfft": lambda xp, d: xp.fft.rfft(d.real),
    "fft.irfft": lambda xp, d: xp.fft.irfft(d.half),
    "fft.rfftn": lambda xp, d: xp.fft.rfftn(d.real),
    "fft.irfftn": lambda xp, d: xp.fft.irfftn(d.half),
    "fft.hfft": lambda xp, d: xp.fft.hfft(d.half),
    "fft.ihfft": lambda xp, d: xp.fft.ihfft(d.real),
}


def transposed(x: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(x, -1, -2))


def diagonals(x: np.ndarray) -> np.ndarray:
    return x[..., None] * np.eye(x.shape[-1])


def symmetric_parts(a, values, vectors):
    return vectors @ diagonals(values) @ transposed(vectors) - a


# Stacks of 4,000 matrices of order 8: what has to vanish, beside which size. Each takes the result in float64.
MATRICES = {
    "linalg.cholesky": ("definite", lambda a, lower: lower @ transposed(lower) - a),
    "linalg.eig": ("square", lambda a, values, vectors: a @ vectors - vectors * values[:, None, :]),
    "linalg.eigh": ("symmetric", symmetric_parts),
    "linalg.eigvalsh": ("symmetric", lambda a, values: values - np.linalg.eigvalsh(a)),
    "linalg.qr": ("square", lambda a, q, r: q @ r - a),
    "linalg.svd": ("square", lambda a, u, s, v: u @ diagonals(s) @ v - a),
    "linalg.svdvals": ("square", lambda a, s: s - np.linalg.svd(a, compute_uv=False)),
    "linalg.inv": ("definite", lambda a, inverse: (a @ inverse - np.eye(8)) / np.linalg.norm(inverse, axis=(1, 2), keepdims=True)),
    "linalg.pinv": ("definite", lambda a, inverse: (a @ inverse - np.eye(8)) / np.linalg.norm(inverse, axis=(1, 2), keepdims=True)),
}  # fmt: skip

# What has no values to compare, or has them compared elsewhere at this size.
ELSEWHERE = {
    "broadcast_shapes": "of shapes", "cache_stats": "of the cache", "show_config": "of the device",
    "can_cast": "of types", "check_api_version": "of a version",
    "config": "of settings", "empty": "has no values", "empty_like": "has no values", "finfo": "of types",
    "iinfo": "of types", "isdtype": "of types", "result_type": "of types", "min_scalar_type": "of types", "promote_types":
    "of types", "set_default_dtype": "of types", "array": "as asarray",
    "get_default_dtype": "of types", "kernel": "tests/test_user_kernel.py",
    "load": "tests/test_files.py: bytes of files", "save": "tests/test_files.py: bytes of files",
    "load_program": "tests/test_program.py: bytes of files", "profile": "tests/test_profile_trace.py: what a block of code does",
    "savez": "tests/test_files.py: bytes of files",
    "linalg.det": "below", "linalg.slogdet": "below", "linalg.solve": "below", "linalg.eigvals": "below",
    "linalg.matrix_rank": "below", "compile": "below", "array_equiv": "as array_equal", "einsum_path": "of the order of products",
    "histogram_bin_edges": "of the edges of histogram", "histogramdd": "as histogram", "histogram2d": "as histogram",
    "nanmedian": "as quantile", "nanquantile": "as quantile", "nanpercentile": "as quantile",
    **dict.fromkeys(("fft.fft2", "fft.ifft2", "fft.rfft2", "fft.irfft2"), "as those along several axes"),
    **dict.fromkeys(("linalg.norm", "linalg.cond", "linalg.lstsq"), "in terms of functions above"),
    **dict.fromkeys(("linalg.multi_dot", "linalg.tensorsolve", "linalg.tensorinv"), "in terms of functions above"),
}  # fmt: skip


# Modules of `ops/beyond` with kernels of their own; the others are written in terms of functions that are compared here.
COMPARED = (".closeness", ".einsum", ".histogram", ".pad", ".quantile")


def functions() -> set[str]:
    """The public functions of the namespace and of its extensions that no registry has, each by its first name."""
    found = set()
    for prefix, namespace in (("", vx), ("linalg.", vx.linalg), ("fft.", vx.fft)):
        for name in dir(namespace):
            value = getattr(namespace, name)
            if (
                name.startswith("_")
                or not isinstance(value, types.FunctionType)
                or value.__name__ in {*ROWS, *REDUCTIONS}
            ):
                continue
            module = inspect.unwrap(value).__module__
            if module.startswith("vkarray.io."):  # text, files and questions of memory
                continue
            if value.__name__ == name and (not module.startswith("vkarray.ops.beyond.") or module.endswith(COMPARED)):
                found.add(prefix + name)
    return found


def test_no_function_is_forgotten() -> None:
    tables = [EXACT, SUMS, TRANSFORMS, MATRICES, ELSEWHERE]
    covered = {name for table in tables for name in table}
    assert functions() <= covered, "these functions are not compared at a million elements"
    assert len(covered) == sum(len(table) for table in tables), "a function stands in two tables"


def test_compiled_functions() -> None:
    """Fused kernels, flat and strided, and reductions that compute what they read: the same bits as one by one."""

    def function(a, b):
        powers = vx.exp(a - vx.max(a, axis=1, keepdims=True))
        edges = a[:, 1:] * b[:, :-1] + a.T.T[:, :-1]
        return powers / vx.sum(powers, axis=1, keepdims=True), edges, vx.sum(a * b + 1), vx.argmax(a - b, axis=0)

    got, expected = vx.compile(function)(device().a, device().b), function(device().a, device().b)
    for place, (one, other) in enumerate(zip(got, expected, strict=True)):
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other), err_msg=f"result {place}")


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name) -> None:
    """All elements, rows and columns: exact for those that choose or count, else within 64 eps of the magnitudes."""
    function = getattr(vx, name)
    for values, on_device in ((host().a, device().a), (host().a > -3, device().a > -3)):
        if name not in ("all", "any", "count_nonzero") and values.dtype == bool:
            continue
        if name == "prod":
            values, on_device = 1 + values * np.float32(1e-3), None
            on_device = vx.asarray(values)
        for axis in (None, 0, 1):
            got = np.asarray(function(on_device, axis=axis))
            expected = getattr(np, name)(values.astype(np.float64) if values.dtype != bool else values, axis=axis)
            if name in ("sum", "prod", "mean", "var", "std"):
                size = np.abs(values).astype(np.float64)
                scale = {"sum": size.sum(axis), "mean": size.mean(axis)}.get(name, np.abs(expected))
                units = 4 * ROWS_COUNT if name == "prod" and axis is not None else 4 * COUNT if name == "prod" else 64
                assert np.all(np.abs(got - expected) <= units * EPS / 2 * scale), f"{name} over axis {axis}"
            else:
                np.testing.assert_array_equal(got, expected, err_msg=f"{name} over axis {axis}")


@pytest.mark.parametrize("name", EXACT)
def test_values_that_move_or_count(name) -> None:
    got, expected = parts(EXACT[name](vx, device())), parts(EXACT[name](np, host()))
    assert len(got) == len(expected)
    for ours, theirs in zip(got, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", SUMS)
def test_sums_of_products(name) -> None:
    units, call = SUMS[name]
    got, expected = np.asarray(call(vx, device())), call(np, wide())
    assert got.dtype in (np.float32, np.complex64)
    assert got.shape == expected.shape
    assert np.max(np.abs(got - expected) / np.maximum(np.abs(expected), 1e-30)) <= units * EPS / 2


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name) -> None:
    got, expected = np.asarray(TRANSFORMS[name](vx, device())), TRANSFORMS[name](np, wide())
    assert got.shape == expected.shape
    # Root mean squares: the largest error of a million exceeds the bound of one by a few times.
    error = np.sqrt(np.mean(np.abs(got - expected) ** 2) / np.mean(np.abs(expected) ** 2))
    assert error <= EPS * np.log2(expected.size)


@pytest.mark.parametrize("name", MATRICES)
def test_stacks_of_matrices(name) -> None:
    which, residual = MATRICES[name]
    a = getattr(wide(), which)
    call = getattr(vx.linalg, name.removeprefix("linalg."))
    results = [part.astype(np.result_type(part.dtype, np.float64)) for part in parts(call(getattr(device(), which)))]
    rest = residual(a, *results)
    norms = np.linalg.norm(a, axis=(1, 2))
    assert np.all(np.linalg.norm(rest.reshape(len(a), -1), axis=1) <= 10 * 8 * EPS * norms)


def test_stacks_of_systems() -> None:
    a, b = wide().square, wide().right
    x = np.asarray(vx.linalg.solve(device().square, device().right)).astype(np.float64)
    sizes = np.linalg.norm(a, axis=(1, 2)) * np.linalg.norm(x, axis=(1, 2))
    assert np.all(np.linalg.norm(a @ x - b, axis=(1, 2)) <= 10 * 8 * EPS * sizes)


def test_determinants_and_ranks() -> None:
    # Within what a backward error of 10 n eps does to them: |det| changes by at most that times prod |a_i| (Hadamard).
    a, on_device = wide().definite, device().definite
    expected = np.linalg.det(a)
    room = 10 * 8 * EPS * np.prod(np.linalg.norm(a, axis=2), axis=1)
    assert np.all(np.abs(np.asarray(vx.linalg.det(on_device)) - expected) <= room)
    sign, logarithm = (np.asarray(part) for part in vx.linalg.slogdet(on_device))
    assert np.all(sign == 1)
    assert np.all(np.abs(logarithm - np.log(expected)) <= room / expected + 4 * EPS * np.abs(np.log(expected)))
    assert np.all(np.asarray(vx.linalg.matrix_rank(on_device)) == 8)


def test_eigenvalues_of_general_matrices() -> None:
    """Their sums are the traces, and their products the determinants, as far as a backward error of 10 n eps lets them."""
    a = wide().square
    values = np.asarray(vx.linalg.eigvals(device().square)).astype(np.complex128)
    room = 10 * 8 * EPS * np.linalg.norm(a, axis=(1, 2))
    assert np.all(np.abs(values.sum(axis=1) - np.trace(a, axis1=1, axis2=2)) <= np.sqrt(8) * room)
    assert np.all(
        np.abs(np.sum(values**2, axis=1) - np.trace(a @ a, axis1=1, axis2=2))
        <= 20 * room * np.linalg.norm(a, axis=(1, 2))
    )
