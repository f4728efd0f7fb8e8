"""What was found: lines for the terminal, and the table of the documentation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

Records = list[dict[str, Any]]


def failed(records: Records) -> Records:
    """The records of what did not give the CPU's results."""
    return [record for record in records if record["status"] not in ("pass", "skip")]


def fallbacks(records: Records) -> list[str]:
    """The operators that ran on the CPU."""
    return sorted({name.removesuffix(".default") for record in records for name in record["fallbacks"]})


def line(name: str, records: Records, seconds: float) -> str:
    """One entry in a line, and a line for each failure."""
    marks = "".join(
        {"pass": ".", "skip": "-", "fail": "F", "crash": "C", "timeout": "T"}[one["status"]] for one in records
    )
    on_cpu = f"  CPU: {' '.join(fallbacks(records))}" if fallbacks(records) else ""
    lines = [f"{name:<45}{marks:<7}{seconds:6.1f} s{on_cpu}"]
    for one in failed(records):
        lines.append(f"    {one['dtype']} {one['direction']} {one['status']}: {one['message'][:300]}")
    return "\n".join(lines)


def summary(records: Mapping[str, Records]) -> str:
    """Counts of entries."""
    checked = {name: each for name, each in records.items() if any(one["samples"] for one in each) or failed(each)}
    passed = [name for name, each in checked.items() if not failed(each)]
    crashed = [name for name, each in checked.items() if any(one["status"] == "crash" for one in each)]
    alone = [name for name in passed if not fallbacks(checked[name])]
    share = 100 * len(passed) / max(len(checked), 1)
    return (
        f"{len(checked)} entries checked, {len(passed)} pass ({share:.1f} %), {len(crashed)} crash, "
        f"{len(alone)} pass without the CPU"
    )


_HEAD = """# PyTorch's operators on `vulkan`

Written by `vkarray operators --markdown`: PyTorch's database of operators (OpInfo), run on the device and compared with the
CPU, forward for float32, float16, int64 and bool, backward for float32.

{summary}.

"""


def _types(records: Records, direction: str) -> str:
    names = [one["dtype"] for one in records if one["direction"] == direction and one["status"] == "pass"]
    return ", ".join(dict.fromkeys(names)) or "-"


def _where(records: Records) -> str:
    names = fallbacks(records)
    return "device" if not names else "CPU: " + ", ".join(f"`{name}`" for name in names)


def markdown(records: Mapping[str, Records], table: Mapping[str, Any]) -> str:
    """The page of the documentation."""
    parts = [_HEAD.format(summary=summary(records))]
    parts.append(
        "## Entries of the database\n\n| Entry | Computed on | Forward | Backward | Fails |\n| --- | --- | --- | --- | --- |\n"
    )
    for name, each in records.items():
        if not any(one["samples"] for one in each) and not failed(each):
            continue
        wrong = ", ".join(f"{one['dtype']} {one['direction']}" for one in failed(each)) or ""
        parts.append(
            f"| `{name}` | {_where(each)} | {_types(each, 'forward')} | {_types(each, 'backward')} | {wrong} |\n"
        )
    counts = Counter(entry.kind for entry in table.values())
    listed = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    parts.append(
        f"\n## Operators with a row\n\n{len(table)} overloads of `aten`: {listed} (PyTorch's own formula in terms of "
        "others; its own kernels for views). What PyTorch itself composes of these has no row and runs on the device too; "
        "everything else falls back to the CPU.\n\n| Chapter | Native | Decomposed |\n| --- | --- | --- |\n"
    )
    for chapter in sorted({entry.chapter for entry in table.values()}):
        own = {kind: _packets(table, chapter, kind) for kind in ("native", "decomposed")}
        if any(own.values()):
            parts.append(f"| {chapter} | {own['native']} | {own['decomposed']} |\n")
    return "".join(parts)


def _packets(table: Mapping[str, Any], chapter: str, kind: str) -> str:
    names: Iterable[str] = (name for name, entry in table.items() if (entry.chapter, entry.kind) == (chapter, kind))
    return ", ".join(f"`{name}`" for name in sorted({name.partition(".")[0] for name in names}))
