"""Measure a program from a file: the first call, the median and the slowest of many, throughput, memory, and the time by kernel.

With `--peer` ONNX Runtime computes the same beside it, from the ONNX model that the program was made of, and results are compared.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.array import VkArray
from ..profiling.block import profile
from ..programs.signature import leaves_of
from . import opening, peer, values
from . import run as running

PROFILED = 5  # calls whose kernels are timed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    running.of_program(parser)
    parser.add_argument(
        "--calls", type=values.count, default=100, metavar="N", help="how many to measure (default: 100)"
    )
    parser.add_argument(
        "--peer", nargs="?", const="", metavar="MODEL",
        help="measure ONNX Runtime, too, on this ONNX model (default: the file beside PROGRAM with .onnx)",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status: 2 for inputs that do not fit."""
    model = None if arguments.peer is None else peer.path_of(arguments.peer, arguments.program)
    calls = arguments.calls
    try:
        imported, began = time.process_time(), time.perf_counter()
        program = opening.program(arguments.program, arguments.device)
        loaded = time.perf_counter()
        given = running.inputs(program, arguments.input)

        def call() -> Any:
            results = program.with_inputs(given)
            program.device.synchronize()
            return results

        (first,), begun = measured(call, 1), time.process_time()
        taken = measured(call, calls)
        memory = program.device.memory.statistics()["bytes_peak"]
        with profile() as seen:
            for _ in range(PROFILED):
                results = call()
    except (ValueError, TypeError, OSError) as error:
        print(f"vkarray benchmark: {error}", file=sys.stderr)
        return 2
    _print(
        ("device", program.device.name),
        ("load", _milliseconds(loaded - began)),
        ("first call", _milliseconds(first)),
        ("processor", f"{_milliseconds(begun)} until the end of the first call, {_milliseconds(imported)} for imports"),
        *_of_calls(taken),
        ("weights", f"{program.weights.nbytes if program.weights else 0} bytes"),
        ("memory", f"{memory} bytes at most, with weights and inputs"),
    )
    print(f"\n{PROFILED} calls by kernel, each kernel alone:\n{seen.kernels()}")
    if model is not None:
        arrays = [value for _, value in leaves_of(results) if type(value) is VkArray]
        compared = peer.compared(model, program, given, arrays, lambda call: measured(call, calls))
        ratio = float(np.median(compared.seconds) / np.median(taken))
        print(f"\n{compared.name}, on {model}:")
        _print(*_of_calls(compared.seconds), ("ratio", f"{ratio:.3g} times the median of vkarray"), *compared.results)
    return 0


def measured(call: Callable[[], Any], count: int) -> list[float]:
    """The seconds that each of so many calls takes."""
    taken = []
    for _ in range(count):
        start = time.perf_counter()
        results = call()
        taken.append(time.perf_counter() - start)
        del results
    return taken


def _of_calls(seconds: Sequence[float]) -> list[tuple[str, str]]:
    return [
        ("median", _milliseconds(float(np.median(seconds)))),
        ("p99", _milliseconds(float(np.percentile(seconds, 99)))),
        ("throughput", f"{len(seconds) / sum(seconds):.1f} calls/s"),
    ]


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3f} ms"


def _print(*rows: tuple[str, str]) -> None:
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        print(f"{name:<{width}} {text}")
