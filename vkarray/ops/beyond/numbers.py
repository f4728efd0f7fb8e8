"""Tests and replacements of special numbers, differences, and other small functions of NumPy's."""

from __future__ import annotations

import math
from numbers import Number
from typing import Any

from ...core import dtypes, layout
from ...core.array import ArrayLike, StrongLike, VkArray, default_dtype, floating, operations
from ...core.promotion import KIND_NAMES, check_category, is_scalar, scalar_kind
from ...kernels.conversion import cast
from ...kernels.planned import planned
from ...kernels.rows import check_array
from .. import creation, data_type, elementwise, searching, statistical, utility
from ..manipulation import concat, reshape
from .mathematics import I0, SINC, WITHOUT_INFINITIES


def _written(function: str, result: VkArray, out: VkArray | None) -> VkArray:
    return result if out is None else operations["write"](function, out, result)


@planned
def sinc(x: ArrayLike, /) -> VkArray:
    """sin(pi x) / (pi x), 1 for 0.

    Parameters: x (floating-point, integers as the default floating type). Returns an array of its type.
    Raises TypeError for other types. Method: of real x, sin(pi r) for the rest r to the nearest integer, in pairs, within an ULP.
    """
    x = check_array("sinc", x)
    if x._dtype.kind != "c":
        return SINC(x)
    angle = elementwise.multiply(x, math.pi)
    return searching.where(elementwise.equal(x, 0), 1.0, elementwise.divide(elementwise.sin(angle), angle))


@planned
def i0(x: ArrayLike, /) -> VkArray:
    """The modified Bessel function of the first kind of order 0.

    Parameters: x (real, integers as the default floating type). Returns an array of its type. Raises TypeError for other types.
    Method: the power series and, from 10 (float64: 22) on, the asymptotic one, in pairs, within an ULP.
    """
    return I0(check_array("i0", x))


@planned
def angle(z: ArrayLike, deg: bool = False) -> VkArray:
    """The angle of each complex number, in radians from -pi to pi, or with deg in degrees; pi for negative real ones.

    Parameters: z (numeric or bool). Returns an array of the real type of z. Raises TypeError for other types.
    """
    z = check_array("angle", z)
    if z._dtype.kind == "c":
        found = elementwise.atan2(operations["imag_view"](z), operations["real_view"](z))
    else:
        found = elementwise.atan2(0, z)
    return elementwise.multiply(found, 180 / math.pi) if deg else found


@planned
def nan_to_num(
    x: StrongLike, copy: bool = True, nan: ArrayLike = 0.0, posinf: ArrayLike | None = None, neginf: ArrayLike | None = None
) -> VkArray:  # fmt: skip
    """The elements with numbers in place of NaN and of infinities.

    Parameters: x (any dtype); copy (False: change x itself, and return it); nan; posinf, neginf (default: the largest and the
    smallest number of the type). Returns an array of the dtype of x; the parts of complex numbers are replaced one by one.
    Raises ValueError for shapes that do not broadcast.
    """
    x = check_array("nan_to_num", x)
    result = operations["copy"](x) if copy else x
    if x._dtype.kind not in "fc":
        return result
    limits = data_type.finfo(x._dtype)
    posinf, neginf = (limits.max if posinf is None else posinf), (limits.min if neginf is None else neginf)
    views = ("real_view", "imag_view") if x._dtype.kind == "c" else ("copy",)
    for view in views:
        part = operations[view](x)
        part = searching.where(elementwise.isnan(part), nan, WITHOUT_INFINITIES(part, posinf, neginf))
        target = operations[view](result) if view != "copy" else result
        operations["setitem"](target, ..., part)
    return result


@planned
def real_if_close(a: ArrayLike, tol: float = 100) -> VkArray:
    """The real parts where all imaginary ones are close to 0, else a itself.

    Parameters: a (any dtype); tol (how close: in units of the type's epsilon when larger than 1). Waits for the device.
    Raises TypeError for what is no array, list or number.
    """
    a = check_array("real_if_close", a)
    if a._dtype.kind != "c":
        return a
    limit = tol * data_type.finfo(a._dtype).eps if tol > 1 else tol
    close = utility.all(elementwise.abs(operations["imag_view"](a)) < limit)
    return operations["real_view"](a) if bool(close) else a


def _is_infinity(function: str, x: VkArray, sign: float, out: VkArray | None) -> VkArray:
    check_category(function, check_array(function, x)._dtype, "real")
    if x._dtype.kind != "f":
        found = creation.zeros(x._shape, dtype=dtypes.bool_, device=x._device)
    else:
        found = elementwise.equal(x, sign * math.inf)
    return _written(function, found, out)


@planned
def isposinf(x: ArrayLike, out: VkArray | None = None) -> VkArray:
    """Whether each element is positive infinity. Parameters: x (real or bool); out. Raises TypeError for complex numbers."""
    return _is_infinity("isposinf", x, 1.0, out)


@planned
def isneginf(x: ArrayLike, out: VkArray | None = None) -> VkArray:
    """Whether each element is negative infinity. Parameters: x (real or bool); out. Raises TypeError for complex numbers."""
    return _is_infinity("isneginf", x, -1.0, out)


@planned
def iscomplex(x: ArrayLike, /) -> VkArray:
    """Whether each element has an imaginary part that is not 0. Raises TypeError for what is no array, list or number."""
    x = check_array("iscomplex", x)
    if x._dtype.kind != "c":
        return creation.zeros(x._shape, dtype=dtypes.bool_, device=x._device)
    return elementwise.not_equal(operations["imag_view"](x), 0.0)


@planned
def isreal(x: ArrayLike, /) -> VkArray:
    """Whether each element has no imaginary part, or one that is 0. Raises TypeError for what is no array, list or number."""
    return elementwise.logical_not(iscomplex(x))


def iscomplexobj(x: Any) -> bool:
    """Whether x has a complex type, whatever its values. Raises TypeError for what no array can be made of."""
    dtype = getattr(x, "dtype", None)
    if dtype is not None:
        return dtypes.as_dtype(dtype).kind == "c"
    return isinstance(x, complex) if is_scalar(x) else creation.asarray(x)._dtype.kind == "c"


def isrealobj(x: Any) -> bool:
    """Whether x has a type that is not complex. Raises TypeError for what no array can be made of."""
    return not iscomplexobj(x)


def isscalar(element: Any) -> bool:
    """Whether a value is a number, also as an element or a result of 0 dimensions, a string or bytes. Raises nothing."""
    if type(element) is VkArray:
        return not element._shape and not hasattr(element, "_is_place")
    return is_scalar(element) or isinstance(element, (str, bytes, Number))


@planned
def ediff1d(ary: StrongLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None) -> VkArray:
    """The differences of neighbours in the flattened array.

    Parameters: ary (numeric); to_end, to_begin (numbers or arrays to put after and before the differences).
    Returns an array of 1 dimension and the dtype of ary. Raises TypeError for bool and for what does not fit the dtype.
    """
    x = check_array("ediff1d", ary)
    check_category("ediff1d", x._dtype, "numeric")
    parts = [_fitting(one, x) for one in (to_begin, None, to_end)]
    parts[1] = utility.diff(reshape(x, (x.size,)))
    present = [part for part in parts if part is not None]
    return concat(present) if len(present) > 1 else present[0]


_KINDS = "buifc"


def _fitting(value: Any, x: VkArray) -> VkArray | None:
    """What is put beside differences, in one dimension and their type."""
    if value is None:
        return None
    made = value if type(value) is VkArray else creation.asarray(value, dtype=_own(value, x), device=x._device)
    if _KINDS.index(made._dtype.kind) > _KINDS.index("i" if x._dtype.kind == "u" else x._dtype.kind):
        raise TypeError(f"ediff1d: {made._dtype} does not fit the dtype of ary, {x._dtype}. Convert it with astype.")
    return cast(reshape(made, (made.size,)), x._dtype)


def _own(value: Any, x: VkArray) -> Any:
    """The type of x for a Python number that fits it."""
    kind = KIND_NAMES[scalar_kind(value)]
    return (
        x._dtype
        if kind in ("bool", "int") or (kind == "float" and x._dtype.kind in "fc") or x._dtype.kind == "c"
        else None
    )


@planned
def unwrap(p: ArrayLike, discont: float | None = None, axis: int = -1, *, period: float = 2 * math.pi) -> VkArray:
    """Angles without jumps: multiples of the period are added, so that neighbours differ by half a period at most.

    Parameters: p (real); discont (a smaller distance is no jump; half the period at least, and by default); axis; period.
    Returns an array of a floating-point type, integers for integers and an integer period. Raises IndexError for an axis out of
    range.
    """
    p = check_array("unwrap", p)
    whole = isinstance(period, int) and p._dtype.kind in "iub"
    kept = default_dtype("int", p._device) if p._dtype.kind == "b" else p._dtype
    p = cast(p, kept if whole else floating(p))
    axis = layout.normalize_axis(axis, p.ndim, "unwrap")
    if p._shape[axis] < 2:
        return operations["copy"](p)
    half: Any = period // 2 if whole else period / 2
    distance = utility.diff(p, axis=axis)
    near = elementwise.subtract(elementwise.remainder(elementwise.add(distance, half), period), half)
    if not whole or period % 2 == 0:
        at_end = elementwise.logical_and(elementwise.equal(near, -half), elementwise.greater(distance, 0))
        near = searching.where(at_end, half, near)
    small = elementwise.less(elementwise.abs(distance), period / 2 if discont is None else discont)  # NaN is not
    correction = searching.where(small, 0, elementwise.subtract(near, distance))
    total = statistical.cumulative_sum(correction, axis=axis, dtype=p._dtype, include_initial=True)
    return elementwise.add(p, total)
