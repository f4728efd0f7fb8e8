"""`vkarray.ElementwiseKernel`: a line of GLSL as a function of arrays."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from .. import _vk
from ..core import dtypes, layout
from ..core.array import VkArray, empty
from ..shaders.compiler import Text
from ..shaders.source import Variant
from . import conversion, launch, one_line
from .launch import Operation
from .parameters import Bound, Parameter, bind, check_names, declared
from .planned import planned, recordable
from .signature import VALUES

_MOST_PLACES = 2**31 - 1  # elements that `i` and `n` count
# What arrays that the code indexes itself are for the time of a call, where a buffer cannot hold what GLSL computes with.
_INDEXED_AS = {
    dtypes.bool_: dtypes.uint32, dtypes.int8: dtypes.int32, dtypes.int16: dtypes.int32, dtypes.uint8: dtypes.uint32,
    dtypes.uint16: dtypes.uint32, dtypes.float16: dtypes.float32, dtypes.bfloat16: dtypes.float32,
}  # fmt: skip


class _Body(Operation):
    """An operation that comes as statements."""

    __slots__ = ("fields", "text")

    def __init__(self, kernel: ElementwiseKernel, bound: Bound, given: bool) -> None:
        inputs = [dtype for one, dtype in zip(kernel.in_params, bound.input_types, strict=True) if not one.raw]
        results = [dtype for one, dtype in zip(kernel.out_params, bound.result_types, strict=True) if not one.raw]
        compute = bound.result_types[0]
        super().__init__(kernel.name, "", (*inputs, *(results if given else ())), compute, compute)
        self.results = tuple(results)
        self.indexed = kernel.uses_place or not results
        self.text, self.fields = kernel.text(bound, given)
        self.written = (*launch.fields_of_results(len(results)), *kernel.written)

    def meaning(self) -> launch.Defines:
        """The defines that say where what is computed comes from."""
        return (("FIELDS", self.fields),) if self.fields else ()

    def variant(self, device: _vk.Device, flat: bool, as_texels: Sequence[int] = ()) -> Variant:
        """The shader of this operation for a device and access pattern, compiled as a whole: the code knows its fields."""
        shell = self.shell((*self.inputs, *self.results), device, flat, as_texels)
        return shell._replace(text=self.text, label=self.label)

    def function(self, device: _vk.Device) -> Variant:
        """The shader with the function `evaluate`."""
        return self.variant(device, False)


class ElementwiseKernel:
    """A function of arrays whose code for one element is yours, in GLSL.

    Parameters: in_params and out_params, such as "float32 x, T y": types and names, separated by commas. A letter stands for the
    type of the arrays given for it. With `raw` before it, the code indexes an array itself: `x[j]` is its element number j in C
    order, `x.size()` how many it has. operation: statements of GLSL that set the results; `i` is the place of the element in C
    order, `n` how many there are. name: for messages. preamble: functions that the code calls. return_tuple: return a tuple also of
    a single result.
    Returns a callable: see `__call__`. Raises TypeError and ValueError for parameters that cannot be.
    """

    def __init__(
        self, in_params: str, out_params: str, operation: str, name: str = "kernel", *, preamble: str = "",
        return_tuple: bool = False,
    ) -> None:  # fmt: skip
        self.name = one_line.check_text("ElementwiseKernel", "name", name)
        self.in_params = declared(in_params, name, "in_params")
        self.out_params = declared(out_params, name, "out_params")
        self.operation = one_line.check_text(name, "operation", operation)
        self.preamble = one_line.check_text(name, "preamble", preamble)
        self.return_tuple = bool(return_tuple)
        if not self.out_params:
            raise ValueError(f"{name}: expected out_params to declare a result at least, such as 'float32 z'.")
        self.params = (*self.in_params, *self.out_params)
        check_names(name, self.params)
        code = one_line.plain(operation)
        self.uses_place, self.uses_count = one_line.uses(code, "i"), one_line.uses(code, "n")
        self.raw = [(f"raw{k}", parameter) for k, parameter in enumerate(self.params) if parameter.raw]
        self.written = tuple(field for field, parameter in self.raw if parameter in self.out_params)
        self.beginning = ""  # of the code, where the user wrote an expression
        self._operations: dict[Any, _Body] = {}

    @recordable
    def __call__(self, *arguments: Any, size: int | None = None) -> Any:
        """Run the kernel.

        Parameters: an argument for each of in_params, arrays or Python scalars, which broadcast against each other; then, if you
        like, an array for each of out_params, which has the shape of the result and may be read too. `raw` ones are arrays, those
        of out_params always given. size: how many elements, where only `raw` arrays and scalars are given.
        Returns the array of the result, a tuple of several; those given, if any are. Python scalars take the type of the arrays
        beside them.
        Raises TypeError for arguments of another number or type, ValueError for shapes that do not fit, OverflowError for an
        integer beyond its type, ShaderError, with the line, for code that does not compile, and when there is no compiler.
        """
        return _call(self, *arguments) if size is None else _call(self, *arguments, size=size)

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(map(str, one)) for one in (self.in_params, self.out_params))
        return f"<vkarray.ElementwiseKernel {self.name}({inputs}) -> {outputs}>"

    def shape(self, bound: Bound, size: Any) -> layout.Shape:
        """The shape of the call. Raises ValueError where nothing says it, or two arguments say different ones."""
        arrays = [
            value for parameter, value in zip(self.params, (*bound.inputs, *bound.results), strict=True)
            if type(value) is VkArray and not parameter.raw
        ]  # fmt: skip
        if size is not None:
            length = layout.as_integer(size, self.name, "size")
            if arrays or length < 0:
                why = "is for calls whose arrays are all raw" if arrays else "cannot be negative"
                raise ValueError(f"{self.name}: size={length} {why}.")
            return (length,)
        if not arrays:
            raise ValueError(
                f"{self.name}: no array says how many elements there are. Say size=n, or give the results: raw ones do not."
            )
        shape = layout.broadcast_shapes([array._shape for array in arrays], self.name)
        for parameter, result in zip(self.out_params, bound.results, strict=True):
            if result is not None and not parameter.raw:
                if result._shape != shape:
                    raise ValueError(
                        f"{self.name}: the result {parameter.name} has shape {result._shape}, but the arguments broadcast to "
                        f"{shape}."
                    )
                if layout.has_internal_overlap(result._shape, result._strides):
                    raise ValueError(
                        f"{self.name}: elements of the result {parameter.name} share memory (a broadcast view). Copy it first."
                    )
        return shape

    def text(self, bound: Bound, given: bool) -> tuple[Text, str]:
        """The function of the template, and the fields that it asks for."""
        types = dict(zip(self.params, (*bound.input_types, *bound.result_types), strict=True))
        parameters, begin, buffers, fields, body = ["uint _place"], [], [], [], self.operation
        parameters += [f"COMPUTE_{types[one]} {one.name}" for one in self.in_params if not one.raw]
        results = [one for one in self.out_params if not one.raw]
        if given:
            parameters += [f"COMPUTE_{types[one]} _{one.name}" for one in results]
        parameters += [f"precise out COMPUTE_{types[one]} {one.name}" for one in results]
        begin += [f"{one.name} = {f'_{one.name}' if given else f'COMPUTE_{types[one]}(0)'};" for one in results]
        if self.uses_place:
            begin.append("const int i = int(_place);")
        if self.uses_count:
            fields.append("int places;")
            begin.append("const int n = arguments.places;")
        for field, one in self.raw:
            fields += [f"uvec2 {field};", f"int {field}_size;"]
            access = "" if one in self.out_params else "readonly "
            buffers.append(
                f"layout(buffer_reference, scalar) {access}buffer _{field} {{ COMPUTE_{types[one]} data[]; }};"
            )
            begin += [f"_{field} {one.name} = _{field}(arguments.{field});"]
            begin += [f"const int _{one.name}_size = arguments.{field}_size;"]
            body = re.sub(rf"(?<![.\w]){one.name}[ \t]*\.[ \t]*size[ \t]*\([ \t]*\)", f"_{one.name}_size", body)
            body = re.sub(rf"(?<![.\w]){one.name}[ \t]*\[", f"{one.name}.data[", body)
        begin.append(self.beginning)
        function = f"void evaluate({', '.join(parameters)}) {{ {' '.join(begin)}{one_line.lines(f'{body};', 2, 3)}}}"
        text = one_line.text(
            self.name, self.preamble, [("", self.operation)], bound.letters, list(types.values()), [*buffers, function]
        )
        return text, " ".join(fields)

    def run(self, bound: Bound, shape: layout.Shape) -> list[VkArray]:
        """The results for arguments and a shape that fit."""
        count, device = math.prod(shape), bound.device
        given = any(result is not None for result in bound.results)
        if count > _MOST_PLACES and (self.uses_place or self.uses_count or len(self.written) == len(self.out_params)):
            raise ValueError(
                f"{self.name}: i and n count up to {_MOST_PLACES} elements, got {count}. Call the kernel for parts of the arrays."
            )
        key = (bound.input_types, bound.result_types, bound.letters, given)
        operation = self._operations.get(key)
        if operation is None:
            operation = self._operations[key] = _Body(self, bound, given)
        results = [
            empty(shape, dtype, device) if result is None else result
            for result, dtype in zip(bound.results, bound.result_types, strict=True)
        ]
        # What shares memory with another result, perhaps element by element in turn, is made apart.
        apart: list[tuple[VkArray, VkArray]] = []  # where results are made, and where they go
        into: list[VkArray] = []
        for parameter, result in zip(self.out_params, results, strict=True):
            if parameter.raw:
                made = _as_indexed(result, self.name, parameter)
                apart += [(made, result)] if made is not result else []
            elif any(launch.overlap(result, other) for other in results if other is not result):
                made = empty(shape, result._dtype, device)
                apart.append((made, result))
            else:
                made = result
            into.append(made)
        own: dict[str, Any] = {"places": count} if self.uses_count else {}
        inputs: list[Any] = []
        for parameter, value, dtype in zip(self.in_params, bound.inputs, bound.input_types, strict=True):
            if parameter.raw:
                value = _as_indexed(value, self.name, parameter)
                inputs_of_code = launch.copy(value) if any(launch.overlap(value, one) for one in into) else value
                own |= _fields(self.raw, parameter, inputs_of_code)
            else:
                inputs.append(value if type(value) is VkArray else launch.scalar(value, dtype, device))
        for parameter, made in zip(self.out_params, into, strict=True):
            if parameter.raw:
                own |= _fields(self.raw, parameter, made)
        plain = [place for place, parameter in enumerate(self.out_params) if not parameter.raw]
        if given:
            inputs += [results[place] for place in plain]
        launch.evaluate(operation, inputs, [into[place] for place in plain], shape, device, own)
        for made, result in apart:
            launch.elementwise(conversion.cast_operation(made._dtype, result._dtype), (made,), result)
        return results


def _as_indexed(array: VkArray, kernel: str, parameter: Parameter) -> VkArray:
    """An array as code indexes it: contiguous, of a type that buffers hold. Raises ValueError for too many elements."""
    dtype = _INDEXED_AS.get(array._dtype, array._dtype)
    most = layout.index_limit(dtype.itemsize)
    if array.size > most:
        raise ValueError(
            f"{kernel}: code reaches {most} elements of a raw array of {array._dtype}, {parameter.name} has {array.size}. "
            "Call the kernel for parts of it."
        )
    return launch.contiguous(conversion.cast(array, dtype))


def _fields(raw: Sequence[tuple[str, Parameter]], parameter: Parameter, array: VkArray) -> dict[str, Any]:
    (field,) = [field for field, one in raw if one is parameter]
    return {field: array, f"{field}_size": array.size}


@planned(integers=True, creates=True)
def _call(kernel: ElementwiseKernel, *arguments: Any, size: int | None = None) -> Any:
    bound = bind(kernel.name, kernel.in_params, kernel.out_params, arguments)
    for parameter, result in zip(kernel.out_params, bound.results, strict=True):
        if parameter.raw and result is None:
            raise ValueError(
                f"{kernel.name}: nothing says how long the raw result {parameter.name} is. Give the array."
            )
    results = kernel.run(bound, kernel.shape(bound, size))
    return results[0] if len(results) == 1 and not kernel.return_tuple else tuple(results)


VALUES.add(ElementwiseKernel)  # plans tell kernels apart
