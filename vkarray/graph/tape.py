"""A function of dynamic shapes as a tape: what it asks of the library, with numbers for arrays and for sizes.

A compiled function is traced once, with stand-ins for arrays and for sizes. Each call of the library that it makes is noted: the
function, its arguments and what it returns. A size that Python computes with, such as `x.shape[0] // 2`, is noted in the same way.
For another size the tape is played: the library gets the same calls with arrays of the other size, and decides anew which kernels
do them. So a program is right for a size because the library is: nothing is inferred from other sizes, not even the shapes of
results, and there is no second copy of any operation. What Python decides by sizes, such as `if x.shape[0] > 8`, is noted with its
outcome. Where that is another one, the tape does not hold, and the function is traced again. So it does for each value of a size
that Python needs as a number, such as that of `range(x.shape[0])`.

While a tape is made the library computes nothing but in calls that are noted: what would escape the tape raises `Unrecorded`.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from .. import _vk, configuration
from .._vk.watch import Watch, current, watches
from ..core.array import VkArray
from ..core.dtypes import DType
from ..core.operators import is_numpy_array
from ..core.tokens import Token
from ..errors import TraceError, counted
from ..kernels.planned import ByValue
from . import nest
from .stand_ins import STANDS, ArrayOnTape, NumberOnTape, Slot, Unrecorded
from .trace import Trace, Value, users_line

SHORT = 16384  # entries at most


class Mismatch(Exception):
    """A tape does not hold for some sizes; the text says where."""


class Scalar(NamedTuple):
    """Stands in a tape for a number among the arguments."""

    place: int


class Raised(NamedTuple):
    """Stands in a tape for the error that a call raises."""

    kind: type[Exception]


class Entry(NamedTuple):
    """A call on a tape. `form` is the nest of what it returns, with slots for arrays and numbers that are others at other sizes."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    form: Any
    line: str


# Switches that no result depends on.
_HARMLESS = frozenset(("debug", "compile", "compare", "cache", "cpu_threads"))


def _differing(one: configuration.Configuration, other: configuration.Configuration) -> list[str]:
    """The switches that results may depend on and that are set differently."""
    then = other.as_dict()
    return [name for name, value in one.as_dict().items() if value != then[name] and name not in _HARMLESS]


class Tape:
    """The calls of a function, made for some sizes and played for others."""

    def __init__(self, name: str, varies: bool = False) -> None:
        """`varies` is whether there are other sizes."""
        self.name, self.varies = name, varies
        self.entries: list[Entry] = []
        self.form: Any = None  # of what the function returns
        self.rows: list[int] = []  # of its row programs the lengths of rows, 0 where these vary
        self.decide: set[int] = set()  # numbers among the arguments by which it decides
        self.decided: Any = None  # their values
        self.values: list[Any] | None = []  # while it is made
        self.settings = configuration.current()
        self.place: str | None = None  # what is noted in place of the user's line, while that says more

    def decide_by(self, places: Iterable[int], scalars: Sequence[Any]) -> None:
        """Let it hold for calls alone whose numbers in these places are the same."""
        self.decide = set(places)
        self.decided = self.key(scalars)

    def mapped(self, other: Callable[[Any], Any]) -> Tape:
        """The same calls, with other nests for what they are given and return."""
        made = Tape(self.name, self.varies)
        made.values, made.decide, made.decided, made.settings = None, self.decide, self.decided, self.settings
        made.entries = [
            one._replace(args=other(one.args), kwargs=other(one.kwargs), form=other(one.form)) for one in self.entries
        ]
        made.form = other(self.form)
        return made

    def key(self, scalars: Sequence[Any]) -> Any:
        """The values of the numbers by which it decides."""
        return ByValue(frozenset(self.decide)).key(scalars)

    # -- making -------------------------------------------------------------------------------------------------

    def stand_in(self, value: VkArray, dynamic: Sequence[int]) -> ArrayOnTape:
        """What stands for an argument, some of whose axes are dynamic."""
        return self._array(value, frozenset(dynamic))

    def _array(self, value: VkArray, dynamic: frozenset[int] | None = None) -> ArrayOnTape:
        return ArrayOnTape(self, self._new(value), dynamic)

    def _new(self, value: Any) -> Slot:
        if self.values is None:
            raise TraceError(
                f"{users_line()}: this belongs to {self.name}, which was traced, and has no values outside of it. Return it from "
                "the function."
            )
        self.values.append(value)
        return Slot(len(self.values) - 1)

    def made(self, trace: Trace, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the function returns, whose calls are noted. Its arguments hold stand-ins."""
        thread = threading.get_ident()
        watches[thread] = Recording(self, trace)
        try:
            found = function(*args, **kwargs)
            try:
                self.form = self._frozen(found)
                return nest.rebuilt(found, self.plain)
            except RecursionError:
                raise nest.endless(self.name, "what it returns") from None
        finally:
            self.values = None

    def plain(self, value: Any) -> Any:
        """The array or the number itself for what stands for it."""
        if type(value) in STANDS:
            return self.values[value.slot.place]  # type: ignore[index]
        return _of_numbers(value)

    def call(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], fixed: bool = False
    ) -> Any:
        """What a call returns, which is noted. A number that it returns is another one at other sizes, unless it is `fixed`."""
        if self.values is None:
            self._new(None)
        if len(self.entries) >= SHORT:
            raise Unrecorded(f"it makes more than {SHORT} calls")
        thread = threading.get_ident()
        recording = watches.get(thread)
        if type(recording) is not Recording or recording.tape is not self:
            raise Unrecorded(f"code that the library calls takes an array of the function's at {users_line()}")
        settings = configuration.current()
        if settings is not self.settings and (others := _differing(settings, self.settings)):
            raise Unrecorded(
                f"the configuration changes ({', '.join(others)}), in it or in another thread, at {users_line()}"
            )
        frozen = tuple(map(self._frozen, args)), {name: self._frozen(value) for name, value in kwargs.items()}
        given = self._filled(args), {name: self._filled(value) for name, value in kwargs.items()}
        watches[thread] = recording.trace
        try:
            found = function(*given[0], **given[1])
        except Exception as error:  # which the function may handle
            self.entries.append(Entry(function, *frozen, Raised(type(error)), self.place or users_line()))
            raise
        finally:
            watches[thread] = recording
        stands: list[Any] = []
        if nest.holds(found, _is_object):
            raise Unrecorded(f"a call returns an object, {type(found).__name__}, at {users_line()}")

        def leaf(value: Any) -> Any:
            if type(value) is VkArray:
                stands.append(self._array(value))
            elif type(value) in nest.NUMBERS and not fixed:
                stands.append(NumberOnTape(self, self._new(value), value))
            elif (
                type(value) in _PLAIN
                or isinstance(value, _vk.Device)
                or value is NotImplemented
                or (type(value) is tuple and not value)
            ):
                return value
            else:
                raise Unrecorded(
                    f"a call returns {type(value).__name__}, which may be another one at other sizes, at {users_line()}"
                )
            return stands[-1].slot

        form = _mapped(found, leaf)
        self.entries.append(Entry(function, *frozen, form, self.place or users_line()))
        if function.__name__.startswith(("__i", "in_place")):  # `a[0] += 1` changes no list
            for one, value in zip(args, given[0], strict=True):
                if value is found:
                    return one
        following = iter(stands)
        return _mapped(form, lambda value: next(following) if type(value) is Slot else value)

    def _frozen(self, value: Any) -> Any:
        """An argument as the tape keeps it."""
        return _mapped(value, _frozen)

    def _filled(self, value: Any) -> Any:
        return _mapped(value, self.plain)

    # -- playing ------------------------------------------------------------------------------------------------

    def played(
        self, trace: Trace | None, arrays: Sequence[VkArray], scalars: Sequence[Any], values: list[Any] | None = None
    ) -> Any:
        """What the function returns for arrays of other sizes, which a trace takes, if any. `values` gets all that calls return.

        Raises Mismatch where the tape does not hold for them.
        """
        values = [] if values is None else values
        values += arrays
        watch = current()
        outer = watch.tape if isinstance(watch, Recording) else None  # of a function that calls a program

        def leaf(value: Any) -> Any:
            if type(value) is Slot:
                return values[value.place]
            return scalars[value.place] if type(value) is Scalar else value

        for function, args, kwargs, form, line in self.entries:
            if trace is not None:
                trace.line = line
            given = [_mapped(value, leaf) for value in args], {name: _mapped(one, leaf) for name, one in kwargs.items()}
            try:
                if outer is None:
                    found = function(*given[0], **given[1])
                else:
                    found = outer.call(function, tuple(given[0]), given[1], type(form) in nest.NUMBERS)
            except Exception as error:
                if type(form) is not Raised or form.kind is not type(error):
                    raise
                continue
            if not _matches(form, found, values):
                raise Mismatch(f"{line} gives {_told(form)}, and here {_told(found)}")
        if trace is not None:
            trace.line = ""
        return _mapped(self.form, leaf)


class Recording(Watch):
    """Watches a function whose tape is made: what reaches a device outside of calls that are noted is refused."""

    __slots__ = ("call", "tape", "trace")
    traces = records = True

    def __init__(self, tape: Tape, trace: Trace) -> None:
        super().__init__()
        self.tape, self.trace = tape, trace
        self.call = tape.call

    def refuse(self, reason: str) -> None:
        """Say why no tape can hold it. Raises Unrecorded."""
        raise Unrecorded(f"{reason} at {self.tape.place or users_line()}")

    @property
    def own_streams(self) -> Any:
        """Asked for by a generator of random numbers that is made, which no tape can hold. Raises Unrecorded."""
        place = self.tape.place or users_line()
        raise Unrecorded(
            f"it makes a generator of random numbers, which can be made outside of the function, at {place}"
        )

    def __getattr__(self, name: str) -> Any:
        raise Unrecorded(f"it uses the device in a way of its own ({name}) at {self.tape.place or users_line()}")


# -- nests on a tape ----------------------------------------------------------------------------------------------------------


def _frozen(value: Any) -> Any:
    if type(value) in STANDS:
        return value.slot
    if type(value) is VkArray and type(value._buffer) is Value:
        raise Unrecorded(f"an array of the function's came from elsewhere than a call that is noted, at {users_line()}")
    if isinstance(value, Token):
        return Scalar(value.place)
    return copy.copy(_of_numbers(value)) if type(value).__module__ == "numpy" and hasattr(value, "flags") else value


def _of_numbers(value: Any) -> Any:
    """An array of NumPy's that holds sizes, as `np.arange(x.shape[0])` makes, with the numbers themselves, which decide."""
    if not is_numpy_array(value) or value.dtype != object:
        return value
    made = value.copy()
    made.flat = numbers = [one.decided() if type(one) is NumberOnTape else one for one in value.flat]
    kind = next((kind for kind in (complex, float, int) if any(type(one) is kind for one in numbers)), object)
    return made.astype(kind)


# What a call may return besides arrays and numbers: it must be the same at all sizes.
_PLAIN = frozenset((*nest.NUMBERS, bool, str, bytes, type(None), DType, ModuleType, type))


def _is_object(value: Any) -> bool:
    """Whether a value has parts and is none of the nests that a tape holds."""
    return not isinstance(value, (VkArray, tuple, list, dict)) and nest.parts_of(value) is not None


def _is_leaf(value: Any) -> bool:
    return type(value) in _LEAVES or isinstance(value, Token)


_LEAVES = frozenset((*STANDS, Slot, Scalar, VkArray, *nest.NUMBERS, bool, str, type(None)))


def _mapped(value: Any, leaf: Callable[[Any], Any]) -> Any:
    """A nest with other leaves, slices among its nodes."""
    if _is_leaf(value):
        return leaf(value)
    if type(value) is slice:
        return slice(*[_mapped(one, leaf) for one in (value.start, value.stop, value.step)])
    again = nest.mapped(value, lambda part: _mapped(part, leaf))
    return leaf(value) if again is value else again


def leaves(value: Any) -> Iterator[Any]:
    """What is in the nest of an entry and has no parts."""
    if type(value) is slice:
        value = value.start, value.stop, value.step
    parts = nest.parts_of(value) if type(value) not in _LEAVES and isinstance(value, (tuple, list, dict)) else None
    if parts is None:
        yield value
    for _, part in parts or ():
        yield from leaves(part)


def _matches(form: Any, found: Any, values: list[Any]) -> bool:
    """Whether a call has returned what a tape says. What stands in its slots is added to the values."""
    if type(form) is Slot:
        values.append(found)
        return True
    if type(form) is VkArray or type(form) in nest.NUMBERS:
        return form is found or (type(form) is type(found) and bool(form == found))
    parts, others = nest.parts_of(form), nest.parts_of(found)
    if parts is None or others is None:
        return form is found or (type(form) is type(found) and bool(form == found))
    alike = type(form) is type(found) or (
        isinstance(form, tuple) and isinstance(found, tuple)
    )  # a file has no named ones
    if not alike or len(parts) != len(others):
        return False
    return all(
        name == other and _matches(part, value, values)
        for (name, part), (other, value) in zip(parts, others, strict=True)
    )


def _told(value: Any) -> str:
    """A value in an explanation."""
    return counted(len(value), "array") if isinstance(value, (list, tuple)) else f"{value!r:.40}"
