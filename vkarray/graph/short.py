"""Reductions of short rows as elementwise operations on views: each element of a row is read, or computed, where it is needed.

Elements are combined in the order of `glsl/reduce.comp`: so few are the leaves of one binary tree, which joins neighbours.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from ..core.array import VkArray, array_in
from ..kernels import fused
from ..kernels.launch import Operation
from ..kernels.reduction_run import RowReduction
from ..kernels.rows import ROWS
from ..kernels.scalars import Scalar
from .regions import Dependencies, Region
from .trace import Node, Value

# The elementwise operation that joins two elements as a reduction does, and the ones of what is joined and a number, by which a
# floating result is finished: 0, or the length of a row.
_JOINED: dict[str, tuple[str, tuple[str, ...]]] = {
    "sum": ("add", ("add",)), "prod": ("multiply", ()), "mean": ("add", ("add", "divide")),
}  # fmt: skip


def candidates(known: Dependencies, of: Sequence[Region], stored: Collection[int]) -> set[int]:
    """The reductions to take apart: where they join a kernel that computes what they read, or what is made of them.

    `of` has the region of each node, `stored` the memory that the work of these regions reads.
    """
    found = set()
    for region in dict.fromkeys(of):
        reductions = [number for number in region.nodes if known.nodes[number].rows is not None]
        apart = bool(reductions) and all(_can_be_apart(known.nodes[number]) for number in reductions)
        if apart and _has_company(region, known, stored) and not _reads_again(region, reductions, known, stored):
            found.update(reductions)
    return found


def _can_be_apart(node: Node) -> bool:
    made = node.rows
    assert made is not None
    _, state, result = made.types
    kept = tuple(size for axis, size in enumerate(made.x._shape) if axis not in made.axes)
    return (
        made.row.name in _JOINED and made.x._dtype is state is result and result.name in ("float32", "float64", "int64")
        and 2 <= _length(made) <= min(fused.INPUTS, made.leaves) and made.result._shape == kept
    )  # fmt: skip


def _length(made: RowReduction) -> int:
    return math.prod(made.x._shape[axis] for axis in made.axes)


def _reads_again(region: Region, reductions: Sequence[int], known: Dependencies, stored: Collection[int]) -> bool:
    """Whether elements of the rows are stored, or computed of what a reduction finds: a kernel of rows reads them once for all."""
    shape = known.nodes[reductions[0]].rows.x._shape  # type: ignore[union-attr]
    after = 0
    for number in region.nodes:
        node = known.nodes[number]
        follows = bool(known.direct[number] & after)
        if number in reductions or follows:
            after |= 1 << number
        whole = node.rows is None and node.result is not None and node.result._shape == shape
        if whole and (follows or id(node.writes[0]) in stored):
            return True
    return False


def _has_company(region: Region, known: Dependencies, stored: Collection[int]) -> bool:
    """Whether more than a reduction of what lies in memory is computed."""
    if len(region.nodes) > 1:
        return True
    (number,) = region.nodes
    made = known.nodes[number].rows
    assert made is not None
    memory = id(made.x._buffer)
    producer = known.last_writer[number].get(memory)
    return producer is not None and known.nodes[producer].result is not None and memory not in stored


def apart(nodes: Sequence[Node], numbers: Collection[int]) -> tuple[list[Node], list[Value], int]:
    """The nodes with elementwise ones in place of some reductions, the memory of what these make on the way, and which they are, by
    bits. A row program would compute elements once for each of its reductions."""
    found: list[Node] = []
    values: list[Value] = []
    alone = 0
    for number, node in enumerate(nodes):
        if number in numbers:
            for one in _joined(node, values):
                alone |= 1 << len(found)
                found.append(one)
        else:
            found.append(node)
    return found, values, alone


def _joined(node: Node, values: list[Value]) -> Iterator[Node]:
    """The nodes that join neighbours, until all of a row are joined."""
    made = node.rows
    assert made is not None
    joining, after = _JOINED[made.row.name]
    after = after if made.result._dtype.kind == "f" else ()
    operation = ROWS[joining].operation(made.types[1])
    total = _like(made.result, values) if after else made.result
    level = list(_elements(made))
    while len(level) > 1:
        pairs = [level[place : place + 2] for place in range(0, len(level), 2)]
        level = [
            pair[0] if len(pair) == 1 else total if len(pairs) == 1 else _like(made.result, values) for pair in pairs
        ]
        for pair, result in zip(pairs, level, strict=True):
            if len(pair) == 2:
                yield _node(node, operation, pair, result)
    for place, name in enumerate(after, 1):
        number = Scalar(float(_length(made)) if name == "divide" else 0.0, total._dtype, total._device)
        result = made.result if place == len(after) else _like(made.result, values)
        yield _node(node, ROWS[name].operation(total._dtype), (total, number), result)
        total = result


def _node(node: Node, operation: Operation, inputs: Sequence[VkArray | Scalar], result: VkArray) -> Node:
    """An elementwise node in place of a part of another one."""
    reads = tuple(one._buffer for one in inputs if isinstance(one, VkArray))
    return Node(reads, (result._buffer,), node.line, None, operation, tuple(inputs), result)


def _like(array: VkArray, values: list[Value]) -> VkArray:
    """An array of the same form in new memory."""
    made: Any = Value(array._device, array._buffer.nbytes)
    values.append(made)
    return array_in(made, 0, array._shape, array._strides, array._dtype, array._device, True)


def _elements(made: RowReduction) -> Iterator[VkArray]:
    """A view of each element of all rows."""
    x, axes = made.x, made.axes
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    for place in itertools.product(*(range(x._shape[axis]) for axis in axes)):
        offset = x._offset + sum(step * x._strides[axis] for axis, step in zip(axes, place, strict=True))
        shape, strides = tuple(x._shape[axis] for axis in kept), tuple(x._strides[axis] for axis in kept)
        yield array_in(x._buffer, offset, shape, strides, x._dtype, x._device)
