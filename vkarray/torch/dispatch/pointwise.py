"""Kernels of elementwise operators: promotion, broadcasting and strides as PyTorch's, one dispatch of a row of GLSL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from ...core import dtypes
from ...core.array import VkArray, check_supported
from ...core.dtypes import CATEGORIES, DType
from ...core.tokens import TOKENS, plain
from ...errors import FeatureError
from ...kernels import launch
from ...kernels.conversion import cast
from ...kernels.launch import Operation
from ...kernels.rows import Row
from ...kernels.scalars import Scalar
from .. import device
from ..tensors.storage import FROM_TORCH, array_of, new_array, wrap
from ..tensors.transfer import assign
from . import fallback, limits, results, table
from .fallback import Unsupported
from .plans import planned

_PLANS = 4096
_NUMBERS = frozenset((bool, int, float, complex, *TOKENS))
_REFUSALS = (Unsupported, FeatureError)


class Formula(Protocol):
    """What makes the operation for a compute type: a `Row`, or a `Choice` among rows by type."""

    def operation(self, compute: DType, /) -> Operation: ...


class ByType:
    """Different rows for some types: `ByType(add.row, bool=logical_or.row)`; a key is a type's name or kind."""

    def __init__(self, otherwise: Row, **rows: Row) -> None:
        self.rows, self.otherwise = rows, otherwise
        self.result = otherwise.result

    def operation(self, compute: DType) -> Operation:
        """The operation of the row for the type. Raises Unsupported outside that row's category."""
        row = self.rows.get(compute.name) or self.rows.get(compute.category) or self.otherwise
        return of_row(row, compute)


class ByInteger:
    """A row for floating-point numbers, and one for integers and bools, which computes in their own type."""

    def __init__(self, otherwise: Row, integers: Row) -> None:
        self.otherwise, self.integers = otherwise, integers
        self.result = otherwise.result

    def operation(self, compute: DType) -> Operation:
        """The operation of the row for the type."""
        return of_row(self.integers if compute in CATEGORIES["integer or boolean"] else self.otherwise, compute)


class Divided:
    """A row of division, which refuses 0 as a divisor of integers, and bools."""

    def __init__(self, function: str, row: Row) -> None:
        self.function, self.row = function, row
        self.result = row.result

    def operation(self, compute: DType) -> Operation:
        """The operation of the row for the type. Raises PyTorch's NotImplementedError for bools."""
        if compute is dtypes.bool_:
            raise NotImplementedError(f"\"{self.function}\" not implemented for 'Bool'")
        return of_row(self.row, compute)

    def checked(self, values: Sequence[Any], dtypes: Sequence[DType | None]) -> Sequence[Any]:
        """The operands. Raises RuntimeError for 0 among the divisors of integers, or notes it."""
        divisor, dtype = values[1], dtypes[1]
        if dtype in CATEGORIES["integer"]:
            limits.check_divisor(self.function, divisor if type(divisor) is VkArray else number(divisor, dtype))
        return values


class Fitting:
    """A formula whose numbers of the host, at all places or at some, have to fit their types."""

    def __init__(self, formula: Any, places: Sequence[int] = (0, 1, 2, 3)) -> None:
        self.formula, self.places = formula, places

    def __getattr__(self, name: str) -> Any:
        return getattr(self.formula, name)

    def operation(self, compute: DType) -> Operation:
        """The operation of the formula for the type."""
        return of_row(self.formula, compute)

    def checked(self, values: Sequence[Any], dtypes: Sequence[DType | None]) -> Sequence[Any]:
        """The operands. Raises RuntimeError for a number that does not fit."""
        for place, (value, dtype) in enumerate(zip(values, dtypes, strict=True)):
            if place in self.places and type(value) is not VkArray:
                assert dtype is not None
                limits.check_number(value, dtype)
        return values


class Bounded(Fitting):
    """A row whose operands after the first are bounds: which of them, "min" or "max"."""

    def __init__(self, formula: Any, *ends: str) -> None:
        super().__init__(formula)
        self.ends = ends

    def checked(self, values: Sequence[Any], dtypes: Sequence[DType | None]) -> Sequence[Any]:
        """The operands, with the bounds that the type can hold."""
        triples = zip(values[1:], dtypes[1:], self.ends, strict=True)
        return [values[0], *[limits.bound(value, dtype, end) for value, dtype, end in triples if dtype is not None]]


def of_row(row: Any, compute: DType) -> Operation:
    """The operation of a row. Raises Unsupported where the row does not take the type."""
    if isinstance(row, Row) and compute not in CATEGORIES[row.category]:
        raise Unsupported(f"vkarray's {row.name} takes {row.category} arrays, got {compute}")
    made: Operation = row.operation(compute)
    return made


class _Plan(NamedTuple):
    """How one signature is computed."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    torch_dtype: torch.dtype
    dtype: DType
    inputs: tuple[DType | None, ...]  # what operands are converted to; None: as they are
    operation: Operation
    moves: bool  # the operation moves bits, of a type of its own
    checked: Callable[[Sequence[Any], Sequence[DType | None]], Sequence[Any]] | None  # looks at the operands first


def number(value: Any, dtype: DType) -> Any:
    """A Python number as PyTorch converts it to a type: integers wrap around."""
    if dtype in CATEGORIES["integer"]:
        return (int(value) + (1 << dtype.bits - 1 if dtype.category == "signed integer" else 0)) % (1 << dtype.bits) - (
            1 << dtype.bits - 1 if dtype.category == "signed integer" else 0
        )
    return bool(value) if dtype is dtypes.bool_ else value


def _value(operand: Any) -> Any:
    """An operand as an array or a Python number (from a tensor of no dimension on the CPU)."""
    if isinstance(operand, Tensor):
        return operand.item() if operand.is_cpu and operand.ndim == 0 else array_of(operand)
    return operand


def _converted(value: Any, dtype: DType | None, on: Any) -> VkArray | Scalar:
    if type(value) is VkArray:
        return value if dtype is None or value._dtype is dtype else cast(value, dtype)
    assert dtype is not None
    return launch.scalar(number(value, dtype), dtype, on)


def _device_of(operands: Sequence[Any]) -> Any:
    """The Vulkan device of the first tensor that is on one."""
    for one in operands:
        if isinstance(one, Tensor) and not one.is_cpu:
            return device.chosen(one.device)
    return device.current()


def promoted(operands: Sequence[Any]) -> torch.dtype:
    """The type that operands promote to."""
    _, dtype = torch._prims_common.elementwise_dtypes(
        *map(plain, operands), type_promotion_kind=torch._prims_common.ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT
    )
    return dtype


def _looks(value: Any) -> Any:
    """What of an argument decides how it is computed, beside the formula: not the values of tensors and numbers."""
    kind = type(value)
    return kind if kind in _NUMBERS else results.signature(value)


class Pointwise:
    """An operator whose body says for its arguments which formula is computed on which operands."""

    def __init__(self, op: Any, body: Callable[..., Any]) -> None:
        self.op, self.body = op, body
        self.plans: dict[Any, _Plan] = {}

    def plan(self, formula: Any, operands: Sequence[Any], args: Sequence[Any], kwargs: dict[str, Any]) -> _Plan:
        """How these arguments are computed. Raises what PyTorch raises for them, and Unsupported."""
        # Also what is no operand, such as an exponent that chose the formula, may decide the type of the result.
        key = (formula, *map(_looks, args), *map(_looks, kwargs.values()))
        found = self.plans.get(key)
        if found is None:
            if len(self.plans) >= _PLANS:
                self.plans.clear()
            found = self.plans[key] = self._planned(formula, operands, results.inferred(self.op, args, kwargs))
        return found

    def _planned(self, formula: Any, operands: Sequence[Any], meta: Tensor) -> _Plan:
        if meta.dtype not in FROM_TORCH:
            raise Unsupported(f"vkarray has no type {meta.dtype}")
        typed = getattr(formula, "types", None)  # by position: types that operands have whatever the others are
        if formula.result == "same":
            compute = FROM_TORCH[meta.dtype]
        elif hasattr(formula, "compute"):
            compute = formula.compute
        else:
            free = [one for place, one in enumerate(operands) if not (typed and typed[place])]
            compute = FROM_TORCH[promoted([results.as_meta(one) for one in free])]
            if formula.result == "real" and compute in CATEGORIES["integer or boolean"]:
                compute = FROM_TORCH[meta.dtype]
        check_supported(FROM_TORCH[meta.dtype], _device_of(operands), self.op._schema.name)
        operation = of_row(formula, compute)
        inputs = tuple(typed[place] or compute for place in range(len(operands))) if typed else operation.inputs
        moves = getattr(formula, "moves", False)
        checked = getattr(formula, "checked", None)
        dtype = FROM_TORCH[meta.dtype]
        return _Plan(tuple(meta.shape), meta.stride(), meta.dtype, dtype, inputs, operation, moves, checked)

    def run(self, plan: _Plan, values: Sequence[Any], target: VkArray) -> None:
        """Compute into an array of any layout, of the shape of the plan."""
        if plan.checked is not None and target.size:
            values = plan.checked(values, plan.inputs)
        arrays = [_converted(value, dtype, target._device) for value, dtype in zip(values, plan.inputs, strict=True)]
        result = plan.operation.result
        if target._dtype is result or (plan.moves and target._dtype is plan.dtype):
            launch.elementwise(plan.operation, arrays, target)
        else:
            made = new_array(target._shape, target._strides, plan.dtype if plan.moves else result, target._device)
            assign(target, launch.elementwise(plan.operation, arrays, made))

    def new(self, *args: Any, **kwargs: Any) -> Tensor:
        """The kernel of the overload that returns a new tensor."""
        try:
            formula, *operands = self.body(*args, **kwargs)
        except Unsupported as error:
            return fallback.run(self.op, args, kwargs, table.reason(error))
        values = [_value(operand) for operand in operands]
        try:
            plan = self.plan(formula, operands, args, kwargs)
        except _REFUSALS as error:
            return fallback.run(self.op, args, kwargs, table.reason(error))
        on = next(value._device for value in values if type(value) is VkArray)
        target = new_array(plan.shape, plan.strides, plan.dtype, on)
        self.run(plan, values, target)
        return wrap(target)

    def in_place(self, op: Any) -> Callable[..., Tensor]:
        """The kernel of the overload that writes its first argument."""

        def kernel(target: Tensor, *rest: Any, **kwargs: Any) -> Tensor:
            try:
                formula, *operands = self.body(target, *rest, **kwargs)
                values = [_value(operand) for operand in operands]
                plan = self.plan(formula, operands, (target, *rest), kwargs)
            except _REFUSALS as error:
                fallback.run(op, (target, *rest), kwargs, table.reason(error))
                return target
            table.check_broadcast(plan.shape, target)
            table.check_castable(plan.torch_dtype, target.dtype)
            table.check_target(target, operands)
            self.run(plan, values, array_of(target))
            return target

        return kernel

    def out(self, op: Any) -> Callable[..., Tensor]:
        """The kernel of the overload that writes into `out`."""
        (name,) = table.written(op)

        def kernel(*args: Any, **kwargs: Any) -> Tensor:
            out: Tensor = kwargs.pop(name)
            try:
                formula, *operands = self.body(*args, **kwargs)
                values = [_value(operand) for operand in operands]
                plan = self.plan(formula, operands, args, kwargs)
            except _REFUSALS as error:
                return fallback.run(op, args, {**kwargs, name: out}, table.reason(error))
            table.check_castable(plan.torch_dtype, out.dtype)
            table.check_target(table.resized(out, plan.shape), operands)
            self.run(plan, values, array_of(out))
            return out

        return kernel


def elementwise(names: str, body: Any) -> None:
    """Rows for elementwise operators (names separated by spaces).

    `body` is a formula (a row of GLSL, `ByType`) whose operands are the operator's arguments in their order, or a function
    of those arguments that returns (formula, operand, ...), an operand being a tensor or a Python number.
    """
    if not callable(body) or isinstance(body, Row):
        formula = body
        body = lambda *operands: (formula, *operands)  # noqa: E731
    for name in names.split():
        for op in table.functional(name):
            made = Pointwise(op, body)
            table.register(op, planned(made.new), "native", "elementwise")
            for other in table.in_place_variants(op):
                table.register(other, planned(made.in_place(other)), "native", "elementwise")
            for other in table.out_variants(op):
                table.register(other, made.out(other), "native", "elementwise")
