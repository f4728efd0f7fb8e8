"""The dispatches of an expression over arrays: flat where these are contiguous, else along their strides, in strips of elements."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core import dtypes, layout
from ..core.array import VkArray, storage_itemsize
from . import kernel_caches, launch, texels, walk
from .dispatch import Number, dispatch, pointer
from .expressions import Expression, Step, can_be_step, length
from .fused import ALONE, RESULTS, TEXELS, UNUSED, Index, Input, Strip, code, padded_inputs, strides_over
from .scalars import Scalar

if TYPE_CHECKING:
    from .launch import Device, Operation


class _Work(NamedTuple):
    """What an invocation takes on of an expression."""

    times: int  # that a kernel may call the expression, at least
    packs: int  # at most, where the operands are contiguous
    elements: int  # where it walks along strides, which takes one more call than there are elements
    apart: int  # how these lie


# The first that is for an expression is taken.
_WORK = {
    "gpu": (_Work(8, 1, 4, walk.TALL), _Work(1, 1, 1, walk.BESIDE)),
    "cpu": (_Work(17, 4, 16, walk.BESIDE), _Work(5, 1, 4, walk.BESIDE), _Work(1, 1, 1, walk.BESIDE)),
}


# A single operation is waited for more often than a program, so its kernels have less to compile: so many instructions, and calls
# where an element takes long to compute, or is no word.
_INSTRUCTIONS, _CALLS = 3 << 12, 5


def along_strides(
    operation: Operation, inputs: Sequence[VkArray | Scalar], results: Sequence[VkArray], device: Device, origin: int
) -> bool:
    """Make the dispatches of one operation, many elements of an invocation at a time; False for what is no step of programs.

    CPU drivers take several times longer for the elements of `glsl/elementwise.comp`, each of which finds its place by itself.
    `origin` is the place in C order of the first element.
    """
    expression = _of(operation)
    if expression is None:
        return False
    given: list[VkArray | Scalar | Index] = list(inputs)
    if operation.indexed:
        given.append(Index(layout.contiguous_strides(results[0]._shape), origin))
    times = _INSTRUCTIONS // length(operation, device)
    if expression.is_costly or max(one.itemsize for one in (*operation.inputs, operation.result)) > 4:
        times = min(times, _CALLS)
    Evaluation(expression, given, results, device, max(times, 1)).run()
    return True


@functools.lru_cache(maxsize=4096)
def _of(operation: Operation) -> Expression | None:
    """The expression of one operation."""
    if not can_be_step(operation):
        return None
    operands = tuple(range(len(operation.inputs)))
    place = len(operands) if operation.indexed else None
    inputs = (*operation.inputs, dtypes.uint32) if operation.indexed else operation.inputs
    step = Step(operation, operands, place)
    return Expression(inputs, (step,), ((len(inputs), operation.result),))


@kernel_caches.cached
def _kernel(
    expression: Expression, inputs: tuple[Input, ...], flat: bool, vector: int, device: Device, strip: Strip,
    invocations: int, constants: tuple[tuple[int, int], ...],
) -> Any:  # fmt: skip
    paired = flat and (6, 1) in constants  # the constant PAIRED of glsl/fused.comp
    linked = code(expression, inputs, flat, vector, device, strip, paired)
    return kernel_caches.make(device, linked, expression.label, ((0, invocations), *constants))


class Evaluation:
    """An expression of inputs and results of given types, places and layouts: its dispatches."""

    def __init__(
        self, expression: Expression, inputs: Sequence[VkArray | Scalar | Index], results: Sequence[VkArray], device: Device,
        times: int | None = None,
    ) -> None:  # fmt: skip
        """`times`: how often a kernel calls the expression at most, where that is to be less often than it may."""
        self.expression, self.inputs, self.results, self.device = expression, inputs, results, device
        self.shape = results[0]._shape
        self.times = expression.times(device) if times is None else min(times, expression.times(device))
        self.work = next(work for work in _WORK[device.limits.kind] if self.times >= work.times)
        memory = [dtype for one, dtype in zip(inputs, expression.inputs, strict=True) if type(one) is VkArray]
        self.itemsizes = [
            storage_itemsize(dtype, device) for dtype in (*memory, *(dtype for _, dtype in expression.results))
        ]
        self.vector = min(launch.vector_of(self.itemsizes), 1 << self.times.bit_length() - 1)
        self.operands = sum(type(one) is not Scalar for one in inputs) + len(results)

    def kinds(self, flat: bool) -> tuple[Input, ...]:
        """How the inputs come."""
        found = []
        for one, dtype in zip(self.inputs, self.expression.inputs, strict=True):
            if type(one) is Scalar:
                kind = "immediate"
            elif type(one) is Index:
                kind = "index" if flat else "walked index"
            else:
                kind = ("one" if math.prod(one._shape) == 1 else "memory") if flat else "walked"  # type: ignore[union-attr]
            found.append(Input(kind, dtype))
        return tuple(found)

    def is_flat(self) -> bool:
        """Whether all operands are contiguous and aligned, or one element."""
        contiguous = layout.contiguous_strides(self.shape)
        for one in self.inputs:
            if type(one) is Index:
                if any(a != b for a, b, n in zip(one.strides, contiguous, self.shape, strict=True) if n != 1):
                    return False
            elif type(one) is VkArray and math.prod(one._shape) != 1:
                if not (one._contiguous and one._shape == self.shape):
                    return False
                if not pointer(one).is_aligned(self.vector * storage_itemsize(one._dtype, self.device)):
                    return False
        return all(
            one._contiguous and pointer(one).is_aligned(self.vector * storage_itemsize(one._dtype, self.device))
            for one in self.results
        )

    def run(self) -> None:
        """Make the dispatches."""
        count = math.prod(self.shape)
        if not count:
            return
        if self.is_flat() and count <= layout.INDEX_LIMIT:
            self._flat(count)
        else:
            self._strided()

    def _fields(self, offsets: Sequence[int]) -> dict[str, Any]:
        """Where operands begin, so many elements further on."""
        inputs: list[Any] = []
        further = iter(offsets)
        for one in self.inputs:
            if type(one) is Scalar:
                inputs.append(one)
            elif type(one) is Index:
                inputs.append(one.number(next(further)))
            else:
                inputs.append(pointer(one, next(further)))  # type: ignore[arg-type]
        results = [pointer(one, offset) for one, offset in zip(self.results, further, strict=True)]
        return {
            "inputs": padded_inputs(inputs),
            "results": (*results, *[UNUSED] * (RESULTS - len(results))),
        }

    def _kernel(
        self, inputs: tuple[Input, ...], flat: bool, strip: Strip, invocations: int, constants: Sequence[int]
    ) -> Any:  # fmt: skip
        vector = self.vector if flat else 1
        numbered = tuple(enumerate(constants, 1))
        return _kernel(self.expression, inputs, flat, vector, self.device, strip, invocations, numbered)

    def _flat(self, count: int) -> None:
        limits = self.device.limits
        invocations = launch.invocations_of_group(limits, launch.FLAT[limits.tier].invocations)
        bindings = self._bindings(count)
        fields = self._fields([0] * self.operands)
        # While a costly function is computed, the memory answers for the second pack. Many short operations only gain registers.
        paired = self.work is _WORK["gpu"][0] and self.expression.is_costly
        packs = 2 if paired else min(self.work.packs, 1 << (max(1, self.times // self.vector).bit_length() - 1))
        for part, groups, first, end in launch.flat_parts(
            limits, invocations, packs, count, self.vector, self.expression.is_costly
        ):
            constants = (packs, part == "whole", part == "single", self.vector, limits.kind == "gpu", paired)
            bound = bindings if part == "whole" else {}
            inputs = tuple(
                one._replace(kind="texels") if place in bound else one for place, one in enumerate(self.kinds(True))
            )
            kernel = self._kernel(inputs, True, ALONE, invocations, tuple(map(int, constants)))
            own = {**fields, "count": end, "first": first}
            dispatch(kernel, groups, own, writes=("results",), bindings=list(bound.values()) or None)

    def _bindings(self, count: int) -> dict[int, texels.Binding]:
        """The inputs that are read as texels, and their bindings."""
        found: dict[int, texels.Binding] = {}
        if self.device.limits.is_cpu and self.vector == 4 and launch.has_texels(self.device):
            for place, (one, (kind, dtype)) in enumerate(zip(self.inputs, self.kinds(True), strict=True)):
                if kind == "memory" and dtype.itemsize == 4 and len(found) < TEXELS:
                    bound = texels.binding(one, len(found), 0, count)  # type: ignore[arg-type]
                    if bound is not None:
                        found[place] = bound
        return found

    def _strided(self) -> None:
        limits = self.device.limits
        strides = strides_over((*self.inputs, *self.results), self.shape)
        elements, apart = self.work.elements, self.work.apart
        setting = walk.Setting(
            invocations=launch.invocations_of_group(limits, launch.INVOCATIONS[limits.kind]), elements=elements,
            groups=limits.max_workgroup_count, turns=False, inputs=self.operands - len(self.results),
            limit=layout.index_limit(max(self.itemsizes)) - 1, apart=apart,
        )  # fmt: skip
        parts = walk.parts(self.shape, tuple(strides), setting)
        if any(numbered for part in parts for numbered in part.mode):  # each element has a place of its own
            setting = setting._replace(elements=1)
            parts = walk.parts(self.shape, tuple(strides), setting)
        for part in parts:
            self._walked(part, setting)

    def _walked(self, part: walk.Part, setting: walk.Setting) -> None:
        """The dispatch of a part of a walk."""
        rank = part.plan & 0xFF
        unit = sum(1 << number for number in range(self.operands) if part.values[(number + 2) * rank - 1] == 1)
        constants = (self.operands, rank, int(part.mode[0]), setting.elements, part.apart, unit)
        inputs, fields = list(self.kinds(False)), self._fields(part.offsets)
        operands = [number for number, one in enumerate(inputs) if one.kind != "immediate"]
        for number, step in zip(operands, part.along, strict=False):
            if step == 0 and inputs[number].kind == "walked":
                inputs[number] = inputs[number]._replace(kind="held")
        bindings: list[texels.Binding] = []
        stored = [1] * len(self.results)
        if part.apart == walk.BESIDE and setting.elements > 1 and launch.has_texels(self.device):
            bindings = self._words(part, operands, inputs, fields)
            stored = [self._stored_at_once(part, number, setting.elements) for number in range(len(self.results))]
        strip = Strip(setting.elements, tuple(stored))
        kernel = self._kernel(tuple(inputs), False, strip, setting.invocations, constants)
        fields |= {"count": part.numbers, "plan": part.plan, "layout_": part.values}
        dispatch(kernel, part.groups, fields, writes=("results",), bindings=bindings or None)

    def _stored_at_once(self, part: walk.Part, number: int, elements: int) -> int:
        """How many neighbours of a result can be stored at once: such packs begin at a multiple of their size in each row."""
        one, rank = self.results[number], part.plan & 0xFF
        place = self.operands - len(self.results) + number
        steps = part.values[(place + 1) * rank : (place + 2) * rank]
        itemsize = storage_itemsize(one._dtype, self.device)
        if not one._dtype.itemsize == itemsize == 4 or steps[-1] != 1 or min(steps) < 0:
            return 1
        first = pointer(one, part.offsets[place])
        return next(
            count for count in (4, 2, 1)
            if count <= elements and not any(step % count for step in steps[:-1]) and first.is_aligned(count * itemsize)
        )  # fmt: skip

    def _words(
        self, part: walk.Part, operands: Sequence[int], inputs: list[Input], fields: dict[str, Any]
    ) -> list[texels.Binding]:  # fmt: skip
        """Have inputs whose elements are neighbours along strips read as words of texels, and say by which bindings."""
        views: dict[int, list[tuple[int, tuple[VkArray, int, int]]]] = {}
        rank = part.plan & 0xFF
        shape = part.values[:rank]
        for place, (number, step, offset) in enumerate(zip(operands, part.along, part.offsets, strict=False)):
            one, dtype = self.inputs[number], self.expression.inputs[number]
            if type(one) is VkArray and step == 1 and dtype.itemsize == storage_itemsize(dtype, self.device) == 4:
                steps = part.values[(place + 1) * rank : (place + 2) * rank]
                _, last = layout.offset_range(shape, tuple(map(abs, steps)))
                views.setdefault(id(one._buffer), []).append((number, (one, offset, offset + last + 1)))
        made: list[texels.Binding] = []
        begins = list(fields["inputs"])
        reads = math.prod(shape) * 4
        for same in views.values():
            known = [view for _, view in same]
            bound = texels.binding_of_views(known, len(made), reads) if len(made) < TEXELS else None
            if bound is not None:
                for number, (one, first, _) in same:
                    inputs[number] = inputs[number]._replace(kind=f"words {len(made)}")
                    begins[number] = Number((one._offset + first) - bound.offset // 4, "Q")
                made.append(bound)
        fields["inputs"] = tuple(begins)
        return made
