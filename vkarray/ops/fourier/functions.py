"""The transforms of the standard's extension `fft`."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, Literal, Protocol

from ...core import dtypes, layout
from ...core.array import ArrayLike, VkArray, array_in, empty, floating, operations
from ...core.dtypes import CATEGORIES, REAL_OF, DType
from ...kernels import launch
from ...kernels.conversion import cast
from ...kernels.dispatch import pointer
from ...kernels.planned import planned
from ...kernels.rows import check_array
from . import half_spectrum
from .batch import REACH
from .transform import (
    COMPLEX,
    CONJUGATE_IN,
    CONJUGATE_OUT,
    HALF_SPECTRUM,
    HERMITIAN,
    REAL,
    REAL_PAIRS,
    complex_dtype,
    is_one_pass,
    transform,
)

Norm = Literal["backward", "ortho", "forward"]

# The power of n by which results are divided: of transforms and of inverse transforms.
_NORMS = {"backward": (0.0, 1.0), "ortho": (0.5, 0.5), "forward": (1.0, 0.0)}
_LONGEST = 2**27  # points of a transform: twice that, to which it may be padded, are within reach of a dispatch


# The functions for complex numbers where one takes real numbers alone.
_FOR_COMPLEX = {"rfft": "fft", "rfftn": "fftn", "ihfft": "ifft"}


def _operand(name: str, x: Any) -> VkArray:
    """x in the type to compute in. Raises TypeError unless x is an array, and for complex ones where reals are needed."""
    dtype = check_array(name, x)._dtype
    if name in _FOR_COMPLEX and dtype in CATEGORIES["complex floating"]:
        raise TypeError(
            f"{name}: expected real numbers, got {dtype}. Use vkarray.fft.{_FOR_COMPLEX[name]}, or take vkarray.real(x)."
        )
    dtype = floating(x)
    return cast(x, dtypes.float32 if dtype.bits == 16 else dtype)


def _length(name: str, n: int | None, default: int) -> int:
    """The number of points. Raises ValueError."""
    points = default if n is None else n
    if points < 1:
        found = f"the shape of x gives {points}" if n is None else f"got {points}"
        raise ValueError(f"{name}: expected 1 or more points along the axis, {found}. Choose n (or s).")
    if points > _LONGEST:
        raise ValueError(f"{name}: expected up to {_LONGEST} points along the axis, got {points}.")
    return points


def _written(name: str, result: VkArray, out: VkArray | None) -> VkArray:
    return result if out is None else operations["write"](name, out, result)


def _scale(name: str, norm: str | None, points: int, inverse: bool) -> float:
    norm = "backward" if norm is None else norm
    if norm not in tuple(_NORMS):  # which compares also what has no hash
        raise ValueError(f"{name}: expected norm 'backward', 'ortho' or 'forward', got {norm!r}.")
    return (1.0 / points) ** _NORMS[norm][inverse]


def _resized(x: VkArray, axis: int, length: int, dtype: DType) -> VkArray:
    return empty((*x._shape[:axis], length, *x._shape[axis + 1 :]), dtype, x._device)


def _paired(x: VkArray, axis: int) -> tuple[VkArray, bool]:
    """Real lines with each two points as a complex number, and True, where memory allows; else the lines as they are."""
    dtype = complex_dtype(x._dtype)
    others = (*x._strides[:axis], *x._strides[axis + 1 :])
    odd = x._shape[axis] % 2 or x._offset % 2 or any(stride % 2 for stride in others)
    if x._strides[axis] != 1 or odd or not pointer(x).is_aligned(dtype.itemsize):
        return x, False
    shape = (*x._shape[:axis], x._shape[axis] // 2, *x._shape[axis + 1 :])
    strides = (*(stride // 2 for stride in x._strides[:axis]), 1, *(stride // 2 for stride in x._strides[axis + 1 :]))
    return array_in(x._buffer, x._offset // 2, shape, strides, dtype, x._device), True


class _Transform(Protocol):
    def __call__(self, name: str, x: VkArray, n: int | None, axis: int, norm: str | None, turned: bool) -> VkArray: ...


def _within_reach(function: _Transform) -> _Transform:
    """The function, with n checked, for arrays with negative strides and with lines beyond the reach of a dispatch too: copied,
    in the second case with the axis moved to the end.
    """

    @functools.wraps(function)
    def reaching(name: str, x: VkArray, n: int | None, axis: int, norm: str | None, turned: bool) -> VkArray:
        if n is not None:
            if not hasattr(n, "__index__"):
                raise TypeError(f"{name}: expected an integer number of points, got {n!r}.")
            n = n.__index__()
        x = launch.forward(x)
        # Twice the length, for scratch memory of Bluestein's algorithm.
        length = 2 * max(x._shape[axis], n or 1)
        if length * max(abs(x._strides[axis]), math.prod(x._shape[axis + 1 :])) <= REACH or (
            x._contiguous and axis == x.ndim - 1
        ):
            return function(name, x, n, axis, norm, turned)
        last = x.ndim - 1
        there = (*range(axis), *range(axis + 1, x.ndim), axis)
        back = (*range(axis), last, *range(axis, last))
        moved = x._view(tuple(x._shape[k] for k in there), tuple(x._strides[k] for k in there))
        result = function(name, launch.copy(moved), n, last, norm, turned)
        return result._view(tuple(result._shape[k] for k in back), tuple(result._strides[k] for k in back))

    return reaching


@_within_reach
def _complex(name: str, x: VkArray, n: int | None, axis: int, norm: str | None, turned: bool) -> VkArray:
    """`fft`, or with `turned` `ifft`, of an operand, along an axis counted from the front."""
    points = _length(name, n, x._shape[axis])
    scale = _scale(name, norm, points, turned)
    result = _resized(x, axis, points, complex_dtype(x._dtype))
    load = COMPLEX if x._dtype is result._dtype else REAL
    transform(x, result, axis, points, load, COMPLEX, inverse=turned, scale=scale)
    return result


@_within_reach
def _real_to_complex(name: str, x: VkArray, n: int | None, axis: int, norm: str | None, turned: bool) -> VkArray:
    """`rfft`, and with `turned` `ihfft`: its conjugate with the scale of the inverse."""
    points = _length(name, n, x._shape[axis])
    scale = _scale(name, norm, points, turned)
    result = _resized(x, axis, points // 2 + 1, complex_dtype(x._dtype))
    mode = CONJUGATE_OUT if turned else 0
    if points % 2:
        transform(x, result, axis, points, REAL, HERMITIAN, inverse=False, scale=scale, mode=mode)
        return result
    half = points // 2
    source, paired = _paired(x, axis)
    load = COMPLEX if paired else REAL_PAIRS
    if is_one_pass(source, axis, half):
        transform(source, result, axis, half, load, HALF_SPECTRUM, inverse=False, scale=scale, mode=mode)
    elif result.size:
        pairs = _resized(x, axis, half, result._dtype)
        transform(source, pairs, axis, half, load, COMPLEX, inverse=False, scale=scale)
        half_spectrum.unfold(pairs, result, axis, conjugate=turned)
    return result


@_within_reach
def _complex_to_real(name: str, x: VkArray, n: int | None, axis: int, norm: str | None, turned: bool) -> VkArray:
    """`irfft`, and with `turned` `hfft`: of the conjugate, with the scale of the forward transform."""
    x = cast(x, complex_dtype(x._dtype))
    points = _length(name, n, 2 * (x._shape[axis] - 1))
    scale = _scale(name, norm, points, not turned)
    result = _resized(x, axis, points, REAL_OF[x._dtype])
    if points % 2:  # real, so the inverse of x is the transform of its conjugate
        mode = 0 if turned else CONJUGATE_IN
        transform(x, result, axis, points, HERMITIAN, REAL, inverse=False, scale=scale, mode=mode)
    else:
        target, paired = _paired(result, axis)
        store = COMPLEX if paired else REAL_PAIRS
        mode = CONJUGATE_IN if turned else 0
        transform(x, target, axis, points // 2, HALF_SPECTRUM, store, inverse=True, scale=scale, mode=mode)
    return result


@planned
def fft(
    x: ArrayLike, /, n: int | None = None, axis: int = -1, norm: Norm | None = None, out: VkArray | None = None
) -> VkArray:  # fmt: skip
    """The discrete Fourier transform along an axis: result k is the sum over j of x[j] exp(-2 pi i j k / n).

    Parameters: x (any numeric type); n, the number of points: x is cut or padded with zeros (default: the length of the
    axis); axis; norm, "backward" (or None: no scale), "ortho" (results divided by sqrt(n)) or "forward" (divided by n); out (an
    array that takes the result).
    Returns an array of complex64 for 16- and 32-bit floating-point x, of complex128 for float64, complex128 and integers.
    Raises ValueError for n < 1 and an unknown norm, IndexError for an axis out of range.
    Method: Stockham's passes with radices up to 16, for other primes Bluestein's algorithm. The relative error in the root
    mean square stays below eps log2(n). Standard: `fft.fft`.
    """
    x = _operand("fft", x)
    return _written("fft", _complex("fft", x, n, layout.normalize_axis(axis, x.ndim, "fft"), norm, False), out)


@planned
def ifft(
    x: ArrayLike, /, n: int | None = None, axis: int = -1, norm: Norm | None = None, out: VkArray | None = None
) -> VkArray:  # fmt: skip
    """The inverse of `fft`: the sum over k of x[k] exp(2 pi i j k / n), divided by n.

    Parameters, errors and method as for `fft`; norm "backward" divides results by n, "ortho" by sqrt(n), "forward" by
    nothing. Standard: `fft.ifft`.
    """
    x = _operand("ifft", x)
    return _written("ifft", _complex("ifft", x, n, layout.normalize_axis(axis, x.ndim, "ifft"), norm, True), out)


@planned
def rfft(
    x: ArrayLike, /, n: int | None = None, axis: int = -1, norm: Norm | None = None, out: VkArray | None = None
) -> VkArray:  # fmt: skip
    """The first n // 2 + 1 results of `fft` for real x; the others are their conjugates.

    Parameters as for `fft`, but x real. Returns an array of complex64 (complex128 for float64 and integers).
    Raises TypeError for complex x, and as `fft`. Method: for even n a complex transform of n / 2 points, pairs of x; for odd n
    the passes of `fft` without the lines that are conjugates of others (Sorensen et al., IEEE Trans. ASSP 35, 1987).
    Standard: `fft.rfft`.
    """
    x = _operand("rfft", x)
    return _written(
        "rfft", _real_to_complex("rfft", x, n, layout.normalize_axis(axis, x.ndim, "rfft"), norm, False), out
    )


@planned
def irfft(
    x: ArrayLike, /, n: int | None = None, axis: int = -1, norm: Norm | None = None, out: VkArray | None = None
) -> VkArray:  # fmt: skip
    """The inverse of `rfft`: n real points from the first n // 2 + 1 results of their transform.

    Parameters as for `ifft`; n (default: 2 (m - 1) for an axis of length m) is the number of results, so an odd n must be
    given. The imaginary parts of x[0] and, for even n, of x[n / 2] count as 0.
    Returns an array of float32 or float64. Raises ValueError also where the axis has one element and n is not given.
    Standard: `fft.irfft`.
    """
    x = _operand("irfft", x)
    return _written(
        "irfft", _complex_to_real("irfft", x, n, layout.normalize_axis(axis, x.ndim, "irfft"), norm, False), out
    )


@planned
def hfft(
    x: ArrayLike, /, n: int | None = None, axis: int = -1, norm: Norm | None = None, out: VkArray | None = None
) -> VkArray:  # fmt: skip
    """The transform of a signal that is symmetric about 0 (x[-j] = conj(x[j])), of which x is the first half: real results.

    Parameters as for `fft`; n (default: 2 (m - 1) for an axis of length m) is the number of results.
    Returns an array of float32 or float64. Errors as for `irfft`. Standard: `fft.hfft`.
    """
    x = _operand("hfft", x)
    return _written(
        "hfft", _complex_to_real("hfft", x, n, layout.normalize_axis(axis, x.ndim, "hfft"), norm, True), out
    )


@planned
def ihfft(
    x: ArrayLike, /, n: int | None = None, axis: int = -1, norm: Norm | None = None, out: VkArray | None = None
) -> VkArray:  # fmt: skip
    """The inverse of `hfft`: the first n // 2 + 1 results of `ifft` for real x.

    Parameters as for `ifft`, but x real. Returns an array of complex64 or complex128. Errors as for `rfft`.
    Standard: `fft.ihfft`.
    """
    x = _operand("ihfft", x)
    return _written(
        "ihfft", _real_to_complex("ihfft", x, n, layout.normalize_axis(axis, x.ndim, "ihfft"), norm, True), out
    )


def _axes_and_lengths(
    name: str, x: VkArray, s: Sequence[int] | None, axes: Sequence[int] | None
) -> tuple[tuple[int, ...], list[int | None]]:
    """The axes, counted from the front, and the number of points along each (None for the function's default).

    An axis that is named several times is transformed as often, to the length that it has in x unless s says another.
    """
    if s is not None:
        s = layout.as_integers(s, name, "s")
        if axes is None:
            axes = tuple(range(-len(s), 0))
    listed = range(x.ndim) if axes is None else layout.as_integers(axes, name, "axes")
    dimensions = tuple(layout.normalize_axis(axis, x.ndim, name) for axis in listed)
    if s is None:
        last = dimensions[-1:]
        again = [x._shape[axis] if axis in last else None for axis in dimensions[:-1]]
        return dimensions, [*again, *(None for _ in last)]
    if len(s) != len(dimensions):
        raise ValueError(f"{name}: expected as many lengths as axes, got s={s} and axes={axes}.")
    return dimensions, [x._shape[axis] if n == -1 else n for n, axis in zip(s, dimensions, strict=True)]


def _several(
    name: str, x: VkArray, s: Sequence[int] | None, axes: Sequence[int] | None, norm: str | None, inverse: bool
) -> VkArray:
    """`fftn` and `ifftn` of an operand."""
    dimensions, lengths = _axes_and_lengths(name, x, s, axes)
    _scale(name, norm, 1, inverse)
    for axis, n in reversed(list(zip(dimensions, lengths, strict=True))):
        x = _complex(name, x, n, axis, norm, inverse)
    return x if dimensions else launch.copy(cast(x, complex_dtype(x._dtype)))


@planned
def fftn(
    x: ArrayLike, /, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm | None = None,
    out: VkArray | None = None,
) -> VkArray:  # fmt: skip
    """`fft` along several axes.

    Parameters: x (any numeric type); s, the number of points along each of `axes` (-1 or default: the length of the axis);
    axes (default: all, with s the last ones); norm and out as for `fft`.
    Returns an array of complex64 or complex128. An axis that is repeated is transformed as often. Raises ValueError
    also for s of another length.
    Standard: `fft.fftn`.
    """
    return _written("fftn", _several("fftn", _operand("fftn", x), s, axes, norm, False), out)


@planned
def ifftn(
    x: ArrayLike, /, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm | None = None,
    out: VkArray | None = None,
) -> VkArray:  # fmt: skip
    """`ifft` along several axes, the inverse of `fftn`. Parameters and errors as there. Standard: `fft.ifftn`."""
    return _written("ifftn", _several("ifftn", _operand("ifftn", x), s, axes, norm, True), out)


@planned
def rfftn(
    x: ArrayLike, /, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm | None = None,
    out: VkArray | None = None,
) -> VkArray:  # fmt: skip
    """`rfft` along the last of `axes`, then `fft` along the others.

    Parameters and errors as for `fftn`, but x real and at least one axis. Standard: `fft.rfftn`.
    """
    x = _operand("rfftn", x)
    dimensions, lengths = _some_axes("rfftn", x, s, axes)
    x = _real_to_complex("rfftn", x, lengths[-1], dimensions[-1], norm, False)
    for axis, n in reversed(list(zip(dimensions[:-1], lengths[:-1], strict=True))):
        x = _complex("rfftn", x, n, axis, norm, False)
    return _written("rfftn", x, out)


@planned
def irfftn(
    x: ArrayLike, /, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm | None = None,
    out: VkArray | None = None,
) -> VkArray:  # fmt: skip
    """`ifft` along all but the last of `axes`, then `irfft` along that, the inverse of `rfftn`.

    Parameters and errors as for `fftn`; s holds the lengths of the result (default along the last axis: 2 (m - 1) for a
    length of m). Returns an array of float32 or float64. Standard: `fft.irfftn`.
    """
    x = _operand("irfftn", x)
    dimensions, lengths = _some_axes("irfftn", x, s, axes)
    for axis, n in zip(dimensions[:-1], lengths[:-1], strict=True):
        x = _complex("irfftn", x, n, axis, norm, True)
    return _written("irfftn", _complex_to_real("irfftn", x, lengths[-1], dimensions[-1], norm, False), out)


def _some_axes(
    name: str, x: VkArray, s: Sequence[int] | None, axes: Sequence[int] | None
) -> tuple[tuple[int, ...], list[int | None]]:
    dimensions, lengths = _axes_and_lengths(name, x, s, axes)
    if not dimensions:
        raise ValueError(f"{name}: expected at least one axis, got axes={axes} for an array of shape {x._shape}.")
    return dimensions, lengths
