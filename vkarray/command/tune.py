"""Measure which kernels are fastest on a device, and remember the choices.

Each problem is done with every row of the tables that can do it; all results are checked, and where a row takes at least
5 % less time than the default it is remembered in the cache for this device and driver version. Sums may be added in
another order afterwards, so the last bits of results can change once, when a device is tuned or reset.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import numpy as np

import vkarray as vx

from .. import configuration
from ..kernels import tuning
from ..kernels.tuning import Family, Problem
from .libraries import Vkarray
from .tuned import FAMILIES

_ROUNDS = 5
_GAIN = 0.95  # of the default's time: what is closer is noise
_HOPELESS = 5  # times the fastest so far: measured once
# Of the sums of each type, and of the result where it is rounded once more.
_EPSILON = {"float16": 2.0**-24, "float32": 2.0**-24, "complex64": 2.0**-23, "float64": 2.0**-53, "int32": 0.0}
_ROUNDED = {"float16": 2.0**-11}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("--device", help="the device: index, part of the name, or UUID")
    parser.add_argument(
        "--reset", action="store_true", help="forget the choices for the device and return to the defaults"
    )
    parser.add_argument(
        "--show", action="store_true", help="print the choices that are remembered, and measure nothing"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status: 1 when a row is wrong or the choices cannot be kept or forgotten."""
    device = vx.asarray(0.0, device=arguments.device).device
    print(f"{device.name} ({device.description.driver})")
    if arguments.reset:
        if not tuning.reset(device):
            return _refused("forgotten")
        print("The defaults hold.")
        return 0
    if arguments.show:
        _show(device)
        return 0
    choices: tuning.Choices = {}
    wrong = False
    for family in FAMILIES:
        print(f"\n{family.name}")
        for problem in family.problems(device):
            best, right = _best(device, family, problem)
            wrong |= not right
            if best is not None:
                choices.setdefault(family.name, {})[problem.key] = best
    if not tuning.remember(device, choices):
        return _refused("kept")
    print()
    _show(device)
    return int(wrong)


def _refused(what: str) -> int:
    """Say that the cache is as it was; the exit status."""
    where = configuration.current().cache
    print(f"\nThe choices cannot be {what}: the cache {where} cannot be written. Name another in VKARRAY_CACHE.")
    return 1


def _show(device: Any) -> None:
    choices = tuning.remembered(device)
    for family, table in choices.items():
        for key, label in table.items():
            print(f"{family}, {key}: {label}")
    if not choices:
        print("Nothing is remembered: the defaults hold.")


def _best(device: Any, family: Family, problem: Problem) -> tuple[str | None, bool]:
    """The label of a row that is better than the default, if any, and whether all rows were right."""
    inputs = _inputs(problem)
    arrays = [vx.asarray(values, device=device) for values in inputs]
    with tuning.trying(family.name, ""):  # what was remembered must not count as the default
        labels = family.candidates(device, problem)
    times: dict[str, list[float]] = {}
    right = True
    print(f"  {problem.key}: {' and '.join('x'.join(map(str, shape)) for shape in problem.shapes)}", flush=True)
    expected, bound = _expected(problem, inputs)
    for label in labels:
        with tuning.trying(family.name, label):
            found = np.asarray(problem.call(vx, *arrays))
        if np.all(np.abs(found - expected) <= bound):
            times[label] = []
        else:
            right = False
            print(f"    {label}: the result is wrong")
    library = Vkarray(device)
    for number in range(_ROUNDS):
        for label, seconds in times.items():
            fastest = min((min(other) for other in times.values() if other), default=0.0)
            if number == 0 or min(seconds) < _HOPELESS * fastest:
                with tuning.trying(family.name, label):
                    seconds.append(_seconds(library, problem, arrays))
    medians = {label: statistics.median(seconds) for label, seconds in times.items()}
    if labels[0] not in medians:
        return (min(medians, key=lambda label: medians[label]) if medians else None), right
    best = min(medians, key=lambda label: medians[label])
    chosen = best if medians[best] < _GAIN * medians[labels[0]] else labels[0]
    for label, median in medians.items():
        notes = [word for word, named in (("default", labels[0]), ("chosen", chosen)) if named == label]
        print(f"    {label:<44}{median * 1e6:>12,.1f} µs  {', '.join(notes)}".rstrip(), flush=True)
    return (chosen if chosen != labels[0] else None), right


def _seconds(library: Vkarray, problem: Problem, arrays: list[Any]) -> float:
    """The time of one call, on the device's clock where it has one."""

    def call() -> Any:
        return problem.call(vx, *arrays)

    library.finish(call())  # the first call prepares
    on_device = library.device_seconds(call)
    if on_device is not None:
        return on_device
    start = time.perf_counter()
    library.finish(call())
    return time.perf_counter() - start


def _inputs(problem: Problem) -> list[np.ndarray]:
    random = np.random.default_rng(0)
    dtype = np.dtype(problem.dtype)
    if dtype.kind == "i":
        return [random.integers(-100, 100, shape, dtype) for shape in problem.shapes]
    made = [random.standard_normal(shape) for shape in problem.shapes]
    if dtype.kind == "c":
        made = [values + 1j * random.standard_normal(values.shape) for values in made]
    return [values.astype(dtype) for values in made]


def _expected(problem: Problem, inputs: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The result in twice the precision, and how far a sum of that many rounded products may be from it.

    Integers are small enough here to be exact in float64, whose products NumPy does many times faster than int64's.
    """
    wide = np.complex128 if inputs[0].dtype.kind == "c" else np.float64
    expected = problem.call(np, *(values.astype(wide) for values in inputs))
    size = problem.call(np, *(np.abs(values).astype(np.float64) for values in inputs))
    # NumPy's own float64 is no better than what it is compared with there.
    factor = 2 if problem.dtype == "float64" else 1
    rounded = _ROUNDED.get(problem.dtype, 0.0) * np.abs(expected)
    return expected, factor * (problem.terms + 2) * _EPSILON[problem.dtype] * size + rounded
