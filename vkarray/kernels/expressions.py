"""What kernels of several operations compute for each element, and how long that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .. import device_caches
from ..core import dtypes
from ..core.dtypes import DType
from ..shaders import parsed
from ..shaders.source import spirv
from .launch import Operation

if TYPE_CHECKING:
    from ..configuration import Configuration
    from .launch import Device


class As(NamedTuple):
    """The bits of a value as those of another type, of the same number of bytes: 4 at most."""

    source: DType
    result: DType

    @property
    def label(self) -> str:
        """What it does, for people."""
        return f"{self.source} as {self.result}"


class Step(NamedTuple):
    """An operation on values: those of the inputs first, then those of the steps before."""

    operation: Operation | As
    operands: tuple[int, ...]
    place: int | None = None  # the value that is the place in C order, for an operation that asks for it

    def approximation(self) -> Step:
        """The same by approximate functions, where there are some."""
        if not isinstance(self.operation, Operation):
            return self
        return self._replace(operation=self.operation.approximation())


# Drivers write the function of an operation out wherever it is called, and take about a second for this many instructions. Where a
# kernel computes elements side by side, those of CPUs take it for fewer, and for a loop as long as for so many instructions.
INSTRUCTIONS = 1 << 17
SIDE_BY_SIDE = {
    **dict.fromkeys(("large", "middle", "small"), INSTRUCTIONS), "tiny": 1 << 13, "cpu": 5 << 13
}  # fmt: skip
LOOP = {"gpu": 0, "cpu": 1792}
TIMES = 22  # that a kernel which reduces calls what computes its elements: each element of a pack has a call of its own
_FEW = 50  # instructions of what calls no library


@device_caches.cache
def length(operation: Operation, device: Device) -> int:
    """How many instructions its function has, with those of all functions that it calls, and with what loops count as."""
    if operation.library is None:
        return _FEW
    variant = operation.function(device)
    return parsed.inlined(spirv(variant), variant.label, "evaluate", LOOP[device.limits.kind])


class Expression(NamedTuple):
    """What is computed for each element, and which values of which types are results."""

    inputs: tuple[DType, ...]
    steps: tuple[Step, ...]
    results: tuple[tuple[int, DType], ...]
    contracts: bool = False  # whether products and the sums that they go into may be rounded once

    def as_allowed(self, settings: Configuration) -> Expression:
        """What the switches allow of it: with steps that are approximate, and products that are contracted with sums."""
        steps = self.steps
        if settings.approximate:
            steps = tuple(step.approximation() for step in steps)
        return self._replace(steps=steps, contracts=settings.contract)

    @property
    def label(self) -> str:
        """The names of its operations."""
        names = [step.operation.label.partition(" ")[0] for step in self.steps]
        return f"fused {' '.join(names[:8])}{' ...' * (len(names) > 8)}"

    @property
    def is_costly(self) -> bool:
        """Whether one of its operations takes many instructions."""
        return any(isinstance(step.operation, Operation) and step.operation.is_costly for step in self.steps)

    def is_long(self, device: Device) -> bool:
        """Whether a kernel that reduces would take long to compile with a call for each element of a pack."""
        return self.times(device) < TIMES

    def times(self, device: Device) -> int:
        """How often a kernel may call it, for as many elements side by side, unless it is to take long to compile."""
        called = [length(step.operation, device) for step in self.steps if isinstance(step.operation, Operation)]
        return max(1, SIDE_BY_SIDE[device.limits.tier] // max(1, sum(called)))


def makes_zeros(operation: Operation) -> bool:
    """Whether an operation makes a zero of what is no floating-point number.

    CPU drivers compute with a zero that they know as if it had no sign, and infinity times it were 0.
    """
    return operation.library == "/conversion" and operation.result.kind == "f" and operation.inputs[0].kind in "biu"


def can_be_step(operation: Operation) -> bool:
    """Whether kernels of several operations may compute an operation: one on types of the library.

    Where parts of results are always 0, CPU drivers would compute with them as if zeros had no sign and infinity times 0 were 0.
    """
    complex_result = operation.result.category == "complex floating"
    constant = complex_result and all(dtype.category != "complex floating" for dtype in operation.inputs)
    known = all(dtype.name in dtypes.DTYPES for dtype in (*operation.inputs, operation.result))
    return type(operation) is Operation and not constant and known


def is_copy(operation: Operation) -> bool:
    """Whether an operation moves elements as they are."""
    return operation.expression == "a" and operation.library is None and operation.inputs[0] is operation.result
