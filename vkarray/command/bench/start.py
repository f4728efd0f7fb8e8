"""How long a fresh process takes to import a library, and to its first result with warm caches."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ..libraries import Library
from .measure import Measurement, Result
from .work import Goal

GOALS = {
    "import": ("the import statement in a fresh process", (Goal("vkarray", seconds=0.15),)),
    "first result": ("from the start of a process to its first result", (Goal("vkarray", seconds=0.3),)),
}

_PROGRAM = """
import time
before = time.perf_counter()
{statement}
imported = time.perf_counter() - before
value = {expression}
print("measured", imported, time.time())
"""


def measure(chapter: str, measurement: Measurement, wanted: list[str]) -> list[Result]:
    """Both figures of every library that has them, from processes that take turns; byte code is kept, as installed."""
    libraries = [library for library in measurement.libraries if library.start is not None]
    times: dict[tuple[str, str], list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"PYTHONPYCACHEPREFIX": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        # The package may be found through the working directory alone.
        root = str(Path(__file__).parents[3])
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [root, environment.get("PYTHONPATH")]))
        for number in range(min(measurement.rounds, 5) + 1):
            # Peers can take seconds, and are there for comparison: two of them are enough.
            for library in libraries[: None if number < 2 else 1]:
                seconds = _fresh(library, environment)
                for name, value in zip(GOALS, seconds, strict=True):
                    if number:  # the first process fills the caches
                        times.setdefault((name, library.name), []).append(value)
    results = []
    for name in GOALS:
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
