"""Run the suite as devices of other kinds: under each profile of `vkarray/_vk/profiles.py`, one after another.

    ./dev profiles                        under all profiles of real devices, the first case of each test but those of slow files
    ./dev profiles v3d phone --all        under these two, the whole suite
    ./dev profiles rdna3,gpu              under one that is joined with another: kernels are chosen from the tables for GPUs
    ./dev profiles --quick --write        the first case of every sixth test; puts the rows into docs/drivers.md

Prints which tests failed, and ends with a table. The exit status is 1 when a test failed.
"""

from __future__ import annotations

import argparse
import datetime
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

from drivers import outcome_of

import vkarray as vx
from vkarray._vk.profiles import PROFILES

PROJECT = Path(__file__).parent.parent
PAGE = PROJECT / "docs" / "drivers.md"
BEGIN, END = "<!-- the table of profiles begins -->\n", "<!-- the table of profiles ends -->\n"
COLUMNS = ("Profile", "Tests", "Driver", "Date", "Commit", "Passed", "Failed", "Skipped", "Seconds")
RULE = "| --- | --- | --- | --- | --- | ---: | ---: | ---: | ---: |"
SELECTIONS = {"first": "first cases", "quick": "every sixth first case", "all": "all"}
REAL = [name for name, profile in PROFILES.items() if profile.subgroup]


def run(profile: str, arguments: list[str], folder: Path) -> tuple[Counter[str], list[str], float]:
    """How many tests passed, failed and were skipped under a profile, which failed, and how many seconds they took."""
    report = folder / f"{profile.replace(',', '-and-')}.xml"
    report.unlink(missing_ok=True)
    began = time.monotonic()
    command = [sys.executable, "-m", "pytest", "-q", f"--junit-xml={report}", "--ignore=tests/pytorch", *arguments]
    with report.with_suffix(".txt").open("w", encoding="utf-8") as log:
        environment = {**os.environ, "VKARRAY_PROFILE": profile}
        subprocess.run(command, cwd=PROJECT, env=environment, stdout=log, stderr=log, check=False)
    seconds = time.monotonic() - began
    if not report.exists():
        raise SystemExit(f"profiles: the tests under {profile} ended without a report; {log.name} tells why.")
    cases = list(ElementTree.parse(report).iter("testcase"))
    failed = [f"{case.get('classname')}::{case.get('name')}" for case in cases if outcome_of(case) == "failed"]
    return Counter(outcome_of(case) for case in cases), failed, seconds


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def table(rows: list[list[str]]) -> str:
    """The rows in Markdown."""
    return "\n".join([f"| {' | '.join(COLUMNS)} |", RULE, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def write(rows: list[list[str]]) -> None:
    """Put rows into the page, in place of those of the same profile and tests."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    inside, _, after = rest.partition(END)
    known = {tuple(row[:2]): row for row in map(cells, inside.strip().splitlines()[2:])}
    known |= {tuple(row[:2]): row for row in rows}
    places = {name: place for place, name in enumerate(PROFILES)}
    order = sorted(known.values(), key=lambda row: (places[row[0].split(",")[0]], row[0]))
    PAGE.write_text(f"{before}{BEGIN}\n{table(order)}\n{END}{after}", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev profiles", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"profiles (default: {', '.join(REAL)})")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--quick", action="store_const", dest="tests", const="quick", help="every sixth of the first cases"
    )
    which.add_argument(
        "--all", action="store_const", dest="tests", const="all", help="the whole suite but the bridge's tests"
    )
    parser.add_argument("--processes", type=int, default=2, help="at a time (default 2)")
    parser.add_argument("--write", action="store_true", help="put the rows into docs/drivers.md")
    given = parser.parse_args()
    if unknown := {one for name in given.names for one in name.split(",")} - set(PROFILES):
        parser.error(f"unknown profile {', '.join(sorted(unknown))}; known are {', '.join(PROFILES)}")
    tests = given.tests or "first"
    arguments = [f"--{tests}"] * (tests != "all") + [f"--numprocesses={given.processes}", "--dist=worksteal"]
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    driver, date = vx.asarray(0).device.description.driver, f"{datetime.date.today():%Y-%m-%d}"
    folder = PROJECT / "build" / "profiles"
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in given.names or REAL:
        counts, failed, seconds = run(name, arguments, folder)
        for test in failed:
            print(f"{name}: failed {test}", flush=True)
        numbers = [str(counts[outcome]) for outcome in ("passed", "failed", "skipped")]
        rows.append([name, SELECTIONS[tests], driver, date, commit.stdout.strip() or "-", *numbers, f"{seconds:.0f}"])
        if given.write:
            write(rows[-1:])
    print(table(rows), end="")
    return int(any(int(row[6]) for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
