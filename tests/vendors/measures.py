"""What drivers tell of a pipeline, as one record of numbers whatever they call them."""

from __future__ import annotations

from typing import Any, NamedTuple

# By the names of RADV, ANV, Turnip, V3DV and NVK, in lower case, and how much of a number is a register. PanVK of Mesa 25.0 tells
# the size of the code alone. V3DV tells bytes of 16 invocations, whatever it calls them, local arrays that stay in memory included.
_SPILLED = {
    "spilled vgprs": 1, "spilled sgprs": 1, "spill count": 1, "stp count": 1, "spill size": 16 * 4, "spills to memory": 1
}  # fmt: skip
_REGISTERS = ("vgprs", "max live registers", "registers used", "number of gprs", "max temps")
SLOW = 3.0  # seconds of the processor's


class Measured(NamedTuple):
    """One pipeline: registers that it spills and holds, in the driver's unit, and seconds that its compiler took."""

    label: str
    constants: dict[str, int]
    call: str
    outcome: str
    why: str
    spilled: float
    registers: float
    seconds: float

    @property
    def name(self) -> str:
        """The label, with the constants but for the size of the workgroup."""
        return f"{self.label} {{{', '.join(f'{number}: {value}' for number, value in self.constants.items())}}}"


def measured(item: tuple[str, str, list[list[int]], int, str], answer: dict[str, Any]) -> Measured:
    """What an answer of the driver's says of an item."""
    numbers: dict[str, float] = {}
    for executable in answer.get("executables", ()):
        for name, value in executable.items():
            numbers[name.lower()] = max(value, numbers.get(name.lower(), 0))
    label, _, specialization, _, call = item
    return Measured(
        label,
        {str(number): value for number, value in specialization},
        call,
        answer["outcome"],
        answer.get("why", ""),
        sum(numbers.get(name, 0) / unit for name, unit in _SPILLED.items()),
        max(numbers.get(name, 0) for name in _REGISTERS),
        answer["seconds"][1],
    )


def instructions(answer: dict[str, Any]) -> int:
    """How many instructions the executables of a pipeline have, by RADV's name, or that of the others."""
    executables = [{name.lower(): value for name, value in one.items()} for one in answer.get("executables", ())]
    return sum(int(one.get("instructions", one.get("instruction count", 0))) for one in executables)


def summary(rows: list[Measured], worst: int = 5) -> dict[str, Any]:
    """The numbers of the page, as JSON holds them."""
    made = [row for row in rows if row.outcome == "compiled"]
    reasons: dict[str, int] = {}
    for row in rows:
        if row.outcome == "refused":
            reasons[row.why] = reasons.get(row.why, 0) + 1
    spilling = sorted((row for row in made if row.spilled), key=lambda row: -row.spilled)
    slowest = sorted(made, key=lambda row: -row.seconds)
    failed = [row for row in rows if row.outcome not in ("compiled", "refused")]
    return {
        "kernels": len(rows),
        "compiled": len(made),
        "refused": reasons,
        "failed": [[row.name, row.outcome, row.why, row.call] for row in failed[:worst]],
        "failures": len(failed),
        "spilling": len(spilling),
        "most spilled": [[row.name, row.spilled, row.call] for row in spilling[:worst]],
        "slow": sum(row.seconds > SLOW for row in made),
        "slowest": [[row.name, row.seconds, row.call] for row in slowest[:worst]],
        "seconds": round(sum(row.seconds for row in made), 1),
        "registers": max((row.registers for row in made), default=0),
    }
