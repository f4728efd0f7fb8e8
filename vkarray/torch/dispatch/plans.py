"""Plans of operators: `planned` repeats the dispatches of a call whose signature comes again (see `kernels/planned.py`).

A signature holds all that a kernel may decide by: of tensors the type, shape, strides, device, alignment, and which of them
share memory; of other arguments the value, but of floating-point numbers only where code decides by it. Kernels that draw random
numbers keep a state between calls: they have no plans.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from ... import configuration
from ..._vk import watch
from ..._vk.watch import watches
from ...core.tokens import Token
from ...kernels.plan import Plan, Refused, in_form
from ...kernels.planned import FLOATS, ByValue, Given, New, Plans, Repeat, run_checked
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
            held, offset = _allocations.get(value.data_ptr()), 0  # as for most: it begins where its storage does
            if held is None:
                held, offset = _allocations.get(value.untyped_storage().data_ptr()), value.storage_offset()
            if held is None:
                return False
            buffer, _, stored = held
            if not buffers:
                key.append(buffer.device)
            elif buffer.device is not buffers[0].device:
                return False
            dtype, address = value.dtype, buffer.address
            if value.is_neg() or (dtype.is_complex and value.is_conj()):
                return False
            if offset:
                address += offset * (stored or dtype.itemsize)
            key += (dtype, value.shape, value.stride(), address % ALIGNMENT, stored)
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

    def source(
        self, plan: Plan, arguments: Sequence[Any], limits: Mapping[int, tuple[int, int]]
    ) -> tuple[str, dict[str, Any]]:  # fmt: skip
        """The code of `run`, which returns the tensors, and the names that it uses."""
        parts: list[str] = []
        names: dict[str, Any] = {"tensor_over": tensor_over, "form": self.form}
        for place, one in enumerate(self.outcome):
            names[f"result{place}"] = one.look if type(one) is New else one
            parts.append(
                f"tensor_over(b{one.buffer}, result{place})" if type(one) is New
                else f"a[{one.place}]" if type(one) is Given else f"result{place}"
            )  # fmt: skip
        source, used = plan.source(in_form(self.form, parts), limits)
        return source, names | used

    def __call__(
        self, buffers: list[Any], addresses: list[int], scalars: Sequence[Any], arguments: Sequence[Any]
    ) -> Any:
        """The results for other arguments, whose memory the lists hold."""
        if self.checked:
            return run_checked(self.run, self.device, buffers, addresses, scalars, a=arguments)
        return self.run(buffers, addresses, scalars, None, arguments)


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
        if (watches and watch.current() is not None) or (configuration.active or configuration.current()).compare:
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
        if len(buffers) < 2 or len(set(buffers)) == len(buffers):  # none is shared
            plan = plans.get(tuple(key))
            if type(plan) is ByValue:
                plan = plan.find(scalars)
            if type(plan) is _OfTensors and not plan.checked:
                try:
                    found = plan.run(buffers, addresses, scalars, None, args)
                except (OverflowError, struct.error):  # of converting a scalar: the kernel says it in its own words
                    return kernel(*args, **kwargs)
                plans.repeated += 1
                return found
        return plans.call(kernel, key, buffers[0].device, buffers, addresses, args, scalars, args, kwargs)

    run.is_planned = True  # type: ignore[attr-defined]
    return run
