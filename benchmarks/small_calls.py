"""What a warm call of each public function costs the host, on arrays so small that the device's work does not count.

    python benchmarks/small_calls.py [--only WORD ...] [--worst N] [--json FILE] [--against FILE]

Each function is called with 8 x 8 arrays of float32 and of int32, with both, and with a number in each place, as far as it takes
them; TEXTS has what no such pattern makes. The columns: functions in Python that a warm call enters; processor time of the calling
thread (the least of several rounds, µs); commands that the call gives the queue; plans that it repeats. The worst are those that
take longest beside the median of the calls of as many commands. `--against` shows an earlier run's rows beside these.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import time
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import vkarray as vx
from vkarray.kernels import planned

SPACES: dict[str, Any] = {"": vx, "linalg.": vx.linalg, "fft.": vx.fft}
# Functions of files and of the interpreter's state, or that wait for people, and those that end what others need.
OTHERS = frozenset(
    ("compile", "config", "printoptions", "load", "save", "savez", "fromfile", "genfromtxt", "loadtxt", "savetxt")
)
WARM, CALLS, ROUNDS = 6, 48, 9
MOST_SECONDS = 0.05  # a call that takes longer is not for this table


class Row(NamedTuple):
    """What one call costs."""

    name: str
    frames: int
    microseconds: float
    commands: float
    planned: float


def patterns() -> dict[str, tuple[Any, ...]]:
    """Arguments that functions are tried with, by a name."""
    random = np.random.default_rng(0)
    x, y = (vx.asarray((random.random((8, 8)) + 0.25).astype("f4")) for _ in range(2))
    i, j = (vx.asarray(random.integers(1, 7, (8, 8)).astype("i4")) for _ in range(2))
    return {
        "x": (x,), "i": (i,), "x, y": (x, y), "i, j": (i, j), "i, x": (i, x), "x, i": (x, i), "x, 2.0": (x, 2.0), "x, 2": (x, 2),
        "2.0, x": (2.0, x), "i, 2": (i, 2), "x > y, x, y": (x > y, x, y), "x > y, i, x": (x > y, i, x), "[x, y]": ([x, y],),
        "x, [0, 1]": (x, [0, 1]), "x, 0, 1": (x, 0, 1), "x, (64,)": (x, (64,)), "(8, 8)": ((8, 8),), "(8, 8), 2.0": ((8, 8), 2.0),
    }  # fmt: skip


# Calls that no pattern makes: attributes, keys, operators and values; a kind may stand before the code.
TEXTS = """
    view: x.T|view: x.mT|view: vx.reshape(x, (4, 16))|view: x.reshape(4, 16)|view: x.reshape(-1)|view: x[3]|view: x[1:3]
    view: x[:, ::2]|view: x[..., 1]|view: x[None]|view: x[:, None]|view: x[::-1]|view: x[1, 2:]
    view: vx.permute_dims(stack, (2, 0, 1))
    view: vx.broadcast_to(row, (8, 8))|view: vx.expand_dims(x, axis=1)|view: vx.squeeze(row, axis=0)|view: row.squeeze()
    view: vx.moveaxis(stack, 0, 2)|view: vx.flip(x)|view: vx.flip(x, axis=0)|view: vx.real(x)|view: vx.matrix_transpose(x)
    view: x.transpose()|view: x.swapaxes(0, 1)|view: vx.swapaxes(x, 0, 1)|view: x.ravel()|view: x.diagonal()|view: vx.rot90(x)
    view: vx.unstack(row)|view: x.real|view: x.view()|view: vx.transpose(x)|view: vx.ravel(x)|view: vx.atleast_2d(x)|view: x[...]
    i + x|x + i|i < x|vx.where(mask, i, x)|i * 2.0|x + 1|x ** 2|1 - x|x @ y|x.sum()|x.mean(axis=0)|x.copy()
    x.astype(vx.int32)
    x.astype('int32')|i.astype(vx.float32)|vx.add(x, y, out=out)|vx.add(i, x, out=out)|vx.add(i, j, out=out)|vx.exp(x, out=out)
    x.sum(axis=0, out=out[0])|vx.zeros((8, 8), dtype=vx.float32)|vx.zeros((8, 8))|vx.ones((8, 8))|vx.full((8, 8), 2.0)
    vx.empty((8, 8))|vx.zeros(8)|vx.zeros((8, 8), dtype='float32')|vx.zeros_like(x)|vx.ones_like(x)|vx.empty_like(x)
    vx.full_like(x, 2)
    vx.arange(8)|vx.arange(8, dtype=vx.int32)|vx.arange(0.0, 1.0, 0.25)|vx.eye(8)|vx.linspace(0.0, 1.0, 8)|vx.asarray(x)
    vx.asarray(1.0)
    vx.asarray([1.0, 2.0])|in place: out.__iadd__(x)|in place: out.__iadd__(i)|in place: out.__iadd__(1)|in place: out.__imul__(2.0)
    in place: out.__setitem__(3, 1)|in place: out.__setitem__(slice(1, 3), x[:2])|in place: out.__setitem__(mask, 0)
    in place: out.__setitem__(..., i)|value: float(one)|value: one.item()|value: np.asarray(x)|value: x.tolist()|value: bool(one)
    value: float(x.sum())|value: int(i.sum())|value: bool((x > 2).any())|value: float(one + one)|value: x[3, 4].item()|x[i > 3]
    x[i[0]]|x[[0, 1]]|vx.take(x, i[0], axis=0)|x.shape|x.dtype|x.ndim|x.size|x.device|len(x)
"""


def written() -> dict[str, Callable[[], Any]]:
    """Those calls by their text."""
    given = patterns()
    (x, y), (i, j), row, stack = given["x, y"], given["i, j"], vx.ones((1, 8)), vx.ones((2, 4, 8))
    names: dict[str, Any] = {
        "vx": vx,
        "np": np,
        "x": x,
        "y": y,
        "i": i,
        "j": j,
        "row": row,
        "stack": stack,
        "mask": x > y,
    }
    names |= {"out": vx.zeros((8, 8)), "one": vx.asarray(1.5)}
    texts = (one.strip() for line in TEXTS.strip().splitlines() for one in line.split("|"))
    return {text: eval(f"lambda: {text.partition(': ')[2] if ': ' in text else text}", names) for text in texts}


def of_namespace() -> Iterator[tuple[str, Callable[[], Any]]]:
    """The calls of all functions with the patterns that they take."""
    for space, owner in SPACES.items():
        for name in owner.__all__:
            function = getattr(owner, name)
            if not callable(function) or isinstance(function, (type, types.ModuleType)) or name in OTHERS:
                continue
            for text, arguments in patterns().items():
                yield f"{space}{name}({text})", lambda function=function, arguments=arguments: function(*arguments)


def frames_of(call: Callable[[], Any]) -> int:
    """How many functions in Python a call enters, besides its own."""
    count = -1  # the call's own

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return count


def measured(name: str, call: Callable[[], Any]) -> Row | None:
    """The row of a call; None for one that cannot be made so, or that takes long."""
    device, thread = vx.asarray(0).device, time.thread_time
    try:
        begin = time.perf_counter()
        for number in range(WARM):
            call()
            if number and time.perf_counter() - begin > MOST_SECONDS * (number + 10):
                return None
    except Exception:
        return None
    begin = time.perf_counter()
    call()
    if time.perf_counter() - begin > MOST_SECONDS:
        return None
    device.synchronize()
    frames = min(frames_of(call) for _ in range(3))
    serial, repeated, taken = device.queue.serial, planned.statistics()["repeated"], []
    gc.disable()
    for _ in range(ROUNDS):
        device.synchronize()  # so that each round makes the same batches
        start = thread()
        for _ in range(CALLS):
            call()
        taken.append(thread() - start)
    gc.enable()
    count = CALLS * ROUNDS
    commands, plans = (device.queue.serial - serial) / count, (planned.statistics()["repeated"] - repeated) / count
    device.synchronize()
    return Row(name, frames, min(taken) / CALLS * 1e6, commands, plans)


def main() -> None:
    """Measure, print, and keep what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", help="calls whose text holds one of these words")
    parser.add_argument("--written", action="store_true", help="only what no pattern makes")
    parser.add_argument(
        "--worst", type=int, default=40, help="how many of the worst to print (default 40; 0 for all calls)"
    )
    parser.add_argument("--json", type=Path, help="write all rows to this file")
    parser.add_argument("--against", type=Path, help="the file of an earlier run")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    calls = list(written().items()) + ([] if arguments.written else list(of_namespace()))
    chosen = [one for one in calls if not arguments.only or any(word in one[0] for word in arguments.only)]
    rows = [row for name, call in chosen if (row := measured(name, call)) is not None]
    if arguments.json:
        arguments.json.write_text(json.dumps(rows))
    before = {one[0]: Row(*one) for one in json.loads(arguments.against.read_text())} if arguments.against else {}
    peers: dict[int, list[float]] = {}
    for row in rows:
        peers.setdefault(min(round(row.commands), 8), []).append(row.microseconds)
    usual = {commands: statistics.median(times) for commands, times in peers.items()}

    def beside(row: Row) -> float:
        return row.microseconds / usual[min(round(row.commands), 8)]

    if arguments.worst:
        rows = sorted(rows, key=beside, reverse=True)[: arguments.worst]
    print(f"{'call':48s} frames       µs  commands  plans  beside peers{'  before: frames, µs' if before else ''}")
    for row in rows:
        old = before.get(row.name)
        print(
            f"{row.name:48s} {row.frames:6d} {row.microseconds:8.2f} {row.commands:9.2f} {row.planned:6.2f} {beside(row):13.2f}"
            + (f" {old.frames:8d} {old.microseconds:8.2f}" if old else "")
        )


if __name__ == "__main__":
    main()
