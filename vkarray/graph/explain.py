"""What programs do, as a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..errors import counted
from .dimensions import Dim
from .executable import Executable
from .work import Kernel, OfRows, Reduced, Sums

MOST = 8  # lengths that are told


class Told(NamedTuple):
    """A program, or why there is none; of dynamic shapes the lengths that it has been made for, with what tells of them."""

    program: Executable | None
    reason: str
    sizes: Sequence[Mapping[Dim, int]] = ()


class Explanation:
    """What the programs of a function do."""

    def __init__(self, name: str, programs: Sequence[Told]) -> None:
        self.name, self.programs = name, programs

    @property
    def kernels(self) -> int:
        """The dispatches of all programs."""
        return sum(len(one.program.dispatches) for one in self.programs if one.program is not None)

    def __str__(self) -> str:
        lines = [f"{self.name}: {counted(len(self.programs), 'program')}"]
        for number, (program, reason, sizes) in enumerate(self.programs, 1):
            lines += (
                _of_program(number, program) if program is not None else [f"{number}. runs as it is, since {reason}"]
            )
            lines += _of_sizes(sizes, reason)
        return "\n".join(lines)

    __repr__ = __str__


def _of_sizes(sizes: Sequence[Mapping[Dim, int]], reason: str) -> list[str]:
    """For which lengths a program is, and why it is for no others."""
    lines = []
    for dim in sizes[0] if sizes else ():
        met = sorted({one[dim] for one in sizes})
        told = ", ".join(map(str, met[:MOST])) + (f" and {len(met) - MOST} others" if len(met) > MOST else "")
        bounds = f"from {dim.min} on" if dim.max is None else f"from {dim.min} to {dim.max}"
        lines.append(f"   {dim.name} {bounds}, so far {told}")
    return [*lines, f"   traced again since {reason}"] if lines and reason else lines


def _of_program(number: int, program: Executable) -> list[str]:
    fused, recorded = program.fused, program.recorded
    memory = f"at most {program.peak_bytes} bytes besides arguments"
    if recorded is not None:
        memory += f", {recorded.arena.nbytes} in an arena; {recorded.arena.bound} live at once"
    lines = [
        f"{number}. {counted(fused.traced, 'operation')} in {counted(len(program.dispatches), 'dispatch')}; "
        f"{fused.dead} not needed, {fused.repeated} repeated, {fused.inlined} computed where they are read",
        f"   {memory}",
    ]
    for one in fused.work:
        if isinstance(one, Kernel):
            shape = one.results[0]._shape
            lines.append(
                f"   one kernel over {shape}, {counted(len(one.inputs), 'input')}, {counted(len(one.results), 'result')}:"
            )
            lines += [f"      {node.label:32} {node.line}" for node in one.nodes]
        elif isinstance(one, OfRows):
            rows = one.program
            lines.append(
                f"   one kernel over {rows.shape} by rows along {rows.axes}, {counted(len(rows.inputs), 'input')}, "
                f"{counted(len(rows.results), 'result')}:"
            )
            lines += [f"      {node.label:32} {node.line}" for node in one.nodes]
        elif isinstance(one, Sums):
            lines.append(
                f"   one kernel that adds up {counted(len(one.reductions), 'sum')} over {one.shape}, "
                f"{counted(len(one.inputs), 'input')}:"
            )
            lines += [f"      {node.label:32} {node.line}" for node in (*one.nodes, *one.reductions)]
        elif isinstance(one, Reduced):
            lines.append(
                f"   {one.node.label:35} {one.node.line}, which computes an expression of {counted(len(one.inputs), 'input')}:"
            )
            lines += [f"      {node.label:32} {node.line}" for node in one.nodes]
        else:
            lines.append(f"   {one.label:35} {one.line}")
    return lines
