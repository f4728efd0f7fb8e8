"""Arrays that are filled, and of which a block is then assigned: what is overwritten there is not written in the first place."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ..core import layout
from ..core.array import VkArray, array_in
from ..kernels import expressions
from . import views
from .trace import Node, is_own

# From so many elements of a block on, by the kind of device: a border takes dispatches of its own.
LEAST = {"cpu": 1 << 15, "gpu": 1 << 19}

# A range of places along each axis.
Box = Sequence[tuple[int, int]]


def with_borders(nodes: Sequence[Node]) -> list[Node]:
    """The nodes, with those that write the rest of an array in place of one that writes all of it."""
    found = list(nodes)
    for number in range(len(nodes) - 1, -1, -1):
        node = nodes[number]
        box = _overwritten(nodes, number)
        if box is not None and node.result is not None:
            found[number : number + 1] = [_part(node, slab) for slab in _rest(node.result._shape, box)]
    return found


def _overwritten(nodes: Sequence[Node], number: int) -> Box | None:
    """The block of what a node copies or fills that a later one writes, before anybody has read the array."""
    node = nodes[number]
    result = node.result
    if result is None or not _can_be_cut(node, nodes[:number]):
        return None
    memory = result._buffer
    for later in nodes[number + 1 :]:
        if any(one is memory for one in later.reads):
            return None
        if later.result is not None and later.result._buffer is memory:
            box = _box(result, later.result)
            if box is not None and math.prod(end - first for first, end in box) >= _least(result):
                return box
    return None


def _least(array: VkArray) -> int:
    return max(array.size // 2, LEAST[array._device.limits.kind])


def _can_be_cut(node: Node, before: Sequence[Node]) -> bool:
    """Whether a node fills memory of the program's, all of it, with numbers or with what is in other memory."""
    result, operation = node.result, node.operation
    assert result is not None
    if operation is None or operation.indexed or not is_own(result) or result.size < _least(result):
        return False
    read = {id(one._buffer) for one in node.inputs if isinstance(one, VkArray)}
    if read and not expressions.is_copy(operation):
        return False
    return not any(one.result is not None and id(one.result._buffer) in read for one in before)


def _box(whole: VkArray, part: VkArray) -> Box | None:
    """The block that a part of an array is; None where it is another part."""
    if part._dtype.itemsize != whole._dtype.itemsize:
        return None
    mapping = views.through(part._shape, part._strides, part._offset, whole._shape)
    if mapping is None:
        return None
    found = []
    for first, steps in zip(mapping.first, mapping.steps, strict=True):
        lengths = [length for step, length in zip(steps, part._shape, strict=True) if step]
        if len(lengths) > 1 or not set(steps) <= {0, 1}:
            return None
        found.append((first, first + (lengths[0] if lengths else 1)))
    return found


class _Slab(tuple[tuple[int, int, int, int], ...]):
    """Along each axis: where it begins, how long it is, how often it is there, and how far apart."""


def _rest(shape: layout.Shape, box: Box) -> Iterator[_Slab]:
    """What is left of a shape without a block: before it and behind it along each axis, at once where both are as thick."""
    inner = [(first, end - first, 1, 0) for first, end in box]
    for axis, (first, end) in enumerate(box):
        behind = shape[axis] - end
        ways = [(0, first, 1, 0), (end, behind, 1, 0)] if first != behind else [(0, first, 2, end)]
        for way in ways:
            if way[1]:
                yield _Slab((*inner[:axis], way, *((0, length, 1, 0) for length in shape[axis + 1 :])))


def _part(node: Node, slab: _Slab) -> Node:
    """A node that writes a slab of what another one writes."""
    result = node.result
    assert result is not None
    inputs = tuple(
        _view(one, layout.broadcast_strides(one._shape, one._strides, result._shape), slab)
        if isinstance(one, VkArray)
        else one
        for one in node.inputs
    )
    return node._replace(inputs=inputs, result=_view(result, result._strides, slab))


def _view(array: VkArray, strides: layout.Strides, slab: _Slab) -> VkArray:
    shape: list[int] = []
    steps: list[int] = []
    offset = array._offset
    for (first, length, times, apart), stride in zip(slab, strides, strict=True):
        offset += first * stride
        shape += [times] * (times > 1) + [length]
        steps += [apart * stride] * (times > 1) + [stride]
    return array_in(array._buffer, offset, tuple(shape), tuple(steps), array._dtype, array._device)
