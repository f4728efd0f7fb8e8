"""Row programs: kernels that reduce rows, and compute with what they found of a row and of its elements.

A program is an expression whose steps may be reductions. Its values are those of a row, or of each of its elements. What is of a
row comes first, one after the other; reductions ask for the elements that they read, which are computed where they are read and
never stored. Then each element of the results is computed. The reductions are functions of the kernels that calls of their own
use, and combine elements in the same order, so the results are the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core import layout
from ..core.array import VkArray, storage_itemsize
from . import fused, kernel_caches, launch, texels
from .dispatch import Number, dispatch, pointer
from .expressions import Expression
from .fused import Index
from .reduction_order import ONE_BY_ONE, SINGLE
from .reduction_run import TAKES_SINGLE_PACKS
from .row_kernels import has_subgroups
from .row_program_code import BATCH, OF_ELEMENTS, Form, Input, code
from .row_reductions import Reduce
from .scalars import Scalar

if TYPE_CHECKING:
    from .launch import Device

REDUCTIONS, RANK = 8, 16  # and axes, at most: those of glsl/row_program.comp
_MOST_SUBGROUPS = 8  # of a row, that meet at once: those of glsl/reduce.comp
_NEIGHBOURS = 32  # rows that a workgroup for columns has at least
# And its invocations, by the registers of one: with 1,024 Intel's and Qualcomm's drivers keep up to 1,761 of them in memory.
_COLUMNS_WORKGROUP = {"large": 1024, "middle": 1024, "small": 256, "tiny": 256}
_MOST_ELEMENTS = 16  # of a pack
_WORDS_AHEAD = 8  # of single elements that GPUs load before they store one: memory answers all in the time of one
_AHEAD = 1 << 31  # bytes that an element of a row may lie after the first one, which devices take for unsigned


class Rows(NamedTuple):
    """A program: an expression of inputs, over the axes of a shape, some of which are those of a row."""

    expression: Expression
    inputs: tuple[VkArray | Scalar | Index, ...]
    results: tuple[VkArray, ...]
    shape: layout.Shape
    axes: tuple[int, ...]
    parameters: tuple[tuple[Any, Any], ...]  # of the reductions

    @property
    def length(self) -> int:
        """The elements of a row."""
        return math.prod(self.shape[axis] for axis in self.axes)

    def run(self, varies: bool = False) -> None:
        """Make the dispatch; `varies` is whether the kernel is for rows of other lengths, too."""
        if not math.prod(self.shape):
            raise ValueError("a row program needs elements")
        device = self.results[0]._device
        strides, whole = self._strides()
        kept = [axis for axis in range(len(self.shape)) if axis not in self.axes]
        rows, row_steps = layout.collapse(*self._along(kept, strides))
        inner, inner_steps = layout.collapse(*self._along(self.axes, strides))
        bindings: list[texels.Binding] = []
        form = self._form(device, whole, kept, inner, row_steps, inner_steps, varies, bindings)
        walked = [sizes + steps for sizes, steps in zip(row_steps, inner_steps, strict=True)]
        places = [
            _place(one, bindings[of.bound] if of.kind == "words" else None)
            for one, of in zip(self.inputs, form.inputs, strict=True)
        ]
        parameters = [_number(value) for pair in self.parameters for value in pair]
        count = math.prod(rows)
        fields = {
            "inputs": fused.padded_inputs(places),
            "results": (*map(pointer, self.results), *[fused.UNUSED] * (fused.RESULTS - len(self.results))),
            "parameters": (*parameters, *[fused.UNUSED] * (2 * REDUCTIONS - len(parameters))),
            "rows": count, "row_length": self.length, "walk": (*rows, *inner, *(step for steps in walked for step in steps)),
        }  # fmt: skip
        kernel = _kernel(self.expression, form, len(rows), len(rows) + len(inner), device)
        groups = launch.groups_for(count * form.members, device.limits, form.workgroup)
        # An input that is never read in whole texels is read by its address.
        bound = [one for one in bindings if one.number in kernel.bindings]
        dispatch(kernel, groups, fields, writes=("results",), bindings=bound or None)

    def _is_by_columns(self, kept: Sequence[int], whole: Sequence[bool]) -> bool:
        """Whether neighbouring rows have neighbouring elements, in more of what lies in memory than neighbours of one row."""
        strides, _ = self._strides()
        lying = len(strides) - len(whole)
        elements = [0, 0]  # with neighbours in a row, and in the next one
        for place, steps in enumerate(strides):
            if place < lying or whole[place - lying]:
                long = [axis for axis, step in enumerate(steps) if step and self.shape[axis] > 1]
                for axis in long:
                    if abs(steps[axis]) == 1:
                        elements[axis in kept] += math.prod(self.shape[axis] for axis in long)
        last = max(axis for axis in range(-1, len(self.shape)) if axis == -1 or self.shape[axis] > 1)
        return elements[1] > elements[0] if elements[0] != elements[1] else last in kept

    def _strides(self) -> tuple[list[layout.Strides], tuple[bool, ...]]:
        """The strides over the shape of inputs that lie somewhere and of results, and which of the results have all elements."""
        whole = tuple(one._shape == self.shape for one in self.results)
        sizes = tuple(1 if axis in self.axes else size for axis, size in enumerate(self.shape))
        once = tuple(
            0 if axis in self.axes else step for axis, step in enumerate(layout.contiguous_strides(sizes))
        )  # fmt: skip
        every = layout.contiguous_strides(self.shape)
        return [*fused.strides_over(self.inputs, self.shape), *(every if one else once for one in whole)], whole

    def _along(
        self, axes: Sequence[int], strides: Sequence[layout.Strides]
    ) -> tuple[layout.Shape, list[layout.Strides]]:
        """The sizes and the strides of some axes."""
        return tuple(self.shape[axis] for axis in axes), [tuple(one[axis] for axis in axes) for one in strides]

    def _form(
        self, device: Device, whole: tuple[bool, ...], kept: Sequence[int], inner: layout.Shape,
        row_steps: Sequence[layout.Strides], inner_steps: Sequence[layout.Strides], varies: bool,
        bindings: list[texels.Binding],
    ) -> Form:  # fmt: skip
        length = self.length
        contiguous = layout.contiguous_strides(inner)
        inputs = []
        walked = zip(row_steps, inner_steps, strict=True)
        for one, dtype in zip(self.inputs, self.expression.inputs, strict=True):
            if isinstance(one, Scalar):
                inputs.append(Input("immediate", dtype))
                continue
            kind, pack, (rows, steps) = "walked", 1, next(walked)
            if isinstance(one, Index):
                kind = "index" if any(steps) else "row index"
            elif math.prod(one._shape) == 1:
                kind = "one"
            elif not any(steps):
                kind = "row"
            elif steps == contiguous:
                kind, pack = "memory", _pack(one, rows)
            elif _leads_ahead(one, inner, steps):
                kind = "ahead"
            bound = None if varies else self._bound(one, kind, pack, len(bindings))
            if bound is not None:
                kind = "texels" if kind == "memory" else "words"
                bindings.append(bound)
            inputs.append(Input(kind, dtype, pack, len(bindings) - 1 if bound else 0))
        full = [
            (one, rows, steps) for one, every, (rows, steps) in zip(self.results, whole, walked, strict=True) if every
        ]
        sizes = [storage_itemsize(one.dtype, device) for one in inputs if one.kind in OF_ELEMENTS]
        vector = launch.vector_of([*sizes, *(storage_itemsize(one._dtype, device) for one, _, _ in full)])
        vector = min([vector, *(_pack(one, rows) if steps == contiguous else 1 for one, rows, steps in full)])
        times = self.expression.times(device)  # elements that results are computed for at once
        while vector > max(1, times // BATCH):
            vector //= 2
        columns = self._is_by_columns(kept, whole)
        shared = launch.uses_shared_memory(device)
        workgroup = launch.invocations_of_group(device.limits, launch.WORKGROUP_SIZE)
        if shared and columns:
            workgroup = launch.invocations_of_group(device.limits, _COLUMNS_WORKGROUP[device.limits.registers])
        members = 1
        operations: list[Any] = [step.operation for step in self.expression.steps]
        reduced = [one for one in operations if isinstance(one, Reduce)]
        if shared:
            exchanged = sum(one.row.state_itemsize(device, one.types[1]) for one in reduced)  # bytes of an invocation
            while exchanged * workgroup > device.limits.max_shared_memory_size:
                workgroup //= 2
            lanes = max(one.lanes(length) for one in reduced)
            side = 1 if columns else min(one.vector for one in reduced)
            members = min(lanes, workgroup, 1 << (-(-length // side) - 1).bit_length())
            members = members if members > 2 else 1  # which need not meet
            if columns:
                members = min(members, workgroup // _NEIGHBOURS)
        packs, side = 0, 0
        single = shared and device.limits.registers in TAKES_SINGLE_PACKS
        if shared and not columns and not varies and not single:
            ways = {(one.packs(length, members), one.vector) for one in reduced}
            packs, side = ways.pop() if len(ways) == 1 else (0, 0)
            packs = packs if packs == BATCH and (vector >= side or not any(whole)) else 0
        vector = side if packs else vector
        few: tuple[int, ...] = ()
        if single:
            few = (SINGLE,)
            if self.expression.is_long(device):
                few, vector = (SINGLE, ONE_BY_ONE), 1
        batch = BATCH
        if vector == 1:
            words = sum(max(1, one.dtype.itemsize // 4) for one in inputs if one.kind in OF_ELEMENTS)
            ahead = 1 if single or device.limits.kind == "cpu" else min(times, _WORDS_AHEAD // max(1, words))
            batch = 1 << max(1, ahead).bit_length() - 1
        subgroup = 0
        if shared and not columns and has_subgroups(device) and all(one.can_meet_in_subgroups for one in reduced):
            subgroup = device.limits.subgroup_size
            if workgroup % subgroup or members > _MOST_SUBGROUPS * subgroup:
                subgroup = 0
        constants = [
            one.constants(length, members, workgroup, columns, shared, varies, subgroup, few) for one in reduced
        ]
        numbers = tuple(tuple(one.items()) for one in constants)
        return Form(
            tuple(inputs), whole, 0 if varies else length, numbers, members, columns, vector, batch, packs, workgroup,
            shared, subgroup,
        )  # fmt: skip

    def _bound(self, one: Any, kind: str, pack: int, number: int) -> texels.Binding | None:
        """The binding by which a kernel reads an input as texels, or words of them, if that is faster and can be."""
        if type(one) is not VkArray or kind not in OF_ELEMENTS or number == fused.TEXELS:
            return None
        device, itemsize = one._device, storage_itemsize(one._dtype, one._device)
        if not (device.limits.is_cpu and launch.has_texels(device) and one._dtype.itemsize == itemsize == 4):
            return None
        reads = math.prod(self.shape) * itemsize
        if kind != "memory":
            return texels.binding_of_elements(one, number, reads)
        low, high = layout.offset_range(one._shape, one._strides)
        if pack != 4 or low < 0 or texels.are_few(reads):
            return None
        return texels.binding(one, number, 0, high + 1, least=0)


def _number(value: Any) -> Any:
    return Number(value, "Q") if type(value) is int else value


def _place(one: VkArray | Scalar | Index, bound: texels.Binding | None) -> Any:
    """What stands for an input in the arguments; of a bound one, where its words begin."""
    if type(one) is Scalar:
        return one
    if type(one) is Index:
        return one.number()
    if bound is not None:
        return Number(one._offset - bound.offset // 4, "Q")  # type: ignore[union-attr]
    return pointer(one)  # type: ignore[arg-type]


def _leads_ahead(array: VkArray, sizes: layout.Shape, steps: layout.Strides) -> bool:
    """Whether no element of a row lies before its first one, or far after it."""
    low, high = layout.offset_range(sizes, steps)
    return low >= 0 and high * storage_itemsize(array._dtype, array._device) < _AHEAD


def _pack(array: VkArray, steps: layout.Strides) -> int:
    """The most elements that can be loaded at once from anywhere in rows that begin at multiples of some steps."""
    itemsize, pack = storage_itemsize(array._dtype, array._device), _MOST_ELEMENTS
    while pack > 1 and (
        pack * itemsize > 16 or any(step % pack for step in steps) or not pointer(array).is_aligned(pack * itemsize)
    ):
        pack //= 2
    return pack


@kernel_caches.cached
def _kernel(expression: Expression, form: Form, row_axes: int, axes: int, device: Device) -> Any:
    constants = (
        form.workgroup, form.members, int(form.columns), form.length, form.vector, row_axes, axes, form.packs,
        form.subgroup, form.batch,
    )  # fmt: skip
    return kernel_caches.make(
        device, code(expression, form, device), f"rows: {expression.label}", tuple(enumerate(constants))
    )
