"""Lengths that follow from dimensions, such as `past + new` or `length // 2 + 1`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .dimensions import Dim

MOST = 64  # operations of one length
# By the names that programs have for them, with how tightly they bind.
OPERATIONS: dict[str, tuple[Callable[[int, int], int], int]] = {
    "+": (operator.add, 1), "-": (operator.sub, 1), "*": (operator.mul, 2), "//": (operator.floordiv, 2),
    "%": (operator.mod, 2), "max": (max, 9), "min": (min, 9),
}  # fmt: skip


class Symbolic:
    """A length that is not the same in all calls. Arithmetic with it makes a `Derived`."""

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        return _made("+", self, other)

    def __radd__(self, other: Any) -> Any:
        return _made("+", other, self)

    def __sub__(self, other: Any) -> Any:
        return _made("-", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _made("-", other, self)

    def __mul__(self, other: Any) -> Any:
        return _made("*", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _made("*", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return _made("//", self, other)

    def __mod__(self, other: Any) -> Any:
        return _made("%", self, other)


class Derived(Symbolic):
    """An operation of two lengths, each a dimension, a number, or derived itself. Raises ValueError for a division by no number."""

    __slots__ = ("left", "operation", "operations", "right")

    def __init__(self, operation: str, left: Any, right: Any) -> None:
        if operation in ("//", "%") and (type(right) is not int or right < 1):
            raise ValueError(f"a length is divided by {right!r:.40}; expected a number of 1 or more")
        self.operation, self.left, self.right = operation, left, right
        self.operations: int = 1 + sum(one.operations for one in (left, right) if type(one) is Derived)
        if self.operations > MOST:
            raise ValueError(f"a length takes more than {MOST} operations")

    @property
    def dims(self) -> dict[Dim, None]:
        """The dimensions that it follows from."""
        return dict.fromkeys(self._dims())

    def _dims(self) -> Iterator[Dim]:
        for one in (self.left, self.right):
            if type(one) is Derived:
                yield from one._dims()
            elif type(one) is not int:
                yield one

    def at(self, lengths: Mapping[Dim, int]) -> int:
        """The length, where the dimensions have these."""
        return OPERATIONS[self.operation][0](length_at(self.left, lengths), length_at(self.right, lengths))

    def __str__(self) -> str:
        binds = OPERATIONS[self.operation][1]
        if binds == 9:
            return f"{self.operation}({told(self.left)}, {told(self.right)})"
        left, right = _inside(self.left, binds), _inside(self.right, binds + 1)
        return f"{left}*{right}" if self.operation == "*" else f"{left} {self.operation} {right}"

    def __repr__(self) -> str:
        return f"<length {self}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Derived) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self.operation, self.left, self.right


def _made(operation: str, left: Any, right: Any) -> Any:
    """What arithmetic with a length gives. Raises ValueError for a division by anything but a number of 1 or more."""
    if not all(isinstance(one, Symbolic) or type(one) is int for one in (left, right)):
        return NotImplemented
    return Derived(operation, left, right)


def _inside(one: Any, binds: int) -> str:
    return f"({one})" if type(one) is Derived and OPERATIONS[one.operation][1] < binds else told(one)


def told(one: Any) -> str:
    """A length in a text: a number, the name of a dimension, or what follows from these."""
    name = getattr(one, "name", None)
    return str(one) if name is None else name


def length_at(one: Any, lengths: Mapping[Dim, int]) -> int:
    """A length of a shape, where dimensions have these lengths. Raises KeyError for one that is not given."""
    if type(one) is Derived:
        return one.at(lengths)
    return one if type(one) is int else lengths[one]


def check(derived: Any, name: str, lengths: Mapping[Dim, int]) -> None:
    """Compare lengths that follow from dimensions: of each the length, what it should be, and its place in words.

    Raises ValueError for one that is another, or that follows from a dimension which no argument has.
    """
    for length, what, place in derived:
        unknown = [dim.name for dim in what.dims if dim not in lengths]
        if unknown:
            raise ValueError(
                f"{name}: {place} is to have the length {what}, and no argument has the length {unknown[0]} itself. Name that "
                "dimension on an axis."
            )
        if length != what.at(lengths):
            known = ", ".join(f"{dim.name} = {lengths[dim]}" for dim in what.dims)
            raise ValueError(
                f"{name}: {place} has length {length}; expected {what}, which is {what.at(lengths)} for {known}."
            )
