"""The table of ratios, goals and shares of the device's limit, as Markdown, and what the JSON holds."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .measure import Result
from .work import Goal


@dataclass
class Line:
    """A goal of a work, what was measured, and whether it was met (None where it could not be told)."""

    chapter: str
    work: str
    goal: str
    measured: float
    met: bool


def seconds_of(mine: Result, other: Result) -> tuple[float, float]:
    """The times to compare: on the device where both have them, else on the host."""
    if mine.device_seconds is not None and other.device_seconds is not None:
        return mine.device_seconds, other.device_seconds
    return mine.host_seconds, other.host_seconds


def ratio(mine: Result, other: Result) -> float:
    """How many times the other's time is vkarray's: above 1 vkarray is faster."""
    own, others = seconds_of(mine, other)
    return others / own


def best(result: Result) -> float:
    """The figure on the device's clock, where there is one."""
    return result.host if result.device is None else result.device


def check_goal(goal: Goal, results: dict[str, Result], kind: str) -> Line | None:
    """How vkarray stands to a goal; None where the goal does not apply to this run."""
    mine, peer = results.get("vkarray"), results.get(goal.peer)
    if mine is None or peer is None or goal.kind not in (None, kind):
        return None
    if goal.ratio is not None:
        measured, met = ratio(mine, peer), ratio(mine, peer) >= goal.ratio
    elif goal.rate is not None:
        measured, met = best(mine), best(mine) >= goal.rate
    else:
        assert goal.seconds is not None
        measured, met = mine.host_seconds, mine.host_seconds <= goal.seconds
    return Line(mine.chapter, mine.work, goal.text, measured, bool(met))


def limits(rows: list[dict[str, Any]], peaks: dict[str, float]) -> dict[str, float]:
    """The limits that shares are of: the fastest copy, and for each type the fastest product unless a peak is given."""
    found: dict[str, float] = {}
    for row in rows:
        bound = row["bound"]
        if bound is not None and (bound != "copy" or row["work"] == "copy"):
            rates = [best(result) for result in row["results"]]
            found[bound] = max([found.get(bound, 0.0), *rates])
    return found | peaks


def summary(rows: list[dict[str, Any]], goals: Mapping[str, Sequence[Goal]]) -> list[dict[str, Any]]:
    """For each chapter and peer the median of the ratios, the smallest, and how the median stands to its goal."""
    ratios: dict[tuple[str, str], list[tuple[float, str]]] = {}
    for row in rows:
        for peer, value in row["ratios"].items():
            ratios.setdefault((row["chapter"], peer), []).append((value, row["work"]))
    found: list[dict[str, Any]] = []
    for (chapter, peer), values in ratios.items():
        median, (worst, work) = statistics.median(value for value, _ in values), min(values)
        wanted = next((goal.ratio for goal in goals.get(chapter, ()) if goal.peer == peer), None)
        found.append(
            {"chapter": chapter, "peer": peer, "works": len(values), "median": median, "worst": worst, "of": work,
             "goal": wanted, "met": None if wanted is None else median >= wanted}
        )  # fmt: skip
    return found


def summary_table(report: dict[str, Any]) -> str:
    """The summary as a Markdown table."""
    lines = ["chapter | beside | works | median ratio | smallest ratio | goal for the median"]
    lines.append("--- | --- | ---: | ---: | --- | ---")
    for line in report["summary"]:
        goal = "" if line["goal"] is None else f"{line['goal']:g}: {'met' if line['met'] else 'missed'}"
        worst = f"{line['worst']:.2g}, {line['of']}"
        cells = (line["chapter"], line["peer"], str(line["works"]), f"{line['median']:.2g}", worst, goal)
        lines.append(" | ".join(cells))
    return "\n".join(f"| {line} |" for line in lines)


def table(report: dict[str, Any]) -> str:
    """The report as a Markdown table: rates of vkarray, its share of the limit, ratios to the peers, goals."""
    peers = [name for name in report["names"] if name != "vkarray"]
    head = ["work", "vkarray", "of the limit", *(f"to {peer}" for peer in peers), "goals"]
    lines = [" | ".join(head), " | ".join(["---", *["---:"] * (len(head) - 2), "---"])]
    for row in report["rows"]:
        if row["mine"] is not None:
            share = "" if row["share"] is None else f"{row['share']:.0%}"
            ratios = [f"{row['ratios'][peer]:.2f}" if peer in row["ratios"] else "" for peer in peers]
            goals = "; ".join(f"{goal['goal']}: {'met' if goal['met'] else 'missed'}" for goal in row["goals"])
            lines.append(" | ".join([f"{row['work']}", f"{row['mine']:,.4g} {row['unit']}", share, *ratios, goals]))
    return "\n".join(f"| {line} |" for line in lines)


def heading(report: dict[str, Any]) -> str:
    """Where, with what and when this was measured."""
    return (
        f"{report['device']}, {report['driver']}, Vulkan {report['api_version']}; {', '.join(report['libraries'])}; "
        f"Python {report['python']}, {report['processors']} processors with a load of {report['load']} before the run; "
        f"{report['date']}; {report['elements']:,} elements, matrices up to {report['matrix']:,}."
    )
