"""Random damage to files of programs: each is refused with ProgramError, or is a program that runs or says why not.

Bytes are cut off, changed, put in and left out, with and without checksums that fit; JSON is edited at random places, also with
numbers out of all bounds, names of other functions and deeper nests, and gets checksums that fit. Parts of several files are mixed,
and shaders are those of others, or none.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import random as plain_random
import re
import resource
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from difference import Difference

import vkarray as vx
from vkarray.programs import container, names
from vkarray.programs.container import PARTS, Container

STEPS = 100
SECONDS = 20  # of the processor that a file may take
MEMORY = 1 << 20  # bytes that a program may take
GROWTH = 512 << 10  # KiB by which the process may grow in all
_HUGE = (
    0,
    1,
    -1,
    2,
    3,
    255,
    1 << 16,
    1 << 31,
    1 << 32,
    1 << 47,
    1 << 53,
    1 << 62,
    1 << 63,
    1 << 126,
    1 << 127,
    10**30,
    -(1 << 63),
)
_ODD: tuple[Any, ...] = (
    None, True, False, "", "add", "array.__getitem__", "__import__", "array.tofile", "linalg.solve", "x" * 5000, [], {}, 0.5, -0.0,
    1e308, [[]], {"value": 0}, {"value": 99}, {"tuple": []}, {"constant": 0}, {"device": None}, {"slice": [None, 0, None]},
    {"numpy": 0}, {"dtype": "float64"}, {"raises": "SystemExit"}, {"raises": "ValueError"}, {"function": "add"},
    {"class": "float"}, {"dictionary": [["a", 1]]}, {"float": "nan"}, {"complex": [0.0, 1.0]}, {"ellipsis": None},
)  # fmt: skip


class Base(NamedTuple):
    """A good file, and arguments for the program in it."""

    data: bytes
    arguments: tuple[Any, ...]


def _normalized(x, w, b):
    y = vx.maximum(x @ w + b, 0)
    centred = y - vx.mean(y, axis=1, keepdims=True)
    return {"y": centred / (vx.std(y, axis=1, keepdims=True) + 1e-5), "best": vx.argmax(y, axis=1)}


def _indexed(x):
    y = vx.concat([x[1:], x[:1] * 2])
    y[:, 0] = x.shape[0] * 0.5 + 1
    return y[::-1].T, vx.where(x > 0, x, -1.0), vx.reshape(x, (-1,)), vx.take(x, vx.asarray([0, 1]), axis=1)


def _decided(x, factor, name, power):
    return [vx.sort(x * factor, axis=-1), vx.cumulative_sum(x, axis=1) ** power if name == "sum" else x, (None, 3)]


def _bases() -> Iterator[tuple[Callable[..., Any], tuple[Any, ...], Any]]:
    random = np.random.default_rng(0)
    x = vx.asarray(random.standard_normal((5, 4), dtype=np.float32))
    w, b = (vx.asarray(random.standard_normal(shape, dtype=np.float32)) for shape in ((4, 3), (3,)))
    yield lambda x: _normalized(x, w, b), (x,), {"x": {0: vx.Dim("batch", max=64)}}
    yield _indexed, (x,), {"x": {0: vx.Dim("rows")}}
    yield _decided, (x, 2.0, "sum", 2), None


_made: list[Base] = []
_folder = Path(tempfile.mkdtemp(prefix="vkarray-fuzz-"))


def bases() -> list[Base]:
    """The good files."""
    if not _made:
        for function, arguments, dynamic in _bases():
            targets = () if _made else ("any",)  # the first one has shaders
            vx.Program(function, arguments, dynamic=dynamic).save(_folder / "good.vkp", targets=targets)
            _made.append(Base((_folder / "good.vkp").read_bytes(), arguments))
    return _made


class Chain:
    """A series of damaged files."""

    def __init__(self, seed: int) -> None:
        self.random, self.plain = np.random.default_rng(seed), plain_random.Random(seed)
        self.last = None
        self.base = bases()[0]
        self.path = _folder / f"{os.getpid()}.vkp"
        self.before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def take(self, data: bytes) -> None:
        """Load a file, and run what it holds."""
        self.path.write_bytes(data)
        signal.signal(signal.SIGPROF, self._late)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            self._take()
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def _take(self) -> None:
        try:
            program = vx.load_program(self.path, memory=MEMORY, shaders=self.plain.random() < 0.2)
        except vx.ProgramError:
            return
        try:
            repr(program)
            results = program(*self.base.arguments)
            for one in results if isinstance(results, (list, tuple)) else [results]:
                if isinstance(one, vx.VkArray):
                    np.asarray(one)
        except Difference:
            raise
        except Exception:  # of the calls that it makes, which are others
            return

    def _late(self, *_: Any) -> None:
        raise Difference(f"{self._kept()} takes more than {SECONDS} s")

    def check(self) -> None:
        """See that memory does not grow."""
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - self.before
        if grown > GROWTH:
            raise Difference(f"{self._kept()} has the process grow by {grown} KiB")

    def _kept(self) -> Path:
        kept = self.path.with_suffix(".bad")
        kept.write_bytes(self.path.read_bytes())
        return kept


def _choose(chain: Chain) -> bytearray:
    chain.base = chain.plain.choice(bases())
    return bytearray(chain.base.data)


def cut(chain: Chain) -> bytes:
    """Cut off at a random place."""
    data = _choose(chain)
    return bytes(data[: chain.plain.randrange(len(data))])


def changed(chain: Chain) -> bytes:
    """Change a few bytes."""
    data = _choose(chain)
    for _ in range(chain.plain.choice((1, 1, 2, 8, 64))):
        data[chain.plain.randrange(len(data))] = chain.plain.randrange(256)
    return bytes(data)


def spliced(chain: Chain) -> bytes:
    """Put bytes in, or leave some out."""
    data = _choose(chain)
    first = chain.plain.randrange(len(data))
    data[first : first + chain.plain.choice((0, 1, 64))] = chain.plain.randbytes(chain.plain.choice((0, 1, 64)))
    return bytes(data)


def foreign(chain: Chain) -> bytes:
    """No file of a program, or one of another version."""
    data = _choose(chain)
    if chain.plain.random() < 0.5:
        data[8:12] = chain.plain.randrange(1 << 32).to_bytes(4, "little")
        return bytes(data)
    return bytes(data[: chain.plain.choice((0, 8))]) + chain.plain.randbytes(chain.plain.randrange(4096))


def _parts(chain: Chain) -> dict[str, Any]:
    data = _choose(chain)
    chain.path.write_bytes(bytes(data))
    return {name: bytes(part) for name, part in Container(chain.path).parts.items()}


def _whole(chain: Chain, parts: dict[str, bytes]) -> bytes:
    container.write(chain.path, parts)
    return chain.path.read_bytes()


def within_parts(chain: Chain) -> bytes:
    """Change bytes of parts, with checksums that fit."""
    parts = _parts(chain)
    name = chain.plain.choice([one for one in PARTS if parts[one]])
    data = bytearray(parts[name])
    for _ in range(chain.plain.choice((1, 2, 8))):
        data[chain.plain.randrange(len(data))] = chain.plain.randrange(256)
    parts[name] = bytes(data[: chain.plain.choice((len(data), chain.plain.randrange(len(data) + 1)))])
    return _whole(chain, parts)


def header(chain: Chain) -> bytes:
    """Edit the table of parts, with a checksum that fits."""
    data = _choose(chain)
    length = int.from_bytes(data[12:16], "little")
    table = json.loads(bytes(data[48 : 48 + length]))
    _edit(chain, table)
    text = json.dumps(table).encode().ljust(length)[:length]
    data[48 : 48 + length], data[16:48] = text, hashlib.sha256(text).digest()
    return bytes(data)


def tensors(chain: Chain) -> bytes:
    """Edit the table of the weights, with checksums that fit."""
    parts = _parts(chain)
    length = int.from_bytes(parts["weights"][:8], "little")
    table = json.loads(parts["weights"][8 : 8 + length])
    _edit(chain, table)
    text = json.dumps(table).encode()
    parts["weights"] = len(text).to_bytes(8, "little") + text + parts["weights"][8 + length :]
    return _whole(chain, parts)


def description(chain: Chain) -> bytes:
    """Edit the description, with checksums that fit."""
    parts = _parts(chain)
    table = json.loads(parts["program"])
    for _ in range(chain.plain.choice((1, 1, 1, 2, 4))):
        _edit(chain, table)
    parts["program"] = json.dumps(table).encode()
    return _whole(chain, parts)


def calls(chain: Chain) -> bytes:
    """Edit calls alone: other functions, other arguments, other values."""
    parts = _parts(chain)
    table = json.loads(parts["program"])
    made = table["calls"]
    for _ in range(chain.plain.choice((1, 1, 2, 3))):
        one = chain.plain.randrange(len(made))
        what = chain.plain.randrange(5)
        if what == 0:
            made[one][0] = chain.plain.choice(list(names.functions()))
        elif what == 1:
            made.insert(one, copy.deepcopy(chain.plain.choice(made)))
        elif what == 2:
            made[one][1].append(chain.plain.choice((*_ODD, *_HUGE)))
        else:
            _edit(chain, made[one][1])
    parts["program"] = json.dumps(table).encode()
    return _whole(chain, parts)


def shaders(chain: Chain) -> bytes:
    """Edit the list of shaders, or their code: other words, modules cut off, swapped, or of something else."""
    chain.base = bases()[0]
    chain.path.write_bytes(chain.base.data)
    parts = {name: bytes(part) for name, part in Container(chain.path).parts.items()}
    table, code = json.loads(parts["program"]), bytearray(parts["shaders"])
    random = chain.plain
    what = random.randrange(5)
    if what == 0:
        _edit(chain, table["shaders"])
    elif what == 1:
        for _ in range(random.choice((1, 4, 64))):
            code[random.randrange(len(code))] = random.randrange(256)
    elif what == 2:
        one, other = (random.choice(table["shaders"]["modules"]) for _ in range(2))
        one[0], other[0] = other[0], one[0]
    elif what == 3:
        del code[random.randrange(len(code)) :]
    else:
        code[:] = random.choice((b"", parts["weights"], bytes(len(code)), random.randbytes(len(code))))
    parts["program"], parts["shaders"] = json.dumps(table).encode(), bytes(code)
    return _whole(chain, parts)


def mixed(chain: Chain) -> bytes:
    """Parts of several files, in one or under the names of others."""
    parts, others = _parts(chain), _parts(chain)
    name, other = (chain.plain.choice(PARTS) for _ in range(2))
    parts[name] = others[other if chain.plain.random() < 0.3 else name]
    return _whole(chain, parts)


def twice(chain: Chain) -> bytes:
    """A name twice in one object of JSON: of a field, a part or a weight."""
    parts = _parts(chain)
    place = chain.plain.choice(("program", "weights"))
    text = parts["program"] if place == "program" else parts["weights"][8:]
    names = [found for found in re.finditer(rb'"[a-z0-9_]+":', text) if found.start() < 4096]
    if not names:
        return bytes(_choose(chain))
    chosen = chain.plain.choice(names)
    added = chosen.group() + chain.plain.choice((b"0", b"null", b"[]", b"{}")) + b","
    if place == "program":
        parts["program"] = text[: chosen.start()] + added + text[chosen.start() :]
    else:
        length = int.from_bytes(parts["weights"][:8], "little") + len(added)
        parts["weights"] = length.to_bytes(8, "little") + text[: chosen.start()] + added + text[chosen.start() :]
    return _whole(chain, parts)


_LENGTHS = ("shape", "data_offsets", "offset", "length", "min", "max", "value", "constant", "dimension")


def lengths(chain: Chain) -> bytes:
    """Shapes, offsets and bounds: below 0, beyond the file, or beyond all memory."""
    parts = _parts(chain)
    place = chain.plain.choice(("program", "program", "weights"))
    before = int.from_bytes(parts["weights"][:8], "little")
    table = json.loads(parts["program"] if place == "program" else parts["weights"][8 : 8 + before])
    found = [(parent, key) for parent, key, name in _walk(table) if name in _LENGTHS and type(parent[key]) is int]
    for _ in range(min(len(found), chain.plain.choice((1, 1, 2)))):
        parent, key = chain.plain.choice(found)
        parent[key] = chain.plain.choice((*_HUGE, parent[key] + 1, parent[key] - 1, parent[key] * 2))
    text = json.dumps(table).encode()
    if place == "program":
        parts["program"] = text
    else:
        parts["weights"] = len(text).to_bytes(8, "little") + text + parts["weights"][8 + before :]
    return _whole(chain, parts)


def _walk(value: Any, name: str = "") -> Iterator[tuple[Any, Any, str]]:
    """All places of JSON, with the name of the field that they are in."""
    for key in _keys(value):
        own = key if isinstance(key, str) else name
        yield value, key, own
        yield from _walk(value[key], own)


def deep(chain: Chain) -> bytes:
    """Nests that are deep."""
    parts = _parts(chain)
    text = parts["program"].decode()
    depth = chain.plain.choice((8, 24, 30, 100, 1000, 100_000))
    opening, closing = chain.plain.choice((("[", "]"), ('{"tuple":[', "]}"), ('{"a":', "}")))
    place = chain.plain.choice([number for number, letter in enumerate(text) if letter in ",["]) + 1
    parts["program"] = (text[:place] + opening * depth + "1" + closing * depth + "," + text[place:]).encode()
    return _whole(chain, parts)


def _edit(chain: Chain, table: Any) -> None:
    """Change one random place of JSON."""
    random = chain.plain
    nodes = [(table, key) for key in _keys(table)]
    for parent, key in nodes:
        nodes += [(parent[key], below) for below in _keys(parent[key])]
    if not nodes:
        return
    parent, key = random.choice(nodes)
    what = random.randrange(6)
    if what == 0:
        del parent[key]
    elif what == 1:
        parent[key] = random.choice(_HUGE)
    elif what == 2:
        parent[key] = copy.deepcopy(random.choice(_ODD))
    elif what == 3:
        other, place = random.choice(nodes)
        if place in _keys(other):
            parent[key] = copy.deepcopy(other[place])
    elif what == 4 and isinstance(parent, list):
        parent.insert(key, copy.deepcopy(parent[key]))
    elif what == 5 and isinstance(parent, dict):
        parent[random.choice(("x", key + "x"))] = parent.pop(key)


def _keys(value: Any) -> list[Any]:
    return list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []


OPERATIONS = [
    (1, cut), (1, changed), (1, spliced), (1, foreign), (2, within_parts), (1, header), (1, tensors), (3, description), (4, calls),
    (1, deep), (2, shaders), (1, mixed), (1, twice), (3, lengths),
]  # fmt: skip
