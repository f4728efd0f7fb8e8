"""The report in its three forms: lines for people, JSON, and Markdown for the documentation."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import platform
from collections.abc import Iterable

import numpy as np

from ... import __version__, _vk
from ...dtypes import DTYPES
from .measure import Measurement

Header = dict[str, str]


def header(command: str) -> Header:
    """What the figures belong to."""
    device = _vk.open_device()
    return {
        "command": command,
        "device": device.description.name,
        "driver": device.description.driver,
        "Vulkan": device.description.api_version,
        "versions": f"vkarray {__version__}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"mpmath {importlib.metadata.version('mpmath')}",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def line(measured: Measurement) -> str:
    """One measurement as a line of text."""
    size = f"{measured.error:.4f}" if measured.error < 1000 else f"{measured.error:.3g}"
    place = ", ".join(measured.operands)
    where = f" at {place}: got {measured.result}, true {measured.true}" if measured.error else ""
    verdict = "OK" if measured.within else "EXCEEDED"
    doubt = "" if measured.verified else " (not computed in arbitrary precision)"
    return (
        f"{measured.function:<14}{measured.dtype:<11}{size:>9} {measured.unit:<6}"
        f"bound {measured.bound:<10.6g}{verdict:<9}{where}{doubt}"
    )


def as_json(about: Header, measurements: Iterable[Measurement]) -> str:
    """Everything, for machines (infinite errors as "inf")."""
    rows = [vars(measured) | {"within": measured.within} for measured in measurements]
    for row in rows:
        row["error"] = row["error"] if np.isfinite(row["error"]) else "inf"
    return json.dumps({"header": about, "measurements": rows}, indent=1, ensure_ascii=False) + "\n"


def as_markdown(about: Header, measurements: list[Measurement]) -> str:
    """A table of the largest errors, functions by types; what exceeds its bound is set in bold."""
    present = {measured.dtype for measured in measurements}
    columns = [name for name in DTYPES if name in present]
    cells = {(measured.function, measured.dtype): _cell(measured) for measured in measurements}
    lines = [f"- {name}: {f'`{value}`' if name == 'command' else value}" for name, value in about.items()]
    lines += ["", "| | " + " | ".join(columns) + " |", "| --- |" + " ---: |" * len(columns)]
    for function in dict.fromkeys(measured.function for measured in measurements):
        row = [cells.get((function, column), "") for column in columns]
        lines.append(f"| `{function}` | " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


def _cell(measured: Measurement) -> str:
    if measured.unit == "exact":
        text = "exact" if measured.within else "wrong"
    else:
        text = f"{measured.error:.4f}" if measured.error < 1000 else f"{measured.error:.2g}"
    return text if measured.within else f"**{text}**"
