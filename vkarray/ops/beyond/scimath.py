"""Functions that are complex where an argument is outside of their real domain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core import dtypes
from ...core.array import ArrayLike, VkArray, available, floating
from ...kernels.array_like import takes_lists
from ...kernels.conversion import cast
from ...kernels.rows import check_array
from .. import creation, elementwise
from ..utility import any as any_true

# Types whose complex numbers are of 32-bit parts, as NumPy has it; those of others, float16 among them, are of 64-bit ones.
_SINGLE = {dtypes.float32, dtypes.int8, dtypes.int16, dtypes.uint8, dtypes.uint16}


def _extended(x: VkArray, outside: Callable[[VkArray], VkArray]) -> VkArray:
    """x as complex numbers if one of them is outside of the domain. Reads whether one is."""
    if x._dtype.kind == "c" or not bool(any_true(outside(x))):
        return x
    single = x._dtype in _SINGLE or floating(x) is dtypes.float32
    return cast(x, dtypes.complex64 if single else available(dtypes.complex128, x._device))


def _below_zero(x: VkArray) -> VkArray:
    return elementwise.less(x, 0)


def _beyond_one(x: VkArray) -> VkArray:
    return elementwise.greater(elementwise.abs(x), 1)


def _of_one(function: Any, name: str, outside: Callable[[VkArray], VkArray], domain: str) -> Any:
    """A function that is complex where x is not in its domain."""

    def call(x: ArrayLike) -> VkArray:
        return function(_extended(check_array(name, x), outside))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""`vkarray.{name}` of x, of complex numbers if an element is not {domain}.

    Parameters: x (numeric). Returns an array of a floating-point or complex type. Reads whether an element is outside.
    """
    return takes_lists(call)


sqrt = _of_one(elementwise.sqrt, "sqrt", _below_zero, "0 or more")
log = _of_one(elementwise.log, "log", _below_zero, "0 or more")
log2 = _of_one(elementwise.log2, "log2", _below_zero, "0 or more")
log10 = _of_one(elementwise.log10, "log10", _below_zero, "0 or more")
arccos = _of_one(elementwise.acos, "arccos", _beyond_one, "in [-1, 1]")
arcsin = _of_one(elementwise.asin, "arcsin", _beyond_one, "in [-1, 1]")
arctanh = _of_one(elementwise.atanh, "arctanh", _beyond_one, "in [-1, 1]")


@takes_lists
def logn(n: ArrayLike, x: ArrayLike) -> VkArray:
    """The logarithm of x to the base n, of complex numbers if one is below 0. Parameters: n, x (numeric)."""
    return elementwise.divide(log(creation.asarray(x)), log(creation.asarray(n)))


@takes_lists
def power(x: ArrayLike, p: ArrayLike) -> VkArray:
    """x to the power p: of complex numbers if an element of x is below 0, of floats if one of integers p is.

    Parameters: x, p (numeric). Reads whether there is such an element.
    """
    x, p = _extended(creation.asarray(x), _below_zero), creation.asarray(p)
    if p._dtype.kind == "i" and bool(any_true(_below_zero(p))):
        p = cast(p, floating(p))
    return elementwise.pow(x, p)
