"""NumPy's `lib.mixins`: the operators of a class that says by `__array_ufunc__` what elementwise functions make of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops import elementwise
from ..ops.beyond.gufuncs import matmul
from ..ops.beyond.mathematics import divmod

__all__ = ["NDArrayOperatorsMixin"]

_BINARY = {
    "add": elementwise.add, "sub": elementwise.subtract, "mul": elementwise.multiply, "matmul": matmul,
    "truediv": elementwise.divide, "floordiv": elementwise.floor_divide, "mod": elementwise.remainder, "divmod": divmod,
    "pow": elementwise.pow, "lshift": elementwise.bitwise_left_shift, "rshift": elementwise.bitwise_right_shift,
    "and": elementwise.bitwise_and, "xor": elementwise.bitwise_xor, "or": elementwise.bitwise_or,
}  # fmt: skip
_COMPARISONS = {
    "lt": elementwise.less, "le": elementwise.less_equal, "eq": elementwise.equal, "ne": elementwise.not_equal,
    "gt": elementwise.greater, "ge": elementwise.greater_equal,
}  # fmt: skip
_UNARY = {
    "neg": elementwise.negative, "pos": elementwise.positive, "abs": elementwise.abs, "invert": elementwise.bitwise_invert,
}  # fmt: skip


def _forward(function: Any) -> Callable[..., Any]:
    def operator(self: Any, other: Any) -> Any:
        return NotImplemented if _declines(other) else function(self, other)

    return operator


def _reflected(function: Any) -> Callable[..., Any]:
    def operator(self: Any, other: Any) -> Any:
        return NotImplemented if _declines(other) else function(other, self)

    return operator


def _in_place(function: Any) -> Callable[..., Any]:
    def operator(self: Any, other: Any) -> Any:
        return function(self, other, out=(self,))

    return operator


def _of_one(function: Any) -> Callable[..., Any]:
    def operator(self: Any) -> Any:
        return function(self)

    return operator


def _declines(other: Any) -> bool:
    """Whether an operand leaves operators to its own class."""
    return getattr(type(other), "__array_ufunc__", False) is None


class NDArrayOperatorsMixin:
    """The operators of arrays for a class that has `__array_ufunc__`: each calls the elementwise function of its name."""

    __slots__ = ()
    __hash__: Any = None

    for _name, _function in {**_BINARY, **_COMPARISONS}.items():
        vars()[f"__{_name}__"] = _forward(_function)
    for _name, _function in _BINARY.items():
        vars()[f"__r{_name}__"] = _reflected(_function)
        if _name != "divmod":
            vars()[f"__i{_name}__"] = _in_place(_function)
    for _name, _function in _UNARY.items():
        vars()[f"__{_name}__"] = _of_one(_function)
    del _name, _function
