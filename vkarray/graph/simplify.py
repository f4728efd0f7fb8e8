"""Nodes that need not be: those whose results nobody reads, those that repeat another one, and copies of what stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .._vk.pointer import Pointer
from ..core.array import VkArray, array_in
from ..core.tokens import Token
from ..kernels.expressions import is_copy
from ..kernels.scalars import Scalar
from .trace import Memory, Node, Value, is_own


def living(nodes: Sequence[Node], kept: Iterable[Memory]) -> list[Node]:
    """The nodes that write to kept memory, to memory that the program does not own, or to what such nodes read."""
    needed = set(map(id, kept))
    alive = []
    for node in reversed(nodes):
        if any(type(memory) is not Value or memory.given or id(memory) in needed for memory in node.writes):
            needed.update(map(id, node.reads))
            alive.append(node)
    return alive[::-1]


def without_copies(nodes: Sequence[Node], kept: Iterable[Memory]) -> list[Node]:
    """The nodes without those that copy all of some memory of the program's to other memory, neither of which is written later."""
    returned, writers = set(map(id, kept)), _writers(nodes)
    same: dict[int, Memory] = {}
    found: list[Node] = []
    before: list[int] = []  # how many nodes are found before each
    for place, node in enumerate(nodes):
        before.append(len(found))
        if same:  # also where a dispatch reads a copy of what its product is of
            node = renamed(node, lambda memory: same.get(id(memory), memory))
        if node.stored is not None and node.stored.nodes:
            own = len(found) + 1 - before[place + 1 - node.stored.nodes]
            node = node._replace(stored=node.stored._replace(nodes=own))
        source, result = node.inputs[0] if node.inputs else None, node.result
        if (
            type(source) is VkArray and result is not None and _is_whole_copy(node, source, result)
            and writers.get(id(source._buffer), [place])[-1] < place and writers[id(result._buffer)] == [place]
            and id(result._buffer) not in returned
        ):  # fmt: skip
            same[id(result._buffer)] = source._buffer
        else:
            found.append(node)
    return found


def _writers(nodes: Sequence[Node]) -> dict[int, list[int]]:
    """By memory, the places of the nodes that write to it."""
    found: dict[int, list[int]] = {}
    for place, node in enumerate(nodes):
        for memory in dict.fromkeys(map(id, node.writes)):
            found.setdefault(memory, []).append(place)
    return found


def _is_whole_copy(node: Node, source: VkArray, result: VkArray) -> bool:
    """Whether a node copies all of some memory of the program's to other memory, in the same order."""
    return (
        node.operation is not None and is_copy(node.operation) and node.stored is None
        and source._dtype is result._dtype and source.size == result.size and is_own(source) and is_own(result)
    )  # fmt: skip


def without_repetitions(nodes: Sequence[Node], kept: Iterable[Memory]) -> list[Node]:
    """The nodes without elementwise ones that compute what one before them has computed of the same values."""
    returned, writers = set(map(id, kept)), _writers(nodes)
    versions: dict[int, int] = {}
    known: dict[Any, Memory] = {}
    same: dict[int, Memory] = {}
    found = []
    for node in nodes:
        if any(id(memory) in same for memory in node.reads):
            node = renamed(node, lambda memory: same.get(id(memory), memory))
        result = node.result
        if result is not None and is_own(result) and len(writers[id(result._buffer)]) == 1:
            key = (
                node.operation, node.origin, result._shape, result._dtype,
                tuple(_operand_key(one, versions) for one in node.inputs),
            )  # fmt: skip
            before = known.get(key)
            if before is not None and id(result._buffer) not in returned:
                same[id(result._buffer)] = before
                continue
            known.setdefault(key, result._buffer)
        for memory in node.writes:
            versions[id(memory)] = versions.get(id(memory), 0) + 1
        found.append(node)
    return found


def _operand_key(operand: VkArray | Scalar, versions: dict[int, int]) -> Any:
    if type(operand) is Scalar:
        value = operand.value
        return ("number", operand._dtype, ("argument", value.place) if isinstance(value, Token) else operand.bits)
    number = id(operand._buffer)
    return number, versions.get(number, 0), operand._offset, operand._shape, operand._strides, operand._dtype


def renamed(node: Node, other: Callable[[Memory], Memory]) -> Node:
    """A node that uses other memory."""
    inputs = tuple(moved(one, other) if type(one) is VkArray else one for one in node.inputs)
    result = None if node.result is None else moved(node.result, other)
    dispatch = node.dispatch
    reads, writes = tuple(map(other, node.reads)), tuple(map(other, node.writes))
    if dispatch is not None:
        fields = {name: _renamed(value, other) for name, value in dispatch.fields.items()}
        bindings = dispatch.bindings
        if bindings:
            bindings = [one._replace(buffer=other(one.buffer)) for one in bindings]
        dispatch = dispatch._replace(fields=fields, reads=reads, writes=writes, bindings=bindings)
    prologue = node.prologue
    if prologue is not None:
        prologue = prologue._replace(array=moved(prologue.array, other))
    rows = node.rows
    if rows is not None:
        rows = rows._replace(x=moved(rows.x, other), result=moved(rows.result, other))
    stored = node.stored
    if stored is not None:
        stored = stored._replace(what=stored.what.seen(lambda array: moved(array, other)))
    return node._replace(
        stored=stored,
        reads=reads,
        writes=writes,
        inputs=inputs,
        result=result,
        dispatch=dispatch,
        prologue=prologue,
        rows=rows,
    )


def moved(array: VkArray, other: Callable[[Memory], Memory]) -> VkArray:
    """An array of the same form in other memory."""
    memory = other(array._buffer)
    if memory is array._buffer:
        return array
    return array_in(memory, array._offset, array._shape, array._strides, array._dtype, array._device)


def _renamed(value: Any, other: Callable[[Memory], Memory]) -> Any:
    kind = type(value)
    if kind is VkArray:
        return moved(value, other)
    if kind is Pointer:
        return Pointer(other(value.buffer), value.offset)
    if kind is tuple or kind is list:
        return kind(_renamed(one, other) for one in value)
    return value
