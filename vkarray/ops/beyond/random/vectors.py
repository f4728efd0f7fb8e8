"""Distributions of vectors, along the last axis of the result."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ....core import layout
from ....core.array import VkArray, empty
from ....core.dtypes import DType
from ....kernels import launch
from ....kernels.conversion import cast
from ....kernels.faults import WrongValue, check_values, tell
from ....kernels.planned import tracer
from ... import creation, data_type, statistical
from ...elementwise import abs as absolute
from ...elementwise import add, divide, exp, maximum, multiply, sqrt, subtract
from ...linalg.cholesky import cholesky
from ...linalg.eigh import eigh
from ...linalg.svd import svd
from ...linear_algebra import matmul, matrix_transpose
from ...manipulation import concat, flip
from ..closeness import allclose
from . import kernels
from .draws import Draws, Size
from .parameters import ANY, COUNT, NOT_NEGATIVE, PROBABILITY, check_order, in_memory, on_device, operand


def _of_svd(cov: VkArray) -> tuple[VkArray, VkArray]:
    u, s, vh = svd(cov)
    root = multiply(u, sqrt(s))
    return root, matmul(multiply(matrix_transpose(vh), s), vh)


def _of_eigh(cov: VkArray) -> tuple[VkArray, VkArray]:
    values, vectors = eigh(cov)
    root = multiply(vectors, sqrt(absolute(values)))
    return root, matmul(root, matrix_transpose(root))


def _of_cholesky(cov: VkArray) -> tuple[VkArray, VkArray]:
    root = cholesky(cov)
    return root, matmul(root, matrix_transpose(root))


# A root of a covariance, and what it would be if it were symmetric and positive-semidefinite.
_ROOTS: dict[str, Callable[[VkArray], tuple[VkArray, VkArray]]] = {
    "svd": _of_svd, "eigh": _of_eigh, "cholesky": _of_cholesky
}  # fmt: skip


class Vectors(Draws):
    """The multivariate distributions."""

    def dirichlet(self, alpha: Any, size: Size = None, *, dtype: DType | None = None) -> VkArray:
        """Vectors of shares that add up to 1: numbers of `standard_gamma(alpha)` over their sum.

        Parameters: alpha (real numbers in one dimension); size; dtype. Returns an array of shape size + alpha.shape.
        Raises ValueError for a negative number, and unless alpha has one dimension.
        """
        wanted = self._dtype("dirichlet", dtype)
        shapes = on_device("dirichlet", "alpha", alpha, wanted, self._device, NOT_NEGATIVE)
        if shapes.ndim != 1:
            raise ValueError(f"dirichlet: expected alpha of one dimension, got shape {shapes._shape}.")
        shape = (*(() if size is None else creation.as_shape(size, "dirichlet", "size")), *shapes._shape)
        logarithms = self._drawn("log_gamma", [shapes], shape, wanted)
        if not logarithms.size:
            return logarithms
        parts = exp(subtract(logarithms, statistical.max(logarithms, axis=-1, keepdims=True)))
        return divide(parts, statistical.sum(parts, axis=-1, keepdims=True))

    def multinomial(self, n: Any, pvals: Any, size: Size = None) -> VkArray:
        """How often each of several outcomes comes in `n` trials.

        Parameters: n (integers); pvals (their probabilities along the last axis, the last one being what the others leave);
        size (default: what n and pvals but for its last axis broadcast to). Returns integers of shape size + pvals.shape[-1:].
        Raises ValueError for a negative n, for probabilities outside of [0, 1], and where all but the last exceed 1 together.
        Method: binomial numbers of what is left, outcome by outcome.
        """
        wide = self._widest()
        chances = on_device("multinomial", "pvals", pvals, wide, self._device, PROBABILITY)
        if chances.ndim < 1 or chances._shape[-1] == 0:
            raise ValueError(f"multinomial: expected pvals of one probability or more, got shape {chances._shape}.")
        others = chances[..., :-1]
        sums = statistical.sum(others, axis=-1, keepdims=True)
        tolerance = data_type.finfo(wide if not hasattr(pvals, "dtype") else sums._dtype).eps ** 0.5
        text = "multinomial: expected pvals whose sum without the last is at most 1, got {}."
        if type(pvals) is VkArray or tracer() is not None:
            check_values(WrongValue(ValueError, text.format("{value}")), sums, 0, 1 + tolerance)
            tell(sums._device)
        elif sums.size and (largest := float(statistical.max(sums))) > 1 + tolerance:
            raise ValueError(text.format(largest))
        weights = concat([others, maximum(subtract(1, sums), 0)], axis=-1)
        return self._shares("multinomial", n, weights, size)

    def multivariate_hypergeometric(
        self, colors: Any, nsample: Any, size: Size = None, method: str = "marginals"
    ) -> VkArray:
        """How many of each color are in samples of `nsample` from a collection.

        Parameters: colors (how many there are of each, integers in one dimension); nsample; size; method ("marginals" or
        "count"; both mean the marginals). Returns integers of shape size + colors.shape.
        Raises ValueError for negative numbers, larger samples than there are, colors of other dimensions, another method.
        Method: hypergeometric numbers of what is left, color by color.
        """
        if method not in ("marginals", "count"):
            raise ValueError(
                f"multivariate_hypergeometric: expected method 'marginals' or 'count', got {method!r:.60}."
            )
        weights = on_device("multivariate_hypergeometric", "colors", colors, self._widest(), self._device, COUNT)
        if weights.ndim != 1:
            raise ValueError(
                f"multivariate_hypergeometric: expected colors of one dimension, got shape {weights._shape}."
            )
        total: Any = statistical.sum(weights)
        total = total if VkArray in (type(colors), type(nsample)) else float(total)
        check_order("multivariate_hypergeometric", "nsample", nsample, "the sum of colors", total)
        return self._shares("multivariate_hypergeometric", nsample, weights, size)

    def _shares(self, function: str, counts: Any, weights: VkArray, size: Size) -> VkArray:
        """The shares of counts among weights, which lie along the last axis."""
        name = "n" if function == "multinomial" else "nsample"
        wide, categories = weights._dtype, weights._shape[-1]
        count = operand(function, name, counts, COUNT, wide, self._device)
        rows = layout.broadcast_shapes([count._shape if type(count) is VkArray else (), weights._shape[:-1]], function)
        if size is not None:
            shape = creation.as_shape(size, function, "size")
            if layout.broadcast_shapes([rows, shape], function) != shape:
                raise ValueError(f"{function}: parameters of shape {rows} do not broadcast to {shape}.")
            rows = shape
        result = empty((*rows, categories), wide, self._device)
        rests = flip(statistical.cumulative_sum(flip(weights, axis=-1), axis=-1), axis=-1)
        one_row = weights.size == categories
        weights, rests = (
            launch.contiguous(x) if one_row else in_memory(x, result._shape, wide, self._device)
            for x in (weights, rests)
        )
        counted = in_memory(count, rows, wide, self._device)
        key, block, _ = self._stream.place(result.size // max(categories, 1), kernels.WORDS_OF_BLOCK)
        kernels.fill_shares(result, counted, weights, rests, function, key, block)
        return self._whole(result)

    def multivariate_normal(
        self,
        mean: Any,
        cov: Any,
        size: Size = None,
        check_valid: str = "warn",
        tol: float = 1e-8,
        *,
        method: str = "svd",
        dtype: DType | None = None,
    ) -> VkArray:
        """Normally distributed vectors of a mean and a covariance.

        Parameters: mean (of shape (n,)); cov (of shape (n, n), symmetric and positive-semidefinite); size; check_valid ("warn",
        "raise" or "ignore": what to do where cov is not, within `tol`); method ("svd", "eigh", or "cholesky", which takes
        positive-definite ones alone); dtype. Returns an array of shape size + (n,).
        Raises ValueError for other shapes, methods and values of check_valid, and what `cholesky` raises.
        Method: normal numbers times a root of cov, computed in float64 where the device has it.
        """
        if method not in _ROOTS:
            raise ValueError(f"multivariate_normal: expected method svd, eigh or cholesky, got {method!r:.60}.")
        if check_valid not in ("warn", "raise", "ignore"):
            raise ValueError(
                f"multivariate_normal: expected check_valid warn, raise or ignore, got {check_valid!r:.60}."
            )
        wanted, wide = self._dtype("multivariate_normal", dtype), self._widest()
        center = on_device("multivariate_normal", "mean", mean, wanted, self._device, ANY)
        covariance = on_device("multivariate_normal", "cov", cov, wide, self._device, ANY)
        if center.ndim != 1 or covariance._shape != center._shape * 2:
            raise ValueError(
                "multivariate_normal: expected mean of shape (n,) and cov of shape (n, n), got "
                f"{center._shape} and {covariance._shape}."
            )
        root, meant = _ROOTS[method](covariance)
        tol = max(tol, 64 * data_type.finfo(wide).eps)  # float32 is not as exact as NumPy's default
        if check_valid != "ignore" and center.size and not allclose(meant, covariance, rtol=tol, atol=tol):
            message = "multivariate_normal: cov is not symmetric and positive-semidefinite."
            if check_valid == "raise":
                raise ValueError(message)
            warnings.warn(message, RuntimeWarning, stacklevel=2)
        shape = (*(() if size is None else creation.as_shape(size, "multivariate_normal", "size")), *center._shape)
        numbers = self._standard("multivariate_normal", "normals", shape, wanted)
        rows = numbers._view((numbers.size // max(center.size, 1), center.size), (max(center.size, 1), 1))
        made = launch.contiguous(matmul(rows, matrix_transpose(cast(root, wanted))))
        return add(made._view(shape, layout.contiguous_strides(shape)), center)
