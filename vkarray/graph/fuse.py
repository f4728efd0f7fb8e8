"""From regions to work: each becomes a kernel, and what is cheaper to compute again than to store is never stored."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..core.array import VkArray
from ..kernels import expressions, fused
from . import mosaic, rows, short, sums, views
from .borders import with_borders
from .expression import RegionExpression, RowExpression, Together
from .regions import Dependencies, Region, in_order, length, regions
from .simplify import living, without_copies, without_repetitions
from .stored import with_steps
from .trace import Memory, Node, Value, is_own
from .work import Kernel, OfRows, Reduced, Sums, Work

# What may be computed where it is read rather than stored: up to a cost always, and up to another one where what is computed more
# often than once costs less for each element than the memory takes, by the kind of device.
AGAIN, ONCE = 6, 64
LONGEST = expressions.INSTRUCTIONS // 18  # and of so many instructions at most, which a kernel may have often
_SAVED = {"cpu": 8, "gpu": 28}


class Fused(NamedTuple):
    """What a program does, in order: kernels, and nodes that stay as they are; and what was left out on the way."""

    work: list[Work]
    traced: int
    dead: int
    repeated: int
    inlined: int  # results that are computed where they are read
    values: Sequence[Value]  # memory that was not traced


def fuse(traced: Sequence[Node], kept: Iterable[Memory]) -> Fused:
    """The work for traced nodes. `kept` is the memory of what the function returns."""
    returned = list(kept)
    direct = without_copies(traced, returned)
    every = with_steps(direct, returned)
    alive = living(every, returned)
    once = living(without_repetitions(alive, returned), returned)
    nodes = with_borders(once)
    work, known, of, builder = _work(nodes, returned)
    taken = short.candidates(known, of, builder.stored)
    values: list[Value] = []
    while taken:
        nodes, values, alone = short.apart(known.nodes, taken)
        tried, _, _, apart = _work(nodes, returned, alone)
        memory = {number: id(known.nodes[number].rows.x._buffer) for number in taken}  # type: ignore[union-attr]
        stored = {number for number in taken if memory[number] in apart.stored - builder.stored}
        if not stored:  # what they read is still computed where they read it
            work, builder = tried, apart
            break
        taken -= stored
    else:
        values = []
    dead = len(traced) - len(direct) + len(every) - len(alive)
    return Fused(work, len(traced), dead, len(alive) - len(once), builder.inlined, values)


def _work(
    nodes: Sequence[Node], returned: Sequence[Memory], alone: int = 0
) -> tuple[list[Work], Dependencies, list[Region], Builder]:
    """The work of nodes, and how it came about. Those of the bits `alone` are no part of row programs."""
    known = Dependencies(nodes, returned)
    of = regions(nodes, known)
    rows.join(of, known, alone)
    sums.join(of, known)
    order = in_order(of, known)
    builder = Builder(nodes, known, order, returned)
    work: list[Work] = []
    for region in reversed(order):
        work += builder.work(region)
    return work[::-1], known, of, builder


class Builder:
    """Makes work of regions, the last one first, so that it is known which results are read from memory."""

    def __init__(
        self, nodes: Sequence[Node], known: Dependencies, order: Sequence[Region], returned: Iterable[Memory]
    ) -> None:
        self.regions = {number: region for region in order for number in region.nodes}
        self.nodes, self.known, self.inlined = nodes, known, 0
        self.stored = set(map(id, returned))
        self.read: dict[int, int] = {}  # how many elements are read of some memory
        for node in nodes:
            for operand in node.inputs if node.rows is None else (node.rows.x,):
                if type(operand) is VkArray:
                    key = id(operand._buffer)
                    self.read[key] = self.read.get(key, 0) + math.prod(operand._shape)
        self.wholes: dict[int, mosaic.Whole | None] = {}
        self.costs: dict[int, int | None] = {}
        self.lengths: dict[int, int] = {}  # instructions that compute a node's result where it is read
        for number in range(len(nodes)):  # in this order no node waits for many others
            self.again(number)
        for number, node in enumerate(nodes):
            own = None if node.prologue is None else node.prologue.array._buffer
            if node.result is None:
                self.stored.update(id(memory) for memory in node.reads if memory is not own)
                if own is not None and not self._is_spared(own, number) and not self._is_inside(own, number):
                    self.stored.add(id(own))

    def _is_spared(self, memory: Memory, number: int) -> bool:
        """Whether to compute what a dispatch reads in it: where nobody else reads it, and where that is cheap."""
        producer = self.producer(number, memory)
        if producer is None or self.again(producer) is None:
            return False
        alone = self.known.readers.get(id(memory)) == [number]
        return alone or self._is_cheap(producer, self.read.get(id(memory), 0) + _size(self.nodes[producer]))

    def _is_inside(self, memory: Memory, number: int) -> bool:
        """Whether what a dispatch reads is computed by the row program that it belongs to."""
        producer = self.producer(number, memory)
        return producer is not None and self.regions[producer] is self.regions[number]

    def work(self, region: Region) -> list[Work]:
        """The work of a region, the last one first; none where nobody needs its results in memory."""
        if region.rows is None and self.nodes[region.nodes[0]].result is None:
            together = self._sums(region) if len(region.nodes) > 1 else None
            return [together] if together else [self._reduced(one) or self.nodes[one] for one in region.nodes[::-1]]
        return [self._stored(region, wanted) for wanted in self._wanted(region)[::-1]]

    def _wanted(self, region: Region) -> list[list[int]]:
        """The nodes of a region whose results are stored, by kernels: none where nobody needs them in memory.

        Kernels that follow may read more of it than was to be stored: where they have no places to compute all of it again. Several
        kernels store these. What overwrites an operand comes last.
        """
        last = {_place(self.nodes[number]): number for number in region.nodes}
        wanted = [number for number in region.nodes if last[_place(self.nodes[number])] == number]
        wanted = [number for number in wanted if self._is_stored(self.nodes[number].writes[0])]
        if not wanted:
            self.inlined += len(region.nodes)
        if len(wanted) <= fused.RESULTS:
            return [wanted] if wanted else []
        new = [number for number in wanted if self._is_new(self.nodes[number].writes[0])]
        others = [number for number in wanted if not self._is_new(self.nodes[number].writes[0])]
        groups = [new[at : at + fused.RESULTS] for at in range(0, len(new), fused.RESULTS)]
        return [*groups, others] if others else groups

    def _is_new(self, memory: Memory) -> bool:
        """Whether one node alone writes to some memory, which was not there before."""
        return type(memory) is Value and not memory.given and len(self.known.writers[id(memory)]) == 1

    def _stored(self, region: Region, wanted: list[int]) -> Kernel | OfRows | Node:
        """The kernel of a region that stores some results, or a node that is as good."""
        first = self.nodes[region.nodes[0]]
        if region.rows is not None:
            program = RowExpression(self, region, region.rows).program(wanted)
            if not fused.has_places(program.program.inputs):
                program = RowExpression(self, region, region.rows, again=False).program(wanted)
            return program
        made = RegionExpression(self, region).made(wanted)
        if not fused.has_places(made.inputs):
            made = RegionExpression(self, region, again=False).made(wanted)
        if len(made.expression.steps) <= 1 and len(made.nodes) == 1 and made.nodes[0] is first and not made.has_pieces:
            return first  # by the kernel that eager calls use
        return made

    def _reduced(self, number: int) -> Reduced | None:
        """A dispatch with what it reads computed in it; None where that is not to be."""
        node = self.nodes[number]
        prologue = node.prologue
        if prologue is None or id(prologue.array._buffer) in self.stored:
            return None
        producer = self._computed(number)
        if producer is not None:
            shape = self.nodes[producer].result._shape  # type: ignore[union-attr]
            made = RegionExpression(self, self.regions[producer], stores=False).made([producer], prologue.dtype)
            # To compute elements of columns takes longer than to store them, but saves memory where they are of smaller arrays.
            apart = prologue.ungrouped is not None and any(views.reads_half(one, shape) for one in made.inputs)
            if prologue.fits(made.inputs, shape) and not apart:
                return Reduced(node, made.expression, made.inputs, shape, made.nodes)
        self.stored.add(id(prologue.array._buffer))
        return None

    def _computed(self, number: int) -> int | None:
        """The node that computes what a dispatch reads, where the dispatch may do so itself."""
        prologue = self.nodes[number].prologue
        assert prologue is not None
        array = prologue.array
        producer = self.producer(number, array._buffer)
        result = None if producer is None else self.nodes[producer].result
        if producer is None or result is None or not self.may_come_later(producer):
            return None
        if self.regions[producer].rows is not None or array._offset or array._dtype is not result._dtype:
            return None  # a row program stores it
        return producer

    def _sums(self, region: Region) -> Sums | None:
        """One dispatch for several sums; None where that has no places for all that it would read."""
        nodes = [self.nodes[number] for number in region.nodes]
        prologues = [node.prologue for node in nodes if node.prologue is not None]
        producers = [self._computed(number) for number in region.nodes]
        of = [self.regions[producer] for producer in producers if producer is not None]
        shape = prologues[0].array._shape
        if any(one.shape != shape for one in of):
            return None
        together = Together(
            functools.reduce(operator.or_, (one.members for one in of), 0), shape, set().union(*(one.reads for one in of)),
            set().union(*(one.numbers for one in of)),
        )  # fmt: skip
        sources = [(one.array, producer) for one, producer in zip(prologues, producers, strict=True)]
        made = RegionExpression(self, together, stores=False).of(sources, prologues[0].dtype)
        if not prologues[0].fits(made.inputs, shape):
            return None
        return Sums(tuple(nodes), made.expression, made.inputs, shape, made.nodes)

    def _is_stored(self, memory: Memory) -> bool:
        return type(memory) is not Value or memory.given or id(memory) in self.stored

    def producer(self, number: int, memory: Memory) -> int | None:
        """The node that has written what a node reads in some memory."""
        return self.known.last_writer[number].get(id(memory))

    def again(self, number: int) -> int | None:
        """What it costs to compute a node's result where it is read; None where that is not allowed."""
        if number not in self.costs:
            self.costs[number] = self._again(number)
        return self.costs[number]

    def whole(self, memory: Memory) -> mosaic.Whole | None:
        """The pieces that some memory consists of, where these can be read in its place."""
        key = id(memory)
        if key not in self.wholes:
            self.wholes[key] = self._whole(memory)
        return None if key in self.stored else self.wholes[key]

    def _whole(self, memory: Memory) -> mosaic.Whole | None:
        if type(memory) is not Value or memory.given:
            return None
        writers, readers = self.known.writers.get(id(memory), []), self.known.readers.get(id(memory), [])
        if not writers or not readers or writers[-1] > readers[0]:
            return None
        found = mosaic.whole_of(memory, [self.nodes[number] for number in writers])
        if found is None:
            return None
        for number, piece in zip(writers, found.pieces, strict=True):
            if any(writer > number for writer in self.known.writers.get(id(piece.source._buffer), ())):
                return None  # it is another value by the time that it is read
        return found

    def may_come_later(self, number: int) -> bool:
        """Whether a node's result can be computed where it is read, and is not in memory."""
        return self.again(number) is not None and id(self.nodes[number].writes[0]) not in self.stored

    def _again(self, number: int) -> int | None:
        node = self.nodes[number]
        result = node.result
        if result is None or node.operation is None or not is_own(result):
            return None
        if len(self.known.writers[id(result._buffer)]) > 1:
            return None
        cost, self.lengths[number] = node.operation.cost, length(node)
        for operand in node.inputs:
            if type(operand) is VkArray:
                if any(writer > number for writer in self.known.writers.get(id(operand._buffer), ())):
                    return None  # it is another value by the time that it is read
                before = self.producer(number, operand._buffer)
                if before is not None and self._is_here(before, operand):
                    cost += self.again(before) or 0
                    self.lengths[number] += self.lengths[before]
        return cost if self.lengths[number] <= LONGEST else None

    def _is_here(self, number: int, operand: VkArray) -> bool:
        """Whether an operand would be computed where it is read, too."""
        return self.worth_it(number, operand, math.prod(operand._shape))

    def worth_it(self, number: int, operand: VkArray, count: int) -> bool:
        """Whether to compute a node's result for `count` elements of an operand, rather than to store and to read it."""
        cost, result = self.again(number), self.nodes[number].result
        if cost is None or result is None or result._dtype is not operand._dtype or id(result._buffer) in self.stored:
            return False
        return self._is_cheap(number, self.read.get(id(result._buffer), 0) - math.prod(operand._shape) + count)

    def _is_cheap(self, number: int, count: int) -> bool:
        """Whether it costs less to compute `count` elements of a node's result than to store and to read these."""
        cost, result = self.again(number) or 0, self.nodes[number].result
        size = _size(self.nodes[number])
        saved = _SAVED[result._device.limits.kind] * size  # type: ignore[union-attr]
        return cost <= AGAIN or (cost <= ONCE and (count - size) * cost <= saved)


def _place(node: Node) -> tuple[Any, ...]:
    """What a node writes, if only in part."""
    made = node.made
    if made is None:
        return tuple(map(id, node.writes))
    return id(made._buffer), made._offset, made._shape, made._strides


def _size(node: Node) -> int:
    """How many elements the result of a node has."""
    return math.prod(node.result._shape)  # type: ignore[union-attr]
