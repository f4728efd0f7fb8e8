"""What a program does: kernels that compute several nodes, and nodes that no kernel of several takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..core import layout
from ..core.array import VkArray
from ..kernels import row_program
from ..kernels.expressions import Expression
from ..kernels.fused import Index
from ..kernels.launch import uses_shared_memory
from ..kernels.reductions import sums_variant
from ..kernels.scalars import Scalar
from . import mosaic
from .trace import Node


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
