"""Plans of operators: `planned` repeats the dispatches of a call whose signature comes again (see `kernels/planned.py`).

A signature holds all that a kernel may decide by: of tensors the type, shape, strides, device, alignment, and which of them
share memory; of other arguments the value, but of floating-point numbers only where code decides by it. Kernels that draw random
numbers keep a state between calls: they have no plans.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from ... import configuration
from ..._vk import watch
from ..._vk.pointer import Pointer
from ...core.tokens import Token
from ...kernels.plan import Plan, Refused
from ...kernels.planned import Given, New, Plans, Repeat
from ...kernels.signature import ALIGNMENT
from .. import device as devices
from ..tensors.storage import _allocations, look, tensor_over
from .fallback import on_one_device

Kernel = Callable[..., Any]

_Parameter = torch.nn.Parameter
_VALUES = frozenset(
    (int, bool, str, type(None), torch.dtype, torch.device, torch.memory_format, torch.layout)
)  # fmt: skip
_FLOATS = frozenset((float, complex))


def _note(values: Iterable[Any], key: list[Any], given: list[Pointer], scalars: list[Any]) -> bool:
    """Add what arguments decide to the key, and tensors' memory and the scalars; False for what no plan is made of."""
    for value in values:
        kind = type(value)
        if kind is Tensor or kind is _Parameter:
            held = _allocations.get(value.untyped_storage().data_ptr())
            if held is None or value.is_neg() or value.is_conj():
                return False
            buffer, _, stored = held
            if given and buffer.device is not given[0].buffer.device:
                return False
            offset = value.storage_offset()
            if offset:
                offset *= stored or value.dtype.itemsize
            place = Pointer(buffer, offset)
            alignment = (buffer.address + offset) % ALIGNMENT
            key += (value.dtype, value.shape, value.stride(), alignment, stored, buffer.device)
            given.append(place)
        elif kind in _VALUES:
            key += (kind, value)
            if kind is torch.device and value.index is None:  # the current one, whichever that is
                return False
        elif kind in _FLOATS:
            key.append(kind)
            scalars.append(value)
        elif kind is not list and kind is not tuple:
            return False
        elif value and type(value[0]) is int:  # all of them are, then
            key.append(tuple(value))
        else:
            key += (kind, len(value))
            if not _note(value, key, given, scalars):
                return False
    return True


def _sharing(given: Sequence[Pointer]) -> tuple[tuple[int, int, int], ...] | None:
    """Which tensors share memory with one before them, and how many bytes later they begin: None where none do."""
    if len(given) < 2 or (len(given) == 2 and given[0].buffer is not given[1].buffer):
        return None
    first: dict[int, int] = {}
    found = []
    for place, one in enumerate(given):
        before = first.setdefault(id(one.buffer), place)
        if before != place:
            found.append((place, before, one.offset - given[before].offset))
    return tuple(found) or None


class _OfTensors(Repeat):
    """How to repeat a call of an operator."""

    __slots__ = ()

    def result(self, value: Any, plan: Plan, arguments: Sequence[Any], given: Sequence[Pointer]) -> Any:
        """What to remember of a result: a new tensor, an argument, or a value."""
        if type(value) is not Tensor:
            if isinstance(value, (Tensor, Token)) or type(value) not in _VALUES:
                raise Refused(f"it returns a {type(value).__name__}")
            return value
        for place, one in enumerate(arguments):
            if one is value:
                return Given(place)
        buffer, _, stored = _allocations[value.untyped_storage().data_ptr()]
        number = plan.number(buffer)
        if number < len(given) or value.is_neg() or value.is_conj():
            raise Refused("a result is a view of an argument")
        itemsize = stored or value.dtype.itemsize
        place = devices.place(buffer.device).number
        shape = tuple(value.shape)
        return New(
            number, 0, look(place, buffer.nbytes, value.storage_offset(), shape, value.stride(), value.dtype, itemsize)
        )

    def made(self, look: Any, buffer: Any, offset: int) -> Tensor:
        """A tensor over other memory, all of it."""
        return tensor_over(buffer, look)


def planned(kernel: Kernel, *, across: bool = False) -> Kernel:
    """The kernel of an operator, with plans for signatures that come again.

    Tensors of several Vulkan devices are refused with PyTorch's RuntimeError, but where the kernel copies `across` devices.
    """
    unplanned = kernel if across else on_one_device(kernel)
    plans = Plans(getattr(kernel, "__name__", type(kernel).__name__), _OfTensors)

    @functools.wraps(kernel)
    def run(*args: Any, **kwargs: Any) -> Any:
        if (watch.watches and watch.current() is not None) or configuration.current().compare:
            return unplanned(*args, **kwargs)
        key: list[Any] = []
        given: list[Pointer] = []
        scalars: list[Any] = []
        noted = _note(args, key, given, scalars)
        if kwargs:
            key.append(tuple(kwargs))
            noted = noted and _note(kwargs.values(), key, given, scalars)
        if not noted or not given:
            return unplanned(*args, **kwargs)
        shared = _sharing(given)
        if shared is not None:
            key.append(shared)
        whole = tuple(key)
        plan = plans.find(whole, scalars)
        if type(plan) is _OfTensors:
            plans.repeated += 1
            buffers = [one.buffer for one in given]
            addresses = [one.buffer.address + one.offset for one in given]
            try:
                return plan(buffers, addresses, scalars, args)
            except (OverflowError, struct.error):  # of converting a scalar: the kernel says it in its own words
                return kernel(*args, **kwargs)
        if plan is None:
            return kernel(*args, **kwargs)
        return plans.watch(kernel, whole, plan, given[0].buffer.device, given, args, scalars, args, kwargs, _FLOATS)

    run.is_planned = True  # type: ignore[attr-defined]
    return run
