"""SciPy, scikit-learn, einops and array-api-extra on vkarray arrays: the results of NumPy arrays, and where data is converted.

Each row names a call, its inputs, and why its library converts arrays to NumPy's on the way (calls of `__array__`), if it does.
`conftest.py` sets SCIPY_ARRAY_API, which both SciPy and scikit-learn want.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import array_api_extra as xpx
import einops.array_api
import numpy as np
import pytest
import sklearn
from reference import supported
from scipy import cluster, fft, integrate, ndimage, signal, spatial, special, stats
from sklearn import (
    datasets,
    decomposition,
    discriminant_analysis,
    linear_model,
    metrics,
    mixture,
    naive_bayes,
    preprocessing,
)
from sklearn.metrics import pairwise

import vkarray as vx
from vkarray.core.array import operations

pytestmark = pytest.mark.skipif(
    supported([vx.int64, vx.float64]) != [vx.int64, vx.float64],
    reason="the device lacks shaderInt64 or shaderFloat64, and SciPy and scikit-learn use int64 and float64 inside",
)

COMPILED = "SciPy's special functions are compiled for the CPU"
FILTERS = "SciPy's filters are compiled for the CPU"
DISTANCES = "SciPy's distances are compiled for the CPU"
IN_FLOAT32 = 4 * 2.0**29  # what scikit-learn computes from integers it computes in the default dtype of the namespace


class Call(NamedTuple):
    """One call: `units` is the allowed difference in eps of the largest result, `converts` why there are conversions."""

    name: str
    function: Callable[..., Any]
    inputs: Sequence[np.ndarray]
    converts: str = ""
    units: float = 64


generator = np.random.default_rng(0)
SAMPLE, OTHER = generator.standard_normal(1000), generator.standard_normal(1000)
POSITIVE, LARGER = np.abs(SAMPLE) + 0.1, np.abs(OTHER) + 0.2
POINTS, CENTRES = generator.standard_normal((50, 4)), generator.standard_normal((30, 4))
PICTURE = generator.random((32, 40))
FLOWERS, KINDS = datasets.load_iris(return_X_y=True)
FLOWERS, WIDTHS = FLOWERS[:, :3], FLOWERS[:, 3]
TRUE, GUESSED = generator.integers(0, 3, 100), generator.integers(0, 3, 100)
TENSOR = generator.random((2, 3, 4, 6))

SCIPY = [
    *(
        Call(f"special.{name}", getattr(special, name), (POSITIVE,), COMPILED)
        for name in ("erf", "erfc", "gammaln", "gamma", "expit", "ndtr", "log_ndtr", "entr", "i0", "j0")
    ),
    *(Call(f"special.{name}", getattr(special, name), (POSITIVE, LARGER)) for name in ("xlogy", "rel_entr")),
    Call("special.betaln", special.betaln, (POSITIVE, LARGER), COMPILED),
    Call("special.logsumexp", special.logsumexp, (SAMPLE,)),
    Call("special.softmax", special.softmax, (SAMPLE,)),
    *(
        Call(f"stats.{name}", getattr(stats, name), (POSITIVE,), units=1000)
        for name in ("skew", "kurtosis", "zscore", "gmean", "hmean", "sem", "variation", "tmean", "tvar", "circmean")
    ),
    Call("stats.entropy", stats.entropy, (POSITIVE,), COMPILED),
    Call("stats.skewtest", stats.skewtest, (SAMPLE,), COMPILED, units=1000),
    Call("stats.normaltest", stats.normaltest, (SAMPLE,), COMPILED, units=1000),
    Call("stats.jarque_bera", stats.jarque_bera, (SAMPLE,), COMPILED, units=1000),
    Call("stats.ttest_1samp", lambda x: stats.ttest_1samp(x, 0.1), (SAMPLE,), COMPILED, units=1000),
    Call("stats.ttest_ind", stats.ttest_ind, (SAMPLE, OTHER), COMPILED, units=1000),
    Call("stats.pearsonr", stats.pearsonr, (SAMPLE, OTHER), COMPILED, units=1000),
    Call("stats.bartlett", stats.bartlett, (SAMPLE, OTHER), COMPILED, units=1000),
    Call("ndimage.gaussian_filter", lambda x: ndimage.gaussian_filter(x, 1.5), (PICTURE,), FILTERS),
    Call("ndimage.uniform_filter", lambda x: ndimage.uniform_filter(x, 3), (PICTURE,), FILTERS),
    Call("ndimage.median_filter", lambda x: ndimage.median_filter(x, 3), (PICTURE,), FILTERS),
    Call("ndimage.sobel", ndimage.sobel, (PICTURE,), FILTERS),
    Call("ndimage.convolve", ndimage.convolve, (PICTURE, np.ones((3, 3))), FILTERS),
    Call("spatial.distance.cdist", spatial.distance.cdist, (POINTS, CENTRES), DISTANCES),
    Call("spatial.distance.pdist", spatial.distance.pdist, (POINTS,), DISTANCES),
    Call("spatial.transform.Rotation", lambda q: spatial.transform.Rotation.from_quat(q).as_matrix(), (POINTS,)),
    Call("signal.fftconvolve", signal.fftconvolve, (PICTURE, PICTURE[:5, :5].copy()), units=1000),
    Call("signal.hilbert", signal.hilbert, (SAMPLE,), units=1000),
    Call("signal.resample", lambda x: signal.resample(x, 500), (SAMPLE,), units=1000),
    Call("signal.detrend", signal.detrend, (SAMPLE,), "SciPy solves the least squares problem with LAPACK"),
    Call("fft.fft", fft.fft, (SAMPLE,)),
    Call("fft.rfft", fft.rfft, (SAMPLE,)),
    Call("fft.fftn", fft.fftn, (PICTURE,)),
    Call("fft.dct", fft.dct, (SAMPLE,), "the standard has no cosine transform, SciPy's is compiled for the CPU"),
    Call("integrate.trapezoid", integrate.trapezoid, (SAMPLE,), units=1000),
    Call("integrate.cumulative_trapezoid", integrate.cumulative_trapezoid, (SAMPLE,), units=1000),
    Call("cluster.vq.whiten", cluster.vq.whiten, (POINTS,)),
    Call("cluster.vq.vq", lambda x, y: cluster.vq.vq(x, y)[1], (POINTS, CENTRES), "SciPy's vq is compiled for the CPU"),
]  # fmt: skip


def fitted(estimator: Any, method: str) -> Callable[..., Any]:
    """fit and then `method`, on a fresh copy of the estimator."""

    def call(x: Any, *y: Any) -> Any:
        return getattr(sklearn.base.clone(estimator).fit(x, *y), method)(x)

    return call


def macro(name: str) -> Callable[..., Any]:
    return lambda true, guessed: getattr(metrics, name)(true, guessed, average="macro")


SCIKIT_LEARN = [
    *(
        Call(type(scaler).__name__, fitted(scaler, "transform"), (FLOWERS,))
        for scaler in (
            preprocessing.StandardScaler(), preprocessing.MinMaxScaler(), preprocessing.MaxAbsScaler(),
            preprocessing.Normalizer(), preprocessing.Binarizer(threshold=3.0), preprocessing.PolynomialFeatures(),
        )
    ),
    Call("LabelEncoder", preprocessing.LabelEncoder().fit_transform, (KINDS,)),
    Call("PCA", lambda x: abs(decomposition.PCA(2, svd_solver="full").fit_transform(x)), (FLOWERS,), units=1000),
    Call("PCA of the covariance", lambda x: abs(decomposition.PCA(2, svd_solver="covariance_eigh").fit_transform(x)),
         (FLOWERS,), units=10_000),
    Call("Ridge", fitted(linear_model.Ridge(solver="svd"), "predict"), (FLOWERS, WIDTHS), units=1000),
    Call("RidgeClassifier", fitted(linear_model.RidgeClassifier(solver="svd"), "decision_function"), (FLOWERS, KINDS),
         units=1000),
    Call("LinearDiscriminantAnalysis", fitted(discriminant_analysis.LinearDiscriminantAnalysis(), "predict_proba"),
         (FLOWERS, KINDS), units=10_000),
    Call("GaussianNB", fitted(naive_bayes.GaussianNB(), "predict_proba"), (FLOWERS, KINDS), units=10_000),
    Call("GaussianMixture", fitted(mixture.GaussianMixture(3, init_params="random", random_state=0), "score_samples"),
         (FLOWERS,), units=1e6),
    Call("accuracy_score", metrics.accuracy_score, (TRUE, GUESSED), units=IN_FLOAT32),
    Call("confusion_matrix", metrics.confusion_matrix, (TRUE, GUESSED)),
    *(
        Call(name, macro(name), (TRUE, GUESSED), units=IN_FLOAT32)
        for name in ("f1_score", "precision_score", "recall_score", "jaccard_score")
    ),
    *(
        Call(name, getattr(metrics, name), (POSITIVE, LARGER))
        for name in ("mean_squared_error", "mean_absolute_error", "r2_score", "max_error", "median_absolute_error")
    ),
    *(
        Call(name, getattr(pairwise, name), (POINTS**2, CENTRES**2), units=1000)
        for name in ("cosine_similarity", "euclidean_distances", "linear_kernel", "rbf_kernel", "polynomial_kernel",
                     "sigmoid_kernel", "laplacian_kernel", "chi2_kernel", "manhattan_distances")
    ),
]  # fmt: skip

OTHERS = [
    Call("einops.rearrange", lambda x: einops.array_api.rearrange(x, "b c h w -> b (h w) c"), (TENSOR,)),
    Call("einops.reduce", lambda x: einops.array_api.reduce(x, "b c (h 2) w -> b c h w", "max"), (TENSOR,)),
    Call("einops.repeat", lambda x: einops.array_api.repeat(x, "b c h w -> b c h w r", r=2), (TENSOR,)),
    Call("array_api_extra.cov", xpx.cov, (POINTS.T.copy(),)),
    Call("array_api_extra.kron", xpx.kron, (POINTS[:3], CENTRES[:3])),
    Call("array_api_extra.sinc", xpx.sinc, (SAMPLE,)),
    Call("array_api_extra.nunique", xpx.nunique, (TRUE,)),
    Call("array_api_extra.one_hot", lambda x: xpx.one_hot(x, 3), (TRUE,)),
    Call("array_api_extra.create_diagonal", xpx.create_diagonal, (SAMPLE[:9],)),
    Call("array_api_extra.atleast_nd", lambda x: xpx.atleast_nd(x, ndim=4), (POINTS,)),
    Call("array_api_extra.pad", lambda x: xpx.pad(x, 2), (POINTS,)),
    Call("array_api_extra.at", lambda x: xpx.at(x)[0].set(3.0), (POINTS,)),
    Call("array_api_extra.apply_where", lambda x: xpx.apply_where(x > 0.5, (x,), lambda z: z * 2, lambda z: z - 1), (POINTS,)),
]  # fmt: skip


@pytest.fixture
def conversions(monkeypatch):
    """The number of conversions to NumPy's arrays, as a list of one for each."""
    made: list[None] = []
    convert = operations["to_numpy_protocol"]
    monkeypatch.setitem(operations, "to_numpy_protocol", lambda *given: made.append(None) or convert(*given))
    return made


def host(value: Any) -> np.ndarray:
    """A result, of a test statistic its value, on the host."""
    value = getattr(value, "statistic", value)
    return np.from_dlpack(value, device="cpu") if type(value) is vx.VkArray else np.asarray(value)


@pytest.mark.filterwarnings("ignore:.*:UserWarning")
@pytest.mark.parametrize("call", [*SCIPY, *SCIKIT_LEARN, *OTHERS], ids=lambda call: call.name)
def test_results_are_those_of_numpy_inputs(call: Call, conversions: list[None]) -> None:
    expected = host(call.function(*call.inputs))
    with sklearn.config_context(array_api_dispatch=call in SCIKIT_LEARN):
        result = call.function(*(vx.asarray(values) for values in call.inputs))
    assert bool(conversions) == bool(call.converts), (
        f"{len(conversions)} conversions; listed: {call.converts or 'none'}"
    )
    got = host(result)
    assert got.shape == expected.shape
    if expected.dtype.kind in "fc":
        allowed = call.units * np.finfo(np.float64).eps * np.max(np.abs(expected))
        assert np.max(np.abs(got - expected)) <= allowed
    else:
        assert np.array_equal(got, expected)


def test_logistic_regression_predicts_as_with_numpy() -> None:
    """Its solver stops at a tolerance, so the coefficients differ by about that."""
    model = linear_model.LogisticRegression(solver="lbfgs", tol=1e-6)
    expected = fitted(model, "predict_proba")(FLOWERS, KINDS)
    with sklearn.config_context(array_api_dispatch=True):
        got = fitted(model, "predict_proba")(vx.asarray(FLOWERS), vx.asarray(KINDS))
    assert type(got) is vx.VkArray
    assert np.max(np.abs(np.asarray(got) - expected)) < 1e-4


def test_split_and_score_without_leaving_the_device(conversions: list[None]) -> None:
    from sklearn.model_selection import cross_val_predict, train_test_split

    with sklearn.config_context(array_api_dispatch=True):
        x, y = vx.asarray(FLOWERS), vx.asarray(KINDS)
        parts = train_test_split(x, y, random_state=0)
        predicted = cross_val_predict(discriminant_analysis.LinearDiscriminantAnalysis(), x, y)
    assert all(type(part) is vx.VkArray for part in (*parts, predicted))
    assert float(vx.mean(vx.astype(predicted == y, vx.float32))) > 0.9
    assert not conversions
