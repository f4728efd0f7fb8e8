"""Parameters of distributions: numbers, lists and arrays, within limits.

What the host has is checked at the call. The values of vkarray arrays are checked on the device, and the error is raised when
the host next reads a value.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ....core import dtypes, layout, promotion
from ....core.array import VkArray, default_dtype
from ....core.dtypes import DType
from ....core.operators import is_sequence
from ....kernels import launch
from ....kernels.conversion import cast
from ....kernels.faults import WrongValue, check_values, tell
from ....kernels.overriding import or_own_array
from ... import creation, data_type
from ...elementwise import add, greater, greater_equal, subtract

if TYPE_CHECKING:
    from ....kernels.launch import Device


class Limits(NamedTuple):
    """What a parameter may be: from `low` to `high`; without either where that is open, and NaN where `or_nan` says so."""

    text: str
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False
    or_nan: bool = False

    def closed(self, dtype: DType) -> tuple[float, float]:
        """The least and the largest value of a floating-point type."""
        info = data_type.finfo(dtype)
        low = max(info.smallest_normal, self.low * (1 + info.eps)) if self.open_low else self.low
        return low, self.high * (1 - info.eps / 2) if self.open_high else self.high

    def allow(self, value: float) -> bool:
        """Whether a number of the host's is within the limits."""
        if value != value:
            return self.or_nan
        above = value > self.low if self.open_low else value >= self.low
        return above and (value < self.high if self.open_high else value <= self.high)


ANY = Limits("any real number", or_nan=True)
NOT_NEGATIVE = Limits("of 0 or more", 0, or_nan=True)
COUNT = Limits("of 0 or more", 0)
POSITIVE = Limits("above 0", 0, open_low=True)
ABOVE_1 = Limits("above 1", 1, open_low=True)
PROBABILITY = Limits("from 0 to 1", 0, 1)
POSITIVE_PROBABILITY = Limits("above 0, up to 1", 0, 1, open_low=True)
BELOW_1 = Limits("from 0 to below 1", 0, 1, open_high=True)

Operand = VkArray | float


def operand(function: str, name: str, value: Any, limits: Limits, dtype: DType, device: Device) -> Operand:
    """A parameter: a number, or an array of `dtype` on the device.

    Raises TypeError for what is neither, ValueError for numbers of the host outside of the limits. Notes a fault for those
    of the device.
    """
    value = or_own_array(value)
    if promotion.is_real_scalar(value):
        if not limits.allow(value):
            raise ValueError(f"{function}: expected {name} {limits.text}, got {value!r}.")
        return promotion.as_float(value, function, name)
    if type(value) is VkArray:
        if value._device is not device:
            raise ValueError(
                f"{function}: {name} is on another device, {value._device}, than the numbers, {device}. Move it with "
                "x.to_device(device)."
            )
        promotion.check_category(function, value._dtype, "real numeric")
        x = cast(value, dtype)
        if limits.low > -math.inf:
            _check_on_device(function, name, x, limits)
        return x
    if not is_sequence(value) and not hasattr(value, "__array__"):
        raise TypeError(f"{function}: expected a real number or an array as {name}, got {value!r:.60}.")
    return _of_host(function, name, value, limits, dtype, device)


def on_device(
    function: str, name: str, value: Any, dtype: DType, device: Device, limits: Limits = ANY
) -> VkArray:  # fmt: skip
    """A parameter as an array, otherwise as `operand`."""
    found = operand(function, name, value, limits, dtype, device)
    return found if type(found) is VkArray else launch.constant(found, dtype, device)


def plus(a: Any, b: Any) -> Any:
    """The sum of two parameters: on the host, or on the device where one is an array there."""
    if type(a) is VkArray or type(b) is VkArray:
        device = a._device if type(a) is VkArray else b._device
        a, b = (_arrayed(one, device) for one in (a, b))
        return add(a, b)
    return _values(a) + _values(b)


def one_less(value: Any) -> Any:
    """A parameter less 1."""
    if type(value) is VkArray:
        return subtract(value, 1)
    return (_values(value) - 1).tolist()


def without_fraction(function: str, name: str, value: Any) -> Any:
    """A bound of integers as NumPy takes it: of a floating-point number the part before the point."""
    value = or_own_array(value)
    if type(value) is VkArray:
        return value if value._dtype.kind != "f" else cast(value, default_dtype("int", value._device))
    if type(value) is int:
        return value
    if promotion.is_real_scalar(value) and isinstance(value := promotion.as_scalar(value), float):
        if not math.isfinite(value):
            raise ValueError(f"{function}: expected a finite number as {name}, got {value!r}.")
        return int(value)
    if is_sequence(value):
        return [without_fraction(function, name, one) for one in value]
    return value


def _arrayed(value: Any, device: Device) -> Any:
    if type(value) is VkArray or promotion.is_real_scalar(value):
        return value
    return creation.asarray(_values(value).tolist(), device=device)


def _of_host(function: str, name: str, value: Any, limits: Limits, dtype: DType, device: Device) -> VkArray:
    for one in extremes(function, name, value):
        if not limits.allow(one):
            raise ValueError(f"{function}: expected {name} {limits.text}, got {one!r}.")
    return creation.asarray(value, dtype=dtype, device=device)


def _values(value: Any) -> Any:
    """Numbers of the host as a NumPy array, which takes whole numbers beyond int64 for floating-point numbers or objects."""
    import numpy as np

    values = np.asarray(value)
    if values.dtype.kind == "f" and isinstance(value, (list, tuple)):
        exact = np.asarray(value, object)
        return exact if _are_integers(exact) else values
    return values


def _are_integers(values: Any) -> bool:
    return bool(values.size) and all(isinstance(one, int) for one in values.reshape(-1))


def extremes(function: str, name: str, value: Any) -> list[Any]:
    """The least and the largest of the host's numbers, if there are any. Raises TypeError for what are no real numbers."""
    values = _values(value)
    if values.dtype.kind not in "biuf" and not _are_integers(values):
        raise TypeError(f"{function}: expected real numbers as {name}, got {value!r:.60}.")
    return [getattr(one, "item", lambda one=one: one)() for one in (values.min(), values.max())] if values.size else []


def _check_on_device(function: str, name: str, x: VkArray, limits: Limits) -> None:
    low, high = limits.closed(x._dtype)
    fault = WrongValue(ValueError, f"{function}: expected {name} {limits.text}, got {{value}}.")
    if limits.or_nan:  # what is wrong lies in a range, where NaN is not
        check_values(fault, x, -math.inf, -data_type.finfo(x._dtype).smallest_normal, within=True)
    else:
        check_values(fault, x, low, high)
    tell(x._device)


def check_order(function: str, low_name: str, low: Any, high_name: str, high: Any, *, strictly: bool = False) -> None:
    """Raise ValueError unless low <= high (low < high); note a fault where one is an array of the device."""
    text = f"{function}: expected {low_name} {'below' if strictly else 'of at most'} {high_name}"
    if type(low) is not VkArray and type(high) is not VkArray:
        first, second = _values(low), _values(high)
        if (first >= second if strictly else first > second).any():
            raise ValueError(f"{text}, got {low!r:.60} and {high!r:.60}.")
        return
    device = low._device if type(low) is VkArray else high._device
    first, second = (_arrayed(one, device) for one in (low, high))
    wrong = (greater_equal if strictly else greater)(first, second)
    check_values(WrongValue(ValueError, f"{text}."), cast(wrong, dtypes.int32), 0, 0)
    tell(device)


def shape_of(function: str, size: Any, operands: list[Operand]) -> tuple[int, ...]:
    """The shape of the results: `size`, or what the parameters broadcast to. Raises ValueError where these do not fit."""
    shapes = [one._shape for one in operands if type(one) is VkArray]
    if size is None:
        return layout.broadcast_shapes(shapes, function) if shapes else ()
    shape = creation.as_shape(size, function, "size")
    for one in shapes:
        if layout.broadcast_shapes([one, shape], function) != shape:
            raise ValueError(f"{function}: a parameter of shape {one} does not broadcast to {shape}.")
    return shape


def in_memory(one: Operand, shape: tuple[int, ...], dtype: DType, device: Device) -> VkArray:
    """A parameter as a contiguous array: of one element, or of all those of the results."""
    if type(one) is not VkArray:
        return launch.constant(one, dtype, device)
    if one.size == 1:
        return launch.contiguous(one)
    strides = layout.broadcast_strides(one._shape, one._strides, shape)
    return launch.contiguous(one._view(shape, strides))
