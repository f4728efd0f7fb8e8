"""What was found: lines for the terminal, and the table of the documentation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .layers import LAYERS

Records = list[dict[str, Any]]


ALL_SAMPLES = 1000  # more than any entry has


class Run(NamedTuple):
    """Records of entries by their names, and what they are about: versions, commit, device, date, number of samples."""

    about: dict[str, str]
    entries: Mapping[str, Records]


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


def checked(records: Mapping[str, Records]) -> dict[str, Records]:
    """The entries of which anything was checked."""
    return {name: each for name, each in records.items() if any(one["samples"] for one in each) or failed(each)}


class Counts(NamedTuple):
    """Numbers of entries; those that pass are computed by shaders, by PyTorch's own formulas, or in part by the CPU."""

    entries: int
    passed: int
    crashed: int
    native: int
    decomposed: int
    on_cpu: int


def counted(records: Mapping[str, Records]) -> Counts:
    """The counts of records."""
    found = checked(records)
    kinds = Counter(_kind(each) for each in found.values() if not failed(each))
    crashed = sum(any(one["status"] == "crash" for one in each) for each in found.values())
    return Counts(len(found), kinds.total(), crashed, *(kinds[kind] for kind in ("native", "decomposed", "CPU")))


def _kind(records: Records) -> str:
    if fallbacks(records):
        return "CPU"
    return "decomposed" if any(one.get("decomposed") for one in records) else "native"


def summary(records: Mapping[str, Records]) -> str:
    """Counts of entries in words."""
    counts = counted(records)
    share = 100 * counts.passed / max(counts.entries, 1)
    return (
        f"{counts.entries} entries checked, {counts.passed} pass ({share:.1f} %), {counts.crashed} crash, "
        f"{counts.native + counts.decomposed} pass without the CPU"
    )


_HEAD = """# PyTorch's operators on `vulkan`

Written by `vkarray operators --markdown`: PyTorch's databases of operators (OpInfo) and optimisers, run on the device and
compared with the CPU, forward for float32, float16, int64 and bool, backward for float32, with {samples} of each. *Traced*:
types, shapes and strides of all results are also compared with what PyTorch tells programs that it traces, as
`torch.compile` does, with arguments in two orders in memory. An entry that cannot run on a device of this kind, such as
those for sparse tensors, is not counted.

{summary}.

| PyTorch | Entries | Pass | Crash | Native | Decomposed | CPU | Run |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |
{runs}

*Native*: by vkarray's shaders alone; *decomposed*: with PyTorch's own formulas, whose operators are native; *CPU*: some
operator of the entry ran on the CPU.

## What layers and their training are made of

These run in strict mode, which forbids the CPU: a test runs them so (`tests/pytorch/test_operators.py`).

| Chapter | Entries | Pass without the CPU |
| --- | --- | --- |
{layers}

"""


def _run_line(run: Run) -> str:
    about = run.about
    made = f"{about['date']}, {_samples(about)}, vkarray {about['vkarray']} ({about['commit']}), {about['device']}"
    return f"| {about['PyTorch']} | {' | '.join(map(str, counted(run.entries)))} | {made} |"


def _layers_lines(records: Mapping[str, Records]) -> Iterable[str]:
    for chapter, names in LAYERS.items():
        found = [name for name in names.split() if name in records]
        passed = [name for name in found if not failed(records[name]) and not fallbacks(records[name])]
        others = ", but " + ", ".join(f"`{name}`" for name in found if name not in passed)
        listed = ", ".join(f"`{name}`" for name in found)
        told = f"{len(passed)} of {len(found)}{others if len(passed) < len(found) else ''}"
        yield f"| {chapter} | {listed} | {told} |"


def _samples(about: Mapping[str, str]) -> str:
    count = int(about["samples"])
    return "all samples" if count >= ALL_SAMPLES else f"the first {count} samples"


def _types(records: Records, direction: str) -> str:
    names = [one["dtype"] for one in records if one["direction"] == direction and one["status"] == "pass"]
    return ", ".join(dict.fromkeys(names)) or "-"


def _where(records: Records) -> str:
    names = fallbacks(records)
    return _kind(records) if not names else "CPU: " + ", ".join(f"`{name}`" for name in names)


def markdown(runs: Sequence[Run], table: Mapping[str, Any]) -> str:
    """The page of the documentation: on the first of some runs, with the counts of the others."""
    about, records = runs[0]
    parts = [
        _HEAD.format(
            samples=_samples(about), summary=summary(records), runs="\n".join(map(_run_line, runs)),
            layers="\n".join(_layers_lines(records)),
        )
    ]  # fmt: skip
    parts.append(
        "## Entries of the database\n\n| Entry | Computed on | Forward | Backward | Fails |\n| --- | --- | --- | --- | --- |\n"
    )
    for name, each in checked(records).items():
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
