"""Random numbers that are the same bits on every device: `default_rng`, and functions of one generator for all.

>>> generator = vx.random.default_rng(2026)
>>> generator.integers(1, 7, size=5)
array([...])
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar

from .ops.beyond.random import Generator

__all__ = [
    "Generator", "choice", "default_rng", "exponential", "integers", "normal", "permutation", "random", "seed", "shuffle",
    "standard_exponential", "standard_normal", "uniform",
]  # fmt: skip

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def default_rng(seed: int | Sequence[int] | None = None, *, device: Any = None) -> Generator:
    """A new generator of random numbers.

    Parameters: seed (an integer of 0 or more, a sequence of them, or None for one from the system); device (of the arrays
    that it makes). Raises TypeError and ValueError for another seed.
    """
    return Generator(seed, device=device)


_generator: Generator | None = None
_lock = threading.RLock()  # a signal handler may draw, too


def seed(seed: int | Sequence[int] | None = None) -> None:
    """Start the generator of this module's functions anew from a seed (None: one from the system, as at first).

    Errors as for `default_rng`.
    """
    global _generator
    made = Generator(seed)
    with _lock:
        _generator = made


def _shared() -> Generator:
    """The generator of this module's functions. Its stream goes on after its device was lost or closed."""
    global _generator
    with _lock:
        if _generator is None:
            _generator = Generator()
        elif not _generator.device.open or _generator.device.lost is not None:
            state = _generator.state
            _generator = Generator(0)
            _generator.state = state
        return _generator


def _of_module(method: Callable[Concatenate[Generator, _Parameters], _Result]) -> Callable[_Parameters, _Result]:
    """A method of the generator that this module's functions share, which is made at the first call."""

    @functools.wraps(method)
    def function(*arguments: _Parameters.args, **options: _Parameters.kwargs) -> _Result:
        return method(_shared(), *arguments, **options)

    signature = inspect.signature(method)
    own = [parameter for parameter in signature.parameters.values() if parameter.name != "self"]
    vars(function)["__signature__"] = signature.replace(parameters=own)
    return function


random = _of_module(Generator.random)
uniform = _of_module(Generator.uniform)
standard_normal = _of_module(Generator.standard_normal)
normal = _of_module(Generator.normal)
standard_exponential = _of_module(Generator.standard_exponential)
exponential = _of_module(Generator.exponential)
integers = _of_module(Generator.integers)
permutation = _of_module(Generator.permutation)
shuffle = _of_module(Generator.shuffle)
choice = _of_module(Generator.choice)
