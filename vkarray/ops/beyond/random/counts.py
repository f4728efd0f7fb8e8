"""Integers: all of a range alike, and NumPy's discrete distributions.

Counts are drawn in float64, where the device has it, and come as the default integer type, like NumPy's. Parameters are real
numbers, lists or arrays that broadcast; `size` is an integer or a tuple, by default what the parameters broadcast to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....core import dtypes, layout, promotion
from ....core.array import VkArray, check_supported, default_dtype, empty, storage_itemsize
from ....core.dtypes import DType, as_dtype
from ....core.operators import is_sequence
from ....kernels import launch
from ... import creation
from ...elementwise import add, subtract
from . import kernels
from .draws import Draws, Size
from .parameters import (
    ABOVE_1,
    BELOW_1,
    COUNT,
    POSITIVE,
    POSITIVE_PROBABILITY,
    PROBABILITY,
    check_order,
    extremes,
    in_memory,
    on_device,
    one_less,
    plus,
    shape_of,
    without_fraction,
)
from .stream import natural

if TYPE_CHECKING:
    from ....kernels.launch import Device


class Counts(Draws):
    """The discrete distributions."""

    def integers(
        self, low: Any, high: Any = None, size: Size = None, dtype: DType | None = None, endpoint: bool = False
    ) -> VkArray:
        """Integers from low (0 without `high`) to high - 1 (to high with `endpoint`), all of them equally likely.

        Parameters: low, high (integers, lists or arrays that broadcast; of a floating-point number the part before the point);
        size; dtype (any integer type or bool; default int64, int32 where the device has no int64). Raises ValueError for an
        empty range, OverflowError for bounds of the host that the dtype does not hold.
        Method: multiplication and rejection (Lemire, 2019), exact; at most one in two words is rejected.
        """
        wanted = default_dtype("int", self._device) if dtype is None else as_dtype(dtype, "integers")
        promotion.check_category("integers", wanted, "integer or boolean")
        check_supported(wanted, self._device, "integers")
        given = {"low": 0, "high": low} if high is None else {"low": low, "high": high}
        given = {name: without_fraction("integers", name, bound) for name, bound in given.items()}
        if any(is_sequence(bound) or getattr(bound, "ndim", 0) for bound in given.values()):
            return self._integers_between(given["low"], given["high"], size, wanted, endpoint)
        first, last = (layout.as_integer(bound, "integers", name) for name, bound in given.items())
        last -= not endpoint
        if first > last:
            raise ValueError(f"integers: there is no integer from {first} to {last}; expected low below high.")
        for bound in (first, last):
            _check_bound(bound, wanted)
        span = last - first + 1
        bits = 64 if span > 1 << 32 else 32
        parameters = {
            "low": first & (1 << 64) - 1,
            "range": span & (1 << bits) - 1,
            "threshold": (1 << bits) % span,
        }
        result = empty(() if size is None else creation.as_shape(size, "integers", "size"), wanted, self._device)
        variant = kernels.integer_variant(storage_itemsize(wanted, self._device), bits == 64)
        return self._filled(variant, result, bits // 32, parameters)

    def _integers_between(self, low: Any, high: Any, size: Size, wanted: DType, endpoint: bool) -> VkArray:
        """Integers between bounds of which at least one is an array."""
        check_order("integers", "low", low, "high", high, strictly=not endpoint)
        unsigned = wanted in (dtypes.uint32, dtypes.uint64)
        wide = wanted.bits == 64 and wanted is not dtypes.bool_
        exact = wanted if wide or unsigned else dtypes.int32
        last = high if endpoint else one_less(high)
        bounds = [_bound(name, value, exact, wanted, self._device) for name, value in (("low", low), ("high", last))]
        shape = shape_of("integers", size, list(bounds))
        result = empty(shape, wanted, self._device)
        span = add(subtract(bounds[1], bounds[0]), 1)
        low, span = (in_memory(one, shape, exact, self._device) for one in (bounds[0], span))
        words = 2 if wide else 1
        kernels.fill_between(result, low, span, words, *self._stream.place(result.size, words))
        return result

    def bytes(self, length: int) -> bytes:
        """Random bytes on the host. Raises TypeError unless length is an integer, ValueError for a negative one."""
        return bytes(self.integers(0, 256, natural("bytes", "length", length), dtypes.uint8).tolist())

    # -- counts ---------------------------------------------------------------------------------------------------

    def binomial(self, n: Any, p: Any, size: Size = None) -> VkArray:
        """How many of `n` trials with the probability `p` succeed.

        Raises ValueError for a negative n and for probabilities outside of [0, 1].
        Method: geometric steps below 10 expected; W. Hörmann, Journal of Statistical Computation and Simulation 46, 1993.
        """
        return self._counts("binomial", {"n": (n, COUNT), "p": (p, PROBABILITY)}, size)

    def negative_binomial(self, n: Any, p: Any, size: Size = None) -> VkArray:
        """How many trials with the probability `p` fail before `n` have succeeded.

        Raises ValueError unless n is above 0 and p above 0 and up to 1. Method: Poisson numbers of gamma-distributed means.
        """
        return self._counts("negative_binomial", {"n": (n, POSITIVE), "p": (p, POSITIVE_PROBABILITY)}, size)

    def poisson(self, lam: Any = 1.0, size: Size = None) -> VkArray:
        """Numbers of Poisson distributions with the means `lam`. Raises ValueError for a negative mean.

        Method: products of uniform numbers below a mean of 10; W. Hörmann, Insurance: Mathematics and Economics 12, 1993.
        """
        return self._counts("poisson", {"lam": (lam, COUNT)}, size)

    def geometric(self, p: Any, size: Size = None) -> VkArray:
        """How many trials with the probability `p` it takes to succeed.

        Raises ValueError unless p is above 0 and up to 1. Method: inversion.
        """
        return self._counts("geometric", {"p": (p, POSITIVE_PROBABILITY)}, size)

    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: Size = None) -> VkArray:
        """How many good ones are in samples of `nsample` from `ngood` good and `nbad` bad ones.

        Raises ValueError for a negative number, and for larger samples than there are.
        Method: one by one below 10; E. Stadlober, Journal of Computational and Applied Mathematics 31, 1990 (HRUA).
        """
        given = {"ngood": (ngood, COUNT), "nbad": (nbad, COUNT), "nsample": (nsample, COUNT)}
        check_order("hypergeometric", "nsample", nsample, "ngood + nbad", plus(ngood, nbad))
        return self._counts("hypergeometric", given, size)

    def logseries(self, p: Any, size: Size = None) -> VkArray:
        """Numbers k from 1 on with the probabilities -p**k / (k log(1 - p)). Raises ValueError unless p is in [0, 1).

        Method: A. W. Kemp, Applied Statistics 30, 1981.
        """
        return self._counts("logseries", {"p": (p, BELOW_1)}, size)

    def zipf(self, a: Any, size: Size = None) -> VkArray:
        """Numbers k from 1 on with probabilities in proportion to k**-a. Raises ValueError unless a is above 1.

        Method: L. Devroye, "Non-uniform random variate generation", 1986, X.6.1.
        """
        return self._counts("zipf", {"a": (a, ABOVE_1)}, size)


def _check_bound(bound: int, dtype: DType) -> None:
    if dtype is not dtypes.bool_:
        promotion.check_scalar_range("integers", bound, dtype)
    elif bound not in (0, 1):
        raise OverflowError(f"integers: {bound} is out of bounds for bool (0 to 1).")


def _bound(name: str, value: Any, exact: DType, wanted: DType, device: Device) -> VkArray:
    """A bound of integers of a type as an array of another, which is as wide. Raises TypeError and OverflowError."""
    if type(value) is VkArray:
        promotion.check_category("integers", value._dtype, "integer or boolean")
    elif promotion.is_real_scalar(value):
        bound = layout.as_integer(value, "integers", name)
        _check_bound(bound, wanted)
        return launch.constant(bound, exact, device)
    else:
        for bound in extremes("integers", name, value):
            _check_bound(layout.as_integer(bound, "integers", name), wanted)
    return on_device("integers", name, value, exact, device)
