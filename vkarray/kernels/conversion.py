"""Elements of other types than an operation computes in: converted where its kernel reads and stores them, or beside it."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from .._vk.watch import tracer, watches
from ..core.array import VkArray, check_supported, empty
from ..core.dtypes import DType
from . import launch
from .evaluation import Evaluation
from .expressions import As, Expression, Step, can_be_step
from .launch import Operation
from .scalars import Scalar


@functools.cache
def cast_operation(source: DType, target: DType) -> Operation:
    """The operation that converts one type to another."""
    if source is target:
        return launch.copy_operation(source)
    expression = f"vx_to_{target.name}(a)"
    return Operation(f"astype {source} to {target}", expression, (source,), target, target, "/conversion")


def cast(array: VkArray, dtype: DType) -> VkArray:
    """A contiguous copy of `array` converted to `dtype` (the array itself when it has that type)."""
    if array._dtype is dtype:
        return array
    check_supported(dtype, array._device, "astype")
    return cast_into(array, empty(array._shape, dtype, array._device))


def cast_into(array: VkArray, result: VkArray) -> VkArray:
    """`array` converted to the type of `result`, to whose shape it broadcasts, and stored there."""
    check_cast(array._dtype, result._dtype)
    return launch.elementwise(cast_operation(array._dtype, result._dtype), (array,), result)


def check_cast(source: DType, target: DType) -> None:
    """Raise TypeError where values of a type have none of the other."""
    if source.kind == "c" and target.kind not in "cb":
        raise TypeError(f"astype: {source} has no {target} value. Take vkarray.real(x), vkarray.imag(x) or abs(x).")


def elementwise(
    operation: Operation, inputs: Sequence[VkArray | Scalar], result: VkArray, types: Sequence[DType] | None = None,
    made: DType | None = None,
) -> VkArray:  # fmt: skip
    """`launch.elementwise` on arrays of any types, which are converted to `types`, into an array of any type.

    What the operation makes is of the type `made`. Both are the operation's own, unless it moves elements as their bits.
    """
    types, made = types or operation.inputs, made or operation.result
    given = tuple([one._dtype for one in inputs])
    if given == tuple(types) and result._dtype is made:
        return launch.elementwise(operation, inputs, result)
    for source, target in (*zip(given, types, strict=True), (made, result._dtype)):
        check_cast(source, target)
    expression = _expression(operation, given, tuple(types), made, result._dtype)
    if expression is None or (watches and tracer() is not None):  # a trace joins operations itself
        inputs = [cast(one, dtype) if type(one) is VkArray else one for one, dtype in zip(inputs, types, strict=True)]
        whole = result if result._dtype is made else empty(result._shape, made, result._device)
        launch.elementwise(operation, inputs, whole)
        return result if whole is result else cast_into(whole, result)
    Evaluation(expression, launch.without_overlap(inputs, result), (result,), result._device).run()
    return result


@functools.lru_cache(maxsize=4096)
def _expression(
    operation: Operation, given: tuple[DType, ...], types: tuple[DType, ...], made: DType, stored: DType
) -> Expression | None:  # fmt: skip
    """The operation with all conversions; None where one of these is for no kernel of several operations."""
    steps: list[Step] = []

    def step(what: Operation | As, *operands: int) -> int:
        steps.append(Step(what, operands))
        return len(given) + len(steps) - 1

    read, operands = [], []
    for number, (own, dtype, bits) in enumerate(zip(given, types, operation.inputs, strict=True)):
        read.append(bits if own is dtype else own)
        value = number if own is dtype else step(cast_operation(own, dtype), number)
        operands.append(value if own is dtype or bits is dtype else step(As(dtype, bits), value))
    value, dtype = step(operation, *operands), operation.result
    if stored is not made:
        value = value if dtype is made else step(As(dtype, made), value)
        value, dtype = step(cast_operation(made, stored), value), stored
    possible = all(isinstance(one.operation, As) or can_be_step(one.operation) for one in steps)
    return Expression(tuple(read), tuple(steps), ((value, dtype),)) if possible else None
