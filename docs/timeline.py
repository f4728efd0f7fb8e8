"""Draw the picture of a profile on the page on measuring, docs/pictures/timeline.svg: `python docs/timeline.py [TRACE]`.

Without the trace of an earlier block it makes one: a small network, operation by operation and compiled.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.patches import Patch

import vkarray as vx

PICTURE = Path(__file__).parent / "pictures/timeline.svg"
TRACKS = ("calls", "recording", "submission", "waits", "transfers", "device")
# Names of events, or else their categories, and where they are drawn.
PLACES = {
    "record": "recording", "submit": "submission", "wait": "waits", "upload": "transfers", "download": "transfers",
    "call": "calls", "kernel": "device", "transfer": "device",
}  # fmt: skip
COLOURS = plt.get_cmap("tab20").colors  # type: ignore[attr-defined]
LETTER = 0.009  # of the width
BLOCKS = 500  # of which the shortest is drawn: others may use the processors


def network(x: Any, first: Any, second: Any) -> Any:
    """Two layers, and a softmax."""
    hidden = vx.tanh(x @ first)
    scores = vx.exp(hidden @ second)
    return scores / vx.sum(scores, axis=1, keepdims=True)


def events_of(path: Path) -> list[dict[str, Any]]:
    """What is drawn of a trace."""
    events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    return [one for one in events if one["ph"] == "X" and track_of(one)]


def length(events: Sequence[dict[str, Any]]) -> float:
    """From the first to the last, in µs."""
    return float(max(one["ts"] + one["dur"] for one in events) - min(one["ts"] for one in events))


def measured() -> list[dict[str, Any]]:
    """A warm call of the network, and one of it as a program."""
    path = Path(tempfile.mkdtemp(), "trace.json")
    random = vx.random.default_rng(1)
    arrays = [random.normal(size=size) for size in ((48, 48), (48, 96), (96, 16))]
    compiled = vx.compile(network)
    traces = []
    for _ in range(BLOCKS):
        with vx.profile(path):
            float(network(*arrays)[0, 0]), float(compiled(*arrays)[0, 0])
        traces.append(events_of(path))
    return min(traces[4:], key=length)


def track_of(event: dict[str, Any]) -> str | None:
    """Where an event is drawn."""
    return PLACES.get(event["name"] if event["cat"] == "device" else event["cat"])


def draw(events: list[dict[str, Any]]) -> None:
    """Draw the events."""
    begin, whole = min(one["ts"] for one in events), length(events)
    names = list(dict.fromkeys(one["name"] for one in sorted(events, key=lambda one: one["ts"])))
    figure, place = plt.subplots(figsize=(10, 3.2), layout="constrained")
    for one in events:
        row, width = TRACKS[::-1].index(track_of(one) or ""), one["dur"] * 1e-3
        left, colour = (one["ts"] - begin) * 1e-3, COLOURS[names.index(one["name"]) % len(COLOURS)]
        place.barh(row, width, 0.8, left=left, color=colour, edgecolor="white", linewidth=0.3)
        if one["dur"] > LETTER * len(one["name"]) * whole:
            place.text(left + width / 2, row, one["name"], ha="center", va="center", fontsize=7, clip_on=True)
    calls = [name for name in names if any(one["name"] == name and one["cat"] in ("call", "kernel") for one in events)]
    marks = [Patch(color=COLOURS[names.index(name) % len(COLOURS)], label=name) for name in calls]
    place.legend(handles=marks, loc="upper left", bbox_to_anchor=(1, 1), fontsize=7, frameon=False)
    place.set_yticks(range(len(TRACKS)), TRACKS[::-1])
    place.set_xlabel("ms since the first call, on one clock")
    place.spines[["top", "right"]].set_visible(False)
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    plt.rcParams["svg.hashsalt"] = "vkarray"  # or identifiers differ from run to run
    draw(events_of(Path(sys.argv[1])) if len(sys.argv) > 1 else measured())
