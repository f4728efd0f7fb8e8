"""Run PyTorch's databases of operators (OpInfo) and optimisers on the device and compare with the CPU.

Every entry is checked forward for float32, float16, int64 and bool and backward for float32, and what its results look like
("traced") for float32, complex64 and int64, in a process of its own that may crash. Needs PyTorch, and pytest and expecttest,
which PyTorch's tests import.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import subprocess
import time
from pathlib import Path
from typing import Any

from ... import __version__
from ...errors import VkArrayError
from .. import processes, reports, values
from . import layers, report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("-k", metavar="TEXT", default="", help="only entries whose name contains one of these words")
    parser.add_argument("--exact", action="store_true", help="only entries whose name is one of the words of -k")
    parser.add_argument("--layers", action="store_true", help="only what common layers and their training are made of")
    parser.add_argument(
        "--samples",
        type=values.count,
        default=4,
        help="samples of each entry, type and direction (default 4; 1000: all)",
    )
    parser.add_argument("--strict", action="store_true", help="what would run on the CPU fails")
    parser.add_argument(
        "--dtypes",
        nargs="+",
        default=["float32", "float16", "int64", "bool", "complex64"],
        help="types (default: all five)",
    )
    parser.add_argument("--jobs", type=values.count, default=1, help="processes (default 1)")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one type of an entry (default 120)")
    parser.add_argument("--json", type=values.written, metavar="FILE", help="write the records")
    parser.add_argument("--read", type=Path, metavar="FILE", help="take the records of a file instead of running")
    parser.add_argument(
        "--markdown", type=values.written, metavar="FILE", help="write the table of operators, docs/torch-ops.md"
    )
    parser.add_argument(
        "--beside", type=Path, nargs="*", default=[], metavar="FILE", help="records of other versions, for counts there"
    )
    parser.add_argument("--quiet", action="store_true", help="print the summary alone")


def run(arguments: argparse.Namespace) -> int:
    """Check the entries chosen, print the failures and a summary; 1 when an entry failed."""
    if arguments.read:
        made = _earlier(arguments.read)
    else:
        made = report.Run(_about(arguments), _records(arguments))
    if arguments.json:
        arguments.json.write_text(json.dumps(made._asdict(), indent=0), encoding="utf-8")
    if arguments.markdown:
        from ...torch.dispatch.table import TABLE

        others = [_earlier(file) for file in arguments.beside]
        arguments.markdown.write_text(report.markdown([made, *others], TABLE), encoding="utf-8")
    print(report.summary(made.entries))
    return int(any(report.failed(each) for each in made.entries.values()))


def _earlier(file: Path) -> report.Run:
    with reports.opened(file) as found:
        run = report.Run(**found)
        report.summary(run.entries)  # reads all of them
        return run


def _about(arguments: argparse.Namespace) -> dict[str, str]:
    """What is checked: versions, commit, device, date, and how many samples."""
    missing = [name for name in ("torch", "pytest", "expecttest") if importlib.util.find_spec(name) is None]
    if missing:
        raise VkArrayError(f"not installed: {', '.join(missing)}. Install them: pip install 'vkarray[pytorch]'.")
    import torch

    from ...torch import device

    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--exclude=*"]
    commit = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return {
        "PyTorch": torch.__version__, "vkarray": __version__, "commit": commit or "unknown",
        "device": device.device_name(), "date": f"{datetime.date.today()}", "samples": str(arguments.samples),
    }  # fmt: skip


def _records(arguments: argparse.Namespace) -> dict[str, list[dict[str, Any]]]:
    start = (f"{__name__}.worker", ("dtype", "direction"), arguments.timeout)
    workers = [processes.Worker(*start) for _ in range(arguments.jobs)]
    words = layers.NAMES if arguments.layers else arguments.k.split()
    exact = arguments.exact or arguments.layers
    wanted = [
        number
        for number, name in enumerate(workers[0].names)
        if not words or any(word == name if exact else word in name for word in words)
    ]
    records: dict[str, list[dict[str, Any]]] = {}

    def check(worker: processes.Worker, number: int) -> None:
        began = time.perf_counter()
        name = worker.names[number]
        options = {"samples": arguments.samples, "strict": arguments.strict}
        records[name] = worker.check(number, arguments.dtypes, **options)
        if not arguments.quiet:
            print(report.line(name, records[name], time.perf_counter() - began), flush=True)

    processes.checked_by(workers, wanted, check)
    return dict(sorted(records.items()))
