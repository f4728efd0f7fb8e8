"""The frequencies of a transform's results, and their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core import dtypes, layout, promotion
from ...core.array import ArrayLike, VkArray, default_dtype, operations
from ...core.dtypes import CATEGORIES, DType, as_dtype
from ...kernels.conversion import cast
from ...kernels.launch import as_device
from ...kernels.planned import planned, recordable
from ...kernels.rows import check_array
from ..creation import arange
from ..manipulation import concat, roll


def _spacing(name: str, n: Any, d: Any, dtype: DType | None, device: Any) -> tuple[int, float, DType]:
    """n, d and the type of the result, all parameters checked."""
    points = layout.as_integer(n, name, "the number of points n")
    if points < 1:
        raise ValueError(f"{name}: expected a number of points n of 1 or more, got {n!r}.")
    d = promotion.as_real(d, name, "the sample spacing d")
    if d == 0:
        raise ValueError(f"{name}: the sample spacing d is 0; expected a positive number such as 1.0.")
    wanted = default_dtype("float", as_device(device)) if dtype is None else as_dtype(dtype, name)
    if wanted not in CATEGORIES["real floating"]:
        raise TypeError(f"{name}: expected a real floating-point dtype, got {wanted}.")
    return points, d, wanted


def _frequencies(numbers: Callable[[DType, Any], VkArray], n: int, d: float, dtype: DType, device: Any) -> VkArray:
    # float16 does not hold all whole numbers that matter.
    wide = dtypes.float32 if dtype.bits == 16 else dtype
    return cast(operations["divide"](numbers(wide, as_device(device)), float(n * d)), dtype)


@recordable
def fftfreq(n: int, d: float = 1.0, *, dtype: DType | None = None, device: Any = None) -> VkArray:
    """The frequencies of the results of `fft`: 0, 1, ..., (n - 1) // 2, -(n // 2), ..., -1, divided by n d.

    Parameters: n, the number of points; d, the sample spacing; dtype (real floating; the default floating type by default); device.
    Returns an array of shape (n,), in cycles per unit of d. Raises ValueError for n < 1 and d = 0, TypeError for a dtype
    that is not real floating, FeatureError for one the device lacks. Standard: `fft.fftfreq`.
    """
    count, d, wanted = _spacing("fftfreq", n, d, dtype, device)

    def numbers(dtype: DType, device: Any) -> VkArray:
        halves = ((0, (count + 1) // 2), (-(count // 2), 0))
        return concat([arange(start, stop, dtype=dtype, device=device) for start, stop in halves])

    return _frequencies(numbers, count, d, wanted, device)


@recordable
def rfftfreq(n: int, d: float = 1.0, *, dtype: DType | None = None, device: Any = None) -> VkArray:
    """The frequencies of the results of `rfft`: 0, 1, ..., n // 2, divided by n d.

    Parameters and errors as for `fftfreq`. Returns an array of shape (n // 2 + 1,). Standard: `fft.rfftfreq`.
    """
    count, d, wanted = _spacing("rfftfreq", n, d, dtype, device)
    return _frequencies(
        lambda dtype, device: arange(count // 2 + 1, dtype=dtype, device=device), count, d, wanted, device
    )


def _shifted(name: str, x: VkArray, axes: int | Sequence[int] | None, backwards: bool) -> VkArray:
    dimensions = layout.normalize_axes(axes, check_array(name, x).ndim, name)
    places = [x._shape[axis] // 2 for axis in dimensions]
    return roll(x, [-place for place in places] if backwards else places, axis=dimensions)


@planned
def fftshift(x: ArrayLike, /, axes: int | Sequence[int] | None = None) -> VkArray:
    """The zero frequency moved from the front to the middle: along each axis, elements move n // 2 places on, around the end.

    Parameters: x (any type); axes (default: all of them).
    Raises IndexError for an axis out of range, ValueError for a repeated one. Standard: `fft.fftshift`.
    """
    return _shifted("fftshift", x, axes, False)


@planned
def ifftshift(x: ArrayLike, /, axes: int | Sequence[int] | None = None) -> VkArray:
    """The inverse of `fftshift` (the two differ for odd lengths). Parameters and errors as there. Standard: `fft.ifftshift`."""
    return _shifted("ifftshift", x, axes, True)
