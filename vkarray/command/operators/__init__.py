"""Run PyTorch's databases of operators (OpInfo) and optimisers on the device and compare with the CPU.

Every entry is checked forward for float32, float16, int64 and bool and backward for float32, in a process of its own that may
crash. Needs PyTorch, and pytest and expecttest, which PyTorch's tests import.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from ... import __version__
from ...errors import VkArrayError
from .. import reports
from . import layers, report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("-k", metavar="TEXT", default="", help="only entries whose name contains one of these words")
    parser.add_argument("--exact", action="store_true", help="only entries whose name is one of the words of -k")
    parser.add_argument("--layers", action="store_true", help="only what common layers and their training are made of")
    parser.add_argument(
        "--samples", type=int, default=4, help="samples of each entry, type and direction (default 4; 1000: all)"
    )
    parser.add_argument("--strict", action="store_true", help="what would run on the CPU fails")
    parser.add_argument(
        "--dtypes", nargs="+", default=["float32", "float16", "int64", "bool"], help="types (default: all four)"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one type of an entry (default 120)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the records")
    parser.add_argument("--read", type=Path, metavar="FILE", help="take the records of a file instead of running")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table of operators, docs/torch-ops.md")
    parser.add_argument(
        "--beside", type=Path, nargs="*", default=[], metavar="FILE", help="records of other versions, for counts there"
    )
    parser.add_argument("--quiet", action="store_true", help="print the summary alone")


class Worker:
    """A process that checks entries, started again when it has crashed or hangs."""

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self.start()

    def start(self) -> None:
        """Start the process and wait for the names of the entries."""
        command = [sys.executable, "-m", "vkarray.command.operators.worker"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, args=(self.process, self.lines), daemon=True).start()
        self.names: list[str] = self.receive(600)

    @staticmethod
    def _read(process: Any, lines: queue.Queue[str]) -> None:
        for line in process.stdout:
            lines.put(line)
        lines.put("")

    def receive(self, timeout: float) -> Any:
        """The next answer. Raises EOFError when the process has ended, queue.Empty when it takes too long."""
        line = self.lines.get(timeout=timeout)
        if not line:
            raise EOFError(f"the process ended with status {self.process.wait()}")
        return json.loads(line)

    def check(self, entry: int, samples: int, dtypes: list[str], strict: bool) -> list[dict[str, Any]]:
        """The records of an entry; what a crash or a hang leaves unchecked is missing."""
        assert self.process.stdin is not None
        records: list[dict[str, Any]] = []
        left = list(dtypes)
        while left:
            request = {"entry": entry, "samples": samples, "dtypes": left, "strict": strict}
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            about = ["?", "?"]
            try:
                while (answer := self.receive(self.timeout)) is not None:
                    if "about" in answer:
                        about = answer["about"]
                    else:
                        records.append(answer)
                return records
            except (EOFError, queue.Empty) as error:
                status = "crash" if isinstance(error, EOFError) else "timeout"
                self.stop()
                message = str(error) or f"no answer after {self.timeout} s"
                records.append(
                    {"dtype": about[0], "direction": about[1], "samples": 0, "status": status, "message": message,
                     "fallbacks": []}
                )  # fmt: skip
                self.start()
                assert self.process.stdin is not None
                left = left[left.index(about[0]) + 1 :] if about[0] in left else []
        return records

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()


def run(arguments: argparse.Namespace) -> int:
    """Check the entries chosen, print the failures and a summary; 1 when an entry failed."""
    if arguments.read:
        made = _earlier(arguments.read)
    else:
        made = report.Run(_about(arguments), _records(arguments))
    if arguments.json:
        arguments.json.write_text(json.dumps(made._asdict(), indent=0), encoding="utf-8")
    if arguments.markdown:
        from ...torch.table import TABLE

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
    workers = [Worker(arguments.timeout) for _ in range(arguments.jobs)]
    words = layers.NAMES if arguments.layers else arguments.k.split()
    exact = arguments.exact or arguments.layers
    wanted: queue.Queue[int] = queue.Queue()
    for number, name in enumerate(workers[0].names):
        if not words or any(word == name if exact else word in name for word in words):
            wanted.put(number)
    records: dict[str, list[dict[str, Any]]] = {}

    def work(worker: Worker) -> None:
        while True:
            try:
                number = wanted.get_nowait()
            except queue.Empty:
                worker.stop()
                return
            began = time.perf_counter()
            name = worker.names[number]
            records[name] = worker.check(number, arguments.samples, arguments.dtypes, arguments.strict)
            if not arguments.quiet:
                print(report.line(name, records[name], time.perf_counter() - began), flush=True)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return dict(sorted(records.items()))
