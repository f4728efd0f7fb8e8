"""PyTorch's database of optimisers, as entries like those of its database of operators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

_STEPS = 3


class Optimizer:
    """One optimiser: some steps with given gradients, for each of its options, by lists and one by one."""

    variant_test_name = ""
    supports_autograd = False

    def __init__(self, info: Any) -> None:
        self.info, self.name = info, f"optim.{info.optim_cls.__name__}"
        self.op = self.__call__

    def supports_dtype(self, dtype: torch.dtype, device: str) -> bool:
        """Whether it is checked for a type."""
        return dtype is torch.float32

    def sample_inputs(self, device: str, dtype: torch.dtype, requires_grad: bool) -> Iterator[Any]:
        """Parameters, their gradients, and options."""
        from torch.testing._internal.opinfo.core import SampleInput

        ways: list[dict[str, bool]] = [
            {},
            *({name: True} for name in self.info.supported_impls if name != "differentiable"),
        ]
        if "foreach" in self.info.supported_impls:
            ways.append({"foreach": False})
        generator = torch.Generator().manual_seed(0)
        for given in self.info.optim_inputs_func(device=device):
            for way in ways:
                options = {name: value for name, value in given.kwargs.items() if name not in ("foreach", "fused")}
                shapes = ((3, 4), (5, 2))
                parameters, *gradients = (
                    [torch.randn(shape, generator=generator, dtype=dtype) for shape in shapes]
                    for _ in range(1 + _STEPS)
                )
                yield SampleInput(parameters, args=tuple(gradients), kwargs={**options, **way})

    def __call__(self, parameters: list[torch.Tensor], *gradients: list[torch.Tensor], **options: Any) -> Any:
        """The parameters after a step with each of some gradients."""
        made = [torch.nn.Parameter(one) for one in parameters]
        optimizer = self.info.optim_cls(made, **options)
        for step in gradients:
            for one, gradient in zip(made, step, strict=True):
                one.grad = gradient.clone()
            optimizer.step()
        return [one.detach() for one in made]


def entries() -> list[Optimizer]:
    """Entries for the optimisers that need neither a function of the loss nor sparse gradients."""
    from torch.testing._internal.common_optimizers import optim_db

    return [
        Optimizer(info)
        for info in optim_db
        if not info.step_requires_closure and info.optim_cls.__name__ != "SparseAdam"
    ]
