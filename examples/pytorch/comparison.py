"""Train the same model from the same start on the CPU and on Vulkan, and compare the losses."""

from __future__ import annotations

import argparse
import copy
import time
from collections.abc import Callable, Iterable

import torch
from torch import nn

import vkarray.torch

Batch = tuple[torch.Tensor, ...]
Loss = Callable[..., torch.Tensor]


def options(description: str | None, steps: int) -> argparse.Namespace:
    """The options that the examples share: `steps`, `device`, `strict`."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=steps, metavar="N", help="steps of training (%(default)s)")
    parser.add_argument("--device", default="vulkan", help="PyTorch's device to compare with the CPU (%(default)s)")
    parser.add_argument(
        "--strict", action="store_true", help="raise an error where an operator would run on the CPU instead"
    )
    arguments = parser.parse_args()
    if arguments.device == "vulkan":
        vkarray.torch.register_device()  # where there is CUDA too, it has to be asked for
    return arguments


def train(
    model: nn.Module, loss: Loss, batches: Iterable[Batch], device: str, learning_rate: float
) -> tuple[nn.Module, list[float], float]:
    """Train a copy of `model` on `device` with AdamW: the copy, the loss of each step, and the seconds that it took."""
    model = copy.deepcopy(model).to(device)
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(learning, lr=learning_rate)
    losses = []
    start = time.perf_counter()
    for batch in batches:
        optimizer.zero_grad()
        value = loss(model, *(tensor.to(device) for tensor in batch))
        value.backward()
        optimizer.step()
        losses.append(value.detach())
    return model, [float(value) for value in losses], time.perf_counter() - start


def compare(
    model: nn.Module, loss: Loss, batches: list[Batch], device: str, learning_rate: float, limit: float
) -> tuple[nn.Module, bool]:
    """Train on the CPU and on `device`, and print the losses; the model of `device`, and whether they agree.

    The losses of a step may differ by `limit`, relative to the CPU's: rounding errors grow from step to step.
    """
    _, expected, cpu_seconds = train(model, loss, batches, "cpu", learning_rate)
    trained, found, seconds = train(model, loss, batches, device, learning_rate)
    differences = [abs(a - b) / max(abs(b), 1e-3) for a, b in zip(found, expected, strict=True)]
    print(f"{'step':>6} {'cpu':>12} {device:>12} {'difference':>12}")
    for step in sorted({0, len(found) // 4, len(found) // 2, 3 * len(found) // 4, len(found) - 1}):
        print(f"{step + 1:>6} {expected[step]:>12.6f} {found[step]:>12.6f} {differences[step]:>12.1e}")
    print(f"{len(found)} steps: {cpu_seconds:.1f} s on the CPU, {seconds:.1f} s on {device}.")
    worst = max(differences)
    print(f"The largest relative difference of a loss is {worst:.1e} (at most {limit:.0e} wanted).")
    report_fallbacks()
    return trained, worst <= limit


def report_fallbacks() -> None:
    """Print which operators ran on the CPU."""
    found = vkarray.torch.fallbacks()
    if not found:
        print("Every operator ran on the device.")
    for name, counted in found.items():
        print(f"On the CPU: {name}, {counted}")
