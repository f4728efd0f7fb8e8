"""Measure a program from a file: the first call, the median and the slowest of many, throughput and memory."""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from ..programs.program import load_program
from . import run as running


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    running.of_program(parser)
    parser.add_argument("--calls", type=int, default=100, help="how many to measure (default 100)")


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status: 2 for inputs that do not fit."""
    try:
        began = time.perf_counter()
        program = load_program(arguments.program, arguments.device)
        loaded = time.perf_counter()
        given = running.inputs(program, arguments.input)
        taken, program_device = [], program.device
        for _ in range(max(arguments.calls, 1) + 1):
            start = time.perf_counter()
            results = program.with_inputs(given)
            program_device.synchronize()
            taken.append(time.perf_counter() - start)
            del results
    except (ValueError, TypeError, OSError) as error:
        print(f"vkarray benchmark: {error}", file=sys.stderr)
        return 2
    first, *others = taken
    memory = program_device.memory.statistics()
    for name, text in (
        ("device", program_device.name),
        ("load", _milliseconds(loaded - began)),
        ("first call", _milliseconds(first)),
        ("median", _milliseconds(float(np.median(others)))),
        ("p99", _milliseconds(float(np.percentile(others, 99)))),
        ("throughput", f"{len(others) / sum(others):.1f} calls/s"),
        ("memory", f"{memory['bytes_peak']} bytes at most"),
    ):
        print(f"{name:<11}{text}")
    return 0


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3f} ms"
