"""NumPy's statistics and numerical functions of samples."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from against_numpy import stand_in
from compared import COMPLEX, FLOATS, INTEGERS, LAYOUTS, check, on_device, values

import vkarray as vx
from vkarray.ops.beyond.quantile import _PLACES

ALL = [*FLOATS, *COMPLEX, *INTEGERS]
REAL = [*FLOATS, *INTEGERS]
AXES = (None, 0, -1, (0, 1))
WEIGHTS = np.random.default_rng(5).random((4, 5))


def with_nan(dtype: str) -> np.ndarray:
    x = values(dtype)
    if x.dtype.kind in "fc":
        x[1], x[2, 3], x[:, 4] = np.nan, np.nan, np.nan
    return x


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["nansum", "nanprod", "nanmean", "nanvar", "nanstd"])
def test_sums_without_nan(name: str, dtype: str) -> None:
    x = with_nan(dtype)
    limit = 2e-2 if dtype == "float16" else None
    for axis in AXES:
        for view in LAYOUTS.values():
            if isinstance(axis, tuple) and view(x).ndim < 2:
                continue
            check(getattr(vx, name), getattr(np, name), x, axis, view=view, tolerance=limit)
        check(getattr(vx, name), getattr(np, name), x, axis, keepdims=True, tolerance=limit)
    check(getattr(vx, name), getattr(np, name), x, 0, where=WEIGHTS > 0.3, tolerance=limit)
    if name in ("nanvar", "nanstd"):
        check(getattr(vx, name), getattr(np, name), x, 0, ddof=2, tolerance=limit)
    out = vx.zeros((5,), dtype=stand_in(np.dtype("complex128" if dtype in COMPLEX else "float64")))
    assert getattr(vx, name)(on_device(x), 0, out=out) is out


@pytest.mark.parametrize("dtype", REAL)
def test_extremes_without_nan(dtype: str) -> None:
    x = with_nan(dtype)
    for name in ("nanmax", "nanmin"):
        for axis in AXES:
            for view in LAYOUTS.values():
                if not isinstance(axis, tuple) or view(x).ndim == 2:
                    check(getattr(vx, name), getattr(np, name), x, axis, view=view)
        check(getattr(vx, name), getattr(np, name), x, 0, initial=1, where=WEIGHTS > 0.3)
        check(getattr(vx, name), getattr(np, name), x[:0])
    for name in ("nanargmax", "nanargmin"):
        for axis in (None, 0, 1):
            check(getattr(vx, name), getattr(np, name), x[[0, 2, 3], :4], axis)
            check(getattr(vx, name), getattr(np, name), x, axis, keepdims=True)
    for name in ("nancumsum", "nancumprod"):
        for axis in (None, 0, 1):
            check(getattr(vx, name), getattr(np, name), x, axis, tolerance=5e-2 if dtype == "float16" else None)


@pytest.mark.parametrize("dtype", [name for name in REAL if name != "bool"])
def test_quantiles(dtype: str) -> None:
    x = with_nan(dtype)
    limit = {"float16": 4e-3, "float32": 1e-5}.get(dtype)
    for method in _PLACES:
        for q in (0.3, [0.1, 0.77], np.array([[0.0, 1.0], [0.5, 0.25]])):
            for name, axis in (("quantile", None), ("nanquantile", None), ("quantile", 1), ("nanquantile", 0)):
                check(getattr(vx, name), getattr(np, name), x, q, axis, method=method, tolerance=limit)
    for view in LAYOUTS.values():
        for name in ("median", "nanmedian"):
            for axis in (None, 0, -1):
                check(getattr(vx, name), getattr(np, name), x, axis, view=view)
        check(vx.percentile, np.percentile, x, 20, view=view, tolerance=limit)
        check(vx.nanpercentile, np.nanpercentile, x, 30, view=view, keepdims=True, tolerance=limit)
    check(vx.percentile, np.percentile, x, [20, 30], 1, None, False, "higher", True)
    for name in ("quantile", "nanquantile"):
        for weights in (WEIGHTS, WEIGHTS[0]) if name == "quantile" else (WEIGHTS,):  # NumPy's takes none of the axis
            check(
                getattr(vx, name), getattr(np, name), x, [0.0, 0.2, 0.6, 1.0], 1, method="inverted_cdf", weights=weights
            )
        check(getattr(vx, name), getattr(np, name), x, 1.5)
        for method in ("linear", "lower"):
            check(getattr(vx, name), getattr(np, name), x, [], 1, method=method)
            check(getattr(vx, name), getattr(np, name), x > 0, [0.2, 0.7], 1, method=method)
        check(getattr(vx, name), getattr(np, name), x, 0.5, method="other")


@pytest.mark.parametrize("dtype", COMPLEX)
def test_medians_of_complex_numbers(dtype: str) -> None:
    x = with_nan(dtype)
    x[0, 2] = complex(1, np.nan)
    for name in ("median", "nanmedian"):
        for axis in (None, 0, -1):
            for view in LAYOUTS.values():
                check(getattr(vx, name), getattr(np, name), x, axis, view=view)


@pytest.mark.parametrize("dtype", ALL)
def test_averages(dtype: str) -> None:
    x = values(dtype)
    limit = 1e-2 if dtype == "float16" else None
    for axis in AXES:
        check(vx.average, np.average, x, axis, tolerance=limit)
        check(vx.average, np.average, x, axis, WEIGHTS, True)
        check(vx.average, np.average, x, axis, keepdims=True, tolerance=limit)
        check(vx.average, np.average, x, axis, np.arange(1, 6))
        if dtype not in COMPLEX:
            check(vx.ptp, np.ptp, x, axis)
            check(vx.ptp, np.ptp, x, axis, keepdims=True)
    for view in LAYOUTS.values():
        check(vx.average, np.average, x, view=view, tolerance=limit)
    check(vx.average, np.average, x, weights=np.zeros((4, 5)))
    check(vx.average, np.average, [1, 2, 3], weights=[3, 2, 1])


@pytest.mark.parametrize("dtype", ALL)
def test_covariances(dtype: str) -> None:
    x, counts = values(dtype), np.array([1, 3, 2, 1, 4])
    for options in (
        {}, {"rowvar": False}, {"bias": True}, {"ddof": 0}, {"fweights": counts}, {"aweights": WEIGHTS[0]},
        {"fweights": counts, "aweights": WEIGHTS[0]}, {"fweights": counts - 2}, {"aweights": WEIGHTS}, {"ddof": 0.5},
    ):  # fmt: skip
        check(vx.cov, np.cov, x, **options)
    # Infinity times a complex number is infinity or NaN, as NumPy's version and the processor have it.
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        for function, given in ((vx.cov, vx.asarray(x)), (np.cov, x)):
            assert not np.isfinite(np.asarray(function(given, ddof=6))).any()
    check(vx.cov, np.cov, x, x[::-1])
    for view in LAYOUTS.values():
        check(vx.cov, np.cov, x, view=view)
    for y in (x, x[0]):
        check(vx.corrcoef, np.corrcoef, y)
    check(vx.corrcoef, np.corrcoef, x, rowvar=False)


RULES = ("auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt")


@pytest.mark.parametrize("dtype", [name for name in REAL if name not in ("float16", "bool")])
def test_histograms(dtype: str) -> None:
    x, y, w = values(dtype, (200,)), values(dtype, (200,), seed=2), np.random.default_rng(1).random(200)
    cases = [
        {}, {"bins": 7}, {"bins": 5, "range": (-3, 4)}, {"bins": [0, 1, 3]}, {"bins": np.array([-5, 0, 0.5, 9])},
        {"density": True}, {"weights": w}, {"weights": w.astype("float32"), "density": True}, {"bins": "x"}, {"bins": 0},
        {"bins": [3, 1]}, {"range": (5, 1)}, {"bins": "auto", "range": (-2, 5)}, {"bins": 2.5}, {"weights": w[:3]},
        {"bins": "auto", "weights": w},
    ]  # fmt: skip
    for options in [*cases, *({"bins": rule} for rule in RULES)]:
        check(vx.histogram, np.histogram, x, tolerance=1e-5, **options)
        edges = {name: value for name, value in options.items() if name != "density"}
        check(vx.histogram_bin_edges, np.histogram_bin_edges, x, tolerance=1e-5, **edges)
    edges = [np.array([-1, 0, 1.0]), 5]
    for options in (
        {},
        {"bins": (3, 4)},
        {"bins": edges},
        {"bins": np.array([0, 1.0, 5, 6])},
        {"density": True},
        {"weights": w},
    ):
        check(vx.histogram2d, np.histogram2d, x, y, tolerance=1e-5, **options)
    for options in ({"bins": 3}, {"bins": (2, 3, 4)}, {"bins": 3, "density": True}, {"bins": (2, 3)}):
        check(vx.histogramdd, np.histogramdd, x[:198].reshape(66, 3), tolerance=1e-5, **options)


@pytest.mark.parametrize(("given", "kind"), [("float16", "float32"), ("float32", "float64")])
def test_histograms_in_a_range_of_a_wider_type(given: str, kind: str) -> None:
    if not {given, kind} <= {*FLOATS}:
        pytest.skip(f"the device has no {given} or no {kind}")
    limits = np.finfo(kind)
    for bounds in ([1 + limits.eps, 2], [0, 1 - limits.epsneg], [0, 1]):
        expected = np.histogram(np.ones(3, given), bins=1, range=np.array(bounds, kind))
        ends = vx.asarray(bounds, dtype=kind)
        for form in (ends, list(ends)):
            counts, edges = vx.histogram(vx.ones(3, dtype=given), bins=1, range=form)
            assert edges.dtype == expected[1].dtype
            np.testing.assert_array_equal(np.asarray(edges), expected[1])
            np.testing.assert_array_equal(np.asarray(counts), expected[0])


def test_occurrences() -> None:
    for arguments in (
        ([1, 2, 2, 5],), ([1, 2], [0.5, 2]), (np.array([1, 3], "uint8"), None, 7), ([-1],), (np.zeros(0, int), None, 3),
        ([[1]],), ([1, 2], np.ones(2, "float32")), ([1, 2], [1]), ([1], None, -1),
    ):  # fmt: skip
        check(vx.bincount, np.bincount, *arguments)


@pytest.mark.parametrize("dtype", [name for name in ALL if name not in ("bool", "uint8", "uint64")])
def test_derivatives_and_integrals(dtype: str) -> None:
    x = values(dtype)
    places = (np.arange(4.0) ** 2, np.arange(5.0) ** 1.5)
    for arguments, options in (
        ((), {}), ((), {"axis": 0}), ((), {"axis": (0,)}), ((2.0,), {"edge_order": 2}), (places, {}), (places[1:], {"axis": 1}),
        (places[1:], {"axis": 1, "edge_order": 2}), ((1.0, 2.0, 3.0), {}), ((), {"edge_order": 3}), ((2.0, 0.5), {}),
    ):  # fmt: skip
        check(vx.gradient, np.gradient, x, *arguments, **options)
    check(vx.gradient, np.gradient, x[:1])
    for view in LAYOUTS.values():
        if view(x).shape[0] > 1:
            check(vx.gradient, np.gradient, x, view=view)
        check(vx.trapezoid, np.trapezoid, x, view=view)
    check(vx.trapezoid, np.trapezoid, x, axis=0, dx=0.5)
    check(vx.trapezoid, np.trapezoid, x, places[1])
    check(vx.trapezoid, np.trapezoid, x, WEIGHTS, axis=0)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
def test_interpolation(dtype: str) -> None:
    generator = np.random.default_rng(0)
    x = generator.uniform(-2, 12, 50)
    x[:6] = [np.nan, np.inf, -np.inf, 0, 10, 5]
    x = (np.nan_to_num(x, posinf=9, neginf=-9) if dtype == "int32" else x).astype(dtype)
    xp = np.sort(generator.uniform(0, 10, 9))
    xp[[0, -1]] = 0, 10
    fp = generator.standard_normal(9)
    for points in (fp, fp + 1j * fp[::-1], fp.astype("float32"), np.where(np.arange(9) == 4, np.inf, fp)):
        check(vx.interp, np.interp, x, xp, points)
        check(vx.interp, np.interp, x, xp, points, -1, 99)
        check(vx.interp, np.interp, x[3:], xp, points, period=6)
    check(vx.interp, np.interp, x.reshape(5, 10), xp, fp, view=lambda x: x.T)
    for arguments in ((2.5, [1, 2, 3], [3, 2, 0]), ([2.5, 1], [1, 2, 3], [3, 2, 0], 4), (x, xp[:1], fp[:1]), ([1.0], [], []),
                      (x[:0], xp, fp), ([1.0], [1, 2], [1])):  # fmt: skip
        check(vx.interp, np.interp, *arguments)


def test_logarithmic_sequences() -> None:
    for arguments, options in (
        ((0, 3), {}), ((0, 3, 7, False, 2.0), {}), ((1, 3, 5), {"dtype": int}), ((np.array([0, 1.0]), 3, 5), {"axis": 1}),
        ((0, 3, 5), {"base": np.array([2.0, 3])}), ((0, 1, 0), {}), ((0, 1, -1), {}),
    ):  # fmt: skip
        check(vx.logspace, np.logspace, *arguments, **options)
    for arguments, options in (
        ((1, 1000), {}), ((1, 1000, 4), {}), ((-1000, -1, 4), {}), ((1, 0), {}),
        ((np.array([1, 2.0]), [10, 30.0], 4), {"axis": -1}), ((1, 1000, 3), {"endpoint": False}), ((1j, 1000j, 4), {}),
    ):  # fmt: skip
        check(vx.geomspace, np.geomspace, *arguments, **options)


@pytest.mark.needs("float64")  # NumPy's roundings in it make 7 of 8, 63 of 64 and 127 of 128
def test_logarithmic_sequences_of_integers() -> None:
    check(vx.geomspace, np.geomspace, 1, 256, 9, dtype=int)


@pytest.mark.parametrize("dtype", ALL)
def test_products(dtype: str) -> None:
    x, y = values(dtype), values(dtype, (3, 5), seed=1)
    for view in LAYOUTS.values():
        check(vx.inner, np.inner, x, x[0, : view(x).shape[-1]], view=view)
        check(vx.outer, np.outer, x, y, view=view)
        check(vx.kron, np.kron, x, y, view=view)
        if view(x).ndim == 2:
            check(vx.trace, np.trace, x, view=view, tolerance=1e-2 if dtype == "float16" else None)
    check(vx.trace, np.trace, x, 1, 1, 0)
    check(vx.vdot, np.vdot, x, x[::-1])
    check(vx.matvec, np.matvec, x, y[0])
    check(vx.vecmat, np.vecmat, x[:, 0], x)
    check(vx.kron, np.kron, x[0], y)
    for name in ("inner", "vdot", "matvec", "vecmat"):
        check(getattr(vx, name), getattr(np, name), x, y[:, :2])
    if dtype != "bool":
        for shape, options in (
            ((4, 3), {}),
            ((3, 4), {"axis": 0}),
            ((3, 2, 4), {"axisa": 0, "axisb": 0, "axisc": 0}),
        ):
            check(vx.cross, np.cross, values(dtype, shape), values(dtype, shape, seed=3), **options)
        # NumPy 2.5 takes no vectors of 2 elements, which stand for those whose third is 0.
        flat, wide = values(dtype, (4, 2)), values(dtype, (4, 3))
        filled = np.pad(flat, ((0, 0), (0, 1)))
        check(vx.cross, lambda a, b: np.cross(filled, b), flat, wide)
        check(vx.cross, lambda a, b: np.cross(a, filled), wide, flat)
        check(vx.cross, lambda a, b: np.cross(filled, filled[::-1])[:, 2], flat, flat[::-1])
        check(vx.cross, np.cross, values(dtype, (4, 4)), values(dtype, (4, 4)))
        check(vx.vander, np.vander, y[0])
        check(vx.vander, np.vander, y[0], 6, increasing=True)
        check(vx.vander, np.vander, y)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_sliding_sums(name: str, dtype: str) -> None:
    x, y = values(dtype, (11,)), values(dtype, (4,), seed=1)
    for mode in ("full", "same", "valid", "other"):
        for first, second in ((x, y), (y, x), (x, y[:1]), (x[:4], y), (x, x[:0])):
            check(getattr(vx, name), getattr(np, name), first, second, mode)
    check(getattr(vx, name), getattr(np, name), x, y, view=lambda x: x[::-2])


@pytest.mark.needs("float64", "complex128")
def test_sums_by_formula() -> None:
    a, b = values("float64"), values("float64", (5, 3), seed=1)
    for arguments, options in (
        (("ij,jk", a, b), {}), (("ij,jk->ki", a.tolist(), b.tolist()), {}), ((a, [0, 1], b, [1, 2], [0, 2]), {}),
        (("ij->i", a), {"dtype": stand_in(np.dtype("complex128"))}), (("ij->i", a), {"dtype": "float32"}),
        (("ij,jk", a, a), {}),
    ):  # fmt: skip
        check(vx.einsum, np.einsum, *arguments, **options)
    out = vx.zeros((4, 3), dtype=stand_in(a.dtype))
    assert vx.einsum("ij,jk", on_device(a), on_device(b), out=out) is out
    path, text = vx.einsum_path("ij,jk,kl->il", on_device(a), on_device(b), on_device(b.T))
    assert path == np.einsum_path("ij,jk,kl->il", a, b, b.T)[0]
    assert "ij,jk,kl->il" in text


@pytest.mark.needs("float64")
def test_comparisons_of_whole_arrays() -> None:
    pairs = ((1.0, 1.0 + 1e-9), ([1, np.nan], [1, np.nan]), (np.array([1, 2]), [1, 2.00001]), ([1, 2], [[1, 2], [1, 2]]),
             ([1, 2], [1, 2, 3]))  # fmt: skip
    for first, second in pairs:
        for name in ("isclose", "allclose", "array_equal", "array_equiv"):
            check(getattr(vx, name), getattr(np, name), first, second)
        for name in ("isclose", "allclose", "array_equal"):
            check(getattr(vx, name), getattr(np, name), first, second, equal_nan=True)
    check(vx.isclose, np.isclose, 1.0, 2.0, 0.1, 0.2)


@pytest.mark.parametrize("edge", [1.0, 1e30, -2.5])
@pytest.mark.parametrize("spacings", [1, 3, 64])
def test_too_many_intervals_for_a_range(edge: float, spacings: int) -> None:
    high = float(np.float32(edge) + spacings * np.spacing(np.float32(abs(edge))))
    sample = np.array([edge, high] * 3, np.float32)
    for bins in (1, spacings, spacings + 1, 5 * spacings):
        try:
            expected = np.histogram(sample, bins)[0].sum()
        except ValueError:
            with pytest.raises(ValueError, match="Too many bins for data range"):
                vx.histogram(vx.asarray(sample), bins)
        else:
            assert vx.histogram(vx.asarray(sample), bins)[0].sum() == expected


@pytest.mark.parametrize("rows", [[[0, 0], [1, 2]], [[1, np.inf], [1, 2]], [[0, 1], [3, 0]]])
def test_weights_of_quantiles_count_for_each_row(rows: list[list[float]]) -> None:
    weights = np.array(rows, np.float32)
    sample = np.array([[1, 2], [3, 4]], np.float32)
    options = {"axis": 1, "method": "inverted_cdf"}
    try:
        with np.errstate(all="ignore"):
            expected = np.quantile(sample, 0.5, weights=weights, **options)
    except ValueError:
        with pytest.raises(ValueError, match="Weights must be non-negative; expected finite ones"):
            vx.quantile(vx.asarray(sample), 0.5, weights=vx.asarray(weights), **options)
    else:
        assert (
            vx.quantile(vx.asarray(sample), 0.5, weights=vx.asarray(weights), **options).tolist() == expected.tolist()
        )
