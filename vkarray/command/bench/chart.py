"""The pictures of `vkarray bench` (they need matplotlib)."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from .. import reports

_MISSED, _GOAL = "#c0392b", "#222222"
_PEERS = ("#1f77b4", "#9dc3e6", "#2ca02c", "#a6d8a0", "#7f7f7f", "#c7c7c7", "#9467bd", "#c5b0d5")
_FEW = 20  # works: up to here all peers are drawn, beyond it two
_DPI = 110


def _pyplot() -> Any:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def picture(path: Path) -> str | None:
    """Draw the report in a file of JSON beside it. Returns what that lacks: matplotlib, or something to draw."""
    with reports.opened(path) as report:
        drawing, found = draw_growth, report.get("points")
        if found is None:
            drawing, found = draw, [row for row in report["rows"] if row["ratios"]]
        if not found:
            return "it has no figures beside those of vkarray"
        if importlib.util.find_spec("matplotlib") is None:
            return "matplotlib is not installed"
        drawing(report, path.with_suffix(".png"))
    print(f"Wrote {path.with_suffix('.png')}")
    return None


def _of(goal: dict[str, Any], peer: str) -> bool:
    return goal["goal"].endswith(f" of {peer}")


def _shown(report: dict[str, Any]) -> list[str]:
    """The peers whose ratios are drawn: those that most goals are set against, then those that do most works."""
    rows = report["rows"]
    peers = [name for name in report["names"] if name != "vkarray"]

    def weight(peer: str) -> tuple[int, int]:
        return sum(_of(goal, peer) for row in rows for goal in row["goals"]), sum(peer in row["ratios"] for row in rows)

    chosen = sorted(peers, key=weight, reverse=True)[: 2 if len(rows) > _FEW else len(_PEERS)]
    return [peer for peer in peers if peer in chosen]


def draw(report: dict[str, Any], path: Path) -> None:
    """One panel for each chapter: bars of the ratio to each peer, the goals marked, red where one was missed."""
    pyplot = _pyplot()
    peers = _shown(report)
    chapters: dict[str, list[dict[str, Any]]] = {}
    for row in report["rows"]:
        if any(peer in row["ratios"] for peer in peers):
            chapters.setdefault(row["chapter"], []).append(row)
    columns = min(2, len(chapters))
    # Panels fill the shorter column first.
    stacks: list[list[str]] = [[] for _ in range(columns)]
    heights = [0.0] * columns
    for chapter, rows in chapters.items():
        shortest = heights.index(min(heights))
        stacks[shortest].append(chapter)
        heights[shortest] += len(rows) * len(peers) + 4
    figure = pyplot.figure(figsize=(7.5 * columns, 0.14 * max(heights) + 1), layout="constrained")
    for part, stack in zip(figure.subfigures(1, columns, squeeze=False)[0], stacks, strict=True):
        ratios = [len(chapters[chapter]) * len(peers) + 4 for chapter in stack]
        places = part.subplots(len(stack), 1, squeeze=False, height_ratios=ratios)[:, 0]
        for place, chapter in zip(places, stack, strict=True):
            _bars(place, chapter, chapters[chapter], peers)
    figure.suptitle(
        f"vkarray on {report['device']}, {report['date']}: time of the peer over vkarray's\n"
        "(longer is better, 1 is level; black: the goal against this peer; red: missed, of a name any goal)", fontsize=10,
    )  # fmt: skip
    patches = [pyplot.Rectangle((0, 0), 1, 1, color=colour) for colour in _PEERS[: len(peers)]]
    figure.legend(patches, peers, loc="outside lower center", ncols=len(peers), fontsize=8)
    figure.savefig(path, dpi=_DPI)
    pyplot.close(figure)


def _bars(place: Any, chapter: str, rows: list[dict[str, Any]], peers: list[str]) -> None:
    height = 0.84 / len(peers)
    everything = [row["ratios"][peer] for row in rows for peer in peers if peer in row["ratios"]]
    place.set_xscale("log", base=2)
    place.set_xlim(min([*everything, 0.5]) / 1.3, max([*everything, 1.5]) * 1.6)
    for number, peer in enumerate(peers):
        for position, row in enumerate(rows):
            if peer in row["ratios"]:
                ratio, middle = row["ratios"][peer], position + (number - (len(peers) - 1) / 2) * height
                goals = [goal for goal in row["goals"] if _of(goal, peer)]
                missed = any(not goal["met"] for goal in goals)
                bar = place.barh([middle], [ratio], height, color=_MISSED if missed else _PEERS[number])
                place.bar_label(bar, [f"{ratio:.2g}" if ratio < 1 else f"{ratio:.2f}"], padding=3, fontsize=6)
                for goal in goals:
                    at = float(goal["goal"].split()[0])
                    place.plot([at, at], [middle - height / 2, middle + height / 2], color=_GOAL, linewidth=2)
    place.axvline(1, color="#888888", linewidth=0.8, zorder=0)
    place.set_yticks(range(len(rows)), [row["work"] for row in rows], fontsize=7)
    for label, row in zip(place.get_yticklabels(), rows, strict=True):
        label.set_color(_MISSED if any(not goal["met"] for goal in row["goals"]) else _GOAL)
    place.invert_yaxis()
    place.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    place.tick_params(axis="x", labelsize=7)
    place.margins(y=0.01)
    place.set_title(chapter, fontsize=9, loc="left", fontweight="bold")
    for side in ("top", "right"):
        place.spines[side].set_visible(False)


def draw_growth(report: dict[str, Any], path: Path) -> None:
    """Time against size, both logarithmic: solid on the host's clock, dashed on the device's."""
    pyplot = _pyplot()
    curves = list(dict.fromkeys(point["curve"] for point in report["points"]))
    columns = min(3, len(curves))
    rows = -(-len(curves) // columns)
    size = (max(5 * columns, 8), 3.7 * rows + 0.5)  # wide enough for the title
    figure, axes = pyplot.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    colours = {name: f"C{number}" for number, name in enumerate(report["names"])}
    for place in axes.flat[len(curves) :]:
        place.set_axis_off()
    for place, curve in zip(axes.flat, curves, strict=False):
        points = [point for point in report["points"] if point["curve"] == curve]
        for name in report["names"]:
            own = [point for point in points if point["library"] == name]
            style = {"color": colours[name], "linewidth": 2.0 if name == "vkarray" else 1.1, "markersize": 3}
            for clock, line in (("host_seconds", "-o"), ("device_seconds", "--")):
                timed = [(point["size"], point[clock] * 1e6) for point in own if point[clock]]
                if timed:
                    place.plot(*zip(*timed, strict=True), line, label=name if line == "-o" else None, **style)
        place.set_xscale("log", base=2)
        place.set_yscale("log")
        place.set_xlabel(points[0]["of"], fontsize=8)
        place.set_ylabel("µs", fontsize=8)
        place.tick_params(labelsize=7)
        place.grid(alpha=0.3)
        place.set_title(curve, fontsize=9)
    lines = [pair for place in axes.flat for pair in zip(*place.get_legend_handles_labels(), strict=True)]
    known = {name: line for line, name in lines}  # not every library is in every panel
    axes.flat[0].legend(known.values(), known.keys(), fontsize=7)
    title = f"{report['device']}, {report['date']}: solid to completion on the host's clock, dashed on the device's"
    figure.suptitle(title, fontsize=9)
    figure.savefig(path, dpi=_DPI)
    pyplot.close(figure)
