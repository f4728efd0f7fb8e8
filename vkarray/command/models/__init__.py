"""Run models of packages that build on PyTorch on the device and compare with the CPU.

They are small and have random weights. Compared are outputs, the loss, gradients and a step of AdamW, and modes of `generate`, in
float32, each model in a process that may crash. A package that is not installed is left out, and named. Needs PyTorch.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import importlib.util
import json
import subprocess
import time
from pathlib import Path
from typing import Any

from ... import __version__
from ...errors import VkArrayError
from .. import processes, reports, values
from . import report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "--only", metavar="WORD", nargs="+", default=[], help="only models whose package and name contain one of these"
    )
    parser.add_argument("--jobs", type=values.count, default=1, help="processes (default 1)")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one part of a model (default 300)")
    parser.add_argument("--json", type=values.written, metavar="FILE", help="write the records")
    parser.add_argument(
        "--read",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="take the records of files, newest last, instead of running",
    )
    parser.add_argument("--write", type=values.written, metavar="FILE", help="write the page, docs/torch-models.md")


def run(arguments: argparse.Namespace) -> int:
    """Check the models chosen, print what was found and a summary; 1 when a model failed."""
    if arguments.read:
        made = _together([_earlier(file) for file in arguments.read])
    else:
        made = _made(arguments)
    if arguments.json:
        arguments.json.write_text(json.dumps(made._asdict(), indent=0), encoding="utf-8")
    if arguments.write:
        arguments.write.write_text(report.markdown(made), encoding="utf-8")
    print(report.summary(made))
    return int(any(report.failed(one["records"]) for one in made.entries))


def _earlier(file: Path) -> report.Run:
    with reports.opened(file) as found:
        run = report.Run(**found)
        report.summary(run)  # reads all of them
        return run


def _together(runs: list[report.Run]) -> report.Run:
    """Runs as one, which has the newest records of each model that there still is, and the commits and dates of all."""
    from . import rows

    about = dict(runs[-1].about)
    for name in ("commit", "date"):
        about[name] = ", ".join(dict.fromkeys(run.about[name] for run in runs))
    entries = {(one["package"], one["name"]): one for run in runs for one in run.entries}
    order = [(package, row.name) for package in rows.PACKAGES for row in rows.of(package)]
    return report.Run(about, [entries[key] for key in order if key in entries])


def _made(arguments: argparse.Namespace) -> report.Run:
    if importlib.util.find_spec("torch") is None:
        raise VkArrayError("not installed: torch. Install it: pip install 'vkarray[torch]'.")
    from . import checks, rows

    known = rows.known()
    titles = [f"{package}: {row.name}" for package, row in known]
    words = [word.lower() for word in arguments.only]
    wanted = [
        number for number, title in enumerate(titles) if not words or any(word in title.lower() for word in words)
    ]
    entries: dict[int, dict[str, Any]] = {}

    def check(worker: processes.Worker, number: int) -> None:
        began = time.perf_counter()
        package, row = known[number]
        records = worker.check(number, checks.parts(row))
        entries[number] = {
            "package": package, "name": row.name, "kind": row.kind, "inputs": report.inputs(row.given()),
            "unstable": row.unstable, "draws": row.draws, "records": records,
        }  # fmt: skip
        print(report.line(titles[number], records, time.perf_counter() - began), flush=True)

    count = max(1, min(arguments.jobs, len(wanted)))
    workers = [processes.Worker(f"{__name__}.worker", ("part",), arguments.timeout) for _ in range(count)]
    processes.checked_by(workers, wanted, check)
    return report.Run(_about(rows.PACKAGES, rows.installed), [entries[number] for number in wanted])


def _about(packages: tuple[str, ...], installed: Any) -> dict[str, Any]:
    """What is checked: versions, commit, device, date, and the packages that are left out."""
    import torch

    from ...torch import device

    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--exclude=*"]
    commit = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return {
        "versions": {name: importlib.metadata.version(name) for name in packages if installed(name)},
        "left out": [name for name in packages if not installed(name)],
        "PyTorch": torch.__version__, "vkarray": __version__, "commit": commit or "unknown",
        "device": device.device_name(), "date": f"{datetime.date.today()}",
    }  # fmt: skip
