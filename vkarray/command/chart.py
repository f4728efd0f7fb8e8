"""The chart of `vkarray bench`: one small bar chart per work (needs matplotlib)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_COLOURS = {"vkarray": "#c0392b"}
_OTHER = "#7f8c8d"


def draw(report: dict[str, Any], path: Path) -> None:
    """Write a PNG of a report: rates (more is better) or times per call (less is better), on the device's clock if any."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    works = list(dict.fromkeys(result["work"] for result in report["results"]))
    columns = min(4, len(works))
    rows = -(-len(works) // columns)
    figure, axes = pyplot.subplots(rows, columns, figsize=(3.6 * columns, 2.4 * rows), squeeze=False)
    for place in axes.flat[len(works) :]:
        place.set_axis_off()
    for place, work in zip(axes.flat, works, strict=False):
        results = [result for result in report["results"] if result["work"] == work][::-1]
        values = [result["host"] if result["device"] is None else result["device"] for result in results]
        names = [result["library"] for result in results]
        bars = place.barh(names, values, color=[_COLOURS.get(name, _OTHER) for name in names])
        place.bar_label(bars, [f"{value:,.4g}" for value in values], padding=2, fontsize=8)
        place.margins(x=0.25)
        unit = results[0]["unit"]
        place.set_title(f"{work}, {unit} ({'less' if unit == 'µs' else 'more'} is better)", fontsize=9)
        place.tick_params(labelsize=8)
    figure.suptitle(f"{report['device']}, {report['driver']}, {report['date']}", fontsize=9)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
