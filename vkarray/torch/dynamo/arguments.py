"""What a program must know of the arguments of a call: their signature, memory and addresses.

Most arguments of a model are parameters, the same in each call. Of those that are where they were nothing is asked again.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..dispatch.plans import note

_Parameter = torch.nn.Parameter
Noted = tuple[list[Any], list[Any], list[int]]


class _Fixed:
    """The parameters among the arguments of a call, and what was noted of them."""

    def __init__(self, args: Sequence[Any], number: int, buffers: Sequence[Any], addresses: Sequence[int]) -> None:
        places = [place for place, one in enumerate(args) if isinstance(one, torch.Tensor)]
        fixed = {place for place in places if type(args[place]) is _Parameter}
        self.number = number
        self.parameters: list[tuple[int, int, Callable[[], Any]]]
        self.parameters = [(place, args[place].data_ptr(), weakref.ref(args[place], self._forget)) for place in fixed]
        self.others = [place for place in range(len(args)) if place not in fixed]
        self.slots = [slot for slot, place in enumerate(places) if place not in fixed]
        self.buffers = [None if slot in self.slots else one for slot, one in enumerate(buffers)]
        self.addresses = list(addresses)

    def _forget(self, _: Any) -> None:
        """Let go of the memory of parameters that are gone."""
        self.parameters, self.buffers = [(-1, 0, _nothing)], []

    def holds(self, args: Sequence[Any]) -> bool:
        """Whether the parameters are these, in the same memory."""
        for place, address, known in self.parameters:
            if known() is not args[place] or args[place].data_ptr() != address:
                return False
        return True


def _nothing() -> None:
    return None


class Arguments:
    """The arguments of a function from call to call."""

    def __init__(self) -> None:
        self.fixed: _Fixed | None = None
        self.numbers: dict[Any, int] = {}  # of signatures of parameters

    def __call__(self, args: Sequence[Any]) -> Noted | None:
        """The signature of arguments, and the memory and addresses of tensors among them; None for what has no signature."""
        fixed = self.fixed
        key: list[Any] = []
        buffers: list[Any] = []
        addresses: list[int] = []
        scalars: list[Any] = []
        if fixed is None or not fixed.holds(args):
            fixed = self.fixed = self._fixed(args)
            if fixed is None:
                return None
        if not note([args[place] for place in fixed.others], key, buffers, addresses, scalars):
            return None
        all_buffers, all_addresses = fixed.buffers.copy(), fixed.addresses.copy()
        for slot, buffer, address in zip(fixed.slots, buffers, addresses, strict=True):
            all_buffers[slot], all_addresses[slot] = buffer, address
        key.append(fixed.number)
        if scalars:
            key.append(tuple(map(repr, scalars)))
        return key, all_buffers, all_addresses

    def _fixed(self, args: Sequence[Any]) -> _Fixed | None:
        key: list[Any] = []
        buffers: list[Any] = []
        addresses: list[int] = []
        if not note(args, key, buffers, addresses, []):
            return None
        places = tuple(place for place, one in enumerate(args) if type(one) is _Parameter)
        key = []
        note([args[place] for place in places], key, [], [], [])
        number = self.numbers.setdefault((places, *key), len(self.numbers))
        return _Fixed(args, number, buffers, addresses)
