"""Plans: what an operator recorded for a signature is recorded again without the Python code that decided on it.

`planned(kernel)` watches a kernel. When a signature comes for the second time, what the kernel does is traced twice: for
the arguments, and for copies of them that lie elsewhere in memory. A word of the push constants that differs between the two
has to be the same distance from the start of the same buffer in both: that is an address, which later calls fill in. All
else has to agree. Whatever a plan cannot repeat (reads by the host, uploads, transfers, words that differ otherwise, shared
memory that is written) leaves the signature without one, and the kernel runs as it always did.

A signature holds all that a kernel may decide by: of tensors the type, shape, strides, offset, device, and which of them
share memory; of other arguments the value. Kernels that draw random numbers keep a state between calls: they have no plans.
"""

from __future__ import annotations

import functools
import math
import struct
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ... import _vk, configuration
from ...kernels import faults, tuning
from ...kernels.texels import Binding
from .. import device as devices
from ..device import CPU_KERNELS
from ..tensors.storage import Look, _allocations, copy_of, look, tensor_over
from .fallback import on_one_device

Kernel = Callable[..., Any]

SIGNATURES = 2048  # of one operator, in each of two generations
STEPS = 16  # longer sequences are worth their Python code
ATTEMPTS = 3
COPIED_BYTES = 512 << 20  # what tracing may copy; the device is busy for longer with larger arguments anyway
_Parameter = torch.nn.Parameter
_TENSORS = (Tensor, _Parameter)
_VALUES = frozenset(
    (int, float, bool, str, type(None), torch.dtype, torch.device, torch.memory_format, torch.layout)
)  # fmt: skip
_REFUSED = ("upload", "download", "copy", "mapped")

_set = torch.ops.aten.set_.source_Storage_storage_offset.redispatch


# -- signatures -------------------------------------------------------------------------------------------------------


def _note(values: Iterable[Any], key: list[Any], buffers: list[_vk.Buffer]) -> bool:
    """Add what arguments decide to the key, and their memory to the buffers; False for what no plan is made of."""
    for value in values:
        kind = type(value)
        if kind is Tensor or kind is _Parameter:
            held = _allocations.get(value.untyped_storage().data_ptr())
            if held is None or value.is_neg() or value.is_conj():
                return False
            buffer = held[0]
            if buffers and buffer.device is not buffers[0].device:
                return False
            key += (value.dtype, value.shape, value.stride(), value.storage_offset(), held[2], buffer.device)
            buffers.append(buffer)
        elif kind in _VALUES:
            key += (kind, value)
            if kind is float and not value:
                key.append(math.copysign(1, value))
            elif kind is torch.device and value.index is None:  # the current one, whichever that is
                return False
        elif kind is not list and kind is not tuple:
            return False
        elif value and type(value[0]) is int:  # all of them are, then
            key.append(tuple(value))
        else:
            key.append(len(value))
            if not _note(value, key, buffers):
                return False
    return True


def _sharing(buffers: Sequence[_vk.Buffer]) -> tuple[int, ...] | None:
    """Which tensors share memory: None where none do."""
    if len(buffers) < 2 or (len(buffers) == 2 and buffers[0] is not buffers[1]):
        return None
    places = [id(buffer) for buffer in buffers]
    return None if len(set(places)) == len(places) else tuple(map(places.index, places))


# -- traces -----------------------------------------------------------------------------------------------------------


class _Dispatch(NamedTuple):
    kernel: Any
    push: bytes
    groups: tuple[int, int, int]
    reads: tuple[_vk.Buffer, ...]
    writes: tuple[_vk.Buffer, ...]
    bindings: tuple[Binding, ...]


_tracing = threading.Lock()


class _Trace:
    """What this thread makes a device do in a `with` block, and whether a plan can repeat it (`clean`)."""

    def __init__(self, device: _vk.Device) -> None:
        self.device, self.thread = device, threading.get_ident()
        self.made: list[_vk.Buffer] = []  # kept, so that no two of them have one address
        self.dispatches: list[_Dispatch] = []
        self.others = 0  # dispatches of other threads
        self.clean = True

    def __enter__(self) -> _Trace:
        device = self.device
        self.before = {name: getattr(device, name) for name in ("allocate", "dispatch", *_REFUSED)}
        allocate, dispatch = device.allocate, device.dispatch

        def allocated(nbytes: int) -> _vk.Buffer:
            buffer = allocate(nbytes)
            if threading.get_ident() == self.thread:
                self.made.append(buffer)
            return buffer

        def dispatched(
            kernel: Any, push: bytes, groups: tuple[int, int, int], reads: Any, writes: Any, bindings: Any = None
        ) -> None:  # fmt: skip
            dispatch(kernel, push, groups, reads, writes, bindings)
            if threading.get_ident() == self.thread:
                self.dispatches.append(
                    _Dispatch(kernel, bytes(push), groups, tuple(reads), tuple(writes), tuple(bindings or ()))
                )
            else:
                self.others += 1

        def refused(call: Kernel, *args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() == self.thread:
                self.clean = False
            return call(*args, **kwargs)

        self.serial = device.queue.serial
        watched: dict[str, Kernel] = {name: functools.partial(refused, self.before[name]) for name in _REFUSED}
        for name, call in {**watched, "allocate": allocated, "dispatch": dispatched}.items():
            setattr(device, name, call)
        return self

    def __exit__(self, *_: object) -> None:
        for name, call in self.before.items():
            setattr(self.device, name, call)
        # Whatever else was recorded: by this thread past the device's functions, or transfers of others.
        seen = len(self.dispatches) + self.others
        if self.device.queue.serial - self.serial != seen or len(self.dispatches) > STEPS:
            self.clean = False


def _elsewhere(value: Any, copies: dict[int, torch.UntypedStorage]) -> Any:
    """An argument with copies for its tensors, which share memory where the tensors do."""
    if isinstance(value, _TENSORS):
        held = value.untyped_storage()
        place = held.data_ptr()
        if place not in copies:
            copies[place] = copy_of(held)
        made = torch.empty((0,), dtype=value.dtype, device=value.device)
        return _set(CPU_KERNELS, made, copies[place], value.storage_offset(), value.shape, value.stride())
    return [_elsewhere(one, copies) for one in value] if isinstance(value, (list, tuple)) else value


# -- plans ------------------------------------------------------------------------------------------------------------


class _Step(NamedTuple):
    """One dispatch: push constants are packed from `values`, of which some are addresses (place, buffer, distance)."""

    kernel: Any
    pack: Callable[..., bytes]
    values: list[Any]
    addresses: tuple[tuple[int, int, int], ...]
    groups: tuple[int, int, int]
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    bindings: tuple[tuple[int, int, int, int], ...]


class _New(NamedTuple):
    """A result in memory of its own: the number of its buffer, and what it looks like."""

    buffer: int
    look: Look


class _Refused(Exception):
    """A plan cannot repeat this."""


class _Plan:
    """The dispatches of a signature. Buffers have numbers: those of arguments, then new ones, kept ones, the check's."""

    def __init__(
        self, traces: Sequence[_Trace], buffers: Sequence[Sequence[_vk.Buffer]], checked: Sequence[Any]
    ) -> None:
        first, second = traces
        self.device = first.device
        self.sizes: list[int | None] = [buffer.nbytes for buffer in first.made]  # None: not needed
        if self.sizes != [buffer.nbytes for buffer in second.made]:
            raise _Refused
        self.kept: list[_vk.Buffer] = []
        self.checked = checked[0] is not None
        self.numbers: list[dict[int, int]] = []
        for trace, given in zip(traces, buffers, strict=True):
            numbers: dict[int, int] = {}
            for number, buffer in enumerate((*given, *trace.made)):
                numbers.setdefault(id(buffer), number)
            self.numbers.append(numbers)
        self.fixed = len(buffers[0]) + len(self.sizes)
        for numbers, buffer in zip(self.numbers, checked, strict=True):
            if buffer is not None:
                numbers[id(buffer)] = self.fixed
        self.fixed += self.checked
        self.steps = [self._step(*pair) for pair in zip(first.dispatches, second.dispatches, strict=True)]

    def _number(self, first: _vk.Buffer, second: _vk.Buffer) -> int:
        number = self.numbers[0].get(id(first))
        if number != self.numbers[1].get(id(second)):
            raise _Refused
        if number is None:  # a constant: one buffer for all calls
            if first is not second:
                raise _Refused
            number = self.fixed + len(self.kept)
            self.kept.append(first)
            for numbers in self.numbers:
                numbers[id(first)] = number
        return number

    def _step(self, first: _Dispatch, second: _Dispatch) -> _Step:
        if (first.kernel, first.groups, len(first.push)) != (second.kernel, second.groups, len(second.push)):
            raise _Refused
        pairs = [
            [(one, other, self._number(one, other)) for one, other in zip(*both, strict=True)]
            for both in ((first.reads, second.reads), (first.writes, second.writes))
        ]
        if any(number >= self.fixed for _, _, number in pairs[1]):
            raise _Refused  # it writes into memory that calls share
        form, values, addresses = _pushed(first.push, second.push, [*pairs[0], *pairs[1]])
        reads, writes = (tuple(number for _, _, number in listed) for listed in pairs)
        bindings, others = (
            tuple((place, numbers[id(one)], offset, nbytes) for place, one, offset, nbytes in step.bindings)
            for numbers, step in zip(self.numbers, (first, second), strict=True)
        )
        if bindings != others:
            raise _Refused
        pack = struct.Struct(form).pack
        return _Step(first.kernel, pack, values, addresses, first.groups, reads, writes, bindings)

    def results(self, found: Any, again: Any, args: Sequence[Any], given: int) -> None:
        """Note what the kernel returned."""
        self.form = type(found)
        listed = found if self.form in (tuple, list) else [found]
        others = again if self.form in (tuple, list) else [again]
        self.outcome = [self._result(one, other, args, given) for one, other in zip(listed, others, strict=True)]
        own = [one.buffer for one in self.outcome if type(one) is _New]
        if len(set(own)) != len(own):
            raise _Refused
        used = {number for step in self.steps for number in (*step.reads, *step.writes)} | set(own)
        self.sizes = [size if given + place in used else None for place, size in enumerate(self.sizes)]
        self.only = self.outcome[0] if self.form not in (tuple, list) else None

    def _result(self, value: Any, other: Any, args: Sequence[Any], given: int) -> Any:
        if type(value) is not Tensor:
            if isinstance(value, Tensor) or type(value) not in _VALUES or value != other:
                raise _Refused
            return value
        for place, one in enumerate(args):
            if one is value:
                return _Argument(place)
        buffer, _, stored = _allocations[value.untyped_storage().data_ptr()]
        number = self._number(buffer, _allocations[other.untyped_storage().data_ptr()][0])
        if not given <= number < given + len(self.sizes) or value.is_neg() or value.is_conj():
            raise _Refused
        return _New(
            number, look(
                devices.place(buffer.device).number, buffer.nbytes, value.storage_offset(), tuple(value.shape),
                value.stride(), value.dtype,
                stored or value.dtype.itemsize,
            )
        )  # fmt: skip

    def run(self, buffers: list[Any], args: Sequence[Any]) -> Any:
        """Record the dispatches for other buffers, and return the results."""
        device = self.device
        for nbytes in self.sizes:
            buffers.append(None if nbytes is None else device.allocate(nbytes))
        if self.checked:
            check = faults.pending_check(device)
            buffers.append(check.array._buffer)
        buffers += self.kept
        dispatch = device.dispatch
        for kernel, pack, values, addresses, groups, reads, writes, bindings in self.steps:
            filled = values.copy()
            for place, number, distance in addresses:
                filled[place] = buffers[number].address + distance
            dispatch(
                kernel, pack(*filled), groups, [buffers[number] for number in reads],
                [buffers[number] for number in writes],
                [(place, buffers[number], offset, nbytes) for place, number, offset, nbytes in bindings] if bindings else None,
            )  # fmt: skip
        if self.checked:
            faults.keep_check(device, check)
        only = self.only
        if type(only) is _New:
            return tensor_over(buffers[only.buffer], only.look)
        made = [
            tensor_over(buffers[one.buffer], one.look) if type(one) is _New
            else args[one.place] if type(one) is _Argument else one
            for one in self.outcome
        ]  # fmt: skip
        return self.form(made) if self.form in (tuple, list) else made[0]


class _Argument(NamedTuple):
    """A result that is an argument, written in place."""

    place: int


def _pushed(
    first: bytes, second: bytes, buffers: Sequence[tuple[_vk.Buffer, _vk.Buffer, int]]
) -> tuple[str, list[Any], tuple[tuple[int, int, int], ...]]:
    """Push constants as a form for `struct`, its values, and which of them are addresses. Raises _Refused."""
    form, values = "<", list[Any]()
    addresses: list[tuple[int, int, int]] = []
    same = position = 0  # the bytes before `position`, from `same` on, agree

    def constant() -> None:
        nonlocal form
        if position > same:
            form += f"{position - same}s"
            values.append(first[same:position])

    while position < len(first):
        if first[position : position + 4] == second[position : position + 4]:
            wide = first[position + 4 : position + 8] != second[position + 4 : position + 8]
            found = _address(first, second, position, buffers) if wide else None  # may agree in its lower half
            if found is None:
                position += 4
                continue
        else:
            found = _address(first, second, position, buffers)
            if found is None:
                raise _Refused
        constant()
        form += "Q"
        addresses.append((len(values), *found))
        values.append(0)
        position += 8
        same = position
    position = len(first)
    constant()
    return form, values, tuple(addresses)


def _address(
    first: bytes, second: bytes, position: int, buffers: Sequence[tuple[_vk.Buffer, _vk.Buffer, int]]
) -> tuple[int, int] | None:
    """The number of the buffer whose address lies at a position of both, and the distance from its start."""
    if position + 8 > len(first):
        return None
    (one,), (other,) = struct.unpack_from("<Q", first, position), struct.unpack_from("<Q", second, position)
    for here, there, number in buffers:
        distance = one - here.address
        if one != other and 0 <= distance < max(here.nbytes, 1) and other - there.address == distance:
            return number, distance
    return None


def _traced(
    kernel: Kernel, args: tuple[Any, ...], kwargs: dict[str, Any], buffers: list[_vk.Buffer]
) -> tuple[Any, Any]:
    """The results of the kernel, and the plan to get them again, or None. Called with the lock of traces."""
    device = buffers[0].device
    before = faults.kept_check(device)
    check = before or faults.renewed_check(device)
    try:
        with _Trace(device) as first:
            found = kernel(*args, **kwargs)
    finally:
        status = check.array._buffer
        checked = any(status in each.writes for each in first.dispatches)
        if not checked and before is None:
            faults.keep_check(device, None)
    copied = sum({id(one): one.nbytes for one in buffers}.values())
    if not (first.clean and first.dispatches) or copied > COPIED_BYTES:
        return found, None
    try:
        copies: dict[int, torch.UntypedStorage] = {}
        others, named = [_elsewhere(one, copies) for one in args], {k: _elsewhere(v, copies) for k, v in kwargs.items()}
        again: list[_vk.Buffer] = []
        if not (_note(others, [], again) and _note(named.values(), [], again)):
            return found, None
        try:
            other_status = faults.renewed_check(device).array._buffer if checked else None
            with _Trace(device) as second:
                found_again = kernel(*others, **named)
        finally:
            if checked:
                faults.keep_check(device, check)
        if not second.clean or len(first.dispatches) != len(second.dispatches):
            return found, None
        if len(first.made) != len(second.made):
            return found, None
        plan = _Plan((first, second), (buffers, again), (status, other_status) if checked else (None, None))
        shown = _returned(found_again, others, args)
        plan.results(found, shown, args, len(buffers))
        del plan.numbers
    except Exception:  # tracing must not fail where the kernel did not: out of memory, above all
        return found, None
    return found, plan


def _returned(values: Any, others: Sequence[Any], args: Sequence[Any]) -> Any:
    """Results of the second trace, where arguments that were returned are those of the first."""
    if type(values) in (tuple, list):
        return type(values)(_returned(one, others, args) for one in values)
    return next((one for one, other in zip(args, others, strict=True) if other is values), values)


class _Cache(dict[Any, Any]):
    """Plans by signature, or how often one was met without any; what was not used for long is forgotten."""

    def __init__(self) -> None:
        super().__init__()
        self.older: dict[Any, Any] = {}

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


_caches: list[_Cache] = []


def forget() -> None:
    """Drop the plans of all operators."""
    for cache in _caches:
        cache.forget()


tuning.on_change(forget)


def planned(kernel: Kernel, *, across: bool = False) -> Kernel:
    """The kernel of an operator, with plans for signatures that come again.

    Tensors of several Vulkan devices are refused with PyTorch's RuntimeError, but where the kernel copies `across` devices.
    """
    unplanned = kernel if across else on_one_device(kernel)
    cache = _Cache()
    _caches.append(cache)

    @functools.wraps(kernel)
    def run(*args: Any, **kwargs: Any) -> Any:
        if configuration.current().compare:  # that is done where a plan does not pass
            return unplanned(*args, **kwargs)
        key: list[Any] = []
        buffers: list[_vk.Buffer] = []
        noted = _note(args, key, buffers)
        if kwargs:
            key.append(tuple(kwargs))
            noted = noted and _note(kwargs.values(), key, buffers)
        if not noted or not buffers:
            return unplanned(*args, **kwargs)
        shared = _sharing(buffers)
        if shared is not None:
            key.append(shared)
        whole = tuple(key)
        plan = cache[whole]
        if type(plan) is _Plan:
            return plan.run(buffers, args)
        if plan is None:
            return kernel(*args, **kwargs)
        if not plan or not _tracing.acquire(blocking=False):
            cache[whole] = plan or 1
            return kernel(*args, **kwargs)
        try:
            found, made = _traced(kernel, args, kwargs, buffers)
        finally:
            _tracing.release()
        cache[whole] = made or (plan + 1 if plan < ATTEMPTS else None)
        return found

    run.is_planned = True  # type: ignore[attr-defined]
    return run
