"""Kernels that compute the elements of an input where they would read it: any expression of other arrays, which is never stored."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core import layout
from ..core.array import VkArray, storage_itemsize
from ..core.dtypes import DType
from ..shaders.source import Variant
from . import fused, kernel_caches, launch, texels
from .dispatch import Dispatch, dispatch, pointer
from .expressions import Expression
from .fused import Index, Input
from .scalars import Scalar

if TYPE_CHECKING:
    from .launch import Device

AXES = 8  # that an array has at most whose elements are computed: those of `walk` in glsl/reduce.comp


class Prologue(NamedTuple):
    """What a dispatch reads that may be computed instead: an array as a type, and the kernel that asks for its elements."""

    array: VkArray
    dtype: DType
    variant: Variant
    vector: int  # elements of a pack
    constants: tuple[tuple[int, int], ...]
    of_long: tuple[tuple[int, int], ...] = ()  # those besides for an expression that takes long to compile
    writes: str = "result"  # the field of what it writes
    adds: bool = False  # whether sums of other arrays of this type may be added up by the same dispatch
    # The groups and rows of the dispatch where the kernel that reads the array takes several rows at once, which is faster.
    ungrouped: tuple[tuple[int, int, int], int] | None = None

    def fits(self, inputs: Sequence[VkArray | Scalar | Index], shape: layout.Shape) -> bool:
        """Whether the kernel has places for inputs and can walk them over a shape, in whose C order elements would lie."""
        strides = fused.strides_over(inputs, shape)
        axes, _ = layout.collapse(shape, strides)
        return fused.has_places(inputs) and len(axes) <= AXES and all(step >= 0 for steps in strides for step in steps)

    def send(
        self, what: Dispatch, expression: Expression, inputs: Sequence[VkArray | Scalar | Index], shape: layout.Shape
    ) -> None:
        """Make a dispatch, of which the only result of an expression, of a shape, is the input."""
        self._send(what, {**what.fields, "a": 0}, expression, inputs, shape, self.variant, self.writes)

    def send_sums(
        self, dispatches: Sequence[Dispatch], variant: Variant, expression: Expression,
        inputs: Sequence[VkArray | Scalar | Index], shape: layout.Shape,
    ) -> None:  # fmt: skip
        """Make one dispatch of several alike, each of which adds up a result of an expression."""
        first = dispatches[0]
        fields = {name: value for name, value in first.fields.items() if name != self.writes}
        states = tuple(one.fields[self.writes] for one in dispatches)
        self._send(first, {**fields, "a": 0, "states": states}, expression, inputs, shape, variant, "states")

    def is_like(self, own: Dispatch, other: Prologue, its: Dispatch) -> bool:
        """Whether one dispatch may add up the sums of two."""
        ignored = ("a", "parameters", self.writes)
        return (
            self.adds and other.adds and own.groups == its.groups
            and (self.dtype, self.vector, self.constants) == (other.dtype, other.vector, other.constants)
            and all(value == its.fields[name] for name, value in own.fields.items() if name not in ignored)
        )  # fmt: skip

    def _send(
        self, what: Dispatch, given: dict[str, Any], expression: Expression, inputs: Sequence[VkArray | Scalar | Index],
        shape: layout.Shape, variant: Variant, writes: str,
    ) -> None:  # fmt: skip
        device = self.array._device
        strides = fused.strides_over(inputs, shape)
        sizes, walked = layout.collapse(shape, strides)
        bindings: list[texels.Binding] = []
        kinds, places = [], []
        for one, dtype in zip(inputs, expression.inputs, strict=True):
            kind, place = self._kind(one, shape, bindings)
            kinds.append(Input(kind, dtype))
            places.append(place)
        spare = fused.INPUTS - len(walked)
        fields = {
            **given, "inputs": fused.padded_inputs(places), "axes": len(sizes),
            "walk": (*_padded(sizes), *(number for steps in walked for number in _padded(steps)), *[0] * (AXES * spare)),
        }  # fmt: skip
        groups = what.groups
        if self.ungrouped is not None:
            groups, fields["rows"] = self.ungrouped
        constants = self.constants + (self.of_long if expression.is_long(device) else ())
        chosen = _kernel(expression, tuple(kinds), variant, self.vector, device, constants)
        dispatch(chosen, groups, fields, writes=(writes,), bindings=bindings or None)

    def _kind(
        self, one: VkArray | Scalar | Index, shape: layout.Shape, bindings: list[texels.Binding]
    ) -> tuple[str, Any]:
        """How an input comes, and what stands for it in the arguments."""
        if isinstance(one, Scalar):
            return "immediate", one
        contiguous = layout.contiguous_strides(shape)
        if isinstance(one, Index):
            return "index" if one.strides == contiguous else "walked index", one.number()
        place, device = pointer(one), one._device
        itemsize = storage_itemsize(one._dtype, device)
        if math.prod(one._shape) == 1:
            return "one", place
        if not (one._contiguous and one._shape == shape and place.is_aligned(self.vector * itemsize)):
            return "walked", place
        if device.limits.is_cpu and self.vector == itemsize == 4 and launch.has_texels(device):
            bound = texels.binding(one, len(bindings), 0, one.size) if len(bindings) < fused.TEXELS else None
            if bound is not None:
                bindings.append(bound)
                return "texels", place
        return "memory", place


@kernel_caches.cached
def _kernel(
    expression: Expression, inputs: tuple[Input, ...], variant: Variant, vector: int, device: Device,
    constants: tuple[tuple[int, int], ...],
) -> Any:  # fmt: skip
    code = fused.code_around(expression, inputs, variant, vector, device)
    return kernel_caches.make(device, code, f"{variant.label} of {expression.label}", constants)


def _padded(numbers: Sequence[int]) -> tuple[int, ...]:
    return (*numbers, *[0] * (AXES - len(numbers)))
