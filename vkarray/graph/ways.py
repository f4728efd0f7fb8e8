"""The ways to trace a function: by a call of it, by a call that is taped, by a tape."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.array import VkArray
from .dimensions import Axes
from .tape import Tape
from .trace import Trace


class Once:
    """How a function is traced: by a call of it."""

    rows: list[int] | None = None  # where sizes vary, the lengths that rows have had
    runs = True  # code of the user's, which may catch errors
    calls = True  # the function: by its arguments, of which two may be the same array, and with its errors

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def again(self) -> Once:
        """For another attempt."""
        return self

    def argument(self, value: VkArray, array: VkArray) -> Any:
        """What the function gets for an argument, of which a traced array is given."""
        return array

    def results(
        self, trace: Trace, arrays: Sequence[VkArray], numbers: Sequence[Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:  # fmt: skip
        """What the function returns."""
        return self.function(*args, **kwargs)


class Taped(Once):
    """By a call that is taped, for sizes that differ along axes."""

    calls = False

    def __init__(self, name: str, function: Callable[..., Any], axes: Mapping[int, Axes]) -> None:
        super().__init__(function)
        self.name, self.axes = name, axes
        self.again()

    def again(self) -> Once:
        """For another attempt."""
        self.tape = Tape(self.name, any(self.axes.values()))
        self.rows = self.tape.rows if self.tape.varies else None
        return self

    def argument(self, value: VkArray, array: VkArray) -> Any:
        """What stands for an argument."""
        return self.tape.stand_in(array, tuple(self.axes.get(id(value), ())))

    def results(self, trace: Trace, arrays: Any, numbers: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the function returns."""
        return self.tape.made(trace, self.function, args, kwargs)


class Played(Once):
    """By a tape."""

    runs = calls = False

    def __init__(self, tape: Tape) -> None:
        self.tape, self.rows = tape, tape.rows if tape.varies else None

    def results(self, trace: Trace, arrays: Any, numbers: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the function returns. Raises Mismatch."""
        return self.tape.played(trace, arrays, numbers)
