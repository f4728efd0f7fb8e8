"""Which values operators take: indices, classes, probabilities, divisors. What the CPU refuses is an error of its type here.

The device finds such a value, and the error is raised when the host next reads a value or waits for the device (`ops/faults`),
so that no call waits. Numbers of the host are looked at at once.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from ...core import dtypes
from ...core.array import VkArray
from ...kernels.faults import WrongValue, check_values
from ...kernels.gather import IndexRule
from ...kernels.rows import cast
from ..tensors.storage import array_of


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
