"""How long dispatches should take, and into which pieces long ones are cut, so that no watchdog ends them.

Windows and Android take a GPU that is at one piece of work for 2 seconds for hung, and reset it: the device is lost, with all
arrays. So a dispatch that should take longer than BOUND becomes several, each with a part of the workgroups and submitted by
itself. Dispatches that are submitted together should not take much longer either. What a dispatch takes is estimated from its
invocations, or from the fields of its arguments that say how long its loops are, and from what kind of device it is. Where the
device takes timestamps, the pieces of a kernel's first long dispatch correct the estimates of all its later ones.
"""

from __future__ import annotations

import itertools
import math
import struct
from typing import TYPE_CHECKING, NamedTuple

from ..errors import FeatureError

if TYPE_CHECKING:
    from .fields import Arguments

BOUND = 0.25  # seconds: an estimate may be wrong by eight times
MOST_PIECES = 256
LARGEST_WORKGROUPS = 1 << 16  # that are submitted together while the device has work
WORKGROUPS_A_SECOND = LARGEST_WORKGROUPS / BOUND  # as how many workgroups a second of work counts

# Operations a second by how many registers an invocation has, for the slowest devices of a kind: V3D; AMD's least; NVIDIA's
# least. Nobody watches processors.
RATES: dict[str, float] = {"tiny": 4e9, "small": 4e9, "middle": 5e10, "large": 1e12, "cpu": math.inf}
_OF_INVOCATION = 2000.0  # operations, of kernels whose loops are not known
_MOST_CORRECTION = 64.0  # of an estimate by a measurement, either way

Groups = tuple[int, int, int]


class Loops(NamedTuple):
    """A row of the table: the fields of arguments that kernels are known by; those whose product, times a number, are the
    operations of a dispatch, or of each of its invocations."""

    known_by: frozenset[str]
    fields: tuple[str, ...]
    operations: float
    of_invocation: bool = False


# The first row of which a kernel has all fields is taken.
LOOPS: tuple[Loops, ...] = (
    Loops(frozenset({"m", "n", "k", "part"}), ("m", "n", "part", "count"), 2),  # products of matrices
    Loops(frozenset({"k", "part", "b_k"}), ("part", "count"), 16),  # sums of products
    Loops(frozenset({"keys", "width", "heads"}), ("keys", "width"), 2, True),  # attention
    Loops(frozenset({"first_row", "matrix", "steps"}), ("rows", "count"), 50),  # whole rows
    Loops(frozenset({"from", "weight_group"}), ("from",), 64, True),  # convolutions
)


class Pace:
    """How long the dispatches of a kernel take."""

    __slots__ = ("factor", "group", "invocations", "of_invocation", "offsets", "operation")

    def __init__(self, arguments: Arguments, invocations: int, rate: float) -> None:
        self.factor, self.invocations = 1.0, invocations  # the factor is what measurements have found
        self.group = _OF_INVOCATION * invocations / rate  # seconds of a workgroup
        self.offsets: tuple[int, ...] = ()  # where in the block of arguments the lengths of loops are
        self.operation, self.of_invocation = 1 / rate, False
        for row in LOOPS:
            if row.known_by <= arguments.names:
                offset = {field.name: field.offset for field in arguments.fields}
                self.offsets = tuple(offset[name] for name in row.fields)
                self.operation, self.of_invocation = row.operations / rate, row.of_invocation
                break

    def seconds(self, block: bytes, workgroups: int) -> float:
        """What a dispatch should take."""
        if not self.offsets:
            return self.group * workgroups
        seconds = self.operation * self.factor * (self.invocations * workgroups if self.of_invocation else 1)
        return seconds * math.prod(struct.unpack_from("<I", block, offset)[0] for offset in self.offsets)

    def correct(self, before: float, estimated: float, measured: float) -> None:
        """A dispatch took so long that was estimated with the factor of then; once more does no harm."""
        factor = min(max(before * measured / estimated, 1 / _MOST_CORRECTION), _MOST_CORRECTION)
        self.group *= factor / self.factor
        self.factor = factor


def pieces(groups: Groups, count: int, whole_rows: bool) -> list[tuple[Groups, Groups]]:
    """The first workgroup and the numbers of workgroups of about so many pieces of a grid, along its last axes first.

    `whole_rows`: workgroups are numbered row by row, by the length of a row, so that rows of several are not cut.
    """
    steps, wanted = list(groups), min(count, MOST_PIECES)
    for axis in (2, 1, 0):
        if axis == 0 and whole_rows and groups[1] * groups[2] > 1:
            break
        steps[axis] = max(1, groups[axis] // wanted)
        wanted = -(-wanted * steps[axis] // groups[axis])
        if wanted <= 1:
            break
    begins = (range(0, size, step) for size, step in zip(groups, steps, strict=True))
    return [
        ((x, y, z), (min(steps[0], groups[0] - x), min(steps[1], groups[1] - y), min(steps[2], groups[2] - z)))
        for z, y, x in itertools.product(*reversed(list(begins)))
    ]


def check_groups(kernel: str, groups: Groups, limits: Groups) -> None:
    """Raise where a device does not take so many workgroups: ValueError for negative counts, FeatureError for large ones."""
    if min(groups) < 0:
        raise ValueError(f"{kernel}: dispatch of {groups} workgroups; expected counts of 0 or more.")
    if any(count > limit for count, limit in zip(groups, limits, strict=True)):
        raise FeatureError(
            f"{kernel}: dispatch of {groups} workgroups, but the device takes at most {limits}; "
            "split the work into several dispatches.",
            ("maxComputeWorkGroupCount",),
        )
