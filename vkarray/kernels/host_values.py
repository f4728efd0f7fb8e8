"""Values that the host gives to a call, such as a list of indices: wrong ones are told at the call, and no call waits for it.

Lists become arrays before a function sees them. Kernels note values that are out of limits (`faults`), and the host would have to
wait for what they note. So where it has given the values it compares them itself, when a function asks for such a kernel. A plan
asks for none, but knows the limits of the call that it repeats. Where values are computed of those given, the host waits.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import configuration
from .._vk.watch import Watch, current, kept, watches
from ..core import checks, dtypes
from ..core.array import VkArray, empty
from ..core.operators import Elements, is_sequence
from ..core.promotion import as_scalar

if TYPE_CHECKING:
    from .faults import Fault
    from .launch import Device


class Limit(NamedTuple):
    """What integers have to be: in [low, high], limits included; with `within`, not in there."""

    fault: Fault
    low: Any
    high: Any
    within: bool = False
    axis: int = 0
    length: int = 0

    def check(self, values: Iterable[int]) -> None:
        """Raise the error for the first value that is wrong."""
        for value in values:
            if (self.low <= value <= self.high) is self.within:
                form = getattr(self.fault, "form", "q")
                word = min(value, 2**63 - 1) if form == "q" else value
                (noted,) = struct.unpack("<q", struct.pack(f"<{form}", word))
                raise self.fault.error(self.fault.describe(noted, self.axis, self.length))


class HostValues:
    """The values that the host gives to one call, by the arrays that were made of them."""

    def __init__(self, device: Device, made: Sequence[tuple[VkArray, Any]], others: Sequence[VkArray]) -> None:
        """`made` are arrays, each with what it was made of, `others` are the call's other arrays, which the device alone knows."""
        self.device = device
        self.must_wait = False  # kernels limit values that were computed of those given
        # By memory: its array, which keeps it, and what the host knows of its values: None for nothing, itself where all are right.
        self.known: dict[int, tuple[VkArray, Any]] = {id(array._buffer): (array, None) for array in others}
        self.known.update((id(array._buffer), (array, values)) for array, values in made)

    def are_checked(self, x: VkArray, limit: Limit) -> bool:
        """Whether no kernel need tell of wrong values of x. Raises the error for one that the host has given."""
        array, given = self.known.get(id(x._buffer), (None, ()))
        if array is None:
            self.must_wait = True
            return False
        if given is None or given is array:
            return given is array
        values = _integers(given)
        if values is None or not _has_all_of(x, array):
            self.must_wait = True
            return False
        limit.check(values)
        return True


calls: dict[int, HostValues] = {}  # that got some, by thread


def call_with(given: HostValues, call: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What a call returns some of whose arrays are of values that the host gave.

    A wrong one among these is told at the call on every device, unless it is to be later.
    """
    if configuration.current().check != "now":
        return call(*args, **kwargs)
    thread = threading.get_ident()
    outer = calls.get(thread)
    try:
        calls[thread] = given
        found = call(*args, **kwargs)
    finally:
        _ = calls.pop(thread, None) if outer is None else calls.update({thread: outer})
    if given.must_wait:
        checks.run(given.device)
    return found


def are_checked(x: VkArray, limit: Limit) -> bool:
    """Say that kernels are about to look for wrong values of x. Returns whether they need not tell, as the host knows them.

    Raises the error for a wrong value that the host has given.
    """
    watch = current() if watches else None
    if watch is not None and not watch.traces:
        watch.limits.append((x, limit))
    given = calls.get(threading.get_ident()) if calls else None
    found = given is not None and given.are_checked(x, limit)
    return found and watch is None  # a plan needs to see where kernels tell


def are_right(x: VkArray) -> VkArray:
    """Say that the values of an array are computed such that none is out of any limits. Returns the array."""
    watch = current() if watches else None
    if watch is not None and not watch.traces:
        watch.limits.append((x, None))
    given = calls.get(threading.get_ident()) if calls else None
    if given is not None:
        given.known[id(x._buffer)] = (x, x)
    return x


@kept(maxsize=8)
def unread_status(device: Device) -> VkArray:
    """Memory for what kernels note of wrong values, where there are none."""
    array = empty((6,), dtypes.int32, device)
    device.upload(array._buffer, 0, bytes(24))
    return array


class PlanLimits:
    """The limits of the values of a call that a plan repeats."""

    def __init__(self, seen: Watch, arguments: Sequence[Any]) -> None:
        """`arguments` are the arrays of the call that was watched."""
        right = {id(x._buffer) for x, limit in seen.limits if limit is None}
        self.limits: list[tuple[int, Limit]] = []  # of the arguments that have these places
        self.are_all = True  # no kernel limits values that the call has computed
        for x, limit in seen.limits:
            if id(x._buffer) in right:
                continue
            place = next((n for n, one in enumerate(arguments) if one._buffer is x._buffer), None)
            known = type(limit.low) is int and type(limit.high) is int
            if place is None or not known or not _has_all_of(x, arguments[place]):
                self.are_all = False
            else:
                self.limits.append((place, limit))

    def are_checked(self, arguments: Sequence[VkArray]) -> bool:
        """Whether no kernel of the plan need tell of wrong values. Raises the error for one that the host has given."""
        given = calls.get(threading.get_ident()) if calls else None
        if given is None:
            return False
        found = [given.are_checked(arguments[place], limit) for place, limit in self.limits]
        if not self.are_all:
            given.must_wait = True
        return self.are_all and all(found)


def _has_all_of(x: VkArray, array: VkArray) -> bool:
    """Whether a view of an array has all of its elements, if perhaps several times."""
    count = 1
    for length, stride in zip(x._shape, x._strides, strict=True):
        count *= length if stride else 1
    return count == array.size and x._dtype is array._dtype


def _integers(given: Any) -> list[int] | None:
    """The integers of a number or of nested sequences; None where there is anything else."""
    if type(given) is int:
        return [given]
    if type(given) is list and all(type(one) is int for one in given):
        return given
    if isinstance(given, (bool, VkArray, Elements)):
        return None
    if is_sequence(given):
        parts = [_integers(one) for one in given]
        return None if None in parts else [value for part in parts for value in part]  # type: ignore[union-attr]
    number = as_scalar(given)
    return [int(number)] if isinstance(number, int) and not isinstance(number, bool) else None
