"""Which values operators take: indices, classes, probabilities, divisors. What the CPU refuses is an error of its type here.

The device finds such a value, and the error is raised when the host next reads a value or waits for the device (`ops/faults`),
so that no call waits. Numbers of the host are looked at at once.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from ...core import dtypes
from ...core.array import VkArray
from ...core.dtypes import CATEGORIES, DType
from ...core.tokens import decided, plain, within
from ...kernels.conversion import cast
from ...kernels.faults import WrongValue, check_values
from ...kernels.gather import IndexRule
from ..tensors.storage import FROM_TORCH, array_of


def indices(function: str, error: type[Exception] = RuntimeError, *, wraps: bool = False) -> IndexRule:
    """The rule of an operator for its indices; `wraps`: negative ones count from the end."""
    return IndexRule(function, wraps, error, "dimension {axis} with size {length}")


def check_within(text: str, x: Tensor, low: float, high: float, length: int = 0) -> None:
    """Refuse values outside of [low, high], limits included, and NaN.

    The text is the same in all calls, and may name the {value}, and the {length}.
    """
    check_values(WrongValue(RuntimeError, text), array_of(x), low, high, length=length)


def check_divisor(function: str, divisor: Any) -> None:
    """Refuse 0 as a divisor of integers: a number, or among the elements of an array."""
    text = f"{function}: expected no 0 among the divisors of integers (ZeroDivisionError)."
    if type(divisor) is VkArray:
        divisor = cast(divisor, dtypes.uint8) if divisor._dtype is dtypes.bool_ else divisor
        check_values(WrongValue(RuntimeError, text), divisor, 0, 0, within=True)
    elif not divisor:
        raise RuntimeError(text)


# By type: PyTorch's names of it, in C++ and its own, for error texts, and the least and the greatest finite number of it.
_TYPES = {
    FROM_TORCH[dtype]: (*names, limits.min, limits.max)
    for dtype, *names in (
        (torch.uint8, "uint8_t", "Byte"), (torch.int8, "int8_t", "Char"), (torch.int16, "int16_t", "Short"),
        (torch.int32, "int", "Int"), (torch.int64, "int64_t", "Long"), (torch.float16, "c10::Half", "Half"),
        (torch.bfloat16, "c10::BFloat16", "BFloat16"), (torch.float32, "float", "Float"),
        (torch.float64, "double", "Double"),
    )
    for limits in [torch.finfo(dtype) if dtype.is_floating_point else torch.iinfo(dtype)]
}  # fmt: skip


def check_number(value: Any, dtype: DType) -> None:
    """Refuse a number of the host that a type cannot hold, rounded; a type without a sign takes integers modulo 2^n."""
    if dtype not in _TYPES:
        return
    name, _, low, high = _TYPES[dtype]
    integers = dtype in CATEGORIES["integer"]
    if isinstance(value, complex) and not value.imag:
        value = value.real
    if isinstance(value, complex):
        fits = False
    elif isinstance(value, float) and not math.isfinite(plain(value)):
        fits = not integers and decided(value) is not None
    else:
        fits = within(value, low if isinstance(value, float) else low or -high, high)
    if not fits:
        raise RuntimeError(f"value cannot be converted to type {name} without overflow")


# What PyTorch 2.15 does with bounds that integers do not reach: earlier versions convert them, as other numbers.
BOUNDS_SATURATE = torch.torch_version.TorchVersion(torch.__version__) >= (2, 15)


def bound(value: Any, dtype: DType, end: str) -> Any:
    """A limit of `clamp`, the "min" or the "max", as a number of a type. Raises RuntimeError where that cannot hold it."""
    if not BOUNDS_SATURATE or dtype not in CATEGORIES["integer"] or dtype not in _TYPES:
        check_number(value, dtype)
        return value
    _, name, low, high = _TYPES[dtype]
    if within(value, low, high):
        return value
    if decided(value) < low if end == "min" else value > high:
        return low if end == "min" else high
    raise RuntimeError(f"Clamp {end} value {value} is outside the representable range of {name}")
