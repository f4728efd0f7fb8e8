"""Runs a graph of ATen operators by the rows of the table: a tape notes what they call of vkarray."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import fx
from torch.fx.node import map_aggregate, map_arg

import vkarray as vx

from ...core.array import VkArray, is_supported
from ...core.dtypes import DType
from ...graph.stand_ins import ArrayOnTape, Unrecorded
from ...graph.tape import Tape
from ..tensors.storage import FROM_TORCH
from .refusals import Refusal, place, refused
from .table import OPERANDS, Row, find

# Options of no meaning to a program.
_PLACING = frozenset(("device", "layout", "pin_memory", "memory_format", "non_blocking", "copy"))
# How many arguments stand before the graph that these run.
_WRAPPERS = {"wrap_with_set_grad_enabled": 1, "wrap_with_autocast": 4}
# What a row raises for arguments that it does not take.
_OBSTACLES = (Unrecorded, ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RuntimeError)


class Call:
    """What a row knows of a call besides its arguments."""

    def __init__(self, node: fx.Node, device: Any) -> None:
        self.node, self.device = node, device
        self.result = node.meta.get("val")
        self.fakes = map_arg(node.args, lambda one: one.meta.get("val"))
        target = node.target
        self.name = (
            target._schema.name.rpartition("::")[2] if isinstance(target, torch._ops.OpOverload) else str(target)
        )
        self.overload = getattr(target, "_overloadname", "")

    @property
    def dtype(self) -> DType:
        """The type of the result, or of the first one."""
        first = self.result[0] if isinstance(self.result, (list, tuple)) else self.result
        return FROM_TORCH[first.dtype]

    def cast(self, x: Any, dtype: Any = None) -> Any:
        """x in another type: that of the result, where none is given."""
        wanted = self.dtype if dtype is None else dtype
        return x if plain(x).dtype == wanted else vx.astype(x, wanted)

    def is_array(self, x: Any) -> bool:
        """Whether an argument is an array."""
        return isinstance(x, VkArray)


def plain(x: Any) -> VkArray:
    """The array itself for what stands for it on a tape."""
    found: VkArray = x.tape.plain(x) if type(x) is ArrayOnTape else x
    return found


class Interpreter:
    """Runs graphs, and notes what it refuses: then zeros stand for the result, and it goes on."""

    def __init__(self, device: Any, constant: Callable[[torch.Tensor], VkArray], lengths_vary: bool = False) -> None:
        """Where `lengths_vary` arrays may have others than the model was exported with."""
        self.device, self.constant, self.lengths_vary = device, constant, lengths_vary
        self.refusals: list[Refusal] = []
        self.refused: dict[fx.Node, Refusal] = {}  # of the nodes of the outermost graph the first one each
        self._outermost: fx.Node | None = None
        self.tape: Tape | None = None  # which notes where in the model its calls are
        self.names: Mapping[str, str] = {}  # of lengths, by PyTorch's symbols for them

    def run(self, module: torch.nn.Module, graph: fx.Graph, given: Sequence[Any]) -> Any:
        """What a graph returns, whose placeholders are given."""
        values: dict[fx.Node, Any] = {}
        placeholders = [node for node in graph.nodes if node.op == "placeholder"]
        values.update(zip(placeholders, given, strict=False))
        self.run_nodes(module, [node for node in graph.nodes if node.op in ("get_attr", "call_function")], values)
        returned = next((node for node in graph.nodes if node.op == "output"), None)
        return None if returned is None else map_arg(returned.args[0], values.__getitem__)

    def run_nodes(self, module: torch.nn.Module, nodes: Sequence[fx.Node], values: dict[fx.Node, Any]) -> None:
        """Enter what nodes return, of `values` that are given."""
        for node in nodes:
            for one in node.all_input_nodes:
                if one.op == "get_attr" and one not in values:
                    found = attribute(module, str(one.target))
                    values[one] = self.constant(found) if isinstance(found, torch.Tensor) else found
            if node.op != "call_function":
                continue
            before, self._outermost = self._outermost, self._outermost or node
            if self.tape is not None:
                self.tape.place = place(node, self.names)
            values[node] = self._computed(node, values)
            self._outermost = before

    def _computed(self, node: fx.Node, values: Mapping[fx.Node, Any]) -> Any:
        wrapped = _WRAPPERS.get(getattr(node.target, "__name__", ""))
        if wrapped is not None:
            submodule, *given = map_arg(node.args[wrapped:], values.__getitem__)
            return self.run(submodule, submodule.graph, given)
        if node.target is torch.ops.higher_order.cond:
            return self._either(*[_argument(one, values) for one in node.args])
        call = Call(node, self.device)
        row = find(node.target)
        reason = _without_row(node) if row is None else self._obstacle(call, row)
        if row is not None and not reason:
            try:
                return self._of_row(call, row, values)
            except _OBSTACLES as error:
                reason = str(error) or type(error).__name__
        self.refusals.append(refused(node, str(reason)))
        self.refused.setdefault(self._outermost or node, self.refusals[-1])
        return map_aggregate(node.meta.get("val"), self._zeros)

    def _either(self, condition: Any, yes: Any, no: Any, given: Sequence[Any] = ()) -> Any:
        """What one of two graphs returns: both are run where an array decides."""
        if not isinstance(condition, VkArray):
            chosen = yes if condition else no
            return self.run(chosen, chosen.graph, given)
        found = [self.run(one, one.graph, given) for one in (yes, no)]
        return [vx.where(condition, a, b) for a, b in zip(*found, strict=True)]

    def _obstacle(self, call: Call, row: Row) -> str | None:
        """Why a row does not take a call."""
        for value in _leaves([call.result, call.fakes]):
            if not isinstance(value, torch.Tensor):
                continue
            if value.layout is not torch.strided:
                return f"it is of a tensor of the layout {value.layout}; vkarray has dense arrays alone"
            dtype = _dtype_of(value.dtype)
            if dtype is None or not is_supported(dtype, self.device):
                return f"{'vkarray' if dtype is None else 'this device'} has no type {value.dtype}"
        return None if row.limit is None else row.limit(call, *call.fakes, **_options(call.node.kwargs))

    def _of_row(self, call: Call, row: Row, values: Mapping[fx.Node, Any]) -> Any:
        args = [_argument(one, values) for one in call.node.args]
        options = {name: _argument(one, values) for name, one in _options(call.node.kwargs).items()}
        if row.promotes:
            dtype = _common(call.fakes) if row.promotes == OPERANDS else call.dtype
            if dtype is not None:
                args = [call.cast(one, dtype) if _is_promoted(one, dtype) else one for one in args]
        return _checked(call, row.function(call, *args, **options), call.result, self.lengths_vary)

    def _zeros(self, fake: Any) -> Any:
        """What stands for a result that is refused."""
        if not isinstance(fake, torch.Tensor):
            return _hint(fake)
        dtype = _dtype_of(fake.dtype)
        return vx.zeros(tuple(map(_hint, fake.shape)), dtype=vx.float32 if dtype is None else dtype)


def _dtype_of(dtype: torch.dtype) -> DType | None:
    try:
        return FROM_TORCH[dtype]
    except (KeyError, TypeError):
        return None


def _hint(length: Any) -> Any:
    """The length that a symbol stands for while a model is exported."""
    if isinstance(length, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return length.node.hint if length.node.has_hint() else 1
    return length


def _options(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in kwargs.items() if name not in _PLACING}


def _argument(value: Any, values: Mapping[fx.Node, Any]) -> Any:
    """An argument of a node as rows take it."""
    if isinstance(value, (list, tuple)):
        parts = [_argument(one, values) for one in value]
        return parts if isinstance(value, list) else tuple(parts)
    if isinstance(value, torch.dtype):
        return FROM_TORCH[value]
    return values[value] if isinstance(value, fx.Node) else value


def _is_promoted(x: Any, dtype: DType) -> bool:
    """Whether an argument is an array that PyTorch converts: it takes numbers out of complex ones otherwise."""
    if not isinstance(x, VkArray):
        return False
    return vx.isdtype(dtype, "complex floating") or not vx.isdtype(plain(x).dtype, "complex floating")


def _common(fakes: Any) -> DType | None:
    """The type in which PyTorch compares operands."""
    given = [one for one in fakes if isinstance(one, (torch.Tensor, int, float, bool, complex))]
    if len(given) != 2:
        return None
    return FROM_TORCH[torch.result_type(*given)]


def _leaves(value: Any) -> list[Any]:
    return [leaf for one in value for leaf in _leaves(one)] if isinstance(value, (list, tuple)) else [value]


def attribute(module: torch.nn.Module, path: str) -> Any:
    """What a path names in a module."""
    found: Any = module
    for name in path.split("."):
        found = getattr(found, name)
    return found


def _checked(call: Call, found: Any, fake: Any, lengths_vary: bool) -> Any:
    """What a row has computed, in the types that PyTorch says. Raises ValueError for other shapes."""
    if isinstance(fake, (list, tuple)):
        return [_checked(call, one, other, lengths_vary) for one, other in zip(found, fake, strict=False)]
    if not isinstance(fake, torch.Tensor) or found is None:
        return found
    shape, wanted = plain(found).shape, tuple(map(_hint, fake.shape))
    # Of lengths that depend on values none is known here.
    known = [isinstance(one, int) or (not lengths_vary and one.node.has_hint()) for one in fake.shape]
    if len(shape) != len(wanted) or any(a != b for a, b, here in zip(shape, wanted, known, strict=True) if here):
        raise ValueError(f"vkarray computes the shape {shape}, and PyTorch says {wanted}")
    return call.cast(found, FROM_TORCH[fake.dtype])


# Of operators by their names why there is no row.
_OF_MEMORY = {
    "resize_": "it changes the memory of a tensor, and arrays of programs keep theirs. Slice or pad it, or make another one",
    "sym_storage_offset": "it asks where a tensor lies in memory, and programs place their arrays themselves",
}  # fmt: skip


def _without_row(node: fx.Node) -> str:
    tags = getattr(node.target, "tags", ())
    if getattr(node.target, "__name__", "").partition(".")[0] in _OF_MEMORY:
        return _OF_MEMORY[node.target.__name__.partition(".")[0]]
    if torch.Tag.nondeterministic_seeded in tags:
        return "it draws random numbers that exported programs do not. Call model.eval() before, or give the numbers as an argument"
    if torch.Tag.dynamic_output_shape in tags or torch.Tag.data_dependent_output in tags:
        return "its result has a shape, or is a number, that depends on values"
    if isinstance(node.target, torch._ops.HigherOrderOperator):
        return "it runs graphs of its own, which exported programs do not"
    return "vkarray has no row for it"
