"""What operations took, as a table."""

from __future__ import annotations

import statistics
from array import array
from collections.abc import Callable, Sequence
from typing import NamedTuple


class Row(NamedTuple):
    """An operation: how often it was called, the dispatches of all calls, and seconds. `share` is that of all time of the devices.

    Time and bytes are those of transfers on the device, too. In a table by kernels `operation` is the name of a kernel or a
    transfer, `calls` is how often it ran, and `host` is 0.
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


# The heads of columns, and what they say of a row.
_COLUMNS: dict[str, Callable[[Row], str]] = {
    "calls": lambda row: str(row.calls),
    "kernels": lambda row: str(row.dispatches),
    # Devices without timestamps tell no time.
    "total ms": lambda row: f"{row.total * 1e3:.3f}" if row.total else "",
    "median ms": lambda row: f"{row.median * 1e3:.3f}" if row.total else "",
    "share": lambda row: f"{row.share:.1%}" if row.total else "",
    "MB": lambda row: f"{row.bytes * 1e-6:.2f}",
    "GB/s": lambda row: _rate(row.gigabytes_per_second),
    "GFLOP/s": lambda row: _rate(row.gigaflops),
    "host ms": lambda row: f"{row.host * 1e3:.3f}",
}
_NOT_OF_KERNELS = ("kernels", "host ms")


def text(rows: Sequence[Row], by: str = "operation") -> str:
    """The rows with their heads."""
    columns = {head: told for head, told in _COLUMNS.items() if by != "kernel" or head not in _NOT_OF_KERNELS}
    lines = [(by, *columns), *((row.operation, *(told(row) for told in columns.values())) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in lines)


def _rate(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
