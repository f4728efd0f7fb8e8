"""docs/vendors.md, from docs/vendors.json: what the runs of each chip found last."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from chips import CHIPS

DOCS = Path(__file__).parents[2] / "docs"
RECORD, PAGE = DOCS / "vendors.json", DOCS / "vendors.md"

_HEAD = """# Chips of other vendors

The shader compilers of Mesa, which AMD's, Intel's, Qualcomm's, Arm's, Broadcom's and NVIDIA's GPUs have on Linux, need no GPU to
compile for it. `./dev vendors` has them compile vkarray's kernels, and writes this page. Nothing is executed: it shows what is
refused, what fails, what spills registers and what takes long, not whether results are right. Most phones and Windows have other
compilers.

It needs root and some 2 GB. It sets up a Debian 13 with Mesa's drivers in a folder, builds stubs in place of the hardware, and
goes on where it was interrupted. `./dev vendors --help` tells more.

**Ordinary calls** are the kernels that some {calls} calls of ordinary sizes take on that chip, with their real constants. **The
catalogue** is every kernel that the chip's features choose, with workgroups of 256. Where the table has a number of all, so many
were chosen at random. Seconds are the processor's, in the driver's compiler. Registers and spills are in the driver's own units;
PanVK tells neither. V3DV counts arrays that stay in memory as spilled, too, such as the counts of a sort.

"""
_MISSING = {
    "ordinary": "Without a record; `./dev vendors --sample 0 --chips NAME` makes one",
    "catalogue": "Thousands of kernels: four minutes for an AMD chip, more for others. "
    "Without a record; `./dev vendors --chips NAME` makes one, "
    "and `--sample 200` one of 200 kernels",
}
_COLUMNS = "chip | driver | kernels | compiled | refused | failed | spilling | most spilled | over 3 s | slowest"


def _worst(rows: list[list[Any]]) -> str:
    return f"{rows[0][1]:g}" if rows else "0"


def _row(chip: str, record: dict[str, Any], part: str) -> str:
    found = record[part]
    kernels = f"{found['kernels']}" + (f" of {found['all']}" if found["all"] > found["kernels"] else "")
    cells = [
        CHIPS[chip].family, record["driver"], kernels, found["compiled"], sum(found["refused"].values()), found["failures"],
        found["spilling"], _worst(found["most spilled"]), found["slow"], f"{_worst(found['slowest'])} s",
    ]  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


def _table(records: dict[str, Any], part: str) -> list[str]:
    rows = [_row(chip, records[chip], part) for chip in CHIPS if part in records.get(chip, {})]
    rule = "| --- | --- |" + " ---: |" * (_COLUMNS.count("|") - 1)
    lines = [f"| {_COLUMNS} |", rule, *rows, ""] if rows else []
    missing = [one.family for chip, one in CHIPS.items() if part not in records.get(chip, {})]
    if missing:
        lines += [f"{_MISSING[part]}: {', '.join(missing)}.", ""]
    return lines


def _details(chip: str, record: dict[str, Any]) -> list[str]:
    lines = [
        f"## {CHIPS[chip].family}",
        "",
        f"As in the {CHIPS[chip].example}. {record['driver']}, {record['date']}.",
        "",
    ]
    for part, title in (("ordinary", "ordinary calls"), ("catalogue", "the catalogue")):
        found = record.get(part)
        if found is None:
            continue
        for why, count in sorted(found["refused"].items(), key=lambda item: -item[1]):
            lines.append(f"- refused in {title}: {count} for {why}")
        for name, outcome, why, call in found["failed"]:
            lines.append(f"- {outcome} in {title}: `{name}`{_in(call)}: {why}")
        for name, spilled, call in found["most spilled"]:
            lines.append(f"- spills {spilled:g} in {title}: `{name}`{_in(call)}")
        for name, seconds, call in found["slowest"][:3]:
            lines.append(f"- {seconds:.2f} s in {title}: `{name}`{_in(call)}")
    for call, why in record.get("calls", {}).get("refused", []):
        lines.append(f"- refused call: {call}: {why}")
    raised = record.get("calls", {}).get("raised", [])
    for why in dict.fromkeys(why for _, why in raised):
        calls = [call for call, one in raised if one == why]
        lines.append(f"- {len(calls)} calls, such as {calls[0]}, ended early, so their last kernels are missing: {why}")
    return [*lines, ""]


def _in(call: str) -> str:
    return f" ({call})" if call else ""


def write(chip: str, record: dict[str, Any]) -> None:
    """Put what was found for a chip into the record, in place of what it had of the same parts, and write the page."""
    records = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    records[chip] = {**records.get(chip, {}), **record}
    records = {name: records[name] for name in CHIPS if name in records}
    RECORD.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    show(records)


def show(records: dict[str, Any]) -> None:
    """Write the page of a record."""
    calls = max((one.get("calls", {}).get("count", 0) for one in records.values()), default=0)
    lines = [
        "## Ordinary calls",
        "",
        *_table(records, "ordinary"),
        "## The catalogue",
        "",
        *_table(records, "catalogue"),
    ]
    for name, one in records.items():
        lines += _details(name, one)
    PAGE.write_text(_HEAD.format(calls=calls) + "\n".join(lines).rstrip() + "\n", encoding="utf-8")
