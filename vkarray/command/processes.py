"""Processes that check entries and may crash or hang: numbers and names in lines of JSON, in and out."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any


class Worker:
    """A process that checks entries, started again when it has crashed or hangs.

    It runs a module that calls `answer`. `fields` are the names that its records have for what they are about.
    """

    def __init__(self, module: str, fields: tuple[str, ...], timeout: float) -> None:
        self.module, self.fields, self.timeout = module, fields, timeout
        self.start()

    def start(self) -> None:
        """Start the process and wait for the names of the entries."""
        command = [sys.executable, "-m", self.module]
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

    def check(self, entry: int, parts: list[str], **options: Any) -> list[dict[str, Any]]:
        """The records of the parts of an entry. A part that crashes or hangs has a record of that, and the next go on."""
        records: list[dict[str, Any]] = []
        left = list(parts)
        while left:
            assert self.process.stdin is not None
            self.process.stdin.write(json.dumps({"entry": entry, "parts": left, **options}) + "\n")
            self.process.stdin.flush()
            about: dict[str, Any] = dict.fromkeys(self.fields, "?")
            try:
                while (answered := self.receive(self.timeout)) is not None:
                    if "about" in answered:
                        about = answered["about"]
                    else:
                        records.append(answered)
                return records
            except (EOFError, queue.Empty) as error:
                status = "crash" if isinstance(error, EOFError) else "timeout"
                self.stop()
                message = str(error) or f"no answer after {self.timeout} s"
                records.append({**about, "samples": 0, "status": status, "message": message, "fallbacks": []})
                self.start()
                begun = next((part for part in left if part in about.values()), None)
                left = left[left.index(begun) + 1 :] if begun is not None else []
        return records

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()


def checked_by(workers: list[Worker], numbers: list[int], check: Callable[[Worker, int], None]) -> None:
    """Let some workers take entries in turns until none is left, and end them."""
    wanted: queue.Queue[int] = queue.Queue()
    for number in numbers:
        wanted.put(number)

    def work(worker: Worker) -> None:
        while True:
            try:
                number = wanted.get_nowait()
            except queue.Empty:
                worker.stop()
                return
            check(worker, number)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def answer(prepare: Callable[[], tuple[list[str], Callable[[dict[str, Any]], Iterator[dict[str, Any]]]]]) -> None:
    """The other side: tell the names of the entries, then answer requests until there is no more to read.

    `prepare` returns the names and a function of a request, which gives records, and `{"about": {...}}` before what may crash.
    """
    # What is printed by others must not come between the lines of JSON.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(what: Any) -> None:
        print(json.dumps(what), file=out, flush=True)

    names, respond = prepare()
    say(names)
    for line in sys.stdin:
        for record in respond(json.loads(line)):
            say(record)
        say(None)
