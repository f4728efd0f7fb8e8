"""Polynomials whose coefficients begin with the constant one: the functions of `numpy.polynomial.polynomial`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core import layout, promotion
from ...core.array import ArrayLike, StrongLike, VkArray, floating, operations
from ...errors import LinAlgError
from ...kernels.array_like import takes_lists
from ...kernels.conversion import cast
from ...kernels.planned import planned
from ...kernels.rows import check_array
from .. import creation, sorting, statistical
from ..elementwise import abs as magnitude
from ..elementwise import add, divide, isfinite, multiply, negative, not_equal, sqrt, square, subtract
from ..linalg.eig import real_eigenvalues
from ..linalg.least_squares import lstsq
from ..manipulation import concat, expand_dims, flip, moveaxis, reshape
from ..searching import argmax, where
from ..utility import all as all_true
from ..utility import any as any_true
from . import products


def trimmed(c: VkArray, tol: float = 0) -> VkArray:
    """Coefficients of 1 dimension without those at the end that are at most `tol`; at least one. Reads a count."""
    if c.size < 2:
        return c
    large = not_equal(c, 0) if tol == 0 else magnitude(c) > tol
    last = c.size - int(argmax(flip(large)))
    return c[:last] if bool(large[last - 1]) else multiply(c[:1], 0)


def series(function: str, *given: VkArray, trim: bool = True) -> list[VkArray]:
    """Coefficients in 1 dimension and one floating-point type, without zeros at the end. Raises ValueError for none."""
    arrays = [check_array(function, one) for one in given]
    flat = [reshape(one, (1,)) if one.ndim == 0 else one for one in arrays]
    if any(one.ndim != 1 or not one.size for one in flat):
        raise ValueError(
            f"{function}: expected coefficients in 1 dimension, got shapes {[one.shape for one in arrays]}."
        )
    dtype = promotion.promote_all([floating(one) for one in flat])
    return [trimmed(cast(one, dtype)) if trim else cast(one, dtype) for one in flat]


def _padded(c: VkArray, size: int) -> VkArray:
    zeros = creation.zeros((size - c.size,), dtype=c._dtype, device=c._device)
    return concat((c, zeros)) if c.size < size else c


@takes_lists
def polyadd(c1: StrongLike, c2: StrongLike) -> VkArray:
    """The coefficients of the sum of two polynomials. Parameters: c1, c2 (numeric, 1 dimension). Reads how many are not 0."""
    a, b = series("polyadd", c1, c2)
    size = max(a.size, b.size)
    return trimmed(add(_padded(a, size), _padded(b, size)))


@takes_lists
def polysub(c1: StrongLike, c2: StrongLike) -> VkArray:
    """The coefficients of the difference of two polynomials. Parameters: c1, c2 (numeric, 1 dimension). Reads as `polyadd`."""
    a, b = series("polysub", c1, c2)
    size = max(a.size, b.size)
    return trimmed(subtract(_padded(a, size), _padded(b, size)))


@takes_lists
def polymulx(c: StrongLike) -> VkArray:
    """The coefficients of a polynomial times x. Parameters: c (numeric, 1 dimension). Reads how many are not 0."""
    (a,) = series("polymulx", c)
    if a.size == 1 and not bool(not_equal(a[0], 0)):
        return a
    return concat((creation.zeros((1,), dtype=a._dtype, device=a._device), a))


@takes_lists
def polymul(c1: StrongLike, c2: StrongLike) -> VkArray:
    """The coefficients of the product of two polynomials. Parameters: c1, c2 (numeric, 1 dimension). Reads as `polyadd`."""
    a, b = series("polymul", c1, c2)
    return trimmed(products.convolve(a, b))


@takes_lists
def polydiv(c1: StrongLike, c2: StrongLike) -> tuple[VkArray, VkArray]:
    """The coefficients of the quotient of two polynomials and of the remainder.

    Parameters: c1, c2 (numeric, 1 dimension). Reads how many are not 0. Raises ZeroDivisionError for c2 = 0.
    """
    a, b = series("polydiv", c1, c2)
    if not bool(not_equal(b[-1], 0)):
        raise ZeroDivisionError("polydiv: the divisor is 0.")
    if a.size < b.size:
        return multiply(a[:1], 0), a
    if b.size == 1:
        return divide(a, b[-1]), multiply(a[:1], 0)
    divisor = divide(b[:-1], b[-1])
    rest, n = operations["copy"](a), divisor.size
    for last in range(a.size - 1, n - 1, -1):
        part = rest[last - n : last]
        operations["setitem"](rest, slice(last - n, last), subtract(part, multiply(divisor, rest[last])))
    return divide(rest[n:], b[-1]), trimmed(rest[:n])


@takes_lists
def polypow(c: StrongLike, pow: int, maxpower: int | None = None) -> VkArray:
    """The coefficients of a power of a polynomial.

    Parameters: c (numeric, 1 dimension); pow (0 or more); maxpower (the largest that is allowed). Reads how many are not 0.
    Raises ValueError for other powers.
    """
    (a,) = series("polypow", c)
    power = layout.as_integer(pow, "polypow", "pow")
    if power < 0 or (maxpower is not None and power > maxpower):
        raise ValueError(f"polypow: expected a power from 0{f' to {maxpower}' if maxpower else ''}, got {pow}.")
    result = creation.ones((1,), dtype=a._dtype, device=a._device)
    for _ in range(power):
        result = products.convolve(result, a)
    return result


@planned
def polyval(x: ArrayLike, c: StrongLike, tensor: bool = True) -> VkArray:
    """The values of polynomials.

    Parameters: x (numeric); c (numeric; the coefficients along the first dimension, further ones for several polynomials); tensor
    (each polynomial at each x; else x broadcasts against the further dimensions of c).
    Returns an array of the promoted floating-point type. Method: Horner's.
    """
    c = check_array("polyval", creation.asarray(c) if promotion.is_scalar(c) else c)
    c = reshape(c, (1,)) if c.ndim == 0 else c
    c = c if c._dtype.kind in "fc" else cast(c, floating(c))
    if tensor and not promotion.is_scalar(x):
        c = reshape(c, (*c._shape, *(1,) * check_array("polyval", x).ndim))
    result = add(c[-1, ...], x * 0)
    for place in range(c._shape[0] - 2, -1, -1):
        result = add(c[place, ...], multiply(result, x))
    return result


@planned
def polyvalfromroots(x: ArrayLike, r: ArrayLike, tensor: bool = True) -> VkArray:
    """The values of polynomials given by their roots: the products of x - r over the first dimension of r.

    Parameters: x (numeric); r (numeric); tensor (as in `polyval`). Returns an array of the promoted floating-point type.
    """
    r = creation.asarray(r) if promotion.is_scalar(r) else check_array("polyvalfromroots", r)
    r = reshape(r, (1,)) if r.ndim == 0 else r
    r = r if r._dtype.kind in "fc" else cast(r, floating(r))
    x = creation.asarray(x, device=r._device) if promotion.is_scalar(x) else check_array("polyvalfromroots", x)
    if tensor:
        r = reshape(r, (*r._shape, *(1,) * x.ndim))
    return statistical.prod(subtract(x, r), axis=0)


def _several(c: VkArray, *points: VkArray, grid: bool) -> VkArray:
    """The values of polynomials of several variables, at points or on their grid."""
    points = tuple(creation.asarray(one) for one in points)
    if not grid and any(one._shape != points[0]._shape for one in points):
        raise ValueError(f"polyval: expected coordinates of one shape, got {[one.shape for one in points]}.")
    result = polyval(points[0], c)
    for one in points[1:]:
        result = polyval(one, result, tensor=grid)
    return result


def polyval2d(x: ArrayLike, y: ArrayLike, c: StrongLike) -> VkArray:
    """The values of polynomials of two variables at points (x, y); c[i, j] belongs to x**i * y**j."""
    return _several(c, x, y, grid=False)


def polyval3d(x: ArrayLike, y: ArrayLike, z: ArrayLike, c: StrongLike) -> VkArray:
    """The values of polynomials of three variables at points (x, y, z); c[i, j, k] belongs to x**i * y**j * z**k."""
    return _several(c, x, y, z, grid=False)


def polygrid2d(x: ArrayLike, y: ArrayLike, c: StrongLike) -> VkArray:
    """The values of polynomials of two variables on the grid of x and y; c[i, j] belongs to x**i * y**j."""
    return _several(c, x, y, grid=True)


def polygrid3d(x: ArrayLike, y: ArrayLike, z: ArrayLike, c: StrongLike) -> VkArray:
    """The values of polynomials of three variables on the grid of x, y and z; c[i, j, k] belongs to x**i * y**j * z**k."""
    return _several(c, x, y, z, grid=True)


@planned
def polyvander(x: ArrayLike, deg: int) -> VkArray:
    """The powers of each element up to `deg`, along a new last dimension.

    Parameters: x (numeric); deg (0 or more). Returns an array of a floating-point type. Raises ValueError for a negative deg.
    """
    deg = layout.as_integer(deg, "polyvander", "deg")
    if deg < 0:
        raise ValueError(f"polyvander: expected deg of 0 or more, got {deg}.")
    x = check_array("polyvander", x)
    x = x if x._dtype.kind in "fc" else cast(x, floating(x))
    x = reshape(x, (1,)) if x.ndim == 0 else x
    rows = operations["broadcast_to"](x[..., None], (*x._shape, deg))
    return statistical.cumulative_prod(rows, axis=-1, dtype=x._dtype, include_initial=True)


def products_of_columns(
    points: Sequence[Any], deg: Sequence[int], columns: Callable[[VkArray, int], VkArray]
) -> VkArray:
    """The products of the columns of each coordinate up to its degree, along a new last dimension."""
    arrays = [creation.asarray(one) for one in points]
    if len(deg) != len(arrays):
        raise ValueError(f"polyvander: expected {len(arrays)} degrees, got {deg}.")
    rank = len(arrays)
    result = None
    for place, (one, degree) in enumerate(zip(arrays, deg, strict=True)):
        powers = columns(one, degree)
        shape = [1] * rank
        shape[place] = -1
        powers = reshape(powers, (*powers._shape[:-1], *shape))
        result = powers if result is None else multiply(result, powers)
    assert result is not None
    return reshape(result, (*result._shape[:-rank], -1))


def polyvander2d(x: ArrayLike, y: ArrayLike, deg: Sequence[int]) -> VkArray:
    """The products of powers of x and y up to the two degrees, along a new last dimension."""
    return products_of_columns((x, y), deg, polyvander)


def polyvander3d(x: ArrayLike, y: ArrayLike, z: ArrayLike, deg: Sequence[int]) -> VkArray:
    """The products of powers of x, y and z up to the three degrees, along a new last dimension."""
    return products_of_columns((x, y, z), deg, polyvander)


# -- derivatives, integrals, fits and roots ---------------------------------------------------------------------------------


def counted(name: str, value: Any) -> int:
    count = layout.as_integer(value, name, "the order m")
    if count < 0:
        raise ValueError(f"{name}: expected an order of 0 or more, got {count}.")
    return count


def _numbers(first: int, count: int, c: VkArray) -> VkArray:
    """first, first + 1, ... along the first dimension of c."""
    real = operations["real_view"](c)._dtype
    numbers = creation.arange(first, first + count, dtype=real, device=c._device)
    return reshape(numbers, (count, *(1,) * (c.ndim - 1)))


@planned
def polyder(c: StrongLike, m: int = 1, scl: ArrayLike = 1, axis: int = 0) -> VkArray:
    """The coefficients of the m-th derivatives of polynomials.

    Parameters: c (numeric; the coefficients along `axis`); m (0 or more); scl (a factor of each derivative); axis.
    Returns an array of a floating-point type. Raises ValueError for a negative m, IndexError for an axis out of range.
    """
    c, axis = _along("polyder", c, axis)
    count = counted("polyder", m)
    if count >= c._shape[0]:
        c = multiply(c[:1], 0)
    else:
        for _ in range(count):
            c = multiply(multiply(c[1:], _numbers(1, c._shape[0] - 1, c)), scl)
    return moveaxis(c, 0, axis)


def _along(name: str, c: Any, axis: int) -> tuple[VkArray, int]:
    """The coefficients in a floating-point type along the first dimension, and the axis that they came from."""
    c = check_array(name, c)
    c = reshape(c, (1,)) if c.ndim == 0 else c
    c = c if c._dtype.kind in "fc" else cast(c, floating(c))
    axis = layout.normalize_axis(axis, c.ndim, name)
    return moveaxis(c, axis, 0), axis


@planned
def polyint(c: StrongLike, m: int = 1, k: Any = (), lbnd: ArrayLike = 0, scl: ArrayLike = 1, axis: int = 0) -> VkArray:
    """The coefficients of the m-th integrals of polynomials.

    Parameters: c (numeric; the coefficients along `axis`); m (0 or more); k (the values of the integrals at lbnd, one or a list of
    up to m); lbnd; scl (a factor of each integral); axis.
    Returns an array of a floating-point type. Raises ValueError for a negative m and more constants, IndexError for an axis out of
    range.
    """
    constants = list(k) if isinstance(k, (list, tuple)) else [k]
    count = counted("polyint", m)
    if len(constants) > count:
        raise ValueError(f"polyint: expected up to {count} constants k, got {len(constants)}.")
    c, axis = _along("polyint", c, axis)
    for value in constants + [0] * (count - len(constants)):
        c = multiply(c, scl)
        integral = divide(c, _numbers(1, c._shape[0], c))
        integral = concat((multiply(c[:1], 0), integral))
        offset = subtract(value, polyval(lbnd, integral))
        c = concat((expand_dims(operations["astype"](offset, c._dtype, copy=False), 0), integral[1:]))
    return moveaxis(c, 0, axis)


@takes_lists
def polyfit(
    x: ArrayLike, y: ArrayLike, deg: Any, rcond: float | None = None, full: bool = False, w: ArrayLike | None = None
) -> Any:
    """The coefficients of the polynomial that fits points best, in the sense of least squares.

    Parameters: x (numeric, of shape (M,)); y (of shape (M,), or (M, K) for K polynomials); deg (the degree, or a list of the powers
    that take part); rcond (see `lstsq`); full (also return [residuals, rank, singular values, rcond]); w (weights of the points).
    Returns an array of shape (deg + 1,) or (deg + 1, K). Waits for the device.
    Raises TypeError for other dimensions and lengths, ValueError for negative degrees. Method: `lstsq` of scaled columns.
    """
    return fit("polyfit", polyvander, x, y, deg, rcond, full, w)


def fit(
    name: str, vander: Callable[[VkArray, int], VkArray], x: VkArray, y: VkArray, deg: Any, rcond: float | None, full: bool,
    w: VkArray | None,
) -> Any:  # fmt: skip
    """The coefficients of the series that fits points best, by the columns that `vander` makes: see `polyfit`."""
    powers = [deg] if isinstance(deg, int) else list(deg)
    powers = [layout.as_integer(one, name, "deg") for one in powers]
    if not powers or min(powers) < 0:
        raise ValueError(f"{name}: expected degrees of 0 or more, got {deg!r}.")
    check_fit(check_array(name, x), check_array(name, y), w)
    order = max(powers)
    columns = vander(x, order)
    if not isinstance(deg, int):
        columns = columns[:, sorted(powers)]
    rcond = x._shape[0] * eps_of(columns) if rcond is None else rcond
    c, residuals, rank, s, _ = fitted(columns, y, w, rcond)
    if not isinstance(deg, int):
        whole = creation.zeros((order + 1, *c._shape[1:]), dtype=c._dtype, device=c._device)
        whole[sorted(powers)] = c
        c = whole
    return (c, [residuals, rank, s, rcond]) if full else c


def eps_of(x: VkArray) -> float:
    """The distance from 1 to the next number of the type."""
    return 2.0**-52 if x._dtype.bits == 64 else 2.0**-23


def check_fit(x: VkArray, y: VkArray, w: Any) -> None:
    """Raise TypeError for points that no polynomial can be fitted to."""
    if x.ndim != 1 or x.size == 0:
        raise TypeError(f"polyfit: expected x of 1 dimension with elements, got shape {x._shape}.")
    if y.ndim not in (1, 2) or y._shape[0] != x._shape[0]:
        raise TypeError(f"polyfit: expected y of shape ({x.size},) or ({x.size}, K), got {y._shape}.")
    if w is not None and (w.ndim != 1 or w.size != x.size):
        raise TypeError(f"polyfit: expected {x.size} weights in 1 dimension, got shape {w._shape}.")


def fitted(
    columns: VkArray, y: VkArray, w: VkArray | None, rcond: float
) -> tuple[VkArray, VkArray, VkArray, VkArray, VkArray]:  # fmt: skip
    """The coefficients, residuals, rank and singular values of a fit, and what the columns were divided by."""
    y = y if y._dtype.kind in "fc" else cast(y, floating(y))
    if w is not None:
        columns = multiply(columns, w[:, None])
        y = multiply(y, w[:, None] if y.ndim == 2 else w)
    scale = sqrt(statistical.sum(square(magnitude(columns)), axis=0))
    scale = where(scale == 0, 1.0, scale)
    c, residuals, rank, s = lstsq(divide(columns, scale), y, rcond)
    return divide(c, scale[:, None] if c.ndim == 2 else scale), residuals, rank, s, scale


@takes_lists
def polycompanion(c: StrongLike) -> VkArray:
    """The companion matrix of a polynomial, whose eigenvalues are the roots.

    Parameters: c (numeric, 1 dimension, at least 2 coefficients that are not all 0 at the end). Raises ValueError for fewer.
    """
    (a,) = series("polycompanion", c)
    if a.size < 2:
        raise ValueError("polycompanion: expected a polynomial of degree 1 or more.")
    n = a.size - 1
    matrix = creation.eye(n, n, k=-1, dtype=a._dtype, device=a._device)
    last = subtract(matrix[:, n - 1], divide(a[:-1], a[-1]))
    operations["setitem"](matrix, (slice(None), n - 1), last)
    return matrix


@takes_lists
def polyroots(c: StrongLike) -> VkArray:
    """The roots of a polynomial, in ascending order.

    Parameters: c (numeric, 1 dimension). Returns an array, complex unless NumPy's would be real and float64 is the default type.
    Waits for the device. Method: the eigenvalues of the companion matrix.
    """
    (a,) = series("polyroots", c)
    if a.size < 2:
        return a[:0]
    if not bool(all_true(isfinite(a))):
        raise LinAlgError("polyroots: expected finite coefficients.")
    if a.size == 2:
        return divide(negative(a[:1]), a[1:])
    return sorting.sort(real_eigenvalues(flip(polycompanion(a))))


@takes_lists
def polyfromroots(roots: StrongLike) -> VkArray:
    """The coefficients of the polynomial with the given roots and the leading coefficient 1. Parameters: roots (1 dimension)."""
    r = check_array("polyfromroots", roots)
    r = r if r._dtype.kind in "fc" else cast(r, floating(r))
    one = creation.ones((1,), dtype=r._dtype, device=r._device)
    if r.size == 0:
        return one
    (ordered,) = series("polyfromroots", sorting.sort(r), trim=False)
    parts = [concat((negative(ordered[place : place + 1]), one)) for place in range(ordered.size)]
    while len(parts) > 1:
        joined = [products.convolve(*pair) for pair in zip(parts[::2], parts[1::2], strict=False)]
        parts = joined + parts[2 * len(joined) :]
    return parts[0]


@takes_lists
def polytrim(c: StrongLike, tol: float = 0) -> VkArray:
    """The coefficients without those at the end that are at most `tol`. Raises ValueError for a negative tol."""
    if tol < 0:
        raise ValueError(f"polytrim: expected tol of 0 or more, got {tol}.")
    return trimmed(series("polytrim", c, trim=False)[0], tol)


def polyline(off: float, scl: float) -> VkArray:
    """The coefficients of off + scl * x."""
    return creation.asarray([off, scl] if scl != 0 else [off])


def has_any(x: VkArray) -> bool:
    """Whether any element is not 0."""
    return bool(any_true(not_equal(x, 0)))
