"""Measure vkarray beside the other libraries that are installed, on the same work in alternation.

Inputs are random, results are checked before anything is timed, everything is warm, and each figure is the median of
several rounds. Host time is from the call until the device is done; device time is what the device's own clock says.
Ratios compare device times where both libraries have them, else host times: above 1, vkarray is faster.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import vkarray as vx

from .. import values
from ..libraries import installed
from . import (
    calls,
    chart,
    compilers,
    elementwise,
    fourier,
    growth,
    indexing,
    linalg,
    memory,
    products,
    programs,
    reductions,
    report,
    start,
)
from .measure import Measurement, Result
from .work import Goal, Sizes, Work, listed

CHAPTERS: dict[str, Callable[[Sizes], Iterable[Work]]] = {
    "elementwise": elementwise.works,
    "reductions": reductions.works,
    "indexing": indexing.works,
    "fourier": fourier.works,
    "products": products.works,
    "linalg": linalg.works,
    "calls": calls.works,
    "memory": memory.works,
    "programs": programs.works,
}
# Goals for the medians of a chapter's ratios.
MEDIANS = {"calls": (Goal("CuPy", 1.0),), "programs": (Goal("torch.compile CUDA", 1.0), Goal("NumPy", 1.0))}
START = "start"  # the chapter of fresh processes

# Elements of the large arrays, and rows and columns of the largest matrix, by the kind of device.
SIZES = {"gpu": (1 << 28, 8192), "cpu": (1 << 22, 1024)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "--only",
        metavar="NAMES",
        help=f"chapters and beginnings of works' names, comma-separated; {', '.join(CHAPTERS)}, {START}",
    )
    parser.add_argument(
        "--peers", metavar="NAMES", help="beginnings of the names of the libraries beside vkarray (all installed)"
    )
    parser.add_argument(
        "--size", type=values.count, metavar="N", help="elements of the large arrays (2^28; 2^22 on a CPU)"
    )
    parser.add_argument(
        "--matrix", type=values.count, metavar="N", help="rows and columns of the largest matrix (8192; 1024 on a CPU)"
    )
    parser.add_argument(
        "--rounds", type=values.count, default=9, metavar="N", help="rounds, of which medians are taken (9)"
    )
    parser.add_argument(
        "--patience", type=float, default=1.0, metavar="SECONDS",
        help="time of a library for one work, after which it takes no more turns (1); where one call takes 30 times as "
        "long it is left out",
    )  # fmt: skip
    parser.add_argument(
        "--peak", action="append", default=[], metavar="TYPE=TFLOPS", type=_peak,
        help="the device's peak for products of a type, such as float32=67 (else that of the fastest library)",
    )  # fmt: skip
    parser.add_argument(
        "--growth", action="store_true",
        help="time against size, from 1 element to the largest arrays; --only then takes beginnings of curves' names",
    )  # fmt: skip
    parser.add_argument(
        "--draw", type=Path, metavar="FILE", help="only draw the picture of a report, where matplotlib is"
    )
    parser.add_argument("--device", help="the vkarray device: index, part of the name, or UUID")
    parser.add_argument(
        "--output", type=values.written, default=Path("vkarray-bench.json"), metavar="FILE",
        help="where the figures go (vkarray-bench.json); the table beside it as .md, a picture where matplotlib is installed",
    )  # fmt: skip


def _peak(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    with suppress(ValueError):
        if float(value) > 0:
            return name, float(value)
    raise argparse.ArgumentTypeError(f"expected TYPE=TFLOPS above 0 such as float32=67, got {text}")


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status: 1 when a result of vkarray is wrong."""
    if arguments.draw is not None:
        lacking = chart.picture(arguments.draw)
        if lacking is not None:
            print(f"vkarray bench: no picture of {arguments.draw}: {lacking}.")
        return int(lacking is not None)
    device = vx.asarray(0.0, device=arguments.device).device
    kind = device.limits.kind
    elements, matrix = SIZES[kind]
    sizes = Sizes(arguments.size or elements, arguments.matrix or matrix, kind == "cpu")
    chosen = {} if arguments.growth else _chosen(arguments.only, sizes)
    if chosen is None:
        return 2
    libraries = installed(device, None if arguments.peers is None else arguments.peers.split(","))
    if arguments.growth or "programs" in chosen:
        libraries += compilers.forms(libraries)
    versions = list(dict.fromkeys(library.version for library in libraries))
    print(f"vkarray {vx.__version__} on {device.name} ({device.description.driver})")
    print("beside " + (", ".join(versions[1:]) or "no other library"), flush=True)
    facts: dict[str, Any] = {
        "date": time.strftime("%Y-%m-%d"),
        "device": device.name,
        "driver": device.description.driver,
        "api_version": device.description.api_version,
        "kind": kind,
        "processors": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,  # of other programs
        "python": platform.python_version(),
        "names": [library.name for library in libraries],
        "libraries": versions,
        "elements": sizes.elements,
        "matrix": sizes.matrix,
    }
    if arguments.growth:
        return growth.run(libraries, facts, arguments)
    measurement = Measurement(libraries, arguments.rounds, arguments.patience)
    started = time.perf_counter()
    rows: list[dict[str, Any]] = []
    for chapter, works in chosen.items():
        print(f"\n{chapter} (after {time.perf_counter() - started:.0f} s)")
        rows += _rows(chapter, works, measurement, kind)
        facts["seconds"] = round(time.perf_counter() - started, 1)
        finished = _finished(facts, rows, measurement, dict(arguments.peak))
        _write(arguments.output, finished)  # after every chapter, for whoever has to stop
    _tell(arguments.output, finished)
    return int(measurement.wrong)


def _chosen(only: str | None, sizes: Sizes) -> dict[str, list[Any]] | None:
    """The works to do by chapter: those of the chapters named, those named, and those whose names begin with what is no name."""
    everything: dict[str, list[Any]] = {name: list(works(sizes)) for name, works in CHAPTERS.items()}
    everything[START] = list(start.GOALS)
    if only is None:
        return everything

    def name_of(work: Any) -> str:
        return work if isinstance(work, str) else work.name

    names = [name_of(work) for works in everything.values() for work in works]
    wanted = listed(only, names)

    def asked(chapter: str, name: str) -> bool:
        return any(word in (name, chapter) or (word not in names and name.startswith(word)) for word in wanted)

    chosen = {
        chapter: [work for work in works if asked(chapter, name_of(work))] for chapter, works in everything.items()
    }
    unknown = [word for word in wanted if word not in everything and not any(name.startswith(word) for name in names)]
    if unknown:
        print(
            f"vkarray bench: unknown work {', '.join(unknown)}; chapters are {', '.join(everything)}; works {', '.join(names)}."
        )
        return None
    return {chapter: works for chapter, works in chosen.items() if works}


def _rows(chapter: str, works: list[Any], measurement: Measurement, kind: str) -> Iterator[dict[str, Any]]:
    """Measure a chapter; print each work when it is done."""
    if chapter == START:
        results = start.measure(chapter, measurement, works)
        for name in works:
            text, goals = start.GOALS[name]
            yield _row(name, text, goals, None, [result for result in results if result.work == name], kind)
        return
    for work in works:
        results = measurement.measure(chapter, work)
        if results:
            yield _row(work.name, work.text, work.goals, work.bound, results, kind)


def _row(
    name: str, text: str, goals: tuple[Goal, ...], bound: str | None, results: list[Result], kind: str
) -> dict[str, Any]:
    by_name = {result.library: result for result in results}
    mine = by_name.get("vkarray")
    lines = [line for goal in goals if (line := report.check_goal(goal, by_name, kind)) is not None]
    row = {
        "chapter": results[0].chapter, "work": name, "text": text, "bound": bound, "unit": results[0].unit,
        "mine": None if mine is None else report.best(mine),
        "ratios": {} if mine is None else {r.library: report.ratio(mine, r) for r in results if r is not mine},
        "goals": lines, "results": results, "share": None,
    }  # fmt: skip
    _print(row)
    return row


def _print(row: dict[str, Any]) -> None:
    print(f"\n  {row['work']}: {row['text']}")
    for result in row["results"]:
        device = f"{result.device:>12,.4g}" if result.device is not None else f"{'-':>12}"
        ratio = f"{row['ratios'][result.library]:>10.2f} x" if result.library in row["ratios"] else ""
        print(f"    {result.library:<14}{result.host:>12,.4g}{device}  {result.unit:<8}{ratio}")
    for line in row["goals"]:
        print(f"    goal {line.goal}: {'met' if line.met else 'MISSED'} with {line.measured:.3g}")
    print(end="", flush=True)


def _finished(
    facts: dict[str, Any], rows: list[dict[str, Any]], measurement: Measurement, peaks: dict[str, float]
) -> dict[str, Any]:
    """The report with shares of the limits, in types that JSON has."""
    limits = report.limits(rows, peaks)
    done = [
        row
        | {
            "share": row["mine"] / limits[row["bound"]] if row["mine"] is not None and row["bound"] in limits else None,
            "goals": [asdict(line) for line in row["goals"]],
            "results": [asdict(result) for result in row["results"]],
        }
        for row in rows
    ]
    summary = report.summary(rows, MEDIANS)
    return {**facts, "limits": limits, "rows": done, "summary": summary, "left_out": measurement.left_out}


def _write(path: Path, finished: dict[str, Any]) -> None:
    """The figures as JSON, and the table beside them."""
    path.write_text(json.dumps(finished, indent=1) + "\n", encoding="utf-8")
    table = f"{report.heading(finished)}\n\n{report.table(finished)}\n\n{report.summary_table(finished)}\n"
    path.with_suffix(".md").write_text(table, encoding="utf-8")


def _tell(path: Path, finished: dict[str, Any]) -> None:
    """Print the table, and draw the picture where matplotlib is installed."""
    print(f"\n{report.table(finished)}\n\n{report.summary_table(finished)}\n\nWrote {path}, {path.with_suffix('.md')}")
    chart.picture(path)
