"""Series of orthogonal polynomials: what `numpy.polynomial` has for each family, from the recurrence of the family.

p[n + 1] = (a x + b) p[n] - c p[n - 1], with p[0] = 1. Values and columns for fits are computed on the device; coefficients are few
and are computed on the host, in Python's numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...core import layout, promotion
from ...core.array import ArrayLike, StrongLike, VkArray, floating, operations
from ...kernels.array_like import takes_lists
from ...kernels.conversion import cast
from ...kernels.rows import check_array
from .. import creation, sorting
from ..elementwise import exp, sqrt
from ..linalg.eig import real_eigenvalues
from ..linalg.eigh import eigvalsh
from ..manipulation import expand_dims, flip, moveaxis, stack
from . import power_series

Numbers = list[Any]
_STEPS = 4  # of Newton's method, from eigenvalues of single precision


class Family(NamedTuple):
    """A family of orthogonal polynomials."""

    prefix: str
    recurrence: Callable[[int], tuple[float, float, float]]
    derivative: Callable[[int, int], float]  # of p[k], its part of p[j], j < k
    integral: Callable[[int], dict[int, float]]  # of p[k], its parts but for the constant
    mass: float  # the integral of the weight
    weight: Callable[[Any], Any]
    domain: tuple[float, float] = (-1.0, 1.0)
    classical: bool = True  # whether nodes of quadratures are eigenvalues


def _chebyshev_integral(k: int) -> dict[int, float]:
    if k < 2:
        return {1: 1.0} if k == 0 else {2: 0.25}
    return {k + 1: 0.5 / (k + 1), k - 1: -0.5 / (k - 1)}


FAMILIES = {
    "cheb": Family(
        "cheb", lambda n: (1.0, 0.0, 0.0) if n == 0 else (2.0, 0.0, 1.0),
        lambda j, k: (2.0 if j else 1.0) * k * ((k - j) % 2), _chebyshev_integral, math.pi,
        lambda x: 1.0 / (sqrt(1.0 + x) * sqrt(1.0 - x)), classical=False,
    ),
    "leg": Family(
        "leg", lambda n: ((2 * n + 1) / (n + 1), 0.0, n / (n + 1)), lambda j, k: (2 * j + 1.0) * ((k - j) % 2),
        lambda k: {k + 1: 1 / (2 * k + 1), k - 1: -1 / (2 * k + 1)} if k else {1: 1.0}, 2.0, lambda x: x * 0.0 + 1.0,
    ),
    "herm": Family(
        "herm", lambda n: (2.0, 0.0, 2.0 * n), lambda j, k: 2.0 * k * (j == k - 1), lambda k: {k + 1: 0.5 / (k + 1)},
        math.sqrt(math.pi), lambda x: exp(-(x * x)),
    ),
    "herme": Family(
        "herme", lambda n: (1.0, 0.0, float(n)), lambda j, k: float(k) * (j == k - 1), lambda k: {k + 1: 1 / (k + 1)},
        math.sqrt(2 * math.pi), lambda x: exp(-0.5 * (x * x)),
    ),
    "lag": Family(
        "lag", lambda n: (-1 / (n + 1), (2 * n + 1) / (n + 1), n / (n + 1)), lambda j, k: -1.0,
        lambda k: {k: 1.0, k + 1: -1.0}, 1.0, lambda x: exp(-x), domain=(0.0, 1.0),
    ),
}  # fmt: skip


# -- coefficients on the host -------------------------------------------------------------------------------------


def _trimmed(c: Numbers) -> Numbers:
    size = len(c)
    while size > 1 and c[size - 1] == 0:
        size -= 1
    return c[:size]


def _sum(one: Numbers, other: Numbers, factor: Any = 1) -> Numbers:
    size = max(len(one), len(other))
    first, second = (values + [0] * (size - len(values)) for values in (one, other))
    return [a + factor * b for a, b in zip(first, second, strict=True)]


def _times_x(family: Family, c: Numbers) -> Numbers:
    """x p[k] = (p[k + 1] - b p[k] + c p[k - 1]) / a."""
    made = [0.0] * (len(c) + 1)
    for k, value in enumerate(c):
        a, b, before = family.recurrence(k)
        made[k + 1] += value / a
        made[k] -= value * b / a
        if k:
            made[k - 1] += value * before / a
    return made


def _product(family: Family, one: Numbers, other: Numbers) -> Numbers:
    """The sum of c[k] p[k] times a series, by the recurrence of p[k] times that series."""
    last: Numbers = []
    now = one
    total: Numbers = []
    for k, value in enumerate(other):
        total = _sum(total, now, value)
        a, b, before = family.recurrence(k)
        ahead = _sum(_sum([a * v for v in _times_x(family, now)], now, b), last, -before)
        last, now = now, ahead
    return total


def _quotient(family: Family, one: Numbers, other: Numbers) -> tuple[Numbers, Numbers]:
    found, rest = [0.0] * max(len(one) - len(other) + 1, 1), list(one)
    for place in range(len(one) - len(other), -1, -1):
        product = _product(family, [0.0] * place + [1.0], other)
        top = len(other) - 1 + place
        found[place] = rest[top] / product[top]
        rest = _sum(rest, product[: top + 1], -found[place])[:top]
    return found, _trimmed(rest or [0.0])


def _derivative(family: Family, c: Numbers) -> Numbers:
    return [sum(family.derivative(j, k) * c[k] for k in range(j + 1, len(c))) for j in range(max(len(c) - 1, 0))] or [
        c[0] * 0
    ]


def _integral(family: Family, c: Numbers) -> Numbers:
    made = [0.0] * (len(c) + 1)
    for k, value in enumerate(c):
        for place, part in family.integral(k).items():
            made[place] += part * value
    return made


def clenshaw(family: Family, x: Any, c: Sequence[Any]) -> Any:
    """The value of a series: of numbers, arrays, or other series."""
    ahead: Any = 0.0
    now: Any = c[-1] + x * 0
    for k in range(len(c) - 2, -1, -1):
        a, b, _ = family.recurrence(k)
        _, _, before = family.recurrence(k + 1)
        ahead, now = now, c[k] + (x * a + b) * now - ahead * before
    return now


def _orthonormal(family: Family, count: int) -> list[tuple[float, float]]:
    """The diagonal and the side diagonal of the symmetric matrix of x between normalized polynomials."""
    rows = [family.recurrence(k) for k in range(count + 1)]
    return [
        (-rows[k][1] / rows[k][0], math.copysign(math.sqrt(rows[k + 1][2] / (rows[k][0] * rows[k + 1][0])), rows[k][0]))
        for k in range(count)
    ]


def _normalized(family: Family, x: float, sides: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    """The values of the normalized polynomials at a point, and of their derivatives."""
    values, slopes = [1 / math.sqrt(family.mass)], [0.0]
    for k, (middle, side) in enumerate(sides):
        before = sides[k - 1][1] if k else 0.0
        last, slope = (values[k - 1], slopes[k - 1]) if k else (0.0, 0.0)
        values.append(((x - middle) * values[k] - before * last) / side)
        slopes.append((values[k] + (x - middle) * slopes[k] - before * slope) / side)
    return values, slopes


# -- the functions of a family ------------------------------------------------------------------------------------


def _listed(function: str, *given: VkArray) -> tuple[list[Numbers], VkArray]:
    """Coefficients as Python's numbers, without zeros at the end, and one of them as an array. Reads them."""
    arrays = power_series.series(function, *given, trim=False)
    return [_trimmed(one.tolist()) for one in arrays], arrays[0]


def functions(prefix: str) -> dict[str, Any]:
    """The functions of a family under NumPy's names, such as `legval` for the prefix "leg"."""
    family = FAMILIES[prefix]

    def array(c: Numbers, like: VkArray) -> VkArray:
        return creation.asarray(c, dtype=like._dtype, device=like._device)

    @takes_lists
    def add_(c1: StrongLike, c2: StrongLike) -> VkArray:
        return power_series.polyadd(c1, c2)

    @takes_lists
    def sub(c1: StrongLike, c2: StrongLike) -> VkArray:
        return power_series.polysub(c1, c2)

    @takes_lists
    def mulx(c: StrongLike) -> VkArray:
        (one,), like = _listed(prefix + "mulx", c)
        return array(one if one == [0] else _times_x(family, one), like)

    @takes_lists
    def mul(c1: StrongLike, c2: StrongLike) -> VkArray:
        (one, other), like = _listed(prefix + "mul", c1, c2)
        return array(_trimmed(_product(family, one, other)), like)

    @takes_lists
    def div(c1: StrongLike, c2: StrongLike) -> tuple[VkArray, VkArray]:
        (one, other), like = _listed(prefix + "div", c1, c2)
        if other[-1] == 0:
            raise ZeroDivisionError(f"{prefix}div: the divisor is 0.")
        if len(one) < len(other):
            return array([0.0], like), array(one, like)
        found, rest = _quotient(family, one, other)
        return array(found, like), array(rest, like)

    @takes_lists
    def pow_(c: StrongLike, pow: int, maxpower: int | None = 16) -> VkArray:
        (one,), like = _listed(prefix + "pow", c)
        power = layout.as_integer(pow, prefix + "pow", "pow")
        if power < 0 or (maxpower is not None and power > maxpower):
            raise ValueError(f"{prefix}pow: expected a power from 0{f' to {maxpower}' if maxpower else ''}, got {pow}.")
        result: Numbers = [1.0]
        for _ in range(power):
            result = _product(family, result, one)
        return array(result, like)

    def val(x: ArrayLike, c: StrongLike, tensor: bool = True) -> VkArray:
        c = creation.asarray(c)
        c = c if c._dtype.kind in "fc" else cast(c, floating(c))
        x = creation.asarray(x, device=c._device)
        c = expand_dims(c, axis=0) if c.ndim == 0 else c
        if tensor:
            c = operations["reshape"](c, (*c._shape, *(1,) * x.ndim))
        return clenshaw(family, x, [c[place, ...] for place in range(c._shape[0])])

    def several(grid: bool) -> Callable[..., VkArray]:
        def evaluate(*arguments: ArrayLike) -> VkArray:
            *points, c = arguments
            arrays = [creation.asarray(one) for one in points]
            if not grid and any(one._shape != arrays[0]._shape for one in arrays):
                raise ValueError(
                    f"{prefix}val: expected coordinates of one shape, got {[one.shape for one in arrays]}."
                )
            result = val(arrays[0], c)
            for one in arrays[1:]:
                result = val(one, result, tensor=grid)
            return result

        return evaluate

    def vander(x: ArrayLike, deg: int) -> VkArray:
        degree = layout.as_integer(deg, prefix + "vander", "deg")
        if degree < 0:
            raise ValueError(f"{prefix}vander: expected deg of 0 or more, got {deg}.")
        x = creation.asarray(x)
        x = x if x._dtype.kind in "fc" else cast(x, floating(x))
        x = expand_dims(x, axis=0) if x.ndim == 0 else x
        columns, last = [x * 0 + 1], x * 0
        for k in range(degree):
            a, b, before = family.recurrence(k)
            columns.append((x * a + b) * columns[-1] - last * before)
            last = columns[-2]
        return stack(columns, axis=-1)

    def vanders(*arguments: Any) -> VkArray:
        *points, deg = arguments
        return power_series.products_of_columns(points, deg, vander)

    @takes_lists
    def fit(
        x: ArrayLike, y: ArrayLike, deg: Any, rcond: float | None = None, full: bool = False, w: ArrayLike | None = None
    ) -> Any:
        return power_series.fit(prefix + "fit", vander, x, y, deg, rcond, full, w)

    def along(function: str, c: StrongLike, axis: int, change: Callable[[Numbers], Numbers]) -> VkArray:
        """The coefficients along an axis, each series changed."""
        c = creation.asarray(c)
        c = c if c._dtype.kind in "fc" else cast(c, floating(c))
        c = expand_dims(c, axis=0) if c.ndim == 0 else c
        rows = moveaxis(c, layout.normalize_axis(axis, c.ndim, function), -1)
        if not rows.size:
            kept = len(change([0.0] * rows._shape[-1])) if rows._shape[-1] else 0
            return moveaxis(creation.zeros((*rows._shape[:-1], kept), dtype=c._dtype, device=c._device), -1, axis)
        changed = [change(one) for one in operations["reshape"](rows, (-1, rows._shape[-1])).tolist()]
        made = creation.asarray(changed, dtype=c._dtype, device=c._device)
        return moveaxis(operations["reshape"](made, (*rows._shape[:-1], len(changed[0]))), -1, axis)

    def der(c: StrongLike, m: int = 1, scl: float = 1, axis: int = 0) -> VkArray:
        count = power_series.counted(prefix + "der", m)
        scale = promotion.as_float(scl, prefix + "der", "scl")

        def change(one: Numbers) -> Numbers:
            for _ in range(min(count, len(one))):
                one = [scale * value for value in _derivative(family, one)]
            return one

        return along(prefix + "der", c, axis, change)

    def integrate(c: StrongLike, m: int = 1, k: Any = (), lbnd: float = 0, scl: float = 1, axis: int = 0) -> VkArray:
        count = power_series.counted(prefix + "int", m)
        constants = [float(one) for one in (k if isinstance(k, (list, tuple)) else [k])]
        if len(constants) > count:
            raise ValueError(f"{prefix}int: expected up to {count} constants k, got {len(constants)}.")
        lower, scale = (promotion.as_float(one, prefix + "int", name) for one, name in ((lbnd, "lbnd"), (scl, "scl")))

        def change(one: Numbers) -> Numbers:
            for constant in constants + [0.0] * (count - len(constants)):
                one = _integral(family, [scale * value for value in one])
                one[0] += constant - clenshaw(family, lower, one)
            return one

        return along(prefix + "int", c, axis, change)

    def line(off: float, scl: float) -> VkArray:
        a, b, _ = family.recurrence(0)
        return creation.asarray([off - scl * b / a, scl / a] if scl != 0 else [off])

    @takes_lists
    def fromroots(roots: StrongLike) -> VkArray:
        r = check_array(prefix + "fromroots", roots)
        r = r if r._dtype.kind in "fc" else cast(r, floating(r))
        result: Numbers = [1.0]
        a, b, _ = family.recurrence(0)
        for root in sorting.sort(r).tolist() if r.size else []:
            result = _product(family, result, [-root - b / a, 1 / a])
        return array(result, r)

    @takes_lists
    def companion(c: StrongLike) -> VkArray:
        (one,), like = _listed(prefix + "companion", c)
        if len(one) < 2:
            raise ValueError(f"{prefix}companion: expected a series of degree 1 or more.")
        n = len(one) - 1
        sides = _orthonormal(family, n)
        rows: list[Numbers] = [[0.0] * n for _ in range(n)]
        for k in range(n):
            rows[k][k] = 0.0 + sides[k][0]  # no -0
            if k:
                rows[k][k - 1] = rows[k - 1][k] = sides[k - 1][1]
        scale = 1.0  # of the last polynomial to the one of the row, in absolute value
        for j in range(n - 1, -1, -1):
            rows[j][n - 1] -= one[j] / one[-1] * scale / family.recurrence(n - 1)[0]
            if j:
                a, (ahead, _, before) = family.recurrence(j - 1)[0], family.recurrence(j)
                scale *= math.sqrt(ahead / (a * before))
        return array(rows, like)

    @takes_lists
    def roots(c: StrongLike) -> VkArray:
        (one,), like = _listed(prefix + "roots", c)
        if len(one) < 2:
            return array([], like)
        if len(one) == 2:
            a, b, _ = family.recurrence(0)
            return array([-(one[0] / one[1] + b) / a], like)
        return sorting.sort(real_eigenvalues(flip(companion(array(one, like)))))

    def from_power(pol: StrongLike) -> VkArray:
        (one,), like = _listed("poly2" + prefix, creation.asarray(pol))
        result: Numbers = []
        for value in one[::-1]:
            result = _sum(_times_x(family, result) if result else [], [value])
        return array(result, like)

    def to_power(c: StrongLike) -> VkArray:
        (one,), like = _listed(prefix + "2poly", creation.asarray(c))
        last, now, total = [], [1.0], []  # type: tuple[Numbers, Numbers, Numbers]
        for k, value in enumerate(one):
            total = _sum(total, now, value)
            a, b, before = family.recurrence(k)
            last, now = now, _sum(_sum([0.0, *(a * v for v in now)], now, b), last, -before)
        return array(total, like)

    def gauss(deg: int) -> tuple[VkArray, VkArray]:
        count = layout.as_integer(deg, prefix + "gauss", "deg")
        if count <= 0:
            raise ValueError(f"{prefix}gauss: expected deg of 1 or more, got {deg}.")
        if not family.classical:
            nodes = [math.cos(math.pi * (2 * k + 1) / (2 * count)) for k in range(count)]
            return creation.asarray(nodes), creation.asarray([math.pi / count] * count)
        sides = _orthonormal(family, count)
        nodes = sorted(eigvalsh(companion(creation.asarray([0.0] * count + [1.0]))).tolist())
        for _ in range(_STEPS):
            found = [_normalized(family, x, sides) for x in nodes]
            nodes = [x - values[count] / slopes[count] for x, (values, slopes) in zip(nodes, found, strict=True)]
        if family.domain[0] < 0:
            nodes = [(x - y) / 2 for x, y in zip(nodes, nodes[::-1], strict=True)]
        weights = [1 / sum(v * v for v in _normalized(family, x, sides)[0][:count]) for x in nodes]
        return creation.asarray(nodes), creation.asarray(weights)

    def weight(x: ArrayLike) -> VkArray:
        x = creation.asarray(x)
        return family.weight(x if x._dtype.kind == "f" else cast(x, floating(x)))

    made: dict[str, Any] = {
        "add": add_, "sub": sub, "mulx": mulx, "mul": mul, "div": div, "pow": pow_, "val": val, "val2d": several(False),
        "val3d": several(False), "grid2d": several(True), "grid3d": several(True), "vander": vander, "vander2d": vanders,
        "vander3d": vanders, "fit": fit, "der": der, "int": integrate, "line": line, "fromroots": fromroots,
        "companion": companion, "roots": roots, "gauss": gauss, "weight": weight, "trim": takes_lists(power_series.polytrim),
    }  # fmt: skip
    named = {prefix + name: one for name, one in made.items()}
    named |= {"poly2" + prefix: from_power, prefix + "2poly": to_power}
    for name, one in named.items():
        one.__name__ = one.__qualname__ = name
        like_it = getattr(power_series, name.replace(prefix, "poly"), None)
        own = _SUMMARIES.get(name.replace(prefix, ""), "")
        one.__doc__ = own or f"As `{like_it.__name__}`, of series of these polynomials.\n\n{like_it.__doc__}"  # type: ignore[union-attr]
    return named


_SUMMARIES = {
    "gauss": "The nodes and weights of the quadrature that is exact up to degree 2 deg - 1. Parameters: deg (1 or more).",
    "weight": "The weight that makes the polynomials orthogonal, at each element. Parameters: x (real).",
    "poly2": "The coefficients of a power series as those of these polynomials. Parameters: pol (1 dimension).",
    "2poly": "The coefficients of a series as those of powers. Parameters: c (1 dimension).",
}


def chebpts1(npts: int) -> VkArray:
    """The points of the first kind, at which the Chebyshev polynomial of degree npts is 0. Raises ValueError for less than 1."""
    count = layout.as_integer(npts, "chebpts1", "npts")
    if count < 1:
        raise ValueError(f"chebpts1: expected npts of 1 or more, got {npts}.")
    return creation.asarray([math.sin(0.5 * math.pi / count * k) for k in range(1 - count, count + 1, 2)])


def chebpts2(npts: int) -> VkArray:
    """The points of the second kind, which include both ends. Raises ValueError for less than 2."""
    count = layout.as_integer(npts, "chebpts2", "npts")
    if count < 2:
        raise ValueError(f"chebpts2: expected npts of 2 or more, got {npts}.")
    return creation.asarray([-math.cos(math.pi * k / (count - 1)) for k in range(count)])


def chebinterpolate(func: Callable[..., Any], deg: int, args: Sequence[Any] = ()) -> VkArray:
    """The coefficients of the series of degree deg that a function has at the points of the first kind.

    Parameters: func (called with an array of points and `args`); deg (0 or more). Raises ValueError for a negative deg.
    """
    order = layout.as_integer(deg, "chebinterpolate", "deg") + 1
    if order < 1:
        raise ValueError(f"chebinterpolate: expected deg of 0 or more, got {deg}.")
    points = chebpts1(order)
    columns = CHEBYSHEV["chebvander"](points, order - 1)
    c = operations["matmul"](columns.T, creation.asarray(func(points, *args)))
    return c * creation.asarray([1 / order] + [2 / order] * (order - 1), dtype=c._dtype, device=c._device)


CHEBYSHEV = functions("cheb")
