"""The code of row programs: the functions of an expression, linked into the shell `row_program.comp`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .. import device_caches
from ..core.array import storage_itemsize
from ..core.dtypes import DType
from ..shaders import link
from ..shaders.source import Variant, spirv
from . import fused
from .expressions import Expression
from .row_reductions import Reduce

if TYPE_CHECKING:
    from .launch import Device

_SHELL = Variant("row_program", (), "row program")
_OF_SUBGROUPS = Variant("row_program", (("SUBGROUPS", "1"),), "row program of subgroups")
BATCH = 4  # packs that are loaded before one is stored
_LANES = 8  # packs that lie between those of an invocation which reduces: those of glsl/reduce.comp
_MOST_KEPT = 64  # numbers that an invocation keeps of its elements from one reduction to what comes later
OF_ELEMENTS = ("memory", "texels", "words", "walked", "ahead")  # kinds of inputs that each element of a row has one of


# For each element of a pack, a variable with several and the place there.
Loaded = list[tuple[int, int]]


class Kept(NamedTuple):
    """Where a value of all elements of an invocation is: in an array that functions share, of elements of a type."""

    array: int
    kind: int


class Input(NamedTuple):
    """How an input comes: in "memory" where the elements of a row lie one after the other, of which so many may be loaded at once,
    or bound with a number as "texels" there; "walked" along strides, "ahead" where these never lead back, or bound as "words"; as
    one element of a "row", as "one" for all, "immediate", or as the "index" of an element or a row."""

    kind: str
    dtype: DType
    pack: int = 1
    bound: int = 0


class Form(NamedTuple):
    """What of a program's arguments its code depends on."""

    inputs: tuple[Input, ...]
    whole: tuple[bool, ...]  # results that have all elements of a row
    length: int  # of a row; 0 where it is an argument
    reductions: tuple[tuple[tuple[int, int], ...], ...]  # the constants of each
    members: int  # invocations of a row
    columns: bool  # neighbouring rows have neighbouring elements
    vector: int  # elements that are stored at once: a pack
    batch: int  # packs that are loaded before one is stored
    packs: int  # of an invocation, of which values are kept from one reduction to what comes later, or 0
    workgroup: int
    shared: bool
    subgroup: int  # invocations of a subgroup whose members exchange states, or 0


@device_caches.lru_cache(1024)
def code(expression: Expression, form: Form, device: Device) -> bytes:
    """The SPIR-V of a kernel."""
    return _Linked(expression, form, device).code()


def variants(device: Device) -> Iterator[Variant]:
    """The shaders that functions are linked into, for the archive."""
    yield _SHELL
    yield _OF_SUBGROUPS


class _Linked(fused.Linked):
    """A kernel's code in the making."""

    def __init__(self, expression: Expression, form: Form, device: Device) -> None:
        shell = _OF_SUBGROUPS if form.subgroup else _SHELL
        super().__init__(expression, [fused.Input(one.kind, one.dtype) for one in form.inputs], shell, 1, device)
        self.form = form
        count = len(form.inputs)
        self.of_row = [one.kind not in (*OF_ELEMENTS, "index") for one in form.inputs]  # values
        for step in expression.steps:
            needed = step.operands if step.place is None else (*step.operands, step.place)
            self.of_row.append(isinstance(step.operation, Reduce) or all(self.of_row[one] for one in needed))
        self.known: dict[int, int] = {}  # variables with values of a row
        self.addresses: dict[int, int] = {}  # and with the addresses of operands for it, or where their places begin
        self.begins: dict[int, int] = {}  # and where the texels or words of inputs begin
        self.kept: dict[int, Kept] = {}  # values of the elements of an invocation
        self.later = [[step.operands[0]] for step in expression.steps if isinstance(step.operation, Reduce)]
        self.later.append([value for (value, _), every in zip(expression.results, form.whole, strict=True) if every])
        self.count = count
        self.pair = self.input_at.type
        self.zero = self.linker.unsigned(0)

    def code(self) -> bytes:
        """The whole kernel."""
        self._row_values()
        self._row_results()
        results = [
            (number, value, dtype)
            for number, (value, dtype) in enumerate(self.expression.results)
            if self.form.whole[number]
        ]
        elements, ways = self._ways()
        body = self.linker.body("element")
        if elements:
            self._elements_of_results(body, results, 1, 0)
        body.end()
        for name, (count, apart) in ways.items():
            body = self.linker.body(name)
            if results and count and self.form.vector == 1 and not self.form.packs:
                self._elements_of_results(body, results, count, apart)
            elif results and count:
                self._packs_of_results(body, results, count, apart, self.kept if name == "kept_packs" else {})
            body.end()
        return self.linker.module()

    def _ways(self) -> tuple[bool, dict[str, tuple[int, int]]]:
        """Whether the shell computes results of single elements; by its function, of how many packs at once, and how far apart."""
        form = self.form
        packs, varies = form.length // form.vector, not form.length
        if form.packs:
            return False, {"pack": (0, 0), "batch": (0, 0), "kept_packs": (form.packs, _LANES)}
        single = int(form.batch > 1 and (varies or packs % (form.batch * form.members) > 0))
        batch = form.batch * (varies or packs > (form.batch - 1) * form.members)
        elements = form.vector > 1 and (varies or form.length % form.vector > 0)
        return elements, {"pack": (single, 0), "batch": (batch, form.members), "kept_packs": (0, 0)}

    # -- what is of a row

    def _row_values(self) -> None:
        """Find the operands of a row, its inputs, and one after the other the values of it."""
        body = self.linker.body("values")
        for number, one in enumerate(self.form.inputs):
            self._row_input(body, number, one)
        for number, (_, dtype) in enumerate(self.expression.results):
            first = body.call(self.linker.own("result_at"), (self.linker.unsigned(number),))
            self._keep_address(body, self.operands[-1] + number, first, dtype)
        reduced = 0
        for number, step in enumerate(self.expression.steps, self.count):
            if not self.of_row[number]:
                continue
            if isinstance(step.operation, Reduce):
                made = self._reduced(body, step.operation, step.operands[0], reduced)
                reduced += 1
            else:
                made = self._value(body, self.zero, number, step, self.known)
            self._keep(body, number, made)
        body.end()

    def _row_input(self, body: link.Body, number: int, one: Input) -> None:
        operand = self.linker.unsigned(self.operands[number])
        at = body.call(self.input_at, (self.linker.unsigned(number),))
        if one.kind in ("index", "row index"):
            first = body.component(self.unsigned, at, 0)
            first = body.add(self.unsigned, first, body.call(self.linker.own("row_place"), (operand,)))
            made = body.variable(self.linker.pointer(self.unsigned))
            body.store(made, first)
            self._keep(body, number, made)
        elif one.kind in ("immediate", "one"):
            function = self.access(one.dtype, "immediate" if one.kind == "immediate" else "load")
            made = body.variable(function.parameters[-1])
            body.call(function, (at,) if one.kind == "immediate" else (at, self.zero), (made,))
            self._keep(body, number, made)
        else:
            if one.kind in ("texels", "words"):
                self.begins[number] = self.linker.variable(self.unsigned)
                place = body.call(self.linker.own("row_place"), (operand,))
                if one.kind == "texels":
                    place = body.shifted(self.unsigned, place, self.linker.unsigned(2))
                else:
                    place = body.add(self.unsigned, place, body.component(self.unsigned, at, 0))
                body.store(self.begins[number], place)
            if one.kind != "words":
                self._keep_address(body, self.operands[number], at, one.dtype)
            if one.kind == "row":
                function = self.access(one.dtype, "load")
                made = body.variable(function.parameters[-1])
                body.call(function, (body.load(self.pair, self.addresses[self.operands[number]]), self.zero), (made,))
                self._keep(body, number, made)

    def _keep(self, body: link.Body, number: int, made: int) -> None:
        """Let all functions know a value of the row, which is in a variable."""
        kind = self.linker.pointed(body.types[made])
        self.known[number] = self.linker.variable(kind)
        body.store(self.known[number], body.load(kind, made))

    def _keep_address(self, body: link.Body, operand: int, first: int, dtype: DType) -> None:
        nbytes = self.linker.unsigned(storage_itemsize(dtype, self.device))
        self.addresses[operand] = self.linker.variable(self.pair)
        found = body.call(self.linker.own("address_of"), (first, self.linker.unsigned(operand), nbytes))
        body.store(self.addresses[operand], found)

    def _row_results(self) -> None:
        body = self.linker.body("row_results")
        for number, (value, dtype) in enumerate(self.expression.results):
            if not self.form.whole[number]:
                function = self.access(dtype, "store")
                address = body.load(self.pair, self.addresses[self.operands[-1] + number])
                stored = body.load(self.linker.pointed(function.parameters[-1]), self.known[value])
                body.call(function, (address, self.zero, stored))
        body.end()

    def _reduced(self, body: link.Body, operation: Reduce, value: int, number: int) -> int:
        """A variable with what a reduction makes of a value of the elements."""
        form = self.form
        variant = operation.variant(self.device, form.shared, form.subgroup > 0)
        part = self.linker.part(spirv(variant), variant.label, dict(form.reductions[number]))
        element = part.body("element")
        index = element.load(self.unsigned, element.parameters[0])
        found = self._of_element(element, index, [value], {})[value]
        element.store(element.parameters[1], element.load(self.linker.pointed(element.kinds[1]), found))
        element.end()
        self._reduced_pack(part.body("pack"), operation, value)
        function = part.function("row_value")
        made = body.variable(function.parameters[-1])
        given = [body.call(self.linker.own(name)) for name in ("count_here", "own_here", "member_here")]
        parameter = self.linker.own("parameter_at")
        given += [body.call(parameter, (self.linker.unsigned(2 * number + k),)) for k in range(2)]
        body.call(function, given, (made,))
        return made

    def _reduced_pack(self, body: link.Body, operation: Reduce, value: int) -> None:
        """Compute a pack of what is reduced, and keep what is needed again."""
        number, step = (body.load(self.unsigned, one) for one in body.parameters[:2])
        kept, vector = self.kept, operation.vector
        self.later.pop(0)
        wanted = self._to_keep([value])
        self.kept = {one: kept[one] for one in wanted if one in kept}
        for k, values in enumerate(self._of_pack(body, number, [value], vector, None, kept, step)):
            self._put(body, body.parameters[2], body.kinds[2], k, values[value])
            for one in wanted:
                if one not in kept:
                    kind = self.linker.pointed(body.types[values[one]])
                    if one not in self.kept:
                        array = self.linker.array(kind, vector * self.form.packs)
                        self.kept[one] = Kept(self.linker.variable(array), kind)
                    body.store(self._place_kept(body, self.kept[one], step, vector, k), body.load(kind, values[one]))
        body.end()

    def _to_keep(self, values: Sequence[int]) -> list[int]:
        """Of what is computed of an element for some values, and kept already, what is read later; none where that is too much."""
        if not self.form.packs:
            return []
        computed, _ = self._needed(values, self.kept)
        there = {one for one in (*computed, *self.kept) if one >= self.count or self.form.inputs[one].kind != "index"}
        _, wanted = self._needed([one for later in self.later for one in later], there)
        room = _MOST_KEPT // (self.form.packs * self.form.vector)
        return wanted if len(wanted) <= room else [one for one in wanted if one in self.kept]

    def _place_kept(self, body: link.Body, kept: Kept, step: int, vector: int, k: int) -> int:
        """Where a value of an element of a pack is kept."""
        first = body.times(self.unsigned, step, self.linker.unsigned(vector))
        return body.kept(kept.kind, kept.array, body.add(self.unsigned, first, self.linker.unsigned(k)))

    # -- what is of an element

    def _needed(self, values: Sequence[int], there: Collection[int] = ()) -> tuple[list[int], list[int]]:
        """What some values of elements are made of, in order: what has to be computed, and what is there."""
        found: set[int] = set()
        left = [value for value in values if not self.of_row[value]]
        while left:
            number = left.pop()
            if number not in found:
                found.add(number)
                if number >= self.count and number not in there:
                    step = self.expression.steps[number - self.count]
                    needed = step.operands if step.place is None else (*step.operands, step.place)
                    left += [one for one in needed if not self.of_row[one]]
        return sorted(found.difference(there)), sorted(found.intersection(there))

    def _of_element(
        self, body: link.Body, index: int, wanted: Sequence[int], loaded: Mapping[int, int]
    ) -> dict[int, int]:
        """Variables with values for an element, of inputs of which some are loaded."""
        values = {**self.known, **loaded}
        for number in self._needed(wanted, loaded)[0]:
            if number < self.count:
                values[number] = self._input(body, number, index)
            else:
                step = self.expression.steps[number - self.count]
                values[number] = self._value(body, index, number, step, values)
        return values

    def _input(self, body: link.Body, number: int, index: int) -> int:
        """A variable with the value of an input for an element of the row."""
        kind, dtype, _, bound = self.form.inputs[number]
        operand = self.linker.unsigned(self.operands[number])
        if kind == "index":
            made = body.variable(self.linker.pointer(self.unsigned))
            place = body.call(self.place_of, (operand, index))
            body.store(made, body.add(self.unsigned, place, body.load(self.unsigned, self.known[number])))
            return made
        if kind == "words":
            place = body.add(
                self.unsigned, body.call(self.place_of, (operand, index)), body.load(self.unsigned, self.begins[number])
            )
            function = self.of_texels("word", bound)
            word = body.variable(function.parameters[-1])
            body.call(function, (place,), (word,))
            return self._immediate(body, number, body.load(self.pair, word))
        address, at = body.load(self.pair, self.addresses[self.operands[number]]), index
        if kind == "walked":
            nbytes = self.linker.unsigned(storage_itemsize(dtype, self.device))
            address, at = body.call(self.linker.own("address_at"), (address, operand, index, nbytes)), self.zero
        elif kind == "ahead":
            at = body.call(self.place_of, (operand, index))
        function = self.access(dtype, "load")
        made = body.variable(function.parameters[-1])
        body.call(function, (address, at), (made,))
        return made

    def _of_pack(
        self,
        body: link.Body,
        number: int,
        wanted: Sequence[int],
        vector: int,
        packs: Mapping[int, Loaded] | None = None,
        kept: Mapping[int, Kept] | None = None,
        step: int = 0,
    ) -> Iterator[dict[int, int]]:
        """Variables with values for each element of a pack of a row, which has a number and may be loaded, or of which values
        are kept: then it is the one of so many steps of its invocation."""
        linker, unsigned, kept = self.linker, self.unsigned, kept or {}
        packs = self._packs(body, number, wanted, vector, kept) if packs is None else packs
        for k in range(vector):
            index = body.add(unsigned, body.times(unsigned, number, linker.unsigned(vector)), linker.unsigned(k))
            loaded = {}
            for place, found in packs.items():
                array, at = found[k]
                of_one = linker.element(linker.pointed(body.types[array]))
                loaded[place] = body.member(linker.pointer(of_one), array, linker.unsigned(at))
            for one in self._needed(wanted, kept)[1]:
                loaded[one] = body.variable(linker.pointer(kept[one].kind))
                place = self._place_kept(body, kept[one], step, vector, k)
                body.store(loaded[one], body.load(kept[one].kind, place))
            yield self._of_element(body, index, wanted, loaded)

    def _packs(
        self, body: link.Body, number: int, wanted: Sequence[int], vector: int, kept: Collection[int]
    ) -> dict[int, Loaded]:
        """The packs of inputs that can be loaded at once."""
        found = {}
        for place in self._needed(wanted, kept)[0]:
            if place < self.count and self.form.inputs[place].kind in ("memory", "texels"):
                width = min(vector, self.form.inputs[place].pack)
                if width > 1:
                    found[place] = self._loaded(body, place, number, vector, width)
        return found

    def _loaded(self, body: link.Body, place: int, number: int, vector: int, width: int) -> Loaded:
        """Load a pack of an input in parts of some width."""
        linker, unsigned, one = self.linker, self.unsigned, self.form.inputs[place]
        as_texels = one.kind == "texels" and width == 4
        function = self.access(one.dtype, "unpack" if as_texels else "load_pack", width)
        address = body.load(self.pair, self.addresses[self.operands[place]])
        found = []
        for part in range(vector // width):
            at = number
            if vector != width:
                at = body.times(unsigned, number, linker.unsigned(vector // width))
                at = body.add(unsigned, at, linker.unsigned(part))
            made = body.variable(function.parameters[-1])
            if as_texels:
                at = body.add(unsigned, at, body.load(unsigned, self.begins[place]))
                body.call(function, (body.call(self.of_texels("texel", one.bound), (at,)),), (made,))
            else:
                body.call(function, (address, at), (made,))
            found += [(made, k) for k in range(width)]
        return found

    def _store_at(self, body: link.Body, number: int, index: int, value: int, dtype: DType) -> None:
        """Store an element of a result."""
        function, operand = self.access(dtype, "store"), self.operands[-1] + number
        address = body.load(self.pair, self.addresses[operand])
        nbytes = self.linker.unsigned(storage_itemsize(dtype, self.device))
        address = body.call(self.linker.own("address_at"), (address, self.linker.unsigned(operand), index, nbytes))
        stored = body.load(self.linker.pointed(function.parameters[-1]), value)
        body.call(function, (address, self.zero, stored))

    def _numbers(self, body: link.Body, count: int, apart: int) -> list[int]:
        """So many numbers that lie apart, of which the first is the parameter."""
        numbers = [body.load(self.unsigned, body.parameters[0])]
        for _ in range(1, count):
            numbers.append(body.add(self.unsigned, numbers[-1], self.linker.unsigned(apart)))
        return numbers

    def _elements_of_results(
        self, body: link.Body, results: Sequence[tuple[int, int, DType]], count: int, apart: int
    ) -> None:  # fmt: skip
        """Load what so many elements are made of, and store what is made of it."""
        numbers, wanted = self._numbers(body, count, apart), [value for _, value, _ in results]
        inputs = [place for place in self._needed(wanted)[0] if place < self.count]
        loaded = [{place: self._input(body, place, index) for place in inputs} for index in numbers]
        for index, found in zip(numbers, loaded, strict=True):
            values = self._of_element(body, index, wanted, found)
            for number, value, dtype in results:
                self._store_at(body, number, index, values[value], dtype)

    def _packs_of_results(
        self, body: link.Body, results: Sequence[tuple[int, int, DType]], count: int, apart: int, kept: Mapping[int, Kept]
    ) -> None:  # fmt: skip
        """Load so many packs, and store what is made of them."""
        linker, wanted = self.linker, [value for _, value, _ in results]
        stores = [self.access(dtype, "store_pack", self.form.vector) for _, _, dtype in results]
        numbers = self._numbers(body, count, apart)
        loaded = [self._packs(body, number, wanted, self.form.vector, kept) for number in numbers]
        for step, (number, packs) in enumerate(zip(numbers, loaded, strict=True)):
            made = [body.variable(function.parameters[-1]) for function in stores]
            at = linker.unsigned(step)
            for k, values in enumerate(self._of_pack(body, number, wanted, self.form.vector, packs, kept, at)):
                for function, array, value in zip(stores, made, wanted, strict=True):
                    self._put(body, array, function.parameters[-1], k, values[value])
            for function, array, (place, _, _) in zip(stores, made, results, strict=True):
                address = body.load(self.pair, self.addresses[self.operands[-1] + place])
                body.call(function, (address, number, body.load(linker.pointed(function.parameters[-1]), array)))
