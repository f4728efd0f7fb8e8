"""Run the array API standard's own test suite (array-api-tests) on vkarray, and write docs/conformance.md.

    ./dev conformance PATH [--max-examples 200] [--jobs 2]

PATH is a checkout of https://github.com/data-apis/array-api-tests with its submodule. The environment counts: VKARRAY_DEVICE
and VKARRAY_DISABLE as everywhere, ARRAY_API_TESTS_SKIP_DTYPES=float64,complex128 for a device without float64. Results of
other devices and settings stay in docs/conformance.json and in the page. The exit status is 1 when a test fails.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import vkarray as vx

DOCS = Path(__file__).parent.parent / "docs"
RECORD, PAGE = DOCS / "conformance.json", DOCS / "conformance.md"
COUNTED = ("passed", "failed", "error", "xfailed", "xpassed", "skipped")
HEAD = """# Conformance

What the standard's own test suite, [array-api-tests](https://github.com/data-apis/array-api-tests), says of vkarray, for
version {version} of the standard with its extensions `linalg` and `fft`. This page is written by

```console
$ ./dev conformance PATH-OF-THE-SUITE
```

The suite checks shapes, dtypes, special cases and, loosely, values; vkarray's own tests check the values (see
[Accuracy](accuracy.md)). Nothing is excluded: what the suite skips it skips by itself, and the reasons are listed.

Without float64 the suite can fail by its own draw, for any library: for `x_i.is_integer()`, a special case of `ceil`, `floor`,
`round` and `trunc`, it draws one Python integer (`integers_from_dtype`), puts it into a float32 array, and expects that very
integer back, which float32 need not hold. About one draw in five is such a one (12 of 60), so that a run often has a failure or
two of these; the tables are of runs with other draws.
"""


def settings() -> dict[str, str]:
    """What in the environment changes the result."""
    names = ("VKARRAY_DEFAULT_FLOAT", "VKARRAY_DISABLE", "ARRAY_API_TESTS_SKIP_DTYPES")
    return {name: os.environ[name] for name in names if os.environ.get(name)}


def run(suite: Path, max_examples: int, jobs: int, selection: list[str]) -> dict[str, Any]:
    """The suite's own report on the chapters, as pytest-json-report writes it."""
    environment = {"ARRAY_API_TESTS_MODULE": "vkarray", "ARRAY_API_TESTS_VERSION": vx.__array_api_version__}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        command = [
            sys.executable, "-m", "pytest", "array_api_tests", "-q", "-p", "no:cacheprovider", "--disable-deadline",
            f"--max-examples={max_examples}", f"--numprocesses={jobs}", "--json-report", f"--json-report-file={report}",
            *selection,
        ]  # fmt: skip
        subprocess.run(command, cwd=suite, env=os.environ | environment, check=False)
        if not report.exists():
            raise SystemExit(f"conformance: the suite in {suite} wrote no report; see above.")
        found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
        return found


def chapter_of(test: str) -> str:
    """array_api_tests/test_creation_functions.py::test_x -> creation functions"""
    return Path(test.split("::")[0]).stem.removeprefix("test_").replace("_", " ")


def commit_of(suite: Path) -> str:
    """The commit of a checkout; a folder inside another checkout has none of its own."""
    command = ["git", "rev-parse", "--show-prefix", "--short", "HEAD"]
    found = subprocess.run(command, cwd=suite, capture_output=True, text=True, check=False).stdout.split("\n")
    return found[1] if len(found) > 1 and not found[0] else "of unknown commit"


def summary(report: dict[str, Any], suite: Path, max_examples: int) -> dict[str, Any]:
    """What the page tells of a run."""
    chapters: dict[str, Counter[str]] = {}
    reasons = {}
    for test in report["tests"]:
        chapters.setdefault(chapter_of(test["nodeid"]), Counter())[test["outcome"]] += 1
        if test["outcome"] == "skipped":
            stage = next(test[stage] for stage in ("setup", "call") if test.get(stage, {}).get("outcome") == "skipped")
            reasons[test["nodeid"].split("::")[1]] = stage["longrepr"].rsplit(", ", 1)[-1].strip("'\")")
    device = vx.asarray(0).device
    return {
        "device": device.name,
        "driver": device.description.driver,
        "settings": settings(),
        "date": time.strftime("%Y-%m-%d"),
        "versions": f"vkarray {vx.__version__}, suite {commit_of(suite)}, Python {platform.python_version()}",
        "max_examples": max_examples,
        "seconds": round(report["duration"]),
        "chapters": {chapter: dict(counts) for chapter, counts in sorted(chapters.items())},
        "skipped": dict(sorted(reasons.items())),
    }


def page(records: list[dict[str, Any]]) -> str:
    """docs/conformance.md."""
    text = [HEAD.format(version=vx.__array_api_version__)]
    for record in records:
        changed = "".join(f", `{name}={value}`" for name, value in record["settings"].items())
        total: Counter[str] = Counter()
        for counts in record["chapters"].values():
            total.update(counts)
        shown = [name for name in COUNTED if total[name] or name in ("passed", "failed", "xfailed", "skipped")]
        text += [
            f"## {record['device']}{changed}\n",
            f"{record['driver']}; {record['date']}; {record['versions']}; `--max-examples={record['max_examples']}`, "
            f"{record['seconds']} s.\n",
            f"| chapter | {' | '.join(shown)} |",
            f"| --- |{' ---: |' * len(shown)}",
        ]
        rows = [*record["chapters"].items(), ("**all**", total)]
        text += [f"| {name} | {' | '.join(str(counts.get(key, 0)) for key in shown)} |" for name, counts in rows]
        text += ["", *(f"- skipped: `{test}`: {reason}" for test, reason in record["skipped"].items()), ""]
    return "\n".join(text).rstrip() + "\n"


def main() -> int:
    """Run the suite, add the result to the record, write the page."""
    parser = argparse.ArgumentParser(prog="./dev conformance", description=__doc__.splitlines()[0])
    parser.add_argument("suite", type=Path, help="a checkout of array-api-tests")
    parser.add_argument("--max-examples", type=int, default=200, help="examples of each property (default: 200)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    parser.add_argument(
        "-k", dest="expression", help="only tests that match, as in pytest; the page is not written then"
    )
    arguments = parser.parse_args()
    if not (arguments.suite / "array_api_tests").is_dir():
        parser.error(f"{arguments.suite} holds no folder array_api_tests; expected a checkout of array-api-tests")
    selection = ["-k", arguments.expression] if arguments.expression else []
    report = run(arguments.suite, arguments.max_examples, arguments.jobs, selection)
    result = summary(report, arguments.suite, arguments.max_examples)
    if not selection:
        records = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else []
        key = ("device", "driver", "settings")
        records = [record for record in records if any(record[name] != result[name] for name in key)]
        records = sorted([*records, result], key=lambda record: (record["device"], len(record["settings"])))
        RECORD.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(page(records), encoding="utf-8")
    failed = sum(
        counts.get(name, 0) for counts in result["chapters"].values() for name in ("failed", "error", "xpassed")
    )
    return int(failed > 0 or not result["chapters"])


if __name__ == "__main__":
    raise SystemExit(main())
