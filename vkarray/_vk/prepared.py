"""Dispatches that are made again and again with other arguments and memory: what stays the same is looked at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .pace import BOUND, WORKGROUPS_A_SECOND, check_groups

if TYPE_CHECKING:
    from .kernel import Kernel
    from .pace import Groups


class Prepared:
    """A kernel and its workgroups, and how long they should take."""

    __slots__ = ("factor", "groups", "is_long", "kernel", "pace", "workgroups", "x", "y", "z")

    def __init__(self, kernel: Kernel, groups: Groups, block: bytes) -> None:
        """Of `block`, the fields that say how long loops are (see `pace.py`) are those of all dispatches.

        Raises as `Queue.dispatch` for workgroups that the device does not take.
        """
        check_groups(kernel.name, groups, kernel.device.limits.max_workgroup_count)
        self.kernel, self.groups, self.pace = kernel, groups, kernel.pace
        self.x, self.y, self.z = groups
        self.estimate(block)

    def estimate(self, block: bytes) -> None:
        """Note how long it should take, by what measurements have found so far."""
        self.workgroups, self.factor, self.is_long = self.x * self.y * self.z, 1.0, False
        if self.pace is not None:
            self.factor = self.pace.factor
            seconds = self.pace.seconds(block, self.workgroups)
            self.is_long = seconds > BOUND
            self.workgroups = max(self.workgroups, int(seconds * WORKGROUPS_A_SECOND))
