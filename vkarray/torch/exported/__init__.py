"""`vkarray.torch.export`: a model of PyTorch's as a `vkarray.Program`, through `torch.export`."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ... import _vk
from ..._vk.watch import unwatched
from ...core.array import VkArray
from ...graph.stand_ins import ArrayOnTape
from ...programs.program import Program
from ..tensors.transfer import to_vulkan
from . import nests
from .folding import fold_numbers
from .lengths import Lengths, said_of_leaves
from .merge import merge
from .pads import fold_pads
from .parts import ProgramInParts
from .refusals import ExportError, Refusal, of_text
from .siblings import join_siblings

__all__ = ["ProgramInParts", "export"]


def export(
    model: torch.nn.Module, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None, *, dynamic_shapes: Any = None,
    inputs: Sequence[str] | None = None, outputs: Sequence[str] | None = None, fallback: str | None = None,
) -> Program | ProgramInParts:  # fmt: skip
    """A model as a program, which needs no PyTorch: it can be called with arrays, saved, and loaded by `vkarray.load_program`.

    Parameters: model (in evaluation mode); args, kwargs (arguments that it is exported for: the shapes and types of tensors count,
    their values do not; numbers stay what they are); dynamic_shapes (the lengths that vary, as for `torch.export.export`: each is
    a dimension of the program, with the bounds that PyTorch finds); inputs, outputs (names in place of those of the parameters and
    of the model's results); fallback ("cpu": what a program cannot compute runs on the CPU, by PyTorch, between compiled parts).
    `torch.export` traces the model. Its operators become calls of this library's functions, and weights become constants, each of
    them once. Results have the nest of the model's, with dictionaries in place of objects that have names, such as those of
    transformers. With `fallback="cpu"` what comes back may be a `ProgramInParts`: it is called in the same way, its `explain()`
    names and counts what runs on the CPU, and `save` refuses.
    Raises ExportError, a NotImplementedError, for operators that a program cannot compute: it names each of them with the reason
    and the line of the model. Errors of `torch.export.export` and `vkarray.Program` come as they are.
    """
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"vkarray.torch.export: expected a torch.nn.Module, got {type(model).__name__}.")
    if fallback not in (None, "cpu"):
        raise ValueError(f'vkarray.torch.export: fallback is {fallback!r:.40}; expected "cpu" or None.')
    args, kwargs = tuple(args), dict(kwargs or {})
    nests.know_caches()
    exported = _exported(model, args, kwargs, dynamic_shapes)
    return _Export(model, exported, args, kwargs, dynamic_shapes, fallback is not None).program(inputs, outputs)


_ASSERTIONS = frozenset((torch.ops.aten._assert_scalar.default, torch.ops.aten._assert_async.msg))


@contextmanager
def _plainly() -> Iterator[None]:
    """Without gradients, operators that compute whole layers, and distributions that look at the values of parameters."""
    fast, validated = torch.backends.mha.get_fastpath_enabled(), torch.distributions.Distribution._validate_args
    torch.backends.mha.set_fastpath_enabled(False)
    torch.distributions.Distribution.set_default_validate_args(False)
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*LeafSpec", FutureWarning)  # which PyTorch itself asks for
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        torch.distributions.Distribution.set_default_validate_args(validated)


def _exported(model: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic_shapes: Any) -> Any:
    """What `torch.export` makes of a model, of operators that have rows, as far as PyTorch can put it so."""
    import torch.export

    with _plainly():
        found = torch.export.export(
            model, args, kwargs, dynamic_shapes=dynamic_shapes, strict=False,
            prefer_deferred_runtime_asserts_over_guards=dynamic_shapes is not None,  # the program has them as well
        )  # fmt: skip
        _take_apart(found)
        _forget_assertions(found.graph_module.graph)
        made = found.run_decompositions(_decompositions())
        fold_numbers(made)
        fold_pads(made)
        merge(made)
        join_siblings(made)
        _forget_unused(made.graph_module.graph)
        return made


def _forget_assertions(graph: torch.fx.Graph) -> None:
    """Leave out what the model asserts of values: a program reads none, and PyTorch 2.11 cannot decompose some of them."""
    left = [node for node in graph.nodes if node.target in _ASSERTIONS and _reads_values(node)]
    while left:
        node = left.pop()
        inputs = node.all_input_nodes
        graph.erase_node(node)
        left += [one for one in inputs if one.op == "call_function" and not one.users and not one.is_impure()]


def _take_apart(exported: Any) -> None:
    """Let plain nests stand for those of classes, whose making PyTorch would trace as well when it decomposes."""
    signature = exported.module_call_graph[0].signature
    signature.in_spec, signature.out_spec = nests.plain(signature.in_spec), nests.plain(signature.out_spec)


def _forget_unused(graph: torch.fx.Graph) -> None:
    """Leave out what nothing takes, and what the model asserts of values."""
    for node in reversed(graph.nodes):
        if node.op == "call_function" and not node.users and (node.target not in _ASSERTIONS or _reads_values(node)):
            graph.erase_node(node)


def _reads_values(node: torch.fx.Node) -> bool:
    """Whether a node takes values of tensors, or numbers that are made of these."""
    return any(
        isinstance(one.meta.get("val"), torch.Tensor)
        or one.target is torch.ops.aten._local_scalar_dense.default
        or _reads_values(one)
        for one in node.all_input_nodes
        if one.target is not torch.ops.aten.sym_size.int
    )


def _decompositions() -> Any:
    """How PyTorch composes operators that have no row."""
    from torch._decomp import decomposition_table

    from . import operators as _operators  # noqa: F401 - whose rows enter themselves in the table
    from .table import ROWS

    table = torch.export.default_decompositions()
    for operator, function in decomposition_table.items():
        if operator not in table:
            table[operator] = function
    for operator in ROWS:
        if isinstance(operator, torch._ops.OpOverload):
            table.pop(operator, None)
    return table


class _Export:
    """A model that is exported, with what is known of its arguments."""

    def __init__(
        self, model: torch.nn.Module, exported: Any, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic_shapes: Any,
        falls_back: bool = False,
    ) -> None:  # fmt: skip
        self.model, self.exported, self.falls_back = model, exported, falls_back
        self.refused: dict[Any, Refusal] = {}
        self.name = type(model).__name__
        self.spec = exported.call_spec.in_spec
        kwargs = {name: kwargs[name] for name in nests._names(nests._children(self.spec)[1], len(kwargs)) or ()}
        self.given = pytree.tree_leaves((args, kwargs))
        self.arrays = [to_vulkan(one.detach()) if isinstance(one, torch.Tensor) else one for one in self.given]
        self.constants: dict[Any, VkArray] = {}
        graph, specs = exported.graph_module.graph, exported.graph_signature.input_specs
        placeholders = [node for node in graph.nodes if node.op == "placeholder"]
        self.inputs = list(zip(specs, placeholders, strict=True))
        own = [node for spec, node in self.inputs if spec.kind.name == "USER_INPUT"]
        said = [None] * len(own) if dynamic_shapes is None else said_of_leaves(dynamic_shapes, model, args, kwargs)
        fakes = [node.meta.get("val") for node in own]
        self.lengths = Lengths(fakes, [node.name for node in own], said, exported.range_constraints)

    def program(self, inputs: Sequence[str] | None, outputs: Sequence[str] | None) -> Program | ProgramInParts:
        """The program, in parts where some of it runs on the CPU. Raises ExportError."""
        signature = inspect.signature(self.model.forward)

        def run(*args: Any, **kwargs: Any) -> Any:
            return self._run(nests.unpacked(self.spec, (args, kwargs)))

        run.__qualname__ = self.name
        run.__signature__ = signature  # type: ignore[attr-defined]
        args, kwargs = nests.packed(self.spec, iter(self.arrays))
        axes = nests.packed(self.spec, iter(self.lengths.axes))
        bound = signature.bind(*axes[0], **axes[1]).arguments
        dynamic = {name: one for name, one in bound.items() if any(leaf is not None for leaf in _leaves(one))}
        made = Program(run, args, kwargs, dynamic=dynamic or None, inputs=inputs, outputs=outputs, name=self.name)
        return ProgramInParts(made, self, self.refused) if self.refused else made

    def _run(self, leaves: Sequence[Any]) -> Any:
        """What the model returns, for stand-ins of its arguments."""
        from .interpreter import Interpreter

        for value, made_with in zip(leaves, self.given, strict=True):
            if type(made_with) in (int, float) and value != made_with:
                raise ValueError(f"{self.name} was exported for {made_with}, got {value}")
        self.lengths.check(leaves)
        interpreter = Interpreter(_device(self.arrays), self.constant)
        writes = self._writes()
        following = iter(leaves)
        given = [
            next(following) if spec.kind.name == "USER_INPUT" else self.held(spec, node) for spec, node in self.inputs
        ]
        module = self.exported.graph_module
        interpreter.names = self.lengths.names
        tape = interpreter.tape = next((one.tape for one in leaves if type(one) is ArrayOnTape), None)
        found = interpreter.run(module, module.graph, given)
        if tape is not None:
            tape.place = None
        if writes or (interpreter.refusals and not self.falls_back):
            raise ExportError(self.name, writes + interpreter.refusals)
        self.refused = interpreter.refused
        return self.packed(found)

    def packed(self, found: Sequence[Any]) -> Any:
        """What the graph returns, in the nest of the model's results."""
        return nests.packed(self.exported.call_spec.out_spec, iter(found))

    def _writes(self) -> list[Refusal]:
        """What the model changes besides what it returns."""
        found = []
        for spec in self.exported.graph_signature.output_specs:
            if spec.kind.name == "BUFFER_MUTATION":
                advice = "call model.eval() before" if self.model.training else "let the model return what is new"
                reason = f"the model writes to it, and a program keeps nothing from call to call; {advice}"
                found.append(of_text(f"the buffer {spec.target}", reason))
            elif spec.kind.name not in ("USER_OUTPUT", "TOKEN"):  # the latter keeps what has effects in order
                reason = "the model writes to it, and a program changes no argument; let the model return what is new"
                found.append(of_text(f"the argument {spec.target}", reason))
        return found

    def held(self, spec: Any, node: Any) -> Any:
        """The constant that an input of the graph is."""
        if not node.users:
            return None
        for held in (self.exported.state_dict, self.exported.constants):
            if spec.target in held:
                found = held[spec.target]
                return self.constant(found) if isinstance(found, torch.Tensor) else found
        return None

    def constant(self, tensor: torch.Tensor) -> VkArray:
        """A tensor as an array, the same one for the same memory."""
        key = (
            tensor.untyped_storage().data_ptr(),
            tensor.storage_offset(),
            tuple(tensor.shape),
            tensor.stride(),
            tensor.dtype,
        )
        if tensor.numel() == 0 or key not in self.constants:
            with unwatched():
                self.constants[key] = to_vulkan(tensor.detach())
        return self.constants[key]


def _device(arrays: Sequence[Any]) -> Any:
    return next((one.device for one in arrays if type(one) is VkArray), None) or _vk.open_device(None)


def _leaves(value: Any) -> list[Any]:
    """What says of leaves which axes vary: dictionaries by numbers."""
    if isinstance(value, dict) and not all(isinstance(name, int) for name in value):
        return [leaf for one in value.values() for leaf in _leaves(one)]
    return [leaf for one in value for leaf in _leaves(one)] if isinstance(value, (list, tuple)) else [value]
