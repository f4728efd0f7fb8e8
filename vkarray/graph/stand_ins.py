"""What stands for arrays and sizes while a tape is made of a function (see `tape.py`): each use of it is a call of the tape's."""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.array import VkArray, operations
from ..core.tokens import Token
from ..kernels import overriding
from ..kernels.overriding import is_numpys
from . import nest
from .trace import users_line

if TYPE_CHECKING:
    from .tape import Tape


class Unrecorded(BaseException):
    """A tape cannot hold what a function does; the text says why. No `except Exception` of the function's is to take it."""


class Slot(NamedTuple):
    """Stands in a tape for an array or a number: a place among all of its values."""

    place: int


class ArrayOnTape:
    """Stands for an array. It has the methods of arrays, and each call of them is noted."""

    __slots__ = ("dynamic", "slot", "tape")
    tape: Tape
    slot: Slot
    dynamic: frozenset[int] | None

    __array_priority__ = 1000
    __class__ = property(lambda self: VkArray)

    def __init__(self, tape: Tape, slot: Slot, dynamic: frozenset[int] | None) -> None:
        """`dynamic` are the axes of an argument that are; None where nothing is known."""
        for name, value in (("tape", tape), ("slot", slot), ("dynamic", dynamic)):
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if hasattr(VkArray, name) and not name.startswith("__"):
            raise Unrecorded(f"a function that no tape can hold takes an array apart ({name}) at {users_line()}")
        raise AttributeError(f"{VkArray.__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(inspect.getattr_static(VkArray, name, None), property):
            raise AttributeError(f"{VkArray.__name__!r} object has no attribute {name!r}")
        self.tape.call(setattr, (self, name, value), {})

    @property
    def shape(self) -> tuple[Any, ...]:
        """The lengths of the dimensions: of those that are not dynamic the number itself."""
        found: tuple[NumberOnTape, ...] = self.tape.call(shape_of, (self,), {})
        dynamic = range(len(found)) if self.dynamic is None else self.dynamic
        return tuple(one if axis in dynamic else one.value for axis, one in enumerate(found))

    # NumPy's functions are asked for here. The library's own, which take their place, are what is noted.
    __array_ufunc__ = VkArray.__array_ufunc__

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        own = tuple(VkArray if one is ArrayOnTape else one for one in types)
        return operations["array_function"](self, function, own, args, kwargs)

    def __len__(self) -> int:
        return operator.index(self.tape.call(len, (self,), {}))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tape.call(list, (self,), {}))


def shape_of(x: VkArray) -> tuple[int, ...]:
    return x.shape


_FIXED = ("ndim", "itemsize")  # properties that are the same at all sizes
_OF_OBJECTS = {
    f"__{name}__" for name in ("eq", "ne", "lt", "le", "gt", "ge", "hash", "str", "repr", "format")
}  # that arrays have of their own


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: ArrayOnTape, *args: Any, **kwargs: Any) -> Any:
        return self.tape.call(function, (self, *args), kwargs)

    return method


def _property(name: str) -> property:
    return property(lambda self: self.tape.call(getattr, (self, name), {}, name in _FIXED))


def _give_methods() -> None:
    """Give what stands for an array its methods and properties."""
    for name in dir(VkArray):
        own = inspect.getattr_static(VkArray, name)
        private = name.startswith("_") and not name.startswith("__")
        if (
            private
            or (name in vars(ArrayOnTape) and name not in _OF_OBJECTS)
            or (name in vars(object) and name not in _OF_OBJECTS)
        ):
            continue
        if inspect.isfunction(own):
            setattr(ArrayOnTape, name, _method(own))
        elif isinstance(own, property):
            setattr(ArrayOnTape, name, _property(name))


_give_methods()


class NumberOnTape:
    """Stands for a number that sizes determine. What is computed with it is noted, and so is what is decided by it."""

    __slots__ = ("slot", "tape", "value")

    __class__ = property(lambda self: type(self.value))

    def __init__(self, tape: Tape, slot: Slot, value: complex) -> None:
        self.tape, self.slot, self.value = tape, slot, value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"{type(self.value).__name__!r} object has no attribute {name!r}")
        return getattr(self.decided(), name)

    def decided(self) -> Any:
        """The number itself: the tape holds for this one alone."""
        return self.tape.call(operator.pos, (self,), {}, True)

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """What NumPy computes with the number itself, but for arrays of this library."""
        if any(isinstance(one, VkArray) for one in inputs):
            return NotImplemented
        values = [one.decided() if type(one) is NumberOnTape else one for one in inputs]
        return getattr(function, method)(*values, **options)


def _operator(function: Callable[..., Any], reflected: bool = False, fixed: bool = False) -> Callable[..., Any]:
    """A method that computes with a number; where what it returns is `fixed`, the tape holds for this result alone."""

    def method(self: NumberOnTape, *others: Any) -> Any:
        if any(not isinstance(one, nest.NUMBERS) or is_numpys(type(one)) for one in others):
            # NumPy's numbers and arrays compute with the number itself: what they make has a type of theirs.
            known = all(is_numpys(type(one)) for one in others)
            return _with_numpys(function, self, others, reflected) if known else NotImplemented
        given = tuple(one.decided() if isinstance(one, Token) else one for one in others)
        return self.tape.call(function, (*given, self) if reflected else (self, *given), {}, fixed)

    return method


def _with_numpys(function: Callable[..., Any], number: NumberOnTape, others: tuple[Any, ...], reflected: bool) -> Any:
    own = number.decided()
    return function(*others, own) if reflected else function(own, *others)


def _conversion(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *others: function(self.decided(), *others)


def _give_operators() -> None:
    """Give what stands for a number the methods of numbers."""
    methods: dict[str, Callable[..., Any]] = {}
    for name, function in _BINARY.items():
        methods |= {name: _operator(function), f"r{name}": _operator(function, True)}
    methods |= {name: _operator(function) for name, function in _UNARY.items()}
    methods |= {name: _operator(function, fixed=True) for name, function in _DECIDING.items()}
    numbers: dict[str, Any] = {"index": operator.index, "int": int, "float": float, "complex": complex}
    texts: dict[str, Any] = {"hash": hash, "str": str, "repr": repr, "format": format}
    methods |= {name: _conversion(function) for name, function in {**numbers, **texts}.items()}
    for name, method in methods.items():
        setattr(NumberOnTape, f"__{name}__", method)


# What is computed with numbers, by the names of methods.
_BINARY: dict[str, Any] = {
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift")},
    "xor": operator.xor, "and": operator.and_, "or": operator.or_, "divmod": divmod,
}  # fmt: skip
_UNARY: dict[str, Any] = {
    **{name: getattr(operator, name) for name in ("neg", "pos", "abs", "invert")},
    "round": round, "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc,
}  # fmt: skip
_DECIDING: dict[str, Any] = {
    **{name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}, "bool": operator.truth
}  # fmt: skip
ARITHMETIC = _BINARY | _UNARY | _DECIDING | {"max": max, "min": min}


def extreme(function: Callable[..., Any], a: Any, b: Any) -> Any:
    """The greater or the lesser of two numbers, by `max` or `min`: on a tape it is noted, and decides nothing."""
    tape = next((one.tape for one in (a, b) if type(one) is NumberOnTape), None)
    return function(a, b) if tape is None else tape.call(function, (a, b), {})


_give_operators()

STANDS = frozenset((ArrayOnTape, NumberOnTape))
nest.ARRAYS.add(ArrayOnTape)
nest.LEAVES.update(STANDS)
overriding.BUILT_IN.update(STANDS)
