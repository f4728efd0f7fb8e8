"""Plans of operators: `planned` repeats the dispatches of a call whose signature comes again (see `kernels/planned.py`).

A signature holds all that a kernel may decide by: of tensors the type, shape, strides, device, alignment, and which of them
share memory; of other arguments the value, but of floating-point numbers only where code decides by it. Kernels that draw random
numbers keep a state between calls: they have no plans.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from ... import configuration
from ..._vk import watch
from ..._vk.watch import watches
from ...core.tokens import Token
from ...kernels.plan import Plan, Refused
from ...kernels.planned import FLOATS, Given, New, Plans, Repeat
from ...kernels.signature import ALIGNMENT
from .. import device as devices
from ..tensors.storage import _allocations, look, tensor_over
from .fallback import on_one_device

Kernel = Callable[..., Any]

_Parameter = torch.nn.Parameter
_VALUES = frozenset(
    (int, bool, str, type(None), torch.dtype, torch.device, torch.memory_format, torch.layout)
)  # fmt: skip


def note(values: Iterable[Any], key: list[Any], buffers: list[Any], addresses: list[int], scalars: list[Any]) -> bool:
    """Add what arguments decide to the key, tensors' memory and addresses, and scalars; False for what no plan is made of."""
    for value in values:
        kind = type(value)
        if kind is Tensor or kind is _Parameter:
            held = _allocations.get(value.untyped_storage().data_ptr())
            if held is None or value.is_neg() or value.is_conj():
                return False
            buffer, _, stored = held
            if buffers and buffer.device is not buffers[0].device:
                return False
            dtype, address, offset = value.dtype, buffer.address, value.storage_offset()
            if offset:
                address += offset * (stored or dtype.itemsize)
            key += (dtype, value.shape, value.stride(), address % ALIGNMENT, stored, buffer.device)
            buffers.append(buffer)
            addresses.append(address)
        elif kind in _VALUES:
            key += (kind, value)
            if kind is torch.device and value.index is None:  # the current one, whichever that is
                return False
        elif kind in FLOATS:
            key.append(kind)
            scalars.append(value)
        elif kind is not list and kind is not tuple:
            return False
        elif value and type(value[0]) is int:  # all of them are, then
            key.append(tuple(value))
        else:
            key += (kind, len(value))
            if not note(value, key, buffers, addresses, scalars):
                return False
    return True


class _OfTensors(Repeat):
    """How to repeat a call of an operator."""

    __slots__ = ()

    def result(self, value: Any, plan: Plan, arguments: Sequence[Any]) -> Any:
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
        if number < plan.first_new or value.is_neg() or value.is_conj():
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
    plans = Plans(getattr(kernel, "__name__", type(kernel).__name__), _OfTensors, FLOATS)

    @functools.wraps(kernel)
    def run(*args: Any, **kwargs: Any) -> Any:
        if watches and (observing := watch.observer()) is not None:
            return observing.call(run, args, kwargs)
        if (watches and watch.current() is not None) or configuration.current().compare:
            return unplanned(*args, **kwargs)
        key: list[Any] = []
        buffers: list[Any] = []
        addresses: list[int] = []
        scalars: list[Any] = []
        noted = note(args, key, buffers, addresses, scalars)
        if kwargs:
            key.append(tuple(kwargs))
            noted = noted and note(kwargs.values(), key, buffers, addresses, scalars)
        if not noted or not buffers:
            return unplanned(*args, **kwargs)
        return plans.call(kernel, key, buffers[0].device, buffers, addresses, args, scalars, args, kwargs)

    run.is_planned = True  # type: ignore[attr-defined]
    return run
