"""Train a small convolutional network on scikit-learn's handwritten digits, on Vulkan and on the CPU.

    python examples/pytorch/digits.py

1,797 real digits of 8 x 8 pixels; the last 360 are only for the test. Activations and pooling are smooth: at the corners of others
a rounding error decides between two gradients, and then even float32 and float64 on one CPU part by a hundredth.

The exit status is 1 when the losses differ from the CPU's by more than a thousandth, or when fewer than 97 % of the test digits
are read correctly.
"""

from __future__ import annotations

import torch
from comparison import compare, options
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional

import vkarray.torch

TO_TRAIN_ON, BATCH, LEAST_ACCURACY = 1437, 96, 0.97


def network() -> nn.Module:
    """Two convolutions with batch normalization, a pooling and a linear layer: 8 x 8 pixels to 10 digits."""
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.SiLU(),
        nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.SiLU(),
        nn.AvgPool2d(2), nn.Flatten(), nn.Linear(64 * 4 * 4, 10),
    )  # fmt: skip


def loss(model: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(model(images), labels)


def main() -> int:
    arguments = options(__doc__, steps=100)
    torch.manual_seed(0)
    digits = load_digits()
    order = torch.randperm(len(digits.target))
    images = torch.tensor(digits.images, dtype=torch.float32).div(16).unsqueeze(1)[order]
    labels = torch.tensor(digits.target)[order]
    chosen = [torch.randint(TO_TRAIN_ON, (BATCH,)) for _ in range(arguments.steps)]
    batches = [(images[rows], labels[rows]) for rows in chosen]
    with vkarray.torch.strict(arguments.strict):
        model, agrees = compare(network(), loss, batches, arguments.device, learning_rate=3e-3, limit=1e-3)
        model.eval()
        with torch.no_grad():
            read = model(images[TO_TRAIN_ON:].to(arguments.device)).argmax(1).cpu()
    accuracy = float((read == labels[TO_TRAIN_ON:]).float().mean())
    print(f"Test digits read correctly: {accuracy:.1%} of {len(read)} (at least {LEAST_ACCURACY:.0%} wanted)")
    return 0 if agrees and accuracy >= LEAST_ACCURACY else 1


if __name__ == "__main__":
    raise SystemExit(main())
