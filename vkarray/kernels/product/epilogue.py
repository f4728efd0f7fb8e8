"""What is done to the elements of a product before they are stored: a bias, an activation, a residual, or any expression."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...core import layout
from ...core.array import VkArray
from ...core.dtypes import DType
from .. import launch
from ..evaluation import Evaluation
from ..expressions import Expression, Step
from ..fused import UNUSED
from ..launch import Operation
from ..scalars import Scalar

if TYPE_CHECKING:
    from ..rows import Row

_BIASED, _RESIDUAL, _WIDE = 8, 9, 10  # the specialization constants of glsl/lib/epilogue.glsl
INPUTS = 8  # of an expression: those of glsl/lib/epilogue.glsl, where the place behind the last number is 0
_NO_INPUTS = (UNUSED,) * INPUTS


@dataclass(frozen=True, eq=False)
class Epilogue:
    """activation(product + bias) + residual, as much of it as is given; or any `steps` of these.

    bias, residual: arrays of the type of the result that broadcast to it. activation: a row of one operand. The bits are those of
    the product and of an elementwise kernel for each step, so sums of 16 bits are rounded before the first step and between steps;
    wide: the bias is added to sums that are not rounded before. steps: in place of activation and sums, an expression of the
    element of the product, what is given of bias and residual, and numbers.
    """

    bias: VkArray | None = None
    activation: Row | None = None
    residual: VkArray | None = None
    wide: bool = False
    steps: Expression | None = None
    numbers: tuple[Scalar, ...] = ()

    @functools.cached_property
    def addends(self) -> tuple[VkArray, ...]:
        """What is added, in order."""
        return tuple(one for one in (self.bias, self.residual) if one is not None)

    @property
    def may_go_on(self) -> bool:
        """Whether steps may follow as a part of it: those of nothing, or of a bias."""
        return self.activation is self.residual is self.steps is None

    @property
    def label(self) -> str:
        """The names of the steps, for people."""
        return f"fused{' add' * len(self.addends)}" if self.steps is None else self.steps.label

    @functools.cached_property
    def constants(self) -> tuple[tuple[int, int], ...]:
        """The specialization constants of kernels that take these steps."""
        given = {_BIASED: self.bias is not None, _RESIDUAL: self.residual is not None, _WIDE: self.wide}
        return tuple((number, 1) for number, wanted in given.items() if wanted)

    def fields(self, places: Iterable[Any] | None = None) -> dict[str, Any]:
        """The arguments of kernels: what is added, or these places in it."""
        left = iter(self.addends if places is None else places)
        given = {"bias": self.bias, "residual": self.residual}
        inputs: tuple[Any, ...] = _NO_INPUTS
        if self.numbers:
            before = 1 + len(self.addends)
            inputs = (*inputs[:before], *self.numbers, *inputs[before + len(self.numbers) :])
        return {**{name: 0 if one is None else next(left) for name, one in given.items()}, "inputs": inputs}

    def expression(self, dtype: DType) -> Expression | None:
        """What kernels whose results are of this type compute of each element; None for sums alone, which all of them know."""
        if self.steps is not None or self.activation is None:
            return self.steps
        biased = self.bias is not None
        return _activated(self.activation, biased, biased and not self.wide, self.residual is not None, dtype)

    def cost(self, result: VkArray) -> int:
        """What the steps cost that have to be linked to kernels of products."""
        expression = self.expression(result._dtype)
        steps = () if expression is None else expression.steps
        return sum(step.operation.cost for step in steps if isinstance(step.operation, Operation))

    def reads(self, result: VkArray) -> bool:
        """Whether what is added lies in the memory of the result."""
        return any(one._buffer is result._buffer for one in self.addends)

    def seen(self, view: Callable[[VkArray], VkArray]) -> Epilogue:
        """The same for the part of a result that `view` takes of an array of its shape."""
        if not self.addends:
            return self
        bias, residual = (None if one is None else view(one) for one in (self.bias, self.residual))
        return dataclasses.replace(self, bias=bias, residual=residual)

    def over(self, shape: layout.Shape) -> Epilogue:
        """The same with addends of the shape of the result, none of them walked backwards."""

        def whole(x: VkArray) -> VkArray:
            x = launch.forward(x)
            return x._view(shape, layout.broadcast_strides(x._shape, x._strides, shape))

        return self.seen(whole)

    def apply(self, product: VkArray, result: VkArray) -> None:
        """result = these steps of a product that is stored, each by a kernel of its own."""
        dtype = result._dtype
        if self.steps is not None:
            Evaluation(self.steps, (product, *self.addends, *self.numbers), (result,), result._device).run()
            return
        steps: list[tuple[Operation, tuple[VkArray, ...]]] = []
        if self.bias is not None:
            steps.append((addition(product._dtype, dtype), (self.bias,)))
        if self.activation is not None:
            steps.append((self.activation.operation(dtype), ()))
        if self.residual is not None:
            steps.append((addition(dtype, dtype), (self.residual,)))
        for operation, others in steps:
            launch.elementwise(operation, (product, *others), result)
            product = result


NOTHING = Epilogue()


@functools.cache
def addition(product: DType, dtype: DType) -> Operation:
    """An element of a product, of its own type, and one of the type of the result."""
    return Operation(f"add {product} and {dtype}", "a + b", (product, dtype), dtype, dtype)


@functools.cache
def _activated(activation: Row, biased: bool, added: bool, residual: bool, dtype: DType) -> Expression:
    """activation(product + bias) + residual, where the bias may have been `added` to the sums already."""
    inputs = 1 + biased + residual
    steps = [Step(addition(dtype, dtype), (0, 1))] if added else []
    steps.append(Step(activation.operation(dtype), (inputs if added else 0,)))
    if residual:
        steps.append(Step(addition(dtype, dtype), (inputs + len(steps) - 1, inputs - 1)))
    return Expression((dtype,) * inputs, tuple(steps), ((inputs + len(steps) - 1, dtype),))
