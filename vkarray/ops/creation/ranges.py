"""Numbers at equal distances, and the grids that they span."""

from __future__ import annotations

import functools
import math
from typing import Any, Literal

from ...core import dtypes, layout, promotion
from ...core.array import ArrayLike, VkArray, available, check_supported, default_dtype, operations
from ...core.array import empty as _empty
from ...core.dtypes import CATEGORIES, DType, as_dtype
from ...kernels import launch
from ...kernels.conversion import cast
from ...kernels.launch import as_device
from ...kernels.planned import planned, recordable
from ...kernels.rows import check_array, check_operands
from .from_values import asarray


@functools.cache
def progression(dtype: DType) -> launch.Operation:
    """start + index * step (the inputs a and b): the expression of `arange` and `linspace`."""
    factor = "REAL(index)" if dtype.category == "complex floating" else "T(index)"
    return launch.Operation(f"arange {dtype}", f"a + {factor} * b", (dtype, dtype), dtype, dtype)


def arithmetic_progression(start: Any, step: Any, count: int, dtype: DType, device: Any) -> VkArray:
    """start + i * step for the first `count` values of i, of a numeric dtype that the device has."""
    result = _empty((count,), dtype, device)
    # The kernel counts from 0; what takes several dispatches is several progressions.
    for first in range(0, count, layout.INDEX_LIMIT):
        part = result._view((min(count - first, layout.INDEX_LIMIT),), (1,), first)
        begin = start + first * step if first else start  # 0 * inf is NaN
        if dtype in CATEGORIES["integer"]:
            begin, step = (_wrapped(value, dtype) for value in (begin, step))
        operands = (launch.scalar(begin, dtype, device), launch.constant(step, dtype, device))
        launch.elementwise(progression(dtype), operands, part)
    return result


def _wrapped(value: int, dtype: DType) -> int:
    """An integer modulo 2**bits, in the range of the type: a step may be negative where the type has no sign."""
    low, high = promotion.integer_range(dtype)
    return (int(value) - low) % (high - low + 1) + low


@planned(integers=True, creates=True)
def arange(
    start: int | float | None = None, stop: int | float | None = None, step: int | float = 1, dtype: Any = None, *,
    device: Any = None, like: Any = None,
) -> VkArray:  # fmt: skip
    """Evenly spaced values: start + i * step for ceil((stop - start) / step) values of i; 0 to start without stop.

    Parameters: start, stop, step (numbers); dtype (default: int64 for integers but those of type uint64, int32 where the
    device has no int64, else the default floating type). Returns a one-dimensional array; integers beyond dtype wrap.
    Raises ZeroDivisionError for step 0, OverflowError where one of the first two integers is beyond dtype.
    Standard: creation functions, `arange`.
    """
    if start is None and stop is None:
        raise TypeError("arange: expected at least a stop, got no bounds.")
    given = {"start": 0, "stop": start} if stop is None else {"start": 0 if start is None else start, "stop": stop}
    given["step"] = 1 if step is None else step
    # The common type of these and of int64 is a floating one, as for arrays.
    beside_uint64 = any(dtypes.uint64 == getattr(value, "dtype", None) for value in given.values())
    first, last, step = numbers = [promotion.as_real(value, "arange", name) for name, value in given.items()]
    if step == 0:
        raise ZeroDivisionError("arange: step is 0; expected a positive or negative number.")
    target = as_device(device)
    integral = all(isinstance(value, int) for value in numbers)
    kind = "int" if integral and not beside_uint64 else "float"
    wanted = default_dtype(kind, target) if dtype is None else as_dtype(dtype, "arange")
    check_supported(wanted, target, "arange")
    if wanted in dtypes.REAL_OF:
        return cast(arange(first, last, step, dtypes.REAL_OF[wanted], device=target), wanted)
    if wanted not in CATEGORIES["real numeric"]:
        raise TypeError(f"arange: expected a numeric dtype, got {wanted}.")
    if integral:
        count = max(int(-((first - last) // step)), 0)
        for value in (first, first + step)[:count]:  # later ones wrap, as in NumPy
            promotion.check_scalar_range("arange", int(value), wanted)
    else:
        count = _count_of_steps(first, last, step)
        if wanted in CATEGORIES["integer"]:  # as NumPy: from the first two values, truncated
            first, second = (promotion.whole(value, "arange", wanted) for value in (first, first + step))
            step = second - first
    return arithmetic_progression(first, step, count, wanted, target)


def _count_of_steps(first: float, last: float, step: float) -> int:
    """How many floating-point numbers `arange` makes. Raises ValueError for infinitely many, and for NaN."""
    for value in (first, last, step):
        promotion.check_scalar_range("arange", value, dtypes.float64)
    steps = (last - first) / step
    if not math.isfinite(steps):
        raise ValueError(f"arange: from {first} to {last} in steps of {step} is no finite number of values.")
    return max(math.ceil(steps), 0)


_DOUBLE = (dtypes.float64, dtypes.complex128)


@recordable
def linspace(
    start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None,
    axis: int = 0, *, device: Any = None,
) -> VkArray:  # fmt: skip
    """`num` evenly spaced values from start to stop, which is the last one unless endpoint is False.

    Parameters: start, stop (numbers, or arrays, for values along a new axis); num (0 or more); endpoint; retstep (also return the
    step); dtype (the default floating type by default, or its complex type for complex bounds; values for an integer type are
    rounded down); axis (the place of the new axis, for arrays).
    Raises ValueError for a negative num, TypeError for a num that is no integer.
    Standard: creation functions, `linspace`.
    """
    plain = promotion.is_scalar(start) and promotion.is_scalar(stop)
    wanted = None if dtype is None else as_dtype(dtype, "linspace")
    whole = wanted is not None and wanted.kind not in "fc"
    if plain:
        result = spaced(
            promotion.as_scalar(start), promotion.as_scalar(stop), num, None if whole else wanted, device, endpoint
        )
    else:
        device = device or next((one._device for one in (start, stop) if type(one) is VkArray), None)
        common = type_of_bounds(start, stop, device)
        first, last = (cast(asarray(one, device=device), common) for one in (start, stop))
        start, stop = first, last
        result = _spaced_arrays(first, last, num, endpoint, axis)
    computed = promotion.promote(result._dtype, default_dtype("float", result._device))  # the type of the step
    if whole:
        assert wanted is not None
        result = operations["floor"](result)
    if wanted is not None and wanted is not result._dtype:
        check_supported(wanted, result._device, "linspace")
        result = cast(result, wanted)
    if not retstep:
        return result
    count = num - 1 if endpoint else num
    step = (stop - start) / count if count > 0 else math.nan
    return result, step if type(step) is VkArray else asarray(step, dtype=computed, device=result._device)  # type: ignore


def type_of_bounds(start: Any, stop: Any, device: Any) -> DType:
    """The type of a sequence from one to the other, of which one is an array at least: Python's numbers widen no type of a kind."""
    weak = [one for one in (start, stop) if promotion.is_scalar(one) and not hasattr(one, "dtype")]
    given = [asarray(one, device=device)._dtype for one in (start, stop) if not any(one is number for number in weak)]
    common = promotion.promote_all(given)
    for number in (*weak, 1.0):
        common = promotion.promote_scalar_kind(common, promotion.scalar_kind(number))
    return common if common in given else available(common, as_device(device))


def _spaced_arrays(start: VkArray, stop: VkArray, num: int, endpoint: bool, axis: int) -> VkArray:
    """Values between the elements of two arrays, along a new axis."""
    num = layout.as_integer(num, "linspace", "num")
    if num < 0:
        raise ValueError(f"linspace: expected num of 0 or more, got {num}.")
    intervals = num - 1 if endpoint else num
    distance = stop - start
    rank = distance.ndim
    places = arithmetic_progression(0, 1, num, distance._dtype, distance._device)._view(
        (num, *(1,) * rank), (1, *(0,) * rank)
    )
    steps = distance / max(intervals, 1)
    # As NumPy: where one is so short that it is 0, each place is a part of the distance.
    short = operations["any"](operations["equal"](steps, 0))
    parts = operations["where"](short, places / max(intervals, 1) * distance, places * steps)
    result = parts + start
    if endpoint and num > 1:
        result[-1, ...] = stop
    order = list(range(1, rank + 1))
    order.insert(layout.normalize_axis(axis, rank + 1, "linspace"), 0)
    return launch.contiguous(result._permuted(order))


@planned(integers=True, creates=True)
def spaced(
    start: complex, stop: complex, num: int, dtype: DType | None, device: Any, endpoint: bool
) -> VkArray:  # fmt: skip
    """`linspace` between numbers."""
    num = layout.as_integer(num, "linspace", "num")
    if num < 0:
        raise ValueError(f"linspace: expected num of 0 or more, got {num}.")
    target = as_device(device)
    start, stop = (_number("linspace", name, value) for name, value in (("start", start), ("stop", stop)))
    complex_bounds = isinstance(start, complex) or isinstance(stop, complex)
    if dtype is None:
        wanted = default_dtype("complex" if complex_bounds else "float", target)
    else:
        wanted = as_dtype(dtype, "linspace")
    check_supported(wanted, target, "linspace")
    promotion.check_category("linspace", wanted, "complex floating" if complex_bounds else "floating-point")
    for value in (start, stop):
        promotion.check_scalar_range("linspace", value, wanted)
    intervals = num - 1 if endpoint else num
    scale, largest = 1.0, 2.0**1022 if wanted in _DOUBLE else 2.0**126
    if intervals > 0:
        half, distance = stop / 2 - start / 2, stop - start
        if max(abs(half.real), abs(half.imag)) >= largest:
            scale = 0.5  # the distance of the bounds overflows, though every value between them is finite
        elif 0 < max(abs(distance.real), abs(distance.imag)) < intervals / largest:
            scale = 2.0**64  # the step is subnormal, or vanishes, though the values do not
    step = (stop * scale - start * scale) / intervals if intervals > 0 else 0.0
    result = arithmetic_progression(start * scale, step, num, wanted, target)
    if scale != 1.0:
        result = result * (1 / scale)
    if endpoint and num > 1:
        last = result._view((1,), (1,), num - 1)
        launch.elementwise(launch.copy_operation(wanted), (launch.scalar(stop, wanted, target),), last)
    return result


def _number(function: str, name: str, value: Any) -> Any:
    """The parameter `name` as a Python scalar. Raises TypeError for what is no number."""
    number = promotion.as_scalar(value)
    if number is None:
        raise TypeError(f"{function}: expected a number as {name}, got {value!r:.60}.")
    return number


@planned
def meshgrid(
    *arrays: ArrayLike, indexing: Literal["xy", "ij"] = "xy", sparse: bool = False, copy: bool = True
) -> tuple[VkArray, ...]:  # fmt: skip
    """Coordinate arrays of the grid that one-dimensional arrays span.

    Parameters: arrays (those of other ranks count as one row); indexing ("xy": the first two dimensions swapped, or "ij"); sparse
    (views in which the other dimensions have length 1); copy (False for views of the arrays, whose elements share memory).
    Returns a tuple of arrays, one for each input. Raises ValueError for another indexing.
    Standard: creation functions, `meshgrid`.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: expected indexing 'xy' or 'ij', got {indexing!r}.")
    if not arrays:
        return ()
    like = next((array._device for array in arrays if type(array) is VkArray), None)
    arrays = tuple(asarray(array, device=like) if promotion.is_scalar(array) else array for array in arrays)
    check_operands("meshgrid", [check_array("meshgrid", array) for array in arrays])
    arrays = tuple(array if array.ndim == 1 else operations["reshape"](array, (-1,)) for array in arrays)
    axes = list(range(len(arrays)))
    if indexing == "xy" and len(arrays) > 1:
        axes[:2] = 1, 0
    shape = tuple(arrays[axis].shape[0] for axis in axes)
    strides = [tuple(array._strides[0] if axis == own else 0 for axis in axes) for own, array in enumerate(arrays)]
    shapes = [
        tuple(n if axis == own or not sparse else 1 for axis, n in zip(axes, shape, strict=True))
        for own in range(len(arrays))
    ]
    views = [array._view(own, steps) for array, own, steps in zip(arrays, shapes, strides, strict=True)]
    return tuple(launch.copy(view) if copy else view for view in views)
