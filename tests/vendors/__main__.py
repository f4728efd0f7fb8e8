"""Compile vkarray's kernels with the drivers of many chips, without these chips, and write docs/vendors.md.

    ./dev vendors                                    all chips, all kernels: hours
    ./dev vendors --sample 200                       of the catalogue 200 kernels for each chip
    ./dev vendors --chips rdna3,gen9 --sample 0      the kernels of ordinary calls alone
    ./dev vendors --chips turing,rdna3 --instructions    how many instructions functions of float32 and programs take

A second run goes on where the first ended: pipelines that a driver made before, of the same SPIR-V and constants, are not made
again. The exit status is 1 when a kernel failed, or one of an ordinary call was refused.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import random
import select
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import page
from chips import CHIPS, Chip, environment
from measures import instructions, measured, summary
from record import keep
from system import System

from vkarray._vk import ready

PROJECT = Path(__file__).parents[2]
GIVEN_UP = 120.0  # seconds after which a compiler is ended
WORKGROUP = 256

# Label, digest of the SPIR-V, specialization, the size of subgroups that is asked for or 0, call.
Item = tuple[str, str, list[list[int]], int, str]


def identity(item: Item) -> str:
    """What tells a pipeline from others."""
    return f"{item[1]} {json.dumps(item[2])}" + (f" subgroups of {item[3]}" if item[3] else "")


class Worker:
    """A process in the system that has one chip, and the pipeline it is at."""

    def __init__(self, system: System, chip: Chip, log: Any) -> None:
        command = system.command("python3", "/project/tests/vendors/driver.py", settings=environment(chip))
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=log, text=True, bufsize=1)
        assert self.process.stdin
        assert self.process.stdout
        self.give, self.answers = self.process.stdin, self.process.stdout
        line = self.answers.readline()
        if not line:
            raise SystemExit(f"vendors: no device for {chip.family}; what the driver said is in {log.name}.")
        self.device = json.loads(line)

    def answer(self, item: Item) -> dict[str, Any]:
        """How a pipeline went; where the process dies of it, or is ended, it cannot be asked again."""
        begin = time.monotonic()
        print(json.dumps(item[:4]), file=self.give)
        ready, _, _ = select.select([self.answers], [], [], GIVEN_UP)
        line = self.answers.readline() if ready else ""
        if line:
            return json.loads(line)
        self.end()
        seconds = time.monotonic() - begin
        outcome = "crashed" if ready else "given up"
        return {"outcome": outcome, "why": f"after {seconds:.0f} s", "seconds": [seconds, seconds]}

    def end(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        self.give.close()
        self.answers.close()


class Bench:
    """One chip: what its driver has told so far, and the driver."""

    def __init__(self, system: System, name: str) -> None:
        self.system, self.chip, self.folder = system, CHIPS[name], system.folder / name
        self.folder.mkdir(exist_ok=True)
        self.known = self.folder / "compiled.jsonl"
        self.answers: dict[str, dict[str, Any]] = {}
        if self.known.exists():
            for line in self.known.read_text().splitlines():
                key, answer = json.loads(line)
                self.answers[key] = answer
        self.log = (self.folder / "log").open("a")
        self.worker = Worker(system, self.chip, self.log)
        self.device = self.worker.device
        (self.folder / "device.json").write_text(json.dumps(self.device, indent=1))

    def key(self, item: Item) -> str:
        """What tells a pipeline of the chip from others: with it, what makes modules ready for a driver."""
        return f"{identity(item)} {ready.rules()}"

    def compile(self, items: Iterable[Item], until: float) -> list[Item]:
        """Make pipelines until a time; those that are made."""
        done = []
        with self.known.open("a", buffering=1) as file:
            for item in items:
                key = self.key(item)
                if key not in self.answers:
                    if time.monotonic() > until:
                        break
                    if self.worker.process.poll() is not None:
                        self.worker = Worker(self.system, self.chip, self.log)
                    answer = self.answers[key] = self.worker.answer(item)
                    print(json.dumps([key, answer]), file=file)
                done.append(item)
        return done

    def summary(self, items: list[Item], count: int) -> dict[str, Any]:
        """The numbers of these pipelines, of so many."""
        return {**summary([measured(item, self.answers[self.key(item)]) for item in items]), "all": count}

    def close(self) -> None:
        self.worker.end()
        self.log.close()


def recorded(bench: Bench, calls: str) -> tuple[list[Item], dict[str, Any]]:
    """The kernels that calls take, in their order, and how many calls there were, and which were refused or raised."""
    out = bench.folder / "calls.jsonl"
    script = [sys.executable, str(Path(__file__).with_name("record.py"))]
    options = {**os.environ, "LP_NUM_THREADS": "0", "PYTHONPATH": str(PROJECT), "VKARRAY_DEVICE": "llvmpipe"}
    files = [str(bench.folder / "device.json"), str(out), str(bench.system.spirv), calls]
    subprocess.run([*script, *files], check=True, env=options, stdout=bench.log, stderr=bench.log)
    items: list[Item] = []
    told: dict[str, Any] = {"count": 0, "refused": [], "raised": []}
    for line in out.read_text().splitlines():
        one = json.loads(line)
        if isinstance(one, list):
            items.append((one[0], one[1], one[2], one[3], one[4]))
        elif "calls" in one:
            told["count"] = one["calls"]
        else:
            kind = "refused" if "refused" in one else "raised"
            told[kind].append([one["call"], one[kind]])
    return items, told


def ordinary(bench: Bench) -> tuple[list[Item], dict[str, Any]]:
    """What ordinary calls take."""
    items, told = recorded(bench, "FAMILIES")
    random.Random(0).shuffle(items)  # so that what a limited time leaves is a fair part
    return items, told


def count_instructions(bench: Bench, name: str) -> bool:
    """Print the instructions of each call's kernels; whether all were made."""
    items, _ = recorded(bench, "COUNTED")
    for item in bench.compile(items, float("inf")):
        answer = bench.answers[bench.key(item)]
        packs = dict(map(tuple, item[2])).get(1, 1)
        print(f"{name} | {item[4]} | {packs} | {instructions(answer)} | {item[0]}")
    return all(bench.answers[bench.key(item)]["outcome"] == "compiled" for item in items)


def catalogue(bench: Bench, sample: int | None) -> tuple[Iterator[Item], int]:
    """The kernels that the features of the device choose, in an order that is random and always the same; and how many."""
    from vkarray.command.catalogue import FAMILIES, Profile
    from vkarray.shaders.source import spirv

    profile = Profile(frozenset(bench.device["features"]))
    shaders = {shader for family in FAMILIES for shader in family(profile)}
    ordered = sorted(shaders, key=lambda shader: (shader.label, shader.defines))
    random.Random(0).shuffle(ordered)
    limits = bench.device["limits"]
    largest = min(limits["max_workgroup_invocations"], limits["max_workgroup_size"][0])
    size = min(WORKGROUP, 1 << largest.bit_length() - 1)
    items = ((one.label, keep(bench.system.spirv, spirv(one)), [[0, size]], 0, "") for one in ordered[:sample])
    return items, len(ordered)


def run(bench: Bench, name: str, sample: int | None, seconds: float) -> bool:
    """Compile for a chip and write the page; whether all is well."""
    items, told = ordinary(bench)
    until = time.monotonic() + seconds
    done = bench.compile(items, until)
    date = f"{datetime.date.today():%Y-%m-%d}"
    record: dict[str, Any] = {"driver": bench.device["driver"], "date": date, "calls": told}
    record["ordinary"] = found = bench.summary(done, len(items))
    bad = bool(found["failures"] or found["refused"] or told["refused"])
    if sample != 0:
        chosen, count = catalogue(bench, sample)
        record["catalogue"] = bench.summary(bench.compile(chosen, until), count)
        bad |= bool(record["catalogue"]["failures"])
    page.write(name, record)
    for part in ("ordinary", "catalogue"):
        if part in record:
            numbers = {key: value for key, value in record[part].items() if not isinstance(value, list)}
            print(f"{name}, {part}: {numbers}", file=sys.stderr)
    return not bad


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="./dev vendors", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parser.add_argument("--folder", type=Path, default=cache / "vkarray-vendors", help="where the system is set up")
    parser.add_argument("--chips", default=",".join(CHIPS), help=f"some of {','.join(CHIPS)}")
    parser.add_argument(
        "--sample", type=int, metavar="N", help="of the catalogue only N kernels for each chip; 0: none"
    )
    parser.add_argument(
        "--instructions",
        action="store_true",
        help="print how many instructions kernels of functions and programs have, and write no page",
    )
    parser.add_argument("--seconds", type=float, default=float("inf"), help="compile for a chip no longer than this")
    arguments = parser.parse_args()
    names = arguments.chips.split(",")
    if unknown := set(names) - set(CHIPS):
        parser.error(f"no chip {', '.join(sorted(unknown))}; there are {', '.join(CHIPS)}")
    system = System(arguments.folder.resolve(), PROJECT)
    system.set_up()
    well = True
    for name in names:
        bench = Bench(system, name)
        try:
            counted = arguments.instructions
            well &= (
                count_instructions(bench, name) if counted else run(bench, name, arguments.sample, arguments.seconds)
            )
        finally:
            bench.close()
    return int(not well)


if __name__ == "__main__":
    raise SystemExit(main())
