"""Floating-point numbers of NumPy's continuous distributions.

All take `size` (an integer or a tuple; by default what the parameters broadcast to, 0 dimensions for numbers) and `dtype` (float32
or float64; by default the default floating-point type). Parameters are real numbers, lists or arrays that broadcast.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ....core.array import VkArray
from ....core.dtypes import DType
from ...elementwise import exp, multiply, subtract
from .draws import Draws, Size, put, size_of
from .parameters import ANY, NOT_NEGATIVE, POSITIVE, check_order, on_device, shape_of


class Continuous(Draws):
    """The continuous distributions."""

    _orders_bounds: ClassVar[bool] = (
        True  # whether `uniform` refuses a low above high, as NumPy's older functions do not
    )

    # -- even, normal and exponential numbers ---------------------------------------------------------------------

    def random(self, size: Size = None, dtype: DType | None = None, out: VkArray | None = None) -> VkArray:
        """Numbers evenly distributed over [0, 1): multiples of 2**-24 in float32, of 2**-53 in float64.

        Parameters: size (an integer or a tuple; None for an array of 0 dimensions); dtype (float32 or float64; by default
        the default floating-point type); out (an array of that dtype and shape, which is filled and returned).
        Raises TypeError for another dtype, ValueError for a negative size, FeatureError for float64 where the device lacks it.
        """
        return self._standard("random", "uniforms", size, dtype, out)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Size = None, *, dtype: DType | None = None) -> VkArray:
        """low + (high - low) * random: numbers evenly distributed over [low, high) (where rounding does not reach high).

        Parameters: low, high (real numbers, or arrays that broadcast); size (default: the shape of those); dtype.
        Raises ValueError for a distance of the bounds that is not finite, and unless low is at most high (`RandomState` takes
        these, too); other errors as for `random`.
        """
        if self._orders_bounds:
            check_order("uniform", "low", low, "high", high)
        wanted = self._dtype("uniform", dtype)
        first, last = self._operands("uniform", {"low": (low, ANY), "high": (high, ANY)}, wanted)
        if type(first) is float and type(last) is float:
            distance: Any = last - first
            if not math.isfinite(distance):
                raise ValueError(f"uniform: expected finite real numbers low and high, got {first!r} and {last!r}.")
        else:
            distance = subtract(*(on_device("uniform", "bound", one, wanted, self._device) for one in (last, first)))
        return self._scaled("uniform", "uniforms", first, distance, size, wanted)

    def standard_normal(self, size: Size = None, dtype: DType | None = None, out: VkArray | None = None) -> VkArray:
        """Normally distributed numbers of mean 0 and standard deviation 1.

        Parameters and errors as for `random`.
        Method: Box and Muller (1958): the logarithm and the sine are vkarray's own, so the bits are the same everywhere.
        """
        return self._standard("standard_normal", "normals", size, dtype, out)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, *, dtype: DType | None = None) -> VkArray:
        """Normally distributed numbers of mean `loc` and standard deviation `scale`.

        Parameters: loc, scale (real numbers, or arrays that broadcast); size (default: the shape of those); dtype.
        Raises ValueError for a negative scale.
        """
        return self._located("normal", "normals", {"loc": (loc, ANY), "scale": (scale, NOT_NEGATIVE)}, size, dtype)

    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Size = None, *, dtype: DType | None = None) -> VkArray:
        """Numbers whose logarithms are normally distributed, with mean `mean` and standard deviation `sigma`.

        Parameters and errors as for `normal`.
        """
        given = {"mean": (mean, ANY), "sigma": (sigma, NOT_NEGATIVE)}
        return exp(self._located("lognormal", "normals", given, size, dtype))

    def standard_exponential(
        self, size: Size = None, dtype: DType | None = None, method: str = "zig", out: VkArray | None = None
    ) -> VkArray:
        """Exponentially distributed numbers of mean 1: the negative logarithm of an even one.

        Parameters and errors as for `random`; method ("zig" or "inv"; both mean the inversion).
        Raises ValueError for another method.
        """
        if method not in ("zig", "inv"):
            raise ValueError(f"standard_exponential: expected method 'zig' or 'inv', got {method!r:.60}.")
        return self._standard("standard_exponential", "exponentials", size, dtype, out)

    def exponential(self, scale: Any = 1.0, size: Size = None, *, dtype: DType | None = None) -> VkArray:
        """Exponentially distributed numbers of mean `scale`, a real number or an array.

        Raises ValueError for a negative scale.
        """
        given = {"loc": (0.0, ANY), "scale": (scale, NOT_NEGATIVE)}
        return self._located("exponential", "exponentials", given, size, dtype)

    # -- by inversion ---------------------------------------------------------------------------------------------

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, *, dtype: DType | None = None) -> VkArray:
        """Numbers of a Laplace (double exponential) distribution. Parameters and errors as for `normal`."""
        return self._located("laplace", "laplaces", {"loc": (loc, ANY), "scale": (scale, NOT_NEGATIVE)}, size, dtype)

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, *, dtype: DType | None = None) -> VkArray:
        """Numbers of a logistic distribution. Parameters and errors as for `normal`."""
        return self._located("logistic", "logistics", {"loc": (loc, ANY), "scale": (scale, NOT_NEGATIVE)}, size, dtype)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, *, dtype: DType | None = None) -> VkArray:
        """Numbers of a Gumbel distribution, that of the largest of many. Parameters and errors as for `normal`."""
        return self._located("gumbel", "gumbels", {"loc": (loc, ANY), "scale": (scale, NOT_NEGATIVE)}, size, dtype)

    def standard_cauchy(self, size: Size = None, *, dtype: DType | None = None) -> VkArray:
        """Numbers of a Cauchy distribution around 0. Parameters and errors as for `random`."""
        return self._standard("standard_cauchy", "cauchies", size, dtype)

    def rayleigh(self, scale: Any = 1.0, size: Size = None, *, dtype: DType | None = None) -> VkArray:
        """Numbers of a Rayleigh distribution, the lengths of two normal components. Errors as for `exponential`."""
        return self._located("rayleigh", "rayleighs", {"loc": (0.0, ANY), "scale": (scale, NOT_NEGATIVE)}, size, dtype)

    def weibull(self, a: Any, size: Size = None, *, dtype: DType | None = None) -> VkArray:
        """Numbers of a Weibull distribution of shape `a` and scale 1: exponential ones to the power 1 / a.

        Raises ValueError for a negative shape; all numbers of shape 0 are 0.
        """
        return self._numbers("weibull", {"a": (a, NOT_NEGATIVE)}, size, dtype)

    def pareto(self, a: Any, size: Size = None, *, dtype: DType | None = None) -> VkArray:
        """Numbers of a Pareto II (Lomax) distribution of shape `a`; plus 1, of the classical Pareto distribution.

        Raises ValueError unless a is above 0.
        """
        return self._numbers("pareto", {"a": (a, POSITIVE)}, size, dtype)

    def power(self, a: Any, size: Size = None, *, dtype: DType | None = None) -> VkArray:
        """Numbers in [0, 1] whose density is a x**(a - 1): even ones to the power 1 / a. Errors as for `pareto`."""
        return self._numbers("power", {"a": (a, POSITIVE)}, size, dtype)

    def triangular(
        self, left: Any, mode: Any, right: Any, size: Size = None, *, dtype: DType | None = None
    ) -> VkArray:  # fmt: skip
        """Numbers between `left` and `right`, most of them near `mode`.

        Raises ValueError unless left <= mode <= right and left < right.
        """
        wanted = self._dtype("triangular", dtype)
        operands = self._operands(
            "triangular", {"left": (left, ANY), "mode": (mode, ANY), "right": (right, ANY)}, wanted
        )
        check_order("triangular", "left", left, "mode", mode)
        check_order("triangular", "mode", mode, "right", right)
        check_order("triangular", "left", left, "right", right, strictly=True)
        return self._drawn("triangular", operands, shape_of("triangular", size, operands), wanted)

    # -- of gamma distributions, and others -----------------------------------------------------------------------

    def standard_gamma(
        self, shape: Any, size: Size = None, dtype: DType | None = None, out: VkArray | None = None
    ) -> VkArray:
        """Numbers of gamma distributions with these shapes and the scale 1; 0 for a shape of 0.

        Parameters: shape (a real number or an array); size, dtype, out as for `random`. Raises ValueError for a negative shape.
        Method: G. Marsaglia, W. W. Tsang, ACM TOMS 26, 2000.
        """
        wanted = self._dtype("standard_gamma", dtype)
        operands = self._operands("standard_gamma", {"shape": (shape, NOT_NEGATIVE)}, wanted)
        found = shape_of("standard_gamma", size_of(size, out), operands)
        target = self._target("standard_gamma", found, wanted, out)
        return put(self._drawn("gamma", operands, found, wanted, target), out)

    def gamma(self, shape: Any, scale: Any = 1.0, size: Size = None, *, dtype: DType | None = None) -> VkArray:
        """`scale` times numbers of `standard_gamma`. Raises ValueError for a negative shape or scale."""
        wanted = self._dtype("gamma", dtype)
        given = {"shape": (shape, NOT_NEGATIVE), "scale": (scale, NOT_NEGATIVE)}
        first, factor = self._operands("gamma", given, wanted)
        return multiply(self._drawn("gamma", [first], shape_of("gamma", size, [first, factor]), wanted), factor)

    def chisquare(self, df: Any, size: Size = None, *, dtype: DType | None = None) -> VkArray:
        """Sums of the squares of `df` normal numbers. Raises ValueError unless df is above 0."""
        return self._numbers("chisquare", {"df": (df, POSITIVE)}, size, dtype)

    def noncentral_chisquare(self, df: Any, nonc: Any, size: Size = None, *, dtype: DType | None = None) -> VkArray:
        """Numbers of `chisquare` around other centres, whose squared distances from 0 add up to `nonc`.

        Raises ValueError unless df is above 0 and nonc 0 or more.
        """
        return self._numbers("noncentral_chisquare", {"df": (df, POSITIVE), "nonc": (nonc, NOT_NEGATIVE)}, size, dtype)

    def f(self, dfnum: Any, dfden: Any, size: Size = None, *, dtype: DType | None = None) -> VkArray:
        """Quotients of numbers of `chisquare` over their degrees (F distribution).

        Raises ValueError unless both degrees are above 0.
        """
        return self._numbers("f", {"dfnum": (dfnum, POSITIVE), "dfden": (dfden, POSITIVE)}, size, dtype)

    def noncentral_f(
        self, dfnum: Any, dfden: Any, nonc: Any, size: Size = None, *, dtype: DType | None = None
    ) -> VkArray:  # fmt: skip
        """Numbers of `f` whose numerators are of `noncentral_chisquare`. Errors as for those."""
        given = {"dfnum": (dfnum, POSITIVE), "dfden": (dfden, POSITIVE), "nonc": (nonc, NOT_NEGATIVE)}
        return self._numbers("noncentral_f", given, size, dtype)

    def standard_t(self, df: Any, size: Size = None, *, dtype: DType | None = None) -> VkArray:
        """Numbers of Student's t distribution with `df` degrees. Raises ValueError unless df is above 0."""
        return self._numbers("standard_t", {"df": (df, POSITIVE)}, size, dtype)

    def beta(self, a: Any, b: Any, size: Size = None, *, dtype: DType | None = None) -> VkArray:
        """Numbers of beta distributions: a number of `standard_gamma(a)` over its sum with one of `standard_gamma(b)`.

        Raises ValueError unless a and b are above 0.
        """
        return self._numbers("beta", {"a": (a, POSITIVE), "b": (b, POSITIVE)}, size, dtype)

    def vonmises(self, mu: Any, kappa: Any, size: Size = None, *, dtype: DType | None = None) -> VkArray:
        """Angles in [-pi, pi] around `mu`, the nearer the larger `kappa` is. Raises ValueError for a negative kappa.

        Method: D. J. Best, N. I. Fisher, Applied Statistics 28, 1979.
        """
        return self._numbers("vonmises", {"mu": (mu, ANY), "kappa": (kappa, NOT_NEGATIVE)}, size, dtype)

    def wald(self, mean: Any, scale: Any, size: Size = None, *, dtype: DType | None = None) -> VkArray:
        """Numbers of Wald (inverse Gaussian) distributions. Raises ValueError unless mean and scale are above 0.

        Method: J. R. Michael, W. R. Schucany, R. W. Haas, The American Statistician 30, 1976.
        """
        return self._numbers("wald", {"mean": (mean, POSITIVE), "scale": (scale, POSITIVE)}, size, dtype)
