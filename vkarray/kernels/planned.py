"""Functions that remember how they did a call: `planned` repeats the dispatches of a call whose signature comes again."""

from __future__ import annotations

import functools
import struct
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar, overload

from .. import _vk, configuration, device_caches
from .._vk import watch
from .._vk.pointer import Pointer
from .._vk.watch import recorder as recorder  # the chapters ask them, too
from .._vk.watch import watches as watches
from ..configuration import default_floats
from ..core import checks
from ..core.array import VkArray
from ..core.tokens import Noticed, token
from ..errors import DeviceError
from . import faults, tuning
from .array_like import Parameters, by_position, numpys_names
from .dispatch import pointer
from .host_values import PlanLimits, call_with, calls, unread_status
from .overriding import overridden
from .plan import Plan, Refused
from .signature import add_sharing, look_of, note, sharing

if TYPE_CHECKING:
    from .._vk import Device

Function = TypeVar("Function", bound=Callable[..., Any])

GENERATION = 1 << 14  # signatures and dispatches of plans of all functions together, before a new generation begins
VALUES = 64  # for which a signature has plans, where values decide
ATTEMPTS = 3  # to make a plan


class ByValue:
    """Plans of one signature whose scalars in some places decide by their values."""

    __slots__ = ("places", "plans")

    def __init__(self, places: frozenset[int]) -> None:
        self.places = tuple(sorted(places))
        self.plans: dict[Any, Any] = {}

    def find(self, scalars: Sequence[Any]) -> Any:
        """The plan for some scalars, or how often they were met without."""
        return self.plans.get(self.key(scalars), 0)

    def put(self, scalars: Sequence[Any], found: Any) -> None:
        """Remember a plan, or how often some scalars were met."""
        if len(self.plans) >= VALUES:
            self.plans.clear()
        self.plans[self.key(scalars)] = found

    def key(self, scalars: Sequence[Any]) -> tuple[Any, ...]:
        """The values that decide: of floating-point numbers the bits, with the signs of zeros and of NaN."""
        found = []
        for place in self.places:
            value = scalars[place]
            found.append(value if type(value) is int else struct.pack("<2d", value.real, value.imag))
        return tuple(found)


class New(NamedTuple):
    """A result: its buffer's number, how many bytes after the beginning of that or of the argument it begins, and its look."""

    buffer: int
    distance: int
    look: Any


class Given(NamedTuple):
    """A result that is an argument itself."""

    place: int


def run_checked(run: Callable[..., Any], device: Device, *given: Any, **named: Any) -> Any:
    """Run a plan whose kernels note wrong values, and leave the check of these with the device. Returns what it returns."""
    check = faults.pending_check(device)
    found = run(*given, check.array._buffer, **named)
    faults.keep_check(device, check)
    return found


class Repeat:
    """How to repeat a call: code that makes its dispatches, and what it returned."""

    __slots__ = ("checked", "device", "form", "outcome", "run", "scalars", "steps")
    at_once: ClassVar[bool] = False  # whether wrong values are told at the call, if the device lets the host see them

    def __init__(
        self, seen: watch.Watch, device: Device, given: Sequence[Pointer], arguments: Sequence[Any], found: Any, status: Any,
        limits: Mapping[int, tuple[int, int]],
    ) -> None:  # fmt: skip
        """Raises Refused where a plan would not do what the call did."""
        plan = Plan(seen, device, given, status)
        self.form = type(found)
        several = isinstance(found, (tuple, list))
        self.outcome = [self.result(one, plan, arguments) for one in (found if several else [found])]
        plan.keep([one.buffer for one in self.outcome if type(one) is New])
        self.checked, self.device, self.steps = plan.checked, device, len(plan.steps)
        self.scalars = frozenset(place for place, _ in plan.scalars)
        source, names = self.source(plan, arguments, limits)
        exec(source, names)  # numbers and names that the plan has made
        self.run: Callable[..., Any] = names["run"]

    def source(
        self, plan: Plan, arguments: Sequence[Any], limits: Mapping[int, tuple[int, int]]
    ) -> tuple[str, dict[str, Any]]:  # fmt: skip
        """The code of `run`, and the names that it uses."""
        raise NotImplementedError

    def result(self, value: Any, plan: Plan, arguments: Sequence[Any]) -> Any:
        """What to remember of a result. Raises Refused for what a plan cannot make."""
        raise NotImplementedError

    def __call__(
        self, buffers: list[Any], addresses: list[int], scalars: Sequence[Any], arguments: Sequence[Any]
    ) -> Any:
        """The results for other arguments, whose memory the lists hold."""
        raise NotImplementedError


class Plans(dict[Any, Any]):
    """The plans of one function by signature, or how often one was met without, or None where there is none to be had.

    What was not used for long is forgotten.
    """

    all: ClassVar[list[Plans]] = []
    young: ClassVar[int] = 0  # signatures and dispatches in the younger generation of all functions

    def __init__(self, name: str, repeat: type[Repeat], types: frozenset[type]) -> None:
        """`types` are those of the scalars that are operands."""
        super().__init__()
        self.name, self.make, self.types = name, repeat, types
        self.older: dict[Any, Any] = {}
        self.repeated = self.watched = 0
        self.reasons: dict[str, int] = {}  # why calls got no plan
        Plans.all.append(self)

    def __missing__(self, key: Any) -> Any:
        found = self.older.pop(key, 0)
        self[key] = found
        self._count(found)
        return found

    def put(self, key: Any, scalars: Sequence[Any], found: Any) -> None:
        """Remember a plan, or how often a call was met."""
        values = self[key]
        if type(values) is ByValue:
            values.put(scalars, found)
        else:
            self[key] = found
        self._count(found)

    def _count(self, found: Any) -> None:
        """Count what was added; all functions begin a new generation where it is too much."""
        parts = found.plans.values() if type(found) is ByValue else (found,)
        Plans.young += sum(1 + getattr(one, "steps", 0) for one in parts)
        if Plans.young > GENERATION:
            Plans.young = 0
            for plans in Plans.all:
                plans.older = plans.copy()
                plans.clear()

    def forget(self) -> None:
        """Drop all plans."""
        self.older = {}
        self.clear()

    def call(
        self, function: Callable[..., Any], key: list[Any], device: Device, buffers: list[Any], addresses: list[int],
        arguments: Sequence[Any], scalars: Sequence[Any], args: tuple[Any, ...], kwargs: dict[str, Any],
    ) -> Any:  # fmt: skip
        """The results of a call, by a plan where there is one. The key has all of its signature but which memory is shared.

        `buffers` and `addresses` are those of its arrays, `arguments` what a result may be itself.
        """
        if len(buffers) > 1:
            shared = sharing(buffers, addresses)
            if shared is not None:
                key.append(shared)
        whole = tuple(key)
        plan = self[whole]
        if type(plan) is ByValue:
            plan = plan.find(scalars)
        if type(plan) is self.make:
            self.repeated += 1
            try:
                found = plan(buffers, addresses, scalars, arguments)
            except (OverflowError, struct.error):  # of converting a scalar: the function says it in its own words
                return function(*args, **kwargs)
            return self.told(found, device) if plan.checked else found
        if plan is None:
            return self.told(function(*args, **kwargs), device)
        given = [Pointer(buffer, address - buffer.address) for buffer, address in zip(buffers, addresses, strict=True)]
        return self.told(self.watch(function, whole, plan, device, given, arguments, scalars, args, kwargs), device)

    def told(self, found: Any, device: Device) -> Any:
        """What a call returns, once wrong values that its kernels found are told where that is to be at once."""
        if self.make.at_once and checks.are_waiting(device) and faults.tells_at_once(device):
            checks.run(device)
        return found

    def unplanned(
        self, function: Callable[..., Any], device: Device, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """The results of a call without a plan."""
        try:
            return self.told(function(*args, **kwargs), device)
        except Exception:
            self.failed(device)
            raise

    def failed(self, device: Device) -> None:
        """Forget the check of a call that raised another error: a later call would tell what is wrong with its values.

        Where errors are told at once, no call before has left a check.
        """
        if self.make.at_once and checks.are_waiting(device) and faults.tells_at_once(device):
            faults.keep_check(device, None)

    def watch(
        self, function: Callable[..., Any], key: Any, known: int, device: Device, given: Sequence[Pointer],
        arguments: Sequence[Any], scalars: Sequence[Any], args: tuple[Any, ...], kwargs: dict[str, Any],
    ) -> Any:  # fmt: skip
        """The results of a call that was met `known` times before; at the second time it is watched, and a plan is made."""
        if not known:
            self.put(key, scalars, 1)
            return function(*args, **kwargs)
        noticed = Noticed()
        tokens = _Tokens(noticed, self.types)
        args = tuple(map(tokens, args))
        kwargs = {name: tokens(value) for name, value in kwargs.items()}
        found, made = self._watched(function, args, kwargs, device, given, arguments, noticed.limits)
        if made is not None:  # a scalar that reached no kernel was lost on the way: its value may have decided
            noticed.decide |= set(range(len(scalars))) - made.scalars
        self._remember(key, known, made, scalars, noticed.decide)
        return found

    def _watched(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], device: Device,
        given: Sequence[Pointer], arguments: Sequence[Any], limits: Mapping[int, tuple[int, int]],
    ) -> tuple[Any, Repeat | None]:  # fmt: skip
        before = faults.kept_check(device)
        check = before or faults.renewed_check(device)
        status = check.array._buffer
        self.watched += 1
        seen, thread = watch.Watch(sys._getframe(), function), threading.get_ident()
        outer = watches.get(thread)  # of what a signal handler strikes that gets here
        try:
            watches[thread] = seen  # no `with`: Ctrl-C in its beginning would leave the watch on
            found = function(*args, **kwargs)
        finally:
            _ = watches.pop(thread, None) if outer is None else watches.update({thread: outer})
            if before is None and not any(status in what.writes for what in seen.dispatches):
                faults.keep_check(device, None)
        try:
            return found, self.make(seen, device, given, arguments, found, status, limits)
        except Refused as reason:
            self.reasons[str(reason)] = self.reasons.get(str(reason), 0) + 1
            return found, None

    def _remember(self, key: Any, known: int, made: Repeat | None, scalars: Sequence[Any], noticed: set[int]) -> None:
        values = self[key]
        before = frozenset(values.places) if type(values) is ByValue else frozenset()
        if not noticed <= before:
            self[key] = ByValue(before | noticed)
        self.put(key, scalars, made or (known + 1 if known < ATTEMPTS else None))


class _Tokens:
    """Scalars of a call as tokens, in the order of its arguments."""

    def __init__(self, noticed: Noticed, types: frozenset[type]) -> None:
        self.noticed, self.types, self.count = noticed, types, 0

    def __call__(self, value: Any, whole: bool = True) -> Any:
        kind = type(value)
        if kind in self.types and (whole or kind is not int):
            self.count += 1
            return token(value, self.count - 1, self.noticed)
        return kind(self(one, False) for one in value) if kind is tuple or kind is list else value


def recordable(function: Function) -> Function:
    """A function that makes no plan, and that is taken whole where calls are recorded."""

    names = numpys_names(function)
    unnamed = len(names)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs and len(args) < unnamed:
            args, kwargs = by_position(names, args, kwargs)
        if watches and (recording := recorder()) is not None:
            return recording.call(function, args, kwargs)
        return function(*args, **kwargs)

    return watch.recorded(call)  # type: ignore[return-value]


refuse = watch.refuse  # for functions that no plan may repeat
recorded = watch.recorded  # for functions that ask `recorder` themselves
kept = watch.kept  # for functions whose arrays calls share
unwatched = watch.unwatched  # for what is made once, at the first call
observer = watch.observer  # for functions that tapes do not take, and profiles show
tracer = watch.tracer  # for what depends on more than arguments


def forget() -> None:
    """Drop the plans of all functions."""
    Plans.young = 0
    for plans in Plans.all:
        plans.forget()


tuning.on_change(forget)
device_caches.emptied(forget)


def statistics() -> dict[str, int]:
    """Counts: functions with plans, signatures kept, calls repeated by a plan, and calls watched to make one."""
    return {
        "functions": len(Plans.all),
        "signatures": sum(len(plans) + len(plans.older) for plans in Plans.all),
        "repeated": sum(plans.repeated for plans in Plans.all),
        "watched": sum(plans.watched for plans in Plans.all),
    }


# -- functions of arrays ----------------------------------------------------------------------------------------------------


class _OfArrays(Repeat):
    """How to repeat a call of a function of arrays."""

    __slots__ = ("limits_of_values",)
    at_once = True

    def __init__(
        self, seen: watch.Watch, device: Device, given: Sequence[Pointer], arguments: Sequence[Any], found: Any, status: Any,
        limits: Mapping[int, tuple[int, int]],
    ) -> None:  # fmt: skip
        super().__init__(seen, device, given, arguments, found, status, limits)
        self.limits_of_values = PlanLimits(seen, arguments)

    def checked_results(self, arguments: Sequence[VkArray], scalars: Sequence[Any]) -> Any:
        """The results of kernels that note wrong values, unless the host has given these and knows that they are right."""
        if calls and self.limits_of_values.are_checked(arguments):
            return self.run(arguments, scalars, unread_status(self.device)._buffer)
        return run_checked(self.run, self.device, arguments, scalars)

    def source(
        self, plan: Plan, arguments: Sequence[VkArray], limits: Mapping[int, tuple[int, int]]
    ) -> tuple[str, dict[str, Any]]:  # fmt: skip
        """The code of `run`, which takes arrays and returns arrays, and the names that it uses."""
        results = [one.place if type(one) is Given else None if one is None else tuple(one) for one in self.outcome]
        return plan.source_of_arrays([look_of(one) for one in arguments], results, self.form, limits)

    def __call__(
        self, buffers: list[Any], addresses: list[int], scalars: Sequence[Any], arguments: Sequence[Any]
    ) -> Any:
        """The results for other arguments."""
        return self.checked_results(arguments, scalars) if self.checked else self.run(arguments, scalars)

    def result(self, value: Any, plan: Plan, arguments: Sequence[Any]) -> Any:
        """What to remember of a result: arrays, and None."""
        if value is None:
            return None
        if type(value) is not VkArray:
            raise Refused("it returns more than arrays")
        for place, array in enumerate(arguments):
            if array is value:
                return Given(place)
        return New(*plan.place(pointer(value)), look_of(value))


FLOATS = frozenset((float, complex))
_NUMBERS = frozenset((int, float, complex))


@overload
def planned(function: Function) -> Function: ...


@overload
def planned(*, integers: bool = False, creates: bool = False) -> Callable[[Function], Function]: ...


def planned(function: Any = None, *, integers: bool = False, creates: bool = False) -> Any:
    """A function whose calls are repeated by plans where their signature comes again.

    Arguments that stand for arrays are converted first (see `array_like.py`).
    What it does has to depend on its arguments alone, and on the default floating type. With `integers`, its integers are
    operands as its floats are: their values are no part of the signature unless code decides by them. One that `creates` takes no
    array, but perhaps a `device`.
    """
    if function is None:
        return functools.partial(planned, integers=integers, creates=creates)
    inner: Callable[..., Any] = function
    plans = Plans(inner.__name__, _OfArrays, _NUMBERS if integers else FLOATS)
    likes = Parameters(inner)
    takes_likes = bool(likes)
    names = numpys_names(inner)
    unnamed = len(names)

    @functools.wraps(inner)
    def call(*args: Any, **kwargs: Any) -> Any:
        key: list[Any] = []
        arrays: list[VkArray] = []
        scalars: list[Any] = []
        if not watches:  # most calls have a plan: only those without are looked at further
            noted = note(args, key, arrays, scalars, integers)
            if kwargs:
                key.append(tuple(kwargs))
                noted = noted and note(kwargs.values(), key, arrays, scalars, integers)
            settings = configuration.active or configuration.current()
            if noted and (arrays or creates) and not settings.compare:
                key.append(settings.default_float if not default_floats else configuration.default_float())
                if not arrays:
                    key.append(_vk.open_device(None))
                elif len(arrays) > 1 and (len(arrays) > 2 or arrays[0]._buffer is arrays[1]._buffer):
                    add_sharing(key, arrays)
                plan = plans.get(tuple(key), 0)
                if type(plan) is ByValue:
                    plan = plan.find(scalars)
                if type(plan) is _OfArrays:
                    plans.repeated += 1
                    try:
                        if plan.checked:
                            return plans.told(plan.checked_results(arrays, scalars), plan.device)
                        found = plan.run(arrays, scalars)
                    except (OverflowError, struct.error):  # of a scalar: the function says it in its own words
                        found = inner(*args, **kwargs)
                    if creates and type(found) is VkArray and not found._shape:
                        found._is_place = True
                    return found
                if plan is None and arrays:
                    return plans.unplanned(inner, arrays[0]._device, args, kwargs)
            key, arrays, scalars = [], [], []
        if kwargs and len(args) < unnamed:
            args, kwargs = by_position(names, args, kwargs)
        if watches and (recording := recorder()) is not None:
            return recording.call(call, args, kwargs)
        if watches and watch.current() is not None:  # it is a part of the call that is watched
            if takes_likes and not (likes.are_plain(args, kwargs) and likes.have_array(args, kwargs)):
                args, kwargs, _ = likes.converted(args, kwargs)
            return _as_place(inner(*args, **kwargs)) if creates else inner(*args, **kwargs)
        if takes_likes and not likes.are_plain(args, kwargs):
            if (answer := overridden(call, args, kwargs)) is not NotImplemented:
                return answer
            args, kwargs, given = likes.converted(args, kwargs)
            if given is not None:
                return call_with(given, call, args, kwargs)
        noted = note(args, key, arrays, scalars, integers)
        if kwargs:
            key.append(tuple(kwargs))
            noted = noted and note(kwargs.values(), key, arrays, scalars, integers)
        if takes_likes and not (arrays and likes.have_array(args, kwargs)):
            args, kwargs, given = likes.converted(args, kwargs)
            if given is not None:
                return call_with(given, call, args, kwargs)
        settings = configuration.current()
        if not noted or not (arrays or creates) or settings.compare:
            if not arrays:
                return inner(*args, **kwargs)
            return plans.unplanned(inner, arrays[0]._device, args, kwargs)
        key.append(settings.default_float if not default_floats else configuration.default_float())
        if not arrays:
            key.append(_vk.open_device(None))
        device = arrays[0]._device if arrays else _asked_for(args, kwargs) or key[-1]
        buffers: list[Any] = []
        addresses: list[int] = []
        for array in arrays:
            buffer, offset = array._buffer, array._offset
            buffers.append(buffer)
            addresses.append(buffer.address + offset * array._look.itemsize if offset else buffer.address)
        try:
            found = plans.call(inner, key, device, buffers, addresses, arrays, scalars, args, kwargs)
        except Exception:
            plans.failed(device)
            raise
        return _as_place(found) if creates else found

    return watch.recorded(call)


def _asked_for(args: Sequence[Any], kwargs: Mapping[str, Any]) -> _vk.Device | None:
    """The device that a call names which takes no arrays, or None: also where it names one that there is not."""
    named = kwargs.get("device")
    if named is None or type(named) is _vk.Device:
        return named or next((one for one in args if type(one) is _vk.Device), None)
    try:
        return _vk.open_device(named)
    except DeviceError:  # the function says it
        return None


def _as_place(found: Any) -> Any:
    """What a function has created: an array of 0 dimensions is one that in-place operators change."""
    if type(found) is VkArray and not found._shape:
        found._is_place = True
    return found
