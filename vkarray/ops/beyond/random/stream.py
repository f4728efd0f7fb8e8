"""Streams of random words on the host: the seed of a generator, and how far it has come."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

from ....core import layout
from ....kernels.planned import observer, refuse, tracer, unwatched  # noqa: F401 - two for the module of functions

_NAMES = ("key", "position", "children")
WORDS_OF_BLOCK = 4
_MASK = (1 << 64) - 1


class Place(NamedTuple):
    """Where numbers begin: the key of the stream, the block of words, and how many numbers come before them in it."""

    key: int
    block: int
    skip: int


def natural(function: str, name: str, value: Any) -> int:
    """The parameter `name` as an integer of 0 or more. Raises TypeError and ValueError."""
    number = layout.as_integer(value, function, name)
    if number < 0:
        raise ValueError(f"{function}: expected {name} of 0 or more, got {number}.")
    return number


def _key(numbers: Sequence[int]) -> int:
    """A key of 64 bits for integers of 0 or more: a single one of 64 bits is the key itself, others are hashed."""
    if len(numbers) == 1 and numbers[0] >> 64 == 0:
        return numbers[0]
    digest = hashlib.blake2b(",".join(map(str, numbers)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _numbers_of(seed: Any) -> tuple[int, ...]:
    """The integers of a seed: of a `SeedSequence` its entropy, followed by its place among those spawned."""
    if seed is None:
        refuse("it takes a seed from the system")
        return (secrets.randbits(64),)
    if hasattr(seed, "entropy"):
        return (*layout.as_integers(seed.entropy, "default_rng", "entropy"), *seed.spawn_key)
    return layout.as_integers(seed, "default_rng", "seed")


class Philox:
    """The bit generator: the place in the stream of random words that a seed determines. It has no words itself.

    Parameters: seed (an integer of 0 or more, a sequence of them, a `SeedSequence`, or None for one from the system).
    Raises TypeError and ValueError for another seed.
    Method: Philox4x32-10 (Salmon et al., SC'11), with the seed as its key. The words are computed where they are drawn.
    """

    def __init__(self, seed: Any = None) -> None:
        numbers = _numbers_of(seed)
        if not numbers or any(one < 0 for one in numbers):
            raise ValueError(f"default_rng: expected a seed of 0 or more, got {seed!r}.")
        self._key = _key(numbers)
        self._position = 0  # words taken from the stream
        self._children = 0
        if (trace := tracer()) is not None:
            trace.own_streams.add(self)  # each call makes it anew
        self.lock = threading.RLock()  # a signal handler may draw, too

    @property
    def key(self) -> int:
        """The key of the stream."""
        return self._key

    @property
    def position(self) -> int:
        """How many words were taken from the stream."""
        return self._position

    @property
    def state(self) -> dict[str, int]:
        """The key, the number of words taken and that of streams spawned. Assign it to go back to a state.

        Assigning raises TypeError for other names and values that are no integers, ValueError for integers out of range.
        """
        with self.lock:
            return {"key": self._key, "position": self._position, "children": self._children}

    @state.setter
    def state(self, value: dict[str, int]) -> None:
        if not isinstance(value, dict) or value.keys() != set(_NAMES):
            raise TypeError(f"state: expected a dictionary of key, position and children, got {value!r:.60}.")
        key, position, children = (natural("state", name, value[name]) for name in _NAMES)
        if key >> 64:
            raise ValueError(f"state: expected a key of 64 bits, got {key:#x}.")
        self._changes()
        with self.lock:
            self._key, self._position, self._children = key, position, children

    def __getstate__(self) -> dict[str, int]:
        return self.state

    def __setstate__(self, state: dict[str, int]) -> None:
        Philox.__init__(self, 0)
        self.state = state

    def spawn(self, n_children: int) -> list[Philox]:
        """New streams of their own, which this one's state determines but its draws do not.

        Raises TypeError unless n_children is an integer, ValueError for a negative one.
        """
        count = natural("spawn", "n_children", n_children)
        self._changes()
        with self.lock:
            first = self._children
            self._children += count
        return [Philox((self._key, first + number)) for number in range(count)]

    def advance(self, delta: int) -> Philox:
        """Skip so many words of the stream. Returns the bit generator itself. Errors as for `spawn`."""
        count = natural("advance", "delta", delta)
        self._changes()
        with self.lock:
            self._position += count
        return self

    def _changes(self) -> None:
        """What no plan and no program repeats, unless they have made the stream."""
        trace = tracer()
        if trace is None or self not in trace.own_streams:
            refuse("it changes the state of random numbers")

    def place(self, count: int, words: int) -> Place:
        """Take the next `count` numbers of so many words each. Returns where the first one is."""
        trace = tracer()
        if trace is None:
            refuse("it draws random numbers")
            return Place(*self.next_place(count, words))
        trace.draws_from(self)
        return trace.drawn(self, Place(*self.next_place(count, words)))

    def next_place(self, count: int, words: int) -> tuple[int, int, int]:
        """What `place` returns, for calls that nobody watches."""
        with self.lock:
            key, start = self._key, -(-self._position // words)
            self._position = (start + count) * words
        block, skip = divmod(start, WORDS_OF_BLOCK // words)
        return key, block & _MASK, skip

    def __repr__(self) -> str:
        return f"<vkarray.random.Philox (Philox4x32-10), key {self._key:#018x}, position {self._position}>"
