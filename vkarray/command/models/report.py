"""What was found: lines for the terminal, and the page of the documentation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

Records = list[dict[str, Any]]


class Run(NamedTuple):
    """What was checked: versions, commit, device, date; and for each model what it is, with the records of its parts."""

    about: dict[str, Any]
    entries: list[dict[str, Any]]


def failed(records: Records) -> Records:
    """The records of parts that did not give the CPU's results."""
    return [record for record in records if record["status"] != "pass"]


def fallbacks(records: Records) -> dict[str, int]:
    """The operators that ran on the CPU, and how often."""
    counts: dict[str, int] = {}
    for record in records:
        for name, calls in dict(record["fallbacks"]).items():
            name = name.removesuffix(".default")
            counts[name] = counts.get(name, 0) + calls
    return dict(sorted(counts.items()))


def inputs(given: Mapping[str, Any]) -> str:
    """Names, types and shapes of arguments."""
    described = [
        f"{name} {str(one.dtype).removeprefix('torch.')} {' x '.join(map(str, one.shape))}"
        for name, one in given.items()
        if hasattr(one, "dtype")
    ]
    return ", ".join(described)


def line(name: str, records: Records, seconds: float) -> str:
    """One model in a line, and a line for each failure."""
    marks = "".join({"pass": ".", "fail": "F", "crash": "C", "timeout": "T"}[one["status"]] for one in records)
    counts = fallbacks(records)
    on_cpu = f"  CPU: {' '.join(f'{each} ({count})' for each, count in counts.items())}" if counts else ""
    lines = [f"{name:<50}{marks:<10}{seconds:6.1f} s{on_cpu}"]
    lines += [f"    {one['part']} {one['status']}: {one['message'][:400]}" for one in failed(records)]
    return "\n".join(lines)


def summary(run: Run) -> str:
    """Counts of models in words."""
    total = len(run.entries)
    passed = [one["records"] for one in run.entries if not failed(one["records"])]
    crashed = sum(any(each["status"] == "crash" for each in one["records"]) for one in run.entries)
    alone = sum(not fallbacks(records) for records in passed)
    share = 100 * len(passed) / max(total, 1)
    return f"{total} models checked, {len(passed)} pass ({share:.1f} %), {crashed} crash, {alone} pass without the CPU"


_HEAD = """# Models on `vulkan`

Written by `vkarray models --write docs/torch-models.md`: models of packages that build on PyTorch, small and with random weights,
run on the device and compared with the CPU in float32. *Outputs*: those in evaluation, within 1e-4 of each number and 1e-5 of the
largest, or of 1 where that is larger. *Training*: the loss, all gradients within 1e-3 of each number and 1e-5 of the largest
gradient, and what a step of AdamW adds to all parameters; for what has no parameters, gradients of the inputs. Parameters that are
zero at first get small numbers. *Generation*: the words and logits of modes of `generate`. The numbers in the table are the largest
errors, relative to the largest number. *On the CPU*: operators that have no shader, and how often they were called. Nothing is
dropped out, for devices have random numbers of their own. Where a model draws others (*draws*) both devices are given the CPU's.

{summary}: {made}. {versions}.{left_out}
"""


def markdown(run: Run) -> str:
    """The page of the documentation."""
    about = run.about
    made = f"{about['date']}, vkarray {about['vkarray']} ({about['commit']}), PyTorch {about['PyTorch']}, {about['device']}"
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    left_out = f" Left out, for they are not installed: {', '.join(about['left out'])}." if about["left out"] else ""
    parts = [_HEAD.format(summary=summary(run), made=made, versions=versions, left_out=left_out)]
    for package in dict.fromkeys(one["package"] for one in run.entries):
        parts.append(
            f"\n## {package}\n\n| Model | Class | Inputs | Outputs | Training | Generation | On the CPU |\n"
            "| --- | --- | --- | --- | --- | --- | --- |\n"
        )
        parts += [_row(one) for one in run.entries if one["package"] == package]
    unstable = [f"- {one['name']}: {one['unstable']}\n" for one in run.entries if one["unstable"]]
    if unstable:
        parts.append(
            "\n## Where rounding carries far\n\nErrors of these are measured against float64. They may be eight times those of "
            "the CPU in float32, or as large as those of float64 with weights that are off by 32 roundings of float32.\n\n"
        )
        parts += unstable
    wrong = [(one, each) for one in run.entries for each in failed(one["records"])]
    if wrong:
        parts.append("\n## Failures\n\n")
        parts += [
            f"- {one['name']}, {each['part']}: {each['status']}, `{_plain(each['message'])}`\n" for one, each in wrong
        ]
    return "".join(parts)


def _plain(message: str) -> str:
    return " ".join(message.replace("`", "'").split())[:300]


def _row(entry: Mapping[str, Any]) -> str:
    records = {each["part"]: each for each in entry["records"]}
    modes = {name.partition(": ")[2]: one for name, one in records.items() if name.startswith("generate")}
    counts = ", ".join(f"`{name}` {count}" for name, count in fallbacks(entry["records"]).items())
    name = f"{entry['name']} (draws)" if entry["draws"] else entry["name"]
    cells = [
        name,
        f"`{entry['kind']}`",
        entry["inputs"],
        *(_told(records.get(part)) for part in ("outputs", "training")),
    ]
    return f"| {' | '.join([*cells, ', '.join(_modes(modes)), counts])} |\n"


def _told(record: Mapping[str, Any] | None) -> str:
    if record is None:
        return "-"
    return f"{record['error']:.0e}" if record["status"] == "pass" else f"**{record['status']}**"


def _modes(modes: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for name, record in modes.items():
        yield name if record["status"] == "pass" else f"{name} **{record['status']}**"
