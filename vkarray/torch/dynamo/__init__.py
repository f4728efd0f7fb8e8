"""`torch.compile(model, backend="vulkan")`: graphs of aten operators as programs of fused kernels.

PyTorch traces the Python code and differentiates it; the graphs forth and back come here. Nothing is imported from `torch._dynamo`
before a program asks for the backend.
"""

from __future__ import annotations

import functools
import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx

from .pieces import Piece
from .products import with_steps

_numbers = itertools.count(1)
_graphs: weakref.WeakValueDictionary[int, Piece] = weakref.WeakValueDictionary()  # in the order in which they came


def _compiler(kind: str) -> Callable[..., Any]:
    """What makes a function of a graph, which takes its arguments as a list and empties it."""

    def compiler(module: fx.GraphModule, example_inputs: Sequence[Any]) -> Callable[..., Any]:
        with_steps(module)
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


def count_steps_on_device(optimizer: Any) -> None:
    """Let `torch._dynamo.variables.optimizer` take optimizers of this device as those of CUDA: their graphs count steps on it.

    Else a step begins on the host, and when another group of parameters is met, a copy on the device takes its place, which the
    graph does not change.
    """
    kind = optimizer.OptimizerVariable
    original = kind._set_capturable

    @functools.wraps(original)
    def set_capturable(self: Any, tx: Any) -> None:
        for group in self.value.param_groups:
            parameters = group.get("params", [])
            if "capturable" in group and all(
                one.device.type == "vulkan" and one not in self.value.state for one in parameters
            ):
                group["capturable"] = True
        original(self, tx)

    kind._set_capturable = set_capturable


def refuse_other(inductor: Any) -> None:
    """Let the compiler that `torch.compile` takes by default say what to take instead: it has no code for this device."""
    original = inductor.compile_fx

    @functools.wraps(original)
    def compile_fx(model: Any, example_inputs: Any, *args: Any, **kwargs: Any) -> Any:
        graph = getattr(model, "graph", None)
        named = [node.kwargs.get("device") for node in graph.nodes] if isinstance(graph, fx.Graph) else []
        devices = [getattr(one, "device", None) for one in example_inputs]
        if any(
            torch.device(one).type == "vulkan" for one in (*named, *devices) if isinstance(one, (str, torch.device))
        ):
            raise RuntimeError(
                "torch.compile: inductor, the backend by default, makes no code for the device vulkan. Use "
                'torch.compile(..., backend="vulkan"), which vkarray.torch brings.'
            )
        return original(model, example_inputs, *args, **kwargs)

    inductor.compile_fx = compile_fx
