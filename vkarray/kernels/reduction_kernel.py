"""`vkarray.ReductionKernel`: reductions whose lines are GLSL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..core import dtypes, layout
from ..core.array import VkArray, check_supported, empty
from ..core.dtypes import DType
from ..shaders.compiler import NO_TEXT, Text
from ..shaders.source import Variant
from . import launch, one_line
from .elementwise_kernel import ElementwiseKernel
from .parameters import Bound, bind, check_names, declared, dtype_called
from .planned import planned, recordable
from .reduction_types import partial_dtype
from .reductions import Reduction, with_kept_axes
from .signature import VALUES

if TYPE_CHECKING:
    from .launch import Device

_MAPPED = "mapped"  # the result of a map of several inputs


@dataclass(frozen=True, eq=False)
class _Row(Reduction):
    """A reduction whose expressions call functions that come as text; `fixed` has the types of the state and of the result."""

    text: Text = NO_TEXT
    fixed: tuple[DType, DType] = (dtypes.float32, dtypes.float32)

    def types_for(self, dtype: DType, device: Device) -> tuple[DType, DType]:
        """The types of the state and of the result."""
        return self.fixed

    def macros(self, state: DType) -> launch.Defines:
        """The macros of library functions: those of the user's code define their own."""
        return ()

    def variant(
        self, device: Device, types: tuple[DType, DType, DType], states: bool, shared: bool, texels: bool,
        linked: str = "",
    ) -> Variant:  # fmt: skip
        """The shader for (input, state, result) types."""
        return super().variant(device, types, states, shared, texels, linked)._replace(text=self.text, label=self.name)


class ReductionKernel:
    """A reduction of arrays whose expressions are yours, in GLSL.

    Parameters: in_params and out_params, as for `ElementwiseKernel`, with one result. map_expr: the value of one element.
    reduce_expr: that of the values a and b together; which are joined first, and which is a, is not said. post_map_expr: statements
    that set the result, of the value a of all elements. identity: the value of no elements; None or "" where they have none.
    name: for messages. reduce_type: the type of a and b, where it is not that of the result. preamble: functions that the code
    calls.
    Returns a callable: see `__call__`. Raises TypeError and ValueError for parameters that cannot be.
    """

    def __init__(
        self, in_params: str, out_params: str, map_expr: str, reduce_expr: str, post_map_expr: str,
        identity: str | float | None, name: str = "reduce_kernel", reduce_type: str | DType | None = None, *, preamble: str = "",
    ) -> None:  # fmt: skip
        self.name = one_line.check_text("ReductionKernel", "name", name)
        self.in_params = declared(in_params, name, "in_params")
        self.out_params = declared(out_params, name, "out_params")
        if len(self.out_params) != 1 or self.out_params[0].raw:
            raise ValueError(f"{name}: expected out_params to declare one result, such as 'T y', got {out_params!r}.")
        check_names(name, (*self.in_params, *self.out_params))
        if not any(not one.raw for one in self.in_params):
            raise ValueError(
                f"{name}: expected in_params to declare an input that is not raw: it says what is reduced."
            )
        self.map_expr = one_line.check_text(name, "map_expr", map_expr)
        self.reduce_expr = one_line.check_text(name, "reduce_expr", reduce_expr)
        self.post_map_expr = one_line.check_text(name, "post_map_expr", post_map_expr)
        self.identity = None if identity is None or identity == "" else str(identity)
        if isinstance(identity, bool):
            self.identity = "true" if identity else "false"
        self.preamble = one_line.check_text(name, "preamble", preamble)
        letters = [one.type for one in (*self.in_params, *self.out_params) if one.dtype is None]
        self.reduce_type = dtype_called(name, "reduce_type", reduce_type or self.out_params[0].type, letters)
        code = one_line.plain(map_expr)
        self.direct = len(self.in_params) == 1 and not (one_line.uses(code, "i") or one_line.uses(code, "n"))
        self._rows: dict[Any, _Row] = {}
        self._kernels: dict[Any, ElementwiseKernel] = {}

    @recordable
    def __call__(
        self, *arguments: Any, axis: int | Sequence[int] | None = None, keepdims: bool = False, out: VkArray | None = None
    ) -> VkArray:  # fmt: skip
        """Reduce arrays.

        Parameters: an argument for each of in_params, arrays or Python scalars, which broadcast against each other; axis (None for
        all, an integer or a tuple); keepdims (keep the reduced axes, with length 1); out, an array for the result, which may also
        follow the inputs.
        Returns the array of the result.
        Raises TypeError for arguments of another number or type, ValueError for shapes that do not fit and for no elements without
        an identity, IndexError for an axis out of range, ShaderError, with the line, for code that does not compile, and when there
        is no compiler.
        Method: as all reductions: the order depends on the shape, the type and the order of the axes in memory, not on the device.
        """
        if out is not None:
            arguments = (*arguments, out)
        axes = None if axis is None else layout.as_integers(axis, self.name, "axis")
        return _call(self, *arguments, axes=axes, keepdims=bool(keepdims))

    def __repr__(self) -> str:
        return f"<vkarray.ReductionKernel {self.name}({', '.join(map(str, self.in_params))}) -> {self.out_params[0]}>"

    def mapped(self, bound: Bound, state: DType) -> VkArray:
        """The values of all elements, where the reduction cannot make them itself."""
        kernel = self._kernels.get(state)
        if kernel is None:
            inputs = ", ".join(map(str, self.in_params))
            kernel = ElementwiseKernel(inputs, f"{state} {_MAPPED}", self.map_expr, self.name, preamble=self.preamble)
            kernel.beginning = f"{_MAPPED} ="
            self._kernels[state] = kernel
        return kernel(*bound.inputs)

    def of_nothing(self, bound: Bound, state: DType, result: VkArray) -> None:
        """Fill the result with that of no elements."""
        key = (bound.letters, state, result._dtype)
        kernel = self._kernels.get(key)
        if kernel is None:
            defined = " ".join(f"\n#define {letter} COMPUTE_{dtype}" for letter, dtype in bound.letters)
            undefined = " ".join(f"\n#undef {letter}" for letter, _ in bound.letters)
            output = self.out_params[0].name
            code = f"COMPUTE_{state} a = vx_to_{state}({self.identity}); {self.post_map_expr};{undefined}\n"
            preamble = f"{defined}\n{self.preamble}"
            kernel = ElementwiseKernel("", f"{result._dtype} {output}", code, self.name, preamble=preamble)
            self._kernels[key] = kernel
        kernel(result)

    def row(self, bound: Bound, state: DType, direct: bool) -> _Row:
        """The reduction for types: of the input, or of the values of its elements."""
        key = (bound.input_types, bound.result_types, bound.letters, state, direct)
        found = self._rows.get(key)
        if found is None:
            found = self._rows[key] = _Row(
                self.name, "all", "joined(a, b)", map="mapped(a)" if direct else None, finish="finished(a)",
                text=self.text(bound, state, direct), fixed=(state, bound.result_types[0]),
            )  # fmt: skip
        return found

    def text(self, bound: Bound, state: DType, direct: bool) -> Text:
        """The functions that the template calls."""
        value, result = f"COMPUTE_{state}", f"COMPUTE_{bound.result_types[0]}"
        sources = [
            ("map_expr", self.map_expr),
            ("reduce_expr", self.reduce_expr),
            ("post_map_expr", self.post_map_expr),
        ]
        last = len(sources) + 2
        output = self.out_params[0].name

        def function(head: str, code: str, number: int) -> str:
            return f"{value} {head} {{ precise {value} _made ={one_line.lines(code, number, last)}; return _made; }}"

        functions = [
            function(f"joined({value} a, {value} b)", self.reduce_expr, 3),
            f"{result} finished({value} a) {{ precise {result} {output} = {result}(0); "
            f"{one_line.lines(f'{self.post_map_expr};', 4, last)} return {output}; }}",
        ]
        if direct:
            (parameter,) = self.in_params
            functions.append(function(f"mapped(COMPUTE_{bound.input_types[0]} {parameter.name})", self.map_expr, 2))
        types = [*bound.input_types, *bound.result_types, state]
        return one_line.text(self.name, self.preamble, sources, bound.letters, types, functions)


@planned(integers=True)
def _call(kernel: ReductionKernel, *arguments: Any, axes: tuple[int, ...] | None, keepdims: bool) -> VkArray:
    bound = bind(kernel.name, kernel.in_params, kernel.out_params, arguments)
    reduced = kernel.reduce_type
    reduced = dict(bound.letters)[reduced] if isinstance(reduced, str) else reduced
    check_supported(reduced, bound.device, f"{kernel.name}: reduce_type")
    state = partial_dtype(reduced)
    direct = kernel.direct and type(bound.inputs[0]) is VkArray
    x = bound.inputs[0] if direct else kernel.mapped(bound, state)
    axes = layout.normalize_axes(axes, x.ndim, kernel.name)
    shape = tuple(size for axis, size in enumerate(x._shape) if axis not in axes)
    if 0 in x._shape and 0 not in shape and kernel.identity is not None:
        made = empty(shape, bound.result_types[0], bound.device)
        kernel.of_nothing(bound, state, made)
    else:
        made = kernel.row(bound, state, direct).run(x, axes)
    made = with_kept_axes(made, x, axes, keepdims)
    (out,) = bound.results
    if out is None:
        return made
    if out._shape != made._shape or layout.has_internal_overlap(out._shape, out._strides):
        raise ValueError(
            f"{kernel.name}: the result has shape {made._shape}, but out has shape {out._shape} and strides {out._strides}."
        )
    return launch.elementwise(launch.copy_operation(out._dtype), (made,), out)


VALUES.add(ReductionKernel)  # plans tell kernels apart
