"""The expressions of regions in the making: where their values come from, and what is computed again in place of being read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import configuration
from ..core import dtypes, layout
from ..core.array import VkArray, array_in
from ..core.dtypes import DType
from ..kernels import expressions, fused, row_program
from ..kernels.expressions import As, Expression, Step
from ..kernels.fused import Index
from ..kernels.launch import Operation
from ..kernels.row_reductions import Reduce
from ..kernels.scalars import Scalar
from . import mosaic, rows, views
from .regions import Geometry, Read, Region, number_key, types_read
from .work import Kernel, OfRows

if TYPE_CHECKING:
    from .fuse import Builder

STEPS = 384  # a kernel that has as many computes no more results again


class Together(NamedTuple):
    """Several regions, of which one expression takes nodes."""

    members: int
    shape: layout.Shape
    reads: set[Read]
    numbers: set[tuple[object, ...]]


class RegionExpression:
    """The expression of a region in the making."""

    def __init__(self, builder: Builder, region: Region | Together, stores: bool = True, again: bool = True) -> None:
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
        return Expression(inputs, steps, found).as_allowed(configuration.current())

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


class RowExpression(RegionExpression):
    """The expression of a row program in the making."""

    def __init__(self, builder: Builder, region: Region, geometry: Geometry, again: bool = True) -> None:
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
