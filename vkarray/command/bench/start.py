"""How long a fresh process takes to import a library and to its first result, and what first calls of functions take."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ..libraries import Library, Vkarray
from .measure import Measurement, Result
from .work import Goal

GOALS: dict[str, tuple[str, tuple[Goal, ...]]] = {
    "import": ("the import statement in a fresh process", (Goal("vkarray", seconds=0.15),)),
    "first result": ("from the start of a process to its first result", (Goal("vkarray", seconds=0.3),)),
    "first calls": (
        "40 ordinary functions, each called once, with SPIR-V at hand and nothing that the driver has compiled",
        (Goal("vkarray", seconds=4.0, kind="gpu"), Goal("vkarray", seconds=8.0, kind="cpu")),
    ),
    "slowest first call": ("the slowest one of these", (Goal("vkarray", seconds=0.5, kind="gpu"),)),
    "later process": ("the same calls in a later process", (Goal("vkarray", seconds=0.5),)),
    "every function": (
        "the slowest first call of all public functions on small arrays, each with a device opened anew",
        (),
    ),
}
_OF_LIBRARIES, _ORDINARY = list(GOALS)[:2], list(GOALS)[2:5]
_LONGEST = 20  # calls that are printed

_PROGRAM = """
import time
before = time.perf_counter()
{statement}
imported = time.perf_counter() - before
value = {expression}
print("measured", imported, time.time())
"""


def measure(chapter: str, measurement: Measurement, wanted: list[str]) -> list[Result]:
    """What was asked for. Processes of libraries take turns; first calls are vkarray's alone, and their tables are printed."""
    results = _of_libraries(chapter, measurement, wanted) if set(_OF_LIBRARIES) & set(wanted) else []
    for name, seconds in _of_first_calls(measurement, wanted).items():
        if name in wanted:
            results.append(Result(chapter, name, "vkarray", 1, seconds, None, "s", seconds, None))
    return results


def _of_first_calls(measurement: Measurement, wanted: list[str]) -> dict[str, float]:
    """The seconds that first calls of functions take."""
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        if set(_ORDINARY) & set(wanted):
            cold = _first_calls("ordinary", folder, measurement)
            later = _first_calls("ordinary", folder, measurement)
            times = [call["seconds"] for call in cold]
            later_times = [call["seconds"] for call in later]
            found = dict(zip(_ORDINARY, (sum(times), max(times), sum(later_times)), strict=True))
            _print_calls([call | {"later": again} for call, again in zip(cold, later, strict=True)])
    with tempfile.TemporaryDirectory() as folder:
        if "every function" in wanted:
            calls = _first_calls("namespace", folder, measurement)
            found["every function"] = max(call["seconds"] for call in calls)
            _print_calls(calls)
    return found


def _first_calls(what: str, folder: str, measurement: Measurement) -> list[dict[str, Any]]:
    """What `first_calls` measured in a process of its own."""
    command = [sys.executable, "-m", "vkarray.command.bench.first_calls", what, folder]
    device = next(library.device for library in measurement.libraries if isinstance(library, Vkarray))
    environment = _environment(Path(folder, "bytecode")) | {"VKARRAY_DEVICE": device.uuid}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    calls = [json.loads(line) for line in done.stdout.splitlines()]
    for call in calls:
        if not call["right"]:
            print(f"  {call['name']}: WRONG in its first call")
            measurement.wrong = True
    return calls


def _print_calls(calls: list[dict[str, Any]]) -> None:
    """The longest calls, and what all take together."""
    together = _together(calls) | {"name": f"all {len(calls)}", "later": _together([call["later"] for call in calls])}
    longest = sorted(calls, key=lambda call: -call["processor"])[:_LONGEST]
    titles = f"{'wall':>9}{'processor':>11}{'driver':>9}{'pipelines':>11}   {'later: wall':>11}{'processor':>11}"
    print(f"\n  {'first calls, ms':<24}{titles}")
    for call in [*longest, together]:
        times = [1e3 * value for value in (call["seconds"], call["processor"], call["driver"])]
        later = [1e3 * call["later"][name] for name in ("seconds", "processor")]
        print(
            f"  {call['name']:<24}{times[0]:>9,.0f}{times[1]:>11,.0f}{times[2]:>9,.0f}{call['pipelines']:>11}   "
            f"{later[0]:>11,.0f}{later[1]:>11,.0f}"
        )


def _together(calls: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: sum(call[name] for call in calls) for name in ("seconds", "processor", "driver", "pipelines")}


def _environment(folder: str | Path) -> dict[str, str]:
    """That of this process, for others: byte code is kept, as installed; the working directory alone may have the package."""
    path = os.pathsep.join(filter(None, [str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"PYTHONPATH": path, "PYTHONPYCACHEPREFIX": str(folder)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def _of_libraries(chapter: str, measurement: Measurement, wanted: list[str]) -> list[Result]:
    """Both figures of every library that has them, from processes that take turns; byte code is kept, as installed."""
    libraries = [library for library in measurement.libraries if library.start is not None]
    times: dict[tuple[str, str], list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        environment = _environment(folder)
        for number in range(min(measurement.rounds, 5) + 1):
            # Peers can take seconds, and are there for comparison: two of them are enough.
            for library in libraries[: None if number < 2 else 1]:
                seconds = _fresh(library, environment)
                for name, value in zip(_OF_LIBRARIES, seconds, strict=True):
                    if number:  # the first process fills the caches
                        times.setdefault((name, library.name), []).append(value)
    results = []
    for name in _OF_LIBRARIES:
        for library in libraries:
            if name in wanted:
                values = times[name, library.name]
                median = statistics.median(values)
                results.append(Result(chapter, name, library.name, len(values), median, None, "s", median, None))
    return results


def _fresh(library: Library, environment: dict[str, str]) -> tuple[float, float]:
    assert library.start is not None
    statement, expression = library.start
    before = time.time()
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM.format(statement=statement, expression=expression)],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    line = next(line for line in done.stdout.splitlines() if line.startswith("measured "))
    imported, end = map(float, line.split()[1:])
    return imported, end - before
