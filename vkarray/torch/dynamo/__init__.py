"""`torch.compile(model, backend="vulkan")`: graphs of aten operators as programs of fused kernels.

PyTorch traces the Python code and differentiates it; the graphs forth and back come here. Nothing is imported from `torch._dynamo`
before a program asks for the backend.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from torch import fx

from .pieces import Piece

_numbers = itertools.count(1)
_graphs: weakref.WeakValueDictionary[int, Piece] = weakref.WeakValueDictionary()  # in the order in which they came


def _compiler(kind: str) -> Callable[..., Any]:
    """What makes a function of a graph, which takes its arguments as a list and empties it."""

    def compiler(module: fx.GraphModule, example_inputs: Sequence[Any]) -> Callable[..., Any]:
        number = next(_numbers)
        graph = _graphs[number] = Piece(module, f"{kind} {number}")

        def run(args: list[Any]) -> Any:
            given = tuple(args)
            args.clear()
            return graph(*given)

        run._boxed_call = True  # type: ignore[attr-defined]
        return run

    return compiler


def vulkan(module: fx.GraphModule, example_inputs: Sequence[Any], **options: Any) -> Callable[..., Any]:
    """The backend: what runs a graph of a program that PyTorch has traced."""
    from torch._dynamo.backends.common import aot_autograd
    from torch._functorch.partitioners import min_cut_rematerialization_partition

    made: Callable[..., Any] = aot_autograd(
        fw_compiler=_compiler("forward"), bw_compiler=_compiler("backward"), inference_compiler=_compiler("inference"),
        partition_fn=min_cut_rematerialization_partition, keep_inference_input_mutations=True,
    )(module, example_inputs, **options)  # fmt: skip
    return made


def explain() -> str:
    """What became of the graphs that `torch.compile` has given to the backend: programs, kernels, and what runs without."""
    return "\n".join(graph.explain() for _, graph in sorted(_graphs.items()))


def register(registry: Any) -> None:
    """Name the backend to `torch._dynamo.backends.registry`, which may have it from the installed package."""
    if "vulkan" not in registry._BACKENDS:
        registry.register_backend(vulkan, "vulkan")


def leave_out(rules: Any) -> None:
    """Tell `torch._dynamo.trace_rules` that this package's own code, which runs between graphs, is not to be traced."""
    rules.add(__name__.partition(".")[0])
