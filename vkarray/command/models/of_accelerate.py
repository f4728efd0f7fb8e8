"""Training by the package accelerate."""

from __future__ import annotations

import importlib
import os
from typing import Any

import torch

from .rows import Call, Row, numbers


def _prepared(steps: int, **options: Any) -> Row:
    """What `Accelerator.prepare` makes of a model, an optimizer and a loader of data, in some steps of training."""

    def make() -> torch.nn.Module:
        accelerate = importlib.import_module("accelerate")

        def run(model: torch.nn.Module, x: torch.Tensor, y: torch.Tensor) -> Any:
            accelerate.state.AcceleratorState._reset_state(reset_partial_state=True)  # or it stays where it first was
            os.environ["ACCELERATE_TORCH_DEVICE"] = str(x.device)  # it looks for CUDA and some others alone
            accelerator = accelerate.Accelerator(**options)
            data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x.cpu(), y.cpu()), batch_size=4)
            trained, optimizer, loader = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.1), data)
            losses = []
            with torch.enable_grad():
                for _, (features, wanted) in zip(range(steps), loader, strict=False):
                    with accelerator.accumulate(trained):
                        loss = torch.nn.functional.mse_loss(trained(features), wanted)
                        accelerator.backward(loss)
                        accelerator.clip_grad_norm_(trained.parameters(), 1.0)
                        optimizer.step()
                        optimizer.zero_grad()
                    losses.append(accelerator.gather(loss.detach()))
            return torch.stack(losses), [one.detach() for one in trained.parameters()]

        layers = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.SiLU(), torch.nn.Linear(16, 2))
        return Call(run, layers)

    told = ", ".join(f"{name}={value}" for name, value in options.items())
    return Row(
        f"Accelerator.prepare({told})", "accelerate.Accelerator", make,
        lambda: {"x": numbers(32, 8), "y": numbers(32, 2, seed=2)}, trains=False,
    )  # fmt: skip


ROWS = [_prepared(8), _prepared(8, gradient_accumulation_steps=2)]
