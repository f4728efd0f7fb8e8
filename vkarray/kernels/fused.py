"""Elementwise kernels of several operations: functions of compiled kernels, linked into one that computes all of them at once.

Each step of an `Expression` is an operation of the library: the function that the operation's own kernel calls, brought along with
its decorations, so the results are the same bits. No compiler is needed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import device_caches
from ..core import dtypes, layout
from ..core.array import VkArray, is_supported, storage_itemsize
from ..core.dtypes import DType
from ..shaders import link
from ..shaders.source import Variant, spirv
from . import launch
from .dispatch import Number
from .expressions import As, Expression, Step, makes_zeros
from .launch import Operation
from .operation import PACK
from .scalars import Scalar

if TYPE_CHECKING:
    from .launch import Device

# At most: inputs that lie somewhere, numbers, results. glsl/fused.comp has a place for one more input, which is always 0.
INPUTS, NUMBERS, RESULTS = 24, 31, 8
PLACES = INPUTS + NUMBERS + 1
TEXELS = 8  # inputs that are read as texels, at most: those of glsl/functions/texels.comp
_TEXELS = Variant("functions/texels", (), "texels")
# What is stored is shorter than what is computed with: a value that is used on is what memory would have held.
_NARROW = frozenset(
    (dtypes.float16, dtypes.bfloat16, dtypes.int8, dtypes.int16, dtypes.uint8, dtypes.uint16)
)  # fmt: skip
UNUSED = Number(0, "Q")  # in a place of the arguments
HELD = 16  # values of an element, at most, where four are computed side by side: more would leave registers for few invocations


class Index(NamedTuple):
    """An input without memory: the number of an element, which begins with `origin` and goes on by strides."""

    strides: layout.Strides
    origin: int

    def number(self, further: int = 0) -> Number:
        """What stands for it in the arguments, so many elements further on."""
        return Number((self.origin + further) & 0xFFFFFFFF, "Q")


class Input(NamedTuple):
    """How an input comes: from "memory" where elements lie as they are numbered, as "texels" there, "walked" along strides.

    As "words 0" and so on it is bound, and walked where its elements are neighbours along the axis of the result's.
    Or "held" for all elements of an invocation, as "one" element for all, "immediate" as a number, or as the "index" of the
    element, or as a "walked index".
    """

    kind: str
    dtype: DType


class Strip(NamedTuple):
    """What an invocation that walks handles: so many elements, of which it stores so many at a time of each result."""

    elements: int
    stored: tuple[int, ...] = ()


ALONE = Strip(1)


@device_caches.cache
def access_variant(dtype: DType, vector: int, device: Device) -> Variant:
    """The shader with the functions that read and write elements of a type, and packs of so many."""
    itemsize = storage_itemsize(dtype, device)
    defines = [("VECTOR", str(vector)), *launch.operand_defines("A", dtype)]
    defines += launch.pack_defines("A", dtype, vector, itemsize, device, False)
    defines += launch.feature_defines((dtype,), device)
    if (itemsize, dtype.itemsize, vector) == (4, 4, 4) and launch.has_texels(device):
        defines.append(("A_IN_TEXELS", "1"))
    if dtype.itemsize <= 8:
        bits = "BITS" if dtype.itemsize <= 4 else "WORDS"
        defines.append((f"A_{bits}", f"{bits}_{dtype.name}"))
    return Variant("functions/access", tuple(defines), f"access to {dtype} by {vector}")


def shell_variant(flat: bool) -> Variant:
    """The shader that functions are linked into."""
    return Variant("fused", (("FLAT", "1"),) if flat else (), f"fused ({'flat' if flat else 'strided'})")


def variants(device: Device) -> Iterator[Variant]:
    """All shaders that linking takes besides those of operations, for the archive."""
    yield from map(shell_variant, (False, True))
    yield _TEXELS
    kept = [dtype for dtype in dtypes.DTYPES.values() if is_supported(dtype, device)]
    for dtype, vector in itertools.product(kept, (1, 2, 4, 8, 16)):
        if vector * storage_itemsize(dtype, device) <= 16:
            yield access_variant(dtype, vector, device)


class Linked:
    """A kernel's code in the making."""

    def __init__(
        self, expression: Expression, inputs: Sequence[Input], shell: Variant, vector: int, device: Device
    ) -> None:
        self.expression, self.inputs, self.vector, self.device = expression, inputs, vector, device
        self.linker = link.Linker(spirv(shell), shell.label)
        self.linker.contracts = expression.contracts
        self.used = {operand for step in expression.steps for operand in step.operands}
        # The operands that lie somewhere have numbers of their own.
        self.operands = list(itertools.accumulate((one.kind != "immediate" for one in inputs), initial=0))
        self.input_at, self.place_of = self.linker.own("input_at"), self.linker.own("place_of")
        self.unsigned = self.place_of.type

    def stored(self, flat: bool, strip: Strip, paired: bool = False) -> bytes:
        """The code of a kernel that stores the results."""
        self._element()
        if flat:
            self._pack()
            if paired:
                self._pair()
        elif strip.elements > 1:
            self._strip(strip)
        return self.linker.module()

    def returned(self) -> bytes:
        """The code of a kernel that asks for the elements of the results, a vector of several, which are not stored."""
        wanted = [value for value, _ in self.expression.results]
        self.used.update(wanted)
        body = self.linker.body("element")
        values = self._values_of_element(body)
        self._put_all(body, body.parameters[1], self._type(body, 1), [values[value] for value in wanted])
        body.end()
        if self.linker.has("pack"):  # a kernel that loads elements alone has none
            body = self.linker.body("pack")
            of_one = self.linker.pointer(self.linker.element(self.linker.pointed(self._type(body, 2))))
            number = body.load(self.unsigned, body.parameters[0])
            for k, values in enumerate(self._values_of_pack(body, number, self._packs_of_inputs(body, number))):
                into = body.member(of_one, body.parameters[2], self.linker.unsigned(k))
                self._put_all(body, into, of_one, [values[value] for value in wanted])
            body.end()
        return self.linker.module()

    def _put_all(self, body: link.Body, into: int, pointer: int, values: Sequence[int]) -> None:
        """Give a variable of a type of pointers the value of another variable, or of one for each component."""
        if len(values) == 1:
            body.store(into, body.load(self.linker.pointed(pointer), values[0]))
        else:
            for k, value in enumerate(values):
                self._put(body, into, pointer, k, value)

    def _type(self, body: link.Body, parameter: int) -> int:
        """The type of a parameter: a pointer."""
        return self.linker.own(body.name).parameters[parameter]

    def access(self, dtype: DType, called: str, vector: int = 0) -> link.Called:
        """A function that reads or writes elements of a type."""
        variant = access_variant(dtype, vector or self.vector, self.device)
        return self.linker.function(spirv(variant), variant.label, called)

    def operation(self, operation: Operation) -> link.Called:
        """The function of an operation."""
        variant = operation.function(self.device)
        return self.linker.function(spirv(variant), variant.label, "evaluate")

    def _values(self, body: link.Body, index: int, values: list[int]) -> list[int]:
        """The values of all steps for an element, after those of the inputs: a variable each."""
        for number, step in enumerate(self.expression.steps, len(values)):
            values.append(self._value(body, index, number, step, values))
        return values

    def _value(self, body: link.Body, index: int, number: int, step: Step, values: Any) -> int:
        """A variable with the value of a step that has a number, of values by their numbers."""
        operation, operands, place = step
        if isinstance(operation, As):
            return self._reinterpreted(body, operation, values[operands[0]])
        function = self.operation(operation)
        given = [
            body.load(self.linker.pointed(kind), values[operand])
            for kind, operand in zip(function.parameters[1:-1], operands, strict=True)
        ]
        if self.device.limits.is_cpu and makes_zeros(operation):
            given = [self._hidden(body, self.linker.pointed(function.parameters[1]), operation.inputs[0], given[0])]
        made = body.variable(function.parameters[-1])
        at = index if place is None else body.load(self.unsigned, values[place])
        body.call(function, (at, *given), (made,))
        if operation.result in _NARROW and number in self.used:
            kept = self.access(operation.result, "kept")
            value = body.load(self.linker.pointed(kept.parameters[0]), made)
            made = body.variable(kept.parameters[1])
            body.call(kept, (value,), (made,))
        return made

    def _hidden(self, body: link.Body, kind: int, dtype: DType, value: int) -> int:
        """The same number, of which the compiler does not know that it always is what it may be, such as that of x - x."""
        zero = body.component(self.unsigned, body.call(self.input_at, (self.linker.unsigned(len(self.inputs)),)), 0)
        if dtype is dtypes.bool_:
            return body.either(kind, value, body.differ(kind, zero, self.linker.unsigned(0)))
        return body.add(kind, value, body.widened(kind, zero) if dtype.bits == 64 else zero)

    def _reinterpreted(self, body: link.Body, operation: As, value: int) -> int:
        """A variable with the bits of another one."""
        bits_of, immediate = self.access(operation.source, "bits_of"), self.access(operation.result, "immediate")
        bits, made = body.variable(bits_of.parameters[1]), body.variable(immediate.parameters[1])
        body.call(bits_of, (body.load(self.linker.pointed(bits_of.parameters[0]), value),), (bits,))
        body.call(immediate, (body.load(self.linker.pointed(immediate.parameters[0]), bits),), (made,))
        return made

    def _input(self, body: link.Body, number: int, index: int) -> int:
        """A variable with the value of an input for an element."""
        kind, dtype = self.inputs[number]
        if kind.startswith("words"):
            return self._immediate(
                body, number, body.load(self.input_at.type, self._words(body, number, "word", index))
            )
        place = self.linker.unsigned(number)
        address = body.call(self.input_at, (place,))
        if kind == "immediate":
            return self._immediate(body, number, address)
        if kind.endswith("index"):
            first = body.component(self.linker.element(self.input_at.type), address, 0)
            at = self._place(body, number, index) if kind.startswith("walked") else index
            made = body.variable(self.linker.pointer(self.unsigned))
            body.store(made, body.add(self.unsigned, at, first))
            return made
        function = self.access(dtype, "load")
        made = body.variable(function.parameters[-1])
        at = index
        if kind == "one":
            at = self.linker.unsigned(0)
        elif kind in ("walked", "held"):
            at = self._place(body, number, index)
        body.call(function, (address, at), (made,))
        return made

    def _words(self, body: link.Body, number: int, called: str, index: int) -> int:
        """A variable with words of an input that is bound, each with a zero: "word" for that of an element, or "words"."""
        begin = body.call(self.input_at, (self.linker.unsigned(number),))
        at = self._place(body, number, index)
        place = body.add(self.unsigned, at, body.component(self.unsigned, begin, 0))
        function = self.of_texels(called, int(self.inputs[number].kind.split()[1]))
        made = body.variable(function.parameters[-1])
        body.call(function, (place,), (made,))
        return made

    def _immediate(self, body: link.Body, number: int, bits: int) -> int:
        """A variable with the value of an input, of which the bits are given."""
        function = self.access(self.inputs[number].dtype, "immediate")
        made = body.variable(function.parameters[-1])
        body.call(function, (bits,), (made,))
        return made

    def _place(self, body: link.Body, number: int, index: int) -> int:
        """Where an input has its value for an element."""
        return body.call(self.place_of, (self.linker.unsigned(self.operands[number]), index))

    def _values_of_element(self, body: link.Body) -> list[int]:
        """The values for the element whose number is the first parameter."""
        index = body.load(self.unsigned, body.parameters[0])
        return self._values(body, index, [self._input(body, number, index) for number in range(len(self.inputs))])

    def _element(self) -> None:
        body = self.linker.body("element")
        index, values = body.load(self.unsigned, body.parameters[0]), self._values_of_element(body)
        for number in range(len(self.expression.results)):
            self._store(body, number, index, values)
        body.end()

    def _store(self, body: link.Body, number: int, index: int, values: Sequence[int]) -> None:
        """Store a result for an element."""
        value, dtype = self.expression.results[number]
        function = self.access(dtype, "store")
        stored = body.load(self.linker.pointed(function.parameters[-1]), values[value])
        body.call(function, (*self._result(body, number, index), stored))

    def _store_several(self, body: link.Body, number: int, index: int, values: Sequence[list[int]]) -> None:
        """Store a result for an element and those that follow it, 2, 4 and so on, which begin at a multiple of their number."""
        value, dtype = self.expression.results[number]
        function = self.access(dtype, "store_pack", len(values))
        made = body.variable(function.parameters[-1])
        for k, one in enumerate(values):
            self._put(body, made, function.parameters[-1], k, one[value])
        address, place = self._result(body, number, index)
        pack = body.shifted(self.unsigned, place, self.linker.unsigned(len(values).bit_length() - 1))
        body.call(function, (address, pack, body.load(self.linker.pointed(function.parameters[-1]), made)))

    def _result(self, body: link.Body, number: int, index: int) -> tuple[int, int]:
        """The address of a result, and where an element lies there."""
        address = body.call(self.linker.own("result_at"), (self.linker.unsigned(number),))
        return address, body.call(self.place_of, (self.linker.unsigned(self.operands[-1] + number), index))

    def _strip(self, strip: Strip) -> None:
        """The values of all elements of an invocation; all are loaded before the first one is stored."""
        body, unsigned = self.linker.body("strip"), self.linker.unsigned
        same = {
            number: self._input(body, number, unsigned(0))
            for number, one in enumerate(self.inputs)
            if one.kind in ("one", "immediate", "held")
        }
        words = {
            number: self._words(body, number, "words", unsigned(0))
            for number, one in enumerate(self.inputs)
            if one.kind.startswith("words")
        }

        def value(number: int, k: int) -> int:
            if number in words:
                word = body.member(self.linker.pointer(self.input_at.type), words[number], unsigned(k))
                return self._immediate(body, number, body.load(self.input_at.type, word))
            return same.get(number) or self._input(body, number, unsigned(k))

        loaded = [[value(number, k) for number in range(len(self.inputs))] for k in range(strip.elements)]
        made = list(self._values_of_several(body, [(unsigned(k), values) for k, values in enumerate(loaded)]))
        for number, several in enumerate(strip.stored):
            for k in range(0, strip.elements, several):
                if several > 1:
                    self._store_several(body, number, unsigned(k), made[k : k + several])
                else:
                    self._store(body, number, unsigned(k), made[k])
        body.end()

    def of_texels(self, called: str, bound: int) -> link.Called:
        """The function that loads a "texel", a "word" or "words" of the input with a number among those that are bound."""
        return self.linker.function(spirv(_TEXELS), _TEXELS.label, f"{called}_{bound}")

    def _pack_of_input(self, body: link.Body, place: int, number: int) -> tuple[int, int]:
        """A variable with the values of an input for a pack, and the type of one; or with that of all elements, and 0."""
        kind, dtype = self.inputs[place]
        if kind in ("one", "immediate"):
            return self._input(body, place, number), 0
        if kind == "texels":
            function = self.access(dtype, "unpack")
            made = body.variable(function.parameters[-1])
            bound = sum(one.kind == "texels" for one in self.inputs[:place])
            body.call(function, (body.call(self.of_texels("texel", bound), (number,)),), (made,))
        else:
            function = self.access(dtype, "load_pack")
            address = body.call(self.input_at, (self.linker.unsigned(place),))
            made = body.variable(function.parameters[-1])
            body.call(function, (address, number), (made,))
        return made, self.linker.element(self.linker.pointed(function.parameters[-1]))

    def _packs_of_inputs(self, body: link.Body, number: int) -> dict[int, tuple[int, int]]:
        """What the inputs have for the pack of a number, by their places."""
        return {
            place: self._pack_of_input(body, place, number)
            for place, one in enumerate(self.inputs)
            if one.kind in ("memory", "texels", "one", "immediate")
        }

    def _values_of_pack(self, body: link.Body, number: int, packs: dict[int, tuple[int, int]]) -> Iterator[list[int]]:
        """The values for each element of the pack of a number."""
        linker, unsigned = self.linker, self.unsigned

        def inputs(k: int) -> tuple[int, list[int]]:
            index = body.add(unsigned, body.times(unsigned, number, linker.unsigned(self.vector)), linker.unsigned(k))
            values = []
            for place in range(len(self.inputs)):
                if place not in packs:
                    values.append(self._input(body, place, index))
                    continue
                variable, of_one = packs[place]
                values.append(body.member(linker.pointer(of_one), variable, linker.unsigned(k)) if of_one else variable)
            return index, values

        return self._values_of_several(body, map(inputs, range(self.vector)))

    def _values_of_several(self, body: link.Body, several: Iterable[tuple[int, list[int]]]) -> Iterator[list[int]]:
        """The values of all steps after those of the inputs, for elements by their numbers: on GPUs a step for four at once."""
        steps = [step.operation for step in self.expression.steps]
        parts = any(isinstance(one, Operation) and one.has_parts for one in steps)
        if self.device.limits.kind == "cpu" or not parts or self._held() > HELD:
            yield from (self._values(body, index, values) for index, values in several)
            return
        elements = list(several)
        for number, step in enumerate(self.expression.steps, len(self.inputs)):
            for first in range(0, len(elements), PACK):
                few = elements[first : first + PACK]
                if isinstance(step.operation, Operation) and step.operation.has_parts and len(few) == PACK:
                    made = self._value_of_pack(body, step, [values for _, values in few])
                else:
                    made = [self._value(body, index, number, step, values) for index, values in few]
                for (_, values), value in zip(few, made, strict=True):
                    values.append(value)
        yield from (values for _, values in elements)

    def _held(self) -> int:
        """How many values of an element take registers at once, at most."""
        first, most = len(self.inputs), 0
        held = {value for value, _ in self.expression.results}
        for number, step in reversed([*enumerate(self.expression.steps, first)]):
            held.discard(number)
            held.update(
                one for one in step.operands if one >= first or self.inputs[one].kind not in ("immediate", "one")
            )
            most = max(most, len(held))
        return most

    def _value_of_pack(self, body: link.Body, step: Step, several: Sequence[list[int]]) -> list[int]:
        """Variables with the values of a step for four elements."""
        assert isinstance(step.operation, Operation)
        variant = step.operation.function(self.device)
        function = self.linker.function(spirv(variant), variant.label, "evaluate_pack")
        given, made = (body.variable(pointer) for pointer in function.parameters)
        for k, values in enumerate(several):
            self._put(body, given, function.parameters[0], k, values[step.operands[0]])
        body.call(function, (), (given, made))
        of_one = self.linker.pointer(self.linker.element(self.linker.pointed(function.parameters[1])))
        return [body.member(of_one, made, self.linker.unsigned(k)) for k in range(len(several))]

    def _put(self, body: link.Body, array: int, pointer: int, k: int, value: int) -> None:
        """Give element k of an array, a variable of a type of pointers, the value of another variable."""
        of_one = self.linker.element(self.linker.pointed(pointer))
        into = body.member(self.linker.pointer(of_one), array, self.linker.unsigned(k))
        body.store(into, body.load(of_one, value))

    def _pack(self) -> None:
        body = self.linker.body("pack")
        number = body.load(self.unsigned, body.parameters[0])
        self._store_pack(body, number, self._packs_of_inputs(body, number))
        body.end()

    def _pair(self) -> None:
        """Two packs, both of which are loaded before one is stored: memory answers while the first is computed."""
        body = self.linker.body("pair")
        first, step = (body.load(self.unsigned, one) for one in body.parameters)
        numbers = (first, body.add(self.unsigned, first, step))
        loaded = [self._packs_of_inputs(body, number) for number in numbers]
        for number, packs in zip(numbers, loaded, strict=True):
            self._store_pack(body, number, packs)
        body.end()

    def _store_pack(self, body: link.Body, number: int, packs: dict[int, tuple[int, int]]) -> None:
        """Compute and store the results for the pack of a number."""
        linker, result_at = self.linker, self.linker.own("result_at")
        stores = [self.access(dtype, "store_pack") for _, dtype in self.expression.results]
        results = [body.variable(function.parameters[-1]) for function in stores]
        for k, values in enumerate(self._values_of_pack(body, number, packs)):
            for function, made, (value, _) in zip(stores, results, self.expression.results, strict=True):
                self._put(body, made, function.parameters[-1], k, values[value])
        for place, (function, made) in enumerate(zip(stores, results, strict=True)):
            address = body.call(result_at, (linker.unsigned(place),))
            body.call(function, (address, number, body.load(linker.pointed(function.parameters[-1]), made)))


@device_caches.lru_cache(4096)
def code(
    expression: Expression, inputs: tuple[Input, ...], flat: bool, vector: int, device: Device, strip: Strip = ALONE,
    paired: bool = False,
) -> bytes:  # fmt: skip
    """The SPIR-V of a kernel."""
    return Linked(expression, inputs, shell_variant(flat), vector, device).stored(flat, strip, paired)


@device_caches.lru_cache(1024)
def code_around(
    expression: Expression, inputs: tuple[Input, ...], shell: Variant, vector: int, device: Device
) -> bytes:
    """The SPIR-V of another kernel, whose input the only result of the expression is: it asks for its elements and packs."""
    return Linked(expression, inputs, shell, vector, device).returned()


def strides_over(operands: Sequence[VkArray | Scalar | Index], shape: layout.Shape) -> list[layout.Strides]:
    """The steps along the axes of a shape of the operands that lie somewhere."""
    return [
        one.strides if isinstance(one, Index) else layout.broadcast_strides(one._shape, one._strides, shape)
        for one in operands
        if type(one) is not Scalar
    ]


def has_places(inputs: Sequence[VkArray | Scalar | Index]) -> bool:
    """Whether a kernel has places for so many inputs."""
    numbers = sum(type(one) is Scalar for one in inputs)
    return numbers <= NUMBERS and len(inputs) - numbers <= INPUTS


def padded_inputs(places: Sequence[Any]) -> tuple[Any, ...]:
    """What stands for inputs in the arguments of a kernel, which has places for more."""
    return (*places, *[UNUSED] * (PLACES - len(places)))
