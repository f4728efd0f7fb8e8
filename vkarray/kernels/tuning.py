"""What was measured to be fastest on a device, remembered on disk: choices between the rows of the operations' tables.

A family of kernels asks `choice(device, family, key)` and gets the label of a row that `vkarray tune` found best, or
None; a label that it does not know counts as None as well. One entry of the cache holds the choices for a device and
driver version. What is missing, damaged, foreign or of another form counts as absent: then the defaults hold.

The order in which sums are added, and so the last bits of a result, may depend on the row. Choices are read once per
process and device, so they never change while a program runs, nor between runs unless somebody tunes in between.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from .. import device_caches
from ..cache import DiskCache

Choices = dict[str, dict[str, str]]
_Function = TypeVar("_Function", bound=Callable[..., Any])

_forget: list[Callable[[], None]] = []
_trying: dict[str, str] = {}


class Problem(NamedTuple):
    """Something to measure the rows of a family on, and the key under which the best one is remembered.

    `call(namespace, *arrays)` does it with the functions of the array API standard; each element of its result is a
    sum of `terms` products, so that the same call on magnitudes bounds the error.
    """

    key: str
    dtype: str
    shapes: tuple[tuple[int, ...], ...]
    call: Callable[..., Any]
    terms: int


class Family(NamedTuple):
    """Kernels that do the same: their problems on a device, and the labels of the rows that can do one, default first."""

    name: str
    problems: Callable[[Any], Iterator[Problem]]
    candidates: Callable[[Any, Problem], list[str]]


def cached(function: _Function) -> _Function:
    """`functools.lru_cache` for a function that asks for choices: emptied whenever they change."""
    wrapped: Any = device_caches.lru_cache(4096)(function)
    on_change(wrapped.cache_clear)
    return wrapped


def on_change(function: Callable[[], None]) -> None:
    """Call a function, without arguments, whenever choices change: what it holds may rest on them."""
    _forget.append(function)


def choice(device: Any, family: str, key: str) -> str | None:
    """The label of the row to prefer, or None for the default."""
    tried = _trying.get(family)
    return remembered(device).get(family, {}).get(key) if tried is None else tried


@cached
def remembered(device: Any) -> Mapping[str, Mapping[str, str]]:
    """The choices on disk for a device, by family and key."""
    import json  # here and below, for a process that asks for no choices

    stored = _disk.get(_name(device))
    return {} if stored is None else json.loads(stored)


def remember(device: Any, choices: Choices) -> bool:
    """Keep choices for a device, in place of older ones; False where there is no cache to keep them in."""
    import json

    _disk.put(_name(device), json.dumps(choices, indent=1, sort_keys=True).encode())
    _changed()
    return remembered(device) == choices


def reset(device: Any) -> bool:
    """Return to the defaults; False where the older choices cannot be replaced."""
    return remember(device, {})


def shape_class(dtype: str, shape: Sequence[int]) -> str:
    """The key of a stack of matrices: its type, its elements in powers of 16, and whether rows or columns are few."""
    thin = min(shape[-2:])
    size = f"16^{(math.prod(shape).bit_length() + 1) // 4}"
    return f"{dtype} {size}" + ("" if thin >= 32 else ", few rows" if shape[-2] == thin else ", few columns")


def length_class(length: int) -> str:
    """The key of a length: it in powers of 8."""
    return f"8^{(length.bit_length() + 1) // 3}"


@contextmanager
def trying(family: str, label: str) -> Iterator[None]:
    """Prefer one row for everything that a family does, none if the label is empty: for measuring, and for tests."""
    before = dict(_trying)
    _trying[family] = label
    _changed()
    try:
        yield
    finally:
        _trying.clear()
        _trying.update(before)
        _changed()


def _changed() -> None:
    for forget in _forget:
        forget()


def _name(device: Any) -> str:
    description = device.description
    return f"{description.uuid} {description.driver}"


def _are_choices(content: bytes) -> bool:
    import json

    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and all(
        isinstance(table, dict) and all(isinstance(label, str) for label in table.values()) for table in found.values()
    )


_disk = DiskCache("tuning", _are_choices)
