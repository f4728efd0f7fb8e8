"""What programs do, as a text."""

from __future__ import annotations

from collections.abc import Sequence

from .fuse import Kernel, OfRows, Reduced
from .program import Program


class Explanation:
    """What the programs of a function do."""

    def __init__(self, name: str, programs: Sequence[tuple[Program | None, str]]) -> None:
        self.name, self.programs = name, programs

    @property
    def kernels(self) -> int:
        """The dispatches of all programs."""
        return sum(len(program.dispatches) for program, _ in self.programs if program is not None)

    def __str__(self) -> str:
        lines = [f"{self.name}: {len(self.programs)} program{'s' * (len(self.programs) != 1)}"]
        for number, (program, reason) in enumerate(self.programs, 1):
            lines += (
                _of_program(number, program) if program is not None else [f"{number}. runs as it is, since {reason}"]
            )
        return "\n".join(lines)

    __repr__ = __str__


def _of_program(number: int, program: Program) -> list[str]:
    fused, recorded = program.fused, program.recorded
    memory = f"at most {program.peak_bytes} bytes besides arguments"
    if recorded is not None:
        memory += f", {recorded.arena.nbytes} in an arena; {recorded.arena.bound} live at once"
    lines = [
        f"{number}. {fused.traced} operations in {len(program.dispatches)} dispatches; {fused.dead} not needed, {fused.repeated} "
        f"repeated, {fused.inlined} computed where they are read",
        f"   {memory}",
    ]
    for one in fused.work:
        if isinstance(one, Kernel):
            shape = one.results[0]._shape
            lines.append(f"   one kernel over {shape}, {len(one.inputs)} inputs, {len(one.results)} results:")
            lines += [f"      {node.label:32} {node.line}" for node in one.nodes]
        elif isinstance(one, OfRows):
            rows = one.program
            lines.append(
                f"   one kernel over {rows.shape} by rows along {rows.axes}, {len(rows.inputs)} inputs, "
                f"{len(rows.results)} results:"
            )
            lines += [f"      {node.label:32} {node.line}" for node in one.nodes]
        elif isinstance(one, Reduced):
            lines.append(
                f"   {one.node.label:35} {one.node.line}, which computes its {len(one.inputs)} inputs' expression:"
            )
            lines += [f"      {node.label:32} {node.line}" for node in one.nodes]
        else:
            lines.append(f"   {one.label:35} {one.line}")
    return lines
