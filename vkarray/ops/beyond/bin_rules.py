"""Rules for the number of bins of a histogram, by NumPy's names."""

from __future__ import annotations

import math
from collections.abc import Callable

from ...core.array import VkArray, floating
from ...kernels.conversion import cast
from .. import statistical
from ..elementwise import logical_and
from ..manipulation import reshape
from .quantile import percentile

_Rule = Callable[[VkArray, float, tuple[float, float]], float]


def _spread(x: VkArray) -> float:
    return float(statistical.std(x))


def _sturges(x: VkArray, width: float, bounds: tuple[float, float]) -> float:
    return width / (math.log2(x.size) + 1.0)


def _doane(x: VkArray, width: float, bounds: tuple[float, float]) -> float:
    """Doane, "Aesthetic frequency classification", The American Statistician 30, 1976."""
    deviation = _spread(x)
    if x.size <= 2 or deviation <= 0:
        return 0.0
    skewness = float(statistical.mean(((x - statistical.mean(x)) / deviation) ** 3))
    error = math.sqrt(6.0 * (x.size - 2) / ((x.size + 1.0) * (x.size + 3)))
    return width / (1.0 + math.log2(x.size) + math.log2(1.0 + abs(skewness) / error))


def _freedman_diaconis(x: VkArray, width: float, bounds: tuple[float, float]) -> float:
    high, low = percentile(x, [75, 25]).tolist()
    return 2.0 * (high - low) * x.size ** (-1.0 / 3.0)


def _stone(x: VkArray, width: float, bounds: tuple[float, float]) -> float:
    """The number of bins with the least estimated error (Stone, 1984), up to max(100, sqrt(N))."""
    from .histogram import histogram

    n = x.size
    if n <= 1 or width == 0:
        return 0.0

    def loss(bins: int) -> float:
        step = width / bins
        shares = [count / n for count in histogram(x, bins, bounds)[0].tolist()]
        return (2 - (n + 1) * sum(share * share for share in shares)) / step

    return width / min(range(1, max(100, int(math.sqrt(n))) + 1), key=loss)


def _auto(x: VkArray, width: float, bounds: tuple[float, float]) -> float:
    """The narrower of Sturges's bins and of Freedman and Diaconis's, which are at least half as wide as those of "sqrt"."""
    return min(
        max(_freedman_diaconis(x, width, bounds), _RULES["sqrt"](x, width, bounds) / 2), _sturges(x, width, bounds)
    )


# The width of a bin, 0 where there should be one, from the elements, the distance of the largest from the smallest, and the
# outermost edges.
_RULES: dict[str, _Rule] = {
    "auto": _auto,
    "doane": _doane,
    "fd": _freedman_diaconis,
    "rice": lambda x, width, _: width / (2.0 * x.size ** (1.0 / 3)),
    "scott": lambda x, width, _: (24.0 * math.sqrt(math.pi) / x.size) ** (1.0 / 3.0) * _spread(x),
    "sqrt": lambda x, width, _: width / math.sqrt(x.size),
    "stone": _stone,
    "sturges": _sturges,
}


def number_of_bins(x: VkArray, rule: str, bounds: tuple[float, float], chosen: bool) -> int:
    """How many bins a rule gives between two bounds; elements outside of `chosen` bounds do not count."""
    if rule not in _RULES:
        raise ValueError(f"histogram: expected a rule of {', '.join(_RULES)}, got {rule!r}.")
    low, high = bounds
    values = reshape(x, (x.size,))
    if chosen:
        values = values[logical_and(values >= low, values <= high)]
    if values.size == 0:
        return 1
    whole = values._dtype.kind in "iub"
    values = cast(values, floating(values))
    width = _RULES[rule](values, float(statistical.max(values) - statistical.min(values)), bounds)
    if whole and width < 1:
        width = 1.0
    return math.ceil((high - low) / width) if width else 1
