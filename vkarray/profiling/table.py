"""What operations took, as a table."""

from __future__ import annotations

import statistics
from array import array
from collections.abc import Sequence
from typing import NamedTuple


class Row(NamedTuple):
    """An operation: how often it was called, the dispatches of all calls, and seconds. `share` is that of all time of the devices.

    Time and bytes are those of transfers on the device, too.
    `operations` are those on floating-point numbers, None where not all dispatches say how many; `host` is the time in calls.
    """

    operation: str
    calls: int
    dispatches: int
    total: float
    median: float
    share: float
    bytes: int
    operations: int | None
    host: float

    @property
    def gigabytes_per_second(self) -> float | None:
        """Bytes read and written in the time of the device."""
        return self.bytes / self.total * 1e-9 if self.total else None

    @property
    def gigaflops(self) -> float | None:
        """Operations, in units of 10^9, in a second of the device."""
        return self.operations / self.total * 1e-9 if self.operations and self.total else None


class Sums:
    """What was added up of one operation. Of each call the seconds are kept: 8 bytes."""

    __slots__ = ("bytes", "dispatches", "host", "operations", "seconds", "unknown")

    def __init__(self) -> None:
        self.seconds = array("d")
        self.dispatches = self.bytes = self.operations = self.host = 0
        self.unknown = 0  # dispatches of which nobody knows how many operations they are

    def row(self, operation: str, whole: float) -> Row:
        """The row of a table in which all operations took so many seconds."""
        total = sum(self.seconds)
        median = statistics.median(self.seconds) if self.seconds else 0.0
        return Row(
            operation, len(self.seconds), self.dispatches, total, median, total / whole if whole else 0.0, self.bytes,
            None if self.unknown else self.operations or None, self.host * 1e-9,
        )  # fmt: skip


_COLUMNS = ("operation", "calls", "kernels", "total ms", "median ms", "share", "MB", "GB/s", "GFLOP/s", "host ms")


def text(rows: Sequence[Row]) -> str:
    """The rows with their heads."""
    cells = [
        (
            row.operation, str(row.calls), str(row.dispatches), f"{row.total * 1e3:.3f}", f"{row.median * 1e3:.3f}",
            f"{row.share:.1%}", f"{row.bytes * 1e-6:.2f}", _rate(row.gigabytes_per_second), _rate(row.gigaflops),
            f"{row.host * 1e3:.3f}",
        )
        for row in rows
    ]  # fmt: skip
    widths = [max(map(len, column)) for column in zip(_COLUMNS, *cells, strict=True)]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in (_COLUMNS, *cells)
    )


def _rate(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
