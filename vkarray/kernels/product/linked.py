"""Kernels of products that compute any expression of an element before they store it: its code is linked, no compiler is needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...core.dtypes import DType
from ...shaders import link
from ...shaders.source import Variant, spirv
from .. import fused, kernel_caches, launch
from ..expressions import Expression
from ..fused import Input
from .epilogue import Epilogue

if TYPE_CHECKING:
    from ..._vk import Kernel
    from ..launch import Device

_LINKED = ((13, 1),)  # the specialization constant of glsl/lib/epilogue.glsl


def kernel(
    epilogue: Epilogue, variant: Variant, dtype: DType, device: Device, workgroup_size: int,
    constants: tuple[tuple[int, int], ...], subgroup: int = 0,
) -> Kernel:  # fmt: skip
    """The kernel of a variant, whose results are of a type, with the steps of an epilogue."""
    constants = (*constants, *epilogue.constants)
    expression = epilogue.expression(dtype)
    if expression is None:
        return launch.kernel(variant, device, workgroup_size, constants, subgroup)
    given = epilogue.bias is not None, epilogue.residual is not None
    return _kernel(expression, given, variant, device, workgroup_size, (*constants, *_LINKED), subgroup)


@kernel_caches.cached
def _kernel(
    expression: Expression, given: tuple[bool, bool], variant: Variant, device: Device, workgroup_size: int,
    constants: tuple[tuple[int, int], ...], subgroup: int,
) -> Kernel:  # fmt: skip
    size = launch.invocations_of_group(device.limits, workgroup_size)
    code = _Linked(expression, given, variant, device).code()
    return kernel_caches.make(
        device, code, f"{variant.label}, then {expression.label}", ((0, size), *constants), subgroup
    )


class _Linked(fused.Linked):
    """A kernel's code in the making: its function `vx_linked` gets a body."""

    def __init__(self, expression: Expression, given: Sequence[bool], variant: Variant, device: Device) -> None:
        self.expression, self.vector, self.device = expression, 1, device
        self.arrays = 1 + sum(given)
        self.inputs = [
            Input("memory" if number < self.arrays else "immediate", dtype)
            for number, dtype in enumerate(expression.inputs)
        ]
        self.given = given
        self.linker = link.Linker(spirv(variant), variant.label)
        self.linker.contracts = expression.contracts
        self.used = {operand for step in expression.steps for operand in step.operands}
        self.input_at = self.linker.own("input_at")
        self.unsigned = self.linker.unsigned_type

    def code(self) -> bytes:
        """The whole kernel."""
        body = self.linker.body("vx_linked")
        element, *addends = body.parameters
        values = [element, *(one for one, given in zip(addends, self.given, strict=True) if given)]
        first = self.linker.unsigned(0)
        values += [self._input(body, number, first) for number in range(self.arrays, len(self.inputs))]
        values = self._values(body, first, values)
        ((result, _),) = self.expression.results
        kind = self.linker.pointed(self.linker.own("vx_linked").parameters[0])
        body.store(element, body.load(kind, values[result]))
        body.end()
        return self.linker.module()
