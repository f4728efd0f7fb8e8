"""Products and what is read by index arrays, with what follows: elementwise operations become a part of the kernels of these.

The bits are those of a kernel for each operation (`kernels/product/epilogue.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from .. import configuration
from ..core.array import VkArray
from ..core.dtypes import DType
from ..kernels import expressions
from ..kernels.expressions import As, Expression, Step
from ..kernels.gather import Gather
from ..kernels.product.epilogue import INPUTS, Epilogue, addition
from ..kernels.product.stacks import Product
from ..kernels.product.strategies import is_worth_linking
from ..kernels.scalars import Scalar
from .regions import number_key, types_read
from .trace import Memory, Node, Stored, is_own, same_place

MOST = 24  # operations of a kernel that stores what it computes of something else


def with_steps(nodes: Sequence[Node], returned: Iterable[Memory]) -> list[Node]:
    """The nodes, with products and gathers that compute what follows them in place of their dispatches and of these operations."""
    places = [place for place, node in enumerate(nodes) if node.stored is not None]
    if not places:
        return list(nodes)
    uses = _Uses(nodes, returned)
    found: dict[int, Node] = {}
    gone: set[int] = set()
    for place in places:
        made = nodes[place].stored
        own = range(place + 1 - made.nodes, place + 1)  # type: ignore[union-attr]
        steps = None if gone.intersection(own) else _steps(nodes, own, made.what, uses, gone)  # type: ignore[union-attr]
        if steps is not None:
            gone.update(own, steps.members)
            found[steps.members[-1]] = _node(nodes, made.what, steps)  # type: ignore[union-attr]
    return [found.get(place, node) for place, node in enumerate(nodes) if place in found or place not in gone]


class _Uses:
    """Which nodes read and write memory."""

    def __init__(self, nodes: Sequence[Node], returned: Iterable[Memory]) -> None:
        self.returned = set(map(id, returned))
        self.readers: dict[int, list[int]] = {}
        self.writers: dict[int, list[int]] = {}
        for place, node in enumerate(nodes):
            for known, memories in ((self.readers, node.reads), (self.writers, node.writes)):
                for memory in dict.fromkeys(map(id, memories)):
                    known.setdefault(memory, []).append(place)

    def stays(self, memory: Memory, first: int, last: int) -> bool:
        """Whether nobody writes to memory between two nodes."""
        return not any(first < writer <= last for writer in self.writers.get(id(memory), ()))

    def is_own(self, array: VkArray, writers: Iterable[int]) -> bool:
        """Whether an array is memory of the program's, all of which these nodes alone write."""
        return is_own(array) and set(self.writers.get(id(array._buffer), ())) <= set(writers)

    def leaves(self, array: VkArray, members: Iterable[int]) -> bool:
        """Whether an array is returned, or read by others than these nodes."""
        memory = id(array._buffer)
        return memory in self.returned or not set(self.readers.get(memory, ())) <= set(members)


class _Steps(NamedTuple):
    """What follows: the nodes, in order, and the arrays and numbers that these take besides."""

    members: tuple[int, ...]
    addends: tuple[VkArray, ...]
    numbers: dict[Any, Scalar]


def _steps(nodes: Sequence[Node], own: range, product: Product | Gather, uses: _Uses, gone: set[int]) -> _Steps | None:
    """The most operations that the kernels can take; None where there are none."""
    result = product.result
    if not uses.is_own(result, own) or not math.prod(result._shape):
        return None
    inside = {id(result._buffer): result}
    found, best = _Steps((), (), {}), None
    for place in sorted(_followers(nodes, own, result, uses)):
        more = None if place in gone else _with(nodes[place], place, found, inside, product, uses)
        if more is None or len(more.members) > MOST:
            break
        found = more
        made: Any = nodes[place].result
        inside[id(made._buffer)] = made
        leaving = [one for one in found.members if uses.leaves(nodes[one].result, found.members)]  # type: ignore[arg-type]
        alone = not uses.leaves(result, (*own, *found.members))
        costs = sum(nodes[one].operation.cost for one in found.members)  # type: ignore[union-attr, misc]
        if isinstance(product, Product) and not is_worth_linking(product, costs):
            break
        if alone and leaving == [place] and made._dtype is result._dtype and _holds(nodes, own, product, found, uses):
            best = found
    return best


def _followers(nodes: Sequence[Node], own: range, result: VkArray, uses: _Uses) -> set[int]:
    """The nodes that depend on a result through elementwise operations alone, up to a few."""
    found: set[int] = set()
    left = [result._buffer]
    while left and len(found) <= MOST:
        for reader in uses.readers.get(id(left.pop()), ()):
            if reader not in own and reader not in found and nodes[reader].result is not None:
                found.add(reader)
                left.append(nodes[reader].result._buffer)  # type: ignore[union-attr]
    return found


def _with(
    node: Node, place: int, found: _Steps, inside: dict[int, VkArray], product: Product | Gather, uses: _Uses
) -> _Steps | None:  # fmt: skip
    """What is found, and one node more; None where kernels cannot take it."""
    made, operation, result = node.result, node.operation, product.result
    if (
        made is None
        or operation is None
        or operation.indexed
        or expressions.is_copy(operation)
        or expressions.makes_zeros(operation)
    ):
        return None
    if not _is_of(made, product) or not uses.is_own(made, (place,)):
        return None
    addends, numbers = list(found.addends), dict(found.numbers)
    for operand, dtype in zip(node.inputs, types_read(node), strict=True):
        if not isinstance(operand, VkArray):
            numbers[number_key(operand, dtype)] = operand
        elif id(operand._buffer) in inside:
            if not _is_whole_of(operand, inside[id(operand._buffer)]):
                return None
        elif not any(same_place(operand, one) for one in addends):
            if operand._dtype is not result._dtype or not product.takes(operand):
                return None
            addends.append(operand)
    added = len(product.epilogue.addends) + len(addends)
    if added > 2 or 1 + added + len(numbers) >= INPUTS:
        return None
    return _Steps((*found.members, place), tuple(addends), numbers)


def _is_of(made: VkArray, product: Product | Gather) -> bool:
    """Whether an array has the shape of what a kernel stores. That of a product may have more dimensions before its own."""
    shape = product.result._shape
    more = len(made._shape) - len(shape) if isinstance(product, Product) else 0
    return more >= 0 and made._shape == (1,) * more + shape


def _is_whole_of(operand: VkArray, made: VkArray) -> bool:
    """Whether an operand has the elements of an array in their order, where one of them may have more dimensions in front."""
    longer, shorter = (operand, made) if operand.ndim > made.ndim else (made, operand)
    more = longer.ndim - shorter.ndim
    return (
        same_place(shorter, longer._view(longer._shape[more:], longer._strides[more:]))
        and longer._shape[:more] == (1,) * more
    )


def _holds(nodes: Sequence[Node], own: range, product: Product | Gather, found: _Steps, uses: _Uses) -> bool:
    """Whether all that is read is the same where the last operation stands."""
    last = found.members[-1]
    if not all(uses.stays(one._buffer, own[0], last) for one in (*product.operands, *product.epilogue.addends)):
        return False
    readers = {
        id(operand._buffer): member
        for member in reversed(found.members)
        for operand in nodes[member].inputs
        if isinstance(operand, VkArray)
    }
    return all(uses.stays(one._buffer, readers[id(one._buffer)], last) for one in found.addends)


def _node(nodes: Sequence[Node], product: Product | Gather, steps: _Steps) -> Node:
    """A product or a gather that computes what follows it."""
    last, before = nodes[steps.members[-1]], product.epilogue
    result, addends = last.result, (*before.addends, *steps.addends)
    assert result is not None
    are_sums = isinstance(product, Product) and _are_sums(nodes, product, steps)
    expression = None if are_sums else _expression(nodes, product, steps)
    bias, residual = (*addends, None, None)[:2]
    epilogue = Epilogue(bias, None, residual, before.wide, expression, tuple(steps.numbers.values()))
    also = tuple(one._buffer for one in product.also_writes)
    reads = tuple(one._buffer for one in (*product.operands, *addends))
    whole = product._replace(result=result, epilogue=epilogue)
    return Node((*reads, *also), (result._buffer, *also), last.line, stored=Stored(0, whole))


def _are_sums(nodes: Sequence[Node], product: Product, steps: _Steps) -> bool:
    """Whether what follows adds one addend after the other, which kernels of products know by themselves."""
    value, dtype = product.result, product.result._dtype
    if len(steps.members) != len(steps.addends) or steps.numbers:
        return False
    for member, addend in zip(steps.members, steps.addends, strict=True):
        node, operation = nodes[member], nodes[member].operation
        assert operation is not None
        assert node.result is not None
        adds = operation.expression == "a + b" and operation.library is None
        if not adds or {*operation.inputs, operation.result, *types_read(node)} != {dtype}:
            return False
        read = {id(one._buffer) for one in node.inputs if isinstance(one, VkArray)}
        if read != {id(value._buffer), id(addend._buffer)}:
            return False
        value = node.result
    return True


def _expression(nodes: Sequence[Node], product: Product | Gather, steps: _Steps) -> Expression:
    """What is computed of an element, of the addends and of numbers."""
    dtype, given = product.result._dtype, len(product.epilogue.addends)
    values: dict[Any, int] = {id(product.result._buffer): 0}
    inputs = [dtype] * (1 + given + len(steps.addends))
    for key in steps.numbers:
        values[key] = len(inputs)
        inputs.append(key[1])
    made: list[Step] = []

    def value_of(operation: Any, *operands: int) -> int:
        made.append(Step(operation, operands))
        return len(inputs) + len(made) - 1

    def read(operand: VkArray | Scalar, kind: DType) -> int:
        """The value of an operand, by its bits as another type where an operation moves these."""
        if not isinstance(operand, VkArray):
            return values[number_key(operand, kind)]
        found = values.get(id(operand._buffer))
        if found is None:
            found = 1 + given + next(k for k, one in enumerate(steps.addends) if same_place(operand, one))
        return found if operand._dtype is kind else value_of(As(operand._dtype, kind), found)

    if given and not product.epilogue.wide:
        values[id(product.result._buffer)] = value_of(addition(dtype, dtype), 0, 1)
    for member in steps.members:
        node, operation, result = nodes[member], nodes[member].operation, nodes[member].result
        assert operation is not None
        assert result is not None
        operands = [read(operand, kind) for operand, kind in zip(node.inputs, types_read(node), strict=True)]
        found = value_of(operation, *operands)
        values[id(result._buffer)] = (
            found if operation.result is result._dtype else value_of(As(operation.result, result._dtype), found)
        )
    results = ((len(inputs) + len(made) - 1, dtype),)
    return Expression(tuple(inputs), tuple(made), results).as_allowed(configuration.current())
