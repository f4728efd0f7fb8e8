"""Rows: an operation of the standard is one assignment that binds a name to a GLSL expression.

`unary`, `binary` and `ternary` of `ops/ufunc.py` make the public function and enter its row in `ROWS`, the registry that drives
the namespace, the tests, the documentation's tables, the accuracy report and the archive of compiled shaders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import configuration
from ..core import dtypes, layout, promotion
from ..core.array import VkArray, available, beside_scalar, check_supported, empty
from ..core.dtypes import CATEGORIES, REAL_OF, DType
from . import launch
from .conversion import cast, elementwise
from .launch import Operation
from .scalars import Scalar

ROWS: dict[str, Row] = {}
Expression = str | dict[str, str]


@dataclass(frozen=True, eq=False)
class Row:
    """One elementwise operation.

    `expression` is GLSL in a, b, c: one string, or one per type ("float16"), kind ("integer", "complex floating", ...)
    and "else"; `library` names the file of `glsl/lib/<kind>/` that it calls; `result` says which type comes
    out: "same", "real" (the component type of a complex one) or the name of a type; `integers` says what happens to integer
    operands: "keep" (they are in the category), "by width" (NumPy's float of that width) or "float64"; `booleans` says in
    which type a row computes for bool operands alone that its category lacks (None to refuse them), or with "truth" that
    every operand is taken as true or false; `prepare` is called with the operands of a public call: it raises for what no
    kernel finds, and returns the operands to compute with; `complexes` names the function of the table of operations that
    computes of complex operands, which the category lacks.
    """

    name: str
    operands: int
    category: str
    expression: Expression
    summary: str
    library: str | None = None
    result: str = "same"
    integers: str = "keep"
    method: str = ""
    booleans: DType | str | None = None
    prepare: Callable[..., Sequence[Any]] | None = field(default=None, repr=False)
    complexes: str | None = None
    operations: dict[DType, Operation] = field(default_factory=dict, repr=False)

    def compute_dtype(self, dtype: DType, operands: Sequence[Any]) -> DType:
        """The type computed in for operands whose common type is `dtype`. Raises TypeError outside the row's category."""
        if self.booleans == "truth":
            return dtypes.bool_
        if dtype is dtypes.bool_ and isinstance(self.booleans, DType):
            return self.booleans
        if self.integers == "keep" or dtype not in CATEGORIES["integer or boolean"]:
            promotion.check_category(self.name, dtype, self.category)
            return dtype
        arrays = [operand for operand in operands if type(operand) is VkArray]
        floating = dtypes.float64
        if self.integers == "by width":
            # Of each array: int8 with uint8 are float16 here, as in NumPy, though int16 in a sum.
            own = {array._dtype for array in arrays}
            floating = promotion.promote_all(map(promotion.float_for, {dtype} if own == {dtypes.bool_} else own))
        return available(floating, arrays[0]._device)

    def accepted(self) -> Iterator[DType]:
        """The types computed in, for tests, reports and the archive."""
        booleans = {dtypes.bool_} if self.booleans in (dtypes.bool_, "truth") else set()
        own = booleans if self.booleans == "truth" else CATEGORIES[self.category] | booleans
        return (dtype for dtype in dtypes.DTYPES.values() if dtype in own)

    def result_dtype(self, compute: DType) -> DType:
        """The type of the result for a compute type."""
        if self.result in dtypes.DTYPES:
            return dtypes.DTYPES[self.result]
        return REAL_OF.get(compute, compute) if self.result == "real" else compute

    def expression_for(self, compute: DType) -> str:
        """The GLSL expression for a compute type."""
        if isinstance(self.expression, str):
            return self.expression
        kind = "integer" if compute in CATEGORIES["integer"] else compute.category
        for key in (compute.name, compute.category, kind):
            if key in self.expression:
                return self.expression[key]
        return self.expression["else"]

    def operation(self, compute: DType) -> Operation:
        """The operation for a compute type."""
        found = self.operations.get(compute)
        if found is None:
            expression = self.expression_for(compute)
            library = self.library if "vx_" in expression else None
            inputs = (compute,) * self.operands
            label = f"{self.name} {compute}"
            found = Operation(label, expression, inputs, self.result_dtype(compute), compute, library)
            self.operations[compute] = found
        return found

    def __call__(self, *operands: Any, out: VkArray | None = None) -> VkArray:
        """Apply the row to arrays and Python scalars, into `out` when given, of whose type the results are then."""
        compute, arrays = _computed(self, operands)
        operation = self.operations.get(compute) or self.operation(compute)
        shape = arrays[0]._shape
        for array in arrays:
            if array._shape != shape:
                shape = layout.broadcast_shapes([array._shape for array in arrays], self.name)
                break
        if out is None:
            out = empty(shape, operation.result, arrays[0]._device)
        if configuration.current().compare:
            from . import compare

            return compare.elementwise(self, operation, arrays, out)
        return elementwise(operation, arrays, out)


def check_operands(name: str, operands: Sequence[Any]) -> VkArray:
    """The first array among `operands`, all of which are arrays of one device or scalars of Python's or NumPy's.

    Raises TypeError for anything else and when there is no array, ValueError for arrays of different devices.
    """
    first = None
    for operand in operands:
        if type(operand) is VkArray:
            if first is None:
                first = operand
            elif operand._device is not first._device:
                raise ValueError(
                    f"{name}: the operands are on different devices, {first._device} and {operand._device}. "
                    f"Move one with x.to_device(device)."
                )
        elif not promotion.is_scalar(operand):
            raise TypeError(f"{name}: expected arrays or Python scalars, got {_described(operand)}.{_remedy(operand)}")
    if first is None:
        raise TypeError(f"{name}: expected at least one vkarray array, got only Python scalars. Use vkarray.asarray.")
    return first


def check_array(name: str, x: Any) -> VkArray:
    """`x` itself. Raises TypeError unless it is an array."""
    if type(x) is not VkArray:
        if isinstance(x, VkArray):
            _ = x._buffer  # what stands for an array while a function is taped says that no tape can hold this
        if promotion.is_scalar(x):
            raise TypeError(
                f"{name}: expected a vkarray array, got the scalar {x!r:.60}. Convert it with vkarray.asarray."
            )
        raise TypeError(f"{name}: expected a vkarray array, got {_described(x)}.{_remedy(x)}")
    return x


def _described(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


def _remedy(value: Any) -> str:
    if hasattr(value, "__array__") or isinstance(value, (list, tuple)):
        return " Convert it with vkarray.asarray."
    if hasattr(value, "__next__"):
        return " Make an array of what an iterator gives with vkarray.fromiter."
    return " Make a list of it." if hasattr(value, "__iter__") and not isinstance(value, (str, bytes, dict)) else ""


def common_dtype(name: str, operands: Sequence[Any]) -> DType:
    """The promoted type of arrays and Python scalars (arrays first, then the scalars, which are weak)."""
    like = check_operands(name, operands)
    strong = [operand._dtype for operand in operands if type(operand) is VkArray]
    dtype = promotion.promote_all(strong)
    for operand in operands:
        if type(operand) is not VkArray:
            dtype = beside_scalar(dtype, promotion.scalar_kind(operand), like._device)
    return dtype if promotion.is_double(strong) else available(dtype, like._device)


def as_operand(name: str, operand: Any, dtype: DType, like: VkArray) -> VkArray | Scalar:
    """An operand of elementwise kernels in `dtype` on the device of `like`. Raises OverflowError for an integer out of range."""
    if type(operand) is VkArray:
        return operand if operand._dtype is dtype else cast(operand, dtype)
    promotion.check_scalar_range(name, operand, dtype)
    return launch.scalar(operand, dtype, like._device)


def as_array(name: str, operand: Any, dtype: DType, like: VkArray) -> VkArray:
    """An operand as an array, otherwise as `as_operand`."""
    found = as_operand(name, operand, dtype, like)
    return found.array if isinstance(found, Scalar) else found


def _computed(row: Row, operands: Sequence[Any]) -> tuple[DType, Sequence[VkArray | Scalar]]:
    """The type that a row computes in, and the operands: arrays of any type on one device, and numbers of that type."""
    first = operands[0]
    if type(first) is VkArray and first._dtype in row.operations:
        # The warm path: arrays of one type and device that this row has computed in before.
        dtype, device = first._dtype, first._device
        for operand in operands:
            if type(operand) is not VkArray or operand._dtype is not dtype or operand._device is not device:
                break
        else:
            return dtype, operands
    like = check_operands(row.name, operands)
    dtype = common_dtype(row.name, operands)
    compute = row.compute_dtype(dtype, operands)
    if compute is dtypes.bool_:
        operands = [operand if type(operand) is VkArray else bool(operand) for operand in operands]
    check_supported(compute, like._device, row.name, operands)
    return compute, [
        operand if type(operand) is VkArray else as_operand(row.name, operand, compute, like) for operand in operands
    ]
