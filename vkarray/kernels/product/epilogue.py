"""What is done to the elements of a product before they are stored: a bias, an activation, a residual."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...core import layout
from ...core.array import VkArray
from ...core.dtypes import DType
from ...shaders.source import Variant
from .. import launch
from ..launch import Operation

if TYPE_CHECKING:
    from ..rows import Row

_BIASED, _RESIDUAL, _WIDE = 8, 9, 10  # the specialization constants of glsl/lib/epilogue.glsl


@dataclass(frozen=True, eq=False)
class Epilogue:
    """activation(product + bias) + residual, as much of it as is given.

    bias, residual: arrays of the type of the result that broadcast to it. activation: a row of one operand. The bits are those of
    the product and of an elementwise kernel for each step, so sums of 16 bits are rounded before the first step and between steps;
    wide: the bias is added to sums that are not rounded before.
    """

    bias: VkArray | None = None
    activation: Row | None = None
    residual: VkArray | None = None
    wide: bool = False

    @functools.cached_property
    def addends(self) -> tuple[VkArray, ...]:
        """What is added, in order."""
        return tuple(one for one in (self.bias, self.residual) if one is not None)

    @functools.cached_property
    def constants(self) -> tuple[tuple[int, int], ...]:
        """The specialization constants of kernels that take these steps."""
        given = {_BIASED: self.bias is not None, _RESIDUAL: self.residual is not None, _WIDE: self.wide}
        return tuple((number, 1) for number, wanted in given.items() if wanted)

    def fields(self, places: Iterable[Any] | None = None) -> dict[str, Any]:
        """The arguments of kernels: what is added, or these places in it."""
        left = iter(self.addends if places is None else places)
        given = {"bias": self.bias, "residual": self.residual}
        return {name: 0 if one is None else next(left) for name, one in given.items()}

    def variant(self, kernel: Variant, dtype: DType) -> Variant:
        """The variant of a kernel whose results are of this type that takes the activation."""
        if self.activation is None:
            return kernel
        operation = self.activation.operation(dtype)
        own = ("ACTIVATION", operation.expression), ("LIBRARY", launch.library_path(operation.library, dtype))
        return kernel._replace(defines=(*kernel.defines, *own), label=f"{kernel.label}, then {self.activation.name}")

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
        steps: list[tuple[Operation, tuple[VkArray, ...]]] = []
        if self.bias is not None:
            steps.append((_addition(product._dtype, dtype), (self.bias,)))
        if self.activation is not None:
            steps.append((self.activation.operation(dtype), ()))
        if self.residual is not None:
            steps.append((_addition(dtype, dtype), (self.residual,)))
        for operation, others in steps:
            launch.elementwise(operation, (product, *others), result)
            product = result


NOTHING = Epilogue()


@functools.cache
def _addition(product: DType, dtype: DType) -> Operation:
    """An element of a product, of its own type, and one of the type of the result."""
    return Operation(f"add {product} and {dtype}", "a + b", (product, dtype), dtype, dtype)
