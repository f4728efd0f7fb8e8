"""Functions that remember how they did a call: `planned` repeats the dispatches of a call whose signature comes again."""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from .. import configuration
from .._vk import watch
from .._vk.pointer import Pointer
from ..core.array import VkArray
from ..core.tokens import token
from . import faults, tuning
from .dispatch import pointer
from .plan import Plan, Refused
from .signature import Look, look_of, note, sharing

Function = TypeVar("Function", bound=Callable[..., Any])

SIGNATURES = 2048  # of one function, in each of two generations
VALUES = 64  # for which a signature has plans, where values decide
ATTEMPTS = 3  # to make a plan


class Statistics:
    """Counts of calls since the process began: repeated by a plan, watched to make one, and refused one."""

    def __init__(self) -> None:
        self.repeated = self.watched = self.refused = 0


statistics = Statistics()


class Cache(dict[Any, Any]):
    """By signature: how often it was met without a plan, a plan, plans by values, or None where there is none to be had.

    What was not used for long is forgotten.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.older: dict[Any, Any] = {}
        self.reasons: dict[str, int] = {}  # why signatures have no plan
        caches.append(self)

    def __missing__(self, key: Any) -> Any:
        found = self.older.pop(key, 0)
        if len(self) >= SIGNATURES:
            self.older = self.copy()
            self.clear()
        self[key] = found
        return found

    def forget(self) -> None:
        """Drop all plans."""
        self.older = {}
        self.clear()


caches: list[Cache] = []


def forget() -> None:
    """Drop the plans of all functions."""
    for cache in caches:
        cache.forget()


tuning.on_change(forget)


class ByValue:
    """Plans of one signature whose scalars in some places decide by their values."""

    __slots__ = ("places", "plans")

    def __init__(self, places: frozenset[int]) -> None:
        self.places = tuple(sorted(places))
        self.plans: dict[Any, Any] = {}

    def key(self, scalars: Sequence[Any]) -> tuple[Any, ...]:
        """The values that decide, with the signs of zeros."""
        return tuple(
            (
                scalars[place],
                math.copysign(1, scalars[place]) if type(scalars[place]) is float else repr(scalars[place]),
            )
            for place in self.places
        )


class _New(NamedTuple):
    """A result: the number of its buffer, how many bytes after the beginning of that or of the argument it begins, and its look."""

    buffer: int
    distance: int
    look: Look


class _Given(NamedTuple):
    """A result that is an argument itself."""

    place: int


class _Call:
    """How to repeat a call: its plan, and what it returned."""

    __slots__ = ("form", "outcome", "plan")

    def __init__(
        self, seen: watch.Watch, arrays: Sequence[VkArray], found: Any, status: Any, count: int, noticed: set[int]
    ) -> None:  # fmt: skip
        given = [pointer(array) for array in arrays]
        self.plan = Plan(seen, given, status)
        self.form = type(found)
        listed = list(found) if isinstance(found, (tuple, list)) else [found]
        self.outcome = [self._outcome(one, arrays, given) for one in listed]
        self.plan.keep([one.buffer for one in self.outcome if type(one) is _New])
        # A scalar that reached no argument of a kernel was lost on the way, so that its value may have decided something.
        noticed |= set(range(count)) - {place for place, _ in self.plan.scalars}

    def _outcome(self, value: Any, arrays: Sequence[VkArray], given: Sequence[Pointer]) -> Any:
        if type(value) is not VkArray:
            if value is None:
                return None
            raise Refused("it returns more than arrays")
        for place, array in enumerate(arrays):
            if array is value:
                return _Given(place)
        number = self.plan.number(value._buffer)
        origin = given[number].offset if number < len(given) else 0
        return _New(number, pointer(value).offset - origin, look_of(value))

    def repeat(self, arrays: list[VkArray], scalars: list[Any]) -> Any:
        """The results for other arguments."""
        buffers: list[Any] = []
        addresses: list[int] = []
        for array in arrays:
            buffer = array._buffer
            buffers.append(buffer)
            offset = array._offset
            addresses.append(buffer.address + offset * array._look.itemsize if offset else buffer.address)
        plan = self.plan
        if plan.checked:
            check = faults.pending_check(plan.device)
            plan.run(buffers, addresses, scalars, check.array._buffer)
            faults.keep_check(plan.device, check)
        else:
            plan.run(buffers, addresses, scalars, None)
        made: list[Any] = []
        for one in self.outcome:
            if type(one) is _New:
                number, distance, look = one
                buffer = buffers[number]
                if distance or number < len(arrays):
                    distance += addresses[number] - buffer.address
                array = VkArray(
                    buffer,
                    distance // look.itemsize,
                    look.shape,
                    look.strides,
                    look.dtype,
                    look.device,
                    look.contiguous,
                )
                array._look = look
                made.append(array)
            else:
                made.append(one if one is None else arrays[one.place])
        form = self.form
        if form is tuple or form is list:
            return form(made)
        return form(*made) if isinstance(form, type) and issubclass(form, tuple) else made[0]


_making = threading.Lock()


def _watched(
    function: Callable[..., Any], cache: Cache, args: tuple[Any, ...], kwargs: dict[str, Any], arrays: list[VkArray],
    scalars: list[Any], integers: bool,
) -> tuple[Any, Any, frozenset[int]]:  # fmt: skip
    """The results of a call, how to repeat it (None where that cannot be), and the places of scalars that decide by value."""
    device = arrays[0]._device
    noticed: set[int] = set()
    places = iter(range(len(scalars)))

    def tokens(value: Any, whole: bool = integers) -> Any:
        kind = type(value)
        if kind is float or kind is complex or (kind is int and whole):
            return token(value, next(places), noticed)
        return kind(tokens(one, False) for one in value) if kind is tuple or kind is list else value

    args = tuple(map(tokens, args))
    kwargs = {name: tokens(value) for name, value in kwargs.items()}
    before = faults.kept_check(device)
    check = before or faults.renewed_check(device)
    status = check.array._buffer
    statistics.watched += 1
    try:
        with watch.watching() as seen:
            found = function(*args, **kwargs)
    finally:
        if before is None and not any(status in what.writes for what in seen.dispatches):
            faults.keep_check(device, None)
    try:
        return found, _Call(seen, arrays, found, status, len(scalars), noticed), frozenset(noticed)
    except Refused as reason:
        cache.reasons[str(reason)] = cache.reasons.get(str(reason), 0) + 1
        return found, None, frozenset(noticed)


def planned(function: Function | None = None, *, integers: bool = False) -> Any:
    """A function whose calls are repeated by plans where their signature comes again.

    What it does has to depend on its arguments alone. With `integers`, its integers are operands as its floats are: their values
    are no part of the signature unless code decides by them.
    """
    if function is None:
        return functools.partial(planned, integers=integers)
    inner: Callable[..., Any] = function
    cache = Cache(inner.__name__)

    @functools.wraps(inner)
    def call(*args: Any, **kwargs: Any) -> Any:
        if watch.watches and watch.current() is not None:  # it is a part of the call that is watched
            return inner(*args, **kwargs)
        key: list[Any] = []
        arrays: list[VkArray] = []
        scalars: list[Any] = []
        noted = note(args, key, arrays, scalars, integers)
        if kwargs:
            key.append(tuple(kwargs))
            noted = noted and note(kwargs.values(), key, arrays, scalars, integers)
        if not noted or not arrays or configuration.current().compare:
            return inner(*args, **kwargs)
        shared = sharing(arrays)
        if shared is not None:
            key.append(shared)
        whole = tuple(key)
        plan = cache[whole]
        values = plan
        if type(plan) is ByValue:
            known = plan.key(scalars)
            plan = plan.plans.get(known, 1)
        if type(plan) is _Call:
            statistics.repeated += 1
            try:
                return plan.repeat(arrays, scalars)
            except (
                OverflowError,
                ValueError,
                TypeError,
            ):  # of converting a scalar: the function says it in its own words
                return inner(*args, **kwargs)
        if plan is None:
            return inner(*args, **kwargs)
        if not plan or not _making.acquire(blocking=False):
            if type(values) is not ByValue:
                cache[whole] = plan or 1
            return inner(*args, **kwargs)
        try:
            found, made, decide = _watched(inner, cache, args, kwargs, arrays, scalars, integers)
        finally:
            _making.release()
        if made is None:
            statistics.refused += 1
            made = plan + 1 if plan < ATTEMPTS else None
        if not decide and type(values) is not ByValue:
            cache[whole] = made
            return found
        if type(values) is not ByValue or not decide <= set(values.places):
            values = cache[whole] = ByValue(decide | frozenset(values.places if type(values) is ByValue else ()))
        elif len(values.plans) >= VALUES:
            values.plans.clear()
        values.plans[values.key(scalars)] = made
        return found

    return call
