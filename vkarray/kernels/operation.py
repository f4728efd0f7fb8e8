"""Elementwise operations: an expression on fixed types, and the shaders of its kernels.

A kernel is linked of a shell, which knows the access pattern and the sizes of the operands, and the function of the operation.
The shell moves elements as their carriers, unsigned integers of their sizes, so it serves operations of all types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..core import dtypes, layout
from ..core.array import storage_itemsize
from ..core.dtypes import DType
from ..shaders.assembly import Assembly
from ..shaders.source import Shader, Variant
from . import walk
from .defines import (
    Defines,
    compute_defines,
    feature_defines,
    has_texels,
    library_path,
    operand_defines,
    pack_defines,
    vector_of,
)

if TYPE_CHECKING:
    from .. import _vk

# What an operation costs by the library file that its expression calls; one that calls none costs 1.
_COSTS = dict.fromkeys(("arithmetic", "rounding", "classification", "/float32/comparison", "/conversion"), 2)
_COSTLY = 12
WORKGROUP_SIZE = 256
# The strided template: invocations of a workgroup, elements of an invocation, as many of these as fit into shared memory, of
# which each device has 16 KiB at least and a tile takes 5 / 4 elements for one.
INVOCATIONS = {"gpu": 128, "cpu": WORKGROUP_SIZE}
_ELEMENTS = {"gpu": (4, 2, 1), "cpu": (1,)}
_TILE_BYTES = 16384 * 4 // 5
# Operands in templates: the variable of each, which is also the field of its place; macros have it in capitals.
INPUT_FIELDS, RESULT_FIELDS = (
    ("a", "b", "c", *(f"input{k}" for k in range(3, 32))),
    ("r", *(f"result{k}" for k in range(1, 32))),
)

# The functions that glsl/lib/approximate.glsl has. Those of networks (glsl/lib/pointwise.glsl) call them.
_APPROXIMATE = re.compile(
    r"\bvx_(divide(_float16)?|reciprocal|equal|less|less_equal|sqrt|pow|exp2?|log(2|10|1p)?|tanh|sin|cos|asin|acos)\b"
)
_NETWORKS = "/pointwise"

# Expressions of functions that glsl/lib/float32 has in parts (VX_OF_PARTS), and the elements that `evaluate_pack` takes.
_OF_PARTS = frozenset(
    f"vx_{name}(a)" for name in ("asin", "cos", "exp", "log", "log10", "log1p", "log2", "sin", "sqrt")
)
PACK = 4

# What carries elements of so many bytes.
_CARRIERS = {1: dtypes.uint8, 2: dtypes.uint16, 4: dtypes.uint32, 8: dtypes.uint64}


def carrier(dtype: DType, device: _vk.Device) -> DType:
    """The type as which shells move elements of a type; where no integer is so long, the type itself."""
    itemsize = storage_itemsize(dtype, device)
    if itemsize == 8 and "shaderInt64" not in device.features:
        return dtype
    return _CARRIERS.get(itemsize, dtype)


def conversion(dtype: DType, device: _vk.Device) -> Variant | None:
    """The shader with the functions that make values of a type of their carriers, and back; None for what carries itself."""
    carried = carrier(dtype, device)
    if carried is dtype:
        return None
    widened = storage_itemsize(dtype, device) != dtype.itemsize
    defines = [
        ("CARRIER", f"COMPUTE_{carried}"),
        ("VALUE", f"COMPUTE_{dtype}"),
        ("VALUE_OF(bits)", f"LOAD_{dtype}(bits)" if dtype.itemsize < 4 else f"UNPACK_{dtype}(bits, 0)"),
        ("BITS_OF(value)", f"uint(STORE_{dtype}(value))" if widened else f"BITS_{dtype}(value)"),
        *((name, value) for name, value in feature_defines((dtype,), device) if name.startswith("WIDE")),
    ]
    return Variant("functions/carrier", tuple(defines), f"{dtype} in {carried}")


def fields_of_results(count: int) -> tuple[str, ...]:
    """The names of the fields of so many results."""
    return RESULT_FIELDS[:count]


class Operation:
    """One expression on fixed types; its kernels, per device and access pattern, are made at first use.

    `results` has the types of all results: a kernel of the library has one.
    """

    __slots__ = (
        "_approximation",
        "approximate",
        "compute",
        "expression",
        "indexed",
        "inputs",
        "kernels",
        "label",
        "library",
        "result",
        "results",
        "written",
    )

    def __init__(
        self, label: str, expression: str, inputs: tuple[DType, ...], result: DType, compute: DType,
        library: str | None = None,
    ) -> None:  # fmt: skip
        self.label = label
        self.expression = expression
        self.inputs = inputs
        self.result = result
        self.results: tuple[DType, ...] = (result,)
        self.written: tuple[str, ...] = fields_of_results(1)  # names of fields
        self.compute = compute
        self.library = library
        self.indexed = re.search(r"\bindex\b", expression) is not None  # whether the place in C order counts
        self.kernels: dict[tuple[_vk.Device, bool], tuple] = {}
        self.approximate = False
        self._approximation: Operation | None = None

    @property
    def cost(self) -> int:
        """What it costs to compute an element."""
        return 1 if self.library is None else _COSTS.get(self.library, _COSTLY)

    @property
    def is_costly(self) -> bool:
        """Whether it takes many instructions."""
        return self.cost == _COSTLY

    def approximation(self) -> Operation:
        """The same by approximate functions of float32; the operation itself, where it calls none that there is."""
        if self._approximation is None:
            has = self.library == _NETWORKS or (self.library is not None and _APPROXIMATE.search(self.expression))
            self._approximation = self
            if has and self.compute is dtypes.float32 and type(self) is Operation:
                label = f"{self.label}, approximate"
                made = Operation(label, self.expression, self.inputs, self.result, self.compute, self.library)
                made.approximate, made._approximation = True, made
                self._approximation = made
        return self._approximation

    def variant(self, device: _vk.Device, flat: bool, as_texels: Sequence[int] = ()) -> Shader:
        """The shader of this operation for a device and access pattern; inputs `as_texels` are read so."""
        operands = (*self.inputs, *self.results)
        shell = self.shell([carrier(dtype, device) for dtype in operands], device, flat, as_texels)
        conversions = tuple(conversion(dtype, device) for dtype in operands)
        label = f"{self.label} ({'texels' if as_texels else 'flat' if flat else 'strided'})"
        return Assembly(shell, self.function(device), conversions, len(self.inputs), label)

    def shell(
        self, operands: Sequence[DType], device: _vk.Device, flat: bool, as_texels: Sequence[int] = ()
    ) -> Variant:  # fmt: skip
        """The template for operands of these types."""
        fields = (*INPUT_FIELDS[: len(self.inputs)], *RESULT_FIELDS[: len(self.results)])
        defines: list[tuple[str, str]] = [
            ("INPUTS", str(len(self.inputs))),
            ("RESULTS", str(len(self.results))),
            *_each(fields, len(self.inputs)),
            *self.meaning(),
        ]
        if self.indexed:
            defines.append(("INDEXED", "1"))
        if flat:
            vector = vector_of([storage_itemsize(dtype, device) for dtype in operands])
            defines += [("FLAT", "1"), ("VECTOR", str(vector))]
        elif 0 < len(self.inputs) <= walk.TURNABLE:
            defines.append(("TURNABLE", "1"))
        for number, (field, dtype) in enumerate(zip(fields, operands, strict=True)):
            name = field.upper()
            defines += operand_defines(name, dtype)
            if flat:
                itemsize = storage_itemsize(dtype, device)
                defines += pack_defines(name, dtype, vector, itemsize, device, number in as_texels)
            elif number < len(self.inputs):
                # Drivers disagree about bool in shared memory.
                defines.append((f"{name}_TILE", "uint" if dtype is dtypes.bool_ else f"COMPUTE_{dtype.name}"))
        defines += feature_defines(operands, device)
        access = f"texels {as_texels}" if as_texels else "flat" if flat else "strided"
        return Variant("elementwise", tuple(defines), f"elementwise {' '.join(map(str, operands))} ({access})")

    def meaning(self) -> Defines:
        """The defines that say where what is computed comes from."""
        return (("LINKED", "1"),)

    def function(self, device: _vk.Device) -> Variant:
        """The shader with the function `evaluate`, which computes an element."""
        fields = (*INPUT_FIELDS[: len(self.inputs)], RESULT_FIELDS[0])
        types = zip(fields, (*self.inputs, self.result), strict=True)
        defines = [
            *_each(fields, len(self.inputs)),
            ("EXPRESSION", self.expression),
            *((f"{field.upper()}_COMPUTE", f"COMPUTE_{dtype}") for field, dtype in types),
            *compute_defines(self.compute),
            ("LIBRARY", library_path(self.library, self.compute)),
        ]
        if self.approximate:
            defines.append(("APPROXIMATE", "1"))
        if self.has_parts:
            defines.append(("PARTS", self.expression.removesuffix("(a)")))
        return Variant("functions/operation", tuple(defines), self.label)

    @property
    def has_parts(self) -> bool:
        """Whether its function comes in parts too, of which `evaluate_pack` makes the results for `PACK` elements at once."""
        return self.result is dtypes.float32 and self.expression in _OF_PARTS and not self.approximate

    def variants(self, device: _vk.Device) -> Iterator[Shader]:
        """All shaders that a device with these features may ask for."""
        yield from (self.variant(device, flat) for flat in (True, False))
        if self.approximation() is not self:
            yield self.approximation().function(device)
        if as_texels := self.as_texels(device):
            yield self.variant(device, True, as_texels)

    def as_texels(self, device: _vk.Device) -> tuple[int, ...]:
        """The inputs that CPU drivers read as texels: those of words, where no other is longer than these or packed in them."""
        longest = max((dtype.itemsize for dtype in self.results), default=0)
        if not has_texels(device) or longest > 4:
            return ()
        words = tuple(number for number, dtype in enumerate(self.inputs) if dtype.itemsize == 4)
        return words if len(words) == sum(dtype is not dtypes.bool_ for dtype in self.inputs) else ()

    def walk_setting(self, device: _vk.Device) -> walk.Setting:
        """How the strided template walks operands of these types."""
        computed = sum(max(dtype.itemsize, 4) for dtype in self.inputs) if len(self.inputs) <= walk.TURNABLE else 0
        operands = (*self.inputs, *self.results)
        kind = device.limits.kind
        invocations = invocations_of_group(device.limits, INVOCATIONS[kind])
        room = _TILE_BYTES // invocations
        return walk.Setting(
            invocations=invocations,
            elements=next(count for count in _ELEMENTS[kind] if count * computed <= room),
            groups=device.limits.max_workgroup_count,
            turns=kind == "gpu",
            inputs=len(self.inputs),
            limit=layout.index_limit(max((storage_itemsize(dtype, device) for dtype in operands), default=1)) - 1,
        )


def _each(fields: Sequence[str], inputs: int) -> Defines:
    """The macros that do something for each input, and for each result."""
    numbered = [f"DO({field.upper()}, {field}, {number})" for number, field in enumerate(fields)]
    return ("EACH_INPUT(DO)", " ".join(numbered[:inputs])), ("EACH_RESULT(DO)", " ".join(numbered[inputs:]))


def invocations_of_group(limits: _vk.Limits, wanted: int = WORKGROUP_SIZE) -> int:
    """The workgroup size that a device gives a kernel that wants `wanted` invocations: Vulkan promises only 128."""
    largest = min(limits.max_workgroup_invocations, limits.max_workgroup_size[0])
    return wanted if wanted <= largest else 1 << largest.bit_length() - 1  # kernels halve it again and again
