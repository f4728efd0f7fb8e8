"""Write the table of drivers and chapters in docs/drivers.md, from reports of whole runs of the suite.

    ./dev test --junit-xml=REPORT.xml            on each driver, with what switches it has
    python tests/drivers.py NAME=REPORT.xml ...

NAME heads the column of that report; columns of other names stay, from docs/drivers.json. A chapter is a file of tests. The
exit status is 1 when a report has a failure.
"""

from __future__ import annotations

import argparse
import json
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
RECORD, PAGE = DOCS / "drivers.json", DOCS / "drivers.md"
BEGIN, END = "<!-- the table of chapters begins -->\n", "<!-- the table of chapters ends -->\n"


def chapter_of(classname: str) -> str:
    """tests.vk.test_queue -> Vulkan layer, tests.pytorch.test_trust -> PyTorch, tests.test_fft -> fft"""
    parts = classname.split(".")
    for folder, chapter in (("vk", "Vulkan layer"), ("pytorch", "PyTorch")):
        if folder in parts:
            return chapter
    name = next(part for part in parts if part.startswith("test_"))
    return name.removeprefix("test_").replace("_", " ")


def outcome_of(case: ElementTree.Element) -> str:
    """passed, failed or skipped."""
    found = {child.tag for child in case}
    if found & {"failure", "error"}:
        return "failed"
    return "skipped" if "skipped" in found else "passed"


def chapters_of(report: Path) -> dict[str, dict[str, int]]:
    """How many tests of each chapter passed, failed and were skipped."""
    chapters: dict[str, Counter[str]] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        where = case.get("classname") or case.get("name", "")  # of a file that was not collected, the name says which
        chapters.setdefault(chapter_of(where), Counter())[outcome_of(case)] += 1
    return {name: dict(counts) for name, counts in sorted(chapters.items())}


def cell(counts: dict[str, int] | None) -> str:
    """What the table says of a chapter on a driver; failures are bold."""
    if counts is None:
        return "-"
    text = str(counts.get("passed", 0))
    if counts.get("failed"):
        text += f", **{counts['failed']} failed**"
    if counts.get("skipped"):
        text += f", {counts['skipped']} skipped"
    return text


def table(records: dict[str, dict[str, dict[str, int]]]) -> str:
    """The table in Markdown, with the sums of each column."""
    chapters = sorted({chapter for record in records.values() for chapter in record}, key=str.lower)
    lines = ["| chapter | " + " | ".join(records) + " |", "| --- |" + " ---: |" * len(records)]
    for chapter in chapters:
        lines.append(f"| {chapter} | " + " | ".join(cell(record.get(chapter)) for record in records.values()) + " |")
    sums = (sum((Counter(counts) for counts in record.values()), Counter()) for record in records.values())
    lines.append("| **all** | " + " | ".join(cell(dict(total)) for total in sums) + " |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Add the reports to the record and write the table."""
    parser = argparse.ArgumentParser(prog="python tests/drivers.py", description=__doc__.splitlines()[0])
    parser.add_argument("reports", nargs="+", metavar="NAME=REPORT.xml", help="a driver and the report of its run")
    records = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    for argument in parser.parse_args().reports:
        name, _, path = argument.partition("=")
        if not path:
            parser.error(f"expected NAME=REPORT.xml, got {argument}")
        records[name] = chapters_of(Path(path))
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    if not rest:
        parser.error(f"{PAGE} lacks the line {BEGIN.strip()}")
    RECORD.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(before + BEGIN + "\n" + table(records) + "\n" + END + after, encoding="utf-8")
    return int(any(counts.get("failed") for record in records.values() for counts in record.values()))


if __name__ == "__main__":
    raise SystemExit(main())
