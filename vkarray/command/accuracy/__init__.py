"""Measure the largest error of every elementwise function on the device at hand, against independent true values.

Real functions: in ULP, units in the last place of the true value. Complex operands: in eps of the true value's modulus.
Samples are taken of all binades, subnormals, huge arguments, special values, neighbours of critical points and random
bits; 16-bit types are measured on all their values. The exit status is 1 when a function exceeds its bound: 0.5 for the
correctly rounded ones, 1 ULP for the others, 4 eps for complex operands, and for 16-bit types 0.5 and what an
error of 1 ULP in float32 can add.

Functions of one float32 argument can be measured on all 2^32 of them: against CuPy's float64 functions where CuPy has a
CUDA device, else NumPy's; either way the largest errors are computed again in arbitrary precision. Such a run also
gives the digest of all results of each function, and --compare tells whether another device gave the same bits.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ... import _vk
from ...core.array import is_supported
from ...core.dtypes import CATEGORIES, DTYPES, DType, float32
from ...kernels.rows import ROWS, Row
from .. import values

if TYPE_CHECKING:
    from .measure import Measurement

_TYPES = [name for name, dtype in DTYPES.items() if dtype in CATEGORIES["floating-point"]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("functions", nargs="*", metavar="FUNCTION", help="measure these alone (default: all)")
    parser.add_argument("--dtype", action="append", choices=_TYPES, help="measure this type alone; may be repeated")
    parser.add_argument("--samples", type=values.count, default=100_000, metavar="N",
                        help="operands per function and type, roughly (default: 100000)")  # fmt: skip
    parser.add_argument("--verify", type=int, default=50, metavar="N",
                        help="random operands whose true value is computed with mpmath besides those with "
                        "the largest errors (default: 50)")  # fmt: skip
    parser.add_argument("--all-float32", action="store_true",
                        help="measure functions of one float32 argument on all 2^32 of them (seconds per function with "
                        "CuPy on a CUDA device, else minutes), and digest the results")  # fmt: skip
    parser.add_argument("--digests", action="store_true",
                        help="digest the results of these functions for all 2^32 arguments, and measure nothing")  # fmt: skip
    parser.add_argument("--compare", type=Path, metavar="FILE",
                        help="compare the digests with those that --json wrote to FILE on another device; the exit "
                        "status is 1 when one differs")  # fmt: skip
    parser.add_argument("--peers", action="store_true",
                        help="measure NumPy's float32 functions, CuPy's and the built-in ones of GLSL in the same way")  # fmt: skip
    parser.add_argument("--json", type=values.written, metavar="FILE",
                        help="write everything measured to FILE, anew "
                        "after each function")  # fmt: skip
    parser.add_argument(
        "--markdown", type=values.written, metavar="FILE", help="write a table for the documentation to FILE"
    )


def run(arguments: argparse.Namespace) -> int:
    """Measure and print. Returns 1 when a bound is exceeded, 2 for an unknown function."""
    from . import exact, measure, report

    rows = measurable(arguments.functions)
    if isinstance(rows, str):
        print(f"vkarray accuracy: {rows}", file=sys.stderr)
        return 2
    exact.mpmath()
    about = report.header(shlex.join(["vkarray", "accuracy", *_given(arguments)]))
    if not measure.keeps_subnormals(float32):
        about["note"] = (
            "the device's own float32 arithmetic turns subnormal numbers into zeros; what hangs on it is measured without them"
        )
    for name, value in about.items():
        print(f"{name:<10}{value}")
    print(flush=True)
    earlier = report.digests_in(arguments.compare) if arguments.compare else None
    found = report.Found(about)
    for measurements, digests in _measured(rows, arguments):
        found.add(measurements, digests)
        for measured in measurements:
            print(report.line(measured), flush=True)
        for name, digest in digests.items():
            print(report.digest_line(name, digest, earlier), flush=True)
        found.write(arguments.json, arguments.markdown)
    own = [measured for measured in found.measurements if measured.library == "vkarray"]
    exceeded = [measured for measured in own if not measured.within]
    print(f"\n{len(own)} measured, {len(exceeded)} exceed their bound"
          + "".join(f"\n  {measured.function} of {measured.dtype}" for measured in exceeded))  # fmt: skip
    if earlier is None:
        return 1 if exceeded else 0
    differing = report.differing(found.digests, earlier)
    common = len(found.digests.keys() & earlier.keys())
    print(f"{common} digests compared with {arguments.compare}, {len(differing)} differ"
          + "".join(f"\n  {name}" for name in differing))  # fmt: skip
    return 1 if exceeded or differing or not common else 0


def _given(arguments: argparse.Namespace) -> Iterator[str]:
    """The command line as it would be written, without the files it writes."""
    yield from arguments.functions
    for name in arguments.dtype or ():
        yield from ("--dtype", name)
    yield from ("--samples", str(arguments.samples))
    for option in ("all_float32", "digests", "peers"):
        if getattr(arguments, option):
            yield f"--{option.replace('_', '-')}"


def measurable(names: list[str]) -> list[Row] | str:
    """The rows of these names, or of all functions that take floating-point numbers; a sentence for an unknown name."""
    rows = {name: row for name, row in ROWS.items() if any(dtype.name in _TYPES for dtype in row.accepted())}
    unknown = [name for name in names if name not in rows]
    if unknown:
        return f"no elementwise function of floating-point numbers is called {', '.join(unknown)}. There are: {', '.join(rows)}."
    return [rows[name] for name in names] if names else list(rows.values())


def types_of(row: Row, names: list[str] | None) -> list[DType]:
    """The floating-point types that a row takes and the device has, limited to those asked for."""
    device = _vk.open_device()
    return [
        dtype for dtype in row.accepted()
        if dtype.name in (names or _TYPES) and is_supported(dtype, device)
    ]  # fmt: skip


def _measured(rows: list[Row], arguments: argparse.Namespace) -> Iterator[tuple[list[Measurement], dict[str, str]]]:
    """The measurements and digests of each function and type."""
    from . import exhaustive, measure, peers

    tasks = [(row, dtype) for row in rows for dtype in types_of(row, arguments.dtype)]
    if arguments.digests:
        tasks = [(row, dtype) for row, dtype in tasks if dtype is float32 and exhaustive.has(row)]
    for number, (row, dtype) in enumerate(tasks, 1):
        show = _progress(f"{number}/{len(tasks)} {row.name} {dtype.name}")
        show(0.0)
        others = peers.of(row, dtype) if arguments.peers else []
        measurements: list[Measurement] = []
        digests: dict[str, str] = {}
        if arguments.digests:
            digests[row.name] = exhaustive.digest_alone(row, show)
        elif arguments.all_float32 and dtype is float32 and exhaustive.has(row):
            measurements, digests[row.name] = exhaustive.errors(row, others, show)
        else:
            taken = arguments.samples, arguments.verify
            measurements = [measure.sampled(row, dtype, *taken)]
            measurements += [measure.sampled_peer(peer.name, peer, row, dtype, *taken) for peer in others]
        _clear_progress()
        yield measurements, digests


def _progress(label: str) -> Callable[[float], None]:
    """Shows how far a measurement is: on a terminal in place, else a line at its start and per quarter of a long one."""
    shown = -1

    def show(part: float) -> None:
        nonlocal shown
        if sys.stderr.isatty():
            print(f"\r\033[K{label} {part:.1%}", end="", file=sys.stderr, flush=True)
        elif int(part * 4) > shown and part < 1:
            shown = int(part * 4)
            print(f"{label}{f' {part:.0%}' if shown else ''}", file=sys.stderr, flush=True)

    return show


def _clear_progress() -> None:
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
