"""Reductions of rows of one chunk, as steps of row programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..core.dtypes import DType
from ..shaders.source import Variant
from .reduction_order import (
    CHUNK_LANES,
    LANES,
    SHIFTED_STEPS,
    STEPS,
    levels_of,
    serial_constants,
    steps_of,
    turns_of,
    vector_of,
)
from .reduction_run import variant_of

if TYPE_CHECKING:
    from .launch import Device
    from .reductions import Reduction


class Reduce(NamedTuple):
    """A reduction of a row of one chunk, as a step of a row program: what is read as one type becomes another one."""

    row: Reduction
    types: tuple[DType, DType, DType]
    number: int  # among the reductions of the program

    @property
    def label(self) -> str:
        """What it does, for people."""
        return self.row.name

    @property
    def source(self) -> DType:
        """The type that it reads."""
        return self.row.read_as(self.types[0], self.types[1])

    @property
    def result(self) -> DType:
        """The type that it makes."""
        _, state, result = self.types
        return self.row.read_as(result, state)

    @property
    def vector(self) -> int:
        """Elements of a lane side by side."""
        return vector_of(self.types[0])

    @property
    def can_meet_in_subgroups(self) -> bool:
        """Whether members of a row may exchange states within subgroups."""
        return self.row.can_meet_in_subgroups(self.types[1])

    def variant(self, device: Device, shared: bool, subgroups: bool) -> Variant:
        """The shader that has it as a function."""
        return variant_of(self.row, device, self.types, False, shared, False, "subgroups" if subgroups else "row")

    def _block(self, length: int) -> int:
        most = SHIFTED_STEPS if self.row.shift is not None else STEPS
        return LANES * self.vector * steps_of(length, self.vector, most)

    def lanes(self, length: int) -> int:
        """Lanes that a row has: the leaves of its tree, in packs. Those of a row of few elements come first."""
        blocks = -(-length // self._block(length))
        few = 1 << (-(-length // self.vector) - 1).bit_length()
        return min(few, LANES << (blocks - 1).bit_length())

    def packs(self, length: int, members: int) -> int:
        """The packs of an invocation where each member has one lane, whole; else 0."""
        block = self._block(length)
        return block // (LANES * self.vector) if members == self.lanes(length) and not length % block else 0

    def constants(
        self,
        length: int,
        members: int,
        workgroup: int,
        columns: bool,
        shared: bool,
        varies: bool,
        subgroup: int,
        few: tuple[int, ...],
    ) -> dict[int, int]:
        """The constants of the shader for rows of a length, or of one that varies, and so many invocations of a row; `few`: the
        constants that are set for few registers."""
        block = self._block(length)
        share = max(1, self.lanes(length) // members) if shared else CHUNK_LANES
        turns = 0 if varies or few else turns_of(length, self.vector, block)
        spacing = workgroup // members if columns else 1
        full = not varies and share * members * block == length * LANES
        constants = (1, 0, turns, levels_of(share), block, members, share, spacing, subgroup, int(full))
        numbers = dict(enumerate(constants, 1))
        if shared:
            return numbers | dict.fromkeys(few, 1)
        return numbers | serial_constants(length, self.vector, block, True, varies)
