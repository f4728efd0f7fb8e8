"""Comparisons of whole arrays, and comparisons with a tolerance, as NumPy has them."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...core import dtypes, layout, promotion
from ...core.array import ArrayLike, VkArray, available, empty, is_supported, operations
from ...core.dtypes import CATEGORIES, COMPLEX_OF, DType
from ...kernels import launch
from ...kernels.array_like import as_like, takes_lists
from ...kernels.conversion import cast, elementwise
from ...kernels.planned import planned
from ...kernels.rows import as_array, as_operand, check_operands, common_dtype
from ...shaders.source import Shader
from ..elementwise import add, equal, isfinite, isnan, less_equal, logical_and, logical_or, multiply, subtract
from ..utility import all as all_true

if TYPE_CHECKING:
    from ...kernels.launch import Device


@functools.cache
def _operation(dtype: DType, equal_nan: bool) -> launch.Operation:
    """a and b are compared, and the parts of the complex number c are the relative and the absolute tolerance."""
    function = "vx_is_close_or_nan" if equal_nan else "vx_is_close"
    inputs = (dtype, dtype, COMPLEX_OF.get(dtype, dtype))
    label = f"isclose {dtype}{' with NaN' if equal_nan else ''}"
    return launch.Operation(label, f"{function}(a, b, c)", inputs, dtypes.bool_, dtype, "/closeness")


def variants(device: Device) -> Iterator[Shader]:
    """The shaders of all types, for the archive."""
    for dtype, equal_nan in itertools.product(dtypes.DTYPES.values(), (False, True)):
        if dtype in CATEGORIES["floating-point"] and is_supported(dtype, device):
            yield from _operation(dtype, equal_nan).variants(device)


@planned
def isclose(
    x1: ArrayLike, x2: ArrayLike, /, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False
) -> VkArray:  # fmt: skip
    """Whether the elements of each pair are equal or differ by at most atol + rtol * abs(x2).

    Parameters: x1, x2 (arrays of any dtype on one device, numbers or lists, broadcast against each other; integers and bool are
    compared as float64); rtol, atol (numbers of 0 or more, or arrays and lists of such, which broadcast as well); equal_nan
    (whether NaN equals NaN).
    Returns an array of bool. Infinities are close to themselves alone.
    Raises TypeError for other operands, ValueError for shapes that do not broadcast and other tolerances.
    """
    return _isclose("isclose", x1, x2, rtol, atol, equal_nan)


def _isclose(function: str, x1: Any, x2: Any, rtol: Any, atol: Any, equal_nan: bool) -> VkArray:
    like = check_operands(function, (x1, x2))
    dtype = common_dtype(function, (x1, x2))
    if dtype in CATEGORIES["integer or boolean"]:
        dtype = available(dtypes.float64, like._device)
    rtol, atol = (one if promotion.is_scalar(one) else as_like(one, like._device, False) for one in (rtol, atol))
    if any(type(one) is VkArray and one._shape for one in (rtol, atol)):
        first, second = (cast(as_array(function, one, dtype, like), dtype) for one in (x1, x2))
        return _within(first, second, rtol, atol, equal_nan)
    rtol, atol = (promotion.as_float(value, function, name) for name, value in (("rtol", rtol), ("atol", atol)))
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not value >= 0:
            raise ValueError(f"{function}: expected a number of 0 or more as {name}, got {value:g}.")
    operation = _operation(dtype, equal_nan)
    tolerance = launch.scalar(complex(rtol, atol), operation.inputs[2], like._device)
    operands = [one if type(one) is VkArray else as_operand(function, one, dtype, like) for one in (x1, x2)]
    shape = layout.broadcast_shapes([operand._shape for operand in operands], function)
    return elementwise(operation, (*operands, tolerance), empty(shape, dtypes.bool_, like._device))


def _within(x1: VkArray, x2: VkArray, rtol: Any, atol: Any, equal_nan: bool) -> VkArray:
    """`isclose` where each pair has tolerances of its own."""
    near = less_equal(operations["abs"](subtract(x1, x2)), add(atol, multiply(rtol, operations["abs"](x2))))
    close = logical_or(logical_and(near, isfinite(x2)), equal(x1, x2))
    return logical_or(close, logical_and(isnan(x1), isnan(x2))) if equal_nan else close


@takes_lists
def allclose(
    x1: ArrayLike, x2: ArrayLike, /, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False
) -> bool:  # fmt: skip
    """Whether all elements of x1 are close to those of x2; a Python bool, so it waits for the device.

    Parameters, errors and what is close: as `isclose`.
    """
    return bool(all_true(_isclose("allclose", x1, x2, rtol, atol, equal_nan)))


@takes_lists
def array_equal(x1: ArrayLike, x2: ArrayLike, /, equal_nan: bool = False) -> bool:
    """Whether two arrays have the same shape and equal elements; a Python bool, so it waits for the device.

    Parameters: x1, x2 (any dtype, one device, numbers or lists); equal_nan (whether NaN equals NaN). Raises TypeError for other
    operands.
    """
    if x1 is None or x2 is None:
        return x1 is x2
    check_operands("array_equal", (x1, x2))
    if getattr(x1, "shape", ()) != getattr(x2, "shape", ()):
        return False
    same = equal(x1, x2)
    if equal_nan and all(type(x) is VkArray and x._dtype in CATEGORIES["numeric"] for x in (x1, x2)):
        same = logical_or(same, logical_and(isnan(x1), isnan(x2)))
    return bool(all_true(same))


@takes_lists
def array_equiv(x1: ArrayLike, x2: ArrayLike, /) -> bool:
    """Whether two arrays broadcast against each other and are equal then; a Python bool, so it waits for the device.

    Parameters: x1, x2 (any dtype, one device, numbers or lists). Raises TypeError for other operands.
    """
    if x1 is None or x2 is None:
        return x1 is x2
    check_operands("array_equiv", (x1, x2))
    try:
        layout.broadcast_shapes([getattr(x, "_shape", ()) for x in (x1, x2)], "array_equiv")
    except ValueError:
        return False
    return bool(all_true(equal(x1, x2)))
