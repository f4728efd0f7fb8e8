"""The operators of arrays, and what they take as operands.

No mathematics: each calls `operations`, the table that `vkarray.ops` fills by name.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import promotion, tokens
from .methods import operations

if TYPE_CHECKING:
    from .array import VkArray
    from .dtypes import DType


class Operators:
    """The operators of `VkArray`, Python's and the standard's."""

    __slots__ = ()

    if TYPE_CHECKING:
        _shape: tuple[int, ...]
        _dtype: DType

    def __pos__(self) -> VkArray:
        return operations["positive"](self)

    def __neg__(self) -> VkArray:
        return operations["negative"](self)

    def __abs__(self) -> VkArray:
        return operations["abs"](self)

    def __invert__(self) -> VkArray:
        return operations["bitwise_invert"](self)

    def __add__(self, other: Any, /) -> VkArray:
        return _binary("add", self, other)

    def __sub__(self, other: Any, /) -> VkArray:
        return _binary("subtract", self, other)

    def __mul__(self, other: Any, /) -> VkArray:
        return _binary("multiply", self, other)

    def __truediv__(self, other: Any, /) -> VkArray:
        return _binary("divide", self, other)

    def __floordiv__(self, other: Any, /) -> VkArray:
        return _binary("floor_divide", self, other)

    def __mod__(self, other: Any, /) -> VkArray:
        return _binary("remainder", self, other)

    def __divmod__(self, other: Any, /) -> tuple[VkArray, VkArray]:
        return self // other, self % other

    def __pow__(self, other: Any, /) -> VkArray:
        if self._dtype.kind == "b":
            other = tokens.decided(other)  # the exponent decides the type
        if type(other) in _TWO and other == 2 and self._dtype.kind in _TWO[type(other)]:
            return operations["square"](self)
        return _binary("pow", self, other)

    def __matmul__(self, other: Any, /) -> VkArray:
        return _binary("matmul", self, other)

    def __and__(self, other: Any, /) -> VkArray:
        return _binary("bitwise_and", self, other)

    def __or__(self, other: Any, /) -> VkArray:
        return _binary("bitwise_or", self, other)

    def __xor__(self, other: Any, /) -> VkArray:
        return _binary("bitwise_xor", self, other)

    def __lshift__(self, other: Any, /) -> VkArray:
        return _binary("bitwise_left_shift", self, other)

    def __rshift__(self, other: Any, /) -> VkArray:
        return _binary("bitwise_right_shift", self, other)

    def __lt__(self, other: Any, /) -> VkArray:
        return _binary("less", self, other)

    def __le__(self, other: Any, /) -> VkArray:
        return _binary("less_equal", self, other)

    def __gt__(self, other: Any, /) -> VkArray:
        return _binary("greater", self, other)

    def __ge__(self, other: Any, /) -> VkArray:
        return _binary("greater_equal", self, other)

    def __eq__(self, other: Any, /) -> VkArray:  # type: ignore[override]
        return _binary("equal", self, other) if other is not None and type(other) is not str else _differs(self, False)

    def __ne__(self, other: Any, /) -> VkArray:  # type: ignore[override]
        return (
            _binary("not_equal", self, other) if other is not None and type(other) is not str else _differs(self, True)
        )

    def __radd__(self, other: Any, /) -> VkArray:
        return _binary("add", other, self)

    def __rsub__(self, other: Any, /) -> VkArray:
        return _binary("subtract", other, self)

    def __rmul__(self, other: Any, /) -> VkArray:
        if type(other) is list and not self._shape and self._dtype.kind in "iu":
            return other * operations["scalar"](self)  # as for the integers of NumPy and of Python
        return _binary("multiply", other, self)

    def __rtruediv__(self, other: Any, /) -> VkArray:
        return _binary("divide", other, self)

    def __rfloordiv__(self, other: Any, /) -> VkArray:
        return _binary("floor_divide", other, self)

    def __rmod__(self, other: Any, /) -> VkArray:
        return _binary("remainder", other, self)

    def __rdivmod__(self, other: Any, /) -> tuple[VkArray, VkArray]:
        return other // self, other % self

    def __rpow__(self, other: Any, /) -> VkArray:
        return _binary("pow", other, self)

    def __rmatmul__(self, other: Any, /) -> VkArray:
        return _binary("matmul", other, self)

    def __rand__(self, other: Any, /) -> VkArray:
        return _binary("bitwise_and", other, self)

    def __ror__(self, other: Any, /) -> VkArray:
        return _binary("bitwise_or", other, self)

    def __rxor__(self, other: Any, /) -> VkArray:
        return _binary("bitwise_xor", other, self)

    def __rlshift__(self, other: Any, /) -> VkArray:
        return _binary("bitwise_left_shift", other, self)

    def __rrshift__(self, other: Any, /) -> VkArray:
        return _binary("bitwise_right_shift", other, self)

    def __iadd__(self, other: Any, /) -> VkArray:
        return _in_place("add", self, other)

    def __isub__(self, other: Any, /) -> VkArray:
        return _in_place("subtract", self, other)

    def __imul__(self, other: Any, /) -> VkArray:
        return _in_place("multiply", self, other)

    def __itruediv__(self, other: Any, /) -> VkArray:
        return _in_place("divide", self, other)

    def __ifloordiv__(self, other: Any, /) -> VkArray:
        return _in_place("floor_divide", self, other)

    def __imod__(self, other: Any, /) -> VkArray:
        return _in_place("remainder", self, other)

    def __ipow__(self, other: Any, /) -> VkArray:
        return _in_place("pow", self, other)

    def __imatmul__(self, other: Any, /) -> VkArray:
        return _in_place("matmul", self, other)

    def __iand__(self, other: Any, /) -> VkArray:
        return _in_place("bitwise_and", self, other)

    def __ior__(self, other: Any, /) -> VkArray:
        return _in_place("bitwise_or", self, other)

    def __ixor__(self, other: Any, /) -> VkArray:
        return _in_place("bitwise_xor", self, other)

    def __ilshift__(self, other: Any, /) -> VkArray:
        return _in_place("bitwise_left_shift", self, other)

    def __irshift__(self, other: Any, /) -> VkArray:
        return _in_place("bitwise_right_shift", self, other)


def _operand(name: str, value: Any) -> Any:
    """An operator's operand: an array, a scalar of Python's or NumPy's, or a list; None when unknown."""
    if type(value) in _NUMBERS or isinstance(value, Operators) or promotion.is_scalar(value):
        return value
    if is_sequence(value):
        return value
    if type(value).__module__ == "numpy":
        raise TypeError(
            f"{name}: got a vkarray array and a {type(value).__module__}.{type(value).__name__}; nothing is copied to "
            f"the device silently. Convert it with vkarray.asarray, or this array with numpy.asarray."
        )
    return operations["operand"](value)


class Elements:
    """What stands for the elements of an array in one dimension, as `x.flat` does: `copy` makes an array of them."""

    __slots__ = ()
    base: VkArray

    def copy(self) -> VkArray:
        raise NotImplementedError


def is_sequence(value: Any) -> bool:
    """Whether a value is a list or stands for one: a deque, an `array.array`, a memoryview, `x.flat`; texts are none.

    Objects of any class are that have a length and items by number, as Python's older sequences do.
    """
    if isinstance(value, (Sequence, Elements)):
        return not isinstance(value, (str, bytes))
    kind = type(value)
    return all(hasattr(kind, name) for name in _OLDER) and not any(hasattr(kind, name) for name in _NO_SEQUENCE)


_OLDER = ("__getitem__", "__len__")
_NO_SEQUENCE = (
    "keys",
    "__array__",
    "__array_interface__",
    "__dlpack__",
)  # mappings, and arrays, which tell more of themselves


_NUMBERS = (int, float, complex, bool)

# A power of 2 is a square, of the same bits, where it has the type of the base; that of bools is one, too, as NumPy's: types of
# exponents -> kinds of bases.
_TWO = {int: "biuf", float: "f"}


def _binary(name: str, first: Any, second: Any) -> Any:
    if not isinstance(first, Operators):
        first = _operand(name, first)
    if not isinstance(second, Operators):
        if name in EQUALITY and is_numpy_array(second):
            return EQUALITY[name](first.__array__(), second)
        second = _operand(name, second)
    if first is None or second is None:
        return NotImplemented
    return operations[name](first, second)


# Equality is defined between all objects: with an array of NumPy's, NumPy compares, on the host.
EQUALITY: dict[str, Callable[[Any, Any], Any]] = {"equal": operator.eq, "not_equal": operator.ne}


def is_numpy_array(value: Any) -> bool:
    """Whether a value is an array of NumPy's."""
    return type(value).__name__ == "ndarray" and type(value).__module__ == "numpy"


def _differs(x: Any, value: bool) -> VkArray:
    """What comparing with something that is no number gives."""
    return operations["full"](x._shape, value, device=x._device)


def _in_place(name: str, target: Any, other: Any) -> Any:
    other = _operand(name, other)
    if other is None:
        return NotImplemented
    if not target._shape and not hasattr(target, "_is_place"):
        return operations[name](target, other)
    return operations["in_place"](name, target, other)
