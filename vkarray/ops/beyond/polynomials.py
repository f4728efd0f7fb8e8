"""Polynomials whose coefficients begin with that of the highest power: NumPy's older functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from ...core import dtypes, layout, promotion
from ...core.array import ArrayLike, VkArray, default_dtype, floating, operations
from ...kernels.array_like import takes_lists
from ...kernels.conversion import cast
from ...kernels.planned import planned
from ...kernels.rows import check_array, common_dtype
from .. import creation, sorting
from ..elementwise import abs as magnitude
from ..elementwise import add, divide, equal, multiply, negative, not_equal, subtract
from ..linalg.eig import real_eigenvalues
from ..linalg.lu import inv
from ..linear_algebra import matmul
from ..manipulation import concat, flip, reshape
from ..searching import argmax
from ..utility import all as all_true
from . import matrices, power_series, products
from .arguments import arrays_of
from .power_series import check_fit, eps_of, fitted

Function = TypeVar("Function", bound=Callable[..., Any])


def without_leading_zeros(p: VkArray, tol: float = 0) -> VkArray:
    """The coefficients from the first that is larger than `tol` on; at least one. Reads a count."""
    if p.size < 2:
        return p
    large = not_equal(p, 0) if tol == 0 else magnitude(p) > tol
    first = int(argmax(large))
    return p[first:] if bool(large[first]) else p[-1:]


def _coefficients(function: str, *given: Any) -> list[VkArray]:
    """Coefficients in 1 dimension of one type; those of a `poly1d` too."""
    arrays = arrays_of(function, given)
    flat = [reshape(one, (1,)) if one.ndim == 0 else one for one in arrays]
    if any(one.ndim != 1 for one in flat):
        raise ValueError(
            f"{function}: expected coefficients in 1 dimension, got shapes {[one.shape for one in arrays]}."
        )
    dtype = common_dtype(function, flat)
    return [cast(one, dtype) for one in flat]


def _padded(p: VkArray, size: int) -> VkArray:
    zeros = creation.zeros((size - p.size,), dtype=p._dtype, device=p._device)
    return concat((zeros, p)) if p.size < size else p


def _takes_poly1d(function: Function) -> Function:
    """A function of coefficients that may be those of a `poly1d`; then its results are such, too."""

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        made = next((type(one) for one in (*args, *options.values()) if hasattr(one, "coeffs")), None)
        if made is None:
            return function(*args, **options)
        given = [getattr(one, "coeffs", one) for one in args]
        found = function(*given, **{name: getattr(one, "coeffs", one) for name, one in options.items()})
        return tuple(map(made, found)) if isinstance(found, tuple) else made(found)

    return call  # type: ignore[return-value]


@_takes_poly1d
@planned
def polyadd(a1: ArrayLike, a2: ArrayLike) -> VkArray:
    """The coefficients of the sum of two polynomials, the highest power first.

    Parameters: a1, a2 (numeric, 1 dimension). Raises ValueError for other dimensions.
    """
    a, b = _coefficients("polyadd", a1, a2)
    size = max(a.size, b.size)
    return add(_padded(a, size), _padded(b, size))


@_takes_poly1d
@planned
def polysub(a1: ArrayLike, a2: ArrayLike) -> VkArray:
    """The coefficients of the difference of two polynomials, the highest power first.

    Parameters: a1, a2 (numeric, 1 dimension). Raises ValueError for other dimensions.
    """
    a, b = _coefficients("polysub", a1, a2)
    size = max(a.size, b.size)
    return subtract(_padded(a, size), _padded(b, size))


@_takes_poly1d
@takes_lists
def polymul(a1: ArrayLike, a2: ArrayLike) -> VkArray:
    """The coefficients of the product of two polynomials, the highest power first.

    Parameters: a1, a2 (numeric, 1 dimension). Reads how many coefficients are not 0. Raises ValueError for other dimensions.
    """
    given = (without_leading_zeros(one) for one in _coefficients("polymul", a1, a2))
    a, b = (one if one.size else creation.zeros((1,), dtype=one._dtype, device=one._device) for one in given)
    return products.convolve(a, b)


@_takes_poly1d
@takes_lists
def polydiv(u: ArrayLike, v: ArrayLike) -> tuple[VkArray, VkArray]:
    """The coefficients of the quotient of two polynomials and of the remainder, the highest power first.

    Parameters: u, v (numeric, 1 dimension). Returns arrays of a floating-point type. Reads how many coefficients of the remainder
    are not close to 0. Raises ValueError for other dimensions.
    """
    w, d = _coefficients("polydiv", u, v)
    w = w if w._dtype.kind in "fc" else cast(w, floating(w))
    d = cast(d, w._dtype)
    m, n = w.size - 1, d.size - 1
    quotient = creation.zeros((max(m - n + 1, 1),), dtype=w._dtype, device=w._device)
    rest = operations["copy"](w)
    for k in range(m - n + 1):
        share = divide(rest[k : k + 1], d[:1])
        operations["setitem"](quotient, slice(k, k + 1), share)
        operations["setitem"](rest, slice(k, k + n + 1), subtract(rest[k : k + n + 1], multiply(share, d)))
    return quotient, without_leading_zeros(rest, 1e-8)


def polyval(p: ArrayLike, x: ArrayLike) -> Any:
    """The values of a polynomial, the coefficient of the highest power first.

    Parameters: p (numeric, 1 dimension, or a `poly1d`); x (numeric, or a `poly1d`, which takes the place of the variable).
    Returns an array of the shape of x and the promoted type, or a `poly1d`.
    Raises ValueError unless p has 1 dimension. Method: Horner's.
    """
    p = getattr(p, "coeffs", p)
    if hasattr(x, "coeffs"):
        return functools.reduce(lambda value, coefficient: value * x + coefficient, p, type(x)(0))
    return _values(p, x)


@planned
def _values(p: ArrayLike, x: ArrayLike) -> VkArray:
    (p,) = _coefficients("polyval", creation.asarray(p) if promotion.is_scalar(p) else p)
    x = creation.asarray(x, device=p._device) if promotion.is_scalar(x) else check_array("polyval", x)
    result = operations["zeros"](
        x._shape, dtype=common_dtype("polyval", (p, x)) if p.size else x._dtype, device=x._device
    )
    for place in range(p.size):
        result = add(multiply(result, x), p[place])
    return result


@_takes_poly1d
@planned
def polyder(p: ArrayLike, m: int = 1) -> VkArray:
    """The coefficients of the m-th derivative of a polynomial, the highest power first.

    Parameters: p (numeric, 1 dimension); m (0 or more). Raises ValueError for a negative m.
    """
    (p,) = _coefficients("polyder", p)
    m = layout.as_integer(m, "polyder", "m")
    if m < 0:
        raise ValueError(f"polyder: expected an order of 0 or more, got {m}.")
    for _ in range(min(m, p.size)):
        numbers = creation.arange(p.size - 1, 0, -1, dtype=default_dtype("int", p._device), device=p._device)
        p = multiply(p[:-1], numbers)
    return p


@_takes_poly1d
@planned
def polyint(p: ArrayLike, m: int = 1, k: Any = None) -> VkArray:
    """The coefficients of the m-th integral of a polynomial, the highest power first.

    Parameters: p (numeric, 1 dimension); m (0 or more); k (the constants of integration: one for all, or a list of m).
    Returns an array of a floating-point type. Raises ValueError for a negative m and too few constants.
    """
    m = layout.as_integer(m, "polyint", "m")
    if m < 0:
        raise ValueError(f"polyint: expected an order of 0 or more, got {m}.")
    constants = [0] if k is None else list(k) if isinstance(k, (list, tuple)) else [k]
    if len(constants) == 1:
        constants *= max(m, 1)
    if len(constants) < m:
        raise ValueError(f"polyint: expected {m} constants k, got {len(constants)}.")
    (p,) = _coefficients("polyint", p)
    for place in range(m):
        numbers = creation.arange(p.size, 0, -1, dtype=default_dtype("int", p._device), device=p._device)
        p = divide(p, numbers) if p.size else cast(p, floating(p))
        p = concat((p, creation.full((1,), constants[place], dtype=p._dtype, device=p._device)))
    return p


@takes_lists
def poly(seq_of_zeros: ArrayLike) -> VkArray:
    """The coefficients of the polynomial with the given roots, or of the characteristic polynomial of a matrix, highest power
    first.

    Parameters: seq_of_zeros (numeric, 1 dimension, or a square matrix). Returns an array of a floating-point type, real where roots
    come in conjugate pairs. Waits for the device. Raises ValueError for other shapes.
    """
    r = check_array("poly", seq_of_zeros)
    if r.ndim == 2 and r._shape[0] == r._shape[1] and r._shape[0]:
        r = real_eigenvalues(r)
    elif r.ndim == 0:
        r = reshape(r, (1,))
    elif r.ndim == 1 and r._dtype is dtypes.float16:  # NumPy's has types from 32 bits on
        r = cast(r, default_dtype("float", r._device))
    elif r.ndim != 1:
        raise ValueError(f"poly: expected roots in 1 dimension or a square matrix, got shape {r._shape}.")
    found = flip(power_series.polyfromroots(r)) if r.size else creation.ones((), dtype=floating(r), device=r._device)
    if found._dtype.kind == "c":
        paired = equal(sorting.sort(r), sorting.sort(operations["conj"](r)))
        if bool(all_true(paired)):
            found = operations["copy"](operations["real_view"](found))
    return found


@takes_lists
def roots(p: ArrayLike) -> VkArray:
    """The roots of a polynomial, the coefficient of the highest power first.

    Parameters: p (numeric, 1 dimension). Returns an array, complex unless NumPy's would be real and float64 is the default type.
    Waits for the device. Raises ValueError for other dimensions. Method: the eigenvalues of the companion matrix.
    """
    (p,) = _coefficients("roots", p)
    p = p if p._dtype.kind in "fc" else cast(p, floating(p))
    if not p.size or not power_series.has_any(p):
        return creation.zeros((0,), dtype=floating(p), device=p._device)
    whole = without_leading_zeros(p)
    kept = power_series.trimmed(whole)
    n = kept.size - 1
    if n:
        matrix = creation.eye(n, n, k=-1, dtype=kept._dtype, device=kept._device)
        operations["setitem"](matrix, (0, slice(None)), divide(negative(kept[1:]), kept[0]))
        found = real_eigenvalues(matrix)
    else:
        found = kept[:0]
    zeros = creation.zeros((whole.size - kept.size,), dtype=found._dtype, device=found._device)
    return concat((found, zeros)) if zeros.size else found


@takes_lists
def polyfit(
    x: ArrayLike, y: ArrayLike, deg: int, rcond: float | None = None, full: bool = False, w: ArrayLike | None = None,
    cov: bool | str = False,
) -> Any:  # fmt: skip
    """The coefficients of the polynomial that fits points best, in the sense of least squares, the highest power first.

    Parameters: x (numeric, of shape (M,)); y (of shape (M,), or (M, K) for K polynomials); deg (the degree); rcond (see `lstsq`);
    full (also return the residuals, the rank, the singular values and rcond); w (weights of the points); cov (also return the
    covariances of the coefficients; "unscaled": not multiplied by the residuals).
    Returns an array of shape (deg + 1,) or (deg + 1, K). Waits for the device.
    Raises TypeError for other dimensions and lengths, ValueError for a negative deg. Method: `lstsq` of scaled columns.
    """
    order = layout.as_integer(deg, "polyfit", "deg") + 1
    if order < 1:
        raise ValueError(f"polyfit: expected deg of 0 or more, got {deg}.")
    check_fit(check_array("polyfit", x), check_array("polyfit", y), w)
    x = x if x._dtype.kind in "fc" else cast(x, floating(x))
    columns = matrices.vander(x, order)
    rcond = x.size * eps_of(x) if rcond is None else rcond
    c, residuals, rank, s, scale = fitted(columns, y, w, rcond)
    if full:
        return c, residuals, rank, s, rcond
    if not cov:
        return c
    weighted = divide(columns if w is None else multiply(columns, w[:, None]), scale)
    base = inv(matmul(weighted.mT, weighted))
    base = divide(base, multiply(scale[:, None], scale[None, :]))
    if cov == "unscaled":
        return c, (base if y.ndim == 1 else base[:, :, None])
    if x.size <= order:
        raise ValueError(f"polyfit: expected more than {order} points for the covariances, got {x.size}.")
    factor = divide(residuals, x.size - order)
    return c, multiply(base, factor) if y.ndim == 1 else multiply(base[:, :, None], factor)
