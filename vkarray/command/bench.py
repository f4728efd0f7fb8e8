"""Measure vkarray beside NumPy, PyTorch and CuPy, as far as they are installed, on the same work in alternation.

Inputs are random, results are checked before anything is timed, everything is warm, and each figure is the median of
several rounds. Host time is from the call until the device is done; device time is what the device's own clock says.
Ratios compare device times where both libraries have them, else host times.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import vkarray as vx

from .libraries import Library, installed

_CHAIN = 1000  # dependent calls that are timed as one
_READS = 100  # calls whose value is read, timed as one


class Inputs(NamedTuple):
    """What a work is done on: the same values for every library."""

    arrays: tuple[Any, ...]
    library: Library


@dataclass(frozen=True)
class Work:
    """One line of the table.

    `run` does it on the inputs; `amount` is the bytes moved or operations done (None: time per call is reported, in µs)
    for the size `n`, and `check` says whether a result, on the host, is right.
    """

    name: str
    text: str
    make: Callable[[np.random.Generator, int], tuple[np.ndarray, ...]]
    run: Callable[[Inputs], Any]
    check: Callable[[np.ndarray, tuple[np.ndarray, ...]], bool]
    amount: Callable[[int], float] | None = None
    unit: str = "GB/s"
    size: str = "size"
    calls: int = 1


def _vectors(count: int) -> Callable[[np.random.Generator, int], tuple[np.ndarray, ...]]:
    return lambda random, n: tuple(random.random(n, dtype=np.float32) for _ in range(count))


def _matrices(random: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    return tuple(random.standard_normal((n, n), dtype=np.float32) for _ in range(2))


def _scalars(random: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    return tuple(np.asarray(random.random(), dtype=np.float32) for _ in range(2))


def _close(relative: float) -> Callable[[Callable[..., Any]], Callable[..., bool]]:
    def make(reference: Callable[..., Any]) -> Callable[..., bool]:
        return lambda result, inputs: bool(np.allclose(result, reference(*inputs), rtol=relative, atol=0))

    return make


def _chain(inputs: Inputs) -> Any:
    x, y = inputs.arrays
    for _ in range(_CHAIN):
        x = x + y
    return x


def _chained(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    for _ in range(_CHAIN):
        x = x + y
    return x


def _values(inputs: Inputs) -> Any:
    x, y = inputs.arrays
    for _ in range(_READS):
        value = float(x + y)
    return np.asarray(value)


def _matmul_right(result: np.ndarray, inputs: tuple[np.ndarray, ...]) -> bool:
    """Some rows against float64, within the usual bound of a sum of n products."""
    a, b = inputs
    rows = np.linspace(0, len(a) - 1, 8).astype(int)
    exact = a[rows].astype(np.float64) @ b
    bound = np.abs(a[rows]).astype(np.float64) @ np.abs(b) * (len(a) * 2.0**-24)
    return bool(np.all(np.abs(result[rows] - exact) <= bound))


WORKS = (
    Work("add", "a + b", _vectors(2), lambda inputs: inputs.arrays[0] + inputs.arrays[1],
         _close(0)(np.add), lambda n: 12 * n),
    Work("exp", "exp(a)", _vectors(1), lambda inputs: inputs.library.module.exp(inputs.arrays[0]),
         _close(1e-6)(np.exp), lambda n: 8 * n),
    Work("sum", "sum(a)", _vectors(1), lambda inputs: inputs.library.module.sum(inputs.arrays[0]),
         _close(1e-5)(lambda a: np.sum(a, dtype=np.float64)), lambda n: 4 * n),
    Work("matmul", "a @ b, n x n", _matrices, lambda inputs: inputs.arrays[0] @ inputs.arrays[1],
         _matmul_right, lambda n: 2 * n**3, "TFLOP/s", "matrix"),
    Work("eager", "x + y of 64 elements, each call needing the last", _vectors(2), _chain, _close(1e-6)(_chained),
         None, "µs", "eager", _CHAIN),
    Work("value", "float(x + y) of 0 dimensions", _scalars, _values, _close(1e-6)(np.add), None, "µs", calls=_READS),
    Work("upload", "host to device", _vectors(1), lambda inputs: inputs.library.array(inputs.arrays[0]),
         _close(0)(np.asarray), lambda n: 4 * n, size="transfer"),
    Work("download", "device to host", _vectors(1), lambda inputs: inputs.library.host(inputs.arrays[0]),
         _close(0)(np.asarray), lambda n: 4 * n, size="transfer"),
)  # fmt: skip


@dataclass
class Result:
    """What one library took for one work: medians in seconds per call, None where no device clock was asked."""

    work: str
    library: str
    n: int
    host_seconds: float
    device_seconds: float | None
    unit: str
    host: float
    device: float | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    names = ", ".join(work.name for work in WORKS)
    parser.add_argument("--only", metavar="NAMES", help=f"works to do, comma-separated: {names}")
    parser.add_argument(
        "--size", type=_positive, metavar="N", help="elements of add, exp and sum (2^28; 2^22 on a CPU)"
    )
    parser.add_argument(
        "--matrix", type=_positive, metavar="N", help="rows and columns of matmul (4096; 1024 on a CPU)"
    )
    parser.add_argument(
        "--rounds", type=_positive, default=9, metavar="N", help="rounds, of which medians are taken (9)"
    )
    parser.add_argument("--device", help="the vkarray device: index, part of the name, or UUID")
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("vkarray-bench.json"),
        metavar="FILE",
        help="where the figures go (vkarray-bench.json); a chart beside it where matplotlib is installed",
    )


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number above 0, got {value}")
    return value


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status: 1 when a result of vkarray is wrong."""
    works = _chosen(arguments.only)
    if works is None:
        return 2
    device = vx.asarray(0.0, device=arguments.device).device
    on_cpu = device.limits.is_cpu
    sizes = {
        "size": arguments.size or 1 << (22 if on_cpu else 28),
        "matrix": arguments.matrix or (1024 if on_cpu else 4096),
        "transfer": 1 << (22 if on_cpu else 26),
        "eager": 64,
    }
    libraries = installed(device)
    print(f"vkarray {vx.__version__} on {device.name} ({device.description.driver})")
    print("beside " + (", ".join(library.version for library in libraries[1:]) or "no other library"), flush=True)
    results: list[Result] = []
    wrong = False
    for work in works:
        done, failed = _measure(work, libraries, sizes[work.size], arguments.rounds)
        results += done
        wrong |= failed
        _print(work, done)
    _write(arguments.output, device, libraries, results)
    return int(wrong)


def _chosen(only: str | None) -> list[Work] | None:
    if only is None:
        return list(WORKS)
    names = [name.strip() for name in only.split(",")]
    unknown = [name for name in names if name not in {work.name for work in WORKS}]
    if unknown:
        print(f"vkarray bench: unknown work {', '.join(unknown)}; there are {', '.join(work.name for work in WORKS)}.")
        return None
    return [work for work in WORKS if work.name in names]


def _measure(work: Work, libraries: list[Library], n: int, rounds: int) -> tuple[list[Result], bool]:
    """Check and time one work in every library, taking turns. The second value says that vkarray was wrong."""
    values = work.make(np.random.default_rng(0), n)
    ready: list[tuple[Library, Callable[[], Any]]] = []
    wrong = False
    for library in libraries:
        arrays = values if work.name == "upload" else tuple(library.array(value) for value in values)
        call = _bind(work, Inputs(arrays, library))
        if work.check(np.asarray(library.host(call())), values):
            ready.append((library, call))
        else:
            print(f"{work.name}: the result of {library.name} is wrong; not timed")
            wrong |= library is libraries[0]
    host: dict[str, list[float]] = {library.name: [] for library, _ in ready}
    device: dict[str, list[float]] = {library.name: [] for library, _ in ready}
    for turn in range(rounds + 1):
        for library, call in ready:
            library.synchronize()
            start = time.perf_counter()
            call()
            library.synchronize()
            seconds = time.perf_counter() - start
            on_device = library.device_seconds(call) if work.amount else None
            if turn:  # the first round warms up
                host[library.name].append(seconds)
                if on_device is not None:
                    device[library.name].append(on_device)
    return [_result(work, library, n, host[library.name], device[library.name]) for library, _ in ready], wrong


def _bind(work: Work, inputs: Inputs) -> Callable[[], Any]:
    return lambda: work.run(inputs)


def _result(work: Work, library: Library, n: int, host: list[float], device: list[float]) -> Result:
    host_seconds = statistics.median(host) / work.calls
    device_seconds = statistics.median(device) / work.calls if device else None
    rates = [None if seconds is None else _figure(work, n, seconds) for seconds in (host_seconds, device_seconds)]
    assert rates[0] is not None
    return Result(work.name, library.name, n, host_seconds, device_seconds, work.unit, rates[0], rates[1])


def _figure(work: Work, n: int, seconds: float) -> float:
    """The time in the unit of the work."""
    if work.amount is None:
        return seconds * 1e6
    return work.amount(n) / seconds * {"GB/s": 1e-9, "TFLOP/s": 1e-12}[work.unit]


def _print(work: Work, results: list[Result]) -> None:
    if not results:
        return
    print(f"\n{work.name}: {work.text}, n = {results[0].n:,}" if work.amount else f"\n{work.name}: {work.text}")
    print(f"  {'':<14}{'host':>12}{'device':>12}  {work.unit:<8}{'vkarray is':>12}")
    first = results[0]
    for result in results:
        device = f"{result.device:,.4g}" if result.device is not None else "-"
        ratio = ""
        if result.library != "vkarray" and first.library == "vkarray":
            mine, other = first.host, result.host
            if first.device is not None and result.device is not None:
                mine, other = first.device, result.device
            ratio = f"{mine / other if work.amount else other / mine:.2f} x"
        print(f"  {result.library:<14}{result.host:>12,.4g}{device:>12}  {work.unit:<8}{ratio:>12}", flush=True)


def _write(path: Path, device: Any, libraries: list[Library], results: list[Result]) -> None:
    """The figures as JSON, and as a chart where matplotlib is installed."""
    report = {
        "date": time.strftime("%Y-%m-%d"),
        "device": device.name,
        "driver": device.description.driver,
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        "libraries": [library.version for library in libraries],
        "results": [asdict(result) for result in results],
    }
    path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(f"\nWrote {path}")
    if importlib.util.find_spec("matplotlib") is not None and results:
        from .chart import draw

        picture = path.with_suffix(".png")
        draw(report, picture)
        print(f"Wrote {picture}")
