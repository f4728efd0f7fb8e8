"""Which regions become row programs: those that reduce rows, and those that work on the same rows before and after."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..core import layout
from ..core.array import VkArray
from ..kernels import expressions, row_program
from ..kernels.reduction_order import LONG_COLUMNS
from . import views
from .regions import Geometry, bits, is_possible, length, merge
from .trace import Node, is_own, same_place

if TYPE_CHECKING:
    from .regions import Dependencies, Region

_REACH = 1 << 31  # elements that a row may lie away


def join(of: list[Region], known: Dependencies, alone: int = 0) -> None:
    """Make one region of those that can be one row program, without nodes of the bits `alone`. `of` has the region of each node."""
    joined = True
    while joined:
        joined = False
        for one, other in _neighbours(known):
            if not (of[one].members | of[other].members) & alone:
                joined |= _join(of[one], of[other], of, known)


def _neighbours(known: Dependencies) -> Iterable[tuple[int, int]]:
    """Nodes of which one reads what the other one makes, or which reduce the same."""
    for number, node in enumerate(known.nodes):
        for writer in known.last_writer[number].values():
            yield writer, number
        if node.rows is not None:
            readers = known.readers[id(node.rows.x._buffer)]
            same = [other for other in readers if known.nodes[other].rows is not None]
            yield from ((one, number) for one in same if one < number)


def _join(one: Region, other: Region, of: list[Region], known: Dependencies) -> bool:
    """Make one region of two where that is a row program. Returns whether it did."""
    if one is other or one.window != other.window:
        return False
    geometry = _geometry(one, known) or _geometry(other, known)
    if geometry is None or (one.rows is None and other.rows is None and _is_alone(one, other, geometry, known)):
        return False
    members = one.members | other.members
    if (one.after & other.before | other.after & one.before) & ~members:
        return False
    numbers = sorted(one.nodes + other.nodes)
    if any(_is_taken(number, geometry, known) for number in numbers):
        return False
    if not all(_belongs(number, geometry, known) for number in numbers):
        return False
    if _are_apart(numbers, geometry, known):
        return False
    for before, after in itertools.permutations((one, other)):
        for second in after.nodes:
            for first in bits(known.direct[second] & before.members):
                if not _passes(known.nodes[first], known.nodes[second], geometry):
                    return False
    reductions = sum(known.nodes[number].rows is not None for number in numbers)
    if reductions > row_program.REDUCTIONS or not is_possible(one, other, known, reductions + 1):
        return False
    if _reduced_length(numbers, members, known) > expressions.INSTRUCTIONS // expressions.TIMES:
        return False
    one.rows, one.shape = geometry, geometry.shape
    merge(one, other, of)
    return True


def _are_apart(numbers: Sequence[int], geometry: Geometry, known: Dependencies) -> bool:
    """Whether kernels of their own take less time: on CPU drivers, where rows are long, many of them lie side by side, and what is
    read is as large as what would be stored."""
    made = known.nodes[numbers[0]].made
    long = [axis for axis, size in enumerate(geometry.shape) if size > 1]
    if made is None or not made._device.limits.is_cpu or not long or long[-1] in geometry.axes:
        return False
    side_by_side = itertools.takewhile(lambda axis: axis not in geometry.axes, reversed(long))
    if math.prod(geometry.shape[axis] for axis in side_by_side) < LONG_COLUMNS:
        return False
    if math.prod(geometry.shape[axis] for axis in geometry.axes) < LONG_COLUMNS:
        return False
    return any(
        views.reads_half(one, geometry.shape)
        for number in numbers
        for one in known.nodes[number].operands
        if isinstance(one, VkArray) and known.last_writer[number].get(id(one._buffer)) not in numbers
    )


def _reduced_length(numbers: Sequence[int], members: int, known: Dependencies) -> int:
    """How many instructions compute the elements that nodes reduce, among nodes of some bits, for each reduction anew."""
    found, needs = 0, dict.fromkeys(numbers, 0)
    for number in numbers:
        node = known.nodes[number]
        for first in bits(known.direct[number] & members):
            needs[number] |= needs[first] | (0 if known.nodes[first].rows is not None else 1 << first)
        if node.rows is not None:
            found += sum(length(known.nodes[one]) for one in bits(needs[number]))
            needs[number] = 0
    return found


def _is_alone(one: Region, other: Region, geometry: Geometry, known: Dependencies) -> bool:
    """Whether the second region is one reduction of what the first one makes, which its own kernel computes as well."""
    if known.nodes[one.nodes[0]].rows is not None or known.nodes[other.nodes[0]].rows is None:
        return False
    contiguous = layout.contiguous_strides(geometry.shape)
    return all(len(read.key) == 1 or read.key[2:4] == (geometry.shape, contiguous) for read in one.reads)


def _is_taken(number: int, geometry: Geometry, known: Dependencies) -> bool:
    """Whether a node computes all elements for one reduction of other rows, which computes them itself: nothing is to be stored."""
    result, beyond = known.nodes[number].result, 1 << len(known.nodes)
    if result is None or result._shape != geometry.shape or known.read_by[number] & beyond:
        return False
    (reader, *others) = bits(known.read_by[number])
    node = known.nodes[reader]
    if others or node.prologue is None or node.prologue.array._buffer is not result._buffer:
        return False
    return node.rows is None or Geometry(node.rows.x._shape, node.rows.axes) != geometry


def _geometry(region: Region, known: Dependencies) -> Geometry | None:
    """The rows of a region."""
    if region.rows is not None:
        return region.rows
    made = known.nodes[region.nodes[0]].rows
    return None if made is None else Geometry(made.x._shape, made.axes)


def _belongs(number: int, geometry: Geometry, known: Dependencies) -> bool:
    """Whether a node can be a part of a program for rows: it changes no memory that others have, and reads what nobody changes."""
    node = known.nodes[number]
    result = node.made
    if result is None or not is_own(result):
        return False
    if len(known.writers[id(result._buffer)]) > 1 or not math.prod(geometry.shape):
        return False
    if any(writer > number for memory in node.reads for writer in known.writers.get(id(memory), ())):
        return False
    if len(geometry.shape) > row_program.RANK or math.prod(geometry.shape) >= _REACH:
        return False
    if not all(_is_near(one) for one in node.operands if isinstance(one, VkArray)):
        return False
    if node.rows is not None:
        return Geometry(node.rows.x._shape, node.rows.axes) == geometry
    return result._shape in _shapes(geometry)


def _is_near(array: VkArray) -> bool:
    low, high = layout.offset_range(array._shape, array._strides)
    return high - low < _REACH


def _shapes(geometry: Geometry) -> tuple[layout.Shape, layout.Shape, layout.Shape]:
    """The shape of all elements, and those of one element of each row."""
    shape, axes = geometry
    with_axes = tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    return shape, with_axes, tuple(size for axis, size in enumerate(shape) if axis not in axes)


def mapping(geometry: Geometry, shape: layout.Shape) -> views.Mapping:
    """Where an index of all elements leads in one of these shapes."""
    whole, with_axes, _ = _shapes(geometry)
    identity = views.identity(whole)
    if shape == whole:
        return identity
    steps = tuple((0,) * len(whole) if axis in geometry.axes else step for axis, step in enumerate(identity.steps))
    if shape != with_axes:
        steps = tuple(step for axis, step in enumerate(steps) if axis not in geometry.axes)
    return views.Mapping(whole, (0,) * len(shape), steps)


def _passes(first: Node, second: Node, geometry: Geometry) -> bool:
    """Whether a node reads of each row what another one makes of the same row."""
    made = first.made
    assert made is not None
    whole = first.rows is None and made._shape == geometry.shape
    if second.rows is not None:
        return whole and same_place(second.rows.x, made)
    assert second.result is not None
    read = [one for one in second.inputs if isinstance(one, VkArray) and one._buffer is made._buffer]
    if whole:
        return all(same_place(one, made) for one in read)
    where = mapping(geometry, second.result._shape)
    _, with_axes, _ = _shapes(geometry)
    once = layout.contiguous_strides(with_axes)
    for one in read:
        strides, offset = where.of(
            layout.broadcast_strides(one._shape, one._strides, second.result._shape), one._offset
        )
        found = all(
            size == 1 or step == (0 if axis in geometry.axes else once[axis])
            for axis, (size, step) in enumerate(zip(geometry.shape, strides, strict=True))
        )
        if offset or not found or one._dtype is not made._dtype:
            return False
    return True
