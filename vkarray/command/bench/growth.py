"""How the cost grows: time against size, from one element to the largest arrays, and from small matrices to large."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from ..libraries import Library
from . import chart, indexing, products, programs, reductions
from .measure import Measurement
from .work import Values, Work, listed, of_rows

# Elements of the largest arrays, and rows and columns of the largest matrix, by the kind of device.
LARGEST = {"gpu": (1 << 30, 8192), "cpu": (1 << 24, 1024)}
_FACTOR = 4  # between sizes of arrays; matrices double
_SMALLEST_MATRIX = 16


class Curve(NamedTuple):
    """A work as a function of its size, up to a share of the largest array or matrix."""

    name: str
    size: str
    of: Callable[[int], Work]
    largest: int
    smallest: int = 1
    factor: int = _FACTOR

    def sizes(self) -> Iterator[int]:
        """The sizes, smallest first."""
        size = self.smallest
        while size <= self.largest:
            yield size
            size *= self.factor


def _named(works: Iterator[Work], name: str) -> Work:
    return next(work for work in works if work.name == name)


def _add(n: int) -> Work:
    inputs = (Values("uniform", (n,)), Values("uniform", (n,), 1))
    return Work(
        "add", "a + b", inputs, lambda xp, a, b: xp.add(a, b), of_rows(np.add, 1e-6), amount=12 * n, common=True
    )


def curves(elements: int, matrix: int) -> list[Curve]:
    """The curves up to these sizes."""
    return [
        Curve("add", "elements", _add, elements),
        Curve("sum all", "elements", lambda n: _named(reductions.of_vector(n), "sum all"), elements),
        Curve("cumulative_sum", "elements", lambda n: _named(reductions.of_vector(n), "cumulative_sum"), elements),
        Curve("sort", "elements", lambda n: _named(indexing.of_vector(n), "sort"), elements // 16),
        Curve("matmul", "n", products.square, matrix, _SMALLEST_MATRIX, 2),
        Curve("matmul, many", "n", products.stack, min(matrix, 512), 4, 2),
        Curve("chain", "additions", lambda count: programs.chain(count, max(1024, elements // 16)), 128, 1, 2),
    ]


def run(libraries: list[Library], facts: dict[str, Any], arguments: argparse.Namespace) -> int:
    """Measure the curves, print and write them; the exit status is 1 when a result of vkarray is wrong, 2 for unknown names."""
    elements, matrix = LARGEST[facts["kind"]]
    elements, matrix = arguments.size or elements, arguments.matrix or matrix
    everything = curves(elements, matrix)
    wanted = [""] if arguments.only is None else listed(arguments.only, [curve.name for curve in everything])
    unknown = [name for name in wanted if not any(curve.name.startswith(name) for curve in everything)]
    if unknown:
        known = ", ".join(curve.name for curve in everything)
        print(f"vkarray bench: unknown curve {', '.join(unknown)}; curves are {known}.")
        return 2
    points: list[dict[str, Any]] = []
    wrong = False
    for curve in everything:
        if not any(curve.name.startswith(name) for name in wanted):
            continue
        print(f"\n{curve.name}: µs on the host's clock, and on the device's")
        remaining = list(libraries)
        for size in curve.sizes():
            measurement = Measurement(remaining, arguments.rounds, arguments.patience)
            results = measurement.measure("growth", curve.of(size))
            wrong |= measurement.wrong
            points += [{"curve": curve.name, "of": curve.size, "size": size, **asdict(result)} for result in results]
            parts = [f"{r.library} {r.host_seconds * 1e6:,.1f}" + _device(r.device_seconds) for r in results]
            print(f"  {size:>13,}  " + "; ".join(parts), flush=True)
            # Whoever was too slow or ran out of memory will be for larger sizes too.
            names = {result.library for result in results}
            remaining = [library for library in remaining if library.name in names or library is libraries[0]]
        report = {**facts, "elements": elements, "matrix": matrix, "points": points}
        arguments.output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(f"\nWrote {arguments.output}")
    chart.picture(arguments.output)
    return int(wrong)


def _device(seconds: float | None) -> str:
    return "" if seconds is None else f" ({seconds * 1e6:,.1f})"
