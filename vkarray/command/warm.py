"""Prepare kernels ahead, so that no first call waits for the driver's compiler.

Without names, 40 functions that people call first are called once on small arrays of float32. A function that is named is
called as in its example in the documentation too. What the driver makes is kept in its cache and in vkarray's, for all later
processes. Kernels for other types and sizes, if they are others, are still made at their first use.
"""

from __future__ import annotations

import argparse
import sys
import time
from difflib import get_close_matches

import numpy as np

import vkarray as vx

from ..errors import counted
from . import examples

_WIDTH, _LINE = 30, 72  # characters of the bar, and of the line that it is on
_ROWS = 100  # rows and columns of matrices


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "functions", nargs="*", metavar="FUNCTIONS",
        help="such as exp, linalg.solve, or fft for all of a namespace; vkarray for all functions (40 ordinary ones)",
    )  # fmt: skip
    parser.add_argument("--device", help="the vkarray device: index, part of the name, or UUID")


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status: 1 when a function failed, 2 when one is unknown."""
    device = vx.asarray(0.0, device=arguments.device).device
    names = _chosen(arguments.functions)
    if names is None:
        return 2
    call = _example if arguments.functions else _ordinary
    print(f"Preparing {counted(len(names), 'function')} on {device.name}.")
    before, started, failures = _pipelines(), time.perf_counter(), []
    with vx.config(device=device.uuid):
        for done, name in enumerate(names):
            _show(done, len(names), name)
            try:
                call(name)
            except Exception as error:  # what one function lacks, others may not
                failures.append(f"vkarray warm: {name}: {type(error).__name__}: {error}")
    _show(len(names), len(names), "done")
    print(f"{counted(_pipelines() - before, 'kernel')} in {time.perf_counter() - started:.1f} s.")
    print(*failures, sep="\n", end="\n" if failures else "", file=sys.stderr)
    return int(bool(failures))


def _pipelines() -> int:
    return vx.cache_stats()["pipelines"]["compiles"]


def _show(done: int, count: int, name: str) -> None:
    """The bar, on one line of a terminal; elsewhere a line for each function."""
    filled = _WIDTH * done // count
    line = f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {done:>{len(str(count))}}/{count} {name}"
    if sys.stdout.isatty():
        print(f"\r{line:<{_LINE}.{_LINE}}", end="" if done < count else "\n", flush=True)
    else:
        print(line, flush=True)


def _chosen(words: list[str]) -> list[str] | None:
    """The names of functions that were asked for; None when one is unknown, which is printed."""
    if not words:
        return list(examples.ORDINARY)
    public = [name if space == "vkarray" else f"{space}.{name}" for space, name in examples.functions()]
    chosen: dict[str, None] = {}
    for word in words:
        word = word.removeprefix("vx.")
        found = [name for name in public if word in (name, "vkarray") or name.startswith(f"{word}.")]
        found = found or [name for name in public if name.endswith(f".{word}")]
        if not found:
            last = {name.rpartition(".")[2]: name for name in public} | {name: name for name in public}
            close = get_close_matches(word, last, 1)
            advice = f"; did you mean {last[close[0]]}?" if close else "."
            print(f"vkarray warm: vkarray has no function {word}{advice}", file=sys.stderr)
            return None
        chosen.update(dict.fromkeys(found))
    return list(chosen)


def _ordinary(name: str) -> None:
    np.asarray(examples.ORDINARY[name](vx, examples.Inputs.of(vx.asarray, _ROWS)))


def _example(name: str) -> None:
    """Run a function's example, or the first of the calls that it may take that returns."""
    space, _, own = name.rpartition(".")
    if own in examples.ORDINARY:
        _ordinary(own)
    error: Exception | None = None
    for code in examples.codes(space or "vkarray", own):
        try:
            examples.session(code)
            return
        except Exception as raised:  # the next code may have other arguments
            error = raised
    if error is not None:
        raise error
