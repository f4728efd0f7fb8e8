"""From regions to work: each becomes a kernel, and what is cheaper to compute again than to store is never stored."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from .. import configuration
from ..core import dtypes, layout
from ..core.array import VkArray, array_in
from ..core.dtypes import DType
from ..kernels import expressions, fused, row_program
from ..kernels.expressions import As, Expression, Step
from ..kernels.fused import Index
from ..kernels.launch import Operation
from ..kernels.reductions import Reduce, sums_variant, uses_shared_memory
from ..kernels.scalars import Scalar
from . import mosaic, rows, short, sums, views
from .borders import with_borders
from .regions import Dependencies, Geometry, Read, Region, in_order, length, number_key, regions, types_read
from .simplify import living, without_repetitions
from .stored import with_steps
from .trace import Memory, Node, Value, is_whole

# What may be computed where it is read rather than stored: up to a cost always, and up to another one where what is computed more
# often than once costs less for each element than the memory takes, by the kind of device.
AGAIN, ONCE = 6, 64
LONGEST = expressions.INSTRUCTIONS // 18  # and of so many instructions at most, which a kernel may have often
_SAVED = {"cpu": 8, "gpu": 28}
STEPS = 384  # a kernel that has as many computes no more results again


class Kernel(NamedTuple):
    """One kernel for several nodes: what it computes, of which inputs, into which results."""

    expression: Expression
    inputs: tuple[Any, ...]  # as those of an evaluation, and mosaics
    results: tuple[VkArray, ...]
    nodes: tuple[Node, ...]
    cuts: tuple[tuple[int, ...], ...]  # along each axis, for dispatches that each read one piece of inputs

    @property
    def has_pieces(self) -> bool:
        """Whether it reads pieces in place of an array, which is not stored then."""
        return any(isinstance(one, mosaic.Mosaic) for one in self.inputs)

    def parts(self) -> Iterator[tuple[tuple[VkArray | Scalar | Index, ...], tuple[VkArray, ...]]]:
        """The inputs and results of each of its dispatches."""
        return mosaic.parts(self.inputs, self.results, self.cuts)


class Reduced(NamedTuple):
    """A dispatch that computes the elements of what it would read: the only result of an expression."""

    node: Node
    expression: Expression
    inputs: tuple[VkArray | Scalar | Index, ...]
    shape: layout.Shape
    nodes: tuple[Node, ...]


class Sums(NamedTuple):
    """A dispatch in place of several that add up as many elements, which it computes: the results of an expression."""

    reductions: tuple[Node, ...]
    expression: Expression
    inputs: tuple[VkArray | Scalar | Index, ...]
    shape: layout.Shape
    nodes: tuple[Node, ...]

    def send(self) -> None:
        """Make the dispatch."""
        prologue = self.reductions[0].prologue
        assert prologue is not None
        device = prologue.array._device
        variant = sums_variant(device, prologue.dtype, len(self.reductions), uses_shared_memory(device))
        dispatches = [node.dispatch for node in self.reductions if node.dispatch is not None]
        prologue.send_sums(dispatches, variant, self.expression, self.inputs, self.shape)


class OfRows(NamedTuple):
    """One kernel for several nodes that reduce rows or work on the same ones."""

    program: row_program.Rows
    nodes: tuple[Node, ...]


Work = Kernel | Reduced | Sums | OfRows | Node


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
    every = with_steps(traced, returned)
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
    return Fused(work, len(traced), len(every) - len(alive), len(alive) - len(once), builder.inlined, values)


def _work(
    nodes: Sequence[Node], returned: Sequence[Memory], alone: int = 0
) -> tuple[list[Work], Dependencies, list[Region], _Builder]:
    """The work of nodes, and how it came about. Those of the bits `alone` are no part of row programs."""
    known = Dependencies(nodes, returned)
    of = regions(nodes, known)
    rows.join(of, known, alone)
    sums.join(of, known)
    order = in_order(of, known)
    builder = _Builder(nodes, known, order, returned)
    work: list[Work] = []
    for region in reversed(order):
        work += builder.work(region)
    return work[::-1], known, of, builder


class _Builder:
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
            program = _RowExpression(self, region, region.rows).program(wanted)
            if not fused.has_places(program.program.inputs):
                program = _RowExpression(self, region, region.rows, again=False).program(wanted)
            return program
        made = _Expression(self, region).made(wanted)
        if not fused.has_places(made.inputs):
            made = _Expression(self, region, again=False).made(wanted)
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
            made = _Expression(self, self.regions[producer], stores=False).made([producer], prologue.dtype)
            if prologue.fits(made.inputs, shape):
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
        together = _Together(
            functools.reduce(operator.or_, (one.members for one in of), 0), shape, set().union(*(one.reads for one in of)),
            set().union(*(one.numbers for one in of)),
        )  # fmt: skip
        sources = [(one.array, producer) for one, producer in zip(prologues, producers, strict=True)]
        made = _Expression(self, together, stores=False).of(sources, prologues[0].dtype)
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
        if result is None or type(result._buffer) is not Value or result._buffer.given or not is_whole(result):
            return None
        if len(self.known.writers[id(result._buffer)]) > 1:
            return None
        cost, self.lengths[number] = expressions.cost(node.operation), length(node)
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


class _Together(NamedTuple):
    """Several regions, of which one expression takes nodes."""

    members: int
    shape: layout.Shape
    reads: set[Read]
    numbers: set[tuple[object, ...]]


class _Expression:
    """The expression of a region in the making."""

    def __init__(self, builder: _Builder, region: Region | _Together, stores: bool = True, again: bool = True) -> None:
        """Unless it `stores`, it is computed later than the region, of what is still in memory then; `again` is whether it
        may compute results of other regions."""
        self.builder, self.region, self.stores = builder, region, stores
        self.shape: layout.Shape = region.shape or ()
        self.identity = views.identity(self.shape)
        self.inputs: dict[Any, tuple[Any, DType]] = {}
        self.operations: list[tuple[Any, tuple[Any, ...], Any]] = []  # values are keys of inputs, or numbers of steps
        self.values: dict[Any, Any] = {}
        self.nodes: dict[int, None] = {}
        self.cuts: list[set[int]] | None = (
            [set() for _ in self.shape] if stores else None
        )  # None: it has to be one dispatch
        # Inputs that may come when results are computed again.
        self.spare = fused.INPUTS - len(region.reads) if again else -1
        self.spare_numbers = fused.NUMBERS - len(region.numbers)

    def made(self, wanted: Sequence[int], as_type: DType | None = None) -> Kernel:
        """The kernel that stores the results of some nodes, by their bits as another type where one is given."""
        arrays = [self.builder.nodes[number].result for number in wanted]
        for number in self._needed(wanted):  # in this order no node waits for many others
            self._node(number, self.identity)
        found = [self._node(number, self.identity) for number in wanted]
        kinds = [as_type or array._dtype for array in arrays]  # type: ignore[union-attr]
        found = [
            self._as(value, array._dtype, kind)  # type: ignore[union-attr]
            for value, array, kind in zip(found, arrays, kinds, strict=True)
        ]
        expression = self._expression(found, kinds)
        nodes = tuple(self.builder.nodes[number] for number in self.nodes)
        cuts = tuple(tuple(sorted(one)) for one in self.cuts or [set() for _ in self.shape])
        return Kernel(expression, tuple(one for one, _ in self.inputs.values()), tuple(arrays), nodes, cuts)  # type: ignore[arg-type]

    def of(self, sources: Sequence[tuple[VkArray, int | None]], kind: DType) -> Kernel:
        """The kernel that computes arrays as a type, of which some are made by a node that computes them now."""
        wanted = [producer for _, producer in sources if producer is not None]
        for number in self._needed(wanted):  # in this order no node waits for many others
            self._node(number, self.identity)
        found = []
        for array, producer in sources:
            if producer is None:
                self.builder.stored.add(id(array._buffer))
                found.append(self._input((id(array._buffer), array._offset, array._strides, kind), array, kind))
            else:
                found.append(self._as(self._node(producer, self.identity), array._dtype, kind))
        nodes = tuple(self.builder.nodes[number] for number in self.nodes)
        expression = self._expression(found, [kind] * len(found))
        return Kernel(expression, tuple(one for one, _ in self.inputs.values()), (), nodes, ())

    def _expression(self, results: Sequence[Any], kinds: Sequence[DType]) -> Expression:
        """The expression with some values as its results."""
        places = {key: place for place, key in enumerate(self.inputs)}

        def number_of(value: Any) -> int:
            return len(places) + value if type(value) is int else places[value]

        steps = tuple(
            Step(operation, tuple(map(number_of, operands)), None if index is None else number_of(index))
            for operation, operands, index in self.operations
        )
        found = tuple((number_of(value), kind) for value, kind in zip(results, kinds, strict=True))
        inputs = tuple(dtype for _, dtype in self.inputs.values())
        return Expression(inputs, steps, found, configuration.current().contract)

    def _needed(self, wanted: Sequence[int]) -> list[int]:
        """The nodes of the region whose results those of some nodes are made of, in order."""
        found, left = set(wanted), list(wanted)
        while left:
            number = left.pop()
            for operand in self.builder.nodes[number].operands:
                if type(operand) is VkArray:
                    producer = self.builder.producer(number, operand._buffer)
                    if producer is not None and self._is_inside(producer, number) and producer not in found:
                        found.add(producer)
                        left.append(producer)
        return sorted(found)

    def _is_inside(self, producer: int, number: int) -> bool:
        """Whether a node takes what another one has made without a detour through memory."""
        nodes = self.region.members
        return bool(nodes >> producer & nodes >> number & 1) and (self.stores or self.builder.may_come_later(producer))

    def _node(self, number: int, mapping: views.Mapping) -> Any:
        """The value of a node's result at the places that a mapping leads to."""
        key = number, mapping
        if key in self.values:
            return self.values[key]
        node = self.builder.nodes[number]
        operation, result = node.operation, node.result
        assert operation is not None
        assert result is not None
        self.nodes[number] = None
        operands = [
            self._operand(number, operand, dtype, result._shape, mapping)
            for operand, dtype in zip(node.inputs, types_read(node), strict=True)
        ]
        index = None
        if operation.indexed:
            strides, origin = mapping.of(layout.contiguous_strides(result._shape), node.origin)
            index = self._input(("index", strides, origin), Index(strides, origin), dtypes.uint32)
        if expressions.is_copy(operation):
            made = self._as(operands[0], node.inputs[0]._dtype, result._dtype)
        else:
            made = self._as(self._step(operation, tuple(operands), index), operation.result, result._dtype)
        self.values[key] = made
        return made

    def _step(self, operation: Operation | As | Reduce, operands: tuple[Any, ...], index: Any = None) -> int:
        """The value of a step, which is made once."""
        key = operation, *operands, index
        made = self.values.get(key)
        if made is None:
            made = self.values[key] = len(self.operations)
            self.operations.append((operation, operands, index))
        return made

    def _as(self, value: Any, source: DType, wanted: DType) -> Any:
        """A value of one type as one of another, for operations that move elements by their bits."""
        return value if source is wanted else self._step(As(source, wanted), (value,))

    def _operand(
        self, number: int, operand: VkArray | Scalar, dtype: DType, shape: layout.Shape, mapping: views.Mapping
    ) -> Any:  # fmt: skip
        """The value of an operand of a node that has a shape."""
        if not isinstance(operand, VkArray):
            return self._input(number_key(operand, dtype), operand, dtype)
        builder = self.builder
        producer = builder.producer(number, operand._buffer)
        strides, offset = mapping.of(layout.broadcast_strides(operand._shape, operand._strides, shape), operand._offset)
        if producer is not None:
            if mapping == self.identity and self._is_inside(producer, number):
                return self._as(self._node(producer, mapping), operand._dtype, dtype)
            result = builder.nodes[producer].result
            if result is not None and builder.worth_it(producer, operand, math.prod(self.shape)):
                found = views.through(self.shape, strides, offset, result._shape)
                if found is not None and self._has_room(producer, found):
                    return self._as(self._node(producer, found), operand._dtype, dtype)
        pieces = self._mosaic(operand, strides, offset)
        if pieces is not None:
            return self._input(("pieces", id(operand._buffer), offset, strides, dtype), pieces, dtype)
        builder.stored.add(id(operand._buffer))
        wide = any(stride for stride, length in zip(strides, self.shape, strict=True) if length != 1)
        array = array_in(
            operand._buffer, offset, self.shape if wide else (), strides if wide else (), operand._dtype, operand._device
        )  # fmt: skip
        return self._input((id(operand._buffer), offset, strides, dtype), array, dtype)

    def _mosaic(self, operand: VkArray, strides: layout.Strides, offset: int) -> mosaic.Mosaic | None:
        """An operand as pieces that lie elsewhere, which are then stored; None where it has to be stored itself."""
        whole = None if self.cuts is None else self.builder.whole(operand._buffer)
        if whole is None or whole.pieces[0].source._dtype is not operand._dtype:
            return None
        mapping = views.through(self.shape, strides, offset, whole.shape)
        found = None if mapping is None else mosaic.cuts(whole, mapping, self.shape)
        if mapping is None or found is None:
            return None
        together = [one | other for one, other in zip(self.cuts, found, strict=True)]  # type: ignore[arg-type]
        if math.prod(len(one) + 1 for one in together) > mosaic.MOST_PARTS:
            return None
        self.cuts = together
        self.builder.stored.update(id(piece.source._buffer) for piece in whole.pieces)
        return mosaic.Mosaic(whole.pieces, mapping)

    def _has_room(self, number: int, mapping: views.Mapping) -> bool:
        """Whether a node's result may be computed again at the places that a mapping leads to: take the room for its inputs."""
        if (number, mapping) in self.values:
            return True
        node = self.builder.nodes[number]
        numbers = sum(type(one) is Scalar for one in node.inputs)
        read = {(id(one._buffer), one._offset, one._shape, one._strides) for one in node.inputs if type(one) is VkArray}
        more = max(0, len(read) + node.operation.indexed - 1)  # type: ignore[union-attr]
        if more > self.spare or numbers > self.spare_numbers or len(self.operations) >= STEPS:
            return False
        self.spare -= more
        self.spare_numbers -= numbers
        return True

    def _input(self, key: Any, one: VkArray | Scalar | Index | mosaic.Mosaic, dtype: DType) -> Any:
        self.inputs.setdefault(key, (one, dtype))
        return key


class _RowExpression(_Expression):
    """The expression of a row program in the making."""

    def __init__(self, builder: _Builder, region: Region, geometry: Geometry, again: bool = True) -> None:
        self.geometry = geometry
        self.parameters: list[tuple[Any, Any]] = []
        super().__init__(builder, region, again=again)
        self.cuts = None
        self.shape = geometry.shape
        self.identity = views.identity(self.shape)

    def program(self, wanted: Sequence[int]) -> OfRows:
        """The program that stores the results of some nodes."""
        nodes = self.builder.nodes
        arrays: list[Any] = [nodes[number].made for number in wanted]
        for number in self._needed(wanted):  # in this order no node waits for many others
            self._home(number)
        found = [self._home(number) for number in wanted]
        expression = self._expression(found, [one._dtype for one in arrays])
        inputs = tuple(one for one, _ in self.inputs.values())
        made = row_program.Rows(expression, inputs, tuple(arrays), *self.geometry, tuple(self.parameters))
        return OfRows(made, tuple(nodes[number] for number in sorted(self.nodes)))

    def _home(self, number: int) -> Any:
        """The value of a node's result, for its row or each element of it."""
        node = self.builder.nodes[number]
        if node.rows is not None:
            return self._reduced(number)
        assert node.result is not None
        return self._node(number, rows.mapping(self.geometry, node.result._shape))

    def _reduced(self, number: int) -> Any:
        """The value of a reduction."""
        key = "reduced", number
        if key not in self.values:
            node = self.builder.nodes[number]
            made = node.rows
            assert made is not None
            self.nodes[number] = None
            operation = Reduce(made.row, made.types, len(self.parameters))
            self.parameters.append(made.parameters)
            x = self._operand(number, made.x, operation.source, self.shape, self.identity)
            self.values[key] = self._as(self._step(operation, (x,)), operation.result, made.types[2])
        return self.values[key]

    def _operand(
        self, number: int, operand: VkArray | Scalar, dtype: DType, shape: layout.Shape, mapping: views.Mapping
    ) -> Any:  # fmt: skip
        producer = self.builder.producer(number, operand._buffer) if isinstance(operand, VkArray) else None
        if isinstance(operand, VkArray) and producer is not None and self._is_inside(producer, number):
            return self._as(self._home(producer), operand._dtype, dtype)
        return super()._operand(number, operand, dtype, shape, mapping)
