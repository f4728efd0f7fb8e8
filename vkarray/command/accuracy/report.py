"""The report in its three forms: lines for people, JSON, and Markdown for the documentation."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ... import __version__, _vk
from ...core.dtypes import DTYPES
from .. import reports
from . import engine, exhaustive, peers
from .measure import Measurement

Header = dict[str, str]
Digests = Mapping[str, str]


def header(command: str) -> Header:
    """What the figures belong to."""
    device = _vk.open_device()
    return {
        "command": command,
        "device": device.description.name,
        "driver": device.description.driver,
        "Vulkan": device.description.api_version,
        "versions": f"vkarray {__version__}, Python {platform.python_version()}, NumPy {np.__version__}, "
        + (f"CuPy {cupy.__version__}, " if (cupy := engine.cupy()) else "")
        + f"mpmath {importlib.metadata.version('mpmath')}",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def line(measured: Measurement) -> str:
    """One measurement as a line of text."""
    size = f"{measured.error:.4f}" if measured.error < 1000 else f"{measured.error:.3g}"
    place = ", ".join(measured.operands)
    where = f" at {place}: got {measured.result}, true {measured.true}" if measured.error else ""
    if measured.library != "vkarray":
        wrong = f" and {measured.wrong:,} infinitely wrong" if measured.wrong else ""
        return f"  {measured.library:<23}{size:>9} {measured.unit}{wrong}{where}"
    verdict = "OK" if measured.within else "EXCEEDED"
    doubt = "" if measured.verified else " (not computed in arbitrary precision)"
    return (
        f"{measured.function:<14}{measured.dtype:<11}{size:>9} {measured.unit:<6}"
        f"bound {measured.bound:<10.6g}{verdict:<9}{where}{doubt}"
    )


def digest_line(name: str, digest: str, earlier: Digests | None) -> str:
    """A digest as a line of text, with what an earlier run says to it."""
    verdict = ""
    if earlier is not None:
        known = earlier.get(name)
        verdict = "  not compared" if known is None else "  the same" if known == digest else f"  DIFFERS from {known}"
    return f"{name:<14}float32    digest {digest}{verdict}"


def digests_in(file: Path) -> Digests:
    """The digests in a JSON report. Raises VkArrayError when it has none or cannot be read."""
    with reports.opened(file) as report:
        return dict(report["digests"])


def differing(digests: Digests, earlier: Digests) -> list[str]:
    """The functions of which both reports have a digest, but not the same."""
    return [name for name, digest in digests.items() if earlier.get(name, digest) != digest]


@dataclass
class Found:
    """Everything measured so far."""

    about: Header
    measurements: list[Measurement] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)

    def add(self, measurements: Sequence[Measurement], digests: Digests) -> None:
        self.measurements += measurements
        self.digests |= digests

    def write(self, as_json: Path | None, as_markdown: Path | None) -> None:
        """Write the files that are asked for."""
        for file, text in ((as_json, self.as_json), (as_markdown, self.as_markdown)):
            if file is not None:
                file.write_text(text(), encoding="utf-8")

    def as_json(self) -> str:
        """Everything, for machines (infinite errors as "inf")."""
        rows = [vars(measured) | {"within": measured.within} for measured in self.measurements]
        for row in rows:
            row |= {key: row[key] if np.isfinite(row[key]) else "inf" for key in ("error", "bound")}
        content = {"header": self.about, "measurements": rows, "digests": self.digests}
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

    def as_markdown(self) -> str:
        """The tables of the documentation: functions by types, and those measured on all inputs or with others. Where the
        second has everything, it stands alone."""
        lines = [f"- {name}: {f'`{value}`' if name == 'command' else value}" for name, value in self.about.items()]
        own = [measured for measured in self.measurements if measured.library == "vkarray"]
        beside = {one.function for one in self.measurements if one.library != "vkarray"} | self.digests.keys()
        if not all(measured.function in beside and measured.dtype == "float32" for measured in own):
            lines += ["", *_by_type(own)]
        if beside:
            lines += ["", *self._beside_peers(beside)]
        return "\n".join(lines) + "\n"

    def _beside_peers(self, functions: set[str]) -> list[str]:
        """The table of float32 functions with one column per library."""
        cells = {(one.function, one.library): one for one in self.measurements if one.dtype == "float32"}
        columns = [name for name in peers.NAMES if any(library == name for _, library in cells)]
        titles = [*columns, *(["digest"] if self.digests else [])]
        lines = ["| float32 | inputs | " + " | ".join(titles) + " |", "| --- | ---: |" + " ---: |" * len(titles)]
        for name in dict.fromkeys([*(name for name, _ in cells), *self.digests]):
            if name in functions:
                row = [_beside(cells.get((name, column))) for column in columns]
                if self.digests:
                    row.append(f"`{self.digests[name]}`" if name in self.digests else "")
                samples = cells[name, "vkarray"].samples if (name, "vkarray") in cells else exhaustive.ALL
                lines.append(f"| {name} | {_count(samples)} | " + " | ".join(row) + " |")
        return lines


def _by_type(measurements: list[Measurement]) -> list[str]:
    """A table of the largest errors, functions by types; what exceeds its bound is set in bold."""
    present = {measured.dtype for measured in measurements}
    columns = [name for name in DTYPES if name in present]
    cells = {(measured.function, measured.dtype): _cell(measured) for measured in measurements}
    lines = ["| | " + " | ".join(columns) + " |", "| --- |" + " ---: |" * len(columns)]
    for function in dict.fromkeys(measured.function for measured in measurements):
        row = [cells.get((function, column), "") for column in columns]
        lines.append(f"| `{function}` | " + " | ".join(row) + " |")
    return lines


def _cell(measured: Measurement) -> str:
    if measured.unit == "exact":
        text = "exact" if measured.within else "wrong"
    else:
        text = f"{measured.error:.4f}" if measured.error < 1000 else f"{measured.error:.2g}"
    return text if measured.within else f"**{text}**"


def _beside(measured: Measurement | None) -> str:
    """A cell that also says how many results are infinitely wrong."""
    if measured is None:
        return ""
    return _cell(measured) + (f", {_count(measured.wrong)} wrong" if measured.wrong else "")


def _count(number: int) -> str:
    """A power of 2 as such, from 2^20 on."""
    power = math.frexp(number)[1] - 1
    return f"2<sup>{power}</sup>" if number == 2**power and power >= 20 else f"{number:,}"
