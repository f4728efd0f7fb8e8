"""Which elementwise nodes become one kernel: regions of nodes with one shape, joined where no other work must lie between."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from ..core import layout
from ..core.array import VkArray, box_of
from ..core.dtypes import DType
from ..core.tokens import Token
from ..kernels import expressions, fused
from ..kernels.scalars import Scalar
from .trace import Memory, Node, Value, same_place

MOST = 512  # what the operations of a region cost, at most
# Nodes among which regions are made. What must come before and after a region is known within them alone: the time that this takes
# grows with the square of their number.
WINDOW = 512


class Read(NamedTuple):
    """An array that a node reads, and the node that has written it; one beyond all nodes for what none of them has written."""

    key: tuple[object, ...]
    writer: int


class Geometry(NamedTuple):
    """Rows of an array: its shape, and the axes of a row."""

    shape: layout.Shape
    axes: tuple[int, ...]


class Region:
    """Nodes that one kernel computes, or one that is none of these: which, and by bits what must come before and after."""

    __slots__ = (
        "after",
        "before",
        "cost",
        "length",
        "members",
        "nodes",
        "numbers",
        "reads",
        "rows",
        "shape",
        "window",
        "written",
    )

    def __init__(self, number: int, node: Node, known: Dependencies, window: range) -> None:
        self.nodes, self.window = [number], window
        self.members = 1 << number
        self.before = self.after = 0
        self.shape = None if node.result is None else node.result._shape
        self.rows: Geometry | None = None  # those that its nodes work on, where it is a row program
        self.cost = 0 if node.operation is None else node.operation.cost
        self.length = length(node)
        self.numbers: set[tuple[object, ...]] = set()
        self.reads: set[Read] = set()
        self.written: dict[int, list[VkArray]] = {}  # places in memory that several nodes write
        if node.made is not None and len(known.writers[id(node.made._buffer)]) > 1:
            self.written[id(node.made._buffer)] = [node.made]
        given: list[tuple[VkArray | Scalar, DType]] = []
        if node.operation is not None:
            given = list(zip(node.inputs, types_read(node), strict=True))
            if node.operation.indexed:
                self.reads.add(Read((number,), len(known.nodes)))
        elif node.rows is not None:
            given = [(node.rows.x, node.rows.source)]
        for operand, dtype in given:
            if type(operand) is Scalar:
                self.numbers.add(number_key(operand, dtype))
            elif type(operand) is VkArray:
                writer = known.last_writer[number].get(id(operand._buffer), len(known.nodes))
                key = id(operand._buffer), operand._offset, operand._shape, operand._strides, dtype
                self.reads.add(Read(key, writer))


class Dependencies:
    """Which nodes must come before which, and which values pass from one to another without a detour."""

    def __init__(self, nodes: Sequence[Node], returned: Iterable[Memory]) -> None:
        self.nodes, self.returned = nodes, set(map(id, returned))
        self.direct = [0] * len(nodes)  # by bits
        self.last_writer: list[dict[int, int]] = []  # of each memory that a node reads, when it reads
        self.writers: dict[int, list[int]] = {}
        self.readers: dict[int, list[int]] = {}
        written: dict[int, int] = {}
        since: dict[int, int] = {}  # who has read memory since it was last written, by bits
        for number, node in enumerate(nodes):
            self.last_writer.append({id(memory): written[id(memory)] for memory in node.reads if id(memory) in written})
            for writer in self.last_writer[-1].values():
                self.direct[number] |= 1 << writer
            for memory in node.writes:
                key = id(memory)
                self.direct[number] |= since.get(key, 0)
                if key in written:
                    self.direct[number] |= 1 << written[key]
            for memory in node.writes:
                written[id(memory)], since[id(memory)] = number, 0
                self.writers.setdefault(id(memory), []).append(number)
            for memory in dict.fromkeys(map(id, node.reads)):
                since[memory] = since.get(memory, 0) | 1 << number
                self.readers.setdefault(memory, []).append(number)
            self.direct[number] &= ~(1 << number)
        self.read_by = list(map(self._read_by, nodes))

    def _read_by(self, node: Node) -> int:
        """Who reads a node's result from memory or elsewhere, by bits; one bit beyond all nodes for who is none of them."""
        beyond = 1 << len(self.nodes)
        if node.made is None:
            return beyond
        memory = node.made._buffer
        readers = sum(1 << reader for reader in self.readers.get(id(memory), ()))
        if type(memory) is not Value or memory.given or id(memory) in self.returned:
            return readers | beyond
        return readers or beyond

    def pass_values(self, first: int, second: int) -> bool:
        """Whether one kernel may compute both of two nodes, of which the second depends on the first."""
        one, other = self.nodes[first], self.nodes[second]
        if one.result is None or other.result is None:
            return False
        if one.result._buffer is other.result._buffer and not (
            same_place(one.result, other.result) or apart(one.result, other.result)
        ):
            return False
        read = [array for array in other.inputs if type(array) is VkArray and array._buffer is one.result._buffer]
        if read and self.last_writer[second].get(id(one.result._buffer)) != first:
            return False
        overwritten = [
            array for array in one.inputs if type(array) is VkArray and array._buffer is other.result._buffer
        ]
        return all(same_place(array, one.result) for array in read) and all(
            same_place(array, other.result) for array in overwritten
        )


def regions(nodes: Sequence[Node], known: Dependencies) -> list[Region]:
    """The region of each node."""
    of: list[Region] = []
    for window in _windows(nodes):
        of += [Region(number, nodes[number], known, window) for number in window]
        _order(of, window, known)
    for number, node in enumerate(nodes):
        if node.result is None:
            continue
        for writer in known.last_writer[number].values():
            _join(of[writer], of[number], of, known)
    latest: dict[int, list[int]] = {}  # nodes that read some memory, which may be computed together
    for number, node in enumerate(nodes):
        if node.result is None:
            continue
        for memory in dict.fromkeys(map(id, node.reads)):
            for neighbour in latest.get(memory, ())[-2:]:
                _join(of[neighbour], of[number], of, known)
            latest.setdefault(memory, []).append(number)
    return of


def _windows(nodes: Sequence[Node]) -> Iterator[range]:
    """Nodes in their order, in parts that end after work that is not elementwise, where there is any in their second halves."""
    begin = 0
    while begin < len(nodes):
        end = min(begin + WINDOW, len(nodes))
        if end < len(nodes):
            others = (number for number in range(end - 1, end - WINDOW // 2, -1) if nodes[number].operation is None)
            end = next(others, end - 1) + 1
        yield range(begin, end)
        begin = end


def _order(of: Sequence[Region], window: range, known: Dependencies) -> None:
    """Tell the regions of a window, of one node each, what must come before and after them."""
    inside = (1 << window.stop) - (1 << window.start)
    for number in window:
        direct = of[number].before = known.direct[number] & inside
        for earlier in bits(direct):
            of[number].before |= of[earlier].before
    for number in reversed(window):
        for earlier in bits(known.direct[number] & inside):
            of[earlier].after |= of[number].after | 1 << number


def _join(one: Region, other: Region, of: list[Region], known: Dependencies) -> None:
    """Make one region of two where that is allowed."""
    if one is other or one.window != other.window or one.shape is None or one.shape != other.shape:
        return
    members = one.members | other.members
    if (one.after & other.before | other.after & one.before) & ~members:
        return
    for before, after in ((one, other), (other, one)):
        for second in after.nodes:
            for first in bits(known.direct[second] & before.members):
                if not known.pass_values(first, second):
                    return
    if not is_possible(one, other, known):
        return
    merge(one, other, of)


def merge(one: Region, other: Region, of: list[Region]) -> None:
    """Make one region of two."""
    members = one.members | other.members
    for memory, places in other.written.items():
        mine = one.written.setdefault(memory, [])
        mine += [place for place in places if not any(same_place(place, own) for own in mine)]
    one.cost += other.cost
    one.length += other.length
    one.numbers |= other.numbers
    one.reads = {read for read in one.reads | other.reads if not members >> read.writer & 1}
    one.nodes, one.members = sorted(one.nodes + other.nodes), members
    one.before = (one.before | other.before) & ~members
    one.after = (one.after | other.after) & ~members
    for number in other.nodes:
        of[number] = one
    for region in dict.fromkeys(of[one.window.start : one.window.stop]):
        if region is not one:
            if region.members & one.before:
                region.after |= one.after | members
            if region.members & one.after:
                region.before |= one.before | members


def is_possible(one: Region, other: Region, known: Dependencies, passes: int = 1) -> bool:
    """Whether one kernel may compute both, so many times, by its operands and operations, and by what both write."""
    members = one.members | other.members
    if any(
        not (same_place(place, own) or apart(place, own))
        for memory, places in other.written.items()
        for place in places
        for own in one.written.get(memory, ())
    ):
        return False
    return (
        passes * (one.cost + other.cost) <= MOST
        and one.length + other.length <= expressions.INSTRUCTIONS // 2
        and len(one.numbers | other.numbers) <= fused.NUMBERS
        and sum(not members >> read.writer & 1 for read in one.reads | other.reads) <= fused.INPUTS
        and sum(bool(known.read_by[number] & ~members) for number in one.nodes + other.nodes) <= fused.RESULTS
    )


def length(node: Node) -> int:
    """How many instructions a node's operation has; 0 where it is none that can be a part of another kernel."""
    return 0 if node.operation is None else expressions.length(node.operation, node.result._device)  # type: ignore[union-attr]


def apart(one: VkArray, other: VkArray) -> bool:
    """Whether two arrays in the same memory are known to have no element in common."""
    return layout.apart(box_of(one), box_of(other))


def number_key(number: Scalar, dtype: DType) -> tuple[object, ...]:
    """What tells a number among inputs from others: one that the caller gives may be another one in each call."""
    value = number.value
    return "number", dtype, ("argument", value.place) if isinstance(value, Token) else number.bits


def types_read(node: Node) -> tuple[DType, ...]:
    """The type as which a node reads each of its inputs."""
    operation = node.operation
    assert operation is not None
    return tuple(one._dtype for one in node.inputs) if expressions.is_copy(operation) else operation.inputs


def in_order(of: Sequence[Region], known: Dependencies) -> list[Region]:
    """Regions in an order that keeps to their dependencies, and else to that of the trace."""
    found = list(dict.fromkeys(of))
    waits: dict[Region, int] = dict.fromkeys(found, 0)
    then: dict[Region, set[Region]] = {region: set() for region in found}
    for region in found:
        needs = {of[first] for number in region.nodes for first in bits(known.direct[number])} - {region}
        waits[region] = len(needs)
        for one in needs:
            then[one].add(region)
    ready = [(region.nodes[0], place) for place, region in enumerate(found) if not waits[region]]
    places = {region: place for place, region in enumerate(found)}
    heapify(ready)
    order = []
    while ready:
        region = found[heappop(ready)[1]]
        order.append(region)
        for one in then[region]:
            waits[one] -= 1
            if not waits[one]:
                heappush(ready, (one.nodes[0], places[one]))
    return order


def bits(mask: int) -> Iterator[int]:
    """The places of the bits that are set."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
