"""Generators of random numbers that are Python's or NumPy's, whose numbers a program would repeat in each call."""

from __future__ import annotations

import pickle
import random
import sys
from collections.abc import Iterable
from typing import Any, NamedTuple

from . import nest


class Found(NamedTuple):
    """A generator, and its state when it was found, as an object and as bytes that can be compared."""

    generator: Any
    state: Any
    text: bytes


def found(values: Iterable[Any], variables: Iterable[Any]) -> list[Found]:
    """The generators in nests, and those among the values of variables."""
    met: list[Any] = []

    def take(value: Any) -> bool:
        if _is_one(value) and not any(one is value for one in met):
            met.append(value)
        return False

    for value in values:
        nest.holds(value, take)
    for value in variables:
        take(value)
    return [Found(one, (state := _state(one)), pickle.dumps(state)) for one in met]


def put_back(generators: Iterable[Found]) -> str:
    """Give generators that were drawn from the states that they had. Returns the type of one of them, or nothing."""
    drawn = ""
    for one in generators:
        if pickle.dumps(_state(one.generator)) != one.text:
            _set_state(one.generator, one.state)
            drawn = f"{type(one.generator).__module__}.{type(one.generator).__name__}"
    return drawn


def _is_one(value: Any) -> bool:
    if isinstance(value, random.Random):
        return not isinstance(value, random.SystemRandom)
    numpy = sys.modules.get("numpy.random")  # who has one of its generators has imported it
    return numpy is not None and isinstance(value, (numpy.Generator, numpy.RandomState))


def _state(generator: Any) -> Any:
    if isinstance(generator, random.Random):
        return generator.getstate()
    return generator.get_state() if hasattr(generator, "get_state") else generator.bit_generator.state


def _set_state(generator: Any, state: Any) -> None:
    if isinstance(generator, random.Random):
        generator.setstate(state)
    elif hasattr(generator, "set_state"):
        generator.set_state(state)
    else:
        generator.bit_generator.state = state
